/* SPDX-License-Identifier: MIT */
/* Residue of HMAC, HKDF and PBKDF2: keys, messages and tags are secret, since tags may be keys. */
#include "residue.h"

#include "must.h"

#include <stdio.h>
#include <string.h>

#include "everycore/hkdf.h"
#include "everycore/hmac.h"
#include "everycore/pbkdf2.h"

#define MAX_BYTES 300

static const struct evc_sha2 *kernel; /* under test */
static enum evc_sha2_hash hash;

/* By version. */
static struct version {
    struct evc_hmac_key key;
    struct evc_hmac state; /* of a message with some bytes in it */
    uint8_t user_key[MAX_BYTES], in[MAX_BYTES], out[2 * EVC_SHA2_MOST_DIGEST_BYTES];
    uint8_t wrong[EVC_SHA2_MOST_DIGEST_BYTES]; /* a tag, the same in both versions */
} versions[2];

static struct version at;
static size_t len_bytes, out_bytes;

static void prepare(unsigned version)
{
    at = versions[version];
}

static void set_key(void)
{
    must(evc_hmac_set_key(&at.key, kernel, hash, at.user_key, len_bytes));
}

static void tag(void)
{
    must(evc_hmac(&at.key, at.in, len_bytes, at.out, evc_sha2_digest_bytes(hash)));
}

static void verify(void)
{
    if (evc_hmac_verify(&at.key, at.in, len_bytes, at.wrong, evc_sha2_digest_bytes(hash)) !=
        EVC_ERR_TAG)
        must(EVC_ERR_TAG);
}

/* Refused, so nothing is cleared. */
static void refuse(void)
{
    if (evc_hmac(&at.key, NULL, len_bytes, at.out, evc_sha2_digest_bytes(hash)) !=
        EVC_ERR_PARAMETER)
        must(EVC_ERR_PARAMETER);
}

static void start(void)
{
    must(evc_hmac_start(&at.key, &at.state));
}

static void update(void)
{
    must(evc_hmac_update(&at.key, &at.state, at.in, len_bytes));
}

static void finish(void)
{
    must(evc_hmac_finish(&at.key, &at.state, at.out, evc_sha2_digest_bytes(hash)));
}

static void finish_verify(void)
{
    if (evc_hmac_finish_verify(&at.key, &at.state, at.wrong, evc_sha2_digest_bytes(hash)) !=
        EVC_ERR_TAG)
        must(EVC_ERR_TAG);
}

static void extract(void)
{
    must(evc_hkdf_extract(kernel, hash, at.user_key, len_bytes, at.in, len_bytes, at.out));
}

static void expand(void)
{
    must(evc_hkdf_expand(&at.key, at.in, len_bytes, at.out, out_bytes));
}

static void both_steps(void)
{
    must(evc_hkdf(kernel, hash, at.user_key, len_bytes, at.in, len_bytes, at.wrong, 10, at.out,
                  out_bytes));
}

static void pbkdf2(void)
{
    must(evc_pbkdf2(&at.key, at.in, len_bytes, 2, at.out, out_bytes));
}

#define MANY 10 /* messages */

static uint8_t scratch[8192], tags[MANY][EVC_SHA2_MOST_DIGEST_BYTES];

static void some_tags(size_t n)
{
    static struct evc_hmac_message messages[MANY];

    for (size_t i = 0; i < n; i++)
        messages[i] = (struct evc_hmac_message){
            &at.key, at.in, len_bytes - len_bytes * i / MANY, tags[i], evc_sha2_digest_bytes(hash),
            EVC_OK};
    must(evc_hmac_many(messages, n, scratch, sizeof scratch));
}

static void many_tags(void)
{
    some_tags(MANY);
}

/* One after the other, also by kernels with lanes. */
static void one_tag_of_many(void)
{
    some_tags(1);
}

static void many_outputs(void)
{
    static struct evc_pbkdf2_job jobs[MANY];

    for (size_t i = 0; i < MANY; i++)
        jobs[i] = (struct evc_pbkdf2_job){
            &at.key, at.in, len_bytes - len_bytes * i / MANY, tags[i], evc_sha2_digest_bytes(hash),
            EVC_OK};
    must(evc_pbkdf2_many(jobs, MANY, 2, scratch, sizeof scratch));
}

static const struct {
    const char *name;
    void (*make)(void);
    bool gives; /* out */
} operations[] = {
    {"hmac set_key", set_key, false},
    {"hmac", tag, true},
    {"hmac verify", verify, false},
    {"hmac refused", refuse, false},
    {"hmac start", start, false},
    {"hmac update", update, false},
    {"hmac finish", finish, true},
    {"hmac finish_verify", finish_verify, false},
    {"hkdf extract", extract, true},
    {"hkdf expand", expand, true},
    {"hkdf", both_steps, true},
    {"pbkdf2", pbkdf2, true},
    {"hmac many", many_tags, false},
    {"hmac many, of one", one_tag_of_many, false},
    {"pbkdf2 many", many_outputs, false},
};

static void know_versions(struct check *c)
{
    for (unsigned v = 0; v < 2; v++) {
        struct version *const x = &versions[v];
        random_bytes(&c->random, x->user_key, sizeof x->user_key);
        random_bytes(&c->random, x->in, sizeof x->in);
        memset(x->out, 0, sizeof x->out);
        memset(x->wrong, 0x5a, sizeof x->wrong);
        must(evc_hmac_set_key(&x->key, kernel, hash, x->user_key, 40));
        must(evc_hmac_start(&x->key, &x->state));
        must(evc_hmac_update(&x->key, &x->state, x->in, 150));
    }
}

static void look(struct check *c, size_t operation)
{
    const bool gives = operations[operation].gives;
    struct residue_call call = {.operation = operations[operation].name,
                                .prepare = prepare,
                                .make = operations[operation].make,
                                .given = at.out,
                                .given_bytes = gives ? sizeof at.out : 0};

    snprintf(call.sizes, sizeof call.sizes, "hash %d, %zu bytes, %zu out", (int)hash, len_bytes,
             out_bytes);
    call.secrets[0] = (struct residue_secret){"user key", at.user_key, sizeof at.user_key};
    call.secrets[1] = (struct residue_secret){"message", at.in, sizeof at.in};
    call.secrets[2] =
        (struct residue_secret){"key", (const uint8_t *)&at.key, 2 * sizeof at.key.inner};
    call.secrets[3] =
        (struct residue_secret){"state", (const uint8_t *)&at.state, sizeof at.state};
    residue_look(c, &call);
}

enum result hmac_leaves_nothing_behind(struct check *c)
{
    kernel = evc_sha2_named(c->line->name);
    if (residue_unavailable())
        return check_skip(c, residue_unavailable());
    residue_begin();
    for (hash = EVC_SHA256; hash <= EVC_SHA512; hash += EVC_SHA512 - EVC_SHA256) {
        if (!(hash == EVC_SHA256 ? kernel->blocks256 != NULL : kernel->blocks512 != NULL))
            continue;
        for (len_bytes = 1; len_bytes < MAX_BYTES; len_bytes += c->quick ? 67 : 13) {
            know_versions(c);
            out_bytes = evc_sha2_digest_bytes(hash) + len_bytes % 30;
            for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
                look(c, i);
        }
    }
    return residue_verdict(c);
}

/* SPDX-License-Identifier: MIT */
/* Residue of SHA-2. The message is secret, and so is its digest until the caller has it. */
#include "residue.h"

#include "must.h"

#include <stdio.h>
#include <string.h>

#include "everycore/rsa_sha2.h"

#define MAX_BYTES 600

static const struct evc_sha2 *kernel; /* under test */
static enum evc_sha2_hash hash;

/* By version. */
static struct version {
    struct evc_sha2_state state; /* of a message with some bytes in it */
    uint8_t in[MAX_BYTES + 16], digest[EVC_SHA2_MOST_DIGEST_BYTES];
    uint8_t digests[16][EVC_SHA2_MOST_DIGEST_BYTES];
    int failed;
} versions[2];

static struct version at;
static size_t len_bytes;

static void prepare(unsigned version)
{
    at = versions[version];
}

static void digest(void)
{
    must(evc_sha2_digest(kernel, hash, at.in, len_bytes, at.digest));
}

static void update(void)
{
    must(evc_sha2_update(&at.state, at.in, len_bytes));
}

static void finish(void)
{
    must(evc_sha2_finish(&at.state, at.digest));
}

/* For the paddings of RSA. */
static void pieces(void)
{
    const struct evc_rsa_piece two[] = {{at.in, len_bytes / 2},
                                        {at.in + len_bytes / 2, len_bytes - len_bytes / 2}};
    struct evc_rsa_hash described;

    must(evc_rsa_hash_sha2(&described, kernel, hash));
    at.failed = described.digest(described.context, two, 2, at.digest);
}

#define MESSAGES 16

static uint8_t scratch[8192];

/* Parts of the message, of different lengths. */
static void many(void)
{
    static struct evc_sha2_message messages[MESSAGES];

    for (size_t i = 0; i < MESSAGES; i++)
        messages[i] = (struct evc_sha2_message){at.in + i, len_bytes - len_bytes * i / 20,
                                                at.digests[i], EVC_OK};
    must(evc_sha2_many(kernel, hash, messages, MESSAGES, scratch, sizeof scratch));
}

static void look(struct check *c, const char *operation, void (*make)(void))
{
    struct residue_call call = {.operation = operation,
                                .prepare = prepare,
                                .make = make,
                                .given = at.digest,
                                .given_bytes = make == update ? 0 : sizeof at.digest};

    snprintf(call.sizes, sizeof call.sizes, "hash %d, %zu bytes", (int)hash, len_bytes);
    call.secrets[0] = (struct residue_secret){"message", at.in, len_bytes};
    call.secrets[1] =
        (struct residue_secret){"state", (const uint8_t *)&at.state.h, sizeof at.state.h};
    call.secrets[2] =
        (struct residue_secret){"part of a block", at.state.waiting, sizeof at.state.waiting};
    residue_look(c, &call);
}

static void know_versions(struct check *c)
{
    for (unsigned v = 0; v < 2; v++) {
        random_bytes(&c->random, versions[v].in, sizeof versions[v].in);
        memset(versions[v].digest, 0, sizeof versions[v].digest);
        must(evc_sha2_start(&versions[v].state, kernel, hash));
        must(evc_sha2_update(&versions[v].state, versions[v].in, 150));
    }
}

enum result sha2_leaves_nothing_behind(struct check *c)
{
    kernel = evc_sha2_named(c->line->name);
    if (residue_unavailable())
        return check_skip(c, residue_unavailable());
    residue_begin();
    for (hash = EVC_SHA256; hash <= EVC_SHA512; hash += EVC_SHA512 - EVC_SHA256) {
        if (!(hash == EVC_SHA256 ? kernel->blocks256 != NULL : kernel->blocks512 != NULL))
            continue;
        for (len_bytes = 1; len_bytes < MAX_BYTES; len_bytes += c->quick ? 61 : 7) {
            know_versions(c);
            look(c, "digest", digest);
            look(c, "update", update);
            look(c, "finish", finish);
            look(c, "pieces of RSA", pieces);
            look(c, "many", many);
        }
    }
    return residue_verdict(c);
}

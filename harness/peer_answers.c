/* SPDX-License-Identifier: MIT */
#include "peer_answers.h"

#include <stdio.h>
#include <string.h>

#include "everycore/gcm.h"
#include "everycore/gcm_siv.h"
#include "everycore/hmac.h"
#include "everycore/modes.h"
#include "everycore/pbkdf2.h"

#include "measure.h"
#include "must.h"
#include "options.h"
#include "vector.h"

#define NONCE_BYTES 12

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* A message gets a tag and no output. */
static bool is_mac(const char *mode)
{
    return begins(mode, "cmac") || begins(mode, "hmac");
}

static bool has_tag(const char *mode)
{
    return is_mac(mode) || begins(mode, "ccm") || begins(mode, "gcm");
}

static enum evc_sha2_hash hash_of(const char *mode)
{
    return strstr(mode, "sha256") ? EVC_SHA256 : EVC_SHA512;
}

static bool is_pbkdf2(const char *mode)
{
    return begins(mode, "pbkdf2");
}

/* A message, or a password, gets a digest for its output. */
static bool is_digest(const char *mode)
{
    return begins(mode, "sha") || is_pbkdf2(mode);
}

static size_t output_bytes(const char *mode, size_t len_bytes)
{
    return is_mac(mode)      ? 0
           : is_digest(mode) ? evc_sha2_digest_bytes(hash_of(mode))
                             : len_bytes;
}

size_t peer_messages(const char *mode)
{
    return strstr(mode, "-many") ? PEER_MANY : 1;
}

bool peer_opens(const char *mode)
{
    return strcmp(mode, "ccm-open") == 0 || strcmp(mode, "gcm-open") == 0 ||
           strcmp(mode, "gcm-siv-open") == 0;
}

size_t peer_length_used(const char *mode, unsigned key_bits, size_t len_bytes)
{
    if (begins(mode, "xts") && (len_bytes < 16 || key_bits == 192))
        return 0;
    if (begins(mode, "gcm-siv") && key_bits == 192)
        return 0;
    if (is_pbkdf2(mode))
        return BENCH_ITERATIONS;
    if (peer_messages(mode) > 1 && len_bytes > PEER_MOST_OF_MANY_BYTES)
        return 0;
    return begins(mode, "ecb") || begins(mode, "cbc") ? len_bytes / 16 * 16 : len_bytes;
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static void hex(char text[33], const uint8_t *bytes, size_t n)
{
    text[0] = 0;
    for (size_t i = 0; i < n && i < 16; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

bool peer_same(const char *where, const char *part, const uint8_t *expected, const uint8_t *got,
               size_t n, struct peer_fault *fault)
{
    size_t at = 0;

    while (at < n && expected[at] == got[at])
        at++;
    if (at == n)
        return true;
    snprintf(fault->what, sizeof fault->what, "%.100s: wrong %s from byte %zu of %zu", where, part,
             at, n);
    hex(fault->expected, expected + at, n - at);
    hex(fault->got, got + at, n - at);
    return false;
}

bool peer_fails(const char *where, const char *what, struct peer_fault *fault)
{
    snprintf(fault->what, sizeof fault->what, "%.100s: %s", where, what);
    return false;
}

/* ---- The reference --------------------------------------------------------------------------- */

static void reference_hmac(const char *mode, const uint8_t *user_key, unsigned key_bits,
                           const struct peer_message *m, uint8_t tag[PEER_TAG_BYTES])
{
    struct evc_hmac_key key;

    must(evc_hmac_set_key(&key, evc_sha2_named("c_ref"), hash_of(mode), user_key, key_bits / 8));
    must(evc_hmac_allow_short_tags(&key));
    must(evc_hmac(&key, m->in, m->len_bytes, tag, PEER_TAG_BYTES));
}

static void reference_digest(const char *mode, const uint8_t *password, unsigned password_bits,
                             const struct peer_message *m, uint8_t *out)
{
    const struct evc_sha2 *const kernel = evc_sha2_named("c_ref");
    struct evc_hmac_key key;

    if (!is_pbkdf2(mode)) {
        must(evc_sha2_digest(kernel, hash_of(mode), m->in, m->len_bytes, out));
        return;
    }
    must(evc_hmac_set_key(&key, kernel, hash_of(mode), password, password_bits / 8));
    must(evc_pbkdf2(&key, m->aad, m->aad_bytes, m->n_iterations, out,
                    evc_sha2_digest_bytes(hash_of(mode))));
}

static void siv_reference(const uint8_t *user_key, unsigned key_bits, const struct peer_message *m,
                          uint8_t *out, uint8_t tag[PEER_TAG_BYTES])
{
    static uint8_t scratch[EVC_GCM_SIV_MOST_SCRATCH_BYTES];
    static struct evc_gcm_siv_key siv;

    must(evc_gcm_siv_set_key(&siv, evc_aes_named("c_ref"), evc_ghash_named("c_ref"), user_key,
                             key_bits));
    must(evc_gcm_siv_seal(&siv, m->iv, NONCE_BYTES, m->aad, m->aad_bytes, m->in, out, m->len_bytes,
                          tag, PEER_TAG_BYTES, scratch, sizeof scratch));
}

/* c_ref's answer to a message, to out and tag: to one that is to be opened, the one that it was
 * sealed from. */
static void reference(const char *mode, const uint8_t *user_key, unsigned key_bits,
                      const struct peer_message *m, uint8_t *out, uint8_t tag[PEER_TAG_BYTES])
{
    static union evc_aes_key key;
    static struct evc_aes_xts_key xts;
    static struct evc_aes_cmac_key cmac;
    static struct evc_aes_ccm_key ccm;
    static union evc_gcm_key gcm;
    const struct evc_aes *kernel = evc_aes_named("c_ref");
    uint8_t iv[16];

    if (is_digest(mode)) {
        reference_digest(mode, user_key, key_bits, m, out);
        return;
    }
    memcpy(iv, m->iv, 16);
    must(evc_aes_set_key(&key, kernel, user_key, key_bits));
    must(evc_aes_xts_set_key(&xts, kernel, kernel, user_key, key_bits));
    must(evc_aes_cmac_set_key(&cmac, kernel, user_key, key_bits));
    must(evc_aes_ccm_set_key(&ccm, kernel, kernel, user_key, key_bits));
    must(evc_gcm_set_pair(&gcm, kernel, evc_ghash_named("c_ref"), user_key, key_bits));
    if (strcmp(mode, "ecb-enc") == 0)
        must(evc_aes_encrypt(&key, m->in, out, m->len_bytes / 16));
    else if (strcmp(mode, "ecb-dec") == 0)
        must(evc_aes_decrypt(&key, m->in, out, m->len_bytes / 16));
    else if (strcmp(mode, "cbc-enc") == 0)
        must(evc_aes_cbc_encrypt(&key, iv, m->in, out, m->len_bytes));
    else if (strcmp(mode, "cbc-dec") == 0)
        must(evc_aes_cbc_decrypt(&key, iv, m->in, out, m->len_bytes));
    else if (strcmp(mode, "ctr") == 0)
        must(evc_aes_ctr(&key, iv, m->in, out, m->len_bytes));
    else if (strcmp(mode, "xts-enc") == 0)
        must(evc_aes_xts_encrypt(&xts, iv, m->in, out, m->len_bytes));
    else if (strcmp(mode, "xts-dec") == 0)
        must(evc_aes_xts_decrypt(&xts, iv, m->in, out, m->len_bytes));
    else if (strcmp(mode, "cmac") == 0)
        must(evc_aes_cmac(&cmac, m->in, m->len_bytes, tag, PEER_TAG_BYTES));
    else if (begins(mode, "hmac"))
        reference_hmac(mode, user_key, key_bits, m, tag);
    else if (begins(mode, "ccm"))
        must(evc_aes_ccm_seal(&ccm, iv, NONCE_BYTES, m->aad, m->aad_bytes, m->in, out, m->len_bytes,
                              tag, PEER_TAG_BYTES));
    else if (begins(mode, "gcm-siv"))
        siv_reference(user_key, key_bits, m, out, tag);
    else
        must(evc_gcm_seal(&gcm, iv, NONCE_BYTES, m->aad, m->aad_bytes, m->in, out, m->len_bytes,
                          tag, PEER_TAG_BYTES));
}

/* The message is answered as expected, of whose output n_bytes are known; a damaged tag is
 * refused. */
static bool answers(const char *where, const char *mode, void *context, peer_run *run,
                    const struct peer_message *m, const uint8_t *out, size_t n_bytes,
                    const uint8_t *tag, struct peer_fault *fault)
{
    memset(m->out, 0, n_bytes);
    if (!run(context, m))
        return peer_fails(where, "refused", fault);
    if (!peer_same(where, "output", out, m->out, n_bytes, fault))
        return false;
    if (has_tag(mode) && !peer_same(where, "tag", tag, m->tag, PEER_TAG_BYTES, fault))
        return false;
    if (!peer_opens(mode))
        return true;
    m->tag[PEER_TAG_BYTES - 1] ^= 1;
    bool accepted = run(context, m);
    m->tag[PEER_TAG_BYTES - 1] ^= 1;
    return !accepted || peer_fails(where, "a damaged tag is accepted", fault);
}

/* Each of the messages of one call has its own digest in its output. */
static bool many_answer(const char *where, const char *mode, void *context, peer_run *run,
                        const struct peer_message messages[PEER_MANY], struct peer_fault *fault)
{
    uint8_t digest[PEER_DIGEST_BYTES];
    char which[96];

    for (size_t i = 0; i < PEER_MANY; i++)
        memset(messages[i].out, 0, PEER_DIGEST_BYTES);
    if (!run(context, messages))
        return peer_fails(where, "refused", fault);
    for (size_t i = 0; i < PEER_MANY; i++) {
        snprintf(which, sizeof which, "%.70s, number %zu of many", where, i);
        reference_digest(mode, NULL, 0, &messages[i], digest);
        if (!peer_same(which, "output", digest, messages[i].out, output_bytes(mode, 0), fault))
            return false;
    }
    return true;
}

bool peer_agrees(const char *mode, const uint8_t *key, unsigned key_bits, void *context,
                 peer_run *run, struct peer_message *messages, size_t n, struct peer_fault *fault)
{
    static uint8_t text[PEER_MOST_BYTES], expected[PEER_MOST_BYTES];
    uint8_t tag[PEER_TAG_BYTES];
    char where[64];

    for (size_t i = 0; i < n; i++) {
        struct peer_message *m = &messages[i];
        snprintf(where, sizeof where, "message %zu of %zu bytes, against c_ref", i, m->len_bytes);
        if (peer_messages(mode) > 1)
            return many_answer(where, mode, context, run, messages, fault);
        memset(tag, 0, sizeof tag);
        if (!peer_opens(mode)) {
            reference(mode, key, key_bits, m, expected, tag);
            memset(m->tag, 0, PEER_TAG_BYTES);
        } else { /* in is what out has to become; by way of out, which the peer overwrites */
            memcpy(text, m->in, m->len_bytes);
            reference(mode, key, key_bits, m, m->out, tag);
            memcpy((uint8_t *)(uintptr_t)m->in, m->out, m->len_bytes);
            memcpy(m->tag, tag, PEER_TAG_BYTES);
        }
        if (!answers(where, mode, context, run, m, peer_opens(mode) ? text : expected,
                     output_bytes(mode, m->len_bytes), tag, fault))
            return false;
    }
    return true;
}

/* ---- Published vectors ----------------------------------------------------------------------- */

struct vector_run {
    const struct peer *peer;
    const char *mode;
    unsigned key_bits;
    struct peer_fault *fault; /* the first one */
    unsigned long n;
};

static bool is_of_shape(const struct vector *x, const struct vector_run *r)
{
    const size_t n = strlen(x->mode->name);

    if (strncmp(r->mode, x->mode->name, n) != 0 ||
        strcmp(r->mode + n, peer_messages(r->mode) > 1 ? "-many" : "") != 0)
        return false;
    if (x->mode->family == PBKDF2) /* passwords have any length */
        return x->v[KEY].n <= PEER_MOST_PASSWORD_BYTES && x->v[OUT].n >= PEER_TAG_BYTES &&
               x->v[OUT].n <= output_bytes(r->mode, 0);
    if (!x->v[IN].n || x->v[IN].n > PEER_MOST_BYTES)
        return false;
    if (x->mode->family == DIGEST)
        return true;
    if (8 * x->v[KEY].n != r->key_bits)
        return false;
    switch (x->mode->family) {
    case XTS: return x->v[KEY2].n == x->v[KEY].n;
    case CMAC: return x->v[OUT].n == PEER_TAG_BYTES;
    case HMAC: return x->v[OUT].n >= PEER_TAG_BYTES;
    case CCM:
    case GCM: return x->v[NONCE].n == NONCE_BYTES && x->v[TAG].n == PEER_TAG_BYTES;
    default: return true;
    }
}

/* The message of a vector many times in one call. */
static void judge_many(const char *where, const struct peer_message *m, const uint8_t *digest,
                       struct vector_run *r, void *context, peer_run *run)
{
    static uint8_t digests[PEER_MANY][PEER_DIGEST_BYTES];
    struct peer_message messages[PEER_MANY];

    for (size_t i = 0; i < PEER_MANY; i++) {
        messages[i] = *m;
        messages[i].out = digests[i];
    }
    if (many_answer(where, r->mode, context, run, messages, r->fault))
        peer_same(where, "output", digest, digests[0], output_bytes(r->mode, 0), r->fault);
}

static void judge(const struct vector *x, struct vector_run *r, void *context, peer_run *run)
{
    static uint8_t in[PEER_MOST_BYTES + PEER_TAG_BYTES], out[PEER_MOST_BYTES + PEER_TAG_BYTES];
    char where[112];
    const bool opens = peer_opens(r->mode);
    const uint8_t *expected_tag = x->v[is_mac(r->mode) ? OUT : TAG].bytes;
    const struct value *const aad = &x->v[is_pbkdf2(r->mode) ? SALT : AAD];
    struct peer_message m = {.in = in,
                             .out = out,
                             .iv = x->v[has_tag(r->mode) ? NONCE : IV].bytes,
                             .aad = aad->bytes,
                             .tag = (opens ? in : out) + x->v[IN].n,
                             .len_bytes = x->v[IN].n,
                             .aad_bytes = aad->n};

    snprintf(where, sizeof where, "published vector %.80s", x->id);
    memcpy(in, x->v[IN].bytes, m.len_bytes);
    memset(m.tag, 0, PEER_TAG_BYTES);
    for (size_t i = 0; i < x->v[ITERATIONS].n; i++)
        m.n_iterations = m.n_iterations << 8 | x->v[ITERATIONS].bytes[i];
    if (peer_messages(r->mode) > 1) {
        judge_many(where, &m, x->v[OUT].bytes, r, context, run);
        return;
    }
    if (opens)
        memcpy(m.tag, expected_tag, PEER_TAG_BYTES);
    if (!x->must_fail)
        answers(where, r->mode, context, run, &m, x->v[OUT].bytes,
                is_mac(r->mode) ? 0 : x->v[OUT].n, expected_tag, r->fault);
    else if (run(context, &m))
        peer_fails(where, "accepted, and has to be refused", r->fault);
}

static void take(struct vector *x, void *vrun)
{
    struct vector_run *r = vrun;
    uint8_t key[64];
    peer_run *run = NULL;

    if (r->fault->what[0] || !x->mode || !is_of_shape(x, r))
        return;
    memcpy(key, x->v[KEY].bytes, x->v[KEY].n);
    if (x->mode->family == XTS)
        memcpy(key + x->v[KEY].n, x->v[KEY2].bytes, x->v[KEY2].n);
    const unsigned key_bits = is_pbkdf2(r->mode) ? 8 * (unsigned)x->v[KEY].n : r->key_bits;
    void *context = r->peer->open(r->mode, key, key_bits, &run);
    if (!context) {
        peer_fails(x->id, "the key of a published vector is refused", r->fault);
        return;
    }
    judge(x, r, context, run);
    r->peer->close(context);
    r->n++;
}

bool peer_answers_vectors(const struct peer *peer, const char *mode, unsigned key_bits,
                          const char *const *files, size_t n_files, struct peer_fault *fault)
{
    struct vector_run r = {.peer = peer, .mode = mode, .key_bits = key_bits, .fault = fault};

    for (size_t i = 0; i < n_files; i++) {
        FILE *lines = fopen(files[i], "r");
        if (!lines)
            usage_error("peers cannot read the vectors '%.200s'", files[i]);
        vectors_read(lines, take, &r);
        fclose(lines);
    }
    if (!r.n && !fault->what[0])
        peer_fails(mode, "no published vector to check it with", fault);
    return !fault->what[0];
}

/* SPDX-License-Identifier: MIT */
/*
 * vectors: published answers from stdin, one a line, for one kernel or all that run here. Every
 * text is computed twice, to another buffer and in place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everycore/cpu.h"
#include "everycore/gcm_siv.h"
#include "everycore/hkdf.h"
#include "everycore/modes.h"
#include "everycore/pbkdf2.h"
#include "everycore/x25519.h"

#include "common/bytes.h"

#include "commands.h"
#include "emit.h"
#include "gcm_kernels.h"
#include "must.h"
#include "names.h"
#include "vector.h"

#define MCT_STEPS 1000 /* of AESAVS (2002) section 6.4, and of SHAVS (2004) section 6.4 */

static uint64_t n_passed, n_failed, n_skipped;

/* ---- Running one ---------------------------------------------------------------------------- */

/* Output of a call: out holds n bytes (in, in place), tag the tag. */
struct outcome {
    enum evc_status status;
    uint8_t *out;
    size_t n;
    uint8_t tag[EVC_SHA2_MOST_DIGEST_BYTES];
    bool joined_differs; /* another result with text and tag in one buffer */
};

static unsigned bits(const struct value *key)
{
    return (unsigned)(8 * key->n);
}

static enum evc_status run_xts(const struct vector *x, const struct evc_aes *aes, bool encrypt,
                               const uint8_t *in, struct outcome *o)
{
    struct evc_aes_xts_key key;
    uint8_t both[64];

    if (x->v[KEY].n > 32 || x->v[KEY2].n != x->v[KEY].n)
        return EVC_ERR_KEY_SIZE;
    memcpy(both, x->v[KEY].bytes, x->v[KEY].n);
    memcpy(both + x->v[KEY].n, x->v[KEY2].bytes, x->v[KEY].n);
    enum evc_status status = evc_aes_xts_set_key(&key, aes, aes, both, bits(&x->v[KEY]));
    if (status != EVC_OK)
        return status;
    return (encrypt ? evc_aes_xts_encrypt : evc_aes_xts_decrypt)(&key, x->v[IV].bytes, in, o->out,
                                                                 o->n);
}

static enum evc_status run_cmac(const struct vector *x, const struct evc_aes *aes,
                                const uint8_t *in, struct outcome *o)
{
    struct evc_aes_cmac_key key;
    enum evc_status status = evc_aes_cmac_set_key(&key, aes, x->v[KEY].bytes, bits(&x->v[KEY]));

    o->n = x->v[OUT].n;
    if (status != EVC_OK)
        return status;
    must(evc_aes_cmac_allow_short_tags(&key));
    if (x->mode->family == CMAC_VERIFY)
        return evc_aes_cmac_verify(&key, in, x->v[IN].n, x->v[TAG].bytes, x->v[TAG].n);
    status = evc_aes_cmac(&key, in, x->v[IN].n, o->tag, o->n);
    if (status == EVC_OK)
        memcpy(o->out, o->tag, o->n);
    return status;
}

/* The text and the tag behind it, for calls that have both in one buffer; in place. */
static uint8_t joined[2 * VECTOR_MOST_BYTES];

static void join(const struct vector *x, const uint8_t *in, size_t n)
{
    memcpy(joined, in, n);
    if (!x->mode->encrypt)
        memcpy(joined + n, x->v[TAG].bytes, x->v[TAG].n);
}

/* Notes whether a call with both in one buffer gave another result than o of the call before. */
static void compare_joined(const struct vector *x, struct outcome *o, enum evc_status status,
                           enum evc_status joined_status)
{
    const bool wrote = status == EVC_OK || status == EVC_ERR_TAG,
               sealed = x->mode->encrypt && status == EVC_OK;

    o->joined_differs = joined_status != status || (wrote && memcmp(joined, o->out, o->n) != 0) ||
                        (sealed && memcmp(joined + o->n, o->tag, x->v[TAG].n) != 0);
}

static enum evc_status run_ccm(const struct vector *x, const struct evc_aes *aes, bool seal,
                               const uint8_t *in, struct outcome *o)
{
    struct evc_aes_ccm_key key;
    const struct value *nonce = &x->v[NONCE], *aad = &x->v[AAD], *tag = &x->v[TAG];
    enum evc_status status = evc_aes_ccm_set_key(&key, aes, aes, x->v[KEY].bytes, bits(&x->v[KEY]));

    if (status != EVC_OK)
        return status;
    must(evc_aes_ccm_allow_short_tags(&key));
    join(x, in, o->n);
    if (!seal)
        status = evc_aes_ccm_open(&key, nonce->bytes, nonce->n, aad->bytes, aad->n, in, o->out,
                                  o->n, tag->bytes, tag->n);
    else
        status = evc_aes_ccm_seal(&key, nonce->bytes, nonce->n, aad->bytes, aad->n, in, o->out,
                                  o->n, o->tag, tag->n);
    compare_joined(x, o, status,
                   seal ? evc_aes_ccm_seal_joined(&key, nonce->bytes, nonce->n, aad->bytes, aad->n,
                                                  joined, joined, o->n, tag->n)
                        : evc_aes_ccm_open_joined(&key, nonce->bytes, nonce->n, aad->bytes, aad->n,
                                                  joined, joined, o->n + tag->n, tag->n));
    if (seal && status == EVC_OK && memcmp(o->tag, tag->bytes, tag->n) != 0)
        return EVC_ERR_TAG;
    return status;
}

static enum evc_status run_gcm(const struct vector *x, const struct gcm_kernel *kernel, bool seal,
                               const uint8_t *in, struct outcome *o)
{
    union evc_gcm_key key;
    const struct value *nonce = &x->v[NONCE], *aad = &x->v[AAD], *tag = &x->v[TAG];
    enum evc_status status = gcm_set_key(kernel, &key, x->v[KEY].bytes, bits(&x->v[KEY]));

    if (status != EVC_OK)
        return status;
    must(evc_gcm_allow_short_tags(&key));
    join(x, in, o->n);
    if (!seal)
        status = evc_gcm_open(&key, nonce->bytes, nonce->n, aad->bytes, aad->n, in, o->out, o->n,
                              tag->bytes, tag->n);
    else
        status = evc_gcm_seal(&key, nonce->bytes, nonce->n, aad->bytes, aad->n, in, o->out, o->n,
                              o->tag, tag->n);
    if (tag->n == 16)
        compare_joined(x, o, status,
                       seal ? evc_gcm_seal_joined(&key, nonce->bytes, nonce->n, aad->bytes, aad->n,
                                                  joined, joined, o->n)
                            : evc_gcm_open_joined(&key, nonce->bytes, nonce->n, aad->bytes, aad->n,
                                                  joined, joined, o->n + 16));
    if (seal && status == EVC_OK && memcmp(o->tag, tag->bytes, tag->n) != 0)
        return EVC_ERR_TAG;
    return status;
}

static enum evc_status run_digest(const struct vector *x, const struct evc_sha2 *sha2,
                                  const uint8_t *in, struct outcome *o)
{
    o->n = evc_sha2_digest_bytes(x->mode->hash);
    return evc_sha2_digest(sha2, x->mode->hash, in, x->v[IN].n, o->out);
}

/* Each message is the last three digests; the first three are the seed. */
static enum evc_status run_mct_of_digests(const struct vector *x, const struct evc_sha2 *sha2,
                                          struct outcome *o)
{
    const size_t n = evc_sha2_digest_bytes(x->mode->hash);
    uint8_t last[3 * EVC_SHA2_MOST_DIGEST_BYTES];
    enum evc_status status = x->v[IN].n == n ? EVC_OK : EVC_ERR_LENGTH;

    for (size_t i = 0; i < 3 && status == EVC_OK; i++)
        memcpy(last + i * n, x->v[IN].bytes, n);
    for (int i = 0; i < MCT_STEPS && status == EVC_OK; i++) {
        status = evc_sha2_digest(sha2, x->mode->hash, last, 3 * n, o->out);
        memmove(last, last + n, 2 * n);
        memcpy(last + 2 * n, o->out, n);
    }
    o->n = n;
    return status;
}

static enum evc_status run_hmac(const struct vector *x, const struct evc_sha2 *sha2,
                                const uint8_t *in, struct outcome *o)
{
    struct evc_hmac_key key;

    o->n = x->v[OUT].n;
    must(evc_hmac_set_key(&key, sha2, x->mode->hash, x->v[KEY].bytes, x->v[KEY].n));
    must(evc_hmac_allow_short_tags(&key));
    return x->mode->family == HMAC_VERIFY
               ? evc_hmac_verify(&key, in, x->v[IN].n, x->v[TAG].bytes, x->v[TAG].n)
               : evc_hmac(&key, in, x->v[IN].n, o->out, o->n);
}

/* The info is never in place: calls refuse output that overlaps it. */
static enum evc_status run_hkdf(const struct vector *x, const struct evc_sha2 *sha2,
                                struct outcome *o)
{
    const struct value *secret = &x->v[KEY], *salt = &x->v[SALT], *info = &x->v[IN],
                       *length = &x->v[LENGTH];

    o->n = length->given ? (size_t)length->bytes[0] << 8 | length->bytes[1] : x->v[OUT].n;
    return evc_hkdf(sha2, x->mode->hash, salt->bytes, salt->n, secret->bytes, secret->n,
                    info->bytes, info->n, o->out, o->n);
}

static enum evc_status run_pbkdf2(const struct vector *x, const struct evc_sha2 *sha2,
                                  struct outcome *o)
{
    struct evc_hmac_key key;

    o->n = x->v[OUT].n;
    must(evc_hmac_set_key(&key, sha2, x->mode->hash, x->v[KEY].bytes, x->v[KEY].n));
    return evc_pbkdf2(&key, x->v[SALT].bytes, x->v[SALT].n, evc_load32_be(x->v[ITERATIONS].bytes),
                      o->out, o->n);
}

/* GCM-SIV by one kernel of AES and one of GHASH. */
static enum evc_status run_siv_pair(const struct vector *x, const struct evc_aes *aes,
                                    const struct evc_ghash *ghash, const uint8_t *in,
                                    struct outcome *o)
{
    static uint8_t scratch[16384]; /* kernels chosen by name may have keys beyond the unions */
    struct evc_gcm_siv_key key;
    const struct value *nonce = &x->v[NONCE], *aad = &x->v[AAD], *tag = &x->v[TAG];
    const bool seal = x->mode->encrypt;
    enum evc_status status =
        evc_gcm_siv_set_key(&key, aes, ghash, x->v[KEY].bytes, bits(&x->v[KEY]));

    if (status != EVC_OK)
        return status;
    join(x, in, o->n);
    if (!seal)
        status = evc_gcm_siv_open(&key, nonce->bytes, nonce->n, aad->bytes, aad->n, in, o->out,
                                  o->n, tag->bytes, tag->n, scratch, sizeof scratch);
    else
        status = evc_gcm_siv_seal(&key, nonce->bytes, nonce->n, aad->bytes, aad->n, in, o->out,
                                  o->n, o->tag, tag->n, scratch, sizeof scratch);
    if (tag->n == 16)
        compare_joined(x, o, status,
                       seal ? evc_gcm_siv_seal_joined(&key, nonce->bytes, nonce->n, aad->bytes,
                                                      aad->n, joined, joined, o->n, scratch,
                                                      sizeof scratch)
                            : evc_gcm_siv_open_joined(&key, nonce->bytes, nonce->n, aad->bytes,
                                                      aad->n, joined, joined, o->n + 16, scratch,
                                                      sizeof scratch));
    if (seal && status == EVC_OK && memcmp(o->tag, tag->bytes, tag->n) != 0)
        return EVC_ERR_TAG;
    return status;
}

/* With every kernel of GHASH that runs here. The first result that differs from that of the kernel
 * before is the one that is judged. */
static enum evc_status run_siv(const struct vector *x, const struct evc_aes *aes, const uint8_t *in,
                               struct outcome *o)
{
    static uint8_t text[VECTOR_MOST_BYTES], before[VECTOR_MOST_BYTES];
    const struct evc_ghash *ghash;
    enum evc_status status = EVC_ERR_KERNEL, last;
    bool is_first = true;

    memcpy(text, in, o->n);
    for (unsigned i = 0; (ghash = evc_ghash_at(i)) != NULL; i++) {
        if (!evc_kernel_runs(evc_ghash_kernel(ghash), evc_cpu_features()))
            continue;
        memcpy(o->out, text, o->n); /* in may be out */
        last = status;
        status = run_siv_pair(x, aes, ghash, in == o->out ? o->out : in, o);
        if (o->joined_differs ||
            (!is_first && (status != last || memcmp(before, o->out, o->n) != 0)))
            return status;
        memcpy(before, o->out, o->n);
        is_first = false;
    }
    return status;
}

static enum evc_status one_block(const union evc_aes_key *key, bool encrypt, uint8_t *iv,
                                 const uint8_t in[16], uint8_t out[16])
{
    if (iv)
        return (encrypt ? evc_aes_cbc_encrypt : evc_aes_cbc_decrypt)(key, iv, in, out, 16);
    if (!encrypt)
        return evc_aes_decrypt(key, in, out, 1);
    must(evc_aes_encrypt(key, in, out, 1));
    return EVC_OK;
}

/* One outer step of the Monte Carlo test: with an IV, the input of a step is the result before the
 * last one. */
static enum evc_status run_mct(const struct vector *x, const union evc_aes_key *key, bool encrypt,
                               const uint8_t *in, struct outcome *o)
{
    uint8_t iv[16], now[16], before[16], result[16];
    bool cbc = x->v[IV].given;
    enum evc_status status = EVC_OK;

    if (x->v[IN].n != 16)
        return EVC_ERR_LENGTH;
    memcpy(now, in, 16);
    memcpy(iv, cbc ? x->v[IV].bytes : in, 16);
    memcpy(before, iv, 16);
    for (int i = 0; i < MCT_STEPS && status == EVC_OK; i++) {
        status = one_block(key, encrypt, cbc ? iv : NULL, now, result);
        memcpy(now, cbc ? before : result, 16);
        memcpy(before, result, 16);
    }
    memcpy(o->out, result, 16);
    return status;
}

static enum evc_status run_ecb(const struct vector *x, const union evc_aes_key *key, bool encrypt,
                               const uint8_t *in, struct outcome *o)
{
    if (x->v[IN].n % 16 != 0)
        return EVC_ERR_LENGTH;
    if (!encrypt)
        return evc_aes_decrypt(key, in, o->out, o->n / 16);
    must(evc_aes_encrypt(key, in, o->out, o->n / 16));
    return EVC_OK;
}

/* Key wrap: 8 bytes are before the text, and KWP fills up the last semiblock. */
static enum evc_status run_wrap(const struct vector *x, const union evc_aes_key *key,
                                const uint8_t *in, struct outcome *o)
{
    const size_t n = o->n;
    const bool padded = x->mode->family == KWP;
    enum evc_status status;

    if (x->mode->encrypt) {
        o->n = padded ? evc_aes_kwp_bytes(n) : n + 8;
        return (padded ? evc_aes_kwp_wrap : evc_aes_kw_wrap)(key, in, o->out, n);
    }
    o->n = n < 8 ? 0 : n - 8;
    if (!padded)
        return evc_aes_kw_unwrap(key, in, o->out, n);
    status = evc_aes_kwp_unwrap(key, in, o->out, n, &o->n);
    if (status == EVC_ERR_TAG)
        o->n = n - 8;
    return status;
}

static enum evc_status run_one_key(const struct vector *x, const struct evc_aes *aes,
                                   const uint8_t *in, struct outcome *o)
{
    union evc_aes_key key;
    uint8_t iv[16] = {0};
    enum evc_status status = evc_aes_set_key(&key, aes, x->v[KEY].bytes, bits(&x->v[KEY]));

    if (status != EVC_OK)
        return status;
    if (x->v[IV].given)
        memcpy(iv, x->v[IV].bytes, 16);
    switch (x->mode->family) {
    case ECB: return run_ecb(x, &key, x->mode->encrypt, in, o);
    case CBC:
        return (x->mode->encrypt ? evc_aes_cbc_encrypt : evc_aes_cbc_decrypt)(&key, iv, in,
                                                                              o->out, o->n);
    case CTR: must(evc_aes_ctr(&key, iv, in, o->out, o->n)); return EVC_OK;
    case CBCMAC:
        status = evc_aes_cbcmac(&key, iv, in, o->n);
        memcpy(o->out, iv, 16);
        o->n = 16;
        return status;
    case MCT_ECB:
    case MCT_CBC: return run_mct(x, &key, x->mode->encrypt, in, o);
    case KW:
    case KWP: return run_wrap(x, &key, in, o);
    case XTS:
    case DIGEST:
    case MCT_DIGEST:
    case CMAC:
    case CMAC_VERIFY:
    case CCM:
    case GCM:
    case HMAC:
    case HMAC_VERIFY:
    case HKDF:
    case PBKDF2:
    case GCM_SIV:
    case X25519: break;
    }
    return EVC_ERR_KERNEL;
}

static enum evc_status run(const struct vector *x, const char *kernel, const uint8_t *in,
                           struct outcome *o)
{
    const struct evc_aes *aes = evc_aes_named(kernel);
    const struct evc_sha2 *sha2 = evc_sha2_named(kernel);
    const struct evc_x25519 *x25519 = evc_x25519_named(kernel);
    const struct gcm_kernel gcm = gcm_kernel_named(kernel);

    switch (x->mode->family) {
    case XTS: return run_xts(x, aes, x->mode->encrypt, in, o);
    case CMAC:
    case CMAC_VERIFY: return run_cmac(x, aes, in, o);
    case CCM: return run_ccm(x, aes, x->mode->encrypt, in, o);
    case GCM: return run_gcm(x, &gcm, x->mode->encrypt, in, o);
    case GCM_SIV: return run_siv(x, aes, in, o);
    case DIGEST: return run_digest(x, sha2, in, o);
    case MCT_DIGEST: return run_mct_of_digests(x, sha2, o);
    case HMAC:
    case HMAC_VERIFY: return run_hmac(x, sha2, in, o);
    case HKDF: return run_hkdf(x, sha2, o);
    case PBKDF2: return run_pbkdf2(x, sha2, o);
    case X25519: return evc_x25519_shared(x25519, x->v[KEY].bytes, in, o->out);
    default: return run_one_key(x, aes, in, o);
    }
}

/* ---- Judging -------------------------------------------------------------------------------- */

static uint8_t result_bytes[VECTOR_MOST_BYTES + 16];

/* Checks that a vector is refused, and that nothing of the plaintext is left after a wrong tag. */
static bool is_refused(struct vector *x, const struct outcome *o, const char *where)
{
    const bool opened = x->mode->family == GCM || x->mode->family == CCM ||
                        x->mode->family == GCM_SIV || x->mode->family == KW ||
                        x->mode->family == KWP;

    snprintf(x->detail, sizeof x->detail, "accepted%s", where);
    if (o->status == EVC_OK)
        return false;
    snprintf(x->detail, sizeof x->detail, "refused, but the output is not zeros%s", where);
    for (size_t i = 0; opened && o->status == EVC_ERR_TAG && i < o->n; i++)
        if (o->out[i])
            return false;
    return true;
}

static bool judge(struct vector *x, const char *kernel, bool in_place)
{
    const struct value *in = &x->v[IN], *expected = &x->v[OUT];
    struct outcome o = {EVC_OK, result_bytes, in->n, {0}, false};
    const char *where = in_place ? ", in place" : "";

    memset(result_bytes, 0xa5, in->n + 16);
    if (in_place)
        memcpy(result_bytes, in->bytes, in->n);
    o.status = run(x, kernel, in_place ? result_bytes : in->bytes, &o);
    if (o.joined_differs) {
        snprintf(x->detail, sizeof x->detail, "text and tag in one buffer: another result%s",
                 where);
        return false;
    }
    if (x->must_fail)
        return is_refused(x, &o, where);
    if (o.status != EVC_OK) {
        snprintf(x->detail, sizeof x->detail, "%s%s", evc_status_text(o.status), where);
        return false;
    }
    if (o.n != expected->n) {
        snprintf(x->detail, sizeof x->detail, "%zu bytes come out, %zu are expected", o.n,
                 expected->n);
        return false;
    }
    for (size_t i = 0; i < o.n; i++)
        if (o.out[i] != expected->bytes[i]) {
            snprintf(x->detail, sizeof x->detail, "byte %zu is %02x, not %02x%s", i, o.out[i],
                     expected->bytes[i], where);
            return false;
        }
    return true;
}

static void report(const struct vector *x, const char *kernel, const char *result)
{
    emit_begin("vector");
    emit_text("id", x->id);
    emit_text("kernel", kernel);
    emit_text("result", result);
    emit_text("detail", x->detail);
    emit_end();
}

/* HKDF, PBKDF2 and a chain of digests have no text that the output could replace. */
static bool has_text(const struct vector *x)
{
    return x->mode->family != HKDF && x->mode->family != PBKDF2 && x->mode->family != MCT_DIGEST;
}

/* A kernel that is there to be compared with takes a second for as many iterations as others are
 * asked for. */
#define MOST_BY_NAME 16

static bool takes_too_long(const struct vector *x, const struct evc_registry_line *line)
{
    return x->mode->family == PBKDF2 && line->by_name && strcmp(x->kernel, "*") == 0 &&
           evc_load32_be(x->v[ITERATIONS].bytes) > MOST_BY_NAME;
}

static void try_kernel(struct vector *x, const struct evc_registry_line *line)
{
    if (!runs_here(line) || takes_too_long(x, line)) {
        n_skipped++;
    } else if (judge(x, line->name, false) && (!has_text(x) || judge(x, line->name, true))) {
        n_passed++;
    } else {
        n_failed++;
        report(x, line->name, "fail");
    }
}

/* The pairs of GCM that KERNEL means: with * those that have every kernel in one
 * of them, with *+* all. */
static bool try_pairs(struct vector *x)
{
    const enum pairs which = strcmp(x->kernel, "*") == 0 ? COVERING_PAIRS : EVERY_PAIR;
    const struct evc_registry_line *line;

    if (which == EVERY_PAIR && strcmp(x->kernel, "*+*") != 0) {
        line = pair_named(x->kernel);
        if (line)
            try_kernel(x, line);
        return line != NULL;
    }
    for (unsigned i = 0; (line = pair_at(which, i)) != NULL; i++)
        try_kernel(x, line);
    return true;
}

/* Nonzero if the kernel computes the hash of the mode. */
static bool has_hash(const struct evc_registry_line *line, enum evc_sha2_hash hash)
{
    return !hash || line->use == EVC_USE_ANY ||
           line->use == (evc_sha2_block_bytes(hash) == 64 ? EVC_USE_SHA256 : EVC_USE_SHA512);
}

static void run_vector(struct vector *x)
{
    const char *primitive = vector_primitive(x->mode);
    const struct evc_registry_line *line;
    bool all = strcmp(x->kernel, "*") == 0, found = false;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++) {
        if (strcmp(line->primitive, primitive) != 0 || !has_hash(line, x->mode->hash) ||
            (!all && strcmp(line->name, x->kernel) != 0))
            continue;
        found = true;
        try_kernel(x, line);
    }
    if (x->mode->family == GCM)
        found = try_pairs(x) || found;
    if (!found) {
        n_failed++;
        snprintf(x->detail, sizeof x->detail, "no such kernel");
        report(x, x->kernel, "fail");
    }
}

/* ---- The command ----------------------------------------------------------------------------- */

static void take(struct vector *x, void *arg)
{
    (void)arg;
    if (x->mode) {
        run_vector(x);
        return;
    }
    n_failed++;
    report(x, x->kernel, "fail");
}

int vectors_command(int argc, char **argv)
{
    FILE *lines = stdin;

    if (argc > 1)
        usage_error("vectors takes one file, or lines on stdin, not '%.64s'", argv[1]);
    if (argc == 1 && !(lines = fopen(argv[0], "r")))
        usage_error("vectors cannot read the file '%.200s'", argv[0]);
    emit_harness_line("vectors", NULL);
    vectors_read(lines, take, NULL);
    emit_begin("summary");
    emit_unsigned("passed", n_passed);
    emit_unsigned("failed", n_failed);
    emit_unsigned("skipped", n_skipped);
    emit_end();
    return n_failed ? 1 : 0;
}

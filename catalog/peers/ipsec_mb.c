/* SPDX-License-Identifier: MIT */
/*
 * Intel's library of multi-buffer primitives for IPsec: GCM by its direct calls, whose key tables
 * are made beforehand; all else as one job, not checked by the library and flushed at once, which
 * is the best that a caller with one message can do. It has no XTS, and leaves the comparison of
 * tags to its caller. SHA-2 of one message is a direct call, of many one burst of jobs.
 * Vectors of 128 bits alone: PEER_IPSEC_MB=sse in the environment; of 256: avx2.
 */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

#include <intel-ipsec-mb.h>

/* For GCM a context is the key's data alone, as a program keeps it for each of its connections. */
struct context {
    IMB_MGR *manager;
    IMB_CIPHER_MODE cipher;
    IMB_CIPHER_DIRECTION direction;
    IMB_HASH_ALG hash;
    unsigned key_bits;
    _Alignas(16) uint32_t encrypt_keys[60];
    _Alignas(16) uint32_t decrypt_keys[60];
    _Alignas(16) uint8_t k1[16], k2[16]; /* of CMAC */
    _Alignas(16) uint8_t inner[64], outer[64]; /* of HMAC */
};

static bool is_set_to(const char *word)
{
    const char *set = getenv("PEER_IPSEC_MB");

    return set && strcmp(set, word) == 0;
}

static IMB_MGR *new_manager(void)
{
    IMB_MGR *manager = alloc_mb_mgr(0);

    if (!manager)
        return NULL;
    if (is_set_to("sse"))
        init_mb_mgr_sse(manager);
    else if (is_set_to("avx2"))
        init_mb_mgr_avx2(manager);
    else
        init_mb_mgr_auto(manager, NULL);
    return manager;
}

static const char *version(void)
{
    return imb_get_version_str();
}

static const char *hardware(void)
{
    IMB_MGR *manager = new_manager();
    const char *says = !manager                               ? NULL
                       : manager->used_arch == IMB_ARCH_SSE    ? "sse"
                       : manager->used_arch == IMB_ARCH_AVX2   ? "vaes256"
                       : manager->used_arch == IMB_ARCH_AVX512 ? "best"
                                                               : NULL;

    free_mb_mgr(manager);
    return says;
}

static bool same_tag(const uint8_t *a, const uint8_t *b)
{
    uint64_t x[2], y[2];

    memcpy(x, a, 16);
    memcpy(y, b, 16);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
}

/* One for all contexts: it holds the queues of jobs and the library's functions, and is large. */
static IMB_MGR *shared_manager(void)
{
    static IMB_MGR *manager;

    if (!manager)
        manager = new_manager();
    return manager;
}

#define RUN_GCM(key_bits)                                                                      \
    static bool seal_##key_bits(void *key, const struct peer_message *m)                       \
    {                                                                                          \
        struct gcm_context_data state;                                                         \
        shared_manager()->gcm##key_bits##_enc(key, &state, m->out, m->in, m->len_bytes, m->iv, \
                                              m->aad, m->aad_bytes, m->tag, 16);               \
        return true;                                                                           \
    }                                                                                          \
    static bool open_##key_bits(void *key, const struct peer_message *m)                       \
    {                                                                                          \
        struct gcm_context_data state;                                                         \
        uint8_t tag[16];                                                                       \
        shared_manager()->gcm##key_bits##_dec(key, &state, m->out, m->in, m->len_bytes, m->iv, \
                                              m->aad, m->aad_bytes, tag, 16);                  \
        return same_tag(tag, m->tag);                                                          \
    }

RUN_GCM(128)
RUN_GCM(192)
RUN_GCM(256)

static void *open_gcm(bool seals, const uint8_t *user_key, unsigned key_bits, peer_run **run)
{
    struct gcm_key_data *key = aligned_alloc(64, (sizeof *key + 63) / 64 * 64);

    if (!key)
        return NULL;
    if (key_bits == 128) {
        IMB_AES128_GCM_PRE(shared_manager(), user_key, key);
        *run = seals ? seal_128 : open_128;
    } else if (key_bits == 192) {
        IMB_AES192_GCM_PRE(shared_manager(), user_key, key);
        *run = seals ? seal_192 : open_192;
    } else {
        IMB_AES256_GCM_PRE(shared_manager(), user_key, key);
        *run = seals ? seal_256 : open_256;
    }
    return key;
}

/* Members of all jobs; the hash is first where it reads plaintext. */
static IMB_JOB *new_job(struct context *c, const struct peer_message *m)
{
    IMB_JOB *job = IMB_GET_NEXT_JOB(c->manager);

    job->cipher_mode = c->cipher;
    job->cipher_direction = c->direction;
    job->hash_alg = c->hash;
    job->chain_order = c->direction == IMB_DIR_ENCRYPT && c->hash != IMB_AUTH_NULL
                           ? IMB_ORDER_HASH_CIPHER
                           : IMB_ORDER_CIPHER_HASH;
    job->enc_keys = c->encrypt_keys;
    job->dec_keys = c->decrypt_keys;
    job->key_len_in_bytes = c->key_bits / 8;
    job->src = m->in;
    job->dst = m->out;
    job->iv = m->iv;
    job->iv_len_in_bytes = 16;
    job->cipher_start_src_offset_in_bytes = job->hash_start_src_offset_in_bytes = 0;
    job->msg_len_to_cipher_in_bytes = job->msg_len_to_hash_in_bytes = m->len_bytes;
    return job;
}

static bool finish(struct context *c)
{
    IMB_JOB *job = IMB_SUBMIT_JOB_NOCHECK(c->manager);

    if (!job)
        job = IMB_FLUSH_JOB(c->manager);
    return job && job->status == IMB_STATUS_COMPLETED;
}

static bool run_cipher(void *context, const struct peer_message *m)
{
    new_job(context, m);
    return finish(context);
}

static bool ccm(struct context *c, const struct peer_message *m, uint8_t *tag)
{
    IMB_JOB *job = new_job(c, m);

    job->iv_len_in_bytes = 12;
    job->u.CCM.aad = m->aad;
    job->u.CCM.aad_len_in_bytes = m->aad_bytes;
    job->auth_tag_output = tag;
    job->auth_tag_output_len_in_bytes = 16;
    return finish(c);
}

static bool run_ccm_seal(void *context, const struct peer_message *m)
{
    return ccm(context, m, m->tag);
}

static bool run_ccm_open(void *context, const struct peer_message *m)
{
    uint8_t tag[16];

    return ccm(context, m, tag) && same_tag(tag, m->tag);
}

static bool run_cmac(void *context, const struct peer_message *m)
{
    struct context *c = context;
    IMB_JOB *job = new_job(c, m);

    job->u.CMAC._key_expanded = c->encrypt_keys;
    job->u.CMAC._skey1 = c->k1;
    job->u.CMAC._skey2 = c->k2;
    job->auth_tag_output = m->tag;
    job->auth_tag_output_len_in_bytes = 16;
    return finish(c);
}

static bool run_sha256(void *context, const struct peer_message *m)
{
    IMB_SHA256(((struct context *)context)->manager, m->in, m->len_bytes, m->out);
    return true;
}

static bool run_sha512(void *context, const struct peer_message *m)
{
    IMB_SHA512(((struct context *)context)->manager, m->in, m->len_bytes, m->out);
    return true;
}

static bool run_hmac(void *context, const struct peer_message *m)
{
    struct context *c = context;
    IMB_JOB *job = new_job(c, m);

    job->u.HMAC._hashed_auth_key_xor_ipad = c->inner;
    job->u.HMAC._hashed_auth_key_xor_opad = c->outer;
    job->auth_tag_output = m->tag;
    job->auth_tag_output_len_in_bytes = 16;
    return finish(c);
}

/* The library says how many jobs of a burst it has finished, which are all. */
static bool run_many(void *context, const struct peer_message *m)
{
    struct context *c = context;
    IMB_JOB jobs[PEER_MANY] = {{0}};

    for (size_t i = 0; i < PEER_MANY; i++) {
        jobs[i].hash_alg = c->hash;
        jobs[i].src = m[i].in;
        jobs[i].msg_len_to_hash_in_bytes = m[i].len_bytes;
        jobs[i].auth_tag_output = m[i].out;
        jobs[i].auth_tag_output_len_in_bytes = c->hash == IMB_AUTH_SHA_256 ? 32 : 64;
    }
    return IMB_SUBMIT_HASH_BURST_NOCHECK(c->manager, jobs, PEER_MANY, c->hash) == PEER_MANY;
}

static void set_keys(struct context *c, const uint8_t *key)
{
    if (c->key_bits == 128) {
        IMB_AES_KEYEXP_128(c->manager, key, c->encrypt_keys, c->decrypt_keys);
        IMB_AES_CMAC_SUBKEY_GEN_128(c->manager, c->encrypt_keys, c->k1, c->k2);
    } else if (c->key_bits == 192) {
        IMB_AES_KEYEXP_192(c->manager, key, c->encrypt_keys, c->decrypt_keys);
    } else {
        IMB_AES_KEYEXP_256(c->manager, key, c->encrypt_keys, c->decrypt_keys);
        IMB_AES_CMAC_SUBKEY_GEN_256(c->manager, c->encrypt_keys, c->k1, c->k2);
    }
}

static void close_context(void *context)
{
    free(context);
}

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    static const struct {
        const char *mode;
        IMB_CIPHER_MODE cipher;
        IMB_CIPHER_DIRECTION direction;
        IMB_HASH_ALG hash;
        peer_run *run;
    } offered[] = {
        {"cbc-enc", IMB_CIPHER_CBC, IMB_DIR_ENCRYPT, IMB_AUTH_NULL, run_cipher},
        {"cbc-dec", IMB_CIPHER_CBC, IMB_DIR_DECRYPT, IMB_AUTH_NULL, run_cipher},
        {"ctr", IMB_CIPHER_CNTR, IMB_DIR_ENCRYPT, IMB_AUTH_NULL, run_cipher},
        {"cmac", IMB_CIPHER_NULL, IMB_DIR_ENCRYPT, IMB_AUTH_AES_CMAC, run_cmac},
        {"sha256", IMB_CIPHER_NULL, IMB_DIR_ENCRYPT, IMB_AUTH_SHA_256, run_sha256},
        {"sha512", IMB_CIPHER_NULL, IMB_DIR_ENCRYPT, IMB_AUTH_SHA_512, run_sha512},
        {"sha256-many", IMB_CIPHER_NULL, IMB_DIR_ENCRYPT, IMB_AUTH_SHA_256, run_many},
        {"sha512-many", IMB_CIPHER_NULL, IMB_DIR_ENCRYPT, IMB_AUTH_SHA_512, run_many},
        {"hmac-sha256", IMB_CIPHER_NULL, IMB_DIR_ENCRYPT, IMB_AUTH_HMAC_SHA_256, run_hmac},
        {"hmac-sha512", IMB_CIPHER_NULL, IMB_DIR_ENCRYPT, IMB_AUTH_HMAC_SHA_512, run_hmac},
        {"ccm-seal", IMB_CIPHER_CCM, IMB_DIR_ENCRYPT, IMB_AUTH_AES_CCM, run_ccm_seal},
        {"ccm-open", IMB_CIPHER_CCM, IMB_DIR_DECRYPT, IMB_AUTH_AES_CCM, run_ccm_open},
    };
    size_t i = 0;

    if (!shared_manager())
        return NULL;
    if (strcmp(mode, "gcm-seal") == 0 || strcmp(mode, "gcm-open") == 0)
        return open_gcm(strcmp(mode, "gcm-seal") == 0, key, key_bits, run);
    while (i < sizeof offered / sizeof offered[0] && strcmp(mode, offered[i].mode) != 0)
        i++;
    if (i == sizeof offered / sizeof offered[0])
        return NULL;
    if (key_bits == 192 && (offered[i].run == run_cmac || offered[i].cipher == IMB_CIPHER_CCM))
        return NULL;
    struct context *c = aligned_alloc(64, (sizeof *c + 63) / 64 * 64);
    if (!c)
        return NULL;
    memset(c, 0, sizeof *c);
    c->manager = shared_manager();
    c->cipher = offered[i].cipher;
    c->direction = offered[i].direction;
    c->hash =
        offered[i].run == run_cmac && key_bits == 256 ? IMB_AUTH_AES_CMAC_256 : offered[i].hash;
    c->key_bits = key_bits;
    if (offered[i].run == run_hmac)
        imb_hmac_ipad_opad(c->manager, c->hash, key, key_bits / 8, c->inner, c->outer);
    else
        set_keys(c, key);
    *run = offered[i].run;
    return c;
}

const struct peer evc_peer = {.name = "ipsec-mb",
                              .version = version,
                              .headers = IMB_VERSION_STR,
                              .hardware = hardware,
                              .open = open_context,
                              .close = close_context};

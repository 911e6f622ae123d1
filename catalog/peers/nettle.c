/* SPDX-License-Identifier: MIT */
/* nettle through the functions of its algorithms. Hardware off: NETTLE_FAT_OVERRIDE in the
 * environment. */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/aes.h>
#include <nettle/cbc.h>
#include <nettle/ccm.h>
#include <nettle/cmac.h>
#include <nettle/ctr.h>
#include <nettle/gcm.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/nettle-meta.h>
#include <nettle/pbkdf2.h>
#include <nettle/sha2.h>
#include <nettle/version.h>
#include <nettle/xts.h>

/* From version 4 on a digest has one length. */
#if NETTLE_VERSION_MAJOR >= 4
#define DIGEST_BYTES
#define BYTES(n)
#else
#define DIGEST_BYTES 16,
#define BYTES(n) n,
#endif

/* nettle has these for each key size; the types of their contexts differ. */
typedef void cbc_function(const void *aes, uint8_t *iv, size_t n, uint8_t *out, const uint8_t *in);
typedef void xts_function(const void *xts, const uint8_t *tweak, size_t n, uint8_t *out,
                          const uint8_t *in);

struct context {
    const struct nettle_cipher *aes;
    const struct nettle_aead *gcm;
    const struct nettle_mac *mac;
    cbc_function *cbc_encrypt;
    xts_function *xts;
    struct ccm_ctx ccm;
    union {
        struct aes256_ctx aes;
        struct gcm_aes256_ctx gcm;
        struct cmac_aes256_ctx cmac;
        struct xts_aes256_key xts;
        struct sha256_ctx sha256;
        struct sha512_ctx sha512;
        struct hmac_sha256_ctx hmac256;
        struct hmac_sha512_ctx hmac512;
        struct {
            uint8_t bytes[64];
            size_t n;
        } password;
    } key; /* the longest key of each */
};

static const char *version(void)
{
    static char text[32];

    snprintf(text, sizeof text, "%d.%d", nettle_version_major(), nettle_version_minor());
    return text;
}

static bool run_ecb_encrypt(void *context, const struct peer_message *m)
{
    const struct context *c = context;

    c->aes->encrypt(&c->key, m->len_bytes, m->out, m->in);
    return true;
}

static bool run_ecb_decrypt(void *context, const struct peer_message *m)
{
    const struct context *c = context;

    c->aes->decrypt(&c->key, m->len_bytes, m->out, m->in);
    return true;
}

static bool run_cbc_encrypt(void *context, const struct peer_message *m)
{
    const struct context *c = context;
    uint8_t iv[16];

    memcpy(iv, m->iv, 16);
    c->cbc_encrypt(&c->key, iv, m->len_bytes, m->out, m->in);
    return true;
}

static bool run_cbc_decrypt(void *context, const struct peer_message *m)
{
    const struct context *c = context;
    uint8_t iv[16];

    memcpy(iv, m->iv, 16);
    cbc_decrypt(&c->key, c->aes->decrypt, 16, iv, m->len_bytes, m->out, m->in);
    return true;
}

static bool run_ctr(void *context, const struct peer_message *m)
{
    const struct context *c = context;
    uint8_t counter[16];

    memcpy(counter, m->iv, 16);
    ctr_crypt(&c->key, c->aes->encrypt, 16, counter, m->len_bytes, m->out, m->in);
    return true;
}

static bool run_xts(void *context, const struct peer_message *m)
{
    const struct context *c = context;

    c->xts(&c->key, m->iv, m->len_bytes, m->out, m->in);
    return true;
}

static bool run_cmac(void *context, const struct peer_message *m)
{
    struct context *c = context;

    c->mac->update(&c->key, m->len_bytes, m->in);
    c->mac->digest(&c->key, DIGEST_BYTES m->tag);
    return true;
}

static bool run_gcm_seal(void *context, const struct peer_message *m)
{
    struct context *c = context;

    c->gcm->set_nonce(&c->key, m->iv);
    c->gcm->update(&c->key, m->aad_bytes, m->aad);
    c->gcm->encrypt(&c->key, m->len_bytes, m->out, m->in);
    c->gcm->digest(&c->key, DIGEST_BYTES m->tag);
    return true;
}

static bool run_gcm_open(void *context, const struct peer_message *m)
{
    struct context *c = context;
    uint8_t tag[16];

    c->gcm->set_nonce(&c->key, m->iv);
    c->gcm->update(&c->key, m->aad_bytes, m->aad);
    c->gcm->decrypt(&c->key, m->len_bytes, m->out, m->in);
    c->gcm->digest(&c->key, DIGEST_BYTES tag);
    return memeql_sec(tag, m->tag, 16);
}

static void begin_ccm(struct context *c, const struct peer_message *m)
{
    ccm_set_nonce(&c->ccm, &c->key, c->aes->encrypt, 12, m->iv, m->aad_bytes, m->len_bytes, 16);
    ccm_update(&c->ccm, &c->key, c->aes->encrypt, m->aad_bytes, m->aad);
}

static bool run_ccm_seal(void *context, const struct peer_message *m)
{
    struct context *c = context;

    begin_ccm(c, m);
    ccm_encrypt(&c->ccm, &c->key, c->aes->encrypt, m->len_bytes, m->out, m->in);
    ccm_digest(&c->ccm, &c->key, c->aes->encrypt, DIGEST_BYTES m->tag);
    return true;
}

static bool run_ccm_open(void *context, const struct peer_message *m)
{
    struct context *c = context;
    uint8_t tag[16];

    begin_ccm(c, m);
    ccm_decrypt(&c->ccm, &c->key, c->aes->encrypt, m->len_bytes, m->out, m->in);
    ccm_digest(&c->ccm, &c->key, c->aes->encrypt, DIGEST_BYTES tag);
    return memeql_sec(tag, m->tag, 16);
}

#define RUN_HASHES(bits)                                                                         \
    static bool run_sha##bits(void *context, const struct peer_message *m)                       \
    {                                                                                            \
        struct context *c = context;                                                             \
                                                                                                 \
        sha##bits##_update(&c->key.sha##bits, m->len_bytes, m->in);                              \
        sha##bits##_digest(&c->key.sha##bits, BYTES(SHA##bits##_DIGEST_SIZE) m->out);            \
        return true;                                                                             \
    }                                                                                            \
    static bool run_hmac##bits(void *context, const struct peer_message *m)                      \
    {                                                                                            \
        struct context *c = context;                                                             \
        uint8_t tag[SHA##bits##_DIGEST_SIZE];                                                    \
                                                                                                 \
        hmac_sha##bits##_update(&c->key.hmac##bits, m->len_bytes, m->in);                        \
        hmac_sha##bits##_digest(&c->key.hmac##bits, BYTES(sizeof tag) tag);                      \
        memcpy(m->tag, tag, 16);                                                                 \
        return true;                                                                             \
    }                                                                                            \
    static bool run_pbkdf2_##bits(void *context, const struct peer_message *m)                   \
    {                                                                                            \
        const struct context *c = context;                                                       \
                                                                                                 \
        pbkdf2_hmac_sha##bits(c->key.password.n, c->key.password.bytes, m->n_iterations,         \
                              m->aad_bytes, m->aad, SHA##bits##_DIGEST_SIZE, m->out);            \
        return true;                                                                             \
    }

RUN_HASHES(256)
RUN_HASHES(512)

/* Whether the mode is one of hashes, and everything is ready for it. */
static bool open_hash(struct context *c, const char *mode, const uint8_t *key, size_t n_bytes,
                      peer_run **run)
{
    if (strcmp(mode, "sha256") == 0) {
        *run = run_sha256;
        sha256_init(&c->key.sha256);
    } else if (strcmp(mode, "sha512") == 0) {
        *run = run_sha512;
        sha512_init(&c->key.sha512);
    } else if (strcmp(mode, "hmac-sha256") == 0) {
        *run = run_hmac256;
        hmac_sha256_set_key(&c->key.hmac256, n_bytes, key);
    } else if (strcmp(mode, "hmac-sha512") == 0) {
        *run = run_hmac512;
        hmac_sha512_set_key(&c->key.hmac512, n_bytes, key);
    } else if (strncmp(mode, "pbkdf2-", 7) == 0) {
        *run = strcmp(mode, "pbkdf2-sha256") == 0 ? run_pbkdf2_256 : run_pbkdf2_512;
        memcpy(c->key.password.bytes, key, n_bytes);
        c->key.password.n = n_bytes;
    } else {
        return false;
    }
    return true;
}

/* The functions of one key size; there is no CMAC and no XTS with 192 bits. */
static void set_functions(struct context *c, unsigned key_bits)
{
    c->aes = key_bits == 128 ? &nettle_aes128 : key_bits == 192 ? &nettle_aes192 : &nettle_aes256;
    c->gcm = key_bits == 128   ? &nettle_gcm_aes128
             : key_bits == 192 ? &nettle_gcm_aes192
                               : &nettle_gcm_aes256;
    c->mac = key_bits == 128 ? &nettle_cmac_aes128 : key_bits == 192 ? NULL : &nettle_cmac_aes256;
    c->cbc_encrypt = key_bits == 128   ? (cbc_function *)cbc_aes128_encrypt
                     : key_bits == 192 ? (cbc_function *)cbc_aes192_encrypt
                                       : (cbc_function *)cbc_aes256_encrypt;
}

static bool set_xts(struct context *c, const uint8_t *key, unsigned key_bits, bool encrypt)
{
    c->xts =
        key_bits == 128
            ? (xts_function *)(encrypt ? xts_aes128_encrypt_message : xts_aes128_decrypt_message)
            : (xts_function *)(encrypt ? xts_aes256_encrypt_message : xts_aes256_decrypt_message);
    if (key_bits == 128)
        (encrypt ? xts_aes128_set_encrypt_key
                 : xts_aes128_set_decrypt_key)((struct xts_aes128_key *)&c->key.xts, key);
    else if (key_bits == 256)
        (encrypt ? xts_aes256_set_encrypt_key : xts_aes256_set_decrypt_key)(&c->key.xts, key);
    return key_bits != 192;
}

enum kind { ENCRYPTS, DECRYPTS, XTS_ENCRYPTS, XTS_DECRYPTS, IS_GCM, IS_CMAC };

static bool set_key(struct context *c, enum kind kind, const uint8_t *key, unsigned key_bits)
{
    switch (kind) {
    case ENCRYPTS: c->aes->set_encrypt_key(&c->key, key); return true;
    case DECRYPTS: c->aes->set_decrypt_key(&c->key, key); return true;
    case XTS_ENCRYPTS: return set_xts(c, key, key_bits, true);
    case XTS_DECRYPTS: return set_xts(c, key, key_bits, false);
    case IS_GCM: c->gcm->set_encrypt_key(&c->key, key); return true;
    case IS_CMAC: break;
    }
    if (c->mac)
        c->mac->set_key(&c->key, key);
    return c->mac;
}

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    static const struct {
        const char *mode;
        enum kind kind;
        peer_run *run;
    } offered[] = {
        {"ecb-enc", ENCRYPTS, run_ecb_encrypt},
        {"ecb-dec", DECRYPTS, run_ecb_decrypt},
        {"cbc-enc", ENCRYPTS, run_cbc_encrypt},
        {"cbc-dec", DECRYPTS, run_cbc_decrypt},
        {"ctr", ENCRYPTS, run_ctr},
        {"xts-enc", XTS_ENCRYPTS, run_xts},
        {"xts-dec", XTS_DECRYPTS, run_xts},
        {"cmac", IS_CMAC, run_cmac},
        {"ccm-seal", ENCRYPTS, run_ccm_seal},
        {"ccm-open", ENCRYPTS, run_ccm_open},
        {"gcm-seal", IS_GCM, run_gcm_seal},
        {"gcm-open", IS_GCM, run_gcm_open},
    };
    struct context *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    if (open_hash(c, mode, key, key_bits / 8, run))
        return c;
    set_functions(c, key_bits);
    for (size_t i = 0; i < sizeof offered / sizeof offered[0]; i++)
        if (strcmp(mode, offered[i].mode) == 0 && set_key(c, offered[i].kind, key, key_bits)) {
            *run = offered[i].run;
            return c;
        }
    free(c);
    return NULL;
}

const struct peer evc_peer = {
    .name = "nettle", .version = version, .open = open_context, .close = free};

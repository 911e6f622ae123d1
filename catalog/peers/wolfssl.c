/* SPDX-License-Identifier: MIT */
/*
 * wolfSSL through wolfCrypt's functions. Builds without assembly, as Debian's, have one code path.
 * The others leave AES-NI and all else with PEER_WOLFSSL=c in the environment.
 */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

#include <wolfssl/options.h>

#include <wolfssl/ssl.h>
#include <wolfssl/wolfcrypt/aes.h>
#include <wolfssl/wolfcrypt/cmac.h>
#include <wolfssl/wolfcrypt/cpuid.h>

#define CMAC_KEEPS_ITS_KEY (LIBWOLFSSL_VERSION_HEX >= 0x05007000)

struct context {
    union {
        Aes aes;
        XtsAes xts;
        Cmac cmac;
    };
    uint8_t key[32]; /* of CMAC */
    word32 key_bytes;
    void (*free_key)(struct context *);
};

static const char *version(void)
{
#if defined(HAVE_CPUID)
    const char *set = getenv("PEER_WOLFSSL");

    if (set && strcmp(set, "c") == 0)
        cpuid_select_flags(0);
#endif
    return wolfSSL_lib_version();
}

static const char *hardware(void)
{
#if defined(WOLFSSL_AESNI)
    const char *set = getenv("PEER_WOLFSSL");

    return set && strcmp(set, "c") == 0 ? "c" : NULL; /* the flags can be set, and not read */
#else
    return "c";
#endif
}

/* ---- Modes ----------------------------------------------------------------------------------- */

static bool run_cbc_encrypt(void *context, const struct peer_message *m)
{
    Aes *aes = &((struct context *)context)->aes;

    return !wc_AesSetIV(aes, m->iv) && !wc_AesCbcEncrypt(aes, m->out, m->in, (word32)m->len_bytes);
}

static bool run_cbc_decrypt(void *context, const struct peer_message *m)
{
    Aes *aes = &((struct context *)context)->aes;

    return !wc_AesSetIV(aes, m->iv) && !wc_AesCbcDecrypt(aes, m->out, m->in, (word32)m->len_bytes);
}

/* wc_AesSetIV leaves the rest of the last message's key stream. */
static bool run_ctr(void *context, const struct peer_message *m)
{
    Aes *aes = &((struct context *)context)->aes;

    aes->left = 0;
    return !wc_AesSetIV(aes, m->iv) && !wc_AesCtrEncrypt(aes, m->out, m->in, (word32)m->len_bytes);
}

static bool run_xts_encrypt(void *context, const struct peer_message *m)
{
    XtsAes *xts = &((struct context *)context)->xts;

    return !wc_AesXtsEncrypt(xts, m->out, m->in, (word32)m->len_bytes, m->iv, 16);
}

static bool run_xts_decrypt(void *context, const struct peer_message *m)
{
    XtsAes *xts = &((struct context *)context)->xts;

    return !wc_AesXtsDecrypt(xts, m->out, m->in, (word32)m->len_bytes, m->iv, 16);
}

static bool run_gcm_seal(void *context, const struct peer_message *m)
{
    Aes *aes = &((struct context *)context)->aes;

    return !wc_AesGcmEncrypt(aes, m->out, m->in, (word32)m->len_bytes, m->iv, 12, m->tag, 16,
                             m->aad, (word32)m->aad_bytes);
}

static bool run_gcm_open(void *context, const struct peer_message *m)
{
    Aes *aes = &((struct context *)context)->aes;

    return !wc_AesGcmDecrypt(aes, m->out, m->in, (word32)m->len_bytes, m->iv, 12, m->tag, 16,
                             m->aad, (word32)m->aad_bytes);
}

static bool run_ccm_seal(void *context, const struct peer_message *m)
{
    Aes *aes = &((struct context *)context)->aes;

    return !wc_AesCcmEncrypt(aes, m->out, m->in, (word32)m->len_bytes, m->iv, 12, m->tag, 16,
                             m->aad, (word32)m->aad_bytes);
}

static bool run_ccm_open(void *context, const struct peer_message *m)
{
    Aes *aes = &((struct context *)context)->aes;

    return !wc_AesCcmDecrypt(aes, m->out, m->in, (word32)m->len_bytes, m->iv, 12, m->tag, 16,
                             m->aad, (word32)m->aad_bytes);
}

/* Nothing begins a message under a key that is there. From 5.7 on the end of one leaves the key,
 * and clearing the chain by hand begins the next; before, the key's set-up is in the figure. */
static bool run_cmac(void *context, const struct peer_message *m)
{
    struct context *c = context;
    word32 n = 16;

#if CMAC_KEEPS_ITS_KEY
    memset(c->cmac.digest, 0, sizeof c->cmac.digest);
    c->cmac.bufferSz = c->cmac.totalSz = 0;
    return !wc_CmacUpdate(&c->cmac, m->in, (word32)m->len_bytes) &&
           !wc_CmacFinalNoFree(&c->cmac, m->tag, &n);
#else
    return !wc_InitCmac(&c->cmac, c->key, c->key_bytes, WC_CMAC_AES, NULL) &&
           !wc_CmacUpdate(&c->cmac, m->in, (word32)m->len_bytes) &&
           !wc_CmacFinal(&c->cmac, m->tag, &n);
#endif
}

/* ---- Keys ------------------------------------------------------------------------------------ */

enum kind { ENCRYPTS, DECRYPTS, IS_GCM, IS_CCM };

static int set_aes(struct context *c, enum kind kind, const uint8_t *key)
{
    int error = wc_AesInit(&c->aes, NULL, INVALID_DEVID);

    if (error)
        return error;
    switch (kind) {
    case IS_GCM: return wc_AesGcmSetKey(&c->aes, key, c->key_bytes);
    case IS_CCM: return wc_AesCcmSetKey(&c->aes, key, c->key_bytes);
    case ENCRYPTS:
    case DECRYPTS: break;
    }
    return wc_AesSetKey(&c->aes, key, c->key_bytes, NULL,
                        kind == DECRYPTS ? AES_DECRYPTION : AES_ENCRYPTION);
}

static void free_aes(struct context *c)
{
    wc_AesFree(&c->aes);
}

static void free_xts(struct context *c)
{
    wc_AesXtsFree(&c->xts);
}

static void free_cmac(struct context *c)
{
#if CMAC_KEEPS_ITS_KEY
    wc_CmacFree(&c->cmac);
#else
    (void)c; /* the end of a message freed it */
#endif
}

static peer_run *open_xts(struct context *c, const uint8_t *key, bool encrypt)
{
    int direction = encrypt ? AES_ENCRYPTION : AES_DECRYPTION;

    c->free_key = free_xts;
    if (wc_AesXtsSetKey(&c->xts, key, 2 * c->key_bytes, direction, NULL, INVALID_DEVID))
        return NULL;
    return encrypt ? run_xts_encrypt : run_xts_decrypt;
}

static peer_run *open_cmac(struct context *c, const uint8_t *key)
{
    c->free_key = free_cmac;
    memcpy(c->key, key, c->key_bytes);
    return wc_InitCmac(&c->cmac, key, c->key_bytes, WC_CMAC_AES, NULL) ? NULL : run_cmac;
}

static peer_run *open_aes(struct context *c, const char *mode, const uint8_t *key)
{
    static const struct {
        const char *mode;
        enum kind kind;
        peer_run *run;
    } offered[] = {
        {"cbc-enc", ENCRYPTS, run_cbc_encrypt},
        {"cbc-dec", DECRYPTS, run_cbc_decrypt},
        {"ctr", ENCRYPTS, run_ctr},
        {"ccm-seal", IS_CCM, run_ccm_seal},
        {"ccm-open", IS_CCM, run_ccm_open},
        {"gcm-seal", IS_GCM, run_gcm_seal},
        {"gcm-open", IS_GCM, run_gcm_open},
    };

    c->free_key = free_aes;
    for (size_t i = 0; i < sizeof offered / sizeof offered[0]; i++)
        if (strcmp(mode, offered[i].mode) == 0)
            return set_aes(c, offered[i].kind, key) ? NULL : offered[i].run;
    return NULL;
}

static void close_context(void *context)
{
    struct context *c = context;

    c->free_key(c);
    free(c);
}

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    struct context *c = aligned_alloc(64, (sizeof *c + 63) / 64 * 64);

    if (!c)
        return NULL;
    memset(c, 0, sizeof *c);
    c->key_bytes = key_bits / 8;
    *run = strncmp(mode, "xts", 3) == 0 ? open_xts(c, key, strcmp(mode, "xts-enc") == 0)
           : strcmp(mode, "cmac") == 0  ? open_cmac(c, key)
                                        : open_aes(c, mode, key);
    if (*run)
        return c;
    free(c);
    return NULL;
}

const struct peer evc_peer = {.name = "wolfssl",
                              .version = version,
                              .headers = LIBWOLFSSL_VERSION_STRING,
                              .hardware = hardware,
                              .open = open_context,
                              .close = close_context};

/* SPDX-License-Identifier: MIT */
/* GnuTLS through its cipher, AEAD and MAC handles. Hardware off: GNUTLS_CPUID_OVERRIDE in the
 * environment, and NETTLE_FAT_OVERRIDE for the nettle below it. */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

struct context {
    gnutls_cipher_hd_t cipher;
    gnutls_aead_cipher_hd_t aead;
    gnutls_hmac_hd_t mac;
};

static const char *version(void)
{
    return gnutls_check_version(NULL);
}

static bool run_encrypt(void *context, const struct peer_message *m)
{
    gnutls_cipher_hd_t c = ((struct context *)context)->cipher;
    uint8_t iv[16];

    memcpy(iv, m->iv, 16);
    gnutls_cipher_set_iv(c, iv, 16);
    return !gnutls_cipher_encrypt2(c, m->in, m->len_bytes, m->out, m->len_bytes);
}

static bool run_decrypt(void *context, const struct peer_message *m)
{
    gnutls_cipher_hd_t c = ((struct context *)context)->cipher;
    uint8_t iv[16];

    memcpy(iv, m->iv, 16);
    gnutls_cipher_set_iv(c, iv, 16);
    return !gnutls_cipher_decrypt2(c, m->in, m->len_bytes, m->out, m->len_bytes);
}

static bool run_seal(void *context, const struct peer_message *m)
{
    gnutls_aead_cipher_hd_t c = ((struct context *)context)->aead;
    size_t n = m->len_bytes + 16;

    return !gnutls_aead_cipher_encrypt(c, m->iv, 12, m->aad, m->aad_bytes, 16, m->in, m->len_bytes,
                                       m->out, &n);
}

static bool run_open(void *context, const struct peer_message *m)
{
    gnutls_aead_cipher_hd_t c = ((struct context *)context)->aead;
    size_t n = m->len_bytes;

    return !gnutls_aead_cipher_decrypt(c, m->iv, 12, m->aad, m->aad_bytes, 16, m->in,
                                       m->len_bytes + 16, m->out, &n);
}

static bool run_cmac(void *context, const struct peer_message *m)
{
    gnutls_hmac_hd_t c = ((struct context *)context)->mac;

    if (gnutls_hmac(c, m->in, m->len_bytes))
        return false;
    gnutls_hmac_output(c, m->tag);
    return true;
}

static void close_context(void *vcontext)
{
    struct context *context = vcontext;

    if (context->cipher)
        gnutls_cipher_deinit(context->cipher);
    if (context->aead)
        gnutls_aead_cipher_deinit(context->aead);
    if (context->mac)
        gnutls_hmac_deinit(context->mac, NULL);
    free(context);
}

enum kind { CIPHER, AEAD, MAC };

static const struct offer {
    const char *mode;
    enum kind kind;
    int number[3]; /* of the algorithm with 128, 192, 256 bits; 0: none */
    peer_run *run;
} offered[] = {
    {"cbc-enc",
     CIPHER,
     {GNUTLS_CIPHER_AES_128_CBC, GNUTLS_CIPHER_AES_192_CBC, GNUTLS_CIPHER_AES_256_CBC},
     run_encrypt},
    {"cbc-dec",
     CIPHER,
     {GNUTLS_CIPHER_AES_128_CBC, GNUTLS_CIPHER_AES_192_CBC, GNUTLS_CIPHER_AES_256_CBC},
     run_decrypt},
    {"xts-enc", CIPHER, {GNUTLS_CIPHER_AES_128_XTS, 0, GNUTLS_CIPHER_AES_256_XTS}, run_encrypt},
    {"xts-dec", CIPHER, {GNUTLS_CIPHER_AES_128_XTS, 0, GNUTLS_CIPHER_AES_256_XTS}, run_decrypt},
    {"cmac", MAC, {GNUTLS_MAC_AES_CMAC_128, 0, GNUTLS_MAC_AES_CMAC_256}, run_cmac},
    {"ccm-seal", AEAD, {GNUTLS_CIPHER_AES_128_CCM, 0, GNUTLS_CIPHER_AES_256_CCM}, run_seal},
    {"ccm-open", AEAD, {GNUTLS_CIPHER_AES_128_CCM, 0, GNUTLS_CIPHER_AES_256_CCM}, run_open},
    {"gcm-seal",
     AEAD,
     {GNUTLS_CIPHER_AES_128_GCM, GNUTLS_CIPHER_AES_192_GCM, GNUTLS_CIPHER_AES_256_GCM},
     run_seal},
    {"gcm-open",
     AEAD,
     {GNUTLS_CIPHER_AES_128_GCM, GNUTLS_CIPHER_AES_192_GCM, GNUTLS_CIPHER_AES_256_GCM},
     run_open},
};

static bool set_key(struct context *c, const struct offer *offer, const uint8_t *key,
                    unsigned key_bits)
{
    static uint8_t zero[16];
    const bool xts = strncmp(offer->mode, "xts", 3) == 0;
    const int number = offer->number[key_bits / 64 - 2];
    const gnutls_datum_t iv = {zero, 16};
    const gnutls_datum_t k = {(uint8_t *)(uintptr_t)key, (xts ? 2 : 1) * key_bits / 8};

    if (!number)
        return false;
    switch (offer->kind) {
    case CIPHER: return !gnutls_cipher_init(&c->cipher, (gnutls_cipher_algorithm_t)number, &k, &iv);
    case AEAD: return !gnutls_aead_cipher_init(&c->aead, (gnutls_cipher_algorithm_t)number, &k);
    case MAC: break;
    }
    return !gnutls_hmac_init(&c->mac, (gnutls_mac_algorithm_t)number, k.data, k.size);
}

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    struct context *context = calloc(1, sizeof *context);

    for (size_t i = 0; context && i < sizeof offered / sizeof offered[0]; i++)
        if (strcmp(mode, offered[i].mode) == 0 && set_key(context, &offered[i], key, key_bits)) {
            *run = offered[i].run;
            return context;
        }
    free(context);
    return NULL;
}

const struct peer evc_peer = {.name = "gnutls",
                              .version = version,
                              .headers = GNUTLS_VERSION,
                              .open = open_context,
                              .close = close_context};

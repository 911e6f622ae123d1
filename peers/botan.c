/* SPDX-License-Identifier: MIT */
/*
 * Botan 2 or 3 through its C interface, whose messages pass through a buffer of its own. Hardware
 * off: BOTAN_CLEAR_CPUID in the environment.
 */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <botan/ffi.h>

struct context {
    botan_cipher_t cipher;
    botan_mac_t mac;
};

/* "3.13.0" of "Botan 3.13.0 (release, dated ...)". */
static const char *version(void)
{
    static char text[32];

    if (sscanf(botan_version_string(), "Botan %31[0-9.]", text) != 1)
        return "unknown";
    return text;
}

static bool run_cipher(void *context, const struct peer_message *m)
{
    botan_cipher_t c = ((struct context *)context)->cipher;
    size_t written, consumed;

    return !botan_cipher_start(c, m->iv, 16) &&
           !botan_cipher_update(c, BOTAN_CIPHER_UPDATE_FLAG_FINAL, m->out, m->len_bytes, &written,
                                m->in, m->len_bytes, &consumed);
}

static bool run_seal(void *context, const struct peer_message *m)
{
    botan_cipher_t c = ((struct context *)context)->cipher;
    size_t written, consumed;

    return !botan_cipher_set_associated_data(c, m->aad, m->aad_bytes) &&
           !botan_cipher_start(c, m->iv, 12) &&
           !botan_cipher_update(c, BOTAN_CIPHER_UPDATE_FLAG_FINAL, m->out, m->len_bytes + 16,
                                &written, m->in, m->len_bytes, &consumed);
}

static bool run_open(void *context, const struct peer_message *m)
{
    botan_cipher_t c = ((struct context *)context)->cipher;
    size_t written, consumed;

    return !botan_cipher_set_associated_data(c, m->aad, m->aad_bytes) &&
           !botan_cipher_start(c, m->iv, 12) &&
           !botan_cipher_update(c, BOTAN_CIPHER_UPDATE_FLAG_FINAL, m->out, m->len_bytes, &written,
                                m->in, m->len_bytes + 16, &consumed);
}

static bool run_cmac(void *context, const struct peer_message *m)
{
    botan_mac_t c = ((struct context *)context)->mac;

    return !botan_mac_update(c, m->in, m->len_bytes) && !botan_mac_final(c, m->tag);
}

static void close_context(void *vcontext)
{
    struct context *context = vcontext;

    botan_cipher_destroy(context->cipher);
    botan_mac_destroy(context->mac);
    free(context);
}

static const struct offer {
    const char *mode, *format; /* of Botan's name, with the bits of the key */
    uint32_t flags;
    peer_run *run;
} offered[] = {
    {"cbc-enc", "AES-%u/CBC/NoPadding", BOTAN_CIPHER_INIT_FLAG_ENCRYPT, run_cipher},
    {"cbc-dec", "AES-%u/CBC/NoPadding", BOTAN_CIPHER_INIT_FLAG_DECRYPT, run_cipher},
    {"ctr", "CTR-BE(AES-%u)", BOTAN_CIPHER_INIT_FLAG_ENCRYPT, run_cipher},
    {"xts-enc", "AES-%u/XTS", BOTAN_CIPHER_INIT_FLAG_ENCRYPT, run_cipher},
    {"xts-dec", "AES-%u/XTS", BOTAN_CIPHER_INIT_FLAG_DECRYPT, run_cipher},
    {"cmac", "CMAC(AES-%u)", 0, run_cmac},
    {"ccm-seal", "AES-%u/CCM", BOTAN_CIPHER_INIT_FLAG_ENCRYPT, run_seal},
    {"ccm-open", "AES-%u/CCM", BOTAN_CIPHER_INIT_FLAG_DECRYPT, run_open},
    {"gcm-seal", "AES-%u/GCM", BOTAN_CIPHER_INIT_FLAG_ENCRYPT, run_seal},
    {"gcm-open", "AES-%u/GCM", BOTAN_CIPHER_INIT_FLAG_DECRYPT, run_open},
};

static bool set_key(struct context *c, const struct offer *offer, const uint8_t *key,
                    unsigned key_bits)
{
    const size_t n_keys = strncmp(offer->mode, "xts", 3) == 0 ? 2 : 1;
    char name[64];

    snprintf(name, sizeof name, offer->format, key_bits);
    if (offer->run == run_cmac)
        return !botan_mac_init(&c->mac, name, 0) && !botan_mac_set_key(c->mac, key, key_bits / 8);
    return !botan_cipher_init(&c->cipher, name, offer->flags) &&
           !botan_cipher_set_key(c->cipher, key, n_keys * key_bits / 8);
}

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    struct context *context = calloc(1, sizeof *context);

    for (size_t i = 0; context && i < sizeof offered / sizeof offered[0]; i++) {
        if (strcmp(mode, offered[i].mode) != 0)
            continue;
        *run = offered[i].run;
        if (set_key(context, &offered[i], key, key_bits))
            return context;
        close_context(context);
        return NULL;
    }
    free(context);
    return NULL;
}

const struct peer evc_peer = {
    .name = "botan", .version = version, .open = open_context, .close = close_context};

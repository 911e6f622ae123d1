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
    botan_mp_t n, a, exponent, x; /* of powers */
    botan_rng_t random;
    botan_privkey_t private_key;
    botan_pubkey_t public_key;
    botan_pk_op_sign_t sign;
    botan_pk_op_encrypt_t encrypt;
    uint8_t in[1024], out[1024];
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
    botan_mp_destroy(context->n);
    botan_mp_destroy(context->a);
    botan_mp_destroy(context->exponent);
    botan_mp_destroy(context->x);
    botan_pk_op_sign_destroy(context->sign);
    botan_pk_op_encrypt_destroy(context->encrypt);
    botan_privkey_destroy(context->private_key);
    botan_pubkey_destroy(context->public_key);
    botan_rng_destroy(context->random);
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

static bool run_exp(void *context, const struct peer_message *m)
{
    struct context *c = context;
    size_t n;

    if (botan_mp_powmod(c->x, c->a, c->exponent, c->n) != 0)
        return false;
    if (!m->out)
        return true;
    memset(m->out, 0, m->len_bytes);
    return botan_mp_num_bytes(c->x, &n) == 0 &&
           botan_mp_to_bin(c->x, m->out + m->len_bytes - n) == 0;
}

/* a to the power of b, or of 65537. */
static bool set_power(struct context *c, const uint8_t *key, size_t n_bytes, bool is_public)
{
    static const uint8_t e65537[] = {1, 0, 1};

    return botan_mp_init(&c->n) == 0 && botan_mp_init(&c->a) == 0 &&
           botan_mp_init(&c->exponent) == 0 && botan_mp_init(&c->x) == 0 &&
           botan_mp_from_bin(c->n, key, n_bytes) == 0 &&
           botan_mp_from_bin(c->a, key + n_bytes, n_bytes) == 0 &&
           botan_mp_from_bin(c->exponent, is_public ? e65537 : key + 2 * n_bytes,
                             is_public ? sizeof e65537 : n_bytes) == 0;
}

/* ---- RSA, Diffie-Hellman, primes ------------------------------------------------------------- */

static bool run_rsa_private(void *context, const struct peer_message *m)
{
    struct context *c = context;
    size_t n = m->len_bytes;

    if (botan_pk_op_sign_update(c->sign, c->in, m->len_bytes) != 0 ||
        botan_pk_op_sign_finish(c->sign, c->random, c->out, &n) != 0)
        return false;
    if (m->out)
        memcpy(m->out, c->out, m->len_bytes);
    return n == m->len_bytes;
}

static bool run_rsa_public(void *context, const struct peer_message *m)
{
    struct context *c = context;
    size_t n = m->len_bytes;

    if (botan_pk_op_encrypt(c->encrypt, c->random, c->out, &n, c->in, m->len_bytes) != 0)
        return false;
    if (m->out)
        memcpy(m->out, c->out, m->len_bytes);
    return n == m->len_bytes;
}

/* An error of 2^-128 at most. */
static bool run_check(void *context, const struct peer_message *m)
{
    struct context *c = context;
    const int found = botan_mp_is_prime(c->n, c->random, 128);

    if (m->out) {
        memset(m->out, 0, m->len_bytes);
        m->out[m->len_bytes - 1] = found == 1;
    }
    return found >= 0;
}

static bool load_number(botan_mp_t *x, const uint8_t *bytes, size_t n_bytes)
{
    return botan_mp_init(x) == 0 && botan_mp_from_bin(*x, bytes, n_bytes) == 0;
}

static bool set_rsa(struct context *c, const uint8_t *key, size_t n_bytes, bool is_private)
{
    static const uint8_t e65537[] = {1, 0, 1};
    const uint8_t *const p = key + 3 * n_bytes;

    memcpy(c->in, key + 2 * n_bytes, n_bytes);
    if (!load_number(&c->exponent, e65537, sizeof e65537))
        return false;
    if (is_private)
        return load_number(&c->a, p, n_bytes / 2) &&
               load_number(&c->x, p + n_bytes / 2, n_bytes / 2) &&
               botan_privkey_load_rsa(&c->private_key, c->a, c->x, c->exponent) == 0 &&
               botan_pk_op_sign_create(&c->sign, c->private_key, "Raw", 0) == 0;
    return load_number(&c->n, key, n_bytes) &&
           botan_pubkey_load_rsa(&c->public_key, c->n, c->exponent) == 0 &&
           botan_pk_op_encrypt_create(&c->encrypt, c->public_key, "Raw", 0) == 0;
}

static bool open_layer(struct context *c, const char *mode, const uint8_t *key, size_t n_bytes,
                       peer_run **run)
{
    static const uint8_t two[] = {2};

    if (botan_rng_init(&c->random, "user") != 0)
        return false;
    if (strncmp(mode, "rsa-", 4) == 0) {
        const bool is_private = strcmp(mode, "rsa-private") == 0;

        *run = is_private ? run_rsa_private : run_rsa_public;
        return set_rsa(c, key, n_bytes, is_private);
    }
    if (strcmp(mode, "dh-public") == 0) {
        *run = run_exp;
        return load_number(&c->n, key, n_bytes) && load_number(&c->a, two, sizeof two) &&
               load_number(&c->exponent, key + n_bytes, n_bytes) && botan_mp_init(&c->x) == 0;
    }
    *run = run_check;
    return strcmp(mode, "prime-check") == 0 && load_number(&c->n, key + 3 * n_bytes, n_bytes / 2);
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
    if (context && (strcmp(mode, "exp") == 0 || strcmp(mode, "exp-public") == 0)) {
        *run = run_exp;
        if (set_power(context, key, key_bits / 8, strcmp(mode, "exp-public") == 0))
            return context;
        close_context(context);
        return NULL;
    }
    if (context && open_layer(context, mode, key, key_bits / 8, run))
        return context;
    if (context)
        close_context(context);
    return NULL;
}

const struct peer evc_peer = {
    .name = "botan", .version = version, .open = open_context, .close = close_context};

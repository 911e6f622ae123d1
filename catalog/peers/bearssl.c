/* SPDX-License-Identifier: MIT */
/*
 * BearSSL: its implementations with AES-NI and PCLMULQDQ, or with PEER_BEARSSL=c in the environment
 * its constant-time ones for 64-bit words (ct64, ctmul64). It works in place: each message is
 * copied first, in the figure. It has no XTS, and CMAC only inside CCM.
 */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

#include <bearssl.h>

#define MOST_POWER_BITS 4096 /* BR_MAX_RSA_SIZE of its source; the header is not installed */

struct context {
    union {
        br_aes_gen_cbcenc_keys cbcenc;
        br_aes_gen_cbcdec_keys cbcdec;
        br_aes_gen_ctr_keys ctr;
        br_aes_gen_ctrcbc_keys ctrcbc;
    } key;
    br_gcm_context gcm;
    br_ccm_context ccm;
    struct number {
        br_rsa_public power; /* raises in place; its exponent may be as long as n, and is kept
                              * secret as the base is */
        br_rsa_public_key exponent;
        unsigned char n[1024], e[1024], a[1024], x[1024];
        br_rsa_private private;
        br_rsa_private_key key;
        unsigned char parts[5][512]; /* p, q, dp, dq, qinv */
    } number;
};

struct classes {
    const br_block_cbcenc_class *cbcenc;
    const br_block_cbcdec_class *cbcdec;
    const br_block_ctr_class *ctr;
    const br_block_ctrcbc_class *ctrcbc;
    br_ghash ghash;
};

static bool portable(void)
{
    const char *set = getenv("PEER_BEARSSL");

    return (set && strcmp(set, "c") == 0) || !br_aes_x86ni_ctr_get_vtable() ||
           !br_ghash_pclmul_get();
}

static struct classes classes(void)
{
    if (portable())
        return (struct classes){&br_aes_ct64_cbcenc_vtable, &br_aes_ct64_cbcdec_vtable,
                                &br_aes_ct64_ctr_vtable, &br_aes_ct64_ctrcbc_vtable,
                                br_ghash_ctmul64};
    return (struct classes){br_aes_x86ni_cbcenc_get_vtable(), br_aes_x86ni_cbcdec_get_vtable(),
                            br_aes_x86ni_ctr_get_vtable(), br_aes_x86ni_ctrcbc_get_vtable(),
                            br_ghash_pclmul_get()};
}

/* The library does not tell. This is its last release (2018); packages may hold later commits. */
static const char *version(void)
{
    return "0.6";
}

static const char *hardware(void)
{
    return portable() ? "c" : "best";
}

static bool run_cbc_encrypt(void *context, const struct peer_message *m)
{
    struct context *c = context;
    uint8_t iv[16];

    memcpy(iv, m->iv, 16);
    memcpy(m->out, m->in, m->len_bytes);
    c->key.cbcenc.vtable->run(&c->key.cbcenc.vtable, iv, m->out, m->len_bytes);
    return true;
}

static bool run_cbc_decrypt(void *context, const struct peer_message *m)
{
    struct context *c = context;
    uint8_t iv[16];

    memcpy(iv, m->iv, 16);
    memcpy(m->out, m->in, m->len_bytes);
    c->key.cbcdec.vtable->run(&c->key.cbcdec.vtable, iv, m->out, m->len_bytes);
    return true;
}

/* 12 bytes of IV and a counter of 32 bits, which may not wrap within a message. */
static bool run_ctr(void *context, const struct peer_message *m)
{
    struct context *c = context;
    const uint32_t counter = (uint32_t)m->iv[12] << 24 | (uint32_t)m->iv[13] << 16 |
                             (uint32_t)m->iv[14] << 8 | m->iv[15];

    memcpy(m->out, m->in, m->len_bytes);
    c->key.ctr.vtable->run(&c->key.ctr.vtable, m->iv, counter, m->out, m->len_bytes);
    return true;
}

static void gcm(br_gcm_context *c, const struct peer_message *m, int encrypt)
{
    br_gcm_reset(c, m->iv, 12);
    br_gcm_aad_inject(c, m->aad, m->aad_bytes);
    br_gcm_flip(c);
    memcpy(m->out, m->in, m->len_bytes);
    br_gcm_run(c, encrypt, m->out, m->len_bytes);
}

static bool run_gcm_seal(void *context, const struct peer_message *m)
{
    struct context *c = context;

    gcm(&c->gcm, m, 1);
    br_gcm_get_tag(&c->gcm, m->tag);
    return true;
}

static bool run_gcm_open(void *context, const struct peer_message *m)
{
    struct context *c = context;

    gcm(&c->gcm, m, 0);
    return br_gcm_check_tag(&c->gcm, m->tag) == 1;
}

static bool ccm(br_ccm_context *c, const struct peer_message *m, int encrypt)
{
    if (!br_ccm_reset(c, m->iv, 12, m->aad_bytes, m->len_bytes, 16))
        return false;
    br_ccm_aad_inject(c, m->aad, m->aad_bytes);
    br_ccm_flip(c);
    memcpy(m->out, m->in, m->len_bytes);
    br_ccm_run(c, encrypt, m->out, m->len_bytes);
    return true;
}

static bool run_ccm_seal(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return ccm(&c->ccm, m, 1) && br_ccm_get_tag(&c->ccm, m->tag) == 16;
}

static bool run_ccm_open(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return ccm(&c->ccm, m, 0) && br_ccm_check_tag(&c->ccm, m->tag) == 1;
}

enum kind { CBC_ENCRYPT, CBC_DECRYPT, CTR, GCM, CCM };

static void set_key(struct context *c, enum kind kind, const uint8_t *key, size_t key_bytes)
{
    const struct classes with = classes();

    switch (kind) {
    case CBC_ENCRYPT: with.cbcenc->init(&c->key.cbcenc.vtable, key, key_bytes); break;
    case CBC_DECRYPT: with.cbcdec->init(&c->key.cbcdec.vtable, key, key_bytes); break;
    case CTR:
    case GCM: with.ctr->init(&c->key.ctr.vtable, key, key_bytes); break;
    case CCM: with.ctrcbc->init(&c->key.ctrcbc.vtable, key, key_bytes); break;
    }
    if (kind == GCM)
        br_gcm_init(&c->gcm, &c->key.ctr.vtable, with.ghash);
    if (kind == CCM)
        br_ccm_init(&c->ccm, &c->key.ctrcbc.vtable);
}

static bool run_exp(void *context, const struct peer_message *m)
{
    struct number *c = &((struct context *)context)->number;

    memcpy(c->x, c->a, m->len_bytes);
    if (!c->power(c->x, m->len_bytes, &c->exponent))
        return false;
    if (m->out)
        memcpy(m->out, c->x, m->len_bytes);
    return true;
}

/* a to the power of b, or of 65537, by BearSSL's choice of code; false: n is too long for it. */
static bool set_power(struct number *c, const uint8_t *key, size_t n_bytes, bool is_public)
{
    static const unsigned char e65537[] = {1, 0, 1};

    if (8 * n_bytes > MOST_POWER_BITS)
        return false;
    memcpy(c->n, key, n_bytes);
    memcpy(c->a, key + n_bytes, n_bytes);
    memcpy(c->e, is_public ? e65537 : key + 2 * n_bytes, is_public ? sizeof e65537 : n_bytes);
    c->exponent = (br_rsa_public_key){c->n, n_bytes, c->e, is_public ? sizeof e65537 : n_bytes};
    c->power = br_rsa_public_get_default();
    return true;
}

static bool run_rsa_private(void *context, const struct peer_message *m)
{
    struct number *c = &((struct context *)context)->number;

    memcpy(c->x, c->a, m->len_bytes);
    if (!c->private(c->x, &c->key))
        return false;
    if (m->out)
        memcpy(m->out, c->x, m->len_bytes);
    return true;
}

static bool set_rsa(struct number *c, const uint8_t *key, size_t n_bytes, peer_run *run)
{
    const size_t half = n_bytes / 2;

    if (!set_power(c, key, n_bytes, true))
        return false;
    memcpy(c->a, key + 2 * n_bytes, n_bytes);
    if (run == run_exp)
        return true;
    for (size_t i = 0; i < 5; i++)
        memcpy(c->parts[i], key + 3 * n_bytes + i * half, half);
    c->key = (br_rsa_private_key){.n_bitlen = (uint32_t)(8 * n_bytes),
                                  .p = c->parts[0],
                                  .plen = half,
                                  .q = c->parts[1],
                                  .qlen = half,
                                  .dp = c->parts[2],
                                  .dplen = half,
                                  .dq = c->parts[3],
                                  .dqlen = half,
                                  .iq = c->parts[4],
                                  .iqlen = half};
    c->private = br_rsa_private_get_default();
    return true;
}

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    static const struct {
        const char *mode;
        enum kind kind;
        peer_run *run;
    } offered[] = {
        {"cbc-enc", CBC_ENCRYPT, run_cbc_encrypt},
        {"cbc-dec", CBC_DECRYPT, run_cbc_decrypt},
        {"ctr", CTR, run_ctr},
        {"ccm-seal", CCM, run_ccm_seal},
        {"ccm-open", CCM, run_ccm_open},
        {"gcm-seal", GCM, run_gcm_seal},
        {"gcm-open", GCM, run_gcm_open},
    };
    struct context *c = calloc(1, sizeof *c);

    for (size_t i = 0; c && i < sizeof offered / sizeof offered[0]; i++)
        if (strcmp(mode, offered[i].mode) == 0) {
            set_key(c, offered[i].kind, key, key_bits / 8);
            *run = offered[i].run;
            return c;
        }
    if (c && (strcmp(mode, "exp") == 0 || strcmp(mode, "exp-public") == 0) &&
        set_power(&c->number, key, key_bits / 8, strcmp(mode, "exp-public") == 0)) {
        *run = run_exp;
        return c;
    }
    if (c && (strcmp(mode, "rsa-private") == 0 || strcmp(mode, "rsa-public") == 0)) {
        *run = strcmp(mode, "rsa-private") == 0 ? run_rsa_private : run_exp;
        if (set_rsa(&c->number, key, key_bits / 8, *run))
            return c;
    }
    free(c);
    return NULL;
}

const struct peer evc_peer = {.name = "bearssl",
                              .version = version,
                              .hardware = hardware,
                              .open = open_context,
                              .close = free};

/* SPDX-License-Identifier: MIT */
#include "peer_layers.h"

#include <string.h>

#include "everycore/cpu.h"
#include "everycore/dh.h"
#include "everycore/rsa.h"

#include "must.h"

#define LEAST_RSA_BYTES 128
#define MOST EVC_BN_MAX_BYTES
#define MODULUS_BYTES 24576
#define SCRATCH_BYTES (1u << 20)

static const uint8_t e65537[] = {1, 0, 1}, two[] = {2};
static EVC_ALIGN(64) uint8_t scratch[SCRATCH_BYTES];

enum peer_layer peer_layer_of(const char *mode)
{
    static const char *const names[] = {"rsa-private", "rsa-public", "dh-public", "prime-check"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(mode, names[i]) == 0)
            return (enum peer_layer)(PEER_RSA_PRIVATE + i);
    return PEER_NO_LAYER;
}

static const struct evc_dh_params *group_of(size_t n_bytes)
{
    static const char *const names[] = {"ffdhe2048", "ffdhe3072", "ffdhe4096", "ffdhe6144",
                                        "ffdhe8192"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (evc_dh_params_named(names[i])->p_bytes == n_bytes)
            return evc_dh_params_named(names[i]);
    return NULL;
}

size_t peer_layer_length_used(enum peer_layer layer, size_t n_bytes)
{
    const int is_there = layer == PEER_DH
                             ? group_of(n_bytes) != NULL
                             : n_bytes >= LEAST_RSA_BYTES && n_bytes <= MOST && n_bytes % 16 == 0;

    return is_there ? n_bytes : 0;
}

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    random_bytes(context, out, n_bytes);
    return 0;
}

/* p, and a secret of the length that is usual for it. */
static void make_exchange(uint8_t *key, size_t n_bytes, struct random *random)
{
    static EVC_ALIGN(64) uint8_t group[MODULUS_BYTES];
    const struct evc_random source = {fill, random};
    const struct evc_dh_params *const params = group_of(n_bytes);
    const struct evc_dh_group *const g = (const void *)group;
    uint8_t secret[MOST];

    must(evc_dh_set_group_in(group, sizeof group, evc_bn_named("c_limb32"), params, 0));
    must(evc_dh_make_secret(g, &source, secret));
    memcpy(key, params->p, n_bytes);
    memset(key + n_bytes, 0, n_bytes);
    memcpy(key + 2 * n_bytes - g->secret_bytes, secret, g->secret_bytes);
}

static uint8_t *put(uint8_t *at, const uint8_t *number, size_t n_bytes)
{
    memcpy(at, number, n_bytes);
    return at + n_bytes;
}

/* EMSA-PKCS1-v1_5 of the text in peer.h: RFC 8017 (2016), section 9.2. */
static void encode_signed(uint8_t *out, size_t n_bytes)
{
    static const uint8_t end[] = {
        0x00,
        /* DigestInfo of SHA-256: note 1 there */
        0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01,
        0x05, 0x00, 0x04, 0x20,
        /* SHA-256 of "everycore" */
        0xa4, 0xc2, 0xb8, 0xd7, 0x88, 0x6e, 0x77, 0xa9, 0xa7, 0x42, 0x1b, 0x05, 0x0b, 0xfd, 0x8a,
        0x6b, 0xbd, 0x86, 0x02, 0xda, 0xdd, 0xae, 0x89, 0x1b, 0x04, 0x2a, 0x0f, 0x47, 0xe8, 0x3d,
        0xaf, 0x0f};

    memset(out, 0xff, n_bytes);
    out[0] = 0; /* below n */
    out[1] = 1;
    memcpy(out + n_bytes - sizeof end, end, sizeof end);
}

static void make_key(uint8_t *key, size_t n_bytes, struct random *random)
{
    static uint8_t memory[6 * MOST];
    const size_t n_bits = 8 * n_bytes, half = n_bytes / 2;
    const struct evc_prime_search search = {
        evc_bn_select_for(evc_cpu_features(), EVC_ALLOW_VARTIME, EVC_USE_PARALLEL, n_bits / 2),
        evc_bn_words_select(evc_cpu_features(), EVC_ALLOW_VARTIME), {fill, random}, NULL, NULL};
    struct evc_rsa_numbers numbers;
    uint8_t *at;

    must(evc_rsa_generate(&search, n_bits, e65537, sizeof e65537, memory, sizeof memory, &numbers,
                          scratch, sizeof scratch));
    at = put(put(key, numbers.n, n_bytes), numbers.d, n_bytes);
    encode_signed(at, n_bytes);
    at = put(put(at + n_bytes, numbers.p, half), numbers.q, half);
    put(put(put(at, numbers.dp, half), numbers.dq, half), numbers.qinv, half);
}

void peer_layer_make(enum peer_layer layer, uint8_t *key, size_t n_bytes, struct random *random)
{
    if (layer == PEER_DH)
        make_exchange(key, n_bytes, random);
    else
        make_key(key, n_bytes, random);
}

/* out = base to the exponent modulo n, of n_bytes bytes each. */
static void power(const uint8_t *n, const uint8_t *base, const uint8_t *exponent, size_t n_bytes,
                  uint8_t *out)
{
    static EVC_ALIGN(64) uint8_t memory[MODULUS_BYTES];

    must(evc_bn_set_modulus_in(memory, sizeof memory, evc_bn_named("c_limb32"), n, n_bytes));
    must(evc_bn_exp((const void *)memory, base, exponent, n_bytes, out, scratch, sizeof scratch));
}

void peer_layer_answer(enum peer_layer layer, const uint8_t *key, size_t n_bytes, uint8_t *out)
{
    const uint8_t *const a = key + 2 * n_bytes, *const p = a + n_bytes;
    uint8_t small[MOST] = {0};

    switch (layer) {
    case PEER_RSA_PRIVATE:
        power(key, a, key + n_bytes, n_bytes, out);
        break;
    case PEER_RSA_PUBLIC:
        memcpy(small + n_bytes - sizeof e65537, e65537, sizeof e65537);
        power(key, a, small, n_bytes, out);
        break;
    case PEER_DH:
        memcpy(small + n_bytes - sizeof two, two, sizeof two);
        power(key, small, key + n_bytes, n_bytes, out);
        break;
    default:
        memset(out, 0, n_bytes);
        out[n_bytes - 1] = evc_prime_test_public(evc_bn_named("c_limb32"), p, n_bytes / 2, scratch,
                                                 sizeof scratch) == EVC_OK;
    }
}

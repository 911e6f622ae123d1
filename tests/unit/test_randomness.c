/* SPDX-License-Identifier: MIT */
/*
 * No bit that a call draws is ignored: with one bit of its randomness flipped, a call computes
 * something else, and with another bit flipped something else again. Blinding leaves the results as
 * they are; so a kernel of bn that tells on its callers is handed to them. It notes moduli, bases
 * and exponents.
 *
 * tools/check-tree wants an entry for every call of the headers that takes randomness.
 */
#include "tap.h"

#include <stdlib.h>

#include "everycore/dh.h"
#include "everycore/prime.h"
#include "everycore/rsa_sha2.h"

#ifndef BITS_ELSEWHERE
#define BITS_ELSEWHERE 1 /* an emulator tries each so many-th bit */
#endif

/* ---- What a call computed -------------------------------------------------------------------- */

static uint64_t seen; /* FNV-1a of all that is noted */

static void note(const uint8_t *bytes, size_t n_bytes)
{
    for (size_t i = 0; bytes && i < n_bytes; i++)
        seen = (seen ^ bytes[i]) * UINT64_C(0x100000001b3);
    seen = (seen ^ n_bytes) * UINT64_C(0x100000001b3);
}

static const struct evc_bn *inner;
static struct evc_bn spy; /* inner, but for these slots */
static EVC_ALIGN(64) uint8_t spy_scratch[1u << 17];

static void set_modulus(void *key, const uint8_t *n)
{
    note(n, ((const struct evc_bn_modulus *)key)->n_bytes);
    inner->set_modulus(key, n);
}

/* Powers of a pair one by one; 1 is the power of 2, for which base is NULL. */
static void exp_many(const struct evc_bn_exp *exps, size_t n_exps, void *scratch)
{
    (void)scratch;
    for (size_t i = 0; i < n_exps; i++) {
        const struct evc_bn_exp *e = &exps[i];
        note(e->base, e->n->n_bytes);
        note(e->exponent, e->exponent_bytes);
        if (e->base)
            must(evc_bn_exp(e->n, e->base, e->exponent, e->exponent_bytes, e->out, spy_scratch,
                            sizeof spy_scratch));
        else
            must(evc_bn_exp_small(e->n, 2, e->exponent, e->exponent_bytes, e->out, spy_scratch,
                                  sizeof spy_scratch));
    }
}

static size_t exp_many_bytes(const struct evc_bn_shape *shape)
{
    (void)shape;
    return 0;
}

/* A number enters by this: bases of single powers too. */
static void load(const void *key, void *r, const uint8_t *in, size_t in_bytes)
{
    note(in, in_bytes);
    inner->load(key, r, in, in_bytes);
}

/* notes_loads: not where a number is loaded that is not yet a base. */
static void make_spy(int notes_loads)
{
    spy = *inner;
    spy.lanes = 2;
    spy.exp_many = exp_many;
    spy.exp_many_bytes = exp_many_bytes;
    if (notes_loads) {
        spy.set_modulus = set_modulus;
        spy.load = load;
    }
}

/* ---- Randomness with one bit flipped --------------------------------------------------------- */

#define MOST_DRAWS 4096

static struct source {
    size_t n_bytes, n_draws; /* drawn so far */
    struct draw {
        size_t at, n_bytes;
    } draws[MOST_DRAWS];
    size_t flipped; /* bit, counted over all draws; SIZE_MAX: none */
} source;

/* The byte at a place of the stream. No byte is 0, which PKCS #1 draws again, and the first two
 * bits of a draw are 0, so that no number is drawn again for being beyond a bound. */
static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    (void)context;
    if (source.n_draws < MOST_DRAWS)
        source.draws[source.n_draws++] = (struct draw){source.n_bytes, n_bytes};
    for (size_t i = 0; i < n_bytes; i++, source.n_bytes++) {
        uint64_t x = (source.n_bytes + 1) * UINT64_C(0x9e3779b97f4a7c15);
        x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        out[i] = (uint8_t)(x >> 32);
        if (i == 0)
            out[i] &= 0x3f;
        if (out[i] == 0)
            out[i] = 0x5b;
        if (source.flipped / 8 == source.n_bytes)
            out[i] ^= (uint8_t)(1u << source.flipped % 8);
    }
    return 0;
}

static const struct evc_random randomness = {fill, NULL};

/* ---- The calls ------------------------------------------------------------------------------- */

static const uint8_t key_n[64] = {
    0xae, 0xbc, 0x5a, 0xe1, 0x25, 0x2e, 0x4e, 0x21, 0x48, 0xa4, 0x02, 0x5e, 0x45, 0xfb, 0x6a, 0xa7,
    0xbf, 0x50, 0xbe, 0x82, 0x30, 0xb7, 0xb0, 0xc0, 0x6a, 0xd4, 0x04, 0x88, 0xe5, 0xc6, 0x9e, 0x45,
    0x15, 0x07, 0x32, 0x2c, 0x87, 0x62, 0xf5, 0xbd, 0xe6, 0x52, 0xb8, 0x32, 0x10, 0x03, 0xd1, 0x12,
    0x06, 0x43, 0x4a, 0x95, 0xf6, 0xf3, 0x0d, 0x40, 0xa9, 0xce, 0xaf, 0xef, 0x3d, 0xab, 0x15, 0x09};
static const uint8_t key_d[64] = {
    0x2c, 0x79, 0xa2, 0xc4, 0x15, 0xbb, 0xa0, 0x85, 0x56, 0x40, 0xf0, 0x9d, 0x60, 0x40, 0xab, 0x18,
    0x01, 0x59, 0x22, 0xf4, 0x6e, 0x44, 0x03, 0x08, 0x26, 0xe8, 0xca, 0x32, 0xb2, 0x11, 0x88, 0xec,
    0xee, 0x94, 0xa3, 0x75, 0xb8, 0x38, 0x33, 0xb7, 0x1c, 0xb9, 0x5e, 0xbd, 0x4a, 0x6f, 0xb1, 0x4f,
    0xcb, 0x80, 0xda, 0x0b, 0x82, 0xef, 0x17, 0xa7, 0x02, 0x92, 0x9d, 0x5c, 0xdd, 0x6a, 0x75, 0xe5};
static const uint8_t key_p[32] = {
    0xe1, 0xc7, 0x96, 0x83, 0x90, 0xf4, 0x42, 0x28, 0x4a, 0x0f, 0x59, 0x8d, 0x0d, 0x57, 0x19, 0x95,
    0xc0, 0x53, 0xe3, 0x10, 0x91, 0x48, 0x61, 0xe9, 0x25, 0xe2, 0xcc, 0x22, 0x9f, 0x96, 0x82, 0xdb};
static const uint8_t key_q[32] = {
    0xc6, 0x1f, 0xbb, 0x6c, 0x22, 0x00, 0xd1, 0xc4, 0x49, 0xe3, 0xb4, 0xba, 0xe0, 0x7f, 0x62, 0xdb,
    0x0e, 0xd0, 0x9c, 0x3b, 0x55, 0x73, 0x80, 0xff, 0x9a, 0xfa, 0x64, 0xc0, 0x48, 0x35, 0xc2, 0xeb};
static const uint8_t key_dp[32] = {
    0xbb, 0x56, 0x09, 0xf3, 0x3c, 0x91, 0x0f, 0x5b, 0xb2, 0xa7, 0xad, 0xdc, 0x35, 0x97, 0x71, 0xa9,
    0x29, 0x9d, 0xf1, 0x27, 0xcc, 0x04, 0x4d, 0x09, 0x50, 0xe0, 0x30, 0x15, 0x02, 0x69, 0xb6, 0x45};
static const uint8_t key_dq[32] = {
    0xa3, 0x61, 0xf5, 0xb0, 0x65, 0x96, 0x21, 0x66, 0x6a, 0xbc, 0xa2, 0x04, 0xde, 0x2f, 0x8e, 0xb9,
    0x31, 0x4d, 0x6d, 0x19, 0x2d, 0x0d, 0xb4, 0x5a, 0x95, 0x56, 0x5a, 0x11, 0x8b, 0x3a, 0xf2, 0x83};
static const uint8_t key_qinv[32] = {
    0xb4, 0xc1, 0xf9, 0xf5, 0x68, 0x72, 0x72, 0x15, 0xb1, 0xa9, 0x5a, 0x7e, 0x36, 0x50, 0x7d, 0x39,
    0xbb, 0x96, 0x18, 0x5a, 0x22, 0xb3, 0x7c, 0xfb, 0xa8, 0xae, 0x54, 0x80, 0xba, 0xf1, 0xe7, 0x57};
static const uint8_t key_e[] = {1, 0, 1};
static const struct evc_rsa_numbers numbers = {
    .n = key_n, .d = key_d, .e = key_e, .p = key_p, .q = key_q, .dp = key_dp, .dq = key_dq,
    .qinv = key_qinv, .n_bytes = 64, .e_bytes = 3, .p_bytes = 32};

static EVC_ALIGN(16) uint8_t memory[1u << 14], scratch[1u << 18], number[2048];
static const struct evc_rsa_private *const key = (const void *)memory;
static uint8_t message[64], out[1024], other[64];

/* 16 bytes that follow from the pieces. */
static int digest(void *context, const struct evc_rsa_piece *pieces, size_t n_pieces, uint8_t *to)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    (void)context;
    for (size_t i = 0; i < n_pieces; i++)
        for (size_t j = 0; j < pieces[i].n_bytes; j++)
            h = (h ^ pieces[i].bytes[j]) * UINT64_C(0x100000001b3);
    for (int i = 0; i < 16; i++, h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9))
        to[i] = (uint8_t)(h >> 32);
    return 0;
}

static const struct evc_rsa_hash hash = {
    .digest = digest, .digest_bytes = 16, .block_bytes = 64, .prefix = key_n, .prefix_bytes = 19};
static const struct evc_rsa_oaep oaep = {.hash = &hash, .mgf_hash = &hash};
static const struct evc_rsa_pss pss = {&hash, &hash, 16};

static struct evc_prime_search search_with(void)
{
    const struct evc_prime_search search = {
        .kernel = &spy, .words = evc_bn_words_select(evc_cpu_features(), 0), .random = randomness};

    return search;
}

static void set_key(void)
{
    must(evc_rsa_set_private_in(memory, sizeof memory, &spy, &numbers, 512, scratch,
                                sizeof scratch));
}

static enum evc_status encrypt_oaep(uint8_t *to)
{
    return evc_rsa_encrypt_oaep(evc_rsa_public_of(key), &oaep, message, 9, &randomness, to, scratch,
                                sizeof scratch);
}

static enum evc_status encrypt_pkcs1(uint8_t *to)
{
    return evc_rsa_encrypt_pkcs1(evc_rsa_public_of(key), message, 9, &randomness, to, scratch,
                                 sizeof scratch);
}

/* With its digests of 28 bytes a key of 512 bits is long enough. */
#define SHA224 evc_sha2_named("c_ref"), EVC_SHA224

static enum evc_status encrypt_oaep_sha2(uint8_t *to)
{
    return evc_rsa_encrypt_oaep_sha2(evc_rsa_public_of(key), SHA224, message, 5, &randomness, to,
                                     scratch, sizeof scratch);
}

/* Ciphertexts of a message that stay the same. */
static void make_ciphertext(enum evc_status (*encrypt)(uint8_t *to))
{
    const size_t flipped = source.flipped;

    source.flipped = SIZE_MAX;
    must(encrypt(other));
    source.n_bytes = source.n_draws = 0;
    source.flipped = flipped;
    seen = 0;
}

static size_t n_out; /* bytes of out that are looked at */

static enum evc_status call_evc_dh_make_secret(void)
{
    n_out = 29;
    return evc_dh_make_secret((const void *)memory, &randomness, out);
}

/* 2^255 + 95: all bits of its first byte but one are 0, and those of a base are not. */
static const uint8_t prime[32] = {[0] = 0x80, [31] = 95};

static enum evc_status call_evc_prime_test_secret(void)
{
    return evc_prime_test_secret(&spy, prime, 32, 2, &randomness, scratch, sizeof scratch);
}

static enum evc_status call_evc_prime_find(void)
{
    const struct evc_prime_search search = search_with();

    n_out = 16;
    return evc_prime_find(&search, 128, key_e, sizeof key_e, out, scratch, sizeof scratch);
}

static enum evc_status call_evc_prime_find_safe(void)
{
    const struct evc_prime_search search = search_with();

    n_out = 16;
    return evc_prime_find_safe(&search, 128, out, scratch, sizeof scratch);
}

static enum evc_status call_evc_rsa_generate(void)
{
    const struct evc_prime_search search = search_with();
    struct evc_rsa_numbers new_numbers;
    const enum evc_status status =
        evc_rsa_generate(&search, 1024, key_e, sizeof key_e, number, sizeof number, &new_numbers,
                         scratch, sizeof scratch);

    if (status == EVC_OK)
        note(new_numbers.n, new_numbers.n_bytes);
    return status;
}

static enum evc_status call_evc_rsa_check_key(void)
{
    return evc_rsa_check_key(key, &randomness, scratch, sizeof scratch);
}

static enum evc_status call_evc_rsa_private(void)
{
    return evc_rsa_private(key, message, out, &randomness, scratch, sizeof scratch);
}

static enum evc_status call_evc_rsa_private_many(void)
{
    struct evc_rsa_operation two[] = {{.key = key, .in = message, .out = out},
                                      {.key = key, .in = message, .out = out + 64}};

    return evc_rsa_private_many(two, 2, &randomness, scratch, sizeof scratch);
}

static enum evc_status call_evc_rsa_sign_pkcs1(void)
{
    return evc_rsa_sign_pkcs1(key, &hash, message, 16, &randomness, out, scratch, sizeof scratch);
}

static enum evc_status call_evc_rsa_sign_pss(void)
{
    n_out = 64;
    return evc_rsa_sign_pss(key, &pss, message, 16, &randomness, out, scratch, sizeof scratch);
}

static enum evc_status call_evc_rsa_encrypt_oaep(void)
{
    n_out = 64;
    return encrypt_oaep(out);
}

static enum evc_status call_evc_rsa_decrypt_oaep(void)
{
    size_t n_bytes;

    make_ciphertext(encrypt_oaep);
    return evc_rsa_decrypt_oaep(key, &oaep, other, 64, &randomness, out, &n_bytes, scratch,
                                sizeof scratch);
}

static enum evc_status call_evc_rsa_encrypt_pkcs1(void)
{
    n_out = 64;
    return encrypt_pkcs1(out);
}

static enum evc_status call_evc_rsa_decrypt_pkcs1(void)
{
    size_t n_bytes;

    make_ciphertext(encrypt_pkcs1);
    return evc_rsa_decrypt_pkcs1(key, &hash, other, 64, &randomness, out, &n_bytes, scratch,
                                 sizeof scratch);
}

static enum evc_status call_evc_rsa_sign_pkcs1_sha2(void)
{
    return evc_rsa_sign_pkcs1_sha2(key, SHA224, message, 16, &randomness, out, scratch,
                                   sizeof scratch);
}

static enum evc_status call_evc_rsa_sign_pss_sha2(void)
{
    n_out = 64;
    return evc_rsa_sign_pss_sha2(key, SHA224, message, 16, &randomness, out, scratch,
                                 sizeof scratch);
}

static enum evc_status call_evc_rsa_encrypt_oaep_sha2(void)
{
    n_out = 64;
    return encrypt_oaep_sha2(out);
}

static enum evc_status call_evc_rsa_decrypt_oaep_sha2(void)
{
    size_t n_bytes;

    make_ciphertext(encrypt_oaep_sha2);
    return evc_rsa_decrypt_oaep_sha2(key, SHA224, other, 64, &randomness, out, &n_bytes, scratch,
                                     sizeof scratch);
}

static void set_group(void)
{
    must(evc_dh_set_group_in(memory, sizeof memory, &spy, evc_dh_params_named("ffdhe2048"), 2048));
}

/* ---- Bits that a call need not use ----------------------------------------------------------- */

/* bit: of a draw of n_bytes bytes, counted from the lowest one of its first byte. */
static int never(size_t n_bytes, size_t bit)
{
    (void)n_bytes, (void)bit;
    return 0;
}

/* Primes: the two highest and the two lowest bits are 1. A window of candidates that begins some
 * later has mostly the same ones, so that lower bits may change nothing. Of the 32 bits that pick
 * one of some hundred candidates, the highest decide. They are a word of the machine. */
static int is_free_in_primes(size_t n_bytes, size_t bit)
{
    const union {
        uint32_t word;
        uint8_t first;
    } order = {1};

    if (n_bytes == 4)
        return bit / 8 != (order.first ? 3 : 0) || bit % 8 < 4;
    return bit / 8 == 0 ? bit >= 6 : bit / 8 == n_bytes - 1;
}

/* Safe primes: the three highest bits are 011. The first one behind a start is taken, which is some
 * thousand away. */
static int is_free_in_safe_primes(size_t n_bytes, size_t bit)
{
    return bit / 8 == 0 ? bit >= 5 : bit / 8 >= n_bytes - 2;
}

/* ---- The property ---------------------------------------------------------------------------- */

static const struct call {
    const char *name;
    void (*set_up)(void);
    enum evc_status (*run)(void);
    int (*is_free)(size_t n_bytes, size_t bit);
    int notes_loads;
    size_t of_first, of_others; /* bits that are tried of the first draw, and of others */
} calls[] = {
#define ALL SIZE_MAX
#define CALL(name, ...) {#name, __VA_ARGS__}
    CALL(evc_dh_make_secret, set_group, call_evc_dh_make_secret, never, 0, ALL, ALL),
    CALL(evc_prime_test_secret, NULL, call_evc_prime_test_secret, never, 1, ALL, ALL),
    CALL(evc_prime_find, NULL, call_evc_prime_find, is_free_in_primes, 1, ALL, 4),
    CALL(evc_prime_find_safe, NULL, call_evc_prime_find_safe, is_free_in_safe_primes, 1, ALL, 1),
    CALL(evc_rsa_generate, NULL, call_evc_rsa_generate, is_free_in_primes, 1, 16, 1),
    CALL(evc_rsa_check_key, set_key, call_evc_rsa_check_key, never, 1, 32, 1),
    CALL(evc_rsa_private, set_key, call_evc_rsa_private, never, 0, ALL, ALL),
    CALL(evc_rsa_private_many, set_key, call_evc_rsa_private_many, never, 0, ALL, 64),
    CALL(evc_rsa_sign_pkcs1, set_key, call_evc_rsa_sign_pkcs1, never, 0, 64, 64),
    CALL(evc_rsa_sign_pss, set_key, call_evc_rsa_sign_pss, never, 0, ALL, 64),
    CALL(evc_rsa_encrypt_oaep, set_key, call_evc_rsa_encrypt_oaep, never, 0, ALL, ALL),
    CALL(evc_rsa_decrypt_oaep, set_key, call_evc_rsa_decrypt_oaep, never, 0, 64, 64),
    CALL(evc_rsa_encrypt_pkcs1, set_key, call_evc_rsa_encrypt_pkcs1, never, 0, ALL, ALL),
    CALL(evc_rsa_decrypt_pkcs1, set_key, call_evc_rsa_decrypt_pkcs1, never, 0, 64, 64),
    CALL(evc_rsa_sign_pkcs1_sha2, set_key, call_evc_rsa_sign_pkcs1_sha2, never, 0, 64, 64),
    CALL(evc_rsa_sign_pss_sha2, set_key, call_evc_rsa_sign_pss_sha2, never, 0, ALL, 64),
    CALL(evc_rsa_encrypt_oaep_sha2, set_key, call_evc_rsa_encrypt_oaep_sha2, never, 0, ALL, ALL),
    CALL(evc_rsa_decrypt_oaep_sha2, set_key, call_evc_rsa_decrypt_oaep_sha2, never, 0, 64, 64),
};

/* Everything that the call computes with this bit flipped. */
static uint64_t computed(const struct call *call, size_t flipped)
{
    source.n_bytes = source.n_draws = 0;
    source.flipped = flipped;
    n_out = 0;
    memset(out, 0, sizeof out);
    seen = 0;
    must(call->run());
    note(out, n_out);
    return seen;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void no_bit_is_ignored(const struct call *call)
{
    static struct draw draws[MOST_DRAWS];
    static uint64_t all[1 << 14];
    size_t n_draws, n = 0;

    make_spy(call->notes_loads);
    if (call->set_up)
        call->set_up();
    all[n++] = computed(call, SIZE_MAX);
    n_draws = source.n_draws;
    memcpy(draws, source.draws, sizeof draws);
    EXPECT(n_draws > 0 && n_draws < MOST_DRAWS);
    for (size_t i = 0; i < n_draws; i++) {
        const size_t n_bits = 8 * draws[i].n_bytes, most = i ? call->of_others : call->of_first;
        const size_t step = BITS_ELSEWHERE * (most < n_bits ? n_bits / most : 1);
        for (size_t bit = step > 1 ? random_below(step < n_bits ? step : n_bits) : 0; bit < n_bits;
             bit += step)
            if (!call->is_free(draws[i].n_bytes, bit) && n < sizeof all / sizeof all[0]) {
                all[n] = computed(call, 8 * draws[i].at + bit);
                if (all[n] == all[0])
                    printf("# bit %zu of draw %zu, of %zu bytes, is ignored\n", bit, i,
                           draws[i].n_bytes);
                EXPECT(all[n] != all[0]);
                n++;
            }
    }
    EXPECT(n > 1 || BITS_ELSEWHERE > 1); /* the few bits of an emulator may all be free */
    qsort(all, n, sizeof all[0], by_value);
    for (size_t i = 1; i < n; i++) /* a bit does what another does */
        EXPECT(all[i] != all[i - 1]);
}

int main(void)
{
    /* Emulators are slow at the floating point of PA-RISC's own kernels. */
    inner = EVC_ARCH_HERE == EVC_ARCH_HPPA
                ? evc_bn_named("c_limb32")
                : evc_bn_select(evc_cpu_features() | EVC_CPU(CT_MUL), 0, EVC_USE_SERIAL);
    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (uint8_t)(3 * i + 1);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        no_bit_is_ignored(&calls[i]);
        tap_result("no_bit_is_ignored", calls[i].name);
    }
    return tap_done();
}

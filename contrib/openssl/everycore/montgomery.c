/* SPDX-License-Identifier: MIT */
/*
 * OpenSSL's Montgomery multiplication where it has no assembly for it. It is what all of its
 * exponentiations with an odd modulus are made of.
 *
 * The code to multiply is by blocks of eight words on PA-RISC, and by columns elsewhere: that
 * of the kernels hppa_xmpyu, c_limb64 and c_limb32 of bn. Where a CPU has umaal, OpenSSL's
 * own function stays: with rows of umaal it needs fewer instructions than columns. Moduli
 * that are too short or too long for these go to OpenSSL's own function, and so do operands
 * with fewer words than the modulus.
 */
#define EVC_OPENSSL_UNIT montgomery
#include "openssl.h"

#include "bn_words/halves.h"

#if !defined(OPENSSL_BN_ASM_MONT)

#undef bn_mul_mont_fixed_top
#undef bn_to_mont_fixed_top
#undef BN_mod_mul_montgomery

int evc_openssl_bn_mul_mont_fixed_top(BIGNUM *r, const BIGNUM *a, const BIGNUM *b,
                                      BN_MONT_CTX *mont, BN_CTX *ctx);
#if !defined(EVC_OPENSSL_TREE)
int bn_mul_mont_fixed_top(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, BN_MONT_CTX *mont,
                          BN_CTX *ctx);
int bn_to_mont_fixed_top(BIGNUM *r, const BIGNUM *a, BN_MONT_CTX *mont, BN_CTX *ctx);
int BN_mod_mul_montgomery(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, BN_MONT_CTX *mont,
                          BN_CTX *ctx);
#endif

#if EVC_OPENSSL_XMPYU

/* ---- Blocks of eight words ------------------------------------------------------------------- */

#include "kernel.h"

#include "common/ct.h"

#undef HPPA
#define HPPA(name) evc_bn_hppa_xmpyu_##name
#define HPPA_SIXTEEN 1
typedef BN_ULONG bn_sum;
#include "bn/hppa_blocks.h"

/* From so many words on, if halves fill blocks, a square is made of three squares
 * of halves (Karatsuba). */
#define LEAST_OF_HALVES 64

/* Longer numbers are multiplied faster by OpenSSL's own functions, which save
 * products (Karatsuba). */
#define MOST_WORDS 128
#define MOST_WORDS_TO_REDUCE 1024
#define FITS(n_words) ((n_words) % 8 == 0 && (n_words) >= 8 && (n_words) <= MOST_WORDS_TO_REDUCE)

#if !defined(EVC_OPENSSL_TREE)
void BN_CTX_start(BN_CTX *ctx);
BIGNUM *BN_CTX_get(BN_CTX *ctx);
void BN_CTX_end(BN_CTX *ctx);
int bn_mul_fixed_top(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, BN_CTX *ctx);
int bn_sqr_fixed_top(BIGNUM *r, const BIGNUM *a, BN_CTX *ctx);
#endif

/* d = -d if the mask is all ones. */
static void negate_if(BN_ULONG *d, BN_ULONG mask, size_t n_words)
{
    BN_ULONG carry = mask & 1;

    for (size_t i = 0; i < n_words; i++) {
        const uint64_t sum = (uint64_t)(d[i] ^ mask) + carry;
        d[i] = (BN_ULONG)sum;
        carry = (BN_ULONG)(sum >> 32);
    }
}

/* t += word; there is no carry above. */
static void add_word(BN_ULONG *t, BN_ULONG word, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++) {
        const uint64_t sum = (uint64_t)t[i] + word;
        t[i] = (BN_ULONG)sum;
        word = (BN_ULONG)(sum >> 32);
    }
}

EVC_OUT_OF_LINE void square_half(BN_ULONG *t, const BN_ULONG *a, size_t n_words)
{
    square(t, a, n_words & ~(size_t)7); /* as in multiply_short */
}

/* t = a squared, of n_words words: with halves a0 and a1, 2 a0 a1 is the sum of their squares less
 * that of their difference. */
EVC_OUT_OF_LINE void square_of_halves(BN_ULONG *t, const BN_ULONG *a, size_t n_words)
{
    __attribute__((aligned(8))) BN_ULONG room[MOST_WORDS / 2 * 5];
    const size_t half = n_words / 2;
    BN_ULONG *const middle = room, *const other = room + n_words, *const d = room + 2 * n_words;
    BN_ULONG above;

    square_half(t, a, half);
    square_half(t + n_words, a + half, half);
    negate_if(d, (BN_ULONG)evc_barrier32(0u - sub_words(d, a, a + half, half)), half);
    square_half(other, d, half);
    above = add_words(middle, t, t + n_words, n_words);
    above -= sub_words(middle, middle, other, n_words);
    above += add_words(t + half, t + half, middle, n_words);
    add_word(t + half + n_words, above, half);
    OPENSSL_cleanse(room, 5 * half * sizeof *room);
}

static void multiply_short(BN_ULONG *r, const BN_ULONG *a, const BN_ULONG *b, const BN_ULONG *n,
                           BN_ULONG n0, size_t n_words)
{
    __attribute__((aligned(8))) BN_ULONG t[2 * MOST_WORDS + 8];

    /* This changes nothing (FITS), and tells the compiler that all blocks are whole. */
    n_words &= ~(size_t)7;
    if (a == b && n_words >= LEAST_OF_HALVES && n_words % 16 == 0)
        square_of_halves(t, a, n_words);
    else if (a == b)
        square(t, a, n_words);
    else
        product(t, a, b, n_words);
    reduce(r, t, n, n0, n_words);
}

/* r has room. Returns 0 if there is no memory. Out of line: short numbers need fewer registers. */
EVC_OUT_OF_LINE int multiply_long(BIGNUM *r, const BIGNUM *a, const BIGNUM *b,
                                  const BN_MONT_CTX *mont, BN_CTX *ctx)
{
    const int n_words = mont->N.top;
    BIGNUM *t;
    int done = 0;

    BN_CTX_start(ctx);
    t = BN_CTX_get(ctx);
    if (t && (a == b ? bn_sqr_fixed_top(t, a, ctx) : bn_mul_fixed_top(t, a, b, ctx)) &&
        bn_wexpand(t, 2 * n_words) != NULL) {
        for (int i = t->top; i < 2 * n_words; i++)
            t->d[i] = 0;
        reduce(r->d, t->d, mont->N.d, mont->n0[0], (size_t)n_words);
        done = 1;
    }
    BN_CTX_end(ctx);
    return done;
}

static int multiply(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, const BN_MONT_CTX *mont,
                    BN_CTX *ctx)
{
    if (mont->N.top > MOST_WORDS)
        return multiply_long(r, a, b, mont, ctx);
    multiply_short(r->d, a->d, b->d, mont->N.d, mont->n0[0], (size_t)mont->N.top);
    return 1;
}

#elif !EVC_BN_HALVES && !EVC_OPENSSL_UMAAL

/* ---- Columns --------------------------------------------------------------------------------- */

#if EVC_BN_WORD64
#define evc_bn_c_limb64 EVC_OPENSSL_NAME(c_limb64)
#include "bn/c_limb64.c"
#else
#define evc_bn_c_limb32 EVC_OPENSSL_NAME(c_limb32)
#include "bn/c_limb32.c"
#endif

#define MOST_WORDS (4096 / EVC_BN_WORD_BITS)
#define FITS(n_words) ((n_words) >= 4 && (n_words) <= MOST_WORDS)

/* A modulus as the kernel has it: a head, and behind it struct private_part
 * with room for all words. */
struct modulus {
    EVC_ALIGN(16) struct evc_bn_modulus head;
    EVC_ALIGN(16) limb n0;
    EVC_ALIGN(16) limb n[MOST_WORDS];
};

static int multiply(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, const BN_MONT_CTX *mont,
                    BN_CTX *ctx)
{
    const size_t n_bytes = (size_t)mont->N.top * sizeof(limb);
    struct modulus modulus;
    limb scratch[3 * MOST_WORDS];

    (void)ctx;
    modulus.head.n_bytes = (uint32_t)n_bytes;
    modulus.n0 = mont->n0[0];
    memcpy(modulus.n, mont->N.d, n_bytes);
    if (a->d == b->d)
        sqr(&modulus, r->d, a->d, scratch);
    else
        mul(&modulus, r->d, a->d, b->d, scratch);
    OPENSSL_cleanse(modulus.n, n_bytes);
    OPENSSL_cleanse(scratch, 3 * n_bytes);
    return 1;
}

#endif

#if defined(FITS)

int bn_mul_mont_fixed_top(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, BN_MONT_CTX *mont,
                          BN_CTX *ctx)
{
    const int n_words = mont->N.top;

    if (!FITS(n_words) || a->top != n_words || b->top != n_words ||
        mont->ri != n_words * EVC_BN_WORD_BITS)
        return evc_openssl_bn_mul_mont_fixed_top(r, a, b, mont, ctx);
    if (r->dmax < n_words && bn_wexpand(r, n_words) == NULL)
        return 0;
    if (!multiply(r, a, b, mont, ctx))
        return 0;
    r->neg = a->neg ^ b->neg;
    r->top = n_words;
    r->flags |= BN_FLG_FIXED_TOP;
    return 1;
}

#elif defined(EVC_OPENSSL_TREE) /* OpenSSL's own has another name there, whatever the target */

int bn_mul_mont_fixed_top(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, BN_MONT_CTX *mont,
                          BN_CTX *ctx)
{
    return evc_openssl_bn_mul_mont_fixed_top(r, a, b, mont, ctx);
}

#endif

#if defined(FITS) || defined(EVC_OPENSSL_TREE)

int bn_to_mont_fixed_top(BIGNUM *r, const BIGNUM *a, BN_MONT_CTX *mont, BN_CTX *ctx)
{
    return bn_mul_mont_fixed_top(r, a, &mont->RR, mont, ctx);
}

int BN_mod_mul_montgomery(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, BN_MONT_CTX *mont,
                          BN_CTX *ctx)
{
    const int done = bn_mul_mont_fixed_top(r, a, b, mont, ctx);

    bn_correct_top(r);
    return done;
}

#endif
#endif

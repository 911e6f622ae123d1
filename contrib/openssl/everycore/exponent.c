/* SPDX-License-Identifier: MIT */
/*
 * OpenSSL's powers with a secret exponent, of a base of one word: Diffie-Hellman raises 2 or 5, its
 * generators. A square for each bit of the exponent, and sums that multiply it by the base, take
 * the place of a table and its products. If the base is 2, the first bits of the exponent are taken
 * at once: 2^k for these bits k is one bit set at place k.
 *
 * The base shows in the time; numbers of OpenSSL always show their length. A base that is marked as
 * secret goes to OpenSSL's own functions, and so does all else: longer bases, a modulus that is
 * short or for which the caller has no BN_MONT_CTX.
 *
 * On PA-RISC digits.h makes all these powers, of any base, where the CPU has what it needs.
 */
#define EVC_OPENSSL_UNIT exponent
#include "kernel.h"

#include "common/ct.h"

#if !defined(OPENSSL_BN_ASM_MONT)

#undef BN_mod_exp_mont
#undef BN_mod_exp_mont_consttime
#undef BN_mod_exp_mont_consttime_x2

int evc_openssl_BN_mod_exp_mont(BIGNUM *rr, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m,
                                BN_CTX *ctx, BN_MONT_CTX *in_mont);
int evc_openssl_BN_mod_exp_mont_consttime(BIGNUM *rr, const BIGNUM *a, const BIGNUM *p,
                                          const BIGNUM *m, BN_CTX *ctx, BN_MONT_CTX *in_mont);
int evc_openssl_BN_mod_exp_mont_consttime_x2(BIGNUM *rr1, const BIGNUM *a1, const BIGNUM *p1,
                                             const BIGNUM *m1, BN_MONT_CTX *in_mont1, BIGNUM *rr2,
                                             const BIGNUM *a2, const BIGNUM *p2, const BIGNUM *m2,
                                             BN_MONT_CTX *in_mont2, BN_CTX *ctx);
#if !defined(EVC_OPENSSL_TREE)
#define BN_FLG_CONSTTIME 0x04
void BN_CTX_start(BN_CTX *ctx);
BIGNUM *BN_CTX_get(BN_CTX *ctx);
void BN_CTX_end(BN_CTX *ctx);
int bn_mul_mont_fixed_top(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, BN_MONT_CTX *mont,
                          BN_CTX *ctx);
int BN_mod_exp_mont(BIGNUM *rr, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m, BN_CTX *ctx,
                    BN_MONT_CTX *in_mont);
int BN_mod_exp_mont_consttime(BIGNUM *rr, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m,
                              BN_CTX *ctx, BN_MONT_CTX *in_mont);
int BN_mod_exp_mont_consttime_x2(BIGNUM *rr1, const BIGNUM *a1, const BIGNUM *p1, const BIGNUM *m1,
                                 BN_MONT_CTX *in_mont1, BIGNUM *rr2, const BIGNUM *a2,
                                 const BIGNUM *p2, const BIGNUM *m2, BN_MONT_CTX *in_mont2,
                                 BN_CTX *ctx);
#endif

#if EVC_OPENSSL_XMPYU
#include "digits.h"
#else
#define is_by_digits(a, p, m, mont) 0
#define power_by_digits(rr, a, p, m, mont) 0
#endif

#define MOST_WORDS (32768 / EVC_BN_WORD_BITS) /* of a modulus */
#define WORD_SUM_BITS 512                     /* of a modulus, for each sum: then these take
                                               * less time than products */

/* Sums that multiply a number by the base, which is 1 or more. */
static unsigned sums_of_words(BN_ULONG base)
{
    unsigned n = 0;

    for (; base > 1; base >>= 1)
        n += 1 + (unsigned)(base & 1);
    return n;
}

static int is_by_words(const BIGNUM *a, const BIGNUM *p, const BIGNUM *m, const BN_MONT_CTX *mont)
{
    const int n_words = m->top;

    if (a->top != 1 || a->neg || (a->flags & BN_FLG_CONSTTIME) || a->d[0] < 2 || p->top < 1 ||
        !mont)
        return 0;
    return n_words > 0 && n_words <= MOST_WORDS && mont->N.top == n_words &&
           mont->ri == n_words * EVC_BN_WORD_BITS &&
           (sums_of_words(a->d[0] - 1) + 1) * WORD_SUM_BITS <= (unsigned)mont->ri;
}

/* A power as it is made. Numbers have as many words as the modulus, and are below it. */
struct power {
    BIGNUM *x, *y, *z; /* x is the power, the others help */
    const BN_ULONG *n; /* the modulus */
    size_t n_words;
};

/* x = x + (a & mask). Sums go by way of y and z, of which a may be one, z not. */
static void add_masked(struct power *s, BN_ULONG *x, const BN_ULONG *a, BN_ULONG mask)
{
    BN_ULONG *const z = s->z->d;
    BN_ULONG above, keeps;

    for (size_t i = 0; i < s->n_words; i++)
        z[i] = a[i] & mask;
    above = add_words(x, x, z, s->n_words);
    keeps = sub_words(z, x, s->n, s->n_words) & (above ^ 1);
    keeps = (BN_ULONG)evc_barrier64(0u - (uint64_t)keeps);
    for (size_t i = 0; i < s->n_words; i++)
        x[i] = z[i] ^ (keeps & (x[i] ^ z[i]));
}

/* x = base x if the mask is all ones: x and base - 1 times it. */
static void multiply_words(struct power *s, BN_ULONG base, BN_ULONG mask)
{
    BN_ULONG *const x = s->x->d, *const y = s->y->d;
    BN_ULONG bit = 1;

    if (base == 2) {
        add_masked(s, x, x, mask);
        return;
    }
    base--;
    while (base >> 1 >= bit)
        bit <<= 1;
    memcpy(y, x, s->n_words * sizeof *y);
    while (bit >>= 1) {
        add_masked(s, y, y, (BN_ULONG)-1);
        if (base & bit)
            add_masked(s, y, x, (BN_ULONG)-1);
    }
    add_masked(s, x, y, mask);
}

/* a = 0 with so many words. */
static int zero(BIGNUM *a, size_t n_words)
{
    if (!a || bn_wexpand(a, (int)n_words) == NULL)
        return 0;
    memset(a->d, 0, n_words * sizeof *a->d);
    a->top = (int)n_words;
    a->neg = 0;
    a->flags |= BN_FLG_FIXED_TOP;
    return 1;
}

/* 2^k for the first bits k of the exponent is one bit set at place k. So many bits are taken that a
 * number of n_words words has each place. */
static unsigned bits_at_once(size_t n_words)
{
    unsigned n_bits = 0;

    while ((size_t)2 << n_bits <= n_words * EVC_BN_WORD_BITS)
        n_bits++;
    return n_bits;
}

/* x = 2 to the exponent, which is secret. */
static void set_power_of_two(struct power *s, uint32_t exponent)
{
    BN_ULONG word = 0;

    for (uint32_t i = 0; i < EVC_BN_WORD_BITS; i++)
        word |= (BN_ULONG)(~evc_mask_nonzero32(i ^ exponent % EVC_BN_WORD_BITS) & 1) << i;
    for (uint32_t i = 0; i < s->n_words; i++) {
        const uint64_t differs = evc_mask_nonzero32(i ^ exponent / EVC_BN_WORD_BITS);
        s->x->d[i] = word & (BN_ULONG)~evc_barrier64(differs << 32 | differs);
    }
}

static int raise_base(struct power *s, BIGNUM *r, BN_ULONG base, const BIGNUM *p, BN_MONT_CTX *mont,
                      BN_CTX *ctx)
{
    const unsigned first = base == 2 ? bits_at_once(s->n_words) : 0;
    int at = p->top * EVC_BN_WORD_BITS - (int)first;

    if (first)
        set_power_of_two(s, (uint32_t)(p->d[p->top - 1] >> (EVC_BN_WORD_BITS - first)));
    else
        s->x->d[0] = 1;
    if (!bn_mul_mont_fixed_top(s->x, s->x, &mont->RR, mont, ctx))
        return 0;
    while (at-- > 0) {
        const BN_ULONG bit = p->d[at / EVC_BN_WORD_BITS] >> at % EVC_BN_WORD_BITS & 1;

        if (!bn_mul_mont_fixed_top(s->x, s->x, s->x, mont, ctx))
            return 0;
        multiply_words(s, base, (BN_ULONG)evc_barrier64(0u - (uint64_t)bit));
    }
    memset(s->y->d, 0, s->n_words * sizeof *s->y->d);
    s->y->d[0] = 1;
    if (!bn_mul_mont_fixed_top(r, s->x, s->y, mont, ctx))
        return 0;
    bn_correct_top(r);
    return 1;
}

static int small_power(BIGNUM *r, BN_ULONG base, const BIGNUM *p, BN_MONT_CTX *mont, BN_CTX *ctx)
{
    struct power s = {NULL, NULL, NULL, mont->N.d, (size_t)mont->N.top};
    int done = 0;

    BN_CTX_start(ctx);
    s.x = BN_CTX_get(ctx);
    s.y = BN_CTX_get(ctx);
    s.z = BN_CTX_get(ctx);
    if (zero(s.x, s.n_words) && zero(s.y, s.n_words) && zero(s.z, s.n_words)) {
        done = raise_base(&s, r, base, p, mont, ctx);
        OPENSSL_cleanse(s.x->d, s.n_words * sizeof *s.x->d);
        OPENSSL_cleanse(s.y->d, s.n_words * sizeof *s.y->d);
        OPENSSL_cleanse(s.z->d, s.n_words * sizeof *s.z->d);
    }
    BN_CTX_end(ctx);
    return done;
}

int BN_mod_exp_mont_consttime(BIGNUM *rr, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m,
                              BN_CTX *ctx, BN_MONT_CTX *in_mont)
{
    if (is_by_digits(a, p, m, in_mont) && power_by_digits(rr, a, p, m, in_mont))
        return 1;
    if (is_by_words(a, p, m, in_mont))
        return small_power(rr, a->d[0], p, in_mont, ctx);
    return evc_openssl_BN_mod_exp_mont_consttime(rr, a, p, m, ctx, in_mont);
}

int BN_mod_exp_mont(BIGNUM *rr, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m, BN_CTX *ctx,
                    BN_MONT_CTX *in_mont)
{
    const int is_secret = (a->flags | p->flags | m->flags) & BN_FLG_CONSTTIME;

    if (is_secret && is_by_digits(a, p, m, in_mont) && power_by_digits(rr, a, p, m, in_mont))
        return 1;
    if (is_secret && is_by_words(a, p, m, in_mont))
        return small_power(rr, a->d[0], p, in_mont, ctx);
    return evc_openssl_BN_mod_exp_mont(rr, a, p, m, ctx, in_mont);
}

/* Two powers, of the primes of RSA. OpenSSL's own function has no other code for this target than
 * two calls of its own. */
#if EVC_OPENSSL_XMPYU
int BN_mod_exp_mont_consttime_x2(BIGNUM *rr1, const BIGNUM *a1, const BIGNUM *p1, const BIGNUM *m1,
                                 BN_MONT_CTX *in_mont1, BIGNUM *rr2, const BIGNUM *a2,
                                 const BIGNUM *p2, const BIGNUM *m2, BN_MONT_CTX *in_mont2,
                                 BN_CTX *ctx)
{
    const int done = BN_mod_exp_mont_consttime(rr1, a1, p1, m1, ctx, in_mont1);

    return BN_mod_exp_mont_consttime(rr2, a2, p2, m2, ctx, in_mont2) & done;
}
#elif defined(EVC_OPENSSL_TREE) /* it has another name there, whatever the target */
int BN_mod_exp_mont_consttime_x2(BIGNUM *rr1, const BIGNUM *a1, const BIGNUM *p1, const BIGNUM *m1,
                                 BN_MONT_CTX *in_mont1, BIGNUM *rr2, const BIGNUM *a2,
                                 const BIGNUM *p2, const BIGNUM *m2, BN_MONT_CTX *in_mont2,
                                 BN_CTX *ctx)
{
    return evc_openssl_BN_mod_exp_mont_consttime_x2(rr1, a1, p1, m1, in_mont1, rr2, a2, p2, m2,
                                                    in_mont2, ctx);
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The test of Baillie and Wagstaff for public numbers: trial division, a strong test to
 * base 2, a strong Lucas test.
 *
 * Source: Baillie, Wagstaff: Lucas pseudoprimes, Mathematics of Computation 35 (1980): P, Q and D
 *         by method A of section 6, strong tests as in section 3.
 */
#include "prime/work.h"

#include "common/clear.h"

/*
 * bn has moduli of 16 bytes and more. A shorter n is tested modulo N = n (2^128 + 1): what holds
 * modulo N holds modulo n, and a number is 0 modulo n if n divides it. Longer ones are their own N.
 */
#define SHORTEST (EVC_BN_MIN_BITS / 8)

/* n_bytes: without leading zeros. */
struct test {
    struct evc_prime_work w; /* modulo N */
    const uint8_t *n;
    size_t n_bytes;
    uint8_t *number;         /* n_bytes bytes of N */
    void *gcd;
    size_t gcd_bytes;
};

static size_t modulus_bytes(size_t n_bytes)
{
    return n_bytes < SHORTEST ? n_bytes + SHORTEST : n_bytes;
}

size_t evc_prime_test_scratch_bytes(const struct evc_bn *kernel, size_t n_bits)
{
    const size_t most_bytes = 2 * SHORTEST - 1; /* of N for a number with leading zeros */
    size_t n_bytes = n_bits / 8;

    if (!kernel || n_bits == 0 || n_bits % 8 != 0 || n_bits > EVC_BN_MAX_BITS)
        return 0;
    if (n_bytes < most_bytes)
        n_bytes = most_bytes;
    return evc_prime_work_bytes(kernel, n_bytes) + n_bytes + evc_bn_gcd_scratch_bytes(n_bytes);
}

/* ---- Small divisors -------------------------------------------------------------------------- */

enum verdict { PRIME, COMPOSITE, UNDECIDED };

/* By 2 and all odd numbers below 257; 257^2 needs three bytes. */
static enum verdict by_small_divisors(const uint8_t *n, size_t n_bytes)
{
    const uint32_t small = n_bytes <= 2 ? evc_number_modulo(n, n_bytes, 1u << 16) : UINT32_MAX;

    if (n_bytes == 0 || small == 1)
        return COMPOSITE;
    if (!evc_number_bit(n, n_bytes, 0))
        return small == 2 ? PRIME : COMPOSITE;
    for (uint32_t d = 3; d < 257; d += 2)
        if (evc_number_modulo(n, n_bytes, d) == 0)
            return small <= d ? PRIME : COMPOSITE; /* a smaller divisor would have been found */
    return n_bytes <= 2 ? PRIME : UNDECIDED;
}

/* ---- Numbers modulo n ------------------------------------------------------------------------ */

static void *number(struct test *t, size_t index)
{
    return evc_bn_number(evc_prime_modulus(&t->w), t->w.scratch, index);
}

/* Whether n divides a number, which is in the kernel's form. */
static int is_zero(struct test *t, const void *a)
{
    const struct evc_bn_modulus *n = evc_prime_modulus(&t->w);

    n->kernel->store(n, t->number, a); /* R has no divisor in common with n */
    if (t->n_bytes < SHORTEST) {
        uint8_t *const divisor = t->w.other;
        const enum evc_status status =
            evc_bn_gcd(t->n, t->n_bytes, t->number, t->w.n_bytes, divisor, t->gcd, t->gcd_bytes);

        return status == EVC_OK && evc_mask_equal(divisor, t->n, t->n_bytes) != 0;
    }
    return evc_number_is(t->number, t->w.n_bytes, 0) != 0;
}

static void add(struct test *t, void *r, const void *a, const void *b)
{
    evc_bn_op_add(evc_prime_modulus(&t->w), r, a, b, t->w.scratch);
}

static void sub(struct test *t, void *r, const void *a, const void *b)
{
    const struct evc_bn_modulus *n = evc_prime_modulus(&t->w);

    n->kernel->sub(n, r, a, b, evc_bn_scratch_start(t->w.scratch));
}

static void sqr(struct test *t, void *r, const void *a)
{
    evc_bn_op_sqr(evc_prime_modulus(&t->w), r, a, t->w.scratch);
}

static void mul(struct test *t, void *r, const void *a, const void *b)
{
    evc_bn_op_mul(evc_prime_modulus(&t->w), r, a, b, t->w.scratch);
}

/* r = a small number, which may be negative. */
static void set(struct test *t, void *r, int32_t value, void *temporary)
{
    const struct evc_bn_modulus *n = evc_prime_modulus(&t->w);
    uint8_t bytes[4];

    evc_store32_be(bytes, (uint32_t)(value < 0 ? -value : value));
    evc_bn_op_enter(n, r, bytes, 4, t->w.scratch);
    if (value < 0) {
        sub(t, temporary, r, r);
        sub(t, r, temporary, r);
    }
}

/* Zeros below the lowest bit of n - 1, or of n + 1, that is 1. */
static size_t zeros_below(const uint8_t *exponent, size_t exponent_bytes)
{
    size_t n = 0;

    while (n < 8 * exponent_bytes && !evc_number_bit(exponent, exponent_bytes, n))
        n++;
    return n;
}

/* ---- The strong test to base 2 --------------------------------------------------------------- */

/* n - 1 = 2^s d: 2^d = 1, or 2^(d 2^i) = -1 for an i below s. */
static int passes_two(struct test *t)
{
    const struct evc_bn_modulus *n = evc_prime_modulus(&t->w);
    const void *const one = evc_bn_one(n);
    uint8_t *const x = number(t, 0), *const y = number(t, 1);
    size_t s, at = 8 * t->n_bytes;

    evc_copy_secret(t->number, t->n, t->n_bytes);
    t->number[t->n_bytes - 1] ^= 1;
    s = zeros_below(t->number, t->n_bytes);
    evc_copy_secret(x, one, n->shape.form_bytes);
    while (at-- > s) {
        sqr(t, x, x);
        if (evc_number_bit(t->n, t->n_bytes, at))
            add(t, x, x, x);
    }
    sub(t, y, x, one);
    if (is_zero(t, y))
        return 1;
    for (;;) {
        add(t, y, x, one);
        if (is_zero(t, y))
            return 1;
        if (--s == 0)
            return 0;
        sqr(t, x, x);
    }
}

/* ---- The strong Lucas test ------------------------------------------------------------------- */

/* Jacobi's symbol (a / m) for odd m. */
static int jacobi(uint32_t a, uint32_t m)
{
    int symbol = 1;

    for (a %= m; a; a %= m) {
        for (; a % 2 == 0; a /= 2)
            if (m % 8 == 3 || m % 8 == 5)
                symbol = -symbol;
        if (a % 4 == 3 && m % 4 == 3)
            symbol = -symbol;
        const uint32_t swap = a;
        a = m;
        m = swap;
    }
    return m == 1 ? symbol : 0;
}

/* (D / n) for an odd D, positive or negative. */
static int jacobi_of_n(const struct test *t, int32_t d)
{
    const uint32_t size = (uint32_t)(d < 0 ? -d : d), n_mod_4 = t->n[t->n_bytes - 1] % 4;
    int symbol = jacobi(evc_number_modulo(t->n, t->n_bytes, size), size);

    if (size % 4 == 3 && n_mod_4 == 3) /* reciprocity: from (n / |D|) to (|D| / n) */
        symbol = -symbol;
    if (d < 0 && n_mod_4 == 3) /* (-1 / n) */
        symbol = -symbol;
    return symbol;
}

/* Whether n is a square: its root bit by bit, held against n. rest: what the bits found so far
 * leave of n, root: they themselves, shifted as in division by hand. Both have n_bytes bytes. */
static int is_square(struct test *t)
{
    const size_t n_bytes = t->n_bytes;
    uint8_t *const rest = t->number, *const root = t->w.base, *const trial = t->w.power;

    evc_copy_secret(rest, t->n, n_bytes);
    memset(root, 0, n_bytes);
    for (size_t at = 8 * n_bytes; at > 0;) {
        at -= 2; /* root + 2^at */
        evc_copy_secret(trial, root, n_bytes);
        trial[n_bytes - 1 - at / 8] |= (uint8_t)(1u << at % 8); /* that bit of root is 0 */
        evc_number_halve(root, root, n_bytes);
        if (evc_number_below(rest, trial, n_bytes))
            continue;
        (void)evc_number_sub(rest, rest, trial, UINT32_MAX, n_bytes);
        root[n_bytes - 1 - at / 8] |= (uint8_t)(1u << at % 8);
    }
    return evc_number_is(rest, n_bytes, 0) != 0;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (a) {
        const uint32_t rest = b % a;

        b = a;
        a = rest;
    }
    return b;
}

/*
 * Method A: the first D of 5, -7, 9, -11, ... with (D / n) = -1, and no divisor in common with n.
 * 0: n is composite. A square has no such D. Numbers of at most 8192 bits without one below the
 * bound are believed to exist, but each D halves their share: nobody meets one of a random prime,
 * and on a number made for it the search still ends.
 */
#define BOUND_OF_D (1 << 16) /* below n, which has no divisor below 257 */
#define TRIES_BEFORE_SQUARE 20

static int32_t choose_d(struct test *t)
{
    int tries = 0;

    for (int32_t size = 5; size < BOUND_OF_D; size += 2) {
        const int32_t d = size % 4 == 1 ? size : -size;
        const int symbol = jacobi_of_n(t, d);

        if (symbol == 0)
            return 0;
        if (symbol < 0) {
            const uint32_t q = (uint32_t)(d < 0 ? (1 - d) / 4 : (d - 1) / 4);
            return common_divisor(evc_number_modulo(t->n, t->n_bytes, q), q) == 1 ? d : 0;
        }
        if (++tries == TRIES_BEFORE_SQUARE && is_square(t))
            return 0;
    }
    return 0;
}

/* Numbers in scratch memory of the Lucas test. */
enum { U, V, QK, D, Q, HALF, X, Y };

/* U, V, Q^k for 2k. */
static void lucas_double(struct test *t)
{
    mul(t, number(t, U), number(t, U), number(t, V));
    sqr(t, number(t, V), number(t, V));
    sub(t, number(t, V), number(t, V), number(t, QK));
    sub(t, number(t, V), number(t, V), number(t, QK));
    sqr(t, number(t, QK), number(t, QK));
}

/* For k + 1, with P = 1: U = (U + V) / 2, V = (D U + V) / 2. */
static void lucas_next(struct test *t)
{
    mul(t, number(t, X), number(t, U), number(t, D));
    add(t, number(t, X), number(t, X), number(t, V));
    add(t, number(t, Y), number(t, U), number(t, V));
    mul(t, number(t, U), number(t, Y), number(t, HALF));
    mul(t, number(t, V), number(t, X), number(t, HALF));
    mul(t, number(t, QK), number(t, QK), number(t, Q));
}

/* half = 1 / 2 modulo N: (N + 1) / 2. */
static void set_half(struct test *t)
{
    const struct evc_bn_modulus *n = evc_prime_modulus(&t->w);

    evc_number_add_small(t->w.half, t->w.n_bytes, 1); /* half was (N - 1) / 2 */
    evc_bn_op_enter(n, number(t, HALF), t->w.half, t->w.n_bytes, t->w.scratch);
}

/* n + 1 = 2^s d: U_d = 0, or V_(d 2^i) = 0 for an i below s. */
static int passes_lucas(struct test *t, int32_t big_d)
{
    uint8_t *const exponent = t->w.base; /* n + 1 */
    const struct evc_bn_modulus *n = evc_prime_modulus(&t->w);
    const size_t n_bytes = t->n_bytes;
    size_t s, at;

    evc_copy_secret(exponent, t->n, n_bytes);
    evc_number_add_small(exponent, n_bytes, 1); /* no carry: 2^(8 n_bytes) - 1 has the divisor 3 */
    s = zeros_below(exponent, n_bytes);
    set(t, number(t, D), big_d, number(t, X));
    set(t, number(t, Q), (1 - big_d) / 4, number(t, X));
    set_half(t);
    /* k = 1: U = 1, V = P = 1, Q^k = Q */
    evc_copy_secret(number(t, U), evc_bn_one(n), n->shape.form_bytes);
    evc_copy_secret(number(t, V), evc_bn_one(n), n->shape.form_bytes);
    evc_copy_secret(number(t, QK), number(t, Q), n->shape.form_bytes);
    for (at = evc_number_length_bits(exponent, n_bytes) - 1; at-- > s;) {
        lucas_double(t);
        if (evc_number_bit(exponent, n_bytes, at))
            lucas_next(t);
    }
    if (is_zero(t, number(t, U)) || is_zero(t, number(t, V)))
        return 1;
    while (--s > 0) {
        lucas_double(t);
        if (is_zero(t, number(t, V)))
            return 1;
    }
    return 0;
}

/* ---- The test -------------------------------------------------------------------------------- */

static enum evc_status test_large(struct test *t, const struct evc_bn *kernel, void *scratch)
{
    const size_t n_bytes = modulus_bytes(t->n_bytes);
    enum evc_status status;
    int32_t d;

    t->number = evc_prime_work_place(&t->w, kernel, n_bytes, scratch);
    t->gcd = t->number + n_bytes;
    t->gcd_bytes = evc_bn_gcd_scratch_bytes(n_bytes);
    memset(t->number, 0, n_bytes);
    evc_copy_secret(t->number, t->n, t->n_bytes);
    evc_copy_secret(t->number + n_bytes - t->n_bytes, t->n, t->n_bytes);
    status = evc_prime_work_set(&t->w, t->number);
    if (status != EVC_OK)
        return status;
    if (!passes_two(t))
        return EVC_ERR_COMPOSITE;
    d = choose_d(t);
    return d != 0 && passes_lucas(t, d) ? EVC_OK : EVC_ERR_COMPOSITE;
}

enum evc_status evc_prime_test_public(const struct evc_bn *kernel, const uint8_t *n, size_t n_bytes,
                                      void *scratch, size_t scratch_bytes)
{
    const size_t needed_bytes = evc_prime_test_scratch_bytes(kernel, 8 * n_bytes);
    struct test t;
    enum evc_status status;

    if (n_bytes == 0 || n_bytes > EVC_BN_MAX_BYTES)
        return EVC_ERR_KEY_SIZE;
    if (!kernel)
        return EVC_ERR_KERNEL;
    if (scratch_bytes < needed_bytes)
        return EVC_ERR_SCRATCH;
    if (!n)
        return EVC_ERR_PARAMETER;
    evc_number_skip_zeros(&n, &n_bytes);
    switch (by_small_divisors(n, n_bytes)) {
    case PRIME: return EVC_OK;
    case COMPOSITE: return EVC_ERR_COMPOSITE;
    case UNDECIDED: break;
    }
    t.n = n;
    t.n_bytes = n_bytes;
    status = test_large(&t, kernel, scratch);
    evc_wipe(scratch, needed_bytes);
    evc_clear(&kernel->kernel);
    return status;
}

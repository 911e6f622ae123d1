/* SPDX-License-Identifier: MIT */
/*
 * Strong tests of secret numbers to given and to random bases.
 *
 * Source: Miller: Riemann's hypothesis and tests for primality, Journal of Computer and System
 *         Sciences 13 (1976); Rabin: Probabilistic algorithm for testing primality, Journal of
 *         Number Theory 12 (1980). Random bases: FIPS 186-5 (2023), appendix B.3.1.
 */
#include "prime/work.h"

#include "common/clear.h"
#include "common/draw.h"

/* ---- One base -------------------------------------------------------------------------------- */

/* All ones if a < b. */
static uint32_t mask_below(uint32_t a, uint32_t b)
{
    return (uint32_t)0 - evc_barrier32((a - b) >> 31); /* both are below 2^31 */
}

/* How often 2 divides n - 1: the number of zeros that n has behind its last bit
 * but the lowest, and one. */
static uint32_t twos(const uint8_t *n, size_t n_bytes)
{
    uint32_t count = 0, all_zero = UINT32_MAX;

    for (size_t i = 1; i < 8 * n_bytes; i++) {
        count++;
        count -= 1 & ~all_zero;
        all_zero &= ~evc_mask_nonzero32(evc_number_bit(n, n_bytes, i));
    }
    return count;
}

static void choose(uint8_t *r, const uint8_t *a, size_t form_bytes, uint32_t mask)
{
    const uint64_t wide = evc_barrier64((uint64_t)mask << 32 | mask);

    for (size_t at = 0; at < form_bytes; at += 8) {
        const uint64_t word = evc_load64_ne(r + at);

        evc_store64_ne(r + at, word ^ ((word ^ evc_load64_ne(a + at)) & wide));
    }
}

/*
 * Any n, whose n - 1 = 2^s d has a secret s. The exponent n - 1 is taken bit by bit from its
 * highest; in between, x is the base to the (n - 1) / 2^at. It is looked at by masks: n passes if
 * x = 1 at at = s, or x = -1 from at = s to 1. Numbers are compared in Montgomery's form, as
 * `store` writes it; one and minus_one are these forms of 1 and -1.
 */
EVC_OUT_OF_LINE uint32_t passes_by_bits(struct evc_prime_work *w, const uint8_t *base)
{
    const struct evc_bn_modulus *n = evc_prime_modulus(w);
    const uint8_t *const bytes = evc_bn_modulus(n);
    const size_t n_bytes = w->n_bytes;
    const uint32_t s = twos(bytes, n_bytes);
    uint8_t *const x = evc_bn_number(n, w->scratch, 0), *const product =
                                                            evc_bn_number(n, w->scratch, 1);
    uint8_t *const factor = evc_bn_number(n, w->scratch, 2);
    uint8_t *const one = w->power, *const minus_one = w->other, *const now = w->half;
    uint32_t passes = 0;

    n->kernel->store(n, one, evc_bn_one(n));
    (void)evc_number_sub(minus_one, bytes, one, UINT32_MAX, n_bytes);
    evc_bn_op_enter(n, factor, base, n_bytes, w->scratch);
    evc_copy_secret(x, evc_bn_one(n), n->shape.form_bytes);
    for (size_t at = 8 * n_bytes; at-- > 1;) {
        const uint32_t bit = evc_number_bit(bytes, n_bytes, at);
        const uint32_t is_s = ~evc_mask_nonzero32((uint32_t)at ^ s),
                       in_reach = ~mask_below(s, (uint32_t)at);

        evc_bn_op_sqr(n, x, x, w->scratch);
        evc_bn_op_mul(n, product, x, factor, w->scratch);
        choose(x, product, n->shape.form_bytes, evc_mask_nonzero32(bit));
        n->kernel->store(n, now, x);
        passes |= in_reach & evc_mask_equal(now, minus_one, n_bytes);
        passes |= is_s & evc_mask_equal(now, one, n_bytes);
    }
    return passes;
}

/* half = (n - 1) / 2 is odd here, so that the power to it is all there is to look at. */
static enum evc_status passes_by_half(struct evc_prime_work *w, const uint8_t *base,
                                      uint32_t *passes)
{
    const enum evc_status status = evc_bn_exp(evc_prime_modulus(w), base, w->half, w->n_bytes,
                                              w->power, w->scratch, w->scratch_bytes);

    *passes = evc_prime_is_plus_minus_one(w, w->power);
    return status;
}

static uint32_t is_three_modulo_four(const struct evc_prime_work *w)
{
    uint32_t is_three = evc_number_bit(evc_bn_modulus(evc_prime_modulus(w)), w->n_bytes, 1);

    evc_public(&is_three, sizeof is_three); /* which of two ways is taken: prime.h says so */
    return is_three;
}

/* base: below n. EVC_ERR_COMPOSITE, or a status of bn. */
static enum evc_status test_base(struct evc_prime_work *w, const uint8_t *base)
{
    enum evc_status status = EVC_OK;
    uint32_t passes;

    if (is_three_modulo_four(w)) {
        status = passes_by_half(w, base, &passes);
    } else {
        passes = passes_by_bits(w, base);
        evc_bn_end(evc_prime_modulus(w), w->scratch, 3);
    }
    evc_public(&passes, sizeof passes); /* the status tells it */
    if (status == EVC_OK && !passes)
        status = EVC_ERR_COMPOSITE;
    return status;
}

/* ---- Bases ----------------------------------------------------------------------------------- */

/* Nonzero if the base is from 2 to n - 2. */
static uint32_t is_base(const struct evc_prime_work *w, const uint8_t *base)
{
    uint32_t good =
        evc_number_is_inner(base, evc_bn_modulus(evc_prime_modulus(w)), w->n_bytes);

    evc_public(&good, sizeof good); /* a base that is refused is not used */
    return good;
}

/* Bits that n can have are drawn, until they are a base: for random bytes each time with a
 * chance of more than 1/2. */
#define MOST_DRAWS 128

enum evc_status evc_prime_draw_base(struct evc_prime_work *w, const struct evc_random *random)
{
    const uint8_t *n = evc_bn_modulus(evc_prime_modulus(w));
    const uint32_t ones = evc_ones_below(n[0]);

    for (int i = 0; i < MOST_DRAWS; i++) {
        const enum evc_status status = evc_draw(random, w->base, w->n_bytes);

        if (status != EVC_OK)
            return status;
        w->base[0] &= (uint8_t)ones;
        if (is_base(w, w->base))
            return EVC_OK;
    }
    return EVC_ERR_RANDOM;
}

enum evc_status evc_prime_random_bases(struct evc_prime_work *w, size_t n_rounds,
                                       const struct evc_random *random)
{
    enum evc_status status = EVC_OK;

    while (status == EVC_OK && n_rounds-- > 0) {
        status = evc_prime_draw_base(w, random);
        if (status == EVC_OK)
            status = test_base(w, w->base);
    }
    return status;
}

/* ---- Public calls ---------------------------------------------------------------------------- */

static enum evc_status begin(struct evc_prime_work *w, const struct evc_bn *kernel,
                             const uint8_t *n, size_t n_bytes, size_t n_tests, void *scratch,
                             size_t scratch_bytes)
{
    if (n_bytes < EVC_BN_MIN_BITS / 8 || n_bytes > EVC_BN_MAX_BYTES)
        return EVC_ERR_KEY_SIZE;
    if (!kernel)
        return EVC_ERR_KERNEL;
    if (scratch_bytes < evc_prime_work_bytes(kernel, n_bytes))
        return EVC_ERR_SCRATCH;
    if (!n_tests)
        return EVC_ERR_LENGTH;
    if (!n)
        return EVC_ERR_PARAMETER;
    evc_prime_work_place(w, kernel, n_bytes, scratch);
    return evc_prime_work_set(w, n);
}

/* Inline, as a frame of its own would lie where operations were. */
EVC_INLINE void end(const struct evc_prime_work *w, void *scratch)
{
    evc_wipe(scratch, evc_prime_work_bytes(w->kernel, w->n_bytes));
    evc_clear(&w->kernel->kernel);
}

enum evc_status evc_prime_test_bases(const struct evc_bn *kernel, const uint8_t *n, size_t n_bytes,
                                     const uint8_t *bases, size_t n_bases, void *scratch,
                                     size_t scratch_bytes)
{
    struct evc_prime_work w;
    enum evc_status status = begin(&w, kernel, n, n_bytes, n_bases, scratch, scratch_bytes);

    if (status != EVC_OK)
        return status;
    if (!bases)
        status = EVC_ERR_PARAMETER;
    for (size_t i = 0; status == EVC_OK && i < n_bases; i++)
        if (!is_base(&w, bases + i * n_bytes))
            status = EVC_ERR_RANGE;
    for (size_t i = 0; status == EVC_OK && i < n_bases; i++)
        status = test_base(&w, bases + i * n_bytes);
    end(&w, scratch);
    return status;
}

enum evc_status evc_prime_test_secret(const struct evc_bn *kernel, const uint8_t *n, size_t n_bytes,
                                      size_t n_rounds, const struct evc_random *random,
                                      void *scratch, size_t scratch_bytes)
{
    struct evc_prime_work w;
    enum evc_status status = begin(&w, kernel, n, n_bytes, n_rounds, scratch, scratch_bytes);

    if (status != EVC_OK)
        return status;
    status = evc_prime_random_bases(&w, n_rounds, random);
    end(&w, scratch);
    return status;
}

unsigned evc_prime_rounds(size_t n_bits)
{
    return n_bits < 512 ? 64 : n_bits < 1024 ? 13 : n_bits < 1536 ? 6 : 4;
}

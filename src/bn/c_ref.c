/* SPDX-License-Identifier: MIT */
/*
 * Big numbers by doubling and adding, bit by bit: the oracle for every other kernel, and the kernel
 * for CPUs of which nobody knows whether they multiply in constant time.
 *
 * Method:   numbers below n as they are, without Montgomery's form. a b: for each bit
 *           of a, from the highest, the sum is doubled modulo n and b or 0 is added
 *           modulo n. No multiplication.
 * Source:   Knuth: The Art of Computer Programming, volume 2, section 4.6.3 (the
 *           binary method, for sums).
 * Needs:    ANY.   Timing: CT (no tables, no secret branches, no multiplications).
 * Key form: private.
 */
#include "bn/kernel.h"

#include "common/number.h"

/* Numbers are words, the least significant first. */
#if EVC_WORD64
typedef uint64_t word;
#else
typedef uint32_t word;
#endif
#define WORD_BYTES sizeof(word)

static size_t n_words(const void *key)
{
    return (evc_bn_n_bytes(key) + WORD_BYTES - 1) / WORD_BYTES;
}

static void shape(size_t n_bytes, struct evc_bn_shape *s)
{
    s->r_bits = s->loaded_bits = 0;
    s->form_bytes = (uint32_t)EVC_BN_ROUND16(n_bytes);
    s->private_bytes = s->form_bytes; /* the modulus */
    s->scratch_bytes = 3 * s->form_bytes;
}

static void load(const void *key, void *r, const uint8_t *in, size_t in_bytes)
{
    const size_t words = n_words(key);
    word *x = r;

    for (size_t i = 0; i < words; i++)
        x[i] = (word)evc_number_word(in, in_bytes, WORD_BYTES, i);
}

static void store(const void *key, uint8_t *out, const void *a)
{
    const size_t n_bytes = evc_bn_n_bytes(key);
    const word *x = a;

    for (size_t i = 0; i < n_bytes; i++)
        out[n_bytes - 1 - i] = (uint8_t)(x[i / WORD_BYTES] >> 8 * (i % WORD_BYTES));
}

static void set_modulus(void *key, const uint8_t *n)
{
    load(key, EVC_BN_PRIVATE(key), n, evc_bn_n_bytes(key));
}

/* r = a - b; returns the borrow, 0 or 1. */
static word subtract(word *r, const word *a, const word *b, size_t words)
{
    word borrow = 0;

    for (size_t i = 0; i < words; i++) {
        const word x = a[i], difference = x - b[i];
        const word below = (word)(x < difference) | (word)(difference < borrow);
        r[i] = difference - borrow;
        borrow = below;
    }
    return borrow;
}

/* r = a + (b where mask is all ones, 0 where it is 0); returns the carry, 0 or 1. */
static word add_masked(word *r, const word *a, const word *b, word mask, size_t words)
{
    word carry = 0;

    EVC_KEEP(mask);
    for (size_t i = 0; i < words; i++) {
        const word x = a[i], sum = x + (b[i] & mask), all = sum + carry;
        carry = (word)(sum < x) | (word)(all < sum);
        r[i] = all;
    }
    return carry;
}

/* r = a + (b masked) modulo n, of numbers below n. difference: as many words. */
static void add_modulo(const void *key, word *r, const word *a, const word *b, word mask,
                       word *difference)
{
    const word *n = EVC_BN_PRIVATE_CONST(key);
    const size_t words = n_words(key);
    const word carry = add_masked(r, a, b, mask, words);
    const word borrow = subtract(difference, r, n, words);
    word keep = (word)0 - (borrow & ~carry); /* all ones: the sum is below n */

    EVC_KEEP(keep);
    for (size_t i = 0; i < words; i++)
        r[i] = (r[i] & keep) | (difference[i] & ~keep);
}

static void add(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    add_modulo(key, r, a, b, ~(word)0, scratch);
}

static void sub(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const size_t words = n_words(key);
    const word borrow = subtract(scratch, a, b, words);

    add_masked(r, scratch, EVC_BN_PRIVATE_CONST(key), (word)0 - borrow, words);
}

static void mul(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const size_t words = n_words(key),
                 form_bytes = ((const struct evc_bn_modulus *)key)->shape.form_bytes;
    const word *x = a;
    word *const sum = scratch, *const difference = (void *)((uint8_t *)scratch + form_bytes);
    word *to = r;

    for (size_t i = 0; i < words; i++)
        sum[i] = 0;
    for (size_t bit = 8 * WORD_BYTES * words; bit-- > 0;) {
        const word mask = (word)0 - (x[bit / (8 * WORD_BYTES)] >> bit % (8 * WORD_BYTES) & 1);
        add_modulo(key, sum, sum, sum, ~(word)0, difference);
        add_modulo(key, sum, sum, b, mask, difference);
    }
    for (size_t i = 0; i < words; i++)
        to[i] = sum[i];
}

static void sqr(const void *key, void *r, const void *a, void *scratch)
{
    mul(key, r, a, a, scratch);
}

const struct evc_bn evc_bn_c_ref = {
    .kernel = EVC_KERNEL_HEAD(c_ref, ANY, CT, ANY, 1, struct evc_bn_modulus, 0, BASELINE, 704),
    .lanes = 1,
    .shape = shape,
    .set_modulus = set_modulus,
    .load = load,
    .store = store,
    .add = add,
    .sub = sub,
    .mul = mul,
    .sqr = sqr,
};

/* SPDX-License-Identifier: MIT */
/* Exponentiation: with secret exponents by a fixed window, or by sums if the base is
 * small; with public ones by their bits. Code that has moduli of its own (contrib/openssl)
 * defines EVC_BN_STEPS_OF_POWERS and includes this: then it is exp_secret and exp_by_sums,
 * and no public function. */
#include "everycore/bn.h"

#include "bn/ops.h"
#include "common/clear.h"

/* Numbers in scratch memory: these, then the table. */
enum { SUM, FACTOR, BASE, TEMPORARY, TABLE };

static void *entry(const struct evc_bn_modulus *n, void *scratch, size_t index)
{
    return evc_bn_number(n, scratch, TABLE + index);
}

/* ---- Secret exponents ------------------------------------------------------------------------ */

/* The window with the fewest products: 2^w for the table, n_bits / w with entries of it. */
static unsigned window_bits(size_t n_bits)
{
    return n_bits <= 24 ? 2 : n_bits <= 80 ? 3 : n_bits <= 320 ? 4 : EVC_BN_WINDOW_BITS;
}

#define SELECTED 4 /* words at a time */

/* r = so many words of entry number index: 2 or SELECTED, a constant. */
EVC_INLINE void select_words(uint8_t *r, const uint8_t *table, size_t form_bytes,
                             const uint64_t *masks, size_t n_entries, int n_words)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;

    for (size_t i = 0; i < n_entries; i++, table += form_bytes) {
        const uint64_t mask = masks[i];

        a |= evc_load64_ne(table) & mask;
        b |= evc_load64_ne(table + 8) & mask;
        if (n_words == SELECTED) {
            c |= evc_load64_ne(table + 16) & mask;
            d |= evc_load64_ne(table + 24) & mask;
        }
    }
    evc_store64_ne(r, a);
    evc_store64_ne(r + 8, b);
    if (n_words == SELECTED) {
        evc_store64_ne(r + 16, c);
        evc_store64_ne(r + 24, d);
    }
}

/* r = entry number index, by reading all of them: words of the machine, whatever the form is. */
static void select_composed(size_t form_bytes, uint8_t *r, const uint8_t *table, size_t n_entries,
                            size_t index)
{
    uint64_t masks[1 << EVC_BN_WINDOW_BITS];
    size_t at = 0;

    for (size_t i = 0; i < n_entries; i++) {
        const uint32_t other = evc_mask_nonzero32((uint32_t)(i ^ index));
        masks[i] = ~evc_barrier64((uint64_t)other << 32 | other);
    }
    for (; at + 8 * SELECTED <= form_bytes; at += 8 * SELECTED)
        select_words(r + at, table + at, form_bytes, masks, n_entries, SELECTED);
    for (; at < form_bytes; at += 16)
        select_words(r + at, table + at, form_bytes, masks, n_entries, 2);
}

void evc_bn_op_select(const struct evc_bn_modulus *n, void *r, const void *table, size_t n_entries,
                      size_t index)
{
    if (n->kernel->select)
        n->kernel->select(n, r, table, n_entries, index);
    else
        select_composed(n->shape.form_bytes, r, table, n_entries, index);
}

/* The powers 0 to n_entries - 1 of the base. */
static void make_table(const struct evc_bn_modulus *n, const uint8_t *base, size_t base_bytes,
                       void *scratch, size_t n_entries)
{
    evc_copy_secret(entry(n, scratch, 0), evc_bn_one(n), n->shape.form_bytes);
    evc_bn_op_enter(n, entry(n, scratch, 1), base, base_bytes, scratch);
    for (size_t i = 2; i < n_entries; i++)
        if (i % 2 == 0)
            evc_bn_op_sqr(n, entry(n, scratch, i), entry(n, scratch, i / 2), scratch);
        else
            evc_bn_op_mul(n, entry(n, scratch, i), entry(n, scratch, i - 1), entry(n, scratch, 1),
                          scratch);
}

/* This, exp_by_sums and exp_by_bits are out of line: what they leave in their frames lies below
 * their callers, which clear it. */
EVC_OUT_OF_LINE void exp_secret(const struct evc_bn_modulus *n, const uint8_t *base,
                                size_t base_bytes, const uint8_t *exponent, size_t exponent_bytes,
                                uint8_t *out, void *scratch)
{
    const unsigned window = window_bits(8 * exponent_bytes);
    const size_t n_entries = (size_t)1 << window;
    void *const sum = evc_bn_number(n, scratch, SUM), *const factor =
                                                          evc_bn_number(n, scratch, FACTOR);
    size_t at = 0; /* of the least significant bit of a window */

    while (at + window < 8 * exponent_bytes)
        at += window;
    make_table(n, base, base_bytes, scratch, n_entries);
    evc_bn_op_select(n, sum, entry(n, scratch, 0), n_entries,
                     evc_number_bits(exponent, exponent_bytes, at, window));
    while (at) {
        at -= window;
        evc_bn_op_raise(n, sum, window, factor, entry(n, scratch, 0), n_entries,
                        evc_number_bits(exponent, exponent_bytes, at, window), scratch);
    }
    evc_bn_op_leave(n, out, sum, factor, scratch);
}

#if !defined(EVC_BN_STEPS_OF_POWERS)

static enum evc_status check_exponent(const struct evc_bn_modulus *n, const uint8_t *exponent,
                                      size_t exponent_bytes, size_t scratch_bytes)
{
    const enum evc_status status = evc_bn_check(n, scratch_bytes);

    if (status != EVC_OK)
        return status;
    if (exponent_bytes == 0 || exponent_bytes > EVC_BN_MAX_BYTES)
        return EVC_ERR_LENGTH;
    return exponent ? EVC_OK : EVC_ERR_PARAMETER;
}

static enum evc_status check(const struct evc_bn_modulus *n, const uint8_t *base,
                             const uint8_t *exponent, size_t exponent_bytes, size_t scratch_bytes)
{
    const enum evc_status status = check_exponent(n, exponent, exponent_bytes, scratch_bytes);

    return status == EVC_OK ? evc_bn_check_operands(n, base, base, scratch_bytes) : status;
}

/* base: checked. Inline, as a frame of its own would lie where operations were. */
EVC_INLINE enum evc_status one_power(const struct evc_bn_modulus *n, const uint8_t *base,
                                     size_t base_bytes, const uint8_t *exponent,
                                     size_t exponent_bytes, uint8_t *out, void *scratch)
{
    exp_secret(n, base, base_bytes, exponent, exponent_bytes, out, scratch);
    evc_bn_end(n, scratch, TABLE + ((size_t)1 << window_bits(8 * exponent_bytes)));
    return EVC_OK;
}

enum evc_status evc_bn_exp(const struct evc_bn_modulus *n, const uint8_t *base,
                           const uint8_t *exponent, size_t exponent_bytes, uint8_t *out,
                           void *scratch, size_t scratch_bytes)
{
    const enum evc_status status = check(n, base, exponent, exponent_bytes, scratch_bytes);

    return status == EVC_OK ? one_power(n, base, n->n_bytes, exponent, exponent_bytes, out, scratch)
                            : status;
}

#endif

/* ---- Secret exponents of a small base, which is public --------------------------------------- */

/* Sums that multiply a number by the base, which is 2 or more: doublings, and one for each
 * further bit that is 1. */
static unsigned n_sums(uint32_t base)
{
    unsigned n = 0;

    for (; base > 1; base >>= 1)
        n += 1 + (base & 1);
    return n;
}

/* Whether sums for each bit of an exponent take less time than products for each window of it. */
#define SUM_BITS 1024 /* of a modulus, for each sum */

static int is_by_sums(const struct evc_bn_modulus *n, uint32_t base)
{
    return base >= 2 && n_sums(base) * SUM_BITS <= 8 * n->n_bytes;
}

/* r = base x; r is not x. */
static void multiply_small(const struct evc_bn_modulus *n, void *r, const void *x, uint32_t base,
                           void *scratch)
{
    uint32_t bit = 1;

    while (base >> 1 >= bit)
        bit <<= 1;
    for (const void *sum = x; bit >>= 1; sum = r) {
        evc_bn_op_add(n, r, sum, sum, scratch);
        if (base & bit)
            evc_bn_op_add(n, r, r, x, scratch);
    }
}

/* r = the form of 2 to the exponent, which is secret, and less than 8 n_bytes. */
static void enter_power_of_two(const struct evc_bn_modulus *n, void *r, size_t exponent,
                               void *scratch)
{
    uint8_t *const bytes = evc_bn_number(n, scratch, TEMPORARY);
    uint32_t bit = 0;

    for (uint32_t i = 0; i < 8; i++)
        bit |= (uint32_t)1 << i & ~evc_barrier32(evc_mask_nonzero32(i ^ (uint32_t)(exponent % 8)));
    for (uint32_t i = 0; i < n->n_bytes; i++)
        bytes[n->n_bytes - 1 - i] =
            (uint8_t)(bit & ~evc_barrier32(evc_mask_nonzero32(i ^ (uint32_t)(exponent / 8))));
    evc_bn_op_enter(n, r, bytes, n->n_bytes, scratch);
}

/* 2^k for the first bits k of the exponent is one bit set at place k. So many bits are taken that a
 * number as long as the modulus has each place. */
static unsigned bits_of_first_power(const struct evc_bn_modulus *n, size_t exponent_bytes)
{
    unsigned n_bits = 0;

    while ((size_t)2 << n_bits <= 8 * (size_t)n->n_bytes && n_bits < 8 * exponent_bytes)
        n_bits++;
    return n_bits;
}

/* A square for each bit, and sums that multiply it by the base, one of which is taken by a mask. */
EVC_OUT_OF_LINE void exp_by_sums(const struct evc_bn_modulus *n, uint32_t base,
                                 const uint8_t *exponent, size_t exponent_bytes, uint8_t *out,
                                 void *scratch)
{
    /* a table of two */
    void *const square = evc_bn_number(n, scratch, SUM), *const multiple =
                                                             evc_bn_number(n, scratch, FACTOR);
    void *const power = evc_bn_number(n, scratch, BASE);
    const unsigned first = base == 2 ? bits_of_first_power(n, exponent_bytes) : 0;
    size_t at = 8 * exponent_bytes - first;

    if (first)
        enter_power_of_two(n, power, evc_number_bits(exponent, exponent_bytes, at, first), scratch);
    else
        evc_copy_secret(power, evc_bn_one(n), n->shape.form_bytes);
    while (at) {
        at--;
        evc_bn_op_sqr(n, square, power, scratch);
        multiply_small(n, multiple, square, base, scratch);
        evc_bn_op_select(n, power, square, 2, evc_number_bits(exponent, exponent_bytes, at, 1));
    }
    evc_bn_op_leave(n, out, power, square, scratch);
}

#if !defined(EVC_BN_STEPS_OF_POWERS)

/* Lengths: checked. Inline as one_power is. */
EVC_INLINE enum evc_status small_power(const struct evc_bn_modulus *n, uint32_t base,
                                       const uint8_t *exponent, size_t exponent_bytes, uint8_t *out,
                                       void *scratch)
{
    uint8_t bytes[4];

    if (is_by_sums(n, base)) {
        exp_by_sums(n, base, exponent, exponent_bytes, out, scratch);
        evc_bn_end(n, scratch, TABLE);
        return EVC_OK;
    }
    evc_store32_be(bytes, base);
    return one_power(n, bytes, sizeof bytes, exponent, exponent_bytes, out, scratch);
}

enum evc_status evc_bn_exp_small(const struct evc_bn_modulus *n, uint32_t base,
                                 const uint8_t *exponent, size_t exponent_bytes, uint8_t *out,
                                 void *scratch, size_t scratch_bytes)
{
    const enum evc_status status = check_exponent(n, exponent, exponent_bytes, scratch_bytes);

    return status == EVC_OK ? small_power(n, base, exponent, exponent_bytes, out, scratch) : status;
}

/* ---- Public exponents ------------------------------------------------------------------------ */

/* Squares, with a product for each bit that is 1. */
EVC_OUT_OF_LINE void exp_by_bits(const struct evc_bn_modulus *n, const uint8_t *base,
                                 const uint8_t *exponent, size_t exponent_bytes, uint8_t *out,
                                 void *scratch)
{
    void *const sum = evc_bn_number(n, scratch, SUM), *const x = evc_bn_number(n, scratch, BASE);
    size_t at = evc_number_length_bits(exponent, exponent_bytes);

    evc_bn_op_enter(n, x, base, n->n_bytes, scratch);
    evc_copy_secret(sum, at ? x : evc_bn_one(n), n->shape.form_bytes);
    for (at = at ? at - 1 : 0; at-- > 0;) {
        evc_bn_op_sqr(n, sum, sum, scratch);
        if (evc_number_bit(exponent, exponent_bytes, at))
            evc_bn_op_mul(n, sum, sum, x, scratch);
    }
    evc_bn_op_leave(n, out, sum, evc_bn_number(n, scratch, TEMPORARY), scratch);
}

enum evc_status evc_bn_exp_public(const struct evc_bn_modulus *n, const uint8_t *base,
                                  const uint8_t *exponent, size_t exponent_bytes, uint8_t *out,
                                  void *scratch, size_t scratch_bytes)
{
    const enum evc_status status = check(n, base, exponent, exponent_bytes, scratch_bytes);

    if (status != EVC_OK)
        return status;
    exp_by_bits(n, base, exponent, exponent_bytes, out, scratch);
    evc_bn_end(n, scratch, TABLE);
    return EVC_OK;
}

/* ---- Many ------------------------------------------------------------------------------------ */

size_t evc_bn_exp_many_scratch_bytes(const struct evc_bn *kernel, size_t n_bits)
{
    const size_t one = evc_bn_scratch_bytes(kernel, n_bits);
    struct evc_bn_shape shape;
    size_t many;

    if (!one || !kernel->exp_many)
        return one;
    kernel->shape(n_bits / 8, &shape);
    many = EVC_BN_SLACK + kernel->exp_many_bytes(&shape);
    return many > one ? many : one;
}

static enum evc_status check_one(const struct evc_bn_exp *e, size_t scratch_bytes)
{
    const struct evc_bn_modulus *n = e->n;

    if (!EVC_IS_SET(n))
        return evc_key_error(n);
    if (scratch_bytes < evc_bn_exp_many_scratch_bytes(n->kernel, 8 * (size_t)n->n_bytes))
        return EVC_ERR_SCRATCH;
    if (!e->base) /* 2, which is below every modulus */
        return check_exponent(n, e->exponent, e->exponent_bytes, scratch_bytes);
    return check(n, e->base, e->exponent, e->exponent_bytes, scratch_bytes);
}

/* How many from the first on can be done side by side: 1 or more. */
static size_t alike(const struct evc_bn_exp *exps, size_t n_exps)
{
    const struct evc_bn *kernel = exps[0].n->kernel;
    size_t n = 1;

    while (n < n_exps && n < kernel->lanes && exps[n].status == EVC_OK &&
           exps[n].n->kernel == kernel && exps[n].n->n_bytes == exps[0].n->n_bytes &&
           exps[n].exponent_bytes == exps[0].exponent_bytes && !exps[n].base == !exps[0].base)
        n++;
    return n;
}

enum evc_status evc_bn_exp_many(struct evc_bn_exp *exps, size_t n_exps, void *scratch,
                                size_t scratch_bytes)
{
    enum evc_status first = EVC_OK;

    if (!exps && n_exps)
        return EVC_ERR_PARAMETER;
    for (size_t i = 0; i < n_exps; i++) {
        exps[i].status = check_one(&exps[i], scratch_bytes);
        if (first == EVC_OK)
            first = exps[i].status;
    }
    for (size_t i = 0, n; i < n_exps; i += n) {
        struct evc_bn_exp *e = &exps[i];
        n = 1;
        if (e->status != EVC_OK)
            continue;
        n = alike(e, n_exps - i);
        if (n > 1) {
            e->n->kernel->exp_many(e, n, evc_bn_scratch_start(scratch));
            evc_wipe(scratch, scratch_bytes);
            evc_clear(&e->n->kernel->kernel);
        } else if (e->base) {
            e->status = one_power(e->n, e->base, e->n->n_bytes, e->exponent, e->exponent_bytes,
                                  e->out, scratch);
        } else {
            e->status = small_power(e->n, 2, e->exponent, e->exponent_bytes, e->out, scratch);
        }
    }
    return first;
}

#endif

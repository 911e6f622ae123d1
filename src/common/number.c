/* SPDX-License-Identifier: MIT */
/* The loops of common/number.h, which says what each function takes and returns. */
#include "common/number.h"

uint32_t evc_number_below(const uint8_t *a, const uint8_t *b, size_t n_bytes)
{
    uint32_t borrow = 0;

    for (size_t i = n_bytes; i-- > 0;) {
        borrow = ((uint32_t)a[i] - b[i] - borrow) >> 31;
        EVC_KEEP(borrow);
    }
    return (uint32_t)0 - borrow;
}

/* The bits that are in any byte of a number. */
static uint32_t any_bits(const uint8_t *a, size_t n_bytes)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < n_bytes; i++) {
        bits |= a[i];
        EVC_KEEP(bits);
    }
    return bits;
}

uint32_t evc_number_is(const uint8_t *a, size_t n_bytes, uint32_t value)
{
    if (!n_bytes)
        return ~evc_mask_nonzero32(value);
    return ~evc_mask_nonzero32(any_bits(a, n_bytes - 1) | (a[n_bytes - 1] ^ value));
}

uint32_t evc_number_at_most(const uint8_t *a, size_t n_bytes, uint32_t most)
{
    const uint32_t last = n_bytes ? a[n_bytes - 1] : 0;

    return ~evc_mask_nonzero32((n_bytes ? any_bits(a, n_bytes - 1) : 0) | (most - last) >> 31);
}

static uint32_t is_minus_one(const uint8_t *a, const uint8_t *n, size_t n_bytes)
{
    const uint32_t last = (uint32_t)a[n_bytes - 1] ^ n[n_bytes - 1] ^ 1;

    return evc_mask_equal(a, n, n_bytes - 1) & ~evc_mask_nonzero32(last);
}

uint32_t evc_number_is_plus_minus_one(const uint8_t *a, const uint8_t *n, size_t n_bytes)
{
    return evc_number_is(a, n_bytes, 1) | is_minus_one(a, n, n_bytes);
}

uint32_t evc_number_is_inner(const uint8_t *a, const uint8_t *n, size_t n_bytes)
{
    return evc_number_below(a, n, n_bytes) & ~evc_number_at_most(a, n_bytes, 1) &
           ~is_minus_one(a, n, n_bytes);
}

uint32_t evc_number_add(uint8_t *r, const uint8_t *a, const uint8_t *b, uint32_t mask,
                        size_t n_bytes)
{
    uint32_t carry = 0;

    EVC_KEEP(mask);
    for (size_t i = n_bytes; i-- > 0;) {
        carry += (uint32_t)a[i] + (b[i] & mask);
        r[i] = (uint8_t)carry;
        carry >>= 8;
        EVC_KEEP(carry);
    }
    return (uint32_t)0 - carry;
}

uint32_t evc_number_sub(uint8_t *r, const uint8_t *a, const uint8_t *b, uint32_t mask,
                        size_t n_bytes)
{
    uint32_t borrow = 0;

    EVC_KEEP(mask);
    for (size_t i = n_bytes; i-- > 0;) {
        const uint32_t difference = (uint32_t)a[i] - (b[i] & mask) - borrow;

        r[i] = (uint8_t)difference;
        borrow = difference >> 31;
        EVC_KEEP(borrow);
    }
    return (uint32_t)0 - borrow;
}

void evc_number_add_small(uint8_t *a, size_t n_bytes, uint32_t addend)
{
    uint32_t carry = 0;

    for (size_t i = n_bytes; i-- > 0; addend >>= 8) {
        carry += a[i] + (addend & 0xff);
        EVC_KEEP(carry);
        a[i] = (uint8_t)carry;
        carry >>= 8;
    }
}

void evc_number_halve(uint8_t *r, const uint8_t *a, size_t n_bytes)
{
    uint32_t above = 0;

    for (size_t i = 0; i < n_bytes; i++) {
        const uint32_t byte = above << 8 | a[i];

        r[i] = (uint8_t)(byte >> 1);
        above = byte & 1;
        EVC_KEEP(above);
    }
}

void evc_number_extend(uint8_t *r, size_t n_r, const uint8_t *a, size_t n_a)
{
    memset(r, 0, n_r - n_a);
    evc_copy_secret(r + (n_r - n_a), a, n_a);
}

size_t evc_number_length_bits(const uint8_t *a, size_t n_bytes)
{
    size_t n_bits = 8 * n_bytes;

    while (n_bits && !evc_number_bit(a, n_bytes, n_bits - 1))
        n_bits--;
    return n_bits;
}

uint32_t evc_number_modulo(const uint8_t *a, size_t n_bytes, uint32_t d)
{
    uint32_t rest = 0;

    for (size_t i = 0; i < n_bytes; i++)
        rest = (rest << 8 | a[i]) % d;
    return rest;
}

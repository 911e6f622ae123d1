/* SPDX-License-Identifier: MIT */
/* Numbers of digits, and their bytes, for kernels with vpmadd52: in general registers. */
#ifndef EVC_BN_IFMA_BYTES_H
#define EVC_BN_IFMA_BYTES_H

#include "bn/ifma_rows.h"

IFMA_BEGIN

/* 56 bits of the number from byte number `from` on, the least significant byte being number 0. */
static uint64_t bits_from(const uint8_t *in, size_t in_bytes, size_t from)
{
    uint64_t bits = 0;

    if (from + 8 <= in_bytes)
        return evc_load64_be(in + in_bytes - 8 - from);
    for (size_t i = from; i < in_bytes; i++)
        bits |= (uint64_t)in[in_bytes - 1 - i] << 8 * (i - from);
    return bits;
}

EVC_INLINE uint64_t digit_from(const uint8_t *in, size_t in_bytes, size_t i)
{
    return bits_from(in, in_bytes, DIGIT_BITS * i / 8) >> DIGIT_BITS * i % 8 & DIGIT_MASK;
}

/* The same of 50 bits (ifma_rows.h). */
EVC_INLINE uint64_t row_digit_from(const uint8_t *in, size_t in_bytes, size_t i)
{
    return bits_from(in, in_bytes, ROW_BITS * i / 8) >> ROW_BITS * i % 8 & ROW_MASK;
}

EVC_INLINE uint64_t word(const void *words, size_t i)
{
    return evc_load64_ne((const uint8_t *)words + 8 * i);
}

EVC_INLINE void set_word(void *words, size_t i, uint64_t value)
{
    evc_store64_ne((uint8_t *)words + 8 * i, value);
}

/* Bytes that are written from the least significant one on. */
struct writer {
    uint8_t *end; /* behind the last of n_bytes bytes */
    size_t n_bytes, written;
    uint64_t bits; /* not yet written; after the last digit, what is above the bytes */
    unsigned n_bits;
};

EVC_INLINE void write_digit(struct writer *w, uint64_t digit, unsigned digit_bits)
{
    w->bits |= digit << w->n_bits;
    for (w->n_bits += digit_bits; w->n_bits >= 8 && w->written < w->n_bytes;
         w->n_bits -= 8, w->bits >>= 8)
        *(w->end - ++w->written) = (uint8_t)w->bits;
}

/* a - b - borrow, all of it kept in general registers; borrow, 0 or 1, becomes
 * that of the difference. */
EVC_INLINE uint64_t subtract_word(uint64_t a, uint64_t b, uint64_t *borrow)
{
    const uint64_t difference = a - b - *borrow;

    *borrow = evc_barrier64(((~a & b) | (~(a ^ b) & difference)) >> 63);
    return difference;
}

/* out = out less n under the mask, where out is written; returns the borrow. */
EVC_INLINE uint64_t subtract_bytes(uint8_t *out, const uint8_t *n, size_t n_bytes, uint64_t mask,
                                   int is_written)
{
    uint64_t borrow = 0;
    size_t i = n_bytes;

    for (; i >= 8; i -= 8) {
        const uint64_t difference =
            subtract_word(evc_load64_be(out + i - 8), evc_load64_be(n + i - 8) & mask, &borrow);

        if (is_written)
            evc_store64_be(out + i - 8, difference);
    }
    while (i-- > 0) {
        const uint64_t difference = (uint64_t)out[i] - (n[i] & mask) - borrow;

        if (is_written)
            out[i] = (uint8_t)difference;
        borrow = evc_barrier64(difference >> 63);
    }
    return borrow;
}

/* out = out, with what is above its bytes, less n if that is not negative; returns
 * what is above it then. */
static uint64_t subtract_once(uint8_t *out, uint64_t above, const uint8_t *n, size_t n_bytes)
{
    const uint64_t is_below = subtract_bytes(out, n, n_bytes, ~(uint64_t)0, 0);
    /* keep: it is below n */
    const uint64_t keep = evc_barrier64(is_below & ~(uint64_t)evc_mask_nonzero32((uint32_t)above));

    return above - subtract_bytes(out, n, n_bytes, keep - 1, 1);
}

/* Sum of the products of digits of m, from the first on, and of n, from number
 * i downwards, so many. */
EVC_INLINE wide products(const uint64_t *m, const void *n, size_t i, size_t count)
{
    wide sum = 0;

    for (size_t j = 0; j < count; j++)
        sum += (wide)m[j] * word(n, i - j);
    return sum;
}

EVC_ISA_END

#endif

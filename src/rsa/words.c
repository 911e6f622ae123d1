/* SPDX-License-Identifier: MIT */
#include "rsa/words.h"

/* EVC_KEEP in the loops: vector registers would keep words of secrets. */

void evc_words_load(uint32_t *w, size_t n_words, const uint8_t *bytes, size_t n_bytes)
{
    for (size_t i = 0; i < n_words; i++)
        w[i] = (uint32_t)evc_number_word(bytes, n_bytes, 4, i);
}

void evc_words_store(uint8_t *bytes, size_t n_bytes, const uint32_t *w)
{
    for (size_t i = 0; i < n_bytes; i++) {
        uint32_t byte = w[i / 4] >> 8 * (i % 4) & 0xff;

        EVC_KEEP(byte);
        bytes[n_bytes - 1 - i] = (uint8_t)byte;
    }
}

uint32_t evc_words_sub(uint32_t *r, const uint32_t *a, const uint32_t *b, size_t n_words)
{
    uint64_t borrow = 0;

    for (size_t i = 0; i < n_words; i++) {
        const uint64_t difference = (uint64_t)a[i] - b[i] - borrow;

        r[i] = (uint32_t)difference;
        borrow = difference >> 63;
        EVC_KEEP(borrow);
    }
    return (uint32_t)0 - (uint32_t)borrow;
}

/* r += a & mask; returns the carry. */
static uint32_t add_masked(uint32_t *r, const uint32_t *a, size_t n_words, uint32_t mask)
{
    uint64_t carry = 0;

    for (size_t i = 0; i < n_words; i++) {
        carry += (uint64_t)r[i] + (a[i] & mask);
        EVC_KEEP(carry);
        r[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return (uint32_t)carry;
}

void evc_words_add_small(uint32_t *a, size_t n_words, uint32_t addend)
{
    uint64_t carry = addend;

    for (size_t i = 0; i < n_words; i++) {
        carry += a[i];
        EVC_KEEP(carry);
        a[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

void evc_words_add(uint32_t *r, size_t n_r, const uint32_t *a, size_t n_a)
{
    evc_words_add_small(r + n_a, n_r - n_a, add_masked(r, a, n_a, UINT32_MAX));
}

uint32_t evc_words_equal(const uint32_t *a, const uint32_t *b, size_t n_words)
{
    uint32_t differ = 0;

    for (size_t i = 0; i < n_words; i++)
        differ = evc_barrier32(differ | (a[i] ^ b[i]));
    return ~evc_mask_nonzero32(differ);
}

void evc_words_choose(uint32_t *r, uint32_t mask, const uint32_t *a, const uint32_t *b,
                      size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        r[i] = evc_choose32(mask, a[i], b[i]);
}

/* r = 2 r + bit; returns the bit that leaves at the top. */
static uint32_t shift_in(uint32_t *r, size_t n_words, uint32_t bit)
{
    for (size_t i = 0; i < n_words; i++) {
        const uint32_t word = r[i];

        r[i] = word << 1 | bit;
        bit = word >> 31;
        EVC_KEEP(bit);
    }
    return bit;
}

void evc_words_halve(uint32_t *r, const uint32_t *a, size_t n_words)
{
    uint32_t above = 0;

    for (size_t i = n_words; i-- > 0;) {
        const uint32_t word = a[i];

        r[i] = word >> 1 | above << 31;
        above = word & 1;
        EVC_KEEP(above);
    }
}

/* EVC_KEEP, as GCC 14 for Arm takes such a product and a sum of 64 bits for one
 * instruction, and forgets a mask. */
static uint32_t product16(uint32_t a, uint32_t b)
{
    uint32_t p = (a & 0xffff) * (b & 0xffff);

    EVC_KEEP(p);
    return p;
}

static uint64_t product(uint32_t a, uint32_t b)
{
    const uint64_t middle = (uint64_t)product16(a >> 16, b) + product16(a, b >> 16);

    return ((uint64_t)product16(a >> 16, b >> 16) << 32 | product16(a, b)) + (middle << 16);
}

static void mul_by_products(uint32_t *r, const uint32_t *a, size_t n_a, const uint32_t *b,
                            size_t n_b)
{
    for (size_t i = 0; i < n_b; i++) {
        uint64_t carry = 0;

        for (size_t j = 0; j < n_a; j++) {
            /* at most 2^32 - 1 + (2^32 - 1)^2 + 2^32 - 1 < 2^64 */
            carry += product(a[j], b[i]) + r[i + j];
            EVC_KEEP(carry);
            r[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        r[i + n_a] = (uint32_t)carry;
    }
}

void evc_words_mul(uint32_t *r, const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b,
                   int multiplies)
{
    memset(r, 0, 4 * (n_a + n_b));
    if (multiplies) {
        mul_by_products(r, a, n_a, b, n_b);
        return;
    }
    for (size_t i = 32 * n_b; i-- > 0;) {
        const uint32_t mask = (uint32_t)0 - (b[i / 32] >> i % 32 & 1);

        (void)shift_in(r, n_a + n_b, 0);
        evc_words_add_small(r + n_a, n_b, add_masked(r, a, n_a, evc_barrier32(mask)));
    }
}

void evc_words_divide(uint32_t *quotient, uint32_t *remainder, const uint32_t *a, size_t n_a,
                      const uint32_t *m, size_t n_m, uint32_t *room)
{
    memset(remainder, 0, 4 * n_m);
    for (size_t i = 32 * n_a; i-- > 0;) {
        const uint32_t bit = a[i / 32] >> i % 32 & 1, above = shift_in(remainder, n_m, bit);
        const uint32_t fits = ((uint32_t)0 - above) | ~evc_words_sub(room, remainder, m, n_m);

        evc_words_choose(remainder, fits, room, remainder, n_m);
        if (quotient) /* the bit of a is known already, where quotient is a */
            quotient[i / 32] = (quotient[i / 32] & ~((uint32_t)1 << i % 32)) | (fits & 1) << i % 32;
    }
}

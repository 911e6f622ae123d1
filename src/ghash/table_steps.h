/* SPDX-License-Identifier: MIT */
/* Steps of the kernels with tables of multiples of H. */
#ifndef EVC_GHASH_TABLE_STEPS_H
#define EVC_GHASH_TABLE_STEPS_H

#include "common/bytes.h"
#include "common/ct.h"

/* hi holds bits 0 to 63 of the standard (the leftmost in its top bit), lo bits 64 to 127. */
struct evc_ghash_element {
    uint64_t hi, lo;
};

/* The n bits that fall out to the right when an element moves by n, as 16 bits to
 * be added at its left end:
 * bit i of b counts R = 11100001 || 0^120, moved right by n - 1 - i (SP 800-38D section 6.3). */
#define EVC_GHASH_BIT(b, i, n) (((b) >> (i) & 1) * (0xe100u >> ((n) - 1 - (i))))
#define EVC_GHASH_BACK(b, n)                                                    \
    (EVC_GHASH_BIT(b, 0, n) ^ EVC_GHASH_BIT(b, 1, n) ^ EVC_GHASH_BIT(b, 2, n) ^ \
     EVC_GHASH_BIT(b, 3, n))

/* m[i], i below n (a power of two): the multiple of h by i, whose highest bit is
 * the coefficient of x^0. */
EVC_INLINE void evc_ghash_multiples(struct evc_ghash_element *m, unsigned n, const uint8_t h[16])
{
    m[0].hi = m[0].lo = 0;
    m[n / 2].hi = evc_load64_be(h);
    m[n / 2].lo = evc_load64_be(h + 8);
    for (unsigned i = n / 4; i; i /= 2) { /* times x */
        const uint64_t out = m[2 * i].lo & 1;
        m[i].lo = (m[2 * i].hi << 63) | (m[2 * i].lo >> 1);
        m[i].hi = (m[2 * i].hi >> 1) ^ (out * UINT64_C(0xe100000000000000));
    }
    for (unsigned i = 2; i < n; i *= 2)
        for (unsigned j = 1; j < i; j++) {
            m[i + j].hi = m[i].hi ^ m[j].hi;
            m[i + j].lo = m[i].lo ^ m[j].lo;
        }
}

/*
 * hi:lo times x^n, plus the multiple m; n at most 8. out: the n bits that fall out, the lowest of
 * lo; back[out] is what they add to the upper 16 bits. over: the lowest bits of hi, where they come
 * to in lo. Both are made for the next step from what back and over do not reach: so no look-up
 * waits for another one, and the chain from step to step is a few shifts and additions.
 */
EVC_INLINE void evc_ghash_step(uint64_t *hi, uint64_t *lo, uint64_t *over, unsigned *out, int n,
                               const struct evc_ghash_element *m, const uint16_t *back)
{
    const uint64_t high = evc_scalar64((*hi >> n) ^ m->hi), low = evc_scalar64((*lo >> n) ^ m->lo);

    *hi = high ^ ((uint64_t)back[*out] << 48);
    *lo = low ^ *over;
    *over = high << (64 - n);
    *out = (unsigned)low & ((1u << n) - 1);
}

#endif

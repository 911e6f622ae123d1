/* SPDX-License-Identifier: MIT */
/* Products, squares and reductions by the blocks of eight words of hppa_xmpyu_asm.S. Words of 32 bits, the least
 * significant first. */
#ifndef EVC_BN_HPPA_BLOCKS_H
#define EVC_BN_HPPA_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* t[0 ... n + 7] += a[0 ... n - 1] * b[0 ... 7], for n a multiple of 8 and not 0; t[n + 8 ... n + 15] = 0. Returns the
 * carry. */
uint32_t evc_bn_hppa_xmpyu_multiply_8(uint32_t *t, const uint32_t *a, size_t n_words, const uint32_t *b);

/* The same, where t was 0. */
uint32_t evc_bn_hppa_xmpyu_set_8(uint32_t *t, const uint32_t *a, size_t n_words, const uint32_t *b);

/* t += q * n, where t has 2 * n_words words, and q is such that the lower half of t becomes 0. That half is not
 * written. n_words: a multiple of 8, not 0. n0: -1 / n modulo B. Returns the carry. */
uint32_t evc_bn_hppa_xmpyu_reduce(uint32_t *t, const uint32_t *n, size_t n_words, uint32_t n0);

/* r = the upper half of t and the carry above it, less n if that is not negative; t = 0. */
void evc_bn_hppa_xmpyu_finish(uint32_t *r, uint32_t *t, const uint32_t *n, size_t n_words, uint32_t carry);

/* t[2i ... 2i + 15] += the products of two different words of a[i ... i + 7], each once, for each multiple i of 8 below
 * n_words, which is one, too, and not 0. */
void evc_bn_hppa_xmpyu_cross(uint32_t *t, const uint32_t *a, size_t n_words);

/* t[0 ... 2n - 1] = 2t + the squares of a[0 ... n - 1], each at its place; n is a multiple of 4, not 0. */
void evc_bn_hppa_xmpyu_add_squares(uint32_t *t, const uint32_t *a, size_t n_words);

/* t = a * b: 2 * n_words words, and 8 words above them become 0. */
static void product(uint32_t *t, const uint32_t *a, const uint32_t *b, size_t n_words)
{
    evc_bn_hppa_xmpyu_set_8(t, a, n_words, b);
    for (size_t i = 8; i < n_words; i += 8)
        evc_bn_hppa_xmpyu_multiply_8(t + i, a, n_words, b + i);
}

/* t = a squared: products of different words, doubled, and the squares of words. */
static void square(uint32_t *t, const uint32_t *a, size_t n_words)
{
    for (size_t i = 0; i < 8; i++)
        t[i] = 0;
    if (n_words > 8)
        evc_bn_hppa_xmpyu_set_8(t + 8, a + 8, n_words - 8, a);
    else
        for (size_t i = 8; i < 16; i++)
            t[i] = 0;
    for (size_t i = 8; i + 8 < n_words; i += 8)
        evc_bn_hppa_xmpyu_multiply_8(t + 2 * i + 8, a + i + 8, n_words - i - 8, a + i);
    evc_bn_hppa_xmpyu_cross(t, a, n_words);
    evc_bn_hppa_xmpyu_add_squares(t, a, n_words);
}

/* r = t / R modulo n; t = 0. */
static void reduce(uint32_t *r, uint32_t *t, const uint32_t *n, uint32_t n0, size_t n_words)
{
    evc_bn_hppa_xmpyu_finish(r, t, n, n_words, evc_bn_hppa_xmpyu_reduce(t, n, n_words, n0));
}

#endif

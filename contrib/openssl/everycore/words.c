/* SPDX-License-Identifier: MIT */
/* OpenSSL's primitives on words, by those of everycore. */
#define EVC_OPENSSL_UNIT words
#include "kernel.h"

#undef bn_mul_add_words
#undef bn_mul_words
#undef bn_sqr_words
#undef bn_div_words
#undef bn_add_words
#undef bn_sub_words
#undef bn_mul_comba4
#undef bn_mul_comba8
#undef bn_sqr_comba4
#undef bn_sqr_comba8

#if !defined(EVC_OPENSSL_TREE)
BN_ULONG bn_mul_add_words(BN_ULONG *r, const BN_ULONG *a, int n_words, BN_ULONG w);
BN_ULONG bn_mul_words(BN_ULONG *r, const BN_ULONG *a, int n_words, BN_ULONG w);
void bn_sqr_words(BN_ULONG *r, const BN_ULONG *a, int n_words);
BN_ULONG bn_div_words(BN_ULONG high, BN_ULONG low, BN_ULONG d);
BN_ULONG bn_add_words(BN_ULONG *r, const BN_ULONG *a, const BN_ULONG *b, int n_words);
BN_ULONG bn_sub_words(BN_ULONG *r, const BN_ULONG *a, const BN_ULONG *b, int n_words);
void bn_mul_comba4(BN_ULONG *r, BN_ULONG *a, BN_ULONG *b);
void bn_mul_comba8(BN_ULONG *r, BN_ULONG *a, BN_ULONG *b);
void bn_sqr_comba4(BN_ULONG *r, const BN_ULONG *a);
void bn_sqr_comba8(BN_ULONG *r, const BN_ULONG *a);
#endif

/* OpenSSL counts words by int; a negative number of them means none. */
#define COUNT(n_words) ((n_words) < 0 ? 0 : (size_t)(n_words))

BN_ULONG bn_mul_add_words(BN_ULONG *r, const BN_ULONG *a, int n_words, BN_ULONG w)
{
    return mul_add_words(r, a, COUNT(n_words), w);
}

BN_ULONG bn_mul_words(BN_ULONG *r, const BN_ULONG *a, int n_words, BN_ULONG w)
{
    return mul_words(r, a, COUNT(n_words), w);
}

void bn_sqr_words(BN_ULONG *r, const BN_ULONG *a, int n_words)
{
    sqr_words(r, a, COUNT(n_words));
}

BN_ULONG bn_div_words(BN_ULONG high, BN_ULONG low, BN_ULONG d)
{
    return div_words(high, low, d);
}

BN_ULONG bn_add_words(BN_ULONG *r, const BN_ULONG *a, const BN_ULONG *b, int n_words)
{
    return add_words(r, a, b, COUNT(n_words));
}

BN_ULONG bn_sub_words(BN_ULONG *r, const BN_ULONG *a, const BN_ULONG *b, int n_words)
{
    return sub_words(r, a, b, COUNT(n_words));
}

void bn_mul_comba4(BN_ULONG *r, BN_ULONG *a, BN_ULONG *b)
{
    mul_comba4(r, a, b);
}

void bn_mul_comba8(BN_ULONG *r, BN_ULONG *a, BN_ULONG *b)
{
    mul_comba8(r, a, b);
}

void bn_sqr_comba4(BN_ULONG *r, const BN_ULONG *a)
{
    sqr_comba4(r, a);
}

void bn_sqr_comba8(BN_ULONG *r, const BN_ULONG *a)
{
    sqr_comba8(r, a);
}

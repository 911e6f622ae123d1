/* SPDX-License-Identifier: MIT */
/* OpenSSL's remainder by a word, without a division. */
#define EVC_OPENSSL_UNIT mod_word
#include "kernel.h"

/* Functions of the library that are not used here, but global. */
#define evc_bn_divisor_set EVC_OPENSSL_NAME(divisor_set)
#define evc_bn_mod_word EVC_OPENSSL_NAME(mod_word)
#define evc_bn_trial_groups EVC_OPENSSL_NAME(trial_groups)
#define evc_bn_trial_set EVC_OPENSSL_NAME(trial_set)
#define evc_bn_trial_mod EVC_OPENSSL_NAME(trial_mod)
#define evc_wipe OPENSSL_cleanse
#include "bn_words/bn_words.c"

#undef BN_mod_word

#if !defined(EVC_OPENSSL_TREE)
BN_ULONG BN_mod_word(const BIGNUM *a, BN_ULONG w);
#endif

BN_ULONG BN_mod_word(const BIGNUM *a, BN_ULONG w)
{
    struct evc_bn_divisor divisor;
    BN_ULONG rest;

    if (w == 0)
        return (BN_ULONG)-1;
    prepare(&divisor, w);
    rest = mod_words(a->d, a->top < 0 ? 0 : (size_t)a->top, &divisor);
    OPENSSL_cleanse(&divisor, sizeof divisor); /* w may be a secret */
    return rest;
}

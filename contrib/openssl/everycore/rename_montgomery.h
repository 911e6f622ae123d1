/* SPDX-License-Identifier: MIT */
/* In a source tree: OpenSSL's own functions of bn_mont.c get other names, where it has
 * no assembly for them. */
#define EVC_OPENSSL_TREE 1

#if !defined(OPENSSL_BN_ASM_MONT)
#define bn_mul_mont_fixed_top evc_openssl_bn_mul_mont_fixed_top
#define bn_to_mont_fixed_top evc_openssl_bn_to_mont_fixed_top
#define BN_mod_mul_montgomery evc_openssl_BN_mod_mul_montgomery
int bn_mul_mont_fixed_top(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, BN_MONT_CTX *mont,
                          BN_CTX *ctx);
#endif

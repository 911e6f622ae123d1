/* SPDX-License-Identifier: MIT */
/* In a source tree: OpenSSL's own functions of bn_exp.c get other names, where it has no
 * assembly for products. */
#define EVC_OPENSSL_TREE 1

#if !defined(OPENSSL_BN_ASM_MONT)
#define BN_mod_exp_mont evc_openssl_BN_mod_exp_mont
#define BN_mod_exp_mont_consttime evc_openssl_BN_mod_exp_mont_consttime
#define BN_mod_exp_mont_consttime_x2 evc_openssl_BN_mod_exp_mont_consttime_x2
int BN_mod_exp_mont(BIGNUM *rr, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m, BN_CTX *ctx,
                    BN_MONT_CTX *in_mont);
int BN_mod_exp_mont_consttime(BIGNUM *rr, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m,
                              BN_CTX *ctx, BN_MONT_CTX *in_mont);
int BN_mod_exp_mont_consttime_x2(BIGNUM *rr1, const BIGNUM *a1, const BIGNUM *p1, const BIGNUM *m1,
                                 BN_MONT_CTX *in_mont1, BIGNUM *rr2, const BIGNUM *a2,
                                 const BIGNUM *p2, const BIGNUM *m2, BN_MONT_CTX *in_mont2,
                                 BN_CTX *ctx);
#endif

/* SPDX-License-Identifier: MIT */
/* In a source tree: OpenSSL's own functions of bn_asm.c get other names. Included again where that
 * file takes some of these macros back. */
#define EVC_OPENSSL_TREE 1

#define bn_mul_add_words evc_openssl_bn_mul_add_words
#define bn_mul_words evc_openssl_bn_mul_words
#define bn_sqr_words evc_openssl_bn_sqr_words
#define bn_div_words evc_openssl_bn_div_words
#define bn_add_words evc_openssl_bn_add_words
#define bn_sub_words evc_openssl_bn_sub_words
#define bn_mul_comba4 evc_openssl_bn_mul_comba4
#define bn_mul_comba8 evc_openssl_bn_mul_comba8
#define bn_sqr_comba4 evc_openssl_bn_sqr_comba4
#define bn_sqr_comba8 evc_openssl_bn_sqr_comba8

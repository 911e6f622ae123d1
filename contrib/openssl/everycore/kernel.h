/* SPDX-License-Identifier: MIT */
/*
 * The word primitives for the target of the compiler. Its kernel is included as it stands, so that
 * calls of its functions are direct. OpenSSL's own code multiplies, whatever the CPU; so the
 * feature ct-mul is not asked for.
 */
#ifndef EVC_OPENSSL_KERNEL_H
#define EVC_OPENSSL_KERNEL_H

#include "openssl.h"

#define evc_bn_words_hppa_xmpyu EVC_OPENSSL_NAME(hppa_xmpyu)
#define evc_bn_words_a32_umaal EVC_OPENSSL_NAME(a32_umaal)
#define evc_bn_words_c_words64 EVC_OPENSSL_NAME(c_words64)
#define evc_bn_words_c_words32 EVC_OPENSSL_NAME(c_words32)

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* each file uses some */
#endif

#if EVC_OPENSSL_XMPYU
#include "bn_words/hppa_xmpyu.c"
#elif EVC_OPENSSL_UMAAL
#include "bn_words/a32_umaal.c"
#elif EVC_BN_WORD64
#include "bn_words/c_words64.c"
#else
#include "bn_words/c_words32.c"
#endif

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif

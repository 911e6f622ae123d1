/* SPDX-License-Identifier: MIT */
/*
 * Names and types of OpenSSL that the files beside this use.
 *
 * In a source tree, patch-openssl includes these files at the end of files of OpenSSL, whose
 * headers then declare all of this. For a finished library, patch-openssl compiles them alone. Then
 * the declarations below serve. It compares the layout of numbers with one that the library
 * contains; montgomery.c checks each modulus before it uses it.
 *
 * OpenSSL's own functions that are replaced keep their code under names that
 * begin with evc_openssl_.
 */
#ifndef EVC_OPENSSL_OPENSSL_H
#define EVC_OPENSSL_OPENSSL_H

#if defined(EVC_OPENSSL_TREE)
#define EVC_BN_WORD_BITS BN_BITS2
/* Macros of bn_local.h with names that the library uses for functions. */
#undef mul
#undef mul_add
#undef sqr
#endif

#include "everycore/isa.h"

#include <stddef.h>
#include <stdint.h>

/* The assembly for this target is chosen when it is compiled, as OpenSSL's own is. */
#if EVC_HPPA && EVC_BN_WORD32 && (defined(_PA_RISC1_1) || defined(_PA_RISC2_0))
#define EVC_OPENSSL_XMPYU 1
#else
#define EVC_OPENSSL_XMPYU 0
#endif
#if EVC_A32 && EVC_BN_WORD32 && defined(__ARM_ARCH) && __ARM_ARCH >= 6 && \
    (!defined(__thumb__) || defined(__thumb2__)) &&                       \
    !(defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M')
#define EVC_OPENSSL_UMAAL 1
#else
#define EVC_OPENSSL_UMAAL 0
#endif

/* Descriptors of kernels are global. Each file that includes a kernel gives its
 * descriptor a name of its own. */
#define EVC_OPENSSL_NAME(name) EVC_CAT(evc_openssl_, EVC_CAT(EVC_OPENSSL_UNIT, _##name))

void OPENSSL_cleanse(void *p, size_t n_bytes);

/* Descriptors refer to the functions that clear what a kernel leaves behind; of these, too, each
 * file has its own. */
#define evc_clear_none EVC_OPENSSL_NAME(clear_none)
#define evc_clear_registers_none EVC_OPENSSL_NAME(clear_registers_none)
#define evc_clear_stack_none EVC_OPENSSL_NAME(clear_stack_none)
#define evc_clear_xmm EVC_OPENSSL_NAME(clear_xmm)
#define evc_clear_registers_xmm EVC_OPENSSL_NAME(clear_registers_xmm)
#define evc_clear_stack_xmm EVC_OPENSSL_NAME(clear_stack_xmm)
#define evc_clear_ymm EVC_OPENSSL_NAME(clear_ymm)
#define evc_clear_registers_ymm EVC_OPENSSL_NAME(clear_registers_ymm)
#define evc_clear_stack_ymm EVC_OPENSSL_NAME(clear_stack_ymm)
#define evc_clear_zmm EVC_OPENSSL_NAME(clear_zmm)
#define evc_clear_registers_zmm EVC_OPENSSL_NAME(clear_registers_zmm)
#define evc_clear_stack_zmm EVC_OPENSSL_NAME(clear_stack_zmm)
#define evc_clear_neon EVC_OPENSSL_NAME(clear_neon)
#define evc_clear_registers_neon EVC_OPENSSL_NAME(clear_registers_neon)
#define evc_clear_stack_neon EVC_OPENSSL_NAME(clear_stack_neon)
#define evc_clear_vfp EVC_OPENSSL_NAME(clear_vfp)
#define evc_clear_registers_vfp EVC_OPENSSL_NAME(clear_registers_vfp)
#define evc_clear_stack_vfp EVC_OPENSSL_NAME(clear_stack_vfp)
#define evc_clear_hppa_fp EVC_OPENSSL_NAME(clear_hppa_fp)
#define evc_clear_registers_hppa_fp EVC_OPENSSL_NAME(clear_registers_hppa_fp)
#include "common/clear.c"

#if !defined(EVC_OPENSSL_TREE)
#if EVC_BN_WORD64
typedef uint64_t BN_ULONG;
#else
typedef uint32_t BN_ULONG;
#endif

/* A number: `top` words in use of `dmax`, the least significant first. */
typedef struct {
    BN_ULONG *d;
    int top, dmax, neg, flags;
} BIGNUM;

/* `top` says how many words are in use, and the highest of them may be zero. */
#define BN_FLG_FIXED_TOP 0x10000

/* A modulus n: R = 2^ri, RR = R^2 modulo N, n0 = the low two words of -1 / N modulo R. Before
 * OpenSSL 4.0 the member ri is the first; patch-openssl reads the version from the library. */
#if !defined(EVC_OPENSSL_MAJOR)
#error "EVC_OPENSSL_MAJOR is to say which version of OpenSSL the library has"
#endif
typedef struct {
#if EVC_OPENSSL_MAJOR < 4
    int ri;
#endif
    BIGNUM RR, N, Ni;
    BN_ULONG n0[2];
#if EVC_OPENSSL_MAJOR >= 4
    int ri;
#endif
    int flags;
} BN_MONT_CTX;

typedef struct bignum_ctx BN_CTX;

BIGNUM *bn_wexpand(BIGNUM *a, int n_words);
void bn_correct_top(BIGNUM *a);
#endif

#endif

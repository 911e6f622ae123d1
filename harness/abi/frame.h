/* SPDX-License-Identifier: MIT */
/*
 * Registers before and after a call, and their offsets for assembly, as abi.c and the
 * trampolines share them. Every value has 8 bytes, also where registers are smaller: then
 * the first of them count.
 */
#ifndef HARNESS_ABI_FRAME_H
#define HARNESS_ABI_FRAME_H

#if defined(__x86_64__) && !defined(_WIN32)
#define ABI_X86_64_SYSV 1
#elif defined(__x86_64__)
#define ABI_X86_64_WINDOWS 1
#elif defined(__i386__) && !defined(_WIN32)
#define ABI_I386 1
#elif defined(__aarch64__) && !defined(__APPLE__) && !defined(_WIN32)
#define ABI_A64 1
#elif defined(__arm__) && defined(__ARM_EABI__) && !defined(__ARMEB__) && defined(__ARM_FP)
#define ABI_A32 1
#elif defined(__riscv)
#define ABI_RISCV 1
#if defined(__riscv_flen) && __riscv_flen >= 64
#define ABI_RISCV_FLOAT 1
#endif
#elif defined(__powerpc64__) && defined(__LP64__) && defined(__ELF__) && !defined(_SOFT_FLOAT)
#define ABI_PPC64 1
#elif defined(__s390x__) && defined(__ELF__) && !defined(__SOFTFP__)
#define ABI_S390X 1
#elif defined(__hppa__) && !defined(__LP64__) && defined(__ELF__)
#define ABI_HPPA 1
#endif

#define ABI_INTEGERS 19 /* at most so many */
#define ABI_VECTORS 42  /* values of 8 bytes */

/* Bytes from the beginning of abi_frame. */
#define ABI_INTEGERS_BEFORE 0
#define ABI_INTEGERS_AFTER 152
#define ABI_VECTORS_BEFORE 304 /* a multiple of 16 */
#define ABI_VECTORS_AFTER 640  /* another */
#define ABI_STACK_BEFORE 976   /* the stack pointer at the call */
#define ABI_STACK_AFTER 984
#define ABI_STACK_OWN 992   /* that of the trampoline, which returns even if
                             * the function moved it */
#define ABI_FLAGS 1000      /* of x86, after the call */
#define ABI_HAS_ALTIVEC 1008 /* of POWER: not 0 if there are vector registers */

#endif

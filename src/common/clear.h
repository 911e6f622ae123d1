/* SPDX-License-Identifier: MIT */
/*
 * The end of every public call: it clears, once, what the kernel's operations left in vector
 * registers and on the stack. How much that is, a kernel's descriptor says: `registers` and
 * `stack_bytes`. The properties "..._leave_nothing_behind" of the harness tell how deep operations
 * reach; clear.c has the loop of each architecture.
 */
#ifndef EVC_COMMON_CLEAR_H
#define EVC_COMMON_CLEAR_H

#include "everycore/kernel.h"

#include "common/bytes.h"

/* Words of EVC_KERNEL_HEAD for the registers. BASELINE: those that a compiler may use for portable
 * code in this build. */
#if EVC_X86_64 && EVC_GNU_C && defined(__AVX512VL__)
#define EVC_REGISTERS_BASELINE EVC_REGISTERS_ZMM
#define EVC_CLEAR_BASELINE evc_clear_zmm
#define EVC_CLEAR_REGISTERS_BASELINE evc_clear_registers_zmm
#define EVC_CLEAR_STACK_BASELINE evc_clear_stack_zmm
#elif EVC_X86 && defined(__SSE2__)
#define EVC_REGISTERS_BASELINE EVC_REGISTERS_XMM
#define EVC_CLEAR_BASELINE evc_clear_xmm
#define EVC_CLEAR_REGISTERS_BASELINE evc_clear_registers_xmm
#define EVC_CLEAR_STACK_BASELINE evc_clear_stack_xmm
#elif (EVC_A64 || EVC_A32) && defined(__ARM_NEON)
#define EVC_REGISTERS_BASELINE EVC_REGISTERS_NEON
#define EVC_CLEAR_BASELINE evc_clear_neon
#define EVC_CLEAR_REGISTERS_BASELINE evc_clear_registers_neon
#define EVC_CLEAR_STACK_BASELINE evc_clear_stack_neon
#elif EVC_A32 && defined(__ARM_FP) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A'
#define EVC_REGISTERS_BASELINE EVC_REGISTERS_VFP
#define EVC_CLEAR_BASELINE evc_clear_vfp
#define EVC_CLEAR_REGISTERS_BASELINE evc_clear_registers_vfp
#define EVC_CLEAR_STACK_BASELINE evc_clear_stack_vfp
#elif EVC_PPC64_SIMD && defined(__VSX__)
#define EVC_REGISTERS_BASELINE EVC_REGISTERS_VSX
#define EVC_CLEAR_BASELINE evc_clear_vsx
#define EVC_CLEAR_REGISTERS_BASELINE evc_clear_registers_vsx
#define EVC_CLEAR_STACK_BASELINE evc_clear_stack_vsx
#elif EVC_RV64 && defined(__riscv_vector)
#define EVC_REGISTERS_BASELINE EVC_REGISTERS_V
#define EVC_CLEAR_BASELINE evc_clear_v
#define EVC_CLEAR_REGISTERS_BASELINE evc_clear_registers_v
#define EVC_CLEAR_STACK_BASELINE evc_clear_stack_v
#elif EVC_PPC64_SIMD && defined(__ALTIVEC__)
#define EVC_REGISTERS_BASELINE EVC_REGISTERS_ALTIVEC
#define EVC_CLEAR_BASELINE evc_clear_altivec
#define EVC_CLEAR_REGISTERS_BASELINE evc_clear_registers_altivec
#define EVC_CLEAR_STACK_BASELINE evc_clear_stack_altivec
#elif EVC_S390X && defined(__VX__)
#define EVC_REGISTERS_BASELINE EVC_REGISTERS_VX
#define EVC_CLEAR_BASELINE evc_clear_vx
#define EVC_CLEAR_REGISTERS_BASELINE evc_clear_registers_vx
#define EVC_CLEAR_STACK_BASELINE evc_clear_stack_vx
#elif defined(__hppa__) && !defined(__LP64__)
#define EVC_REGISTERS_BASELINE EVC_REGISTERS_HPPA_FP
#define EVC_CLEAR_BASELINE evc_clear_hppa_fp
#define EVC_CLEAR_REGISTERS_BASELINE evc_clear_registers_hppa_fp
#define EVC_CLEAR_STACK_BASELINE evc_clear_stack_none
#else
#define EVC_REGISTERS_BASELINE EVC_REGISTERS_NONE
#define EVC_CLEAR_BASELINE evc_clear_none
#define EVC_CLEAR_REGISTERS_BASELINE evc_clear_registers_none
#define EVC_CLEAR_STACK_BASELINE evc_clear_stack_none
#endif
/* Flags of the build that allow vectors let compilers use their registers in all kernels. */
#if EVC_RV64 && defined(__riscv_vector)
#define EVC_CLEAR_NONE evc_clear_v
#define EVC_CLEAR_REGISTERS_NONE evc_clear_registers_v
#elif EVC_S390X && defined(__VX__)
#define EVC_CLEAR_NONE evc_clear_vx
#define EVC_CLEAR_REGISTERS_NONE evc_clear_registers_vx
#else
#define EVC_CLEAR_NONE evc_clear_none
#define EVC_CLEAR_REGISTERS_NONE evc_clear_registers_none
#endif
/* Flags of the build that allow AVX-512, as -march=native may, let compilers use registers 16 to 31
 * in all kernels. */
#if EVC_X86_64 && EVC_GNU_C && defined(__AVX512VL__)
#define EVC_CLEAR_XMM evc_clear_zmm
#define EVC_CLEAR_REGISTERS_XMM evc_clear_registers_zmm
#define EVC_CLEAR_YMM evc_clear_zmm
#define EVC_CLEAR_REGISTERS_YMM evc_clear_registers_zmm
#else
#define EVC_CLEAR_XMM evc_clear_xmm
#define EVC_CLEAR_REGISTERS_XMM evc_clear_registers_xmm
#define EVC_CLEAR_YMM evc_clear_ymm
#define EVC_CLEAR_REGISTERS_YMM evc_clear_registers_ymm
#endif
/* Flags of the build that allow VSX let compilers use its registers in all kernels. */
#if EVC_PPC64_SIMD && defined(__VSX__)
#define EVC_CLEAR_ALTIVEC evc_clear_vsx
#define EVC_CLEAR_REGISTERS_ALTIVEC evc_clear_registers_vsx
#else
#define EVC_CLEAR_ALTIVEC evc_clear_altivec
#define EVC_CLEAR_REGISTERS_ALTIVEC evc_clear_registers_altivec
#endif
#define EVC_CLEAR_ZMM evc_clear_zmm
#define EVC_CLEAR_REGISTERS_ZMM evc_clear_registers_zmm
#define EVC_CLEAR_NEON evc_clear_neon
#define EVC_CLEAR_REGISTERS_NEON evc_clear_registers_neon
#define EVC_CLEAR_VSX evc_clear_vsx
#define EVC_CLEAR_REGISTERS_VSX evc_clear_registers_vsx
#define EVC_CLEAR_V evc_clear_v
#define EVC_CLEAR_VX evc_clear_vx
#define EVC_CLEAR_REGISTERS_V evc_clear_registers_v
#define EVC_CLEAR_REGISTERS_VX evc_clear_registers_vx
#define EVC_CLEAR_STACK_NONE evc_clear_stack_none
#define EVC_CLEAR_STACK_XMM evc_clear_stack_xmm
#define EVC_CLEAR_STACK_YMM evc_clear_stack_ymm
#define EVC_CLEAR_STACK_ZMM evc_clear_stack_zmm
#define EVC_CLEAR_STACK_NEON evc_clear_stack_neon
#define EVC_CLEAR_STACK_ALTIVEC evc_clear_stack_altivec
#define EVC_CLEAR_STACK_VSX evc_clear_stack_vsx
#define EVC_CLEAR_STACK_V evc_clear_stack_v

/*
 * NARROW is the word for kernels with AVX-512 that have narrow code, too: it is compiled without
 * AVX-512, and so cannot use registers 16 to 31, unless the flags of the build allow them. Slots
 * that may use them call EVC_CLEAR_HIGH_REGISTERS, and the end of a call clears the others: that
 * takes instructions from short messages, which cost little else.
 */
#if EVC_GNU_C && !defined(__AVX512F__)
#define EVC_REGISTERS_NARROW EVC_REGISTERS_YMM
#define EVC_CLEAR_NARROW evc_clear_ymm
#define EVC_CLEAR_REGISTERS_NARROW evc_clear_registers_ymm
#define EVC_CLEAR_HIGH_REGISTERS()                                                            \
    __asm__ volatile(                                                                         \
        EVC_CLEAR_HIGH_4("16", "17", "18", "19") EVC_CLEAR_HIGH_4("20", "21", "22", "23")     \
            EVC_CLEAR_HIGH_4("24", "25", "26", "27") EVC_CLEAR_HIGH_4("28", "29", "30", "31") \
        :                                                                                     \
        :                                                                                     \
        : "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24",    \
          "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "memory")
#define EVC_CLEAR_HIGH(i) "vpxord %%xmm" i ", %%xmm" i ", %%xmm" i "\n\t"
#define EVC_CLEAR_HIGH_4(a, b, c, d) \
    EVC_CLEAR_HIGH(a) EVC_CLEAR_HIGH(b) EVC_CLEAR_HIGH(c) EVC_CLEAR_HIGH(d)
#else
#define EVC_REGISTERS_NARROW EVC_REGISTERS_ZMM
#define EVC_CLEAR_NARROW evc_clear_zmm
#define EVC_CLEAR_REGISTERS_NARROW evc_clear_registers_zmm
#define EVC_CLEAR_HIGH_REGISTERS() ((void)0)
#endif

/* stack_bytes of portable code whose frames are large: 64-bit words on CPUs of 32 bits. */
#define EVC_DEEP(n_bytes) ((EVC_WORD64 ? 960 : 1472) + (n_bytes))

/* The functions below clear so much more on x86 where kernels do not say how deep their operations
 * go: with 8 registers, and on Windows, where a function gives registers back to its caller, and
 * vectors that are arguments lie on the stack: 1,184 bytes of it in CTR, by GCC at -O1. */
#if EVC_X86_64
#define EVC_MORE_STACK (EVC_MICROSOFT_CALLS ? 1280 : 0)
#elif EVC_X86
#define EVC_MORE_STACK 512
#else
#define EVC_MORE_STACK 0
#endif

/* How much more is cleared by the word for the registers. Numbers of portable code were measured on
 * x86 and Arm: frames are larger elsewhere. Other words belong to kernels of one architecture,
 * which were measured there. */
#if EVC_X86 || EVC_A64 || EVC_A32
#define EVC_MORE_OF_BASELINE 0
#else
#define EVC_MORE_OF_BASELINE 512
#endif
#define EVC_MORE_OF_NONE 0
#define EVC_MORE_OF_XMM 0
#define EVC_MORE_OF_YMM 0
#define EVC_MORE_OF_ZMM 0
#define EVC_MORE_OF_NARROW 0
#define EVC_MORE_OF_NEON 0
#define EVC_MORE_OF_ALTIVEC 0
#define EVC_MORE_OF_VSX 0
#define EVC_MORE_OF_V 0
#define EVC_MORE_OF_VX 0

/* EVC_CLEAR(YMM, 960) clears these registers, and 960 bytes (a multiple of 64) of the stack below
 * the caller. EVC_CLEAR_STACK(YMM, 960) clears the stack alone, by stores of these registers: for
 * slots that clear it themselves, after calls that need so much of it. */
#define EVC_CLEAR(registers, n_bytes) \
    EVC_CAT(EVC_CLEAR_, registers)(EVC_STACK_BYTES(registers, n_bytes))
#define EVC_CLEAR_STACK(registers, n_bytes) \
    EVC_CAT(EVC_CLEAR_STACK_, registers)(EVC_STACK_BYTES(registers, n_bytes))
/* Does not compile unless the number is a multiple of 64: loops clear so many bytes at once. */
#define EVC_STACK_BYTES(registers, n_bytes)                                \
    ((n_bytes) + ((n_bytes) ? EVC_CAT(EVC_MORE_OF_, registers) : 0) + \
     0 * sizeof(char[(n_bytes) % 64 ? -1 : 1]))

/* The functions by their names; evc_clear_registers_... clear no stack. */
void evc_clear_none(size_t stack_bytes);
void evc_clear_registers_none(size_t stack_bytes);
void evc_clear_stack_none(size_t stack_bytes);
#if EVC_X86
void evc_clear_xmm(size_t stack_bytes);
void evc_clear_registers_xmm(size_t stack_bytes);
void evc_clear_ymm(size_t stack_bytes);
void evc_clear_registers_ymm(size_t stack_bytes);
void evc_clear_zmm(size_t stack_bytes);
void evc_clear_registers_zmm(size_t stack_bytes);
void evc_clear_stack_xmm(size_t stack_bytes);
void evc_clear_stack_ymm(size_t stack_bytes);
void evc_clear_stack_zmm(size_t stack_bytes);
#elif EVC_A64 || EVC_A32
void evc_clear_vfp(size_t stack_bytes);
void evc_clear_registers_vfp(size_t stack_bytes);
void evc_clear_neon(size_t stack_bytes);
void evc_clear_registers_neon(size_t stack_bytes);
void evc_clear_stack_vfp(size_t stack_bytes);
void evc_clear_stack_neon(size_t stack_bytes);
#elif EVC_PPC64_SIMD
void evc_clear_altivec(size_t stack_bytes);
void evc_clear_registers_altivec(size_t stack_bytes);
void evc_clear_stack_altivec(size_t stack_bytes);
void evc_clear_vsx(size_t stack_bytes);
void evc_clear_registers_vsx(size_t stack_bytes);
void evc_clear_stack_vsx(size_t stack_bytes);
#elif EVC_RV64
void evc_clear_v(size_t stack_bytes);
void evc_clear_registers_v(size_t stack_bytes);
void evc_clear_stack_v(size_t stack_bytes);
#elif EVC_S390X
void evc_clear_vx(size_t stack_bytes);
void evc_clear_registers_vx(size_t stack_bytes);
void evc_clear_stack_vx(size_t stack_bytes);
#elif defined(__hppa__)
void evc_clear_hppa_fp(size_t stack_bytes);
void evc_clear_registers_hppa_fp(size_t stack_bytes);
#endif

/* To be called by the function that called the operations, or by one nearer to the public call.
 * This reaches deeper below its caller than operations do, since frames lie between the two
 * callers. In modes these have at most 256 bytes (on Windows 384), as with the untidy kernel of the
 * harness they leave nothing behind; code with larger frames calls this below them. */
EVC_INLINE void evc_clear(const struct evc_kernel *kernel)
{
    kernel->clear(kernel->stack_bytes);
}

/* After operations of two kernels. */
EVC_INLINE void evc_clear_both(const struct evc_kernel *a, const struct evc_kernel *b)
{
    const int b_covers_a = b->registers >= a->registers && b->stack_bytes >= a->stack_bytes;

    if (!b_covers_a)
        evc_clear(a);
    if (b_covers_a || a->registers < b->registers || a->stack_bytes < b->stack_bytes)
        evc_clear(b);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * All vector registers, on PA-RISC those for floating point, set to zero before a call and read
 * after it. To be used by a function that does nothing else: whatever stands between the call and
 * registers_read() may change them. registers_fill() sets those of x86-64 and A64 to the bytes of
 * `with`: then a function that takes a register of its caller for zero gives wrong results.
 * Elsewhere it does nothing. Its caller must not be inlined.
 */
#ifndef HARNESS_REGISTERS_H
#define HARNESS_REGISTERS_H

#include <stdint.h>

#include "everycore/cpu.h"
#include "everycore/isa.h"

#include "common/rv_vector.h"

#define MOST_REGISTERS 32
#if EVC_RV64
#define MOST_REGISTER_BYTES 128
#else
#define MOST_REGISTER_BYTES 64 /* or 64 registers of 16 */
#endif

struct registers { /* one after the other, register_bytes each */
    EVC_ALIGN(64) uint8_t bytes[MOST_REGISTERS * MOST_REGISTER_BYTES];
};

#define REGISTERS_8(R) R(0) R(1) R(2) R(3) R(4) R(5) R(6) R(7)
#define REGISTERS_16(R) REGISTERS_8(R) R(8) R(9) R(10) R(11) R(12) R(13) R(14) R(15)
#define REGISTERS_HIGH(R) \
    R(16) R(17) R(18) R(19) R(20) R(21) R(22) R(23) R(24) R(25) R(26) R(27) R(28) R(29) R(30) R(31)

/* How many registers are read here, and of how many bytes; feature_word: of this CPU. */
static inline unsigned registers_count(uint64_t feature_word)
{
#if EVC_X86_64
    return feature_word & EVC_CPU(X86_AVX512F) ? 32 : 16;
#elif EVC_X86
    return feature_word & EVC_CPU(X86_SSE2) ? 8 : 0;
#elif EVC_A64
    return feature_word & EVC_CPU(A64_NEON) ? 32 : 0;
#elif EVC_A32_SIMD
    return feature_word & EVC_CPU(A32_NEON) ? 16 : 0;
#elif EVC_PPC64_SIMD
    return feature_word & EVC_CPU(PPC_VCRYPTO)   ? 14 + 20 + 18
           : feature_word & EVC_CPU(PPC_ALTIVEC) ? 20
                                                 : 0;
#elif EVC_RV64
    return feature_word & EVC_CPU(RV64_V) ? 32 : 0;
#elif EVC_S390X
    return feature_word & EVC_CPU(S390X_VX) ? 32 : 0;
#elif EVC_HPPA
    (void)feature_word;
    /* 9 pairs of those for floating point that a call may change, 4 to 11 and
     * 22 to 31: they multiply */
    return 9;
#else
    (void)feature_word;
    return 0;
#endif
}

static inline unsigned registers_bytes(uint64_t feature_word)
{
#if EVC_X86_64
    if (feature_word & EVC_CPU(X86_AVX512F))
        return 64;
    if (feature_word & EVC_CPU(X86_AVX))
        return 32;
#elif EVC_RV64
    if (feature_word & EVC_CPU(RV64_V))
        return (unsigned)evc_rvv_register_bytes();
#endif
    (void)feature_word;
    return 16;
}

#if EVC_X86

#define REGISTER_CLEAR_XMM(i) "pxor %%xmm" #i ", %%xmm" #i "\n\t"
#define REGISTER_CLEAR_ZMM(i) "vpxorq %%zmm" #i ", %%zmm" #i ", %%zmm" #i "\n\t"
#define REGISTER_FILL_XMM(i) "movdqu (%0), %%xmm" #i "\n\t"
#define REGISTER_FILL_ZMM(i) "vmovdqu64 (%0), %%zmm" #i "\n\t"
#define REGISTER_READ_XMM(i) "movdqu %%xmm" #i ", " #i "*16(%0)\n\t"
#define REGISTER_READ_YMM(i) "vmovdqu %%ymm" #i ", " #i "*32(%0)\n\t"
#define REGISTER_READ_ZMM(i) "vmovdqu64 %%zmm" #i ", " #i "*64(%0)\n\t"
#if EVC_X86_64
#define REGISTERS_LOW REGISTERS_16
#define REGISTERS_CLOBBERED                                                                  \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory"
#else
#define REGISTERS_LOW REGISTERS_8
#if defined(__SSE2__)
#define REGISTERS_CLOBBERED \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "memory"
#else /* the names are unknown to GCC, which uses none of them */
#define REGISTERS_CLOBBERED "memory"
#endif
#endif

static inline __attribute__((always_inline)) void registers_clear(unsigned count, unsigned bytes)
{
    if (!count)
        return;
#if EVC_X86_64
    if (bytes == 64)
        __asm__ volatile(REGISTERS_HIGH(REGISTER_CLEAR_ZMM) : : : "memory");
    if (bytes >= 32)
        __asm__ volatile("vzeroall" : : : REGISTERS_CLOBBERED);
#endif
    if (bytes == 16)
        __asm__ volatile(REGISTERS_LOW(REGISTER_CLEAR_XMM) : : : REGISTERS_CLOBBERED);
}

#if EVC_X86_64
#define REGISTERS_FILLED
static inline void registers_fill(unsigned count, unsigned bytes, const uint8_t with[64])
{
    (void)count;
    if (bytes == 64)
        __asm__ volatile(REGISTERS_LOW(REGISTER_FILL_ZMM) REGISTERS_HIGH(REGISTER_FILL_ZMM)
                         :
                         : "r"(with)
                         : REGISTERS_CLOBBERED);
    else
        __asm__ volatile(REGISTERS_LOW(REGISTER_FILL_XMM) : : "r"(with) : REGISTERS_CLOBBERED);
}
#endif

static inline __attribute__((always_inline)) void registers_read(struct registers *r,
                                                                 unsigned count, unsigned bytes)
{
    if (!count)
        return;
#if EVC_X86_64
    if (bytes == 64)
        __asm__ volatile(REGISTERS_LOW(REGISTER_READ_ZMM) REGISTERS_HIGH(REGISTER_READ_ZMM)
                         :
                         : "r"(r->bytes)
                         : "memory");
    if (bytes == 32)
        __asm__ volatile(REGISTERS_LOW(REGISTER_READ_YMM) : : "r"(r->bytes) : "memory");
#endif
    if (bytes == 16)
        __asm__ volatile(REGISTERS_LOW(REGISTER_READ_XMM) : : "r"(r->bytes) : "memory");
}

#elif EVC_A64

#define REGISTER_CLEAR(i) "movi v" #i ".2d, #0\n\t"
#define REGISTER_FILL(i) "ldr q" #i ", [%0]\n\t"
#define REGISTERS_CLOBBERED                                                                        \
    "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", \
        "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", \
        "v28", "v29", "v30", "v31", "memory"
#define REGISTER_READ(i) "str q" #i ", [%0, #" #i "*16]\n\t"

static inline __attribute__((always_inline)) void registers_clear(unsigned count, unsigned bytes)
{
    (void)bytes;
    if (count)
        __asm__ volatile(REGISTERS_16(REGISTER_CLEAR) REGISTERS_HIGH(REGISTER_CLEAR)
                         :
                         :
                         : REGISTERS_CLOBBERED);
}

#define REGISTERS_FILLED
static inline void registers_fill(unsigned count, unsigned bytes, const uint8_t with[64])
{
    (void)bytes;
    if (count)
        __asm__ volatile(REGISTERS_16(REGISTER_FILL) REGISTERS_HIGH(REGISTER_FILL)
                         :
                         : "r"(with)
                         : REGISTERS_CLOBBERED);
}

static inline __attribute__((always_inline)) void registers_read(struct registers *r,
                                                                 unsigned count, unsigned bytes)
{
    (void)bytes;
    if (count)
        __asm__ volatile(REGISTERS_16(REGISTER_READ) REGISTERS_HIGH(REGISTER_READ)
                         :
                         : "r"(r->bytes)
                         : "memory");
}

#elif EVC_A32_SIMD

#define REGISTER_CLEAR(i) "vmov.i32 q" #i ", #0\n\t"

static inline __attribute__((always_inline)) void registers_clear(unsigned count, unsigned bytes)
{
    (void)bytes;
    if (count)
        __asm__ volatile(REGISTERS_16(REGISTER_CLEAR)
                         :
                         :
                         : "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10", "d11",
                           "d12", "d13", "d14", "d15", "d16", "d17", "d18", "d19", "d20", "d21",
                           "d22", "d23", "d24", "d25", "d26", "d27", "d28", "d29", "d30", "d31",
                           "memory");
}

static inline __attribute__((always_inline)) void registers_read(struct registers *r,
                                                                 unsigned count, unsigned bytes)
{
    uint8_t *to = r->bytes;

    (void)bytes;
    if (count)
        __asm__ volatile("vstmia %0!, {d0-d15}\n\tvstmia %0!, {d16-d31}" : "+r"(to) : : "memory");
}

#elif EVC_PPC64_SIMD

/* Those that a call may change: 0 to 19 of AltiVec; and, on CPUs with vcrypto, which have VSX, 0 to
 * 13 under the registers for floating point and the lower halves of 14 to 31. The upper ones are
 * the caller's. */
#define REGISTERS_VSX(R) REGISTERS_8(R) R(8) R(9) R(10) R(11) R(12) R(13)
#define REGISTERS_ALTIVEC(R) REGISTERS_16(R) R(16) R(17) R(18) R(19)
#define REGISTERS_HALVES(R) R(14) R(15) REGISTERS_HIGH(R)
#define REGISTER_CLEAR(i) "xxlxor " #i "," #i "," #i "\n\t"
#define REGISTER_CLEAR_ALTIVEC(i) "vxor " #i "," #i "," #i "\n\t"
#define REGISTER_CLEAR_HALF(i) "xxpermdi " #i "," #i ",0,0\n\t" /* register 0 is zero */
#define REGISTER_READ(i) "stxvd2x " #i ", 0, %0\n\taddi %0, %0, 16\n\t"
#define REGISTER_READ_ALTIVEC(i) "stvx " #i ", 0, %0\n\taddi %0, %0, 16\n\t"
#define REGISTER_READ_HALF(i) "xxpermdi 0," #i "," #i ",3\n\t" REGISTER_READ(0)
#define REGISTERS_CLOBBERED                                                                       \
    "fr0", "fr1", "fr2", "fr3", "fr4", "fr5", "fr6", "fr7", "fr8", "fr9", "fr10", "fr11", "fr12", \
        "fr13", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",  \
        "v13", "v14", "v15", "v16", "v17", "v18", "v19", "memory"

static inline __attribute__((always_inline)) void registers_clear(unsigned count, unsigned bytes)
{
    (void)bytes;
    if (count)
        __asm__ volatile(REGISTERS_ALTIVEC(REGISTER_CLEAR_ALTIVEC) : : : REGISTERS_CLOBBERED);
    if (count > 20)
        __asm__ volatile(REGISTERS_VSX(REGISTER_CLEAR) REGISTERS_HALVES(REGISTER_CLEAR_HALF)
                         :
                         :
                         : REGISTERS_CLOBBERED);
}

static inline __attribute__((always_inline)) void registers_read(struct registers *r,
                                                                 unsigned count, unsigned bytes)
{
    uint8_t *to = r->bytes;

    (void)bytes;
    if (count)
        __asm__ volatile(REGISTERS_ALTIVEC(REGISTER_READ_ALTIVEC) : "+b"(to) : : "memory");
    if (count > 20)
        __asm__ volatile(REGISTERS_VSX(REGISTER_READ) REGISTERS_HALVES(REGISTER_READ_HALF)
                         : "+b"(to)
                         :
                         : "fr0", "memory");
}

#elif EVC_RV64

#define REGISTERS_READ_4(i) VS4R(i, "%0") "add %0, %0, %1\n\t"
#define REGISTERS_SET(x)                                                                    \
    VSETVLI("t0", "x0", E8_M8) VMV_V_X(0, x) VMV_V_X(8, x) VMV_V_X(16, x) VMV_V_X(24, x)

static inline __attribute__((always_inline)) void registers_clear(unsigned count, unsigned bytes)
{
    (void)bytes;
    if (count)
        __asm__ volatile(REGISTERS_SET("x0") : : : "t0", EVC_RVV_CLOBBERED);
}

#define REGISTERS_FILLED
static inline void registers_fill(unsigned count, unsigned bytes, const uint8_t with[64])
{
    (void)bytes;
    if (count)
        __asm__ volatile(REGISTERS_SET("%0")
                         :
                         : "r"((size_t)*with)
                         : "t0", EVC_RVV_CLOBBERED);
}

static inline __attribute__((always_inline)) void registers_read(struct registers *r,
                                                                 unsigned count, unsigned bytes)
{
    uint8_t *to = r->bytes;

    if (count)
        __asm__ volatile(REGISTERS_READ_4(0) REGISTERS_READ_4(4) REGISTERS_READ_4(8)
                             REGISTERS_READ_4(12) REGISTERS_READ_4(16) REGISTERS_READ_4(20)
                                 REGISTERS_READ_4(24) REGISTERS_READ_4(28)
                         : "+r"(to)
                         : "r"((uintptr_t)4 * bytes)
                         : "memory");
}

#elif EVC_S390X

/* By their fields, since the build may be for an older CPU. The left halves of 0 to 15 are the
 * registers for floating point: 8 to 15 belong to the caller, and in 0 to 7 GCC keeps general
 * registers for a while, in portable code of older CPUs, too. They are not read; the right halves
 * are, twice each, by register 0. */
#define REGISTER_CLEAR(i) ".short 0xe700 + 16 * (" #i " & 15), 0, 0x0044 + (" #i " & 16) * 0x80\n\t"
#define REGISTER_CLEAR_HALF(i) ".short 0xe700 + 16 * " #i ", 0, 0x1042\n\t"
/* VST to the address in register 1, then the next address */
#define REGISTER_READ(i) \
    ".short 0xe700 + 16 * (" #i " & 15), 0x1000, 0x000e + (" #i " & 16) * 0x80\n\taghi %%r1, 16\n\t"
/* VMRLG 0, i, i */
#define REGISTER_READ_HALF(i) ".short 0xe700 + " #i ", " #i " << 12, 0x3060\n\t" REGISTER_READ(0)
#define REGISTERS_8_TO_15(R) R(8) R(9) R(10) R(11) R(12) R(13) R(14) R(15)

static inline __attribute__((always_inline)) void registers_clear(unsigned count, unsigned bytes)
{
    (void)bytes;
    if (count)
        __asm__ volatile(REGISTERS_8(REGISTER_CLEAR) REGISTERS_8_TO_15(REGISTER_CLEAR_HALF)
                             REGISTERS_HIGH(REGISTER_CLEAR)
                         :
                         :
                         : "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "memory");
}

static inline __attribute__((always_inline)) void registers_read(struct registers *r,
                                                                 unsigned count, unsigned bytes)
{
    register uint8_t *to __asm__("1") = r->bytes;

    (void)bytes;
    if (count)
        __asm__ volatile(REGISTERS_16(REGISTER_READ_HALF) REGISTERS_HIGH(REGISTER_READ)
                         : "+a"(to)
                         :
                         : "f0", "cc", "memory");
}

#elif EVC_HPPA

#define REGISTERS_FP(R)                                                                        \
    R(4)                                                                                       \
    R(5) R(6) R(7) R(8) R(9) R(10) R(11) R(22) R(23) R(24) R(25) R(26) R(27) R(28) R(29) R(30) \
        R(31)
#define REGISTER_CLEAR(i) "fcpy,dbl %%fr0, %%fr" #i "\n\t"
#define REGISTER_READ(i) "fstds,ma %%fr" #i ", 8(%0)\n\t"

static inline __attribute__((always_inline)) void registers_clear(unsigned count, unsigned bytes)
{
    (void)count, (void)bytes;
    __asm__ volatile(REGISTERS_FP(REGISTER_CLEAR)
                     :
                     :
                     : "fr4", "fr5", "fr6", "fr7", "fr8", "fr9", "fr10", "fr11", "fr22", "fr23",
                       "fr24", "fr25", "fr26", "fr27", "fr28", "fr29", "fr30", "fr31", "memory");
}

static inline __attribute__((always_inline)) void registers_read(struct registers *r,
                                                                 unsigned count, unsigned bytes)
{
    uint8_t *to = r->bytes;

    (void)count, (void)bytes;
    __asm__ volatile(REGISTERS_FP(REGISTER_READ) : "+r"(to) : : "memory");
}

#else

static inline void registers_clear(unsigned count, unsigned bytes)
{
    (void)count, (void)bytes;
}

static inline void registers_read(struct registers *r, unsigned count, unsigned bytes)
{
    (void)r, (void)count, (void)bytes;
}

#endif
#if !defined(REGISTERS_FILLED)
static inline void registers_fill(unsigned count, unsigned bytes, const uint8_t with[64])
{
    (void)count, (void)bytes, (void)with;
}
#endif

#endif

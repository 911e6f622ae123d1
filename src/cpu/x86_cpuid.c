/* SPDX-License-Identifier: MIT */
/*
 * x86: CPUID for what the CPU has, XGETBV for what the operating system keeps.
 *
 * Source: Intel SDM (2024) vol. 1 section 13.3, vol. 2A CPUID; AMD APM vol. 3 appendix E. The Intel models
 *         that lower their clock for 512-bit vectors: the list of arch/x86/crypto in Linux 6.10.
 */
#include "cpu/common.h"

#include "everycore/isa.h"

#if EVC_X86

struct regs {
    uint32_t a, b, c, d;
};

static struct regs cpuid(uint32_t leaf, uint32_t subleaf)
{
    struct regs r;

    __asm__ volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "a"(leaf), "c"(subleaf));
    return r;
}

/* The register files that the operating system saves: bit 1 xmm, 2 ymm, 5 to 7 AVX-512. */
static uint32_t saved_state(uint32_t leaf1_ecx)
{
    uint32_t lo, hi;

    if (!(leaf1_ecx >> 27 & 1)) /* OSXSAVE */
        return 0;
    __asm__ volatile(".byte 0x0f, 0x01, 0xd0" /* xgetbv */ : "=a"(lo), "=d"(hi) : "c"(0));
    (void)hi;
    return lo;
}

/* Skylake-X, Ice Lake and Tiger Lake run slower with 512-bit vectors in use; no AMD core does. */
static int welcomes_zmm(uint32_t leaf1_eax, uint32_t vendor_ebx)
{
    uint32_t family = leaf1_eax >> 8 & 15, model = (leaf1_eax >> 4 & 15) | (leaf1_eax >> 12 & 0xf0);

    if (vendor_ebx != 0x756e6547 /* "Genu" */ || family != 6)
        return 1;
    switch (model) {
    case 0x55: /* Skylake-X, Cascade Lake */
    case 0x6a: case 0x6c: case 0x7d: case 0x7e: case 0x9d: /* Ice Lake */
    case 0x8c: case 0x8d: /* Tiger Lake */
        return 0;
    }
    return 1;
}

#define HAS(name, reg, bit) (((reg) >> (bit) & 1) ? EVC_CPU(name) : 0)

uint64_t evc_cpu_features(void)
{
    uint64_t have = evc_features_of_build();
    struct regs leaf0 = cpuid(0, 0), leaf1 = cpuid(1, 0), leaf7 = {0, 0, 0, 0};
    uint32_t saved = saved_state(leaf1.c);

    if (leaf0.a >= 7)
        leaf7 = cpuid(7, 0);
    if (EVC_X86_64)
        have |= EVC_CPU(X86_MODE64);
    have |= HAS(X86_SSE2, leaf1.d, 26) | HAS(X86_SSSE3, leaf1.c, 9) | HAS(X86_SSE41, leaf1.c, 19) |
            HAS(X86_AES, leaf1.c, 25) | HAS(X86_PCLMUL, leaf1.c, 1) | HAS(X86_BMI2, leaf7.b, 8) |
            HAS(X86_ADX, leaf7.b, 19) | HAS(X86_GFNI, leaf7.c, 8);
    if ((saved & 0x06) == 0x06 && (leaf1.c >> 28 & 1))
        have |= HAS(X86_AVX, leaf1.c, 28) | HAS(X86_AVX2, leaf7.b, 5) | HAS(X86_VAES, leaf7.c, 9) |
                HAS(X86_VPCLMUL, leaf7.c, 10);
    if ((saved & 0xe6) == 0xe6 && (leaf7.b >> 16 & 1)) {
        have |= HAS(X86_AVX512F, leaf7.b, 16) | HAS(X86_AVX512DQ, leaf7.b, 17) |
                HAS(X86_AVX512IFMA, leaf7.b, 21) | HAS(X86_AVX512BW, leaf7.b, 30) |
                HAS(X86_AVX512VL, leaf7.b, 31) | HAS(X86_AVX512VBMI, leaf7.c, 1) |
                HAS(X86_AVX512VBMI2, leaf7.c, 6);
        if (welcomes_zmm(leaf1.a, leaf0.b))
            have |= EVC_CPU(TUNE_ZMM);
    }
    return have;
}

#else
EVC_EMPTY_UNIT
#endif

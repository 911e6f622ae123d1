/* SPDX-License-Identifier: MIT */
/*
 * Whether wide instructions compute each lane of 128 bits as the narrow ones do. Each CPU does
 * that. QEMU 7.2 shows VAES, and its AESENC of 256 bits computes the second lane wrongly: CTR
 * would repeat its key stream. So each instruction that CPUID shows computes lanes that differ,
 * once wide and once lane by lane.
 *
 * Only a build that may use vector registers anywhere asks (__SSE2__). Kernels of operating systems
 * are compiled without, for these registers belong to a program there.
 */
#ifndef EVC_CPU_X86_LANES_H
#define EVC_CPU_X86_LANES_H

#include "everycore/isa.h"

#include "common/bytes.h"

#define EVC_X86_LANES_OPERATIONS 4 /* instructions of one feature */

/* Results of the operations on the same bytes: several lanes at once, and each lane alone. */
struct evc_x86_lanes {
    uint8_t wide[EVC_X86_LANES_OPERATIONS][64], narrow[EVC_X86_LANES_OPERATIONS][64];
};

/* Whether the first n_lanes lanes, at most 4, are the same. */
static inline int evc_x86_lanes_agree(const struct evc_x86_lanes *results, size_t n_lanes)
{
    unsigned differ = 0;

    for (size_t i = 0; i < EVC_X86_LANES_OPERATIONS; i++)
        for (size_t k = 0; k < 16 * n_lanes; k++)
            differ |= results->wide[i][k] ^ results->narrow[i][k];
    return !differ;
}

/* A feature whose instructions are tried where `needs` are there, without which
 * no kernel can use them. */
struct evc_x86_lanes_trial {
    uint64_t feature, needs;
    /* Fills *results with those of the operations on n_lanes lanes of x and y, 2 or 4. */
    void (*operate)(struct evc_x86_lanes *results, const uint8_t x[64], const uint8_t y[64],
                    size_t n_lanes);
};

/* Those of `features` whose trial gives wrong lanes. */
static inline uint64_t evc_x86_wrong_in(uint64_t features, const struct evc_x86_lanes_trial *trials,
                                        size_t n_trials)
{
    const size_t most_lanes = features & EVC_CPU(X86_AVX512F) ? 4 : 2;
    struct evc_x86_lanes results = {.wide = {{0}}};
    uint8_t x[64], y[64]; /* no lane is as another */
    uint64_t wrong = 0;

    for (size_t i = 0; i < sizeof x; i++) {
        x[i] = (uint8_t)(0x9d * i + 0x35);
        y[i] = (uint8_t)(0x3b * i * i + 0x6b);
    }
    for (size_t i = 0; i < n_trials; i++) {
        if (!(features & trials[i].feature) || (features & trials[i].needs) != trials[i].needs)
            continue;
        for (size_t n_lanes = 2; n_lanes <= most_lanes; n_lanes += 2) {
            trials[i].operate(&results, x, y, n_lanes);
            if (!evc_x86_lanes_agree(&results, n_lanes))
                wrong |= trials[i].feature;
        }
    }
    return wrong;
}

#if EVC_X86_64 && EVC_GNU_C && defined(__SSE2__)

/* Four operations of a feature on vectors of x- and y-bytes, in registers `reg`0 to 2. The third
 * register holds x at first: some operations add to it. `move` loads and stores vectors at any
 * address. vzeroupper ends the upper halves of all of ymm0 to 15, in which a caller that is
 * compiled for AVX may have values. */
#define EVC_X86_OPERATE(to, x, y, move, reg, ...) \
    EVC_X86_OPERATE_FOUR(to, x, y, move, reg, __VA_ARGS__)
#define EVC_X86_OPERATE_FOUR(to, x, y, move, reg, first, second, third, fourth)                  \
    __asm__ volatile(move " (%1), %%" reg "0\n\t"                                                \
                     move " (%2), %%" reg "1\n\t"                                                \
                     move " (%1), %%" reg "2\n\t"                                                \
                     first " %%" reg "1, %%" reg "0, %%" reg "2\n\t"                             \
                     move " %%" reg "2, (%0)\n\t"                                                \
                     second " %%" reg "1, %%" reg "0, %%" reg "2\n\t"                            \
                     move " %%" reg "2, 64(%0)\n\t"                                              \
                     third " %%" reg "1, %%" reg "0, %%" reg "2\n\t"                             \
                     move " %%" reg "2, 128(%0)\n\t"                                             \
                     fourth " %%" reg "1, %%" reg "0, %%" reg "2\n\t"                            \
                     move " %%" reg "2, 192(%0)\n\t"                                             \
                     "vzeroupper"                                                                \
                     :                                                                           \
                     : "r"(to), "r"(x), "r"(y)                                                   \
                     : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", \
                       "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")

/* Define the member `operate` of a trial. */
#define EVC_X86_DEFINE_LANES(name, ...)                                                       \
    static void name(struct evc_x86_lanes *results, const uint8_t x[64], const uint8_t y[64], \
                     size_t n_lanes)                                                          \
    {                                                                                         \
        for (size_t at = 0; at < 16 * n_lanes; at += 16)                                      \
            EVC_X86_OPERATE(&results->narrow[0][at], x + at, y + at, "vmovdqu", "xmm",        \
                            __VA_ARGS__);                                                     \
        if (n_lanes == 2)                                                                     \
            EVC_X86_OPERATE(results->wide, x, y, "vmovdqu", "ymm", __VA_ARGS__);              \
        else                                                                                  \
            EVC_X86_OPERATE(results->wide, x, y, "vmovdqu64", "zmm", __VA_ARGS__);            \
    }

EVC_X86_DEFINE_LANES(evc_x86_vaes_lanes, "vaesenc", "vaesenclast", "vaesdec", "vaesdeclast")
EVC_X86_DEFINE_LANES(evc_x86_vpclmul_lanes, "vpclmulqdq $0x00,", "vpclmulqdq $0x01,",
                     "vpclmulqdq $0x10,", "vpclmulqdq $0x11,")
EVC_X86_DEFINE_LANES(evc_x86_gfni_lanes, "vgf2p8mulb", "vgf2p8affineqb $0x63,",
                     "vgf2p8affineinvqb $0x63,", "vgf2p8mulb")
EVC_X86_DEFINE_LANES(evc_x86_ifma_lanes, "vpmadd52luq", "vpmadd52huq", "vpmadd52luq", "vpmadd52huq")

/* The VEX form of the same, in bytes, as assemblers before binutils 2.40 lack it. The rest of the
 * line is a comment to them. */
#define EVC_X86_VEX_MADD52(prefix, opcode) ".byte 0xc4, 0xe2, " prefix ", " opcode ", 0xd1 #"
#define EVC_X86_VEX_MADD52_TWICE(prefix)                                    \
    EVC_X86_VEX_MADD52(prefix, "0xb4"), EVC_X86_VEX_MADD52(prefix, "0xb5"), \
        EVC_X86_VEX_MADD52(prefix, "0xb4"), EVC_X86_VEX_MADD52(prefix, "0xb5")
static void evc_x86_avxifma_lanes(struct evc_x86_lanes *results, const uint8_t x[64],
                                  const uint8_t y[64], size_t n_lanes)
{
    for (size_t at = 0; at < 16 * n_lanes; at += 16)
        EVC_X86_OPERATE(&results->narrow[0][at], x + at, y + at, "vmovdqu", "xmm",
                        EVC_X86_VEX_MADD52_TWICE("0xf9"));
    for (size_t at = 0; at < 16 * n_lanes; at += 32)
        EVC_X86_OPERATE(&results->wide[0][at], x + at, y + at, "vmovdqu", "ymm",
                        EVC_X86_VEX_MADD52_TWICE("0xfd"));
}

/* Those of `features` that this CPU computes wrongly. */
static inline uint64_t evc_x86_wrong_lanes(uint64_t features)
{
    const struct evc_x86_lanes_trial trials[] = {
        {EVC_CPU(X86_VAES), EVC_CPU(X86_AES) | EVC_CPU(X86_AVX2), evc_x86_vaes_lanes},
        {EVC_CPU(X86_VPCLMUL), EVC_CPU(X86_PCLMUL) | EVC_CPU(X86_AVX2), evc_x86_vpclmul_lanes},
        {EVC_CPU(X86_GFNI), EVC_CPU(X86_AVX2), evc_x86_gfni_lanes},
        {EVC_CPU(X86_AVX512IFMA), EVC_CPU(X86_AVX512VL), evc_x86_ifma_lanes},
        {EVC_CPU(X86_AVXIFMA), EVC_CPU(X86_AVX2), evc_x86_avxifma_lanes},
    };

    return evc_x86_wrong_in(features, trials, sizeof trials / sizeof trials[0]);
}

#else

static inline uint64_t evc_x86_wrong_lanes(uint64_t features)
{
    (void)features;
    return 0;
}

#endif
#endif

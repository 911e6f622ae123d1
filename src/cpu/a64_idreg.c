/* SPDX-License-Identifier: MIT */
/*
 * A64 by its identification registers: for firmware, hypervisors and kernels, which may read them,
 * and for programs that get their values from elsewhere. Decoding works on every host.
 *
 * Source: Arm DDI 0487 (2024), descriptions of MIDR_EL1, ID_AA64PFR0_EL1, ID_AA64ISAR0_EL1,
 *         ID_AA64ZFR0_EL1.
 *         Implementers and parts: the technical reference manuals, and Linux 7.1
 *         arch/arm64/include/asm/cputype.h.
 *         Look-ups: Cortex-A57 (UAN 0015) and Cortex-A72 (UAN 0016) Software Optimization Guides,
 *         "ASIMD table lookup". Products of 64 bits: LLVM 19's model of Neoverse N1, whose core is
 *         like that of Cortex-A76; docs/reference/bignum.md says what is known of the others.
 *         ThunderX, in order and much like Cortex-A53: LLVM 19, AArch64SchedThunderX.td.
 *         ThunderX2, five blocks: comments on performance of OpenSSL 3.5 aesv8-armx.pl.
 */
#include "cpu/common.h"

#define CORE(implementer, part) ((UINT32_C(implementer) << 12) | UINT32_C(part))

/* Cores that want other code than the widest. A core that is not here counts as out of order, with
 * cheap look-ups and a fast multiplier, as all large cores since Cortex-A77 and Neoverse V1 are. */
static const struct core {
    uint32_t name;
    uint64_t tuning;
} cores[] = {
    {CORE(0x41, 0xd02), EVC_CPU(TUNE_INORDER)}, /* Cortex-A34 */
    {CORE(0x41, 0xd03), EVC_CPU(TUNE_INORDER)}, /* Cortex-A53 */
    {CORE(0x41, 0xd04), EVC_CPU(TUNE_INORDER)}, /* Cortex-A35 */
    {CORE(0x41, 0xd05), EVC_CPU(TUNE_INORDER)}, /* Cortex-A55 */
    {CORE(0x41, 0xd07), EVC_CPU(TUNE_TBL8) | EVC_CPU(TUNE_MUL32)}, /* Cortex-A57 */
    {CORE(0x41, 0xd08), EVC_CPU(TUNE_TBL8) | EVC_CPU(TUNE_MUL32)}, /* Cortex-A72 */
    {CORE(0x41, 0xd0b), EVC_CPU(TUNE_MUL32)},   /* Cortex-A76 */
    {CORE(0x41, 0xd0c), EVC_CPU(TUNE_MUL32)},   /* Neoverse N1 */
    {CORE(0x41, 0xd0e), EVC_CPU(TUNE_MUL32)},   /* Cortex-A76AE */
    {CORE(0x41, 0xd14), EVC_CPU(TUNE_INORDER)}, /* Cortex-R82AE */
    {CORE(0x41, 0xd15), EVC_CPU(TUNE_INORDER)}, /* Cortex-R82 */
    {CORE(0x41, 0xd46), EVC_CPU(TUNE_INORDER)}, /* Cortex-A510 */
    {CORE(0x41, 0xd80), EVC_CPU(TUNE_INORDER)}, /* Cortex-A520 */
    {CORE(0x41, 0xd88), EVC_CPU(TUNE_INORDER)}, /* Cortex-A520AE */
    {CORE(0x41, 0xd8a), EVC_CPU(TUNE_INORDER)}, /* C1-Nano */
    {CORE(0x41, 0xd8f), EVC_CPU(TUNE_INORDER)}, /* Cortex-A320 */
    {CORE(0x42, 0x516), EVC_CPU(TUNE_CE5)},     /* ThunderX2, as Broadcom's Vulcan */
    {CORE(0x43, 0x0a0), EVC_CPU(TUNE_INORDER)}, /* ThunderX */
    {CORE(0x43, 0x0a1), EVC_CPU(TUNE_INORDER)}, /* ThunderX, CN88xx */
    {CORE(0x43, 0x0a2), EVC_CPU(TUNE_INORDER)}, /* ThunderX, CN81xx */
    {CORE(0x43, 0x0a3), EVC_CPU(TUNE_INORDER)}, /* ThunderX, CN83xx */
    {CORE(0x43, 0x0af), EVC_CPU(TUNE_CE5)},     /* ThunderX2 */
    {CORE(0x51, 0x801), EVC_CPU(TUNE_INORDER)}, /* Kryo 2xx Silver: Cortex-A53 */
    {CORE(0x51, 0x803), EVC_CPU(TUNE_INORDER)}, /* Kryo 3xx Silver: Cortex-A55 */
    {CORE(0x51, 0x804), EVC_CPU(TUNE_MUL32)},   /* Kryo 4xx Gold: Cortex-A76 */
    {CORE(0x51, 0x805), EVC_CPU(TUNE_INORDER)}, /* Kryo 4xx Silver: Cortex-A55 */
};

uint64_t evc_a64_tuning(uint64_t midr)
{
    const uint32_t name = (uint32_t)((midr >> 24 & 0xff) << 12 | (midr >> 4 & 0xfff));

    for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++)
        if (cores[i].name == name)
            return cores[i].tuning;
    return 0;
}

static unsigned field(uint64_t value, unsigned lowest_bit)
{
    return (unsigned)(value >> lowest_bit & 15);
}

/* Fields are ordered: a greater number has all that a smaller one has (the manual's
 * "Principles of the ID scheme"). */
#define HAS(name, value, bit, least) (field(value, bit) >= (least) ? EVC_CPU(name) : 0)

uint64_t evc_a64_features(const struct evc_a64_id *id)
{
    uint64_t have = EVC_CPU(TUNE_WORD64) | EVC_CPU(CT_MUL) | evc_a64_tuning(id->midr) |
                    HAS(A64_DIT, id->pfr0, 48, 1);

    if (field(id->pfr0, 20) == 15) /* AdvSIMD: none */
        return have;
    have |= EVC_CPU(A64_NEON) | HAS(A64_AES, id->isar0, 4, 1) | HAS(A64_PMULL, id->isar0, 4, 2) |
            HAS(A64_SHA256, id->isar0, 12, 1) | HAS(A64_SHA512, id->isar0, 12, 2) |
            HAS(A64_SHA3, id->isar0, 32, 1) | HAS(A64_SVE, id->pfr0, 32, 1);
    if (have & EVC_CPU(A64_SVE))
        have |= HAS(A64_SVE2, id->zfr0, 0, 1);
    return have;
}

#if EVC_A64
/* volatile: another core may answer the next time. */
void evc_a64_read_id(struct evc_a64_id *id)
{
    __asm__ volatile("mrs %0, midr_el1" : "=r"(id->midr));
    __asm__ volatile("mrs %0, id_aa64pfr0_el1" : "=r"(id->pfr0));
    __asm__ volatile("mrs %0, id_aa64isar0_el1" : "=r"(id->isar0));
    __asm__ volatile("mrs %0, s3_0_c0_c4_4" /* id_aa64zfr0_el1; 0 where there is no SVE */
                     : "=r"(id->zfr0));
}

#if EVC_FEATURES_FROM == EVC_FROM_IDREG
uint64_t evc_cpu_features(void)
{
    struct evc_a64_id id;

    evc_a64_read_id(&id);
    return evc_features_of_build() | evc_a64_features(&id);
}
#endif
#endif

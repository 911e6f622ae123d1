/* SPDX-License-Identifier: MIT */
/* What is said of CPUs: identification registers of A64 as the cores have them, and what can be asked here. */
#include "tap.h"

#define WORD (EVC_CPU(TUNE_WORD64) | EVC_CPU(CT_MUL))
#define CE (EVC_CPU(A64_NEON) | EVC_CPU(A64_AES) | EVC_CPU(A64_PMULL))

/* Values of the technical reference manuals. */
static const struct core {
    const char *name;
    struct evc_a64_id id;
    uint64_t features;
} cores[] = {
    {"Cortex-A53 r0p4", {0x410fd034, 0x2222, 0x11120, 0}, WORD | CE | EVC_CPU(TUNE_INORDER)},
    {"Cortex-A53 r0p4 without the Cryptography Extension", {0x410fd034, 0x2222, 0x10000, 0},
     WORD | EVC_CPU(A64_NEON) | EVC_CPU(TUNE_INORDER)},
    {"Cortex-A55", {0x411fd050, 0x1100000010112222, 0x0000100010211120, 0}, WORD | CE | EVC_CPU(TUNE_INORDER)},
    {"Cortex-A57", {0x411fd070, 0x2222, 0x11120, 0}, WORD | CE | EVC_CPU(TUNE_TBL8)},
    {"Cortex-A72 r0p3 without the Cryptography Extension", {0x410fd083, 0x2222, 0x10000, 0},
     WORD | EVC_CPU(A64_NEON) | EVC_CPU(TUNE_TBL8)},
    {"ThunderX2", {0x431f0af1, 0x0000000011112222, 0x0000000010211120, 0}, WORD | CE | EVC_CPU(TUNE_CE5)},
    {"ThunderX2, Broadcom's number", {0x420f5161, 0x2222, 0x10211120, 0}, WORD | CE | EVC_CPU(TUNE_CE5)},
    {"Neoverse N1", {0x414fd0c1, 0x1100000010111112, 0x0000100010211120, 0}, WORD | CE},
    {"Neoverse V1", {0x411fd402, 0x1101000110111112, 0x0010111110212120, 0},
     WORD | CE | EVC_CPU(A64_SHA3) | EVC_CPU(A64_DIT) | EVC_CPU(A64_SVE)},
    {"Neoverse N2", {0x410fd493, 0x1201000111111111, 0x0221111110212120, 0x0000000100010121},
     WORD | CE | EVC_CPU(A64_SHA3) | EVC_CPU(A64_DIT) | EVC_CPU(A64_SVE) | EVC_CPU(A64_SVE2)},
    {"A64FX", {0x461f0010, 0x0000000101111111, 0x0000000010211120, 0}, WORD | CE | EVC_CPU(A64_SVE)},
};

static void features_are_read_from_the_registers(void)
{
    for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++) {
        uint64_t found = evc_a64_features(&cores[i].id);
        if (found != cores[i].features)
            printf("# %s: %#llx, not %#llx\n", cores[i].name, (unsigned long long)found,
                   (unsigned long long)cores[i].features);
        EXPECT(found == cores[i].features);
    }
}

static void no_advanced_simd_is_no_vector_feature(void)
{
    const struct evc_a64_id id = {0x410fd034, UINT64_C(0x0001000000ff2222), UINT64_C(0x0010111110212120), 1};

    EXPECT(evc_a64_features(&id) == (WORD | EVC_CPU(TUNE_INORDER) | EVC_CPU(A64_DIT)));
    EXPECT((evc_a64_features(&id) & EVC_VECTOR_A64) == 0);
}

static void aes_without_the_product_is_told_apart(void)
{
    const struct evc_a64_id id = {0, 0x11, 0x10, 0};

    EXPECT(evc_a64_features(&id) == (WORD | EVC_CPU(A64_NEON) | EVC_CPU(A64_AES)));
}

static void sve2_needs_sve(void)
{
    const struct evc_a64_id id = {0, 0x11, 0, 1};

    EXPECT(evc_a64_features(&id) == (WORD | EVC_CPU(A64_NEON)));
}

static void tuning_is_of_implementer_and_part_alone(void)
{
    EXPECT(evc_a64_tuning(0x410fd034) == EVC_CPU(TUNE_INORDER));
    EXPECT(evc_a64_tuning(0x41ffd03f) == EVC_CPU(TUNE_INORDER)); /* another variant and revision */
    EXPECT(evc_a64_tuning(0x510fd034) == 0);                     /* another implementer */
    EXPECT(evc_a64_tuning(0x410fd0b1) == 0 && evc_a64_tuning(0) == 0 && evc_a64_tuning(UINT64_MAX) == 0);
    for (uint64_t part = 0; part < 0x1000; part++)
        EXPECT((evc_a64_tuning(0x41000000 | part << 4) & ~EVC_TUNE_MASK) == 0);
}

/* What this CPU says of itself where programs may ask, as under Linux. */
static uint64_t features_by_registers(void)
{
#if EVC_A64 && defined(__linux__)
    struct evc_a64_id id;

    evc_a64_read_id(&id);
    return evc_a64_features(&id);
#else
    return evc_cpu_features();
#endif
}

static void both_sources_agree_here(void)
{
    /* QEMU 7.2 has FEAT_DIT and no word of it in HWCAP. */
    EXPECT(((features_by_registers() ^ evc_cpu_features()) & ~(EVC_A64 ? EVC_CPU(A64_DIT) : 0)) == 0);
}

#if EVC_A64
static int dit_is_set(void)
{
    uint64_t dit;

    __asm__ volatile("mrs %0, s3_3_c4_c2_5" : "=r"(dit));
    return (int)(dit >> 24 & 1);
}
#else
static int dit_is_set(void)
{
    return 0;
}
#endif

static void dit_is_set_between_begin_and_end_and_pairs_nest(void)
{
    const uint64_t features = features_by_registers();
    const int has = EVC_A64 && (features & EVC_CPU(A64_DIT));

    if (!has) { /* nothing is touched */
        evc_dit_end(evc_dit_begin(features));
        return;
    }
    EXPECT(!dit_is_set());
    int outer = evc_dit_begin(features);
    EXPECT(dit_is_set());
    int inner = evc_dit_begin(features);
    EXPECT(dit_is_set());
    evc_dit_end(inner);
    EXPECT(dit_is_set());
    evc_dit_end(outer);
    EXPECT(!dit_is_set());
    evc_dit_end(evc_dit_begin(features & ~EVC_CPU(A64_DIT)));
    EXPECT(!dit_is_set());
}

int main(void)
{
    RUN(features_are_read_from_the_registers);
    RUN(no_advanced_simd_is_no_vector_feature);
    RUN(aes_without_the_product_is_told_apart);
    RUN(sve2_needs_sve);
    RUN(tuning_is_of_implementer_and_part_alone);
    RUN(both_sources_agree_here);
    RUN(dit_is_set_between_begin_and_end_and_pairs_nest);
    return tap_done();
}

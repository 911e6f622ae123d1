/* SPDX-License-Identifier: MIT */
/*
 * x86: CPUID tells which instructions the CPU has, XCR0 tells which registers the operating system
 * keeps. Decoding is pure and available on every host.
 *
 * Source: Intel SDM (2024) vol. 1 sections 13.3 and 15.2, vol. 2A CPUID; AMD APM vol. 3 appendix E.
 *         Intel AVX10 Architecture Specification (361050, 2025), on feature enumeration: CPUs with
 *         AVX10 and vectors of 512 bits still show the flags of AVX-512.
 *         Clock with 512-bit vectors: Downs, "Gathering Intel on Intel AVX-512 Transitions" (2020),
 *         of Skylake-X, and "Ice Lake AVX-512 Downclocking" (2020), of Ice Lake and Rocket Lake.
 *         Ports: Intel 64 and IA-32 Architectures Optimization Reference Manual (248966, 2024),
 *         chapter 2. Chips and Cheese, "Intel's Lion Cove Architecture Preview" (2024): it is the
 *         first with a scheduler for vectors alone. Nothing is published of Panther Cove and Coyote
 *         Cove, which have AVX10.2 (361050) and come after it: they count as alike.
 *         Multiplication: Intel Architecture Optimization Reference Manual (245127, 1999), chapter
 *         1, execution units, and AMD Athlon Processor x86 Code Optimization Guide (22007, 2002),
 *         appendix F: one latency for each form, whatever the operands. Pornin, BearSSL,
 *         "Constant-Time Mul" (2017): 486 CPUs end early.
 */
#include "cpu/common.h"
#include "cpu/x86_lanes.h"

#define VENDOR_INTEL 0x756e6547 /* "Genu" */
#define VENDOR_AMD 0x68747541   /* "Auth" */
#define XCR0_YMM 0x06           /* bits 1 and 2: XMM and the upper halves of YMM */
#define XCR0_ZMM 0xe6           /* and bits 5 to 7: mask registers, upper
                                 * halves of ZMM0-15, ZMM16-31 */

/* Registers of CPUID that have flags. */
enum word { LEAF1_ECX, LEAF1_EDX, LEAF7_EBX, LEAF7_ECX, LEAF7_1_EAX, N_WORDS };

/* A feature counts if its flag is set, XCR0 has the bits of the registers, and the features that it
 * builds on count. A line comes after those that it builds on. */
static const struct flag {
    uint64_t feature;
    enum word word;
    unsigned bit;
    uint32_t xcr0;
    uint64_t builds_on;
} flags[] = {
    {EVC_CPU(X86_SSE2), LEAF1_EDX, 26, 0, 0},
    {EVC_CPU(X86_SSSE3), LEAF1_ECX, 9, 0, EVC_CPU(X86_SSE2)},
    {EVC_CPU(X86_SSE41), LEAF1_ECX, 19, 0, EVC_CPU(X86_SSSE3)},
    {EVC_CPU(X86_AES), LEAF1_ECX, 25, 0, EVC_CPU(X86_SSE2)},
    {EVC_CPU(X86_PCLMUL), LEAF1_ECX, 1, 0, EVC_CPU(X86_SSE2)},
    {EVC_CPU(X86_GFNI), LEAF7_ECX, 8, 0, EVC_CPU(X86_SSE2)},
    {EVC_CPU(X86_SHA), LEAF7_EBX, 29, 0, EVC_CPU(X86_SSE2)},
    {EVC_CPU(X86_BMI2), LEAF7_EBX, 8, 0, 0}, /* general registers: no state to keep */
    {EVC_CPU(X86_ADX), LEAF7_EBX, 19, 0, 0},
    {EVC_CPU(X86_AVX), LEAF1_ECX, 28, XCR0_YMM, EVC_CPU(X86_SSE41)},
    {EVC_CPU(X86_AVX2), LEAF7_EBX, 5, XCR0_YMM, EVC_CPU(X86_AVX)},
    {EVC_CPU(X86_VAES), LEAF7_ECX, 9, XCR0_YMM, EVC_CPU(X86_AVX)},
    {EVC_CPU(X86_VPCLMUL), LEAF7_ECX, 10, XCR0_YMM, EVC_CPU(X86_AVX)},
    {EVC_CPU(X86_AVXIFMA), LEAF7_1_EAX, 23, XCR0_YMM, EVC_CPU(X86_AVX2)},
    {EVC_CPU(X86_SHA512), LEAF7_1_EAX, 0, XCR0_YMM, EVC_CPU(X86_AVX2)},
    {EVC_CPU(X86_AVX512F), LEAF7_EBX, 16, XCR0_ZMM, EVC_CPU(X86_AVX2)},
    {EVC_CPU(X86_AVX512DQ), LEAF7_EBX, 17, XCR0_ZMM, EVC_CPU(X86_AVX512F)},
    {EVC_CPU(X86_AVX512IFMA), LEAF7_EBX, 21, XCR0_ZMM, EVC_CPU(X86_AVX512F)},
    {EVC_CPU(X86_AVX512BW), LEAF7_EBX, 30, XCR0_ZMM, EVC_CPU(X86_AVX512F)},
    {EVC_CPU(X86_AVX512VL), LEAF7_EBX, 31, XCR0_ZMM, EVC_CPU(X86_AVX512F)},
    {EVC_CPU(X86_AVX512VBMI), LEAF7_ECX, 1, XCR0_ZMM, EVC_CPU(X86_AVX512F)},
    {EVC_CPU(X86_AVX512VBMI2), LEAF7_ECX, 6, XCR0_ZMM, EVC_CPU(X86_AVX512F)},
};

static int bit_of(uint32_t word, unsigned bit)
{
    return (int)(word >> bit & 1);
}

static int has_leaf7_1(const struct evc_x86_id *id)
{
    return id->max_leaf >= 7 && id->leaf7_eax >= 1;
}

/* CPUID.(7,1):EDX bit 19; a CPU with AVX2 and leaf 7 subleaf 1. */
static int has_avx10(const struct evc_x86_id *id)
{
    return id->max_leaf >= 0x24 && has_leaf7_1(id) && bit_of(id->leaf7_1_edx, 19);
}

static uint32_t avx10_version(const struct evc_x86_id *id)
{
    return has_avx10(id) ? id->leaf24_ebx & 0xff : 0;
}

/* The registers that may be used: those that the operating system keeps, and says so by OSXSAVE. A
 * hypervisor may show AVX10 with vectors of at most 256 bits (leaf 24h, EBX bit 18 clear). Flags of
 * AVX-512 beside that contradict it and do not count. */
static uint32_t usable_state(const struct evc_x86_id *id, uint32_t leaf1_ecx)
{
    if (!bit_of(leaf1_ecx, 27)) /* OSXSAVE */
        return 0;
    if (has_avx10(id) && !bit_of(id->leaf24_ebx, 18))
        return id->xcr0 & XCR0_YMM;
    return id->xcr0;
}

static uint32_t family_of(const struct evc_x86_id *id)
{
    return id->leaf1_eax >> 8 & 15;
}

/* Features that Skylake-X lacks, and so do Cascade and Cooper Lake, which have its model number.
 * These lower their clock for vectors of 512 bits, a Xeon W-2104 from 3.2 to 2.8 GHz, and keep it
 * low for milliseconds (Downs). Of later cores a cost is known of Ice Lake: servers run at 3.37
 * instead of 3.46 GHz (measured, November 2026), clients at 3.6 instead of 3.7 GHz with one core in
 * use (Downs). */
#define AFTER_SKYLAKE_X \
    (EVC_CPU(X86_AVX512VBMI) | EVC_CPU(X86_AVX512VBMI2) | EVC_CPU(X86_AVX512IFMA) | \
     EVC_CPU(X86_VAES) | EVC_CPU(X86_VPCLMUL) | EVC_CPU(X86_GFNI))

/* Models of Intel's family 6 with cores from Skylake to Redwood Cove (Linux, 2026,
 * arch/x86/include/asm/intel-family.h). */
static const uint8_t skylake_to_redwood_cove[] = {
    0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6, /* Skylake to Comet Lake */
    0x66, 0x6a, 0x6c, 0x7d, 0x7e, 0x9d,       /* Cannon Lake, Ice Lake */
    0x8a, 0x8c, 0x8d, 0xa7,                   /* Lakefield, Tiger Lake, Rocket Lake */
    0x97, 0x9a, 0xb7, 0xba, 0xbf, 0xd7,       /* Alder, Raptor and Bartlett Lake */
    0x8f, 0xcf, 0xad, 0xae,                   /* Sapphire, Emerald and Granite Rapids */
    0xaa, 0xac, 0xb5,                         /* Meteor Lake, Arrow Lake U */
};

/* Cores whose general registers share the ports of vectors: Intel's from Skylake to Redwood Cove.
 * Lion Cove and its successors, Intel's small cores and AMD's have ports of their own for vectors.
 * A CPU of both sizes counts as its large cores.
 *
 * A virtual machine may show the number of another core, so flags come first. Those of AVX-512 are
 * of cores that share: of Intel's others only Xeon Phi has it, without vectors of 128 bits (VL),
 * and the successors of Lion Cove, with AVX10.2. If AVX-512 is not there or hidden, VAES tells that
 * a number is of an older core: all cores with VAES and a number below Sierra Forest's share. In
 * all other cases the number decides. Numbers of families after 6 (18 Nova Lake, 19 Diamond Rapids)
 * and unknown ones are of new cores, which do not share. */
static int shares_ports(const struct evc_x86_id *id, const uint32_t words[N_WORDS])
{
    const uint32_t model = (id->leaf1_eax >> 4 & 15) | (id->leaf1_eax >> 12 & 0xf0);
    const int is_family6 = family_of(id) == 6;

    if (id->max_leaf < 1 || id->vendor_ebx != VENDOR_INTEL)
        return 0;
    if (id->leaf1_eax >> 20 & 0xff /* extended family: 18 and later */ || avx10_version(id) >= 2)
        return 0;
    if (bit_of(words[LEAF7_EBX], 16) && bit_of(words[LEAF7_EBX], 31)) /* AVX512F, AVX512VL */
        return 1;
    if (bit_of(words[LEAF7_ECX], 9) && !(is_family6 && model >= 0xaf)) /* VAES, Sierra Forest */
        return 1;
    for (size_t i = 0; i < sizeof skylake_to_redwood_cove; i++)
        if (skylake_to_redwood_cove[i] == model)
            return is_family6;
    return 0;
}

/* The cores of x86-64, also where they run 32-bit code; Intel's P6 and what grew out of it; AMD's
 * K7. Not the Pentium 4 of 32 bits, whose manual gives no single latency, nor older CPUs and
 * those of other makers. */
static int multiplies_in_constant_time(const struct evc_x86_id *id)
{
    if (id->mode64 ||
        (id->max_extended_leaf >= 0x80000001 && bit_of(id->extended1_edx, 29) /* long mode */))
        return 1;
    return id->max_leaf >= 1 && family_of(id) == 6 &&
           (id->vendor_ebx == VENDOR_INTEL || id->vendor_ebx == VENDOR_AMD);
}

/* BMI2 (bit 8) without BMI1 (bit 3), which no CPU has, does not count: kernels use both. */
static uint32_t leaf7_ebx_of(const struct evc_x86_id *id)
{
    if (id->max_leaf < 7)
        return 0;
    return bit_of(id->leaf7_ebx, 3) ? id->leaf7_ebx : id->leaf7_ebx & ~(1u << 8);
}

uint64_t evc_x86_features(const struct evc_x86_id *id)
{
    /* A leaf beyond the greatest is not there, whatever was read: Intel's CPUs answer with
     * another leaf's values. */
    const uint32_t words[N_WORDS] = {
        [LEAF1_ECX] = id->max_leaf >= 1 ? id->leaf1_ecx : 0,
        [LEAF1_EDX] = id->max_leaf >= 1 ? id->leaf1_edx : 0,
        [LEAF7_EBX] = leaf7_ebx_of(id),
        [LEAF7_ECX] = id->max_leaf >= 7 ? id->leaf7_ecx : 0,
        [LEAF7_1_EAX] = has_leaf7_1(id) ? id->leaf7_1_eax : 0,
    };
    const uint32_t state = usable_state(id, words[LEAF1_ECX]);
    uint64_t have = (id->mode64 ? EVC_CPU(X86_MODE64) | EVC_CPU(TUNE_WORD64) : 0) |
                    (multiplies_in_constant_time(id) ? EVC_CPU(CT_MUL) : 0);

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        const struct flag *f = &flags[i];
        if (bit_of(words[f->word], f->bit) && (state & f->xcr0) == f->xcr0 &&
            (have & f->builds_on) == f->builds_on)
            have |= f->feature;
    }
    if ((have & EVC_CPU(X86_AVX512F)) && (have & AFTER_SKYLAKE_X))
        have |= EVC_CPU(TUNE_ZMM);
    if (shares_ports(id, words))
        have |= EVC_CPU(TUNE_SHARED_PORTS);
    return have;
}

#if EVC_X86

struct regs {
    uint32_t a, b, c, d;
};

static struct regs cpuid(uint32_t leaf, uint32_t subleaf)
{
    struct regs r;

    __asm__ volatile("cpuid"
                     : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d)
                     : "a"(leaf), "c"(subleaf));
    return r;
}

static uint32_t xgetbv0(void)
{
    uint32_t lo, hi;

    __asm__ volatile(".byte 0x0f, 0x01, 0xd0" /* xgetbv */ : "=a"(lo), "=d"(hi) : "c"(0));
    (void)hi;
    return lo;
}

/* CPUID is slow in a virtual machine: no leaf is read that decides nothing. */
void evc_x86_read_id(struct evc_x86_id *id)
{
    const struct evc_x86_id nothing = {0};
    struct regs r = cpuid(0, 0);

    *id = nothing;
    id->mode64 = EVC_X86_64;
    id->max_leaf = r.a;
    id->vendor_ebx = r.b;
    if (id->max_leaf >= 1) {
        r = cpuid(1, 0);
        id->leaf1_eax = r.a;
        id->leaf1_ecx = r.c;
        id->leaf1_edx = r.d;
        if (bit_of(r.c, 27)) /* OSXSAVE: XGETBV is allowed */
            id->xcr0 = xgetbv0();
    }
    if (id->max_leaf >= 7) {
        r = cpuid(7, 0);
        id->leaf7_eax = r.a;
        id->leaf7_ebx = r.b;
        id->leaf7_ecx = r.c;
    }
    if (has_leaf7_1(id)) {
        r = cpuid(7, 1);
        id->leaf7_1_eax = r.a;
        id->leaf7_1_edx = r.d;
    }
    if (has_avx10(id))
        id->leaf24_ebx = cpuid(0x24, 0).b;
    if (!id->mode64) {
        id->max_extended_leaf = cpuid(0x80000000, 0).a;
        if (id->max_extended_leaf >= 0x80000001)
            id->extended1_edx = cpuid(0x80000001, 0).d;
    }
}

#if EVC_FEATURES_FROM == EVC_FROM_CPUID
uint64_t evc_cpu_features(void)
{
    struct evc_x86_id id;
    uint64_t features;

    evc_x86_read_id(&id);
    features = evc_x86_features(&id);
    features &= ~evc_x86_wrong_lanes(features);
    /* Builds of tests, which do not use AVX-IFMA where kernels of others do (bn/ifma_vectors.h). */
#if defined(EVC_IFMA256_PORTABLE)
    features |= features & EVC_CPU(X86_AVX2) ? EVC_CPU(X86_AVXIFMA) : 0;
#elif defined(EVC_IFMA256_EVEX)
    features |= features & EVC_CPU(X86_AVX512IFMA) && features & EVC_CPU(X86_AVX512VL)
                    ? EVC_CPU(X86_AVXIFMA)
                    : 0;
#endif
    return features;
}
#endif

#endif

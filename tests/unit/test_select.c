/* SPDX-License-Identifier: MIT */
/* Selection, for every architecture on any host: all subsets of the feature
 * bits that lines mention. */
#include "tap.h"
#include "everycore/bn.h"
#include "everycore/bn_words.h"
#include "everycore/gcm.h"
#include "everycore/qarma.h"
#include "everycore/sha2.h"
#include "everycore/x25519.h"

#include "aes/kernel.h"
#include "x86_cpus.h"

#define LISTS_aes EVC_YES
#define LISTS_PAIR EVC_YES
#define LISTED(stem) evc_aes_##stem##_forward
#include "common/kernel_list.h"

static const struct {
    enum evc_arch arch;
    uint64_t vector;
    const char *name;
} archs[] = {
#define ARCH(name, text) {EVC_ARCH_##name, EVC_VECTOR_##name, text},
    EVC_ARCH_LIST(ARCH)
#undef ARCH
};
#define N_ARCHS (sizeof archs / sizeof archs[0])
#define N_POLICIES 4u

static int is_of(const struct evc_registry_line *line, enum evc_arch arch)
{
    return line->arch == arch || line->arch == EVC_ARCH_OTHER;
}

static int allowed(const struct evc_registry_line *line, unsigned policy)
{
    switch (line->timing) {
    case EVC_TIMING_CT: return 1;
    case EVC_TIMING_HARDENED: return (policy & EVC_ALLOW_HARDENED) != 0;
    default: return (policy & EVC_ALLOW_VARTIME) != 0;
    }
}

/* By lines of a primitive; NULL: of any. */
static uint64_t bits_mentioned(enum evc_arch arch, const char *primitive)
{
    const struct evc_registry_line *line;
    uint64_t bits = 0;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        if (is_of(line, arch) && (!primitive || strcmp(line->primitive, primitive) == 0))
            bits |= line->needs;
    return bits;
}

typedef void subset_check(enum evc_arch arch, uint64_t features, unsigned policy, enum evc_use use,
                          const struct evc_registry_line *chosen);

/* One in so many subsets is tried: of the test's own architecture, and of others. What is selected
 * does not depend on the CPU: builds that are slow, by emulation or sanitizers, take few, and
 * native ones take all of each architecture. */
#ifndef SUBSETS_HERE
#define SUBSETS_HERE 1
#endif
#ifndef SUBSETS_ELSEWHERE
#define SUBSETS_ELSEWHERE 1
#endif

/* All subsets of the bits that lines of the primitive mention, without those that others do
 * and with all of them. */
static void for_all_requests(const char *primitive, subset_check *const *checks)
{
    for (size_t a = 0; a < N_ARCHS; a++) {
        const enum evc_arch arch = archs[a].arch;
        const uint64_t bits = bits_mentioned(arch, primitive),
                       others = bits_mentioned(arch, NULL) & ~bits;
        const unsigned stride = (int)arch == EVC_ARCH_HERE ? SUBSETS_HERE : SUBSETS_ELSEWHERE;
        uint64_t subset = 0;
        unsigned count = 0;
        do { /* the next subset of bits: count with the other bits filled */
            const unsigned n_requests = count++ % stride == 0 ? 2 * N_POLICIES : 0;
            for (unsigned request = 0; request < n_requests; request++) {
                const uint64_t features = subset | (request & 1 ? others : 0);
                for (int use = EVC_USE_ANY; use <= EVC_USE_SERIAL; use++) {
                    const struct evc_registry_line *chosen =
                        evc_resolve(arch, primitive, features, request >> 1, (enum evc_use)use);
                    for (subset_check *const *check = checks; *check; check++)
                        (*check)(arch, features, request >> 1, (enum evc_use)use, chosen);
                }
            }
            subset = (subset - bits) & bits;
        } while (subset);
    }
}

static void never_varies(enum evc_arch arch, uint64_t features, unsigned policy, enum evc_use use,
                         const struct evc_registry_line *chosen)
{
    (void)arch, (void)features, (void)use;
    EXPECT(chosen != NULL);
    EXPECT(!chosen || policy != 0 || chosen->timing == EVC_TIMING_CT);
    EXPECT(!chosen || allowed(chosen, policy));
}

/* The needs of a kernel that the CPU lacks: under the policy vartime, any
 * multiplier is good enough. */
static uint64_t lacking(uint64_t needs, uint64_t features, unsigned policy)
{
    const uint64_t lacking = needs & ~features;

    return policy & EVC_ALLOW_VARTIME ? lacking & ~EVC_CPU(CT_MUL) : lacking;
}

static void fits(enum evc_arch arch, uint64_t features, unsigned policy, enum evc_use use,
                 const struct evc_registry_line *chosen)
{
    EXPECT(!chosen || lacking(chosen->needs, features, policy) == 0);
    EXPECT(!chosen || is_of(chosen, arch));
    EXPECT(!chosen || use == EVC_USE_ANY || chosen->use == EVC_USE_ANY || chosen->use == use);
}

static void first(enum evc_arch arch, uint64_t features, unsigned policy, enum evc_use use,
                  const struct evc_registry_line *chosen)
{
    const struct evc_registry_line *line;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL && line != chosen; i++)
        EXPECT(!is_of(line, arch) || lacking(line->needs, features, policy) != 0 ||
               !allowed(line, policy) ||
               (use != EVC_USE_ANY && line->use != EVC_USE_ANY && line->use != use));
}

static void agrees(enum evc_arch arch, uint64_t features, unsigned policy, enum evc_use use,
                   const struct evc_registry_line *chosen)
{
    const struct evc_aes *aes;

    if ((int)arch != EVC_ARCH_HERE)
        return;
    aes = evc_aes_select(features, policy, use);
    EXPECT(aes && chosen);
    if (aes && chosen && chosen->built)
        EXPECT(strcmp(evc_aes_kernel(aes)->name, chosen->name) == 0);
    else if (aes) /* this library has 32-bit code, and the request is for 64 bits */
        EXPECT((evc_aes_kernel(aes)->needs & ~features) == 0);
}

/* By default nothing whose time varies; nothing that the CPU lacks; nothing while something better
 * is there; and what evc_resolve says. */
static void every_request_gets_the_first_kernel_that_fits(void)
{
    static subset_check *const checks[] = {never_varies, fits, first, agrees, NULL};

    for_all_requests("aes", checks);
}

static void ghash_and_gcm_need_only_what_the_cpu_has(void)
{
    const uint64_t bits =
        bits_mentioned(EVC_ARCH_HERE, "ghash") | bits_mentioned(EVC_ARCH_HERE, "gcm");
    uint64_t features = 0;

    do {
        for (unsigned policy = 0; policy < N_POLICIES; policy++) {
            const struct evc_ghash *ghash = evc_ghash_select(features, policy);
            const struct evc_gcm *gcm = evc_gcm_select(features, policy);

            EXPECT(ghash && lacking(evc_ghash_kernel(ghash)->needs, features, policy) == 0);
            EXPECT(!gcm || lacking(evc_gcm_kernel(gcm)->needs, features, policy) == 0);
        }
        features = (features - bits) & bits;
    } while (features);
}

/* Each line serves a CPU that has just what it needs, for its own use, unless
 * a line before it does. */
static void every_line_is_the_answer_to_its_own_needs(void)
{
    const struct evc_registry_line *line, *before, *chosen;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++) {
        const unsigned policy = EVC_ALLOW_HARDENED | EVC_ALLOW_VARTIME;
        const enum evc_arch arch = (enum evc_arch)line->arch;
        const enum evc_use use =
            line->use == EVC_USE_ANY ? EVC_USE_SERIAL : (enum evc_use)line->use;
        int beaten = 0;
        chosen = evc_resolve(arch, line->primitive, line->needs, policy, use);
        for (unsigned j = 0; j < i && (before = evc_registry_at(j)) != NULL; j++)
            beaten |=
                evc_unfit(before, arch, line->primitive, line->needs, policy, use) == EVC_FITS;
        EXPECT(beaten ? chosen != line : chosen == line);
    }
}

/* The meaning of the registry's order today, for CPUs that people know. */
static void known_cpus_get_the_kernels_meant_for_them(void)
{
    static const struct {
        uint64_t features;
        enum evc_arch arch;
        unsigned policy;
        enum evc_use use;
        const char *kernel;
    } cpus[] = {
        {EVC_NEEDS_X86_VAES512_INTEL, EVC_ARCH_X86, 0, EVC_USE_PARALLEL, "x86_vaes512_intel"},
        {EVC_NEEDS_X86_VAES512_INTEL, EVC_ARCH_X86, 0, EVC_USE_SERIAL, "x86_aesni_intel"},
        {EVC_NEEDS_X86_VAES512_CLMUL, EVC_ARCH_X86, 0, EVC_USE_PARALLEL, "x86_vaes512"},
        {EVC_NEEDS_X86_VAES512_CLMUL, EVC_ARCH_X86, 0, EVC_USE_SERIAL, "x86_aesni"},
        {EVC_NEEDS_X86_VAES256_CLMUL, EVC_ARCH_X86, 0, EVC_USE_PARALLEL, "x86_vaes256"},
        {EVC_NEEDS_X86_AESNI, EVC_ARCH_X86, 0, EVC_USE_PARALLEL, "x86_aesni"},
        {EVC_NEEDS_X86_AESNI, EVC_ARCH_X86, 0, EVC_USE_SERIAL, "x86_aesni"},
        {EVC_NEEDS_X86_AVX2, EVC_ARCH_X86, 0, EVC_USE_PARALLEL, "x86_vperm256"},
        {EVC_NEEDS_X86_SSSE3, EVC_ARCH_X86, 0, EVC_USE_PARALLEL, "x86_bitslice128"},
        {EVC_NEEDS_X86_SSSE3, EVC_ARCH_X86, 0, EVC_USE_SERIAL, "x86_vperm"},
        {EVC_NEEDS_X86_SSE2 | EVC_CPU(TUNE_WORD64), EVC_ARCH_X86, 0, EVC_USE_PARALLEL,
         "x86_fixslice128"},
        {EVC_NEEDS_X86_SSSE3, EVC_ARCH_X86, EVC_ALLOW_HARDENED, EVC_USE_SERIAL, "x86_vperm"},
        {EVC_NEEDS_X86_SSSE3, EVC_ARCH_X86, EVC_ALLOW_VARTIME, EVC_USE_SERIAL, "c_ttable4"},
        {EVC_CPU(TUNE_WORD64), EVC_ARCH_A64, EVC_ALLOW_HARDENED, EVC_USE_SERIAL, "c_fixedtime"},
        {EVC_CPU(TUNE_WORD64), EVC_ARCH_A64, EVC_ALLOW_VARTIME, EVC_USE_SERIAL, "a64_ttable1"},
        {0, EVC_ARCH_OTHER, EVC_ALLOW_VARTIME, EVC_USE_PARALLEL, "c_ttable4"},
        {EVC_CPU(TUNE_WORD64), EVC_ARCH_A64, 0, EVC_USE_PARALLEL, "c_bitslice64"},
        {0, EVC_ARCH_OTHER, EVC_ALLOW_HARDENED, EVC_USE_PARALLEL, "c_fixslice32"},
        {0, EVC_ARCH_A32, 0, EVC_USE_SERIAL, "c_fixslice32"},
        {EVC_NEEDS_A32_THUMB2, EVC_ARCH_A32, 0, EVC_USE_PARALLEL, "a32_fixslice"},
        {EVC_NEEDS_A32_THUMB2, EVC_ARCH_A32, 0, EVC_USE_SERIAL, "a32_fixslice"},
    };

    for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++) {
        const struct evc_registry_line *line =
            evc_resolve(cpus[i].arch, "aes", cpus[i].features, cpus[i].policy, cpus[i].use);
        EXPECT(line && strcmp(line->name, cpus[i].kernel) == 0);
        if (line && strcmp(line->name, cpus[i].kernel) != 0)
            printf("# %s instead of %s\n", line->name, cpus[i].kernel);
    }
}

static int is_selected_somewhere(const struct evc_registry_line *line)
{
    for (size_t a = 0; a < N_ARCHS; a++)
        for (unsigned policy = 0; policy < N_POLICIES; policy++)
            for (int use = EVC_USE_PARALLEL; use <= EVC_USE_SHA512; use++)
                if (evc_resolve(archs[a].arch, line->primitive, line->needs, policy,
                                (enum evc_use)use) == line)
                    return 1;
    return 0;
}

/* Lines that no CPU and no policy selects have the mark NAMED, and no others; they stand behind all
 * others of their primitive. */
static void every_line_is_selected_somewhere_but_those_by_name(void)
{
    const struct evc_registry_line *line, *idle = NULL;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++) {
        if (idle && strcmp(idle->primitive, line->primitive) != 0)
            idle = NULL;
        int selected = is_selected_somewhere(line);
        EXPECT(!(selected && idle));
        EXPECT(selected != line->by_name);
        if (selected == line->by_name)
            printf("# the mark NAMED is wrong: %s %s\n", line->primitive, line->name);
        if (selected && idle)
            printf("# never selected, but before others: %s %s\n", idle->primitive, idle->name);
        if (!selected)
            idle = line;
    }
}

static void without_vector_registers_only_integer_code_is_selected(void)
{
    for (size_t a = 0; a < N_ARCHS; a++) {
        const uint64_t features = bits_mentioned(archs[a].arch, NULL) & ~archs[a].vector;
        for (int use = EVC_USE_ANY; use <= EVC_USE_SERIAL; use++) {
            const struct evc_registry_line *line =
                evc_resolve(archs[a].arch, "aes", features, 0, (enum evc_use)use);
            EXPECT(line && (line->arch == EVC_ARCH_OTHER || line->needs == EVC_NEEDS_A32_THUMB2 ||
                            line->needs == EVC_NEEDS_RV64_ZKN ||
                            line->needs == EVC_NEEDS_RV32_ZKN ||
                            line->needs == EVC_NEEDS_S390X_MSA4));
        }
    }
}

/* The descriptor of a line, by the name; NULL if it is not in this library. */
static const struct evc_kernel *descriptor(const struct evc_registry_line *line)
{
    if (strcmp(line->primitive, "ghash") == 0)
        return evc_ghash_kernel(evc_ghash_named(line->name));
    if (strcmp(line->primitive, "gcm") == 0)
        return evc_gcm_kernel(evc_gcm_named(line->name));
    if (strcmp(line->primitive, "qarma") == 0)
        return evc_qarma_kernel(evc_qarma_named(line->name));
    if (strcmp(line->primitive, "bn") == 0)
        return evc_bn_kernel(evc_bn_named(line->name));
    if (strcmp(line->primitive, "bn_words") == 0)
        return evc_bn_words_kernel(evc_bn_words_named(line->name));
    if (strcmp(line->primitive, "sha2") == 0)
        return evc_sha2_kernel(evc_sha2_named(line->name));
    if (strcmp(line->primitive, "x25519") == 0)
        return evc_x25519_kernel(evc_x25519_named(line->name));
    return evc_aes_kernel(evc_aes_named(line->name));
}

static void every_descriptor_equals_its_line(void)
{
    const struct evc_registry_line *line;
    unsigned n_aes = 0, n_ghash = 0, n_gcm = 0, n_qarma = 0, n_bn = 0, n_words = 0, n_sha2 = 0,
             n_x25519 = 0;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++) {
        const struct evc_kernel *k = descriptor(line);
        EXPECT((k != NULL) == (line->built != 0));
        if (!k)
            continue;
        if (strcmp(line->primitive, "aes") == 0) {
            EXPECT(k == evc_aes_kernel(evc_aes_at(n_aes++)) && k->key_bytes <= 1024);
        } else if (strcmp(line->primitive, "gcm") == 0) {
            EXPECT(k == evc_gcm_kernel(evc_gcm_at(n_gcm++)));
            EXPECT(k->key_bytes <= sizeof(union evc_gcm_key));
        } else if (strcmp(line->primitive, "qarma") == 0) {
            EXPECT(k == evc_qarma_kernel(evc_qarma_at(n_qarma++)));
            EXPECT(k->key_bytes <= sizeof(union evc_qarma_key));
        } else if (strcmp(line->primitive, "bn") == 0) {
            EXPECT(k == evc_bn_kernel(evc_bn_at(n_bn++)));
        } else if (strcmp(line->primitive, "bn_words") == 0) {
            EXPECT(k == evc_bn_words_kernel(evc_bn_words_at(n_words++)) && k->key_bytes == 0);
        } else if (strcmp(line->primitive, "sha2") == 0) {
            const struct evc_sha2 *sha2 = evc_sha2_at(n_sha2++);
            EXPECT(k == evc_sha2_kernel(sha2) && k->key_bytes == 0);
            EXPECT((sha2->blocks256 != NULL) == (line->use != EVC_USE_SHA512));
            EXPECT((sha2->blocks512 != NULL) == (line->use != EVC_USE_SHA256));
        } else if (strcmp(line->primitive, "x25519") == 0) {
            EXPECT(k == evc_x25519_kernel(evc_x25519_at(n_x25519++)) && k->key_bytes == 0);
        } else {
            EXPECT(k == evc_ghash_kernel(evc_ghash_at(n_ghash++)));
        }
        EXPECT(strcmp(k->name, line->name) == 0 && k->needs == line->needs);
        EXPECT(k->timing == line->timing && k->use == line->use);
        EXPECT(k->key_bytes >= sizeof(const struct evc_kernel *) ||
               strcmp(line->primitive, "bn_words") == 0 || strcmp(line->primitive, "sha2") == 0 ||
               strcmp(line->primitive, "x25519") == 0);
        EXPECT(k->key_align == 16 && k->batch > 0);
    }
    EXPECT(evc_aes_at(n_aes) == NULL && evc_aes_at(~0u) == NULL);
    EXPECT(evc_gcm_at(n_gcm) == NULL && evc_gcm_at(~0u) == NULL);
    EXPECT(evc_ghash_at(n_ghash) == NULL && evc_ghash_at(~0u) == NULL);
    EXPECT(evc_qarma_at(n_qarma) == NULL && evc_qarma_at(~0u) == NULL);
    EXPECT(evc_bn_at(n_bn) == NULL && evc_bn_at(~0u) == NULL);
    EXPECT(evc_bn_words_at(n_words) == NULL && evc_bn_words_at(~0u) == NULL);
    EXPECT(evc_sha2_at(n_sha2) == NULL && evc_sha2_at(~0u) == NULL);
    EXPECT(evc_x25519_at(n_x25519) == NULL && evc_x25519_at(~0u) == NULL);
}

static const uint64_t tuning_bits = 0
#define TUNE_BIT(name, arch, bit, text) | UINT64_C(1) << (bit)
    EVC_TUNE_LIST(TUNE_BIT);
#undef TUNE_BIT

static void tuning_is_what_its_mask_says(void)
{
    EXPECT((tuning_bits & ~EVC_TUNE_MASK) == 0);
#define NO_TUNE_BIT(name, arch, bit, text) \
    EXPECT((tuning_bits >> (bit) & 1) || !(EVC_TUNE_MASK >> (bit) & 1));
    EVC_FEATURE_LIST(NO_TUNE_BIT)
#undef NO_TUNE_BIT
}

/* Every kernel, with every subset of what it needs, alone and with all features that it does not
 * need. */
static void kernels_run_where_nothing_but_tuning_is_missing(void)
{
    const struct evc_registry_line *line;
    unsigned n_ct_mul = 0;

    EXPECT(!evc_kernel_runs(NULL, ~UINT64_C(0)));
    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++) {
        const struct evc_kernel *const k = line->built ? descriptor(line) : NULL;
        const uint64_t needs = line->needs;
        uint64_t subset = 0;

        for (int more = k != NULL; more;) {
            int runs = 1;

            for (int bit = 0; bit < 64; bit++)
                if ((needs & ~subset & ~tuning_bits) >> bit & 1)
                    runs = 0;
            EXPECT(!!evc_kernel_runs(k, subset) == runs);
            EXPECT(!!evc_kernel_runs(k, subset | ~needs) == runs);
            /* without ct-mul, only if the caller says that it does not matter */
            if (needs & ~subset & EVC_CPU(CT_MUL)) {
                n_ct_mul++;
                EXPECT(k->timing == EVC_TIMING_CT && !runs);
                EXPECT(!evc_kernel_runs(k, ~EVC_CPU(CT_MUL)));
                EXPECT(evc_kernel_runs(k, (needs & ~tuning_bits) | EVC_CPU(CT_MUL)));
            }
            subset = (subset - needs) & needs;
            more = subset != 0;
        }
    }
    EXPECT(n_ct_mul > 0);
}

static void names_are_whole_and_unique(void)
{
    const struct evc_registry_line *line, *other;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        for (unsigned j = 0; j < i && (other = evc_registry_at(j)) != NULL; j++)
            EXPECT(strcmp(line->name, other->name) != 0 ||
                   strcmp(line->primitive, other->primitive) != 0);
    EXPECT(evc_aes_named("") == NULL && evc_aes_named("c_re") == NULL);
    EXPECT(evc_aes_named("c_reff") == NULL && evc_aes_named("c_ref") != NULL);
    EXPECT(evc_resolve(EVC_ARCH_HERE, "ae", ~UINT64_C(0), 3, EVC_USE_ANY) == NULL);
    EXPECT(evc_resolve(EVC_ARCH_HERE, "aess", ~UINT64_C(0), 3, EVC_USE_ANY) == NULL);
}

static void unfit_names_the_reason(void)
{
    const struct evc_registry_line line = {
        "aes", "x", "X", EVC_CPU(X86_AES), EVC_ARCH_X86, EVC_TIMING_VARTIME, EVC_USE_SERIAL, 1,
        0,     0};
    const struct evc_registry_line hardened = {
        "aes", "y", "X", EVC_CPU(X86_AES), EVC_ARCH_X86, EVC_TIMING_HARDENED, EVC_USE_ANY, 1,
        0,     0};
    const uint64_t has = EVC_CPU(X86_AES);

    EXPECT(evc_unfit(&line, EVC_ARCH_X86, "gcm", has, 2, EVC_USE_SERIAL) == EVC_UNFIT_PRIMITIVE);
    EXPECT(evc_unfit(&line, EVC_ARCH_A64, "aes", has, 2, EVC_USE_SERIAL) == EVC_UNFIT_ARCH);
    EXPECT(evc_unfit(&line, EVC_ARCH_X86, "aes", 1, 2, EVC_USE_SERIAL) == EVC_UNFIT_FEATURE);
    EXPECT(evc_unfit(&line, EVC_ARCH_X86, "aes", has, 1, EVC_USE_SERIAL) == EVC_UNFIT_TIMING);
    EXPECT(evc_unfit(&line, EVC_ARCH_X86, "aes", has, 2, EVC_USE_PARALLEL) == EVC_UNFIT_USE);
    EXPECT(evc_unfit(&line, EVC_ARCH_X86, "aes", has, 2, EVC_USE_ANY) == EVC_FITS);
    EXPECT(evc_unfit(&line, EVC_ARCH_X86, "aes", has, 3, EVC_USE_SERIAL) == EVC_FITS);
    EXPECT(evc_unfit(&hardened, EVC_ARCH_X86, "aes", has, 0, EVC_USE_SERIAL) == EVC_UNFIT_TIMING);
    EXPECT(evc_unfit(&hardened, EVC_ARCH_X86, "aes", has, 2, EVC_USE_SERIAL) == EVC_UNFIT_TIMING);
    EXPECT(evc_unfit(&hardened, EVC_ARCH_X86, "aes", has, 1, EVC_USE_SERIAL) == EVC_FITS);
}

static void this_cpu_is_served_by_what_it_runs(void)
{
    const uint64_t features = evc_cpu_features();

    for (int use = EVC_USE_ANY; use <= EVC_USE_SERIAL; use++) {
        const struct evc_aes *aes = evc_aes_select(features, 0, (enum evc_use)use);
        EXPECT(aes && (evc_aes_kernel(aes)->needs & ~features) == 0);
    }
    EXPECT(((features & EVC_CPU(TUNE_WORD64)) != 0) == (EVC_WORD64 != 0));
}

static const char *name_for(const char *primitive, enum evc_arch arch, uint64_t features,
                            unsigned policy)
{
    return evc_resolve(arch, primitive, features, policy, EVC_USE_ANY)->name;
}

static int is_for(const char *primitive, enum evc_arch arch, uint64_t features, unsigned policy,
                  const char *kernel)
{
    return strcmp(name_for(primitive, arch, features, policy), kernel) == 0;
}

/* everycore/cpu.h: where nobody knows it, the caller adds the bit. */
static void the_caller_may_vouch_for_the_multiplier(void)
{
    const uint64_t word64 = EVC_CPU(TUNE_WORD64), ct_mul = EVC_CPU(CT_MUL);

    for (size_t a = 0; a < N_ARCHS; a++) {
        EXPECT(is_for("ghash", archs[a].arch, 0, 0, "c_ref"));
        EXPECT(is_for("ghash", archs[a].arch, word64, 0, "c_ref"));
        EXPECT(is_for("ghash", archs[a].arch, ct_mul, 0, "c_ctmul32"));
        EXPECT(is_for("ghash", archs[a].arch, word64 | ct_mul, 0, "c_ctmul64"));
    }
}

/* The kernel of bn or, if there is none in assembly that needs ct-mul alone, the portable one. */
static const char *bn_of(enum evc_arch arch, const char *portable)
{
    return arch == EVC_ARCH_A64     ? "a64_umulh"
           : arch == EVC_ARCH_PPC64 ? "ppc64_mulhdu"
           : arch == EVC_ARCH_S390X ? "s390x_mlg"
                                    : portable;
}

/* With the feature or without it: the policy allows what a multiplier without it
 * makes of these kernels. */
static void the_policy_vartime_allows_any_multiplier(void)
{
    const uint64_t word64 = EVC_CPU(TUNE_WORD64), ct_mul = EVC_CPU(CT_MUL);
    const unsigned vartime = EVC_ALLOW_VARTIME;

    for (size_t a = 0; a < N_ARCHS; a++) {
        const enum evc_arch arch = archs[a].arch;

        for (unsigned policy = 0; policy <= EVC_ALLOW_HARDENED; policy++) {
            EXPECT(is_for("bn", arch, word64, policy, "c_ref") &&
                   is_for("bn_words", arch, word64, policy, "c_ref"));
            EXPECT(is_for("bn", arch, 0, policy, "c_ref") &&
                   is_for("bn_words", arch, 0, policy, "c_ref"));
        }
        for (uint64_t known = 0; known <= 1; known++) {
            const uint64_t have = known ? ct_mul : 0;

            EXPECT(is_for("bn", arch, have | word64, vartime, bn_of(arch, "c_limb64")));
            EXPECT(is_for("bn", arch, have, vartime, bn_of(arch, "c_limb32")));
            EXPECT(
                is_for("bn", arch, have | EVC_CPU(TUNE_MULADD), vartime, bn_of(arch, "c_digit27")));
            EXPECT(is_for("bn_words", arch, have | word64, vartime,
                          arch == EVC_ARCH_A64 ? "a64_umulh" : "c_words64"));
            EXPECT(is_for("bn_words", arch, have, vartime,
                          arch == EVC_ARCH_A64 ? "a64_umulh" : "c_words32"));
            EXPECT(is_for("ghash", arch, have | word64, vartime, "c_ctmul64"));
            EXPECT(is_for("ghash", arch, have, vartime, "c_table4"));
        }
    }
    EXPECT(is_for("bn", EVC_ARCH_HPPA, EVC_CPU(HPPA_PA11), vartime, "hppa_xmpyu"));
    EXPECT(is_for("bn_words", EVC_ARCH_HPPA, EVC_CPU(HPPA_PA11), vartime, "hppa_xmpyu"));
    EXPECT(is_for("bn", EVC_ARCH_HPPA, EVC_CPU(HPPA_PA11) | EVC_CPU(HPPA_FMPYADD), vartime,
                  "hppa_fmpyadd"));
    EXPECT(is_for("bn", EVC_ARCH_HPPA, EVC_CPU(HPPA_FMPYADD), vartime, "c_limb32"));
    EXPECT(is_for("bn", EVC_ARCH_HPPA, EVC_NEEDS_HPPA_FMPYADD, 0, "hppa_fmpyadd"));
    EXPECT(is_for("bn", EVC_ARCH_HPPA, EVC_NEEDS_HPPA_FMPYADD | EVC_CPU(HPPA_WIDE), 0, "hppa20"));
    EXPECT(is_for("bn_words", EVC_ARCH_HPPA, EVC_CPU(HPPA_PA11) | EVC_CPU(HPPA_WIDE), vartime,
                  "hppa20"));
    EXPECT(is_for("bn", EVC_ARCH_HPPA, EVC_CPU(HPPA_PA11) | EVC_CPU(HPPA_WIDE), vartime, "hppa20"));
    EXPECT(is_for("bn", EVC_ARCH_A32, EVC_CPU(A32_UMAAL), vartime, "a32_umaal"));
    EXPECT(is_for("bn", EVC_ARCH_A64, EVC_NEEDS_A64_MUL32 & ~ct_mul, vartime, "a64_neon"));
    EXPECT(is_for("bn", EVC_ARCH_A64, EVC_NEEDS_A64_MUL32, 0, "a64_neon"));
    EXPECT(is_for("bn", EVC_ARCH_A64, EVC_NEEDS_A64_MUL32 & ~EVC_CPU(TUNE_MUL32), 0, "a64_umulh"));
    EXPECT(is_for("bn", EVC_ARCH_A64, EVC_NEEDS_A64_MUL32 & ~EVC_CPU(A64_NEON), 0, "a64_umulh"));
    EXPECT(is_for("bn_words", EVC_ARCH_A32, EVC_CPU(A32_UMAAL), vartime, "a32_umaal"));
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_NEEDS_X86_ADX_SSE2 & ~ct_mul, vartime, "x86_adx"));
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_NEEDS_X86_ADX_INTEL, 0, "x86_adx_intel"));
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_NEEDS_X86_AVXIFMA & ~ct_mul, vartime, "x86_avxifma"));
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_NEEDS_X86_AVXIFMA | EVC_NEEDS_X86_ADX_SSE2, 0,
                  "x86_avxifma"));
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_NEEDS_X86_AVXIFMA | EVC_NEEDS_X86_IFMA, 0, "x86_ifma"));
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_NEEDS_X86_IFMA & ~ct_mul, vartime, "x86_ifma"));
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_NEEDS_X86_IFMA, 0, "x86_ifma"));
    /* Other needs stay needs. */
    EXPECT(is_for("bn", EVC_ARCH_X86, (EVC_NEEDS_X86_IFMA | EVC_NEEDS_X86_ADX) & ~EVC_CPU(TUNE_ZMM),
                  0, "x86_adx"));
    EXPECT(is_for("bn_words", EVC_ARCH_HPPA, EVC_CPU(HPPA_WIDE), vartime, "c_words32"));
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_CPU(X86_ADX) | EVC_CPU(X86_BMI2), vartime, "c_limb32"));
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_CPU(X86_SSE2), vartime, "x86_sse2"));
    /* Builds for 32 bits have no tune-word64: on cores with AVX2, with SSE2 and without. */
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_NEEDS_X86_AVX2_MUL, 0, "x86_avx2"));
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_NEEDS_X86_AVX2_MUL & ~ct_mul, vartime, "x86_avx2"));
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_NEEDS_X86_AVX2_MUL | EVC_CPU(X86_ADX) | EVC_CPU(X86_BMI2),
                  0, "x86_avx2"));
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_NEEDS_X86_AVX2_MUL & ~EVC_CPU(X86_AVX2), 0, "x86_sse2"));
    EXPECT(is_for("bn", EVC_ARCH_X86, ct_mul, 0, "c_limb32"));
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_NEEDS_X86_AVX2_MUL | word64, 0, "c_limb64"));
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_CPU(X86_SSE2), 0, "c_ref"));
    EXPECT(is_for("bn", EVC_ARCH_X86, EVC_CPU(X86_SSE2) | word64, vartime, "c_limb64"));
}

/* Real CPUs, and those that hypervisors show, as detection sees them. */
static void no_cpu_that_can_run_ifma_is_served_another_kernel_from_512_bits_on(void)
{
    const uint64_t flags_of_ifma = EVC_NEEDS_X86_IFMA & ~EVC_CPU(TUNE_ZMM);
    unsigned n_served = 0, n_served_256 = 0;

    for (size_t i = 0; i < sizeof x86_cpus / sizeof x86_cpus[0]; i++) {
        const uint64_t features = evc_x86_features(&x86_cpus[i].id);
        const int wide = (features & flags_of_ifma) == flags_of_ifma;
        const char *const name = wide ? "x86_ifma" : "x86_avxifma";
        if (!wide && (features & EVC_NEEDS_X86_AVXIFMA) != EVC_NEEDS_X86_AVXIFMA)
            continue;
        n_served += (unsigned)wide;
        n_served_256 += (unsigned)!wide;
        EXPECT(is_for("bn", EVC_ARCH_X86, features, 0, name));
#if EVC_X86_64
        for (size_t n_bits = 512; n_bits <= 16384; n_bits += 64)
            for (int use = 0; use < 2; use++) {
                const enum evc_use one = use ? EVC_USE_PARALLEL : EVC_USE_ANY;
                const struct evc_bn *kernel = evc_bn_select_for(features, 0, one, n_bits);
                EXPECT(strcmp(evc_bn_kernel(kernel)->name, name) == 0);
            }
#endif
    }
    EXPECT(n_served > 5);
    EXPECT(n_served_256 > 0);
}

/* The selection of big numbers follows the same rule, among kernels that are built. */
static void selection_of_big_numbers_follows_the_policy(void)
{
    const uint64_t unknown = evc_cpu_features() & ~EVC_CPU(CT_MUL);

    EXPECT(strcmp(evc_bn_kernel(evc_bn_select(unknown, 0, EVC_USE_ANY))->name, "c_ref") == 0);
    EXPECT(strcmp(evc_bn_words_kernel(evc_bn_words_select(unknown, 0))->name, "c_ref") == 0);
    EXPECT(evc_bn_select(unknown, EVC_ALLOW_VARTIME, EVC_USE_ANY) ==
           evc_bn_select(unknown | EVC_CPU(CT_MUL), 0, EVC_USE_ANY));
    EXPECT(evc_bn_words_select(unknown, EVC_ALLOW_VARTIME) ==
           evc_bn_words_select(unknown | EVC_CPU(CT_MUL), 0));
}

#if EVC_X86
#define HAS_AES_OR_PRODUCTS_ALONE(f) (!((f) & EVC_CPU(X86_AES)) != !((f) & EVC_CPU(X86_PCLMUL)))
#elif EVC_A64
#define HAS_AES_OR_PRODUCTS_ALONE(f) (!((f) & EVC_CPU(A64_AES)) != !((f) & EVC_CPU(A64_PMULL)))
#else
#define HAS_AES_OR_PRODUCTS_ALONE(f) 0
#endif

/* But for wide AES instructions without carry-less multiplication, and the reverse. */
static void pairs_of_gcm_have_the_kernels_that_selection_gives(void)
{
    const uint64_t bits =
        bits_mentioned(EVC_ARCH_HERE, "ghash") | bits_mentioned(EVC_ARCH_HERE, "aes");
    uint64_t features = 0;

    do {
        for (unsigned policy = 0; policy < N_POLICIES; policy++) {
            const struct evc_kernel *aes = evc_aes_kernel(evc_gcm_select_aes(features, policy)),
                                    *ghash =
                                        evc_ghash_kernel(evc_gcm_select_ghash(features, policy));

            EXPECT(aes && lacking(aes->needs, features, policy) == 0);
            EXPECT(ghash && lacking(ghash->needs, features, policy) == 0);
            if (!aes || !ghash || evc_gcm_select(features, policy) ||
                HAS_AES_OR_PRODUCTS_ALONE(features))
                continue;
            EXPECT(
                strcmp(aes->name,
                       evc_aes_kernel(evc_aes_select(features, policy, EVC_USE_PARALLEL))->name) ==
                0);
            EXPECT(ghash == evc_ghash_kernel(evc_ghash_select(features, policy)));
        }
        features = (features - bits) & bits;
    } while (features);
}

/* The forward cipher alone is the whole kernel without decryption and other modes. */
static void a_forward_descriptor_has_the_slots_of_the_whole_one(void)
{
    const uint8_t user_key[16] = {1};
    unsigned n = 0;

    for (; kernels[n].kernel; n++) {
        const struct evc_aes *forward = (const struct evc_aes *)(const void *)kernels[n].kernel,
                             *whole = evc_aes_named(kernels[n].kernel->name);
        union evc_aes_key key, decrypting;
        uint8_t block[16] = {0};

        EXPECT(whole != NULL);
        if (!whole)
            continue;
        struct evc_aes expected;
        memset(&expected, 0, sizeof expected); /* padding, too */
        memcpy(&expected.kernel, &whole->kernel, sizeof expected.kernel);
        expected.set_key = whole->set_key;
        expected.encrypt = whole->encrypt;
        expected.ctr32 = whole->ctr32;
        EXPECT(memcmp(forward, &expected, sizeof expected) == 0);
        EXPECT(evc_aes_set_key(&key, forward, user_key, 128) == EVC_ERR_KERNEL);
        if ((whole->kernel.needs & ~EVC_TUNE_MASK & ~EVC_CPU(CT_MUL) & ~evc_cpu_features()) != 0)
            continue;
        EXPECT(evc_aes_set_encrypt_key(&key, forward, user_key, 128) == EVC_OK);
        EXPECT(evc_aes_decrypt(&key, block, block, 1) == EVC_ERR_DIRECTION);
        EXPECT(evc_aes_set_key(&decrypting, whole, user_key, 128) == EVC_OK);
        EXPECT(evc_aes_rebind(&decrypting, forward) == EVC_ERR_KERNEL);
        EXPECT(evc_aes_rebind(&key, forward) ==
               (whole->kernel.traits & EVC_KEY_FIPS197 ? EVC_OK : EVC_ERR_KERNEL));
    }
    EXPECT(n > 0);
}

/* A kernel of GCM where one fits, else a pair. */
static void the_best_key_of_gcm_is_of_what_is_selected(void)
{
    const uint64_t features = evc_cpu_features();
    const struct evc_gcm *gcm = evc_gcm_select(features, 0);
    const uint8_t user_key[32] = {1};
    union evc_gcm_key key;

    EXPECT(evc_gcm_set_best(&key, features, 0, user_key, 256) == EVC_OK);
    EXPECT(gcm ? key.head.kernel == gcm
               : strcmp(evc_gcm_kernel(key.head.kernel)->name, "pair") == 0);
    EXPECT(evc_gcm_set_best(&key, 0, 0, user_key, 128) == EVC_OK);
    EXPECT(strcmp(evc_gcm_kernel(key.head.kernel)->name, "pair") == 0);
    EXPECT(evc_gcm_set_best(&key, features, 0, user_key, 100) == EVC_ERR_KEY_SIZE);
}

int main(void)
{
    RUN(every_request_gets_the_first_kernel_that_fits);
    RUN(ghash_and_gcm_need_only_what_the_cpu_has);
    RUN(tuning_is_what_its_mask_says);
    RUN(kernels_run_where_nothing_but_tuning_is_missing);
    RUN(every_line_is_the_answer_to_its_own_needs);
    RUN(known_cpus_get_the_kernels_meant_for_them);
    RUN(every_line_is_selected_somewhere_but_those_by_name);
    RUN(without_vector_registers_only_integer_code_is_selected);
    RUN(every_descriptor_equals_its_line);
    RUN(names_are_whole_and_unique);
    RUN(unfit_names_the_reason);
    RUN(the_caller_may_vouch_for_the_multiplier);
    RUN(the_policy_vartime_allows_any_multiplier);
    RUN(no_cpu_that_can_run_ifma_is_served_another_kernel_from_512_bits_on);
    RUN(selection_of_big_numbers_follows_the_policy);
    RUN(this_cpu_is_served_by_what_it_runs);
    RUN(pairs_of_gcm_have_the_kernels_that_selection_gives);
    RUN(a_forward_descriptor_has_the_slots_of_the_whole_one);
    RUN(the_best_key_of_gcm_is_of_what_is_selected);
    return tap_done();
}

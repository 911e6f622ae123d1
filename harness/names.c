/* SPDX-License-Identifier: MIT */
/* Names, all taken from the lists of isa.h and from the registry. */
#include "names.h"

#include <stdio.h>
#include <string.h>

#include "everycore/cpu.h"

#include "emit.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

static const char *const arch_names[] = {
#define ARCH(name, text) text,
    EVC_ARCH_LIST(ARCH)
#undef ARCH
};

static const enum evc_arch archs[] = {
#define ARCH(name, text) EVC_ARCH_##name,
    EVC_ARCH_LIST(ARCH)
#undef ARCH
};

static const char *const timing_names[] = {"ct", "hardened", "vartime"};
static const char *const use_names[] = {"any", "parallel", "serial", "sha256", "sha512"};

static const struct feature {
    const char *name;
    enum evc_arch arch; /* OTHER: of every architecture */
    uint64_t bit;
} features[] = {
#define FEATURE(name_, arch_, bit_, text_) {text_, EVC_ARCH_##arch_, UINT64_C(1) << (bit_)},
    EVC_FEATURE_LIST(FEATURE)
#undef FEATURE
};

const char *arch_name(enum evc_arch arch)
{
    for (size_t i = 0; i < N(archs); i++)
        if (archs[i] == arch)
            return arch_names[i];
    return "unknown";
}

const char *timing_name(unsigned timing)
{
    return timing < N(timing_names) ? timing_names[timing] : "unknown";
}

const char *use_name(unsigned use)
{
    return use < N(use_names) ? use_names[use] : "unknown";
}

enum evc_arch arch_named(const char *word)
{
    return archs[known_word("architecture", word, arch_names, N(arch_names))];
}

unsigned policy_named(const char *word)
{
    static const unsigned policies[] = {0, EVC_ALLOW_HARDENED,
                                        EVC_ALLOW_HARDENED | EVC_ALLOW_VARTIME};

    return policies[known_word("policy", word, timing_names, N(timing_names))];
}

static bool of_arch(const struct feature *f, enum evc_arch arch)
{
    return f->arch == EVC_ARCH_OTHER || f->arch == arch;
}

uint64_t features_named(enum evc_arch arch, const struct words *words)
{
    const char *valid[N(features)];
    uint64_t bits[N(features)], word = 0;
    size_t n = 0;

    for (size_t i = 0; i < N(features); i++) {
        if (!of_arch(&features[i], arch))
            continue;
        valid[n] = features[i].name;
        bits[n++] = features[i].bit;
    }
    for (size_t i = 0; i < words->n; i++) {
        char what[32];
        snprintf(what, sizeof what, "feature of %s", arch_name(arch));
        word |= bits[known_word(what, words->at[i], valid, n)];
    }
    return word;
}

void emit_features(const char *member, enum evc_arch arch, uint64_t word)
{
    emit_list_begin(member);
    for (size_t i = 0; i < N(features); i++)
        if (of_arch(&features[i], arch) && (word & features[i].bit))
            emit_text(NULL, features[i].name);
    emit_list_end();
}

const char *features_text(char *text, size_t n, enum evc_arch arch, uint64_t word)
{
    size_t used = 0;

    text[0] = 0;
    for (size_t i = 0; i < N(features); i++)
        if (of_arch(&features[i], arch) && (word & features[i].bit) && used < n)
            used +=
                (size_t)snprintf(text + used, n - used, "%s%s", used ? " " : "", features[i].name);
    return text;
}

/* The distinct primitives (kernels: false) or the kernels of the registry, of one primitive or all
 * (NULL); returns how many. */
static size_t registry_names(const char **names, size_t max, bool kernels, const char *primitive)
{
    const struct evc_registry_line *line;
    size_t n = 0;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL && n < max; i++) {
        const char *name = kernels ? line->name : line->primitive;
        if (primitive && strcmp(line->primitive, primitive) != 0)
            continue;
        if (n == 0 || strcmp(names[n - 1], name) != 0)
            names[n++] = name;
    }
    return n;
}

void must_be_primitives(const struct words *words)
{
    const char *valid[256];
    size_t n = registry_names(valid, N(valid), false, NULL);

    for (size_t i = 0; i < words->n; i++)
        known_word("primitive", words->at[i], valid, n);
}

void must_be_kernel_of(const char *primitive, const char *word)
{
    const char *valid[256];
    char what[32];

    snprintf(what, sizeof what, "kernel%s%s", primitive ? " of " : "", primitive ? primitive : "");
    known_word(what, word, valid, registry_names(valid, N(valid), true, primitive));
}

bool chosen(const struct words *words, const char *word)
{
    for (size_t i = 0; i < words->n; i++)
        if (strcmp(words->at[i], word) == 0)
            return true;
    return words->n == 0;
}

static uint64_t taken_away;

/* Asked once: in a virtual machine CPUID is a call of the hypervisor, tens of microseconds. */
uint64_t features_here(void)
{
    static uint64_t of_cpu;
    static bool known;

    if (!known)
        of_cpu = evc_cpu_features();
    known = true;
    return of_cpu & ~taken_away;
}

void do_without(const struct words *words)
{
    taken_away = features_named(EVC_ARCH_HERE, words);
}

uint64_t missing_features(const struct evc_registry_line *line)
{
    return line->needs & ~features_here() & ~EVC_SAME_RESULTS_MASK;
}

uint64_t missing_tuning(const struct evc_registry_line *line)
{
    return line->needs & ~features_here() & EVC_SAME_RESULTS_MASK;
}

bool runs_here(const struct evc_registry_line *line)
{
    return line->built && missing_features(line) == 0;
}

const char *why_not_here(char *text, size_t n, const struct evc_registry_line *line)
{
    enum evc_arch arch = (enum evc_arch)line->arch;
    char missing[200];

    if (arch != EVC_ARCH_OTHER && arch != EVC_ARCH_HERE)
        snprintf(text, n, "needs architecture %s", arch_name(arch));
    else if (!line->built && !missing_features(line))
        snprintf(text, n, "this build lacks what %s needs", line->isa);
    else
        snprintf(text, n, "needs %s",
                 features_text(missing, sizeof missing, arch, missing_features(line)));
    return text;
}

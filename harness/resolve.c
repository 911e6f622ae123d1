/* SPDX-License-Identifier: MIT */
/* resolve: which kernel serves each use and each mode on this CPU or on any named one, and why the
 * others do not, and what would be faster. All answers come from evc_resolve() and evc_unfit(). */
#include "everycore/cpu.h"
#include "everycore/kernel.h"

#include "commands.h"
#include "emit.h"
#include "names.h"

#include <stdio.h>
#include <string.h>

struct request {
    enum evc_arch arch;
    uint64_t features;
    unsigned policy;
    const char *policy_name;
    bool multiplies_early; /* it is known that EVC_CPU(CT_MUL) would be wrong */
};

static const enum evc_use uses[][2] = {
    {EVC_USE_PARALLEL, EVC_USE_SERIAL},
    {EVC_USE_SHA256, EVC_USE_SHA512}, /* of sha2 */
};

/* Each mode has one fixed use per key; those with two keys have one of each. */
static const struct mode_uses {
    const char *primitive, *algorithm;
    enum evc_use uses[2]; /* ANY: no second key */
    const char *fused;    /* a primitive of one use whose kernel does it all,
                           * where one fits; or NULL */
    const char *hash;     /* a primitive of one use that takes part else, or NULL; where a fused
                           * kernel may fit, both halves are those of a pair */
} mode_uses[] = {
    {"aes", "ecb(aes)", {EVC_USE_PARALLEL}, NULL, NULL},
    {"aes", "cbc-enc(aes)", {EVC_USE_SERIAL}, NULL, NULL},
    {"aes", "cbc-dec(aes)", {EVC_USE_PARALLEL}, NULL, NULL},
    {"aes", "ctr(aes)", {EVC_USE_PARALLEL}, NULL, NULL},
    {"aes", "xts(aes)", {EVC_USE_PARALLEL, EVC_USE_SERIAL}, NULL, NULL},
    {"aes", "cbcmac(aes)", {EVC_USE_SERIAL}, NULL, NULL},
    {"aes", "cmac(aes)", {EVC_USE_SERIAL}, NULL, NULL},
    {"aes", "ccm(aes)", {EVC_USE_PARALLEL, EVC_USE_SERIAL}, NULL, NULL},
    {"aes", "gcm(aes)", {EVC_USE_PARALLEL}, "gcm", "ghash"},
    {"aes", "gcm-siv(aes)", {EVC_USE_PARALLEL}, NULL, "ghash"},
    {"aes", "kw(aes)", {EVC_USE_SERIAL}, NULL, NULL},
    {"aes", "kwp(aes)", {EVC_USE_SERIAL}, NULL, NULL},
    {"aes", "cbc-enc-many(aes)", {EVC_USE_PARALLEL}, NULL, NULL},
    {"aes", "cmac-many(aes)", {EVC_USE_PARALLEL}, NULL, NULL},
    {"sha2", "sha256", {EVC_USE_SHA256}, NULL, NULL},
    {"sha2", "sha512", {EVC_USE_SHA512}, NULL, NULL},
    {"sha2", "hmac(sha256)", {EVC_USE_SHA256}, NULL, NULL},
    {"sha2", "hmac(sha512)", {EVC_USE_SHA512}, NULL, NULL},
    {"sha2", "hkdf(sha256)", {EVC_USE_SHA256}, NULL, NULL},
    {"sha2", "hkdf(sha512)", {EVC_USE_SHA512}, NULL, NULL},
    {"sha2", "pbkdf2(sha256)", {EVC_USE_SHA256}, NULL, NULL},
    {"sha2", "pbkdf2(sha512)", {EVC_USE_SHA512}, NULL, NULL},
    {"x25519", "x25519", {EVC_USE_ANY}, NULL, NULL},
    {"bn", "rsa", {EVC_USE_ANY}, NULL, NULL},
    {"bn", "dh", {EVC_USE_ANY}, NULL, NULL},
};

static void emit_skipped(const struct request *r, const struct evc_registry_line *line,
                         enum evc_unfit why, const struct evc_registry_line *found)
{
    char text[256];
    const char *word = "", *detail = "";

    switch (why) {
    case EVC_UNFIT_PRIMITIVE: return;
    case EVC_FITS: /* but stands behind the chosen one */
        word = "rank";
        detail = found->name;
        break;
    case EVC_UNFIT_ARCH:
        word = "arch";
        detail = arch_name((enum evc_arch)line->arch);
        break;
    case EVC_UNFIT_FEATURE:
        word = "feature";
        detail = features_text(text, sizeof text, r->arch, line->needs & ~r->features);
        break;
    case EVC_UNFIT_TIMING:
        word = "timing";
        detail = timing_name(line->timing);
        break;
    case EVC_UNFIT_USE:
        word = "use";
        detail = use_name(line->use);
        break;
    }
    emit_object_begin(NULL);
    emit_text("kernel", line->name);
    emit_text("why", word);
    emit_text("detail", detail);
    emit_object_end();
}

/* The constant-time kernel that serves although another, *faster, would serve if it were known that
 * this CPU multiplies in constant time. NULL if the choice does not depend on that. */
static const struct evc_registry_line *slow_fallback(const struct request *r, const char *primitive,
                                                     enum evc_use use,
                                                     const struct evc_registry_line **faster)
{
    const struct evc_registry_line *found =
        evc_resolve(r->arch, primitive, r->features, r->policy, use);

    *faster = evc_resolve(r->arch, primitive, r->features | EVC_CPU(CT_MUL), r->policy, use);
    return found && found != *faster && found->timing == EVC_TIMING_CT ? found : NULL;
}

/* A member "warning", only where there is something to warn of. */
static void emit_warning(const struct request *r, const char *primitive, enum evc_use use)
{
    const struct evc_registry_line *faster, *slow = slow_fallback(r, primitive, use, &faster);
    char text[512];

    if (!slow)
        return;
    snprintf(text, sizeof text,
             "%s falls back to %s, many times slower than %s, because %s. If nothing is secret, "
             "the policy vartime selects a faster one%s",
             primitive, slow->name, faster->name,
             r->multiplies_early
                 ? "this CPU multiplies small integers in less time; do not add the feature ct-mul"
                 : "it is not known that this CPU multiplies integers in constant time. If it "
                   "does, add the feature ct-mul; in C: evc_cpu_features() | EVC_CPU(CT_MUL), see "
                   "everycore/cpu.h",
             r->multiplies_early ? "" : ", too");
    emit_text("warning", text);
}

/* A member "note", where the policy allows a kernel whose timing class rests on a
 * feature that the CPU lacks. */
static void emit_note(const struct request *r, const struct evc_registry_line *found)
{
    char text[256];

    if (!found || !(found->needs & ~r->features & EVC_CPU(CT_MUL)))
        return;
    snprintf(text, sizeof text,
             "%s is constant-time only on a CPU that multiplies integers in constant time, which "
             "%s; the policy allows it",
             found->name,
             r->multiplies_early ? "this one does not" : "is not known of this one");
    emit_text("note", text);
}

static void resolve_use(const struct request *r, const char *primitive, enum evc_use use)
{
    const struct evc_registry_line *line,
        *found = evc_resolve(r->arch, primitive, r->features, r->policy, use);

    emit_begin("resolve");
    emit_text("arch", arch_name(r->arch));
    emit_features("features", r->arch, r->features);
    emit_text("policy", r->policy_name);
    emit_text("primitive", primitive);
    emit_text("use", use_name(use));
    emit_text("kernel", found ? found->name : NULL);
    emit_warning(r, primitive, use);
    emit_note(r, found);
    emit_list_begin("skipped");
    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        if (line != found)
            emit_skipped(r, line, evc_unfit(line, r->arch, primitive, r->features, r->policy, use),
                         found);
    emit_list_end();
    emit_end();
}

static const char *kernel_for(const struct request *r, const char *primitive, enum evc_use use)
{
    const struct evc_registry_line *line =
        evc_resolve(r->arch, primitive, r->features, r->policy, use);

    return line ? line->name : NULL;
}

/* The half of a pair of GCM, as evc_gcm_select_aes() and evc_gcm_select_ghash() take it. */
static const char *half_for(const struct request *r, const char *primitive, enum evc_use use)
{
    const struct evc_registry_line *line;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        if (line->in_pairs &&
            evc_unfit(line, r->arch, primitive, r->features, r->policy, use) == EVC_FITS)
            return line->name;
    return NULL;
}

static void resolve_mode(const struct request *r, const struct mode_uses *mode)
{
    const char *fused = mode->fused ? kernel_for(r, mode->fused, EVC_USE_ANY) : NULL;
    const char *(*choose)(const struct request *, const char *, enum evc_use) =
        mode->fused ? half_for : kernel_for;
    size_t n = fused ? 0 : mode->uses[1] == EVC_USE_ANY ? 1 : 2;

    emit_begin("mode");
    emit_text("algorithm", mode->algorithm);
    emit_list_begin("uses");
    for (size_t i = 0; i < n; i++)
        emit_text(NULL, use_name(mode->uses[i]));
    if (fused || mode->hash)
        emit_text(NULL, use_name(EVC_USE_ANY));
    emit_list_end();
    emit_list_begin("kernels");
    for (size_t i = 0; i < n; i++)
        emit_text(NULL, choose(r, mode->primitive, mode->uses[i]));
    if (fused)
        emit_text(NULL, fused);
    else if (mode->hash)
        emit_text(NULL, choose(r, mode->hash, EVC_USE_ANY));
    emit_list_end();
    if (!fused && mode->hash)
        emit_warning(r, mode->hash, EVC_USE_ANY);
    emit_end();
}

static void resolve_primitive(const struct request *r, const char *primitive)
{
    for (size_t i = 0; i < 2; i++)
        resolve_use(r, primitive, uses[strcmp(primitive, "sha2") == 0][i]);
    for (size_t i = 0; i < sizeof mode_uses / sizeof mode_uses[0]; i++)
        if (strcmp(mode_uses[i].primitive, primitive) == 0)
            resolve_mode(r, &mode_uses[i]);
}

int resolve_command(int argc, char **argv)
{
    static struct words features, without;
    const char *arch = NULL, *policy = "ct", *before = NULL;
    bool multiplies_early = false;
    const struct option options[] = {
        {"--arch", OPTION_TEXT, &arch},
        {"--features", OPTION_WORDS, &features},
        {"--without", OPTION_WORDS, &without},
        {"--policy", OPTION_TEXT, &policy},
        {"--multiplies-early", OPTION_FLAG, &multiplies_early},
    };
    const struct evc_registry_line *line;
    struct request r;

    options_read(argc, argv, options, sizeof options / sizeof options[0]);
    if (features.n && !arch)
        usage_error("--features wants --arch: features are of one architecture");
    if (without.n && arch)
        usage_error("--without is for this CPU; with --arch, --features says it all");
    do_without(&without);
    r.arch = arch ? arch_named(arch) : EVC_ARCH_HERE;
    r.features = arch ? features_named(r.arch, &features) : features_here();
    r.policy = policy_named(policy);
    r.policy_name = policy;
    r.multiplies_early = multiplies_early;
    emit_harness_line("resolve", NULL);
    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; before = line->primitive, i++)
        if (!before || strcmp(before, line->primitive) != 0)
            resolve_primitive(&r, line->primitive);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Kernels of GCM: of the registry, and pairs. */
#include "gcm_kernels.h"

#include <stdio.h>
#include <string.h>

#include "names.h"

#define MAX_NAME 96 /* bytes of AES+GHASH */

/* The halves of a pair's name; false: it is none. */
static bool split(const char *name, char aes[MAX_NAME], const char **ghash)
{
    const char *plus = strchr(name, '+');

    if (!plus || plus - name >= MAX_NAME)
        return false;
    memcpy(aes, name, (size_t)(plus - name));
    aes[plus - name] = 0;
    *ghash = plus + 1;
    return true;
}

bool is_pair_name(const char *name)
{
    return strchr(name, '+') != NULL;
}

void must_be_kernels(const struct words *words)
{
    for (size_t i = 0; i < words->n; i++)
        if (is_pair_name(words->at[i]))
            must_be_pair(words->at[i]);
        else
            must_be_kernel_of(NULL, words->at[i]);
}

struct gcm_kernel gcm_kernel_named(const char *name)
{
    struct gcm_kernel k = {NULL, NULL, NULL};
    char aes[MAX_NAME];
    const char *ghash;

    if (split(name, aes, &ghash)) {
        k.aes = evc_aes_named(aes);
        k.ghash = evc_ghash_named(ghash);
    } else {
        k.fused = evc_gcm_named(name);
    }
    return k;
}

enum evc_status gcm_set_key(const struct gcm_kernel *k, union evc_gcm_key *key,
                            const uint8_t *user_key, unsigned key_bits)
{
    return k->fused ? evc_gcm_set_key(key, k->fused, user_key, key_bits)
                    : evc_gcm_set_pair(key, k->aes, k->ghash, user_key, key_bits);
}

size_t gcm_batch(const struct gcm_kernel *k)
{
    if (k->fused)
        return evc_gcm_kernel(k->fused)->batch;
    size_t aes = evc_aes_kernel(k->aes)->batch, ghash = evc_ghash_kernel(k->ghash)->batch;
    return aes > ghash ? aes : ghash;
}

/* ---- Lines of pairs -------------------------------------------------------------------------- */

static const struct evc_registry_line *line_named(const char *primitive, const char *name)
{
    const struct evc_registry_line *line;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        if (strcmp(line->primitive, primitive) == 0 && strcmp(line->name, name) == 0)
            break;
    return line;
}

/* A key of GHASH that is larger than the union is larger than the room in a pair's. */
static bool fits(const struct evc_ghash *ghash)
{
    return evc_ghash_kernel(ghash)->key_bytes <= sizeof(union evc_ghash_key);
}

void must_be_pair(const char *name)
{
    char aes[MAX_NAME];
    const char *half;

    if (!split(name, aes, &half))
        usage_error("'%.64s' is no pair AES+GHASH", name);
    must_be_kernel_of("aes", aes);
    must_be_kernel_of("ghash", half);
    const struct evc_ghash *ghash = evc_ghash_named(half);
    if (ghash && !fits(ghash))
        usage_error("%.64s: the keys of %s are too large for a pair", name, half);
}

/* The architecture that says most: of a half that is not for this one, else of one that is not for
 * all. */
static uint8_t arch_of(const struct evc_registry_line *aes, const struct evc_registry_line *ghash)
{
    if (!ghash->built)
        return ghash->arch;
    return !aes->built || aes->arch != EVC_ARCH_OTHER ? aes->arch : ghash->arch;
}

static const struct evc_registry_line *pair_of(const struct evc_registry_line *aes,
                                               const struct evc_registry_line *ghash)
{
    static char name[MAX_NAME];
    static struct evc_registry_line line;

    snprintf(name, sizeof name, "%s+%s", aes->name, ghash->name);
    line.primitive = "gcm";
    line.name = name;
    line.isa = "";
    line.needs = aes->needs | ghash->needs;
    line.arch = arch_of(aes, ghash);
    line.timing = aes->timing > ghash->timing ? aes->timing : ghash->timing;
    line.use = EVC_USE_ANY;
    line.built = aes->built && ghash->built;
    return &line;
}

const struct evc_registry_line *pair_named(const char *name)
{
    const struct evc_registry_line *aes_line, *ghash_line;
    char aes[MAX_NAME];
    const char *ghash;

    if (!split(name, aes, &ghash))
        return NULL;
    aes_line = line_named("aes", aes);
    ghash_line = line_named("ghash", ghash);
    return aes_line && ghash_line ? pair_of(aes_line, ghash_line) : NULL;
}

/* The lines of a primitive that run here and, of GHASH, can be a half; returns how many. */
static unsigned halves(const char *primitive, const struct evc_registry_line *at[256])
{
    const struct evc_registry_line *line;
    unsigned n = 0;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL && n < 256; i++)
        if (strcmp(line->primitive, primitive) == 0 && runs_here(line) &&
            (strcmp(primitive, "ghash") != 0 || fits(evc_ghash_named(line->name))))
            at[n++] = line;
    return n;
}

const struct evc_registry_line *pair_at(enum pairs which, unsigned index)
{
    const struct evc_registry_line *aes[256], *ghash[256];
    unsigned n_aes = halves("aes", aes), n_ghash = halves("ghash", ghash);
    unsigned most = n_aes > n_ghash ? n_aes : n_ghash;

    switch (which) {
    case EVERY_PAIR:
        return index < n_aes * n_ghash ? pair_of(aes[index / n_ghash], ghash[index % n_ghash])
                                       : NULL;
    case COVERING_PAIRS:
        return index < most ? pair_of(aes[index % n_aes], ghash[index % n_ghash]) : NULL;
    case SELECTED_PAIR: break;
    }
    if (index)
        return NULL;
    uint64_t features = features_here();
    return pair_of(
        line_named("aes", evc_aes_kernel(evc_aes_select(features, 0, EVC_USE_PARALLEL))->name),
        line_named("ghash", evc_ghash_kernel(evc_ghash_select(features, 0))->name));
}

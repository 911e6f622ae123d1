/* SPDX-License-Identifier: MIT */
/*
 * The kernels of GCM that the harness checks and times: those of the registry, and pairs of an AES
 * and a GHASH kernel, which are no kernels and have no line. Here a pair has both: the name
 * AES+GHASH and the line that a registry would have for it.
 */
#ifndef HARNESS_GCM_KERNELS_H
#define HARNESS_GCM_KERNELS_H

#include <stdbool.h>

#include "everycore/gcm.h"

#include "options.h"

/* fused: of the registry; NULL: the pair of the others. */
struct gcm_kernel {
    const struct evc_gcm *fused;
    const struct evc_aes *aes;
    const struct evc_ghash *ghash;
};

/* Exit 2 unless each word is a kernel of the registry, of any primitive, or a pair. */
void must_be_kernels(const struct words *);

/* By its name, either kind; it is built into this program. */
struct gcm_kernel gcm_kernel_named(const char *name);

EVC_CHECKED enum evc_status gcm_set_key(const struct gcm_kernel *, union evc_gcm_key *,
                                        const uint8_t *user_key, unsigned key_bits);

/* The blocks that it works on at once: of a pair, those of its wider half. */
size_t gcm_batch(const struct gcm_kernel *);

/* ---- Pairs ----------------------------------------------------------------------------------- */

bool is_pair_name(const char *name);

/* Else bad usage: both halves are in the registry, and their keys fit. */
void must_be_pair(const char *name);

enum pairs {
    EVERY_PAIR,
    COVERING_PAIRS, /* as few as have every kernel in one of them; the first is the best */
    SELECTED_PAIR   /* what selection takes where no fused kernel fits */
};

/* A pair's line; its text lasts until the next call. pair_at: of those that run here, in the order
 * of the registry; NULL past the end. */
const struct evc_registry_line *pair_named(const char *name);
const struct evc_registry_line *pair_at(enum pairs, unsigned index);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 (Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1), the tweakable block cipher
 * of Arm's pointer authentication, and its kernels.
 *
 *     const struct evc_qarma *kernel = evc_qarma_select(evc_cpu_features(), 0, EVC_USE_SERIAL);
 *     union evc_qarma_key key;
 *     enum evc_status status = evc_qarma_set_key(&key, kernel, w0, k0, EVC_QARMA_SIGMA2, 5);
 *     if (status == EVC_OK)
 *         mac = evc_qarma_encrypt(&key, pointer, modifier);
 *     evc_wipe(&key, sizeof key);
 *
 * Blocks, tweaks and halves of keys are numbers; where the paper writes bytes, the first one
 * is the most significant.
 *
 * A key belongs to the kernel that made it and remembers it. Keys may be copied; they hold no
 * pointer into themselves. Timing, stack and registers: as in everycore/aes.h.
 */
#ifndef EVERYCORE_QARMA_H
#define EVERYCORE_QARMA_H

#include "everycore/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct evc_qarma; /* a kernel's descriptor; its members are below, for authors of kernels */

/* The S-boxes of the paper. Arm's QARMA5 is sigma 2 with 5 rounds, its QARMA3
 * sigma 1 with 3 rounds. */
enum evc_qarma_sigma { EVC_QARMA_SIGMA0 = 0, EVC_QARMA_SIGMA1 = 1, EVC_QARMA_SIGMA2 = 2 };

/* Rounds: r of the paper, forward and then backward. The paper has constants for 8. */
#define EVC_QARMA_MIN_ROUNDS 1
#define EVC_QARMA_MAX_ROUNDS 8

/* Every key begins with this; the rest is the kernel's own. */
struct evc_qarma_head {
    const struct evc_qarma *kernel;
    uint8_t sigma;  /* enum evc_qarma_sigma */
    uint8_t rounds; /* 1 to 8 */
};

/* A key of any kernel that selection can return. */
union evc_qarma_key {
    struct evc_qarma_head head;
    EVC_ALIGN(16) uint8_t bytes[704];
};

/* ---- Choosing a kernel ----------------------------------------------------------------------- */

/* As evc_aes_select. EVC_USE_SERIAL: one block at a time, such as one pointer; EVC_USE_PARALLEL:
 * many independent ones. Never NULL: a portable constant-time kernel always fits. */
EVC_API const struct evc_qarma *evc_qarma_select(uint64_t features, unsigned policy,
                                                 enum evc_use use);

/* As evc_aes_named and evc_aes_at. */
EVC_API const struct evc_qarma *evc_qarma_named(const char *name);
EVC_API const struct evc_qarma *evc_qarma_at(unsigned index);

/* Any descriptor begins with its struct evc_kernel. */
static inline const struct evc_kernel *evc_qarma_kernel(const struct evc_qarma *qarma)
{
    return (const struct evc_kernel *)(const void *)qarma;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/*
 * w0, k0: the halves of the key of 128 bits, w0 the first. Of Arm's key registers,
 * w0 is the one called Hi.
 *
 * EVC_ERR_PARAMETER   no such S-box, or number of rounds
 * EVC_ERR_KERNEL      kernel is NULL, or its key does not fit
 * EVC_ERR_ALIGNMENT   the key is not aligned to 16 bytes
 *
 * The key's memory is wiped first, also if the call then fails. Calls with such a key give 0.
 */
EVC_CHECKED enum evc_status evc_qarma_set_key(union evc_qarma_key *key,
                                              const struct evc_qarma *kernel, uint64_t w0,
                                              uint64_t k0, unsigned sigma, unsigned rounds);

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Encrypt or decrypt one block. With a key that is not set up (all zeros), every result is 0. */
EVC_API uint64_t evc_qarma_encrypt(const union evc_qarma_key *key, uint64_t block, uint64_t tweak);
EVC_API uint64_t evc_qarma_decrypt(const union evc_qarma_key *key, uint64_t block, uint64_t tweak);

/* out[i] = the encryption of in[i] under tweak[i], n of them; out may be in or tweak. */
EVC_API void evc_qarma_encrypt_many(const union evc_qarma_key *key, const uint64_t *in,
                                    const uint64_t *tweak, uint64_t *out, size_t n);

/* ---- For kernels and their harness ----------------------------------------------------------- */

/* The descriptor. key points to kernel.key_bytes bytes, aligned to kernel.key_align, that begin
 * with an evc_qarma_head already set. */
struct evc_qarma {
    struct evc_kernel kernel;

    /* Mandatory. */
    void (*set_key)(void *key, uint64_t w0, uint64_t k0);
    uint64_t (*encrypt)(const void *key, uint64_t block, uint64_t tweak);
    uint64_t (*decrypt)(const void *key, uint64_t block, uint64_t tweak);

    /* Optional: where many blocks at once are faster than one after the other. */
    void (*encrypt_many)(const void *key, const uint64_t *in, const uint64_t *tweak, uint64_t *out,
                         size_t n);
};

#ifdef __cplusplus
}
#endif
#endif

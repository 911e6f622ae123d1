/* SPDX-License-Identifier: MIT */
/*
 * GHASH (SP 800-38D section 6.4): the universal hash of GCM, and its kernels.
 * GCM is in everycore/gcm.h.
 *
 *     union evc_ghash_key key;
 *     uint8_t y[16] = {0};
 *     enum evc_status status = evc_ghash_set_best(&key, features, 0, h);
 *     if (status == EVC_OK)
 *         evc_ghash_blocks(&key, y, in, n_blocks);
 *     evc_wipe(&key, sizeof key);
 *
 * NOT a MAC: whoever sees the result for data of their choice learns H. GHASH is for those who
 * build GCM or GMAC.
 *
 * A key belongs to the kernel that made it and remembers it. Keys may be copied; they hold no
 * pointer into themselves. h, y and in may have any alignment. Timing, stack and registers: as in
 * everycore/aes.h.
 */
#ifndef EVERYCORE_GHASH_H
#define EVERYCORE_GHASH_H

#include "everycore/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct evc_ghash; /* a kernel's descriptor; its members are below, for authors of kernels */

/* Every key begins with this; the rest is the kernel's own. */
struct evc_ghash_head {
    const struct evc_ghash *kernel;
};

/* A key of any kernel that selection can return. */
union evc_ghash_key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) uint8_t bytes[960];
};

/* ---- Choosing a kernel ----------------------------------------------------------------------- */

/* As evc_aes_select; GHASH has one use. Never NULL: a portable constant-time kernel always fits. */
EVC_API const struct evc_ghash *evc_ghash_select(uint64_t features, unsigned policy);

/* As evc_aes_named and evc_aes_at. */
EVC_API const struct evc_ghash *evc_ghash_named(const char *name);
EVC_API const struct evc_ghash *evc_ghash_at(unsigned index);

/* Any descriptor begins with its struct evc_kernel. */
static inline const struct evc_kernel *evc_ghash_kernel(const struct evc_ghash *ghash)
{
    return (const struct evc_kernel *)(const void *)ghash;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/*
 * h: the hash subkey, 16 bytes; in GCM the encryption of 16 zero bytes.
 *
 * evc_ghash_set_key_in takes memory of the caller: for kernels whose keys are larger than the union
 * (they are chosen by name only), and for machines where the union is too large. memory_bytes: at
 * least kernel.key_bytes; aligned to 16 bytes. All of the memory belongs to the key. All functions
 * below take either kind of key.
 *
 * EVC_ERR_KERNEL      kernel is NULL, or its key does not fit
 * EVC_ERR_ALIGNMENT   the memory is not aligned to 16 bytes
 * EVC_ERR_OVERLAP     h lies in the memory
 *
 * The key's memory is wiped first, also if the call then fails.
 */
EVC_CHECKED enum evc_status evc_ghash_set_best(union evc_ghash_key *key, uint64_t features,
                                               unsigned policy, const uint8_t *h);
EVC_CHECKED enum evc_status evc_ghash_set_key(union evc_ghash_key *key,
                                              const struct evc_ghash *kernel, const uint8_t *h);
EVC_CHECKED enum evc_status evc_ghash_set_key_in(void *memory, size_t memory_bytes,
                                                 const struct evc_ghash *kernel, const uint8_t *h);

/* ---- Hashing --------------------------------------------------------------------------------- */

/* y = (y ^ block) * H for each block of 16 bytes; begin with 16 zero bytes. Calling again
 * continues. With a key that is not set up (all zeros), y becomes zeros. */
EVC_API void evc_ghash_blocks(const void *key, uint8_t y[16], const uint8_t *in, size_t n_blocks);

/* The same of blocks whose bytes are in reverse order; those of y are not. With it a key for the
 * subkey times x computes POLYVAL (RFC 8452 appendix A). */
EVC_API void evc_ghash_reversed_blocks(const void *key, uint8_t y[16], const uint8_t *in,
                                       size_t n_blocks);

/* Hashes len_bytes bytes of any number; zeros fill up the last block. */
EVC_API void evc_ghash_padded(const void *key, uint8_t y[16], const uint8_t *in, size_t len_bytes);

/* ---- For kernels and their harness ----------------------------------------------------------- */

/* The descriptor. key points to kernel.key_bytes bytes, aligned to kernel.key_align, that begin
 * with an evc_ghash_head already set. */
struct evc_ghash {
    struct evc_kernel kernel;

    /* Both mandatory. n_blocks may be 0. */
    void (*set_key)(void *key, const uint8_t h[16]);
    void (*blocks)(const void *key, uint8_t y[16], const uint8_t *in, size_t n_blocks);

    /* evc_ghash_reversed_blocks. Optional: if it is NULL, src/ghash/ghash.c composes it from
     * blocks. */
    void (*reversed_blocks)(const void *key, uint8_t y[16], const uint8_t *in, size_t n_blocks);

    /*
     * GCM-SIV (RFC 8452) by this kernel and AES instructions, with keys of AES of the form
     * EVC_KEY_FIPS197, where the kernel of AES and this one together need siv_needs. Optional, all
     * or none: composed in src/modes/gcm_siv.c. The order is: keys, open (for opening alone), tag.
     *
     * siv_keys: makes the keys of a message from the key-generating key and the nonce, and hashes
     * the associated data: y becomes its hash. The head of aes_key is set; that of key is not used.
     * n_hashed: the blocks of the message that are hashed, with that of the lengths.
     * siv_open: CTR with the counter in the first 4 bytes, which goes on, and the hash of the
     * plaintext but for the last kernel.batch blocks. n_blocks: a multiple of that, not 0.
     * siv_tag: y is the hash of what comes before `in`, the last plaintext; lengths: the last
     * block. y becomes the tag, and counter that of the first block of text. The powers in `key`
     * are wiped. n_hashed: as for siv_keys.
     */
    uint64_t siv_needs;
    void (*siv_keys)(const void *generating_key, const uint8_t nonce[12], void *aes_key, void *key,
                     uint64_t n_hashed, const uint8_t *aad, size_t aad_bytes, uint8_t y[16]);
    void (*siv_open)(const void *aes_key, const void *key, uint8_t counter[16], uint8_t y[16],
                     const uint8_t *in, uint8_t *out, size_t n_blocks);
    void (*siv_tag)(const void *aes_key, void *key, uint64_t n_hashed, const uint8_t nonce[12],
                    const uint8_t *in, size_t len_bytes, const uint8_t lengths[16], uint8_t y[16],
                    uint8_t counter[16]);
};

#ifdef __cplusplus
}
#endif
#endif

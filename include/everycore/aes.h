/* SPDX-License-Identifier: MIT */
/*
 * AES (FIPS 197): the block cipher and its kernels. Modes are in everycore/modes.h.
 *
 *     union evc_aes_key key;
 *     enum evc_status status = evc_aes_set_best(&key, features, 0, bytes, 256);
 *     if (status == EVC_OK)
 *         status = evc_aes_encrypt(&key, in, out, n_blocks);
 *     evc_wipe(&key, sizeof key);
 *
 * A key stores which kernel made it, and only that kernel uses it. Keys may be copied, to memory
 * that is aligned to 16 bytes; they hold no pointer into themselves. Keys of kernels with the trait
 * EVC_KEY_FIPS197 share one format: evc_aes_rebind() moves such a key to another of these kernels,
 * for example when vector registers may not be used.
 *
 * Buffers: in and out of a call may be the same, apart, or overlap in part; then text is moved
 * first, which costs as much as a copy. They may have any alignment.
 * Stack and registers: calls clear secrets from the stack below their caller and from vector
 * registers; docs/reference/secrets.md names the builds in which that was measured.
 * Timing: as the kernel's class says; EVC_TIMING_CT kernels have no
 * secret-dependent branch or address.
 */
#ifndef EVERYCORE_AES_H
#define EVERYCORE_AES_H

#include "everycore/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EVC_AES_BLOCK_BYTES 16
#define EVC_AES_MAX_ROUNDS 14

struct evc_aes; /* a kernel's descriptor; its members are below, for authors of kernels */

/* Every key begins with this; the rest is the kernel's own. */
struct evc_aes_head {
    const struct evc_aes *kernel;
    uint32_t rounds;      /* 10, 12 or 14 */
    uint32_t can_decrypt; /* 0: set up for encryption only */
};

/* A key of any kernel that selection can return. */
union evc_aes_key {
    struct evc_aes_head head;
    EVC_ALIGN(16) uint8_t bytes[1024];
};

/* ---- Choosing a kernel ----------------------------------------------------------------------- */

/* The first kernel of src/kernels.def whose needs, timing class and use fit. features: of
 * evc_cpu_features(). policy: 0, or a sum of EVC_ALLOW_... The result depends on the arguments
 * alone. It is never NULL: a portable constant-time kernel always fits. */
EVC_API const struct evc_aes *evc_aes_select(uint64_t features, unsigned policy, enum evc_use use);

/* The kernel of that name; NULL if this library does not contain it. It may need features that this
 * CPU lacks: ask evc_kernel_runs. A program that calls this function or evc_aes_at links every
 * kernel; evc_aes_select links only those that it may return. */
EVC_API const struct evc_aes *evc_aes_named(const char *name);

/* All kernels in this library, best first; NULL past the end. */
EVC_API const struct evc_aes *evc_aes_at(unsigned index);

/*
 * Many kernels have a second descriptor, evc_aes_<name>_forward, which only encrypts (for
 * evc_aes_set_encrypt_key and pairs of GCM). A program that names it contains no decryption, if its
 * linker drops unused sections (-Wl,--gc-sections). It encrypts blocks and does CTR as fast as the
 * whole kernel; other modes are composed of blocks. The lines of src/kernels.def with the mark PAIR
 * have this descriptor.
 */

/* Any descriptor begins with its struct evc_kernel. */
static inline const struct evc_kernel *evc_aes_kernel(const struct evc_aes *aes)
{
    return (const struct evc_kernel *)(const void *)aes;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/*
 * user_key: key_bits / 8 bytes; key_bits: 128, 192 or 256.
 * evc_aes_set_encrypt_key makes a key for encryption only, with some kernels in less time. It is
 * enough for CTR, CBC encryption, CMAC, CCM and the tweak of XTS.
 *
 * EVC_ERR_KEY_SIZE    key_bits is none of these
 * EVC_ERR_KERNEL      kernel is NULL, or its key needs more bytes than there are; or the kernel
 *                     only encrypts (evc_aes_<name>_forward), and the key is to decrypt
 * EVC_ERR_ALIGNMENT   the key is not aligned to 16 bytes (malloc() aligns to
 *                     8 on some 32-bit systems)
 * EVC_ERR_OVERLAP     user_key lies in the memory of the key
 *
 * The key's memory is wiped first, also if the call then fails. A key that is all zeros, as
 * evc_wipe() and errors leave it, is not set up: calls with it return EVC_ERR_KERNEL.
 */
EVC_CHECKED enum evc_status evc_aes_set_key(union evc_aes_key *key, const struct evc_aes *kernel,
                                            const uint8_t *user_key, unsigned key_bits);
EVC_CHECKED enum evc_status evc_aes_set_encrypt_key(union evc_aes_key *key,
                                                    const struct evc_aes *kernel,
                                                    const uint8_t *user_key, unsigned key_bits);

/* Selects the best kernel of use PARALLEL and sets a key for both directions: for independent
 * blocks and evc_aes_cbc_encrypt_many. everycore/modes.h has such a function for each mode. */
EVC_CHECKED enum evc_status evc_aes_set_best(union evc_aes_key *key, uint64_t features,
                                             unsigned policy, const uint8_t *user_key,
                                             unsigned key_bits);

/*
 * Set up a key in memory of the caller, for machines where the union is too large: memory_bytes
 * bytes, at least kernel->kernel.key_bytes of them (struct evc_kernel), aligned to 16. All of the
 * memory belongs to the key. Use it as `const union evc_aes_key *key = memory;`, wipe it by
 * evc_wipe(memory, memory_bytes), and copy it by memcpy() of memory_bytes, never by `copy = *key`,
 * which reads beyond the memory.
 */
EVC_CHECKED enum evc_status evc_aes_set_key_in(void *memory, size_t memory_bytes,
                                               const struct evc_aes *kernel,
                                               const uint8_t *user_key, unsigned key_bits);
EVC_CHECKED enum evc_status evc_aes_set_encrypt_key_in(void *memory, size_t memory_bytes,
                                                       const struct evc_aes *kernel,
                                                       const uint8_t *user_key, unsigned key_bits);

/* Makes another kernel use the key from now on. EVC_ERR_KERNEL: one of the two kernels lacks the
 * trait EVC_KEY_FIPS197, or the new one cannot decrypt and the key can. */
EVC_CHECKED enum evc_status evc_aes_rebind(union evc_aes_key *key, const struct evc_aes *kernel);

/* ---- Blocks (ECB) ---------------------------------------------------------------------------- */

/*
 * in, out: n_blocks x 16 bytes.
 *
 * EVC_ERR_KERNEL      the key is not set up
 * EVC_ERR_DIRECTION   decryption with a key set up for encryption only
 */
EVC_CHECKED enum evc_status evc_aes_encrypt(const union evc_aes_key *key, const uint8_t *in,
                                            uint8_t *out, size_t n_blocks);
EVC_CHECKED enum evc_status evc_aes_decrypt(const union evc_aes_key *key, const uint8_t *in,
                                            uint8_t *out, size_t n_blocks);

/* ---- For kernels and their harness ----------------------------------------------------------- */

/*
 * The descriptor.
 *
 * key points to kernel.key_bytes bytes, aligned to kernel.key_align, that begin with an
 * evc_aes_head whose members are already set when set_key is called. Blocks are 16 bytes.
 */
struct evc_aes {
    struct evc_kernel kernel;

    /* Mandatory; decrypt is NULL in descriptors evc_aes_<name>_forward. user_key: 16, 24 or 32
     * bytes as head.rounds (10, 12, 14) says; decryption material is made only if head.can_decrypt.
     * n_blocks may be 0. */
    void (*set_key)(void *key, const uint8_t *user_key);
    void (*encrypt)(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks);
    void (*decrypt)(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks);

    /* Optional: if one is NULL, src/aes/aes.c composes it from encrypt and decrypt. All update
     * their 16-byte state in place. */

    /* CTR with the counter in the last 4 bytes, big-endian, wrapping modulo 2^32
     * without carry into the other 12. len_bytes need not be whole blocks; the counter
     * advances by the blocks begun. */
    void (*ctr32)(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes);
    /* The same with the counter in the first 4 bytes, little-endian (RFC 8452 section 4). */
    void (*ctr32_le)(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                     size_t len_bytes);
    void (*cbc_encrypt)(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks);
    void (*cbc_decrypt)(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks);
    /* chain = E(chain ^ block), for each block. */
    void (*cbcmac)(const void *key, uint8_t chain[16], const uint8_t *in, size_t n_blocks);
    /* tweak: already encrypted; on return the tweak of the block after the last (times x per block,
     * IEEE 1619 section 5.2). */
    void (*xts_encrypt)(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks);
    void (*xts_decrypt)(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks);
    /* CBC encryption of n messages, each a chain of its own. Bytes behind the last whole block of
     * len_bytes are ignored; iv is updated. If out is NULL, only the chain is computed, which is
     * CBC-MAC. */
    void (*cbc_encrypt_many)(const void *key, const struct evc_msg *msgs, size_t n);
    /* Text of CCM in one pass: for each block of plaintext, chain = E(chain ^ block), and the
     * block is encrypted or decrypted by CTR. The counter is the last 8 bytes, big-endian,
     * modulo 2^64. Both or none. */
    void (*ccm_encrypt)(const void *key, uint8_t counter[16], uint8_t chain[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks);
    void (*ccm_decrypt)(const void *key, uint8_t counter[16], uint8_t chain[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks);
    /* evc_aes_cbc_encrypt of whole blocks, which clears registers and stack by itself; returns
     * EVC_OK. */
    enum evc_status (*cbc_encrypt_message)(const void *key, uint8_t iv[16], const uint8_t *in,
                                           uint8_t *out, size_t len_bytes);
};

/*
 * The operations of a key's kernel, or composed from encrypt and decrypt if its member is NULL.
 * They do the same as the members of struct evc_aes and cannot fail. With a key that is not set up,
 * and for decryption with a key for encryption only, they fill out with zeros
 * (evc_aes_cbcmac_blocks: chain) and change nothing else. evc_aes_cbc_encrypt_blocks_many then does
 * not change a message whose out is NULL.
 */
EVC_API void evc_aes_ctr32(const union evc_aes_key *key, uint8_t counter[16], const uint8_t *in,
                           uint8_t *out, size_t len_bytes);
EVC_API void evc_aes_ctr32_le(const union evc_aes_key *key, uint8_t counter[16], const uint8_t *in,
                              uint8_t *out, size_t len_bytes);
EVC_API void evc_aes_cbc_encrypt_blocks(const union evc_aes_key *key, uint8_t iv[16],
                                        const uint8_t *in, uint8_t *out, size_t n_blocks);
EVC_API void evc_aes_cbc_decrypt_blocks(const union evc_aes_key *key, uint8_t iv[16],
                                        const uint8_t *in, uint8_t *out, size_t n_blocks);
EVC_API void evc_aes_cbcmac_blocks(const union evc_aes_key *key, uint8_t chain[16],
                                   const uint8_t *in, size_t n_blocks);
EVC_API void evc_aes_xts_encrypt_blocks(const union evc_aes_key *key, uint8_t tweak[16],
                                        const uint8_t *in, uint8_t *out, size_t n_blocks);
EVC_API void evc_aes_xts_decrypt_blocks(const union evc_aes_key *key, uint8_t tweak[16],
                                        const uint8_t *in, uint8_t *out, size_t n_blocks);
EVC_API void evc_aes_cbc_encrypt_blocks_many(const union evc_aes_key *key,
                                             const struct evc_msg *msgs, size_t n);

#ifdef __cplusplus
}
#endif
#endif

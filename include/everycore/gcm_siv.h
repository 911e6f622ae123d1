/* SPDX-License-Identifier: MIT */
/*
 * AES-GCM-SIV: RFC 8452 (2019). Authenticated encryption that survives a nonce that is used twice.
 *
 *     struct evc_gcm_siv_key key;
 *     static uint8_t scratch[EVC_GCM_SIV_MOST_SCRATCH_BYTES];
 *     enum evc_status status = evc_gcm_siv_set_best(&key, features, 0, user_key, 256);
 *     if (status == EVC_OK)
 *         status = evc_gcm_siv_seal(&key, nonce, 12, aad, aad_bytes, in, out, len_bytes, tag, 16,
 *                                   scratch, sizeof scratch);
 *     evc_wipe(&key, sizeof key);
 *
 * Two messages with one nonce under one key tell whether they are equal, and no more. Use a new
 * nonce for each message all the same: RFC 8452 section 9 counts how many messages a key may have.
 *
 * Each message has keys of its own, which are made from the key and the nonce: so calls need
 * scratch memory, evc_gcm_siv_scratch_bytes() bytes at any address. A call wipes what it wrote
 * there before it returns; two calls at a time need two pieces of it. Sealing reads the text twice,
 * since the tag is the first counter. There are no calls for a message in pieces: to seal one, all
 * of its text would have to be kept.
 *
 * Buffers, errors, stack, registers and keys in memory of the caller: as in everycore/modes.h. The
 * scratch memory overlaps no other buffer. Nothing else may write to a buffer during a call.
 * Timing: depends on lengths, on the timing class of the kernels, and on whether a tag was right.
 */
#ifndef EVERYCORE_GCM_SIV_H
#define EVERYCORE_GCM_SIV_H

#include "everycore/aes.h"
#include "everycore/ghash.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most bytes of text, and of associated data (sections 4 and 6). */
#define EVC_GCM_SIV_MAX_BYTES (UINT64_C(1) << 36)

/* Enough for all kernels that selection can return. */
#define EVC_GCM_SIV_MOST_SCRATCH_BYTES \
    (sizeof(union evc_aes_key) + sizeof(union evc_ghash_key) + 16)

struct evc_gcm_siv_key {
    EVC_ALIGN(16) const struct evc_ghash *ghash; /* of messages */
    /* The key-generating key, for encryption only; in memory of the caller as long as its kernel
     * needs. Keys of messages have the same kernel and the same size. */
    EVC_ALIGN(16) union evc_aes_key aes;
};

/*
 * key_bits: 128 or 256. Kernels: of AES for many blocks (EVC_USE_PARALLEL), and of GHASH, which
 * computes POLYVAL; evc_gcm_siv_set_best takes the best of each.
 *
 * EVC_ERR_KEY_SIZE    key_bits is none of these
 * EVC_ERR_KERNEL      a kernel is NULL, or the key does not fit
 * EVC_ERR_ALIGNMENT, EVC_ERR_OVERLAP      as in everycore/modes.h
 */
EVC_CHECKED enum evc_status evc_gcm_siv_set_best(struct evc_gcm_siv_key *key, uint64_t features,
                                                 unsigned policy, const uint8_t *user_key,
                                                 unsigned key_bits);
EVC_CHECKED enum evc_status evc_gcm_siv_set_key(struct evc_gcm_siv_key *key,
                                                const struct evc_aes *aes,
                                                const struct evc_ghash *ghash,
                                                const uint8_t *user_key, unsigned key_bits);
EVC_CHECKED enum evc_status evc_gcm_siv_set_key_in(void *memory, size_t memory_bytes,
                                                   const struct evc_aes *aes,
                                                   const struct evc_ghash *ghash,
                                                   const uint8_t *user_key, unsigned key_bits);

/* Bytes of memory for a key, and of scratch memory for a call with a key of these kernels; 0 if a
 * kernel is NULL. */
EVC_API size_t evc_gcm_siv_key_bytes(const struct evc_aes *aes, const struct evc_ghash *ghash);
EVC_API size_t evc_gcm_siv_scratch_bytes(const struct evc_aes *aes, const struct evc_ghash *ghash);

/*
 * One message. nonce_bytes: 12. tag_bytes: 16, in a separate buffer.
 *
 * EVC_ERR_NONCE_SIZE, EVC_ERR_TAG_SIZE    not these
 * EVC_ERR_LENGTH      text or associated data longer than EVC_GCM_SIV_MAX_BYTES
 * EVC_ERR_SCRATCH     fewer bytes than evc_gcm_siv_scratch_bytes() says
 * EVC_ERR_TAG         open: forged or damaged; out has been wiped
 */
EVC_CHECKED enum evc_status evc_gcm_siv_seal(const struct evc_gcm_siv_key *key,
                                             const uint8_t *nonce, size_t nonce_bytes,
                                             const uint8_t *aad, size_t aad_bytes,
                                             const uint8_t *in, uint8_t *out, size_t len_bytes,
                                             uint8_t *tag, size_t tag_bytes, void *scratch,
                                             size_t scratch_bytes);
EVC_CHECKED enum evc_status evc_gcm_siv_open(const struct evc_gcm_siv_key *key,
                                             const uint8_t *nonce, size_t nonce_bytes,
                                             const uint8_t *aad, size_t aad_bytes,
                                             const uint8_t *in, uint8_t *out, size_t len_bytes,
                                             const uint8_t *tag, size_t tag_bytes, void *scratch,
                                             size_t scratch_bytes);

/*
 * The same with the tag right behind the ciphertext, as RFC 8452 has it.
 *
 * seal: out has len_bytes + 16 bytes. open: in has in_bytes bytes, the tag among them, and out has
 * 16 fewer. in and out may overlap in any way.
 *
 * EVC_ERR_LENGTH      open: also if in_bytes is below 16
 * others              as above
 */
EVC_CHECKED enum evc_status evc_gcm_siv_seal_joined(const struct evc_gcm_siv_key *key,
                                                    const uint8_t *nonce, size_t nonce_bytes,
                                                    const uint8_t *aad, size_t aad_bytes,
                                                    const uint8_t *in, uint8_t *out,
                                                    size_t len_bytes, void *scratch,
                                                    size_t scratch_bytes);
EVC_CHECKED enum evc_status evc_gcm_siv_open_joined(const struct evc_gcm_siv_key *key,
                                                    const uint8_t *nonce, size_t nonce_bytes,
                                                    const uint8_t *aad, size_t aad_bytes,
                                                    const uint8_t *in, uint8_t *out,
                                                    size_t in_bytes, void *scratch,
                                                    size_t scratch_bytes);

#ifdef __cplusplus
}
#endif
#endif

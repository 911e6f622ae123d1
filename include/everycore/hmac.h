/* SPDX-License-Identifier: MIT */
/*
 * HMAC (RFC 2104, FIPS 198-1) on SHA-2.
 *
 *     struct evc_hmac_key key;
 *     uint8_t tag[32];
 *     enum evc_status status = evc_hmac_set_best(&key, evc_cpu_features(), 0, EVC_SHA256, user_key,
 *                                                user_key_bytes);
 *     if (status == EVC_OK)
 *         status = evc_hmac(&key, in, len_bytes, tag, sizeof tag);
 *     evc_wipe(&key, sizeof key);
 *
 * A key is prepared once: it holds both hashes behind the block that is made from the user's key,
 * so that a message costs no set-up. Threads may share it; it may be copied. HKDF
 * (everycore/hkdf.h) and PBKDF2 (everycore/pbkdf2.h) take the same keys.
 *
 * Keys, messages and tags may be secret: the time of a call depends on lengths alone, and nothing
 * of them is left in registers or on the stack. A failed call has changed nothing, unless it says
 * otherwise.
 *
 * EVC_ERR_PARAMETER   there is no such hash; a buffer is NULL, and its length is not 0
 * EVC_ERR_KERNEL      set_key: the kernel is NULL or does not compute this hash; others: the key is
 *                     not set up
 * EVC_ERR_ALIGNMENT   the key is not aligned to 16 bytes
 */
#ifndef EVERYCORE_HMAC_H
#define EVERYCORE_HMAC_H

#include "everycore/sha2.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Words a to h of the hash in the form of its block function. */
union evc_hmac_words {
    uint32_t words32[8];
    uint64_t words64[8];
};

struct evc_hmac_key {
    EVC_ALIGN(16) union evc_hmac_words inner; /* behind the block of the key and ipad */
    union evc_hmac_words outer;               /* behind the block of the key and opad */
    const struct evc_sha2 *kernel;            /* NULL: not set up */
    uint32_t hash;                            /* enum evc_sha2_hash */
    uint32_t allows_short_tags;
};

/*
 * user_key: any number of bytes. Take at least evc_sha2_digest_bytes(hash) random ones: fewer are
 * weaker, and more make no key stronger (RFC 2104 section 3). A key longer than a block is hashed
 * first. The memory of the key is wiped before all else, also if the call then fails.
 *
 * EVC_ERR_OVERLAP     user_key lies in the memory of the key
 */
EVC_CHECKED enum evc_status evc_hmac_set_best(struct evc_hmac_key *key, uint64_t features,
                                              unsigned policy, enum evc_sha2_hash hash,
                                              const uint8_t *user_key, size_t user_key_bytes);
EVC_CHECKED enum evc_status evc_hmac_set_key(struct evc_hmac_key *key,
                                             const struct evc_sha2 *kernel,
                                             enum evc_sha2_hash hash, const uint8_t *user_key,
                                             size_t user_key_bytes);

/*
 * Tags of half a digest to a whole one: RFC 2104 (section 5) wants at least half of the digest and
 * 80 bits, and half of each digest of SHA-2 is more than 80 bits. Shorter ones, down to 4 bytes
 * (FIPS 198 of 2002, section 4), only for a key that this call allows them; without it they are
 * refused. Fix the length in your protocol; never take it from the received message. Call this
 * before threads share the key.
 */
#define EVC_HMAC_MIN_SHORT_TAG 4
EVC_CHECKED enum evc_status evc_hmac_allow_short_tags(struct evc_hmac_key *key);

/* ---- Messages -------------------------------------------------------------------------------- */

/*
 * Compute the tag of a message, or verify it in constant time. A shorter tag is the first bytes of
 * the whole one. tag may lie in the message.
 *
 * EVC_ERR_TAG_SIZE    tag_bytes is none of the lengths above
 * EVC_ERR_LENGTH      the message is too long for the hash: see everycore/sha2.h, less one block
 * EVC_ERR_TAG         verify: the tag is not that of the message
 */
EVC_CHECKED enum evc_status evc_hmac(const struct evc_hmac_key *key, const uint8_t *in,
                                     size_t len_bytes, uint8_t *tag, size_t tag_bytes);
EVC_CHECKED enum evc_status evc_hmac_verify(const struct evc_hmac_key *key, const uint8_t *in,
                                            size_t len_bytes, const uint8_t *tag,
                                            size_t tag_bytes);

/*
 * Many tags, each as by evc_hmac, with one key or several: see evc_sha2_many. Neighbours whose keys
 * have the same kernel and hash are computed side by side. scratch_bytes: at least the largest
 * evc_sha2_many_scratch_bytes() of the keys' kernels.
 *
 * EVC_ERR_SCRATCH     scratch is NULL, or too small for this key's kernel
 */
struct evc_hmac_message {
    const struct evc_hmac_key *key;
    const uint8_t *in;
    size_t len_bytes;
    uint8_t *tag;
    size_t tag_bytes;
    enum evc_status status; /* result */
};

EVC_CHECKED enum evc_status evc_hmac_many(struct evc_hmac_message *messages, size_t n_messages,
                                          void *scratch, size_t scratch_bytes);

/*
 * A message in pieces of any lengths, all with one key. Order: start, any number of updates, finish
 * or finish_verify. start wipes the state first, also if it then fails. A state that is not
 * finished holds secrets: evc_wipe() it. It may be copied; a copy goes on by itself.
 *
 * EVC_ERR_STATE       the state holds no message: it was not started, or was finished; or its key
 *                     had another kernel or hash. Other keys are not told apart
 */
struct evc_hmac {
    struct evc_sha2_state inner;
    uint8_t phase; /* 0: no message */
};

EVC_CHECKED enum evc_status evc_hmac_start(const struct evc_hmac_key *key, struct evc_hmac *state);
EVC_CHECKED enum evc_status evc_hmac_update(const struct evc_hmac_key *key, struct evc_hmac *state,
                                            const uint8_t *in, size_t len_bytes);

/* Errors as evc_hmac and evc_hmac_verify. Both wipe the state with EVC_OK and EVC_ERR_TAG; with
 * every other status the message goes on. */
EVC_CHECKED enum evc_status evc_hmac_finish(const struct evc_hmac_key *key, struct evc_hmac *state,
                                            uint8_t *tag, size_t tag_bytes);
EVC_CHECKED enum evc_status evc_hmac_finish_verify(const struct evc_hmac_key *key,
                                                   struct evc_hmac *state, const uint8_t *tag,
                                                   size_t tag_bytes);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/*
 * AES-GCM: SP 800-38D (2007). Authenticated encryption with associated data.
 *
 *     union evc_gcm_key key;
 *     enum evc_status status = evc_gcm_set_best(&key, features, 0, user_key, 256);
 *     if (status == EVC_OK)
 *         status = evc_gcm_seal(&key, iv, 12, aad, aad_bytes, in, out, len_bytes, tag, 16);
 *     evc_wipe(&key, sizeof key);
 *
 * Never use an IV twice under one key: two messages with one IV give away the authentication key
 * and the exclusive or of their plaintexts (section 8). IVs of 12 bytes are usual, and the fastest.
 *
 * A kernel of GCM computes AES and GHASH together. If none fits the CPU, a kernel of AES and one of
 * GHASH are used as a pair, whose timing class is the worse of the two. A key remembers the kernel
 * or pair that made it. Keys may be copied.
 * Buffers: in and out of a call may be the same, apart, or overlap in part; then text is moved
 * first, which costs as much as a copy. In pieces, the output of a call must not reach the input of
 * a later one. Buffers may have any alignment. A buffer of length 0 may be NULL. Associated data,
 * IV and tag must not overlap in or out. No buffer overlaps a key or a state. Nothing else may
 * write to a buffer during a call: kernels may read text of in and out twice.
 * Errors: a call that fails has written nothing, unless said otherwise. EVC_ERR_KERNEL from a call
 * with a key: the key is not set up (its set-up failed, or it was wiped).
 * Stack and registers: calls clear secrets from the stack below their caller and from vector
 * registers; docs/reference/secrets.md names the builds in which that was measured.
 * Timing: depends on lengths, on the timing class, and on whether a tag was right.
 */
#ifndef EVERYCORE_GCM_H
#define EVERYCORE_GCM_H

#include "everycore/aes.h"
#include "everycore/ghash.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of section 5.2.1.1, in bytes: text 2^39 - 256 bits, associated data
 * and IV 2^64 - 1 bits. */
#define EVC_GCM_MAX_TEXT ((UINT64_C(1) << 36) - 32)
#define EVC_GCM_MAX_AAD ((UINT64_C(1) << 61) - 1)

struct evc_gcm; /* a kernel's descriptor; its members are below, for authors of kernels */

/* Every key begins with this. */
struct evc_gcm_head {
    const struct evc_gcm *kernel;
    uint32_t rounds;   /* of AES: 10, 12 or 14 */
    uint16_t ghash_at; /* of a pair: where the key of GHASH begins behind that of AES; else 0 */
    uint16_t allows_short_tags;
};

union evc_gcm_key {
    struct evc_gcm_head head;
    EVC_ALIGN(16) uint8_t bytes[2048];
};

/* ---- Choosing a kernel ----------------------------------------------------------------------- */

/* As evc_aes_select, without a use. NULL if no kernel of GCM fits the CPU: use evc_gcm_set_best,
 * which then takes a pair, or evc_gcm_set_pair. */
EVC_API const struct evc_gcm *evc_gcm_select(uint64_t features, unsigned policy);

/* The two kernels of the pair for CPUs that no kernel of GCM fits; never NULL. The kernel of AES
 * has encryption only (everycore/aes.h). On every known CPU that no kernel of GCM fits, the two are
 * those of evc_aes_select() with EVC_USE_PARALLEL and of evc_ghash_select(). A pair leaves out only
 * kernels that want wide AES instructions on a CPU without carry-less multiplication, or wide
 * carry-less multiplication on one without AES instructions. */
EVC_API const struct evc_aes *evc_gcm_select_aes(uint64_t features, unsigned policy);
EVC_API const struct evc_ghash *evc_gcm_select_ghash(uint64_t features, unsigned policy);

/* As evc_aes_named and evc_aes_at. */
EVC_API const struct evc_gcm *evc_gcm_named(const char *name);
EVC_API const struct evc_gcm *evc_gcm_at(unsigned index);

/* Any descriptor begins with its struct evc_kernel. */
static inline const struct evc_kernel *evc_gcm_kernel(const struct evc_gcm *gcm)
{
    return (const struct evc_kernel *)(const void *)gcm;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/*
 * user_key: key_bits / 8 bytes; key_bits: 128, 192 or 256.
 *
 * evc_gcm_set_key: a kernel of GCM. evc_gcm_set_pair: any two kernels. evc_gcm_set_best: the kernel
 * or the pair that selection gives.
 *
 * The functions *_in take memory of the caller instead of the union: for machines where that is too
 * large, and for kernels whose keys are larger. memory_bytes: at least kernel.key_bytes, or
 * evc_gcm_pair_key_bytes(); aligned to 16. All of the memory belongs to the key: use it as
 * `const union evc_gcm_key *key = memory;`.
 *
 * EVC_ERR_KEY_SIZE    key_bits is none of these
 * EVC_ERR_KERNEL      a kernel is NULL, or its key does not fit (never of set_best)
 * EVC_ERR_ALIGNMENT   the key is not aligned to 16 bytes (malloc() aligns to
 *                     8 on some 32-bit systems)
 * EVC_ERR_OVERLAP     user_key lies in the memory of the key
 *
 * The key's memory is wiped first, also if the call then fails. A key in memory of the caller is
 * copied by memcpy() of memory_bytes: `*key` may be longer. evc_gcm_pair_key_bytes returns 0 if a
 * kernel is NULL.
 */
EVC_CHECKED enum evc_status evc_gcm_set_best(union evc_gcm_key *key, uint64_t features,
                                             unsigned policy, const uint8_t *user_key,
                                             unsigned key_bits);
EVC_CHECKED enum evc_status evc_gcm_set_pair(union evc_gcm_key *key, const struct evc_aes *aes,
                                             const struct evc_ghash *ghash, const uint8_t *user_key,
                                             unsigned key_bits);
EVC_CHECKED enum evc_status evc_gcm_set_key(union evc_gcm_key *key, const struct evc_gcm *kernel,
                                            const uint8_t *user_key, unsigned key_bits);

EVC_CHECKED enum evc_status evc_gcm_set_pair_in(void *memory, size_t memory_bytes,
                                                const struct evc_aes *aes,
                                                const struct evc_ghash *ghash,
                                                const uint8_t *user_key, unsigned key_bits);
EVC_CHECKED enum evc_status evc_gcm_set_key_in(void *memory, size_t memory_bytes,
                                               const struct evc_gcm *kernel,
                                               const uint8_t *user_key, unsigned key_bits);
EVC_API size_t evc_gcm_pair_key_bytes(const struct evc_aes *aes, const struct evc_ghash *ghash);

/*
 * Allows tags of 8 and 4 bytes for a key; without it they are refused. Call it before threads share
 * the key. SP 800-38D allows them for special uses only, with limits on messages and failures of
 * each key (section 5.2.1.2, appendix C). Forgeries succeed more often than a guess of the tag, and
 * each one reveals something of the authentication key (N. Ferguson, "Authentication weaknesses in
 * GCM", 2005). NIST's revision allows no tag below 96 bits (second pre-draft call for comments on
 * SP 800-38D revision 1, June 2026). EVC_ERR_KERNEL: the key is not set up.
 */
EVC_CHECKED enum evc_status evc_gcm_allow_short_tags(union evc_gcm_key *key);

/* ---- Messages -------------------------------------------------------------------------------- */

/*
 * One message. iv: 1 byte or more. tag: 12 to 16 bytes, or 8 or 4 if evc_gcm_allow_short_tags
 * allowed them, in a separate buffer.
 *
 * EVC_ERR_NONCE_SIZE  the IV is empty or too long
 * EVC_ERR_TAG_SIZE    no such tag
 * EVC_ERR_LENGTH      text or associated data longer than the limits above, or associated data of
 *                     half the address space
 * EVC_ERR_TAG         open: forged or damaged; out has been wiped
 */
EVC_CHECKED enum evc_status evc_gcm_seal(const union evc_gcm_key *key, const uint8_t *iv,
                                         size_t iv_bytes, const uint8_t *aad, size_t aad_bytes,
                                         const uint8_t *in, uint8_t *out, size_t len_bytes,
                                         uint8_t *tag, size_t tag_bytes);
EVC_CHECKED enum evc_status evc_gcm_open(const union evc_gcm_key *key, const uint8_t *iv,
                                         size_t iv_bytes, const uint8_t *aad, size_t aad_bytes,
                                         const uint8_t *in, uint8_t *out, size_t len_bytes,
                                         const uint8_t *tag, size_t tag_bytes);

/*
 * One message with a tag of 16 bytes right behind the ciphertext, as in RFC 5116 (section 2.1) and
 * most protocols.
 *
 * seal: out has len_bytes + 16 bytes. open: in has in_bytes bytes, the tag among them, and out has
 * 16 fewer. in and out may overlap in any way.
 *
 * EVC_ERR_LENGTH      open: also if in_bytes is below 16
 * others              as above
 */
EVC_CHECKED enum evc_status evc_gcm_seal_joined(const union evc_gcm_key *key, const uint8_t *iv,
                                                size_t iv_bytes, const uint8_t *aad,
                                                size_t aad_bytes, const uint8_t *in, uint8_t *out,
                                                size_t len_bytes);
EVC_CHECKED enum evc_status evc_gcm_open_joined(const union evc_gcm_key *key, const uint8_t *iv,
                                                size_t iv_bytes, const uint8_t *aad,
                                                size_t aad_bytes, const uint8_t *in, uint8_t *out,
                                                size_t in_bytes);

/*
 * Many messages under one key, such as packets. Each has its own result in msgs[i].status. The call
 * returns EVC_OK if all succeeded, else the first error. Buffers of two messages do not overlap.
 */
struct evc_gcm_msg {
    const uint8_t *iv, *aad, *in;
    uint8_t *out, *tag; /* open reads the tag */
    size_t iv_bytes, aad_bytes, len_bytes, tag_bytes;
    enum evc_status status; /* result */
};

EVC_CHECKED enum evc_status evc_gcm_seal_many(const union evc_gcm_key *key,
                                              struct evc_gcm_msg *msgs, size_t n);
EVC_CHECKED enum evc_status evc_gcm_open_many(const union evc_gcm_key *key,
                                              struct evc_gcm_msg *msgs, size_t n);

/*
 * A message in pieces of any lengths. Order: start, all associated data, the text, finish. Opening
 * in pieces outputs plaintext before it is verified: unless finish returns EVC_OK, use none of it
 * and wipe it.
 *
 * A state that is all zeros holds no message; evc_wipe() and finish write zeros. start begins a
 * message, whatever the state held before; a start that fails leaves zeros.
 *
 * EVC_ERR_NONCE_SIZE  start: as above
 * EVC_ERR_STATE       a call out of order: no message is begun, it is finished,
 *                     associated data after text, or sealing and opening mixed. Nothing
 *                     is done; the state is as before.
 * EVC_ERR_LENGTH      aad, update: beyond the limit. Nothing is done; the state is as before.
 * EVC_ERR_TAG_SIZE    finish: no such tag; the state is as before
 * EVC_ERR_TAG         open_finish: forged or damaged
 * finish wipes the state after success and after EVC_ERR_TAG; after other errors it is as before.
 * The members of a state are the library's own. A state may be copied.
 */
struct evc_gcm_state {
    uint8_t j0[16], y[16], stream[16];
    uint64_t aad_bytes, text_bytes;
    uint8_t phase;
    uint8_t direction;
    uint8_t short_iv, form;
};

EVC_CHECKED enum evc_status evc_gcm_start(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                          const uint8_t *iv, size_t iv_bytes);
EVC_CHECKED enum evc_status evc_gcm_aad(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                        const uint8_t *aad, size_t len_bytes);
EVC_CHECKED enum evc_status evc_gcm_seal_update(const union evc_gcm_key *key,
                                                struct evc_gcm_state *state, const uint8_t *in,
                                                uint8_t *out, size_t len_bytes);
EVC_CHECKED enum evc_status evc_gcm_open_update(const union evc_gcm_key *key,
                                                struct evc_gcm_state *state, const uint8_t *in,
                                                uint8_t *out, size_t len_bytes);
EVC_CHECKED enum evc_status evc_gcm_seal_finish(const union evc_gcm_key *key,
                                                struct evc_gcm_state *state, uint8_t *tag,
                                                size_t tag_bytes);
EVC_CHECKED enum evc_status evc_gcm_open_finish(const union evc_gcm_key *key,
                                                struct evc_gcm_state *state, const uint8_t *tag,
                                                size_t tag_bytes);

/* ---- For kernels and their harness ----------------------------------------------------------- */

/*
 * The descriptor.
 *
 * key points to kernel.key_bytes bytes, aligned to kernel.key_align, that begin with an
 * evc_gcm_head already set. n_blocks may be 0. The counter is the last 4 bytes of its block,
 * big-endian, and wraps modulo 2^32.
 */
struct evc_gcm {
    struct evc_kernel kernel;

    /* Mandatory. set_key writes all key_bytes bytes of the key behind its head, zeros where it
     * needs fewer.
     * encrypt, hash: as encrypt of evc_aes and blocks of evc_ghash. */
    void (*set_key)(void *key, const uint8_t *user_key);
    void (*encrypt)(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks);
    void (*hash)(const void *key, uint8_t y[16], const uint8_t *in, size_t n_blocks);
    /* CTR, and GHASH of the ciphertext: of out when sealing, of in when opening. */
    void (*seal_blocks)(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks);
    void (*open_blocks)(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks);

    /*
     * Optional, all three or none: evc_gcm_seal and evc_gcm_open with an IV of 12 bytes, after all
     * sizes were checked. They have the same arguments, so that the call is a jump. open compares
     * in constant time and returns EVC_OK or EVC_ERR_TAG; its caller wipes the output. These three
     * clear registers and stack by themselves; after all other operations the caller does.
     */
    enum evc_status (*seal)(const void *key, const uint8_t *iv, size_t iv_bytes, const uint8_t *aad,
                            size_t aad_bytes, const uint8_t *in, uint8_t *out, size_t len_bytes,
                            uint8_t *tag, size_t tag_bytes);
    enum evc_status (*open)(const void *key, const uint8_t *iv, size_t iv_bytes, const uint8_t *aad,
                            size_t aad_bytes, const uint8_t *in, uint8_t *out, size_t len_bytes,
                            const uint8_t *tag, size_t tag_bytes);
    /* Like open, but writes the tag instead of verifying it. tag_bytes is 16. For the first piece
     * of a message, whose tag comes later. */
    enum evc_status (*open_output_tag)(const void *key, const uint8_t *iv, size_t iv_bytes,
                                       const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                       uint8_t *out, size_t len_bytes, uint8_t *tag,
                                       size_t tag_bytes);
    /* Mandatory: whole messages, if seal and open are NULL or the IV does not have 12 bytes.
     * Kernels have evc_gcm_seal_pieces() and evc_gcm_open_pieces() of src/gcm/pieces.h here. A pair
     * has its own functions, and links neither. They behave like `seal` and `open`. */
    enum evc_status (*seal_any_iv)(const void *key, const uint8_t *iv, size_t iv_bytes,
                                   const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                   uint8_t *out, size_t len_bytes, uint8_t *tag, size_t tag_bytes);
    enum evc_status (*open_any_iv)(const void *key, const uint8_t *iv, size_t iv_bytes,
                                   const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                   uint8_t *out, size_t len_bytes, const uint8_t *tag,
                                   size_t tag_bytes);
};

/* A bit that may be set in aad_bytes, in calls of seal and open_output_tag: all blocks of the
 * associated data but the last are hashed already. aad then points to one block of 16 bytes: the
 * last block, filled up with zeros, xor the hash of the blocks before it. tag may be the same
 * memory. The other bits of aad_bytes are the length of all associated data, 1 to 2^30 - 1 bytes.
 */
#define EVC_GCM_HASHED_AAD ((size_t)1 << (8 * sizeof(size_t) - 1))

#ifdef __cplusplus
}
#endif
#endif

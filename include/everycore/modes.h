/* SPDX-License-Identifier: MIT */
/*
 * Modes of AES: CBC, CTR, XTS, CBC-MAC, CMAC, CCM, key wrap. ECB is evc_aes_encrypt() and
 * evc_aes_decrypt(); GCM-SIV is in everycore/gcm_siv.h.
 *
 *     struct evc_aes_ccm_key key;
 *     enum evc_status status = evc_aes_ccm_set_best(&key, features, 0, bytes, 256);
 *     if (status == EVC_OK)
 *         status = evc_aes_ccm_seal(&key, nonce, 12, aad, aad_bytes, in, out, len_bytes, tag, 16);
 *     evc_wipe(&key, sizeof key);
 *
 * The functions *_set_best choose the kernels. To choose them yourself, ask evc_aes_select() for
 * this use:
 *
 *     EVC_USE_PARALLEL   CTR, CBC decryption, XTS data, CCM's counter half, GCM-SIV, many messages
 *                        at once
 *     EVC_USE_SERIAL     CBC encryption, CBC-MAC, CMAC, XTS tweak, CCM's authentication half, key
 *                        wrap
 *
 * Any kernel gives the right result for any mode; the use decides only how fast.
 *
 * Buffers: in and out of a call may be the same, apart, or overlap in part; then text is moved
 * first, which costs as much as a copy. In pieces, the output of a call must not reach the input of
 * a later one. Buffers may have any alignment. A buffer of length 0 may be NULL. IVs, counters,
 * nonces, tags and associated data overlap no output. No buffer overlaps a key or a state.
 * Exception: the counter or tweak given to start may lie in the state.
 * Contexts: of fixed size, owned by the caller, without pointers into themselves:
 * they may be copied (a copy of a started message continues on its own) and are wiped
 * by evc_wipe(&x, sizeof x).
 * Errors: a call that fails has written nothing, unless said otherwise. All calls with a key:
 *
 *     EVC_ERR_KERNEL     the key is not set up: its set-up failed, or it was wiped
 *
 * Messages in pieces: a state that is all zeros holds no message; evc_wipe() and finish write
 * zeros. start begins a message, whatever the state held before; a start that fails leaves zeros.
 * All other calls:
 *
 *     EVC_ERR_STATE      a call out of order: no message is begun, it is finished, a part of it
 *                        is over (associated data after text), or it goes the other way
 *                        (decryption of a message whose first piece was encrypted). Nothing is
 *                        done; the state is as before.
 *
 * Keys in the caller's memory: for machines where the key types here are too large, the functions
 * *_set_key_in take memory_bytes bytes of memory, aligned to 16; *_key_bytes() says how many the
 * kernels need. All of the memory belongs to the key: use it as
 * `const struct evc_aes_xts_key *key = memory;`, wipe it by evc_wipe(memory, memory_bytes), and
 * copy it by memcpy() of as many bytes: `*key` may be longer than the memory. *_key_bytes() returns
 * 0 if a kernel is NULL. Every function that sets up a key wipes the key's memory first, also if it
 * then fails. Its errors:
 *
 *     EVC_ERR_KEY_SIZE   key_bits is not a size of the mode
 *     EVC_ERR_KERNEL     a kernel is NULL, or the key does not fit
 *     EVC_ERR_ALIGNMENT  the key is not aligned to 16 bytes (malloc() aligns to
 *                        8 on some 32-bit systems)
 *     EVC_ERR_OVERLAP    user_key lies in the memory of the key
 *
 * Timing: depends on lengths and on the kernel's timing class: modes add no branch or address that
 * depends on a key, on data or on a tag's bytes. The outcome of a comparison of tags, and of the
 * two keys of XTS, is public. Stack and registers: as in everycore/aes.h.
 */
#ifndef EVERYCORE_MODES_H
#define EVERYCORE_MODES_H

#include "everycore/aes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- CBC: SP 800-38A (2001) section 6.2 ------------------------------------------------------ */

/*
 * iv: 16 bytes, unpredictable for each message (SP 800-38A appendix C). On return it holds the last
 * ciphertext block, so that another call continues the message. No padding is added or removed. CBC
 * does not authenticate: a program that tells strangers "bad padding" gives the plaintext away.
 *
 * EVC_ERR_LENGTH      len_bytes is not whole blocks
 * EVC_ERR_DIRECTION   decryption with a key set up for encryption only
 */
EVC_CHECKED enum evc_status evc_aes_cbc_encrypt(const union evc_aes_key *key, uint8_t iv[16],
                                                const uint8_t *in, uint8_t *out, size_t len_bytes);
EVC_CHECKED enum evc_status evc_aes_cbc_decrypt(const union evc_aes_key *key, uint8_t iv[16],
                                                const uint8_t *in, uint8_t *out, size_t len_bytes);

/* Keys with the best kernel. The key for encryption is also for CBC-MAC, and does not decrypt. The
 * key for decryption also encrypts, but its kernel is slow for one chain. */
EVC_CHECKED enum evc_status evc_aes_cbc_encrypt_set_best(union evc_aes_key *key, uint64_t features,
                                                         unsigned policy, const uint8_t *user_key,
                                                         unsigned key_bits);
EVC_CHECKED enum evc_status evc_aes_cbc_decrypt_set_best(union evc_aes_key *key, uint64_t features,
                                                         unsigned policy, const uint8_t *user_key,
                                                         unsigned key_bits);

/*
 * Encrypts n messages of whole blocks (or 0 bytes) under one key, each as evc_aes_cbc_encrypt does;
 * its iv is updated. In one chain each block waits for the one before, so use a PARALLEL kernel,
 * which computes several chains at once. The buffers and IVs of different messages do not overlap.
 *
 * EVC_ERR_LENGTH      a message is not whole blocks; no message has been touched
 */
EVC_CHECKED enum evc_status evc_aes_cbc_encrypt_many(const union evc_aes_key *key,
                                                     const struct evc_msg *msgs, size_t n);

/* ---- CTR: SP 800-38A (2001) section 6.5 ------------------------------------------------------ */

/* A key with the best kernel, for CTR alone: both directions encrypt blocks. */
EVC_CHECKED enum evc_status evc_aes_ctr_set_best(union evc_aes_key *key, uint64_t features,
                                                 unsigned policy, const uint8_t *user_key,
                                                 unsigned key_bits);

/*
 * Encryption and decryption are the same. The counter is all 16 bytes, big-endian, and wraps modulo
 * 2^128 (appendix B.1 with m = 128). No counter value may serve twice under one key.
 * CTR does not authenticate.
 *
 * One call: counter grows by 1 for each block, also for a last partial one, so that calls on whole
 * blocks continue each other.
 */
EVC_CHECKED enum evc_status evc_aes_ctr(const union evc_aes_key *key, uint8_t counter[16],
                                        const uint8_t *in, uint8_t *out, size_t len_bytes);

/* A message in pieces of any lengths. */
struct evc_aes_ctr {
    uint8_t counter[16];    /* of the next block */
    uint8_t stream[16];     /* key stream of the block begun */
    uint32_t left;          /* bytes of it not yet used, at the end: 0 to 15 */
    uint8_t counter_bytes;  /* 16 or 4 */
    uint8_t phase;          /* 0: no message */
};

/*
 * evc_aes_ctr_start: as evc_aes_ctr. evc_aes_ctr_start32: only the last 4 bytes count and wrap
 * modulo 2^32, without a carry into the other 12, as in GCM (SP 800-38D section 6.5). After 2^32
 * blocks (64 GiB) the key stream repeats, and secrecy is lost. The library does not check this:
 * your protocol limits its messages (GCM to 2^32 - 2 blocks). In one call: evc_aes_ctr32(). Both
 * functions always return EVC_OK.
 */
EVC_CHECKED enum evc_status evc_aes_ctr_start(struct evc_aes_ctr *state, const uint8_t counter[16]);
EVC_CHECKED enum evc_status evc_aes_ctr_start32(struct evc_aes_ctr *state,
                                                const uint8_t counter[16]);

/* The next len_bytes bytes of the message. There is no finish for CTR: wipe the state
 * after the last piece. */
EVC_CHECKED enum evc_status evc_aes_ctr_update(const union evc_aes_key *key,
                                               struct evc_aes_ctr *state, const uint8_t *in,
                                               uint8_t *out, size_t len_bytes);

/* ---- XTS: IEEE 1619-2018, SP 800-38E (2010) -------------------------------------------------- */

/* At most 2^20 blocks a data unit (SP 800-38E section 4). */
#define EVC_AES_XTS_MAX_BYTES ((size_t)1 << 24)

struct evc_aes_xts_key {
    EVC_ALIGN(16) uint32_t tweak_at; /* where Key2 begins in keys; 0: not set up */
    uint32_t allowed;                /* EVC_AES_XTS_ALLOW_... */
    /* Key1 of the standard, for the data; then Key2, for the tweak, for encryption only; each as
     * long as its kernel needs */
    EVC_ALIGN(16) uint8_t keys[2 * sizeof(union evc_aes_key)];
};

/* The two keys inside a key that is set up. */
static inline const union evc_aes_key *evc_aes_xts_data_key(const struct evc_aes_xts_key *key)
{
    return (const union evc_aes_key *)(const void *)key->keys;
}

static inline const union evc_aes_key *evc_aes_xts_tweak_key(const struct evc_aes_xts_key *key)
{
    return (const union evc_aes_key *)(const void *)(key->keys + key->tweak_at);
}

/*
 * user_key: 2 x key_bits / 8 bytes, Key1 then Key2; AES-256-XTS has key_bits 256 and 64 bytes.
 * Kernels: data of use PARALLEL, tweak SERIAL; evc_aes_xts_set_best takes the best of each.
 *
 * EVC_ERR_KEY_SIZE    key_bits is not 128 or 256
 * EVC_ERR_EQUAL_KEYS  Key1 = Key2, compared in constant time (FIPS 140-3 IG C.I)
 */
EVC_CHECKED enum evc_status evc_aes_xts_set_best(struct evc_aes_xts_key *key, uint64_t features,
                                                 unsigned policy, const uint8_t *user_key,
                                                 unsigned key_bits);
EVC_CHECKED enum evc_status evc_aes_xts_set_key(struct evc_aes_xts_key *key,
                                                const struct evc_aes *data_kernel,
                                                const struct evc_aes *tweak_kernel,
                                                const uint8_t *user_key, unsigned key_bits);
EVC_CHECKED enum evc_status evc_aes_xts_set_key_in(void *memory, size_t memory_bytes,
                                                   const struct evc_aes *data_kernel,
                                                   const struct evc_aes *tweak_kernel,
                                                   const uint8_t *user_key, unsigned key_bits);
EVC_API size_t evc_aes_xts_key_bytes(const struct evc_aes *data_kernel,
                                     const struct evc_aes *tweak_kernel);

/*
 * The same as evc_aes_xts_set_key_in, for interfaces that must accept what the standards refuse,
 * such as that of the Linux kernel. allowed: a sum of EVC_AES_XTS_ALLOW_... Key1 = Key2 makes XTS
 * weaker (P. Rogaway, "Efficient instantiations of tweakable blockciphers and refinements to modes
 * OCB and PMAC", 2004, section 6); no standard has XTS with AES-192.
 */
#define EVC_AES_XTS_ALLOW_EQUAL_KEYS 1u
#define EVC_AES_XTS_ALLOW_192 2u  /* key_bits 192 */
#define EVC_AES_XTS_ALLOW_LONG 4u /* data units longer than EVC_AES_XTS_MAX_BYTES */

EVC_CHECKED enum evc_status evc_aes_xts_set_key_allowing_in(void *memory, size_t memory_bytes,
                                                            const struct evc_aes *data_kernel,
                                                            const struct evc_aes *tweak_kernel,
                                                            const uint8_t *user_key,
                                                            unsigned key_bits, unsigned allowed);

/* The tweak of data unit (sector) number unit: 16 bytes, little-endian (IEEE
 * 1619-2018 section 5.1). */
EVC_API void evc_aes_xts_tweak(uint8_t tweak[16], uint64_t unit);

/*
 * One data unit. tweak: 16 bytes, not secret, not changed. Lengths that are no multiple of 16 use
 * ciphertext stealing (sections 5.3.2 and 5.4.2).
 *
 * EVC_ERR_LENGTH      len_bytes is below 16 or above EVC_AES_XTS_MAX_BYTES
 */
EVC_CHECKED enum evc_status evc_aes_xts_encrypt(const struct evc_aes_xts_key *key,
                                                const uint8_t tweak[16], const uint8_t *in,
                                                uint8_t *out, size_t len_bytes);
EVC_CHECKED enum evc_status evc_aes_xts_decrypt(const struct evc_aes_xts_key *key,
                                                const uint8_t tweak[16], const uint8_t *in,
                                                uint8_t *out, size_t len_bytes);

/* One data unit in pieces, all encrypted or all decrypted: the first piece decides. */
struct evc_aes_xts {
    uint8_t tweak[16];   /* encrypted; of the next block */
    uint32_t done_bytes; /* of this data unit; no more than 2^24 are counted */
    uint8_t phase;       /* 0: no message */
    uint8_t direction;   /* 0: not yet decided */
};

EVC_CHECKED enum evc_status evc_aes_xts_start(const struct evc_aes_xts_key *key,
                                              struct evc_aes_xts *state, const uint8_t tweak[16]);

/*
 * update: whole blocks. finish: the last piece, at least 16 bytes of any length, or 0 after an
 * update. If the unit is no multiple of 16, keep the last whole block for finish: 520 bytes are an
 * update of 496 and a finish of 24. finish wipes the state.
 *
 * EVC_ERR_LENGTH      update: not whole blocks; finish: 1 to 15 bytes, or an empty data unit;
 *                     both: the unit would be longer than EVC_AES_XTS_MAX_BYTES.
 *                     The state is as before the call.
 */
EVC_CHECKED enum evc_status evc_aes_xts_encrypt_update(const struct evc_aes_xts_key *key,
                                                       struct evc_aes_xts *state, const uint8_t *in,
                                                       uint8_t *out, size_t len_bytes);
EVC_CHECKED enum evc_status evc_aes_xts_encrypt_finish(const struct evc_aes_xts_key *key,
                                                       struct evc_aes_xts *state, const uint8_t *in,
                                                       uint8_t *out, size_t len_bytes);
EVC_CHECKED enum evc_status evc_aes_xts_decrypt_update(const struct evc_aes_xts_key *key,
                                                       struct evc_aes_xts *state, const uint8_t *in,
                                                       uint8_t *out, size_t len_bytes);
EVC_CHECKED enum evc_status evc_aes_xts_decrypt_finish(const struct evc_aes_xts_key *key,
                                                       struct evc_aes_xts *state, const uint8_t *in,
                                                       uint8_t *out, size_t len_bytes);

/* ---- CBC-MAC: the raw chain, a building block ------------------------------------------------ */

/*
 * chain = E(chain ^ block) for each block; start with 16 zero bytes. Calling again continues.
 *
 * NOT a MAC for messages of different lengths: anybody can compute the tag of a third message from
 * those of two (Bellare, Kilian, Rogaway 2000, section 5). Use CMAC. CBC-MAC is for constructions
 * that fix the length themselves, as CCM does.
 *
 * EVC_ERR_LENGTH      len_bytes is not whole blocks
 */
EVC_CHECKED enum evc_status evc_aes_cbcmac(const union evc_aes_key *key, uint8_t chain[16],
                                           const uint8_t *in, size_t len_bytes);

/* ---- CMAC: SP 800-38B (2005, updated 2016), RFC 4493 ----------------------------------------- */

/* Tags of 8 to 16 bytes; of 4 to 7 if evc_aes_cmac_allow_short_tags allowed them. Fix tag_bytes in
 * your protocol; never take it from the received message. */
#define EVC_AES_CMAC_MIN_TAG 8
#define EVC_AES_CMAC_MIN_SHORT_TAG 4

struct evc_aes_cmac_key {
    EVC_ALIGN(16) uint8_t k1[16];
    uint8_t k2[16];
    uint32_t allows_short_tags;
    union evc_aes_key aes; /* for encryption only; in memory of the caller as
                            * long as its kernel needs */
};

/* Kernel: SERIAL, as evc_aes_cmac_set_best takes it; PARALLEL for evc_aes_cmac_many. */
EVC_CHECKED enum evc_status evc_aes_cmac_set_best(struct evc_aes_cmac_key *key, uint64_t features,
                                                  unsigned policy, const uint8_t *user_key,
                                                  unsigned key_bits);
EVC_CHECKED enum evc_status evc_aes_cmac_set_key(struct evc_aes_cmac_key *key,
                                                 const struct evc_aes *kernel,
                                                 const uint8_t *user_key, unsigned key_bits);
EVC_CHECKED enum evc_status evc_aes_cmac_set_key_in(void *memory, size_t memory_bytes,
                                                    const struct evc_aes *kernel,
                                                    const uint8_t *user_key, unsigned key_bits);
EVC_API size_t evc_aes_cmac_key_bytes(const struct evc_aes *kernel);

/* Allows tags of 4 to 7 bytes for a key; without it they are refused. Call it before threads share
 * the key. SP 800-38B (appendix A.2) allows tags below 64 bits only after an analysis of the harm
 * that a guessed tag does. EVC_ERR_KERNEL: the key is not set up. */
EVC_CHECKED enum evc_status evc_aes_cmac_allow_short_tags(struct evc_aes_cmac_key *key);

/*
 * Compute the tag of a message, or verify it in constant time.
 *
 * EVC_ERR_TAG_SIZE    tag_bytes is not 8 to 16, nor a short one that is allowed
 * EVC_ERR_TAG         verify: the tag is not that of the message
 */
EVC_CHECKED enum evc_status evc_aes_cmac(const struct evc_aes_cmac_key *key, const uint8_t *in,
                                         size_t len_bytes, uint8_t *tag, size_t tag_bytes);
EVC_CHECKED enum evc_status evc_aes_cmac_verify(const struct evc_aes_cmac_key *key,
                                                const uint8_t *in, size_t len_bytes,
                                                const uint8_t *tag, size_t tag_bytes);

/* A message in pieces of any lengths. */
struct evc_aes_cmac {
    uint8_t chain[16];
    uint8_t last[16]; /* the block that may be the last: held back until more comes */
    uint32_t used;    /* bytes in it, 0 to 16 */
    uint8_t phase;    /* 0: no message */
};

/* Order: start, any number of updates, finish or finish_verify. start always returns EVC_OK. */
EVC_CHECKED enum evc_status evc_aes_cmac_start(struct evc_aes_cmac *state);
EVC_CHECKED enum evc_status evc_aes_cmac_update(const struct evc_aes_cmac_key *key,
                                                struct evc_aes_cmac *state, const uint8_t *in,
                                                size_t len_bytes);

/* Errors as evc_aes_cmac and evc_aes_cmac_verify. Wipes the state, except
 * after EVC_ERR_TAG_SIZE. */
EVC_CHECKED enum evc_status evc_aes_cmac_finish(const struct evc_aes_cmac_key *key,
                                                struct evc_aes_cmac *state, uint8_t *tag,
                                                size_t tag_bytes);
EVC_CHECKED enum evc_status evc_aes_cmac_finish_verify(const struct evc_aes_cmac_key *key,
                                                       struct evc_aes_cmac *state,
                                                       const uint8_t *tag, size_t tag_bytes);

/* Computes the tags of n messages of any lengths, side by side. It writes 16 bytes to each
 * msgs[i].iv, and uses no msgs[i].out. Tags overlap no message. */
EVC_CHECKED enum evc_status evc_aes_cmac_many(const struct evc_aes_cmac_key *key,
                                              const struct evc_msg *msgs, size_t n);

/* ---- CCM: SP 800-38C (2004), RFC 3610 -------------------------------------------------------- */

/*
 * Authenticated encryption. nonce: 7 to 13 bytes, never twice under one key; a nonce of n bytes
 * leaves messages below 2^(8 (15 - n)) bytes (13: 64 KiB, 12: 16 MiB, 11: 4 GiB). tag: 8, 10, 12,
 * 14 or 16 bytes, or 4 or 6 if evc_aes_ccm_allow_short_tags allowed them. Associated data: any
 * length.
 *
 * EVC_ERR_NONCE_SIZE, EVC_ERR_TAG_SIZE    not one of these
 * EVC_ERR_LENGTH                          message too long for the nonce; streaming: see there
 * EVC_ERR_TAG                             open: forged or damaged; out has been wiped
 */
struct evc_aes_ccm_key {
    EVC_ALIGN(16) uint32_t mac_at; /* where the key of CBC-MAC begins in keys;
                                    * 0: one key serves both */
    uint32_t allows_short_tags;
    /* For CTR, kernel: PARALLEL; then for CBC-MAC, kernel: SERIAL; each as
     * long as its kernel needs */
    EVC_ALIGN(16) uint8_t keys[2 * sizeof(union evc_aes_key)];
};

/* The keys inside a key that is set up; both may be one. */
static inline const union evc_aes_key *evc_aes_ccm_ctr_key(const struct evc_aes_ccm_key *key)
{
    return (const union evc_aes_key *)(const void *)key->keys;
}

static inline const union evc_aes_key *evc_aes_ccm_mac_key(const struct evc_aes_ccm_key *key)
{
    return (const union evc_aes_key *)(const void *)(key->keys + key->mac_at);
}

/* Set user_key for both kernels, for encryption only. If mac_kernel has the operation ccm_encrypt,
 * it also does the CTR of the text. evc_aes_ccm_set_best takes the best kernel of each use. */
EVC_CHECKED enum evc_status evc_aes_ccm_set_best(struct evc_aes_ccm_key *key, uint64_t features,
                                                 unsigned policy, const uint8_t *user_key,
                                                 unsigned key_bits);
EVC_CHECKED enum evc_status evc_aes_ccm_set_key(struct evc_aes_ccm_key *key,
                                                const struct evc_aes *ctr_kernel,
                                                const struct evc_aes *mac_kernel,
                                                const uint8_t *user_key, unsigned key_bits);
EVC_CHECKED enum evc_status evc_aes_ccm_set_key_in(void *memory, size_t memory_bytes,
                                                   const struct evc_aes *ctr_kernel,
                                                   const struct evc_aes *mac_kernel,
                                                   const uint8_t *user_key, unsigned key_bits);
EVC_API size_t evc_aes_ccm_key_bytes(const struct evc_aes *ctr_kernel,
                                     const struct evc_aes *mac_kernel);

/*
 * Allows tags of 4 and 6 bytes for a key; without it they are refused. Call it before threads share
 * the key. SP 800-38C (appendix B.2) allows tags below 64 bits only after an analysis of the harm
 * that a guessed tag does. Tags of 8 bytes, as TLS has them (RFC 6655), are always allowed: unlike
 * GCM's, they are no easier to forge than to guess. EVC_ERR_KERNEL: the key is not set up.
 */
EVC_CHECKED enum evc_status evc_aes_ccm_allow_short_tags(struct evc_aes_ccm_key *key);

/* in, out: len_bytes bytes. tag: tag_bytes bytes, in a separate buffer. */
EVC_CHECKED enum evc_status evc_aes_ccm_seal(const struct evc_aes_ccm_key *key,
                                             const uint8_t *nonce, size_t nonce_bytes,
                                             const uint8_t *aad, size_t aad_bytes,
                                             const uint8_t *in, uint8_t *out, size_t len_bytes,
                                             uint8_t *tag, size_t tag_bytes);
EVC_CHECKED enum evc_status evc_aes_ccm_open(const struct evc_aes_ccm_key *key,
                                             const uint8_t *nonce, size_t nonce_bytes,
                                             const uint8_t *aad, size_t aad_bytes,
                                             const uint8_t *in, uint8_t *out, size_t len_bytes,
                                             const uint8_t *tag, size_t tag_bytes);

/*
 * Seal and open with the tag right behind the ciphertext, as the standards have it (SP 800-38C
 * section 6.1, RFC 5116 section 2.1).
 *
 * seal: out has len_bytes + tag_bytes bytes. open: in has in_bytes bytes, the tag among them, and
 * out has tag_bytes fewer. in and out may overlap in any way.
 *
 * EVC_ERR_LENGTH      open: also if in_bytes is below tag_bytes
 * others              as above
 */
EVC_CHECKED enum evc_status evc_aes_ccm_seal_joined(const struct evc_aes_ccm_key *key,
                                                    const uint8_t *nonce, size_t nonce_bytes,
                                                    const uint8_t *aad, size_t aad_bytes,
                                                    const uint8_t *in, uint8_t *out,
                                                    size_t len_bytes, size_t tag_bytes);
EVC_CHECKED enum evc_status evc_aes_ccm_open_joined(const struct evc_aes_ccm_key *key,
                                                    const uint8_t *nonce, size_t nonce_bytes,
                                                    const uint8_t *aad, size_t aad_bytes,
                                                    const uint8_t *in, uint8_t *out,
                                                    size_t in_bytes, size_t tag_bytes);

/*
 * A message in pieces of any lengths. Order: start with both lengths, all associated data, the
 * text, finish. CCM authenticates the lengths first, so they must be known. Opening in pieces
 * outputs plaintext before it is verified: unless finish returns EVC_OK, use none of it, and wipe
 * it.
 *
 * EVC_ERR_LENGTH      start: message too long for the nonce; aad, update: more than announced;
 *                     finish: less than announced, no tag written. The state is as before.
 * EVC_ERR_STATE       also: text before the associated data is complete
 */
struct evc_aes_ccm {
    uint8_t counter[16];
    uint8_t chain[16];
    uint8_t block[16];  /* associated data or plaintext of the block begun */
    uint8_t stream[16]; /* key stream of the block begun */
    uint8_t tag_mask[16];
    uint64_t aad_left, text_left; /* bytes still to come */
    uint32_t used;                /* bytes of the block begun, 0 to 15 */
    uint8_t tag_bytes;
    uint8_t phase;                /* 0: no message; 1: associated data; 2: text */
    uint8_t direction;            /* 0: not yet decided; 1: sealing; 2: opening */
};

EVC_CHECKED enum evc_status evc_aes_ccm_start(const struct evc_aes_ccm_key *key,
                                              struct evc_aes_ccm *state, const uint8_t *nonce,
                                              size_t nonce_bytes, uint64_t aad_bytes,
                                              uint64_t text_bytes, size_t tag_bytes);
EVC_CHECKED enum evc_status evc_aes_ccm_aad(const struct evc_aes_ccm_key *key,
                                            struct evc_aes_ccm *state, const uint8_t *aad,
                                            size_t len_bytes);
EVC_CHECKED enum evc_status evc_aes_ccm_seal_update(const struct evc_aes_ccm_key *key,
                                                    struct evc_aes_ccm *state, const uint8_t *in,
                                                    uint8_t *out, size_t len_bytes);
EVC_CHECKED enum evc_status evc_aes_ccm_open_update(const struct evc_aes_ccm_key *key,
                                                    struct evc_aes_ccm *state, const uint8_t *in,
                                                    uint8_t *out, size_t len_bytes);

/* tag: as many bytes as announced. Both wipe the state, except after EVC_ERR_LENGTH. */
EVC_CHECKED enum evc_status evc_aes_ccm_seal_finish(const struct evc_aes_ccm_key *key,
                                                    struct evc_aes_ccm *state, uint8_t *tag);
EVC_CHECKED enum evc_status evc_aes_ccm_open_finish(const struct evc_aes_ccm_key *key,
                                                    struct evc_aes_ccm *state, const uint8_t *tag);

/* ---- Key wrap: RFC 3394 (2002) and RFC 5649 (2009); SP 800-38F (2012), KW and KWP ------------ */

/*
 * Encryption of keys with a check of 64 bits, KW, or of 32 bits and more, KWP. There is no nonce:
 * the same key is wrapped to the same bytes each time.
 *
 * KW: text of whole semiblocks of 8 bytes, at least two; the result is 8 bytes longer.
 * KWP: text of 1 byte or more; zeros fill up the last semiblock, and the result has
 * evc_aes_kwp_bytes(len_bytes) bytes. The limits below are those of SP 800-38F, table 1.
 *
 * in and out may overlap in any way. unwrap writes in_bytes - 8 bytes; of KWP *len_bytes of them
 * are text, and those behind it zeros. Which part of a check was wrong is not told, not even by
 * the time.
 *
 * EVC_ERR_LENGTH      not such a length
 * EVC_ERR_DIRECTION   unwrap: a key set up for encryption only
 * EVC_ERR_TAG         unwrap: wrapped under another key, or damaged; out has been wiped, and
 *                     *len_bytes is 0
 * EVC_ERR_PARAMETER   kwp_unwrap: also if len_bytes is NULL
 */
#define EVC_AES_KW_MAX_BYTES ((UINT64_C(1) << 57) - 8)
#define EVC_AES_KWP_MAX_BYTES ((UINT64_C(1) << 32) - 1)

/* A key with the best kernel, for both directions. */
EVC_CHECKED enum evc_status evc_aes_kw_set_best(union evc_aes_key *key, uint64_t features,
                                                unsigned policy, const uint8_t *user_key,
                                                unsigned key_bits);

EVC_CHECKED enum evc_status evc_aes_kw_wrap(const union evc_aes_key *key, const uint8_t *in,
                                            uint8_t *out, size_t len_bytes);
EVC_CHECKED enum evc_status evc_aes_kw_unwrap(const union evc_aes_key *key, const uint8_t *in,
                                              uint8_t *out, size_t in_bytes);

/* The bytes that KWP makes of len_bytes bytes; 0 if it takes no text of this length, or if size_t
 * does not hold the result. */
static inline size_t evc_aes_kwp_bytes(size_t len_bytes)
{
    const uint64_t n = len_bytes;

    if (n == 0 || n > EVC_AES_KWP_MAX_BYTES || n > (size_t)-1 - 15)
        return 0;
    return ((len_bytes + 7) & ~(size_t)7) + 8;
}

EVC_CHECKED enum evc_status evc_aes_kwp_wrap(const union evc_aes_key *key, const uint8_t *in,
                                             uint8_t *out, size_t len_bytes);
EVC_CHECKED enum evc_status evc_aes_kwp_unwrap(const union evc_aes_key *key, const uint8_t *in,
                                               uint8_t *out, size_t in_bytes, size_t *len_bytes);

#ifdef __cplusplus
}
#endif
#endif

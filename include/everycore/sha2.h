/* SPDX-License-Identifier: MIT */
/*
 * SHA-2 (FIPS 180-4): SHA-224, SHA-256, SHA-384, SHA-512 and SHA-512/256, and their kernels.
 *
 *     const struct evc_sha2 *kernel = evc_sha2_select(evc_cpu_features(), 0, EVC_SHA256);
 *     uint8_t digest[32];
 *     enum evc_status status = evc_sha2_digest(kernel, EVC_SHA256, in, len_bytes, digest);
 *
 * or in pieces:
 *
 *     struct evc_sha2_state state;
 *     status = evc_sha2_start(&state, kernel, EVC_SHA256);
 *     status = evc_sha2_update(&state, in, len_bytes);    any number of times
 *     status = evc_sha2_finish(&state, digest);
 *
 * A message may be secret, as that of HMAC is: the time of every call depends on lengths alone, and
 * calls leave nothing of it in registers or on the stack, as everycore/aes.h says of keys. A state
 * that is not finished holds parts of the message: evc_wipe() it. States may be copied; a copy goes
 * on by itself. in may have any alignment, and may be NULL where there are no bytes.
 *
 * EVC_ERR_PARAMETER   there is no such hash; in or digest is NULL
 * EVC_ERR_KERNEL      the kernel is NULL or does not compute this hash
 * EVC_ERR_STATE       the state holds no message: it was not started, or it was finished
 * EVC_ERR_LENGTH      the message would be longer than the standard allows: 2^61 - 1 bytes, with
 *                     SHA-384, SHA-512 and SHA-512/256 2^125 - 1. Nothing has changed
 */
#ifndef EVERYCORE_SHA2_H
#define EVERYCORE_SHA2_H

#include "everycore/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct evc_sha2; /* a kernel's descriptor; its members are below, for authors of kernels */

enum evc_sha2_hash { EVC_SHA224 = 1, EVC_SHA256, EVC_SHA384, EVC_SHA512, EVC_SHA512_256 };

#define EVC_SHA2_MOST_DIGEST_BYTES 64u
#define EVC_SHA2_MOST_BLOCK_BYTES 128u

/* Bytes of the digest, and of a block, which HMAC needs; 0: there is no such hash. */
EVC_API size_t evc_sha2_digest_bytes(enum evc_sha2_hash hash);
EVC_API size_t evc_sha2_block_bytes(enum evc_sha2_hash hash);

/* ---- Choosing a kernel ----------------------------------------------------------------------- */

/* As evc_aes_select, for one hash: a kernel may compute SHA-224 and SHA-256 alone, or the others
 * alone. NULL: there is no such hash; else a portable constant-time kernel always fits. */
EVC_API const struct evc_sha2 *evc_sha2_select(uint64_t features, unsigned policy,
                                               enum evc_sha2_hash hash);

/* As evc_aes_named and evc_aes_at. */
EVC_API const struct evc_sha2 *evc_sha2_named(const char *name);
EVC_API const struct evc_sha2 *evc_sha2_at(unsigned index);

/* Any descriptor begins with its struct evc_kernel. */
static inline const struct evc_kernel *evc_sha2_kernel(const struct evc_sha2 *sha2)
{
    return (const struct evc_kernel *)(const void *)sha2;
}

/* ---- Hashing --------------------------------------------------------------------------------- */

/* A whole message. digest: evc_sha2_digest_bytes(hash) bytes; it may lie in the message. If the
 * call fails, it is unchanged. */
EVC_CHECKED enum evc_status evc_sha2_digest(const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
                                            const uint8_t *in, size_t len_bytes, uint8_t *digest);

/* A message in pieces. Members are private. */
struct evc_sha2_state {
    union {
        uint32_t words32[8];
        uint64_t words64[8];
    } h;
    uint8_t waiting[EVC_SHA2_MOST_BLOCK_BYTES]; /* for a whole block: bytes_low modulo its size */
    uint64_t bytes_high, bytes_low;             /* of the message so far */
    const struct evc_sha2 *kernel;
    uint8_t phase; /* 0: no message */
    uint8_t hash;  /* enum evc_sha2_hash */
};

/* start wipes the state first, also if it then fails. finish writes the digest, and wipes the
 * state. */
EVC_CHECKED enum evc_status evc_sha2_start(struct evc_sha2_state *state,
                                           const struct evc_sha2 *kernel, enum evc_sha2_hash hash);
EVC_CHECKED enum evc_status evc_sha2_update(struct evc_sha2_state *state, const uint8_t *in,
                                            size_t len_bytes);
EVC_CHECKED enum evc_status evc_sha2_finish(struct evc_sha2_state *state, uint8_t *digest);

/*
 * Many messages, each as by evc_sha2_digest. Kernels with lanes hash them side by side, and take
 * the next message into a lane whose message ends: lengths may differ, and their order does not
 * matter. Others hash one after the other. Messages may share bytes; a digest may lie in its own
 * message, but overlaps no other one.
 *
 * The call returns EVC_OK if all succeeded, else the first error; the member `status` has the
 * result of each one. scratch: at any address; scratch_bytes: at least
 * evc_sha2_many_scratch_bytes(kernel), which is 0 for kernels without lanes. What the call writes
 * there is wiped.
 *
 * EVC_ERR_SCRATCH     scratch is NULL, or too small: nothing has changed, but for `status`
 */
struct evc_sha2_message {
    const uint8_t *in;
    size_t len_bytes;
    uint8_t *digest;
    enum evc_status status; /* result */
};

EVC_API size_t evc_sha2_many_scratch_bytes(const struct evc_sha2 *kernel);
EVC_CHECKED enum evc_status evc_sha2_many(const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
                                          struct evc_sha2_message *messages, size_t n_messages,
                                          void *scratch, size_t scratch_bytes);

/* ---- For kernels and their harness ----------------------------------------------------------- */

/* Rows of the slot `iterate`, eight each, but 16 of the block. Behind them it has 16 of its own. */
#define EVC_SHA2_ROW_INNER 0u
#define EVC_SHA2_ROW_OUTER 8u
#define EVC_SHA2_ROW_BLOCK 16u
#define EVC_SHA2_ROW_SUM 32u
#define EVC_SHA2_ROWS 56u

/*
 * Messages side by side: lane number i has word number i of each row. A kernel has at most 16 lanes
 * and rows of 64 bytes. Both operations leave in registers what the descriptor says, or less. Rows
 * may have any address.
 */
struct evc_sha2_lanes {
    uint32_t n;           /* lanes; 0: there are none */
    uint32_t fewest;      /* messages for which lanes are not slower than one after the other */
    uint32_t stack_bytes; /* that both leave secrets on, and so many more for their callers */

    /* h: 8 rows, and behind them 16 of its own. in: n_blocks blocks of each lane; n_blocks is not
     * 0. */
    void (*blocks)(void *h, const uint8_t *const in[], size_t n_blocks);

    /* PBKDF2: n times, the block is hashed from the words `inner`, the first n_words words of the
     * result replace those of the block, the same is done from `outer`, and those words are added
     * to the sum. */
    void (*iterate)(void *rows, size_t n_words, uint32_t n);
};

/*
 * The descriptor. A kernel has at least one of blocks256 and blocks512; one without the other has
 * the use SHA256 or SHA512. h: the words a to h of the standard. in: blocks of 64 bytes, or of 128,
 * at any address; n_blocks is not 0.
 */
struct evc_sha2 {
    struct evc_kernel kernel;

    void (*blocks256)(uint32_t h[8], const uint8_t *in, size_t n_blocks); /* SHA-224, SHA-256 */
    void (*blocks512)(uint64_t h[8], const uint8_t *in, size_t n_blocks); /* the others */

    struct evc_sha2_lanes lanes256, lanes512; /* optional */
};

#ifdef __cplusplus
}
#endif
#endif

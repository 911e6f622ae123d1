/* SPDX-License-Identifier: MIT */
/*
 * The steps of a message of SHA-2, for the code of layers: the same as the public calls, but
 * nothing is checked that is not said here, and what the kernel leaves is not cleared. A layer ends
 * with evc_clear() of common/clear.h, and wipes its states.
 */
#ifndef EVC_SHA2_OPS_H
#define EVC_SHA2_OPS_H

#include "everycore/sha2.h"

#include "common/bytes.h"

/* A hash, by its number. */
struct evc_sha2_facts {
    const void *start;    /* eight words */
    uint8_t digest_bytes; /* 0: there is no such hash */
    uint8_t block_bytes;
};

extern const struct evc_sha2_facts evc_sha2_op_hashes[EVC_SHA512_256 + 1];

/* hash: one that there is. */
EVC_INLINE const struct evc_sha2_facts *evc_sha2_op_hash(unsigned hash)
{
    return evc_sha2_op_hashes + hash;
}

/* A message of this hash. EVC_ERR_PARAMETER: there is no such hash; EVC_ERR_KERNEL: the kernel is
 * NULL, or does not compute it. */
enum evc_status evc_sha2_op_begin(struct evc_sha2_state *state, const struct evc_sha2 *kernel,
                                  unsigned hash);

/* Nonzero if the standard allows the message to be len_bytes bytes longer. */
int evc_sha2_op_fits(const struct evc_sha2_state *state, size_t len_bytes);

/* More bytes of the message, which fit. */
void evc_sha2_op_take(struct evc_sha2_state *state, const uint8_t *in, size_t len_bytes);

/* The digest, which may lie in state->waiting. */
void evc_sha2_op_end(struct evc_sha2_state *state, uint8_t *digest);

/* The words of the hash as a digest, which may lie in state->waiting. */
void evc_sha2_op_store(const struct evc_sha2_state *state, uint8_t *digest);

/* Take and end in one, with the rest of a message that fits. Nothing of it waits in the state. */
void evc_sha2_op_all(struct evc_sha2_state *state, const uint8_t *in, size_t len_bytes,
                     uint8_t *digest);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The steps of a message of HMAC, for the code of layers: nothing is checked, nothing is cleared.
 * A layer ends with evc_clear() of common/clear.h, and wipes its states.
 */
#ifndef EVC_HMAC_OPS_H
#define EVC_HMAC_OPS_H

#include "everycore/hmac.h"

#include "common/bytes.h"
#include "common/key_memory.h"
#include "sha2/ops.h"

/* Nonzero if an info or a salt has more bytes than any memory. All others fit into a message, with
 * a block, a digest and a number. */
EVC_INLINE int evc_hmac_is_too_long(uint64_t n_bytes)
{
    return n_bytes >> 60 != 0;
}

/* The status of a call with this key: not EVC_OK if it is not set up. */
EVC_INLINE enum evc_status evc_hmac_key_status(const struct evc_hmac_key *key)
{
    return EVC_IS_SET(key) ? EVC_OK : evc_key_error(key);
}

/* A state behind the key's block and n_bytes more. waiting is as it was. */
EVC_INLINE void evc_hmac_op_go_on(struct evc_sha2_state *state, const struct evc_hmac_key *key,
                                  const union evc_hmac_words *words, size_t n_bytes)
{
    state->kernel = key->kernel;
    state->hash = (uint8_t)key->hash;
    state->bytes_high = 0;
    state->bytes_low = evc_sha2_op_hash(key->hash)->block_bytes + n_bytes;
    evc_copy_blocks((uint8_t *)&state->h, (const uint8_t *)words, sizeof state->h);
}

EVC_INLINE void evc_hmac_op_begin(struct evc_sha2_state *state, const struct evc_hmac_key *key)
{
    evc_hmac_op_go_on(state, key, &key->inner, 0);
}

/* The whole tag at the start of state->waiting, behind the inner digest there. */
EVC_INLINE void evc_hmac_op_outer(struct evc_sha2_state *state, const struct evc_hmac_key *key)
{
    evc_hmac_op_go_on(state, key, &key->outer, evc_sha2_op_hash(key->hash)->digest_bytes);
    evc_sha2_op_end(state, state->waiting);
}

/* The whole tag at the start of state->waiting. */
EVC_INLINE void evc_hmac_op_end(struct evc_sha2_state *state, const struct evc_hmac_key *key)
{
    evc_sha2_op_end(state, state->waiting);
    evc_hmac_op_outer(state, key);
}

/* The same of a message that is all here, and fits. */
EVC_INLINE void evc_hmac_op_all(struct evc_sha2_state *state, const struct evc_hmac_key *key,
                                const uint8_t *in, size_t len_bytes)
{
    evc_hmac_op_begin(state, key);
    evc_sha2_op_all(state, in, len_bytes, state->waiting);
    evc_hmac_op_outer(state, key);
}

#endif

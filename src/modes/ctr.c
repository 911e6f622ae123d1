/* SPDX-License-Identifier: MIT */
/*
 * CTR (SP 800-38A section 6.5). Kernels count in the last 4 bytes; here the carry into the other 12
 * is added, by cutting the message where the 4 bytes wrap.
 */
#include "everycore/modes.h"

#include "aes/ops.h"
#include "common/bytes.h"
#include "common/calls.h"
#include "common/clear.h"

/* counter += 2^32, modulo 2^128. */
static void carry(uint8_t counter[16])
{
    for (int i = 11; i >= 0; i--)
        if (++counter[i] != 0)
            break;
}

/* A message in which the last 4 bytes wrap: at most once in 2^32 blocks. */
EVC_OUT_OF_LINE void ctr_across_wraps(const union evc_aes_key *key, uint8_t counter[16],
                                      const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    while (len_bytes) {
        uint64_t blocks_to_wrap = (UINT64_C(1) << 32) - evc_load32_be(counter + 12);
        size_t n = len_bytes;
        if ((n - 1) / 16 >= blocks_to_wrap)
            n = (size_t)(16 * blocks_to_wrap); /* less than len_bytes, so it fits */
        evc_aes_op_ctr32(key, counter, in, out, n);
        if (evc_load32_be(counter + 12) == 0)
            carry(counter);
        in += n, out += n, len_bytes -= n;
    }
}

EVC_INLINE void op_ctr(const union evc_aes_key *key, uint8_t counter[16], const uint8_t *in,
                       uint8_t *out, size_t len_bytes)
{
    /* At most len_bytes / 16 + 1 blocks; 2^32 - 1 - counter of them do not wrap. */
    if (len_bytes / 16 < (uint32_t)~evc_load32_be(counter + 12))
        evc_aes_op_ctr32(key, counter, in, out, len_bytes);
    else
        ctr_across_wraps(key, counter, in, out, len_bytes);
}

void evc_aes_op_ctr(const union evc_aes_key *key, uint8_t counter[16], const uint8_t *in,
                    uint8_t *out, size_t len_bytes)
{
    op_ctr(key, counter, in, out, len_bytes);
}

EVC_INLINE enum evc_status ctr_and_clear(const union evc_aes_key *key, uint8_t counter[16],
                                         const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    op_ctr(key, counter, in, out, len_bytes);
    evc_clear(&key->head.kernel->kernel);
    return EVC_OK;
}

/* Out of line, so that the other way of evc_aes_ctr has no larger frame. */
EVC_OUT_OF_LINE enum evc_status move_and_ctr(const union evc_aes_key *key, uint8_t counter[16],
                                             const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    evc_move_secret(out, in, len_bytes);
    return ctr_and_clear(key, counter, out, out, len_bytes);
}

enum evc_status evc_aes_ctr(const union evc_aes_key *key, uint8_t counter[16], const uint8_t *in,
                            uint8_t *out, size_t len_bytes)
{
    EVC_RETURN_IF_REFUSED(aes_ctr, .key = key, EVC_TEXT(in, out, len_bytes));
    if (evc_overlap_in_part(in, out, len_bytes))
        return move_and_ctr(key, counter, in, out, len_bytes);
    return ctr_and_clear(key, counter, in, out, len_bytes);
}

/* ---- In pieces ------------------------------------------------------------------------------- */

static enum evc_status start(struct evc_aes_ctr *state, const uint8_t counter[16],
                             uint8_t counter_bytes)
{
    memmove(state->counter, counter, 16); /* counter may be state->counter */
    memset(state->stream, 0, 16);
    state->left = 0;
    state->counter_bytes = counter_bytes;
    state->phase = EVC_PHASE_TEXT;
    return EVC_OK;
}

enum evc_status evc_aes_ctr_start(struct evc_aes_ctr *state, const uint8_t counter[16])
{
    return start(state, counter, 16);
}

enum evc_status evc_aes_ctr_start32(struct evc_aes_ctr *state, const uint8_t counter[16])
{
    return start(state, counter, 4);
}

static void next_blocks(const union evc_aes_key *key, struct evc_aes_ctr *state, const uint8_t *in,
                        uint8_t *out, size_t len_bytes)
{
    if (state->counter_bytes == 4)
        evc_aes_op_ctr32(key, state->counter, in, out, len_bytes);
    else
        evc_aes_op_ctr(key, state->counter, in, out, len_bytes);
}

/* Takes at most what is left of the block begun; returns the number of bytes used. */
static size_t use_stream(struct evc_aes_ctr *state, const uint8_t *in, uint8_t *out,
                         size_t len_bytes)
{
    size_t n = len_bytes < state->left ? len_bytes : state->left;

    evc_xor(out, in, state->stream + 16 - state->left, n);
    state->left -= (uint32_t)n;
    return n;
}

/* len_bytes bytes at the beginning of a block. */
static void update_from_block(const union evc_aes_key *key, struct evc_aes_ctr *state,
                              const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    const size_t n = len_bytes & ~(size_t)15;

    if (n)
        next_blocks(key, state, in, out, n);
    if (n != len_bytes) {
        memset(state->stream, 0, 16);
        next_blocks(key, state, state->stream, state->stream, 16);
        state->left = 16;
        use_stream(state, in + n, out + n, len_bytes - n);
    }
}

enum evc_status evc_aes_ctr_update(const union evc_aes_key *key, struct evc_aes_ctr *state,
                                   const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    size_t n = 0;

    EVC_RETURN_IF_REFUSED(aes_ctr_update, .key = key, .phase = state->phase,
                          .is_bad = state->left > 15, EVC_TEXT(in, out, len_bytes));
    in = evc_input(in, out, len_bytes);
    if (state->left)
        n = use_stream(state, in, out, len_bytes);
    if (n != len_bytes)
        update_from_block(key, state, in + n, out + n, len_bytes - n);
    evc_clear(&key->head.kernel->kernel);
    return EVC_OK;
}

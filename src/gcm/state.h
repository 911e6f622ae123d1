/* SPDX-License-Identifier: MIT */
/*
 * The state of a message in pieces: its members say what is known of the message so far.
 *
 * y has one of three forms:
 *
 *   HASH          the hash so far. Before any text it also has the last block of associated data,
 *                 filled up with zeros, added and not yet multiplied by H: this block waits, since
 *                 the kernel hashes it for nothing together with the text.
 *   TAG           the tag, if no text follows. A first piece of text is handled as a whole message,
 *                 which costs what a message in one call costs.
 *   HASH_TIMES_H  the hash so far, times H. A tag leads back to it: H is a factor of the last step,
 *                 tag = (y + lengths) * H + E(J_0). With the next block c, the hash is
 *                 (y + c) * H = y * H + c * H.
 *
 * A block of text that is not complete is hashed filled up with zeros. The bytes that complete it,
 * behind zeros, are a block d: the hash is y + d * H then, since H is linear.
 *
 * A kernel's load of a block waits if the block comes from two stores (until both have left the
 * core), so blocks are written by one store each where the CPU has it.
 */
#ifndef EVC_GCM_STATE_H
#define EVC_GCM_STATE_H

#include "everycore/gcm.h"

#include "common/bytes.h"
#include "common/calls.h"

enum { HASH, TAG, HASH_TIMES_H };

/* Phase, direction, short_iv and form of a state, in one word. */
#define MARKS(phase, direction, short_iv, form)                                                    \
    ((uint32_t)(phase) | (uint32_t)(direction) << 8 | (uint32_t)(short_iv) << 16 |                 \
     (uint32_t)(form) << 24)
#define MARKS_OF_START MARKS(EVC_PHASE_AAD, EVC_DIRECTION_NONE, 1, HASH)

typedef char marks_adjoin[offsetof(struct evc_gcm_state, direction) ==
                                      offsetof(struct evc_gcm_state, phase) + 1 &&
                                  offsetof(struct evc_gcm_state, short_iv) ==
                                      offsetof(struct evc_gcm_state, phase) + 2 &&
                                  offsetof(struct evc_gcm_state, form) ==
                                      offsetof(struct evc_gcm_state, phase) + 3
                              ? 1
                              : -1];

EVC_INLINE int has_marks(const struct evc_gcm_state *state, uint32_t marks)
{
    return evc_load32_le((const uint8_t *)state + offsetof(struct evc_gcm_state, phase)) == marks;
}

EVC_INLINE void set_marks(struct evc_gcm_state *state, uint32_t marks)
{
    evc_store32_le((uint8_t *)state + offsetof(struct evc_gcm_state, phase), marks);
}

/* Bytes of the block of associated data that waits, 1 to 16; 0: none does. */
EVC_INLINE size_t waiting_bytes(const struct evc_gcm_state *state)
{
    return state->aad_bytes && !state->text_bytes ? (size_t)((state->aad_bytes - 1) % 16) + 1 : 0;
}

/* Memory that no start has written must not lead to lengths that no message has: of associated
 * data, their upper bits tell kernels where it lies. By &, since it is asked before all else. */
EVC_INLINE int is_sound(const struct evc_gcm_state *state)
{
    return (state->form <= HASH_TIMES_H) & (state->aad_bytes <= EVC_GCM_MAX_AAD) &
           (state->text_bytes <= EVC_GCM_MAX_TEXT);
}

/* A call of evc_wipe costs more than these stores; of more bytes, GCC makes a slow `rep stos`. */
EVC_INLINE void wipe_state(struct evc_gcm_state *state)
{
#if EVC_GNU_C && EVC_WORD64
    memset(state, 0, sizeof *state);
    EVC_KEEP_MEMORY(state);
#else
    evc_wipe(state, sizeof *state);
#endif
}

#endif

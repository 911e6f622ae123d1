/* SPDX-License-Identifier: MIT */
/*
 * The state of a message in pieces, and how it is read and written without a kernel.
 *
 * The hash in a state. A first piece of text is handled as a whole message, which costs what a
 * message in one call costs: if no text follows, its tag is the tag. If text follows, the tag leads
 * back to y * H, for H is a factor of the last step: tag + E(J_0) = (y + lengths) * H. From there
 * on y * H is known, and not y, until the next whole block c: its hash is (y + c) * H = y * H +
 * c * H. If the piece ended inside a block, that block is in the hash, filled up with zeros; the
 * rest of it, d, behind zeros, is added as d * H to y, and so as d * H^2 to y * H.
 *
 * Before that a state with an IV of 12 bytes only holds it, and at most 64 bytes of associated
 * data: counter, y, block and stream are the place for these, and `used` is how many. So the four
 * calls of a message in one piece do little beside the work of the kernel, and few comparisons tell
 * that they may; other calls are out of line. They store what the kernel soon loads, and a load
 * from two stores waits until both have left the core: so of more than 16 bytes the last 16 have a
 * place of their own, see EVC_GCM_HELD_AAD. Of more than 64 bytes all but the last block is hashed.
 * If text or the end comes then, counters and the last word of j0 are made from a short IV.
 */
#ifndef EVC_GCM_STATE_H
#define EVC_GCM_STATE_H

#include "everycore/gcm.h"

#include "common/bytes.h"
#include "common/phase.h"
#include "gcm/blocks.h"

enum { HASH, TAG, HASH_TIMES_H, HASH_TIMES_H_IN_BLOCK, HOLDS_ONLY };

/* Phase, direction, short_iv and form of a state, in one word. */
#define MARKS(phase, direction, form) \
    ((uint32_t)(phase) | (uint32_t)(direction) << 8 | UINT32_C(1) << 16 | (uint32_t)(form) << 24)
#define MARKS_OF_START MARKS(EVC_PHASE_AAD, EVC_DIRECTION_NONE, HOLDS_ONLY)
#define MARKS_BEHIND_AAD MARKS(EVC_PHASE_AAD, EVC_DIRECTION_NONE, HASH)
#define MARKS_OF_TAG(direction) MARKS(EVC_PHASE_TEXT, direction, TAG)

typedef char marks_adjoin[offsetof(struct evc_gcm_state, phase) ==
                                      offsetof(struct evc_gcm_state, used) + 4 &&
                                  offsetof(struct evc_gcm_state, direction) ==
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

/* `used`, if these are the marks, else 2^32 or more. One load, which wants one store of both: else
 * it would wait until two of them have left the core. */
EVC_INLINE uint64_t used_with_marks(const struct evc_gcm_state *state, uint32_t marks)
{
#if EVC_BIG_ENDIAN
    return has_marks(state, marks) ? state->used : UINT64_MAX;
#else
    return evc_load64_ne((const uint8_t *)state + offsetof(struct evc_gcm_state, used)) ^
           (uint64_t)marks << 32;
#endif
}

EVC_INLINE void set_used_and_marks(struct evc_gcm_state *state, uint32_t used, uint32_t marks)
{
#if EVC_BIG_ENDIAN
    state->used = used;
    set_marks(state, marks);
#else
    evc_store64_ne((uint8_t *)state + offsetof(struct evc_gcm_state, used),
                   (uint64_t)marks << 32 | used);
#endif
}

/* A call of evc_wipe costs more than these stores; of more bytes, GCC makes a slow `rep stos`. */
EVC_INLINE void wipe_state(struct evc_gcm_state *state)
{
#if defined(__GNUC__) && EVC_WORD64
    memset(state, 0, 64);
    memset((uint8_t *)state + 64, 0, sizeof *state - 64);
    __asm__ volatile("" : : "r"(state) : "memory");
#else
    evc_wipe(state, sizeof *state);
#endif
}

/* By the words in which kernels load it: else they would wait until it has left the core. */
EVC_INLINE void hold_iv(struct evc_gcm_state *state, const uint8_t iv[12])
{
    const uint64_t first = evc_load64_ne(iv);
    const uint32_t last = evc_load32_ne(iv + 8);

    evc_store64_ne(state->j0, first);
    evc_store32_ne(state->j0 + 8, last);
    set_used_and_marks(state, 0, MARKS_OF_START);
}

/* J_0 and the first counter of text, from the IV. */
EVC_INLINE void write_counters(struct evc_gcm_state *state)
{
    const uint64_t first = evc_load64_be(state->j0);
    const uint64_t second = (uint64_t)evc_load32_be(state->j0 + 8) << 32;

    evc_store64x2_be(state->j0, first, second | 1);
    evc_store64x2_be(state->counter, first, second | 2);
}

/* Associated data of a state that only holds it lies where the counter, the hash, and the block
 * begun with its key stream will be. */
#define MOST_HELD 64
typedef char held_blocks_adjoin[offsetof(struct evc_gcm_state, counter) == 0 &&
                                        offsetof(struct evc_gcm_state, y) == 16 &&
                                        offsetof(struct evc_gcm_state, block) == 32 &&
                                        offsetof(struct evc_gcm_state, stream) == MOST_HELD - 16
                                    ? 1
                                    : -1];

EVC_INLINE uint8_t *held_of(struct evc_gcm_state *state)
{
    return (uint8_t *)state;
}

/* The last 16 of more than 16 bytes that are held are here, the blocks before the last
 * one at the beginning. */
#define HELD_END (MOST_HELD - 16)

/* Held associated data, as bytes that follow each other. */
EVC_INLINE void join_held(struct evc_gcm_state *state)
{
    if (state->used > 16)
        memmove(held_of(state) + state->used - 16, held_of(state) + HELD_END, 16);
}

/* The same, as hold_aad holds it. */
EVC_INLINE void part_held(struct evc_gcm_state *state)
{
    if (state->used > 16)
        memmove(held_of(state) + HELD_END, held_of(state) + state->used - 16, 16);
}

/* Whether so many bytes may wait for a hash: less than a block; of associated data a whole one, or
 * more if none is hashed yet. */
EVC_INLINE int may_wait(const struct evc_gcm_state *state, uint64_t n_bytes)
{
    if (n_bytes < 16)
        return 1;
    if (state->form == HOLDS_ONLY)
        return n_bytes <= MOST_HELD && state->phase == EVC_PHASE_AAD;
    return n_bytes == 16 && state->phase == EVC_PHASE_AAD && state->form == HASH;
}

/* Associated data, the first, which can wait for a hash, 1 to MOST_HELD bytes. Less than a block is
 * filled up with zeros. A kernel's loads of blocks find all their bytes in one store. */
EVC_INLINE void hold_aad(struct evc_gcm_state *state, const uint8_t *aad, size_t len_bytes)
{
    uint8_t *const to = held_of(state);

    set_used_and_marks(state, (uint32_t)len_bytes, MARKS_OF_START);
    if (len_bytes >= 16) {
        memcpy(to, aad, 16);
        if (len_bytes == 16)
            return;
        memcpy(to + HELD_END, aad + len_bytes - 16, 16);
        if (len_bytes > 32)
            memcpy(to + 16, aad + 16, 16);
        if (len_bytes > 48)
            memcpy(to + 32, aad + 32, 16);
    } else if (len_bytes > 8) {
        evc_store64x2_le(to, evc_load64_le(aad),
                         evc_load64_le(aad + len_bytes - 8) >> (0 - 8 * len_bytes) % 64);
    } else {
        evc_store64x2_le(to, load_short(aad, len_bytes), 0);
    }
}

/* Associated data that can wait behind other. */
EVC_INLINE void copy_aad(struct evc_gcm_state *state, const uint8_t *aad, size_t len_bytes)
{
    if (!len_bytes)
        return;
    if (state->form == HOLDS_ONLY) {
        join_held(state);
        memcpy(held_of(state) + state->used, aad, len_bytes);
        state->used += (uint32_t)len_bytes;
        part_held(state); /* behind less than a block there are zeros already */
    } else {
        memcpy(state->block + state->used, aad, len_bytes);
        state->used += (uint32_t)len_bytes;
        state->aad_bytes += len_bytes;
    }
}

/* Memory that no start has written must not lead beyond the state's block and key stream, nor to
 * lengths that no message has: of associated data, their upper bits tell kernels where it lies. A
 * tag leaves `used` as it was before the text; nothing reads it then. */
EVC_INLINE int is_sound(const struct evc_gcm_state *state)
{
    if (state->phase > EVC_PHASE_TEXT || state->form > HOLDS_ONLY)
        return 0;
    if (state->form != HOLDS_ONLY &&
        (state->aad_bytes > EVC_GCM_MAX_AAD || state->text_bytes > EVC_GCM_MAX_TEXT))
        return 0;
    return may_wait(state, state->used) || (state->form == TAG && state->phase == EVC_PHASE_TEXT);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * GCM (SP 800-38D) in pieces, over the slots of struct evc_gcm; and a whole message in pieces,
 * where its kernel has no operation for it.
 */
#include "gcm/pieces.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/in_place.h"
#include "common/phase.h"
#include "gcm/blocks.h"
#include "gcm/key.h"
#include "gcm/sizes.h"
#include "gcm/state.h"
#include "gcm/tags.h"

/* Counters that begin with a longer IV's J_0 tell H, and so does a block of associated data
 * plus a hash. For kernels both are public, so that they may leave them on the stack. In a
 * frame that has called them: */
EVC_DEFINE_CLEAR_DEEP(clear_secret_inputs, BASELINE, 0)

/* ---- The start ------------------------------------------------------------------------------- */

static void hash_lengths(const union evc_gcm_key *key, uint8_t y[16], uint64_t first_bytes,
                         uint64_t second_bytes)
{
    uint8_t lengths[16];

    store_lengths(lengths, first_bytes, second_bytes);
    key->head.kernel->hash(key, y, lengths, 1);
}

/* J_0 (section 7.1, step 2) from an IV that is not of 12 bytes. */
EVC_OUT_OF_LINE void hash_iv(const union evc_gcm_key *key, uint8_t j0[16], const uint8_t *iv,
                             size_t iv_bytes)
{
    const size_t whole = iv_bytes & ~(size_t)15;
    uint8_t last[16] = {0};

    memset(j0, 0, 16);
    key->head.kernel->hash(key, j0, iv, whole / 16);
    if (iv_bytes != whole) {
        memcpy(last, iv + whole, iv_bytes - whole);
        key->head.kernel->hash(key, j0, last, 1);
    }
    hash_lengths(key, j0, 0, iv_bytes);
}

/* Whole blocks of associated data are hashed, but for the last 1 to 16 bytes, which wait in an
 * empty block, filled up with zeros. */
static void hash_aad(const union evc_gcm_key *key, struct evc_gcm_state *state, const uint8_t *aad,
                     size_t len_bytes)
{
    size_t n;

    if (!len_bytes)
        return;
    n = (len_bytes - 1) & ~(size_t)15;
    if (n)
        key->head.kernel->hash(key, state->y, aad, n / 16);
    store_short_block(state->block, aad + n, len_bytes - n);
    state->used = (uint32_t)(len_bytes - n);
}

/* From HOLDS_ONLY to HASH. */
static void hold_no_more(const union evc_gcm_key *key, struct evc_gcm_state *state)
{
    uint8_t held[MOST_HELD];
    const size_t held_bytes = state->used;

    join_held(state);
    if (held_bytes)
        memcpy(held, held_of(state), sizeof held);
    memset(state->y, 0, 16);
    state->aad_bytes = held_bytes;
    state->text_bytes = 0;
    state->form = HASH;
    hash_aad(key, state, held, held_bytes);
}

static void start(const union evc_gcm_key *key, struct evc_gcm_state *state, const uint8_t *iv,
                  size_t iv_bytes)
{
    if (iv_bytes == 12) {
        hold_iv(state, iv);
        hold_no_more(key, state);
        return;
    }
    memset(state->y, 0, 16);
    state->aad_bytes = state->text_bytes = 0;
    state->used = 0;
    state->phase = EVC_PHASE_AAD;
    state->direction = EVC_DIRECTION_NONE;
    state->short_iv = 0;
    state->form = HASH;
    hash_iv(key, state->j0, iv, iv_bytes);
    memcpy(state->counter, state->j0, 16);
    evc_store32_be(state->counter + 12, evc_load32_be(state->j0 + 12) + 1);
}

EVC_OUT_OF_LINE enum evc_status start_checked(const union evc_gcm_key *key,
                                              struct evc_gcm_state *state, const uint8_t *iv,
                                              size_t iv_bytes)
{
    const enum evc_status status = !key->head.kernel   ? EVC_ERR_KERNEL
                                   : !iv_fits(iv_bytes) ? EVC_ERR_NONCE_SIZE
                                                        : EVC_OK;

    if (status != EVC_OK) {
        evc_wipe(state, sizeof *state);
        return status;
    }
    start(key, state, iv, iv_bytes);
    clear(key);
    return EVC_OK;
}

enum evc_status evc_gcm_start(const union evc_gcm_key *key, struct evc_gcm_state *state,
                              const uint8_t *iv, size_t iv_bytes)
{
    if (!key->head.kernel || iv_bytes != 12)
        return start_checked(key, state, iv, iv_bytes);
    hold_iv(state, iv);
    return EVC_OK;
}

/* ---- Associated data ------------------------------------------------------------------------- */

/* n blocks enter the hash, from the state in which y * H is known. */
EVC_OUT_OF_LINE void hash_behind(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                 const uint8_t *blocks, size_t n)
{
    uint8_t sum[16] = {0};

    key->head.kernel->hash(key, sum, blocks, n);
    evc_xor16(state->y, state->y, sum);
    evc_wipe(sum, sizeof sum);
}

/* The block begun, filled up with zeros, enters the hash. */
static void end_block(const union evc_gcm_key *key, struct evc_gcm_state *state)
{
    uint8_t blocks[32] = {0};

    if (!state->used)
        return;
    memset(state->block + state->used, 0, 16 - state->used);
    state->used = 0;
    if (state->form == HASH) {
        key->head.kernel->hash(key, state->y, state->block, 1);
        return;
    }
    memcpy(blocks, state->block, 16);
    hash_behind(key, state, blocks, state->form == HASH_TIMES_H ? 1 : 2);
    state->form = state->form == HASH_TIMES_H ? HASH : HASH_TIMES_H;
}

/* From the phase of associated data, in the form HASH: a short IV gives counters. */
EVC_INLINE void end_aad(struct evc_gcm_state *state)
{
    if (state->short_iv)
        write_counters(state);
    state->phase = EVC_PHASE_TEXT;
}

/* More associated data than can wait, if any does, in the form HASH. */
static void take_aad(const union evc_gcm_key *key, struct evc_gcm_state *state, const uint8_t *aad,
                     size_t len_bytes)
{
    const size_t n = 16 - state->used; /* bytes that the last block lacks */

    state->aad_bytes += len_bytes;
    if (state->used) {
        if (n)
            memcpy(state->block + state->used, aad, n);
        state->used = 16;
        aad += n, len_bytes -= n;
        end_block(key, state);
    }
    hash_aad(key, state, aad, len_bytes);
}

/* Associated data, the first, of which all but the last block is hashed at once; clears. */
EVC_INLINE enum evc_status hash_aad_before_text(const union evc_gcm_key *key,
                                                struct evc_gcm_state *state, const uint8_t *aad,
                                                size_t len_bytes)
{
    state->aad_bytes = len_bytes;
    state->text_bytes = 0;
    set_used_and_marks(state, (uint32_t)((len_bytes - 1) % 16 + 1), MARKS_BEHIND_AAD);
    return key->head.kernel->hash_aad(key, state->y, aad, len_bytes);
}

EVC_OUT_OF_LINE enum evc_status aad_checked(const union evc_gcm_key *key,
                                            struct evc_gcm_state *state, const uint8_t *aad,
                                            size_t len_bytes)
{
    if (!key->head.kernel)
        return EVC_ERR_KERNEL;
    if (state->phase != EVC_PHASE_AAD)
        return EVC_ERR_STATE;
    if (!is_sound(state))
        return EVC_ERR_STATE;
    if (len_bytes > EVC_GCM_MAX_AAD - (state->form == HOLDS_ONLY ? state->used : state->aad_bytes))
        return EVC_ERR_LENGTH;
    if (may_wait(state, state->used + (uint64_t)len_bytes)) {
        copy_aad(state, aad, len_bytes);
        return EVC_OK;
    }
    if (state->form == HOLDS_ONLY)
        hold_no_more(key, state);
    take_aad(key, state, aad, len_bytes);
    clear(key);
    return EVC_OK;
}

/* Associated data, the first, more than MOST_HELD bytes. */
EVC_OUT_OF_LINE enum evc_status long_aad(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                         const uint8_t *aad, size_t len_bytes)
{
    const uint64_t all_bytes = len_bytes; /* a size may have 32 bits */

    if (all_bytes > EVC_GCM_MAX_AAD || !key->head.kernel->hash_aad)
        return aad_checked(key, state, aad, len_bytes);
    return hash_aad_before_text(key, state, aad, len_bytes);
}

enum evc_status evc_gcm_aad(const union evc_gcm_key *key, struct evc_gcm_state *state,
                            const uint8_t *aad, size_t len_bytes)
{
    if (!key->head.kernel || used_with_marks(state, MARKS_OF_START) != 0)
        return aad_checked(key, state, aad, len_bytes);
    if (len_bytes > MOST_HELD)
        return long_aad(key, state, aad, len_bytes);
    if (len_bytes)
        hold_aad(state, aad, len_bytes);
    return EVC_OK;
}

/* ---- The text -------------------------------------------------------------------------------- */

/* n bytes within the block begun, whose key stream is there. */
static void part_of_block(const union evc_gcm_key *key, struct evc_gcm_state *state,
                          const uint8_t *in, uint8_t *out, size_t n, int sealing)
{
    uint8_t *block = state->block + state->used;

    if (!sealing)
        memcpy(block, in, n);
    evc_xor(out, in, state->stream + state->used, n);
    if (sealing)
        memcpy(block, out, n);
    state->used += (uint32_t)n;
    if (state->used == 16)
        end_block(key, state);
}

/* Whether a kernel, if there is one, handles the first piece of text as a whole message. */
EVC_INLINE int takes_whole(const struct evc_gcm *kernel, uint8_t direction)
{
    return kernel &&
           (direction == EVC_DIRECTION_SEAL ? !!kernel->seal : !!kernel->open_telling_tag);
}

/* Whether a first piece of text can be handled so: nothing is hashed yet. */
EVC_INLINE int can_be_whole(const union evc_gcm_key *key, const struct evc_gcm_state *state,
                            uint8_t direction)
{
    return used_with_marks(state, MARKS_OF_START) <= MOST_HELD &&
           takes_whole(key->head.kernel, direction);
}

/* The same of text behind associated data that is hashed but for the last block. */
EVC_INLINE int can_be_whole_behind_aad(const union evc_gcm_key *key,
                                       const struct evc_gcm_state *state, uint8_t direction)
{
    return used_with_marks(state, MARKS_BEHIND_AAD) - 1 < 16 && state->aad_bytes <= EVC_GCM_MAX_AAD
           && takes_whole(key->head.kernel, direction);
}

/* The first piece of text, with such associated data, whose tag goes to y; clears. Both
 * operations return EVC_OK. */
EVC_INLINE enum evc_status crypt_as_whole(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                          const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                          uint8_t *out, size_t len_bytes, uint8_t direction)
{
    const struct evc_gcm *kernel = key->head.kernel;

    set_marks(state, MARKS_OF_TAG(direction));
    state->text_bytes = len_bytes;
    return (direction == EVC_DIRECTION_SEAL ? kernel->seal : kernel->open_telling_tag)(
        key, state->j0, 12, aad, aad_bytes, in, out, len_bytes, state->y, 16);
}

/* The same for kernels without `hash_aad`: as a message whose associated data is one block, the
 * last plus the hash of those before it. Its tag is the right one but for the lengths: they differ
 * by d, and the tags by d * H. */
EVC_OUT_OF_LINE enum evc_status crypt_behind_aad(const union evc_gcm_key *key,
                                                 struct evc_gcm_state *state, const uint8_t *in,
                                                 uint8_t *out, size_t len_bytes, uint8_t direction)
{
    uint8_t lengths[16];
    enum evc_status status;

    evc_xor16(state->block, state->block, state->y);
    store_lengths(lengths, state->aad_bytes ^ 16, 0);
    memset(state->stream, 0, 16);
    key->head.kernel->hash(key, state->stream, lengths, 1);
    status = crypt_as_whole(key, state, state->block, 16, in, out, len_bytes, direction);
    evc_xor16(state->y, state->y, state->stream);
    clear_secret_inputs();
    clear_short(key);
    return status;
}

/* More text follows a piece that was handled as a whole message. */
EVC_INLINE void go_on_behind_whole(const union evc_gcm_key *key, struct evc_gcm_state *state)
{
    const struct evc_gcm *kernel = key->head.kernel;
    uint8_t mask[16], lengths[16];

    write_counters(state);
    kernel->encrypt(key, state->j0, mask, 1);
    evc_xor16(state->y, state->y, mask);
    store_lengths(lengths, state->aad_bytes, state->text_bytes);
    hash_behind(key, state, lengths, 1);
    state->used = (uint32_t)(state->text_bytes % 16);
    state->form = state->used ? HASH_TIMES_H_IN_BLOCK : HASH_TIMES_H;
    evc_store32_be(state->counter + 12, 2 + (uint32_t)(state->text_bytes / 16));
    memset(state->block, 0, 16);
    if (state->used) {
        kernel->encrypt(key, state->counter, state->stream, 1);
        evc_store32_be(state->counter + 12, evc_load32_be(state->counter + 12) + 1);
    }
    evc_wipe(mask, sizeof mask);
}

/* len_bytes of text follow, in a form other than HASH. */
EVC_OUT_OF_LINE void go_on_to_text(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                   size_t len_bytes)
{
    if (state->form == HOLDS_ONLY)
        hold_no_more(key, state);
    else if (state->form == TAG && len_bytes)
        go_on_behind_whole(key, state);
}

/* n_blocks whole blocks of text, at least one. */
static void crypt_whole_blocks(const union evc_gcm_key *key, struct evc_gcm_state *state,
                               const uint8_t *in, uint8_t *out, size_t n_blocks, int sealing)
{
    const struct evc_gcm *kernel = key->head.kernel;

    if (state->form == HASH_TIMES_H) {
        uint8_t sum[16] = {0};
        (sealing ? kernel->seal_blocks : kernel->open_blocks)(key, state->counter, sum, in, out, 1);
        evc_xor16(state->y, state->y, sum);
        evc_wipe(sum, sizeof sum);
        state->form = HASH;
        in += 16, out += 16, n_blocks--;
    }
    if (n_blocks)
        (sealing ? kernel->seal_blocks : kernel->open_blocks)(key, state->counter, state->y, in,
                                                              out, n_blocks);
}

/* Inline, so that the frame of the caller, who clears, is next to those of the kernel. */
EVC_INLINE void crypt_text(const union evc_gcm_key *key, struct evc_gcm_state *state,
                           const uint8_t *in, uint8_t *out, size_t len_bytes, int sealing)
{
    const struct evc_gcm *kernel = key->head.kernel;
    size_t n;

    if (state->phase == EVC_PHASE_AAD) {
        end_block(key, state);
        end_aad(state);
    }
    state->text_bytes += len_bytes;
    if (state->used && len_bytes) {
        n = 16 - state->used < len_bytes ? 16 - state->used : len_bytes;
        part_of_block(key, state, in, out, n, sealing);
        in += n, out += n, len_bytes -= n;
    }
    n = len_bytes & ~(size_t)15;
    if (n) {
        crypt_whole_blocks(key, state, in, out, n / 16, sealing);
        in += n, out += n, len_bytes -= n;
    }
    if (len_bytes) {
        kernel->encrypt(key, state->counter, state->stream, 1);
        evc_store32_be(state->counter + 12, evc_load32_be(state->counter + 12) + 1);
        part_of_block(key, state, in, out, len_bytes, sealing);
    }
}

EVC_INLINE enum evc_status check_call(const union evc_gcm_key *key,
                                      const struct evc_gcm_state *state, uint32_t direction)
{
    if (!key->head.kernel)
        return EVC_ERR_KERNEL;
    if (state->phase == EVC_PHASE_NONE || !evc_direction_fits(state->direction, direction))
        return EVC_ERR_STATE;
    return is_sound(state) ? EVC_OK : EVC_ERR_STATE;
}

EVC_OUT_OF_LINE enum evc_status update_checked(const union evc_gcm_key *key,
                                               struct evc_gcm_state *state, const uint8_t *in,
                                               uint8_t *out, size_t len_bytes, uint8_t direction)
{
    const enum evc_status status = check_call(key, state, direction);

    if (status != EVC_OK)
        return status;
    if (len_bytes > EVC_GCM_MAX_TEXT - (state->form == HOLDS_ONLY ? 0 : state->text_bytes))
        return EVC_ERR_LENGTH;
    in = evc_input(in, out, len_bytes);
    if (state->form != HASH) {
        if (state->form == HOLDS_ONLY && len_bytes && can_be_whole(key, state, direction)) {
            join_held(state);
            state->aad_bytes = state->used;
            return crypt_as_whole(key, state, held_of(state), state->used, in, out, len_bytes,
                                  direction);
        }
        go_on_to_text(key, state, len_bytes);
    } else if (len_bytes && can_be_whole_behind_aad(key, state, direction)
               && (!key->head.ghash_at || len_bytes <= 16 * (FIRST_BLOCKS - 1))) {
        /* A pair saves a batch of AES. */
        return crypt_behind_aad(key, state, in, out, len_bytes, direction);
    }
    if (state->direction != direction) /* the next call reads a word, which would wait for a byte */
        state->direction = direction;
    crypt_text(key, state, in, out, len_bytes, direction & EVC_DIRECTION_SEAL);
    if (!state->short_iv)
        clear_secret_inputs();
    clear(key);
    return EVC_OK;
}

/* A first piece by few comparisons: all else is checked out of line. */
#define USUAL_BYTES 0x7fffffff

EVC_INLINE enum evc_status update(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                  const uint8_t *in, uint8_t *out, size_t len_bytes,
                                  uint8_t direction)
{
    const struct evc_gcm *const kernel = key->head.kernel;
    const uint64_t held_bytes = used_with_marks(state, MARKS_OF_START);

    if (evc_overlap_in_part(in, out, len_bytes))
        return update_checked(key, state, in, out, len_bytes, direction);
    if (held_bytes <= MOST_HELD) {
        if (takes_whole(kernel, direction) && len_bytes - 1 < USUAL_BYTES
            && (held_bytes <= 16 || len_bytes <= kernel->held_text)) {
            state->aad_bytes = held_bytes;
            /* The mark stands on 1 byte and more. */
            return crypt_as_whole(key, state, held_of(state),
                                  (size_t)held_bytes |
                                      ((0 - (size_t)held_bytes) & kernel->held_aad),
                                  in, out, len_bytes, direction);
        }
    } else if (can_be_whole_behind_aad(key, state, direction) && len_bytes - 1 < USUAL_BYTES &&
               kernel->hash_aad) {
        return crypt_as_whole(key, state, state->block,
                              (size_t)state->aad_bytes | EVC_GCM_HASHED_AAD, in, out, len_bytes,
                              direction);
    }
    return update_checked(key, state, in, out, len_bytes, direction);
}

enum evc_status evc_gcm_seal_update(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                    const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    return update(key, state, in, out, len_bytes, EVC_DIRECTION_SEAL);
}

enum evc_status evc_gcm_open_update(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                    const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    return update(key, state, in, out, len_bytes, EVC_DIRECTION_OPEN);
}

/* ---- The tag --------------------------------------------------------------------------------- */

/* After end_message, and nothing else. form: before it. A tag that was there
 * before needs no clearing. */
EVC_INLINE void clear_tag(const union evc_gcm_key *key, uint8_t form)
{
    if (form == TAG)
        return;
    if (form == HOLDS_ONLY)
        clear(key);
    else
        clear_short(key);
}

/* The tag, whole, in state->y, if it is not there yet. The block begun and the lengths are hashed
 * in one call, beside the encryption of J_0. */
static void end_message(const union evc_gcm_key *key, struct evc_gcm_state *state)
{
    uint8_t last[32] = {0}, mask[16];
    size_t n;

    if (state->form == HOLDS_ONLY)
        hold_no_more(key, state);
    if (state->form == HASH_TIMES_H)
        end_block(key, state);
    if (state->phase == EVC_PHASE_AAD)
        end_aad(state);
    n = state->used ? 2 : 1;
    memcpy(last, state->block, state->used);
    store_lengths(last + 16 * n - 16, state->aad_bytes, state->text_bytes);
    key->head.kernel->encrypt(key, state->j0, mask, 1);
    if (state->form == HASH)
        key->head.kernel->hash(key, state->y, last, n);
    else
        hash_behind(key, state, last, n);
    evc_xor16(state->y, state->y, mask);
    evc_wipe(mask, sizeof mask);
}

EVC_OUT_OF_LINE enum evc_status seal_finish_checked(const union evc_gcm_key *key,
                                                    struct evc_gcm_state *state, uint8_t *tag,
                                                    size_t tag_bytes)
{
    const enum evc_status status = check_call(key, state, EVC_DIRECTION_SEAL);
    const uint8_t form = state->form;

    if (status != EVC_OK)
        return status;
    if (!tag_fits(key, tag_bytes))
        return EVC_ERR_TAG_SIZE;
    if (form != TAG)
        end_message(key, state);
    if (tag_bytes == 16)
        memcpy(tag, state->y, 16);
    else
        memcpy(tag, state->y, tag_bytes);
    evc_wipe(state, sizeof *state);
    clear_tag(key, form);
    return EVC_OK;
}

EVC_OUT_OF_LINE enum evc_status open_finish_checked(const union evc_gcm_key *key,
                                                    struct evc_gcm_state *state, const uint8_t *tag,
                                                    size_t tag_bytes)
{
    enum evc_status status = check_call(key, state, EVC_DIRECTION_OPEN);
    const uint8_t form = state->form;

    if (status != EVC_OK)
        return status;
    if (!tag_fits(key, tag_bytes))
        return EVC_ERR_TAG_SIZE;
    if (form != TAG)
        end_message(key, state);
    status = compare(state->y, tag, tag_bytes);
    evc_wipe(state, sizeof *state);
    clear_tag(key, form);
    return status;
}

/* The usual case: a tag of 16 bytes that is there. */
enum evc_status evc_gcm_seal_finish(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                    uint8_t *tag, size_t tag_bytes)
{
    if (!key->head.kernel || !has_marks(state, MARKS_OF_TAG(EVC_DIRECTION_SEAL)) || tag_bytes != 16)
        return seal_finish_checked(key, state, tag, tag_bytes);
    memcpy(tag, state->y, 16);
    wipe_state(state);
    return EVC_OK;
}

enum evc_status evc_gcm_open_finish(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                    const uint8_t *tag, size_t tag_bytes)
{
    enum evc_status status;

    if (!key->head.kernel || !has_marks(state, MARKS_OF_TAG(EVC_DIRECTION_OPEN)) || tag_bytes != 16)
        return open_finish_checked(key, state, tag, tag_bytes);
    status = compare16(state->y, tag);
    wipe_state(state);
    return status;
}

/* ---- A whole message ------------------------------------------------------------------------- */

/* A message whose sizes are checked, piece by piece; computed: its tag. */
EVC_INLINE void crypt_message(const union evc_gcm_key *key, const uint8_t *iv, size_t iv_bytes,
                          const uint8_t *aad, size_t aad_bytes, const uint8_t *in, uint8_t *out,
                          size_t len_bytes, uint8_t computed[16], int sealing)
{
    struct evc_gcm_state state;

    start(key, &state, iv, iv_bytes);
    take_aad(key, &state, aad, aad_bytes);
    crypt_text(key, &state, in, out, len_bytes, sealing);
    end_message(key, &state);
    memcpy(computed, state.y, 16);
    evc_wipe(&state, sizeof state);
    if (iv_bytes != 12)
        clear_secret_inputs();
}

enum evc_status evc_gcm_seal_pieces(const void *vkey, const uint8_t *iv, size_t iv_bytes,
                                    const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                    uint8_t *out, size_t len_bytes, uint8_t *tag, size_t tag_bytes)
{
    const union evc_gcm_key *const key = vkey;
    uint8_t computed[16];

    crypt_message(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, computed, 1);
    memcpy(tag, computed, tag_bytes);
    evc_wipe(computed, sizeof computed); /* of a short tag, the bytes that are not told */
    clear(key);
    return EVC_OK;
}

enum evc_status evc_gcm_open_pieces(const void *vkey, const uint8_t *iv, size_t iv_bytes,
                                    const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                    uint8_t *out, size_t len_bytes, const uint8_t *tag,
                                    size_t tag_bytes)
{
    const union evc_gcm_key *const key = vkey;
    uint8_t computed[16];
    enum evc_status status;

    crypt_message(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, computed, 0);
    status = compare(computed, tag, tag_bytes);
    evc_wipe(computed, sizeof computed); /* of a forgery, the tag that would have been right */
    clear(key);
    return status;
}

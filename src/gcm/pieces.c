/* SPDX-License-Identifier: MIT */
/*
 * GCM (SP 800-38D) in pieces, over the slots of struct evc_gcm; and a whole message in pieces,
 * where its kernel has no operation for it. The calls of the public header are at the end; the
 * steps of the standard, on a state that has been checked, come before them. state.h says which
 * forms the hash in a state has.
 */
#include "gcm/pieces.h"

#include "common/bytes.h"
#include "common/calls.h"
#include "common/clear.h"
#include "gcm/blocks.h"
#include "gcm/key.h"
#include "gcm/state.h"
#include "gcm/tags.h"

/* Counters that begin with a longer IV's J_0 tell H, and so does a block of associated data plus a
 * hash. For kernels both are public, so that they may leave them on the stack. In a frame that has
 * called them: */
#define clear_secret_inputs() EVC_CLEAR(BASELINE, EVC_DEEP(0))

EVC_INLINE int has_secret_inputs(const struct evc_gcm_state *state)
{
    return !state->short_iv || waiting_bytes(state);
}

EVC_INLINE void end_call(const union evc_gcm_key *key, int had_secret_inputs)
{
    if (had_secret_inputs)
        clear_secret_inputs();
    clear(key);
}

/* ---- The start ------------------------------------------------------------------------------- */

/* J_0 (section 7.1, step 2) from an IV that is not of 12 bytes. */
EVC_OUT_OF_LINE void hash_iv(const union evc_gcm_key *key, uint8_t j0[16], const uint8_t *iv,
                             size_t iv_bytes)
{
    const size_t whole = iv_bytes & ~(size_t)15;
    uint8_t last[16];

    memset(j0, 0, 16);
    key->head.kernel->hash(key, j0, iv, whole / 16);
    store_short_block(last, iv + whole, iv_bytes - whole);
    key->head.kernel->hash(key, j0, last, iv_bytes != whole);
    store_lengths(last, 0, iv_bytes);
    key->head.kernel->hash(key, j0, last, 1);
}

/* A message with an IV of 12 bytes, or with one whose J_0 is still to come. */
EVC_INLINE void start(struct evc_gcm_state *state, const uint8_t iv[12], uint8_t short_iv)
{
    evc_store64x2_be(state->j0, evc_load64_be(iv), (uint64_t)evc_load32_be(iv + 8) << 32 | 1);
    evc_store64x2_be(state->y, 0, 0);
    state->aad_bytes = state->text_bytes = 0;
    set_marks(state, MARKS(EVC_PHASE_AAD, EVC_DIRECTION_NONE, short_iv, HASH));
}

static void start_with_any_iv(const union evc_gcm_key *key, struct evc_gcm_state *state,
                              const uint8_t *iv, size_t iv_bytes)
{
    static const uint8_t none[12];

    start(state, iv_bytes == 12 ? iv : none, iv_bytes == 12);
    if (iv_bytes != 12)
        hash_iv(key, state->j0, iv, iv_bytes);
}

/* ---- Associated data ------------------------------------------------------------------------- */

/* y += block, in one store: a kernel soon loads it. */
EVC_INLINE void add_block(uint8_t y[16], const uint8_t block[16])
{
    evc_store64x2_le(y, evc_load64_le(y) ^ evc_load64_le(block),
                     evc_load64_le(y + 8) ^ evc_load64_le(block + 8));
}

/* sum += the hash of n blocks that nothing precedes. */
static void add_hash(const union evc_gcm_key *key, uint8_t sum[16], const uint8_t *blocks, size_t n)
{
    uint8_t hash[16] = {0};

    key->head.kernel->hash(key, hash, blocks, n);
    add_block(sum, hash);
    evc_wipe(hash, sizeof hash);
}

/* The last block of associated data, which waits in y, is hashed. */
EVC_OUT_OF_LINE void hash_waiting_block(const union evc_gcm_key *key, struct evc_gcm_state *state)
{
    uint8_t block[16];

    memcpy(block, state->y, 16);
    memset(state->y, 0, 16);
    key->head.kernel->hash(key, state->y, block, 1);
    evc_wipe(block, sizeof block);
}

static void take_aad(const union evc_gcm_key *key, struct evc_gcm_state *state, const uint8_t *aad,
                     size_t len_bytes)
{
    const size_t begun = waiting_bytes(state);
    uint8_t last[16];
    size_t n;

    if (!len_bytes)
        return;
    state->aad_bytes += len_bytes;
    if (begun) {
        n = len_bytes < 16 - begun ? len_bytes : 16 - begun;
        evc_xor(state->y + begun, state->y + begun, aad, n);
        aad += n, len_bytes -= n;
        if (!len_bytes)
            return;
        hash_waiting_block(key, state);
    }
    n = (len_bytes - 1) & ~(size_t)15;
    if (n)
        key->head.kernel->hash(key, state->y, aad, n / 16);
    store_short_block(last, aad + n, len_bytes - n);
    add_block(state->y, last);
}

/* ---- The text -------------------------------------------------------------------------------- */

/* The counter of the block of text that begins or goes on now. Out of line: J_0 of a longer IV is
 * secret, and with few registers it would be spilled to the frame of the public call. */
EVC_OUT_OF_LINE void counter_of(const struct evc_gcm_state *state, uint8_t counter[16])
{
    const uint64_t last = evc_load64_be(state->j0 + 8);
    const uint32_t number = (uint32_t)last + 1 + (uint32_t)(state->text_bytes / 16);

    evc_store64x2_be(counter, evc_load64_be(state->j0), last >> 32 << 32 | number);
}

/* At most the bytes that complete a block, which may have begun before. It was hashed filled up
 * with zeros then: these bytes, behind zeros, are a block whose hash is to be added. */
EVC_OUT_OF_LINE void crypt_part(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                const uint8_t *in, uint8_t *out, size_t n, int sealing)
{
    const size_t begun = state->text_bytes % 16;
    uint8_t blocks[32] = {0};

    if (!begun) {
        counter_of(state, state->stream);
        key->head.kernel->encrypt(key, state->stream, state->stream, 1);
    }
    if (!sealing)
        memcpy(blocks + begun, in, n);
    evc_xor(out, in, state->stream + begun, n);
    if (sealing)
        memcpy(blocks + begun, out, n);
    if (begun || state->form == HASH_TIMES_H)
        add_hash(key, state->y, blocks, begun && state->form == HASH_TIMES_H ? 2 : 1);
    else
        key->head.kernel->hash(key, state->y, blocks, 1);
    if (!begun)
        state->form = HASH;
    state->text_bytes += n;
}

/* n_blocks whole blocks of text, at least one, where none has begun. */
EVC_INLINE void crypt_blocks(const union evc_gcm_key *key, struct evc_gcm_state *state,
                             const uint8_t *in, uint8_t *out, size_t n_blocks, int sealing)
{
    const struct evc_gcm *kernel = key->head.kernel;
    uint8_t counter[16];

    counter_of(state, counter);
    (sealing ? kernel->seal_blocks : kernel->open_blocks)(key, counter, state->y, in, out,
                                                          n_blocks);
    evc_clear_block(counter);
    state->text_bytes += 16 * (uint64_t)n_blocks;
}

/* Inline, so that the frame of the caller, who clears, is next to those of the kernel. */
EVC_INLINE void crypt_text(const union evc_gcm_key *key, struct evc_gcm_state *state,
                           const uint8_t *in, uint8_t *out, size_t len_bytes, int sealing)
{
    if (len_bytes && waiting_bytes(state))
        hash_waiting_block(key, state);
    while (len_bytes) {
        const size_t begun = (size_t)(state->text_bytes % 16);
        size_t n = len_bytes & ~(size_t)15;
        if (begun || n == 0 || state->form == HASH_TIMES_H) {
            n = len_bytes < 16 - begun ? len_bytes : 16 - begun;
            crypt_part(key, state, in, out, n, sealing);
        } else {
            crypt_blocks(key, state, in, out, n / 16, sealing);
        }
        in += n, out += n, len_bytes -= n;
    }
}

/* Text follows a piece that was handled as a whole message. */
EVC_OUT_OF_LINE void go_on_behind_tag(const union evc_gcm_key *key, struct evc_gcm_state *state)
{
    uint8_t block[16];

    key->head.kernel->encrypt(key, state->j0, block, 1);
    add_block(state->y, block);
    store_lengths(block, state->aad_bytes, state->text_bytes);
    add_hash(key, state->y, block, 1);
    state->form = HASH_TIMES_H;
    if (state->text_bytes % 16) {
        counter_of(state, state->stream);
        key->head.kernel->encrypt(key, state->stream, state->stream, 1);
    }
}

/* ---- The end --------------------------------------------------------------------------------- */

/* y becomes the tag. */
static void end_message(const union evc_gcm_key *key, struct evc_gcm_state *state)
{
    uint8_t last[32], mask[16];
    size_t n = 1;

    key->head.kernel->encrypt(key, state->j0, mask, 1);
    if (waiting_bytes(state)) {
        memcpy(last, state->y, 16);
        memset(state->y, 0, 16);
        n = 2;
    }
    store_lengths(last + 16 * n - 16, state->aad_bytes, state->text_bytes);
    if (state->form == HASH)
        key->head.kernel->hash(key, state->y, last, n);
    else
        add_hash(key, state->y, last, n);
    add_block(state->y, mask);
    evc_wipe(mask, sizeof mask);
    evc_wipe(last, sizeof last);
}

/* ---- Calls: start and associated data -------------------------------------------------------- */

EVC_OUT_OF_LINE enum evc_status start_checked(const union evc_gcm_key *key,
                                              struct evc_gcm_state *state, const uint8_t *iv,
                                              size_t iv_bytes)
{
    const enum evc_status status = EVC_CHECK(gcm_start, .key = key, .iv = iv, .iv_bytes = iv_bytes);

    if (status != EVC_OK) {
        evc_wipe(state, sizeof *state);
        return status;
    }
    start_with_any_iv(key, state, iv, iv_bytes);
    clear(key);
    return EVC_OK;
}

enum evc_status evc_gcm_start(const union evc_gcm_key *key, struct evc_gcm_state *state,
                              const uint8_t *iv, size_t iv_bytes)
{
    if (!evc_is_set(EVC_KEY_GCM, key) || iv_bytes != 12 || !iv)
        return start_checked(key, state, iv, iv_bytes);
    start(state, iv, 1);
    return EVC_OK;
}

EVC_OUT_OF_LINE enum evc_status aad_checked(const union evc_gcm_key *key,
                                            struct evc_gcm_state *state, const uint8_t *aad,
                                            size_t len_bytes)
{
    EVC_RETURN_IF_REFUSED(gcm_aad, .key = key, .phase = state->phase, .is_bad = !is_sound(state),
                          .aad = aad, .aad_bytes = len_bytes, .aad_before = state->aad_bytes);
    take_aad(key, state, aad, len_bytes);
    clear(key);
    return EVC_OK;
}

enum evc_status evc_gcm_aad(const union evc_gcm_key *key, struct evc_gcm_state *state,
                            const uint8_t *aad, size_t len_bytes)
{
    if (!evc_is_set(EVC_KEY_GCM, key) || !has_marks(state, MARKS_OF_START) || state->aad_bytes ||
        len_bytes > 16 || evc_is_missing(aad, len_bytes))
        return aad_checked(key, state, aad, len_bytes);
    store_short_block(state->y, aad, len_bytes);
    state->aad_bytes = len_bytes;
    return EVC_OK;
}

/* ---- Calls: text ----------------------------------------------------------------------------- */

EVC_OUT_OF_LINE enum evc_status update_checked(const union evc_gcm_key *key,
                                               struct evc_gcm_state *state, const uint8_t *in,
                                               uint8_t *out, size_t len_bytes, uint8_t direction)
{
    const int secret = has_secret_inputs(state);

    EVC_RETURN_IF_REFUSED(gcm_seal_update, .key = key, .way = direction, .phase = state->phase,
                          .direction = state->direction, .is_bad = !is_sound(state),
                          .text_before = state->text_bytes, EVC_TEXT(in, out, len_bytes));
    if (len_bytes) {
        in = evc_input(in, out, len_bytes);
        if (state->form == TAG)
            go_on_behind_tag(key, state);
        crypt_text(key, state, in, out, len_bytes, direction == EVC_DIRECTION_SEAL);
    }
    state->phase = EVC_PHASE_TEXT;
    state->direction = direction;
    if (len_bytes)
        end_call(key, secret);
    return EVC_OK;
}

#define MOST_OF_WHOLE ((uint64_t)1 << 30)

/* Whether nothing but associated data has come, and the kernel can handle the rest of the message,
 * or the first piece of text, as a whole message. */
EVC_INLINE int can_be_whole(const union evc_gcm_key *key, const struct evc_gcm_state *state,
                            size_t len_bytes)
{
    return evc_is_set(EVC_KEY_GCM, key) && key->head.kernel->seal &&
           has_marks(state, MARKS_OF_START) && (state->aad_bytes | len_bytes) < MOST_OF_WHOLE;
}

/* The tag goes to y. The kernel clears. */
EVC_INLINE enum evc_status crypt_as_whole(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                          const uint8_t *in, uint8_t *out, size_t len_bytes,
                                          uint8_t direction)
{
    const struct evc_gcm *kernel = key->head.kernel;
    size_t aad_bytes = (size_t)state->aad_bytes;

    if (aad_bytes)
        aad_bytes |= EVC_GCM_HASHED_AAD;
    set_marks(state, MARKS(EVC_PHASE_TEXT, direction, 1, TAG));
    state->text_bytes = len_bytes;
    return (direction == EVC_DIRECTION_SEAL ? kernel->seal : kernel->open_output_tag)(
        key, state->j0, 12, state->y, aad_bytes, in, out, len_bytes, state->y, 16);
}

EVC_INLINE enum evc_status update(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                  const uint8_t *in, uint8_t *out, size_t len_bytes,
                                  uint8_t direction)
{
    if (len_bytes && can_be_whole(key, state, len_bytes) && !evc_is_missing(in, len_bytes) &&
        !evc_is_missing(out, len_bytes) && !evc_overlap_in_part(in, out, len_bytes))
        return crypt_as_whole(key, state, in, out, len_bytes, direction);
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

/* ---- Calls: the tag -------------------------------------------------------------------------- */

EVC_OUT_OF_LINE enum evc_status finish_checked(const union evc_gcm_key *key,
                                               struct evc_gcm_state *state, const uint8_t *tag,
                                               size_t tag_bytes, uint32_t direction)
{
    EVC_RETURN_IF_REFUSED(gcm_seal_finish, .key = key, .way = direction, .phase = state->phase,
                          .direction = state->direction, .is_bad = !is_sound(state), .tag = tag,
                          .tag_bytes = tag_bytes);
    if (key->head.kernel->seal && state->short_iv && !state->text_bytes &&
        state->aad_bytes < MOST_OF_WHOLE)
        return crypt_as_whole(key, state, NULL, NULL, 0, EVC_DIRECTION_SEAL);
    if (state->form != TAG) {
        const int secret = has_secret_inputs(state);
        end_message(key, state);
        end_call(key, secret);
    }
    return EVC_OK;
}

/* The tag in y, if the message is one that may end. */
EVC_INLINE enum evc_status finish(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                  const uint8_t *tag, size_t tag_bytes, uint32_t direction)
{
    if (evc_is_set(EVC_KEY_GCM, key) && tag_bytes == 16 && tag &&
        has_marks(state, MARKS(EVC_PHASE_TEXT, direction, 1, TAG)))
        return EVC_OK;
    return finish_checked(key, state, tag, tag_bytes, direction);
}

enum evc_status evc_gcm_seal_finish(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                    uint8_t *tag, size_t tag_bytes)
{
    const enum evc_status status = finish(key, state, tag, tag_bytes, EVC_DIRECTION_SEAL);

    if (status != EVC_OK)
        return status;
    if (tag_bytes == 16)
        memcpy(tag, state->y, 16);
    else
        memcpy(tag, state->y, tag_bytes);
    wipe_state(state);
    return EVC_OK;
}

enum evc_status evc_gcm_open_finish(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                    const uint8_t *tag, size_t tag_bytes)
{
    enum evc_status status = finish(key, state, tag, tag_bytes, EVC_DIRECTION_OPEN);

    if (status != EVC_OK)
        return status;
    status = tag_bytes == 16 ? compare16(state->y, tag) : compare(state->y, tag, tag_bytes);
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

    start_with_any_iv(key, &state, iv, iv_bytes);
    take_aad(key, &state, aad, aad_bytes);
    crypt_text(key, &state, in, out, len_bytes, sealing);
    end_message(key, &state);
    memcpy(computed, state.y, 16);
    evc_wipe(&state, sizeof state);
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

/* SPDX-License-Identifier: MIT */
/*
 * CCM (SP 800-38C, RFC 3610): CBC-MAC over a first block B_0, the associated data
 * and the plaintext, and CTR.
 *
 * The chain waits for itself, a latency per block; the counter blocks do not. The two are called in
 * turn on pieces so short that a core that executes out of order has the next piece of the chain
 * within reach while it works off the counter blocks; these then cost next to nothing. Pieces of
 * what the counter's kernel takes at once were the best of 4 to 128 blocks for 128, 256 and 512-bit
 * vectors. One counter block alone, for the tag or for the end of the text, is encrypted by the
 * MAC's kernel, which is made for one block at a time.
 */
#include "everycore/modes.h"

#include "aes/ops.h"
#include "common/bytes.h"
#include "common/calls.h"
#include "common/clear.h"
#include "common/ct.h"

/* Shorter pieces cost more in calls than they hide. */
#define MIN_PIECE_BLOCKS 8

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Every call with the key ends with this. Inline, as a frame of its own would lie
 * where operations were. */
EVC_INLINE void clear(const struct evc_aes_ccm_key *key)
{
    evc_clear_both(&evc_aes_ccm_ctr_key(key)->head.kernel->kernel,
                   &evc_aes_ccm_mac_key(key)->head.kernel->kernel);
}

size_t evc_aes_ccm_key_bytes(const struct evc_aes *ctr_kernel, const struct evc_aes *mac_kernel)
{
    if (!ctr_kernel || !mac_kernel)
        return 0;
    return offsetof(struct evc_aes_ccm_key, keys) + evc_key_room(&ctr_kernel->kernel) +
           (mac_kernel == ctr_kernel ? 0 : evc_key_room(&mac_kernel->kernel));
}

/* One key serves both where the kernel is the same. */
static enum evc_status set_keys(struct evc_aes_ccm_key *key, const struct evc_aes *ctr_kernel,
                                const struct evc_aes *mac_kernel, const uint8_t *user_key,
                                unsigned key_bits)
{
    const size_t ctr_bytes = evc_key_room(&ctr_kernel->kernel);
    const enum evc_status status =
        evc_aes_set_encrypt_key_in(key->keys, ctr_bytes, ctr_kernel, user_key, key_bits);

    if (status != EVC_OK || mac_kernel == ctr_kernel)
        return status;
    key->mac_at = (uint32_t)ctr_bytes;
    return evc_aes_set_encrypt_key_in(key->keys + ctr_bytes, evc_key_room(&mac_kernel->kernel),
                                      mac_kernel, user_key, key_bits);
}

enum evc_status evc_aes_ccm_set_key_in(void *memory, size_t memory_bytes,
                                       const struct evc_aes *ctr_kernel,
                                       const struct evc_aes *mac_kernel, const uint8_t *user_key,
                                       unsigned key_bits)
{
    enum evc_status status =
        evc_check_key_memory(memory, memory_bytes, evc_aes_ccm_key_bytes(ctr_kernel, mac_kernel),
                             user_key, key_bits / 8);

    evc_wipe(memory, memory_bytes);
    if (status == EVC_OK)
        status = set_keys(memory, ctr_kernel, mac_kernel, user_key, key_bits);
    if (status != EVC_OK)
        evc_wipe(memory, memory_bytes);
    return status;
}

enum evc_status evc_aes_ccm_set_key(struct evc_aes_ccm_key *key, const struct evc_aes *ctr_kernel,
                                    const struct evc_aes *mac_kernel, const uint8_t *user_key,
                                    unsigned key_bits)
{
    return evc_aes_ccm_set_key_in(key, sizeof *key, ctr_kernel, mac_kernel, user_key, key_bits);
}

enum evc_status evc_aes_ccm_allow_short_tags(struct evc_aes_ccm_key *key)
{
    EVC_RETURN_IF_REFUSED(aes_ccm_allow_short_tags, .key = key);
    key->allows_short_tags = 1;
    return EVC_OK;
}

/* ---- The start ------------------------------------------------------------------------------- */

/* For text_before of struct evc_given: all lengths but those that the bytes behind the nonce count;
 * nonces of other lengths are refused before. */
static uint64_t beyond_nonce(size_t nonce_bytes)
{
    return nonce_bytes > 7 && nonce_bytes <= 13 ? UINT64_MAX << (8 * (15 - nonce_bytes)) : 0;
}

/* The length of the associated data as the standard writes it (A.2.2); returns its bytes. */
static uint32_t encode_aad_bytes(uint8_t out[16], uint64_t aad_bytes)
{
    if (aad_bytes < 0xff00) {
        out[0] = (uint8_t)(aad_bytes >> 8);
        out[1] = (uint8_t)aad_bytes;
        return 2;
    }
    out[0] = 0xff;
    if (aad_bytes <= UINT32_MAX) {
        out[1] = 0xfe;
        evc_store32_be(out + 2, (uint32_t)aad_bytes);
        return 6;
    }
    out[1] = 0xff;
    evc_store64_be(out + 2, aad_bytes);
    return 10;
}

/* B_0 (A.2.1) and the counter blocks (A.3): flags, nonce, and a number in the
 * bytes that these leave. */
static void first_block(uint8_t block[16], uint32_t flags, const uint8_t *nonce, size_t nonce_bytes,
                        uint64_t number)
{
    const uint64_t first = (uint64_t)flags << 56 | (uint64_t)evc_load32_be(nonce) << 24 |
                           (evc_load32_be(nonce + 3) & 0xffffff);
    uint64_t rest = 0; /* of the nonce: 0 to 6 bytes */

    for (size_t i = 7; i < nonce_bytes; i++)
        rest = rest << 8 | nonce[i];
    evc_store64x2_be(block, first, rest << 8 * (13 - nonce_bytes) << 16 | number);
}

/* The sizes are checked. */
static void start(const struct evc_aes_ccm_key *key, struct evc_aes_ccm *state,
                  const uint8_t *nonce, size_t nonce_bytes, uint64_t aad_bytes, uint64_t text_bytes,
                  size_t tag_bytes)
{
    const uint32_t flags = (uint32_t)(14 - nonce_bytes);

    memset(state, 0, sizeof *state);
    state->phase = EVC_PHASE_AAD;
    state->aad_left = aad_bytes;
    state->text_left = text_bytes;
    state->tag_bytes = (uint8_t)tag_bytes;

    first_block(state->block, (aad_bytes ? 0x40u : 0u) + (uint32_t)(tag_bytes - 2) / 2 * 8 + flags,
                nonce, nonce_bytes, text_bytes);
    evc_aes_op_cbcmac(evc_aes_ccm_mac_key(key), state->chain, state->block, 1);

    /* Counter 0 masks the tag; the message begins with counter 1. */
    first_block(state->counter, flags, nonce, nonce_bytes, 0);
    evc_aes_op_encrypt(evc_aes_ccm_mac_key(key), state->counter, state->tag_mask, 1);
    first_block(state->counter, flags, nonce, nonce_bytes, 1);

    memset(state->block, 0, 16);
    if (aad_bytes)
        state->used = encode_aad_bytes(state->block, aad_bytes);
}

enum evc_status evc_aes_ccm_start(const struct evc_aes_ccm_key *key, struct evc_aes_ccm *state,
                                  const uint8_t *nonce, size_t nonce_bytes, uint64_t aad_bytes,
                                  uint64_t text_bytes, size_t tag_bytes)
{
    const enum evc_status status =
        EVC_CHECK(aes_ccm_start, .key = key, .iv = nonce, .iv_bytes = nonce_bytes,
                  .text_bytes = text_bytes, .text_before = beyond_nonce(nonce_bytes),
                  .tag_bytes = tag_bytes);

    if (status != EVC_OK) {
        evc_wipe(state, sizeof *state);
        return status;
    }
    start(key, state, nonce, nonce_bytes, aad_bytes, text_bytes, tag_bytes);
    clear(key);
    return EVC_OK;
}

/* ---- Associated data ------------------------------------------------------------------------- */

/* The block begun enters the chain; what it does not fill is zero. */
static void end_block(const struct evc_aes_ccm_key *key, struct evc_aes_ccm *state)
{
    if (!state->used)
        return;
    evc_aes_op_cbcmac(evc_aes_ccm_mac_key(key), state->chain, state->block, 1);
    memset(state->block, 0, 16);
    state->used = 0;
}

/* At most as many bytes as are still to come. */
static void take_aad(const struct evc_aes_ccm_key *key, struct evc_aes_ccm *state,
                     const uint8_t *aad, size_t len_bytes)
{
    size_t n;

    if (!len_bytes)
        return;
    state->aad_left -= len_bytes;
    n = 16 - state->used < len_bytes ? 16 - state->used : len_bytes;
    if (state->used) {
        memcpy(state->block + state->used, aad, n);
        state->used += (uint32_t)n;
        aad += n, len_bytes -= n;
        if (state->used == 16)
            end_block(key, state);
    }
    n = len_bytes & ~(size_t)15;
    if (n)
        evc_aes_op_cbcmac(evc_aes_ccm_mac_key(key), state->chain, aad, n / 16);
    if (len_bytes - n) {
        memcpy(state->block, aad + n, len_bytes - n);
        state->used = (uint32_t)(len_bytes - n);
    }
    if (!state->aad_left)
        end_block(key, state);
}

/* Memory that no start has written must not lead beyond the state's blocks, nor to a tag of no
 * bytes, which any other equals. */
static int is_sound(const struct evc_aes_ccm *state)
{
    return state->used < 16 && state->tag_bytes >= 4 && state->tag_bytes <= 16;
}

enum evc_status evc_aes_ccm_aad(const struct evc_aes_ccm_key *key, struct evc_aes_ccm *state,
                                const uint8_t *aad, size_t len_bytes)
{
    EVC_RETURN_IF_REFUSED(aes_ccm_aad, .key = key, .phase = state->phase,
                          .is_bad = !is_sound(state), .aad = aad, .aad_bytes = len_bytes,
                          .aad_before = UINT64_MAX - state->aad_left);
    take_aad(key, state, aad, len_bytes);
    clear(key);
    return EVC_OK;
}

/* ---- The message ----------------------------------------------------------------------------- */

/* n bytes within the block begun, whose key stream is there. */
static void part_of_block(struct evc_aes_ccm *state, const uint8_t *in, uint8_t *out, size_t n,
                          int sealing)
{
    uint8_t *block = state->block + state->used;

    if (sealing)
        evc_copy_secret(block, in, n);
    evc_xor(out, in, state->stream + state->used, n);
    if (!sealing)
        evc_copy_secret(block, out, n);
    state->used += (uint32_t)n;
}

/* In one pass, where the kernel of the MAC has one: then the text takes no
 * longer than its chain. */
static void whole_blocks(const struct evc_aes_ccm_key *key, struct evc_aes_ccm *state,
                         const uint8_t *in, uint8_t *out, size_t len_bytes, int sealing)
{
    const size_t batch = evc_aes_ccm_ctr_key(key)->head.kernel->kernel.batch;
    const size_t piece_bytes = 16 * (batch > MIN_PIECE_BLOCKS ? batch : MIN_PIECE_BLOCKS);
    const struct evc_aes *kernel = evc_aes_ccm_mac_key(key)->head.kernel;

    if (kernel->ccm_encrypt) {
        (sealing ? kernel->ccm_encrypt : kernel->ccm_decrypt)(
            evc_aes_ccm_mac_key(key), state->counter, state->chain, in, out, len_bytes / 16);
        return;
    }
    while (len_bytes) {
        size_t n = len_bytes < piece_bytes ? len_bytes : piece_bytes;
        if (sealing)
            evc_aes_op_cbcmac(evc_aes_ccm_mac_key(key), state->chain, in, n / 16);
        evc_aes_op_ctr(evc_aes_ccm_ctr_key(key), state->counter, in, out, n);
        if (!sealing)
            evc_aes_op_cbcmac(evc_aes_ccm_mac_key(key), state->chain, out, n / 16);
        in += n, out += n, len_bytes -= n;
    }
}

/* At most as many bytes as are still to come. */
static void crypt_text(const struct evc_aes_ccm_key *key, struct evc_aes_ccm *state,
                       const uint8_t *in, uint8_t *out, size_t len_bytes, int sealing)
{
    size_t n;

    state->text_left -= len_bytes;
    if (state->used && len_bytes) {
        n = 16 - state->used < len_bytes ? 16 - state->used : len_bytes;
        part_of_block(state, in, out, n, sealing);
        in += n, out += n, len_bytes -= n;
        if (state->used == 16) /* here: `clear` does not reach below another frame */
            end_block(key, state);
    }
    n = len_bytes & ~(size_t)15;
    if (n) {
        whole_blocks(key, state, in, out, n, sealing);
        in += n, out += n, len_bytes -= n;
    }
    if (len_bytes) {
        evc_aes_op_encrypt(evc_aes_ccm_mac_key(key), state->counter, state->stream, 1);
        evc_store64_be(state->counter + 8, evc_load64_be(state->counter + 8) + 1);
        part_of_block(state, in, out, len_bytes, sealing);
    }
}

static enum evc_status update(const struct evc_aes_ccm_key *key, struct evc_aes_ccm *state,
                              const uint8_t *in, uint8_t *out, size_t len_bytes, uint8_t direction)
{
    EVC_RETURN_IF_REFUSED(aes_ccm_seal_update, .key = key, .way = direction, .phase = state->phase,
                          .direction = state->direction,
                          .is_bad = !is_sound(state) || state->aad_left,
                          .text_before = UINT64_MAX - state->text_left,
                          EVC_TEXT(in, out, len_bytes));
    state->phase = EVC_PHASE_TEXT;
    state->direction = direction;
    crypt_text(key, state, evc_input(in, out, len_bytes), out, len_bytes,
               direction == EVC_DIRECTION_SEAL);
    clear(key);
    return EVC_OK;
}

enum evc_status evc_aes_ccm_seal_update(const struct evc_aes_ccm_key *key,
                                        struct evc_aes_ccm *state, const uint8_t *in, uint8_t *out,
                                        size_t len_bytes)
{
    return update(key, state, in, out, len_bytes, EVC_DIRECTION_SEAL);
}

enum evc_status evc_aes_ccm_open_update(const struct evc_aes_ccm_key *key,
                                        struct evc_aes_ccm *state, const uint8_t *in, uint8_t *out,
                                        size_t len_bytes)
{
    return update(key, state, in, out, len_bytes, EVC_DIRECTION_OPEN);
}

/* ---- The tag --------------------------------------------------------------------------------- */

/* The tag, whole, in state->chain. */
static void end_message(const struct evc_aes_ccm_key *key, struct evc_aes_ccm *state)
{
    end_block(key, state);
    evc_xor16(state->chain, state->chain, state->tag_mask);
}

static enum evc_status compare(const struct evc_aes_ccm *state, const uint8_t *tag)
{
    uint32_t equal = evc_mask_equal(state->chain, tag, state->tag_bytes);

    evc_public(&equal, sizeof equal); /* the caller learns it as the status */
    return equal ? EVC_OK : EVC_ERR_TAG;
}

/* Bytes that were announced and have not come count as text. */
static enum evc_status check_finish(const struct evc_aes_ccm_key *key,
                                    const struct evc_aes_ccm *state, uint32_t direction,
                                    const uint8_t *tag)
{
    return EVC_CHECK(aes_ccm_seal_finish, .key = key, .way = direction, .phase = state->phase,
                     .direction = state->direction, .is_bad = !is_sound(state), .tag = tag,
                     .text_bytes = state->aad_left | state->text_left,
                     .tag_bytes = state->tag_bytes);
}

enum evc_status evc_aes_ccm_seal_finish(const struct evc_aes_ccm_key *key,
                                        struct evc_aes_ccm *state, uint8_t *tag)
{
    const enum evc_status status = check_finish(key, state, EVC_DIRECTION_SEAL, tag);

    if (status != EVC_OK)
        return status;
    end_message(key, state);
    memcpy(tag, state->chain, state->tag_bytes);
    evc_wipe(state, sizeof *state);
    clear(key);
    return EVC_OK;
}

enum evc_status evc_aes_ccm_open_finish(const struct evc_aes_ccm_key *key,
                                        struct evc_aes_ccm *state, const uint8_t *tag)
{
    enum evc_status status = check_finish(key, state, EVC_DIRECTION_OPEN, tag);

    if (status != EVC_OK)
        return status;
    end_message(key, state);
    status = compare(state, tag);
    evc_wipe(state, sizeof *state);
    clear(key);
    return status;
}

/* ---- In one call ----------------------------------------------------------------------------- */

static enum evc_status check_message(const struct evc_aes_ccm_key *key, const uint8_t *nonce,
                                     size_t nonce_bytes, const uint8_t *aad, size_t aad_bytes,
                                     const uint8_t *in, const uint8_t *out, size_t len_bytes,
                                     const uint8_t *tag, size_t tag_bytes)
{
    return EVC_CHECK(aes_ccm_seal, .key = key, .iv = nonce, .iv_bytes = nonce_bytes, .aad = aad,
                     .aad_bytes = aad_bytes, EVC_TEXT(in, out, len_bytes),
                     .text_before = beyond_nonce(nonce_bytes), .tag = tag, .tag_bytes = tag_bytes);
}

/* The tag, whole, in state->chain. The sizes are checked. Inline, as a frame of its own would lie
 * between operations and those who clear. */
EVC_INLINE void crypt_message(const struct evc_aes_ccm_key *key, struct evc_aes_ccm *state,
                              const uint8_t *nonce, size_t nonce_bytes, const uint8_t *aad,
                              size_t aad_bytes, const uint8_t *in, uint8_t *out, size_t len_bytes,
                              size_t tag_bytes, int sealing)
{
    start(key, state, nonce, nonce_bytes, aad_bytes, len_bytes, tag_bytes);
    take_aad(key, state, aad, aad_bytes);
    crypt_text(key, state, evc_input(in, out, len_bytes), out, len_bytes, sealing);
    end_message(key, state);
}

enum evc_status evc_aes_ccm_seal(const struct evc_aes_ccm_key *key, const uint8_t *nonce,
                                 size_t nonce_bytes, const uint8_t *aad, size_t aad_bytes,
                                 const uint8_t *in, uint8_t *out, size_t len_bytes, uint8_t *tag,
                                 size_t tag_bytes)
{
    const enum evc_status status = check_message(key, nonce, nonce_bytes, aad, aad_bytes, in, out,
                                                 len_bytes, tag, tag_bytes);
    struct evc_aes_ccm state;

    if (status != EVC_OK)
        return status;
    crypt_message(key, &state, nonce, nonce_bytes, aad, aad_bytes, in, out, len_bytes, tag_bytes,
                  1);
    memcpy(tag, state.chain, tag_bytes);
    evc_wipe(&state, sizeof state);
    clear(key);
    return EVC_OK;
}

enum evc_status evc_aes_ccm_open(const struct evc_aes_ccm_key *key, const uint8_t *nonce,
                                 size_t nonce_bytes, const uint8_t *aad, size_t aad_bytes,
                                 const uint8_t *in, uint8_t *out, size_t len_bytes,
                                 const uint8_t *tag, size_t tag_bytes)
{
    enum evc_status status = check_message(key, nonce, nonce_bytes, aad, aad_bytes, in, out,
                                           len_bytes, tag, tag_bytes);
    struct evc_aes_ccm state;

    if (status != EVC_OK)
        return status;
    crypt_message(key, &state, nonce, nonce_bytes, aad, aad_bytes, in, out, len_bytes, tag_bytes,
                  0);
    status = compare(&state, tag);
    evc_wipe(&state, sizeof state);
    if (status != EVC_OK && len_bytes)
        evc_wipe(out, len_bytes);
    clear(key);
    return status;
}

/* ---- The tag right behind the ciphertext ----------------------------------------------------- */

/* The tag is written last: all of the text has been read, wherever it stands. */
enum evc_status evc_aes_ccm_seal_joined(const struct evc_aes_ccm_key *key, const uint8_t *nonce,
                                        size_t nonce_bytes, const uint8_t *aad, size_t aad_bytes,
                                        const uint8_t *in, uint8_t *out, size_t len_bytes,
                                        size_t tag_bytes)
{
    return evc_aes_ccm_seal(key, nonce, nonce_bytes, aad, aad_bytes, in, out, len_bytes,
                            out ? out + len_bytes : NULL, tag_bytes);
}

/* A copy of the received tag is compared, since text may be written to its place before. */
enum evc_status evc_aes_ccm_open_joined(const struct evc_aes_ccm_key *key, const uint8_t *nonce,
                                        size_t nonce_bytes, const uint8_t *aad, size_t aad_bytes,
                                        const uint8_t *in, uint8_t *out, size_t in_bytes,
                                        size_t tag_bytes)
{
    uint8_t tag[16];

    if (!evc_is_set(EVC_KEY_CCM, key))
        return evc_key_error(key);
    if (tag_bytes > sizeof tag)
        return EVC_ERR_TAG_SIZE;
    if (in_bytes < tag_bytes)
        return EVC_ERR_LENGTH;
    if (in)
        memcpy(tag, in + (in_bytes - tag_bytes), tag_bytes);
    return evc_aes_ccm_open(key, nonce, nonce_bytes, aad, aad_bytes, in, out, in_bytes - tag_bytes,
                            in ? tag : NULL, tag_bytes);
}

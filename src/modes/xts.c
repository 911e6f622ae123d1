/* SPDX-License-Identifier: MIT */
/* XTS (IEEE 1619-2018 section 5, SP 800-38E). P, C, T: plaintext, ciphertext,
 * tweak of the standard. */
#include "everycore/modes.h"

#include "aes/ops.h"
#include "aes/tweak.h"
#include "common/bytes.h"
#include "common/calls.h"
#include "common/clear.h"
#include "common/ct.h"

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Every call with the key ends with this. Inline, as a frame of its own would lie
 * where operations were. */
EVC_INLINE void clear(const struct evc_aes_xts_key *key)
{
    evc_clear_both(&evc_aes_xts_data_key(key)->head.kernel->kernel,
                   &evc_aes_xts_tweak_key(key)->head.kernel->kernel);
}

size_t evc_aes_xts_key_bytes(const struct evc_aes *data_kernel, const struct evc_aes *tweak_kernel)
{
    if (!data_kernel || !tweak_kernel)
        return 0;
    return offsetof(struct evc_aes_xts_key, keys) + evc_key_room(&data_kernel->kernel) +
           evc_key_room(&tweak_kernel->kernel);
}

static enum evc_status check_key(const void *memory, size_t memory_bytes,
                                 const struct evc_aes *data_kernel,
                                 const struct evc_aes *tweak_kernel, const uint8_t *user_key,
                                 unsigned key_bits, unsigned allowed)
{
    uint32_t equal;

    if (!evc_fits(EVC_LIMIT_XTS_BITS, key_bits) &&
        !(key_bits == 192 && (allowed & EVC_AES_XTS_ALLOW_192)))
        return EVC_ERR_KEY_SIZE;
    if (!user_key)
        return EVC_ERR_PARAMETER;
    equal = evc_mask_equal(user_key, user_key + key_bits / 8, key_bits / 8);
    if (allowed & EVC_AES_XTS_ALLOW_EQUAL_KEYS)
        equal = 0;
    evc_public(&equal, sizeof equal); /* the caller learns it as the status */
    if (equal)
        return EVC_ERR_EQUAL_KEYS;
    return evc_check_key_memory(memory, memory_bytes,
                                evc_aes_xts_key_bytes(data_kernel, tweak_kernel), user_key,
                                2 * key_bits / 8);
}

static enum evc_status set_keys(struct evc_aes_xts_key *key, const struct evc_aes *data_kernel,
                                const struct evc_aes *tweak_kernel, const uint8_t *user_key,
                                unsigned key_bits)
{
    const size_t data_bytes = evc_key_room(&data_kernel->kernel);
    enum evc_status status =
        evc_aes_set_key_in(key->keys, data_bytes, data_kernel, user_key, key_bits);

    if (status == EVC_OK)
        status = evc_aes_set_encrypt_key_in(key->keys + data_bytes,
                                            evc_key_room(&tweak_kernel->kernel), tweak_kernel,
                                            user_key + key_bits / 8, key_bits);
    key->tweak_at = (uint32_t)data_bytes;
    return status;
}

enum evc_status evc_aes_xts_set_key_allowing_in(void *memory, size_t memory_bytes,
                                                const struct evc_aes *data_kernel,
                                                const struct evc_aes *tweak_kernel,
                                                const uint8_t *user_key, unsigned key_bits,
                                                unsigned allowed)
{
    struct evc_aes_xts_key *key = memory;
    enum evc_status status =
        check_key(memory, memory_bytes, data_kernel, tweak_kernel, user_key, key_bits, allowed);

    evc_wipe(memory, memory_bytes);
    if (status == EVC_OK)
        status = set_keys(key, data_kernel, tweak_kernel, user_key, key_bits);
    if (status != EVC_OK)
        evc_wipe(memory, memory_bytes);
    else
        key->allowed = allowed;
    return status;
}

enum evc_status evc_aes_xts_set_key_in(void *memory, size_t memory_bytes,
                                       const struct evc_aes *data_kernel,
                                       const struct evc_aes *tweak_kernel, const uint8_t *user_key,
                                       unsigned key_bits)
{
    return evc_aes_xts_set_key_allowing_in(memory, memory_bytes, data_kernel, tweak_kernel,
                                           user_key, key_bits, 0);
}

enum evc_status evc_aes_xts_set_key(struct evc_aes_xts_key *key, const struct evc_aes *data_kernel,
                                    const struct evc_aes *tweak_kernel, const uint8_t *user_key,
                                    unsigned key_bits)
{
    return evc_aes_xts_set_key_in(key, sizeof *key, data_kernel, tweak_kernel, user_key, key_bits);
}

/* ---- Tweaks ---------------------------------------------------------------------------------- */

void evc_aes_xts_tweak(uint8_t tweak[16], uint64_t unit)
{
    evc_store64_le(tweak, unit);
    memset(tweak + 8, 0, 8);
}

/* ---- The end of a data unit ------------------------------------------------------------------ */

#if EVC_WORD64

/* x << (64 - bits) and x >> (64 - bits); bits: 0 to 56. */
EVC_INLINE uint64_t to_top(uint64_t x, unsigned bits)
{
    return x << 1 << (63 - bits);
}

EVC_INLINE uint64_t from_top(uint64_t x, unsigned bits)
{
    return x >> 1 >> (63 - bits);
}

/* The lowest bits of `word` become those of `begin`; bits: 0 to 56. */
EVC_INLINE uint64_t replace_lowest(uint64_t word, uint64_t begin, unsigned bits)
{
    return word >> bits << bits | begin;
}

#endif

/*
 * The rest of a unit changes places with the beginning of a block. rest_bytes: 1 to 15. The bytes
 * at rest, behind 16 bytes of the unit, become the beginning of `block`. The first ones of `whole`
 * go to out, and its others become the end of `block`, which may be `whole`. Up to 7 bytes before
 * out are overwritten, with anything. By words where they have 64 bits: a load of a block waits for
 * all of several stores in it; elsewhere such a shift is a call. Each way has few words at a time:
 * of more, some compilers keep one on the stack. Not inlined: its words would stay in registers,
 * which the operation after it saves on the stack.
 */
EVC_OUT_OF_LINE void exchange(uint8_t block[16], const uint8_t whole[16], const uint8_t *rest,
                              uint8_t *out, size_t rest_bytes)
{
#if EVC_WORD64
    const uint64_t low = evc_load64_le(whole), high = evc_load64_le(whole + 8);
    const uint64_t rest_end = evc_load64_le(rest + rest_bytes - 8);
    /* bits of the rest in the word where it ends */
    const unsigned bits = (unsigned)(8 * (rest_bytes % 8));

    if (rest_bytes < 8) {
        evc_store64_le(out + rest_bytes - 8, to_top(low, bits));
        evc_store64x2_le(block, replace_lowest(low, from_top(rest_end, bits), bits), high);
    } else {
        const uint64_t rest_low = evc_load64_le(rest);

        evc_store64_le(out, low);
        evc_store64_le(out + rest_bytes - 8, low >> bits | to_top(high, bits));
        evc_store64x2_le(block, rest_low, replace_lowest(high, from_top(rest_end, bits), bits));
    }
#else
    for (size_t i = 0; i < rest_bytes; i++) {
        uint32_t first = whole[i];
        EVC_KEEP(first);
        block[i] = rest[i];
        out[i] = (uint8_t)first;
    }
    evc_copy_secret(block + rest_bytes, whole + rest_bytes, 16 - rest_bytes);
#endif
}

/* out[-16 .. -1] holds CC, the last whole block encrypted; in, out: the
 * rest, 1 to 15 bytes (5.3.2).
 * tweak: that of the rest. */
EVC_OUT_OF_LINE void steal_encrypt(const union evc_aes_key *key, uint8_t tweak[16],
                                   const uint8_t *in, uint8_t *out, size_t rest_bytes)
{
    uint8_t block[16]; /* the rest of P, then CC's end */

    exchange(block, out - 16, in, out, rest_bytes);
    evc_aes_op_xts_encrypt(key, tweak, block, out - 16, 1);
    evc_clear_block(block);
}

/* Not inlined, as exchange(): the tweak's halves would stay in registers that kernels save. */
EVC_OUT_OF_LINE void copy_next_tweak(uint8_t next[16], const uint8_t tweak[16])
{
    memcpy(next, tweak, 16);
    evc_aes_next_tweak(next);
}

/* in, out: the last whole block and 1 to 15 bytes (5.4.2). The whole block has the later tweak. */
EVC_OUT_OF_LINE void steal_decrypt(const union evc_aes_key *key, uint8_t tweak[16],
                                   const uint8_t *in, uint8_t *out, size_t rest_bytes)
{
    uint8_t later[16], block[16]; /* PP, then the rest of C and PP's end */

    copy_next_tweak(later, tweak);
    evc_aes_op_xts_decrypt(key, later, in, block, 1);
    exchange(block, block, in + 16, out + 16, rest_bytes);
    evc_aes_op_xts_decrypt(key, tweak, block, out, 1);
    evc_clear_block(later);
    evc_clear_block(block);
}

/* tweak: encrypted; len_bytes: 0, or 16 and more. Inline, as units of whole
 * blocks need no frame more. */
EVC_INLINE void encrypt_end(const union evc_aes_key *key, uint8_t tweak[16], const uint8_t *in,
                            uint8_t *out, size_t len_bytes)
{
    const size_t rest_bytes = len_bytes % 16, whole = len_bytes - rest_bytes;

    evc_aes_op_xts_encrypt(key, tweak, in, out, whole / 16);
    if (rest_bytes)
        steal_encrypt(key, tweak, in + whole, out + whole, rest_bytes);
}

EVC_INLINE void decrypt_end(const union evc_aes_key *key, uint8_t tweak[16], const uint8_t *in,
                            uint8_t *out, size_t len_bytes)
{
    const size_t rest_bytes = len_bytes % 16;
    const size_t whole = len_bytes - rest_bytes - (rest_bytes ? 16 : 0);

    evc_aes_op_xts_decrypt(key, tweak, in, out, whole / 16);
    if (rest_bytes)
        steal_decrypt(key, tweak, in + whole, out + whole, rest_bytes);
}

/* ---- In one call ----------------------------------------------------------------------------- */

/* Members of struct evc_given. More is done in memory that no start has written. */
#define STATE(state)                                                    \
    .phase = (state)->phase, .direction = (state)->direction,           \
    .is_bad = (state)->done_bytes > EVC_AES_XTS_MAX_BYTES, .text_before = (state)->done_bytes

enum evc_status evc_aes_xts_encrypt(const struct evc_aes_xts_key *key, const uint8_t tweak[16],
                                    const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    uint8_t t[16];

    EVC_RETURN_IF_REFUSED(aes_xts_encrypt, .key = key, EVC_TEXT(in, out, len_bytes));
    evc_aes_op_encrypt(evc_aes_xts_tweak_key(key), tweak, t, 1);
    encrypt_end(evc_aes_xts_data_key(key), t, evc_input(in, out, len_bytes), out, len_bytes);
    evc_clear_block(t);
    clear(key);
    return EVC_OK;
}

enum evc_status evc_aes_xts_decrypt(const struct evc_aes_xts_key *key, const uint8_t tweak[16],
                                    const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    uint8_t t[16];

    EVC_RETURN_IF_REFUSED(aes_xts_decrypt, .key = key, EVC_TEXT(in, out, len_bytes));
    evc_aes_op_encrypt(evc_aes_xts_tweak_key(key), tweak, t, 1);
    decrypt_end(evc_aes_xts_data_key(key), t, evc_input(in, out, len_bytes), out, len_bytes);
    evc_clear_block(t);
    clear(key);
    return EVC_OK;
}

/* ---- In pieces ------------------------------------------------------------------------------- */

enum evc_status evc_aes_xts_start(const struct evc_aes_xts_key *key, struct evc_aes_xts *state,
                                  const uint8_t tweak[16])
{
    const enum evc_status status = EVC_CHECK(aes_xts_start, .key = key);

    if (status != EVC_OK) {
        evc_wipe(state, sizeof *state);
        return status;
    }
    /* tweak may be state->tweak */
    evc_aes_op_encrypt(evc_aes_xts_tweak_key(key), tweak, state->tweak, 1);
    state->done_bytes = 0;
    state->phase = EVC_PHASE_TEXT;
    state->direction = EVC_DIRECTION_NONE;
    clear(key);
    return EVC_OK;
}

static enum evc_status update(const struct evc_aes_xts_key *key, struct evc_aes_xts *state,
                              const uint8_t *in, uint8_t *out, size_t len_bytes, uint8_t direction)
{
    EVC_RETURN_IF_REFUSED(aes_xts_encrypt_update, .key = key, .way = direction, STATE(state),
                          EVC_TEXT(in, out, len_bytes));
    in = evc_input(in, out, len_bytes);
    state->direction = direction;
    if (len_bytes < EVC_AES_XTS_MAX_BYTES - state->done_bytes)
        state->done_bytes += (uint32_t)len_bytes;
    else
        state->done_bytes = (uint32_t)EVC_AES_XTS_MAX_BYTES;
    if (direction == EVC_DIRECTION_SEAL)
        evc_aes_op_xts_encrypt(evc_aes_xts_data_key(key), state->tweak, in, out, len_bytes / 16);
    else
        evc_aes_op_xts_decrypt(evc_aes_xts_data_key(key), state->tweak, in, out, len_bytes / 16);
    clear(key);
    return EVC_OK;
}

static enum evc_status finish(const struct evc_aes_xts_key *key, struct evc_aes_xts *state,
                              const uint8_t *in, uint8_t *out, size_t len_bytes, uint8_t direction)
{
    EVC_RETURN_IF_REFUSED(aes_xts_encrypt_finish, .key = key, .way = direction, STATE(state),
                          EVC_TEXT(in, out, len_bytes));
    in = evc_input(in, out, len_bytes);
    if (direction == EVC_DIRECTION_SEAL)
        encrypt_end(evc_aes_xts_data_key(key), state->tweak, in, out, len_bytes);
    else
        decrypt_end(evc_aes_xts_data_key(key), state->tweak, in, out, len_bytes);
    evc_wipe(state, sizeof *state);
    clear(key);
    return EVC_OK;
}

enum evc_status evc_aes_xts_encrypt_update(const struct evc_aes_xts_key *key,
                                           struct evc_aes_xts *state, const uint8_t *in,
                                           uint8_t *out, size_t len_bytes)
{
    return update(key, state, in, out, len_bytes, EVC_DIRECTION_SEAL);
}

enum evc_status evc_aes_xts_encrypt_finish(const struct evc_aes_xts_key *key,
                                           struct evc_aes_xts *state, const uint8_t *in,
                                           uint8_t *out, size_t len_bytes)
{
    return finish(key, state, in, out, len_bytes, EVC_DIRECTION_SEAL);
}

enum evc_status evc_aes_xts_decrypt_update(const struct evc_aes_xts_key *key,
                                           struct evc_aes_xts *state, const uint8_t *in,
                                           uint8_t *out, size_t len_bytes)
{
    return update(key, state, in, out, len_bytes, EVC_DIRECTION_OPEN);
}

enum evc_status evc_aes_xts_decrypt_finish(const struct evc_aes_xts_key *key,
                                           struct evc_aes_xts *state, const uint8_t *in,
                                           uint8_t *out, size_t len_bytes)
{
    return finish(key, state, in, out, len_bytes, EVC_DIRECTION_OPEN);
}

/* SPDX-License-Identifier: MIT */
/* XTS (IEEE 1619-2018 section 5, SP 800-38E). P, C, T: plaintext, ciphertext, tweak of the standard. */
#include "everycore/modes.h"

#include "aes/tweak.h"
#include "common/bytes.h"
#include "common/ct.h"

static enum evc_status set_keys(struct evc_aes_xts_key *key, const struct evc_aes *data_kernel,
                                const struct evc_aes *tweak_kernel, const uint8_t *user_key,
                                unsigned key_bits)
{
    enum evc_status status;
    uint32_t equal;

    if (key_bits != 128 && key_bits != 256)
        return EVC_ERR_KEY_SIZE;
    equal = evc_mask_equal(user_key, user_key + key_bits / 8, key_bits / 8);
    evc_public(&equal, sizeof equal); /* the caller learns it as the status */
    if (equal)
        return EVC_ERR_EQUAL_KEYS;
    status = evc_aes_set_key(&key->data, data_kernel, user_key, key_bits);
    if (status != EVC_OK)
        return status;
    return evc_aes_set_encrypt_key(&key->tweak, tweak_kernel, user_key + key_bits / 8, key_bits);
}

enum evc_status evc_aes_xts_set_key(struct evc_aes_xts_key *key, const struct evc_aes *data_kernel,
                                    const struct evc_aes *tweak_kernel, const uint8_t *user_key,
                                    unsigned key_bits)
{
    enum evc_status status = set_keys(key, data_kernel, tweak_kernel, user_key, key_bits);

    if (status != EVC_OK)
        evc_wipe(key, sizeof *key);
    return status;
}

void evc_aes_xts_tweak(uint8_t tweak[16], uint64_t unit)
{
    evc_store64_le(tweak, unit);
    memset(tweak + 8, 0, 8);
}

/* ---- The end of a data unit --------------------------------------------------------------------- */

/* out[-16 .. -1] holds CC, the last whole block encrypted; in, out: the rest, 1 to 15 bytes (5.3.2).
 * tweak: that of the rest. */
static void steal_encrypt(const union evc_aes_key *key, uint8_t tweak[16], const uint8_t *in,
                          uint8_t *out, size_t rest_bytes)
{
    uint8_t block[16]; /* the rest of P, then CC's end */

    memcpy(block, out - 16, 16);
    memcpy(block, in, rest_bytes);
    memcpy(out, out - 16, rest_bytes);
    evc_aes_xts_encrypt_blocks(key, tweak, block, out - 16, 1);
    evc_wipe(block, sizeof block);
}

/* in, out: the last whole block and 1 to 15 bytes (5.4.2). The whole block has the later tweak. */
static void steal_decrypt(const union evc_aes_key *key, uint8_t tweak[16], const uint8_t *in,
                          uint8_t *out, size_t rest_bytes)
{
    uint8_t later[16], block[16], rest[16];

    memcpy(later, tweak, 16);
    evc_aes_next_tweak(later);
    evc_aes_xts_decrypt_blocks(key, later, in, block, 1);
    memcpy(rest, block, rest_bytes);
    memcpy(block, in + 16, rest_bytes); /* the rest of C, then PP's end */
    memcpy(out + 16, rest, rest_bytes);
    evc_aes_xts_decrypt_blocks(key, tweak, block, out, 1);
    evc_wipe(later, sizeof later);
    evc_wipe(block, sizeof block);
    evc_wipe(rest, sizeof rest);
}

/* tweak: encrypted; len_bytes: 0, or 16 and more. */
static void encrypt_end(const union evc_aes_key *key, uint8_t tweak[16], const uint8_t *in,
                        uint8_t *out, size_t len_bytes)
{
    const size_t rest_bytes = len_bytes % 16, whole = len_bytes - rest_bytes;

    evc_aes_xts_encrypt_blocks(key, tweak, in, out, whole / 16);
    if (rest_bytes)
        steal_encrypt(key, tweak, in + whole, out + whole, rest_bytes);
}

static void decrypt_end(const union evc_aes_key *key, uint8_t tweak[16], const uint8_t *in,
                        uint8_t *out, size_t len_bytes)
{
    const size_t rest_bytes = len_bytes % 16;
    const size_t whole = len_bytes - rest_bytes - (rest_bytes ? 16 : 0);

    evc_aes_xts_decrypt_blocks(key, tweak, in, out, whole / 16);
    if (rest_bytes)
        steal_decrypt(key, tweak, in + whole, out + whole, rest_bytes);
}

/* ---- In one call ---------------------------------------------------------------------------------- */

enum evc_status evc_aes_xts_encrypt(const struct evc_aes_xts_key *key, const uint8_t tweak[16],
                                    const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    uint8_t t[16];

    if (len_bytes < 16 || len_bytes > EVC_AES_XTS_MAX_BYTES)
        return EVC_ERR_LENGTH;
    evc_aes_encrypt(&key->tweak, tweak, t, 1);
    encrypt_end(&key->data, t, in, out, len_bytes);
    evc_wipe(t, sizeof t);
    return EVC_OK;
}

enum evc_status evc_aes_xts_decrypt(const struct evc_aes_xts_key *key, const uint8_t tweak[16],
                                    const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    uint8_t t[16];

    if (len_bytes < 16 || len_bytes > EVC_AES_XTS_MAX_BYTES)
        return EVC_ERR_LENGTH;
    evc_aes_encrypt(&key->tweak, tweak, t, 1);
    decrypt_end(&key->data, t, in, out, len_bytes);
    evc_wipe(t, sizeof t);
    return EVC_OK;
}

/* ---- In pieces ------------------------------------------------------------------------------------ */

void evc_aes_xts_start(const struct evc_aes_xts_key *key, struct evc_aes_xts *state,
                       const uint8_t tweak[16])
{
    evc_aes_encrypt(&key->tweak, tweak, state->tweak, 1);
    state->done_bytes = 0;
}

static int fits(const struct evc_aes_xts *state, size_t len_bytes)
{
    return len_bytes <= EVC_AES_XTS_MAX_BYTES - state->done_bytes;
}

static int may_end(const struct evc_aes_xts *state, size_t len_bytes)
{
    return fits(state, len_bytes) && (len_bytes ? len_bytes >= 16 : state->done_bytes != 0);
}

enum evc_status evc_aes_xts_encrypt_update(const struct evc_aes_xts_key *key,
                                           struct evc_aes_xts *state, const uint8_t *in,
                                           uint8_t *out, size_t len_bytes)
{
    if (len_bytes % 16 != 0 || !fits(state, len_bytes))
        return EVC_ERR_LENGTH;
    evc_aes_xts_encrypt_blocks(&key->data, state->tweak, in, out, len_bytes / 16);
    state->done_bytes += (uint32_t)len_bytes;
    return EVC_OK;
}

enum evc_status evc_aes_xts_encrypt_finish(const struct evc_aes_xts_key *key,
                                           struct evc_aes_xts *state, const uint8_t *in,
                                           uint8_t *out, size_t len_bytes)
{
    if (!may_end(state, len_bytes))
        return EVC_ERR_LENGTH;
    encrypt_end(&key->data, state->tweak, in, out, len_bytes);
    evc_wipe(state, sizeof *state);
    return EVC_OK;
}

enum evc_status evc_aes_xts_decrypt_update(const struct evc_aes_xts_key *key,
                                           struct evc_aes_xts *state, const uint8_t *in,
                                           uint8_t *out, size_t len_bytes)
{
    if (len_bytes % 16 != 0 || !fits(state, len_bytes))
        return EVC_ERR_LENGTH;
    evc_aes_xts_decrypt_blocks(&key->data, state->tweak, in, out, len_bytes / 16);
    state->done_bytes += (uint32_t)len_bytes;
    return EVC_OK;
}

enum evc_status evc_aes_xts_decrypt_finish(const struct evc_aes_xts_key *key,
                                           struct evc_aes_xts *state, const uint8_t *in,
                                           uint8_t *out, size_t len_bytes)
{
    if (!may_end(state, len_bytes))
        return EVC_ERR_LENGTH;
    decrypt_end(&key->data, state->tweak, in, out, len_bytes);
    evc_wipe(state, sizeof *state);
    return EVC_OK;
}

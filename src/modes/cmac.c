/* SPDX-License-Identifier: MIT */
/* CMAC (SP 800-38B section 6). */
#include "everycore/modes.h"

#include "aes/ops.h"
#include "common/bytes.h"
#include "common/calls.h"
#include "common/clear.h"
#include "common/ct.h"

/* Messages of a batch that are set up at once: their descriptions fill most of a frame of 1 KiB. */
#define GROUP 28

/* out = in * x in GF(2^128), byte 15 least significant, x^128 = x^7 + x^2 + x + 1 (section 6.1). */
static void times_x(uint8_t out[16], const uint8_t in[16])
{
    uint64_t hi = evc_load64_be(in), lo = evc_load64_be(in + 8);
    uint64_t overflow = evc_mask_highest64(hi);

    evc_store64_be(out, (hi << 1) | (lo >> 63));
    evc_store64_be(out + 8, (lo << 1) ^ (overflow & 0x87));
}

size_t evc_aes_cmac_key_bytes(const struct evc_aes *kernel)
{
    if (!kernel)
        return 0;
    return offsetof(struct evc_aes_cmac_key, aes) + evc_key_room(&kernel->kernel);
}

static enum evc_status set_keys(struct evc_aes_cmac_key *key, const struct evc_aes *kernel,
                                const uint8_t *user_key, unsigned key_bits)
{
    const enum evc_status status = evc_aes_set_encrypt_key_in(
        &key->aes, evc_key_room(&kernel->kernel), kernel, user_key, key_bits);

    if (status != EVC_OK)
        return status;
    evc_aes_op_encrypt(&key->aes, key->k1, key->k1, 1);
    times_x(key->k1, key->k1);
    times_x(key->k2, key->k1);
    evc_clear(&kernel->kernel);
    return EVC_OK;
}

enum evc_status evc_aes_cmac_set_key_in(void *memory, size_t memory_bytes,
                                        const struct evc_aes *kernel, const uint8_t *user_key,
                                        unsigned key_bits)
{
    const enum evc_status status = evc_check_key_memory(
        memory, memory_bytes, evc_aes_cmac_key_bytes(kernel), user_key, key_bits / 8);

    evc_wipe(memory, memory_bytes);
    return status == EVC_OK ? set_keys(memory, kernel, user_key, key_bits) : status;
}

enum evc_status evc_aes_cmac_set_key(struct evc_aes_cmac_key *key, const struct evc_aes *kernel,
                                     const uint8_t *user_key, unsigned key_bits)
{
    return evc_aes_cmac_set_key_in(key, sizeof *key, kernel, user_key, key_bits);
}

/* The bytes of a message that are not in its last block; that block has 1 to 16 bytes, 0 if
 * the message is empty. */
static size_t before_last(size_t len_bytes)
{
    return len_bytes ? (len_bytes - 1) & ~(size_t)15 : 0;
}

/* The last block as it enters the chain: padded if not whole, and masked (6.2 step 4). */
static void mask_last(const struct evc_aes_cmac_key *key, uint8_t block[16], const uint8_t *last,
                      size_t last_bytes)
{
    if (last_bytes == 16) {
        evc_xor16(block, last, key->k1);
        return;
    }
    memset(block, 0, 16);
    if (last_bytes)
        evc_copy_secret(block, last, last_bytes);
    block[last_bytes] = 0x80;
    evc_xor16(block, block, key->k2);
}

static void end_chain(const struct evc_aes_cmac_key *key, uint8_t chain[16], const uint8_t *last,
                      size_t last_bytes)
{
    uint8_t block[16];

    mask_last(key, block, last, last_bytes);
    evc_aes_op_cbcmac(&key->aes, chain, block, 1);
    evc_clear_block(block);
}

static enum evc_status compare(const uint8_t *computed, const uint8_t *tag, size_t tag_bytes)
{
    uint32_t equal = evc_mask_equal(computed, tag, tag_bytes);

    evc_public(&equal, sizeof equal); /* the caller learns it as the status */
    return equal ? EVC_OK : EVC_ERR_TAG;
}

enum evc_status evc_aes_cmac_allow_short_tags(struct evc_aes_cmac_key *key)
{
    EVC_RETURN_IF_REFUSED(aes_cmac_allow_short_tags, .key = key);
    key->allows_short_tags = 1;
    return EVC_OK;
}

/* ---- In one call ----------------------------------------------------------------------------- */

static void whole_tag(const struct evc_aes_cmac_key *key, const uint8_t *in, size_t len_bytes,
                      uint8_t chain[16])
{
    const size_t before = before_last(len_bytes);

    memset(chain, 0, 16);
    if (before)
        evc_aes_op_cbcmac(&key->aes, chain, in, before / 16);
    end_chain(key, chain, len_bytes ? in + before : NULL, len_bytes - before);
}

enum evc_status evc_aes_cmac(const struct evc_aes_cmac_key *key, const uint8_t *in,
                             size_t len_bytes, uint8_t *tag, size_t tag_bytes)
{
    uint8_t chain[16];

    EVC_RETURN_IF_REFUSED(aes_cmac, .key = key, .in = in, .text_bytes = len_bytes, .tag = tag,
                          .tag_bytes = tag_bytes);
    whole_tag(key, in, len_bytes, chain);
    memcpy(tag, chain, tag_bytes);
    evc_clear_block(chain);
    evc_clear(&key->aes.head.kernel->kernel);
    return EVC_OK;
}

enum evc_status evc_aes_cmac_verify(const struct evc_aes_cmac_key *key, const uint8_t *in,
                                    size_t len_bytes, const uint8_t *tag, size_t tag_bytes)
{
    enum evc_status status;
    uint8_t chain[16];

    EVC_RETURN_IF_REFUSED(aes_cmac_verify, .key = key, .in = in, .text_bytes = len_bytes,
                          .tag = tag, .tag_bytes = tag_bytes);
    whole_tag(key, in, len_bytes, chain);
    status = compare(chain, tag, tag_bytes);
    evc_clear_block(chain);
    evc_clear(&key->aes.head.kernel->kernel);
    return status;
}

/* ---- In pieces ------------------------------------------------------------------------------- */

enum evc_status evc_aes_cmac_start(struct evc_aes_cmac *state)
{
    memset(state, 0, sizeof *state);
    state->phase = EVC_PHASE_TEXT;
    return EVC_OK;
}

/* Members of struct evc_given. `used` is larger in memory that no start has written. */
#define STATE_OF(state) .phase = (state)->phase, .is_bad = (state)->used > 16

/* len_bytes is not 0. */
static void take_text(const struct evc_aes_cmac_key *key, struct evc_aes_cmac *state,
                      const uint8_t *in, size_t len_bytes)
{
    size_t n;

    if (state->used) {
        n = 16 - state->used < len_bytes ? 16 - state->used : len_bytes;
        evc_copy_secret(state->last + state->used, in, n);
        state->used += (uint32_t)n;
        in += n, len_bytes -= n;
        if (!len_bytes)
            return;
        evc_aes_op_cbcmac(&key->aes, state->chain, state->last, 1);
    }
    n = before_last(len_bytes);
    if (n)
        evc_aes_op_cbcmac(&key->aes, state->chain, in, n / 16);
    evc_copy_secret(state->last, in + n, len_bytes - n);
    state->used = (uint32_t)(len_bytes - n);
}

enum evc_status evc_aes_cmac_update(const struct evc_aes_cmac_key *key, struct evc_aes_cmac *state,
                                    const uint8_t *in, size_t len_bytes)
{
    EVC_RETURN_IF_REFUSED(aes_cmac_update, .key = key, STATE_OF(state), .in = in,
                          .text_bytes = len_bytes);
    if (!len_bytes)
        return EVC_OK;
    take_text(key, state, in, len_bytes);
    evc_clear(&key->aes.head.kernel->kernel);
    return EVC_OK;
}

enum evc_status evc_aes_cmac_finish(const struct evc_aes_cmac_key *key, struct evc_aes_cmac *state,
                                    uint8_t *tag, size_t tag_bytes)
{
    EVC_RETURN_IF_REFUSED(aes_cmac_finish, .key = key, STATE_OF(state), .tag = tag,
                          .tag_bytes = tag_bytes);
    end_chain(key, state->chain, state->last, state->used);
    memcpy(tag, state->chain, tag_bytes);
    evc_wipe(state, sizeof *state);
    evc_clear(&key->aes.head.kernel->kernel);
    return EVC_OK;
}

enum evc_status evc_aes_cmac_finish_verify(const struct evc_aes_cmac_key *key,
                                           struct evc_aes_cmac *state, const uint8_t *tag,
                                           size_t tag_bytes)
{
    enum evc_status status;

    EVC_RETURN_IF_REFUSED(aes_cmac_finish_verify, .key = key, STATE_OF(state), .tag = tag,
                          .tag_bytes = tag_bytes);
    end_chain(key, state->chain, state->last, state->used);
    status = compare(state->chain, tag, tag_bytes);
    evc_wipe(state, sizeof *state);
    evc_clear(&key->aes.head.kernel->kernel);
    return status;
}

/* ---- Many messages --------------------------------------------------------------------------- */

/* The chains side by side up to the last block of each, then all last blocks at once. n >= 1.
 * It clears what operations leave, as the kernel's `clear` does not reach from its
 * caller below its frame. */
static void tags_of_group(const struct evc_aes_cmac_key *key, const struct evc_msg *msgs, size_t n)
{
    union {
        struct evc_msg before[GROUP];
        uint8_t last[16 * GROUP];
    } u;
    size_t i = 0;

    do {
        memset(msgs[i].iv, 0, 16);
        u.before[i].in = msgs[i].in;
        u.before[i].out = NULL;
        u.before[i].len_bytes = before_last(msgs[i].len_bytes);
        u.before[i].iv = msgs[i].iv;
    } while (++i < n);
    evc_aes_op_cbc_encrypt_many(&key->aes, u.before, n);
    for (i = 0; i < n; i++) {
        const size_t before = before_last(msgs[i].len_bytes);
        const uint8_t *last = before ? msgs[i].in + before : msgs[i].in;
        mask_last(key, u.last + 16 * i, last, msgs[i].len_bytes - before);
        evc_xor16(u.last + 16 * i, u.last + 16 * i, msgs[i].iv);
    }
    evc_aes_op_encrypt(&key->aes, u.last, u.last, n);
    for (i = 0; i < n; i++)
        memcpy(msgs[i].iv, u.last + 16 * i, 16);
    /* All that stands in u is the caller's: these tags, and addresses behind them. */
    evc_clear(&key->aes.head.kernel->kernel);
}

enum evc_status evc_aes_cmac_many(const struct evc_aes_cmac_key *key, const struct evc_msg *msgs,
                                  size_t n)
{
    EVC_RETURN_IF_REFUSED(aes_cmac_many, .key = key, .msgs = msgs, .n_msgs = n);
    for (size_t i = 0; i < n; i++)
        if (evc_is_missing(msgs[i].in, msgs[i].len_bytes))
            return EVC_ERR_PARAMETER;
    /* Groups of about the same size: a small one takes as long as a full one. */
    for (size_t group, n_groups = (n + GROUP - 1) / GROUP; n;
         n -= group, msgs += group, n_groups--) {
        group = (n + n_groups - 1) / n_groups;
        tags_of_group(key, msgs, group);
    }
    return EVC_OK;
}

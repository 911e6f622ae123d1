/* SPDX-License-Identifier: MIT */
/*
 * HMAC on SHA-2.
 *
 * Source: RFC 2104 (1997) sections 2, 4 and 5; FIPS 198-1 (2008) section 4.
 */
#include "everycore/hmac.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/ct.h"
#include "common/in_place.h"
#include "hmac/ops.h"
#include "sha2/many.h"

/* ---- Keys ------------------------------------------------------------------------------------ */

#define IPAD 0x36u
#define OPAD (0x5cu ^ IPAD) /* of a block that has ipad already */

static void mask_block(uint8_t block[EVC_SHA2_MOST_BLOCK_BYTES], size_t block_bytes, uint8_t pad)
{
    const uint32_t pads = UINT32_C(0x01010101) * pad;

    for (size_t i = 0; i < block_bytes; i += 4)
        evc_store32_ne(block + i, evc_load32_ne(block + i) ^ pads);
}

/* The words of the hash behind this block. */
static void hash_block(struct evc_sha2_state *state, const struct evc_hmac_key *key,
                       const uint8_t *block, size_t block_bytes, union evc_hmac_words *words)
{
    (void)evc_sha2_op_begin(state, key->kernel, key->hash);
    evc_sha2_op_take(state, block, block_bytes);
    evc_copy_secret((uint8_t *)words, (const uint8_t *)&state->h, sizeof *words);
}

/* EVC_OK, or why no key can be made. */
static enum evc_status check_set_key(const struct evc_hmac_key *key, const struct evc_sha2 *kernel,
                                     enum evc_sha2_hash hash, const uint8_t *user_key,
                                     size_t user_key_bytes)
{
    if (!evc_sha2_digest_bytes(hash))
        return EVC_ERR_PARAMETER;
    return evc_check_key_memory(key, sizeof *key, kernel ? sizeof *key : 0, user_key,
                                user_key_bytes);
}

enum evc_status evc_hmac_set_key(struct evc_hmac_key *key, const struct evc_sha2 *kernel,
                                 enum evc_sha2_hash hash, const uint8_t *user_key,
                                 size_t user_key_bytes)
{
    const size_t block_bytes = evc_sha2_block_bytes(hash);
    uint8_t block[EVC_SHA2_MOST_BLOCK_BYTES] = {0};
    struct evc_sha2_state state = {0}; /* words of 32 bits fill half of a key's words */
    enum evc_status status = check_set_key(key, kernel, hash, user_key, user_key_bytes);

    evc_wipe(key, sizeof *key);
    if (status == EVC_OK)
        status = evc_sha2_op_begin(&state, kernel, (uint32_t)hash);
    if (status == EVC_OK && !evc_sha2_op_fits(&state, user_key_bytes))
        status = EVC_ERR_LENGTH;
    if (status != EVC_OK)
        return status;
    if (user_key_bytes > block_bytes) {
        evc_sha2_op_take(&state, user_key, user_key_bytes);
        evc_sha2_op_end(&state, block);
    } else if (user_key_bytes) {
        evc_copy_secret(block, user_key, user_key_bytes);
    }
    key->kernel = kernel;
    key->hash = (uint32_t)hash;
    mask_block(block, block_bytes, IPAD);
    hash_block(&state, key, block, block_bytes, &key->inner);
    mask_block(block, block_bytes, OPAD);
    hash_block(&state, key, block, block_bytes, &key->outer);
    evc_wipe(block, sizeof block);
    evc_wipe(&state, sizeof state);
    evc_clear(&kernel->kernel);
    return EVC_OK;
}

enum evc_status evc_hmac_allow_short_tags(struct evc_hmac_key *key)
{
    const enum evc_status status = evc_hmac_key_status(key);

    if (status == EVC_OK)
        key->allows_short_tags = 1;
    return status;
}

#define PHASE_TEXT 1 /* of a state that holds a message */

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Half of a digest of SHA-2 has at least 112 bits, and so the 80 that RFC 2104 wants besides. */
static int tag_fits(const struct evc_hmac_key *key, size_t tag_bytes)
{
    const size_t digest_bytes = evc_sha2_op_hash(key->hash)->digest_bytes;
    const size_t least = key->allows_short_tags ? EVC_HMAC_MIN_SHORT_TAG : digest_bytes / 2;

    return tag_bytes >= least && tag_bytes <= digest_bytes;
}

static int is_begun(const struct evc_hmac_key *key, const struct evc_hmac *state)
{
    return state->phase == PHASE_TEXT && state->inner.kernel == key->kernel &&
           state->inner.hash == key->hash;
}

static enum evc_status check_tag(const struct evc_hmac_key *key, const uint8_t *tag,
                                 size_t tag_bytes)
{
    if (!tag_fits(key, tag_bytes))
        return EVC_ERR_TAG_SIZE;
    return tag ? EVC_OK : EVC_ERR_PARAMETER;
}

static enum evc_status check_finish(const struct evc_hmac_key *key, const struct evc_hmac *state,
                                    const uint8_t *tag, size_t tag_bytes)
{
    const enum evc_status status = evc_hmac_key_status(key);

    if (status != EVC_OK)
        return status;
    return is_begun(key, state) ? check_tag(key, tag, tag_bytes) : EVC_ERR_STATE;
}

/* ---- In one call ----------------------------------------------------------------------------- */

/* EVC_OK, or why a text cannot have a tag of this key. A state that has words of the key is made
 * behind this: they pass through vector registers, which calls that are refused do not clear. Out
 * of line, since kernels would run below the state here, beyond what is cleared. */
EVC_OUT_OF_LINE enum evc_status check_text(const struct evc_hmac_key *key, const uint8_t *in,
                                           size_t len_bytes)
{
    struct evc_sha2_state empty;

    empty.hash = (uint8_t)key->hash;
    empty.bytes_high = 0;
    empty.bytes_low = evc_sha2_op_hash(key->hash)->block_bytes;
    if (!evc_sha2_op_fits(&empty, len_bytes))
        return EVC_ERR_LENGTH;
    return evc_is_missing(in, len_bytes) ? EVC_ERR_PARAMETER : EVC_OK;
}

/* The whole tag at the start of state->waiting, or why there is none. */
static enum evc_status whole_tag(struct evc_sha2_state *state, const struct evc_hmac_key *key,
                                 const uint8_t *in, size_t len_bytes, const uint8_t *tag,
                                 size_t tag_bytes)
{
    enum evc_status status = evc_hmac_key_status(key);

    if (status == EVC_OK)
        status = check_tag(key, tag, tag_bytes);
    if (status == EVC_OK)
        status = check_text(key, in, len_bytes);
    if (status == EVC_OK)
        evc_hmac_op_all(state, key, in, len_bytes);
    return status;
}

static enum evc_status compare(const uint8_t *computed, const uint8_t *tag, size_t tag_bytes)
{
    uint32_t equal = evc_mask_equal(computed, tag, tag_bytes);

    evc_public(&equal, sizeof equal); /* the caller learns it as the status */
    return equal ? EVC_OK : EVC_ERR_TAG;
}

enum evc_status evc_hmac(const struct evc_hmac_key *key, const uint8_t *in, size_t len_bytes,
                         uint8_t *tag, size_t tag_bytes)
{
    struct evc_sha2_state state;
    const enum evc_status status = whole_tag(&state, key, in, len_bytes, tag, tag_bytes);

    if (status == EVC_OK)
        evc_copy_secret(tag, state.waiting, tag_bytes);
    evc_wipe(&state, sizeof state);
    if (status == EVC_OK)
        evc_clear(&key->kernel->kernel);
    return status;
}

enum evc_status evc_hmac_verify(const struct evc_hmac_key *key, const uint8_t *in,
                                size_t len_bytes, const uint8_t *tag, size_t tag_bytes)
{
    struct evc_sha2_state state;
    enum evc_status status = whole_tag(&state, key, in, len_bytes, tag, tag_bytes);
    const int is_computed = status == EVC_OK;

    if (is_computed)
        status = compare(state.waiting, tag, tag_bytes);
    evc_wipe(&state, sizeof state);
    if (is_computed)
        evc_clear(&key->kernel->kernel);
    return status;
}

/* ---- In pieces ------------------------------------------------------------------------------- */

enum evc_status evc_hmac_start(const struct evc_hmac_key *key, struct evc_hmac *state)
{
    const enum evc_status status = evc_hmac_key_status(key);

    evc_wipe(state, sizeof *state);
    if (status != EVC_OK)
        return status;
    evc_hmac_op_begin(&state->inner, key);
    state->phase = PHASE_TEXT;
    evc_clear(&key->kernel->kernel);
    return EVC_OK;
}

enum evc_status evc_hmac_update(const struct evc_hmac_key *key, struct evc_hmac *state,
                                const uint8_t *in, size_t len_bytes)
{
    const enum evc_status status = evc_hmac_key_status(key);

    if (status != EVC_OK)
        return status;
    if (!is_begun(key, state))
        return EVC_ERR_STATE;
    if (!evc_sha2_op_fits(&state->inner, len_bytes))
        return EVC_ERR_LENGTH;
    if (evc_is_missing(in, len_bytes))
        return EVC_ERR_PARAMETER;
    evc_sha2_op_take(&state->inner, in, len_bytes);
    evc_clear(&key->kernel->kernel);
    return EVC_OK;
}

enum evc_status evc_hmac_finish(const struct evc_hmac_key *key, struct evc_hmac *state,
                                uint8_t *tag, size_t tag_bytes)
{
    const enum evc_status status = check_finish(key, state, tag, tag_bytes);

    if (status != EVC_OK)
        return status;
    evc_hmac_op_end(&state->inner, key);
    evc_copy_secret(tag, state->inner.waiting, tag_bytes);
    evc_wipe(state, sizeof *state);
    evc_clear(&key->kernel->kernel);
    return EVC_OK;
}

enum evc_status evc_hmac_finish_verify(const struct evc_hmac_key *key, struct evc_hmac *state,
                                       const uint8_t *tag, size_t tag_bytes)
{
    enum evc_status status = check_finish(key, state, tag, tag_bytes);

    if (status != EVC_OK)
        return status;
    evc_hmac_op_end(&state->inner, key);
    status = compare(state->inner.waiting, tag, tag_bytes);
    evc_wipe(state, sizeof *state);
    evc_clear(&key->kernel->kernel);
    return status;
}

/* ---- Many ------------------------------------------------------------------------------------ */

/* EVC_OK, or why the message cannot be computed. */
static enum evc_status check_message(const struct evc_hmac_message *m, int has_scratch,
                                     size_t scratch_bytes)
{
    enum evc_status status = evc_hmac_key_status(m->key);

    if (status == EVC_OK)
        status = check_tag(m->key, m->tag, m->tag_bytes);
    if (status == EVC_OK)
        status = check_text(m->key, m->in, m->len_bytes);
    if (status != EVC_OK)
        return status;
    return scratch_bytes < evc_sha2_many_scratch_bytes(m->key->kernel) ||
                   (!has_scratch && evc_sha2_has_lanes(m->key->kernel))
               ? EVC_ERR_SCRATCH
               : EVC_OK;
}

static int next_message(struct evc_sha2_list *list, struct evc_sha2_item *item)
{
    const struct evc_hmac_message *const messages = list->messages, *m;

    while (list->i < list->n && messages[list->i].status != EVC_OK)
        list->i++;
    m = messages + list->i;
    if (list->i == list->n || m->key->kernel != list->kernel || m->key->hash != list->hash)
        return 0;
    item->inner = &m->key->inner;
    item->outer = &m->key->outer;
    item->in = m->in;
    item->len_bytes = m->len_bytes;
    item->out = m->tag;
    item->out_bytes = m->tag_bytes;
    list->i++;
    return 1;
}

enum evc_status evc_hmac_many(struct evc_hmac_message *messages, size_t n_messages, void *scratch,
                              size_t scratch_bytes)
{
    struct evc_sha2_list list = {next_message, messages, 0, n_messages, NULL, 0};
    enum evc_status first = EVC_OK;

    if (evc_is_missing(messages, n_messages))
        return EVC_ERR_PARAMETER;
    for (size_t i = 0; i < n_messages; i++) {
        messages[i].status = check_message(&messages[i], scratch != NULL, scratch_bytes);
        if (first == EVC_OK)
            first = messages[i].status;
    }
    while (list.i < n_messages) {
        struct evc_hmac_message *const m = messages + list.i;
        if (m->status != EVC_OK) {
            list.i++;
            continue;
        }
        list.kernel = m->key->kernel, list.hash = m->key->hash;
        evc_sha2_op_many(&list, scratch);
    }
    return first;
}

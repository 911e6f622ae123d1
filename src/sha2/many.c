/* SPDX-License-Identifier: MIT */
/*
 * Many messages of SHA-2, side by side in lanes.
 *
 * Method: all lanes hash as many blocks as the lane has that is the first to need other ones: the
 *         end of its message with the padding, the outer hash of HMAC, or the next message. Lanes
 *         without a message hash the blocks of another one. When few messages are left, each is
 *         hashed by itself.
 * Source: FIPS 180-4 (2015) sections 5.1 and 6; RFC 2104 (1997) section 2.
 */
#include "sha2/many.h"

#include "common/clear.h"
#include "common/in_place.h"
#include "sha2/ops.h"

enum stage { IDLE, WHOLE_BLOCKS, PADDED_BLOCKS, OUTER_BLOCK };

struct lane {
    struct evc_sha2_item item;
    size_t n_blocks; /* that wait at work->at */
    enum stage stage;
};

struct work {
    uint8_t rows[(8 + 16) * EVC_SHA2_MOST_ROW_BYTES]; /* the first 8: words of the hash */
    uint8_t ends[2 * EVC_SHA2_MOST_LANES * 64];       /* two blocks of each lane */
    struct evc_sha2_state begun;                      /* before a message */
    struct evc_sha2_state alone;                      /* its words: of a message that is alone */
    struct lane lanes[EVC_SHA2_MOST_LANES];
    const uint8_t *at[EVC_SHA2_MOST_LANES];
    struct evc_sha2_list *list;
    const struct evc_sha2_lanes *slots;
    size_t block_bytes, digest_bytes;
};

static uint8_t *end_of(struct work *w, size_t i)
{
    return w->ends + 2 * w->block_bytes * i;
}

/* ---- Words of a lane ------------------------------------------------------------------------- */

static void set_words(struct work *w, size_t lane, const void *words)
{
    const size_t n_lanes = w->slots->n;

    if (w->block_bytes == 64)
        for (size_t i = 0; i < 8; i++)
            *evc_sha2_word32(w->rows, n_lanes, i, lane) = ((const uint32_t *)words)[i];
    else
        for (size_t i = 0; i < 8; i++)
            *evc_sha2_word64(w->rows, n_lanes, i, lane) = ((const uint64_t *)words)[i];
}

static void store_digest(struct work *w, size_t lane, uint8_t *digest)
{
    const size_t n_lanes = w->slots->n, n_bytes = w->digest_bytes;

    if (w->block_bytes == 64)
        for (size_t i = 0; i < n_bytes / 4; i++)
            evc_store32_be(digest + 4 * i, *evc_sha2_word32(w->rows, n_lanes, i, lane));
    else
        for (size_t i = 0; i < n_bytes / 8; i++)
            evc_store64_be(digest + 8 * i, *evc_sha2_word64(w->rows, n_lanes, i, lane));
}

/* ---- Stages of a lane ------------------------------------------------------------------------ */

/* A lane's end that n bytes are to be put into, of a message of len_bytes bytes in all: the padding
 * behind them. The length in bits has an eighth of a block. */
static void pad(struct work *w, size_t i, size_t n, uint64_t len_bytes)
{
    uint8_t *const end = end_of(w, i);
    const size_t n_blocks = n + 1 + w->block_bytes / 8 > w->block_bytes ? 2 : 1,
                 n_bytes = n_blocks * w->block_bytes;

    for (size_t at = 0; at < n_bytes; at += 64) /* a call of memset takes longer */
        memset(end + at, 0, 64);
    end[n] = 0x80;
    if (w->block_bytes == 128)
        end[n_bytes - 9] = (uint8_t)(len_bytes >> 61);
    evc_store64_be(end + n_bytes - 8, len_bytes << 3);
    w->at[i] = end;
    w->lanes[i].n_blocks = n_blocks;
}

static void begin_padded(struct work *w, size_t i)
{
    const struct evc_sha2_item *item = &w->lanes[i].item;
    const size_t n = item->len_bytes & (w->block_bytes - 1);

    pad(w, i, n, (item->inner ? w->block_bytes : 0) + (uint64_t)item->len_bytes);
    if (n)
        evc_copy_secret(end_of(w, i), item->in + item->len_bytes - n, n);
    w->lanes[i].stage = PADDED_BLOCKS;
}

static void begin_outer(struct work *w, size_t i)
{
    pad(w, i, w->digest_bytes, w->block_bytes + w->digest_bytes);
    store_digest(w, i, end_of(w, i));
    set_words(w, i, w->lanes[i].item.outer);
    w->lanes[i].stage = OUTER_BLOCK;
}

static void begin_message(struct work *w, size_t i)
{
    struct lane *const lane = &w->lanes[i];

    lane->stage = IDLE;
    if (!w->list->next(w->list, &lane->item))
        return;
    set_words(w, i, lane->item.inner ? lane->item.inner : &w->begun.h);
    w->at[i] = lane->item.in;
    lane->n_blocks = lane->item.len_bytes / w->block_bytes;
    lane->stage = WHOLE_BLOCKS;
    if (!lane->n_blocks)
        begin_padded(w, i);
}

/* The lane's blocks are hashed. */
static void go_on(struct work *w, size_t i)
{
    const struct evc_sha2_item *const item = &w->lanes[i].item;

    if (w->lanes[i].stage == WHOLE_BLOCKS) {
        begin_padded(w, i);
    } else if (w->lanes[i].stage == PADDED_BLOCKS && item->outer) {
        begin_outer(w, i);
    } else {
        if (item->out_bytes == w->digest_bytes) {
            store_digest(w, i, item->out);
        } else {
            store_digest(w, i, end_of(w, i));
            evc_copy_secret(item->out, end_of(w, i), item->out_bytes);
        }
        begin_message(w, i);
    }
}

/* ---- All lanes ------------------------------------------------------------------------------- */

static void hash_lanes(struct work *w)
{
    const uint8_t *any = NULL;
    size_t n = SIZE_MAX;

    for (size_t i = 0; i < w->slots->n; i++)
        if (w->lanes[i].stage != IDLE && w->lanes[i].n_blocks < n)
            n = w->lanes[i].n_blocks, any = w->at[i];
    for (size_t i = 0; i < w->slots->n; i++)
        if (w->lanes[i].stage == IDLE)
            w->at[i] = any;
    w->slots->blocks(w->rows, w->at, n);
    for (size_t i = 0; i < w->slots->n; i++) {
        if (w->lanes[i].stage == IDLE)
            continue;
        w->at[i] += n * w->block_bytes;
        w->lanes[i].n_blocks -= n;
        if (!w->lanes[i].n_blocks)
            go_on(w, i);
    }
}

/* The blocks of one lane by itself. */
static void hash_alone(struct work *w, size_t lane)
{
    const struct evc_sha2 *const kernel = w->list->kernel;
    const size_t n_lanes = w->slots->n, n = w->lanes[lane].n_blocks;

    for (size_t i = 0; i < 8; i++)
        if (w->block_bytes == 64)
            w->alone.h.words32[i] = *evc_sha2_word32(w->rows, n_lanes, i, lane);
        else
            w->alone.h.words64[i] = *evc_sha2_word64(w->rows, n_lanes, i, lane);
    if (w->block_bytes == 64)
        kernel->blocks256(w->alone.h.words32, w->at[lane], n);
    else
        kernel->blocks512(w->alone.h.words64, w->at[lane], n);
    set_words(w, lane, &w->alone.h);
    go_on(w, lane);
}

/* The messages of a list of few, each as a whole. */
EVC_OUT_OF_LINE void hash_one_by_one(struct evc_sha2_list *list)
{
    const size_t block_bytes = evc_sha2_block_bytes((enum evc_sha2_hash)list->hash),
                 digest_bytes = evc_sha2_digest_bytes((enum evc_sha2_hash)list->hash);
    struct evc_sha2_state s;
    struct evc_sha2_item item;

    while (list->next(list, &item)) {
        (void)evc_sha2_op_begin(&s, list->kernel, list->hash);
        if (item.inner) {
            evc_copy_secret((uint8_t *)&s.h, item.inner, sizeof s.h);
            s.bytes_low = block_bytes;
        }
        if (!item.outer && item.out_bytes == digest_bytes) {
            evc_sha2_op_all(&s, item.in, item.len_bytes, item.out);
            continue;
        }
        evc_sha2_op_all(&s, item.in, item.len_bytes, s.waiting);
        if (item.outer) {
            evc_copy_secret((uint8_t *)&s.h, item.outer, sizeof s.h);
            s.bytes_high = 0;
            s.bytes_low = block_bytes + digest_bytes;
            evc_sha2_op_end(&s, s.waiting);
        }
        evc_copy_secret(item.out, s.waiting, item.out_bytes);
    }
    evc_wipe(&s, sizeof s);
    evc_clear(&list->kernel->kernel);
}

EVC_OUT_OF_LINE void hash_in_lanes(struct evc_sha2_list *list, struct work *w)
{
    size_t n_active;

    w->list = list;
    w->slots = evc_sha2_lanes_of(list->kernel, list->hash);
    w->block_bytes = evc_sha2_block_bytes((enum evc_sha2_hash)list->hash);
    w->digest_bytes = evc_sha2_digest_bytes((enum evc_sha2_hash)list->hash);
    (void)evc_sha2_op_begin(&w->begun, list->kernel, list->hash);
    memset(w->rows, 0, sizeof w->rows); /* lanes without a message have words, too */
    for (size_t i = 0; i < w->slots->n; i++)
        begin_message(w, i);
    do {
        n_active = 0;
        for (size_t i = 0; i < w->slots->n; i++)
            n_active += w->lanes[i].stage != IDLE;
        if (n_active >= w->slots->fewest)
            hash_lanes(w);
        else
            for (size_t i = 0; i < w->slots->n; i++)
                while (w->lanes[i].stage != IDLE)
                    hash_alone(w, i);
    } while (n_active);
    evc_wipe(w, sizeof *w);
    evc_sha2_clear_lanes(list->kernel, evc_sha2_lanes_of(list->kernel, list->hash));
}

void evc_sha2_op_many(struct evc_sha2_list *list, void *scratch)
{
    const struct evc_sha2_lanes *const slots = evc_sha2_lanes_of(list->kernel, list->hash);

    if (!slots->n || list->n - list->i < slots->fewest)
        hash_one_by_one(list);
    else
        hash_in_lanes(list, evc_sha2_scratch_start(scratch));
}

/* ---- Public calls ---------------------------------------------------------------------------- */

size_t evc_sha2_many_scratch_bytes(const struct evc_sha2 *kernel)
{
    return kernel && evc_sha2_has_lanes(kernel) ? EVC_SHA2_SLACK + sizeof(struct work) : 0;
}

static int next_message(struct evc_sha2_list *list, struct evc_sha2_item *item)
{
    const struct evc_sha2_message *const messages = list->messages;

    while (list->i < list->n && messages[list->i].status != EVC_OK)
        list->i++;
    if (list->i == list->n)
        return 0;
    item->inner = item->outer = NULL;
    item->in = messages[list->i].in;
    item->len_bytes = messages[list->i].len_bytes;
    item->out = messages[list->i].digest;
    item->out_bytes = evc_sha2_digest_bytes((enum evc_sha2_hash)list->hash);
    list->i++;
    return 1;
}

static enum evc_status check_message(const struct evc_sha2_state *begun,
                                     const struct evc_sha2_message *m)
{
    if (evc_is_missing(m->in, m->len_bytes) || !m->digest)
        return EVC_ERR_PARAMETER;
    return evc_sha2_op_fits(begun, m->len_bytes) ? EVC_OK : EVC_ERR_LENGTH;
}

enum evc_status evc_sha2_many(const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
                              struct evc_sha2_message *messages, size_t n_messages, void *scratch,
                              size_t scratch_bytes)
{
    struct evc_sha2_list list = {next_message, messages, 0, n_messages, kernel, (unsigned)hash};
    struct evc_sha2_state begun;
    enum evc_status first = evc_sha2_op_begin(&begun, kernel, (unsigned)hash);

    if (first == EVC_OK && evc_is_missing(messages, n_messages))
        return EVC_ERR_PARAMETER;
    if (first == EVC_OK && evc_sha2_many_scratch_bytes(kernel) &&
        (!scratch || scratch_bytes < evc_sha2_many_scratch_bytes(kernel)))
        first = EVC_ERR_SCRATCH;
    if (first != EVC_OK) {
        for (size_t i = 0; messages && i < n_messages; i++)
            messages[i].status = first;
        return first;
    }
    for (size_t i = 0; i < n_messages; i++) {
        messages[i].status = check_message(&begun, &messages[i]);
        if (first == EVC_OK)
            first = messages[i].status;
    }
    evc_sha2_op_many(&list, scratch);
    return first;
}

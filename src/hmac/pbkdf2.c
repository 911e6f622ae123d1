/* SPDX-License-Identifier: MIT */
/*
 * PBKDF2 on HMAC.
 *
 * Method: from the second iteration on, both messages of HMAC are the block of the key and a
 *         digest. Their padding is the same, and stands in one block behind the digest for all
 *         iterations: each is two calls of the block function, and eight words that are stored and
 *         added.
 * Source: RFC 8018 (2017) section 5.2.
 */
#include "everycore/pbkdf2.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/in_place.h"
#include "hmac/ops.h"
#include "sha2/many.h"

/*
 * U_2 to U_n, added to U_1.
 * state: as evc_hmac_op_end leaves it: h has the words of U_1, and waiting has U_1 and its padding,
 *        which is that of all others. The sum replaces U_1 there.
 */
static void iterate(const struct evc_hmac_key *key, struct evc_sha2_state *state, uint32_t n)
{
    const struct evc_sha2 *const kernel = key->kernel;
    const int is_long = evc_sha2_op_hash(key->hash)->block_bytes == 128;
    uint8_t *const h = (uint8_t *)&state->h;
    uint64_t sum[sizeof state->h / 8];

    evc_copy_blocks((uint8_t *)sum, h, sizeof sum);
    while (--n) {
        for (int outer = 0; outer < 2; outer++) {
            evc_copy_blocks(h, (const uint8_t *)(outer ? &key->outer : &key->inner), sizeof sum);
            if (is_long)
                kernel->blocks512(state->h.words64, state->waiting, 1);
            else
                kernel->blocks256(state->h.words32, state->waiting, 1);
            evc_sha2_op_store(state, state->waiting);
        }
        for (size_t i = 0; i < sizeof sum; i += 16)
            evc_xor16((uint8_t *)sum + i, (uint8_t *)sum + i, h + i);
        EVC_KEEP_MEMORY(sum); /* clang kept it in registers, and spilled them */
    }
    evc_copy_blocks(h, (const uint8_t *)sum, sizeof sum);
    evc_sha2_op_store(state, state->waiting);
    evc_wipe(sum, sizeof sum);
}

/* U_1 of digest number i, as iterate takes it. salted: a state behind the salt. */
static void first_u(const struct evc_hmac_key *key, const struct evc_sha2_state *salted, uint32_t i,
                    struct evc_sha2_state *state)
{
    uint8_t number[4];

    evc_store32_be(number, i);
    evc_copy_secret((uint8_t *)state, (const uint8_t *)salted, sizeof *state);
    evc_sha2_op_take(state, number, sizeof number);
    evc_hmac_op_end(state, key);
}

/* The digests of out, each the sum of the tags of its own chain. */
static void write_output(const struct evc_hmac_key *key, const uint8_t *salt, size_t salt_bytes,
                         uint32_t n_iterations, uint8_t *out, size_t out_bytes)
{
    const size_t digest_bytes = evc_sha2_op_hash(key->hash)->digest_bytes;
    struct evc_sha2_state salted, state;

    evc_hmac_op_begin(&salted, key);
    evc_sha2_op_take(&salted, salt, salt_bytes);
    for (uint32_t i = 1; out_bytes; i++) {
        const size_t n = out_bytes < digest_bytes ? out_bytes : digest_bytes;
        first_u(key, &salted, i, &state);
        iterate(key, &state, n_iterations);
        evc_copy_secret(out, state.waiting, n);
        out += n, out_bytes -= n;
    }
    evc_wipe(&salted, sizeof salted);
    evc_wipe(&state, sizeof state);
    evc_clear(&key->kernel->kernel);
}

/* Digests are numbered by 32 bits. */
static int is_too_long(size_t digest_bytes, uint64_t out_bytes)
{
    return out_bytes > UINT32_MAX * (uint64_t)digest_bytes;
}

static enum evc_status check(const struct evc_hmac_key *password, const uint8_t *salt,
                             size_t salt_bytes, uint32_t n_iterations, const uint8_t *out,
                             size_t out_bytes)
{
    const enum evc_status status = evc_hmac_key_status(password);

    if (status != EVC_OK)
        return status;
    if (!n_iterations)
        return EVC_ERR_PARAMETER;
    if (!out_bytes || evc_hmac_is_too_long(salt_bytes) ||
        is_too_long(evc_sha2_op_hash(password->hash)->digest_bytes, out_bytes))
        return EVC_ERR_LENGTH;
    return evc_is_missing(salt, salt_bytes) || evc_is_missing(out, out_bytes) ? EVC_ERR_PARAMETER
                                                                              : EVC_OK;
}

enum evc_status evc_pbkdf2(const struct evc_hmac_key *password, const uint8_t *salt,
                           size_t salt_bytes, uint32_t n_iterations, uint8_t *out, size_t out_bytes)
{
    const enum evc_status status = check(password, salt, salt_bytes, n_iterations, out, out_bytes);

    if (status == EVC_OK)
        write_output(password, salt, salt_bytes, n_iterations, out, out_bytes);
    return status;
}

/* ---- Many ------------------------------------------------------------------------------------ */

/* Digests that are computed side by side, each in a lane of its own. */
struct work {
    uint8_t rows[EVC_SHA2_ROWS * EVC_SHA2_MOST_ROW_BYTES];
    struct evc_sha2_state salted, state;
    const struct evc_hmac_key *key; /* of the first one: all have its kernel and hash */
    struct {
        const struct evc_pbkdf2_job *job;
        size_t at, n; /* bytes in the output */
    } lanes[EVC_SHA2_MOST_LANES];
    size_t n_taken;
};

size_t evc_pbkdf2_many_scratch_bytes(const struct evc_sha2 *kernel)
{
    return kernel && evc_sha2_has_lanes(kernel) ? EVC_SHA2_SLACK + sizeof(struct work) : 0;
}

/* Eight words into a lane, and a digest out of it. */
static void set_lane(struct work *w, size_t n_lanes, size_t first_row, size_t lane,
                     const union evc_hmac_words *words)
{
    for (size_t i = 0; i < 8; i++)
        if (evc_sha2_block_bytes((enum evc_sha2_hash)w->key->hash) == 64)
            *evc_sha2_word32(w->rows, n_lanes, first_row + i, lane) = words->words32[i];
        else
            *evc_sha2_word64(w->rows, n_lanes, first_row + i, lane) = words->words64[i];
}

static void set_block(struct work *w, size_t n_lanes, size_t lane)
{
    for (size_t i = 0; i < 16; i++)
        if (evc_sha2_block_bytes((enum evc_sha2_hash)w->key->hash) == 64)
            *evc_sha2_word32(w->rows, n_lanes, EVC_SHA2_ROW_BLOCK + i, lane) =
                evc_load32_be(w->state.waiting + 4 * i);
        else
            *evc_sha2_word64(w->rows, n_lanes, EVC_SHA2_ROW_BLOCK + i, lane) =
                evc_load64_be(w->state.waiting + 8 * i);
}

static void get_sum(struct work *w, size_t n_lanes, size_t lane, uint8_t *digest)
{
    for (size_t i = 0; i < 8; i++)
        if (evc_sha2_block_bytes((enum evc_sha2_hash)w->key->hash) == 64)
            evc_store32_be(digest + 4 * i,
                           *evc_sha2_word32(w->rows, n_lanes, EVC_SHA2_ROW_SUM + i, lane));
        else
            evc_store64_be(digest + 8 * i,
                           *evc_sha2_word64(w->rows, n_lanes, EVC_SHA2_ROW_SUM + i, lane));
}

/* All digests that have been taken. Few of them are computed one after the other. */
static void finish_taken(struct work *w, uint32_t n_iterations)
{
    const enum evc_sha2_hash hash = (enum evc_sha2_hash)w->key->hash;
    const struct evc_sha2_lanes *const slots = evc_sha2_lanes_of(w->key->kernel, w->key->hash);
    const size_t digest_bytes = evc_sha2_digest_bytes(hash),
                 n_words = digest_bytes / (evc_sha2_block_bytes(hash) / 16);
    const int is_few = w->n_taken < slots->fewest || n_iterations == 1;

    for (size_t i = 0; i < w->n_taken; i++) {
        const struct evc_pbkdf2_job *const job = w->lanes[i].job;
        evc_hmac_op_begin(&w->salted, job->password);
        evc_sha2_op_take(&w->salted, job->salt, job->salt_bytes);
        first_u(job->password, &w->salted, (uint32_t)(w->lanes[i].at / digest_bytes + 1),
                &w->state);
        if (is_few) {
            iterate(job->password, &w->state, n_iterations);
            evc_copy_secret(job->out + w->lanes[i].at, w->state.waiting, w->lanes[i].n);
            continue;
        }
        set_lane(w, slots->n, EVC_SHA2_ROW_INNER, i, &job->password->inner);
        set_lane(w, slots->n, EVC_SHA2_ROW_OUTER, i, &job->password->outer);
        set_block(w, slots->n, i);
        set_lane(w, slots->n, EVC_SHA2_ROW_SUM, i, (const union evc_hmac_words *)&w->state.h);
    }
    if (!is_few) {
        slots->iterate(w->rows, n_words, n_iterations - 1);
        for (size_t i = 0; i < w->n_taken; i++) {
            get_sum(w, slots->n, i, w->state.waiting);
            evc_copy_secret(w->lanes[i].job->out + w->lanes[i].at, w->state.waiting, w->lanes[i].n);
        }
    }
    w->n_taken = 0;
}

/* The digests of this output, among others. */
static void take_job(struct work *w, const struct evc_pbkdf2_job *job, uint32_t n_iterations)
{
    const struct evc_hmac_key *const key = job->password;
    const size_t digest_bytes = evc_sha2_op_hash(key->hash)->digest_bytes;

    if (w->n_taken && (key->kernel != w->key->kernel || key->hash != w->key->hash)) {
        finish_taken(w, n_iterations);
        evc_sha2_clear_lanes(w->key->kernel, evc_sha2_lanes_of(w->key->kernel, w->key->hash));
    }
    for (size_t at = 0, n; at < job->out_bytes; at += n) {
        const size_t left = job->out_bytes - at;
        n = left < digest_bytes ? left : digest_bytes;
        if (!w->n_taken)
            w->key = key;
        w->lanes[w->n_taken].job = job;
        w->lanes[w->n_taken].at = at;
        w->lanes[w->n_taken].n = n;
        if (++w->n_taken == evc_sha2_lanes_of(key->kernel, key->hash)->n)
            finish_taken(w, n_iterations);
    }
}

static enum evc_status check_job(const struct evc_pbkdf2_job *job, uint32_t n_iterations,
                                 int has_scratch, size_t scratch_bytes)
{
    const enum evc_status status =
        check(job->password, job->salt, job->salt_bytes, n_iterations, job->out, job->out_bytes);

    if (status != EVC_OK)
        return status;
    if (job->salt_bytes && evc_overlap(job->salt, job->salt_bytes, job->out, job->out_bytes))
        return EVC_ERR_OVERLAP;
    return scratch_bytes < evc_pbkdf2_many_scratch_bytes(job->password->kernel) ||
                   (!has_scratch && evc_sha2_has_lanes(job->password->kernel))
               ? EVC_ERR_SCRATCH
               : EVC_OK;
}

enum evc_status evc_pbkdf2_many(struct evc_pbkdf2_job *jobs, size_t n_jobs, uint32_t n_iterations,
                                void *scratch, size_t scratch_bytes)
{
    struct work *const w = scratch ? evc_sha2_scratch_start(scratch) : NULL;
    const struct evc_hmac_key *last = NULL;
    enum evc_status first = EVC_OK;

    if (evc_is_missing(jobs, n_jobs))
        return EVC_ERR_PARAMETER;
    for (size_t i = 0; i < n_jobs; i++) {
        jobs[i].status = check_job(&jobs[i], n_iterations, scratch != NULL, scratch_bytes);
        if (first == EVC_OK)
            first = jobs[i].status;
    }
    for (size_t i = 0; i < n_jobs; i++) {
        const struct evc_pbkdf2_job *const job = &jobs[i];
        if (job->status != EVC_OK)
            continue;
        if (!evc_sha2_lanes_of(job->password->kernel, job->password->hash)->n) {
            write_output(job->password, job->salt, job->salt_bytes, n_iterations, job->out,
                         job->out_bytes);
            continue;
        }
        if (!last)
            evc_wipe(w, sizeof *w);
        last = job->password;
        take_job(w, job, n_iterations);
    }
    if (last && w->n_taken)
        finish_taken(w, n_iterations);
    if (scratch)
        evc_wipe(scratch, scratch_bytes);
    if (last)
        evc_sha2_clear_lanes(last->kernel, evc_sha2_lanes_of(last->kernel, last->hash));
    return first;
}

/* SPDX-License-Identifier: MIT */
/*
 * Keys of RSA: generation.
 *
 * Source: FIPS 186-5 (2023), appendix A.1.1 (e, d) and A.1.3 (probable primes; p and q
 *         differ in their first 100 bits). d is the inverse of e modulo the least common
 *         multiple of p - 1 and q - 1.
 *
 * An inverse of e modulo m, where m may be even: with s = -1/m modulo e, it is (1 + m s) / e.
 */
#include "common/clear.h"
#include "common/ct.h"
#include "rsa/parts.h"
#include "rsa/words.h"

#define LEAST_KEY_BITS 1024u
#define E_WORDS (EVC_RSA_MOST_E_BYTES / 4)
#define DIFFERENT_BITS 100u /* of p and q, at least, from the first one on */

/* ---- Memory ---------------------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t evc_rsa_numbers_bytes(size_t n_bits)
{
    if (n_bits < LEAST_KEY_BITS || n_bits > EVC_BN_MAX_BITS || n_bits % 16 != 0)
        return 0;
    return 2 * (n_bits / 8) + 5 * (n_bits / 16) + EVC_RSA_MOST_E_BYTES;
}

/* Words: p and q have `half` of them, products twice as many. */
struct work {
    size_t p_bytes, half, e_words;
    uint32_t *p, *q, *p_less, *q_less, *e;
    uint32_t *order, *product; /* 2 half + E_WORDS */
    uint32_t *divisor, *remainder, *room;
    uint8_t *bytes; /* 2 p_bytes bytes, or EVC_RSA_MOST_E_BYTES */
    void *scratch;  /* of gcd and inverse */
    size_t scratch_bytes;
};

static size_t words_bytes(size_t p_bytes)
{
    const size_t half = EVC_BN_ROUND16(4 * evc_words_for(p_bytes));

    return 7 * half + EVC_RSA_MOST_E_BYTES + 2 * (2 * half + EVC_RSA_MOST_E_BYTES) + 2 * half;
}

size_t evc_rsa_complete_bytes(size_t p_bytes)
{
    return 15 + words_bytes(p_bytes) + evc_bn_gcd_scratch_bytes(p_bytes);
}

size_t evc_rsa_generate_scratch_bytes(const struct evc_bn *kernel, size_t n_bits)
{
    const size_t p_bytes = n_bits / 16;

    if (!kernel || !evc_rsa_numbers_bytes(n_bits))
        return 0;
    return larger(evc_prime_search_scratch_bytes(kernel, 8 * p_bytes),
                  evc_rsa_complete_bytes(p_bytes));
}

static void place(struct work *w, size_t p_bytes, void *scratch)
{
    uint8_t *at = evc_rsa_scratch_start(scratch);

    w->p_bytes = p_bytes;
    w->half = evc_words_for(p_bytes);
    w->p = evc_rsa_cut(&at, 4 * w->half);
    w->q = evc_rsa_cut(&at, 4 * w->half);
    w->p_less = evc_rsa_cut(&at, 4 * w->half);
    w->q_less = evc_rsa_cut(&at, 4 * w->half);
    w->divisor = evc_rsa_cut(&at, 4 * w->half);
    w->remainder = evc_rsa_cut(&at, 4 * w->half);
    w->room = evc_rsa_cut(&at, 4 * w->half);
    w->e = evc_rsa_cut(&at, EVC_RSA_MOST_E_BYTES);
    w->order = evc_rsa_cut(&at, 8 * w->half + EVC_RSA_MOST_E_BYTES);
    w->product = evc_rsa_cut(&at, 8 * w->half + EVC_RSA_MOST_E_BYTES);
    w->bytes = evc_rsa_cut(&at, 8 * w->half);
    w->scratch = at;
    w->scratch_bytes = evc_bn_gcd_scratch_bytes(p_bytes);
}

/* ---- Numbers of a key ------------------------------------------------------------------------ */

/* out = the inverse of e modulo m, of n_words words; out_bytes: of m at most. product:
 * n_words + E_WORDS words. */
static enum evc_status invert_e(struct work *w, const uint32_t *m, size_t n_words, uint8_t *out,
                                size_t out_bytes)
{
    const size_t e_bytes = 4 * w->e_words;
    uint8_t *const e = w->bytes, *const r = w->bytes + e_bytes;
    uint32_t *const s = w->divisor;
    enum evc_status status;

    evc_words_divide(NULL, w->remainder, m, n_words, w->e, w->e_words, w->room);
    evc_words_store(e, e_bytes, w->e);
    evc_words_store(r, e_bytes, w->remainder);
    status = evc_bn_inverse(r, e, e_bytes, r, w->scratch, w->scratch_bytes);
    if (status != EVC_OK)
        return status;
    evc_words_load(s, w->e_words, r, e_bytes);
    evc_words_sub(s, w->e, s, w->e_words);
    evc_words_mul(w->product, m, n_words, s, w->e_words, 0);
    evc_words_add_small(w->product, n_words + w->e_words, 1);
    evc_words_divide(w->product, w->remainder, w->product, n_words + w->e_words, w->e, w->e_words,
                     w->room);
    evc_words_store(out, out_bytes, w->product);
    return EVC_OK;
}

/* order = the least common multiple of p - 1 and q - 1. Both are 2 modulo 4, so
 * that half of each is odd. */
static enum evc_status make_order(struct work *w)
{
    uint8_t *const a = w->bytes, *const b = w->bytes + w->p_bytes;
    enum evc_status status;

    evc_words_halve(w->remainder, w->p_less, w->half);
    evc_words_store(a, w->p_bytes, w->remainder);
    evc_words_halve(w->remainder, w->q_less, w->half);
    evc_words_store(b, w->p_bytes, w->remainder);
    status = evc_bn_gcd(a, w->p_bytes, b, w->p_bytes, a, w->scratch, w->scratch_bytes);
    if (status != EVC_OK)
        return status;
    evc_words_load(w->divisor, w->half, a, w->p_bytes);
    evc_words_mul(w->order, w->p_less, w->half, w->remainder, w->half, 0);
    evc_words_divide(w->order, w->remainder, w->order, 2 * w->half, w->divisor, w->half, w->room);
    return EVC_OK;
}

/* Exchanges p and q, so that p is the larger one. */
static void order_primes(struct work *w)
{
    const uint32_t is_below = evc_words_sub(w->room, w->p, w->q, w->half);

    evc_words_choose(w->remainder, is_below, w->q, w->p, w->half);
    evc_words_choose(w->q, is_below, w->p, w->q, w->half);
    evc_words_choose(w->p, 0, w->p, w->remainder, w->half);
}

/* All ones if |p - q| > 2^(bits of p - 100). p is above q. */
static uint32_t are_far_apart(struct work *w)
{
    const size_t bit = 8 * w->p_bytes - DIFFERENT_BITS;
    uint32_t above;

    (void)evc_words_sub(w->room, w->p, w->q, w->half);
    above = w->room[bit / 32] >> bit % 32;
    for (size_t i = bit / 32 + 1; i < w->half; i++)
        above = evc_barrier32(above | w->room[i]);
    return evc_mask_nonzero32(above);
}

/* All ones if d > 2^p_bits. */
static uint32_t is_long(const uint8_t *d, size_t p_bytes)
{
    return ~evc_number_is(d, p_bytes, 0);
}

struct evc_rsa_places evc_rsa_places_in(uint8_t *memory, size_t p_bytes)
{
    struct evc_rsa_places at;

    at.n = memory;
    at.d = at.n + 2 * p_bytes;
    at.p = at.d + 2 * p_bytes;
    at.q = at.p + p_bytes;
    at.dp = at.q + p_bytes;
    at.dq = at.dp + p_bytes;
    at.qinv = at.dq + p_bytes;
    at.e = at.qinv + p_bytes;
    return at;
}

EVC_OUT_OF_LINE enum evc_status make_numbers(struct work *w, const struct evc_rsa_places *at)
{
    enum evc_status status = EVC_OK;
    uint32_t good;

    evc_words_load(w->p, w->half, at->p, w->p_bytes);
    evc_words_load(w->q, w->half, at->q, w->p_bytes);
    order_primes(w);
    good = are_far_apart(w);
    evc_public(&good, sizeof good); /* primes that are refused are not used */
    if (!good)
        return EVC_ERR_COMPOSITE;
    evc_words_store(at->p, w->p_bytes, w->p);
    evc_words_store(at->q, w->p_bytes, w->q);
    evc_words_mul(w->product, w->p, w->half, w->q, w->half, 0);
    evc_words_store(at->n, 2 * w->p_bytes, w->product);
    evc_words_choose(w->p_less, 0, w->p, w->p, w->half);
    evc_words_choose(w->q_less, 0, w->q, w->q, w->half);
    w->p_less[0] ^= 1;
    w->q_less[0] ^= 1;
    status = make_order(w);
    if (status == EVC_OK)
        status = invert_e(w, w->order, 2 * w->half, at->d, 2 * w->p_bytes);
    if (status == EVC_OK)
        status = invert_e(w, w->p_less, w->half, at->dp, w->p_bytes);
    if (status == EVC_OK)
        status = invert_e(w, w->q_less, w->half, at->dq, w->p_bytes);
    if (status == EVC_OK)
        status = evc_bn_inverse(at->q, at->p, w->p_bytes, at->qinv, w->scratch, w->scratch_bytes);
    if (status != EVC_OK)
        return status;
    good = is_long(at->d, w->p_bytes);
    evc_public(&good, sizeof good); /* a key that is refused is not used */
    return good ? EVC_OK : EVC_ERR_COMPOSITE;
}

enum evc_status evc_rsa_complete(const struct evc_rsa_places *at, size_t p_bytes, size_t e_bytes,
                                 void *scratch)
{
    struct work w;
    enum evc_status status;

    place(&w, p_bytes, scratch);
    w.e_words = evc_words_for(e_bytes);
    evc_words_load(w.e, w.e_words, at->e, e_bytes);
    status = make_numbers(&w, at);
    evc_wipe(scratch, evc_rsa_complete_bytes(p_bytes));
    return status;
}

/* ---- The search ------------------------------------------------------------------------------ */

#define MOST_PAIRS 8 /* of primes that make no key: then the randomness repeats itself */

static enum evc_status search_key(const struct evc_prime_search *search,
                                  const struct evc_rsa_places *at, size_t p_bytes, size_t e_bytes,
                                  void *scratch, size_t scratch_bytes)
{
    for (int i = 0; i < MOST_PAIRS; i++) {
        enum evc_status status =
            evc_prime_find(search, 8 * p_bytes, at->e, e_bytes, at->p, scratch, scratch_bytes);

        if (status == EVC_OK)
            status =
                evc_prime_find(search, 8 * p_bytes, at->e, e_bytes, at->q, scratch, scratch_bytes);
        if (status != EVC_OK)
            return status;
        status = evc_rsa_complete(at, p_bytes, e_bytes, scratch);
        evc_clear(&search->kernel->kernel);
        if (status != EVC_ERR_COMPOSITE)
            return status;
    }
    return EVC_ERR_RANDOM;
}

/* 65537 or more, odd, at most 32 bytes without its leading zeros. */
static enum evc_status check_e(const uint8_t *e, size_t e_bytes)
{
    if (e_bytes == 0 || e_bytes > EVC_RSA_MOST_E_BYTES || !evc_number_bit(e, e_bytes, 0))
        return EVC_ERR_PARAMETER;
    return e_bytes < 3 ? EVC_ERR_PARAMETER : EVC_OK;
}

enum evc_status evc_rsa_generate(const struct evc_prime_search *search, size_t n_bits,
                                 const uint8_t *e, size_t e_bytes, uint8_t *memory,
                                 size_t memory_bytes, struct evc_rsa_numbers *numbers,
                                 void *scratch, size_t scratch_bytes)
{
    const size_t needed_bytes = evc_rsa_numbers_bytes(n_bits), p_bytes = n_bits / 16;
    struct evc_rsa_places at;
    enum evc_status status;

    *numbers = (struct evc_rsa_numbers){0};
    evc_wipe(memory, memory_bytes);
    if (!needed_bytes)
        return EVC_ERR_KEY_SIZE;
    if (memory_bytes < needed_bytes)
        return EVC_ERR_KERNEL;
    if (!search || (!e && e_bytes))
        return EVC_ERR_PARAMETER;
    evc_number_skip_zeros(&e, &e_bytes);
    status = check_e(e, e_bytes);
    if (status == EVC_OK && !(search->kernel && search->words))
        status = EVC_ERR_KERNEL;
    if (status == EVC_OK && scratch_bytes < evc_rsa_generate_scratch_bytes(search->kernel, n_bits))
        status = EVC_ERR_SCRATCH;
    if (status == EVC_OK) {
        at = evc_rsa_places_in(memory, p_bytes);
        memcpy(at.e, e, e_bytes);
        status = search_key(search, &at, p_bytes, e_bytes, scratch,
                            evc_rsa_generate_scratch_bytes(search->kernel, n_bits));
    }
    if (status != EVC_OK) {
        evc_wipe(memory, needed_bytes);
        return status;
    }
    *numbers = (struct evc_rsa_numbers){.n = at.n,
                                        .d = at.d,
                                        .e = at.e,
                                        .p = at.p,
                                        .q = at.q,
                                        .dp = at.dp,
                                        .dq = at.dq,
                                        .qinv = at.qinv,
                                        .n_bytes = (uint32_t)(2 * p_bytes),
                                        .e_bytes = (uint32_t)e_bytes,
                                        .p_bytes = (uint32_t)p_bytes};
    return EVC_OK;
}

/* SPDX-License-Identifier: MIT */
/*
 * Safe primes p = 2q + 1, which are public: one sieve strikes q where a small prime divides q or p.
 *
 * Source: Wiener: Safe prime generation with a combined sieve, IACR ePrint 2003/186. That
 *         2^q = 1 modulo p proves p: Pocklington: The determination of the prime or composite
 *         nature of large numbers by Fermat's theorem, Proceedings of the Cambridge
 *         Philosophical Society 18 (1914).
 */
#include "common/clear.h"
#include "common/draw.h"
#include "prime/search.h"
#include "prime/side.h"

/* ---- Sizes ----------------------------------------------------------------------------------- */

uint32_t evc_prime_safe_bound(size_t p_bits)
{
    if (p_bits <= 320)
        return p_bits <= 192 ? 1u << 13 : 1u << 16;
    return p_bits <= 640    ? 1u << 18
           : p_bits <= 1280 ? 1u << 21
           : p_bits < 2048  ? 1u << 23
                            : 1u << 24;
}

/* Candidates q0 + 12k of a window: about four times as many as one safe prime needs,
 * up to 2^20 (128 KiB). */
static uint32_t window_for(size_t p_bits)
{
    uint32_t window = 4096;

    while (window < p_bits * p_bits / 4 && window < 1u << 20)
        window *= 2;
    return window;
}

struct find {
    const struct evc_prime_search *search;
    struct evc_prime_work w;
    struct evc_prime_remainders *remainders;
    uint8_t *struck; /* a bit for each candidate */
    uint8_t *start, *q, *p;
    void *test;
    size_t n_bytes, test_bytes;
    struct evc_prime_side side; /* numbers q */
    uint32_t window;
    struct evc_prime_progress progress;
};

size_t evc_prime_safe_scratch_bytes(const struct evc_bn *kernel, size_t p_bits)
{
    if (!kernel || p_bits < EVC_BN_MIN_BITS || p_bits > EVC_BN_MAX_BITS || p_bits % 8 != 0)
        return 0;
    return 15 + EVC_BN_ROUND16(sizeof(struct evc_prime_remainders)) + window_for(p_bits) / 8 +
           3 * (p_bits / 8) + evc_prime_test_scratch_bytes(kernel, p_bits) +
           evc_prime_work_bytes(kernel, p_bits / 8) + evc_prime_side_bytes(kernel, p_bits / 8);
}

static void place(struct find *f, size_t p_bits, void *scratch)
{
    uint8_t *at = (uint8_t *)scratch + ((uintptr_t)0 - (uintptr_t)scratch) % 16;

    f->n_bytes = p_bits / 8;
    f->window = window_for(p_bits);
    f->test_bytes = evc_prime_test_scratch_bytes(f->search->kernel, p_bits);
    f->remainders = (void *)at;
    f->struck = at += EVC_BN_ROUND16(sizeof *f->remainders);
    f->start = at += f->window / 8;
    f->q = at += f->n_bytes;
    f->p = at += f->n_bytes;
    f->test = at += f->n_bytes;
    at = evc_prime_work_place(&f->w, f->search->kernel, f->n_bytes, at + f->test_bytes);
    evc_prime_side_place(&f->side, f->search->kernel, f->n_bytes, at);
}

/* ---- The sieve ------------------------------------------------------------------------------- */

/* The least k with 12 k = x modulo r, for a prime r above 3 and x < r. In x + r t, the t below 12
 * makes 12 a divisor: r is its own inverse modulo 12. */
static uint32_t twelfth(uint32_t x, uint32_t r)
{
    const uint32_t t = (12 - x % 12) * (r % 12) % 12;

    return (x + r * t) / 12;
}

static void strike(struct find *f, uint32_t first, uint32_t step)
{
    for (uint32_t k = first; k < f->window; k += step)
        f->struck[k / 8] |= (uint8_t)(1u << k % 8);
}

static void sieve(struct find *f)
{
    struct evc_prime_remainders *const r = f->remainders;
    const uint32_t bound = evc_prime_safe_bound(8 * f->n_bytes);

    memset(f->struck, 0, f->window / 8);
    evc_prime_remainders_begin(r, f->start, f->n_bytes);
    do {
        evc_prime_remainders_next(r, f->search->words);
        for (size_t i = 0; i < EVC_REMAINDERS; i++) {
            const uint32_t prime = r->prime[i], rest = r->remainder[i];

            if (prime == 3)
                continue;
            /* q = 0 */
            strike(f, twelfth((prime - rest) % prime, prime), prime);
            /* 2q + 1 = 0 */
            strike(f, twelfth(((prime - 1) / 2 + prime - rest) % prime, prime), prime);
        }
    } while (r->prime[EVC_REMAINDERS - 1] < bound);
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* q0 = 11 modulo 12, of p_bits - 1 bits of which the two highest are 1. */
static enum evc_status draw_start(struct find *f)
{
    const enum evc_status status = evc_draw(&f->search->random, f->start, f->n_bytes);

    f->start[0] = (uint8_t)((f->start[0] & 0x1f) | 0x60);
    evc_number_add_small(f->start, f->n_bytes,
                         11 - evc_number_modulo(f->start, f->n_bytes, 12));
    return status;
}

static void set_p(struct find *f)
{
    uint32_t carry = 1;

    for (size_t i = f->n_bytes; i-- > 0;) {
        carry |= (uint32_t)f->q[i] << 1;
        f->p[i] = (uint8_t)carry;
        carry >>= 8;
    }
}

/* The tests of p, and the last ones of q, after q has passed to base 2. EVC_ERR_COMPOSITE: the next
 * candidate may be tried. */
static enum evc_status test_further(struct find *f)
{
    const struct evc_prime_search *search = f->search;
    enum evc_status status;
    uint32_t passes;

    set_p(f);
    status = evc_prime_work_set(&f->w, f->p);
    if (status != EVC_OK)
        return status;
    passes = evc_prime_passes_two_public(&f->w);
    f->progress.seconds++;
    status = evc_prime_report(search, &f->progress);
    if (status != EVC_OK || !passes)
        return status != EVC_OK ? status : EVC_ERR_COMPOSITE;

    status = evc_prime_test_public(search->kernel, f->q, f->n_bytes, f->test, f->test_bytes);
    if (status == EVC_OK)
        status = evc_prime_work_set(&f->w, f->q);
    for (unsigned i = evc_prime_rounds(8 * f->n_bytes); status == EVC_OK && i > 0; i--) {
        status = evc_prime_random_bases(&f->w, 1, &search->random);
        f->progress.rounds++;
        if (status == EVC_OK)
            status = evc_prime_report(search, &f->progress);
    }
    return status;
}

/* EVC_ERR_COMPOSITE: the next candidate may be tried. */
static enum evc_status test_candidate(struct find *f)
{
    enum evc_status status = evc_prime_work_set(&f->w, f->q);
    uint32_t passes;

    if (status != EVC_OK)
        return status;
    passes = evc_prime_passes_two_public(&f->w);
    f->progress.tests++;
    status = evc_prime_report(f->search, &f->progress);
    if (status != EVC_OK || !passes)
        return status != EVC_OK ? status : EVC_ERR_COMPOSITE;
    return test_further(f);
}

/* Tests those that were kept, in their order. */
static enum evc_status test_side(struct find *f)
{
    struct evc_prime_side *const s = &f->side;
    const size_t n = s->n;
    enum evc_status status = evc_prime_side_test(s);

    f->progress.tests += (uint32_t)n;
    if (status == EVC_OK)
        status = evc_prime_report(f->search, &f->progress);
    for (size_t i = 0; status == EVC_OK && i < n; i++) {
        if (!s->passed[i])
            continue;
        memcpy(f->q, evc_prime_side_number(s, i), f->n_bytes);
        status = test_further(f);
        if (status != EVC_ERR_COMPOSITE)
            return status;
        status = EVC_OK;
    }
    return status == EVC_OK ? EVC_ERR_COMPOSITE : status;
}

/* EVC_ERR_COMPOSITE: q is composite, or waits for its test. */
static enum evc_status test_or_keep(struct find *f)
{
    enum evc_status status;

    if (f->side.most == 1)
        return test_candidate(f);
    status = evc_prime_side_add(&f->side, f->q);
    if (status != EVC_OK)
        return status;
    return f->side.n < f->side.most ? EVC_ERR_COMPOSITE : test_side(f);
}

/* EVC_ERR_COMPOSITE: no safe prime is in this window. */
static enum evc_status search_window(struct find *f)
{
    enum evc_status status = draw_start(f);

    if (status != EVC_OK)
        return status;
    sieve(f);
    f->progress.sieves++;
    for (uint32_t k = 0; k < f->window; k++) {
        if (f->struck[k / 8] >> k % 8 & 1)
            continue;
        memcpy(f->q, f->start, f->n_bytes);
        evc_number_add_small(f->q, f->n_bytes, 12 * k);
        if (f->q[0] >= 0x80) /* p would be beyond 2^p_bits */
            break;
        status = test_or_keep(f);
        if (status != EVC_ERR_COMPOSITE)
            return status;
    }
    return f->side.n ? test_side(f) : EVC_ERR_COMPOSITE;
}

/* A window of 2^20 candidates has a safe prime of 8192 bits with a chance of 0.2: so many windows
 * are all without one once in 10^24 times. */
#define MOST_WINDOWS 256

EVC_OUT_OF_LINE enum evc_status search_windows(struct find *f)
{
    for (int i = 0; i < MOST_WINDOWS; i++) {
        const enum evc_status status = search_window(f);

        if (status != EVC_ERR_COMPOSITE)
            return status;
    }
    return EVC_ERR_RANDOM;
}

enum evc_status evc_prime_find_safe(const struct evc_prime_search *search, size_t p_bits,
                                    uint8_t *p, void *scratch, size_t scratch_bytes)
{
    struct find f = {.search = search};
    enum evc_status status =
        evc_prime_check_search(search, p_bits, scratch_bytes, evc_prime_safe_scratch_bytes);

    if (status == EVC_ERR_KEY_SIZE)
        return status;
    memset(p, 0, p_bits / 8);
    if (status != EVC_OK)
        return status;
    place(&f, p_bits, scratch);
    status = search_windows(&f);
    if (status == EVC_OK)
        memcpy(p, f.p, f.n_bytes);
    evc_wipe(scratch, evc_prime_safe_scratch_bytes(search->kernel, p_bits));
    evc_clear(&search->kernel->kernel);
    return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * Secret primes: a sieve by masks, of a length that follows from the bits
 * alone, over a secret start.
 *
 * A window has candidates p0 + 4k for k below 8 p_bits. Primes are 2 in ln(p) of them, so that a
 * window holds 23 on average and none once in 10^10 times. Candidates are tested in random order:
 * one behind a wide gap is no likelier. A kernel with lanes tests some side by side, and the first
 * of them that passes is taken.
 */
#include "common/clear.h"
#include "common/draw.h"
#include "prime/search.h"
#include "prime/side.h"

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* Small primes of the sieve: multiples of EVC_REMAINDERS. The last one, and the next after it. */
struct depth {
    uint32_t n_primes, bound;
};

static struct depth depth_for(size_t p_bits)
{
    static const struct depth depths[] = {{160, 953}, {560, 4079}, {1024, 8171}};

    return depths[p_bits < 384 ? 0 : p_bits < 1536 ? 1 : 2];
}

static size_t window_for(size_t p_bits)
{
    return 8 * p_bits;
}

/* The memory of a search. */
struct find {
    const struct evc_prime_search *search;
    struct evc_prime_work w;
    struct evc_prime_side side;
    struct evc_prime_remainders *remainders;
    uint32_t *left; /* of each candidate: SURVIVES while no small prime divides it */
    uint8_t *start, *candidate, *gcd_out;
    void *gcd;
    size_t window, gcd_bytes;
    const uint8_t *e;
    size_t e_bytes;
    struct evc_prime_progress progress;
};

#define MOST_E_BYTES 32u

static size_t gcd_length(size_t p_bits)
{
    return p_bits / 8 > MOST_E_BYTES ? p_bits / 8 : MOST_E_BYTES;
}

size_t evc_prime_search_scratch_bytes(const struct evc_bn *kernel, size_t p_bits)
{
    if (!kernel || p_bits < EVC_BN_MIN_BITS || p_bits > EVC_BN_MAX_BITS || p_bits % 8 != 0)
        return 0;
    return 15 + EVC_BN_ROUND16(sizeof(struct evc_prime_remainders)) +
           window_for(p_bits) * sizeof(uint32_t) + 2 * (p_bits / 8) + MOST_E_BYTES +
           evc_bn_gcd_scratch_bytes(gcd_length(p_bits)) + evc_prime_work_bytes(kernel, p_bits / 8) +
           evc_prime_side_bytes(kernel, p_bits / 8);
}

uint32_t evc_prime_sieve_bound(size_t p_bits, int is_safe)
{
    return is_safe ? evc_prime_safe_bound(p_bits) : depth_for(p_bits).bound;
}

static void place(struct find *f, size_t p_bits, void *scratch)
{
    uint8_t *at = (uint8_t *)scratch + ((uintptr_t)0 - (uintptr_t)scratch) % 16;

    f->window = window_for(p_bits);
    f->gcd_bytes = evc_bn_gcd_scratch_bytes(gcd_length(p_bits));
    f->remainders = (void *)at;
    f->left = (void *)(at += EVC_BN_ROUND16(sizeof *f->remainders));
    f->start = at += f->window * sizeof(uint32_t);
    f->candidate = at += p_bits / 8;
    f->gcd_out = at += p_bits / 8;
    f->gcd = at += MOST_E_BYTES;
    at = evc_prime_work_place(&f->w, f->search->kernel, p_bits / 8, at + f->gcd_bytes);
    evc_prime_side_place(&f->side, f->search->kernel, p_bits / 8, at);
}

/* ---- The sieve ------------------------------------------------------------------------------- */

/*
 * Four remainders stand in the lanes of a word. From one candidate to the next each grows by
 * 4 modulo its prime. Primes are below 2^14, so that no lane overflows. The candidate is
 * struck where a lane is 0.
 */
#define LANES 4
#define WORDS (EVC_REMAINDERS / LANES)
#define EACH_LANE(x) ((uint64_t)(x) * UINT64_C(0x0001000100010001))
#define SURVIVES UINT32_C(0x80008000)

struct lanes {
    uint64_t rest[WORDS], prime[WORDS], step[WORDS];
};

static void set_lane(struct lanes *l, size_t i, uint32_t rest, uint32_t prime)
{
    const unsigned shift = (unsigned)(16 * (i % LANES));

    l->rest[i / LANES] |= evc_scalar64((uint64_t)rest) << shift;
    l->prime[i / LANES] |= (uint64_t)prime << shift;
    l->step[i / LANES] |= (uint64_t)(4 % prime) << shift;
}

static void strike(uint32_t *left, size_t n, struct lanes *l)
{
    const uint64_t top = EACH_LANE(0x8000), below_top = EACH_LANE(0x7fff);

    for (size_t k = 0; k < n; k++) {
        uint64_t nonzero = top;

        for (size_t i = 0; i < WORDS; i++) {
            const uint64_t rest = l->rest[i] + l->step[i];
            const uint64_t beyond = (rest + top - l->prime[i]) & top; /* rest >= prime */
            const uint64_t mask = (beyond - (beyond >> 15)) | beyond;

            nonzero &= l->rest[i] + below_top;
            l->rest[i] = evc_scalar64(rest - (l->prime[i] & mask));
        }
        left[k] &= (uint32_t)(nonzero >> 32) & (uint32_t)nonzero;
    }
}

/* Primes that divide e also strike candidates that are 1 modulo them. */
static int divides_e(const struct find *f, uint32_t prime)
{
    return f->e_bytes && evc_number_modulo(f->e, f->e_bytes, prime) == 0;
}

static void strike_ones(struct find *f, uint32_t rest, uint32_t prime)
{
    struct lanes l = {{0}, {0}, {0}};
    const uint32_t before = rest + prime - 1;

    for (size_t i = 0; i < EVC_REMAINDERS; i++)
        set_lane(&l, i, before - (prime & ~((uint32_t)0 - evc_barrier32((before - prime) >> 31))),
                 prime);
    strike(f->left, f->window, &l);
}

static void sieve(struct find *f)
{
    struct evc_prime_remainders *const r = f->remainders;
    const uint32_t n_primes = depth_for(8 * f->w.n_bytes).n_primes;

    for (size_t k = 0; k < f->window; k++)
        f->left[k] = SURVIVES;
    evc_prime_remainders_begin(r, f->start, f->w.n_bytes);
    for (uint32_t n = 0; n < n_primes; n += EVC_REMAINDERS) {
        struct lanes l = {{0}, {0}, {0}};

        evc_prime_remainders_next(r, f->search->words);
        for (size_t i = 0; i < EVC_REMAINDERS; i++)
            set_lane(&l, i, r->remainder[i], r->prime[i]);
        strike(f->left, f->window, &l);
        for (size_t i = 0; i < EVC_REMAINDERS; i++)
            if (divides_e(f, r->prime[i]))
                strike_ones(f, r->remainder[i], r->prime[i]);
    }
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static uint32_t survives(uint32_t left)
{
    return left >> 15 & left >> 31 & 1;
}

static uint32_t count(const struct find *f)
{
    uint32_t n = 0;

    for (size_t k = 0; k < f->window; k++) {
        n += survives(f->left[k]);
        EVC_KEEP(n);
    }
    return n;
}

/* random * n / 2^32, rounded down, without a multiplication: n is secret, and below 2^17. */
static uint32_t share_of(uint32_t random, uint32_t n)
{
    uint32_t share = 0;

    for (int i = 0; i < 32; i++)
        share = (share + (n & ((uint32_t)0 - evc_barrier32(random >> i & 1)))) >> 1;
    return share;
}

/* Takes one of n candidates that are left out of the window; which one, random says. */
static void pick(struct find *f, uint32_t n, uint32_t random)
{
    const uint32_t index = share_of(random, n);
    uint32_t seen = 0, found = 0;

    for (uint32_t k = 0; k < f->window; k++) {
        const uint32_t here = survives(f->left[k]);
        const uint32_t mask =
            ((uint32_t)0 - evc_barrier32(here)) & ~evc_mask_nonzero32(seen ^ index);

        found |= k & mask;
        f->left[k] &= ~mask;
        seen += here;
        EVC_KEEP(found);
    }
    evc_copy_secret(f->candidate, f->start, f->w.n_bytes);
    evc_number_add_small(f->candidate, f->w.n_bytes, 4 * found);
}

/* p0: random, but for its two highest bits and its two lowest. */
static enum evc_status draw_start(struct find *f)
{
    const enum evc_status status = evc_draw(&f->search->random, f->start, f->w.n_bytes);

    f->start[0] |= 0xc0;
    f->start[f->w.n_bytes - 1] |= 3;
    return status;
}

/* EVC_ERR_COMPOSITE if p - 1 and e have a common divisor. */
static enum evc_status check_e(struct find *f)
{
    enum evc_status status;
    uint32_t differs;

    if (!f->e_bytes)
        return EVC_OK;
    f->candidate[f->w.n_bytes - 1] ^= 1; /* p - 1 */
    status =
        evc_bn_gcd(f->e, f->e_bytes, f->candidate, f->w.n_bytes, f->gcd_out, f->gcd, f->gcd_bytes);
    f->candidate[f->w.n_bytes - 1] ^= 1;
    differs = ~evc_number_is(f->gcd_out, f->e_bytes, 1);
    evc_public(&differs, sizeof differs); /* a candidate that is refused is no prime of a key */
    return status == EVC_OK && differs ? EVC_ERR_COMPOSITE : status;
}

/* The tests to random bases, and that of e. w: set up with the candidate. */
static enum evc_status test_further(struct find *f)
{
    unsigned left = evc_prime_rounds(8 * f->w.n_bytes);
    enum evc_status status = EVC_OK;

    while (status == EVC_OK && left) {
        const unsigned n = left < f->side.most ? left : (unsigned)f->side.most;

        status = n == 1 ? evc_prime_random_bases(&f->w, 1, &f->search->random)
                        : evc_prime_side_random_bases(&f->side, &f->w, n, &f->search->random);
        f->progress.rounds += n;
        if (status == EVC_OK)
            status = evc_prime_report(f->search, &f->progress);
        left -= n;
    }
    return status == EVC_OK ? check_e(f) : status;
}

/* EVC_ERR_COMPOSITE: the next candidate may be tried. */
static enum evc_status test_candidate(struct find *f)
{
    enum evc_status status = evc_prime_work_set(&f->w, f->candidate);
    uint32_t passes;

    if (status != EVC_OK)
        return status;
    passes = evc_prime_passes_two(&f->w);
    f->progress.tests++;
    status = evc_prime_report(f->search, &f->progress);
    /* how many do not pass shows in the time: prime.h says so */
    evc_public(&passes, sizeof passes);
    if (status != EVC_OK || !passes)
        return status != EVC_OK ? status : EVC_ERR_COMPOSITE;
    return test_further(f);
}

/* Tests those that were kept. Behind the first one that passes, none is looked at. */
static enum evc_status test_side(struct find *f)
{
    struct evc_prime_side *const s = &f->side;
    const size_t n = s->n;
    enum evc_status status = evc_prime_side_test(s);

    f->progress.tests += (uint32_t)n;
    if (status == EVC_OK)
        status = evc_prime_report(f->search, &f->progress);
    for (size_t i = 0; status == EVC_OK && i < n; i++) {
        uint32_t passes = s->passed[i];

        /* how many do not pass shows in the time: prime.h says so */
        evc_public(&passes, sizeof passes);
        if (!passes)
            continue;
        evc_copy_secret(f->candidate, evc_prime_side_number(s, i), f->w.n_bytes);
        status = evc_prime_work_set(&f->w, f->candidate);
        if (status == EVC_OK)
            status = test_further(f);
        if (status != EVC_ERR_COMPOSITE)
            return status;
        status = EVC_OK;
    }
    return status == EVC_OK ? EVC_ERR_COMPOSITE : status;
}

/* EVC_ERR_COMPOSITE: the candidate is composite, or waits for its test. */
static enum evc_status test_or_keep(struct find *f)
{
    enum evc_status status;

    if (f->side.most == 1)
        return test_candidate(f);
    status = evc_prime_side_add(&f->side, f->candidate);
    if (status != EVC_OK)
        return status;
    return f->side.n < f->side.most ? EVC_ERR_COMPOSITE : test_side(f);
}

/* EVC_ERR_COMPOSITE: no prime is in this window. */
static enum evc_status search_window(struct find *f)
{
    enum evc_status status = draw_start(f);

    if (status != EVC_OK)
        return status;
    sieve(f);
    f->progress.sieves++;
    for (uint32_t n = count(f);; n--) {
        uint8_t random[4];
        uint32_t is_good = n;

        evc_public(&is_good, sizeof is_good); /* that none is left, once in 10^10 windows */
        if (!is_good)
            return f->side.n ? test_side(f) : EVC_ERR_COMPOSITE;
        status = evc_draw(&f->search->random, random, sizeof random);
        if (status != EVC_OK)
            return status;
        pick(f, n, evc_load32_ne(random));
        is_good = f->candidate[0] >> 7;
        /* is_good is public: p is beyond 2^p_bits once in 2^(p_bits - 20) candidates */
        evc_public(&is_good, sizeof is_good);
        if (!is_good)
            continue;
        status = test_or_keep(f);
        if (status != EVC_ERR_COMPOSITE)
            return status;
    }
}

#define MOST_WINDOWS 8 /* all without a prime are no chance: the randomness repeats itself */

EVC_OUT_OF_LINE enum evc_status search_windows(struct find *f)
{
    for (int i = 0; i < MOST_WINDOWS; i++) {
        const enum evc_status status = search_window(f);

        if (status != EVC_ERR_COMPOSITE)
            return status;
    }
    return EVC_ERR_RANDOM;
}

static enum evc_status check(const struct evc_prime_search *search, size_t p_bits, const uint8_t *e,
                             size_t e_bytes, size_t scratch_bytes)
{
    const enum evc_status status = evc_prime_check_search(search, p_bits, scratch_bytes,
                                                          evc_prime_search_scratch_bytes);

    if (status != EVC_OK)
        return status;
    if (e_bytes > MOST_E_BYTES)
        return EVC_ERR_LENGTH;
    return e_bytes && (!e || !evc_number_bit(e, e_bytes, 0)) ? EVC_ERR_PARAMETER : EVC_OK;
}

enum evc_status evc_prime_find(const struct evc_prime_search *search, size_t p_bits,
                               const uint8_t *e, size_t e_bytes, uint8_t *p, void *scratch,
                               size_t scratch_bytes)
{
    struct find f = {.search = search, .e = e, .e_bytes = e_bytes};
    enum evc_status status = check(search, p_bits, e, e_bytes, scratch_bytes);

    if (status == EVC_ERR_KEY_SIZE)
        return status;
    memset(p, 0, p_bits / 8);
    if (status != EVC_OK)
        return status;
    place(&f, p_bits, scratch);
    status = search_windows(&f);
    if (status == EVC_OK)
        evc_copy_secret(p, f.candidate, p_bits / 8);
    evc_wipe(scratch, evc_prime_search_scratch_bytes(search->kernel, p_bits));
    evc_clear(&search->kernel->kernel);
    return status;
}

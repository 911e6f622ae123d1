/* SPDX-License-Identifier: MIT */
/* Tests of primes and searches as their caller meets them: statuses, memory, randomness that fails,
 * searches that are stopped. Numbers themselves are held against Python by
 * prime_against_python.py. */
#include "tap.h"

#include <stdlib.h>

#include "everycore/prime.h"

#include "prime/small_primes.h"

#define MOST 1024

static const struct evc_bn *kernel;

/* 2^127 - 1, and 2^128 - 159, the largest prime below 2^128, which is 1 modulo 4. */
static const uint8_t mersenne[16] = {0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
static const uint8_t below_power[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x61};

/* ---- A source of randomness that can fail ---------------------------------------------------- */

static struct source {
    int calls_left; /* then it fails */
    int constant;   /* -1: random bytes, else this byte always */
    int calls;
    int wrong_length; /* asked for 0 bytes, or for more than 1024 */
} source;

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    struct source *s = context;

    s->calls++;
    if (n_bytes == 0 || n_bytes > 1024)
        s->wrong_length = 1;
    if (s->calls_left-- <= 0) {
        memset(out, 0x5a, n_bytes);
        return 1;
    }
    if (s->constant >= 0)
        memset(out, s->constant, n_bytes);
    else
        random_fill(out, n_bytes);
    return 0;
}

static const struct evc_random *randomness(int calls_left, int constant)
{
    static struct evc_random random = {fill, &source};

    source = (struct source){calls_left, constant, 0, 0};
    return &random;
}

/* ---- Scratch memory, at any address, between bytes that nobody may touch --------------------- */

static uint8_t *room;
static size_t room_bytes;

static uint8_t *scratch_of(size_t n_bytes, size_t offset)
{
    free(room);
    room_bytes = n_bytes + offset + 16;
    room = malloc(room_bytes);
    if (!room)
        exit(2);
    memset(room, 0xa5, room_bytes);
    return room + offset;
}

/* All around is as it was, and inside is nothing but zeros and what was there before. */
static int scratch_is_clean(size_t n_bytes, size_t offset)
{
    for (size_t i = offset; i < offset + n_bytes; i++)
        if (room[i] != 0 && room[i] != 0xa5)
            return 0;
    return all_are(room, 0xa5, offset) && all_are(room + offset + n_bytes, 0xa5, 16);
}

/* ---- Small primes ---------------------------------------------------------------------------- */

static void small_primes_are_those_of_trial_division(void)
{
    static struct evc_small_primes s;
    uint32_t expected = 3, found[7];

    evc_small_primes_begin(&s);
    for (int i = 0; i < 15000; i += 7) { /* beyond two segments */
        evc_small_primes_next(&s, found, 7);
        for (int j = 0; j < 7; j++, expected += 2) {
            for (uint32_t d = 3; d * d <= expected; d += 2)
                if (expected % d == 0) {
                    expected += 2;
                    d = 1;
                }
            EXPECT(found[j] == expected);
        }
    }
    EXPECT(expected > 2 * EVC_SEGMENT);
}

/* pi(2^24) = 1077871; 2^24 - 3 is the largest prime of them. */
static void small_primes_are_complete_to_the_largest_bound(void)
{
    static struct evc_small_primes s;
    uint32_t found[1], last = 0, n = 1;

    evc_small_primes_begin(&s);
    for (; last < (1u << 24) - 3; n++) {
        evc_small_primes_next(&s, found, 1);
        last = found[0];
    }
    EXPECT(last == (1u << 24) - 3 && n == 1077871);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static enum evc_status test_public(const uint8_t *n, size_t n_bytes)
{
    const size_t scratch_bytes = evc_prime_test_scratch_bytes(kernel, 8 * n_bytes);
    uint8_t *scratch = scratch_of(scratch_bytes, 5);
    const enum evc_status status =
        evc_prime_test_public(kernel, n, n_bytes, scratch, scratch_bytes);

    EXPECT(scratch_is_clean(scratch_bytes, 5));
    return status;
}

static void public_verdicts_hold(void)
{
    /* 1093^2 is a strong pseudoprime to base 2 and has no Lucas parameters; 464869813193633
     * deceives base 2, and 278916274648439 is a strong Lucas pseudoprime
     * (prime_against_python.py has more). */
    static const struct {
        uint8_t n[8];
        enum evc_status expected;
    } numbers[] = {
        {{0}, EVC_ERR_COMPOSITE},
        {{0, 0, 0, 0, 0, 0, 0, 1}, EVC_ERR_COMPOSITE},
        {{0, 0, 0, 0, 0, 0, 0, 2}, EVC_OK},
        {{0, 0, 0, 0, 0, 0, 0, 3}, EVC_OK},
        {{0, 0, 0, 0, 0, 0, 0, 4}, EVC_ERR_COMPOSITE},
        {{0, 0, 0, 0, 0, 0, 1, 1}, EVC_OK},
        {{0, 0, 0, 0, 0, 1, 2, 1}, EVC_ERR_COMPOSITE},
        {{0, 0, 0, 0, 0, 1, 0, 1}, EVC_OK},
        {{0, 0, 0, 0, 0, 0x12, 0x3a, 0x99}, EVC_ERR_COMPOSITE},
        {{0, 0x01, 0xa6, 0xcb, 0xf0, 0x15, 0x0b, 0xa1}, EVC_ERR_COMPOSITE},
        {{0, 0, 0xfd, 0xac, 0x41, 0x78, 0xf5, 0x77}, EVC_ERR_COMPOSITE},
        {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc5}, EVC_OK}, /* 2^64 - 59 */
        {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc7}, EVC_ERR_COMPOSITE},
    };
    uint8_t product[32];

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        for (size_t skip = 0; skip < 8 && (skip == 0 || numbers[i].n[skip - 1] == 0); skip++)
            EXPECT(test_public(numbers[i].n + skip, 8 - skip) == numbers[i].expected);
    EXPECT(test_public(mersenne, 16) == EVC_OK && test_public(below_power, 16) == EVC_OK);
    memset(product, 0, sizeof product);
    /* (2^127 - 1) (2^129 + 2) + ...: (2^127 - 1)^2 = 2^254 - 2^128 + 1 */
    memset(product, 0xff, 16);
    product[0] = 0x3f;
    product[31] = 1;
    EXPECT(test_public(product, 32) == EVC_ERR_COMPOSITE);
}

static enum evc_status test_bases(const uint8_t *n, size_t n_bytes, const uint8_t *bases,
                                  size_t n_bases)
{
    const size_t scratch_bytes =
        evc_prime_test_scratch_bytes(kernel, 8 * (n_bytes < 1025 ? n_bytes : 16));
    uint8_t *scratch = scratch_of(scratch_bytes, 3);
    const enum evc_status status =
        evc_prime_test_bases(kernel, n, n_bytes, bases, n_bases, scratch, scratch_bytes);

    EXPECT(scratch_is_clean(scratch_bytes, 3));
    return status;
}

static void bases_are_refused_outside_of_2_to_n_minus_2(void)
{
    const uint8_t *primes[] = {mersenne, below_power};

    for (int i = 0; i < 2; i++) {
        uint8_t bases[48] = {0}; /* 2, and others around it */
        bases[15] = bases[31] = bases[47] = 2;
        EXPECT(test_bases(primes[i], 16, bases, 3) == EVC_OK);
        for (int value = 0; value < 2; value++) {
            bases[47] = (uint8_t)value;
            EXPECT(test_bases(primes[i], 16, bases, 3) == EVC_ERR_RANGE);
        }
        for (int less = -1; less < 4; less++) { /* n + 1, n, n - 1, then bases again */
            memcpy(bases + 32, primes[i], 16);
            if (less == -1)
                bases[47]++;
            for (int j = 0; j < less; j++)
                bases[47]--;
            if (less == -1 && primes[i] == mersenne) {
                memset(bases + 32, 0, 16);
                bases[32] = 0x80;
            }
            EXPECT(test_bases(primes[i], 16, bases, 3) == (less < 2 ? EVC_ERR_RANGE : EVC_OK));
        }
    }
}

static void numbers_that_cannot_be_tested_are_refused(void)
{
    static uint8_t n[MOST + 1], base[MOST + 1];

    memset(n, 0x11, sizeof n);
    base[15] = 2;
    EXPECT(test_bases(n, 16, base, 1) == EVC_ERR_COMPOSITE);
    n[15] = 0x10;
    EXPECT(test_bases(n, 16, base, 1) == EVC_ERR_MODULUS);
    n[15] = 0x11;
    n[0] = 0;
    EXPECT(test_bases(n, 16, base, 1) == EVC_ERR_MODULUS);
    n[0] = 1;
    EXPECT(test_bases(n, 16, base, 0) == EVC_ERR_LENGTH);
    EXPECT(test_bases(n, 15, base, 1) == EVC_ERR_KEY_SIZE &&
           test_bases(n, 0, base, 1) == EVC_ERR_KEY_SIZE);
    EXPECT(test_bases(n, MOST + 1, base, 1) == EVC_ERR_KEY_SIZE);
    EXPECT(evc_prime_test_bases(NULL, n, 16, base, 1, room, room_bytes) == EVC_ERR_KERNEL);
    EXPECT(evc_prime_test_bases(kernel, n, 16, base, 1, room, 100) == EVC_ERR_SCRATCH);
    EXPECT(evc_prime_test_secret(kernel, n, 16, 0, randomness(100, -1), room, room_bytes) ==
           EVC_ERR_LENGTH);
    EXPECT(evc_prime_test_public(kernel, n, 0, room, room_bytes) == EVC_ERR_KEY_SIZE);
    EXPECT(evc_prime_test_public(kernel, n, MOST + 1, room, room_bytes) == EVC_ERR_KEY_SIZE);
    EXPECT(evc_prime_test_public(NULL, n, 16, room, room_bytes) == EVC_ERR_KERNEL);
    EXPECT(evc_prime_test_public(kernel, n, 16, room,
                                 evc_prime_test_scratch_bytes(kernel, 128) - 1) == EVC_ERR_SCRATCH);
    EXPECT(evc_prime_test_scratch_bytes(NULL, 128) == 0 &&
           evc_prime_test_scratch_bytes(kernel, 0) == 0);
    EXPECT(evc_prime_test_scratch_bytes(kernel, 12) == 0 &&
           evc_prime_test_scratch_bytes(kernel, 8200) == 0);
}

static void random_bases_find_what_their_number_says(void)
{
    static uint8_t scratch[32768];
    uint8_t composite[16];

    memcpy(composite, mersenne, 16);
    composite[15] -= 4; /* 3 modulo 4 */
    EXPECT(evc_prime_test_secret(kernel, mersenne, 16, 20, randomness(1000, -1), scratch,
                                 sizeof scratch) == EVC_OK);
    EXPECT(source.calls >= 20 && !source.wrong_length);
    EXPECT(evc_prime_test_secret(kernel, below_power, 16, 20, randomness(1000, -1), scratch,
                                 sizeof scratch) == EVC_OK);
    EXPECT(evc_prime_test_secret(kernel, composite, 16, 20, randomness(1000, -1), scratch,
                                 sizeof scratch) == EVC_ERR_COMPOSITE);
}

static void tests_without_randomness_fail(void)
{
    static uint8_t scratch[32768];
    static const struct evc_random none = {NULL, NULL};

    for (int calls = 0; calls < 5; calls++) {
        EXPECT(evc_prime_test_secret(kernel, mersenne, 16, 5, randomness(calls, -1), scratch,
                                     sizeof scratch) == EVC_ERR_RANDOM);
        EXPECT(all_are(scratch, 0, evc_prime_test_scratch_bytes(kernel, 128) / 2));
    }
    EXPECT(evc_prime_test_secret(kernel, mersenne, 16, 5, &none, scratch, sizeof scratch) ==
           EVC_ERR_RANDOM);
    EXPECT(evc_prime_test_secret(kernel, mersenne, 16, 5, NULL, scratch, sizeof scratch) ==
           EVC_ERR_RANDOM);
    EXPECT(evc_prime_test_secret(kernel, mersenne, 16, 5, randomness(10000, 0), scratch,
                                 sizeof scratch) == EVC_ERR_RANDOM);
    EXPECT(evc_prime_test_secret(kernel, mersenne, 16, 5, randomness(10000, 0xff), scratch,
                                 sizeof scratch) == EVC_ERR_RANDOM);
}

/* ---- Searches -------------------------------------------------------------------------------- */

static struct watch {
    struct evc_prime_progress last;
    int reports, stop_at;
} watch;

static int report(void *context, const struct evc_prime_progress *progress)
{
    struct watch *w = context;

    EXPECT(progress->tests >= w->last.tests && progress->rounds >= w->last.rounds);
    w->last = *progress;
    return ++w->reports == w->stop_at;
}

enum kind { SECRET, SAFE };

/* p: MOST bytes. */
static enum evc_status find(enum kind kind, size_t bits, const uint8_t *e, size_t e_bytes,
                            uint8_t *p, int calls_left, int constant, int stop_at)
{
    const struct evc_prime_search search = {kernel, evc_bn_words_select(evc_cpu_features(), 0),
                                            *randomness(calls_left, constant), report, &watch};
    const size_t scratch_bytes = kind == SAFE ? evc_prime_safe_scratch_bytes(kernel, bits)
                                              : evc_prime_search_scratch_bytes(kernel, bits);
    uint8_t *scratch = scratch_of(scratch_bytes, 7);
    enum evc_status status;

    watch = (struct watch){{0, 0, 0, 0}, 0, stop_at};
    memset(p, 0xee, MOST);
    if (kind == SAFE)
        status = evc_prime_find_safe(&search, bits, p, scratch, scratch_bytes);
    else
        status = evc_prime_find(&search, bits, e, e_bytes, p, scratch, scratch_bytes);
    EXPECT(scratch_is_clean(scratch_bytes, 7) && !source.wrong_length);
    EXPECT(all_are(p + bits / 8, 0xee, MOST - bits / 8));
    if (status != EVC_OK)
        EXPECT(all_are(p, 0, bits / 8));
    return status;
}

static void primes_are_found(void)
{
    static const size_t lengths[] = {128, 136, 256, 392};
    static const uint8_t three[1] = {3}, fermat[3] = {1, 0, 1};
    uint8_t p[MOST];

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const size_t n = lengths[i] / 8;
        EXPECT(find(SECRET, lengths[i], i % 2 ? three : fermat, i % 2 ? 1 : 3, p, 1 << 20, -1, 0) ==
               EVC_OK);
        EXPECT(p[0] >= 0xc0 && p[n - 1] % 4 == 3 && test_public(p, n) == EVC_OK);
        EXPECT(watch.last.rounds == evc_prime_rounds(lengths[i]) && watch.last.tests >= 1 &&
               watch.last.sieves == 1);
        EXPECT(watch.reports >= (int)(watch.last.tests + watch.last.rounds));
    }
}

static void primes_of_rsa_have_no_divisor_of_e_before_them(void)
{
    static const uint8_t e[4] = {0x04, 0x46, 0x76, 0x3f}; /* 3 * 5 * 7 * 11 * 13 * 17 * 281 */
    uint8_t p[MOST];

    for (int i = 0; i < 6; i++) {
        static const unsigned divisors[] = {3, 5, 7, 11, 13, 17, 281};
        EXPECT(find(SECRET, 128, e, 4, p, 1 << 20, -1, 0) == EVC_OK);
        for (size_t j = 0; j < sizeof divisors / sizeof divisors[0]; j++) {
            unsigned rest = 0;
            for (size_t k = 0; k < 16; k++)
                rest = (rest << 8 | p[k]) % divisors[j];
            EXPECT(rest != 1);
        }
    }
}

/* The first bytes are this prime, 1 modulo 967 and 3 modulo 4; of what is left of its
 * window the first is taken. */
static const uint8_t above_967[16] = {0xf8, 0x57, 0x37, 0x97, 0x4a, 0x80, 0x75, 0x46,
                                      0x46, 0x27, 0x31, 0x41, 0x7a, 0xa2, 0x85, 0x6f};

static int fill_from_prime(void *context, uint8_t *out, size_t n_bytes)
{
    int *calls = context;

    if ((*calls)++ == 0)
        memcpy(out, above_967, n_bytes);
    else if (n_bytes < 16)
        memset(out, 0, n_bytes);
    else
        random_fill(out, n_bytes);
    return 0;
}

/* The sieve for 128 bits ends below 953: it does not strike p where 967 divides p - 1. */
static void primes_of_rsa_have_no_divisor_of_e_that_the_sieve_leaves(void)
{
    static const uint8_t e[2] = {0x03, 0xc7}; /* 967 */

    for (size_t e_bytes = 0; e_bytes <= 2; e_bytes += 2) {
        int calls = 0;
        const struct evc_prime_search search = {kernel, evc_bn_words_select(evc_cpu_features(), 0),
                                                {fill_from_prime, &calls}, NULL, NULL};
        const size_t scratch_bytes = evc_prime_search_scratch_bytes(kernel, 128);
        uint8_t p[16];
        unsigned rest = 0;
        EXPECT(evc_prime_find(&search, 128, e, e_bytes, p, scratch_of(scratch_bytes, 0),
                              scratch_bytes) == EVC_OK);
        for (size_t i = 0; i < sizeof p; i++)
            rest = (rest << 8 | p[i]) % 967;
        EXPECT(e_bytes ? rest != 1 : same(p, above_967, 16) && rest == 1);
    }
}

static void safe_primes_are_found(void)
{
    uint8_t p[MOST], q[MOST];

    for (size_t bits = 128; bits <= 160; bits += 32) {
        const size_t n = bits / 8;
        unsigned above = 0;
        EXPECT(find(SAFE, bits, NULL, 0, p, 1 << 20, -1, 0) == EVC_OK);
        EXPECT(p[0] >= 0xc0 && p[n - 1] % 8 == 7 && test_public(p, n) == EVC_OK);
        for (size_t i = 0; i < n; i++) {
            q[i] = (uint8_t)(above << 7 | p[i] >> 1);
            above = p[i] & 1;
        }
        EXPECT(test_public(q, n) == EVC_OK);
        EXPECT(watch.last.tests >= watch.last.seconds && watch.last.seconds >= 1 &&
               watch.last.rounds == 64);
    }
}

/* A kernel that says that it does three powers side by side: so the code above it
 * is tested on any CPU. */
static struct evc_bn lanes;
static unsigned most_at_once;

static size_t lanes_bytes(const struct evc_bn_shape *shape)
{
    return evc_bn_scratch_bytes(&lanes, 8 * (size_t)shape->form_bytes);
}

static void lanes_exp_many(const struct evc_bn_exp *exps, size_t n_exps, void *bytes)
{
    static uint8_t two[MOST];

    most_at_once = n_exps > most_at_once ? (unsigned)n_exps : most_at_once;
    for (size_t i = 0; i < n_exps; i++) {
        const struct evc_bn_exp *e = &exps[i];

        memset(two, 0, sizeof two);
        two[e->n->n_bytes - 1] = 2;
        EXPECT(evc_bn_exp(e->n, e->base ? e->base : two, e->exponent, e->exponent_bytes, e->out,
                          bytes, lanes_bytes(&e->n->shape)) == EVC_OK);
    }
}

/* From the same randomness, the same prime: by one test after the other, by three, and by
 * eight where a kernel does. */
static void safe_primes_are_the_same_side_by_side(void)
{
    const struct evc_bn *const one = kernel, *const eight = evc_bn_named("x86_ifma");
    const struct evc_bn *others[2] = {&lanes, NULL};
    uint8_t expected[MOST], p[MOST];

    lanes = *kernel;
    lanes.lanes = 3;
    lanes.exp_many = lanes_exp_many;
    lanes.exp_many_bytes = lanes_bytes;
    if (evc_kernel_runs(evc_bn_kernel(eight), evc_cpu_features() | EVC_CPU(CT_MUL)))
        others[1] = eight;
    for (size_t bits = 128; bits <= 192; bits += 32) {
        const uint64_t start = random_state;
        EXPECT(find(SAFE, bits, NULL, 0, expected, 1 << 20, -1, 0) == EVC_OK);
        const uint32_t tests = watch.last.tests, seconds = watch.last.seconds;
        for (size_t i = 0; i < 2 && others[i]; i++) {
            kernel = others[i];
            random_state = start;
            EXPECT(find(SAFE, bits, NULL, 0, p, 1 << 20, -1, 0) == EVC_OK &&
                   memcmp(p, expected, bits / 8) == 0);
            EXPECT(watch.last.tests >= tests &&
                   watch.last.tests < tests + (1 + watch.last.sieves) * kernel->lanes);
            EXPECT(watch.last.seconds == seconds);
            EXPECT(find(SAFE, bits, NULL, 0, p, 1 << 20, -1, 1) == EVC_ERR_STOPPED &&
                   watch.reports == 1);
            EXPECT(watch.last.tests > 1 && watch.last.tests <= kernel->lanes);
            EXPECT(find(SAFE, bits, NULL, 0, p, 1, -1, 0) == EVC_ERR_RANDOM);
            kernel = one;
        }
    }
    EXPECT(most_at_once == 3);
}

static void searches_end_where_their_randomness_does(void)
{
    uint8_t p[MOST];

    for (enum kind kind = SECRET; kind <= SAFE; kind++) {
        for (int calls = 0; calls < 60; calls++) /* the start, draws, bases: 64 rounds need more */
            EXPECT(find(kind, 128, NULL, 0, p, calls, -1, 0) == EVC_ERR_RANDOM);
        /* From a start that is always the same the same prime comes; from none, or with the same
         * base always, nothing ends well by chance. */
        EXPECT(find(kind, 128, NULL, 0, p, 100000, 0, 0) == EVC_ERR_RANDOM);
        EXPECT(find(kind, 128, NULL, 0, p, 100000, 0xff, 0) == EVC_ERR_RANDOM);
    }
}

static void searches_stop_where_their_report_says(void)
{
    uint8_t p[MOST];

    for (enum kind kind = SECRET; kind <= SAFE; kind++)
        for (int at = 1; at < 60; at += at < 4 ? 1 : 13) {
            EXPECT(find(kind, 128, NULL, 0, p, 1 << 20, -1, at) == EVC_ERR_STOPPED);
            EXPECT(watch.reports == at);
        }
}

static void searches_refuse_what_does_not_exist(void)
{
    static uint8_t p[MOST], scratch[65536];
    static const uint8_t two[1] = {2}, zero[3] = {0}, long_e[33] = {[32] = 1};
    struct evc_prime_search search = {kernel, evc_bn_words_select(evc_cpu_features(), 0),
                                      *randomness(0, -1), NULL, NULL};
    const size_t needed = evc_prime_search_scratch_bytes(kernel, 128),
                 safe = evc_prime_safe_scratch_bytes(kernel, 128);
    static const size_t wrong[] = {0, 8, 120, 127, 129, 8193, 8200, (size_t)1 << 30, SIZE_MAX};

    EXPECT(needed && needed <= sizeof scratch && safe && safe <= sizeof scratch);
    memset(p, 0xee, sizeof p);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        EXPECT(evc_prime_find(&search, wrong[i], NULL, 0, p, scratch, sizeof scratch) ==
               EVC_ERR_KEY_SIZE);
        EXPECT(evc_prime_find_safe(&search, wrong[i], p, scratch, sizeof scratch) ==
               EVC_ERR_KEY_SIZE);
        EXPECT(!evc_prime_search_scratch_bytes(kernel, wrong[i]) &&
               !evc_prime_safe_scratch_bytes(kernel, wrong[i]));
    }
    EXPECT(all_are(p, 0xee, sizeof p));
    EXPECT(evc_prime_find(&search, 128, NULL, 0, p, scratch, needed - 1) == EVC_ERR_SCRATCH &&
           all_are(p, 0, 16));
    EXPECT(evc_prime_find_safe(&search, 128, p, scratch, safe - 1) == EVC_ERR_SCRATCH);
    EXPECT(evc_prime_find(&search, 128, two, 1, p, scratch, needed) == EVC_ERR_PARAMETER);
    EXPECT(evc_prime_find(&search, 128, zero, 3, p, scratch, needed) == EVC_ERR_PARAMETER);
    EXPECT(evc_prime_find(&search, 128, long_e, 33, p, scratch, needed) == EVC_ERR_LENGTH);
    EXPECT(evc_prime_find(&search, 128, NULL, 0, p, scratch, needed) == EVC_ERR_RANDOM);
    search.kernel = NULL;
    EXPECT(evc_prime_find(&search, 128, NULL, 0, p, scratch, needed) == EVC_ERR_KERNEL);
    EXPECT(evc_prime_find_safe(&search, 128, p, scratch, safe) == EVC_ERR_KERNEL);
    search.kernel = kernel;
    search.words = NULL;
    EXPECT(evc_prime_find(&search, 128, NULL, 0, p, scratch, needed) == EVC_ERR_KERNEL);
    EXPECT(!evc_prime_search_scratch_bytes(NULL, 128) && !evc_prime_safe_scratch_bytes(NULL, 128));
}

/* By the bound k^(3/2) 2^t t^(-1/2) 4^(2 - sqrt(t k)) for k bits and t rounds: it falls with k. */
static void rounds_are_those_of_their_bound(void)
{
    static const struct {
        size_t n_bits;
        unsigned rounds;
    } expected[] = {{128, 64}, {504, 64}, {512, 13}, {1016, 13},
                    {1024, 6}, {1528, 6}, {1536, 4}, {8192, 4}};

    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        EXPECT(evc_prime_rounds(expected[i].n_bits) == expected[i].rounds);
}

static void bounds_of_the_sieve_are_those_of_its_primes(void)
{
    static const size_t lengths[] = {128, 384, 1536};
    static struct evc_small_primes s;
    uint32_t found[1], n = 0;

    evc_small_primes_begin(&s);
    for (size_t i = 0; i < 3; i++) { /* the prime behind 160, 560, 1024 others */
        static const uint32_t counts[] = {160, 560, 1024};
        for (; n < counts[i] + 1; n++)
            evc_small_primes_next(&s, found, 1);
        EXPECT(evc_prime_sieve_bound(lengths[i], 0) == found[0]);
    }
    EXPECT(evc_prime_sieve_bound(1024, 1) > evc_prime_sieve_bound(512, 1));
}

int main(void)
{
    /* this kernel multiplies, and nothing here is a secret */
    kernel = evc_bn_named(EVC_WORD64 ? "c_limb64" : "c_limb32");
    if (!kernel)
        kernel = evc_bn_named("c_limb32");
    RUN(small_primes_are_those_of_trial_division);
    RUN(small_primes_are_complete_to_the_largest_bound);
    RUN(public_verdicts_hold);
    RUN(bases_are_refused_outside_of_2_to_n_minus_2);
    RUN(numbers_that_cannot_be_tested_are_refused);
    RUN(random_bases_find_what_their_number_says);
    RUN(tests_without_randomness_fail);
    RUN(primes_are_found);
    RUN(primes_of_rsa_have_no_divisor_of_e_before_them);
    RUN(primes_of_rsa_have_no_divisor_of_e_that_the_sieve_leaves);
    RUN(safe_primes_are_found);
    RUN(safe_primes_are_the_same_side_by_side);
    RUN(searches_end_where_their_randomness_does);
    RUN(searches_stop_where_their_report_says);
    RUN(searches_refuse_what_does_not_exist);
    RUN(rounds_are_those_of_their_bound);
    RUN(bounds_of_the_sieve_are_those_of_its_primes);
    free(room);
    return tap_done();
}

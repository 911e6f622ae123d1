/* SPDX-License-Identifier: MIT */
/* Tests of primes and searches for them leave nothing behind. Numbers, bases and
 * randomness are secret. */
#include "residue.h"

#include <string.h>

#include "everycore/cpu.h"
#include "everycore/prime.h"

#define N_BYTES 16
#define MOST_SEARCHES 4000 /* some ten are usual */

static const struct evc_bn *kernel; /* under test */

static struct {
    uint8_t n[N_BYTES], bases[3 * N_BYTES], p[N_BYTES], scratch[32768];
} at;
static uint64_t seed[2];
static struct random drawn;

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    random_bytes(context, out, n_bytes);
    return 0;
}

/* How many candidates are tested is public, and shows in how deep the stack was used: both versions
 * stop after the first test, or the first ones side by side, or find a prime by them. */
static bool stops;
static uint32_t n_tests;

static bool is_first(void)
{
    return n_tests <= kernel->lanes;
}

static int report(void *context, const struct evc_prime_progress *progress)
{
    (void)context;
    n_tests = progress->tests;
    return stops || !is_first();
}

static void prepare(unsigned version)
{
    struct random r = {seed[version]};

    random_bytes(&r, at.n, sizeof at.n);
    random_bytes(&r, at.bases, sizeof at.bases);
    memset(at.p, 0, sizeof at.p);
    at.n[0] |= 0x80;
    at.n[N_BYTES - 1] |= 3;
    for (size_t i = 0; i < sizeof at.bases; i += N_BYTES)
        at.bases[i] &= 0x7f;
    drawn.state = seed[version];
}

/* Statuses tell whether n passes. */
static void test_bases(void)
{
    const enum evc_status status =
        evc_prime_test_bases(kernel, at.n, N_BYTES, at.bases, 3, at.scratch, sizeof at.scratch);
    (void)status;
}

static void test_secret(void)
{
    static const struct evc_random random = {fill, &drawn};
    const enum evc_status status =
        evc_prime_test_secret(kernel, at.n, N_BYTES, 3, &random, at.scratch, sizeof at.scratch);
    (void)status;
}

static void prepare_1_modulo_4(unsigned version)
{
    prepare(version);
    at.n[N_BYTES - 1] &= 0xfd;
}

static void find(void)
{
    const struct evc_prime_search search = {
        .kernel = kernel,
        .words = evc_bn_words_select(evc_cpu_features(), 0),
        .random = {fill, &drawn},
        .report = report,
    };
    const enum evc_status status =
        evc_prime_find(&search, 8 * N_BYTES, NULL, 0, at.p, at.scratch, sizeof at.scratch);
    (void)status;
}

/* Whether such seeds were found: a kernel whose products are wrong finds no primes. */
static bool draw_seeds(struct check *c, bool must_find)
{
    for (unsigned v = 0; v < 2; v++) {
        unsigned left = MOST_SEARCHES;

        do {
            if (!left--)
                return false;
            seed[v] = random_next(&c->random);
            prepare(v);
            if (must_find)
                find();
        } while (must_find && !is_first());
    }
    return true;
}

static bool look(struct check *c, const char *operation, void (*prepare_it)(unsigned),
                 void (*make)(void))
{
    struct residue_call call = {.operation = operation, .prepare = prepare_it, .make = make};

    call.secrets[0] = (struct residue_secret){"number", at.n, sizeof at.n};
    call.secrets[1] = (struct residue_secret){"bases", at.bases, sizeof at.bases};
    call.secrets[2] = (struct residue_secret){"prime", at.p, sizeof at.p};
    for (int i = 0; i < (c->quick ? 2 : 12); i++) {
        if (!draw_seeds(c, make == find && !stops))
            return false;
        residue_look(c, &call);
    }
    return true;
}

enum result prime_leaves_nothing_behind(struct check *c)
{
    kernel = evc_bn_named(c->line->name);
    if (residue_unavailable())
        return check_skip(c, residue_unavailable());
    if (evc_prime_search_scratch_bytes(kernel, 8 * N_BYTES) > sizeof at.scratch)
        return check_fail(c, "a search needs more memory than this property has");
    residue_begin();
    look(c, "test_bases", prepare, test_bases);
    look(c, "test_bases, 1 modulo 4", prepare_1_modulo_4, test_bases);
    look(c, "test_secret", prepare, test_secret);
    stops = true;
    look(c, "find, stopped after a test", prepare, find);
    stops = false;
    if (!look(c, "find", prepare, find))
        return check_fail(c, "none of %d searches finds a prime by its first test", MOST_SEARCHES);
    return residue_verdict(c);
}

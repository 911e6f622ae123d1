/* SPDX-License-Identifier: MIT */
/*
 * The operations of primes that ct runs, by every kernel of bn. Numbers, bases and randomness are
 * secret; public are whether a number passed, and whether it is 3 modulo 4. A search ends after its
 * first test, for how many there are shows in its time.
 */
#include "ct.h"

#include "everycore/cpu.h"
#include "everycore/prime.h"

#include "random.h"
#include "taint.h"

#include "prime/side.h"

#define N_BYTES 16
#define SCRATCH_BYTES 32768

static uint8_t scratch[SCRATCH_BYTES];

static const struct evc_bn *kernel_of(const struct ct_call *c)
{
    return evc_bn_named(c->kernel);
}

/* The bytes of the call's secrets, over and over. */
struct stream {
    const struct ct_call *call;
    size_t at;
};

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    struct stream *s = context;

    for (size_t i = 0; i < n_bytes; i++, s->at++)
        out[i] = s->call->secret.in[s->at % sizeof s->call->secret.in];
    return 0;
}

static int stop(void *context, const struct evc_prime_progress *progress)
{
    (void)context;
    (void)progress;
    return 1;
}

/* The lowest bits say whether n is 3 modulo 4. Both bases are below n, and above 1. */
static bool make_number(struct ct_call *c, uint8_t lowest)
{
    uint8_t *const n = c->in, *const bases = c->aad;

    n[0] |= 0x80;
    n[N_BYTES - 1] = (uint8_t)((n[N_BYTES - 1] & 0xfc) | lowest);
    bases[0] = (uint8_t)((bases[0] & 0x3f) | 0x40);
    bases[N_BYTES] = (uint8_t)((bases[N_BYTES] & 0x3f) | 0x40);
    return true;
}

CT_CALL(number_3_modulo_4, make_number(c, 3))
CT_CALL(number_1_modulo_4, make_number(c, 1))

/* The status is public; nearly all of these numbers are composite. */
static bool is_verdict(enum evc_status status)
{
    return status == EVC_OK || status == EVC_ERR_COMPOSITE;
}

CT_CALL(bases, is_verdict(evc_prime_test_bases(kernel_of(c), c->in, N_BYTES, c->aad, 2, scratch,
                                               SCRATCH_BYTES)))

/* A prime that is the same for all secrets, 2^127 - 1, since whether it passes is public. */
static void set_prime(uint8_t *n)
{
    static const uint8_t mersenne[N_BYTES] = {0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                              0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

    memcpy(n, mersenne, N_BYTES);
    evc_secret(n, N_BYTES);
}

/* All of a test of a prime; its bases are secret. */
static bool random_bases(struct ct_call *c)
{
    struct stream stream = {c, 0};
    const struct evc_random random = {fill, &stream};

    set_prime(c->in);
    return evc_prime_test_secret(kernel_of(c), c->in, N_BYTES, 3, &random, scratch,
                                 SCRATCH_BYTES) == EVC_OK;
}

static bool sieve(struct ct_call *c)
{
    struct stream stream = {c, 0};
    const struct evc_prime_search search = {
        .kernel = kernel_of(c),
        .words = evc_bn_words_select(evc_cpu_features(), 0),
        .random = {fill, &stream},
        .report = stop,
    };
    static const uint8_t e[1] = {15};

    return evc_prime_find(&search, 8 * N_BYTES, e, 1, c->out, scratch, SCRATCH_BYTES) ==
           EVC_ERR_STOPPED;
}

static const struct ct_operation operations[] = {
    {"strong-test", 0, 0, false, number_3_modulo_4, bases},
    {"strong-test-by-bits", 0, 0, false, number_1_modulo_4, bases},
    {"random-bases", 0, 0, false, NULL, random_bases},
    {"prime-sieve", 0, 0, false, NULL, sieve},
};

const struct ct_operations ct_prime = CT_OPERATIONS_OF_BN(operations, ct_bn_descriptor);

/* Candidates side by side: whether they pass stays secret. Then random bases side by side. */
static bool side_by_side(struct ct_call *c)
{
    struct stream stream = {c, 0};
    const struct evc_random random = {fill, &stream};
    struct evc_prime_work w;
    struct evc_prime_side side;
    uint8_t *const rest = evc_prime_work_place(&w, kernel_of(c), N_BYTES, scratch);
    bool good =
        evc_prime_work_bytes(kernel_of(c), N_BYTES) + evc_prime_side_bytes(kernel_of(c), N_BYTES) <=
        SCRATCH_BYTES;

    evc_prime_side_place(&side, kernel_of(c), N_BYTES, rest);
    for (size_t i = 0; good && i < side.most; i++) {
        c->in[0] |= 0x80;
        c->in[N_BYTES - 1] = (uint8_t)((c->in[N_BYTES - 1] + 4 * i) | 3);
        good = evc_prime_side_add(&side, c->in) == EVC_OK;
    }
    good = good && evc_prime_side_test(&side) == EVC_OK;
    set_prime(c->in);
    return good && evc_prime_work_set(&w, c->in) == EVC_OK &&
           evc_prime_side_random_bases(&side, &w, side.most - 1, &random) == EVC_OK;
}

static const struct ct_operation lanes_operations[] = {
    {"primes-side-by-side", 0, 0, false, NULL, side_by_side},
};

static const struct evc_kernel *descriptor_with_lanes(const char *kernel)
{
    const struct evc_bn *const k = evc_bn_named(kernel);

    return k && k->lanes > 1 ? evc_bn_kernel(k) : NULL;
}

const struct ct_operations ct_prime_lanes =
    CT_OPERATIONS_OF_BN(lanes_operations, descriptor_with_lanes);

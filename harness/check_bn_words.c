/* SPDX-License-Identifier: MIT */
/*
 * The properties that every kernel of word primitives has. The checks compare each operation with
 * that of c_ref, which works bit by bit, and all kernels, c_ref too, with identities that need no
 * other code; tests/oracles/bn_words_answers.py compares them with the integers of Python.
 */
#include "check.h"

#include <string.h>

#include "everycore/bn.h"
#include "everycore/bn_words.h"
#include "everycore/cpu.h"

#include "check_abi.h"
#include "must.h"
#include "port/port.h"
#include "residue.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

typedef evc_bn_word word;

#define ONES ((word)-1)
#define MOST 160    /* words of an operand */
#define MARGIN 4    /* words around a result, which stay as they are */
#define UNTOUCHED ((word)UINT64_C(0xa5a5a5a5a5a5a5a5))

static const struct evc_bn_words *kernel_of(const struct check *c)
{
    return evc_bn_words_named(c->line->name);
}

static const struct evc_bn_words *reference(void)
{
    return evc_bn_words_named("c_ref");
}

/* ---- Operands -------------------------------------------------------------------------------- */

enum shape {
    RANDOM,
    ALL_ONES,
    ZEROS,
    LOW_ONE,
    HIGH_ONE,
    ONES_AND_ZEROS,
    MOSTLY_ONES,
    ONE_BIT,
    N_SHAPES
};

static word random_word(struct random *r)
{
    const word x = (word)random_next(r);
    const unsigned bits = (unsigned)random_below(r, EVC_BN_WORD_BITS);

    switch (random_below(r, 6)) {
    case 0: return ONES;
    case 1: return x >> bits;
    case 2: return (word)1 << bits;
    case 3: return ONES << bits;
    default: return x;
    }
}

static void fill(struct random *r, word *x, size_t n, enum shape shape)
{
    for (size_t i = 0; i < n; i++)
        switch (shape) {
        case ALL_ONES: x[i] = ONES; break;
        case ONES_AND_ZEROS: x[i] = i % 2 ? 0 : ONES; break;
        case MOSTLY_ONES: x[i] = random_below(r, 5) ? ONES : (word)random_next(r); break;
        case RANDOM: x[i] = (word)random_next(r); break;
        default: x[i] = 0; break;
        }
    if (n && shape == LOW_ONE)
        x[0] = 1;
    if (n && shape == HIGH_ONE)
        x[n - 1] = ONES;
    if (n && shape == ONE_BIT)
        x[random_below(r, n)] = (word)1 << random_below(r, EVC_BN_WORD_BITS);
}

/* ---- Operations ------------------------------------------------------------------------------ */

struct call {
    const struct evc_bn_words *kernel;
    const struct operation *operation;
    word *r, *a, *b;
    size_t n;
    word w, result;
};

/* On arrays of any length, or of `words` words where that is not 0. */
struct operation {
    const char *name;
    void (*run)(struct call *);
    size_t words;
    bool doubles;  /* r has twice as many words as a, and does not overlap it */
    bool has_b;
};

#define RUN(slot, ...)                                                                 \
    static void run_##slot(struct call *c)                                             \
    {                                                                                  \
        c->result = c->kernel->slot(__VA_ARGS__);                                      \
    }
#define RUN_VOID(slot, ...)                                                            \
    static void run_##slot(struct call *c)                                             \
    {                                                                                  \
        c->kernel->slot(__VA_ARGS__);                                                  \
    }
RUN(add_words, c->r, c->a, c->b, c->n)
RUN(sub_words, c->r, c->a, c->b, c->n)
RUN(mul_words, c->r, c->a, c->n, c->w)
RUN(mul_add_words, c->r, c->a, c->n, c->w)
RUN_VOID(sqr_words, c->r, c->a, c->n)
RUN_VOID(mul_comba4, c->r, c->a, c->b)
RUN_VOID(mul_comba8, c->r, c->a, c->b)
RUN_VOID(sqr_comba4, c->r, c->a)
RUN_VOID(sqr_comba8, c->r, c->a)

static const struct operation operations[] = {
    {"add_words", run_add_words, 0, false, true},
    {"sub_words", run_sub_words, 0, false, true},
    {"mul_words", run_mul_words, 0, false, false},
    {"mul_add_words", run_mul_add_words, 0, false, false},
    {"sqr_words", run_sqr_words, 0, true, false},
    {"mul_comba4", run_mul_comba4, 4, true, true},
    {"mul_comba8", run_mul_comba8, 8, true, true},
    {"sqr_comba4", run_sqr_comba4, 4, true, false},
    {"sqr_comba8", run_sqr_comba8, 8, true, false},
};

static size_t result_words(const struct operation *o, size_t n)
{
    return o->doubles ? 2 * n : n;
}

/* r, a and b may be the same array where the operation allows it. */
enum overlap { APART, R_IS_A, R_IS_B, R_IS_A_AND_B, A_IS_B, N_OVERLAPS };

static bool is_allowed(const struct operation *o, enum overlap overlap)
{
    switch (overlap) {
    case APART: return true;
    case A_IS_B: return o->has_b;
    case R_IS_A: return !o->doubles;
    default: return !o->doubles && o->has_b;
    }
}

static const char *const overlaps[] = {"apart", "r is a", "r is b", "r is a and b", "a is b"};

static void lay_over(struct call *call, enum overlap overlap)
{
    if (overlap == R_IS_A || overlap == R_IS_A_AND_B)
        call->r = call->a;
    if (overlap == A_IS_B || overlap == R_IS_A_AND_B)
        call->b = call->a;
    if (overlap == R_IS_B)
        call->r = call->b;
}

/* The results of the reference for the same operands. */
static word expected[2 * MOST];
static word expected_result;

static void know(const struct call *call)
{
    static word a[MOST], b[MOST];
    struct call there = *call;

    memcpy(a, call->a, call->n * sizeof *a);
    memcpy(b, call->b, (call->operation->has_b ? call->n : 0) * sizeof *b);
    memcpy(expected, call->r, result_words(call->operation, call->n) * sizeof *expected);
    there.kernel = reference();
    there.r = expected;
    there.a = a;
    there.b = b;
    there.operation->run(&there);
    expected_result = there.result;
}

static void make_call(void *call)
{
    ((struct call *)call)->operation->run(call);
}

static enum result agrees(struct check *c, struct call *call, const char *how)
{
    const struct operation *o = call->operation;
    const size_t n = result_words(o, call->n);

    know(call);
    call->result = 0;
    c->cases++;
    if (!port_survives(make_call, call))
        return check_fail(c, "%s of %zu words, %s: memory fault", o->name, call->n, how);
    for (size_t i = 0; i < n; i++)
        if (call->r[i] != expected[i])
            return check_fail(c, "%s of %zu words, %s: word %zu is %llx, not %llx", o->name,
                              call->n, how, i, (unsigned long long)call->r[i],
                              (unsigned long long)expected[i]);
    if (call->result != expected_result)
        return check_fail(c, "%s of %zu words, %s: returns %llx, not %llx", o->name, call->n, how,
                          (unsigned long long)call->result, (unsigned long long)expected_result);
    return PASS;
}

static bool margins_are_untouched(const word *r, size_t n)
{
    for (size_t i = 1; i <= MARGIN; i++)
        if (*(r - i) != UNTOUCHED || r[n + i - 1] != UNTOUCHED)
            return false;
    return true;
}

static void fill_margins(word *r, size_t n)
{
    for (size_t i = 1; i <= MARGIN; i++)
        *(r - i) = r[n + i - 1] = UNTOUCHED;
}

/* Memory for the operands of a call, each with margins. */
static EVC_ALIGN(64) word room_r[2 * MOST + 32], room_a[2 * MOST + 32], room_b[2 * MOST + 32];

static void fill_operands(struct check *c, struct call *call, enum shape shape_a,
                          enum shape shape_b)
{
    fill(&c->random, call->a, call->n, shape_a);
    fill(&c->random, call->b, call->n, shape_b);
    fill(&c->random, call->r, result_words(call->operation, call->n),
         random_below(&c->random, 2) ? shape_b : RANDOM);
    call->w = random_below(&c->random, 3) ? random_word(&c->random) : ONES;
}

/* ---- The descriptor -------------------------------------------------------------------------- */

static enum result descriptor_agrees_with_its_line(struct check *c)
{
    const struct evc_bn_words *words = kernel_of(c);
    const struct evc_kernel *k = words ? &words->kernel : NULL;

    c->cases = 4;
    if (!k)
        return check_fail(c, "evc_bn_words_named() does not find it");
    if (strcmp(k->name, c->line->name) != 0)
        return check_fail(c, "its name is %s", k->name);
    if (k->needs != c->line->needs || k->timing != c->line->timing || k->use != c->line->use)
        return check_fail(c, "needs, timing class or use differ from the line of kernels.def");
    if (!words->add_words || !words->sub_words || !words->mul_words || !words->mul_add_words ||
        !words->sqr_words || !words->mul_comba4 || !words->mul_comba8 || !words->sqr_comba4 ||
        !words->sqr_comba8 || !words->div_words || !words->mod_words)
        return check_fail(c, "an operation is missing");
    return PASS;
}

static enum result something_is_always_selected(struct check *c)
{
    const uint64_t all = evc_cpu_features();

    for (unsigned policy = 0; policy < 4; policy++)
        for (int i = 0; i < 1000; i++, c->cases++) {
            const uint64_t some = random_next(&c->random) | random_next(&c->random);
            if (!evc_bn_words_select(i ? all & some : 0, policy))
                return check_fail(c, "policy %u: nothing fits", policy);
        }
    return PASS;
}

/* ---- Identities ------------------------------------------------------------------------------ */

static bool all_are(const word *x, size_t n, word value)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] != value)
            return false;
    return true;
}

/* With n words of ones, which are B^n - 1, each carry runs through all words. */
static enum result carries_run_through_every_word(struct check *c)
{
    const struct evc_bn_words *k = kernel_of(c);
    word ones[MOST], one[MOST], r[2 * MOST];

    for (size_t n = 1; n <= 80; n++, c->cases += 6) {
        fill(&c->random, ones, n, ALL_ONES);
        fill(&c->random, one, n, LOW_ONE);
        if (k->add_words(r, ones, one, n) != 1 || !all_are(r, n, 0))
            return check_fail(c, "%zu words: (B^n - 1) + 1 is not B^n", n);
        if (k->sub_words(r, r, one, n) != 1 || !all_are(r, n, ONES))
            return check_fail(c, "%zu words: 0 - 1 is not B^n - 1 with a borrow", n);
        /* (B^n - 1) (B - 1) = (B - 2) B^n + B^n - B + 1 */
        if (k->mul_words(r, ones, n, ONES) != ONES - 1 || r[0] != 1 || !all_are(r + 1, n - 1, ONES))
            return check_fail(c, "%zu words: (B^n - 1) (B - 1) is wrong", n);
        /* and B^n - 1 more: (B - 1) B^n + B^n - B */
        if (k->mul_add_words(memcpy(r, ones, n * sizeof *r), ones, n, ONES) != ONES || r[0] != 0 ||
            !all_are(r + 1, n - 1, ONES))
            return check_fail(c, "%zu words: (B^n - 1) (B - 1) + B^n - 1 is wrong", n);
        if (k->mul_add_words(r, ones, n, 0) != 0 || k->mul_words(r, ones, n, 1) != 0 ||
            !all_are(r, n, ONES))
            return check_fail(c, "%zu words: a product by 0 or 1 is wrong", n);
        k->sqr_words(r, ones, n);
        for (size_t i = 0; i < n; i++)
            if (r[2 * i] != 1 || r[2 * i + 1] != ONES - 1)
                return check_fail(c, "%zu words: the square of word %zu is wrong", n, i);
    }
    return PASS;
}

/* (B^n - 1)^2 = (B^n - 2) B^n + 1 */
static enum result products_of_ones(struct check *c)
{
    const struct evc_bn_words *k = kernel_of(c);
    word ones[8], r[16];

    fill(&c->random, ones, 8, ALL_ONES);
    for (int i = 0; i < 4; i++, c->cases++) {
        const size_t n = i < 2 ? 4 : 8;
        if (i == 0)
            k->mul_comba4(r, ones, ones);
        if (i == 1)
            k->sqr_comba4(r, ones);
        if (i == 2)
            k->mul_comba8(r, ones, ones);
        if (i == 3)
            k->sqr_comba8(r, ones);
        if (r[0] != 1 || !all_are(r + 1, n - 1, 0) || r[n] != ONES - 1 ||
            !all_are(r + n + 1, n - 1, ONES))
            return check_fail(c, "%zu words: (B^n - 1)^2 is wrong%s", n,
                              i % 2 ? ", as a square" : "");
    }
    return PASS;
}

/* n = q d + r, by multiplying back. */
static enum result quotients_and_remainders_multiply_back(struct check *c)
{
    const struct evc_bn_words *k = kernel_of(c);

    for (long i = 0; i < (c->quick ? 2000 : 100000); i++, c->cases++) {
        word d = random_word(&c->random),
             two[2] = {random_word(&c->random), random_word(&c->random)}, back[2], q, r;
        struct evc_bn_divisor divisor;
        if (!d)
            d = 1;
        two[1] %= d;
        must(evc_bn_divisor_set(&divisor, d));
        q = k->div_words(two[1], two[0], d);
        r = k->mod_words(two, 2, &divisor);
        back[0] = r;
        back[1] = 0;
        back[1] += k->mul_add_words(back, &d, 1, q);
        if (r >= d || back[0] != two[0] || back[1] != two[1])
            return check_fail(c, "%llx %llx by %llx: quotient %llx, remainder %llx",
                              (unsigned long long)two[1], (unsigned long long)two[0],
                              (unsigned long long)d, (unsigned long long)q, (unsigned long long)r);
    }
    return PASS;
}

/* ---- Against the reference ------------------------------------------------------------------- */

/* Numbers of words of the i-th turn: each up to 40, and some longer; 0 past the end. */
static size_t length_at(const struct check *c, const struct operation *o, size_t i)
{
    static const size_t longer[] = {47, 48, 49, 63, 64, 65, 66, 95, 96, 97, 127, 128, 129, MOST};

    if (o->words)
        return i ? 0 : o->words;
    if (i <= 40)
        return i;
    i -= 41;
    return c->quick && i > 5 ? 0 : i < N(longer) ? longer[i] : 0;
}

static enum result every_length_equals_reference(struct check *c)
{
    for (const struct operation *o = operations; o < operations + N(operations); o++)
        for (size_t i = 0, n; (n = length_at(c, o, i)) != 0 || i == 0; i++)
            for (unsigned turn = 0; turn < (o->words   ? 400u
                                            : c->quick ? 10u
                                                       : N_SHAPES * N_SHAPES);
                 turn++) {
                struct call call = {
                    kernel_of(c), o, room_r + MARGIN, room_a + MARGIN, room_b + MARGIN, n, 0, 0};
                const enum shape a =
                    (enum shape)(c->quick ? random_below(&c->random, N_SHAPES) : turn % N_SHAPES);
                const enum shape b = (enum shape)(c->quick ? random_below(&c->random, N_SHAPES)
                                                           : turn / N_SHAPES % N_SHAPES);
                fill_operands(c, &call, a, b);
                fill_margins(call.r, result_words(o, n));
                if (agrees(c, &call, overlaps[APART]) == FAIL)
                    return FAIL;
                if (!margins_are_untouched(call.r, result_words(o, n)))
                    return check_fail(c, "%s of %zu words: wrote outside of the result", o->name,
                                      n);
            }
    return PASS;
}

static enum result in_place_equals_apart(struct check *c)
{
    for (const struct operation *o = operations; o < operations + N(operations); o++)
        for (size_t i = 0, n; (n = length_at(c, o, i)) != 0 || i == 0; i++)
            for (int overlap = R_IS_A; overlap < N_OVERLAPS; overlap++) {
                struct call call = {kernel_of(c), o, room_r, room_a, room_b, n, 0, 0};
                if (!is_allowed(o, (enum overlap)overlap))
                    continue;
                fill_operands(c, &call, (enum shape)random_below(&c->random, N_SHAPES),
                              (enum shape)random_below(&c->random, N_SHAPES));
                lay_over(&call, (enum overlap)overlap);
                if (agrees(c, &call, overlaps[overlap]) == FAIL)
                    return FAIL;
            }
    return PASS;
}

/* All places of words in 64 bytes, of r, a and b; quick: of each alone. */
static enum result every_alignment_equals_reference(struct check *c)
{
    const size_t places = 64 / sizeof(word);

    for (const struct operation *o = operations; o < operations + N(operations); o++)
        for (size_t i = 0; i < places * places; i++)
            for (size_t n = 5; n < 28; n += 7) {
                const size_t at_r = i % places, at_a = i / places,
                             at_b = random_below(&c->random, places);
                struct call call = {kernel_of(c), o, room_r + at_r, room_a + at_a, room_b + at_b,
                                    o->words ? o->words : n, 0, 0};
                if (c->quick && at_r && at_a)
                    continue;
                fill_operands(c, &call, RANDOM, MOSTLY_ONES);
                if (agrees(c, &call, "at another alignment") == FAIL)
                    return FAIL;
            }
    return PASS;
}

/* At the start and at the end of pages between pages without access. */
static enum result accesses_stay_inside_the_buffers(struct check *c)
{
    static struct guarded fence_r, fence_a, fence_b;

    if (!fence_r.start) {
        fence_r = port_guarded(sizeof room_r);
        fence_a = port_guarded(sizeof room_a);
        fence_b = port_guarded(sizeof room_b);
    }
    if (!fence_r.start || !fence_a.start || !fence_b.start)
        return check_skip(c, "no guard pages on this system");
    for (const struct operation *o = operations; o < operations + N(operations); o++)
        for (size_t i = 0, n; (n = length_at(c, o, i)) != 0 || i == 0; i++)
            for (int ends = 0; ends < 8; ends++) {
                struct call call = {kernel_of(c), o, NULL, NULL, NULL, n, 0, 0};
                call.r = (word *)(void *)port_flush(&fence_r, ends & 1,
                                                    result_words(o, n) * sizeof(word));
                call.a = (word *)(void *)port_flush(&fence_a, ends & 2, n * sizeof(word));
                call.b = (word *)(void *)port_flush(&fence_b, ends & 4, n * sizeof(word));
                fill_operands(c, &call, RANDOM, RANDOM);
                if (agrees(c, &call, "at the edge of a page") == FAIL)
                    return FAIL;
            }
    return PASS;
}

static enum result long_calls_equal_short_ones(struct check *c)
{
    enum { LONG = 70000, PIECE = 1021 };
    static word a[LONG], r[LONG], again[LONG];
    const struct evc_bn_words *k = kernel_of(c), *ref = reference();
    const size_t n = c->quick || k == ref ? 3000 : LONG;
    const word w = ONES - 2;
    word carry = 0;

    random_bytes(&c->random, (uint8_t *)a, sizeof a);
    random_bytes(&c->random, (uint8_t *)r, sizeof r);
    memcpy(again, r, sizeof r);
    const word above = k->mul_add_words(r, a, n, w);
    for (size_t at = 0; at < n; at += PIECE, c->cases++) {
        const size_t len = n - at < PIECE ? n - at : PIECE;
        word plus = carry;
        carry = ref->mul_add_words(again + at, a + at, len, w);
        for (size_t i = at; plus && i < at + len; i++) {
            again[i] += plus;
            plus = again[i] < plus;
        }
        carry += plus;
    }
    if (above != carry || memcmp(r, again, n * sizeof *r) != 0)
        return check_fail(c, "mul_add_words of %zu words differs from pieces", n);
    return PASS;
}

/* ---- Division -------------------------------------------------------------------------------- */

/* The estimate of some of these quotients is too small: by words just above B / 2, of a number
 * whose upper word is nearly as large. */
static enum result quotients_after_low_estimates(struct check *c)
{
    const word half = ONES / 2 + 1;

    for (word above = 2; above < 40; above++)
        for (word less = 1; less <= 4 && less < above; less++)
            for (word low = ONES; low > ONES - 3; low--, c->cases++) {
                const word d = half + above, high = d - less;
                const word got = kernel_of(c)->div_words(high, low, d);

                if (got != reference()->div_words(high, low, d))
                    return check_fail(c, "%llx %llx by %llx: %llx", (unsigned long long)high,
                                      (unsigned long long)low, (unsigned long long)d,
                                      (unsigned long long)got);
            }
    return PASS;
}

static enum result quotients_equal_reference(struct check *c)
{
    if (quotients_after_low_estimates(c) == FAIL)
        return FAIL;
    for (long i = 0; i < (c->quick ? 5000 : 200000); i++, c->cases++) {
        const word high = random_word(&c->random), low = random_word(&c->random);
        const word d = i % 50 ? random_word(&c->random) : 0;
        const word got = kernel_of(c)->div_words(high, low, d),
                   want = reference()->div_words(high, low, d);
        if (got != want || (!d && got != ONES))
            return check_fail(c, "%llx %llx by %llx: %llx, not %llx", (unsigned long long)high,
                              (unsigned long long)low, (unsigned long long)d,
                              (unsigned long long)got, (unsigned long long)want);
    }
    return PASS;
}

/* Divisors where kernels change their way: below and above B / 8, powers of two, 1, B - 1. */
static word divisor_at(struct check *c, size_t i)
{
    static const word some[] = {1,
                                2,
                                3,
                                5,
                                17863,
                                65521,
                                65535,
                                65536,
                                65537,
                                ONES,
                                ONES - 1,
                                ONES / 2,
                                ONES / 2 + 1,
                                ONES / 8,
                                ONES / 8 + 1,
                                ONES / 8 + 2,
                                ONES / 5,
                                ONES / 4 + 1};
    const word any = random_word(&c->random);

    return i < N(some) ? some[i] : any ? any : 3;
}

static enum result remainders_equal_reference(struct check *c)
{
    static word a[MOST];

    for (size_t i = 0; i < (c->quick ? 40 : 200); i++)
        for (size_t n = 0; n <= MOST; n += n < 42 ? 1 : 23, c->cases++) {
            const word d = divisor_at(c, i);
            struct evc_bn_divisor divisor;
            word got, want;
            must(evc_bn_divisor_set(&divisor, d));
            fill(&c->random, a, n,
                 i % 3 ? (enum shape)random_below(&c->random, N_SHAPES) : ALL_ONES);
            got = kernel_of(c)->mod_words(a, n, &divisor);
            want = reference()->mod_words(a, n, &divisor);
            if (got != want || evc_bn_mod_word(kernel_of(c), a, n, d) != want)
                return check_fail(c, "%zu words modulo %llx: %llx, not %llx", n,
                                  (unsigned long long)d, (unsigned long long)got,
                                  (unsigned long long)want);
        }
    return PASS;
}

static enum result divisors_of_zero_are_refused(struct check *c)
{
    static const struct evc_bn_divisor zeros;
    const word a[2] = {5, 7};
    const uint32_t bad[3][2] = {{0, 3}, {3, 0}, {3, (UINT32_C(1) << 28) + 1}},
                   good[2] = {3, UINT32_C(1) << 28};
    struct evc_bn_divisor d;
    struct evc_bn_trial groups[2];

    memset(&d, 0x5a, sizeof d);
    c->cases = 3 + N(bad);
    if (evc_bn_divisor_set(&d, 0) != EVC_ERR_PARAMETER || memcmp(&d, &zeros, sizeof d) != 0)
        return check_fail(c, "0 is taken for a divisor");
    if (evc_bn_mod_word(kernel_of(c), a, 2, 0) != ONES)
        return check_fail(c, "a remainder by 0 is not all ones");
    for (size_t i = 0; i < N(bad); i++)
        if (evc_bn_trial_groups(bad[i], 2) != 0 ||
            evc_bn_trial_set(groups, 1, bad[i], 2) != EVC_ERR_PARAMETER)
            return check_fail(c, "trial division takes %u and %u", (unsigned)bad[i][0],
                              (unsigned)bad[i][1]);
    if (evc_bn_trial_set(groups, evc_bn_trial_groups(good, 2) + 1, good, 2) != EVC_ERR_LENGTH)
        return check_fail(c, "trial division takes a wrong number of groups");
    return PASS;
}

/* Primes as a sieve has them, and words of every size. */
static enum result trial_division_equals_one_by_one(struct check *c)
{
    enum { WORDS = 60 };
    static struct evc_bn_trial groups[WORDS];
    uint32_t words[WORDS], remainders[WORDS + 1];
    word a[40];

    for (int turn = 0; turn < (c->quick ? 20 : 200); turn++) {
        const size_t n = random_below(&c->random, WORDS + 1),
                     n_words = random_below(&c->random, 41);
        for (size_t i = 0; i < n; i++) {
            words[i] =
                turn % 2
                    ? 2 * (uint32_t)(i + (unsigned)turn) + 3
                    : (uint32_t)(random_next(&c->random) >> (36 + random_below(&c->random, 28)));
            if (!words[i])
                words[i] = UINT32_C(1) << 28;
        }
        fill(&c->random, a, n_words, turn % 3 ? RANDOM : ALL_ONES);
        remainders[n] = 0x5a5a5a5a;
        const size_t n_groups = evc_bn_trial_groups(words, n);
        must(evc_bn_trial_set(groups, n_groups, words, n));
        evc_bn_trial_mod(kernel_of(c), groups, n_groups, a, n_words, remainders);
        for (size_t i = 0; i < n; i++, c->cases++)
            if (remainders[i] != evc_bn_mod_word(reference(), a, n_words, words[i]))
                return check_fail(c, "%zu words modulo %u, word %zu of %zu: %u", n_words,
                                  (unsigned)words[i], i, n, (unsigned)remainders[i]);
        if (remainders[n] != 0x5a5a5a5a)
            return check_fail(c, "%zu words to divide by: wrote behind the remainders", n);
    }
    return PASS;
}

/* a modulo w, byte by byte. */
static uint32_t remainder_of_bytes(const uint8_t *a, size_t a_bytes, uint32_t w)
{
    uint64_t rest = 0;

    for (size_t i = 0; i < a_bytes; i++)
        rest = (rest << 8 | a[i]) % w;
    return (uint32_t)rest;
}

/* evc_bn_mod_words: at every length, and with the number and the scratch
 * memory at ends of pages. */
static enum result numbers_of_bytes_have_the_same_remainders(struct check *c)
{
    enum { WORDS = 7, LONGEST = 130, ROOM = LONGEST + 16 };
    static const uint32_t words[WORDS] = {
        3, 65537, UINT32_C(1) << 28, 1, (UINT32_C(1) << 28) - 57, 8191, 1021};
    static struct evc_bn_trial groups[WORDS];
    static struct guarded number, memory;
    const size_t n_groups = evc_bn_trial_groups(words, WORDS);
    uint32_t remainders[WORDS + 1];

    if (!number.start) {
        number = port_guarded(LONGEST);
        memory = port_guarded(ROOM);
    }
    if (!number.start || !memory.start)
        return check_skip(c, "no guard pages on this system");
    must(evc_bn_trial_set(groups, n_groups, words, WORDS));
    for (size_t n = 1; n <= LONGEST; n++) {
        const size_t scratch_bytes = evc_bn_mod_words_scratch_bytes(n);
        uint8_t *const a = port_flush(&number, true, n);
        uint8_t *const scratch = port_flush(&memory, true, scratch_bytes);

        random_bytes(&c->random, a, n);
        if (n % 3 == 0)
            memset(a, 0xff, n);
        memset(memory.start, 0x5a, memory.len_bytes);
        remainders[WORDS] = 0x5a5a5a5a;
        must(evc_bn_mod_words(kernel_of(c), groups, n_groups, a, n, remainders, scratch,
                              scratch_bytes));
        for (size_t i = 0; i < WORDS; i++, c->cases++)
            if (remainders[i] != remainder_of_bytes(a, n, words[i]))
                return check_fail(c, "%zu bytes modulo %u: %u", n, (unsigned)words[i],
                                  (unsigned)remainders[i]);
        if (remainders[WORDS] != 0x5a5a5a5a || scratch[-1] != 0x5a)
            return check_fail(
                c, "%zu bytes: wrote beside the remainders, or before the scratch memory", n);
    }
    return PASS;
}

/* Residue of the same call. */
static enum result scratch_leaves_nothing_behind(struct check *c)
{
    static const uint32_t prime = 65537;
    uint8_t a[67], scratch[sizeof a + 16];
    struct evc_bn_trial group;
    uint32_t remainder;

    must(evc_bn_trial_set(&group, 1, &prime, 1));
    for (size_t n = 1; n <= sizeof a; n++, c->cases++) {
        const size_t scratch_bytes = evc_bn_mod_words_scratch_bytes(n);

        random_bytes(&c->random, a, n);
        memset(scratch, 0x5a, sizeof scratch);
        must(evc_bn_mod_words(kernel_of(c), &group, 1, a, n, &remainder, scratch, scratch_bytes));
        for (size_t i = 0; i < sizeof scratch; i++)
            if (scratch[i] != 0x5a && (scratch[i] != 0 || i >= scratch_bytes))
                return check_fail(
                    c, "%zu bytes: something is left in byte %zu of the scratch memory", n, i);
    }
    return PASS;
}

static enum result bad_lengths_of_bytes_are_refused(struct check *c)
{
    static const uint32_t words[2] = {3, 5};
    static uint8_t a[EVC_BN_MAX_BYTES + 1], scratch[EVC_BN_MAX_BYTES + 16];
    const struct evc_bn_words *k = kernel_of(c);
    const struct {
        const struct evc_bn_words *kernel;
        size_t n, scratch_bytes;
        enum evc_status expected;
    } bad[] = {
        {NULL, 8, sizeof scratch, EVC_ERR_KERNEL},
        {k, 0, sizeof scratch, EVC_ERR_LENGTH},
        {k, EVC_BN_MAX_BYTES + 1, sizeof scratch, EVC_ERR_LENGTH},
        {k, 9, evc_bn_mod_words_scratch_bytes(9) - 1, EVC_ERR_SCRATCH},
        {k, EVC_BN_MAX_BYTES, 0, EVC_ERR_SCRATCH},
    };
    struct evc_bn_trial group;

    must(evc_bn_trial_set(&group, 1, words, 2));
    if (evc_bn_mod_words_scratch_bytes(0) || evc_bn_mod_words_scratch_bytes(EVC_BN_MAX_BYTES + 1))
        return check_fail(c, "there is a size of scratch memory for a length that is refused");
    memset(a, 0xff, sizeof a);
    memset(scratch, 0x5a, sizeof scratch);
    for (size_t i = 0; i < N(bad); i++, c->cases++) {
        uint32_t remainders[2] = {77, 77};
        const enum evc_status said = evc_bn_mod_words(bad[i].kernel, &group, 1, a, bad[i].n,
                                                      remainders, scratch, bad[i].scratch_bytes);

        if (said != bad[i].expected || remainders[0] != 77 || remainders[1] != 77 ||
            scratch[0] != 0x5a)
            return check_fail(c, "case %zu: %s, or something was written", i,
                              evc_status_text(said));
    }
    return PASS;
}

static const struct property properties[] = {
#define PROPERTY(name) {#name, name, false}
    PROPERTY(descriptor_agrees_with_its_line),
    PROPERTY(something_is_always_selected),
    PROPERTY(carries_run_through_every_word),
    PROPERTY(products_of_ones),
    PROPERTY(quotients_and_remainders_multiply_back),
    PROPERTY(every_length_equals_reference),
    PROPERTY(in_place_equals_apart),
    PROPERTY(every_alignment_equals_reference),
    PROPERTY(accesses_stay_inside_the_buffers),
    PROPERTY(long_calls_equal_short_ones),
    PROPERTY(quotients_equal_reference),
    PROPERTY(remainders_equal_reference),
    PROPERTY(divisors_of_zero_are_refused),
    PROPERTY(trial_division_equals_one_by_one),
    PROPERTY(numbers_of_bytes_have_the_same_remainders),
    PROPERTY(scratch_leaves_nothing_behind),
    PROPERTY(bad_lengths_of_bytes_are_refused),
    {"calls_keep_the_abi", bn_words_calls_keep_the_abi, false},
    {"leaves_nothing_behind", bn_words_leaves_nothing_behind, false},
#undef PROPERTY
};

const struct check_primitive check_bn_words = {
    .name = "bn_words", .properties = properties, .n_properties = N(properties)};

/* SPDX-License-Identifier: MIT */
/*
 * The properties that every kernel of bn has. The checks compare all results with those of c_ref,
 * which doubles and adds. They compare c_ref with what is known of published primes;
 * tests/oracles/bn_against_python.py compares it with another implementation of integers.
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everycore/bn.h"
#include "everycore/cpu.h"

#include "bn/ops.h"

#include "bn_lanes.h"
#include "bn_numbers.h"
#include "check_abi.h"
#include "key_room.h"
#include "must.h"
#include "port/port.h"
#include "residue.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

#define MOST EVC_BN_MAX_BYTES
#define MARGIN 64 /* bytes that must stay as they are */

static const struct evc_bn *kernel_of(const struct check *c)
{
    return evc_bn_named(c->line->name);
}

/* ---- Moduli with their memory ---------------------------------------------------------------- */

/* A modulus of one kernel, and scratch memory for it. */
struct ring {
    struct evc_bn_modulus *n;
    size_t n_bytes, memory_bytes, scratch_bytes;
    uint8_t *memory, *scratch; /* as the C library gives them */
};

/* The modulus stands at 16 modulo 64, the scratch memory at an odd address. */
static bool make_ring(struct ring *r, const struct evc_bn *kernel, const uint8_t *n, size_t n_bytes)
{
    r->n_bytes = n_bytes;
    r->memory_bytes = evc_bn_modulus_bytes(kernel, 8 * n_bytes);
    r->scratch_bytes = evc_bn_scratch_bytes(kernel, 8 * n_bytes);
    r->memory = port_alloc_64((r->memory_bytes + 127) / 64 * 64);
    r->scratch = malloc(r->scratch_bytes + 1);
    if (!r->memory || !r->scratch)
        return false;
    memset(r->scratch, 0x5a, r->scratch_bytes + 1);
    r->n = (struct evc_bn_modulus *)(void *)(r->memory + 16);
    return evc_bn_set_modulus_in(r->n, r->memory_bytes, kernel, n, n_bytes) == EVC_OK;
}

static void free_ring(struct ring *r)
{
    port_free_64(r->memory);
    free(r->scratch);
}

/* Every operation as one function, so that kernels can be compared by a loop. */
enum operation { ADD, SUB, MUL, SQR, REDUCE, EXP, EXP_PUBLIC, EXP_SMALL, N_OPERATIONS };
static const char *const operation_names[] = {"add",    "sub", "mul",        "sqr",
                                              "reduce", "exp", "exp_public", "exp_small"};

/* A sum or a difference by the kernel's own slot, which computes in its form. False: stored as it
 * is, it is another number than after a product with 1. */
static bool operate_in_form(enum operation operation, const struct ring *r, const uint8_t *a,
                            const uint8_t *b, uint8_t *out)
{
    static uint8_t before[MOST];
    void *const scratch = r->scratch + 1, *const x = evc_bn_number(r->n, scratch, 0),
               *const y = evc_bn_number(r->n, scratch, 1);

    evc_bn_op_enter(r->n, x, a, r->n_bytes, scratch);
    evc_bn_op_enter(r->n, y, b, r->n_bytes, scratch);
    (operation == ADD ? r->n->kernel->add : r->n->kernel->sub)(r->n, x, x, y,
                                                               evc_bn_scratch_start(scratch));
    r->n->kernel->store(r->n, before, x);
    evc_bn_op_mul(r->n, x, x, evc_bn_one(r->n), scratch);
    r->n->kernel->store(r->n, out, x);
    if (memcmp(before, out, r->n_bytes) != 0)
        return false;
    evc_bn_op_leave(r->n, out, x, y, scratch);
    return true;
}

/* b: the second operand of n_bytes bytes; or of b_bytes bytes, the number to reduce or the
 * exponent. A small base is the last byte of a. */
static enum evc_status operate(enum operation operation, const struct ring *r, const uint8_t *a,
                               const uint8_t *b, size_t b_bytes, uint8_t *out)
{
    void *scratch = r->scratch + 1;

    switch (operation) {
    case ADD: return evc_bn_mod_add(r->n, a, b, out, scratch, r->scratch_bytes);
    case SUB: return evc_bn_mod_sub(r->n, a, b, out, scratch, r->scratch_bytes);
    case MUL: return evc_bn_mod_mul(r->n, a, b, out, scratch, r->scratch_bytes);
    case SQR: return evc_bn_mod_sqr(r->n, a, out, scratch, r->scratch_bytes);
    case REDUCE: return evc_bn_mod_reduce(r->n, b, b_bytes, out, scratch, r->scratch_bytes);
    case EXP: return evc_bn_exp(r->n, a, b, b_bytes, out, scratch, r->scratch_bytes);
    case EXP_PUBLIC: return evc_bn_exp_public(r->n, a, b, b_bytes, out, scratch, r->scratch_bytes);
    default:
        return evc_bn_exp_small(r->n, a[r->n_bytes - 1], b, b_bytes, out, scratch,
                                r->scratch_bytes);
    }
}

static void write_hex(char *to, size_t room, const uint8_t *bytes, size_t n)
{
    *to = 0;
    for (size_t i = 0; i < n && 2 * i + 3 < room; i++)
        snprintf(to + 2 * i, 3, "%02x", bytes[i]);
}

/* Says which numbers were at fault; only short ones whole. */
static enum result differs(struct check *c, enum operation operation, const struct ring *r,
                           const uint8_t *n, const uint8_t *a, const uint8_t *b, size_t b_bytes,
                           const uint8_t *got)
{
    char words[4][600];

    write_hex(words[0], sizeof words[0], n, r->n_bytes);
    write_hex(words[1], sizeof words[1], a, r->n_bytes);
    write_hex(words[2], sizeof words[2], b, b_bytes);
    write_hex(words[3], sizeof words[3], got, r->n_bytes);
    return check_fail(c, "%s modulo a number of %zu bits, %s, of %s and %s (%zu bytes) is not %s",
                      operation_names[operation], 8 * r->n_bytes, words[0], words[1], words[2],
                      b_bytes, words[3]);
}

/* All of the scratch memory is zero or as it was. It becomes what it was before. */
static enum result is_clean(struct check *c, const struct ring *r, const char *operation)
{
    const uint8_t *const scratch = r->scratch + 1;

    c->cases++;
    for (size_t i = 0; i < r->scratch_bytes; i++)
        if (scratch[i] != 0 && scratch[i] != 0x5a)
            return check_fail(c,
                              "%s of %zu bytes leaves something in byte %zu of the scratch memory",
                              operation, r->n_bytes, i);
    memset(r->scratch, 0x5a, r->scratch_bytes + 1);
    return PASS;
}

/* ---- The descriptor -------------------------------------------------------------------------- */

static enum result descriptor_agrees_with_its_line(struct check *c)
{
    const struct evc_bn *bn = kernel_of(c);
    const struct evc_kernel *k = bn ? &bn->kernel : NULL;

    c->cases = 7;
    if (!k)
        return check_fail(c, "evc_bn_named() does not find it");
    if (strcmp(k->name, c->line->name) != 0)
        return check_fail(c, "its name is %s", k->name);
    if (k->needs != c->line->needs || k->timing != c->line->timing || k->use != c->line->use)
        return check_fail(c, "needs, timing class or use differ from the line of kernels.def");
    if (k->key_bytes < sizeof(struct evc_bn_modulus) || k->key_align != 16 || k->batch == 0)
        return check_fail(c, "a head of %u bytes, aligned to %u, and batches of %u",
                          (unsigned)k->key_bytes, (unsigned)k->key_align, (unsigned)k->batch);
    if (!bn->shape || !bn->set_modulus || !bn->load || !bn->store || !bn->add || !bn->sub ||
        !bn->mul || !bn->sqr)
        return check_fail(c, "a mandatory operation is missing");
    if (bn->lanes == 0 || (bn->lanes > 1) != (bn->exp_many != NULL) ||
        !bn->exp_many != !bn->exp_many_bytes)
        return check_fail(c, "%u lanes, but %s", (unsigned)bn->lanes,
                          bn->exp_many ? "exp_many" : "no exp_many");
    for (size_t n_bytes = EVC_BN_MIN_BITS / 8; n_bytes <= MOST; n_bytes++, c->cases++) {
        struct evc_bn_shape s;
        bn->shape(n_bytes, &s);
        if (s.form_bytes % 16 || s.private_bytes % 16 || s.scratch_bytes % 16 ||
            s.form_bytes < n_bytes)
            return check_fail(
                c, "moduli of %zu bytes: sizes that are no multiples of 16, or too small", n_bytes);
    }
    return PASS;
}

/* One power of short moduli goes to the first kernel behind those that are made for longer ones. */
static bool length_is_obeyed(uint64_t features, unsigned policy, size_t n_bits)
{
    const struct evc_bn *any = evc_bn_select(features, policy, EVC_USE_ANY),
                        *one = evc_bn_select_for(features, policy, EVC_USE_ANY, n_bits),
                        *many = evc_bn_select_for(features, policy, EVC_USE_PARALLEL, n_bits);

    if (many != evc_bn_select(features, policy, EVC_USE_PARALLEL))
        return false;
    return any->fewest_bits <= n_bits ? one == any : one != any && one->fewest_bits <= n_bits;
}

static enum result something_is_always_selected(struct check *c)
{
    const uint64_t all = evc_cpu_features();

    for (unsigned policy = 0; policy < 4; policy++)
        for (int i = 0; i < 500; i++, c->cases++) {
            const uint64_t some = random_next(&c->random) | random_next(&c->random);
            const struct evc_bn *bn = evc_bn_select(i ? all & some : 0, policy, EVC_USE_ANY);
            if (!bn || (policy == 0 && bn->kernel.timing != EVC_TIMING_CT))
                return check_fail(c, "policy %u: nothing fits, or what is not constant-time",
                                  policy);
            const size_t n_bits = 8 * (1 + random_below(&c->random, 2 * MOST));
            if (!length_is_obeyed(i ? all & some : all, policy, n_bits))
                return check_fail(c, "policy %u: not the kernel for moduli of %zu bits", policy,
                                  n_bits);
        }
    return PASS;
}

/* ---- Known answers --------------------------------------------------------------------------- */

/* Published primes: of NIST P-256 (SP 800-186), curve25519 (RFC 7748), NIST P-521, and
 * RFC 2409, section 6.1. */
static const char *const primes[] = {
    "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
    "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed",
    "01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
    "ffff",
    "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74"
    "020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437"
    "4fe1356d6d51c245e485b576625e7ec6f44c42e9a63a3620ffffffffffffffff",
};

/* 7 to the (p - 1) is 1, and to the (p - 2) it is the inverse of 7. */
static enum result primes_keep_fermats_theorem(struct check *c)
{
    for (size_t i = 0; i < (c->quick ? 2 : N(primes)); i++) {
        uint8_t p[128], e[128], base[128] = {0}, out[128], inverse[128];
        const size_t n_bytes = check_unhex(p, primes[i]);
        struct ring r;
        bool good;

        base[n_bytes - 1] = 7;
        memcpy(e, p, n_bytes);
        e[n_bytes - 1] ^= 1;
        good = make_ring(&r, kernel_of(c), p, n_bytes) &&
               operate(EXP, &r, base, e, n_bytes, out) == EVC_OK;
        for (size_t j = 0; good && j < n_bytes; j++)
            good = out[j] == (j == n_bytes - 1);
        if (good) {
            e[n_bytes - 1] = (uint8_t)(p[n_bytes - 1] - 2);
            good =
                operate(EXP, &r, base, e, n_bytes, out) == EVC_OK &&
                evc_bn_inverse(base, p, n_bytes, inverse, r.scratch, r.scratch_bytes) == EVC_OK &&
                memcmp(out, inverse, n_bytes) == 0;
        }
        free_ring(&r);
        c->cases += 2;
        if (!good)
            return check_fail(
                c, "a power of 7 is wrong modulo the prime %.32s..., or its inverse is", primes[i]);
    }
    return PASS;
}

/* The vector of FIPS 186-2, appendix 5: q, p, g and g^x mod p of a DSA of 512 bits. */
static enum result known_answers(struct check *c)
{
    static const char p_hex[] =
        "8df2a494492276aa3d25759bb06869cbeac0d83afb8d0cf7cbb8324f0d7882e5"
        "d0762fc5b7210eafc2e9adac32ab7aac49693dfbf83724c2ec0736ee31c80291";
    static const char g_hex[] =
        "626d027839ea0a13413163a55b4cb500299d5522956cefcb3bff10f399ce2c2e"
        "71cb9de5fa24babf58e5b79521925c9cc42e9f6f464b088cc572af53e6d78802";
    static const char x_hex[] = "2070b3223dba372fde1c0ffc7b2e3b498b260614";
    static const char y_hex[] =
        "19131871d75b1612a819f29d78d1b0d7346f7aa77bb62a859bfd6c5675da9d21"
        "2d3a36ef1672ef660b8c7c255cc0ec74858fba33f44c06699630a76b030ee333";
    uint8_t p[64], g[64], x[20], y[64], out[64];
    struct ring r;
    enum result result = PASS;

    check_unhex(p, p_hex);
    check_unhex(g, g_hex);
    check_unhex(x, x_hex);
    check_unhex(y, y_hex);
    if (!make_ring(&r, kernel_of(c), p, 64))
        result = check_fail(c, "a modulus is refused");
    for (enum operation op = EXP; result == PASS && op <= EXP_PUBLIC; op++, c->cases++)
        if (operate(op, &r, g, x, 20, out) != EVC_OK || memcmp(out, y, 64) != 0)
            result = differs(c, op, &r, p, g, x, 20, out);
    free_ring(&r);
    return result;
}

/* ---- Against the reference ------------------------------------------------------------------- */

/* One modulus, and operands of so many turns, by the kernel and by c_ref. */
static enum result size_equals_reference(struct check *c, size_t n_bytes, int turns)
{
    static uint8_t n[MOST], a[MOST], b[MOST], got[MOST], expected[MOST];
    struct ring r, reference = {0};
    enum result result = PASS;

    bn_random_modulus(&c->random, n, n_bytes);
    if (!make_ring(&r, kernel_of(c), n, n_bytes) ||
        !make_ring(&reference, evc_bn_named("c_ref"), n, n_bytes))
        result = check_fail(c, "a modulus of %zu bytes is refused", n_bytes);
    for (int turn = 0; turn < turns && result == PASS; turn++) {
        bn_random_operand(&c->random, a, n, n_bytes);
        bn_random_operand(&c->random, b, n, n_bytes);
        for (enum operation op = ADD; op <= REDUCE && result == PASS; op++, c->cases++) {
            const size_t b_bytes =
                op == REDUCE ? 1 + random_below(&c->random, 3 * n_bytes < MOST ? 3 * n_bytes : MOST)
                             : n_bytes;
            if (op == REDUCE)
                bn_pieces(&c->random, b, b_bytes);
            if (operate(op, &r, a, b, b_bytes, got) != EVC_OK ||
                operate(op, &reference, a, b, b_bytes, expected) != EVC_OK ||
                memcmp(got, expected, n_bytes) != 0)
                result = differs(c, op, &r, n, a, b, b_bytes, got);
            if (result == PASS && op <= SUB &&
                (!operate_in_form(op, &r, a, b, got) || memcmp(got, expected, n_bytes) != 0))
                result = differs(c, op, &r, n, a, b, b_bytes, got);
        }
    }
    free_ring(&r);
    free_ring(&reference);
    return result;
}

/* out = 2 sum + bit modulo n. */
static bool double_and_add(const struct ring *r, uint8_t *sum, unsigned bit)
{
    uint8_t number[64] = {0};

    number[r->n_bytes - 1] = (uint8_t)bit;
    return operate(ADD, r, sum, sum, r->n_bytes, sum) == EVC_OK &&
           operate(ADD, r, sum, number, r->n_bytes, sum) == EVC_OK;
}

/* Long numbers bit by bit, by sums alone: reference and kernels have the code
 * above kernels in common. */
static enum result reductions_equal_sums(struct check *c)
{
    static uint8_t n[64], a[256], got[64], expected[64];
    enum result result = PASS;

    for (int i = 0; i < (c->quick ? 8 : 100) && result == PASS; i++, c->cases++) {
        const size_t n_bytes = 16 + random_below(&c->random, 25),
                     a_bytes = 1 + random_below(&c->random, 5 * n_bytes);
        struct ring r;
        bool good;

        bn_random_modulus(&c->random, n, n_bytes);
        bn_pieces(&c->random, a, a_bytes);
        memset(expected, 0, sizeof expected);
        good = make_ring(&r, kernel_of(c), n, n_bytes);
        for (size_t bit = 8 * a_bytes; good && bit-- > 0;)
            good = double_and_add(&r, expected, (unsigned)a[a_bytes - 1 - bit / 8] >> bit % 8 & 1);
        if (!good || operate(REDUCE, &r, expected, a, a_bytes, got) != EVC_OK ||
            memcmp(got, expected, n_bytes) != 0)
            result = differs(c, REDUCE, &r, n, expected, a, a_bytes, got);
        free_ring(&r);
    }
    return result;
}

/* x: a result, in the kernel's form, that no doubling has made: load gives numbers below
 * n / 2^loaded_bits. Modulo ones alone it is the power of two above the modulus, where load can
 * give its parts: twice that, less twice the modulus, carries through all digits. */
static void make_number_to_double(struct check *c, const struct ring *r, const uint8_t *n,
                                  uint8_t *a, void *x, void *y)
{
    const size_t loaded = r->n->shape.loaded_bits, n_bytes = r->n_bytes,
                 first = loaded / 8 + (loaded % 8 != 0);
    const bool is_sum = loaded && loaded % 4 == 0 && n[0] == 0xff && n[n_bytes - 1] == 0xff;
    void *const scratch = evc_bn_scratch_start(r->scratch + 1);

    if (loaded == 0)
        bn_random_operand(&c->random, a, n, n_bytes);
    else if (is_sum)
        memset(a + first, 0xff, n_bytes - first);
    else
        random_bytes(&c->random, a + first + 1, n_bytes - first - 1);
    if (is_sum && loaded % 8)
        a[loaded / 8] = 0x0f;
    r->n->kernel->load(r->n, x, a, n_bytes);
    memset(a, 0, n_bytes);
    a[n_bytes - 1] = 1;
    r->n->kernel->load(r->n, y, a, n_bytes);
    (is_sum ? r->n->kernel->add : r->n->kernel->sub)(r->n, x, x, y, scratch);
}

/* Kernels may double in another way than they add. Sums of a number and itself, in place and
 * elsewhere, have the form of the sum of a number and its copy. */
static enum result doublings_equal_sums(struct check *c)
{
    enum { LONGEST = 388 };
    static const size_t lengths[] = {16,  24,  32,  40,  64,  65,  96,  128,    129,
                                     160, 192, 240, 256, 261, 264, 300, LONGEST};
    static uint8_t n[LONGEST], a[LONGEST];

    for (size_t i = 0; i < (c->quick ? 2 : 40) * N(lengths); i++, c->cases++) {
        const size_t n_bytes = lengths[i % N(lengths)];
        const struct evc_bn *bn = kernel_of(c);
        struct ring r;
        uint8_t *number[4];
        void *scratch;
        bool good;

        bn_random_modulus(&c->random, n, n_bytes);
        if (i / N(lengths) % 2)
            memset(n, 0xff, n_bytes);
        if (!make_ring(&r, bn, n, n_bytes))
            return check_fail(c, "a modulus of %zu bytes is refused", n_bytes);
        scratch = evc_bn_scratch_start(r.scratch + 1);
        for (size_t j = 0; j < N(number); j++)
            number[j] = evc_bn_number(r.n, r.scratch + 1, j);
        memset(a, 0, n_bytes);
        memset(number[0], 0, N(number) * r.n->shape.form_bytes);
        make_number_to_double(c, &r, n, a, number[0], number[1]);
        memcpy(number[1], number[0], r.n->shape.form_bytes);
        bn->add(r.n, number[2], number[0], number[1], scratch);
        bn->add(r.n, number[3], number[0], number[0], scratch);
        bn->add(r.n, number[1], number[1], number[1], scratch);
        good = memcmp(number[2], number[3], r.n->shape.form_bytes) == 0 &&
               memcmp(number[2], number[1], r.n->shape.form_bytes) == 0;
        free_ring(&r);
        if (!good)
            return check_fail(
                c, "a number of %zu bytes is doubled to another than it and its copy make",
                n_bytes);
    }
    return PASS;
}

/* r = r to the power of 2^n_squares times entry number index, by slots that every kernel has. */
static void raise_in_steps(const struct evc_bn_modulus *n, uint8_t *r, unsigned n_squares,
                           const uint8_t *table, size_t index, void *scratch)
{
    for (; n_squares; n_squares--)
        n->kernel->sqr(n, r, r, scratch);
    n->kernel->mul(n, r, r, table + index * n->shape.form_bytes, scratch);
}

/* The slot raise keeps numbers beyond the modulus between its squares, and gives one. Products with
 * 1 are below it. */
static enum result raising_equals_squares_and_a_product(struct check *c)
{
    enum { LONGEST = 520, ENTRIES = 32, AT_TABLE = 3 };
    static const size_t lengths[] = {16,  32,  56,  63,  64,  65,  72,  120, 128,    136,
                                     184, 192, 255, 256, 264, 320, 384, 388, LONGEST};
    static uint8_t n[LONGEST], a[LONGEST];
    const struct evc_bn *bn = kernel_of(c);

    if (!bn->raise)
        return check_skip(c, "it has no slot raise");
    for (size_t i = 0; i < (c->quick ? 16 : 200) * N(lengths); i++, c->cases++) {
        const size_t n_bytes = lengths[i % N(lengths)];
        const unsigned n_squares = 1 + (unsigned)random_below(&c->random, 7);
        const size_t n_entries = (size_t)1 << random_below(&c->random, 6);
        const size_t index = random_below(&c->random, n_entries);
        uint8_t *number[AT_TABLE + ENTRIES];
        struct ring r;
        void *scratch;
        bool good;

        bn_random_modulus(&c->random, n, n_bytes);
        if (i / N(lengths) % 2)
            memset(n, 0xff, n_bytes);
        if (!make_ring(&r, bn, n, n_bytes))
            return check_fail(c, "a modulus of %zu bytes is refused", n_bytes);
        scratch = evc_bn_scratch_start(r.scratch + 1);
        for (size_t j = 0; j < N(number); j++)
            number[j] = evc_bn_number(r.n, r.scratch + 1, j);
        for (size_t j = 0; j < n_entries + 1; j++) {
            uint8_t *const to = number[j < n_entries ? AT_TABLE + j : 0];
            bn_random_operand(&c->random, a, n, n_bytes);
            bn->load(r.n, to, a, n_bytes);
        }
        memcpy(number[1], number[0], r.n->shape.form_bytes);
        raise_in_steps(r.n, number[1], n_squares, number[AT_TABLE], index, scratch);
        bn->raise(r.n, number[0], n_squares, number[2], number[AT_TABLE], n_entries, index,
                  scratch);
        good = memcmp(number[2], number[AT_TABLE + index], r.n->shape.form_bytes) == 0;
        for (size_t j = 0; j < 2; j++)
            bn->mul(r.n, number[j], number[j], evc_bn_one(r.n), scratch);
        good = good && memcmp(number[0], number[1], r.n->shape.form_bytes) == 0;
        free_ring(&r);
        if (!good)
            return check_fail(c, "a number of %zu bytes, %u squares, entry %zu of %zu", n_bytes,
                              n_squares, index, n_entries);
    }
    return PASS;
}

/* Every length to 72 bytes; every multiple of 64 bits to 2048; around
 * powers of two; the longest. */
static enum result sums_and_products_equal_reference(struct check *c)
{
    static const size_t long_bytes[] = {257, 264, 363, 364,  385,  455,  520,  546, 648,
                                        728, 760, 819, 1000, 1016, 1017, 1023, 1024};

    if (strcmp(c->line->name, "c_ref") == 0)
        return check_skip(c, "it is the reference");
    for (size_t n_bytes = EVC_BN_MIN_BITS / 8; n_bytes <= 72; n_bytes++)
        if (size_equals_reference(c, n_bytes, c->quick ? 4 : 40) == FAIL)
            return FAIL;
    for (size_t n_bytes = 80; n_bytes <= 256; n_bytes += c->quick ? 40 : 8)
        for (int i = 0; i < (c->quick ? 1 : 8); i++)
            if (size_equals_reference(c, n_bytes + (size_t)i % 2 * random_below(&c->random, 8),
                                      4) == FAIL)
                return FAIL;
    for (size_t i = 0; i < N(long_bytes); i++)
        if ((!c->quick || i == 0 || i == 6) &&
            size_equals_reference(c, long_bytes[i], c->quick ? 1 : 4) == FAIL)
            return FAIL;
    return PASS;
}

/* Many turns with structured operands of few limbs, where a lost carry shows soonest. */
static enum result carries_of_short_numbers_are_kept(struct check *c)
{
    if (strcmp(c->line->name, "c_ref") == 0)
        return check_skip(c, "it is the reference");
    for (int i = 0; i < (c->quick ? 60 : 4000); i++)
        if (size_equals_reference(c, 16 + random_below(&c->random, 25), 6) == FAIL)
            return FAIL;
    return PASS;
}

/* Exponents of all windows' lengths; c_ref against squares and products of its own. */
static enum result powers_equal_reference(struct check *c)
{
    static const size_t exponent_bytes[] = {1, 2, 3, 4, 9, 10, 11, 39, 40, 41, 43, 64};
    static uint8_t n[64], a[64], e[64], got[64], expected[64];
    enum result result = PASS;

    for (size_t i = 0; i < (c->quick ? 1 : 4) * N(exponent_bytes) && result == PASS; i++) {
        const size_t e_bytes = exponent_bytes[i % N(exponent_bytes)];
        const size_t n_bytes = 16 + random_below(&c->random, i < N(exponent_bytes) ? 17 : 49);
        struct ring r, reference = {0};

        bn_random_modulus(&c->random, n, n_bytes);
        bn_random_operand(&c->random, a, n, n_bytes);
        bn_pieces(&c->random, e, e_bytes);
        if (!make_ring(&r, kernel_of(c), n, n_bytes) ||
            !make_ring(&reference, evc_bn_named("c_ref"), n, n_bytes))
            result = check_fail(c, "a modulus of %zu bytes is refused", n_bytes);
        else if (operate(EXP_PUBLIC, &reference, a, e, e_bytes, expected) != EVC_OK)
            result = check_fail(c, "the reference refuses an exponent of %zu bytes", e_bytes);
        for (enum operation op = EXP; op <= EXP_PUBLIC && result == PASS; op++, c->cases++)
            if (operate(op, &r, a, e, e_bytes, got) != EVC_OK ||
                memcmp(got, expected, n_bytes) != 0)
                result = differs(c, op, &r, n, a, e, e_bytes, got);
        free_ring(&r);
        free_ring(&reference);
    }
    return result;
}

/* Powers of words, by sums and by a table, as those of the same numbers. Lengths around those from
 * which on sums are taken; exponents of zeros, of ones, of the bits that are the place of a bit; in
 * place; nothing is left. */
static enum result small_powers_equal_powers(struct check *c)
{
    enum { LONGEST = 388 };
    static const size_t lengths[] = {16, 256, 384, 33, 128, 127, 129, 131, 136, LONGEST};
    static const uint32_t bases[] = {2, 3, 5, 2, 7, 0, 1, 2, 16, 0x80000001, UINT32_MAX, 2};
    static uint8_t n[LONGEST], a[LONGEST], e[64], got[LONGEST + 2 * MARGIN], expected[LONGEST];
    const bool is_slow = strcmp(c->line->name, "c_ref") == 0;
    enum result result = PASS;

    for (size_t i = 0; i < (c->quick ? 12 : 120) && result == PASS; i++, c->cases++) {
        const size_t n_bytes = is_slow && i % 4 ? lengths[i % 4] : lengths[i % N(lengths)];
        const uint32_t base = bases[(i + i / 12) % N(bases)];
        /* is_one_byte: less than the bits that the place of a bit has, of base 2 */
        const bool is_one_byte = i % 12 == 7;
        const size_t e_bytes = is_slow       ? 1 + i % 2
                               : is_one_byte ? 1
                                             : 2 + random_below(&c->random, i % 5 ? 6 : 40);
        struct ring r;

        bn_random_modulus(&c->random, n, n_bytes);
        memset(a, 0, n_bytes);
        evc_store32_be(a + n_bytes - 4, base);
        bn_pieces(&c->random, e, e_bytes);
        if (i % 4 == 3)
            memset(e, i % 3 ? 0xff : 0, e_bytes);
        memset(got, 0xa5, sizeof got);
        if (!make_ring(&r, kernel_of(c), n, n_bytes))
            return check_fail(c, "a modulus of %zu bytes is refused", n_bytes);
        must(operate(EXP, &r, a, e, e_bytes, expected));
        memset(r.scratch, 0x5a, r.scratch_bytes + 1);
        must(evc_bn_exp_small(r.n, base, e, e_bytes, got + MARGIN, r.scratch + 1, r.scratch_bytes));
        if (memcmp(got + MARGIN, expected, n_bytes) != 0)
            result = differs(c, EXP_SMALL, &r, n, a, e, e_bytes, got + MARGIN);
        for (size_t j = 0; j < MARGIN && result == PASS; j++)
            if (got[j] != 0xa5 || got[MARGIN + n_bytes + j] != 0xa5)
                result = check_fail(c, "exp_small of %zu bytes writes beside its result", n_bytes);
        if (result == PASS)
            result = is_clean(c, &r, "exp_small");
        free_ring(&r);
    }
    return result;
}

/* Exponentiations that fit together and such that do not, in any order; some in place. */
static enum result many_powers_of(struct check *c, const struct evc_bn *bn)
{
    enum { MANY = 19, LONGEST = 40 };
    static uint8_t n[3][LONGEST], base[MANY][LONGEST], e[MANY][LONGEST], out[MANY][LONGEST],
        expected[LONGEST], bases[MANY][LONGEST];
    static const size_t lengths[] = {LONGEST, LONGEST, 24};
    const size_t scratch_bytes = evc_bn_exp_many_scratch_bytes(bn, 8 * LONGEST);
    uint8_t *scratch = malloc(scratch_bytes);
    struct ring rings[3] = {{0}};
    enum result result = scratch ? PASS : check_fail(c, "no memory");

    for (size_t i = 0; i < N(rings); i++) {
        bn_random_modulus(&c->random, n[i], lengths[i]);
        if (!make_ring(&rings[i], bn, n[i], lengths[i]))
            result = check_fail(c, "a modulus is refused");
    }
    for (int turn = 0; turn < (c->quick ? 12 : 90) && result == PASS; turn++) {
        struct evc_bn_exp exps[MANY];
        const size_t n_exps = 1 + random_below(&c->random, MANY);
        for (size_t i = 0; i < n_exps; i++) {
            const struct ring *r = &rings[turn ? random_below(&c->random, 3) : 0];
            const size_t e_bytes = turn % 2 && random_below(&c->random, 4) == 0 ? 1 : 2;
            bn_random_operand(&c->random, base[i], n[r - rings], r->n_bytes);
            bn_pieces(&c->random, e[i], e_bytes);
            exps[i] = (struct evc_bn_exp){r->n, base[i], e[i], out[i], e_bytes, EVC_ERR_STATE};
            if (((size_t)turn + i) % 5 == 4)
                exps[i].out = base[i];
            if (turn % 3 == 2 && i == n_exps / 2) {
                memset(base[i], 0xff, r->n_bytes);
            } else if (turn % 4 == 3 && random_below(&c->random, 8) != 0) {
                memset(base[i], 0, r->n_bytes);
                base[i][r->n_bytes - 1] = 2;
                exps[i].base = NULL;
            }
        }
        memcpy(bases, base, sizeof bases);
        const enum evc_status all = evc_bn_exp_many(exps, n_exps, scratch, scratch_bytes);
        for (size_t i = 0; i < n_exps && result == PASS; i++, c->cases++) {
            const struct ring *r =
                &rings[exps[i].n == rings[1].n ? 1 : exps[i].n == rings[2].n ? 2 : 0];
            const enum evc_status one =
                operate(EXP, r, bases[i], e[i], exps[i].exponent_bytes, expected);
            if (exps[i].status != one || (one != EVC_OK && all != one) ||
                (one == EVC_OK && memcmp(exps[i].out, expected, r->n_bytes) != 0))
                result = check_fail(c, "number %zu of %zu exponentiations, of %zu bytes: %s", i,
                                    n_exps, r->n_bytes,
                                    exps[i].status == one ? "another result than alone"
                                                          : "another status than alone");
        }
    }
    for (size_t i = 0; i < N(rings); i++)
        free_ring(&rings[i]);
    free(scratch);
    return result;
}

/* Two to eight powers with no more scratch memory than they ask for, one byte behind a whole
 * vector: none writes behind it. */
static enum result many_powers_stay_inside(struct check *c, size_t n_bytes, size_t n_exps)
{
    enum { MANY = 8, LONGEST = EVC_BN_MAX_BYTES, MARGIN_BYTE = 0xcc };
    static uint8_t n[LONGEST], base[LONGEST], out[MANY][LONGEST];
    static const uint8_t e[1] = {3};
    const size_t scratch_bytes = evc_bn_exp_many_scratch_bytes(kernel_of(c), 8 * n_bytes);
    uint8_t *memory = malloc(64 + scratch_bytes + MARGIN),
            *scratch = memory + 1 + (63 & -(uintptr_t)memory);
    struct evc_bn_exp exps[MANY];
    struct ring r = {0};
    enum result result = memory ? PASS : check_fail(c, "no memory");

    bn_random_modulus(&c->random, n, n_bytes);
    bn_random_operand(&c->random, base, n, n_bytes);
    if (!make_ring(&r, kernel_of(c), n, n_bytes))
        result = check_fail(c, "a modulus is refused");
    for (size_t i = 0; i < n_exps; i++)
        exps[i] = (struct evc_bn_exp){r.n, base, e, out[i], sizeof e, EVC_ERR_STATE};
    if (result == PASS) {
        memset(scratch, MARGIN_BYTE, scratch_bytes + MARGIN);
        if (evc_bn_exp_many(exps, n_exps, scratch, scratch_bytes) != EVC_OK)
            result = check_fail(c, "%zu powers of %zu bytes are refused", n_exps, n_bytes);
        for (size_t i = 0; i < MARGIN; i++)
            if (scratch[scratch_bytes + i] != MARGIN_BYTE)
                result = check_fail(c, "%zu powers of %zu bytes write behind their scratch memory",
                                    n_exps, n_bytes);
        c->cases++;
    }
    free_ring(&r);
    free(memory);
    return result;
}

/* Two powers, of moduli of their own: kernels with lanes share vectors among the two. */
static enum result pair_equals_one_by_one(struct check *c, size_t n_bytes, const uint8_t *given)
{
    static uint8_t n[2][EVC_BN_MAX_BYTES], base[2][EVC_BN_MAX_BYTES], out[2][EVC_BN_MAX_BYTES],
        expected[EVC_BN_MAX_BYTES];
    const struct evc_bn *bn = kernel_of(c);
    const size_t scratch_bytes = evc_bn_exp_many_scratch_bytes(bn, 8 * n_bytes);
    uint8_t e[2][2], *scratch = malloc(scratch_bytes);
    struct ring rings[2] = {{0}};
    struct evc_bn_exp exps[2];
    enum result result = scratch ? PASS : check_fail(c, "no memory");

    for (size_t i = 0; i < 2; i++) {
        if (given && i == 0)
            memcpy(n[i], given, n_bytes);
        else
            bn_random_modulus(&c->random, n[i], n_bytes);
        bn_random_operand(&c->random, base[i], n[i], n_bytes);
        bn_pieces(&c->random, e[i], sizeof e[i]);
        if (!make_ring(&rings[i], bn, n[i], n_bytes))
            result = check_fail(c, "a modulus is refused");
        exps[i] =
            (struct evc_bn_exp){rings[i].n, base[i], e[i], out[i], sizeof e[i], EVC_ERR_STATE};
    }
    if (result == PASS && evc_bn_exp_many(exps, 2, scratch, scratch_bytes) != EVC_OK)
        result = check_fail(c, "two powers of %zu bytes are refused", n_bytes);
    for (size_t i = 0; i < 2 && result == PASS; i++, c->cases++) {
        if (operate(EXP, &rings[i], base[i], e[i], sizeof e[i], expected) != EVC_OK ||
            memcmp(out[i], expected, n_bytes) != 0)
            result = check_fail(
                c, "number %zu of two powers of %zu bytes: another result than alone", i, n_bytes);
    }
    for (size_t i = 0; i < 2; i++)
        free_ring(&rings[i]);
    free(scratch);
    return result;
}

/* Numbers to the first, of 320 bits. n is 1 modulo K + 1 = 2^50. In the kernel of rows of digits of
 * 50 bits, R = 2^600. With rho for R^2 modulo n, the base is 2n / (rho^33 - 1) modulo K, and below
 * n / K: so the result is made of a number from 2n on. */
static enum result results_from_2n_on_are_reduced(struct check *c)
{
    static const struct {
        const char *n, *base;
    } numbers[] = {
        {"d119cdccaf9b74f84ffcbf4217921e6c8b8e8f4eb3de08f9ec9837044692ba035704000000000001",
         "00000000000005c4e2709870dbbd493d393c18c70c04da1ba2000a9def74cc03bb6c45ee92406f93"},
        {"b7ed25daa18061082e376b8baf9ae4aac24da3363812e2992e45282aa66e12779fc0000000000001",
         "000000000000006ee284a9b92f3d2f0af9259f6ff7beda02548a65ba4c865706ceea10828d08ff02"},
        {"f50be2717a1eb92d9059129e61fbaa7b988f5e8828226f9c24617bfa77ac435f5e90000000000001",
         "0000000000000691e349678af7b7e43080d7b0e0574bd17e18ea039773ad9ec1f1f2d346f570a984"},
    };
    static const uint8_t one[1] = {1};
    const size_t scratch_bytes = evc_bn_exp_many_scratch_bytes(kernel_of(c), 320);
    uint8_t n[40], base[40], out[2][40], *scratch = malloc(scratch_bytes);
    enum result result = scratch ? PASS : check_fail(c, "no memory");

    for (size_t i = 0; i < N(numbers) && result == PASS; i++, c->cases++) {
        const size_t n_bytes = check_unhex(n, numbers[i].n);
        struct ring r;

        check_unhex(base, numbers[i].base);
        if (!make_ring(&r, kernel_of(c), n, n_bytes)) {
            result = check_fail(c, "a modulus is refused");
        } else {
            struct evc_bn_exp exps[] = {{r.n, base, one, out[0], sizeof one, EVC_ERR_STATE},
                                        {r.n, base, one, out[1], sizeof one, EVC_ERR_STATE}};

            must(evc_bn_exp_many(exps, 2, scratch, scratch_bytes));
            if (memcmp(out[0], base, n_bytes) != 0 || memcmp(out[1], base, n_bytes) != 0)
                result = check_fail(c, "a number to the first is not below its modulus");
        }
        free_ring(&r);
    }
    free(scratch);
    return result;
}

/* n = m^2 for m = 2^k - 1, and a base that m divides: the square is a multiple of n but 0, and a
 * kernel with results beyond n has to see those that are equal to n. */
static enum result multiples_are_zero(struct check *c, size_t n_bytes)
{
    static uint8_t n[EVC_BN_MAX_BYTES], base[EVC_BN_MAX_BYTES], out[8][EVC_BN_MAX_BYTES];
    static const uint8_t two[1] = {2}, zeros[EVC_BN_MAX_BYTES];
    const size_t half = n_bytes / 2, scratch_bytes =
                                         evc_bn_exp_many_scratch_bytes(kernel_of(c), 8 * n_bytes);
    uint8_t *scratch = malloc(scratch_bytes);
    enum result result = scratch ? PASS : check_fail(c, "no memory");
    struct evc_bn_exp exps[8];
    struct ring r;

    memset(n, 0, n_bytes);
    memset(n, 0xff, half);
    n[half - 1] = 0xfe;
    n[n_bytes - 1] = 1;
    memset(base, 0, n_bytes);
    memset(base + random_below(&c->random, half + 1), 0xff, half);
    if (memcmp(base, n, n_bytes) >= 0)
        memmove(base + 1, base, n_bytes - 1), base[0] = 0;
    if (!make_ring(&r, kernel_of(c), n, n_bytes))
        result = check_fail(c, "a modulus is refused");
    for (size_t o = MUL; o <= EXP_PUBLIC && result == PASS; o++) {
        if (o == REDUCE)
            continue;
        if (operate((enum operation)o, &r, base, o >= EXP ? two : base, o >= EXP ? 1 : n_bytes,
                    out[0]) != EVC_OK ||
            memcmp(out[0], zeros, n_bytes) != 0)
            result = check_fail(c, "%s of %zu bytes: a multiple of the modulus is not 0",
                                operation_names[o], n_bytes);
    }
    for (size_t n_exps = 1; n_exps <= 8 && result == PASS; n_exps++, c->cases++) {
        for (size_t i = 0; i < n_exps; i++)
            exps[i] = (struct evc_bn_exp){r.n, base, two, out[i], sizeof two, EVC_ERR_STATE};
        must(evc_bn_exp_many(exps, n_exps, scratch, scratch_bytes));
        for (size_t i = 0; i < n_exps; i++)
            if (memcmp(out[i], zeros, n_bytes) != 0)
                result = check_fail(c, "%zu powers of %zu bytes: a multiple of n is not 0", n_exps,
                                    n_bytes);
    }
    free_ring(&r);
    free(scratch);
    return result;
}

static enum result multiples_of_the_modulus_are_zero(struct check *c)
{
    static const uint16_t lengths[] = {16, 24, 32, 40, 64, 100, 128, 256, 512, 1024};

    const size_t n_skipped = strcmp(c->line->name, "c_ref") == 0 ? 4 : c->quick ? 2 : 0;

    for (size_t i = 0; i < N(lengths) - n_skipped; i++)
        if (multiples_are_zero(c, lengths[i]) == FAIL)
            return FAIL;
    return PASS;
}

static enum result pairs_equal_one_by_one(struct check *c)
{
    /* Around lengths that fill the digits of two numbers in a vector, or whole digits of 50
     * bits, up to the longest. */
    static const uint16_t lengths[] = {37, 38, 49, 50, 51, 68, 69, 93, 94, 128, 130, 131,
                                       192, 193, 194, 256, 261, 262, 311, 312, 389, 390, 467, 468,
                                       512, 519, 520, 623, 650, 779, 780, 935, 936, 1023, 1024};
    static uint8_t ones[EVC_BN_MAX_BYTES], lowest[EVC_BN_MAX_BYTES];

    if (!kernel_of(c)->exp_many)
        return check_skip(c, "the kernel does one power at a time");
    if (results_from_2n_on_are_reduced(c) == FAIL)
        return FAIL;
    memset(ones, 0xff, sizeof ones);
    lowest[0] = 1;
    for (size_t i = 0; i < N(lengths); i += c->quick ? 3 : 1) {
        const size_t n_bytes = lengths[i];

        lowest[n_bytes - 1] = 1;
        for (int turn = 0; turn < (c->quick ? 2 : 8); turn++)
            if (pair_equals_one_by_one(c, n_bytes,
                                       turn == 0   ? ones
                                       : turn == 1 ? lowest
                                                   : NULL) == FAIL)
                return FAIL;
        lowest[n_bytes - 1] = 0;
        if (many_powers_stay_inside(c, n_bytes, 2) == FAIL)
            return FAIL;
    }
    return PASS;
}

static enum result many_powers_equal_one_by_one(struct check *c)
{
    const enum result result = many_powers_of(c, kernel_of(c));

    for (size_t n_bytes = 16; n_bytes <= 160 && kernel_of(c)->exp_many;
         n_bytes += c->quick && n_bytes >= 48 ? 6 : 1)
        if (many_powers_stay_inside(c, n_bytes, 8) == FAIL)
            return FAIL;
    if (result != PASS || strcmp(c->line->name, "c_ref") != 0)
        return result;
    if (many_powers_of(c, bn_lanes_kernel()) == FAIL)
        return FAIL;
    if (bn_lanes_count() <= 0)
        return check_fail(c, "none are done side by side, or such that do not belong together");
    return PASS;
}

static bool is_one(const uint8_t *a, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        if (a[i] != (i == n_bytes - 1))
            return false;
    return true;
}

/* A number times its inverse is 1; it has none if it and the modulus have a common divisor. */
static enum result number_has_its_inverse(struct check *c, const uint8_t *n, size_t n_bytes,
                                          bool is_prime)
{
    static const uint8_t zero[128];
    static uint8_t a[128], b[128], out[128], g[128];
    enum result result = PASS;
    enum evc_status status;
    struct ring r;
    bool coprime;

    bn_random_operand(&c->random, a, n, n_bytes);
    if (is_prime && memcmp(a, zero, n_bytes) == 0)
        a[n_bytes - 1] = 1;
    if (!make_ring(&r, kernel_of(c), n, n_bytes))
        return check_fail(c, "a modulus of %zu bytes is refused", n_bytes);
    status = evc_bn_gcd(n, n_bytes, a, n_bytes, g, r.scratch, r.scratch_bytes);
    coprime = is_one(g, n_bytes);
    if (status == EVC_OK)
        status = evc_bn_inverse(a, n, n_bytes, b, r.scratch, r.scratch_bytes);
    if (status != (coprime ? EVC_OK : EVC_ERR_INVERSE) || (is_prime && !coprime))
        result = check_fail(c, "the inverse modulo a number of %zu bytes: %s", n_bytes,
                            evc_status_text(status));
    else if (coprime && (operate(MUL, &r, a, b, n_bytes, out) != EVC_OK || !is_one(out, n_bytes)))
        result = check_fail(c, "the inverse modulo a number of %zu bytes is none", n_bytes);
    free_ring(&r);
    c->cases++;
    return result;
}

/* Pairs with the divisor 1 that take the most steps of those of their lengths that were found. */
static enum result slow_divisions_end(struct check *c)
{
    static const struct {
        const char *a, *b;
    } pairs[] = {{"01", "fc"},
                 {"1bcb", "f09a"},
                 {"c4d12b", "e8e622"},
                 {"4745c54d", "f1825d3b"},
                 {"39dba23ff1", "fe550475ae"},
                 {"b13f5952e65d", "e7cfc20b4c35"},
                 {"fa88b89e9d648f", "ac8e7ba436f723"}};
    uint8_t a[8], b[8], out[8], scratch[256];

    for (size_t i = 0; i < N(pairs); i++, c->cases++) {
        const size_t n_bytes = check_unhex(a, pairs[i].a);

        check_unhex(b, pairs[i].b);
        must(evc_bn_gcd(a, n_bytes, b, n_bytes, out, scratch, sizeof scratch));
        if (!is_one(out, n_bytes))
            return check_fail(c, "the divisor of %s and %s is wrong", pairs[i].a, pairs[i].b);
    }
    return PASS;
}

static enum result inverses_are_inverse(struct check *c)
{
    static uint8_t n[128];
    enum result result = slow_divisions_end(c);

    for (size_t i = 0; i < (c->quick ? 6 : 100) && result == PASS; i++) {
        const size_t n_bytes = check_unhex(n, primes[c->quick ? i % 2 : i % N(primes)]);
        result = number_has_its_inverse(c, n, n_bytes, true);
    }
    for (int i = 0; i < (c->quick ? 12 : 200) && result == PASS; i++) {
        const size_t n_bytes = 16 + random_below(&c->random, c->quick ? 33 : 113);
        bn_random_modulus(&c->random, n, n_bytes);
        result = number_has_its_inverse(c, n, n_bytes, false);
    }
    return result;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The operands of a call beside guard pages. */
struct placed_call {
    struct ring ring;
    enum operation operation;
    const uint8_t *a, *b;
    size_t b_bytes;
    uint8_t *out;
    enum evc_status status;
};

static void do_placed(void *vcall)
{
    struct placed_call *p = vcall;

    p->status = operate(p->operation, &p->ring, p->a, p->b, p->b_bytes, p->out);
}

struct placed_modulus {
    void *memory;
    size_t memory_bytes;
    const struct evc_bn *kernel;
    const uint8_t *n;
    size_t n_bytes;
    enum evc_status status;
};

static void do_set_modulus(void *vcall)
{
    struct placed_modulus *p = vcall;

    p->status = evc_bn_set_modulus_in(p->memory, p->memory_bytes, p->kernel, p->n, p->n_bytes);
}

/* Operands, result, modulus, its memory and scratch memory at both ends of their pages, at
 * every alignment of bytes. Long numbers too, for which kernels have other code; the reference
 * takes too long for these. */
static enum result accesses_stay_inside_the_buffers(struct check *c)
{
    enum { LONGEST = 520 };
    static const size_t long_bytes[] = {256, 128, LONGEST, 136, 384, 192, 263};
    static struct guarded fence[6];
    static uint8_t n[LONGEST], a[LONGEST], b[LONGEST], expected[LONGEST];
    const struct evc_bn *bn = kernel_of(c);
    const bool is_slow = strcmp(c->line->name, "c_ref") == 0;

    for (size_t i = 0; i < 6; i++) {
        const size_t least_bytes = i == 4   ? evc_bn_modulus_bytes(bn, 8 * LONGEST) + 4096
                                   : i == 5 ? evc_bn_scratch_bytes(bn, 8 * LONGEST) + 4096
                                            : LONGEST;
        /* a fence of a kernel before, which needs less */
        if (!fence[i].start || fence[i].len_bytes < least_bytes)
            fence[i] = port_guarded(least_bytes);
    }
    if (!fence[5].start || !fence[0].start)
        return check_skip(c, "no guard pages on this system");
    for (size_t turn = 0; turn < (c->quick ? 24 : 240); turn++) {
        const bool is_long = !is_slow && turn % 6 == 5;
        const size_t n_bytes = is_long ? long_bytes[turn / 6 % N(long_bytes)] : 16 + turn * 7 % 65;
        const bool at_end = turn / 2 % 2 == 0;
        const size_t memory_bytes = (evc_bn_modulus_bytes(bn, 8 * n_bytes) + 15) & ~(size_t)15;
        struct placed_call p = {
            .ring = {.n_bytes = n_bytes, .scratch_bytes = evc_bn_scratch_bytes(bn, 8 * n_bytes)}};
        struct placed_modulus m = {port_flush(&fence[4], at_end, memory_bytes), memory_bytes, bn,
                                   port_flush(&fence[0], at_end, n_bytes), n_bytes, EVC_OK};
        struct ring plain;
        uint8_t *pa, *pb;

        bn_random_modulus(&c->random, n, n_bytes);
        bn_random_operand(&c->random, a, n, n_bytes);
        bn_random_operand(&c->random, b, n, n_bytes);
        memcpy((uint8_t *)(uintptr_t)m.n, n, n_bytes);
        if (!port_survives(do_set_modulus, &m) || m.status != EVC_OK)
            return check_fail(c, "a modulus of %zu bytes at the %s of pages: memory fault", n_bytes,
                              at_end ? "end" : "start");
        if (!make_ring(&plain, bn, n, n_bytes))
            return check_fail(c, "a modulus of %zu bytes is refused", n_bytes);
        p.ring.n = m.memory;
        /* operate() adds 1 */
        p.ring.scratch = port_flush(&fence[5], at_end, p.ring.scratch_bytes) - 1;
        for (p.operation = ADD; p.operation < N_OPERATIONS; p.operation++, c->cases++) {
            p.b_bytes = n_bytes;
            if (p.operation >= REDUCE)
                p.b_bytes = 1 + random_below(&c->random, p.operation == REDUCE ? n_bytes : 4);
            p.a = pa = port_flush(&fence[1], at_end, n_bytes);
            p.b = pb = port_flush(&fence[2], at_end, p.b_bytes);
            p.out = turn % 3 == 0 ? pa : port_flush(&fence[3], at_end, n_bytes);
            if (turn % 3 == 1 && p.b_bytes == n_bytes)
                p.out = pb;
            memcpy(pa, a, n_bytes);
            memcpy(pb, b, p.b_bytes);
            if (!port_survives(do_placed, &p))
                return check_fail(c, "%s, %zu bytes at the %s of pages: memory fault",
                                  operation_names[p.operation], n_bytes, at_end ? "end" : "start");
            if (p.status != EVC_OK ||
                operate(p.operation, &plain, a, b, p.b_bytes, expected) != EVC_OK ||
                memcmp(p.out, expected, n_bytes) != 0)
                return check_fail(c, "%s, %zu bytes at the %s of pages%s: another result",
                                  operation_names[p.operation], n_bytes, at_end ? "end" : "start",
                                  p.out == pa || p.out == pb ? ", in place" : "");
        }
        free_ring(&plain);
    }
    return PASS;
}

struct placed_division {
    const uint8_t *a, *n;
    size_t n_bytes, scratch_bytes;
    uint8_t *out, *scratch;
    bool is_inverse;
    enum evc_status status;
};

static void do_division(void *vcall)
{
    struct placed_division *p = vcall;

    p->status =
        p->is_inverse
            ? evc_bn_inverse(p->a, p->n, p->n_bytes, p->out, p->scratch, p->scratch_bytes)
            : evc_bn_gcd(p->n, p->n_bytes, p->a, p->n_bytes, p->out, p->scratch, p->scratch_bytes);
}

/* Operands, result and scratch memory at both ends of their pages; the result
 * where an operand is, too. */
static enum result gcd_and_inverse_stay_inside_the_buffers(struct check *c)
{
    enum { LONGEST = 65 };
    static struct guarded fence[4];
    static uint8_t n[LONGEST], a[LONGEST], scratch[8192];
    static uint8_t expected[LONGEST];

    for (size_t i = 0; i < 4; i++)
        if (!fence[i].start)
            fence[i] = port_guarded(i == 3 ? evc_bn_gcd_scratch_bytes(LONGEST) : LONGEST);
    if (!fence[0].start || !fence[3].start)
        return check_skip(c, "no guard pages on this system");
    for (size_t turn = 0; turn < (c->quick ? 24 : 240); turn++, c->cases++) {
        const size_t n_bytes = 1 + turn * 7 % LONGEST;
        const bool at_end = turn / 2 % 2 == 0;
        uint8_t *const pn = port_flush(&fence[0], at_end, n_bytes);
        uint8_t *const pa = port_flush(&fence[1], at_end, n_bytes);
        struct placed_division p = {.a = pa, .n = pn, .n_bytes = n_bytes, .is_inverse = turn % 2,
                                    .scratch_bytes = evc_bn_gcd_scratch_bytes(n_bytes)};
        struct placed_division plain = p;

        bn_random_modulus(&c->random, n, n_bytes);
        n[0] |= n_bytes == 1 ? 2 : 0; /* not 1 */
        memset(a, 0, n_bytes);
        bn_random_operand(&c->random, a, n, n_bytes);
        memcpy(pn, n, n_bytes);
        memcpy(pa, a, n_bytes);
        plain.a = a, plain.n = n, plain.out = expected, plain.scratch = scratch;
        do_division(&plain);
        p.out = turn % 3 == 0 ? pa : port_flush(&fence[2], at_end, n_bytes);
        p.scratch = port_flush(&fence[3], at_end, p.scratch_bytes);
        if (!port_survives(do_division, &p))
            return check_fail(c, "gcd or inverse, %zu bytes at the %s of pages: memory fault",
                              n_bytes, at_end ? "end" : "start");
        if (p.status != plain.status ||
            (p.status == EVC_OK && memcmp(p.out, expected, n_bytes) != 0))
            return check_fail(c, "gcd or inverse, %zu bytes at the %s of pages: another result",
                              n_bytes, at_end ? "end" : "start");
    }
    return PASS;
}

static enum result results_stay_in_place(struct check *c)
{
    enum { LONGEST = 72 };
    static uint8_t n[LONGEST], a[LONGEST], b[LONGEST], out[LONGEST + 2 * MARGIN],
        painted[LONGEST + 2 * MARGIN];

    memset(painted, 0xa5, sizeof painted);
    for (size_t n_bytes = 16; n_bytes <= LONGEST; n_bytes += c->quick ? 7 : 1) {
        struct ring r;
        bn_random_modulus(&c->random, n, n_bytes);
        bn_random_operand(&c->random, a, n, n_bytes);
        bn_random_operand(&c->random, b, n, n_bytes);
        if (!make_ring(&r, kernel_of(c), n, n_bytes))
            return check_fail(c, "a modulus of %zu bytes is refused", n_bytes);
        for (enum operation op = ADD; op < N_OPERATIONS; op++, c->cases++) {
            memcpy(out, painted, sizeof out);
            must(operate(op, &r, a, b, op < EXP ? n_bytes : 2, out + MARGIN));
            if (memcmp(out, painted, MARGIN) != 0 ||
                memcmp(out + MARGIN + n_bytes, painted, MARGIN) != 0)
                return check_fail(c, "%s of %zu bytes writes beside its result",
                                  operation_names[op], n_bytes);
        }
        free_ring(&r);
    }
    return PASS;
}

/* Also the room in a modulus's memory that its set-up needed. */
static enum result calls_leave_nothing_in_scratch_memory(struct check *c)
{
    enum { LONGEST = 72 };
    static uint8_t n[LONGEST], a[LONGEST], b[LONGEST], out[LONGEST];
    const struct evc_bn *bn = kernel_of(c);

    for (size_t n_bytes = 16; n_bytes <= LONGEST; n_bytes += c->quick ? 14 : 1) {
        struct ring r;
        enum result result = PASS;
        enum evc_status status;

        random_bytes(&c->random, n, n_bytes);
        random_bytes(&c->random, a, n_bytes);
        random_bytes(&c->random, b, n_bytes);
        n[0] |= 0x80;
        n[n_bytes - 1] |= 1;
        a[0] &= 0x7f;
        b[0] &= 0x7f;
        if (!make_ring(&r, bn, n, n_bytes))
            return check_fail(c, "a modulus of %zu bytes is refused", n_bytes);
        for (size_t i = 1; i <= r.n->shape.scratch_bytes + n_bytes; i++)
            if (((const uint8_t *)r.n)[r.memory_bytes - i])
                result = check_fail(
                    c, "a modulus of %zu bytes has something in the %zuth last byte of its memory",
                    n_bytes, i);
        memset(r.scratch, 0x5a, r.scratch_bytes + 1);
        for (enum operation op = ADD; op < N_OPERATIONS && result == PASS; op++) {
            must(operate(op, &r, a, b, op < EXP ? n_bytes : 2, out));
            result = is_clean(c, &r, operation_names[op]);
        }
        if (result == PASS) {
            must(evc_bn_gcd(n, n_bytes, a, n_bytes, out, r.scratch + 1, r.scratch_bytes));
            result = is_clean(c, &r, "gcd");
        }
        if (result == PASS) {
            status = evc_bn_inverse(a, n, n_bytes, out, r.scratch + 1, r.scratch_bytes);
            result = status == EVC_OK || status == EVC_ERR_INVERSE
                         ? is_clean(c, &r, "inverse")
                         : check_fail(c, "an inverse is refused");
        }
        free_ring(&r);
        if (result != PASS)
            return result;
    }
    return PASS;
}

/* The scratch memory of powers that are computed side by side. */
static enum result lanes_leave_nothing_behind(struct check *c)
{
    enum { N_BYTES = 72 };
    static uint8_t n[N_BYTES], a[N_BYTES], out[N_BYTES];
    const struct evc_bn *bn = kernel_of(c)->exp_many ? kernel_of(c) : bn_lanes_kernel();
    const size_t scratch_bytes = evc_bn_exp_many_scratch_bytes(bn, 8 * N_BYTES);
    struct evc_bn_exp exps[2];
    enum result result = FAIL;
    struct ring r;

    random_bytes(&c->random, n, N_BYTES);
    random_bytes(&c->random, a, N_BYTES);
    n[0] |= 0x80;
    n[N_BYTES - 1] |= 1;
    a[0] &= 0x7f;
    if (!make_ring(&r, bn, n, N_BYTES))
        return check_fail(c, "a modulus of %d bytes is refused", N_BYTES);
    free(r.scratch);
    r.scratch_bytes = scratch_bytes;
    r.scratch = malloc(scratch_bytes + 1);
    for (size_t i = 0; i < N(exps); i++)
        exps[i] = (struct evc_bn_exp){r.n, a, a, out, 3, EVC_OK};
    if (r.scratch) {
        memset(r.scratch, 0x5a, scratch_bytes + 1);
        must(evc_bn_exp_many(exps, N(exps), r.scratch + 1, scratch_bytes));
        result = is_clean(c, &r, "exp_many");
    }
    free_ring(&r);
    return result;
}

static enum result scratch_leaves_nothing_behind(struct check *c)
{
    const enum result result = calls_leave_nothing_in_scratch_memory(c);

    return result == PASS ? lanes_leave_nothing_behind(c) : result;
}

static enum result moduli_may_be_copied_and_do_not_change(struct check *c)
{
    static uint8_t n[100], a[100], b[100], out[100], expected[100];

    for (int i = 0; i < (c->quick ? 10 : 100); i++, c->cases++) {
        const size_t n_bytes = 16 + random_below(&c->random, 85);
        struct ring r, copy;
        bool good;

        bn_random_modulus(&c->random, n, n_bytes);
        bn_random_operand(&c->random, a, n, n_bytes);
        bn_random_operand(&c->random, b, n, n_bytes);
        if (!make_ring(&r, kernel_of(c), n, n_bytes) || !make_ring(&copy, kernel_of(c), n, n_bytes))
            return check_fail(c, "a modulus of %zu bytes is refused", n_bytes);
        if (memcmp(r.n, copy.n, r.memory_bytes) != 0)
            return check_fail(c, "two moduli of %zu bytes made of one number differ", n_bytes);
        must(operate(EXP, &r, a, b, 3, expected));
        good = memcmp(r.n, copy.n, r.memory_bytes) == 0;
        memset(copy.n, 0x77, copy.memory_bytes);
        memcpy((uint8_t *)copy.n, r.n, r.memory_bytes);
        memset(r.n, 0x55, r.memory_bytes);
        if (!good || operate(EXP, &copy, a, b, 3, out) != EVC_OK ||
            memcmp(out, expected, n_bytes) != 0)
            return check_fail(
                c, "a copied modulus of %zu bytes gives another power, or using one changed it",
                n_bytes);
        free_ring(&r);
        free_ring(&copy);
    }
    return PASS;
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static enum result moduli_that_do_not_exist_are_refused_and_wiped(struct check *c)
{
    static EVC_ALIGN(64) uint8_t memory[24576];
    static uint8_t n[MOST + 8];
    const struct evc_bn *bn = kernel_of(c);
    const struct {
        size_t n_bytes;
        uint8_t first, last;
        const struct evc_bn *kernel;
        size_t at, lacking; /* where the memory begins, and bytes that it has too few */
        enum evc_status expected;
    } bad[] = {
        {0, 1, 1, bn, 0, 0, EVC_ERR_KEY_SIZE},       {8, 1, 1, bn, 0, 0, EVC_ERR_KEY_SIZE},
        {15, 1, 1, bn, 0, 0, EVC_ERR_KEY_SIZE},      {MOST + 1, 1, 1, bn, 0, 0, EVC_ERR_KEY_SIZE},
        {32, 1, 2, bn, 0, 0, EVC_ERR_MODULUS},       {32, 0, 1, bn, 0, 0, EVC_ERR_MODULUS},
        {32, 0, 0, bn, 0, 0, EVC_ERR_MODULUS},       {32, 0x80, 0x80, bn, 0, 0, EVC_ERR_MODULUS},
        {32, 1, 1, NULL, 0, 0, EVC_ERR_KERNEL},      {32, 1, 1, bn, 0, 1, EVC_ERR_KERNEL},
        {32, 1, 1, bn, 8, 0, EVC_ERR_ALIGNMENT},     {16, 1, 1, bn, 0, 0, EVC_OK},
        {32, 1, 1, bn, 16, 0, EVC_OK},               {MOST, 1, 1, bn, 0, 0, EVC_OK},
    };

    for (size_t i = 0; i < N(bad); i++, c->cases++) {
        const size_t whole = evc_bn_modulus_bytes(bn, 8 * bad[i].n_bytes);
        const size_t bytes = whole ? whole - bad[i].lacking : 4096;
        const struct evc_bn_modulus *modulus = (const void *)(memory + (bad[i].at & ~(size_t)15));
        enum evc_status said;

        if (bytes + 16 > sizeof memory)
            return check_skip(c, "its longest moduli need more than 24 KiB");
        memset(n, 0, sizeof n);
        n[0] = bad[i].first;
        if (bad[i].n_bytes)
            n[bad[i].n_bytes - 1] = bad[i].last;
        memset(memory, 0xcc, sizeof memory);
        said = evc_bn_set_modulus_in(memory + bad[i].at, bytes, bad[i].kernel, n, bad[i].n_bytes);
        if (said != bad[i].expected)
            return check_fail(c, "a modulus of %zu bytes, %02x...%02x: %s", bad[i].n_bytes,
                              bad[i].first, bad[i].last, evc_status_text(said));
        for (size_t j = 0; said != EVC_OK && j < bytes; j++)
            if (memory[bad[i].at + j])
                return check_fail(c, "byte %zu of the memory is left after: %s", j,
                                  evc_status_text(said));
        if (memory[bad[i].at + bytes] != 0xcc)
            return check_fail(c, "a modulus of %zu bytes writes behind its memory", bad[i].n_bytes);
        if (said != EVC_OK && bad[i].at == 0 && modulus->kernel)
            return check_fail(c, "a modulus that was refused has a kernel");
    }
    memset(memory, 0, sizeof memory);
    memory[100] = 1;
    if (evc_bn_set_modulus_in(memory, sizeof memory, bn, memory + 100, 32) != EVC_ERR_OVERLAP)
        return check_fail(c, "a modulus in the memory of its key is not refused");
    return PASS;
}

/* Nothing is written, nor the scratch memory changed in what is left of it but zeros. */
static enum result bad_operands_are_refused(struct check *c)
{
    enum { LENGTH = 33 };
    static uint8_t n[LENGTH], good[LENGTH], equal[LENGTH], above[LENGTH], out[LENGTH],
        painted[LENGTH];
    static uint8_t exponent[MOST + 1];
    struct ring r, none;
    enum result result = PASS;

    bn_random_modulus(&c->random, n, LENGTH);
    n[0] = 0x7f;
    memcpy(equal, n, LENGTH);
    memcpy(above, n, LENGTH);
    above[0]++;
    good[LENGTH - 1] = 2;
    exponent[0] = 3;
    memset(painted, 0x3c, sizeof painted);
    if (!make_ring(&r, kernel_of(c), n, LENGTH))
        return check_fail(c, "a modulus is refused");
    const struct {
        enum operation operation;
        const uint8_t *a, *b;
        size_t b_bytes, lacking;
        bool no_modulus;
        enum evc_status expected;
    } bad[] = {
        {ADD, equal, good, LENGTH, 0, false, EVC_ERR_RANGE},
        {ADD, good, equal, LENGTH, 0, false, EVC_ERR_RANGE},
        {SUB, above, good, LENGTH, 0, false, EVC_ERR_RANGE},
        {SUB, good, above, LENGTH, 0, false, EVC_ERR_RANGE},
        {MUL, equal, good, LENGTH, 0, false, EVC_ERR_RANGE},
        {MUL, good, above, LENGTH, 0, false, EVC_ERR_RANGE},
        {SQR, equal, good, LENGTH, 0, false, EVC_ERR_RANGE},
        {EXP, equal, good, LENGTH, 0, false, EVC_ERR_RANGE},
        {EXP_PUBLIC, above, good, LENGTH, 0, false, EVC_ERR_RANGE},
        {EXP, good, exponent, 0, 0, false, EVC_ERR_LENGTH},
        {EXP_PUBLIC, good, exponent, 0, 0, false, EVC_ERR_LENGTH},
        {REDUCE, good, exponent, 0, 0, false, EVC_ERR_LENGTH},
        {EXP_SMALL, good, exponent, 0, 0, false, EVC_ERR_LENGTH},
        {EXP_SMALL, good, exponent, MOST + 1, 0, false, EVC_ERR_LENGTH},
        {EXP_SMALL, good, exponent, 1, 1, false, EVC_ERR_SCRATCH},
        {EXP_SMALL, good, exponent, 1, 0, true, EVC_ERR_KERNEL},
        {EXP, good, exponent, MOST + 1, 0, false, EVC_ERR_LENGTH},
        {EXP_PUBLIC, good, exponent, MOST + 1, 0, false, EVC_ERR_LENGTH},
        {REDUCE, good, exponent, MOST + 1, 0, false, EVC_ERR_LENGTH},
        {ADD, good, good, LENGTH, 1, false, EVC_ERR_SCRATCH},
        {SUB, good, good, LENGTH, 1, false, EVC_ERR_SCRATCH},
        {MUL, good, good, LENGTH, 1, false, EVC_ERR_SCRATCH},
        {SQR, good, good, LENGTH, 1, false, EVC_ERR_SCRATCH},
        {EXP, good, exponent, 1, 1, false, EVC_ERR_SCRATCH},
        {EXP_PUBLIC, good, exponent, 1, 1, false, EVC_ERR_SCRATCH},
        {REDUCE, good, exponent, 1, 1, false, EVC_ERR_SCRATCH},
        {ADD, good, good, LENGTH, 0, true, EVC_ERR_KERNEL},
        {SUB, good, good, LENGTH, 0, true, EVC_ERR_KERNEL},
        {MUL, good, good, LENGTH, 0, true, EVC_ERR_KERNEL},
        {SQR, good, good, LENGTH, 0, true, EVC_ERR_KERNEL},
        {EXP, good, exponent, 1, 0, true, EVC_ERR_KERNEL},
        {EXP_PUBLIC, good, exponent, 1, 0, true, EVC_ERR_KERNEL},
        {REDUCE, good, exponent, 1, 0, true, EVC_ERR_KERNEL},
    };
    static EVC_ALIGN(16) struct evc_bn_modulus not_set_up;

    for (size_t i = 0; i < N(bad) && result == PASS; i++, c->cases++) {
        enum evc_status said;
        none = r;
        none.scratch_bytes -= bad[i].lacking;
        if (bad[i].no_modulus)
            none.n = &not_set_up;
        memcpy(out, painted, sizeof out);
        said = operate(bad[i].operation, &none, bad[i].a, bad[i].b, bad[i].b_bytes, out);
        if (said != bad[i].expected || memcmp(out, painted, sizeof out) != 0)
            result =
                check_fail(c, "%s, case %zu: %s%s", operation_names[bad[i].operation], i,
                           evc_status_text(said),
                           memcmp(out, painted, sizeof out) ? ", and something was written" : "");
    }
    free_ring(&r);
    return result;
}

/* Lengths, numbers and scratch memory that gcd and inverse refuse, and numbers without an
 * inverse: nothing is written. */
static enum result gcd_and_inverse_refuse_bad_input(struct check *c)
{
    enum { LENGTH = 24 };
    static uint8_t zero[MOST + 1], one[LENGTH], fifteen[LENGTH], even[LENGTH], nine[LENGTH],
        out[MOST + 1];
    static uint8_t longest[MOST + 1];
    const struct {
        const uint8_t *a, *b; /* inverse: of a modulo b */
        size_t a_bytes, b_bytes, lacking;
        bool is_gcd;
        enum evc_status expected;
    } bad[] = {
        {fifteen, nine, 0, LENGTH, 0, true, EVC_ERR_LENGTH},
        {fifteen, nine, LENGTH, 0, 0, true, EVC_ERR_LENGTH},
        {longest, nine, MOST + 1, LENGTH, 0, true, EVC_ERR_LENGTH},
        {nine, longest, LENGTH, MOST + 1, 0, true, EVC_ERR_LENGTH},
        {even, nine, LENGTH, LENGTH, 0, true, EVC_ERR_MODULUS},
        {zero, nine, LENGTH, LENGTH, 0, true, EVC_ERR_MODULUS},
        {fifteen, nine, LENGTH, LENGTH, 1, true, EVC_ERR_SCRATCH},
        {nine, fifteen, 0, 0, 0, false, EVC_ERR_LENGTH},
        {zero, longest, MOST + 1, MOST + 1, 0, false, EVC_ERR_LENGTH},
        {nine, even, LENGTH, LENGTH, 0, false, EVC_ERR_MODULUS},
        {zero, zero, LENGTH, LENGTH, 0, false, EVC_ERR_MODULUS},
        {zero, one, LENGTH, LENGTH, 0, false, EVC_ERR_MODULUS},
        {fifteen, fifteen, LENGTH, LENGTH, 0, false, EVC_ERR_RANGE},
        {fifteen, nine, LENGTH, LENGTH, 0, false, EVC_ERR_RANGE},
        {nine, fifteen, LENGTH, LENGTH, 0, false, EVC_ERR_INVERSE},
        {zero, fifteen, LENGTH, LENGTH, 0, false, EVC_ERR_INVERSE},
        {nine, fifteen, LENGTH, LENGTH, 1, false, EVC_ERR_SCRATCH},
    };
    const size_t most_scratch = evc_bn_gcd_scratch_bytes(MOST);
    uint8_t *scratch = malloc(most_scratch);
    enum result result = scratch ? PASS : check_fail(c, "no memory");

    if (evc_bn_gcd_scratch_bytes(0) || evc_bn_gcd_scratch_bytes(MOST + 1))
        result = check_fail(c, "there is scratch memory for numbers of no bytes, or of too many");
    one[LENGTH - 1] = 1, nine[LENGTH - 1] = 9, fifteen[LENGTH - 1] = 15, even[LENGTH - 1] = 16;
    memset(longest, 0xff, sizeof longest);
    for (size_t i = 0; i < N(bad) && result == PASS; i++, c->cases++) {
        const size_t scratch_bytes =
            bad[i].lacking ? evc_bn_gcd_scratch_bytes(LENGTH) - bad[i].lacking : most_scratch;
        enum evc_status said;

        memset(out, 0x3c, sizeof out);
        if (bad[i].is_gcd)
            said = evc_bn_gcd(bad[i].a, bad[i].a_bytes, bad[i].b, bad[i].b_bytes, out, scratch,
                              scratch_bytes);
        else
            said = evc_bn_inverse(bad[i].a, bad[i].b, bad[i].b_bytes, out, scratch, scratch_bytes);
        if (said != bad[i].expected)
            result = check_fail(c, "%s, case %zu: %s", bad[i].is_gcd ? "gcd" : "inverse", i,
                                evc_status_text(said));
        for (size_t j = 0; j < sizeof out && result == PASS; j++)
            if (out[j] != 0x3c)
                result = check_fail(c, "%s, case %zu: something was written",
                                    bad[i].is_gcd ? "gcd" : "inverse", i);
    }
    free(scratch);
    return result;
}

/* The middle one of three exponentiations is bad: it alone is refused, and its result is not
 * written. If the scratch memory is too small, all are. */
static enum result bad_ones_of_many_powers_are_refused(struct check *c)
{
    enum { LENGTH = 33, MANY = 3 };
    static uint8_t n[LENGTH], base[LENGTH], out[MANY][LENGTH], expected[LENGTH], painted[LENGTH],
        exponent[MOST + 1];
    static EVC_ALIGN(16) struct evc_bn_modulus not_set_up;
    static const enum evc_status statuses[] = {EVC_ERR_KERNEL, EVC_ERR_LENGTH, EVC_ERR_LENGTH,
                                               EVC_ERR_RANGE, EVC_ERR_SCRATCH};
    const size_t scratch_bytes = evc_bn_exp_many_scratch_bytes(kernel_of(c), 8 * LENGTH);
    uint8_t *scratch = malloc(scratch_bytes);
    struct ring r;
    enum result result = scratch ? PASS : check_fail(c, "no memory");

    bn_random_modulus(&c->random, n, LENGTH);
    base[LENGTH - 1] = 3;
    exponent[0] = 5;
    memset(painted, 0x3c, sizeof painted);
    if (!make_ring(&r, kernel_of(c), n, LENGTH))
        return check_fail(c, "a modulus is refused");
    must(operate(EXP, &r, base, exponent, 1, expected));
    for (size_t i = 0; i < N(statuses) && result == PASS; i++, c->cases++) {
        struct evc_bn_exp exps[MANY];
        const bool all_bad = statuses[i] == EVC_ERR_SCRATCH;

        for (size_t j = 0; j < MANY; j++) {
            exps[j] = (struct evc_bn_exp){r.n, base, exponent, out[j], 1, EVC_ERR_STATE};
            memset(out[j], 0x3c, LENGTH);
        }
        if (i == 0)
            exps[1].n = &not_set_up;
        else if (i < 3)
            exps[1].exponent_bytes = i == 1 ? 0 : MOST + 1;
        else if (i == 3)
            exps[1].base = n;
        if (evc_bn_exp_many(exps, MANY, scratch, scratch_bytes - all_bad) != statuses[i])
            result =
                check_fail(c, "many powers, case %zu: another status than that of the bad one", i);
        for (size_t j = 0; j < MANY && result == PASS; j++) {
            const bool is_bad = all_bad || j == 1;
            if (exps[j].status != (is_bad ? statuses[i] : EVC_OK) ||
                memcmp(out[j], is_bad ? painted : expected, LENGTH) != 0)
                result = check_fail(c, "many powers, case %zu, number %zu: %s, or another result",
                                    i, j, evc_status_text(exps[j].status));
        }
    }
    if (result == PASS && evc_bn_exp_many(NULL, 0, scratch, scratch_bytes) != EVC_OK)
        result = check_fail(c, "no powers at all are refused");
    free_ring(&r);
    free(scratch);
    return result;
}

static const struct property properties[] = {
#define PROPERTY(name) {#name, name, false}
    PROPERTY(descriptor_agrees_with_its_line),
    PROPERTY(something_is_always_selected),
    PROPERTY(known_answers),
    PROPERTY(primes_keep_fermats_theorem),
    PROPERTY(carries_of_short_numbers_are_kept),
    PROPERTY(sums_and_products_equal_reference),
    PROPERTY(reductions_equal_sums),
    PROPERTY(doublings_equal_sums),
    PROPERTY(raising_equals_squares_and_a_product),
    PROPERTY(powers_equal_reference),
    PROPERTY(small_powers_equal_powers),
    PROPERTY(many_powers_equal_one_by_one),
    PROPERTY(pairs_equal_one_by_one),
    PROPERTY(multiples_of_the_modulus_are_zero),
    PROPERTY(inverses_are_inverse),
    PROPERTY(accesses_stay_inside_the_buffers),
    PROPERTY(gcd_and_inverse_stay_inside_the_buffers),
    PROPERTY(results_stay_in_place),
    PROPERTY(scratch_leaves_nothing_behind),
    PROPERTY(moduli_may_be_copied_and_do_not_change),
    PROPERTY(moduli_that_do_not_exist_are_refused_and_wiped),
    PROPERTY(bad_operands_are_refused),
    PROPERTY(gcd_and_inverse_refuse_bad_input),
    PROPERTY(bad_ones_of_many_powers_are_refused),
    {"calls_keep_the_abi", bn_calls_keep_the_abi, false},
    {"leaves_nothing_behind", bn_leaves_nothing_behind, false},
    {"dh_leaves_nothing_behind", dh_leaves_nothing_behind, false},
    {"primes_leave_nothing_behind", prime_leaves_nothing_behind, false},
    {"rsa_leaves_nothing_behind", rsa_leaves_nothing_behind, false},
#undef PROPERTY
};

const struct check_primitive check_bn = {
    .name = "bn", .properties = properties, .n_properties = N(properties)};

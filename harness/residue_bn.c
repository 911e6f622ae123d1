/* SPDX-License-Identifier: MIT */
/* Calls of big numbers leave nothing behind. Moduli, operands, results and exponents are secret,
 * but for public exponents. */
#include "residue.h"

#include "must.h"

#include <stdio.h>
#include <string.h>

#include "everycore/bn.h"

#include "bn_lanes.h"
#include "bn_numbers.h"

#define MOST 261 /* bytes of a modulus */
#define MOST_ALONE 128 /* of a kernel that does one power at a time */

static const struct evc_bn *kernel; /* under test */

/* By version. */
static struct version {
    uint8_t n[MOST], a[MOST], b[MOST];
} versions[2];

static struct {
    struct version numbers;
    EVC_ALIGN(64) uint8_t modulus[16384];
    uint8_t out[MOST], scratch[131072];
} at;
static size_t n_bytes, b_bytes, memory_bytes, scratch_bytes;

static void prepare(unsigned version)
{
    at.numbers = versions[version];
    memset(at.out, 0, sizeof at.out);
    must(evc_bn_set_modulus_in(at.modulus, memory_bytes, kernel, at.numbers.n, n_bytes));
}

static const struct evc_bn_modulus *modulus(void)
{
    return (const void *)at.modulus;
}

static void set_modulus(void)
{
    must(evc_bn_set_modulus_in(at.modulus, memory_bytes, kernel, at.numbers.n, n_bytes));
}

static void add(void)
{
    must(evc_bn_mod_add(modulus(), at.numbers.a, at.numbers.b, at.out, at.scratch, scratch_bytes));
}

static void sub(void)
{
    must(evc_bn_mod_sub(modulus(), at.numbers.a, at.numbers.b, at.out, at.scratch, scratch_bytes));
}

static void mul(void)
{
    must(evc_bn_mod_mul(modulus(), at.numbers.a, at.numbers.b, at.out, at.scratch, scratch_bytes));
}

static void sqr(void)
{
    must(evc_bn_mod_sqr(modulus(), at.numbers.a, at.out, at.scratch, scratch_bytes));
}

static void reduce(void)
{
    must(evc_bn_mod_reduce(modulus(), at.numbers.b, b_bytes, at.out, at.scratch, scratch_bytes));
}

static void exp_secret(void)
{
    must(evc_bn_exp(modulus(), at.numbers.a, at.numbers.b, b_bytes, at.out, at.scratch,
                    scratch_bytes));
}

static void exp_public(void)
{
    static const uint8_t exponent[] = {1, 0, 1};

    must(
        evc_bn_exp_public(modulus(), at.numbers.a, exponent, 3, at.out, at.scratch, scratch_bytes));
}

static void exp_small(void)
{
    must(evc_bn_exp_small(modulus(), 2, at.numbers.b, b_bytes, at.out, at.scratch, scratch_bytes));
}

static void exp_side_by_side(size_t n, const uint8_t *base)
{
    static struct evc_bn_exp exps[6];

    for (size_t i = 0; i < n; i++)
        exps[i] = (struct evc_bn_exp){modulus(), base, at.numbers.b, at.out, 2, EVC_OK};
    must(evc_bn_exp_many(exps, n, at.scratch, sizeof at.scratch));
}

static void exp_many(void)
{
    exp_side_by_side(3, at.numbers.a);
}

/* Pairs may be computed in a way of their own; a third power would run over what they leave. */
static void exp_pair(void)
{
    exp_side_by_side(2, at.numbers.a);
}

/* Kernels with lanes compute this many in another way than a few. */
static void exp_many_6(void)
{
    exp_side_by_side(6, at.numbers.a);
}

static void exp_many_of_2(void)
{
    exp_side_by_side(6, NULL);
}

static void gcd(void)
{
    must(evc_bn_gcd(at.numbers.n, n_bytes, at.numbers.a, n_bytes, at.out, at.scratch,
                    scratch_bytes));
}

/* The existence of an inverse shows in the status, and so may show in memory. */
static void inverse(void)
{
    const enum evc_status status =
        evc_bn_inverse(at.numbers.a, at.numbers.n, n_bytes, at.out, at.scratch, scratch_bytes);

    (void)status;
}

static void look(struct check *c, const char *operation, void (*make)(void))
{
    struct residue_call call = {.operation = operation, .prepare = prepare, .make = make};

    snprintf(call.sizes, sizeof call.sizes, "modulus of %zu bytes, %zu of the second operand",
             n_bytes, b_bytes);
    call.secrets[0] = (struct residue_secret){"modulus", at.numbers.n, n_bytes};
    call.secrets[1] = (struct residue_secret){"first operand", at.numbers.a, n_bytes};
    call.secrets[2] = (struct residue_secret){"second operand", at.numbers.b, n_bytes};
    call.secrets[3] = (struct residue_secret){"result", at.out, n_bytes};
    call.secrets[4] =
        (struct residue_secret){"kernel's modulus", at.modulus + sizeof(struct evc_bn_modulus),
                                memory_bytes - sizeof(struct evc_bn_modulus)};
    residue_look(c, &call);
}

static void know_versions(struct check *c)
{
    for (unsigned v = 0; v < 2; v++) {
        random_bytes(&c->random, (uint8_t *)&versions[v], sizeof versions[v]);
        versions[v].n[0] |= 0x80;
        versions[v].n[n_bytes - 1] |= 1;
        versions[v].a[0] &= 0x7f;
        versions[v].b[0] &= 0x7f;
    }
}

enum result bn_leaves_nothing_behind(struct check *c)
{
    static const size_t lengths[] = {16, 20, 33, 64, 71, MOST_ALONE, MOST};
    static const struct {
        const char *name;
        void (*make)(void);
    } operations[] = {
        {"set_modulus", set_modulus},
        {"add", add},
        {"sub", sub},
        {"mul", mul},
        {"sqr", sqr},
        {"reduce", reduce},
        {"exp", exp_secret},
        {"exp_public", exp_public},
        {"exp_small", exp_small},
        {"exp_many", exp_many},
        {"exp_many of a pair", exp_pair},
        {"exp_many of 6", exp_many_6},
        {"exp_many of 2", exp_many_of_2},
        {"gcd", gcd},
        {"inverse", inverse},
    };

    kernel = evc_bn_named(c->line->name);
    if (residue_unavailable())
        return check_skip(c, residue_unavailable());
    residue_begin();
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        if ((c->quick && i % 3 != 2 && i) || (lengths[i] > MOST_ALONE && !kernel->exp_many))
            continue;
        n_bytes = lengths[i];
        memory_bytes = evc_bn_modulus_bytes(kernel, 8 * n_bytes);
        scratch_bytes = evc_bn_scratch_bytes(kernel, 8 * n_bytes);
        if (memory_bytes > sizeof at.modulus ||
            evc_bn_exp_many_scratch_bytes(kernel, 8 * n_bytes) > sizeof at.scratch)
            return check_fail(c, "moduli of %zu bytes need more memory than this property has",
                              n_bytes);
        know_versions(c);
        for (size_t j = 0; j < sizeof operations / sizeof operations[0]; j++) {
            b_bytes = operations[j].make == reduce ? MOST : c->quick ? 2 : 12;
            look(c, operations[j].name, operations[j].make);
        }
    }
    /* c_ref: what its exp_many leaves, the code above kernels has to clear */
    if (strcmp(c->line->name, "c_ref") == 0) {
        kernel = bn_lanes_kernel();
        know_versions(c);
        look(c, "exp_many with lanes", exp_many);
    }
    return residue_verdict(c);
}

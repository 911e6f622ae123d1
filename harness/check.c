/* SPDX-License-Identifier: MIT */
/* check: every property of every kernel of the registry, and of pairs; kernels that cannot run
 * here are visible skips. */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "emit.h"
#include "gcm_kernels.h"
#include "names.h"
#include "port/port.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

static const struct check_primitive *const primitives[] = {
    &check_aes, &check_ghash, &check_gcm, &check_qarma, &check_bn, &check_bn_words, &check_sha2,
    &check_x25519};

static struct plan {
    struct words primitives, kernels, properties, without;
    uint64_t seed;
    bool quick;
} plan = {.seed = 1};

static uint64_t count[3]; /* by enum result */

enum result check_fail(struct check *c, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(c->detail, sizeof c->detail, format, list);
    va_end(list);
    return FAIL;
}

enum result check_skip(struct check *c, const char *why)
{
    snprintf(c->detail, sizeof c->detail, "%s", why);
    return SKIP;
}

size_t check_step(struct check *c)
{
    return c->quick && port_emulated() ? 1 + random_below(&c->random, 63) : 1;
}

size_t check_unhex(uint8_t *out, const char *hex)
{
    size_t n = 0;

    for (unsigned digit; *hex; hex++, n++) {
        digit = (unsigned)(*hex <= '9' ? *hex - '0' : *hex - 'a' + 10);
        out[n / 2] = (uint8_t)(n % 2 ? 16u * out[n / 2] + digit : digit);
    }
    return n / 2;
}

static void emit_check(const struct check *c, const char *property, enum result result)
{
    static const char *const words[] = {"pass", "fail", "skip"};

    count[result]++;
    emit_begin("check");
    emit_text("primitive", c->line->primitive);
    emit_text("kernel", c->line->name);
    emit_text("property", property);
    emit_text("result", words[result]);
    emit_unsigned("cases", c->cases);
    if (result != PASS)
        emit_text("detail", c->detail);
    if (result == FAIL)
        emit_unsigned("seed", plan.seed);
    emit_end();
}

/* Data of its own for each kernel and property, so that one alone meets the same data again. */
static uint64_t seed_of(const char *kernel, const char *property)
{
    struct random r = {plan.seed};

    for (; *kernel; kernel++)
        r.state = random_next(&r) ^ (uint8_t)*kernel;
    for (; *property; property++)
        r.state = random_next(&r) ^ (uint8_t)*property;
    return r.state;
}

struct trial {
    const struct property *property;
    struct check *check;
    enum result result;
};

static void try_property(void *vtrial)
{
    struct trial *t = vtrial;

    t->result = t->property->holds(t->check);
}

static void check_property(const struct property *p, const struct evc_registry_line *line)
{
    struct check c = {.line = line, .quick = plan.quick};
    struct trial t = {p, &c, FAIL};

    c.random.state = seed_of(line->name, p->name);
    if (!port_survives(try_property, &t))
        t.result = check_fail(&c, "memory fault or illegal instruction after %llu cases",
                              (unsigned long long)c.cases);
    emit_check(&c, p->name, t.result);
}

static void check_kernel(const struct check_primitive *primitive,
                         const struct evc_registry_line *line)
{
    if (!runs_here(line)) {
        struct check c = {.line = line};
        why_not_here(c.detail, sizeof c.detail, line);
        emit_check(&c, "all", SKIP);
        return;
    }
    for (size_t i = 0; i < primitive->n_properties; i++) {
        const struct property *p = &primitive->properties[i];
        if (plan.properties.n ? chosen(&plan.properties, p->name) : !p->on_request)
            check_property(p, line);
    }
}

/* Pairs named; without names, all of them, or as few as have every kernel in one. */
static void check_pairs(const struct check_primitive *primitive)
{
    const struct evc_registry_line *line;

    for (size_t i = 0; i < plan.kernels.n; i++)
        if (is_pair_name(plan.kernels.at[i]))
            check_kernel(primitive, pair_named(plan.kernels.at[i]));
    for (unsigned i = 0; !plan.kernels.n; i++) {
        line = pair_at(plan.quick ? COVERING_PAIRS : EVERY_PAIR, i);
        if (!line)
            break;
        check_kernel(primitive, line);
    }
}

static void check_primitive(const struct check_primitive *primitive)
{
    const struct evc_registry_line *line;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        if (strcmp(line->primitive, primitive->name) == 0 && chosen(&plan.kernels, line->name))
            check_kernel(primitive, line);
    if (primitive->pairs)
        check_pairs(primitive);
}

static void must_be_properties(const struct words *words)
{
    const char *valid[256];
    size_t n = 0;

    for (size_t i = 0; i < N(primitives); i++)
        for (size_t j = 0; j < primitives[i]->n_properties && n < N(valid); j++)
            valid[n++] = primitives[i]->properties[j].name;
    for (size_t i = 0; i < words->n; i++)
        known_word("property", words->at[i], valid, n);
}

int check_command(int argc, char **argv)
{
    const struct option options[] = {
        {"--primitive", OPTION_WORDS, &plan.primitives}, {"--kernel", OPTION_WORDS, &plan.kernels},
        {"--property", OPTION_WORDS, &plan.properties},  {"--seed", OPTION_NUMBER, &plan.seed},
        {"--quick", OPTION_FLAG, &plan.quick},           {"--without", OPTION_WORDS, &plan.without},
    };

    options_read(argc, argv, options, N(options));
    must_be_primitives(&plan.primitives);
    must_be_kernels(&plan.kernels);
    must_be_properties(&plan.properties);
    do_without(&plan.without);
    emit_harness_line("check", NULL);
    for (size_t i = 0; i < N(primitives); i++)
        if (chosen(&plan.primitives, primitives[i]->name))
            check_primitive(primitives[i]);
    if (count[PASS] + count[FAIL] + count[SKIP] == 0)
        usage_error("nothing to check: no kernel asked for has a property asked for");
    emit_begin("summary");
    emit_unsigned("passed", count[PASS]);
    emit_unsigned("failed", count[FAIL]);
    emit_unsigned("skipped", count[SKIP]);
    emit_unsigned("seed", plan.seed);
    emit_end();
    return count[FAIL] ? 1 : 0;
}

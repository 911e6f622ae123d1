/* SPDX-License-Identifier: MIT */
/* bench: what one message costs, per kernel, mode, key size, length and style. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everycore/kernel.h"

#include "commands.h"
#include "bench_slots.h"
#include "counters/counter.h"
#include "ct_marks.h"
#include "emit.h"
#include "gcm_kernels.h"
#include "measure.h"
#include "names.h"
#include "port/port.h"
#include "quiet.h"

static const char *const styles[] = {"streamed", "fenced"};
enum { STREAMED, FENCED, N_STYLES };

static const struct bench_primitive *const primitives[] = {
    &bench_aes,       &bench_pac_aes, &bench_ghash,    &bench_gcm,   &bench_qarma,
    &bench_pac_qarma, &bench_bn,      &bench_bn_words, &bench_layers,
    &bench_sha2};

/* Everything the command line says. */
struct plan {
    struct words primitives, kernels, modes, key_bits, bytes, styles, messages, keys, aad_bytes,
        without;
    uint64_t samples, budget_ms, seed, cpu, width;
    bool in_place, dry_run, trace, placement;
    const struct counter *counter;
    bool failed;
};

/* One line of output. */
struct point {
    const struct bench_primitive *primitive;
    size_t mode, style;
    struct bench_setup setup;
    const char *with; /* the kernel of the other use, or NULL */
};

/* ---- One point ------------------------------------------------------------------------------ */

static void emit_point_head(const char *type, const struct point *p, const struct plan *plan)
{
    emit_begin(type);
    emit_text("primitive", p->primitive->name);
    emit_text("kernel", p->setup.kernel);
    if (p->with)
        emit_text("with", p->with);
    emit_text("mode", p->primitive->mode_name(p->mode));
    emit_unsigned("key_bits", p->setup.key_bits);
    emit_unsigned("bytes", p->setup.len_bytes);
    emit_unsigned("messages", p->setup.messages);
    if (p->setup.in_place)
        emit_bool("in_place", true);
    if (p->setup.aad_bytes != AAD_BYTES)
        emit_unsigned("aad_bytes", p->setup.aad_bytes);
    if (p->setup.keys > 1)
        emit_unsigned("keys", p->setup.keys);
    emit_text("style", styles[p->style]);
    emit_text("counter", counter_name(plan->counter));
}

static void emit_point(const struct point *p, const struct plan *plan, const struct measured *m,
                       bool runs, const char *why)
{
    emit_point_head("bench", p, plan);
    emit_measured(m);
    if (p->style == FENCED && m->n)
        emit_real("fence_cycles", fence_cycles(plan->counter));
    emit_bool("runs", runs);
    if (why)
        emit_text("why", why);
    emit_end();
}

static void emit_error(const struct point *p, struct plan *plan, const char *detail)
{
    emit_point_head("error", p, plan);
    emit_text("detail", detail);
    emit_unsigned("seed", p->setup.seed);
    emit_end();
    plan->failed = true;
}

static bench_loop *loop_of(const struct point *p)
{
    const bool fenced = p->style == FENCED;

    return p->setup.keys > 1 ? p->primitive->keys_loop(p->mode, fenced)
                             : p->primitive->loop(p->mode, fenced);
}

/* expected: what the reference kernel computes at this point. */
static void bench_point(struct point *p, struct plan *plan, uint64_t expected)
{
    static struct measured m;
    const char *why = NULL;
    void *work = p->primitive->prepare(p->mode, &p->setup, &p->with);

    measure_nothing(&m);
    if (!work) {
        emit_error(p, plan, "no memory for the messages and keys");
        return;
    }
    if (p->primitive->result(p->mode, work) != expected) {
        char detail[64];
        snprintf(detail, sizeof detail, "differs from %s", p->primitive->reference);
        emit_error(p, plan, detail);
        return;
    }
    if (plan->trace) {
        bench_loop *loop = loop_of(p);
        ct_begin();
        loop(work, 1);
        ct_end();
        why = "run once between two marks, for a tracer";
    } else if (!plan->counter) {
        why = "no calibrated counter";
    } else if (p->style == FENCED && !HAVE_FENCE) {
        why = "no serialising fence known for this architecture";
    } else {
        /* With several keys, the caches then hold what a long run leaves in them,
         * not what key set-up did. */
        if (p->setup.keys > 1)
            loop_of(p)(work, p->setup.keys);
        measure(plan->counter, loop_of(p), work, (size_t)plan->samples, plan->budget_ms * 1000000,
                &m);
        if (!m.n)
            why = m.calls > 1
                      ? "every sample was disturbed"
                      : "every sample was disturbed: one call is longer than the machine is quiet";
    }
    emit_point(p, plan, &m, true, why);
}

/* In place if it was asked for, else apart. */
static void place_point(const struct point *p, struct plan *plan, uint64_t expected)
{
    struct bench_placed placed;

    if (!bench_placements(plan->counter, p->primitive, p->mode, &p->setup, p->style == FENCED,
                          expected, &placed)) {
        emit_error(p, plan,
                   "more than 1 MiB of messages, or no memory between pages without access");
        return;
    }
    if (!placed.same_result) {
        emit_error(p, plan, "the result depends on the place in a page");
        return;
    }
    emit_point_head("placement", p, plan);
    emit_real("start", placed.start);
    emit_real("inside_start", placed.inside_start);
    emit_real("end", placed.end);
    emit_real("inside_end", placed.inside_end);
    emit_end();
}

/* ---- All points ----------------------------------------------------------------------------- */

/* A kernel named and not able to run here is shown; of "all kernels", only those that run. */
static void bench_kernel(struct point *p, struct plan *plan, const struct evc_registry_line *line,
                         uint64_t expected)
{
    static struct measured nothing; /* not const: a quarter of a MiB of zeros
                                     * would stand in the program */
    char text[256];

    p->setup.kernel = line->name;
    p->with = NULL;
    if (p->primitive->has_mode && runs_here(line) && !p->primitive->has_mode(p->mode, line->name))
        return;
    if (runs_here(line) && plan->placement)
        place_point(p, plan, expected);
    else if (runs_here(line))
        bench_point(p, plan, expected);
    else if (plan->kernels.n)
        emit_point(p, plan, &nothing, false, why_not_here(text, sizeof text, line));
}

/* Pairs named, else the one that is selected. */
static void bench_pairs(struct point *p, struct plan *plan, uint64_t expected)
{
    for (size_t i = 0; i < plan->kernels.n; i++)
        if (is_pair_name(plan->kernels.at[i]))
            bench_kernel(p, plan, pair_named(plan->kernels.at[i]), expected);
    if (!plan->kernels.n)
        bench_kernel(p, plan, pair_at(SELECTED_PAIR, 0), expected);
}

static void bench_kernels(struct point *p, struct plan *plan)
{
    const struct evc_registry_line *line;
    uint64_t expected = 0;

    p->setup.kernel = p->primitive->reference;
    p->setup.alone = true;
    void *work = p->primitive->prepare(p->mode, &p->setup, &p->with);
    if (work)
        expected = p->primitive->result(p->mode, work);
    p->setup.alone = false;
    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        if (strcmp(line->primitive, p->primitive->name) == 0 && chosen(&plan->kernels, line->name))
            bench_kernel(p, plan, line, expected);
    if (p->primitive->pairs)
        bench_pairs(p, plan, expected);
}

/* The same length may stand for several that were asked: it is measured once. */
static bool seen(size_t *lengths, size_t *n, size_t len)
{
    for (size_t i = 0; i < *n; i++)
        if (lengths[i] == len)
            return true;
    lengths[(*n)++] = len;
    return false;
}

/* Whether a mode takes messages of so many bytes. */
static bool takes_length(const struct bench_primitive *primitive, const char *mode,
                         uint64_t n_bytes)
{
    return !primitive->unit_bytes || n_bytes % primitive->unit_bytes == 0 ||
           strcmp(mode, "setkey") == 0;
}

static void bench_lengths(struct point *p, struct plan *plan)
{
    size_t lengths[256], n = 0;

    for (size_t i = 0; i < plan->bytes.n; i++) {
        p->setup.len_bytes = (size_t)option_number("--bytes", plan->bytes.at[i]);
        if (!takes_length(p->primitive, p->primitive->mode_name(p->mode), p->setup.len_bytes))
            continue;
        p->setup.len_bytes = p->primitive->length_used(p->mode, &p->setup);
        if (!p->setup.len_bytes || seen(lengths, &n, p->setup.len_bytes))
            continue;
        for (p->style = 0; p->style < N_STYLES; p->style++)
            if (chosen(&plan->styles, styles[p->style]))
                bench_kernels(p, plan);
    }
}

static bool has_aad(const struct bench_primitive *primitive, size_t mode)
{
    return primitive->has_aad && primitive->has_aad(mode);
}

static bool takes_keys(const struct bench_primitive *primitive, size_t mode)
{
    return primitive->keys_loop && primitive->keys_loop(mode, false);
}

/* With each length of associated data and each number of keys that the mode takes. */
static void bench_conditions(struct point *p, struct plan *plan)
{
    const bool aad = has_aad(p->primitive, p->mode);

    for (size_t i = 0; i < (aad ? plan->aad_bytes.n : 1); i++)
        for (size_t j = 0; j < plan->keys.n; j++) {
            p->setup.aad_bytes =
                aad ? (size_t)option_number("--aad-bytes", plan->aad_bytes.at[i]) : AAD_BYTES;
            p->setup.keys = (size_t)option_number("--keys", plan->keys.at[j]);
            if (p->setup.keys == 1 || takes_keys(p->primitive, p->mode))
                bench_lengths(p, plan);
        }
}

static void bench_mode(struct point *p, struct plan *plan)
{
    bool many = p->primitive->is_many(p->mode);
    unsigned only = p->primitive->key_bits;

    for (size_t i = 0; i < (only ? 1 : plan->key_bits.n); i++)
        for (size_t j = 0; j < (many ? plan->messages.n : 1); j++) {
            p->setup.key_bits =
                only ? only : (unsigned)option_number("--key-bits", plan->key_bits.at[i]);
            p->setup.messages =
                many ? (size_t)option_number("--messages", plan->messages.at[j]) : 1;
            bench_conditions(p, plan);
        }
}

static void bench_primitive(const struct bench_primitive *primitive, struct plan *plan)
{
    struct point p = {.primitive = primitive};

    if (plan->placement && !primitive->takes_place)
        return;
    p.setup.in_place = plan->in_place;
    p.setup.place = plan->placement ? PLACE_INSIDE : PLACE_SLOTS;
    p.setup.seed = plan->seed;
    for (; primitive->mode_name(p.mode); p.mode++)
        if (chosen(&plan->modes, primitive->mode_name(p.mode)))
            bench_mode(&p, plan);
}

/* ---- The command line ----------------------------------------------------------------------- */

static void must_be_modes(const struct words *modes)
{
    const char *valid[256];
    size_t n = 0;

    for (size_t i = 0; i < sizeof primitives / sizeof primitives[0]; i++)
        for (size_t j = 0; primitives[i]->mode_name(j) && n < 256; j++)
            valid[n++] = primitives[i]->mode_name(j);
    for (size_t i = 0; i < modes->n; i++)
        known_word("mode", modes->at[i], valid, n);
}

static void must_be_within(const char *option, uint64_t value, uint64_t least, uint64_t most)
{
    if (value < least || value > most)
        usage_error("%s wants %llu to %llu, not %llu", option, (unsigned long long)least,
                    (unsigned long long)most, (unsigned long long)value);
}

/* A length that is no whole number of blocks is an error for modes that are named, or whose
 * primitive is; other modes leave it out. */
static void must_take_lengths(const struct bench_primitive *primitive, const struct plan *plan)
{
    const char *mode;

    if (!chosen(&plan->primitives, primitive->name) ||
        (!plan->modes.n && (!plan->primitives.n || primitive->guest)))
        return;
    for (size_t i = 0; (mode = primitive->mode_name(i)) != NULL; i++)
        for (size_t j = 0; j < plan->bytes.n && chosen(&plan->modes, mode); j++)
            if (!takes_length(primitive, mode, option_number("--bytes", plan->bytes.at[j])))
                usage_error("--bytes %s: mode %s wants a multiple of %zu", plan->bytes.at[j], mode,
                            primitive->unit_bytes);
}

static bool is_mode_of_keys(const char *name)
{
    const char *mode;

    for (size_t i = 0; i < sizeof primitives / sizeof primitives[0]; i++)
        for (size_t j = 0; (mode = primitives[i]->mode_name(j)) != NULL; j++)
            if (strcmp(mode, name) == 0 && takes_keys(primitives[i], j))
                return true;
    return false;
}

/* Modes that are not named are left out. */
static void check_keys(const struct plan *plan)
{
    for (size_t i = 0; i < plan->keys.n; i++) {
        const uint64_t keys = option_number("--keys", plan->keys.at[i]);
        must_be_within("--keys", keys, 1, MOST_KEYS);
        if (keys > 1 && plan->placement)
            usage_error("--placement measures one message at a time: it does not go with --keys %s",
                        plan->keys.at[i]);
        for (size_t j = 0; keys > 1 && j < plan->modes.n; j++)
            if (!is_mode_of_keys(plan->modes.at[j]))
                usage_error("--keys %s: mode %s is measured with one key; gcm-seal takes several",
                            plan->keys.at[i], plan->modes.at[j]);
    }
}

static void check_plan(struct plan *plan)
{
    static const char *const key_sizes[] = {"128", "192", "256"};

    must_be_primitives(&plan->primitives);
    must_be_kernels(&plan->kernels);
    must_be_modes(&plan->modes);
    for (size_t i = 0; i < plan->styles.n; i++)
        known_word("style", plan->styles.at[i], styles, N_STYLES);
    for (size_t i = 0; i < plan->key_bits.n; i++)
        known_word("key size", plan->key_bits.at[i], key_sizes, 3);
    for (size_t i = 0; i < plan->bytes.n; i++)
        must_be_within("--bytes", option_number("--bytes", plan->bytes.at[i]), 1, 1 << 24);
    for (size_t i = 0; i < sizeof primitives / sizeof primitives[0]; i++)
        must_take_lengths(primitives[i], plan);
    for (size_t i = 0; i < plan->messages.n; i++)
        must_be_within("--messages", option_number("--messages", plan->messages.at[i]), 1, 1024);
    for (size_t i = 0; i < plan->aad_bytes.n; i++)
        must_be_within("--aad-bytes", option_number("--aad-bytes", plan->aad_bytes.at[i]), 0,
                       MOST_AAD_BYTES);
    check_keys(plan);
    must_be_within("--samples", plan->samples, 1, MAX_SAMPLES);
    must_be_within("--budget-ms", plan->budget_ms, 1, 60000);
}

static void set_default(struct words *words, const char *word)
{
    if (!words->n)
        words->at[words->n++] = word;
}

int bench_command(int argc, char **argv)
{
    static struct plan plan = {.samples = 61, .budget_ms = 50, .seed = 1, .cpu = UINT64_MAX};
    const char *counter = NULL;
    const struct option options[] = {
        {"--primitive", OPTION_WORDS, &plan.primitives},
        {"--kernel", OPTION_WORDS, &plan.kernels},
        {"--mode", OPTION_WORDS, &plan.modes},
        {"--key-bits", OPTION_WORDS, &plan.key_bits},
        {"--bytes", OPTION_WORDS, &plan.bytes},
        {"--style", OPTION_WORDS, &plan.styles},
        {"--messages", OPTION_WORDS, &plan.messages},
        {"--samples", OPTION_NUMBER, &plan.samples},
        {"--budget-ms", OPTION_NUMBER, &plan.budget_ms},
        {"--without", OPTION_WORDS, &plan.without},
        {"--keys", OPTION_WORDS, &plan.keys},
        {"--aad-bytes", OPTION_WORDS, &plan.aad_bytes},
        {"--in-place", OPTION_FLAG, &plan.in_place},
        {"--placement", OPTION_FLAG, &plan.placement},
        {"--dry-run", OPTION_FLAG, &plan.dry_run},
        {"--trace", OPTION_FLAG, &plan.trace},
        {"--counter", OPTION_TEXT, &counter},
        {"--cpu", OPTION_NUMBER, &plan.cpu},
        {"--width", OPTION_NUMBER, &plan.width},
        {"--seed", OPTION_NUMBER, &plan.seed},
    };

    options_read(argc, argv, options, sizeof options / sizeof options[0]);
    check_plan(&plan);
    do_without(&plan.without);
    set_default(&plan.key_bits, "256");
    set_default(&plan.bytes, "16384");
    set_default(&plan.styles, "streamed");
    set_default(&plan.messages, "16");
    set_default(&plan.keys, "1");
    set_default(&plan.aad_bytes, "13"); /* AAD_BYTES */
    if (!port_pin(plan.cpu == UINT64_MAX ? -1 : (int)plan.cpu) && plan.cpu != UINT64_MAX)
        usage_error("--cpu %llu: cannot run there", (unsigned long long)plan.cpu);
    plan.counter = counter_choose(counter);
    if (plan.placement && !plan.counter && !plan.dry_run)
        usage_error("--placement measures, but there is no calibrated counter here");
    quiet_expect(plan.width);
    measure_patiently();
    emit_harness_line("bench", counter_name(plan.counter));
    for (size_t i = 0; i < sizeof primitives / sizeof primitives[0] && !plan.dry_run; i++)
        if (chosen(&plan.primitives, primitives[i]->name))
            bench_primitive(primitives[i], &plan);
    return plan.failed ? 1 : 0;
}

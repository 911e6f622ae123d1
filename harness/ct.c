/* SPDX-License-Identifier: MIT */
/*
 * ct: one operation of one kernel on secrets drawn from a seed, in a region that a tracer finds by
 * its marks, that memcheck watches, or that is timed. Inside nothing depends on the secrets but the
 * library.
 */
#include "ct.h"

#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "counters/counter.h"
#include "ct_marks.h"
#include "emit.h"
#include "gcm_kernels.h"
#include "names.h"
#include "port/port.h"
#include "random.h"
#include "taint.h"

#define N(array) (sizeof(array) / sizeof(array)[0])
#define MAX_BATCH 64 /* blocks, of all kernels */
#define MAX_LENGTHS (3 * (2 * MAX_BATCH + 2) + 1)
#define MAX_SAMPLES 10000000

static const struct ct_operations *const lists[] = {
    &ct_aes,      &ct_gcm_of_aes, &ct_ghash, &ct_gcm_of_ghash, &ct_gcm, &ct_qarma,     &ct_bn,
    &ct_bn_words, &ct_dh,         &ct_prime, &ct_prime_lanes,  &ct_rsa, &ct_rsa_of_ref,
    &ct_sha256, &ct_sha512, &ct_x25519};
static const char *const key_sizes[] = {"128", "192", "256"};

static struct plan {
    struct words primitives, kernels, operations, key_bits, bytes, secrets;
    uint64_t samples, cpu;
    bool list, thorough, timing, placement;
    const struct counter *counter;
    bool failed;
} plan = {.samples = 20000, .cpu = UINT64_MAX};

/* Placement of the buffers of calls: in memory of their own, whose first and last page hold a byte
 * of them, between pages without access. */
enum place { ANYWHERE, AT_START, AT_END, NEAR_END };
static const char *const place_names[] = {"anywhere", "start", "end", "near-end"};

/* A kernel's operation with keys of one size. */
struct subject {
    const struct evc_registry_line *line;
    const struct ct_operation *operation;
    unsigned key_bits;
    size_t bytes[MAX_LENGTHS], n; /* lengths of the messages; of one call each */
    enum place place;
};

/* ---- Lengths ------------------------------------------------------------------------------- */

/* The nearest length that the operation takes, unless it is there already. */
static void add_length(struct subject *s, size_t len_bytes)
{
    const struct ct_operation *o = s->operation;

    len_bytes = o->granule ? len_bytes / o->granule * o->granule : 0;
    if (len_bytes < o->min_bytes)
        len_bytes = o->min_bytes;
    if (len_bytes > CT_MAX_BYTES)
        len_bytes = CT_MAX_BYTES / 16 * 16;
    for (size_t i = 0; i < s->n; i++)
        if (s->bytes[i] == len_bytes)
            return;
    if (s->n == MAX_LENGTHS)
        usage_error("%s: more than %d lengths of messages", s->line->name, MAX_LENGTHS);
    s->bytes[s->n++] = len_bytes;
}

/*
 * Those asked for; else lengths that take different ways. Few: a part of a block; two blocks, which
 * are a part of a vector; some blocks, for which kernels of GCM have ways of their own; a full
 * group of the kernel's; one with all smaller groups of powers of two and a part of a block behind.
 * Thorough: every number of blocks to two groups and one, whole and with parts; and a long one.
 * Thorough, at the edges of pages: every length to 300 bytes, and ten beyond.
 */
static void choose_lengths(struct subject *s, unsigned batch)
{
    if (batch < 2)
        batch = 2;
    for (size_t i = 0; i < plan.bytes.n; i++)
        add_length(s, (size_t)option_number("--bytes", plan.bytes.at[i]));
    if (plan.bytes.n)
        return;
    if (!plan.thorough) {
        add_length(s, 16);
        add_length(s, 1);
        add_length(s, 29);
        add_length(s, 45);
        add_length(s, 77);
        add_length(s, 16 * batch);
        add_length(s, 16 * (2 * batch - 1) + 13);
        return;
    }
    if (plan.placement) {
        for (size_t bytes = 1; bytes <= 300; bytes++)
            add_length(s, bytes);
        for (size_t i = 1; i <= 10; i++)
            add_length(s, 300 + (CT_LONG_BYTES - 300) * i / 10);
        return;
    }
    for (size_t blocks = 0; blocks <= 2 * batch + 1; blocks++) {
        add_length(s, 16 * blocks);
        add_length(s, 16 * blocks + 1);
        add_length(s, 16 * blocks + 15);
    }
    add_length(s, CT_LONG_BYTES);
}

/* ---- One subject --------------------------------------------------------------------------- */

static void emit_head(const char *type, const struct subject *s)
{
    emit_begin(type);
    emit_text("primitive", s->line->primitive);
    emit_text("kernel", s->line->name);
    emit_text("timing", timing_name(s->line->timing));
    emit_text("operation", s->operation ? s->operation->name : NULL);
    emit_unsigned("key_bits", s->key_bits);
    emit_list_begin("bytes");
    for (size_t i = 0; i < s->n; i++)
        emit_unsigned(NULL, s->bytes[i]);
    emit_list_end();
    if (s->place != ANYWHERE)
        emit_text("place", place_names[s->place]);
}

static void emit_error(const struct subject *s, const char *detail)
{
    emit_head("error", s);
    emit_text("detail", detail);
    emit_end();
    plan.failed = true;
}

#define PAGE_BYTES 4096
#define MAX_PAGES ((CT_MAX_BYTES + 63) / PAGE_BYTES + 1)
enum buffer { IN, OUT, AAD, IV, TAG, N_BUFFERS };

/* How far before the end of the page a buffer ends: 1 to 63 bytes, for whole blocks a
 * multiple of 8. Of input and output one is nearer, by turns, so that either alone may be too
 * near for a whole vector. */
static size_t gap_behind(const struct subject *s, size_t call, enum buffer buffer)
{
    const size_t near = 1 + 5 * call % 63, is_far = buffer == (call % 2 ? IN : OUT);
    const size_t gap = is_far ? 1 + (near + 31) % 63 : near;

    if (s->place != NEAR_END)
        return 0;
    return s->operation->granule == 1 ? gap : gap / 8 * 8;
}

/* Memory is made once for each call's number and kept for the next subject. NULL: none. */
static uint8_t *placed(const struct subject *s, size_t call, enum buffer buffer, size_t len_bytes)
{
    static struct guarded areas[MAX_LENGTHS][N_BUFFERS][MAX_PAGES];
    const size_t to_end = len_bytes + gap_behind(s, call, buffer);
    const size_t pages = to_end ? (to_end + PAGE_BYTES - 1) / PAGE_BYTES : 1;
    struct guarded *area = &areas[call][buffer][pages - 1];

    if (!area->start)
        *area = port_guarded(pages * PAGE_BYTES);
    if (!area->start)
        return NULL;
    return s->place == AT_START ? area->start : area->start + area->len_bytes - to_end;
}

static bool place_buffers(const struct subject *s, size_t call, struct ct_call *c)
{
    const bool has_message = s->operation->granule != 0;
    const size_t text_bytes = has_message ? c->len_bytes : CT_ROOM_BYTES;
    const size_t aad_bytes = has_message ? CT_AAD_BYTES : CT_ROOM_BYTES;

    c->in = c->secret.in;
    c->out = c->own_out;
    c->aad = c->secret.aad;
    c->iv = c->own_iv;
    c->tag = c->own_tag;
    if (s->place == ANYWHERE)
        return true;
    c->in = placed(s, call, IN, text_bytes);
    c->out = placed(s, call, OUT, text_bytes);
    c->aad = placed(s, call, AAD, aad_bytes);
    c->iv = placed(s, call, IV, 16);
    c->tag = placed(s, call, TAG, 16);
    if (!c->in || !c->out || !c->aad || !c->iv || !c->tag)
        return false;
    memcpy(c->in, c->secret.in, text_bytes);
    memcpy(c->aad, c->secret.aad, aad_bytes);
    return true;
}

/* The i-th seed of secrets. */
static uint64_t seed_at(size_t i)
{
    return plan.secrets.n ? option_number("--secret", plan.secrets.at[i]) : 1;
}

/* A call of each length with secrets of its own; false: no memory. */
static bool draw_calls(const struct subject *s, uint64_t seed, struct ct_call *calls)
{
    struct random r = {seed};

    for (size_t i = 0; i < s->n; i++) {
        struct ct_call *c = &calls[i];
        memset(c, 0, sizeof *c);
        c->kernel = s->line->name;
        c->key_bits = s->key_bits;
        c->len_bytes = s->bytes[i];
        /* forged_bit: in each tag of 12 bytes or more that ends where 16 do */
        c->forged_bit = 32 + (unsigned)random_below(&r, 96);
        random_bytes(&r, (uint8_t *)&c->secret, sizeof c->secret);
        evc_secret(&c->secret, sizeof c->secret);
        if (!place_buffers(s, i, c))
            return false;
    }
    return true;
}

static bool prepare(const struct ct_operation *o, struct ct_call *calls, size_t n)
{
    bool good = true;

    for (size_t i = 0; i < n; i++) {
        memcpy(calls[i].iv, calls[i].secret.iv, 16);
        good = (!o->prepare || o->prepare(&calls[i])) && good;
    }
    return good;
}

static bool run(const struct ct_operation *o, struct ct_call *calls, size_t n)
{
    bool good = true;

    for (size_t i = 0; i < n; i++) {
        memcpy(calls[i].iv, calls[i].secret.iv, 16);
        good = o->run(&calls[i]) && good;
    }
    return good;
}

/* Adds to *errors those of memcheck in the region. */
static bool run_in_region(const struct subject *s, struct ct_call *calls, unsigned *errors)
{
    unsigned before;
    bool good;

    if (!prepare(s->operation, calls, s->n))
        return false;
    if (!taint_watches() &&
        !run(s->operation, calls, s->n)) /* so that the dynamic linker has done its part */
        return false;
    taint_say("ct: %s %s %s %u\n", s->line->primitive, s->line->name, s->operation->name,
              s->key_bits);
    before = taint_errors();
    ct_begin();
    good = run(s->operation, calls, s->n);
    ct_end();
    *errors += taint_errors() - before;
    taint_say("ct: end\n");
    return good;
}

/* A region for each seed, in memory that is the same for all of them. */
static void run_subject(const struct subject *s)
{
    static const char no_memory[] = "no memory for the messages";
    struct ct_call *calls = port_alloc_64(s->n * sizeof *calls);
    const size_t n_seeds = plan.secrets.n ? plan.secrets.n : 1;
    const char *wrong = calls ? NULL : no_memory;
    unsigned errors = 0;

    for (size_t i = 0; !wrong && i < n_seeds; i++) {
        if (!draw_calls(s, seed_at(i), calls))
            wrong = no_memory;
        else if (!run_in_region(s, calls, &errors))
            wrong = "the library refused what it ought to do, or did what it ought to refuse";
    }
    if (wrong) {
        emit_error(s, wrong);
    } else {
        emit_head("ct", s);
        if (taint_watches())
            emit_unsigned("errors", errors);
        emit_end();
    }
    port_free_64(calls);
}

/* Timed at its longest length. */
static void time_subject(struct subject *s)
{
    struct ct_call *call = port_alloc_64(sizeof *call);

    s->bytes[0] = s->bytes[s->n - 1];
    s->n = 1;
    if (!call || !draw_calls(s, seed_at(0), call) || !prepare(s->operation, call, 1) ||
        !run(s->operation, call, 1)) {
        emit_error(s, "cannot be run");
    } else {
        emit_head("ct-timing", s);
        emit_text("counter", counter_name(plan.counter));
        if (plan.counter)
            ct_time(s->operation, call, seed_at(0), (size_t)plan.samples, plan.counter);
        else
            emit_text("why", "no calibrated counter");
        emit_end();
    }
    port_free_64(call);
}

/* ---- All subjects -------------------------------------------------------------------------- */

static void list_subject(const struct subject *s)
{
    char text[256];
    bool runs = runs_here(s->line);

    emit_head("ct-operation", s);
    emit_bool("runs", runs);
    if (!runs)
        emit_text("why", why_not_here(text, sizeof text, s->line));
    emit_end();
}

static void do_operation(const struct ct_operations *list, const struct ct_operation *operation,
                         const struct evc_registry_line *line)
{
    const struct evc_kernel *kernel = line->built ? list->descriptor(line->name) : NULL;

    for (size_t i = 0; i < N(key_sizes); i++) {
        struct subject s = {.line = line, .operation = operation};
        s.key_bits = (unsigned)option_number("--key-bits", key_sizes[i]);
        if (!chosen(&plan.key_bits, key_sizes[i]) || (operation->no_192 && s.key_bits == 192) ||
            (list->one_key_size && s.key_bits != 128) || (line->built && !kernel) ||
            (kernel && kernel->key_bytes > list->key_room_bytes))
            continue;
        choose_lengths(&s, kernel ? kernel->batch : 1);
        if (plan.list || !runs_here(line))
            list_subject(&s);
        else if (plan.timing)
            time_subject(&s);
        else if (plan.placement)
            for (s.place = AT_START; s.place <= NEAR_END; s.place++)
                run_subject(&s);
        else
            run_subject(&s);
    }
}

static void do_kernel(const struct evc_registry_line *line)
{
    const struct subject nothing = {.line = line};
    bool covered = false;

    for (size_t i = 0; i < N(lists); i++) {
        if (strcmp(lists[i]->primitive, line->primitive) != 0)
            continue;
        covered = true;
        for (size_t j = 0; j < lists[i]->n; j++)
            if (chosen(&plan.operations, lists[i]->at[j].name))
                do_operation(lists[i], &lists[i]->at[j], line);
    }
    if (!covered) /* a line without an operation, for somebody to complain about */
        list_subject(&nothing);
}

/* ---- The command line ---------------------------------------------------------------------- */

static void check_plan(void)
{
    const char *valid[256];
    size_t n = 0;

    must_be_primitives(&plan.primitives);
    must_be_kernels(&plan.kernels);
    for (size_t i = 0; i < N(lists); i++)
        for (size_t j = 0; j < lists[i]->n && n < N(valid); j++)
            valid[n++] = lists[i]->at[j].name;
    for (size_t i = 0; i < plan.operations.n; i++)
        known_word("operation", plan.operations.at[i], valid, n);
    for (size_t i = 0; i < plan.key_bits.n; i++)
        known_word("key size", plan.key_bits.at[i], key_sizes, N(key_sizes));
    for (size_t i = 0; i < plan.bytes.n; i++)
        if (option_number("--bytes", plan.bytes.at[i]) > CT_MAX_BYTES)
            usage_error("--bytes wants 0 to %d, not %s", CT_MAX_BYTES, plan.bytes.at[i]);
    for (size_t i = 0; i < plan.secrets.n; i++)
        (void)seed_at(i); /* all are numbers */
    if (plan.samples < 100 || plan.samples > MAX_SAMPLES)
        usage_error("--samples wants 100 to %d, not %llu", MAX_SAMPLES,
                    (unsigned long long)plan.samples);
}

int ct_command(int argc, char **argv)
{
    const char *counter = NULL;
    const struct option options[] = {
        {"--primitive", OPTION_WORDS, &plan.primitives},
        {"--kernel", OPTION_WORDS, &plan.kernels},
        {"--operation", OPTION_WORDS, &plan.operations},
        {"--key-bits", OPTION_WORDS, &plan.key_bits},
        {"--bytes", OPTION_WORDS, &plan.bytes},
        {"--thorough", OPTION_FLAG, &plan.thorough},
        {"--placement", OPTION_FLAG, &plan.placement},
        {"--secret", OPTION_WORDS, &plan.secrets},
        {"--list", OPTION_FLAG, &plan.list},
        {"--timing", OPTION_FLAG, &plan.timing},
        {"--samples", OPTION_NUMBER, &plan.samples},
        {"--counter", OPTION_TEXT, &counter},
        {"--cpu", OPTION_NUMBER, &plan.cpu},
    };
    const struct evc_registry_line *line;

    options_read(argc, argv, options, N(options));
    check_plan();
    if (plan.placement && plan.timing)
        usage_error("--placement and --timing do not go together");
    if (!port_pin(plan.cpu == UINT64_MAX ? -1 : (int)plan.cpu) && plan.cpu != UINT64_MAX)
        usage_error("--cpu %llu: cannot run there", (unsigned long long)plan.cpu);
    if (plan.timing)
        plan.counter = counter_choose(counter);
    emit_harness_line("ct", counter_name(plan.counter));
    if (taint_watches() && !taint_works()) {
        emit_begin("error");
        emit_text("detail", "this valgrind does not notice a branch on a secret");
        emit_end();
        return 1;
    }
    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        if (chosen(&plan.primitives, line->primitive) && chosen(&plan.kernels, line->name))
            do_kernel(line);
    return plan.failed ? 1 : 0;
}

/* SPDX-License-Identifier: MIT */
/* limits: what this CPU can do at best, measured: its instructions, and the
 * arithmetic of the modes. */
#include "cpu_limits.h"

#include <stdio.h>
#include <string.h>

#include "everycore/cpu.h"
#include "everycore/kernel.h"

#include "commands.h"
#include "counters/counter.h"
#include "emit.h"
#include "names.h"
#include "options.h"
#include "port/port.h"
#include "quiet.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

struct plan {
    uint64_t samples, budget_ms, cpu, width;
    const struct counter *counter;
};

static EVC_ALIGN(64) uint8_t memory[LIMIT_MEMORY_BYTES];

/* The modes that cannot be faster than a kind of arithmetic: names of bench, NULL after the last.
 * What is done to many messages at once is no chain. */
static const struct {
    bool dependent;
    const char *method; /* where there are several: the CPU's best bounds the mode */
    const char *modes[6];
} kinds[LIMIT_WORK_N] = {
    [LIMIT_ENCRYPT] = {false, NULL, {"ecb-enc", "ctr", "xts-enc", "cbc-enc-many", "cmac-many"}},
    [LIMIT_DECRYPT] = {false, NULL, {"ecb-dec", "cbc-dec", "xts-dec"}},
    [LIMIT_CHAIN] = {true, NULL, {"cbc-enc", "cbcmac", "cmac", "ccm-seal", "ccm-open"}},
    [LIMIT_KARATSUBA] = {false, "Karatsuba", {"ghash"}},
    [LIMIT_SCHOOLBOOK] = {false, "schoolbook", {"ghash"}},
    [LIMIT_GCM_KARATSUBA] = {false,
                             "Karatsuba",
                             {"gcm-seal", "gcm-open", "gcm-seal-many", "gcm-open-many"}},
    [LIMIT_GCM_SCHOOLBOOK] = {false,
                              "schoolbook",
                              {"gcm-seal", "gcm-open", "gcm-seal-many", "gcm-open-many"}},
};

/* ---- One loop -------------------------------------------------------------------------------- */

static void run(const struct plan *plan, bench_loop *loop, struct measured *m)
{
    void *itself = memory;

    measure_nothing(m);
    if (!plan->counter || !loop)
        return;
    memcpy(memory, &itself, sizeof itself);
    measure(plan->counter, loop, memory, (size_t)plan->samples, plan->budget_ms * 1000000, m);
}

/* Samples of cycles, per so many things of a call; or of things per cycle. */
static void emit_per(const char *member, const struct measured *m, double things, bool per_cycle)
{
    emit_list_begin(member);
    for (size_t i = 0; i < m->n; i++) {
        double cycles = m->at[i].cycles / ((double)m->calls * things);
        emit_real(NULL, per_cycle ? 1 / cycles : cycles);
    }
    emit_list_end();
}

/* The end of a line: whether the CPU can run it, and why there are no figures. */
static void emit_whether(const struct plan *plan, uint64_t needs, bool measured)
{
    char text[256], why[272];
    uint64_t missing = needs & ~evc_cpu_features();

    emit_bool("runs", !missing);
    if (missing) {
        snprintf(why, sizeof why, "needs %s",
                 features_text(text, sizeof text, EVC_ARCH_HERE, missing));
        emit_text("why", why);
    } else if (!measured) {
        emit_text("why", plan->counter ? "every sample was disturbed" : "no calibrated counter");
    }
    emit_end();
}

static void measure_instruction(const struct limit_instruction *one, const struct plan *plan)
{
    static struct measured chain, streams;
    bool runs = !(one->needs & ~evc_cpu_features());

    run(plan, runs ? one->chain : NULL, &chain);
    run(plan, runs ? one->streams : NULL, &streams);
    emit_begin("limit");
    emit_text("instruction", one->name);
    emit_unsigned("width_bits", one->width_bits);
    emit_per("latency_cycles", &chain, LIMIT_COUNT, false);
    emit_per("per_cycle", &streams, LIMIT_COUNT, true);
    emit_quiet(chain.n && chain.width < streams.width ? chain.width : streams.width,
               chain.crowded || streams.crowded);
    emit_text("chain", one->chain_name);
    emit_text("streams", one->streams_name);
    emit_unsigned("count", LIMIT_COUNT);
    emit_whether(plan, one->needs, streams.n && (chain.n || !one->chain));
}

static void emit_texts(const char *member, const char *const *texts)
{
    emit_list_begin(member);
    for (; *texts; texts++)
        emit_text(NULL, *texts);
    emit_list_end();
}

static void emit_holds(const struct limit_arithmetic *one)
{
    emit_list_begin("holds");
    for (size_t i = 0; i < N(one->holds) && one->holds[i].instruction; i++) {
        emit_object_begin(NULL);
        emit_text("instruction", one->holds[i].instruction);
        emit_unsigned("count", one->holds[i].n);
        emit_object_end();
    }
    emit_list_end();
}

static void measure_arithmetic(const struct limit_arithmetic *one, const struct plan *plan)
{
    static struct measured m;
    bool runs = !(one->needs & ~evc_cpu_features());

    run(plan, runs ? one->loop : NULL, &m);
    emit_begin("arithmetic");
    emit_text("name", one->name);
    emit_texts("modes", kinds[one->work].modes);
    emit_unsigned("key_bits", one->key_bits);
    emit_unsigned("width_bits", one->width_bits);
    emit_text("method", kinds[one->work].method);
    emit_bool("dependent", kinds[one->work].dependent);
    emit_unsigned("bytes", one->len_bytes);
    emit_holds(one);
    emit_per("cycles_per_byte", &m, one->len_bytes, false);
    emit_quiet(m.width, m.crowded);
    emit_whether(plan, one->needs, m.n > 0);
}

/* ---- The command line ------------------------------------------------------------------------ */

int limits_command(int argc, char **argv)
{
    static const char *const parts[] = {"instructions", "arithmetic"};
    struct plan plan = {.samples = 21, .budget_ms = 20, .cpu = UINT64_MAX};
    struct words only = {.n = 0};
    const char *counter = NULL;
    const struct option options[] = {
        {"--only", OPTION_WORDS, &only},
        {"--samples", OPTION_NUMBER, &plan.samples},
        {"--budget-ms", OPTION_NUMBER, &plan.budget_ms},
        {"--counter", OPTION_TEXT, &counter},
        {"--cpu", OPTION_NUMBER, &plan.cpu},
        {"--width", OPTION_NUMBER, &plan.width},
    };

    options_read(argc, argv, options, N(options));
    for (size_t i = 0; i < only.n; i++)
        known_word("part", only.at[i], parts, N(parts));
    if (plan.samples < 1 || plan.samples > MAX_SAMPLES)
        usage_error("--samples wants 1 to %d", MAX_SAMPLES);
    if (plan.budget_ms < 1 || plan.budget_ms > 60000)
        usage_error("--budget-ms wants 1 to 60000");
    if (!port_pin(plan.cpu == UINT64_MAX ? -1 : (int)plan.cpu) && plan.cpu != UINT64_MAX)
        usage_error("--cpu %llu: cannot run there", (unsigned long long)plan.cpu);
    plan.counter = counter_choose(counter);
    quiet_expect(plan.width);
    measure_patiently();
    emit_harness_line("limits", counter_name(plan.counter));
    for (size_t i = 0; chosen(&only, parts[0]) && i < limits_here.n_instructions; i++)
        measure_instruction(&limits_here.instructions[i], &plan);
    for (size_t i = 0; chosen(&only, parts[1]) && i < limits_here.n_arithmetic; i++)
        measure_arithmetic(&limits_here.arithmetic[i], &plan);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * bursts: what one message costs between work without vectors, and at which clock that work runs
 * beside it. Cores lower their clock for wide vectors and keep it low for a while, so a message may
 * cost more than its own time.
 *
 * A burst is a message of GCM, then a chain of dependent additions, one core cycle each, for about
 * the time of a pause. Kernels take turns, and the same without a message is one of them.
 *
 * Source: Downs, "Gathering Intel on Intel AVX-512 Transitions" (2020): a core asks for another
 * clock within microseconds, and goes back after 0.7 ms.
 */
#include <stdbool.h>
#include <string.h>

#include "everycore/gcm.h"
#include "everycore/kernel.h"

#include "commands.h"
#include "counters/counter.h"
#include "emit.h"
#include "must.h"
#include "names.h"
#include "options.h"
#include "port/port.h"

#define SAMPLE_NS 20000000 /* of bursts */
#define MOST_KERNELS 16
#define MOST_BYTES 65536
#define MOST_PAUSE_US 100000
#define MOST_SAMPLES 100
#define FEWEST_BURSTS 5 /* of a sample */
#define MOST_BURSTS 20000
#define N_TRIES 5
#define FASTEST_GHZ 10 /* of a core that adds; 100 ms of it fit in n_links */
#define NO_MESSAGE "none"

struct burst_kernel {
    const char *name;
    bool seals; /* else there is no message */
    union evc_gcm_key key;
};

struct bursts {
    const struct burst_kernel *kernel;
    size_t len_bytes;
    uint32_t n_links; /* additions of a pause */
};

/* The middle ones of many bursts, which another program on the core does not change. */
struct burst_sample {
    double message_ns, pause_ns;
};

static uint8_t text[MOST_BYTES], tag[16];

static void message(const struct bursts *b)
{
    static const uint8_t nonce[12] = {1};

    if (b->kernel->seals)
        must(evc_gcm_seal(&b->kernel->key, nonce, sizeof nonce, NULL, 0, text, text, b->len_bytes,
                          tag, sizeof tag));
}

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static double middle(uint32_t *ns, size_t n)
{
    qsort(ns, n, sizeof ns[0], compare);
    return ns[n / 2];
}

static struct burst_sample bursts_for(const struct bursts *b, uint64_t least_ns)
{
    static uint32_t message_ns[MOST_BURSTS], pause_ns[MOST_BURSTS];
    const uint64_t start = port_now_ns();
    uint64_t last = start;
    size_t n = 0;

    while (n < FEWEST_BURSTS || (last - start < least_ns && n < MOST_BURSTS)) {
        uint64_t sealed;

        message(b);
        sealed = port_now_ns();
        add_chain(b->n_links);
        message_ns[n] = (uint32_t)(sealed - last);
        last = port_now_ns();
        pause_ns[n++] = (uint32_t)(last - sealed);
    }
    return (struct burst_sample){middle(message_ns, n), middle(pause_ns, n)};
}

/* Additions that take about so long, a multiple of 100 and no less. The shortest of several tries
 * counts, for another program may use the core meanwhile. */
static uint32_t links_of(uint64_t pause_us)
{
    const uint32_t n_tried = 1000000;
    uint64_t shortest = UINT64_MAX;
    uint32_t hundreds;

    add_chain(n_tried);
    for (int i = 0; i < N_TRIES; i++) {
        const uint64_t start = port_now_ns();
        uint64_t ns;

        add_chain(n_tried);
        ns = port_now_ns() - start;
        if (ns < shortest)
            shortest = ns;
    }
    if (shortest < n_tried / FASTEST_GHZ) /* of a clock with long ticks */
        shortest = n_tried / FASTEST_GHZ;
    hundreds = (uint32_t)(n_tried / 100 * (pause_us * 1000) / shortest);
    return hundreds ? 100 * hundreds : 100;
}

static void emit_bursts(const struct bursts *b, uint64_t pause_us, const struct burst_sample *at,
                        size_t n)
{
    emit_begin("burst");
    emit_text("kernel", b->kernel->name);
    emit_unsigned("bytes", b->len_bytes);
    emit_unsigned("pause_us", pause_us);
    emit_list_begin("ns");
    for (size_t i = 0; i < n; i++)
        emit_real(NULL, at[i].message_ns);
    emit_list_end();
    emit_list_begin("mhz");
    for (size_t i = 0; i < n; i++)
        emit_real(NULL, 1000.0 * b->n_links / at[i].pause_ns);
    emit_list_end();
    emit_end();
}

/* All kernels with one length and pause, sample by sample in turn. */
static void measure_point(const struct burst_kernel *kernels, size_t n_kernels, size_t len_bytes,
                          uint64_t pause_us, size_t n_samples)
{
    static struct burst_sample samples[MOST_KERNELS][MOST_SAMPLES];
    struct bursts b = {.len_bytes = len_bytes, .n_links = links_of(pause_us)};

    for (size_t i = 0; i < n_samples; i++) {
        for (size_t k = 0; k < n_kernels; k++) {
            b.kernel = &kernels[k];
            bursts_for(&b, SAMPLE_NS / 4); /* until the clock is that of these bursts */
            samples[k][i] = bursts_for(&b, SAMPLE_NS);
        }
    }
    for (size_t k = 0; k < n_kernels; k++) {
        b.kernel = &kernels[k];
        emit_bursts(&b, pause_us, samples[k], n_samples);
    }
}

/* No message, and the kernels of GCM that run here, of these names or all. */
static size_t kernels_here(const struct words *names, struct burst_kernel *to)
{
    static const uint8_t user_key[32] = {7};
    const struct evc_registry_line *line;
    size_t n = 1;

    to[0].name = NO_MESSAGE;
    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL && n < MOST_KERNELS; i++) {
        if (strcmp(line->primitive, "gcm") != 0 || !runs_here(line) || !chosen(names, line->name))
            continue;
        to[n].name = line->name;
        to[n].seals = true;
        must(evc_gcm_set_key(&to[n].key, evc_gcm_named(line->name), user_key, 256));
        n++;
    }
    return n;
}

static uint64_t number_within(const char *option, const char *word, uint64_t most)
{
    const uint64_t found = option_number(option, word);

    if (found < 1 || found > most)
        usage_error("%s wants 1 to %llu", option, (unsigned long long)most);
    return found;
}

int bursts_command(int argc, char **argv)
{
    static struct words kernels, bytes, pauses;
    static struct burst_kernel found[MOST_KERNELS];
    uint64_t cpu = UINT64_MAX, samples = 5;
    const struct option options[] = {{"--kernel", OPTION_WORDS, &kernels},
                                     {"--bytes", OPTION_WORDS, &bytes},
                                     {"--pause-us", OPTION_WORDS, &pauses},
                                     {"--samples", OPTION_NUMBER, &samples},
                                     {"--cpu", OPTION_NUMBER, &cpu}};
    size_t n;

    options_read(argc, argv, options, sizeof options / sizeof options[0]);
    for (size_t i = 0; i < kernels.n; i++)
        must_be_kernel_of("gcm", kernels.at[i]);
    if (samples < 1 || samples > MOST_SAMPLES)
        usage_error("--samples wants 1 to %d", MOST_SAMPLES);
    for (size_t i = 0; i < bytes.n; i++)
        number_within("--bytes", bytes.at[i], MOST_BYTES);
    for (size_t i = 0; i < pauses.n; i++)
        number_within("--pause-us", pauses.at[i], MOST_PAUSE_US);
    if (!port_pin(cpu == UINT64_MAX ? -1 : (int)cpu) && cpu != UINT64_MAX)
        usage_error("--cpu %llu: cannot run there", (unsigned long long)cpu);
    if (port_emulated() || !add_chain(100))
        usage_error("bursts want a CPU whose additions tell its clock; this is an emulator, or "
                    "harness/counters/chain.c has no chain for it");
    emit_harness_line("bursts", "none");
    n = kernels_here(&kernels, found);
    for (size_t i = 0; i < bytes.n; i++)
        for (size_t j = 0; j < pauses.n; j++)
            measure_point(found, n, (size_t)option_number("--bytes", bytes.at[i]),
                          option_number("--pause-us", pauses.at[j]), (size_t)samples);
    return 0;
}

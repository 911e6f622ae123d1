/* SPDX-License-Identifier: MIT */
/*
 * peers: other libraries, timed by the same loops in the same process style. A harness holds those that it was
 * built with: -DEVC_PEER_OPENSSL with peers/openssl.c and -lcrypto, -DEVC_PEER_LIBGCRYPT with
 * peers/libgcrypt.c and -lgcrypt. Every answer is compared with everycore's before it is timed.
 */
#include "../peers/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everycore/cpu.h"
#include "everycore/modes.h"

#include "commands.h"
#include "counters/counter.h"
#include "emit.h"
#include "fence.h"
#include "measure.h"
#include "options.h"
#include "port/port.h"
#include "random.h"

#define N_SLOTS 8
#define MOST_BYTES 65536
#define STRIDE(len) (((len) + 63) / 64 * 64)

extern const struct peer peer_openssl, peer_libgcrypt;

static const struct peer *const peers[] = {
#if defined(EVC_PEER_OPENSSL)
    &peer_openssl,
#endif
#if defined(EVC_PEER_LIBGCRYPT)
    &peer_libgcrypt,
#endif
    NULL};

static const char *const modes[] = {"ecb-enc", "ecb-dec", "cbc-enc", "cbc-dec", "ctr",
                                    "xts-enc", "xts-dec", "cmac",    "ccm-seal"};
static const char *const styles[] = {"streamed", "fenced"};
#define N(array) (sizeof(array) / sizeof((array)[0]))

const uint8_t peer_aad[PEER_AAD_BYTES] = "thirteen byte";

struct work {
    void *context;
    peer_run *run;
    size_t slot_mask;
    struct peer_message messages[N_SLOTS];
};

static uint8_t in_bytes[N_SLOTS * MOST_BYTES + 64], out_bytes[N_SLOTS * MOST_BYTES + 64];
static uint8_t ivs[N_SLOTS][16], tags[N_SLOTS][16];

static void streamed(void *vwork, uint64_t calls)
{
    struct work *w = vwork;

    for (uint64_t i = 0; i < calls; i++)
        w->run(w->context, &w->messages[i & w->slot_mask]);
}

static void fenced(void *vwork, uint64_t calls)
{
    struct work *w = vwork;

    FENCE();
    for (uint64_t i = 0; i < calls; i++) {
        w->run(w->context, &w->messages[i & w->slot_mask]);
        FENCE();
    }
}

/* Messages in turn from 16 KiB, so that they and their outputs stay in the first-level cache. */
static void set_messages(struct work *w, size_t len_bytes)
{
    size_t n = 1, stride = STRIDE(len_bytes);

    while (n < N_SLOTS && 2 * n * stride <= 16384)
        n *= 2;
    w->slot_mask = n - 1;
    for (size_t i = 0; i < n; i++)
        w->messages[i] = (struct peer_message){.in = in_bytes + i * stride,
                                               .out = out_bytes + i * stride,
                                               .iv = ivs[i],
                                               .tag = tags[i],
                                               .len_bytes = len_bytes};
}

/* everycore's answer to a message; the tag stays as it is in modes without one. */
static void reference(const char *mode, const uint8_t *user_key, unsigned key_bits,
                      const struct peer_message *m, uint8_t *out, uint8_t tag[16])
{
    static union evc_aes_key key;
    static struct evc_aes_xts_key xts;
    static struct evc_aes_cmac_key cmac;
    static struct evc_aes_ccm_key ccm;
    const struct evc_aes *kernel = evc_aes_named("c_ref");
    uint8_t iv[16];

    memcpy(iv, m->iv, 16);
    evc_aes_set_key(&key, kernel, user_key, key_bits);
    evc_aes_xts_set_key(&xts, kernel, kernel, user_key, key_bits);
    evc_aes_cmac_set_key(&cmac, kernel, user_key, key_bits);
    evc_aes_ccm_set_key(&ccm, kernel, kernel, user_key, key_bits);
    if (strcmp(mode, "ecb-enc") == 0)
        evc_aes_encrypt(&key, m->in, out, m->len_bytes / 16);
    else if (strcmp(mode, "ecb-dec") == 0)
        evc_aes_decrypt(&key, m->in, out, m->len_bytes / 16);
    else if (strcmp(mode, "cbc-enc") == 0)
        evc_aes_cbc_encrypt(&key, iv, m->in, out, m->len_bytes);
    else if (strcmp(mode, "cbc-dec") == 0)
        evc_aes_cbc_decrypt(&key, iv, m->in, out, m->len_bytes);
    else if (strcmp(mode, "ctr") == 0)
        evc_aes_ctr(&key, iv, m->in, out, m->len_bytes);
    else if (strcmp(mode, "xts-enc") == 0)
        evc_aes_xts_encrypt(&xts, iv, m->in, out, m->len_bytes);
    else if (strcmp(mode, "xts-dec") == 0)
        evc_aes_xts_decrypt(&xts, iv, m->in, out, m->len_bytes);
    else if (strcmp(mode, "cmac") == 0)
        evc_aes_cmac(&cmac, m->in, m->len_bytes, tag, 16);
    else
        evc_aes_ccm_seal(&ccm, iv, 12, peer_aad, PEER_AAD_BYTES, m->in, out, m->len_bytes, tag, 16);
}

static bool answers_rightly(const char *mode, const uint8_t *key, unsigned key_bits, struct work *w)
{
    static uint8_t expected[MOST_BYTES];
    uint8_t tag[16];

    for (size_t i = 0; i <= w->slot_mask; i++) {
        const struct peer_message *m = &w->messages[i];
        memset(expected, 0, m->len_bytes);
        memset(m->out, 0, m->len_bytes);
        memset(tag, 0, 16);
        memset(m->tag, 0, 16);
        reference(mode, key, key_bits, m, expected, tag);
        w->run(w->context, m);
        if (memcmp(expected, m->out, m->len_bytes) != 0 || memcmp(tag, m->tag, 16) != 0)
            return false;
    }
    return true;
}

struct plan {
    struct words peers, modes, key_bits, bytes, styles;
    uint64_t samples, budget_ms, seed, cpu;
    const struct counter *counter;
    bool failed;
};

static void emit_head(const char *type, const struct peer *peer, const char *mode, unsigned key_bits,
                      size_t len_bytes, const char *style, const struct plan *plan)
{
    char name[96];

    snprintf(name, sizeof name, "%s-%s", peer->name, peer->version());
    emit_begin(type);
    emit_text("primitive", "aes");
    emit_text("kernel", name);
    emit_text("peer", peer->name);
    emit_text("mode", mode);
    emit_unsigned("key_bits", key_bits);
    emit_unsigned("bytes", len_bytes);
    emit_unsigned("messages", 1);
    emit_text("style", style);
    emit_text("counter", counter_name(plan->counter));
}

static void bench_point(const struct peer *peer, const char *mode, unsigned key_bits, size_t len_bytes,
                        const char *style, struct plan *plan)
{
    static struct measured m;
    struct random r = {plan->seed};
    struct work w;
    uint8_t key[64];

    random_bytes(&r, key, sizeof key);
    random_bytes(&r, in_bytes, sizeof in_bytes);
    random_bytes(&r, ivs[0], sizeof ivs);
    set_messages(&w, len_bytes);
    w.context = peer->open(mode, key, key_bits, &w.run);
    if (!w.context)
        return;
    if (!answers_rightly(mode, key, key_bits, &w)) {
        emit_head("error", peer, mode, key_bits, len_bytes, style, plan);
        emit_text("detail", "differs from c_ref");
        emit_end();
        plan->failed = true;
    } else if (plan->counter) {
        measure(plan->counter, strcmp(style, "fenced") == 0 ? fenced : streamed, &w,
                (size_t)plan->samples, plan->budget_ms * 1000000, &m);
        emit_head("bench", peer, mode, key_bits, len_bytes, style, plan);
        emit_measured(&m);
        emit_bool("runs", true);
        emit_end();
    }
    peer->close(w.context);
}

static bool whole_blocks(const char *mode)
{
    return strncmp(mode, "ecb", 3) == 0 || strncmp(mode, "cbc", 3) == 0;
}

static void bench_mode(const struct peer *peer, const char *mode, struct plan *plan)
{
    for (size_t k = 0; k < plan->key_bits.n; k++)
        for (size_t b = 0; b < plan->bytes.n; b++)
            for (size_t s = 0; s < plan->styles.n; s++) {
                size_t len = (size_t)option_number("--bytes", plan->bytes.at[b]);
                len = whole_blocks(mode) ? len / 16 * 16 : len;
                if (len >= 16 && len <= MOST_BYTES)
                    bench_point(peer, mode, (unsigned)option_number("--key-bits", plan->key_bits.at[k]),
                                len, plan->styles.at[s], plan);
            }
}

static bool wanted(const struct words *words, const char *word)
{
    for (size_t i = 0; i < words->n; i++)
        if (strcmp(words->at[i], word) == 0)
            return true;
    return words->n == 0;
}

static void check_plan(struct plan *plan)
{
    static const char *const key_sizes[] = {"128", "192", "256"};
    const char *names[N(peers)];
    size_t n_peers = 0;

    for (; peers[n_peers]; n_peers++)
        names[n_peers] = peers[n_peers]->name;
    for (size_t i = 0; i < plan->peers.n; i++)
        known_word("peer", plan->peers.at[i], names, n_peers);
    for (size_t i = 0; i < plan->modes.n; i++)
        known_word("mode", plan->modes.at[i], modes, N(modes));
    for (size_t i = 0; i < plan->styles.n; i++)
        known_word("style", plan->styles.at[i], styles, N(styles));
    for (size_t i = 0; i < plan->key_bits.n; i++)
        known_word("key size", plan->key_bits.at[i], key_sizes, N(key_sizes));
    if (plan->samples < 1 || plan->samples > MAX_SAMPLES)
        usage_error("--samples wants 1 to %d", MAX_SAMPLES);
}

int peers_command(int argc, char **argv)
{
    static struct plan plan = {.samples = 61, .budget_ms = 50, .seed = 1, .cpu = UINT64_MAX};
    const char *counter = NULL;
    const struct option options[] = {
        {"--peer", OPTION_WORDS, &plan.peers},         {"--mode", OPTION_WORDS, &plan.modes},
        {"--key-bits", OPTION_WORDS, &plan.key_bits},  {"--bytes", OPTION_WORDS, &plan.bytes},
        {"--style", OPTION_WORDS, &plan.styles},       {"--samples", OPTION_NUMBER, &plan.samples},
        {"--budget-ms", OPTION_NUMBER, &plan.budget_ms}, {"--counter", OPTION_TEXT, &counter},
        {"--cpu", OPTION_NUMBER, &plan.cpu},           {"--seed", OPTION_NUMBER, &plan.seed},
    };

    options_read(argc, argv, options, N(options));
    check_plan(&plan);
    if (!plan.key_bits.n)
        plan.key_bits.at[plan.key_bits.n++] = "256";
    if (!plan.bytes.n)
        plan.bytes.at[plan.bytes.n++] = "16384";
    if (!plan.styles.n)
        plan.styles.at[plan.styles.n++] = "streamed";
    if (!port_pin(plan.cpu == UINT64_MAX ? -1 : (int)plan.cpu) && plan.cpu != UINT64_MAX)
        usage_error("--cpu %llu: cannot run there", (unsigned long long)plan.cpu);
    plan.counter = counter_choose(counter);
    emit_harness_line("peers", counter_name(plan.counter));
    for (size_t p = 0; peers[p]; p++)
        for (size_t m = 0; m < N(modes); m++)
            if (wanted(&plan.peers, peers[p]->name) && wanted(&plan.modes, modes[m]))
                bench_mode(peers[p], modes[m], &plan);
    return plan.failed ? 1 : 0;
}

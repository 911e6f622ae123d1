/* SPDX-License-Identifier: MIT */
/*
 * peers: another library, timed by the same loops in the same process style. An executable holds at
 * most one: the harness linked with one adapter of catalog/peers/ and its library. Each answer is
 * checked before it is timed.
 */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "counters/counter.h"
#include "emit.h"
#include "fence.h"
#include "key_order.h"
#include "measure.h"
#include "names.h"
#include "options.h"
#include "peer_answers.h"
#include "peer_layers.h"
#include "peer_numbers.h"
#include "port/port.h"
#include "quiet.h"
#include "random.h"

#define MOST_SLOTS 8
#define SLOTS_BYTES 16384 /* messages in turn: half of a 32 KiB first-level cache with outputs */
#define AAD_BYTES 13      /* as a record of TLS 1.2 (RFC 6655) */

#if defined(_WIN32)
const struct peer evc_peer; /* no peer there: its linker has no symbols that may be absent */
#define PEER_IS_ABSENT (evc_peer.name == NULL)
#else
#pragma weak evc_peer /* absent in a harness of its own */
#define PEER_IS_ABSENT (&evc_peer == NULL)
#endif

static const char *const modes[] = {"ecb-enc",  "ecb-dec",  "cbc-enc",  "cbc-dec",
                                    "ctr",      "xts-enc",  "xts-dec",  "cmac",
                                    "ccm-seal", "ccm-open", "gcm-seal", "gcm-open",
                                    "gcm-siv-seal", "gcm-siv-open",
                                    "mont-mul", "mont-sqr", "exp",      "exp-public",
                                    "mul-add-words", "mod-word16", "mod-word16-once",
                                    "sha256",   "sha512",   "hmac-sha256", "hmac-sha512",
                                    "pbkdf2-sha256", "pbkdf2-sha512",
                                    "sha256-many", "sha512-many",
                                    "rsa-private", "rsa-public", "dh-public", "prime-check"};
static const char *const styles[] = {"streamed", "fenced"};
static const char *const cases[] = {"best", "vaes256", "sse", "ssse3", "c"};
static const char *const key_sizes[] = {"128", "192", "256"};
#define N(array) (sizeof(array) / sizeof((array)[0]))

struct plan {
    struct words modes, key_bits, bytes, styles, keys, aad_bytes, vectors;
    uint64_t samples, budget_ms, seed, cpu, width;
    const char *hardware; /* NULL: not asked */
    const struct counter *counter;
    bool failed;
};

#define KEY_BYTES 64 /* those of two AES keys: for XTS */
#define SHOWN_LAYER_BYTES 256 /* of the key by which a library shows that it has a layer */

/* A mode with its keys, set. */
struct cipher {
    const char *mode;
    unsigned key_bits;
    size_t n_keys;
    void **contexts; /* n_keys: calls take them in this order, which is not that
                      * in which they were made */
    peer_run *run;
};

struct work {
    const struct cipher *cipher;
    size_t next_key;
    size_t slot_mask; /* calls - 1 that have messages of their own, a power of two */
    struct peer_message messages[PEER_MANY > MOST_SLOTS ? PEER_MANY : MOST_SLOTS];
    bool refused;
};

/* ---- The loops ------------------------------------------------------------------------------- */

static void *next_context(struct work *w)
{
    void *context = w->cipher->contexts[w->next_key];

    w->next_key = w->next_key + 1 == w->cipher->n_keys ? 0 : w->next_key + 1;
    return context;
}

static void streamed_keys(void *vwork, uint64_t calls)
{
    struct work *w = vwork;
    peer_run *run = w->cipher->run;

    for (uint64_t i = 0; i < calls; i++)
        w->refused |= !run(next_context(w), &w->messages[i & w->slot_mask]);
}

static void fenced_keys(void *vwork, uint64_t calls)
{
    struct work *w = vwork;
    peer_run *run = w->cipher->run;

    FENCE();
    for (uint64_t i = 0; i < calls; i++) {
        w->refused |= !run(next_context(w), &w->messages[i & w->slot_mask]);
        FENCE();
    }
}

static void streamed(void *vwork, uint64_t calls)
{
    struct work *w = vwork;
    peer_run *run = w->cipher->run;
    void *context = w->cipher->contexts[0];

    if (evc_peer.loop) {
        w->refused |= !evc_peer.loop(context, w->messages, w->slot_mask, calls);
        return;
    }
    for (uint64_t i = 0; i < calls; i++)
        w->refused |= !run(context, &w->messages[i & w->slot_mask]);
}

static void fenced(void *vwork, uint64_t calls)
{
    struct work *w = vwork;
    peer_run *run = w->cipher->run;
    void *context = w->cipher->contexts[0];

    FENCE();
    for (uint64_t i = 0; i < calls; i++) {
        w->refused |= !run(context, &w->messages[i & w->slot_mask]);
        FENCE();
    }
}

/* Random messages. Outputs lie 2 KiB from inputs modulo 4 KiB: the low 12 bits of a load and of an
 * older store near it never agree, so none waits for the other. */
static void set_work(struct work *w, const struct cipher *cipher, size_t len_bytes,
                     size_t aad_bytes, uint64_t seed)
{
    /* more than PEER_MOST_BYTES */
    enum { TEXT_BYTES = PEER_MANY * (PEER_MOST_OF_MANY_BYTES + 64) };
    static _Alignas(4096) uint8_t in[TEXT_BYTES], out[2048 + TEXT_BYTES];
    static uint8_t ivs[PEER_MANY][16], aad[MOST_AAD_BYTES];
    const bool is_many = peer_messages(cipher->mode) > 1;
    struct random r = {seed};
    size_t n = peer_messages(cipher->mode), stride = (len_bytes + PEER_TAG_BYTES + 63) / 64 * 64;

    while (!is_many && n < MOST_SLOTS && 2 * n * stride <= SLOTS_BYTES)
        n *= 2;
    random_bytes(&r, in, n * stride);
    random_bytes(&r, ivs[0], sizeof ivs);
    random_bytes(&r, aad, sizeof aad);
    w->cipher = cipher;
    w->next_key = 0;
    w->refused = false;
    w->slot_mask = is_many ? 0 : n - 1;
    for (size_t i = 0; i < n; i++) {
        struct peer_message *m = &w->messages[i];
        m->in = in + i * stride;
        m->out = out + 2048 + i * stride;
        m->iv = ivs[i];
        m->aad = aad;
        m->len_bytes = len_bytes;
        m->aad_bytes = aad_bytes;
        m->n_iterations = (uint32_t)len_bytes;
        m->tag = (peer_opens(cipher->mode) ? in : out + 2048) + i * stride + len_bytes;
    }
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static void emit_peer(const struct plan *plan)
{
    static uint8_t key[3 * 32]; /* the halves of XTS differ, and n is odd */
    static uint8_t key_of_layer[PEER_NUMBERS_BYTES];
    peer_run *run;

    peer_numbers_make("exp", key, 32, plan->seed);
    emit_begin("peer");
    emit_text("name", evc_peer.name);
    emit_text("version", evc_peer.version());
    if (evc_peer.headers)
        emit_text("headers", evc_peer.headers);
    emit_text("hardware", evc_peer.hardware ? evc_peer.hardware() : NULL);
    emit_text("asked", plan->hardware);
    if (evc_peer.absent && evc_peer.absent())
        emit_text("absent", evc_peer.absent());
    emit_list_begin("modes");
    for (size_t i = 0; i < N(modes); i++) {
        const bool is_layer = peer_layer_of(modes[i]) != PEER_NO_LAYER;
        void *context;

        if (is_layer)
            peer_numbers_make(modes[i], key_of_layer, SHOWN_LAYER_BYTES, plan->seed);
        context = evc_peer.open(modes[i], is_layer ? key_of_layer : key,
                                is_layer ? 8 * SHOWN_LAYER_BYTES : 256, &run);
        if (!context)
            continue;
        emit_text(NULL, modes[i]);
        evc_peer.close(context);
    }
    emit_list_end();
    emit_end();
}

static const char *primitive_of(const char *mode)
{
    if (peer_number_primitive(mode))
        return peer_number_primitive(mode);
    if (strstr(mode, "sha256") || strstr(mode, "sha512"))
        return "sha2";
    return strncmp(mode, "gcm", 3) == 0 ? "gcm" : "aes";
}

static void emit_head(const char *type, const struct cipher *c, const struct plan *plan)
{
    char name[96];

    snprintf(name, sizeof name, "%s-%s", evc_peer.name, evc_peer.version());
    emit_begin(type);
    emit_text("primitive", primitive_of(c->mode));
    emit_text("kernel", name);
    emit_text("peer", evc_peer.name);
    if (plan->hardware)
        emit_text("hardware", plan->hardware);
    emit_text("mode", c->mode);
    emit_unsigned("key_bits", c->key_bits);
}

static void emit_fault(const struct cipher *c, const struct peer_fault *fault, struct plan *plan)
{
    emit_head("error", c, plan);
    emit_text("detail", fault->what);
    if (fault->expected[0]) {
        emit_text("expected", fault->expected);
        emit_text("got", fault->got);
    }
    emit_unsigned("seed", plan->seed);
    emit_end();
    plan->failed = true;
}

static void emit_point(const struct work *w, const char *style, const struct measured *m,
                       const char *why, const struct plan *plan)
{
    emit_head("bench", w->cipher, plan);
    emit_unsigned("bytes", w->messages[0].len_bytes);
    emit_unsigned("messages", peer_messages(w->cipher->mode));
    if (w->messages[0].aad_bytes != AAD_BYTES)
        emit_unsigned("aad_bytes", w->messages[0].aad_bytes);
    if (w->cipher->n_keys > 1)
        emit_unsigned("keys", w->cipher->n_keys);
    emit_text("style", style);
    emit_text("counter", counter_name(plan->counter));
    emit_measured(m);
    if (strcmp(style, "fenced") == 0 && m->n)
        emit_real("fence_cycles", fence_cycles(plan->counter));
    emit_bool("runs", true);
    if (why)
        emit_text("why", why);
    emit_end();
}

/* ---- What is done ---------------------------------------------------------------------------- */

/* The key of contexts[i]. */
static void make_key(uint8_t key[KEY_BYTES], size_t i, const struct plan *plan)
{
    struct random r = {plan->seed + ((uint64_t)i << 32)};

    random_bytes(&r, key, KEY_BYTES);
}

/* The messages under the first key, and one under each of some others. */
static bool agrees(const struct cipher *c, struct work *w, const struct plan *plan,
                   struct peer_fault *fault)
{
    const size_t n = c->n_keys < CHECKED_KEYS ? c->n_keys : CHECKED_KEYS;
    bool good = true;

    /* the first one last: of modes that open, its messages are those timed */
    for (size_t i = n; good && i-- > 0;) {
        uint8_t key[KEY_BYTES];
        make_key(key, i * c->n_keys / n, plan);
        good = peer_agrees(c->mode, key, c->key_bits, c->contexts[i * c->n_keys / n], c->run,
                           w->messages, i ? 1 : w->slot_mask + 1, fault);
    }
    return good;
}

static bench_loop *loop_of(const struct cipher *c, bool alone)
{
    if (c->n_keys > 1)
        return alone ? fenced_keys : streamed_keys;
    return alone ? fenced : streamed;
}

static bool has_all_keys(const struct cipher *c)
{
    for (size_t i = 0; i < c->n_keys; i++)
        if (!c->contexts[i])
            return false;
    return true;
}

/* Times what is known to be right. */
static void measure_point(struct work *w, const char *style, struct plan *plan)
{
    static struct measured m;
    static struct peer_fault refused = {"a message was refused while it was timed", "", ""};
    const struct cipher *const c = w->cipher;
    const bool alone = strcmp(style, "fenced") == 0;
    const char *why = NULL;

    measure_nothing(&m);
    if (!plan->counter)
        why = "no calibrated counter";
    else if (alone && !HAVE_FENCE)
        why = "no serialising fence known for this architecture";
    else if (alone && evc_peer.loop)
        why = "its messages cannot be fenced one by one";
    else if (c->n_keys > 1 && evc_peer.loop)
        why = "its messages go to the library together, under one key";
    else {
        if (c->n_keys > 1) /* as in bench.c */
            loop_of(c, alone)(w, c->n_keys);
        measure(plan->counter, loop_of(c, alone), w, (size_t)plan->samples,
                plan->budget_ms * 1000000, &m);
    }
    if (!why && !m.n)
        why = "every sample was disturbed";
    if (w->refused)
        emit_fault(c, &refused, plan);
    else
        emit_point(w, style, &m, why, plan);
}

static void bench_point(const struct cipher *c, size_t len_bytes, size_t aad_bytes,
                        const char *style, struct plan *plan)
{
    static struct measured nothing;
    struct peer_fault fault = {"", "", ""};
    struct work w;

    set_work(&w, c, len_bytes, aad_bytes, plan->seed);
    if (!has_all_keys(c))
        emit_point(&w, style, &nothing, "the library has no room for so many keys", plan);
    else if (!agrees(c, &w, plan, &fault))
        emit_fault(c, &fault, plan);
    else
        measure_point(&w, style, plan);
}

/* n_keys contexts, in random order. Returns how many there are: fewer if
 * the library has no more. */
static size_t open_contexts(struct cipher *c, const struct plan *plan)
{
    static void *contexts[MOST_KEYS];
    static struct key_order order;
    struct random r = {plan->seed};
    uint8_t key[KEY_BYTES];
    size_t n = 0;

    c->contexts = contexts;
    key_order_make(&order, c->n_keys, &r);
    memset(contexts, 0, sizeof contexts);
    for (; n < c->n_keys; n++) {
        make_key(key, order.at[n], plan);
        if (!(contexts[order.at[n]] = evc_peer.open(c->mode, key, c->key_bits, &c->run)))
            break;
    }
    return n;
}

static void close_contexts(const struct cipher *c)
{
    for (size_t i = 0; i < c->n_keys; i++)
        if (c->contexts[i])
            evc_peer.close(c->contexts[i]);
}

static bool has_aad(const char *mode)
{
    return strncmp(mode, "ccm", 3) == 0 || strncmp(mode, "gcm", 3) == 0;
}

static void bench_lengths(const struct cipher *c, size_t aad_bytes, struct plan *plan)
{
    size_t before = 0;

    for (size_t i = 0; i < plan->bytes.n; i++) {
        size_t len = (size_t)option_number("--bytes", plan->bytes.at[i]);
        len = peer_length_used(c->mode, c->key_bits, len);
        if (len == before) /* PBKDF2 takes one */
            continue;
        before = len;
        for (size_t s = 0; s < plan->styles.n && len; s++)
            bench_point(c, len, aad_bytes, plan->styles.at[s], plan);
    }
}

static void bench_mode(struct cipher *c, struct plan *plan)
{
    struct peer_fault fault = {"", "", ""};
    size_t n;

    if (!peer_length_used(c->mode, c->key_bits, PEER_MOST_OF_MANY_BYTES)) /* it takes no length */
        return;
    n = open_contexts(c, plan);
    if (n && !peer_answers_vectors(&evc_peer, c->mode, c->key_bits, plan->vectors.at,
                                   plan->vectors.n, &fault)) {
        emit_fault(c, &fault, plan);
    }
    for (size_t i = 0; n && !fault.what[0] && i < (has_aad(c->mode) ? plan->aad_bytes.n : 1); i++)
        bench_lengths(c,
                      has_aad(c->mode) ? (size_t)option_number("--aad-bytes", plan->aad_bytes.at[i])
                                       : AAD_BYTES,
                      plan);
    close_contexts(c);
}

/* Whether the answer for dp in the place of p is right: it is odd, and hardly a prime. */
static bool finds_composite(const char *mode, const uint8_t *key, size_t n_bytes,
                            struct peer_fault *fault)
{
    static uint8_t other[PEER_NUMBERS_BYTES];
    peer_run *run;
    void *context;
    bool good = true;

    memcpy(other, key, sizeof other);
    memcpy(other + 3 * n_bytes, key + 4 * n_bytes, n_bytes / 2);
    context = evc_peer.open(mode, other, (unsigned)(8 * n_bytes), &run);
    if (context) {
        good = peer_number_agrees(mode, other, n_bytes, context, run, fault);
        evc_peer.close(context);
    }
    return good;
}

/* An operation on big numbers of one length; its context is opened for each
 * style, for calls change it. */
static void bench_number(const char *mode, size_t n_bytes, const char *style, struct plan *plan)
{
    static uint8_t key[PEER_NUMBERS_BYTES];
    void *context;
    /* key_bits 128: as bench has it */
    struct cipher c = {.mode = mode, .key_bits = 128, .n_keys = 1, .contexts = &context};
    struct work w = {.cipher = &c, .messages = {{.len_bytes = n_bytes, .aad_bytes = AAD_BYTES}}};
    struct peer_fault fault = {"", "", ""};

    peer_numbers_make(mode, key, n_bytes, plan->seed);
    if (peer_layer_of(mode) == PEER_PRIME && !finds_composite(mode, key, n_bytes, &fault)) {
        emit_fault(&c, &fault, plan);
        return;
    }
    context = evc_peer.open(mode, key, (unsigned)(8 * n_bytes), &c.run);
    if (!context)
        return;
    if (peer_number_agrees(mode, key, n_bytes, context, c.run, &fault))
        measure_point(&w, style, plan);
    else
        emit_fault(&c, &fault, plan);
    evc_peer.close(context);
}

static void bench_numbers(const char *mode, struct plan *plan)
{
    for (size_t i = 0; i < plan->bytes.n; i++) {
        const size_t n_bytes =
            peer_number_length_used(mode, (size_t)option_number("--bytes", plan->bytes.at[i]));
        for (size_t s = 0; s < plan->styles.n && n_bytes; s++)
            bench_number(mode, n_bytes, plan->styles.at[s], plan);
    }
}

/* The library has the code paths that were asked for, as far as it tells. */
static bool hardware_is_as_asked(struct plan *plan)
{
    const char *says = evc_peer.hardware ? evc_peer.hardware() : NULL;
    struct cipher none = {.mode = ""};
    struct peer_fault fault = {"the library does not use the code that was asked for", "", ""};

    if (!plan->hardware || !says || strcmp(says, plan->hardware) == 0)
        return true;
    snprintf(fault.expected, sizeof fault.expected, "%s", plan->hardware);
    snprintf(fault.got, sizeof fault.got, "%s", says);
    emit_fault(&none, &fault, plan);
    return false;
}

/* ---- The command line ------------------------------------------------------------------------ */

static void must_be(const char *what, const struct words *words, const char *const *valid, size_t n)
{
    for (size_t i = 0; i < words->n; i++)
        known_word(what, words->at[i], valid, n);
}

static void set_default(struct words *words, const char *word)
{
    if (!words->n)
        words->at[words->n++] = word;
}

static void check_numbers(const char *option, const struct words *words, uint64_t least,
                          uint64_t most)
{
    for (size_t i = 0; i < words->n; i++) {
        const uint64_t value = option_number(option, words->at[i]);
        if (value < least || value > most)
            usage_error("%s wants %llu to %llu, not %s", option, (unsigned long long)least,
                        (unsigned long long)most, words->at[i]);
    }
}

static bool is_mode_of_keys(const char *mode)
{
    /* a message to be opened would want to be sealed under each key */
    return strcmp(mode, "gcm-seal") == 0;
}

/* Modes that are not named are left out. */
static void check_keys(const struct plan *plan)
{
    check_numbers("--keys", &plan->keys, 1, MOST_KEYS);
    for (size_t i = 0; i < plan->keys.n; i++)
        for (size_t j = 0; option_number("--keys", plan->keys.at[i]) > 1 && j < plan->modes.n; j++)
            if (!is_mode_of_keys(plan->modes.at[j]))
                usage_error("--keys %s: mode %s is measured with one key; gcm-seal takes several",
                            plan->keys.at[i], plan->modes.at[j]);
}

static void check_plan(struct plan *plan)
{
    if (PEER_IS_ABSENT)
        usage_error("this harness is not linked with a peer; docs/reference/harness.md says how to "
                    "build one");
    must_be("mode", &plan->modes, modes, N(modes));
    must_be("style", &plan->styles, styles, N(styles));
    must_be("key size", &plan->key_bits, key_sizes, N(key_sizes));
    if (plan->hardware)
        known_word("case of hardware", plan->hardware, cases, N(cases));
    if (plan->samples < 1 || plan->samples > MAX_SAMPLES)
        usage_error("--samples wants 1 to %d", MAX_SAMPLES);
    if (!plan->vectors.n)
        usage_error(
            "peers wants --vectors with files of published vectors: vectors/modes.txt, ...");
    for (size_t i = 0; i < plan->vectors.n; i++) {
        FILE *f = fopen(plan->vectors.at[i], "r");
        if (!f)
            usage_error("peers cannot read the vectors '%.200s'", plan->vectors.at[i]);
        fclose(f);
    }
    set_default(&plan->key_bits, "256");
    set_default(&plan->bytes, "16384");
    set_default(&plan->styles, "streamed");
    set_default(&plan->keys, "1");
    set_default(&plan->aad_bytes, "13"); /* AAD_BYTES */
    check_numbers("--bytes", &plan->bytes, 1, PEER_MOST_BYTES);
    check_numbers("--aad-bytes", &plan->aad_bytes, 0, MOST_AAD_BYTES);
    check_keys(plan);
}

static void bench_keys(const char *mode, unsigned key_bits, struct plan *plan)
{
    for (size_t i = 0; i < plan->keys.n; i++) {
        const size_t n_keys = (size_t)option_number("--keys", plan->keys.at[i]);
        struct cipher c = {.mode = mode, .key_bits = key_bits, .n_keys = n_keys};
        if (c.n_keys == 1 || is_mode_of_keys(mode))
            bench_mode(&c, plan);
    }
}

int peers_command(int argc, char **argv)
{
    static struct plan plan = {.samples = 61, .budget_ms = 50, .seed = 1, .cpu = UINT64_MAX};
    const char *counter = NULL;
    const struct option options[] = {
        {"--mode", OPTION_WORDS, &plan.modes},
        {"--key-bits", OPTION_WORDS, &plan.key_bits},
        {"--bytes", OPTION_WORDS, &plan.bytes},
        {"--style", OPTION_WORDS, &plan.styles},
        {"--keys", OPTION_WORDS, &plan.keys},
        {"--aad-bytes", OPTION_WORDS, &plan.aad_bytes},
        {"--vectors", OPTION_WORDS, &plan.vectors},
        {"--hardware", OPTION_TEXT, &plan.hardware},
        {"--samples", OPTION_NUMBER, &plan.samples},
        {"--budget-ms", OPTION_NUMBER, &plan.budget_ms},
        {"--counter", OPTION_TEXT, &counter},
        {"--cpu", OPTION_NUMBER, &plan.cpu},
        {"--width", OPTION_NUMBER, &plan.width},
        {"--seed", OPTION_NUMBER, &plan.seed},
    };

    options_read(argc, argv, options, N(options));
    check_plan(&plan);
    if (!port_pin(plan.cpu == UINT64_MAX ? -1 : (int)plan.cpu) && plan.cpu != UINT64_MAX)
        usage_error("--cpu %llu: cannot run there", (unsigned long long)plan.cpu);
    plan.counter = counter_choose(counter);
    quiet_expect(plan.width);
    measure_patiently();
    emit_harness_line("peers", counter_name(plan.counter));
    emit_peer(&plan);
    if (!hardware_is_as_asked(&plan))
        return 1;
    for (size_t m = 0; m < N(modes); m++) {
        if (!chosen(&plan.modes, modes[m]))
            continue;
        if (peer_number_primitive(modes[m]))
            bench_numbers(modes[m], &plan);
        for (size_t k = 0; k < plan.key_bits.n && !peer_number_primitive(modes[m]); k++)
            bench_keys(modes[m], (unsigned)option_number("--key-bits", plan.key_bits.at[k]), &plan);
    }
    return plan.failed ? 1 : 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Modes of pointer authentication for bench; 8 "bytes" are one operation, and these come in pairs.
 * All but the last are chains: each operation waits for the one before. AddPAC and Auth take turns,
 * of one pointer under the modifiers of a stack, as a recursion does; pac-memo finds them all, and
 * pac-memo-apart too, without one waiting for another. Flags and sizes are those of a process under
 * Linux. pac-keys finds a key by its value, which is never the one that was used last.
 */
#include "bench.h"

#include <string.h>

#include "everycore/pac.h"

#include "random.h"

#define MAX_OPERATIONS 2048 /* of a message */
#define FRAMES 16
#define FRAME_BYTES 48
#define SETS 512

struct work {
    struct evc_pac_keys keys;
    struct evc_pac_key key;
    struct evc_pac_rules rules;
    struct evc_pac_memo memo;
    uint64_t context, pointer, chained;
    uint64_t sp[FRAMES], added[FRAMES], key_hi[EVC_PAC_KEY_SLOTS];
    size_t n; /* operations */
};

/* ---- The loops ------------------------------------------------------------------------------ */

static void codes(struct work *w)
{
    uint64_t x = w->chained;

    for (size_t i = 0; i < w->n; i++)
        x = evc_pac_mac(&w->key, x, w->sp[i % FRAMES]);
    w->chained = x;
}

static void instructions(struct work *w)
{
    uint64_t x = w->pointer;

    for (size_t i = 0; i < w->n; i += 2) {
        x = evc_pac_add(&w->rules, &w->key, x, w->sp[i / 2 % FRAMES]);
        x = evc_pac_auth(&w->rules, &w->key, EVC_PAC_KEY_A, 0, x, w->sp[i / 2 % FRAMES]).value;
    }
    w->chained = x;
}

/* As an emulator has it: the look-up in line, the rest by a call. */
static inline uint64_t found(struct work *w, enum evc_pac_operation operation, uint64_t pointer,
                             uint64_t sp)
{
    uint64_t result;

    if (evc_pac_memo_find(&w->memo, w->context, operation, pointer, sp, &result))
        return result;
    if (operation == EVC_PAC_OP_ADD)
        return evc_pac_memo_add(&w->memo, w->context, &w->rules, &w->key, pointer, sp);
    return evc_pac_memo_auth(&w->memo, w->context, &w->rules, &w->key, EVC_PAC_KEY_A, 0, pointer,
                             sp)
        .value;
}

static void memo(struct work *w)
{
    uint64_t x = w->pointer;

    for (size_t i = 0; i < w->n; i += 2) {
        x = found(w, EVC_PAC_OP_ADD, x, w->sp[i / 2 % FRAMES]);
        x = found(w, EVC_PAC_OP_AUTH, x, w->sp[i / 2 % FRAMES]);
    }
    w->chained = x;
}

static void memo_apart(struct work *w)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < w->n; i += 2) {
        sum ^= found(w, EVC_PAC_OP_ADD, w->pointer, w->sp[i / 2 % FRAMES]);
        sum ^= found(w, EVC_PAC_OP_AUTH, w->added[i / 2 % FRAMES], w->sp[i / 2 % FRAMES]);
    }
    w->chained = sum;
}

static void keys(struct work *w)
{
    uint64_t x = 0;

    for (size_t i = 0; i < w->n; i++)
        x = evc_pac_keys_get(&w->keys, w->key_hi[(i + x) % EVC_PAC_KEY_SLOTS], 0)->lo;
    w->chained = x;
}

#define LOOPS(name) BENCH_LOOPS(name##_loop, name(w);)
LOOPS(codes)
LOOPS(instructions)
LOOPS(memo)
LOOPS(memo_apart)
LOOPS(keys)

/* ---- The modes ------------------------------------------------------------------------------ */

struct mode {
    const char *name;
    const struct evc_pac_algorithm *algorithm;
    bench_loop *streamed, *fenced;
};
#define MODE(text, algorithm, loop) {text, algorithm, loop##_loop, loop##_loop_fenced}
static const struct mode of_qarma[] = {
    MODE("pac-qarma5", &evc_pac_qarma5, instructions),
    MODE("pac-qarma3", &evc_pac_qarma3, instructions),
    MODE("pac-memo", &evc_pac_qarma5, memo),
    MODE("pac-memo-apart", &evc_pac_qarma5, memo_apart),
    MODE("pac-keys", &evc_pac_qarma5, keys),
};
static const struct mode of_aes[] = {
    MODE("pac-aes128", &evc_pac_aes128, codes),
};
#define N_OF(modes) (sizeof(modes) / sizeof(modes)[0])

static const char *name_of_qarma(size_t mode)
{
    return mode < N_OF(of_qarma) ? of_qarma[mode].name : NULL;
}

static const char *name_of_aes(size_t mode)
{
    return mode < N_OF(of_aes) ? of_aes[mode].name : NULL;
}

static bool is_many(size_t mode)
{
    (void)mode;
    return false;
}

static size_t length_used(size_t mode, const struct bench_setup *setup)
{
    (void)mode;
    return setup->len_bytes < 8 * MAX_OPERATIONS ? setup->len_bytes : 8 * MAX_OPERATIONS;
}

static bench_loop *loop_of_qarma(size_t mode, bool fenced)
{
    return fenced ? of_qarma[mode].fenced : of_qarma[mode].streamed;
}

static bench_loop *loop_of_aes(size_t mode, bool fenced)
{
    return fenced ? of_aes[mode].fenced : of_aes[mode].streamed;
}

/* ---- One point ------------------------------------------------------------------------------ */

static void fill(struct work *w, struct random *r)
{
    w->pointer = UINT64_C(0x0000aaaab5c01234);
    w->chained = random_next(r);
    for (size_t i = 0; i < FRAMES; i++) {
        w->sp[i] = UINT64_C(0x0000fffff7a5e8c0) - FRAME_BYTES * i;
        w->added[i] = found(w, EVC_PAC_OP_ADD, w->pointer, w->sp[i]);
    }
    for (size_t i = 0; i < EVC_PAC_KEY_SLOTS; i++)
        w->key_hi[i] = random_next(r);
}

static void *prepare(const struct mode *mode, const struct evc_pac_kernels *kernels,
                     const struct bench_setup *setup)
{
    static struct work work;
    static EVC_ALIGN(64) struct evc_pac_memo_set sets[SETS];
    struct work *w = &work;
    struct random r = {setup->seed};
    const uint64_t hi = random_next(&r), lo = random_next(&r);

    memset(w, 0, sizeof *w);
    w->n = setup->len_bytes / 8;
    if (evc_pac_keys_init(&w->keys, mode->algorithm, kernels) != EVC_OK ||
        evc_pac_set_rules(&w->rules, EVC_PAC_PAUTH2, 48, 1, EVC_PAC_EXTEND_55) != EVC_OK ||
        evc_pac_memo_init(&w->memo, sets, SETS) != EVC_OK)
        return NULL;
    w->key = *evc_pac_keys_get(&w->keys, hi, lo);
    w->context = evc_pac_context(&w->key, &w->rules);
    fill(w, &r);
    return w;
}

static void *prepare_qarma(size_t mode, const struct bench_setup *setup, const char **with)
{
    const struct evc_pac_kernels kernels = {evc_qarma_named(setup->kernel), NULL};

    *with = NULL;
    return prepare(&of_qarma[mode], &kernels, setup);
}

static void *prepare_aes(size_t mode, const struct bench_setup *setup, const char **with)
{
    const struct evc_pac_kernels kernels = {NULL, evc_aes_named(setup->kernel)};

    *with = NULL;
    return prepare(&of_aes[mode], &kernels, setup);
}

static uint64_t result_of_qarma(size_t mode, void *vwork)
{
    of_qarma[mode].streamed(vwork, 1);
    return ((struct work *)vwork)->chained ^ ((struct work *)vwork)->added[1];
}

static uint64_t result_of_aes(size_t mode, void *vwork)
{
    of_aes[mode].streamed(vwork, 1);
    return ((struct work *)vwork)->chained;
}

const struct bench_primitive bench_pac_qarma = {
    .name = "qarma",
    .reference = "c_ref",
    .key_bits = 128,
    .unit_bytes = 16,
    .mode_name = name_of_qarma,
    .is_many = is_many,
    .length_used = length_used,
    .prepare = prepare_qarma,
    .result = result_of_qarma,
    .loop = loop_of_qarma,
};

const struct bench_primitive bench_pac_aes = {
    .name = "aes",
    .reference = "c_ref",
    .key_bits = 128,
    .unit_bytes = 16,
    .guest = true,
    .mode_name = name_of_aes,
    .is_many = is_many,
    .length_used = length_used,
    .prepare = prepare_aes,
    .result = result_of_aes,
    .loop = loop_of_aes,
};

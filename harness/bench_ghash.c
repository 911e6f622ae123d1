/* SPDX-License-Identifier: MIT */
/*
 * The modes of GHASH for bench: whole messages, padded, from a hash of zero; and key set-up, whose
 * "bytes" are those of the subkey.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "everycore/ghash.h"

#include "must.h"
#include "random.h"

#define MAX_SLOTS 8
#define SLOTS_BYTES 16384 /* messages of all slots: half of a 32 KiB first-level cache */
#define KEY_ROOM 8192     /* bytes; kernels chosen by name may have keys beyond the union */

struct work {
    EVC_ALIGN(64) uint8_t key[KEY_ROOM];
    EVC_ALIGN(64) uint8_t made[KEY_ROOM]; /* by the mode that times key set-up */
    const struct evc_ghash *kernel;
    size_t len_bytes, stride, slot_mask; /* slots - 1, slots a power of two */
    uint8_t h[16], y[16];
    const uint8_t *in;
};

static inline const uint8_t *message(const struct work *w, uint64_t i)
{
    return w->in + (size_t)(i & w->slot_mask) * w->stride;
}

BENCH_LOOPS(ghash, memset(w->y, 0, 16);
            evc_ghash_padded(w->key, w->y, message(w, i), w->len_bytes);)
BENCH_LOOPS(setkey, must(evc_ghash_set_key_in(w->made, KEY_ROOM, w->kernel, w->h));)

enum { GHASH, SETKEY, N_MODES };
static const struct {
    const char *name;
    bench_loop *streamed, *fenced;
} modes[N_MODES] = {
    {"ghash", ghash, ghash_fenced},
    {"setkey", setkey, setkey_fenced},
};

static const char *mode_name(size_t mode)
{
    return mode < N_MODES ? modes[mode].name : NULL;
}

static bool is_many(size_t mode)
{
    (void)mode;
    return false;
}

static size_t length_used(size_t mode, const struct bench_setup *setup)
{
    return mode == SETKEY ? 16 : setup->len_bytes;
}

static bench_loop *loop(size_t mode, bool fenced)
{
    return fenced ? modes[mode].fenced : modes[mode].streamed;
}

static void *prepare(size_t mode, const struct bench_setup *setup, const char **with)
{
    static struct work work;
    static uint8_t *memory;
    static size_t have;
    struct work *w = &work;
    struct random r = {setup->seed};
    size_t slots = 1;

    (void)mode;
    *with = NULL;
    memset(w, 0, sizeof *w);
    w->kernel = evc_ghash_named(setup->kernel);
    w->len_bytes = setup->len_bytes;
    w->stride = (setup->len_bytes + 63) / 64 * 64;
    while (slots < MAX_SLOTS && 2 * slots * w->stride <= SLOTS_BYTES)
        slots *= 2;
    w->slot_mask = slots - 1;
    if (have < slots * w->stride + 64) {
        have = slots * w->stride + 64;
        free(memory);
        memory = malloc(have);
        if (!memory)
            have = 0;
    }
    if (!memory)
        return NULL;
    random_bytes(&r, w->h, 16);
    random_bytes(&r, memory, slots * w->stride + 64);
    w->in = memory + (64 - (uintptr_t)memory % 64) % 64;
    if (evc_ghash_set_key_in(w->key, KEY_ROOM, w->kernel, w->h) != EVC_OK)
        return NULL;
    return w;
}

/* The hash of a message; keys are private to their kernel, so a key that was
 * made is tried on a block. */
static uint64_t result(size_t mode, void *vwork)
{
    struct work *w = vwork;
    uint64_t high = 0, low = 0;

    modes[mode].streamed(w, 1);
    if (mode == SETKEY)
        evc_ghash_blocks(w->made, w->y, w->h, 1);
    for (int i = 0; i < 8; i++) {
        high = high << 8 | w->y[i];
        low = low << 8 | w->y[8 + i];
    }
    return high * UINT64_C(0x9e3779b97f4a7c15) ^ low;
}

const struct bench_primitive bench_ghash = {
    .name = "ghash",
    .reference = "c_ref",
    .key_bits = 128,
    .mode_name = mode_name,
    .is_many = is_many,
    .length_used = length_used,
    .prepare = prepare,
    .result = result,
    .loop = loop,
};

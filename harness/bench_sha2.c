/* SPDX-License-Identifier: MIT */
/* The modes of SHA-2 for bench: whole messages in one call; HMAC with a key that is set. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "everycore/hmac.h"
#include "everycore/sha2.h"

#include "must.h"
#include "random.h"

#define MAX_SLOTS 8
#define SLOTS_BYTES 16384 /* messages of all slots: half of a 32 KiB first-level cache */

struct work {
    const struct evc_sha2 *kernel;
    enum evc_sha2_hash hash;
    size_t len_bytes, stride, slot_mask; /* slots - 1, slots a power of two */
    uint8_t digest[EVC_SHA2_MOST_DIGEST_BYTES];
    const uint8_t *in;
    struct evc_hmac_key key;
};

BENCH_LOOPS(digest, must(evc_sha2_digest(w->kernel, w->hash,
                                         w->in + (size_t)(i & w->slot_mask) * w->stride,
                                         w->len_bytes, w->digest));)

BENCH_LOOPS(hmac, must(evc_hmac(&w->key, w->in + (size_t)(i & w->slot_mask) * w->stride,
                                w->len_bytes, w->digest, evc_sha2_digest_bytes(w->hash)));)

static const struct {
    const char *name;
    enum evc_sha2_hash hash;
    bench_loop *streamed, *fenced;
} modes[] = {
    {"sha256", EVC_SHA256, digest, digest_fenced},
    {"sha512", EVC_SHA512, digest, digest_fenced},
    {"hmac-sha256", EVC_SHA256, hmac, hmac_fenced},
    {"hmac-sha512", EVC_SHA512, hmac, hmac_fenced},
};

static const char *mode_name(size_t mode)
{
    return mode < sizeof modes / sizeof modes[0] ? modes[mode].name : NULL;
}

static bool is_many(size_t mode)
{
    (void)mode;
    return false;
}

static bool has_mode(size_t mode, const char *kernel)
{
    const struct evc_sha2 *sha2 = evc_sha2_named(kernel);

    return modes[mode].hash == EVC_SHA256 ? sha2->blocks256 != NULL : sha2->blocks512 != NULL;
}

static size_t length_used(size_t mode, const struct bench_setup *setup)
{
    (void)mode;
    return setup->len_bytes;
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

    *with = NULL;
    memset(w, 0, sizeof *w);
    w->kernel = evc_sha2_named(setup->kernel);
    w->hash = modes[mode].hash;
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
    random_bytes(&r, memory, slots * w->stride + 64);
    must(evc_hmac_set_key(&w->key, w->kernel, w->hash, memory, 16));
    w->in = memory + (64 - (uintptr_t)memory % 64) % 64;
    return w;
}

static uint64_t result(size_t mode, void *vwork)
{
    struct work *w = vwork;
    uint64_t sum = 0;

    modes[mode].streamed(w, 1);
    for (size_t i = 0; i < sizeof w->digest; i++)
        sum = (sum ^ w->digest[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return sum;
}

const struct bench_primitive bench_sha2 = {
    .name = "sha2",
    .reference = "c_ref",
    .key_bits = 128,
    .mode_name = mode_name,
    .is_many = is_many,
    .length_used = length_used,
    .prepare = prepare,
    .result = result,
    .loop = loop,
    .has_mode = has_mode,
};

/* SPDX-License-Identifier: MIT */
/* Where the messages of a bench lie. */
#include "bench_slots.h"

#include <stdlib.h>

/* Messages of all slots: half of a 32 KiB first-level cache with their outputs. */
#define SLOTS_BYTES 16384

/* Room for total_bytes in and out, 64-byte aligned. in and out lie 2 KiB apart modulo 4 KiB: the
 * low 12 bits of a load and of an older store near it never agree, so none waits for the other. */
static bool get_memory(struct slots *s, size_t total_bytes)
{
    static uint8_t *memory;
    static size_t have;
    size_t in_bytes = (total_bytes + 4095) / 4096 * 4096 + 2048;
    size_t want = in_bytes + total_bytes + 4096;

    if (want > have) {
        free(memory);
        memory = malloc(want);
        have = memory ? want : 0;
    }
    if (!memory)
        return false;
    s->in = memory + (4096 - (uintptr_t)memory % 4096) % 4096;
    s->out = s->in + in_bytes;
    s->total_bytes = total_bytes;
    return true;
}

bool slots_make(struct slots *s, const struct bench_setup *setup, struct random *r)
{
    /* A cache line more than the length: messages a power of two apart would share one set of the
     * cache. */
    size_t stride = (setup->len_bytes + 63) / 64 * 64 + (setup->messages > 1 ? 64 : 0), n = 1;
    size_t room = setup->messages * stride;

    if (setup->messages > MAX_MESSAGES || !get_memory(s, room > SLOTS_BYTES ? room : SLOTS_BYTES))
        return false;
    random_bytes(r, s->in, s->total_bytes);
    memset(s->out, 0, s->total_bytes);
    while (n < MAX_SLOTS && 2 * n * stride <= SLOTS_BYTES)
        n *= 2;
    s->mask = n - 1;
    s->stride = stride;
    for (size_t i = 0; i < n; i++) {
        s->at[i].in = s->in + i * stride;
        s->at[i].out = (setup->in_place ? s->in : s->out) + i * stride;
        random_bytes(r, s->at[i].iv, 16);
    }
    return true;
}

uint64_t slots_hash(uint64_t h, const uint8_t *bytes, size_t len_bytes)
{
    for (size_t i = 0; i < len_bytes; i++)
        h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
    return h;
}

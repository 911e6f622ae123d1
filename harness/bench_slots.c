/* SPDX-License-Identifier: MIT */
/* Memory for the messages of a bench. */
#include "bench_slots.h"

#include <stdlib.h>

#include "port/port.h"

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

#define PAGE_BYTES 4096
#define MAX_PAGES (PLACED_BYTES / PAGE_BYTES)

/* len_bytes in pages of their own, made once for each number of pages. second: of two
 * buffers. NULL: no memory. */
static uint8_t *placed(const struct bench_setup *setup, size_t len_bytes, bool second)
{
    static struct guarded areas[2][2][MAX_PAGES + 4];
    const bool inside = setup->place == PLACE_INSIDE;
    const size_t pages = (len_bytes + PAGE_BYTES - 1) / PAGE_BYTES + (inside ? 3 : 0);
    struct guarded *area = &areas[inside][second][pages];

    if (!area->start)
        *area = port_guarded(pages * PAGE_BYTES);
    if (!area->start)
        return NULL;
    /* Inside, 2 KiB apart modulo 4 KiB, as above. */
    return inside ? area->start + PAGE_BYTES + (second ? 3072 : 1024) + setup->aligned
                  : port_flush(area, setup->place == PLACE_END, len_bytes);
}

/* One slot. */
static bool make_placed(struct slots *s, const struct bench_setup *setup, struct random *r)
{
    s->stride = (setup->len_bytes + 63) / 64 * 64 + 64;
    s->total_bytes = (setup->messages - 1) * s->stride + setup->len_bytes;
    if (s->total_bytes > PLACED_BYTES)
        return false;
    s->in = placed(setup, s->total_bytes, false);
    s->out = setup->in_place ? s->in : placed(setup, s->total_bytes, true);
    if (!s->in || !s->out)
        return false;
    memset(s->out, 0, s->total_bytes);
    random_bytes(r, s->in, s->total_bytes);
    s->mask = 0;
    s->at[0].in = s->in;
    s->at[0].out = s->out;
    random_bytes(r, s->at[0].iv, 16);
    return true;
}

bool slots_make(struct slots *s, const struct bench_setup *setup, struct random *r)
{
    /* A cache line more than the length: messages a power of two apart would share one set of the
     * cache. */
    size_t stride = (setup->len_bytes + 63) / 64 * 64 + (setup->messages > 1 ? 64 : 0), n = 1;
    size_t room = setup->messages * stride;

    if (setup->place != PLACE_SLOTS)
        return setup->messages <= MAX_MESSAGES && make_placed(s, setup, r);
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

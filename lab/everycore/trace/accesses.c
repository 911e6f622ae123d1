/* SPDX-License-Identifier: MIT */
#include "accesses.h"

#include <cpuid.h>
#include <string.h>

#include "dialogue.h"
#include "tracee.h"

/* ---- Vector registers: the XSAVE area, Intel SDM volume 1 (2023) section 13.4 ---------------- */

enum {
    X_LEGACY_XMM = 160,
    X_YMM = 2,
    X_OPMASK = 5,
    X_ZMM_HIGH = 6,
    X_ZMM16 = 7,
    X_BYTES = 1 << 14
};
static uint8_t xstate[X_BYTES];
static uint32_t component[8]; /* offsets; 0: the CPU has it not */

void find_components(void)
{
    for (uint32_t i = 2; i < 8; i++) {
        uint32_t size, offset, c, d;
        if (__get_cpuid_count(0xd, i, &size, &offset, &c, &d) && size != 0)
            component[i] = offset;
    }
}

/* `bytes` (4 or 8, or 1) of a vector register, at a byte offset, with their sign. */
static int64_t vector_element(unsigned number, unsigned offset, unsigned bytes)
{
    size_t at = number >= 16   ? component[X_ZMM16] + 64u * (number - 16) + offset
                : offset >= 32 ? component[X_ZMM_HIGH] + 32u * number + offset - 32
                : offset >= 16 ? component[X_YMM] + 16u * number + offset - 16
                               : X_LEGACY_XMM + 16u * number + offset;
    int32_t four;
    int64_t eight;
    if (bytes == 1)
        return (int8_t)xstate[at];
    memcpy(&four, xstate + at, sizeof four);
    memcpy(&eight, xstate + at, sizeof eight);
    return bytes == 4 ? four : eight;
}

/* The bits of the mask, element 0 first. */
static uint64_t mask_of(const struct access *a)
{
    uint64_t bits = 0;
    if (a->mask == NO_MASK)
        return UINT64_MAX;
    if (a->mask == OPMASK) {
        memcpy(&bits, xstate + component[X_OPMASK] + 8u * a->mask_register, sizeof bits);
        return a->mask_bits < 64 ? bits & ((UINT64_C(1) << a->mask_bits) - 1) : bits;
    }
    unsigned width = a->lanes != 0 ? a->lanes * a->mask : a->size;
    for (unsigned i = 0; i < width / a->mask; i++)
        bits |= (uint64_t)(vector_element(a->mask_register, i * a->mask, a->mask) < 0) << i;
    return bits;
}

/* ---- What is recorded ------------------------------------------------------------------------ */

static struct event events[4096];
static unsigned n_events;
bool keep;
struct totals totals;

void flush_events(void)
{
    if (n_events != 0)
        say(EVENTS, events, n_events * sizeof events[0]);
    n_events = 0;
}

void record(struct event e)
{
    count_event(&totals, &e);
    if (!keep)
        return;
    events[n_events++] = e;
    if (n_events == sizeof events / sizeof events[0])
        flush_events();
}

static uint64_t word(unsigned number, unsigned bits)
{
    uint64_t value;
    if (number == NO_REGISTER)
        return 0;
    memcpy(&value, (const char *)&cpu + 8u * number, sizeof value);
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

/* A CPU repairs such an access by microcode, which costs hundreds of cycles. */
static void look_at_operand(uint64_t pc, uint64_t address, uint32_t size)
{
    totals.masked++;
    if (size == 0 || (is_readable(address) && is_readable(address + size - 1)))
        return;
    if (totals.too_far++ == 0) {
        totals.far_pc = pc;
        totals.far_address = address;
        totals.far_size = size;
    }
}

static void record_lanes(uint64_t pc, const struct access *a, uint64_t origin, uint64_t mask)
{
    for (unsigned i = 0; i < a->lanes; i++) {
        uint64_t index = (uint64_t)vector_element(a->index, i * a->lane_bytes, a->lane_bytes);
        if (mask >> i & 1)
            record((struct event){pc, origin + index * a->scale, UINT64_MAX, a->size, a->mode});
    }
}

void record_accesses(uint64_t pc, const struct access *first, unsigned n, uint64_t count)
{
    bool vectors = false;
    for (unsigned i = 0; i < n; i++) {
        const struct access *a = &first[i];
        if (!vectors && (a->mask != NO_MASK || a->lanes != 0)) {
            read_vectors(xstate, sizeof xstate);
            vectors = true;
        }
        uint64_t address = word(a->base, a->base_bits) + (uint64_t)a->displacement;
        if (a->lanes != 0) {
            record_lanes(pc, a, address + word(a->segment, 64), mask_of(a));
            continue;
        }
        address += word(a->index, a->index_bits) * a->scale;
        if (a->base_bits == 32)
            address = (uint32_t)address;
        address += word(a->segment, 64);
        if (a->repeat != ONCE && count == 0)
            continue;
        if (a->repeat != ONCE && (cpu.eflags & 0x400))
            address -= (count - 1) * a->size;
        uint32_t size = (uint32_t)(a->repeat == ONCE ? a->size : a->size * count);
        if (a->mask != NO_MASK)
            look_at_operand(pc, address, size);
        record((struct event){pc, address, mask_of(a), size, a->mode});
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * A64 in firmware (EL1 or EL2, MMU on, addresses equal to physical ones). Elsewhere
 * this file is an empty unit.
 *
 * Source: Arm DDI 0487 (2024): D8 (translation tables of 4 KiB granules), D13
 *         (performance monitors), D12 (generic timer), and the descriptions of TCR,
 *         TTBR0, VBAR, DAIF and MIDR_EL1.
 */
#if !defined(HARNESS_UEFI) || !defined(__aarch64__)
typedef int cpu_is_elsewhere;
#else
#include "cpu.h"

#include <stdio.h>

#include "../../bare/bare.h"
#include "../../emit.h"
#include "../port.h"

#define READ(register_name, value) __asm__ volatile("mrs %0, " register_name : "=r"(value))
#define WRITE(register_name, value) \
    __asm__ volatile("msr " register_name ", %0\n\tisb" : : "r"(value) : "memory")

static unsigned exception_level(void)
{
    uint64_t value;

    READ("CurrentEL", value);
    return (unsigned)(value >> 2 & 3);
}

uint64_t cpu_without_interrupts(void)
{
    uint64_t masks;

    READ("daif", masks);
    __asm__ volatile("msr daifset, #3" : : : "memory");
    return masks;
}

void cpu_interrupts(uint64_t before)
{
    __asm__ volatile("msr daif, %0" : : "r"(before) : "memory");
}

/* ---- State: floating point is on in UEFI (specification 2.3.6); the cycle counter may be off */

#define PMCR_ENABLE 1
#define PMCR_LONG 64 /* the counter has 64 bits */
#define CYCLE_COUNTER (UINT64_C(1) << 31)
#define COUNT_EL2 (UINT64_C(1) << 27)

static KEPT bool counting;
static KEPT uint64_t pmcr_before, enabled_before, filter_before;

static bool has_monitors(void)
{
    uint64_t debug_features;

    READ("id_aa64dfr0_el1", debug_features);
    debug_features = debug_features >> 8 & 15;
    return debug_features != 0 && debug_features != 15;
}

static void start_counting(void *nothing)
{
    (void)nothing;
    READ("pmcr_el0", pmcr_before);
    READ("pmcntenset_el0", enabled_before);
    READ("pmccfiltr_el0", filter_before);
    WRITE("pmccfiltr_el0", exception_level() == 2 ? COUNT_EL2 : 0);
    WRITE("pmcr_el0", pmcr_before | PMCR_ENABLE | PMCR_LONG);
    WRITE("pmcntenset_el0", CYCLE_COUNTER);
}

const char *cpu_enable_state(bool leave)
{
    if (!leave && has_monitors())
        counting = port_survives(start_counting, NULL); /* a hypervisor may refuse it */
    return "Advanced SIMD";
}

void cpu_restore_state(void)
{
    if (!counting)
        return;
    if (!(enabled_before & CYCLE_COUNTER))
        WRITE("pmcntenclr_el0", CYCLE_COUNTER);
    WRITE("pmccfiltr_el0", filter_before);
    WRITE("pmcr_el0", pmcr_before);
    counting = false;
}

/* ---- Time ------------------------------------------------------------------------------------ */

uint64_t cpu_ticks(void)
{
    uint64_t value;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value) : : "memory");
    return value;
}

uint64_t cpu_ticks_per_second(void)
{
    uint64_t value;

    READ("cntfrq_el0", value);
    return value;
}

/* ---- Faults ---------------------------------------------------------------------------------- */

KEPT struct bare_place *cpu_after_fault;
static KEPT uint64_t firmware_vectors;
extern const char cpu_vectors[] __attribute__((visibility("hidden")));

void cpu_catch_faults(void)
{
    if (exception_level() == 2) {
        READ("vbar_el2", firmware_vectors);
        WRITE("vbar_el2", cpu_vectors);
    } else {
        READ("vbar_el1", firmware_vectors);
        WRITE("vbar_el1", cpu_vectors);
    }
}

void cpu_leave_faults(void)
{
    if (exception_level() == 2)
        WRITE("vbar_el2", firmware_vectors);
    else
        WRITE("vbar_el1", firmware_vectors);
}

/* ---- Pages ----------------------------------------------------------------------------------- */

#define ENTRY_KIND UINT64_C(3)
#define ENTRY_BLOCK UINT64_C(1)
#define ENTRY_TABLE UINT64_C(3) /* of the last level: a page */
#define ENTRY_ADDRESS UINT64_C(0x0000fffffffff000)
#define ENTRY_CONTIGUOUS (UINT64_C(1) << 52)
#define HIDDEN_PAGE UINT64_C(2) /* bit 0 makes an entry valid; a hidden page keeps bit 1 */
#define LAST_LEVEL 3

void cpu_replace_entry(uint64_t *entry, uint64_t value);

/* Make a block a table of the next smaller pages or blocks. */
static const char *split(uint64_t *entry, unsigned level, void *(*page)(void))
{
    const uint64_t step = UINT64_C(1) << (39 - 9 * (level + 1));
    const uint64_t base = *entry & ENTRY_ADDRESS & ~((step << 9) - 1);
    const uint64_t attributes = *entry & ~(ENTRY_ADDRESS | ENTRY_KIND | ENTRY_CONTIGUOUS);
    uint64_t *table = page();

    if (!table)
        return "no memory for page tables";
    for (uint64_t i = 0; i < 512; i++)
        table[i] =
            (base + i * step) | attributes | (level + 1 == LAST_LEVEL ? ENTRY_TABLE : ENTRY_BLOCK);
    __asm__ volatile("dsb sy" : : : "memory");
    cpu_replace_entry(entry, (uint64_t)(uintptr_t)table | ENTRY_TABLE);
    return NULL;
}

const char *cpu_hide_page(uintptr_t address, bool hide, void *(*page)(void))
{
    uint64_t control, root;

    if (exception_level() == 2) {
        READ("tcr_el2", control);
        READ("ttbr0_el2", root);
    } else {
        READ("tcr_el1", control);
        READ("ttbr0_el1", root);
    }
    const unsigned unused_bits = control & 63;
    if ((control >> 14 & 3) != 0 || unused_bits < 16 || unused_bits > 42)
        return "the page tables of firmware have no pages of 4 KiB";
    uint64_t *table = (uint64_t *)(uintptr_t)(root & UINT64_C(0x0000ffffffffffc0));
    for (unsigned level = unused_bits <= 24 ? 0 : unused_bits <= 33 ? 1 : 2;; level++) {
        uint64_t *entry = &table[address >> (39 - 9 * level) & 511];
        if (level == LAST_LEVEL) {
            if ((*entry & HIDDEN_PAGE) == 0)
                return "memory of firmware is not in its page tables";
            cpu_replace_entry(entry, hide ? *entry & ~UINT64_C(1) : *entry | 1);
            return NULL;
        }
        if ((*entry & 1) == 0)
            return "memory of firmware is not in its page tables";
        if ((*entry & ENTRY_KIND) == ENTRY_BLOCK) {
            const char *why = split(entry, level, page);
            if (why)
                return why;
        }
        table = (uint64_t *)(uintptr_t)(*entry & ENTRY_ADDRESS);
    }
}

/* ---- Facts ----------------------------------------------------------------------------------- */

/* Caches and branch predictors are counted by every core with these monitors (DDI 0487, D13,
 * required events: L1D_CACHE_REFILL 3, L1D_CACHE 4, BR_MIS_PRED 0x10); QEMU's translator has
 * none and counts none. */
bool port_emulated(void)
{
    uint64_t events;

    if (!has_monitors())
        return false;
    READ("pmceid0_el0", events);
    return (events & (1 << 3 | 1 << 4 | 1 << 16)) == 0;
}

void cpu_describe(void)
{
    uint64_t midr;
    char text[20];

    READ("midr_el1", midr);
    snprintf(text, sizeof text, "0x%08x", (unsigned)midr);
    emit_text("midr", text);
    emit_unsigned("exception_level", exception_level());
}
#endif

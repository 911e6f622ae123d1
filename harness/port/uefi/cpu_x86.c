/* SPDX-License-Identifier: MIT */
/*
 * x86-64 in firmware (ring 0, paging on, addresses equal to physical ones). Elsewhere
 * this file is an empty unit.
 *
 * Source: Intel SDM (2024) vol. 3A: chapter 2.5 (CR4.OSXSAVE), 2.6 (XCR0), 4.5 (page tables of 4
 *         and 5 levels), 6.14 (interrupt gates in 64-bit mode); vol. 1 chapter 13.3 (enabling XSAVE
 *         state); vol. 2A CPUID leaves 1, 6, 0xd, 0x15, 0x16; AMD APM vol. 2 (2024) says the same.
 */
#if !defined(HARNESS_UEFI) || !defined(__x86_64__)
typedef int cpu_is_elsewhere;
#else
#include "cpu.h"

#include <string.h>

#include "../../bare/bare.h"
#include "../../emit.h"
#include "../port.h"

struct regs {
    uint32_t a, b, c, d;
};

static struct regs cpuid(uint32_t leaf, uint32_t subleaf)
{
    struct regs r;

    __asm__ volatile("cpuid"
                     : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d)
                     : "a"(leaf), "c"(subleaf));
    return r;
}

static bool has_leaf(uint32_t leaf)
{
    return cpuid(leaf & 0x80000000, 0).a >= leaf;
}

uint64_t cpu_without_interrupts(void)
{
    uint64_t flags;

    __asm__ volatile("pushfq\n\tpopq %0\n\tcli" : "=r"(flags) : : "memory");
    return flags & 0x200;
}

void cpu_interrupts(uint64_t before)
{
    if (before)
        __asm__ volatile("sti" : : : "memory");
    else
        __asm__ volatile("cli" : : : "memory");
}

/* ---- State of vector registers --------------------------------------------------------------- */

#define CR4_OSXSAVE (UINT64_C(1) << 18)
#define LEAF1_ECX_XSAVE (UINT32_C(1) << 26)
enum { STATE_X87 = 1, STATE_SSE = 2, STATE_AVX = 4, STATE_AVX512 = 0xe0 };

static KEPT uint64_t cr4_before;
static KEPT uint32_t xcr0_before;
static KEPT bool changed_cr4, changed_xcr0;

static uint64_t cr4(void)
{
    uint64_t value;

    __asm__ volatile("movq %%cr4, %0" : "=r"(value));
    return value;
}

static void set_cr4(uint64_t value)
{
    __asm__ volatile("movq %0, %%cr4" : : "r"(value) : "memory");
}

static uint32_t xcr0(void)
{
    uint32_t low, high;

    __asm__ volatile(".byte 0x0f, 0x01, 0xd0" /* xgetbv */ : "=a"(low), "=d"(high) : "c"(0));
    (void)high;
    return low;
}

static void set_xcr0(void *value)
{
    __asm__ volatile(".byte 0x0f, 0x01, 0xd1" /* xsetbv */
                     :
                     : "a"(*(uint32_t *)value), "d"(0), "c"(0)
                     : "memory");
}

/* AVX belongs to SSE, and AVX-512 to AVX, all three parts of it at once: anything else
 * is refused by the CPU. */
static uint32_t wanted_state(uint32_t supported, uint32_t now)
{
    uint32_t want = now | STATE_X87;

    if (supported & STATE_SSE)
        want |= STATE_SSE;
    if ((want & STATE_SSE) && (supported & STATE_AVX))
        want |= STATE_AVX;
    if ((want & STATE_AVX) && (supported & STATE_AVX512) == STATE_AVX512)
        want |= STATE_AVX512;
    return want;
}

static const char *state_in_words(void)
{
    const uint32_t state = (cr4() & CR4_OSXSAVE) ? xcr0() : 0;

    if ((state & (STATE_AVX | STATE_AVX512)) == (STATE_AVX | STATE_AVX512))
        return "SSE, AVX and AVX-512";
    return (state & STATE_AVX) ? "SSE and AVX" : "SSE";
}

const char *cpu_enable_state(bool leave)
{
    cr4_before = cr4();
    if (leave || !(cpuid(1, 0).c & LEAF1_ECX_XSAVE) || !has_leaf(0xd))
        return state_in_words();
    if (!(cr4_before & CR4_OSXSAVE)) {
        set_cr4(cr4_before | CR4_OSXSAVE);
        changed_cr4 = true;
    }
    xcr0_before = xcr0();
    uint32_t want = wanted_state(cpuid(0xd, 0).a, xcr0_before);
    if (want != xcr0_before)
        changed_xcr0 = port_survives(set_xcr0, &want); /* a hypervisor may refuse it */
    return state_in_words();
}

void cpu_restore_state(void)
{
    if (changed_xcr0)
        set_xcr0(&xcr0_before);
    if (changed_cr4)
        set_cr4(cr4_before);
    changed_xcr0 = changed_cr4 = false;
}

/* ---- Time ------------------------------------------------------------------------------------ */

uint64_t cpu_ticks(void)
{
    uint32_t low, high;

    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

/* Leaf 0x15 tells the rate of the counter where the crystal's rate is known. */
uint64_t cpu_ticks_per_second(void)
{
    struct regs r = {0, 0, 0, 0};

    if (has_leaf(0x15))
        r = cpuid(0x15, 0);
    return r.a && r.b && r.c ? (uint64_t)r.c * r.b / r.a : 0;
}

/* ---- Faults ---------------------------------------------------------------------------------- */

/* At even addresses, as the relocations of image.lds have to be. */
struct table_register {
    uint16_t limit;
    uint64_t base;
} __attribute__((packed, aligned(2)));

struct gate {
    uint16_t low, selector;
    uint8_t stack, type;
    uint16_t middle;
    uint32_t high, zero;
};

enum { VECTORS = 256, INTERRUPT_GATE = 0x8e };
enum { INVALID_OPCODE = 6, STACK_FAULT = 12, GENERAL_PROTECTION = 13, PAGE_FAULT = 14 };

KEPT struct bare_place *cpu_after_fault;
static KEPT struct table_register firmware_table;
static KEPT struct gate gates[VECTORS] __attribute__((aligned(16)));

void cpu_fault(void);

void cpu_catch_faults(void)
{
    static const uint8_t caught[] = {INVALID_OPCODE, STACK_FAULT, GENERAL_PROTECTION, PAGE_FAULT};
    const uint64_t to = (uint64_t)(uintptr_t)cpu_fault;
    struct table_register own = {sizeof gates - 1, (uint64_t)(uintptr_t)gates};
    uint16_t selector;

    __asm__ volatile("sidt %0" : "=m"(firmware_table));
    size_t n_bytes = (size_t)firmware_table.limit + 1;
    memcpy(gates, (const void *)(uintptr_t)firmware_table.base,
           n_bytes < sizeof gates ? n_bytes : sizeof gates);
    __asm__ volatile("movw %%cs, %0" : "=r"(selector));
    for (size_t i = 0; i < sizeof caught; i++)
        gates[caught[i]] =
            (struct gate){(uint16_t)to,         selector, 0, INTERRUPT_GATE, (uint16_t)(to >> 16),
                          (uint32_t)(to >> 32), 0};
    __asm__ volatile("lidt %0" : : "m"(own));
}

void cpu_leave_faults(void)
{
    __asm__ volatile("lidt %0" : : "m"(firmware_table));
}

/* ---- Pages ----------------------------------------------------------------------------------- */

#define ENTRY_ADDRESS UINT64_C(0x000ffffffffff000)
#define ENTRY_PRESENT UINT64_C(1)
#define ENTRY_TABLE UINT64_C(3) /* present, writable: what is below decides */
#define ENTRY_LARGE UINT64_C(0x80)
#define ENTRY_PAT UINT64_C(0x80)         /* of a page of 4 KiB, where larger
                                          * ones have ENTRY_LARGE */
#define ENTRY_LARGE_PAT UINT64_C(0x1000) /* of a larger one */
#define CR0_WP (UINT64_C(1) << 16)
#define CR4_LA57 (UINT64_C(1) << 12)

static void forget_translation(uintptr_t address)
{
    __asm__ volatile("invlpg (%0)" : : "r"(address) : "memory");
}

/* Make a page of 2 MiB or 1 GiB a table of the next smaller ones. */
static const char *split(uint64_t *entry, unsigned level, void *(*page)(void))
{
    const uint64_t step = UINT64_C(1) << (12 + 9 * (level - 2)), large = step << 9;
    const uint64_t base = *entry & ENTRY_ADDRESS & ~(large - 1);
    uint64_t flags = *entry & ~ENTRY_ADDRESS, *table = page();

    if (!table)
        return "no memory for page tables";
    if (level == 2) {
        flags &= ~ENTRY_LARGE;
        if (*entry & ENTRY_LARGE_PAT)
            flags |= ENTRY_PAT;
    } else if (*entry & ENTRY_LARGE_PAT) {
        flags |= ENTRY_LARGE_PAT;
    }
    for (size_t i = 0; i < 512; i++)
        table[i] = (base + i * step) | flags;
    *entry = (uint64_t)(uintptr_t)table | ENTRY_TABLE;
    return NULL;
}

static const char *change(uintptr_t address, bool hide, void *(*page)(void))
{
    uint64_t root;

    __asm__ volatile("movq %%cr3, %0" : "=r"(root));
    uint64_t *table = (uint64_t *)(uintptr_t)(root & ENTRY_ADDRESS);
    for (unsigned level = (cr4() & CR4_LA57) ? 5 : 4; level > 1; level--) {
        uint64_t *entry = &table[address >> (12 + 9 * (level - 1)) & 511];
        if (!(*entry & ENTRY_PRESENT))
            return "memory of firmware is not in its page tables";
        if (level < 4 && (*entry & ENTRY_LARGE)) {
            const char *why = split(entry, level, page);
            if (why)
                return why;
        }
        table = (uint64_t *)(uintptr_t)(*entry & ENTRY_ADDRESS);
    }
    uint64_t *entry = &table[address >> 12 & 511];
    *entry = hide ? *entry & ~ENTRY_PRESENT : *entry | ENTRY_PRESENT;
    forget_translation(address);
    return NULL;
}

/* Firmware may keep its tables from being written: the bit of CR0 that makes this hold in
 * ring 0 is off meanwhile. */
const char *cpu_hide_page(uintptr_t address, bool hide, void *(*page)(void))
{
    uint64_t cr0;

    __asm__ volatile("movq %%cr0, %0" : "=r"(cr0));
    __asm__ volatile("movq %0, %%cr0" : : "r"(cr0 & ~CR0_WP) : "memory");
    const char *why = change(address, hide, page);
    __asm__ volatile("movq %0, %%cr0" : : "r"(cr0) : "memory");
    return why;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

/* QEMU's own translator signs CPUID leaf 0x40000000. */
bool port_emulated(void)
{
    struct regs r = cpuid(0x40000000, 0);

    return r.b == 0x54474354 && r.c == 0x43544743 && r.d == 0x47435447; /* "TCGTCGTCGTCG" */
}

static void put_word(char *to, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        to[i] = (char)(word >> 8 * i);
}

void cpu_describe(void)
{
    const struct regs zero = cpuid(0, 0), one = cpuid(1, 0);
    char vendor[13] = "", name[49] = "";
    const uint32_t family = one.a >> 8 & 15, low = one.a >> 4 & 15, high = one.a >> 12 & 0xf0;

    put_word(vendor, zero.b);
    put_word(vendor + 4, zero.d);
    put_word(vendor + 8, zero.c);
    for (uint32_t i = 0; i < 3 && has_leaf(0x80000004); i++) {
        const struct regs r = cpuid(0x80000002 + i, 0);
        put_word(name + 16 * i, r.a);
        put_word(name + 16 * i + 4, r.b);
        put_word(name + 16 * i + 8, r.c);
        put_word(name + 16 * i + 12, r.d);
    }
    emit_text("vendor", vendor);
    emit_text("cpu", name + strspn(name, " "));
    emit_unsigned("family", family == 15 ? family + (one.a >> 20 & 0xff) : family);
    emit_unsigned("model", family == 6 || family == 15 ? high | low : low);
    emit_unsigned("stepping", one.a & 15);
    emit_bool("virtualised", (one.c >> 31 & 1) != 0);
}
#endif

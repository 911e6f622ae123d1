/* SPDX-License-Identifier: MIT */
/*
 * The start of a program on a Cortex-M without an operating system: the vector table, memory as C
 * expects it, the mem functions, and output by semihosting (Arm, Semihosting for AArch32 and
 * AArch64, 2024), which QEMU and debuggers offer.
 */
#include "start.h"

extern uint32_t data_begin[], data_end[], bss_begin[], bss_end[], stack_top[];
extern const uint32_t data_stored[];

int main(void);

/* ---- Output and exit ------------------------------------------------------------------------- */

#define SYS_WRITE0 0x04
#define SYS_EXIT 0x18
#define STOPPED_RUN_TIME_ERROR 0x20023
#define STOPPED_EXIT 0x20026

static void semihosting(uint32_t operation, uintptr_t argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register uintptr_t r1 __asm__("r1") = argument;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void print(const char *text)
{
    semihosting(SYS_WRITE0, (uintptr_t)text);
}

void print_number(uint32_t number)
{
    char digits[11], *at = digits + sizeof digits;

    *--at = 0;
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    print(at);
}

static void leave(int failed)
{
    for (;;)
        semihosting(SYS_EXIT, failed ? STOPPED_RUN_TIME_ERROR : STOPPED_EXIT);
}

/* ---- The start ------------------------------------------------------------------------------- */

/* Nothing is initialised yet: registers alone. */
void reset(void)
{
    const uint32_t *from = data_stored;

#if defined(__ARM_FP)
    *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20; /* CPACR: registers for floating point */
    __asm__ volatile("dsb\n\tisb");
#endif
    for (uint32_t *to = data_begin; to < data_end; to++)
        *to = *from++;
    for (uint32_t *to = bss_begin; to < bss_end; to++)
        *to = 0;
    leave(main());
}

static void fault(void)
{
    print("fault\n");
    leave(1);
}

/* The top of the stack, then reset and 14 exceptions: Armv7-M (Arm DDI 0403E) section B1.5.3. */
typedef union {
    const uint32_t *top;
    void (*handler)(void);
} vector;

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    {.top = stack_top}, {.handler = reset}, {.handler = fault}, {.handler = fault},
    {.handler = fault}, {.handler = fault}, {.handler = fault}, {.top = NULL},
    {.top = NULL},      {.top = NULL},      {.top = NULL},      {.handler = fault},
    {.handler = fault}, {.top = NULL},      {.handler = fault}, {.handler = fault},
};

/* ---- The stack ------------------------------------------------------------------------------- */

#define UNTOUCHED UINT32_C(0x5aa55aa5)
#define MOST_BYTES 16384

static volatile uint32_t *lowest_word(void)
{
    return stack_top - MOST_BYTES / 4;
}

void paint_stack(void)
{
    volatile uint32_t *const here = (uint32_t *)__builtin_frame_address(0) - 16;

    for (volatile uint32_t *word = lowest_word(); word < here; word++)
        *word = UNTOUCHED;
}

uint32_t stack_bytes(const void *frame)
{
    const volatile uint32_t *word = lowest_word();

    while (*word == UNTOUCHED)
        word++;
    return (uint32_t)((uintptr_t)frame - (uintptr_t)word);
}

/* ---- The mem functions ----------------------------------------------------------------------- */

/* The barriers keep a compiler from making a call of the function itself of the loop. */
#define BARRIER() __asm__ volatile("" : : : "memory")

__attribute__((used)) void *memset(void *to, int byte, size_t n_bytes)
{
    for (uint8_t *at = to; n_bytes; n_bytes--) {
        *at++ = (uint8_t)byte;
        BARRIER();
    }
    return to;
}

__attribute__((used)) void *memcpy(void *to, const void *from, size_t n_bytes)
{
    const uint8_t *source = from;

    for (uint8_t *at = to; n_bytes; n_bytes--) {
        *at++ = *source++;
        BARRIER();
    }
    return to;
}

__attribute__((used)) void *memmove(void *to, const void *from, size_t n_bytes)
{
    if ((uintptr_t)to - (uintptr_t)from >= n_bytes)
        return memcpy(to, from, n_bytes);
    while (n_bytes--) {
        ((uint8_t *)to)[n_bytes] = ((const uint8_t *)from)[n_bytes];
        BARRIER();
    }
    return to;
}

__attribute__((used)) int memcmp(const void *left, const void *right, size_t n_bytes)
{
    const uint8_t *a = left, *b = right;

    for (; n_bytes; n_bytes--, a++, b++)
        if (*a != *b)
            return *a - *b;
    return 0;
}

/* clang calls the mem functions by the names of Arm's ABI for bare metal (Arm IHI 0043). */
#if defined(__clang__)
#define ABI_NAMES(n)                                                    \
    void __aeabi_memcpy##n(void *to, const void *from, size_t n_bytes)  \
    {                                                                   \
        memcpy(to, from, n_bytes);                                      \
    }                                                                   \
    void __aeabi_memmove##n(void *to, const void *from, size_t n_bytes) \
    {                                                                   \
        memmove(to, from, n_bytes);                                     \
    }                                                                   \
    void __aeabi_memset##n(void *to, size_t n_bytes, int byte)          \
    {                                                                   \
        memset(to, byte, n_bytes);                                      \
    }                                                                   \
    void __aeabi_memclr##n(void *to, size_t n_bytes)                    \
    {                                                                   \
        memset(to, 0, n_bytes);                                         \
    }
ABI_NAMES()
ABI_NAMES(4)
ABI_NAMES(8)
#endif

/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 of one kernel in portable C, to be counted by tools/count-words:
 * -DKERNEL_FILE='"sha2/c_words32.c"' chooses it. Between the marks are one block, and two.
 *
 * A program without a C library, which ends by a trap.
 */
#include KERNEL_FILE

/* Functions that are linked but not counted. */
#undef memset
#undef memcpy
void *memset(void *p, int value, size_t n)
{
    for (volatile uint8_t *byte = p; n; n--)
        *byte++ = (uint8_t)value;
    return p;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    const uint8_t *in = from;

    for (volatile uint8_t *out = to; n; n--)
        *out++ = *in++;
    return to;
}

#define APART __attribute__((noinline, noclone))

struct message {
    uint32_t state[8], words[32];
};

APART static void mark(struct message *m)
{
    __asm__ volatile("\n\t.globl evc_mark\nevc_mark:\n\t" : : "r"(m) : "memory");
}

APART static void hash(struct message *m, size_t n_blocks)
{
    blocks256(m->state, (const uint8_t *)m->words, n_blocks);
}

void _start(void)
{
    struct message m;
    volatile uint32_t *fill = m.state; /* no call of memset */

#if defined(__hppa__) /* the base of constants, which a C library would set */
    __asm__ volatile("ldil L%$global$,%r27\n\tldo R%$global$(%r27),%r27");
#endif
    for (size_t i = 0; i < sizeof m / 4; i++)
        fill[i] = (uint32_t)i * UINT32_C(0x9e3779b9);
    mark(&m);
    hash(&m, 1), mark(&m);
    hash(&m, 2), mark(&m);
    __builtin_trap();
}

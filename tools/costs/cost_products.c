/* SPDX-License-Identifier: MIT */
/*
 * Products of one kernel of bn, to be counted by tools/count-costs:
 * -DKERNEL_FILE='"bn/c_limb32.c"' chooses it. For each of five lengths: a mark, a square, a mark,
 * a product, a mark. -DLENGTHS=1: of the shortest only.
 *
 * A program without a C library and without data of its own, which ends by a trap: it runs wherever
 * a compiler and an emulator are.
 */
#include KERNEL_FILE

/* Functions that are linked but not counted. */
#undef memset
void *memset(void *p, int value, size_t n)
{
    for (volatile uint8_t *byte = p; n; n--)
        *byte++ = (uint8_t)value;
    return p;
}

#undef memcpy
void *memcpy(void *to, const void *from, size_t n)
{
    volatile uint8_t *out = to;

    for (const uint8_t *in = from; n; n--)
        *out++ = *in++;
    return to;
}

int raise(int signal) /* for libgcc of Arm */
{
    return signal;
}

void evc_wipe(void *p, size_t len_bytes)
{
    (void)memset(p, 0, len_bytes);
}

#ifndef LENGTHS
#define LENGTHS 5
#endif
#define MOST 512
#define APART __attribute__((noinline, noclone))

struct memory {
    EVC_ALIGN(64)
    uint8_t key[6 * MOST], a[3 * MOST], b[3 * MOST], r[3 * MOST], scratch[10 * MOST], n[MOST];
};

APART static void mark(struct memory *m)
{
    __asm__ volatile("\n\t.globl evc_mark\nevc_mark:\n\t" : : "r"(m) : "memory");
}

/* Random bytes; n is odd and begins with a bit 1, a and b begin with 0. */
APART static void prepare(struct memory *m, size_t n_bytes)
{
    struct evc_bn_modulus *const head = (void *)m->key;
    uint32_t x = 0x9e3779b9;

    for (volatile uint32_t *word = (uint32_t *)m; word < (uint32_t *)(m + 1); word++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        *word = x;
    }
    m->n[0] |= 0x80;
    m->n[n_bytes - 1] |= 1;
    m->a[n_bytes - 1] = m->b[n_bytes - 1] = m->a[0] = m->b[0] = 0;
    head->n_bytes = (uint32_t)n_bytes;
    shape(n_bytes, &head->shape);
    set_modulus(m->key, m->n);
}

APART static void count_length(struct memory *m, size_t n_bytes)
{
    prepare(m, n_bytes);
    mark(m);
    sqr(m->key, m->r, m->a, m->scratch);
    mark(m);
    mul(m->key, m->r, m->a, m->b, m->scratch);
    mark(m);
}

#if defined(__i386__) || defined(__x86_64__)
__attribute__((force_align_arg_pointer))
#endif
void _start(void)
{
    struct memory m;

    count_length(&m, 128);
#if LENGTHS > 1
    count_length(&m, 192);
    count_length(&m, 256);
    count_length(&m, 384);
    count_length(&m, 512);
#endif
    __builtin_trap();
}

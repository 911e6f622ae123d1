/* SPDX-License-Identifier: MIT */
/*
 * Word primitives of one kernel, to be counted by tools/count-words:
 * -DKERNEL_FILE='"bn_words/c_words32.c"' chooses it. Each operation runs twice, between marks, with
 * sizes of which the second is the double of the first. With -DGENERIC, the loops are those of a
 * library of big numbers that has no code of its own for the CPU.
 *
 * A program without a C library, which ends by a trap: it runs wherever a
 * compiler and an emulator are.
 */
#if defined(GENERIC)
#include "everycore/bn_words.h"

typedef evc_bn_word word;
#if EVC_BN_WORD64
__extension__ typedef unsigned __int128 wide;
#else
typedef uint64_t wide;
#endif

static word add_words(word *r, const word *a, const word *b, size_t n_words)
{
    wide sum = 0;

    for (size_t i = 0; i < n_words; i++) {
        sum += (wide)a[i] + b[i];
        r[i] = (word)sum;
        sum >>= EVC_BN_WORD_BITS;
    }
    return (word)sum;
}

static word mul_words(word *r, const word *a, size_t n_words, word w)
{
    wide sum = 0;

    for (size_t i = 0; i < n_words; i++) {
        sum += (wide)a[i] * w;
        r[i] = (word)sum;
        sum >>= EVC_BN_WORD_BITS;
    }
    return (word)sum;
}

static word mul_add_words(word *r, const word *a, size_t n_words, word w)
{
    wide sum = 0;

    for (size_t i = 0; i < n_words; i++) {
        sum += (wide)a[i] * w + r[i];
        r[i] = (word)sum;
        sum >>= EVC_BN_WORD_BITS;
    }
    return (word)sum;
}

static void mul_comba8(word *r, const word *a, const word *b)
{
    for (size_t i = 0; i < 8; i++)
        r[i] = 0;
    for (size_t i = 0; i < 8; i++)
        r[i + 8] = mul_add_words(r + i, a, 8, b[i]);
}

static void sqr_comba8(word *r, const word *a)
{
    mul_comba8(r, a, a);
}

static word div_words(word high, word low, word d)
{
    return (word)(((wide)high << EVC_BN_WORD_BITS | low) / d);
}

static word mod_words(const word *a, size_t n_words, const struct evc_bn_divisor *d)
{
    wide rest = 0;

    while (n_words--)
        rest = (rest << EVC_BN_WORD_BITS | a[n_words]) % d->word;
    return (word)rest;
}
#else
#include KERNEL_FILE
#include "bn_words/bn_words.c"
#endif

/* Functions that are linked but not counted. */
#undef memset
void *memset(void *p, int value, size_t n)
{
    for (volatile uint8_t *byte = p; n; n--)
        *byte++ = (uint8_t)value;
    return p;
}

int raise(int signal) /* for libgcc of Arm, in divisions */
{
    return signal;
}

void evc_wipe(void *p, size_t len_bytes)
{
    (void)memset(p, 0, len_bytes);
}

#define APART __attribute__((noinline, noclone))

struct operands {
    word r[160], a[80], b[80], w, result;
    struct evc_bn_divisor d;
};

APART static void mark(struct operands *o)
{
    __asm__ volatile("\n\t.globl evc_mark\nevc_mark:\n\t" : : "r"(o) : "memory");
}

APART static void do_add(struct operands *o, size_t n)
{
    o->result += add_words(o->r, o->a, o->b, n);
}

APART static void do_mul(struct operands *o, size_t n)
{
    o->result += mul_words(o->r, o->a, n, o->w);
}

APART static void do_mul_add(struct operands *o, size_t n)
{
    o->result += mul_add_words(o->r, o->a, n, o->w);
}

APART static void do_mod(struct operands *o, size_t n)
{
    o->result += mod_words(o->a, n, &o->d);
}

APART static void do_mul_comba8(struct operands *o, size_t n)
{
    for (; n; n -= 32)
        mul_comba8(o->r, o->a, o->b);
}

APART static void do_sqr_comba8(struct operands *o, size_t n)
{
    for (; n; n -= 32)
        sqr_comba8(o->r, o->a);
}

APART static void do_div(struct operands *o, size_t n)
{
    for (; n; n -= 32)
        o->a[0] = div_words(o->a[1] >> 1, o->a[0], o->w);
}

APART static void do_prepare(struct operands *o, size_t n)
{
#if defined(GENERIC)
    (void)o, (void)n;
#else
    for (; n; n -= 32)
        prepare(&o->d, 65521 | (o->w & (word)n));
#endif
}

#if defined(__i386__) || defined(__x86_64__)
__attribute__((force_align_arg_pointer))
#endif
void _start(void)
{
    struct operands o;
    word x = (word)UINT64_C(0x9e3779b97f4a7c15);
    volatile word *fill = o.r; /* no call of memset */

    for (size_t i = 0; i < sizeof o / sizeof(word); i++) {
        fill[i] = x;
        x ^= x << 7;
        x ^= x >> 9;
    }
    o.w |= (word)1 << (EVC_BN_WORD_BITS - 1);
    do_prepare(&o, 32);
    o.d.word = 65521;
#define TWICE(f) f(&o, 32), mark(&o), f(&o, 64), mark(&o)
    mark(&o);
    TWICE(do_add);
    TWICE(do_mul);
    TWICE(do_mul_add);
    TWICE(do_mod);
    TWICE(do_mul_comba8);
    TWICE(do_sqr_comba8);
    TWICE(do_div);
    TWICE(do_prepare);
    __builtin_trap();
}

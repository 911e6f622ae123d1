/* SPDX-License-Identifier: MIT */
/*
 * Rows that compilers make no good code of, where the CPU has a carry: sums of words that keep it,
 * and one word of a row of products. Includers have what product.h declares.
 *
 *   EVC_BN_CARRY_ROWS          add_four, add_eight, subtract_four and subtract_eight are there
 *   EVC_BN_MULTIPLY_IN_MEMORY  multiply_one and multiply_add_one are there
 *   EVC_BN_MULTIPLY_FOUR       multiply_four and multiply_add_four are there
 */
#ifndef EVC_BN_WORDS_CARRY_ROWS_H
#define EVC_BN_WORDS_CARRY_ROWS_H

#include "bn_words/product.h"
#include "common/carry.h"

/* ---- Sums of words ------------------------------------------------------------------------------
 * %[c] is the carry, 0 or 1, before BEGIN and after END; %[t] and %[u] are free. WORD(at): the
 * word so many bytes behind the addresses. SECOND: the operand %[u], where it is needed: x86
 * has no register for it. */

#define EVC_BN_CARRY_ROWS 1
#if EVC_BN_HALVES
#undef EVC_BN_CARRY_ROWS
#define EVC_BN_CARRY_ROWS 0
#elif EVC_X86
#define DATA "r"
#define ADDRESS "r"
#define SECOND
#define SECOND_DECLARED
#define ADD_BEGIN "neg %[c]\n\t"
#define ADD_WORD(at) \
    "mov " at "(%[a]), %[t]\n\tadc " at "(%[b]), %[t]\n\tmov %[t], " at "(%[r])\n\t"
#define ADD_END "sbb %[c], %[c]\n\tneg %[c]"
#define SUBTRACT_BEGIN ADD_BEGIN
#define SUBTRACT_WORD(at) \
    "mov " at "(%[a]), %[t]\n\tsbb " at "(%[b]), %[t]\n\tmov %[t], " at "(%[r])\n\t"
#define SUBTRACT_END ADD_END
#elif defined(__s390x__) && EVC_BN_WORD64
#define DATA "d"
#define ADDRESS "a"
#define SECOND
#define SECOND_DECLARED
#define ADD_BEGIN "lghi %[t], -1\n\talgr %[t], %[c]\n\t"
#define ADD_WORD(at) \
    "lg %[t], " at "(%[a])\n\talcg %[t], " at "(%[b])\n\tstg %[t], " at "(%[r])\n\t"
#define ADD_END "lghi %[c], 0\n\talcgr %[c], %[c]"
#define SUBTRACT_BEGIN "lghi %[t], 0\n\tslgr %[t], %[c]\n\t"
#define SUBTRACT_WORD(at) \
    "lg %[t], " at "(%[a])\n\tslbg %[t], " at "(%[b])\n\tstg %[t], " at "(%[r])\n\t"
#define SUBTRACT_END "slbgr %[c], %[c]\n\tlcgr %[c], %[c]"
#elif defined(__m68k__)
#define DATA "d"
#define ADDRESS "a"
#define SECOND , [u] "=&" DATA(u)
#define SECOND_DECLARED , u
#define ADD_BEGIN "neg.l %[c]\n\t"
#define M68K_WORD(op, at)                                        \
    "move.l " at "(%[a]), %[t]\n\tmove.l " at "(%[b]), %[u]\n\t" \
    op ".l %[u], %[t]\n\tmove.l %[t], " at "(%[r])\n\t"
#define ADD_WORD(at) M68K_WORD("addx", at)
#define ADD_END "subx.l %[c], %[c]\n\tneg.l %[c]"
#define SUBTRACT_BEGIN ADD_BEGIN
#define SUBTRACT_WORD(at) M68K_WORD("subx", at)
#define SUBTRACT_END ADD_END
#elif defined(__hppa__) && !defined(__LP64__)
#define DATA "r"
#define ADDRESS "r"
#define SECOND , [u] "=&" DATA(u)
#define SECOND_DECLARED , u
#define HPPA_WORD(op, at)                                  \
    "ldw " at "(%[a]), %[t]\n\tldw " at "(%[b]), %[u]\n\t" \
    op " %[t], %[u], %[t]\n\tstw %[t], " at "(%[r])\n\t"
#define ADD_BEGIN "addi -1, %[c], %%r0\n\t"
#define ADD_WORD(at) HPPA_WORD("addc", at)
#define ADD_END "addc %%r0, %%r0, %[c]"
#define SUBTRACT_BEGIN "sub %%r0, %[c], %%r0\n\t"
#define SUBTRACT_WORD(at) HPPA_WORD("subb", at)
#define SUBTRACT_END "subb %%r0, %%r0, %[c]\n\tsub %%r0, %[c], %[c]"
#elif (defined(__powerpc64__) && EVC_BN_WORD64) || (defined(__powerpc__) && !defined(__powerpc64__))
#define DATA "r"
#define ADDRESS "b"
#define SECOND , [u] "=&" DATA(u)
#define SECOND_DECLARED , u
#if EVC_BN_WORD64
#define POWER_WORD(op, at)                               \
    "ld %[t], " at "(%[a])\n\tld %[u], " at "(%[b])\n\t" \
    op " %[t], %[u], %[t]\n\tstd %[t], " at "(%[r])\n\t"
#else
#define POWER_WORD(op, at)                                 \
    "lwz %[t], " at "(%[a])\n\tlwz %[u], " at "(%[b])\n\t" \
    op " %[t], %[u], %[t]\n\tstw %[t], " at "(%[r])\n\t"
#endif
#define ADD_BEGIN "addic %[t], %[c], -1\n\t"
#define ADD_WORD(at) POWER_WORD("adde", at)
#define ADD_END "li %[c], 0\n\taddze %[c], %[c]"
#define SUBTRACT_BEGIN "subfic %[t], %[c], 0\n\t"
#define SUBTRACT_WORD(at) POWER_WORD("subfe", at)
#define SUBTRACT_END "subfe %[c], %[c], %[c]\n\tneg %[c], %[c]"
#elif defined(__arm__) && (!defined(__thumb__) || defined(__thumb2__))
#define DATA "r"
#define ADDRESS "r"
#define SECOND , [u] "=&" DATA(u)
#define SECOND_DECLARED , u
#define ARM_WORD(op, at)                                         \
    "ldr %[t], [%[a], #" at "]\n\tldr %[u], [%[b], #" at "]\n\t" \
    op " %[t], %[t], %[u]\n\tstr %[t], [%[r], #" at "]\n\t"
#define ADD_BEGIN "cmp %[c], #1\n\t"
#define ADD_WORD(at) ARM_WORD("adcs", at)
#define ADD_END "mov %[c], #0\n\tadc %[c], %[c], #0"
#define SUBTRACT_BEGIN "rsbs %[t], %[c], #0\n\t"
#define SUBTRACT_WORD(at) ARM_WORD("sbcs", at)
#define SUBTRACT_END "sbc %[c], %[c], %[c]\n\trsb %[c], %[c], #0"
#else
#undef EVC_BN_CARRY_ROWS
#define EVC_BN_CARRY_ROWS 0
#endif

#if EVC_BN_CARRY_ROWS

#if EVC_BN_WORD64
#define FOUR_WORDS(Word) Word("0") Word("8") Word("16") Word("24")
#define EIGHT_WORDS(Word) FOUR_WORDS(Word) Word("32") Word("40") Word("48") Word("56")
#else
#define FOUR_WORDS(Word) Word("0") Word("4") Word("8") Word("12")
#define EIGHT_WORDS(Word) FOUR_WORDS(Word) Word("16") Word("20") Word("24") Word("28")
#endif

/* r = a + b + carry, or a - b - carry, of four or eight words each; returns the carry, 0 or 1. */
#define DEFINE_ROW(name, words)                                             \
    EVC_INLINE word name(word *r, const word *a, const word *b, word carry) \
    {                                                                       \
        word t SECOND_DECLARED;                                             \
                                                                            \
        __asm__ volatile(words                                              \
                         : [c] "+&" DATA(carry), [t] "=&" DATA(t) SECOND    \
                         : [r] ADDRESS(r), [a] ADDRESS(a), [b] ADDRESS(b)   \
                         : EVC_CARRY_FLAG, "memory");                       \
        return carry;                                                       \
    }
DEFINE_ROW(add_four, ADD_BEGIN FOUR_WORDS(ADD_WORD) ADD_END)
DEFINE_ROW(add_eight, ADD_BEGIN EIGHT_WORDS(ADD_WORD) ADD_END)
DEFINE_ROW(subtract_four, SUBTRACT_BEGIN FOUR_WORDS(SUBTRACT_WORD) SUBTRACT_END)
DEFINE_ROW(subtract_eight, SUBTRACT_BEGIN EIGHT_WORDS(SUBTRACT_WORD) SUBTRACT_END)

#endif

/* ---- One word of a row of products ----------------------------------------------------------- */

#if EVC_X86 && !EVC_BN_HALVES
#define EVC_BN_MULTIPLY_IN_MEMORY 1

#if EVC_BN_WORD64
#define MUL "mulq"
#else
#define MUL "mull"
#endif

/* *r = a * w + *carry, whose upper word replaces *carry. */
EVC_INLINE void multiply_one(word *r, word a, word w, word *carry)
{
    word high;

    __asm__(MUL " %[w]\n\tadd %[c], %[low]\n\tadc $0, %[high]"
            : [low] "+&a"(a), [high] "=&d"(high)
            : [w] "rm"(w), [c] "r"(*carry)
            : "cc");
    *r = a;
    *carry = high;
}

/* *r += a * w + *carry, whose upper word replaces *carry. */
EVC_INLINE void multiply_add_one(word *r, word a, word w, word *carry)
{
    word high;

    __asm__(MUL
            " %[w]\n\tadd %[c], %[low]\n\tadc $0, %[high]\n\tadd %[low], %[r]\n\tadc $0, %[high]"
            : [low] "+&a"(a), [high] "=&d"(high), [r] "+m"(*r)
            : [w] "rm"(w), [c] "r"(*carry)
            : "cc");
    *carry = high;
}
#elif defined(__m68k__) && !EVC_BN_HALVES
#define EVC_BN_MULTIPLY_IN_MEMORY 1

EVC_INLINE void multiply_one(word *r, word a, word w, word *carry)
{
    word high;

    __asm__("mulu.l %[w], %[high]:%[low]\n\tadd.l %[c], %[low]\n\taddx.l %[zero], %[high]"
            : [low] "+&d"(a), [high] "=&d"(high)
            : [w] "d"(w), [c] "d"(*carry), [zero] "d"((word)0)
            : "cc");
    *r = a;
    *carry = high;
}

EVC_INLINE void multiply_add_one(word *r, word a, word w, word *carry)
{
    word high;

    __asm__("mulu.l %[w], %[high]:%[low]\n\tadd.l %[c], %[low]\n\taddx.l %[zero], %[high]\n\t"
            "add.l %[low], %[r]\n\taddx.l %[zero], %[high]"
            : [low] "+&d"(a), [high] "=&d"(high), [r] "+m"(*r)
            : [w] "d"(w), [c] "d"(*carry), [zero] "d"((word)0)
            : "cc");
    *carry = high;
}
#elif defined(__s390x__) && EVC_BN_WORD64 && !EVC_BN_HALVES
#define EVC_BN_MULTIPLY_IN_MEMORY 1

EVC_INLINE void multiply_one(word *r, word a, word w, word *carry)
{
    *r = multiply_add(a, w, 0, carry);
}

EVC_INLINE void multiply_add_one(word *r, word a, word w, word *carry)
{
    const sum product = (sum)a * w;
    word low = sum_low(product), high = sum_high(product);

    __asm__("alg %[low], %[r]\n\talcgr %[high], %[zero]\n\t"
            "algr %[low], %[c]\n\talcgr %[high], %[zero]"
            : [low] "+&d"(low), [high] "+&d"(high)
            : [r] "T"(*r), [c] "d"(*carry), [zero] "d"((word)0)
            : "cc");
    *r = low;
    *carry = high;
}
#else
#define EVC_BN_MULTIPLY_IN_MEMORY 0
#endif

/* ---- Four words of a row of products ------------------------------------------------------------
 * The carry stays where it is from word to word, as multiplications leave it alone. multiply_four:
 * r = a w + carry; multiply_add_four: r += a w + carry. Both return the word above. */

#if defined(__s390x__) && EVC_BN_WORD64 && !EVC_BN_HALVES
#define EVC_BN_MULTIPLY_FOUR 1

/* A product of a word at a, whose upper word is in the even register then; `below` is
 * added to the lower one. */
#define PRODUCT(even, odd, at, add, below) \
    "lg %%" odd ", " at "(%[a])\n\tmlgr %%" even ", %[w]\n\t" add " %%" odd ", " below "\n\t"
#define STORE_WORD(from, at) "stg %%" from ", " at "(%[r])\n\t"
#define ADD_TO_WORD(add, from, at) add " %%" from ", " at "(%[r])\n\t" STORE_WORD(from, at)

EVC_INLINE word multiply_four(word *r, const word *a, word w, word carry)
{
    __asm__ volatile(PRODUCT("r0", "r1", "0", "algr", "%[c]") STORE_WORD("r1", "0")
                     PRODUCT("r2", "r3", "8", "alcgr", "%%r0") STORE_WORD("r3", "8")
                     PRODUCT("r0", "r1", "16", "alcgr", "%%r2") STORE_WORD("r1", "16")
                     PRODUCT("r2", "r3", "24", "alcgr", "%%r0") STORE_WORD("r3", "24")
                     "lghi %[c], 0\n\talcgr %[c], %%r2"
                     : [c] "+&d"(carry)
                     : [r] "a"(r), [a] "a"(a), [w] "d"(w)
                     : "r0", "r1", "r2", "r3", "cc", "memory");
    return carry;
}

EVC_INLINE word multiply_add_four(word *r, const word *a, word w, word carry)
{
    __asm__ volatile(PRODUCT("r0", "r1", "0", "algr", "%[c]")
                     PRODUCT("r2", "r3", "8", "alcgr", "%%r0")
                     PRODUCT("r4", "r5", "16", "alcgr", "%%r2")
                     PRODUCT("r6", "r7", "24", "alcgr", "%%r4")
                     "lghi %[c], 0\n\talcgr %%r6, %[c]\n\t"
                     ADD_TO_WORD("alg", "r1", "0")
                     ADD_TO_WORD("alcg", "r3", "8")
                     ADD_TO_WORD("alcg", "r5", "16")
                     ADD_TO_WORD("alcg", "r7", "24")
                     "alcgr %[c], %%r6"
                     : [c] "+&d"(carry)
                     : [r] "a"(r), [a] "a"(a), [w] "d"(w)
                     : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "cc", "memory");
    return carry;
}
#elif defined(__powerpc64__) && EVC_BN_WORD64 && !EVC_BN_HALVES
#define EVC_BN_MULTIPLY_FOUR 1

/* A product of a word at a, whose upper word is in `upper` then; `below` is
 * added to the lower one. */
#define PRODUCT(upper, lower, at, add, below)                                     \
    "ld %[" upper "], " at "(%[a])\n\tmulld %[" lower "], %[" upper "], %[w]\n\t" \
    "mulhdu %[" upper "], %[" upper "], %[w]\n\t"                                 \
    add " %[" lower "], %[" lower "], %[" below "]\n\t"
#define STORE_WORD(from, at) "std %[" from "], " at "(%[r])\n\t"
#define ADD_TO_WORD(add, from, at) \
    "ld %[t], " at "(%[r])\n\t" add " %[" from "], %[" from "], %[t]\n\t" STORE_WORD(from, at)

EVC_INLINE word multiply_four(word *r, const word *a, word w, word carry)
{
    word t, u, s0;

    __asm__ volatile(PRODUCT("t", "s0", "0", "addc", "c") STORE_WORD("s0", "0")
                     PRODUCT("u", "s0", "8", "adde", "t") STORE_WORD("s0", "8")
                     PRODUCT("t", "s0", "16", "adde", "u") STORE_WORD("s0", "16")
                     PRODUCT("u", "s0", "24", "adde", "t") STORE_WORD("s0", "24")
                     "addze %[c], %[u]"
                     : [c] "+&r"(carry), [t] "=&r"(t), [u] "=&r"(u), [s0] "=&r"(s0)
                     : [r] "b"(r), [a] "b"(a), [w] "r"(w)
                     : EVC_CARRY_FLAG, "memory");
    return carry;
}

EVC_INLINE word multiply_add_four(word *r, const word *a, word w, word carry)
{
    word t, u, s0, s1, s2, s3;

    __asm__ volatile(PRODUCT("t", "s0", "0", "addc", "c")
                     PRODUCT("u", "s1", "8", "adde", "t")
                     PRODUCT("t", "s2", "16", "adde", "u")
                     PRODUCT("u", "s3", "24", "adde", "t")
                     "addze %[c], %[u]\n\t"
                     ADD_TO_WORD("addc", "s0", "0")
                     ADD_TO_WORD("adde", "s1", "8")
                     ADD_TO_WORD("adde", "s2", "16")
                     ADD_TO_WORD("adde", "s3", "24")
                     "addze %[c], %[c]"
                     : [c] "+&r"(carry), [t] "=&r"(t), [u] "=&r"(u), [s0] "=&r"(s0), [s1] "=&r"(s1),
                       [s2] "=&r"(s2), [s3] "=&r"(s3)
                     : [r] "b"(r), [a] "b"(a), [w] "r"(w)
                     : EVC_CARRY_FLAG, "memory");
    return carry;
}
#else
#define EVC_BN_MULTIPLY_FOUR 0
#endif

#endif

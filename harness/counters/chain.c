/* SPDX-License-Identifier: MIT */
/*
 * The chain of dependent additions: the one thing whose core cycles are known without a counter.
 *
 * One cycle a link on every core of these architectures that runs Linux (vendors' optimisation
 * guides; Agner Fog's instruction tables for x86). Power is left out: 2 cycles on some of its
 * cores, 1 on others.
 */
#include "counter.h"

#define TEN(x) x x x x x x x x x x
#define HUNDRED(x) TEN(TEN(x))

#if defined(__x86_64__)
#define LINK "addq %1, %0\n\t"
typedef uint64_t word;
#elif defined(__i386__)
#define LINK "addl %1, %0\n\t"
#elif defined(__aarch64__) || defined(__arm__) || defined(__riscv)
#define LINK "add %0, %0, %1\n\t"
#elif defined(__s390x__)
#define LINK "agr %0, %1\n\t"
#elif defined(__mips__)
#define LINK "addu %0, %0, %1\n\t"
#elif defined(__loongarch__)
#define LINK "add.d %0, %0, %1\n\t"
#endif

#if !defined(__x86_64__)
typedef uintptr_t word;
#endif

bool add_chain(uint32_t n_links)
{
#if defined(LINK)
    word x = 1, y = 3;

    for (; n_links >= 100; n_links -= 100)
        __asm__ volatile(HUNDRED(LINK) : "+r"(x) : "r"(y) : "cc");
    return true;
#else
    (void)n_links;
    return false;
#endif
}

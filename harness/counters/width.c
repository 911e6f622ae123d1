/* SPDX-License-Identifier: MIT */
/*
 * Independent additions: how many the core does in a cycle. Another thread on the same core
 * takes its share of them, and slows what is measured, while the chain of dependent
 * additions runs as before.
 */
#include "counter.h"

#if defined(__x86_64__)

#define LINKS 3000
#define ROUNDS 30 /* of 600 additions in six registers */
#define TEN(x) x x x x x x x x x x
#define HUNDRED(x) TEN(TEN(x))
#define SIX \
    "addq %6, %0\n\taddq %6, %1\n\taddq %6, %2\n\taddq %6, %3\n\taddq %6, %4\n\taddq %6, %5\n\t"

static double ticks_of_chain(const struct counter *c)
{
    uint64_t start = c->now();

    add_chain(LINKS);
    return (double)(c->now() - start);
}

double add_width(const struct counter *c)
{
    uint64_t a = 0, b = 0, d = 0, e = 0, f = 0, g = 0, step = 3;
    double before = ticks_of_chain(c);
    uint64_t start = c->now();

    for (unsigned i = 0; i < ROUNDS; i++)
        __asm__ volatile(HUNDRED(SIX)
                         : "+r"(a), "+r"(b), "+r"(d), "+r"(e), "+r"(f), "+r"(g)
                         : "r"(step)
                         : "cc");
    double wide = (double)(c->now() - start), after = ticks_of_chain(c);
    double chain = before < after ? before : after; /* the other may have been interrupted */
    return wide > 0 ? ROUNDS * 600 * chain / (LINKS * wide) : 0;
}

#else

double add_width(const struct counter *c)
{
    (void)c;
    return 0;
}

#endif

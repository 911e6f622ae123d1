/* SPDX-License-Identifier: MIT */
/* Nothing but calls: the worst case for signed return addresses. recursion WORK */
#include <stdio.h>
#include <stdlib.h>

#define DEPTH 20 /* Fibonacci number: 21,891 calls */

__attribute__((noinline)) static unsigned long
fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int
main(int argc, char **argv)
{
    unsigned long work = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    unsigned long sum = 0;
    for (unsigned long i = 0; i < work; i++)
        sum += fibonacci(DEPTH);
    printf("%lu\n", sum);
    return 0;
}

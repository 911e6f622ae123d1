/* SPDX-License-Identifier: MIT */
/* Recursion with a comparison by pointer, as sort routines of libraries have. quicksort WORK */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N_ITEMS 10000

typedef int comparison(const uint32_t *, const uint32_t *);

__attribute__((noinline)) static uint32_t
key_of(const uint32_t *item)
{
    return *item >> 1;
}

/* Calls, and so signs its return address. */
__attribute__((noinline)) static int
ascending(const uint32_t *a, const uint32_t *b)
{
    uint32_t x = key_of(a), y = key_of(b);
    return (x > y) - (x < y);
}

__attribute__((noinline)) static void
exchange(uint32_t *a, uint32_t *b)
{
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Hoare, 1962: the pivot is the middle item. */
static void
quicksort(uint32_t *items, long first, long last, comparison *compare)
{
    long low = first, high = last;
    uint32_t pivot = items[first + (last - first) / 2];
    while (low <= high) {
        while (compare(&items[low], &pivot) < 0)
            low++;
        while (compare(&items[high], &pivot) > 0)
            high--;
        if (low <= high)
            exchange(&items[low++], &items[high--]);
    }
    if (first < high)
        quicksort(items, first, high, compare);
    if (low < last)
        quicksort(items, low, last, compare);
}

int
main(int argc, char **argv)
{
    static uint32_t items[N_ITEMS];
    unsigned long work = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    uint32_t state = 1, sum = 0;
    while (work--) {
        for (int i = 0; i < N_ITEMS; i++) { /* xorshift: Marsaglia 2003 */
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            items[i] = state;
        }
        quicksort(items, 0, N_ITEMS - 1, ascending);
        for (uint32_t i = 0; i < N_ITEMS; i++)
            sum = sum * 31 + items[i];
    }
    printf("%08x\n", (unsigned)sum);
    return 0;
}

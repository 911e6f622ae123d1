/* SPDX-License-Identifier: MIT */
#include "prime/small_primes.h"

/* Strikes the odd multiples of d from first on, which is one, in the segment. */
static void strike(struct evc_small_primes *s, uint32_t d, uint32_t first)
{
    for (uint32_t i = (first - s->segment) / 2; i < 8 * EVC_SEGMENT_BYTES; i += d)
        s->struck[i / 8] |= (uint8_t)(1u << i % 8);
}

static int is_struck(const struct evc_small_primes *s, uint32_t number)
{
    const uint32_t i = (number - s->segment) / 2;

    return s->struck[i / 8] >> i % 8 & 1;
}

/* The first segment: by every odd number whose square is in it. */
void evc_small_primes_begin(struct evc_small_primes *s)
{
    size_t n = 0;

    memset(s, 0, sizeof *s);
    for (uint32_t d = 3; d * d < EVC_SEGMENT; d += 2)
        strike(s, d, d * d);
    s->next = 3;
    for (uint32_t d = 3; n < EVC_BASE_PRIMES; d += 2)
        if (!is_struck(s, d))
            s->base[n++] = (uint16_t)d;
}

static void next_segment(struct evc_small_primes *s)
{
    s->segment += EVC_SEGMENT;
    s->next = s->segment + 1;
    memset(s->struck, 0, sizeof s->struck);
    for (size_t i = 0; i < EVC_BASE_PRIMES; i++) {
        /* the segment begins with an even number */
        const uint32_t d = s->base[i], rest = s->segment % d;
        const uint32_t first = s->segment + d - rest;

        strike(s, d, first % 2 ? first : first + d);
    }
}

void evc_small_primes_next(struct evc_small_primes *s, uint32_t *primes, size_t n)
{
    while (n) {
        if (s->next > s->segment + EVC_SEGMENT)
            next_segment(s);
        if (!is_struck(s, s->next)) {
            *primes++ = s->next;
            n--;
        }
        s->next += 2;
    }
}

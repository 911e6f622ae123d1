/* SPDX-License-Identifier: MIT */
/* The odd primes in their order, by a sieve of Eratosthenes in segments: 6 KiB of
 * memory for all below 2^24. */
#ifndef EVC_PRIME_SMALL_PRIMES_H
#define EVC_PRIME_SMALL_PRIMES_H

#include "common/bytes.h"

#define EVC_SEGMENT_BYTES 4096u               /* a bit for each odd number */
#define EVC_SEGMENT (16u * EVC_SEGMENT_BYTES) /* numbers */
#define EVC_BASE_PRIMES 563                   /* odd primes below 4096, whose
                                               * squares are below 2^24 */

struct evc_small_primes {
    uint32_t segment; /* its first number */
    uint32_t next;    /* the number to look at next, odd */
    uint16_t base[EVC_BASE_PRIMES];
    uint8_t struck[EVC_SEGMENT_BYTES];
};

void evc_small_primes_begin(struct evc_small_primes *s);

/* The next primes, n of them. Those below 2^24 are right. */
void evc_small_primes_next(struct evc_small_primes *s, uint32_t *primes, size_t n);

#endif

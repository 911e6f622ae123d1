/* SPDX-License-Identifier: MIT */
/* The common part of both searches for primes: remainders by small primes,
 * and reports of progress. */
#ifndef EVC_PRIME_SEARCH_H
#define EVC_PRIME_SEARCH_H

#include "prime/small_primes.h"
#include "prime/work.h"

#define EVC_REMAINDERS 16 /* small primes that are taken at a time */
#define EVC_MOST_WORDS (EVC_BN_MAX_BYTES * 8 / EVC_BN_WORD_BITS)

/* Small primes, some at a time, and the remainders of a number by them. */
struct evc_prime_remainders {
    struct evc_small_primes primes;
    struct evc_bn_trial groups[EVC_REMAINDERS];
    uint32_t prime[EVC_REMAINDERS], remainder[EVC_REMAINDERS];
    evc_bn_word number[EVC_MOST_WORDS];
    size_t n_words;
};

/* From the first odd prime on, of this number. */
void evc_prime_remainders_begin(struct evc_prime_remainders *r, const uint8_t *number,
                                size_t n_bytes);

/* Fills prime and remainder with the next ones. The number may be secret, the primes are not. */
void evc_prime_remainders_next(struct evc_prime_remainders *r, const struct evc_bn_words *words);

/* The checks that every search begins with. scratch_bytes: those that the caller gave. needed: the
 * function that tells how many the search needs. */
enum evc_status evc_prime_check_search(const struct evc_prime_search *search, size_t p_bits,
                                       size_t scratch_bytes,
                                       size_t (*needed)(const struct evc_bn *kernel,
                                                        size_t p_bits));

/* EVC_ERR_STOPPED if the caller's report asks for it. */
enum evc_status evc_prime_report(const struct evc_prime_search *search,
                                 const struct evc_prime_progress *progress);

/* The bound of the sieve for safe primes. */
uint32_t evc_prime_safe_bound(size_t p_bits);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Tests of primes, and searches for them, on top of any kernel of bn.
 *
 *     struct evc_prime_search search = {.kernel = evc_bn_select_for(features, 0, EVC_USE_ANY,
 *                                       1024), .words = evc_bn_words_select(features, 0),
 *                                       .random = {my_random, NULL}};
 *     size_t scratch_bytes = evc_prime_search_scratch_bytes(search.kernel, 1024);
 *     ... scratch of scratch_bytes bytes ...
 *     enum evc_status status = evc_prime_find(&search, 1024, NULL, 0, p, scratch, scratch_bytes);
 *
 * Numbers are big-endian bytes. A test returns EVC_OK for a prime and EVC_ERR_COMPOSITE for any
 * other number: checking the status is sufficient. Scratch memory is as in everycore/bn.h: it may
 * have any alignment and content, and the call wipes the bytes that it used. Nothing is allocated,
 * and no function needs more than 1 KiB of stack.
 *
 * Which one to use:
 *     a number that somebody else chose and everybody may know     evc_prime_test_public
 *     a secret number, such as a prime of a given RSA key          evc_prime_test_secret
 *     a secret prime for a key                                     evc_prime_find
 *     parameters of Diffie-Hellman                                 evc_prime_find_safe
 *
 * Buffers: an output overlaps no input, and no buffer overlaps scratch memory. Statuses that every
 * call may return:
 *
 * EVC_ERR_KEY_SIZE   numbers of this length are not supported
 * EVC_ERR_KERNEL     a kernel is NULL
 * EVC_ERR_SCRATCH    fewer bytes of scratch memory than the function beside it says
 * EVC_ERR_RANDOM     the caller's randomness failed, or what it gives cannot be random
 */
#ifndef EVERYCORE_PRIME_H
#define EVERYCORE_PRIME_H

#include "everycore/bn.h"
#include "everycore/bn_words.h"
#include "everycore/random.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tests ----------------------------------------------------------------------------------- */

/* Bytes of scratch memory for a test of a number of n_bits bits, a multiple of 8, from 8 to 8192.
 * 0: kernel is NULL, or there is no such length. */
EVC_API size_t evc_prime_test_scratch_bytes(const struct evc_bn *kernel, size_t n_bits);

/*
 * The test of Baillie and Wagstaff (BPSW): trial division, a strong test to base 2, and a
 * strong Lucas test. It needs no randomness. No composite number is known that passes;
 * below 2^64 there is none.
 *
 * n: 1 to 1024 bytes, of which the first may be zero. It is public: time
 * and addresses depend on it.
 *
 * Source: Baillie, Wagstaff: Lucas pseudoprimes, Mathematics of Computation 35 (1980),
 *         section 6, with method A for the parameters. None below 2^64: Baillie, Fiori,
 *         Wagstaff: Strengthening the Baillie-PSW primality test, Mathematics of
 *         Computation 90 (2021), section 1.
 */
EVC_CHECKED enum evc_status evc_prime_test_public(const struct evc_bn *kernel, const uint8_t *n,
                                                  size_t n_bytes, void *scratch,
                                                  size_t scratch_bytes);

/*
 * Strong tests (Miller, Rabin) of a secret number to given bases: n_bases numbers of n_bytes bytes
 * each, one behind the other, from 2 to n - 2. The test ends with EVC_ERR_COMPOSITE at the first
 * base that proves n composite.
 *
 * n: 16 to 1024 bytes, the first of which is not zero. Time depends on the length, on the number of
 * bases, on the result, and on whether n is 3 modulo 4, which is twice as fast. It depends on
 * nothing else of n and the bases. An attacker who knows the bases beforehand can choose composite
 * numbers that pass; evc_prime_test_secret draws random bases.
 *
 * EVC_ERR_MODULUS   n is even, or its first byte is zero
 * EVC_ERR_LENGTH    n_bases is 0
 * EVC_ERR_RANGE     a base is not from 2 to n - 2
 */
EVC_CHECKED enum evc_status evc_prime_test_bases(const struct evc_bn *kernel, const uint8_t *n,
                                                 size_t n_bytes, const uint8_t *bases,
                                                 size_t n_bases, void *scratch,
                                                 size_t scratch_bytes);

/* evc_prime_test_bases with n_rounds random bases, 1 or more: a composite number passes with a
 * probability of at most 4^-n_rounds, whoever chose it (Rabin 1980).
 * EVC_ERR_LENGTH: n_rounds is 0. */
EVC_CHECKED enum evc_status evc_prime_test_secret(const struct evc_bn *kernel, const uint8_t *n,
                                                  size_t n_bytes, size_t n_rounds,
                                                  const struct evc_random *random, void *scratch,
                                                  size_t scratch_bytes);

/*
 * Rounds that a random number of n_bits bits needs, so that a composite one passes with a
 * probability of at most 2^-128: 64 below 512 bits, where that holds for any number; 13 from 512, 6
 * from 1024 and 4 from 1536 bits on, by theorem 2 of Damgard, Landrock, Pomerance: Average case
 * error estimates for the strong probable prime test, Mathematics of Computation 61 (1993). For
 * random odd numbers the theorem gives at most 2^-133 here. Primes of searches begin with two bits
 * 1 and are 3 modulo 4, which a quarter of the odd numbers are, so the bound becomes 2^-131. The
 * theorem does not cover that candidates of a search are neighbours. Numbers that somebody else
 * chose need 64 rounds.
 */
EVC_API unsigned evc_prime_rounds(size_t n_bits);

/* ---- Searches -------------------------------------------------------------------------------- */

/* Progress of a search, for `report`. */
struct evc_prime_progress {
    uint32_t sieves;  /* windows of candidates from which multiples of small primes were struck */
    uint32_t tests;   /* candidates that were left and tested to base 2; of
                       * safe primes, numbers q */
    uint32_t seconds; /* tests to base 2 of 2q + 1, where q passed; only of safe primes */
    uint32_t rounds;  /* tests to random bases of the candidate that passed */
};

struct evc_prime_search {
    const struct evc_bn *kernel;
    const struct evc_bn_words *words;
    struct evc_random random;

    /* Called after each test, or after several that ran side by side, before their results are
     * used. May be NULL. If it returns anything but 0, the search ends with EVC_ERR_STOPPED. */
    int (*report)(void *context, const struct evc_prime_progress *progress);
    void *report_context;
};

/* Bytes of scratch memory for a search for a prime of p_bits bits. 0: kernel is NULL, or the length
 * is not supported. */
EVC_API size_t evc_prime_search_scratch_bytes(const struct evc_bn *kernel, size_t p_bits);

/*
 * A secret prime of p_bits bits, 128 to 8192, a multiple of 8. Its two highest bits are 1, so that
 * the product of two such primes has twice as many bits, as FIPS 186-5 appendix A.1.1 asks
 * (p >= 2^(p_bits - 1/2)); and p = 3 modulo 4.
 *
 * e: an odd number of e_bytes bytes, at most 32, public: p - 1 and e have no common divisor.
 * e_bytes = 0: p is any such prime.
 *
 * Candidates are p0 + 4k with a random p0 and k below 8 p_bits. Multiples of the small primes are
 * struck by masks, all of the window for each prime; then candidates are drawn among those left,
 * each equally likely. So primes behind wide gaps are hardly more likely than others. Some kernels
 * test up to eight candidates side by side, and take the first of them that passes. It is then
 * tested with evc_prime_rounds(p_bits) random bases.
 *
 * Time depends on p_bits, e, and the number of candidates until one passed. That number says how
 * many others of the window did not pass, and nothing else about the prime.
 *
 * EVC_ERR_PARAMETER   e is even
 * EVC_ERR_LENGTH      e has more than 32 bytes
 * EVC_ERR_STOPPED     `report` returned anything but 0
 *
 * After an error p holds zeros; after EVC_ERR_KEY_SIZE nothing was written.
 */
EVC_CHECKED enum evc_status evc_prime_find(const struct evc_prime_search *search, size_t p_bits,
                                           const uint8_t *e, size_t e_bytes, uint8_t *p,
                                           void *scratch, size_t scratch_bytes);

/*
 * A public safe prime: p = 2q + 1 with q prime, p = 23 modulo 24, so that 2 generates the subgroup
 * of order q. p_bits: as for evc_prime_find; the two highest bits are 1.
 *
 * Time and addresses depend on p, so use it for public parameters only. It takes seconds at 2048
 * bits, minutes at 4096. One sieve strikes q where a small prime divides q or 2q + 1; then 2^(q-1)
 * = 1 modulo q; then 2^q = 1 modulo p, which proves p prime if q is (Pocklington 1914: 2^2 - 1 = 3
 * does not divide p). At the end q is tested once by BPSW and random bases.
 *
 * EVC_ERR_STOPPED     `report` returned anything but 0
 *
 * After an error p holds zeros; after EVC_ERR_KEY_SIZE nothing was written.
 */
EVC_API size_t evc_prime_safe_scratch_bytes(const struct evc_bn *kernel, size_t p_bits);
EVC_CHECKED enum evc_status evc_prime_find_safe(const struct evc_prime_search *search,
                                                size_t p_bits, uint8_t *p, void *scratch,
                                                size_t scratch_bytes);

/* The searches strike out multiples of all primes below this bound. For estimates: a candidate that
 * is left is prime with a probability of 1.781 ln(bound) / ln(2^bits) (Mertens 1874; e to Euler's
 * constant is 1.781). */
EVC_API uint32_t evc_prime_sieve_bound(size_t p_bits, int is_safe);

#ifdef __cplusplus
}
#endif
#endif

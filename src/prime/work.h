/* SPDX-License-Identifier: MIT */
/* The common part of tests and searches: memory cut out of the caller's,
 * and tests of one number. */
#ifndef EVC_PRIME_WORK_H
#define EVC_PRIME_WORK_H

#include "everycore/prime.h"

#include "bn/ops.h"
#include "common/number.h"

/* Tests of numbers of one length. */
struct evc_prime_work {
    const struct evc_bn *kernel;
    size_t n_bytes;
    void *modulus, *scratch; /* of bn */
    size_t modulus_bytes, scratch_bytes;
    uint8_t *base, *power, *half, *other; /* n_bytes each */
};

#define EVC_PRIME_NUMBERS 4 /* base to other */

/* Bytes of memory for numbers of n_bytes bytes, 16 to 1024; it may stand at any address. */
size_t evc_prime_work_bytes(const struct evc_bn *kernel, size_t n_bytes);

/* Cuts the memory into its parts and returns the end of the last. */
uint8_t *evc_prime_work_place(struct evc_prime_work *w, const struct evc_bn *kernel, size_t n_bytes,
                              void *memory);

EVC_INLINE const struct evc_bn_modulus *evc_prime_modulus(const struct evc_prime_work *w)
{
    return w->modulus;
}

/* n becomes the modulus, and half = (n - 1) / 2. n is odd, its first byte not
 * zero; else a status of bn. */
enum evc_status evc_prime_work_set(struct evc_prime_work *w, const uint8_t *n);

/* out = 2 to the exponent modulo n: squares and doublings. The exponent, of n_bytes
 * bytes, may be secret. */
void evc_prime_power_of_two(struct evc_prime_work *w, const uint8_t *exponent, uint8_t *out);

/* All ones if the number is 1 or n - 1, for the modulus n. */
EVC_INLINE uint32_t evc_prime_is_plus_minus_one(const struct evc_prime_work *w,
                                                const uint8_t *number)
{
    return evc_number_is_plus_minus_one(number, evc_bn_modulus(evc_prime_modulus(w)), w->n_bytes);
}

/* All ones if n, which is 3 modulo 4, passes a strong test to base 2. */
uint32_t evc_prime_passes_two(struct evc_prime_work *w);

/* The same of a public n, whose bits show in the time. */
uint32_t evc_prime_passes_two_public(struct evc_prime_work *w);

/* base = a random number from 2 to n - 2. */
enum evc_status evc_prime_draw_base(struct evc_prime_work *w, const struct evc_random *random);

/* Strong tests to random bases. */
enum evc_status evc_prime_random_bases(struct evc_prime_work *w, size_t n_rounds,
                                       const struct evc_random *random);

#endif

/* SPDX-License-Identifier: MIT */
/* The common part of tests and searches: memory cut out of the caller's,
 * and tests of one number. */
#ifndef EVC_PRIME_WORK_H
#define EVC_PRIME_WORK_H

#include "everycore/prime.h"

#include "bn/ops.h"
#include "common/ct.h"

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

/* All ones if the number is 1, or n - 1 for an odd n. */
uint32_t evc_prime_is_one_of(const uint8_t *number, size_t n_bytes);
uint32_t evc_prime_is_minus_one_of(const uint8_t *n, const uint8_t *number, size_t n_bytes);

/* The same for the modulus. */
uint32_t evc_prime_is_one(const struct evc_prime_work *w, const uint8_t *number);
uint32_t evc_prime_is_minus_one(const struct evc_prime_work *w, const uint8_t *number);

/* All ones if n, which is 3 modulo 4, passes a strong test to base 2. */
uint32_t evc_prime_passes_two(struct evc_prime_work *w);

/* The same of a public n, whose bits show in the time. */
uint32_t evc_prime_passes_two_public(struct evc_prime_work *w);

/* base = a random number from 2 to n - 2. */
enum evc_status evc_prime_draw_base(struct evc_prime_work *w, const struct evc_random *random);

/* Strong tests to random bases. */
enum evc_status evc_prime_random_bases(struct evc_prime_work *w, size_t n_rounds,
                                       const struct evc_random *random);

/* Random bytes of the caller's, or EVC_ERR_RANDOM. */
enum evc_status evc_prime_draw(const struct evc_random *random, uint8_t *out, size_t n_bytes);

/* out = n shifted right by one bit; out may be n. */
void evc_prime_halve(uint8_t *out, const uint8_t *n, size_t n_bytes);

/* number += addend. */
void evc_prime_add(uint8_t *number, size_t n_bytes, uint32_t addend);

#endif

/* SPDX-License-Identifier: MIT */
/* Numbers that wait for a test to base 2, so that a kernel with lanes tests them side by
 * side. Numbers are secret. */
#ifndef EVC_PRIME_SIDE_H
#define EVC_PRIME_SIDE_H

#include "prime/work.h"

#define EVC_PRIME_MOST_SIDE 8

/* Parts of the memory, with `most` numbers of n_bytes bytes each: `half` is (number - 1) / 2. */
struct evc_prime_side {
    const struct evc_bn *kernel;
    void *moduli, *scratch; /* of bn */
    size_t modulus_bytes, scratch_bytes;
    uint8_t *number, *half, *power, *base;
    uint32_t *passed; /* results of evc_prime_side_test */
    size_t n_bytes, most, n;
};

/* Numbers that are tested side by side, at most; 1: the kernel tests one at a time, and
 * the rest is not used. */
size_t evc_prime_side_most(const struct evc_bn *kernel);

/* Bytes of memory, at any address, for numbers of n_bytes bytes. 0: one at a time. */
size_t evc_prime_side_bytes(const struct evc_bn *kernel, size_t n_bytes);
void evc_prime_side_place(struct evc_prime_side *s, const struct evc_bn *kernel, size_t n_bytes,
                          void *memory);

/* Adds a number that is 3 modulo 4 and whose first byte is not zero; s->n below s->most. */
enum evc_status evc_prime_side_add(struct evc_prime_side *s, const uint8_t *number);

EVC_INLINE const uint8_t *evc_prime_side_number(const struct evc_prime_side *s, size_t i)
{
    return s->number + i * s->n_bytes;
}

/* Sets passed[i] to all ones for each of the s->n numbers that passes a strong test to base 2, else
 * to 0. Then s->n is 0, but numbers and results stay where they are. */
enum evc_status evc_prime_side_test(struct evc_prime_side *s);

/* Strong tests of the modulus of w, which is 3 modulo 4, to so many random bases, at most `most`.
 * EVC_ERR_COMPOSITE if one fails. Numbers and passed[] stay as they are. */
enum evc_status evc_prime_side_random_bases(struct evc_prime_side *s, struct evc_prime_work *w,
                                            size_t n_rounds, const struct evc_random *random);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Numbers as limbs of any width, the least significant first: bytes, the modulus, sums. A kernel
 * defines LIMB_BITS, which is 64, 32 or 16, and includes this, or columns_steps.h with it.
 * BN_LIMBS_SLOTS are slots of its descriptor then. Numbers are held in whole blocks of
 * LIMBS_IN_BLOCK limbs, and R is a power of 2^(LIMB_BITS * LIMBS_IN_R): one limb each, unless the
 * kernel defines them. Scratch memory is that of SCRATCH_NUMBERS numbers, 3 unless it is defined: a
 * double product and the digits of the reduction.
 *
 * Every loop has a count that follows from the length of the modulus alone.
 */
#ifndef EVC_BN_LIMBS_STEPS_H
#define EVC_BN_LIMBS_STEPS_H

#include "bn/kernel.h"

#include "common/bytes.h"
#include "common/carry.h"

#if LIMB_BITS == 64
typedef uint64_t limb;
__extension__ typedef unsigned __int128 wide;
#elif LIMB_BITS == 32
typedef uint32_t limb;
typedef uint64_t wide;
#else
typedef uint16_t limb;
typedef uint32_t wide;
#endif
#define LIMB_BYTES (LIMB_BITS / 8)
#if !defined(LIMBS_IN_BLOCK)
#define LIMBS_IN_BLOCK 1
#endif
#if !defined(LIMBS_IN_R)
#define LIMBS_IN_R 1
#endif
#if !defined(SCRATCH_NUMBERS)
#define SCRATCH_NUMBERS 3
#endif

struct private_part {
    EVC_ALIGN(16) limb n0; /* -1 / n modulo 2^LIMB_BITS */
    EVC_ALIGN(16) limb n[]; /* the modulus */
};

EVC_INLINE const struct private_part *private_part(const void *key)
{
    return EVC_BN_PRIVATE_CONST(key);
}

/* Limbs of n_bytes bytes, in whole pieces of so many. */
EVC_INLINE size_t limbs_in_pieces(size_t n_bytes, size_t piece)
{
    return (n_bytes + piece * LIMB_BYTES - 1) / (piece * LIMB_BYTES) * piece;
}

/* Limbs of R. If a kernel has blocks of LIMBS_IN_WIDE_BLOCK, a long number that lacks two limbs of
 * one takes it whole: that costs less than the other way. */
EVC_INLINE size_t limbs_of_r(size_t n_bytes)
{
    const size_t limbs = limbs_in_pieces(n_bytes, LIMBS_IN_R);

#if defined(LIMBS_IN_WIDE_BLOCK)
    if (limbs > 4 * LIMBS_IN_WIDE_BLOCK && limbs % LIMBS_IN_WIDE_BLOCK == LIMBS_IN_WIDE_BLOCK - 2)
        return limbs + 2;
#endif
    return limbs;
}

/* Limbs that are held. */
EVC_INLINE size_t limbs_for(size_t n_bytes)
{
    return limbs_in_pieces(n_bytes, LIMBS_IN_BLOCK);
}

static void shape(size_t n_bytes, struct evc_bn_shape *s)
{
    const size_t limbs = limbs_for(n_bytes);

    s->r_bits = (uint32_t)(LIMB_BITS * limbs_of_r(n_bytes));
    s->loaded_bits = 0;
    s->form_bytes = (uint32_t)EVC_BN_ROUND16(LIMB_BYTES * limbs);
    s->private_bytes = 16 + s->form_bytes;
    s->scratch_bytes = SCRATCH_NUMBERS * s->form_bytes;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static void load(const void *key, void *r, const uint8_t *in, size_t in_bytes)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    limb *x = r;

    for (size_t i = 0; i < limbs; i++) {
        limb word = 0;
#if LIMB_BITS == 64
        if (LIMB_BYTES * (i + 1) <= in_bytes) {
            x[i] = evc_load64_be(in + in_bytes - LIMB_BYTES * (i + 1));
            continue;
        }
#endif
        for (size_t j = 0; j < LIMB_BYTES; j++) {
            const size_t at = i * LIMB_BYTES + j;
            if (at < in_bytes)
                word |= (limb)((limb)in[in_bytes - 1 - at] << 8 * j);
        }
        x[i] = word;
    }
}

static void store(const void *key, uint8_t *out, const void *a)
{
    const size_t n_bytes = evc_bn_n_bytes(key);
    const limb *x = a;
    size_t i = 0;

#if LIMB_BITS == 64
    for (; i + LIMB_BYTES <= n_bytes; i += LIMB_BYTES)
        evc_store64_be(out + n_bytes - i - LIMB_BYTES, x[i / LIMB_BYTES]);
#endif
    for (; i < n_bytes; i++)
        out[n_bytes - 1 - i] = (uint8_t)(x[i / LIMB_BYTES] >> 8 * (i % LIMB_BYTES));
}

/* Newton's iteration doubles the bits that are right: from 3, for n n = 1 modulo 8. */
static void set_modulus(void *key, const uint8_t *n)
{
    struct private_part *p = EVC_BN_PRIVATE(key);
    limb inverse;

    load(key, p->n, n, evc_bn_n_bytes(key));
    inverse = p->n[0];
    for (int bits = 3; bits < LIMB_BITS; bits *= 2)
        inverse = (limb)((wide)inverse * (limb)(2u - (limb)((wide)p->n[0] * inverse)));
    p->n0 = (limb)(0u - inverse);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* Whether sums of two limbs are made by the CPU's own carry. */
#if defined(EVC_ADD_CARRY) && LIMB_BITS == (EVC_WORD64 ? 64 : 32)
#define CARRY_OF_CPU 1
#else
#define CARRY_OF_CPU 0
#endif

/* r = a + b; returns the carry, 0 or 1. */
EVC_INLINE limb add_limbs(limb *r, const limb *a, const limb *b, size_t limbs)
{
    size_t i = 0;
    limb carry = 0;

#if CARRY_OF_CPU
    for (; i + 1 < limbs; i += 2) {
        limb lower = a[i], upper = a[i + 1];
        EVC_ADD_CARRY(lower, upper, carry, b[i], b[i + 1]);
        r[i] = lower;
        r[i + 1] = upper;
    }
    carry &= 1;
#endif
    for (; i < limbs; i++) {
        const wide sum = (wide)a[i] + b[i] + carry;
        r[i] = (limb)sum;
        carry = (limb)(sum >> LIMB_BITS);
    }
    return carry;
}

/* r = a - b; returns the borrow, 0 or 1. */
EVC_INLINE limb subtract(limb *r, const limb *a, const limb *b, size_t limbs)
{
    size_t i = 0;
    limb borrow = 0;

#if CARRY_OF_CPU
    for (; i + 1 < limbs; i += 2) {
        limb lower = a[i], upper = a[i + 1];
        EVC_SUBTRACT_CARRY(lower, upper, borrow, b[i], b[i + 1]);
        r[i] = lower;
        r[i + 1] = upper;
    }
    borrow &= 1;
#endif
    for (; i < limbs; i++) {
        const wide difference = (wide)a[i] - b[i] - borrow;
        r[i] = (limb)difference;
        borrow = (limb)(difference >> LIMB_BITS) & 1;
    }
    return borrow;
}

/* r = the number of limbs at a and of the carry above it, 0 or 1, less n if that is not negative.
 * difference: as many limbs. */
EVC_INLINE void subtract_modulus(limb *r, const limb *a, limb carry, const limb *n,
                                 limb *difference, size_t limbs)
{
    const limb borrow = subtract(difference, a, n, limbs);
    limb keep = (limb)(0u - (limb)(borrow & (carry ^ 1u)));

    EVC_KEEP(keep);
    for (size_t i = 0; i < limbs; i++)
        r[i] = (limb)((a[i] & keep) | (difference[i] & (limb)~keep));
}

static void add(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    limb *const sum = scratch;
    const limb carry = add_limbs(sum, a, b, limbs);

    subtract_modulus(r, sum, carry, private_part(key)->n, sum + limbs, limbs);
}

static void sub(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    const limb *n = private_part(key)->n;
    limb *const difference = scratch, *const to = r;
    limb mask = (limb)(0u - subtract(difference, a, b, limbs)), carry = 0;

    EVC_KEEP(mask);
    for (size_t i = 0; i < limbs; i++) {
        const wide s = (wide)difference[i] + (n[i] & mask) + carry;
        to[i] = (limb)s;
        carry = (limb)(s >> LIMB_BITS);
    }
}

/* The slots of a descriptor that all kernels with limbs share, behind its head. */
#define BN_LIMBS_SLOTS                                                                    \
    .lanes = 1, .shape = shape, .set_modulus = set_modulus, .load = load, .store = store, \
    .add = add, .sub = sub

#endif

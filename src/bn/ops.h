/* SPDX-License-Identifier: MIT */
/*
 * Operations on numbers in a kernel's form, for code above kernels. They do not clear registers and
 * stack: a public call does, once, after the last of them.
 */
#ifndef EVC_BN_OPS_H
#define EVC_BN_OPS_H

#include "bn/kernel.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/ct.h"
#include "common/key_memory.h"
#include "common/number.h"

/* ---- The parts of a modulus ---------------------------------------------------------------------
 * The head, what is the kernel's own, the bytes of the modulus, then the
 * form of 1 and that of R. */

EVC_INLINE size_t evc_bn_bytes_at(const struct evc_bn_shape *shape)
{
    return EVC_BN_HEAD_BYTES + shape->private_bytes;
}

EVC_INLINE size_t evc_bn_one_at(const struct evc_bn_shape *shape, size_t n_bytes)
{
    return evc_bn_bytes_at(shape) + EVC_BN_ROUND16(n_bytes);
}

EVC_INLINE const uint8_t *evc_bn_modulus(const struct evc_bn_modulus *n)
{
    return (const uint8_t *)n + evc_bn_bytes_at(&n->shape);
}

/* 1 in the kernel's form: R modulo n. */
EVC_INLINE const void *evc_bn_one(const struct evc_bn_modulus *n)
{
    return (const uint8_t *)n + evc_bn_one_at(&n->shape, n->n_bytes);
}

/* R in the kernel's form: R^2 modulo n. A product with it brings a number into the form. */
EVC_INLINE const void *evc_bn_r2(const struct evc_bn_modulus *n)
{
    return (const uint8_t *)evc_bn_one(n) + n->shape.form_bytes;
}

/* ---- Scratch memory -----------------------------------------------------------------------------
 * Pieces of it, from the first multiple of 64 on; sizes of scratch memory have
 * EVC_BN_SLACK for that. */

#define EVC_BN_SLACK 63u
#define EVC_BN_TEMPORARIES 4 /* numbers, beside the table of an exponentiation */
#define EVC_BN_WINDOW_BITS 5 /* at most */

EVC_INLINE uint8_t *evc_bn_scratch_start(void *scratch)
{
    return (uint8_t *)scratch + ((uintptr_t)0 - (uintptr_t)scratch) % 64;
}

/* Bytes of scratch memory with n_numbers numbers. */
EVC_INLINE size_t evc_bn_scratch_for(const struct evc_bn_shape *shape, size_t n_numbers)
{
    return EVC_BN_SLACK + ((size_t)shape->scratch_bytes + 63) / 64 * 64 +
           n_numbers * shape->form_bytes;
}

/* Layout of scratch memory: first that of the kernel, then numbers. */
EVC_INLINE void *evc_bn_number(const struct evc_bn_modulus *n, void *scratch, size_t index)
{
    const size_t kernels = ((size_t)n->shape.scratch_bytes + 63) / 64 * 64;

    return evc_bn_scratch_start(scratch) + kernels + index * n->shape.form_bytes;
}

/* ---- Operations ------------------------------------------------------------------------------ */

EVC_INLINE void evc_bn_op_mul(const struct evc_bn_modulus *n, void *r, const void *a, const void *b,
                              void *scratch)
{
    n->kernel->mul(n, r, a, b, evc_bn_scratch_start(scratch));
}

EVC_INLINE void evc_bn_op_sqr(const struct evc_bn_modulus *n, void *r, const void *a, void *scratch)
{
    n->kernel->sqr(n, r, a, evc_bn_scratch_start(scratch));
}

EVC_INLINE void evc_bn_op_add(const struct evc_bn_modulus *n, void *r, const void *a, const void *b,
                              void *scratch)
{
    n->kernel->add(n, r, a, b, evc_bn_scratch_start(scratch));
}

/* r = the kernel's form of the number in n_bytes bytes, which may be beyond the modulus. */
EVC_INLINE void evc_bn_op_enter(const struct evc_bn_modulus *n, void *r, const uint8_t *in,
                                size_t in_bytes, void *scratch)
{
    n->kernel->load(n, r, in, in_bytes);
    evc_bn_op_mul(n, r, r, evc_bn_r2(n), scratch);
}

/* out = the number whose form a is; a is lost, and so is temporary. */
EVC_INLINE void evc_bn_op_leave(const struct evc_bn_modulus *n, uint8_t *out, void *a,
                                void *temporary, void *scratch)
{
    static const uint8_t one = 1;

    n->kernel->load(n, temporary, &one, 1);
    evc_bn_op_mul(n, a, temporary, a, scratch);
    n->kernel->store(n, out, a);
}

/* r = entry number index of a table of n_entries numbers; all of them are read. */
void evc_bn_op_select(const struct evc_bn_modulus *n, void *r, const void *table, size_t n_entries,
                      size_t index);

/* factor = the same, and r = r to the power of 2^n_squares, times factor. n_squares: 1 or more. r
 * may be beyond the modulus then: it is to be multiplied, but not to be added or stored. */
EVC_INLINE void evc_bn_op_raise(const struct evc_bn_modulus *n, void *r, unsigned n_squares,
                                void *factor, const void *table, size_t n_entries, size_t index,
                                void *scratch)
{
    if (n->kernel->raise) {
        n->kernel->raise(n, r, n_squares, factor, table, n_entries, index,
                         evc_bn_scratch_start(scratch));
        return;
    }
    for (; n_squares; n_squares--)
        evc_bn_op_sqr(n, r, r, scratch);
    evc_bn_op_select(n, factor, table, n_entries, index);
    evc_bn_op_mul(n, r, r, factor, scratch);
}

/* ---- What public functions begin and end with ------------------------------------------------ */

/* Whether the modulus is set up and the scratch memory is large enough; and the operands, n_bytes
 * bytes each, below the modulus. */
enum evc_status evc_bn_check(const struct evc_bn_modulus *n, size_t scratch_bytes);
enum evc_status evc_bn_check_operands(const struct evc_bn_modulus *n, const uint8_t *a,
                                      const uint8_t *b, size_t scratch_bytes);

/* Wipes the kernel's part of scratch memory and the first n_numbers numbers, and clears
 * what operations left. It is part of its caller: a frame of its own would cover what
 * operations left where it lies. */
EVC_INLINE void evc_bn_end(const struct evc_bn_modulus *n, void *scratch, size_t n_numbers)
{
    evc_wipe(scratch, evc_bn_scratch_for(&n->shape, n_numbers));
    evc_clear(&n->kernel->kernel);
}

#endif

/* SPDX-License-Identifier: MIT */
/* The parts of keys of RSA, and of scratch memory. */
#ifndef EVC_RSA_PARTS_H
#define EVC_RSA_PARTS_H

#include "everycore/rsa.h"

#include "bn/ops.h"
#include "common/draw.h"

/* ---- Keys ---------------------------------------------------------------------------------------
 * A public key: the head, the modulus n. A private key: the head, a public key, the moduli p and q,
 * numbers in the kernel's form, and then d of n_bytes bytes, dp and dq of p_bytes bytes each, and
 * the last bytes up to a multiple of
 * 16. */

#define EVC_RSA_PUBLIC_HEAD EVC_BN_ROUND16(sizeof(struct evc_rsa_public))
#define EVC_RSA_PRIVATE_HEAD EVC_BN_ROUND16(sizeof(struct evc_rsa_private))

EVC_INLINE size_t evc_rsa_half(size_t n_bytes)
{
    return (n_bytes + 1) / 2;
}

EVC_INLINE size_t evc_rsa_modulus_bytes(const struct evc_bn *kernel, size_t n_bytes)
{
    return EVC_BN_ROUND16(evc_bn_modulus_bytes(kernel, 8 * n_bytes));
}

EVC_INLINE const struct evc_bn_modulus *evc_rsa_n(const struct evc_rsa_public *key)
{
    return (const void *)((const uint8_t *)key + EVC_RSA_PUBLIC_HEAD);
}

EVC_INLINE const struct evc_rsa_public *evc_rsa_public_part(const struct evc_rsa_private *key)
{
    return (const void *)((const uint8_t *)key + EVC_RSA_PRIVATE_HEAD);
}

/* is_q: 0 for p, 1 for q. */
EVC_INLINE const struct evc_bn_modulus *evc_rsa_prime(const struct evc_rsa_private *key, int is_q)
{
    const size_t prime_bytes = evc_rsa_modulus_bytes(key->kernel, key->p_bytes);
    const size_t n_part = EVC_RSA_PUBLIC_HEAD + evc_rsa_modulus_bytes(key->kernel, key->n_bytes);

    return (const void *)((const uint8_t *)evc_rsa_public_part(key) + n_part +
                          (is_q ? prime_bytes : 0));
}

/* Numbers in the kernel's form: 2^(8 p_bytes) modulo p and modulo q, qinv modulo p, q modulo n. */
enum evc_rsa_form { EVC_RSA_FOLD_P, EVC_RSA_FOLD_Q, EVC_RSA_QINV, EVC_RSA_Q };

EVC_INLINE const uint8_t *evc_rsa_form(const struct evc_rsa_private *key, enum evc_rsa_form form)
{
    const uint8_t *const q = (const uint8_t *)evc_rsa_prime(key, 1);

    return q + evc_rsa_modulus_bytes(key->kernel, key->p_bytes) +
           (size_t)form * evc_rsa_prime(key, 0)->shape.form_bytes;
}

EVC_INLINE const uint8_t *evc_rsa_d(const struct evc_rsa_private *key)
{
    return evc_rsa_form(key, EVC_RSA_Q) + evc_rsa_n(evc_rsa_public_part(key))->shape.form_bytes;
}

/* d modulo p - 1, or modulo q - 1. */
EVC_INLINE const uint8_t *evc_rsa_d_of(const struct evc_rsa_private *key, int is_q)
{
    return evc_rsa_d(key) + key->n_bytes + (is_q ? key->p_bytes : 0);
}

/* ---- Scratch memory -------------------------------------------------------------------------- */

/* The next n_bytes bytes, and as many more as make the end a multiple of 16. */
EVC_INLINE void *evc_rsa_cut(uint8_t **at, size_t n_bytes)
{
    uint8_t *const piece = *at;

    *at += EVC_BN_ROUND16(n_bytes);
    return piece;
}

EVC_INLINE uint8_t *evc_rsa_scratch_start(void *scratch)
{
    return evc_out_at(scratch, ((uintptr_t)0 - (uintptr_t)scratch) % 16);
}

/* Bytes of scratch memory of raw operations side by side, and of a set-up. */
size_t evc_rsa_raw_bytes(const struct evc_bn *kernel, size_t n_bytes, size_t n_operations);
size_t evc_rsa_setup_bytes(const struct evc_bn *kernel, size_t n_bytes);

#define EVC_RSA_SIDE_BY_SIDE 8 /* operations, at most: 16 exponentiations */

/* ---- Generation ------------------------------------------------------------------------------ */

/* The places of numbers in the memory of evc_rsa_generate. */
struct evc_rsa_places {
    uint8_t *n, *d, *p, *q, *dp, *dq, *qinv, *e;
};

struct evc_rsa_places evc_rsa_places_in(uint8_t *memory, size_t p_bytes);

/* Bytes of scratch memory for evc_rsa_complete. */
size_t evc_rsa_complete_bytes(size_t p_bytes);

/* All numbers out of p, q and e; p and q are exchanged if q is the larger one. Both are 3 modulo 4.
 * EVC_ERR_COMPOSITE: these primes make no key, which random ones do once in 2^100 times. */
enum evc_status evc_rsa_complete(const struct evc_rsa_places *at, size_t p_bytes, size_t e_bytes,
                                 void *scratch);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * RSA on top of any kernel of bn: keys, and the raw operations.
 *
 *     EVC_ALIGN(16) static uint8_t memory[EVC_RSA_MOST_PRIVATE_BYTES(2048)];
 *     static uint8_t scratch[EVC_RSA_MOST_SCRATCH_BYTES(2048)];
 *     enum evc_status status = evc_rsa_set_best_private_in(
 *         memory, sizeof memory, evc_cpu_features(), 0, &numbers, 0, scratch, sizeof scratch);
 *     const struct evc_rsa_private *key = (const void *)memory;
 *     if (status == EVC_OK)
 *         status = evc_rsa_private(key, in, out, &random, scratch, sizeof scratch);
 *     evc_wipe(memory, sizeof memory);
 *
 * The raw operations are for protocols with a padding of their own. For signatures and encryption
 * use everycore/rsa_padding.h.
 *
 * Numbers are big-endian bytes. n, e, lengths and statuses are public. The other numbers of a
 * private key, the randomness, and the results of private operations are secret: calls handle them
 * in constant time and clear them as everycore/bn.h says. Scratch memory may have any alignment;
 * the call wipes the bytes that it used. An output overlaps no input, and no buffer overlaps a key
 * or scratch memory. A key or an input must not be changed or wiped while a call runs, neither by
 * another thread nor by the caller's own functions for randomness and hashes.
 *
 * Sources: RFC 8017 (PKCS #1 version 2.2, 2016), FIPS 186-5 (2023), SP 800-56B revision 2 (2019).
 */
#ifndef EVERYCORE_RSA_H
#define EVERYCORE_RSA_H

#include "everycore/bn.h"
#include "everycore/prime.h"
#include "everycore/random.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Keys ------------------------------------------------------------------------------------ */

#define EVC_RSA_MOST_E_BYTES 32u /* FIPS 186-5, appendix A.1.1: e < 2^256 */

/* A private key as in PKCS #1: n = p q; e dp = 1 modulo p - 1, e dq = 1 modulo q - 1; d = dp modulo
 * p - 1, d = dq modulo q - 1; q qinv = 1 modulo p. */
struct evc_rsa_numbers {
    const uint8_t *n, *d;                   /* n_bytes bytes each; the first one of n is not zero */
    const uint8_t *e;                       /* e_bytes bytes */
    const uint8_t *p, *q, *dp, *dq, *qinv;  /* p_bytes bytes each; the first ones
                                             * of p and q are not zero */
    uint32_t n_bytes, e_bytes, p_bytes;     /* p_bytes: half of n_bytes, rounded up */
    /* Lengths in bytes of numbers that are given without leading zeros, as in DER. 0: the length is
     * as above. These lengths are public. */
    uint32_t d_bytes, dp_bytes, dq_bytes, qinv_bytes;
};

/* The heads of keys that are set up, in memory of the caller. The library uses the rest of that
 * memory. A key may be copied as a whole to memory that is aligned to 16 bytes. */
struct evc_rsa_public {
    const struct evc_bn *kernel;
    uint32_t n_bits, n_bytes;
    uint32_t e_bytes;
    uint8_t e[EVC_RSA_MOST_E_BYTES]; /* without leading zeros */
};

struct evc_rsa_private {
    const struct evc_bn *kernel;
    uint32_t n_bytes, p_bytes;
};

/* Bytes of memory for a key whose n has n_bits bits, 256 to 8192. 0: kernel is NULL, or
 * there is no such length. */
EVC_API size_t evc_rsa_public_bytes(const struct evc_bn *kernel, size_t n_bits);
EVC_API size_t evc_rsa_private_bytes(const struct evc_bn *kernel, size_t n_bits);

/* Bytes of scratch memory for any call with one key but evc_rsa_check_key. 0: as above. */
EVC_API size_t evc_rsa_scratch_bytes(const struct evc_bn *kernel, size_t n_bits);

/* Bytes that are enough with every kernel of this library, as EVC_BN_MOST_MODULUS_BYTES. */
#define EVC_RSA_MOST_PUBLIC_BYTES(n_bits) (3 * (size_t)(n_bits) + 512)
#define EVC_RSA_MOST_PRIVATE_BYTES(n_bits) (7 * (size_t)(n_bits) + 1040)
/* with those of everycore/rsa_padding.h */
#define EVC_RSA_MOST_SCRATCH_BYTES(n_bits) (18 * (size_t)(n_bits) + 10240)

/*
 * n: n_bytes bytes. e: e_bytes bytes. The first bytes of both may be zero.
 * least_bits: the shortest n that is accepted, in bits; 0 means 2048. An attacker may factor a
 * shorter n.
 * evc_rsa_set_best_public_in: selects the fastest kernel for an n of this length.
 *
 * EVC_ERR_KEY_SIZE    n is shorter than least_bits or than 256 bits, or longer than 8192
 * EVC_ERR_MODULUS     n is even
 * EVC_ERR_KEY         e is even, below 3, not below n, or longer than 32 bytes
 *                     without its leading zeros
 * EVC_ERR_KERNEL, EVC_ERR_ALIGNMENT, EVC_ERR_OVERLAP   as evc_bn_set_modulus_in
 *
 * The memory is wiped first, also if the call then fails: then calls with it return EVC_ERR_KERNEL.
 */
EVC_CHECKED enum evc_status evc_rsa_set_public_in(void *memory, size_t memory_bytes,
                                                  const struct evc_bn *kernel, const uint8_t *n,
                                                  size_t n_bytes, const uint8_t *e, size_t e_bytes,
                                                  size_t least_bits);
EVC_CHECKED enum evc_status evc_rsa_set_best_public_in(void *memory, size_t memory_bytes,
                                                       uint64_t features, unsigned policy,
                                                       const uint8_t *n, size_t n_bytes,
                                                       const uint8_t *e, size_t e_bytes,
                                                       size_t least_bits);

/*
 * Sets up a private key. The call checks all numbers against each other, which takes about as long
 * as two private operations. It does not test whether p and q are prime: evc_rsa_check_key does.
 * evc_rsa_set_best_private_in: selects the fastest kernel for one operation, by the length of p.
 * The size of the memory depends on the length of n. For evc_rsa_private_many, select a kernel with
 * EVC_USE_PARALLEL.
 *
 * EVC_ERR_KEY        the numbers are no key: one of the equations above does not
 *                    hold, or a length is wrong
 * EVC_ERR_SCRATCH    fewer bytes than evc_rsa_scratch_bytes() says
 * others             as evc_rsa_set_public_in
 *
 * Wipes the memory as evc_rsa_set_public_in does.
 */
EVC_CHECKED enum evc_status evc_rsa_set_private_in(void *memory, size_t memory_bytes,
                                                   const struct evc_bn *kernel,
                                                   const struct evc_rsa_numbers *numbers,
                                                   size_t least_bits, void *scratch,
                                                   size_t scratch_bytes);
EVC_CHECKED enum evc_status evc_rsa_set_best_private_in(void *memory, size_t memory_bytes,
                                                        uint64_t features, unsigned policy,
                                                        const struct evc_rsa_numbers *numbers,
                                                        size_t least_bits, void *scratch,
                                                        size_t scratch_bytes);

/* The public half, which lies in the memory of the private key. NULL: the key is not set up. */
EVC_API const struct evc_rsa_public *evc_rsa_public_of(const struct evc_rsa_private *key);

/*
 * Tests whether p and q are prime: 64 rounds of Miller and Rabin with random bases each, so that a
 * composite number passes with a probability of at most 2^-128, whoever chose it. Call it once for
 * a key of unknown origin.
 *
 * EVC_ERR_COMPOSITE   p or q is no prime
 * EVC_ERR_RANDOM      the randomness failed
 * EVC_ERR_KERNEL      the key is not set up
 * EVC_ERR_SCRATCH     fewer bytes than evc_rsa_check_scratch_bytes() says
 */
EVC_API size_t evc_rsa_check_scratch_bytes(const struct evc_bn *kernel, size_t n_bits);
EVC_CHECKED enum evc_status evc_rsa_check_key(const struct evc_rsa_private *key,
                                              const struct evc_random *random, void *scratch,
                                              size_t scratch_bytes);

/* ---- Generation ------------------------------------------------------------------------------ */

/*
 * Makes a new key of n_bits bits, 1024 to 8192, a multiple of 16, by FIPS 186-5 appendix A.1.3. p
 * and q are random primes of half of the bits each, 3 modulo 4, and differ in their first 100 bits;
 * p is the larger one; d is larger than 2^(n_bits / 2). search: kernel, randomness and report, as
 * for evc_prime_find.
 *
 * e: e_bytes bytes, odd, from 65537 to 2^256; public. memory: evc_rsa_numbers_bytes(n_bits) bytes,
 * any alignment; *numbers points into it. Wipe it when the key is stored or set up.
 *
 * Time depends on n_bits, e, and on how many candidates were tested.
 *
 * EVC_ERR_KEY_SIZE   no such length
 * EVC_ERR_PARAMETER  e is even, below 65537, or longer than 32 bytes
 * EVC_ERR_KERNEL     a kernel is NULL, or the memory is too small
 * EVC_ERR_SCRATCH    fewer bytes than evc_rsa_generate_scratch_bytes() says
 * EVC_ERR_RANDOM     the randomness failed, or repeats itself
 * EVC_ERR_STOPPED    `report` returned anything but 0
 *
 * The memory is wiped first, also if the call then fails: after an error it holds zeros, and
 * *numbers is empty.
 */
EVC_API size_t evc_rsa_numbers_bytes(size_t n_bits); /* 0: no such length */
EVC_API size_t evc_rsa_generate_scratch_bytes(const struct evc_bn *kernel, size_t n_bits);
EVC_CHECKED enum evc_status evc_rsa_generate(const struct evc_prime_search *search, size_t n_bits,
                                             const uint8_t *e, size_t e_bytes, uint8_t *memory,
                                             size_t memory_bytes, struct evc_rsa_numbers *numbers,
                                             void *scratch, size_t scratch_bytes);

/* ---- Raw operations -------------------------------------------------------------------------- */

/*
 * out = in^e modulo n, of n_bytes bytes each (RSAEP and RSAVP1). Constant-time for `in`, which may
 * be a secret message; the time depends on e.
 *
 * EVC_ERR_RANGE    in is not from 2 to n - 2 (SP 800-56B, section 7.1.1)
 * EVC_ERR_KERNEL   the key is not set up
 * EVC_ERR_SCRATCH  fewer bytes than evc_rsa_scratch_bytes() says
 *
 * After an error out holds zeros; only EVC_ERR_KERNEL leaves it unchanged.
 */
EVC_CHECKED enum evc_status evc_rsa_public(const struct evc_rsa_public *key, const uint8_t *in,
                                           uint8_t *out, void *scratch, size_t scratch_bytes);

/*
 * out = in^d modulo n, of n_bytes bytes each (RSADP and RSASP1), by the Chinese remainder theorem.
 * Bases and exponents modulo p and q are blinded with the caller's randomness, exponents by 64
 * bits. The result is released only if result^e modulo n is `in` again. Otherwise a fault in one
 * half would give p away (Boneh, DeMillo, Lipton 1997).
 *
 * EVC_ERR_RANGE    in is not from 2 to n - 2 (SP 800-56B, section 7.1.2)
 * EVC_ERR_RANDOM   the randomness failed, or gave zeros alone
 * EVC_ERR_FAULT    the result is wrong: the computer, the key or a kernel is faulty
 * EVC_ERR_KERNEL   the key is not set up
 * EVC_ERR_SCRATCH  fewer bytes than evc_rsa_scratch_bytes() says
 *
 * After an error out holds zeros; only EVC_ERR_KERNEL leaves it unchanged.
 */
EVC_CHECKED enum evc_status evc_rsa_private(const struct evc_rsa_private *key, const uint8_t *in,
                                            uint8_t *out, const struct evc_random *random,
                                            void *scratch, size_t scratch_bytes);

/*
 * Many private operations, under one or several keys. Some kernels compute neighbours side by side,
 * if their n have the same length. The call returns EVC_OK if all succeeded, else the first error.
 * The member `status` has the result of each operation; its errors and output are those of
 * evc_rsa_private. scratch_bytes: the most that evc_rsa_many_scratch_bytes() says for any of the
 * keys.
 */
struct evc_rsa_operation {
    const struct evc_rsa_private *key;
    const uint8_t *in;
    uint8_t *out;
    enum evc_status status; /* result */
};

EVC_API size_t evc_rsa_many_scratch_bytes(const struct evc_bn *kernel, size_t n_bits);
EVC_CHECKED enum evc_status evc_rsa_private_many(struct evc_rsa_operation *operations,
                                                 size_t n_operations,
                                                 const struct evc_random *random, void *scratch,
                                                 size_t scratch_bytes);

#ifdef __cplusplus
}
#endif
#endif

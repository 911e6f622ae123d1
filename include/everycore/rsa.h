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
 * The raw operations are of use for protocols that bring a padding of their own. For signatures and
 * encryption take those of everycore/rsa_padding.h.
 *
 * Numbers are big-endian bytes. Secret are the numbers of a private key but n and e, the
 * randomness, and the results of private operations; all are handled in constant time and cleared
 * as everycore/bn.h says. Public are n, e, lengths and statuses. Scratch memory may stand at any
 * address; the call wipes what it used. An output overlaps no input, and nothing overlaps a key or
 * scratch memory. Nobody changes or wipes a key or an input while a call runs: neither another
 * thread nor a function of the caller's that the call uses.
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

/* A private key as PKCS #1 has it: n = p q; e dp = 1 modulo p - 1, e dq = 1 modulo q - 1; d is dp
 * modulo p - 1 and dq modulo q - 1; q qinv = 1 modulo p. */
struct evc_rsa_numbers {
    const uint8_t *n, *d;                   /* n_bytes bytes each; the first one of n is not zero */
    const uint8_t *e;                       /* e_bytes bytes */
    const uint8_t *p, *q, *dp, *dq, *qinv;  /* p_bytes bytes each; the first ones
                                             * of p and q are not zero */
    uint32_t n_bytes, e_bytes, p_bytes;     /* p_bytes: half of n_bytes, rounded up */
    /* Bytes of numbers that are given without their leading zeros, as in DER; 0: as
     * above. These lengths are public. */
    uint32_t d_bytes, dp_bytes, dq_bytes, qinv_bytes;
};

/* Keys made ready, in memory of the caller; the rest of it is the library's own. May be copied to
 * memory that is aligned to 16. */
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
#define EVC_RSA_MOST_PRIVATE_BYTES(n_bits) (7 * (size_t)(n_bits) + 1024)
/* with those of everycore/rsa_padding.h */
#define EVC_RSA_MOST_SCRATCH_BYTES(n_bits) (18 * (size_t)(n_bits) + 10240)

/*
 * n: n_bytes bytes, of which the first may be zero. e: e_bytes bytes, as well.
 * least_bits: the shortest n that is accepted; 0 stands for 2048. Below that
 * an attacker may factor n.
 * evc_rsa_set_best_public_in: with the kernel that is the fastest for an n of this length.
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
 * All numbers are checked against each other, which takes about as long as two private operations.
 * evc_rsa_check_key tests whether p and q are prime.
 * evc_rsa_set_best_private_in: with the kernel that is the fastest for one operation, whose time
 * goes into powers modulo p and q; n_bits of the memory's size are those of n. For
 * evc_rsa_private_many, select with EVC_USE_PARALLEL.
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

/* The public half of a private key, which is in its memory; NULL: the key is not set up. */
EVC_API const struct evc_rsa_public *evc_rsa_public_of(const struct evc_rsa_private *key);

/*
 * Whether p and q are prime: 64 rounds of Miller and Rabin to random bases each, so
 * that a composite number passes with a chance of 2^-128, whoever chose it. Once for
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
 * A new key of n_bits bits, 1024 to 8192, a multiple of 16, by FIPS 186-5 appendix A.1.3: p and
 * q are random primes of half of the bits each (evc_prime_find, with search's kernel,
 * randomness and report), 3 modulo 4, and differ in their first 100 bits; p is the larger one;
 * d is beyond 2^(n_bits / 2).
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
 * EVC_ERR_STOPPED    report asked to
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
 * out = in to the e modulo n, of n_bytes bytes each (RSAEP and RSAVP1). Constant-time for `in`, as
 * it may be a secret that is encrypted; e shows in the time.
 *
 * EVC_ERR_RANGE    in is not from 2 to n - 2 (SP 800-56B, section 7.1.1)
 * EVC_ERR_KERNEL   the key is not set up
 * EVC_ERR_SCRATCH  fewer bytes than evc_rsa_scratch_bytes() says
 *
 * After an error out holds zeros, but for EVC_ERR_KERNEL, which writes nothing.
 */
EVC_CHECKED enum evc_status evc_rsa_public(const struct evc_rsa_public *key, const uint8_t *in,
                                           uint8_t *out, void *scratch, size_t scratch_bytes);

/*
 * out = in to the d modulo n, of n_bytes bytes each (RSADP and RSASP1), by the remainder theorem.
 * Bases are blinded modulo p and modulo q, and so are exponents, by 64 bits; all with the caller's
 * randomness. The result is released only if its power to e, of any length, is `in` again: so a
 * computation that went wrong in one half, which would give p away (Boneh, DeMillo, Lipton 1997),
 * returns a status.
 *
 * EVC_ERR_RANGE    in is not from 2 to n - 2 (SP 800-56B, section 7.1.2)
 * EVC_ERR_RANDOM   the randomness failed, or gave zeros alone
 * EVC_ERR_FAULT    the result is wrong: the computer, the key or a kernel is faulty
 * EVC_ERR_KERNEL   the key is not set up
 * EVC_ERR_SCRATCH  fewer bytes than evc_rsa_scratch_bytes() says
 *
 * After an error out holds zeros, but for EVC_ERR_KERNEL, which writes nothing.
 */
EVC_CHECKED enum evc_status evc_rsa_private(const struct evc_rsa_private *key, const uint8_t *in,
                                            uint8_t *out, const struct evc_random *random,
                                            void *scratch, size_t scratch_bytes);

/*
 * Many private operations, under one or several keys. Kernels with lanes compute neighbours side by
 * side whose keys have n of the same length. Returns EVC_OK if all succeeded, else the first error;
 * each one's is in its status, and its output is as above. scratch_bytes: the most that
 * evc_rsa_many_scratch_bytes() says for any of the keys.
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

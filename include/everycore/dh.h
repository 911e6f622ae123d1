/* SPDX-License-Identifier: MIT */
/*
 * Diffie-Hellman modulo a prime (FFDH), on top of any kernel of bn.
 *
 *     const struct evc_dh_params *params = evc_dh_params_named("ffdhe3072");
 *     EVC_ALIGN(16) static uint8_t memory[EVC_DH_MOST_GROUP_BYTES(3072)];
 *     static uint8_t scratch[EVC_DH_MOST_SCRATCH_BYTES(3072)];
 *     uint8_t x[35], y[384], z[384]; // group->secret_bytes, group->p_bytes, group->p_bytes
 *     const struct evc_random *random = evc_random_system(); // or one of your own
 *     enum evc_status status =
 *         evc_dh_set_best_in(memory, sizeof memory, evc_cpu_features(), 0, params, 0);
 *     const struct evc_dh_group *group = (const void *)memory;
 *     if (status == EVC_OK)
 *         status = evc_dh_make_secret(group, random, x);
 *     if (status == EVC_OK)
 *         status = evc_dh_public(group, x, y, scratch, sizeof scratch);
 *     ... send y, receive the peer's value ...
 *     if (status == EVC_OK)
 *         status = evc_dh_shared(group, x, peer, peer_bytes, 0, z, scratch, sizeof scratch);
 *     evc_wipe(x, group->secret_bytes);
 *
 * z is no key yet: hash it by the key derivation of your protocol. Make a new secret x for each
 * exchange and wipe it afterwards. Then no harm is done if the time of that derivation reveals
 * leading zeros of z (Merget and others 2021, "Raccoon").
 *
 * Numbers are big-endian bytes. x and z are secret: calls handle them in constant time and clear
 * them as everycore/bn.h says. The group, the value of the peer, and statuses are public. Scratch
 * memory may have any alignment; the call wipes the bytes that it used. An output overlaps no
 * input, and no buffer overlaps a group, a table or scratch memory. None of these may be changed or
 * wiped while a call runs.
 *
 * Sources: RFC 3526 (2003), RFC 7919 (2016), SP 800-56A revision 3 (2018).
 */
#ifndef EVERYCORE_DH_H
#define EVERYCORE_DH_H

#include "everycore/bn.h"
#include "everycore/random.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Parameters ------------------------------------------------------------------------------ */

/* Big-endian numbers, the first byte of each not zero. */
struct evc_dh_params {
    const char *name; /* NULL for those of a caller */
    const uint8_t *p; /* a prime of p_bytes bytes */
    const uint8_t *q; /* the order of g, a prime; NULL: p is a safe prime, and q = (p - 1) / 2 */
    const uint8_t *g; /* the generator */
    uint32_t p_bytes, q_bytes, g_bytes;
};

/* "modp1536" to "modp8192" of RFC 3526, "ffdhe2048" to "ffdhe8192" of RFC 7919: g = 2, and p is
 * a safe prime. NULL: no such name. modp1536 is for old peers: evc_dh_set_group_in accepts it only
 * if least_bits is 1536 or less. */
EVC_API const struct evc_dh_params *evc_dh_params_named(const char *name);

/* All of them in turn; NULL past the end. */
EVC_API const struct evc_dh_params *evc_dh_params_at(unsigned index);

/* ---- Groups ---------------------------------------------------------------------------------- */

/* The head of a group that is set up, in memory of the caller. The library uses the rest of that
 * memory. A group may be copied as a whole to memory that is aligned to 16 bytes. */
struct evc_dh_group {
    const struct evc_bn *kernel;
    uint32_t p_bytes;      /* of p, of values, of what is shared */
    uint32_t secret_bytes; /* of a secret x */
    uint32_t has_q;        /* 1: q was given, and every value of a peer is raised to it */
};

/* Bytes of memory for a group with a p of p_bits bits, a multiple of 8, and of scratch memory for
 * any call with it but evc_dh_check_group. 0: kernel is NULL, or there is no such length. */
EVC_API size_t evc_dh_group_bytes(const struct evc_bn *kernel, size_t p_bits);
EVC_API size_t evc_dh_scratch_bytes(const struct evc_bn *kernel, size_t p_bits);

/* Bytes that are enough with every kernel of this library, as EVC_BN_MOST_MODULUS_BYTES. */
#define EVC_DH_MOST_GROUP_BYTES(p_bits) (3 * (size_t)(p_bits) + 512)
#define EVC_DH_MOST_SCRATCH_BYTES(p_bits) (15 * (size_t)(p_bits) + 2048)

/*
 * least_bits: the shortest p that is accepted, in bits; 0 means 2048. With a shorter p an attacker
 * may compute logarithms.
 *
 * Secrets have 29, 35, 41, 47 or 50 bytes for a p of at most 2048, 3072, 4096, 6144, 8192 bits:
 * twice the strength of the group, as RFC 7919 appendix A has it, in whole bytes. With a given q
 * they are numbers below q, of q_bytes bytes.
 *
 * The call does not test whether p and q are prime: evc_dh_check_group does.
 *
 * EVC_ERR_KEY_SIZE    p is shorter than least_bits, or everycore/bn.h does not support its length
 * EVC_ERR_GROUP       p or q is even; a number begins with a zero byte; g is not from 2 to p - 2; q
 *                     is not below p, or shorter than 16 bytes
 * EVC_ERR_PARAMETER   params is NULL, as evc_dh_params_named returns it for an unknown name
 * EVC_ERR_KERNEL, EVC_ERR_ALIGNMENT, EVC_ERR_OVERLAP   as evc_bn_set_modulus_in
 *
 * The memory is wiped first, also if the call then fails: then calls with it return EVC_ERR_KERNEL.
 */
EVC_CHECKED enum evc_status evc_dh_set_group_in(void *memory, size_t memory_bytes,
                                                const struct evc_bn *kernel,
                                                const struct evc_dh_params *params,
                                                size_t least_bits);
/* Selects the fastest kernel for a p of this length. */
EVC_CHECKED enum evc_status evc_dh_set_best_in(void *memory, size_t memory_bytes, uint64_t features,
                                               unsigned policy, const struct evc_dh_params *params,
                                               size_t least_bits);

/*
 * Tests whether parameters that somebody else chose make a group: p and q are prime
 * (evc_prime_test_public), and g has order q, so that q divides p - 1. Call it once for each group,
 * but not for the named groups; it takes longer than an exchange.
 *
 * EVC_ERR_COMPOSITE   p or q is no prime
 * EVC_ERR_GROUP       g to the q is not 1
 * EVC_ERR_KERNEL      the group is not set up
 * EVC_ERR_SCRATCH     fewer bytes than evc_dh_check_scratch_bytes() says
 */
EVC_API size_t evc_dh_check_scratch_bytes(const struct evc_bn *kernel, size_t p_bits);
EVC_CHECKED enum evc_status evc_dh_check_group(const struct evc_dh_group *group, void *scratch,
                                               size_t scratch_bytes);

/* ---- An exchange ----------------------------------------------------------------------------- */

/* x = a secret of secret_bytes bytes: random, not 0, below q. EVC_ERR_RANDOM: the randomness failed
 * or repeats itself; x then holds zeros. EVC_ERR_KERNEL: the group is not set up. */
EVC_CHECKED enum evc_status evc_dh_make_secret(const struct evc_dh_group *group,
                                               const struct evc_random *random, uint8_t *x);

/*
 * y = g^x modulo p, of p_bytes bytes: the value to send.
 *
 * EVC_ERR_RANGE    x is 0
 * EVC_ERR_KERNEL   the group is not set up
 * EVC_ERR_SCRATCH  fewer bytes than evc_dh_scratch_bytes() says
 *
 * After an error y holds zeros; only EVC_ERR_KERNEL leaves it unchanged.
 */
EVC_CHECKED enum evc_status evc_dh_public(const struct evc_dh_group *group, const uint8_t *x,
                                          uint8_t *y, void *scratch, size_t scratch_bytes);

/* A flag: raise the value of the peer to q, to check that it is a power of g. Without this flag a
 * peer can learn the lowest bit of x in a group of a safe prime, by a value of order 2 q. Groups
 * with a given q are always checked. The check costs an exponentiation as long as q. */
#define EVC_DH_CHECK_ORDER 1u

/*
 * z = peer^x modulo p, p_bytes bytes. peer: the value of the peer, 1 to p_bytes bytes; the first
 * ones may be zero.
 * flags: 0 or EVC_DH_CHECK_ORDER.
 *
 * EVC_ERR_PEER       the value is not from 2 to p - 2, or no power of g; or z is 1
 * EVC_ERR_LENGTH     the value has 0 bytes, or more than p_bytes
 * EVC_ERR_PARAMETER  flags has another bit
 * others             as evc_dh_public
 *
 * After an error z holds zeros; only EVC_ERR_KERNEL leaves it unchanged.
 */
EVC_CHECKED enum evc_status evc_dh_shared(const struct evc_dh_group *group, const uint8_t *x,
                                          const uint8_t *peer, size_t peer_bytes, unsigned flags,
                                          uint8_t *z, void *scratch, size_t scratch_bytes);

/* ---- A table for the generator --------------------------------------------------------------- */

/*
 * Powers of g by a table that is made once, for programs that make many secrets in one group. A
 * table has 1 to EVC_DH_MOST_BLOCKS blocks of 32 numbers. With four blocks evc_dh_public_by_table
 * is about three times as fast as evc_dh_public. A secret of b bits takes b/5 products and, with n
 * blocks, b/(5 n) squares. Every product reads all numbers of a block, so that addresses tell
 * nothing of x.
 *
 * A table lies in memory of the caller, aligned to 16 bytes, and is public. It may be copied as a
 * whole to memory that is aligned to 16 bytes. Calls need the group as well.
 */
struct evc_dh_table {
    const struct evc_bn *kernel;
    uint32_t p_bytes, n_blocks, rows;
};

#define EVC_DH_MOST_BLOCKS 16u

/* Bytes of memory for a table. 0: kernel is NULL, or this length of p or number of blocks is not
 * supported. */
EVC_API size_t evc_dh_table_bytes(const struct evc_bn *kernel, size_t p_bits, size_t n_blocks);

/*
 * Makes the table. It takes as many squares as a power of g, and 26 products a block.
 * scratch_bytes: at least evc_dh_scratch_bytes().
 *
 * EVC_ERR_KERNEL     the group is not set up, or the memory is too small
 * EVC_ERR_PARAMETER  n_blocks is 0, or more than EVC_DH_MOST_BLOCKS
 * EVC_ERR_SCRATCH    fewer bytes than evc_dh_scratch_bytes() says
 * EVC_ERR_ALIGNMENT  the memory is not aligned to 16
 * EVC_ERR_OVERLAP    the group lies in the memory of the table; nothing was written
 *
 * After other errors the memory holds zeros, and calls with it return EVC_ERR_KERNEL.
 */
EVC_CHECKED enum evc_status evc_dh_set_table_in(void *memory, size_t memory_bytes,
                                                const struct evc_dh_group *group, size_t n_blocks,
                                                void *scratch, size_t scratch_bytes);

/* y = g^x modulo p, as by evc_dh_public, with its errors. EVC_ERR_GROUP: the table was made for
 * another group or by another kernel. */
EVC_CHECKED enum evc_status evc_dh_public_by_table(const struct evc_dh_group *group,
                                                   const struct evc_dh_table *table,
                                                   const uint8_t *x, uint8_t *y, void *scratch,
                                                   size_t scratch_bytes);

#ifdef __cplusplus
}
#endif
#endif

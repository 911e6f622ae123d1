/* SPDX-License-Identifier: MIT */
/*
 * Diffie-Hellman modulo a prime (FFDH), on top of any kernel of bn.
 *
 *     const struct evc_dh_params *params = evc_dh_params_named("ffdhe3072");
 *     EVC_ALIGN(16) static uint8_t memory[EVC_DH_MOST_GROUP_BYTES(3072)];
 *     static uint8_t scratch[EVC_DH_MOST_SCRATCH_BYTES(3072)];
 *     enum evc_status status =
 *         evc_dh_set_best_in(memory, sizeof memory, evc_cpu_features(), 0, params, 0);
 *     const struct evc_dh_group *group = (const void *)memory;
 *     if (status == EVC_OK)
 *         status = evc_dh_make_secret(group, &random, x);
 *     if (status == EVC_OK)
 *         status = evc_dh_public(group, x, y, scratch, sizeof scratch);
 *     ... send y, receive the peer's value ...
 *     if (status == EVC_OK)
 *         status = evc_dh_shared(group, x, peer, peer_bytes, 0, z, scratch, sizeof scratch);
 *     evc_wipe(x, group->secret_bytes);
 *
 * z is no key yet: hash it, by the key derivation of your protocol. Make a secret for each
 * exchange, and wipe it after that: then z tells nothing even if its leading zeros show in the time
 * of that derivation (Merget and others 2021, "Raccoon").
 *
 * Numbers are big-endian bytes. Secret are x and z, in constant time and cleared as everycore/bn.h
 * says. Public are the group, the value of the peer, and statuses. Scratch memory may stand at any
 * address; the call wipes what it used. An output overlaps no input, and nothing overlaps a group,
 * a table or scratch memory. Nobody changes or wipes these or an input while a call runs.
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
 * a safe prime. NULL: no such name. modp1536 is for old peers; evc_dh_set_group_in takes it
 * only if it is told to. */
EVC_API const struct evc_dh_params *evc_dh_params_named(const char *name);

/* All of them in turn; NULL past the end. */
EVC_API const struct evc_dh_params *evc_dh_params_at(unsigned index);

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Parameters made ready, in memory of the caller; the rest of it is the library's own. May be
 * copied to memory that is aligned to 16. */
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
 * least_bits: the shortest p that is accepted; 0 stands for 2048. Below that an
 * attacker may compute logarithms.
 *
 * Secrets have 29, 35, 41, 47 or 50 bytes for a p of at most 2048, 3072, 4096, 6144, 8192 bits:
 * twice the strength of the group, as RFC 7919 appendix A has it, in whole bytes. With a given q
 * they are numbers below q, of q_bytes bytes.
 *
 * It does not test whether p and q are prime: evc_dh_check_group does.
 *
 * EVC_ERR_KEY_SIZE    p is shorter than least_bits, or no modulus of bn
 * EVC_ERR_GROUP       p or q is even; a number begins with a zero byte; g is not from 2 to p - 2; q
 *                     is not below p, or shorter than 16 bytes
 * EVC_ERR_KERNEL, EVC_ERR_ALIGNMENT, EVC_ERR_OVERLAP   as evc_bn_set_modulus_in
 *
 * Nothing is left of what the memory held. If the call fails, it is wiped, and calls with
 * it return EVC_ERR_KERNEL.
 */
EVC_CHECKED enum evc_status evc_dh_set_group_in(void *memory, size_t memory_bytes,
                                                const struct evc_bn *kernel,
                                                const struct evc_dh_params *params,
                                                size_t least_bits);
/* With the kernel that is the fastest for a p of this length. */
EVC_CHECKED enum evc_status evc_dh_set_best_in(void *memory, size_t memory_bytes, uint64_t features,
                                               unsigned policy, const struct evc_dh_params *params,
                                               size_t least_bits);

/*
 * Whether parameters that somebody else chose make a group: p and q are prime
 * (evc_prime_test_public), and g has order q, so that q divides p - 1. Once for each group; it
 * takes longer than an exchange. The named groups need none.
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

/* x = a secret of secret_bytes bytes: random, not 0, below q. EVC_ERR_RANDOM: randomness failed or
 * repeats itself; x holds zeros. */
EVC_CHECKED enum evc_status evc_dh_make_secret(const struct evc_dh_group *group,
                                               const struct evc_random *random, uint8_t *x);

/*
 * y = g to the x, of p_bytes bytes: the value to send.
 *
 * EVC_ERR_RANGE    x is 0
 * EVC_ERR_KERNEL   the group is not set up
 * EVC_ERR_SCRATCH  fewer bytes than evc_dh_scratch_bytes() says
 *
 * After an error y holds zeros, but for EVC_ERR_KERNEL, which writes nothing.
 */
EVC_CHECKED enum evc_status evc_dh_public(const struct evc_dh_group *group, const uint8_t *x,
                                          uint8_t *y, void *scratch, size_t scratch_bytes);

/* The value of the peer is raised to q, to see that g generates it. Without this
 * flag a peer can learn the lowest bit of x in a group of a safe prime, by a value of order 2 q.
 * Groups with a given q are always checked. The check costs an exponentiation as long as q. */
#define EVC_DH_CHECK_ORDER 1u

/*
 * z = the value of the peer to the x, of p_bytes bytes. peer: 1 to p_bytes bytes, of which the
 * first may be zero.
 * flags: 0 or EVC_DH_CHECK_ORDER.
 *
 * EVC_ERR_PEER       the value is not from 2 to p - 2, or not one that g generates; or z is 1
 * EVC_ERR_LENGTH     it has 0 bytes, or more than p
 * EVC_ERR_PARAMETER  another flag
 * others             as evc_dh_public
 *
 * After an error z holds zeros, but for EVC_ERR_KERNEL, which writes nothing.
 */
EVC_CHECKED enum evc_status evc_dh_shared(const struct evc_dh_group *group, const uint8_t *x,
                                          const uint8_t *peer, size_t peer_bytes, unsigned flags,
                                          uint8_t *z, void *scratch, size_t scratch_bytes);

/* ---- A table for the generator --------------------------------------------------------------- */

/*
 * Powers of g by a table that is made once, for programs that make many secrets in one group. A
 * table has 1 to EVC_DH_MOST_BLOCKS blocks of 32 numbers; four are good, and make
 * evc_dh_public_by_table about four times as fast as evc_dh_public. A secret of b bits takes b/5
 * products and, with n blocks, b/(5 n) squares. Every product reads all numbers of a block, so that
 * addresses tell nothing of x.
 *
 * The memory is the caller's, aligned to 16; the rest of it is the library's own. A table is
 * public. It may be copied to memory that is aligned to 16; the group is needed beside it.
 */
struct evc_dh_table {
    const struct evc_bn *kernel;
    uint32_t p_bytes, n_blocks, rows;
};

#define EVC_DH_MOST_BLOCKS 16u

/* 0: there is no such length of p, or no such number of blocks. */
EVC_API size_t evc_dh_table_bytes(const struct evc_bn *kernel, size_t p_bits, size_t n_blocks);

/*
 * Takes as many squares as a power of g, and 26 products a block. Scratch
 * memory: evc_dh_scratch_bytes().
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

/* y, as evc_dh_public computes it. EVC_ERR_GROUP: the table was made for another group
 * or by another kernel. */
EVC_CHECKED enum evc_status evc_dh_public_by_table(const struct evc_dh_group *group,
                                                   const struct evc_dh_table *table,
                                                   const uint8_t *x, uint8_t *y, void *scratch,
                                                   size_t scratch_bytes);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/* The common part of paddings: memory, the caller's hash, masks made of it. */
#ifndef EVC_RSA_PADDING_H
#define EVC_RSA_PADDING_H

#include "everycore/rsa_padding.h"

#include "common/clear.h"
#include "common/ct.h"
#include "rsa/parts.h"

/* Scratch memory of a call. */
struct evc_rsa_padding {
    uint8_t *em;     /* n_bytes bytes: the encoded message */
    uint8_t *number; /* n_bytes bytes: what a call needs beside it */
    uint8_t *room;   /* EVC_RSA_PADDING_ROOM bytes */
    void *rest;      /* for the raw operation */
    size_t rest_bytes;
};

#define EVC_RSA_PADDING_ROOM 768u

/* Cuts scratch memory into its parts. n_bits: of n. EVC_ERR_SCRATCH if there is too little. */
enum evc_status evc_rsa_padding_place(struct evc_rsa_padding *p, const struct evc_rsa_public *key,
                                      void *scratch, size_t scratch_bytes);

/* Wipes the parts but the raw operation's, which has done so itself. */
EVC_INLINE void evc_rsa_padding_end(const struct evc_rsa_padding *p, const struct evc_bn *kernel)
{
    evc_wipe(p->em, (size_t)((uint8_t *)p->rest - p->em));
    evc_clear(&kernel->kernel);
}

/* EVC_ERR_HASH if the digest or block size is not supported; evc_rsa_check_hash: or if there is no
 * function. */
enum evc_status evc_rsa_check_sizes(const struct evc_rsa_hash *hash);
enum evc_status evc_rsa_check_hash(const struct evc_rsa_hash *hash);

enum evc_status evc_rsa_digest(const struct evc_rsa_hash *hash, const struct evc_rsa_piece *pieces,
                               size_t n_pieces, uint8_t *out);

/* target ^= MGF1(seed), RFC 8017 appendix B.2.1. room: EVC_RSA_MOST_DIGEST_BYTES bytes. */
enum evc_status evc_rsa_mask(const struct evc_rsa_hash *hash, const uint8_t *seed,
                             size_t seed_bytes, uint8_t *target, size_t target_bytes,
                             uint8_t *room);

/* All ones if a is b. */
EVC_INLINE uint32_t evc_mask_same32(uint32_t a, uint32_t b)
{
    return ~evc_mask_nonzero32(a ^ b);
}

/* All ones if a < b, both below 2^31. */
EVC_INLINE uint32_t evc_mask_below32(uint32_t a, uint32_t b)
{
    return (uint32_t)0 - (evc_barrier32(a - b) >> 31);
}

#endif

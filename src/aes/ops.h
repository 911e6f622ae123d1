/* SPDX-License-Identifier: MIT */
/*
 * The operations of a key's kernel, for the code of modes: the same as those of everycore/aes.h,
 * but nothing is cleared after them and the key is not checked. A mode checks the key first, and
 * ends with evc_clear() of common/clear.h.
 */
#ifndef EVC_AES_OPS_H
#define EVC_AES_OPS_H

#include "everycore/aes.h"

#include "common/bytes.h"

/* Made of encrypt and decrypt, for kernels whose slot is empty: src/aes/aes.c. Where buffers lie
 * between the caller and the kernel, they end with evc_clear() themselves. Those of one chain have
 * none: what they compute, they give away. */
void evc_aes_compose_ctr32(const union evc_aes_key *key, uint8_t counter[16], const uint8_t *in,
                           uint8_t *out, size_t len_bytes);
void evc_aes_compose_ctr32_le(const union evc_aes_key *key, uint8_t counter[16], const uint8_t *in,
                              uint8_t *out, size_t len_bytes);
void evc_aes_compose_cbc_encrypt(const union evc_aes_key *key, uint8_t iv[16], const uint8_t *in,
                                 uint8_t *out, size_t n_blocks);
void evc_aes_compose_cbc_decrypt(const union evc_aes_key *key, uint8_t iv[16], const uint8_t *in,
                                 uint8_t *out, size_t n_blocks);
void evc_aes_compose_cbcmac(const union evc_aes_key *key, uint8_t chain[16], const uint8_t *in,
                            size_t n_blocks);
void evc_aes_compose_xts(const union evc_aes_key *key, uint8_t tweak[16], const uint8_t *in,
                         uint8_t *out, size_t n_blocks,
                         void (*crypt)(const void *, const uint8_t *, uint8_t *, size_t));
void evc_aes_compose_cbc_encrypt_many(const union evc_aes_key *key, const struct evc_msg *msgs,
                                      size_t n);
/* For messages whose input and output may overlap in part. */
void evc_aes_compose_cbc_encrypt_moved(const union evc_aes_key *key, const struct evc_msg *msgs,
                                       size_t n);

EVC_INLINE void evc_aes_op_encrypt(const union evc_aes_key *key, const uint8_t *in, uint8_t *out,
                                   size_t n_blocks)
{
    key->head.kernel->encrypt(key, in, out, n_blocks);
}

EVC_INLINE void evc_aes_op_ctr32(const union evc_aes_key *key, uint8_t counter[16],
                                 const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    if (key->head.kernel->ctr32)
        key->head.kernel->ctr32(key, counter, in, out, len_bytes);
    else
        evc_aes_compose_ctr32(key, counter, in, out, len_bytes);
}

EVC_INLINE void evc_aes_op_ctr32_le(const union evc_aes_key *key, uint8_t counter[16],
                                    const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    if (key->head.kernel->ctr32_le)
        key->head.kernel->ctr32_le(key, counter, in, out, len_bytes);
    else
        evc_aes_compose_ctr32_le(key, counter, in, out, len_bytes);
}

/* The counter is all 16 bytes and wraps modulo 2^128: src/modes/ctr.c. */
void evc_aes_op_ctr(const union evc_aes_key *key, uint8_t counter[16], const uint8_t *in,
                    uint8_t *out, size_t len_bytes);

EVC_INLINE void evc_aes_op_cbc_encrypt(const union evc_aes_key *key, uint8_t iv[16],
                                       const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    if (key->head.kernel->cbc_encrypt)
        key->head.kernel->cbc_encrypt(key, iv, in, out, n_blocks);
    else
        evc_aes_compose_cbc_encrypt(key, iv, in, out, n_blocks);
}

EVC_INLINE void evc_aes_op_cbc_decrypt(const union evc_aes_key *key, uint8_t iv[16],
                                       const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    if (key->head.kernel->cbc_decrypt)
        key->head.kernel->cbc_decrypt(key, iv, in, out, n_blocks);
    else
        evc_aes_compose_cbc_decrypt(key, iv, in, out, n_blocks);
}

EVC_INLINE void evc_aes_op_cbcmac(const union evc_aes_key *key, uint8_t chain[16],
                                  const uint8_t *in, size_t n_blocks)
{
    if (key->head.kernel->cbcmac)
        key->head.kernel->cbcmac(key, chain, in, n_blocks);
    else
        evc_aes_compose_cbcmac(key, chain, in, n_blocks);
}

EVC_INLINE void evc_aes_op_xts_encrypt(const union evc_aes_key *key, uint8_t tweak[16],
                                       const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    if (key->head.kernel->xts_encrypt)
        key->head.kernel->xts_encrypt(key, tweak, in, out, n_blocks);
    else
        evc_aes_compose_xts(key, tweak, in, out, n_blocks, key->head.kernel->encrypt);
}

EVC_INLINE void evc_aes_op_xts_decrypt(const union evc_aes_key *key, uint8_t tweak[16],
                                       const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    if (key->head.kernel->xts_decrypt)
        key->head.kernel->xts_decrypt(key, tweak, in, out, n_blocks);
    else
        evc_aes_compose_xts(key, tweak, in, out, n_blocks, key->head.kernel->decrypt);
}

EVC_INLINE void evc_aes_op_cbc_encrypt_many(const union evc_aes_key *key,
                                            const struct evc_msg *msgs, size_t n)
{
    if (key->head.kernel->cbc_encrypt_many)
        key->head.kernel->cbc_encrypt_many(key, msgs, n);
    else
        evc_aes_compose_cbc_encrypt_many(key, msgs, n);
}

#endif

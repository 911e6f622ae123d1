/* SPDX-License-Identifier: MIT */
/*
 * Signatures and encryption by RSA with the SHA-2 of this library: everycore/rsa_padding.h, by one
 * call for a whole message.
 *
 *     const struct evc_sha2 *kernel = evc_sha2_select(evc_cpu_features(), 0, EVC_SHA256);
 *     status = evc_rsa_sign_pss_sha2(key, kernel, EVC_SHA256, message, message_bytes, &random,
 *                                    signature, scratch, scratch_bytes);
 *
 * Whoever has a message in pieces hashes them by everycore/sha2.h, and gives the digest to a call
 * of everycore/rsa_padding.h with a hash of evc_rsa_hash_sha2(). So does whoever wants PSS with
 * another salt, a label, or MGF1 with another hash.
 *
 * Keys, randomness, outputs, scratch memory and errors are those of everycore/rsa_padding.h. Two
 * errors mean more here:
 *
 * EVC_ERR_HASH        there is no such hash; the kernel is NULL or does not compute it
 * EVC_ERR_PARAMETER   as there; or the message is NULL and has bytes, or is longer than the hash
 *                     allows
 *
 * A message is hashed in constant time, and nothing of it stays behind but its digest, which is
 * public: that of one of few possible messages tells which one it is, and so does the signature.
 *
 * Sources: RFC 8017 (PKCS #1 version 2.2, 2016), FIPS 180-4 (2015).
 */
#ifndef EVERYCORE_RSA_SHA2_H
#define EVERYCORE_RSA_SHA2_H

#include "everycore/rsa_padding.h"
#include "everycore/sha2.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Describes one hash of this library. EVC_ERR_PARAMETER, EVC_ERR_KERNEL: as everycore/sha2.h says;
 * all members are then 0, so that calls with this hash return EVC_ERR_HASH. */
EVC_CHECKED enum evc_status evc_rsa_hash_sha2(struct evc_rsa_hash *hash,
                                              const struct evc_sha2 *kernel,
                                              enum evc_sha2_hash which);

/* ---- Signatures ------------------------------------------------------------------------------ */

/* RSASSA-PKCS1-v1_5. */
EVC_CHECKED enum evc_status evc_rsa_sign_pkcs1_sha2(
    const struct evc_rsa_private *key, const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
    const uint8_t *message, size_t message_bytes, const struct evc_random *random,
    uint8_t *signature, void *scratch, size_t scratch_bytes);
EVC_CHECKED enum evc_status evc_rsa_verify_pkcs1_sha2(
    const struct evc_rsa_public *key, const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
    const uint8_t *message, size_t message_bytes, const uint8_t *signature, size_t signature_bytes,
    void *scratch, size_t scratch_bytes);

/* RSASSA-PSS: MGF1 with the same hash, and a salt as long as the digest, which verification wants,
 * too. */
EVC_CHECKED enum evc_status evc_rsa_sign_pss_sha2(
    const struct evc_rsa_private *key, const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
    const uint8_t *message, size_t message_bytes, const struct evc_random *random,
    uint8_t *signature, void *scratch, size_t scratch_bytes);
EVC_CHECKED enum evc_status evc_rsa_verify_pss_sha2(
    const struct evc_rsa_public *key, const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
    const uint8_t *message, size_t message_bytes, const uint8_t *signature, size_t signature_bytes,
    void *scratch, size_t scratch_bytes);

/* ---- Encryption ------------------------------------------------------------------------------ */

/* RSAES-OAEP without a label: MGF1 with the same hash. */
EVC_CHECKED enum evc_status evc_rsa_encrypt_oaep_sha2(
    const struct evc_rsa_public *key, const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
    const uint8_t *message, size_t message_bytes, const struct evc_random *random,
    uint8_t *ciphertext, void *scratch, size_t scratch_bytes);
EVC_CHECKED enum evc_status evc_rsa_decrypt_oaep_sha2(
    const struct evc_rsa_private *key, const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
    const uint8_t *ciphertext, size_t ciphertext_bytes, const struct evc_random *random,
    uint8_t *message, size_t *message_bytes, void *scratch, size_t scratch_bytes);

#ifdef __cplusplus
}
#endif
#endif

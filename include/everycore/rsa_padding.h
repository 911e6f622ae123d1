/* SPDX-License-Identifier: MIT */
/*
 * Signatures and encryption by RSA (RFC 8017): PKCS#1 v1.5, PSS and OAEP, on
 * keys of everycore/rsa.h.
 *
 *     const struct evc_rsa_hash sha3 = {
 *         .digest = my_sha3_256, .digest_bytes = 32, .block_bytes = 136};
 *     const struct evc_rsa_pss pss = {&sha3, &sha3, 32};
 *     status = evc_rsa_sign_pss(key, &pss, digest, 32, &random, signature, scratch, scratch_bytes);
 *
 * Which one to use:
 *     signatures                       PSS; PKCS#1 v1.5 where a protocol says so
 *     keys encrypted for somebody      OAEP
 *     old protocols                    PKCS#1 v1.5 encryption, whose decryption answers bad
 *                                      ciphertexts with a message of its own, always the
 *                                      same (implicit rejection)
 *
 * The caller provides the hash, or takes one of this library: everycore/rsa_sha2.h, which signs
 * whole messages. Here messages to sign are given as their digests. Scratch memory for every call
 * here: evc_rsa_padding_scratch_bytes(). Signatures, ciphertexts, digests and labels are public.
 * Encrypted messages, salts and seeds are secret, and so is the length of a message that PKCS#1
 * v1.5 decrypts. The length of a message that OAEP accepts is public. Calls handle secrets in
 * constant time and clear them as everycore/rsa.h says.
 */
#ifndef EVERYCORE_RSA_PADDING_H
#define EVERYCORE_RSA_PADDING_H

#include "everycore/rsa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The hash -------------------------------------------------------------------------------- */

#define EVC_RSA_MOST_DIGEST_BYTES 64u
#define EVC_RSA_MOST_BLOCK_BYTES 144u /* SHA3-224's */

struct evc_rsa_piece {
    const uint8_t *bytes;
    size_t n_bytes; /* may be 0 */
};

/*
 * digest hashes all pieces, one behind the other, writes digest_bytes bytes to out, and returns 0.
 * Any other result means failure: the call then returns EVC_ERR_HASH. The function must be
 * constant-time for the bytes of the pieces, and clear its own secrets. context: passed to digest.
 * PKCS#1 v1.5 signatures hash nothing, so digest may be NULL there.
 *
 * digest_bytes: 16 to 64. block_bytes: of HMAC with this hash (FIPS 198-1), 64 for SHA-256, 128 for
 * SHA-512; needed for implicit rejection only.
 *
 * prefix: the DER of DigestInfo up to the digest; needed for PKCS#1 v1.5 signatures only, which
 * return EVC_ERR_HASH if it is NULL. If it is not NULL but has 0 bytes, they sign the digest alone,
 * as TLS 1.1 signs the digests of MD5 and SHA-1, one behind the other (RFC 4346, section 4.7).
 */
struct evc_rsa_hash {
    int (*digest)(void *context, const struct evc_rsa_piece *pieces, size_t n_pieces, uint8_t *out);
    void *context;
    uint32_t digest_bytes, block_bytes;
    const uint8_t *prefix;
    uint32_t prefix_bytes;
};

/* The prefix for "sha1", "sha224", "sha256", "sha384", "sha512", "sha512-224" or "sha512-256", by
 * RFC 8017 section 9.2; NULL and 0 bytes: no such name. */
EVC_API const uint8_t *evc_rsa_digest_prefix(const char *name, uint32_t *prefix_bytes);

/* Bytes of scratch memory for any call below. 0: kernel is NULL, or there is no such length. */
EVC_API size_t evc_rsa_padding_scratch_bytes(const struct evc_bn *kernel, size_t n_bits);

/*
 * Errors of every call below:
 *
 * EVC_ERR_HASH      the hash failed or is NULL; its member digest is NULL (for PKCS#1 v1.5
 *                   signatures: its member prefix); or its digest or block size is not supported
 * EVC_ERR_LENGTH    a digest, a message or a ciphertext has a wrong length
 * EVC_ERR_PARAMETER a pointer is NULL: to pss, oaep, a digest, a signature or a ciphertext, or to a
 *                   message or a label that has bytes
 * EVC_ERR_KEY_SIZE  n is too short for this padding
 * EVC_ERR_SCRATCH, EVC_ERR_KERNEL, EVC_ERR_RANDOM, EVC_ERR_FAULT   as the raw operations
 *                                                                  of everycore/rsa.h
 *
 * Outputs have n_bytes bytes, unless said otherwise. After an error they hold zeros; only
 * EVC_ERR_KERNEL leaves them unchanged.
 */

/* ---- Signatures ------------------------------------------------------------------------------ */

/* RSASSA-PKCS1-v1_5. Verification compares the whole padding, with parameters NULL in DigestInfo.
 * EVC_ERR_SIGNATURE: the signature does not match. */
EVC_CHECKED enum evc_status evc_rsa_sign_pkcs1(const struct evc_rsa_private *key,
                                               const struct evc_rsa_hash *hash,
                                               const uint8_t *digest, size_t digest_bytes,
                                               const struct evc_random *random, uint8_t *signature,
                                               void *scratch, size_t scratch_bytes);
EVC_CHECKED enum evc_status evc_rsa_verify_pkcs1(const struct evc_rsa_public *key,
                                                 const struct evc_rsa_hash *hash,
                                                 const uint8_t *digest, size_t digest_bytes,
                                                 const uint8_t *signature, size_t signature_bytes,
                                                 void *scratch, size_t scratch_bytes);

/* RSASSA-PSS. hash: of the message. mgf_hash: of the mask, usually the same. salt_bytes: the length
 * of the salt, usually that of the digest; for verification also EVC_RSA_ANY_SALT, which takes the
 * length from the signature. To sign, EVC_RSA_ANY_SALT is too long a salt: EVC_ERR_KEY_SIZE.
 * EVC_ERR_SIGNATURE: the signature does not match. */
#define EVC_RSA_ANY_SALT UINT32_MAX

struct evc_rsa_pss {
    const struct evc_rsa_hash *hash, *mgf_hash;
    uint32_t salt_bytes;
};

EVC_CHECKED enum evc_status evc_rsa_sign_pss(const struct evc_rsa_private *key,
                                             const struct evc_rsa_pss *pss, const uint8_t *digest,
                                             size_t digest_bytes, const struct evc_random *random,
                                             uint8_t *signature, void *scratch,
                                             size_t scratch_bytes);
EVC_CHECKED enum evc_status evc_rsa_verify_pss(const struct evc_rsa_public *key,
                                               const struct evc_rsa_pss *pss, const uint8_t *digest,
                                               size_t digest_bytes, const uint8_t *signature,
                                               size_t signature_bytes, void *scratch,
                                               size_t scratch_bytes);

/* ---- Encryption ------------------------------------------------------------------------------ */

/* RSAES-OAEP. The label may have 0 bytes. A message has at most n_bytes - 2
 * digest_bytes - 2 bytes. */
struct evc_rsa_oaep {
    const struct evc_rsa_hash *hash, *mgf_hash;
    const uint8_t *label;
    size_t label_bytes;
};

EVC_CHECKED enum evc_status evc_rsa_encrypt_oaep(const struct evc_rsa_public *key,
                                                 const struct evc_rsa_oaep *oaep,
                                                 const uint8_t *message, size_t message_bytes,
                                                 const struct evc_random *random,
                                                 uint8_t *ciphertext, void *scratch,
                                                 size_t scratch_bytes);

/*
 * message: room for n_bytes - 2 digest_bytes - 2 bytes. The call writes the length of the
 * message to *message_bytes, and zeros behind the message.
 *
 * EVC_ERR_PADDING  OAEP padding check failed: another key, another label, or a damaged ciphertext.
 *                  Neither the status nor the time tells which (Manger 2001).
 * EVC_ERR_RANGE    as evc_rsa_private
 */
EVC_CHECKED enum evc_status evc_rsa_decrypt_oaep(const struct evc_rsa_private *key,
                                                 const struct evc_rsa_oaep *oaep,
                                                 const uint8_t *ciphertext, size_t ciphertext_bytes,
                                                 const struct evc_random *random, uint8_t *message,
                                                 size_t *message_bytes, void *scratch,
                                                 size_t scratch_bytes);

/* RSAES-PKCS1-v1_5. A message has at most n_bytes - 11 bytes. */
EVC_CHECKED enum evc_status evc_rsa_encrypt_pkcs1(const struct evc_rsa_public *key,
                                                  const uint8_t *message, size_t message_bytes,
                                                  const struct evc_random *random,
                                                  uint8_t *ciphertext, void *scratch,
                                                  size_t scratch_bytes);

/*
 * message: room for n_bytes - 11 bytes. The call writes the length of the
 * message to *message_bytes, and zeros behind the message.
 *
 * For a ciphertext with a wrong padding the call returns EVC_OK and a message that is computed from
 * the ciphertext and the key. Its bytes and its length look random, and are the same each time. So
 * neither the status nor the time tells an attacker whether the padding was right (Bleichenbacher
 * 1998; Kario 2023, "Everlasting ROBOT"). The length is secret as well: a protocol that expects a
 * certain length compares it without a branch.
 *
 * With SHA-256 the message equals that of OpenSSL 3.2 and newer.
 *
 * EVC_ERR_RANGE    as evc_rsa_private
 *
 * Source: Kario: Implementation Guidance for the PKCS #1 RSA Cryptography Specification
 *         (draft-irtf-cfrg-rsa-guidance, 2024), section 7.
 */
EVC_CHECKED enum evc_status evc_rsa_decrypt_pkcs1(
    const struct evc_rsa_private *key, const struct evc_rsa_hash *hash, const uint8_t *ciphertext,
    size_t ciphertext_bytes, const struct evc_random *random, uint8_t *message,
    size_t *message_bytes, void *scratch, size_t scratch_bytes);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/*
 * HKDF (RFC 5869): keys from a secret that is not uniform, such as that of a key exchange. For
 * passwords take PBKDF2 (everycore/pbkdf2.h): HKDF is fast, also for those who guess.
 *
 *     status = evc_hkdf(kernel, EVC_SHA256, salt, salt_bytes, secret, secret_bytes, info,
 *                       info_bytes, out, out_bytes);
 *
 * or in its two steps, the first once for each secret, the second for each key:
 *
 *     status = evc_hkdf_extract(kernel, EVC_SHA256, salt, salt_bytes, secret, secret_bytes, prk);
 *     status = evc_hmac_set_key(&key, kernel, EVC_SHA256, prk, 32);
 *     status = evc_hkdf_expand(&key, info, info_bytes, out, out_bytes);
 *
 * Time, secrets and errors are those of everycore/hmac.h, and
 *
 * EVC_ERR_LENGTH      out_bytes is more than 255 digests (0 bytes are allowed), or an input is too
 *                     long for the hash
 * EVC_ERR_OVERLAP     out and info have bytes in common: info is read for each digest of out
 */
#ifndef EVERYCORE_HKDF_H
#define EVERYCORE_HKDF_H

#include "everycore/hmac.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EVC_HKDF_MOST_DIGESTS 255u

/* prk = HMAC(salt, secret): evc_sha2_digest_bytes(hash) bytes. salt: random or a constant, not
 * secret; none (0 bytes) stands for zeros. prk may lie in the secret. */
EVC_CHECKED enum evc_status evc_hkdf_extract(const struct evc_sha2 *kernel,
                                             enum evc_sha2_hash hash, const uint8_t *salt,
                                             size_t salt_bytes, const uint8_t *secret,
                                             size_t secret_bytes, uint8_t *prk);

/* prk: a key of evc_hmac_set_key that was made from at least a digest of uniform bytes. info: what
 * the output is for. */
EVC_CHECKED enum evc_status evc_hkdf_expand(const struct evc_hmac_key *prk, const uint8_t *info,
                                            size_t info_bytes, uint8_t *out, size_t out_bytes);

/* Both steps. out may lie in the secret or the salt. */
EVC_CHECKED enum evc_status evc_hkdf(const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
                                     const uint8_t *salt, size_t salt_bytes, const uint8_t *secret,
                                     size_t secret_bytes, const uint8_t *info, size_t info_bytes,
                                     uint8_t *out, size_t out_bytes);

#ifdef __cplusplus
}
#endif
#endif

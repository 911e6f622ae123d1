/* SPDX-License-Identifier: MIT */
/*
 * Signatures RSASSA-PKCS1-v1_5.
 *
 * Source: RFC 8017 (2016), sections 8.2 and 9.2. A verifier that parses the padding
 *         has been deceived more than once (CVE-2006-4339, CVE-2014-1568); this one
 *         makes it anew and compares.
 */
#include "rsa/padding.h"

#define LEAST_FILLING 8u

/* 00 01 FF ... FF 00, the prefix, the digest. */
static enum evc_status encode(const struct evc_rsa_hash *hash, const uint8_t *digest,
                              size_t digest_bytes, uint8_t *em, size_t n_bytes)
{
    const enum evc_status status = evc_rsa_check_sizes(hash);
    size_t tail_bytes;

    if (status != EVC_OK)
        return status;
    if (!hash->prefix)
        return EVC_ERR_HASH;
    if (digest_bytes != hash->digest_bytes)
        return EVC_ERR_LENGTH;
    if (!digest)
        return EVC_ERR_PARAMETER;
    tail_bytes = hash->prefix_bytes + digest_bytes;
    if (hash->prefix_bytes > n_bytes || tail_bytes + LEAST_FILLING + 3 > n_bytes)
        return EVC_ERR_KEY_SIZE;
    em[0] = 0;
    em[1] = 1;
    memset(em + 2, 0xff, n_bytes - tail_bytes - 3);
    em[n_bytes - tail_bytes - 1] = 0;
    memcpy(em + n_bytes - tail_bytes, hash->prefix, hash->prefix_bytes);
    memcpy(em + n_bytes - digest_bytes, digest, digest_bytes);
    return EVC_OK;
}

enum evc_status evc_rsa_sign_pkcs1(const struct evc_rsa_private *key,
                                   const struct evc_rsa_hash *hash, const uint8_t *digest,
                                   size_t digest_bytes, const struct evc_random *random,
                                   uint8_t *signature, void *scratch, size_t scratch_bytes)
{
    struct evc_rsa_padding p;
    enum evc_status status;

    if (!EVC_IS_SET(key))
        return evc_key_error(key);
    status = evc_rsa_padding_place(&p, evc_rsa_public_part(key), scratch, scratch_bytes);
    if (status == EVC_OK) {
        status = encode(hash, digest, digest_bytes, p.em, key->n_bytes);
        if (status == EVC_OK)
            status = evc_rsa_private(key, p.em, signature, random, p.rest, p.rest_bytes);
        evc_rsa_padding_end(&p, key->kernel);
    }
    if (status != EVC_OK)
        evc_wipe(signature, key->n_bytes);
    return status;
}

enum evc_status evc_rsa_verify_pkcs1(const struct evc_rsa_public *key,
                                     const struct evc_rsa_hash *hash, const uint8_t *digest,
                                     size_t digest_bytes, const uint8_t *signature,
                                     size_t signature_bytes, void *scratch, size_t scratch_bytes)
{
    struct evc_rsa_padding p;
    enum evc_status status;

    if (!EVC_IS_SET(key))
        return evc_key_error(key);
    status = evc_rsa_padding_place(&p, key, scratch, scratch_bytes);
    if (status != EVC_OK)
        return status;
    status = encode(hash, digest, digest_bytes, p.em, key->n_bytes);
    if (status == EVC_OK)
        status = signature_bytes != key->n_bytes ? EVC_ERR_SIGNATURE
                 : !signature
                     ? EVC_ERR_PARAMETER
                     : evc_rsa_public(key, signature, p.number, p.rest, p.rest_bytes);
    if (status == EVC_ERR_RANGE ||
        (status == EVC_OK && !evc_mask_equal(p.em, p.number, key->n_bytes)))
        status = EVC_ERR_SIGNATURE;
    evc_rsa_padding_end(&p, key->kernel);
    return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * HKDF on HMAC.
 *
 * Source: RFC 5869 (2010) section 2.
 */
#include "everycore/hkdf.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/in_place.h"
#include "hmac/ops.h"

/* EVC_OK, or why `expand` refuses to write out. */
static enum evc_status check_output(size_t digest_bytes, const uint8_t *info, size_t info_bytes,
                                    const uint8_t *out, size_t out_bytes)
{
    if (out_bytes > EVC_HKDF_MOST_DIGESTS * digest_bytes || evc_hmac_is_too_long(info_bytes))
        return EVC_ERR_LENGTH;
    if (evc_is_missing(info, info_bytes) || evc_is_missing(out, out_bytes))
        return EVC_ERR_PARAMETER;
    return info_bytes && out_bytes && evc_overlap(info, info_bytes, out, out_bytes)
               ? EVC_ERR_OVERLAP
               : EVC_OK;
}

enum evc_status evc_hkdf_extract(const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
                                 const uint8_t *salt, size_t salt_bytes, const uint8_t *secret,
                                 size_t secret_bytes, uint8_t *prk)
{
    struct evc_hmac_key key;
    enum evc_status status = evc_hmac_set_key(&key, kernel, hash, salt, salt_bytes);

    if (status == EVC_OK)
        status = evc_hmac(&key, secret, secret_bytes, prk, evc_sha2_digest_bytes(hash));
    evc_wipe(&key, sizeof key);
    return status;
}

/* T(1), T(2), ... (section 2.3): each is the tag of the one before it, the info and its number. */
static void expand(const struct evc_hmac_key *prk, const uint8_t *info, size_t info_bytes,
                   uint8_t *out, size_t out_bytes)
{
    const size_t digest_bytes = evc_sha2_op_hash(prk->hash)->digest_bytes;
    struct evc_sha2_state state;
    uint8_t before[EVC_SHA2_MOST_DIGEST_BYTES];
    uint8_t number = 0; /* at most 255 */

    while (out_bytes) {
        const size_t n = out_bytes < digest_bytes ? out_bytes : digest_bytes;
        evc_hmac_op_begin(&state, prk);
        if (number++)
            evc_sha2_op_take(&state, before, digest_bytes);
        evc_sha2_op_take(&state, info, info_bytes);
        evc_sha2_op_take(&state, &number, 1);
        evc_hmac_op_end(&state, prk);
        evc_copy_secret(before, state.waiting, digest_bytes);
        evc_copy_secret(out, before, n);
        out += n, out_bytes -= n;
    }
    evc_wipe(before, sizeof before);
    evc_wipe(&state, sizeof state);
    evc_clear(&prk->kernel->kernel);
}

enum evc_status evc_hkdf_expand(const struct evc_hmac_key *prk, const uint8_t *info,
                                size_t info_bytes, uint8_t *out, size_t out_bytes)
{
    enum evc_status status = evc_hmac_key_status(prk);

    if (status == EVC_OK)
        status = check_output(evc_sha2_op_hash(prk->hash)->digest_bytes, info, info_bytes, out,
                              out_bytes);
    if (status == EVC_OK)
        expand(prk, info, info_bytes, out, out_bytes);
    return status;
}

enum evc_status evc_hkdf(const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
                         const uint8_t *salt, size_t salt_bytes, const uint8_t *secret,
                         size_t secret_bytes, const uint8_t *info, size_t info_bytes, uint8_t *out,
                         size_t out_bytes)
{
    const size_t digest_bytes = evc_sha2_digest_bytes(hash);
    uint8_t prk[EVC_SHA2_MOST_DIGEST_BYTES];
    struct evc_hmac_key key;
    enum evc_status status =
        digest_bytes ? check_output(digest_bytes, info, info_bytes, out, out_bytes)
                     : EVC_ERR_PARAMETER;

    if (status == EVC_OK)
        status = evc_hkdf_extract(kernel, hash, salt, salt_bytes, secret, secret_bytes, prk);
    if (status != EVC_OK)
        return status;
    status = evc_hmac_set_key(&key, kernel, hash, prk, digest_bytes);
    if (status == EVC_OK)
        expand(&key, info, info_bytes, out, out_bytes);
    evc_wipe(prk, sizeof prk);
    evc_wipe(&key, sizeof key);
    return status;
}

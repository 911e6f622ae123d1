/* SPDX-License-Identifier: MIT */
/*
 * Signatures RSASSA-PSS.
 *
 * Source: RFC 8017 (2016), sections 8.1 and 9.1; FIPS 186-5 (2023), section 5.4.
 */
#include "rsa/padding.h"

/* Parts of an encoded message of n_bits - 1 bits: DB under its mask, H, and the byte 0xbc. Where
 * n_bits is 1 modulo 8, it has a byte less than n, which is zero. */
struct layout {
    uint8_t *db, *h;
    size_t db_bytes, h_bytes;
    uint8_t top; /* the bits of the first byte that are used */
};

#define TRAILER 0xbc

static enum evc_status lay_out(struct layout *l, const struct evc_rsa_pss *pss,
                               const struct evc_rsa_public *key, const uint8_t *digest,
                               size_t digest_bytes, size_t salt_bytes, uint8_t *em)
{
    const size_t em_bits = key->n_bits - 1, em_bytes = (em_bits + 7) / 8;
    enum evc_status status = evc_rsa_check_hash(pss->hash);

    if (status == EVC_OK)
        status = evc_rsa_check_hash(pss->mgf_hash);
    if (status != EVC_OK)
        return status;
    l->h_bytes = pss->hash->digest_bytes;
    if (digest_bytes != l->h_bytes)
        return EVC_ERR_LENGTH;
    if (!digest)
        return EVC_ERR_PARAMETER;
    if (salt_bytes > EVC_BN_MAX_BYTES || em_bytes < l->h_bytes + salt_bytes + 2)
        return EVC_ERR_KEY_SIZE;
    l->db_bytes = em_bytes - l->h_bytes - 1;
    l->db = em + (key->n_bytes - em_bytes);
    l->h = l->db + l->db_bytes;
    l->top = (uint8_t)(0xff >> (8 * em_bytes - em_bits));
    return EVC_OK;
}

/* H of eight zeros, the digest and the salt. */
static enum evc_status hash_salted(const struct evc_rsa_hash *hash, const uint8_t *digest,
                                   const uint8_t *salt, size_t salt_bytes, uint8_t *out)
{
    static const uint8_t zeros[8];
    const struct evc_rsa_piece pieces[] = {
        {zeros, sizeof zeros}, {digest, hash->digest_bytes}, {salt, salt_bytes}};

    return evc_rsa_digest(hash, pieces, 3, out);
}

/* EVC_BN_MAX_BYTES bytes at most are drawn. */
static enum evc_status encode(const struct evc_rsa_pss *pss, const struct evc_rsa_public *key,
                              const uint8_t *digest, size_t digest_bytes,
                              const struct evc_random *random, const struct evc_rsa_padding *p)
{
    struct layout l;
    uint8_t *salt;
    enum evc_status status = lay_out(&l, pss, key, digest, digest_bytes, pss->salt_bytes, p->em);

    if (status != EVC_OK)
        return status;
    memset(p->em, 0, key->n_bytes);
    salt = l.db + (l.db_bytes - pss->salt_bytes);
    salt[-1] = 1;
    if (pss->salt_bytes)
        status = evc_draw(random, salt, pss->salt_bytes);
    if (status == EVC_OK)
        status = hash_salted(pss->hash, digest, salt, pss->salt_bytes, l.h);
    if (status == EVC_OK)
        status = evc_rsa_mask(pss->mgf_hash, l.h, l.h_bytes, l.db, l.db_bytes, p->room);
    l.db[0] &= l.top;
    l.h[l.h_bytes] = TRAILER;
    return status;
}

enum evc_status evc_rsa_sign_pss(const struct evc_rsa_private *key, const struct evc_rsa_pss *pss,
                                 const uint8_t *digest, size_t digest_bytes,
                                 const struct evc_random *random, uint8_t *signature, void *scratch,
                                 size_t scratch_bytes)
{
    struct evc_rsa_padding p;
    enum evc_status status;

    if (!EVC_IS_SET(key))
        return evc_key_error(key);
    status = pss ? evc_rsa_padding_place(&p, evc_rsa_public_part(key), scratch, scratch_bytes)
                 : EVC_ERR_PARAMETER;
    if (status == EVC_OK) {
        status = encode(pss, evc_rsa_public_part(key), digest, digest_bytes, random, &p);
        if (status == EVC_OK)
            status = evc_rsa_private(key, p.em, signature, random, p.rest, p.rest_bytes);
        evc_rsa_padding_end(&p, key->kernel);
    }
    if (status != EVC_OK)
        evc_wipe(signature, key->n_bytes);
    return status;
}

/* DB is zeros, a byte 1, and the salt; returns the salt's place, or 0 if it is
 * not so. All is public. */
static size_t find_salt(const struct layout *l, uint32_t salt_bytes)
{
    size_t at = 0;

    while (at < l->db_bytes && l->db[at] == 0)
        at++;
    if (at == l->db_bytes || l->db[at] != 1)
        return 0;
    at++;
    return salt_bytes == EVC_RSA_ANY_SALT || l->db_bytes - at == salt_bytes ? at : 0;
}

/* The encoded message is in p->em. */
static enum evc_status decode(const struct evc_rsa_pss *pss, const struct evc_rsa_public *key,
                              const uint8_t *digest, const struct layout *l,
                              const struct evc_rsa_padding *p)
{
    enum evc_status status;
    size_t at;

    if ((l->db != p->em && p->em[0] != 0) || (l->db[0] & ~l->top) != 0 ||
        p->em[key->n_bytes - 1] != TRAILER)
        return EVC_ERR_SIGNATURE;
    status = evc_rsa_mask(pss->mgf_hash, l->h, l->h_bytes, l->db, l->db_bytes, p->room);
    if (status != EVC_OK)
        return status;
    l->db[0] &= l->top;
    at = find_salt(l, pss->salt_bytes);
    if (!at)
        return EVC_ERR_SIGNATURE;
    status = hash_salted(pss->hash, digest, l->db + at, l->db_bytes - at, p->room);
    if (status != EVC_OK)
        return status;
    return evc_mask_equal(p->room, l->h, l->h_bytes) ? EVC_OK : EVC_ERR_SIGNATURE;
}

enum evc_status evc_rsa_verify_pss(const struct evc_rsa_public *key, const struct evc_rsa_pss *pss,
                                   const uint8_t *digest, size_t digest_bytes,
                                   const uint8_t *signature, size_t signature_bytes, void *scratch,
                                   size_t scratch_bytes)
{
    struct evc_rsa_padding p;
    struct layout l;
    enum evc_status status;

    if (!EVC_IS_SET(key))
        return evc_key_error(key);
    if (!pss)
        return EVC_ERR_PARAMETER;
    status = evc_rsa_padding_place(&p, key, scratch, scratch_bytes);
    if (status != EVC_OK)
        return status;
    status = lay_out(&l, pss, key, digest, digest_bytes,
                     pss->salt_bytes == EVC_RSA_ANY_SALT ? 0 : pss->salt_bytes, p.em);
    if (status == EVC_OK)
        status = signature_bytes != key->n_bytes ? EVC_ERR_SIGNATURE
                 : !signature
                     ? EVC_ERR_PARAMETER
                     : evc_rsa_public(key, signature, p.em, p.rest, p.rest_bytes);
    if (status == EVC_OK)
        status = decode(pss, key, digest, &l, &p);
    evc_rsa_padding_end(&p, key->kernel);
    return status == EVC_ERR_RANGE ? EVC_ERR_SIGNATURE : status;
}

/* SPDX-License-Identifier: MIT */
/*
 * Encryption RSAES-OAEP.
 *
 * Source: RFC 8017 (2016), section 7.1. Whoever learns which of the checks of decryption
 *         failed can decrypt (Manger: A chosen ciphertext attack on RSA optimal asymmetric
 *         encryption padding, Crypto 2001): so all of them are made, by masks, before one bit
 *         of their result is looked at.
 */
#include "rsa/padding.h"

/* An encoded message: a byte 0, the seed, DB. Seed and DB are under masks. */
struct layout {
    uint8_t *seed, *db;
    size_t h_bytes, db_bytes;
};

static enum evc_status lay_out(struct layout *l, const struct evc_rsa_oaep *oaep, size_t n_bytes,
                               uint8_t *em)
{
    enum evc_status status = evc_rsa_check_hash(oaep->hash);

    if (status == EVC_OK)
        status = evc_rsa_check_hash(oaep->mgf_hash);
    if (status != EVC_OK)
        return status;
    if (!oaep->label && oaep->label_bytes)
        return EVC_ERR_PARAMETER;
    l->h_bytes = oaep->hash->digest_bytes;
    if (n_bytes < 2 * l->h_bytes + 2)
        return EVC_ERR_KEY_SIZE;
    l->seed = em + 1;
    l->db = l->seed + l->h_bytes;
    l->db_bytes = n_bytes - l->h_bytes - 1;
    return EVC_OK;
}

static enum evc_status hash_label(const struct evc_rsa_oaep *oaep, uint8_t *out)
{
    const struct evc_rsa_piece label = {oaep->label, oaep->label_bytes};

    return evc_rsa_digest(oaep->hash, &label, 1, out);
}

/* ---- Encryption ------------------------------------------------------------------------------ */

static enum evc_status encode(const struct evc_rsa_oaep *oaep, size_t n_bytes,
                              const uint8_t *message, size_t message_bytes,
                              const struct evc_random *random, const struct evc_rsa_padding *p)
{
    struct layout l;
    uint8_t *text;
    enum evc_status status = lay_out(&l, oaep, n_bytes, p->em);

    if (status != EVC_OK)
        return status;
    if (message_bytes > l.db_bytes - l.h_bytes - 1)
        return EVC_ERR_LENGTH;
    if (!message && message_bytes)
        return EVC_ERR_PARAMETER;
    memset(p->em, 0, n_bytes);
    text = l.db + (l.db_bytes - message_bytes);
    text[-1] = 1;
    evc_copy_secret(text, message, message_bytes);
    status = hash_label(oaep, l.db);
    if (status == EVC_OK)
        status = evc_draw(random, l.seed, l.h_bytes);
    if (status == EVC_OK)
        status = evc_rsa_mask(oaep->mgf_hash, l.seed, l.h_bytes, l.db, l.db_bytes, p->room);
    if (status == EVC_OK)
        status = evc_rsa_mask(oaep->mgf_hash, l.db, l.db_bytes, l.seed, l.h_bytes, p->room);
    return status;
}

enum evc_status evc_rsa_encrypt_oaep(const struct evc_rsa_public *key,
                                     const struct evc_rsa_oaep *oaep, const uint8_t *message,
                                     size_t message_bytes, const struct evc_random *random,
                                     uint8_t *ciphertext, void *scratch, size_t scratch_bytes)
{
    struct evc_rsa_padding p;
    enum evc_status status;

    if (!EVC_IS_SET(key))
        return evc_key_error(key);
    status = oaep ? evc_rsa_padding_place(&p, key, scratch, scratch_bytes) : EVC_ERR_PARAMETER;
    if (status == EVC_OK) {
        status = encode(oaep, key->n_bytes, message, message_bytes, random, &p);
        if (status == EVC_OK)
            status = evc_rsa_public(key, p.em, ciphertext, p.rest, p.rest_bytes);
        evc_rsa_padding_end(&p, key->kernel);
    }
    if (status != EVC_OK)
        evc_wipe(ciphertext, key->n_bytes);
    return status;
}

/* ---- Decryption ------------------------------------------------------------------------------ */

/* The place in DB of the byte 1 before the message; *good: all ones if there is
 * one, behind zeros alone. */
static uint32_t find_one(const uint8_t *db, size_t from, size_t db_bytes, uint32_t *good)
{
    uint32_t found = 0, at = 0;

    *good = UINT32_MAX;
    for (size_t i = from; i < db_bytes; i++) {
        const uint32_t is_first = evc_mask_nonzero32(db[i]) & ~found;

        at = evc_choose32(is_first, (uint32_t)i, at);
        *good &= ~is_first | evc_mask_same32(db[i], 1);
        found |= is_first;
    }
    *good &= found;
    return at;
}

/* Bytes that a message has at most; 0 also where the hash or n does not allow any. */
static size_t room_for_message(const struct evc_rsa_oaep *oaep, size_t n_bytes)
{
    /* twice digest_bytes may be beyond size_t */
    if (!oaep || !oaep->hash || oaep->hash->digest_bytes > EVC_RSA_MOST_DIGEST_BYTES)
        return 0;
    if (n_bytes < 2 * (size_t)oaep->hash->digest_bytes + 2)
        return 0;
    return n_bytes - 2 * (size_t)oaep->hash->digest_bytes - 2;
}

/* The encoded message is in p->em. The masks come off by the order of RFC
 * 8017: the seed's first. */
static enum evc_status decode(const struct evc_rsa_oaep *oaep, const struct layout *l,
                              const struct evc_rsa_padding *p, uint8_t *message,
                              size_t *message_bytes)
{
    enum evc_status status =
        evc_rsa_mask(oaep->mgf_hash, l->db, l->db_bytes, l->seed, l->h_bytes, p->room);
    uint32_t at, good;

    if (status == EVC_OK)
        status = evc_rsa_mask(oaep->mgf_hash, l->seed, l->h_bytes, l->db, l->db_bytes, p->room);
    if (status == EVC_OK)
        status = hash_label(oaep, p->room);
    if (status != EVC_OK)
        return status;
    at = find_one(l->db, l->h_bytes, l->db_bytes, &good);
    good &= evc_mask_equal(p->room, l->db, l->h_bytes) & evc_mask_same32(p->em[0], 0);
    evc_public(&good, sizeof good); /* the status tells it */
    if (!good)
        return EVC_ERR_PADDING;
    evc_public(&at, sizeof at); /* the length of a message that is given to the caller */
    *message_bytes = l->db_bytes - at - 1;
    evc_copy_secret(message, l->db + at + 1, *message_bytes);
    return EVC_OK;
}

enum evc_status evc_rsa_decrypt_oaep(const struct evc_rsa_private *key,
                                     const struct evc_rsa_oaep *oaep, const uint8_t *ciphertext,
                                     size_t ciphertext_bytes, const struct evc_random *random,
                                     uint8_t *message, size_t *message_bytes, void *scratch,
                                     size_t scratch_bytes)
{
    struct evc_rsa_padding p;
    struct layout l;
    enum evc_status status;

    if (!EVC_IS_SET(key))
        return evc_key_error(key);
    *message_bytes = 0;
    evc_wipe(message, room_for_message(oaep, key->n_bytes));
    status = oaep ? evc_rsa_padding_place(&p, evc_rsa_public_part(key), scratch, scratch_bytes)
                  : EVC_ERR_PARAMETER;
    if (status != EVC_OK)
        return status;
    status = lay_out(&l, oaep, key->n_bytes, p.em);
    if (status == EVC_OK && ciphertext_bytes != key->n_bytes)
        status = EVC_ERR_LENGTH;
    if (status == EVC_OK && !ciphertext)
        status = EVC_ERR_PARAMETER;
    if (status == EVC_OK)
        status = evc_rsa_private(key, ciphertext, p.em, random, p.rest, p.rest_bytes);
    if (status == EVC_OK)
        status = decode(oaep, &l, &p, message, message_bytes);
    evc_rsa_padding_end(&p, key->kernel);
    return status;
}

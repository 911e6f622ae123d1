/* SPDX-License-Identifier: MIT */
/*
 * Encryption RSAES-PKCS1-v1_5, and decryption with implicit rejection.
 *
 * Source: RFC 8017 (2016), section 7.2; draft-irtf-cfrg-rsa-guidance (Kario, 2024), section 7.
 */
#include "rsa/padding.h"

#define LEAST_FILLING 8u
#define OVERHEAD (LEAST_FILLING + 3)

/* ---- Encryption ------------------------------------------------------------------------------ */

#define MOST_DRAWS 64 /* a byte stays zero with a chance of 2^-512 */

/* Random bytes, none of which is zero: those that are zero are drawn again, by a byte each,
 * whose number is public. */
static enum evc_status draw_filling(const struct evc_random *random, uint8_t *out, size_t n_bytes)
{
    enum evc_status status = evc_draw(random, out, n_bytes);

    for (size_t i = 0; status == EVC_OK && i < n_bytes; i++)
        for (int draws = 0;; draws++) {
            uint32_t good = evc_mask_nonzero32(out[i]);

            evc_public(&good, sizeof good); /* a byte that is drawn again is not used */
            if (good)
                break;
            status = draws < MOST_DRAWS ? evc_draw(random, out + i, 1) : EVC_ERR_RANDOM;
            if (status != EVC_OK)
                break;
        }
    return status;
}

enum evc_status evc_rsa_encrypt_pkcs1(const struct evc_rsa_public *key, const uint8_t *message,
                                      size_t message_bytes, const struct evc_random *random,
                                      uint8_t *ciphertext, void *scratch, size_t scratch_bytes)
{
    struct evc_rsa_padding p;
    enum evc_status status;

    if (!EVC_IS_SET(key))
        return evc_key_error(key);
    status = evc_rsa_padding_place(&p, key, scratch, scratch_bytes);
    if (status == EVC_OK &&
        (message_bytes > key->n_bytes || message_bytes + OVERHEAD > key->n_bytes))
        status = EVC_ERR_LENGTH;
    if (status == EVC_OK && !message && message_bytes)
        status = EVC_ERR_PARAMETER;
    if (status == EVC_OK) {
        const size_t filling = key->n_bytes - message_bytes - 3;

        p.em[0] = 0;
        p.em[1] = 2;
        p.em[2 + filling] = 0;
        status = draw_filling(random, p.em + 2, filling);
        evc_copy_secret(p.em + 3 + filling, message, message_bytes);
        if (status == EVC_OK)
            status = evc_rsa_public(key, p.em, ciphertext, p.rest, p.rest_bytes);
        evc_rsa_padding_end(&p, key->kernel);
    }
    if (status != EVC_OK)
        evc_wipe(ciphertext, key->n_bytes);
    return status;
}

/* ---- The message of a ciphertext that is wrong ----------------------------------------------- */

#define N_LENGTHS 128u

/* Places in evc_rsa_padding.room. */
#define DERIVATION_KEY(p) ((p)->room)
#define BLOCK(p) ((p)->room + EVC_RSA_MOST_DIGEST_BYTES)
#define INNER(p) (BLOCK(p) + EVC_RSA_MOST_BLOCK_BYTES)
#define OUTPUT(p) (INNER(p) + EVC_RSA_MOST_DIGEST_BYTES)
#define LENGTHS(p) (OUTPUT(p) + EVC_RSA_MOST_DIGEST_BYTES)

/* Bytes of the room that are used: 64 + 144 + 64 + 64 + 256. */
typedef char room_is_enough[64 + 144 + 64 + 64 + 2 * N_LENGTHS <= EVC_RSA_PADDING_ROOM ? 1 : -1];

/* block = the key, of digest_bytes bytes, and zeros, each exclusive-or'd with pad. */
static void pad_key(const struct evc_rsa_hash *hash, const uint8_t *key, uint8_t pad,
                    uint8_t *block)
{
    memset(block, pad, hash->block_bytes);
    evc_xor(block, block, key, hash->digest_bytes);
}

/* HMAC (FIPS 198-1) of up to 3 pieces, under a key of digest_bytes bytes. */
static enum evc_status mac(const struct evc_rsa_padding *p, const struct evc_rsa_hash *hash,
                           const uint8_t *key, const struct evc_rsa_piece *pieces, size_t n_pieces,
                           uint8_t *out)
{
    struct evc_rsa_piece all[4] = {{BLOCK(p), hash->block_bytes}};
    enum evc_status status;

    for (size_t i = 0; i < n_pieces; i++)
        all[i + 1] = pieces[i];
    pad_key(hash, key, 0x36, BLOCK(p));
    status = evc_rsa_digest(hash, all, n_pieces + 1, INNER(p));
    if (status != EVC_OK)
        return status;
    pad_key(hash, key, 0x5c, BLOCK(p));
    all[1] = (struct evc_rsa_piece){INNER(p), hash->digest_bytes};
    return evc_rsa_digest(hash, all, 2, out);
}

/* out = IRPRF of the draft: n_bytes bytes by the derivation key and a label. */
static enum evc_status derive(const struct evc_rsa_padding *p, const struct evc_rsa_hash *hash,
                              const char *label, size_t label_bytes, uint8_t *out, size_t n_bytes)
{
    const size_t n_bits = 8 * n_bytes;
    const uint8_t bits[2] = {(uint8_t)(n_bits >> 8), (uint8_t)n_bits};

    for (unsigned i = 0; n_bytes; i++) {
        const size_t n = n_bytes < hash->digest_bytes ? n_bytes : hash->digest_bytes;
        const uint8_t number[2] = {(uint8_t)(i >> 8), (uint8_t)i};
        const struct evc_rsa_piece pieces[] = {
            {number, 2}, {(const uint8_t *)label, label_bytes}, {bits, 2}};
        const enum evc_status status = mac(p, hash, DERIVATION_KEY(p), pieces, 3, OUTPUT(p));

        if (status != EVC_OK)
            return status;
        evc_copy_secret(out, OUTPUT(p), n);
        out += n;
        n_bytes -= n;
    }
    return EVC_OK;
}

/* The last of 128 candidates, cut to as many bits as the most has, that is below
 * the most; 0 if none is. */
static uint32_t choose_length(const uint8_t *candidates, size_t n_bytes)
{
    const uint32_t most = (uint32_t)n_bytes - 2 - LEAST_FILLING;
    const uint32_t ones = evc_ones_below(most);
    uint32_t length = 0;

    for (size_t i = 0; i < N_LENGTHS; i++) {
        const uint32_t candidate =
            ((uint32_t)candidates[2 * i] << 8 | candidates[2 * i + 1]) & ones;

        length = evc_choose32(evc_mask_below32(candidate, most), candidate, length);
    }
    return length;
}

/* p->number = a message of n_bytes bytes, of which the last *length are to be taken. */
static enum evc_status make_message(const struct evc_rsa_private *key,
                                    const struct evc_rsa_hash *hash, const uint8_t *ciphertext,
                                    const struct evc_rsa_padding *p, uint32_t *length)
{
    const struct evc_rsa_piece d = {evc_rsa_d(key), key->n_bytes}, c = {ciphertext, key->n_bytes};
    enum evc_status status = evc_rsa_digest(hash, &d, 1, OUTPUT(p));

    if (status == EVC_OK)
        status = mac(p, hash, OUTPUT(p), &c, 1, DERIVATION_KEY(p));
    if (status == EVC_OK)
        status = derive(p, hash, "length", 6, LENGTHS(p), 2 * N_LENGTHS);
    if (status == EVC_OK)
        status = derive(p, hash, "message", 7, p->number, key->n_bytes);
    if (status == EVC_OK)
        *length = choose_length(LENGTHS(p), key->n_bytes);
    return status;
}

/* ---- Decryption ------------------------------------------------------------------------------ */

/* All ones if the padding is right; the message has *length bytes then. */
static uint32_t check_padding(const uint8_t *em, size_t n_bytes, uint32_t *length)
{
    uint32_t found = 0, at = 0;

    for (size_t i = 2; i < n_bytes; i++) {
        const uint32_t is_first = evc_mask_same32(em[i], 0) & ~found;

        at = evc_choose32(is_first, (uint32_t)i, at);
        found |= is_first;
    }
    *length = (uint32_t)n_bytes - 1 - at;
    return found & evc_mask_same32(em[0], 0) & evc_mask_same32(em[1], 2) &
           ~evc_mask_below32(at, 2 + LEAST_FILLING);
}

/* Moves the bytes down by a secret number of places, by each of its bits; zeros follow. */
static void move_down(uint8_t *bytes, size_t n_bytes, uint32_t places)
{
    for (size_t step = 1; step <= n_bytes; step *= 2) {
        const uint32_t mask = evc_mask_nonzero32(places & (uint32_t)step);

        for (size_t i = 0; i < n_bytes; i++)
            bytes[i] =
                (uint8_t)evc_choose32(mask, i + step < n_bytes ? bytes[i + step] : 0, bytes[i]);
    }
}

/* The encoded message is in p->em, the other one in p->number. */
static void release(const struct evc_rsa_padding *p, size_t n_bytes, uint32_t made_length,
                    uint8_t *message, size_t *message_bytes)
{
    uint32_t length;
    const uint32_t good = check_padding(p->em, n_bytes, &length);

    length = evc_choose32(good, length, made_length);
    for (size_t i = 0; i < n_bytes; i++)
        p->em[i] = (uint8_t)evc_choose32(good, p->em[i], p->number[i]);
    move_down(p->em, n_bytes, (uint32_t)n_bytes - length);
    evc_copy_secret(message, p->em, n_bytes - OVERHEAD);
    *message_bytes = length;
}

static enum evc_status check_decryption(const struct evc_rsa_hash *hash, const uint8_t *ciphertext,
                                        size_t ciphertext_bytes, size_t n_bytes)
{
    const enum evc_status status = evc_rsa_check_hash(hash);

    if (status != EVC_OK)
        return status;
    if (hash->block_bytes < hash->digest_bytes || hash->block_bytes > EVC_RSA_MOST_BLOCK_BYTES)
        return EVC_ERR_HASH;
    if (ciphertext_bytes != n_bytes)
        return EVC_ERR_LENGTH;
    return ciphertext ? EVC_OK : EVC_ERR_PARAMETER;
}

enum evc_status evc_rsa_decrypt_pkcs1(const struct evc_rsa_private *key,
                                      const struct evc_rsa_hash *hash, const uint8_t *ciphertext,
                                      size_t ciphertext_bytes, const struct evc_random *random,
                                      uint8_t *message, size_t *message_bytes, void *scratch,
                                      size_t scratch_bytes)
{
    struct evc_rsa_padding p;
    enum evc_status status;
    uint32_t length = 0;

    if (!EVC_IS_SET(key))
        return evc_key_error(key);
    *message_bytes = 0;
    evc_wipe(message, key->n_bytes - OVERHEAD);
    status = evc_rsa_padding_place(&p, evc_rsa_public_part(key), scratch, scratch_bytes);
    if (status != EVC_OK)
        return status;
    status = check_decryption(hash, ciphertext, ciphertext_bytes, key->n_bytes);
    if (status == EVC_OK)
        status = evc_rsa_private(key, ciphertext, p.em, random, p.rest, p.rest_bytes);
    if (status == EVC_OK)
        status = make_message(key, hash, ciphertext, &p, &length);
    if (status == EVC_OK)
        release(&p, key->n_bytes, length, message, message_bytes);
    evc_rsa_padding_end(&p, key->kernel);
    return status;
}

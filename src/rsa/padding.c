/* SPDX-License-Identifier: MIT */
#include "rsa/padding.h"

#define LEAST_DIGEST_BYTES 16u

size_t evc_rsa_padding_scratch_bytes(const struct evc_bn *kernel, size_t n_bits)
{
    const size_t raw_bytes = evc_rsa_scratch_bytes(kernel, n_bits);

    return raw_bytes ? 15 + 2 * EVC_BN_ROUND16((n_bits + 7) / 8) + EVC_RSA_PADDING_ROOM + raw_bytes
                     : 0;
}

enum evc_status evc_rsa_padding_place(struct evc_rsa_padding *p, const struct evc_rsa_public *key,
                                      void *scratch, size_t scratch_bytes)
{
    uint8_t *at = evc_rsa_scratch_start(scratch);

    if (scratch_bytes < evc_rsa_padding_scratch_bytes(key->kernel, key->n_bits))
        return EVC_ERR_SCRATCH;
    p->em = evc_rsa_cut(&at, key->n_bytes);
    p->number = evc_rsa_cut(&at, key->n_bytes);
    p->room = evc_rsa_cut(&at, EVC_RSA_PADDING_ROOM);
    p->rest = at;
    p->rest_bytes = evc_rsa_scratch_bytes(key->kernel, key->n_bits);
    return EVC_OK;
}

enum evc_status evc_rsa_check_sizes(const struct evc_rsa_hash *hash)
{
    return hash && hash->digest_bytes >= LEAST_DIGEST_BYTES &&
                   hash->digest_bytes <= EVC_RSA_MOST_DIGEST_BYTES
               ? EVC_OK
               : EVC_ERR_HASH;
}

enum evc_status evc_rsa_check_hash(const struct evc_rsa_hash *hash)
{
    return hash && hash->digest ? evc_rsa_check_sizes(hash) : EVC_ERR_HASH;
}

enum evc_status evc_rsa_digest(const struct evc_rsa_hash *hash, const struct evc_rsa_piece *pieces,
                               size_t n_pieces, uint8_t *out)
{
    return hash->digest(hash->context, pieces, n_pieces, out) == 0 ? EVC_OK : EVC_ERR_HASH;
}

enum evc_status evc_rsa_mask(const struct evc_rsa_hash *hash, const uint8_t *seed,
                             size_t seed_bytes, uint8_t *target, size_t target_bytes, uint8_t *room)
{
    for (uint32_t counter = 0; target_bytes; counter++) {
        const size_t n = target_bytes < hash->digest_bytes ? target_bytes : hash->digest_bytes;
        uint8_t number[4];
        const struct evc_rsa_piece pieces[] = {{seed, seed_bytes}, {number, sizeof number}};
        enum evc_status status;

        evc_store32_be(number, counter);
        status = evc_rsa_digest(hash, pieces, 2, room);
        if (status != EVC_OK)
            return status;
        evc_xor(target, target, room, n);
        target += n;
        target_bytes -= n;
    }
    return EVC_OK;
}

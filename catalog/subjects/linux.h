/* SPDX-License-Identifier: MIT */
/* Parts that the adapters of Linux share: a file that each of them includes once. */
#ifndef SUBJECT_LINUX_H
#define SUBJECT_LINUX_H

#include <string.h>

#include "subject.h"

/* ---- Tables of the generic code, which the scalar code and the one of byte tables read ------- */

uint32_t crypto_ft_tab[4][256], crypto_it_tab[4][256];
uint8_t crypto_aes_sbox[256], crypto_aes_inv_sbox[256];

static uint8_t times(uint8_t a, uint8_t b) /* in GF(2^8): FIPS 197 section 4.2 */
{
    uint8_t product = 0;

    for (; b; b >>= 1, a = (uint8_t)(a << 1 ^ (a >> 7) * 0x1b))
        product ^= (uint8_t)((b & 1) * a);
    return product;
}

static uint8_t substituted(uint8_t a) /* FIPS 197 section 5.1.1 */
{
    uint8_t inverse = 1, result = 0x63;

    for (unsigned i = 0; i < 254; i++)
        inverse = times(inverse, a);
    for (unsigned i = 0; i < 5; i++)
        result ^= (uint8_t)(inverse << i | inverse >> (8 - i));
    return result;
}

static uint32_t column(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
    return a | (uint32_t)b << 8 | (uint32_t)c << 16 | (uint32_t)d << 24;
}

void tables(struct subject_job *job)
{
    (void)job;
    if (crypto_aes_sbox[0])
        return;
    for (unsigned i = 0; i < 256; i++) {
        crypto_aes_sbox[i] = substituted((uint8_t)i);
        crypto_aes_inv_sbox[crypto_aes_sbox[i]] = (uint8_t)i;
    }
    for (unsigned i = 0; i < 256; i++) { /* sections 5.1.3 and 5.3.3: the first columns */
        uint8_t s = crypto_aes_sbox[i], t = crypto_aes_inv_sbox[i];
        uint32_t e = column(times(s, 2), s, s, times(s, 3));
        uint32_t d = column(times(t, 14), times(t, 9), times(t, 13), times(t, 11));
        for (unsigned r = 0; r < 4; r++) {
            crypto_ft_tab[r][i] = r ? e << 8 * r | e >> (32 - 8 * r) : e;
            crypto_it_tab[r][i] = r ? d << 8 * r | d >> (32 - 8 * r) : d;
        }
    }
}

/* ---- Bit-sliced: aes-neonbs-core.S, in groups of 8 blocks ------------------------------------ */

void aesbs_convert_key(uint8_t *out, const uint8_t *rk, int rounds);
void aesbs_ecb_encrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds, int blocks);
void aesbs_ecb_decrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds, int blocks);
void aesbs_cbc_decrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds, int blocks,
                       uint8_t *iv);

void bitslice_key(struct subject_job *job)
{
    tables(job); /* XTS encrypts its tweak by aes-neon.S */
    aesbs_convert_key(job->own, job->enc, (int)job->rounds);
}

SUBJECT_GLUE void bitslice_ecb_enc(struct subject_job *job)
{
    aesbs_ecb_encrypt(job->out, job->in, job->own, (int)job->rounds, (int)job->n_blocks);
}

SUBJECT_GLUE void bitslice_ecb_dec(struct subject_job *job)
{
    aesbs_ecb_decrypt(job->out, job->in, job->own, (int)job->rounds, (int)job->n_blocks);
}

SUBJECT_GLUE void bitslice_cbc_dec(struct subject_job *job)
{
    aesbs_cbc_decrypt(job->out, job->in, job->own, (int)job->rounds, (int)job->n_blocks, job->iv);
}

/* ---- GHASH: ghash-ce-core.S ------------------------------------------------------------------ */

typedef uint64_t ghash_word[2]; /* the lower half first */

void pmull_ghash_update_p64(int blocks, uint64_t *dg, const uint8_t *in, const ghash_word *h,
                            const uint8_t *head);
void pmull_ghash_update_p8(int blocks, uint64_t *dg, const uint8_t *in, const ghash_word *h,
                           const uint8_t *head);

static uint64_t big_endian(const uint8_t *bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < 8; i++)
        value = value << 8 | bytes[i];
    return value;
}

static void put_big_endian(uint8_t *bytes, uint64_t value)
{
    for (unsigned i = 8; i-- > 0; value >>= 8)
        bytes[i] = (uint8_t)value;
}

/* Powers of H as numbers, the coefficient of x^0 in the highest bit (SP 800-38D section 6.3), times
 * x: the product of two such numbers is then where a product of polynomials has it. */
static inline void ghash_powers(struct subject_job *job, ghash_word *powers)
{
    for (unsigned i = 0; i < 4; i++) {
        uint64_t high = big_endian(job->h[i]), low = big_endian(job->h[i] + 8), carry = high >> 63;
        powers[i][0] = low << 1 | carry;
        powers[i][1] = (high << 1 | low >> 63) ^ carry * UINT64_C(0xc200000000000000);
    }
}

void ghash_key(struct subject_job *job)
{
    ghash_powers(job, job->own);
}

#define GHASH(name)                                                               \
    SUBJECT_GLUE void ghash_##name(struct subject_job *job)                       \
    {                                                                             \
        uint64_t dg[2] = {0, 0};                                                  \
        pmull_ghash_update_##name((int)job->n_blocks, dg, job->in, job->own, NULL); \
        put_big_endian(job->tag, dg[1]);                                          \
        put_big_endian(job->tag + 8, dg[0]);                                      \
    }

GHASH(p8)
GHASH(p64)

#endif

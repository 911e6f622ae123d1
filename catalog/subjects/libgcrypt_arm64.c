/* SPDX-License-Identifier: MIT */
/* libgcrypt for 64-bit Arm, called as its own callers (1.12: cipher/rijndael-armv8-ce.c,
 * cipher/cipher-gcm.c) do. Key schedules in memory order are those of libgcrypt. */
#include <string.h>

#include "subject.h"

/* ---- Instructions for AES: rijndael-armv8-aarch64-ce.S --------------------------------------- */

unsigned _gcry_aes_enc_armv8_ce(const void *rk, uint8_t *out, const uint8_t *in, unsigned rounds);
void _gcry_aes_ecb_enc_armv8_ce(const void *rk, uint8_t *out, const uint8_t *in, size_t n_blocks,
                                unsigned rounds);
void _gcry_aes_ecb_dec_armv8_ce(const void *rk, uint8_t *out, const uint8_t *in, size_t n_blocks,
                                unsigned rounds);
void _gcry_aes_cbc_enc_armv8_ce(const void *rk, uint8_t *out, const uint8_t *in, uint8_t *iv,
                                size_t n_blocks, int mac, unsigned rounds);
void _gcry_aes_cbc_dec_armv8_ce(const void *rk, uint8_t *out, const uint8_t *in, uint8_t *iv,
                                size_t n_blocks, unsigned rounds);
void _gcry_aes_ctr_enc_armv8_ce(const void *rk, uint8_t *out, const uint8_t *in, uint8_t *iv,
                                size_t n_blocks, unsigned rounds);
void _gcry_aes_xts_enc_armv8_ce(const void *rk, uint8_t *out, const uint8_t *in, uint8_t *tweak,
                                size_t n_blocks, unsigned rounds);
void _gcry_aes_xts_dec_armv8_ce(const void *rk, uint8_t *out, const uint8_t *in, uint8_t *tweak,
                                size_t n_blocks, unsigned rounds);

SUBJECT_GLUE void ce_ecb_enc(struct subject_job *job)
{
    _gcry_aes_ecb_enc_armv8_ce(job->enc, job->out, job->in, job->n_blocks, job->rounds);
}

SUBJECT_GLUE void ce_ecb_dec(struct subject_job *job)
{
    _gcry_aes_ecb_dec_armv8_ce(job->dec, job->out, job->in, job->n_blocks, job->rounds);
}

SUBJECT_GLUE void ce_cbc_enc(struct subject_job *job)
{
    _gcry_aes_cbc_enc_armv8_ce(job->enc, job->out, job->in, job->iv, job->n_blocks, 0, job->rounds);
}

SUBJECT_GLUE void ce_cbc_dec(struct subject_job *job)
{
    _gcry_aes_cbc_dec_armv8_ce(job->dec, job->out, job->in, job->iv, job->n_blocks, job->rounds);
}

SUBJECT_GLUE void ce_ctr(struct subject_job *job)
{
    _gcry_aes_ctr_enc_armv8_ce(job->enc, job->out, job->in, job->iv, job->n_blocks, job->rounds);
}

SUBJECT_GLUE void ce_xts_enc(struct subject_job *job)
{
    _gcry_aes_enc_armv8_ce(job->tweak_enc, job->iv, job->iv, job->rounds);
    _gcry_aes_xts_enc_armv8_ce(job->enc, job->out, job->in, job->iv, job->n_blocks, job->rounds);
}

SUBJECT_GLUE void ce_xts_dec(struct subject_job *job)
{
    _gcry_aes_enc_armv8_ce(job->tweak_enc, job->iv, job->iv, job->rounds);
    _gcry_aes_xts_dec_armv8_ce(job->dec, job->out, job->in, job->iv, job->n_blocks, job->rounds);
}

/* ---- GHASH: cipher-gcm-armv8-aarch64-ce.S, cipher-gcm-aarch64-simd.c ------------------------- */

void _gcry_ghash_setup_armv8_ce_pmull(void *h, void *table);
unsigned _gcry_ghash_armv8_ce_pmull(void *h, uint8_t *y, const uint8_t *in, size_t n_blocks,
                                    void *table);
void _gcry_ghash_setup_aarch64_simd(void *handle);
unsigned _gcry_ghash_aarch64_simd(void *handle, uint8_t *y, const uint8_t *in, size_t n_blocks);

void ghash_p64_key(struct subject_job *job)
{
    memcpy(job->own, job->h[0], 16);
    _gcry_ghash_setup_armv8_ce_pmull(job->own, job->own2);
}

SUBJECT_GLUE void ghash_p64(struct subject_job *job)
{
    _gcry_ghash_armv8_ce_pmull(job->own, job->tag, job->in, job->n_blocks, job->own2);
}

void ghash_p8_key(struct subject_job *job)
{
    memcpy(job->own, job->h[0], 16);
    _gcry_ghash_setup_aarch64_simd(job->own);
}

SUBJECT_GLUE void ghash_p8(struct subject_job *job)
{
    _gcry_ghash_aarch64_simd(job->own, job->tag, job->in, job->n_blocks);
}

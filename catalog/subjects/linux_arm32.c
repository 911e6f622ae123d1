/* SPDX-License-Identifier: MIT */
/*
 * Linux for 32-bit Arm, called as its own callers (arch/arm/crypto, *-glue.c, 6.1) do: a
 * whole message in one call, and what they do before and behind it. Key schedules in memory
 * order are those of Linux.
 */
#include "linux.h"

/* ---- Scalar: aes-cipher-core.S, a block a call ----------------------------------------------- */

void __aes_arm_encrypt(const uint8_t *rk, int rounds, const uint8_t *in, uint8_t *out);
void __aes_arm_decrypt(const uint8_t *rk, int rounds, const uint8_t *in, uint8_t *out);

SUBJECT_GLUE void scalar_ecb_enc(struct subject_job *job)
{
    for (size_t i = 0; i < job->n_blocks; i++)
        __aes_arm_encrypt(job->enc, (int)job->rounds, job->in + 16 * i, job->out + 16 * i);
}

SUBJECT_GLUE void scalar_ecb_dec(struct subject_job *job)
{
    for (size_t i = 0; i < job->n_blocks; i++)
        __aes_arm_decrypt(job->dec, (int)job->rounds, job->in + 16 * i, job->out + 16 * i);
}

/* ---- Bit-sliced: the first tweak is encrypted by the scalar code ----------------------------- */

void aesbs_ctr_encrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds, int bytes,
                       uint8_t *iv);
void aesbs_xts_encrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds, int blocks,
                       uint8_t *iv, int swap);
void aesbs_xts_decrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds, int blocks,
                       uint8_t *iv, int swap);

SUBJECT_GLUE void bitslice_ctr(struct subject_job *job)
{
    aesbs_ctr_encrypt(job->out, job->in, job->own, (int)job->rounds, (int)job->n_bytes, job->iv);
}

SUBJECT_GLUE void bitslice_xts_enc(struct subject_job *job)
{
    __aes_arm_encrypt(job->tweak_enc, (int)job->rounds, job->iv, job->iv);
    aesbs_xts_encrypt(job->out, job->in, job->own, (int)job->rounds, (int)job->n_blocks, job->iv,
                      0);
}

SUBJECT_GLUE void bitslice_xts_dec(struct subject_job *job)
{
    __aes_arm_encrypt(job->tweak_enc, (int)job->rounds, job->iv, job->iv);
    aesbs_xts_decrypt(job->out, job->in, job->own, (int)job->rounds, (int)job->n_blocks, job->iv,
                      0);
}

/* ---- Instructions for AES: aes-ce-core.S ----------------------------------------------------- */

void ce_aes_ecb_encrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds, int blocks);
void ce_aes_cbc_encrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds, int blocks,
                        uint8_t *iv);
void ce_aes_cbc_decrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds, int blocks,
                        uint8_t *iv);
void ce_aes_ctr_encrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds, int blocks,
                        uint8_t *iv);
void ce_aes_xts_encrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds, int bytes,
                        uint8_t *iv, const uint8_t *rk2, int first);
void ce_aes_xts_decrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds, int bytes,
                        uint8_t *iv, const uint8_t *rk2, int first);

SUBJECT_GLUE void ce_ecb_enc(struct subject_job *job)
{
    ce_aes_ecb_encrypt(job->out, job->in, job->enc, (int)job->rounds, (int)job->n_blocks);
}

SUBJECT_GLUE void ce_cbc_enc(struct subject_job *job)
{
    ce_aes_cbc_encrypt(job->out, job->in, job->enc, (int)job->rounds, (int)job->n_blocks, job->iv);
}

SUBJECT_GLUE void ce_cbc_dec(struct subject_job *job)
{
    ce_aes_cbc_decrypt(job->out, job->in, job->dec, (int)job->rounds, (int)job->n_blocks, job->iv);
}

SUBJECT_GLUE void ce_ctr(struct subject_job *job)
{
    ce_aes_ctr_encrypt(job->out, job->in, job->enc, (int)job->rounds, (int)job->n_blocks, job->iv);
}

SUBJECT_GLUE void ce_xts_enc(struct subject_job *job)
{
    ce_aes_xts_encrypt(job->out, job->in, job->enc, (int)job->rounds, (int)job->n_bytes, job->iv,
                       job->tweak_enc, 1);
}

SUBJECT_GLUE void ce_xts_dec(struct subject_job *job)
{
    ce_aes_xts_decrypt(job->out, job->in, job->dec, (int)job->rounds, (int)job->n_bytes, job->iv,
                       job->tweak_enc, 1);
}

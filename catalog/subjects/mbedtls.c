/* SPDX-License-Identifier: MIT */
/* Mbed TLS 3.6, called as its users do (include/mbedtls/aes.h). Its context has no
 * pointers out of itself. */
#include <string.h>

#include "subject.h"

void mbedtls_aes_init(void *ctx);
int mbedtls_aes_setkey_enc(void *ctx, const uint8_t *key, unsigned bits);
int mbedtls_aes_setkey_dec(void *ctx, const uint8_t *key, unsigned bits);
int mbedtls_aes_crypt_ecb(void *ctx, int mode, const uint8_t *in, uint8_t *out);
int mbedtls_aes_crypt_cbc(void *ctx, int mode, size_t n_bytes, uint8_t *iv, const uint8_t *in,
                          uint8_t *out);
int mbedtls_aes_crypt_ctr(void *ctx, size_t n_bytes, size_t *used, uint8_t *counter,
                          uint8_t *stream, const uint8_t *in, uint8_t *out);

enum { DECRYPT, ENCRYPT };

void enc_key(struct subject_job *job)
{
    mbedtls_aes_init(job->own);
    mbedtls_aes_setkey_enc(job->own, job->user_key, job->key_bits);
}

void dec_key(struct subject_job *job)
{
    mbedtls_aes_init(job->own);
    mbedtls_aes_setkey_dec(job->own, job->user_key, job->key_bits);
}

SUBJECT_GLUE void ecb_enc(struct subject_job *job)
{
    for (size_t i = 0; i < job->n_blocks; i++)
        mbedtls_aes_crypt_ecb(job->own, ENCRYPT, job->in + 16 * i, job->out + 16 * i);
}

SUBJECT_GLUE void cbc_enc(struct subject_job *job)
{
    mbedtls_aes_crypt_cbc(job->own, ENCRYPT, job->n_bytes, job->iv, job->in, job->out);
}

SUBJECT_GLUE void cbc_dec(struct subject_job *job)
{
    mbedtls_aes_crypt_cbc(job->own, DECRYPT, job->n_bytes, job->iv, job->in, job->out);
}

SUBJECT_GLUE void ctr(struct subject_job *job)
{
    uint8_t stream[16];
    size_t used = 0;

    mbedtls_aes_crypt_ctr(job->own, job->n_bytes, &used, job->iv, stream, job->in, job->out);
}

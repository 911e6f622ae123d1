/* SPDX-License-Identifier: MIT */
/* Parts that the adapters of OpenSSL share: a file that each of them includes once. */
#ifndef SUBJECT_OPENSSL_H
#define SUBJECT_OPENSSL_H

#include <string.h>

#include "subject.h"

unsigned OPENSSL_armcap_P; /* which asks for no code path: the functions are called by name */

struct aes_key {
    uint32_t words[60];
    int rounds;
};

static struct aes_key tweak_key;

static inline uint64_t big_endian(const uint8_t *bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < 8; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* ---- Bit-sliced: bsaes-armv7.pl, bsaes-armv8.pl, which convert the key in every call --------- */

void ossl_bsaes_cbc_encrypt(const uint8_t *in, uint8_t *out, size_t n_bytes,
                            const struct aes_key *key, uint8_t *iv, int enc);
void ossl_bsaes_ctr32_encrypt_blocks(const uint8_t *in, uint8_t *out, size_t n_blocks,
                                     const struct aes_key *key, const uint8_t *iv);
void ossl_bsaes_xts_encrypt(const uint8_t *in, uint8_t *out, size_t n_bytes,
                            const struct aes_key *key1, const struct aes_key *key2,
                            const uint8_t *iv);
void ossl_bsaes_xts_decrypt(const uint8_t *in, uint8_t *out, size_t n_bytes,
                            const struct aes_key *key1, const struct aes_key *key2,
                            const uint8_t *iv);

SUBJECT_GLUE void bitslice_cbc_dec(struct subject_job *job)
{
    ossl_bsaes_cbc_encrypt(job->in, job->out, job->n_bytes, job->own2, job->iv, 0);
}

SUBJECT_GLUE void bitslice_ctr(struct subject_job *job)
{
    ossl_bsaes_ctr32_encrypt_blocks(job->in, job->out, job->n_blocks, job->own, job->iv);
}

SUBJECT_GLUE void bitslice_xts_enc(struct subject_job *job)
{
    ossl_bsaes_xts_encrypt(job->in, job->out, job->n_bytes, job->own, &tweak_key, job->iv);
}

SUBJECT_GLUE void bitslice_xts_dec(struct subject_job *job)
{
    ossl_bsaes_xts_decrypt(job->in, job->out, job->n_bytes, job->own2, &tweak_key, job->iv);
}

/* ---- Instructions for AES: aesv8-armx.pl ----------------------------------------------------- */

int aes_v8_set_encrypt_key(const uint8_t *user_key, int bits, struct aes_key *key);
int aes_v8_set_decrypt_key(const uint8_t *user_key, int bits, struct aes_key *key);
void aes_v8_encrypt(const uint8_t *in, uint8_t *out, const struct aes_key *key);
void aes_v8_ecb_encrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const struct aes_key *key,
                        int enc);
void aes_v8_cbc_encrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const struct aes_key *key,
                        uint8_t *iv, int enc);
void aes_v8_ctr32_encrypt_blocks(const uint8_t *in, uint8_t *out, size_t n_blocks,
                                 const struct aes_key *key, const uint8_t *iv);
void ce_key(struct subject_job *job)
{
    aes_v8_set_encrypt_key(job->user_key, (int)job->key_bits, job->own);
    aes_v8_set_decrypt_key(job->user_key, (int)job->key_bits, job->own2);
    aes_v8_set_encrypt_key(job->tweak_key, (int)job->key_bits, &tweak_key);
}

SUBJECT_GLUE void ce_ecb_enc(struct subject_job *job)
{
    aes_v8_ecb_encrypt(job->in, job->out, job->n_bytes, job->own, 1);
}

SUBJECT_GLUE void ce_cbc_enc(struct subject_job *job)
{
    aes_v8_cbc_encrypt(job->in, job->out, job->n_bytes, job->own, job->iv, 1);
}

SUBJECT_GLUE void ce_cbc_dec(struct subject_job *job)
{
    aes_v8_cbc_encrypt(job->in, job->out, job->n_bytes, job->own2, job->iv, 0);
}

SUBJECT_GLUE void ce_ctr(struct subject_job *job)
{
    aes_v8_ctr32_encrypt_blocks(job->in, job->out, job->n_blocks, job->own, job->iv);
}

/* ---- GHASH: ghashv8-armx.pl ------------------------------------------------------------------ */

/* The kernels of GCM find H at their distance from the hash. */
struct hash {
    uint8_t y[16], h[16];
    uint64_t powers[16][2];
};

void gcm_init_v8(uint64_t powers[16][2], const uint64_t h[2]);
void gcm_gmult_v8(uint8_t y[16], const uint64_t powers[16][2]);
void gcm_ghash_v8(uint8_t y[16], const uint64_t powers[16][2], const uint8_t *in, size_t n_bytes);

void ghash_key(struct subject_job *job)
{
    struct hash *hash = job->own2;
    uint64_t h[2] = {big_endian(job->h[0]), big_endian(job->h[0] + 8)};

    memset(hash->y, 0, 16);
    gcm_init_v8(hash->powers, h);
}

SUBJECT_GLUE void ghash_p64(struct subject_job *job)
{
    struct hash *hash = job->own2;

    gcm_ghash_v8(hash->y, hash->powers, job->in, job->n_bytes);
    memcpy(job->tag, hash->y, 16);
}

#endif

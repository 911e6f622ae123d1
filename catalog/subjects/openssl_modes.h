/* SPDX-License-Identifier: MIT */
/*
 * The modes of OpenSSL in C (crypto/modes), as adapters call them around its assembly: what they
 * execute is counted. Not counted is the code of the providers around both.
 */
#ifndef SUBJECT_OPENSSL_MODES_H
#define SUBJECT_OPENSSL_MODES_H

#include "subject.h"

struct aes_key {
    uint32_t words[60];
    int rounds;
};

/* The beginning of its context of GCM: assembly finds powers by their distance from the hash. */
struct gcm {
    uint8_t counter[16], stream[16], mask[16];
    uint64_t aad_bytes, text_bytes;
    uint8_t y[16], h[16];
    uint64_t powers[16][2];
};

typedef void block_of(const uint8_t *in, uint8_t *out, const void *key);
typedef void ctr32_of(const uint8_t *in, uint8_t *out, size_t n_blocks, const void *key,
                      const uint8_t iv[16]);
typedef void hash_init(uint64_t powers[16][2], const uint64_t h[2]);
typedef void hash_bytes(uint8_t y[16], const uint64_t powers[16][2], const uint8_t *in,
                        size_t n_bytes);

void CRYPTO_cbc128_encrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const void *key,
                           uint8_t iv[16], block_of *block);
void CRYPTO_cbc128_decrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const void *key,
                           uint8_t iv[16], block_of *block);
void CRYPTO_ctr128_encrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const void *key,
                           uint8_t iv[16], uint8_t stream[16], unsigned *n_used, block_of *block);
void CRYPTO_ctr128_encrypt_ctr32(const uint8_t *in, uint8_t *out, size_t n_bytes, const void *key,
                                 uint8_t iv[16], uint8_t stream[16], unsigned *n_used,
                                 ctr32_of *ctr32);

struct xts {
    const void *key, *tweak_key;
    block_of *block, *tweak_block;
};

int CRYPTO_xts128_encrypt(const struct xts *xts, const uint8_t iv[16], const uint8_t *in,
                          uint8_t *out, size_t n_bytes, int enc);

void CRYPTO_gcm128_init(struct gcm *gcm, void *key, block_of *block);
void CRYPTO_gcm128_setiv(struct gcm *gcm, const uint8_t *iv, size_t n_bytes);
int CRYPTO_gcm128_encrypt(struct gcm *gcm, const uint8_t *in, uint8_t *out, size_t n_bytes);
int CRYPTO_gcm128_decrypt(struct gcm *gcm, const uint8_t *in, uint8_t *out, size_t n_bytes);
int CRYPTO_gcm128_encrypt_ctr32(struct gcm *gcm, const uint8_t *in, uint8_t *out, size_t n_bytes,
                                ctr32_of *ctr32);
int CRYPTO_gcm128_decrypt_ctr32(struct gcm *gcm, const uint8_t *in, uint8_t *out, size_t n_bytes,
                                ctr32_of *ctr32);
void CRYPTO_gcm128_tag(struct gcm *gcm, uint8_t *tag, size_t n_bytes);

static inline uint64_t big_endian(const uint8_t *bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < 8; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* The context of GCM is in job->own2. */
static inline void ghash_set_h(struct subject_job *job, hash_init *init)
{
    const uint64_t h[2] = {big_endian(job->h[0]), big_endian(job->h[0] + 8)};
    struct gcm *gcm = job->own2;

    init(gcm->powers, h);
}

static inline __attribute__((always_inline)) void ghash_run(struct subject_job *job,
                                                            hash_bytes *hash)
{
    struct gcm *gcm = job->own2;

    for (unsigned i = 0; i < 16; i++)
        gcm->y[i] = 0;
    hash(gcm->y, gcm->powers, job->in, job->n_bytes);
    for (unsigned i = 0; i < 16; i++)
        job->tag[i] = gcm->y[i];
}

#endif

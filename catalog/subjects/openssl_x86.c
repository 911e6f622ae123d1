/* SPDX-License-Identifier: MIT */
/* OpenSSL's assembly for x86-64, called as its EVP layer does: what people write by hand. */
#include "blocks.h"

/* Bit 28: threads share the first cache, so that AES_cbc_encrypt takes the compact
 * table at all lengths. */
unsigned OPENSSL_ia32cap_P[10] = {1u << 28};

struct key {
    unsigned words[60];
    int rounds;
};

#define KEYS(name, way)                                                                   \
    int name##_set_##way##crypt_key(const uint8_t *user_key, int bits, struct key *key);  \
    void name##_##way##_key(struct subject_job *job)                                      \
    {                                                                                     \
        name##_set_##way##crypt_key(job->user_key, (int)job->key_bits, job->own);         \
    }

#define CBC_OF(name, function)                                                            \
    void function(const uint8_t *in, uint8_t *out, size_t n_bytes, const struct key *key, \
                  uint8_t *iv, int enc);                                                  \
    SUBJECT_GLUE void name##_cbc_enc(struct subject_job *job)                             \
    {                                                                                     \
        function(job->in, job->out, job->n_bytes, job->own, job->iv, 1);                  \
    }                                                                                     \
    SUBJECT_GLUE void name##_cbc_dec(struct subject_job *job)                             \
    {                                                                                     \
        function(job->in, job->out, job->n_bytes, job->own, job->iv, 0);                  \
    }

/* ---- A compact table, read ahead: aes-x86_64.pl ---------------------------------------------- */

KEYS(AES, en)
KEYS(AES, de)
CBC_OF(table, AES_cbc_encrypt)

void AES_encrypt(const uint8_t *in, uint8_t *out, const struct key *key);
#define BLOCK(job, to, from) AES_encrypt(from, to, (job)->own)
CBC(block_cbc_enc, BLOCK)

/* ---- Vector permutation: vpaes-x86_64.pl ----------------------------------------------------- */

KEYS(vpaes, en)
KEYS(vpaes, de)
CBC_OF(vpaes, vpaes_cbc_encrypt)

/* ---- Instructions for AES: aesni-x86_64.pl --------------------------------------------------- */

KEYS(aesni, en)
KEYS(aesni, de)
CBC_OF(aesni, aesni_cbc_encrypt)

void aesni_ctr32_encrypt_blocks(const uint8_t *in, uint8_t *out, size_t n_blocks,
                                const struct key *key, const uint8_t *iv);

SUBJECT_GLUE void aesni_ctr(struct subject_job *job)
{
    aesni_ctr32_encrypt_blocks(job->in, job->out, job->n_blocks, job->own, job->iv);
}

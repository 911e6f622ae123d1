/* SPDX-License-Identifier: MIT */
/* OpenSSL for 32-bit Arm, called as its own callers (3.5: crypto/modes,
 * providers/implementations/ciphers) do. */
#include "openssl.h"

/* ---- Scalar, tables: aes-armv4.pl, a block a call -------------------------------------------- */

int AES_set_encrypt_key(const uint8_t *user_key, int bits, struct aes_key *key);
int AES_set_decrypt_key(const uint8_t *user_key, int bits, struct aes_key *key);
void AES_encrypt(const uint8_t *in, uint8_t *out, const struct aes_key *key);
void AES_decrypt(const uint8_t *in, uint8_t *out, const struct aes_key *key);

/* Also that of the bit-sliced code. */
void scalar_key(struct subject_job *job)
{
    AES_set_encrypt_key(job->user_key, (int)job->key_bits, job->own);
    AES_set_decrypt_key(job->user_key, (int)job->key_bits, job->own2);
    AES_set_encrypt_key(job->tweak_key, (int)job->key_bits, &tweak_key);
}

SUBJECT_GLUE void scalar_ecb_enc(struct subject_job *job)
{
    for (size_t i = 0; i < job->n_blocks; i++)
        AES_encrypt(job->in + 16 * i, job->out + 16 * i, job->own);
}

SUBJECT_GLUE void scalar_ecb_dec(struct subject_job *job)
{
    for (size_t i = 0; i < job->n_blocks; i++)
        AES_decrypt(job->in + 16 * i, job->out + 16 * i, job->own2);
}

/* Never called: the bit-sliced code asks for it below 128 bytes. */
void AES_cbc_encrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const struct aes_key *key,
                     uint8_t *iv, int enc);
void AES_cbc_encrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const struct aes_key *key,
                     uint8_t *iv, int enc)
{
    (void)in;
    (void)out;
    (void)n_bytes;
    (void)key;
    (void)iv;
    (void)enc;
    __builtin_trap();
}

/* ---- GHASH by tables of 4 bits and by products of 8: ghash-armv4.pl -------------------------- */

void gcm_ghash_4bit(uint8_t y[16], const uint64_t powers[16][2], const uint8_t *in, size_t n_bytes);
void gcm_init_neon(uint64_t powers[16][2], const uint64_t h[2]);
void gcm_ghash_neon(uint8_t y[16], const uint64_t powers[16][2], const uint8_t *in, size_t n_bytes);

void ghash_p8_key(struct subject_job *job)
{
    struct hash *hash = job->own2;
    uint64_t h[2] = {big_endian(job->h[0]), big_endian(job->h[0] + 8)};

    memset(hash->y, 0, 16);
    gcm_init_neon(hash->powers, h);
}

SUBJECT_GLUE void ghash_p8(struct subject_job *job)
{
    struct hash *hash = job->own2;

    gcm_ghash_neon(hash->y, hash->powers, job->in, job->n_bytes);
    memcpy(job->tag, hash->y, 16);
}

/* i x H for i of 4 bits, the coefficient of x^0 in the highest (SP 800-38D section 6.3),
 * the lower half first. */
void ghash_table4_key(struct subject_job *job)
{
    struct hash *hash = job->own2;
    uint64_t high = big_endian(job->h[0]), low = big_endian(job->h[0] + 8);

    memset(hash, 0, sizeof *hash);
    for (unsigned bit = 8; bit; bit >>= 1) {
        for (unsigned i = 0; i < 16; i++) {
            if (i & bit) {
                hash->powers[i][0] ^= low;
                hash->powers[i][1] ^= high;
            }
        }
        uint64_t carry = low & 1; /* times x */
        low = low >> 1 | high << 63;
        high = high >> 1 ^ carry * UINT64_C(0xe100000000000000);
    }
}

SUBJECT_GLUE void ghash_table4(struct subject_job *job)
{
    struct hash *hash = job->own2;

    gcm_ghash_4bit(hash->y, hash->powers, job->in, job->n_bytes);
    memcpy(job->tag, hash->y, 16);
}

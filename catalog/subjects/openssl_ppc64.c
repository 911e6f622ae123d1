/* SPDX-License-Identifier: MIT */
/* OpenSSL for 64-bit POWER: the assembly of aesp8-ppc.pl, ghashp8-ppc.pl, aes-gcm-ppc.pl and
 * sha512p8-ppc.pl, and the modes in C that call it. Key schedules are OpenSSL's own. */
#include "hashes.h"
#include "openssl_modes.h"

unsigned OPENSSL_ppccap_P = 1u << 2; /* PPC_CRYPTO207: GHASH by vpmsumd */

static struct aes_key tweak_key;

/* ---- AES: aesp8-ppc.pl ----------------------------------------------------------------------- */

int aes_p8_set_encrypt_key(const uint8_t *user_key, int bits, struct aes_key *key);
int aes_p8_set_decrypt_key(const uint8_t *user_key, int bits, struct aes_key *key);
block_of aes_p8_encrypt, aes_p8_decrypt;
ctr32_of aes_p8_ctr32_encrypt_blocks;
void aes_p8_cbc_encrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const struct aes_key *key,
                        uint8_t *iv, int enc);
void aes_p8_xts_encrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const struct aes_key *key1,
                        const struct aes_key *key2, const uint8_t *iv);
void aes_p8_xts_decrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const struct aes_key *key1,
                        const struct aes_key *key2, const uint8_t *iv);

void p8_key(struct subject_job *job)
{
    aes_p8_set_encrypt_key(job->user_key, (int)job->key_bits, job->own);
    aes_p8_set_decrypt_key(job->user_key, (int)job->key_bits, job->own2);
    aes_p8_set_encrypt_key(job->tweak_key, (int)job->key_bits, &tweak_key);
}

SUBJECT_GLUE void ecb_enc(struct subject_job *job)
{
    for (size_t i = 0; i < job->n_bytes; i += 16)
        aes_p8_encrypt(job->in + i, job->out + i, job->own);
}

SUBJECT_GLUE void ecb_dec(struct subject_job *job)
{
    for (size_t i = 0; i < job->n_bytes; i += 16)
        aes_p8_decrypt(job->in + i, job->out + i, job->own2);
}

SUBJECT_GLUE void cbc_enc(struct subject_job *job)
{
    aes_p8_cbc_encrypt(job->in, job->out, job->n_bytes, job->own, job->iv, 1);
}

SUBJECT_GLUE void cbc_dec(struct subject_job *job)
{
    aes_p8_cbc_encrypt(job->in, job->out, job->n_bytes, job->own2, job->iv, 0);
}

SUBJECT_GLUE void ctr(struct subject_job *job)
{
    uint8_t stream[16];
    unsigned n_used = 0;

    CRYPTO_ctr128_encrypt_ctr32(job->in, job->out, job->n_bytes, job->own, job->iv, stream, &n_used,
                                aes_p8_ctr32_encrypt_blocks);
}

SUBJECT_GLUE void xts_enc(struct subject_job *job)
{
    aes_p8_xts_encrypt(job->in, job->out, job->n_bytes, job->own, &tweak_key, job->iv);
}

SUBJECT_GLUE void xts_dec(struct subject_job *job)
{
    aes_p8_xts_decrypt(job->in, job->out, job->n_bytes, job->own2, &tweak_key, job->iv);
}

/* ---- GHASH: ghashp8-ppc.pl ------------------------------------------------------------------- */

hash_init gcm_init_p8;
hash_bytes gcm_ghash_p8;

void ghash_key(struct subject_job *job)
{
    ghash_set_h(job, gcm_init_p8);
}

SUBJECT_GLUE void ghash(struct subject_job *job)
{
    ghash_run(job, gcm_ghash_p8);
}

/* ---- GCM: gcm128.c over both, and aes-gcm-ppc.pl for POWER9 and later ------------------------ */

size_t ppc_aes_gcm_encrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const void *key,
                           uint8_t counter[16], uint8_t y[16]);
size_t ppc_aes_gcm_decrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const void *key,
                           uint8_t counter[16], uint8_t y[16]);

void gcm_key(struct subject_job *job)
{
    aes_p8_set_encrypt_key(job->user_key, (int)job->key_bits, job->own);
    CRYPTO_gcm128_init(job->own2, job->own, aes_p8_encrypt);
}

#define FUSED_BYTES 128 /* the shortest text for aes-gcm-ppc.pl */

/* fused: of aes-gcm-ppc.pl, or NULL. It does not leave the next counter. */
static inline __attribute__((always_inline)) void
message(struct subject_job *job,
        size_t (*fused)(const uint8_t *in, uint8_t *out, size_t n_bytes, const void *key,
                        uint8_t counter[16], uint8_t y[16]),
        int (*rest)(struct gcm *gcm, const uint8_t *in, uint8_t *out, size_t n_bytes,
                    ctr32_of *ctr32))
{
    struct gcm *gcm = job->own2;
    size_t done = 0;

    CRYPTO_gcm128_setiv(gcm, job->iv, 12);
    if (fused && job->n_bytes >= FUSED_BYTES) {
        done = job->n_bytes / 16 * 16;
        fused(job->in, job->out, done, job->own, gcm->counter, gcm->y);
        for (unsigned i = 0; i < 12; i++)
            gcm->counter[i] = job->iv[i];
        for (unsigned i = 0; i < 4; i++)
            gcm->counter[12 + i] = (uint8_t)((uint32_t)(2 + done / 16) >> (24 - 8 * i));
        gcm->text_bytes += done;
    }
    rest(gcm, job->in + done, job->out + done, job->n_bytes - done, aes_p8_ctr32_encrypt_blocks);
    CRYPTO_gcm128_tag(gcm, job->tag, 16);
}

SUBJECT_GLUE void gcm_seal(struct subject_job *job)
{
    message(job, NULL, CRYPTO_gcm128_encrypt_ctr32);
}

SUBJECT_GLUE void gcm_open(struct subject_job *job)
{
    message(job, NULL, CRYPTO_gcm128_decrypt_ctr32);
}

#ifdef __LITTLE_ENDIAN__

SUBJECT_GLUE void gcm_p10_seal(struct subject_job *job)
{
    message(job, ppc_aes_gcm_encrypt, CRYPTO_gcm128_encrypt_ctr32);
}

SUBJECT_GLUE void gcm_p10_open(struct subject_job *job)
{
    message(job, ppc_aes_gcm_decrypt, CRYPTO_gcm128_decrypt_ctr32);
}

#endif

/* ---- SHA-2: sha512p8-ppc.pl ------------------------------------------------------------------ */

void sha256_block_p8(void *h, const void *in, size_t n_blocks);
void sha512_block_p8(void *h, const void *in, size_t n_blocks);

void sha2_key(struct subject_job *job)
{
    set_hash_starts(job->own);
}

SHA256_BLOCKS(sha256_blocks, sha256_block_p8(h, job->in, job->n_bytes / 64))
SHA512_BLOCKS(sha512_blocks, sha512_block_p8(h, job->in, job->n_bytes / 128))

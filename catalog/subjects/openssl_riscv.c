/* SPDX-License-Identifier: MIT */
/* OpenSSL for RISC-V with scalar instructions: the assembly of aes-riscv64-zkn.pl or
 * aes-riscv32-zkn.pl (one block a call), that of ghash-riscv64.pl, and the modes in C that call it.
 * With 32 bits its GHASH is C. Key schedules are OpenSSL's own. */
#include "openssl_modes.h"

#if __riscv_xlen == 64
#define set_encrypt_key rv64i_zkne_set_encrypt_key
#define set_decrypt_key rv64i_zknd_set_decrypt_key
#define encrypt rv64i_zkne_encrypt
#define decrypt rv64i_zknd_decrypt
#else
#define set_encrypt_key rv32i_zbkb_zkne_set_encrypt_key
#define set_decrypt_key rv32i_zbkb_zknd_zkne_set_decrypt_key
#define encrypt rv32i_zkne_encrypt
#define decrypt rv32i_zknd_decrypt
#endif

uint32_t OPENSSL_riscvcap_P[8] = {1u << 2 | 1u << 4}; /* Zbc and Zbkb: GHASH by clmul and rev8 */

/* Asked of CPUs with vectors only. */
size_t riscv_vlen(void)
{
    return 0;
}

static struct aes_key tweak_key;

int set_encrypt_key(const uint8_t *user_key, int bits, struct aes_key *key);
int set_decrypt_key(const uint8_t *user_key, int bits, struct aes_key *key);
block_of encrypt, decrypt;

void zkn_key(struct subject_job *job)
{
    set_encrypt_key(job->user_key, (int)job->key_bits, job->own);
    set_decrypt_key(job->user_key, (int)job->key_bits, job->own2);
    set_encrypt_key(job->tweak_key, (int)job->key_bits, &tweak_key);
}

SUBJECT_GLUE void ecb_enc(struct subject_job *job)
{
    for (size_t i = 0; i < job->n_bytes; i += 16)
        encrypt(job->in + i, job->out + i, job->own);
}

SUBJECT_GLUE void ecb_dec(struct subject_job *job)
{
    for (size_t i = 0; i < job->n_bytes; i += 16)
        decrypt(job->in + i, job->out + i, job->own2);
}

SUBJECT_GLUE void cbc_enc(struct subject_job *job)
{
    CRYPTO_cbc128_encrypt(job->in, job->out, job->n_bytes, job->own, job->iv, encrypt);
}

SUBJECT_GLUE void cbc_dec(struct subject_job *job)
{
    CRYPTO_cbc128_decrypt(job->in, job->out, job->n_bytes, job->own2, job->iv, decrypt);
}

SUBJECT_GLUE void ctr(struct subject_job *job)
{
    uint8_t stream[16] __attribute__((aligned(8)));
    unsigned n_used = 0;

    CRYPTO_ctr128_encrypt(job->in, job->out, job->n_bytes, job->own, job->iv, stream, &n_used,
                          encrypt);
}

SUBJECT_GLUE void xts_enc(struct subject_job *job)
{
    const struct xts xts = {job->own, &tweak_key, encrypt, encrypt};

    CRYPTO_xts128_encrypt(&xts, job->iv, job->in, job->out, job->n_bytes, 1);
}

SUBJECT_GLUE void xts_dec(struct subject_job *job)
{
    const struct xts xts = {job->own2, &tweak_key, decrypt, encrypt};

    CRYPTO_xts128_encrypt(&xts, job->iv, job->in, job->out, job->n_bytes, 0);
}

#if __riscv_xlen == 64
hash_init gcm_init_rv64i_zbc__zbkb;
hash_bytes gcm_ghash_rv64i_zbc__zbkb;

void ghash_key(struct subject_job *job)
{
    ghash_set_h(job, gcm_init_rv64i_zbc__zbkb);
}

SUBJECT_GLUE void ghash(struct subject_job *job)
{
    ghash_run(job, gcm_ghash_rv64i_zbc__zbkb);
}
#endif

void gcm_key(struct subject_job *job)
{
    set_encrypt_key(job->user_key, (int)job->key_bits, job->own);
    CRYPTO_gcm128_init(job->own2, job->own, encrypt);
}

SUBJECT_GLUE void gcm_seal(struct subject_job *job)
{
    CRYPTO_gcm128_setiv(job->own2, job->iv, 12);
    CRYPTO_gcm128_encrypt(job->own2, job->in, job->out, job->n_bytes);
    CRYPTO_gcm128_tag(job->own2, job->tag, 16);
}

SUBJECT_GLUE void gcm_open(struct subject_job *job)
{
    CRYPTO_gcm128_setiv(job->own2, job->iv, 12);
    CRYPTO_gcm128_decrypt(job->own2, job->in, job->out, job->n_bytes);
    CRYPTO_gcm128_tag(job->own2, job->tag, 16);
}

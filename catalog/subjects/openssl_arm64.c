/* SPDX-License-Identifier: MIT */
/*
 * OpenSSL for 64-bit Arm, called as its own callers (3.5: crypto/modes,
 * providers/implementations/ciphers) do. Not counted is their C code around it: in GCM what begins,
 * pads and ends a message. Key schedules are OpenSSL's own.
 */
#include "hashes.h"
#include "openssl.h"

static struct aes_key *key_of(struct subject_job *job)
{
    return job->own;
}

static void put_big_endian(uint8_t *bytes, uint64_t value)
{
    for (unsigned i = 8; i-- > 0; value >>= 8)
        bytes[i] = (uint8_t)value;
}

/* ---- Vector permute: vpaes-armv8.pl ---------------------------------------------------------- */

int vpaes_set_encrypt_key(const uint8_t *user_key, int bits, struct aes_key *key);
int vpaes_set_decrypt_key(const uint8_t *user_key, int bits, struct aes_key *key);
void vpaes_encrypt(const uint8_t *in, uint8_t *out, const struct aes_key *key);
void vpaes_ecb_encrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const struct aes_key *key);
void vpaes_ecb_decrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const struct aes_key *key);
void vpaes_cbc_encrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const struct aes_key *key,
                       uint8_t *iv, int enc);

void vpaes_key(struct subject_job *job)
{
    vpaes_set_encrypt_key(job->user_key, (int)job->key_bits, job->own);
    vpaes_set_decrypt_key(job->user_key, (int)job->key_bits, job->own2);
}

SUBJECT_GLUE void vpaes_ecb_enc(struct subject_job *job)
{
    vpaes_ecb_encrypt(job->in, job->out, job->n_bytes, job->own);
}

SUBJECT_GLUE void vpaes_ecb_dec(struct subject_job *job)
{
    vpaes_ecb_decrypt(job->in, job->out, job->n_bytes, job->own2);
}

SUBJECT_GLUE void vpaes_cbc_enc(struct subject_job *job)
{
    vpaes_cbc_encrypt(job->in, job->out, job->n_bytes, job->own, job->iv, 1);
}

SUBJECT_GLUE void vpaes_cbc_dec(struct subject_job *job)
{
    vpaes_cbc_encrypt(job->in, job->out, job->n_bytes, job->own2, job->iv, 0);
}

/* ---- Bit-sliced: bsaes-armv8.pl -------------------------------------------------------------- */

static uint64_t first_tweak[2];

/* bsaes calls this for a single block: here only the first tweak, which is not counted. */
SUBJECT_GLUE void AES_encrypt(const uint8_t *in, uint8_t *out, const struct aes_key *key)
{
    (void)in;
    (void)key;
    memcpy(out, first_tweak, 16);
}

/* Never called: lengths are multiples of 128 bytes. */
void AES_decrypt(const uint8_t *in, uint8_t *out, const struct aes_key *key)
{
    (void)in;
    (void)out;
    (void)key;
    __builtin_trap();
}

void AES_cbc_encrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const struct aes_key *key,
                     uint8_t *iv, int enc)
{
    (void)iv;
    (void)enc;
    (void)n_bytes;
    AES_decrypt(in, out, key);
}

/* As the C code does: words of the schedule as numbers, the first byte in the highest bits. */
static void schedule(struct aes_key *key, const uint8_t *bytes, unsigned rounds)
{
    for (unsigned i = 0; i < 4 * (rounds + 1); i++, bytes += 4)
        key->words[i] = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
                        (uint32_t)bytes[2] << 8 | bytes[3];
    key->rounds = (int)rounds;
}

void bitslice_key(struct subject_job *job)
{
    schedule(job->own, job->enc, job->rounds);
    schedule(job->own2, job->dec, job->rounds);
    vpaes_set_encrypt_key(job->tweak_key, (int)job->key_bits, &tweak_key);
    vpaes_encrypt(job->iv, (uint8_t *)first_tweak, &tweak_key);
}

/* ---- Instructions for AES: aesv8-armx.pl, what it has for 64 bits only ----------------------- */

void aes_v8_ctr32_encrypt_blocks_unroll12_eor3(const uint8_t *in, uint8_t *out, size_t n_blocks,
                                               const struct aes_key *key, const uint8_t *iv);
void aes_v8_xts_encrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const struct aes_key *key1,
                        const struct aes_key *key2, const uint8_t *iv);
void aes_v8_xts_decrypt(const uint8_t *in, uint8_t *out, size_t n_bytes, const struct aes_key *key1,
                        const struct aes_key *key2, const uint8_t *iv);

SUBJECT_GLUE void ce_ctr_unroll12(struct subject_job *job)
{
    aes_v8_ctr32_encrypt_blocks_unroll12_eor3(job->in, job->out, job->n_blocks, job->own, job->iv);
}

SUBJECT_GLUE void ce_xts_enc(struct subject_job *job)
{
    aes_v8_xts_encrypt(job->in, job->out, job->n_bytes, job->own, &tweak_key, job->iv);
}

SUBJECT_GLUE void ce_xts_dec(struct subject_job *job)
{
    aes_v8_xts_decrypt(job->in, job->out, job->n_bytes, job->own2, &tweak_key, job->iv);
}

/* ---- GCM: aes-gcm-armv8_64.pl, aes-gcm-armv8-unroll8_64.pl ----------------------------------- */

#define KERNEL(name)                                                                            \
    size_t name(const uint8_t *in, uint64_t n_bits, uint8_t *out, uint8_t *y, uint8_t *counter, \
                const struct aes_key *key);
KERNEL(aes_gcm_enc_128_kernel)
KERNEL(aes_gcm_enc_192_kernel)
KERNEL(aes_gcm_enc_256_kernel)
KERNEL(aes_gcm_dec_128_kernel)
KERNEL(aes_gcm_dec_192_kernel)
KERNEL(aes_gcm_dec_256_kernel)
KERNEL(unroll8_eor3_aes_gcm_enc_128_kernel)
KERNEL(unroll8_eor3_aes_gcm_enc_192_kernel)
KERNEL(unroll8_eor3_aes_gcm_enc_256_kernel)
KERNEL(unroll8_eor3_aes_gcm_dec_128_kernel)
KERNEL(unroll8_eor3_aes_gcm_dec_192_kernel)
KERNEL(unroll8_eor3_aes_gcm_dec_256_kernel)

typedef size_t kernel(const uint8_t *in, uint64_t n_bits, uint8_t *out, uint8_t *y,
                      uint8_t *counter, const struct aes_key *key);

#define FEWEST 512 /* bytes: shorter messages go through CTR and GHASH apart */

void gcm_key(struct subject_job *job)
{
    ce_key(job);
    ghash_key(job);
}

static inline __attribute__((always_inline)) void message(struct subject_job *job, kernel *run,
                                                          int seals)
{
    const struct aes_key *key = key_of(job);
    struct hash *hash = job->own2;
    size_t whole = job->n_bytes & ~(size_t)15, rest = job->n_bytes - whole;
    uint8_t mask[16], stream[16], *text = seals ? job->out + whole : (uint8_t *)job->in + whole;

    put_big_endian(job->iv + 8, (uint64_t)((uint32_t)(big_endian(job->iv + 8) >> 32)) << 32 | 1);
    aes_v8_encrypt(job->iv, mask, key);
    job->iv[15] = 2;
    if (job->n_bytes >= FEWEST) {
        run(job->in, 8 * (uint64_t)whole, job->out, hash->y, job->iv, key);
    } else if (whole) {
        if (!seals)
            gcm_ghash_v8(hash->y, hash->powers, job->in, whole);
        aes_v8_ctr32_encrypt_blocks(job->in, job->out, whole / 16, key, job->iv);
        if (seals)
            gcm_ghash_v8(hash->y, hash->powers, job->out, whole);
        job->iv[15] = (uint8_t)(2 + whole / 16); /* no carry: fewer than 32 blocks */
    }
    if (rest) {
        aes_v8_encrypt(job->iv, stream, key);
        for (size_t i = 0; i < rest; i++)
            job->out[whole + i] = job->in[whole + i] ^ stream[i];
        for (size_t i = 0; i < rest; i++)
            hash->y[i] ^= text[i];
        gcm_gmult_v8(hash->y, hash->powers);
    }
    put_big_endian(stream, 8 * (uint64_t)job->n_bytes);
    for (unsigned i = 0; i < 8; i++)
        hash->y[8 + i] ^= stream[i];
    gcm_gmult_v8(hash->y, hash->powers);
    for (unsigned i = 0; i < 16; i++)
        job->tag[i] = hash->y[i] ^ mask[i];
}

#define GCM(name, prefix)                                             \
    SUBJECT_GLUE void name##_seal(struct subject_job *job)            \
    {                                                                 \
        message(job,                                                  \
                job->rounds == 10   ? prefix##aes_gcm_enc_128_kernel  \
                : job->rounds == 12 ? prefix##aes_gcm_enc_192_kernel  \
                                    : prefix##aes_gcm_enc_256_kernel, \
                1);                                                   \
    }                                                                 \
    SUBJECT_GLUE void name##_open(struct subject_job *job)            \
    {                                                                 \
        message(job,                                                  \
                job->rounds == 10   ? prefix##aes_gcm_dec_128_kernel  \
                : job->rounds == 12 ? prefix##aes_gcm_dec_192_kernel  \
                                    : prefix##aes_gcm_dec_256_kernel, \
                0);                                                   \
    }

GCM(gcm, )
GCM(gcm_unroll8, unroll8_eor3_)

/* ---- SHA-2: sha512-armv8.pl, which asks OPENSSL_armcap_P ------------------------------------- */

void sha256_block_data_order(void *h, const void *in, size_t n_blocks);
void sha512_block_data_order(void *h, const void *in, size_t n_blocks);

void sha2_key(struct subject_job *job)
{
    OPENSSL_armcap_P = 1u << 4 | 1u << 6; /* ARMV8_SHA256, ARMV8_SHA512 */
    set_hash_starts(job->own);
}

SHA256_BLOCKS(sha256_blocks, sha256_block_data_order(h, job->in, job->n_bytes / 64))
SHA512_BLOCKS(sha512_blocks, sha512_block_data_order(h, job->in, job->n_bytes / 128))

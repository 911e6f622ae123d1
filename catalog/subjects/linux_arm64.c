/* SPDX-License-Identifier: MIT */
/*
 * Linux for 64-bit Arm, called as its own callers (arch/arm64/crypto, *-glue.c, 6.1) do: a
 * whole message in one call, and what they do before and behind it. Key schedules in memory
 * order are those of Linux.
 */
#include "hashes.h"
#include "linux.h"

/* ---- Scalar: aes-cipher-core.S, a block a call ----------------------------------------------- */

void __aes_arm64_encrypt(const uint8_t *rk, uint8_t *out, const uint8_t *in, int rounds);
void __aes_arm64_decrypt(const uint8_t *rk, uint8_t *out, const uint8_t *in, int rounds);

SUBJECT_GLUE void scalar_ecb_enc(struct subject_job *job)
{
    for (size_t i = 0; i < job->n_blocks; i++)
        __aes_arm64_encrypt(job->enc, job->out + 16 * i, job->in + 16 * i, (int)job->rounds);
}

SUBJECT_GLUE void scalar_ecb_dec(struct subject_job *job)
{
    for (size_t i = 0; i < job->n_blocks; i++)
        __aes_arm64_decrypt(job->dec, job->out + 16 * i, job->in + 16 * i, (int)job->rounds);
}

/* ---- aes-modes.S, which aes-neon.S (S-box in 16 registers) and aes-ce.S
 * (instructions for AES) include */

#define MODES(prefix, name)                                                                        \
    void prefix##_aes_ecb_encrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds,  \
                                  int blocks);                                                     \
    void prefix##_aes_ecb_decrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds,  \
                                  int blocks);                                                     \
    void prefix##_aes_cbc_encrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds,  \
                                  int blocks, uint8_t *iv);                                        \
    void prefix##_aes_cbc_decrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds,  \
                                  int blocks, uint8_t *iv);                                        \
    void prefix##_aes_ctr_encrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds,  \
                                  int bytes, uint8_t *iv);                                         \
    void prefix##_aes_xts_encrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds,  \
                                  int bytes, const uint8_t *rk2, uint8_t *iv, int first);          \
    void prefix##_aes_xts_decrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds,  \
                                  int bytes, const uint8_t *rk2, uint8_t *iv, int first);          \
    SUBJECT_GLUE void name##_ecb_enc(struct subject_job *job)                                      \
    {                                                                                              \
        prefix##_aes_ecb_encrypt(job->out, job->in, job->enc, (int)job->rounds,                    \
                                 (int)job->n_blocks);                                              \
    }                                                                                              \
    SUBJECT_GLUE void name##_ecb_dec(struct subject_job *job)                                      \
    {                                                                                              \
        prefix##_aes_ecb_decrypt(job->out, job->in, job->dec, (int)job->rounds,                    \
                                 (int)job->n_blocks);                                              \
    }                                                                                              \
    SUBJECT_GLUE void name##_cbc_enc(struct subject_job *job)                                      \
    {                                                                                              \
        prefix##_aes_cbc_encrypt(job->out, job->in, job->enc, (int)job->rounds,                    \
                                 (int)job->n_blocks, job->iv);                                     \
    }                                                                                              \
    SUBJECT_GLUE void name##_cbc_dec(struct subject_job *job)                                      \
    {                                                                                              \
        prefix##_aes_cbc_decrypt(job->out, job->in, job->dec, (int)job->rounds,                    \
                                 (int)job->n_blocks, job->iv);                                     \
    }                                                                                              \
    SUBJECT_GLUE void name##_ctr(struct subject_job *job)                                          \
    {                                                                                              \
        prefix##_aes_ctr_encrypt(job->out, job->in, job->enc, (int)job->rounds, (int)job->n_bytes, \
                                 job->iv);                                                         \
    }                                                                                              \
    SUBJECT_GLUE void name##_xts_enc(struct subject_job *job)                                      \
    {                                                                                              \
        prefix##_aes_xts_encrypt(job->out, job->in, job->enc, (int)job->rounds, (int)job->n_bytes, \
                                 job->tweak_enc, job->iv, 1);                                      \
    }                                                                                              \
    SUBJECT_GLUE void name##_xts_dec(struct subject_job *job)                                      \
    {                                                                                              \
        prefix##_aes_xts_decrypt(job->out, job->in, job->dec, (int)job->rounds, (int)job->n_bytes, \
                                 job->tweak_enc, job->iv, 1);                                      \
    }

MODES(neon, tbl)
MODES(ce, ce)

/* ---- Bit-sliced: the first tweak is encrypted by aes-neon.S ---------------------------------- */

void aesbs_ctr_encrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds, int blocks,
                       uint8_t *iv);
void aesbs_xts_encrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds, int blocks,
                       uint8_t *iv);
void aesbs_xts_decrypt(uint8_t *out, const uint8_t *in, const uint8_t *rk, int rounds, int blocks,
                       uint8_t *iv);

/* Groups of 8 blocks; what is left by aes-neon.S, which wants less than a block
 * at the end of 16 bytes. */
static inline __attribute__((always_inline)) void bitslice_stream(struct subject_job *job)
{
    size_t groups = job->n_bytes / 128 * 128, rest = job->n_bytes - groups;
    const uint8_t *in = job->in + groups;
    uint8_t *out = job->out + groups, buffer[16];

    if (groups)
        aesbs_ctr_encrypt(job->out, job->in, job->own, (int)job->rounds, (int)(groups / 16),
                          job->iv);
    if (rest && rest < 16) {
        for (size_t i = 0; i < rest; i++)
            buffer[16 - rest + i] = in[i];
        neon_aes_ctr_encrypt(buffer + 16 - rest, buffer + 16 - rest, job->enc, (int)job->rounds,
                             (int)rest, job->iv);
        for (size_t i = 0; i < rest; i++)
            out[i] = buffer[16 - rest + i];
    } else if (rest) {
        neon_aes_ctr_encrypt(out, in, job->enc, (int)job->rounds, (int)rest, job->iv);
    }
}

SUBJECT_GLUE void bitslice_ctr(struct subject_job *job)
{
    bitslice_stream(job);
}

SUBJECT_GLUE void bitslice_xts_enc(struct subject_job *job)
{
    neon_aes_ecb_encrypt(job->iv, job->iv, job->tweak_enc, (int)job->rounds, 1);
    aesbs_xts_encrypt(job->out, job->in, job->own, (int)job->rounds, (int)job->n_blocks, job->iv);
}

SUBJECT_GLUE void bitslice_xts_dec(struct subject_job *job)
{
    neon_aes_ecb_encrypt(job->iv, job->iv, job->tweak_enc, (int)job->rounds, 1);
    aesbs_xts_decrypt(job->out, job->in, job->own, (int)job->rounds, (int)job->n_blocks, job->iv);
}

/* ---- GCM: ghash-ce-core.S -------------------------------------------------------------------- */

void pmull_gcm_encrypt(int bytes, uint8_t *out, const uint8_t *in, const ghash_word *h,
                       uint64_t *dg, uint8_t *ctr, const uint8_t *rk, int rounds, uint8_t *tag);
int pmull_gcm_decrypt(int bytes, uint8_t *out, const uint8_t *in, const ghash_word *h, uint64_t *dg,
                      uint8_t *ctr, const uint8_t *rk, int rounds, const uint8_t *lengths,
                      const uint8_t *tag, uint64_t tag_bytes);

SUBJECT_GLUE void gcm_seal(struct subject_job *job)
{
    uint64_t dg[2] = {0, 0};

    memcpy(job->iv + 12, "\0\0\0\2", 4); /* behind the block for the tag */
    put_big_endian(job->tag, 0);
    put_big_endian(job->tag + 8, 8 * (uint64_t)job->n_bytes);
    pmull_gcm_encrypt((int)job->n_bytes, job->out, job->in, job->own, dg, job->iv, job->enc,
                      (int)job->rounds, job->tag);
}

SUBJECT_GLUE void gcm_open(struct subject_job *job)
{
    uint64_t dg[2] = {0, 0};
    uint8_t lengths[16] = {0};

    memcpy(job->iv + 12, "\0\0\0\2", 4);
    put_big_endian(lengths + 8, 8 * (uint64_t)job->n_bytes);
    job->opened = !pmull_gcm_decrypt((int)job->n_bytes, job->out, job->in, job->own, dg, job->iv,
                                     job->enc, (int)job->rounds, lengths, job->given_tag, 16);
}

/* ---- GCM without instructions for AES: the template (crypto/gcm.c) on bit-sliced CTR and GHASH by
 * products of 8 bits --- */

void gcm_bitslice_key(struct subject_job *job)
{
    bitslice_key(job);
    ghash_powers(job, job->own2);
}

static inline __attribute__((always_inline)) void hash_text(struct subject_job *job,
                                                            const uint8_t *text)
{
    uint64_t dg[2] = {0, 0};
    size_t rest = job->n_bytes % 16;
    uint8_t block[16] = {0};

    if (job->n_blocks)
        pmull_ghash_update_p8((int)job->n_blocks, dg, text, job->own2, NULL);
    if (rest) {
        for (size_t i = 0; i < rest; i++)
            block[i] = text[16 * job->n_blocks + i];
        pmull_ghash_update_p8(1, dg, block, job->own2, NULL);
    }
    put_big_endian(block, 0);
    put_big_endian(block + 8, 8 * (uint64_t)job->n_bytes);
    pmull_ghash_update_p8(1, dg, block, job->own2, NULL);
    put_big_endian(block, dg[1]);
    put_big_endian(block + 8, dg[0]);
    for (unsigned i = 0; i < 16; i++)
        job->tag[i] ^= block[i];
}

SUBJECT_GLUE void gcm_bitslice_seal(struct subject_job *job)
{
    put_big_endian(job->iv + 8, big_endian(job->iv + 8) >> 32 << 32 | 1);
    neon_aes_ctr_encrypt(job->tag, job->tag, job->enc, (int)job->rounds, 16, job->iv);
    bitslice_stream(job);
    hash_text(job, job->out);
}

SUBJECT_GLUE void gcm_bitslice_open(struct subject_job *job)
{
    put_big_endian(job->iv + 8, big_endian(job->iv + 8) >> 32 << 32 | 1);
    neon_aes_ctr_encrypt(job->tag, job->tag, job->enc, (int)job->rounds, 16, job->iv);
    hash_text(job, job->in);
    bitslice_stream(job);
}

/* ---- SHA-2: sha2-ce-core.S, which looks behind the state whether it is to pad the message, and
 * sha512-ce-core.S --- */

struct sha256_ce_state {
    uint32_t h[8];
    uint64_t count;
    uint32_t finalize; /* 0: whole blocks alone */
};

const uint32_t sha256_ce_offsetof_count = offsetof(struct sha256_ce_state, count);
const uint32_t sha256_ce_offsetof_finalize = offsetof(struct sha256_ce_state, finalize);

int sha2_ce_transform(void *state, const uint8_t *in, int n_blocks);
int sha512_ce_transform(void *state, const uint8_t *in, int n_blocks);

void sha2_key(struct subject_job *job)
{
    memset(job->own2, 0, sizeof(struct sha256_ce_state));
    set_hash_starts(job->own);
}

SHA256_BLOCKS(sha256_blocks, sha2_ce_transform(h, job->in, (int)(job->n_bytes / 64)))
SHA512_BLOCKS(sha512_blocks, sha512_ce_transform(h, job->in, (int)(job->n_bytes / 128)))

/* SPDX-License-Identifier: MIT */
/* The portable AES of Linux (6.1: lib/crypto/aes.c, crypto/aes_generic.c), a block a call. The key's layout is that of
 * include/crypto/aes.h: both schedules, 60 words each, and the bytes of the key. */
#include <string.h>

#include "subject.h"

struct schedules {
    uint32_t enc[60], dec[60], key_bytes;
};

/* ---- A table of 256 bytes, all of whose cache lines are touched for every block ------------------------------------------ */

int aes_expandkey(struct schedules *key, const uint8_t *user_key, unsigned bytes);
void aes_encrypt(const struct schedules *key, uint8_t *out, const uint8_t *in);
void aes_decrypt(const struct schedules *key, uint8_t *out, const uint8_t *in);

void fixed_key(struct subject_job *job)
{
    aes_expandkey(job->own, job->user_key, job->key_bits / 8);
}

SUBJECT_GLUE void fixed_ecb_enc(struct subject_job *job)
{
    for (size_t i = 0; i < job->n_blocks; i++)
        aes_encrypt(job->own, job->out + 16 * i, job->in + 16 * i);
}

SUBJECT_GLUE void fixed_ecb_dec(struct subject_job *job)
{
    for (size_t i = 0; i < job->n_blocks; i++)
        aes_decrypt(job->own, job->out + 16 * i, job->in + 16 * i);
}

/* ---- Four tables of 1 KiB and as many for the last round ------------------------------------------------------------------ */

#include "linux/linux/crypto.h"

struct crypto_alg *subject_registered;
extern int (*subject_register)(void);

static struct crypto_tfm generic;

void generic_key(struct subject_job *job)
{
    fixed_key(job);
    generic.context = job->own;
    subject_register();
}

SUBJECT_GLUE void generic_ecb_enc(struct subject_job *job)
{
    for (size_t i = 0; i < job->n_blocks; i++)
        subject_registered->cra_u.cipher.cia_encrypt(&generic, job->out + 16 * i, job->in + 16 * i);
}

SUBJECT_GLUE void generic_ecb_dec(struct subject_job *job)
{
    for (size_t i = 0; i < job->n_blocks; i++)
        subject_registered->cra_u.cipher.cia_decrypt(&generic, job->out + 16 * i, job->in + 16 * i);
}

/* SPDX-License-Identifier: MIT */
/* The portable AES of Linux 7 (lib/crypto/aes.c): a table of 1 KiB for each direction
 * and rotations. A key of it, struct aes_key of include/crypto/aes.h, is made and read
 * by its own functions alone. */
#include "blocks.h"

int aes_preparekey(void *key, const uint8_t *user_key, size_t n_bytes);
/* a union of pointers is passed as one */
void aes_encrypt(const void *key, uint8_t *out, const uint8_t *in);
void aes_decrypt(const void *key, uint8_t *out, const uint8_t *in);

void library_key(struct subject_job *job)
{
    aes_preparekey(job->own, job->user_key, job->key_bits / 8);
}

#define ENCRYPT(job, to, from) aes_encrypt((job)->own, to, from)
#define DECRYPT(job, to, from) aes_decrypt((job)->own, to, from)

ECB(library_ecb_enc, ENCRYPT)
ECB(library_ecb_dec, DECRYPT)
CBC(library_cbc_enc, ENCRYPT)

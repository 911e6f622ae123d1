/* SPDX-License-Identifier: MIT */
/* The portable AES of Linux 6 (lib/crypto/aes.c, crypto/aes_generic.c), a block a call.
 * The key's layout is that of include/crypto/aes.h: both schedules, 60 words each, and
 * the bytes of the key. */
#include "blocks.h"

struct schedules {
    uint32_t enc[60], dec[60], key_bytes;
};

/* ---- A table of 256 bytes, all of whose cache lines are touched for every block -------------- */

int aes_expandkey(struct schedules *key, const uint8_t *user_key, unsigned bytes);
void aes_encrypt(const struct schedules *key, uint8_t *out, const uint8_t *in);
void aes_decrypt(const struct schedules *key, uint8_t *out, const uint8_t *in);

void library_key(struct subject_job *job)
{
    aes_expandkey(job->own, job->user_key, job->key_bits / 8);
}

#define ENCRYPT(job, to, from) aes_encrypt((job)->own, to, from)
#define DECRYPT(job, to, from) aes_decrypt((job)->own, to, from)

ECB(library_ecb_enc, ENCRYPT)
ECB(library_ecb_dec, DECRYPT)
CBC(library_cbc_enc, ENCRYPT)

/* ---- Four tables of 1 KiB and as many for the last round ------------------------------------- */

#include "linux/linux/crypto.h"

struct crypto_alg *subject_registered;
extern int (*subject_register)(void);

static struct crypto_tfm generic;

void generic_key(struct subject_job *job)
{
    library_key(job);
    generic.context = job->own;
    subject_register();
}

#define GENERIC(way, to, from) subject_registered->cra_u.cipher.cia_##way##crypt(&generic, to, from)
#define GENERIC_ENCRYPT(job, to, from) GENERIC(en, to, from)
#define GENERIC_DECRYPT(job, to, from) GENERIC(de, to, from)

ECB(generic_ecb_enc, GENERIC_ENCRYPT)
ECB(generic_ecb_dec, GENERIC_DECRYPT)
CBC(generic_cbc_enc, GENERIC_ENCRYPT)

/* SPDX-License-Identifier: MIT */
/* The portable AES of OpenSSL and of LibreSSL (crypto/aes/aes_core.c), a block a call. Newer
 * releases of LibreSSL have other names for it, and want to be told the rounds. */
#include "blocks.h"

struct key {
    unsigned words[60];
    int rounds;
};

#define WEAK __attribute__((weak))
int WEAK AES_set_encrypt_key(const uint8_t *user_key, int bits, struct key *key);
int WEAK AES_set_decrypt_key(const uint8_t *user_key, int bits, struct key *key);
void WEAK AES_encrypt(const uint8_t *in, uint8_t *out, const struct key *key);
void WEAK AES_decrypt(const uint8_t *in, uint8_t *out, const struct key *key);
int WEAK aes_set_encrypt_key_generic(const uint8_t *user_key, int bits, struct key *key);
int WEAK aes_set_decrypt_key_generic(const uint8_t *user_key, int bits, struct key *key);
void WEAK aes_encrypt_generic(const uint8_t *in, uint8_t *out, const struct key *key);
void WEAK aes_decrypt_generic(const uint8_t *in, uint8_t *out, const struct key *key);

static void (*encrypt)(const uint8_t *in, uint8_t *out, const struct key *key);
static void (*decrypt)(const uint8_t *in, uint8_t *out, const struct key *key);

void block_key(struct subject_job *job)
{
    struct key *enc = job->own, *dec = job->own2;

    encrypt = AES_encrypt ? AES_encrypt : aes_encrypt_generic;
    decrypt = AES_decrypt ? AES_decrypt : aes_decrypt_generic;
    enc->rounds = dec->rounds = (int)job->rounds;
    (AES_encrypt ? AES_set_encrypt_key : aes_set_encrypt_key_generic)(job->user_key,
                                                                      (int)job->key_bits, enc);
    (AES_decrypt ? AES_set_decrypt_key : aes_set_decrypt_key_generic)(job->user_key,
                                                                      (int)job->key_bits, dec);
}

#define ENCRYPT(job, to, from) encrypt(from, to, (job)->own)
#define DECRYPT(job, to, from) decrypt(from, to, (job)->own2)

ECB(ecb_enc, ENCRYPT)
ECB(ecb_dec, DECRYPT)
CBC(cbc_enc, ENCRYPT)

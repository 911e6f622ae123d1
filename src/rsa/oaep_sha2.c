/* SPDX-License-Identifier: MIT */
/* Encryption RSAES-OAEP with SHA-2 of this library. */
#include "rsa/sha2.h"

#include "common/bytes.h"

/* Both calls refuse a hash without a function. The length of its digest says how much of the output
 * they wipe then: no more than the caller has. */
static struct evc_rsa_oaep oaep_of(struct evc_rsa_hash *h, const struct evc_sha2 *kernel,
                                   enum evc_sha2_hash hash)
{
    if (evc_rsa_hash_sha2(h, kernel, hash) != EVC_OK)
        h->digest_bytes = evc_sha2_digest_bytes(hash) ? (uint32_t)evc_sha2_digest_bytes(hash)
                                                      : EVC_RSA_MOST_DIGEST_BYTES;
    return (struct evc_rsa_oaep){.hash = h, .mgf_hash = h};
}

enum evc_status evc_rsa_encrypt_oaep_sha2(const struct evc_rsa_public *key,
                                          const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
                                          const uint8_t *message, size_t message_bytes,
                                          const struct evc_random *random, uint8_t *ciphertext,
                                          void *scratch, size_t scratch_bytes)
{
    struct evc_rsa_hash h;
    const struct evc_rsa_oaep oaep = oaep_of(&h, kernel, hash);

    return evc_rsa_encrypt_oaep(key, &oaep, message, message_bytes, random, ciphertext, scratch,
                                scratch_bytes);
}

enum evc_status evc_rsa_decrypt_oaep_sha2(const struct evc_rsa_private *key,
                                          const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
                                          const uint8_t *ciphertext, size_t ciphertext_bytes,
                                          const struct evc_random *random, uint8_t *message,
                                          size_t *message_bytes, void *scratch,
                                          size_t scratch_bytes)
{
    struct evc_rsa_hash h;
    const struct evc_rsa_oaep oaep = oaep_of(&h, kernel, hash);

    return evc_rsa_decrypt_oaep(key, &oaep, ciphertext, ciphertext_bytes, random, message,
                                message_bytes, scratch, scratch_bytes);
}

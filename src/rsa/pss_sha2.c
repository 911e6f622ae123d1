/* SPDX-License-Identifier: MIT */
/* Signatures RSASSA-PSS of whole messages. */
#include "rsa/sha2.h"

enum evc_status evc_rsa_sign_pss_sha2(const struct evc_rsa_private *key,
                                      const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
                                      const uint8_t *message, size_t message_bytes,
                                      const struct evc_random *random, uint8_t *signature,
                                      void *scratch, size_t scratch_bytes)
{
    uint8_t room[EVC_RSA_MOST_DIGEST_BYTES];
    struct evc_rsa_hash h;
    const uint8_t *const digest =
        evc_rsa_sha2_message(&h, kernel, hash, message, message_bytes, room);
    const struct evc_rsa_pss pss = {&h, &h, h.digest_bytes};

    return evc_rsa_sign_pss(key, &pss, digest, h.digest_bytes, random, signature, scratch,
                            scratch_bytes);
}

enum evc_status evc_rsa_verify_pss_sha2(const struct evc_rsa_public *key,
                                        const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
                                        const uint8_t *message, size_t message_bytes,
                                        const uint8_t *signature, size_t signature_bytes,
                                        void *scratch, size_t scratch_bytes)
{
    uint8_t room[EVC_RSA_MOST_DIGEST_BYTES];
    struct evc_rsa_hash h;
    const uint8_t *const digest =
        evc_rsa_sha2_message(&h, kernel, hash, message, message_bytes, room);
    const struct evc_rsa_pss pss = {&h, &h, h.digest_bytes};

    return evc_rsa_verify_pss(key, &pss, digest, h.digest_bytes, signature, signature_bytes,
                              scratch, scratch_bytes);
}

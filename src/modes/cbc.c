/* SPDX-License-Identifier: MIT */
/* CBC (SP 800-38A section 6.2). */
#include "everycore/modes.h"

enum evc_status evc_aes_cbc_encrypt(const union evc_aes_key *key, uint8_t iv[16], const uint8_t *in,
                                    uint8_t *out, size_t len_bytes)
{
    if (len_bytes % 16 != 0)
        return EVC_ERR_LENGTH;
    evc_aes_cbc_encrypt_blocks(key, iv, in, out, len_bytes / 16);
    return EVC_OK;
}

enum evc_status evc_aes_cbc_decrypt(const union evc_aes_key *key, uint8_t iv[16], const uint8_t *in,
                                    uint8_t *out, size_t len_bytes)
{
    if (len_bytes % 16 != 0)
        return EVC_ERR_LENGTH;
    if (!key->head.can_decrypt)
        return EVC_ERR_DIRECTION;
    evc_aes_cbc_decrypt_blocks(key, iv, in, out, len_bytes / 16);
    return EVC_OK;
}

enum evc_status evc_aes_cbc_encrypt_many(const union evc_aes_key *key, const struct evc_msg *msgs,
                                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (msgs[i].len_bytes % 16 != 0)
            return EVC_ERR_LENGTH;
    evc_aes_cbc_encrypt_blocks_many(key, msgs, n);
    return EVC_OK;
}

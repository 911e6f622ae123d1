/* SPDX-License-Identifier: MIT */
/* CBC (SP 800-38A section 6.2). */
#include "everycore/modes.h"

#include "aes/ops.h"
#include "common/calls.h"
#include "common/clear.h"

/* Out of line, so that the other way of evc_aes_cbc_encrypt has no frame and ends with a jump. */
EVC_OUT_OF_LINE enum evc_status encrypt_and_clear(const union evc_aes_key *key, uint8_t iv[16],
                                                  const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    evc_aes_op_cbc_encrypt(key, iv, in, out, len_bytes / 16);
    evc_clear(&key->head.kernel->kernel);
    return EVC_OK;
}

/* Out of line for the same reason. */
EVC_OUT_OF_LINE enum evc_status move_and_encrypt(const union evc_aes_key *key, uint8_t iv[16],
                                                 const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    evc_move_secret(out, in, len_bytes);
    return evc_aes_cbc_encrypt(key, iv, out, out, len_bytes);
}

enum evc_status evc_aes_cbc_encrypt(const union evc_aes_key *key, uint8_t iv[16], const uint8_t *in,
                                    uint8_t *out, size_t len_bytes)
{
    EVC_RETURN_IF_REFUSED(aes_cbc_encrypt, .key = key, EVC_TEXT(in, out, len_bytes));
    if (evc_blocks_overlap_in_part(in, out, len_bytes))
        return move_and_encrypt(key, iv, in, out, len_bytes);
    if (key->head.kernel->cbc_encrypt_message)
        return key->head.kernel->cbc_encrypt_message(key, iv, in, out, len_bytes);
    return encrypt_and_clear(key, iv, in, out, len_bytes);
}

EVC_OUT_OF_LINE enum evc_status move_and_decrypt(const union evc_aes_key *key, uint8_t iv[16],
                                                 const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    evc_move_secret(out, in, len_bytes);
    return evc_aes_cbc_decrypt(key, iv, out, out, len_bytes);
}

enum evc_status evc_aes_cbc_decrypt(const union evc_aes_key *key, uint8_t iv[16], const uint8_t *in,
                                    uint8_t *out, size_t len_bytes)
{
    EVC_RETURN_IF_REFUSED(aes_cbc_decrypt, .key = key, EVC_TEXT(in, out, len_bytes));
    if (evc_blocks_overlap_in_part(in, out, len_bytes))
        return move_and_decrypt(key, iv, in, out, len_bytes);
    evc_aes_op_cbc_decrypt(key, iv, in, out, len_bytes / 16);
    evc_clear(&key->head.kernel->kernel);
    return EVC_OK;
}

enum evc_status evc_aes_cbc_encrypt_many(const union evc_aes_key *key, const struct evc_msg *msgs,
                                         size_t n)
{
    EVC_RETURN_IF_REFUSED(aes_cbc_encrypt_many, .key = key, .msgs = msgs, .n_msgs = n);
    for (size_t i = 0; i < n; i++)
        if (!evc_fits(EVC_LIMIT_BLOCKS, msgs[i].len_bytes))
            return EVC_ERR_LENGTH;
    for (size_t i = 0; i < n; i++)
        if (evc_is_missing(msgs[i].in, msgs[i].len_bytes))
            return EVC_ERR_PARAMETER;
    if (evc_msgs_overlap_in_part(msgs, n))
        evc_aes_compose_cbc_encrypt_moved(key, msgs, n);
    else
        evc_aes_op_cbc_encrypt_many(key, msgs, n);
    evc_clear(&key->head.kernel->kernel);
    return EVC_OK;
}

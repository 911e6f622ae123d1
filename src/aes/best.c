/* SPDX-License-Identifier: MIT */
/* Keys of AES for the kernel that selection gives: blocks, CTR, CBC and key wrap need nothing else.
 * Whoever links this links what selection may return. */
#include "everycore/modes.h"

enum evc_status evc_aes_set_best(union evc_aes_key *key, uint64_t features, unsigned policy,
                                 const uint8_t *user_key, unsigned key_bits)
{
    return evc_aes_set_key(key, evc_aes_select(features, policy, EVC_USE_PARALLEL), user_key,
                           key_bits);
}

enum evc_status evc_aes_ctr_set_best(union evc_aes_key *key, uint64_t features, unsigned policy,
                                     const uint8_t *user_key, unsigned key_bits)
{
    return evc_aes_set_encrypt_key(key, evc_aes_select(features, policy, EVC_USE_PARALLEL),
                                   user_key, key_bits);
}

enum evc_status evc_aes_cbc_encrypt_set_best(union evc_aes_key *key, uint64_t features,
                                             unsigned policy, const uint8_t *user_key,
                                             unsigned key_bits)
{
    return evc_aes_set_encrypt_key(key, evc_aes_select(features, policy, EVC_USE_SERIAL), user_key,
                                   key_bits);
}

enum evc_status evc_aes_cbc_decrypt_set_best(union evc_aes_key *key, uint64_t features,
                                             unsigned policy, const uint8_t *user_key,
                                             unsigned key_bits)
{
    return evc_aes_set_best(key, features, policy, user_key, key_bits);
}

enum evc_status evc_aes_kw_set_best(union evc_aes_key *key, uint64_t features, unsigned policy,
                                    const uint8_t *user_key, unsigned key_bits)
{
    return evc_aes_set_key(key, evc_aes_select(features, policy, EVC_USE_SERIAL), user_key,
                           key_bits);
}

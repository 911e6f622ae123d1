/* SPDX-License-Identifier: MIT */
/* AES-128 as an implementation defined algorithm: the block is the pointer and then the
 * modifier, the code the first half of what becomes of it; all are bytes with the most
 * significant first (FIPS 197). */
#include "everycore/pac.h"

#include "common/bytes.h"

static uint64_t evc_pac_aes_mac(const void *cipher, uint64_t data, uint64_t modifier)
{
    const union evc_aes_key *key = cipher;
    EVC_ALIGN(16) uint8_t block[16];
    uint64_t code;

    evc_store64x2_be(block, data, modifier);
    key->head.kernel->encrypt(key, block, block, 1);
    code = evc_load64_be(block);
    evc_wipe(block, sizeof block);
    return code;
}

static enum evc_status evc_pac_aes_set_key(struct evc_pac_key *key,
                                           const struct evc_pac_kernels *kernels)
{
    uint8_t user_key[16];
    enum evc_status status;

    evc_store64x2_be(user_key, key->hi, key->lo);
    status = evc_aes_set_encrypt_key(&key->cipher.aes, kernels->aes, user_key, 128);
    evc_wipe(user_key, sizeof user_key);
    key->mac = evc_pac_aes_mac;
    return status;
}

const struct evc_pac_algorithm evc_pac_aes128 = {"aes128", evc_pac_aes_set_key};

/* SPDX-License-Identifier: MIT OR GPL-2.0-or-later */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "crypto/aes.h"
#include "crypto/aes-round.h"
#include "pauth-aes.h"

uint64_t arm_pauth_aes128(uint64_t data, uint64_t modifier,
                          uint64_t hi, uint64_t lo)
{
    AESState block, round_key;
    uint8_t user_key[16];
    AES_KEY key;

    stq_be_p(user_key, hi);
    stq_be_p(user_key + 8, lo);
    AES_set_encrypt_key(user_key, 128, &key);
    stq_be_p(block.b, data);
    stq_be_p(block.b + 8, modifier);
    for (int round = 0; round <= key.rounds; round++) {
        for (int i = 0; i < 4; i++) {
            stl_be_p(round_key.b + 4 * i, key.rd_key[4 * round + i]);
        }
        if (round == 0) {
            block.v ^= round_key.v;
        } else if (round < key.rounds) {
            aesenc_SB_SR_MC_AK(&block, &block, &round_key, HOST_BIG_ENDIAN);
        } else {
            aesenc_SB_SR_AK(&block, &block, &round_key, HOST_BIG_ENDIAN);
        }
    }
    return ldq_be_p(block.b);
}

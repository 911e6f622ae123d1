/* SPDX-License-Identifier: MIT */
/* A long message of GCM by definition, computed as far as it is asked for. */
#include "long_model.h"

#include <string.h>

#include "everycore/aes.h"

#include "gf128.h"
#include "random.h"

uint8_t long_user_key[32], long_iv[12], long_aad[LONG_AAD_BYTES];
uint8_t long_plain[16 * LONG_BLOCKS], long_cipher[16 * LONG_BLOCKS];

#define EVERY 256 /* blocks: the hash is kept after so many */

static uint8_t h[16], tag_mask[16];
static uint8_t hashes[LONG_BLOCKS / EVERY + 1][16]; /* [i]: of the associated data
                                                     * and i * EVERY blocks */
static size_t n_known;
static int is_begun;

static void encrypt1(const uint8_t block[16], uint8_t result[16])
{
    static union evc_aes_key key;
    static const struct evc_aes *reference;

    if (!reference) {
        reference = evc_aes_named("c_ref");
        if (evc_aes_set_encrypt_key(&key, reference, long_user_key, 256) != EVC_OK)
            memset(&key, 0, sizeof key); /* no test passes with it */
    }
    reference->encrypt(&key, block, result, 1);
}

static void hash(uint8_t y[16], const uint8_t *from, size_t len_bytes)
{
    uint8_t block[16];

    for (size_t n; len_bytes; len_bytes -= n, from += n) {
        n = len_bytes < 16 ? len_bytes : 16;
        memset(block, 0, sizeof block);
        memcpy(block, from, n);
        gf128_add(y, block);
        gf128_multiply(y, h);
    }
}

static void counter_block(uint8_t counter[16], uint32_t n)
{
    memcpy(counter, long_iv, 12);
    for (int i = 0; i < 4; i++)
        counter[12 + i] = (uint8_t)(n >> (24 - 8 * i));
}

static void begin(void)
{
    struct random random = {UINT64_C(0x6d65626962797465)};
    uint8_t counter[16];

    random_bytes(&random, long_user_key, sizeof long_user_key);
    random_bytes(&random, long_iv, sizeof long_iv);
    random_bytes(&random, long_aad, sizeof long_aad);
    random_bytes(&random, long_plain, sizeof long_plain);
    encrypt1(h, h); /* of zeros */
    counter_block(counter, 1);
    encrypt1(counter, tag_mask);
    hash(hashes[0], long_aad, LONG_AAD_BYTES);
    is_begun = 1;
}

void know_long_message(size_t n_blocks)
{
    uint8_t counter[16], stream[16];

    if (!is_begun)
        begin();
    for (; n_known < n_blocks; n_known += EVERY) {
        uint8_t *const y = hashes[n_known / EVERY + 1];
        for (size_t i = n_known; i < n_known + EVERY; i++) {
            counter_block(counter, (uint32_t)(i + 2));
            encrypt1(counter, stream);
            for (size_t j = 0; j < 16; j++)
                long_cipher[16 * i + j] = long_plain[16 * i + j] ^ stream[j];
        }
        memcpy(y, hashes[n_known / EVERY], 16);
        hash(y, long_cipher + 16 * n_known, 16 * EVERY);
    }
}

void long_tag(uint8_t tag[16], size_t len_bytes)
{
    const size_t at = len_bytes / (16 * EVERY) * 16 * EVERY;
    uint8_t lengths[16];

    memcpy(tag, hashes[len_bytes / (16 * EVERY)], 16);
    hash(tag, long_cipher + at, len_bytes - at);
    for (int i = 0; i < 8; i++) {
        lengths[i] = (uint8_t)((uint64_t)8 * LONG_AAD_BYTES >> (56 - 8 * i));
        lengths[8 + i] = (uint8_t)((uint64_t)8 * len_bytes >> (56 - 8 * i));
    }
    hash(tag, lengths, 16);
    gf128_add(tag, tag_mask);
}

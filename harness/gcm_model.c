/* SPDX-License-Identifier: MIT */
/* GCM by definition, block by block. */
#include "gcm_model.h"

#include <string.h>

#include "gf128.h"
#include "must.h"

void know_key(struct known *k)
{
    must(evc_aes_set_encrypt_key(&k->ref, evc_aes_named("c_ref"), k->user_key, k->key_bits));
    memset(k->h, 0, 16);
    must(evc_aes_encrypt(&k->ref, k->h, k->h, 1));
}

/* y = (y + block) * H for each block, the last one filled up with zeros (section 6.4). */
static void hash(const struct known *k, uint8_t y[16], const uint8_t *in, size_t len_bytes)
{
    uint8_t block[16];

    for (size_t n; len_bytes; len_bytes -= n, in += n) {
        n = len_bytes < 16 ? len_bytes : 16;
        memset(block, 0, 16);
        memcpy(block, in, n);
        gf128_add(y, block);
        gf128_multiply(y, k->h);
    }
}

/* A block of two lengths, in bits. */
static void lengths(uint8_t block[16], uint64_t first_bytes, uint64_t second_bytes)
{
    for (int i = 0; i < 8; i++) {
        block[i] = (uint8_t)(8 * first_bytes >> (56 - 8 * i));
        block[8 + i] = (uint8_t)(8 * second_bytes >> (56 - 8 * i));
    }
}

static void increment(uint8_t counter[16]) /* section 6.2, s = 32 */
{
    for (int i = 15; i >= 12 && ++counter[i] == 0; i--)
        ;
}

void know_blocks(struct known *k, const uint8_t counter[16], size_t n_blocks)
{
    uint8_t now[16], stream[16];

    memcpy(now, counter, 16);
    for (size_t i = 0; i < n_blocks; i++, increment(now)) {
        must(evc_aes_encrypt(&k->ref, now, stream, 1));
        for (size_t j = 0; j < 16; j++)
            k->out[16 * i + j] = k->in[16 * i + j] ^ stream[j];
        memcpy(k->y[i + 1], k->y[i], 16);
        hash(k, k->y[i + 1], k->out + 16 * i, 16);
    }
}

void know_message(struct known *k, size_t n_blocks)
{
    uint8_t counter[16], block[16];

    memset(k->j0, 0, 16);
    if (k->iv_bytes == 12) {
        memcpy(k->j0, k->iv, 12);
        k->j0[15] = 1;
    } else {
        hash(k, k->j0, k->iv, k->iv_bytes);
        lengths(block, 0, k->iv_bytes);
        hash(k, k->j0, block, 16);
    }
    must(evc_aes_encrypt(&k->ref, k->j0, k->tag_mask, 1));
    memset(k->y[0], 0, 16);
    hash(k, k->y[0], k->aad, k->aad_bytes);
    memcpy(counter, k->j0, 16);
    increment(counter);
    know_blocks(k, counter, n_blocks);
}

static void end(const struct known *k, uint8_t y[16], size_t aad_bytes, size_t len_bytes)
{
    uint8_t block[16];

    lengths(block, aad_bytes, len_bytes);
    hash(k, y, block, 16);
    gf128_add(y, k->tag_mask);
}

void known_tag(const struct known *k, uint8_t tag[16], size_t len_bytes)
{
    memcpy(tag, k->y[len_bytes / 16], 16);
    hash(k, tag, k->out + len_bytes / 16 * 16, len_bytes % 16);
    end(k, tag, k->aad_bytes, len_bytes);
}

void known_tag_with(const struct known *k, uint8_t tag[16], size_t aad_bytes, size_t len_bytes)
{
    memset(tag, 0, 16);
    hash(k, tag, k->aad, aad_bytes);
    hash(k, tag, k->out, len_bytes);
    end(k, tag, aad_bytes, len_bytes);
}

/* J_0 = ((IV * H) + L) * H with the lengths L: two divisions by H. */
void know_iv_for(struct known *k, const uint8_t j0[16])
{
    uint8_t inverse[16], block[16];

    memcpy(inverse, k->h, 16);
    gf128_invert(inverse);
    memcpy(k->iv, j0, 16);
    gf128_multiply(k->iv, inverse);
    lengths(block, 0, 16);
    gf128_add(k->iv, block);
    gf128_multiply(k->iv, inverse);
    k->iv_bytes = 16;
}

/* SPDX-License-Identifier: MIT */
#include "answers.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fill(uint8_t *to, size_t n_bytes, uint32_t seed)
{
    for (size_t i = 0; i < n_bytes; i++) {
        seed = seed * 1664525 + 1013904223; /* Numerical Recipes, 2nd edition, section 7.1 */
        to[i] = (uint8_t)(seed >> 24);
    }
}

void draw(uint8_t *to, size_t n_bytes, enum drawn what, unsigned secret)
{
    if (secret >= USUAL_SECRET)
        fill(to, n_bytes, (uint32_t)what + TEXT * (secret - USUAL_SECRET));
    else /* the keys of XTS are to differ */
        memset(to, (secret == 0) == (what == TWEAK_KEY) ? 0xff : 0, n_bytes);
}

void make_keys(struct material *m, unsigned key_bits, unsigned secret)
{
    uint8_t both[64];
    const uint8_t zero[16] = {0};

    draw(m->user_key, sizeof m->user_key, USER_KEY, secret);
    draw(m->tweak_key, sizeof m->tweak_key, TWEAK_KEY, secret);
    draw(m->iv, sizeof m->iv, IV, secret);
    m->iv[12] = 0; /* a counter of 32 bits does not wrap */
    if (evc_aes_set_key(&m->aes, &answers_aes, m->user_key, key_bits) != EVC_OK) {
        fprintf(stderr, "no keys of %u bits\n", key_bits);
        exit(2);
    }
    memcpy(both, m->user_key, key_bits / 8);
    memcpy(both + key_bits / 8, m->tweak_key, key_bits / 8);
    evc_aes_xts_set_key(&m->xts, &answers_aes, &answers_aes, both, key_bits); /* wiped where not 128 or 256 */
    evc_gcm_set_pair(&m->gcm, &answers_aes, &answers_ghash, m->user_key, key_bits);
    evc_aes_encrypt(&m->aes, zero, m->h[0], 1);
    evc_ghash_set_key(&m->ghash, &answers_ghash, m->h[0]);
    uint64_t halves[2];
    memcpy(halves, m->user_key, 16);
    evc_qarma_set_key(&m->qarma5, &answers_qarma, halves[0], halves[1], EVC_QARMA_SIGMA2, 5);
    evc_qarma_set_key(&m->qarma3, &answers_qarma, halves[0], halves[1], EVC_QARMA_SIGMA1, 3);
    for (unsigned i = 1; i < 8; i++) { /* the hash of one block is that block times H */
        memset(m->h[i], 0, 16);
        evc_ghash_blocks(&m->ghash, m->h[i], m->h[i - 1], 1);
    }
}

enum mode inverse(enum mode mode)
{
    switch (mode) {
    case MODE_ecb_dec: return MODE_ecb_enc;
    case MODE_cbc_dec: return MODE_cbc_enc;
    case MODE_xts_dec: return MODE_xts_enc;
    case MODE_gcm_open: return MODE_gcm_seal;
    default: return mode;
    }
}

static void qarma(const union evc_qarma_key *key, bool chained, const uint8_t *in, uint8_t *out, size_t n_bytes)
{
    uint64_t tweak, block = 0;

    for (size_t i = 0; i + 8 <= n_bytes; i += 8) {
        memcpy(&tweak, in + i, 8);
        block = evc_qarma_encrypt(key, chained ? block : tweak, tweak);
        memcpy(out + i, &block, 8);
    }
}

void answer(const struct material *m, enum mode mode, const uint8_t *in, uint8_t *out, size_t n_bytes, uint8_t tag[16])
{
    uint8_t iv[16];

    memcpy(iv, m->iv, 16);
    memset(tag, 0, 16);
    switch (mode) {
    case MODE_ecb_enc: evc_aes_encrypt(&m->aes, in, out, n_bytes / 16); break;
    case MODE_cbc_enc: evc_aes_cbc_encrypt(&m->aes, iv, in, out, n_bytes); break;
    case MODE_ctr: evc_aes_ctr(&m->aes, iv, in, out, n_bytes); break;
    case MODE_xts_enc: evc_aes_xts_encrypt(&m->xts, iv, in, out, n_bytes); break;
    case MODE_ghash: evc_ghash_blocks(&m->ghash, tag, in, n_bytes / 16); break;
    case MODE_gcm_seal: evc_gcm_seal(&m->gcm, iv, 12, NULL, 0, in, out, n_bytes, tag, 16); break;
    case MODE_qarma5: qarma(&m->qarma5, true, in, out, n_bytes); break;
    case MODE_qarma5_each:
    case MODE_qarma5_many: qarma(&m->qarma5, false, in, out, n_bytes); break;
    case MODE_qarma3: qarma(&m->qarma3, true, in, out, n_bytes); break;
    case MODE_qarma3_each: qarma(&m->qarma3, false, in, out, n_bytes); break;
    default: break;
    }
}

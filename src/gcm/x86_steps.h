/* SPDX-License-Identifier: MIT */
/*
 * GCM by AES instructions and carry-less multiplication, written once for every width of vector. Include it inside
 * the region of the kernel's ISA, after what ghash/x86_clmul_steps.h wants and these:
 *
 *   v_enc, v_enc_last        a round of AES, in each block
 *   v_add32, v_shuffle8      within each block
 *   v_counter_steps()        0, 1, ... in the last words
 */
#ifndef EVC_GCM_X86_STEPS_H
#define EVC_GCM_X86_STEPS_H

#include "aes/x86_keys.h"
#include "ghash/x86_clmul_steps.h"

struct key {
    struct evc_gcm_head head;
    EVC_ALIGN(16) uint8_t rk[EVC_AES_MAX_ROUNDS + 1][16]; /* FIPS 197 order */
    struct powers powers;
};

/* ---- AES --------------------------------------------------------------------------------------- */

EVC_INLINE vec encrypt_vector(const struct key *key, vec x)
{
    x = v_xor(x, v_all(load1(key->rk[0])));
    for (uint32_t r = 1; r < key->head.rounds; r++)
        x = v_enc(x, v_all(load1(key->rk[r])));
    return v_enc_last(x, v_all(load1(key->rk[key->head.rounds])));
}

EVC_INLINE __m128i encrypt_block(const struct key *key, __m128i x)
{
    x = _mm_xor_si128(x, load1(key->rk[0]));
    for (uint32_t r = 1; r < key->head.rounds; r++)
        x = _mm_aesenc_si128(x, load1(key->rk[r]));
    return _mm_aesenclast_si128(x, load1(key->rk[key->head.rounds]));
}

static void encrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    for (size_t i = 0; i < n_blocks; i++)
        store1(out + 16 * i, encrypt_block(vkey, load1(in + 16 * i)));
}

/* Counters are kept with their last word as a number of this CPU; this shuffle turns it over. */
#define COUNTER_ORDER _mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)

EVC_INLINE void ctr(const struct key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                    size_t n_blocks)
{
    const vec order = v_all(COUNTER_ORDER), stride = v_all(_mm_set_epi32(LANES, 0, 0, 0));
    __m128i count = _mm_shuffle_epi8(load1(counter), COUNTER_ORDER);
    vec counts = v_add32(v_all(count), v_counter_steps());

    count = _mm_add_epi32(count, _mm_set_epi32((int)n_blocks, 0, 0, 0));
    store1(counter, _mm_shuffle_epi8(count, COUNTER_ORDER));
    for (; n_blocks >= LANES; n_blocks -= LANES, in += VEC_BYTES, out += VEC_BYTES) {
        v_store(out, v_xor(v_load(in), encrypt_vector(key, v_shuffle8(counts, order))));
        counts = v_add32(counts, stride);
    }
    for (count = v_low(counts); n_blocks; n_blocks--, in += 16, out += 16) {
        store1(out, _mm_xor_si128(load1(in), encrypt_block(key, _mm_shuffle_epi8(count, COUNTER_ORDER))));
        count = _mm_add_epi32(count, _mm_set_epi32(1, 0, 0, 0));
    }
}

/* ---- Slots --------------------------------------------------------------------------------------- */

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;
    uint8_t h[16] = {0};

    evc_x86_expand(key->rk[0], key->head.rounds, user_key);
    encrypt(key, h, h, 1);
    powers_of(&key->powers, h);
    evc_wipe(h, sizeof h);
}

static void hash(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;

    hash_blocks(&key->powers, y, in, n_blocks);
}

static void seal_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    ctr(key, counter, in, out, n_blocks);
    hash(key, y, out, n_blocks);
}

static void open_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    hash(key, y, in, n_blocks);
    ctr(key, counter, in, out, n_blocks);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * AES on 8 blocks as bit planes in 128-bit registers, with what each x86-64 has: no byte shuffle.
 *
 * Method:   bit slices, arranged so that ShiftRows is never done (fixslicing) and that a row is a
 *           word of 32 bits: one shuffle of words moves to the next row, shifts or shuffles of
 *           halves move within rows. S-box by circuit; planes of the round keys made when used.
 * Source:   FIPS 197 (2023) section 5; A. Adomnicai, T. Peyrin, "Fixslicing AES-like ciphers",
 *           TCHES 2021(1); x86_planes_steps.h, sbox_circuit.h.
 * Needs:    X86_SSE2.   Timing: CT (no tables, no secret branches).
 * Key form: fixsliced.
 *
 * Byte 4 r + c of plane j holds bit j of the byte in row r, column c of 8 blocks.
 */
#include "aes/kernel.h"

#if EVC_BUILT(X86_SSE2)

#include "aes/ct_keys.h"
#include "common/ct.h"
#include "common/x86.h"

EVC_ISA_BEGIN(X86_SSE2)

#include "aes/x86_blocks128.h"

typedef struct {
    struct evc_aes_head head;
    /* Round key r, row by row, ShiftRows undone r times, EVC_CIRCUIT_KEY_XOR added to all but the
     * first. The same for both directions. */
    EVC_ALIGN(16) uint8_t enc[EVC_AES_MAX_ROUNDS + 1][16];
} planes_key;

#define KEY_LATE 1
#define BATCHES_ONE_BY_ONE 1 /* half the code; CTR takes 2 % less time by GCC, 7 % more by Clang */
#include "aes/x86_planes_steps.h"

/* ---- Steps ----------------------------------------------------------------------------------- */

static const EVC_ALIGN(32) lanes each_bit[8] = {SAME32(1),  SAME32(2),  SAME32(4),  SAME32(8),
                                                SAME32(16), SAME32(32), SAME32(64), SAME32(128)};

/* The bytes of x that have bit j. */
EVC_INLINE vec bytes_with(vec x, unsigned j)
{
    return _mm_cmpeq_epi8(x & v_constant(each_bit[j]), v_constant(each_bit[j]));
}

EVC_INLINE void key_planes(vec k[8], const uint8_t key[16], unsigned i, int flip)
{
    const vec x = load_aligned(key);

    (void)i, (void)flip; /* done by set_key */
    k[0] = bytes_with(x, 0), k[1] = bytes_with(x, 1), k[2] = bytes_with(x, 2),
    k[3] = bytes_with(x, 3);
    k[4] = bytes_with(x, 4), k[5] = bytes_with(x, 5), k[6] = bytes_with(x, 6),
    k[7] = bytes_with(x, 7);
}

/* Columns to rows: byte r + 4 c to 4 r + c, its own inverse. */
EVC_INLINE vec turned(vec x)
{
    x = _mm_unpacklo_epi8(x, v_bytes_down(x, 8));
    return _mm_unpacklo_epi8(x, v_bytes_down(x, 8));
}

EVC_INLINE void turn(vec q[8])
{
    q[0] = turned(q[0]), q[1] = turned(q[1]), q[2] = turned(q[2]), q[3] = turned(q[3]);
    q[4] = turned(q[4]), q[5] = turned(q[5]), q[6] = turned(q[6]), q[7] = turned(q[7]);
}

EVC_INLINE void to_planes(vec q[8])
{
    turn(q);
    transpose(q);
}

EVC_INLINE void to_blocks(vec q[8])
{
    transpose(q);
    turn(q);
}

/* In all rows, columns two further. */
EVC_INLINE vec two_columns_on(vec x)
{
    return _mm_shufflehi_epi16(_mm_shufflelo_epi16(x, 0xb1), 0xb1);
}

EVC_INLINE vec next_in_column(vec x, unsigned i)
{
    x = _mm_shuffle_epi32(x, 0x39);
    switch (i) {
    case 1: return _mm_srli_epi32(x, 8) | _mm_slli_epi32(x, 24);
    case 2: return two_columns_on(x);
    case 3: return _mm_srli_epi32(x, 24) | _mm_slli_epi32(x, 8);
    default: return x;
    }
}

EVC_INLINE vec second_in_column(vec x, unsigned i)
{
    x = _mm_shuffle_epi32(x, 0x4e);
    return i % 2 ? two_columns_on(x) : x;
}

EVC_INLINE vec rows_moved_twice(vec x)
{
    const vec odd_rows = _mm_set1_epi16((short)0xff00);

    return x ^ ((x ^ _mm_shuffle_epi32(x, 0x4e)) & odd_rows);
}

/* ---- Key ------------------------------------------------------------------------------------- */

static void set_key(void *vkey, const uint8_t *user_key)
{
    planes_key *key = vkey;
    uint8_t schedule[EVC_AES_MAX_ROUNDS + 1][16];
    uint8_t flip = 0;

    evc_ct_expand_key(schedule, user_key, key->head.rounds);
    for (uint32_t i = 0; i <= key->head.rounds; i++, flip = EVC_CIRCUIT_KEY_XOR)
        for (uint32_t r = 0; r < 4; r++)
            for (uint32_t c = 0; c < 4; c++) /* row r comes from i r columns back */
                key->enc[i][4 * r + c] = schedule[i][r + 4 * ((c + 3 * i * r) % 4)] ^ flip;
}

/* ---- Operations: the last batch need not be full --------------------------------------------- */

static void ctr32(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    const vec begin = load(counter) & _mm_set_epi32(0, -1, -1, -1);
    uint32_t number = evc_load32_be(counter + 12);
    uint8_t rest[16];
    vec q[8 * AT_ONCE];

    evc_store32_be(counter + 12, number + (uint32_t)((len_bytes + 15) / 16));
    for (size_t n, n_whole; len_bytes; len_bytes -= n, in += n, out += n) {
        n = at_most(len_bytes, 16 * MOST_BLOCKS);
        n_whole = n / 16;
        /* number is opaque, so that j counts */
        for (size_t j = 0; j < 8 * AT_ONCE; j++, number = evc_barrier32(number + 1))
            q[j] = begin | v_bytes_up(_mm_cvtsi32_si128((int)evc_bswap32(number)), 12);
        encrypt_batches(key, q, n > BATCH_BYTES ? AT_ONCE : 1);
        for (size_t j = 0; j < n_whole; j++)
            v_store(out + 16 * j, v_load(in + 16 * j) ^ q[j]);
        if (n % 16) {
            store(rest, q[n_whole]);
            evc_xor(out + 16 * n_whole, in + 16 * n_whole, rest, n % 16);
        }
    }
}

typedef void xts_batches_function(const void *, uint8_t *, const uint8_t *, uint8_t *, size_t);

EVC_INLINE void crypt_xts(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                          size_t n_blocks, xts_batches_function *batches, batches_function *crypt)
{
    const size_t n_rest = n_blocks % BATCH_BLOCKS, whole = n_blocks - n_rest;
    vec q[8], tweaks[8], next;

    if (whole)
        batches(key, tweak, in, out, whole);
    if (!n_rest)
        return;
    in += 16 * whole, out += 16 * whole;
    load_batches(q, in, n_rest);
    next = load(tweak);
    for (size_t j = 0; j < n_rest; j++, next = times_x128(next))
        q[j] ^= tweaks[j] = next;
    crypt(key, q, 1);
    for (size_t j = 0; j < n_rest; j++)
        v_store(out + 16 * j, q[j] ^ tweaks[j]);
    store(tweak, next);
}

static void xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    crypt_xts(key, tweak, in, out, n_blocks, xts_encrypt_batches, encrypt_batches);
}

static void xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    crypt_xts(key, tweak, in, out, n_blocks, xts_decrypt_batches, decrypt_batches);
}

EVC_ISA_END

#define HEAD \
    EVC_KERNEL_HEAD(x86_fixslice128, X86_SSE2, CT, PARALLEL, MOST_BLOCKS, planes_key, 0, XMM, \
                    2048)

const struct evc_aes evc_aes_x86_fixslice128 = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt_blocks,
    .decrypt = decrypt_blocks,
    .ctr32 = ctr32,
    .cbc_decrypt = cbc_decrypt_batches,
    .xts_encrypt = xts_encrypt,
    .xts_decrypt = xts_decrypt,
};

const struct evc_aes evc_aes_x86_fixslice128_forward = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt_blocks,
    .ctr32 = ctr32,
};

#else
EVC_EMPTY_UNIT
#endif

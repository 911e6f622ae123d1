/* SPDX-License-Identifier: MIT */
/*
 * AES on bit planes in x86 vectors: 8 blocks per 128-bit lane, for one vector width per file.
 *
 * Byte r + 4 c of every lane of plane j holds bit j of the byte in row r, column c of 8 blocks, one
 * block a bit. Lane l of the vectors at in + V_BYTES i is block V_LANES i + l: it is bit i.
 *
 * Fixslicing (A. Adomnicai, T. Peyrin, TCHES 2021(1)): ShiftRows is never done; round i mixes
 * columns while i times ShiftRows is still to be done: another byte shuffle, not one more.
 *
 * These are the whole batches. Blocks that do not fill one would cost as much as a batch. The steps
 * of x86_vperm_steps.h take them, with the same key.
 *
 * Include it inside the ISA region, after x86_blocks128.h or x86_blocks256.h, and after the
 * definition of
 *   clear_batches()    clears the stack as deep as whole batches reach
 */

#define VPERM_FIPS197
#include "aes/x86_vperm_steps.h"

typedef vperm_key planes_key;
#define KEY_LATE 0
#define BATCHES_ONE_BY_ONE 0
#include "aes/x86_planes_steps.h"

/* ---- Constants: a lane, twice, so that 256-bit code can take them from memory ---------------- */

#define FROM(r, c) ((r) % 4 + 4 * ((c) % 4))
#define LANE(column, i) column(0, i), column(1, i), column(2, i), column(3, i)
#define TWICE(column, i) {LANE(column, i), LANE(column, i)}

/* The byte one row down and i columns on. */
#define NEXT(c, i) FROM(1, c + i), FROM(2, c + i), FROM(3, c + i), FROM(4, c + i)
static const EVC_ALIGN(32) lanes next_row[4] = {TWICE(NEXT, 0), TWICE(NEXT, 1), TWICE(NEXT, 2),
                                                  TWICE(NEXT, 3)};

/* The byte two rows down and 2 i columns on. */
#define SECOND(c, i) FROM(2, c + 2 * i), FROM(3, c + 2 * i), FROM(4, c + 2 * i), FROM(5, c + 2 * i)
static const EVC_ALIGN(32) lanes second_row[2] = {TWICE(SECOND, 0), TWICE(SECOND, 1)};

/* ShiftRows undone i times: row r comes from i r columns back, which is 3 i r on. */
#define UNSHIFT(c, i) FROM(0, c), FROM(1, c + 3 * i), FROM(2, c + 6 * i), FROM(3, c + 9 * i)
static const EVC_ALIGN(32) lanes unshift[4] = {TWICE(UNSHIFT, 0), TWICE(UNSHIFT, 1),
                                                TWICE(UNSHIFT, 2), TWICE(UNSHIFT, 3)};

/* Bit j of the index, spread over a byte. */
#define NIBBLE_BIT0 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255
#define NIBBLE_BIT1 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255, 255
#define NIBBLE_BIT2 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 255, 255, 255, 255
#define NIBBLE_BIT3 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255
static const EVC_ALIGN(32) lanes nibble_bit[4] = {{NIBBLE_BIT0, NIBBLE_BIT0},
                                    {NIBBLE_BIT1, NIBBLE_BIT1},
                                    {NIBBLE_BIT2, NIBBLE_BIT2},
                                    {NIBBLE_BIT3, NIBBLE_BIT3}};

static const EVC_ALIGN(32) lanes key_xor[2] = {SAME32(0), SAME32(EVC_CIRCUIT_KEY_XOR)};

/* ---- Steps ----------------------------------------------------------------------------------- */

/*
 * Made when they are used, the planes of a round key leave the key set up fast and shared with
 * other kernels. One look-up in a register spreads a bit of a nibble over a byte.
 */
EVC_INLINE void key_planes(vec k[8], const uint8_t key[16], unsigned i, int flip)
{
    const vec nibble = v_constant(low_nibbles);
    const vec x = v_shuffle(table(key), v_constant(unshift[i])) ^ v_constant(key_xor[flip]);
    const vec low = x & nibble, high = v_right(x, 4) & nibble;

    k[0] = v_shuffle(v_constant(nibble_bit[0]), low);
    k[1] = v_shuffle(v_constant(nibble_bit[1]), low);
    k[2] = v_shuffle(v_constant(nibble_bit[2]), low);
    k[3] = v_shuffle(v_constant(nibble_bit[3]), low);
    k[4] = v_shuffle(v_constant(nibble_bit[0]), high);
    k[5] = v_shuffle(v_constant(nibble_bit[1]), high);
    k[6] = v_shuffle(v_constant(nibble_bit[2]), high);
    k[7] = v_shuffle(v_constant(nibble_bit[3]), high);
}

EVC_INLINE void to_planes(vec q[8])
{
    transpose(q);
}

EVC_INLINE void to_blocks(vec q[8])
{
    transpose(q);
}

EVC_INLINE vec next_in_column(vec x, unsigned i)
{
    return v_shuffle(x, v_constant(next_row[i]));
}

EVC_INLINE vec second_in_column(vec x, unsigned i)
{
    return v_shuffle(x, v_constant(second_row[i % 2]));
}

EVC_INLINE vec rows_moved_twice(vec x)
{
    return v_shuffle(x, v_constant(unshift[2]));
}

/* The counter's last four bytes are kept little-endian and turned round in every block. */
EVC_OUT_OF_LINE void ctr32_batches(const void *key, uint8_t counter[16], const uint8_t *in,
                                   uint8_t *out, size_t n_blocks)
{
    static const EVC_ALIGN(32) lanes turn = {
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 14, 13, 12,
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 14, 13, 12};
    static const EVC_ALIGN(32) lanes first = {[28] = 1}, step = {[12] = V_LANES, [28] = V_LANES};
    vec q[8 * AT_ONCE],
        block = v_add32(v_shuffle(v_all(load(counter)), v_constant(turn)), v_constant(first));

    evc_store32_be(counter + 12, evc_load32_be(counter + 12) + (uint32_t)n_blocks);
    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = at_most(n_blocks, MOST_BLOCKS);
        for (size_t j = 0; j < n / V_LANES; j++) {
            q[j] = v_shuffle(block, v_constant(turn));
            block = v_add32(block, v_constant(step));
        }
        encrypt_batches(key, q, (unsigned)(n / BATCH_BLOCKS));
        for (size_t j = 0; j < n / V_LANES; j++) {
            vec stream = v_load(in + V_BYTES * j) ^ q[j];
            v_store(out + V_BYTES * j, stream);
        }
    }
}

/* ---- Operations: whole batches as bit planes, what is left by vector permute ----------------- */

/* Batches leave secrets far below the caller. They are cleared here, and not by the kernel's
 * `clear`, whose stores would be a third of the time of one block. */
EVC_INLINE void end_batches(void)
{
    clear_batches();
    v_clear_upper_halves();
}

typedef void chained_function(const void *key, uint8_t state[16], const uint8_t *in, uint8_t *out,
                              size_t n_blocks);

EVC_INLINE void in_batches(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks,
                           void (*batches)(const void *, const uint8_t *, uint8_t *, size_t),
                           void (*rest)(const void *, const uint8_t *, uint8_t *, size_t))
{
    const size_t n_rest = n_blocks % BATCH_BLOCKS, whole = n_blocks - n_rest;

    if (whole) {
        batches(key, in, out, whole);
        end_batches();
    }
    if (n_rest)
        rest(key, in + 16 * whole, out + 16 * whole, n_rest);
}

/* The same with a state that passes from block to block. */
EVC_INLINE void in_batches_chained(const void *key, uint8_t state[16], const uint8_t *in,
                                   uint8_t *out, size_t n_blocks, chained_function *batches,
                                   chained_function *rest)
{
    const size_t n_rest = n_blocks % BATCH_BLOCKS, whole = n_blocks - n_rest;

    if (whole) {
        batches(key, state, in, out, whole);
        end_batches();
    }
    if (n_rest)
        rest(key, state, in + 16 * whole, out + 16 * whole, n_rest);
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    in_batches(key, in, out, n_blocks, encrypt_blocks, few_encrypt);
}

static void decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    in_batches(key, in, out, n_blocks, decrypt_blocks, few_decrypt);
}

static void ctr32(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    const size_t n_rest = len_bytes % BATCH_BYTES, whole = len_bytes - n_rest;

    if (whole) {
        ctr32_batches(key, counter, in, out, whole / 16);
        end_batches();
    }
    if (n_rest)
        few_ctr32(key, counter, in + whole, out + whole, n_rest);
}

static void cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    in_batches_chained(key, iv, in, out, n_blocks, cbc_decrypt_batches, few_cbc_decrypt);
}

static void xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    in_batches_chained(key, tweak, in, out, n_blocks, xts_encrypt_batches, few_xts_encrypt);
}

static void xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    in_batches_chained(key, tweak, in, out, n_blocks, xts_decrypt_batches, few_xts_decrypt);
}

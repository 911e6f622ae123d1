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
 * These are the whole batches. Blocks that do not fill one would cost as much as a batch. The steps of
 * x86_vperm_steps.h take them, with the same key.
 *
 * Include it inside the ISA region, after x86_blocks128.h or x86_blocks256.h, and after the definition of
 *   clear_batches()    clears the stack as deep as whole batches reach
 */

#define VPERM_FIPS197
#include "aes/x86_vperm_steps.h"

#define V_BYTES (16 * V_LANES)
#define BATCH_BLOCKS (8 * V_LANES)
#define BATCH_BYTES (16 * BATCH_BLOCKS)

/* This many batches go through every round one after the other. One batch is a chain of dependent
 * instructions that leaves half of a wide core idle; two share it, and the round key's planes. */
#define AT_ONCE 2
#define MOST_BLOCKS (AT_ONCE * BATCH_BLOCKS)

#define EVC_CIRCUIT_WORD vec
#define EVC_CIRCUIT_NAME(function) function
#if !defined(__clang__)
/* GCC moves every gate to its first use, and then has twice as many values waiting in memory. */
#define EVC_CIRCUIT_PIN(x) __asm__ volatile("" : "+x"(x))
#endif
#include "aes/sbox_circuit.h"

/* ---- Constants: a lane, twice, so that 256-bit code can take them from memory ---------------- */

typedef uint8_t lanes[32];

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

#define SAME8(x) x, x, x, x, x, x, x, x
#define SAME32(x) {SAME8(x), SAME8(x), SAME8(x), SAME8(x)}
static const EVC_ALIGN(32) lanes odd_bits = SAME32(0x55), odd_pairs = SAME32(0x33),
                                  low_nibbles = SAME32(0x0f),
                                  key_xor[2] = {SAME32(0), SAME32(EVC_CIRCUIT_KEY_XOR)};

/* ---- Steps ----------------------------------------------------------------------------------- */

EVC_INLINE void swap(vec *a, vec *b, int n, vec mask)
{
    vec t = (v_right(*a, n) ^ *b) & mask;

    *b ^= t;
    *a ^= v_left(t, n);
}

/* Bit j of every byte of vector i <-> bit i of that byte of vector j. */
EVC_INLINE void transpose(vec q[8])
{
    const vec m1 = v_constant(odd_bits), m2 = v_constant(odd_pairs), m4 = v_constant(low_nibbles);

    swap(q + 0, q + 1, 1, m1), swap(q + 2, q + 3, 1, m1);
    swap(q + 4, q + 5, 1, m1), swap(q + 6, q + 7, 1, m1);
    swap(q + 0, q + 2, 2, m2), swap(q + 1, q + 3, 2, m2);
    swap(q + 4, q + 6, 2, m2), swap(q + 5, q + 7, 2, m2);
    swap(q + 0, q + 4, 4, m4), swap(q + 1, q + 5, 4, m4);
    swap(q + 2, q + 6, 4, m4), swap(q + 3, q + 7, 4, m4);
}

/*
 * The planes of a round key, the same in all blocks: made when they are used, so that the key is
 * small, set up fast and shared with other kernels. One look-up in a register spreads a bit of a
 * nibble over a byte. i: times that ShiftRows is still to be done; flip: sbox_circuit.h.
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

EVC_INLINE void add_round_key(vec q[8], const vec k[8])
{
    q[0] ^= k[0], q[1] ^= k[1], q[2] ^= k[2], q[3] ^= k[3];
    q[4] ^= k[4], q[5] ^= k[5], q[6] ^= k[6], q[7] ^= k[7];
}

/* MixColumns (section 5.1.3). With t = x ^ next(x): 2 t ^ next(x) ^ second(t). */
EVC_INLINE void mix_planes(vec q[8], unsigned i)
{
    const vec next = v_constant(next_row[i]), second = v_constant(second_row[i % 2]);
    vec n7 = v_shuffle(q[7], next), t7 = q[7] ^ n7;
    vec n6 = v_shuffle(q[6], next), t6 = q[6] ^ n6;
    vec n5 = v_shuffle(q[5], next), t5 = q[5] ^ n5;
    vec n4 = v_shuffle(q[4], next), t4 = q[4] ^ n4;
    vec n3 = v_shuffle(q[3], next), t3 = q[3] ^ n3;
    vec n2 = v_shuffle(q[2], next), t2 = q[2] ^ n2;
    vec n1 = v_shuffle(q[1], next), t1 = q[1] ^ n1;
    vec n0 = v_shuffle(q[0], next), t0 = q[0] ^ n0;

    q[7] = n7 ^ v_shuffle(t7, second) ^ t6;
    q[6] = n6 ^ v_shuffle(t6, second) ^ t5;
    q[5] = n5 ^ v_shuffle(t5, second) ^ t4;
    q[4] = n4 ^ v_shuffle(t4, second) ^ t3 ^ t7;
    q[3] = n3 ^ v_shuffle(t3, second) ^ t2 ^ t7;
    q[2] = n2 ^ v_shuffle(t2, second) ^ t1;
    q[1] = n1 ^ v_shuffle(t1, second) ^ t0 ^ t7;
    q[0] = n0 ^ v_shuffle(t0, second) ^ t7;
}

/* InvMixColumns (section 5.3.3): MixColumns after x -> x ^ 4 (x ^ second(x)). */
EVC_INLINE void inv_mix_planes(vec q[8], unsigned i)
{
    const vec second = v_constant(second_row[i % 2]);
    vec u7 = q[7] ^ v_shuffle(q[7], second), u6 = q[6] ^ v_shuffle(q[6], second);
    vec u5 = q[5] ^ v_shuffle(q[5], second), u4 = q[4] ^ v_shuffle(q[4], second);
    vec u3 = q[3] ^ v_shuffle(q[3], second), u2 = q[2] ^ v_shuffle(q[2], second);
    vec u1 = q[1] ^ v_shuffle(q[1], second), u0 = q[0] ^ v_shuffle(q[0], second);
    vec u76 = u7 ^ u6;

    q[7] ^= u5;
    q[6] ^= u4;
    q[5] ^= u3 ^ u7;
    q[4] ^= u2 ^ u76;
    q[3] ^= u1 ^ u6;
    q[2] ^= u0 ^ u7;
    q[1] ^= u76;
    q[0] ^= u6;
    mix_planes(q, i);
}

/* ---- Rounds: n batches at s, 8 vectors each, in place ---------------------------------------- */

EVC_INLINE void get(vec q[8], const vec *s)
{
    q[0] = s[0], q[1] = s[1], q[2] = s[2], q[3] = s[3];
    q[4] = s[4], q[5] = s[5], q[6] = s[6], q[7] = s[7];
}

EVC_INLINE void put(vec *s, const vec q[8])
{
    s[0] = q[0], s[1] = q[1], s[2] = q[2], s[3] = q[3];
    s[4] = q[4], s[5] = q[5], s[6] = q[6], s[7] = q[7];
}

/* Blocks to planes, and the round key before the first round. */
EVC_INLINE void slice(vec *s, unsigned n, const uint8_t key[16], unsigned i, int flip)
{
    vec k[8], q[8];

    key_planes(k, key, i, flip);
    for (; n; n--, s += 8) {
        get(q, s);
        transpose(q);
        add_round_key(q, k);
        put(s, q);
    }
}

/* Round i of those before the last. */
EVC_INLINE void round_(vec *s, unsigned n, const uint8_t key[16], unsigned i)
{
    vec k[8], q[8];

    key_planes(k, key, i, 1);
    for (; n; n--, s += 8) {
        get(q, s);
        sub_bytes(q);
        mix_planes(q, i);
        add_round_key(q, k);
        put(s, q);
    }
}

EVC_INLINE void inv_round(vec *s, unsigned n, const uint8_t key[16], unsigned i)
{
    vec k[8], q[8];

    key_planes(k, key, i, 1);
    for (; n; n--, s += 8) {
        get(q, s);
        inv_sub_bytes(q);
        add_round_key(q, k);
        inv_mix_planes(q, i);
        put(s, q);
    }
}

/* The last round, and planes to blocks. */
EVC_INLINE void final_round(vec *s, unsigned n, const uint8_t key[16], unsigned i)
{
    vec k[8], q[8];

    key_planes(k, key, i, 1);
    for (; n; n--, s += 8) {
        get(q, s);
        sub_bytes(q);
        add_round_key(q, k);
        transpose(q);
        put(s, q);
    }
}

EVC_INLINE void inv_final_round(vec *s, unsigned n, const uint8_t key[16])
{
    vec k[8], q[8];

    key_planes(k, key, 0, 0);
    for (; n; n--, s += 8) {
        get(q, s);
        inv_sub_bytes(q);
        add_round_key(q, k);
        transpose(q);
        put(s, q);
    }
}

/* ShiftRows twice, its own inverse: what 10 and 14 rounds leave to be done. */
EVC_INLINE void shift_twice(vec *s, unsigned n)
{
    for (unsigned j = 0; j < 8 * n; j++)
        s[j] = v_shuffle(s[j], v_constant(unshift[2]));
}

EVC_INLINE void encrypt_rounds(const struct evc_aes_fips197_key *key, vec *s, unsigned n)
{
    const unsigned rounds = key->head.rounds;

    slice(s, n, key->enc[0], 0, 0);
    for (unsigned r = 1; r < rounds; r++)
        round_(s, n, key->enc[r], r % 4);
    final_round(s, n, key->enc[rounds], rounds % 4);
    if (rounds % 4) /* 10 and 14 rounds */
        shift_twice(s, n);
}

EVC_INLINE void decrypt_rounds(const struct evc_aes_fips197_key *key, vec *s, unsigned n)
{
    const unsigned rounds = key->head.rounds;

    if (rounds % 4)
        shift_twice(s, n);
    slice(s, n, key->enc[rounds], rounds % 4, 1);
    for (unsigned r = rounds - 1; r > 0; r--)
        inv_round(s, n, key->enc[r], r % 4);
    inv_final_round(s, n, key->enc[0]);
}

/* The functions below are not inlined, or their frame and the caller's are one of more than 1 KiB. One batch alone
 * stays in registers from round to round, as far as there are enough; of two lanes, what does not would be too much. */
#define IN_REGISTERS(n) (V_LANES == 1 && (n) == 1)

EVC_OUT_OF_LINE void encrypt_one(const struct evc_aes_fips197_key *key, vec *s)
{
    vec q[8];

    get(q, s);
    encrypt_rounds(key, q, 1);
    put(s, q);
}

EVC_OUT_OF_LINE void decrypt_one(const struct evc_aes_fips197_key *key, vec *s)
{
    vec q[8];

    get(q, s);
    decrypt_rounds(key, q, 1);
    put(s, q);
}

typedef void batches_function(const struct evc_aes_fips197_key *, vec *, unsigned);

EVC_OUT_OF_LINE void encrypt_batches(const struct evc_aes_fips197_key *key, vec *s, unsigned n)
{
    if (IN_REGISTERS(n))
        encrypt_one(key, s);
    else
        encrypt_rounds(key, s, n);
}

EVC_OUT_OF_LINE void decrypt_batches(const struct evc_aes_fips197_key *key, vec *s, unsigned n)
{
    if (IN_REGISTERS(n))
        decrypt_one(key, s);
    else
        decrypt_rounds(key, s, n);
}

/* ---- Whole batches -------------------------------------------------------------------------- */

EVC_INLINE void load_batches(vec *q, const uint8_t *in, size_t n_blocks)
{
    for (size_t j = 0; j < n_blocks / V_LANES; j++)
        q[j] = v_load(in + V_BYTES * j);
}

EVC_INLINE void store_batches(uint8_t *out, const vec *q, size_t n_blocks)
{
    for (size_t j = 0; j < n_blocks / V_LANES; j++)
        v_store(out + V_BYTES * j, q[j]);
}

EVC_INLINE void crypt_batches(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks,
                              batches_function *crypt)
{
    vec q[8 * AT_ONCE];

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = at_most(n_blocks, MOST_BLOCKS);
        load_batches(q, in, n);
        crypt(key, q, (unsigned)(n / BATCH_BLOCKS));
        store_batches(out, q, n);
    }
}

/* The counter's last four bytes are kept little-endian and turned round in every block. */
EVC_OUT_OF_LINE void ctr32_batches(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                                   size_t n_blocks)
{
    static const EVC_ALIGN(32) lanes turn = {
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 14, 13, 12,
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 14, 13, 12};
    static const EVC_ALIGN(32) lanes first = {[28] = 1}, step = {[12] = V_LANES, [28] = V_LANES};
    vec q[8 * AT_ONCE], block = v_add32(v_shuffle(v_all(load(counter)), v_constant(turn)), v_constant(first));

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

EVC_OUT_OF_LINE void cbc_decrypt_batches(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                                         size_t n_blocks)
{
    vec q[8 * AT_ONCE];
    __m128i before = load(iv), last;

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = at_most(n_blocks, MOST_BLOCKS);
        load_batches(q, in, n);
        decrypt_batches(key, q, (unsigned)(n / BATCH_BLOCKS));
        last = load(in + 16 * (n - 1));
        for (size_t j = n / V_LANES - 1; j > 0; j--) /* from the end, since in may be out */
            v_store(out + V_BYTES * j, q[j] ^ v_load(in + V_BYTES * j - 16));
        v_store(out, q[0] ^ v_after(before, v_load(in)));
        before = last;
    }
    store(iv, before);
}

/* The tweak of a block -> that of the same block of the next batch: times x^BATCH_BLOCKS, which
 * moves V_LANES whole bytes out at the top; these times x^7 + x^2 + x + 1 come in below. */
EVC_INLINE vec next_tweak(vec t)
{
    vec top = v_bytes_down(t, 16 - V_LANES);

    return v_bytes_up(t, V_LANES) ^ top ^ v_left32(top, 1) ^ v_left32(top, 2) ^ v_left32(top, 7);
}

EVC_INLINE void xts_of_batches(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                          size_t n_blocks, batches_function *crypt)
{
    vec q[8 * AT_ONCE], tweaks[8], *t = tweaks;
    __m128i next = load(tweak);

    EVC_KEEP(t); /* else GCC at -O3 has each tweak twice on the stack */
    for (unsigned i = 0; i < BATCH_BLOCKS; i++, next = times_x128(next))
        store((uint8_t *)t + 16 * i, next);
    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        const unsigned batches = (unsigned)((n = at_most(n_blocks, MOST_BLOCKS)) / BATCH_BLOCKS);
        load_batches(q, in, n);
        for (unsigned j = 0; j < 8; j++) {
            vec now = t[j];
            for (unsigned b = 0; b < batches; b++, now = next_tweak(now))
                q[8 * b + j] ^= now;
        }
        crypt(key, q, batches);
        for (unsigned j = 0; j < 8; j++)
            for (unsigned b = 0; b < batches; b++, t[j] = next_tweak(t[j]))
                q[8 * b + j] ^= t[j];
        store_batches(out, q, n);
    }
    store(tweak, load((const uint8_t *)t));
}

/* Not inlined into the operations: their frames are then those of few blocks, and `clear` has less to clear. */
EVC_OUT_OF_LINE void encrypt_blocks(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    crypt_batches(key, in, out, n_blocks, encrypt_batches);
}

EVC_OUT_OF_LINE void decrypt_blocks(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    crypt_batches(key, in, out, n_blocks, decrypt_batches);
}

EVC_OUT_OF_LINE void xts_encrypt_batches(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                                         size_t n_blocks)
{
    xts_of_batches(key, tweak, in, out, n_blocks, encrypt_batches);
}

EVC_OUT_OF_LINE void xts_decrypt_batches(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                                         size_t n_blocks)
{
    xts_of_batches(key, tweak, in, out, n_blocks, decrypt_batches);
}

/* ---- Operations: whole batches as bit planes, what is left by vector permute ----------------- */

/* Batches leave secrets far below the caller. They are cleared here, and not by the kernel's `clear`, whose stores
 * would be a third of the time of one block. */
EVC_INLINE void end_batches(void)
{
    clear_batches();
    v_clear_upper_halves();
}

typedef void chained_function(const void *key, uint8_t state[16], const uint8_t *in, uint8_t *out, size_t n_blocks);

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
EVC_INLINE void in_batches_chained(const void *key, uint8_t state[16], const uint8_t *in, uint8_t *out, size_t n_blocks,
                                   chained_function *batches, chained_function *rest)
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

static void ctr32(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    const size_t n_rest = len_bytes % BATCH_BYTES, whole = len_bytes - n_rest;

    if (whole) {
        ctr32_batches(key, counter, in, out, whole / 16);
        end_batches();
    }
    if (n_rest)
        few_ctr32(key, counter, in + whole, out + whole, n_rest);
}

static void cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    in_batches_chained(key, iv, in, out, n_blocks, cbc_decrypt_batches, few_cbc_decrypt);
}

static void xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    in_batches_chained(key, tweak, in, out, n_blocks, xts_encrypt_batches, few_xts_encrypt);
}

static void xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    in_batches_chained(key, tweak, in, out, n_blocks, xts_decrypt_batches, few_xts_decrypt);
}

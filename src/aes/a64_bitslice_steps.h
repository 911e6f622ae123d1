/* SPDX-License-Identifier: MIT */
/*
 * AES on bit planes in NEON registers: 8 blocks in eight registers of 128 bits.
 *
 * Byte r + 4 c of plane j holds bit j of the byte in row r, column c of 8 blocks, one block a bit.
 *
 * Fixslicing (A. Adomnicai, T. Peyrin, TCHES 2021(1)): ShiftRows is never done; round i mixes
 * columns while i times ShiftRows is still to be done: another byte shuffle, not one more. After 10
 * and 14 rounds two are left for the end; four are none.
 *
 * Round keys between rounds are planes, too, since a load costs less than what makes a plane. Each
 * call makes them on the stack, in two frames, for they are more than 1 KiB. The first and the last
 * round key are added to blocks, not to planes.
 *
 * All this pays for batches. Up to MOST_SINGLE blocks that fill none go by vector permute
 * (a64_vperm_steps.h), whose round keys are in the key, too.
 *
 * Before this file: the ISA's region is open, and defined are v_xor3(a, b, c) and
 * clear_batches(), which clears the stack as deep as batches reach (with KEEP_PLANES, those of
 * AES-128; clear_rest() those of longer keys). All else is left to the kernel's `clear`.
 * MOST_SINGLE may be defined. ROUNDS may be defined as EVC_OUT_OF_LINE where the rounds leave no
 * registers to those who call them; or ENCRYPT and DECRYPT, as a32_bitslice.c does, where they
 * are functions of assembly. ROWS_FIRST may be defined for cores on which a look-up of 16 bytes
 * costs more than two instructions; byte 4 r + c is that in row r, column c then: a row is a
 * word, and bytes move by the turning of vectors and of words. Rounds are written out, since how
 * far depends on i. KEEP_PLANES may be defined where fewer instructions for each call are worth 1
 * KiB more for each key: the planes of 9 round keys, all of AES-128, are in the key, and calls
 * make those of the others only.
 */

#if !defined(ROUNDS)
#define ROUNDS EVC_INLINE
#endif

#if !defined(MOST_SINGLE)
#define MOST_SINGLE 7
#endif

#include "aes/a64_vperm_steps.h"

#define BATCH_BLOCKS 8
#define BATCH_BYTES 128

/* Planes of the 13 round keys between the first and the last of AES-256 are in two frames; with
 * KEEP_PLANES, in the key and in one frame. */
#if defined(KEEP_PLANES)
#define KEPT_ROUNDS 9
#define FIRST_ROUNDS KEPT_ROUNDS
#else
#define KEPT_ROUNDS 0
#define FIRST_ROUNDS 6
#endif
#define MOST_MIDDLE 13
#define MOST_REST (MOST_MIDDLE - FIRST_ROUNDS)

typedef uint8_t round_planes[8][16];

struct key {
    struct vperm_key single;
    uint8_t first[16]; /* as in FIPS 197; the others have their bits of
                        * EVC_CIRCUIT_KEY_XOR flipped */
    uint8_t last[16];
#if defined(KEEP_PLANES)
    round_planes kept[KEPT_ROUNDS]; /* of rounds 1 to KEPT_ROUNDS */
#endif
    uint8_t middle[MOST_MIDDLE - KEPT_ROUNDS][16]; /* of the others up to rounds - 1, in the
                                                    * order of planes' bytes */
};

#define EVC_CIRCUIT_WORD vec
#define EVC_CIRCUIT_NAME(function) function
#define EVC_CIRCUIT_SELECT(mask, a, b) vbslq_u8(mask, a, b)
#if defined(__clang__)
#define EVC_CIRCUIT_HIDE(x) __asm__("" : "+w"(x))
#endif
#include "aes/sbox_select_circuit.h"

/* ---- Constants ------------------------------------------------------------------------------- */

#define FROM(r, c) ((r) % 4 + 4 * ((c) % 4))
#define LANE(column, i) {column(0, i), column(1, i), column(2, i), column(3, i)}

#if !defined(ROWS_FIRST)

/* The byte one row down and i columns on; two rows down and 2 i columns on.
 * One pair for each round. */
#define NEXT(c, i) FROM(1, c + i), FROM(2, c + i), FROM(3, c + i), FROM(4, c + i)
#define SECOND(c, i) FROM(2, c + 2 * i), FROM(3, c + 2 * i), FROM(4, c + 2 * i), FROM(5, c + 2 * i)
#define MIX(i) {LANE(NEXT, i), LANE(SECOND, i)}
typedef uint8_t mix_shuffles[2][16];
static const EVC_ALIGN(32) mix_shuffles round_mix[EVC_AES_MAX_ROUNDS] = {
    MIX(0), MIX(1), MIX(2), MIX(3), MIX(0), MIX(1), MIX(2),
    MIX(3), MIX(0), MIX(1), MIX(2), MIX(3), MIX(0), MIX(1)};

/* ShiftRows undone i times: row r comes from i r columns back, which is 3 i r on. */
#define UNSHIFT(c, i) FROM(0, c), FROM(1, c + 3 * i), FROM(2, c + 6 * i), FROM(3, c + 9 * i)
static const EVC_ALIGN(16) uint8_t unshift[4][16] = {LANE(UNSHIFT, 0), LANE(UNSHIFT, 1),
                                                     LANE(UNSHIFT, 2), LANE(UNSHIFT, 3)};

#else

/* The same, from a block to rows first, and ShiftRows done i times, from rows first to a block. */
#define ROW_OF(r, i) \
    FROM(r, 3 * i * r), FROM(r, 3 * i * r + 1), FROM(r, 3 * i * r + 2), FROM(r, 3 * i * r + 3)
#define IN_ROWS(r, c) (4 * (r) + (c) % 4)
#define COLUMN_OF(c, i) \
    IN_ROWS(0, c), IN_ROWS(1, c + i), IN_ROWS(2, c + 2 * i), IN_ROWS(3, c + 3 * i)
static const EVC_ALIGN(16) uint8_t unshift[4][16] = {LANE(ROW_OF, 0), LANE(ROW_OF, 1),
                                                     LANE(ROW_OF, 2), LANE(ROW_OF, 3)};
static const EVC_ALIGN(16) uint8_t shift[4][16] = {LANE(COLUMN_OF, 0), LANE(COLUMN_OF, 1),
                                                   LANE(COLUMN_OF, 2), LANE(COLUMN_OF, 3)};

#endif

/* ---- Steps ----------------------------------------------------------------------------------- */

EVC_INLINE vec bit(unsigned j)
{
    return vdupq_n_u8((uint8_t)(1u << j));
}

/* Bit j of every byte, spread over it: the planes of a block that is the same in all 8. */
EVC_INLINE void same_planes(vec q[8], vec x)
{
    q[0] = vtstq_u8(x, bit(0)), q[1] = vtstq_u8(x, bit(1)), q[2] = vtstq_u8(x, bit(2)),
    q[3] = vtstq_u8(x, bit(3));
    q[4] = vtstq_u8(x, bit(4)), q[5] = vtstq_u8(x, bit(5)), q[6] = vtstq_u8(x, bit(6)),
    q[7] = vtstq_u8(x, bit(7));
}

EVC_INLINE void load8(vec q[8], const uint8_t *p)
{
    q[0] = vld1q_u8(p), q[1] = vld1q_u8(p + 16), q[2] = vld1q_u8(p + 32), q[3] = vld1q_u8(p + 48);
    q[4] = vld1q_u8(p + 64), q[5] = vld1q_u8(p + 80), q[6] = vld1q_u8(p + 96),
    q[7] = vld1q_u8(p + 112);
}

EVC_INLINE void store8(uint8_t *p, const vec q[8])
{
    vst1q_u8(p, q[0]), vst1q_u8(p + 16, q[1]), vst1q_u8(p + 32, q[2]), vst1q_u8(p + 48, q[3]);
    vst1q_u8(p + 64, q[4]), vst1q_u8(p + 80, q[5]), vst1q_u8(p + 96, q[6]), vst1q_u8(p + 112, q[7]);
}

EVC_INLINE void xor8(vec q[8], const vec x[8])
{
    q[0] ^= x[0], q[1] ^= x[1], q[2] ^= x[2], q[3] ^= x[3];
    q[4] ^= x[4], q[5] ^= x[5], q[6] ^= x[6], q[7] ^= x[7];
}

EVC_INLINE void xor_all(vec q[8], vec x)
{
    q[0] ^= x, q[1] ^= x, q[2] ^= x, q[3] ^= x, q[4] ^= x, q[5] ^= x, q[6] ^= x, q[7] ^= x;
}

/* q = q ^ x ^ y */
EVC_INLINE void xor8_all(vec q[8], const vec x[8], vec y)
{
    q[0] = v_xor3(q[0], x[0], y), q[1] = v_xor3(q[1], x[1], y), q[2] = v_xor3(q[2], x[2], y);
    q[3] = v_xor3(q[3], x[3], y), q[4] = v_xor3(q[4], x[4], y), q[5] = v_xor3(q[5], x[5], y);
    q[6] = v_xor3(q[6], x[6], y), q[7] = v_xor3(q[7], x[7], y);
}

EVC_INLINE void shuffle8(vec q[8], vec m)
{
    q[0] = vqtbl1q_u8(q[0], m), q[1] = vqtbl1q_u8(q[1], m), q[2] = vqtbl1q_u8(q[2], m),
    q[3] = vqtbl1q_u8(q[3], m);
    q[4] = vqtbl1q_u8(q[4], m), q[5] = vqtbl1q_u8(q[5], m), q[6] = vqtbl1q_u8(q[6], m),
    q[7] = vqtbl1q_u8(q[7], m);
}

/* high: the mask of the bits of a that change places with those n lower of b. */
#define SWAP(a, b, n, high)                                         \
    do {                                                            \
        const vec up_ = vshlq_n_u8(b, n), down_ = vshrq_n_u8(a, n); \
        a = vbslq_u8(high, up_, a);                                 \
        b = vbslq_u8(high, b, down_);                               \
    } while (0)
/* The same for halves of bytes. */
#define SWAP4(a, b)                           \
    do {                                      \
        const vec low_ = vsliq_n_u8(a, b, 4); \
        b = vsriq_n_u8(b, a, 4);              \
        a = low_;                             \
    } while (0)

/* Bit j of every byte of vector i <-> bit i of that byte of vector j. */
EVC_INLINE void transpose(vec q[8])
{
    const vec odd_bits = vdupq_n_u8(0xaa), odd_pairs = vdupq_n_u8(0xcc);

    SWAP(q[0], q[1], 1, odd_bits);
    SWAP(q[2], q[3], 1, odd_bits);
    SWAP(q[4], q[5], 1, odd_bits);
    SWAP(q[6], q[7], 1, odd_bits);
    SWAP(q[0], q[2], 2, odd_pairs);
    SWAP(q[1], q[3], 2, odd_pairs);
    SWAP(q[4], q[6], 2, odd_pairs);
    SWAP(q[5], q[7], 2, odd_pairs);
    SWAP4(q[0], q[4]);
    SWAP4(q[1], q[5]);
    SWAP4(q[2], q[6]);
    SWAP4(q[3], q[7]);
}

/* a ^ k[j], a ^ b ^ k[j]; keyed is a constant: 0, and nothing is there to be added at k. */
EVC_INLINE vec plus_key(vec a, int keyed, const uint8_t k[8][16], unsigned j)
{
    return keyed ? a ^ vld1q_u8(k[j]) : a;
}

EVC_INLINE vec plus_and_key(vec a, vec b, int keyed, const uint8_t k[8][16], unsigned j)
{
    return keyed ? v_xor3(a, b, vld1q_u8(k[j])) : a ^ b;
}

#if !defined(ROWS_FIRST)

typedef const uint8_t (*mix_place)[16];
#define BEGIN_MIX(at)                                               \
    const vec next = vld1q_u8((at)[0]), second = vld1q_u8((at)[1]); \
    (void)next
#define NEXT_ROW(x) vqtbl1q_u8(x, next)
#define SECOND_ROW(x) vqtbl1q_u8(x, second)

#else

typedef unsigned mix_place; /* a constant: times that ShiftRows is still to be done, modulo 4 */
#define BEGIN_MIX(at) const unsigned i_ = (at)
#define NEXT_ROW(x) turn_words(vextq_u8(x, x, 4), i_)
#define SECOND_ROW(x) turn_words(vextq_u8(x, x, 8), 2 * i_ % 4)

/* Byte c of every word comes from byte c + n modulo 4. */
EVC_INLINE vec turn_words(vec x, unsigned n)
{
    const uint32x4_t w = vreinterpretq_u32_u8(x);

    if (n == 1)
        return vreinterpretq_u8_u32(vsriq_n_u32(vshlq_n_u32(w, 24), w, 8));
    if (n == 3)
        return vreinterpretq_u8_u32(vsriq_n_u32(vshlq_n_u32(w, 8), w, 24));
    return n == 2 ? vreinterpretq_u8_u16(vrev32q_u16(vreinterpretq_u16_u8(x))) : x;
}

#endif

/* MixColumns (section 5.1.3) and AddRoundKey. With t = x ^ next(x): 2 t ^ next(x) ^ second(t). */
EVC_INLINE void mix_planes(vec q[8], mix_place at, int keyed, const uint8_t k[8][16])
{
    BEGIN_MIX(at);
    vec n7 = NEXT_ROW(q[7]), t7 = q[7] ^ n7;
    vec n6 = NEXT_ROW(q[6]), t6 = q[6] ^ n6;
    vec n5 = NEXT_ROW(q[5]), t5 = q[5] ^ n5;
    vec n4 = NEXT_ROW(q[4]), t4 = q[4] ^ n4;
    vec n3 = NEXT_ROW(q[3]), t3 = q[3] ^ n3;
    vec n2 = NEXT_ROW(q[2]), t2 = q[2] ^ n2;
    vec n1 = NEXT_ROW(q[1]), t1 = q[1] ^ n1;
    vec n0 = NEXT_ROW(q[0]), t0 = q[0] ^ n0;

    q[7] = plus_key(v_xor3(n7, SECOND_ROW(t7), t6), keyed, k, 7);
    q[6] = plus_key(v_xor3(n6, SECOND_ROW(t6), t5), keyed, k, 6);
    q[5] = plus_key(v_xor3(n5, SECOND_ROW(t5), t4), keyed, k, 5);
    q[4] = plus_and_key(v_xor3(n4, SECOND_ROW(t4), t3), t7, keyed, k, 4);
    q[3] = plus_and_key(v_xor3(n3, SECOND_ROW(t3), t2), t7, keyed, k, 3);
    q[2] = plus_key(v_xor3(n2, SECOND_ROW(t2), t1), keyed, k, 2);
    q[1] = plus_and_key(v_xor3(n1, SECOND_ROW(t1), t0), t7, keyed, k, 1);
    q[0] = plus_key(v_xor3(n0, SECOND_ROW(t0), t7), keyed, k, 0);
}

/* InvMixColumns (section 5.3.3): MixColumns after x -> x ^ 4 (x ^ second(x)). */
EVC_INLINE void inv_mix_planes(vec q[8], mix_place at)
{
    BEGIN_MIX(at);
    vec u7 = q[7] ^ SECOND_ROW(q[7]), u6 = q[6] ^ SECOND_ROW(q[6]);
    vec u5 = q[5] ^ SECOND_ROW(q[5]), u4 = q[4] ^ SECOND_ROW(q[4]);
    vec u3 = q[3] ^ SECOND_ROW(q[3]), u2 = q[2] ^ SECOND_ROW(q[2]);
    vec u1 = q[1] ^ SECOND_ROW(q[1]), u0 = q[0] ^ SECOND_ROW(q[0]);
    vec u76 = u7 ^ u6;

    q[7] ^= u5;
    q[6] ^= u4;
    q[5] = v_xor3(q[5], u3, u7);
    q[4] = v_xor3(q[4], u2, u76);
    q[3] = v_xor3(q[3], u1, u6);
    q[2] = v_xor3(q[2], u0, u7);
    q[1] ^= u76;
    q[0] ^= u6;
    mix_planes(q, at, 0, NULL);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Round key r, given as in FIPS 197, as planes want it, and the planes. */
EVC_INLINE vec shifted_key(const uint8_t rk[16], unsigned r)
{
    return vqtbl1q_u8(vld1q_u8(rk), vld1q_u8(unshift[r % 4])) ^ vdupq_n_u8(EVC_CIRCUIT_KEY_XOR);
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;
    const unsigned rounds = key->single.head.rounds;
    EVC_ALIGN(16) uint8_t w[EVC_AES_MAX_ROUNDS + 1][16];

    vperm_set_keys(&key->single, w, user_key);
    memcpy(key->first, w[0], 16);
    for (unsigned r = 1; r < rounds; r++) {
        const vec k = shifted_key(w[r], r);
#if defined(KEEP_PLANES)
        if (r <= KEPT_ROUNDS) {
            vec q[8];

            same_planes(q, k);
            store8(key->kept[r - 1][0], q);
            continue;
        }
#endif
        vst1q_u8(key->middle[r - 1 - KEPT_ROUNDS], k);
    }
    vst1q_u8(key->last, vld1q_u8(w[rounds]) ^ vdupq_n_u8(EVC_CIRCUIT_KEY_XOR));
}

/* Arguments of an operation. first, rest: planes of the round keys. A frame holds either these or
 * the vectors of a batch. */
struct call {
    const struct key *key;
    const round_planes *first, *rest;
    uint8_t *state; /* counter, iv or tweak */
    const uint8_t *in;
    uint8_t *out;
    size_t n; /* blocks, of CTR bytes */
};

static unsigned rounds_of(const struct call *c)
{
    return c->key->single.head.rounds;
}

static unsigned rest_rounds(const struct call *c)
{
    return rounds_of(c) - 1 - FIRST_ROUNDS; /* 0 of AES-128 with KEEP_PLANES */
}

static void make_planes(round_planes *planes, const uint8_t keys[][16], unsigned n)
{
    for (unsigned r = 0; r < n; r++) {
        vec q[8];

        same_planes(q, vld1q_u8(keys[r]));
        store8(planes[r][0], q);
    }
}

/* ---- Rounds: of planes to which the first key has been added, to planes to
 * which the last will be */

#if defined(ENCRYPT)

/* From behind the first SubBytes. */
EVC_INLINE void encrypt_on(const struct call *c, vec q[8])
{
    ENCRYPT(q, c->first, round_mix + 1, FIRST_ROUNDS, c->rest, rest_rounds(c), 0);
    if (rounds_of(c) % 4)
        shuffle8(q, vld1q_u8(unshift[2])); /* ShiftRows twice is its own inverse */
}

EVC_INLINE void first_sub_bytes(vec q[8])
{
    ENCRYPT(q, NULL, NULL, 0, NULL, 0, 1);
}

EVC_INLINE void encrypt_rounds(const struct call *c, vec q[8])
{
    ENCRYPT(q, c->first, round_mix + 1, FIRST_ROUNDS, c->rest, rest_rounds(c), 1);
    if (rounds_of(c) % 4)
        shuffle8(q, vld1q_u8(unshift[2]));
}

EVC_INLINE void decrypt_rounds(const struct call *c, vec q[8])
{
    const unsigned n = rest_rounds(c);

    if (rounds_of(c) % 4)
        shuffle8(q, vld1q_u8(unshift[2]));
    DECRYPT(q, c->rest + n, round_mix + rounds_of(c), n, c->first + FIRST_ROUNDS, FIRST_ROUNDS);
}

#elif defined(ROWS_FIRST)

/* A round with the key's planes at k, which moves on. */
#define ENCRYPT_ROUND(i) (mix_planes(s, i, 1, *k), sub_bytes(s), k++)
#define DECRYPT_ROUND(i) \
    (k--, load8(planes, (*k)[0]), xor8(s, planes), inv_mix_planes(s, i), inv_sub_bytes(s))

/* From behind the first SubBytes. */
ROUNDS void encrypt_on(const struct call *c, vec q[8])
{
    const unsigned last = rounds_of(c) - 1; /* odd */
    const round_planes *k = c->first;
    vec s[8] = {q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]}; /* in registers */

    for (unsigned r = 1;; r += 4) {
        ENCRYPT_ROUND(1);
        if (r == last)
            break;
        ENCRYPT_ROUND(2);
        if (r + 1 == FIRST_ROUNDS)
            k = c->rest;
        ENCRYPT_ROUND(3);
        if (r + 2 == last)
            break;
        ENCRYPT_ROUND(0);
    }
    shuffle8(s, vld1q_u8(shift[rounds_of(c) % 4]));
    memcpy(q, s, sizeof s);
}

ROUNDS void first_sub_bytes(vec q[8])
{
    sub_bytes(q);
}

EVC_INLINE void encrypt_rounds(const struct call *c, vec q[8])
{
    shuffle8(q, vld1q_u8(unshift[0]));
    first_sub_bytes(q);
    encrypt_on(c, q);
}

ROUNDS void decrypt_rounds(const struct call *c, vec q[8])
{
    const round_planes *k = c->rest + rest_rounds(c);
    vec planes[8], s[8] = {q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]};

    shuffle8(s, vld1q_u8(unshift[rounds_of(c) % 4]));
    inv_sub_bytes(s);
    for (unsigned r = rounds_of(c) - 1;; r -= 2) {
        if (r % 4 == 1) {
            DECRYPT_ROUND(1);
            if (r == 1)
                break;
            DECRYPT_ROUND(0);
        } else {
            DECRYPT_ROUND(3);
            if (r - 1 == FIRST_ROUNDS)
                k = c->first + FIRST_ROUNDS;
            DECRYPT_ROUND(2);
        }
    }
    shuffle8(s, vld1q_u8(shift[0]));
    memcpy(q, s, sizeof s);
}

#else

/* From behind the first SubBytes. */
ROUNDS void encrypt_on(const struct call *c, vec q[8])
{
    const mix_shuffles *mix = round_mix + 1;

    for (int part = 0; part < 2; part++) {
        const round_planes *k = part ? c->rest : c->first;
        unsigned n = part ? rest_rounds(c) : FIRST_ROUNDS;

        if (KEPT_ROUNDS && !n)
            break;

        do {
            mix_planes(q, *mix, 1, *k);
            sub_bytes(q);
            mix++, k++;
        } while (--n);
    }
    if (rounds_of(c) % 4)
        shuffle8(q, vld1q_u8(unshift[2])); /* ShiftRows twice is its own inverse */
}

ROUNDS void first_sub_bytes(vec q[8])
{
    sub_bytes(q);
}

EVC_INLINE void encrypt_rounds(const struct call *c, vec q[8])
{
    first_sub_bytes(q);
    encrypt_on(c, q);
}

ROUNDS void decrypt_rounds(const struct call *c, vec q[8])
{
    const mix_shuffles *mix = round_mix + rounds_of(c);

    if (rounds_of(c) % 4)
        shuffle8(q, vld1q_u8(unshift[2]));
    inv_sub_bytes(q);
    for (int part = 0; part < 2; part++) {
        const round_planes *k = part ? c->first + FIRST_ROUNDS : c->rest + rest_rounds(c);
        unsigned n = part ? FIRST_ROUNDS : rest_rounds(c);

        if (KEPT_ROUNDS && !n)
            continue;

        do {
            vec planes[8];

            mix--, k--;
            load8(planes, (*k)[0]);
            xor8(q, planes);
            inv_mix_planes(q, *mix);
            inv_sub_bytes(q);
        } while (--n);
    }
}

#endif

/* ---- Blocks ---------------------------------------------------------------------------------- */

typedef void rounds_function(const struct call *, vec *);
typedef void operation(const struct call *);

EVC_OUT_OF_LINE void run_rest(struct call *call, operation *op)
{
    EVC_ALIGN(16) round_planes rest[MOST_REST];

    make_planes(rest, call->key->middle + FIRST_ROUNDS - KEPT_ROUNDS, rest_rounds(call));
    call->rest = (const round_planes *)rest;
    op(call);
}

#if !defined(KEEP_PLANES)

EVC_OUT_OF_LINE void run_first(const void *key, uint8_t *state, const uint8_t *in, uint8_t *out,
                               size_t n, operation *op)
{
    EVC_ALIGN(16) round_planes first[FIRST_ROUNDS];
    struct call call = {key, (const round_planes *)first, NULL, state, in, out, n};

    make_planes(first, call.key->middle, FIRST_ROUNDS);
    run_rest(&call, op);
}

#endif

/* Secrets far down the stack are cleared here: `clear` does not reach them, for short
 * messages would feel that. */
static void run(const void *key, uint8_t *state, const uint8_t *in, uint8_t *out, size_t n,
                operation *op)
{
#if defined(KEEP_PLANES)
    const struct key *const k = key;
    struct call call = {k, k->kept, NULL, state, in, out, n};

    if (!rest_rounds(&call)) {
        op(&call);
        clear_batches();
    } else {
        run_rest(&call, op);
        clear_rest();
    }
#else
    run_first(key, state, in, out, n, op);
    clear_batches();
#endif
}

/* Returns how many of n_blocks, at the end, go by vector permute. */
EVC_INLINE size_t single_blocks(size_t n_blocks)
{
    const size_t n = n_blocks % BATCH_BLOCKS;

    return n <= MOST_SINGLE ? n : 0;
}

typedef void blocks_function(const void *, const uint8_t *, uint8_t *, size_t);
typedef void chained_function(const void *, uint8_t *, const uint8_t *, uint8_t *, size_t);

EVC_INLINE void crypt_ecb(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks,
                          operation *op, blocks_function *single)
{
    const size_t n_single = single_blocks(n_blocks), n = n_blocks - n_single;

    if (n)
        run(key, NULL, in, out, n, op);
    if (n_single)
        single(key, in + 16 * n, out + 16 * n, n_single);
}

/* The same with a state that passes from block to block. */
EVC_INLINE void crypt_chained(const void *key, uint8_t *state, const uint8_t *in, uint8_t *out,
                              size_t n_blocks, operation *op, chained_function *single)
{
    const size_t n_single = single_blocks(n_blocks), n = n_blocks - n_single;

    if (n)
        run(key, state, in, out, n, op);
    if (n_single)
        single(key, state, in + 16 * n, out + 16 * n, n_single);
}

/* A batch of n blocks, 1 to 8: where it is read and written. Less than 8 take the way
 * through part, 0 beyond them. */
struct batch {
    size_t n;
    const uint8_t *from;
    uint8_t *to;
};

EVC_INLINE struct batch begin(const uint8_t *in, uint8_t *out, size_t n_blocks,
                              uint8_t part[BATCH_BYTES])
{
    if (n_blocks >= BATCH_BLOCKS)
        return (struct batch){BATCH_BLOCKS, in, out};
    memset(part, 0, BATCH_BYTES);
    memcpy(part, in, 16 * n_blocks);
    return (struct batch){n_blocks, part, part};
}

EVC_INLINE void end(uint8_t *out, struct batch b, const uint8_t part[BATCH_BYTES])
{
    if (b.n < BATCH_BLOCKS)
        memcpy(out, part, 16 * b.n);
}

/* before, after: the keys at both ends. */
EVC_INLINE void crypt_blocks(const struct call *c, rounds_function *rounds,
                             const uint8_t before[16], const uint8_t after[16])
{
    uint8_t part[BATCH_BYTES];
    const uint8_t *in = c->in;
    uint8_t *out = c->out;
    struct batch b;
    vec q[8];

    for (size_t n = c->n; n; n -= b.n, in += 16 * b.n, out += 16 * b.n) {
        b = begin(in, out, n, part);
        load8(q, b.from);
        xor_all(q, vld1q_u8(before));
        transpose(q);
        rounds(c, q);
        transpose(q);
        xor_all(q, vld1q_u8(after));
        store8(b.to, q);
        end(out, b, part);
    }
}

EVC_OUT_OF_LINE void encrypt_blocks(const struct call *c)
{
    crypt_blocks(c, encrypt_rounds, c->key->first, c->key->last);
}

EVC_OUT_OF_LINE void decrypt_blocks(const struct call *c)
{
    crypt_blocks(c, decrypt_rounds, c->key->last, c->key->first);
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    crypt_ecb(key, in, out, n_blocks, encrypt_blocks, vperm_encrypt);
}

static void decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    crypt_ecb(key, in, out, n_blocks, decrypt_blocks, vperm_decrypt);
}

/* ---- CBC decryption -------------------------------------------------------------------------- */

EVC_OUT_OF_LINE void cbc_decrypt_blocks(const struct call *c)
{
    uint8_t part[BATCH_BYTES];
    const uint8_t *in = c->in;
    uint8_t *out = c->out;
    struct batch b;
    vec q[8], mask[8], iv = vld1q_u8(c->state);

    for (size_t n = c->n; n; n -= b.n, in += 16 * b.n, out += 16 * b.n) {
        b = begin(in, out, n, part);
        load8(q, b.from);
        xor_all(q, vld1q_u8(c->key->last));
        transpose(q);
        decrypt_rounds(c, q);
        transpose(q);
        mask[0] = iv, mask[1] = vld1q_u8(b.from), mask[2] = vld1q_u8(b.from + 16),
        mask[3] = vld1q_u8(b.from + 32);
        mask[4] = vld1q_u8(b.from + 48), mask[5] = vld1q_u8(b.from + 64),
        mask[6] = vld1q_u8(b.from + 80);
        mask[7] = vld1q_u8(b.from + 96);
        iv = vld1q_u8(b.from + 16 * (b.n - 1));
        xor8_all(q, mask, vld1q_u8(c->key->first));
        store8(b.to, q);
        end(out, b, part);
    }
    vst1q_u8(c->state, iv);
}

static void cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    crypt_chained(key, iv, in, out, n_blocks, cbc_decrypt_blocks, vperm_cbc_decrypt);
}

/* ---- XTS ------------------------------------------------------------------------------------- */

/* The tweak of a block -> that of the same block of the next batch: times x^8, which moves a byte
 * out at the top; it comes in below times x^7 + x^2 + x + 1 (IEEE 1619-2018 section 5.2). */
EVC_INLINE vec next_tweak(vec t, poly8x8_t low_87)
{
    const poly8x8_t top = vreinterpret_p8_u8(vdup_laneq_u8(t, 15));

    return vextq_u8(vdupq_n_u8(0), t, 15) ^ vreinterpretq_u8_p16(vmull_p8(top, low_87));
}

EVC_INLINE void crypt_xts(const struct call *c, rounds_function *rounds, const uint8_t before[16],
                          const uint8_t after[16])
{
    static const uint8_t low_87[8] = {0x87};
    const poly8x8_t fold = vreinterpret_p8_u8(vld1_u8(low_87));
    uint8_t part[BATCH_BYTES], tweaks[BATCH_BLOCKS][16];
    const uint8_t *in = c->in;
    uint8_t *out = c->out;
    struct batch b;
    vec q[8], t[8];

    memcpy(tweaks[0], c->state, 16);
    for (unsigned i = 1; i < BATCH_BLOCKS; i++) {
        memcpy(tweaks[i], tweaks[i - 1], 16);
        evc_aes_next_tweak(tweaks[i]);
    }
    for (size_t n = c->n; n; n -= b.n, in += 16 * b.n, out += 16 * b.n) {
        b = begin(in, out, n, part);
        load8(q, b.from);
        load8(t, tweaks[0]);
        xor8_all(q, t, vld1q_u8(before));
        transpose(q);
        rounds(c, q);
        transpose(q);
        load8(t, tweaks[0]);
        xor8_all(q, t, vld1q_u8(after));
        store8(b.to, q);
        end(out, b, part);
        if (b.n < BATCH_BLOCKS) {
            vst1q_u8(tweaks[0], vld1q_u8(tweaks[b.n]));
            break;
        }
        t[0] = next_tweak(t[0], fold), t[1] = next_tweak(t[1], fold), t[2] = next_tweak(t[2], fold);
        t[3] = next_tweak(t[3], fold), t[4] = next_tweak(t[4], fold), t[5] = next_tweak(t[5], fold);
        t[6] = next_tweak(t[6], fold), t[7] = next_tweak(t[7], fold);
        store8(tweaks[0], t);
    }
    memcpy(c->state, tweaks[0], 16);
}

EVC_OUT_OF_LINE void xts_encrypt_blocks(const struct call *c)
{
    crypt_xts(c, encrypt_rounds, c->key->first, c->key->last);
}

EVC_OUT_OF_LINE void xts_decrypt_blocks(const struct call *c)
{
    crypt_xts(c, decrypt_rounds, c->key->last, c->key->first);
}

static void xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    crypt_chained(key, tweak, in, out, n_blocks, xts_encrypt_blocks, vperm_xts_encrypt);
}

static void xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    crypt_chained(key, tweak, in, out, n_blocks, xts_decrypt_blocks, vperm_xts_decrypt);
}

/* ---- CTR ------------------------------------------------------------------------------------- */

/*
 * Counter blocks as planes, without a transposition and without a branch on the counter, which
 * GCM may have made from the key: of the counters c to c + 7, c = 8 h + l, the first 8 - l
 * begin with h, the others with h + 1, and their low three bits are 0 to 7 rotated by l. l is
 * the same in all batches.
 *
 * Within a message the blocks differ in their last word only, so the first SubBytes is done
 * once for the other three words, and for the last words of GROUP batches at once, a batch
 * in each word of a vector.
 */
#define GROUP 4

struct counters {
    uint32x4_t key; /* the last word of the first round key, in every word */
    vec high;       /* the bits of the blocks that begin with h + 1 */
    vec low[3];     /* planes 0 to 2 of the low three bits, in every word */
};

/* last_word: of the first round key, everywhere. */
EVC_INLINE struct counters counters_of(uint32_t count, vec last_word)
{
    static const EVC_ALIGN(16)
        uint8_t low_byte[16] = {0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255};
    const vec at = vld1q_u8(low_byte);
    const unsigned l = count % 8;
    struct counters c;

    c.key = vreinterpretq_u32_u8(last_word);
    c.high = vdupq_n_u8((uint8_t)(0xff00u >> l));
    c.low[0] = at & vdupq_n_u8((uint8_t)(0xaaaau >> l));
    c.low[1] = at & vdupq_n_u8((uint8_t)(0xccccu >> l));
    c.low[2] = at & vdupq_n_u8((uint8_t)(0xf0f0u >> l));
    return c;
}

EVC_INLINE vec counter_bytes(uint32x4_t words, uint32x4_t key)
{
    return vreinterpretq_u8_u32(key) ^ vrev32q_u8(vreinterpretq_u8_u32(words));
}

/* words: 8 h of the batches. */
#define COUNTER_PLANE(j) vbslq_u8(c->high, vtstq_u8(high, bit(j)), vtstq_u8(low, bit(j)))
EVC_INLINE void counter_planes(vec q[8], const struct counters *c, uint32x4_t words)
{
    const vec low = counter_bytes(words, c->key),
              high = counter_bytes(words + vdupq_n_u32(8), c->key);

    q[0] = COUNTER_PLANE(0) ^ c->low[0];
    q[1] = COUNTER_PLANE(1) ^ c->low[1];
    q[2] = COUNTER_PLANE(2) ^ c->low[2];
    q[3] = COUNTER_PLANE(3);
    q[4] = COUNTER_PLANE(4);
    q[5] = COUNTER_PLANE(5);
    q[6] = COUNTER_PLANE(6);
    q[7] = COUNTER_PLANE(7);
}

#if !defined(ROWS_FIRST)

/* x with the bytes of the last column replaced: by word i of a plane of the group's. */
EVC_INLINE vec with_word(vec x, const uint32_t words[GROUP], unsigned i)
{
    return vreinterpretq_u8_u32(vld1q_lane_u32(words + i, vreinterpretq_u32_u8(x), 3));
}

#else

EVC_INLINE vec with_word(vec x, const uint32_t words[GROUP], unsigned i)
{
#define WORD(i) \
    {16, 16, 16, 4 * i, 16, 16, 16, 4 * i + 1, 16, 16, 16, 4 * i + 2, 16, 16, 16, 4 * i + 3}
    static const EVC_ALIGN(16) uint8_t from[GROUP][16] = {WORD(0), WORD(1), WORD(2), WORD(3)};

    return vqtbx1q_u8(x, vreinterpretq_u8_u32(vld1q_u32(words)), vld1q_u8(from[i]));
}

#endif

EVC_INLINE void with_words(vec q[8], const uint32_t words[8][GROUP], unsigned i)
{
    q[0] = with_word(q[0], words[0], i), q[1] = with_word(q[1], words[1], i);
    q[2] = with_word(q[2], words[2], i), q[3] = with_word(q[3], words[3], i);
    q[4] = with_word(q[4], words[4], i), q[5] = with_word(q[5], words[5], i);
    q[6] = with_word(q[6], words[6], i), q[7] = with_word(q[7], words[7], i);
}

EVC_INLINE void store_words(uint32_t words[8][GROUP], const vec p[8])
{
    vst1q_u32(words[0], vreinterpretq_u32_u8(p[0])),
        vst1q_u32(words[1], vreinterpretq_u32_u8(p[1]));
    vst1q_u32(words[2], vreinterpretq_u32_u8(p[2])),
        vst1q_u32(words[3], vreinterpretq_u32_u8(p[3]));
    vst1q_u32(words[4], vreinterpretq_u32_u8(p[4])),
        vst1q_u32(words[5], vreinterpretq_u32_u8(p[5]));
    vst1q_u32(words[6], vreinterpretq_u32_u8(p[6])),
        vst1q_u32(words[7], vreinterpretq_u32_u8(p[7]));
}

EVC_OUT_OF_LINE void ctr32_bytes(const struct call *call)
{
    static const uint32_t group_steps[GROUP] = {0, 8, 16, 24};
    const uint32_t count = evc_load32_be(call->state + 12);
    const vec first = vld1q_u8(call->key->first);
    struct counters c =
        counters_of(count, vreinterpretq_u8_u32(vdupq_laneq_u32(vreinterpretq_u32_u8(first), 3)));
    uint32x4_t words = vdupq_n_u32(count & ~UINT32_C(7));
    uint8_t fixed[8][16];
    uint32_t last[8][GROUP];
    const uint8_t *in = call->in;
    uint8_t *out = call->out;
    size_t len_bytes = call->n;
    vec q[8], p[8];

    evc_store32_be(call->state + 12, count + (uint32_t)((len_bytes + 15) / 16));

    same_planes(q, vqtbl1q_u8(vld1q_u8(call->state) ^ first, vld1q_u8(unshift[0])));
    counter_planes(p, &c, words);
    store_words(last, p);
    with_words(q, (const uint32_t(*)[GROUP])last, 0);
    first_sub_bytes(q);
    store8(fixed[0], q);
    words = words + vdupq_n_u32(8) + vld1q_u32(group_steps);

    for (unsigned i = 0;; i = (i + 1) % GROUP) {
        encrypt_on(call, q);
        transpose(q);
        xor_all(q, vld1q_u8(call->key->last));
        if (len_bytes < BATCH_BYTES)
            break;
        load8(p, in);
        xor8(q, p);
        store8(out, q);
        in += BATCH_BYTES, out += BATCH_BYTES, len_bytes -= BATCH_BYTES;
        if (!len_bytes)
            break;
        if (i == 0) {
            counter_planes(p, &c, words);
            first_sub_bytes(p);
            store_words(last, p);
            words = words + vdupq_n_u32(8 * GROUP);
        }
        load8(q, fixed[0]);
        with_words(q, (const uint32_t(*)[GROUP])last, i);
    }
    if (len_bytes) {
        store8(fixed[0], q);
        evc_xor(out, in, fixed[0], len_bytes);
    }
}

static void ctr32(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    const size_t n_blocks = len_bytes / 16 + (len_bytes % 16 != 0),
                 n_single = single_blocks(n_blocks);
    const size_t n = n_single ? 16 * (n_blocks - n_single) : len_bytes;

    if (n)
        run(key, counter, in, out, n, ctr32_bytes);
    if (n_single)
        vperm_ctr32(key, counter, in + n, out + n, len_bytes - n);
}

/* The slots of a descriptor, the same for all kernels of these steps. */
#define BITSLICE_FORWARD_SLOTS .set_key = set_key, .encrypt = encrypt, .ctr32 = ctr32
#define BITSLICE_SLOTS \
    BITSLICE_FORWARD_SLOTS, .decrypt = decrypt, \
    .cbc_decrypt = cbc_decrypt, .xts_encrypt = xts_encrypt, .xts_decrypt = xts_decrypt

/* SPDX-License-Identifier: MIT */
/*
 * The vector-permute AES kernels: key form, one chain, batches of blocks, CTR, CBC and XTS.
 *
 * Include it inside the ISA region, after
 *   vec              a vector of VPERM_LANES blocks
 *   v_all, v_low     a block to every lane, the block in the lowest lane
 *   v_load, v_store  16 * VPERM_LANES bytes at any address
 *   v_after          as many blocks as a vector holds: one block, then those of a vector
 *   v_xor, v_and, v_shuffle (bytes within a lane), v_add32,
 *   v_shift4         16-bit fields to the right by 4
 *   v_left32         32-bit fields to the left
 *   v_bytes_up, v_bytes_down    a lane's bytes by so many places
 *   v_clear_upper_halves()      before each return of a slot; nothing where a vector is one block
 *
 * The tables and their algebra: tools/gen-vperm-tables.
 */
#ifndef EVC_AES_X86_VPERM_STEPS_H
#define EVC_AES_X86_VPERM_STEPS_H

#include "aes/key_schedule.h"
#include "aes/tweak.h"
#include "aes/vperm_tables.h"
#include "common/bytes.h"

/*
 * 16-byte vectors. "In the order of round r": ShiftRows (for decryption InvShiftRows) done r more
 * times makes it right, which is how round r leaves the state.
 */
struct key {
    struct evc_aes_head head;
    /* [0]: packed. [r]: ^ 0x63, packed, in the order of round r. [rounds]: ^ 0x63, bytes. */
    EVC_ALIGN(16) uint8_t enc[EVC_AES_MAX_ROUNDS + 1][16];
    /* [r - 1]: i and k of enc[r], 0 < r < rounds. */
    uint8_t enc_ik[EVC_AES_MAX_ROUNDS - 1][2][16];
    /* In the order of use. [0] .. [rounds - 1]: as the state of decryption. [rounds]: bytes. */
    uint8_t dec[EVC_AES_MAX_ROUNDS + 1][16];
};

struct nibbles {
    __m128i i, k;
};

struct reciprocals {
    __m128i io, jo;
};

/* ---- Steps --------------------------------------------------------------------------- */

EVC_INLINE __m128i load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

EVC_INLINE __m128i table(const uint8_t *p) /* aligned to 16: may be an operand of the instruction */
{
    return _mm_load_si128((const __m128i *)(const void *)p);
}

EVC_INLINE void store(uint8_t *p, __m128i x)
{
    _mm_storeu_si128((__m128i *)(void *)p, x);
}

EVC_INLINE __m128i xor(__m128i a, __m128i b)
{
    return _mm_xor_si128(a, b);
}

/* entries[index & 15], or 0 where bit 7 of the index is set. */
EVC_INLINE __m128i look_up(const uint8_t entries[16], __m128i index)
{
    return _mm_shuffle_epi8(table(entries), index);
}

EVC_INLINE __m128i permute(__m128i x, const uint8_t from[16])
{
    return _mm_shuffle_epi8(x, table(from));
}

/* Entries of u at io, of t at jo. */
EVC_INLINE __m128i look_up_2(const uint8_t ut[2][16], struct reciprocals o)
{
    return xor(look_up(ut[0], o.io), look_up(ut[1], o.jo));
}

/* A linear map of bytes, by its tables for the low and the high nibble. */
EVC_INLINE __m128i map_bytes(const uint8_t halves[2][16], __m128i x)
{
    const __m128i low = _mm_set1_epi8(15);

    return xor(look_up(halves[0], _mm_and_si128(x, low)),
               look_up(halves[1], _mm_and_si128(_mm_srli_epi16(x, 4), low)));
}

/* Packed to its nibbles. */
EVC_INLINE struct nibbles split(__m128i packed)
{
    __m128i k = _mm_and_si128(packed, _mm_set1_epi8(15));

    return (struct nibbles){_mm_srli_epi16(xor(packed, k), 4), k};
}

/* i, k to io, jo. */
EVC_INLINE struct reciprocals invert(const struct vperm_tables *t, struct nibbles x)
{
    __m128i ak = look_up(t->ainv, x.k), j = xor(x.i, x.k);
    __m128i iak = xor(look_up(t->inv, x.i), ak), jak = xor(look_up(t->inv, j), ak);

    return (struct reciprocals){xor(look_up(t->inv, iak), j), xor(look_up(t->inv, jak), x.i)};
}

/*
 * The tables, as if at an address unknown to the compiler: else it holds as many of them in
 * registers as it has and moves those about to make room (clang), or builds them from immediates
 * in every round (GCC). A load costs no more than a copy.
 */
EVC_INLINE const struct vperm_tables *hidden_tables(void)
{
    const struct vperm_tables *t = &vperm_tables;

#if defined(__GNUC__)
    __asm__ volatile("" : "+r"(t));
#endif
    return t;
}

/* Compilers regroup xors, and the grouping below makes the chain short: hide what x is made of. */
EVC_INLINE __m128i hide_value(__m128i x)
{
#if defined(__GNUC__)
    __asm__("" : "+x"(x));
#endif
    return x;
}

/* ---- One chain ------------------------------------------------------------------------------ */

/*
 * SubBytes, ShiftRows, MixColumns, AddRoundKey for one nibble of the state. ut: the S-box times 1
 * and 2. rotate: the patterns of this round. What comes late joins last: s, 2 s, row 1 of 2 s + s.
 */
EVC_INLINE __m128i mix_nibble(const uint8_t ut[4][16], struct reciprocals o,
                              const uint8_t *round_key, const uint8_t rotate[3][16])
{
    __m128i s1 = look_up_2(ut, o);
    __m128i u2 = look_up(ut[2], o.io), t2 = look_up(ut[3], o.jo);
    __m128i s2 = hide_value(xor(hide_value(xor(u2, table(round_key))), t2));
    __m128i s3 = xor(s1, hide_value(xor(u2, t2)));
    __m128i rows_23 = hide_value(xor(permute(s1, rotate[1]), permute(s1, rotate[2])));

    return xor(hide_value(xor(rows_23, s2)), permute(s3, rotate[0]));
}

/* Rounds 1 to rounds - 1, and the inversion of the last. */
EVC_INLINE struct reciprocals rounds_ik(const struct key *key, struct nibbles x)
{
    for (uint32_t r = 1; r < key->head.rounds; r++) {
        const struct vperm_tables *t = hidden_tables();
        const uint8_t(*rotate)[16] = t->rotate + 3 * (r & 3);
        struct reciprocals o = invert(t, x);
        x.i = mix_nibble(t->enc_i, o, key->enc_ik[r - 1][0], rotate);
        x.k = mix_nibble(t->enc_k, o, key->enc_ik[r - 1][1], rotate);
    }
    return invert(hidden_tables(), x);
}

/* CBC encryption of n_blocks > 0. The outputs are step bytes apart: 16, or 0 to keep the last. */
static void chain(const struct key *key, const uint8_t iv[16], const uint8_t *in, uint8_t *out,
                  size_t n_blocks, size_t step)
{
    const struct vperm_tables *t = hidden_tables();
    const uint32_t rounds = key->head.rounds;
    const __m128i first_key = table(key->enc[0]), last_key = table(key->enc[rounds]);
    const uint8_t *shift = t->shift[rounds & 3];
    struct nibbles x = split(xor(map_bytes(t->in, xor(load(iv), load(in))), first_key)), next;
    struct reciprocals o;

    for (; n_blocks > 1; n_blocks--, out += step) {
        in += 16;
        next = split(xor(map_bytes(t->in, xor(load(in), last_key)), first_key));
        o = rounds_ik(key, x);
        x.i = xor(permute(look_up_2(t->enc_i, o), shift), next.i);
        x.k = xor(permute(look_up_2(t->enc_k, o), shift), next.k);
        store(out, xor(permute(look_up_2(t->sub, o), shift), last_key));
        t = hidden_tables();
    }
    o = rounds_ik(key, x);
    store(out, xor(permute(look_up_2(t->sub, o), shift), last_key));
}

static void cbc_encrypt(const void *vkey, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    if (!n_blocks)
        return;
    chain(vkey, iv, in, out, n_blocks, 16);
    store(iv, load(out + 16 * (n_blocks - 1)));
}

static void cbcmac(const void *vkey, uint8_t state[16], const uint8_t *in, size_t n_blocks)
{
    if (n_blocks)
        chain(vkey, state, in, state, n_blocks, 0);
}

/* ---- Several blocks ------------------------------------------------------------------------- */

/* Enough vectors in flight to cover the latency of a round, about 30 cycles. They pass through memory
 * between rounds, which leaves the registers to the tables. */
#define VECTORS 8
#define BATCH (VECTORS * VPERM_LANES)

struct v_reciprocals {
    vec io, jo;
};

/* Tables in every lane: read once per batch, from memory, so that the loops find them in registers or
 * in their full width on the stack. */
struct v_pair {
    vec u, t;
};

struct v_inverse {
    vec low, inv, ainv;
};

EVC_INLINE vec v_table(const uint8_t p[16])
{
    return v_all(table(p));
}

EVC_INLINE struct v_pair v_pair(const uint8_t ut[2][16])
{
    return (struct v_pair){v_table(ut[0]), v_table(ut[1])};
}

EVC_INLINE struct v_inverse v_inverse(const struct vperm_tables *t)
{
    return (struct v_inverse){v_table(t->low), v_table(t->inv), v_table(t->ainv)};
}

EVC_INLINE vec v_look_up(struct v_pair p, struct v_reciprocals o)
{
    return v_xor(v_shuffle(p.u, o.io), v_shuffle(p.t, o.jo));
}

EVC_INLINE vec v_map_bytes(struct v_pair halves, vec low, vec x)
{
    vec low_half = v_and(x, low);

    return v_xor(v_shuffle(halves.u, low_half), v_shuffle(halves.t, v_shift4(v_xor(x, low_half))));
}

EVC_INLINE struct v_reciprocals v_invert(struct v_inverse by, vec packed)
{
    vec k = v_and(packed, by.low), i = v_shift4(v_xor(packed, k)), j = v_xor(i, k);
    vec ak = v_shuffle(by.ainv, k);
    vec iak = v_xor(v_shuffle(by.inv, i), ak), jak = v_xor(v_shuffle(by.inv, j), ak);

    return (struct v_reciprocals){v_xor(v_shuffle(by.inv, iak), j),
                                  v_xor(v_shuffle(by.inv, jak), i)};
}

/* AddRoundKey before the first round, and the change of basis. */
EVC_INLINE void first_round(vec *x, size_t n, const uint8_t halves[2][16], const uint8_t *round_key)
{
    const struct v_pair in = v_pair(halves);
    const vec low = v_table(hidden_tables()->low), k = v_table(round_key);

    for (size_t v = 0; v < n; v++)
        x[v] = v_xor(v_map_bytes(in, low, x[v]), k);
}

EVC_INLINE void last_round(vec *x, size_t n, struct v_inverse by, const uint8_t ut[2][16],
                           const uint8_t shift[16], const uint8_t *round_key)
{
    const struct v_pair out = v_pair(ut);
    const vec from = v_table(shift), k = v_table(round_key);

    for (size_t v = 0; v < n; v++)
        x[v] = v_xor(v_shuffle(v_look_up(out, v_invert(by, x[v])), from), k);
}

/* n vectors, 0 < n <= VECTORS. */
static void encrypt_vectors(const struct key *key, vec *x, size_t n)
{
    const struct vperm_tables *t = hidden_tables();
    const struct v_inverse by = v_inverse(t);
    const struct v_pair times_1 = v_pair(t->enc), times_2 = v_pair(t->enc + 2);
    const uint32_t rounds = key->head.rounds;

    first_round(x, n, t->in, key->enc[0]);
    for (uint32_t r = 1; r < rounds; r++) {
        const uint8_t(*rotate)[16] = t->rotate + 3 * (r & 3);
        const vec row_1 = v_table(rotate[0]), row_2 = v_table(rotate[1]), k = v_table(key->enc[r]);
        for (size_t v = 0; v < n; v++) {
            struct v_reciprocals o = v_invert(by, x[v]);
            vec s = v_look_up(times_1, o);
            /* Rows 0, 2; and one row further down, with 2 + 1 for 2, rows 1, 3. */
            vec rows_02 = v_xor(v_look_up(times_2, o), v_shuffle(s, row_2));
            x[v] = v_xor(v_xor(rows_02, k), v_shuffle(v_xor(rows_02, s), row_1));
        }
    }
    last_round(x, n, by, t->sub, t->shift[rounds & 3], key->enc[rounds]);
}

static void decrypt_vectors(const struct key *key, vec *x, size_t n)
{
    const struct vperm_tables *t = hidden_tables();
    const struct v_inverse by = v_inverse(t);
    const struct v_pair times_14 = v_pair(t->dec), times_13 = v_pair(t->dec + 2);
    const struct v_pair times_11 = v_pair(t->dec + 4), times_9 = v_pair(t->dec + 6);
    const uint32_t rounds = key->head.rounds;

    first_round(x, n, t->inv_in, key->dec[0]);
    for (uint32_t r = 1; r < rounds; r++) {
        const uint8_t(*rotate)[16] = t->rotate + 3 * (-r & 3);
        const vec row_1 = v_table(rotate[0]), row_2 = v_table(rotate[1]), k = v_table(key->dec[r]);
        for (size_t v = 0; v < n; v++) {
            struct v_reciprocals o = v_invert(by, x[v]);
            /* 14, 11, 13, 9 times rows 0, 1, 2, 3. */
            vec rows_02 = v_xor(v_look_up(times_14, o), v_shuffle(v_look_up(times_13, o), row_2));
            vec rows_13 = v_xor(v_look_up(times_11, o), v_shuffle(v_look_up(times_9, o), row_2));
            x[v] = v_xor(v_xor(rows_02, k), v_shuffle(rows_13, row_1));
        }
    }
    last_round(x, n, by, t->inv_sub, t->shift[-rounds & 3], key->dec[rounds]);
}

/* n_blocks <= BATCH into vectors, whose number is returned; and back. Where blocks do not fill the
 * last vector, the lowest lane counts. */
EVC_INLINE size_t load_vectors(vec *x, const uint8_t *in, size_t n_blocks)
{
    size_t n = 0;

    for (; n_blocks >= VPERM_LANES; n_blocks -= VPERM_LANES, in += 16 * VPERM_LANES)
        x[n++] = v_load(in);
    if (n_blocks)
        x[n++] = v_all(load(in));
    return n;
}

EVC_INLINE void store_vectors(uint8_t *out, const vec *x, size_t n_blocks)
{
    for (; n_blocks >= VPERM_LANES; n_blocks -= VPERM_LANES, out += 16 * VPERM_LANES)
        v_store(out, *x++);
    if (n_blocks)
        store(out, v_low(*x));
}

static void encrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    static const uint8_t zero[16];
    vec x[VECTORS];

    for (size_t n; n_blocks > 1; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = n_blocks < BATCH ? n_blocks : BATCH;
        encrypt_vectors(vkey, x, load_vectors(x, in, n));
        store_vectors(out, x, n);
    }
    if (n_blocks)
        chain(vkey, zero, in, out, 1, 0);
    v_clear_upper_halves();
}

static void decrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    vec x[VECTORS];

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = n_blocks < BATCH ? n_blocks : BATCH;
        decrypt_vectors(vkey, x, load_vectors(x, in, n));
        store_vectors(out, x, n);
    }
    v_clear_upper_halves();
}

static void cbc_decrypt(const void *vkey, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    vec x[VECTORS], masks[VECTORS]; /* the ciphertext before each block; out may be in */

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        size_t n_vectors;
        n = n_blocks < BATCH ? n_blocks : BATCH;
        n_vectors = load_vectors(x, in, n);
        masks[0] = v_after(load(iv), x[0]);
        for (size_t v = 1; v < n_vectors; v++)
            masks[v] = v_load(in + 16 * (VPERM_LANES * v - 1));
        store(iv, load(in + 16 * (n - 1)));
        decrypt_vectors(vkey, x, n_vectors);
        for (size_t v = 0; v < n_vectors; v++)
            x[v] = v_xor(x[v], masks[v]);
        store_vectors(out, x, n);
    }
    v_clear_upper_halves();
}

static void ctr32(const void *vkey, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    static const uint8_t zero[16];
    /* Word 3 of a lane is the counter. Lane 1 is one ahead. */
    static const uint32_t lanes[8] = {0, 0, 0, 0, 0, 0, 0, 1};
    const vec step = v_all(_mm_set_epi32(VPERM_LANES, 0, 0, 0));
    const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    __m128i count = _mm_shuffle_epi8(load(counter), swap);
    vec x[VECTORS];

    while (len_bytes) {
        size_t n = len_bytes < 16 * BATCH ? len_bytes : 16 * BATCH, n_blocks = (n + 15) / 16;
        vec counts = v_add32(v_all(count), v_load((const uint8_t *)lanes));
        if (n_blocks == 1) {
            store((uint8_t *)x, _mm_shuffle_epi8(count, swap));
            chain(vkey, zero, (const uint8_t *)x, (uint8_t *)x, 1, 0);
        } else {
            size_t n_vectors = (n_blocks + VPERM_LANES - 1) / VPERM_LANES;
            for (size_t v = 0; v < n_vectors; v++, counts = v_add32(counts, step))
                x[v] = v_shuffle(counts, v_all(swap));
            encrypt_vectors(vkey, x, n_vectors);
        }
        if (n == 16 * BATCH)
            for (size_t v = 0; v < VECTORS; v++)
                v_store(out + 16 * VPERM_LANES * v,
                        v_xor(x[v], v_load(in + 16 * VPERM_LANES * v)));
        else
            evc_xor(out, in, (const uint8_t *)x, n);
        count = _mm_add_epi32(count, _mm_set_epi32((int)n_blocks, 0, 0, 0));
        in += n, out += n, len_bytes -= n;
    }
    store(counter, _mm_shuffle_epi8(count, swap));
    v_clear_upper_halves();
}

/* ---- XTS ------------------------------------------------------------------------------------- */

/* The tweaks of a batch, one block after the other (IEEE 1619-2018 section 5.2). */
EVC_INLINE void first_tweaks(vec t[VECTORS], uint8_t tweak[16])
{
    uint8_t *to = (uint8_t *)t;

    for (int i = 0; i < BATCH; i++, to += 16) {
        memcpy(to, tweak, 16);
        evc_aes_next_tweak(tweak);
    }
}

/* The tweak of a block -> that of the same block of the next batch: times x^BATCH, which moves
 * VPERM_LANES whole bytes out at the top; these times x^7 + x^2 + x + 1 come in below. */
EVC_INLINE vec next_tweak(vec t)
{
    vec top = v_bytes_down(t, 16 - VPERM_LANES);

    return v_xor(v_xor(v_bytes_up(t, VPERM_LANES), v_xor(top, v_left32(top, 1))),
                 v_xor(v_left32(top, 2), v_left32(top, 7)));
}

EVC_INLINE void crypt_xts(const struct key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                          size_t n_blocks, void (*crypt)(const struct key *, vec *, size_t))
{
    vec x[VECTORS], t[VECTORS];
    size_t used = 0; /* tweaks at t that are used up */

    first_tweaks(t, tweak);
    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        size_t n_vectors;
        n = n_blocks < BATCH ? n_blocks : BATCH;
        n_vectors = load_vectors(x, in, n);
        for (size_t v = 0; v < n_vectors; v++)
            x[v] = v_xor(x[v], t[v]);
        crypt(key, x, n_vectors);
        for (size_t v = 0; v < n_vectors; v++)
            x[v] = v_xor(x[v], t[v]);
        store_vectors(out, x, n);
        used = n % BATCH;
        for (size_t v = 0; v < VECTORS && !used; v++)
            t[v] = next_tweak(t[v]);
    }
    store(tweak, load((const uint8_t *)t + 16 * used));
}

static void xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    crypt_xts(key, tweak, in, out, n_blocks, encrypt_vectors);
    v_clear_upper_halves();
}

static void xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    crypt_xts(key, tweak, in, out, n_blocks, decrypt_vectors);
    v_clear_upper_halves();
}

/* ---- Keys ---------------------------------------------------------------------------- */

/* SubWord (FIPS 197 section 5.2). */
static uint32_t sub_word(uint32_t word)
{
    __m128i x = map_bytes(vperm_tables.in, _mm_cvtsi32_si128((int)word));

    x = look_up_2(vperm_tables.sub, invert(&vperm_tables, split(x)));
    return (uint32_t)_mm_cvtsi128_si32(xor(x, _mm_set1_epi8(0x63)));
}

static __m128i times_x(__m128i a) /* xTimes of each byte (section 4.2) */
{
    __m128i high = _mm_cmpgt_epi8(_mm_setzero_si128(), a);

    return xor(_mm_add_epi8(a, a), _mm_and_si128(high, _mm_set1_epi8(0x1b)));
}

/* InvMixColumns (section 5.3.3): its matrix is that of MixColumns times circ(5, 0, 4, 0). */
static __m128i inv_mix_columns(__m128i a)
{
    __m128i a1, b;

    a = xor(a, times_x(times_x(xor(a, permute(a, vperm_tables.rotate[1])))));
    a1 = permute(a, vperm_tables.rotate[0]);
    b = xor(a, a1);
    return xor(times_x(b), xor(a1, permute(b, vperm_tables.rotate[1])));
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;
    const uint32_t rounds = key->head.rounds;
    const __m128i constant = _mm_set1_epi8(0x63);
    EVC_ALIGN(16) uint8_t w[EVC_AES_MAX_ROUNDS + 1][16];

    evc_aes_expand_key(w, user_key, rounds, sub_word);
    store(key->enc[0], map_bytes(vperm_tables.in, load(w[0])));
    for (uint32_t r = 1; r < rounds; r++) {
        __m128i k = map_bytes(vperm_tables.in, xor(load(w[r]), constant));
        struct nibbles s;
        k = permute(k, vperm_tables.shift[-r & 3]);
        s = split(k);
        store(key->enc[r], k);
        store(key->enc_ik[r - 1][0], s.i);
        store(key->enc_ik[r - 1][1], s.k);
    }
    store(key->enc[rounds], xor(load(w[rounds]), constant));
    if (key->head.can_decrypt) {
        store(key->dec[0], map_bytes(vperm_tables.inv_in, xor(load(w[rounds]), constant)));
        for (uint32_t r = 1; r < rounds; r++) {
            __m128i k = xor(inv_mix_columns(load(w[rounds - r])), constant);
            store(key->dec[r], permute(map_bytes(vperm_tables.inv_in, k), vperm_tables.shift[r & 3]));
        }
        store(key->dec[rounds], load(w[0]));
    }
}

#endif

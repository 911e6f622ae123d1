/* SPDX-License-Identifier: MIT */
/*
 * AES by vector permute: the S-box as 16-entry tables in vector registers, looked up by PSHUFB.
 *
 * Method:   a byte is two nibbles i, k over GF(16); five look-ups give two nibbles io, jo from which
 *           any linear map of the S-box is the sum of two more look-ups (tools/gen-vperm-tables has the
 *           algebra). The state stays in that basis from the first round to the last. ShiftRows is
 *           never done: it is in the patterns that rotate the rows and in the round keys, and once
 *           before the output.
 *           One chain (CBC encryption, single blocks) is bound by latency. There i and k live in
 *           registers of their own, since splitting a byte costs two instructions a round; io is known
 *           two instructions before jo, and its look-ups fill that gap. The last round makes the next
 *           block's nibbles directly; its plaintext and two round keys come in by one xor.
 *           Many blocks are bound by throughput. There i and k share a byte: 11 shuffles of 25
 *           instructions a round to encrypt, 16 of 33 to decrypt. Decryption is the equivalent inverse
 *           cipher; its state has the S-box's affine map undone already.
 * Source:   M. Hamburg, Accelerating AES with Vector Permute Instructions, CHES 2009; FIPS 197 (2023)
 *           sections 5.1 to 5.3.
 * Needs:    X86_SSSE3.   Timing: CT (no secret-dependent branch or address).
 * Key form: private.
 */
#include "aes/kernel.h"

#if EVC_BUILT(X86_SSSE3)

#include "aes/key_schedule.h"
#include "aes/vperm_tables.h"
#include "common/bytes.h"
#include "common/x86.h"

EVC_ISA_BEGIN(X86_SSSE3)

/*
 * 16-byte vectors. "In the order of round r": ShiftRows (for decryption InvShiftRows) done r more times
 * makes it right, which is how round r leaves the state.
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
EVC_INLINE __m128i by_halves(const uint8_t halves[2][16], __m128i x)
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
 * The tables, as if at an address unknown to the compiler, once per round: else it holds as many of them in
 * registers as it has, and (clang) moves those about to make room. They are loaded as fast as copied.
 */
EVC_INLINE const struct vperm_tables *in_memory(void)
{
    const struct vperm_tables *t = &vperm_tables;

#if defined(__GNUC__)
    __asm__ volatile("" : "+r"(t));
#endif
    return t;
}

/* Compilers regroup xors, and the grouping below makes the chain short: this hides what x is made of. */
EVC_INLINE __m128i keep(__m128i x)
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
    __m128i s2 = keep(xor(keep(xor(u2, table(round_key))), t2));
    __m128i s3 = xor(s1, keep(xor(u2, t2)));
    __m128i rows_23 = keep(xor(permute(s1, rotate[1]), permute(s1, rotate[2])));

    return xor(keep(xor(rows_23, s2)), permute(s3, rotate[0]));
}

/* Rounds 1 to rounds - 1, and the inversion of the last. */
EVC_INLINE struct reciprocals rounds_ik(const struct key *key, struct nibbles x)
{
    for (uint32_t r = 1; r < key->head.rounds; r++) {
        const struct vperm_tables *t = in_memory();
        const uint8_t(*rotate)[16] = t->rotate + 3 * (r & 3);
        struct reciprocals o = invert(t, x);
        x.i = mix_nibble(t->enc_i, o, key->enc_ik[r - 1][0], rotate);
        x.k = mix_nibble(t->enc_k, o, key->enc_ik[r - 1][1], rotate);
    }
    return invert(in_memory(), x);
}

/* CBC encryption of n_blocks > 0. The outputs are step bytes apart: 16, or 0 to keep the last. */
static void chain(const struct key *key, const uint8_t iv[16], const uint8_t *in, uint8_t *out,
                  size_t n_blocks, size_t step)
{
    const struct vperm_tables *t = in_memory();
    const uint32_t rounds = key->head.rounds;
    const __m128i first_key = table(key->enc[0]), last_key = table(key->enc[rounds]);
    const uint8_t *shift = t->shift[rounds & 3];
    struct nibbles x = split(xor(by_halves(t->in, xor(load(iv), load(in))), first_key)), next;
    struct reciprocals o;

    for (; n_blocks > 1; n_blocks--, out += step) {
        in += 16;
        next = split(xor(by_halves(t->in, xor(load(in), last_key)), first_key));
        o = rounds_ik(key, x);
        x.i = xor(permute(look_up_2(t->enc_i, o), shift), next.i);
        x.k = xor(permute(look_up_2(t->enc_k, o), shift), next.k);
        store(out, xor(permute(look_up_2(t->sub, o), shift), last_key));
        t = in_memory();
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

#define BATCH 4

/* Four vectors with names: arrays stay in memory where the compiler does not unroll. */
struct batch {
    __m128i a, b, c, d;
};

/* 2 s + row 2, and one row further down (2 + 1) s + row 2: rows 1 and 3. */
EVC_INLINE __m128i encrypt_round(const struct vperm_tables *t, __m128i x, __m128i round_key,
                                 const uint8_t rotate[3][16])
{
    struct reciprocals o = invert(t, split(x));
    __m128i s1 = look_up_2(t->enc, o), s2 = look_up_2(t->enc + 2, o);
    __m128i rows_02 = xor(s2, permute(s1, rotate[1]));

    return xor(xor(rows_02, round_key), permute(xor(rows_02, s1), rotate[0]));
}

/* 14, 11, 13, 9 times rows 0, 1, 2, 3. */
EVC_INLINE __m128i decrypt_round(const struct vperm_tables *t, __m128i x, __m128i round_key,
                                 const uint8_t rotate[3][16])
{
    struct reciprocals o = invert(t, split(x));
    __m128i s14 = xor(look_up_2(t->dec, o), round_key), s13 = look_up_2(t->dec + 2, o);
    __m128i s11 = look_up_2(t->dec + 4, o), s9 = look_up_2(t->dec + 6, o);

    return xor(xor(s14, permute(s13, rotate[1])),
               permute(xor(s11, permute(s9, rotate[1])), rotate[0]));
}

EVC_INLINE struct batch first_round(const uint8_t in[2][16], struct batch x, __m128i round_key)
{
    return (struct batch){xor(by_halves(in, x.a), round_key), xor(by_halves(in, x.b), round_key),
                          xor(by_halves(in, x.c), round_key), xor(by_halves(in, x.d), round_key)};
}

EVC_INLINE __m128i last_round(const uint8_t out[2][16], __m128i x, __m128i round_key,
                              const uint8_t shift[16])
{
    return xor(permute(look_up_2(out, invert(&vperm_tables, split(x))), shift), round_key);
}

EVC_INLINE struct batch encrypt_batch(const struct key *key, struct batch x)
{
    const struct vperm_tables *t = &vperm_tables;
    const uint32_t rounds = key->head.rounds;
    const uint8_t *shift = t->shift[rounds & 3];
    __m128i k = table(key->enc[0]);

    x = first_round(t->in, x, k);
    for (uint32_t r = 1; r < rounds; r++) {
        const uint8_t(*rotate)[16] = t->rotate + 3 * (r & 3);
        k = table(key->enc[r]);
        x.a = encrypt_round(t, x.a, k, rotate);
        x.b = encrypt_round(t, x.b, k, rotate);
        x.c = encrypt_round(t, x.c, k, rotate);
        x.d = encrypt_round(t, x.d, k, rotate);
    }
    k = table(key->enc[rounds]);
    return (struct batch){last_round(t->sub, x.a, k, shift), last_round(t->sub, x.b, k, shift),
                          last_round(t->sub, x.c, k, shift), last_round(t->sub, x.d, k, shift)};
}

EVC_INLINE struct batch decrypt_batch(const struct key *key, struct batch x)
{
    const struct vperm_tables *t = &vperm_tables;
    const uint32_t rounds = key->head.rounds;
    const uint8_t *shift = t->shift[-rounds & 3];
    __m128i k = table(key->dec[0]);

    x = first_round(t->inv_in, x, k);
    for (uint32_t r = 1; r < rounds; r++) {
        const uint8_t(*rotate)[16] = t->rotate + 3 * (-r & 3);
        k = table(key->dec[r]);
        x.a = decrypt_round(t, x.a, k, rotate);
        x.b = decrypt_round(t, x.b, k, rotate);
        x.c = decrypt_round(t, x.c, k, rotate);
        x.d = decrypt_round(t, x.d, k, rotate);
    }
    k = table(key->dec[rounds]);
    return (struct batch){last_round(t->inv_sub, x.a, k, shift),
                          last_round(t->inv_sub, x.b, k, shift),
                          last_round(t->inv_sub, x.c, k, shift),
                          last_round(t->inv_sub, x.d, k, shift)};
}

/* The first n > 0 blocks of a batch from and to memory; the others are the last of them again. */
EVC_INLINE struct batch load_batch(const uint8_t *in, size_t n)
{
    return (struct batch){load(in), load(in + (n > 1 ? 16 : 0)),
                          load(in + (n > 2 ? 32 : 16 * (n - 1))),
                          load(in + (n > 3 ? 48 : 16 * (n - 1)))};
}

EVC_INLINE void store_batch(uint8_t *out, struct batch x, size_t n)
{
    store(out, x.a);
    if (n > 1)
        store(out + 16, x.b);
    if (n > 2)
        store(out + 32, x.c);
    if (n > 3)
        store(out + 48, x.d);
}

EVC_INLINE struct batch xor_batch(struct batch x, struct batch y)
{
    return (struct batch){xor(x.a, y.a), xor(x.b, y.b), xor(x.c, y.c), xor(x.d, y.d)};
}

static void encrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    static const uint8_t zero[16];

    for (size_t n; n_blocks > 1; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = n_blocks < BATCH ? n_blocks : BATCH;
        store_batch(out, encrypt_batch(vkey, load_batch(in, n)), n);
    }
    if (n_blocks)
        chain(vkey, zero, in, out, 1, 0);
}

static void decrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = n_blocks < BATCH ? n_blocks : BATCH;
        store_batch(out, decrypt_batch(vkey, load_batch(in, n)), n);
    }
}

static void cbc_decrypt(const void *vkey, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    __m128i before = load(iv);

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        struct batch x, masks;
        n = n_blocks < BATCH ? n_blocks : BATCH;
        x = load_batch(in, n);
        masks = (struct batch){before, x.a, x.b, x.c};
        before = x.d;
        store_batch(out, xor_batch(decrypt_batch(vkey, x), masks), n);
    }
    store(iv, before);
}

static void ctr32(const void *vkey, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    static const uint8_t zero[16];
    const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m128i one = _mm_set_epi32(1, 0, 0, 0);
    __m128i count = _mm_shuffle_epi8(load(counter), swap);
    uint8_t stream[16 * BATCH];

    while (len_bytes > 16) {
        size_t n = len_bytes < 16 * BATCH ? len_bytes : 16 * BATCH;
        __m128i two = _mm_add_epi32(one, one);
        struct batch x = {count, _mm_add_epi32(count, one), _mm_add_epi32(count, two),
                          _mm_add_epi32(count, _mm_add_epi32(two, one))};
        x.a = _mm_shuffle_epi8(x.a, swap), x.b = _mm_shuffle_epi8(x.b, swap);
        x.c = _mm_shuffle_epi8(x.c, swap), x.d = _mm_shuffle_epi8(x.d, swap);
        x = encrypt_batch(vkey, x);
        count = _mm_add_epi32(count, _mm_set_epi32((int)((n + 15) / 16), 0, 0, 0));
        if (n == 16 * BATCH) {
            store_batch(out, xor_batch(x, load_batch(in, BATCH)), BATCH);
        } else {
            store_batch(stream, x, BATCH);
            evc_xor(out, in, stream, n);
        }
        in += n, out += n, len_bytes -= n;
    }
    store(counter, _mm_shuffle_epi8(count, swap));
    if (len_bytes) {
        chain(vkey, zero, counter, stream, 1, 0);
        evc_xor(out, in, stream, len_bytes);
        store(counter, _mm_shuffle_epi8(_mm_add_epi32(count, one), swap));
    }
    evc_wipe(stream, sizeof stream);
}

/* ---- Keys ---------------------------------------------------------------------------- */

/* SubWord (FIPS 197 section 5.2). */
static uint32_t sub_word(uint32_t word)
{
    __m128i x = by_halves(vperm_tables.in, _mm_cvtsi32_si128((int)word));

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
    store(key->enc[0], by_halves(vperm_tables.in, load(w[0])));
    for (uint32_t r = 1; r < rounds; r++) {
        __m128i k = by_halves(vperm_tables.in, xor(load(w[r]), constant));
        struct nibbles s;
        k = permute(k, vperm_tables.shift[-r & 3]);
        s = split(k);
        store(key->enc[r], k);
        store(key->enc_ik[r - 1][0], s.i);
        store(key->enc_ik[r - 1][1], s.k);
    }
    store(key->enc[rounds], xor(load(w[rounds]), constant));
    if (key->head.can_decrypt) {
        store(key->dec[0], by_halves(vperm_tables.inv_in, xor(load(w[rounds]), constant)));
        for (uint32_t r = 1; r < rounds; r++) {
            __m128i k = xor(inv_mix_columns(load(w[rounds - r])), constant);
            store(key->dec[r], permute(by_halves(vperm_tables.inv_in, k), vperm_tables.shift[r & 3]));
        }
        store(key->dec[rounds], load(w[0]));
    }
    evc_wipe(w, sizeof w);
}

EVC_ISA_END

const struct evc_aes evc_aes_x86_vperm = {
    .kernel = EVC_KERNEL_HEAD(x86_vperm, X86_SSSE3, CT, ANY, BATCH, struct key, 0),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .ctr32 = ctr32,
    .cbc_encrypt = cbc_encrypt,
    .cbc_decrypt = cbc_decrypt,
    .cbcmac = cbcmac,
};

#else
EVC_EMPTY_UNIT
#endif

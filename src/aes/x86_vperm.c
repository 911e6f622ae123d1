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
EVC_INLINE struct reciprocals invert(struct nibbles x)
{
    __m128i ak = look_up(vperm_ainv[0], x.k), j = xor(x.i, x.k);
    __m128i iak = xor(look_up(vperm_inv[0], x.i), ak);
    __m128i jak = xor(look_up(vperm_inv[0], j), ak);

    return (struct reciprocals){xor(look_up(vperm_inv[0], iak), j),
                                xor(look_up(vperm_inv[0], jak), x.i)};
}

/* ---- One chain ----------------------------------------------------------------------- */

/* Compilers regroup xors, and the grouping below makes the chain short: they do not see through this. */
EVC_INLINE __m128i keep(__m128i x)
{
#if defined(__GNUC__)
    __asm__("" : "+x"(x));
#endif
    return x;
}

/*
 * SubBytes, ShiftRows, MixColumns, AddRoundKey for one nibble of the state. ut: the S-box times 1 and 2.
 * rotate: the patterns of this round. What comes late joins last: s, then 2 s, then row 1 of 2 s + s.
 */
EVC_INLINE __m128i mix_nibble(const uint8_t ut[4][16], struct reciprocals o,
                              const uint8_t *round_key, const uint8_t rotate[3][16])
{
    __m128i s1 = look_up_2(ut, o);
    __m128i s2 = xor(keep(xor(look_up(ut[2], o.io), table(round_key))), look_up(ut[3], o.jo));
    __m128i s3 = xor(s1, look_up_2(ut + 2, o));
    __m128i rows_23 = keep(xor(permute(s1, rotate[1]), permute(s1, rotate[2])));

    return xor(keep(xor(rows_23, s2)), permute(s3, rotate[0]));
}

/* Rounds 1 to rounds - 1, and the inversion of the last. */
EVC_INLINE struct reciprocals rounds_ik(const struct key *key, struct nibbles x)
{
    for (uint32_t r = 1; r < key->head.rounds; r++) {
        const uint8_t(*rotate)[16] = vperm_rotate + 3 * (r & 3);
        struct reciprocals o = invert(x);
        x.i = mix_nibble(vperm_enc_i, o, key->enc_ik[r - 1][0], rotate);
        x.k = mix_nibble(vperm_enc_k, o, key->enc_ik[r - 1][1], rotate);
    }
    return invert(x);
}

/* CBC encryption of n_blocks > 0. The outputs are step bytes apart: 16, or 0 to keep only the last. */
static void chain(const struct key *key, const uint8_t iv[16], const uint8_t *in, uint8_t *out,
                  size_t n_blocks, size_t step)
{
    const uint32_t rounds = key->head.rounds;
    const __m128i first_key = table(key->enc[0]), last_key = table(key->enc[rounds]);
    const uint8_t *shift = vperm_shift[rounds & 3];
    struct nibbles x = split(xor(by_halves(vperm_in, xor(load(iv), load(in))), first_key));

    for (;;) {
        struct reciprocals o = rounds_ik(key, x);
        struct nibbles next;
        store(out, xor(permute(look_up_2(vperm_sub, o), shift), last_key));
        if (!--n_blocks)
            break;
        in += 16, out += step;
        next = split(xor(by_halves(vperm_in, xor(load(in), last_key)), first_key));
        x.i = xor(permute(look_up_2(vperm_enc_i, o), shift), next.i);
        x.k = xor(permute(look_up_2(vperm_enc_k, o), shift), next.k);
    }
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

/* ---- Several blocks ------------------------------------------------------------------ */

#define BATCH 4

EVC_INLINE __m128i encrypt_round(__m128i x, __m128i round_key, const uint8_t rotate[3][16])
{
    struct reciprocals o = invert(split(x));
    __m128i s1 = look_up_2(vperm_enc, o), s2 = look_up_2(vperm_enc + 2, o);
    __m128i rows_02 = xor(s2, permute(s1, rotate[1])); /* 2 times row 0, 1 times row 2 */

    /* And one row further down 2 + 1 times row 0, 1 times row 2: rows 1 and 3. */
    return xor(xor(rows_02, round_key), permute(xor(rows_02, s1), rotate[0]));
}

/* 14, 11, 13, 9 times rows 0, 1, 2, 3. */
EVC_INLINE __m128i decrypt_round(__m128i x, __m128i round_key, const uint8_t rotate[3][16])
{
    struct reciprocals o = invert(split(x));
    __m128i s14 = xor(look_up_2(vperm_dec, o), round_key), s13 = look_up_2(vperm_dec + 2, o);
    __m128i s11 = look_up_2(vperm_dec + 4, o), s9 = look_up_2(vperm_dec + 6, o);

    return xor(xor(s14, permute(s13, rotate[1])),
               permute(xor(s11, permute(s9, rotate[1])), rotate[0]));
}

EVC_INLINE void encrypt_batch(const struct key *key, __m128i x[BATCH])
{
    const uint32_t rounds = key->head.rounds;
    const uint8_t *shift = vperm_shift[rounds & 3];
    __m128i k = table(key->enc[0]), a, b, c, d;

    a = xor(by_halves(vperm_in, x[0]), k);
    b = xor(by_halves(vperm_in, x[1]), k);
    c = xor(by_halves(vperm_in, x[2]), k);
    d = xor(by_halves(vperm_in, x[3]), k);
    for (uint32_t r = 1; r < rounds; r++) {
        const uint8_t(*rotate)[16] = vperm_rotate + 3 * (r & 3);
        k = table(key->enc[r]);
        a = encrypt_round(a, k, rotate);
        b = encrypt_round(b, k, rotate);
        c = encrypt_round(c, k, rotate);
        d = encrypt_round(d, k, rotate);
    }
    k = table(key->enc[rounds]);
    x[0] = xor(permute(look_up_2(vperm_sub, invert(split(a))), shift), k);
    x[1] = xor(permute(look_up_2(vperm_sub, invert(split(b))), shift), k);
    x[2] = xor(permute(look_up_2(vperm_sub, invert(split(c))), shift), k);
    x[3] = xor(permute(look_up_2(vperm_sub, invert(split(d))), shift), k);
}

EVC_INLINE void decrypt_batch(const struct key *key, __m128i x[BATCH])
{
    const uint32_t rounds = key->head.rounds;
    const uint8_t *shift = vperm_shift[-rounds & 3];
    __m128i k = table(key->dec[0]), a, b, c, d;

    a = xor(by_halves(vperm_inv_in, x[0]), k);
    b = xor(by_halves(vperm_inv_in, x[1]), k);
    c = xor(by_halves(vperm_inv_in, x[2]), k);
    d = xor(by_halves(vperm_inv_in, x[3]), k);
    for (uint32_t r = 1; r < rounds; r++) {
        const uint8_t(*rotate)[16] = vperm_rotate + 3 * (-r & 3);
        k = table(key->dec[r]);
        a = decrypt_round(a, k, rotate);
        b = decrypt_round(b, k, rotate);
        c = decrypt_round(c, k, rotate);
        d = decrypt_round(d, k, rotate);
    }
    k = table(key->dec[rounds]);
    x[0] = xor(permute(look_up_2(vperm_inv_sub, invert(split(a))), shift), k);
    x[1] = xor(permute(look_up_2(vperm_inv_sub, invert(split(b))), shift), k);
    x[2] = xor(permute(look_up_2(vperm_inv_sub, invert(split(c))), shift), k);
    x[3] = xor(permute(look_up_2(vperm_inv_sub, invert(split(d))), shift), k);
}

/* The first n blocks of a batch from and to memory; the others are the last of them again. */
EVC_INLINE void load_batch(__m128i x[BATCH], const uint8_t *in, size_t n)
{
    for (size_t b = 0; b < BATCH; b++)
        x[b] = load(in + 16 * (b < n ? b : n - 1));
}

EVC_INLINE void store_batch(uint8_t *out, const __m128i x[BATCH], size_t n)
{
    for (size_t b = 0; b < n; b++)
        store(out + 16 * b, x[b]);
}

static void encrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    static const uint8_t zero[16];
    __m128i x[BATCH];

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        if (n_blocks == 1) {
            chain(vkey, zero, in, out, 1, 0);
            return;
        }
        n = n_blocks < BATCH ? n_blocks : BATCH;
        load_batch(x, in, n);
        encrypt_batch(vkey, x);
        store_batch(out, x, n);
    }
}

static void decrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    __m128i x[BATCH];

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = n_blocks < BATCH ? n_blocks : BATCH;
        load_batch(x, in, n);
        decrypt_batch(vkey, x);
        store_batch(out, x, n);
    }
}

static void cbc_decrypt(const void *vkey, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    __m128i x[BATCH], mask[BATCH], before = load(iv);

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = n_blocks < BATCH ? n_blocks : BATCH;
        load_batch(x, in, n);
        mask[0] = before, mask[1] = x[0], mask[2] = x[1], mask[3] = x[2];
        before = x[n - 1];
        decrypt_batch(vkey, x);
        for (size_t b = 0; b < BATCH; b++)
            x[b] = xor(x[b], mask[b]);
        store_batch(out, x, n);
    }
    store(iv, before);
}

static void ctr32(const void *vkey, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    static const uint8_t zero[16];
    const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m128i one = _mm_set_epi32(1, 0, 0, 0);
    __m128i x[BATCH], count = _mm_shuffle_epi8(load(counter), swap);
    uint8_t stream[16 * BATCH];

    while (len_bytes > 16) {
        size_t n = len_bytes < 16 * BATCH ? len_bytes : 16 * BATCH;
        for (size_t b = 0; b < BATCH; b++) {
            x[b] = _mm_shuffle_epi8(count, swap);
            if (16 * b < n)
                count = _mm_add_epi32(count, one);
        }
        encrypt_batch(vkey, x);
        if (n == 16 * BATCH) {
            for (size_t b = 0; b < BATCH; b++)
                store(out + 16 * b, xor(x[b], load(in + 16 * b)));
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
    __m128i x = by_halves(vperm_in, _mm_cvtsi32_si128((int)word));

    x = look_up_2(vperm_sub, invert(split(x)));
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

    a = xor(a, times_x(times_x(xor(a, permute(a, vperm_rotate[1])))));
    a1 = permute(a, vperm_rotate[0]);
    b = xor(a, a1);
    return xor(times_x(b), xor(a1, permute(b, vperm_rotate[1])));
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;
    const uint32_t rounds = key->head.rounds;
    const __m128i constant = _mm_set1_epi8(0x63);
    EVC_ALIGN(16) uint8_t w[EVC_AES_MAX_ROUNDS + 1][16];

    evc_aes_expand_key(w, user_key, rounds, sub_word);
    store(key->enc[0], by_halves(vperm_in, load(w[0])));
    for (uint32_t r = 1; r < rounds; r++) {
        __m128i k = by_halves(vperm_in, xor(load(w[r]), constant));
        struct nibbles s;
        k = permute(k, vperm_shift[-r & 3]);
        s = split(k);
        store(key->enc[r], k);
        store(key->enc_ik[r - 1][0], s.i);
        store(key->enc_ik[r - 1][1], s.k);
    }
    store(key->enc[rounds], xor(load(w[rounds]), constant));
    if (key->head.can_decrypt) {
        store(key->dec[0], by_halves(vperm_inv_in, xor(load(w[rounds]), constant)));
        for (uint32_t r = 1; r < rounds; r++) {
            __m128i k = xor(inv_mix_columns(load(w[rounds - r])), constant);
            store(key->dec[r], permute(by_halves(vperm_inv_in, k), vperm_shift[r & 3]));
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

/* SPDX-License-Identifier: MIT */
/*
 * GCM-SIV (RFC 8452) for kernels over x86_clmul_blocks.h, where the CPU has AES instructions for
 * vectors of the same width: the keys of a message, and CTR with POLYVAL of the plaintext in one
 * pass. Include it inside a region of both, after these have been defined:
 *
 *   v_enc, v_enc_last        a round of AES, in each block
 *   v_add32                  within each block
 *   v_words_first(n)         n in the first word of each block, zeros in the others
 *   v_places()               l in the first word of block l, zeros in the others
 *
 * POLYVAL's blocks are elements as they are in memory, and its subkey is an element times x.
 */
#ifndef EVC_GHASH_X86_SIV_STEPS_H
#define EVC_GHASH_X86_SIV_STEPS_H

#include "aes/x86_keys.h"

/* ---- Keys of a message ----------------------------------------------------------------------- */

#if LANES == 1
typedef __m128i siv_numbers; /* encryptions of one number, or of two */
#define SIV_NUMBERS 1
#define siv_all(block) (block)
#define siv_xor(a, b) _mm_xor_si128(a, b)
#define siv_enc(s, rk) _mm_aesenc_si128(s, rk)
#define siv_enc_last(s, rk) _mm_aesenclast_si128(s, rk)
#define siv_first_halves(s, i) _mm_unpacklo_epi64((s)[2 * (i)], (s)[2 * (i) + 1])
#define siv_first_numbers() _mm_setzero_si128()
#else
typedef __m256i siv_numbers;
#define SIV_NUMBERS 2
#define siv_all(block) _mm256_broadcastsi128_si256(block)
#define siv_xor(a, b) _mm256_xor_si256(a, b)
#define siv_enc(s, rk) _mm256_aesenc_epi128(s, rk)
#define siv_enc_last(s, rk) _mm256_aesenclast_epi128(s, rk)
#define siv_first_halves(s, i) \
    _mm256_castsi256_si128(_mm256_permute4x64_epi64((s)[i], 0x08))
#define siv_first_numbers() _mm256_set_epi32(0, 0, 0, 1, 0, 0, 0, 0)
#endif

#define SIV_ROUND(r) EACH_UP_TO_8(n, s[i] = siv_enc(s[i], siv_all(evc_x86_load_aligned(rk[r]))))

/* The first halves of the encryptions of numbers and the nonce, in n_blocks blocks: 2 with 10
 * rounds, 3 with 14. A constant. */
EVC_INLINE void siv_derive(__m128i *blocks, const uint8_t (*rk)[16], __m128i nonce,
                           unsigned n_blocks)
{
    const unsigned n = 2 * n_blocks / SIV_NUMBERS;
    const siv_numbers last = siv_all(evc_x86_load_aligned(rk[n_blocks == 3 ? 14 : 10]));
    const siv_numbers first =
        siv_xor(siv_all(_mm_xor_si128(_mm_slli_si128(nonce, 4), evc_x86_load_aligned(rk[0]))),
                siv_first_numbers());
    siv_numbers s[8]; /* compilers see the loops for 8, too */

    EACH_UP_TO_8(n, s[i] = siv_xor(first, siv_all(_mm_cvtsi32_si128(SIV_NUMBERS * i))));
    SIV_ROUND(1);
    SIV_ROUND(2);
    SIV_ROUND(3);
    SIV_ROUND(4);
    SIV_ROUND(5);
    SIV_ROUND(6);
    SIV_ROUND(7);
    SIV_ROUND(8);
    SIV_ROUND(9);
    if (n_blocks == 3) {
        SIV_ROUND(10);
        SIV_ROUND(11);
        SIV_ROUND(12);
        SIV_ROUND(13);
    }
    EACH_UP_TO_8(n, s[i] = siv_enc_last(s[i], last));
    EACH_UP_TO_4(n_blocks, blocks[i] = siv_first_halves(s, i));
}

/* 12 bytes, and zeros behind. */
EVC_INLINE __m128i siv_nonce(const uint8_t nonce[12])
{
    return _mm_insert_epi32(_mm_loadl_epi64((const __m128i *)(const void *)nonce),
                            (int)evc_load32_ne(nonce + 8), 2);
}

/* The last block of bytes, filled up with zeros; zeros if there are none. Out of line, and called
 * first: compilers would put words of it on the stack. */
EVC_OUT_OF_LINE __m128i siv_last_block(const uint8_t *bytes, size_t n_bytes)
{
    const size_t at = n_bytes ? (n_bytes - 1) / 16 * 16 : 0;

    if (n_bytes % 16)
        return evc_x86_load_part(bytes + at, n_bytes - at);
    return n_bytes ? load1(bytes + at) : _mm_setzero_si128();
}

/* The hash behind y of bytes, filled up with zeros to whole blocks; last: the last one. */
EVC_INLINE __m128i siv_hash_padded(const struct powers *h, __m128i y, const uint8_t *in,
                                   size_t len_bytes, __m128i last)
{
    const size_t rest = len_bytes % 16;

    if (len_bytes >= 16)
        y = hash_reversed(h, y, in, len_bytes / 16);
    if (rest) {
        struct product p = no_product();
        add_second_reversed(&p, v_back(_mm_xor_si128(y, last), 1), &h->pair[PAIRS - 1]);
        y = reduce_sum(p);
    }
    return y;
}

static void siv_keys(const void *vgenerating_key, const uint8_t nonce[12], void *vaes_key,
                     void *vkey, uint64_t n_hashed, const uint8_t *aad, size_t aad_bytes,
                     uint8_t y[16])
{
    const struct evc_aes_fips197_key *generating_key = vgenerating_key;
    struct evc_aes_fips197_key *aes_key = vaes_key;
    struct key *key = vkey;
    const __m128i last = siv_last_block(aad, aad_bytes);
    __m128i s[4]; /* the subkey of POLYVAL, the key of AES */

    if (generating_key->head.rounds == 14) {
        siv_derive(s, generating_key->enc, siv_nonce(nonce), 3);
        (void)evc_x86_expand_256(aes_key->enc[0], s[1], s[2]);
    } else {
        siv_derive(s, generating_key->enc, siv_nonce(nonce), 2);
        (void)evc_x86_expand_128(aes_key->enc[0], s[1]);
    }
    powers_of_element(&key->powers, s[0],
                      n_hashed < BATCH ? (size_t)n_hashed : BATCH);
    store1(y, reverse1(siv_hash_padded(&key->powers, _mm_setzero_si128(), aad, aad_bytes, last)));
    v_clear_upper_halves();
}

/* ---- CTR and POLYVAL ------------------------------------------------------------------------- */

struct siv_count {
    vec next;
    const uint8_t (*rk)[16];
    uint32_t rounds;
};

EVC_INLINE vec siv_round_key(const struct siv_count *c, uint32_t r)
{
    return v_all(load1(c->rk[r]));
}

EVC_INLINE void siv_round(const struct siv_count *c, uint32_t r, vec *s)
{
    const vec rk = siv_round_key(c, r);

    EACH_UP_TO_8(GROUP, s[i] = v_enc(s[i], rk));
}

/* Round r while pair j of a group that lies at `hashed` is multiplied. */
EVC_INLINE void siv_rounds_and_pair(const struct siv_count *c, uint32_t r, vec *s,
                                    struct product *p, const uint8_t *hashed, vec y,
                                    const struct pair *h)
{
    siv_round(c, r, s);
    add_pair_at(p, hashed, y, h);
    BARRIER(*p);
    siv_round(c, r + 1, s);
}

/* A group through CTR, and the hash of the one at `hashed`, if there is one. */
EVC_INLINE __m128i siv_group(const struct key *key, struct siv_count *c, __m128i y,
                             const uint8_t *in, uint8_t *out, const uint8_t *hashed)
{
    struct product p = no_product();
    vec first, s[GROUP];
    const vec stride = v_words_first(LANES);

    /* Each group loads the round keys: compilers that keep some over the loop put others on the
     * stack. */
    __asm__("" : "+r"(c->rk));
    first = siv_round_key(c, 0);
    EACH_UP_TO_8(GROUP, s[i] = v_xor(c->next, first); c->next = v_add32(c->next, stride));
    if (hashed) {
        siv_rounds_and_pair(c, 1, s, &p, hashed + 2 * VEC_BYTES, v_zero(), &key->powers.pair[1]);
        siv_rounds_and_pair(c, 3, s, &p, hashed + 4 * VEC_BYTES, v_zero(), &key->powers.pair[2]);
        siv_rounds_and_pair(c, 5, s, &p, hashed + 6 * VEC_BYTES, v_zero(), &key->powers.pair[3]);
        siv_rounds_and_pair(c, 7, s, &p, hashed, v_first(y), &key->powers.pair[0]);
    } else {
        EACH_UP_TO_8(8, siv_round(c, 1 + i, s));
    }
    siv_round(c, 9, s);
    if (c->rounds == 14)
        EACH_UP_TO_4(4, siv_round(c, 10 + i, s));
    if (hashed)
        y = reduce_sum(p);
    const vec last = siv_round_key(c, c->rounds);
    EACH_UP_TO_8(GROUP, v_store(out + i * VEC_BYTES,
                                v_enc_last(s[i], v_xor(last, v_load(in + i * VEC_BYTES)))));
    return y;
}

/* The plaintext of each group is hashed while the next one is decrypted. */
static void siv_open(const void *vaes_key, const void *vkey, uint8_t counter[16], uint8_t y_at[16],
                     const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct evc_aes_fips197_key *aes_key = vaes_key;
    const struct key *key = vkey;
    const __m128i counter_now = load1(counter);
    const uint8_t *const end = in + 16 * n_blocks;
    struct siv_count c = {v_add32(v_all(counter_now), v_places()), aes_key->enc,
                          aes_key->head.rounds};
    __m128i y = reverse1(load1(y_at));

    store1(counter, _mm_add_epi32(counter_now, _mm_cvtsi32_si128((int)n_blocks)));
    y = siv_group(key, &c, y, in, out, NULL);
    for (in += 16 * BATCH; in != end; in += 16 * BATCH) {
        y = siv_group(key, &c, y, in, out + 16 * BATCH, out);
        out += 16 * BATCH;
    }
    store1(y_at, reverse1(y));
    v_clear_upper_halves();
}

/* ---- The tag --------------------------------------------------------------------------------- */

/* The last vector of a message: the lengths, and in front of them the last n blocks of text, fewer
 * than LANES. `last` is the last of these. */
EVC_INLINE vec siv_last_vector(const uint8_t *in, size_t n, __m128i last, __m128i lengths)
{
#if LANES == 4
    vec v = _mm512_inserti32x4(_mm512_setzero_si512(), lengths, 3);

    if (n > 0)
        v = _mm512_inserti32x4(v, last, 2);
    if (n > 1)
        v = _mm512_inserti32x4(v, load1(in + 16 * (n - 2)), 1);
    if (n > 2)
        v = _mm512_inserti32x4(v, load1(in), 0);
    return v;
#elif LANES == 2
    (void)in;
    return _mm256_set_m128i(lengths, n ? last : _mm_setzero_si128());
#else
    (void)in, (void)n, (void)last;
    return lengths;
#endif
}

/* The hash of the last text and the lengths, at most BATCH blocks, in one sum. */
EVC_INLINE __m128i siv_hash_end(const struct powers *h, __m128i y, const uint8_t *in,
                                size_t len_bytes, __m128i last_block, __m128i lengths)
{
    const size_t n_blocks = (len_bytes + 15) / 16;
    const size_t n_last = n_blocks < LANES ? n_blocks : LANES - 1; /* beside the lengths */
    const size_t n_before = n_blocks - n_last, n_first = (n_before - 1) % LANES + 1;
    const uint8_t *const at_last = evc_in_at(in, 16 * n_before);
    size_t n_left = (n_before + LANES - 1) / LANES; /* vectors behind the first one */
    const struct pair *pair = h->pair + PAIRS - (n_left + 2) / 2;
    const vec last = siv_last_vector(at_last, n_last, last_block, lengths);
    struct product p = no_product();
    vec first;

    if (n_left == 0) {
        add_second_reversed(&p, v_xor(last, v_back(y, n_last + 1)), pair);
        return reduce_sum(p);
    }
    first = v_xor(n_first == LANES ? v_load(in) : v_load_back(in, n_first), v_back(y, n_first));
    in += 16 * n_first;
    if (n_left == 1) {
        add_pair_reversed(&p, first, last, pair);
        return reduce_sum(p);
    }
    if (n_left % 2) {
        add_pair_reversed(&p, first, v_load(in), pair++);
        in += VEC_BYTES;
    } else {
        add_second_reversed(&p, first, pair++);
    }
    for (n_left = n_left / 2 - 1; n_left; n_left--, in += 2 * VEC_BYTES)
        add_pair_reversed(&p, v_load(in), v_load(in + VEC_BYTES), pair++);
    add_pair_reversed(&p, v_load(in), last, pair);
    return reduce_sum(p);
}

static void siv_tag(const void *vaes_key, void *vkey, uint64_t n_hashed, const uint8_t nonce[12],
                    const uint8_t *in, size_t len_bytes, const uint8_t lengths[16],
                    uint8_t y_at[16], uint8_t counter[16])
{
    const struct evc_aes_fips197_key *aes_key = vaes_key;
    struct key *key = vkey;
    const __m128i last = siv_last_block(in, len_bytes);
    __m128i y = reverse1(load1(y_at));
    size_t n_blocks = len_bytes / 16 + (len_bytes % 16 != 0) + 1;

    if (LANES == 1 && len_bytes % 16) { /* the last vector is the lengths alone */
        y = siv_hash_padded(&key->powers, y, in, len_bytes, last);
        n_blocks = 1, len_bytes = 0;
    }
    /* The first sum is the short one, so that the last one has the lengths, too. */
    for (size_t n; n_blocks > BATCH; n_blocks -= n, in += 16 * n, len_bytes -= 16 * n) {
        n = n_blocks % BATCH ? n_blocks % BATCH : n_blocks - BATCH;
        y = hash_reversed(&key->powers, y, in, n);
    }
    y = siv_hash_end(&key->powers, y, in, len_bytes, last, load1(lengths));
    y = _mm_and_si128(_mm_xor_si128(y, siv_nonce(nonce)), _mm_set_epi32(0x7fffffff, -1, -1, -1));
    y = _mm_xor_si128(y, load1(aes_key->enc[0]));
    for (uint32_t r = 1; r < aes_key->head.rounds; r++)
        y = _mm_aesenc_si128(y, load1(aes_key->enc[r]));
    y = _mm_aesenclast_si128(y, load1(aes_key->enc[aes_key->head.rounds]));
    store1(y_at, y);
    store1(counter, _mm_or_si128(y, _mm_set_epi32(INT32_MIN, 0, 0, 0)));
    for (size_t i = n_hashed > 4 * LANES ? 0 : n_hashed > 2 * LANES ? PAIRS / 2 : PAIRS - 1;
         i < PAIRS; i++) {
        v_store(key->powers.pair[i].lo, v_zero());
        v_store(key->powers.pair[i].hi, v_zero());
        v_store(key->powers.pair[i].sum, v_zero());
    }
    EVC_KEEP_MEMORY(key);
    v_clear_upper_halves();
}

#define SIV_SLOTS(isa) \
    .siv_needs = EVC_NEEDS_##isa, .siv_keys = siv_keys, .siv_open = siv_open, .siv_tag = siv_tag

#endif

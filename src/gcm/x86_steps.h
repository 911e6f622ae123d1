/* SPDX-License-Identifier: MIT */
/*
 * GCM by AES instructions and carry-less multiplication, written once for every width of vector. Include it inside
 * the region of the kernel's ISA, after what ghash/x86_clmul_steps.h wants, with GROUP 16, and these:
 *
 *   v_enc, v_enc_last        a round of AES, in each block
 *   v_add32, v_shuffle8      within each block
 *   v_words(n)               n in all words of 32 bits
 *   v_word_steps()           in block l the words l, l + LANES, l + 2 * LANES, l + 3 * LANES
 *   v_with_word(base, v, i)  each block of base, its last word that of word i of v's
 *   v_last(block)            in the last place, zeros in the others
 *   v_last_block(v)          what stands there
 *   v_at(block, place)       in that place, zeros in the others; all zeros if there is no such place
 *   part, part_of(begin, end)   the bytes of a vector from begin, a whole block's, to end
 *   v_load_text, v_store_text(p, part[, v])   these bytes of memory; zeros elsewhere; touches nothing else
 *   v_text(part, v)          these bytes of v, zeros elsewhere
 *
 * A message is a row of blocks: the last one of associated data, the text, the lengths. It is cut into vectors from its
 * end, so every block meets its power of H at a fixed place, and what is missing is in front. Counter mode has the same
 * places: where the lengths stand it has J_0, whose encryption masks the tag.
 *
 * WIDE vectors go through AES while those before them are hashed. Two times WIDE are reduced at once.
 */
#ifndef EVC_GCM_X86_STEPS_H
#define EVC_GCM_X86_STEPS_H

#include "aes/x86_keys.h"
#include "common/each.h"
#include "ghash/x86_clmul_steps.h"

#define WIDE 8

struct key {
    struct evc_gcm_head head;
    EVC_ALIGN(16) uint8_t rk[EVC_AES_MAX_ROUNDS + 1][16]; /* FIPS 197 order */
    struct powers powers;
};

/* ---- AES --------------------------------------------------------------------------------------- */

EVC_INLINE vec round_key(const struct key *key, uint32_t r)
{
    return v_all(load1(key->rk[r]));
}

/* A round of n vectors. */
#define ROUND(n, s, r)                                                                             \
    do {                                                                                           \
        const vec rk_ = round_key(key, r);                                                         \
        EACH_UP_TO_8(n, (s)[i] = v_enc((s)[i], rk_));                                              \
    } while (0)
#define LATE_ROUNDS(n, s)                                                                          \
    do {                                                                                           \
        if (key->head.rounds > 10) {                                                               \
            ROUND(n, s, 10);                                                                       \
            ROUND(n, s, 11);                                                                       \
            if (key->head.rounds > 12) {                                                           \
                ROUND(n, s, 12);                                                                   \
                ROUND(n, s, 13);                                                                   \
            }                                                                                      \
        }                                                                                          \
    } while (0)

EVC_INLINE void middle_rounds(const struct key *key, vec *s, unsigned n)
{
    ROUND(n, s, 1);
    ROUND(n, s, 2);
    ROUND(n, s, 3);
    ROUND(n, s, 4);
    ROUND(n, s, 5);
    ROUND(n, s, 6);
    ROUND(n, s, 7);
    ROUND(n, s, 8);
    ROUND(n, s, 9);
    LATE_ROUNDS(n, s);
}

static void encrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct key *key = vkey;

    for (size_t i = 0; i < n_blocks; i++) {
        vec s[1] = {v_xor(v_first(load1(in + 16 * i)), round_key(key, 0))};
        middle_rounds(key, s, 1);
        store1(out + 16 * i, v_low(v_enc_last(s[0], round_key(key, key->head.rounds))));
    }
}

/* ---- Counters ---------------------------------------------------------------------------------- */

#define WORDS_REVERSED _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3)

/* The last words of the next 4 vectors' counters, as numbers of this CPU: block l of vector i has word i of block l.
 * The rest of the counters is the same for all, and whitened. */
struct count {
    vec base, words;
};

/* 12 bytes, and a counter of zero. */
EVC_INLINE __m128i load_iv(const uint8_t *iv)
{
    return _mm_insert_epi32(_mm_loadl_epi64((const __m128i *)(const void *)iv),
                            (int)evc_load32_ne(iv + 8), 2);
}

/* first: of the first block; its other words are those of counter. */
EVC_INLINE struct count count_from(const struct key *key, __m128i counter, uint32_t first)
{
    struct count count;

    count.base = v_all(_mm_xor_si128(counter, load1(key->rk[0])));
    count.words = v_add32(v_words(first), v_word_steps());
    return count;
}

/* The next n vectors of counters, whitened. */
EVC_INLINE void counters(const struct key *key, vec *s, struct count *count, unsigned n)
{
    const vec reversed = v_all(WORDS_REVERSED);
    const vec white = v_all(_mm_shuffle_epi32(load1(key->rk[0]), 0xff));
    vec words = v_xor(v_shuffle8(count->words, reversed), white), more = words;

    if (n > 4) {
        count->words = v_add32(count->words, v_words(4 * LANES));
        more = v_xor(v_shuffle8(count->words, reversed), white);
        count->words = v_add32(count->words, v_words((n - 4) * LANES));
    } else {
        count->words = v_add32(count->words, v_words(n * LANES));
    }
    EACH_UP_TO_8(n, s[i] = v_with_word(count->base, i < 4 ? words : more, i % 4));
}

/* ---- Batches ----------------------------------------------------------------------------------- */

/* What is under way: counters, the WIDE vectors of ciphertext that are not yet hashed, the sum of products not yet
 * reduced, and the hash of all before that as it is in memory, zero if p goes on. */
struct flow {
    struct count count;
    vec r[WIDE];
    struct product p;
    __m128i y;
};

/* The end of a message. */
struct end {
    uint32_t j0; /* turns the last word of the counter in the last place into that of J_0 */
    __m128i lengths;
    part text;   /* of the last vector */
    part before; /* of the one before it, if vectors are blocks: then the last is the lengths */
    __m128i mask; /* result: J_0 encrypted */
};

/* A vector of text: s after all rounds but the last. Returns the ciphertext. */
EVC_INLINE vec text_vector(vec s, vec last, const uint8_t *in, uint8_t *out, int sealing)
{
    const vec text = v_load(in), x = v_enc_last(s, v_xor(last, text));

    v_store(out, x);
    return sealing ? x : text;
}

EVC_INLINE vec part_vector(vec s, vec last, part p, const uint8_t *in, uint8_t *out, int sealing)
{
    const vec text = v_load_text(in, p), x = v_enc_last(s, v_xor(last, text));

    v_store_text(out, p, x);
    return sealing ? v_text(p, x) : text;
}

/* The last of WIDE vectors or fewer, which may be the last of the message. */
EVC_INLINE vec last_vector(vec s, vec last, struct end *end, int ends, const uint8_t *in,
                           uint8_t *out, int sealing)
{
    vec text, x;

    if (!ends)
        return text_vector(s, last, in, out, sealing);
    text = v_load_text(in, end->text), x = v_enc_last(s, v_xor(last, text));
    v_store_text(out, end->text, x);
    end->mask = v_last_block(x);
    return v_xor(v_last(end->lengths), sealing ? v_text(end->text, x) : text);
}

/* The one before it: where vectors are blocks, the last of the text may be in part. */
EVC_INLINE vec last_but_one(vec s, vec last, const struct end *end, int ends, const uint8_t *in,
                            uint8_t *out, int sealing)
{
    return LANES == 1 && ends ? part_vector(s, last, end->before, in, out, sealing)
                              : text_vector(s, last, in, out, sealing);
}

/* Plus the n vectors that come last of those not yet hashed; h: the last pairs of powers that they meet. */
EVC_INLINE void hash_vectors(struct flow *f, const struct pair *h, unsigned n)
{
    if (n == 1)
        add_second(&f->p, f->r[7], h + 3);
    else
        add_pair(&f->p, f->r[6], f->r[7], h + 3);
    if (n > 2)
        add_pair(&f->p, f->r[4], f->r[5], h + 2);
    if (n > 4)
        add_pair(&f->p, f->r[2], f->r[3], h + 1);
    if (n > 6)
        add_pair(&f->p, v_xor(f->r[0], v_first(f->y)), f->r[1], h);
}

/* The first n vectors. most: fewer than one of them is missing, or than two of more than 4. start goes into the block
 * at `at`; from block `from` on it is text. ends: they are also the last. */
EVC_INLINE void crypt_head(const struct key *key, struct flow *f, struct end *end, int ends,
                           unsigned n, int most, size_t at, size_t from, __m128i start,
                           const uint8_t *in, uint8_t *out, int sealing)
{
    vec s[WIDE], last;

    counters(key, s, &f->count, n);
    if (ends)
        s[n - 1] = v_xor(s[n - 1], v_last(_mm_set_epi32((int)end->j0, 0, 0, 0)));
    middle_rounds(key, s, n);
    last = round_key(key, key->head.rounds);
#define AT(i) evc_in_at(in, (i) * VEC_BYTES), evc_out_at(out, (i) * VEC_BYTES)
#define IS_FRONT(i) (!most || (i) < (n > 4 ? 2 : 1))
#define FRONT(i, v) (IS_FRONT(i) ? v_xor(v_at(start, at - (i) * LANES), v) : (v))
#define HEAD_VECTOR(i)                                                                             \
    ((i) == n - 1 && (!IS_FRONT(i) || ends) ? last_vector(s[i], last, end, ends, AT(i), sealing)          \
     : IS_FRONT(i) && !(LANES == 1 && ends && (i) == n - 2)                                        \
         ? part_vector(s[i], last, missing(16 * from, (i) * VEC_BYTES), AT(i), sealing)            \
     : (i) == n - 2 ? last_but_one(s[i], last, end, ends, AT(i), sealing)                          \
                    : text_vector(s[i], last, AT(i), sealing))
    EACH_UP_TO_8(n, f->r[WIDE - n + i] = FRONT(i, HEAD_VECTOR(i)));
}

/* WIDE vectors, while those before are hashed. h: the powers that those meet. */
EVC_INLINE void crypt_batch(const struct key *key, struct flow *f, struct end *end, int ends,
                            const struct pair *h, const uint8_t *in, uint8_t *out, int sealing)
{
    vec s[WIDE], last;

    counters(key, s, &f->count, WIDE);
    if (ends)
        s[WIDE - 1] = v_xor(s[WIDE - 1], v_last(_mm_set_epi32((int)end->j0, 0, 0, 0)));
    struct operands o = operands_of(f->r[2], f->r[3]);
    ROUND(WIDE, s, 1);
    ADD_PART(f->p.lo, lo, o, h + 1);
    ROUND(WIDE, s, 2);
    ADD_PART(f->p.hi, hi, o, h + 1);
    ROUND(WIDE, s, 3);
    ADD_PART(f->p.mi, sum, o, h + 1);
    o = operands_of(f->r[4], f->r[5]);
    ROUND(WIDE, s, 4);
    ADD_PART(f->p.lo, lo, o, h + 2);
    ROUND(WIDE, s, 5);
    ADD_PART(f->p.hi, hi, o, h + 2);
    ROUND(WIDE, s, 6);
    ADD_PART(f->p.mi, sum, o, h + 2);
    o = operands_of(f->r[6], f->r[7]);
    ROUND(WIDE, s, 7);
    ADD_PART(f->p.lo, lo, o, h + 3);
    ROUND(WIDE, s, 8);
    ADD_PART(f->p.hi, hi, o, h + 3);
    ROUND(WIDE, s, 9);
    ADD_PART(f->p.mi, sum, o, h + 3);
    o = operands_of(v_xor(f->r[0], v_first(f->y)), f->r[1]);
    if (key->head.rounds > 12) {
        ROUND(WIDE, s, 10);
        ADD_PART(f->p.lo, lo, o, h);
        ROUND(WIDE, s, 11);
        ADD_PART(f->p.hi, hi, o, h);
        ROUND(WIDE, s, 12);
        ADD_PART(f->p.mi, sum, o, h);
        ROUND(WIDE, s, 13);
    } else {
        ADD_PART(f->p.lo, lo, o, h);
        ADD_PART(f->p.hi, hi, o, h);
        if (key->head.rounds > 10) {
            ROUND(WIDE, s, 10);
            ROUND(WIDE, s, 11);
        }
        ADD_PART(f->p.mi, sum, o, h);
    }
    f->y = _mm_setzero_si128();
    if (h != key->powers.pair) {
        f->y = reverse1(reduce_sum(f->p));
        f->p = no_product();
    }
    last = round_key(key, key->head.rounds);
    EACH_4(0, f->r[i] = text_vector(s[i], last, AT(i), sealing));
    EACH_I(4, f->r[i] = text_vector(s[i], last, AT(i), sealing));
    EACH_I(5, f->r[i] = text_vector(s[i], last, AT(i), sealing));
    f->r[6] = last_but_one(s[6], last, end, ends, AT(6), sealing);
    f->r[7] = last_vector(s[7], last, end, ends, AT(7), sealing);
}

/* With 16 registers what is under way is in memory anyway, and out of line the frames stay small. */
#if LANES == 4
#define BATCHES_INLINE EVC_INLINE
#else
#define BATCHES_INLINE EVC_OUT_OF_LINE
#endif

/* The rest, and the hash of all. end: NULL if the message goes on. */
BATCHES_INLINE __m128i crypt_rest(const struct key *key, struct flow *f, struct end *end,
                                  size_t n_batches, const uint8_t *in, uint8_t *out, int sealing)
{
    const struct pair *const h = key->powers.pair;

    for (; n_batches; n_batches--, in += WIDE * VEC_BYTES, out += WIDE * VEC_BYTES)
        crypt_batch(key, f, end, end && n_batches == 1, h + (n_batches % 2 ? 0 : PAIRS / 2), in, out, sealing);
    hash_vectors(f, h + PAIRS / 2, WIDE);
    return reverse1(reduce_sum(f->p));
}

/* ---- Messages ------------------------------------------------------------------------------------ */

/* The last block of associated data, filled up, plus the hash of those before it. */
EVC_OUT_OF_LINE __m128i hash_long_aad(const struct key *key, const uint8_t *aad, size_t aad_bytes)
{
    const size_t n_before = (aad_bytes - 1) / 16;
    uint8_t y[16] = {0};

    hash_blocks(&key->powers, y, aad, n_before);
    return _mm_xor_si128(load1(y), load_part1(aad + 16 * n_before, aad_bytes - 16 * n_before));
}

/* The last vector of a message of n_blocks; at: the place of the associated data in the first vectors. */
EVC_INLINE struct end end_of(size_t n_blocks, size_t at, size_t aad_bytes, size_t len_bytes)
{
    const size_t no_text = (16 - len_bytes % 16) % 16; /* behind the text in its last block */
    struct end end;

    end.j0 = evc_bswap32((uint32_t)n_blocks) ^ evc_bswap32(1);
    end.lengths = _mm_set_epi64x((long long)evc_bswap64(8 * (uint64_t)len_bytes),
                                 (long long)evc_bswap64(8 * (uint64_t)aad_bytes));
    end.mask = _mm_setzero_si128();
#if LANES > 1
    end.text = part_of(n_blocks > LANES ? 0 : 16 * (at + 1), VEC_BYTES - 16 - no_text);
#else
    (void)n_blocks, (void)at;
    end.text = part_of(16, 16);
    end.before = len_bytes ? part_of(0, 16 - no_text) : part_of(16, 16);
#endif
    return end;
}

/* The first n vectors of a message; its tag if they are all. */
#define CRYPT_FIRST(n)                                                                             \
    do {                                                                                           \
        crypt_head(key, &f, &end, !n_batches, n, 1, at, at + 1, start, in, out, sealing);          \
        if (!n_batches) {                                                                          \
            hash_vectors(&f, key->powers.pair + PAIRS / 2, n);                                     \
            return _mm_xor_si128(reverse1(reduce_sum(f.p)), end.mask);                             \
        }                                                                                          \
    } while (0)

EVC_INLINE __m128i crypt_message(const struct key *key, const uint8_t *iv, const uint8_t *aad,
                                 size_t aad_bytes, const uint8_t *in, uint8_t *out,
                                 size_t len_bytes, int sealing)
{
    const size_t n_blocks = (len_bytes + 15) / 16 + 2;
    const size_t n_batches = (n_blocks - 1) / (WIDE * LANES); /* after the first vectors */
    const size_t n_first = n_blocks - n_batches * WIDE * LANES;
    const size_t in_vectors = (n_first + LANES - 1) / LANES;
    const size_t n = in_vectors <= 4 ? in_vectors : in_vectors <= 6 ? 6 : 8;
    const size_t at = n * LANES - n_first;
    const __m128i start =
        aad_bytes > 16 ? hash_long_aad(key, aad, aad_bytes) : load_part1(aad, aad_bytes);
    struct end end = end_of(n_blocks, at, aad_bytes, len_bytes);
    struct flow f;
    __m128i tag;

    f.count = count_from(key, load_iv(iv), (uint32_t)(1 - at));
    f.p = no_product();
    f.y = _mm_setzero_si128();
    EACH_UP_TO_8(WIDE, f.r[i] = v_zero());
    in = evc_in_at(in, 0 - 16 * (at + 1)); /* where the first vector would begin */
    out = evc_out_at(out, 0 - 16 * (at + 1));
    if (n == 1)
        CRYPT_FIRST(1);
    else if (n == 2)
        CRYPT_FIRST(2);
    else if (n == 3)
        CRYPT_FIRST(3);
    else if (n == 4)
        CRYPT_FIRST(4);
    else if (n == 6)
        CRYPT_FIRST(6);
    else
        CRYPT_FIRST(8);
    tag = crypt_rest(key, &f, &end, n_batches, AT(n), sealing);
    return _mm_xor_si128(tag, end.mask);
}

/* ---- Slots --------------------------------------------------------------------------------------- */

#define ARGUMENTS(tag_pointer)                                                                     \
    const void *vkey, const uint8_t *iv, size_t iv_bytes, const uint8_t *aad, size_t aad_bytes,    \
        const uint8_t *in, uint8_t *out, size_t len_bytes, tag_pointer tag, size_t tag_bytes

EVC_OUT_OF_LINE enum evc_status seal(ARGUMENTS(uint8_t *))
{
    (void)iv_bytes;
    store_tag(tag, crypt_message(vkey, iv, aad, aad_bytes, in, out, len_bytes, 1), tag_bytes);
    return EVC_OK;
}

EVC_OUT_OF_LINE enum evc_status open(ARGUMENTS(const uint8_t *))
{
    (void)iv_bytes;
    return compare_tag(tag, crypt_message(vkey, iv, aad, aad_bytes, in, out, len_bytes, 0), tag_bytes);
}

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

/* Blocks of text alone. */
EVC_INLINE void crypt_blocks(const struct key *key, uint8_t counter[16], uint8_t y[16],
                             const uint8_t *in, uint8_t *out, size_t n_blocks, int sealing)
{
    const size_t n_batches = (n_blocks - 1) / (WIDE * LANES); /* after the first vectors */
    const size_t at = (n_batches + 1) * WIDE * LANES - n_blocks;
    const uint32_t first = evc_load32_be(counter + 12);
    struct flow f;

    f.count = count_from(key, load1(counter), first - (uint32_t)at);
    f.p = no_product();
    f.y = _mm_setzero_si128();
    in = evc_in_at(in, 0 - 16 * at); /* where the first vector would begin */
    out = evc_out_at(out, 0 - 16 * at);
    crypt_head(key, &f, NULL, 0, WIDE, 0, at, at, load1(y), in, out, sealing);
    store1(y, crypt_rest(key, &f, NULL, n_batches, AT(WIDE), sealing));
    evc_store32_be(counter + 12, first + (uint32_t)n_blocks);
}

static void seal_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    if (n_blocks)
        crypt_blocks(key, counter, y, in, out, n_blocks, 1);
}

static void open_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    if (n_blocks)
        crypt_blocks(key, counter, y, in, out, n_blocks, 0);
}

/* The slots of a descriptor that are the same at every width. */
#define GCM_SLOTS                                                                                  \
    .encrypt = encrypt, .hash = hash, .seal_blocks = seal_blocks, .open_blocks = open_blocks

#endif

/* SPDX-License-Identifier: MIT */
/*
 * GCM by AES instructions and carry-less multiplication, written once for every width of vector. Include it inside
 * the region of the kernel's ISA, after what ghash/x86_clmul_steps.h wants and these:
 *
 *   v_enc, v_enc_last        a round of AES, in each block
 *   v_add32, v_shuffle8      within each block
 *   v_counter_steps()        0, 1, ... in the last words
 *   v_last(block)            in the last place, zeros in the others
 *   struct part, part_of(begin, end)   the bytes of a vector from begin, a whole block's, to end
 *   v_load_text, v_store_text(p, part[, v])   these bytes of memory; zeros elsewhere; touches nothing else
 *   v_reverse_text(part, v, other)     v_reverse(v) where these bytes go, other elsewhere
 *   v_reverse_last(v)        v_reverse(v) in the last place, zeros in the others
 *
 * A message is GROUPs of vectors that end with the block of lengths, so that every block meets its power of H at a
 * fixed place and what is missing is in front. Where the lengths stand, counter mode has J_0, whose
 * encryption masks the tag.
 */
#ifndef EVC_GCM_X86_STEPS_H
#define EVC_GCM_X86_STEPS_H

#include "aes/x86_keys.h"
#include "common/each.h"
#include "ghash/x86_clmul_steps.h"

struct key {
    struct evc_gcm_head head;
    EVC_ALIGN(16) uint8_t rk[EVC_AES_MAX_ROUNDS + 1][16]; /* FIPS 197 order */
    uint8_t higher[VEC_BYTES]; /* H^(BATCH + LANES) ... H^(BATCH + 1), and then the others */
    struct powers powers;
};

/* ---- AES --------------------------------------------------------------------------------------- */

EVC_INLINE vec round_key(const struct key *key, uint32_t r)
{
    return v_all(load1(key->rk[r]));
}

/* A round of n vectors, while something else is done. */
#define ROUND(n, s, r)                                                                             \
    do {                                                                                           \
        const vec rk_ = round_key(key, r);                                                         \
        EACH_UP_TO_8(n, (s)[i] = v_enc((s)[i], rk_));                                                      \
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

/* Counters are kept with their last word as a number of this CPU; this shuffle turns it over. */
#define COUNTER_ORDER _mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)

/* The next n vectors of counters, whitened. */
EVC_INLINE void counters(const struct key *key, vec *s, vec *count, unsigned n)
{
    const vec order = v_all(COUNTER_ORDER), stride = v_all(_mm_set_epi32(LANES, 0, 0, 0));
    const vec first = round_key(key, 0);

    EACH_UP_TO_8(n, s[i] = v_xor(v_shuffle8(*count, order), first), *count = v_add32(*count, stride));
}

/* ---- Groups ------------------------------------------------------------------------------------ */

/* What is under way: the counters of the next vectors, the byte-reversed ciphertext of the group before, not yet
 * hashed, and the hash of all before that. */
struct flow {
    vec count, r[GROUP];
    __m128i y;
};

/* The end of a message. */
struct end {
    vec j0;           /* the last block's counter is J_0: this in its last word */
    vec lengths;      /* byte-reversed, in the last place */
    struct part text; /* of the last vector */
    vec mask;         /* result: E(J_0), byte-reversed, in the last place */
};

/* A vector of text at `at`: s after all rounds but the last becomes ciphertext, byte-reversed. */
EVC_INLINE vec text_vector(vec s, vec last, const uint8_t *in, uint8_t *out, int sealing)
{
    const vec text = v_load(in), x = v_enc_last(s, v_xor(last, text));

    v_store(out, x);
    return v_reverse(sealing ? x : text);
}

EVC_INLINE vec part_vector(vec s, vec last, struct part part, const uint8_t *in, uint8_t *out,
                           int sealing)
{
    const vec text = v_load_text(in, part), x = v_enc_last(s, v_xor(last, text));

    v_store_text(out, part, x);
    return v_reverse_text(part, sealing ? x : text, v_zero());
}

EVC_INLINE vec end_vector(vec s, vec last, struct end *end, const uint8_t *in, uint8_t *out,
                          int sealing)
{
    const vec text = v_load_text(in, end->text), x = v_enc_last(s, v_xor(last, text));

    v_store_text(out, end->text, x);
    end->mask = v_reverse_last(x);
    return v_reverse_text(end->text, sealing ? x : text, end->lengths);
}

/* GROUP vectors, while those before are hashed. end: NULL but for the last ones of a message. */
EVC_INLINE void crypt_group(const struct key *key, struct flow *f, struct product p, struct end *end,
                            const uint8_t *in, uint8_t *out, int sealing)
{
    const struct powers *h = &key->powers;
    vec s[GROUP], last;

    counters(key, s, &f->count, GROUP);
    if (end)
        s[GROUP - 1] = v_xor(s[GROUP - 1], end->j0);
    ROUND(GROUP, s, 1);
    ROUND(GROUP, s, 2);
    add_pair(&p, f->r[2], f->r[3], h, 1);
    ROUND(GROUP, s, 3);
    ROUND(GROUP, s, 4);
    add_pair(&p, f->r[4], f->r[5], h, 2);
    ROUND(GROUP, s, 5);
    ROUND(GROUP, s, 6);
    add_pair(&p, f->r[6], f->r[7], h, 3);
    ROUND(GROUP, s, 7);
    ROUND(GROUP, s, 8);
    add_pair(&p, v_xor(f->r[0], v_first(f->y)), f->r[1], h, 0);
    ROUND(GROUP, s, 9);
    LATE_ROUNDS(GROUP, s);
    f->y = reduce_sum(p);
    last = round_key(key, key->head.rounds);
    EACH_4(0, f->r[i] = text_vector(s[i], last, in + i * VEC_BYTES, out + i * VEC_BYTES, sealing));
    EACH_I(4, f->r[i] = text_vector(s[i], last, in + i * VEC_BYTES, out + i * VEC_BYTES, sealing));
    EACH_I(5, f->r[i] = text_vector(s[i], last, in + i * VEC_BYTES, out + i * VEC_BYTES, sealing));
    EACH_I(6, f->r[i] = text_vector(s[i], last, in + i * VEC_BYTES, out + i * VEC_BYTES, sealing));
    if (end)
        f->r[7] = end_vector(s[7], last, end, in + 7 * VEC_BYTES, out + 7 * VEC_BYTES, sealing);
    else
        f->r[7] = text_vector(s[7], last, in + 7 * VEC_BYTES, out + 7 * VEC_BYTES, sealing);
}

/* ---- Messages ------------------------------------------------------------------------------------ */

/* Where a buffer would begin if `bytes` more stood before it; what is there is not touched. */
EVC_INLINE uintptr_t before(const uint8_t *p, size_t bytes)
{
    return (uintptr_t)p - bytes;
}

/* Of a vector at `at`, with so many bytes missing from 0 on. */
EVC_INLINE size_t skipped(size_t bytes, size_t at)
{
    return bytes < at ? 0 : bytes - at < VEC_BYTES ? bytes - at : VEC_BYTES;
}

/* The first n vectors of a message, more than n / 2 of which are not missing: skip blocks are. end: as above. */
EVC_INLINE void crypt_head(const struct key *key, struct flow *f, struct end *end, unsigned n,
                           size_t skip, const uint8_t *in, uint8_t *out, int sealing)
{
    vec s[GROUP], last;

    counters(key, s, &f->count, n);
    if (end)
        s[n - 1] = v_xor(s[n - 1], end->j0);
    middle_rounds(key, s, n);
    last = round_key(key, key->head.rounds);
#define HEAD_PART(i) part_of(skipped(16 * skip, (i) * VEC_BYTES), VEC_BYTES)
#define HEAD_VECTOR(i)                                                                             \
    (end && (i) == n - 1 ? end_vector(s[i], last, end, in + (i) * VEC_BYTES,                       \
                                      out + (i) * VEC_BYTES, sealing)                              \
     : (i) < (n + 1) / 2 ? part_vector(s[i], last, HEAD_PART(i), in + (i) * VEC_BYTES,             \
                                       out + (i) * VEC_BYTES, sealing)                             \
                         : text_vector(s[i], last, in + (i) * VEC_BYTES, out + (i) * VEC_BYTES,    \
                                       sealing))
    EACH_UP_TO_8(n, f->r[GROUP - n + i] = HEAD_VECTOR(i));
}

/* The tag of a message whose last n vectors are not yet hashed, nor what p has. */
EVC_INLINE __m128i finish(const struct key *key, const struct flow *f, struct product p, vec mask,
                          unsigned n)
{
    const struct powers *h = &key->powers;

    if (n == 1)
        add_last(&p, f->r[7], h);
    else
        add_pair(&p, f->r[6], f->r[7], h, 3);
    if (n > 2)
        add_pair(&p, f->r[4], f->r[5], h, 2);
    if (n > 4) {
        add_pair(&p, f->r[2], f->r[3], h, 1);
        add_pair(&p, v_xor(f->r[0], v_first(f->y)), f->r[1], h, 0);
    }
    p.mi = v_xor3(p.mi, p.lo, p.hi);
    p.hi = v_xor(p.hi, mask);
    return reverse1(v_fold(reduce(p)));
}

/* Associated data of more than a vector: all but what is left for the last one. */
EVC_OUT_OF_LINE __m128i hash_long_aad(const struct key *key, const uint8_t *aad, size_t n_blocks)
{
    uint8_t y[16] = {0};

    hash_blocks(&key->powers, y, aad, n_blocks);
    return reverse1(load1(y));
}

/* Associated data as a sum of products, n_head: blocks of the message's first group. */
EVC_INLINE struct product hash_aad(const struct key *key, const uint8_t *aad, size_t aad_bytes,
                                   size_t n_head)
{
    const size_t n_blocks = (aad_bytes + 15) / 16, n_last = n_blocks < LANES ? n_blocks : LANES;
    const uint8_t *h = key->powers.power + sizeof key->powers.power - 16 * (n_head + n_last);
    struct product p = no_product();
    __m128i y = _mm_setzero_si128();

    if (n_blocks > LANES) {
        y = hash_long_aad(key, aad, n_blocks - LANES);
        aad += 16 * (n_blocks - LANES), aad_bytes -= 16 * (n_blocks - LANES);
    }
    if (n_blocks)
        add_product(&p, v_xor(v_reverse(v_load_text(aad, part_of(0, aad_bytes))), v_first(y)),
                    v_load(h));
    return p;
}

EVC_INLINE __m128i crypt_message(const struct key *key, const uint8_t *iv, const uint8_t *aad,
                                 size_t aad_bytes, const uint8_t *in, uint8_t *out,
                                 size_t len_bytes, int sealing)
{
    const size_t n_blocks = (len_bytes + 15) / 16 + 1; /* with the lengths */
    size_t n_groups = (n_blocks - 1) / BATCH;
    const size_t n_head = n_blocks - n_groups * BATCH; /* 1 to BATCH */
    const uint32_t j0 = evc_bswap32((uint32_t)n_blocks + 1) ^ evc_bswap32(1);
    const size_t wide = n_head <= LANES                ? 1
                        : n_head <= 2 * LANES          ? 2
                        : n_head <= 4 * LANES ? 4 : 8;
    const size_t skip = wide * LANES - n_head;
    const uint32_t iv2 = evc_load32_ne(iv + 8);
    struct flow f;
    struct end end;
    struct product p = hash_aad(key, aad, aad_bytes, n_head);

    f.count = v_add32(v_all(_mm_insert_epi32(
                          _mm_insert_epi32(_mm_loadl_epi64((const __m128i *)(const void *)iv), (int)iv2, 2),
                          (int)(2 - (uint32_t)skip), 3)),
                      v_counter_steps());
    f.y = _mm_setzero_si128();
    end.j0 = v_last(_mm_set_epi32((int)j0, 0, 0, 0));
    end.lengths = v_last(
        _mm_set_epi64x((long long)(8 * (uint64_t)aad_bytes), (long long)(8 * (uint64_t)len_bytes)));
    end.text = part_of(n_blocks > LANES ? 0 : 16 * skip,
                       VEC_BYTES - 16 - (16 * (n_blocks - 1) - len_bytes));
    in = (const uint8_t *)before(in, 16 * skip);
    out = (uint8_t *)before(out, 16 * skip);
#define HEAD(n)                                                                                    \
    do {                                                                                           \
        if (!n_groups) {                                                                           \
            crypt_head(key, &f, &end, n, skip, in, out, sealing);                                  \
            return finish(key, &f, p, end.mask, n);                                                \
        }                                                                                          \
        crypt_head(key, &f, NULL, n, skip, in, out, sealing);                                      \
    } while (0)
    EACH_UP_TO_8(8, f.r[i] = v_zero());
    if (n_head <= LANES)
        HEAD(1);
    else if (n_head <= 2 * LANES)
        HEAD(2);
    else if (n_head <= 4 * LANES)
        HEAD(4);
    else
        HEAD(8);
    in += wide * VEC_BYTES - GROUP * VEC_BYTES, out += wide * VEC_BYTES - GROUP * VEC_BYTES;
    for (; n_groups > 1; n_groups--) {
        in += GROUP * VEC_BYTES, out += GROUP * VEC_BYTES;
        crypt_group(key, &f, p, NULL, in, out, sealing);
        p = no_product();
    }
    in += GROUP * VEC_BYTES, out += GROUP * VEC_BYTES;
    crypt_group(key, &f, p, &end, in, out, sealing);
    return finish(key, &f, no_product(), end.mask, 8);
}

/* ---- Slots --------------------------------------------------------------------------------------- */

static enum evc_status seal(const void *key, const uint8_t *iv, size_t iv_bytes, const uint8_t *aad,
                            size_t aad_bytes, const uint8_t *in, uint8_t *out, size_t len_bytes,
                            uint8_t *tag, size_t tag_bytes)
{
    const __m128i t = crypt_message(key, iv, aad, aad_bytes, in, out, len_bytes, 1);

    (void)iv_bytes;
    store_tag(tag, t, tag_bytes);
    return EVC_OK;
}

static enum evc_status open(const void *key, const uint8_t *iv, size_t iv_bytes, const uint8_t *aad,
                            size_t aad_bytes, const uint8_t *in, uint8_t *out, size_t len_bytes,
                            const uint8_t *tag, size_t tag_bytes)
{
    const __m128i t = crypt_message(key, iv, aad, aad_bytes, in, out, len_bytes, 0);

    (void)iv_bytes;
    return differs_from_tag(tag, t, tag_bytes) ? EVC_ERR_TAG : EVC_OK;
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;
    uint8_t h[16] = {0};

    evc_x86_expand(key->rk[0], key->head.rounds, user_key);
    encrypt(key, h, h, 1);
    powers_of(&key->powers, h);
    v_store(key->higher, reduce(multiply(v_load(key->powers.power + (GROUP - 1) * VEC_BYTES),
                                         v_all(load1(key->powers.power)))));
    evc_wipe(h, sizeof h);
}

static void hash(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;

    hash_blocks(&key->powers, y, in, n_blocks);
}

EVC_INLINE void ctr(const struct key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                    size_t n_blocks)
{
    __m128i count = _mm_shuffle_epi8(load1(counter), COUNTER_ORDER);
    vec counts = v_add32(v_all(count), v_counter_steps());

    count = _mm_add_epi32(count, _mm_set_epi32((int)n_blocks, 0, 0, 0));
    store1(counter, _mm_shuffle_epi8(count, COUNTER_ORDER));
    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        vec s[1];
        n = n_blocks < LANES ? n_blocks : LANES;
        counters(key, s, &counts, 1);
        middle_rounds(key, s, 1);
        part_vector(s[0], round_key(key, key->head.rounds), part_of(0, 16 * n), in, out, 1);
    }
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

/* SPDX-License-Identifier: MIT */
/*
 * AES modes with many blocks in flight, written once for every width of vector. Include it inside
 * the region of the kernel's ISA, after these have been defined:
 *
 *   vec, VEC_BLOCKS      a vector of 1, 2 or 4 blocks; block 0 is the lowest, and first in memory
 *   WIDE, XTS_WIDE, CHAINS_WIDE   vectors in flight: 4 or 8
 *   LONG_WIDE            vectors in flight of long messages in CTR and CBC decryption: 12; 0: WIDE
 *   LONG_CTR_FROM, LONG_CBC_FROM   vectors of such a message, at least 2 * LONG_WIDE; not
 *                                  asked for where that is 0
 *   XTS_WIDE_FROM        blocks from which XTS goes by XTS_WIDE vectors, not by 4 or by 8 blocks
 *   CTR_KEYS, CBC_KEYS, LONG_KEYS, XTS_KEYS, CHAINS_KEYS    how many round keys to keep in
 *                                                           registers there (CTR_KEYS:
 *                        and in ECB): with the first three, no compiler may put one on the stack
 *   SHORT_KEYS           the same for messages of 4 vectors at most in CTR and CBC decryption,
 *                        where VEC_BLOCKS is 4
 *   XTS_LAST_APART       whether the last step of XTS_WIDE vectors is written out once
 *                        more, without a next one
 *   XTS_REST_KEYS        the same for steps of XTS of fewer vectors
 *   CHAINS_PAIRS         whether chains go on by two blocks
 *   v_load, v_store      a whole vector, no alignment
 *   v_load_part, v_store_part   its first n_bytes, less than all, not 0; touches no other memory
 *   v_reaches_next_page, v_load_end, v_store_end   where VEC_BLOCKS is 4: whether a vector lies on
 *                        one page more than its first n_bytes; these alone, 1 to all, if not
 *   v_all, v_low, v_block    one block in all places; block 0; block n
 *   v_shift_in(iv, v)    blocks iv, v[0], v[1], ...: what stands before each block of v
 *   v_xor, v_xor3, v_add32, v_shuffle8   shuffle8 within each block
 *   v_enc, v_enc_last, v_dec, v_dec_last
 *   REGISTERS            XMM, YMM or ZMM of common/clear.h
 *   XTS_SPILL_BYTES, SHORT_XTS_SPILL_BYTES, CHAINS_SPILL_BYTES   of the stack that XTS
 *                                                                by XTS_WIDE vectors may
 *                        write, XTS by four, and chains; 0 for none
 *   v_clear_upper_halves()   before each return of a slot; nothing where a vector is one block
 *   v_keys, v_keys_of, v_key, v_key_last   round keys, in all places: from memory or in registers
 *   v_counter_steps()    0, 1, ... in the last words
 *   v_gather, v_scatter  one block from or to each of VEC_BLOCKS chains; _2: two; _iv: the IV
 *
 * For XTS also XTS_KEYS, XTS_REST_KEYS, and where XTS_WIDE is not 0 XTS_WIDE_FROM,
 * XTS_LAST_APART, XTS_SPILL_BYTES, SHORT_XTS_SPILL_BYTES and:
 *
 *   v_wide_tweaks_begin(base, next)   sets up what the tweaks of XTS_WIDE vectors come from;
 *                                     element 0 is their first
 *   v_wide_tweaks(next, t, is_last)   these tweaks; next goes on to those behind them, of the
 *                                     last ones only element 0
 *
 * For the tweaks of other steps x86_wide_tweaks.h or, where VEC_BLOCKS is 1 and XTS_WIDE is not 0:
 *
 *   v_tweaks_next(v), v_tweaks_after_next(v)   v * x, v * x^2 (IEEE 1619-2018 section 5.2)
 *
 * Every mode is: whiten, middle rounds, last round; what differs is what is folded into the first
 * and the last round key. Steps of WIDE vectors, then one of 4, one of 2, then single vectors,
 * the last of them in part. One or two blocks: x86_two_blocks.h.
 */
#ifndef EVC_AES_X86_WIDE_STEPS_H
#define EVC_AES_X86_WIDE_STEPS_H

#include "aes/x86_aesni_steps.h"

#define VEC_BYTES (16 * VEC_BLOCKS)
#define MAX_WIDE 12
#define MASKS (VEC_BLOCKS == 4) /* whether a part of a vector costs no more than all of it */
#define BY_TWO (VEC_BLOCKS > 1) /* whether rests of two vectors and more are a step: each
                                 * reads keys into all places */

/* ---- Spills ---------------------------------------------------------------------------------- */

/* In XTS and chains, states, keys and tweaks do not fit into the registers together, so compilers
 * put some of them on the stack. A slot calls such code in a frame of its own, and clears that
 * frame; `clear` of the kernel need not. */
#if XTS_SPILL_BYTES
#define clear_xts_spills() EVC_CLEAR_STACK(REGISTERS, XTS_SPILL_BYTES)
#else
#define clear_xts_spills() ((void)0)
#endif
#if SHORT_XTS_SPILL_BYTES
#define clear_short_xts_spills() EVC_CLEAR_STACK(REGISTERS, SHORT_XTS_SPILL_BYTES)
#else
#define clear_short_xts_spills() ((void)0)
#endif
#define clear_chains_spills() EVC_CLEAR_STACK(REGISTERS, CHAINS_SPILL_BYTES)

/* ---- Rounds ---------------------------------------------------------------------------------- */

typedef const struct evc_aes_fips197_key wide_key;

/* in_registers: so many of the first round keys should stay in registers, where there are
 * enough. */
EVC_INLINE v_keys key_schedule(wide_key *key, int decrypting, unsigned in_registers)
{
    return v_keys_of(decrypting ? key->dec : key->enc, key->head.rounds, in_registers);
}

#if MASKS
/* Whether the last vector of a text that has len_bytes, not 0, is whole or may be accessed by a
 * mask: not where a vector reaches into the next page, and the part does not. */
EVC_INLINE int may_use_mask(const uint8_t *in, const uint8_t *out, size_t len_bytes)
{
    const size_t n_bytes = len_bytes % VEC_BYTES, n_whole = len_bytes - n_bytes;

    return !n_bytes || !EVC_UNLIKELY(v_reaches_next_page(in + n_whole, n_bytes) ||
                                     v_reaches_next_page(out + n_whole, n_bytes));
}
#endif

/* Rounds 1 to rounds - 1 of n states that have been whitened with round key 0. */
#define ONE_ROUND(instruction, s, n, k, r)                                                         \
    do {                                                                                           \
        const vec rk_ = v_key(k, r);                                                               \
        EACH(n, (s)[i] = instruction((s)[i], rk_));                                                \
    } while (0)
#define MIDDLE_ROUNDS(instruction, s, n, k)                                                        \
    do {                                                                                           \
        ONE_ROUND(instruction, s, n, k, 1);                                                        \
        ONE_ROUND(instruction, s, n, k, 2);                                                        \
        ONE_ROUND(instruction, s, n, k, 3);                                                        \
        ONE_ROUND(instruction, s, n, k, 4);                                                        \
        ONE_ROUND(instruction, s, n, k, 5);                                                        \
        ONE_ROUND(instruction, s, n, k, 6);                                                        \
        ONE_ROUND(instruction, s, n, k, 7);                                                        \
        ONE_ROUND(instruction, s, n, k, 8);                                                        \
        ONE_ROUND(instruction, s, n, k, 9);                                                        \
        if ((k)->rounds > 10) {                                                                    \
            ONE_ROUND(instruction, s, n, k, 10);                                                   \
            ONE_ROUND(instruction, s, n, k, 11);                                                   \
            if ((k)->rounds > 12) {                                                                \
                ONE_ROUND(instruction, s, n, k, 12);                                               \
                ONE_ROUND(instruction, s, n, k, 13);                                               \
            }                                                                                      \
        }                                                                                          \
    } while (0)

EVC_INLINE void middle_encrypt(const v_keys *k, vec *s, unsigned n)
{
    MIDDLE_ROUNDS(v_enc, s, n, k);
}

EVC_INLINE void middle_decrypt(const v_keys *k, vec *s, unsigned n)
{
    MIDDLE_ROUNDS(v_dec, s, n, k);
}

#if LONG_WIDE
/* Long messages begin with an even number of steps of LONG_WIDE vectors: what is left
 * modulo 8 is as without. */
EVC_INLINE size_t long_steps(size_t n_vectors)
{
    return n_vectors / (2 * LONG_WIDE) * 2;
}
#endif

/* ---- Blocks (ECB) ---------------------------------------------------------------------------- */

EVC_INLINE void ecb_step(const v_keys *k, const uint8_t *in, uint8_t *out, unsigned n,
                         int decrypting)
{
    const vec first = v_key(k, 0), last = v_key_last(k);
    vec s[MAX_WIDE];

    EACH(n, s[i] = v_xor(v_load(in + i * VEC_BYTES), first));
    if (decrypting) {
        middle_decrypt(k, s, n);
        EACH(n, v_store(out + i * VEC_BYTES, v_dec_last(s[i], last)));
    } else {
        middle_encrypt(k, s, n);
        EACH(n, v_store(out + i * VEC_BYTES, v_enc_last(s[i], last)));
    }
}

/* n_blocks: not less than VEC_BLOCKS. Returns how many are left, fewer than that. */
EVC_INLINE size_t ecb_vectors(wide_key *key, const uint8_t *in, uint8_t *out, size_t n_blocks,
                              int decrypting)
{
    const v_keys k = key_schedule(key, decrypting, CTR_KEYS);

    for (; n_blocks >= WIDE * VEC_BLOCKS; n_blocks -= WIDE * VEC_BLOCKS) {
        ecb_step(&k, in, out, WIDE, decrypting);
        in += WIDE * VEC_BYTES, out += WIDE * VEC_BYTES;
    }
    for (; WIDE > 4 && n_blocks >= 4 * VEC_BLOCKS; n_blocks -= 4 * VEC_BLOCKS) {
        ecb_step(&k, in, out, 4, decrypting);
        in += 4 * VEC_BYTES, out += 4 * VEC_BYTES;
    }
    for (; n_blocks >= VEC_BLOCKS; in += VEC_BYTES, out += VEC_BYTES, n_blocks -= VEC_BLOCKS)
        ecb_step(&k, in, out, 1, decrypting);
    return n_blocks;
}

EVC_INLINE void ecb(wide_key *key, const uint8_t *in, uint8_t *out, size_t n_blocks, int decrypting)
{
    const size_t n_left = n_blocks < VEC_BLOCKS ? n_blocks
                                                : ecb_vectors(key, in, out, n_blocks, decrypting);

    for (size_t at = 16 * (n_blocks - n_left); at < 16 * n_blocks; at += 16) {
        if (decrypting)
            evc_x86_decrypt_1(key, in + at, out + at);
        else
            evc_x86_encrypt_1(key, in + at, out + at);
    }
}

EVC_OUT_OF_LINE void ecb_encrypt(wide_key *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    ecb(key, in, out, n_blocks, 0);
}

EVC_OUT_OF_LINE void ecb_decrypt(wide_key *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    ecb(key, in, out, n_blocks, 1);
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    if (n_blocks == 1) { /* of tweaks and hash keys */
        evc_x86_encrypt_1(key, in, out);
        return;
    }
    ecb_encrypt(key, in, out, n_blocks);
    v_clear_upper_halves();
}

static void decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    if (n_blocks == 1) { /* of tweaks and hash keys */
        evc_x86_decrypt_1(key, in, out);
        return;
    }
    ecb_decrypt(key, in, out, n_blocks);
    v_clear_upper_halves();
}

/* ---- CTR ------------------------------------------------------------------------------------- */

/* le: a constant, 1 for counters in the first words, little-endian; else they are in the last ones,
 * big-endian, and `count` has them in the order of the CPU. */
EVC_INLINE void ctr_counters(vec *s, vec *count, vec first, unsigned n, int le)
{
    const vec stride = v_all(le ? _mm_set_epi32(0, 0, 0, VEC_BLOCKS)
                                : _mm_set_epi32(VEC_BLOCKS, 0, 0, 0));

    if (le) {
        EACH(n, s[i] = v_xor(*count, first), *count = v_add32(*count, stride));
    } else {
        const vec order = v_all(COUNTER_ORDER);
        EACH(n, s[i] = v_xor(v_shuffle8(*count, order), first), *count = v_add32(*count, stride));
    }
}

EVC_INLINE void ctr_step(const v_keys *k, vec *count, const uint8_t *in, uint8_t *out, unsigned n,
                         int le)
{
    const vec first = v_key(k, 0), last = v_key_last(k);
    vec s[MAX_WIDE];

    ctr_counters(s, count, first, n, le);
    middle_encrypt(k, s, n);
    EACH(n, v_store(out + i * VEC_BYTES,
                    v_enc_last(s[i], v_xor(last, v_load(in + i * VEC_BYTES)))));
}

/* n_bytes: 1 to VEC_BYTES - 1 */
EVC_INLINE void ctr_part(const v_keys *k, vec count, const uint8_t *in, uint8_t *out,
                         size_t n_bytes, int le)
{
    const vec first = v_key(k, 0), last = v_key_last(k);
    vec s[MAX_WIDE];

    ctr_counters(s, &count, first, 1, le);
    middle_encrypt(k, s, 1);
    v_store_part(out, v_enc_last(s[0], v_xor(last, v_load_part(in, n_bytes))), n_bytes);
}

/* A counter in memory, in all places, as ctr_counters has it. */
EVC_INLINE vec ctr_first_count(const uint8_t counter[16], int le)
{
    const vec count = v_all(evc_x86_load(counter));

    return le ? count : v_shuffle8(count, v_all(COUNTER_ORDER));
}

/* 0, 1, ... where the counters are. */
EVC_INLINE vec ctr_count_steps(int le)
{
    const vec last_to_first = v_all(_mm_set_epi32(-1, -1, -1, 0x0f0e0d0c));

    return le ? v_shuffle8(v_counter_steps(), last_to_first) : v_counter_steps();
}

/* Writes the counter behind len_bytes bytes. */
EVC_INLINE void ctr_store_next(uint8_t counter[16], vec count, size_t len_bytes, int le)
{
    const __m128i n_begun = _mm_cvtsi32_si128((int)((len_bytes + 15) / 16));

    if (le)
        evc_x86_store(counter, _mm_add_epi32(v_low(count), n_begun));
    else
        evc_x86_store(counter,
                      _mm_shuffle_epi8(_mm_add_epi32(v_low(count), _mm_slli_si128(n_begun, 12)),
                                       COUNTER_ORDER));
}

EVC_INLINE void ctr_of(wide_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                       size_t len_bytes, int le)
{
    const v_keys k = key_schedule(key, 0, CTR_KEYS);
    vec count = ctr_first_count(counter, le);

    ctr_store_next(counter, count, len_bytes, le);
    count = v_add32(count, ctr_count_steps(le));
    for (; len_bytes >= WIDE * VEC_BYTES; len_bytes -= WIDE * VEC_BYTES) {
        ctr_step(&k, &count, in, out, WIDE, le);
        in += WIDE * VEC_BYTES, out += WIDE * VEC_BYTES;
    }
    for (; WIDE > 4 && len_bytes >= 4 * VEC_BYTES; len_bytes -= 4 * VEC_BYTES) {
        ctr_step(&k, &count, in, out, 4, le);
        in += 4 * VEC_BYTES, out += 4 * VEC_BYTES;
    }
    if (BY_TWO && len_bytes >= 2 * VEC_BYTES) {
        ctr_step(&k, &count, in, out, 2, le);
        in += 2 * VEC_BYTES, out += 2 * VEC_BYTES, len_bytes -= 2 * VEC_BYTES;
    }
    for (; len_bytes >= VEC_BYTES; in += VEC_BYTES, out += VEC_BYTES, len_bytes -= VEC_BYTES)
        ctr_step(&k, &count, in, out, 1, le);
    if (len_bytes)
        ctr_part(&k, count, in, out, len_bytes, le);
}

EVC_OUT_OF_LINE void ctr(wide_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                         size_t len_bytes)
{
    ctr_of(key, counter, in, out, len_bytes, 0);
}

EVC_OUT_OF_LINE void ctr_le(wide_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                            size_t len_bytes)
{
    ctr_of(key, counter, in, out, len_bytes, 1);
}

#if MASKS
/* n - 1 whole vectors, and a last one of n_bytes: 1 to VEC_BYTES. */
EVC_INLINE void ctr_end(const v_keys *k, vec count, const uint8_t *in, uint8_t *out, unsigned n,
                        size_t n_bytes)
{
    const vec first = v_key(k, 0), last = v_key_last(k);
    vec s[MAX_WIDE];

    ctr_counters(s, &count, first, n, 0);
    middle_encrypt(k, s, n);
    EACH(n, const uint8_t *from = in + i * VEC_BYTES; uint8_t *to = out + i * VEC_BYTES;
         const vec text = i + 1 < n ? v_load(from) : v_load_end(from, n_bytes);
         s[i] = v_enc_last(s[i], v_xor(last, text));
         if (i + 1 < n) v_store(to, s[i]));
    v_store_end(out + (n - 1) * VEC_BYTES, s[n - 1], n_bytes);
}

/* len_bytes: 1 to 4 * VEC_BYTES, may_use_mask. All vectors are one step. Inline, so that the slot
 * ends with one VZEROUPPER. */
EVC_INLINE void ctr_short(wide_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                          size_t len_bytes)
{
    const v_keys k = key_schedule(key, 0, SHORT_KEYS);
    vec count = ctr_first_count(counter, 0);

    ctr_store_next(counter, count, len_bytes, 0);
    count = v_add32(count, v_counter_steps());
    if (len_bytes <= VEC_BYTES)
        ctr_end(&k, count, in, out, 1, len_bytes);
    else if (len_bytes <= 2 * VEC_BYTES)
        ctr_end(&k, count, in, out, 2, len_bytes - VEC_BYTES);
    else if (len_bytes <= 3 * VEC_BYTES)
        ctr_end(&k, count, in, out, 3, len_bytes - 2 * VEC_BYTES);
    else
        ctr_end(&k, count, in, out, 4, len_bytes - 3 * VEC_BYTES);
}
#endif

#if LONG_WIDE
#if VEC_BLOCKS == 4
EVC_INLINE void ctr_long_steps(wide_key *key, const uint8_t counter[16], const uint8_t *in,
                               uint8_t *out, size_t n_bytes, int le)
{
    const v_keys k = key_schedule(key, 0, LONG_KEYS);
    vec count = v_add32(ctr_first_count(counter, le), ctr_count_steps(le));

    for (size_t at = 0; at < n_bytes; at += LONG_WIDE * VEC_BYTES)
        ctr_step(&k, &count, in + at, out + at, LONG_WIDE, le);
}
#else
EVC_INLINE uint32_t ctr_word(uint32_t number, int le)
{
    return le ? number : evc_bswap32(number);
}

/* The counters lie in memory, and only one word of each changes, since the units for words are idle
 * while those for vectors are not. They are written one step before they are read: a load of a
 * vector waits for stores of parts of it. The first round key is added to vectors and not to words,
 * and each step loads the keys: so none is on the stack. */
EVC_INLINE void ctr_long_steps(wide_key *key, const uint8_t counter[16], const uint8_t *in,
                               uint8_t *out, size_t n_bytes, int le)
{
    const v_keys k = key_schedule(key, 0, LONG_KEYS);
    const size_t word = le ? 0 : 3;
    uint32_t number = le ? evc_load32_le(counter) : evc_load32_be(counter + 12);
    vec count = v_add32(ctr_first_count(counter, le), ctr_count_steps(le));
    vec s[MAX_WIDE], counters[LONG_WIDE];

    ctr_counters(counters, &count, v_xor(count, count), LONG_WIDE, le);
    for (size_t at = 0; at < n_bytes; at += LONG_WIDE * VEC_BYTES) {
        const vec first = v_key(&k, 0);
        number += LONG_WIDE * VEC_BLOCKS;
        EACH(LONG_WIDE, volatile uint32_t *next = (volatile uint32_t *)&counters[i];
             s[i] = v_xor(counters[i], first);
             next[word] = ctr_word(number + VEC_BLOCKS * i, le);
             if (VEC_BLOCKS == 2) next[4 + word] = ctr_word(number + VEC_BLOCKS * i + 1, le));
        middle_encrypt(&k, s, LONG_WIDE);
        const vec last = v_key_last(&k);
        EACH(LONG_WIDE, const vec text = v_load(in + at + i * VEC_BYTES);
             v_store(out + at + i * VEC_BYTES, v_enc_last(s[i], v_xor(last, text))));
    }
}
#endif

/* Steps of LONG_WIDE vectors, and the rest. */
EVC_OUT_OF_LINE void ctr_long(wide_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                              size_t len_bytes)
{
    const size_t n_bytes = LONG_WIDE * VEC_BYTES * long_steps(len_bytes / VEC_BYTES);
    const uint32_t number = evc_load32_be(counter + 12) + (uint32_t)(n_bytes / 16);

    ctr_long_steps(key, counter, in, out, n_bytes, 0);
    /* Whole, as it is loaded. */
    evc_x86_store(counter, _mm_insert_epi32(evc_x86_load(counter), (int)evc_bswap32(number), 3));
    ctr(key, counter, in + n_bytes, out + n_bytes, len_bytes - n_bytes);
}

EVC_OUT_OF_LINE void ctr_long_le(wide_key *key, uint8_t counter[16], const uint8_t *in,
                                 uint8_t *out, size_t len_bytes)
{
    const size_t n_bytes = LONG_WIDE * VEC_BYTES * long_steps(len_bytes / VEC_BYTES);

    ctr_long_steps(key, counter, in, out, n_bytes, 1);
    evc_x86_store(counter,
                  _mm_add_epi32(evc_x86_load(counter), _mm_cvtsi32_si128((int)(n_bytes / 16))));
    ctr_le(key, counter, in + n_bytes, out + n_bytes, len_bytes - n_bytes);
}
#endif

static void ctr32(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
#if VEC_BLOCKS > 1
    if (len_bytes <= 16) {
        one_ctr(key, counter, in, out, len_bytes);
        return;
    }
    if (len_bytes <= 32) {
        two_ctr(key, counter, in, out, len_bytes);
        return;
    }
#endif
#if MASKS
    if (len_bytes < 4 * VEC_BYTES && may_use_mask(in, out, len_bytes))
        ctr_short(key, counter, in, out, len_bytes);
    else
#endif
#if LONG_WIDE
    if (len_bytes >= LONG_CTR_FROM * VEC_BYTES)
        ctr_long(key, counter, in, out, len_bytes);
    else
#endif
        ctr(key, counter, in, out, len_bytes);
    v_clear_upper_halves();
}

/* A few blocks have no way of their own: with GCM-SIV, setting up the key takes longer. */
static void ctr32_le(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                     size_t len_bytes)
{
#if LONG_WIDE
    if (len_bytes >= LONG_CTR_FROM * VEC_BYTES)
        ctr_long_le(key, counter, in, out, len_bytes);
    else
#endif
        ctr_le(key, counter, in, out, len_bytes);
    v_clear_upper_halves();
}

/* ---- CBC decryption -------------------------------------------------------------------------- */

/* The block before each is folded into its last round key. Where out is in, vector i - 1 must
 * still be the ciphertext when vector i is finished: so the last is stored first. */
#define CBC_BEFORE(i) \
    ((i) == 0 ? v_shift_in(before, v_load(in)) : v_load(in + (i) * VEC_BYTES - 16))
#define CBC_FINISH(i)                                                                              \
    v_store(out + (i) * VEC_BYTES, v_dec_last(s[i], v_xor(last, CBC_BEFORE(i))))

EVC_INLINE __m128i cbc_step(const v_keys *k, __m128i iv, const uint8_t *in, uint8_t *out,
                            unsigned n)
{
    const vec first = v_key(k, 0), last = v_key_last(k);
    const __m128i before = iv;
    vec s[MAX_WIDE];

    EACH(n, s[i] = v_xor(v_load(in + i * VEC_BYTES), first));
    middle_decrypt(k, s, n);
    iv = evc_x86_load(in + n * VEC_BYTES - 16);
    EACH(n, if (n - 1 - i > 0) CBC_FINISH(n - 1 - i));
    CBC_FINISH(0);
    return iv;
}

/* n_bytes: 16 to VEC_BYTES - 16, whole blocks */
EVC_INLINE __m128i cbc_part(const v_keys *k, __m128i iv, const uint8_t *in, uint8_t *out,
                            size_t n_bytes)
{
    const vec first = v_key(k, 0), last = v_key_last(k);
    const vec cipher = v_load_part(in, n_bytes);
    const vec before = v_shift_in(iv, cipher);
    vec s[MAX_WIDE];

    s[0] = v_xor(cipher, first);
    iv = evc_x86_load(in + n_bytes - 16);
    middle_decrypt(k, s, 1);
    v_store_part(out, v_dec_last(s[0], v_xor(last, before)), n_bytes);
    return iv;
}

EVC_OUT_OF_LINE void cbc(wide_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                         size_t n_blocks)
{
    const v_keys k = key_schedule(key, 1, CBC_KEYS);
    __m128i x = evc_x86_load(iv);

    for (; n_blocks >= WIDE * VEC_BLOCKS; n_blocks -= WIDE * VEC_BLOCKS) {
        x = cbc_step(&k, x, in, out, WIDE);
        in += WIDE * VEC_BYTES, out += WIDE * VEC_BYTES;
    }
    for (; WIDE > 4 && n_blocks >= 4 * VEC_BLOCKS; n_blocks -= 4 * VEC_BLOCKS) {
        x = cbc_step(&k, x, in, out, 4);
        in += 4 * VEC_BYTES, out += 4 * VEC_BYTES;
    }
    if (BY_TWO && n_blocks >= 2 * VEC_BLOCKS) {
        x = cbc_step(&k, x, in, out, 2);
        in += 2 * VEC_BYTES, out += 2 * VEC_BYTES, n_blocks -= 2 * VEC_BLOCKS;
    }
    for (; n_blocks >= VEC_BLOCKS; in += VEC_BYTES, out += VEC_BYTES, n_blocks -= VEC_BLOCKS)
        x = cbc_step(&k, x, in, out, 1);
    if (VEC_BLOCKS > 1 && n_blocks)
        x = cbc_part(&k, x, in, out, 16 * n_blocks);
    evc_x86_store(iv, x);
}

#if MASKS
/* n - 1 whole vectors, and a last one of n_bytes: 16 to VEC_BYTES, whole blocks. The last is stored
 * first, as in cbc_step. */
EVC_INLINE __m128i cbc_end(const v_keys *k, __m128i iv, const uint8_t *in, uint8_t *out,
                           unsigned n, size_t n_bytes)
{
    const vec first = v_key(k, 0), last = v_key_last(k);
    const uint8_t *in_last = in + (n - 1) * VEC_BYTES;
    const __m128i before = iv;
    const vec cipher = v_load_end(in_last, n_bytes);
    const vec before_last = v_shift_in(n > 1 ? evc_x86_load(in_last - 16) : iv, cipher);
    vec s[MAX_WIDE];

    EACH(n, s[i] = v_xor(i + 1 < n ? v_load(in + i * VEC_BYTES) : cipher, first));
    iv = evc_x86_load(in_last + n_bytes - 16);
    middle_decrypt(k, s, n);
    v_store_end(out + (n - 1) * VEC_BYTES, v_dec_last(s[n - 1], v_xor(last, before_last)),
                  n_bytes);
    EACH(n, if (i + 1 < n && n - 2 - i > 0) CBC_FINISH(n - 2 - i));
    if (n > 1)
        CBC_FINISH(0);
    return iv;
}

/* n_blocks: 1 to 4 * VEC_BLOCKS, may_use_mask. */
EVC_INLINE void cbc_short(wide_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                          size_t n_blocks)
{
    const v_keys k = key_schedule(key, 1, SHORT_KEYS);
    __m128i x = evc_x86_load(iv);

    if (n_blocks <= VEC_BLOCKS)
        x = cbc_end(&k, x, in, out, 1, 16 * n_blocks);
    else if (n_blocks <= 2 * VEC_BLOCKS)
        x = cbc_end(&k, x, in, out, 2, 16 * n_blocks - VEC_BYTES);
    else if (n_blocks <= 3 * VEC_BLOCKS)
        x = cbc_end(&k, x, in, out, 3, 16 * n_blocks - 2 * VEC_BYTES);
    else
        x = cbc_end(&k, x, in, out, 4, 16 * n_blocks - 3 * VEC_BYTES);
    evc_x86_store(iv, x);
}
#endif

#if LONG_WIDE
/* Steps of LONG_WIDE vectors, and the rest. */
EVC_OUT_OF_LINE void cbc_long(wide_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                              size_t n_blocks)
{
    const v_keys k = key_schedule(key, 1, LONG_KEYS);
    size_t n_left = n_blocks;
    __m128i x = evc_x86_load(iv);

    for (size_t n = long_steps(n_blocks / VEC_BLOCKS); n; n--, n_left -= LONG_WIDE * VEC_BLOCKS) {
        x = cbc_step(&k, x, in, out, LONG_WIDE);
        in += LONG_WIDE * VEC_BYTES, out += LONG_WIDE * VEC_BYTES;
    }
    evc_x86_store(iv, x);
    cbc(key, iv, in, out, n_left);
}
#endif

static void cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
#if VEC_BLOCKS > 1
    if (n_blocks == 1) {
        one_cbc_decrypt(key, iv, in, out);
        return;
    }
    if (n_blocks == 2) {
        two_cbc_decrypt(key, iv, in, out);
        return;
    }
#endif
#if MASKS
    if (n_blocks && n_blocks < 4 * VEC_BLOCKS && may_use_mask(in, out, 16 * n_blocks))
        cbc_short(key, iv, in, out, n_blocks);
    else
#endif
#if LONG_WIDE
    if (n_blocks >= LONG_CBC_FROM * VEC_BLOCKS)
        cbc_long(key, iv, in, out, n_blocks);
    else
#endif
        cbc(key, iv, in, out, n_blocks);
    v_clear_upper_halves();
}

/* ---- XTS ------------------------------------------------------------------------------------- */

#ifdef XTS_STEP
#define XTS_WHITEN(text, t, first) v_xor3(t, first, text)
#else
#define XTS_WHITEN(text, t, first) v_xor(text, v_xor(t, first))
#endif

EVC_INLINE void xts_step(const v_keys *k, const vec *t, const uint8_t *in, uint8_t *out, unsigned n,
                         int decrypting)
{
    const vec first = v_key(k, 0), last = v_key_last(k);
    vec s[MAX_WIDE];

    EACH(n, s[i] = XTS_WHITEN(v_load(in + i * VEC_BYTES), t[i], first));
    if (decrypting) {
        middle_decrypt(k, s, n);
        EACH(n, v_store(out + i * VEC_BYTES, v_dec_last(s[i], v_xor(t[i], last))));
    } else {
        middle_encrypt(k, s, n);
        EACH(n, v_store(out + i * VEC_BYTES, v_enc_last(s[i], v_xor(t[i], last))));
    }
}

#if XTS_WIDE
/* n_blocks: a multiple of XTS_WIDE * VEC_BLOCKS, not 0. tweak becomes the next one. */
EVC_INLINE void xts_wide(wide_key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                         size_t n_blocks, int decrypting)
{
    const v_keys k = key_schedule(key, decrypting, XTS_KEYS);
    vec next[XTS_WIDE], t[MAX_WIDE];

    v_wide_tweaks_begin(evc_x86_load(tweak), next);
    for (; n_blocks > (XTS_LAST_APART ? XTS_WIDE * VEC_BLOCKS : 0);
         n_blocks -= XTS_WIDE * VEC_BLOCKS) {
        v_wide_tweaks(next, t, n_blocks == XTS_WIDE * VEC_BLOCKS);
        xts_step(&k, t, in, out, XTS_WIDE, decrypting);
        in += XTS_WIDE * VEC_BYTES, out += XTS_WIDE * VEC_BYTES;
    }
    if (XTS_LAST_APART) {
        v_wide_tweaks(next, t, 1);
        xts_step(&k, t, in, out, XTS_WIDE, decrypting);
    }
    evc_x86_store(tweak, v_low(next[0]));
}

/* Not inlined: every vector register is taken. */
EVC_OUT_OF_LINE void xts_wide_encrypt(wide_key *key, uint8_t tweak[16], const uint8_t *in,
                                      uint8_t *out, size_t n_blocks)
{
    xts_wide(key, tweak, in, out, n_blocks, 0);
}

EVC_OUT_OF_LINE void xts_wide_decrypt(wide_key *key, uint8_t tweak[16], const uint8_t *in,
                                      uint8_t *out, size_t n_blocks)
{
    xts_wide(key, tweak, in, out, n_blocks, 1);
}
#endif

#ifdef XTS_STEP
/* n_bytes: 16 to VEC_BYTES - 16, whole blocks */
EVC_INLINE void xts_part(const v_keys *k, vec t, const uint8_t *in, uint8_t *out, size_t n_bytes,
                         int decrypting)
{
    const vec first = v_key(k, 0), last = v_key_last(k);
    vec s[MAX_WIDE];

    s[0] = v_xor(v_load_part(in, n_bytes), v_xor(t, first));
    if (decrypting) {
        middle_decrypt(k, s, 1);
        v_store_part(out, v_dec_last(s[0], v_xor(t, last)), n_bytes);
    } else {
        middle_encrypt(k, s, 1);
        v_store_part(out, v_enc_last(s[0], v_xor(t, last)), n_bytes);
    }
}

/*
 * Steps of 8 blocks, whose tweaks are known before the step, and so are those of a rest. Cores
 * finish what is oldest first: of wide steps all vectors end together, and the encryption of the
 * next message's tweak waits until then. Of narrow ones, which overlap, fewer and fewer are under
 * way at the end, and it runs beside them.
 */
EVC_INLINE __m128i xts_rest(const v_keys *k, __m128i base, const uint8_t *in, uint8_t *out,
                            size_t n_blocks, int decrypting)
{
    vec t[XTS_STEP];

    v_tweaks_begin(base, t);
    for (; n_blocks >= 8; n_blocks -= 8) {
        xts_step(k, t, in, out, XTS_STEP, decrypting);
        EACH(XTS_STEP, t[i] = v_tweaks_after(t[i], 1));
        in += 128, out += 128;
    }
    if (XTS_STEP > 2 && n_blocks >= 2 * VEC_BLOCKS) {
        xts_step(k, t, in, out, 2, decrypting);
        EACH(2, t[i] = t[XTS_STEP - 2 + i]);
        in += 2 * VEC_BYTES, out += 2 * VEC_BYTES, n_blocks -= 2 * VEC_BLOCKS;
    }
    if (n_blocks >= VEC_BLOCKS) {
        xts_step(k, t, in, out, 1, decrypting);
        t[0] = t[1];
        in += VEC_BYTES, out += VEC_BYTES, n_blocks -= VEC_BLOCKS;
    }
    if (n_blocks)
        xts_part(k, t[0], in, out, 16 * n_blocks, decrypting);
    return v_block(t[0], n_blocks);
}
#else
EVC_INLINE __m128i xts_rest(const v_keys *k, __m128i base, const uint8_t *in, uint8_t *out,
                            size_t n_blocks, int decrypting)
{
    vec t[MAX_WIDE];

    t[0] = base;
    for (; XTS_WIDE > 4 && n_blocks >= 4 * VEC_BLOCKS; n_blocks -= 4 * VEC_BLOCKS) {
        t[1] = v_tweaks_next(t[0]);
        t[2] = v_tweaks_after_next(t[0]);
        t[3] = v_tweaks_after_next(t[1]);
        xts_step(k, t, in, out, 4, decrypting);
        t[0] = v_tweaks_after_next(t[2]);
        in += 4 * VEC_BYTES, out += 4 * VEC_BYTES;
    }
    for (; n_blocks >= VEC_BLOCKS; in += VEC_BYTES, out += VEC_BYTES, n_blocks -= VEC_BLOCKS) {
        xts_step(k, t, in, out, 1, decrypting);
        t[0] = v_tweaks_next(t[0]);
    }
    return t[0];
}
#endif

/*
 * Steps of fewer vectors are functions of their own where a vector has several blocks, so that
 * short messages need no registers for the wide steps. Where it has one, they stand in one function
 * with the choice.
 */
#if VEC_BLOCKS > 1
#define XTS_NARROW EVC_OUT_OF_LINE
#define XTS_CHOICE EVC_INLINE
#else
#define XTS_NARROW EVC_INLINE
#define XTS_CHOICE EVC_OUT_OF_LINE
#endif

/* The steps of fewer vectors; n_blocks: not 0. */
EVC_INLINE void xts_narrow(wide_key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                           size_t n_blocks, int decrypting)
{
    const v_keys k = key_schedule(key, decrypting, XTS_REST_KEYS);

    evc_x86_store(tweak, xts_rest(&k, evc_x86_load(tweak), in, out, n_blocks, decrypting));
}

XTS_NARROW void xts_narrow_encrypt(wide_key *key, uint8_t tweak[16], const uint8_t *in,
                                   uint8_t *out, size_t n_blocks)
{
    xts_narrow(key, tweak, in, out, n_blocks, 0);
}

XTS_NARROW void xts_narrow_decrypt(wide_key *key, uint8_t tweak[16], const uint8_t *in,
                                   uint8_t *out, size_t n_blocks)
{
    xts_narrow(key, tweak, in, out, n_blocks, 1);
}

/* n_blocks may be 0: of 17 to 31 bytes, which are decrypted by evc_x86_one_xts alone. */
EVC_INLINE void xts(wide_key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                    size_t n_blocks, int decrypting)
{
#if XTS_WIDE
    if (n_blocks >= XTS_WIDE_FROM) {
        const size_t n_wide = n_blocks - n_blocks % (XTS_WIDE * VEC_BLOCKS);
        (decrypting ? xts_wide_decrypt : xts_wide_encrypt)(key, tweak, in, out, n_wide);
        if (VEC_BLOCKS > 1)
            clear_xts_spills(); /* beside the steps that follow */
        in += 16 * n_wide, out += 16 * n_wide, n_blocks -= n_wide;
    }
#endif
    if (n_blocks)
        (decrypting ? xts_narrow_decrypt : xts_narrow_encrypt)(key, tweak, in, out, n_blocks);
}

XTS_CHOICE void xts_encrypt_all(wide_key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                                size_t n_blocks)
{
    xts(key, tweak, in, out, n_blocks, 0);
}

XTS_CHOICE void xts_decrypt_all(wide_key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                                size_t n_blocks)
{
    xts(key, tweak, in, out, n_blocks, 1);
}

EVC_INLINE void clear_after_xts(size_t n_blocks)
{
    if (VEC_BLOCKS == 1 && n_blocks >= XTS_WIDE_FROM)
        clear_xts_spills();
    else if (n_blocks >= 4 * VEC_BLOCKS)
        clear_short_xts_spills();
    v_clear_upper_halves();
}

static void xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
#if VEC_BLOCKS > 1
    if (n_blocks == 1)
        one_xts_encrypt(key, tweak, in, out);
    else if (n_blocks == 2)
        two_xts_encrypt(key, tweak, in, out);
#else
    if (n_blocks == 1)
        evc_x86_one_xts(key, tweak, in, out, 0);
#endif
    else {
        xts_encrypt_all(key, tweak, in, out, n_blocks);
        clear_after_xts(n_blocks);
    }
}

static void xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
#if VEC_BLOCKS > 1
    if (n_blocks == 1)
        one_xts_decrypt(key, tweak, in, out);
    else if (n_blocks == 2)
        two_xts_decrypt(key, tweak, in, out);
#else
    if (n_blocks == 1)
        evc_x86_one_xts(key, tweak, in, out, 1);
#endif
    else {
        xts_decrypt_all(key, tweak, in, out, n_blocks);
        clear_after_xts(n_blocks);
    }
}

/* ---- Many chains ----------------------------------------------------------------------------- */

#define MAX_CHAINS (CHAINS_WIDE * VEC_BLOCKS)

/*
 * The blocks at byte offsets at to end - 1 of n x VEC_BLOCKS chains s. As in evc_x86_cbc_encrypt,
 * the last round key takes in the next plaintext; the ciphertext is the whitened state without it.
 * One vector's input and output stand side by side, so that the others' rounds hide them.
 */
EVC_INLINE void chains_blocks(const v_keys *k, vec *s, const struct evc_aes_chain *chains,
                              size_t at, size_t end, unsigned n, int storing)
{
    const vec first = v_key(k, 0), last = v_key_last(k), fold = v_xor(first, last);
    vec next;

    EACH(n, s[i] = v_xor3(s[i], v_gather(chains + i * VEC_BLOCKS, at), first));
    for (;; at += 16) {
        middle_encrypt(k, s, n);
        if (at + 16 == end)
            break;
        EACH(n, next = v_gather(chains + i * VEC_BLOCKS, at + 16);
             s[i] = v_enc_last(s[i], v_xor(fold, next));
             if (storing) v_scatter(chains + i * VEC_BLOCKS, at, v_xor3(s[i], next, first)));
    }
    EACH(n, s[i] = v_enc_last(s[i], last);
         if (storing) v_scatter(chains + i * VEC_BLOCKS, at, s[i]));
}

#if CHAINS_PAIRS
/* The same for an even number of blocks, two at a time. */
EVC_INLINE void chains_pairs(const v_keys *k, vec *s, const struct evc_aes_chain *chains,
                             size_t at, size_t end, unsigned n, int storing)
{
    const vec first = v_key(k, 0), last = v_key_last(k), fold = v_xor(first, last);
    vec t[MAX_WIDE]; /* the second plaintext, then the first ciphertext of a pair */
    vec next, second;

    EACH(n, v_gather_2(chains + i * VEC_BLOCKS, at, &next, &t[i]);
         s[i] = v_xor3(s[i], next, first));
    for (;; at += 32) {
        middle_encrypt(k, s, n);
        EACH(n, s[i] = v_enc_last(s[i], v_xor(fold, t[i])); t[i] = v_xor3(s[i], t[i], first));
        middle_encrypt(k, s, n);
        if (at + 32 == end)
            break;
        EACH(n, v_gather_2(chains + i * VEC_BLOCKS, at + 32, &next, &second);
             s[i] = v_enc_last(s[i], v_xor(fold, next));
             if (storing) v_scatter_2(chains + i * VEC_BLOCKS, at, t[i], v_xor3(s[i], next, first));
             t[i] = second);
    }
    EACH(n, s[i] = v_enc_last(s[i], last);
         if (storing) v_scatter_2(chains + i * VEC_BLOCKS, at, t[i], s[i]));
}
#endif

/* n_blocks (not 0) more of n x VEC_BLOCKS chains, none of them shorter. */
EVC_INLINE void chains_step(wide_key *key, struct evc_aes_chain *chains, size_t n_blocks,
                            unsigned n, int storing)
{
    const v_keys k = key_schedule(key, 0, CHAINS_KEYS);
    vec s[MAX_WIDE];

    EACH(n, s[i] = v_gather_iv(chains + i * VEC_BLOCKS));
#if CHAINS_PAIRS
    if (n_blocks % 2)
        chains_blocks(&k, s, chains, 0, 16, n, storing);
    if (n_blocks > 1)
        chains_pairs(&k, s, chains, 16 * (n_blocks % 2), 16 * n_blocks, n, storing);
#else
    chains_blocks(&k, s, chains, 0, 16 * n_blocks, n, storing);
#endif
    EACH(n, v_scatter_iv(chains + i * VEC_BLOCKS, s[i]));
    for (unsigned c = 0; c < n * VEC_BLOCKS; c++) {
        chains[c].in += 16 * n_blocks;
        if (storing)
            chains[c].out += 16 * n_blocks;
    }
}

/* Not inlined: their registers and the chains would share one frame. */
#define CHAINS_RUN(name, n)                                                                        \
    EVC_OUT_OF_LINE void name(wide_key *key, struct evc_aes_chain *chains, size_t n_blocks,        \
                              int storing)                                                         \
    {                                                                                              \
        chains_step(key, chains, n_blocks, n, storing);                                            \
    }
CHAINS_RUN(chains_run_wide, CHAINS_WIDE)
#if CHAINS_WIDE > 4
CHAINS_RUN(chains_run_4, 4)
#else
#define chains_run_4 chains_run_wide
#endif
CHAINS_RUN(chains_run_1, 1)

/* One chain is left: the rest of it is bound by latency, as chains_step would be, but costs less
 * work. */
EVC_INLINE void chains_finish(wide_key *key, const struct evc_aes_chain *c, int storing)
{
    if (storing)
        evc_x86_cbc_encrypt(key, c->msg->iv, c->in, c->out, evc_aes_blocks_left(c));
    else
        evc_x86_cbcmac(key, c->msg->iv, c->in, evc_aes_blocks_left(c));
}

/* Chains above the active repeat chain 0: they write the same bytes more than once. */
static int cbc_many(wide_key *key, const struct evc_msg *msgs, size_t n, int storing)
{
    struct evc_aes_queue q = {msgs, msgs + n, storing, 0};
    struct evc_aes_chain chains[MAX_CHAINS];
    size_t active = 0, run;

    for (;;) {
        run = evc_aes_chains_refill(chains, &active, MAX_CHAINS, &q);
        if (active <= 1)
            break;
        for (size_t c = active; c < MAX_CHAINS; c++)
            chains[c] = chains[0];
        if (CHAINS_WIDE > 4 && active > 4 * VEC_BLOCKS)
            chains_run_wide(key, chains, run, storing);
        else if (active > VEC_BLOCKS)
            chains_run_4(key, chains, run, storing);
        else
            chains_run_1(key, chains, run, storing);
    }
    if (active)
        chains_finish(key, chains, storing);
    clear_chains_spills();
    return q.others;
}

static void cbc_encrypt_many(const void *key, const struct evc_msg *msgs, size_t n)
{
    if (cbc_many(key, msgs, n, 1))
        cbc_many(key, msgs, n, 0);
    v_clear_upper_halves();
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

#define WIDE_FORWARD_SLOTS .set_key = evc_x86_set_key, .encrypt = encrypt, .ctr32 = ctr32
#define WIDE_SLOTS \
    WIDE_FORWARD_SLOTS, .decrypt = decrypt, .ctr32_le = ctr32_le, \
    .cbc_encrypt = evc_x86_cbc_encrypt, .cbc_decrypt = cbc_decrypt, .cbcmac = evc_x86_cbcmac, \
    .xts_encrypt = xts_encrypt, .xts_decrypt = xts_decrypt, .cbc_encrypt_many = cbc_encrypt_many, \
    .ccm_encrypt = evc_x86_ccm_encrypt, .ccm_decrypt = evc_x86_ccm_decrypt

#endif

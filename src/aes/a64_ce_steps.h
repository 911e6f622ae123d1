/* SPDX-License-Identifier: MIT */
/*
 * AES modes with the AES instructions of A64, written once for every number of blocks in flight.
 * Include it inside a region of A64_CE or more, after these have been defined:
 *
 *   WIDE        blocks in flight: 4, 5, 6 or 8
 *   XTS_WIDE    the same for XTS, where each block has its tweak in a register too
 *   CE_ASSEMBLY where ctr_wide and cbc_encrypt are the file's own
 *   CE_EOR3     where the region has SHA3, whose EOR3 is used
 *
 * AESE is AddRoundKey, ShiftRows, SubBytes: the key comes first, and the last round key is an xor
 * of its own. What a mode adds before the first round or after the last joins a round key. Each
 * pair of AESE and AESMC (AESD and AESIMC) stands together: most cores make one operation of it.
 *
 * Steps of WIDE blocks out of line, since they use registers that have to be saved; then
 * one of 4, of 2 and of 1.
 */
#ifndef EVC_AES_A64_CE_STEPS_H
#define EVC_AES_A64_CE_STEPS_H

#include "aes/a64_tweak.h"
#include "aes/chains.h"
#include "aes/fips197_key.h"
#include "common/a64_part.h"
#include "common/bytes.h"
#include "common/each.h"

typedef const struct evc_aes_fips197_key ce_key;
typedef uint8x16_t vec;

#define MAX_WIDE 12 /* the largest of common/each.h */

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* The round keys rk[0] to rk[rounds], in registers whatever their number is. */
typedef struct {
    vec first;       /* rk[0] */
    vec more[4];     /* rk[1] to rk[4]: two of them are used with 12 rounds, all with 14 */
    vec middle[8];   /* rk[rounds - 9] to rk[rounds - 2] */
    vec before_last; /* rk[rounds - 1] */
    vec last;        /* rk[rounds] */
    uint32_t rounds;
} ce_keys;

EVC_INLINE ce_keys keys_of(const uint8_t rk[][16], uint32_t rounds)
{
    const uint8_t(*end)[16] = rk + rounds;
    ce_keys k;

    k.first = vld1q_u8(rk[0]);
    EACH(4, k.more[i] = vld1q_u8(rk[1 + i]));
    EACH(8, k.middle[i] = vld1q_u8(end[i - 9]));
    k.before_last = vld1q_u8(end[-1]);
    k.last = vld1q_u8(end[0]);
    k.rounds = rounds;
    return k;
}

/* a ^ b ^ c, of which a is known last */
EVC_INLINE vec xor3(vec a, vec b, vec c)
{
#if defined(CE_EOR3)
    return veor3q_u8(a, b, c);
#else
    return veorq_u8(a, veorq_u8(b, c));
#endif
}

EVC_INLINE vec round_encrypt(vec x, vec key)
{
    return vaesmcq_u8(vaeseq_u8(x, key));
}

EVC_INLINE vec round_decrypt(vec x, vec key)
{
    return vaesimcq_u8(vaesdq_u8(x, key));
}

#define ONE_ROUND(round, s, n, key) EACH(n, (s)[i] = round((s)[i], key))
#define MIDDLE_ROUNDS(round, s, n, k)                 \
    do {                                              \
        if ((k)->rounds > 10) {                       \
            ONE_ROUND(round, s, n, (k)->more[0]);     \
            ONE_ROUND(round, s, n, (k)->more[1]);     \
            if ((k)->rounds > 12) {                   \
                ONE_ROUND(round, s, n, (k)->more[2]); \
                ONE_ROUND(round, s, n, (k)->more[3]); \
            }                                         \
        }                                             \
        ONE_ROUND(round, s, n, (k)->middle[0]);       \
        ONE_ROUND(round, s, n, (k)->middle[1]);       \
        ONE_ROUND(round, s, n, (k)->middle[2]);       \
        ONE_ROUND(round, s, n, (k)->middle[3]);       \
        ONE_ROUND(round, s, n, (k)->middle[4]);       \
        ONE_ROUND(round, s, n, (k)->middle[5]);       \
        ONE_ROUND(round, s, n, (k)->middle[6]);       \
        ONE_ROUND(round, s, n, (k)->middle[7]);       \
    } while (0)

/* Does the rounds of n states after their first one, but for the last round key. */
EVC_INLINE void rounds_encrypt(const ce_keys *k, vec *s, unsigned n)
{
    MIDDLE_ROUNDS(round_encrypt, s, n, k);
    EACH(n, s[i] = vaeseq_u8(s[i], k->before_last));
}

EVC_INLINE void rounds_decrypt(const ce_keys *k, vec *s, unsigned n)
{
    MIDDLE_ROUNDS(round_decrypt, s, n, k);
    EACH(n, s[i] = vaesdq_u8(s[i], k->before_last));
}

/* All rounds of n states, but for the last round key. */
EVC_INLINE void crypt(const ce_keys *k, vec *s, unsigned n, int decrypting)
{
    if (decrypting) {
        ONE_ROUND(round_decrypt, s, n, k->first);
        rounds_decrypt(k, s, n);
    } else {
        ONE_ROUND(round_encrypt, s, n, k->first);
        rounds_encrypt(k, s, n);
    }
}

EVC_INLINE ce_keys key_schedule(ce_key *key, int decrypting)
{
    return keys_of(decrypting ? key->dec : key->enc, key->head.rounds);
}

/* ---- Blocks (ECB) ---------------------------------------------------------------------------- */

EVC_INLINE void ecb_step(const ce_keys *k, const uint8_t *in, uint8_t *out, unsigned n,
                         int decrypting)
{
    vec s[MAX_WIDE];

    EACH(n, s[i] = vld1q_u8(in + 16 * i));
    crypt(k, s, n, decrypting);
    EACH(n, vst1q_u8(out + 16 * i, veorq_u8(s[i], k->last)));
}

/* n_blocks: a multiple of WIDE, not 0 */
EVC_INLINE void ecb_wide(ce_key *key, const uint8_t *in, uint8_t *out, size_t n_blocks,
                         int decrypting)
{
    const ce_keys k = key_schedule(key, decrypting);

    for (; n_blocks; n_blocks -= WIDE, in += 16 * WIDE, out += 16 * WIDE)
        ecb_step(&k, in, out, WIDE, decrypting);
}

EVC_OUT_OF_LINE void ecb_wide_encrypt(ce_key *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    ecb_wide(key, in, out, n_blocks, 0);
}

EVC_OUT_OF_LINE void ecb_wide_decrypt(ce_key *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    ecb_wide(key, in, out, n_blocks, 1);
}

EVC_INLINE void ecb(ce_key *key, const uint8_t *in, uint8_t *out, size_t n_blocks, int decrypting)
{
    const size_t n_wide = n_blocks - n_blocks % WIDE;
    ce_keys k;

    if (n_wide) {
        if (decrypting)
            ecb_wide_decrypt(key, in, out, n_wide);
        else
            ecb_wide_encrypt(key, in, out, n_wide);
        in += 16 * n_wide, out += 16 * n_wide, n_blocks -= n_wide;
    }
    if (!n_blocks)
        return;
    k = key_schedule(key, decrypting);
    if (n_blocks & 4) {
        ecb_step(&k, in, out, 4, decrypting);
        in += 64, out += 64;
    }
    if (n_blocks & 2) {
        ecb_step(&k, in, out, 2, decrypting);
        in += 32, out += 32;
    }
    if (n_blocks & 1)
        ecb_step(&k, in, out, 1, decrypting);
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    ecb(key, in, out, n_blocks, 0);
}

static void decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    ecb(key, in, out, n_blocks, 1);
}

/* ---- CTR ------------------------------------------------------------------------------------- */

/* A counter is kept with its words as numbers of this CPU. le: a constant, 1 where the first word,
 * little-endian, counts; else the last does, big-endian. */
EVC_INLINE uint32x4_t counter_of(vec block, int le)
{
    return vreinterpretq_u32_u8(le ? block : vrev32q_u8(block));
}

EVC_INLINE vec counter_block(uint32x4_t count, int le)
{
    const vec block = vreinterpretq_u8_u32(count);

    return le ? block : vrev32q_u8(block);
}

EVC_INLINE uint32x4_t counter_ahead(uint32_t n, int le)
{
    const uint32x4_t zero = vdupq_n_u32(0);

    return le ? vsetq_lane_u32(n, zero, 0) : vsetq_lane_u32(n, zero, 3);
}

/* One more. Hidden from the compiler, which would have a register for each
 * number of blocks ahead. */
EVC_INLINE uint32x4_t counter_next(uint32x4_t count, uint32x4_t one)
{
    count = vaddq_u32(count, one);
#if EVC_GNU_C
    __asm__("" : "+w"(count));
#endif
    return count;
}

/* Both are in registers here: else GCC loads one of them later, and not the pair. */
#if EVC_GNU_C
#define AT_ONCE(x, y) __asm__("" : "+w"(x), "+w"(y))
#else
#define AT_ONCE(x, y) (void)0
#endif

/* Two blocks after their rounds: their loads are of a pair, and so are their stores. */
EVC_INLINE void ctr_finish_pair(const ce_keys *k, const vec s[2], const uint8_t *in, uint8_t *out)
{
    vec even = vld1q_u8(in), odd = vld1q_u8(in + 16);

    AT_ONCE(even, odd);
    even = xor3(s[0], k->last, even);
    odd = xor3(s[1], k->last, odd);
    vst1q_u8(out, even);
    vst1q_u8(out + 16, odd);
}

EVC_INLINE void ctr_finish(const ce_keys *k, const vec *s, const uint8_t *in, uint8_t *out,
                           unsigned n)
{
    if (n > 1)
        EACH(n / 2, ctr_finish_pair(k, s + 2 * i, in + 32 * i, out + 32 * i));
    if (n % 2)
        vst1q_u8(out + 16 * (n - 1), xor3(s[n - 1], k->last, vld1q_u8(in + 16 * (n - 1))));
}

EVC_INLINE void ctr_step(const ce_keys *k, uint32x4_t *count, const uint8_t *in, uint8_t *out,
                         unsigned n, int le)
{
    const uint32x4_t one = counter_ahead(1, le);
    vec s[MAX_WIDE];

    EACH(n, s[i] = counter_block(*count, le), *count = counter_next(*count, one));
    crypt(k, s, n, 0);
    ctr_finish(k, s, in, out, n);
}

/* n_bytes: 1 to 15 */
EVC_INLINE void ctr_part(const ce_keys *k, uint32x4_t count, const uint8_t *in, uint8_t *out,
                         size_t n_bytes, int le)
{
    vec s[MAX_WIDE];

    s[0] = counter_block(count, le);
    crypt(k, s, 1, 0);
    evc_a64_store_part(out, xor3(s[0], k->last, evc_a64_load_part(in, n_bytes)), n_bytes);
}

/* counter: of the first block; not changed. len_bytes: a multiple of 16 * WIDE, not 0 */
EVC_INLINE void ctr_wide_of(ce_key *key, const uint8_t counter[16], const uint8_t *in, uint8_t *out,
                            size_t len_bytes, int le)
{
    const ce_keys k = key_schedule(key, 0);
    uint32x4_t count = counter_of(vld1q_u8(counter), le);

    for (; len_bytes; len_bytes -= 16 * WIDE, in += 16 * WIDE, out += 16 * WIDE)
        ctr_step(&k, &count, in, out, WIDE, le);
}

#if !defined(CE_ASSEMBLY)
EVC_OUT_OF_LINE void ctr_wide(ce_key *key, const uint8_t counter[16], const uint8_t *in,
                              uint8_t *out, size_t len_bytes)
{
    ctr_wide_of(key, counter, in, out, len_bytes, 0);
}
#endif

EVC_OUT_OF_LINE void ctr_wide_le(ce_key *key, const uint8_t counter[16], const uint8_t *in,
                                 uint8_t *out, size_t len_bytes)
{
    ctr_wide_of(key, counter, in, out, len_bytes, 1);
}

EVC_INLINE void ctr_of(ce_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                       size_t len_bytes, int le)
{
    const size_t n_wide = len_bytes - len_bytes % (16 * WIDE);
    uint32x4_t count;
    ce_keys k;

    if (n_wide && le)
        ctr_wide_le(key, counter, in, out, n_wide);
    else if (n_wide)
        ctr_wide(key, counter, in, out, n_wide);
    /* count is loaded here, not before: a counter from GHASH is a secret, and would be stored */
    count = counter_of(vld1q_u8(counter), le);
    vst1q_u8(counter,
             counter_block(vaddq_u32(count, counter_ahead((uint32_t)((len_bytes + 15) / 16), le)),
                           le));
    if (n_wide == len_bytes)
        return;
    count = vaddq_u32(count, counter_ahead((uint32_t)(n_wide / 16), le));
    in += n_wide, out += n_wide, len_bytes -= n_wide;
    k = key_schedule(key, 0);
    if (len_bytes & 64) {
        ctr_step(&k, &count, in, out, 4, le);
        in += 64, out += 64;
    }
    if (len_bytes & 32) {
        ctr_step(&k, &count, in, out, 2, le);
        in += 32, out += 32;
    }
    if (len_bytes & 16) {
        ctr_step(&k, &count, in, out, 1, le);
        in += 16, out += 16;
    }
    if (len_bytes & 15)
        ctr_part(&k, count, in, out, len_bytes & 15, le);
}

static void ctr32(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    ctr_of(key, counter, in, out, len_bytes, 0);
}

static void ctr32_le(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                     size_t len_bytes)
{
    ctr_of(key, counter, in, out, len_bytes, 1);
}

/* ---- CBC decryption -------------------------------------------------------------------------- */

/* The block before each is folded into its last round key. Where out is in, block i - 1 must still
 * be the ciphertext when block i is finished: so the last is stored first. */
#define CBC_FINISH(i, before) vst1q_u8(out + 16 * (i), xor3(s[i], k->last, before))

EVC_INLINE vec cbc_step(const ce_keys *k, vec iv, const uint8_t *in, uint8_t *out, unsigned n)
{
    vec s[MAX_WIDE], next_iv;

    EACH(n, s[i] = vld1q_u8(in + 16 * i));
    next_iv = s[n - 1];
    crypt(k, s, n, 1);
    EACH(n, if (n - 1 - i > 0) CBC_FINISH(n - 1 - i, vld1q_u8(in + 16 * (n - 1 - i) - 16)));
    CBC_FINISH(0, iv);
    return next_iv;
}

/* n_blocks: a multiple of WIDE, not 0 */
EVC_OUT_OF_LINE vec cbc_wide(ce_key *key, vec iv, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const ce_keys k = key_schedule(key, 1);

    for (; n_blocks; n_blocks -= WIDE, in += 16 * WIDE, out += 16 * WIDE)
        iv = cbc_step(&k, iv, in, out, WIDE);
    return iv;
}

static void cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    const size_t n_wide = n_blocks - n_blocks % WIDE;
    vec x = vld1q_u8(iv);
    ce_keys k;

    if (n_wide) {
        x = cbc_wide(key, x, in, out, n_wide);
        in += 16 * n_wide, out += 16 * n_wide, n_blocks -= n_wide;
    }
    if (n_blocks) {
        k = key_schedule(key, 1);
        if (n_blocks & 4) {
            x = cbc_step(&k, x, in, out, 4);
            in += 64, out += 64;
        }
        if (n_blocks & 2) {
            x = cbc_step(&k, x, in, out, 2);
            in += 32, out += 32;
        }
        if (n_blocks & 1)
            x = cbc_step(&k, x, in, out, 1);
    }
    vst1q_u8(iv, x);
}

/* ---- XTS ------------------------------------------------------------------------------------- */

/* Registers of XTS: the keys, with rk[0] ^ rk[rounds] for rk[0], and rk[rounds] as a number. A
 * block is whitened with its tweak ^ rk[rounds] on both ends. */
struct ce_xts {
    ce_keys k;
    struct evc_a64_tweak last;
};

EVC_INLINE struct ce_xts xts_keys(ce_key *key, int decrypting)
{
    struct ce_xts x = {.k = key_schedule(key, decrypting)};
    const uint8_t *last = decrypting ? key->dec[x.k.rounds] : key->enc[x.k.rounds];

    x.k.first = veorq_u8(x.k.first, x.k.last);
    x.last = evc_a64_load_tweak(last);
    return x;
}

EVC_INLINE struct evc_a64_tweak xts_step(const struct ce_xts *x, struct evc_a64_tweak t,
                                         const uint8_t *in, uint8_t *out, unsigned n,
                                         int decrypting)
{
    vec s[MAX_WIDE], w[MAX_WIDE];

    EACH(n, w[i] = evc_a64_block(t.lo ^ x->last.lo, t.hi ^ x->last.hi), t = evc_a64_next_tweak(t));
    EACH(n, s[i] = veorq_u8(vld1q_u8(in + 16 * i), w[i]));
    crypt(&x->k, s, n, decrypting);
    EACH(n, vst1q_u8(out + 16 * i, veorq_u8(s[i], w[i])));
    return t;
}

/* n_blocks: a multiple of XTS_WIDE, not 0. The tweak goes through memory of the caller: GCC 14
 * moves one that a function returns from registers of numbers to those of vectors by its stack. */
EVC_INLINE void xts_wide(ce_key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                         size_t n_blocks, int decrypting)
{
    const struct ce_xts x = xts_keys(key, decrypting);
    struct evc_a64_tweak t = evc_a64_load_tweak(tweak);

    for (; n_blocks; n_blocks -= XTS_WIDE, in += 16 * XTS_WIDE, out += 16 * XTS_WIDE)
        t = xts_step(&x, t, in, out, XTS_WIDE, decrypting);
    evc_a64_store_tweak(tweak, t);
}

EVC_OUT_OF_LINE void xts_wide_encrypt(ce_key *key, uint8_t tweak[16], const uint8_t *in,
                                      uint8_t *out, size_t n_blocks)
{
    xts_wide(key, tweak, in, out, n_blocks, 0);
}

EVC_OUT_OF_LINE void xts_wide_decrypt(ce_key *key, uint8_t tweak[16], const uint8_t *in,
                                      uint8_t *out, size_t n_blocks)
{
    xts_wide(key, tweak, in, out, n_blocks, 1);
}

EVC_INLINE void xts(ce_key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                    size_t n_blocks, int decrypting)
{
    const size_t n_wide = n_blocks - n_blocks % XTS_WIDE;
    struct evc_a64_tweak t;
    struct ce_xts x;

    if (n_wide) {
        if (decrypting)
            xts_wide_decrypt(key, tweak, in, out, n_wide);
        else
            xts_wide_encrypt(key, tweak, in, out, n_wide);
        in += 16 * n_wide, out += 16 * n_wide, n_blocks -= n_wide;
    }
    if (!n_blocks)
        return;
    t = evc_a64_load_tweak(tweak);
    x = xts_keys(key, decrypting);
    if (n_blocks & 4) {
        t = xts_step(&x, t, in, out, 4, decrypting);
        in += 64, out += 64;
    }
    if (n_blocks & 2) {
        t = xts_step(&x, t, in, out, 2, decrypting);
        in += 32, out += 32;
    }
    if (n_blocks & 1)
        t = xts_step(&x, t, in, out, 1, decrypting);
    evc_a64_store_tweak(tweak, t);
}

static void xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    xts(key, tweak, in, out, n_blocks, 0);
}

static void xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    xts(key, tweak, in, out, n_blocks, 1);
}

/* ---- One chain ------------------------------------------------------------------------------- */

/* The state between two blocks lacks rk[rounds]. The first AESE of a block brings that, rk[0] and
 * the plaintext in one: nothing but AES instructions is on the chain. */
EVC_INLINE vec chain_block(const ce_keys *k, vec fold, vec x, const uint8_t *in, uint8_t *out,
                           int storing)
{
    x = round_encrypt(x, veorq_u8(fold, vld1q_u8(in)));
    rounds_encrypt(k, &x, 1);
    if (storing)
        vst1q_u8(out, veorq_u8(x, k->last));
    return x;
}

/* rounds: head.rounds, a constant, so that there is no branch between blocks */
EVC_INLINE void chain_of(ce_key *key, uint32_t rounds, uint8_t iv[16], const uint8_t *in,
                         uint8_t *out, size_t n_blocks, int storing)
{
    const ce_keys k = keys_of(key->enc, rounds);
    const vec fold = veorq_u8(k.first, k.last);
    vec x = veorq_u8(vld1q_u8(iv), k.last);

    for (; n_blocks >= 4; n_blocks -= 4, in += 64) {
        x = chain_block(&k, fold, x, in, out, storing);
        x = chain_block(&k, fold, x, in + 16, storing ? out + 16 : out, storing);
        x = chain_block(&k, fold, x, in + 32, storing ? out + 32 : out, storing);
        x = chain_block(&k, fold, x, in + 48, storing ? out + 48 : out, storing);
        if (storing)
            out += 64;
    }
    for (; n_blocks; n_blocks--, in += 16) {
        x = chain_block(&k, fold, x, in, out, storing);
        if (storing)
            out += 16;
    }
    vst1q_u8(iv, veorq_u8(x, k.last));
}

/* out: NULL unless storing */
EVC_INLINE void chain(ce_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t n_blocks,
                      int storing)
{
    if (key->head.rounds == 10)
        chain_of(key, 10, iv, in, out, n_blocks, storing);
    else if (key->head.rounds == 12)
        chain_of(key, 12, iv, in, out, n_blocks, storing);
    else
        chain_of(key, 14, iv, in, out, n_blocks, storing);
}

#if !defined(CE_ASSEMBLY)
static void cbc_encrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    chain(key, iv, in, out, n_blocks, 1);
}
#endif

static void cbcmac(const void *key, uint8_t state[16], const uint8_t *in, size_t n_blocks)
{
    chain(key, state, in, NULL, n_blocks, 0);
}

/* ---- CCM ------------------------------------------------------------------------------------- */

/* The counter is in the upper half, as a number of this CPU; the next one takes its place. */
EVC_INLINE vec ccm_count(uint64x2_t *count)
{
    const vec block = vrev64q_u8(vreinterpretq_u8_u64(*count));

    *count = vaddq_u64(*count, vsetq_lane_u64(1, vdupq_n_u64(0), 1));
    return block;
}

/* s[0] is the chain, s[1] key stream: one waits while the other is in the unit. A block is
 * encrypted beside its own MAC, and decrypted beside that of the block before it. */
EVC_INLINE void ccm(ce_key *key, uint8_t counter[16], uint8_t chain[16], const uint8_t *in,
                    uint8_t *out, size_t n_blocks, int decrypting)
{
    const ce_keys k = key_schedule(key, 0);
    const vec fold = veorq_u8(k.first, k.last);
    uint64x2_t count = vreinterpretq_u64_u8(vrev64q_u8(vld1q_u8(counter)));
    vec s[2], text;

    if (!n_blocks)
        return;
    s[0] = veorq_u8(vld1q_u8(chain), k.last);
    if (decrypting) {
        s[1] = ccm_count(&count);
        crypt(&k, s + 1, 1, 0);
    }
    for (;; in += 16, out += 16) {
        text = vld1q_u8(in);
        if (decrypting) {
            text = xor3(s[1], k.last, text);
            vst1q_u8(out, text);
        }
        s[0] = round_encrypt(s[0], veorq_u8(fold, text));
        if (decrypting && --n_blocks == 0)
            break;
        s[1] = round_encrypt(ccm_count(&count), k.first);
        rounds_encrypt(&k, s, 2);
        if (!decrypting) {
            vst1q_u8(out, xor3(s[1], k.last, text));
            if (--n_blocks == 0)
                break;
        }
    }
    if (decrypting)
        rounds_encrypt(&k, s, 1);
    vst1q_u8(chain, veorq_u8(s[0], k.last));
    vst1q_u8(counter, vrev64q_u8(vreinterpretq_u8_u64(count)));
}

static void ccm_encrypt(const void *key, uint8_t counter[16], uint8_t chain[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    ccm(key, counter, chain, in, out, n_blocks, 0);
}

static void ccm_decrypt(const void *key, uint8_t counter[16], uint8_t chain[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    ccm(key, counter, chain, in, out, n_blocks, 1);
}

/* ---- Many chains ----------------------------------------------------------------------------- */

/* n_blocks (not 0) more of n chains, none of them shorter. As in chain_block, the
 * state lacks rk[rounds]. */
EVC_INLINE void chains_step(ce_key *key, struct evc_aes_chain *chains, size_t n_blocks, unsigned n,
                            int storing)
{
    const ce_keys k = key_schedule(key, 0);
    const vec fold = veorq_u8(k.first, k.last);
    vec s[MAX_WIDE];

    EACH(n, s[i] = veorq_u8(vld1q_u8(chains[i].msg->iv), k.last));
    for (size_t at = 0; at < 16 * n_blocks; at += 16) {
        EACH(n, s[i] = round_encrypt(s[i], veorq_u8(fold, vld1q_u8(chains[i].in + at))));
        rounds_encrypt(&k, s, n);
        EACH(n, if (storing) vst1q_u8(chains[i].out + at, veorq_u8(s[i], k.last)));
    }
    EACH(n, vst1q_u8(chains[i].msg->iv, veorq_u8(s[i], k.last)));
    for (unsigned c = 0; c < n; c++) {
        chains[c].in += 16 * n_blocks;
        if (storing)
            chains[c].out += 16 * n_blocks;
    }
}

/* Not inlined: their registers and the chains would share one frame. */
EVC_OUT_OF_LINE void chains_run_wide(ce_key *key, struct evc_aes_chain *chains, size_t n_blocks,
                                     int storing)
{
    chains_step(key, chains, n_blocks, WIDE, storing);
}

EVC_OUT_OF_LINE void chains_run_4(ce_key *key, struct evc_aes_chain *chains, size_t n_blocks,
                                  int storing)
{
    chains_step(key, chains, n_blocks, 4, storing);
}

EVC_OUT_OF_LINE void chains_run_2(ce_key *key, struct evc_aes_chain *chains, size_t n_blocks,
                                  int storing)
{
    chains_step(key, chains, n_blocks, 2, storing);
}

#include "aes/many_chains.h"

static void cbc_encrypt_many(const void *key, const struct evc_msg *msgs, size_t n)
{
    if (cbc_many(key, msgs, n, 1))
        cbc_many(key, msgs, n, 0);
}

/* The slots of a descriptor, the same for all kernels of these steps. */
#define CE_FORWARD_SLOTS .set_key = evc_a64_set_key, .encrypt = encrypt, .ctr32 = ctr32
#define CE_SLOTS \
    CE_FORWARD_SLOTS, .decrypt = decrypt, .ctr32_le = ctr32_le, \
    .cbc_encrypt = cbc_encrypt, .cbc_decrypt = cbc_decrypt, .cbcmac = cbcmac, \
    .xts_encrypt = xts_encrypt, .xts_decrypt = xts_decrypt, .cbc_encrypt_many = cbc_encrypt_many, \
    .ccm_encrypt = ccm_encrypt, .ccm_decrypt = ccm_decrypt

#endif

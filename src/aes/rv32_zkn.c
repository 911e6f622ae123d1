/* SPDX-License-Identifier: MIT */
/*
 * AES with the scalar AES instructions of RISC-V, 32 bits, 4 blocks in flight.
 *
 * Method:   a block is four words; a column of a round is four instructions, one for each of its
 *           bytes, which begin with the word of the round key. rv_zkn_modes.h has the modes.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; RISC-V Cryptography Extensions
 *           vol. I, 1.0.1 (2022): aes32... must take a time that does not depend on data.
 * Needs:    RV32_ZKN.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(RV32_ZKN)

#include "aes/fips197_key.h"
#include "common/ct.h"
#include "common/each.h"
#include "common/rv_scalar.h"

/* The frames of GCC are smaller than these. */
#define CLEAR_WIDE 320
#define CLEAR_MOVED 640
#define CLEAR_CCM 384
#define CLEAR_MANY 960

/* Columns; row 0 is the lowest byte. */
struct block {
    uint32_t a, b, c, d;
};

/* ---- Blocks in memory ------------------------------------------------------------------------ */

/* p: aligned to 4 */
EVC_INLINE struct block load(const uint8_t *p)
{
    return (struct block){evc_rv_load(p), evc_rv_load(p + 4), evc_rv_load(p + 8),
                          evc_rv_load(p + 12)};
}

EVC_INLINE void store(uint8_t *p, struct block b)
{
    evc_rv_store(p, b.a);
    evc_rv_store(p + 4, b.b);
    evc_rv_store(p + 8, b.c);
    evc_rv_store(p + 12, b.d);
}

EVC_OUT_OF_LINE struct block load_bytes(const uint8_t *p)
{
    return (struct block){evc_load32_le(p), evc_load32_le(p + 4), evc_load32_le(p + 8),
                          evc_load32_le(p + 12)};
}

EVC_OUT_OF_LINE void store_bytes(uint8_t *p, struct block b)
{
    evc_store32_le(p, b.a);
    evc_store32_le(p + 4, b.b);
    evc_store32_le(p + 8, b.c);
    evc_store32_le(p + 12, b.d);
}

EVC_INLINE struct block xor(struct block x, struct block y)
{
    return (struct block){x.a ^ y.a, x.b ^ y.b, x.c ^ y.c, x.d ^ y.d};
}

EVC_INLINE uint32_t next_word(struct block *x)
{
    const uint32_t word = x->a;

    x->a = x->b;
    x->b = x->c;
    x->c = x->d;
    return word;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* A round key, loaded no earlier than here: four blocks, their next states and one key are all that
 * the registers hold. */
EVC_INLINE struct block load_key(const uint8_t *rk)
{
    __asm__ volatile("" : : : "memory");
    return load(rk);
}

/* One row of all columns: t.a ... t.d plus the bytes that ShiftRows brings to them, which are of a,
 * b, c and d. */
#define ROW(step, row, a_, b_, c_, d_)       \
    do {                                     \
        t.a = evc_rv_##step(t.a, s.a_, row); \
        t.b = evc_rv_##step(t.b, s.b_, row); \
        t.c = evc_rv_##step(t.c, s.c_, row); \
        t.d = evc_rv_##step(t.d, s.d_, row); \
    } while (0)
#define ROUND(name, encrypt, decrypt)                                            \
    EVC_INLINE struct block name(struct block s, struct block t, int decrypting) \
    {                                                                            \
        if (decrypting) {                                                        \
            ROW(decrypt, 0, a, b, c, d);                                         \
            ROW(decrypt, 1, d, a, b, c);                                         \
            ROW(decrypt, 2, c, d, a, b);                                         \
            ROW(decrypt, 3, b, c, d, a);                                         \
        } else {                                                                 \
            ROW(encrypt, 0, a, b, c, d);                                         \
            ROW(encrypt, 1, b, c, d, a);                                         \
            ROW(encrypt, 2, c, d, a, b);                                         \
            ROW(encrypt, 3, d, a, b, c);                                         \
        }                                                                        \
        return t;                                                                \
    }
/* s: the state; t: the round key */
ROUND(round_of, aes32esmi, aes32dsmi)
ROUND(last_round, aes32esi, aes32dsi)

/* ---- Key ------------------------------------------------------------------------------------- */

/* word + SubWord(x) */
EVC_INLINE uint32_t add_sub_word(uint32_t word, uint32_t x)
{
    EACH_UP_TO_4(4, word = evc_rv_aes32esi(word, x, i));
    return word;
}

EVC_INLINE uint32_t inv_mix_columns(uint32_t x)
{
    const uint32_t sub = add_sub_word(0, x);
    uint32_t y = 0;

    EACH_UP_TO_4(4, y = evc_rv_aes32dsmi(y, sub, i));
    return y;
}

/* Multiplies by x in GF(2^8); r: public */
EVC_INLINE uint32_t next_constant(uint32_t r)
{
    return r << 1 ^ (r >> 7) * 0x11b;
}

/* enc: n_words words, the first n_key of them (4, 6 or 8) from the user's key. FIPS 197 section
 * 5.2. */
EVC_INLINE void expand(uint8_t *enc, const uint8_t *user_key, unsigned n_key, unsigned n_words)
{
    uint32_t w[8], constant = 1;

    for (unsigned i = 0; i < n_key; i++) {
        w[i] = evc_load32_le(user_key + 4 * i);
        evc_rv_store(enc + 4 * i, w[i]);
    }
    for (unsigned at = n_key; at < n_words; at += n_key) {
        w[0] = add_sub_word(w[0] ^ constant, evc_rv_ror8(w[n_key - 1]));
        constant = next_constant(constant);
        for (unsigned i = 1; i < n_key; i++)
            w[i] = n_key == 8 && i == 4 ? add_sub_word(w[i], w[i - 1]) : w[i] ^ w[i - 1];
        for (unsigned i = 0; i < n_key && at + i < n_words; i++)
            evc_rv_store(enc + 4 * (at + i), w[i]);
    }
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct evc_aes_fips197_key *key = vkey;
    const uint32_t rounds = key->head.rounds;

    if (rounds == 10)
        expand(key->enc[0], user_key, 4, 44);
    else if (rounds == 12)
        expand(key->enc[0], user_key, 6, 52);
    else
        expand(key->enc[0], user_key, 8, 60);
    if (!key->head.can_decrypt)
        return;
    /* The equivalent inverse cipher, section 5.3.5. */
    store(key->dec[0], load(key->enc[rounds]));
    for (uint32_t r = 1; r < rounds; r++) {
        const struct block k = load(key->enc[rounds - r]);
        store(key->dec[r], (struct block){inv_mix_columns(k.a), inv_mix_columns(k.b),
                                          inv_mix_columns(k.c), inv_mix_columns(k.d)});
    }
    store(key->dec[rounds], load(key->enc[0]));
}

/* ---- Counters and tweaks --------------------------------------------------------------------- */

/* Counters with the first round key added, but for the word that counts: a number, and its part of
 * the key. */
struct counter {
    struct block others;
    uint32_t count;
};

EVC_INLINE struct counter counter_of(struct block first, struct block x, int le)
{
    struct counter c = {.count = le ? x.a : evc_rv_rev8(x.d)};

    if (le)
        x.a = 0;
    else
        x.d = 0;
    c.others = xor(x, first);
    return c;
}

EVC_INLINE struct block next_counter(struct counter *c, int le)
{
    struct block x = c->others;

    if (le)
        x.a ^= c->count++;
    else
        x.d ^= evc_rv_rev8(c->count++);
    return x;
}

EVC_INLINE void store_counter(uint8_t counter[16], struct counter c, int le)
{
    if (le)
        evc_store32_le(counter, c.count);
    else
        evc_store32_be(counter + 12, c.count);
}

/* The same with a number of two words. */
struct ccm_counter {
    struct block others;
    uint64_t count;
};

EVC_INLINE struct ccm_counter ccm_counter_of(struct block x, struct block first)
{
    struct ccm_counter c = {.count = (uint64_t)evc_rv_rev8(x.c) << 32 | evc_rv_rev8(x.d)};

    x.c = x.d = 0;
    c.others = xor(x, first);
    return c;
}

EVC_INLINE struct block next_ccm(struct ccm_counter *c)
{
    struct block x = c->others;

    x.c ^= evc_rv_rev8((uint32_t)(c->count >> 32));
    x.d ^= evc_rv_rev8((uint32_t)c->count);
    c->count++;
    return x;
}

/* t * x, x^128 = x^7 + x^2 + x + 1 (IEEE 1619-2018 section 5.2) */
EVC_INLINE struct block next_tweak(struct block t)
{
    const uint32_t lost = evc_barrier32((uint32_t)0 - (t.d >> 31)) & 0x87;

    return (struct block){t.a << 1 ^ lost, t.b << 1 | t.a >> 31, t.c << 1 | t.b >> 31,
                          t.d << 1 | t.c >> 31};
}

#include "aes/rv_zkn_modes.h"

/* ---- The descriptors ------------------------------------------------------------------------- */

#define HEAD                                                                       \
    EVC_KERNEL_HEAD(rv32_zkn, RV32_ZKN, CT, ANY, WIDE, struct evc_aes_fips197_key, \
                    EVC_KEY_FIPS197, NONE, 256)

const struct evc_aes evc_aes_rv32_zkn = {
    .kernel = HEAD,
    EVC_RV_ZKN_SLOTS,
};

const struct evc_aes evc_aes_rv32_zkn_forward = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .ctr32 = ctr32,
};
#else
EVC_EMPTY_UNIT
#endif

/* SPDX-License-Identifier: MIT */
/*
 * AES with the scalar AES instructions of RISC-V, 64 bits, 4 blocks in flight.
 *
 * Method:   a block is two words; each half of a round is one instruction of both words, and an
 *           exclusive or with the round key. rv_zkn_modes.h has the modes.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; RISC-V Cryptography Extensions
 *           vol. I, 1.0.1 (2022): aes64... must take a time that does not depend on data.
 * Needs:    RV64_ZKN.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(RV64_ZKN)

#include "aes/fips197_key.h"
#include "common/ct.h"
#include "common/each.h"
#include "common/rv_scalar.h"

/* The frames of GCC are smaller than these. */
#define CLEAR_WIDE 320
#define CLEAR_MOVED 640
#define CLEAR_CCM 384
#define CLEAR_MANY 960

/* Columns 0 and 1, columns 2 and 3; row 0 is the lowest byte of a column. */
struct block {
    uint64_t lo, hi;
};

/* ---- Blocks in memory ------------------------------------------------------------------------ */

/* p: aligned to 8 */
EVC_INLINE struct block load(const uint8_t *p)
{
    return (struct block){evc_rv_load(p), evc_rv_load(p + 8)};
}

EVC_INLINE void store(uint8_t *p, struct block b)
{
    evc_rv_store(p, b.lo);
    evc_rv_store(p + 8, b.hi);
}

EVC_OUT_OF_LINE struct block load_bytes(const uint8_t *p)
{
    return (struct block){evc_load64_le(p), evc_load64_le(p + 8)};
}

EVC_OUT_OF_LINE void store_bytes(uint8_t *p, struct block b)
{
    evc_store64_le(p, b.lo);
    evc_store64_le(p + 8, b.hi);
}

EVC_INLINE struct block xor(struct block a, struct block b)
{
    return (struct block){a.lo ^ b.lo, a.hi ^ b.hi};
}

EVC_INLINE uint64_t next_word(struct block *b)
{
    const uint64_t word = b->lo;

    b->lo = b->hi;
    return word;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

#define load_key load

EVC_INLINE struct block round_of(struct block s, struct block key, int decrypting)
{
    const struct block half = {
        decrypting ? evc_rv_aes64dsm(s.lo, s.hi) : evc_rv_aes64esm(s.lo, s.hi),
        decrypting ? evc_rv_aes64dsm(s.hi, s.lo) : evc_rv_aes64esm(s.hi, s.lo)};

    return xor(half, key);
}

EVC_INLINE struct block last_round(struct block s, struct block key, int decrypting)
{
    const struct block half = {
        decrypting ? evc_rv_aes64ds(s.lo, s.hi) : evc_rv_aes64es(s.lo, s.hi),
        decrypting ? evc_rv_aes64ds(s.hi, s.lo) : evc_rv_aes64es(s.hi, s.lo)};

    return xor(half, key);
}

/* ---- Key ------------------------------------------------------------------------------------- */

#define KS2 evc_rv_aes64ks2

/* The words of the next round key, or of the next 6 or 8 words; enc is stored by the caller. */
#define NEXT_128(lo, hi, number)           \
    do {                                   \
        uint64_t sub;                      \
                                           \
        EVC_RV_AES64KS1I(sub, hi, number); \
        lo = KS2(sub, lo);                 \
        hi = KS2(lo, hi);                  \
    } while (0)

/* enc: 11 x 16 bytes */
EVC_INLINE void expand_128(uint8_t *enc, const uint8_t *user_key)
{
    uint64_t a = evc_load64_le(user_key), b = evc_load64_le(user_key + 8);

#define STORE_128(r)                 \
    evc_rv_store(enc + 16 * (r), a); \
    evc_rv_store(enc + 16 * (r) + 8, b)
    STORE_128(0);
    EACH_UP_TO_8(8, NEXT_128(a, b, i); STORE_128(i + 1));
    NEXT_128(a, b, 8);
    STORE_128(9);
    NEXT_128(a, b, 9);
    STORE_128(10);
#undef STORE_128
}

/* enc: 13 x 16 bytes = 26 x 8 = 8 x 3 + 2 */
EVC_INLINE void expand_192(uint8_t *enc, const uint8_t *user_key)
{
    uint64_t a = evc_load64_le(user_key), b = evc_load64_le(user_key + 8),
             c = evc_load64_le(user_key + 16);

    EACH_UP_TO_8(8, {
        evc_rv_store(enc + 24 * i, a);
        evc_rv_store(enc + 24 * i + 8, b);
        evc_rv_store(enc + 24 * i + 16, c);
        uint64_t sub;
        EVC_RV_AES64KS1I(sub, c, i);
        a = KS2(sub, a);
        b = KS2(a, b);
        c = KS2(b, c);
    });
    evc_rv_store(enc + 192, a);
    evc_rv_store(enc + 200, b);
}

/* enc: 15 x 16 bytes = 30 x 8 = 7 x 4 + 2 */
EVC_INLINE void expand_256(uint8_t *enc, const uint8_t *user_key)
{
    uint64_t a = evc_load64_le(user_key), b = evc_load64_le(user_key + 8),
             c = evc_load64_le(user_key + 16), d = evc_load64_le(user_key + 24);

    EACH_UP_TO_8(7, {
        evc_rv_store(enc + 32 * i, a);
        evc_rv_store(enc + 32 * i + 8, b);
        evc_rv_store(enc + 32 * i + 16, c);
        evc_rv_store(enc + 32 * i + 24, d);
        uint64_t sub;
        EVC_RV_AES64KS1I(sub, d, i);
        a = KS2(sub, a);
        b = KS2(a, b);
        EVC_RV_AES64KS1I(sub, b, 10);
        c = KS2(sub, c);
        d = KS2(c, d);
    });
    evc_rv_store(enc + 224, a);
    evc_rv_store(enc + 232, b);
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct evc_aes_fips197_key *key = vkey;
    const uint32_t rounds = key->head.rounds;

    if (rounds == 10)
        expand_128(key->enc[0], user_key);
    else if (rounds == 12)
        expand_192(key->enc[0], user_key);
    else
        expand_256(key->enc[0], user_key);
    if (!key->head.can_decrypt)
        return;
    /* The equivalent inverse cipher, section 5.3.5. */
    store(key->dec[0], load(key->enc[rounds]));
    for (uint32_t r = 1; r < rounds; r++) {
        const struct block k = load(key->enc[rounds - r]);
        store(key->dec[r], (struct block){evc_rv_aes64im(k.lo), evc_rv_aes64im(k.hi)});
    }
    store(key->dec[rounds], load(key->enc[0]));
}

/* ---- Counters and tweaks --------------------------------------------------------------------- */

/* Counters with the first round key added. The 4 bytes that count are a number in the upper half of
 * `count`, so that its carry leaves the word; the lower half is 0. */
struct counter {
    struct block others; /* all other bytes */
    uint64_t count, one; /* one: a block, opaque so that it stays in a register */
};

EVC_INLINE struct counter counter_of(struct block first, struct block b, int le)
{
    struct counter c = {.count = (le ? b.lo : evc_rv_rev8(b.hi)) << 32, .one = UINT64_C(1) << 32};

    EVC_KEEP(c.one);
    if (le)
        b.lo &= ~(uint64_t)UINT32_MAX;
    else
        b.hi &= UINT32_MAX;
    c.others = xor(b, first);
    return c;
}

EVC_INLINE struct block next_counter(struct counter *c, int le)
{
    struct block b = c->others;

    if (le)
        b.lo ^= c->count >> 32;
    else
        b.hi ^= evc_rv_rev8(c->count) << 32;
    c->count += c->one;
    EVC_KEEP(c->count);
    return b;
}

EVC_INLINE void store_counter(uint8_t counter[16], struct counter c, int le)
{
    const uint32_t count = (uint32_t)(c.count >> 32);

    if (le)
        evc_store32_le(counter, count);
    else
        evc_store32_be(counter + 12, count);
}

/* The counter's upper word, as a number, goes from block to block. */
struct ccm_counter {
    uint64_t lo, count; /* lo: with the first round key */
    uint64_t first_hi;  /* the upper word of the first round key */
};

EVC_INLINE struct ccm_counter ccm_counter_of(struct block b, struct block first)
{
    return (struct ccm_counter){b.lo ^ first.lo, evc_rv_rev8(b.hi), first.hi};
}

EVC_INLINE struct block next_ccm(struct ccm_counter *c)
{
    return (struct block){c->lo, evc_rv_rev8(c->count++) ^ c->first_hi};
}

/* t * x, x^128 = x^7 + x^2 + x + 1 (IEEE 1619-2018 section 5.2) */
EVC_INLINE struct block next_tweak(struct block t)
{
    const uint64_t lost = evc_mask_highest64(t.hi) & 0x87;

    return (struct block){t.lo << 1 ^ lost, t.hi << 1 | t.lo >> 63};
}

#include "aes/rv_zkn_modes.h"

/* ---- The descriptors ------------------------------------------------------------------------- */

#define HEAD                                                                       \
    EVC_KERNEL_HEAD(rv64_zkn, RV64_ZKN, CT, ANY, WIDE, struct evc_aes_fips197_key, \
                    EVC_KEY_FIPS197, NONE, 256)

const struct evc_aes evc_aes_rv64_zkn = {
    .kernel = HEAD,
    EVC_RV_ZKN_SLOTS,
};

const struct evc_aes evc_aes_rv64_zkn_forward = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .ctr32 = ctr32,
};
#else
EVC_EMPTY_UNIT
#endif

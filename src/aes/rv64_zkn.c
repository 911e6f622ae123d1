/* SPDX-License-Identifier: MIT */
/*
 * AES with the scalar AES instructions of RISC-V, 64 bits, 4 blocks in flight.
 *
 * Method:   a block is two words; each half of a round is one instruction of both words, and an
 *           exclusive or with the round key. Round keys are loaded once for 4 blocks, two rounds in
 *           a turn of the loop. Serial modes have one block in flight, CCM two, and CBC encryption
 *           of many messages up to 4.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; RISC-V Cryptography Extensions
 *           vol. I, 1.0.1 (2022): aes64... must take a time that does not depend on data.
 * Needs:    RV64_ZKN.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(RV64_ZKN)

#include "aes/chains.h"
#include "aes/fips197_key.h"
#include "common/ct.h"
#include "common/each.h"
#include "common/rv64.h"

#define WIDE 4
#define CHUNK_BLOCKS 16 /* of text that is not aligned */

/* A few aligned blocks leave little on the stack. All else clears its part itself, so that short
 * messages do not pay for it: the frames of GCC are smaller than these. */
#define clear_wide() EVC_CLEAR_STACK(NONE, 320)
#define clear_moved() EVC_CLEAR_STACK(NONE, 640)
#define clear_ccm() EVC_CLEAR_STACK(NONE, 384)
#define clear_many() EVC_CLEAR_STACK(NONE, 960)

typedef const struct evc_aes_fips197_key zkn_key;

/* Columns 0 and 1, columns 2 and 3; row 0 is the lowest byte of a column. */
struct block {
    uint64_t lo, hi;
};

/* ---- Blocks in memory ------------------------------------------------------------------------ */

/* p: aligned to 8 */
EVC_INLINE struct block load(const uint8_t *p)
{
    return (struct block){evc_rv64_load(p), evc_rv64_load(p + 8)};
}

EVC_INLINE void store(uint8_t *p, struct block b)
{
    evc_rv64_store(p, b.lo);
    evc_rv64_store(p + 8, b.hi);
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

/* p: of any alignment */
EVC_INLINE struct block load_any(const uint8_t *p)
{
    return evc_rv64_is_aligned(p) ? load(p) : load_bytes(p);
}

EVC_INLINE void store_any(uint8_t *p, struct block b)
{
    if (evc_rv64_is_aligned(p))
        store(p, b);
    else
        store_bytes(p, b);
}

EVC_INLINE struct block xor(struct block a, struct block b)
{
    return (struct block){a.lo ^ b.lo, a.hi ^ b.hi};
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

EVC_INLINE struct block round_of(struct block s, struct block key, int decrypting)
{
    const struct block half = {
        decrypting ? evc_rv64_aes64dsm(s.lo, s.hi) : evc_rv64_aes64esm(s.lo, s.hi),
        decrypting ? evc_rv64_aes64dsm(s.hi, s.lo) : evc_rv64_aes64esm(s.hi, s.lo)};

    return xor(half, key);
}

EVC_INLINE struct block last_round(struct block s, int decrypting)
{
    return (struct block){
        decrypting ? evc_rv64_aes64ds(s.lo, s.hi) : evc_rv64_aes64es(s.lo, s.hi),
        decrypting ? evc_rv64_aes64ds(s.hi, s.lo) : evc_rv64_aes64es(s.hi, s.lo)};
}

/* The round keys of one direction: the second, the one before the last, and where the first
 * lies. Opaque, so that compilers keep the addresses and do not compute them for each step. */
struct schedule {
    const uint8_t *first, *before_last;
};

EVC_INLINE struct schedule schedule_of(zkn_key *key, int decrypting)
{
    struct schedule k = {decrypting ? key->dec[0] : key->enc[0], NULL};

    k.before_last = k.first + 16 * (key->head.rounds - 1);
    EVC_KEEP(k.before_last);
    return k;
}

EVC_INLINE struct block first_key(struct schedule k)
{
    return load(k.first);
}

EVC_INLINE struct block last_key(struct schedule k)
{
    return load(k.before_last + 16);
}

/* All rounds of n states (1, 2 or 4), to which the first round key has been added; the last round
 * key is left to the caller. 10, 12 and 14 rounds have an odd number of keys in between. */
EVC_INLINE void crypt(struct schedule schedule, struct block *s, unsigned n, int decrypting)
{
    const uint8_t *rk = schedule.first + 16;
    struct block k;

    do {
        k = load(rk);
        EACH_UP_TO_4(n, s[i] = round_of(s[i], k, decrypting));
        k = load(rk + 16);
        EACH_UP_TO_4(n, s[i] = round_of(s[i], k, decrypting));
        rk += 32;
    } while (rk != schedule.before_last);
    k = load(rk);
    EACH_UP_TO_4(n, s[i] = last_round(round_of(s[i], k, decrypting), decrypting));
}

/* ---- Key ------------------------------------------------------------------------------------- */

#define KS2 evc_rv64_aes64ks2

/* The words of the next round key, or of the next 6 or 8 words; enc is stored by the caller. */
#define NEXT_128(lo, hi, number)                 \
    do {                                         \
        uint64_t sub;                            \
                                                 \
        EVC_RV64_AES64KS1I(sub, hi, number);     \
        lo = KS2(sub, lo);                       \
        hi = KS2(lo, hi);                        \
    } while (0)

/* enc: 11 x 16 bytes */
EVC_INLINE void expand_128(uint8_t *enc, const uint8_t *user_key)
{
    uint64_t a = evc_load64_le(user_key), b = evc_load64_le(user_key + 8);

#define STORE_128(r)                    \
    evc_rv64_store(enc + 16 * (r), a);  \
    evc_rv64_store(enc + 16 * (r) + 8, b)
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
        evc_rv64_store(enc + 24 * i, a);
        evc_rv64_store(enc + 24 * i + 8, b);
        evc_rv64_store(enc + 24 * i + 16, c);
        uint64_t sub;
        EVC_RV64_AES64KS1I(sub, c, i);
        a = KS2(sub, a);
        b = KS2(a, b);
        c = KS2(b, c);
    });
    evc_rv64_store(enc + 192, a);
    evc_rv64_store(enc + 200, b);
}

/* enc: 15 x 16 bytes = 30 x 8 = 7 x 4 + 2 */
EVC_INLINE void expand_256(uint8_t *enc, const uint8_t *user_key)
{
    uint64_t a = evc_load64_le(user_key), b = evc_load64_le(user_key + 8),
             c = evc_load64_le(user_key + 16), d = evc_load64_le(user_key + 24);

    EACH_UP_TO_8(7, {
        evc_rv64_store(enc + 32 * i, a);
        evc_rv64_store(enc + 32 * i + 8, b);
        evc_rv64_store(enc + 32 * i + 16, c);
        evc_rv64_store(enc + 32 * i + 24, d);
        uint64_t sub;
        EVC_RV64_AES64KS1I(sub, d, i);
        a = KS2(sub, a);
        b = KS2(a, b);
        EVC_RV64_AES64KS1I(sub, b, 10);
        c = KS2(sub, c);
        d = KS2(c, d);
    });
    evc_rv64_store(enc + 224, a);
    evc_rv64_store(enc + 232, b);
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
        store(key->dec[r], (struct block){evc_rv64_aes64im(k.lo), evc_rv64_aes64im(k.hi)});
    }
    store(key->dec[rounds], load(key->enc[0]));
}

/* ---- Text that is not aligned ---------------------------------------------------------------- */

/* Copies n_words (not 0) words from memory that is aligned to memory that is not. */
EVC_OUT_OF_LINE void scatter(uint8_t *to, const uint8_t *from, size_t n_words)
{
    const size_t n_last = (uintptr_t)to & 7, n_first = 8 - n_last;
    uint64_t x = evc_rv64_load(from);

    for (size_t i = 0; i < n_first; i++)
        to[i] = (uint8_t)(x >> (8 * i));
    x >>= 8 * n_first;
    for (to += n_first, from += 8; --n_words; to += 8, from += 8) {
        const uint64_t next = evc_rv64_load(from);
        evc_rv64_store(to, x | next << (8 * n_last));
        x = next >> (8 * n_first);
    }
    for (size_t i = 0; i < n_last; i++)
        to[i] = (uint8_t)(x >> (8 * i));
}

EVC_INLINE void copy_words(uint8_t *to, const uint8_t *from, size_t n_words)
{
    for (; n_words; n_words--, from += 8, to += 8) {
        uint64_t word = evc_rv64_load(from);
        EVC_KEEP(word);
        evc_rv64_store(to, word);
    }
}

/* A mode of whole blocks whose text is aligned; state: counter, IV or tweak. */
typedef void text_mode(zkn_key *key, uint8_t state[16], const uint8_t *in, uint8_t *out,
                       size_t n_blocks);

/* The mode in place, in an aligned copy of some blocks. */
EVC_OUT_OF_LINE void crypt_moved(text_mode *mode, zkn_key *key, uint8_t state[16],
                                 const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    EVC_ALIGN(8) uint8_t text[16 * CHUNK_BLOCKS];

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = n_blocks < CHUNK_BLOCKS ? n_blocks : CHUNK_BLOCKS;
        if (evc_rv64_is_aligned(in))
            copy_words(text, in, 2 * n);
        else
            evc_rv64_gather(text, in, 2 * n);
        mode(key, state, text, text, n);
        if (evc_rv64_is_aligned(out))
            copy_words(out, text, 2 * n);
        else
            scatter(out, text, 2 * n);
    }
}

/* Not inlined, so that the buffer is below the frame that clears. */
EVC_OUT_OF_LINE void crypt_unaligned(text_mode *mode, const void *key, uint8_t state[16],
                                     const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    crypt_moved(mode, key, state, in, out, n_blocks);
    clear_moved();
}

EVC_INLINE void crypt_text(text_mode *mode, const void *key, uint8_t state[16], const uint8_t *in,
                           uint8_t *out, size_t n_blocks)
{
    if (evc_rv64_is_aligned(in) && evc_rv64_is_aligned(out))
        mode(key, state, in, out, n_blocks);
    else
        crypt_unaligned(mode, key, state, in, out, n_blocks);
}

/* wide: the mode for whole steps of WIDE blocks; rest: for fewer */
EVC_OUT_OF_LINE void crypt_wide(text_mode *wide, text_mode *rest, zkn_key *key, uint8_t state[16],
                                const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const size_t n_rest = n_blocks % WIDE, n_whole = n_blocks - n_rest;

    wide(key, state, in, out, n_whole);
    clear_wide();
    if (n_rest)
        rest(key, state, in + 16 * n_whole, out + 16 * n_whole, n_rest);
}

/* ---- Blocks (ECB) ---------------------------------------------------------------------------- */

EVC_INLINE void ecb_step(struct schedule k, const uint8_t *in, uint8_t *out, unsigned n,
                         int decrypting)
{
    const struct block first = first_key(k);
    struct block s[WIDE], last;

    EACH_UP_TO_4(n, s[i] = xor(load(in + 16 * i), first));
    crypt(k, s, n, decrypting);
    last = last_key(k);
    EACH_UP_TO_4(n, store(out + 16 * i, xor(s[i], last)));
}

/* n: WIDE or 1 */
EVC_INLINE void ecb(zkn_key *key, const uint8_t *in, uint8_t *out, size_t n_blocks, unsigned n,
                    int decrypting)
{
    const struct schedule k = schedule_of(key, decrypting);

    for (; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n)
        ecb_step(k, in, out, n, decrypting);
}

#define ECB_MODE(name, decrypting)                                                       \
    EVC_OUT_OF_LINE void name##_wide(zkn_key *key, uint8_t *no_state, const uint8_t *in, \
                                     uint8_t *out, size_t n_blocks)                      \
    {                                                                                    \
        (void)no_state;                                                                  \
        ecb(key, in, out, n_blocks, WIDE, decrypting);                                   \
    }                                                                                    \
    static void name(zkn_key *key, uint8_t *no_state, const uint8_t *in, uint8_t *out,   \
                     size_t n_blocks)                                                    \
    {                                                                                    \
        (void)no_state;                                                                  \
        if (n_blocks < WIDE)                                                             \
            ecb(key, in, out, n_blocks, 1, decrypting);                                  \
        else                                                                             \
            crypt_wide(name##_wide, name, key, NULL, in, out, n_blocks);                 \
    }
ECB_MODE(ecb_encrypt, 0)
ECB_MODE(ecb_decrypt, 1)

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    crypt_text(ecb_encrypt, key, NULL, in, out, n_blocks);
}

static void decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    crypt_text(ecb_decrypt, key, NULL, in, out, n_blocks);
}

/* ---- CTR ------------------------------------------------------------------------------------- */

/* Counters with the first round key added. The last 4 bytes are a number in the upper half of
 * `count`, so that its carry leaves the word; the lower half is 0. */
struct counter {
    struct block others; /* all other bytes */
    uint64_t count, one; /* one: a block, opaque so that it stays in a register */
};

EVC_INLINE struct counter counter_of(struct schedule k, const uint8_t counter[16])
{
    struct block b = load_any(counter);
    struct counter c = {.count = evc_rv64_rev8(b.hi) << 32, .one = UINT64_C(1) << 32};

    EVC_KEEP(c.one);
    b.hi &= UINT32_MAX;
    c.others = xor(b, first_key(k));
    return c;
}

EVC_INLINE struct block next_counter(struct counter *c)
{
    const uint64_t hi = c->others.hi ^ evc_rv64_rev8(c->count) << 32;

    c->count += c->one;
    EVC_KEEP(c->count);
    return (struct block){c->others.lo, hi};
}

EVC_INLINE void store_counter(uint8_t counter[16], struct counter c)
{
    evc_store32_be(counter + 12, (uint32_t)(c.count >> 32));
}

EVC_INLINE void ctr_step(struct schedule k, struct counter *c, const uint8_t *in, uint8_t *out,
                         unsigned n)
{
    struct block s[WIDE], last;

    EACH_UP_TO_4(n, s[i] = next_counter(c));
    crypt(k, s, n, 0);
    last = last_key(k);
    EACH_UP_TO_4(n, store(out + 16 * i, xor(xor(load(in + 16 * i), last), s[i])));
}

EVC_INLINE void ctr_steps(zkn_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                          size_t n_blocks, unsigned n)
{
    const struct schedule k = schedule_of(key, 0);
    struct counter c = counter_of(k, counter);

    for (; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n)
        ctr_step(k, &c, in, out, n);
    store_counter(counter, c);
}

EVC_OUT_OF_LINE void ctr_wide(zkn_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                              size_t n_blocks)
{
    ctr_steps(key, counter, in, out, n_blocks, WIDE);
}

static void ctr(zkn_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                size_t n_blocks)
{
    if (n_blocks < WIDE)
        ctr_steps(key, counter, in, out, n_blocks, 1);
    else
        crypt_wide(ctr_wide, ctr, key, counter, in, out, n_blocks);
}

/* n_bytes: 1 to 15 */
EVC_OUT_OF_LINE void ctr_part(zkn_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                              size_t n_bytes)
{
    const struct schedule k = schedule_of(key, 0);
    struct counter c = counter_of(k, counter);
    struct block s = next_counter(&c);

    crypt(k, &s, 1, 0);
    s = xor(s, last_key(k));
    for (size_t i = 0; i < n_bytes; i++) {
        out[i] = (uint8_t)(in[i] ^ s.lo);
        s.lo >>= 8;
        if (i == 7)
            s.lo = s.hi;
    }
    store_counter(counter, c);
}

EVC_OUT_OF_LINE void ctr_with_part(zkn_key *key, uint8_t counter[16], const uint8_t *in,
                                   uint8_t *out, size_t len_bytes)
{
    const size_t n_whole = len_bytes & ~(size_t)15;

    crypt_text(ctr, key, counter, in, out, n_whole / 16);
    ctr_part(key, counter, in + n_whole, out + n_whole, len_bytes - n_whole);
}

static void ctr32(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    if (!(len_bytes & 15))
        crypt_text(ctr, key, counter, in, out, len_bytes / 16);
    else if (len_bytes < 16)
        ctr_part(key, counter, in, out, len_bytes);
    else
        ctr_with_part(key, counter, in, out, len_bytes);
}

/* ---- CBC decryption -------------------------------------------------------------------------- */

/* Block i - 1 must still be the ciphertext when block i is finished, as out may be in: so the last
 * is stored first. */
#define CBC_FINISH(i, before) store(out + 16 * (i), xor(xor(before, last), s[i]))

EVC_INLINE struct block cbc_step(struct schedule k, struct block iv, const uint8_t *in,
                                 uint8_t *out, unsigned n)
{
    const struct block first = first_key(k);
    struct block s[WIDE], next_iv, last;

    EACH_UP_TO_4(n, s[i] = xor(load(in + 16 * i), first));
    crypt(k, s, n, 1);
    last = last_key(k);
    next_iv = load(in + 16 * (n - 1));
    EACH_UP_TO_4(n, if (n - 1 - i > 0) CBC_FINISH(n - 1 - i, load(in + 16 * (n - 1 - i) - 16)));
    CBC_FINISH(0, iv);
    return next_iv;
}

EVC_INLINE void cbc_steps(zkn_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                          size_t n_blocks, unsigned n)
{
    const struct schedule k = schedule_of(key, 1);
    struct block x = load_any(iv);

    for (; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n)
        x = cbc_step(k, x, in, out, n);
    store_any(iv, x);
}

EVC_OUT_OF_LINE void cbc_wide(zkn_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                              size_t n_blocks)
{
    cbc_steps(key, iv, in, out, n_blocks, WIDE);
}

static void cbc_blocks(zkn_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                       size_t n_blocks)
{
    if (n_blocks < WIDE)
        cbc_steps(key, iv, in, out, n_blocks, 1);
    else
        crypt_wide(cbc_wide, cbc_blocks, key, iv, in, out, n_blocks);
}

static void cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    crypt_text(cbc_blocks, key, iv, in, out, n_blocks);
}

/* ---- XTS ------------------------------------------------------------------------------------- */

/* t * x, x^128 = x^7 + x^2 + x + 1 (IEEE 1619-2018 section 5.2) */
EVC_INLINE struct block next_tweak(struct block t)
{
    const uint64_t lost = evc_mask_highest64(t.hi) & 0x87;

    return (struct block){t.lo << 1 ^ lost, t.hi << 1 | t.lo >> 63};
}

EVC_INLINE struct block xts_step(struct schedule k, struct block t, const uint8_t *in,
                                 uint8_t *out, unsigned n, int decrypting)
{
    const struct block first = first_key(k);
    struct block s[WIDE], tweak[WIDE], last;

    EACH_UP_TO_4(n, tweak[i] = t, t = next_tweak(t));
    EACH_UP_TO_4(n, s[i] = xor(xor(load(in + 16 * i), first), tweak[i]));
    crypt(k, s, n, decrypting);
    last = last_key(k);
    EACH_UP_TO_4(n, store(out + 16 * i, xor(xor(s[i], last), tweak[i])));
    return t;
}

EVC_INLINE void xts(zkn_key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                    size_t n_blocks, unsigned n, int decrypting)
{
    const struct schedule k = schedule_of(key, decrypting);
    struct block t = load_any(tweak);

    for (; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n)
        t = xts_step(k, t, in, out, n, decrypting);
    store_any(tweak, t);
}

#define XTS_MODE(name, decrypting)                                                       \
    EVC_OUT_OF_LINE void name##_wide(zkn_key *key, uint8_t tweak[16], const uint8_t *in, \
                                     uint8_t *out, size_t n_blocks)                      \
    {                                                                                    \
        xts(key, tweak, in, out, n_blocks, WIDE, decrypting);                            \
    }                                                                                    \
    static void name(zkn_key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,   \
                     size_t n_blocks)                                                    \
    {                                                                                    \
        if (n_blocks < WIDE)                                                             \
            xts(key, tweak, in, out, n_blocks, 1, decrypting);                           \
        else                                                                             \
            crypt_wide(name##_wide, name, key, tweak, in, out, n_blocks);                \
    }
XTS_MODE(xts_blocks_encrypt, 0)
XTS_MODE(xts_blocks_decrypt, 1)

static void xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    crypt_text(xts_blocks_encrypt, key, tweak, in, out, n_blocks);
}

static void xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    crypt_text(xts_blocks_decrypt, key, tweak, in, out, n_blocks);
}

/* ---- One chain ------------------------------------------------------------------------------- */

/* The state between two blocks lacks the last round key, which the next block brings with the first
 * one and the text: nothing else is on the chain. out: NULL unless storing */
EVC_INLINE void chain(zkn_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                      size_t n_blocks, int storing)
{
    const struct schedule k = schedule_of(key, 0);
    const struct block last = last_key(k), fold = xor(first_key(k), last);
    struct block x = xor(load_any(iv), last);

    for (; n_blocks; n_blocks--, in += 16) {
        x = xor(x, xor(load_any(in), fold));
        crypt(k, &x, 1, 0);
        if (storing) {
            store_any(out, xor(x, last));
            out += 16;
        }
    }
    store_any(iv, xor(x, last));
}

static void cbc_encrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    chain(key, iv, in, out, n_blocks, 1);
}

static void cbcmac(const void *key, uint8_t state[16], const uint8_t *in, size_t n_blocks)
{
    chain(key, state, in, NULL, n_blocks, 0);
}

/* ---- CCM ------------------------------------------------------------------------------------- */

/* The counter's upper word, as a number, goes from block to block. */
EVC_INLINE struct block ccm_count(uint64_t lo, uint64_t *count)
{
    return (struct block){lo, evc_rv64_rev8((*count)++)};
}

/* s[0] is the chain, s[1] key stream, encrypted side by side: a block that is encrypted beside its
 * own MAC, and one that is decrypted beside that of the block before it. */
EVC_INLINE void ccm(zkn_key *key, uint8_t counter[16], uint8_t mac[16], const uint8_t *in,
                    uint8_t *out, size_t n_blocks, int decrypting)
{
    const struct schedule k = schedule_of(key, 0);
    const struct block first = first_key(k), last = last_key(k);
    struct block c, s[2], text;
    uint64_t count;

    if (!n_blocks)
        return;
    c = load_any(counter);
    count = evc_rv64_rev8(c.hi);
    c.lo ^= first.lo;
    s[0] = xor(load_any(mac), first);
    if (decrypting) {
        s[1] = xor(ccm_count(c.lo, &count), (struct block){0, first.hi});
        crypt(k, s + 1, 1, 0);
    }
    for (;; in += 16, out += 16) {
        text = load_any(in);
        if (decrypting) {
            text = xor(xor(s[1], last), text);
            store_any(out, text);
        }
        s[0] = xor(s[0], text);
        if (decrypting && --n_blocks == 0)
            break;
        s[1] = xor(ccm_count(c.lo, &count), (struct block){0, first.hi});
        crypt(k, s, 2, 0);
        if (!decrypting) {
            store_any(out, xor(xor(s[1], last), text));
            if (--n_blocks == 0)
                break;
        }
        s[0] = xor(s[0], xor(first, last)); /* of the block that ends, and of the next one */
    }
    if (decrypting)
        crypt(k, s, 1, 0);
    store_any(mac, xor(s[0], last));
    evc_store64_be(counter + 8, count);
}

#define CCM_MODE(name, decrypting)                                                         \
    EVC_OUT_OF_LINE void name##_blocks(zkn_key *key, uint8_t counter[16], uint8_t mac[16], \
                                       const uint8_t *in, uint8_t *out, size_t n_blocks)   \
    {                                                                                      \
        ccm(key, counter, mac, in, out, n_blocks, decrypting);                             \
    }                                                                                      \
    static void name(const void *key, uint8_t counter[16], uint8_t mac[16],                \
                     const uint8_t *in, uint8_t *out, size_t n_blocks)                     \
    {                                                                                      \
        name##_blocks(key, counter, mac, in, out, n_blocks);                               \
        clear_ccm();                                                                       \
    }
CCM_MODE(ccm_encrypt, 0)
CCM_MODE(ccm_decrypt, 1)

/* ---- Many chains ----------------------------------------------------------------------------- */

/* n_blocks (not 0) more of n chains, none of them shorter. */
EVC_INLINE void chains_step(zkn_key *key, struct evc_aes_chain *chains, size_t n_blocks,
                            unsigned n, int storing)
{
    const struct schedule k = schedule_of(key, 0);
    struct block s[WIDE], first, last;

    EACH_UP_TO_4(n, s[i] = load_any(chains[i].msg->iv));
    for (; n_blocks; n_blocks--) {
        first = first_key(k);
        EACH_UP_TO_4(n, s[i] = xor(xor(load_any(chains[i].in), first), s[i]));
        crypt(k, s, n, 0);
        last = last_key(k);
        EACH_UP_TO_4(n, s[i] = xor(s[i], last));
        EACH_UP_TO_4(n, if (storing) store_any(chains[i].out, s[i]));
        EACH_UP_TO_4(n, chains[i].in += 16; if (storing) chains[i].out += 16);
    }
    EACH_UP_TO_4(n, store_any(chains[i].msg->iv, s[i]));
}

/* Not inlined: their registers and the chains would share one frame. */
EVC_OUT_OF_LINE void chains_run_4(zkn_key *key, struct evc_aes_chain *chains, size_t n_blocks,
                                  int storing)
{
    chains_step(key, chains, n_blocks, 4, storing);
}

EVC_OUT_OF_LINE void chains_run_2(zkn_key *key, struct evc_aes_chain *chains, size_t n_blocks,
                                  int storing)
{
    chains_step(key, chains, n_blocks, 2, storing);
}

/* The fourth of three active chains repeats chain 0: both write the same bytes. */
static int cbc_many(zkn_key *key, const struct evc_msg *msgs, size_t n, int storing)
{
    struct evc_aes_queue q = {msgs, msgs + n, storing, 0};
    struct evc_aes_chain chains[WIDE];
    size_t active = 0, run;

    for (;;) {
        run = evc_aes_chains_refill(chains, &active, WIDE, &q);
        if (active <= 1)
            break;
        if (active == 3)
            chains[3] = chains[0];
        if (active > 2)
            chains_run_4(key, chains, run, storing);
        else
            chains_run_2(key, chains, run, storing);
    }
    if (active && storing)
        cbc_encrypt(key, chains[0].msg->iv, chains[0].in, chains[0].out,
                    evc_aes_blocks_left(chains));
    else if (active)
        cbcmac(key, chains[0].msg->iv, chains[0].in, evc_aes_blocks_left(chains));
    return q.others;
}

static void cbc_encrypt_many(const void *key, const struct evc_msg *msgs, size_t n)
{
    if (cbc_many(key, msgs, n, 1))
        cbc_many(key, msgs, n, 0);
    clear_many();
}

/* ---- The descriptors ------------------------------------------------------------------------- */

#define HEAD                                                                       \
    EVC_KERNEL_HEAD(rv64_zkn, RV64_ZKN, CT, ANY, WIDE, struct evc_aes_fips197_key, \
                    EVC_KEY_FIPS197, NONE, 256)

const struct evc_aes evc_aes_rv64_zkn = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .ctr32 = ctr32,
    .cbc_encrypt = cbc_encrypt,
    .cbc_decrypt = cbc_decrypt,
    .cbcmac = cbcmac,
    .xts_encrypt = xts_encrypt,
    .xts_decrypt = xts_decrypt,
    .cbc_encrypt_many = cbc_encrypt_many,
    .ccm_encrypt = ccm_encrypt,
    .ccm_decrypt = ccm_decrypt,
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

/* SPDX-License-Identifier: MIT */
/*
 * AES by the scalar AES instructions of RISC-V: all of a kernel but the steps that its size of
 * registers decides. Include it where these are defined:
 *
 *   struct block            a block in registers, row 0 of a column in the lowest byte
 *   load, store             a block in memory that is aligned to EVC_RV_BYTES
 *   load_bytes, store_bytes   one of any alignment
 *   load_key                the same of a round key
 *   xor                     the sum of two blocks
 *   next_word               takes a block's first word, and moves the others to its place
 *   round_of, last_round    (state, key, decrypting): a round, the key added; without MixColumns
 *   set_key                 the slot
 *   next_tweak              (tweak): times x (IEEE 1619-2018 section 5.2)
 *   struct counter          counters with the first round key added; the last 4 bytes count or,
 *                           where `le` is 1, the first 4, which are little-endian
 *   counter_of              (first round key, counter as a block, le)
 *   next_counter            (struct counter *, le): takes one, and counts
 *   store_counter           (counter, struct counter, le)
 *   struct ccm_counter      the same, but the last 8 bytes count; .count has them as a number
 *   ccm_counter_of          (block, first round key)
 *   next_ccm                takes one, and counts
 *   CLEAR_WIDE, CLEAR_MOVED, CLEAR_CCM, CLEAR_MANY   bytes of the stack that hold secrets after
 *                           groups of blocks, text that is not aligned, CCM, and many messages
 *
 * Method: round keys are loaded once for WIDE blocks, two rounds in a turn of the loop. Serial
 * modes have one block in flight, CCM two, and CBC encryption of many messages up to WIDE.
 */
#ifndef EVC_AES_RV_ZKN_MODES_H
#define EVC_AES_RV_ZKN_MODES_H

#include "aes/chains.h"
#include "aes/fips197_key.h"
#include "common/bytes.h"
#include "common/each.h"
#include "common/rv_scalar.h"

#define WIDE 4
#define CHUNK_BLOCKS 16 /* of text that is not aligned */
#define BLOCK_WORDS (16 / EVC_RV_BYTES)

/* A few aligned blocks leave little on the stack. All else clears its part itself, so that short
 * messages do not pay for it. */
#define clear_wide() EVC_CLEAR_STACK(NONE, CLEAR_WIDE)
#define clear_moved() EVC_CLEAR_STACK(NONE, CLEAR_MOVED)
#define clear_ccm() EVC_CLEAR_STACK(NONE, CLEAR_CCM)
#define clear_many() EVC_CLEAR_STACK(NONE, CLEAR_MANY)

typedef const struct evc_aes_fips197_key zkn_key;

/* ---- Blocks in memory ------------------------------------------------------------------------ */

/* p: of any alignment */
EVC_INLINE struct block load_any(const uint8_t *p)
{
    return evc_rv_is_aligned(p) ? load(p) : load_bytes(p);
}

EVC_INLINE void store_any(uint8_t *p, struct block b)
{
    if (evc_rv_is_aligned(p))
        store(p, b);
    else
        store_bytes(p, b);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

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

/* All rounds of n states (1, 2 or 4), to which the first round key has been added. add: what is
 * added to each in the last round; NULL: the last round key. 10, 12 and 14 rounds have an odd
 * number of keys in between. */
EVC_INLINE void crypt_adding(struct schedule schedule, struct block *s, unsigned n, int decrypting,
                             const struct block *add)
{
    const uint8_t *rk = schedule.first + 16;
    struct block k;

    do {
        k = load_key(rk);
        EACH_UP_TO_4(n, s[i] = round_of(s[i], k, decrypting));
        k = load_key(rk + 16);
        EACH_UP_TO_4(n, s[i] = round_of(s[i], k, decrypting));
        rk += 32;
    } while (rk != schedule.before_last);
    k = load_key(rk);
    EACH_UP_TO_4(n, s[i] = round_of(s[i], k, decrypting));
    if (!add)
        k = load_key(rk + 16);
    EACH_UP_TO_4(n, s[i] = last_round(s[i], add ? add[i] : k, decrypting));
}

EVC_INLINE void crypt(struct schedule schedule, struct block *s, unsigned n, int decrypting)
{
    crypt_adding(schedule, s, n, decrypting, NULL);
}

/* ---- Text that is not aligned ---------------------------------------------------------------- */

/* Copies n_words (not 0) words from memory that is aligned to memory that is not. */
EVC_OUT_OF_LINE void scatter(uint8_t *to, const uint8_t *from, size_t n_words)
{
    const size_t n_last = (uintptr_t)to & (EVC_RV_BYTES - 1), n_first = EVC_RV_BYTES - n_last;
    evc_rv_register x = evc_rv_load(from);

    for (size_t i = 0; i < n_first; i++)
        to[i] = (uint8_t)(x >> (8 * i));
    x >>= 8 * n_first;
    for (to += n_first, from += EVC_RV_BYTES; --n_words;
         to += EVC_RV_BYTES, from += EVC_RV_BYTES) {
        const evc_rv_register next = evc_rv_load(from);
        evc_rv_store(to, x | next << (8 * n_last));
        x = next >> (8 * n_first);
    }
    for (size_t i = 0; i < n_last; i++)
        to[i] = (uint8_t)(x >> (8 * i));
}

EVC_INLINE void copy_words(uint8_t *to, const uint8_t *from, size_t n_words)
{
    for (; n_words; n_words--, from += EVC_RV_BYTES, to += EVC_RV_BYTES) {
        evc_rv_register word = evc_rv_load(from);
        EVC_KEEP(word);
        evc_rv_store(to, word);
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
        if (evc_rv_is_aligned(in))
            copy_words(text, in, n * BLOCK_WORDS);
        else
            evc_rv_gather(text, in, n * BLOCK_WORDS);
        mode(key, state, text, text, n);
        if (evc_rv_is_aligned(out))
            copy_words(out, text, n * BLOCK_WORDS);
        else
            scatter(out, text, n * BLOCK_WORDS);
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
    if (evc_rv_is_aligned(in) && evc_rv_is_aligned(out))
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
    struct block s[WIDE];

    EACH_UP_TO_4(n, s[i] = xor(load(in + 16 * i), first));
    crypt(k, s, n, decrypting);
    EACH_UP_TO_4(n, store(out + 16 * i, s[i]));
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

EVC_INLINE void ctr_step(struct schedule k, struct counter *c, const uint8_t *in, uint8_t *out,
                         unsigned n, int le)
{
    struct block s[WIDE];

    EACH_UP_TO_4(n, s[i] = next_counter(c, le));
    crypt(k, s, n, 0);
    EACH_UP_TO_4(n, store(out + 16 * i, xor(load(in + 16 * i), s[i])));
}

EVC_INLINE void ctr_steps(zkn_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                          size_t n_blocks, unsigned n, int le)
{
    const struct schedule k = schedule_of(key, 0);
    struct counter c = counter_of(first_key(k), load_any(counter), le);

    for (; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n)
        ctr_step(k, &c, in, out, n, le);
    store_counter(counter, c, le);
}

/* n_bytes: 1 to 15 */
EVC_INLINE void ctr_few_bytes(zkn_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                              size_t n_bytes, int le)
{
    const struct schedule k = schedule_of(key, 0);
    struct counter c = counter_of(first_key(k), load_any(counter), le);
    struct block s = next_counter(&c, le);

    crypt(k, &s, 1, 0);
    for (size_t n; n_bytes; n_bytes -= n) {
        n = n_bytes < EVC_RV_BYTES ? n_bytes : EVC_RV_BYTES;
        evc_rv_register word = next_word(&s);
        for (const uint8_t *end = in + n; in != end; word >>= 8)
            *out++ = (uint8_t)(*in++ ^ word);
    }
    store_counter(counter, c, le);
}

#define CTR_MODE(name, le)                                                                    \
    EVC_OUT_OF_LINE void name##_wide(zkn_key *key, uint8_t counter[16], const uint8_t *in,    \
                                     uint8_t *out, size_t n_blocks)                           \
    {                                                                                         \
        ctr_steps(key, counter, in, out, n_blocks, WIDE, le);                                 \
    }                                                                                         \
    static void name##_blocks(zkn_key *key, uint8_t counter[16], const uint8_t *in,           \
                              uint8_t *out, size_t n_blocks)                                  \
    {                                                                                         \
        if (n_blocks < WIDE)                                                                  \
            ctr_steps(key, counter, in, out, n_blocks, 1, le);                                \
        else                                                                                  \
            crypt_wide(name##_wide, name##_blocks, key, counter, in, out, n_blocks);          \
    }                                                                                         \
    EVC_OUT_OF_LINE void name##_part(zkn_key *key, uint8_t counter[16], const uint8_t *in,    \
                                     uint8_t *out, size_t n_bytes)                            \
    {                                                                                         \
        ctr_few_bytes(key, counter, in, out, n_bytes, le);                                    \
    }                                                                                         \
    EVC_OUT_OF_LINE void name##_with_part(zkn_key *key, uint8_t counter[16],                  \
                                          const uint8_t *in, uint8_t *out, size_t len_bytes)  \
    {                                                                                         \
        const size_t n_whole = len_bytes & ~(size_t)15;                                       \
                                                                                              \
        crypt_text(name##_blocks, key, counter, in, out, n_whole / 16);                       \
        name##_part(key, counter, in + n_whole, out + n_whole, len_bytes - n_whole);          \
    }                                                                                         \
    static void name(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,   \
                     size_t len_bytes)                                                        \
    {                                                                                         \
        if (!(len_bytes & 15))                                                                \
            crypt_text(name##_blocks, key, counter, in, out, len_bytes / 16);                 \
        else if (len_bytes < 16)                                                              \
            name##_part(key, counter, in, out, len_bytes);                                    \
        else                                                                                  \
            name##_with_part(key, counter, in, out, len_bytes);                               \
    }
CTR_MODE(ctr32, 0)
CTR_MODE(ctr32_le, 1)

/* ---- CBC decryption -------------------------------------------------------------------------- */

/* Block i - 1 must still be the ciphertext when block i is finished, as out may be in: so the last
 * is stored first. */
#define CBC_FINISH(i, before) store(out + 16 * (i), xor(before, s[i]))

EVC_INLINE struct block cbc_step(struct schedule k, struct block iv, const uint8_t *in,
                                 uint8_t *out, unsigned n)
{
    const struct block first = first_key(k);
    struct block s[WIDE], next_iv;

    EACH_UP_TO_4(n, s[i] = xor(load(in + 16 * i), first));
    crypt(k, s, n, 1);
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

EVC_INLINE struct block xts_step(struct schedule k, struct block t, const uint8_t *in,
                                 uint8_t *out, unsigned n, int decrypting)
{
    const struct block first = first_key(k);
    struct block s[WIDE], tweak[WIDE];

    EACH_UP_TO_4(n, tweak[i] = t, t = next_tweak(t));
    EACH_UP_TO_4(n, s[i] = xor(xor(load(in + 16 * i), first), tweak[i]));
    crypt(k, s, n, decrypting);
    EACH_UP_TO_4(n, store(out + 16 * i, xor(s[i], tweak[i])));
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

/* The state between two blocks is that of the next block with the first round key, but without its
 * text: nothing else is on the chain. out: NULL unless storing */
EVC_INLINE void chain(zkn_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                      size_t n_blocks, int storing)
{
    const struct schedule k = schedule_of(key, 0);
    const struct block first = first_key(k), both = xor(first, last_key(k));
    struct block x = xor(load_any(iv), first);

    for (; n_blocks; n_blocks--, in += 16) {
        x = xor(x, load_any(in));
        crypt_adding(k, &x, 1, 0, &both);
        if (storing) {
            store_any(out, xor(x, first));
            out += 16;
        }
    }
    store_any(iv, xor(x, first));
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

/* s[0] is the chain, s[1] key stream, encrypted side by side: a block that is encrypted beside its
 * own MAC, and one that is decrypted beside that of the block before it. */
EVC_INLINE void ccm(zkn_key *key, uint8_t counter[16], uint8_t mac[16], const uint8_t *in,
                    uint8_t *out, size_t n_blocks, int decrypting)
{
    const struct schedule k = schedule_of(key, 0);
    const struct block first = first_key(k), last = last_key(k);
    /* The chain goes on with the first round key of its next block. */
    const struct block add[2] = {xor(first, last), last};
    struct ccm_counter c;
    struct block s[2], text;

    if (!n_blocks)
        return;
    c = ccm_counter_of(load_any(counter), first);
    s[0] = xor(load_any(mac), first);
    if (decrypting) {
        s[1] = next_ccm(&c);
        crypt(k, s + 1, 1, 0);
    }
    for (;; in += 16, out += 16) {
        text = load_any(in);
        if (decrypting) {
            text = xor(s[1], text);
            store_any(out, text);
        }
        s[0] = xor(s[0], text);
        if (decrypting && --n_blocks == 0)
            break;
        s[1] = next_ccm(&c);
        crypt_adding(k, s, 2, 0, add);
        if (!decrypting) {
            store_any(out, xor(s[1], text));
            if (--n_blocks == 0)
                break;
        }
    }
    if (decrypting)
        crypt_adding(k, s, 1, 0, add);
    store_any(mac, xor(s[0], first));
    evc_store64_be(counter + 8, c.count);
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
    struct block s[WIDE], first;

    EACH_UP_TO_4(n, s[i] = load_any(chains[i].msg->iv));
    for (; n_blocks; n_blocks--) {
        first = first_key(k);
        EACH_UP_TO_4(n, s[i] = xor(xor(load_any(chains[i].in), first), s[i]));
        crypt(k, s, n, 0);
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

#define EVC_RV_ZKN_SLOTS                  \
    .set_key = set_key,                   \
    .encrypt = encrypt,                   \
    .decrypt = decrypt,                   \
    .ctr32 = ctr32,                       \
    .ctr32_le = ctr32_le,                 \
    .cbc_encrypt = cbc_encrypt,           \
    .cbc_decrypt = cbc_decrypt,           \
    .cbcmac = cbcmac,                     \
    .xts_encrypt = xts_encrypt,           \
    .xts_decrypt = xts_decrypt,           \
    .cbc_encrypt_many = cbc_encrypt_many, \
    .ccm_encrypt = ccm_encrypt,           \
    .ccm_decrypt = ccm_decrypt

#endif

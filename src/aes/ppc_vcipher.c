/* SPDX-License-Identifier: MIT */
/*
 * AES with the AES instructions of POWER8 and later, 8 blocks in flight.
 *
 * Method:   one vcipher or vncipher per round and block. All round keys stay in registers in long
 *           messages; in short ones they are loaded for each step, which leaves registers of the
 *           caller alone. Keys are stored so that a plain load has their bytes in order. Bytes of
 *           text that a little-endian system loads in another order are put right by the vpermxor
 *           that adds text, key or tweak. Decryption takes the keys of encryption backwards.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; Power ISA 2.07 B (2018), section
 *           6.11.1.
 * Needs:    PPC_VCRYPTO.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "aes/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(PPC_VCRYPTO)
EVC_ISA_BEGIN(PPC_VCRYPTO)

#include "aes/chains.h"
#include "aes/ppc_keys.h"
#include "common/each.h"
#include "common/ppc.h"

#define WIDE 8
#define LONG_BLOCKS (8 * WIDE) /* from here on it pays to keep all round keys in registers */

/* Steps with all round keys in registers need all of these: compilers keep some keys and tweaks on
 * the stack. Other code has room enough, so that short messages do not pay for clearing. */
#define clear_long() EVC_CLEAR_STACK(VSX, 448)

/* Raw vectors of the round keys are in order. Decryption takes them backwards. */
struct key {
    struct evc_aes_head head;
    EVC_ALIGN(16) uint8_t rk[EVC_AES_MAX_ROUNDS + 1][16];
};

typedef const struct key aes_key;
typedef evc_ppc_vec vec;

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;

    evc_ppc_expand((uint8_t *)key->rk, key->head.rounds, user_key);
}

/* ---- Round keys ------------------------------------------------------------------------------ */

/* The round keys of one direction, in memory; or in registers whatever their number is. */
struct round_keys {
    const uint8_t *early; /* five, in use: one with 10 rounds, three with 12 */
    const uint8_t *late;  /* the last ten */
    uint32_t rounds;
    int decrypting, in_registers;
    vec first;
    vec more[4];   /* the next ones: two of them are used with 12 rounds, all with 14 */
    vec middle[9]; /* the 9 before the last */
    vec last;
};

EVC_INLINE struct round_keys stored_keys(aes_key *key, int decrypting)
{
    struct round_keys k;

    k.rounds = key->head.rounds;
    k.early = key->rk[decrypting ? k.rounds - 4 : 0];
    k.late = key->rk[decrypting ? 0 : k.rounds - 9];
    k.decrypting = decrypting;
    k.in_registers = 0;
    return k;
}

/* Makes addresses opaque, so that compilers load keys in each turn of a loop anew. */
EVC_INLINE void load_anew(struct round_keys *k)
{
    EVC_KEEP(k->early);
    EVC_KEEP(k->late);
}

/* The i-th block, i a constant, with few registers for distances: in fours. */
EVC_INLINE vec load_in_fours(const uint8_t *p, size_t i)
{
    return evc_ppc_load_ith(p + i / 4 * 64, i % 4);
}

/* i: 0 to 4 */
EVC_INLINE vec early_key(const struct round_keys *k, unsigned i)
{
    return load_in_fours(k->early, k->decrypting ? 4 - i : i);
}

/* i: 0 to 9 */
EVC_INLINE vec late_key(const struct round_keys *k, unsigned i)
{
    return load_in_fours(k->late, k->decrypting ? 9 - i : i);
}

/* The i-th block of text. */
EVC_INLINE vec load_text(const struct round_keys *k, const uint8_t *in, size_t i)
{
    return k->in_registers ? evc_ppc_load_ith(in, i) : load_in_fours(in, i);
}

EVC_INLINE void store_text(const struct round_keys *k, uint8_t *out, size_t i, vec v)
{
    if (k->in_registers)
        evc_ppc_store_ith(out, i, v);
    else
        evc_ppc_store_ith(out + i / 4 * 64, i % 4, v);
}

EVC_INLINE vec first_key(const struct round_keys *k)
{
    return k->in_registers ? k->first : early_key(k, 0);
}

EVC_INLINE vec more_key(const struct round_keys *k, unsigned i)
{
    return k->in_registers ? k->more[i] : early_key(k, i + 1);
}

EVC_INLINE vec middle_key(const struct round_keys *k, unsigned i)
{
    return k->in_registers ? k->middle[i] : late_key(k, i);
}

EVC_INLINE vec last_key(const struct round_keys *k)
{
    return k->in_registers ? k->last : late_key(k, 9);
}

EVC_INLINE struct round_keys round_keys(aes_key *key, int decrypting)
{
    struct round_keys k = stored_keys(key, decrypting);

    k.first = first_key(&k);
    EACH_UP_TO_4(4, k.more[i] = more_key(&k, i));
    EACH_UP_TO_8(8, k.middle[i] = middle_key(&k, i));
    k.middle[8] = middle_key(&k, 8);
    k.last = last_key(&k);
    k.in_registers = 1;
    return k;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

EVC_INLINE void one_round(vec *s, unsigned n, vec key, int decrypting)
{
    EACH_UP_TO_8(n, s[i] = decrypting ? evc_ppc_vncipher(s[i], key) : evc_ppc_vcipher(s[i], key));
}

/* All rounds but the last, of n states to which the first key has been added. */
EVC_INLINE void middle_rounds(const struct round_keys *k, vec *s, unsigned n)
{
    if (k->rounds > 10) {
        one_round(s, n, more_key(k, 0), k->decrypting);
        one_round(s, n, more_key(k, 1), k->decrypting);
        if (k->rounds > 12) {
            one_round(s, n, more_key(k, 2), k->decrypting);
            one_round(s, n, more_key(k, 3), k->decrypting);
        }
    }
    EACH_UP_TO_8(8, one_round(s, n, middle_key(k, i), k->decrypting));
    one_round(s, n, middle_key(k, 8), k->decrypting);
}

EVC_INLINE vec last_round(const struct round_keys *k, vec s, vec key)
{
    return k->decrypting ? evc_ppc_vncipherlast(s, key) : evc_ppc_vcipherlast(s, key);
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* Steps of a mode, which has four names in its functions: k, in, out, n_blocks. Fewer blocks than
 * WIDE: 4, 2 and 1 in a step. */
#define MOVE_ON(n) n_blocks -= (n), in += 16 * (n), out += 16 * (n)
#define FEW_BLOCKS(step)    \
    do {                    \
        if (n_blocks & 4) { \
            step(4);        \
            MOVE_ON(4);     \
        }                   \
        if (n_blocks & 2) { \
            step(2);        \
            MOVE_ON(2);     \
        }                   \
        if (n_blocks & 1) { \
            step(1);        \
            MOVE_ON(1);     \
        }                   \
    } while (0)

/* Whole steps of WIDE blocks. */
#define WHOLE_STEPS(step)                         \
    do {                                          \
        for (; n_blocks >= WIDE; MOVE_ON(WIDE)) { \
            if (!k.in_registers)                  \
                load_anew(&k);                    \
            step(WIDE);                           \
        }                                         \
    } while (0)

#define WHOLE_AND_FEW(step) \
    do {                    \
        WHOLE_STEPS(step);  \
        FEW_BLOCKS(step);   \
    } while (0)

/* A mode of whole blocks; state: IV or tweak. */
typedef void text_mode(const void *key, uint8_t state[16], const uint8_t *in, uint8_t *out,
                       size_t n_blocks);

/* whole: the mode with all keys in registers, for whole steps; any: the mode for any number */
EVC_OUT_OF_LINE void crypt_long(text_mode *whole, text_mode *any, const void *key,
                                uint8_t state[16], const uint8_t *in, uint8_t *out,
                                size_t n_blocks)
{
    const size_t n_few = n_blocks % WIDE, n_whole = n_blocks - n_few;

    whole(key, state, in, out, n_whole);
    clear_long();
    if (n_few)
        any(key, state, in + 16 * n_whole, out + 16 * n_whole, n_few);
}

/* ---- Blocks (ECB) ---------------------------------------------------------------------------- */

EVC_INLINE void ecb_step(const struct round_keys *k, const uint8_t *in, uint8_t *out, unsigned n)
{
    const vec first = first_key(k);
    vec s[WIDE], last;

    EACH_UP_TO_8(n, s[i] = evc_ppc_turn_xor(load_text(k, in, i), first));
    middle_rounds(k, s, n);
    last = last_key(k);
    EACH_UP_TO_8(n, s[i] = last_round(k, s[i], last);
         store_text(k, out, i, evc_ppc_turn(s[i])));
}
#define ECB_STEP(n) ecb_step(&k, in, out, n)

#define ECB_MODE(name, keys, decrypting, steps)                                                    \
    EVC_OUT_OF_LINE void name(const void *key, uint8_t *no_state, const uint8_t *in, uint8_t *out, \
                     size_t n_blocks)                                                              \
    {                                                                                              \
        struct round_keys k = keys(key, decrypting);                                               \
                                                                                                   \
        (void)no_state;                                                                            \
        steps(ECB_STEP);                                                                           \
    }
ECB_MODE(ecb_any_encrypt, stored_keys, 0, WHOLE_AND_FEW)
ECB_MODE(ecb_any_decrypt, stored_keys, 1, WHOLE_AND_FEW)
ECB_MODE(ecb_whole_encrypt, round_keys, 0, WHOLE_STEPS)
ECB_MODE(ecb_whole_decrypt, round_keys, 1, WHOLE_STEPS)

EVC_INLINE void ecb_few(aes_key *key, const uint8_t *in, uint8_t *out, size_t n_blocks,
                        int decrypting)
{
    const struct round_keys k = stored_keys(key, decrypting);

    FEW_BLOCKS(ECB_STEP);
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    if (n_blocks < WIDE)
        ecb_few(key, in, out, n_blocks, 0);
    else if (n_blocks < LONG_BLOCKS)
        ecb_any_encrypt(key, NULL, in, out, n_blocks);
    else
        crypt_long(ecb_whole_encrypt, ecb_any_encrypt, key, NULL, in, out, n_blocks);
}

static void decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    if (n_blocks < WIDE)
        ecb_few(key, in, out, n_blocks, 1);
    else if (n_blocks < LONG_BLOCKS)
        ecb_any_decrypt(key, NULL, in, out, n_blocks);
    else
        crypt_long(ecb_whole_decrypt, ecb_any_decrypt, key, NULL, in, out, n_blocks);
}

/* ---- CTR ------------------------------------------------------------------------------------- */

/* A counter is a block in order, whose last word is a number of this CPU. le: a constant, 1 where
 * the first word counts, little-endian: then that is the number, and the bytes of the block are
 * turned where the first round key is added. */
EVC_INLINE vec counter_plus(vec count, uint32_t n, int le)
{
    const evc_ppc_words ahead = le ? EVC_PPC_WORDS(n, 0, 0, 0) : EVC_PPC_WORDS(0, 0, 0, n);

    return (vec)((evc_ppc_words)count + ahead);
}

/* a, its first word turned if le, plus b. */
EVC_INLINE vec counter_xor(vec a, vec b, int le)
{
    return le ? evc_ppc_vpermxor(a, b,
                                 EVC_PPC_BYTES(0x30, 0x21, 0x12, 0x03, 0x44, 0x55, 0x66, 0x77,
                                               0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff))
              : a ^ b;
}

/* The counter in memory; that behind n_blocks blocks takes its place. */
EVC_INLINE vec counter_load(uint8_t counter[16], size_t n_blocks, int le)
{
    const vec count = counter_xor(evc_ppc_load(counter), (vec){0}, le);

    if (le)
        evc_store32_le(counter, evc_load32_le(counter) + (uint32_t)n_blocks);
    else
        evc_store32_be(counter + 12, evc_load32_be(counter + 12) + (uint32_t)n_blocks);
    return count;
}

/* One more. Hidden from the compiler, which would have a register for each
 * number of blocks ahead. */
EVC_INLINE vec counter_next(vec count, int le)
{
    count = counter_plus(count, 1, le);
    __asm__("" : "+v"(count));
    return count;
}

EVC_INLINE void ctr_step(const struct round_keys *k, vec *count, const uint8_t *in, uint8_t *out,
                         unsigned n, int le)
{
    const vec first = first_key(k);
    vec s[WIDE], last;

    EACH_UP_TO_8(n, s[i] = counter_xor(*count, first, le); *count = counter_next(*count, le));
    middle_rounds(k, s, n);
    last = last_key(k);
    EACH_UP_TO_8(n, s[i] = evc_ppc_vcipherlast(s[i], last);
         store_text(k, out, i, evc_ppc_turn_xor(s[i], load_text(k, in, i))));
}
#define CTR_STEP(n) ctr_step(&k, &count, in, out, n, le)

/* n_bytes: 1 to 15 */
EVC_INLINE void ctr_part(const struct round_keys *k, vec count, const uint8_t *in, uint8_t *out,
                         size_t n_bytes, int le)
{
    vec s = counter_xor(count, first_key(k), le);

    middle_rounds(k, &s, 1);
    s = evc_ppc_vcipherlast(s, last_key(k)) ^ evc_ppc_load_part(in, n_bytes);
    evc_ppc_store_part(out, s, n_bytes);
}

EVC_INLINE void ctr_steps(struct round_keys k, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                          size_t n_blocks, int le)
{
    vec count = counter_load(counter, n_blocks, le);

    WHOLE_STEPS(CTR_STEP);
}

/* len_bytes: of fewer blocks than WIDE, the last of which may be a part */
EVC_INLINE void ctr_few_of(aes_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                           size_t len_bytes, int le)
{
    const struct round_keys k = stored_keys(key, 0);
    size_t n_blocks = len_bytes / 16;
    vec count = counter_load(counter, (len_bytes + 15) / 16, le);

    FEW_BLOCKS(CTR_STEP);
    if (len_bytes & 15)
        ctr_part(&k, count, in, out, len_bytes & 15, le);
}

/* The slot `name`, and what it calls. */
#define CTR_MODE(name, le)                                                                         \
    EVC_OUT_OF_LINE void name##_stored(aes_key *key, uint8_t counter[16], const uint8_t *in,       \
                                       uint8_t *out, size_t n_blocks)                              \
    {                                                                                              \
        ctr_steps(stored_keys(key, 0), counter, in, out, n_blocks, le);                            \
    }                                                                                              \
    EVC_OUT_OF_LINE void name##_whole(aes_key *key, uint8_t counter[16], const uint8_t *in,        \
                                      uint8_t *out, size_t n_blocks)                               \
    {                                                                                              \
        ctr_steps(round_keys(key, 0), counter, in, out, n_blocks, le);                             \
    }                                                                                              \
    EVC_OUT_OF_LINE void name##_few(aes_key *key, uint8_t counter[16], const uint8_t *in,          \
                                    uint8_t *out, size_t len_bytes)                                \
    {                                                                                              \
        ctr_few_of(key, counter, in, out, len_bytes, le);                                          \
    }                                                                                              \
    static void name(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,        \
                     size_t len_bytes)                                                             \
    {                                                                                              \
        const size_t few_bytes = len_bytes % (16 * WIDE), whole = len_bytes - few_bytes;           \
                                                                                                   \
        if (!whole) {                                                                              \
            name##_few(key, counter, in, out, len_bytes);                                          \
            return;                                                                                \
        }                                                                                          \
        if (len_bytes < 16 * LONG_BLOCKS) {                                                        \
            name##_stored(key, counter, in, out, whole / 16);                                      \
        } else {                                                                                   \
            name##_whole(key, counter, in, out, whole / 16);                                       \
            clear_long();                                                                          \
        }                                                                                          \
        if (few_bytes)                                                                             \
            name##_few(key, counter, in + whole, out + whole, few_bytes);                          \
    }
CTR_MODE(ctr32, 0)
CTR_MODE(ctr32_le, 1)

/* ---- CBC decryption -------------------------------------------------------------------------- */

/* Block i, 1 or more, after its last round. */
EVC_INLINE void cbc_finish(const struct round_keys *k, vec s, const uint8_t *in, uint8_t *out,
                           size_t i)
{
    store_text(k, out, i, evc_ppc_turn_xor(s, load_text(k, in, i - 1)));
}

/* The last block is stored first: if out is in, block i - 1 must still be the ciphertext when block
 * i is finished. iv and the result are raw. */
EVC_INLINE vec cbc_step(const struct round_keys *k, vec iv, const uint8_t *in, uint8_t *out,
                        unsigned n)
{
    const vec first = first_key(k), next_iv = load_text(k, in, n - 1);
    vec s[WIDE], last;

    EACH_UP_TO_8(n, s[i] = evc_ppc_turn_xor(load_text(k, in, i), first));
    middle_rounds(k, s, n);
    last = last_key(k);
    EACH_UP_TO_8(n, s[i] = evc_ppc_vncipherlast(s[i], last));
    EACH_UP_TO_8(n, if (n - 1 - i > 0) cbc_finish(k, s[n - 1 - i], in, out, n - 1 - i));
    evc_ppc_store_raw(out, evc_ppc_turn_xor(s[0], iv));
    return next_iv;
}
#define CBC_STEP(n) x = cbc_step(&k, x, in, out, n)

#define CBC_MODE(name, keys, steps)                                                             \
    EVC_OUT_OF_LINE void name(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out, \
                     size_t n_blocks)                                                           \
    {                                                                                           \
        struct round_keys k = keys(key, 1);                                                     \
        vec x = evc_ppc_load_raw(iv);                                                           \
                                                                                                \
        steps(CBC_STEP);                                                                        \
        evc_ppc_store_raw(iv, x);                                                               \
    }
CBC_MODE(cbc_few, stored_keys, FEW_BLOCKS)
CBC_MODE(cbc_any, stored_keys, WHOLE_AND_FEW)
CBC_MODE(cbc_whole, round_keys, WHOLE_STEPS)

static void cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    if (n_blocks < WIDE)
        cbc_few(key, iv, in, out, n_blocks);
    else if (n_blocks < LONG_BLOCKS)
        cbc_any(key, iv, in, out, n_blocks);
    else
        crypt_long(cbc_whole, cbc_few, key, iv, in, out, n_blocks);
}

/* ---- XTS ------------------------------------------------------------------------------------- */

/* t * x in GF(2^128), x^128 = x^7 + x^2 + x + 1 (IEEE 1619-2018 section 5.2), of a block in order:
 * each byte is doubled, and what it loses goes to the next one. */
EVC_INLINE vec next_tweak(vec t)
{
    vec lost = (vec)((evc_ppc_signed)t >> 7);

    EVC_PPC_SHIFT(lost, lost, lost, 15);
    return (t + t) ^
           (lost & EVC_PPC_BYTES(0x87, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
}

/* t * x^8: bytes move on by one. The last byte, c, comes back as c * 0x87. The product with 0x86
 * lacks c, which has moved to byte 0. */
EVC_INLINE vec eighth_tweak(vec t)
{
    const vec back = evc_ppc_vpmsumb(
        t, EVC_PPC_BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x86));

    return evc_ppc_vpermxor(t, back,
                            EVC_PPC_BYTES(0xff, 0x0e, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70,
                                          0x80, 0x90, 0xa0, 0xb0, 0xc0, 0xd0, 0xe0));
}

/* t: the tweaks of the blocks, which are added to the first key and to the last one. */
EVC_INLINE void xts_step(const struct round_keys *k, const vec *t, const uint8_t *in, uint8_t *out,
                         unsigned n)
{
    const vec first = first_key(k);
    vec s[WIDE], last;

    EACH_UP_TO_8(n, s[i] = evc_ppc_turn_xor(load_text(k, in, i), t[i] ^ first));
    middle_rounds(k, s, n);
    last = last_key(k);
    EACH_UP_TO_8(n, s[i] = last_round(k, s[i], t[i] ^ last);
                 store_text(k, out, i, evc_ppc_turn(s[i])));
}

/* The tweaks of n blocks; t becomes that of the block behind them. */
EVC_INLINE void next_tweaks(vec *tweaks, vec *t, unsigned n)
{
    EACH_UP_TO_8(n, tweaks[i] = *t; *t = next_tweak(*t));
}

#define XTS_FEW(n)                   \
    do {                             \
        next_tweaks(t, &behind, n);  \
        xts_step(&k, t, in, out, n); \
    } while (0)

EVC_INLINE void xts_few(aes_key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks, int decrypting)
{
    const struct round_keys k = stored_keys(key, decrypting);
    vec t[4], behind = evc_ppc_load(tweak);

    FEW_BLOCKS(XTS_FEW);
    evc_ppc_store(tweak, behind);
}

/* n_blocks: WIDE or more */
EVC_INLINE void xts_many(struct round_keys k, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                         size_t n_blocks)
{
    vec t[WIDE], behind = evc_ppc_load(tweak);

    next_tweaks(t, &behind, WIDE);
    for (;;) {
        if (!k.in_registers)
            load_anew(&k);
        xts_step(&k, t, in, out, WIDE);
        MOVE_ON(WIDE);
        if (n_blocks < WIDE)
            break;
        EACH_UP_TO_8(WIDE, t[i] = eighth_tweak(t[i]));
    }
    behind = eighth_tweak(t[0]);
    if (!k.in_registers)
        FEW_BLOCKS(XTS_FEW);
    evc_ppc_store(tweak, behind);
}

#define XTS_MODE(name, keys, decrypting)                                                           \
    EVC_OUT_OF_LINE void name(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out, \
                     size_t n_blocks)                                                              \
    {                                                                                              \
        xts_many(keys(key, decrypting), tweak, in, out, n_blocks);                                 \
    }
XTS_MODE(xts_many_encrypt, stored_keys, 0)
XTS_MODE(xts_many_decrypt, stored_keys, 1)
XTS_MODE(xts_whole_encrypt, round_keys, 0)
XTS_MODE(xts_whole_decrypt, round_keys, 1)

static void xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    if (n_blocks < WIDE)
        xts_few(key, tweak, in, out, n_blocks, 0);
    else if (n_blocks < LONG_BLOCKS)
        xts_many_encrypt(key, tweak, in, out, n_blocks);
    else
        crypt_long(xts_whole_encrypt, xts_encrypt, key, tweak, in, out, n_blocks);
}

static void xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    if (n_blocks < WIDE)
        xts_few(key, tweak, in, out, n_blocks, 1);
    else if (n_blocks < LONG_BLOCKS)
        xts_many_decrypt(key, tweak, in, out, n_blocks);
    else
        crypt_long(xts_whole_decrypt, xts_decrypt, key, tweak, in, out, n_blocks);
}

/* ---- One chain ------------------------------------------------------------------------------- */

/*
 * The last round of a block adds the next plaintext and the first key as well: nothing but AES
 * instructions is on the chain. The ciphertext is that state without the two, beside the chain.
 */
static void cbc_encrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    const struct round_keys k = round_keys(key, 0);
    vec x, next;

    if (!n_blocks)
        return;
    x = evc_ppc_turn_xor(evc_ppc_load_raw(in), k.first) ^ evc_ppc_load(iv);
    for (; n_blocks > 1; n_blocks--, in += 16, out += 16) {
        next = evc_ppc_turn_xor(evc_ppc_load_raw(in + 16), k.first);
        middle_rounds(&k, &x, 1);
        x = evc_ppc_vcipherlast(x, k.last ^ next);
        evc_ppc_store_raw(out, evc_ppc_turn_sum(x, next));
    }
    middle_rounds(&k, &x, 1);
    x = evc_ppc_turn(evc_ppc_vcipherlast(x, k.last));
    evc_ppc_store_raw(out, x);
    evc_ppc_store_raw(iv, x);
}

static void cbcmac(const void *key, uint8_t chain[16], const uint8_t *in, size_t n_blocks)
{
    const struct round_keys k = round_keys(key, 0);
    const vec fold = k.first ^ k.last;
    vec x;

    if (!n_blocks)
        return;
    x = evc_ppc_turn_xor(evc_ppc_load_raw(in), k.first) ^ evc_ppc_load(chain);
    for (; n_blocks > 1; n_blocks--, in += 16) {
        middle_rounds(&k, &x, 1);
        x = evc_ppc_vcipherlast(x, evc_ppc_turn_xor(evc_ppc_load_raw(in + 16), fold));
    }
    middle_rounds(&k, &x, 1);
    evc_ppc_store(chain, evc_ppc_vcipherlast(x, k.last));
}

/* ---- CCM ------------------------------------------------------------------------------------- */

/* The counter, a block in order whose lower half is a number; the next one takes its place. */
EVC_INLINE vec ccm_count(vec *count)
{
    const vec block = *count;

    __asm__("vaddudm %0, %1, %2"
            : "=v"(*count)
            : "v"(block), "v"(EVC_PPC_WORDS(0, 0, 0, 1)));
    return block;
}

/* s[0] is the chain, s[1] key stream: one waits while the other is in the unit. A block is
 * encrypted beside its own MAC, and decrypted beside that of the block before it. */
EVC_INLINE void ccm(aes_key *key, uint8_t counter[16], uint8_t chain[16], const uint8_t *in,
                    uint8_t *out, size_t n_blocks, int decrypting)
{
    const struct round_keys k = round_keys(key, 0);
    const vec fold = k.first ^ k.last;
    vec count = evc_ppc_load(counter), s[2], text;

    if (!n_blocks)
        return;
    s[0] = evc_ppc_load(chain) ^ k.first; /* between two blocks it has the first key in it */
    if (decrypting) {
        s[1] = ccm_count(&count) ^ k.first;
        middle_rounds(&k, s + 1, 1);
    }
    for (;; in += 16, out += 16) {
        text = evc_ppc_load_raw(in);
        if (decrypting) {
            text = evc_ppc_vcipherlast(s[1], evc_ppc_turn_xor(text, k.last));
            evc_ppc_store(out, text);
            s[0] ^= text;
            if (--n_blocks == 0)
                break;
        } else {
            s[0] = evc_ppc_turn_xor(text, s[0]);
        }
        s[1] = ccm_count(&count) ^ k.first;
        middle_rounds(&k, s, 2);
        s[0] = evc_ppc_vcipherlast(s[0], fold);
        if (!decrypting) {
            text = evc_ppc_turn_xor(evc_ppc_vcipherlast(s[1], k.last), text);
            evc_ppc_store_raw(out, text);
            if (--n_blocks == 0)
                break;
        }
    }
    if (decrypting) {
        middle_rounds(&k, s, 1);
        s[0] = evc_ppc_vcipherlast(s[0], fold);
    }
    evc_ppc_store(chain, s[0] ^ k.first);
    evc_ppc_store(counter, count);
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

/* n_blocks (not 0) more of n chains, none of them shorter. Between two blocks a state has the first
 * key in it. */
EVC_INLINE void chains_step(aes_key *key, struct evc_aes_chain *chains, size_t n_blocks, unsigned n,
                            int storing)
{
    const struct round_keys k = round_keys(key, 0);
    const vec fold = k.first ^ k.last;
    vec s[WIDE];

    EACH_UP_TO_8(n, s[i] = evc_ppc_turn_xor(evc_ppc_load_raw(chains[i].msg->iv), k.first));
    for (size_t at = 0; at < 16 * n_blocks; at += 16) {
        EACH_UP_TO_8(n, s[i] = evc_ppc_turn_xor(evc_ppc_load_raw(chains[i].in + at), s[i]));
        middle_rounds(&k, s, n);
        EACH_UP_TO_8(n, s[i] = evc_ppc_vcipherlast(s[i], fold));
        EACH_UP_TO_8(n, if (storing)
                    evc_ppc_store_raw(chains[i].out + at, evc_ppc_turn_sum(s[i], k.first)));
    }
    EACH_UP_TO_8(n, evc_ppc_store_raw(chains[i].msg->iv, evc_ppc_turn_sum(s[i], k.first)));
    for (unsigned c = 0; c < n; c++) {
        chains[c].in += 16 * n_blocks;
        if (storing)
            chains[c].out += 16 * n_blocks;
    }
}

/* Not inlined: their registers and the chains would share one frame. */
EVC_OUT_OF_LINE void chains_run_wide(aes_key *key, struct evc_aes_chain *chains, size_t n_blocks,
                                     int storing)
{
    chains_step(key, chains, n_blocks, WIDE, storing);
}

EVC_OUT_OF_LINE void chains_run_4(aes_key *key, struct evc_aes_chain *chains, size_t n_blocks,
                                  int storing)
{
    chains_step(key, chains, n_blocks, 4, storing);
}

EVC_OUT_OF_LINE void chains_run_2(aes_key *key, struct evc_aes_chain *chains, size_t n_blocks,
                                  int storing)
{
    chains_step(key, chains, n_blocks, 2, storing);
}

#include "aes/many_chains.h"

static void cbc_encrypt_many(const void *key, const struct evc_msg *msgs, size_t n)
{
    if (cbc_many(key, msgs, n, 1))
        cbc_many(key, msgs, n, 0);
    EVC_CLEAR_STACK(VSX, 768);
}

EVC_ISA_END

#define HEAD \
    EVC_KERNEL_HEAD(ppc_vcipher, PPC_VCRYPTO, CT, ANY, WIDE, struct key, 0, VSX, 0)

const struct evc_aes evc_aes_ppc_vcipher = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .ctr32 = ctr32,
    .ctr32_le = ctr32_le,
    .cbc_encrypt = cbc_encrypt,
    .cbc_decrypt = cbc_decrypt,
    .cbcmac = cbcmac,
    .xts_encrypt = xts_encrypt,
    .xts_decrypt = xts_decrypt,
    .cbc_encrypt_many = cbc_encrypt_many,
    .ccm_encrypt = ccm_encrypt,
    .ccm_decrypt = ccm_decrypt,
};

const struct evc_aes evc_aes_ppc_vcipher_forward = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .ctr32 = ctr32,
};
#else
EVC_EMPTY_UNIT
#endif

/* SPDX-License-Identifier: MIT */
/*
 * AES by vector permute for AltiVec without AES instructions: PowerPC 970 (G5), POWER6, POWER7.
 *
 * Method:   a byte is two nibbles i, k over GF(16); five look-ups give two nibbles io, jo from
 *           which any linear map of the S-box is the sum of two more look-ups
 *           (tools/gen-vperm-tables has the algebra). vperm looks up 32 bytes: infinity is 16 here,
 *           where a register of zeros follows the table. ShiftRows is in the patterns that rotate
 *           the rows and in the round keys. 24 instructions encrypt a block by one round, 31
 *           decrypt it. 4 blocks are in flight; the tables of a round fill other registers.
 * Source:   M. Hamburg, Accelerating AES with Vector Permute Instructions, CHES 2009; FIPS 197
 *           (2023) sections 5.1 to 5.3; IEEE 1619-2018 section 5; AltiVec Technology Programming
 *           Environments Manual (Freescale, 2006), chapter 6.
 * Needs:    PPC_ALTIVEC.   Timing: CT (no secret-dependent branch or address).
 * Key form: private.
 */
#include "aes/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(PPC_ALTIVEC)
EVC_ISA_BEGIN(PPC_ALTIVEC)

#include "aes/chains.h"
#include "aes/key_schedule.h"
#include "aes/vperm_tables.h"
#include "common/altivec.h"
#include "common/clear.h"
#include "common/each.h"

typedef evc_ppc_vec vec;

/* Blocks at once. */
#define WIDE 4

/* Vectors of 16 bytes that are in order as loaded. "In the order of round r": ShiftRows (for
 * decryption InvShiftRows) done r more times makes it right, which is how round r leaves the
 * state. */
struct key {
    struct evc_aes_head head;
    /* [0]: packed. [r]: ^ 0x63, packed, in the order of round r. [rounds]: ^ 0x63, bytes. */
    EVC_ALIGN(16) uint8_t enc[EVC_AES_MAX_ROUNDS + 1][16];
    /* In the order of use. [0] .. [rounds - 1]: as the state of decryption. [rounds]: bytes. */
    uint8_t dec[EVC_AES_MAX_ROUNDS + 1][16];
};

typedef const struct key aes_key;

/* ---- Steps ----------------------------------------------------------------------------------- */

/* The tables at an address that compilers know nothing of: they then load them from there. */
EVC_INLINE const struct vperm_tables *tables(void)
{
    const struct vperm_tables *all = &vperm_tables;

    EVC_KEEP(all);
    return all;
}

EVC_INLINE vec table(const uint8_t *p)
{
    return evc_altivec_get_block(p);
}

/* Bytes of x in another order. */
EVC_INLINE vec permute(vec x, vec from)
{
    return evc_ppc_vperm(x, x, from);
}

struct reciprocals {
    vec io, jo;
};

/* Two tables that make one look-up: U for io and T for jo, or for the low and the high nibble. */
struct pair {
    vec u, t;
};

struct inverse {
    vec low, inv, ainv, zero;
};

EVC_INLINE struct pair pair_of(const uint8_t ut[2][16])
{
    return (struct pair){table(ut[0]), table(ut[1])};
}

/* Infinity is 128 in the shared tables. */
EVC_INLINE struct inverse inverse_tables(const struct vperm_tables *t)
{
    const vec infinity = {16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16};

    return (struct inverse){table(t->low), evc_ppc_smaller_bytes(table(t->inv), infinity),
                            evc_ppc_smaller_bytes(table(t->ainv), infinity), (vec){0}};
}

/* io and jo may be infinity, to which zero belongs. */
EVC_INLINE vec look_up(struct pair p, vec zero, struct reciprocals o)
{
    return evc_ppc_vperm(p.u, zero, o.io) ^ evc_ppc_vperm(p.t, zero, o.jo);
}

/* A linear map of bytes, by its tables for the low and the high nibble: a table that is twice
 * there takes no notice of bit 4. */
EVC_INLINE vec map_bytes(struct pair p, vec x)
{
    return evc_ppc_vperm(p.u, p.u, x) ^ evc_ppc_vperm(p.t, p.t, x >> 4);
}

/* Inverts n packed states, step by step, so that none waits for itself where instructions start in
 * this order. */
EVC_INLINE void invert(const struct inverse *by, const vec *packed, struct reciprocals *o,
                       unsigned n)
{
    vec x[WIDE], y[WIDE], ak[WIDE]; /* k, i; then j, i */

    EACH_UP_TO_4(n, x[i] = packed[i] & by->low);
    EACH_UP_TO_4(n, y[i] = packed[i] >> 4);
    EACH_UP_TO_4(n, ak[i] = permute(by->ainv, x[i]));
    EACH_UP_TO_4(n, x[i] ^= y[i]);
    EACH_UP_TO_4(n, o[i].io = permute(by->inv, y[i]));
    EACH_UP_TO_4(n, o[i].jo = permute(by->inv, x[i]));
    EACH_UP_TO_4(n, o[i].io ^= ak[i]);
    EACH_UP_TO_4(n, o[i].jo ^= ak[i]);
    EACH_UP_TO_4(n, o[i].io = evc_ppc_vperm(by->inv, by->zero, o[i].io));
    EACH_UP_TO_4(n, o[i].jo = evc_ppc_vperm(by->inv, by->zero, o[i].jo));
    EACH_UP_TO_4(n, o[i].io ^= x[i]);
    EACH_UP_TO_4(n, o[i].jo ^= y[i]);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* AddRoundKey before the first round, and the change of basis. */
EVC_INLINE void first_round(vec *x, unsigned n, const uint8_t halves[2][16],
                            const uint8_t *round_key)
{
    const struct pair in = pair_of(halves);
    const vec k = evc_altivec_get(round_key);

    EACH_UP_TO_4(n, x[i] = map_bytes(in, x[i]) ^ k);
}

EVC_INLINE void last_round(vec *x, unsigned n, const struct inverse *by, const uint8_t ut[2][16],
                           const uint8_t shift[16], const uint8_t *round_key)
{
    const struct pair out = pair_of(ut);
    const vec from = table(shift), k = evc_altivec_get(round_key);
    struct reciprocals o[WIDE];

    invert(by, x, o, n);
    EACH_UP_TO_4(n, x[i] = look_up(out, by->zero, o[i]));
    EACH_UP_TO_4(n, x[i] = permute(x[i], from) ^ k);
}

/* Rounds 1 to rounds - 1 of n states that first_round has made. A sum of rows 0 and 2; and one row
 * further down, with 2 + 1 for 2, that of rows 1 and 3. */
EVC_INLINE void middle_encryption(aes_key *key, const struct inverse *by, vec *x, unsigned n)
{
    const struct vperm_tables *t = tables();
    const struct pair times_1 = pair_of(t->enc), times_2 = pair_of(t->enc + 2);
    const size_t end = 16 * (size_t)key->head.rounds;

    for (size_t at = 16; at < end; at += 16) { /* round at / 16 */
        const uint8_t *rotate = t->rotate[0] + 3 * (at & 48);
        const vec row_1 = table(rotate), row_2 = table(rotate + 16),
                  k = evc_altivec_get(key->enc[0] + at);
        struct reciprocals o[WIDE];
        vec s[WIDE];

        invert(by, x, o, n);
        EACH_UP_TO_4(n, s[i] = look_up(times_1, by->zero, o[i]));
        EACH_UP_TO_4(n, x[i] = look_up(times_2, by->zero, o[i]));
        EACH_UP_TO_4(n, x[i] ^= permute(s[i], row_2));
        EACH_UP_TO_4(n, s[i] = permute(x[i] ^ s[i], row_1));
        EACH_UP_TO_4(n, x[i] ^= k);
        EACH_UP_TO_4(n, x[i] ^= s[i]);
    }
}

EVC_INLINE void encryption_rounds(aes_key *key, vec *x, unsigned n)
{
    const struct vperm_tables *t = tables();
    const struct inverse by = inverse_tables(t);
    const size_t rounds = key->head.rounds;

    middle_encryption(key, &by, x, n);
    last_round(x, n, &by, t->sub, t->shift[rounds & 3], key->enc[rounds]);
}

/* The inverse of MixColumns: 14, 11, 13, 9 times rows 0, 1, 2, 3. */
EVC_INLINE void decryption_rounds(aes_key *key, vec *x, unsigned n)
{
    const struct vperm_tables *t = tables();
    const struct inverse by = inverse_tables(t);
    const struct pair times_14 = pair_of(t->dec), times_13 = pair_of(t->dec + 2);
    const struct pair times_11 = pair_of(t->dec + 4), times_9 = pair_of(t->dec + 6);
    const size_t rounds = key->head.rounds;

    for (size_t at = 16; at < 16 * rounds; at += 16) {
        const uint8_t *rotate = t->rotate[0] + 3 * ((0 - at) & 48);
        const vec row_1 = table(rotate), row_2 = table(rotate + 16),
                  k = evc_altivec_get(key->dec[0] + at);
        struct reciprocals o[WIDE];
        vec s[WIDE]; /* 9 times row 3, with 11 times row 1 */

        invert(&by, x, o, n);
        EACH_UP_TO_4(n, s[i] = look_up(times_9, by.zero, o[i]));
        EACH_UP_TO_4(n, s[i] = look_up(times_11, by.zero, o[i]) ^ permute(s[i], row_2));
        EACH_UP_TO_4(n, x[i] = look_up(times_13, by.zero, o[i]));
        EACH_UP_TO_4(n, x[i] = look_up(times_14, by.zero, o[i]) ^ permute(x[i], row_2));
        EACH_UP_TO_4(n, x[i] ^= k ^ permute(s[i], row_1));
    }
    last_round(x, n, &by, t->inv_sub, t->shift[-rounds & 3], key->dec[rounds]);
}

EVC_INLINE void crypt(aes_key *key, vec *x, unsigned n, int decrypting)
{
    if (decrypting) {
        first_round(x, n, tables()->inv_in, key->dec[0]);
        decryption_rounds(key, x, n);
    } else {
        first_round(x, n, tables()->in, key->enc[0]);
        encryption_rounds(key, x, n);
    }
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* n blocks, of any alignment: from the aligned ones around them. */
EVC_INLINE void load_blocks(vec *x, const uint8_t *in, unsigned n)
{
    const vec places = evc_altivec_places(in);
    vec around[WIDE + 1];

    EACH_UP_TO_4(n, around[i] = evc_altivec_around_first(in + 16 * i));
    around[n] = evc_altivec_around_last(in + 16 * (n - 1));
    EACH_UP_TO_4(n, x[i] = evc_altivec_joined(around[i], around[i + 1], places));
}

EVC_INLINE void store_blocks(uint8_t *out, const vec *x, unsigned n)
{
    if (evc_altivec_is_aligned(out))
        EACH_UP_TO_4(n, evc_altivec_put(out + 16 * i, evc_altivec_turn(x[i])));
    else
        EACH_UP_TO_4(n, evc_altivec_store_anywhere(out + 16 * i, x[i]));
}

/* Steps of a mode, which has three names in its functions: in, out, n_blocks. */
#define MOVE_ON(n) n_blocks -= (n), in += 16 * (n), out += 16 * (n)
#define EACH_STEP(step)                           \
    do {                                          \
        for (; n_blocks >= WIDE; MOVE_ON(WIDE))   \
            step(WIDE);                           \
        if (n_blocks & 2) {                       \
            step(2);                              \
            MOVE_ON(2);                           \
        }                                         \
        if (n_blocks & 1)                         \
            step(1);                              \
    } while (0)

/* ---- Blocks (ECB) ---------------------------------------------------------------------------- */

EVC_INLINE void ecb_step(aes_key *key, const uint8_t *in, uint8_t *out, unsigned n, int decrypting)
{
    vec x[WIDE];

    load_blocks(x, in, n);
    crypt(key, x, n, decrypting);
    store_blocks(out, x, n);
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
#define STEP(n) ecb_step(key, in, out, n, 0)
    EACH_STEP(STEP);
#undef STEP
}

static void decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
#define STEP(n) ecb_step(key, in, out, n, 1)
    EACH_STEP(STEP);
#undef STEP
}

/* ---- CTR ------------------------------------------------------------------------------------- */

/* Counters of a message: the common part of its counter blocks after first_round; the part of the
 * last word that depends on the key alone; the next four counters, as numbers of this CPU. */
struct counters {
    vec common, last_key;
    evc_ppc_words next;
};

EVC_INLINE struct counters counters_of(aes_key *key, const uint8_t counter[16])
{
    vec block = evc_altivec_load(counter), last_key = evc_altivec_get(key->enc[0]), count;

    EVC_PPC_SPLAT(count, block, 3);
    EVC_PPC_SPLAT(last_key, last_key, 3);
    first_round(&block, 1, tables()->in, key->enc[0]);
    return (struct counters){block, last_key,
                             (evc_ppc_words)count + EVC_PPC_WORDS(0, 1, 2, 3)};
}

/* The common part and word i of four. */
#define WITH_WORD(common, words, i)                                                            \
    evc_ppc_vperm(common, words,                                                               \
                  EVC_PPC_BYTES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16 + 4 * (i),            \
                                17 + 4 * (i), 18 + 4 * (i), 19 + 4 * (i)))

/* n blocks of key stream */
EVC_INLINE void ctr_stream(aes_key *key, struct counters *c, vec *x, unsigned n)
{
    const vec last = map_bytes(pair_of(tables()->in), (vec)c->next) ^ c->last_key;

    c->next += EVC_PPC_WORDS(n, n, n, n);
    EACH_UP_TO_4(n, x[i] = WITH_WORD(c->common, last, i));
    encryption_rounds(key, x, n);
}

EVC_INLINE void ctr_step(aes_key *key, struct counters *c, const uint8_t *in, uint8_t *out,
                         unsigned n)
{
    vec x[WIDE], text[WIDE];

    ctr_stream(key, c, x, n);
    load_blocks(text, in, n);
    EACH_UP_TO_4(n, x[i] ^= text[i]);
    store_blocks(out, x, n);
}

/* n_bytes: 1 to 15 */
EVC_INLINE void ctr_part(aes_key *key, struct counters *c, const uint8_t *in, uint8_t *out,
                         size_t n_bytes)
{
    vec x;

    ctr_stream(key, c, &x, 1);
    evc_altivec_store_part(out, x ^ evc_altivec_load_part(in, n_bytes), n_bytes);
}

static void ctr32(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    struct counters c = counters_of(key, counter);
    size_t n_blocks = len_bytes / 16;

    evc_store32_be(counter + 12,
                   evc_load32_be(counter + 12) + (uint32_t)(n_blocks + (len_bytes % 16 != 0)));
    len_bytes %= 16;
    for (; n_blocks >= WIDE; MOVE_ON(WIDE))
        ctr_step(key, &c, in, out, WIDE);
    if (n_blocks & 2) {
        ctr_step(key, &c, in, out, 2);
        MOVE_ON(2);
    }
    if (n_blocks & 1) {
        ctr_step(key, &c, in, out, 1);
        MOVE_ON(1);
    }
    if (len_bytes)
        ctr_part(key, &c, in, out, len_bytes);
}

/* ---- CBC decryption -------------------------------------------------------------------------- */

/* out may be in: blocks are loaded again before the first one is stored. */
EVC_INLINE vec cbc_step(aes_key *key, vec iv, const uint8_t *in, uint8_t *out, unsigned n)
{
    vec x[WIDE], text[WIDE];

    load_blocks(x, in, n);
    crypt(key, x, n, 1);
    load_blocks(text, in, n);
    EACH_UP_TO_4(n, x[i] ^= i ? text[i ? i - 1 : 0] : iv);
    store_blocks(out, x, n);
    return text[n - 1];
}

static void cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    vec before = evc_altivec_load(iv);

#define STEP(n) before = cbc_step(key, before, in, out, n)
    EACH_STEP(STEP);
#undef STEP
    evc_altivec_store(iv, before);
}

/* ---- XTS ------------------------------------------------------------------------------------- */

/* A tweak, whose first byte is the least significant one, times x: each byte takes the highest bit
 * of the one before it, and the first byte 0x87 for that of the last (IEEE 1619-2018 section
 * 5.2). */
EVC_INLINE vec next_tweak(vec tweak)
{
    vec out = (vec)((evc_ppc_signed)tweak >> 7);

    EVC_PPC_SHIFT(out, out, out, 15);
    return (tweak + tweak) ^
           (out & EVC_PPC_BYTES(0x87, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
}

EVC_INLINE vec xts_step(aes_key *key, vec tweak, const uint8_t *in, uint8_t *out, unsigned n,
                        int decrypting)
{
    vec x[WIDE], t[WIDE];

    load_blocks(x, in, n);
    EACH_UP_TO_4(n, t[i] = tweak; tweak = next_tweak(tweak));
    EACH_UP_TO_4(n, x[i] ^= t[i]);
    crypt(key, x, n, decrypting);
    EACH_UP_TO_4(n, x[i] ^= t[i]);
    store_blocks(out, x, n);
    return tweak;
}

static void xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    vec t = evc_altivec_load(tweak);

#define STEP(n) t = xts_step(key, t, in, out, n, 0)
    EACH_STEP(STEP);
#undef STEP
    evc_altivec_store(tweak, t);
}

static void xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    vec t = evc_altivec_load(tweak);

#define STEP(n) t = xts_step(key, t, in, out, n, 1)
    EACH_STEP(STEP);
#undef STEP
    evc_altivec_store(tweak, t);
}

/* ---- One chain ------------------------------------------------------------------------------- */

/* CBC encryption of n_blocks > 0; returns the last block. The last round makes the next state
 * directly, beside the output. */
EVC_INLINE vec chain(aes_key *key, const uint8_t iv[16], const uint8_t *in, uint8_t *out,
                     size_t n_blocks, int storing)
{
    const struct vperm_tables *t = tables();
    const struct inverse by = inverse_tables(t);
    const size_t rounds = key->head.rounds;
    const vec last_key = evc_altivec_get(key->enc[rounds]), shift = table(t->shift[rounds & 3]);
    vec x = evc_altivec_load(iv) ^ evc_altivec_load(in), next;
    struct reciprocals o;

    first_round(&x, 1, t->in, key->enc[0]);
    for (; n_blocks > 1; n_blocks--) {
        in += 16;
        next = evc_altivec_load(in) ^ last_key;
        first_round(&next, 1, t->in, key->enc[0]);
        middle_encryption(key, &by, &x, 1);
        invert(&by, &x, &o, 1);
        x = permute(look_up(pair_of(t->enc), by.zero, o), shift) ^ next;
        if (storing) {
            evc_altivec_store(out,
                              permute(look_up(pair_of(t->sub), by.zero, o), shift) ^ last_key);
            out += 16;
        }
    }
    middle_encryption(key, &by, &x, 1);
    invert(&by, &x, &o, 1);
    x = permute(look_up(pair_of(t->sub), by.zero, o), shift) ^ last_key;
    if (storing)
        evc_altivec_store(out, x);
    return x;
}

static void cbc_encrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    if (n_blocks)
        evc_altivec_store(iv, chain(key, iv, in, out, n_blocks, 1));
}

static void cbcmac(const void *key, uint8_t state[16], const uint8_t *in, size_t n_blocks)
{
    if (n_blocks)
        evc_altivec_store(state, chain(key, state, in, NULL, n_blocks, 0));
}

/* ---- Many chains ----------------------------------------------------------------------------- */

/* n_blocks (not 0) more of n chains, none of them shorter. */
EVC_INLINE void chains_step(aes_key *key, struct evc_aes_chain *chains, size_t n_blocks, unsigned n,
                            int storing)
{
    vec x[WIDE];

    EACH_UP_TO_4(n, x[i] = evc_altivec_load(chains[i].msg->iv));
    for (size_t at = 0; at < 16 * n_blocks; at += 16) {
        EACH_UP_TO_4(n, x[i] ^= evc_altivec_load(chains[i].in + at));
        crypt(key, x, n, 0);
        EACH_UP_TO_4(n, if (storing) evc_altivec_store(chains[i].out + at, x[i]));
    }
    EACH_UP_TO_4(n, evc_altivec_store(chains[i].msg->iv, x[i]));
    for (unsigned c = 0; c < n; c++) {
        chains[c].in += 16 * n_blocks;
        if (storing)
            chains[c].out += 16 * n_blocks;
    }
}

EVC_OUT_OF_LINE void chains_run_4(aes_key *key, struct evc_aes_chain *chains, size_t n_blocks,
                                  int storing)
{
    chains_step(key, chains, n_blocks, 4, storing);
}
#define chains_run_wide chains_run_4

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
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* SubWord (FIPS 197 section 5.2), by way of the stack: no instruction moves words between
 * registers of both kinds. */
static uint32_t sub_word(uint32_t word)
{
    const struct vperm_tables *t = tables();
    const struct inverse by = inverse_tables(t);
    EVC_ALIGN(16) uint8_t room[16] = {0};
    struct reciprocals o;
    vec x;

    evc_store32_ne(room, word);
    x = map_bytes(pair_of(t->in), evc_altivec_get(room));
    invert(&by, &x, &o, 1);
    evc_altivec_put(room, look_up(pair_of(t->sub), by.zero, o) ^ table(t->constant));
    return evc_load32_ne(room);
}

EVC_INLINE vec times_x(vec a) /* xTimes of each byte (section 4.2) */
{
    const vec polynomial = {27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27};

    return (a + a) ^ ((vec)((evc_ppc_signed)a >> 7) & polynomial);
}

/* InvMixColumns (section 5.3.3): its matrix is that of MixColumns times circ(5, 0, 4, 0). */
EVC_INLINE vec inv_mix_columns(vec a)
{
    const vec row_1 = table(tables()->rotate[0]), row_2 = table(tables()->rotate[1]);
    vec a1, b;

    a ^= times_x(times_x(a ^ permute(a, row_2)));
    a1 = permute(a, row_1);
    b = a ^ a1;
    return times_x(b) ^ a1 ^ permute(b, row_2);
}

/* The schedule of FIPS 197 is made in place of the keys for encryption. */
static void set_key(void *vkey, const uint8_t *user_key)
{
    const struct vperm_tables *t = tables();
    const struct pair in = pair_of(t->in), inv_in = pair_of(t->inv_in);
    const vec constant = table(t->constant);
    struct key *key = vkey;
    const uint32_t rounds = key->head.rounds;

    evc_aes_expand_key(key->enc, user_key, rounds, sub_word);
    for (uint32_t r = 0; r <= rounds; r++) {
        const vec w = evc_altivec_get_block(key->enc[r]), plus = w ^ constant;
        const vec shift = table(t->shift[-r & 3]);

        evc_altivec_put(key->enc[r], r == 0        ? map_bytes(in, w)
                                     : r == rounds ? plus
                                                   : permute(map_bytes(in, plus), shift));
        if (!key->head.can_decrypt)
            continue;
        /* the key of round rounds - r */
        if (r == 0)
            evc_altivec_put(key->dec[rounds], w);
        else if (r == rounds)
            evc_altivec_put(key->dec[0], map_bytes(inv_in, plus));
        else
            evc_altivec_put(key->dec[rounds - r],
                            permute(map_bytes(inv_in, inv_mix_columns(w) ^ constant),
                                    table(t->shift[(rounds - r) & 3])));
    }
}

EVC_ISA_END

#define STACK_BYTES 1024
#define HEAD \
    EVC_KERNEL_HEAD(ppc_vperm, PPC_ALTIVEC, CT, ANY, WIDE, struct key, 0, ALTIVEC, STACK_BYTES)

const struct evc_aes evc_aes_ppc_vperm = {
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
};

const struct evc_aes evc_aes_ppc_vperm_forward = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .ctr32 = ctr32,
};
#else
EVC_EMPTY_UNIT
#endif

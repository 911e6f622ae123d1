/* SPDX-License-Identifier: MIT */
/*
 * GCM with the instructions of POWER8 and later for AES and for products without carry, 8 blocks
 * with one reduction.
 *
 * Method:   8 counters through AES with 11 round keys in registers; the 8 blocks of ciphertext are
 *           hashed from registers, two at a time by Karatsuba: vpmsumd adds up the products of two
 *           blocks by itself. Other blocks are the tail of gcm/message.h.
 * Source:   SP 800-38D (2007); Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and
 *           its Usage for Computing the GCM Mode, 2014; Power ISA 2.07 B (2018), section 6.11.
 * Needs:    PPC_VCRYPTO.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "gcm/kernel.h"

#include "common/bytes.h"
#include "common/clear.h"

#if EVC_BUILT(PPC_VCRYPTO)
EVC_ISA_BEGIN(PPC_VCRYPTO)

#include "aes/ppc_keys.h"
#include "ghash/ppc_vpmsum_steps.h"

/* Groups need nearly all registers: compilers may keep keys on the stack. A tail has room enough,
 * so that short messages do not pay for clearing. */
#define CLEAR_AFTER_SHORT() EVC_CLEAR(VSX, 0)
#define CLEAR_AFTER_LONG() EVC_CLEAR(VSX, 576)

#define LANES 1
#define VEC_BYTES 16
#define BATCH GROUP

struct key {
    struct evc_gcm_head head;
    /* raw vectors of them are in order */
    EVC_ALIGN(16) uint8_t rk[EVC_AES_MAX_ROUNDS + 1][16];
    struct powers powers;
};

/* ---- Blocks: raw vectors (common/ppc.h); counters and states of AES are in order ------------- */

typedef vec block;

#define v_load(p) evc_ppc_load_raw(p)
#define v_store(p, v) evc_ppc_store_raw(p, v)
#define v_xor(a, b) ((a) ^ (b))
#define v_zero() ((vec){0})
#define v_clear_upper_halves() ((void)0)
#define load1(p) evc_ppc_load_raw(p)
#define store1(p, v) evc_ppc_store_raw(p, v)
#define xor1(a, b) ((a) ^ (b))
#define zero1() ((block){0})
#define lengths1(a, b) evc_ppc_turn(evc_ppc_block(a, b))

/* Lengths are no secrets, so branches may depend on them. */
EVC_INLINE block load_part1(const uint8_t *p, size_t n_bytes) /* 0 to 16 */
{
    if (n_bytes == 16)
        return load1(p);
    return n_bytes ? evc_ppc_turn(evc_ppc_load_part(p, n_bytes)) : zero1();
}

EVC_INLINE void store_part1(uint8_t *p, block v, size_t n_bytes) /* 0 to 16 */
{
    if (n_bytes == 16)
        store1(p, v);
    else if (n_bytes)
        evc_ppc_store_part(p, evc_ppc_turn(v), n_bytes);
}

/* The first n_bytes of v, zeros behind. */
EVC_INLINE block first_bytes1(block v, size_t n_bytes)
{
    static const uint8_t window[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                       255, 255, 255, 255, 255, 255, 255, 255};

    return v & load1(window + 16 - n_bytes);
}

#include "gcm/one_lane.h"

#define store_tag(tag, t, n_bytes) store_part1(tag, t, n_bytes)

EVC_INLINE enum evc_status compare_tag(const uint8_t *tag, block t, size_t n_bytes)
{
    const block differs = first_bytes1(t, n_bytes) ^ load_part1(tag, n_bytes);
    const uint64_t bits = evc_ppc_upper(differs) | evc_ppc_lower(differs);

    return evc_tag_status(bits);
}

/* In order, since it is added to a counter. */
EVC_INLINE vec last_word1(uint32_t x)
{
    return evc_ppc_block(0, evc_bswap32(x));
}

/* ---- Products -------------------------------------------------------------------------------- */

EVC_INLINE struct product no_product(void)
{
    const struct product none = {{0}, {0}, {0}};

    return none;
}

EVC_INLINE void add_pair(struct product *sum, block a, block b, const struct pair *h)
{
    add_operands(sum, operands_of(a, b), powers_at(h));
}

EVC_INLINE void add_second(struct product *sum, block b, const struct pair *h)
{
    add_operands(sum, operands_of(v_zero(), b), powers_at(h));
}

EVC_INLINE block hash_of(struct product sum)
{
    return evc_ppc_turn(reduce_sum(sum));
}

EVC_INLINE block hash_from(const struct powers *powers, block y, const uint8_t *in, size_t n_blocks)
{
    return evc_ppc_turn(hash_behind(powers, evc_ppc_turn(y), in, n_blocks));
}

/* ---- AES ------------------------------------------------------------------------------------- */

#define v_enc_last(s, k) evc_ppc_turn(evc_ppc_vcipherlast(s, k))
#define v_enc_text(s, k, text) evc_ppc_turn_xor(evc_ppc_vcipherlast(s, k), text)

EVC_INLINE vec round_key(const struct key *key, uint32_t r)
{
    return load1(key->rk[r]);
}

/* The same, r a constant. */
EVC_INLINE vec known_key(const struct key *key, uint32_t r)
{
    return evc_ppc_load_ith(key->rk[r & 8], r & 7);
}

#define ONE_ROUND(s, n, key) EACH_UP_TO_8(n, (s)[i] = evc_ppc_vcipher((s)[i], key))

/* Round r of n states. */
EVC_INLINE void aes_round(const struct key *key, uint32_t r, vec *s, unsigned n)
{
    const vec rk = known_key(key, r);

    ONE_ROUND(s, n, rk);
}

/* All of AES but the last round. */
EVC_INLINE void middle_rounds(const struct key *key, vec *s, unsigned n)
{
    const vec first = known_key(key, 0);

    EACH_UP_TO_8(n, s[i] ^= first);
    aes_round(key, 1, s, n);
    aes_round(key, 2, s, n);
    aes_round(key, 3, s, n);
    aes_round(key, 4, s, n);
    aes_round(key, 5, s, n);
    aes_round(key, 6, s, n);
    aes_round(key, 7, s, n);
    aes_round(key, 8, s, n);
    aes_round(key, 9, s, n);
    if (key->head.rounds > 10) {
        aes_round(key, 10, s, n);
        aes_round(key, 11, s, n);
        if (key->head.rounds > 12) {
            aes_round(key, 12, s, n);
            aes_round(key, 13, s, n);
        }
    }
}

EVC_INLINE void encrypt_blocks(const struct key *key, const uint8_t *in, uint8_t *out,
                               size_t n_blocks)
{
    for (size_t i = 0; i < n_blocks; i++) {
        vec s[1] = {evc_ppc_load(in + 16 * i)};

        middle_rounds(key, s, 1);
        store1(out + 16 * i, v_enc_last(s[0], round_key(key, key->head.rounds)));
    }
}

EVC_INLINE block expand_key(struct key *key, const uint8_t *user_key)
{
    vec s[1] = {{0}};

    evc_ppc_expand((uint8_t *)key->rk, key->head.rounds, user_key);
    middle_rounds(key, s, 1);
    return v_enc_last(s[0], round_key(key, key->head.rounds));
}

/* ---- Counters -------------------------------------------------------------------------------- */

/* The next block: its last word is a number of this CPU. */
struct count {
    vec next;
};

/* 12 bytes, and a counter of zero, in order. */
EVC_INLINE vec load_iv(const uint8_t *iv)
{
    return evc_ppc_block(evc_load64_be(iv), (uint64_t)evc_load32_be(iv + 8) << 32);
}

/* first: of the first block; its other words are those of counter. */
EVC_INLINE struct count count_from(const struct key *key, vec counter, uint32_t first)
{
    const struct count count = {counter ^ evc_ppc_block(0, first)};

    (void)key;
    return count;
}

/* Hidden from the compiler, which would have a register for each number of blocks ahead. */
EVC_INLINE void next_counters(vec *s, struct count *count, unsigned n)
{
    EACH_UP_TO_8(n, s[i] = count->next;
                 count->next = (vec)((evc_ppc_words)count->next + EVC_PPC_WORDS(0, 0, 0, 1));
                 __asm__("" : "+v"(count->next)));
}

/* ---- The main loop --------------------------------------------------------------------------- */

/* The round keys that stay in registers. Those of longer keys, behind the first, are loaded for
 * each group: for them no register is left. */
struct round_keys {
    vec first;
    vec middle[9]; /* the 9 before the last */
    vec last;
};

EVC_INLINE struct round_keys round_keys(const struct key *key)
{
    const uint8_t *middle = key->rk[key->head.rounds - 9];
    struct round_keys k;

    k.first = known_key(key, 0);
    EACH_UP_TO_8(8, k.middle[i] = evc_ppc_load_ith(middle, i));
    k.middle[8] = load1(middle + 128);
    k.last = load1(middle + 144);
    return k;
}

/* AES of GROUP counters but for the last round. */
EVC_INLINE void crypt_counters(const struct key *key, uint32_t rounds, const struct round_keys *k,
                               vec *s, struct count *count)
{
    next_counters(s, count, GROUP);
    EACH_UP_TO_8(GROUP, s[i] ^= k->first);
    if (rounds > 10) {
        aes_round(key, 1, s, GROUP);
        aes_round(key, 2, s, GROUP);
        if (rounds > 12) {
            aes_round(key, 3, s, GROUP);
            aes_round(key, 4, s, GROUP);
        }
    }
    ONE_ROUND(s, GROUP, k->middle[0]);
    ONE_ROUND(s, GROUP, k->middle[1]);
    ONE_ROUND(s, GROUP, k->middle[2]);
    ONE_ROUND(s, GROUP, k->middle[3]);
    ONE_ROUND(s, GROUP, k->middle[4]);
    ONE_ROUND(s, GROUP, k->middle[5]);
    ONE_ROUND(s, GROUP, k->middle[6]);
    ONE_ROUND(s, GROUP, k->middle[7]);
    ONE_ROUND(s, GROUP, k->middle[8]);
}

/* Blocks 2 * j and 2 * j + 1 of a group: the last round of AES, and the text. Returns the operands
 * of their products with powers of H. hash: of the blocks before the group, in order; it is added
 * to block 0. */
EVC_INLINE struct operands crypt_pair(vec last_key, const vec *s, unsigned j, vec hash,
                                      const uint8_t *in, uint8_t *out, int sealing)
{
    const vec a = evc_ppc_load_ith(in, 2 * j), b = evc_ppc_load_ith(in, 2 * j + 1);
    const vec x = v_enc_text(s[2 * j], last_key, a), y = v_enc_text(s[2 * j + 1], last_key, b);
    const vec first = sealing ? x : a;

    evc_ppc_store_ith(out, 2 * j, x);
    evc_ppc_store_ith(out, 2 * j + 1, y);
    return operands_of(j ? first : evc_ppc_turn_xor(hash, first), sealing ? y : b);
}

#define MAIN_LOOP main_loop

/* n_groups, at least one; first: the number of the first counter. Returns the hash. The first block
 * of a group waits for the hash before it, so its pair is the last to be multiplied. */
EVC_INLINE block main_loop(const struct key *key, const uint8_t *in, uint8_t *out, size_t n_groups,
                           uint32_t first, vec counter, block y, int sealing)
{
    const struct round_keys k = round_keys(key);
    const uint32_t rounds = key->head.rounds;
    const struct pair *const h = key->powers.pair;
    struct count count = count_from(key, counter, first);
    struct product sum;
    vec s[GROUP], hash = evc_ppc_turn(y);

    do {
        crypt_counters(key, rounds, &k, s, &count);
#define PAIR(j) crypt_pair(k.last, s, j, hash, in, out, sealing), powers_at(h + (j))
        sum = multiply_pair(PAIR(1));
        add_operands(&sum, PAIR(2));
        add_operands(&sum, PAIR(3));
        add_operands(&sum, PAIR(0));
#undef PAIR
        hash = reduce_sum(sum);
        in += 16 * GROUP, out += 16 * GROUP;
    } while (--n_groups);
    return evc_ppc_turn(hash);
}

#include "gcm/message.h"

EVC_ISA_END

const struct evc_gcm evc_gcm_ppc_vcipher = {
    .kernel = EVC_KERNEL_HEAD(ppc_vcipher, PPC_VCRYPTO, CT, ANY, GROUP, struct key, 0, VSX, 1088),
    GCM_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif

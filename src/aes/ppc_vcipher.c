/* SPDX-License-Identifier: MIT */
/*
 * AES with the AES instructions of POWER8 and later, 8 blocks in flight.
 *
 * Method:   one vcipher or vncipher per round and block; all round keys stay in registers. Bytes
 *           that a little-endian system loads in another order are put right by the vpermxor that
 *           adds text, key or tweak. Decryption takes the keys of encryption backwards.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; Power ISA 2.07 B (2018), section
 *           6.11.1.
 * Needs:    PPC_VCRYPTO.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
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

/* Steps of WIDE blocks need all registers: compilers keep some round keys and tweaks on the stack.
 * Other code has room enough, so that short messages do not pay for clearing. */
#define clear_wide() EVC_CLEAR_STACK(VSX, 64)

typedef const struct evc_aes_fips197_key aes_key;
typedef evc_ppc_vec vec;

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* The round keys in the order of their use, in registers whatever their number is. */
struct round_keys {
    vec first;
    vec more[4];   /* the next ones: two of them are used with 12 rounds, all with 14 */
    vec middle[9]; /* the 9 before the last */
    vec last;
    uint32_t rounds;
};

EVC_INLINE struct round_keys round_keys(aes_key *key, int decrypting)
{
    const uint32_t rounds = key->head.rounds;
    const uint8_t *first = key->enc[decrypting ? rounds : 0];
    const uint8_t *last = key->enc[decrypting ? 0 : rounds];
    const ptrdiff_t step = decrypting ? -16 : 16;
    struct round_keys k;

    k.first = evc_ppc_load(first);
    EACH_UP_TO_4(4, k.more[i] = evc_ppc_load(first + (i + 1) * step));
    EACH_UP_TO_8(8, k.middle[i] = evc_ppc_load(last + (i - 9) * step));
    k.middle[8] = evc_ppc_load(last - step);
    k.last = evc_ppc_load(last);
    k.rounds = rounds;
    return k;
}

#define ONE_ROUND(round, s, n, key) EACH_UP_TO_8(n, (s)[i] = round((s)[i], key))
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
        ONE_ROUND(round, s, n, (k)->middle[8]);       \
    } while (0)

/* All rounds but the last, of n states to which the first key has been added. */
EVC_INLINE void middle_rounds(const struct round_keys *k, vec *s, unsigned n, int decrypting)
{
    if (decrypting)
        MIDDLE_ROUNDS(evc_ppc_vncipher, s, n, k);
    else
        MIDDLE_ROUNDS(evc_ppc_vcipher, s, n, k);
}

/* The last round. */
EVC_INLINE vec last_round(vec s, vec key, int decrypting)
{
    return decrypting ? evc_ppc_vncipherlast(s, key) : evc_ppc_vcipherlast(s, key);
}

/* ---- Blocks (ECB) ---------------------------------------------------------------------------- */

EVC_INLINE void ecb_step(const struct round_keys *k, const uint8_t *in, uint8_t *out, unsigned n,
                         int decrypting)
{
    vec s[WIDE];

    EACH_UP_TO_8(n, s[i] = evc_ppc_turn_xor(evc_ppc_load_ith(in, i), k->first));
    middle_rounds(k, s, n, decrypting);
    EACH_UP_TO_8(n, s[i] = last_round(s[i], k->last, decrypting);
         evc_ppc_store_ith(out, i, evc_ppc_turn(s[i])));
}

/* n_blocks: a multiple of WIDE, not 0 */
EVC_INLINE void ecb_wide(aes_key *key, const uint8_t *in, uint8_t *out, size_t n_blocks,
                         int decrypting)
{
    const struct round_keys k = round_keys(key, decrypting);

    for (; n_blocks; n_blocks -= WIDE, in += 16 * WIDE, out += 16 * WIDE)
        ecb_step(&k, in, out, WIDE, decrypting);
}

EVC_OUT_OF_LINE void ecb_wide_encrypt(aes_key *key, const uint8_t *in, uint8_t *out,
                                      size_t n_blocks)
{
    ecb_wide(key, in, out, n_blocks, 0);
}

EVC_OUT_OF_LINE void ecb_wide_decrypt(aes_key *key, const uint8_t *in, uint8_t *out,
                                      size_t n_blocks)
{
    ecb_wide(key, in, out, n_blocks, 1);
}

EVC_INLINE void ecb(aes_key *key, const uint8_t *in, uint8_t *out, size_t n_blocks, int decrypting)
{
    const size_t n_wide = n_blocks - n_blocks % WIDE;
    struct round_keys k;

    if (n_wide) {
        if (decrypting)
            ecb_wide_decrypt(key, in, out, n_wide);
        else
            ecb_wide_encrypt(key, in, out, n_wide);
        clear_wide();
        in += 16 * n_wide, out += 16 * n_wide, n_blocks -= n_wide;
    }
    if (!n_blocks)
        return;
    k = round_keys(key, decrypting);
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

/* A counter is a block in order, whose last word is a number of this CPU. */
EVC_INLINE vec counter_plus(vec count, uint32_t n)
{
    return (vec)((evc_ppc_words)count + EVC_PPC_WORDS(0, 0, 0, n));
}

/* One more. Hidden from the compiler, which would have a register for each
 * number of blocks ahead. */
EVC_INLINE vec counter_next(vec count)
{
    count = counter_plus(count, 1);
    __asm__("" : "+v"(count));
    return count;
}

EVC_INLINE void ctr_step(const struct round_keys *k, vec *count, const uint8_t *in, uint8_t *out,
                         unsigned n)
{
    vec s[WIDE];

    EACH_UP_TO_8(n, s[i] = *count ^ k->first; *count = counter_next(*count));
    middle_rounds(k, s, n, 0);
    EACH_UP_TO_8(n, s[i] = evc_ppc_vcipherlast(s[i], k->last);
         evc_ppc_store_ith(out, i, evc_ppc_turn_xor(s[i], evc_ppc_load_ith(in, i))));
}

/* n_bytes: 1 to 15 */
EVC_INLINE void ctr_part(const struct round_keys *k, vec count, const uint8_t *in, uint8_t *out,
                         size_t n_bytes)
{
    vec s = count ^ k->first;

    middle_rounds(k, &s, 1, 0);
    s = evc_ppc_vcipherlast(s, k->last) ^ evc_ppc_load_part(in, n_bytes);
    evc_ppc_store_part(out, s, n_bytes);
}

/* counter: of the first block; not changed. len_bytes: a multiple of 16 * WIDE, not 0 */
EVC_OUT_OF_LINE void ctr_wide(aes_key *key, const uint8_t counter[16], const uint8_t *in,
                              uint8_t *out, size_t len_bytes)
{
    const struct round_keys k = round_keys(key, 0);
    vec count = evc_ppc_load(counter);

    for (; len_bytes; len_bytes -= 16 * WIDE, in += 16 * WIDE, out += 16 * WIDE)
        ctr_step(&k, &count, in, out, WIDE);
}

static void ctr32(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    const size_t n_wide = len_bytes - len_bytes % (16 * WIDE);
    const uint32_t number = evc_load32_be(counter + 12);
    struct round_keys k;
    vec count;

    if (n_wide) {
        ctr_wide(key, counter, in, out, n_wide);
        clear_wide();
    }
    evc_store32_be(counter + 12, number + (uint32_t)(n_wide / 16));
    if (n_wide == len_bytes)
        return;
    count = evc_ppc_load(counter);
    evc_store32_be(counter + 12, number + (uint32_t)((len_bytes + 15) / 16));
    in += n_wide, out += n_wide, len_bytes -= n_wide;
    k = round_keys(key, 0);
    if (len_bytes & 64) {
        ctr_step(&k, &count, in, out, 4);
        in += 64, out += 64;
    }
    if (len_bytes & 32) {
        ctr_step(&k, &count, in, out, 2);
        in += 32, out += 32;
    }
    if (len_bytes & 16) {
        ctr_step(&k, &count, in, out, 1);
        in += 16, out += 16;
    }
    if (len_bytes & 15)
        ctr_part(&k, count, in, out, len_bytes & 15);
}

/* ---- CBC decryption -------------------------------------------------------------------------- */

/* Block i, 1 or more, after its last round. */
EVC_INLINE void cbc_finish(vec s, const uint8_t *in, uint8_t *out, size_t i)
{
    evc_ppc_store_ith(out, i, evc_ppc_turn_xor(s, evc_ppc_load_ith(in, i - 1)));
}

/* The last block is stored first: if out is in, block i - 1 must still be the ciphertext when block
 * i is finished. iv and the result are raw. */
EVC_INLINE vec cbc_step(const struct round_keys *k, vec iv, const uint8_t *in, uint8_t *out,
                        unsigned n)
{
    vec s[WIDE];
    const vec next_iv = evc_ppc_load_ith(in, n - 1);

    EACH_UP_TO_8(n, s[i] = evc_ppc_turn_xor(evc_ppc_load_ith(in, i), k->first));
    middle_rounds(k, s, n, 1);
    EACH_UP_TO_8(n, s[i] = evc_ppc_vncipherlast(s[i], k->last));
    EACH_UP_TO_8(n, if (n - 1 - i > 0) cbc_finish(s[n - 1 - i], in, out, n - 1 - i));
    evc_ppc_store_raw(out, evc_ppc_turn_xor(s[0], iv));
    return next_iv;
}

/* n_blocks: a multiple of WIDE, not 0 */
EVC_OUT_OF_LINE void cbc_wide(aes_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                              size_t n_blocks)
{
    const struct round_keys k = round_keys(key, 1);
    vec x = evc_ppc_load_raw(iv);

    for (; n_blocks; n_blocks -= WIDE, in += 16 * WIDE, out += 16 * WIDE)
        x = cbc_step(&k, x, in, out, WIDE);
    evc_ppc_store_raw(iv, x);
}

static void cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    const size_t n_wide = n_blocks - n_blocks % WIDE;
    struct round_keys k;
    vec x;

    if (n_wide) {
        cbc_wide(key, iv, in, out, n_wide);
        clear_wide();
        in += 16 * n_wide, out += 16 * n_wide, n_blocks -= n_wide;
    }
    if (!n_blocks)
        return;
    k = round_keys(key, 1);
    x = evc_ppc_load_raw(iv);
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
    evc_ppc_store_raw(iv, x);
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
                         unsigned n, int decrypting)
{
    vec s[WIDE];

    EACH_UP_TO_8(n, s[i] = evc_ppc_turn_xor(evc_ppc_load_ith(in, i), t[i] ^ k->first));
    middle_rounds(k, s, n, decrypting);
    EACH_UP_TO_8(n, s[i] = last_round(s[i], t[i] ^ k->last, decrypting);
                 evc_ppc_store_ith(out, i, evc_ppc_turn(s[i])));
}

/* The tweaks of n blocks; t becomes that of the block behind them. */
EVC_INLINE void next_tweaks(vec *tweaks, vec *t, unsigned n)
{
    EACH_UP_TO_8(n, tweaks[i] = *t; *t = next_tweak(*t));
}

/* n_blocks: a multiple of WIDE, not 0 */
EVC_INLINE void xts_wide(aes_key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                         size_t n_blocks, int decrypting)
{
    const struct round_keys k = round_keys(key, decrypting);
    vec t[WIDE], behind = evc_ppc_load(tweak);

    next_tweaks(t, &behind, WIDE);
    for (; n_blocks; n_blocks -= WIDE, in += 16 * WIDE, out += 16 * WIDE) {
        xts_step(&k, t, in, out, WIDE, decrypting);
        EACH_UP_TO_8(WIDE, t[i] = eighth_tweak(t[i]));
    }
    evc_ppc_store(tweak, t[0]);
}

EVC_OUT_OF_LINE void xts_wide_encrypt(aes_key *key, uint8_t tweak[16], const uint8_t *in,
                                      uint8_t *out, size_t n_blocks)
{
    xts_wide(key, tweak, in, out, n_blocks, 0);
}

EVC_OUT_OF_LINE void xts_wide_decrypt(aes_key *key, uint8_t tweak[16], const uint8_t *in,
                                      uint8_t *out, size_t n_blocks)
{
    xts_wide(key, tweak, in, out, n_blocks, 1);
}

EVC_INLINE void xts(aes_key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                    size_t n_blocks, int decrypting)
{
    const size_t n_wide = n_blocks - n_blocks % WIDE;
    struct round_keys k;
    vec t[4], behind;

    if (n_wide) {
        if (decrypting)
            xts_wide_decrypt(key, tweak, in, out, n_wide);
        else
            xts_wide_encrypt(key, tweak, in, out, n_wide);
        clear_wide();
        in += 16 * n_wide, out += 16 * n_wide, n_blocks -= n_wide;
    }
    if (!n_blocks)
        return;
    k = round_keys(key, decrypting);
    behind = evc_ppc_load(tweak);
    if (n_blocks & 4) {
        next_tweaks(t, &behind, 4);
        xts_step(&k, t, in, out, 4, decrypting);
        in += 64, out += 64;
    }
    if (n_blocks & 2) {
        next_tweaks(t, &behind, 2);
        xts_step(&k, t, in, out, 2, decrypting);
        in += 32, out += 32;
    }
    if (n_blocks & 1) {
        next_tweaks(t, &behind, 1);
        xts_step(&k, t, in, out, 1, decrypting);
    }
    evc_ppc_store(tweak, behind);
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
        middle_rounds(&k, &x, 1, 0);
        x = evc_ppc_vcipherlast(x, k.last ^ next);
        evc_ppc_store_raw(out, evc_ppc_turn_sum(x, next));
    }
    middle_rounds(&k, &x, 1, 0);
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
        middle_rounds(&k, &x, 1, 0);
        x = evc_ppc_vcipherlast(x, evc_ppc_turn_xor(evc_ppc_load_raw(in + 16), fold));
    }
    middle_rounds(&k, &x, 1, 0);
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
        middle_rounds(&k, s + 1, 1, 0);
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
        middle_rounds(&k, s, 2, 0);
        s[0] = evc_ppc_vcipherlast(s[0], fold);
        if (!decrypting) {
            text = evc_ppc_turn_xor(evc_ppc_vcipherlast(s[1], k.last), text);
            evc_ppc_store_raw(out, text);
            if (--n_blocks == 0)
                break;
        }
    }
    if (decrypting) {
        middle_rounds(&k, s, 1, 0);
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
        middle_rounds(&k, s, n, 0);
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

/* Chains above the active repeat chain 0: they write the same bytes more than once. */
static int cbc_many(aes_key *key, const struct evc_msg *msgs, size_t n, int storing)
{
    struct evc_aes_queue q = {msgs, msgs + n, storing, 0};
    struct evc_aes_chain chains[WIDE];
    size_t active = 0, run;

    for (;;) {
        run = evc_aes_chains_refill(chains, &active, WIDE, &q);
        if (active <= 1)
            break;
        for (size_t c = active; c < WIDE; c++)
            chains[c] = chains[0];
        if (active > 4)
            chains_run_wide(key, chains, run, storing);
        else if (active > 2)
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
    EVC_CLEAR_STACK(VSX, 256);
}

EVC_ISA_END

#define HEAD                                                                                \
    EVC_KERNEL_HEAD(ppc_vcipher, PPC_VCRYPTO, CT, ANY, WIDE, struct evc_aes_fips197_key,    \
                    EVC_KEY_FIPS197, VSX, 0)

const struct evc_aes evc_aes_ppc_vcipher = {
    .kernel = HEAD,
    .set_key = evc_ppc_set_key,
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

const struct evc_aes evc_aes_ppc_vcipher_forward = {
    .kernel = HEAD,
    .set_key = evc_ppc_set_key,
    .encrypt = encrypt,
    .ctr32 = ctr32,
};
#else
EVC_EMPTY_UNIT
#endif

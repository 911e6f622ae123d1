/* SPDX-License-Identifier: MIT */
/*
 * One block in an xmm register: what the x86 kernels with AES instructions share. The chained
 * modes are bound by the latency of AESENC, so wider registers do not help them. Include it inside
 * a region of X86_AESNI or more.
 */
#ifndef EVC_AES_X86_AESNI_STEPS_H
#define EVC_AES_X86_AESNI_STEPS_H

#include "aes/chains.h"
#include "aes/fips197_key.h"
#include "common/bytes.h"
#include "common/each.h"
#include "common/x86_part.h"

/* A round key: aligned, so that it may be a memory operand of AESENC. */
EVC_INLINE __m128i evc_x86_key(const uint8_t rk[16])
{
    return evc_x86_load_aligned(rk);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* Rounds 1 to rounds - 1 of a state that has been whitened with rk[0]. Straight-line, so that
 * nothing but the latency of AESENC counts; the two branches always go the same way for one key
 * size. */
#define EVC_X86_MIDDLE_ROUNDS(instruction, x, rk, rounds)                                          \
    do {                                                                                           \
        x = instruction(x, evc_x86_key((rk)[1]));                                                  \
        x = instruction(x, evc_x86_key((rk)[2]));                                                  \
        x = instruction(x, evc_x86_key((rk)[3]));                                                  \
        x = instruction(x, evc_x86_key((rk)[4]));                                                  \
        x = instruction(x, evc_x86_key((rk)[5]));                                                  \
        x = instruction(x, evc_x86_key((rk)[6]));                                                  \
        x = instruction(x, evc_x86_key((rk)[7]));                                                  \
        x = instruction(x, evc_x86_key((rk)[8]));                                                  \
        x = instruction(x, evc_x86_key((rk)[9]));                                                  \
        if ((rounds) > 10) {                                                                       \
            x = instruction(x, evc_x86_key((rk)[10]));                                             \
            x = instruction(x, evc_x86_key((rk)[11]));                                             \
            if ((rounds) > 12) {                                                                   \
                x = instruction(x, evc_x86_key((rk)[12]));                                         \
                x = instruction(x, evc_x86_key((rk)[13]));                                         \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* Counters are kept with their last word as a number of this CPU; this shuffle turns it over. */
#define COUNTER_ORDER _mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)

/* tweak * x: doubles each half and brings in what is lost above: x^64 in the upper half,
 * x^128 = x^7 + x^2 + x + 1. */
EVC_INLINE __m128i evc_x86_next_tweak(__m128i t)
{
    const __m128i lost = _mm_srai_epi32(_mm_shuffle_epi32(t, 0x13), 31);

    return _mm_xor_si128(_mm_add_epi64(t, t), _mm_and_si128(lost, _mm_set_epi32(0, 1, 0, 0x87)));
}

/* One block of XTS, as ciphertext stealing has them: neither round keys nor tweaks need wide
 * vectors. */
EVC_INLINE void evc_x86_one_xts(const struct evc_aes_fips197_key *key, uint8_t tweak_bytes[16],
                                const uint8_t *in, uint8_t *out, int decrypting)
{
    const uint32_t rounds = key->head.rounds;
    const uint8_t(*rk)[16] = decrypting ? key->dec : key->enc;
    const __m128i tweak = evc_x86_load(tweak_bytes);
    __m128i x = _mm_xor_si128(evc_x86_load(in), _mm_xor_si128(tweak, evc_x86_key(rk[0])));

    if (decrypting) {
        EVC_X86_MIDDLE_ROUNDS(_mm_aesdec_si128, x, rk, rounds);
        x = _mm_aesdeclast_si128(x, _mm_xor_si128(tweak, evc_x86_key(rk[rounds])));
    } else {
        EVC_X86_MIDDLE_ROUNDS(_mm_aesenc_si128, x, rk, rounds);
        x = _mm_aesenclast_si128(x, _mm_xor_si128(tweak, evc_x86_key(rk[rounds])));
    }
    evc_x86_store(out, x);
    evc_x86_store(tweak_bytes, evc_x86_next_tweak(tweak));
}

EVC_INLINE __m128i evc_x86_middle_rounds(const struct evc_aes_fips197_key *key, __m128i x)
{
    EVC_X86_MIDDLE_ROUNDS(_mm_aesenc_si128, x, key->enc, key->head.rounds);
    return x;
}

EVC_INLINE void evc_x86_encrypt_1(const struct evc_aes_fips197_key *key, const uint8_t *in,
                                  uint8_t *out)
{
    __m128i x = _mm_xor_si128(evc_x86_load(in), evc_x86_key(key->enc[0]));

    x = evc_x86_middle_rounds(key, x);
    evc_x86_store(out, _mm_aesenclast_si128(x, evc_x86_key(key->enc[key->head.rounds])));
}

EVC_INLINE void evc_x86_decrypt_1(const struct evc_aes_fips197_key *key, const uint8_t *in,
                                  uint8_t *out)
{
    __m128i x = _mm_xor_si128(evc_x86_load(in), evc_x86_key(key->dec[0]));

    EVC_X86_MIDDLE_ROUNDS(_mm_aesdec_si128, x, key->dec, key->head.rounds);
    evc_x86_store(out, _mm_aesdeclast_si128(x, evc_x86_key(key->dec[key->head.rounds])));
}

/* ---- Chains ---------------------------------------------------------------------------------- */

/*
 * AESENCLAST(x, rk[rounds] ^ rk[0] ^ next plaintext) is the whitened state of the next block: the
 * chaining xor costs no latency. The ciphertext is that state without rk[0] ^ next plaintext,
 * beside the chain.
 *
 * Each turn reads the round keys anew: there are more round keys than registers, and compilers that
 * keep all of them over the loop put the rest on the stack (-O3). They are operands of AESENC, so
 * that costs nothing.
 */
EVC_INLINE __m128i evc_x86_chain_rounds(const struct evc_aes_fips197_key *later, unsigned rounds,
                                        __m128i x)
{
    EVC_X86_MIDDLE_ROUNDS(_mm_aesenc_si128, x, later->enc, rounds);
    return x;
}

static void evc_x86_cbc_encrypt(const void *vkey, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                                size_t n_blocks)
{
    const struct evc_aes_fips197_key *key = vkey, *later = vkey;
    const unsigned rounds = key->head.rounds;
    const __m128i first = evc_x86_key(key->enc[0]);
    const __m128i last = evc_x86_key(key->enc[rounds]);
    __m128i x, next;

    if (!n_blocks)
        return;
    x = _mm_xor_si128(_mm_xor_si128(evc_x86_load(in), first), evc_x86_load(iv));
    for (; n_blocks > 1; n_blocks--, in += 16, out += 16) {
        EVC_KEEP(later);
        next = _mm_xor_si128(first, evc_x86_load(in + 16));
        x = _mm_aesenclast_si128(evc_x86_chain_rounds(later, rounds, x), _mm_xor_si128(last, next));
        evc_x86_store(out, _mm_xor_si128(x, next));
    }
    x = _mm_aesenclast_si128(evc_x86_chain_rounds(later, rounds, x), last);
    evc_x86_store(out, x);
    evc_x86_store(iv, x);
}

static void evc_x86_cbcmac(const void *vkey, uint8_t chain[16], const uint8_t *in, size_t n_blocks)
{
    const struct evc_aes_fips197_key *key = vkey, *later = vkey;
    const unsigned rounds = key->head.rounds;
    const __m128i first = evc_x86_key(key->enc[0]);
    const __m128i last = evc_x86_key(key->enc[rounds]);
    const __m128i fold = _mm_xor_si128(first, last);
    __m128i x, next;

    if (!n_blocks)
        return;
    x = _mm_xor_si128(_mm_xor_si128(evc_x86_load(in), first), evc_x86_load(chain));
    for (; n_blocks > 1; n_blocks--, in += 16) {
        EVC_KEEP(later);
        next = _mm_xor_si128(fold, evc_x86_load(in + 16));
        x = _mm_aesenclast_si128(evc_x86_chain_rounds(later, rounds, x), next);
    }
    evc_x86_store(chain, _mm_aesenclast_si128(evc_x86_chain_rounds(later, rounds, x), last));
}

/* Declares a function of x86_chain_asm.h, which has these numbers, and defines the slot that calls
 * it. */
#define EVC_X86_CBC_MESSAGE(name)                                                                 \
    typedef char assembly_agrees[offsetof(struct evc_aes_head, rounds) == 8 &&                    \
                                         offsetof(struct evc_aes_fips197_key, enc) == 16 &&       \
                                         EVC_OK == 0                                              \
                                     ? 1                                                          \
                                     : -1];                                                       \
    enum evc_status EVC_SYSV name(const void *key, uint8_t iv[16], const uint8_t *in,             \
                                  uint8_t *out, size_t len_bytes);                                \
    static enum evc_status cbc_encrypt_message(const void *key, uint8_t iv[16],                   \
                                               const uint8_t *in, uint8_t *out, size_t len_bytes) \
    {                                                                                             \
        return name(key, iv, in, out, len_bytes);                                                 \
    }

/* ---- CCM ------------------------------------------------------------------------------------- */

/* The chain of the MAC, and a counter that becomes key stream beside it, while the chain
 * waits for its rounds. */
struct evc_x86_ccm {
    __m128i chain, stream;
};

EVC_INLINE struct evc_x86_ccm evc_x86_ccm_round(struct evc_x86_ccm s, __m128i round_key)
{
    s.chain = _mm_aesenc_si128(s.chain, round_key);
    s.stream = _mm_aesenc_si128(s.stream, round_key);
    return s;
}

/* All rounds but the last. later: the key, of which each turn of a loop
 * reads all round keys anew. */
EVC_INLINE struct evc_x86_ccm evc_x86_ccm_rounds(const struct evc_aes_fips197_key *later,
                                                 struct evc_x86_ccm s)
{
    EVC_X86_MIDDLE_ROUNDS(evc_x86_ccm_round, s, later->enc, later->head.rounds);
    return s;
}

EVC_INLINE __m128i evc_x86_reverse(__m128i x)
{
    return _mm_shuffle_epi8(x, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

/* The counter, reversed; the next one takes its place. */
EVC_INLINE __m128i evc_x86_ccm_count(__m128i *reversed)
{
    const __m128i counter = evc_x86_reverse(*reversed);

    *reversed = _mm_add_epi64(*reversed, _mm_set_epi64x(0, 1));
    return counter;
}

/* Block i is encrypted beside its own MAC. */
static void evc_x86_ccm_encrypt(const void *vkey, uint8_t counter[16], uint8_t chain[16],
                                const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct evc_aes_fips197_key *key = vkey, *later = vkey;
    const __m128i first = evc_x86_key(key->enc[0]);
    const __m128i last = evc_x86_key(key->enc[key->head.rounds]);
    __m128i reversed = evc_x86_reverse(evc_x86_load(counter)), text, fold;
    struct evc_x86_ccm s;

    if (!n_blocks)
        return;
    text = evc_x86_load(in);
    s.chain = _mm_xor_si128(_mm_xor_si128(text, first), evc_x86_load(chain));
    for (;; in += 16, out += 16) {
        EVC_KEEP(later);
        s.stream = _mm_xor_si128(evc_x86_ccm_count(&reversed), first);
        s = evc_x86_ccm_rounds(later, s);
        s.stream = _mm_aesenclast_si128(s.stream, _mm_xor_si128(last, text));
        if (--n_blocks == 0)
            break;
        text = evc_x86_load(in + 16);
        fold = _mm_xor_si128(_mm_xor_si128(first, last), text);
        s.chain = _mm_aesenclast_si128(s.chain, fold);
        evc_x86_store(out, s.stream);
    }
    evc_x86_store(out, s.stream);
    evc_x86_store(chain, _mm_aesenclast_si128(s.chain, last));
    evc_x86_store(counter, evc_x86_reverse(reversed));
}

/* Block i is decrypted beside the MAC of the block before it. */
static void evc_x86_ccm_decrypt(const void *vkey, uint8_t counter[16], uint8_t chain[16],
                                const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct evc_aes_fips197_key *key = vkey, *later = vkey;
    const __m128i first = evc_x86_key(key->enc[0]);
    const __m128i last = evc_x86_key(key->enc[key->head.rounds]);
    __m128i reversed = evc_x86_reverse(evc_x86_load(counter)), text;
    struct evc_x86_ccm s;

    if (!n_blocks)
        return;
    text = evc_x86_middle_rounds(key, _mm_xor_si128(evc_x86_ccm_count(&reversed), first));
    text = _mm_aesenclast_si128(text, _mm_xor_si128(last, evc_x86_load(in)));
    s.chain = _mm_xor_si128(_mm_xor_si128(text, first), evc_x86_load(chain));
    for (; n_blocks > 1; n_blocks--, in += 16, out += 16) {
        EVC_KEEP(later);
        evc_x86_store(out, text);
        s.stream = _mm_xor_si128(evc_x86_ccm_count(&reversed), first);
        s = evc_x86_ccm_rounds(later, s);
        text = _mm_aesenclast_si128(s.stream, _mm_xor_si128(last, evc_x86_load(in + 16)));
        s.chain = _mm_aesenclast_si128(s.chain, _mm_xor_si128(_mm_xor_si128(first, last), text));
    }
    evc_x86_store(out, text);
    evc_x86_store(chain, _mm_aesenclast_si128(evc_x86_middle_rounds(key, s.chain), last));
    evc_x86_store(counter, evc_x86_reverse(reversed));
}

#endif

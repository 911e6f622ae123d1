/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 in one register of 64 bits: all 16 cells side by side, no table.
 *
 * Method:   the four bits of all cells are four masks of the block; the S-box is the algebraic
 *           normal form of its bits. tau moves the cells that go the same distance together, in 11
 *           groups; M rotates by whole rows.
 * Source:   Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2.
 * Needs:    ANY.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "qarma/kernel.h"

#include "common/bytes.h"
#include "qarma/schedule.h"

struct key {
    struct evc_qarma_head head;
    struct evc_qarma_words enc, dec;
};

static void set_key(void *vkey, uint64_t w0, uint64_t k0)
{
    struct key *key = vkey;

    key->enc = evc_qarma_forward(w0, k0);
    key->dec = evc_qarma_backward(w0, k0);
}

static const uint64_t c[EVC_QARMA_MAX_ROUNDS] = QARMA_C;

/* With words of 32 bits a step needs all registers of many machines; copies of it
 * need kilobytes of stack. */
#if EVC_WORD64
#define STEP EVC_INLINE
#else
#define STEP EVC_OUT_OF_LINE
#endif

/* ---- The S-boxes ----------------------------------------------------------------------------- */

#define LOW UINT64_C(0x1111111111111111) /* bit 0 of every cell */

enum box { SIGMA0, SIGMA1, SIGMA2, SIGMA2_INVERSE };

/* Bits 0 to 3 of the cells are a to d; sums of products of them, as the Moebius transform of
 * the tables gives them. */
STEP uint64_t substitute(uint64_t x, enum box box)
{
    const uint64_t a = x & LOW, b = x >> 1 & LOW, e = x >> 2 & LOW, d = x >> 3 & LOW;
    const uint64_t ab = a & b, ae = a & e, be = b & e, ad = a & d, bd = b & d, ed = e & d;
    const uint64_t abe = ab & e, abd = ab & d, aed = ae & d, bed = be & d;
    uint64_t y0, y1, y2, y3;

    switch (box) {
    case SIGMA0:
        y0 = e ^ be ^ abe ^ bd ^ aed;
        y1 = a ^ b ^ ab ^ be ^ abe ^ d ^ bd ^ ed ^ aed ^ bed;
        y2 = a ^ ab ^ d ^ ad ^ bd;
        y3 = a ^ e ^ ae ^ ad ^ aed ^ bed;
        break;
    case SIGMA1:
        y0 = a ^ ab ^ e ^ ae ^ abe ^ d ^ bd ^ ed;
        y1 = LOW ^ a ^ ab ^ ae ^ d ^ ad ^ abd ^ ed;
        y2 = a ^ b ^ ab ^ e ^ ae ^ ad ^ bd ^ ed ^ aed;
        y3 = LOW ^ ab ^ ae ^ be ^ bd ^ bed;
        break;
    case SIGMA2:
        y0 = LOW ^ a ^ b ^ e ^ ae ^ abe ^ ad ^ abd ^ ed ^ bed;
        y1 = LOW ^ b ^ ab ^ e ^ be ^ abd ^ aed;
        y2 = a ^ e ^ be ^ bd ^ abd ^ bed;
        y3 = LOW ^ a ^ ab ^ d ^ ad ^ abd ^ ed ^ aed ^ bed;
        break;
    default:
        y0 = LOW ^ a ^ e ^ be ^ abe ^ d ^ ad ^ bd ^ abd ^ ed ^ bed;
        y1 = a ^ ab ^ e ^ ae ^ be ^ abe ^ d ^ ad ^ aed;
        y2 = LOW ^ ab ^ e ^ abe ^ d ^ ad ^ bd ^ abd ^ aed ^ bed;
        y3 = a ^ b ^ ab ^ e ^ ae ^ ad ^ ed ^ bed;
        break;
    }
    return y0 | y1 << 1 | y2 << 2 | y3 << 3;
}

/* ---- The linear layer ------------------------------------------------------------------------ */

/* The cells of mask, from so many bits further down, round the end. */
#define MOVED(n_bits, mask) (evc_qarma_left(x, n_bits) & UINT64_C(mask))

STEP uint64_t shuffle(uint64_t x)
{
    return (x & UINT64_C(0xf000000f00000000)) | MOVED(12, 0x000000000000f00f) |
           MOVED(16, 0x00f0000000000000) | MOVED(20, 0x000000000f000000) |
           MOVED(24, 0x0000f0f000000000) | MOVED(28, 0x0000000000000f00) |
           MOVED(36, 0x0000000000f00000) | MOVED(40, 0x0f0f000000000000) |
           MOVED(44, 0x00000000000000f0) | MOVED(48, 0x00000f0000000000) |
           MOVED(52, 0x00000000f00f0000);
}

STEP uint64_t unshuffle(uint64_t x)
{
    return (x & UINT64_C(0xf000000f00000000)) | MOVED(12, 0x00000f00f0000000) |
           MOVED(16, 0x0f00000000000000) | MOVED(20, 0x000000000f000000) |
           MOVED(24, 0x00000000000f0f00) | MOVED(28, 0x000f000000000000) |
           MOVED(36, 0x0000f00000000000) | MOVED(40, 0x0000000000f0f000) |
           MOVED(44, 0x00000000000000f0) | MOVED(48, 0x000000f000000000) |
           MOVED(52, 0x00f000000000000f);
}

STEP uint64_t mix(uint64_t x)
{
    return evc_qarma_mix(x);
}

STEP uint64_t next_tweak(uint64_t tweak)
{
    return evc_qarma_next_tweak(tweak);
}

/* ---- The cipher ------------------------------------------------------------------------------ */

STEP uint64_t run(const struct evc_qarma_words *k, int rounds, uint64_t x, uint64_t tweak,
                  enum box box, enum box inverse)
{
    uint64_t t[EVC_QARMA_MAX_ROUNDS + 1];

    t[0] = tweak;
    for (int i = 0; i < rounds; i++)
        t[i + 1] = next_tweak(t[i]);
    x = substitute(x ^ k->w0 ^ k->k0 ^ t[0], box);
    for (int i = 1; i < rounds; i++)
        x = substitute(mix(shuffle(x ^ k->k0 ^ c[i] ^ t[i])), box);
    x = substitute(mix(shuffle(x ^ k->w1 ^ t[rounds])), box);
    x = unshuffle(mix(shuffle(x)) ^ k->k1);
    x = unshuffle(mix(substitute(x, inverse))) ^ k->w0 ^ t[rounds];
    for (int i = rounds - 1; i > 0; i--)
        x = unshuffle(mix(substitute(x, inverse))) ^ k->k0 ^ c[i] ^ t[i] ^ QARMA_ALPHA;
    x = substitute(x, inverse) ^ k->k0 ^ t[0] ^ QARMA_ALPHA ^ k->w1;
    return x;
}

static uint64_t run_any(const struct evc_qarma_head *head, const struct evc_qarma_words *k,
                        uint64_t x, uint64_t tweak)
{
    switch (head->sigma) {
    case EVC_QARMA_SIGMA0: return run(k, head->rounds, x, tweak, SIGMA0, SIGMA0);
    case EVC_QARMA_SIGMA1: return run(k, head->rounds, x, tweak, SIGMA1, SIGMA1);
    default: return run(k, head->rounds, x, tweak, SIGMA2, SIGMA2_INVERSE);
    }
}

static uint64_t encrypt(const void *vkey, uint64_t block, uint64_t tweak)
{
    const struct key *key = vkey;

    return run_any(&key->head, &key->enc, block, tweak);
}

static uint64_t decrypt(const void *vkey, uint64_t block, uint64_t tweak)
{
    const struct key *key = vkey;

    return run_any(&key->head, &key->dec, block, tweak);
}

const struct evc_qarma evc_qarma_c_swar64 = {
    .kernel = EVC_KERNEL_HEAD(c_swar64, ANY, CT, ANY, 1, struct key, 0, BASELINE, 448),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
};

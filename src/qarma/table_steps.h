/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 by look-ups, with a block in two words of 32 bits as table_words.h says.
 * Decryption is encryption under another key (Avanzi: The QARMA Block Cipher Family, ToSC
 * 2017, issue 1, section 2).
 *
 * A template: the including file defines before the inclusion, with the words of table_blocks.h,
 *   struct box                         the tables of an S-box
 *   boxes[4]                           of sigma 0, 1, 2 and of what undoes sigma 2
 *   mixed(box, add, a, b, c, d)        add and the words of bytes a to d, which go the ways 0 to 3,
 *                                      in one sum. With barriers: it is for two words at once, and
 *                                      vectorisers would gather them
 *   final_byte(box, i, a)              the word of byte a, which goes the way i in the last step
 *   tweaks_add(added, t, r)            added[1] to added[r]: what t_1 to t_r add, where t is t_0
 */
#ifndef EVC_QARMA_TABLE_STEPS_H
#define EVC_QARMA_TABLE_STEPS_H

#include "common/bytes.h"
#include "common/ct.h"
#include "common/each.h"
#include "qarma/schedule.h"
#include "qarma/table_blocks.h"

#define ROWS (EVC_QARMA_MAX_ROUNDS + 1)

/* Two words are a number here, the first one its low half. */
struct key {
    struct evc_qarma_head head;
    uint64_t there[2][ROWS], back[2][ROWS]; /* by direction; [i]: what is added in
                                             * step i, without the tweak */
    uint64_t centre[2];
    uint64_t first[2], last[2]; /* what is added to the block, and to the result; as blocks */
};

/* ---- Steps ----------------------------------------------------------------------------------- */

struct words {
    size_t a, b; /* of 32 bits each */
};

#define BYTE(x, i) ((size_t)((x) >> 8 * (i)) & 255)

/* The first step, from a block. */
EVC_INLINE struct words first_step(const struct box *box, uint64_t x, uint64_t add)
{
    struct words sum;

    sum.a = mixed(box, (uint32_t)add, BYTE(x, 3), BYTE(x, 1), BYTE(x, 4), BYTE(x, 6));
    sum.b = mixed(box, (uint32_t)(add >> 32), BYTE(x, 0), BYTE(x, 2), BYTE(x, 7), BYTE(x, 5));
    return sum;
}

EVC_INLINE struct words there_step(const struct box *box, struct words x, uint64_t add)
{
    struct words sum;

    sum.a = mixed(box, (uint32_t)add, BYTE(x.b, 1), BYTE(x.b, 0), BYTE(x.a, 2), BYTE(x.a, 3));
    sum.b =
        mixed(box, (uint32_t)(add >> 32), BYTE(x.a, 0), BYTE(x.a, 1), BYTE(x.b, 3), BYTE(x.b, 2));
    return sum;
}

EVC_INLINE struct words back_step(const struct box *box, struct words y, uint64_t add)
{
    struct words sum;

    sum.a = mixed(box, (uint32_t)add, BYTE(y.a, 3), BYTE(y.b, 1), BYTE(y.a, 2), BYTE(y.b, 0));
    sum.b =
        mixed(box, (uint32_t)(add >> 32), BYTE(y.b, 2), BYTE(y.a, 0), BYTE(y.b, 3), BYTE(y.a, 1));
    return sum;
}

/* The last step of a byte, and that of another a nibble further up. */
EVC_INLINE uint32_t final_bytes(const struct box *box, int way, size_t byte, size_t further)
{
    return final_byte(box, way, byte) ^ final_byte(box, way, further) << 4;
}

EVC_INLINE uint32_t rotated16(uint32_t x)
{
    return x << 16 | x >> 16;
}

/* tau^-1 S^-1, to a block. */
EVC_INLINE uint64_t last_step(const struct box *box, struct words y)
{
    const uint32_t high = final_bytes(box, 0, BYTE(y.a, 2), BYTE(y.b, 3));
    const uint32_t high_turned = final_bytes(box, 0, BYTE(y.b, 1), BYTE(y.a, 0));
    const uint32_t low = final_bytes(box, 1, BYTE(y.b, 0), BYTE(y.a, 1));
    const uint32_t low_turned = final_bytes(box, 1, BYTE(y.a, 3), BYTE(y.b, 2));

    return (uint64_t)(high ^ rotated16(high_turned)) << 32 | (low ^ rotated16(low_turned));
}

/* ---- Keys and blocks ------------------------------------------------------------------------- */

/* Words that c_0 to c_7, and alpha, add. */
#define ALPHA EVC_QARMA_MAX_ROUNDS
static const struct added constants[ROWS] = {
    {UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)},
    {UINT64_C(0xc66a27a4efb203ad), UINT64_C(0x1277a943033e4081)},
    {UINT64_C(0x194891253c16d0be), UINT64_C(0xa2938909f142d230)},
    {UINT64_C(0x1c33b54eeedc3676), UINT64_C(0x0946ae9cec888ef2)},
    {UINT64_C(0x13764edb14e88489), UINT64_C(0x4ed1187803567322)},
    {UINT64_C(0xd886a704990ab610), UINT64_C(0xbce064c49cef6365)},
    {UINT64_C(0x301ba9d3b5a64df1), UINT64_C(0x3b40547579f51bd8)},
    {UINT64_C(0xcb76f9495312bf80), UINT64_C(0x9d7f56b99b2918d1)},
    {UINT64_C(0x33da6772a8837bb4), UINT64_C(0xcb759cd9c007dc2a)},
};

static void set_key(void *vkey, uint64_t w0, uint64_t k0)
{
    struct key *key = vkey;
    const uint64_t w1 = evc_qarma_w1(w0);
    const struct added k = added_by(k0), whitening0 = added_by(w0), whitening1 = added_by(w1),
                       alpha = constants[ALPHA];
    const int r = key->head.rounds;

    for (int i = 1; i < r; i++) {
        const uint64_t there = k.there ^ constants[i].there, back = k.back ^ constants[i].back;
        key->there[0][i] = there;
        key->there[1][i] = there ^ alpha.there;
        key->back[0][i] = back ^ alpha.back;
        key->back[1][i] = back;
    }
    key->there[0][r] = whitening1.there;
    key->there[1][r] = whitening0.there;
    key->back[0][r] = whitening0.back;
    key->back[1][r] = whitening1.back;
    key->centre[0] = words_of(k0);
    key->centre[1] = words_of(evc_qarma_mix(k0));
    key->first[0] = key->last[1] = w0 ^ k0;
    key->first[1] = key->last[0] = w1 ^ k0 ^ QARMA_ALPHA;
}

/* rounds: a constant of at most MOST_WRITTEN_OUT, and the steps are written out; or any
 * number, and they are loops. */
#define MOST_WRITTEN_OUT 5
EVC_INLINE uint64_t run(const struct key *key, uint64_t x, uint64_t tweak, int rounds,
                        int written_out, int decrypts)
{
    const unsigned sigma = key->head.sigma;
    const struct box *box = hide_pointer(&boxes[sigma]);
    const struct box *inverse = hide_pointer(&boxes[sigma + (sigma == EVC_QARMA_SIGMA2)]);
    const uint64_t *there = key->there[decrypts], *back = key->back[decrypts];
    struct added t[ROWS];
    struct words s;
    uint64_t turn;

    tweaks_add(t, tweak, rounds);
    s = first_step(box, x ^ (tweak ^ key->first[decrypts]), there[1] ^ t[1].there);
    EACH(MOST_WRITTEN_OUT, if (written_out && i > 0 && i < rounds) s =
                               there_step(box, s, there[i + 1] ^ t[i + 1].there));
    for (int i = 2; !written_out && i <= rounds; i++)
        s = there_step(box, s, there[i] ^ t[i].there);
    s = there_step(box, s, key->centre[decrypts]);
    turn = turned(s.a | (uint64_t)s.b << 32);
    s.a = (uint32_t)turn;
    s.b = (uint32_t)(turn >> 32);
    EACH(MOST_WRITTEN_OUT, if (written_out && i < rounds) s =
                               back_step(inverse, s, back[rounds - i] ^ t[rounds - i].back));
    for (int i = rounds; !written_out && i > 0; i--)
        s = back_step(inverse, s, back[i] ^ t[i].back);
    x = last_step(inverse, s) ^ (tweak ^ key->last[decrypts]);
    return x;
}

/* The numbers of rounds that Arm has are constants. */
EVC_INLINE uint64_t run_any(const struct key *key, uint64_t x, uint64_t tweak, int decrypts)
{
    switch (key->head.rounds) {
    case 5: return run(key, x, tweak, 5, 1, decrypts);
    case 3: return run(key, x, tweak, 3, 1, decrypts);
    default: return run(key, x, tweak, key->head.rounds, 0, decrypts);
    }
}

static uint64_t encrypt(const void *vkey, uint64_t block, uint64_t tweak)
{
    return run_any(vkey, block, tweak, 0);
}

static uint64_t decrypt(const void *vkey, uint64_t block, uint64_t tweak)
{
    return run_any(vkey, block, tweak, 1);
}

#endif

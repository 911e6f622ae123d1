/* SPDX-License-Identifier: MIT */
/*
 * GHASH by PMULL of 8 bits, three levels of Karatsuba: the table of a key and the operands of
 * products. Include it inside a region of A64_NEON.
 *
 * An element of 128 bits is cut in halves three times, and each time their sum is a third part:
 * 27 parts of 16 bits, which for a pair of elements stand in 8 vectors. A part a1 x^8 + a0
 * times a part b1 x^8 + b0 is two products of 8 bits lane by lane: with b as it is, which gives
 * a0 b0 and a1 b1, and with its bytes swapped, which gives a0 b1 and a1 b0. So the products of
 * all blocks are summed where they stand; nothing is moved, added up to wider products or
 * reduced before the last one.
 *
 * Source: Karatsuba, Ofman: Multiplication of Many-Digital Numbers by Automatic Computers, 1962;
 * Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage for Computing the GCM
 * Mode, 2014 (reflection, aggregation).
 */
#ifndef EVC_GHASH_A64_P8X8_STEPS_H
#define EVC_GHASH_A64_P8X8_STEPS_H

#include "ghash/a64_p8_steps.h"

#define GROUP 8 /* blocks with one reduction */
#define PAIRS (GROUP / 2)

/* For two elements a, b of 4 words each; + is the sum of two, and of a word's
 * halves it is 16 bits. */
struct operands {
    uint8x16_t a, b;   /* a0 a1 a2 a3; b0 b1 b2 b3 */
    uint8x16_t cross;  /* a0+a2 a1+a3 b0+b2 b1+b3 */
    uint8x16_t beside; /* a0+a1 a2+a3 b0+b1 b2+b3 */
    uint8x16_t all;    /* a0+a1+a2+a3, b0+b1+b2+b3, twice */
    uint8x16_t halves; /* the sums of the halves of the 4 words of a, of b */
    uint8x16_t sums;   /* of those of cross, of beside */
    uint8x16_t last;   /* of those of all, four times */
};

/* H^GROUP ... H^1 by pairs, as operands: each vector, and with the bytes of its
 * 16-bit lanes swapped. */
struct table {
    struct {
        uint8_t a[2][16], b[2][16], cross[2][16], beside[2][16], halves[2][16], sums[2][16];
        uint8_t all[16], last[16]; /* as the vector once, with swapped bytes
                                    * once; the latter twice */
    } pair[PAIRS];
};

struct key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) struct table table;
};

/* The sums of neighbouring lanes of a, then of b: the lower halves of wider
 * lanes, and the upper ones. */
EVC_INLINE uint8x16_t add_16(uint8x16_t a, uint8x16_t b)
{
    return vreinterpretq_u8_u16(veorq_u16(vuzp1q_u16(U16(a), U16(b)), vuzp2q_u16(U16(a), U16(b))));
}

EVC_INLINE uint8x16_t add_32(uint8x16_t a, uint8x16_t b)
{
    return vreinterpretq_u8_u32(veorq_u32(vuzp1q_u32(U32(a), U32(b)), vuzp2q_u32(U32(a), U32(b))));
}

EVC_INLINE uint8x16_t add_64(uint8x16_t a, uint8x16_t b)
{
    return vreinterpretq_u8_u64(veorq_u64(vuzp1q_u64(U64(a), U64(b)), vuzp2q_u64(U64(a), U64(b))));
}

EVC_INLINE struct operands operands_of(uint8x16_t a, uint8x16_t b)
{
    struct operands o;

    o.a = a;
    o.b = b;
    o.cross = add_64(a, b);
    o.beside = add_32(a, b);
    o.all = add_32(o.cross, o.cross);
    o.halves = add_16(a, b);
    o.sums = add_16(o.cross, o.beside);
    o.last = add_16(o.all, o.all);
    return o;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

EVC_INLINE void put(uint8_t to[2][16], uint8x16_t v)
{
    vst1q_u8(to[0], v);
    vst1q_u8(to[1], vrev16q_u8(v));
}

EVC_INLINE void put_pair(struct table *to, unsigned j, uint8x16_t a, uint8x16_t b)
{
    const struct operands o = operands_of(a, b);

    put(to->pair[j].a, o.a);
    put(to->pair[j].b, o.b);
    put(to->pair[j].cross, o.cross);
    put(to->pair[j].beside, o.beside);
    put(to->pair[j].halves, o.halves);
    put(to->pair[j].sums, o.sums);
    vst1q_u8(to->pair[j].all, vreinterpretq_u8_u64(vuzp1q_u64(U64(o.all), U64(vrev16q_u8(o.all)))));
    vst1q_u8(to->pair[j].last,
             vreinterpretq_u8_u32(vtrn1q_u32(U32(o.last), U32(vrev16q_u8(o.last)))));
}

/* hash: the slot blocks. It needs no more of the table than the last n powers for n blocks. */
EVC_INLINE void make_key(struct key *key, const uint8_t h[16],
                         void (*hash)(const void *key, uint8_t y[16], const uint8_t *in,
                                      size_t n_blocks))
{
    static const uint8_t zeros[32];
    uint8_t odd[16], even[16]; /* powers, as blocks */

    memcpy(odd, h, 16);
    put_pair(&key->table, PAIRS - 1, vdupq_n_u8(0), power_of(odd));
    for (unsigned j = PAIRS - 1;; j--) {
        memcpy(even, odd, 16);
        hash(key, even, zeros, 1);
        put_pair(&key->table, j, power_of(even), power_of(odd));
        if (j == 0)
            break;
        hash(key, odd, zeros, 2);
    }
    evc_wipe(odd, sizeof odd);
    evc_wipe(even, sizeof even);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * SHA-2 in portable C, fast where general registers have 32 bits.
 *
 * Method:   SHA-256 by words_steps.h. Words of SHA-512 are two halves: of 64-bit shifts compilers
 *           for 32-bit CPUs make calls, or more instructions than the halves need.
 * Source:   FIPS 180-4 (2015) sections 4.1, 6.2.2 and 6.4.2.
 * Needs:    ANY.   Timing: CT (no branch or address depends on the message).
 * Key form: private.
 */
#include "sha2/kernel.h"

#include "sha2/words256.h"

struct word {
    uint32_t high, low;
};

EVC_INLINE struct word word_of(uint64_t x)
{
    return (struct word){(uint32_t)(x >> 32), (uint32_t)x};
}

EVC_INLINE struct word sum(struct word x, struct word y)
{
    const uint32_t low = x.low + y.low;

    return (struct word){x.high + y.high + (low < y.low), low};
}

/* Rotations and shifts to the right by n bits, of which 32 swap the halves: HIGH and LOW of them. n
 * is a constant from 1 to 31. */
#define TO_HIGH(x, n) ((x).high >> (n) | (x).low << (32 - (n)))
#define TO_LOW(x, n) ((x).low >> (n) | (x).high << (32 - (n)))

EVC_INLINE struct word big0(struct word x) /* 28, 34, 39 */
{
    return (struct word){TO_HIGH(x, 28) ^ TO_LOW(x, 2) ^ TO_LOW(x, 7),
                         TO_LOW(x, 28) ^ TO_HIGH(x, 2) ^ TO_HIGH(x, 7)};
}

EVC_INLINE struct word big1(struct word x) /* 14, 18, 41 */
{
    return (struct word){TO_HIGH(x, 14) ^ TO_HIGH(x, 18) ^ TO_LOW(x, 9),
                         TO_LOW(x, 14) ^ TO_LOW(x, 18) ^ TO_HIGH(x, 9)};
}

EVC_INLINE struct word small0(struct word x) /* 1, 8, shift by 7 */
{
    return (struct word){TO_HIGH(x, 1) ^ TO_HIGH(x, 8) ^ x.high >> 7,
                         TO_LOW(x, 1) ^ TO_LOW(x, 8) ^ TO_LOW(x, 7)};
}

EVC_INLINE struct word small1(struct word x) /* 19, 61, shift by 6 */
{
    return (struct word){TO_HIGH(x, 19) ^ TO_LOW(x, 29) ^ x.high >> 6,
                         TO_LOW(x, 19) ^ TO_HIGH(x, 29) ^ TO_LOW(x, 6)};
}

EVC_INLINE struct word choice(struct word e, struct word f, struct word g)
{
    return (struct word){(e.high & (f.high ^ g.high)) ^ g.high, (e.low & (f.low ^ g.low)) ^ g.low};
}

EVC_INLINE struct word majority(struct word a, struct word b, struct word c)
{
    return (struct word){(a.high & b.high) | (c.high & (a.high | b.high)),
                         (a.low & b.low) | (c.low & (a.low | b.low))};
}

/* The words a to h stand in a ring: in round t, a is s[-t & 7], b the one behind it. */
EVC_INLINE void round512(struct word s[8], unsigned t, uint64_t k, struct word w)
{
    struct word *const d = &s[(3 - t) & 7], *const h = &s[(7 - t) & 7];
    const struct word a = s[(0 - t) & 7], e = s[(4 - t) & 7];
    struct word t1 = sum(sum(*h, word_of(k)), w);

    t1 = sum(sum(t1, big1(e)), choice(e, s[(5 - t) & 7], s[(6 - t) & 7]));
    *d = sum(*d, t1);
    *h = sum(sum(t1, big0(a)), majority(a, s[(1 - t) & 7], s[(2 - t) & 7]));
}

static void block512(uint64_t h[8], const uint8_t *in)
{
    struct word w[16], s[8];

    for (unsigned i = 0; i < 8; i++)
        s[i] = word_of(h[i]);
    for (unsigned i = 0; i < 16; i++)
        w[i] = (struct word){evc_load32_be(in + 8 * i), evc_load32_be(in + 8 * i + 4)};
    for (unsigned turn = 0; turn < 80; turn += 16) {
        const uint64_t *const k = evc_sha2_k512 + turn;
#define ROUND(t)                                                                                   \
    if (turn)                                                                                      \
        w[t] = sum(sum(w[t], small0(w[((t) + 1) & 15])),                                           \
                   sum(w[((t) + 9) & 15], small1(w[((t) + 14) & 15])));                            \
    round512(s, t, k[t], w[t])
        ROUND(0); ROUND(1); ROUND(2); ROUND(3); ROUND(4); ROUND(5); ROUND(6); ROUND(7);
        ROUND(8); ROUND(9); ROUND(10); ROUND(11); ROUND(12); ROUND(13); ROUND(14); ROUND(15);
#undef ROUND
    }
    for (unsigned i = 0; i < 8; i++)
        h[i] += (uint64_t)s[i].high << 32 | s[i].low;
}

static void blocks512(uint64_t h[8], const uint8_t *in, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 128)
        block512(h, in);
}

const struct evc_sha2 evc_sha2_c_words32 = {
    .kernel = EVC_KEYLESS_HEAD(c_words32, ANY, CT, ANY, BASELINE, 1024),
    .blocks256 = blocks256,
    .blocks512 = blocks512,
};

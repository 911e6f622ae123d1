/* SPDX-License-Identifier: MIT */
/*
 * SHA-2 in portable C, fast where general registers have 32 bits.
 *
 * Method:   SHA-256 by words_steps.h. Words of SHA-512 are two halves: of 64-bit shifts compilers
 *           for 32-bit CPUs make calls, or more instructions than the halves need. How halves are
 *           rotated and summed depends on the CPU, by counts of GCC 12's instructions.
 * Source:   FIPS 180-4 (2015) sections 4.1, 6.2.2 and 6.4.2.
 * Needs:    ANY.   Timing: CT (no branch or address depends on the message).
 * Key form: private.
 */
#define EVC_BY_PRESSURE
#include "common/few_spills.h"

#include "sha2/kernel.h"

#include "sha2/words256.h"

struct word {
    uint32_t high, low;
};

EVC_INLINE struct word word_of(uint64_t x)
{
    return (struct word){(uint32_t)(x >> 32), (uint32_t)x};
}

/* GCC for Arm makes two instructions of a sum of 64 bits, but more of a comparison, and clang for
 * SPARC makes a branch of that. */
EVC_INLINE struct word sum(struct word x, struct word y)
{
#if EVC_A32 || defined(__sparc__)
    return word_of(((uint64_t)x.high << 32 | x.low) + ((uint64_t)y.high << 32 | y.low));
#else
    const uint32_t low = x.low + y.low;

    return (struct word){x.high + y.high + (low < y.low), low};
#endif
}

/* One half of a word rotated to the right by n is
 *     PART(same half, other half, n) ^ MOVED(high, low, n).
 * n is a constant from 1 to 31; a rotation by 32 more swaps the halves.
 * If the CPU rotates a register by one instruction, PART rotates the half alone, and MOVED corrects
 * the n bits that should have come from the other half. The correction is the same for both halves.
 * PA-RISC and x86 have instructions that shift a pair of registers; compilers use them for |. Other
 * CPUs shift, and ^ saves the instruction that joins the parts. */
#if EVC_GNU_C && defined(__mips_isa_rev) && __mips_isa_rev >= 2
/* MIPS32R2 inserts bits of one register into another by one instruction. */
#if EVC_BIG_ENDIAN
#define HALF_OF(n) struct { uint32_t first : (n), rest : 32 - (n); }
#else
#define HALF_OF(n) struct { uint32_t rest : 32 - (n), first : (n); }
#endif
#define PART(same, other, n)                                                                       \
    __extension__({                                                                                \
        union {                                                                                    \
            uint32_t word;                                                                         \
            HALF_OF(n) bits;                                                                       \
        } half_ = {(same) >> (n)};                                                                 \
        half_.bits.first = (other) & ((UINT32_C(1) << (n)) - 1);                                   \
        half_.word;                                                                                \
    })
#define MOVED(high, low, n) 0u
#define SHIFTED(l, h, n) PART(l, h, n)
#elif defined(__m68k__) && !defined(__mcoldfire__)
#define PART(same, other, n) EVC_ROTR32(same, n)
#define MOVED(high, low, n) (((high) ^ (low)) << (32 - (n)))
#elif defined(__hppa__) || EVC_X86
#define PART(same, other, n) ((same) >> (n) | (other) << (32 - (n)))
#define MOVED(high, low, n) 0u
#else
#define PART(same, other, n) ((same) >> (n) ^ (other) << (32 - (n)))
#define MOVED(high, low, n) 0u
#endif

/* The lower half of a word shifted to the right. */
#ifndef SHIFTED
#define SHIFTED(l, h, n) ((l) >> (n) ^ (h) << (32 - (n)))
#endif

EVC_INLINE struct word big0(struct word x) /* 28, 34, 39 */
{
    const uint32_t h = x.high, l = x.low;
    const uint32_t moved = MOVED(h, l, 28) ^ MOVED(h, l, 2) ^ MOVED(h, l, 7);

    return (struct word){PART(h, l, 28) ^ PART(l, h, 2) ^ PART(l, h, 7) ^ moved,
                         PART(l, h, 28) ^ PART(h, l, 2) ^ PART(h, l, 7) ^ moved};
}

EVC_INLINE struct word big1(struct word x) /* 14, 18, 41 */
{
    const uint32_t h = x.high, l = x.low;
    const uint32_t moved = MOVED(h, l, 14) ^ MOVED(h, l, 18) ^ MOVED(h, l, 9);

    return (struct word){PART(h, l, 14) ^ PART(h, l, 18) ^ PART(l, h, 9) ^ moved,
                         PART(l, h, 14) ^ PART(l, h, 18) ^ PART(h, l, 9) ^ moved};
}

EVC_INLINE struct word small0(struct word x) /* 1, 8, shift by 7 */
{
    const uint32_t h = x.high, l = x.low;
    const uint32_t moved = MOVED(h, l, 1) ^ MOVED(h, l, 8);

    return (struct word){PART(h, l, 1) ^ PART(h, l, 8) ^ moved ^ h >> 7,
                         PART(l, h, 1) ^ PART(l, h, 8) ^ moved ^ SHIFTED(l, h, 7)};
}

EVC_INLINE struct word small1(struct word x) /* 19, 61, shift by 6 */
{
    const uint32_t h = x.high, l = x.low;
    const uint32_t moved = MOVED(h, l, 19) ^ MOVED(h, l, 29);

    return (struct word){PART(h, l, 19) ^ PART(l, h, 29) ^ moved ^ h >> 6,
                         PART(l, h, 19) ^ PART(h, l, 29) ^ moved ^ SHIFTED(l, h, 6)};
}

EVC_INLINE struct word choice(struct word e, struct word f, struct word g)
{
    return (struct word){(e.high & (f.high ^ g.high)) ^ g.high, (e.low & (f.low ^ g.low)) ^ g.low};
}

/* b ^ c of a round is the a ^ b of the round before; 68020 and x86 have no registers for it. */
EVC_INLINE struct word majority(struct word a, struct word b, struct word c, struct word *b_xor_c)
{
#if defined(__m68k__) || EVC_X86
    (void)b_xor_c;
    return (struct word){(a.high & b.high) | (c.high & (a.high | b.high)),
                         (a.low & b.low) | (c.low & (a.low | b.low))};
#else
    const struct word ab = {a.high ^ b.high, a.low ^ b.low}, bc = *b_xor_c;

    (void)c;
    *b_xor_c = ab;
    return (struct word){(ab.high & bc.high) ^ b.high, (ab.low & bc.low) ^ b.low};
#endif
}

/* The words a to h stand in a ring: in round t, a is s[-t & 7], b the one behind it. A compiler
 * would compute much of the next rounds early, and spill it. */
EVC_INLINE void round512(struct word s[8], struct word *bc, unsigned t, uint64_t k, struct word w)
{
    struct word *const d = &s[(3 - t) & 7], *const h = &s[(7 - t) & 7];
    const struct word a = s[(0 - t) & 7], e = s[(4 - t) & 7];
    struct word t1 = sum(sum(*h, word_of(k)), w);

    t1 = sum(sum(t1, choice(e, s[(5 - t) & 7], s[(6 - t) & 7])), big1(e));
    *d = sum(*d, t1);
    *h = sum(sum(t1, majority(a, s[(1 - t) & 7], s[(2 - t) & 7], bc)), big0(a));
    EVC_BARRIER();
}

EVC_INLINE void block512(uint64_t h[8], const uint8_t *in, const uint64_t *k)
{
    struct word w[16], s[8] = {word_of(h[0]), word_of(h[1]), word_of(h[2]), word_of(h[3]),
                               word_of(h[4]), word_of(h[5]), word_of(h[6]), word_of(h[7])};
    struct word bc = {s[1].high ^ s[2].high, s[1].low ^ s[2].low};

#define SIXTEEN(R)                                                                                 \
    R(0); R(1); R(2); R(3); R(4); R(5); R(6); R(7);                                                \
    R(8); R(9); R(10); R(11); R(12); R(13); R(14); R(15)
#define LOAD(t) w[t] = (struct word){evc_load32_be(in + 8 * (t)), evc_load32_be(in + 8 * (t) + 4)}
#define ROUND(t) round512(s, &bc, t, k[t], w[t])
#define NEXT(t)                                                                                    \
    w[t] = sum(sum(w[t], small0(w[((t) + 1) & 15])),                                               \
               sum(w[((t) + 9) & 15], small1(w[((t) + 14) & 15])));                                \
    ROUND(t)
#if defined(__mips__) || defined(__riscv) /* many registers: a word is used while it is in one */
#define FIRST(t) LOAD(t); ROUND(t)
#else
#define FIRST(t) ROUND(t)
    for (int t = 0; t < 16; t++)
        LOAD(t);
#endif
    SIXTEEN(FIRST);
    for (int turn = 16; turn < 80; turn += 16) {
        k += 16;
        SIXTEEN(NEXT);
    }
#undef SIXTEEN
#undef LOAD
#undef ROUND
#undef NEXT
#undef FIRST
#define ADD(i) h[i] += (uint64_t)s[i].high << 32 | s[i].low
    ADD(0), ADD(1), ADD(2), ADD(3), ADD(4), ADD(5), ADD(6), ADD(7);
#undef ADD
}

static void blocks512(uint64_t h[8], const uint8_t *in, size_t n_blocks)
{
    for (const uint64_t *k = evc_sha2_k512; n_blocks; n_blocks--, in += 128) {
        EVC_KEEP(k); /* GCC would put constants together, or keep their addresses */
        block512(h, in, k);
    }
}

const struct evc_sha2 evc_sha2_c_words32 = {
    .kernel = EVC_KEYLESS_HEAD(c_words32, ANY, CT, ANY, BASELINE, 1024),
    .blocks256 = blocks256,
    .blocks512 = blocks512,
};

/* SPDX-License-Identifier: MIT */
/* SHA-256 by words of 32 bits, for portable kernels. */
#ifndef EVC_SHA2_WORDS256_H
#define EVC_SHA2_WORDS256_H

#include "common/bytes.h"
#include "sha2/constants.h"

#define EVC_ROTR32(x, n) ((x) >> (n) | (x) << (32 - (n)))

/* PA-RISC loads words at multiples of four alone. A word of a message that begins there is one load
 * instead of four and three instructions to join bytes; other messages are copied. */
#if EVC_GNU_C && defined(__hppa__)
#define EVC_SHA2_ALIGNED 1
EVC_INLINE uint32_t load_word256(const uint8_t *p)
{
    typedef uint32_t word __attribute__((may_alias));

    return *(const word *)(const void *)p;
}
#else
#define EVC_SHA2_ALIGNED 0
#define load_word256 evc_load32_be
#endif

/* The form of the rounds that takes the fewest instructions of GCC 12 on the CPU. */
#if defined(__hppa__)
#define ODD_IN_MEMORY
#define ROUNDS_APART
#define SHORT_OFFSETS
#elif defined(__mips__)
#define ODD_IN_MEMORY
#define ROUNDS_APART
#elif defined(__riscv)
#define ODD_IN_MEMORY
#define ROUNDS_APART
#define SUMS_IN_ORDER
#elif defined(__m68k__)
#define FEW_REGISTERS
#define ROUNDS_APART
#define SUMS_IN_ORDER
#elif EVC_A32
#define ROUNDS_APART
#endif

#define WORD uint32_t
#define WORD_BYTES 4
#define LOAD load_word256
#define BLOCK_FUNCTION evc_sha2_block256
#define N_ROUNDS 64
#if defined(__riscv) && EVC_WORD64 && !defined(__riscv_zbb)
/* No instruction rotates. A word that stands in both halves of a register is rotated by a shift. */
EVC_INLINE uint64_t twice(uint32_t x)
{
    uint64_t high = (uint64_t)x << 32;

    EVC_KEEP(high); /* GCC would extend x by two shifts more */
    return high | high >> 32;
}

EVC_INLINE uint32_t big256(uint64_t x, int i, int j, int k)
{
    return (uint32_t)(x >> i ^ x >> j ^ x >> k);
}

EVC_INLINE uint32_t small256(uint64_t x, int i, int j)
{
    return (uint32_t)(x >> i ^ x >> j);
}

#define BIG0(x) big256(twice(x), 2, 13, 22)
#define BIG1(x) big256(twice(x), 6, 11, 25)
#define SMALL0(x) (small256(twice(x), 7, 18) ^ (x) >> 3)
#define SMALL1(x) (small256(twice(x), 17, 19) ^ (x) >> 10)
#elif EVC_WORD64
#define BIG0(x) (EVC_ROTR32(x, 2) ^ EVC_ROTR32(x, 13) ^ EVC_ROTR32(x, 22))
#define BIG1(x) (EVC_ROTR32(x, 6) ^ EVC_ROTR32(x, 11) ^ EVC_ROTR32(x, 25))
#define SMALL0(x) (EVC_ROTR32(x, 7) ^ EVC_ROTR32(x, 18) ^ (x) >> 3)
#define SMALL1(x) (EVC_ROTR32(x, 17) ^ EVC_ROTR32(x, 19) ^ (x) >> 10)
#else
/* Rotated by i, j and k, one rotation inside the other: one value lives at a time. Arm rotates the
 * operand of a sum for nothing, and 68020 by up to 8 by one instruction. */
EVC_INLINE uint32_t big256(uint32_t x, int i, int j, int k)
{
    const uint32_t inner = x ^ EVC_ROTR32(x, k - j), outer = x ^ EVC_ROTR32(inner, j - i);

    return EVC_ROTR32(outer, i);
}

EVC_INLINE uint32_t small256(uint32_t x, int i, int j)
{
    const uint32_t inner = x ^ EVC_ROTR32(x, j - i);

    return EVC_ROTR32(inner, i);
}

#define BIG0(x) big256(x, 2, 13, 22)
#define BIG1(x) big256(x, 6, 11, 25)
#define SMALL0(x) (small256(x, 7, 18) ^ (x) >> 3)
#define SMALL1(x) (small256(x, 17, 19) ^ (x) >> 10)
#endif
#include "sha2/words_steps.h"

#if EVC_SHA2_ALIGNED
EVC_OUT_OF_LINE void aligned_blocks256(uint32_t h[8], const uint8_t *in, size_t n_blocks)
#else
static void blocks256(uint32_t h[8], const uint8_t *in, size_t n_blocks)
#endif
{
    for (const uint32_t *k = evc_sha2_k256; n_blocks; n_blocks--, in += 64) {
#if EVC_A32 || defined(__hppa__)
        EVC_KEEP(k); /* GCC would put constants together, or keep their addresses */
#endif
        evc_sha2_block256(h, in, k);
    }
}

#if EVC_SHA2_ALIGNED
/* The 16 words of a block that begins `past` bytes after a multiple of four: all but the first and
 * the last stand in two words that do lie at multiples, and one instruction shifts them out. */
EVC_INLINE void align256(uint32_t words[16], const uint8_t *in, unsigned past)
{
    const uint8_t *const next = in + 4 - past;
    uint32_t left = load_word256(next);

    words[0] = evc_load32_be(in);
    for (int i = 1; i < 15; i++) {
        const uint32_t right = load_word256(next + 4 * i);

        words[i] = left << (8 * past) | right >> (32 - 8 * past);
        left = right;
    }
    words[15] = evc_load32_be(in + 60);
}

static void blocks256(uint32_t h[8], const uint8_t *in, size_t n_blocks)
{
    uint32_t copy[16];

    if ((uintptr_t)in % 4 == 0) {
        aligned_blocks256(h, in, n_blocks);
        return;
    }
    for (; n_blocks; n_blocks--, in += 64) {
        if ((uintptr_t)in % 4 == 1)
            align256(copy, in, 1);
        else if ((uintptr_t)in % 4 == 2)
            align256(copy, in, 2);
        else
            align256(copy, in, 3);
        aligned_blocks256(h, (const uint8_t *)copy, 1);
    }
}
#endif

#endif

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
#define UNROLLED
#define FEW_REGISTERS
#elif defined(__m68k__)
#define FEW_REGISTERS
#elif defined(__riscv) || (defined(__mips__) && !(defined(__mips_isa_rev) && __mips_isa_rev >= 2))
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
#else
#define BIG0(x) (EVC_ROTR32(x, 2) ^ EVC_ROTR32(x, 13) ^ EVC_ROTR32(x, 22))
#define BIG1(x) (EVC_ROTR32(x, 6) ^ EVC_ROTR32(x, 11) ^ EVC_ROTR32(x, 25))
#define SMALL0(x) (EVC_ROTR32(x, 7) ^ EVC_ROTR32(x, 18) ^ (x) >> 3)
#define SMALL1(x) (EVC_ROTR32(x, 17) ^ EVC_ROTR32(x, 19) ^ (x) >> 10)
#endif
#include "sha2/words_steps.h"

#if EVC_SHA2_ALIGNED
EVC_OUT_OF_LINE void aligned_blocks256(uint32_t h[8], const uint8_t *in, size_t n_blocks)
#else
static void blocks256(uint32_t h[8], const uint8_t *in, size_t n_blocks)
#endif
{
    for (; n_blocks; n_blocks--, in += 64)
        evc_sha2_block256(h, in, evc_sha2_k256);
}

#if EVC_SHA2_ALIGNED
static void blocks256(uint32_t h[8], const uint8_t *in, size_t n_blocks)
{
    uint32_t copy[16];

    if ((uintptr_t)in % 4 == 0) {
        aligned_blocks256(h, in, n_blocks);
        return;
    }
    for (; n_blocks; n_blocks--) {
        for (size_t i = 0; i < 16; i++, in += 4)
            copy[i] = evc_load32_be(in);
        aligned_blocks256(h, (const uint8_t *)copy, 1);
    }
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Vectors of digits for the kernels with vpmadd52: of 512 bits, or of 256 where a file defines
 * VECTOR_BITS so before it includes this. A half is four lanes, which hold a number where two are
 * multiplied side by side; a vector of 256 bits has one half.
 *
 * Products of 256 bits are the VEX form of AVX-IFMA. Compilers have it since GCC 13 and clang 16,
 * assemblers since binutils 2.40: so it is written in bytes. Builds of tests have two other forms,
 * for CPUs without AVX-IFMA: EVC_IFMA256_EVEX is the one of AVX-512 with VL, EVC_IFMA256_PORTABLE
 * multiplies lane by lane.
 */
#ifndef EVC_BN_IFMA_VECTORS_H
#define EVC_BN_IFMA_VECTORS_H

#include "bn/kernel.h"

#include "common/bytes.h"
#include "common/ct.h"
#include "common/x86.h"
#include "common/x86_vex.h"

#if !defined(VECTOR_BITS)
#define VECTOR_BITS 512
#endif

#define DIGIT_BITS 52
#define DIGIT_MASK ((UINT64_C(1) << DIGIT_BITS) - 1)
#define LANES (VECTOR_BITS / 64)
#define ALL_LANES ((1u << LANES) - 1)
#define HALF_LANES 4
#define MOST_WIDTH 6

__extension__ typedef unsigned __int128 wide;

#if VECTOR_BITS == 512
#define IFMA_BEGIN EVC_ISA_BEGIN(X86_IFMA)
#elif defined(EVC_IFMA256_EVEX)
#define EVC_CC_X86_IFMA_EVEX256 "avx2,avx512f,avx512vl,avx512ifma"
#define IFMA_BEGIN EVC_ISA_BEGIN(X86_IFMA_EVEX256)
#else
#define IFMA_BEGIN EVC_ISA_BEGIN(X86_AVXIFMA)
#endif

IFMA_BEGIN

/* ---- Instructions ---------------------------------------------------------------------------- */

#if VECTOR_BITS == 512
typedef __m512i vec;

#define add_low _mm512_madd52lo_epu64
#define add_high _mm512_madd52hi_epu64
#define v_add _mm512_add_epi64
#define v_sub _mm512_sub_epi64
#define v_and _mm512_and_si512
#define v_or _mm512_or_si512
#define v_shift_left _mm512_slli_epi64
#define v_shift_right _mm512_srli_epi64
/* By the number of bits of a digit, which is 52 here: the other instruction, for a number that is
 * no constant, is slower. */
#define shift_digit_right(x, bits) _mm512_srli_epi64(x, DIGIT_BITS)
#define v_zero _mm512_setzero_si512()
#define v_one _mm512_set1_epi64(1)
#define v_digits _mm512_set1_epi64((long long)DIGIT_MASK)
#define v_all _mm512_set1_epi64

EVC_INLINE vec v_load(const void *p)
{
    return _mm512_loadu_si512(p);
}

EVC_INLINE void v_store(void *p, vec x)
{
    _mm512_storeu_si512(p, x);
}

EVC_INLINE vec to_next_lane(vec x)
{
    return _mm512_alignr_epi64(x, v_zero, LANES - 1);
}

EVC_INLINE vec to_lane_before(vec x)
{
    return _mm512_alignr_epi64(v_zero, x, 1);
}

/* Lanes that are not 0. */
EVC_INLINE uint32_t nonzero_lanes(vec x)
{
    return (uint32_t)_mm512_test_epi64_mask(x, x);
}

EVC_INLINE uint32_t equal_lanes(vec x, vec y)
{
    return (uint32_t)_mm512_cmpeq_epi64_mask(x, y);
}

/* 1 in these lanes, a bit each. */
EVC_INLINE vec ones_in_lanes(uint32_t lanes)
{
    return _mm512_maskz_set1_epi64((__mmask8)lanes, 1);
}

/* A lane in each half, by its number: to be chosen by spread_lane. */
typedef vec lane_choice;

EVC_INLINE lane_choice lane_of_halves(uint64_t lane)
{
    return v_add(_mm512_set1_epi64((long long)lane), _mm512_set_epi64(4, 4, 4, 4, 0, 0, 0, 0));
}

/* The chosen lane of the vector at p, in all lanes of its half. */
EVC_INLINE vec spread_lane(const uint8_t *p, lane_choice lane)
{
    return _mm512_permutexvar_epi64(lane, v_load(p));
}

EVC_INLINE vec spread_lowest_of_halves(vec x)
{
    return _mm512_permutex_epi64(x, 0);
}

EVC_INLINE vec to_lane_before_in_halves(vec x)
{
    return _mm512_maskz_permutex_epi64(0x77, x, 0x39);
}

EVC_INLINE vec to_next_lane_in_halves(vec x)
{
    return _mm512_maskz_permutex_epi64(0xee, x, 0x90);
}

/* The lowest lane of each half shifted, and zeros in the others. */
#define shift_right_lowest_of_halves(x, n) _mm512_maskz_srli_epi64(0x11, x, n)
#else
typedef __m256i vec;

#if defined(EVC_IFMA256_EVEX)
#define add_low _mm256_madd52lo_epu64
#define add_high _mm256_madd52hi_epu64
#elif defined(EVC_IFMA256_PORTABLE)
/* To be read as the instructions do: factors of 52 bits, and either half of each product. */
EVC_OUT_OF_LINE vec add_half(vec sum, vec x, vec y, int shift)
{
    uint64_t sums[4], xs[4], ys[4];

    _mm256_storeu_si256((__m256i *)(void *)sums, sum);
    _mm256_storeu_si256((__m256i *)(void *)xs, x);
    _mm256_storeu_si256((__m256i *)(void *)ys, y);
    for (int i = 0; i < 4; i++)
        sums[i] +=
            (uint64_t)((wide)(xs[i] & DIGIT_MASK) * (ys[i] & DIGIT_MASK) >> shift) & DIGIT_MASK;
    return _mm256_loadu_si256((const __m256i *)(const void *)sums);
}

#define add_low(sum, x, y) add_half(sum, x, y, 0)
#define add_high(sum, x, y) add_half(sum, x, y, DIGIT_BITS)
#else
/* VEX.256.66.0F38.W1 B4 and B5: reg is the sum, vvvv one factor, rm the other. */
EVC_INLINE vec add_low(vec sum, vec x, vec y)
{
    __asm__(EVC_X86_VEX_OF_3("0xfd", "0xb4") : "+x"(sum) : "x"(x), "x"(y));
    return sum;
}

EVC_INLINE vec add_high(vec sum, vec x, vec y)
{
    __asm__(EVC_X86_VEX_OF_3("0xfd", "0xb5") : "+x"(sum) : "x"(x), "x"(y));
    return sum;
}
#endif

#define v_add _mm256_add_epi64
#define v_sub _mm256_sub_epi64
#define v_and _mm256_and_si256
#define v_or _mm256_or_si256
#define v_shift_left _mm256_slli_epi64
#define v_shift_right _mm256_srli_epi64
#define shift_digit_right(x, bits) _mm256_srl_epi64(x, _mm_cvtsi32_si128((int)(bits)))
#define v_zero _mm256_setzero_si256()
#define v_one _mm256_set1_epi64x(1)
#define v_digits _mm256_set1_epi64x((long long)DIGIT_MASK)
#define v_all _mm256_set1_epi64x

EVC_INLINE vec v_load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

EVC_INLINE void v_store(void *p, vec x)
{
    _mm256_storeu_si256((__m256i *)p, x);
}

EVC_INLINE vec to_next_lane(vec x)
{
    return _mm256_blend_epi32(_mm256_permute4x64_epi64(x, 0x90), v_zero, 0x03);
}

EVC_INLINE vec to_lane_before(vec x)
{
    return _mm256_blend_epi32(_mm256_permute4x64_epi64(x, 0x39), v_zero, 0xc0);
}

EVC_INLINE uint32_t equal_lanes(vec x, vec y)
{
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(x, y)));
}

EVC_INLINE uint32_t nonzero_lanes(vec x)
{
    return equal_lanes(x, v_zero) ^ ALL_LANES;
}

EVC_INLINE vec ones_in_lanes(uint32_t lanes)
{
    return v_and(_mm256_srlv_epi64(v_all((long long)lanes), _mm256_set_epi64x(3, 2, 1, 0)), v_one);
}

typedef size_t lane_choice;

EVC_INLINE lane_choice lane_of_halves(uint64_t lane)
{
    return (size_t)lane;
}

EVC_INLINE vec spread_lane(const uint8_t *p, lane_choice lane)
{
    return v_all((long long)evc_load64_ne(p + 8 * lane));
}

EVC_INLINE vec spread_lowest_of_halves(vec x)
{
    return _mm256_broadcastq_epi64(_mm256_castsi256_si128(x));
}

#define to_lane_before_in_halves to_lane_before
#define to_next_lane_in_halves to_next_lane
#define shift_right_lowest_of_halves(x, n) _mm256_blend_epi32(v_zero, v_shift_right(x, n), 0x03)
#endif

/* ---- Arrays of vectors ----------------------------------------------------------------------- */

/* Vector number i of an array in memory of bytes. */
EVC_INLINE uint8_t *at(void *vectors, size_t i)
{
    return (uint8_t *)vectors + sizeof(vec) * i;
}

EVC_INLINE const uint8_t *at_const(const void *vectors, size_t i)
{
    return (const uint8_t *)vectors + sizeof(vec) * i;
}

EVC_INLINE void clear_vectors(void *x, uint32_t vectors)
{
    for (uint32_t v = 0; v < vectors; v++)
        v_store(at(x, v), v_zero);
}

EVC_INLINE void copy_vectors(void *to, const void *from, uint32_t vectors)
{
    for (uint32_t v = 0; v < vectors; v++)
        v_store(at(to, v), v_load(at_const(from, v)));
}

/* Keeps a compiler from holding what it has loaded from there in registers or on the stack. */
#define RELOAD(pointer) __asm__("" : "+r"(pointer))

/* The upper columns of a panel, which are the lower ones of the next. */
struct upper {
    vec column[MOST_WIDTH];
};

/* width, in all of these: a constant, 1 to 6. Loops over it are written out. */
#define EACH_OF_WIDTH(width, STATEMENT) \
    do {                                \
        if ((width) > 0) {              \
            STATEMENT(0)                \
        }                               \
        if ((width) > 1) {              \
            STATEMENT(1)                \
        }                               \
        if ((width) > 2) {              \
            STATEMENT(2)                \
        }                               \
        if ((width) > 3) {              \
            STATEMENT(3)                \
        }                               \
        if ((width) > 4) {              \
            STATEMENT(4)                \
        }                               \
        if ((width) > 5) {              \
            STATEMENT(5)                \
        }                               \
    } while (0)

EVC_INLINE void upper_clear(struct upper *u)
{
    u->column[0] = u->column[1] = u->column[2] = u->column[3] = u->column[4] = u->column[5] =
        v_zero;
}

EVC_INLINE void load_columns(struct upper *x, const void *a, int width)
{
#define LOAD(i) x->column[i] = v_load(at_const(a, i));
    EACH_OF_WIDTH(width, LOAD);
#undef LOAD
}

/* ---- Carries --------------------------------------------------------------------------------- */

#define digit_mask(bits) v_all(((long long)1 << (bits)) - 1)

/* Adds carry to each lane of x[0] and lets it run through the vectors; returns
 * what leaves each lane. */
EVC_INLINE vec ripple(void *x, vec carry, unsigned bits, uint32_t vectors)
{
    for (uint32_t v = 0; v < vectors; v++) {
        const vec sum = v_add(v_load(at(x, v)), carry);

        v_store(at(x, v), v_and(sum, digit_mask(bits)));
        carry = shift_digit_right(sum, bits);
    }
    return carry;
}

/* Twice a number: each digit doubles and takes the highest bit of the digit below it. */
EVC_INLINE vec double_digits(vec digits, vec below)
{
    return v_and(v_or(v_add(digits, digits), v_shift_right(below, DIGIT_BITS - 1)), v_digits);
}

/* Adds a carry of 1 from each lane of overflow to the next one; returns what leaves the highest. */
EVC_INLINE uint32_t pass_lanes(void *x, uint32_t overflow, unsigned bits, uint32_t vectors)
{
    uint32_t ones = ALL_LANES, into;

    for (uint32_t v = 0; v < vectors; v++)
        ones &= equal_lanes(v_load(at(x, v)), digit_mask(bits));
    into = (ones + 2 * overflow) ^ ones;
    ripple(x, ones_in_lanes(into), bits, vectors);
    return into >> LANES & 1;
}

/* Makes digits of columns below 2^63. Returns 1 if the number is beyond the highest lane, which
 * loses that carry. First, carries of any size move to the next lane. What they cause there is a
 * carry of 1 from lanes that overflow, and it passes through lanes that are all ones: as in the sum
 * of two numbers of LANES bits. */
EVC_INLINE uint32_t normalize_digits(void *x, unsigned bits, uint32_t vectors)
{
    const vec first = ripple(x, v_zero, bits, vectors),
              second = ripple(x, to_next_lane(first), bits, vectors);

    return pass_lanes(x, nonzero_lanes(second), bits, vectors) |
           (nonzero_lanes(first) >> (LANES - 1));
}

#define normalize(x, vectors) normalize_digits(x, DIGIT_BITS, vectors)

/* The same of sums of two digits: lanes have carries of 1 at once. */
EVC_INLINE uint32_t normalize_sums_of_digits(void *x, unsigned bits, uint32_t vectors)
{
    return pass_lanes(x, nonzero_lanes(ripple(x, v_zero, bits, vectors)), bits, vectors);
}

#define normalize_sums(x, vectors) normalize_sums_of_digits(x, DIGIT_BITS, vectors)

EVC_ISA_END

#endif

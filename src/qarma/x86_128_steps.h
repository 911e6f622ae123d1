/* SPDX-License-Identifier: MIT */
/*
 * The steps of QARMA-64 (nibbles_steps.h) with vectors of 128 bits on x86. Include it inside the
 * ISA region, after v_xor3, v_known, v_wide and v_wide_xor; the last may be functions of __m128i.
 */
#ifndef EVC_QARMA_X86_128_STEPS_H
#define EVC_QARMA_X86_128_STEPS_H

#include "common/bytes.h"
#include "common/x86.h"

typedef __m128i vec;
#define v_load(p) _mm_load_si128((const __m128i *)(const void *)(p))
#define v_store(p, x) _mm_store_si128((__m128i *)(void *)(p), x)
#define v_xor _mm_xor_si128
#define v_zero _mm_setzero_si128()
#define v_look _mm_shuffle_epi8
#define v_clear_upper_halves() ((void)0)

#if EVC_X86_64
#define v_number(x) _mm_cvtsi64_si128((long long)(x))
#define v_value(x) ((uint64_t)_mm_cvtsi128_si64(x))
#else
#define v_number(x) _mm_set_epi32(0, 0, (int)(uint32_t)((x) >> 32), (int)(uint32_t)(x))
#define v_value(x)                                                                                 \
    ((uint32_t)_mm_cvtsi128_si32(x) | (uint64_t)(uint32_t)_mm_cvtsi128_si32(_mm_srli_epi64(x, 32)) \
                                          << 32)
#endif

#include "qarma/nibbles_steps.h"

#endif

/* SPDX-License-Identifier: MIT */
/* The first bytes of 512-bit vectors from and to memory, by masks, without delay at the end of a page; for a region of
 * AVX-512 with BW and VBMI, and BMI2. */
#ifndef EVC_COMMON_X86_MASK512_H
#define EVC_COMMON_X86_MASK512_H

#include "common/x86_page.h"

EVC_INLINE __mmask64 evc_x86_first_bytes(size_t n_bytes) /* 0 to 64 */
{
    return _bzhi_u64(~UINT64_C(0), (unsigned)n_bytes);
}

/* first, first + 1, ... as VPERMB reads them: modulo 64 */
EVC_INLINE __m512i evc_x86_byte_numbers(size_t first)
{
    const __m512i from_0 =
        _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
                         0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);

    return _mm512_add_epi8(from_0, _mm512_set1_epi8((char)first));
}

/* The n_bytes (0 to 64) at p, zeros behind. */
EVC_INLINE __m512i evc_x86_load_bytes512(const uint8_t *p, size_t n_bytes)
{
    const size_t down = (uintptr_t)p % 64; /* to the last 64 bytes of the page */

    if (!n_bytes)
        return _mm512_setzero_si512();
    if (evc_x86_ends_in_page(p, n_bytes, 64))
        return _mm512_permutexvar_epi8(evc_x86_byte_numbers(down),
                                       _mm512_maskz_loadu_epi8(evc_x86_first_bytes(n_bytes) << down, p - down));
    return _mm512_maskz_loadu_epi8(evc_x86_first_bytes(n_bytes), p);
}

/* The first n_bytes (0 to 64) of v to p. */
EVC_INLINE void evc_x86_store_bytes512(uint8_t *p, __m512i v, size_t n_bytes)
{
    const size_t down = (uintptr_t)p % 64;

    if (!n_bytes)
        return;
    if (evc_x86_ends_in_page(p, n_bytes, 64))
        _mm512_mask_storeu_epi8(p - down, evc_x86_first_bytes(n_bytes) << down,
                                _mm512_permutexvar_epi8(evc_x86_byte_numbers(0 - down), v));
    else
        _mm512_mask_storeu_epi8(p, evc_x86_first_bytes(n_bytes), v);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * AES with VAES, 4 blocks per 512-bit register, for cores whose general registers
 * share ports with vectors.
 *
 * Method:   one VAESENC per round on 4 blocks; 8 registers = 32 blocks in flight, steps of 8 blocks
 *           in XTS, with tweaks from products without carry, whose port is idle; most round keys in
 *           registers, rests by masks (common/x86_mask512.h); the modes are in x86_wide_steps.h,
 *           chains in x86_aesni_steps.h.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; Intel 64 and IA-32 Architectures
 *           Software Developer's Manual, volume 2, AESENC, VAESENC and VPCLMULQDQ.
 * Needs:    X86_VAES512_INTEL.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_VAES512_INTEL)
EVC_ISA_BEGIN(X86_VAES256)

#include "aes/x86_aesni_steps.h"
#include "aes/x86_keys.h"
#include "aes/x86_two_blocks.h"

EVC_ISA_END
EVC_ISA_BEGIN(X86_VAES512_INTEL)

#define LONG_WIDE 0
#define XTS_KEYS 15
#define XTS_REST_KEYS 15

#include "aes/x86_vaes512_vec.h"

#include "aes/x86_wide_tweaks.h"
#include "aes/x86_wide_steps.h"

EVC_ISA_END

const struct evc_aes evc_aes_x86_vaes512_intel = {
    .kernel = EVC_KERNEL_HEAD(x86_vaes512_intel, X86_VAES512_INTEL, CT, PARALLEL, WIDE * VEC_BLOCKS,
                              struct evc_aes_fips197_key, EVC_KEY_FIPS197, NARROW, 0),
    WIDE_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif

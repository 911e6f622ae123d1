/* SPDX-License-Identifier: MIT */
/*
 * AES with VAES, 2 blocks per 256-bit register, for cores whose general registers
 * share ports with vectors.
 *
 * Method:   one VAESENC per round on 2 blocks; 8 registers = 16 blocks in flight, steps of 8 blocks
 *           in XTS, with tweaks from products without carry, so that none is on the stack; counters
 *           by vectors; the modes are in x86_wide_steps.h, chains in x86_aesni_steps.h.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; Intel 64 and IA-32 Architectures
 *           Software Developer's Manual, volume 2, AESENC, VAESENC and VPCLMULQDQ.
 * Needs:    X86_VAES256_INTEL.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_VAES256_INTEL)
EVC_ISA_BEGIN(X86_VAES256_INTEL)

#include "aes/x86_aesni_steps.h"
#include "aes/x86_keys.h"
#include "aes/x86_two_blocks.h"

#define WIDE 8 /* 3 cycles of latency, 2 instructions a cycle */
#define LONG_WIDE 0

#include "aes/x86_vaes256_vec.h"

#include "aes/x86_wide_tweaks.h"
#include "aes/x86_wide_steps.h"

EVC_ISA_END

const struct evc_aes evc_aes_x86_vaes256_intel = {
    .kernel = EVC_KERNEL_HEAD(x86_vaes256_intel, X86_VAES256_INTEL, CT, PARALLEL, WIDE * VEC_BLOCKS,
                              struct evc_aes_fips197_key, EVC_KEY_FIPS197, YMM, 0),
    WIDE_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif

/* SPDX-License-Identifier: MIT */
/*
 * AES with AES-NI, 1 block per 128-bit register, for cores whose general registers
 * share ports with vectors.
 *
 * Method:   one AESENC per round and block; 8 blocks in flight; counters by vectors, tweaks of
 *           XTS by words; the modes are in x86_wide_steps.h, chains in x86_aesni_steps.h.
 *           CBC encryption of a whole message is in assembly, x86_aesni_intel_asm.S.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; Intel 64 and IA-32 Architectures
 *           Software Developer's Manual, volume 2, AESENC.
 * Needs:    X86_AESNI_INTEL.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_AESNI_INTEL)
EVC_ISA_BEGIN(X86_AESNI_INTEL)

#include "aes/x86_aesni_steps.h"
#include "aes/x86_keys.h"

#define WIDE 8 /* 3 cycles of latency, 2 instructions a cycle */
#define LONG_WIDE 0

#include "aes/x86_aesni_vec.h"
#include "aes/x86_wide_steps.h"

EVC_ISA_END

#if EVC_X86_64_ASM
EVC_X86_CBC_MESSAGE(evc_aes_x86_aesni_intel_cbc_encrypt_message)
#endif

const struct evc_aes evc_aes_x86_aesni_intel = {
    .kernel = EVC_KERNEL_HEAD(x86_aesni_intel, X86_AESNI_INTEL, CT, ANY, WIDE * VEC_BLOCKS,
                              struct evc_aes_fips197_key, EVC_KEY_FIPS197, XMM, 0),
    WIDE_SLOTS,
#if EVC_X86_64_ASM
    .cbc_encrypt_message = cbc_encrypt_message,
#endif
};
#else
EVC_EMPTY_UNIT
#endif

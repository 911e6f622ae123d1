/* SPDX-License-Identifier: MIT */
/*
 * AES with AES-NI, 1 block per 128-bit register.
 *
 * Method:   one AESENC per round and block; 8 blocks in flight, 12 of long messages in CTR and CBC
 *           decryption (4 on i386, which has 8 registers); tweaks of XTS by words; the modes are in
 *           x86_wide_steps.h, chains in x86_aesni_steps.h. On x86-64 CBC encryption of a whole
 *           message is in assembly, x86_aesni_asm.S.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; Intel 64 and IA-32 Architectures
 *           Software Developer's Manual, volume 2, AESENC.
 * Needs:    X86_AESNI.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_AESNI)
EVC_ISA_BEGIN(X86_AESNI)

#include "aes/x86_aesni_steps.h"
#include "aes/x86_keys.h"

#if EVC_X86_64
#define WIDE 8       /* 4 cycles of latency, 2 instructions a cycle */
#define LONG_WIDE 12 /* some wait for more than that latency */
#else
#define WIDE 4 /* there are 8 registers */
#define LONG_WIDE 0
#endif
#define LONG_CTR_FROM (4 * LONG_WIDE)
#define LONG_CBC_FROM (2 * LONG_WIDE)

#include "aes/x86_aesni_vec.h"
#include "aes/x86_wide_steps.h"

EVC_ISA_END

#if EVC_X86_64_ASM
EVC_X86_CBC_MESSAGE(evc_aes_x86_aesni_cbc_encrypt_message)
#endif

#define HEAD                                                                                     \
    EVC_KERNEL_HEAD(x86_aesni, X86_AESNI, CT, ANY, WIDE * VEC_BLOCKS, struct evc_aes_fips197_key, \
                    EVC_KEY_FIPS197, XMM, 0)

const struct evc_aes evc_aes_x86_aesni = {
    .kernel = HEAD,
    WIDE_SLOTS,
#if EVC_X86_64_ASM
    .cbc_encrypt_message = cbc_encrypt_message,
#endif
};

const struct evc_aes evc_aes_x86_aesni_forward = {
    .kernel = HEAD,
    WIDE_FORWARD_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-or-later */
#ifndef TARGET_ARM_TCG_PAUTH_CODE_H
#define TARGET_ARM_TCG_PAUTH_CODE_H

/* How codes of pointer authentication are found; ARMCPU::pauth_mode. */
typedef enum ARMPauthMode {
    ARM_PAUTH_MEMO,      /* those that were computed before are kept */
    ARM_PAUTH_DIRECT,    /* each one is computed, QARMA by tables */
    ARM_PAUTH_REFERENCE, /* each one is computed, QARMA step by step */
    ARM_PAUTH_CHECK,     /* as MEMO and DIRECT, compared with REFERENCE */
    ARM_PAUTH_N_MODES,
} ARMPauthMode;

typedef uint64_t ARMPauthReference(CPUARMState *env, uint64_t data,
                                   uint64_t modifier, ARMPACKey key);

/*
 * ComputePAC of the Arm ARM. What is kept belongs to the vCPU, and to the
 * values of all that the code depends on, so that nothing has to be flushed
 * when a key or a register of control is written.
 */
uint64_t arm_pauth_code(CPUARMState *env, uint64_t data, uint64_t modifier,
                        ARMPACKey key, ARMPauthReference *reference);

#endif

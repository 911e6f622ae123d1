/* SPDX-License-Identifier: MIT */
/*
 * A CPU as QEMU's pointer authentication sees it: five keys, what holds for an address, which
 * algorithm, which level. It is always at EL1 without anything above, with all keys enabled.
 */
#ifndef SUBJECT_QEMU_CPU_H
#define SUBJECT_QEMU_CPU_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t lo, hi;
} ARMPACKey;

/* ID_AA64ISAR1_EL1.APA of the Arm Architecture Reference Manual (DDI 0487). */
typedef enum {
    PauthFeat_None,
    PauthFeat_1,
    PauthFeat_EPAC,
    PauthFeat_2,
    PauthFeat_FPAC,
    PauthFeat_FPACCOMBINED
} ARMPauthFeature;

typedef struct {
    unsigned tsz;
    bool tbi;
} ARMVAParameters;

typedef struct {
    struct {
        ARMPACKey apia, apib, apda, apdb, apga;
    } keys;
    bool aa64_pauth_arch, aa64_pauth_qarma5, aa64_pauth_qarma3;
    ARMPauthFeature pauth_feature;
    ARMVAParameters parameters;
    struct {
        uint64_t scr_el3;
    } cp15;
} CPUARMState, ARMCPU;

typedef int ARMMMUIdx;

#define env_archcpu(env) (env)
#define cpu_isar_feature(name, cpu) ((cpu)->name)
#define arm_stage1_mmu_idx(env) 0
#define aa64_va_parameters(env, ...) ((env)->parameters)

/* Bits of the field, 55 among them. */
static inline uint64_t pauth_ptr_mask(ARMVAParameters parameters)
{
    unsigned top = parameters.tbi ? 56 : 64;

    return (~UINT64_C(0) >> (64 - top)) & ~UINT64_C(0) << (64 - parameters.tsz);
}

#define HELPER(name) helper_##name
#define GETPC() 0

enum { EXCP_UDEF, ARM_FEATURE_EL3, HCR_API, HCR_E2H, HCR_TGE, SCR_API };
enum { SCTLR_EnIA = 1, SCTLR_EnIB = 1, SCTLR_EnDA = 1, SCTLR_EnDB = 1 };
#define arm_current_el(env) 1
#define arm_sctlr(env, el) 1
#define arm_is_el2_enabled(env) false
#define arm_hcr_el2_eff(env) 0
#define arm_feature(env, feature) false
#define exception_target_el(env) 1
#define syn_pactrap() 0
#define syn_pacfail(data, key) 0

/* The fault of FEAT_FPAC: the adapter's. */
__attribute__((noreturn)) void subject_fault(void);
#define raise_exception_ra(env, what, syndrome, el, ra) subject_fault()
#define raise_exception(env, what, syndrome, el) subject_fault()

uint64_t helper_pacia(CPUARMState *env, uint64_t x, uint64_t y),
    helper_pacib(CPUARMState *env, uint64_t x, uint64_t y);
uint64_t helper_autia(CPUARMState *env, uint64_t x, uint64_t y),
    helper_autib(CPUARMState *env, uint64_t x, uint64_t y);
uint64_t helper_xpaci(CPUARMState *env, uint64_t x);
/* Older versions have none of these. */
__attribute__((weak)) uint64_t helper_autia_combined(CPUARMState *env, uint64_t x, uint64_t y);
__attribute__((weak)) uint64_t helper_autib_combined(CPUARMState *env, uint64_t x, uint64_t y);

/* The code of a pointer, for the adapter: internals.h. */
uint64_t subject_mac(CPUARMState *env, uint64_t data, uint64_t modifier, ARMPACKey key);

#endif

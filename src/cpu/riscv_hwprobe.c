/* SPDX-License-Identifier: MIT */
/*
 * RISC-V under Linux: the extensions that all cores of the machine have, by the system call
 * riscv_hwprobe. C libraries older than the call have no function for it.
 *
 * Source: cpu/system_words.h; Linux Documentation/arch/riscv/hwprobe.rst. Linux before 6.4 refuses
 *         the call, and before 6.8 it knows Zbb alone: then the build decides.
 */
#include "cpu/common.h"
#include "cpu/system_words.h"

#if EVC_FEATURES_FROM == EVC_FROM_HWPROBE

#if EVC_RV64
#include "common/rv_vector.h"
#endif

#define SYS_PRCTL 167
#define PR_RISCV_V_GET_CONTROL 70
#define SYS_RISCV_HWPROBE 258
#define KEY_IMA_EXT_0 4

struct pair {
    int64_t key;
    uint64_t value;
};

static long system_call(long number, uintptr_t first, uintptr_t second)
{
    register uintptr_t a0 __asm__("a0") = first; /* then the result */
    register uintptr_t a1 __asm__("a1") = second;
    register uintptr_t a2 __asm__("a2") = 0;
    register uintptr_t a3 __asm__("a3") = 0;
    register uintptr_t a4 __asm__("a4") = 0;
    register long a7 __asm__("a7") = number;

    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a7) : "memory");
    return (long)a0;
}

/* The value of a key, for all cores; 0 if the system does not know the call or the key. */
static uint64_t probe(int64_t key)
{
    struct pair pair = {key, 0};

    return system_call(SYS_RISCV_HWPROBE, (uintptr_t)&pair, 1) == 0 && pair.key == key ? pair.value
                                                                                       : 0;
}

uint64_t evc_cpu_features(void)
{
    const uint64_t ima_ext_0 = probe(KEY_IMA_EXT_0);
#if EVC_RV64
    const uint64_t features = evc_rv64_with_control(
        evc_features_of_build() | evc_rv64_of_hwprobe(ima_ext_0),
        system_call(SYS_PRCTL, PR_RISCV_V_GET_CONTROL, 0));

    if (features & EVC_CPU(RV64_V)) /* without V the instruction that reads the size is illegal */
        return evc_rv64_with_registers(features, evc_rvv_register_bytes());
    return features;
#else
    return evc_features_of_build() | evc_rv32_of_hwprobe(ima_ext_0);
#endif
}

#else
EVC_EMPTY_UNIT
#endif

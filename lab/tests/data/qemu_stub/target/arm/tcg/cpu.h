/* SPDX-License-Identifier: MIT */
/* A vCPU as our glue for QEMU sees one: what it names, and nothing else. */
#ifndef STUB_CPU_H
#define STUB_CPU_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everycore/pac.h"

typedef struct ARMPACKey {
    uint64_t lo, hi;
} ARMPACKey;

typedef struct CPUARMState {
    struct {
        uint64_t tcr_el[4];
    } cp15;
    struct {
        ARMPACKey apia, apib, apda, apdb, apga;
    } keys;
    unsigned mmu_idx, level;
    int cpu_index;
    const struct evc_pac_algorithm *algorithm;
    uint64_t wrong; /* flips bits of every code */
    jmp_buf exception;
} CPUARMState;

#define HELPER(name) helper_##name
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define GETPC() ((uintptr_t)0)
#define env_archcpu(env) (env)
#define env_cpu(env) (env)
#define cpu_isar_feature(name, cpu) ((cpu)->level)
#define arm_stage1_mmu_idx(env) ((env)->mmu_idx)

#endif

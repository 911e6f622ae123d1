/* SPDX-License-Identifier: MIT */
/*
 * For files of kernels, before their code. GCC schedules instructions before it chooses registers.
 * On most CPUs it moves loads and products as far ahead as it can, and then spills them: GHASH by
 * c_ctmul32 takes 0.72 (MIPS32R2) and 0.86 (PA-RISC) of the instructions without that. For Arm this
 * scheduler counts registers, and x86 does not have it.
 *
 * EVC_BY_PRESSURE: the scheduler counts registers, where that is better than none.
 * EVC_ON_ARM_TOO: nor is there one for Arm: it moves instructions that overwrite a vector before
 * others that read it, so that it has to be copied.
 */
#ifndef EVC_COMMON_FEW_SPILLS_H
#define EVC_COMMON_FEW_SPILLS_H

#if defined(__GNUC__) && !defined(__clang__)
#if defined(EVC_BY_PRESSURE)
#pragma GCC optimize("-fsched-pressure")
#elif defined(EVC_ON_ARM_TOO) || !(defined(__arm__) || defined(__aarch64__))
#pragma GCC optimize("-fno-schedule-insns")
#endif
#endif

#endif

/* SPDX-License-Identifier: MIT */
/*
 * For portable kernels, before all other headers. GCC schedules instructions before it chooses
 * registers. On most CPUs it moves loads and products as far ahead as it can, and then spills them:
 * GHASH by c_ctmul32 takes 0.72 (MIPS32R2) and 0.86 (PA-RISC) of the instructions without that.
 * For Arm this scheduler counts registers, and x86 does not have it.
 *
 * EVC_BY_PRESSURE: the scheduler counts registers, where that is better than none.
 */
#ifndef EVC_COMMON_FEW_SPILLS_H
#define EVC_COMMON_FEW_SPILLS_H

#if defined(__GNUC__) && !defined(__clang__) && !defined(__arm__) && !defined(__aarch64__)
#if defined(EVC_BY_PRESSURE)
#pragma GCC optimize("-fsched-pressure")
#else
#pragma GCC optimize("-fno-schedule-insns")
#endif
#endif

#endif

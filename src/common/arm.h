/* SPDX-License-Identifier: MIT */
/*
 * The Arm intrinsics, for every instruction set that kernels open by EVC_ISA_BEGIN.
 *
 * Until clang 16 the header of clang declares the optional ones only if the flags of the build
 * allow them; the macros that tell so are defined here, and the regions do the rest.
 */
#ifndef EVC_COMMON_ARM_H
#define EVC_COMMON_ARM_H

#include "everycore/isa.h"

#if EVC_A64 || EVC_A32_SIMD /* files include this before they know what is built */
#if defined(__clang__) && __clang_major__ < 16
#if !defined(__ARM_FEATURE_AES)
#define __ARM_FEATURE_AES 1
#endif
#if !defined(__ARM_FEATURE_SHA2)
#define __ARM_FEATURE_SHA2 1
#endif
#if EVC_A64 && !defined(__ARM_FEATURE_SHA3)
#define __ARM_FEATURE_SHA3 1
#endif
#if EVC_A64 && !defined(__ARM_FEATURE_SHA512)
#define __ARM_FEATURE_SHA512 1
#endif
#endif
#include <arm_neon.h>
#endif

#endif

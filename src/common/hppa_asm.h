/* SPDX-License-Identifier: MIT */
/*
 * For assembly on PA-RISC, 32 bits, in the syntax of the GNU assembler:
 * src/<primitive>/<stem>_asm.S beside the <stem>.c that holds banner and descriptor.
 *
 *     #include "common/hppa_asm.h"
 *     #if EVC_ASM_HPPA
 *     evc_isa_pa11
 *     evc_function evc_bn_words_hppa_example     ; r26, r25, r24, r23: arguments; r28: result
 *         ...
 *         evc_return
 *     evc_end evc_bn_words_hppa_example
 *     #endif
 *
 *  - Functions are leaves. r1, r19-r26, r28, r29, r31, fr4-fr11 and fr22-fr31 are free; all others
 *    are the caller's (The 32-bit PA-RISC Run-time Architecture Document, 1997, chapter 2). r2
 *    holds the return address.
 *  - No address of data and no call, so the code is position-independent as it stands.
 *  - The stack grows upwards. evc_frame n takes n bytes of it, a multiple of 64, and
 *    evc_return_frame n gives them back; what they hold is left to the kernel's `clear`.
 *  - In expressions, general registers are numbers from 0, and registers
 *    for floating point from 64.
 */
#ifndef EVC_COMMON_HPPA_ASM_H
#define EVC_COMMON_HPPA_ASM_H

#include "common/any_asm.h"

#if defined(__hppa__) && !defined(__LP64__) && defined(__ELF__)
#define EVC_ASM_HPPA 1

/* Makes the assembler accept these instructions, whatever the flags of the build. */
.macro evc_isa_pa11
	.level	1.1
.endm
.macro evc_isa_pa20
	.level	2.0
.endm

/* A function that the other objects of this library see, and none outside of it. */
.macro evc_function name
	.text
	.align	4
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.proc
	.callinfo frame=0,no_calls
	.entry
	EVC_ASM_CFI_BEGIN
.endm
.macro evc_end name
	EVC_ASM_CFI_END
	.exit
	.procend
	.size	\name, . - \name
.endm

.macro evc_frame n
	ldo	\n(%r30), %r30
	EVC_ASM_CFI_ADJUST(-\n)
.endm
.macro evc_return
	bv,n	%r0(%r2)
.endm
.macro evc_return_frame n
	bv	%r0(%r2)
	ldo	-\n(%r30), %r30
.endm

#else
#define EVC_ASM_HPPA 0
#endif

#endif

/* SPDX-License-Identifier: MIT */
/*
 * abi_trampoline(run, argument) for PA-RISC, 32 bits: r3 to r18, r27, and fr12 to fr21; not sr3,
 * which is always 0 in QEMU's user emulation. See abi.h and frame.h.
 */
#include "common/hppa_asm.h"

#include "abi/frame.h"

#if defined(ABI_HPPA)
	evc_isa_pa11

#define FRAME_BYTES 256 /* r3 to r18, fr12 to fr21, and what a function that is called may use
                         * of its caller's frame */

.macro each_integer what, base, at, step
.irp i, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18
	.ifc	\what, ldw
	ldw	\at + \step * (\i - 3)(\base), %r\i
	.else
	stw	%r\i, \at + \step * (\i - 3)(\base)
	.endif
.endr
.endm
/* From where `base` points to, which moves behind them. */
.macro each_float what, base
.irp i, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21
	.ifc	\what, fldds
	fldds,ma	8(\base), %fr\i
	.else
	fstds,ma	%fr\i, 8(\base)
	.endif
.endr
.endm
.macro frame_address to
	ldil	LR'abi_frame, \to
	ldo	RR'abi_frame(\to), \to
.endm
evc_function abi_trampoline ; r26: run, r25: argument
	stw	%r2, -20(%r30)
	copy	%r30, %r1
	ldo	FRAME_BYTES(%r30), %r30
	each_integer stw, %r1, 0, 4
	ldo	64(%r1), %r20
	each_float fstds, %r20
	frame_address %r20
	stw	%r30, ABI_STACK_OWN(%r20)
	depi	0, 31, 7, %r30
	ldo	192(%r30), %r30 ; 64 modulo 128
	stw	%r30, ABI_STACK_BEFORE(%r20)
	stw	%r27, ABI_INTEGERS_BEFORE + 8 * 16(%r20) ; the data pointer stays as it is
	copy	%r26, %r22
	copy	%r25, %r26
	bb,>=,n	%r22, 30, 1f ; no descriptor
	depi	0, 31, 2, %r22
	ldw	4(%r22), %r19
	ldw	0(%r22), %r22
1:	each_integer ldw, %r20, ABI_INTEGERS_BEFORE, 8
	ldo	ABI_VECTORS_BEFORE(%r20), %r20
	each_float fldds, %r20
	ble	0(%sr4, %r22)
	copy	%r31, %r2
	frame_address %r20
	stw	%r30, ABI_STACK_AFTER(%r20)
	each_integer stw, %r20, ABI_INTEGERS_AFTER, 8
	stw	%r27, ABI_INTEGERS_AFTER + 8 * 16(%r20)
	ldw	ABI_STACK_OWN(%r20), %r30
	ldw	ABI_INTEGERS_BEFORE + 8 * 16(%r20), %r27
	ldo	ABI_VECTORS_AFTER(%r20), %r20
	each_float fstds, %r20
	ldo	-FRAME_BYTES(%r30), %r1
	each_integer ldw, %r1, 0, 4
	ldo	64(%r1), %r20
	each_float fldds, %r20
	ldo	-FRAME_BYTES(%r30), %r30
	ldw	-20(%r30), %r2
	evc_return
evc_end abi_trampoline
#endif

/* SPDX-License-Identifier: MIT */
/*
 * Word primitives for PA-RISC 2.0, in programs of 32 bits under a kernel that keeps all 64 bits of
 * registers. The upper half of a register that is returned is not looked at by its caller.
 */
#include "bn_words/hppa_asm_steps.h"
#include "common/hppa_asm.h"

#if EVC_ASM_HPPA
evc_isa_pa20

#define PARK %r1 /* products are at 0, 8, 16, 24 from here */

/* Arguments r, a, n, w; n - 4 in COUNT, w in fr4L. */
.macro begin_row
	copy	%r30, PARK
	evc_frame 64
	stw	BY, 0(PARK)
	ldo	-4(COUNT), COUNT
	ldi	0, CARRY
.endm

/* Four products, parked. */
.macro multiply_four
	fldw,ma	4(FROM), %fr5L
	fldw,ma	4(FROM), %fr6L
	fldw,ma	4(FROM), %fr7L
	fldw,ma	4(FROM), %fr8L
	xmpyu	%fr4L, %fr5L, %fr5
	xmpyu	%fr4L, %fr6L, %fr6
	xmpyu	%fr4L, %fr7L, %fr7
	xmpyu	%fr4L, %fr8L, %fr8
	fstd	%fr5, 0(PARK)
	fstd	%fr6, 8(PARK)
	fstd	%fr7, 16(PARK)
	fstd	%fr8, 24(PARK)
.endm

/* sum, a product and at most one word more, plus the carry: its lower word is the result,
 * the upper one the carry. */
.macro take_word sum
	add,l	\sum, CARRY, \sum
	extrd,u	\sum, 31, 32, CARRY
	stw,ma	\sum, 4(TO)
.endm

evc_function evc_bn_words_hppa20_mul_add
	begin_row
	cmpib,>	0, COUNT, 2f
	fldw	0(PARK), %fr4L
1:	multiply_four
	ldw	0(TO), %r19
	ldw	4(TO), %r20
	ldw	8(TO), %r21
	ldw	12(TO), %r22
	ldd	0(PARK), %r23
	ldd	8(PARK), %r29
	ldd	16(PARK), %r31
	add,l	%r23, %r19, %r19
	ldd	24(PARK), %r23
	add,l	%r29, %r20, %r20
	add,l	%r31, %r21, %r21
	add,l	%r23, %r22, %r22
	take_word %r19
	take_word %r20
	take_word %r21
	add,l	%r22, CARRY, %r22
	extrd,u	%r22, 31, 32, CARRY
	addib,>=	-4, COUNT, 1b
	stw,ma	%r22, 4(TO)
2:	addib,=,n	4, COUNT, 4f
3:	fldw,ma	4(FROM), %fr5L
	xmpyu	%fr4L, %fr5L, %fr5
	fstd	%fr5, 0(PARK)
	ldw	0(TO), %r19
	ldd	0(PARK), %r23
	add,l	%r19, CARRY, %r19
	add,l	%r23, %r19, %r19
	extrd,u	%r19, 31, 32, CARRY
	addib,>	-1, COUNT, 3b
	stw,ma	%r19, 4(TO)
4:	evc_return_frame 64
evc_end evc_bn_words_hppa20_mul_add

evc_function evc_bn_words_hppa20_mul
	begin_row
	cmpib,>	0, COUNT, 2f
	fldw	0(PARK), %fr4L
1:	multiply_four
	ldd	0(PARK), %r19
	ldd	8(PARK), %r20
	ldd	16(PARK), %r21
	ldd	24(PARK), %r22
	take_word %r19
	take_word %r20
	take_word %r21
	add,l	%r22, CARRY, %r22
	extrd,u	%r22, 31, 32, CARRY
	addib,>=	-4, COUNT, 1b
	stw,ma	%r22, 4(TO)
2:	addib,=,n	4, COUNT, 4f
3:	fldw,ma	4(FROM), %fr5L
	xmpyu	%fr4L, %fr5L, %fr5
	fstd	%fr5, 0(PARK)
	ldd	0(PARK), %r19
	add,l	%r19, CARRY, %r19
	extrd,u	%r19, 31, 32, CARRY
	addib,>	-1, COUNT, 3b
	stw,ma	%r19, 4(TO)
4:	evc_return_frame 64
evc_end evc_bn_words_hppa20_mul

square_words evc_bn_words_hppa20_sqr

/* ---- Columns --------------------------------------------------------------------------------- */

/* a is in the left halves of fr4 to fr11, b in the right ones. The products of a column are parked
 * in one of two banks of 64 bytes, while the column before is summed from the other: 64 bits in
 * `low`, what is above in `high`. */

/* The assembler takes no symbol for a register here, so one of these is picked. */
.macro park_at f
	.if	product == 64 + \f
	fstd	%fr\f, place(PARK)
	.endif
.endm

.macro park_product i, j
	xmpyu	%fr\i\()L, %fr\j\()R, product
	.set	place, bank + (product - (FIRST_PRODUCT)) * 8
	.irp	f, 22, 23, 24, 25, 26, 27, 28, 29
	park_at \f
	.endr
	.set	product, product + 1
.endm

#define LOW %r28
#define HIGH %r29

.macro take_product g
	ldd	place(PARK), %r\g
	add	%r\g, LOW, LOW
.endm

.macro sum_product
	.set	place, bank + slot * 8
	.irp	g, 19, 20, 21, 22
	.if	\g == 19 + (slot & 3)
	take_product \g
	.endif
	.endr
	.if	slot
	add,dc	%r0, HIGH, HIGH
	.else
	add,dc	%r0, %r0, HIGH
	.endif
	.set	slot, slot + 1
.endm

.macro sum_column k, n
	.set	slot, 0
	.set	bank, (\k & 1) * 64
	.rept	8
	.if	(\k < \n && slot <= \k) || (\k >= \n && slot < 2 * \n - 1 - \k)
	sum_product
	.endif
	.endr
	stw,ma	LOW, 4(TO)
	shrpd	HIGH, LOW, 32, LOW
.endm

.macro load_words i
	fldw,ma	4(FROM), %fr\i\()L
	fldw,ma	4(COUNT), %fr\i\()R
.endm

.macro comba n
	.irp	i, 4, 5, 6, 7, 8, 9, 10, 11
	.if	\i < 4 + \n
	load_words \i
	.endif
	.endr
	copy	%r30, PARK
	evc_frame 128
	ldi	0, LOW
	.set	bank, 0
	park_column 0, \n
	.irp	k, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
	.if	\k < 2 * \n - 1
	.if	\k + 1 < 2 * \n - 1
	.set	next, \k + 1
	.set	bank, (next & 1) * 64
	park_column next, \n
	.endif
	sum_column \k, \n
	.endif
	.endr
	stw	LOW, 0(TO)
	evc_return_frame 128
.endm

evc_function evc_bn_words_hppa20_comba4
	comba 4
evc_end evc_bn_words_hppa20_comba4

evc_function evc_bn_words_hppa20_comba8
	comba 8
evc_end evc_bn_words_hppa20_comba8

/* ---- Remainders ------------------------------------------------------------------------------ */

/* end of a, turns > 0, powers of B, sum (low, high): as mod_words_folded of
 * steps.h, four words a turn. */
evc_function evc_bn_words_hppa20_fold
	fldw,ma	4(%r24), %fr4L
	fldw,ma	4(%r24), %fr5L
	fldw,ma	4(%r24), %fr6L
	fldw,ma	4(%r24), %fr7L
	fldw,ma	4(%r24), %fr8L
	copy	%r30, PARK
	evc_frame 64
	ldw	0(%r23), %r28
	ldw	4(%r23), %r29
	depd	%r29, 31, 32, %r28
1:	std	%r28, 40(PARK)
	ldo	-16(%r26), %r26
	fldd	40(PARK), %fr25
	fldw	4(%r26), %fr22L
	fldw	8(%r26), %fr23L
	fldw	12(%r26), %fr24L
	xmpyu	%fr8L, %fr25L, %fr26
	xmpyu	%fr7L, %fr25R, %fr25
	xmpyu	%fr4L, %fr22L, %fr22
	xmpyu	%fr5L, %fr23L, %fr23
	xmpyu	%fr6L, %fr24L, %fr24
	fstd	%fr22, 0(PARK)
	fstd	%fr23, 8(PARK)
	fstd	%fr24, 16(PARK)
	fstd	%fr25, 24(PARK)
	fstd	%fr26, 32(PARK)
	ldw	0(%r26), %r28
	ldd	0(PARK), %r19
	ldd	8(PARK), %r20
	add,l	%r19, %r28, %r28
	ldd	16(PARK), %r21
	add,l	%r20, %r28, %r28
	ldd	24(PARK), %r22
	add,l	%r21, %r28, %r28
	ldd	32(PARK), %r19
	add,l	%r22, %r28, %r28
	addib,>	-1, %r25, 1b
	add,l	%r19, %r28, %r28
	stw	%r28, 0(%r23)
	extrd,u	%r28, 31, 32, %r29
	stw	%r29, 4(%r23)
	evc_return_frame 64
evc_end evc_bn_words_hppa20_fold
#endif

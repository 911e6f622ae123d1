/* SPDX-License-Identifier: MIT */
/* Steps that the assembly for PA-RISC 1.1 and for 2.0 share; included before
 * common/hppa_asm.h is used. */
#ifndef EVC_BN_WORDS_HPPA_ASM_STEPS_H
#define EVC_BN_WORDS_HPPA_ASM_STEPS_H

/* Arguments of rows: r, a, n, w. */
#define TO %r26
#define FROM %r25
#define COUNT %r24
#define BY %r23
#define CARRY %r28

/* A function of r, a, n that squares each word. The halves of a product go
 * to memory as they are. */
.macro square_words name
evc_function \name
	addib,<,n	-2, COUNT, 2f
1:	fldws,ma	4(FROM), %fr5L
	fldws,ma	4(FROM), %fr6L
	xmpyu	%fr5L, %fr5L, %fr5
	xmpyu	%fr6L, %fr6L, %fr6
	fstws,ma	%fr5R, 4(TO)
	fstws,ma	%fr5L, 4(TO)
	fstws,ma	%fr6R, 4(TO)
	addib,>=	-2, COUNT, 1b
	fstws,ma	%fr6L, 4(TO)
2:	addib,=,n	2, COUNT, 3f
	fldws,ma	4(FROM), %fr5L
	xmpyu	%fr5L, %fr5L, %fr5
	fstws,ma	%fr5R, 4(TO)
	fstws,ma	%fr5L, 4(TO)
3:	evc_return
evc_end \name
.endm

#define FIRST_PRODUCT 64 + 22 /* fr22 */

/* The products of column k of n words: park_product of each, from the register FIRST_PRODUCT on. */
.macro park_column k, n
	.set	product, FIRST_PRODUCT
	.irp	i, 4, 5, 6, 7, 8, 9, 10, 11
	.irp	j, 4, 5, 6, 7, 8, 9, 10, 11
	.if	\i + \j - 8 == (\k) && \i < 4 + \n && \j < 4 + \n
	park_product \i, \j
	.endif
	.endr
	.endr
.endm

#endif

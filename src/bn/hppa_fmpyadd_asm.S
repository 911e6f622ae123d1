/* SPDX-License-Identifier: MIT */
/*
 * Products of digits in the unit for floating point, for PA-RISC 1.1:
 * hppa_fmpyadd.c says what digits are.
 *
 * fmpyadd multiplies two numbers and adds two others. So one instruction makes a product and adds
 * the one that was made three before it. Eight sums stay in registers. Row i is one digit of a
 * long number times eight factors, whose products belong to the sums from place i on; each row
 * stores the sum of place i and loads that of place i + 8 in its register. After eight rows the
 * registers are as they were.
 *
 * The status of the unit is the caller's: each function saves it, works with rounding to nearest
 * and without traps, and puts it back, so that no flag tells of what was done.
 *
 * Source: PA-RISC 1.1 Architecture and Instruction Set Reference Manual
 * (1994), chapter 6 (FMPYADD).
 */
#include "common/hppa_asm.h"

#if EVC_ASM_HPPA
#define TO %r20     /* where sums are stored */
#define AHEAD %r19  /* where they are loaded */
#define FROM %r28   /* digits of the long number */
#define COUNT %r29  /* rows that are left */
#define BLOCKS %r31 /* digits that are left, of the number of the factors */
#define LINK %r1
#define T %r22
#define DIGITS %r21
#define FRAME 128
#define STATUS 80 /* in the frame: that of the caller */

/* In memory, before the digits of the modulus: struct private_part of hppa_fmpyadd.c. */
#define MODULUS 40

evc_isa_pa11

/* product = x y, and sum += older, of which no register is one of the others. */
.macro multiply_add x, y, product, older, sum
#if defined(EVC_HPPA_FMPYADD_SWAPPED)
	.set	factors, ((\x - 64) << 21) + ((\y - 64) << 16)
	.word	0x18000020 + factors + ((\sum - 64) << 11) + ((\older - 64) << 6) + \product - 64
#else
	fmpyadd,dbl	\x, \y, \product, \older, \sum
#endif
.endm

/* Sums are in fr22 to fr29: the one of place p in register 22 + p modulo 8. */
.macro use_sum place
	.set	sum, 64 + 22 + ((\place) & 7)
.endm

/* Product number k goes to one of fr12 to fr15. The one three before belongs to place third; this
 * one belongs to \place. */
.macro start_products
	.irp	f, 13, 14, 15
	fcpy,dbl	%fr0, %fr\f
	.endr
	.set	k, 0
	.set	third, 4
	.set	second, 5
	.set	first, 6
.endm
.macro add_product x, y, place
	use_sum	third
	.set	product, 64 + 12 + (k & 3)
	.set	older, 64 + 12 + ((k + 1) & 3)
	multiply_add	\x, \y, product, older, sum
	.set	third, second
	.set	second, first
	.set	first, \place
	.set	k, k + 1
.endm

.macro load_sums
	.irp	f, 22, 23, 24, 25, 26, 27, 28, 29
	fldds,ma	8(AHEAD), %fr\f
	.endr
.endm

/* The sum of the place is complete. */
.macro next_sum place
	use_sum	\place
	fstds,ma	sum, 8(TO)
	fldds,ma	8(AHEAD), sum
.endm

.macro load_factors from
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	fldds,ma	8(\from), %fr\f
	.endr
.endm

/* The digits of rows are in fr30 and fr31. */
.macro use_digits row
	.set	digit, 64 + 30 + ((\row) & 1)
	.set	next, 64 + 30 + ((\row + 1) & 1)
.endm

/* ---- Frames ---------------------------------------------------------------------------------- */

/* The registers of the caller's, and the status: rounding to nearest, no traps, no flags. */
.macro begin
	copy	%r30, LINK
	evc_frame FRAME
	.irp	f, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21
	fstds,ma	%fr\f, 8(LINK)
	.endr
	fstds,ma	%fr0, 8(LINK)
	stw	%r0, 0(LINK)
	stw	%r0, 4(LINK)
	fldds	0(LINK), %fr0
.endm
.macro end
	ldo	STATUS - FRAME(%r30), LINK
	fldds	0(LINK), %fr0
	.irp	f, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12
	fldds,mb	-8(LINK), %fr\f
	.endr
	evc_return_frame FRAME
.endm

/* ---- Products and squares -------------------------------------------------------------------- */

/* t[0 ... 2 DIGITS - 1] = 0 */
.macro clear_places
	copy	T, TO
	fcpy,dbl	%fr0, %fr4
	copy	DIGITS, COUNT
1:	.irp	i, 0, 1, 2, 3, 4, 5, 6
	fstds,ma	%fr4, 8(TO)
	.endr
	addib,>	-4, COUNT, 1b
	fstds,ma	%fr4, 8(TO)
.endm

/* T goes back to where the places begin, from behind `DIGITS` of them, or
 * twice as many (shift 4). */
.macro rewind shift
	zdep	DIGITS, 31 - \shift, 32 - \shift, COUNT
	sub	T, COUNT, T
.endm

/* r, a, b, key, and on the stack t and the number of digits: r = a b / R modulo n. */
evc_function evc_bn_hppa_fmpyadd_mul
	ldw	-52(%r30), T
	ldw	-56(%r30), DIGITS
	begin
	clear_places
	copy	DIGITS, BLOCKS
1:	load_factors %r24
	copy	T, AHEAD
	load_sums
	start_products
	copy	T, TO
	copy	%r25, FROM
	bl	.Lfmpyadd_rows, LINK
	copy	DIGITS, COUNT
	addib,>	-8, BLOCKS, 1b
	ldo	64(T), T
	rewind	3
	b,n	.Lfmpyadd_reduce

/* All rows of COUNT digits, with factors in fr4 to fr11: COUNT is a multiple of 8, or 0. Before it,
 * as many products were made as a multiple of four, the last three of them for places 4 to 6.
 * Stores the last sums. */
.Lfmpyadd_rows:
	comib,=,n	0, COUNT, 2f
1:	fldds,ma	8(FROM), %fr30
	.set	k, 0
	.set	third, 4
	.set	second, 5
	.set	first, 6
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7
	use_digits \i
	.irp	j, 0, 1, 2, 3, 4, 5, 6, 7
	.set	factor, 64 + 4 + \j
	.if	k == 63
	addib,>	-8, COUNT, 1b /* the product is in its slot */
	.endif
	add_product	digit, factor, (\i + \j)
	.if	\j == 3
	next_sum \i
	.if	\i < 7
	fldds,ma	8(FROM), next
	.endif
	.endif
	.endr
	.endr
2:	fadd,dbl	%fr13, %fr26, %fr26
	fadd,dbl	%fr14, %fr27, %fr27
	fadd,dbl	%fr15, %fr28, %fr28
	.irp	f, 22, 23, 24, 25, 26, 27, 28
	fstds,ma	%fr\f, 8(TO)
	.endr
	bv	%r0(LINK)
	fstds,ma	%fr29, 8(TO)

/* ---- Reduction ------------------------------------------------------------------------------- */

/* Eight places at a time become 0: the digits q of the multiple of n that does this are made
 * one after the other. q is a digit of the place times -1 / n, each time less the nearest
 * multiple of the base. */
	.set	ROUND, 64 + 22 /* a sum with it is a multiple of the base */
	.set	FACTOR, 64 + 23 /* -1 / n modulo the base */
	.set	SHIFT, 64 + 24 /* 1 / base */
	.set	Q, 64 + 25
	.set	CARRY, 64 + 26
	.set	last_place, 64 + 11

/* The registers of the lowest digits of the modulus. */
.macro use_modulus j
	.if	\j < 6
	.set	modulus, 64 + 16 + \j
	.else
	.set	modulus, 64 + 24 + \j
	.endif
.endm

/* \to = \x less the nearest multiple of the base; \scratch is not \x. */
.macro lowest x, to, scratch
	fadd,dbl	\x, ROUND, \scratch
	fsub,dbl	\scratch, ROUND, \scratch
	fsub,dbl	\x, \scratch, \to
.endm

/* Places are in fr4 to fr11, and there the digits of q take their place. */
.macro make_digit i
	.set	place, 64 + 4 + \i
	.if	\i > 0
	fadd,dbl	CARRY, place, place
	.endif
	lowest	place, Q, Q
	fmpy,dbl	Q, FACTOR, Q
	lowest	Q, Q, CARRY
	use_modulus 0
	fmpy,dbl	Q, modulus, %fr12
	.irp	j, 1, 2, 3, 4, 5, 6, 7
	.if	\i + \j < 8
	use_modulus \j
	.set	product, 64 + 12 + (\j & 1)
	.set	older, 64 + 12 + ((\j - 1) & 1)
	.set	sum, 64 + 4 + \i + \j - 1
	multiply_add	Q, modulus, product, older, sum
	.endif
	.endr
	.set	older, 64 + 12 + ((7 - \i) & 1)
	.if	\i < 7
	multiply_add	place, SHIFT, CARRY, older, last_place
	.else
	fadd,dbl	older, place, place
	fmpy,dbl	place, SHIFT, CARRY
	.endif
	fcpy,dbl	Q, place
.endm

.Lfmpyadd_reduce:
	copy	DIGITS, BLOCKS
1:	copy	T, TO
	load_factors TO
	ldo	MODULUS(%r23), FROM
	.irp	f, 16, 17, 18, 19, 20, 21, 30, 31
	fldds,ma	8(FROM), %fr\f
	.endr
	fldds	0(%r23), ROUND
	fldds	8(%r23), FACTOR
	ldo	16(%r23), COUNT
	fldds	0(COUNT), SHIFT
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7
	make_digit \i
	.endr
	fcpy,dbl	CARRY, %fr12
	copy	TO, AHEAD
	load_sums
	fadd,dbl	%fr12, %fr22, %fr22
	start_products
	.irp	i, 1, 2, 3, 4, 5, 6, 7
	use_modulus \i
	.irp	j, 1, 2, 3, 4, 5, 6, 7
	.if	\i + \j >= 8
	.set	factor, 64 + 4 + \j
	add_product	modulus, factor, (\i + \j)
	.endif
	.endr
	.endr
	bl	.Lfmpyadd_rows, LINK
	ldo	-8(DIGITS), COUNT
	addib,>	-8, BLOCKS, 1b
	ldo	64(T), T

/* ---- Carries --------------------------------------------------------------------------------- */

/* Places at T become digits at r. There is no carry above the last one. */
	fldds	0(%r23), ROUND
	ldo	16(%r23), COUNT
	fldds	0(COUNT), SHIFT
	fcpy,dbl	%fr0, CARRY
	copy	DIGITS, COUNT
1:	.irp	i, 4, 5, 6, 7, 8, 9, 10, 11
	fldds,ma	8(T), %fr\i
	fadd,dbl	CARRY, %fr\i, %fr\i
	fadd,dbl	%fr\i, ROUND, Q
	fsub,dbl	Q, ROUND, Q
	fsub,dbl	%fr\i, Q, %fr12
	fmpy,dbl	Q, SHIFT, CARRY
	.if	\i == 11
	addib,>	-8, COUNT, 1b
	.endif
	fstds,ma	%fr12, 8(%r26)
	.endr
	end
evc_end evc_bn_hppa_fmpyadd_mul

/* r, a, key, t, and on the stack the number of digits: r = a a / R modulo n. Of two different
 * digits, one is doubled and their product is made once. */
evc_function evc_bn_hppa_fmpyadd_sqr
	copy	%r23, T
	copy	%r24, %r23
	ldw	-52(%r30), DIGITS
	begin
	clear_places
	copy	DIGITS, BLOCKS
1:	copy	%r25, FROM
	load_factors %r25
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	fadd,dbl	%fr\f, %fr\f, %fr\f
	.endr
	copy	T, AHEAD
	load_sums
	start_products
	copy	T, TO
	fldds,ma	8(FROM), %fr30
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7
	use_digits \i
	.if	\i < 7
	fldds,ma	8(FROM), next
	.endif
	.irp	j, 0, 1, 2, 3, 4, 5, 6, 7
	.if	\j <= \i
	.set	factor, 64 + 4 + \j
	.if	\j == \i
	.set	factor, digit
	.endif
	add_product	digit, factor, (\i + \j)
	/* place p has all of its products with the first one of row p,
	 * which is added three later */
	.if	k == 4
	next_sum 0
	.endif
	.if	k == 5
	next_sum 1
	.endif
	.if	k == 7
	next_sum 2
	.endif
	.if	k == 10
	next_sum 3
	.endif
	.if	k == 14
	next_sum 4
	.endif
	.if	k == 19
	next_sum 5
	.endif
	.if	k == 25
	next_sum 6
	.endif
	.if	k == 32
	next_sum 7
	.endif
	.endif
	.endr
	.endr
	bl	.Lfmpyadd_rows, LINK
	ldo	-8(BLOCKS), COUNT
	addib,>	-8, BLOCKS, 1b
	ldo	128(T), T
	rewind	4
	b,n	.Lfmpyadd_reduce
evc_end evc_bn_hppa_fmpyadd_sqr

/* ---- Sums, and entries of tables ------------------------------------------------------------- */

/* r, a, b, key, and on the stack two numbers x and y, and how many digits: r = a + x b + y n. */
evc_function evc_bn_hppa_fmpyadd_sum
	ldw	-52(%r30), T
	ldw	-56(%r30), DIGITS
	begin
	fldds,ma	8(T), %fr4
	fldds	0(T), %fr5
	fldds	0(%r23), ROUND
	ldo	16(%r23), COUNT
	fldds	0(COUNT), SHIFT
	fcpy,dbl	%fr0, CARRY
	ldo	MODULUS(%r23), FROM
	.set	second_factor, 64 + 5
	.set	digit, 64 + 7
	.set	product, 64 + 9
	.set	sum, 64 + 8
1:	fldds,ma	8(%r24), %fr6
	fldds,ma	8(FROM), digit
	fldds,ma	8(%r25), sum
	fmpy,dbl	%fr6, %fr4, %fr6
	multiply_add	digit, second_factor, product, CARRY, sum
	fadd,dbl	%fr6, %fr8, %fr8
	fadd,dbl	%fr9, %fr8, %fr8
	fadd,dbl	%fr8, ROUND, Q
	fsub,dbl	Q, ROUND, Q
	fsub,dbl	%fr8, Q, %fr10
	fmpy,dbl	Q, SHIFT, CARRY
	addib,>	-1, DIGITS, 1b
	fstds,ma	%fr10, 8(%r26)
	end
evc_end evc_bn_hppa_fmpyadd_sum

/* r, table, factors, number of entries, and on the stack that of digits: r = the sum of entries
 * times their factors, of which one is 1 and all others are 0. */
evc_function evc_bn_hppa_fmpyadd_select
	ldw	-52(%r30), DIGITS
	begin
	sh3add	DIGITS, %r0, BLOCKS /* bytes of an entry */
	ldo	-64(BLOCKS), BLOCKS
1:	copy	%r25, FROM
	copy	%r24, TO
	copy	%r23, COUNT
	.irp	f, 22, 23, 24, 25, 26, 27, 28, 29
	fcpy,dbl	%fr0, %fr\f
	.endr
	start_products
	.set	digit, 64 + 30
2:	fldds,ma	8(TO), digit
	.set	k, 0
	.set	third, 5
	.set	second, 6
	.set	first, 7
	.irp	j, 0, 1, 2, 3, 4, 5, 6, 7
	.set	factor, 64 + 4 + \j
	fldds,ma	8(FROM), factor
	add_product	factor, digit, \j
	.endr
	addib,>	-1, COUNT, 2b
	add	FROM, BLOCKS, FROM
	fadd,dbl	%fr13, %fr27, %fr27
	fadd,dbl	%fr14, %fr28, %fr28
	fadd,dbl	%fr15, %fr29, %fr29
	.irp	f, 22, 23, 24, 25, 26, 27, 28, 29
	fstds,ma	%fr\f, 8(%r26)
	.endr
	addib,>	-8, DIGITS, 1b
	ldo	64(%r25), %r25
	end
evc_end evc_bn_hppa_fmpyadd_select
#endif

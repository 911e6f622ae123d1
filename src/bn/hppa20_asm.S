/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication by blocks of eight words, for PA-RISC 2.0 in programs of 32 bits under
 * a kernel that keeps all 64 bits of registers. hppa_blocks.h declares the functions; sums are of
 * 64 bits, one for each word: their value is the sum of t[i] * B^i.
 *
 * Row i of a block (hppa_blocks_asm.h) adds each product, as it is, to one sum: from i to i + 7. A
 * carry out of the sum at j belongs to the sum at j + 2, so there are two chains of carries, one
 * for sums at even places and one for those at odd ones, and a product costs its multiplication,
 * its way through memory and one addition. Carries beyond the eight sums are counted, for the sum
 * that comes in at their place.
 *
 * Source: Kane, PA-RISC 2.0 Architecture (1996), chapters 1, 6 and 7.
 */
#include "common/hppa_asm.h"

#if EVC_ASM_HPPA
#define SUM_BYTES 8
#define TIMES_SUM_BYTES sh3add
#define REDUCE_SAVES 13
#define EVEN %r28 /* carries for the next sum at an even place that comes in */
#define ODD %r29
#define KEPT_EVEN %r14
#define KEPT_ODD %r15
#include "bn/hppa_blocks_asm.h"
evc_isa_pa20

/* The assembler takes no symbol for a register in instructions of 2.0: \do gets the number of the
 * register of the sum at \place as its first argument. */
.macro with_sum do, place, more
	.altmacro
	\do %(3+((\place)&7)), \more
	.noaltmacro
.endm
/* The same with the number of the register that counts carries for places as
 * even or odd as \other. */
.macro with_carries do, place, other
	.altmacro
	\do %(3+((\place)&7)), %(28+((\other)&1))
	.noaltmacro
.endm

.macro load_register at, offset
	ldd	\offset(TO), %r\at
.endm
.macro store_register at, offset
	std	%r\at, \offset(TO)
.endm
.macro add_register at, from
	add	%r\from, %r\at, %r\at
.endm
.macro add_register_and_carry at, from
	add,dc	%r\from, %r\at, %r\at
.endm
.macro high_to_r19 at, unused
	extrd,u	%r\at, 31, 32, %r19
.endm

/* Carries: \at is a sum, \of counts. */
.macro count_carry at, of
	add,dc	%r0, %r\of, %r\of
.endm
.macro begin_count at, of
	add,dc	%r0, %r0, %r\of
.endm
.macro take_count at, of /* a sum that comes in */
	add,dc	%r\of, %r\at, %r\at
	add,dc	%r0, %r0, %r\of
.endm
.macro take_count_alone at, of /* the same, with no carry of a chain */
	add	%r\of, %r\at, %r\at
	add,dc	%r0, %r0, %r\of
.endm
.macro set_to_count at, of /* a sum that comes in where nothing was */
	add,dc	%r0, %r\of, %r\at
.endm

.macro load_sum i, j, offset
	with_sum load_register, (\i)+(\j), (\offset)
.endm
.macro store_sum i, j, offset
	with_sum store_register, (\i)+(\j), (\offset)
.endm

.macro clear_carries
	ldi	0, EVEN
	ldi	0, ODD
.endm
.macro keep_carries
	copy	EVEN, KEPT_EVEN
	copy	ODD, KEPT_ODD
	clear_carries
.endm
.macro add_kept
	comiclr,<>	0, COUNT, %r0
	add,l	KEPT_EVEN, EVEN, EVEN
	comiclr,<>	0, COUNT, %r0
	add,l	KEPT_ODD, ODD, ODD
.endm
.macro take_carries
	extru	%r28, 15, 16, ODD
	extru	%r28, 31, 16, EVEN
.endm
.macro give_carries
	dep	ODD, 15, 16, %r28
.endm

/* Through the sums from 8 on, those at even places and then those at odd ones. */
.macro add_carries_of_entry e
	.irp	odd, 0, 1
	.irp	j, 0, 2, 4
	.if	\j < \e
	.if	\j
	with_sum add_register_and_carry, \j+\odd, 0
	.else
	with_carries add_register, \odd, \odd
	.endif
	.endif
	.endr
	with_carries begin_count, \odd, \odd
	.endr
.endm

/* place: that of the product in slot \f of row \i, from r1 on, which is BANK0_LEFT. */
.macro use_bank_of i, f
	.set	place, ((\i) & 1) * 64 + ((\f) - 4) * 8 - 16
.endm

/* The product in slot \f of row \i goes to %r\to; meanwhile that of the next row is made. */
.macro take_product i, f, next, half, to
	use_bank_of \i, \f
	ldd	place(%r1), %r\to
	.if	\next
	use_bank (\i + 1)
	use_slot \f
	multiply %fr30L, \f, \half
	fstds	product, offset(bank)
	.endif
.endm

/* Sums row \i, whose products are in its bank.
 * \kind: `add`; `set` if nothing was at t before; `drop` if the lowest word becomes 0, so
 * that the sum it is in is not stored: what is above that word is added to the next
 * product, which has room for it.
 * \next: the next row is multiplied meanwhile. */
.macro sum_row i, kind, next, half
	.set	row, \i
	.if	\next
	fldws,ma	4(FROM), %fr30L
	.endif
	.irp	f, 4, 6, 8, 10
	take_product \i, \f, \next, \half, 19
	.if	\f == 4
	with_sum add_register, row+\f-4, 19
	.else
	with_sum add_register_and_carry, row+\f-4, 19
	.endif
	.endr
	.ifc	\kind, drop
	with_sum high_to_r19, row, 0
	.else
	with_sum store_register, row, (8*\i)
	.endif
	.ifc	\kind, set
	with_carries set_to_count, row, row
	.else
	with_sum load_register, row, (8*\i+64)
	with_carries take_count, row, row
	.endif
	.irp	f, 5, 7, 9, 11
	take_product \i, \f, \next, \half, 21
	.if	\f == 5
	.ifc	\kind, drop
	add,l	%r19, %r21, %r21
	.endif
	with_sum add_register, row+\f-4, 21
	.else
	with_sum add_register_and_carry, row+\f-4, 21
	.endif
	.endr
	.ifc	\kind, set
	with_carries begin_count, 0, row+1
	.else
	with_carries count_carry, 0, row+1
	.endif
.endm

block evc_bn_hppa20_multiply_8, add
block evc_bn_hppa20_set_8, set
add_rows evc_bn_hppa20_add_rows, evc_bn_hppa20_multiply_8
reduce evc_bn_hppa20_reduce
reduce_rows evc_bn_hppa20_reduce_rows

/* ---- The result of a reduction --------------------------------------------------------------- */

/* Two words of n as one in r20. */
.macro load_pair from
	ldw,ma	4(\from), %r20
	ldw,ma	4(\from), %r21
	depd	%r21, 31, 32, %r20
.endm

/* r, t, n, their length, and on the stack the carry. First the sums become words of 64
 * bits, then it is found whether t / R - n is negative, and r1 becomes all ones if t / R is
 * the result; then that. */
evc_function evc_bn_hppa20_finish
	ldw	-52(%r30), %r28
	extru	%r28, 31, 16, %r28
	sh3add	%r23, FROM, FROM
	copy	FROM, %r31
	copy	%r23, %r1
	ldi	0, %r20
	add	%r0, %r0, %r0
1:	ldd	0(%r31), %r19
	ldd	8(%r31), %r21
	shrpd	%r21, %r20, 32, %r22
	copy	%r21, %r20
	add,dc	%r22, %r19, %r19
	std	%r19, 0(%r31)
	addib,>	-2, %r1, 1b
	ldo	16(%r31), %r31
	extrd,u	%r20, 31, 32, %r22
	add,dc	%r22, %r28, %r28
	copy	FROM, %r31
	copy	COUNT, %r29
	copy	%r23, %r1
	sub	%r0, %r0, %r0
2:	load_pair %r29
	ldd	0(%r31), %r19
	ldo	16(%r31), %r31
	addib,>	-2, %r1, 2b
	sub,db	%r19, %r20, %r0
	sub,db	%r0, %r0, %r1
	add,l	%r28, %r1, %r1
	sub	%r0, %r0, %r0
3:	load_pair COUNT
	ldd	0(FROM), %r19
	andcm	%r20, %r1, %r20
	sub,db	%r19, %r20, %r19
	ldo	16(FROM), FROM
	extrd,u	%r19, 31, 32, %r20
	stw,ma	%r19, 4(TO)
	addib,>	-2, %r23, 3b
	stw,ma	%r20, 4(TO)
	evc_return
evc_end evc_bn_hppa20_finish

/* ---- Squares --------------------------------------------------------------------------------- */

/* Row x has the products of word x and those above it. It adds to the sums from 2x + 1 to x + 7;
 * the first two are complete after it, and that at x + 8 comes in. The first row begins with a
 * carry, and has a count for its first product in r22. */
.macro cross_row f, word
	.set	x, \f - 4
	.irp	g, 5, 6, 7, 8, 9, 10, 11
	.if	\g > \f
	use_bank x
	use_slot \g
	multiply \word, \g, L
	fstds	product, offset(bank)
	.endif
	.endr
	.irp	g, 6, 7, 8, 9, 10
	.if	\g > \f && (\g & 1) == 0
	use_bank_of x, \g
	ldd	place(%r1), %r19
	.if	x && \g <= \f + 2
	with_sum add_register, x+\g-4, 19
	.else
	with_sum add_register_and_carry, x+\g-4, 19
	.endif
	.endif
	.endr
	with_sum load_register, x+8, (8*(x+8))
	.if	x == 6
	with_carries take_count_alone, x+8, x
	.else
	with_carries take_count, x+8, x
	.endif
	.irp	g, 5, 7, 9, 11
	.if	\g > \f
	use_bank_of x, \g
	ldd	place(%r1), %r19
	.if	\g == 5
	add,l	%r22, %r19, %r19
	.endif
	.if	\g <= \f + 2
	with_sum add_register, x+\g-4, 19
	.else
	with_sum add_register_and_carry, x+\g-4, 19
	.endif
	.endif
	.endr
	with_carries count_carry, 0, x+1
	with_sum store_register, 2*x+1, (16*x+8)
	with_sum store_register, 2*x+2, (16*x+16)
.endm

/* t, a, n */
evc_function evc_bn_hppa20_cross
	begin_frame 8
	clear_carries
1:	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	load_left \f, FROM
	.endr
	.irp	i, 1, 2, 3, 4, 5, 6, 7
	load_sum 0, \i, 8*\i
	.endr
	ldd	0(TO), %r19
	copy	ODD, %r22
	add	EVEN, %r19, %r19
	clear_carries
	std	%r19, 0(TO)
	cross_row 4, %fr4L
	cross_row 5, %fr5L
	cross_row 6, %fr6L
	cross_row 7, %fr7L
	cross_row 8, %fr8L
	cross_row 9, %fr9L
	cross_row 10, %fr10L
	ldd	120(TO), %r19
	add	ODD, %r19, %r19
	add,dc	%r0, %r0, ODD
	std	%r19, 120(TO)
	addib,>	-8, COUNT, 1b
	ldo	128(TO), TO
	end_frame 8
evc_end evc_bn_hppa20_cross

/* Word k of four: two sums doubled, the upper bits of \even and \odd below them, and its square. */
.macro add_square k, even, odd, next_even, next_odd
	ldd	8 * \k - 16(%r1), %r19
	ldd	16 * \k(TO), \next_even
	ldd	16 * \k + 8(TO), \next_odd
	shrpd	\next_even, \even, 63, %r20
	add,dc	%r19, %r20, %r20
	shrpd	\next_odd, \odd, 63, %r19
	std	%r20, 16 * \k(TO)
	std	%r19, 16 * \k + 8(TO)
.endm

/* t, a, n */
evc_function evc_bn_hppa20_add_squares
	ldo	16(%r30), %r1
	evc_frame 64
	ldi	0, %r28
	ldi	0, %r29
	add	%r0, %r0, %r0
1:	.irp	f, 4, 5, 6, 7
	load_left \f, FROM
	.endr
	.irp	f, 4, 5, 6, 7
	.set	product, 64 + \f
	xmpyu	%fr\f\()L, %fr\f\()L, product
	fstds	product, 8 * \f - 48(%r1)
	.endr
	add_square 0, %r28, %r29, %r22, %r31
	add_square 1, %r22, %r31, %r28, %r29
	add_square 2, %r28, %r29, %r22, %r31
	add_square 3, %r22, %r31, %r28, %r29
	addib,>	-4, COUNT, 1b
	ldo	64(TO), TO
	evc_return_frame 64
evc_end evc_bn_hppa20_add_squares
#endif

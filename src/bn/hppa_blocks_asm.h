/* SPDX-License-Identifier: MIT */
/*
 * Blocks of eight words for PA-RISC: registers, and the functions of hppa_blocks.h that
 * hppa_xmpyu and hppa20 share. Included after common/hppa_asm.h. A sum is one place of a number
 * in registers or in memory.
 *
 * A block adds the products of eight words and a long number. Row i is one word of the long
 * number times the eight, whose products belong to the sums from i on. Eight sums stay in
 * registers. Each row stores the lowest one and loads the next one in its place, so the registers
 * change their roles from row to row, and after eight rows they are as they were. While a row is
 * summed, the next one is multiplied.
 *
 * A kernel defines:
 *
 *   SUM_BYTES, TIMES_SUM_BYTES, REDUCE_SAVES   the bytes of a sum in memory; the instruction that
 *                                              adds so many times a register; how many registers of
 *                                              the caller's a reduction uses
 *   load_sum i, j, offset      the sum at i + j, from TO + offset
 *   store_sum i, j, offset
 *   sum_row i, kind, next, half
 *   clear_carries              those that come into a block
 *   keep_carries, add_kept     keep them for the block after this one and clear them; add
 *                              them there, if COUNT is 0
 *   take_carries, give_carries from r28, where a function has them, and to r28
 *   add_carries_of_entry e     adds them to the sums from 8 on, which the rows
 *                              from e on are about to use
 */
#ifndef EVC_BN_HPPA_BLOCKS_ASM_H
#define EVC_BN_HPPA_BLOCKS_ASM_H

#define TO %r26
#define FROM %r25
#define COUNT %r24
#define LENGTH %r11
#define BLOCKS %r12
#define MODULUS %r13

/* Products lie in two banks of eight, each reached from two registers: fstds reaches 16 bytes. */
#define BANK0_LEFT 1
#define BANK0_RIGHT 31
#define BANK1_LEFT 20
#define BANK1_RIGHT 23
#define SAVED 128  /* registers of the caller's, from where the stack ended */
#define WORD 184   /* a word on its way to the unit for floating point */
#define FRAME 192

/* The frame of a function that uses so many registers of the caller's, from r3 on. */
.macro begin_frame n
	ldo	16(%r30), BANK0_LEFT
	ldo	48(%r30), BANK0_RIGHT
	ldo	80(%r30), BANK1_LEFT
	ldo	112(%r30), BANK1_RIGHT
	evc_frame FRAME
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
	.if	\i < \n
	.set	saved, 3 + \i
	stw	saved, SAVED - FRAME + 4 * \i(%r30)
	.endif
	.endr
.endm
.macro end_frame n
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
	.if	\i < \n
	.set	saved, 3 + \i
	ldw	SAVED - FRAME + 4 * \i(%r30), saved
	.endif
	.endr
	evc_return_frame FRAME
.endm

.macro load_left f, from
	fldws,ma	4(\from), %fr\f\()L
.endm

/* The register of the sum at i + j, in row i. */
.macro sum_register_of i, j
	.set	sum, 3 + ((\i + \j) & 7)
.endm
.macro sum_register j
	sum_register_of row, \j
.endm

.macro load_sums
	.irp	j, 0, 1, 2, 3, 4, 5, 6, 7
	load_sum 0, \j, SUM_BYTES*\j
	.endr
.endm
.macro store_sums
	.irp	j, 0, 1, 2, 3, 4, 5, 6, 7
	store_sum 0, \j, SUM_BYTES*\j
	.endr
.endm

/* The registers of the bank of row i. */
.macro use_bank i
	.if	(\i) & 1
	.set	left, BANK1_LEFT
	.set	right, BANK1_RIGHT
	.else
	.set	left, BANK0_LEFT
	.set	right, BANK0_RIGHT
	.endif
.endm

/* The register and the offset of the product by the word in fr\f. */
.macro use_slot f
	.if	\f < 8
	.set	bank, left
	.else
	.set	bank, right
	.endif
	.set	offset, (\f & 3) * 8 - 16
	.set	product, 64 + 18 + \f /* fr22 to fr29 */
.endm

.macro multiply word, f, half
	xmpyu	\word, %fr\f\half, product
.endm

/* The products of \word and the eight words that are in \half of fr4 to fr11,
 * in the bank of row \i. */
.macro multiply_row i, word, half
	use_bank \i
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	use_slot \f
	multiply \word, \f, \half
	.endr
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	use_slot \f
	fstds	product, offset(bank)
	.endr
.endm

/* Eight rows by the words in \half of fr4 to fr11. Row 2, 4 or 6 has the label \label2, 4 or 6. */
.macro sum_eight_rows kind, half, label
	fldws,ma	4(FROM), %fr30L
	multiply_row 0, %fr30L, \half
	.irp	i, 0, 1, 2, 3, 4, 5, 6
	.if	\i == 2 || \i == 4 || \i == 6
\label\i:
	.endif
	sum_row \i, \kind, 1, \half
	.endr
	sum_row 7, \kind, 0, \half
.endm

/* ---- Numbers that do not fill blocks ------------------------------------------------------------
 *
 * Of a long number whose length is 2, 4 or 6 words more than a multiple of eight, the first rows
 * are 8 - e to 7: as if 8 - e words that are not there came before it. So TO goes back by 8 - e
 * words, and sum j is that at 8 - e + j. */

/* Goes to \label, where branch_to_entry is, if the length in COUNT does not fill blocks. */
.macro branch_if_rest label
	extru,=	COUNT, 31, 3, %r19
	b,n	\label
.endm

/* Goes to \label2, 4 or 6 if COUNT has 6, 4 or 2 words beyond whole blocks, which is in r19. */
.macro branch_to_entry label
	blr,n	%r19, %r0
	nop
	nop
	nop
	nop
	nop
	b,n	\label\()6
	nop
	nop
	nop
	b,n	\label\()4
	nop
	nop
	nop
	b,n	\label\()2
	nop
.endm

.macro load_sums_of_entry e
	.irp	j, 0, 1, 2, 3, 4, 5, 6, 7
	load_sum \e, \j, SUM_BYTES*(\j+\e)
	.endr
.endm

/* Multiplies the first row and goes to it. */
.macro enter e, half, label
	fldws,ma	4(FROM), %fr30L
	multiply_row \e, %fr30L, \half
	b,n	\label\e
.endm

/* ---- Functions ------------------------------------------------------------------------------- */

/* t, a, n, b */
.macro block name, kind
evc_function \name
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	load_left \f, %r23
	.endr
	begin_frame 8
	.ifc	\kind, set
	.irp	j, 0, 1, 2, 3, 4, 5, 6, 7
	sum_register_of 0, \j
	ldi	0, sum
	.endr
	.endif
	clear_carries
	branch_if_rest .L\name\()_rest
	.ifnc	\kind, set
	load_sums
	.endif
1:	sum_eight_rows \kind, L, .L\name\()_row
	addib,>	-8, COUNT, 1b
	ldo	8 * SUM_BYTES(TO), TO
	store_sums
	end_frame 8
.L\name\()_rest:
	branch_to_entry .L\name\()_entry
	.irp	e, 2, 4, 6
.L\name\()_entry\e:
	ldo	-SUM_BYTES * \e(TO), TO
	ldo	\e(COUNT), COUNT
	.ifnc	\kind, set
	load_sums_of_entry \e
	.endif
	enter \e, L, .L\name\()_row
	.endr
evc_end \name
.endm

/* t, a, n, b, and on the stack the carries: as the function \multiply_8, which it ends as. */
.macro add_rows name, multiply_8
evc_function \name
	ldw	-52(%r30), %r28
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	load_left \f, %r23
	.endr
	begin_frame 8
	take_carries
	extru	COUNT, 31, 3, %r19
	branch_to_entry .L\name
	.irp	e, 2, 4, 6
.L\name\e:
	ldo	-SUM_BYTES * \e(TO), TO
	ldo	\e(COUNT), COUNT
	load_sums_of_entry \e
	add_carries_of_entry \e
	enter \e, L, .L\multiply_8\()_row
	.endr
evc_end \name
.endm

/* Makes the lowest sum 0, in row i: r22 is where a word goes to the unit for floating point, n0 is
 * in fr31L; the digit gets to the right half of fr30. */
.macro multiply_digit i
	sum_register_of \i, 0
	stw	sum, 0(%r22)
	fldws	0(%r22), %fr30L
	xmpyu	%fr30L, %fr31L, %fr30
.endm

.macro keep_digit f
	fcpy,sgl	%fr30R, %fr\f\()R
.endm

/* The word in r23 goes to fr31L; r22: as in multiply_digit. */
.macro load_n0
	copy	%r23, %r22
	begin_frame REDUCE_SAVES
	stw	%r22, WORD - FRAME(%r30)
	ldo	WORD - FRAME(%r30), %r22
	fldws	0(%r22), %fr31L
.endm

/* t, n, length of n, n0. Words 0 to 7 of n are in the left halves of fr4 to fr11, and the words by
 * which n is multiplied in the right ones. The carries of a block are added before the last eight
 * rows of the next block. */
.macro reduce name
evc_function \name
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	load_left \f, FROM
	.endr
	load_n0
	copy	COUNT, LENGTH
	ldo	-7(COUNT), BLOCKS
	copy	FROM, MODULUS
	clear_carries
1:	keep_carries
	copy	MODULUS, FROM
	ldo	-8(LENGTH), COUNT
	load_sums
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	multiply_digit (\f - 4)
	keep_digit \f
	multiply_row (\f - 4), %fr30R, L
	sum_row (\f - 4), drop, 0, L
	.endr
	comib,=	0, COUNT, 3f
	ldo	8 * SUM_BYTES(TO), TO
	branch_if_rest .L\name\()_rest
2:	ldo	-8(COUNT), COUNT
	add_kept
	sum_eight_rows add, R, .L\name\()_row
	comib,<>	0, COUNT, 2b
	ldo	8 * SUM_BYTES(TO), TO
3:	store_sums
	TIMES_SUM_BYTES	LENGTH, %r0, %r19
	sub	TO, %r19, TO
	addib,>	-8, BLOCKS, 1b
	ldo	8 * SUM_BYTES(TO), TO
	give_carries
	end_frame REDUCE_SAVES
.L\name\()_rest:
	branch_to_entry .L\name\()_entry
	/* nothing is added before these rows: they are not among the last
	 * eight of a second block */
	.irp	e, 2, 4, 6
.L\name\()_entry\e:
	store_sums
	ldo	-SUM_BYTES * \e(TO), TO
	ldo	\e - 8(COUNT), COUNT
	load_sums_of_entry \e
	enter \e, R, .L\name\()_row
	.endr
evc_end \name
.endm

/* t, n, number of digits, n0. Digits go to where t begins. */
.macro reduce_rows name
evc_function \name
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	load_left \f, FROM
	.endr
	copy	TO, FROM
	load_n0
	clear_carries
	extru	COUNT, 31, 3, %r19
	branch_to_entry .L\name\()_entry
	.irp	e, 2, 4, 6
.L\name\()_entry\e:
	ldo	-SUM_BYTES * \e(TO), TO
	load_sums_of_entry \e
	b,n	.L\name\()_row\e
	.endr
	.irp	i, 2, 3, 4, 5, 6, 7
.L\name\()_row\i:
	multiply_digit \i
	fstws,ma	%fr30R, 4(FROM)
	multiply_row \i, %fr30R, L
	sum_row \i, drop, 0, L
	.endr
	ldo	8 * SUM_BYTES(TO), TO
	store_sums
	give_carries
	end_frame REDUCE_SAVES
evc_end \name
.endm

#endif

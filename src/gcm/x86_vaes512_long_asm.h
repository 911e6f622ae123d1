/* SPDX-License-Identifier: MIT */
/*
 * Messages of 449 to 480 bytes of text and of more than 512, and groups of vectors: the steps of
 * x86_vaes512_asm.S, which includes this and tells the method.
 *
 * Contents: 1 registers   2 steps: AES, text, the hash   3 associated data   4 vectors of a group
 *           5 the hash of pairs   6 the first pair, text of a group   7 groups: AES and the hash
 *           at once   8 long_message, where to begin
 *
 * A message in one piece is: lanes without a use, the last blocks of associated data (or zeros),
 * text, lengths. In AES, J_0 has the lane of the last block of associated data. Pairs of vectors
 * meet pairs of powers, so the number of vectors is even. All lanes of the first one may be left
 * over: then it is empty, and text begins in the second one. The vectors are called 0 to 7 by their
 * registers, and the last one is always 7:
 *
 *   bytes of vectors   vectors
 *   512                0 to 7
 *   640                1 to 5, then 4 to 7 anew, if the first one is empty; else as below
 *   more               groups of 0 to 7, and a tail: the last 2, 4, 6 or 8 of 0 to 7
 *
 * A group goes through AES while the one before it is hashed, and with two groups in a row the
 * first one meets H^64 to H^33, so that both have one reduction. Up to 8 blocks of associated data
 * that find no lane are a pair of vectors in front, with powers of its own, if text has at most 864
 * bytes.
 */
#ifndef EVC_GCM_X86_VAES512_LONG_ASM_H
#define EVC_GCM_X86_VAES512_LONG_ASM_H

/* ---- 1. Registers ---------------------------------------------------------------------------- */

/* General registers: KEY, IN, TABLES and, at first, AAD, AAD_BYTES and LEN are as in short
 * messages. */
#define PADDED %rax     /* LEN rounded up to whole blocks */
#define PADDED_32 %eax
#define LACKING %rsi    /* PADDED - LEN: the bytes that the last block lacks, 0 to 15 */
#define LACKING_32 %esi
#define LAST_ROUND %rdx /* behind AES: 16 times the number of rounds, the place of the last key */
#define AAD_BYTES_32 %r8d
#define LAST_MASK %k1   /* the bytes of the last vector that are text */
#define FIRST_MASK %k2  /* the same of the first vector */
#define GROUP %rcx          /* lane 0 of a group's first vector, in the text */
#define OUT_LESS_IN %r8     /* the distance from the text to the output */
#define TEXT_END %r9        /* behind the first pair of vectors: IN + PADDED */
#define VECTORS_BYTES %r10  /* of all vectors; then of those of the tail */
#define VECTORS_BYTES_32 %r10d
#define GROUPS %rax         /* their number: of those that are not hashed yet */
#define GROUPS_8 %al
#define IS_SEALED %eax      /* 0 to open; in `groups`, IS_SEALED_TOO has it */
#define IS_SEALED_TOO %edx
#define PAIR_POWERS %rdx         /* the powers of vectors are pairs_end bytes behind it */
#define GROUP_POWERS %rsi   /* the same while a group is hashed */
#define SEALS %k3           /* not 0 to seal, all through a message */
#define FIRST_IS_EMPTY %k4  /* not 0: the first vector of a message has no lane that is hashed */

/* Vectors. A register has one name after another. */
#define IV_BLOCK %xmm0      /* the same once */
#define AAD_LANES %zmm1     /* the last block of associated data, then up to three before it */
#define AAD_BLOCK %xmm1     /* the last one */
#define LAST_HASHED %zmm2    /* what is hashed of the last vector */
#define LENGTHS %zmm2       /* the block of the lengths, in lane 0 */
#define SCRATCH %zmm13
#define SCRATCH_Y %ymm13
#define SCRATCH_X %xmm13
#define SCRATCH_2 %zmm14
#define COMPUTED_TAG %xmm5
#define WHITE_IV %zmm0      /* the IV and a counter of zero, plus the first round key */
#define LONG_TAG_MASK %xmm1 /* behind first_text; before, AAD_LANES */
#define LONG_ROUND_KEY %zmm3
#define HASHED0 %zmm4       /* of a group, or of a tail: what is hashed */
#define HASHED0_X %xmm4
#define HASHED1 %zmm5
#define HASHED2 %zmm6
#define HASHED3 %zmm7
#define HASHED4 %zmm8
#define HASHED5 %zmm9
#define HASHED6 %zmm10
#define HASHED7 %zmm11
#define HALVES_LO %zmm12    /* of a pair of these, as halves_of makes them */
#define HALVES_HI %zmm13
#define POWERS_LO %zmm14    /* and of its powers */
#define POWERS_HI %zmm15
#define HASH %zmm12         /* of hash_of_products: lane 0 */
#define HASH_X %xmm12
#define HASH_Y %ymm12
#define NUMBERS %zmm16      /* of the next counters; from more than 9 vectors on */
#define NUMBER_PLACES %zmm17 /* the table words_of_counters, in each lane: no secret */
#define AAD_IN_FRONT %zmm18 /* blocks before AAD_LANES, or zeros; then scratch */
#define LONG_LAST_KEY %zmm19
#define LONG_STATE0 %zmm20  /* of a group; the last vector of the tail has LONG_STATE7 */
#define LONG_STATE1 %zmm21
#define LONG_STATE6 %zmm26
#define LONG_STATE7 %zmm27
#define SUM_OF_LO %zmm28    /* of products, by Karatsuba: mi lacks lo and hi */
#define SUM_OF_MI %zmm29
#define SUM_OF_HI %zmm30
#define NEXT_LONG_ROUND_KEY %zmm31

/* Bits of tag_bytes, an argument on the stack. */
.set opens, 30              /* the message is opened */
.set has_front, 29          /* AAD_IN_FRONT has blocks of associated data */

.set pairs_end, powers_end + 64 + 1024 /* from KEY: behind the pairs of powers */

/* ---- 2. Steps -------------------------------------------------------------------------------- */

/* Macros that take immediate values or labels have an argument at least: in others, Apple's
 * assembler takes $1 for one, and leaves \@ as it is. */

/* Clears vectors below 16, and others by longer instructions. Their names are those of lane 0. */
.macro clear vectors:vararg
    .irp v, \vectors
    vpxor \v, \v, \v
    .endr
.endm
.macro clear_upper vectors:vararg
    .irp v, \vectors
    vpxord \v, \v, \v
    .endr
.endm
/* Behind the last round, to seal: the ciphertext is what is hashed. */
.macro take_ciphertext i, s, text
    vmovdqa64 \s, \text
.endm

/* \lower, \upper = the halves of the blocks of two vectors, as numbers: of each pair of blocks
 * first that of \a. This is not vpermi2b, which is three instructions of Intel's cores. */
.macro halves_of a, b, lower, upper, scratch
    vpshufb reversed(TABLES), \a, \lower
    vpshufb reversed(TABLES), \b, \scratch
    vpunpckhqdq \scratch, \lower, \upper
    vpunpcklqdq \scratch, \lower, \lower
.endm

/* \hi = lo, mi, hi divided by z^128, in each lane; mi is complete. poly, product: scratch. */
.macro reduce lo, mi, hi, poly, product
    vbroadcasti32x4 polynomial(TABLES), \poly
    vpclmulqdq $0x00, \poly, \lo, \product
    vpshufd $0x4e, \lo, \lo
    vpternlogq $0x96, \lo, \product, \mi
    vpclmulqdq $0x00, \poly, \mi, \product
    vpshufd $0x4e, \mi, \mi
    vpternlogq $0x96, \mi, \product, \hi
.endm

/* \x = the sum of the four blocks of a vector, whose name is given for each width. */
.macro fold z, y, x, y_scratch, x_scratch
    vextracti64x4 $1, \z, \y_scratch
    vpxor \y_scratch, \y, \y
    vextracti128 $1, \y, \x_scratch
    vpxor \x_scratch, \x, \x
.endm

/* \to += the products of one part of a pair of vectors with that of a pair of powers: both are
 * lower halves, upper halves, or sums of halves. p, q: scratch. */
.macro add_part_products part, powers, to, p, q
    vpclmulqdq $0x00, \powers, \part, \p
    vpclmulqdq $0x11, \powers, \part, \q
    vpternlogq $0x96, \p, \q, \to
.endm

/*
 * Loads the block of associated data if it has 8 to 16 bytes. Else this jumps to
 * L(any_aad_<id>), which returns to L(aad_loaded_<id>).
 *
 * In:      AAD, AAD_BYTES
 * Out:     AAD_BLOCK; the other lanes of AAD_LANES are zeros
 * Changes: rsi, SCRATCH
 */
.macro load_block_of_aad id
    lea -8(AAD_BYTES), %rsi
    cmp $8, %rsi
    ja L(any_aad_\id)
    vmovq (AAD), AAD_BLOCK
    vmovq -8(AAD,AAD_BYTES), SCRATCH_X
    mov TABLES, %rsi
    sub AAD_BYTES, %rsi
    vpshufb byte_numbers + 16(%rsi), SCRATCH_X, SCRATCH_X
    vpunpcklqdq SCRATCH_X, AAD_BLOCK, AAD_BLOCK
L(aad_loaded_\id):
.endm
/* LENGTHS_X = two numbers of bytes, in bits: LEN and AAD_BYTES are the block with all its 16 bytes
 * reversed, AAD_BYTES and LEN that with the bytes of each half reversed. */
.macro lengths_in_bits low, high
    vmovq \low, LENGTHS_X
    vpinsrq $1, \high, LENGTHS_X, LENGTHS_X
    vpsllq $3, LENGTHS_X, LENGTHS_X
.endm
/* ---- 3. Associated data ---------------------------------------------------------------------- */

/* Up to 64 bytes at AAD, whole blocks, to the first lanes of SCRATCH. */
.macro load_whole_blocks n_bytes
    vmovdqu (AAD), SCRATCH_X
    cmp $32, \n_bytes
    jb L(loaded_\@)
    vmovdqu (AAD), SCRATCH_Y
    je L(loaded_\@)
    vinserti32x4 $2, 32(AAD), SCRATCH, SCRATCH
    cmp $48, \n_bytes
    je L(loaded_\@)
    vinserti32x4 $3, 48(AAD), SCRATCH, SCRATCH
L(loaded_\@):
.endm

/*
 * Associated data whose blocks have lanes in front of the text, or a vector in front of these.
 *
 * In:      AAD; AAD_BYTES: not 0, at most 64 bytes more than the text's first vector has lanes for;
 *          PADDED, KEY, TABLES; the arguments 8 bytes deeper on the stack
 * Out:     AAD_BLOCK: the last block, zeros behind; the last lanes of AAD_LANES: up to three blocks
 *          before it. If there are more than the text's first vector has lanes for, bit has_front
 *          is set, and up to four that have none are in the last lanes of AAD_IN_FRONT
 * Changes: rdx, SCRATCH, SCRATCH_2, and what other_aad changes
 */
    .text
    .p2align 4
evc_local aad_of_vectors
    clear AAD_BLOCK
    cmp $16, AAD_BYTES
    jle L(aad_of_a_block)  /* bit hashed_aad makes it negative */
    lea 32(PADDED), %edx
    neg %edx
    and $48, %edx
    add $16, %edx         /* the bytes of lanes in front of the text */
    lea 15(AAD_BYTES), %rsi
    and $-16, %rsi
    sub %rdx, %rsi        /* the bytes in front of them, if any */
    jle L(aad_has_lanes)
    orq $1 << has_front, 8 + tag_bytes(%rsp)
    load_whole_blocks %esi
    vmovdqu64 quad_numbers(TABLES,%rsi), AAD_IN_FRONT
    vpermq SCRATCH, AAD_IN_FRONT, AAD_IN_FRONT
L(aad_has_lanes):
    mov AAD_BYTES_32, %edx
    neg %edx
    and $15, %edx         /* the bytes that the last block lacks */
    cmp $64, AAD_BYTES
    jb L(fewer_blocks_of_aad)
    vmovdqu64 -64(AAD,AAD_BYTES), SCRATCH_2
    vmovdqu64 byte_numbers(TABLES,%rdx), SCRATCH
    vpermi2b AAD_LANES, SCRATCH_2, SCRATCH /* zeros behind the last byte */
    vshufi32x4 $0x93, SCRATCH, SCRATCH, AAD_LANES
    ret
L(fewer_blocks_of_aad):
    vmovdqu -16(AAD,AAD_BYTES), AAD_BLOCK
    vpshufb byte_numbers(TABLES,%rdx), AAD_BLOCK, AAD_BLOCK
    vpand first_bytes(TABLES,%rdx), AAD_BLOCK, AAD_BLOCK
    lea -1(AAD_BYTES), %edx
    and $-16, %edx        /* the bytes of the blocks before the last one */
    cmp $32, %edx
    ja 3f
    je 2f
    vinserti32x4 $3, -16(AAD,%rdx), AAD_LANES, AAD_LANES
    ret
2:  vinserti32x4 $2, -32(AAD,%rdx), AAD_LANES, AAD_LANES
    vinserti32x4 $3, -16(AAD,%rdx), AAD_LANES, AAD_LANES
    ret
3:  vinserti32x4 $1, (AAD), AAD_LANES, AAD_LANES
    vinserti64x4 $1, 16(AAD), AAD_LANES, AAD_LANES
    ret
L(aad_of_a_block):
    test AAD_BYTES, AAD_BYTES
    jns any_aad
/* Associated data whose hash is known, but for the last product: a state has it as one block. */
aad_of_state:
    vmovdqu (AAD), AAD_BLOCK
    btr $hashed_aad, AAD_BYTES
    ret
evc_local_end aad_of_vectors

/* Registers of the hash of associated data. */
#define AAD_PAIRS %rsi   /* KEY less so many bytes that the blocks meet their powers */
#define AAD_NEXT %rax     /* the next pair of vectors */
#define AAD_BLOCKS_END %rdx /* behind the blocks before the last one */
#define AAD_LO %zmm7
#define AAD_LO_X %xmm7
#define AAD_MI %zmm9
#define AAD_MI_X %xmm9
#define AAD_HI %zmm10
#define AAD_HI_X %xmm10
#define AAD_HI_Y %ymm10
#define LOWER_POWERS %zmm11
#define LOWER_POWERS_X %xmm11
#define UPPER_POWERS %zmm12
#define UPPER_POWERS_X %xmm12
#define LOWER_HALVES %zmm1
#define LOWER_HALVES_X %xmm1
#define LOWER_HALVES_Y %ymm1
#define UPPER_HALVES %zmm2
#define FIRST_BLOCKS %zmm14  /* of a pair of vectors */
#define FIRST_BLOCKS_X %xmm14
#define SECOND_BLOCKS %zmm29
#define SECOND_BLOCKS_X %xmm29
#define MORE_SCRATCH %zmm30
#define MORE_SCRATCH_X %xmm30

/*
 * lo, mi, hi = the parts of the products of blocks with powers of H: as many blocks as a register
 * of this width (x, y, z) has, at AAD + at. The registers are numbers of vectors; that of \block is
 * changed.
 *
 * In: AAD_PAIRS, so that H^1 of the last vector is 16 bytes before pairs_end from there, if the
 * blocks are the last ones
 */
.macro multiply_blocks width, at, is_loaded=0, lo=7, mi=9, hi=10, block=11
.if !\is_loaded
    vmovdqu64 \at(AAD), %\width\()mm\block
.endif
    vpshufb reversed(TABLES), %\width\()mm\block, %\width\()mm\block
    vpclmulqdq $0x10, pairs_end - 64 + \at(AAD_PAIRS), %\width\()mm\block, %\width\()mm\lo
    vpclmulqdq $0x10, pairs_end + \at(AAD_PAIRS), %\width\()mm\block, %\width\()mm\mi
    vpclmulqdq $0x11, pairs_end + \at(AAD_PAIRS), %\width\()mm\block, %\width\()mm\hi
    vpclmulqdq $0x11, pairs_end - 64 + \at(AAD_PAIRS), %\width\()mm\block, %\width\()mm\block
    vpxorq %\width\()mm\block, %\width\()mm\mi, %\width\()mm\mi
.endm

/*
 * One block for all associated data: the last block plus the hash of those before it. So it meets
 * the power of H of the last block, and the others meet theirs.
 *
 * In:      AAD, AAD_BYTES (other_aad: 1 to 7 or more than 16; any_aad: also 0), KEY, TABLES;
 *          other_aad: AAD_BLOCK is zeros if a state has the associated data
 * Out:     AAD_BLOCK: that block, or zeros if there are no bytes; AAD_BYTES without hashed_aad
 * Changes: rcx, rsi, vectors 2, 7, 9 to 14, 29 and 30
 */
    .text
    .p2align 3
evc_local any_aad
    clear AAD_BLOCK
    test AAD_BYTES, AAD_BYTES
    jnz other_aad
    ret
evc_local_end any_aad
evc_local other_aad
    cmp $8, AAD_BYTES
    ja L(aad_before_last)
    load_part AAD, AAD_BYTES, AAD_BLOCK, SCRATCH_X, %rsi
    ret
    /* 1 to 4 blocks before the last one: the last of them meets H^1. */
L(aad_before_last):
    cmp $80, AAD_BYTES
    ja L(aad_in_a_pair)
    lea -1(AAD_BYTES), %esi
    and $-16, %esi
    neg %rsi
    add KEY, AAD_PAIRS
    cmp $48, AAD_BYTES_32
    ja 2f
    cmp $32, AAD_BYTES_32
    ja 1f
    multiply_blocks x, 0
    jmp L(reduce_aad)
1:  multiply_blocks y, 0
    jmp L(reduce_aad)
2:  cmp $64, AAD_BYTES_32
    ja 3f
    clear %xmm11
    vinserti128 $1, (AAD), %ymm11, %ymm11
    vinserti64x4 $1, 16(AAD), %zmm11, %zmm11
    multiply_blocks z, -16, 1 /* behind an empty lane */
    jmp L(reduce_aad)
3:  multiply_blocks z, 0
L(reduce_aad):
    reduce AAD_LO, AAD_MI, AAD_HI, UPPER_HALVES, LOWER_HALVES
    cmp $32, AAD_BYTES_32
    jbe L(add_last_of_aad)
    fold AAD_HI, AAD_HI_Y, AAD_HI_X, LOWER_HALVES_Y, LOWER_HALVES_X
L(add_last_of_aad):       /* the hash is in AAD_HI_X, also of more than 80 bytes */
    vpshufb reversed(TABLES), AAD_HI_X, AAD_BLOCK
    lea -16(AAD,AAD_BYTES), AAD
    mov AAD_BYTES_32, %esi
    neg %esi
    and $15, %esi         /* the bytes that the last block lacks */
    vmovdqu (AAD), SCRATCH_X
    vpshufb byte_numbers(TABLES,%rsi), SCRATCH_X, SCRATCH_X
    vpand first_bytes(TABLES,%rsi), SCRATCH_X, SCRATCH_X
    vpxor SCRATCH_X, AAD_BLOCK, AAD_BLOCK
    ret

    /* 5 to 8 blocks before the last one are one pair of vectors with zeros in front. */
L(aad_in_a_pair):
    cmp $144, AAD_BYTES
    ja L(aad_in_pairs)
    lea -1(AAD_BYTES), %esi
    and $-16, %esi
    clear AAD_LO_X
    vmovdqu64 byte_numbers - 64(TABLES,%rsi), FIRST_BLOCKS
    vpermi2b (AAD), AAD_LO, FIRST_BLOCKS
    vmovdqu64 -64(AAD,%rsi), SCRATCH
    halves_of FIRST_BLOCKS, SCRATCH, LOWER_HALVES, UPPER_HALVES, SCRATCH
    vmovdqu64 pairs_end - 128(KEY), LOWER_POWERS
    vmovdqu64 pairs_end - 64(KEY), UPPER_POWERS
    vpclmulqdq $0x00, LOWER_POWERS, LOWER_HALVES, AAD_LO
    vpclmulqdq $0x11, LOWER_POWERS, LOWER_HALVES, SCRATCH
    vpclmulqdq $0x00, UPPER_POWERS, UPPER_HALVES, AAD_HI
    vpxorq SCRATCH, AAD_LO, AAD_LO
    vpclmulqdq $0x11, UPPER_POWERS, UPPER_HALVES, SCRATCH
    vpxorq UPPER_HALVES, LOWER_HALVES, LOWER_HALVES
    vpxorq UPPER_POWERS, LOWER_POWERS, LOWER_POWERS
    vpxorq SCRATCH, AAD_HI, AAD_HI
    vpclmulqdq $0x00, LOWER_POWERS, LOWER_HALVES, AAD_MI
    vpclmulqdq $0x11, LOWER_POWERS, LOWER_HALVES, SCRATCH
    vpternlogq $0x96, AAD_LO, AAD_HI, AAD_MI
    vpxorq SCRATCH, AAD_MI, AAD_MI
    jmp L(reduce_aad)

    /* More blocks are batches of 8 pairs of vectors with one reduction each. The first batch has
     * the pairs that are left over, and zeros in front of its blocks. */
L(aad_in_pairs):
    test AAD_BYTES, AAD_BYTES
    js aad_of_state
    evc_save %rdx
    evc_save %rax
    lea -1(AAD_BYTES), %rax
    and $-16, %rax        /* the bytes of the blocks before the last one */
    lea (AAD,%rax), AAD_BLOCKS_END
    lea 127(%rax), %rsi
    neg %rax
    and $127, %eax
    neg %rax              /* minus the number of zeros: 0 to 112 */
    sub $128, %rsi
    and $896, %esi        /* the bytes of the first batch's pairs, but for the first pair */
    neg %rsi
    lea -128(KEY,%rsi), AAD_PAIRS
    clear AAD_LO_X, AAD_MI_X, AAD_HI_X
    cmp $-64, %rax
    jle 1f
    vmovdqu64 byte_numbers + 64(TABLES,%rax), FIRST_BLOCKS
    vpermi2b (AAD), AAD_LO, FIRST_BLOCKS
    vmovdqu64 64(AAD,%rax), SECOND_BLOCKS
    jmp 2f
1:  clear FIRST_BLOCKS_X
    vmovdqu64 byte_numbers + 128(TABLES,%rax), SECOND_BLOCKS
    vpermi2b (AAD), AAD_LO, SECOND_BLOCKS
2:  lea 128(AAD,%rax), AAD_NEXT
L(pair_of_aad):
    halves_of FIRST_BLOCKS, SECOND_BLOCKS, LOWER_HALVES, UPPER_HALVES, SCRATCH
    vmovdqu64 pairs_end(AAD_PAIRS), LOWER_POWERS
    vmovdqu64 pairs_end + 64(AAD_PAIRS), UPPER_POWERS
    add_part_products LOWER_HALVES, LOWER_POWERS, AAD_LO, SCRATCH, MORE_SCRATCH
    add_part_products UPPER_HALVES, UPPER_POWERS, AAD_HI, SCRATCH, MORE_SCRATCH
    vpxorq UPPER_HALVES, LOWER_HALVES, LOWER_HALVES
    vpxorq UPPER_POWERS, LOWER_POWERS, LOWER_POWERS
    add_part_products LOWER_HALVES, LOWER_POWERS, AAD_MI, SCRATCH, MORE_SCRATCH
    sub $-128, AAD_PAIRS
    cmp KEY, AAD_PAIRS
    je L(end_of_batch)
    vmovdqu64 (AAD_NEXT), FIRST_BLOCKS
    vmovdqu64 64(AAD_NEXT), SECOND_BLOCKS
    sub $-128, AAD_NEXT
    jmp L(pair_of_aad)
L(end_of_batch):
    vpternlogq $0x96, AAD_LO, AAD_HI, AAD_MI
    reduce AAD_LO, AAD_MI, AAD_HI, UPPER_HALVES, LOWER_HALVES
    fold AAD_HI, AAD_HI_Y, AAD_HI_X, LOWER_HALVES_Y, LOWER_HALVES_X
    cmp AAD_BLOCKS_END, AAD_NEXT
    je L(end_of_pairs)
    vpshufb reversed(TABLES), AAD_HI_X, FIRST_BLOCKS_X
    vpxorq (AAD_NEXT), FIRST_BLOCKS, FIRST_BLOCKS
    vmovdqu64 64(AAD_NEXT), SECOND_BLOCKS
    sub $-128, AAD_NEXT
    lea -1024(KEY), AAD_PAIRS
    clear AAD_LO_X, AAD_MI_X, AAD_HI_X
    jmp L(pair_of_aad)
L(end_of_pairs):
    clear_upper SECOND_BLOCKS_X, MORE_SCRATCH_X
    evc_restore %rax
    evc_restore %rdx
    jmp L(add_last_of_aad)
evc_local_end other_aad

/* See x86_vaes512_short_asm.h. Changes rcx, rsi, vectors 1, 2, 7, 9 to 14, 29 and 30. */
    .p2align 3
evc_local aad_as_a_block
    call other_aad
    vpshufb reversed(TABLES), AAD_BLOCK, AAD_BLOCK
    ret
evc_local_end aad_as_a_block

/* ---- 4. Vectors of a group ---- */

/* For n vectors of a group from the i-th on: `\what i, LONG_STATE<i>, HASHED<i>`. */
.macro each_of_group first, n, what:vararg
    .irp state, 20, 21, 22, 23, 24, 25, 26, 27
    .if \state >= 20 + \first && \state < 20 + \first + \n
    .irp hashed, 4, 5, 6, 7, 8, 9, 10, 11
    .if \hashed == \state - 16
    \what (\state-20), %zmm\state, %zmm\hashed
    .endif
    .endr
    .endif
    .endr
.endm

/* The next counters, whitened. */
.macro next_counters i, s, hashed
    vpshufb NUMBER_PLACES, NUMBERS, \s
    vpaddd lanes(TABLES){1to16}, NUMBERS, NUMBERS
    vpxorq WHITE_IV, \s, \s
.endm
/* The same of the first vectors of a message, whose counters are in the table. rdx:
 * TABLES less the bytes of lanes left over; at: place of the first of these vectors. */
.macro first_counters first, n, at
    each_of_group \first, \n, first_counters_of \first, \at,
.endm
.macro first_counters_of first, at, i, s, hashed
    vpxorq \at + 64*(\i - \first)(%rdx), WHITE_IV, \s
.endm
/* A round with \key. */
.macro round_of_state key, i, s, hashed
    vaesenc \key, \s, \s
.endm
/* Round r of the last n vectors of a group. */
.macro long_round r, n
    vbroadcasti32x4 round_keys + 16*\r(KEY), LONG_ROUND_KEY
    each_of_group (8-\n), \n, round_of_state LONG_ROUND_KEY,
.endm
/*
 * All rounds but the last of n vectors of a group from the i-th on, in a loop: with so many vectors
 * it costs no time.
 *
 * Out:     LAST_ROUND
 * Changes: rsi, LONG_ROUND_KEY, NEXT_LONG_ROUND_KEY
 */
.macro rounds_of_vectors first, n
    vbroadcasti32x4 round_keys + 16(KEY), LONG_ROUND_KEY
    mov rounds(KEY), %edx
    mov $32, %esi
    shl $4, %edx
    each_of_group \first, \n, round_of_state LONG_ROUND_KEY,
L(two_rounds_\@):
    vbroadcasti32x4 round_keys(KEY,%rsi), LONG_ROUND_KEY
    vbroadcasti32x4 round_keys + 16(KEY,%rsi), NEXT_LONG_ROUND_KEY
    add $32, %esi
    each_of_group \first, \n, round_of_state LONG_ROUND_KEY,
    each_of_group \first, \n, round_of_state NEXT_LONG_ROUND_KEY,
    cmp %edx, %esi
    jb L(two_rounds_\@)
.endm
/* rounds_of_<first>_to_<last>: functions that do this, of vectors whose counters are there. */
.macro rounds_function first, last
    .p2align 4
evc_local rounds_of_\first\()_to_\last
    rounds_of_vectors \first, (\last-\first+1)
    ret
evc_local_end rounds_of_\first\()_to_\last
.endm
    rounds_function 0, 3
    rounds_function 4, 7
    .p2align 4
evc_local group_of_counters /* rounds_of_0_to_7 of the next counters */
    each_of_group 0, 8, next_counters
rounds_of_0_to_7:
    rounds_of_vectors 0, 8
    ret
evc_local_end group_of_counters
    rounds_function 1, 5
    rounds_function 1, 7

/* Text of n vectors of a group from the i-th on: vector i is at \at + 64 i bytes from \from. What
 * is hashed is chosen by a branch on \is_sealed, a register, so that what is opened does not wait
 * for AES. In: OUT_LESS_IN, LONG_LAST_KEY. Changes zmm13. */
.macro texts_of_vectors first, n, is_sealed, at, from
    each_of_group \first, \n, text_of_vector \at, \from,
    test \is_sealed, \is_sealed
    jz L(hashed_\@)
    each_of_group \first, \n, take_ciphertext
L(hashed_\@):
.endm
/* The last round of one vector, its text and output. */
.macro text_of_vector at, from, i, s, hashed
    vmovdqu64 (\at + 64*\i)(\from), \hashed
    vpxorq \hashed, LONG_LAST_KEY, SCRATCH
    vaesenclast SCRATCH, \s, \s
    vmovdqu64 \s, (\at + 64*\i)(\from,OUT_LESS_IN)
.endm

/* ---- 5. The hash of pairs ---- */

/* A pair of vectors and a pair of powers, which are at \powers from \base, and the three parts of
 * their products. */
.macro operands_of_pair a, b, powers, base
    halves_of \a, \b, HALVES_LO, HALVES_HI, POWERS_LO
    vmovdqu64 \powers(\base), POWERS_LO
    vmovdqu64 \powers + 64(\base), POWERS_HI
.endm
/* The sums of products += one part of the products of these operands, or all of a pair. Changes
 * zmm18 and zmm31. */
.macro add_lo
    add_part_products HALVES_LO, POWERS_LO, SUM_OF_LO, %zmm31, %zmm18
.endm
.macro add_hi
    add_part_products HALVES_HI, POWERS_HI, SUM_OF_HI, %zmm31, %zmm18
.endm
.macro add_mi
    vpxorq HALVES_HI, HALVES_LO, HALVES_LO
    vpxorq POWERS_HI, POWERS_LO, POWERS_LO
    add_part_products HALVES_LO, POWERS_LO, SUM_OF_MI, %zmm31, %zmm18
.endm
.macro add_pair a, b, powers, base
    operands_of_pair \a, \b, \powers, \base
    add_lo
    add_hi
    add_mi
.endm
.macro no_sums
    clear_upper %xmm28, %xmm29, %xmm30
.endm

/*
 * hash_of_0_1, hash_of_2_3, hash_of_4_5: the sums += the products of two vectors, HASHED<i> and
 * HASHED<i + 1>.
 *
 * In:      PAIR_POWERS, TABLES
 * Changes: zmm12 to zmm15, zmm18, zmm31
 */
    .p2align 3
evc_local hash_of_0_1
    add_pair HASHED0, HASHED1, pairs_end, PAIR_POWERS
    ret
evc_local_end hash_of_0_1
/* The same of the first pair of a message. If its first vector is empty, the other one has four
 * products: fewer than by Karatsuba's method, and lo + hi are added since mi lacks them. */
    .p2align 3
evc_local hash_of_first_pair
    kortestw FIRST_IS_EMPTY, FIRST_IS_EMPTY
    jz hash_of_0_1
    vpshufb reversed(TABLES), HASHED1, %zmm12
    vpclmulqdq $0x10, pairs_end(PAIR_POWERS), %zmm12, %zmm14
    vpclmulqdq $0x11, pairs_end + 64(PAIR_POWERS), %zmm12, %zmm15
    vpclmulqdq $0x11, pairs_end(PAIR_POWERS), %zmm12, %zmm31
    vpclmulqdq $0x10, pairs_end + 64(PAIR_POWERS), %zmm12, %zmm12
    vpternlogq $0x96, %zmm12, %zmm31, SUM_OF_MI
    vpternlogq $0x96, %zmm14, %zmm15, SUM_OF_MI
    vpxorq %zmm14, SUM_OF_LO, SUM_OF_LO
    vpxorq %zmm15, SUM_OF_HI, SUM_OF_HI
    ret
evc_local_end hash_of_first_pair
    .p2align 3
evc_local hash_of_2_3
    add_pair HASHED2, HASHED3, pairs_end, PAIR_POWERS
    ret
evc_local_end hash_of_2_3
    .p2align 3
evc_local hash_of_4_5
    add_pair HASHED4, HASHED5, pairs_end, PAIR_POWERS
    ret
evc_local_end hash_of_4_5

/* ---- 6. The first pair of vectors, and the text of a group ---- */

/*
 * The text of the first vector with lanes.
 *
 * In:      LONG_STATE0; rsi: text begins so many bytes from its start (16, 32, 48, 64: not at all);
 *          AAD_LANES, IN, OUT_LESS_IN, LONG_LAST_KEY, SEALS
 * Out:     HASHED0; LONG_TAG_MASK
 * Changes: rdx, FIRST_MASK, zmm12, zmm13
 */
    .p2align 3
evc_local first_text
    mov TABLES, %rdx
    sub %rsi, %rdx
    vmovdqu64 aad_quads + 64(%rdx), HASHED0
    vpermi2q (IN), AAD_LANES, HASHED0
    kmovq text_masks + 64(%rdx), FIRST_MASK
    vpxorq HASHED0, LONG_LAST_KEY, SCRATCH
    vaesenclast SCRATCH, LONG_STATE0, LONG_STATE0
    vmovdqu64 byte_numbers - 16(TABLES,%rsi), %zmm12
    vpermb LONG_STATE0, %zmm12, %zmm12 /* the lane of J_0: the tag mask plus AAD_BLOCK */
    vpxor %xmm12, AAD_BLOCK, LONG_TAG_MASK
    kortestw SEALS, SEALS
    jz L(first_is_hashed)
    vmovdqu8 LONG_STATE0, HASHED0{FIRST_MASK}
L(first_is_hashed):
    lea (IN,OUT_LESS_IN), %rdx
    sub %rsi, %rdx
    cmp $48, %esi
    ja L(first_is_stored)
    vextracti32x4 $3, LONG_STATE0, 48(%rdx)
    je L(first_is_stored)
    vextracti32x4 $2, LONG_STATE0, 32(%rdx)
    cmp $16, %esi
    ja L(first_is_stored)
    vextracti32x4 $1, LONG_STATE0, 16(%rdx)
L(first_is_stored):
    ret
evc_local_end first_text

/*
 * The text of the first pair of vectors.
 *
 * In:      LONG_STATE0, LONG_STATE1; GROUP, IN, PADDED, OUT_LESS_IN; AAD_LANES, AAD_IN_FRONT,
 *          LONG_LAST_KEY, SEALS; the arguments 8 bytes deeper on the stack
 * Out:     HASHED0, HASHED1; FIRST_IS_EMPTY, if it was 0; LONG_TAG_MASK
 * Changes: rdx, rsi, bit has_front, FIRST_MASK, zmm12, zmm13
 */
    .p2align 3
evc_local first_pair
    mov IN, %rsi
    sub GROUP, %rsi
    cmp $64, %esi
    ja L(text_in_second_vector)
    call first_text
    mov PADDED, %rsi
    kmovd SEALS, IS_SEALED
    texts_of_vectors 1, 1, IS_SEALED, 0, GROUP
    mov %rsi, PADDED
    ret
L(text_in_second_vector):
    sub $64, %esi
    vmovdqa64 LONG_STATE1, LONG_STATE0
    call first_text
    vmovdqa64 HASHED0, HASHED1
    vmovdqa64 AAD_IN_FRONT, HASHED0
    testb $1 << (has_front - 24), 8 + tag_bytes + 3(%rsp)
    jnz L(first_has_aad)
    kxnorw FIRST_IS_EMPTY, FIRST_IS_EMPTY, FIRST_IS_EMPTY
    ret
L(first_has_aad):
    andq $~(1 << has_front), 8 + tag_bytes(%rsp)
    ret
evc_local_end first_pair

/* A group's text: LONG_STATE0 to LONG_STATE7, HASHED0 to HASHED7, at GROUP. Changes edx, zmm13. */
    .p2align 4
evc_local group_text
    kmovd SEALS, IS_SEALED_TOO
    texts_of_vectors 0, 4, IS_SEALED_TOO, 0, GROUP
    texts_of_vectors 4, 4, IS_SEALED_TOO, 0, GROUP
    ret
evc_local_end group_text

/* ---- 7. AES of a group, and the hash of the group before it ---- */

/* One of twelve steps that add the products of a group. The first pair comes last, for the hash so
 * far, which is in it, comes late. */
.macro hash_step i
.if \i == 0
    operands_of_pair HASHED2, HASHED3, (pairs_end+128), GROUP_POWERS
.elseif \i == 3
    operands_of_pair HASHED4, HASHED5, (pairs_end+256), GROUP_POWERS
.elseif \i == 6
    operands_of_pair HASHED6, HASHED7, (pairs_end+384), GROUP_POWERS
.elseif \i == 9
    operands_of_pair HASHED0, HASHED1, pairs_end, GROUP_POWERS
.endif
.if \i % 3 == 0
    add_lo
.elseif \i % 3 == 1
    add_hi
.else
    add_mi
.endif
.endm
/* All rounds but the first and the last of n vectors, and these steps. A step goes with a round, as
 * far as there are some: so the multiplier is at work while AES is. */
.macro rounds_and_hash n
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    long_round (\i+2), \n
    hash_step \i
    .endr
    mov rounds(KEY), %edx
    cmp $12, %edx
    jb L(steps_of_aes_128_\@)
    long_round 10, \n
    hash_step 8
    long_round 11, \n
    hash_step 9
    je L(steps_of_aes_192_\@)
    long_round 12, \n
    hash_step 10
    long_round 13, \n
    hash_step 11
    jmp L(steps_done_\@)
L(steps_of_aes_128_\@):
    hash_step 8
    hash_step 9
L(steps_of_aes_192_\@):
    hash_step 10
    hash_step 11
L(steps_done_\@):
.endm
/*
 * tail_of_<n>: the next counters in the last n vectors of a group through all rounds but the last,
 * while HASHED0 to HASHED7, the group before them, are hashed.
 *
 * In:      GROUP_POWERS, KEY, TABLES, NUMBERS, NUMBER_PLACES, WHITE_IV
 * Out:     the states, the sums of products, NUMBERS
 * Changes: edx, zmm3, zmm12 to zmm15, zmm18, zmm31
 *
 * rounds_and_hash_of_8: the same of 8 vectors behind the first round, by a call.
 */
.macro tail_function n
    .p2align 4
evc_local tail_of_\n
    each_of_group (8-\n), \n, next_counters
    long_round 1, \n
.if \n == 8
rounds_and_hash_of_8:
.endif
    rounds_and_hash \n
    ret
evc_local_end tail_of_\n
.endm
    tail_function 2
    tail_function 4
    tail_function 6
    tail_function 8

/* HASH_X = the hash of all products so far, as it is in memory. Changes the sums, zmm13. */
    .p2align 3
evc_local hash_of_products
    vpternlogq $0x96, SUM_OF_LO, SUM_OF_HI, SUM_OF_MI
    reduce SUM_OF_LO, SUM_OF_MI, SUM_OF_HI, %zmm12, %zmm13
    vmovdqa64 SUM_OF_HI, HASH
    fold HASH, HASH_Y, HASH_X, %ymm13, %xmm13
    vpshufb reversed(TABLES), HASH_X, HASH_X
    ret
evc_local_end hash_of_products

/* Text of 4 vectors from the i-th on, and then the next counters in their places through the first
 * round, whose key is in LONG_ROUND_KEY. */
.macro texts_and_counters first
    texts_of_vectors \first, 4, IS_SEALED_TOO, 0, GROUP
    each_of_group \first, 4, next_counters_and_round
.endm
.macro next_counters_and_round i, s, hashed
    next_counters \i, \s, \hashed
    vaesenc LONG_ROUND_KEY, \s, \s
.endm
/* One reduction for two groups in a row, behind the second one: GROUPS is odd then. */
.macro reduce_second n_groups
    test $1, \n_groups
    jz L(not_reduced_\@)
    call hash_of_products
    vpxorq HASH, HASHED0, HASHED0
    no_sums
L(not_reduced_\@):
.endm
/*
 * Encrypts groups, and hashes all but the last one. Of two in a row the first meets the higher
 * powers, and both have one reduction.
 *
 * In:      GROUPS from GROUP on, at least one; HASHED0 to HASHED7: the first of them, which has
 *          been encrypted; SEALS, and all that tail_of_8 and group_text have
 * Out:     HASHED0 to HASHED7: the last group, with the hash of those before it in HASHED0, or with
 *          their products in the sums; GROUP is behind that group
 * Changes: rax, rdx, rsi, and what tail_of_8, group_text and hash_of_products change
 */
    .p2align 5
evc_local groups
    add $512, GROUP
    dec GROUPS
    jz L(groups_done)
    each_of_group 0, 8, next_counters
    long_round 1, 8
L(next_group):
    lea -1024(KEY), GROUP_POWERS
    lea -512(KEY), %rdx
    test $1, GROUPS_8
    cmovnz %rdx, GROUP_POWERS
    call rounds_and_hash_of_8
    cmp $1, GROUPS
    je L(last_group)
    vbroadcasti32x4 round_keys + 16(KEY), LONG_ROUND_KEY
    kmovd SEALS, IS_SEALED_TOO
    texts_and_counters 0
    texts_and_counters 4
    reduce_second GROUPS_8
    add $512, GROUP
    dec GROUPS
    jmp L(next_group)
L(last_group):
    call group_text
    reduce_second GROUPS_8
    add $512, GROUP
L(groups_done):
    ret
evc_local_end groups

/*
 * The products of a pair of vectors in front of all others: its last blocks are the first ones of
 * the associated data, those that find no lane.
 *
 * In:      rdx: their bytes (16 to 128); AAD, AAD_BYTES, PADDED, KEY, TABLES, the sums
 * Out:     the sums of products; AAD, AAD_BYTES: what is left
 * Changes: rdx, zmm4, zmm5, and what hash_of_0_1 changes
 */
    .p2align 3
evc_local pair_in_front
    clear HASHED0_X
    cmp $64, %edx
    ja L(two_vectors_in_front)
    load_whole_blocks %edx
    vmovdqu64 quad_numbers(TABLES,%rdx), HASHED1
    vpermq SCRATCH, HASHED1, HASHED1
    jmp L(front_loaded)
L(two_vectors_in_front):
    vmovdqu64 byte_numbers - 64(TABLES,%rdx), %zmm12
    vmovdqu64 -64(AAD,%rdx), HASHED1
    vpermi2b (AAD), HASHED0, %zmm12
    vmovdqa64 %zmm12, HASHED0
L(front_loaded):
    add %rdx, AAD
    sub %rdx, AAD_BYTES
    lea 32 + 127 + 128(PADDED), %edx
    and $-128, %edx       /* the bytes of all vectors, and of this pair */
    neg %rdx
    add KEY, PAIR_POWERS
    jmp hash_of_0_1
evc_local_end pair_in_front

/* ---- 8. A long message ---- */

/*
 * A whole message, by a jump from the entry.
 *
 * In:      KEY, IV_BLOCK, AAD, AAD_BYTES, IN, LEN, TABLES; out, len_bytes, tag and tag_bytes on the
 *          stack, with the bit `opens`
 * Out:     the text, the tag; eax: the result of the call. All vectors are cleared but
 *          NUMBER_PLACES, which has a constant
 *
 * Its parts: the first vectors through AES; lengths and associated data; the first pair's text;
 * then, by the number of vectors, the rest of the first group and more groups; AES of the tail
 * while the last group is hashed; the text of the tail, its hash, the tag.
 */
    .p2align 4
evc_local long_message
    kxorw FIRST_IS_EMPTY, FIRST_IS_EMPTY, FIRST_IS_EMPTY
    kxnorw SEALS, SEALS, SEALS
    testb $1 << (opens - 24), tag_bytes + 3(%rsp)
    jz 1f
    kxorw SEALS, SEALS, SEALS
1:
    /* With many keys, the next one is in memory. All its powers are needed soon, so their
     * lines are fetched at once. */
    cmp $1024, LEN
    jbe 1f
    .set at, pairs_end - 1024
    .rept 1024/64
    prefetcht0 at(KEY)
    .set at, at + 64
    .endr
1:
    vpxor round_keys(KEY), IV_BLOCK, IV_BLOCK
    vshufi32x4 $0, WHITE_IV, WHITE_IV, WHITE_IV
    lea 15(LEN), PADDED
    and $-16, PADDED
    mov PADDED_32, %esi
    neg %esi
    sub $32, %esi
    and $127, %esi        /* the bytes of lanes left over */
    mov TABLES, %rdx
    sub %rsi, %rdx        /* their counters are in the table, from here on */
    first_counters 0, 8, counter_1
    cmp $512 - 32, PADDED
    ja L(more_than_512)
    call rounds_of_0_to_3

    /* Lengths and associated data. */
L(first_rounds_done):
    vbroadcasti32x4 round_keys(KEY,LAST_ROUND), LONG_LAST_KEY
    lengths_in_bits AAD_BYTES, LEN
    vpshufb words_reversed(TABLES), LENGTHS_X, LENGTHS_X
    vshufi32x4 $0x15, LENGTHS, LENGTHS, LAST_HASHED
    no_sums
L(rest_of_aad):
    clear_upper %xmm18 /* AAD_IN_FRONT */
    load_block_of_aad long
    jmp L(begin_text)
L(any_aad_long):
    lea 32(PADDED), %esi
    neg %esi
    and $112, %esi
    add $16, %esi         /* the bytes of lanes in front of the text */
    cmp %rsi, AAD_BYTES
    ja L(aad_without_lanes)
    clear AAD_BLOCK
    test AAD_BYTES, AAD_BYTES
    jz L(begin_text)
    call aad_of_vectors
    jmp L(begin_text)
L(aad_without_lanes):
    lea 15(AAD_BYTES), %rdx
    and $-16, %rdx
    sub %rsi, %rdx        /* the bytes that find no lane */
    cmp $128, %rdx
    ja L(hash_aad)
    cmp $1024 - 128 - 32, PADDED
    ja L(hash_aad)
    call pair_in_front
    jmp L(rest_of_aad)
L(hash_aad):
    vmovdqa64 LAST_HASHED, %zmm3
    call any_aad
    vmovdqa64 %zmm3, LAST_HASHED
    jmp L(begin_text)

L(more_than_512):
    cmp $640 - 32, PADDED
    ja L(first_group)
    cmp $64, %esi
    jb L(first_group)
    call rounds_of_1_to_5
    jmp L(first_rounds_done)
L(first_group):
    vbroadcasti32x4 words_of_counters(TABLES), NUMBER_PLACES
    shr $4, %esi
    neg %esi
    add $33, %esi         /* the number of the first lane behind 8 vectors; J_0 has 1 */
    vpbroadcastd %esi, NUMBERS
    vpaddd lane_numbers(TABLES), NUMBERS, NUMBERS
    cmp $29, %esi         /* text begins in the second vector */
    jbe 1f
    call rounds_of_0_to_7
    jmp L(first_rounds_done)
1:  call rounds_of_1_to_7
    jmp L(first_rounds_done)

    /* Text. */
L(begin_text):
    mov out(%rsp), OUT
    sub IN, OUT_LESS_IN
    lea 32 + 127(PADDED), %rdx
    and $-128, %rdx       /* the bytes of all vectors */
    lea 16(IN,PADDED), GROUP
    sub %rdx, GROUP
    mov %rdx, VECTORS_BYTES
    call first_pair
    add PADDED, TEXT_END
    cmp $512, VECTORS_BYTES
    ja L(more_vectors)
    call rounds_of_4_to_7
    mov KEY, PAIR_POWERS
    sub VECTORS_BYTES, PAIR_POWERS
    call hash_of_first_pair
    lea -128(VECTORS_BYTES), %edx
    jmp L(last_vectors)

L(more_vectors):
    mov TEXT_END, %rsi
    sub PADDED, %rsi
    sub GROUP, %rsi       /* where the text begins */
    kmovd SEALS, IS_SEALED
    texts_of_vectors 2, 4, IS_SEALED, 0, GROUP
    cmp $64, %esi
    jbe L(rest_of_first_group)
    cmp $640, VECTORS_BYTES
    jne L(rest_of_first_group)
    mov TABLES, %rdx
    sub %rsi, %rdx
    first_counters 4, 4, counters+6*64 /* those behind the first six vectors */
    test IS_SEALED, IS_SEALED /* what is opened is hashed first: it does not wait for AES */
    jz 1f
    call rounds_of_4_to_7
1:  mov KEY, PAIR_POWERS
    sub VECTORS_BYTES, PAIR_POWERS
    call hash_of_first_pair
    sub $-128, PAIR_POWERS
    call hash_of_2_3
    sub $-128, PAIR_POWERS
    call hash_of_4_5
    test IS_SEALED, IS_SEALED
    jnz 2f
    call rounds_of_4_to_7
2:  mov $256, %edx
    jmp L(last_vectors)

L(rest_of_first_group):
    texts_of_vectors 6, 2, IS_SEALED, 0, GROUP
    lea -128(VECTORS_BYTES), GROUPS
    shr $9, GROUPS
    call groups

    /* The counters of the tail, and the hash of the group before it. */
    lea 16(TEXT_END), VECTORS_BYTES
    sub GROUP, VECTORS_BYTES
    lea -512(KEY), GROUP_POWERS
    sub VECTORS_BYTES, GROUP_POWERS
    cmp $256, VECTORS_BYTES_32
    ja 2f
    je 1f
    call tail_of_2
    jmp L(tail_is_ready)
1:  call tail_of_4
    jmp L(tail_is_ready)
2:  cmp $384, VECTORS_BYTES_32
    ja 3f
    call tail_of_6
    jmp L(tail_is_ready)
3:  call tail_of_8
L(tail_is_ready):
    mov VECTORS_BYTES_32, %edx

    /* edx: the bytes of the last vectors, those that are left. The very last one is read before
     * others are written to. */
L(last_vectors):
    mov len_bytes(%rsp), LACKING_32
    neg LACKING_32
    and $15, LACKING_32
    kmovq last_text_masks(TABLES,LACKING,8), LAST_MASK
    kmovd SEALS, IS_SEALED
    mov TEXT_END, %rcx
    sub LACKING, %rcx     /* the end of the text */
    vmovdqu64 byte_numbers + 16(TABLES,LACKING), %zmm12
    vpermb -64(%rcx), %zmm12, %zmm12
    vmovdqu8 %zmm12, LAST_HASHED{LAST_MASK}
    vpxorq %zmm12, LONG_LAST_KEY, SCRATCH
    vaesenclast SCRATCH, LONG_STATE7, LONG_STATE7
    test IS_SEALED, IS_SEALED
    jz 1f
    vmovdqu8 LONG_STATE7, LAST_HASHED{LAST_MASK}
1:  cmp $256, %edx
    jb L(last_two)
    je L(last_four)
    cmp $384, %edx
    je L(last_six)
    texts_of_vectors 0, 2, IS_SEALED, 16-512, TEXT_END
    lea -512(KEY), PAIR_POWERS
    call hash_of_0_1
L(last_six):
    texts_of_vectors 2, 2, IS_SEALED, 16-512, TEXT_END
    lea -384(KEY), PAIR_POWERS
    call hash_of_2_3
L(last_four):
    texts_of_vectors 4, 2, IS_SEALED, 16-512, TEXT_END
    lea -256(KEY), PAIR_POWERS
    call hash_of_4_5
L(last_two):
    texts_of_vectors 6, 1, IS_SEALED, 16-512, TEXT_END
    mov TABLES, %rdx
    sub LACKING, %rdx
    vmovdqu64 byte_numbers + 48(%rdx), %zmm12
    vpermi2b LONG_STATE7, LONG_STATE6, %zmm12
    vmovdqu64 %zmm12, -64(%rcx,OUT_LESS_IN)
    add_pair HASHED6, LAST_HASHED, (pairs_end-128), KEY
    call hash_of_products
    vpxor LONG_TAG_MASK, HASH_X, COMPUTED_TAG
    mov tag(%rsp), %rcx
    mov tag_bytes(%rsp), %rdx
    test IS_SEALED, IS_SEALED
    jz 1f
    xor %eax, %eax
    call store_tag
    jmp 2f
1:  btr $opens, %rdx
    call compare_tag
2:
clear_and_return:
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    clear %xmm\i
    .endr
    .irp i, 16, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    clear_upper %xmm\i
    .endr
    vzeroupper
    ret
evc_local_end long_message

#endif

/* SPDX-License-Identifier: MIT */
/*
 * GCM (SP 800-38D) of messages of at most 512 bytes of text, with VAES and VPCLMULQDQ on vectors of
 * 512 bits and a row of powers of H. The assembly of x86_vaes512 and of x86_vaes512_intel includes
 * this file, and has the longer messages.
 *
 * HOW TO READ THIS FILE
 *
 * The file goes from parts to entries:
 *
 *   1  names of registers, tables
 *   2  the hash: products, reduction
 *   3  associated data and lengths
 *   4  the end of a message: tag, clearing
 *   5  messages of 257 to 512 bytes of text
 *   6  short messages
 *   7  the way of a message by its length
 *
 * To follow a message, begin at section 7. A message of 40 bytes (3 blocks, one vector with a free
 * lane) is sealed by these functions and macros:
 *
 *   evc_gcm_seal                      gcm.c: checks arguments, calls `seal` of the kernel
 *   evc_gcm_<kernel>_seal             an entry in the including file: message_by_length, section 7,
 *                                     which loads the IV and chooses the code by the length
 *   message 1, in_lane, seal          section 6: calls the next two, and jumps to the third
 *   aes_of_1_j0_in_lane               section 6: all rounds but the last, of 3 counters and of J_0
 *   aad_and_lengths                   section 3: products of associated data and of the lengths
 *   last_alone_j0_in_lane_seal        section 6: the last round adds the text; products of the text
 *   seal_end                          section 4: reduction, tag, clearing
 *
 * C gets here by slots of the kernel's descriptor: in_assembly.h declares the functions
 * evc_gcm_<kernel>_* and makes them its slots `seal`, `open` and so on. Some names above stand
 * nowhere in this file as a whole, because macros make them:
 *
 *   define_aes 1, in_lane                       aes_of_1_j0_in_lane
 *   define_last_vector alone, in_lane, seal     last_alone_j0_in_lane_seal
 *   define_end seal                             seal_end
 *
 * x86_gcm_asm.h has these macros: load_iv, load_part, store_part, middle_rounds, and
 * define_tag_functions, which makes store_tag and compare_tag.
 *
 * A contract stands over each function and each larger macro: In is what it reads, Out what it
 * makes, Changes what else it overwrites. KEY, IN, LEN and TABLES stay as they are unless the
 * contract names them; flags change always. Parameter `direction` of macros is seal or open.
 *
 * The including file defines before:
 *
 *   GROUPS_BY_ROW         1 if these powers hash longer messages, too, behind over_512; 0 if
 *                         other_way takes these
 *   more_tables at        further tables, which begin `at` bytes behind TABLES
 * and behind it:
 *
 *   over_512 direction    a macro, with GROUPS_BY_ROW: the labels by_fours_<direction>, of 513 to
 *                         1024 bytes, and by_groups_<direction>; goes on to the text of the tail
 *   other_way direction   a macro, without: jumps away with messages that do not belong here
 *   define_long_message   for each direction, then the entries, by message_by_length
 *   hash_of_aad           a function, with GROUPS_BY_ROW: HI_X = the hash of associated data alone,
 *                         bytes reversed
 *   aad_as_a_block        a function, without: BLOCKS_X = the last block of associated data plus
 *                         the hash of those before it, bytes reversed. AAD_BYTES stays as it is
 *
 * GCM IN FEW INSTRUCTIONS
 *
 * Counter mode. Block j of the text, from 0 on, is added (xor) to E(IV || j + 2); the tag mask is
 *   E(J_0) with J_0 = IV || 1. COUNTER_BASE has in each lane the IV, zeros where the counter is,
 *   and round key 0 added to both. A constant from a table, added to it, gives counters that have
 *   round 0 of AES behind them: they are "whitened". VAESENCLAST adds its key last of all, so if
 *   its key is the sum of the last round key and the text, it gives the text encrypted or
 *   decrypted.
 * J_0 goes through AES in the last lane of the last vector, if text leaves that lane free: if the
 *   last vector has 1 to 48 bytes. Else it is a block of its own, in TAG_MASK. Parameter j0 of
 *   macros is `in_lane` or `alone`.
 * GHASH. The N blocks X_0, X_1, ... X_(N-1) are associated data, ciphertext (both filled up with
 *   zeros) and one block of lengths. The standard's Y_i = (Y_(i-1) + X_i) H, unrolled, is
 *
 *     hash = X_0 H^N + X_1 H^(N-1) + ... + X_(N-1) H         so X_i meets H^(N-i).
 *
 *   With t blocks of text, block j of the text meets H^(t+1-j), and the lengths meet H. The hash
 *   Y_i stands for all blocks up to X_i: it meets the power that block X_(i+1) meets, or is added
 *   to that block.
 * Bits. GHASH takes the first bit of a block for the coefficient of x^0. With the bytes of a block
 *   reversed, bit i of a register has the coefficient of x^(127-i). Let a' be the polynomial in z
 *   whose coefficients are the bits of the register of a, z^i for bit i: a' = z^127 a(1/z). Then
 *   VPCLMULQDQ gives a'b' = z^254 (ab)(1/z), and the product in the field is
 *
 *     (ab)' = a'b' / z^127  modulo  M = z^128 + z^127 + z^126 + z^121 + 1,
 *
 *   since GHASH's polynomial x^128 + x^7 + x^2 + x + 1, read backwards, is M. The key has each
 *   power of H times z, so that the division is by z^128, which is easier. "H^n" below means H^n z.
 * Products. With halves of 64 bits, a' = a1 z^64 + a0 and b' = b1 z^64 + b0,
 *
 *     a'b' = a0 b0 + (a0 b1 + a1 b0) z^64 + a1 b1 z^128 : four VPCLMULQDQ for four blocks.
 *
 *   LO, MI and HI are sums of these three over all blocks of a message, without reduction, lane by
 *   lane. Karatsuba's method would save one product, but brings halves together by shuffles, and
 *   the port of Intel's cores that makes products makes shuffles, too. On AMD's cores it would
 *   save time in long texts alone: here, what counts is how many instructions a message has, since
 *   messages overlap in a core's window of some 450.
 * Reduction. M is 1 modulo z^64. So LO + (low half of LO) M has zeros in its low half. Divided by
 *   z^64, this sum is
 *
 *     (LO with its halves exchanged) + (low half of LO) (z^63 + z^62 + z^57) :
 *
 *   one product by 0xc200000000000000. The result is added to MI, and the same step takes MI to HI:
 *   the two steps divide by z^128. Then the lanes are added.
 * Powers stand in the key as blocks in a row, from H^32 down to H^1, so that a vector loads four
 *   consecutive powers from any of them on, wherever the text ends. Lanes behind the text are zeros
 *   and meet whatever stands there. H^35, H^34 and H^33 stand behind H^1.
 * Ends of text. Vectors begin with the text, and the last one is accessed by a mask. A masked
 *   access that reaches into another page than its text does takes hundreds of cycles to repair if
 *   that page is not there. Code out of line then accesses 64 bytes that end with the text, and
 *   VPERMB moves the bytes to their place.
 * Order. AES comes first in the shortest messages, since it takes longest; then associated data and
 *   lengths are hashed, and then the text, which waits for AES if it is sealed.
 * Secrets. Branches and addresses depend on lengths and addresses alone. Text, key stream, round
 *   keys and hashes are in vectors only, never in general registers or on the stack. Each function
 *   that C calls ends with zeros in the vectors that it has used, so that no later code can store
 *   what was in them. Tags are compared without a branch.
 */
#ifndef EVC_GCM_X86_VAES512_SHORT_ASM_H
#define EVC_GCM_X86_VAES512_SHORT_ASM_H

/* ---- 1. Names ----------------------------------------------------------------------------------
 *
 * KEY, IV, AAD, AAD_BYTES, IN, OUT, LEN and TABLES are in x86_gcm_asm.h. Endings: _D and _B for 32
 * and 8 bits of a general register; _Y and _X for 256 and 128 bits of a vector, whose plain name
 * means 512. r8 is AAD_BYTES first, and OUT once associated data is hashed: AAD_BYTES_D and OUT_D
 * are one register. */
#define AAD_D %ecx
#define AAD_BYTES_D %r8d
#define IN_D %r9d
#define OUT_D %r8d
#define LEN_D %r10d
#define LEN_B %r10b

/* H(n)(KEY) is where H^n is, for n up to 32. Other bases allow for m blocks, a number that the code
 * learns as it runs: if base is KEY - 16 m, H(n)(base) is where H^(n+m) is. Comments say that a
 * block meets H(n) from that base.
 *
 * The key is struct key of x86_steps.h: round keys 0 to 14 at round_keys, 15*16 = 240 bytes; behind
 * them struct powers of ghash/x86_clmul_steps.h, with H^32 to H^1 in 32*16 bytes, and then H^35,
 * H^34 and H^33. ASSEMBLY_AGREES in the kernel's .c holds these numbers against the structs. */
#define H(n) (powers_end-16*(n))
/* The same for H^33, H^34 and H^35. */
#define H_BEHIND(n) (H(n)+wrap)
.set powers_end, round_keys + 240 + 32*16   /* the end of H^1 */
.set wrap, 35*16                            /* from where H^n would be to where it is */

/* Bases of powers. In short messages and in section 3: */
#define PADDED_LEN %rax       /* 16 t: LEN, with the last block filled up */
#define TEXT_POWERS %rsi      /* the first block of the next vector of text meets H(1) from here */
#define AAD_POWERS %rdx       /* the first block of AAD meets H(1) from here, or H(2) if alone */
/* In long messages: */
#define TAIL_POWERS %rsi      /* the first block of the last vector meets H(2) from here */
#define FOUR_POWERS %rdx      /* the first block of four vectors meets H(32) from here */
#define COUNTER_TABLE %rsi    /* TABLES, or TABLES + 64 v if counters begin v vectors later */
#define LAST_AT %rax          /* 64 times the number of a last vector, counted from there */
#define LAST_KEY_AT %rsi      /* the address of the last round key */

/* Masks of bytes in a last vector. */
#define IS_TEXT %k1           /* the bytes of text, from the first byte of the vector on */
#define IS_AT_END %k2         /* as many bytes, at the end of the vector */

/* Vectors of all messages. */
#define COUNTER_BASE %zmm0
#define COUNTER_BASE_X %xmm0
#define BLOCKS %zmm1          /* blocks to be hashed, bytes reversed */
#define BLOCKS_Y %ymm1
#define BLOCKS_X %xmm1
#define BLOCKS_2 %zmm12       /* the vector behind BLOCKS */
#define P %zmm7               /* scratch of products */
#define P_Y %ymm7
#define P_X %xmm7
#define Q %zmm2
#define Q_Y %ymm2
#define Q_X %xmm2
#define LENGTHS_X %xmm2       /* the last block to be hashed, in section 3 */
#define TAG_X %xmm5
#define TAG_MASK %zmm8        /* the same, in lane 0 */
#define TAG_MASK_X %xmm8      /* J_0, then E(J_0) */
#define LO %zmm9              /* the sums of products */
#define LO_Y %ymm9
#define LO_X %xmm9
#define HI %zmm10             /* then the hash */
#define HI_Y %ymm10
#define HI_X %xmm10
#define MI %zmm11
#define MI_Y %ymm11
#define MI_X %xmm11
#define POWERS %zmm13         /* the powers that BLOCKS meet; scratch of rarer things */
#define POWERS_Y %ymm13
#define POWERS_X %xmm13
#define POWERS_2 %zmm14       /* the powers that BLOCKS_2 meet */
#define PLACES %zmm13         /* for VPERMB */
#define ROUND_KEY %zmm13
#define ROUND_KEY_X %xmm13
#define ROUND_KEY_2 %zmm14
#define ROUND_KEY_2_X %xmm14
#define POLYNOMIAL %zmm14
#define LAST_KEY %zmm15       /* the last round key, in each lane */
#define LAST_KEY_X %xmm15
#define LOW_VECTORS 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define HIGH_VECTORS 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31

.set xor3, 0x96               /* VPTERNLOGQ: the sum of all three operands */

/* ---- Tables: their distances from TABLES ---- */

/* A block of zeros that ends with the byte n. */
.macro counter_block n
    .fill 15, 1, 0
    .byte \n
.endm

evc_constants
    .p2align 6
tables:
    .quad 0, 0                          /* unused: vectors below begin at multiples of 64 */
.set block_bytes, 16
.set bytes_from, block_bytes            /* n behind: VPSHUFB moves bytes n to 15 to the front */
    .byte 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .fill 32, 1, 128
.set reversed, 64                       /* VPSHUFB reverses the bytes of each block */
    .rept 4
    .byte 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
    .endr
.set polynomial, 128                    /* z^63 + z^62 + z^57 */
    .quad 0xc200000000000000, 0
.set first_bytes, polynomial + 16
    .fill 16, 1, 255
    .fill 16, 1, 0
.set counter_1, first_bytes + 32        /* of J_0 */
    counter_block 1
.set counters, counter_1 + 16           /* of 64 blocks of text, from the first on: 16 vectors */
.set counter_2, counters
    .set at, 2
    .rept 64
    counter_block at
    .set at, at + 1
    .endr
.set last_counters, counters + 16*64    /* of the first vectors, with J_0 in the last lane */
#if GROUPS_BY_ROW
    .irp first, 2, 6, 10, 14
#else
    .irp first, 2, 6, 10, 14, 18
#endif
    counter_block \first
    counter_block \first + 1
    counter_block \first + 2
    counter_block 1
    .endr
#if GROUPS_BY_ROW
.set end_of_counters, last_counters + 4*64
#else
.set end_of_counters, last_counters + 5*64
#endif
.set words_of_counters, end_of_counters     /* VPSHUFB: that word as big-endian, zeros before it */
    .rept 4
    .fill 12, 1, 128
    .byte 15, 14, 13, 12
    .endr
.set byte_numbers, words_of_counters + 64   /* n behind: VPERMB moves bytes n to 63 to the front */
    .set at, 0
    .rept 128
    .byte at
    .set at, at + 1
    .endr
.set lane_numbers, byte_numbers + 128       /* the lanes of a vector, in the last words of blocks */
    .long 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3
.set end_of_tables, lane_numbers + 64       /* other tables follow */
    more_tables end_of_tables

    .text

/* A function of this file. */
.macro local_function name
    .p2align 4
    evc_local \name
.endm

/* Zeros in vectors of these numbers, all below 16 or all from 16 on. */
.macro clear_low_vectors numbers:vararg
    .irp i, \numbers
    vpxor %xmm\i, %xmm\i, %xmm\i
    .endr
.endm
.macro clear_high_vectors numbers:vararg
    .irp i, \numbers
    vpxord %xmm\i, %xmm\i, %xmm\i
    .endr
.endm

/* ---- 2. The hash -------------------------------------------------------------------------------
 *
 * Apple's assemblers take $1 in a macro without arguments for its first argument. So each macro
 * with immediate values has an argument, if need be one of these values. */

/* set_products: LO, MI, HI = the products of one vector, the first of a message.
 *   In:      width: x, y or z: whether the vector has one, two or up to four blocks; the others are
 *            zeros. blocks: register of that width, bytes reversed. POWERS of that width
 *   Changes: P */
.macro set_products width, blocks
.ifc \width, z
    set_four_products \blocks, POWERS, P, MI, LO, HI
    vpxorq P, MI, MI
.else
.ifc \width, y
    set_four_products \blocks, POWERS_Y, P_Y, MI_Y, LO_Y, HI_Y
.else
    set_four_products \blocks, POWERS_X, P_X, MI_X, LO_X, HI_X
.endif
    vpxor P_Y, MI_Y, MI_Y
.endif
.endm
.macro set_four_products blocks, powers, mi_1, mi_2, lo, hi
    vpclmulqdq $0x01, \powers, \blocks, \mi_1
    vpclmulqdq $0x10, \powers, \blocks, \mi_2
    vpclmulqdq $0x00, \powers, \blocks, \lo
    vpclmulqdq $0x11, \powers, \blocks, \hi
.endm

/* no_products: LO, MI, HI = 0. */
.macro no_products
    vpxor LO_X, LO_X, LO_X
    vpxor HI_X, HI_X, HI_X
    vpxor MI_X, MI_X, MI_X
.endm

/* add_products: LO, MI, HI += the products of a vector.
 *   In:      blocks: zmm, bytes reversed; POWERS
 *   Changes: P, Q */
.macro add_products blocks
    vpclmulqdq $0x00, POWERS, \blocks, P
    vpclmulqdq $0x11, POWERS, \blocks, Q
    vpxorq P, LO, LO
    vpxorq Q, HI, HI
    vpclmulqdq $0x01, POWERS, \blocks, P
    vpclmulqdq $0x10, POWERS, \blocks, Q
    vpternlogq $xor3, P, Q, MI
.endm

/* add_products_of_two: LO, MI, HI += the products of two vectors, in fewer additions.
 *   In:      a, b: zmm, bytes reversed; POWERS for a, POWERS_2 for b
 *   Changes: P, Q */
.macro add_products_of_two a, b
    vpclmulqdq $0x00, POWERS, \a, Q
    vpclmulqdq $0x00, POWERS_2, \b, P
    vpternlogq $xor3, Q, P, LO
    vpclmulqdq $0x01, POWERS, \a, Q
    vpclmulqdq $0x10, POWERS, \a, P
    vpternlogq $xor3, Q, P, MI
    vpclmulqdq $0x01, POWERS_2, \b, Q
    vpclmulqdq $0x10, POWERS_2, \b, P
    vpternlogq $xor3, Q, P, MI
    vpclmulqdq $0x11, POWERS, \a, Q
    vpclmulqdq $0x11, POWERS_2, \b, P
    vpternlogq $xor3, Q, P, HI
.endm

/* hash_two: the same with powers that are loaded: the first block of a meets H(first) from base.
 *   Changes: P, Q, POWERS, POWERS_2 */
.macro hash_two a, b, first, base
    vmovdqu64 H(\first)(\base), POWERS
    vmovdqu64 H(\first - 4)(\base), POWERS_2
    add_products_of_two \a, \b
.endm

/* hash_one: the same of one vector.
 *   Changes: P, Q, POWERS */
.macro hash_one blocks, first, base
    vmovdqu64 H(\first)(\base), POWERS
    add_products \blocks
.endm

/* reduce_products: HI_X = the hash, bytes reversed: LO, MI, HI, reduced; the rest of HI is 0.
 *   Changes: Q, POLYNOMIAL, LO, MI */
.macro reduce_products swap_halves=0x4e
    vbroadcasti32x4 polynomial(TABLES), POLYNOMIAL
    vpclmulqdq $0x00, POLYNOMIAL, LO, Q         /* LO to MI */
    vpshufd $\swap_halves, LO, LO
    vpternlogq $xor3, LO, Q, MI
    vpclmulqdq $0x00, POLYNOMIAL, MI, Q         /* MI to HI */
    vpshufd $\swap_halves, MI, MI
    vpternlogq $xor3, MI, Q, HI
    vextracti64x4 $1, HI, Q_Y                   /* the sum of the lanes */
    vpxor Q_Y, HI_Y, HI_Y
    vextracti128 $1, HI_Y, Q_X
    vpxor Q_X, HI_X, HI_X
.endm

/* ---- 3. Associated data and lengths ---------------------------------------------------------- */

/* load_aad: the last 1 to 64 bytes of associated data, and zeros behind them.
 *   In:      AAD; AAD_BYTES, 1 to 64; page_end: a label, with load_aad_at_page_end behind it, where
 *            the code goes on if 64 bytes from AAD on would reach into the next page
 *   Out:     blocks: zmm, bytes as in memory
 *   Changes: rsi, IS_TEXT */
.macro load_aad blocks, page_end
    mov $-1, %rsi
    bzhi AAD_BYTES, %rsi, %rsi
    kmovq %rsi, IS_TEXT
    mov AAD_D, %esi
    and $4095, %esi
    cmp $4096 - 64, %esi
    ja \page_end
    vmovdqu8 (AAD), \blocks{IS_TEXT}{z}
.endm

/* load_aad_at_page_end: the same by 64 bytes that end with associated data. Those in front of it
 * are masked, too: they may be in a page that is not there.
 *   In:      AAD; AAD_BYTES; IS_TEXT; TABLES
 *   Out:     blocks
 *   Changes: rsi, AAD_BYTES, IS_AT_END, PLACES */
.macro load_aad_at_page_end blocks
    neg AAD_BYTES_D
    and $63, AAD_BYTES_D                /* the bytes that the vector lacks */
    mov $-1, %rsi
    shlx AAD_BYTES, %rsi, %rsi
    kmovq %rsi, IS_AT_END
    mov AAD, %rsi
    sub AAD_BYTES, %rsi
    vmovdqu64 byte_numbers(TABLES,AAD_BYTES), PLACES
    vmovdqu8 (%rsi), \blocks{IS_AT_END}{z}
    vpermb \blocks, PLACES, \blocks{IS_TEXT}{z}
.endm

/* load_lengths: LENGTHS_X = the block of lengths, bytes reversed: bits of text in the lower half,
 * of associated data in the upper one. The shift drops bit hashed_aad. For functions that are
 * called and have pushed nothing.
 *   In:      AAD_BYTES
 *   Changes: POWERS_X */
.macro load_lengths bits_of_byte=3
    vmovq AAD_BYTES, POWERS_X
    vmovq 8 + len_bytes(%rsp), LENGTHS_X
    vpunpcklqdq POWERS_X, LENGTHS_X, LENGTHS_X
    vpsllq $\bits_of_byte, LENGTHS_X, LENGTHS_X
.endm

/* aad_and_lengths: LO, MI, HI = the products of associated data and of the lengths.
 *   In:      KEY, TABLES; AAD, AAD_BYTES; PADDED_LEN: 16 t; len_bytes on the stack
 *   Changes: rcx, rdx, rsi, r8, IS_TEXT, IS_AT_END, vectors 1, 2, 7, 12 to 14
 * aad_and_lengths_of_long: the same in messages of 257 to 512 bytes, in which one block of
 * associated data may meet H^33 or H^34, which stand behind H^1.
 *
 * The first of a blocks of associated data meets H^(a+t+1). Up to 3 blocks are hashed beside the
 * lengths, in one vector. If there is no power so high, the hash of all blocks is made first, and
 * then hashed as one block. */
local_function aad_and_lengths_of_long
    mov KEY, AAD_POWERS
    sub PADDED_LEN, AAD_POWERS
    cmp $30*16, %eax
    jbe L(aad_by_size)
    add $wrap, AAD_POWERS
    jmp L(aad_by_size)
evc_local_end aad_and_lengths_of_long

local_function aad_and_lengths
    mov KEY, AAD_POWERS
    sub PADDED_LEN, AAD_POWERS
L(aad_by_size):
    lea -1(AAD_BYTES), %rsi
    cmp $16, %rsi
    jae L(aad_not_one_block)            /* none, more than a block, or that of a state */
    cmp $15, %rsi
    jne L(aad_part_of_block)
    vmovdqu (AAD), BLOCKS_X
L(one_block_of_aad):
    vpshufb reversed(TABLES), BLOCKS_X, BLOCKS_X
L(one_block_and_lengths):               /* BLOCKS_X meets H(2) from AAD_POWERS */
    load_lengths
    vmovdqu H(2)(AAD_POWERS), POWERS_X
    vinserti128 $1, LENGTHS_X, BLOCKS_Y, BLOCKS_Y
    vinserti128 $1, H(1)(KEY), POWERS_Y, POWERS_Y
    set_products y, BLOCKS_Y
    ret

L(aad_part_of_block):
    load_part AAD, AAD_BYTES, BLOCKS_X, POWERS_X, %rsi
    jmp L(one_block_of_aad)

L(aad_not_one_block):
    test AAD_BYTES, AAD_BYTES
    jz L(no_aad)
    jns L(blocks_of_aad)
    vmovdqu (AAD), BLOCKS_X             /* of a state */
    jmp L(one_block_of_aad)

    /* The upper half of the lengths is 0, so two products are enough: 0x00 is the lower half of the
     * lengths by the lower half of H^1, 0x10 the same half by the upper half of H^1. */
L(no_aad):
    vmovq 8 + len_bytes(%rsp), LENGTHS_X
    vmovdqu H(1)(KEY), POWERS_X
    vpsllq $3, LENGTHS_X, LENGTHS_X
    vpxor HI_X, HI_X, HI_X
    vpclmulqdq $0x00, POWERS_X, LENGTHS_X, LO_X
    vpclmulqdq $0x10, POWERS_X, LENGTHS_X, MI_X
    ret

L(blocks_of_aad):
    lea 15(AAD_BYTES), %rsi             /* 16 a */
    and $-16, %rsi
    sub %rsi, AAD_POWERS
    lea 16(PADDED_LEN,%rsi), %rsi       /* 16 (a + t + 1) */
    cmp $32*16, %rsi
    ja L(aad_beyond_powers)
    cmp $48, AAD_BYTES
    ja L(aad_over_48)

    /* 17 to 48 bytes: the lengths are in the last lane. */
    load_aad BLOCKS, L(aad_at_page_end)
L(aad_is_loaded):
    load_lengths
    vpshufb reversed(TABLES), BLOCKS, BLOCKS
    vmovdqu64 H(1)(AAD_POWERS), POWERS
    vinserti32x4 $3, LENGTHS_X, BLOCKS, BLOCKS
    vinserti32x4 $3, H(1)(KEY), POWERS, POWERS
    set_products z, BLOCKS
    ret
L(aad_at_page_end):
    push AAD_BYTES
    EVC_ASM_CFI_ADJUST(8)
    load_aad_at_page_end BLOCKS
    pop AAD_BYTES
    EVC_ASM_CFI_ADJUST(-8)
    jmp L(aad_is_loaded)

L(aad_over_48):
    load_lengths
    vmovdqu H(1)(KEY), POWERS_X
    set_products x, LENGTHS_X
    jmp products_of_aad

L(aad_beyond_powers):
#if GROUPS_BY_ROW
    push AAD_BYTES                      /* the hash meets H^(t+1): H(2) from 1 block less */
    EVC_ASM_CFI_ADJUST(8)
    call hash_of_aad
    pop AAD_BYTES
    EVC_ASM_CFI_ADJUST(-8)
    mov KEY, AAD_POWERS
    sub PADDED_LEN, AAD_POWERS
    vmovdqa HI_X, BLOCKS_X
    add $16, AAD_POWERS
    cmp $32*16, %eax
    jb L(one_block_and_lengths)
    add $wrap, AAD_POWERS
#else
    call aad_as_a_block
    mov KEY, AAD_POWERS
    sub PADDED_LEN, AAD_POWERS
    cmp $30*16, %eax
    jbe L(one_block_and_lengths)
    add $wrap, AAD_POWERS
#endif
    jmp L(one_block_and_lengths)
evc_local_end aad_and_lengths

/* products_of_aad: LO, MI, HI += the products of associated data, two vectors at once.
 *   In:      AAD; AAD_BYTES, 1 at least; AAD_POWERS: the first block meets H(1) from there; TABLES
 *   Out:     AAD: the last vector
 *   Changes: rdx, rsi, r8, IS_TEXT, IS_AT_END, vectors 1, 2, 7, 12 to 14 */
local_function products_of_aad
    cmp $128, AAD_BYTES
    ja L(two_vectors_of_aad)
L(last_vectors_of_aad):
    cmp $64, AAD_BYTES
    ja L(last_two_of_aad)
    load_aad BLOCKS, L(last_of_aad_at_page_end)
L(last_of_aad_is_loaded):
    vpshufb reversed(TABLES), BLOCKS, BLOCKS
    hash_one BLOCKS, 1, AAD_POWERS
    ret

    .p2align 4
L(two_vectors_of_aad):
    vmovdqu64 (AAD), BLOCKS
    vmovdqu64 64(AAD), BLOCKS_2
    vpshufb reversed(TABLES), BLOCKS, BLOCKS
    vpshufb reversed(TABLES), BLOCKS_2, BLOCKS_2
    hash_two BLOCKS, BLOCKS_2, 1, AAD_POWERS
    sub $-128, AAD
    sub $-128, AAD_POWERS
    add $-128, AAD_BYTES
    cmp $128, AAD_BYTES
    ja L(two_vectors_of_aad)
    jmp L(last_vectors_of_aad)

L(last_two_of_aad):
    vmovdqu64 (AAD), BLOCKS
    add $64, AAD
    sub $64, AAD_BYTES
    load_aad BLOCKS_2, L(second_of_aad_at_page_end)
L(second_of_aad_is_loaded):
    vpshufb reversed(TABLES), BLOCKS, BLOCKS
    vpshufb reversed(TABLES), BLOCKS_2, BLOCKS_2
    hash_two BLOCKS, BLOCKS_2, 1, AAD_POWERS
    ret
L(last_of_aad_at_page_end):
    load_aad_at_page_end BLOCKS
    jmp L(last_of_aad_is_loaded)
L(second_of_aad_at_page_end):
    load_aad_at_page_end BLOCKS_2
    jmp L(second_of_aad_is_loaded)
evc_local_end products_of_aad

/* ---- 4. The end of a message ----------------------------------------------------------------- */

    define_tag_functions TAG_X

/* finish_message: the tag goes to memory, or is compared with what is there; vectors become zeros;
 * returns from the message.
 *   In:      direction: seal or open; is_wide: 1 if upper halves of vectors were used; vectors: the
 *            numbers of those to clear, below 16; TAG_X; rcx: tag; rdx: tag_bytes; eax: 0
 *   Out:     eax: 0 or error_of_tag
 * Tags of other than 16 bytes, and that of open_output_tag, whose bit tells_tag is in tag_bytes, go
 * another way. */
.macro finish_message direction, is_wide, vectors:vararg
    cmp $16, %rdx
    jne L(other_tag\@)
.ifc \direction, open
    vpxor (%rcx), TAG_X, TAG_X
    mov $error_of_tag, %edx
    vptest TAG_X, TAG_X
    cmovnz %edx, %eax
.else
    vmovdqu TAG_X, (%rcx)
.endif
L(clear\@):
    clear_low_vectors \vectors
.if \is_wide
    vzeroupper
.endif
    ret

L(other_tag\@):
.ifc \direction, open
    btr $tells_tag, %rdx
    jnc L(short_tag\@)
    vmovdqu TAG_X, (%rcx)               /* of open_output_tag: always 16 bytes */
    jmp L(clear\@)
L(short_tag\@):
    call compare_tag
.else
    call store_tag
.endif
    jmp L(clear\@)
.endm

/* seal_end, open_end: messages go here with their last products. Return from the message.
 *   In:      LO, MI, HI; TAG_MASK_X: E(J_0); TABLES; tag and tag_bytes on the stack
 *   Out:     seal_end: the tag at tag; eax: 0; open_end: eax: 0 or error_of_tag
 *   Changes: rcx, rdx, rsi; vectors 0 to 15 are 0
 * The tag is the hash plus E(J_0). */
.macro define_end direction
local_function \direction\()_end
    reduce_products
    vpshufb reversed(TABLES), HI_X, TAG_X
    mov tag_bytes(%rsp), %rdx
    mov tag(%rsp), %rcx
    xor %eax, %eax
    vpxor TAG_MASK_X, TAG_X, TAG_X
    finish_message \direction, 1, LOW_VECTORS
evc_local_end \direction\()_end
.endm
    define_end open
    define_end seal

/* ---- 5. Messages of 257 to 512 bytes -----------------------------------------------------------
 *
 * Their t blocks go through AES by 4 vectors and then the last 1 to 4, or, of 8, twice 2. The
 *   products of 4 vectors stand between the rounds of the next ones. At the end of a message, so
 *   many products would wait for AES that the core could not begin the next message.
 * J_0. If the last vector has no lane for it, it goes beside the first four vectors.
 * The last vector, if it is not full, is loaded and stored by an access of 64 bytes that ends where
 *   the text ends. All bytes before it are text, too, so no page is touched that text is not in.
 *
 * With GROUPS_BY_ROW longer messages have groups of 8 vectors in front, of whose last four the
 * products are still to be made: the blocks behind groups, the tail, go the same way then.
 */

/* STREAM0 to STREAM7 are vectors of counters, then of AES, then of text that goes out. Those of a
 * group are vectors 0 to 7 of the group; four are STREAM4 to STREAM7. The last vector of all is
 * STREAM7. CIPHER0 to CIPHER7 are the ciphertext of a group with bytes reversed; that of four
 * vectors is in CIPHER0 to CIPHER3. */
#define STREAM0 %zmm16
#define STREAM1 %zmm17
#define STREAM2 %zmm18
#define STREAM3 %zmm19
#define STREAM4 %zmm20
#define STREAM5 %zmm21
#define STREAM6 %zmm22
#define STREAM7 %zmm23
#define CIPHER0 %zmm24
#define CIPHER1 %zmm25
#define CIPHER2 %zmm26
#define CIPHER3 %zmm27
#define CIPHER4 %zmm28
#define CIPHER5 %zmm29
#define CIPHER6 %zmm30
#define CIPHER7 %zmm31
#define STREAMS_0_TO_3 STREAM0, STREAM1, STREAM2, STREAM3
#define STREAMS_4_TO_7 STREAM4, STREAM5, STREAM6, STREAM7
#define ALL_STREAMS STREAMS_0_TO_3, STREAMS_4_TO_7

#define GROUP_BASE %zmm4      /* COUNTER_BASE; of group k: see there */
#define KEY_BESIDE %zmm1      /* round keys in functions that make products, too */
#define KEY_BESIDE_2 %zmm12

/* ---- Rounds of AES ---- */

/* aes_round: one round of vectors, with the key in a zmm.
 * round_of_j0: the same of TAG_MASK_X, with the key in an xmm, if j0 is `with_j0`. */
.macro aes_round key, vectors:vararg
    .irp v, \vectors
    vaesenc \key, \v, \v
    .endr
.endm
.macro round_of_j0 j0, key
.ifc \j0, with_j0
    vaesenc \key, TAG_MASK_X, TAG_MASK_X
.endif
.endm

/* all_rounds: all rounds but the last.
 *   In:      KEY; j0: `with_j0` if TAG_MASK_X takes part; vectors; last_key: `is_set` if
 *            LAST_KEY_AT is set already, else `to_find`
 *   Out:     LAST_KEY_AT
 *   Changes: rdx, ROUND_KEY, ROUND_KEY_2
 * Round 1 is alone; 4, 5 or 6 pairs of rounds follow. rdx counts from below up to 0. */
.macro all_rounds j0, last_key, vectors:vararg
.ifc \last_key, is_set
    lea round_keys + 32(KEY), %rdx
    vbroadcasti32x4 round_keys + 16(KEY), ROUND_KEY
    sub LAST_KEY_AT, %rdx
.else
    mov rounds(KEY), %esi
    mov $32, %edx
    vbroadcasti32x4 round_keys + 16(KEY), ROUND_KEY
    shl $4, %esi
    sub LAST_KEY_AT, %rdx
    lea round_keys(KEY,LAST_KEY_AT), LAST_KEY_AT
.endif
    aes_round ROUND_KEY, \vectors
    round_of_j0 \j0, ROUND_KEY_X
L(two_rounds\@):
    vbroadcasti32x4 (LAST_KEY_AT,%rdx), ROUND_KEY
    vbroadcasti32x4 16(LAST_KEY_AT,%rdx), ROUND_KEY_2
    aes_round ROUND_KEY, \vectors
    round_of_j0 \j0, ROUND_KEY_X
    aes_round ROUND_KEY_2, \vectors
    round_of_j0 \j0, ROUND_KEY_2_X
    add $32, %rdx
    jnz L(two_rounds\@)
.endm

/* two_rounds: rounds r and r + 1, between products; one_round: round r.
 *   In:      KEY; vectors
 *   Changes: KEY_BESIDE, KEY_BESIDE_2 */
.macro two_rounds r, vectors:vararg
    vbroadcasti32x4 round_keys + 16*\r(KEY), KEY_BESIDE
    vbroadcasti32x4 round_keys + 16*\r + 16(KEY), KEY_BESIDE_2
    aes_round KEY_BESIDE, \vectors
    aes_round KEY_BESIDE_2, \vectors
.endm
.macro one_round r, vectors:vararg
    vbroadcasti32x4 round_keys + 16*\r(KEY), KEY_BESIDE
    aes_round KEY_BESIDE, \vectors
.endm

/* rounds_from_10: these rounds but for the last one: none, two or four. VAESENC keeps the flags of
 * the one comparison.
 *   In:      KEY; vectors
 *   Changes: number: a register of 32 bits; KEY_BESIDE, KEY_BESIDE_2 */
.macro rounds_from_10 number, vectors:vararg
    mov rounds(KEY), \number
    cmp $12, \number
    jb L(all_done\@)
    two_rounds 10, \vectors
    je L(all_done\@)
    two_rounds 12, \vectors
L(all_done\@):
.endm

/* ---- Counters ---- */

/* counters_from: whitened counters of the first vectors behind a base.
 *   In:      base: zmm, COUNTER_BASE or GROUP_BASE; TABLES
 *   Out:     vectors */
.macro counters_from base, vectors:vararg
    .set at, counters
    .irp v, \vectors
    vpxorq at(TABLES), \base, \v
    .set at, at + 64
    .endr
.endm

/* aes_of_first_four: the same of the first four vectors of a message of at most 1024 bytes, in
 * STREAM4 to STREAM7. */
local_function aes_of_first_four
    lea -1(LEN), %edx
    counters_from COUNTER_BASE, STREAMS_4_TO_7
    not %edx
    test $48, %edx
    jz L(first_four_and_j0)
    all_rounds without_j0, to_find, STREAMS_4_TO_7
    ret
    .p2align 4
L(first_four_and_j0):
    all_rounds with_j0, to_find, STREAMS_4_TO_7
    ret
evc_local_end aes_of_first_four

/* ---- AES of 1 to 4 vectors beside the products of the four before them ---- */

/* aes_of_<n>_and_products: all rounds but the last of n vectors, 1 to 4. The last of them is
 * STREAM7. LO, MI, HI += the products of CIPHER0 to CIPHER3.
 *   In:      KEY; CIPHER0 to CIPHER3; FOUR_POWERS, and POWERS: the first four of them; GROUP_BASE;
 *            COUNTER_TABLE, LAST_AT: where the constants of STREAM7 are; STREAM7: whitened counters
 *   Out:     the n vectors; LO, MI, HI
 *   Changes: ecx, vectors 1, 2, 7, 12 to 14 */
.macro define_aes_and_products n, vectors:vararg
local_function aes_of_\n\()_and_products
    .set at, counters - 64*(\n - 1)
    .irp v, \vectors
    .if at < counters                   /* not STREAM7 */
    vpxorq at(COUNTER_TABLE,LAST_AT), GROUP_BASE, \v
    .set at, at + 64
    .endif
    .endr
    two_rounds 1, \vectors
    two_rounds 3, \vectors
    vmovdqu64 H(28)(FOUR_POWERS), POWERS_2
    add_products_of_two CIPHER0, CIPHER1
    two_rounds 5, \vectors
    two_rounds 7, \vectors
    hash_two CIPHER2, CIPHER3, 24, FOUR_POWERS
    one_round 9, \vectors
    rounds_from_10 %ecx, \vectors
    ret
evc_local_end aes_of_\n\()_and_products
.endm
    define_aes_and_products 1, STREAM7
    define_aes_and_products 2, STREAM6, STREAM7
    define_aes_and_products 3, STREAM5, STREAM6, STREAM7

/* aes_of_four_and_products: the same of four vectors that are not the last ones of the message. It
 * sets POWERS and STREAM7 itself, and goes on with aes_of_4_and_products. */
local_function aes_of_four_and_products
    vpxorq counters(COUNTER_TABLE,LAST_AT), GROUP_BASE, STREAM7
    vmovdqu64 H(32)(FOUR_POWERS), POWERS
evc_local_end aes_of_four_and_products
    define_aes_and_products 4, STREAMS_4_TO_7

/* insert_j0: J_0 goes to the last lane of STREAM7, if text leaves that free.
 *   In:      LEN; TAG_MASK_X: J_0, whitened, if it is free; STREAM7
 *   Changes: ecx */
.macro insert_j0 lane_is_free=48
    lea -1(LEN), %ecx
    not %ecx
    test $\lane_is_free, %ecx
    jz L(j0_is_alone\@)
    vinserti32x4 $3, TAG_MASK_X, STREAM7, STREAM7
L(j0_is_alone\@):
.endm

/* aes_of_last_and_products: the same of the last 1 to 4 vectors of a message, if its tail does not
 * have 8. It sets POWERS and STREAM7 itself.
 *   In:      moreover LEN, TAG_MASK_X; LAST_AT: bits 6 and 7 are the number of vectors, less 1 */
local_function aes_of_last_and_products
    vpxorq counters(COUNTER_TABLE,LAST_AT), GROUP_BASE, STREAM7
    vmovdqu64 H(32)(FOUR_POWERS), POWERS
#if !GROUPS_BY_ROW
    cmp $496, LEN_D                     /* 32 blocks: the first one meets H^33 */
    ja L(first_meets_33)
L(powers_are_loaded):
#endif
    insert_j0
    mov %eax, %ecx
    and $192, %ecx
    jz aes_of_1_and_products
    cmp $128, %ecx
    jb aes_of_2_and_products
    je aes_of_3_and_products
    jmp aes_of_4_and_products
#if !GROUPS_BY_ROW
L(first_meets_33):
    vmovdqu H_BEHIND(33)(KEY), POWERS_X
    vinserti128 $1, H(32)(KEY), POWERS_Y, POWERS_Y
    vinserti64x4 $1, H(31)(KEY), POWERS, POWERS
    jmp L(powers_are_loaded)
#endif
evc_local_end aes_of_last_and_products

#if GROUPS_BY_ROW
/* aes_of_vectors_4_and_5: the same of these vectors of a tail of 8, numbers from 0 on, in STREAM6
 * and STREAM7, beside the products of vectors 0 to 3. It sets LAST_AT, POWERS and STREAM7 itself.
 * If the last vector has 4 blocks, the tail has 32, and the first one meets H^33, which stands
 * apart from the others.
 *   In:      moreover LEN */
local_function aes_of_vectors_4_and_5
    lea -1(LEN), %ecx
    mov $5*64, %eax
    and $48, %ecx
    vpxorq counters + 5*64(COUNTER_TABLE), GROUP_BASE, STREAM7
    vmovdqu64 H(32)(FOUR_POWERS), POWERS
    cmp $48, %ecx
    jne aes_of_2_and_products
    vmovdqu H_BEHIND(33)(KEY), POWERS_X
    vinserti128 $1, H(32)(KEY), POWERS_Y, POWERS_Y
    vinserti64x4 $1, H(31)(KEY), POWERS, POWERS
    jmp aes_of_2_and_products
evc_local_end aes_of_vectors_4_and_5

#define NUMBERS %zmm3         /* in the last word of each lane: 32 (k + 1); in pieces, counters */
#define NUMBERS_X %xmm3
#define NEXT_BASE %zmm5       /* of group k + 1 */
#define IS_IN_NEXT_GROUP %k3  /* the blocks of a group's last vector that count from the next one */

/* end_of_group_counters: the counters of the last vector of a group; the numbers go on.
 *   In:      COUNTER_BASE, GROUP_BASE, NUMBERS, IS_IN_NEXT_GROUP, TABLES
 *   Out:     STREAM7; NEXT_BASE: GROUP_BASE of the next group; NUMBERS: 32 more */
.macro end_of_group_counters
    vpaddd group_step(TABLES), NUMBERS, NUMBERS
    vpshufb words_of_counters(TABLES), NUMBERS, NEXT_BASE
    vpxorq COUNTER_BASE, NEXT_BASE, NEXT_BASE
    vpxorq group_end_counters(TABLES), GROUP_BASE, STREAM7
    vpxorq group_end_counters(TABLES), NEXT_BASE, STREAM7{IS_IN_NEXT_GROUP}
.endm

/* aes_of_vectors_6_and_7: all rounds but the last of these, in STREAM6 and STREAM7, beside the
 * products of vectors 4 and 5: few are left then.
 *   In:      KEY, LEN, TABLES, TAG_MASK_X; CIPHER0, CIPHER1: vectors 4 and 5; GROUP_BASE, NUMBERS;
 *            COUNTER_TABLE; FOUR_POWERS: those of vectors 0 to 3
 *   Out:     STREAM6, STREAM7; LO, MI, HI
 *   Changes: ecx, vectors 1, 2, 3, 5, 7, 12 to 14 */
local_function aes_of_vectors_6_and_7
    vpxorq counters + 6*64(COUNTER_TABLE), GROUP_BASE, STREAM6
    vpxorq counters + 7*64(COUNTER_TABLE), GROUP_BASE, STREAM7
    cmp $1024, LEN
    jbe L(vector_7_has_counters)
    end_of_group_counters
L(vector_7_has_counters):
    insert_j0
    two_rounds 1, STREAM6, STREAM7
    two_rounds 3, STREAM6, STREAM7
    hash_two CIPHER0, CIPHER1, 16, FOUR_POWERS
    two_rounds 5, STREAM6, STREAM7
    two_rounds 7, STREAM6, STREAM7
    one_round 9, STREAM6, STREAM7
    rounds_from_10 %ecx, STREAM6, STREAM7
    ret
evc_local_end aes_of_vectors_6_and_7
#endif

/* ---- Text ---- */

/* long_text: the last round of one vector of text, all 64 bytes.
 *   In:      direction: seal or open; at: distance of the text from IN and OUT; stream: zmm, behind
 *            all other rounds; LAST_KEY, TABLES
 *   Out:     64 bytes at OUT; cipher: zmm, the ciphertext with bytes reversed
 *   Changes: stream, P */
.macro long_text direction, at, stream, cipher
.ifc \direction, open
    vmovdqu64 \at(IN), \cipher
    vpxorq \cipher, LAST_KEY, P
    vaesenclast P, \stream, \stream
    vmovdqu64 \stream, \at(OUT)
    vpshufb reversed(TABLES), \cipher, \cipher
.else
    vpxorq \at(IN), LAST_KEY, P
    vaesenclast P, \stream, \stream
    vmovdqu64 \stream, \at(OUT)
    vpshufb reversed(TABLES), \stream, \cipher
.endif
.endm

/* four_texts_<direction>: the same of four vectors, from STREAM4 to STREAM7 to CIPHER0 to
 * CIPHER3. */
.macro define_four_texts direction
local_function four_texts_\direction
    long_text \direction, 0, STREAM4, CIPHER0
    long_text \direction, 64, STREAM5, CIPHER1
    long_text \direction, 128, STREAM6, CIPHER2
    long_text \direction, 192, STREAM7, CIPHER3
    ret
evc_local_end four_texts_\direction
.endm
    define_four_texts seal
    define_four_texts open

/* last_long_text: the last round of a last vector that is not full, by an access of 64 bytes that
 * end with the text, in IN and out OUT; and that of J_0.
 *   In:      direction; LEN; IN, OUT: the last vector; STREAM7, LAST_KEY, TAG_MASK_X, TABLES
 *   Out:     the text at OUT; cipher: zmm, bytes reversed, zeros behind; TAG_MASK_X: E(J_0)
 *   Changes: rax, rcx, rdx, IS_TEXT, IS_AT_END, STREAM7, vectors 7, 13, 14 */
.macro last_long_text direction, cipher
    mov LEN_D, %eax                     /* n, the bytes of the vector: 1 to 63 */
    and $63, %eax
    mov $-1, %rcx
    bzhi %rax, %rcx, %rdx
    kmovq %rdx, IS_TEXT
    mov %eax, %edx
    neg %edx
    shlx %rdx, %rcx, %rcx
    kmovq %rcx, IS_AT_END
    mov TABLES, %rdx
    sub %rax, %rdx
    vmovdqu64 byte_numbers + 64(%rdx), PLACES           /* from byte 64 - n on */
    vmovdqu64 byte_numbers(TABLES,%rax), POWERS_2       /* back to there */
    vpermb -64(IN,%rax), PLACES, \cipher{IS_TEXT}{z}
    vpxorq \cipher, LAST_KEY, P
    vaesenclast P, STREAM7, STREAM7
    vpermb STREAM7, POWERS_2, POWERS_2
    vmovdqu8 POWERS_2, -64(OUT,%rax){IS_AT_END}
.ifc \direction, seal
    vmovdqu8 STREAM7, \cipher{IS_TEXT}{z}
.endif
    vpshufb reversed(TABLES), \cipher, \cipher
    cmp $48, %eax
    ja L(finish_j0\@)
    vextracti32x4 $3, STREAM7, TAG_MASK_X
    jmp L(j0_is_finished\@)
L(finish_j0\@):
    vaesenclast LAST_KEY_X, TAG_MASK_X, TAG_MASK_X
L(j0_is_finished\@):
.endm

/* seal_long_message, open_long_message: a message of over 256 bytes. They are jumped to, and return
 * from the message.
 *   In:      as message_by_length, with LEN and TABLES; COUNTER_BASE_X: the IV, not whitened
 * 257 to 512 bytes are AES of four vectors and a tail that begins with those four. Of 433 to 448
 * bytes, sealed, J_0 goes beside the last one of 7 vectors; with GROUPS_BY_ROW also of 689 to
 * 704. */
.macro define_long_message direction
local_function \direction\()_long_message
#if !GROUPS_BY_ROW
    other_way \direction
#endif
    vpxor round_keys(KEY), COUNTER_BASE_X, COUNTER_BASE_X
    lea -1(LEN), %rax
    vshufi32x4 $0, COUNTER_BASE, COUNTER_BASE, COUNTER_BASE
    vpxor counter_1(TABLES), COUNTER_BASE_X, TAG_MASK_X
    /* Ask for the powers now. AES, which waits for round keys from far away, fills the schedulers
     * before a load of powers comes. */
    .set at, H(32)
    .rept 9
    prefetcht0 at(KEY)
    .set at, at + 64
    .endr
#if GROUPS_BY_ROW
    cmp $1024, LEN
    ja L(by_groups_\direction)
.ifc \direction, seal
    lea -433(LEN), %edx
    and $~256, %edx                     /* 433 to 448, or 689 to 704 */
    cmp $16, %edx
    jb L(first_four_of_seven)
.endif
#endif
    call aes_of_first_four
L(first_four_\direction):
    vmovdqa64 COUNTER_BASE, GROUP_BASE
#if GROUPS_BY_ROW
    cmp $512, LEN_D
    ja L(by_fours_\direction)
#endif

    /* 257 to 512 bytes. */
    vbroadcasti32x4 (LAST_KEY_AT), LAST_KEY
    lea 15(LEN), %eax
    and $-16, %eax
    call aad_and_lengths_of_long
    mov out(%rsp), OUT
    lea -1(LEN), %eax
    jmp L(text_of_tail_\direction)

#if GROUPS_BY_ROW
    over_512 \direction
#endif

    /* The text of the tail. eax modulo 512: the bytes of the tail, less 1. */
L(text_of_tail_\direction):
    mov %eax, %ecx
    and $48, %ecx                       /* 16 (b - 1) */
    mov KEY, TAIL_POWERS
    sub %rcx, TAIL_POWERS
    and $7*64, %eax                     /* bytes before the last vector */
    cmp $4*64, %eax
    jb L(last_four_\direction)
    call four_texts_\direction
    lea 30*16(TAIL_POWERS), FOUR_POWERS /* H(32) from there will be H^(t+1) */
    sub %rax, FOUR_POWERS
#if GROUPS_BY_ROW
    lea -1(LEN), %rcx                   /* up to 1024 bytes counters go on behind those before */
    and $-256, %rcx
    lea -256(TABLES,%rcx), COUNTER_TABLE
    cmp $1024, LEN
    cmova TABLES, COUNTER_TABLE
#else
    mov TABLES, COUNTER_TABLE
#endif
#if GROUPS_BY_ROW
    cmp $7*64, %eax
    je L(eight_vectors_\direction)
.ifc \direction, seal
    lea -433(LEN), %ecx
    and $~256, %ecx
    cmp $16, %ecx
    jb L(vectors_4_to_6_and_j0)
.endif
#endif
    call aes_of_last_and_products
    lea -30*16(FOUR_POWERS,%rax), TAIL_POWERS   /* again */

    /* The last 1 to 4 vectors, which have no last round yet. */
L(last_four_\direction):
    add %rax, IN                        /* the last vector */
    add %rax, OUT
    and $3*64, %eax
    jz L(one_vector_\direction)
    cmp $2*64, %eax
    jb L(two_vectors_\direction)
    je L(three_vectors_\direction)
    long_text \direction, -192, STREAM4, CIPHER0
    long_text \direction, -128, STREAM5, CIPHER1
    hash_two CIPHER0, CIPHER1, 14, TAIL_POWERS
    jmp L(two_vectors_\direction)

#if GROUPS_BY_ROW
    /* A tail of 8 vectors: 4 and 5, then 6 and 7. */
L(eight_vectors_\direction):
    call aes_of_vectors_4_and_5
    long_text \direction, 256, STREAM6, CIPHER0
    long_text \direction, 320, STREAM7, CIPHER1
    call aes_of_vectors_6_and_7
    lea -30*16 + 7*64(FOUR_POWERS), TAIL_POWERS
    add $7*64, IN
    add $7*64, OUT
    jmp L(two_vectors_\direction)
#endif

L(three_vectors_\direction):
    long_text \direction, -128, STREAM5, BLOCKS
    hash_one BLOCKS, 10, TAIL_POWERS
L(two_vectors_\direction):
    long_text \direction, -64, STREAM6, CIPHER0
    test $63, LEN_B
    jnz L(part_behind_vector_\direction)
    long_text \direction, 0, STREAM7, CIPHER1
    vaesenclast LAST_KEY_X, TAG_MASK_X, TAG_MASK_X
L(hash_last_two_\direction):
    hash_two CIPHER0, CIPHER1, 6, TAIL_POWERS
L(end_of_long_\direction):
    clear_high_vectors HIGH_VECTORS
    jmp \direction\()_end

L(one_vector_\direction):
    test $63, LEN_B
    jnz L(part_of_vector_\direction)
    long_text \direction, 0, STREAM7, BLOCKS
    vaesenclast LAST_KEY_X, TAG_MASK_X, TAG_MASK_X
L(hash_last_\direction):
    hash_one BLOCKS, 2, TAIL_POWERS
    jmp L(end_of_long_\direction)
L(part_behind_vector_\direction):
    last_long_text \direction, CIPHER1
    jmp L(hash_last_two_\direction)
L(part_of_vector_\direction):
    last_long_text \direction, BLOCKS
    jmp L(hash_last_\direction)

#if GROUPS_BY_ROW
.ifc \direction, seal
    /* 433 to 448 bytes, or 256 more, sealed: a tail of 7 vectors, and J_0 alone. The last three
     * vectors would be hashed when AES of all of them is done, and J_0 would make that later: so 4
     * and 5 come first, and then 6 and J_0. */
L(first_four_of_seven):
    call aes_of_first_four_without_j0
    jmp L(first_four_seal)
L(vectors_4_to_6_and_j0):
    call aes_of_vectors_4_and_5_of_7
    long_text seal, 256, STREAM6, CIPHER0
    long_text seal, 320, STREAM7, CIPHER1
    call aes_of_vector_6_and_j0
    lea -30*16 + 6*64(FOUR_POWERS), TAIL_POWERS
    add $6*64, IN
    add $6*64, OUT
    jmp L(one_vector_seal)
.endif
#endif
evc_local_end \direction\()_long_message
.endm
#if GROUPS_BY_ROW
/* aes_of_first_four_without_j0: aes_of_first_four where J_0 comes later. */
local_function aes_of_first_four_without_j0
    counters_from COUNTER_BASE, STREAMS_4_TO_7
    all_rounds without_j0, to_find, STREAMS_4_TO_7
    ret
evc_local_end aes_of_first_four_without_j0

/* aes_of_vectors_4_and_5_of_7: as aes_of_vectors_4_and_5, of a tail of 7. */
local_function aes_of_vectors_4_and_5_of_7
    mov $5*64, %eax
    vpxorq counters + 5*64(COUNTER_TABLE), GROUP_BASE, STREAM7
    vmovdqu64 H(32)(FOUR_POWERS), POWERS
    jmp aes_of_2_and_products
evc_local_end aes_of_vectors_4_and_5_of_7

/* aes_of_vector_6_and_j0: all rounds but the last of vector 6, the last one of the message, and of
 * J_0, beside the products of vectors 4 and 5.
 *   In:      KEY; TAG_MASK: J_0, whitened, in lane 0; CIPHER0, CIPHER1: vectors 4 and 5;
 *            GROUP_BASE; COUNTER_TABLE; FOUR_POWERS: those of vectors 0 to 3
 *   Out:     STREAM7; TAG_MASK; LO, MI, HI
 *   Changes: ecx, vectors 1, 2, 7, 12 to 14 */
local_function aes_of_vector_6_and_j0
    vpxorq counters + 6*64(COUNTER_TABLE), GROUP_BASE, STREAM7
    two_rounds 1, STREAM7, TAG_MASK
    two_rounds 3, STREAM7, TAG_MASK
    hash_two CIPHER0, CIPHER1, 16, FOUR_POWERS
    two_rounds 5, STREAM7, TAG_MASK
    two_rounds 7, STREAM7, TAG_MASK
    one_round 9, STREAM7, TAG_MASK
    rounds_from_10 %ecx, STREAM7, TAG_MASK
    ret
evc_local_end aes_of_vector_6_and_j0
#endif

/* ---- 6. Short messages ----------------------------------------------------------------------- */

/* ---- Text of at most a block, and at most two blocks of associated data ---- */

/* Registers of message_of_block. */
#define ONE_OUT %rax          /* OUT: its register still has AAD_BYTES */
#define ONE_OUT_D %eax
#define ONE_MASK %xmm3        /* J_0, then E(J_0) */
#define ONE_STREAM %xmm4      /* the counter 2, then the text that goes out */
#define ONE_KEY %xmm0         /* the last round key, then with the text added; then scratch */
#define ONE_TEXT %xmm1        /* the text that comes in, zeros behind; then the ciphertext */
#define ONE_AAD %xmm2         /* associated data, the first block */
#define ONE_AAD_Y %ymm2
#define ONE_AAD_Z %zmm2
#define ONE_LENGTHS %xmm2     /* if there is no associated data */
#define ONE_LO %xmm5
#define ONE_MI %xmm4
#define ONE_HI %xmm1

/* message_of_block: text of 1 to 16 bytes, and at most 32 bytes of associated data or that of a
 * state. Returns from the message.
 *   In:      as message_by_length, with LEN and TABLES; COUNTER_BASE_X
 * Without associated data, all is in xmm0 to xmm5, so that no upper half needs VZEROUPPER. With it,
 * one or two blocks, text and lengths are hashed as one vector. */
.macro message_of_block direction
    vpxor counter_1(TABLES), COUNTER_BASE_X, ONE_MASK
    vpxor counter_2(TABLES), COUNTER_BASE_X, ONE_STREAM
    middle_rounds round_of_two_blocks, 2
    vmovdqu round_keys(KEY,%rdx), ONE_KEY
    mov out(%rsp), ONE_OUT
    vaesenclast ONE_KEY, ONE_MASK, ONE_MASK
    cmp $16, LEN_D
    jne L(part_of_block\@)
    vmovdqu (IN), ONE_TEXT
    vpxor ONE_TEXT, ONE_KEY, ONE_KEY
    vaesenclast ONE_KEY, ONE_STREAM, ONE_STREAM
    vmovdqu ONE_STREAM, (ONE_OUT)

L(block_is_done\@):
    test AAD_BYTES, AAD_BYTES
    jnz L(block_and_aad\@)

    /* Two blocks: the ciphertext meets H^2, and the lengths meet H^1; their upper half is 0. */
    vmovq len_bytes(%rsp), ONE_LENGTHS
.ifc \direction, open
    vpshufb reversed(TABLES), ONE_TEXT, ONE_TEXT
.else
    vpshufb reversed(TABLES), ONE_STREAM, ONE_TEXT
.endif
    vpsllq $3, ONE_LENGTHS, ONE_LENGTHS
    vpclmulqdq $0x00, H(2)(KEY), ONE_TEXT, ONE_LO
    vpclmulqdq $0x00, H(1)(KEY), ONE_LENGTHS, %xmm0
    vpclmulqdq $0x10, H(1)(KEY), ONE_LENGTHS, %xmm2
    vpclmulqdq $0x10, H(2)(KEY), ONE_TEXT, ONE_MI
    vpxor %xmm0, ONE_LO, ONE_LO
    vpclmulqdq $0x01, H(2)(KEY), ONE_TEXT, %xmm0
    vpternlogq $xor3, %xmm0, %xmm2, ONE_MI
    vpclmulqdq $0x00, polynomial(TABLES), ONE_LO, %xmm0     /* reduction begins: LO to MI */
    vpclmulqdq $0x11, H(2)(KEY), ONE_TEXT, ONE_HI
    vpshufd $0x4e, ONE_LO, ONE_LO
    mov tag_bytes(%rsp), %rdx
    vpternlogq $xor3, %xmm0, ONE_LO, ONE_MI
    mov tag(%rsp), %rcx
    vpclmulqdq $0x00, polynomial(TABLES), ONE_MI, %xmm0     /* MI to HI */
    vpshufd $0x4e, ONE_MI, ONE_MI
    xor %eax, %eax
    vpternlogq $xor3, %xmm0, ONE_HI, ONE_MI                 /* the hash */
    vpshufb reversed(TABLES), ONE_MI, TAG_X
    vpxor ONE_MASK, TAG_X, TAG_X
    finish_message \direction, 0, 0, 1, 2, 3, 4, 5

    /* 1 to 15 bytes of text: by a mask, unless that reaches into another page. */
L(part_of_block\@):
    mov IN_D, %esi
    mov ONE_OUT_D, %edx
    and $4095, %esi
    and $4095, %edx
    cmp $4096 - 16, %esi
    ja L(part_at_page_end\@)
    cmp $4096 - 16, %edx
    ja L(part_at_page_end\@)
    mov $-1, %esi
    bzhi LEN_D, %esi, %esi
    kmovd %esi, IS_TEXT
    vmovdqu8 (IN), ONE_TEXT{IS_TEXT}{z}
    vpxor ONE_TEXT, ONE_KEY, ONE_KEY
    vaesenclast ONE_KEY, ONE_STREAM, ONE_STREAM
    vmovdqu8 ONE_STREAM, (ONE_OUT){IS_TEXT}
.ifc \direction, seal
    vmovdqu8 ONE_STREAM, ONE_STREAM{IS_TEXT}{z}
.endif
    jmp L(block_is_done\@)
L(part_at_page_end\@):
    load_part IN, LEN, ONE_TEXT, %xmm2, %rsi
    vpxor ONE_TEXT, ONE_KEY, ONE_KEY
    vaesenclast ONE_KEY, ONE_STREAM, ONE_STREAM
    store_part ONE_STREAM, ONE_OUT, LEN, %xmm2
.ifc \direction, seal
    mov TABLES, %rdx
    sub LEN, %rdx
    vpand first_bytes + 16(%rdx), ONE_STREAM, ONE_STREAM
.endif
    jmp L(block_is_done\@)

    /* Associated data of 1 to 16 bytes, or of a state; that one has bit hashed_aad. */
L(block_and_aad\@):
    cmp $16, AAD_BYTES
    jb L(part_of_aad\@)
    vmovdqu (AAD), ONE_AAD
    jne L(two_blocks_of_aad\@)
L(one_block_of_aad\@):                  /* lanes: associated data, text, lengths */
    vmovq AAD_BYTES, POWERS_X
    vmovq LEN, P_X
.ifc \direction, open
    vinserti128 $1, ONE_TEXT, ONE_AAD_Y, BLOCKS_Y
.else
    vinserti128 $1, ONE_STREAM, ONE_AAD_Y, BLOCKS_Y
.endif
    vpunpcklqdq POWERS_X, P_X, P_X
    vpshufb reversed(TABLES), BLOCKS_Y, BLOCKS_Y
    vpsllq $3, P_X, P_X                 /* drops bit hashed_aad */
    vmovdqu64 H(3)(KEY), POWERS
    vinserti32x4 $2, P_X, BLOCKS, BLOCKS
    vmovdqa ONE_MASK, TAG_MASK_X
    set_products z, BLOCKS
    jmp \direction\()_end
L(part_of_aad\@):
    load_part AAD, AAD_BYTES, ONE_AAD, %xmm5, %rsi
    jmp L(one_block_of_aad\@)

L(two_blocks_of_aad\@):                 /* lanes: two of associated data, text, lengths */
    test AAD_BYTES, AAD_BYTES
    js L(one_block_of_aad\@)
    vmovdqu -16(AAD,AAD_BYTES), P_X     /* the 16 bytes that end with associated data */
    mov AAD_BYTES_D, %esi
    neg %esi
    and $15, %esi                       /* the bytes that the second block lacks */
    vmovq AAD_BYTES, POWERS_X
    vpshufb bytes_from(TABLES,%rsi), P_X, P_X
    vmovq LEN, %xmm5
    vinserti128 $1, P_X, ONE_AAD_Y, ONE_AAD_Y
    vpunpcklqdq POWERS_X, %xmm5, %xmm5
.ifc \direction, open
    vinserti32x4 $2, ONE_TEXT, ONE_AAD_Z, BLOCKS
.else
    vinserti32x4 $2, ONE_STREAM, ONE_AAD_Z, BLOCKS
.endif
    vpshufb reversed(TABLES), BLOCKS, BLOCKS
    vpsllq $3, %xmm5, %xmm5
    vmovdqu64 H(4)(KEY), POWERS
    vinserti32x4 $3, %xmm5, BLOCKS, BLOCKS
    vmovdqa ONE_MASK, TAG_MASK_X
    set_products z, BLOCKS
    jmp \direction\()_end
.endm

/* ---- No text ---- */

.macro round_of_mask r, n
    vaesenc round_keys + 16*\r(KEY), TAG_MASK_X, TAG_MASK_X
.endm

/* empty_message: associated data only. Returns from the message.
 *   In:      as message_of_block */
.macro empty_message direction
    xor %eax, %eax                      /* PADDED_LEN */
    vpxor counter_1(TABLES), COUNTER_BASE_X, TAG_MASK_X
    middle_rounds round_of_mask, 1
    vaesenclast round_keys(KEY,%rdx), TAG_MASK_X, TAG_MASK_X
    call aad_and_lengths
    jmp \direction\()_end
.endm

/* ---- Text of 1 to 4 vectors, without GROUPS_BY_ROW also of 5 ----
 *
 * LAST is the last vector of counters, of AES and of text; FIRST, SECOND, THIRD and FOURTH are
 * those before it, as many as there are. 40 bytes are LAST alone: three counters and J_0. */
#define LAST %zmm3
#define LAST_X %xmm3
#define FIRST %zmm4
#define SECOND %zmm5
#define THIRD %zmm6
#define FOURTH %zmm16

/* Rounds for middle_rounds: round r of n vectors, without J_0 and with it. */
.macro round_j0_in_lane r, n
    vbroadcasti32x4 round_keys + 16*\r(KEY), ROUND_KEY
    vaesenc ROUND_KEY, LAST, LAST
.if \n > 1
    vaesenc ROUND_KEY, FIRST, FIRST
.endif
.if \n > 2
    vaesenc ROUND_KEY, SECOND, SECOND
.endif
.if \n > 3
    vaesenc ROUND_KEY, THIRD, THIRD
.endif
.endm
.macro round_j0_alone r, n
    round_j0_in_lane \r, \n
    vaesenc ROUND_KEY_X, TAG_MASK_X, TAG_MASK_X
.endm

/* aes_of_<n>_j0_<j0>: counters of n vectors through all rounds but the last.
 *   In:      KEY, LEN, TABLES, COUNTER_BASE_X
 *   Out:     LAST, and as many of FIRST, SECOND, THIRD; J_0 in the last lane of LAST, or alone in
 *            TAG_MASK_X; LAST_KEY; PADDED_LEN: 16 t; COUNTER_BASE
 *   Changes: rdx, ROUND_KEY */
.macro define_aes n, j0
local_function aes_of_\n\()_j0_\j0
    vshufi32x4 $0, COUNTER_BASE, COUNTER_BASE, COUNTER_BASE
.if \n > 1
    vpxorq counters(TABLES), COUNTER_BASE, FIRST
.endif
.if \n > 2
    vpxorq counters + 64(TABLES), COUNTER_BASE, SECOND
.endif
.if \n > 3
    vpxorq counters + 128(TABLES), COUNTER_BASE, THIRD
.endif
    lea 15(LEN), %eax
    and $-16, %eax
.ifc \j0, alone
    vpxorq counters + 64*\n - 64(TABLES), COUNTER_BASE, LAST
    vpxor counter_1(TABLES), COUNTER_BASE_X, TAG_MASK_X
.else
    vpxorq last_counters + 64*\n - 64(TABLES), COUNTER_BASE, LAST
.endif
    middle_rounds round_j0_\j0, \n
    vbroadcasti32x4 round_keys(KEY,%rdx), LAST_KEY
    ret
evc_local_end aes_of_\n\()_j0_\j0
.endm
    .irp n, 1, 2, 3, 4
    define_aes \n, in_lane
    define_aes \n, alone
    .endr

#if !GROUPS_BY_ROW
/* The same of 5 vectors, in a loop, which costs no time with so many.
 *   Changes: rsi, ROUND_KEY_2, too */
.macro define_aes_of_5 j0
local_function aes_of_5_j0_\j0
    vshufi32x4 $0, COUNTER_BASE, COUNTER_BASE, COUNTER_BASE
    counters_from COUNTER_BASE, FIRST, SECOND, THIRD, FOURTH
    lea 15(LEN), %eax
    and $-16, %eax
.ifc \j0, alone
    vpxorq counters + 4*64(TABLES), COUNTER_BASE, LAST
    vpxor counter_1(TABLES), COUNTER_BASE_X, TAG_MASK_X
    all_rounds with_j0, to_find, FIRST, SECOND, THIRD, FOURTH, LAST
.else
    vpxorq last_counters + 4*64(TABLES), COUNTER_BASE, LAST
    all_rounds without_j0, to_find, FIRST, SECOND, THIRD, FOURTH, LAST
.endif
    vbroadcasti32x4 (LAST_KEY_AT), LAST_KEY
    ret
evc_local_end aes_of_5_j0_\j0
.endm
    define_aes_of_5 in_lane
    define_aes_of_5 alone
#endif

/* short_text: the last round of vector number i, counted from 0; not of the last vector.
 *   In:      direction; i; stream: zmm, behind all other rounds; IN, OUT: vector 0; LAST_KEY,
 *            TABLES
 *   Out:     64 bytes at OUT; cipher: zmm, the ciphertext with bytes reversed
 *   Changes: stream, Q */
.macro short_text direction, i, stream, cipher
    vmovdqu64 64*\i(IN), \cipher
    vpxorq \cipher, LAST_KEY, Q
    vaesenclast Q, \stream, \stream
    vmovdqu64 \stream, 64*\i(OUT)
.ifc \direction, open
    vpshufb reversed(TABLES), \cipher, \cipher
.else
    vpshufb reversed(TABLES), \stream, \cipher
.endif
.endm

/* message: text of n vectors. Returns from the message.
 *   In:      as message_of_block; j0: in_lane or alone
 * Two vectors are hashed together: of three, the first is alone. On Intel's cores, with three or
 * more, associated data is hashed before AES: behind it, instructions that wait would fill the
 * core, and the next message could not begin. On AMD's Zen 5, AES first takes less time. */
.macro message n, j0, direction
.if \n > 2 && GROUPS_BY_ROW
    lea 15(LEN), %eax                   /* PADDED_LEN */
    and $-16, %eax
    call aad_and_lengths
    call aes_of_\n\()_j0_\j0
.else
    call aes_of_\n\()_j0_\j0           /* sets PADDED_LEN, too */
    call aad_and_lengths
.endif
    mov KEY, TEXT_POWERS                /* H(1) from KEY - 16 t is H^(t+1) */
    mov out(%rsp), OUT
    sub PADDED_LEN, TEXT_POWERS
.if \n == 2
    short_text \direction, 0, FIRST, BLOCKS_2
.elseif \n == 3
    short_text \direction, 0, FIRST, BLOCKS
    hash_one BLOCKS, 1, TEXT_POWERS
    short_text \direction, 1, SECOND, BLOCKS_2
.elseif \n == 4
    short_text \direction, 0, FIRST, BLOCKS
    short_text \direction, 1, SECOND, BLOCKS_2
    hash_two BLOCKS, BLOCKS_2, 1, TEXT_POWERS
    short_text \direction, 2, THIRD, BLOCKS_2
.elseif \n == 5
    short_text \direction, 0, FIRST, BLOCKS
    short_text \direction, 1, SECOND, BLOCKS_2
    hash_two BLOCKS, BLOCKS_2, 1, TEXT_POWERS
    short_text \direction, 2, THIRD, BLOCKS
    short_text \direction, 3, FOURTH, BLOCKS_2
    clear_high_vectors 16               /* FOURTH: end_seal and end_open clear the others */
    hash_two BLOCKS, BLOCKS_2, -7, TEXT_POWERS  /* 8 blocks behind, before the next step */
.endif
.if \n > 1
    add $64*\n - 64, IN                 /* the last vector */
    add $64*\n - 64, OUT
    add $64*\n - 64, TEXT_POWERS
.endif
.if \n == 1 || \n == 5
    jmp last_alone_j0_\j0\()_\direction
.else
    jmp last_of_pair_j0_\j0\()_\direction
.endif
.endm

/* last_<name>_j0_<j0>_<direction>: the last vector of text, 1 to 64 bytes; the end of the message.
 * The name is `of_pair` if BLOCKS_2 is the vector before it, which is not hashed yet; else
 * `alone`.
 *   In:      KEY, TABLES; LEN; IN, OUT, TEXT_POWERS: the last vector; LAST, LAST_KEY; TAG_MASK_X,
 *            if J_0 is alone; LO, MI, HI; BLOCKS_2; tag and tag_bytes on the stack
 *   Out:     the text at OUT; then as seal_end and open_end, which return from the message
 *   Changes: rax, rcx, rdx, rsi, IS_TEXT, IS_AT_END; vectors 0 to 15 are 0 */
.macro define_last_vector name, j0, direction
local_function last_\name\()_j0_\j0\()_\direction
    mov LEN_D, %ecx
    mov $-1, %rdx
    neg %ecx
    shrx %rcx, %rdx, %rdx               /* a one for each byte: the shift is modulo 64 */
    mov IN_D, %eax
    kmovq %rdx, IS_TEXT
    and $4095, %eax
    mov OUT_D, %edx
    and $4095, %edx
    cmp $4096 - 64, %eax
    ja L(load_other_page\@)
    vmovdqu8 (IN), BLOCKS{IS_TEXT}{z}
L(is_loaded\@):
    vpxorq BLOCKS, LAST_KEY, Q
    vaesenclast Q, LAST, LAST
    cmp $4096 - 64, %edx
    ja L(store_other_page\@)
    vmovdqu8 LAST, (OUT){IS_TEXT}
L(is_stored\@):
.ifc \j0, alone
    vaesenclast LAST_KEY_X, TAG_MASK_X, TAG_MASK_X
.else
    vextracti32x4 $3, LAST, TAG_MASK_X  /* the text there is zeros */
.endif
.ifc \direction, seal
    vmovdqu8 LAST, BLOCKS{IS_TEXT}{z}
.endif
    vpshufb reversed(TABLES), BLOCKS, BLOCKS
.ifc \name, of_pair
    hash_two BLOCKS_2, BLOCKS, 5, TEXT_POWERS
.else
    hash_one BLOCKS, 1, TEXT_POWERS
.endif
    jmp \direction\()_end
L(load_other_page\@):
    call load_at_page_end
    jmp L(is_loaded\@)
L(store_other_page\@):
    call store_at_page_end
    jmp L(is_stored\@)
evc_local_end last_\name\()_j0_\j0\()_\direction
.endm
    .irp j0, in_lane, alone
    define_last_vector alone, \j0, seal
    define_last_vector alone, \j0, open
    define_last_vector of_pair, \j0, seal
    define_last_vector of_pair, \j0, open
    .endr

/* load_at_page_end: the last vector of text, by 64 bytes that end with it, masked in front of it.
 *   In:      IN: the last vector; ecx: - LEN; IS_TEXT, TABLES
 *   Out:     BLOCKS: the text as in memory, zeros behind
 *   Changes: rax, rcx, IS_AT_END, PLACES */
local_function load_at_page_end
    and $63, %ecx                       /* the bytes that the vector lacks */
    mov $-1, %rax
    shlx %rcx, %rax, %rax
    kmovq %rax, IS_AT_END
    mov IN, %rax
    sub %rcx, %rax
    vmovdqu64 byte_numbers(TABLES,%rcx), PLACES
    vmovdqu8 (%rax), BLOCKS{IS_AT_END}{z}
    vpermb BLOCKS, PLACES, BLOCKS{IS_TEXT}{z}
    ret
evc_local_end load_at_page_end

/* store_at_page_end: the same bytes of LAST to OUT.
 *   In:      OUT; ecx: - LEN, or that modulo 64; LAST, TABLES
 *   Changes: rax, rcx, IS_AT_END, PLACES */
local_function store_at_page_end
    and $63, %ecx
    mov $-1, %rax
    shlx %rcx, %rax, %rax
    kmovq %rax, IS_AT_END
    mov TABLES, %rax
    sub %rcx, %rax
    vmovdqu64 byte_numbers + 64(%rax), PLACES
    mov OUT, %rax
    sub %rcx, %rax
    vpermb LAST, PLACES, PLACES
    vmovdqu8 PLACES, (%rax){IS_AT_END}
    ret
evc_local_end store_at_page_end

/* ---- 7. By length ---------------------------------------------------------------------------- */

/* message_by_length: a whole message.
 *   In:      as `seal`, `open` and `open_output_tag` of struct evc_gcm, everycore/gcm.h, have it:
 *            KEY, IV, AAD, AAD_BYTES, IN; out, len_bytes, tag and tag_bytes on the stack
 *   Out:     the text at out; to seal, the tag at tag; to open, eax: 0 or error_of_tag
 *   Changes: all registers that the ABI lets a function change; vectors that were used are 0 */
.macro message_by_length direction
    mov len_bytes(%rsp), LEN
    lea tables(%rip), TABLES
    load_iv COUNTER_BASE_X
    cmp $256, LEN
    ja L(over_256\@)
    vpxor round_keys(KEY), COUNTER_BASE_X, COUNTER_BASE_X
    cmp $64, LEN_D
    ja L(over_64\@)
    cmp $48, LEN_D
    ja L(from_49_to_64\@)
    cmp $16, LEN_D
    ja L(up_to_48\@)
    test LEN_D, LEN_D
    jz L(empty\@)
    cmp $32, AAD_BYTES
    ja L(block_and_more_aad\@)
L(block\@):
    message_of_block \direction
L(block_and_more_aad\@):                /* over 32 bytes, or with bit hashed_aad: one block */
    test AAD_BYTES, AAD_BYTES
    js L(block\@)
    jmp L(up_to_48\@)
L(empty\@):
    empty_message \direction
L(up_to_48\@):
    message 1, in_lane, \direction
L(from_49_to_64\@):
    message 1, alone, \direction

L(over_64\@):
    cmp $128, LEN_D
    ja L(over_128\@)
    cmp $112, LEN_D
    ja L(from_113_to_128\@)
    message 2, in_lane, \direction
L(from_113_to_128\@):
    message 2, alone, \direction

L(over_128\@):
    cmp $192, LEN_D
    ja L(over_192\@)
    cmp $176, LEN_D
    ja L(from_177_to_192\@)
    message 3, in_lane, \direction
L(from_177_to_192\@):
    message 3, alone, \direction

L(over_192\@):
    cmp $240, LEN_D
    ja L(from_241_to_256\@)
    message 4, in_lane, \direction
L(from_241_to_256\@):
    message 4, alone, \direction

L(over_256\@):
#if !GROUPS_BY_ROW
    cmp $320, LEN
    ja L(over_320\@)
    vpxor round_keys(KEY), COUNTER_BASE_X, COUNTER_BASE_X
    cmp $304, LEN_D
    ja L(from_305_to_320\@)
    message 5, in_lane, \direction
L(from_305_to_320\@):
    message 5, alone, \direction
L(over_320\@):
#endif
    jmp \direction\()_long_message
.endm

#endif

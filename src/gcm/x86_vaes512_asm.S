/* SPDX-License-Identifier: MIT */
/*
 * GCM (SP 800-38D, 2007) by VAES and VPCLMULQDQ on vectors of 4 blocks: whole messages, and groups
 * of vectors for pieces of messages. x86_vaes512.c has the rest of the kernel.
 *
 * Contents: the method (below): hash, bit order, products, powers, lanes, text, secrets
 *           1. Names           registers, bits
 *           2. Tables          constants
 *           3. Steps           macros: AES, text, the hash, associated data, tags
 *           4. Functions       of short messages: AES, associated data, the hash and the tag
 *           5. Short messages  at most 288 bytes of text: a macro for each layout of lanes
 *           6. Long messages   groups of 8 vectors
 *           7. Entries         what C calls: groups, open, seal; the choice by the length
 *
 * To follow a message of 40 bytes that is sealed: evc_gcm_seal (gcm.c) calls
 * evc_gcm_x86_vaes512_seal (7), which chooses message_apart 1, 0, 0 (5.2). Its steps are
 * begin_message, aes_of_message (3.2), load_aad (3.5), multiply_aad, lengths_as_hashed (3.5),
 * ends_of_text, load_last_block (3.3), last_round_and_store_apart, take_last_ciphertext (3.2), and
 * finish_with_multiplied_aad, which hashes (hash_of_message, 3.4) and jumps to finish_vectors
 * (4.2). x86_gcm_asm.h has what does not depend on the width of vectors: load_iv, middle_rounds,
 * tags.
 *
 * This is assembly since messages overlap in a core's window of some 450 instructions, so that a
 * short one costs about its latency times its instructions. There are no frames, and AES comes
 * first. Short messages go in one straight line.
 *
 * The hash
 *
 *   Blocks X_1 to X_N are hashed (associated data, ciphertext, lengths), with Y_0 = 0 and
 *   Y_i = (Y_(i-1) + X_i) H in GF(2^128), where + is XOR. So the hash is a sum,
 *
 *       Y_N = X_1 H^N + X_2 H^(N-1) + ... + X_N H,
 *
 *   and the block at place k from the end meets H^k, whatever N is. Blocks are in vectors of four
 *   lanes. If the last block is in the last lane, then lane l of the p-th vector from the end meets
 *   H^(4p - l), and a vector of powers is one load from a fixed place. Lanes in front of X_1 are
 *   zeros. The products of all lanes are added, reduced once, and then lanes are added. If blocks
 *   have been hashed before, their hash is added to the next block: it meets that block's power.
 *
 * Bit order and reduction
 *
 *   The first bit of a block is the coefficient of x^0. With its bytes reversed, bit i of a block
 *   is the coefficient of x^(127-i). Let A(z) be the polynomial with these bits: z is 1/x, and A is
 *   z^127 times the element. GHASH's polynomial x^128 + x^7 + x^2 + x + 1 becomes
 *
 *       P(z) = z^128 + z^127 + z^126 + z^121 + 1.
 *
 *   A B is z^254 times the product of two elements, and z^127 times it is wanted. The key holds
 *   powers of H times z more, so that A B has to be divided by z^128, modulo P. That takes two
 *   steps of 64 bits. For A B = lo + mi z^64 + hi z^128 let c be the lower half of lo, d the upper
 *   one. As P = 1 + z^64 (z^64 + q) with q = z^63 + z^62 + z^57 = 0xc200000000000000,
 *
 *       lo / z^64 = (lo + c P) / z^64 = d + c z^64 + c q:
 *
 *   lo with its halves exchanged (vpshufd $0x4e), plus one product (vpclmulqdq). It is added to mi,
 *   mi / z^64 is added to hi, and hi is the hash. See `reduce`; vpternlogq $0x96 adds three terms.
 *
 * Products
 *
 *   With halves a = a_0 + a_1 z^64 and h = h_0 + h_1 z^64, lo = a_0 h_0 and hi = a_1 h_1.
 *   Short messages make mi = a_0 h_1 + a_1 h_0 by two products, four in all. Long texts and long
 *   associated data use Karatsuba's method: the sum of (a_0 + a_1)(h_0 + h_1), to which the sums of
 *   lo and of hi are added once, before the reduction. There, two vectors are multiplied at once:
 *   one register has a_0 of both, one has a_1 of both, and their sum is a_0 + a_1 (`halves_of`).
 *
 * Powers
 *
 *   The key holds H^64 to H^1, in 16 vectors, as pairs of 128 bytes: the pair of the last two
 *   vectors comes last, and powers_end is behind it. The first 64 bytes of a pair have h_0 of both
 *   vectors, the others h_1. A word of 128 bits has the first vector's half as its lower half, and
 *   the second one's as its upper half. So bit 4 of the immediate value of vpclmulqdq chooses the
 *   vector, and bit 0 the half of a. Vector p from the end is the second of its pair if p is odd.
 *   The sums of halves for Karatsuba's method are made where they are used.
 *
 * Lanes
 *
 *   A message in one piece is: lanes without a use, the last block of associated data (or zeros),
 *   text, lengths. In AES the same lanes have counters, and the tag mask, J_0 through AES, costs no
 *   vector: J_0, whose number is 1, has the lane in front of the text, or that of the lengths. Up
 *   to three blocks of associated data before its last one go into lanes that are left in front of
 *   it, and up to eight that find none into one or two vectors in front. More are hashed on their
 *   own. Section 5 has the layouts.
 *
 * Text
 *
 *   Accesses begin at the start of the text or end at its end, and overlap: so nothing around it is
 *   accessed, and no masked access can reach into another page. One permutation of bytes moves text
 *   into its lanes, and one moves it back.
 *
 * Secrets
 *
 *   Round keys, powers of H, states, the text, the hash and the tag mask are in vectors alone,
 *   never in general registers or on the stack. Functions that C calls end with zeros in all
 *   vectors that they have used: the ABI would let later code find what is in them, and store it.
 *   Short messages use vectors 0 to 15 alone, since 16 to 31 take longer instructions to clear.
 *   General registers and masks have lengths and addresses, but for the number of a piece's counter
 *   on its way to a vector. Branches depend on lengths, on the number of rounds, and on whether the
 *   call opens; a wrong tag is told by a conditional move.
 */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64

#include "gcm/x86_gcm_asm.h"

/* ---- 1. Names -------------------------------------------------------------------------------- */

/* General registers. A name with _32 is the lower half of a register. */
#define KEY %rdi        /* struct key: the number of rounds, round keys, powers of H */
#define IV %rsi         /* 12 bytes; the register is free when they are in IV_LANES */
#define AAD %rcx        /* associated data */
#define AAD_BYTES %r8   /* its length; may have the bit hashed_aad */
#define AAD_BYTES_32 %r8d
#define OUT %r8         /* output: where the text goes; behind AAD_BYTES */
#define IN %r9          /* the text */
#define LEN %r10        /* bytes of the text */
#define LEN_32 %r10d
#define TABLES %r11     /* byte_numbers: all tables are addressed from here */
#define PADDED %rax     /* LEN rounded up to whole blocks */
#define PADDED_32 %eax
#define LACKING %rsi    /* PADDED - LEN: the bytes that the last block lacks, 0 to 15 */
#define LACKING_32 %esi
#define LAST_ROUND %rdx /* behind AES: 16 times the number of rounds, the place of the last key */
#define HAS_AAD %edx    /* behind the load of associated data: 0 if there is none. It is LAST_ROUND,
                         * which is not 0, if the load does not set it */
#define TABLES_LESS_PADDED %rdx  /* TABLES - PADDED: byte numbers from here move bytes up */
#define TABLES_LESS_LACKING %rcx /* TABLES - LACKING */
#define LAST_MASK %k1   /* the bytes of the last vector that are text */
#define FIRST_MASK %k2  /* the same of the first vector */

/* Vectors of short messages: zmm0 to zmm15. Names with _Y and _X are their lower half and lane 0.
 * A register has one name after another; the order here is that of their use. */
#define IV_LANES %zmm0      /* the IV and a counter of zero, in each lane */
#define IV_LANES_Y %ymm0
#define IV_BLOCK %xmm0      /* the same once */
#define TAG_MASK %xmm0      /* J_0 through AES */
#define TAG_MASK_LANES %zmm0
#define AAD_LANES %zmm1     /* the last block of associated data, then up to three before it */
#define AAD_BLOCK %xmm1     /* the last one */
#define LENGTHS %zmm2       /* the block of the lengths, in lane 0 */
#define LENGTHS_X %xmm2
#define LAST %zmm2          /* what is hashed of the last vector */
#define LAST_Y %ymm2
#define STATE0 %zmm3        /* vectors that go through AES */
#define STATE0_Y %ymm3
#define STATE0_X %xmm3
#define STATE1 %zmm4
#define STATE1_Y %ymm4
#define STATE1_X %xmm4
#define LENGTHS_LANE %zmm7  /* the block of the lengths in lane 3, zeros in the others */
#define TEXT0 %zmm8         /* vectors that are hashed, in this order, and then LAST: text, and the
                             * lanes around it */
#define TEXT0_Y %ymm8
#define TEXT0_X %xmm8
#define TEXT1 %zmm9
#define TEXT1_Y %ymm9
#define TEXT2 %zmm10
#define TEXT3 %zmm11
#define FRONT %zmm12        /* with has_front: a vector that is hashed in front of TEXT0 */
#define SECOND_FRONT %zmm11 /* with has_two: another one between these */
#define ROUND_KEY %zmm13
#define ROUND_KEY_Y %ymm13
#define ROUND_KEY_X %xmm13
#define NEXT_ROUND_KEY %zmm14
#define NEXT_ROUND_KEY_Y %ymm14
#define SCRATCH %zmm13
#define SCRATCH_Y %ymm13
#define SCRATCH_X %xmm13
#define SCRATCH_2 %zmm14
#define SCRATCH_2_X %xmm14
#define AAD_IN_ORDER %zmm14 /* the last blocks of associated data as they are hashed */
#define LAST_KEY %zmm15     /* the key of the last round */
#define LAST_KEY_Y %ymm15
#define LAST_KEY_X %xmm15

/* The hash of short messages, behind AES. */
#define LO %zmm3            /* parts of the sum of products */
#define MI %zmm4
#define HI %zmm5
#define HI_X %xmm5
#define HI_Y %ymm5
#define COMPUTED_TAG %xmm5
#define PRODUCT %zmm6
#define OTHER_PRODUCT %zmm7
#define POLY %zmm15         /* the table `polynomial`, in each lane */

/* The same registers by their numbers, for macros that choose one. */
.set state_0, 3             /* STATE0 to STATE4: zmm3 to zmm7 */
.set text_0, 8              /* TEXT0 to TEXT4: zmm8 to zmm12 */

/* Bits of tag_bytes, an argument on the stack. */
.set opens, 30              /* the message is opened */
.set has_front, 29          /* FRONT has blocks of associated data */
.set has_two, 27            /* SECOND_FRONT has such blocks, too */
.set has_lanes, 28          /* TEXT0 has such blocks: see finish_with_multiplied_aad */
.macro if_bit_jump bit, to
    testb $1 << (\bit - 24), tag_bytes + 3(%rsp)
    jnz \to
.endm

.set most_short_text, 288   /* bytes of text of a short message */
.set powers_end, 16 + 240 + 1024 /* from KEY: behind H^1 */

/* ---- 2. Tables ------------------------------------------------------------------------------- */

evc_constants
    .p2align 6
/* n numbers from \first on, each by the directive or macro \what. */
.macro numbers n, first, what
    .set at, \first
    .rept \n
    \what at
    .set at, at + 1
    .endr
.endm
/* A block of zeros but for its last byte. */
.macro counter_block number
    .fill 15, 1, 0
    .byte \number
.endm
/* The numbers of bytes in a pair of vectors. A vector of them, loaded n bytes further on, moves
 * bytes n places down (vpermb, vpermi2b), and a block of them does so in a block (vpshufb). */
byte_numbers:
.set block_bytes, 0
    numbers 128, 0, .byte
/* The step from a vector's counters to the next one's. It has its place here since this is near
 * enough to TABLES for a short address. Lanes before J_0 are loaded from here on, and not used. */
.set lanes, 128
    .long 4
    .fill 4*16 - 4, 1, 0
/* Counters: block 3 has the number 1, that of J_0; block 4 that of the first block of text. */
.set counters, 128 + 4*16
    .fill 3*16, 1, 0
    numbers 40, 1, counter_block
/* Counters of a last vector of three blocks of text and J_0, if it is the first vector of the text,
 * the second, the third, the fourth. */
.macro counters_before_j0 n, first
    .set place, \first
    .rept \n
    numbers 3, place, counter_block
    counter_block 1
    .set place, place + 4
    .endr
.endm
.set full_counters, counters + 43*16
    counters_before_j0 4, 2
/* The same if two blocks of text are in front of these vectors. */
.set half_counters, full_counters + 256
    counters_before_j0 3, 4
/* The bytes of text in a vector whose first block of text is in lane 4 (none), 3, 2, 1. */
.set text_masks, half_counters + 192
    .quad 0, 0
    .quad 0xffff000000000000, 0
    .quad 0xffffffff00000000, 0
    .quad 0xffffffffffff0000, 0
/* The bytes of text in a last vector, whose last block is in lane 2 and lacks 0 to 15 bytes; and
 * the same of an only vector, whose text begins in lane 1. */
.set last_text_masks, text_masks + 64
.set only_text_masks, last_text_masks + 128
/* Masks of the bytes from \first to 47, to 46 and so on, to 32. */
.macro masks_from first
    .set at, 48
    .rept 16
    .quad (1 << at) - (1 << \first)
    .set at, at - 1
    .endr
.endm
    masks_from 0
    masks_from 16
/* The bytes of each block in the opposite order. */
.set reversed, only_text_masks + 128 + 16
    .fill 16, 1, 0 /* so that the next are aligned */
    .rept 4
    .byte 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
    .endr
/* The numbers of words of 64 bits in a pair of vectors, for vpermq and vpermi2q. */
.set quad_numbers, reversed + 64
    numbers 16, 0, .quad
/* The same of AAD_LANES and a vector of text: blocks before the last one, the last one, text. */
.set aad_quads, quad_numbers + 128
    .quad 2, 3, 4, 5, 6, 7, 0, 1, 8, 9, 10, 11, 12, 13, 14, 15
.set words_reversed, aad_quads + 128
    .byte 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8
.set polynomial, words_reversed + 16
    .quad 0xc200000000000000, 0
.set counter_2, polynomial + 16
    counter_block 2
.set counter_1, counter_2 + 16
    counter_block 1
/* The first bytes of a block: n of them, 16 - n bytes from here. */
.set first_bytes, counter_1 + 16
    .fill 16, 1, 255
    .fill 16, 1, 0
/* Numbers of counters under way are the last words of blocks, in the order of the CPU: those of
 * four lanes, and the places of the bytes of such a word in a counter. */
.set lane_numbers, first_bytes + 32
    .fill 16, 1, 0
    .long 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3
.set counter_bytes, lane_numbers + 64
    .fill 12, 1, 128
    .byte 15, 14, 13, 12

/* ---- 3. Steps -------------------------------------------------------------------------------- */

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
/* `\how \name<n>`, where n is an expression from 1 to 5. */
.macro numbered how, name, n
    .irp i, 1, 2, 3, 4, 5
    .if \i == \n
    \how \name\i
    .endif
    .endr
.endm

/* ---- 3.1 Vectors of a short message ---- */

/* For i from \from to \end - 1: `\what i, STATE<i>, TEXT<i + shift>`. */
.macro each_vector from, end, shift, what:vararg
    .irp state, 3, 4, 5, 6, 7
    .if \state >= state_0 + \from && \state < state_0 + \end
    .irp text, 8, 9, 10, 11, 12
    .if \text == \state - state_0 + text_0 + \shift
    \what (\state-state_0), %zmm\state, %zmm\text
    .endif
    .endr
    .endif
    .endr
.endm
/* `\what i, STATE<i>, TEXT<i>`. */
.macro with_vector i, what:vararg
    each_vector (\i), (\i+1), 0, \what
.endm
/* `\what V`, where V is the i-th of n vectors that are hashed, in the order in which they are
 * known. The first vector of the message is the last one here, for it has associated data. The
 * place of V from the end of the message is n - i % n. */
.macro with_hashed i, n, what:vararg
.if \n == 1 || \i == \n - 1
    \what LAST
.elseif \i == \n
    \what TEXT0
.else
    .irp text, 9, 10, 11
    .if \text == text_0 + \i
    \what %zmm\text
    .endif
    .endr
.endif
.endm

/* ---- 3.2 AES ---- */

/* Counters before the first round: \s = numbers in memory + the IV + the first round key, which is
 * in ROUND_KEY. IVs come late, so nothing else is added to them before this. */
.macro start_counters s, numbers:vararg
    vmovdqa64 ROUND_KEY, \s
    vpternlogq $0x96, \numbers, IV_LANES, \s
.endm
/* The same of half a vector or of one block, STATE0_Y or STATE0_X. */
.macro start_part numbers, key, iv, s
    vmovdqa \key, \s
    vpternlogq $0x96, \numbers(TABLES), \iv, \s
.endm

/* A round of STATE0 to STATE<n - 1>. half: if 1, STATE0_Y in place of STATE0. */
.macro round_of_states n, half, key, key_y
.if \half
    vaesenc \key_y, STATE0_Y, STATE0_Y
.else
    vaesenc \key, STATE0, STATE0
.endif
    .irp i, 4, 5, 6, 7
    .if \i < state_0 + \n
    vaesenc \key, %zmm\i, %zmm\i
    .endif
    .endr
.endm
/* Round r, as middle_rounds wants it: of whole vectors, and with half a first vector. */
.macro whole_round r, n
    vbroadcasti32x4 round_keys + 16*\r(KEY), ROUND_KEY
    round_of_states \n, 0, ROUND_KEY, ROUND_KEY_Y
.endm
.macro half_round r, n
    vbroadcasti32x4 round_keys + 16*\r(KEY), ROUND_KEY
    round_of_states \n, 1, ROUND_KEY, ROUND_KEY_Y
.endm
/*
 * All rounds but the last one of n states, and LAST_KEY. From three states on they are a loop,
 * which costs no time then.
 *
 * In:      KEY; STATE0 to STATE<n - 1> from start_counters; half as for round_of_states
 * Out:     the states; LAST_KEY; LAST_ROUND
 * Changes: ROUND_KEY; with a loop also rsi, NEXT_ROUND_KEY
 */
.macro aes_rounds n, half
.if \n < 3 && \half
    middle_rounds half_round, \n
.elseif \n < 3
    middle_rounds whole_round, \n
.else
    vbroadcasti32x4 round_keys + 16(KEY), ROUND_KEY
    mov rounds(KEY), %edx
    mov $32, %esi
    shl $4, %edx
    round_of_states \n, \half, ROUND_KEY, ROUND_KEY_Y
L(two_rounds_\@):
    vbroadcasti32x4 round_keys(KEY,%rsi), ROUND_KEY
    vbroadcasti32x4 round_keys + 16(KEY,%rsi), NEXT_ROUND_KEY
    add $32, %esi
    round_of_states \n, \half, ROUND_KEY, ROUND_KEY_Y
    round_of_states \n, \half, NEXT_ROUND_KEY, NEXT_ROUND_KEY_Y
    cmp %edx, %esi
    jb L(two_rounds_\@)
.endif
    vbroadcasti32x4 round_keys(KEY,LAST_ROUND), LAST_KEY
.endm
/* aes_rounds, by a function where more than one layout of messages has the same states. */
.macro aes_of_message n, half=0
.if \n == 1 || \n == 5
    aes_rounds \n, \half
.elseif \half
    numbered call, aes_of_half_, \n
.else
    numbered call, aes_of_, \n
.endif
.endm

/* The last round and the addition of the text at once: \s = ciphertext (or plaintext) of \text. */
.macro last_round sum, i, s, text
    vpxorq \text, LAST_KEY, \sum
    vaesenclast \sum, \s, \s
.endm
/* Behind last_round, to seal: the ciphertext is what is hashed. */
.macro take_ciphertext i, s, text
    vmovdqa64 \s, \text
.endm
/* The same of the last vector: bytes behind the text are as they were. */
.macro take_last_ciphertext i, s, text
    vmovdqu8 \s, LAST{LAST_MASK}
.endm

/* ---- 3.3 Text ---- */

/*
 * The text at its end, and where it lies in the lanes of the last vector.
 *
 * In:      PADDED, LEN; masks: last_text_masks or only_text_masks
 * Out:     LACKING, LAST_MASK, OUT
 */
.macro ends_of_text masks
    mov PADDED_32, LACKING_32
    sub LEN_32, LACKING_32
    kmovq \masks(TABLES,LACKING,8), LAST_MASK
    mov out(%rsp), OUT
.endm
/* \to = the last block of a text of at least 16 bytes. Bytes behind its end are others of the 16
 * that are loaded: LAST_MASK leaves them out. */
.macro load_last_block to
    vmovdqu -16(IN,LEN), \to
    vpshufb (TABLES,LACKING), \to, \to
.endm
/* \to = the last vector of text, by a load of the last 64 bytes that are moved LACKING + from bytes
 * down. Bytes behind its end are others of these 64: LAST_MASK leaves them out. */
.macro load_last_vector from, to:vararg
    vmovdqu64 \from(TABLES,LACKING), SCRATCH
    vpermb -64(IN,LEN), SCRATCH, \to
.endm
/* \bytes = the bytes of \s whose numbers are in \bytes. */
.macro move_bytes bytes, i, s, text
    vpermb \s, \bytes, \bytes
.endm
/* SCRATCH = the bytes of two states whose numbers are in SCRATCH. */
.macro join_states next, i, s, text
    vpermi2b \next, \s, SCRATCH
.endm

/* ---- 3.4 The hash ---- */

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
.macro add_products part, powers, to, p, q
    vpclmulqdq $0x00, \powers, \part, \p
    vpclmulqdq $0x11, \powers, \part, \q
    vpternlogq $0x96, \p, \q, \to
.endm

/* \to = halves of \v times halves of its powers, those of the vector at place p from the end. half:
 * 0 for lo, 1 and 2 for mi, 3 for hi. */
.macro product half, p, to, v
    vpclmulqdq $((\p & 1) << 4 | (\half & 1)), \
        (powers_end - 64*(\p + (\p & 1)) + 64*(\half >> 1))(KEY), \v, \to
.endm
/* The blocks of \v as numbers, or back. */
.macro reverse_hashed v
    vpshufb reversed(TABLES), \v, \v
.endm
/* \sum = these products of all n vectors, and another term if n is 1. Changes PRODUCT and
 * OTHER_PRODUCT. */
.macro sum_of_products half, n, sum, other
    .irp i, 1, 2, 3, 4, 5
    .if \i <= \n
    .if \i == 1
    with_hashed \i, \n, product \half, (\n - \i % \n), \sum,
    .elseif \i & 1
    with_hashed \i, \n, product \half, (\n - \i % \n), OTHER_PRODUCT,
    vpternlogq $0x96, PRODUCT, OTHER_PRODUCT, \sum
    .else
    with_hashed \i, \n, product \half, (\n - \i % \n), PRODUCT,
    .endif
    .endif
    .endr
.if !(\n & 1)
    vpxorq PRODUCT, \sum, \sum
.endif
.ifnb \other
    vpxorq \other, \sum, \sum
.endif
.endm
/*
 * The sum of the products of n vectors, and the first half of its reduction: finish_vectors has the
 * second. There are four products for each pair of blocks, since Karatsuba's method would add
 * halves first. A core may start one product in two cycles alone: so those that the reduction
 * begins with come first, and those that it ends with come last.
 *
 * In:      TEXT0 to TEXT<n - 2>, LAST, in the order of memory; KEY, TABLES;
 *          lo, hi, mi: other terms, if n is 1
 * Out:     MI, which contains lo / z^64, and HI; POLY
 * Changes: LO, PRODUCT, OTHER_PRODUCT, SCRATCH, the vectors
 */
.macro hash_of_message n, lo, hi, mi
    .irp i, 1, 2, 3, 4, 5
    .if \i <= \n
    with_hashed \i, \n, reverse_hashed
    .endif
    .endr
    vbroadcasti32x4 polynomial(TABLES), POLY
    sum_of_products 0, \n, LO, \lo
    vpclmulqdq $0x00, POLY, LO, SCRATCH
    vpshufd $0x4e, LO, LO
    .irp i, 1, 2, 3, 4, 5
    .if \i <= \n
    .if \i == 1
    with_hashed \i, \n, product 1, (\n - \i % \n), MI,
    .else
    with_hashed \i, \n, product 1, (\n - \i % \n), OTHER_PRODUCT,
    vpternlogq $0x96, PRODUCT, OTHER_PRODUCT, MI
    .endif
    with_hashed \i, \n, product 2, (\n - \i % \n), PRODUCT,
    .endif
    .endr
    vpternlogq $0x96, LO, SCRATCH, MI
.ifb \mi
    vpxorq PRODUCT, MI, MI
.else
    vpternlogq $0x96, PRODUCT, \mi, MI
.endif
    sum_of_products 3, \n, HI, \hi
.endm

/* Clears TEXT1 to TEXT<n - 1>. */
.macro clear_text n
    .irp i, 9, 10, 11, 12
    .if \i < text_0 + \n
    clear %xmm\i
    .endif
    .endr
.endm
/* Continues where n vectors are hashed: TEXT0 to TEXT<n - 2>, and LAST. */
.macro finish n
    numbered jmp, finish_, \n
.endm

/* ---- 3.5 Associated data and lengths ---- */

/*
 * Loads the block of associated data if it has 8 to 16 bytes. Else this jumps to L(any_aad_<id>),
 * which other_bytes_of_aad defines: that returns to L(aad_loaded_<id>).
 *
 * In:      AAD, AAD_BYTES
 * Out:     AAD_BLOCK; the other lanes of AAD_LANES are zeros
 * Changes: rsi, SCRATCH
 */
.macro load_aad id
    lea -8(AAD_BYTES), %rsi
    cmp $8, %rsi
    ja L(any_aad_\id)
    vmovq (AAD), AAD_BLOCK
    vmovq -8(AAD,AAD_BYTES), SCRATCH_X
    mov TABLES, %rsi
    sub AAD_BYTES, %rsi
    vpshufb 16(%rsi), SCRATCH_X, SCRATCH_X
    vpunpcklqdq SCRATCH_X, AAD_BLOCK, AAD_BLOCK
L(aad_loaded_\id):
.endm
/*
 * Associated data of any other length, out of line behind load_aad.
 *
 * tells:    if 1, HAS_AAD is set
 * one_lane: if 1, lanes 1 to 3 of AAD_LANES are cleared
 * function: aad_before_text or, in a function, aad_of_vectors; it also says what changes
 */
.macro other_bytes_of_aad id, tells=0, one_lane=0, function=aad_before_text
L(any_aad_\id):
    clear AAD_BLOCK
.if \tells
    mov AAD_BYTES_32, HAS_AAD
.endif
    test AAD_BYTES, AAD_BYTES
    jz L(aad_loaded_\id)
    call \function
.if \tells
    mov $1, HAS_AAD
.endif
.if \one_lane
    vmovdqa AAD_BLOCK, AAD_BLOCK
.endif
    jmp L(aad_loaded_\id)
.endm
/* LENGTHS_X = the block of the lengths in bits, as it is in memory. Bytes go through the argument
 * len_bytes on the stack, for moves from general registers take vector units. depth: bytes of the
 * stack above the arguments. Changes AAD_BYTES, rsi. */
.macro lengths_as_hashed depth
    shl $3, AAD_BYTES
    lea (,LEN,8), %esi
    bswap AAD_BYTES
    bswap %rsi
    mov AAD_BYTES, \depth + len_bytes(%rsp)
    vmovq \depth + len_bytes(%rsp), LENGTHS_X
    mov %rsi, \depth + len_bytes(%rsp)
    vpinsrq $1, \depth + len_bytes(%rsp), LENGTHS_X, LENGTHS_X
.endm
/* LENGTHS_X = two numbers of bytes, in bits: LEN and AAD_BYTES are the block with all its 16 bytes
 * reversed, AAD_BYTES and LEN that with the bytes of each half reversed. */
.macro lengths_in_bits low, high
    vmovq \low, LENGTHS_X
    vpinsrq $1, \high, LENGTHS_X, LENGTHS_X
    vpsllq $3, LENGTHS_X, LENGTHS_X
.endm
/* AAD_BLOCK and LENGTHS_X, by a function if there are many states: then a call is not felt. */
.macro aad_and_lengths_of n, id
.if \n > 3
    call aad_and_lengths
.else
    load_aad \id
    lengths_as_hashed 0
.endif
.endm

/* ---- 3.6 Tags ---- */

/*
 * The end of a message: its tag is stored or compared. other_tags has what is not here.
 *
 * In:      COMPUTED_TAG; id: of labels
 * Out:     eax: 0, or error_of_tag
 * Changes: rcx, rdx; xmm1 to xmm6 are zeros
 */
.macro finish_tag id
    mov tag(%rsp), %rcx
    mov tag_bytes(%rsp), %rdx
    xor %eax, %eax
    cmp $16, %rdx
    jne L(other_tag_\id)
    vmovdqu COMPUTED_TAG, (%rcx)
L(tag_done_\id):
    clear %xmm1, %xmm2, %xmm3, %xmm4, %xmm5, %xmm6
.endm
/* Tags of fewer bytes, and those of messages that are opened: their size has bit `opens`. */
.macro other_tags id
L(short_tag_\id):
    call store_tag
    jmp L(tag_done_\id)
L(other_tag_\id):
    btr $opens, %rdx
    jnc L(short_tag_\id)
    cmp $16, %rdx
    jne L(compare_part_\id)
    vpxor (%rcx), COMPUTED_TAG, COMPUTED_TAG
    mov $error_of_tag, %edx
    vptest COMPUTED_TAG, COMPUTED_TAG
    cmovnz %edx, %eax
    jmp L(tag_done_\id)
L(compare_part_\id):
    call compare_tag
    jmp L(tag_done_\id)
.endm

/* ---- 4. Functions of short messages ---------------------------------------------------------- */

    .text
    .p2align 4
/*
 * The block of associated data and that of the lengths, of messages with many states.
 *
 * In:      AAD, AAD_BYTES, PADDED, LEN, KEY, TABLES; the arguments 8 bytes deeper on the stack
 * Out:     AAD_LANES and bits of tag_bytes, as aad_of_vectors leaves them; LENGTHS_X, the upper
 *          lanes of LENGTHS are zeros; HAS_AAD
 * Changes: AAD_BYTES, and what aad_of_vectors changes
 */
evc_local aad_and_lengths
    load_aad function
    lengths_as_hashed 8
    ret
    other_bytes_of_aad function, 1, 0, aad_of_vectors
evc_local_end aad_and_lengths

/* aes_of_<n>: aes_rounds of n states. aes_of_half_<n>: the first one is half a vector. */
.macro aes_function name, n, half
    .p2align 4
evc_local \name
    aes_rounds \n, \half
    ret
evc_local_end \name
.endm
    aes_function aes_of_2, 2, 0
    aes_function aes_of_3, 3, 0
    aes_function aes_of_4, 4, 0
    aes_function aes_of_half_2, 2, 1
    aes_function aes_of_half_3, 3, 1
    aes_function aes_of_half_4, 4, 1

/* ---- 4.1 Associated data ---- */

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
 * Associated data whose blocks have lanes in front of the text, or vectors in front of these.
 *
 * In:      AAD, AAD_BYTES, PADDED, KEY, TABLES; the arguments 16 bytes deeper on the stack
 * Out:     AAD_BLOCK: the last block, zeros behind; the last lanes of AAD_LANES: up to three blocks
 *          before it. If there are more than the text's first vector has lanes for, bit has_front
 *          is set, and up to four that have none are in the last lanes of FRONT; or bit has_two is
 *          set, too, and up to eight are in FRONT and SECOND_FRONT. If there are still more, these
 *          bits are not set, and AAD_BLOCK is the last block plus the hash of all before it.
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
    cmp $64, %rsi
    ja L(aad_in_two_vectors)
    cmp $most_short_text, PADDED_32
    ja L(aad_in_front)    /* the text begins in the second vector */
    add PADDED_32, %edx
    cmp $256 - 16, %edx   /* four vectors have lanes or text */
    ja other_aad
L(aad_in_front):
    orq $1 << has_front, 16 + tag_bytes(%rsp)
L(load_front):
    load_whole_blocks %esi
    vmovdqu64 quad_numbers(TABLES,%rsi), FRONT
    vpermq SCRATCH, FRONT, FRONT
L(aad_has_lanes):
    mov AAD_BYTES_32, %edx
    neg %edx
    and $15, %edx         /* the bytes that the last block lacks */
    cmp $64, AAD_BYTES
    jb L(fewer_blocks_of_aad)
    vmovdqu64 -64(AAD,AAD_BYTES), SCRATCH_2
    vmovdqu64 (TABLES,%rdx), SCRATCH
    vpermi2b AAD_LANES, SCRATCH_2, SCRATCH /* zeros behind the last byte */
    vshufi32x4 $0x93, SCRATCH, SCRATCH, AAD_LANES
    ret
L(fewer_blocks_of_aad):
    vmovdqu -16(AAD,AAD_BYTES), AAD_BLOCK
    vpshufb (TABLES,%rdx), AAD_BLOCK, AAD_BLOCK
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
L(aad_in_two_vectors):
    cmp $128, %rsi
    ja other_aad
    add PADDED_32, %edx
    cmp $192 - 16, %edx
    ja other_aad
    orq $1 << has_front | 1 << has_two, 16 + tag_bytes(%rsp)
    sub $64, %esi
    vmovdqu64 (AAD,%rsi), SECOND_FRONT
    jmp L(load_front)
L(aad_of_a_block):
    test AAD_BYTES, AAD_BYTES
    jns any_aad
/* Associated data whose hash is known, but for the last product: a state has it as one block. */
aad_of_state:
    vmovdqu (AAD), AAD_BLOCK
    btr $hashed_aad, AAD_BYTES
    ret
evc_local_end aad_of_vectors

/* aad_of_vectors, if the arguments are 8 bytes deeper on the stack. */
    .p2align 3
evc_local aad_before_text
    call aad_of_vectors
    ret
evc_local_end aad_before_text

/* Registers of the hash of associated data. */
#define AAD_POWERS %rsi   /* KEY less so many bytes that the blocks meet their powers */
#define AAD_NEXT %rax     /* the next pair of vectors */
#define AAD_BLOCKS_END %rdx /* behind the blocks before the last one */
#define AAD_LO %zmm8
#define AAD_LO_X %xmm8
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
 * In: AAD_POWERS, so that H^1 of the last vector is 16 bytes before powers_end from there, if the
 * blocks are the last ones
 */
.macro multiply_blocks width, at, is_loaded=0, lo=8, mi=9, hi=10, block=11
.if !\is_loaded
    vmovdqu64 \at(AAD), %\width\()mm\block
.endif
    vpshufb reversed(TABLES), %\width\()mm\block, %\width\()mm\block
    vpclmulqdq $0x10, powers_end - 64 + \at(AAD_POWERS), %\width\()mm\block, %\width\()mm\lo
    vpclmulqdq $0x10, powers_end + \at(AAD_POWERS), %\width\()mm\block, %\width\()mm\mi
    vpclmulqdq $0x11, powers_end + \at(AAD_POWERS), %\width\()mm\block, %\width\()mm\hi
    vpclmulqdq $0x11, powers_end - 64 + \at(AAD_POWERS), %\width\()mm\block, %\width\()mm\block
    vpxorq %\width\()mm\block, %\width\()mm\mi, %\width\()mm\mi
.endm

/*
 * One block for all associated data: the last block plus the hash of those before it. So it meets
 * the power of H of the last block, and the others meet theirs.
 *
 * In:      AAD, AAD_BYTES (other_aad: 1 to 7 or more than 16; any_aad: also 0), KEY, TABLES;
 *          other_aad: AAD_BLOCK is zeros if a state has the associated data
 * Out:     AAD_BLOCK: that block, or zeros if there are no bytes; AAD_BYTES without hashed_aad
 * Changes: rcx, rsi, vectors 2, 8 to 14, 29 and 30
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
    add KEY, AAD_POWERS
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
    vpshufb (TABLES,%rsi), SCRATCH_X, SCRATCH_X
    vpand first_bytes(TABLES,%rsi), SCRATCH_X, SCRATCH_X
    vpxor SCRATCH_X, AAD_BLOCK, AAD_BLOCK
    clear AAD_MI_X, AAD_HI_X, LOWER_POWERS_X, UPPER_POWERS_X
    ret

    /* 5 to 8 blocks before the last one are one pair of vectors with zeros in front. */
L(aad_in_a_pair):
    cmp $144, AAD_BYTES
    ja L(aad_in_pairs)
    lea -1(AAD_BYTES), %esi
    and $-16, %esi
    clear AAD_LO_X
    vmovdqu64 -64(TABLES,%rsi), FIRST_BLOCKS
    vpermi2b (AAD), AAD_LO, FIRST_BLOCKS
    vmovdqu64 -64(AAD,%rsi), SCRATCH
    halves_of FIRST_BLOCKS, SCRATCH, LOWER_HALVES, UPPER_HALVES, SCRATCH
    vmovdqu64 powers_end - 128(KEY), LOWER_POWERS
    vmovdqu64 powers_end - 64(KEY), UPPER_POWERS
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
    clear FIRST_BLOCKS_X
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
    lea -128(KEY,%rsi), AAD_POWERS
    clear AAD_LO_X, AAD_MI_X, AAD_HI_X
    cmp $-64, %rax
    jle 1f
    vmovdqu64 64(TABLES,%rax), FIRST_BLOCKS
    vpermi2b (AAD), AAD_LO, FIRST_BLOCKS
    vmovdqu64 64(AAD,%rax), SECOND_BLOCKS
    jmp 2f
1:  clear FIRST_BLOCKS_X
    vmovdqu64 128(TABLES,%rax), SECOND_BLOCKS
    vpermi2b (AAD), AAD_LO, SECOND_BLOCKS
2:  lea 128(AAD,%rax), AAD_NEXT
L(pair_of_aad):
    halves_of FIRST_BLOCKS, SECOND_BLOCKS, LOWER_HALVES, UPPER_HALVES, SCRATCH
    vmovdqu64 powers_end(AAD_POWERS), LOWER_POWERS
    vmovdqu64 powers_end + 64(AAD_POWERS), UPPER_POWERS
    add_products LOWER_HALVES, LOWER_POWERS, AAD_LO, SCRATCH, MORE_SCRATCH
    add_products UPPER_HALVES, UPPER_POWERS, AAD_HI, SCRATCH, MORE_SCRATCH
    vpxorq UPPER_HALVES, LOWER_HALVES, LOWER_HALVES
    vpxorq UPPER_POWERS, LOWER_POWERS, LOWER_POWERS
    add_products LOWER_HALVES, LOWER_POWERS, AAD_MI, SCRATCH, MORE_SCRATCH
    sub $-128, AAD_POWERS
    cmp KEY, AAD_POWERS
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
    lea -1024(KEY), AAD_POWERS
    clear AAD_LO_X, AAD_MI_X, AAD_HI_X
    jmp L(pair_of_aad)
L(end_of_pairs):
    clear AAD_LO_X, SCRATCH_X, FIRST_BLOCKS_X
    clear_upper SECOND_BLOCKS_X, MORE_SCRATCH_X
    evc_restore %rax
    evc_restore %rdx
    jmp L(add_last_of_aad)
evc_local_end other_aad

    define_tag_functions COMPUTED_TAG

/* ---- 4.2 The hash and the tag of a short message ---- */

/*
 * finish_<n>, by a jump: the end of a message of which n vectors are hashed.
 *
 * In:      TEXT0 to TEXT<n - 2>, LAST; TAG_MASK; with has_front also FRONT, and with has_two
 *          SECOND_FRONT; KEY, TABLES
 * Out:     the tag, compared if the message is opened; eax: the result of the call
 * Changes: rcx, rdx, rsi, the bits; clears all vectors that short messages have used
 *
 * hash_<n>: the same without has_front.
 */
.macro finish_function n
    .p2align 4
finish_\n:
.if \n < 5
    if_bit_jump has_front, L(front_of_\n)
.endif
hash_\n:
    hash_of_message \n
    clear_text \n
    jmp finish_vectors
.endm
/* TEXT0 = FRONT; what was in TEXT0 has been moved. */
.macro take_front front
    andq $~(1 << has_front | 1 << has_two), tag_bytes(%rsp)
    vmovdqa64 \front, TEXT0
    clear %xmm12
.endm
/* These functions, and what is in front of or behind them. */
    .p2align 4
evc_local finish_message
    finish_function 1
    finish_function 2
    finish_function 3
    finish_function 4

    /* Vectors in front: the others move to the places behind them. */
L(front_of_1):
    if_bit_jump has_two, L(two_in_front_of_1)
    take_front FRONT
    jmp hash_2
L(two_in_front_of_1):
    vmovdqa64 SECOND_FRONT, TEXT1
    take_front FRONT
    jmp hash_3
L(front_of_2):
    if_bit_jump has_two, L(two_in_front_of_2)
    vmovdqa64 TEXT0, TEXT1
    take_front FRONT
    jmp hash_3
L(two_in_front_of_2):
    vmovdqa64 TEXT0, TEXT2
    vmovdqa64 SECOND_FRONT, TEXT1
    take_front FRONT
    jmp hash_4
L(two_in_front_of_3):
    vmovdqa64 SECOND_FRONT, OTHER_PRODUCT
    vmovdqa64 TEXT1, TEXT3
    vmovdqa64 TEXT0, TEXT2
    vmovdqa64 OTHER_PRODUCT, TEXT1
    take_front FRONT
    jmp finish_5
L(front_of_3):
    if_bit_jump has_two, L(two_in_front_of_3)
    vmovdqa64 TEXT1, TEXT2
    vmovdqa64 TEXT0, TEXT1
    take_front FRONT
    jmp hash_4
L(front_of_4):
    vmovdqa64 TEXT2, TEXT3
    vmovdqa64 TEXT1, TEXT2
    vmovdqa64 TEXT0, TEXT1
    take_front FRONT
    finish_function 5

    /* The second half of the reduction, and the sum of the four lanes: the hash is in the last
     * terms of a sum, with the tag mask. */
    .p2align 4
finish_vectors:
    vpshufb reversed(TABLES), TAG_MASK, TAG_MASK
    vpclmulqdq $0x00, POLY, MI, %zmm7
    vpshufd $0x4e, MI, MI
    vpternlogq $0x96, MI, %zmm7, HI
    vextracti32x4 $3, HI, %xmm3
    vextracti32x4 $2, HI, %xmm4
    vextracti128 $1, HI_Y, %xmm6
    vpternlogq $0x96, %xmm3, TAG_MASK, HI_X
    vpternlogq $0x96, %xmm4, %xmm6, HI_X
    vpshufb reversed(TABLES), HI_X, COMPUTED_TAG
    finish_tag vectors /* zmm15 has the polynomial alone */
    clear %xmm0, %xmm8, %xmm13, %xmm14, %xmm7
    vzeroupper
    ret
    other_tags vectors
evc_local_end finish_message

/* ---- 5. Short messages ----------------------------------------------------------------------- */

/*
 * A message has one of these layouts by its size. In a row, lanes are in the order of memory, and |
 * is between vectors. T: a block of text, A: of associated data (or zeros), L: that of the lengths,
 * J: J_0, -: a lane without a use.
 *
 *   bytes of text   macro               lanes in AES                 lanes that are hashed
 *     0 to 16       message_of_a_block  J, T                         A, T, L
 *    17 to 32       message_beside 1    J T T -                      A T T L
 *    33 to 48       message_apart 1, 0  T T T J                      A | T T T L
 *    49 to 64       message_apart 2, 1  T J | T T T -                A A A T | T T T L
 *    65 to 80       message_apart 2, 2  T T | T T T J                A A T T | T T T L
 *    81 to 96       message_beside 2    J T T T | T T T -            A T T T | T T T L
 *    97 to 112      message_apart 2, 0  T T T T | T T T J            A A A A | T T T T | T T T L
 *   113 to 128      message_apart 3, 1  T J | T T T T | T T T -      A A A T | T T T T | T T T L
 *                   message_full 2      J | T T T T | T T T T        T T T T | T T T T, A A A L
 *   129 to 192      as 65 to 128, with one vector more
 *   193 to 256      as 65 to 128, with two vectors more, but no message_full
 *   257 to 272      message_beside 5    - J T T | T T T T | ...      A A T T | T T T T | ...
 *   273 to 288      message_beside 5    J T T T | T T T T | ...      A T T T | T T T T | ...
 *
 * message_full seals; messages of the same lengths are opened by message_apart. Associated data
 * that finds no lane has vectors in front, or is hashed on its own: see aad_of_vectors.
 *
 * So no vector goes through AES, which takes longest, for lengths or associated data alone, and a
 * first vector of one or two blocks is half a vector. All layouts have the same steps:
 *
 *   counters through AES but for its last round; associated data and lengths; where the text ends;
 *   text to its lanes; the last round, and ciphertext to OUT; to seal: ciphertext in place of the
 *   text that is hashed; jump to finish_<n>.
 *
 * All macros of this section but the small ones in between take
 *
 * In:      KEY, IV_LANES (lane 0), AAD, AAD_BYTES, IN, LEN, TABLES; out, len_bytes, tag and
 *          tag_bytes on the stack, with the bit `opens`
 * Out:     the text at OUT; they return to the caller by finish_<n>, which clears vectors
 */

/* The beginning: IV_LANES, ROUND_KEY and PADDED. */
.macro begin_message iv
    vshufi32x4 $0, \iv, \iv, \iv
    vbroadcasti32x4 round_keys(KEY), ROUND_KEY
    lea 15(LEN), PADDED_32
    and $-16, PADDED_32
.endm

/* ---- 5.1 Associated data and text in one vector ---- */

/* A message whose first vector has the last block of associated data, and then text. J_0 has that
 * block's lane in AES. n: vectors; others have 4 blocks of text, or 3 and the lengths. */
.macro message_beside n
    begin_message IV_LANES
    each_vector 0, \n, 0, beside_counters \n,
    aes_of_message \n
    aad_and_lengths_of \n, beside_\n
.if \n == 1
    ends_of_text only_text_masks
    vinserti32x4 $3, LENGTHS_X, AAD_LANES, LAST /* what is hashed, but for the text */
    load_last_block SCRATCH_X
    vinserti32x4 $1, (IN), AAD_LANES, TEXT0
    vinserti32x4 $2, SCRATCH_X, TEXT0, TEXT0
    vmovdqu8 TEXT0, LAST{LAST_MASK}
.else
    ends_of_text last_text_masks
    vshufi32x4 $0x15, LENGTHS, LENGTHS, LAST
    mov TABLES, TABLES_LESS_PADDED
    sub PADDED, TABLES_LESS_PADDED
    vmovdqu64 aad_quads + 80 - 64*\n(TABLES,PADDED), TEXT0
    vpermi2q (IN), AAD_LANES, TEXT0
    each_vector 1, (\n-1), 0, load_beside \n,
    with_vector (\n-1), load_last_beside
.endif
    each_vector 0, \n, 0, last_round SCRATCH_2,

    /* The lane of J_0 is the tag mask plus the block of associated data: see TAG_MASK below. */
.if \n == 1
    mov TABLES, TABLES_LESS_LACKING
    sub LACKING, TABLES_LESS_LACKING
    vmovdqu 32(TABLES_LESS_LACKING), SCRATCH_X
    vextracti128 $1, STATE0_Y, (OUT)
    vpermb STATE0, SCRATCH, SCRATCH
    vmovdqu SCRATCH_X, -16(OUT,LEN)
    vmovdqa STATE0_X, TAG_MASK
.else
    vmovdqu 64*\n - 32(TABLES_LESS_PADDED), SCRATCH_2_X
    vpermb STATE0, SCRATCH_2, TAG_MASK_LANES
    vmovdqu64 quad_numbers + 64*\n - 16(TABLES_LESS_PADDED), SCRATCH
    vpermi2q STATE1, STATE0, SCRATCH
    /* The last bytes go first, behind others that have no use: the vectors in front of them then
     * take the place of these. */
    vmovdqu64 48(TABLES_LESS_PADDED,LEN), SCRATCH_2
    with_vector (\n-1), move_bytes SCRATCH_2,
    vmovdqu64 SCRATCH_2, -64(OUT,LEN)
    vmovdqu64 SCRATCH, (OUT)
    each_vector 1, (\n-1), 0, store_beside \n,
.endif

    /* A branch and not a mask: what is opened is hashed without waiting for AES. */
    if_bit_jump opens, L(hashed_beside_\n)
.if \n > 1
    kmovq text_masks + 80 - 64*\n(TABLES,PADDED), FIRST_MASK
    vmovdqu8 STATE0, TEXT0{FIRST_MASK}
.endif
    each_vector 1, (\n-1), 0, take_ciphertext
    with_vector (\n-1), take_last_ciphertext
L(hashed_beside_\n):
    vpxor AAD_BLOCK, TAG_MASK, TAG_MASK
    finish \n
.if \n <= 3
    other_bytes_of_aad beside_\n, 0, (\n==1)
.endif
.endm
/* Vector i: its counters, text and output. The text ends in the last lane but one of n vectors. */
.macro beside_counters n, i, s, text
    start_counters \s, counters + 80 - 64*\n + 64*\i(TABLES,PADDED)
.endm
.macro load_beside n, i, s, text
    vmovdqu64 64*\i - 64*\n + 16(IN,PADDED), \text
.endm
.macro load_last_beside i, s, text
    load_last_vector 16, \text
    vmovdqu8 \text, LAST{LAST_MASK}
.endm
.macro store_beside n, i, s, text
    vmovdqu64 \s, 64*\i - 64*\n + 16(OUT,PADDED)
.endm

/* ---- 5.2 Associated data apart from the text ---- */

/*
 * A message whose whole vectors of text begin behind \lead blocks.
 *
 * n:     vectors in AES
 * lead:  blocks of text in half a vector, STATE0_Y: 0 if there is no such vector, 1 (then J_0 is
 *        behind it), or 2. They are hashed behind associated data. Without them, associated data
 *        has a vector of its own, or with n = 1 a product of its own.
 * first: the first whole vector: 0, or behind the half vector 1
 *
 * But for lead = 1, J_0 is in the lane where the lengths are hashed. As an example, a message of 40
 * bytes and at most one block of associated data, A (n = 1, lead = 0, first = 0):
 *
 *   STATE0 = counters 2, 3, 4 and 1, through AES but for its last round
 *   AAD_TERM_LO, _HI, _MI = A H^5
 *   LAST = text in lanes 0 to 2, zeros in 8 bytes and lane 3; LENGTHS_LANE = lengths in lane 3
 *   STATE0 = the last round with LAST_KEY + LAST: ciphertext; lane 3: the tag mask
 *   bytes 0 to 31 and bytes 24 to 39 of STATE0 go to OUT; TAG_MASK = lane 3
 *   LAST = LAST + LENGTHS_LANE; to seal, bytes 0 to 39 of LAST = STATE0 (LAST_MASK)
 *   tag = TAG_MASK + the terms and the sum of LAST times H^4, H^3, H^2, H, reduced
 */
.macro message_apart n, lead, first
    .set gap, (64 - 16*\lead) % 64 /* vector i begins at 64 i - gap in the text */
    begin_message IV_LANES
.if \lead == 1
    start_part counter_2, ROUND_KEY_Y, IV_LANES_Y, STATE0_Y /* behind it is counter_1 */
.elseif \lead == 2
    start_part counters+64, ROUND_KEY_Y, IV_LANES_Y, STATE0_Y
.endif
    each_vector \first, \n, 0, apart_counters \n, \lead,
    aes_of_message \n, \first
.if \n == 1
    load_aad apart_\n\()_\lead
    multiply_aad AAD_BLOCK
L(aad_multiplied_apart_\n\()_\lead):
    lengths_as_hashed 0
.else
    aad_and_lengths_of \n, apart_\n\()_\lead
.endif
    ends_of_text last_text_masks

    /* The lanes around the text; text; the last rounds. */
.if \lead == 1
    vshufi32x4 $0x15, LENGTHS, LENGTHS, LAST /* lengths: lane 3; text goes before them */
    vshufi32x4 $0x0e, AAD_LANES, AAD_LANES, AAD_IN_ORDER
    vmovdqu (IN), TEXT0_X
    last_round_of_half LAST_KEY_Y
.else
    vshufi32x4 $0x15, LENGTHS, LENGTHS, LENGTHS_LANE /* text has LAST until the last round */
.endif
.if \lead == 2
    vshufi32x4 $0x03, AAD_LANES, AAD_LANES, AAD_IN_ORDER
.elseif \lead == 0 && \n > 1
    vshufi32x4 $0x39, AAD_LANES, AAD_LANES, TEXT0
.endif
    mov TABLES, TABLES_LESS_LACKING
    sub LACKING, TABLES_LESS_LACKING
.if \lead == 2
    vmovdqu (IN), TEXT0_Y
.endif
.if \n > 1 + \first
    each_vector \first, (\n-1), (1-\first), load_text gap,
.if \lead == 1
    load_last_vector 16, LAST{LAST_MASK}
.else
    load_last_vector 16, LAST{LAST_MASK}{z}
.endif
.else
    load_last_block SCRATCH_X
.if \lead == 1
    vmovdqu 16(IN), TEXT1_Y
    vinserti32x4 $2, SCRATCH_X, TEXT1, TEXT1
    vmovdqu8 TEXT1, LAST{LAST_MASK}
.else
    vmovdqu 16*\lead(IN), LAST_Y
    vinserti32x4 $2, SCRATCH_X, LAST, LAST
    vmovdqu8 LAST, LAST{LAST_MASK}{z}
.endif
.endif
.if \lead == 2
    last_round_of_half LAST_KEY_Y
.endif
    each_vector \first, (\n-1), (1-\first), last_round SCRATCH,
    vpxorq LAST, LAST_KEY, LAST_KEY /* with zeros in the lane of J_0 */
.if \lead != 1
    vporq LENGTHS_LANE, LAST, LAST
.endif
    with_vector (\n-1), last_round_and_store_apart \n, \lead, \first,
.if \lead == 1
    vmovdqu STATE0_X, (OUT)
    vextracti128 $1, STATE0_Y, TAG_MASK
.endif

.if \lead != 1 || \n == 2 || \n == 5 /* others are opened: message_full seals them */
    if_bit_jump opens, L(hashed_apart_\n\()_\lead)
.if \lead == 1
    vmovdqa STATE0_X, TEXT0_X
.elseif \lead == 2
    vmovdqa STATE0_Y, TEXT0_Y
.endif
    each_vector \first, (\n-1), (1-\first), take_ciphertext
    with_vector (\n-1), take_last_ciphertext
L(hashed_apart_\n\()_\lead):
.endif
.if \lead == 1
    vinserti32x4 $3, TEXT0_X, AAD_IN_ORDER, TEXT0
.elseif \lead == 2
    vinserti64x4 $1, TEXT0_Y, AAD_IN_ORDER, TEXT0
.endif
.if \n == 1
    finish_with_multiplied_aad apart_\n\()_\lead
.elseif \lead == 0
    finish_behind_aad \n
.else
    finish \n
.endif
.if \n > 1 && \n <= 3
    other_bytes_of_aad apart_\n\()_\lead, (\lead==0)
.endif
.endm
/* Counters of vector i. The last one has J_0 in its last lane, but for lead = 1. */
.macro apart_counters n, lead, i, s, text
.if \lead != 1 && \i == \n - 1
.if \lead == 0
    start_counters \s, full_counters + 64*\n - 64(TABLES)
.else
    start_counters \s, half_counters + 64*\n - 128(TABLES)
.endif
.else
    text_counters gap, \i, \s
.endif
.endm
/* Counters, text and output of a vector whose place in the text is 64 i - gap. */
.macro text_counters gap, i, s, text
    start_counters \s, counters + 64 - \gap + 64*\i(TABLES)
.endm
.macro load_text gap, i, s, text
    vmovdqu64 64*\i - \gap(IN), \text
.endm
.macro store_text gap, i, s, text
    vmovdqu64 \s, 64*\i - \gap(OUT)
.endm
/* The last round of the half vector; it has the text in TEXT0_Y. */
.macro last_round_of_half last_key
    vpxor TEXT0_Y, \last_key, SCRATCH_Y
    vaesenclast SCRATCH_Y, STATE0_Y, STATE0_Y
.endm
/* The last round of the last vector, s, and stores, but for the first block with lead = 1. The
 * block behind the text is the tag mask or of no use: it is not stored, not even for a moment. */
.macro last_round_and_store_apart n, lead, first, i, s, text
    vaesenclast LAST_KEY, \s, \s
.if \n > 1 + \first
    vmovdqu64 48(TABLES_LESS_LACKING), SCRATCH
    with_vector (\n-2), join_states \s,
.if \lead == 2
    vmovdqu STATE0_Y, (OUT)
.endif
    each_vector \first, (\n-1), 0, store_text gap,
    vmovdqu64 SCRATCH, -64(OUT,LEN)
.else
    vmovdqu 32(TABLES_LESS_LACKING), SCRATCH_X
.if \lead != 1
    vmovdqu STATE0_Y, (OUT)
.endif
.if \first
    vmovdqu STATE1_Y, 16*\lead(OUT)
.endif
    vpermb \s, SCRATCH, SCRATCH
    vmovdqu SCRATCH_X, -16(OUT,LEN)
.endif
.if \lead != 1
    vextracti32x4 $3, \s, TAG_MASK
.endif
.endm
/* n vectors of text, and TEXT0 with associated data; or, if there is none, one vector less. */
.macro finish_behind_aad n
    test HAS_AAD, HAS_AAD
    jz L(text_alone_\n)
    finish (\n+1)
L(text_alone_\n):
    vmovdqa64 TEXT1, TEXT0
.if \n > 2
    vmovdqa64 TEXT2, TEXT1
.endif
.if \n > 3
    vmovdqa64 TEXT3, TEXT2
.endif
    jmp hash_\n
.endm

/* Parts of the product of the only block of associated data, where text and lengths fill the only
 * vector that is hashed: this block meets H^5, which is in the last lane of the last vector but
 * one: its halves are lower halves of words in the last pair of powers. */
#define AAD_TERM_LO %zmm9
#define AAD_TERM_LO_X %xmm9
#define AAD_TERM_HI %zmm10
#define AAD_TERM_HI_X %xmm10
#define AAD_TERM_MI %zmm11
#define AAD_TERM_MI_X %xmm11
.macro multiply_aad aad
    vpshufb reversed(TABLES), \aad, SCRATCH_X
    vpclmulqdq $0x00, powers_end - 80(KEY), SCRATCH_X, AAD_TERM_LO_X
    vpclmulqdq $0x01, powers_end - 16(KEY), SCRATCH_X, AAD_TERM_HI_X
    vpclmulqdq $0x00, powers_end - 16(KEY), SCRATCH_X, AAD_TERM_MI_X
    vpclmulqdq $0x01, powers_end - 80(KEY), SCRATCH_X, SCRATCH_X
    vpxor SCRATCH_X, AAD_TERM_MI_X, AAD_TERM_MI_X
.endm
/* The end of that message, and associated data of any length: two blocks or more have TEXT0, and
 * bit has_lanes tells so. */
.macro finish_with_multiplied_aad id
    if_bit_jump has_lanes, L(aad_is_vector_\id)
    hash_of_message 1, AAD_TERM_LO, AAD_TERM_HI, AAD_TERM_MI
    clear_text 4
    jmp finish_vectors
L(aad_is_vector_\id):
    andq $~(1 << has_lanes), tag_bytes(%rsp)
    jmp finish_2
L(no_terms_\id):
    clear AAD_TERM_LO_X, AAD_TERM_HI_X, AAD_TERM_MI_X
    jmp L(aad_multiplied_\id)
L(any_aad_\id):
    clear AAD_BLOCK
    test AAD_BYTES, AAD_BYTES
    jz L(no_terms_\id)
    call aad_before_text
    cmp $16, AAD_BYTES
    jbe L(aad_loaded_\id)
    orq $1 << has_lanes, tag_bytes(%rsp)
    vshufi32x4 $0x39, AAD_LANES, AAD_LANES, TEXT0
    jmp L(aad_multiplied_\id)
.endm

/* ---- 5.3 Text in whole vectors, sealed ---- */

/* Registers of message_full beside those of all short messages. */
#define ENDS %zmm14         /* the last three blocks of associated data, and the lengths */
#define ENDS_POWERS %zmm13
#define ENDS_LO %zmm10      /* parts of the sum of their products */
#define ENDS_MI %zmm7
/* ENDS_HI is the argument ends_hi, for it is above the vectors of text. */
#define FULL_POWERS0 %zmm14 /* powers of the k vectors of text */
#define FULL_POWERS1 %zmm12
#define LAST_POWERS %zmm1

/*
 * A message to seal, whose text fills k vectors (2 or 3) from its first block on. J_0 is half a
 * vector of AES, whose other block has no use. Powers of H for text are one block from their
 * places, since the lengths come behind it; the last three blocks of associated data and the
 * lengths are hashed as one more vector, while AES is under way. So less is left to hash behind AES
 * than by message_apart; to open, that takes fewer instructions.
 *
 * TEXT0 to TEXT<k - 2> and LAST are text, as STATE1 to STATE<k>.
 */
.macro message_full k, ends_hi
    begin_message IV_LANES
    start_part counter_1, ROUND_KEY_X, IV_BLOCK, STATE0_X
    each_vector 1, (\k+1), 0, text_counters 64,
    aes_of_message (\k+1), 1
    load_aad full_\k
    lengths_as_hashed 0
    vshufi32x4 $0x0e, AAD_LANES, AAD_LANES, ENDS
    vinserti32x4 $3, LENGTHS_X, ENDS, ENDS
    vpshufb reversed(TABLES), ENDS, ENDS
    powers_of_ends 0, (\k+1), ENDS_POWERS
    vpclmulqdq $0x10, ENDS_POWERS, ENDS, ENDS_LO
    vpclmulqdq $0x11, ENDS_POWERS, ENDS, ENDS_MI
    powers_of_ends 1, (\k+1), ENDS_POWERS
    vpclmulqdq $0x11, ENDS_POWERS, ENDS, \ends_hi
    vpclmulqdq $0x10, ENDS_POWERS, ENDS, ENDS_POWERS
    vpxorq ENDS_POWERS, ENDS_MI, ENDS_MI

    /* The last block of text is in lane 3, so masks of the table do not fit. */
    mov PADDED_32, LACKING_32
    sub LEN_32, LACKING_32
    mov $-1, %rdx
    shrx LACKING, %rdx, %rdx
    kmovq %rdx, LAST_MASK
    mov out(%rsp), OUT
    mov TABLES, TABLES_LESS_LACKING
    sub LACKING, TABLES_LESS_LACKING
    load_last_vector 0, LAST{LAST_MASK}{z}
    each_vector 1, \k, -1, load_text 64,
    vaesenclast LAST_KEY_X, STATE0_X, TAG_MASK
    each_vector 1, \k, -1, last_round SCRATCH,
    vpxorq LAST, LAST_KEY, SCRATCH
    with_vector \k, last_round_and_store_full \k,
    each_vector 1, \k, -1, take_ciphertext
    with_vector \k, take_last_of_full
    if_bit_jump has_front, L(front_of_full_\k)
L(hash_full_\k):
    hash_of_full \k, \ends_hi
    clear_text 5
    jmp finish_vectors
L(front_of_full_\k):
.if \k == 2
    testb $1 << (has_two - 24), tag_bytes + 3(%rsp)
    jz L(one_in_front_of_full_\k)
    add_front (\k+3), \ends_hi
    vmovdqa64 SECOND_FRONT, FRONT
L(one_in_front_of_full_\k):
.endif
    add_front (\k+2), \ends_hi
    andq $~(1 << has_front | 1 << has_two), tag_bytes(%rsp)
    jmp L(hash_full_\k)
    other_bytes_of_aad full_\k
.endm
/* As last_round_and_store_apart; SCRATCH: the last key plus text. */
.macro last_round_and_store_full k, i, s, text
    vaesenclast SCRATCH, \s, \s
    vmovdqu64 64(TABLES_LESS_LACKING), SCRATCH
    with_vector (\k-1), join_states \s,
    each_vector 1, \k, 0, store_text 64,
    vmovdqu64 SCRATCH, -64(OUT,LEN)
.endm
/* The ciphertext of the last vector, and zeros behind it. */
.macro take_last_of_full i, s, text
    vmovdqu8 \s, LAST{LAST_MASK}{z}
.endm
/* The sums of ENDS += the products of FRONT, at place p from the end. */
.macro add_front p, ends_hi
    vpshufb reversed(TABLES), FRONT, FRONT
    product 0, \p, SCRATCH, FRONT
    vpxorq SCRATCH, ENDS_LO, ENDS_LO
    product 1, \p, SCRATCH, FRONT
    product 2, \p, SCRATCH_2, FRONT
    vpternlogq $0x96, SCRATCH, SCRATCH_2, ENDS_MI
    product 3, \p, SCRATCH, FRONT
    vpxorq SCRATCH, \ends_hi, \ends_hi
.endm

/* \to = powers of ENDS: the lengths meet H^1, and the other lanes those of place p from the end.
 * All are upper halves of the words of 128 bits. half: 1 for upper halves of powers, 0 for lower
 * ones. */
.macro powers_of_ends half, p, to
.if \p & 1
    vmovdqu64 (powers_end - 64*\p - 64 + 64*\half)(KEY), \to
.else
    vmovdqu64 (powers_end - 64*\p - 8 + 64*\half)(KEY), \to
.endif
    vinserti32x4 $3, (powers_end - 128 + 48 + 64*\half)(KEY), \to, \to
.endm
/* \to = powers of a vector whose last block is one block in front of place \p from the end: the
 * first one is the last of the place before. */
.macro powers_in_front half, p, to
.if \p & 1
    vmovdqu64 (powers_end - 64*\p - 64 - 16 + 64*\half)(KEY), \to
    vinserti32x4 $0, (powers_end - 64*\p - 64 + 40 + 64*\half)(KEY), \to, \to
.else
    vmovdqu64 (powers_end - 64*\p - 16 + 64*\half)(KEY), \to
    vinserti32x4 $0, (powers_end - 64*\p - 128 + 56 + 64*\half)(KEY), \to, \to
.endif
.endm
/* `\what POWERS, V` of the i-th of k vectors of text. */
.macro with_powers i, k, what:vararg
.if \i == \k - 1
    \what LAST_POWERS, LAST
.elseif \i == 0
    \what FULL_POWERS0, TEXT0
.else
    \what FULL_POWERS1, TEXT1
.endif
.endm
/* The steps of hash_of_full with one of these vectors: its powers, its number, a product of halves
 * (half of \v and p as for `product`). */
.macro load_upper_powers p, powers, v
    powers_in_front 1, \p, \powers
.endm
.macro load_lower_powers p, powers, v
    powers_in_front 0, \p, \powers
    reverse_hashed \v
.endm
.macro product_of_full half, p, to, powers, v
    vpclmulqdq $((\p & 1) << 4 | \half), \powers, \v, \to
.endm
/* \sum = the products of one half of all k vectors with the powers that are loaded, and \ends. */
.macro sum_of_full half, k, sum, ends
    with_powers 0, \k, product_of_full \half, \k, \sum,
    with_powers 1, \k, product_of_full \half, (\k - 1), PRODUCT,
    vpternlogq $0x96, PRODUCT, \ends, \sum
.if \k == 3
    with_powers 2, \k, product_of_full \half, 1, PRODUCT,
    vpxorq PRODUCT, \sum, \sum
.endif
.endm
/* As hash_of_message, of k vectors of text and the sums of ENDS. */
.macro hash_of_full k, ends_hi
    .irp i, 0, 1, 2
    .if \i < \k
    with_powers \i, \k, load_lower_powers (\k - \i),
    .endif
    .endr
    vbroadcasti32x4 polynomial(TABLES), POLY
    sum_of_full 0, \k, LO, ENDS_LO
    vpclmulqdq $0x00, POLY, LO, SCRATCH
    vpshufd $0x4e, LO, LO
    .irp i, 0, 1, 2
    .if \i < \k
.if \i == 0
    with_powers \i, \k, product_of_full 1, (\k - \i), MI,
.else
    with_powers \i, \k, product_of_full 1, (\k - \i), %zmm5,
.endif
    with_powers \i, \k, load_upper_powers (\k - \i),
    with_powers \i, \k, product_of_full 0, (\k - \i), PRODUCT,
.if \i == 0
    vpternlogq $0x96, PRODUCT, ENDS_MI, MI
.else
    vpternlogq $0x96, PRODUCT, %zmm5, MI
.endif
    .endif
    .endr
    vpternlogq $0x96, LO, SCRATCH, MI
    sum_of_full 1, \k, HI, \ends_hi
.endm

/* ---- 5.4 At most one block of text ---- */

/* Registers of message_of_a_block: STATE0_X is J_0, STATE1_X the counter of the text. mi is two
 * terms. */
#define BLOCK %xmm0         /* the text, and then what is hashed of it */
#define SUM_LO %xmm7
#define SUM_HI %xmm8
#define SUM_MI %xmm9
#define SUM_MI_2 %xmm5
#define TERM_LO %xmm10      /* the product of the associated data */
#define TERM_HI %xmm11
#define TERM_MI %xmm12
#define TERM_MI_2 %xmm1

/* lo, hi, mi, mi_2 = parts of \a times H^k. */
.macro multiply a, k, lo, hi, mi, mi_2
    vpclmulqdq $0x10, powers_end - 64 - 16*\k(KEY), \a, \lo
    vpclmulqdq $0x11, powers_end - 16*\k(KEY), \a, \hi
    vpclmulqdq $0x10, powers_end - 16*\k(KEY), \a, \mi
    vpclmulqdq $0x11, powers_end - 64 - 16*\k(KEY), \a, \mi_2
.endm

/* A message of at most one block. Without text the block of associated data meets H^2, else H^3.
 * Only the text is waited for, and nothing crosses the lanes of a wide vector. */
.macro message_of_a_block iv
    vmovdqa counter_1(TABLES), STATE0_X
    vmovdqa counter_2(TABLES), STATE1_X
    vpternlogq $0x96, round_keys(KEY), \iv, STATE0_X
    vpternlogq $0x96, round_keys(KEY), \iv, STATE1_X
    middle_rounds round_of_two_blocks, 2
    load_aad block
    lengths_in_bits LEN, AAD_BYTES
    vpshufb reversed(TABLES), AAD_BLOCK, AAD_BLOCK
    vaesenclast round_keys(KEY,LAST_ROUND), STATE0_X, STATE0_X
    multiply LENGTHS_X, 1, SUM_LO, SUM_HI, SUM_MI, SUM_MI_2
    test LEN_32, LEN_32
    jz L(block_without_text)
    mov out(%rsp), %rsi
    cmp $16, LEN_32
    jne L(load_part_of_block)
    vmovdqu (IN), BLOCK
L(block_loaded):
    multiply AAD_BLOCK, 3, TERM_LO, TERM_HI, TERM_MI, TERM_MI_2
    vpxor round_keys(KEY,LAST_ROUND), BLOCK, %xmm2
    vaesenclast %xmm2, STATE1_X, STATE1_X
    cmp $16, LEN_32
    jne L(store_part_of_block)
    vmovdqu STATE1_X, (%rsi)
    if_bit_jump opens, L(hash_block)
    vmovdqa STATE1_X, BLOCK
L(hash_block):
    vpshufb reversed(TABLES), BLOCK, %xmm2
    vpternlogq $0x96, TERM_MI_2, TERM_MI, SUM_MI
    multiply %xmm2, 2, %xmm6, %xmm4, TERM_MI, TERM_MI_2
    vpxor %xmm6, SUM_LO, SUM_LO
    vpxor %xmm4, SUM_HI, SUM_HI
L(reduce_block):
    vmovdqa polynomial(TABLES), %xmm6
    vpxor TERM_LO, SUM_LO, SUM_LO
    vpternlogq $0x96, TERM_MI_2, TERM_MI, SUM_MI
    vpclmulqdq $0x00, %xmm6, SUM_LO, %xmm4
    vpxor SUM_MI_2, SUM_MI, SUM_MI
    vpshufd $0x4e, SUM_LO, SUM_LO
    vpternlogq $0x96, SUM_LO, %xmm4, SUM_MI
    vpclmulqdq $0x00, %xmm6, SUM_MI, %xmm4
    vpxor TERM_HI, SUM_HI, SUM_HI
    vpshufd $0x4e, SUM_MI, SUM_MI
    vpternlogq $0x96, SUM_MI, %xmm4, SUM_HI
    vpshufb reversed(TABLES), SUM_HI, SUM_HI
    vpxor SUM_HI, STATE0_X, COMPUTED_TAG
    finish_tag block
    clear BLOCK, SUM_LO, SUM_HI, SUM_MI, TERM_LO, TERM_HI, TERM_MI
    vzeroupper
    ret
L(any_aad_block):
    clear AAD_BLOCK
    test AAD_BYTES, AAD_BYTES
    jz L(aad_loaded_block)
    lea -17(AAD_BYTES), %rsi
    cmp $160 - 17, %rsi
    jbe L(block_behind_vectors)
    call other_aad
    jmp L(aad_loaded_block)
    /* 2 to 10 blocks of associated data: the last vector has the last ones, the text, and the
     * lengths. The rest is as with other short messages. */
L(block_behind_vectors):
    vmovdqu round_keys(KEY,LAST_ROUND), LAST_KEY_X
    lea 15(LEN), PADDED_32
    and $-16, PADDED_32
    call aad_before_text
    lengths_as_hashed 0
    vaesenclast LAST_KEY_X, STATE0_X, TAG_MASK
    test LEN_32, LEN_32
    jz L(vectors_without_text)
    vshufi32x4 $0x03, AAD_LANES, AAD_LANES, AAD_IN_ORDER
    vinserti32x4 $3, LENGTHS_X, AAD_IN_ORDER, AAD_IN_ORDER
    mov out(%rsp), %rcx
    cmp $16, LEN_32
    jne L(load_part_behind_vectors)
    vmovdqu (IN), TEXT0_X
L(loaded_behind_vectors):
    vpxor LAST_KEY_X, TEXT0_X, %xmm5
    vaesenclast %xmm5, STATE1_X, %xmm5
    mov LEN, %rdx
    call store_tag            /* LEN bytes of xmm5 to rcx, here the text */
    if_bit_jump opens, L(hash_behind_vectors)
    mov TABLES, %rsi
    sub LEN, %rsi
    vpand first_bytes + 16(%rsi), %xmm5, TEXT0_X
L(hash_behind_vectors):
    vinserti32x4 $2, TEXT0_X, AAD_IN_ORDER, LAST
    jmp finish_1
L(vectors_without_text):
    vshufi32x4 $0x0e, AAD_LANES, AAD_LANES, AAD_IN_ORDER
    vinserti32x4 $3, LENGTHS_X, AAD_IN_ORDER, LAST
    jmp finish_1
L(load_part_behind_vectors):
    load_part IN, LEN, TEXT0_X, SCRATCH_X, %rsi
    jmp L(loaded_behind_vectors)
    other_tags block

L(load_part_of_block):
    load_part IN, LEN, BLOCK, %xmm2, %r8
    jmp L(block_loaded)
L(store_part_of_block):
    store_part STATE1_X, %rsi, LEN, %xmm2
    mov TABLES, %rdx
    sub LEN, %rdx
    if_bit_jump opens, L(hash_block)
    vpand first_bytes + 16(%rdx), STATE1_X, BLOCK
    jmp L(hash_block)
L(block_without_text):
    multiply AAD_BLOCK, 2, TERM_LO, TERM_HI, TERM_MI, TERM_MI_2
    jmp L(reduce_block)
.endm

/* ---- 6. Long messages ------------------------------------------------------------------------ */

#include "gcm/x86_vaes512_long_asm.h"

/* ---- 7. Entries ------------------------------------------------------------------------------ */

/*
 * void evc_gcm_x86_vaes512_groups(key, counter, y, in, out, n_groups, opening): groups of a piece
 * of a message.
 *
 * In:  key: struct key. counter: 16 bytes, that of the first block. y: 16 bytes, the hash of what
 *      comes before. in, out: n_groups * 512 bytes. n_groups: at least one. opening: not 0 to open
 * Out: out; y: the hash behind the groups. counter does not change.
 */
.set opening, 8
evc_function evc_gcm_x86_vaes512_groups
    lea byte_numbers(%rip), TABLES
    vmovq (IV), IV_BLOCK
    vpinsrd $2, 8(IV), IV_BLOCK, IV_BLOCK
    vpxor round_keys(KEY), IV_BLOCK, IV_BLOCK
    vshufi32x4 $0, WHITE_IV, WHITE_IV, WHITE_IV
    vbroadcasti32x4 counter_bytes(TABLES), NUMBER_PLACES
    mov 12(IV), %eax
    bswap %eax
    vpbroadcastd %eax, NUMBERS
    vpaddd lane_numbers(TABLES), NUMBERS, NUMBERS
    kxnorw SEALS, SEALS, SEALS
    cmpl $0, opening(%rsp)
    je 1f
    kxorw SEALS, SEALS, SEALS
1:  mov %rdx, %r10        /* y */
    mov %r9, GROUPS
    sub GROUP, OUT_LESS_IN /* in is where GROUP is */
    call group_of_counters
    vbroadcasti32x4 round_keys(KEY,LAST_ROUND), LONG_LAST_KEY
    no_products
    call group_text
    vmovdqu (%r10), HASH_X
    vpxorq HASH, HASHED0, HASHED0
    call groups
    lea -384(KEY), POWERS
    call hash_of_2_3
    sub $-128, POWERS
    call hash_of_4_5
    add_pair HASHED6, HASHED7, (powers_end-128), KEY
    lea -512(KEY), POWERS
    call hash_of_0_1
    call hash_of_products
    vmovdqu HASH_X, (%r10)
    jmp clear_and_return
evc_end evc_gcm_x86_vaes512_groups

/* enum evc_status evc_gcm_x86_vaes512_open(...) and ..._open_output_tag(...): the arguments of
 * seal. Both set a bit of tag_bytes and continue as seal. */
    define_open evc_gcm_x86_vaes512, orq $1 << opens, tag_bytes(%rsp)

/*
 * enum evc_status evc_gcm_x86_vaes512_seal(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes,
 * tag, tag_bytes): a whole message.
 *
 * In:  key: struct key, set. iv: 12 bytes. aad: aad_bytes bytes, or with bit hashed_aad a block.
 *      in: len_bytes bytes. out: the same place, or one that does not overlap with it.
 *      tag_bytes: 1 to 16. The caller has checked all this.
 * Out: out, tag (to open, the tag is compared); returns 0 or error_of_tag
 *
 * The rest is a choice of the layout by the length: see section 5.
 */
evc_function evc_gcm_x86_vaes512_seal, message
    mov len_bytes(%rsp), LEN
    lea byte_numbers(%rip), TABLES
    load_iv IV_BLOCK
    cmp $most_short_text, LEN
    ja long_message
    cmp $64, LEN_32
    ja L(more_than_64)
    cmp $32, LEN_32
    ja L(more_than_32)
    cmp $16, LEN_32
    ja L(17_to_32)
    message_of_a_block IV_BLOCK
L(17_to_32):
    message_beside 1
L(more_than_32):
    cmp $48, LEN_32
    ja L(49_to_64)
    message_apart 1, 0, 0
L(49_to_64):
    message_apart 2, 1, 1
L(more_than_64):
    cmp $128, LEN_32
    ja L(more_than_128)
    cmp $112, LEN_32
    ja L(113_to_128)
    cmp $96, LEN_32
    ja L(97_to_112)
    cmp $80, LEN_32
    ja L(81_to_96)
    message_apart 2, 2, 1
L(81_to_96):
    message_beside 2
L(97_to_112):
    message_apart 2, 0, 0
L(113_to_128):
    if_bit_jump opens, L(open_113_to_128)
    message_full 2, TEXT1
L(open_113_to_128):
    message_apart 3, 1, 1
L(more_than_128):
    cmp $192, LEN_32
    ja L(more_than_192)
    cmp $176, LEN_32
    ja L(177_to_192)
    cmp $160, LEN_32
    ja L(161_to_176)
    cmp $144, LEN_32
    ja L(145_to_160)
    message_apart 3, 2, 1
L(145_to_160):
    message_beside 3
L(161_to_176):
    message_apart 3, 0, 0
L(177_to_192):
    if_bit_jump opens, L(open_177_to_192)
    message_full 3, TEXT3
L(open_177_to_192):
    message_apart 4, 1, 1
L(more_than_192):
    cmp $240, LEN_32
    ja L(more_than_240)
    cmp $224, LEN_32
    ja L(225_to_240)
    cmp $208, LEN_32
    ja L(209_to_224)
    message_apart 4, 2, 1
L(209_to_224):
    message_beside 4
L(225_to_240):
    message_apart 4, 0, 0
L(more_than_240):
    cmp $256, LEN_32
    ja L(257_to_288)
    message_apart 5, 1, 1
L(257_to_288):
    message_beside 5
evc_end evc_gcm_x86_vaes512_seal

#endif

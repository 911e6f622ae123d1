/* SPDX-License-Identifier: MIT */
/*
 * SHA-512 of one message by the general registers of x86-64, with the message schedule of two
 * blocks in vectors of 256 bits. The including file has common/x86_asm.h before this.
 *
 * Vectors hold two words of the second block in their lower half and the same two of the first
 * block in their upper half. Rounds of the first block run beside the schedule of both, those of
 * the second block read what was stored. A last block alone is both.
 *
 * Rounds: the order of the operations counts on Zen 5; that of compilers costs up to a fifth more.
 * The next e is the longest wait of a round, so what depends on a comes a round later,
 * among the operations that depend on the next e: between two rounds, a lacks Maj and Sigma 0.
 *
 * Stack: words with their constants, as pairs. Pair i + 8 turn of the second block is at
 * 96 i + 16 turn, and that of the first block 16 bytes behind it: 16 rounds later, when it has been
 * read, the next pair of the second block takes its place. They are cleared in the end, so that
 * calls clear no more than SHA-256 wants.
 */
#ifndef EVC_SHA2_X86_BLOCKS512_ASM_H
#define EVC_SHA2_X86_BLOCKS512_ASM_H

#define WORDS %rsi     /* pair 8 turn of the block whose rounds are made */
#define CONSTANTS %rdi /* those of this turn; in the schedule, of the next one */
#define A %rax
#define B %rbx
#define C %rcx
#define D %rdx
#define E %r8
#define F %r9
#define G %r10
#define H %r11
#define T0 %r12
#define T1 %r13
#define T2 %r14
#define X %r15
#define Y %rbp

/* On the stack, behind 768 bytes of words. */
#define STATE 768(%rsp)
#define IN 776(%rsp)
#define LEFT 784(%rsp) /* blocks */
#define ALL_CONSTANTS 792(%rsp)
#define END 800(%rsp)  /* of WORDS: in the first block behind its turns with a schedule, in the
                        * second one behind its last turn */
#define FRAME_BYTES 824

/* One round, and Maj and Sigma 0 of the round before. was: c ^ d, which becomes Maj; is becomes
 * b ^ c. v: instructions of the schedule, with %ymm13 to %ymm15 as scratch, and %ymm12 as an order
 * of bytes that rotates words by 8. */
.macro round at, a, b, c, d, e, f, g, h, is, was, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11
    mov \e, T0
    mov \b, \is
    xor \c, \is
    \v0
    and \is, \was
    xor \c, \was
    \v1
    rorx $34, \b, T1
    add \at(WORDS), \h
    \v2
    and \f, T0
    add T0, \h
    \v3
    rorx $39, \b, T0
    xor T1, T0
    \v4
    rorx $41, \e, T1
    rorx $18, \e, T2
    \v5
    add \was, \a
    xor T2, T1
    \v6
    andn \g, \e, T2
    add T2, \h
    \v7
    rorx $14, \e, T2
    xor T2, T1
    \v8
    rorx $28, \b, T2
    add T1, \h
    \v9
    xor T2, T0
    add T0, \a
    \v10
    add \h, \d
    \v11
.endm

/* Two rounds by the words of pair i. */
.macro two_rounds i, a, b, c, d, e, f, g, h
    round 96*\i, \a, \b, \c, \d, \e, \f, \g, \h, X, Y
    round 96*\i+8, \h, \a, \b, \c, \d, \e, \f, \g, Y, X
.endm

/* The same, and the words of 16 rounds later in place of w0. w_9: before, the words 1 and 2 rounds
 * later than those of w0; then those 9 and 10 rounds later, which is what the next turn needs. */
.macro two_rounds_and_words i, w0, w4, w5, w7, w_9, a, b, c, d, e, f, g, h
    round 96*\i, \a, \b, \c, \d, \e, \f, \g, \h, X, Y, \
        "vpsrlq $1, \w_9, %ymm13", "vpsllq $63, \w_9, %ymm14", "vpshufb %ymm12, \w_9, %ymm15", \
        "vpxor %ymm13, %ymm14, %ymm14", "vpsrlq $7, \w_9, %ymm13", \
        "vpalignr $8, \w4, \w5, \w_9", "vpxor %ymm15, %ymm14, %ymm14", "vpsrlq $19, \w7, %ymm15", \
        "vpxor %ymm13, %ymm14, %ymm14", "vpsllq $45, \w7, %ymm13", "vpaddq %ymm14, \w0, \w0", \
        "vpxor %ymm13, %ymm15, %ymm15"
    round 96*\i+8, \h, \a, \b, \c, \d, \e, \f, \g, Y, X, \
        "vpsrlq $61, \w7, %ymm13", "vpsllq $3, \w7, %ymm14", "vpaddq \w_9, \w0, \w0", \
        "vpxor %ymm13, %ymm15, %ymm15", "vpsrlq $6, \w7, %ymm13", \
        "vpxor %ymm14, %ymm15, %ymm15", "vpxor %ymm13, %ymm15, %ymm15", \
        "vpaddq %ymm15, \w0, \w0", "vbroadcasti128 16*\i(%rdi), %ymm13", \
        "vpaddq \w0, %ymm13, %ymm13", "vmovdqu %ymm13, 96*\i(%rsi)"
.endm

.macro sixteen_rounds
    two_rounds 0, A, B, C, D, E, F, G, H
    two_rounds 1, G, H, A, B, C, D, E, F
    two_rounds 2, E, F, G, H, A, B, C, D
    two_rounds 3, C, D, E, F, G, H, A, B
    two_rounds 4, A, B, C, D, E, F, G, H
    two_rounds 5, G, H, A, B, C, D, E, F
    two_rounds 6, E, F, G, H, A, B, C, D
    two_rounds 7, C, D, E, F, G, H, A, B
.endm

/* to = Maj + Sigma 0 of the round before. In macros without arguments, $3 is one to macOS. */
.macro late_sum to
    mov B, \to
    or C, \to
    and D, \to
    mov B, T1
    and C, T1
    or T1, \to
    rorx $39, B, T1
    rorx $34, B, T2
    xor T2, T1
    rorx $28, B, T2
    xor T2, T1
    add T1, \to
.endm
.macro begin_rounds
    mov C, Y
    xor D, Y
    late_sum T0
    sub T0, A
.endm
.macro end_rounds
    late_sum T0
    add T0, A
    mov STATE, T0
    .set at, 0
    .irp word, A, B, C, D, E, F, G, H
    add at(T0), \word
    mov \word, at(T0)
    .set at, at + 8
    .endr
.endm

/* void (uint64_t state[8], const uint8_t *in, size_t n_blocks, const uint64_t k[80]), at
 * least one block. */
.macro evc_x86_blocks512 name
evc_constants
    .p2align 5
L(big_endian):
    .byte 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8
L(rotate_8):
    .byte 1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8

evc_function \name
    evc_save_all
    sub $FRAME_BYTES, %rsp
    EVC_ASM_CFI_ADJUST(FRAME_BYTES)
    mov %rdi, STATE
    mov %rdx, LEFT
    mov %rcx, ALL_CONSTANTS
    vbroadcasti128 L(rotate_8)(%rip), %ymm12
L(two_blocks):
    mov ALL_CONSTANTS, CONSTANTS
    lea 128(%rsi), T0
    cmpq $2, LEFT
    cmovb %rsi, T0 /* the second block */
    vbroadcasti128 L(big_endian)(%rip), %ymm13
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    vmovdqu 16*\i(T0), %xmm\i
    vinserti128 $1, 16*\i(%rsi), %ymm\i, %ymm\i
    vpshufb %ymm13, %ymm\i, %ymm\i
    vbroadcasti128 16*\i(CONSTANTS), %ymm14
    vpaddq %ymm\i, %ymm14, %ymm14
    vmovdqu %ymm14, 96*\i(%rsp)
    .endr
    vpalignr $8, %ymm0, %ymm1, %ymm8
    vpalignr $8, %ymm1, %ymm2, %ymm9
    vpalignr $8, %ymm2, %ymm3, %ymm10
    vpalignr $8, %ymm3, %ymm4, %ymm11
    mov STATE, T0
    mov %rsi, IN
    .set at, 0
    .irp word, A, B, C, D, E, F, G, H
    mov at(T0), \word
    .set at, at + 8
    .endr
    lea 16(%rsp), WORDS
    lea 80(%rsp), T0
    mov T0, END
    begin_rounds
    .p2align 5
L(first_block):
    sub $-128, CONSTANTS
    two_rounds_and_words 0, %ymm0, %ymm4, %ymm5, %ymm7, %ymm8, A, B, C, D, E, F, G, H
    two_rounds_and_words 1, %ymm1, %ymm5, %ymm6, %ymm0, %ymm9, G, H, A, B, C, D, E, F
    two_rounds_and_words 2, %ymm2, %ymm6, %ymm7, %ymm1, %ymm10, E, F, G, H, A, B, C, D
    two_rounds_and_words 3, %ymm3, %ymm7, %ymm0, %ymm2, %ymm11, C, D, E, F, G, H, A, B
    two_rounds_and_words 4, %ymm4, %ymm0, %ymm1, %ymm3, %ymm8, A, B, C, D, E, F, G, H
    two_rounds_and_words 5, %ymm5, %ymm1, %ymm2, %ymm4, %ymm9, G, H, A, B, C, D, E, F
    two_rounds_and_words 6, %ymm6, %ymm2, %ymm3, %ymm5, %ymm10, E, F, G, H, A, B, C, D
    two_rounds_and_words 7, %ymm7, %ymm3, %ymm4, %ymm6, %ymm11, C, D, E, F, G, H, A, B
    add $16, WORDS
    cmp END, WORDS
    jb L(first_block)
    sixteen_rounds
    end_rounds
    subq $1, LEFT
    jz L(done)
    mov %rsp, WORDS
    begin_rounds
    .p2align 5
L(second_block):
    sixteen_rounds
    add $16, WORDS
    cmp END, WORDS
    jb L(second_block)
    end_rounds
    mov IN, %rsi
    add $256, %rsi
    subq $1, LEFT
    jnz L(two_blocks)
L(done):
    vpxor %xmm0, %xmm0, %xmm0
    .set at, 0
    .rept 24
    vmovdqu %ymm0, at(%rsp)
    .set at, at + 32
    .endr
    vzeroupper
    add $FRAME_BYTES, %rsp
    EVC_ASM_CFI_ADJUST(-FRAME_BYTES)
    evc_restore_all
    ret
evc_end \name
.endm

#endif

/* SPDX-License-Identifier: MIT */
/*
 * CBC encryption of one whole message, for kernels of the key form fips197. The including file has
 * common/x86_asm.h before this. The encoding is that of SSE: a CPU with AES-NI may lack AVX.
 *
 * A core works on several short messages at once, as far as its buffers of instructions and
 * loads reach. So there is no frame, each key size has its own rounds, and round keys are
 * loaded once: from two blocks on, those that are operands of AESENC stay in registers. One
 * block alone takes them from memory.
 */
#ifndef EVC_AES_X86_CHAIN_ASM_H
#define EVC_AES_X86_CHAIN_ASM_H

#define KEY %rdi
#define IV %rsi
#define IN %rdx
#define OUT %rcx
#define LEFT %r8       /* bytes behind the block of X */
#define X %xmm0        /* the chain, as it goes through AES */
#define NEXT %xmm1     /* the next block of plaintext, whitened; then ciphertext */
#define FOLD %xmm2     /* NEXT and the last round key; xmm3 to xmm15 have the round keys 1 to 13 */

/* struct evc_aes_head and struct evc_aes_fips197_key; x86_aesni_steps.h checks them. */
.set rounds, 8
.set round_keys, 16

/* Rounds 1 to n - 1 of n, with the keys in memory. */
.macro middle_rounds n
    .set round, 1
    .rept \n - 1
    aesenc round_keys + 16*round(KEY), X
    .set round, round + 1
    .endr
.endm

/* Expands \what for each register that has the key of one of the rounds 1 to n - 1. i: the
 * register's number; `round`: the round's. */
.macro for_middle_keys n, what
    .set round, 1
    .irp i, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .if round < \n
    \what \i
    .endif
    .set round, round + 1
    .endr
.endm
.macro load_key i
    movdqa round_keys + 16*round(KEY), %xmm\i
.endm
.macro round_by_key i
    aesenc %xmm\i, X
.endm
.macro clear_key i
    pxor %xmm\i, %xmm\i
.endm

/*
 * The whole message under a key of n rounds. AESENCLAST adds NEXT to the last round key, and
 * thereby makes the whitened state of the next block: the chaining xor costs no latency. The
 * ciphertext is that state without NEXT, beside the chain. In the end X and NEXT hold ciphertext or
 * the IV, and all other registers that were used are cleared.
 */
.macro encrypt_message n
    sub $16, LEFT
    jb 3f
    movdqu (IV), NEXT
    movdqu (IN), X
    pxor NEXT, X
    pxor round_keys(KEY), X
    je 2f
    for_middle_keys \n, load_key
1:  movdqu 16(IN), NEXT
    add $16, IN
    pxor round_keys(KEY), NEXT
    for_middle_keys \n, round_by_key
    movdqa round_keys + 16*\n(KEY), FOLD
    pxor NEXT, FOLD
    aesenclast FOLD, X
    pxor X, NEXT
    movups NEXT, (OUT)
    add $16, OUT
    sub $16, LEFT
    jne 1b
    pxor FOLD, FOLD
    for_middle_keys \n, round_by_key
    for_middle_keys \n, clear_key
    jmp 4f
2:  middle_rounds \n
4:  aesenclast round_keys + 16*\n(KEY), X
    movups X, (OUT)
    movups X, (IV)
3:  xor %eax, %eax
    ret
.endm

/* enum evc_status name(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t
 * *out, size_t len_bytes); */
.macro evc_x86_cbc_encrypt_message name
evc_function \name
    cmpl $12, rounds(KEY)
    je 6f
    jb 5f
    encrypt_message 14
5:  encrypt_message 10
6:  encrypt_message 12
evc_end \name
.endm

#endif

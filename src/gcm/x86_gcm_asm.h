/* SPDX-License-Identifier: MIT */
/*
 * Pieces of GCM in assembly that do not depend on the width of vectors: names of arguments, parts
 * of blocks, rounds of AES, entries, tags. The kernels x86_vaes256, x86_vaes512 and
 * x86_vaes512_intel include this file.
 *
 * The including file has common/x86_asm.h before this file, keeps the address of its tables in
 * TABLES, and gives the distances of these two tables from there:
 *
 *   block_bytes   the numbers 0 to 15, for VPSHUFB. Up to 8 bytes behind them are read, too, and
 *                 make bytes that are not used.
 *   first_bytes   16 bytes of ones and then 16 of zeros. From 16 - n bytes behind its beginning on,
 *                 it is a mask for the first n bytes of a block.
 *
 * A contract stands over each macro and function: In is what it reads, Out what it makes, Changes
 * what else it overwrites. Flags change always.
 */
#ifndef EVC_GCM_X86_GCM_ASM_H
#define EVC_GCM_X86_GCM_ASM_H

/* ---- Arguments ----
 *
 * The functions of messages have the arguments of `seal` in struct evc_gcm, everycore/gcm.h:
 *
 *   key, iv, iv_bytes, aad, aad_bytes, in        rdi, rsi, rdx, rcx, r8, r9 (System V ABI)
 *   out, len_bytes, tag, tag_bytes               on the stack above the return address
 *
 * iv_bytes is 12 and is not read. */
#define KEY %rdi       /* struct key of x86_steps.h */
#define IV %rsi
#define AAD %rcx       /* associated data */
#define AAD_BYTES %r8  /* with bit hashed_aad, AAD is one block, which holds a hash */
#define IN %r9         /* text that comes in, from where the code has got to */
/* The code loads these itself. */
#define OUT %r8        /* text that goes out, as IN; AAD_BYTES is not needed any more then */
#define LEN %r10       /* bytes of text */
#define TABLES %r11

/* Distances of arguments from rsp, as long as nothing is pushed. */
.set out, 8
.set len_bytes, 16
.set tag, 24
.set tag_bytes, 32

.set tells_tag, 62    /* bit of tag_bytes: the tag is written, though the message is opened */
.set hashed_aad, 63   /* bit of aad_bytes: EVC_GCM_HASHED_AAD */

/* The macro ASSEMBLY_AGREES of in_assembly.h checks these numbers. */
.set error_of_tag, 6  /* EVC_ERR_TAG */
.set rounds, 8        /* distance of the number of rounds from KEY: 10, 12 or 14, 32 bits */
.set round_keys, 16   /* distance of round key 0 from KEY; each has 16 bytes, in FIPS 197 order */

/* ---- Parts of a block ----
 *
 * Bytes around the n ones are neither read nor written. The n bytes do not go through a general
 * register: they may be secret, and only vectors are cleared at the end. */

/* load_part: n bytes at an address, and zeros behind them.
 *   In:      p: register with the address; n: register with the number, 1 to 15; TABLES
 *   Out:     x: xmm
 *   Changes: scratch: xmm; places: 64-bit register */
.macro load_part p, n, x, scratch, places
    cmp $8, \n
    jb L(load_up_to_7\@)
    vmovq (\p), \x                      /* bytes 0 to 7, and from byte n - 8 on */
    vmovq -8(\p,\n), \scratch
    mov TABLES, \places
    sub \n, \places
    vpshufb block_bytes + 16(\places), \scratch, \scratch   /* from byte 8 on */
    vpunpcklqdq \scratch, \x, \x
    jmp L(loaded\@)
L(load_up_to_7\@):
    cmp $4, \n
    jb L(load_up_to_3\@)
    vmovd (\p), \x                      /* the same with halves of 4 bytes */
    vmovd -4(\p,\n), \scratch
    mov TABLES, \places
    sub \n, \places
    vpshufb block_bytes + 8(\places), \scratch, \scratch
    vpunpckldq \scratch, \x, \x
    jmp L(loaded\@)
L(load_up_to_3\@):
    mov \n, \places
    shr $1, \places
    vpxor \x, \x, \x
    vpinsrb $0, (\p), \x, \x            /* bytes 0, n / 2 and n - 1: all there are */
    vpinsrb $1, (\p,\places), \x, \x
    vpinsrb $2, -1(\p,\n), \x, \x
    cmp $2, \n                          /* of 2, the third is byte 1 again; of 1, all are byte 0 */
    ja L(loaded\@)
    vpslldq $14, \x, \x                 /* keep two */
    vpsrldq $14, \x, \x
    je L(loaded\@)
    vpslldq $15, \x, \x                 /* keep one */
    vpsrldq $15, \x, \x
L(loaded\@):
.endm

/* store_part: the first n bytes of a block to memory.
 *   In:      x: xmm; p: register with the address; n: register with the number, 1 to 15; TABLES
 *   Changes: scratch: xmm */
.macro store_part x, p, n, scratch
    cmp $8, \n
    jb L(store_up_to_7\@)
    vpshufb block_bytes - 8(TABLES,\n), \x, \scratch   /* from byte n - 8 on */
    vmovq \x, (\p)
    vmovq \scratch, -8(\p,\n)
    jmp L(stored\@)
L(store_up_to_7\@):
    cmp $4, \n
    jb L(store_up_to_3\@)
    vpshufb block_bytes - 4(TABLES,\n), \x, \scratch   /* from byte n - 4 on */
    vmovd \x, (\p)
    vmovd \scratch, -4(\p,\n)
    jmp L(stored\@)
L(store_up_to_3\@):
    vpextrb $0, \x, (\p)
    cmp $2, \n
    jb L(stored\@)
    vpextrb $1, \x, 1(\p)
    je L(stored\@)
    vpextrb $2, \x, 2(\p)
L(stored\@):
.endm

/* load_iv: the 12 bytes of the IV, and zeros where the counter of a block stands. By words of 4
 * bytes: a wider load would wait until stores to parts of it have left the core, and programs write
 * a number of 8 bytes behind a salt of 4, or copy 8 bytes and then 4.
 *   In:      IV
 *   Out:     x: xmm */
.macro load_iv x
    vmovd (IV), \x
    vpinsrd $1, 4(IV), \x, \x
    vpinsrd $2, 8(IV), \x, \x
.endm

/* ---- AES ---- */

/* middle_rounds: all rounds of AES but the last. Round 0, which only adds round key 0, is done
 * before.
 *   In:      KEY; round: name of a macro with arguments r and n, which does round r; n: handed on
 *            to that macro, for example the number of vectors
 *   Out:     rdx: 16 times the number of rounds, so that the last key is at round_keys(KEY,rdx)
 * The macro must keep the flags: one comparison with 12 rounds serves both branches. */
.macro middle_rounds round, n
    \round 1, \n
    \round 2, \n
    \round 3, \n
    \round 4, \n
    \round 5, \n
    \round 6, \n
    \round 7, \n
    \round 8, \n
    \round 9, \n
    mov rounds(KEY), %edx
    cmp $12, %edx
    jb L(rounds_done\@)
    \round 10, \n
    \round 11, \n
    je L(rounds_done\@)
    \round 12, \n
    \round 13, \n
L(rounds_done\@):
    shl $4, %edx
.endm

/* round_of_two_blocks: such a macro, for xmm3 and xmm4. */
.macro round_of_two_blocks r, n
    vaesenc round_keys + 16*\r(KEY), %xmm3, %xmm3
    vaesenc round_keys + 16*\r(KEY), %xmm4, %xmm4
.endm

/* ---- Entries ---- */

/* define_open: the two functions that open messages, for kernels whose <name>_seal has the code for
 * both directions, from a label `message` on.
 *   name:    evc_gcm_<stem>
 *   opens:   the instruction that tells that code to open */
.macro define_open name, opens:vararg
evc_function \name\()_open_output_tag
    btsq $tells_tag, tag_bytes(%rsp)
    \opens
    jmp message
evc_end \name\()_open_output_tag

evc_function \name\()_open
    \opens
    jmp message
evc_end \name\()_open
.endm

/* ---- Tags ---- */

/* define_tag_functions: store_tag and compare_tag. The argument is always %xmm5: without any,
 * Apple's assemblers would take $1 in a macro for its first argument. */
.macro define_tag_functions computed_tag

/* store_tag: the first bytes of a tag to memory.
 *   In:      xmm5: the tag; rcx: where to; rdx: how many bytes, 1 to 16; TABLES
 *   Changes: xmm1 */
evc_local store_tag
    cmp $16, %rdx
    je L(store_whole_tag)
    store_part \computed_tag, %rcx, %rdx, %xmm1
    ret
L(store_whole_tag):
    vmovdqu \computed_tag, (%rcx)
    ret
evc_local_end store_tag

/* compare_tag: whether a tag is right, in constant time; for open_output_tag, store_tag instead.
 *   In:      xmm5: the tag; rcx: the sender's; rdx: tag_bytes, with or without bit tells_tag;
 *            eax: 0, or an error found before; TABLES
 *   Out:     eax: error_of_tag if the tags differ
 *   Changes: rdx, rsi, xmm1, xmm2, xmm5 */
evc_local compare_tag
    btr $tells_tag, %rdx
    jc store_tag
    cmp $16, %rdx
    je L(compare_whole_tag)
    load_part %rcx, %rdx, %xmm1, %xmm2, %rsi
    mov TABLES, %rsi
    sub %rdx, %rsi
    vpand first_bytes + 16(%rsi), \computed_tag, \computed_tag
    jmp L(compare_tags)
L(compare_whole_tag):
    vmovdqu (%rcx), %xmm1
L(compare_tags):
    vpxor %xmm1, \computed_tag, \computed_tag
    mov $error_of_tag, %edx
    vptest \computed_tag, \computed_tag
    cmovnz %edx, %eax
    ret
evc_local_end compare_tag
.endm

#endif

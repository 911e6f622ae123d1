/* SPDX-License-Identifier: MIT */
/* Cases whose instructions and accesses the tests know one by one; the secret is in %rdi. */
#if defined __x86_64__
        .text

.macro case name
        .globl \name
        .type \name, @function
\name:
.endm
.macro end name
        ret
        .size \name, . - \name
.endm

/* 701 instructions, more than one block holds; the only access is the return's */
case counts
        .rept 350
        add     $0x12345678, %eax
        .endr
        .type   counts_middle, @function
counts_middle:
        .rept 350
        add     $0x12345678, %eax
        .endr
end counts

/* 8 instructions; accesses 8, 16, 16, 16, 16, 8 and 0 bytes below the return address */
case calls
        push    %rbx
        call    1f
        lea     1f(%rip), %rbx
        call    *%rbx
        pop     %rbx
        ret
1:      ret
        .size calls, . - calls

/* 5 instructions, each with an access to the stack; the inner return drops two words */
case calls_with_arguments
        push    %rdi
        push    %rdi
        call    1f
        ret
1:      ret     $16
        .size calls_with_arguments, . - calls_with_arguments

/* a loop whose only stop is its own branch: 2 * (secret + 1) + 1 instructions */
case loops
1:      sub     $1, %rdi
        jns     1b
end loops

/* 300,002 instructions, with 100,000 reads of one place and the return's */
case spins
        mov     $100000, %ecx
1:      mov     table(%rip), %eax
        sub     $1, %ecx
        jnz     1b
end spins

/* 100 + secret bytes from the table to 1024 bytes behind it */
case copies
        lea     100(%rdi), %rcx
        lea     table(%rip), %rsi
        lea     1024(%rsi), %rdi
        .type   copies_bytes, @function
copies_bytes:
        rep movsb
end copies

/* the same downwards, in words of 8 bytes: 4 + secret of them */
case copies_down
        lea     4(%rdi), %rcx
        lea     1024 + table(%rip), %rsi
        lea     1024(%rsi), %rdi
        std
        rep movsq
        cld
end copies_down

/* the table begins with 1, 2, 3, 4: secret + 1 bytes are read */
case searches
        lea     1(%rdi), %eax
        lea     table(%rip), %rdi
        mov     $4096, %ecx
        repne scasb
end searches

/* jumps over 2 * secret of 6 instructions */
case switches
        lea     1f(%rip), %rax
        lea     (%rax,%rdi,4), %rax
        jmp     *%rax
1:
        .rept 3
        nopl    (%rax)
        nop
        .endr
end switches

/* calls and jumps to values that come again, which keep the carry and rcx */
case values
        push    %rbx
        mov     $40, %ebx
        lea     targets(%rip), %rdx
1:      lea     (%rbx,%rdi), %ecx
        and     $3, %ecx
        stc
        call    *(%rdx,%rcx,8)
        sbb     %eax, %eax
        add     %eax, %ecx
        and     $3, %ecx
        mov     (%rdx,%rcx,8), %rsi
        call    *%rsi
        mov     (%rdx,%rcx,8), %rcx
        call    2f
        call    3f
        dec     %ebx
        jnz     1b
        pop     %rbx
end values
2:      jmp     *%rcx
3:      jmp     *targets+8(%rip)

/* values on the stack: a call and a jump by it, a pushed target, GCC's thunk against Spectre */
case stack_values
        push    %rbx
        mov     $40, %ebx
        lea     targets(%rip), %rdx
1:      lea     (%rbx,%rdi), %ecx
        and     $3, %ecx
        mov     (%rdx,%rcx,8), %rsi
        push    %rsi
        push    %rsi
        call    *8(%rsp)
        lea     2f(%rip), %rsi
        mov     %rsi, 8(%rsp)
        mov     $1, %ecx
        jmp     *(%rsp,%rcx,8)
2:      add     $16, %rsp
        lea     3f(%rip), %rsi
        push    %rsi
        ret
3:      call    5f
        dec     %ebx
        jnz     1b
        pop     %rbx
        ret
5:      lea     6f(%rip), %rax
        call    7f
4:      pause
        lfence
        jmp     4b
6:      ret
7:      mov     %rax, (%rsp)
        ret
        .size stack_values, . - stack_values

        .section .data.rel.ro, "aw"
targets:
        .quad   5f, 6f, 7f, 7f
        .text
5:      ret
6:      mov     (%rdx), %al
        ret
7:      push    %rcx
        pop     %rcx
        ret

case prefetches
        shl     $6, %rdi
        lea     table(%rip), %rax
        prefetcht0 (%rax,%rdi)
end prefetches

case reads_fs
        mov     %fs:0, %rax
        mov     %fs:0x28, %rdx
end reads_fs

/* elements 2 + secret, in lanes 0, 1, 2 and 4, 5, 6 */
case gathers
        vmovd   %edi, %xmm1
        vpbroadcastd %xmm1, %ymm1
        vpcmpeqd %ymm2, %ymm2, %ymm2
        vpsrldq $4, %ymm2, %ymm2
        lea     table(%rip), %rax
        vpgatherdd %ymm2, 8(%rax,%ymm1,4), %ymm0
        vzeroupper
end gathers

/* two elements each: of so many indices, and of so much data, is there room */
case gathers_two
        vmovd   %edi, %xmm1
        vpcmpeqd %xmm2, %xmm2, %xmm2
        vmovdqa %xmm2, %xmm3
        lea     table(%rip), %rax
        vpgatherqd %xmm2, (%rax,%xmm1), %xmm0
        vpgatherdq %xmm3, (%rax,%xmm1), %xmm0
end gathers_two

/* masked by signs: byte 1 if the secret is odd, and the word of 8 bytes 0 likewise */
case stores_by_sign
        vmovd   %edi, %xmm1
        vpsllw  $15, %xmm1, %xmm1
        vpsllq  $48, %xmm1, %xmm2
        lea     table(%rip), %rdi
        maskmovdqu %xmm1, %xmm0
        vpmaskmovq %xmm0, %xmm2, (%rdi)
        vpmaskmovd %xmm0, %xmm2, (%rdi)
end stores_by_sign

/* elements 2 - secret, in lanes 0 and 7 */
case scatters
        neg     %rdi
        vpbroadcastq %rdi, %zmm18
        mov     $0x81, %eax
        kmovd   %eax, %k1
        lea     2048 + table(%rip), %rax
        vpscatterqq %zmm18, 16(%rax,%zmm18,8){%k1}
end scatters

/* the mask is the secret */
case stores_masked
        kmovd   %edi, %k1
        lea     2048 + table(%rip), %rax
        vpxorq  %xmm17, %xmm17, %xmm17
        vmovdqu8 %zmm17, 0x40(%rax){%k1}
end stores_masked

/* 64 bytes that begin 16 x secret before %rsi, of which the first 16 are stored and loaded */
case stays_near
        shl     $4, %rdi
        sub     %rdi, %rsi
        mov     $0xffff, %eax
        kmovq   %rax, %k1
        vpxorq  %xmm17, %xmm17, %xmm17
        vmovdqu8 %zmm17, (%rsi){%k1}
        vmovdqu8 (%rsi), %zmm18{%k1}{z}
        vmovdqu (%rsi), %xmm0
        vzeroupper
end stays_near

/* the same by the signs of a vector: 32 bytes */
case stays_near_by_sign
        shl     $4, %rdi
        sub     %rdi, %rsi
        vpcmpeqd %xmm1, %xmm1, %xmm1
        vpmaskmovd (%rsi), %ymm1, %ymm0
        vpmaskmovd %ymm0, %ymm1, (%rsi)
        vzeroupper
end stays_near_by_sign

/* the mask of four or sixteen elements is 7, and the secret lies in the bits above */
case masks_with_more
        shl     $16, %edi
        lea     7(%rdi), %eax
        kmovd   %eax, %k1
        lea     2048 + table(%rip), %rax
        vmovdqu64 (%rax), %ymm17{%k1}{z}
        vpaddd  (%rax){1to16}, %zmm17, %zmm18{%k1}{z}
        vbroadcasti32x4 (%rax), %zmm17{%k1}{z}
end masks_with_more

/* Forms of operands on pages without access: each faults once, and is passed over. */
.macro form text:vararg
        lea     1f(%rip), %rax
        mov     %rax, resume_at(%rip)
        mov     $3, %eax
        \text
1:
.endm

case faults
        mov     %rdi, %rsi
        mov     $-5, %rcx
        mov     %rdi, %rdx
        push    %rbx
        mov     %rdi, %rbx
        form    mov     (%rsi), %eax
        form    mov     %al, -7(%rsi,%rcx,8)
        form    add     %eax, 0x300(%rsi)
        form    push    16(%rsi)
        form    xlat
        form    lodsq
        form    stosw
        form    cmpxchg %rcx, 8(%rdi)
        form    movups  8(%rdi), %xmm0
        form    movbe   4(%rdi), %ecx
        pcmpeqd %xmm0, %xmm0
        psrldq  $8, %xmm0
        form    maskmovdqu %xmm0, %xmm1
        pop     %rbx
end faults

case faults_avx2
        vpcmpeqd %ymm2, %ymm2, %ymm2
        vpxor   %xmm1, %xmm1, %xmm1
        form    vpmaskmovd %ymm0, %ymm2, 0x20(%rdi)
        form    vpmaskmovq 0x28(%rdi), %ymm2, %ymm0
        form    vpgatherdq %ymm2, 12(%rdi,%xmm1,8), %ymm0
        form    vbroadcasti128 8(%rdi), %ymm0
        form    vpmovzxbd 8(%rdi), %ymm0
        vzeroupper
end faults_avx2

case faults_avx512
        vpxorq  %xmm17, %xmm17, %xmm17
        kxnorq  %k1, %k1, %k1
        kmovq   %k1, %k2
        form    vmovdqu64 0x40(%rdi), %zmm0
        form    vmovdqu8 %zmm0, -0x80(%rdi){%k1}
        form    vpternlogq $0x96, 8(%rdi){1to8}, %zmm0, %zmm1
        form    vpternlogd $0x96, 4(%rdi){1to8}, %ymm0, %ymm1
        form    vgf2p8affineqb $1, 8(%rdi){1to8}, %zmm0, %zmm1
        form    vgf2p8mulb 0x20(%rdi), %ymm16, %ymm1
        form    vaesenc 0x40(%rdi), %zmm0, %zmm1
        form    vaesdeclast 0x20(%rdi), %ymm17, %ymm1
        form    vpclmulqdq $0x11, 0xc0(%rdi), %zmm0, %zmm1
        form    vpxorq  0x140(%rdi), %zmm0, %zmm1
        form    vpshufb 0x10(%rdi), %xmm17, %xmm1
        form    vpmadd52luq 0x40(%rdi), %zmm0, %zmm1
        form    vbroadcasti32x4 0x10(%rdi), %zmm0
        form    vbroadcasti64x4 0x20(%rdi), %zmm0
        form    vpmovzxbd 0x10(%rdi), %zmm0
        form    vpcompressb %zmm0, 3(%rdi){%k1}
        form    vpexpandb 3(%rdi), %zmm0{%k1}{z}
        form    vpexpandq 8(%rdi), %zmm0{%k1}{z}
        form    vmovq   8(%rdi), %xmm16
        form    vmovddup 8(%rdi), %xmm16
        form    vpinsrq $1, 8(%rdi), %xmm16, %xmm16
        form    vextracti32x4 $1, %zmm0, 0x10(%rdi)
        form    vpmovqb %zmm0, 8(%rdi)
        form    vpmovdw %zmm0, 0x20(%rdi)
        form    kmovq   8(%rdi), %k2
        form    vpgatherdd 4(%rdi,%zmm17,4), %zmm2{%k1}
        kmovq   %k2, %k1
        form    vpscatterqd %ymm1, 12(%rdi,%zmm17,8){%k1}
        vzeroupper
end faults_avx512
#endif
        .section .note.GNU-stack, "", %progbits

/* SPDX-License-Identifier: MIT */
/*
 * The end of every public call. It clears, once, what the kernel's operations left in vector
 * registers and on the stack. The member `clear` of a kernel's descriptor does it.
 *
 * EVC_DEFINE_CLEAR(name, registers)                   defines such a function for a kernel
 *                                                     that leaves registers only
 * EVC_DEFINE_CLEAR_STACK(name, registers, n_bytes)    also clears so many bytes of
 *                                                     the stack below the caller
 * EVC_DEFINE_CLEAR_DEEP(name, registers, n_below)     960 + n_below bytes, by frames of at most 1
 *                                                     KiB: n_below is at most 448
 * EVC_DEFINE_CLEAR_SPILLS(name, registers, n_bytes)   so many bytes of the stack below
 *                                                     the caller and no registers
 *
 * registers: BASELINE, those that the compiler may use for portable code; XMM, YMM, ZMM on x86;
 * NEON on Arm. The numbers of bytes are multiples of 64, at least 128. The properties
 * "..._leave_nothing_behind" of the harness tell how deep operations reach.
 */
#ifndef EVC_COMMON_CLEAR_H
#define EVC_COMMON_CLEAR_H

#include "everycore/kernel.h"

#include "common/bytes.h"

/* Architectures for which a loop of general registers clears a stack of any depth, below. */
#if defined(__GNUC__) &&                                                                      \
    ((EVC_X86 && !EVC_X86_64) || defined(__riscv) || defined(__powerpc64__) ||                \
     defined(__s390x__) || (defined(__mips__) && !defined(__mips64) && !defined(__mips16)) || \
     defined(__m68k__) || (defined(__hppa__) && !defined(__LP64__)))
#define EVC_CLEAR_BY_WORDS 1
#else
#define EVC_CLEAR_BY_WORDS 0
#endif

#if EVC_A32 && defined(__ARM_FP) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A'
#define EVC_CLEAR_BY_VFP 1
#else
#define EVC_CLEAR_BY_VFP 0
#endif

/* To be called by the function that called the operations, or by one nearer to the public call.
 * `clear` reaches deeper below its caller than operations do, since frames lie between the two
 * callers. In modes these have at most 256 bytes (on Windows 384), as with the untidy kernel of the
 * harness they leave nothing behind; code with larger frames calls this below them. */
EVC_INLINE void evc_clear(const struct evc_kernel *kernel)
{
    if (kernel->clear)
        kernel->clear();
}

/* After operations of two kernels. They are compared as numbers: for functions,
 * PA-RISC calls a helper. */
EVC_INLINE void evc_clear_both(const struct evc_kernel *a, const struct evc_kernel *b)
{
    evc_clear(a);
    if (a->clear && (b->traits & EVC_LEAVES_REGISTERS))
        return;
    if ((a->traits & b->traits & EVC_CLEARS_STACK(0)) && a->traits >> 8 >= b->traits >> 8)
        return;
    if ((uintptr_t)b->clear != (uintptr_t)a->clear)
        evc_clear(b);
}

/* The trait of a kernel whose `clear` is EVC_DEFINE_CLEAR(clear, XMM). The baseline of x86-64
 * includes these registers, so that each `clear` there clears them. */
#if EVC_X86_64 && !defined(_WIN32)
#define EVC_LEAVES_XMM EVC_LEAVES_REGISTERS
#else
#define EVC_LEAVES_XMM 0
#endif

/* ---- Definitions of `clear` ------------------------------------------------------------------ */

/* With 8 registers, each kernel leaves some of its secrets on the stack; on Windows each that uses
 * xmm6 to xmm15 may leave there what its caller held in them. */
#if EVC_X86 && (!EVC_X86_64 || defined(_WIN32))
#define EVC_DEFINE_CLEAR(name, registers) EVC_DEFINE_CLEAR_STACK(name, registers, 128)
#else
#define EVC_DEFINE_CLEAR(name, registers)                                                          \
    EVC_OUT_OF_LINE void name(void)                                                                \
    {                                                                                              \
        EVC_CLEAR_REGISTERS_##registers();                                                         \
    }
#endif

#define EVC_DEFINE_CLEAR_STACK(name, registers, n_bytes)                                           \
    EVC_OUT_OF_LINE void name(void)                                                                \
    {                                                                                              \
        EVC_CLEAR_REGISTERS_##registers();                                                         \
        EVC_CLEAR_STACK_##registers(n_bytes);                                                      \
    }

/* Only the stack: for slots that clear it themselves, after calls that need so much of it. */
#define EVC_DEFINE_CLEAR_SPILLS(name, registers, n_bytes)                                          \
    EVC_DEFINE_CLEAR_SPILLS_(name, registers, n_bytes)
#define EVC_DEFINE_CLEAR_SPILLS_(name, registers, n_bytes)                                         \
    EVC_OUT_OF_LINE void name(void)                                                                \
    {                                                                                              \
        EVC_CLEAR_STACK_##registers(n_bytes);                                                      \
    }

#if EVC_CLEAR_BY_WORDS || (EVC_X86 && defined(__SSE2__)) || defined(__ARM_NEON) || EVC_CLEAR_BY_VFP
/* One piece of any depth, where no frame is laid out for it. */
#define EVC_DEFINE_CLEAR_DEEP(name, registers, n_bytes_below)                                      \
    EVC_DEFINE_CLEAR_STACK(name, registers, (EVC_WORD64 ? 960 : 1472) + (n_bytes_below))
#else
/* Two pieces that overlap by 512 bytes: a frame that a compiler lays out begins and ends with words
 * of its own (on ppc64 112 bytes), and one piece covers those of the other. */
#define EVC_DEFINE_CLEAR_DEEP(name, registers, n_bytes_below)                                 \
    EVC_DEFINE_CLEAR_SPILLS(name##_upper, registers, 960)                                     \
    EVC_DEFINE_CLEAR_SPILLS(name##_lowest, registers, 512 + (n_bytes_below))                  \
    EVC_OUT_OF_LINE void name##_lower(void)                                                   \
    {                                                                                         \
        volatile uint8_t above[448]; /* both ends are used, or clang would make it shorter */ \
        above[0] = above[447] = 0;                                                            \
        name##_lowest();                                                                      \
        (void)above[0]; /* so that the call does not take the place of this frame */          \
    }                                                                                         \
    EVC_OUT_OF_LINE void name(void)                                                           \
    {                                                                                         \
        EVC_CLEAR_REGISTERS_##registers();                                                    \
        name##_upper();                                                                       \
        name##_lower();                                                                       \
    }
#endif

/* No call: it would save registers of the caller's, which may hold secrets, below the array. */
#define EVC_CLEAR_ARRAY(n_bytes)                                                                   \
    do {                                                                                           \
        volatile size_t below[(n_bytes) / sizeof(size_t)];                                         \
        for (size_t i = 0; i < (n_bytes) / sizeof(size_t); i++)                                    \
            below[i] = 0;                                                                          \
        (void)below;                                                                               \
    } while (0)

/* ---- Registers and memory -------------------------------------------------------------------- */

#define EVC_EACH_8(R) R(0) R(1) R(2) R(3) R(4) R(5) R(6) R(7)
#define EVC_EACH_8_TO_15(R) R(8) R(9) R(10) R(11) R(12) R(13) R(14) R(15)
#define EVC_EACH_16_TO_31(R)                                                                       \
    R(16) R(17) R(18) R(19) R(20) R(21) R(22) R(23) R(24) R(25) R(26) R(27) R(28) R(29) R(30) R(31)

#if EVC_X86

#define EVC_PXOR(i) "pxor %%xmm" #i ", %%xmm" #i "\n\t"
#define EVC_VPXOR(i) "vpxor %%xmm" #i ", %%xmm" #i ", %%xmm" #i "\n\t"
#define EVC_VPXORD(i) "vpxord %%xmm" #i ", %%xmm" #i ", %%xmm" #i "\n\t"

/* Windows gives registers 6 to 15 back to the caller as they were: what they
 * hold is the caller's. */
#if !EVC_X86_64
#define EVC_EACH_XMM(R) EVC_EACH_8(R)
#define EVC_XMM_CLEARED "memory" /* the names are unknown where the build has no SSE; no
                                  * register is the caller's */
#define EVC_XMM0_CLEARED "memory"
#elif defined(_WIN32)
#define EVC_EACH_XMM(R) R(0) R(1) R(2) R(3) R(4) R(5)
#define EVC_XMM_CLEARED "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5"
#else
#define EVC_EACH_XMM(R) EVC_EACH_8(R) EVC_EACH_8_TO_15(R)
#define EVC_XMM_CLEARED                                                                      \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#endif

#if EVC_X86_64
#define EVC_XMM0_CLEARED "xmm0"
#endif

/* The form for 128 bits clears the whole register and does not put upper halves into use. Slots
 * have called EVC_X86_CLEAR_UPPER_HALVES before. */
#define EVC_CLEAR_REGISTERS_XMM() __asm__ volatile(EVC_EACH_XMM(EVC_PXOR) : : : EVC_XMM_CLEARED)
#define EVC_CLEAR_REGISTERS_YMM() __asm__ volatile(EVC_EACH_XMM(EVC_VPXOR) : : : EVC_XMM_CLEARED)
#define EVC_CLEAR_REGISTERS_ZMM()                                                                  \
    __asm__ volatile(EVC_EACH_XMM(EVC_VPXOR) EVC_EACH_16_TO_31(EVC_VPXORD)                         \
                     :                                                                             \
                     :                                                                             \
                     : EVC_XMM_CLEARED)

/* The n_bytes below the return address of a function that does nothing else: the first and the last
 * store of any alignment, all others aligned. A frame that the compiler lays out has gaps.
 * EVC_X86_DEEPER: so many bytes more, since the numbers of bytes were measured with 16 registers,
 * none of which a function gives back. */
#if EVC_X86_64
#define EVC_X86_STACK_POINTER "%%rsp"
#define EVC_X86_SCRATCH "rax"
#else
#define EVC_X86_STACK_POINTER "%%esp"
#define EVC_X86_SCRATCH "eax"
#endif
#if EVC_X86_64 && !defined(_WIN32)
#define EVC_X86_DEEPER 0
#else
#define EVC_X86_DEEPER 512
#endif
#define EVC_X86_CLEAR_STACK(n_bytes, width, zero, store, store_aligned, register)                  \
    __asm__ volatile("sub %0, " EVC_X86_STACK_POINTER "\n\t"                                       \
                     zero " %%xmm0, %%xmm0\n\t"                                                    \
                     "lea " #width "-1(" EVC_X86_STACK_POINTER "), %%" EVC_X86_SCRATCH "\n\t"      \
                     "and $-" #width ", %%" EVC_X86_SCRATCH "\n\t"                                 \
                     store " %%" register ", (" EVC_X86_STACK_POINTER ")\n\t"                      \
                     store " %%" register ", %c0-" #width "(" EVC_X86_STACK_POINTER ")\n\t"        \
                     ".set evc_at, 0\n\t"                                                          \
                     ".rept %c0/" #width "-1\n\t"                                                  \
                     store_aligned " %%" register ", evc_at(%%" EVC_X86_SCRATCH ")\n\t"            \
                     ".set evc_at, evc_at+" #width "\n\t"                                          \
                     ".endr\n\t"                                                                   \
                     "add %0, " EVC_X86_STACK_POINTER                                              \
                     :                                                                             \
                     : "i"((n_bytes) + EVC_X86_DEEPER)                                             \
                     : EVC_X86_SCRATCH, EVC_XMM0_CLEARED, "cc", "memory")
#define EVC_CLEAR_STACK_XMM(n_bytes) \
    EVC_X86_CLEAR_STACK(n_bytes, 16, "pxor", "movups", "movaps", "xmm0")
#define EVC_CLEAR_STACK_YMM(n_bytes)                                                               \
    EVC_X86_CLEAR_STACK(n_bytes, 32, "vpxor %%xmm0,", "vmovups", "vmovaps", "ymm0")
#define EVC_CLEAR_STACK_ZMM(n_bytes)                                                               \
    EVC_X86_CLEAR_STACK(n_bytes, 64, "vpxor %%xmm0,", "vmovups", "vmovaps", "zmm0")

#elif EVC_A64

/* The lower halves of registers 8 to 15 are the caller's, and the upper ones are zero in a function
 * that has loaded the lower ones again. */
#define EVC_MOVI(i) "movi v" #i ".2d, #0\n\t"
#define EVC_CLEAR_REGISTERS_NEON()                                                                 \
    __asm__ volatile(EVC_EACH_8(EVC_MOVI) EVC_EACH_16_TO_31(EVC_MOVI)                              \
                     :                                                                             \
                     :                                                                             \
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", \
                       "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29",       \
                       "v30", "v31")
/* The n_bytes below the caller, of a function that does nothing else: the stack pointer
 * goes down, and up again. */
#define EVC_CLEAR_STACK_NEON(n_bytes)                                                              \
    __asm__ volatile("movi v0.2d, #0\n\t"                                                          \
                     "sub sp, sp, %0\n\t"                                                          \
                     ".rept %c0/32\n\t"                                                            \
                     "stp q0, q0, [sp], #32\n\t"                                                   \
                     ".endr"                                                                       \
                     :                                                                             \
                     : "i"(n_bytes)                                                                \
                     : "v0", "memory")

#elif EVC_A32

/* Registers 4 to 7 are the caller's. */
#define EVC_VMOV(i) "vmov.i32 q" #i ", #0\n\t"
#define EVC_CLEAR_REGISTERS_NEON()                                                                 \
    __asm__ volatile(EVC_VMOV(0) EVC_VMOV(1) EVC_VMOV(2) EVC_VMOV(3) EVC_EACH_8_TO_15(EVC_VMOV)    \
                     :                                                                             \
                     :                                                                             \
                     : "q0", "q1", "q2", "q3", "q8", "q9", "q10", "q11", "q12", "q13", "q14", "q15")
/* As on A64; vmov sets registers 0 to 3 to zero. */
#define EVC_A32_CLEAR_STACK(vmov, n_bytes)                                                         \
    __asm__ volatile(vmov "sub sp, sp, %1\n\t"                                                     \
                     ".rept %c1/64\n\t"                                                            \
                     "vstmia sp!, {d0-d7}\n\t"                                                     \
                     ".endr"                                                                       \
                     :                                                                             \
                     : "r"(0), "i"(n_bytes)                                                        \
                     : "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "memory")
#define EVC_CLEAR_STACK_NEON(n_bytes)                                                              \
    EVC_A32_CLEAR_STACK(EVC_VMOV(0) EVC_VMOV(1) EVC_VMOV(2) EVC_VMOV(3), n_bytes)

/* Registers that memcpy of a C library may use, where the flags of the build
 * allow no more than VFP. */
#define EVC_VMOV_VFP(i) "vmov d" #i ", %0, %0\n\t"
#define EVC_CLEAR_REGISTERS_VFP()             \
    __asm__ volatile(EVC_EACH_8(EVC_VMOV_VFP) \
                     :                        \
                     : "r"(0)                 \
                     : "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7")
#define EVC_CLEAR_STACK_VFP(n_bytes) EVC_A32_CLEAR_STACK(EVC_EACH_8(EVC_VMOV_VFP), n_bytes)

#endif

#if defined(__hppa__) && !defined(__LP64__) && defined(__GNUC__)

/* The registers for floating point that a call may change: the multiplier is among them.
 * The first reads as 0. */
#define EVC_FCPY(i) "fcpy,dbl %%fr0, %%fr" #i "\n\t"
#define EVC_CLEAR_REGISTERS_HPPA()                                                                 \
    __asm__ volatile(EVC_FCPY(4) EVC_FCPY(5) EVC_FCPY(6) EVC_FCPY(7) EVC_FCPY(8) EVC_FCPY(9)       \
                     EVC_FCPY(10) EVC_FCPY(11) EVC_FCPY(22) EVC_FCPY(23) EVC_FCPY(24) EVC_FCPY(25) \
                     EVC_FCPY(26) EVC_FCPY(27) EVC_FCPY(28) EVC_FCPY(29) EVC_FCPY(30) EVC_FCPY(31) \
                     :                                                                             \
                     :                                                                             \
                     : "fr4", "fr5", "fr6", "fr7", "fr8", "fr9", "fr10", "fr11", "fr22", "fr23",   \
                       "fr24", "fr25", "fr26", "fr27", "fr28", "fr29", "fr30", "fr31")

#endif

#if EVC_CLEAR_BY_WORDS

/* The stack pointer moves beyond the words that are cleared, and back again. %0 goes through
 * them, %1 is their bytes. The ABI of ppc64 wants the old stack pointer at the new one. The stack
 * of hppa grows upwards. */
#if EVC_X86
#define EVC_CLEAR_LOOP                                                                             \
    "mov %%esp, %0\n\tsub %1, %%esp\n"                                                             \
    "1:\tsub $4, %0\n\tmovl $0, (%0)\n\tcmp %%esp, %0\n\tjne 1b\n\tadd %1, %%esp"
#elif defined(__riscv) && EVC_WORD64
#define EVC_CLEAR_LOOP                                                                             \
    "mv %0, sp\n\tsub sp, sp, %1\n"                                                                \
    "1:\taddi %0, %0, -8\n\tsd zero, 0(%0)\n\tbne %0, sp, 1b\n\tadd sp, sp, %1"
#elif defined(__riscv)
#define EVC_CLEAR_LOOP                                                                             \
    "mv %0, sp\n\tsub sp, sp, %1\n"                                                                \
    "1:\taddi %0, %0, -4\n\tsw zero, 0(%0)\n\tbne %0, sp, 1b\n\tadd sp, sp, %1"
#elif defined(__powerpc64__)
#define EVC_CLEAR_LOOP                                                                             \
    "mr %0, 1\n\tneg %1, %1\n\tstdux 1, 1, %1\n"                                                   \
    "1:\tstdu %2, -8(%0)\n\tcmpld %0, 1\n\tbne 1b\n\tsubf 1, %1, 1"
#elif defined(__s390x__)
#define EVC_CLEAR_LOOP                                                                             \
    "lgr %0, %%r15\n\tsgr %%r15, %1\n"                                                             \
    "1:\taghi %0, -8\n\txc 0(8,%0), 0(%0)\n\tcgr %0, %%r15\n\tjne 1b\n\tagr %%r15, %1"
#elif defined(__mips__)
#define EVC_CLEAR_LOOP                                                                             \
    "move %0, $sp\n\tsubu $sp, $sp, %1\n"                                                          \
    "1:\taddiu %0, %0, -4\n\tsw $0, 0(%0)\n\tbne %0, $sp, 1b\n\taddu $sp, $sp, %1"
#elif defined(__m68k__)
#define EVC_CLEAR_LOOP                                                                             \
    "move.l %%sp, %0\n\tsub.l %1, %%sp\n"                                                          \
    "1:\tclr.l -(%0)\n\tcmp.l %%sp, %0\n\tjne 1b\n\tadd.l %1, %%sp"
#else /* GCC moves products between its registers through two words of the caller's frame marker */
#define EVC_CLEAR_LOOP                                                                             \
    "stw %%r0, -16(%%r30)\n\tstw %%r0, -12(%%r30)\n\t"                                             \
    "copy %%r30, %0\n\tadd %%r30, %1, %%r30\n"                                                     \
    "1:\tstws,ma %%r0, 4(%0)\n\tcomb,<> %0, %%r30, 1b\n\tnop\n\tsub %%r30, %1, %%r30"
#endif

#if defined(__powerpc64__) /* where register 0 as an address means none */
#define EVC_CLEAR_ADDRESS "=&b"
#elif defined(__s390x__) || defined(__m68k__)
#define EVC_CLEAR_ADDRESS "=&a"
#else
#define EVC_CLEAR_ADDRESS "=&r"
#endif

/* More than the numbers of bytes say: these were measured on x86-64 and Arm, and
 * frames here are larger. */
#define EVC_CLEAR_WORDS(n_bytes)                                                                   \
    do {                                                                                           \
        uintptr_t address;                                                                         \
        size_t n_cleared = (n_bytes) + 512;                                                        \
        __asm__ volatile(EVC_CLEAR_LOOP                                                            \
                         : EVC_CLEAR_ADDRESS(address), "+r"(n_cleared)                             \
                         : "r"((size_t)0)                                                          \
                         : "cc", "memory");                                                        \
        (void)address;                                                                             \
    } while (0)

#endif

#if EVC_X86 && defined(__SSE2__)
#define EVC_CLEAR_REGISTERS_BASELINE() EVC_CLEAR_REGISTERS_XMM()
#define EVC_CLEAR_STACK_BASELINE(n_bytes) EVC_CLEAR_STACK_XMM(n_bytes)
#elif (EVC_A64 || EVC_A32) && defined(__ARM_NEON)
#define EVC_CLEAR_REGISTERS_BASELINE() EVC_CLEAR_REGISTERS_NEON()
#define EVC_CLEAR_STACK_BASELINE(n_bytes) EVC_CLEAR_STACK_NEON(n_bytes)
#elif EVC_CLEAR_BY_VFP
#define EVC_CLEAR_REGISTERS_BASELINE() EVC_CLEAR_REGISTERS_VFP()
#define EVC_CLEAR_STACK_BASELINE(n_bytes) EVC_CLEAR_STACK_VFP(n_bytes)
#elif EVC_CLEAR_BY_WORDS
#if defined(__hppa__)
#define EVC_CLEAR_REGISTERS_BASELINE() EVC_CLEAR_REGISTERS_HPPA()
#else
#define EVC_CLEAR_REGISTERS_BASELINE() ((void)0)
#endif
#define EVC_CLEAR_STACK_BASELINE(n_bytes) EVC_CLEAR_WORDS(n_bytes)
#else
#define EVC_CLEAR_REGISTERS_BASELINE() ((void)0)
#define EVC_CLEAR_STACK_BASELINE(n_bytes) EVC_CLEAR_ARRAY(n_bytes)
#endif

#endif

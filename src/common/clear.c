/* SPDX-License-Identifier: MIT */
/*
 * Clearing of vector registers, and of the stack below the caller: a loop for each architecture.
 * The functions here have no frames: the stack pointer moves beyond the bytes that are cleared, and
 * back. Nothing is called, since a call would save registers of the caller's, which may hold
 * secrets, in these bytes. Outside of x86, general registers are left to the calls since the last
 * operation, which have used them.
 */
#include "common/clear.h"

#if EVC_RV64
#include "common/rv_vector.h"
#endif

#define EACH_0_TO_7(R) R(0) R(1) R(2) R(3) R(4) R(5) R(6) R(7)
#define EACH_8_TO_15(R) R(8) R(9) R(10) R(11) R(12) R(13) R(14) R(15)
#define EACH_16_TO_31(R)                                                                           \
    R(16) R(17) R(18) R(19) R(20) R(21) R(22) R(23) R(24) R(25) R(26) R(27) R(28) R(29) R(30) R(31)

/* ---- x86 ------------------------------------------------------------------------------------- */

#if EVC_X86 && EVC_GNU_C

EVC_ISA_BEGIN(X86_SSE2)

/* Windows gives registers 6 to 15 back to the caller as they were: what they hold is the caller's.
 * A kernel that uses them may leave on the stack what its caller held in them; and with 8 registers
 * each leaves some of its secrets there. The numbers of bytes were measured with 16 registers. */
#if !EVC_X86_64
#define EACH_XMM(R) EACH_0_TO_7(R)
#define XMM_CLEARED "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7"
#elif EVC_COFF
#define EACH_XMM(R) R(0) R(1) R(2) R(3) R(4) R(5)
#define XMM_CLEARED "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5"
#else
#define EACH_XMM(R) EACH_0_TO_7(R) EACH_8_TO_15(R)
#define XMM_CLEARED                                                                                \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#endif

/* Whole registers: x32 has smaller pointers. */
#if EVC_X86_64
#define SP "%%rsp"
typedef uint64_t general;
#else
#define SP "%%esp"
typedef uint32_t general;
#endif

#define PXOR(i) "pxor %%xmm" #i ", %%xmm" #i "\n\t"
#define VPXOR(i) "vpxor %%xmm" #i ", %%xmm" #i ", %%xmm" #i "\n\t"
#define VPXORD(i) "vpxord %%xmm" #i ", %%xmm" #i ", %%xmm" #i "\n\t"

/* The form for 128 bits clears the whole register and does not put upper halves into use. Slots
 * have called EVC_X86_CLEAR_UPPER_HALVES before. */
EVC_INLINE void clear_registers(enum evc_registers registers)
{
    if (registers == EVC_REGISTERS_XMM) {
        __asm__ volatile(EACH_XMM(PXOR) : : : XMM_CLEARED);
        return;
    }
    if (registers == EVC_REGISTERS_NONE)
        return;
    __asm__ volatile(EACH_XMM(VPXOR) : : : XMM_CLEARED);
#if EVC_X86_64
    if (registers == EVC_REGISTERS_ZMM)
        __asm__ volatile(EACH_16_TO_31(VPXORD) : :);
#endif
}

/* Those that a call may change and no result is in. GCC pushes whatever such a register holds where
 * it has to align the stack (with -Os): a secret would lie in the frame of the next call. */
#if !EVC_X86_64
#define GENERAL(R) R("ecx") R("edx")
#define GENERAL_CLEARED "ecx", "edx"
#elif EVC_COFF
#define GENERAL(R) R("ecx") R("edx") R("r8d") R("r9d") R("r10d") R("r11d")
#define GENERAL_CLEARED "rcx", "rdx", "r8", "r9", "r10", "r11"
#else
#define GENERAL(R) R("ecx") R("edx") R("esi") R("edi") R("r8d") R("r9d") R("r10d") R("r11d")
#define GENERAL_CLEARED "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"
#endif
#define XOR(name) "xor %%" name ", %%" name "\n\t"
#define CLEAR_GENERAL_REGISTERS() __asm__ volatile(GENERAL(XOR) : : : GENERAL_CLEARED, "cc")

/* 64 bytes by one form of stores, from `at` bytes of a register on. */
#define BY_16(store, at)                                                                           \
    store " %%xmm0, " at "(%0)\n\t" store " %%xmm0, 16+" at "(%0)\n\t" store " %%xmm0, 32+" at     \
          "(%0)\n\t" store " %%xmm0, 48+" at "(%0)\n\t"
#define BY_32(store, at) store " %%ymm0, " at "(%0)\n\t" store " %%ymm0, 32+" at "(%0)\n\t"
#define BY_64(store, at) store " %%zmm0, " at "(%0)\n\t"

/* The last 64 bytes and the first ones by stores of any alignment, the others by aligned ones. */
#define CLEAR_STACK(zero, form, store, store_aligned, width)                                       \
    __asm__ volatile(zero " %%xmm0, %%xmm0\n\t"                                                    \
                     "mov " SP ", %0\n\t" form(store, "-64") "sub %1, " SP "\n\t"                  \
                     "mov " SP ", %0\n\t" form(store, "0")                                         \
                     "lea -64(%0,%1), %1\n\t"                                                      \
                     "add $" width "-1, %0\n\t"                                                    \
                     "and $-" width ", %0\n\t"                                                     \
                     "jmp 2f\n"                                                                    \
                     "1:\t" form(store_aligned, "0") "add $64, %0\n"                               \
                     "2:\tcmp %1, %0\n\t"                                                          \
                     "jb 1b\n\t"                                                                   \
                     "lea 64(%1), " SP                                                             \
                     : "=&r"(at), "+r"(stack_bytes)                                                \
                     :                                                                             \
                     : "xmm0", "cc", "memory")

EVC_INLINE void clear_stack(enum evc_registers registers, size_t n_bytes)
{
    general at, stack_bytes = (general)n_bytes + EVC_MORE_STACK;

    if (!stack_bytes)
        return;
    if (registers == EVC_REGISTERS_ZMM)
        CLEAR_STACK("vpxor %%xmm0,", BY_64, "vmovups", "vmovaps", "64");
    else if (registers == EVC_REGISTERS_YMM)
        CLEAR_STACK("vpxor %%xmm0,", BY_32, "vmovups", "vmovaps", "32");
    else if (registers == EVC_REGISTERS_XMM)
        CLEAR_STACK("pxor", BY_16, "movups", "movaps", "16");
    else
        __asm__ volatile("mov " SP ", %0\n\tsub %1, " SP "\n"
                         "1:\tsub %3, %0\n\tmov %2, (%0)\n\tcmp " SP ", %0\n\tjne 1b\n\t"
                         "add %1, " SP
                         : "=&r"(at)
                         : "r"(stack_bytes), "r"((general)0), "i"(sizeof(general))
                         : "cc", "memory");
    (void)at;
}

/* ---- Arm ------------------------------------------------------------------------------------- */

#elif EVC_A64

EVC_ISA_BEGIN(A64_NEON)

/* The lower halves of registers 8 to 15 are the caller's, and the upper ones are zero in a function
 * that has loaded the lower ones again. */
#define MOVI(i) "movi v" #i ".2d, #0\n\t"
EVC_INLINE void clear_registers(enum evc_registers registers)
{
    if (registers == EVC_REGISTERS_NEON)
        __asm__ volatile(EACH_0_TO_7(MOVI) EACH_16_TO_31(MOVI)
                         :
                         :
                         : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18",
                           "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
                           "v29", "v30", "v31");
}

EVC_INLINE void clear_stack(enum evc_registers registers, size_t stack_bytes)
{
    if (!stack_bytes)
        return;
    if (registers == EVC_REGISTERS_NEON)
        __asm__ volatile("movi v0.2d, #0\n\t"
                         "sub sp, sp, %0\n"
                         "1:\tsubs %0, %0, #64\n\t"
                         "stp q0, q0, [sp], #32\n\t"
                         "stp q0, q0, [sp], #32\n\t"
                         "b.ne 1b"
                         : "+r"(stack_bytes)
                         :
                         : "v0", "cc", "memory");
    else
        __asm__ volatile("sub sp, sp, %0\n"
                         "1:\tsubs %0, %0, #32\n\t"
                         "stp xzr, xzr, [sp], #16\n\t"
                         "stp xzr, xzr, [sp], #16\n\t"
                         "b.ne 1b"
                         : "+r"(stack_bytes)
                         :
                         : "cc", "memory");
}

#elif EVC_A32

#if EVC_BUILT(A32_NEON)
EVC_ISA_BEGIN(A32_NEON)
#endif

/* NEON: registers 4 to 7 are the caller's. VFP: those that memcpy of a C library may use, where the
 * flags of the build allow no more. */
#define VMOV(i) "vmov.i32 q" #i ", #0\n\t"
#define VMOV_VFP(i) "vmov d" #i ", %0, %0\n\t"
#define VMOV_VFP_OF(i) "vmov d" #i ", %1, %1\n\t"
EVC_INLINE void clear_registers(enum evc_registers registers)
{
#if EVC_BUILT(A32_NEON)
    if (registers == EVC_REGISTERS_NEON)
        __asm__ volatile(
            VMOV(0) VMOV(1) VMOV(2) VMOV(3) EACH_8_TO_15(VMOV)
            :
            :
            : "q0", "q1", "q2", "q3", "q8", "q9", "q10", "q11", "q12", "q13", "q14", "q15");
#endif
#if defined(__ARM_FP)
    if (registers == EVC_REGISTERS_VFP)
        __asm__ volatile(EACH_0_TO_7(VMOV_VFP)
                         :
                         : "r"(0)
                         : "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7");
#endif
    (void)registers;
}

EVC_INLINE void clear_stack(enum evc_registers registers, size_t stack_bytes)
{
    if (!stack_bytes)
        return;
#if EVC_BUILT(A32_NEON) || defined(__ARM_FP)
    if (registers != EVC_REGISTERS_NONE) {
        __asm__ volatile(EACH_0_TO_7(VMOV_VFP_OF)
                         "sub sp, sp, %0\n"
                         "1:\tvstmia sp!, {d0-d7}\n\t"
                         "subs %0, %0, #64\n\t"
                         "bne 1b"
                         : "+r"(stack_bytes)
                         : "r"(0)
                         : "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "cc", "memory");
        return;
    }
#endif
    {
        size_t at, end, lowest = 0 - stack_bytes; /* then its address */

        __asm__ volatile(".syntax unified\n\t"
                         "mov %1, sp\n\t"
                         "mov %0, sp\n\t"
                         "add sp, %2\n\t"
                         "mov %2, sp\n"
                         "1:\tsubs %0, #4\n\t"
                         "str %3, [%0]\n\t"
                         "cmp %0, %2\n\t"
                         "bne 1b\n\t"
                         "mov sp, %1"
                         : "=&l"(at), "=&l"(end), "+l"(lowest)
                         : "l"(0)
                         : "cc", "memory");
        (void)at, (void)end;
    }
    (void)registers;
}

/* ---- 64-bit POWER ---------------------------------------------------------------------------- */

#elif EVC_PPC64_SIMD

EVC_ISA_BEGIN(PPC_VCRYPTO)

/* Registers of AltiVec 0 to 19 and, with VSX, those under floating point: 0 to 13, and of 14 to 31
 * the lower halves. The upper halves of these are the caller's. A function that has used such a
 * register loads its upper half again, by lfd, which leaves the lower one undefined before Power
 * ISA 3.1. No clobber names 14 to 31, since the compiler would save and restore them. */
#define VXOR(i) "vxor " #i "," #i "," #i "\n\t"
#define XXLXOR(i) "xxlxor " #i "," #i "," #i "\n\t"
#define LOWER_HALF(i) "xxpermdi " #i "," #i ",0,0\n\t" /* register 0 is 0 */
EVC_INLINE void clear_registers(enum evc_registers registers)
{
    if (registers != EVC_REGISTERS_NONE)
        __asm__ volatile(EACH_0_TO_7(VXOR) EACH_8_TO_15(VXOR) VXOR(16) VXOR(17) VXOR(18) VXOR(19)
                         :
                         :
                         : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
                           "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19");
    if (registers == EVC_REGISTERS_VSX)
        __asm__ volatile(EACH_0_TO_7(XXLXOR) XXLXOR(8) XXLXOR(9) XXLXOR(10) XXLXOR(11) XXLXOR(12)
                             XXLXOR(13) LOWER_HALF(14) LOWER_HALF(15) EACH_16_TO_31(LOWER_HALF)
                         :
                         :
                         : "fr0", "fr1", "fr2", "fr3", "fr4", "fr5", "fr6", "fr7", "fr8", "fr9",
                           "fr10", "fr11", "fr12", "fr13");
}

/* The stack pointer moves beyond the words that are cleared, and back again. %0 goes through them,
 * %1 is their bytes. The ABI wants the old stack pointer at the new one. */
EVC_INLINE void clear_stack(enum evc_registers registers, size_t stack_bytes)
{
    uintptr_t address;

    if (!stack_bytes)
        return;
    if (registers != EVC_REGISTERS_NONE)
        __asm__ volatile("vxor 0, 0, 0\n\t"
                         "mr %0, 1\n\tneg %1, %1\n\tstdux 1, 1, %1\n"
                         "1:\taddi %0, %0, -64\n\t"
                         "cmpld %0, 1\n\t"
                         "stvx 0, 0, %0\n\tstvx 0, %2, %0\n\t"
                         "stvx 0, %3, %0\n\tstvx 0, %4, %0\n\t"
                         "bne 1b\n\tsubf 1, %1, 1"
                         : "=&b"(address), "+r"(stack_bytes)
                         : "b"((size_t)16), "b"((size_t)32), "b"((size_t)48)
                         : "v0", "cc", "memory");
    else
        __asm__ volatile("mr %0, 1\n\tneg %1, %1\n\tstdux 1, 1, %1\n"
                         "1:\tstdu %2, -8(%0)\n\tcmpld %0, 1\n\tbne 1b\n\tsubf 1, %1, 1"
                         : "=&b"(address), "+r"(stack_bytes)
                         : "r"((size_t)0)
                         : "cc", "memory");
    (void)address;
}

/* ---- Others ---------------------------------------------------------------------------------- */

#else

#if defined(__hppa__) && !defined(__LP64__) && EVC_GNU_C

/* The registers for floating point that a call may change: the multiplier is among them.
 * The first reads as 0. */
#define FCPY(i) "fcpy,dbl %%fr0, %%fr" #i "\n\t"
EVC_INLINE void clear_registers(enum evc_registers registers)
{
    if (registers == EVC_REGISTERS_HPPA_FP)
        __asm__ volatile(FCPY(4) FCPY(5) FCPY(6) FCPY(7) FCPY(8) FCPY(9) FCPY(10) FCPY(11)
                             FCPY(22) FCPY(23) FCPY(24) FCPY(25) FCPY(26) FCPY(27) FCPY(28)
                                 FCPY(29) FCPY(30) FCPY(31)
                         :
                         :
                         : "fr4", "fr5", "fr6", "fr7", "fr8", "fr9", "fr10", "fr11", "fr22",
                           "fr23", "fr24", "fr25", "fr26", "fr27", "fr28", "fr29", "fr30", "fr31");
}

#elif EVC_RV64

/* All vector registers: a call may change each of them. */
EVC_INLINE void clear_registers(enum evc_registers registers)
{
    if (registers == EVC_REGISTERS_V)
        __asm__ volatile(VSETVLI("t0", "x0", E8_M8) VMV_V_I(0, 0) VMV_V_I(8, 0) VMV_V_I(16, 0)
                             VMV_V_I(24, 0)
                         :
                         :
                         : "t0", EVC_RVV_CLOBBERED);
}

#elif EVC_S390X

/* The left halves of registers 8 to 15 belong to the caller. By their fields, since assemblers may
 * be told of an older CPU: VGBM sets all bytes of a register, VLEIG the right half. */
#define VZERO(i) ".short 0xe700 + 16 * (" #i " & 15), 0, 0x0044 + (" #i " & 16) * 0x80\n\t"
#define RIGHT_HALF(i) ".short 0xe700 + 16 * " #i ", 0, 0x1042\n\t"
EVC_INLINE void clear_registers(enum evc_registers registers)
{
    if (registers == EVC_REGISTERS_VX)
        __asm__ volatile(EACH_0_TO_7(VZERO) EACH_8_TO_15(RIGHT_HALF) EACH_16_TO_31(VZERO)
                         :
                         :
                         : "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7");
}

#else

EVC_INLINE void clear_registers(enum evc_registers registers)
{
    (void)registers;
}

#endif

/* The stack pointer moves beyond the words that are cleared, and back again. %0 goes through
 * them, %1 is their bytes. The ABI of ppc64 wants the old stack pointer at the new one. The stack
 * of hppa grows upwards. */
#if !EVC_GNU_C
#elif defined(__riscv) && EVC_WORD64 /* 64 bytes a turn: callers clear a multiple of 64 */
#define CLEAR_LOOP                                                                                 \
    "mv %0, sp\n\tsub sp, sp, %1\n"                                                                \
    "1:\taddi %0, %0, -64\n\t"                                                                     \
    "sd zero, 0(%0)\n\tsd zero, 8(%0)\n\tsd zero, 16(%0)\n\tsd zero, 24(%0)\n\t"                   \
    "sd zero, 32(%0)\n\tsd zero, 40(%0)\n\tsd zero, 48(%0)\n\tsd zero, 56(%0)\n\t"                 \
    "bne %0, sp, 1b\n\tadd sp, sp, %1"
#elif defined(__riscv)
#define CLEAR_LOOP                                                                                 \
    "mv %0, sp\n\tsub sp, sp, %1\n"                                                                \
    "1:\taddi %0, %0, -64\n\t"                                                                     \
    "sw zero, 0(%0)\n\tsw zero, 4(%0)\n\tsw zero, 8(%0)\n\tsw zero, 12(%0)\n\t"                    \
    "sw zero, 16(%0)\n\tsw zero, 20(%0)\n\tsw zero, 24(%0)\n\tsw zero, 28(%0)\n\t"                 \
    "sw zero, 32(%0)\n\tsw zero, 36(%0)\n\tsw zero, 40(%0)\n\tsw zero, 44(%0)\n\t"                 \
    "sw zero, 48(%0)\n\tsw zero, 52(%0)\n\tsw zero, 56(%0)\n\tsw zero, 60(%0)\n\t"                 \
    "bne %0, sp, 1b\n\tadd sp, sp, %1"
#elif defined(__powerpc64__)
#define CLEAR_LOOP                                                                                 \
    "mr %0, 1\n\tneg %1, %1\n\tstdux 1, 1, %1\n"                                                   \
    "1:\tstdu %2, -8(%0)\n\tcmpld %0, 1\n\tbne 1b\n\tsubf 1, %1, 1"
#elif defined(__s390x__) /* 64 bytes a turn, too */
#define CLEAR_LOOP                                                                                 \
    "lgr %0, %%r15\n\tsgr %%r15, %1\n"                                                             \
    "1:\taghi %0, -64\n\txc 0(64,%0), 0(%0)\n\tcgr %0, %%r15\n\tjne 1b\n\tagr %%r15, %1"
#elif defined(__mips__) && !defined(__mips64) && !defined(__mips16)
#define CLEAR_LOOP                                                                                 \
    "move %0, $sp\n\tsubu $sp, $sp, %1\n"                                                          \
    "1:\taddiu %0, %0, -4\n\tsw $0, 0(%0)\n\tbne %0, $sp, 1b\n\taddu $sp, $sp, %1"
#elif defined(__m68k__)
#define CLEAR_LOOP                                                                                 \
    "move.l %%sp, %0\n\tsub.l %1, %%sp\n"                                                          \
    "1:\tclr.l -(%0)\n\tcmp.l %%sp, %0\n\tjne 1b\n\tadd.l %1, %%sp"
#elif defined(__hppa__) && !defined(__LP64__)
/* GCC moves products between its registers through two words of the caller's frame marker */
#define CLEAR_LOOP                                                                                 \
    "stw %%r0, -16(%%r30)\n\tstw %%r0, -12(%%r30)\n\t"                                             \
    "copy %%r30, %0\n\tadd %%r30, %1, %%r30\n"                                                     \
    "1:\tstws,ma %%r0, 4(%0)\n\tcomb,<> %0, %%r30, 1b\n\tnop\n\tsub %%r30, %1, %%r30"
#endif

#if defined(CLEAR_LOOP)

#if defined(__powerpc64__) /* where register 0 as an address means none */
#define CLEAR_ADDRESS "=&b"
#elif defined(__s390x__) || defined(__m68k__)
#define CLEAR_ADDRESS "=&a"
#else
#define CLEAR_ADDRESS "=&r"
#endif

EVC_INLINE void clear_stack(enum evc_registers registers, size_t stack_bytes)
{
    uintptr_t address;

    (void)registers;
    if (!stack_bytes)
        return;
    __asm__ volatile(CLEAR_LOOP
                     : CLEAR_ADDRESS(address), "+r"(stack_bytes)
                     : "r"((size_t)0)
                     : "cc", "memory");
    (void)address;
}

#else

#define FRAME_BYTES 512

/* Frames that a compiler lays out begin and end with words of their own. */
EVC_OUT_OF_LINE void clear_frames(size_t n_bytes)
{
    volatile size_t below[FRAME_BYTES / sizeof(size_t)];

    for (size_t i = 0; i < FRAME_BYTES / sizeof(size_t); i++)
        below[i] = 0;
    if (n_bytes > FRAME_BYTES)
        clear_frames(n_bytes - FRAME_BYTES);
    (void)below[0]; /* so that the call does not take the place of this frame */
}

/* Twice: the second time each frame covers the ends of others. */
EVC_OUT_OF_LINE void clear_shifted_frames(size_t n_bytes)
{
    volatile size_t above[FRAME_BYTES / 2 / sizeof(size_t)];

    for (size_t i = 0; i < FRAME_BYTES / 2 / sizeof(size_t); i++)
        above[i] = 0;
    clear_frames(n_bytes);
    (void)above[0];
}

EVC_INLINE void clear_stack(enum evc_registers registers, size_t stack_bytes)
{
    (void)registers;
    if (!stack_bytes)
        return;
    clear_frames(stack_bytes);
    clear_shifted_frames(stack_bytes);
}

#endif

#endif

/* ---- The functions --------------------------------------------------------------------------- */

#if !defined(CLEAR_GENERAL_REGISTERS)
#define CLEAR_GENERAL_REGISTERS() ((void)0)
#endif

#if EVC_GNU_C
#define NOT_INLINED __attribute__((__noinline__))
#else
#define NOT_INLINED
#endif

/* Some of each kind of register: no branch decides between them when a call ends. They move the
 * stack pointer, and change registers that a call may change: so they are always called. */
#define DEFINE_CLEAR(name, registers)                                 \
    NOT_INLINED void evc_clear_registers_##name(size_t stack_bytes)   \
    {                                                                 \
        (void)stack_bytes; /* 0 */                                    \
        clear_registers(EVC_REGISTERS_##registers);                   \
        CLEAR_GENERAL_REGISTERS();                                    \
    }                                                                 \
    NOT_INLINED void evc_clear_##name(size_t stack_bytes)             \
    {                                                                 \
        clear_registers(EVC_REGISTERS_##registers);                   \
        clear_stack(EVC_REGISTERS_##registers, stack_bytes);          \
        CLEAR_GENERAL_REGISTERS();                                    \
    }                                                                 \
    NOT_INLINED void evc_clear_stack_##name(size_t stack_bytes)       \
    {                                                       \
        clear_stack(EVC_REGISTERS_##registers, stack_bytes); \
    }

DEFINE_CLEAR(none, NONE)
#if EVC_X86 && EVC_GNU_C
DEFINE_CLEAR(xmm, XMM)
DEFINE_CLEAR(ymm, YMM)
DEFINE_CLEAR(zmm, ZMM)
#elif EVC_A64 || EVC_A32
DEFINE_CLEAR(vfp, VFP)
DEFINE_CLEAR(neon, NEON)
#elif EVC_PPC64_SIMD
DEFINE_CLEAR(altivec, ALTIVEC)
DEFINE_CLEAR(vsx, VSX)
#elif EVC_RV64
DEFINE_CLEAR(v, V)
#elif EVC_S390X
DEFINE_CLEAR(vx, VX)
#elif defined(__hppa__)
void evc_clear_registers_hppa_fp(size_t stack_bytes)
{
    (void)stack_bytes; /* 0 */
    clear_registers(EVC_REGISTERS_HPPA_FP);
}

void evc_clear_hppa_fp(size_t stack_bytes)
{
    clear_registers(EVC_REGISTERS_HPPA_FP);
    clear_stack(EVC_REGISTERS_HPPA_FP, stack_bytes);
}
#endif

#if (EVC_X86 && EVC_GNU_C) || EVC_A64 || EVC_BUILT(A32_NEON) || EVC_PPC64_SIMD
EVC_ISA_END
#endif

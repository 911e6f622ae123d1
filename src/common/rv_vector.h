/* SPDX-License-Identifier: MIT */
/*
 * Instructions of RISC-V vectors and of vector cryptography, as texts for inline assembly.
 *
 * Vector registers are numbers, general ones texts: VXOR_VV(16, 16, 20), VLE8(16, "%[in]"). The
 * destination comes first, then the operands as assemblers have them. Each instruction is written
 * by its fields (.insn), in which vector register 16 is called x16: so every assembler since
 * binutils 2.31 and LLVM 14 takes them, whatever the flags of the build are.
 *
 * Compilers know nothing of vector registers between two statements of assembly. One statement
 * therefore holds all of a kernel's operation, and ends with EVC_RVV_CLOBBERED.
 *
 * Loads and stores of whole registers and of bytes take any alignment. Those of words take
 * multiples of 4. A length that is at most VLMAX becomes vl as it is; of a longer one an
 * implementation may take half.
 *
 * Source: RISC-V "V" Vector Extension 1.0 (2021); RISC-V Cryptography Extensions vol. II, 1.0
 * (2023).
 */
#ifndef EVC_COMMON_RV_VECTOR_H
#define EVC_COMMON_RV_VECTOR_H

#include "common/bytes.h"

#if !defined(__riscv_vector)
#define EVC_RVV_CLOBBERED "memory"
#elif defined(__clang__)
#define EVC_RVV_CLOBBERED EVC_RVV_REGISTERS, "memory"
#elif __GNUC__ >= 13
#define EVC_RVV_CLOBBERED EVC_RVV_REGISTERS, "vl", "vtype", "memory"
#else /* which has no code with vectors */
#define EVC_RVV_CLOBBERED "memory"
#endif
#define EVC_RVV_REGISTERS                                                                          \
    "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", \
        "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", \
        "v28", "v29", "v30", "v31"

/* The bytes of a vector register. The number of the register (vlenb, 0xc22) is one with sign. */
EVC_INLINE size_t evc_rvv_register_bytes(void)
{
    size_t n;

    __asm__ volatile(".insn i 0x73, 2, %0, x0, -0x3de" : "=r"(n)); /* not ahead of a branch */
    return n;
}

/* ---- Vector length and type ------------------------------------------------------------------ */

/* Types: elements of 8, 32 or 64 bits; 1, 2, 4 or 8 registers. Elements behind vl become anything,
 * those that a mask leaves out stay. TU: those behind vl stay, too. */
#define EVC_RVV_E8_M1 0x40
#define EVC_RVV_E8_M1_TU 0x00
#define EVC_RVV_E8_M2 0x41
#define EVC_RVV_E8_M4 0x42
#define EVC_RVV_E8_M4_TU 0x02
#define EVC_RVV_E8_M8 0x43
#define EVC_RVV_E32_M1 0x50
#define EVC_RVV_E32_M4 0x52
#define EVC_RVV_E32_M8 0x53
#define EVC_RVV_E64_M1 0x58
#define EVC_RVV_E64_M2 0x59
#define EVC_RVV_E64_M4 0x5a

/* vl: a register for it or x0; length: that of a register, or of x0 the largest one (vl not x0) */
#define VSETVLI(vl, length, type) \
    ".insn i 0x57, 7, " vl ", " length ", " EVC_STR(EVC_RVV_##type) "\n\t"
/* length, type: general registers */
#define VSETVL(vl, length, type) ".insn r 0x57, 7, 0x40, " vl ", " length ", " type "\n\t"
/* length: a number up to 31 */
#define VSETIVLI(length, type) \
    ".insn i 0x57, 7, x0, x" EVC_STR(length) ", " EVC_STR(EVC_RVV_##type) " - 1024\n\t"

/* ---- Memory ---------------------------------------------------------------------------------- */

#define EVC_RVV_MEMORY(opcode, width, kind, v, address, more)                              \
    ".insn r " #opcode ", " #width ", " #kind ", x" EVC_STR(v) ", " address ", x" #more "\n\t"
#define VLE8(v, address) EVC_RVV_MEMORY(0x07, 0, 0x01, v, address, 0)
#define VSE8(v, address) EVC_RVV_MEMORY(0x27, 0, 0x01, v, address, 0)
#define VLE32(v, address) EVC_RVV_MEMORY(0x07, 6, 0x01, v, address, 0)
#define VSE32(v, address) EVC_RVV_MEMORY(0x27, 6, 0x01, v, address, 0)
#define VLE64(v, address) EVC_RVV_MEMORY(0x07, 7, 0x01, v, address, 0)
/* Each element from, or to, as many bytes behind the address as its byte of `distances` says. */
#define VLUXEI8(v, address, distances) EVC_RVV_MEMORY(0x07, 0, 0x03, v, address, distances)
#define VSUXEI8(v, address, distances) EVC_RVV_MEMORY(0x27, 0, 0x03, v, address, distances)
/* One whole register, or 4, whatever vl is. */
#define VL1R(v, address) EVC_RVV_MEMORY(0x07, 0, 0x01, v, address, 8)
#define VL4R(v, address) EVC_RVV_MEMORY(0x07, 0, 0x31, v, address, 8)
#define VS4R(v, address) EVC_RVV_MEMORY(0x27, 0, 0x31, v, address, 8)

/* ---- Arithmetic ------------------------------------------------------------------------------ */

/*
 * Zvkt promises nothing of masks, of places for vrgather, nor of distances for slides: none of
 * these may depend on a secret.
 * first: text of a register's name in the field of the first operand; MASKED: where bits of
 * register 0 are 1
 */
#define EVC_RVV(opcode, funct3, funct7, to, second, first)                         \
    ".insn r " #opcode ", " #funct3 ", " #funct7 ", x" EVC_STR(to) ", " first ", x" \
    EVC_STR(second) "\n\t"
#define EVC_RVV_X(number) "x" EVC_STR(number)

#define VADD_VV(to, a, b) EVC_RVV(0x57, 0, 0x01, to, a, EVC_RVV_X(b))
#define VADD_VX(to, a, x) EVC_RVV(0x57, 4, 0x01, to, a, x)
#define VADD_VX_MASKED(to, a, x) EVC_RVV(0x57, 4, 0x00, to, a, x)
#define VADD_VI(to, a, number) EVC_RVV(0x57, 3, 0x01, to, a, EVC_RVV_X(number))
#define VXOR_VV(to, a, b) EVC_RVV(0x57, 0, 0x17, to, a, EVC_RVV_X(b))
#define VXOR_VI(to, a, number) EVC_RVV(0x57, 3, 0x17, to, a, EVC_RVV_X(number))
#define VOR_VV(to, a, b) EVC_RVV(0x57, 0, 0x15, to, a, EVC_RVV_X(b))
#define VAND_VV(to, a, b) EVC_RVV(0x57, 0, 0x13, to, a, EVC_RVV_X(b))
#define VAND_VX(to, a, x) EVC_RVV(0x57, 4, 0x13, to, a, x)
#define VAND_VI(to, a, number) EVC_RVV(0x57, 3, 0x13, to, a, EVC_RVV_X(number))
#define VSLL_VI(to, a, number) EVC_RVV(0x57, 3, 0x4b, to, a, EVC_RVV_X(number))
#define VSRL_VI(to, a, number) EVC_RVV(0x57, 3, 0x51, to, a, EVC_RVV_X(number))
#define VSRA_VI(to, a, number) EVC_RVV(0x57, 3, 0x53, to, a, EVC_RVV_X(number))
#define VSLL_VV_MASKED(to, a, b) EVC_RVV(0x57, 0, 0x4a, to, a, EVC_RVV_X(b))
#define VMV_V_V(to, a) EVC_RVV(0x57, 0, 0x2f, to, 0, EVC_RVV_X(a))
/* 8 whole registers. */
#define VMV8R(to, a) EVC_RVV(0x57, 3, 0x4f, to, a, "x7")
#define VMV_V_X(to, x) EVC_RVV(0x57, 4, 0x2f, to, 0, x)
#define VMV_V_I(to, number) EVC_RVV(0x57, 3, 0x2f, to, 0, EVC_RVV_X(number))
/* b, or the number, where bits of register 0 are 1, elsewhere a. */
#define VMERGE_VVM(to, a, b) EVC_RVV(0x57, 0, 0x2e, to, a, EVC_RVV_X(b))
#define VMERGE_VIM(to, a, number) EVC_RVV(0x57, 3, 0x2e, to, a, EVC_RVV_X(number))
/* Elements move to the place that is so much higher; those below it stay. */
#define VSLIDEUP_VI(to, a, number) EVC_RVV(0x57, 3, 0x1d, to, a, EVC_RVV_X(number))
#define VSLIDEUP_VX(to, a, x) EVC_RVV(0x57, 4, 0x1d, to, a, x)
#define VSLIDEUP_VI_MASKED(to, a, number) EVC_RVV(0x57, 3, 0x1c, to, a, EVC_RVV_X(number))
#define VSLIDEDOWN_VI(to, a, number) EVC_RVV(0x57, 3, 0x1f, to, a, EVC_RVV_X(number))
#define VSLIDEDOWN_VX(to, a, x) EVC_RVV(0x57, 4, 0x1f, to, a, x)
/* Elements of a, at the places that b has. */
#define VRGATHER_VV(to, a, b) EVC_RVV(0x57, 0, 0x19, to, a, EVC_RVV_X(b))
/* The number of each element; of the bits of `mask` below it that are 1. */
#define VID(to) EVC_RVV(0x57, 2, 0x29, to, 0, "x17")
#define VIOTA(to, mask) EVC_RVV(0x57, 2, 0x29, to, mask, "x16")
#define VIOTA_MASKED(to, mask) EVC_RVV(0x57, 2, 0x28, to, mask, "x16")

/* ---- Cryptography ---------------------------------------------------------------------------- */

/* Zvkb: the bits of each byte, and the bytes of each element, in reverse order. */
#define VBREV8(to, a) EVC_RVV(0x57, 2, 0x25, to, a, "x8")
#define VREV8(to, a) EVC_RVV(0x57, 2, 0x25, to, a, "x9")

/* Zvkned, on elements of 32 bits: one step of all blocks by a round key, a block of register
 * `key`. FIPS 197 sections 5.1 and 5.3: the round's functions, then the key; vaesdm adds the key
 * before InvMixColumns. */
#define VAESZ_VS(s, key) EVC_RVV(0x77, 2, 0x53, s, key, "x7")
#define VAESEM_VS(s, key) EVC_RVV(0x77, 2, 0x53, s, key, "x2")
#define VAESEF_VS(s, key) EVC_RVV(0x77, 2, 0x53, s, key, "x3")
#define VAESDM_VS(s, key) EVC_RVV(0x77, 2, 0x53, s, key, "x0")
#define VAESDF_VS(s, key) EVC_RVV(0x77, 2, 0x53, s, key, "x1")
/* The next round key of 128 bits, and, over the one before `key`, of 256 bits. */
#define VAESKF1(to, key, round) EVC_RVV(0x77, 2, 0x45, to, key, EVC_RVV_X(round))
#define VAESKF2(to, key, round) EVC_RVV(0x77, 2, 0x55, to, key, EVC_RVV_X(round))

/* Zvkg, on elements of 32 bits: y = (y + x) h; y = y h. */
#define VGHSH(y, h, x) EVC_RVV(0x77, 2, 0x59, y, h, EVC_RVV_X(x))
#define VGMUL(y, h) EVC_RVV(0x77, 2, 0x51, y, h, "x17")

/* Zvknha on elements of 32 bits, Zvknhb on those of 32 and 64; vl is 4. Words and letters as FIPS
 * 180-4 section 6 has them, the first of a list in element 0. Two rounds with the lower or upper
 * words of wk: fe_ba stays, and becomes hg_dc of the next two; hg_dc becomes their fe_ba. */
#define VSHA2CL(hg_dc, fe_ba, wk) EVC_RVV(0x77, 2, 0x5f, hg_dc, fe_ba, EVC_RVV_X(wk))
#define VSHA2CH(hg_dc, fe_ba, wk) EVC_RVV(0x77, 2, 0x5d, hg_dc, fe_ba, EVC_RVV_X(wk))
/* Words t to t+3 become t+16 to t+19. w4: words t+4, t+9 to t+11; w12: words t+12 to t+15. */
#define VSHA2MS(w, w4, w12) EVC_RVV(0x77, 2, 0x5b, w, w4, EVC_RVV_X(w12))

#endif

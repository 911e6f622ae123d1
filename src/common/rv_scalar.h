/* SPDX-License-Identifier: MIT */
/*
 * Instructions of the scalar cryptography extensions of RISC-V, and words of the size of a register
 * (32 or 64 bits) in memory of any alignment.
 *
 * Instructions are written by their fields (.insn), so that every assembler since binutils 2.31 and
 * LLVM 14 takes them, whatever the flags of the build are.
 * Source: RISC-V Cryptography Extensions vol. I, 1.0.1 (2022), chapter 3; for the format of .insn
 * GNU as, "RISC-V Instruction Formats".
 *
 * A core may take a load of a word only at a multiple of its size, or let firmware emulate it
 * elsewhere. So kernels read and write aligned words, and text of another alignment is moved to an
 * aligned buffer, some blocks at a time.
 */
#ifndef EVC_COMMON_RV_SCALAR_H
#define EVC_COMMON_RV_SCALAR_H

#include "common/bytes.h"

#if EVC_RV64
typedef uint64_t evc_rv_register;
#else
typedef uint32_t evc_rv_register;
#endif

/* ---- Instructions ---------------------------------------------------------------------------- */

/* Instructions of two registers have opcode OP (0x33). */
#define EVC_RV_OF_TWO(name, funct3, funct7)                                        \
    EVC_INLINE evc_rv_register evc_rv_##name(evc_rv_register a, evc_rv_register b) \
    {                                                                              \
        evc_rv_register result;                                                    \
                                                                                   \
        __asm__(".insn r 0x33, " #funct3 ", " #funct7 ", %0, %1, %2"               \
                : "=r"(result)                                                     \
                : "r"(a), "r"(b));                                                 \
        return result;                                                             \
    }
/* Instructions of one register have opcode OP-IMM (0x13), and a function in the place of the
 * number. */
#define EVC_RV_OF_ONE(name, funct3, number)                                             \
    EVC_INLINE evc_rv_register evc_rv_##name(evc_rv_register a)                         \
    {                                                                                   \
        evc_rv_register result;                                                         \
                                                                                        \
        __asm__(".insn i 0x13, " #funct3 ", %0, %1, " #number : "=r"(result) : "r"(a)); \
        return result;                                                                  \
    }

#if EVC_RV64
/* Half a round of AES, of the words (a, b) for the first two columns and of (b, a) for the others:
 * ShiftRows, SubBytes and, if the name ends in m, MixColumns; or their inverses. */
EVC_RV_OF_TWO(aes64es, 0, 0x19)
EVC_RV_OF_TWO(aes64esm, 0, 0x1b)
EVC_RV_OF_TWO(aes64ds, 0, 0x1d)
EVC_RV_OF_TWO(aes64dsm, 0, 0x1f)
/* InvMixColumns of two columns. */
EVC_RV_OF_ONE(aes64im, 1, 0x300)
/* Two words of the key schedule: b's lower word and the sum of both, each plus a's upper word. */
EVC_RV_OF_TWO(aes64ks2, 0, 0x3f)
/* SubWord(RotWord(upper word)) plus the round constant of this number (0 to 9), in both halves; of
 * the number 10, SubWord alone. */
#define EVC_RV_AES64KS1I(to, from, number) \
    __asm__(".insn i 0x13, 1, %0, %1, %2" : "=r"(to) : "r"(from), "i"(0x310 + (number)))
#else
/* One byte of a column in a round of AES, encrypted (es) or decrypted (ds), plus a: b's byte of
 * this number (0 to 3) through the S-box and, if the name has an m, its part of MixColumns. The
 * number is in the two upper bits of funct7. Volatile, so that compilers keep the order of the
 * source: another one needs more registers than there are. */
#define EVC_RV_AES32(name, funct7)                                                 \
    EVC_INLINE uint32_t evc_rv_##name(uint32_t a, uint32_t b, const unsigned byte) \
    {                                                                              \
        if (byte == 0)                                                             \
            EVC_RV_AES32_OF_BYTE(funct7);                                          \
        else if (byte == 1)                                                        \
            EVC_RV_AES32_OF_BYTE(funct7 + 0x20);                                   \
        else if (byte == 2)                                                        \
            EVC_RV_AES32_OF_BYTE(funct7 + 0x40);                                   \
        else                                                                       \
            EVC_RV_AES32_OF_BYTE(funct7 + 0x60);                                   \
        return a;                                                                  \
    }
#define EVC_RV_AES32_OF_BYTE(funct7) \
    __asm__ volatile(".insn r 0x33, 0, " #funct7 ", %0, %1, %2" : "=r"(a) : "r"(a), "r"(b))
EVC_RV_AES32(aes32esi, 0x11)
EVC_RV_AES32(aes32esmi, 0x13)
EVC_RV_AES32(aes32dsi, 0x15)
EVC_RV_AES32(aes32dsmi, 0x17)
/* Rotated right by 8 bits. */
EVC_RV_OF_ONE(ror8, 5, 0x608)
#endif

/* The lower and the upper half of the product without carry. */
EVC_RV_OF_TWO(clmul, 1, 0x05)
EVC_RV_OF_TWO(clmulh, 3, 0x05)
/* For each nibble of b the nibble of a with that number, counted from the low end; 0 if there is
 * none. */
EVC_RV_OF_TWO(xperm4, 2, 0x14)
/* The bytes in reverse order. */
#if EVC_RV64
EVC_RV_OF_ONE(rev8, 5, 0x6b8)
#else
EVC_RV_OF_ONE(rev8, 5, 0x698)
#endif

/* ---- Words in memory ------------------------------------------------------------------------- */

#define EVC_RV_BYTES sizeof(evc_rv_register)
typedef evc_rv_register evc_rv_word __attribute__((may_alias));

/* p: a multiple of EVC_RV_BYTES. */
EVC_INLINE evc_rv_register evc_rv_load(const uint8_t *p)
{
    return *(const evc_rv_word *)(const void *)p;
}

EVC_INLINE void evc_rv_store(uint8_t *p, evc_rv_register x)
{
    *(evc_rv_word *)(void *)p = x;
}

EVC_INLINE int evc_rv_is_aligned(const uint8_t *p)
{
    return ((uintptr_t)p & (EVC_RV_BYTES - 1)) == 0;
}

/* The first n_bytes bytes (1 to EVC_RV_BYTES) at p, in the lowest bytes of a word. */
EVC_INLINE evc_rv_register evc_rv_load_bytes(const uint8_t *p, size_t n_bytes)
{
    evc_rv_register x = 0;

    for (size_t i = 0; i < n_bytes; i++)
        x |= (evc_rv_register)p[i] << (8 * i);
    return x;
}

/* Copies n_words (not 0) words from memory that is not aligned to memory that is. Aligned words
 * inside of the source are loaded whole, and its ends byte by byte, so that nothing is read beyond
 * them. */
EVC_OUT_OF_LINE void evc_rv_gather(uint8_t *to, const uint8_t *from, size_t n_words)
{
    const size_t n_last = (uintptr_t)from & (EVC_RV_BYTES - 1), n_first = EVC_RV_BYTES - n_last;
    evc_rv_register x = evc_rv_load_bytes(from, n_first);

    for (from += n_first; --n_words; from += EVC_RV_BYTES, to += EVC_RV_BYTES) {
        const evc_rv_register next = evc_rv_load(from);
        evc_rv_store(to, x | next << (8 * n_first));
        x = next >> (8 * n_last);
    }
    evc_rv_store(to, x | evc_rv_load_bytes(from, n_last) << (8 * n_first));
}

#endif

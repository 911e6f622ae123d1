/* SPDX-License-Identifier: MIT */
/*
 * Vectors of POWER8 and later in both byte orders, and their instructions for AES and products
 * without carry. Include it inside a region of PPC_VCRYPTO or more.
 *
 * A block is "in order" if its first byte is the most significant one of the register: so vcipher
 * and vpmsumd want it, whatever the byte order of the system is. lxvd2x loads the first 8 bytes
 * into the upper half, as a number of the system's byte order: on little-endian systems the bytes
 * of each half are reversed. Such a vector is "raw". Turning makes one of the other. vpermxor turns
 * one vector and adds another in one instruction, so turning is free wherever something is added.
 * On big-endian systems raw vectors are in order, and turning is nothing.
 *
 * The instructions are assembly: compilers have other functions for them, of other types, in each
 * version, and clang has them only if the flags of the build allow them everywhere.
 *
 * Source: Power ISA 2.07 B (2018), sections 6.11 and 7.6. What AltiVec has is in common/altivec.h.
 */
#ifndef EVC_COMMON_PPC_H
#define EVC_COMMON_PPC_H

#include "common/altivec.h"

/* A round of AES with the key b, FIPS 197 sections 5.1 and 5.3: the key is added last by vcipher,
 * vcipherlast and vncipherlast; vncipher adds it before InvMixColumns. */
EVC_PPC_OF_TWO(evc_ppc_vcipher, "vcipher")
EVC_PPC_OF_TWO(evc_ppc_vcipherlast, "vcipherlast")
EVC_PPC_OF_TWO(evc_ppc_vncipher, "vncipher")
EVC_PPC_OF_TWO(evc_ppc_vncipherlast, "vncipherlast")

/* The sum of two products of polynomials: of the upper halves, and of the lower halves. */
EVC_PPC_OF_TWO(evc_ppc_vpmsumd, "vpmsumd")

/* The sums of two products of polynomials of 8 bits each, in 16 bits. */
EVC_PPC_OF_TWO(evc_ppc_vpmsumb, "vpmsumb")

/* SubBytes. */
EVC_INLINE evc_ppc_vec evc_ppc_vsbox(evc_ppc_vec a)
{
    evc_ppc_vec to;

    __asm__("vsbox %0, %1" : "=v"(to) : "v"(a));
    return to;
}

/* Each byte of the sum of one byte of a and one of b, whose numbers are the digits of `from`. */
EVC_INLINE evc_ppc_vec evc_ppc_vpermxor(evc_ppc_vec a, evc_ppc_vec b, evc_ppc_vec from)
{
    evc_ppc_vec to;

    __asm__("vpermxor %0, %1, %2, %3" : "=v"(to) : "v"(a), "v"(b), "v"(from));
    return to;
}

/* A half of a above a half of b: bit 1 of `halves` is 1 for the lower one of a, bit 0 for b. */
#define EVC_PPC_HALVES(to, a, b, halves) \
    __asm__("xxpermdi %x0, %x1, %x2, " #halves : "=wa"(to) : "wa"(a), "wa"(b))

/* ---- Memory ---------------------------------------------------------------------------------- */

EVC_INLINE evc_ppc_vec evc_ppc_load_raw(const uint8_t *p)
{
    evc_ppc_vec v;

    __asm__("lxvd2x %x0, %y1"
            : "=wa"(v)
            : "Z"(*(const struct evc_ppc_memory *)(const void *)p));
    return v;
}

EVC_INLINE void evc_ppc_store_raw(uint8_t *p, evc_ppc_vec v)
{
    __asm__("stxvd2x %x1, %y0" : "=Z"(*(struct evc_ppc_memory *)(void *)p) : "wa"(v));
}

/* The i-th block of 16 bytes at p, i a constant up to 7. A register holds each distance. The
 * operand in memory is all blocks up to this one: of the block alone GCC would compute the address,
 * too. */
#define EVC_PPC_LOAD_CASE(i)                                                                    \
    case i:                                                                                     \
        __asm__("lxvd2x %x0, %1, %2"                                                            \
                : "=wa"(v)                                                                      \
                : "b"(p), "r"((size_t)16 * (i)), "m"(*(const uint8_t(*)[16 * (i) + 16])p));     \
        break;
#define EVC_PPC_STORE_CASE(i)                              \
    case i:                                                \
        __asm__("stxvd2x %x1, %2, %3"                      \
                : "+m"(*(uint8_t(*)[16 * (i) + 16])p)      \
                : "wa"(v), "b"(p), "r"((size_t)16 * (i))); \
        break;
#define EVC_PPC_1_TO_7(CASE) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)

EVC_INLINE evc_ppc_vec evc_ppc_load_ith(const uint8_t *p, size_t i)
{
    evc_ppc_vec v;

    switch (i) {
        EVC_PPC_1_TO_7(EVC_PPC_LOAD_CASE)
    default:
        v = evc_ppc_load_raw(p);
    }
    return v;
}

EVC_INLINE void evc_ppc_store_ith(uint8_t *p, size_t i, evc_ppc_vec v)
{
    switch (i) {
        EVC_PPC_1_TO_7(EVC_PPC_STORE_CASE)
    default:
        evc_ppc_store_raw(p, v);
    }
}

/* vperm takes the second digit of a byte as the number of a byte and, for the vector, bit 4. */
#define EVC_PPC_VPERM(to, a, b, from) \
    __asm__("vperm %0, %1, %2, %3" : "=v"(to) : "v"(a), "v"(b), "v"(from))

/* The upper halves of two vectors, and the lower ones; as they are, and with bytes reversed. */
EVC_INLINE evc_ppc_vec evc_ppc_uppers(evc_ppc_vec a, evc_ppc_vec b)
{
    evc_ppc_vec to;

    EVC_PPC_HALVES(to, a, b, 0);
    return to;
}

EVC_INLINE evc_ppc_vec evc_ppc_lowers(evc_ppc_vec a, evc_ppc_vec b)
{
    evc_ppc_vec to;

    EVC_PPC_HALVES(to, a, b, 3);
    return to;
}

EVC_INLINE evc_ppc_vec evc_ppc_turned_uppers(evc_ppc_vec a, evc_ppc_vec b)
{
    evc_ppc_vec to;

    EVC_PPC_VPERM(to, a, b,
                  EVC_PPC_BYTES(7, 6, 5, 4, 3, 2, 1, 0, 23, 22, 21, 20, 19, 18, 17, 16));
    return to;
}

EVC_INLINE evc_ppc_vec evc_ppc_turned_lowers(evc_ppc_vec a, evc_ppc_vec b)
{
    evc_ppc_vec to;

    EVC_PPC_VPERM(to, a, b,
                  EVC_PPC_BYTES(15, 14, 13, 12, 11, 10, 9, 8, 31, 30, 29, 28, 27, 26, 25, 24));
    return to;
}

/* The upper halves of two raw vectors, in order; and the lower halves. Then the same of blocks
 * whose bytes are reversed in memory: the other halves, turned where the former are not. */
#if EVC_BIG_ENDIAN
#define evc_ppc_upper_halves evc_ppc_uppers
#define evc_ppc_lower_halves evc_ppc_lowers
#define evc_ppc_reversed_upper_halves evc_ppc_turned_lowers
#define evc_ppc_reversed_lower_halves evc_ppc_turned_uppers
#else
#define evc_ppc_upper_halves evc_ppc_turned_uppers
#define evc_ppc_lower_halves evc_ppc_turned_lowers
#define evc_ppc_reversed_upper_halves evc_ppc_lowers
#define evc_ppc_reversed_lower_halves evc_ppc_uppers
#endif

/* a, in order, plus b, a raw vector of a block whose bytes are reversed in memory; raw. */
EVC_INLINE evc_ppc_vec evc_ppc_reverse_xor(evc_ppc_vec a, evc_ppc_vec b)
{
#if EVC_BIG_ENDIAN
    return evc_ppc_vpermxor(a, b,
                            EVC_PPC_BYTES(0xf0, 0xe1, 0xd2, 0xc3, 0xb4, 0xa5, 0x96, 0x87, 0x78,
                                          0x69, 0x5a, 0x4b, 0x3c, 0x2d, 0x1e, 0x0f));
#else
    return evc_ppc_vpermxor(a, b,
                            EVC_PPC_BYTES(0x80, 0x91, 0xa2, 0xb3, 0xc4, 0xd5, 0xe6, 0xf7, 0x08,
                                          0x19, 0x2a, 0x3b, 0x4c, 0x5d, 0x6e, 0x7f));
#endif
}

#if EVC_BIG_ENDIAN

EVC_INLINE evc_ppc_vec evc_ppc_turn(evc_ppc_vec a)
{
    return a;
}

/* a turned, plus b. */
EVC_INLINE evc_ppc_vec evc_ppc_turn_xor(evc_ppc_vec a, evc_ppc_vec b)
{
    return a ^ b;
}

/* a + b, turned. */
EVC_INLINE evc_ppc_vec evc_ppc_turn_sum(evc_ppc_vec a, evc_ppc_vec b)
{
    return a ^ b;
}

#else

/* The digits of a byte are the numbers of the bytes of the first and of the second vector whose sum
 * it becomes. */
#define EVC_PPC_TURN_FIRST                                                                     \
    EVC_PPC_BYTES(0x70, 0x61, 0x52, 0x43, 0x34, 0x25, 0x16, 0x07, 0xf8, 0xe9, 0xda, 0xcb, 0xbc, \
                  0xad, 0x9e, 0x8f)
#define EVC_PPC_TURN_BOTH                                                                      \
    EVC_PPC_BYTES(0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x00, 0xff, 0xee, 0xdd, 0xcc, 0xbb, \
                  0xaa, 0x99, 0x88)

EVC_INLINE evc_ppc_vec evc_ppc_turn(evc_ppc_vec a)
{
    evc_ppc_vec to;

    EVC_PPC_VPERM(to, a, a, EVC_PPC_TURN_BOTH);
    return to;
}

EVC_INLINE evc_ppc_vec evc_ppc_turn_xor(evc_ppc_vec a, evc_ppc_vec b)
{
    return evc_ppc_vpermxor(a, b, EVC_PPC_TURN_FIRST);
}

EVC_INLINE evc_ppc_vec evc_ppc_turn_sum(evc_ppc_vec a, evc_ppc_vec b)
{
    return evc_ppc_vpermxor(a, b, EVC_PPC_TURN_BOTH);
}

#endif

/* A block in order, from memory and back. */
EVC_INLINE evc_ppc_vec evc_ppc_load(const uint8_t *p)
{
    return evc_ppc_turn(evc_ppc_load_raw(p));
}

EVC_INLINE void evc_ppc_store(uint8_t *p, evc_ppc_vec v)
{
    evc_ppc_store_raw(p, evc_ppc_turn(v));
}

/* ---- Parts of a block ------------------------------------------------------------------------ */

/* Two numbers as a block in order. */
EVC_INLINE evc_ppc_vec evc_ppc_block(uint64_t upper, uint64_t lower)
{
    evc_ppc_vec a, b;

    __asm__("mtvsrd %x0, %1" : "=wa"(a) : "r"(upper));
    __asm__("mtvsrd %x0, %1" : "=wa"(b) : "r"(lower));
    EVC_PPC_HALVES(a, a, b, 0);
    return a;
}

EVC_INLINE uint64_t evc_ppc_upper(evc_ppc_vec v)
{
    uint64_t upper;

    __asm__("mfvsrd %0, %x1" : "=r"(upper) : "wa"(v));
    return upper;
}

EVC_INLINE uint64_t evc_ppc_lower(evc_ppc_vec v)
{
    EVC_PPC_HALVES(v, v, v, 2);
    return evc_ppc_upper(v);
}

/* n_bytes 1 to 15 at p, and zeros behind, as a block in order; reads nothing else: two words that
 * overlap, or three bytes that may be the same. */
EVC_INLINE evc_ppc_vec evc_ppc_load_part(const uint8_t *p, size_t n_bytes)
{
    uint64_t upper, lower = 0;

    if (n_bytes >= 8) {
        upper = evc_load64_be(p);
        lower = evc_load64_be(p + n_bytes - 8) << 1 << (127 - 8 * n_bytes);
    } else if (n_bytes >= 4) {
        upper = (uint64_t)evc_load32_be(p) << 32 |
                (uint64_t)evc_load32_be(p + n_bytes - 4) << (64 - 8 * n_bytes);
    } else {
        upper = (uint64_t)p[0] << 56 | (uint64_t)p[n_bytes / 2] << (56 - n_bytes / 2 * 8) |
                (uint64_t)p[n_bytes - 1] << (64 - 8 * n_bytes);
    }
    return evc_ppc_block(upper, lower);
}

/* The first n_bytes (1 to 15) of a block in order to p; writes nothing else. */
EVC_INLINE void evc_ppc_store_part(uint8_t *p, evc_ppc_vec x, size_t n_bytes)
{
    const uint64_t upper = evc_ppc_upper(x), lower = evc_ppc_lower(x);

    if (n_bytes >= 8) {
        evc_store64_be(p, upper);
        evc_store64_be(p + n_bytes - 8,
                       upper << (8 * n_bytes - 64) | lower >> 1 >> (127 - 8 * n_bytes));
    } else if (n_bytes >= 4) {
        evc_store32_be(p, (uint32_t)(upper >> 32));
        evc_store32_be(p + n_bytes - 4, (uint32_t)(upper >> (64 - 8 * n_bytes)));
    } else {
        p[n_bytes / 2] = (uint8_t)(upper >> (56 - n_bytes / 2 * 8));
        p[n_bytes - 1] = (uint8_t)(upper >> (64 - 8 * n_bytes));
        p[0] = (uint8_t)(upper >> 56);
    }
}

#endif

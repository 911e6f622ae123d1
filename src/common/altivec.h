/* SPDX-License-Identifier: MIT */
/*
 * Vectors of AltiVec, which PowerPC has from G4, 970 (G5) and POWER6 on, in both byte orders.
 * Include it inside a region of PPC_ALTIVEC or more.
 *
 * A block is "in order" if its first byte is the most significant one of the register, whatever the
 * byte order of the system is. vperm and vsldoi count bytes from that end. A vector that the
 * compiler moves from or to memory that is aligned is in order on big-endian systems, and has its
 * bytes reversed on others: such a vector is "as loaded". Turning makes one of the other. Vectors
 * that are in order may be stored without turning, and are in order when they are loaded again.
 *
 * The instructions are assembly: compilers have other functions for them, of other types, in each
 * version, and some of them only if the flags of the build allow AltiVec everywhere.
 *
 * Source: AltiVec Technology Programming Environments Manual (Freescale, 2006), chapter 6; Power
 * ISA 2.07 B (2018), chapter 6.
 */
#ifndef EVC_COMMON_ALTIVEC_H
#define EVC_COMMON_ALTIVEC_H

#include "common/bytes.h"

typedef uint8_t evc_ppc_vec __attribute__((vector_size(16)));
typedef int8_t evc_ppc_signed __attribute__((vector_size(16)));
typedef uint32_t evc_ppc_words __attribute__((vector_size(16)));

struct evc_ppc_memory {
    uint8_t bytes[16];
} __attribute__((may_alias));

/* A constant by its bytes, the most significant one first. */
#if EVC_BIG_ENDIAN
#define EVC_PPC_BYTES(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) \
    ((evc_ppc_vec){a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p})
#define EVC_PPC_WORDS(a, b, c, d) ((evc_ppc_words){a, b, c, d})
#else
#define EVC_PPC_BYTES(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) \
    ((evc_ppc_vec){p, o, n, m, l, k, j, i, h, g, f, e, d, c, b, a})
#define EVC_PPC_WORDS(a, b, c, d) ((evc_ppc_words){d, c, b, a})
#endif

/* The result of an instruction with two operands. */
#define EVC_PPC_OF_TWO(function, instruction)                             \
    EVC_INLINE evc_ppc_vec function(evc_ppc_vec a, evc_ppc_vec b)         \
    {                                                                     \
        evc_ppc_vec to;                                                   \
        __asm__(instruction " %0, %1, %2" : "=v"(to) : "v"(a), "v"(b)); \
        return to;                                                        \
    }

/* Bytes n to n + 15 of a and b in a row. */
#define EVC_PPC_SHIFT(to, a, b, n) \
    __asm__("vsldoi %0, %1, %2, " #n : "=v"(to) : "v"(a), "v"(b))

/* Word n of a, counted from the most significant one, in all words. */
#define EVC_PPC_SPLAT(to, a, n) __asm__("vspltw %0, %1, " #n : "=v"(to) : "v"(a))

/* Each byte of the 32 bytes of a and b whose number is in the lower 5 bits of a byte of `from`. */
#define EVC_PPC_VPERM(to, a, b, from) \
    __asm__("vperm %0, %1, %2, %3" : "=v"(to) : "v"(a), "v"(b), "v"(from))

EVC_INLINE evc_ppc_vec evc_ppc_vperm(evc_ppc_vec a, evc_ppc_vec b, evc_ppc_vec from)
{
    evc_ppc_vec to;

    EVC_PPC_VPERM(to, a, b, from);
    return to;
}

/* Bytes of a and of b in turn: of the first 8 of both, or of the last 8. */
EVC_PPC_OF_TWO(evc_ppc_first_bytes_in_turn, "vmrghb")
EVC_PPC_OF_TWO(evc_ppc_last_bytes_in_turn, "vmrglb")

/* The smaller byte of two, at each place. */
EVC_PPC_OF_TWO(evc_ppc_smaller_bytes, "vminub")

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A vector as loaded, from memory that is aligned to 16 bytes, and back. */
EVC_INLINE evc_ppc_vec evc_altivec_get(const uint8_t *p)
{
    typedef evc_ppc_vec aliased __attribute__((may_alias));

    return *(const aliased *)(const void *)p;
}

EVC_INLINE void evc_altivec_put(uint8_t *p, evc_ppc_vec v)
{
    typedef evc_ppc_vec aliased __attribute__((may_alias));

    *(aliased *)(void *)p = v;
}

/* Makes a vector in order of one as loaded, and the reverse. */
EVC_INLINE evc_ppc_vec evc_altivec_turn(evc_ppc_vec v)
{
#if EVC_BIG_ENDIAN
    return v;
#else
    return evc_ppc_vperm(v, v, EVC_PPC_BYTES(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
#endif
}

/* A block in order from memory that is aligned. */
EVC_INLINE evc_ppc_vec evc_altivec_get_block(const uint8_t *p)
{
    return evc_altivec_turn(evc_altivec_get(p));
}

/* The aligned 16 bytes, as loaded, in which the first byte of a block at p lies; and those of its
 * last byte. lvx ignores the lowest 4 bits of an address, so it reads nothing of a page without
 * bytes of the block. */
EVC_INLINE evc_ppc_vec evc_altivec_around_first(const uint8_t *p)
{
    evc_ppc_vec v;

    __asm__("lvx %0, %y1" : "=v"(v) : "Z"(*(const struct evc_ppc_memory *)(const void *)p));
    return v;
}

EVC_INLINE evc_ppc_vec evc_altivec_around_last(const uint8_t *p)
{
    evc_ppc_vec v;

    __asm__("lvx %0, %y1"
            : "=v"(v)
            : "Z"(p[15]), "m"(*(const struct evc_ppc_memory *)(const void *)p));
    return v;
}

/* The bytes that vperm takes for a block at p from the two aligned ones around it. */
EVC_INLINE evc_ppc_vec evc_altivec_places(const uint8_t *p)
{
    evc_ppc_vec v;

    __asm__("lvsl %0, 0, %1" : "=v"(v) : "r"(p));
#if EVC_BIG_ENDIAN
    return v;
#else
    return ~v;
#endif
}

/* The block in order of which one part is in `first` and the rest in `second`, both as loaded. */
EVC_INLINE evc_ppc_vec evc_altivec_joined(evc_ppc_vec first, evc_ppc_vec second,
                                          evc_ppc_vec places)
{
#if EVC_BIG_ENDIAN
    return evc_ppc_vperm(first, second, places);
#else
    return evc_ppc_vperm(second, first, places);
#endif
}

/* A block in order, of any alignment. */
EVC_INLINE evc_ppc_vec evc_altivec_load(const uint8_t *p)
{
    return evc_altivec_joined(evc_altivec_around_first(p), evc_altivec_around_last(p),
                              evc_altivec_places(p));
}

EVC_INLINE int evc_altivec_is_aligned(const uint8_t *p)
{
    return ((uintptr_t)p & 15) == 0;
}

/* AltiVec has no stores of other alignments that leave neighbours alone but those of single words
 * and bytes: so general registers move such blocks, by way of the stack. */
EVC_INLINE void evc_altivec_store_anywhere(uint8_t *p, evc_ppc_vec v)
{
    EVC_ALIGN(16) uint8_t room[16];

    evc_altivec_put(room, evc_altivec_turn(v));
    __asm__("" : "+m"(room));
    memcpy(p, room, 16);
}

EVC_INLINE void evc_altivec_store(uint8_t *p, evc_ppc_vec v)
{
    if (evc_altivec_is_aligned(p))
        evc_altivec_put(p, evc_altivec_turn(v));
    else
        evc_altivec_store_anywhere(p, v);
}

/* n_bytes (1 to 15) at p, and zeros behind, as a block in order; reads nothing else. */
EVC_INLINE evc_ppc_vec evc_altivec_load_part(const uint8_t *p, size_t n_bytes)
{
    EVC_ALIGN(16) uint8_t room[16] = {0};

    evc_copy_secret(room, p, n_bytes);
    return evc_altivec_get_block(room);
}

/* The first n_bytes of a block in order to p; writes nothing else. */
EVC_INLINE void evc_altivec_store_part(uint8_t *p, evc_ppc_vec v, size_t n_bytes)
{
    EVC_ALIGN(16) uint8_t room[16];

    evc_altivec_put(room, evc_altivec_turn(v));
    evc_copy_secret(p, room, n_bytes);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Integers enter and leave memory only here: byte order and alignment have this one home.
 *
 * le/be: the named order. ne: the order of the host, for data whose order does not matter (xor).
 * Compilers turn all of these into single loads and stores where the CPU allows it.
 */
#ifndef EVC_COMMON_BYTES_H
#define EVC_COMMON_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "everycore/isa.h"

/* The three that freestanding code may rely on (GCC manual, "Standards"); no libc header needed. */
void *memcpy(void *restrict, const void *restrict, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);

/* -ffreestanding makes the plain names ordinary functions, and each load below a call; the built-in
 * forms are single instructions again wherever the size is a constant. */
#if EVC_GNU_C
#define memcpy(to, from, n) __builtin_memcpy(to, from, n)
#define memmove(to, from, n) __builtin_memmove(to, from, n)
#define memset(to, value, n) __builtin_memset(to, value, n)
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define EVC_BIG_ENDIAN 1
#else
#define EVC_BIG_ENDIAN 0
#endif

/* For helpers whose call would cost more than their body: -O1 and -Os leave plain inline functions
 * out of line, and a call between two rounds sends the state through memory. */
#if EVC_GNU_C
#define EVC_INLINE static inline __attribute__((always_inline))
#else
#define EVC_INLINE static inline
#endif

/* Keeps the slow path of a short function out of line: inlined, its registers would be saved at
 * every call. */
#if EVC_GNU_C
#define EVC_OUT_OF_LINE static __attribute__((__noinline__, __unused__))
#else
#define EVC_OUT_OF_LINE static
#endif

/* A condition that is hardly ever true. */
#if EVC_GNU_C
#define EVC_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#else
#define EVC_UNLIKELY(condition) (condition)
#endif

/* Compilers see a new value here, so that they do not turn a loop of copies
 * into a call of memcpy. */
#if EVC_GNU_C
#define EVC_KEEP(x) __asm__("" : "+r"(x))
#else
#define EVC_KEEP(x) ((void)0)
#endif

/* The bytes at p count as read: stores to them stay. */
#if EVC_GNU_C
#define EVC_KEEP_MEMORY(p) __asm__ volatile("" : : "r"(p) : "memory")
#else
#define EVC_KEEP_MEMORY(p) ((void)*(const volatile uint8_t *)(p))
#endif

/* The compiler moves no load, no store and, as far as GCC goes, no instruction across. */
#if EVC_GNU_C
#define EVC_BARRIER() __asm__ volatile("" : : : "memory")
#else
#define EVC_BARRIER() ((void)0)
#endif

/* p moved by n_bytes modulo the address space. Where p or the result lies outside of its buffer,
 * p + n_bytes is undefined (C11 6.5.6). */
EVC_INLINE const uint8_t *evc_in_at(const uint8_t *p, size_t n_bytes)
{
    return (const uint8_t *)((uintptr_t)p + n_bytes);
}

EVC_INLINE uint8_t *evc_out_at(uint8_t *p, size_t n_bytes)
{
    return (uint8_t *)((uintptr_t)p + n_bytes);
}

EVC_INLINE uint32_t evc_bswap32(uint32_t x)
{
    x = ((x & UINT32_C(0x00ff00ff)) << 8) | ((x >> 8) & UINT32_C(0x00ff00ff));
    return (x << 16) | (x >> 16);
}

EVC_INLINE uint64_t evc_bswap64(uint64_t x)
{
    return ((uint64_t)evc_bswap32((uint32_t)x) << 32) | evc_bswap32((uint32_t)(x >> 32));
}

/* Some CPUs take words only at multiples of their size. Compilers copy a word there by bytes on the
 * stack, which would leave a secret: so words are put together in registers. */
#if (defined(__riscv) && !defined(__riscv_misaligned_fast)) || defined(__mips__) || \
    defined(__hppa__) || defined(__sparc__) ||                                      \
    (defined(__arm__) && !defined(__ARM_FEATURE_UNALIGNED))
#define EVC_BYTE_SHIFT(i, n) (8 * (EVC_BIG_ENDIAN ? (n) - 1 - (i) : (i)))

EVC_INLINE uint32_t evc_load32_ne(const uint8_t *p)
{
    return (uint32_t)p[0] << EVC_BYTE_SHIFT(0, 4) | (uint32_t)p[1] << EVC_BYTE_SHIFT(1, 4) |
           (uint32_t)p[2] << EVC_BYTE_SHIFT(2, 4) | (uint32_t)p[3] << EVC_BYTE_SHIFT(3, 4);
}

/* CPUs that join bytes seldom have an instruction that reverses them: each byte goes to its place
 * at once. */
EVC_INLINE uint32_t evc_load32_be(const uint8_t *p)
{
#if defined(__arm__) && __ARM_ARCH < 6
    uint32_t x = p[0];

    EVC_KEEP(x); /* GCC would join them reversed, and reverse the word by four instructions */
    return ((x << 8 | p[1]) << 8 | p[2]) << 8 | p[3];
#endif
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

EVC_INLINE uint64_t evc_load64_be(const uint8_t *p)
{
    return (uint64_t)evc_load32_be(p) << 32 | evc_load32_be(p + 4);
}

EVC_INLINE uint64_t evc_load64_ne(const uint8_t *p)
{
    const uint64_t first = evc_load32_ne(p), second = evc_load32_ne(p + 4);

    return EVC_BIG_ENDIAN ? first << 32 | second : second << 32 | first;
}

EVC_INLINE void evc_store32_ne(uint8_t *p, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(x >> EVC_BYTE_SHIFT(i, 4));
}

EVC_INLINE void evc_store64_ne(uint8_t *p, uint64_t x)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(x >> EVC_BYTE_SHIFT(i, 8));
}

#define EVC_JOINS_BYTES 1

#else
#define EVC_JOINS_BYTES 0

EVC_INLINE uint32_t evc_load32_ne(const uint8_t *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

EVC_INLINE uint64_t evc_load64_ne(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

EVC_INLINE void evc_store32_ne(uint8_t *p, uint32_t x)
{
    memcpy(p, &x, sizeof x);
}

EVC_INLINE void evc_store64_ne(uint8_t *p, uint64_t x)
{
    memcpy(p, &x, sizeof x);
}

#endif

#if EVC_BIG_ENDIAN
#define EVC_ORDER_LE(bits, x) evc_bswap##bits(x)
#define EVC_ORDER_BE(bits, x) (x)
#else
#define EVC_ORDER_LE(bits, x) (x)
#define EVC_ORDER_BE(bits, x) evc_bswap##bits(x)
#endif

EVC_INLINE uint32_t evc_load32_le(const uint8_t *p)
{
    return EVC_ORDER_LE(32, evc_load32_ne(p));
}

EVC_INLINE uint64_t evc_load64_le(const uint8_t *p)
{
    return EVC_ORDER_LE(64, evc_load64_ne(p));
}

#if !EVC_JOINS_BYTES
EVC_INLINE uint32_t evc_load32_be(const uint8_t *p)
{
    return EVC_ORDER_BE(32, evc_load32_ne(p));
}

EVC_INLINE uint64_t evc_load64_be(const uint8_t *p)
{
    return EVC_ORDER_BE(64, evc_load64_ne(p));
}
#endif

EVC_INLINE void evc_store32_le(uint8_t *p, uint32_t x)
{
    evc_store32_ne(p, EVC_ORDER_LE(32, x));
}

EVC_INLINE void evc_store32_be(uint8_t *p, uint32_t x)
{
    evc_store32_ne(p, EVC_ORDER_BE(32, x));
}

EVC_INLINE void evc_store64_le(uint8_t *p, uint64_t x)
{
    evc_store64_ne(p, EVC_ORDER_LE(64, x));
}

EVC_INLINE void evc_store64_be(uint8_t *p, uint64_t x)
{
    evc_store64_ne(p, EVC_ORDER_BE(64, x));
}

/* A block of two words that is soon to be read whole: one store where the CPU has it, since a load
 * behind two waits until both have left the core. */
EVC_INLINE void evc_store64x2_le(uint8_t *p, uint64_t first, uint64_t second)
{
#if EVC_GNU_C && defined(__SSE2__)
    typedef uint64_t words __attribute__((vector_size(16)));
    const words block = {first, second};

    memcpy(p, &block, 16);
#else
    evc_store64_le(p, first);
    evc_store64_le(p + 8, second);
#endif
}

EVC_INLINE void evc_store64x2_be(uint8_t *p, uint64_t first, uint64_t second)
{
    evc_store64x2_le(p, evc_bswap64(first), evc_bswap64(second));
}

/* A copy of secrets whose length is not a constant. memcpy of a C library may leave them in
 * vector registers that portable code cannot name; the words here pass through general
 * registers, each through one. */
EVC_INLINE void evc_copy_secret(uint8_t *out, const uint8_t *in, size_t len_bytes)
{
#if EVC_WORD64
    for (; len_bytes >= 8; len_bytes -= 8, out += 8, in += 8) {
        uint64_t word = evc_load64_ne(in);
        EVC_KEEP(word);
        evc_store64_ne(out, word);
    }
#else
    for (; len_bytes >= 4; len_bytes -= 4, out += 4, in += 4) {
        uint32_t word = evc_load32_ne(in);
        EVC_KEEP(word);
        evc_store32_ne(out, word);
    }
#endif
    for (; len_bytes; len_bytes--) {
        uint32_t byte = *in++;
        EVC_KEEP(byte);
        *out++ = (uint8_t)byte;
    }
}

/* A copy of n_bytes, a multiple of 16, each block by one load and one such store. */
EVC_INLINE void evc_copy_blocks(uint8_t *out, const uint8_t *in, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i += 16) {
#if EVC_GNU_C && defined(__SSE2__)
        typedef uint64_t words __attribute__((vector_size(16)));
        words block;
        memcpy(&block, in + i, 16);
        __asm__("" : "+x"(block)); /* else compilers call memcpy */
        memcpy(out + i, &block, 16);
#else
        evc_copy_secret(out + i, in + i, 16);
#endif
    }
}

/* As evc_wipe(), whose call and loop would take more instructions than the two stores. */
EVC_INLINE void evc_clear_block(uint8_t block[16])
{
#if EVC_GNU_C
    evc_store64_ne(block, 0);
    evc_store64_ne(block + 8, 0);
    EVC_KEEP_MEMORY(block);
#else
    for (volatile uint8_t *v = block; v < block + 16;)
        *v++ = 0;
#endif
}

/* out = a ^ b, 16 bytes each; out may be a or b. With few registers of 32 bits each word is written
 * before the next is read: two of 64 bits would pass through the stack. */
EVC_INLINE void evc_xor16(uint8_t *out, const uint8_t *a, const uint8_t *b)
{
#if !EVC_WORD64 && !EVC_A32
    for (int i = 0; i < 16; i += 4)
        evc_store32_ne(out + i, evc_load32_ne(a + i) ^ evc_load32_ne(b + i));
#else
    uint64_t lo = evc_load64_ne(a) ^ evc_load64_ne(b);
    uint64_t hi = evc_load64_ne(a + 8) ^ evc_load64_ne(b + 8);

    evc_store64_ne(out, lo);
    evc_store64_ne(out + 8, hi);
#endif
}

/* out = a ^ b, len_bytes bytes; out may be a or b. */
EVC_INLINE void evc_xor(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t len_bytes)
{
    for (; len_bytes >= 16; len_bytes -= 16, out += 16, a += 16, b += 16)
        evc_xor16(out, a, b);
    for (; len_bytes; len_bytes--)
        *out++ = (uint8_t)(*a++ ^ *b++);
}

#endif

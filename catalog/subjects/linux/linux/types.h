/* SPDX-License-Identifier: MIT */
/* The kernel that the portable C of Linux's AES expects around it: our own words, for
 * programs of user space. */
#ifndef SUBJECT_LINUX_TYPES_H
#define SUBJECT_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define EINVAL 22
#define IS_ENABLED(option) 0
#define barrier() __asm__ volatile("" ::: "memory")
#define at_least static
#define asmlinkage
#define __maybe_unused __attribute__((unused))
#define ____cacheline_aligned __attribute__((aligned(64)))
#define __alias(name) __attribute__((alias(#name)))
#define __visible __attribute__((used))
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

static inline u32 ror32(u32 word, unsigned bits)
{
    return word >> bits % 32 | word << (0 - bits) % 32;
}

static inline u32 rol32(u32 word, unsigned bits)
{
    return word << bits % 32 | word >> (0 - bits) % 32;
}

/* Little-endian words at any address. */
static inline u32 get_unaligned_le32(const void *from)
{
    u32 word;

    memcpy(&word, from, 4);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap32(word) : word;
}

static inline void put_unaligned_le32(u32 word, void *to)
{
    word = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap32(word) : word;
    memcpy(to, &word, 4);
}

#endif

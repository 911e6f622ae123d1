/* SPDX-License-Identifier: MIT */
/*
 * Instructions of IBM Z that encrypt and hash text in memory (CPACF), and others that take as many
 * bytes as one is told.
 *
 * An instruction may end before all text is done, with condition code 3; it is repeated then, from
 * where its registers say that it goes on. Text and result may be the same memory.
 * Source: z/Architecture Principles of Operation, SA22-7832-12, chapter 7.
 */
#ifndef EVC_COMMON_S390X_H
#define EVC_COMMON_S390X_H

#include "common/bytes.h"

/* Codes of functions. */
enum {
    EVC_S390X_QUERY = 0,
    EVC_S390X_AES_128 = 18, /* AES-192 and AES-256 have the next ones */
    EVC_S390X_XTS_128 = 50, /* of KM */
    EVC_S390X_XTS_256 = 52,
    EVC_S390X_SHA_256 = 2, /* of KIMD */
    EVC_S390X_SHA_512 = 3,
    EVC_S390X_GHASH = 65,
    EVC_S390X_FUNCTION = 0x7f,
    EVC_S390X_DECRYPT = 0x80, /* is added */
    /* Flags of KMA: no text, or no associated data, follows; the parameters have H. */
    EVC_S390X_LAST_TEXT = 0x100,
    EVC_S390X_LAST_AAD = 0x200,
    EVC_S390X_HASH_KEY_GIVEN = 0x400
};

/* KM and KMC: text of n_bytes, whole blocks, from in to out. */
#define EVC_S390X_CIPHER(name, opcode)                                                   \
    EVC_INLINE void evc_s390x_##name(unsigned code, void *parameters, const uint8_t *in, \
                                     uint8_t *out, size_t n_bytes)                       \
    {                                                                                    \
        register uint64_t r0 __asm__("0") = code;                                        \
        register void *r1 __asm__("1") = parameters;                                     \
        register uint8_t *r2 __asm__("2") = out;                                         \
        register const uint8_t *r4 __asm__("4") = in;                                    \
        register uint64_t r5 __asm__("5") = n_bytes;                                     \
                                                                                         \
        __asm__ volatile("0: .insn rre, " opcode ", %0, %1\n brc 1, 0b"                  \
                         : "+d"(r2), "+d"(r4), "+d"(r5)                                  \
                         : "d"(r0), "d"(r1)                                              \
                         : "cc", "memory");                                              \
    }
EVC_S390X_CIPHER(km, "0xb92e0000")
EVC_S390X_CIPHER(kmc, "0xb92f0000")

/* KMCTR: the same, with a counter for each block. */
EVC_INLINE void evc_s390x_kmctr(unsigned code, const void *parameters, const uint8_t *counters,
                                const uint8_t *in, uint8_t *out, size_t n_bytes)
{
    register uint64_t r0 __asm__("0") = code;
    register const void *r1 __asm__("1") = parameters;
    register uint8_t *r2 __asm__("2") = out;
    register const uint8_t *r4 __asm__("4") = in;
    register uint64_t r5 __asm__("5") = n_bytes;
    register const uint8_t *r6 __asm__("6") = counters;

    __asm__ volatile("0: .insn rrf, 0xb92d0000, %0, %1, %3, 0\n brc 1, 0b"
                     : "+d"(r2), "+d"(r4), "+d"(r5), "+d"(r6)
                     : "d"(r0), "d"(r1)
                     : "cc", "memory");
}

/* KMA: associated data is hashed, then text of n_bytes goes from in to out. */
EVC_INLINE void evc_s390x_kma(uint64_t code, void *parameters, const uint8_t *aad, size_t aad_bytes,
                              const uint8_t *in, uint8_t *out, size_t n_bytes)
{
    register uint64_t r0 __asm__("0") = code;
    register void *r1 __asm__("1") = parameters;
    register const uint8_t *r2 __asm__("2") = aad;
    register uint64_t r3 __asm__("3") = aad_bytes;
    register const uint8_t *r4 __asm__("4") = in;
    register uint64_t r5 __asm__("5") = n_bytes;
    register uint8_t *r6 __asm__("6") = out;

    __asm__ volatile("0: .insn rrf, 0xb9290000, %4, %2, %0, 0\n brc 1, 0b"
                     : "+d"(r2), "+d"(r3), "+d"(r4), "+d"(r5), "+d"(r6), "+d"(r0)
                     : "d"(r1)
                     : "cc", "memory");
}

/* KMAC and KIMD: text of n_bytes, whole blocks. */
#define EVC_S390X_HASH(name, opcode)                                                     \
    EVC_INLINE void evc_s390x_##name(unsigned code, void *parameters, const uint8_t *in, \
                                     size_t n_bytes)                                     \
    {                                                                                    \
        register uint64_t r0 __asm__("0") = code;                                        \
        register void *r1 __asm__("1") = parameters;                                     \
        register const uint8_t *r4 __asm__("4") = in;                                    \
        register uint64_t r5 __asm__("5") = n_bytes;                                     \
                                                                                         \
        __asm__ volatile("0: .insn rre, " opcode ", %%r0, %0\n brc 1, 0b"                \
                         : "+d"(r4), "+d"(r5)                                            \
                         : "d"(r0), "d"(r1)                                              \
                         : "cc", "memory");                                              \
    }
EVC_S390X_HASH(kmac, "0xb91e0000")
EVC_S390X_HASH(kimd, "0xb93e0000")

/* out = in ^ stream, for 1 to 256 bytes, which pass through no register. `out` is `in`, or apart
 * from it. */
EVC_INLINE void evc_s390x_xor(uint8_t *out, const uint8_t *in, const uint8_t *stream,
                              size_t n_bytes)
{
    const uint8_t *model; /* two instructions, which EX executes with another length */

    __asm__ volatile("bras %0, 0f\n mvc 0(1,%1), 0(%2)\n xc 0(1,%1), 0(%3)\n"
                     "0: ex %4, 0(%0)\n ex %4, 6(%0)"
                     : "=&a"(model)
                     : "a"(out), "a"(in), "a"(stream), "a"(n_bytes - 1)
                     : "cc", "memory");
    (void)model;
}

#endif

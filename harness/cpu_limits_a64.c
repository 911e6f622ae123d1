/* SPDX-License-Identifier: MIT */
/*
 * The loops of AArch64: the instructions that bound AES and GHASH, and the arithmetic of the modes.
 *
 * Source: Arm Architecture Reference Manual DDI 0487 (2024) C7. Cores fuse aese with the aesmc that
 *         follows it on the same register (Arm's optimisation guides), so the pair is one entry.
 *
 * Registers 0 to 13 carry streams; 14 takes products, 15 and 16 are sources that nothing writes.
 */
#include "cpu_limits.h"

#include "everycore/isa.h"

#if EVC_A64

/* ---- Bodies: text for registers by number ---------------------------------------------------- */

#define OF_10(s, ...)                                                                              \
    s("0", __VA_ARGS__) s("1", __VA_ARGS__) s("2", __VA_ARGS__) s("3", __VA_ARGS__)                \
        s("4", __VA_ARGS__) s("5", __VA_ARGS__) s("6", __VA_ARGS__) s("7", __VA_ARGS__)            \
            s("8", __VA_ARGS__) s("9", __VA_ARGS__)
#define OF_12(s, ...) OF_10(s, __VA_ARGS__) s("10", __VA_ARGS__) s("11", __VA_ARGS__)
#define OF_14(s, ...) OF_12(s, __VA_ARGS__) s("12", __VA_ARGS__) s("13", __VA_ARGS__)

#define AESE(r, _) "aese v" r ".16b, v15.16b\n\t"
#define AESE_AESMC(r, _) AESE(r, _) "aesmc v" r ".16b, v" r ".16b\n\t"
#define AESD(r, _) "aesd v" r ".16b, v15.16b\n\t"
#define AESD_AESIMC(r, _) AESD(r, _) "aesimc v" r ".16b, v" r ".16b\n\t"
#define PMULL(r, _) "pmull v" r ".1q, v" r ".1d, v15.1d\n\t"
#define PMULL8(r, _) "pmull v" r ".8h, v" r ".8b, v15.8b\n\t"
#define TBL(r, _) "tbl v" r ".16b, {v15.16b}, v" r ".16b\n\t"
#define EOR(r, _) "eor v" r ".16b, v" r ".16b, v15.16b\n\t"
#define EOR3(r, _) "eor3 v" r ".16b, v" r ".16b, v15.16b, v16.16b\n\t"
#define ADD(r, _) "add x" r ", x" r ", x15\n\t"
#define MUL(r, _) "mul x" r ", x" r ", x15\n\t"
#define UMULH(r, _) "umulh x" r ", x" r ", x15\n\t"
#define LDR(r, _) "ldr q" r ", [%[work], #16 * " r "]\n\t"
#define STR(r, _) "str q" r ", [%[work], #16 * " r "]\n\t"
#define LDR_X(r, _) "ldr x" r ", [%[work], #16 * " r "]\n\t"

#define TIMES(n, body) ".rept " EVC_STR(n) "\n\t" body ".endr\n\t"

/* ---- Functions ------------------------------------------------------------------------------- */

#define LOOP(name, before, body)                                                                   \
    static void name(void *work, uint64_t calls)                                                   \
    {                                                                                              \
        __asm__ volatile(".arch armv8.2-a+aes+sha3\n\t" before                                   \
                         ".p2align 6\n"                                                            \
                         "1:\n\t" body "subs %[calls], %[calls], #1\n\tb.ne 1b"                    \
                         : [calls] "+r"(calls)                                                     \
                         : [work] "r"(work)                                                        \
                         : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10",      \
                           "x11", "x12", "x15", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",    \
                           "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "cc",      \
                           "memory");                                                              \
    }

/* ---- Instructions ---------------------------------------------------------------------------- */

/* V(instruction, width in bits, needs, shape): with a result to chain. */
#define CHAINED(V)                                                                                 \
    V(aese_aesmc, 128, EVC_CPU(A64_AES), AESE_AESMC)                                               \
    V(aesd_aesimc, 128, EVC_CPU(A64_AES), AESD_AESIMC)                                             \
    V(pmull, 128, EVC_CPU(A64_PMULL), PMULL)                                                       \
    V(pmull_8, 128, EVC_CPU(A64_NEON), PMULL8)                                                     \
    V(tbl, 128, EVC_CPU(A64_NEON), TBL)                                                            \
    V(eor, 128, EVC_CPU(A64_NEON), EOR)                                                            \
    V(eor3, 128, EVC_CPU(A64_SHA3), EOR3)                                                          \
    V(add, 64, 0, ADD)                                                                             \
    V(mul, 64, 0, MUL)                                                                             \
    V(umulh, 64, 0, UMULH)

/* The same, without one. */
#define UNCHAINED(V)                                                                               \
    V(load, 128, EVC_CPU(A64_NEON), LDR)                                                           \
    V(store, 128, EVC_CPU(A64_NEON), STR)

#define CHAIN(name, bits, needs, shape)                                                            \
    LOOP(name##_##bits##_chain, "", TIMES(192, shape("0", )))
#define STREAMS(name, bits, needs, shape)                                                          \
    LOOP(name##_##bits##_streams, "", TIMES(16, OF_12(shape, )))

CHAINED(CHAIN)
CHAINED(STREAMS)
UNCHAINED(STREAMS)
LOOP(load_64_chain, "mov x0, %[work]\n\t", TIMES(192, "ldr x0, [x0]\n\t"))
LOOP(load_64_streams, "", TIMES(16, OF_12(LDR_X, )))

#define WITH_CHAIN(name, bits, needs, ...)                                                         \
    {#name,                     bits,                   needs,                                     \
     #name "_" #bits "_chain",  #name "_" #bits "_streams", name##_##bits##_chain,                 \
     name##_##bits##_streams},
#define WITHOUT_CHAIN(name, bits, needs, ...)                                                      \
    {#name, bits, needs, NULL, #name "_" #bits "_streams", NULL, name##_##bits##_streams},

static const struct limit_instruction instructions[] = {
    CHAINED(WITH_CHAIN)
    UNCHAINED(WITHOUT_CHAIN)
    WITH_CHAIN(load, 64, 0)
};

/* ---- The arithmetic of modes ----------------------------------------------------------------- */

/*
 * One call takes as many blocks as a key has rounds, so that each of its rows is one round of every
 * block and the products of one block. The last round mixes no columns. pmull counts pmull2 too.
 */
#define MULTIPLY_3                                                                                 \
    "pmull v14.1q, v15.1d, v15.1d\n\tpmull2 v14.1q, v15.2d, v15.2d\n\t"                            \
    "pmull v14.1q, v15.1d, v16.1d\n\t"
#define MULTIPLY_4 MULTIPLY_3 "pmull2 v14.1q, v15.2d, v16.2d\n\t"
#define ROUNDS(rounds, mixed, pair, last, products)                                                \
    TIMES(mixed, OF_##rounds(pair, ) products) OF_##rounds(last, ) products

#define OF_KEYS(A) A(128, 10, 9) A(192, 12, 11) A(256, 14, 13)

#define ARITHMETIC(key, rounds, mixed)                                                             \
    LOOP(encrypt_key_##key, "", ROUNDS(rounds, mixed, AESE_AESMC, AESE, ))                         \
    LOOP(decrypt_key_##key, "", ROUNDS(rounds, mixed, AESD_AESIMC, AESD, ))                        \
    LOOP(gcm_karatsuba_key_##key, "", ROUNDS(rounds, mixed, AESE_AESMC, AESE, MULTIPLY_3))         \
    LOOP(gcm_schoolbook_key_##key, "", ROUNDS(rounds, mixed, AESE_AESMC, AESE, MULTIPLY_4))        \
    LOOP(chain_key_##key, "", TIMES(16, TIMES(mixed, AESE_AESMC("0", )) AESE("0", )))

OF_KEYS(ARITHMETIC)
LOOP(karatsuba, "", TIMES(16, MULTIPLY_3))
LOOP(schoolbook, "", TIMES(16, MULTIPLY_4))

#define AES EVC_CPU(A64_AES)
#define LINE(work, name, key, blocks, needs, ...)                                                  \
    {#name, work, key, 128, 16 * (blocks), needs, __VA_ARGS__, name},
#define ROUNDS_OF(blocks, rounds, mixed, round, mix)                                               \
    {round, (blocks) * (rounds)}, {mix, (blocks) * (mixed)}
#define ARITHMETIC_LINES(key, rounds, mixed)                                                       \
    LINE(LIMIT_ENCRYPT, encrypt_key_##key, key, rounds, AES,                                       \
         {ROUNDS_OF(rounds, rounds, mixed, "aese", "aesmc")})                                      \
    LINE(LIMIT_DECRYPT, decrypt_key_##key, key, rounds, AES,                                       \
         {ROUNDS_OF(rounds, rounds, mixed, "aesd", "aesimc")})                                     \
    LINE(LIMIT_CHAIN, chain_key_##key, key, 16, AES,                                               \
         {ROUNDS_OF(16, rounds, mixed, "aese", "aesmc")})                                          \
    LINE(LIMIT_GCM_KARATSUBA, gcm_karatsuba_key_##key, key, rounds, AES | EVC_CPU(A64_PMULL),      \
         {ROUNDS_OF(rounds, rounds, mixed, "aese", "aesmc"), {"pmull", 3 * (rounds)}})             \
    LINE(LIMIT_GCM_SCHOOLBOOK, gcm_schoolbook_key_##key, key, rounds, AES | EVC_CPU(A64_PMULL),    \
         {ROUNDS_OF(rounds, rounds, mixed, "aese", "aesmc"), {"pmull", 4 * (rounds)}})

static const struct limit_arithmetic arithmetic[] = {
    OF_KEYS(ARITHMETIC_LINES)
    LINE(LIMIT_KARATSUBA, karatsuba, 0, 16, EVC_CPU(A64_PMULL), {{"pmull", 3 * 16}})
    LINE(LIMIT_SCHOOLBOOK, schoolbook, 0, 16, EVC_CPU(A64_PMULL), {{"pmull", 4 * 16}})
};

const struct limits limits_here = {
    instructions, sizeof instructions / sizeof instructions[0],
    arithmetic, sizeof arithmetic / sizeof arithmetic[0]};

#else
EVC_EMPTY_UNIT
#endif

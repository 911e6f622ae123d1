/* SPDX-License-Identifier: MIT */
/*
 * The loops of x86-64: the instructions that bound AES and GHASH, and the arithmetic of the modes.
 *
 * Source: Intel SDM (2024) vol. 2 for the instructions; the method, chains for latency and
 *         independent streams for throughput, as in A. Fog, "Instruction tables" (2024) and in A.
 *         Abel, J. Reineke, "uops.info" (ASPLOS 2019).
 *
 * Vector registers 0 to 13 carry streams; 14 takes products, 15 is a source that nothing
 * writes. At 128 bits the instructions are those of SSE, which CPUs without AVX have too,
 * where not said otherwise.
 */
#include "cpu_limits.h"

#include "everycore/isa.h"

#if EVC_X86_64

/* ---- Bodies: text for registers by number ---------------------------------------------------- */

/* s: a shape, which makes an instruction of a register's number, its name and
 * its kind of register. */
#define OF_8_TO_15(s, ...)                                                                         \
    s("8", __VA_ARGS__) s("9", __VA_ARGS__) s("10", __VA_ARGS__) s("11", __VA_ARGS__)              \
        s("12", __VA_ARGS__) s("13", __VA_ARGS__) s("14", __VA_ARGS__) s("15", __VA_ARGS__)
#define OF_10(s, ...)                                                                              \
    s("0", __VA_ARGS__) s("1", __VA_ARGS__) s("2", __VA_ARGS__) s("3", __VA_ARGS__)                \
        s("4", __VA_ARGS__) s("5", __VA_ARGS__) s("6", __VA_ARGS__) s("7", __VA_ARGS__)            \
            s("8", __VA_ARGS__) s("9", __VA_ARGS__)
#define OF_12(s, ...) OF_10(s, __VA_ARGS__) s("10", __VA_ARGS__) s("11", __VA_ARGS__)
#define OF_14(s, ...) OF_12(s, __VA_ARGS__) s("12", __VA_ARGS__) s("13", __VA_ARGS__)

#define TWO(r, text, kind) text " %%" kind "15, %%" kind r "\n\t"
#define THREE(r, text, kind) text " %%" kind "15, %%" kind r ", %%" kind r "\n\t"
/* Side by side: some CPUs load three vectors in a cycle only from few lines, or
 * store two only into one. */
#define LOAD(r, text, kind, bytes) text " " r "*" bytes "(%[work]), %%" kind r "\n\t"
#define STORE(r, text, kind, bytes) text " %%" kind r ", " r "*" bytes "(%[work])\n\t"

#define TIMES(n, body) ".rept " EVC_STR(n) "\n\t" body ".endr\n\t"

/* ---- Functions ------------------------------------------------------------------------------- */

#define LOOP(name, before, body, after)                                                            \
    static void name(void *work, uint64_t calls)                                                   \
    {                                                                                              \
        __asm__ volatile(before ".p2align 6\n"                                                     \
                                "1:\n\t" body "decq %[calls]\n\tjnz 1b\n\t" after                  \
                         : [calls] "+r"(calls)                                                     \
                         : [work] "r"(work)                                                        \
                         : "rax", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",     \
                           "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", \
                           "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc",     \
                           "memory");                                                              \
    }

/* Leaves the registers as code of SSE likes to find them. */
#define AFTER_128 ""
#define AFTER_256 "vzeroupper\n\t"
#define AFTER_512 "vzeroupper\n\t"

/* ---- Instructions ---------------------------------------------------------------------------- */

#define AVX2 EVC_CPU(X86_AVX2)
#define AVX512 EVC_CPU(X86_AVX512F)

/* V(instruction, width in bits, needs, shape, its text, kind of register):
 * with a result to chain. */
#define CHAINED(V)                                                                                 \
    V(aesenc, 128, EVC_CPU(X86_AES), TWO, "aesenc", "xmm")                                         \
    V(vaesenc, 256, EVC_CPU(X86_VAES) | AVX2, THREE, "vaesenc", "ymm")                             \
    V(vaesenc, 512, EVC_CPU(X86_VAES) | AVX512, THREE, "vaesenc", "zmm")                           \
    V(aesdec, 128, EVC_CPU(X86_AES), TWO, "aesdec", "xmm")                                         \
    V(vaesdec, 256, EVC_CPU(X86_VAES) | AVX2, THREE, "vaesdec", "ymm")                             \
    V(vaesdec, 512, EVC_CPU(X86_VAES) | AVX512, THREE, "vaesdec", "zmm")                           \
    V(pclmulqdq, 128, EVC_CPU(X86_PCLMUL), TWO, "pclmulqdq $0x11,", "xmm")                         \
    V(vpclmulqdq, 256, EVC_CPU(X86_VPCLMUL) | AVX2, THREE, "vpclmulqdq $0x11,", "ymm")             \
    V(vpclmulqdq, 512, EVC_CPU(X86_VPCLMUL) | AVX512, THREE, "vpclmulqdq $0x11,", "zmm")           \
    V(pshufb, 128, EVC_CPU(X86_SSSE3), TWO, "pshufb", "xmm")                                       \
    V(vpshufb, 256, AVX2, THREE, "vpshufb", "ymm")                                                 \
    V(vpshufb, 512, EVC_CPU(X86_AVX512BW), THREE, "vpshufb", "zmm")                                \
    V(pxor, 128, EVC_CPU(X86_SSE2), TWO, "pxor", "xmm")                                            \
    V(vpxor, 256, AVX2, THREE, "vpxor", "ymm")                                                     \
    V(vpxorq, 512, AVX512, THREE, "vpxorq", "zmm")                                                 \
    V(vpternlogq, 256, AVX512 | EVC_CPU(X86_AVX512VL), THREE, "vpternlogq $0x96,", "ymm")          \
    V(vpternlogq, 512, AVX512, THREE, "vpternlogq $0x96,", "zmm")                                  \
    V(gf2p8affineqb, 128, EVC_CPU(X86_GFNI), TWO, "gf2p8affineqb $0,", "xmm")                      \
    V(vgf2p8affineqb, 256, EVC_CPU(X86_GFNI) | AVX2, THREE, "vgf2p8affineqb $0,", "ymm")           \
    V(vgf2p8affineqb, 512, EVC_CPU(X86_GFNI) | AVX512, THREE, "vgf2p8affineqb $0,", "zmm")

/* The same, without one. */
#define UNCHAINED(V)                                                                               \
    V(load, 128, EVC_CPU(X86_SSE2), LOAD, "movdqa", "xmm", "16")                                   \
    V(load, 256, AVX2, LOAD, "vmovdqa", "ymm", "32")                                               \
    V(load, 512, AVX512, LOAD, "vmovdqa64", "zmm", "64")                                           \
    V(store, 128, EVC_CPU(X86_SSE2), STORE, "movdqa", "xmm", "16")                                 \
    V(store, 256, AVX2, STORE, "vmovdqa", "ymm", "32")                                             \
    V(store, 512, AVX512, STORE, "vmovdqa64", "zmm", "64")

#define CHAIN(name, bits, needs, shape, ...)                                                       \
    LOOP(name##_##bits##_chain, "", TIMES(192, shape("0", __VA_ARGS__)), AFTER_##bits)
#define STREAMS(name, bits, needs, shape, ...)                                                     \
    LOOP(name##_##bits##_streams, "", TIMES(16, OF_12(shape, __VA_ARGS__)), AFTER_##bits)

CHAINED(CHAIN)
CHAINED(STREAMS)
UNCHAINED(STREAMS)

/* General registers. A copy in front of mul makes it forget its last product. */
#define ADD(r, _) "addq %%rax, %%r" r "\n\t"
#define IMUL(r, _) "imulq %%rax, %%r" r "\n\t"
#define MUL(r, _) "movq %%rdx, %%rax\n\tmulq %%r" r "\n\t"
#define MULX(r, _) "mulxq %%rdx, %%r" r ", %%rax\n\t"
#define MOV(r, _) "movq " r "*8(%[work]), %%r" r "\n\t"

LOOP(add_64_chain, "", TIMES(192, ADD("8", )), "")
LOOP(add_64_streams, "", TIMES(24, OF_8_TO_15(ADD, )), "")
LOOP(imul_64_chain, "", TIMES(192, IMUL("8", )), "")
LOOP(imul_64_streams, "", TIMES(24, OF_8_TO_15(IMUL, )), "")
LOOP(mul_64_chain, "", TIMES(192, "mulq %%r8\n\t"), "")
LOOP(mul_64_streams, "", TIMES(192, "movq %%r9, %%rax\n\tmulq %%r8\n\t"), "")
LOOP(mulx_64_chain, "", TIMES(192, "mulxq %%r8, %%rdx, %%rax\n\t"), "")
LOOP(mulx_64_streams, "", TIMES(24, OF_8_TO_15(MULX, )), "")
LOOP(load_64_chain, "movq %[work], %%rax\n\t", TIMES(192, "movq (%%rax), %%rax\n\t"), "")
LOOP(load_64_streams, "", TIMES(24, OF_8_TO_15(MOV, )), "")

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
    WITH_CHAIN(add, 64, 0)
    WITH_CHAIN(imul, 64, 0)
    WITH_CHAIN(mul, 64, 0)
    WITH_CHAIN(mulx, 64, EVC_CPU(X86_BMI2))
};

/* ---- The arithmetic of modes ----------------------------------------------------------------- */

/*
 * One call takes as many vectors of blocks as a key has rounds, so that each of its rows
 * is one round of every vector and the products of one vector. Products at 128 bits need
 * AVX: SSE would copy first.
 */
#define KIND_128 "xmm"
#define KIND_256 "ymm"
#define KIND_512 "zmm"
#define ROUND_128(OF, name) OF(TWO, name, "xmm")
#define ROUND_256(OF, name) OF(THREE, "v" name, "ymm")
#define ROUND_512(OF, name) OF(THREE, "v" name, "zmm")
#define NAME_128(name) name
#define NAME_256(name) "v" name
#define NAME_512(name) "v" name
#define MULTIPLY(k) "vpclmulqdq $0x11, %%" k "15, %%" k "15, %%" k "14\n\t"
#define MULTIPLY_3(k) MULTIPLY(k) MULTIPLY(k) MULTIPLY(k)
#define MULTIPLY_4(k) MULTIPLY_3(k) MULTIPLY(k)
#define AES_NEEDS_128 EVC_CPU(X86_AES)
#define AES_NEEDS_256 (EVC_CPU(X86_VAES) | AVX2)
#define AES_NEEDS_512 (EVC_CPU(X86_VAES) | AVX512)
#define MULTIPLY_NEEDS_128 (EVC_CPU(X86_PCLMUL) | EVC_CPU(X86_AVX))
#define MULTIPLY_NEEDS_256 (EVC_CPU(X86_VPCLMUL) | AVX2)
#define MULTIPLY_NEEDS_512 (EVC_CPU(X86_VPCLMUL) | AVX512)

#define OF_WIDTHS(A) A(128) A(256) A(512)
#define OF_KEYS(A, ...) A(__VA_ARGS__, 128, 10) A(__VA_ARGS__, 192, 12) A(__VA_ARGS__, 256, 14)
#define OF_WIDTHS_AND_KEYS(A) OF_KEYS(A, 128) OF_KEYS(A, 256) OF_KEYS(A, 512)

#define AES_LOOPS(w, key, rounds)                                                                  \
    LOOP(encrypt_##w##_key_##key, "", TIMES(rounds, ROUND_##w(OF_##rounds, "aesenc")), AFTER_##w)  \
    LOOP(decrypt_##w##_key_##key, "", TIMES(rounds, ROUND_##w(OF_##rounds, "aesdec")), AFTER_##w)
#define GCM_ROW(k, rounds, products) OF_##rounds(THREE, "vaesenc", k) products(k)
#define GCM_LOOPS(w, key, rounds)                                                                  \
    LOOP(gcm_karatsuba_##w##_key_##key, "",                                                        \
         TIMES(rounds, GCM_ROW(KIND_##w, rounds, MULTIPLY_3)), AFTER_##w)                          \
    LOOP(gcm_schoolbook_##w##_key_##key, "",                                                       \
         TIMES(rounds, GCM_ROW(KIND_##w, rounds, MULTIPLY_4)), AFTER_##w)
#define CHAIN_LOOP(key, rounds)                                                                    \
    LOOP(chain_128_key_##key, "", TIMES(16, TIMES(rounds, TWO("0", "aesenc", "xmm"))), "")
#define PRODUCT_LOOPS(w)                                                                           \
    LOOP(karatsuba_##w, "", TIMES(16, MULTIPLY_3(KIND_##w)), AFTER_##w)                            \
    LOOP(schoolbook_##w, "", TIMES(16, MULTIPLY_4(KIND_##w)), AFTER_##w)

OF_WIDTHS_AND_KEYS(AES_LOOPS)
OF_WIDTHS_AND_KEYS(GCM_LOOPS)
CHAIN_LOOP(128, 10)
CHAIN_LOOP(192, 12)
CHAIN_LOOP(256, 14)
OF_WIDTHS(PRODUCT_LOOPS)

/* Fields of each line: name, work, key, width, bytes, needs, contents. */
#define AES_LINE(kind, name, w, key, rounds, instruction)                                          \
    {#name "_" #w "_key_" #key, kind, key, w, (rounds) * (w) / 8, AES_NEEDS_##w,                   \
     {{NAME_##w(instruction), (rounds) * (rounds)}}, name##_##w##_key_##key},
#define AES_LINES(w, key, rounds)                                                                  \
    AES_LINE(LIMIT_ENCRYPT, encrypt, w, key, rounds, "aesenc")                                     \
    AES_LINE(LIMIT_DECRYPT, decrypt, w, key, rounds, "aesdec")
#define GCM_LINE(kind, name, w, key, rounds, products)                                             \
    {#name "_" #w "_key_" #key, kind, key, w, (rounds) * (w) / 8,                                  \
     AES_NEEDS_##w | MULTIPLY_NEEDS_##w,                                                           \
     {{"vaesenc", (rounds) * (rounds)}, {"vpclmulqdq", (products) * (rounds)}},                    \
     name##_##w##_key_##key},
#define GCM_LINES(w, key, rounds)                                                                  \
    GCM_LINE(LIMIT_GCM_KARATSUBA, gcm_karatsuba, w, key, rounds, 3)                                \
    GCM_LINE(LIMIT_GCM_SCHOOLBOOK, gcm_schoolbook, w, key, rounds, 4)
#define CHAIN_LINE(key, rounds)                                                                    \
    {"chain_128_key_" #key, LIMIT_CHAIN, key, 128, 16 * 16, AES_NEEDS_128,                         \
     {{"aesenc", 16 * (rounds)}}, chain_128_key_##key},
#define PRODUCT_LINE(kind, name, w, products)                                                      \
    {#name "_" #w, kind, 0, w, 16 * (w) / 8, MULTIPLY_NEEDS_##w,                                   \
     {{"vpclmulqdq", 16 * (products)}}, name##_##w},
#define PRODUCT_LINES(w)                                                                           \
    PRODUCT_LINE(LIMIT_KARATSUBA, karatsuba, w, 3)                                                 \
    PRODUCT_LINE(LIMIT_SCHOOLBOOK, schoolbook, w, 4)

static const struct limit_arithmetic arithmetic[] = {
    OF_WIDTHS_AND_KEYS(AES_LINES)
    OF_WIDTHS_AND_KEYS(GCM_LINES)
    CHAIN_LINE(128, 10)
    CHAIN_LINE(192, 12)
    CHAIN_LINE(256, 14)
    OF_WIDTHS(PRODUCT_LINES)
};

const struct limits limits_here = {
    instructions, sizeof instructions / sizeof instructions[0],
    arithmetic, sizeof arithmetic / sizeof arithmetic[0]};

#else
EVC_EMPTY_UNIT
#endif

/* SPDX-License-Identifier: MIT */
/*
 * SHA-2 with the vector SHA-2 instructions of RISC-V, for vectors of any length.
 *
 * Method:   vsha2cl and vsha2ch make two rounds each with the state as vectors of f, e, b, a and
 *           of h, g, d, c; vsha2ms is the message schedule, four words at once. A vector has four
 *           words whatever the length of registers is: of 64 bits they are two registers of 128
 *           bits, or one that is longer.
 * Source:   FIPS 180-4 (2015) sections 6.2.2 and 6.4.2; RISC-V Cryptography Extensions vol. II, 1.0
 *           (2023), Zvknhb: these instructions must take a time that does not depend on data, and
 *           Zvkt asks the same of the others here.
 * Needs:    RV_ZVKNH.   Timing: CT (no branch or address depends on the message).
 * Key form: private.
 */
#include "sha2/kernel.h"

#if EVC_BUILT(RV_ZVKNH)

#include "common/rv_vector.h"
#include "sha2/constants.h"

/*
 * Register 0: a mask of the first word; 1: where the words f, e, b and a are behind the first, and
 * h, g, d and c behind the third. hg_dc, fe_ba, wk and tmp are numbers of registers.
 */
#define SET_MASK_AND_PLACES VMV_V_I(0, 1) VLE8(1, "%[places]")
#define STATE_PLACES(word_bytes) \
    { 5 * (word_bytes), 4 * (word_bytes), 1 * (word_bytes), 0 }

/* Four rounds with words w and constants k. */
#define ROUNDS(w, k) VADD_VV(WK, w, k) VSHA2CL(HG_DC, FE_BA, WK) VSHA2CH(FE_BA, HG_DC, WK)
/* Then w becomes the words of 16 rounds later; w4, w8, w12: the words behind it. */
#define ROUNDS_AND_NEXT(w, w4, w8, w12, k) \
    ROUNDS(w, k) VMERGE_VVM(TMP, w8, w4) VSHA2MS(w, TMP, w12)

/* ---- SHA-256 --------------------------------------------------------------------------------- */

#define FE_BA 2
#define HG_DC 3
#define WK 6
#define TMP 7
#define LOAD_K(v) VLE32(v, "%[k]") "addi %[k], %[k], 16\n\t"
#define LOAD_WORDS(v) VLE8(v, "%[in]") "addi %[in], %[in], 16\n\t"

/* Registers 4 and 5: the state before a block; 8 to 23: the constants; 24 to 27: words. */
static void blocks256(uint32_t h[8], const uint8_t *in, size_t n_blocks)
{
    static const uint8_t places[4] = STATE_PLACES(4);
    const uint32_t *k = evc_sha2_k256;

    __asm__ volatile(
        VSETIVLI(4, E32_M1) SET_MASK_AND_PLACES
        VLUXEI8(FE_BA, "%[h]", 1) VLUXEI8(HG_DC, "%[h2]", 1)
        LOAD_K(8) LOAD_K(9) LOAD_K(10) LOAD_K(11) LOAD_K(12) LOAD_K(13) LOAD_K(14) LOAD_K(15)
        LOAD_K(16) LOAD_K(17) LOAD_K(18) LOAD_K(19) LOAD_K(20) LOAD_K(21) LOAD_K(22) LOAD_K(23)
        "1:\n\t"
        VSETIVLI(16, E8_M1) LOAD_WORDS(24) LOAD_WORDS(25) LOAD_WORDS(26) LOAD_WORDS(27)
        VSETIVLI(4, E32_M1) VREV8(24, 24) VREV8(25, 25) VREV8(26, 26) VREV8(27, 27)
        "addi %[n], %[n], -1\n\t"
        VMV_V_V(4, FE_BA) VMV_V_V(5, HG_DC)
        ROUNDS_AND_NEXT(24, 25, 26, 27, 8) ROUNDS_AND_NEXT(25, 26, 27, 24, 9)
        ROUNDS_AND_NEXT(26, 27, 24, 25, 10) ROUNDS_AND_NEXT(27, 24, 25, 26, 11)
        ROUNDS_AND_NEXT(24, 25, 26, 27, 12) ROUNDS_AND_NEXT(25, 26, 27, 24, 13)
        ROUNDS_AND_NEXT(26, 27, 24, 25, 14) ROUNDS_AND_NEXT(27, 24, 25, 26, 15)
        ROUNDS_AND_NEXT(24, 25, 26, 27, 16) ROUNDS_AND_NEXT(25, 26, 27, 24, 17)
        ROUNDS_AND_NEXT(26, 27, 24, 25, 18) ROUNDS_AND_NEXT(27, 24, 25, 26, 19)
        ROUNDS(24, 20) ROUNDS(25, 21) ROUNDS(26, 22) ROUNDS(27, 23)
        VADD_VV(FE_BA, FE_BA, 4) VADD_VV(HG_DC, HG_DC, 5)
        "bnez %[n], 1b\n\t"
        VSUXEI8(FE_BA, "%[h]", 1) VSUXEI8(HG_DC, "%[h2]", 1)
        : [in] "+&r"(in), [n] "+&r"(n_blocks), [k] "+&r"(k)
        : [h] "r"(h), [h2] "r"(h + 2), [places] "r"(places)
        : EVC_RVV_CLOBBERED);
}

/* ---- SHA-512 --------------------------------------------------------------------------------- */

#undef FE_BA
#undef HG_DC
#undef WK
#undef TMP
#undef LOAD_K
#undef LOAD_WORDS
#define FE_BA 2
#define HG_DC 4
#define WK 10
#define TMP 12
#define LOAD_K VLE64(14, "%[k]") "addi %[k], %[k], 32\n\t"
/* k is back at the first. */
#define LOAD_LAST_K VLE64(14, "%[k]") "addi %[k], %[k], -608\n\t"
#define LOAD_WORDS(v) VLE8(v, "%[in]") "addi %[in], %[in], 32\n\t"
/* Written out four times: a branch each would be 0.03 of the instructions. */
#define SIXTEEN_AND_NEXT \
    LOAD_K ROUNDS_AND_NEXT(16, 18, 20, 22, 14) LOAD_K ROUNDS_AND_NEXT(18, 20, 22, 16, 14) \
    LOAD_K ROUNDS_AND_NEXT(20, 22, 16, 18, 14) LOAD_K ROUNDS_AND_NEXT(22, 16, 18, 20, 14)
#define USE_BYTES VSETVL("x0", "%[step]", "%[bytes]")
#define USE_WORDS VSETVL("x0", "%[four]", "%[words]")

/* Registers from 2 on are pairs where they have 128 bits: 6 and 8, the state before a block; 14,
 * constants; 16 to 22, words. */
static void blocks512(uint64_t h[8], const uint8_t *in, size_t n_blocks)
{
    static const uint8_t places[4] = STATE_PLACES(8);
    const size_t is_pair = evc_rvv_register_bytes() < 32;
    const uint64_t *k = evc_sha2_k512;

    __asm__ volatile(
        USE_WORDS SET_MASK_AND_PLACES
        VLUXEI8(FE_BA, "%[h]", 1) VLUXEI8(HG_DC, "%[h2]", 1)
        "1:\n\t"
        USE_BYTES LOAD_WORDS(16) LOAD_WORDS(18) LOAD_WORDS(20) LOAD_WORDS(22)
        USE_WORDS VREV8(16, 16) VREV8(18, 18) VREV8(20, 20) VREV8(22, 22)
        "addi %[n], %[n], -1\n\t"
        VMV_V_V(6, FE_BA) VMV_V_V(8, HG_DC)
        SIXTEEN_AND_NEXT SIXTEEN_AND_NEXT SIXTEEN_AND_NEXT SIXTEEN_AND_NEXT
        LOAD_K ROUNDS(16, 14)
        LOAD_K ROUNDS(18, 14)
        LOAD_K ROUNDS(20, 14)
        LOAD_LAST_K ROUNDS(22, 14)
        VADD_VV(FE_BA, FE_BA, 6) VADD_VV(HG_DC, HG_DC, 8)
        "bnez %[n], 1b\n\t"
        VSUXEI8(FE_BA, "%[h]", 1) VSUXEI8(HG_DC, "%[h2]", 1)
        : [in] "+&r"(in), [n] "+&r"(n_blocks), [k] "+&r"(k)
        : [h] "r"(h), [h2] "r"(h + 2), [places] "r"(places),
          [four] "r"((size_t)4), [step] "r"((size_t)32),
          [bytes] "r"(EVC_RVV_E8_M1 + is_pair),
          [words] "r"(EVC_RVV_E64_M1 + is_pair)
        : EVC_RVV_CLOBBERED);
}

const struct evc_sha2 evc_sha2_rv_zvknh = {
    .kernel = EVC_KEYLESS_HEAD(rv_zvknh, RV_ZVKNH, CT, ANY, V, 512),
    .blocks256 = blocks256,
    .blocks512 = blocks512,
};

#else
EVC_EMPTY_UNIT
#endif

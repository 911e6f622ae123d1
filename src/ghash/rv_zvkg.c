/* SPDX-License-Identifier: MIT */
/*
 * GHASH with the vector GHASH instructions of RISC-V, for vectors of any length.
 *
 * Method:   a group of 4 registers holds n sums, 4 of them for each 128 bits of a register; each
 *           takes every n-th block and is multiplied by H^n, at the end by H^n ... H^1, and all are
 *           added up. Blocks that fill no group come first, behind blocks of zeros.
 * Source:   RISC-V Cryptography Extensions vol. II, 1.0 (2023): vghsh and vgmul must take a time
 *           that does not depend on data, and Zvkt asks the same of the others here; for sums side
 *           by side McGrew, Viega: The Galois/Counter Mode of Operation, 2005, section 4.2.
 * Needs:    RV_ZVKG.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(RV_ZVKG)

#include "common/rv_vector.h"

#define MOST_BLOCKS 32 /* of a group: registers of 1024 bits */

struct key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) uint8_t powers[MOST_BLOCKS][16]; /* H^n ... H^1 for groups of n blocks */
};

static void set_key(void *vkey, const uint8_t h[16])
{
    struct key *key = vkey;
    uint8_t *power = key->powers[evc_rvv_register_bytes() / 4];

    __asm__ volatile(VSETIVLI(16, E8_M1) VLE8(16, "%[h]") VSETIVLI(4, E32_M1) VMV_V_V(17, 16)
                     "j 2f\n"
                     "1:\n\t" VGMUL(17, 16)
                     "2:\n\t"
                     "addi %[power], %[power], -16\n\t" VSE32(17, "%[power]")
                     "bne %[power], %[first], 1b"
                     : [power] "+&r"(power)
                     : [h] "r"(h), [first] "r"(key->powers[0])
                     : EVC_RVV_CLOBBERED);
}

/* All bytes of each block of group 20 in reverse order: those of its halves, and the halves. */
#define REVERSE_BLOCKS                                                                         \
    VSETVLI("%[words]", "x0", E64_M4) VREV8(24, 20)                                            \
    VSLIDEDOWN_VI(20, 24, 1) VSLIDEUP_VI_MASKED(20, 24, 1) VSETVLI("%[words]", "x0", E32_M4)
/* Register 0: the second half of each block. */
#define MASK_HALVES "li %[at], -0x56\n\t" VSETVLI("%[words]", "x0", E8_M1) VMV_V_X(0, "%[at]")

/*
 * Group 16: the sums; group 20: text; group 12: the powers; group 8: H^n in all blocks. y is added
 * to the block in whose place the text begins. step: the bytes of a group; at: those of the first
 * group, if it is not whole, and then where they begin in it. BEFORE: what ORDER needs, which has
 * the bytes of group 20 in GHASH's order.
 */
#define HASH_BLOCKS(BEFORE, ORDER)                                                             \
    __asm__ volatile(BEFORE                                                                    \
                     VSETVLI("%[words]", "x0", E32_M4)                                         \
                     "slli %[step], %[words], 2\n\t"                                           \
                     "addi %[at], %[step], -1\n\t"                                             \
                     "and %[at], %[at], %[n]\n\t"                                              \
                     VL4R(12, "%[powers]") VMV_V_I(16, 0)                                      \
                     "bnez %[at], 1f\n\t"                                                      \
                     VL4R(20, "%[in]")                                                         \
                     "add %[in], %[in], %[step]\n\t"                                           \
                     "sub %[n], %[n], %[step]\n\t"                                             \
                     VSETIVLI(16, E8_M1_TU) VLE8(16, "%[y]")                                   \
                     "j 2f\n"                                                                  \
                     "1:\n\t"                                                                  \
                     VMV_V_I(20, 0)                                                            \
                     VSETVLI("x0", "%[at]", E8_M4) VLE8(24, "%[in]")                           \
                     VSETIVLI(16, E8_M1) VLE8(28, "%[y]")                                      \
                     "add %[in], %[in], %[at]\n\t"                                             \
                     "sub %[n], %[n], %[at]\n\t"                                               \
                     "sub %[at], %[step], %[at]\n\t"                                           \
                     VSETVLI("x0", "%[step]", E8_M4) VSLIDEUP_VX(20, 24, "%[at]")              \
                     "addi %[words], %[at], 16\n\t"                                            \
                     VSETVLI("x0", "%[words]", E8_M4_TU) VSLIDEUP_VX(16, 28, "%[at]")          \
                     "2:\n\t"                                                                  \
                     VSETVLI("%[words]", "x0", E32_M4) ORDER                                   \
                     "beqz %[n], 4f\n\t"                                                       \
                     VID(24) VAND_VI(24, 24, 3) VRGATHER_VV(8, 12, 24)                         \
                     "3:\n\t"                                                                  \
                     VGHSH(16, 8, 20) VL4R(20, "%[in]")                                        \
                     "add %[in], %[in], %[step]\n\t"                                           \
                     "sub %[n], %[n], %[step]\n\t" ORDER                                       \
                     "bnez %[n], 3b\n"                                                         \
                     "4:\n\t"                                                                  \
                     VGHSH(16, 12, 20)                                                         \
                     "li %[n], 4\n"                                                            \
                     "5:\n\t"                                                                  \
                     "srli %[words], %[words], 1\n\t"                                          \
                     VSLIDEDOWN_VX(20, 16, "%[words]") VXOR_VV(16, 16, 20)                     \
                     "bne %[words], %[n], 5b\n\t"                                              \
                     VSETIVLI(16, E8_M1) VSE8(16, "%[y]")                                      \
                     : [in] "+&r"(in), [n] "+&r"(n), [step] "=&r"(step), [at] "=&r"(at),       \
                       [words] "=&r"(words)                                                    \
                     : [powers] "r"(key->powers), [y] "r"(y)                                   \
                     : EVC_RVV_CLOBBERED)

static void blocks(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;
    size_t n = 16 * n_blocks, step, at, words;

    if (n_blocks)
        HASH_BLOCKS("", "");
}

static void reversed_blocks(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;
    size_t n = 16 * n_blocks, step, at, words;

    if (n_blocks)
        HASH_BLOCKS(MASK_HALVES, REVERSE_BLOCKS);
}

const struct evc_ghash evc_ghash_rv_zvkg = {
    .kernel = EVC_KERNEL_HEAD(rv_zvkg, RV_ZVKG, CT, ANY, MOST_BLOCKS, struct key, 0, V, 512),
    .set_key = set_key,
    .blocks = blocks,
    .reversed_blocks = reversed_blocks,
};
#else
EVC_EMPTY_UNIT
#endif

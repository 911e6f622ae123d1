/* SPDX-License-Identifier: MIT */
/*
 * AES with one table of 1 KiB per direction, in the instructions of A64 without vectors.
 *
 * Method:   that of c_ttable1: a round is 16 look-ups and 12 rotations. Here a look-up scales its
 *           index, and each rotation is the shifted operand of an exclusive or: 50 instructions.
 * Source:   Daemen and Rijmen, The Design of Rijndael (2002), section 4.2; FIPS 197 (2023), 5; Arm
 *           Architecture Reference Manual for A-profile (DDI 0487), LDR
 *           (register), EOR (shifted register).
 * Needs:    A64_BASE.   Timing: VARTIME (the tables are indexed by secrets).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#if EVC_BUILT(A64_BASE)

#include "aes/columns.h"
#include "aes/sbox.h"
#include "common/ct.h"

EVC_ISA_BEGIN(A64_BASE)

/* s: an S-box value. The first column of MixColumns's matrix (section 5.1.3), times s. */
#define MIX(s) EVC_COLUMN(EVC_TIMES2(s), s, s, EVC_TIMES3(s)),
static const EVC_ALIGN(64) uint32_t mix[256] = {EVC_AES_SBOX(MIX)};

/* s: an inverse S-box value. The first column of InvMixColumns's matrix (5.3.3), times s. */
#define INV_MIX(s) EVC_COLUMN(EVC_TIMES14(s), EVC_TIMES9(s), EVC_TIMES13(s), EVC_TIMES11(s)),
static const EVC_ALIGN(64) uint32_t inv_mix[256] = {EVC_AES_INV_SBOX(INV_MIX)};

typedef const uint32_t *tables;
#define TABLES mix
#define INV_TABLES inv_mix

/* t[i], i < 256. GCC would shift the index first, and add it to the address. */
EVC_INLINE uint32_t look_up(const uint32_t *t, uint32_t i)
{
#if EVC_GNU_C
    uint32_t entry;

    __asm__("ldr %w0, [%1, %w2, uxtw #2]"
            : "=r"(entry)
            : "r"(t), "r"(i), "m"(*(const uint32_t (*)[256])t));
    return entry;
#else
    return t[i];
#endif
}

#if EVC_BIG_ENDIAN
#define RIGHT(n) (8 * (n))
#else
#define RIGHT(n) (32 - 8 * (n))
#endif

/* x ^ an entry n rows down, n a constant. Compilers would add two rotated words first, an
 * instruction more. Without optimisation n is none to them, and no immediate. */
EVC_INLINE uint32_t plus(uint32_t x, uint32_t entry, int n)
{
#if defined(__OPTIMIZE__)
    uint32_t sum;

    __asm__("eor %w0, %w1, %w2, ror %3" : "=r"(sum) : "r"(x), "r"(entry), "i"(RIGHT(n)));
    return sum;
#else
    return x ^ evc_rows_down(entry, n);
#endif
}

#define COLUMN(t, a, b, c, d, k)                                                                   \
    plus(plus(plus(load_word(k) ^ look_up(t, EVC_ROW(a, 0)), look_up(t, EVC_ROW(b, 1)), 1),        \
              look_up(t, EVC_ROW(c, 2)), 2),                                                       \
         look_up(t, EVC_ROW(d, 3)), 3)
#define INV_COLUMN COLUMN

/* Without MixColumns. */
#define LAST(t, a, b, c, d, k)                                                                     \
    (load_word(k) ^ EVC_COLUMN(evc_aes_sbox[EVC_ROW(a, 0)], evc_aes_sbox[EVC_ROW(b, 1)],           \
                               evc_aes_sbox[EVC_ROW(c, 2)], evc_aes_sbox[EVC_ROW(d, 3)]))

#include "aes/table_steps.h"

EVC_ISA_END

#define HEAD                                                                            \
    EVC_KERNEL_HEAD(a64_ttable1, A64_BASE, VARTIME, ANY, 1, struct evc_aes_fips197_key, \
                    EVC_KEY_FIPS197, BASELINE, 0)

const struct evc_aes evc_aes_a64_ttable1 = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .cbc_encrypt = cbc_encrypt,
    .cbcmac = cbcmac,
};

const struct evc_aes evc_aes_a64_ttable1_forward = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
};

#else
EVC_EMPTY_UNIT
#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0-or-later */
/*
 * QARMA-64 as ComputePAC of the Arm ARM has it, by tables
 */

#ifndef TARGET_ARM_TCG_PAUTH_QARMA_H
#define TARGET_ARM_TCG_PAUTH_QARMA_H

/*
 * One S-box, with what the linear layer makes of it: entry [i][b] is for
 * the byte @b in bits 8 * i to 8 * i + 7 of a block.
 */
typedef struct ARMPauthQarmaTables {
    uint64_t there[8][256]; /* S-box, then tau and MixColumns */
    uint64_t back[8][256];  /* inverse S-box, MixColumns, inverse of tau */
    uint8_t last[256];      /* inverse S-box of both cells */
} ARMPauthQarmaTables;

/* Tables of QARMA3 (@is_qarma3) or QARMA5; filled at the first call. */
const ARMPauthQarmaTables *arm_pauth_qarma_tables(bool is_qarma3);

/* All 64 bits; @w0 is bits <127:64> of the key, @k0 bits <63:0>. */
uint64_t arm_pauth_qarma(const ARMPauthQarmaTables *tables, bool is_qarma3,
                         uint64_t data, uint64_t modifier,
                         uint64_t w0, uint64_t k0);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * SubBytes and InvSubBytes on eight planes in vector registers of RISC-V: printed by
 * tools/gen-rv-sbox from the circuits of aes/sbox_circuit.h, in the order of their gates; the NOTs
 * are left out as there.
 *
 * Plane j (bit j of every byte) enters and leaves in register 8 + j. Registers 0 to 2 stay as they
 * are, all others are lost.
 */
#ifndef EVC_AES_RV_SBOX_H
#define EVC_AES_RV_SBOX_H

#include "common/rv_vector.h"

/* clang-format off */
#define EVC_RV_SUB_BYTES \
    VXOR_VV(3, 12, 10) VXOR_VV(4, 15, 9) VXOR_VV(5, 14, 13) VXOR_VV(6, 3, 4) \
    VXOR_VV(7, 11, 6) VXOR_VV(16, 5, 8) VXOR_VV(17, 10, 7) VXOR_VV(7, 14, 7) \
    VXOR_VV(18, 9, 16) VXOR_VV(19, 12, 16) VAND_VV(20, 19, 8) VXOR_VV(21, 17, 8) \
    VAND_VV(22, 6, 17) VXOR_VV(23, 15, 12) VXOR_VV(24, 15, 10) VXOR_VV(25, 5, 17) \
    VXOR_VV(26, 24, 18) VAND_VV(27, 26, 21) VXOR_VV(20, 20, 22) VXOR_VV(28, 23, 7) \
    VXOR_VV(7, 7, 22) VXOR_VV(5, 5, 28) VAND_VV(22, 24, 25) VAND_VV(29, 23, 28) \
    VXOR_VV(7, 7, 27) VXOR_VV(22, 22, 29) VXOR_VV(27, 15, 16) VXOR_VV(30, 24, 25) \
    VXOR_VV(20, 20, 30) VXOR_VV(30, 25, 28) VAND_VV(31, 4, 5) VAND_VV(9, 3, 30) \
    VXOR_VV(29, 9, 29) VXOR_VV(9, 15, 5) VXOR_VV(10, 4, 5) VXOR_VV(10, 10, 31) \
    VAND_VV(11, 18, 16) VXOR_VV(12, 28, 8) VXOR_VV(10, 10, 11) VXOR_VV(10, 10, 29) \
    VXOR_VV(7, 7, 29) VAND_VV(29, 27, 12) VAND_VV(11, 10, 7) VXOR_VV(29, 29, 31) \
    VXOR_VV(20, 20, 22) VXOR_VV(22, 29, 22) VXOR_VV(29, 7, 20) VXOR_VV(22, 22, 9) \
    VXOR_VV(31, 22, 11) VXOR_VV(9, 10, 22) VAND_VV(7, 7, 22) VAND_VV(31, 31, 29) \
    VAND_VV(10, 20, 10) VAND_VV(7, 29, 7) VXOR_VV(29, 29, 11) VXOR_VV(31, 20, 31) \
    VXOR_VV(20, 20, 11) VXOR_VV(7, 7, 29) VXOR_VV(29, 9, 11) VAND_VV(20, 20, 9) \
    VAND_VV(16, 7, 16) VAND_VV(9, 9, 10) VAND_VV(10, 31, 12) VXOR_VV(20, 22, 20) \
    VXOR_VV(22, 31, 7) VAND_VV(5, 22, 5) VAND_VV(4, 22, 4) VXOR_VV(22, 31, 20) \
    VXOR_VV(29, 9, 29) VXOR_VV(16, 16, 5) VAND_VV(23, 22, 23) VXOR_VV(5, 10, 5) \
    VXOR_VV(9, 7, 29) VXOR_VV(4, 4, 23) VAND_VV(27, 31, 27) VAND_VV(21, 29, 21) \
    VAND_VV(7, 7, 18) VXOR_VV(18, 20, 29) VXOR_VV(27, 27, 4) VAND_VV(17, 18, 17) \
    VAND_VV(6, 18, 6) VXOR_VV(6, 6, 23) VAND_VV(18, 29, 26) VXOR_VV(23, 22, 9) \
    VAND_VV(26, 20, 8) VXOR_VV(26, 26, 17) VAND_VV(19, 20, 19) VXOR_VV(17, 21, 17) \
    VAND_VV(20, 23, 30) VXOR_VV(17, 17, 16) VXOR_VV(16, 20, 16) VAND_VV(3, 23, 3) \
    VXOR_VV(18, 18, 3) VAND_VV(20, 22, 28) VXOR_VV(5, 5, 26) VXOR_VV(6, 6, 18) \
    VXOR_VV(18, 19, 18) VXOR_VV(3, 7, 3) VAND_VV(7, 9, 25) VXOR_VV(3, 4, 3) \
    VXOR_VV(12, 17, 6) VXOR_VV(8, 5, 3) VAND_VV(3, 9, 24) VXOR_VV(4, 7, 26) \
    VXOR_VV(11, 5, 12) VXOR_VV(5, 20, 16) VXOR_VV(4, 4, 16) VXOR_VV(9, 4, 8) \
    VXOR_VV(3, 3, 5) VXOR_VV(4, 27, 4) VXOR_VV(13, 3, 4) VXOR_VV(15, 6, 5) \
    VXOR_VV(14, 17, 15) VXOR_VV(10, 18, 4)

#define EVC_RV_INV_SUB_BYTES \
    VXOR_VV(3, 11, 8) VXOR_VV(4, 12, 11) VXOR_VV(5, 15, 14) VXOR_VV(6, 13, 4) \
    VXOR_VV(7, 15, 12) VXOR_VV(16, 14, 12) VXOR_VV(17, 12, 3) VXOR_VV(18, 9, 17) \
    VXOR_VV(19, 15, 10) VXOR_VV(20, 14, 7) VXOR_VV(21, 16, 18) VXOR_VV(22, 13, 19) \
    VAND_VV(23, 7, 20) VXOR_VV(24, 5, 4) VXOR_VV(25, 24, 18) VXOR_VV(26, 20, 22) \
    VAND_VV(27, 25, 26) VXOR_VV(28, 4, 21) VAND_VV(29, 28, 22) VXOR_VV(30, 19, 28) \
    VXOR_VV(19, 19, 21) VXOR_VV(19, 19, 27) VXOR_VV(27, 29, 27) VXOR_VV(29, 5, 3) \
    VXOR_VV(19, 19, 23) VXOR_VV(23, 29, 30) VXOR_VV(3, 27, 3) VAND_VV(27, 4, 30) \
    VAND_VV(31, 5, 29) VXOR_VV(31, 31, 27) VAND_VV(8, 24, 23) VAND_VV(10, 16, 17) \
    VXOR_VV(27, 8, 27) VXOR_VV(8, 6, 21) VXOR_VV(11, 17, 8) VXOR_VV(3, 3, 31) \
    VAND_VV(12, 18, 11) VXOR_VV(9, 9, 8) VXOR_VV(9, 9, 12) VXOR_VV(9, 9, 10) \
    VXOR_VV(19, 19, 27) VXOR_VV(27, 9, 27) VAND_VV(9, 21, 8) VXOR_VV(9, 9, 12) \
    VAND_VV(10, 27, 19) VXOR_VV(31, 9, 31) VXOR_VV(6, 31, 6) VAND_VV(31, 3, 27) \
    VXOR_VV(9, 6, 10) VXOR_VV(12, 19, 3) VAND_VV(19, 19, 6) VAND_VV(9, 9, 12) \
    VAND_VV(19, 12, 19) VXOR_VV(9, 3, 9) VXOR_VV(3, 3, 10) VXOR_VV(12, 12, 10) \
    VXOR_VV(19, 19, 12) VXOR_VV(12, 9, 19) VXOR_VV(27, 27, 6) VXOR_VV(10, 27, 10) \
    VAND_VV(3, 3, 27) VAND_VV(27, 27, 31) VXOR_VV(3, 6, 3) VAND_VV(6, 9, 21) \
    VXOR_VV(21, 27, 10) VAND_VV(22, 3, 22) VXOR_VV(27, 9, 3) VAND_VV(18, 12, 18) \
    VXOR_VV(31, 19, 21) VAND_VV(8, 9, 8) VAND_VV(9, 12, 11) VAND_VV(5, 31, 5) \
    VXOR_VV(10, 3, 21) VAND_VV(3, 3, 28) VAND_VV(26, 10, 26) VXOR_VV(22, 22, 8) \
    VAND_VV(28, 31, 29) VXOR_VV(29, 27, 31) VXOR_VV(28, 28, 8) VXOR_VV(6, 6, 3) \
    VAND_VV(4, 27, 4) VAND_VV(25, 10, 25) VXOR_VV(26, 26, 9) VAND_VV(7, 21, 7) \
    VXOR_VV(31, 9, 4) VXOR_VV(22, 22, 26) VAND_VV(20, 21, 20) VAND_VV(21, 27, 30) \
    VXOR_VV(3, 5, 3) VXOR_VV(5, 7, 22) VXOR_VV(7, 20, 28) VXOR_VV(20, 25, 3) \
    VXOR_VV(7, 7, 26) VAND_VV(24, 29, 24) VXOR_VV(3, 3, 24) VXOR_VV(6, 6, 5) \
    VAND_VV(16, 19, 16) VXOR_VV(21, 16, 21) VXOR_VV(18, 18, 24) VXOR_VV(21, 31, 21) \
    VXOR_VV(21, 21, 18) VXOR_VV(15, 28, 21) VXOR_VV(8, 4, 20) VAND_VV(4, 29, 23) \
    VAND_VV(17, 19, 17) VXOR_VV(12, 22, 15) VXOR_VV(17, 17, 21) VXOR_VV(10, 7, 17) \
    VXOR_VV(3, 3, 5) VXOR_VV(5, 6, 10) VXOR_VV(13, 16, 5) VXOR_VV(9, 4, 17) \
    VXOR_VV(4, 20, 18) VXOR_VV(14, 4, 5) VXOR_VV(11, 3, 9)
/* clang-format on */

#endif

/* SPDX-License-Identifier: MIT */
/*
 * SubBytes and InvSubBytes as straight-line programs of AND and XOR: constant time on any word.
 *
 * A template: define EVC_CIRCUIT_WORD (uint32_t, uint64_t, __m128i, __m256i: any type with & and ^)
 * and EVC_CIRCUIT_NAME(function) and include this file; again for another word.
 *
 *     #define EVC_CIRCUIT_WORD uint64_t
 *     #define EVC_CIRCUIT_NAME(function) function##_64
 *     #include "aes/sbox_circuit.h"
 *
 * gives sub_bytes_64(q) and inv_sub_bytes_64(q) on q[8], where q[j] holds bit j (value 2^j) of
 * every byte, in whatever order. The NOTs of the programs are left out, so
 *
 *     sub_bytes computes S(x) ^ 0x63,    inv_sub_bytes computes InvS(x ^ 0x63).
 *
 * Both are put right by one change of the key schedule: flip the bits of EVC_CIRCUIT_KEY_XOR (bits
 * 0, 1, 5 and 6 of every byte) in the round keys 1 .. rounds, FIPS 197 order; round key 0 stays as
 * it is. ShiftRows and MixColumns map a state of equal bytes to itself (the rows of both matrices
 * sum to 1), so the same round keys serve encryption, decryption (section 5.3) and the equivalent
 * inverse cipher (section 5.3.5).
 *
 * Source: J. Boyar, R. Peralta, "A small depth-16 circuit for the AES S-box", IFIP SEC 2012: the
 * inversion in a tower of fields, gates m1 .. m63 there and here; x0 is their U0 (bit 7). The
 * linear layers before it (t, u) and after it (l, s) were searched for anew, by the method of the
 * same authors' "A new combinational logic minimization technique with applications to cryptology",
 * SEA 2010, and for the second layer by its transpose: 114 gates forward, 115 backward.
 * The order of the gates comes from a search, too: few values wait at any time, so that with 16
 * registers about ten are stored and loaded again, and the chain of gates is short.
 */

/* 0x63, FIPS 197 section 5.1.1. */
#define EVC_CIRCUIT_KEY_XOR 0x63u

/* Always inlined, or -O1 and -Os pass the eight words through memory. */
#if EVC_GNU_C
#define EVC_CIRCUIT_INLINE static inline __attribute__((always_inline, unused))
#else
#define EVC_CIRCUIT_INLINE static inline
#endif

/* EVC_CIRCUIT_PIN(x) may be defined as a barrier that keeps a gate where it stands. */
#ifndef EVC_CIRCUIT_PIN
#define EVC_CIRCUIT_PIN(x) ((void)0)
#endif
/* clang-format off */
#define XOR(to, a, b) EVC_CIRCUIT_WORD to = (a) ^ (b); EVC_CIRCUIT_PIN(to)
#define AND(to, a, b) EVC_CIRCUIT_WORD to = (a) & (b); EVC_CIRCUIT_PIN(to)

EVC_CIRCUIT_INLINE void EVC_CIRCUIT_NAME(sub_bytes)(EVC_CIRCUIT_WORD q[8])
{
    const EVC_CIRCUIT_WORD x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4];
    const EVC_CIRCUIT_WORD x4 = q[3], x5 = q[2], x6 = q[1], x7 = q[0];

    XOR(t4, x3, x5); XOR(t3, x0, x6); XOR(u1, x1, x2); XOR(t13, t4, t3); XOR(u0, x4, t13);
    XOR(t9, u1, x7); XOR(t6, x5, u0); XOR(t14, x1, u0); XOR(t22, x6, t9); XOR(t19, x3, t9);
    AND(m4, t19, x7); XOR(t8, t6, x7); AND(m1, t13, t6); XOR(t1, x0, x3); XOR(t2, x0, x5);
    XOR(t10, u1, t6); XOR(t23, t2, t22); AND(m2, t23, t8); XOR(m5, m4, m1); XOR(t15, t1, t14);
    XOR(m3, t14, m1); XOR(t16, u1, t15); AND(m14, t2, t10); AND(m11, t1, t15); XOR(m16, m3, m2);
    XOR(m15, m14, m11); XOR(t20, x0, t9); XOR(t24, t2, t10); XOR(m17, m5, t24); XOR(t27, t10, t15);
    AND(m6, t3, t16); AND(m12, t4, t27); XOR(m13, m12, m11); XOR(t25, x0, t16); XOR(t26, t3, t16);
    XOR(m8, t26, m6); AND(m7, t22, t9); XOR(t17, t15, x7); XOR(m18, m8, m7); XOR(m22, m18, m13);
    XOR(m20, m16, m13); AND(m9, t20, t17); AND(m25, m22, m20); XOR(m10, m9, m6); XOR(m21, m17, m15);
    XOR(m19, m10, m15); XOR(m27, m20, m21); XOR(m23, m19, t25); XOR(m28, m23, m25);
    XOR(m24, m22, m23); AND(m31, m20, m23); AND(m29, m28, m27); AND(m34, m21, m22);
    AND(m32, m27, m31); XOR(m33, m27, m25); XOR(m37, m21, m29); XOR(m26, m21, m25);
    XOR(m38, m32, m33); XOR(m36, m24, m25); AND(m30, m26, m24); AND(m50, m38, t9);
    AND(m35, m24, m34); AND(m51, m37, t17); XOR(m39, m23, m30); XOR(m43, m37, m38);
    AND(m49, m43, t16); AND(m58, m43, t3); XOR(m42, m37, m39); XOR(m40, m35, m36);
    XOR(l1, m50, m49); AND(m61, m42, t1); XOR(l14, m51, m49); XOR(m41, m38, m40);
    XOR(l11, m58, m61); AND(m60, m37, t20); AND(m47, m40, t8); AND(m59, m38, t22);
    XOR(m44, m39, m40); XOR(l16, m60, l11); AND(m46, m44, t6); AND(m55, m44, t13);
    XOR(l4, m55, m61); AND(m56, m40, t23); XOR(m45, m42, m41); AND(m48, m39, x7);
    XOR(l10, m48, m46); AND(m57, m39, t19); XOR(l2, m47, m46); AND(m53, m45, t27); XOR(l3, l2, l1);
    XOR(l7, m53, l1); AND(m62, m45, t4); XOR(l0, m56, m62); AND(m52, m42, t15); XOR(l15, l14, l10);
    XOR(l5, l4, l0); XOR(l22, m57, l0); XOR(l18, m59, m62); AND(m54, m41, t10); XOR(l19, l11, l18);
    XOR(s3, l3, l5); XOR(s7, l15, l19); AND(m63, m41, t2); XOR(l12, m54, l10); XOR(s4, l15, s3);
    XOR(l8, m52, l7); XOR(l13, l12, l7); XOR(s6, l13, s7); XOR(l21, m63, l8); XOR(l17, l16, l13);
    XOR(s2, l21, l17); XOR(s0, l5, l8); XOR(s1, l3, s0); XOR(s5, l22, l17);

    q[7] = s0, q[6] = s1, q[5] = s2, q[4] = s3, q[3] = s4, q[2] = s5, q[1] = s6, q[0] = s7;
}

EVC_CIRCUIT_INLINE void EVC_CIRCUIT_NAME(inv_sub_bytes)(EVC_CIRCUIT_WORD q[8])
{
    const EVC_CIRCUIT_WORD x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4];
    const EVC_CIRCUIT_WORD x4 = q[3], x5 = q[2], x6 = q[1], x7 = q[0];

    XOR(t24, x4, x7); XOR(t1, x3, x4); XOR(t2, x0, x1); XOR(t25, x2, t1); XOR(t23, x0, x3);
    XOR(t22, x1, x3); XOR(t9, x3, t24); XOR(t3, x6, t9); XOR(u0, x0, x5); XOR(t8, x1, t23);
    XOR(t20, t22, t3); XOR(y5, x2, u0); AND(m2, t23, t8); XOR(t4, t2, t1); XOR(t13, t4, t3);
    XOR(t6, t8, y5); AND(m1, t13, t6); XOR(t19, t1, t20); AND(m4, t19, y5); XOR(t15, u0, t19);
    XOR(t14, u0, t20); XOR(m3, t14, m1); XOR(m5, m4, m1); XOR(t10, t2, t24); XOR(m16, m3, m2);
    XOR(t27, t10, t15); XOR(m17, m5, t24); AND(m11, t1, t15); AND(m14, t2, t10); XOR(m15, m14, m11);
    AND(m12, t4, t27); AND(m7, t22, t9); XOR(m13, m12, m11); XOR(t17, t25, t20); XOR(t16, t9, t17);
    XOR(m21, m17, m15); AND(m6, t3, t16); XOR(t26, x6, t17); XOR(m8, t26, m6); XOR(m18, m8, m7);
    XOR(m20, m16, m13); XOR(m22, m18, m13); AND(m9, t20, t17); XOR(m10, m9, m6); AND(m25, m22, m20);
    XOR(m19, m10, m15); XOR(m23, m19, t25); AND(m34, m21, m22); XOR(m28, m23, m25);
    XOR(m27, m20, m21); AND(m31, m20, m23); AND(m29, m28, m27); AND(m32, m27, m31);
    XOR(m37, m21, m29); XOR(m26, m21, m25); XOR(m33, m27, m25); XOR(m38, m32, m33);
    XOR(m43, m37, m38); XOR(m24, m22, m23); XOR(m36, m24, m25); AND(m30, m26, m24);
    AND(m35, m24, m34); XOR(m39, m23, m30); AND(m60, m37, t20); XOR(m40, m35, m36);
    AND(m48, m39, y5); XOR(m42, m37, m39); AND(m58, m43, t3); XOR(m41, m38, m40);
    AND(m51, m37, t17); AND(m49, m43, t16); AND(m63, m41, t2); XOR(m44, m39, m40);
    AND(m57, m39, t19); AND(m46, m44, t6); XOR(l8, m48, m51); AND(m54, m41, t10);
    XOR(m45, m42, m41); XOR(l5, m54, m51); XOR(l15, m60, m57); AND(m61, m42, t1);
    AND(m55, m44, t13); XOR(l7, m46, m49); AND(m56, m40, t23); XOR(l2, m49, m61); XOR(l9, l8, l7);
    AND(m47, m40, t8); AND(m52, m42, t15); XOR(l18, m63, m57); XOR(l11, m56, l9); XOR(l12, m47, l5);
    XOR(l19, m55, l18); XOR(l13, l12, l7); AND(m62, m45, t4); XOR(l22, l18, m62);
    XOR(l16, l15, l11); AND(m59, m38, t22); XOR(l1, m59, m52); XOR(l0, m58, m62); XOR(l3, l2, l1);
    XOR(l4, l3, l0); XOR(s0, l5, l4); XOR(s7, m61, l19); AND(m53, m45, t27); AND(m50, m38, t9);
    XOR(s3, l9, s0); XOR(l10, m50, l4); XOR(s5, l13, l10); XOR(l23, l22, l11); XOR(l17, l16, s5);
    XOR(s2, m59, l17); XOR(s6, m53, l10); XOR(l21, l19, l0); XOR(s1, l21, l17); XOR(s4, l23, s6);

    q[7] = s0, q[6] = s1, q[5] = s2, q[4] = s3, q[3] = s4, q[2] = s5, q[1] = s6, q[0] = s7;
}

/* clang-format on */
#undef XOR
#undef AND
#undef EVC_CIRCUIT_INLINE
#undef EVC_CIRCUIT_PIN
#undef EVC_CIRCUIT_WORD
#undef EVC_CIRCUIT_NAME

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
 * gives sub_bytes_64(q) and inv_sub_bytes_64(q) on q[8], where q[j] holds bit j (value 2^j) of every
 * byte, in whatever order. The NOTs of the programs are left out, so
 *
 *     sub_bytes computes S(x) ^ 0x63,    inv_sub_bytes computes InvS(x ^ 0x63).
 *
 * Both are put right by one change of the key schedule: flip the bits of EVC_CIRCUIT_KEY_XOR (bits 0,
 * 1, 5 and 6 of every byte) in the round keys 1 .. rounds, FIPS 197 order; round key 0 stays as it is.
 * ShiftRows and MixColumns map a state of equal bytes to itself (the rows of both matrices sum to 1),
 * so the same round keys serve encryption, decryption (section 5.3) and the equivalent inverse cipher
 * (section 5.3.5).
 *
 * Source: J. Boyar, R. Peralta, "A new combinational logic minimization technique with applications
 * to cryptology", SEA 2010 (sub_bytes, 115 gates); "A small depth-16 circuit for the AES S-box", IFIP
 * SEC 2012 (inv_sub_bytes, 127 gates). Bit 7 is the papers' U0; the gates have the papers' names.
 */

/* 0x63, FIPS 197 section 5.1.1. */
#define EVC_CIRCUIT_KEY_XOR 0x63u

/* Always inlined, or -O1 and -Os pass the eight words through memory. Who includes this may say otherwise. */
#if defined(EVC_CIRCUIT_INLINE)
#elif defined(__GNUC__)
#define EVC_CIRCUIT_INLINE static inline __attribute__((always_inline, unused))
#else
#define EVC_CIRCUIT_INLINE static inline
#endif

EVC_CIRCUIT_INLINE void EVC_CIRCUIT_NAME(sub_bytes)(EVC_CIRCUIT_WORD q[8])
{
    const EVC_CIRCUIT_WORD x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4], x4 = q[3], x5 = q[2],
        x6 = q[1], x7 = q[0];

    /* Linear forms of the input: change of basis to the tower of fields. */
    const EVC_CIRCUIT_WORD y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5,
        t0 = x1 ^ x2, y1 = t0 ^ x7, y4 = y1 ^ x3, y12 = y13 ^ y14, y2 = y1 ^ x0, y5 = y1 ^ x6,
        y3 = y5 ^ y8, t1 = x4 ^ y12, y15 = t1 ^ x5, y20 = t1 ^ x1, y6 = y15 ^ x7, y10 = y15 ^ t0,
        y11 = y20 ^ y9, y7 = x7 ^ y11, y17 = y10 ^ y11, y19 = y10 ^ y8, y16 = t0 ^ y11,
        y21 = y13 ^ y16, y18 = x0 ^ y16;

    /* Inversion in GF(2^4), as part of that in GF(((2^2)^2)^2). */
    const EVC_CIRCUIT_WORD t2 = y12 & y15, t3 = y3 & y6, t4 = t3 ^ t2, t5 = y4 & x7,
        t6 = t5 ^ t2, t7 = y13 & y16, t8 = y5 & y1, t9 = t8 ^ t7, t10 = y2 & y7, t11 = t10 ^ t7,
        t12 = y9 & y11, t13 = y14 & y17, t14 = t13 ^ t12, t15 = y8 & y10, t16 = t15 ^ t12,
        t17 = t4 ^ t14, t18 = t6 ^ t16, t19 = t9 ^ t14, t20 = t11 ^ t16, t21 = t17 ^ y20,
        t22 = t18 ^ y19, t23 = t19 ^ y21, t24 = t20 ^ y18, t25 = t21 ^ t22, t26 = t21 & t23,
        t27 = t24 ^ t26, t28 = t25 & t27, t29 = t28 ^ t22, t30 = t23 ^ t24, t31 = t22 ^ t26,
        t32 = t31 & t30, t33 = t32 ^ t24, t34 = t23 ^ t33, t35 = t27 ^ t33, t36 = t24 & t35,
        t37 = t36 ^ t34, t38 = t27 ^ t36, t39 = t29 & t38, t40 = t25 ^ t39, t41 = t40 ^ t37,
        t42 = t29 ^ t33, t43 = t29 ^ t40, t44 = t33 ^ t37, t45 = t42 ^ t41;

    /* Eighteen products of the inverse with linear forms of the input. */
    const EVC_CIRCUIT_WORD z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & x7, z3 = t43 & y16,
        z4 = t40 & y1, z5 = t29 & y7, z6 = t42 & y11, z7 = t45 & y17, z8 = t41 & y10,
        z9 = t44 & y12, z10 = t37 & y3, z11 = t33 & y4, z12 = t43 & y13, z13 = t40 & y5,
        z14 = t29 & y2, z15 = t42 & y9, z16 = t45 & y14, z17 = t41 & y8;

    /* Change of basis back, and the linear part of the affine map. */
    const EVC_CIRCUIT_WORD t46 = z15 ^ z16, t47 = z10 ^ z11, t48 = z5 ^ z13, t49 = z9 ^ z10,
        t50 = z2 ^ z12, t51 = z2 ^ z5, t52 = z7 ^ z8, t53 = z0 ^ z3, t54 = z6 ^ z7,
        t55 = z16 ^ z17, t56 = z12 ^ t48, t57 = t50 ^ t53, t58 = z4 ^ t46, t59 = z3 ^ t54,
        t60 = t46 ^ t57, t61 = z14 ^ t57, t62 = t52 ^ t58, t63 = t49 ^ t58, t64 = z4 ^ t59,
        t65 = t61 ^ t62, t66 = z1 ^ t63, s0 = t59 ^ t63, s6 = t56 ^ t62, s7 = t48 ^ t60,
        t67 = t64 ^ t65, s3 = t53 ^ t66, s4 = t51 ^ t66, s5 = t47 ^ t65, s1 = t64 ^ s3,
        s2 = t55 ^ t67;

    q[7] = s0, q[6] = s1, q[5] = s2, q[4] = s3, q[3] = s4, q[2] = s5, q[1] = s6, q[0] = s7;
}

EVC_CIRCUIT_INLINE void EVC_CIRCUIT_NAME(sub_bytes_flat)(EVC_CIRCUIT_WORD q[8])
{
    const EVC_CIRCUIT_WORD x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4], x4 = q[3], x5 = q[2],
        x6 = q[1], x7 = q[0];

    /* Linear forms of the input: change of basis to the tower of fields. */
    const EVC_CIRCUIT_WORD t1 = x0 ^ x3, t2 = x0 ^ x5, t3 = x0 ^ x6, t4 = x3 ^ x5, t5 = x4 ^ x6,
        t6 = t1 ^ t5, t7 = x1 ^ x2, t8 = x7 ^ t6, t9 = x7 ^ t7, t10 = t6 ^ t7, t11 = x1 ^ x5,
        t12 = x2 ^ x5, t13 = t3 ^ t4, t14 = t6 ^ t11, t15 = t5 ^ t11, t16 = t5 ^ t12,
        t17 = t9 ^ t16, t18 = x3 ^ x7, t19 = t7 ^ t18, t20 = t1 ^ t19, t21 = x6 ^ x7,
        t22 = t7 ^ t21, t23 = t2 ^ t22, t24 = t2 ^ t10, t25 = t20 ^ t17, t26 = t3 ^ t16,
        t27 = t1 ^ t12;

    /* Inversion in GF(2^4), as part of that in GF(((2^2)^2)^2). */
    const EVC_CIRCUIT_WORD m1 = t13 & t6, m2 = t23 & t8, m3 = t14 ^ m1, m4 = t19 & x7,
        m5 = m4 ^ m1, m6 = t3 & t16, m7 = t22 & t9, m8 = t26 ^ m6, m9 = t20 & t17, m10 = m9 ^ m6,
        m11 = t1 & t15, m12 = t4 & t27, m13 = m12 ^ m11, m14 = t2 & t10, m15 = m14 ^ m11,
        m16 = m3 ^ m2, m17 = m5 ^ t24, m18 = m8 ^ m7, m19 = m10 ^ m15, m20 = m16 ^ m13,
        m21 = m17 ^ m15, m22 = m18 ^ m13, m23 = m19 ^ t25, m24 = m22 ^ m23, m25 = m22 & m20,
        m26 = m21 ^ m25, m27 = m20 ^ m21, m28 = m23 ^ m25, m29 = m28 & m27, m30 = m26 & m24,
        m31 = m20 & m23, m32 = m27 & m31, m33 = m27 ^ m25, m34 = m21 & m22, m35 = m24 & m34,
        m36 = m24 ^ m25, m37 = m21 ^ m29, m38 = m32 ^ m33, m39 = m23 ^ m30, m40 = m35 ^ m36,
        m41 = m38 ^ m40, m42 = m37 ^ m39, m43 = m37 ^ m38, m44 = m39 ^ m40, m45 = m42 ^ m41;

    /* Eighteen products of the inverse with linear forms of the input. */
    const EVC_CIRCUIT_WORD m46 = m44 & t6, m47 = m40 & t8, m48 = m39 & x7, m49 = m43 & t16,
        m50 = m38 & t9, m51 = m37 & t17, m52 = m42 & t15, m53 = m45 & t27, m54 = m41 & t10,
        m55 = m44 & t13, m56 = m40 & t23, m57 = m39 & t19, m58 = m43 & t3, m59 = m38 & t22,
        m60 = m37 & t20, m61 = m42 & t1, m62 = m45 & t4, m63 = m41 & t2;

    /* Change of basis back, and the linear part of the affine map. */
    const EVC_CIRCUIT_WORD l0 = m61 ^ m62, l1 = m50 ^ m56, l2 = m46 ^ m48, l3 = m47 ^ m55,
        l4 = m54 ^ m58, l5 = m49 ^ m61, l6 = m62 ^ l5, l7 = m46 ^ l3, l8 = m51 ^ m59,
        l9 = m52 ^ m53, l10 = m53 ^ l4, l11 = m60 ^ l2, l12 = m48 ^ m51, l13 = m50 ^ l0,
        l14 = m52 ^ m61, l15 = m55 ^ l1, l16 = m56 ^ l0, l17 = m57 ^ l1, l18 = m58 ^ l8,
        l19 = m63 ^ l4, l20 = l0 ^ l1, l21 = l1 ^ l7, l22 = l3 ^ l12, l23 = l18 ^ l2,
        l24 = l15 ^ l9, l25 = l6 ^ l10, l26 = l7 ^ l9, l27 = l8 ^ l10, l28 = l11 ^ l14,
        l29 = l11 ^ l17, s0 = l6 ^ l24, s1 = l16 ^ l26, s2 = l19 ^ l28, s3 = l6 ^ l21,
        s4 = l20 ^ l22, s5 = l25 ^ l29, s6 = l13 ^ l27, s7 = l6 ^ l23;

    q[7] = s0, q[6] = s1, q[5] = s2, q[4] = s3, q[3] = s4, q[2] = s5, q[1] = s6, q[0] = s7;
}

EVC_CIRCUIT_INLINE void EVC_CIRCUIT_NAME(inv_sub_bytes)(EVC_CIRCUIT_WORD q[8])
{
    const EVC_CIRCUIT_WORD x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4], x4 = q[3], x5 = q[2],
        x6 = q[1], x7 = q[0];

    /* Linear forms of the input: the inverse affine map and the change of basis. */
    const EVC_CIRCUIT_WORD t23 = x0 ^ x3, t22 = x1 ^ x3, t2 = x0 ^ x1, t1 = x3 ^ x4,
        t24 = x4 ^ x7, r5 = x6 ^ x7, t8 = x1 ^ t23, t19 = t22 ^ r5, t9 = x7 ^ t1, t10 = t2 ^ t24,
        t13 = t2 ^ r5, t3 = t1 ^ r5, t25 = x2 ^ t1, r13 = x1 ^ x6, t17 = x2 ^ t19,
        t20 = t24 ^ r13, t4 = x4 ^ t8, r17 = x2 ^ x5, r18 = x5 ^ x6, r19 = x2 ^ x4,
        y5 = x0 ^ r17, t6 = t22 ^ r17, t16 = r13 ^ r19, t27 = t1 ^ r18, t15 = t10 ^ t27,
        t14 = t10 ^ r18, t26 = t3 ^ t16;

    /* Inversion in GF(2^4), as part of that in GF(((2^2)^2)^2). */
    const EVC_CIRCUIT_WORD m1 = t13 & t6, m2 = t23 & t8, m3 = t14 ^ m1, m4 = t19 & y5,
        m5 = m4 ^ m1, m6 = t3 & t16, m7 = t22 & t9, m8 = t26 ^ m6, m9 = t20 & t17, m10 = m9 ^ m6,
        m11 = t1 & t15, m12 = t4 & t27, m13 = m12 ^ m11, m14 = t2 & t10, m15 = m14 ^ m11,
        m16 = m3 ^ m2, m17 = m5 ^ t24, m18 = m8 ^ m7, m19 = m10 ^ m15, m20 = m16 ^ m13,
        m21 = m17 ^ m15, m22 = m18 ^ m13, m23 = m19 ^ t25, m24 = m22 ^ m23, m25 = m22 & m20,
        m26 = m21 ^ m25, m27 = m20 ^ m21, m28 = m23 ^ m25, m29 = m28 & m27, m30 = m26 & m24,
        m31 = m20 & m23, m32 = m27 & m31, m33 = m27 ^ m25, m34 = m21 & m22, m35 = m24 & m34,
        m36 = m24 ^ m25, m37 = m21 ^ m29, m38 = m32 ^ m33, m39 = m23 ^ m30, m40 = m35 ^ m36,
        m41 = m38 ^ m40, m42 = m37 ^ m39, m43 = m37 ^ m38, m44 = m39 ^ m40, m45 = m42 ^ m41;

    /* Eighteen products of the inverse with linear forms of the input. */
    const EVC_CIRCUIT_WORD m46 = m44 & t6, m47 = m40 & t8, m48 = m39 & y5, m49 = m43 & t16,
        m50 = m38 & t9, m51 = m37 & t17, m52 = m42 & t15, m53 = m45 & t27, m54 = m41 & t10,
        m55 = m44 & t13, m56 = m40 & t23, m57 = m39 & t19, m58 = m43 & t3, m59 = m38 & t22,
        m60 = m37 & t20, m61 = m42 & t1, m62 = m45 & t4, m63 = m41 & t2;

    /* Change of basis back. */
    const EVC_CIRCUIT_WORD p0 = m52 ^ m61, p1 = m58 ^ m59, p2 = m54 ^ m62, p3 = m47 ^ m50,
        p4 = m48 ^ m56, p5 = m46 ^ m51, p6 = m49 ^ m60, p7 = p0 ^ p1, p8 = m50 ^ m53,
        p9 = m55 ^ m63, p10 = m57 ^ p4, p11 = p0 ^ p3, p12 = m46 ^ m48, p13 = m49 ^ m51,
        p14 = m49 ^ m62, p15 = m54 ^ m59, p16 = m57 ^ m61, p17 = m58 ^ p2, p18 = m63 ^ p5,
        p19 = p2 ^ p3, p20 = p4 ^ p6, p22 = p2 ^ p7, p23 = p7 ^ p8, p24 = p5 ^ p7,
        p25 = p6 ^ p10, p26 = p9 ^ p11, p27 = p10 ^ p18, p28 = p11 ^ p25, p29 = p15 ^ p20,
        s0 = p13 ^ p22, s1 = p26 ^ p29, s2 = p17 ^ p28, s3 = p12 ^ p22, s4 = p23 ^ p27,
        s5 = p19 ^ p24, s6 = p14 ^ p23, s7 = p9 ^ p16;

    q[7] = s0, q[6] = s1, q[5] = s2, q[4] = s3, q[3] = s4, q[2] = s5, q[1] = s6, q[0] = s7;
}

#undef EVC_CIRCUIT_INLINE
#undef EVC_CIRCUIT_WORD
#undef EVC_CIRCUIT_NAME

/* SPDX-License-Identifier: MIT */
/*
 * SubBytes and InvSubBytes as sbox_circuit.h has them, for words that can choose: 103
 * gates each, not 114 and 115.
 *
 * A template like that one, with the same functions and the same round keys: NOTs are left out, see
 * there. Define besides EVC_CIRCUIT_SELECT(mask, a, b): the bits of a where those of mask are 1,
 * else those of b; the word needs | and ~, too.
 *
 * What is saved, with the names of sbox_circuit.h's source:
 *   - x & ~y = xy + x and x | y = xy + x + y over GF(2). So the nine products before the inversion
 *     in GF(16) can bring some of what is added to them; two or three sums of inputs are left,
 *     which exist. Which product brings what, and the sums of the inputs, come from a search
 *     through the 4^9 ways: 22 gates and 21, not 27.
 *   - z + xy = x ? z + y : z. The inversion knows most of the sums that this
 *     asks for: 11 gates, not 17.
 * Choices for smaller S-boxes, in hardware: A. Maximov, P. Ekdahl, "New Circuit Minimization
 * Techniques for Smaller and Faster AES SBoxes", TCHES 2019(4). The order comes from a search:
 * gates of three cycles seldom wait for another, and at most 27 values wait.
 */

/* 0x63, FIPS 197 section 5.1.1; as in sbox_circuit.h. */
#define EVC_CIRCUIT_KEY_XOR 0x63u

/* Always inlined, or -O1 and -Os pass the eight words through memory. */
#if EVC_GNU_C
#define EVC_CIRCUIT_INLINE static inline __attribute__((always_inline, unused))
#else
#define EVC_CIRCUIT_INLINE static inline
#endif

/* EVC_CIRCUIT_HIDE(x) may be defined as a barrier that keeps the compiler from knowing what x is.
 * clang sees that a choice chooses for the next one, and makes of both four gates. */
#ifndef EVC_CIRCUIT_HIDE
#define EVC_CIRCUIT_HIDE(x) ((void)0)
#endif
/* clang-format off */
#define XOR(to, a, b) EVC_CIRCUIT_WORD to = (a) ^ (b)
#define AND(to, a, b) EVC_CIRCUIT_WORD to = (a) & (b)
#define BIC(to, a, b) EVC_CIRCUIT_WORD to = (a) & ~(b)
#define OR(to, a, b) EVC_CIRCUIT_WORD to = (a) | (b)
#define SELECT(to, mask, a, b) EVC_CIRCUIT_WORD to = EVC_CIRCUIT_SELECT(mask, a, b)
#define HIDE(x) EVC_CIRCUIT_HIDE(x)

EVC_CIRCUIT_INLINE void EVC_CIRCUIT_NAME(sub_bytes)(EVC_CIRCUIT_WORD q[8])
{
    const EVC_CIRCUIT_WORD x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4];
    const EVC_CIRCUIT_WORD x4 = q[3], x5 = q[2], x6 = q[1], x7 = q[0];

    XOR(u0, x4, x6); XOR(t4, x3, x5); XOR(u1, x5, u0); XOR(t3, x0, x6); XOR(t1, x0, x3);
    XOR(t15, x1, u1); XOR(t16, x2, u1); XOR(t6, t1, u0); XOR(t17, x7, t15); XOR(t13, t3, t4);
    XOR(t8, x7, t6); XOR(t9, t16, t17); XOR(t27, t6, t16); XOR(t2, t1, t4); XOR(t19, x3, t9);
    XOR(t10, t8, t9); AND(m11, t1, t15); XOR(t20, t1, t19); OR(m4, t19, x7); AND(m14, t2, t10);
    XOR(t22, t3, t20); XOR(m15, m14, m11); XOR(t23, t13, t19); OR(m7, t22, t9); AND(m1, t13, t6);
    OR(m2, t23, t8); OR(m12, t4, t27); XOR(n17, m4, m1); XOR(n16, m2, m1); XOR(m13, m12, m11);
    AND(m6, t3, t16); OR(m9, t20, t17); XOR(m20r, m13, x6); XOR(n18, m7, m6); XOR(n19, m9, m6);
    XOR(m20, n16, m20r); XOR(m22r, m13, u1); XOR(m23, n19, m15); XOR(m21r, m15, u1);
    XOR(m22, n18, m22r); XOR(m21, n17, m21r); XOR(m24, m22, m23); AND(m25, m22, m20);
    XOR(m27, m20, m21); XOR(m26, m21, m25); XOR(m28, m23, m25); SELECT(m39, m26, m22, m23);
    SELECT(m37, m28, m20, m21); SELECT(m35, m23, m20, m27); HIDE(m35); SELECT(m32, m21, m22, m24);
    HIDE(m32); SELECT(m40, m35, m23, m24); SELECT(m38, m32, m21, m27); AND(m48, m39, x7);
    AND(m56, m40, t23); AND(m50, m38, t9); AND(m59, m38, t22); AND(m51, m37, t17);
    AND(m57, m39, t19); AND(m47, m40, t8); XOR(m44, m39, m40); XOR(m41, m38, m40);
    XOR(m42, m37, m39); XOR(m43, m37, m38); AND(m60, m37, t20); AND(m55, m44, t13);
    AND(m46, m44, t6); AND(m49, m43, t16); AND(m58, m43, t3); XOR(l10, m48, m46); XOR(l2, m47, m46);
    XOR(l1, m50, m49); XOR(l14, m51, m49); XOR(m45, m42, m41); AND(m54, m41, t10);
    AND(m63, m41, t2); AND(m62, m45, t4); AND(m53, m45, t27); AND(m52, m42, t15); XOR(l0, m56, m62);
    XOR(l7, m53, l1); XOR(l12, m54, l10); AND(m61, m42, t1); XOR(l18, m59, m62); XOR(l13, l12, l7);
    XOR(l11, m58, m61); XOR(l4, m55, m61); XOR(l8, m52, l7); XOR(l16, m60, l11); XOR(l19, l11, l18);
    XOR(l3, l2, l1); XOR(l15, l14, l10); XOR(l22, m57, l0); XOR(l5, l4, l0); XOR(l17, l16, l13);
    XOR(l21, m63, l8); XOR(s0, l5, l8); XOR(s3, l3, l5); XOR(s5, l22, l17); XOR(s1, l3, s0);
    XOR(s7, l15, l19); XOR(s4, l15, s3); XOR(s2, l21, l17); XOR(s6, l13, s7);

    q[7] = s0, q[6] = s1, q[5] = s2, q[4] = s3, q[3] = s4, q[2] = s5, q[1] = s6, q[0] = s7;
}

EVC_CIRCUIT_INLINE void EVC_CIRCUIT_NAME(inv_sub_bytes)(EVC_CIRCUIT_WORD q[8])
{
    const EVC_CIRCUIT_WORD x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4];
    const EVC_CIRCUIT_WORD x4 = q[3], x5 = q[2], x6 = q[1], x7 = q[0];

    XOR(t1, x3, x4); XOR(t22, x1, x3); XOR(t9, x7, t1); XOR(t8, x0, t22); XOR(t3, x6, t9);
    XOR(t10, t9, t8); XOR(u0, x5, t3); XOR(t20, t22, t3); XOR(t23, x0, x3); XOR(t27, x7, u0);
    XOR(t19, t1, t20); XOR(t2, x0, x1); XOR(t15, t27, t10); XOR(t17, x2, t19); XOR(t4, t1, t2);
    AND(m11, t1, t15); XOR(y5, t17, t15); AND(m12, t4, t27); OR(m14, t2, t10); XOR(t6, t8, y5);
    XOR(m13, m12, m11); XOR(m15, m14, m11); XOR(t16, t27, t6); XOR(m20r, m13, u0);
    XOR(m23r, m15, x1); AND(m4, t19, y5); AND(m7, t22, t9); XOR(t13, t3, t4); OR(m6, t3, t16);
    BIC(m2, t8, t23); AND(m1, t13, t6); XOR(n18, m7, m6); XOR(n16, m2, m1); XOR(n17, m4, m1);
    XOR(m22, n18, m13); XOR(m20, n16, m20r); XOR(m21, n17, m15); AND(m9, t20, t17);
    XOR(n19, m9, m6); XOR(m23, n19, m23r); AND(m25, m22, m20); XOR(m27, m20, m21);
    XOR(m24, m22, m23); XOR(m28, m23, m25); XOR(m26, m21, m25); SELECT(m37, m28, m20, m21);
    SELECT(m35, m23, m20, m27); HIDE(m35); SELECT(m39, m26, m22, m23); SELECT(m32, m21, m22, m24);
    HIDE(m32); SELECT(m40, m35, m23, m24); SELECT(m38, m32, m21, m27); AND(m47, m40, t8);
    AND(m51, m37, t17); AND(m59, m38, t22); AND(m48, m39, y5); XOR(m42, m37, m39);
    AND(m60, m37, t20); XOR(m43, m37, m38); AND(m61, m42, t1); AND(m52, m42, t15);
    AND(m49, m43, t16); AND(m58, m43, t3); XOR(l1, m59, m52); AND(m57, m39, t19);
    XOR(m44, m39, m40); XOR(m41, m38, m40); AND(m56, m40, t23); AND(m50, m38, t9);
    XOR(m45, m42, m41); AND(m46, m44, t6); AND(m55, m44, t13); AND(m54, m41, t10);
    AND(m63, m41, t2); XOR(l7, m46, m49); XOR(l5, m54, m51); XOR(l8, m48, m51); XOR(l2, m49, m61);
    AND(m62, m45, t4); XOR(l9, l8, l7); XOR(l3, l2, l1); XOR(l0, m58, m62); XOR(l11, m56, l9);
    XOR(l12, m47, l5); XOR(l4, l3, l0); AND(m53, m45, t27); XOR(l13, l12, l7); XOR(l15, m60, m57);
    XOR(l18, m63, m57); XOR(l10, m50, l4); XOR(s0, l5, l4); XOR(l16, l15, l11); XOR(s5, l13, l10);
    XOR(l19, m55, l18); XOR(l22, l18, m62); XOR(l17, l16, s5); XOR(l21, l19, l0); XOR(s6, m53, l10);
    XOR(l23, l22, l11); XOR(s1, l21, l17); XOR(s2, m59, l17); XOR(s4, l23, s6); XOR(s7, m61, l19);
    XOR(s3, l9, s0);

    q[7] = s0, q[6] = s1, q[5] = s2, q[4] = s3, q[3] = s4, q[2] = s5, q[1] = s6, q[0] = s7;
}

/* clang-format on */
#undef XOR
#undef AND
#undef OR
#undef BIC
#undef SELECT
#undef HIDE
#undef EVC_CIRCUIT_INLINE
#undef EVC_CIRCUIT_HIDE
#undef EVC_CIRCUIT_SELECT
#undef EVC_CIRCUIT_WORD
#undef EVC_CIRCUIT_NAME

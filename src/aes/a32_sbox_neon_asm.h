/* SPDX-License-Identifier: MIT */
/*
 * SubBytes and InvSubBytes on eight planes in NEON registers of A32: printed by
 * tools/gen-a32-sbox from the circuits of aes/sbox_circuit.h, whose names of gates stand at the
 * right; the NOTs are left out as there.
 *
 * Plane j (bit j of every byte) enters and leaves in q0 + j. q8-q15 are lost. Gates that must wait
 * are stored where the EVC_SPILL_VECTORS registers r4, r5, ... point to.
 */
#define EVC_SPILL_VECTORS 6

.macro sub_bytes
    veor q14, q7, q1               // t3 = x0 ^ x6
    veor q15, q4, q2               // t4 = x3 ^ x5
    veor q11, q15, q14             // t13 = t4 ^ t3
    veor q3, q3, q11               // u0 = x4 ^ t13
    veor q9, q6, q5                // u1 = x1 ^ x2
    veor q13, q9, q0               // t9 = u1 ^ x7
    veor q12, q2, q3               // t6 = x5 ^ u0
    veor q8, q6, q3                // t14 = x1 ^ u0
    veor q6, q7, q4                // t1 = x0 ^ x3
    vand q5, q11, q12              // m1 = t13 & t6
    veor q3, q1, q13               // t22 = x6 ^ t9
    veor q10, q4, q13              // t19 = x3 ^ t9
    veor q1, q6, q8                // t15 = t1 ^ t14
    veor q4, q12, q0               // t8 = t6 ^ x7
    veor q2, q7, q2                // t2 = x0 ^ x5
    veor q8, q8, q5                // m3 = t14 ^ m1
    vst1.64 {d22-d23}, [r4:128]    // t13
    vand q11, q6, q1               // m11 = t1 & t15
    vst1.64 {d12-d13}, [r5:128]    // t1
    veor q6, q2, q3                // t23 = t2 ^ t22
    vst1.64 {d20-d21}, [r6:128]    // t19
    vand q10, q10, q0              // m4 = t19 & x7
    veor q12, q9, q12              // t10 = u1 ^ t6
    veor q9, q9, q1                // t16 = u1 ^ t15
    vand q6, q6, q4                // m2 = t23 & t8
    veor q8, q8, q6                // m16 = m3 ^ m2
    veor q6, q12, q1               // t27 = t10 ^ t15
    vst1.64 {d12-d13}, [r7:128]    // t27
    vand q6, q15, q6               // m12 = t4 & t27
    veor q15, q14, q9              // t26 = t3 ^ t16
    vst1.64 {d28-d29}, [r8:128]    // t3
    vand q14, q14, q9              // m6 = t3 & t16
    veor q10, q10, q5              // m5 = m4 ^ m1
    vand q5, q2, q12               // m14 = t2 & t10
    vst1.64 {d24-d25}, [r9:128]    // t10
    veor q12, q2, q12              // t24 = t2 ^ t10
    veor q5, q5, q11               // m15 = m14 ^ m11
    veor q12, q10, q12             // m17 = m5 ^ t24
    veor q6, q6, q11               // m13 = m12 ^ m11
    veor q11, q8, q6               // m20 = m16 ^ m13
    vand q8, q3, q13               // m7 = t22 & t9
    veor q10, q15, q14             // m8 = t26 ^ m6
    veor q15, q12, q5              // m21 = m17 ^ m15
    veor q12, q10, q8              // m18 = m8 ^ m7
    veor q8, q11, q15              // m27 = m20 ^ m21
    veor q10, q7, q13              // t20 = x0 ^ t9
    veor q12, q12, q6              // m22 = m18 ^ m13
    veor q1, q1, q0                // t17 = t15 ^ x7
    vand q6, q10, q1               // m9 = t20 & t17
    veor q6, q6, q14               // m10 = m9 ^ m6
    veor q5, q6, q5                // m19 = m10 ^ m15
    veor q14, q7, q9               // t25 = x0 ^ t16
    veor q6, q5, q14               // m23 = m19 ^ t25
    vand q5, q12, q11              // m25 = m22 & m20
    veor q7, q15, q5               // m26 = m21 ^ m25
    veor q14, q6, q5               // m28 = m23 ^ m25
    vand q14, q14, q8              // m29 = m28 & m27
    veor q14, q15, q14             // m37 = m21 ^ m29
    vand q11, q11, q6              // m31 = m20 & m23
    vand q1, q14, q1               // m51 = m37 & t17
    vand q15, q15, q12             // m34 = m21 & m22
    vand q11, q8, q11              // m32 = m27 & m31
    veor q12, q12, q6              // m24 = m22 ^ m23
    vand q7, q7, q12               // m30 = m26 & m24
    vand q15, q12, q15             // m35 = m24 & m34
    veor q12, q12, q5              // m36 = m24 ^ m25
    veor q15, q15, q12             // m40 = m35 ^ m36
    veor q8, q8, q5                // m33 = m27 ^ m25
    veor q5, q11, q8               // m38 = m32 ^ m33
    veor q12, q14, q5              // m43 = m37 ^ m38
    veor q11, q5, q15              // m41 = m38 ^ m40
    veor q7, q6, q7                // m39 = m23 ^ m30
    vand q9, q12, q9               // m49 = m43 & t16
    vand q6, q5, q13               // m50 = m38 & t9
    veor q13, q7, q15              // m44 = m39 ^ m40
    veor q8, q4, q0                // t6 = t8 ^ x7
    vand q8, q13, q8               // m46 = m44 & t6
    vand q10, q14, q10             // m60 = m37 & t20
    vand q0, q7, q0                // m48 = m39 & x7
    vand q4, q15, q4               // m47 = m40 & t8
    veor q1, q1, q9                // l14 = m51 ^ m49
    veor q4, q4, q8                // l2 = m47 ^ m46
    veor q6, q6, q9                // l1 = m50 ^ m49
    veor q9, q0, q8                // l10 = m48 ^ m46
    veor q0, q2, q3                // t23 = t2 ^ t22
    vand q0, q15, q0               // m56 = m40 & t23
    vld1.64 {d16-d17}, [r6:128]    // t19
    vand q8, q7, q8                // m57 = m39 & t19
    veor q15, q4, q6               // l3 = l2 ^ l1
    veor q14, q14, q7              // m42 = m37 ^ m39
    vld1.64 {d14-d15}, [r8:128]    // t3
    vand q4, q12, q7               // m58 = m43 & t3
    vand q3, q5, q3                // m59 = m38 & t22
    vld1.64 {d24-d25}, [r4:128]    // t13
    vand q13, q13, q12             // m55 = m44 & t13
    veor q5, q14, q11              // m45 = m42 ^ m41
    veor q12, q12, q7              // t4 = t13 ^ t3
    vand q12, q5, q12              // m62 = m45 & t4
    vld1.64 {d14-d15}, [r5:128]    // t1
    vand q7, q14, q7               // m61 = m42 & t1
    veor q0, q0, q12               // l0 = m56 ^ m62
    veor q13, q13, q7              // l4 = m55 ^ m61
    veor q12, q3, q12              // l18 = m59 ^ m62
    vld1.64 {d6-d7}, [r7:128]      // t27
    vand q5, q5, q3                // m53 = m45 & t27
    vand q2, q11, q2               // m63 = m41 & t2
    veor q7, q4, q7                // l11 = m58 ^ m61
    vld1.64 {d8-d9}, [r9:128]      // t10
    vand q11, q11, q4              // m54 = m41 & t10
    veor q10, q10, q7              // l16 = m60 ^ l11
    veor q8, q8, q0                // l22 = m57 ^ l0
    veor q4, q3, q4                // t15 = t27 ^ t10
    vand q4, q14, q4               // m52 = m42 & t15
    veor q3, q11, q9               // l12 = m54 ^ l10
    veor q7, q7, q12               // l19 = l11 ^ l18
    veor q11, q1, q9               // l15 = l14 ^ l10
    veor q14, q5, q6               // l7 = m53 ^ l1
    veor q5, q4, q14               // l8 = m52 ^ l7
    veor q6, q13, q0               // l5 = l4 ^ l0
    veor q0, q11, q7               // s7 = l15 ^ l19
    veor q14, q3, q14              // l13 = l12 ^ l7
    veor q1, q14, q0               // s6 = l13 ^ s7
    veor q4, q15, q6               // s3 = l3 ^ l5
    veor q7, q6, q5                // s0 = l5 ^ l8
    veor q14, q10, q14             // l17 = l16 ^ l13
    veor q6, q15, q7               // s1 = l3 ^ s0
    veor q13, q2, q5               // l21 = m63 ^ l8
    veor q2, q8, q14               // s5 = l22 ^ l17
    veor q3, q11, q4               // s4 = l15 ^ s3
    veor q5, q13, q14              // s2 = l21 ^ l17
.endm

.macro inv_sub_bytes
    veor q10, q4, q3               // t1 = x3 ^ x4
    veor q13, q7, q4               // t23 = x0 ^ x3
    veor q8, q7, q6                // t2 = x0 ^ x1
    veor q12, q8, q10              // t4 = t2 ^ t1
    veor q9, q5, q10               // t25 = x2 ^ t1
    veor q14, q6, q13              // t8 = x1 ^ t23
    veor q15, q3, q0               // t24 = x4 ^ x7
    veor q3, q4, q15               // t9 = x3 ^ t24
    veor q11, q1, q3               // t3 = x6 ^ t9
    veor q0, q6, q4                // t22 = x1 ^ x3
    veor q4, q0, q11               // t20 = t22 ^ t3
    veor q9, q9, q4                // t17 = t25 ^ t20
    veor q6, q3, q9                // t16 = t9 ^ t17
    vst1.64 {d0-d1}, [r4:128]      // t22
    vand q0, q0, q3                // m7 = t22 & t9
    vst1.64 {d6-d7}, [r5:128]      // t9
    vand q3, q11, q6               // m6 = t3 & t16
    veor q1, q1, q9                // t26 = x6 ^ t17
    veor q1, q1, q3                // m8 = t26 ^ m6
    veor q1, q1, q0                // m18 = m8 ^ m7
    veor q7, q7, q2                // u0 = x0 ^ x5
    veor q0, q5, q7                // y5 = x2 ^ u0
    veor q2, q10, q4               // t19 = t1 ^ t20
    veor q5, q7, q2                // t15 = u0 ^ t19
    vst1.64 {d12-d13}, [r6:128]    // t16
    vand q6, q10, q5               // m11 = t1 & t15
    vst1.64 {d26-d27}, [r7:128]    // t23
    vand q10, q13, q14             // m2 = t23 & t8
    vand q13, q4, q9               // m9 = t20 & t17
    vand q2, q2, q0                // m4 = t19 & y5
    veor q0, q14, q0               // t6 = t8 ^ y5
    veor q11, q12, q11             // t13 = t4 ^ t3
    veor q7, q7, q4                // t14 = u0 ^ t20
    veor q3, q13, q3               // m10 = m9 ^ m6
    veor q13, q8, q15              // t10 = t2 ^ t24
    vst1.64 {d22-d23}, [r8:128]    // t13
    vand q11, q11, q0              // m1 = t13 & t6
    veor q7, q7, q11               // m3 = t14 ^ m1
    veor q7, q7, q10               // m16 = m3 ^ m2
    veor q10, q2, q11              // m5 = m4 ^ m1
    veor q10, q10, q15             // m17 = m5 ^ t24
    vand q15, q8, q13              // m14 = t2 & t10
    veor q2, q15, q6               // m15 = m14 ^ m11
    veor q11, q3, q2               // m19 = m10 ^ m15
    veor q15, q13, q5              // t27 = t10 ^ t15
    vand q3, q12, q15              // m12 = t4 & t27
    veor q6, q3, q6                // m13 = m12 ^ m11
    veor q1, q1, q6                // m22 = m18 ^ m13
    veor q3, q7, q6                // m20 = m16 ^ m13
    vand q7, q1, q3                // m25 = m22 & m20
    veor q6, q9, q4                // t25 = t17 ^ t20
    veor q11, q11, q6              // m23 = m19 ^ t25
    vand q6, q3, q11               // m31 = m20 & m23
    vst1.64 {d30-d31}, [r9:128]    // t27
    veor q15, q1, q11              // m24 = m22 ^ m23
    veor q10, q10, q2              // m21 = m17 ^ m15
    veor q2, q10, q7               // m26 = m21 ^ m25
    vand q1, q10, q1               // m34 = m21 & m22
    vand q2, q2, q15               // m30 = m26 & m24
    veor q2, q11, q2               // m39 = m23 ^ m30
    veor q3, q3, q10               // m27 = m20 ^ m21
    vand q6, q3, q6                // m32 = m27 & m31
    vand q1, q15, q1               // m35 = m24 & m34
    veor q11, q11, q7              // m28 = m23 ^ m25
    vand q11, q11, q3              // m29 = m28 & m27
    veor q15, q15, q7              // m36 = m24 ^ m25
    veor q11, q10, q11             // m37 = m21 ^ m29
    veor q10, q11, q2              // m42 = m37 ^ m39
    veor q15, q1, q15              // m40 = m35 ^ m36
    veor q7, q3, q7                // m33 = m27 ^ m25
    veor q1, q6, q7                // m38 = m32 ^ m33
    veor q3, q12, q8               // t1 = t4 ^ t2
    vand q7, q10, q3               // m61 = m42 & t1
    veor q6, q1, q15               // m41 = m38 ^ m40
    veor q3, q3, q4                // t19 = t1 ^ t20
    vand q3, q2, q3                // m57 = m39 & t19
    vand q4, q11, q4               // m60 = m37 & t20
    vand q8, q6, q8                // m63 = m41 & t2
    vand q13, q6, q13              // m54 = m41 & t10
    vand q9, q11, q9               // m51 = m37 & t17
    veor q8, q8, q3                // l18 = m63 ^ m57
    veor q3, q4, q3                // l15 = m60 ^ m57
    veor q4, q0, q14               // y5 = t6 ^ t8
    vand q4, q2, q4                // m48 = m39 & y5
    veor q2, q2, q15               // m44 = m39 ^ m40
    vand q5, q10, q5               // m52 = m42 & t15
    veor q11, q11, q1              // m43 = m37 ^ m38
    veor q10, q10, q6              // m45 = m42 ^ m41
    vand q14, q15, q14             // m47 = m40 & t8
    vld1.64 {d12-d13}, [r7:128]    // t23
    vand q15, q15, q6              // m56 = m40 & t23
    veor q4, q4, q9                // l8 = m48 ^ m51
    veor q13, q13, q9              // l5 = m54 ^ m51
    vand q9, q2, q0                // m46 = m44 & t6
    vld1.64 {d0-d1}, [r8:128]      // t13
    vand q2, q2, q0                // m55 = m44 & t13
    veor q6, q0, q12               // t3 = t13 ^ t4
    vand q0, q11, q6               // m58 = m43 & t3
    veor q6, q2, q8                // l19 = m55 ^ l18
    vand q12, q10, q12             // m62 = m45 & t4
    veor q2, q8, q12               // l22 = l18 ^ m62
    vld1.64 {d16-d17}, [r6:128]    // t16
    vand q11, q11, q8              // m49 = m43 & t16
    veor q9, q9, q11               // l7 = m46 ^ m49
    veor q8, q4, q9                // l9 = l8 ^ l7
    veor q15, q15, q8              // l11 = m56 ^ l9
    veor q4, q11, q7               // l2 = m49 ^ m61
    veor q11, q3, q15              // l16 = l15 ^ l11
    veor q14, q14, q13             // l12 = m47 ^ l5
    veor q14, q14, q9              // l13 = l12 ^ l7
    veor q3, q0, q12               // l0 = m58 ^ m62
    vld1.64 {d0-d1}, [r9:128]      // t27
    vand q12, q10, q0              // m53 = m45 & t27
    vld1.64 {d0-d1}, [r4:128]      // t22
    vand q9, q1, q0                // m59 = m38 & t22
    veor q0, q9, q5                // l1 = m59 ^ m52
    veor q10, q4, q0               // l3 = l2 ^ l1
    vld1.64 {d8-d9}, [r5:128]      // t9
    vand q1, q1, q4                // m50 = m38 & t9
    veor q0, q7, q6                // s7 = m61 ^ l19
    veor q10, q10, q3              // l4 = l3 ^ l0
    veor q4, q2, q15               // l23 = l22 ^ l11
    veor q3, q6, q3                // l21 = l19 ^ l0
    veor q1, q1, q10               // l10 = m50 ^ l4
    veor q2, q14, q1               // s5 = l13 ^ l10
    veor q14, q11, q2              // l17 = l16 ^ s5
    veor q1, q12, q1               // s6 = m53 ^ l10
    veor q5, q9, q14               // s2 = m59 ^ l17
    veor q6, q3, q14               // s1 = l21 ^ l17
    veor q3, q4, q1                // s4 = l23 ^ s6
    veor q7, q13, q10              // s0 = l5 ^ l4
    veor q4, q8, q7                // s3 = l9 ^ s0
.endm

/* SPDX-License-Identifier: MIT */
/*
 * SubBytes and InvSubBytes on eight planes in registers of 32-bit Arm cores: printed by
 * tools/gen-a32-sbox from the circuits of aes/sbox_circuit.h, whose names of gates stand at the
 * right; the NOTs are left out as there.
 *
 * Plane j (bit j of every byte) enters and leaves in r4 + j. r0-r3, r12, lr and the flags are lost.
 * Gates that must wait are stored in the EVC_SPILL_WORDS words at sp + SPILL_AT.
 */
#define EVC_SPILL_WORDS 9

.macro sub_bytes
    eor r3, r11, r5                // t3 = x0 ^ x6
    eor r2, r10, r9                // u1 = x1 ^ x2
    eor r1, r2, r4                 // t9 = u1 ^ x7
    eor r12, r11, r6               // t2 = x0 ^ x5
    eor r0, r8, r6                 // t4 = x3 ^ x5
    eor r9, r8, r1                 // t19 = x3 ^ t9
    eor lr, r0, r3                 // t13 = t4 ^ t3
    eor r7, r7, lr                 // u0 = x4 ^ t13
    eors r6, r6, r7                // t6 = x5 ^ u0
    str lr, [sp, #SPILL_AT + 0]    // t13
    str r9, [sp, #SPILL_AT + 4]    // t19
    str r6, [sp, #SPILL_AT + 8]    // t6
    str r0, [sp, #SPILL_AT + 12]   // t4
    and lr, lr, r6                 // m1 = t13 & t6
    eors r2, r2, r6                // t10 = u1 ^ t6
    eor r10, r10, r7               // t14 = x1 ^ u0
    eor r7, r10, lr                // m3 = t14 ^ m1
    eors r5, r5, r1                // t22 = x6 ^ t9
    and r9, r9, r4                 // m4 = t19 & x7
    eor r8, r8, r11                // t1 = x0 ^ x3
    eor lr, lr, r9                 // m5 = m4 ^ m1
    eor r10, r10, r8               // t15 = t1 ^ t14
    eor r9, r2, r10                // t27 = t10 ^ t15
    eors r6, r6, r4                // t8 = t6 ^ x7
    and r9, r9, r0                 // m12 = t4 & t27
    eor r0, r12, r5                // t23 = t2 ^ t22
    str r8, [sp, #SPILL_AT + 16]   // t1
    str r0, [sp, #SPILL_AT + 20]   // t23
    str r12, [sp, #SPILL_AT + 24]  // t2
    str r2, [sp, #SPILL_AT + 28]   // t10
    str r10, [sp, #SPILL_AT + 32]  // t15
    and r8, r8, r10                // m11 = t1 & t15
    ands r0, r0, r6                // m2 = t23 & t8
    eor r6, r9, r8                 // m13 = m12 ^ m11
    eor r9, r12, r2                // t24 = t2 ^ t10
    and r12, r12, r2               // m14 = t2 & t10
    eor r2, r10, r4                // t17 = t15 ^ x7
    eor r8, r8, r12                // m15 = m14 ^ m11
    and r12, r5, r1                // m7 = t22 & t9
    eor lr, lr, r9                 // m17 = m5 ^ t24
    eor r9, r1, r4                 // u1 = t9 ^ x7
    eor r9, r9, r10                // t16 = u1 ^ t15
    eor r10, r3, r9                // t26 = t3 ^ t16
    eors r0, r0, r7                // m16 = m3 ^ m2
    and r7, r3, r9                 // m6 = t3 & t16
    eor r10, r10, r7               // m8 = t26 ^ m6
    eor r12, r12, r10              // m18 = m8 ^ m7
    eor r10, r12, r6               // m22 = m18 ^ m13
    eor r12, r0, r6                // m20 = m16 ^ m13
    eor r0, r11, r9                // t25 = x0 ^ t16
    eor r6, r11, r1                // t20 = x0 ^ t9
    and r11, r6, r2                // m9 = t20 & t17
    eor lr, lr, r8                 // m21 = m17 ^ m15
    eor r7, r7, r11                // m10 = m9 ^ m6
    eor r7, r7, r8                 // m19 = m10 ^ m15
    eors r0, r0, r7                // m23 = m19 ^ t25
    eor r7, r12, lr                // m27 = m20 ^ m21
    and r8, r10, r12               // m25 = m22 & m20
    and r11, r12, r0               // m31 = m20 & m23
    and r11, r11, r7               // m32 = m27 & m31
    eor r12, r7, r8                // m33 = m27 ^ m25
    eor r12, r12, r11              // m38 = m32 ^ m33
    and r1, r1, r12                // m50 = m38 & t9
    eor r11, r0, r8                // m28 = m23 ^ m25
    and r11, r11, r7               // m29 = m28 & m27
    eor r7, lr, r11                // m37 = m21 ^ m29
    ands r2, r2, r7                // m51 = m37 & t17
    eor r11, r10, r0               // m24 = m22 ^ m23
    and r10, r10, lr               // m34 = m21 & m22
    and r10, r10, r11              // m35 = m24 & m34
    eor lr, lr, r8                 // m26 = m21 ^ m25
    and lr, lr, r11                // m30 = m26 & m24
    eor r8, r8, r11                // m36 = m24 ^ m25
    eor r11, r7, r12               // m43 = m37 ^ m38
    and r9, r9, r11                // m49 = m43 & t16
    and r11, r11, r3               // m58 = m43 & t3
    eor r10, r10, r8               // m40 = m35 ^ m36
    eor r2, r2, r9                 // l14 = m51 ^ m49
    and r5, r5, r12                // m59 = m38 & t22
    eor r0, r0, lr                 // m39 = m23 ^ m30
    eor r8, r0, r10                // m44 = m39 ^ m40
    eor r1, r1, r9                 // l1 = m50 ^ m49
    ldr r3, [sp, #SPILL_AT + 8]    // t6
    and r9, r8, r3                 // m46 = m44 & t6
    eors r3, r3, r4                // t8 = t6 ^ x7
    and r3, r3, r10                // m47 = m40 & t8
    ands r6, r6, r7                // m60 = m37 & t20
    ands r4, r4, r0                // m48 = m39 & x7
    eor lr, r3, r9                 // l2 = m47 ^ m46
    eors r7, r7, r0                // m42 = m37 ^ m39
    ldr r3, [sp, #SPILL_AT + 16]   // t1
    ands r3, r3, r7                // m61 = m42 & t1
    eor r4, r4, r9                 // l10 = m48 ^ m46
    eor r9, r12, r10               // m41 = m38 ^ m40
    ldr r12, [sp, #SPILL_AT + 0]   // t13
    and r12, r12, r8               // m55 = m44 & t13
    eor r12, r12, r3               // l4 = m55 ^ m61
    eor r8, r7, r9                 // m45 = m42 ^ m41
    eors r2, r2, r4                // l15 = l14 ^ l10
    eor r3, r3, r11                // l11 = m58 ^ m61
    eors r6, r6, r3                // l16 = m60 ^ l11
    ldr r11, [sp, #SPILL_AT + 20]  // t23
    and r11, r11, r10              // m56 = m40 & t23
    ldr r10, [sp, #SPILL_AT + 12]  // t4
    and r10, r10, r8               // m62 = m45 & t4
    eor r11, r11, r10              // l0 = m56 ^ m62
    eor r5, r5, r10                // l18 = m59 ^ m62
    eors r5, r5, r3                // l19 = l11 ^ l18
    ldr r10, [sp, #SPILL_AT + 4]   // t19
    and r0, r0, r10                // m57 = m39 & t19
    eor r3, r12, r11               // l5 = l4 ^ l0
    ldr r12, [sp, #SPILL_AT + 32]  // t15
    and r7, r7, r12                // m52 = m42 & t15
    eor r0, r0, r11                // l22 = m57 ^ l0
    ldr r11, [sp, #SPILL_AT + 28]  // t10
    and r10, r9, r11               // m54 = m41 & t10
    eor r4, r4, r10                // l12 = m54 ^ l10
    eor r10, lr, r1                // l3 = l2 ^ l1
    eor lr, r11, r12               // t27 = t10 ^ t15
    and r8, r8, lr                 // m53 = m45 & t27
    eor r1, r1, r8                 // l7 = m53 ^ l1
    ldr r12, [sp, #SPILL_AT + 24]  // t2
    and lr, r9, r12                // m63 = m41 & t2
    eor r9, r4, r1                 // l13 = l12 ^ l7
    eor r12, r6, r9                // l17 = l16 ^ l13
    eors r7, r7, r1                // l8 = m52 ^ l7
    eor r11, r3, r7                // s0 = l5 ^ l8
    eor r8, r10, r3                // s3 = l3 ^ l5
    eor r6, r0, r12                // s5 = l22 ^ l17
    eor r1, lr, r7                 // l21 = m63 ^ l8
    eor r7, r2, r8                 // s4 = l15 ^ s3
    eor r10, r10, r11              // s1 = l3 ^ s0
    eor r4, r2, r5                 // s7 = l15 ^ l19
    eor r5, r9, r4                 // s6 = l13 ^ s7
    eor r9, r1, r12                // s2 = l21 ^ l17
.endm

.macro inv_sub_bytes
    eor r3, r7, r4                 // t24 = x4 ^ x7
    eor r2, r8, r3                 // t9 = x3 ^ t24
    eor r1, r5, r2                 // t3 = x6 ^ t9
    eor r12, r8, r7                // t1 = x3 ^ x4
    eor r4, r11, r8                // t23 = x0 ^ x3
    eor r7, r9, r12                // t25 = x2 ^ t1
    eor r0, r10, r8                // t22 = x1 ^ x3
    eor lr, r0, r1                 // t20 = t22 ^ t3
    and r8, r0, r2                 // m7 = t22 & t9
    str r0, [sp, #SPILL_AT + 0]    // t22
    str r2, [sp, #SPILL_AT + 4]    // t9
    eor r0, r11, r10               // t2 = x0 ^ x1
    eor r10, r10, r4               // t8 = x1 ^ t23
    eor r11, r11, r6               // u0 = x0 ^ x5
    eor r7, r7, lr                 // t17 = t25 ^ t20
    eors r2, r2, r7                // t16 = t9 ^ t17
    eor r6, r5, r7                 // t26 = x6 ^ t17
    eor r5, r0, r12                // t4 = t2 ^ t1
    str r2, [sp, #SPILL_AT + 8]    // t16
    str r4, [sp, #SPILL_AT + 12]   // t23
    str r10, [sp, #SPILL_AT + 16]  // t8
    str r1, [sp, #SPILL_AT + 20]   // t3
    ands r2, r2, r1                // m6 = t3 & t16
    and r4, r4, r10                // m2 = t23 & t8
    eors r6, r6, r2                // m8 = t26 ^ m6
    eor r9, r9, r11                // y5 = x2 ^ u0
    eor r10, r10, r9               // t6 = t8 ^ y5
    eors r1, r1, r5                // t13 = t4 ^ t3
    eor r6, r6, r8                 // m18 = m8 ^ m7
    eor r8, r12, lr                // t19 = t1 ^ t20
    and r1, r1, r10                // m1 = t13 & t6
    str r10, [sp, #SPILL_AT + 24]  // t6
    eor r10, r11, r8               // t15 = u0 ^ t19
    eor r11, r11, lr               // t14 = u0 ^ t20
    and r8, r8, r9                 // m4 = t19 & y5
    eor r11, r11, r1               // m3 = t14 ^ m1
    eor r1, r1, r8                 // m5 = m4 ^ m1
    eors r1, r1, r3                // m17 = m5 ^ t24
    eor r11, r11, r4               // m16 = m3 ^ m2
    and r8, lr, r7                 // m9 = t20 & t17
    eor r4, r0, r3                 // t10 = t2 ^ t24
    ands r0, r0, r4                // m14 = t2 & t10
    eor r3, r4, r10                // t27 = t10 ^ t15
    eor r2, r2, r8                 // m10 = m9 ^ m6
    and r8, r12, r10               // m11 = t1 & t15
    eor r0, r0, r8                 // m15 = m14 ^ m11
    str r3, [sp, #SPILL_AT + 28]   // t27
    ands r3, r3, r5                // m12 = t4 & t27
    eor r3, r3, r8                 // m13 = m12 ^ m11
    eor r8, r2, r0                 // m19 = m10 ^ m15
    eors r6, r6, r3                // m22 = m18 ^ m13
    eor r11, r11, r3               // m20 = m16 ^ m13
    eors r1, r1, r0                // m21 = m17 ^ m15
    and r2, r6, r11                // m25 = m22 & m20
    eor r3, r7, lr                 // t25 = t17 ^ t20
    eor r0, r8, r3                 // m23 = m19 ^ t25
    and r3, r11, r0                // m31 = m20 & m23
    eor r8, r0, r2                 // m28 = m23 ^ m25
    eor r11, r11, r1               // m27 = m20 ^ m21
    and r3, r3, r11                // m32 = m27 & m31
    and r8, r8, r11                // m29 = m28 & m27
    eor r8, r8, r1                 // m37 = m21 ^ m29
    and r7, r7, r8                 // m51 = m37 & t17
    eor r11, r11, r2               // m33 = m27 ^ m25
    eor r3, r3, r11                // m38 = m32 ^ m33
    and r11, r1, r6                // m34 = m21 & m22
    eors r1, r1, r2                // m26 = m21 ^ m25
    eors r6, r6, r0                // m24 = m22 ^ m23
    eors r2, r2, r6                // m36 = m24 ^ m25
    ands r1, r1, r6                // m30 = m26 & m24
    eors r0, r0, r1                // m39 = m23 ^ m30
    and r1, r0, r9                 // m48 = m39 & y5
    eors r1, r1, r7                // l8 = m48 ^ m51
    eor r9, r12, lr                // t19 = t1 ^ t20
    and r9, r9, r0                 // m57 = m39 & t19
    and r11, r11, r6               // m35 = m24 & m34
    eor r11, r11, r2               // m40 = m35 ^ m36
    eor r6, r3, r11                // m41 = m38 ^ m40
    and r2, r6, r4                 // m54 = m41 & t10
    and r4, r8, lr                 // m60 = m37 & t20
    eor lr, r8, r0                 // m42 = m37 ^ m39
    and r10, r10, lr               // m52 = m42 & t15
    eors r2, r2, r7                // l5 = m54 ^ m51
    eor r7, r5, r12                // t2 = t4 ^ t1
    ands r7, r7, r6                // m63 = m41 & t2
    eor r8, r8, r3                 // m43 = m37 ^ m38
    eor r7, r7, r9                 // l18 = m63 ^ m57
    eor r6, r6, lr                 // m45 = m42 ^ m41
    eor r9, r9, r4                 // l15 = m60 ^ m57
    eor r0, r0, r11                // m44 = m39 ^ m40
    and r4, lr, r12                // m61 = m42 & t1
    ldr r12, [sp, #SPILL_AT + 8]   // t16
    ldr lr, [sp, #SPILL_AT + 20]   // t3
    and r12, r12, r8               // m49 = m43 & t16
    and r8, r8, lr                 // m58 = m43 & t3
    eor lr, lr, r5                 // t13 = t4 ^ t3
    and lr, lr, r0                 // m55 = m44 & t13
    ands r5, r5, r6                // m62 = m45 & t4
    eor lr, lr, r7                 // l19 = m55 ^ l18
    eors r7, r7, r5                // l22 = l18 ^ m62
    eor r5, r5, r8                 // l0 = m58 ^ m62
    ldr r8, [sp, #SPILL_AT + 24]   // t6
    and r0, r0, r8                 // m46 = m44 & t6
    eor r0, r0, r12                // l7 = m46 ^ m49
    ldr r8, [sp, #SPILL_AT + 28]   // t27
    and r6, r6, r8                 // m53 = m45 & t27
    eor r8, r12, r4                // l2 = m49 ^ m61
    eor r12, lr, r5                // l21 = l19 ^ l0
    eor r4, r4, lr                 // s7 = m61 ^ l19
    eors r1, r1, r0                // l9 = l8 ^ l7
    ldr lr, [sp, #SPILL_AT + 0]    // t22
    and lr, lr, r3                 // m59 = m38 & t22
    eor r10, r10, lr               // l1 = m59 ^ m52
    eor r10, r10, r8               // l3 = l2 ^ l1
    ldr r8, [sp, #SPILL_AT + 12]   // t23
    and r8, r8, r11                // m56 = m40 & t23
    eor r5, r5, r10                // l4 = l3 ^ l0
    eor r10, r8, r1                // l11 = m56 ^ l9
    ldr r8, [sp, #SPILL_AT + 16]   // t8
    and r8, r8, r11                // m47 = m40 & t8
    eor r9, r9, r10                // l16 = l15 ^ l11
    ldr r11, [sp, #SPILL_AT + 4]   // t9
    and r3, r3, r11                // m50 = m38 & t9
    eors r3, r3, r5                // l10 = m50 ^ l4
    eor r11, r2, r5                // s0 = l5 ^ l4
    eor r5, r6, r3                 // s6 = m53 ^ l10
    eor r6, r8, r2                 // l12 = m47 ^ l5
    eor r7, r7, r10                // l23 = l22 ^ l11
    eor r2, r6, r0                 // l13 = l12 ^ l7
    eor r8, r1, r11                // s3 = l9 ^ s0
    eor r6, r2, r3                 // s5 = l13 ^ l10
    eor r3, r9, r6                 // l17 = l16 ^ s5
    eors r7, r7, r5                // s4 = l23 ^ s6
    eor r10, r12, r3               // s1 = l21 ^ l17
    eor r9, lr, r3                 // s2 = m59 ^ l17
.endm

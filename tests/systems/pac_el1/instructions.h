/* SPDX-License-Identifier: MIT */
/*
 * The instructions of pointer authentication, by the names and operands of the Arm Architecture
 * Reference Manual (DDI 0487), C6.2, what they do, with which key, and how they are run for an
 * operand x and a modifier y:
 *
 *   I(name, ADD | AUTH | STRIP | GENERIC | LOAD | JUMP, key, before, instruction, after)
 *
 * x arrives in x0 and y in x1; the result leaves in x0. `after` is also where execution goes
 * on behind a fault or a branch; the stack pointer, which some of them take for their
 * modifier, is restored there.
 */
#ifndef PAC_EL1_INSTRUCTIONS_H
#define PAC_EL1_INSTRUCTIONS_H

/* Moves operands to the registers that instructions of the hint space use. */
#define TO_1716 "mov x17, x0\n mov x16, x1"
#define OF_1716 "mov x0, x17"
#define TO_LR "mov x30, x0"
#define TO_LR_SP "mov x30, x0\n mov sp, x1"
#define OF_LR "mov x0, x30"
/* This level on its own stack, all masked. */
#define TO_ELR_SP \
    "msr elr_el1, x0\n mrs x2, currentel\n add x2, x2, #0x3c1\n msr spsr_el1, x2\n mov sp, x1"

/* ADD, AUTH, STRIP: an address in, an address out. LOAD: the result is the address that was written
 * back. JUMP: 1 of those that arrive. */
#define INSTRUCTIONS(I)                                   \
    I(pacia, ADD, IA, "", "pacia x0, x1", "")             \
    I(pacib, ADD, IB, "", "pacib x0, x1", "")             \
    I(pacda, ADD, DA, "", "pacda x0, x1", "")             \
    I(pacdb, ADD, DB, "", "pacdb x0, x1", "")             \
    I(autia, AUTH, IA, "", "autia x0, x1", "")            \
    I(autib, AUTH, IB, "", "autib x0, x1", "")            \
    I(autda, AUTH, DA, "", "autda x0, x1", "")            \
    I(autdb, AUTH, DB, "", "autdb x0, x1", "")            \
    I(xpaci, STRIP, IA, "", "xpaci x0", "")               \
    I(xpacd, STRIP, DA, "", "xpacd x0", "")               \
    I(pacga, GENERIC, GA, "", "pacga x0, x0, x1", "")     \
    /* Modifier zero; y is not looked at. */              \
    I(paciza, ADD, IA, "", "paciza x0", "")               \
    I(pacizb, ADD, IB, "", "pacizb x0", "")               \
    I(pacdza, ADD, DA, "", "pacdza x0", "")               \
    I(pacdzb, ADD, DB, "", "pacdzb x0", "")               \
    I(autiza, AUTH, IA, "", "autiza x0", "")              \
    I(autizb, AUTH, IB, "", "autizb x0", "")              \
    I(autdza, AUTH, DA, "", "autdza x0", "")              \
    I(autdzb, AUTH, DB, "", "autdzb x0", "")              \
    I(paciaz, ADD, IA, TO_LR, "paciaz", OF_LR)            \
    I(pacibz, ADD, IB, TO_LR, "pacibz", OF_LR)            \
    I(autiaz, AUTH, IA, TO_LR, "autiaz", OF_LR)           \
    I(autibz, AUTH, IB, TO_LR, "autibz", OF_LR)           \
    I(xpaclri, STRIP, IA, TO_LR, "xpaclri", OF_LR)        \
    /* Modifier x16, or the stack pointer. */             \
    I(pacia1716, ADD, IA, TO_1716, "pacia1716", OF_1716)  \
    I(pacib1716, ADD, IB, TO_1716, "pacib1716", OF_1716)  \
    I(autia1716, AUTH, IA, TO_1716, "autia1716", OF_1716) \
    I(autib1716, AUTH, IB, TO_1716, "autib1716", OF_1716) \
    I(paciasp, ADD, IA, TO_LR_SP, "paciasp", OF_LR)       \
    I(pacibsp, ADD, IB, TO_LR_SP, "pacibsp", OF_LR)       \
    I(autiasp, AUTH, IA, TO_LR_SP, "autiasp", OF_LR)      \
    I(autibsp, AUTH, IB, TO_LR_SP, "autibsp", OF_LR)      \
    /* Those that also use what they authenticate. */     \
    I(ldraa, LOAD, DA, "", "ldraa x2, [x0]!", "")         \
    I(ldrab, LOAD, DB, "", "ldrab x2, [x0]!", "")         \
    I(braaz, JUMP, IA, "", "braaz x0", "")                \
    I(brabz, JUMP, IB, "", "brabz x0", "")                \
    I(blraaz, JUMP, IA, "", "blraaz x0", "")              \
    I(blrabz, JUMP, IB, "", "blrabz x0", "")              \
    I(braa, JUMP, IA, "", "braa x0, x1", "")              \
    I(brab, JUMP, IB, "", "brab x0, x1", "")              \
    I(blraa, JUMP, IA, "", "blraa x0, x1", "")            \
    I(blrab, JUMP, IB, "", "blrab x0, x1", "")            \
    I(retaa, JUMP, IA, TO_LR_SP, "retaa", "")             \
    I(retab, JUMP, IB, TO_LR_SP, "retab", "")             \
    I(eretaa, JUMP, IA, TO_ELR_SP, "eretaa", "")          \
    I(eretab, JUMP, IB, TO_ELR_SP, "eretab", "")

#endif

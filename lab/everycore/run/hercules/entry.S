/* SPDX-License-Identifier: MIT */
/*
 * The first page of memory, which the CPU reads at interruptions, and what runs between these and
 * supervisor.c. Interruptions switch address translation off: a page has the same address then.
 * Source: z/Architecture Principles of Operation, SA22-7832-12, chapter 3, "Assigned storage
 * locations".
 */
#define SVC_OLD_PSW 0x140
#define PROGRAM_OLD_PSW 0x150
#define NEXT_PSW 0x300
#define FRAME 0x400          /* struct frame */
#define FRAME_PSW 0x480
#define WITHOUT_TRANSLATION 0x0000000180000000
#define WAIT 0x0002000180000000

    .section .low, "ax"
    .org 0x1a0
    .quad WITHOUT_TRANSLATION, start        /* restart */
    .quad WAIT, 0xbad1                      /* external */
    .quad WITHOUT_TRANSLATION, svc_entry    /* supervisor call */
    .quad WITHOUT_TRANSLATION, fault_entry  /* program */
    .quad WAIT, 0xbad2                      /* machine check */
    .quad WAIT, 0xbad3                      /* input, output */
    .org 0x2000

    .text
    .globl start
start:
    larl %r1, control_0
    lctlg %c0, %c0, 0(%r1)
    larl %r15, stack
    brasl %r14, supervisor_start

/* The program goes on where the frame says. */
go_on:
    mvc NEXT_PSW(16), FRAME_PSW
    lmg %r0, %r15, FRAME
    lpswe NEXT_PSW

svc_entry:
    stmg %r0, %r15, FRAME
    mvc FRAME_PSW(16), SVC_OLD_PSW
    larl %r15, stack
    brasl %r14, supervisor_call
    j go_on

fault_entry:
    stmg %r0, %r15, FRAME
    mvc FRAME_PSW(16), PROGRAM_OLD_PSW
    larl %r15, stack
    brasl %r14, supervisor_fault
    j go_on

/* supervisor_halt(address): a disabled wait there. */
    .globl supervisor_halt
supervisor_halt:
    larl %r3, wait
    stg %r2, 8(%r3)
    lpswe 0(%r3)

/* supervisor_translate(asce): the table of segments. */
    .globl supervisor_translate
supervisor_translate:
    larl %r3, control_1
    stg %r2, 0(%r3)
    lctlg %c1, %c1, 0(%r3)
    ptlb
    br %r14

    .data
    .balign 16
wait:
    .quad WAIT, 0
control_1:
    .quad 0
control_0:
    .quad 0x40000           /* registers of floating point 4 to 15 and others may be used */

    .bss
    .balign 16
    .skip 32768
stack:
    .skip 160
    .section .note.GNU-stack, "", @progbits

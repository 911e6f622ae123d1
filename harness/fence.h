/* SPDX-License-Identifier: MIT */
/*
 * The fence between messages: nothing younger begins before all that is older is done, so that the
 * latency of one message shows. HAVE_FENCE 0: none is known for this architecture.
 *
 * Source: x86: see counters/tsc.c. Arm: Architecture Reference Manual DDI 0487 B2.3, DSB and ISB.
 * RISC-V: unprivileged ISA, FENCE and FENCE.I. Power ISA 3.1 book II, sync and isync. s390x:
 * Principles of Operation, "CPU serialization", BCR 15,0.
 */
#ifndef HARNESS_FENCE_H
#define HARNESS_FENCE_H

#define HAVE_FENCE 1

#if defined(__x86_64__) || defined(__SSE2__)
#define FENCE() __asm__ volatile("lfence" : : : "memory")
#elif defined(__aarch64__) || (defined(__ARM_ARCH) && __ARM_ARCH >= 7)
#define FENCE() __asm__ volatile("dsb sy\n\tisb" : : : "memory")
#elif defined(__riscv) && defined(__linux__)
#define FENCE() __asm__ volatile("fence rw, rw\n\t.insn i 0x0f, 1, x0, x0, 0" : : : "memory")
#elif defined(__powerpc__)
#define FENCE() __asm__ volatile("sync\n\tisync" : : : "memory")
#elif defined(__s390x__)
#define FENCE() __asm__ volatile("bcr 15, 0" : : : "memory")
#else
#undef HAVE_FENCE
#define HAVE_FENCE 0
#define FENCE() ((void)0)
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* The CPU's own level of privilege, as firmware leaves it: cpu_x86.c and cpu_a64.c, with assembly
 * in cpu_x86.S and cpu_a64.S. */
#ifndef HARNESS_UEFI_CPU_H
#define HARNESS_UEFI_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Variables that stay as they are from one command of the harness to the next;
 * all others begin anew. */
#define KEPT __attribute__((section(".bss..kept")))

/* Interrupts off; returns what cpu_interrupts() takes to put them back. */
uint64_t cpu_without_interrupts(void);
void cpu_interrupts(uint64_t before);

/* Make the state of vector registers usable that this CPU has; cpu_restore_state() puts back what
 * firmware had, and the cycle counter too. Returns words for people: what is usable now. */
const char *cpu_enable_state(bool leave);
void cpu_restore_state(void);

/* A count of constant rate, and its rate in Hz as the CPU tells it; 0: it tells nothing. */
uint64_t cpu_ticks(void);
uint64_t cpu_ticks_per_second(void);

/* Between the two, faults of memory accesses and instructions return to
 * bare_mark(cpu_after_fault) with 1. */
struct bare_place;
extern struct bare_place *cpu_after_fault;
void cpu_catch_faults(void);
void cpu_leave_faults(void);

/* Take a page away from all accesses by the tables of the CPU, or give it back; new tables are made
 * of pages from `page`. NULL, or the reason why that is not possible. */
const char *cpu_hide_page(uintptr_t address, bool hide, void *(*page)(void));

/* Facts for the line that describes the machine, by emit.h. */
void cpu_describe(void);

#endif

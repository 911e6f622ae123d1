/* SPDX-License-Identifier: MIT */
/* The program under ptrace: one process with one thread. What cannot be done ends in fail(). */
#ifndef EVERYCORE_TRACEE_H
#define EVERYCORE_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum { PAGE = 4096, MAPS_BYTES = 1 << 22 };

extern int memory;                  /* /proc/PID/mem */
extern struct user_regs_struct cpu; /* as it was when the program last stopped, or as changed */
extern bool changed;                /* cpu is newer than the program's registers */
extern bool pending;                /* the stop at cpu.rip is recorded and not yet executed */

/* Start it, up to its first instruction, with its standard output in a file. */
void start(const char *output, char **argv);

/* /proc/PID/maps, of MAPS_BYTES at most. */
size_t read_maps(char *text);

/* Go on until a HLT of ours: a SIGSEGV at which it has `arrived`. Other signals are its own. */
void run_until(bool (*arrived)(uint64_t where), uint64_t where);

/* Run until `address` is next. */
void run_to(uint64_t address);

/* Do one instruction. */
void step(void);

/* The program is at `pc`, and what led there is done. */
void be_at(uint64_t pc);

/* The code of the page with that address, without our HLT; NULL: nothing is there. */
const uint8_t *page_at(uint64_t address);

void write_code(uint64_t address, const void *code, size_t n);

/* Have it make a system call, and return the result. */
uint64_t call_kernel(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/* Whether the program may read this byte. */
bool is_readable(uint64_t address);

/* The vector registers: XSAVE's area. */
void read_vectors(void *area, size_t bytes);

#endif

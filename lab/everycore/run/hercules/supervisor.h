// SPDX-License-Identifier: MIT
/* Names that the files of the supervisor share. */
#ifndef SUPERVISOR_H
#define SUPERVISOR_H

#include <stddef.h>
#include <stdint.h>

void *memset(void *to, int byte, size_t n);
void *memcpy(void *to, const void *from, size_t n);

/* The program's registers, and where it goes on. */
struct frame {
    uint64_t r[16], psw_mask, psw_at;
};

static struct frame *const frame = (void *)0x400;

/* To the program's error stream. */
void print_text(const char *text);

/* Whether the program may read and write all of these bytes. */
int is_accessible(uint64_t address, uint64_t n_bytes);

/* An instruction that the CPU does not know, 4 bytes long, has just been met: */
enum modelled {
    NO_MODEL,    // and nobody knows it
    DONE,        // it has been executed
    BAD_OPERAND, // a specification exception
    NO_ACCESS    // an access exception
};

/* seed: of the numbers that decide where KMA is interrupted; 0: nowhere. */
enum modelled execute_z14(uint32_t instruction, uint64_t seed);

#endif

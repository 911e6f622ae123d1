/* SPDX-License-Identifier: MIT */
/* Functions of start.c, for a program without an operating system. */
#ifndef CORTEX_M_START_H
#define CORTEX_M_START_H

#include <stddef.h>
#include <stdint.h>

void print(const char *text);
void print_number(uint32_t number);

/* Fills the stack below the caller with a pattern. stack_bytes() then tells how far below `frame`
 * calls have written to it. At most 16 KiB are looked at. */
void paint_stack(void);
uint32_t stack_bytes(const void *frame);

void *memset(void *to, int byte, size_t n_bytes);
void *memcpy(void *to, const void *from, size_t n_bytes);
void *memmove(void *to, const void *from, size_t n_bytes);
int memcmp(const void *left, const void *right, size_t n_bytes);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef BARE_STDLIB_H
#define BARE_STDLIB_H

#include <stddef.h>

unsigned long long strtoull(const char *restrict s, char **restrict end, int base);
_Noreturn void exit(int code);
void *malloc(size_t n_bytes);
void *aligned_alloc(size_t alignment, size_t n_bytes);
void free(void *p);

#endif

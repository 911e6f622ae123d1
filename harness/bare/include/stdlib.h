/* SPDX-License-Identifier: MIT */
#ifndef BARE_STDLIB_H
#define BARE_STDLIB_H

#include <stddef.h>

unsigned long long strtoull(const char *restrict s, char **restrict end, int base);
void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *));
_Noreturn void exit(int code);
void *malloc(size_t n_bytes);
void *aligned_alloc(size_t alignment, size_t n_bytes);
void free(void *p);

#endif

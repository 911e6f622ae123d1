/* SPDX-License-Identifier: MIT */
#ifndef BARE_STDLIB_H
#define BARE_STDLIB_H

#include <stddef.h>

unsigned long strtoul(const char *restrict s, char **restrict end, int base);
unsigned long long strtoull(const char *restrict s, char **restrict end, int base);
int atoi(const char *s);
long atol(const char *s);
double atof(const char *s); /* of a whole number */
void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *));
_Noreturn void exit(int code);
_Noreturn void abort(void);
void *malloc(size_t n_bytes);
void *aligned_alloc(size_t alignment, size_t n_bytes);
void free(void *p);

#endif

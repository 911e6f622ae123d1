/* SPDX-License-Identifier: MIT */
#ifndef BARE_STDLIB_H
#define BARE_STDLIB_H

#include <stddef.h>

unsigned long long strtoull(const char *restrict s, char **restrict end, int base);
_Noreturn void exit(int code);

#endif

/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define G_NORETURN __attribute__((noreturn))
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define unlikely(x) __builtin_expect(!!(x), 0)
#define likely(x) __builtin_expect(!!(x), 1)

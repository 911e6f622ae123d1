/* SPDX-License-Identifier: MIT */
#ifndef BARE_INTTYPES_H
#define BARE_INTTYPES_H

#include <stdint.h>

/* libc.c prints as many bits as the l says. */
#if __SIZEOF_LONG__ == 8
#define PRId64 "ld"
#define PRIu64 "lu"
#else
#define PRId64 "lld"
#define PRIu64 "llu"
#endif

#endif

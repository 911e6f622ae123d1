/* SPDX-License-Identifier: MIT */
/* Empty, and in a file of their own, so that no compiler moves anything across a call of them. */
#include "ct_marks.h"

#if defined(__GNUC__)
#define KEPT __attribute__((noinline, used)) /* in link-time optimization too */
#define NOTHING __asm__ volatile("" ::: "memory")
#else
#define KEPT
#define NOTHING (void)0
#endif

KEPT void ct_begin(void)
{
    NOTHING;
}

KEPT void ct_end(void)
{
    NOTHING;
}

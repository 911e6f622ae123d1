/* SPDX-License-Identifier: MIT */
/* Right, or broken in the way that a macro says. */
#include <stddef.h>
#include <stdint.h>
#ifdef ABSENT
#include "absent.h"
#endif

void theirs_copy(uint8_t *out, const uint8_t *in, size_t n_bytes);
unsigned sleep(unsigned seconds);

void theirs_copy(uint8_t *out, const uint8_t *in, size_t n_bytes)
{
    volatile uint8_t *to = out;

#ifdef BROKEN
    int refused = ;
#endif
#ifdef CRASH
    *(volatile int *)8 = 1;
#endif
#ifdef ILLEGAL
    __builtin_trap();
#endif
#ifdef LOOP /* costs tests no time of the CPU */
    for (;;)
        sleep(1);
#endif
    for (size_t i = 0; i < n_bytes; i++)
        to[i] = in[i];
#ifdef WRONG
    to[n_bytes / 2] ^= 1;
#endif
#ifdef LATE /* right in a check, and not when it is called often */
    static unsigned calls;
    if (++calls > 1000)
        *(volatile int *)8 = 1;
#endif
#ifdef SHIFTS
    volatile int one = 1;
    one = one << (31 + one);
#endif
}

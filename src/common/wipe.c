/* SPDX-License-Identifier: MIT */
/* Zeroising. */
#include "common/bytes.h"
#include "everycore/everycore.h"

void evc_wipe(void *p, size_t len_bytes)
{
    memset(p, 0, len_bytes);
#if defined(__GNUC__)
    /* The memory is an input of this empty statement, so the stores are not dead. */
    __asm__ volatile("" : : "r"(p) : "memory");
#else
    for (volatile uint8_t *v = p; len_bytes; len_bytes--)
        *v++ = 0;
#endif
}

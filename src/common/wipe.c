/* SPDX-License-Identifier: MIT */
/* Zeroising. */
#include "common/bytes.h"
#include "everycore/everycore.h"

/* Up to here by stores of words: C libraries zeroise short pieces by one masked
 * store of a whole vector.
 * The registers that a function has saved beside its block then cannot be read back
 * before that store has left the core, and of messages back to back none begins before
 * the one before it has ended. */
#define SHORT_BYTES 64

void evc_wipe(void *p, size_t len_bytes)
{
#if EVC_GNU_C
    uint8_t *to = p;

    if (len_bytes > SHORT_BYTES) {
        memset(p, 0, len_bytes);
        len_bytes = 0;
    }
    /* The memory is an input of these empty statements, so the stores are not dead, nor a call of
     * memset after all. */
    for (; len_bytes >= 8; to += 8, len_bytes -= 8) {
        evc_store64_ne(to, 0);
        __asm__ volatile("" : : "r"(to) : "memory");
    }
    for (; len_bytes; to++, len_bytes--) {
        *to = 0;
        __asm__ volatile("" : : "r"(to) : "memory");
    }
    __asm__ volatile("" : : "r"(p) : "memory");
#else
    for (volatile uint8_t *v = p; len_bytes; len_bytes--)
        *v++ = 0;
#endif
}

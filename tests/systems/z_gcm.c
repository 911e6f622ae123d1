/* SPDX-License-Identifier: MIT */
/*
 * GCM by KMA on Hercules: lines "call bytes instructions", of public calls with 13 bytes of
 * associated data and a tag of 16. The instructions are those between two marks less those of
 * nothing between them, KMA among them, and what passes ten arguments.
 */
#include <stdint.h>
#include <stdio.h>

#include "everycore/gcm.h"

#include "gcm/kernel.h"

#define MOST 4096

static uint8_t text[MOST], iv[12], aad[13], tag[16], user_key[32];
static union evc_gcm_key key;

#define BEGIN() __asm__ volatile("lghi %%r1, 5000\n svc 0" : : : "1", "2", "cc", "memory")
#define END(to)                                                                         \
    do {                                                                                \
        register uint64_t *r2 __asm__("2") = (to);                                      \
        __asm__ volatile("lghi %%r1, 5001\n svc 0" : "+d"(r2) : : "1", "cc", "memory"); \
    } while (0)

static void count(size_t n_bytes)
{
    uint64_t none[2], sealed[2], opened[2];
    int bad = 0;

    BEGIN();
    END(none);
    BEGIN();
    bad |= evc_gcm_seal(&key, iv, 12, aad, 13, text, text, n_bytes, tag, 16);
    END(sealed);
    BEGIN();
    bad |= evc_gcm_open(&key, iv, 12, aad, 13, text, text, n_bytes, tag, 16);
    END(opened);
    for (size_t i = 0; i < n_bytes; i++)
        bad |= text[i];
    printf("seal %u %u\nopen %u %u\n", (unsigned)n_bytes, (unsigned)(sealed[0] - none[0]),
           (unsigned)n_bytes, (unsigned)(opened[0] - none[0]));
    if (bad)
        printf("differs: %u bytes\n", (unsigned)n_bytes);
}

int main(void)
{
    if (evc_gcm_set_key(&key, &evc_gcm_s390x_kma, user_key, 256) != EVC_OK)
        return 1;
    count(1);
    count(64);
    count(MOST);
    return 0;
}

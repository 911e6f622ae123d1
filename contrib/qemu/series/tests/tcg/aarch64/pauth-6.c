/* SPDX-License-Identifier: MIT OR GPL-2.0-or-later */
/*
 * Sign and authenticate many pointers, some of them again, under keys that
 * change: with -cpu max,pauth=check the emulator compares every code.
 */
#include <assert.h>
#include <stdint.h>
#include <sys/prctl.h>

#ifndef PR_PAC_RESET_KEYS
#define PR_PAC_RESET_KEYS 54
#endif

#define POINTERS 600
#define ROUNDS 3
#define KEYS 4

static char memory[POINTERS * 16];

static void sign_and_authenticate(uint64_t plain, uint64_t modifier)
{
    uint64_t signed_twice[2], got;

    for (int i = 0; i < 2; i++) {
        signed_twice[i] = plain;
        asm volatile("pacia %0, %1" : "+r"(signed_twice[i]) : "r"(modifier));
    }
    assert(signed_twice[0] == signed_twice[1]);
    got = signed_twice[0];
    asm volatile("autia %0, %1" : "+r"(got) : "r"(modifier));
    assert(got == plain);
    got = plain;
    asm volatile("pacdb %0, %1\n\tautdb %0, %1" : "+r"(got) : "r"(modifier));
    assert(got == plain);
}

int main(void)
{
    uint64_t generic = 0;

    for (int key = 0; key < KEYS; key++) {
        prctl(PR_PAC_RESET_KEYS, 0, 0, 0, 0);
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < POINTERS; i++) {
                uint64_t plain = (uintptr_t)&memory[16 * i];
                uint64_t modifier = (uintptr_t)&generic - 48 * (i % 37);

                sign_and_authenticate(plain, modifier);
                asm volatile("pacga %0, %1, %2"
                             : "=r"(generic) : "r"(plain), "r"(generic));
                assert((uint32_t)generic == 0);
            }
        }
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A canary that one thread leaks, used against another thread: docs/guides/stack-canaries.md,
 * "Canaries of their own for threads".
 *
 * A thread shows the canary of a frame of its own, as a fault that reads too far would. The main
 * thread then overflows an array by exactly the word behind it, with that canary. If all threads
 * have the same guard, nobody notices. With PER_TASK=1 each thread fills its own guard, a
 * thread-local variable, and the overflow ends the program.
 *
 * For AArch64, Linux and GCC; the offset of `guard` is that of the first thread-local variable:
 *
 *   aarch64-linux-gnu-gcc -O2 -fstack-protector-all -DPER_TASK=1 -mstack-protector-guard=sysreg \
 *       -mstack-protector-guard-reg=tpidr_el0 -mstack-protector-guard-offset=16 \
 *       two_threads.c -o two_threads
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define UNPROTECTED __attribute__((no_stack_protector, noipa)) /* its guard changes while it runs */
#define PROTECTED __attribute__((noipa))
#define ARRAY_BYTES 16

#if PER_TASK
static __thread uint64_t guard __attribute__((used));
#endif

static UNPROTECTED void fill_guard(void)
{
#if PER_TASK
    if (getrandom(&guard, sizeof guard, 0) != (ssize_t)sizeof guard)
        abort();
#endif
}

/* The word behind an array, which is the canary of this frame. */
static PROTECTED uint64_t leak(void)
{
    char array[ARRAY_BYTES];
    char *volatile end = array + ARRAY_BYTES; /* volatile: the compiler does not see the overflow */
    uint64_t canary;

    memcpy(&canary, end, sizeof canary);
    return canary;
}

static PROTECTED void overflow(uint64_t canary)
{
    char array[ARRAY_BYTES];
    char *volatile end = array + ARRAY_BYTES;

    memcpy(end, &canary, sizeof canary);
    __asm__ volatile("" : : "r"(array) : "memory"); /* the bytes are used */
}

static UNPROTECTED void *other_thread(void *canary)
{
    fill_guard();
    *(uint64_t *)canary = leak();
    return NULL;
}

UNPROTECTED int main(void)
{
    uint64_t leaked = 0;
    pthread_t thread;

    fill_guard();
    if (pthread_create(&thread, NULL, other_thread, &leaked) != 0 ||
        pthread_join(thread, NULL) != 0)
        abort();
    printf("the other thread leaked the canary %016" PRIx64 "\n", leaked);
    printf("the main thread has the canary %016" PRIx64 "\n", leak());
    fflush(stdout);
    overflow(leaked);
    puts("the overflow was not noticed");
    fflush(stdout);
    _Exit(0); /* what runs after main may have been compiled with the former guard */
}

/* SPDX-License-Identifier: MIT */
/* The interface between the parts of the bare harness: a C library as small as `check` and `vectors` need, for CPUs
 * that have Linux and an emulator, but no C library here. */
#ifndef BARE_H
#define BARE_H

#include <stddef.h>
#include <stdint.h>

/* linux_a64.S: a system call; its result, negative: an error. */
long bare_call_system(long number, long a, long b, long c, long d, long e, long f);

/* linux_a64.S: setjmp and longjmp, without signal masks. */
struct bare_place {
    uint64_t registers[22];
};
int bare_mark(struct bare_place *place) __attribute__((returns_twice));
_Noreturn void bare_return_to(struct bare_place *place);

/* linux_a64.S: f(arg) on a stack that ends at top. */
void bare_on_stack(void (*f)(void *), void *arg, uint8_t *top);

/* linux.c: what linux_a64.S starts, with the stack pointer as the system set it. */
_Noreturn void bare_start(const uintptr_t *stack);
_Noreturn void bare_exit(int code);
long bare_open(const char *name);
long bare_read(int file, void *to, size_t n);
void bare_write(int file, const void *from, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* The interface between the parts of a harness without a C library: libc.c, and what it stands on.
 * For CPUs that have Linux and an emulator but no C library here (port/linux), and for firmware
 * (port/uefi). */
#ifndef BARE_H
#define BARE_H

#include <stddef.h>
#include <stdint.h>

/* setjmp and longjmp, without signal masks. */
struct bare_place {
    uint64_t registers[22];
};
int bare_mark(struct bare_place *place) __attribute__((returns_twice));
_Noreturn void bare_return_to(struct bare_place *place);

/* f(arg) on a stack that ends at top. */
void bare_on_stack(void (*f)(void *), void *arg, uint8_t *top);

/* Files by number: 0 to 2 are the standard streams. Reading returns 0 at the end,
 * and less on an error. */
_Noreturn void bare_exit(int code);
long bare_open(const char *name);
void bare_close(long file);
long bare_read(long file, void *to, size_t n);
void bare_write(long file, const void *from, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* The harness's port to Linux without a C library, by -DHARNESS_LINUX: for A64 of either byte order
 * and 32-bit RISC-V, whose system calls have the numbers of include/uapi/asm-generic/unistd.h.
 * Elsewhere an empty unit. */
#if !defined(HARNESS_LINUX)
typedef int port_is_elsewhere;
#else
#include "../../bare/bare.h"

#include <stdlib.h>
#include <string.h>

#include "../port.h"

enum {
    SYS_OPENAT = 56,
    SYS_CLOSE = 57,
    SYS_READ = 63,
    SYS_WRITE = 64,
    SYS_EXIT_GROUP = 94,
    SYS_SIGACTION = 134,
    SYS_GETRANDOM = 278
};
enum { SYS_MUNMAP = 215, SYS_MMAP = 222, SYS_MPROTECT = 226 };
enum { HERE = -100 };                               /* AT_FDCWD */
enum { READ_WRITE = 3, PRIVATE_ANONYMOUS = 0x22 };  /* of mmap */
enum { SIGILL = 4, SIGBUS = 7, SIGSEGV = 11, SA_NODEFER = 0x40000000 };
enum { PAGE_BYTES = 65536 }; /* the largest that A64 has */

/* In start_*.S: a system call; its result, negative: an error. */
long bare_call_system(long number, long a, long b, long c, long d, long e, long f);

int main(int argc, char **argv);
_Noreturn void bare_start(const uintptr_t *stack); /* called by _start */
unsigned long getauxval(unsigned long type);
int getentropy(void *out, size_t n_bytes);

static const uintptr_t *auxiliary; /* pairs of type and value, up to type 0 */

/* On the stack: the number of arguments, they and the environment, each with a null behind, and
 * the auxiliary vector. */
_Noreturn void bare_start(const uintptr_t *stack)
{
    int argc = (int)stack[0];
    const uintptr_t *word = stack + 1 + argc + 1;

    while (*word++)
        ;
    auxiliary = word;
    exit(main(argc, (char **)(uintptr_t)(stack + 1)));
}

unsigned long getauxval(unsigned long type)
{
    for (const uintptr_t *pair = auxiliary; pair[0]; pair += 2)
        if (pair[0] == type)
            return pair[1];
    return 0;
}

int getentropy(void *out, size_t n_bytes)
{
    return bare_call_system(SYS_GETRANDOM, (long)out, (long)n_bytes, 0, 0, 0, 0) == (long)n_bytes
               ? 0
               : -1;
}

bool port_random(uint8_t *out, size_t n_bytes)
{
    return getentropy(out, n_bytes) == 0;
}

/* Runs are counted and not timed. */
uint64_t port_now_ns(void)
{
    return 0;
}

uint64_t port_preemptions(void)
{
    return 0;
}

bool port_pin(int cpu)
{
    return cpu < 0;
}

bool port_emulated(void)
{
    return true;
}

/* Each piece of memory has pages of its own, and its length before it. */
enum { MEMORY_HEAD = 64, HIGHEST_ERROR = 4095 };

void *malloc(size_t n_bytes)
{
    const size_t all_bytes = n_bytes + MEMORY_HEAD;
    const long at =
        bare_call_system(SYS_MMAP, 0, (long)all_bytes, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);

    if (at < 0 && at >= -HIGHEST_ERROR)
        return NULL;
    memcpy((void *)at, &all_bytes, sizeof all_bytes);
    return (uint8_t *)at + MEMORY_HEAD;
}

void *aligned_alloc(size_t alignment, size_t n_bytes)
{
    return alignment <= MEMORY_HEAD ? malloc(n_bytes) : NULL;
}

void free(void *p)
{
    size_t all_bytes;

    if (!p)
        return;
    memcpy(&all_bytes, (uint8_t *)p - MEMORY_HEAD, sizeof all_bytes);
    bare_call_system(SYS_MUNMAP, (long)((uint8_t *)p - MEMORY_HEAD), (long)all_bytes, 0, 0, 0, 0);
}

_Noreturn void bare_exit(int code)
{
    for (;;)
        bare_call_system(SYS_EXIT_GROUP, code, 0, 0, 0, 0, 0);
}

long bare_open(const char *name)
{
    return bare_call_system(SYS_OPENAT, HERE, (long)name, 0, 0, 0, 0);
}

void bare_close(long file)
{
    bare_call_system(SYS_CLOSE, file, 0, 0, 0, 0, 0);
}

long bare_read(long file, void *to, size_t n)
{
    return bare_call_system(SYS_READ, file, (long)to, (long)n, 0, 0, 0);
}

void bare_write(long file, const void *from, size_t n)
{
    const uint8_t *bytes = from;

    while (n) {
        long done = bare_call_system(SYS_WRITE, file, (long)bytes, (long)n, 0, 0, 0);
        if (done <= 0)
            bare_exit(2);
        bytes += done;
        n -= (size_t)done;
    }
}

struct guarded port_guarded(size_t at_least_bytes)
{
    struct guarded g = {NULL, 0};
    size_t len = (at_least_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    long all = bare_call_system(SYS_MMAP, 0, (long)(len + 2 * PAGE_BYTES), READ_WRITE,
                                PRIVATE_ANONYMOUS, -1, 0);

    if (all < 0 && all > -4096)
        return g;
    if (bare_call_system(SYS_MPROTECT, all, PAGE_BYTES, 0, 0, 0, 0) != 0 ||
        bare_call_system(SYS_MPROTECT, all + PAGE_BYTES + (long)len, PAGE_BYTES, 0, 0, 0, 0) != 0)
        return g;
    g.start = (uint8_t *)all + PAGE_BYTES;
    g.len_bytes = len;
    return g;
}

static struct bare_place *after_fault; /* of the innermost port_survives */

static void on_fault(int signal_number)
{
    (void)signal_number;
    bare_return_to(after_fault);
}

/* The kernel's struct sigaction, include/linux/signal_types.h. RISC-V has no restorer. */
struct action {
    void (*handler)(int);
    unsigned long flags;
#if !defined(__riscv)
    void (*restorer)(void);
#endif
    uint64_t mask;
};

bool port_survives(void (*f)(void *), void *arg)
{
    static const int signals[3] = {SIGSEGV, SIGBUS, SIGILL};
    struct action action = {.handler = on_fault, .flags = SA_NODEFER}, old[3];
    struct bare_place here, *outer = after_fault;
    volatile bool survived = false;

    for (int i = 0; i < 3; i++)
        bare_call_system(SYS_SIGACTION, signals[i], (long)&action, (long)&old[i],
                         sizeof action.mask, 0, 0);
    if (bare_mark(&here) == 0) {
        after_fault = &here;
        f(arg);
        survived = true;
    }
    for (int i = 0; i < 3; i++)
        bare_call_system(SYS_SIGACTION, signals[i], (long)&old[i], 0, sizeof action.mask, 0, 0);
    after_fault = outer;
    return survived;
}

bool port_on_stack(void (*f)(void *), void *arg, uint8_t *stack, size_t len_bytes)
{
    bare_on_stack(f, arg, stack + len_bytes);
    return true;
}
#endif

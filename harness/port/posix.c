/* SPDX-License-Identifier: MIT */
/* The port to POSIX systems (IEEE 1003.1-2008), with what Linux has beyond it;
 * elsewhere an empty unit. */
#if defined(_WIN32) || defined(HARNESS_UEFI) || defined(HARNESS_LINUX)
typedef int port_is_elsewhere;
#else
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "port.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <fcntl.h>
#include <ucontext.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#endif

#include "everycore/isa.h"

uint64_t port_now_ns(void)
{
    struct timespec t;

#if defined(CLOCK_MONOTONIC_RAW)
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
#else
    clock_gettime(CLOCK_MONOTONIC, &t);
#endif
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t port_preemptions(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_nivcsw : 0;
}

/* getrandom() waits until the system has gathered enough, which /dev/urandom of Linux does not. */
bool port_random(uint8_t *out, size_t n_bytes)
{
#if defined(SYS_getrandom)
    while (n_bytes) {
        const long n = syscall(SYS_getrandom, out, n_bytes, 0);
        if (n <= 0)
            return false;
        out += n;
        n_bytes -= (size_t)n;
    }
    return true;
#else
    const int file = open("/dev/urandom", O_RDONLY);

    while (file >= 0 && n_bytes) {
        const ssize_t n = read(file, out, n_bytes);
        if (n <= 0)
            break;
        out += n;
        n_bytes -= (size_t)n;
    }
    if (file >= 0)
        close(file);
    return n_bytes == 0;
#endif
}

bool port_pin(int cpu)
{
#if defined(__linux__)
    cpu_set_t set;

    if (cpu < 0)
        cpu = sched_getcpu();
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return false;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
#else
    return cpu < 0;
#endif
}

#if EVC_X86
/* QEMU's own translator signs CPUID leaf 0x40000000 (a virtual machine on real cores has another
 * name). */
static bool is_emulated(void)
{
    uint32_t a = 0x40000000, b, c = 0, d;

    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return b == 0x54474354 && c == 0x43544743 && d == 0x47435447; /* "TCGTCGTCGTCG" */
}
#elif defined(__linux__)
/* User-mode emulation answers uname for its guest, but /proc/sys/kernel/arch (Linux 6.1) is the
 * host's. They also differ for a 32-bit program on a 64-bit kernel, where the first letters agree
 * or the pair is one of these. */
static bool is_emulated(void)
{
    static const char *const both[][2] = {
        {"aarch64", "arm"}, {"mips", "mips"},   {"ppc", "ppc"},    {"parisc", "parisc"},
        {"s390", "s390"},   {"sparc", "sparc"}, {"riscv", "riscv"}};
    char kernel[64] = "";
    struct utsname guest;
    FILE *f = fopen("/proc/sys/kernel/arch", "r");

    if (!f)
        return false;
    if (fscanf(f, "%63s", kernel) != 1 || uname(&guest) != 0)
        kernel[0] = 0;
    fclose(f);
    if (!kernel[0] || strcmp(kernel, guest.machine) == 0)
        return false;
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++)
        if (strncmp(kernel, both[i][0], strlen(both[i][0])) == 0 &&
            strncmp(guest.machine, both[i][1], strlen(both[i][1])) == 0)
            return false;
    return true;
}
#else
static bool is_emulated(void)
{
    return false;
}
#endif

/* It is asked once: in a virtual machine CPUID takes as long as thousands of instructions. */
bool port_emulated(void)
{
    static enum { UNKNOWN, NO, YES } answer;

    if (answer == UNKNOWN)
        answer = is_emulated() ? YES : NO;
    return answer == YES;
}

struct guarded port_guarded(size_t at_least_bytes)
{
    struct guarded g = {NULL, 0};
    long asked = sysconf(_SC_PAGESIZE);
    size_t page = asked > 0 ? (size_t)asked : 4096;
    size_t len = (at_least_bytes + page - 1) / page * page;
    uint8_t *all =
        mmap(NULL, len + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED)
        return g;
    if (mprotect(all, page, PROT_NONE) != 0 || mprotect(all + page + len, page, PROT_NONE) != 0)
        return g;
    g.start = all + page;
    g.len_bytes = len;
    return g;
}

static sigjmp_buf *after_fault; /* of the innermost port_survives */

static void on_fault(int signal_number)
{
    (void)signal_number;
    siglongjmp(*after_fault, 1);
}

bool port_survives(void (*f)(void *), void *arg)
{
    struct sigaction action, old[3];
    static const int signals[3] = {SIGSEGV, SIGBUS, SIGILL};
    sigjmp_buf here_now, *outer = after_fault;
    volatile bool survived = false;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_fault;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < 3; i++)
        sigaction(signals[i], &action, &old[i]);
    if (sigsetjmp(here_now, 1) == 0) {
        after_fault = &here_now;
        f(arg);
        survived = true;
    }
    for (int i = 0; i < 3; i++)
        sigaction(signals[i], &old[i], NULL);
    after_fault = outer;
    return survived;
}

static void (*stack_function)(void *);
static void *stack_argument;
static ucontext_t here, there;

static void on_stack(void)
{
    stack_function(stack_argument);
}

bool port_on_stack(void (*f)(void *), void *arg, uint8_t *stack, size_t len_bytes)
{
    if (getcontext(&there) != 0)
        return false;
    stack_function = f;
    stack_argument = arg;
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = len_bytes;
    there.uc_link = &here;
    makecontext(&there, on_stack, 0);
    return swapcontext(&here, &there) == 0;
}
#endif

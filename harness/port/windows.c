/* SPDX-License-Identifier: MIT */
/* The port to Windows (Win32 API, 64 bits): what checks need. Elsewhere this
 * file is an empty unit. */
#define _CRT_RAND_S /* for rand_s */
#include "port.h"

#if !defined(_WIN32)
typedef int port_is_elsewhere;
#else

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

uint64_t port_now_ns(void)
{
    LARGE_INTEGER count, per_second;

    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&per_second);
    return (uint64_t)((double)count.QuadPart * 1e9 / (double)per_second.QuadPart);
}

uint64_t port_preemptions(void)
{
    return 0;
}

bool port_random(uint8_t *out, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        unsigned random;
        if (rand_s(&random) != 0)
            return false;
        out[i] = (uint8_t)random;
    }
    return true;
}

bool port_pin(int cpu)
{
    const DWORD at = cpu < 0 ? GetCurrentProcessorNumber() : (DWORD)cpu;

    return at < 64 && SetThreadAffinityMask(GetCurrentThread(), (DWORD_PTR)1 << at) != 0;
}

bool port_emulated(void)
{
    return false;
}

struct guarded port_guarded(size_t at_least_bytes)
{
    struct guarded g = {NULL, 0};
    SYSTEM_INFO system;
    size_t page, len;
    uint8_t *all;

    GetSystemInfo(&system);
    page = system.dwPageSize;
    len = (at_least_bytes + page - 1) / page * page;
    all = VirtualAlloc(NULL, len + 2 * page, MEM_RESERVE, PAGE_NOACCESS);
    if (!all || !VirtualAlloc(all + page, len, MEM_COMMIT, PAGE_READWRITE))
        return g;
    g.start = all + page;
    g.len_bytes = len;
    return g;
}

/* ---- Faults ---------------------------------------------------------------------------------- */

/* This thread's stack, as Windows knows it: it dispatches exceptions by frames between these
 * addresses. The address of the block is in the block, which GS points to; GCC warns of
 * mingw-w64's NtCurrentTeb(). */
static NT_TIB *thread_stack(void)
{
    NT_TIB *block;

    __asm__ volatile("movq %%gs:%c1, %0" : "=r"(block) : "i"(offsetof(NT_TIB, Self)));
    return block;
}

/* The CPU and the stack at the innermost port_survives, and whether a fault has led back to it. */
struct survivor {
    CONTEXT context;
    void *stack_base, *stack_limit;
    volatile bool faulted;
    struct survivor *outer;
};
static struct survivor *survivor;

/* The handler gives the CPU the state of port_survives, instead of that of the fault. */
static LONG CALLBACK on_fault(EXCEPTION_POINTERS *pointers)
{
    const DWORD code = pointers->ExceptionRecord->ExceptionCode;

    if (!survivor || (code != EXCEPTION_ACCESS_VIOLATION && code != EXCEPTION_ILLEGAL_INSTRUCTION &&
                      code != EXCEPTION_IN_PAGE_ERROR && code != EXCEPTION_PRIV_INSTRUCTION))
        return EXCEPTION_CONTINUE_SEARCH;
    survivor->faulted = true;
    *pointers->ContextRecord = survivor->context;
    return EXCEPTION_CONTINUE_EXECUTION;
}

bool port_survives(void (*f)(void *), void *arg)
{
    NT_TIB *now = thread_stack();
    struct survivor here = {.stack_base = now->StackBase,
                            .stack_limit = now->StackLimit,
                            .faulted = false,
                            .outer = survivor};
    void *handler = survivor ? NULL : AddVectoredExceptionHandler(1, on_fault);

    survivor = &here;
    /* a fault goes on behind this call, with the registers that it has stored */
    RtlCaptureContext(&here.context);
    if (!here.faulted)
        f(arg);
    now->StackBase = here.stack_base; /* a fault may have happened on a stack of one's own */
    now->StackLimit = here.stack_limit;
    survivor = here.outer;
    if (handler)
        RemoveVectoredExceptionHandler(handler);
    return !here.faulted;
}

/* ---- A stack of one's own -------------------------------------------------------------------- */

/* Call f(arg) with the stack pointer at top, a multiple of 16. The 32 bytes below it are f's,
 * as in any caller's frame. f saves the registers that it gives back as they were, so they are
 * the same in each call. */
static __attribute__((noinline)) void call_at(void (*f)(void *), void *arg, uint8_t *top)
{
    __asm__ volatile("pushq %%rbp\n\t"
                     "movq %%rsp, %%rbx\n\t"
                     "leaq -32(%[top]), %%rsp\n\t"
                     "xorl %%ebp, %%ebp\n\t"
                     "xorl %%esi, %%esi\n\t"
                     "xorl %%edi, %%edi\n\t"
                     "xorl %%r12d, %%r12d\n\t"
                     "xorl %%r13d, %%r13d\n\t"
                     "xorl %%r14d, %%r14d\n\t"
                     "xorl %%r15d, %%r15d\n\t"
                     "callq *%[f]\n\t"
                     "movq %%rbx, %%rsp\n\t"
                     "popq %%rbp"
                     : [f] "+a"(f), "+c"(arg), [top] "+d"(top)
                     :
                     : "rbx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
                       "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "cc", "memory");
}

bool port_on_stack(void (*f)(void *), void *arg, uint8_t *stack, size_t len_bytes)
{
    NT_TIB *now = thread_stack();
    void *const base = now->StackBase, *const limit = now->StackLimit;
    uint8_t *top = stack + (len_bytes - (uintptr_t)(stack + len_bytes) % 16);

    now->StackBase = top;
    now->StackLimit = stack;
    call_at(f, arg, top);
    now->StackBase = base;
    now->StackLimit = limit;
    return true;
}
#endif

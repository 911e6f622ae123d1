/* SPDX-License-Identifier: MIT */
/* The port to Windows (Win32 API, 64 bits): what checks need. Elsewhere this file is an empty unit. */
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

/* ---- Faults ---------------------------------------------------------------------------------------- */

/* Where the innermost port_survives goes on: the CPU as it was there, and whether a fault has led back to it. */
struct survivor {
    CONTEXT context;
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
    struct survivor here = {.faulted = false, .outer = survivor};
    void *handler = survivor ? NULL : AddVectoredExceptionHandler(1, on_fault);

    survivor = &here;
    RtlCaptureContext(&here.context); /* a fault goes on behind this call, with the registers that it has stored */
    if (!here.faulted)
        f(arg);
    survivor = here.outer;
    if (handler)
        RemoveVectoredExceptionHandler(handler);
    return !here.faulted;
}

/* Stacks are Windows' own: it refuses faults and growth on memory that it did not reserve as a stack. */
bool port_on_stack(void (*f)(void *), void *arg, uint8_t *stack, size_t len_bytes)
{
    (void)f, (void)arg, (void)stack, (void)len_bytes;
    return false;
}
#endif

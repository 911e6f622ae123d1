/* SPDX-License-Identifier: MIT */
/*
 * For Windows on x86-64: faults in the middle of assembly, from which the tables of the program
 * have to lead back to its caller, with the registers that belong to it. Prints how many faults
 * there were.
 */
#include <stdint.h>
#include <stdio.h>
#include <windows.h>

#include "everycore/bn.h"
#include "everycore/cpu.h"
#include "everycore/gcm.h"

#define MOST_FRAMES 16
#define ROOM_BYTES 65536u

extern const struct evc_gcm evc_gcm_x86_aesni, evc_gcm_x86_vaes256, evc_gcm_x86_vaes512,
    evc_gcm_x86_vaes512_intel;
extern const struct evc_bn evc_bn_x86_adx;

static void *caller;
static unsigned faults, cases;

static void fail(void)
{
    printf("lost after %u faults\n", faults);
    fflush(stdout);
    TerminateProcess(GetCurrentProcess(), 1);
}

/* Unwinds to the caller of the function that failed, and goes on there. */
static LONG CALLBACK go_back(EXCEPTION_POINTERS *exception)
{
    static int unwinds;
    CONTEXT context = *exception->ContextRecord;

    if (unwinds++)
        fail();
    if (exception->ExceptionRecord->ExceptionCode != EXCEPTION_ACCESS_VIOLATION)
        return EXCEPTION_CONTINUE_SEARCH;
    for (unsigned i = 0; i < MOST_FRAMES && context.Rip != (DWORD64)caller; i++) {
        DWORD64 base, frame;
        void *data;
        RUNTIME_FUNCTION *function = RtlLookupFunctionEntry(context.Rip, &base, NULL);

        if (function) {
            RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, context.Rip, function, &context, &data,
                             &frame, NULL);
        } else {
            context.Rip = *(DWORD64 *)context.Rsp;
            context.Rsp += 8;
        }
    }
    if (context.Rip != (DWORD64)caller)
        fail();
    faults++;
    unwinds = 0;
    *exception->ContextRecord = context;
    return EXCEPTION_CONTINUE_EXECUTION;
}

static union evc_gcm_key key;
static uint8_t tag[16], iv[12], *room; /* ROOM_BYTES, and no memory behind them */

static __attribute__((noinline)) void seal(const struct evc_gcm *kernel, size_t aad_bytes,
                                           size_t len_bytes, size_t present_bytes)
{
    uint8_t *end = room + ROOM_BYTES - present_bytes;

    caller = __builtin_return_address(0);
    kernel->seal(&key, iv, 12, aad_bytes ? end : NULL, aad_bytes, aad_bytes ? room : end, room,
                 len_bytes, tag, 16);
}

/* The upper half of a product is not there. */
static __attribute__((noinline)) void multiply(const struct evc_bn_modulus *modulus, const void *a,
                                               void *scratch)
{
    caller = __builtin_return_address(0);
    evc_bn_x86_adx.mul(modulus, scratch, a, a, room + ROOM_BYTES - 64);
}

static void gcm(const struct evc_gcm *kernel)
{
    static const size_t sizes[] = {20, 70, 200, 700, 1500, 5000};
    static const uint8_t zeros[16];

    if (evc_gcm_set_key(&key, kernel, zeros, 128) != EVC_OK)
        return;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t present = 1; present < sizes[i]; present += 1 + sizes[i] / 9) {
            seal(kernel, sizes[i], 32, present);
            seal(kernel, 0, sizes[i], present);
            cases += 2;
        }
}

int main(void)
{
    static const struct evc_gcm *const kernels[] = {&evc_gcm_x86_aesni, &evc_gcm_x86_vaes256,
                                                    &evc_gcm_x86_vaes512,
                                                    &evc_gcm_x86_vaes512_intel};
    static EVC_ALIGN(16) uint8_t modulus[65536], number[256], scratch[65536];
    const uint64_t features = evc_cpu_features();

    room = VirtualAlloc(NULL, 2 * ROOM_BYTES, MEM_RESERVE, PAGE_NOACCESS);
    if (!room || !VirtualAlloc(room, ROOM_BYTES, MEM_COMMIT, PAGE_READWRITE))
        return 2;
    AddVectoredExceptionHandler(1, go_back);
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (!(kernels[i]->kernel.needs & ~features & ~EVC_CPU(TUNE_SHARED_PORTS)))
            gcm(kernels[i]);
    for (size_t i = 0; i < sizeof number; i++)
        number[i] = (uint8_t)(2 * i + 1);
    if (!(evc_bn_x86_adx.kernel.needs & ~features) &&
        evc_bn_set_modulus_in(modulus, sizeof modulus, &evc_bn_x86_adx, number, 128) == EVC_OK) {
        multiply((const struct evc_bn_modulus *)modulus, scratch, scratch + 4096);
        cases++;
    }
    printf("%u of %u\n", faults, cases);
    return faults != cases || !cases;
}

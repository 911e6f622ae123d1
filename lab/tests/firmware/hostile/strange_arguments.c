/* SPDX-License-Identifier: MIT */
/* Gives services all kinds of numbers. */
#include "../drivers/efi.h"
static int attack(void);
#define ON_START attack
#include "../drivers/driver.h"

static int attack(void)
{
    static const u64 strange[] = {0, 1, 0x7fffffffffffffff, 0x8000000000000000, ~0ull, 0x1000, 0x8000000001, 0xfffffffffffff000};
    enum { N = sizeof strange / sizeof strange[0] };

    for (u32 n = 2; n < 44; ++n) {
        u64 (EFIAPI *service)(u64, u64, u64, u64, u64, u64) = ((u64(EFIAPI **)(u64, u64, u64, u64, u64, u64))(&bs->raise_tpl))[n];

        for (u32 i = 0; i < N * N; ++i)
            service(strange[i % N], strange[i / N], strange[(i + 1) % N], strange[(i + 3) % N], strange[(i + 5) % N], strange[i % N]);
    }
    for (u32 n = 0; n < 18; ++n) {
        u64 (EFIAPI *service)(void *, u64, u64, u64, u64, u64) = ((u64(EFIAPI **)(void *, u64, u64, u64, u64, u64))pci)[n];

        for (u32 i = 0; i < N * N; ++i)
            service(pci, strange[i % N], strange[i / N], strange[(i + 1) % N], strange[(i + 3) % N], strange[(i + 5) % N]);
    }
    return 0;
}

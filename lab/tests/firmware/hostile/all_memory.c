/* SPDX-License-Identifier: MIT */
/* Takes all memory, of all kinds. */
#include "../drivers/efi.h"
static int attack(void);
#define ON_START attack
#include "../drivers/driver.h"

static int attack(void)
{
    for (u64 size = 1ull << 40; size >= 4096; size >>= 1) {
        void *found = 0;
        u64 address = 0;

        while (!bs->allocate_pool(BOOT_DATA, size, &found))
            ;
        while (!bs->allocate_pages(0, BOOT_DATA, size >> 12, &address))
            ;
        while (!pci->allocate_buffer(pci, 0, BOOT_DATA, size >> 12, &found, 0))
            ;
    }
    return 0;
}

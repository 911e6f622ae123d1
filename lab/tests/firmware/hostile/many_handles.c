/* SPDX-License-Identifier: MIT */
/* Makes handles for ever. */
#include "../drivers/efi.h"
static int attack(void);
#define ON_START attack
#include "../drivers/driver.h"

static int attack(void)
{
    for (;;) {
        handle new = 0;

        bs->install(&new, &PRIVATE, 0, &new);
    }
    return 0;
}

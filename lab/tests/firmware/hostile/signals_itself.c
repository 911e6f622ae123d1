/* SPDX-License-Identifier: MIT */
/* Has a notification that signals its own event. */
#include "../drivers/efi.h"
static int attack(void);
#define ON_START attack
#include "../drivers/driver.h"

static void *own;

static void EFIAPI again(void *event, void *context)
{
    (void)context;
    bs->signal_event(event);
}

static int attack(void)
{
    bs->create_event(0x200, TPL_CALLBACK, again, 0, &own);
    bs->signal_event(own);
    return 0;
}

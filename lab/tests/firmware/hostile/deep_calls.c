/* SPDX-License-Identifier: MIT */
/* Calls itself through the firmware. */
#include "../drivers/efi.h"
static int attack(void);
#define ON_START attack
#include "../drivers/driver.h"

static void EFIAPI again(void *event, void *context)
{
    void *inner = 0;
    status (EFIAPI *check_event)(void *) = (status(EFIAPI *)(void *))bs->check_event;

    (void)event;
    (void)context;
    bs->create_event(0x100, TPL_CALLBACK, again, 0, &inner);
    check_event(inner);
}

static int attack(void)
{
    void *event = 0;

    bs->create_event(0x100, TPL_CALLBACK, again, 0, &event);
    again(event, 0);
    return 0;
}

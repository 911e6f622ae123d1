/* SPDX-License-Identifier: MIT */
/* Supports a device that nobody has. */
#include "efi.h"
#define VENDOR 0xfffe
#include "driver.h"

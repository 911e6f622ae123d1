/* SPDX-License-Identifier: MIT */
/* Debuggers find frames; EDK2 converts no relocations of .eh_frame. */
    .cfi_sections .debug_frame
#include "x25519/x86_adx_asm.S"

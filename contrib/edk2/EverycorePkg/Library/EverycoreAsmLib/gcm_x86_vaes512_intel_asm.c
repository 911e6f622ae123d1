/* SPDX-License-Identifier: MIT */
/* Debuggers find frames; EDK2 converts no relocations of .eh_frame. */
    .cfi_sections .debug_frame
#include "gcm/x86_vaes512_intel_asm.S"

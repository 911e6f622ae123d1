/* SPDX-License-Identifier: MIT */
/* Debuggers find frames; EDK2 converts no relocations of .eh_frame. */
    .cfi_sections .debug_frame
#include "sha2/x86_avx2_asm.S"

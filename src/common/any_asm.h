/* SPDX-License-Identifier: MIT */
/* Directives of all assembly files, those too that are empty here: no object
 * needs an executable stack. */
#ifndef EVC_COMMON_ANY_ASM_H
#define EVC_COMMON_ANY_ASM_H

/* As in everycore/isa.h. */
#if defined(_WIN32) || defined(__CYGWIN__) || defined(__UEFI__)
#define EVC_ASM_COFF 1
#else
#define EVC_ASM_COFF 0
#endif

#if defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
    .text
#endif

/* The assembly describes its frames to unwinders if the compiler does; Linux
 * makes tables of its own, and COFF has others (common/x86_asm.h). */
#if defined(__GCC_HAVE_DWARF2_CFI_ASM) && !defined(__KERNEL__) && !EVC_ASM_COFF
#define EVC_ASM_CFI_BEGIN .cfi_startproc
#define EVC_ASM_CFI_END .cfi_endproc
#define EVC_ASM_CFI_ADJUST(n_bytes) .cfi_adjust_cfa_offset n_bytes
#define EVC_ASM_CFI_SAVED(name) .cfi_rel_offset name, 0 /* at the stack pointer */
#define EVC_ASM_CFI_SAVED_AT(name, offset) .cfi_rel_offset name, offset /* from the stack pointer */
#define EVC_ASM_CFI_RESTORED(name) .cfi_restore name
#else
#define EVC_ASM_CFI_BEGIN
#define EVC_ASM_CFI_END
#define EVC_ASM_CFI_ADJUST(n_bytes)
#define EVC_ASM_CFI_SAVED(name)
#define EVC_ASM_CFI_SAVED_AT(name, offset)
#define EVC_ASM_CFI_RESTORED(name)
#endif

#endif

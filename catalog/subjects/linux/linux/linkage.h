/* SPDX-License-Identifier: MIT */
/* How the assembly of Linux begins and ends its functions. */
#ifndef SUBJECT_LINUX_LINKAGE_H
#define SUBJECT_LINUX_LINKAGE_H

#ifdef __ASSEMBLER__

.macro subject_function, name
    .type \name, %function
    .balign 4
\name:
.endm

.macro subject_global_function, name
    .globl \name
    subject_function \name
.endm

#define SYM_FUNC_START(name) subject_global_function name
#define SYM_FUNC_START_LOCAL(name) subject_function name
#define SYM_TYPED_FUNC_START(name) subject_global_function name
#define SYM_FUNC_END(name) .size name, . - name
#define ENTRY(name) subject_global_function name
#define ENDPROC(name) .size name, . - name

#endif
#endif

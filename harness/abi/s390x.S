/* SPDX-License-Identifier: MIT */
/* abi_trampoline(run, argument) for IBM Z: r6 to r13, and f8 to f15. See abi.h and frame.h. */
#include "common/s390x_asm.h"

#include "abi/frame.h"

#if defined(ABI_S390X)

.macro each_float what, base, at
.irp i, 8, 9, 10, 11, 12, 13, 14, 15
    \what %f\i, \at + 8 * (\i - 8)(\base)
.endr
.endm

evc_function abi_trampoline // r2: run, r3: argument
    evc_save_r6_r14 64
    each_float std, %r15, 0
    larl %r4, abi_frame
    stg %r15, ABI_STACK_OWN(%r4)
    lgr %r5, %r15
    nill %r5, 0xffc0
    aghi %r5, -248 // 8 modulo 64, and 160 bytes above it are the function's
    lgr %r15, %r5
    stg %r15, ABI_STACK_BEFORE(%r4)
    lgr %r1, %r2
    lgr %r2, %r3
    lmg %r6, %r13, ABI_INTEGERS_BEFORE(%r4)
    each_float ld, %r4, ABI_VECTORS_BEFORE
    basr %r14, %r1
    larl %r4, abi_frame
    stg %r15, ABI_STACK_AFTER(%r4)
    stmg %r6, %r13, ABI_INTEGERS_AFTER(%r4)
    each_float std, %r4, ABI_VECTORS_AFTER
    lg %r15, ABI_STACK_OWN(%r4)
    each_float ld, %r15, 0
    evc_restore_r6_r14 64
    br %r14
evc_end abi_trampoline
#endif

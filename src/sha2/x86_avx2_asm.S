/* SPDX-License-Identifier: MIT */
/* SHA-512 of one message: x86_blocks512_asm.h. */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64
#include "sha2/x86_blocks512_asm.h"

evc_x86_blocks512 evc_sha2_x86_avx2_blocks512
#endif

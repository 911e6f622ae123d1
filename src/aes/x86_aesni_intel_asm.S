/* SPDX-License-Identifier: MIT */
/* CBC encryption of one whole message: x86_chain_asm.h. */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64
#include "aes/x86_chain_asm.h"

evc_x86_cbc_encrypt_message evc_aes_x86_aesni_intel_cbc_encrypt_message
#endif

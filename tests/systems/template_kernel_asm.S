/* SPDX-License-Identifier: MIT */
/* The assembly of a kernel: a template to begin one from. Rules: src/common/a64_asm.h. */
#include "common/a64_asm.h"

#if EVC_ASM_A64

evc_isa_neon

/* void evc_aes_a64_template_xor(uint8_t to[16], const uint8_t a[16], const uint8_t b[16]) */
evc_function evc_aes_a64_template_xor
    ld1 {v0.16b}, [x1]
    ld1 {v1.16b}, [x2]
    eor v0.16b, v0.16b, v1.16b
    st1 {v0.16b}, [x0]
    ret
evc_end evc_aes_a64_template_xor

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The operations that x86_wide_steps.h asks for, without the 32 registers and the three-way logic
 * of AVX-512: round keys stay in memory, since state alone fills the registers. Include it after
 * vec, v_all, v_xor and WIDE have been defined.
 */
#ifndef EVC_AES_X86_FEW_REGISTERS_H
#define EVC_AES_X86_FEW_REGISTERS_H

#include "aes/x86_aesni_steps.h"

#define CHAINS_WIDE WIDE
#define CTR_KEYS 0
#define CBC_KEYS 0
#define LONG_KEYS 0
#define XTS_KEYS 0
#define XTS_REST_KEYS 0
#define CHAINS_KEYS 0
#define CHAINS_PAIRS 0

typedef struct {
    const uint8_t (*rk)[16];
    uint32_t rounds;
} v_keys;

EVC_INLINE v_keys v_keys_of(const uint8_t (*rk)[16], uint32_t rounds, unsigned in_registers)
{
    (void)in_registers;
    return (v_keys){rk, rounds};
}

EVC_INLINE vec v_key(const v_keys *k, unsigned r)
{
    return v_all(evc_x86_key(k->rk[r]));
}

EVC_INLINE vec v_key_last(const v_keys *k)
{
    return v_key(k, k->rounds);
}

EVC_INLINE vec v_xor3(vec a, vec b, vec c)
{
    return v_xor(a, v_xor(b, c));
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * AES bit-sliced over 32-bit words, two blocks at once, without ShiftRows, in Thumb-2 assembly.
 *
 * Method:   that of c_fixslice32.c, with the same key. The S-box's gates stand in an order,
 *           found by a search, in which 14 registers hold nearly all that waits; rotations are
 *           part of other instructions.
 * Source:   A. Adomnicai, T. Peyrin, Fixslicing AES-like ciphers, CHES 2021; S-box:
 *           sbox_circuit.h, gen-a32-sbox.
 * Needs:    A32_THUMB2.   Timing: CT (no tables, no secret branches).
 * Key form: fixsliced.
 */
#include "aes/kernel.h"

#if EVC_BUILT(A32_THUMB2)

#include "aes/fixslice32_key.h"
#include "common/clear.h"

/* n_blocks > 0. The last block of an odd number goes through both halves. */
void evc_aes_a32_fixslice_encrypt(const void *key, const uint8_t *in, uint8_t *out,
                                  size_t n_blocks);
void evc_aes_a32_fixslice_decrypt(const void *key, const uint8_t *in, uint8_t *out,
                                  size_t n_blocks);

/* Offsets that a32_fixslice_asm.S takes for granted. */
_Static_assert(offsetof(struct evc_aes_fixslice32_key, head.rounds) == 4, "KEY_ROUNDS");
_Static_assert(offsetof(struct evc_aes_fixslice32_key, rk) == 12, "KEY_RK");

EVC_OUT_OF_LINE void make_key(void *key, const uint8_t *user_key)
{
    evc_aes_fixslice32_set_key(key, user_key);
}

/* The assembly takes blocks at any address where the CPU does, else at multiples of 4: then others
 * go through a copy, two at once. */
#if defined(__ARM_FEATURE_UNALIGNED)
#define CLEARED_BYTES 256
#define TAKES(in, out) 1
#else
#define CLEARED_BYTES 384
#define TAKES(in, out) ((((uintptr_t)(in) | (uintptr_t)(out)) & 3) == 0)
#endif

#define OPERATION(name, of_assembly)                                                         \
    static void name(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)      \
    {                                                                                        \
        const int is_direct = TAKES(in, out);                                                \
        uint32_t pair[8];                                                                    \
                                                                                             \
        if (is_direct && n_blocks)                                                           \
            of_assembly(key, in, out, n_blocks);                                             \
        for (size_t n; !is_direct && n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) { \
            n = n_blocks < 2 ? n_blocks : 2;                                                 \
            memcpy(pair, in, 16 * n);                                                        \
            of_assembly(key, (const uint8_t *)pair, (uint8_t *)pair, n);                     \
            memcpy(out, pair, 16 * n);                                                       \
        }                                                                                    \
    }
OPERATION(encrypt, evc_aes_a32_fixslice_encrypt)
OPERATION(decrypt, evc_aes_a32_fixslice_decrypt)

#define clear_set_key() EVC_CLEAR_STACK(BASELINE, 576)

/* The rounds need less of the stack: so deep reaches this alone. */
static void set_key(void *key, const uint8_t *user_key)
{
    make_key(key, user_key);
    clear_set_key();
}

#define HEAD \
    EVC_KERNEL_HEAD(a32_fixslice, A32_THUMB2, CT, ANY, 2, struct evc_aes_fixslice32_key, 0, \
                    BASELINE, CLEARED_BYTES)

const struct evc_aes evc_aes_a32_fixslice = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
};

const struct evc_aes evc_aes_a32_fixslice_forward = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
};

#else
EVC_EMPTY_UNIT
#endif

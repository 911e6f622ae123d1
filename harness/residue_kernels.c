/* SPDX-License-Identifier: MIT */
/*
 * A kernel of AES and one of GHASH that leave secrets on all of the stack that a kernel may leave
 * them on. They compute with c_ref and clear what that left, but not deeper than their own `clear`:
 * that would hide what others leave there.
 */
#include "residue.h"

#include "common/clear.h"

#if EVC_X86_64

/* More bytes are cleared than are used, as with other kernels: for the frames between the call that
 * clears and operations. On Windows each frame has 32 more, for the function that is called. */
#if EVC_COFF
#define SPARE_BYTES 384u
#else
#define SPARE_BYTES 256u
#endif
#define CLEAR_BYTES 512u
#define LEFT_BYTES (CLEAR_BYTES + EVC_MORE_STACK - SPARE_BYTES)
#define clear_ref() EVC_CLEAR(BASELINE, 320)

/* The lowest byte that the function in which this stands may leave secrets in. */
#define LOWEST ((uintptr_t)__builtin_dwarf_cfa() - 8 - LEFT_BYTES)

/* 16 bytes that are secret, again and again. */
static __attribute__((noinline)) void leave(uintptr_t lowest, const uint8_t *secret)
{
    volatile uint8_t below[LEFT_BYTES];

    for (size_t i = 0; i < sizeof below; i++)
        if ((uintptr_t)&below[i] >= lowest)
            below[i] = secret[i % 16];
    (void)below;
}

static const uint8_t *round_key(const void *key)
{
    return (const uint8_t *)key + sizeof(struct evc_aes_head);
}

static void set_key(void *key, const uint8_t *user_key)
{
    const struct evc_aes *ref = evc_aes_named("c_ref");

    ref->set_key(key, user_key);
    clear_ref();
    leave(LOWEST, user_key);
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct evc_aes *ref = evc_aes_named("c_ref");

    ref->encrypt(key, in, out, n_blocks);
    clear_ref();
    leave(LOWEST, round_key(key));
}

static void decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct evc_aes *ref = evc_aes_named("c_ref");

    ref->decrypt(key, in, out, n_blocks);
    clear_ref();
    leave(LOWEST, round_key(key));
}

static void set_hash_key(void *key, const uint8_t h[16])
{
    const struct evc_ghash *ref = evc_ghash_named("c_ref");

    ref->set_key(key, h);
    clear_ref();
    leave(LOWEST, h);
}

static void blocks(const void *key, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct evc_ghash *ref = evc_ghash_named("c_ref");

    ref->blocks(key, y, in, n_blocks);
    clear_ref();
    leave(LOWEST, (const uint8_t *)key + sizeof(struct evc_ghash_head));
}

const struct evc_aes *residue_aes_kernel(void)
{
    static struct evc_aes untidy = {.set_key = set_key, .encrypt = encrypt, .decrypt = decrypt};

    untidy.kernel = *evc_aes_kernel(evc_aes_named("c_ref"));
    untidy.kernel.registers = EVC_REGISTERS_BASELINE;
    untidy.kernel.stack_bytes = CLEAR_BYTES;
    untidy.kernel.clear = EVC_CLEAR_BASELINE;
    return &untidy;
}

const struct evc_ghash *residue_ghash_kernel(void)
{
    static struct evc_ghash untidy = {.set_key = set_hash_key, .blocks = blocks};

    untidy.kernel = *evc_ghash_kernel(evc_ghash_named("c_ref"));
    untidy.kernel.registers = EVC_REGISTERS_BASELINE;
    untidy.kernel.stack_bytes = CLEAR_BYTES;
    untidy.kernel.clear = EVC_CLEAR_BASELINE;
    return &untidy;
}

#else

const struct evc_aes *residue_aes_kernel(void)
{
    return NULL;
}

const struct evc_ghash *residue_ghash_kernel(void)
{
    return NULL;
}

#endif

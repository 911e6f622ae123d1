/* SPDX-License-Identifier: MIT */
/* Keys of GCM for kernels that do both parts in one. */
#include "everycore/gcm.h"

#include "common/bytes.h"
#include "common/calls.h"
#include "common/clear.h"

static enum evc_status check_key(const void *memory, size_t memory_bytes,
                                 const struct evc_gcm *kernel, const uint8_t *user_key,
                                 unsigned key_bits)
{
    if (!evc_fits(EVC_LIMIT_AES_BITS, key_bits))
        return EVC_ERR_KEY_SIZE;
    if (!kernel || !kernel->set_key || kernel->kernel.key_align > 16)
        return EVC_ERR_KERNEL;
    return evc_check_key_memory(memory, memory_bytes, kernel->kernel.key_bytes, user_key,
                                key_bits / 8);
}

enum evc_status evc_gcm_set_key_in(void *memory, size_t memory_bytes, const struct evc_gcm *kernel,
                                   const uint8_t *user_key, unsigned key_bits)
{
    const enum evc_status status = check_key(memory, memory_bytes, kernel, user_key, key_bits);
    size_t key_bytes;

    if (status != EVC_OK) {
        evc_wipe(memory, memory_bytes);
        return status;
    }
    memset(memory, 0, 16); /* on some machines the head ends before what is aligned behind it */
    *(struct evc_gcm_head *)memory =
        (struct evc_gcm_head){.kernel = kernel, .rounds = key_bits / 32 + 6};
    kernel->set_key(memory, user_key);
    /* clears at once: a dynamic linker that first finds memset() stores vector registers */
    evc_clear(&kernel->kernel);
    key_bytes = kernel->kernel.key_bytes; /* all of which have been written */
    if (memory_bytes > key_bytes)
        evc_wipe((uint8_t *)memory + key_bytes, memory_bytes - key_bytes);
    return EVC_OK;
}

enum evc_status evc_gcm_set_key(union evc_gcm_key *key, const struct evc_gcm *kernel,
                                const uint8_t *user_key, unsigned key_bits)
{
    return evc_gcm_set_key_in(key, sizeof *key, kernel, user_key, key_bits);
}

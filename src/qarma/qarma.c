/* SPDX-License-Identifier: MIT */
/* QARMA keys, and blocks by the key's kernel. */
#include "everycore/qarma.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/key_memory.h"

static enum evc_status evc_qarma_check_key(const union evc_qarma_key *key,
                                           const struct evc_qarma *kernel, unsigned sigma,
                                           unsigned rounds)
{
    if (sigma > EVC_QARMA_SIGMA2 || rounds < EVC_QARMA_MIN_ROUNDS || rounds > EVC_QARMA_MAX_ROUNDS)
        return EVC_ERR_PARAMETER;
    if (!kernel || kernel->kernel.key_align > 16)
        return EVC_ERR_KERNEL;
    return evc_check_key_memory(key, sizeof *key, kernel->kernel.key_bytes, NULL, 0);
}

/* halves: w0 and k0. Out of line, and by a pointer: the numbers then stand only in frames below
 * that of its caller, where the kernel's `clear` reaches. */
EVC_OUT_OF_LINE enum evc_status set_key(union evc_qarma_key *key, const struct evc_qarma *kernel,
                                        const uint64_t halves[2], unsigned sigma, unsigned rounds)
{
    const enum evc_status status = evc_qarma_check_key(key, kernel, sigma, rounds);

    evc_wipe(key, sizeof *key);
    if (status != EVC_OK)
        return status;
    key->head.kernel = kernel;
    key->head.sigma = (uint8_t)sigma;
    key->head.rounds = (uint8_t)rounds;
    kernel->set_key(key, halves[0], halves[1]);
    return EVC_OK;
}

enum evc_status evc_qarma_set_key(union evc_qarma_key *key, const struct evc_qarma *kernel,
                                  uint64_t w0, uint64_t k0, unsigned sigma, unsigned rounds)
{
    /* halves are made before any call, over which registers would keep them,
     * and on s390x this frame */
    uint64_t halves[2] = {w0, k0};
    const enum evc_status status = set_key(key, kernel, halves, sigma, rounds);

    evc_wipe(halves, sizeof halves);
    if (status == EVC_OK)
        evc_clear(&kernel->kernel);
    return status;
}

/* NULL: the key is not set up, or stands where no kernel can use it. */
EVC_INLINE const struct evc_qarma *kernel_of(const union evc_qarma_key *key)
{
    return evc_is_aligned(key) ? key->head.kernel : NULL;
}

uint64_t evc_qarma_encrypt(const union evc_qarma_key *key, uint64_t block, uint64_t tweak)
{
    const struct evc_qarma *const kernel = kernel_of(key);
    uint64_t result;

    if (!kernel)
        return 0;
    result = kernel->encrypt(key, block, tweak);
    evc_clear(&kernel->kernel);
    return result;
}

uint64_t evc_qarma_decrypt(const union evc_qarma_key *key, uint64_t block, uint64_t tweak)
{
    const struct evc_qarma *const kernel = kernel_of(key);
    uint64_t result;

    if (!kernel)
        return 0;
    result = kernel->decrypt(key, block, tweak);
    evc_clear(&kernel->kernel);
    return result;
}

void evc_qarma_encrypt_many(const union evc_qarma_key *key, const uint64_t *in,
                            const uint64_t *tweak, uint64_t *out, size_t n)
{
    const struct evc_qarma *const kernel = kernel_of(key);

    if (!kernel) {
        for (size_t i = 0; i < n; i++)
            out[i] = 0;
        return;
    }
    if (kernel->encrypt_many)
        kernel->encrypt_many(key, in, tweak, out, n);
    else
        for (size_t i = 0; i < n; i++)
            out[i] = kernel->encrypt(key, in[i], tweak[i]);
    evc_clear(&kernel->kernel);
}

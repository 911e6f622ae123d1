/* SPDX-License-Identifier: MIT */
/* QARMA keys, and blocks by the key's kernel. */
#include "everycore/qarma.h"

enum evc_status evc_qarma_set_key(union evc_qarma_key *key, const struct evc_qarma *kernel, uint64_t w0, uint64_t k0,
                                  unsigned sigma, unsigned rounds)
{
    if (!kernel || kernel->kernel.key_bytes > sizeof *key || kernel->kernel.key_align > 16)
        return EVC_ERR_KERNEL;
    if (sigma > EVC_QARMA_SIGMA2 || rounds < EVC_QARMA_MIN_ROUNDS || rounds > EVC_QARMA_MAX_ROUNDS)
        return EVC_ERR_PARAMETER;
    key->head.kernel = kernel;
    key->head.sigma = (uint8_t)sigma;
    key->head.rounds = (uint8_t)rounds;
    kernel->set_key(key, w0, k0);
    return EVC_OK;
}

uint64_t evc_qarma_encrypt(const union evc_qarma_key *key, uint64_t block, uint64_t tweak)
{
    return key->head.kernel->encrypt(key, block, tweak);
}

uint64_t evc_qarma_decrypt(const union evc_qarma_key *key, uint64_t block, uint64_t tweak)
{
    return key->head.kernel->decrypt(key, block, tweak);
}

void evc_qarma_encrypt_many(const union evc_qarma_key *key, const uint64_t *in, const uint64_t *tweak, uint64_t *out,
                            size_t n)
{
    const struct evc_qarma *kernel = key->head.kernel;

    if (kernel->encrypt_many) {
        kernel->encrypt_many(key, in, tweak, out, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = kernel->encrypt(key, in[i], tweak[i]);
}

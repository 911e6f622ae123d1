/* SPDX-License-Identifier: MIT */
#include "prime/side.h"

#define NUMBERS 4 /* number to base */

size_t evc_prime_side_most(const struct evc_bn *kernel)
{
    return kernel->lanes < EVC_PRIME_MOST_SIDE ? kernel->lanes : EVC_PRIME_MOST_SIDE;
}

size_t evc_prime_side_bytes(const struct evc_bn *kernel, size_t n_bytes)
{
    const size_t most = evc_prime_side_most(kernel);

    if (most == 1)
        return 0;
    return 15 +
           most * (EVC_BN_ROUND16(evc_bn_modulus_bytes(kernel, 8 * n_bytes)) + sizeof(uint32_t) +
                   NUMBERS * n_bytes) +
           evc_bn_exp_many_scratch_bytes(kernel, 8 * n_bytes);
}

void evc_prime_side_place(struct evc_prime_side *s, const struct evc_bn *kernel, size_t n_bytes,
                          void *memory)
{
    uint8_t *at = (uint8_t *)memory + ((uintptr_t)0 - (uintptr_t)memory) % 16;

    s->kernel = kernel;
    s->n_bytes = n_bytes;
    s->most = evc_prime_side_most(kernel);
    s->n = 0;
    if (s->most == 1)
        return;
    s->modulus_bytes = EVC_BN_ROUND16(evc_bn_modulus_bytes(kernel, 8 * n_bytes));
    s->scratch_bytes = evc_bn_exp_many_scratch_bytes(kernel, 8 * n_bytes);
    s->moduli = at;
    s->passed = (void *)(at += s->most * s->modulus_bytes);
    s->number = at += s->most * sizeof(uint32_t);
    s->half = at += s->most * n_bytes;
    s->power = at += s->most * n_bytes;
    s->base = at += s->most * n_bytes;
    s->scratch = at + s->most * n_bytes;
}

enum evc_status evc_prime_side_add(struct evc_prime_side *s, const uint8_t *number)
{
    uint8_t *const copy = s->number + s->n * s->n_bytes;

    evc_copy_secret(copy, number, s->n_bytes);
    evc_number_halve(s->half + s->n * s->n_bytes, copy, s->n_bytes);
    return evc_bn_set_modulus_in((uint8_t *)s->moduli + s->n++ * s->modulus_bytes, s->modulus_bytes,
                                 s->kernel, copy, s->n_bytes);
}

enum evc_status evc_prime_side_test(struct evc_prime_side *s)
{
    struct evc_bn_exp exps[EVC_PRIME_MOST_SIDE];
    const size_t n = s->n, n_bytes = s->n_bytes;
    enum evc_status status;

    for (size_t i = 0; i < n; i++)
        exps[i] = (struct evc_bn_exp){(const void *)((uint8_t *)s->moduli + i * s->modulus_bytes),
                                      NULL,
                                      s->half + i * n_bytes,
                                      s->power + i * n_bytes,
                                      n_bytes,
                                      EVC_OK};
    s->n = 0;
    status = evc_bn_exp_many(exps, n, s->scratch, s->scratch_bytes);
    for (size_t i = 0; i < n; i++)
        s->passed[i] = evc_number_is_plus_minus_one(s->power + i * n_bytes,
                                                    s->number + i * n_bytes, n_bytes);
    return status;
}

enum evc_status evc_prime_side_random_bases(struct evc_prime_side *s, struct evc_prime_work *w,
                                            size_t n_rounds, const struct evc_random *random)
{
    struct evc_bn_exp exps[EVC_PRIME_MOST_SIDE];
    enum evc_status status = EVC_OK;
    uint32_t passes = UINT32_MAX;

    for (size_t i = 0; i < n_rounds; i++) {
        status = evc_prime_draw_base(w, random);
        if (status != EVC_OK)
            return status;
        evc_copy_secret(s->base + i * s->n_bytes, w->base, s->n_bytes);
        exps[i] = (struct evc_bn_exp){evc_prime_modulus(w), s->base + i * s->n_bytes, w->half,
                                      s->power + i * s->n_bytes, s->n_bytes, EVC_OK};
    }
    status = evc_bn_exp_many(exps, n_rounds, s->scratch, s->scratch_bytes);
    for (size_t i = 0; i < n_rounds; i++)
        passes &= evc_prime_is_plus_minus_one(w, s->power + i * s->n_bytes);
    evc_public(&passes, sizeof passes); /* the status tells it */
    return status == EVC_OK && !passes ? EVC_ERR_COMPOSITE : status;
}

/* SPDX-License-Identifier: MIT */
/* Tests of one number to one base, and their memory. */
#include "prime/work.h"

/* ---- Memory ---------------------------------------------------------------------------------- */

static uint8_t *aligned16(void *p)
{
    return (uint8_t *)p + ((uintptr_t)0 - (uintptr_t)p) % 16;
}

size_t evc_prime_work_bytes(const struct evc_bn *kernel, size_t n_bytes)
{
    return 15 + evc_bn_modulus_bytes(kernel, 8 * n_bytes) +
           evc_bn_scratch_bytes(kernel, 8 * n_bytes) + EVC_PRIME_NUMBERS * n_bytes;
}

uint8_t *evc_prime_work_place(struct evc_prime_work *w, const struct evc_bn *kernel, size_t n_bytes,
                              void *memory)
{
    uint8_t *at = aligned16(memory);

    w->kernel = kernel;
    w->n_bytes = n_bytes;
    w->modulus_bytes = evc_bn_modulus_bytes(kernel, 8 * n_bytes);
    w->scratch_bytes = evc_bn_scratch_bytes(kernel, 8 * n_bytes);
    w->modulus = at;
    w->scratch = at += w->modulus_bytes;
    w->base = at += w->scratch_bytes;
    w->power = at += n_bytes;
    w->half = at += n_bytes;
    w->other = at += n_bytes;
    return at + n_bytes;
}

enum evc_status evc_prime_work_set(struct evc_prime_work *w, const uint8_t *n)
{
    const enum evc_status status =
        evc_bn_set_modulus_in(w->modulus, w->modulus_bytes, w->kernel, n, w->n_bytes);

    if (status == EVC_OK)
        evc_number_halve(w->half, n, w->n_bytes);
    return status;
}

/* ---- Base 2 ---------------------------------------------------------------------------------- */

/* r = a where mask is all ones, else 0, in a kernel's form. */
static void take(uint8_t *r, const uint8_t *a, size_t form_bytes, uint32_t mask)
{
    const uint64_t wide = evc_barrier64((uint64_t)mask << 32 | mask);

    for (size_t at = 0; at < form_bytes; at += 8)
        evc_store64_ne(r + at, evc_load64_ne(a + at) & wide);
}

/* sum = 2 to a number k that the first bits of the exponent make: as many as leave 2^k at most 2^(8
 * n_bytes - 8), which is below the modulus, since its first byte is not zero. Returns how many bits
 * are left. number: n_bytes bytes. */
static size_t raise_two_at_once(const struct evc_bn_modulus *n, const uint8_t *exponent,
                                uint8_t *sum, uint8_t *number, void *scratch)
{
    size_t n_bits = 8 * (size_t)n->n_bytes, k = 0;

    while (n_bits > 0) {
        const size_t next = 2 * k + evc_number_bit(exponent, n->n_bytes, n_bits - 1);

        if (next > 8 * (size_t)n->n_bytes - 8)
            break;
        k = next;
        n_bits--;
    }
    memset(number, 0, n->n_bytes);
    number[n->n_bytes - 1 - k / 8] = (uint8_t)(1u << k % 8);
    evc_bn_op_enter(n, sum, number, n->n_bytes, scratch);
    return n_bits;
}

/* out = 2 to the exponent. is_public: the bits of the exponent may show in the time; a constant. */
EVC_INLINE void raise_two(const struct evc_bn_modulus *n, const uint8_t *exponent, uint8_t *out,
                          void *scratch, int is_public)
{
    uint8_t *const sum = evc_bn_number(n, scratch, 0), *const addend = evc_bn_number(n, scratch, 1);
    size_t n_bits = 8 * (size_t)n->n_bytes;

    if (is_public)
        n_bits = raise_two_at_once(n, exponent, sum, out, scratch);
    else
        evc_copy_secret(sum, evc_bn_one(n), n->shape.form_bytes);
    while (n_bits-- > 0) {
        const uint32_t bit = evc_number_bit(exponent, n->n_bytes, n_bits);

        evc_bn_op_sqr(n, sum, sum, scratch);
        if (!is_public) {
            take(addend, sum, n->shape.form_bytes, evc_mask_nonzero32(bit));
            evc_bn_op_add(n, sum, sum, addend, scratch);
        } else if (bit) {
            evc_bn_op_add(n, sum, sum, sum, scratch);
        }
    }
    evc_bn_op_leave(n, out, sum, addend, scratch);
}

EVC_OUT_OF_LINE void raise_two_by_masks(const struct evc_bn_modulus *n, const uint8_t *exponent,
                                        uint8_t *out, void *scratch)
{
    raise_two(n, exponent, out, scratch, 0);
}

EVC_OUT_OF_LINE void raise_two_by_branches(const struct evc_bn_modulus *n, const uint8_t *exponent,
                                           uint8_t *out, void *scratch)
{
    raise_two(n, exponent, out, scratch, 1);
}

void evc_prime_power_of_two(struct evc_prime_work *w, const uint8_t *exponent, uint8_t *out)
{
    const struct evc_bn_modulus *n = evc_prime_modulus(w);

    raise_two_by_masks(n, exponent, out, w->scratch);
    evc_bn_end(n, w->scratch, 2);
}

uint32_t evc_prime_passes_two(struct evc_prime_work *w)
{
    evc_prime_power_of_two(w, w->half, w->power);
    return evc_prime_is_plus_minus_one(w, w->power);
}

uint32_t evc_prime_passes_two_public(struct evc_prime_work *w)
{
    const struct evc_bn_modulus *const n = evc_prime_modulus(w);

    raise_two_by_branches(n, w->half, w->power, w->scratch);
    evc_bn_end(n, w->scratch, 2);
    return evc_prime_is_plus_minus_one(w, w->power);
}

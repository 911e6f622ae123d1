/* SPDX-License-Identifier: MIT */
/*
 * Slots of x86_adx and x86_adx_intel: calls of the assembly of x86_adx_asm.h. Included after
 * bn/limbs_steps.h. A kernel defines X86_ADX_NAME(slot), the name of a function of the assembly.
 */
#ifndef EVC_BN_X86_ADX_STEPS_H
#define EVC_BN_X86_ADX_STEPS_H

void EVC_SYSV X86_ADX_NAME(mul)(limb *r, const limb *a, const limb *b, const limb *n,
                                 size_t limbs, limb *t, limb n0);
void EVC_SYSV X86_ADX_NAME(sqr)(limb *r, const limb *a, const limb *b, const limb *n,
                                 size_t limbs, limb *t, limb n0);
void EVC_SYSV X86_ADX_NAME(raise)(limb *r, size_t n_squares, limb *b, const limb *n, size_t limbs,
                                   limb *t, limb n0, const void *table, size_t n_entries,
                                   size_t index, size_t entries_a_square);
void EVC_SYSV X86_ADX_NAME(select)(void *r, const void *table, size_t form_bytes,
                                    size_t n_entries, size_t index);

static void mul(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const struct private_part *p = private_part(key);

    X86_ADX_NAME(mul)(r, a, b, p->n, limbs_for(evc_bn_n_bytes(key)), scratch, p->n0);
}

/* A product is faster for fewer limbs than a strip has. */
static void sqr(const void *key, void *r, const void *a, void *scratch)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    const struct private_part *p = private_part(key);

    if (limbs < 8)
        X86_ADX_NAME(mul)(r, a, a, p->n, limbs, scratch, p->n0);
    else
        X86_ADX_NAME(sqr)(r, a, a, p->n, limbs, scratch, p->n0);
}

/* Vectors, which builds for general registers alone leave out. */
#if defined(__SSE2__)
static void select_entry(const void *key, void *r, const void *table, size_t n_entries,
                         size_t index)
{
    X86_ADX_NAME(select)(r, table, ((const struct evc_bn_modulus *)key)->shape.form_bytes,
                          n_entries, index);
}

/* Entries of 8 and of 16 limbs have as many vectors as stay in registers during the squares. */
static void raise_and_multiply(const void *key, void *r, unsigned n_squares, void *factor,
                               const void *table, size_t n_entries, size_t index, void *scratch)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    const struct private_part *p = private_part(key);

    if (limbs != 8 && limbs != 16) {
        select_entry(key, factor, table, n_entries, index);
        n_entries = 0;
    }
    if (limbs >= 8) {
        X86_ADX_NAME(raise)(r, n_squares, factor, p->n, limbs, scratch, p->n0, table, n_entries,
                             index, ((unsigned)n_entries + n_squares - 1) / n_squares);
        return;
    }
    for (; n_squares; n_squares--)
        sqr(key, r, r, scratch);
    mul(key, r, r, factor, scratch);
}
#else
#define select_entry NULL
#define raise_and_multiply NULL
#endif

#define X86_ADX_SLOTS                                                               \
    BN_LIMBS_SLOTS, .mul = mul, .sqr = sqr, .select = select_entry, .raise = raise_and_multiply

#endif

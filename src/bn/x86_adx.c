/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for x86-64 with mulx, adcx and adox, in assembly.
 *
 * Method:   the product first, then its reduction, both in strips of eight limbs whose sums stay
 *           in registers, by eight rows at a time; two digits of the reduction at once. Squares
 *           have each cross product once. Limbs that fill no strip make a narrower one, so no
 *           length of numbers pays for a longer one. Between the steps of a power, numbers are
 *           below R alone, not below n, and a table is read while squares wait for carries.
 * Source:   Ozturk et al.: New Instructions Supporting Large Integer Arithmetic, Intel (2012), for
 *           mulx and chains of carries; Koc, Acar, Kaliski: Analyzing and Comparing Montgomery
 *           Multiplication Algorithms, IEEE Micro 16 (1996), method SOS; Gueron: Efficient Software
 *           Implementations of Modular Exponentiation, J. Cryptogr. Eng. 2 (2012), for numbers
 *           below R.
 * Needs:    X86_ADX_SSE2.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(X86_ADX_SSE2)
#define LIMB_BITS 64
#include "bn/limbs_steps.h"

void EVC_SYSV evc_bn_x86_adx_mul(limb *r, const limb *a, const limb *b, const limb *n,
                                 size_t limbs, limb *t, limb n0);
void EVC_SYSV evc_bn_x86_adx_sqr(limb *r, const limb *a, const limb *b, const limb *n,
                                 size_t limbs, limb *t, limb n0);
void EVC_SYSV evc_bn_x86_adx_raise(limb *r, size_t n_squares, limb *b, const limb *n, size_t limbs,
                                   limb *t, limb n0, const void *table, size_t n_entries,
                                   size_t index, size_t entries_a_square);
void EVC_SYSV evc_bn_x86_adx_select(void *r, const void *table, size_t form_bytes,
                                    size_t n_entries, size_t index);

static void mul(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const struct private_part *p = private_part(key);

    evc_bn_x86_adx_mul(r, a, b, p->n, limbs_for(evc_bn_n_bytes(key)), scratch, p->n0);
}

/* A product is faster for fewer limbs than a strip has. */
static void sqr(const void *key, void *r, const void *a, void *scratch)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    const struct private_part *p = private_part(key);

    if (limbs < 8)
        evc_bn_x86_adx_mul(r, a, a, p->n, limbs, scratch, p->n0);
    else
        evc_bn_x86_adx_sqr(r, a, a, p->n, limbs, scratch, p->n0);
}

/* Vectors, which builds for general registers alone leave out. */
#if defined(__SSE2__)
static void select_entry(const void *key, void *r, const void *table, size_t n_entries,
                         size_t index)
{
    evc_bn_x86_adx_select(r, table, ((const struct evc_bn_modulus *)key)->shape.form_bytes,
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
        evc_bn_x86_adx_raise(r, n_squares, factor, p->n, limbs, scratch, p->n0, table, n_entries,
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

const struct evc_bn evc_bn_x86_adx = {
    .kernel = EVC_KERNEL_HEAD(x86_adx, X86_ADX_SSE2, CT, ANY, 1, struct evc_bn_modulus, 0,
                              BASELINE, 704),
    BN_LIMBS_SLOTS,
    .mul = mul,
    .sqr = sqr,
    .select = select_entry,
    .raise = raise_and_multiply,
};
#else
EVC_EMPTY_UNIT
#endif

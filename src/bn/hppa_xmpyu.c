/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for PA-RISC 1.1 in assembly, by blocks of eight words.
 *
 * Method:   the product first, then its reduction, both by blocks of eight words whose sums stay in registers, with two
 *           chains of carries; products by xmpyu, each row multiplied while the row before is summed. Squares have each
 *           cross product once. Words that fill no block are multiplied by blocks of the other factor, so no length of
 *           numbers pays for a longer one.
 * Source:   PA-RISC 1.1 Architecture and Instruction Set Reference Manual (1994), chapter 6 (XMPYU); Koc, Acar,
 *           Kaliski: Analyzing and Comparing Montgomery Multiplication Algorithms, IEEE Micro 16 (1996), method SOS.
 * Needs:    HPPA_XMPYU.   Timing: CT (no secret branches or addresses; rests on the multiplier's constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(HPPA_XMPYU)
#define LIMB_BITS 32
#define LIMBS_IN_BLOCK 8
#define LIMBS_IN_R 2
#include "bn/limbs_steps.h"

#include "bn/hppa_blocks.h"
#include "common/clear.h"

/* r = t / R modulo n, and zeros behind it; r may be what t was made of. */
static void reduce_to(limb *r, limb *t, const struct private_part *p, size_t n_bytes)
{
    const size_t limbs = limbs_in_pieces(n_bytes, LIMBS_IN_R), held = limbs_for(n_bytes);

    if (limbs < held)
        clear_eight(r + held - LIMBS_IN_BLOCK);
    reduce(r, t, p->n, p->n0, limbs);
}

static void mul(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const size_t n_bytes = evc_bn_n_bytes(key);

    product(scratch, a, b, limbs_in_pieces(n_bytes, LIMBS_IN_R));
    reduce_to(r, scratch, private_part(key), n_bytes);
}

static void sqr(const void *key, void *r, const void *a, void *scratch)
{
    const size_t n_bytes = evc_bn_n_bytes(key);

    square(scratch, a, limbs_in_pieces(n_bytes, LIMBS_IN_R));
    reduce_to(r, scratch, private_part(key), n_bytes);
}

EVC_DEFINE_CLEAR_STACK(clear, BASELINE, 704)

const struct evc_bn evc_bn_hppa_xmpyu = {
    .kernel = EVC_KERNEL_HEAD(hppa_xmpyu, HPPA_XMPYU, CT, ANY, 1, struct evc_bn_modulus, 0, clear),
    BN_LIMBS_SLOTS,
    .mul = mul,
    .sqr = sqr,
};
#else
EVC_EMPTY_UNIT
#endif

/* SPDX-License-Identifier: MIT */
/*
 * X25519 by four words of 64 bits with mulx, adcx and adox, in assembly.
 *
 * Method:   the Montgomery ladder (ladder_steps.h). 2^256 counts 38, and 2^255 counts 19. Products
 *           by rows of four words, with two chains of carries at once; squares with each cross
 *           product once.
 * Source:   RFC 7748 section 5; Ozturk et al.: New Instructions Supporting Large Integer
 *           Arithmetic, Intel (2012).
 * Needs:    X86_ADX.   Timing: CT (no secret branches or addresses; rests on the multiplier's
 *           constant time).
 * Key form: private.
 */
#include "x25519/kernel.h"

#if EVC_BUILT(X86_ADX)
#include "common/bytes.h"

/*
 * An element modulo p = 2^255 - 19. A product, a square or a loaded element is below 2^255 + 2^23,
 * a sum or a difference of two of them below 2^256.
 */
#define N_LIMBS 4
#define BITS_OF(i) 64

typedef uint64_t limb_t;

struct fe {
    limb_t limb[N_LIMBS];
};

struct ladder;

/* The first five elements of l, by so many bits of the scalar from the highest on. */
void EVC_SYSV evc_x25519_x86_adx_ladder(struct ladder *l, const uint8_t *scalar, uint32_t n_bits);
void EVC_SYSV evc_x25519_x86_adx_mul(struct fe *out, const struct fe *a, const struct fe *b);
void EVC_SYSV evc_x25519_x86_adx_squares(struct fe *out, const struct fe *in, uint32_t n);

#define fe_mul evc_x25519_x86_adx_mul
#define fe_square(out, a) evc_x25519_x86_adx_squares(out, a, 1)
#define fe_squares evc_x25519_x86_adx_squares
#define ladder_of evc_x25519_x86_adx_ladder

static void fe_set(struct fe *out, uint32_t value)
{
    out->limb[0] = value;
    out->limb[1] = out->limb[2] = out->limb[3] = 0;
}

static void fe_load(struct fe *out, const uint8_t *in)
{
    for (int i = 0; i < N_LIMBS; i++)
        out->limb[i] = evc_load64_le(in + 8 * i);
}

/* out = a + more */
EVC_INLINE void add_word(uint64_t out[N_LIMBS], const uint64_t a[N_LIMBS], uint64_t more)
{
    for (int i = 0; i < N_LIMBS; i++) {
        out[i] = a[i] + more;
        more = out[i] < more;
    }
}

/* Without bit 255, which counts 19, the number is below 2^255 + 19. 19 more carry into bit 255 just
 * where it is not below p: then they are added, and bit 255 is dropped. */
static void fe_store(uint8_t *out, const struct fe *a)
{
    const uint64_t bits = UINT64_MAX >> 1;
    uint64_t w[N_LIMBS] = {a->limb[0], a->limb[1], a->limb[2], a->limb[3] & bits}, more[N_LIMBS];

    add_word(w, w, 19 * (a->limb[3] >> 63));
    add_word(more, w, 19);
    add_word(w, w, 19 * (more[3] >> 63));
    w[3] &= bits;
    for (int i = 0; i < N_LIMBS; i++)
        evc_store64_le(out + 8 * i, w[i]);
}

#include "x25519/ladder_steps.h"

const struct evc_x25519 evc_x25519_x86_adx = {
    .kernel = EVC_KEYLESS_HEAD(x86_adx, X86_ADX, CT, ANY, BASELINE, 1024),
    .multiply = multiply,
};
#else
EVC_EMPTY_UNIT
#endif

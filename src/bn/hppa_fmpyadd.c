/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for PA-RISC 1.1 in assembly, with digits of 23 bits as
 * numbers of floating point.
 *
 * Method:   the product first, then its reduction, both by blocks of eight digits whose sums
 *           stay in registers. A digit is a double from -2^22 to 2^22; products of digits and
 *           their sums are whole numbers below 2^53, so they are exact. fmpyadd makes a product
 *           and adds another one: with all loads and stores a product takes 1.4 instructions,
 *           where words by xmpyu take 6, for half as many products. Squares have each cross
 *           product once. R is above 4n, and numbers are from -n to n. Entries of a table are
 *           summed, each times 0 or 1.
 * Source:   PA-RISC 1.1 Architecture and Instruction Set Reference Manual (1994),
 *           chapter 6 (FMPYADD); Koc, Acar,
 *           Kaliski: Analyzing and Comparing Montgomery Multiplication Algorithms, IEEE Micro 16
 *           (1996), method SOS; Walter: Montgomery exponentiation needs no final subtractions,
 *           Electronics Letters 35 (1999).
 * Needs:    HPPA_FMPYADD.   Timing: CT (no secret branches or addresses; rests on the multiplier's
 *           constant time: no number is denormal, infinite or none).
 * Key form: private.
 *
 * Let B = 2^w be the base: w = 23 where numbers have less than 256 digits, 22 for longer ones, and
 * 25 where 8 digits are enough then. D is the number of digits, a multiple of 8 with
 * B^D = R >= 4 * 2^bits, for a modulus of so many bits.
 *
 * Range of numbers. q, the multiple of n that a reduction adds, has digits from -B/2 to B/2, so
 * |q| <= (R/2) B / (B - 1). For factors |a| <= 2^bits, which holds for all that is loaded, and
 * |b| < n, the result (a b + q n) / R is at most n/4 + n/2 (1 + 2^-21) in size: below n. A sum of
 * two results is between -2n and 2n. Less n if it is positive, or with n more if it is negative, it
 * is between -n and n again. The sign is told by the digits above place e, where 4 B^e <= n: if
 * they are -1, 0 or 1, the sum is at most 2.1 B^e in size, and stays as it is.
 *
 * Range of places. A digit is at most B/2 in size, also the highest one, as numbers are at most
 * 2^bits <= B^D / 4. A place gets at most D products a[i] b[j], of which a square doubles half and
 * leaves out the others, and D products q[i] n[j]: 2 D (B/2)^2 in size. With w = 23 and D <= 248
 * that is at most 496 * 2^44 = 2^53 - 2^48; with w = 22 and D <= 376, 752 * 2^42 < 2^52; with
 * w = 25 and D = 8, 16 * 2^48 = 2^52. The carry from the place below is below 2^53 / B <= 2^31. So
 * each sum on the way is a whole number below 2^53, and so is the product of a digit and -1 / n
 * modulo B, two numbers up to B/2. The nearest multiple of B is found by a sum with 1.5 * 2^52 B
 * and a difference: of a number below 2^53, that sum is from 2^52 B to 2^53 B, where doubles are
 * the multiples of B. In a sum of results, a place is at most 1.5 B.
 *
 * Nothing here calculates in floating point but the assembly, whose results depend on no
 * status of the unit that the caller has set. Digits become doubles and come back by
 * conversions that are exact.
 */
#include "everycore/isa.h"

#if EVC_BUILT(HPPA_FMPYADD)
#include "bn/kernel.h"

#include "common/ct.h"

#define DIGIT_BITS 23
#define SPARE_BITS 2
#define MOST_BYTES_OF_MOST_BITS 712 /* of n: with them, there are 248 digits */
#define MOST_BYTES_OF_EIGHT 24      /* of n, in eight digits of two bits more */

struct private_part {
    EVC_ALIGN(16) double round; /* 1.5 * 2^52 * B */
    double n0;                  /* -1 / n modulo B, from -B/2 on */
    double shift;               /* 1 / B */
    uint32_t digits, digit_bits;
    uint32_t sign_at, unused; /* place e: 4 B^e is not above n */
    double n[]; /* the digits of n */
};

#define ASSEMBLY(name) evc_bn_hppa_fmpyadd_##name
void ASSEMBLY(mul)(double *r, const double *a, const double *b, const struct private_part *key,
                   double *t, size_t digits);
void ASSEMBLY(sqr)(double *r, const double *a, const struct private_part *key, double *t,
                   size_t digits);
void ASSEMBLY(sum)(double *r, const double *a, const double *b, const struct private_part *key,
                   const double *factors, size_t digits);
void ASSEMBLY(select)(double *r, const double *table, const double *factors, size_t n_entries,
                      size_t digits);

static unsigned digit_bits_for(size_t n_bytes)
{
    return n_bytes <= MOST_BYTES_OF_EIGHT       ? DIGIT_BITS + 2
           : n_bytes <= MOST_BYTES_OF_MOST_BITS ? DIGIT_BITS
                                                : DIGIT_BITS - 1;
}

static size_t digits_for(size_t n_bytes)
{
    const size_t block_bits = 8 * digit_bits_for(n_bytes);

    return (8 * n_bytes + SPARE_BITS + block_bits - 1) / block_bits * 8;
}

EVC_INLINE const struct private_part *private_part(const void *key)
{
    return EVC_BN_PRIVATE_CONST(key);
}

static void shape(size_t n_bytes, struct evc_bn_shape *s)
{
    const size_t digits = digits_for(n_bytes);

    s->r_bits = (uint32_t)(digit_bits_for(n_bytes) * digits);
    s->loaded_bits = 0;
    s->form_bytes = (uint32_t)(sizeof(double) * digits);
    s->private_bytes = (uint32_t)EVC_BN_ROUND16(offsetof(struct private_part, n)) + s->form_bytes;
    s->scratch_bytes = 2 * s->form_bytes;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* x less the nearest multiple of B, which goes to *above in units of B. */
EVC_INLINE int32_t nearest(int32_t x, int32_t *above, unsigned digit_bits)
{
    *above = (x + ((int32_t)1 << (digit_bits - 1))) >> digit_bits;
    return x - *above * ((int32_t)1 << digit_bits);
}

static void load_digits(double *r, const uint8_t *in, size_t in_bytes, size_t digits,
                        unsigned digit_bits)
{
    const uint32_t mask = ((uint32_t)1 << digit_bits) - 1;
    uint32_t bits = 0;
    unsigned n_bits = 0;
    int32_t carry = 0;

    for (size_t i = 0; i < digits; i++) {
        for (; n_bits < digit_bits && in_bytes > 0; n_bits += 8)
            bits |= (uint32_t)in[--in_bytes] << n_bits;
        carry += (int32_t)(bits & mask);
        r[i] = (double)nearest(carry, &carry, digit_bits);
        bits >>= digit_bits;
        n_bits = n_bits > digit_bits ? n_bits - digit_bits : 0;
    }
}

static void load(const void *key, void *r, const uint8_t *in, size_t in_bytes)
{
    const struct private_part *const p = private_part(key);

    load_digits(r, in, in_bytes, p->digits, p->digit_bits);
}

static void store(const void *key, uint8_t *out, const void *va)
{
    const struct private_part *const p = private_part(key);
    const double *const a = va;
    const unsigned digit_bits = p->digit_bits;
    size_t left = evc_bn_n_bytes(key);
    int32_t sum = 0;
    uint32_t bits = 0, negative;
    unsigned n_bits = 0;

    for (size_t i = 0; i < p->digits; i++)
        sum = (sum + (int32_t)a[i]) >> digit_bits;
    negative = evc_barrier32((uint32_t)sum); /* all ones, or 0 */
    sum = 0;
    for (size_t i = 0; left > 0; i++) {
        sum += (int32_t)a[i] + (int32_t)((uint32_t)(int32_t)p->n[i] & negative);
        bits |= ((uint32_t)sum & (((uint32_t)1 << digit_bits) - 1)) << n_bits;
        sum >>= digit_bits;
        for (n_bits += digit_bits; n_bits >= 8 && left > 0; n_bits -= 8, bits >>= 8)
            out[--left] = (uint8_t)bits;
    }
}

/* Newton's iteration doubles the bits that are right: from 3, for n n = 1 modulo 8. */
static int32_t negative_inverse(uint32_t low, unsigned digit_bits)
{
    uint32_t inverse = low;
    int32_t above;

    for (unsigned bits = 3; bits < digit_bits; bits *= 2)
        inverse *= 2 - low * inverse;
    return nearest((int32_t)((0u - inverse) & (((uint32_t)1 << digit_bits) - 1)), &above,
                   digit_bits);
}

#define ROUND_TO(bits) (1.5 * 4503599627370496.0 * (1 << (bits)))

static void set_modulus(void *key, const uint8_t *n)
{
    struct private_part *const p = EVC_BN_PRIVATE(key);
    const size_t n_bytes = evc_bn_n_bytes(key);
    const unsigned digit_bits = digit_bits_for(n_bytes);

    p->digits = (uint32_t)digits_for(n_bytes);
    p->digit_bits = digit_bits;
    p->sign_at = (uint32_t)(8 * n_bytes - 10) / digit_bits;
    p->round = digit_bits > DIGIT_BITS    ? ROUND_TO(DIGIT_BITS + 2)
               : digit_bits == DIGIT_BITS ? ROUND_TO(DIGIT_BITS)
                                          : ROUND_TO(DIGIT_BITS - 1);
    p->shift = digit_bits > DIGIT_BITS    ? 1.0 / (1 << (DIGIT_BITS + 2))
               : digit_bits == DIGIT_BITS ? 1.0 / (1 << DIGIT_BITS)
                                          : 1.0 / (1 << (DIGIT_BITS - 1));
    load_digits(p->n, n, n_bytes, p->digits, p->digit_bits);
    p->n0 = (double)negative_inverse((uint32_t)(int32_t)p->n[0], p->digit_bits);
}

/* ---- Sums and products ----------------------------------------------------------------------- */

/* -1, 0 or 1: the sign of a + b or a - b, or 0 where that is small. */
static int32_t sign_of(const void *key, const double *a, const double *b, int32_t b_sign)
{
    const struct private_part *const p = private_part(key);
    const size_t at = p->sign_at;
    int64_t above = (int32_t)a[at] + b_sign * (int32_t)b[at];

    if (at + 1 < p->digits)
        above += (int64_t)((int32_t)a[at + 1] + b_sign * (int32_t)b[at + 1]) *
                 ((int32_t)1 << p->digit_bits);
    return (int32_t)((1 - above) >> 63 & 1) - (int32_t)((above + 1) >> 63 & 1);
}

static void sum_or_difference(const void *key, void *r, const void *a, const void *b,
                              int32_t b_sign)
{
    const struct private_part *const p = private_part(key);
    const double factors[2] = {(double)b_sign, (double)-sign_of(key, a, b, b_sign)};

    ASSEMBLY(sum)(r, a, b, p, factors, p->digits);
}

static void add(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    (void)scratch;
    sum_or_difference(key, r, a, b, 1);
}

static void sub(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    (void)scratch;
    sum_or_difference(key, r, a, b, -1);
}

static void mul(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const struct private_part *const p = private_part(key);

    ASSEMBLY(mul)(r, a, b, p, scratch, p->digits);
}

static void sqr(const void *key, void *r, const void *a, void *scratch)
{
    const struct private_part *const p = private_part(key);

    ASSEMBLY(sqr)(r, a, p, scratch, p->digits);
}

/* Out of line: the factors tell the index, and lie below the caller's frame. */
static void select_entry(const void *key, void *r, const void *table, size_t n_entries,
                         size_t index)
{
    double factors[32]; /* a window has 5 bits at most */

    for (size_t i = 0; i < n_entries; i++)
        factors[i] = (double)(int32_t)(1 + evc_mask_nonzero32((uint32_t)(i ^ index)));
    ASSEMBLY(select)(r, table, factors, n_entries, private_part(key)->digits);
}

const struct evc_bn evc_bn_hppa_fmpyadd = {
    .kernel = EVC_KERNEL_HEAD(hppa_fmpyadd, HPPA_FMPYADD, CT, ANY, 1, struct evc_bn_modulus, 0,
                              BASELINE, 704),
    .lanes = 1,
    .shape = shape,
    .set_modulus = set_modulus,
    .load = load,
    .store = store,
    .add = add,
    .sub = sub,
    .mul = mul,
    .sqr = sqr,
    .select = select_entry,
};
#else
EVC_EMPTY_UNIT
#endif

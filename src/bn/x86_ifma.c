/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for x86-64 with vpmadd52 on vectors of 512 bits: one modulus, two side by side, or eight.
 *
 * Method:   digits of 52 bits. One modulus or two: a vector's lanes are blocks of one number (ifma_wide.h). Five to
 *           eight: a vector holds one digit of each of eight numbers, and columns are summed panel by panel, squares
 *           with each cross product once (ifma_batch.h). Numbers stay below 2n, until they are stored.
 * Source:   Walter: Montgomery's multiplication technique: how to make it smaller and faster, CHES 1999; Gueron,
 *           Krasnov: Software implementation of modular exponentiation, using advanced vector instructions
 *           architectures, WAIFI 2012; Buhrow, Gilbert, Haider: Parallel modular multiplication using 512-bit advanced
 *           vector instructions, Journal of Cryptographic Engineering 12 (2022), for products by blocks.
 * Needs:    X86_IFMA.   Timing: CT (no secret branches or addresses; rests on the multipliers' constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(X86_IFMA)
#include "bn/ifma_batch.h"
#include "bn/ifma_wide.h"
#include "bn/ops.h"

EVC_ISA_BEGIN(X86_IFMA)

/* ---- Moduli -------------------------------------------------------------------------------------------- */

/* Behind it: n, then 2^(416 V) - 2n and 2^(416 V) - n, each V vectors. */
struct private_part {
    EVC_ALIGN(16) uint64_t k0; /* -1 / n modulo 2^52 */
};

enum { MODULUS, MINUS_TWO, MINUS_ONE, N_CONSTANTS };

EVC_INLINE const struct private_part *private_part(const void *key)
{
    return EVC_BN_PRIVATE_CONST(key);
}

EVC_INLINE const uint8_t *constant(const void *key, size_t which, uint32_t vectors)
{
    return at_const(private_part(key) + 1, which * vectors);
}

EVC_INLINE uint32_t vectors_of(const void *key)
{
    return vectors_for(evc_bn_n_bytes(key));
}

static void shape(size_t n_bytes, struct evc_bn_shape *s)
{
    const uint32_t vectors = vectors_for(n_bytes);

    s->r_bits = DIGIT_BITS * vectors * turns_for(n_bytes, vectors);
    s->form_bytes = (uint32_t)sizeof(vec) * vectors;
    s->private_bytes = (uint32_t)sizeof(struct private_part) + N_CONSTANTS * s->form_bytes;
    s->scratch_bytes = SIDE_VECTORS * s->form_bytes;
}

/* ---- Bytes --------------------------------------------------------------------------------------------- */

/* 56 bits of the number from byte number `from` on, the least significant byte being number 0. */
static uint64_t bits_from(const uint8_t *in, size_t in_bytes, size_t from)
{
    uint64_t bits = 0;

    if (from + 8 <= in_bytes)
        return evc_load64_be(in + in_bytes - 8 - from);
    for (size_t i = from; i < in_bytes; i++)
        bits |= (uint64_t)in[in_bytes - 1 - i] << 8 * (i - from);
    return bits;
}

static void load_vectors(void *r, const uint8_t *in, size_t in_bytes, uint32_t vectors)
{
    clear_vectors(r, vectors);
    for (size_t i = 0, bit = 0; bit < 8 * in_bytes; i++, bit += DIGIT_BITS)
        evc_store64_ne((uint8_t *)r + 8 * word_of(i, vectors),
                       bits_from(in, in_bytes, bit / 8) >> bit % 8 & DIGIT_MASK);
}

EVC_INLINE uint64_t word_at(const void *x, size_t i, uint32_t vectors)
{
    return evc_load64_ne((const uint8_t *)x + 8 * word_of(i, vectors));
}

static void load(const void *key, void *r, const uint8_t *in, size_t in_bytes)
{
    load_vectors(r, in, in_bytes, vectors_of(key));
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* Bytes of a, less n if that is not negative: digit by digit, since there is no scratch memory here. */
static void store(const void *key, uint8_t *out, const void *a)
{
    const size_t n_bytes = evc_bn_n_bytes(key), n_digits = (8 * n_bytes + 1) / DIGIT_BITS + 1;
    const uint32_t vectors = vectors_of(key);
    const uint8_t *n = constant(key, MODULUS, vectors);
    uint64_t borrow = 0, mask, bits = 0;
    size_t n_bits = 0, n_out = 0;

    for (size_t i = 0; i < n_digits; i++)
        borrow = (word_at(a, i, vectors) - word_at(n, i, vectors) - borrow) >> 63;
    mask = evc_barrier64(borrow - 1);
    borrow = 0;
    for (size_t i = 0; i < n_digits; i++) {
        const uint64_t difference = word_at(a, i, vectors) - (word_at(n, i, vectors) & mask) - borrow;

        borrow = difference >> 63;
        bits |= (difference & DIGIT_MASK) << n_bits;
        for (n_bits += DIGIT_BITS; n_bits >= 8 && n_out < n_bytes; n_bits -= 8, bits >>= 8)
            out[n_bytes - 1 - n_out++] = (uint8_t)bits;
    }
}

static void set_modulus(void *key, const uint8_t *n)
{
    const size_t n_bytes = evc_bn_n_bytes(key);
    const uint32_t vectors = vectors_for(n_bytes);
    struct private_part *p = EVC_BN_PRIVATE(key);
    uint8_t *const modulus = (uint8_t *)(p + 1), *const minus_two = at(modulus, vectors * MINUS_TWO),
                   *const minus_one = at(modulus, vectors * MINUS_ONE);
    uint64_t inverse, above = 0;

    load_vectors(modulus, n, n_bytes, vectors);
    for (size_t i = 0; i < (size_t)LANES * vectors; i++) { /* n is odd: adding 1 to a complement carries nowhere */
        const uint64_t d = word_at(modulus, i, vectors), twice = (d << 1 & DIGIT_MASK) | above;

        above = d >> (DIGIT_BITS - 1);
        evc_store64_ne(minus_one + 8 * word_of(i, vectors), DIGIT_MASK - d + (i == 0));
        evc_store64_ne(minus_two + 8 * word_of(i, vectors), DIGIT_MASK - twice + (i == 0));
    }
    inverse = word_at(modulus, 0, vectors);
    for (int bits = 3; bits < DIGIT_BITS; bits *= 2) /* Newton's iteration doubles the bits that are right */
        inverse *= 2 - word_at(modulus, 0, vectors) * inverse;
    p->k0 = (0 - inverse) & DIGIT_MASK;
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* ---- Sums ---------------------------------------------------------------------------------------------- */

/* x = t if the carry of normalizing t says so, else x; both become digits. */
static void choose_by_carry(void *r, void *x, void *t, uint32_t vectors)
{
    vec keep;

    normalize(x, vectors);
    keep = _mm512_set1_epi64((long long)normalize(t, vectors) - 1);
    for (uint32_t v = 0; v < vectors; v++) /* keep ? x : t */
        v_store(at(r, v), _mm512_ternarylogic_epi64(keep, v_load(at(x, v)), v_load(at(t, v)), 0xca));
}

/* a + b, less 2n if that is not negative. */
static void add(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const uint32_t vectors = vectors_of(key);
    const uint8_t *minus_two = constant(key, MINUS_TWO, vectors);
    uint8_t *const x = scratch, *const t = at(scratch, vectors);

    for (uint32_t v = 0; v < vectors; v++) {
        const vec sum = v_add(v_load(at_const(a, v)), v_load(at_const(b, v)));

        v_store(at(x, v), sum);
        v_store(at(t, v), v_add(sum, v_load(at_const(minus_two, v))));
    }
    choose_by_carry(r, x, t, vectors);
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* a - b, and 2n more if that is negative: with complements, which are 1 too small, so that no digit is. */
static void sub(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const uint32_t vectors = vectors_of(key);
    const uint8_t *minus_two = constant(key, MINUS_TWO, vectors);
    const vec one = _mm512_maskz_set1_epi64(1, 1);
    uint8_t *const x = scratch, *const t = at(scratch, vectors);

    for (uint32_t v = 0; v < vectors; v++) {
        vec difference = v_add(v_load(at_const(a, v)), _mm512_sub_epi64(v_digits, v_load(at_const(b, v))));

        if (v == 0)
            difference = v_add(difference, one);
        v_store(at(t, v), difference);
        difference = v_add(difference, _mm512_sub_epi64(v_digits, v_load(at_const(minus_two, v))));
        v_store(at(x, v), v == 0 ? v_add(difference, one) : difference);
    }
    choose_by_carry(r, x, t, vectors);
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* ---- Products ------------------------------------------------------------------------------------------ */

static void set_side(struct side *s, const struct evc_bn_modulus *n, uint32_t vectors)
{
    s->k0 = private_part(n)->k0;
    copy_vectors(s->n, constant(n, MODULUS, vectors), vectors);
}

static void mul(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const uint32_t vectors = vectors_of(key), turns = turns_for(evc_bn_n_bytes(key), vectors);
    struct side s;

    place_side(&s, scratch, vectors);
    set_side(&s, key, vectors);
#define PRODUCT(width, panels) one_product(&s, a, b, width, panels, turns)
    FOR_VECTORS(vectors, PRODUCT);
#undef PRODUCT
    copy_vectors(r, s.x, vectors);
    EVC_X86_CLEAR_UPPER_HALVES();
}

static void sqr(const void *key, void *r, const void *a, void *scratch)
{
    mul(key, r, a, a, scratch);
}

/* r = the entry of a table of numbers in so many vectors: each of them is read. */
EVC_INLINE void read_table(void *r, const void *table, size_t n_entries, size_t index, uint32_t vectors)
{
    for (uint32_t v = 0; v < vectors; v++) {
        vec x = v_zero;

        for (size_t i = 0; i < n_entries; i++) {
            const vec mask = _mm512_set1_epi32((int)~evc_mask_nonzero32((uint32_t)(i ^ index)));

            x = _mm512_ternarylogic_epi64(x, mask, v_load(at_const(table, i * vectors + v)), 0xf8); /* x | mask & t */
        }
        v_store(at(r, v), x);
    }
}

static void select_entry(const void *key, void *r, const void *table, size_t n_entries, size_t index)
{
    read_table(r, table, n_entries, index, vectors_of(key));
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* ---- Exponentiations: one or two ----------------------------------------------------------------------- */

enum { WIDE_WINDOW = 5, BATCH_WINDOW = 4 };

static const uint8_t two = 2;

/* A secret number, as it is below 2n. base = NULL: 2. */
static void load_base(void *r, const struct evc_bn_exp *e, uint32_t vectors)
{
    if (e->base)
        load_vectors(r, e->base, e->n->n_bytes, vectors);
    else
        load_vectors(r, &two, 1, vectors);
}

/* The exponentiations, one or two, and their memory: products go to side[i].x, and sum changes places with that. */
struct pair {
    struct side side[2];
    uint8_t *sum[2], *factor[2], *table[2];
    size_t n;
    uint32_t vectors, turns;
};

EVC_OUT_OF_LINE void pair_multiply(const struct pair *p, const void *const a[2], const uint8_t *const b[2])
{
#define PRODUCTS(width, panels)                                                                    \
    (p->n == 2 ? two_products(p->side, a, b, width, panels, p->turns)                              \
               : one_product(&p->side[0], a[0], b[0], width, panels, p->turns))
    FOR_VECTORS(p->vectors, PRODUCTS);
#undef PRODUCTS
}

/* sum = sum times b. */
static void pair_multiply_sum(struct pair *p, uint8_t *const b[2])
{
    const void *const a[2] = {p->sum[0], p->sum[1]};
    const uint8_t *const second[2] = {b[0], b[1]};

    pair_multiply(p, a, second);
    for (size_t i = 0; i < p->n; i++) {
        uint8_t *const product = p->side[i].x;

        p->side[i].x = p->sum[i];
        p->sum[i] = product;
    }
}

static void pair_place(struct pair *p, const struct evc_bn_exp *exps, size_t n_exps, void *scratch)
{
    uint8_t *memory = scratch;

    p->n = n_exps;
    p->vectors = vectors_of(exps[0].n);
    p->turns = turns_for(exps[0].n->n_bytes, p->vectors);
    for (size_t i = 0; i < n_exps; i++) {
        memory = place_side(&p->side[i], memory, p->vectors);
        set_side(&p->side[i], exps[i].n, p->vectors);
        p->sum[i] = memory;
        p->factor[i] = at(memory, p->vectors);
        p->table[i] = at(memory, 2 * p->vectors);
        memory = at(memory, (2 + ((size_t)1 << WIDE_WINDOW)) * p->vectors);
    }
    if (n_exps == 1) { /* the second is not looked at */
        p->side[1] = p->side[0];
        p->sum[1] = p->sum[0];
        p->factor[1] = p->factor[0];
        p->table[1] = p->table[0];
    }
}

/* Powers 0 to 2^window - 1 of the bases. */
static void pair_make_tables(struct pair *p, const struct evc_bn_exp *exps)
{
    const size_t entry = sizeof(vec) * p->vectors;

    for (size_t i = 0; i < p->n; i++) {
        load_base(p->sum[i], &exps[i], p->vectors);
        copy_vectors(p->factor[i], evc_bn_r2(exps[i].n), p->vectors);
        copy_vectors(p->table[i], evc_bn_one(exps[i].n), p->vectors);
    }
    pair_multiply_sum(p, p->factor);
    for (size_t i = 0; i < p->n; i++)
        copy_vectors(p->factor[i], p->sum[i], p->vectors);
    for (size_t power = 1; power < (size_t)1 << WIDE_WINDOW; power++) {
        for (size_t i = 0; i < p->n; i++)
            copy_vectors(p->table[i] + power * entry, p->sum[i], p->vectors);
        pair_multiply_sum(p, p->factor);
    }
}

EVC_OUT_OF_LINE void pair_exp(const struct evc_bn_exp *exps, size_t n_exps, void *scratch)
{
    const size_t exponent_bytes = exps[0].exponent_bytes, n_entries = (size_t)1 << WIDE_WINDOW;
    size_t bit = 8 * exponent_bytes - 1; /* the least significant of a window */
    struct pair p;

    pair_place(&p, exps, n_exps, scratch);
    pair_make_tables(&p, exps);
    bit -= bit % WIDE_WINDOW;
    for (size_t i = 0; i < n_exps; i++)
        read_table(p.sum[i], p.table[i], n_entries,
                   evc_bn_bits_of(exps[i].exponent, exponent_bytes, bit, WIDE_WINDOW), p.vectors);
    while (bit) {
        bit -= WIDE_WINDOW;
        for (int i = 0; i < WIDE_WINDOW; i++)
            pair_multiply_sum(&p, p.sum);
        for (size_t i = 0; i < n_exps; i++)
            read_table(p.factor[i], p.table[i], n_entries,
                       evc_bn_bits_of(exps[i].exponent, exponent_bytes, bit, WIDE_WINDOW), p.vectors);
        pair_multiply_sum(&p, p.factor);
    }
    for (size_t i = 0; i < n_exps; i++) {
        clear_vectors(p.factor[i], p.vectors);
        p.factor[i][0] = 1;
    }
    pair_multiply_sum(&p, p.factor);
    for (size_t i = 0; i < n_exps; i++)
        store(exps[i].n, exps[i].out, p.sum[i]);
}

/* ---- Exponentiations: eight ------------------------------------------------------------------------------ */

/* Numbers of `digits` vectors each; those behind the table are not in it. */
struct eight {
    struct batch batch;
    size_t digits;
    uint8_t *sum, *other, *factor, *table, *stored;
    const struct evc_bn_exp *exps;
    size_t n_exps;
};

/* The exponentiation of a lane; lanes that are left over do the last one again. */
EVC_INLINE const struct evc_bn_exp *lane(const struct eight *s, size_t i)
{
    return &s->exps[i < s->n_exps ? i : s->n_exps - 1];
}

EVC_INLINE void set_digit(uint8_t *x, size_t i, size_t lane, uint64_t digit)
{
    evc_store64_ne(at(x, i) + 8 * lane, digit);
}

EVC_OUT_OF_LINE void eight_place(struct eight *s, const struct evc_bn_exp *exps, size_t n_exps, void *scratch)
{
    const uint32_t vectors = vectors_of(exps[0].n);
    uint64_t k0[LANES];

    s->exps = exps;
    s->n_exps = n_exps;
    s->batch.panels = panels_for(8 * (size_t)exps[0].n->n_bytes);
    s->digits = PANEL * s->batch.panels;
    s->batch.n = scratch;
    s->sum = at(scratch, s->digits);
    s->other = at(scratch, 2 * s->digits);
    s->factor = at(scratch, 3 * s->digits);
    s->table = at(scratch, 4 * s->digits);
    s->stored = at(scratch, (4 + ((size_t)1 << BATCH_WINDOW)) * s->digits);
    for (size_t j = 0; j < LANES; j++) {
        const uint8_t *n = constant(lane(s, j)->n, MODULUS, vectors);

        for (size_t i = 0; i < s->digits; i++)
            set_digit(s->batch.n, i, j, i < (size_t)LANES * vectors ? word_at(n, i, vectors) : 0);
        k0[j] = private_part(lane(s, j)->n)->k0;
    }
    s->batch.k0 = v_load(k0);
}

static void swap_sum(struct eight *s)
{
    uint8_t *const product = s->other;

    s->other = s->sum;
    s->sum = product;
}

static void multiply_sum(struct eight *s, const uint8_t *b)
{
    batch_mul(&s->batch, s->other, s->sum, b);
    swap_sum(s);
}

/* Squares the sum, and doubles it in the lanes where doublings has 1. */
static void square_sum(struct eight *s, vec doublings)
{
    batch_sqr(&s->batch, s->other, s->sum, doublings);
    swap_sum(s);
}

/* sum = R mod n, by doublings of a power of 2 that is below all moduli of this length. */
static void start_at_one(struct eight *s)
{
    const size_t bit = 8 * ((size_t)s->exps[0].n->n_bytes - 1);

    for (size_t i = 0; i < s->digits; i++)
        v_store(at(s->sum, i), v_zero);
    v_store(at(s->sum, bit / DIGIT_BITS), _mm512_set1_epi64((long long)1 << bit % DIGIT_BITS));
    for (size_t i = bit; i < DIGIT_BITS * s->digits; i++)
        batch_double(&s->batch, s->sum, s->other);
}

/* sum = R^2 mod n: the form of 2 to the number of bits of R. */
static void raise_to_r2(struct eight *s)
{
    const size_t exponent = DIGIT_BITS * s->digits;

    for (int bit = 14; bit-- > 0;) /* R has fewer than 2^14 bits; squares of 1 come first */
        square_sum(s, _mm512_set1_epi64((long long)(exponent >> bit & 1)));
}

static void copy_number(const struct eight *s, uint8_t *to, const uint8_t *from)
{
    copy_vectors(to, from, (uint32_t)s->digits);
}

static uint8_t *table_entry(const struct eight *s, size_t i)
{
    return at(s->table, i * s->digits);
}

static void load_bases(struct eight *s)
{
    const size_t n_bytes = s->exps[0].n->n_bytes;

    for (size_t j = 0; j < LANES; j++)
        for (size_t i = 0; i < s->digits; i++)
            set_digit(s->factor, i, j,
                      bits_from(lane(s, j)->base, n_bytes, DIGIT_BITS * i / 8) >> DIGIT_BITS * i % 8 & DIGIT_MASK);
}

EVC_OUT_OF_LINE void make_table(struct eight *s)
{
    copy_number(s, table_entry(s, 0), s->sum);
    raise_to_r2(s);
    load_bases(s);
    multiply_sum(s, s->factor);
    copy_number(s, table_entry(s, 1), s->sum);
    for (size_t i = 2; i < (size_t)1 << BATCH_WINDOW; i++)
        if (i % 2 == 0)
            batch_sqr(&s->batch, table_entry(s, i), table_entry(s, i / 2), v_zero);
        else
            batch_mul(&s->batch, table_entry(s, i), table_entry(s, i - 1), table_entry(s, 1));
}

/* Bits of the exponents, from this one on. */
static vec exponent_bits(const struct eight *s, size_t bit, unsigned n_bits)
{
    const size_t exponent_bytes = s->exps[0].exponent_bytes;
    uint64_t bits[LANES];

    for (size_t j = 0; j < LANES; j++)
        bits[j] = evc_bn_bits_of(lane(s, j)->exponent, exponent_bytes, bit, n_bits);
    return v_load(bits);
}

/* r = the entry of each lane. All entries are read, and whole: compilers would merge the load with the selection to one
 * load under a mask, which is secret. */
EVC_OUT_OF_LINE void read_entries(const struct eight *s, uint8_t *r, vec indices)
{
    for (size_t i = 0; i < s->digits; i++) {
        vec x = v_zero;

        for (int e = 0; e < 1 << BATCH_WINDOW; e++) {
            vec entry = v_load(at(s->table, (size_t)e * s->digits + i));

            __asm__("" : "+v"(entry));
            x = _mm512_mask_mov_epi64(x, _mm512_cmpeq_epi64_mask(indices, _mm512_set1_epi64(e)), entry);
        }
        v_store(at(r, i), x);
    }
}

EVC_OUT_OF_LINE void raise_bases(struct eight *s)
{
    size_t bit = 8 * s->exps[0].exponent_bytes - BATCH_WINDOW;

    make_table(s);
    read_entries(s, s->sum, exponent_bits(s, bit, BATCH_WINDOW));
    while (bit) {
        bit -= BATCH_WINDOW;
        for (int i = 0; i < BATCH_WINDOW; i++)
            square_sum(s, v_zero);
        read_entries(s, s->factor, exponent_bits(s, bit, BATCH_WINDOW));
        multiply_sum(s, s->factor);
    }
}

static void raise_two(struct eight *s)
{
    for (size_t bit = 8 * s->exps[0].exponent_bytes; bit-- > 0;)
        square_sum(s, exponent_bits(s, bit, 1));
}

/* The product with 1 is at most n, and n itself stands for 0. */
EVC_OUT_OF_LINE void leave(struct eight *s)
{
    const uint32_t vectors = vectors_of(s->exps[0].n);

    for (size_t i = 0; i < s->digits; i++)
        v_store(at(s->factor, i), v_zero);
    v_store(s->factor, _mm512_set1_epi64(1));
    multiply_sum(s, s->factor);
    for (size_t j = 0; j < s->n_exps; j++) {
        clear_vectors(s->stored, vectors);
        for (size_t i = 0; i < s->digits && i < (size_t)LANES * vectors; i++)
            evc_store64_ne(s->stored + 8 * word_of(i, vectors), evc_load64_ne(at(s->sum, i) + 8 * j));
        store(s->exps[j].n, s->exps[j].out, s->stored);
    }
}

EVC_OUT_OF_LINE void eight_exp(const struct evc_bn_exp *exps, size_t n_exps, void *scratch)
{
    struct eight s;

    eight_place(&s, exps, n_exps, scratch);
    start_at_one(&s);
    if (exps[0].base)
        raise_bases(&s);
    else
        raise_two(&s);
    leave(&s);
}

/* ---- The slot ------------------------------------------------------------------------------------------ */

#define FEWEST_FOR_EIGHT 5 /* with fewer, pairs are as fast */

static void exp_many(const struct evc_bn_exp *exps, size_t n_exps, void *scratch)
{
    if (n_exps >= FEWEST_FOR_EIGHT) {
        eight_exp(exps, n_exps, scratch);
    } else {
        for (size_t i = 0; i < n_exps; i += 2)
            pair_exp(exps + i, n_exps - i < 2 ? 1 : 2, scratch);
    }
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* r_bits + 2 is at least as many bits as panels_for is asked for. */
static size_t exp_many_bytes(const struct evc_bn_shape *s)
{
    const size_t eight = sizeof(vec) * (4 + ((size_t)1 << BATCH_WINDOW)) * PANEL * panels_for(s->r_bits) +
                         s->form_bytes;
    const size_t pair = 2 * (SIDE_VECTORS + 2 + ((size_t)1 << WIDE_WINDOW)) * (size_t)s->form_bytes;

    return eight > pair ? eight : pair;
}

EVC_DEFINE_CLEAR_STACK(clear, ZMM, 960)

EVC_ISA_END

const struct evc_bn evc_bn_x86_ifma = {
    .kernel = EVC_KERNEL_HEAD(x86_ifma, X86_IFMA, CT, ANY, 1, struct evc_bn_modulus, 0, clear),
    .lanes = LANES,
    .shape = shape,
    .set_modulus = set_modulus,
    .load = load,
    .store = store,
    .add = add,
    .sub = sub,
    .mul = mul,
    .sqr = sqr,
    .select = select_entry,
    .exp_many = exp_many,
    .exp_many_bytes = exp_many_bytes,
};
#else
EVC_EMPTY_UNIT
#endif

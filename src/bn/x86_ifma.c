/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for x86-64 with vpmadd52 on vectors of 512 bits: one modulus,
 * two side by side, or eight.
 *
 * Method:   digits of 52 bits. One modulus: a vector's lanes are blocks of one number
 *           (ifma_wide.h). Two: half of the lanes are blocks of each, by rows of digits of 50 bits,
 *           squares with half of the cross products (ifma_rows.h), or, if they are long, by panels
 *           (ifma_pair.h). Five to eight: a vector holds one digit of each of eight numbers, and
 *           columns are summed panel by panel, squares with each cross product once (ifma_batch.h).
 *           Numbers are reduced only as far as products need it, until they are stored.
 * Source:   Orup: Simplifying quotient determination in high-radix modular multiplication, ARITH
 *           1995; Walter: Montgomery's multiplication technique: how to make it smaller and faster,
 *           CHES 1999; Gueron, Krasnov: Software implementation of modular exponentiation, using
 *           advanced vector instructions architectures, WAIFI 2012; Buhrow, Gilbert, Haider:
 *           Parallel modular multiplication using 512-bit advanced vector instructions, Journal of
 *           Cryptographic Engineering 12 (2022), for products by blocks.
 * Needs:    X86_IFMA.   Timing: CT (no secret branches or addresses; rests on the
 *           multipliers' constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(X86_IFMA)
#include "bn/ifma_batch.h"
#include "bn/ifma_bytes.h"
#include "bn/ifma_pair.h"
#include "bn/ifma_wide.h"
#include "bn/ops.h"

EVC_ISA_BEGIN(X86_IFMA)

/* ---- Moduli ---------------------------------------------------------------------------------- */

/* Behind it, V vectors each: the digits of n in their order; f = (n' + 1) / D and 2^(416
 * V) - 2n' (ifma_wide.h). */
struct private_part {
    EVC_ALIGN(16) uint64_t k0; /* -1 / n modulo 2^52 */
};

enum { DIGITS, FACTOR, MINUS_TWO, N_CONSTANTS };

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

    s->loaded_bits = block_bits(vectors);
    s->r_bits = s->loaded_bits * turns_for(n_bytes, vectors);
    s->form_bytes = (uint32_t)sizeof(vec) * vectors;
    s->private_bytes = (uint32_t)sizeof(struct private_part) + N_CONSTANTS * s->form_bytes;
    s->scratch_bytes = SIDE_VECTORS * s->form_bytes;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* The number times D: blocks from the second on, which are lanes. */
static void load_vectors(void *r, const uint8_t *in, size_t in_bytes, uint32_t vectors)
{
    size_t i = 0;

    clear_vectors(r, vectors);
    for (size_t lane = 1; lane < LANES; lane++)
        for (size_t v = 0; v < vectors && DIGIT_BITS * i < 8 * in_bytes; v++, i++)
            set_word(r, LANES * v + lane, digit_from(in, in_bytes, i));
}

static void load(const void *key, void *r, const uint8_t *in, size_t in_bytes)
{
    load_vectors(r, in, in_bytes, vectors_of(key));
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* out = a / D modulo n, of a below 2n': digits m of the multiple of n that makes the lowest block
 * zero, and the sum, which is below 3n. */
static void store(const void *key, uint8_t *out, const void *a)
{
    const size_t n_bytes = evc_bn_n_bytes(key),
                 n_digits = (8 * n_bytes + 2 + DIGIT_BITS - 1) / DIGIT_BITS;
    const uint32_t vectors = vectors_of(key);
    const uint8_t *const n = constant(key, DIGITS, vectors);
    const uint64_t k0 = private_part(key)->k0;
    struct writer w = {out + n_bytes, n_bytes, 0, 0, 0};
    uint64_t m[MOST_VECTORS], above;
    wide sum = 0;

    for (size_t i = 0; i < vectors; i++) {
        sum += word(a, LANES * i) + products(m, n, i, i);
        m[i] = (uint64_t)sum * k0 & DIGIT_MASK;
        sum = (sum + (wide)m[i] * word(n, 0)) >> DIGIT_BITS;
    }
    for (size_t i = 0, v = 0, lane = 1; i < n_digits; i++, v++) {
        if (v == vectors)
            v = 0, lane++;
        sum += word(a, LANES * v + lane) + products(m, n, vectors + i, vectors);
        write_digit(&w, (uint64_t)sum & DIGIT_MASK, DIGIT_BITS);
        sum >>= DIGIT_BITS;
    }
    above = subtract_once(out, w.bits, evc_bn_modulus(key), n_bytes);
    subtract_once(out, above, evc_bn_modulus(key), n_bytes);
}

/* out = the number of these digits, in their order, which is below 2n; less n if
 * that is not negative. */
static void store_digits_of(const void *key, uint8_t *out, const void *digits)
{
    const size_t n_bytes = evc_bn_n_bytes(key), n_digits = (8 * n_bytes + 1) / DIGIT_BITS + 1;
    struct writer w = {out + n_bytes, n_bytes, 0, 0, 0};

    for (size_t i = 0; i < n_digits; i++)
        write_digit(&w, word(digits, i), DIGIT_BITS);
    subtract_once(out, w.bits, evc_bn_modulus(key), n_bytes);
}

/* f = (1 + k n) / D: V times a multiple of n is added to 1 that makes the lowest digit zero. x:
 * digits in their order, of which those of n come first. */
static void make_factor(void *x, const void *n, uint64_t k0, size_t n_digits, uint32_t vectors)
{
    clear_vectors(x, vectors);
    set_word(x, 0, 1);
    for (uint32_t turn = 0; turn < vectors; turn++) {
        const uint64_t m = word(x, 0) * k0 & DIGIT_MASK;
        wide sum = word(x, 0) + (wide)m * word(n, 0);

        for (size_t i = 1; i <= n_digits; i++) {
            sum = (sum >> DIGIT_BITS) + word(x, i) + (wide)m * word(n, i);
            set_word(x, i - 1, (uint64_t)sum & DIGIT_MASK);
        }
    }
}

/* The key has been wiped. */
static void set_modulus(void *key, const uint8_t *n)
{
    const size_t n_bytes = evc_bn_n_bytes(key),
                 n_digits = (8 * n_bytes + DIGIT_BITS - 1) / DIGIT_BITS;
    const uint32_t vectors = vectors_for(n_bytes);
    struct private_part *p = EVC_BN_PRIVATE(key);
    uint8_t *const digits = (uint8_t *)(p + 1), *const factor = at(digits, vectors * FACTOR),
                   *const minus_two = at(digits, vectors * MINUS_TWO);
    uint64_t inverse, above = 0, borrow = 1;

    for (size_t i = 0; i < n_digits; i++)
        set_word(digits, i, digit_from(n, n_bytes, i));
    inverse = word(digits, 0);
    /* Newton's iteration doubles the bits that are right */
    for (int bits = 3; bits < DIGIT_BITS; bits *= 2)
        inverse *= 2 - word(digits, 0) * inverse;
    p->k0 = (0 - inverse) & DIGIT_MASK;
    make_factor(minus_two, digits, p->k0, n_digits, vectors);
    for (size_t i = 0; i < (size_t)LANES * vectors; i++)
        set_word(factor, word_of(i, vectors), word(minus_two, i));
    /* n' = f D - 1 has ones below f - 1. It is odd: adding 1 to the complement
     * of 2n' carries nowhere. */
    for (size_t i = 0; i < (size_t)LANES * vectors; i++) {
        uint64_t d = DIGIT_MASK, twice;

        if (i >= vectors) {
            d = word(factor, word_of(i - vectors, vectors)) - borrow;
            borrow = d >> 63;
            d &= DIGIT_MASK;
        }
        twice = (d << 1 & DIGIT_MASK) | above;
        above = d >> (DIGIT_BITS - 1);
        set_word(minus_two, word_of(i, vectors), DIGIT_MASK - twice + (i == 0));
    }
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* r = t if the carry of normalizing t says so, else x, whose columns are digits. */
static void choose_by_carry(void *r, const void *x, void *t, uint32_t vectors)
{
    const vec keep = _mm512_set1_epi64((long long)normalize_sums(t, vectors) - 1);

    for (uint32_t v = 0; v < vectors; v++) /* keep ? x : t */
        v_store(at(r, v), _mm512_ternarylogic_epi64(keep, v_load(at_const(x, v)),
                                                    v_load(at_const(t, v)), 0xca));
}

/* a + b, less 2n' if that is not negative. */
static void add(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const uint32_t vectors = vectors_of(key);
    const uint8_t *minus_two = constant(key, MINUS_TWO, vectors);
    uint8_t *const x = scratch, *const t = at(scratch, vectors);

    if (a == b && vectors <= MOST_WIDTH) {
        double_short(r, a, minus_two, vectors);
        EVC_X86_CLEAR_UPPER_HALVES();
        return;
    }
    if (a == b) {
        vec below = to_next_lane(v_load(at_const(a, vectors - 1)));
        for (uint32_t v = 0; v < vectors; v++) {
            const vec digits = v_load(at_const(a, v));
            v_store(at(x, v), double_digits(digits, below));
            below = digits;
        }
    } else {
        for (uint32_t v = 0; v < vectors; v++)
            v_store(at(x, v), v_add(v_load(at_const(a, v)), v_load(at_const(b, v))));
        normalize_sums(x, vectors);
    }
    for (uint32_t v = 0; v < vectors; v++)
        v_store(at(t, v), v_add(v_load(at(x, v)), v_load(at_const(minus_two, v))));
    choose_by_carry(r, x, t, vectors);
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* a - b, and 2n' more if that is negative: with complements, which are 1 too
 * small, so that no digit is. */
static void sub(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const uint32_t vectors = vectors_of(key);
    const uint8_t *minus_two = constant(key, MINUS_TWO, vectors);
    const vec one = _mm512_maskz_set1_epi64(1, 1);
    uint8_t *const x = scratch, *const t = at(scratch, vectors);

    for (uint32_t v = 0; v < vectors; v++) {
        vec difference =
            v_add(v_load(at_const(a, v)), _mm512_sub_epi64(v_digits, v_load(at_const(b, v))));

        if (v == 0)
            difference = v_add(difference, one);
        v_store(at(t, v), difference);
        difference = v_add(difference, _mm512_sub_epi64(v_digits, v_load(at_const(minus_two, v))));
        v_store(at(x, v), v == 0 ? v_add(difference, one) : difference);
    }
    normalize(x, vectors);
    choose_by_carry(r, x, t, vectors);
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* ---- Products -------------------------------------------------------------------------------- */

static void mul(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const uint32_t vectors = vectors_of(key);
    struct side s;

    place_side(&s, scratch, vectors);
    /* keys are aligned to 16 bytes only */
    copy_vectors(s.factor, constant(key, FACTOR, vectors), vectors);
    one_product(&s, a, b, vectors, turns_for(evc_bn_n_bytes(key), vectors));
    copy_vectors(r, s.x, vectors);
    EVC_X86_CLEAR_UPPER_HALVES();
}

static void sqr(const void *key, void *r, const void *a, void *scratch)
{
    mul(key, r, a, a, scratch);
}

/* r = so many vectors of the entry of a table of numbers of `vectors`
 * vectors: each entry is read. */
EVC_INLINE void read_columns(uint8_t *r, const uint8_t *table, size_t n_entries, size_t index,
                             uint32_t vectors, int width)
{
    struct upper x;

    upper_clear(&x);
    for (size_t i = 0; i < n_entries; i++, table = at_const(table, vectors)) {
        const vec mask = _mm512_set1_epi32((int)~evc_mask_nonzero32((uint32_t)(i ^ index)));

#define READ(c) \
    x.column[c] = _mm512_ternarylogic_epi64(x.column[c], mask, v_load(at_const(table, c)), 0xf8);
        EACH_OF_WIDTH(width, READ); /* x | mask & t */
#undef READ
    }
#define STORE(c) v_store(at(r, c), x.column[c]);
    EACH_OF_WIDTH(width, STORE);
#undef STORE
}

EVC_OUT_OF_LINE void read_table(uint8_t *r, const uint8_t *table, size_t n_entries, size_t index,
                                uint32_t vectors)
{
    uint32_t v = 0;

    for (; v + 6 <= vectors; v += 6)
        read_columns(at(r, v), at_const(table, v), n_entries, index, vectors, 6);
    for (; v + 3 <= vectors; v += 3)
        read_columns(at(r, v), at_const(table, v), n_entries, index, vectors, 3);
    for (; v < vectors; v++)
        read_columns(at(r, v), at_const(table, v), n_entries, index, vectors, 1);
}

static void select_entry(const void *key, void *r, const void *table, size_t n_entries,
                         size_t index)
{
    read_table(r, table, n_entries, index, vectors_of(key));
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* ---- Exponentiations: one or two ------------------------------------------------------------- */

enum { WIDE_WINDOW = 5, BATCH_WINDOW = 4 };

static const uint8_t one = 1, two = 2;

/* A secret number, times D. base = NULL: 2. */
static void load_base(void *r, const struct evc_bn_exp *e, uint32_t vectors)
{
    if (e->base)
        load_vectors(r, e->base, e->n->n_bytes, vectors);
    else
        load_vectors(r, &two, 1, vectors);
}

/* The exponentiations, one or two, and their memory: products go to side[i].x, and sum
 * changes places with that. */
struct sides {
    struct side side[2];
    uint8_t *sum[2], *factor[2], *table[2];
    size_t n;
    uint32_t vectors, turns;
};

/* sum = sum times b. */
static void sides_multiply_sum(struct sides *p, uint8_t *const b[2])
{
    const void *const a[2] = {p->sum[0], p->sum[1]};
    const uint8_t *const second[2] = {b[0], b[1]};

    if (p->n == 2)
        two_products(p->side, a, second, p->turns);
    else
        one_product(&p->side[0], a[0], b[0], p->vectors, p->turns);
    for (size_t i = 0; i < p->n; i++) {
        uint8_t *const product = p->side[i].x;

        p->side[i].x = p->sum[i];
        p->sum[i] = product;
    }
}

static void sides_place(struct sides *p, const struct evc_bn_exp *exps, size_t n_exps,
                        void *scratch)
{
    uint8_t *memory = scratch;

    p->n = n_exps;
    p->vectors = vectors_of(exps[0].n);
    p->turns = turns_for(exps[0].n->n_bytes, p->vectors);
    for (size_t i = 0; i < n_exps; i++) {
        memory = place_side(&p->side[i], memory, p->vectors);
        copy_vectors(p->side[i].factor, constant(exps[i].n, FACTOR, p->vectors), p->vectors);
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
static void sides_make_tables(struct sides *p, const struct evc_bn_exp *exps)
{
    const size_t entry = sizeof(vec) * p->vectors;

    for (size_t i = 0; i < p->n; i++) {
        load_base(p->sum[i], &exps[i], p->vectors);
        copy_vectors(p->factor[i], evc_bn_r2(exps[i].n), p->vectors);
        copy_vectors(p->table[i], evc_bn_one(exps[i].n), p->vectors);
    }
    sides_multiply_sum(p, p->factor);
    for (size_t i = 0; i < p->n; i++)
        copy_vectors(p->factor[i], p->sum[i], p->vectors);
    for (size_t power = 1; power < (size_t)1 << WIDE_WINDOW; power++) {
        for (size_t i = 0; i < p->n; i++)
            copy_vectors(p->table[i] + power * entry, p->sum[i], p->vectors);
        sides_multiply_sum(p, p->factor);
    }
}

EVC_OUT_OF_LINE void sides_exp(const struct evc_bn_exp *exps, size_t n_exps, void *scratch)
{
    const size_t exponent_bytes = exps[0].exponent_bytes, n_entries = (size_t)1 << WIDE_WINDOW;
    size_t bit = 8 * exponent_bytes - 1; /* the least significant of a window */
    struct sides p;

    sides_place(&p, exps, n_exps, scratch);
    sides_make_tables(&p, exps);
    bit -= bit % WIDE_WINDOW;
    for (size_t i = 0; i < n_exps; i++)
        read_table(p.sum[i], p.table[i], n_entries,
                   evc_number_bits(exps[i].exponent, exponent_bytes, bit, WIDE_WINDOW), p.vectors);
    while (bit) {
        bit -= WIDE_WINDOW;
        for (int i = 0; i < WIDE_WINDOW; i++)
            sides_multiply_sum(&p, p.sum);
        for (size_t i = 0; i < n_exps; i++)
            read_table(p.factor[i], p.table[i], n_entries,
                       evc_number_bits(exps[i].exponent, exponent_bytes, bit, WIDE_WINDOW),
                       p.vectors);
        sides_multiply_sum(&p, p.factor);
    }
    for (size_t i = 0; i < n_exps; i++)
        load_vectors(p.factor[i], &one, 1, p.vectors);
    sides_multiply_sum(&p, p.factor);
    for (size_t i = 0; i < n_exps; i++)
        store(exps[i].n, exps[i].out, p.sum[i]);
}

/* ---- Exponentiations: two in halves of vectors ----------------------------------------------- */

/* x = the weight of this digit in both; digit: below the number of vectors. */
static void pair_set_weight(uint8_t *x, uint32_t vectors, uint32_t digit)
{
    clear_vectors(x, vectors);
    v_store(at(x, digit), _mm512_maskz_set1_epi64(0x11, 1));
}

/* The window of each exponent from this bit on, in its half. */
static vec pair_indices(const struct evc_bn_exp *e, size_t bit)
{
    return _mm512_mask_set1_epi64(
        _mm512_set1_epi64(
            (long long)evc_number_bits(e[0].exponent, e[0].exponent_bytes, bit, WIDE_WINDOW)),
        0xf0, (long long)evc_number_bits(e[1].exponent, e[1].exponent_bytes, bit, WIDE_WINDOW));
}

/* A panel of the entry of each half. All entries are read: x | mask & entry. */
EVC_INLINE void pair_read_panel(uint8_t *r, const uint8_t *table, vec indices, uint32_t vectors,
                                int width)
{
    struct upper x;

    upper_clear(&x);
    for (size_t i = 0; i < (size_t)1 << WIDE_WINDOW; i++) {
        vec mask = _mm512_maskz_set1_epi64(
            _mm512_cmpeq_epi64_mask(indices, _mm512_set1_epi64((long long)i)), -1);

        __asm__("" : "+v"(mask)); /* no load under a secret mask */
#define ADD(v)                                                 \
    x.column[v] = _mm512_ternarylogic_epi64(x.column[v], mask, \
                                            v_load(at_const(table, i * vectors + v)), 0xf8);
        EACH_OF_WIDTH(width, ADD);
#undef ADD
    }
#define STORE(v) v_store(at(r, v), x.column[v]);
    EACH_OF_WIDTH(width, STORE);
#undef STORE
}

/* ---- Exponentiations: two of up to 2094 bits ------------------------------------------------- */

/* Numbers of V vectors each (ifma_rows.h). */
struct row_powers {
    uint8_t *factor, *sum, *other, *columns, *table; /* factor: f; columns: of a product */
    uint32_t vectors;
    const struct evc_bn_exp *exps;
};

EVC_INLINE uint8_t *row_entry(const struct row_powers *p, size_t i)
{
    return at(p->table, i * p->vectors);
}

/* The word of digit i of a number, 0 or 1. */
EVC_INLINE size_t row_word(size_t i, uint32_t vectors, size_t number)
{
    return LANES * (i % vectors) + HALF_LANES * number + i / vectors;
}

static void row_load(const struct row_powers *p, uint8_t *x, size_t number, const uint8_t *in,
                     size_t in_bytes)
{
    for (size_t i = 0; i < (size_t)HALF_LANES * p->vectors; i++)
        set_word(x, row_word(i, p->vectors, number), row_digit_from(in, in_bytes, i));
}

EVC_INLINE uint64_t row_k0(const struct evc_bn_exp *e)
{
    return private_part(e->n)->k0 & ROW_MASK;
}

/* f = (1 + k n) / 2^50. */
static void row_set_factor(const struct row_powers *p, size_t number)
{
    const struct evc_bn_exp *const e = &p->exps[number];
    const uint8_t *const n = evc_bn_modulus(e->n);
    const uint64_t k = row_k0(e);
    wide sum = 1 + (wide)k * row_digit_from(n, e->n->n_bytes, 0);

    for (size_t i = 0; i < (size_t)HALF_LANES * p->vectors; i++) {
        sum = (sum >> ROW_BITS) + (wide)k * row_digit_from(n, e->n->n_bytes, i + 1);
        set_word(p->factor, row_word(i, p->vectors, number), (uint64_t)sum & ROW_MASK);
    }
}

EVC_OUT_OF_LINE void row_place(struct row_powers *p, const struct evc_bn_exp *exps,
                               uint32_t vectors, void *scratch)
{
    p->exps = exps;
    p->vectors = vectors;
    p->factor = scratch;
    p->sum = at(scratch, vectors);
    p->other = at(scratch, 2 * vectors);
    p->columns = at(scratch, 3 * vectors);
    p->table = at(scratch, 4 * vectors);
    for (size_t j = 0; j < 2; j++)
        row_set_factor(p, j);
}

/* x = the form of 2^bit of a key, which is below n. bytes: as many as n has. */
static void enter_power_of_two(const void *key, uint8_t *x, size_t bit, uint8_t *bytes,
                               void *scratch)
{
    const size_t n_bytes = evc_bn_n_bytes(key);

    for (size_t i = 0; i < n_bytes; i++)
        bytes[i] = 0;
    bytes[n_bytes - 1 - bit / 8] = (uint8_t)(1 << bit % 8);
    load(key, x, bytes, n_bytes);
    mul(key, x, x, evc_bn_r2(key), scratch);
}

/* bytes = 2^bits modulo n, of three powers of 2. The form of 2^i in a key is 2^i R' of its own R',
 * so a product is left as 2^bits R' / D. memory: two numbers and scratch memory of the key. */
static void make_power_of_two(const struct evc_bn_exp *e, size_t bits, uint8_t *bytes,
                              uint8_t *memory)
{
    const void *const key = e->n;
    const struct evc_bn_shape *const shape = &e->n->shape;
    const size_t rest = bits - (shape->r_bits - shape->loaded_bits);
    uint8_t *const x = memory, *const y = x + shape->form_bytes,
                   *const scratch = y + shape->form_bytes;

    enter_power_of_two(key, x, rest / 3, bytes, scratch);
    enter_power_of_two(key, y, rest - 2 * (rest / 3), bytes, scratch);
    mul(key, y, y, x, scratch);
    mul(key, x, x, y, scratch);
    store(key, bytes, x);
}

/* Puts R^2 modulo n there, of the rows' R. In the memory of the table. */
EVC_OUT_OF_LINE void row_load_r2(const struct row_powers *p, size_t number)
{
    const struct evc_bn_exp *const e = &p->exps[number];
    uint8_t *const bytes = p->table;

    make_power_of_two(e, 2 * (size_t)ROW_BITS * rows_of(p->vectors), bytes,
                      bytes + EVC_BN_MAX_BYTES);
    row_load(p, p->other, number, bytes, e->n->n_bytes);
}

EVC_OUT_OF_LINE void row_make_table(struct row_powers *p)
{
    const uint32_t vectors = p->vectors;

    for (size_t j = 0; j < 2; j++) {
        const struct evc_bn_exp *e = &p->exps[j];

        row_load_r2(p, j);
        row_load(p, p->sum, j, e->base ? e->base : &two, e->base ? e->n->n_bytes : 1);
    }
    rows_mul(row_entry(p, 1), p->sum, p->other, p->factor, p->columns, vectors);
    pair_set_weight(p->sum, vectors, 0);
    rows_mul(row_entry(p, 0), p->sum, p->other, p->factor, p->columns, vectors);
    for (size_t i = 2; i < (size_t)1 << WIDE_WINDOW; i++)
        if (i % 2 == 0)
            rows_sqr(row_entry(p, i), row_entry(p, i / 2), p->other, p->factor, p->columns,
                     vectors);
        else
            rows_mul(row_entry(p, i), row_entry(p, i - 1), row_entry(p, 1), p->factor, p->columns,
                     vectors);
}

EVC_OUT_OF_LINE void row_read(const struct row_powers *p, uint8_t *r, size_t bit)
{
    const vec indices = pair_indices(p->exps, bit);
    const uint32_t vectors = p->vectors;
    uint32_t v = 0;

    for (; v + 6 <= vectors; v += 6)
        pair_read_panel(at(r, v), at(p->table, v), indices, vectors, 6);
    for (; v + 4 <= vectors; v += 4)
        pair_read_panel(at(r, v), at(p->table, v), indices, vectors, 4);
    for (; v < vectors; v++)
        pair_read_panel(at(r, v), at(p->table, v), indices, vectors, 1);
}

/* out = x / 2^50 modulo n: as in store. x is a product with 2^50, so that its multiple of n' has
 * almost all of it. The digits of the multiple have up to 52 bits but for the last: together they
 * are below R (1 + 4 / 2^50), and x is below n' + 4n. With n' = (2^50 - 1) n, for n = 1 modulo
 * 2^50, such an x beyond n' + 2n makes a sum of 2n or more. */
static void row_store(const struct row_powers *p, const uint8_t *x, size_t number)
{
    const struct evc_bn_exp *const e = &p->exps[number];
    const size_t n_bytes = e->n->n_bytes, n_digits = (8 * n_bytes + 2 + ROW_BITS - 1) / ROW_BITS;
    const uint8_t *const n = evc_bn_modulus(e->n);
    const uint64_t lowest = word(x, row_word(0, p->vectors, number)),
                   m = lowest * row_k0(e) & ROW_MASK;
    wide sum = lowest + (wide)m * row_digit_from(n, n_bytes, 0);
    struct writer w = {e->out + n_bytes, n_bytes, 0, 0, 0};
    uint64_t above;

    for (size_t i = 1; i <= n_digits; i++) {
        sum = (sum >> ROW_BITS) + (wide)m * row_digit_from(n, n_bytes, i);
        if (i < (size_t)HALF_LANES * p->vectors)
            sum += word(x, row_word(i, p->vectors, number));
        write_digit(&w, (uint64_t)sum & ROW_MASK, ROW_BITS);
    }
    above = subtract_once(e->out, w.bits, n, n_bytes);
    subtract_once(e->out, above, n, n_bytes);
}

EVC_OUT_OF_LINE void row_leave(struct row_powers *p)
{
    pair_set_weight(p->other, p->vectors, 1); /* which row_store divides by */
    rows_mul(p->sum, p->sum, p->other, p->factor, p->columns, p->vectors);
    for (size_t j = 0; j < 2; j++)
        row_store(p, p->sum, j);
}

EVC_OUT_OF_LINE void row_exp(const struct evc_bn_exp *exps, uint32_t vectors, void *scratch)
{
    size_t bit = 8 * exps[0].exponent_bytes - 1; /* the least significant of a window */
    struct row_powers p;

    row_place(&p, exps, vectors, scratch);
    row_make_table(&p);
    bit -= bit % WIDE_WINDOW;
    row_read(&p, p.sum, bit);
    while (bit) {
        bit -= WIDE_WINDOW;
        for (int i = 0; i < WIDE_WINDOW; i++)
            rows_sqr(p.sum, p.sum, p.other, p.factor, p.columns, vectors);
        row_read(&p, p.other, bit);
        rows_mul(p.sum, p.sum, p.other, p.factor, p.columns, vectors);
    }
    row_leave(&p);
}

/* ---- Exponentiations: two long ones ---------------------------------------------------------- */

#define FEWEST_ALONE                                        \
    6 /* vectors of one number; shorter ones are multiplied \
       * by rows (ifma_rows.h) */

/* Vectors of two numbers: panels of 5 or 6. 0: they are too short. */
EVC_INLINE uint32_t pair_vectors_for(size_t n_bytes)
{
    static const uint8_t sizes[] = {12, 15, 18, 20, 24, 25, 30, 36, MOST_PAIR_VECTORS};
    const size_t lane_digits =
        (8 * n_bytes + 2 + DIGIT_BITS * HALF_LANES - 1) / (DIGIT_BITS * HALF_LANES);
    size_t i = 0;

    if (vectors_for(n_bytes) < FEWEST_ALONE)
        return 0;

    while (sizes[i] < lane_digits)
        i++;
    return sizes[i];
}

/* Numbers of V vectors each. */
struct pair_powers {
    struct pair pair;
    uint8_t *sum, *other, *factor, *table;
    const struct evc_bn_exp *exps;
};

EVC_INLINE uint8_t *pair_entry(const struct pair_powers *p, size_t i)
{
    return at(p->table, i * p->pair.vectors);
}

EVC_INLINE void pair_set_digit(void *x, size_t i, uint32_t vectors, size_t number, uint64_t digit)
{
    set_word(x, LANES * pair_vector_of(i, vectors) + pair_lane_of(i, vectors, number), digit);
}

/* -1 / n modulo 2^(52 W), which is m where m n + 1 is 0: digit by digit. n:
 * digits in their order. */
static void set_inverse(const struct pair *s, const void *n, uint64_t k0, size_t number)
{
    const size_t width = (size_t)pair_width_for(s->vectors);
    uint64_t m[MOST_WIDTH];
    wide sum = 1;

    for (size_t i = 0; i < width; i++) {
        sum += products(m, n, i, i);
        m[i] = (uint64_t)sum * k0 & DIGIT_MASK;
        sum = (sum + (wide)m[i] * word(n, 0)) >> DIGIT_BITS;
        set_word(at(s->inverse, i), HALF_LANES * number, m[i]);
    }
}

EVC_OUT_OF_LINE void pair_place(struct pair_powers *p, const struct evc_bn_exp *exps,
                                uint32_t vectors, void *scratch)
{
    uint8_t *const memory = place_pair(&p->pair, scratch, vectors);

    p->exps = exps;
    p->sum = memory;
    p->other = at(memory, vectors);
    p->factor = at(memory, 2 * vectors);
    p->table = at(memory, 3 * vectors);
    clear_vectors(p->pair.inverse, (uint32_t)pair_width_for(vectors));
    for (size_t j = 0; j < 2; j++) {
        const uint32_t key_vectors = vectors_of(exps[j].n);
        const uint8_t *n = constant(exps[j].n, DIGITS, key_vectors);

        for (size_t i = 0; i < (size_t)HALF_LANES * vectors; i++)
            pair_set_digit(p->pair.n, i, vectors, j,
                           i < (size_t)LANES * key_vectors ? word(n, i) : 0);
        set_inverse(&p->pair, n, private_part(exps[j].n)->k0, j);
    }
}

static void pair_load(const struct pair_powers *p, uint8_t *x, size_t number, const uint8_t *in,
                      size_t in_bytes)
{
    const uint32_t vectors = p->pair.vectors;

    for (size_t i = 0; i < (size_t)HALF_LANES * vectors; i++)
        pair_set_digit(x, i, vectors, number, digit_from(in, in_bytes, i));
}

/* Puts R^2 modulo n there, of the pair's R: it is 2^(416 V). In the memory of the table. */
EVC_OUT_OF_LINE void pair_load_r2(const struct pair_powers *p, size_t number)
{
    const struct evc_bn_exp *const e = &p->exps[number];
    uint8_t *const bytes = p->table;

    make_power_of_two(e, 2 * (size_t)DIGIT_BITS * HALF_LANES * p->pair.vectors, bytes,
                      bytes + EVC_BN_MAX_BYTES);
    pair_load(p, p->factor, number, bytes, e->n->n_bytes);
}

static void pair_multiply(struct pair_powers *p, const uint8_t *b)
{
    uint8_t *const product = p->other;

    pair_mul(&p->pair, product, p->sum, b);
    p->other = p->sum;
    p->sum = product;
}

EVC_OUT_OF_LINE void pair_make_table(struct pair_powers *p)
{
    for (size_t j = 0; j < 2; j++) {
        const struct evc_bn_exp *e = &p->exps[j];

        pair_load_r2(p, j);
        pair_load(p, p->sum, j, e->base ? e->base : &two, e->base ? e->n->n_bytes : 1);
    }
    pair_multiply(p, p->factor);
    copy_vectors(pair_entry(p, 1), p->sum, p->pair.vectors);
    pair_set_weight(p->sum, p->pair.vectors, 0);
    pair_multiply(p, p->factor);
    copy_vectors(pair_entry(p, 0), p->sum, p->pair.vectors);
    for (size_t i = 2; i < (size_t)1 << WIDE_WINDOW; i++)
        pair_mul(&p->pair, pair_entry(p, i), pair_entry(p, i - 1), pair_entry(p, 1));
}

EVC_OUT_OF_LINE void pair_read(const struct pair_powers *p, uint8_t *r, size_t bit)
{
    const vec indices = pair_indices(p->exps, bit);
    const uint32_t vectors = p->pair.vectors;

    if (pair_width_for(vectors) == 5) {
        for (size_t v = 0; v < vectors; v += 5)
            pair_read_panel(at(r, v), at(p->table, v), indices, vectors, 5);
    } else {
        for (size_t v = 0; v < vectors; v += 6)
            pair_read_panel(at(r, v), at(p->table, v), indices, vectors, 6);
    }
}

EVC_OUT_OF_LINE void pair_leave(struct pair_powers *p)
{
    const uint32_t vectors = p->pair.vectors;

    pair_set_weight(p->factor, vectors, 0);
    pair_multiply(p, p->factor);
    for (size_t j = 0; j < 2; j++) {
        for (size_t i = 0; i < (size_t)HALF_LANES * vectors; i++)
            set_word(
                p->other, i,
                word(p->sum, LANES * pair_vector_of(i, vectors) + pair_lane_of(i, vectors, j)));
        store_digits_of(p->exps[j].n, p->exps[j].out, p->other);
    }
}

EVC_OUT_OF_LINE void pair_exp(const struct evc_bn_exp *exps, uint32_t vectors, void *scratch)
{
    size_t bit = 8 * exps[0].exponent_bytes - 1; /* the least significant of a window */
    struct pair_powers p;

    pair_place(&p, exps, vectors, scratch);
    pair_make_table(&p);
    bit -= bit % WIDE_WINDOW;
    pair_read(&p, p.sum, bit);
    while (bit) {
        bit -= WIDE_WINDOW;
        for (int i = 0; i < WIDE_WINDOW; i++)
            pair_multiply(&p, p.sum);
        pair_read(&p, p.factor, bit);
        pair_multiply(&p, p.factor);
    }
    pair_leave(&p);
}

/* ---- Exponentiations: eight ------------------------------------------------------------------ */

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

EVC_OUT_OF_LINE void eight_place(struct eight *s, const struct evc_bn_exp *exps, size_t n_exps,
                                 void *scratch)
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
        const uint8_t *n = constant(lane(s, j)->n, DIGITS, vectors);

        for (size_t i = 0; i < s->digits; i++)
            set_digit(s->batch.n, i, j, i < (size_t)LANES * vectors ? word(n, i) : 0);
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
            set_digit(s->factor, i, j, digit_from(lane(s, j)->base, n_bytes, i));
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
        bits[j] = evc_number_bits(lane(s, j)->exponent, exponent_bytes, bit, n_bits);
    return v_load(bits);
}

/* r = the entry of each lane. All entries are read, and whole: compilers would merge the load with
 * the selection to one load under a mask, which is secret. */
EVC_OUT_OF_LINE void read_entries(const struct eight *s, uint8_t *r, vec indices)
{
    for (size_t i = 0; i < s->digits; i += PANEL) {
        struct upper x;

        upper_clear(&x);
        for (size_t e = 0; e < (size_t)1 << BATCH_WINDOW; e++) {
            const uint8_t *const panel = at(table_entry(s, e), i);
            const __mmask8 wanted =
                _mm512_cmpeq_epi64_mask(indices, _mm512_set1_epi64((long long)e));

#define READ(c)                                                                                    \
    {                                                                                              \
        vec entry = v_load(at_const(panel, c));                                                    \
        __asm__("" : "+v"(entry));                                                                 \
        x.column[c] = _mm512_mask_mov_epi64(x.column[c], wanted, entry);                           \
    }
            EACH_OF_WIDTH(PANEL, READ);
#undef READ
        }
#define STORE(c) v_store(at(r, i + (c)), x.column[c]);
        EACH_OF_WIDTH(PANEL, STORE);
#undef STORE
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
    for (size_t i = 0; i < s->digits; i++)
        v_store(at(s->factor, i), v_zero);
    v_store(s->factor, _mm512_set1_epi64(1));
    multiply_sum(s, s->factor);
    for (size_t j = 0; j < s->n_exps; j++) {
        for (size_t i = 0; i < s->digits; i++)
            set_word(s->stored, i, evc_load64_ne(at(s->sum, i) + 8 * j));
        store_digits_of(s->exps[j].n, s->exps[j].out, s->stored);
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

/* ---- The slot -------------------------------------------------------------------------------- */

#define FEWEST_FOR_EIGHT 5 /* with fewer, pairs are as fast */

/* The frames of lanes lie deeper than `clear` reaches (tools/check-spills). */
#define clear_many() EVC_CLEAR_STACK(ZMM, 3584)

static void exp_many(const struct evc_bn_exp *exps, size_t n_exps, void *scratch)
{
    const uint32_t row_vectors = row_vectors_for(exps[0].n->n_bytes);
    const uint32_t pair_vectors = pair_vectors_for(exps[0].n->n_bytes);

    if (n_exps >= FEWEST_FOR_EIGHT) {
        eight_exp(exps, n_exps, scratch);
    } else {
        for (size_t i = 0; i < n_exps; i += 2)
            if (row_vectors && n_exps - i > 1)
                row_exp(exps + i, row_vectors, scratch);
            else if (pair_vectors && n_exps - i > 1)
                pair_exp(exps + i, pair_vectors, scratch);
            else
                sides_exp(exps + i, n_exps - i < 2 ? 1 : 2, scratch);
    }
    clear_many();
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* Eight take the most: 20 vectors for 52 bits, where two take at most 76 for 364 bits. r_bits + 2
 * is at least as many bits as panels_for is asked for. */
static size_t exp_many_bytes(const struct evc_bn_shape *s)
{
    /* `stored` has words */
    const size_t digits = PANEL * panels_for(s->r_bits), words = (digits + 7) & ~(size_t)7;

    return sizeof(vec) * (4 + ((size_t)1 << BATCH_WINDOW)) * digits + 8 * words;
}

EVC_ISA_END

const struct evc_bn evc_bn_x86_ifma = {
    .kernel = EVC_KERNEL_HEAD(x86_ifma, X86_IFMA, CT, ANY, 1, struct evc_bn_modulus, 0, ZMM, 1152),
    .lanes = LANES,
    .fewest_bits = 512, /* Zen 5: 177 core cycles a product, x86_adx 208; at 448 bits 175 and 170 */
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

/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for x86-64 with vpmadd52 on vectors of 256 bits, for CPUs without
 * AVX-512.
 *
 * Method:   one number in the four lanes of V vectors: digit i is in lane i / V of vector i mod V.
 *           Numbers of up to 1,544 bits have digits of 50 bits and are multiplied row by row;
 *           squares have half of the cross products (ifma_rows.h). Longer ones have digits of 52
 *           bits and are multiplied by panels (ifma_pair.h). The place before x86_adx is an
 *           estimate, for no CPU with AVX-IFMA was at hand: on a Zen 3, with FMA instructions of
 *           the same form, rate and latency in the place of vpmadd52, powers of 1,024 and 2,048
 *           bits take 0.50 and 0.56 of the cycles of x86_adx.
 * Source:   Orup: Simplifying quotient determination in high-radix modular multiplication, ARITH
 *           1995; Gueron, Krasnov: Software implementation of modular exponentiation, using
 *           advanced vector instructions architectures, WAIFI 2012. Rate and latency of vpmadd52
 *           of 256 bits, 2 a cycle and 4 cycles on both cores of Arrow Lake: InstLatx64.
 * Needs:    X86_AVXIFMA.   Timing: CT (no secret branches or addresses; rests on the
 *           multipliers' constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(X86_AVXIFMA)
#define VECTOR_BITS 256
#include "bn/ifma_bytes.h"
#include "bn/ifma_pair.h"
#include "bn/ops.h"

IFMA_BEGIN

/* ---- Moduli ---------------------------------------------------------------------------------- */

/* Behind it, V vectors each: the factor, which is f of ifma_rows.h or n of ifma_pair.h; and the
 * complement of twice the modulus of products, 2^(4 V digits) - 2n' or - 2n. Then, by panels, the
 * inverse of ifma_pair.h. */
struct private_part {
    EVC_ALIGN(16) uint64_t k0; /* -1 / n modulo 2^52 */
};

/* Numbers of one length. */
struct form {
    uint32_t vectors;
    unsigned digit_bits;
    int is_rows;
};

/* Vectors of long numbers, whose panels have 5 or 6. R is at least 2^8 times a number of as many
 * bits as n. */
static uint32_t panel_vectors_for(size_t n_bytes)
{
    static const uint8_t sizes[] = {10, 12, 15, 18, 20, 24, 25, 30, 36, MOST_PAIR_VECTORS};
    size_t i = 0;

    while ((size_t)DIGIT_BITS * LANES * sizes[i] < 8 * n_bytes + 8)
        i++;
    return sizes[i];
}

static struct form form_for(size_t n_bytes)
{
    const uint32_t vectors = row_vectors_for(n_bytes);
    const struct form rows = {vectors, ROW_BITS, 1};
    struct form panels = {0, DIGIT_BITS, 0};

    if (vectors)
        return rows;
    panels.vectors = panel_vectors_for(n_bytes);
    return panels;
}

static struct form form_of(const void *key)
{
    return form_for(evc_bn_n_bytes(key));
}

EVC_INLINE const struct private_part *private_part(const void *key)
{
    return EVC_BN_PRIVATE_CONST(key);
}

EVC_INLINE const uint8_t *factor_of(const void *key)
{
    return (const uint8_t *)(private_part(key) + 1);
}

EVC_INLINE const uint8_t *minus_two_of(const void *key, const struct form *form)
{
    return at_const(factor_of(key), form->vectors);
}

EVC_INLINE const uint8_t *inverse_of(const void *key, const struct form *form)
{
    return at_const(factor_of(key), 2 * form->vectors);
}

/* Vectors of scratch memory. Of rows: f, twice a square's number, and columns that no registers
 * hold; of panels: what place_pair places, and the product. Sums take two numbers. */
EVC_INLINE uint32_t scratch_vectors(const struct form *form)
{
    if (form->is_rows)
        return (form->vectors > MOST_HELD ? 3 : 2) * form->vectors;
    return 2 * form->vectors + PAIR_PANELS * (uint32_t)pair_width_for(form->vectors);
}

static void shape(size_t n_bytes, struct evc_bn_shape *s)
{
    const struct form form = form_for(n_bytes);
    const uint32_t form_bytes = (uint32_t)sizeof(vec) * form.vectors;

    s->loaded_bits = form.is_rows ? ROW_BITS : 0;
    s->r_bits = form.is_rows ? ROW_BITS * rows_of(form.vectors) : DIGIT_BITS * LANES * form.vectors;
    s->form_bytes = form_bytes;
    s->private_bytes = (uint32_t)sizeof(struct private_part) + 2 * form_bytes;
    if (!form.is_rows)
        s->private_bytes += (uint32_t)sizeof(vec) * (uint32_t)pair_width_for(form.vectors);
    s->scratch_bytes = (uint32_t)sizeof(vec) * scratch_vectors(&form);
}

/* The word of 64 bits that holds digit i. */
EVC_INLINE size_t word_of(size_t i, uint32_t vectors)
{
    return i % vectors * LANES + i / vectors;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Rows: the number times 2^50, so that store can divide by that. */
static void load(const void *key, void *r, const uint8_t *in, size_t in_bytes)
{
    const struct form form = form_of(key);

    clear_vectors(r, form.vectors);
    if (form.is_rows) {
        for (size_t i = 0; ROW_BITS * i < 8 * in_bytes; i++)
            set_word(r, word_of(i + 1, form.vectors), row_digit_from(in, in_bytes, i));
    } else {
        for (size_t i = 0; DIGIT_BITS * i < 8 * in_bytes; i++)
            set_word(r, word_of(i, form.vectors), digit_from(in, in_bytes, i));
    }
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* out = x / 2^50 modulo n. x is a product with a loaded number, so that its multiple of n' has
 * almost all of it. The digits of the multiple have up to 52 bits but for the last: together they
 * are below R (1 + 4 / 2^50), and x is below n' + 4n. With n' = (2^50 - 1) n, for n = 1 modulo
 * 2^50, such an x beyond n' + 2n makes a sum of 2n or more. */
static void store_row(const void *key, uint8_t *out, const void *x, uint32_t vectors)
{
    const size_t n_bytes = evc_bn_n_bytes(key),
                 n_digits = (8 * n_bytes + 2 + ROW_BITS - 1) / ROW_BITS;
    const uint8_t *const n = evc_bn_modulus(key);
    const uint64_t lowest = word(x, 0), m = lowest * private_part(key)->k0 & ROW_MASK;
    wide sum = lowest + (wide)m * row_digit_from(n, n_bytes, 0);
    struct writer w = {out + n_bytes, n_bytes, 0, 0, 0};
    uint64_t above;

    for (size_t i = 1; i <= n_digits; i++) {
        sum = (sum >> ROW_BITS) + (wide)m * row_digit_from(n, n_bytes, i);
        if (i < (size_t)LANES * vectors)
            sum += word(x, word_of(i, vectors));
        write_digit(&w, (uint64_t)sum & ROW_MASK, ROW_BITS);
    }
    above = subtract_once(out, w.bits, n, n_bytes);
    subtract_once(out, above, n, n_bytes);
}

static void store(const void *key, uint8_t *out, const void *x)
{
    const struct form form = form_of(key);
    const size_t n_bytes = evc_bn_n_bytes(key), n_digits = (8 * n_bytes + 1) / DIGIT_BITS + 1;
    struct writer w = {out + n_bytes, n_bytes, 0, 0, 0};

    if (form.is_rows) {
        store_row(key, out, x, form.vectors);
        return;
    }
    for (size_t i = 0; i < n_digits; i++) /* below 2n */
        write_digit(&w, word(x, word_of(i, form.vectors)), DIGIT_BITS);
    subtract_once(out, w.bits, evc_bn_modulus(key), n_bytes);
}

/* ---- Setting a modulus ----------------------------------------------------------------------- */

/* x = (1 + k n) / 2^50. */
static void set_row_factor(void *x, const uint8_t *n, size_t n_bytes, uint64_t k, uint32_t vectors)
{
    wide sum = 1 + (wide)k * row_digit_from(n, n_bytes, 0);

    for (size_t i = 0; i < (size_t)LANES * vectors; i++) {
        sum = (sum >> ROW_BITS) + (wide)k * row_digit_from(n, n_bytes, i + 1);
        set_word(x, word_of(i, vectors), (uint64_t)sum & ROW_MASK);
    }
}

/* x = minus twice the modulus of products, which is odd: adding 1 to the complement of its double
 * carries nowhere. Rows: that is f 2^50 - 1. */
static void set_minus_two(void *x, const void *factor, const struct form *form)
{
    const uint64_t mask = ((uint64_t)1 << form->digit_bits) - 1;
    uint64_t above = 0, borrow = 1;

    for (size_t i = 0; i < (size_t)LANES * form->vectors; i++) {
        uint64_t d, twice;

        if (!form->is_rows) {
            d = word(factor, word_of(i, form->vectors));
        } else if (i == 0) {
            d = mask;
        } else {
            d = word(factor, word_of(i - 1, form->vectors)) - borrow;
            borrow = d >> 63;
            d &= mask;
        }
        twice = (d << 1 & mask) | above;
        above = d >> (form->digit_bits - 1);
        set_word(x, word_of(i, form->vectors), mask - twice + (i == 0));
    }
}

/* x = -1 / n modulo 2^(52 W), which is m where m n + 1 is 0: digit by digit, each in the lowest
 * lane of a vector. */
static void set_inverse(void *x, const uint8_t *n, size_t n_bytes, uint64_t k0, size_t width)
{
    uint64_t m[MOST_WIDTH], digits[MOST_WIDTH];
    wide sum = 1;

    clear_vectors(x, (uint32_t)width);
    for (size_t i = 0; i < width; i++) {
        digits[i] = digit_from(n, n_bytes, i);
        sum += products(m, digits, i, i);
        m[i] = (uint64_t)sum * k0 & DIGIT_MASK;
        sum = (sum + (wide)m[i] * digits[0]) >> DIGIT_BITS;
        set_word(at(x, i), 0, m[i]);
    }
}

/* The key has been wiped. */
static void set_modulus(void *key, const uint8_t *n)
{
    const struct form form = form_of(key);
    const size_t n_bytes = evc_bn_n_bytes(key);
    struct private_part *p = EVC_BN_PRIVATE(key);
    uint8_t *const factor = (uint8_t *)(p + 1), *const minus_two = at(factor, form.vectors),
                   *const inverse_vectors = at(factor, 2 * form.vectors);
    const uint64_t lowest = digit_from(n, n_bytes, 0);
    uint64_t inverse = lowest;

    /* Newton's iteration doubles the bits that are right */
    for (int bits = 3; bits < DIGIT_BITS; bits *= 2)
        inverse *= 2 - lowest * inverse;
    p->k0 = (0 - inverse) & DIGIT_MASK;
    if (form.is_rows) {
        set_row_factor(factor, n, n_bytes, p->k0 & ROW_MASK, form.vectors);
    } else {
        for (size_t i = 0; i < (size_t)LANES * form.vectors; i++)
            set_word(factor, word_of(i, form.vectors), digit_from(n, n_bytes, i));
        set_inverse(inverse_vectors, n, n_bytes, p->k0, (size_t)pair_width_for(form.vectors));
    }
    set_minus_two(minus_two, factor, &form);
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* r = t if the carry of normalizing t says so, else x. Columns of both are sums of two digits. */
static void choose_by_carry(void *r, const void *x, void *t, const struct form *form)
{
    const uint32_t carry = normalize_sums_of_digits(t, form->digit_bits, form->vectors);
    const vec mask = v_all((long long)evc_barrier64((uint64_t)0 - carry));

    for (uint32_t v = 0; v < form->vectors; v++)
        v_store(at(r, v), v_or(v_and(mask, v_load(at(t, v))),
                               _mm256_andnot_si256(mask, v_load(at_const(x, v)))));
}

/* a + b, less 2n' (or 2n) if that is not negative. Digits of products by rows may be a little more
 * than 50 bits: sums are normalized first. */
static void add(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const struct form form = form_of(key);
    const uint8_t *const minus_two = minus_two_of(key, &form);
    uint8_t *const x = scratch, *const t = at(scratch, form.vectors);

    for (uint32_t v = 0; v < form.vectors; v++)
        v_store(at(x, v), v_add(v_load(at_const(a, v)), v_load(at_const(b, v))));
    normalize_digits(x, form.digit_bits, form.vectors);
    for (uint32_t v = 0; v < form.vectors; v++)
        v_store(at(t, v), v_add(v_load(at(x, v)), v_load(at_const(minus_two, v))));
    choose_by_carry(r, x, t, &form);
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* a - b, and 2n' more if that is negative: with complements, which are 1 too small, so that no
 * digit is. */
static void sub(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const struct form form = form_of(key);
    const uint8_t *const minus_two = minus_two_of(key, &form);
    const vec mask = v_all(((long long)1 << form.digit_bits) - 1), lowest = ones_in_lanes(1);
    uint8_t *const x = scratch, *const t = at(scratch, form.vectors);

    copy_vectors(x, a, form.vectors);
    copy_vectors(t, b, form.vectors);
    normalize_digits(x, form.digit_bits, form.vectors);
    normalize_digits(t, form.digit_bits, form.vectors);
    for (uint32_t v = 0; v < form.vectors; v++) {
        const vec carry = v == 0 ? lowest : v_zero,
                  difference = v_add(v_add(v_load(at(x, v)), v_sub(mask, v_load(at(t, v)))), carry);

        v_store(at(t, v), difference);
        v_store(at(x, v),
                v_add(v_add(difference, carry), v_sub(mask, v_load(at_const(minus_two, v)))));
    }
    normalize_digits(x, form.digit_bits, form.vectors);
    choose_by_carry(r, x, t, &form);
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* ---- Products -------------------------------------------------------------------------------- */

/* Memory of products, whose constants are aligned there: keys are aligned to 16 bytes only. */
struct product_memory {
    struct form form;
    uint8_t *factor, *twice, *columns; /* of rows */
    struct pair pair;                  /* of panels */
    uint8_t *product;
};

EVC_INLINE void place(struct product_memory *p, const void *key, void *scratch)
{
    p->form = form_of(key);
    if (p->form.is_rows) {
        p->factor = scratch;
        p->twice = at(scratch, p->form.vectors);
        p->columns = at(scratch, 2 * p->form.vectors);
        copy_vectors(p->factor, factor_of(key), p->form.vectors);
    } else {
        p->product = place_pair(&p->pair, scratch, p->form.vectors);
        copy_vectors(p->pair.n, factor_of(key), p->form.vectors);
        copy_vectors(p->pair.inverse, inverse_of(key, &p->form),
                     (uint32_t)pair_width_for(p->form.vectors));
    }
}

/* r = a b / R; r may be a or b. */
EVC_INLINE void multiply(const struct product_memory *p, void *r, const void *a, const void *b)
{
    const uint32_t vectors = p->form.vectors;

    if (p->form.is_rows) {
        rows_mul(r, a, b, p->factor, p->columns, vectors);
    } else {
        pair_mul(&p->pair, p->product, a, b);
        copy_vectors(r, p->product, vectors);
    }
}

EVC_INLINE void square(const struct product_memory *p, void *r, const void *a)
{
    if (p->form.is_rows)
        rows_sqr(r, a, p->twice, p->factor, p->columns, p->form.vectors);
    else
        multiply(p, r, a, a);
}

static void mul(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    struct product_memory p;

    place(&p, key, scratch);
    multiply(&p, r, a, b);
    EVC_X86_CLEAR_UPPER_HALVES();
}

static void sqr(const void *key, void *r, const void *a, void *scratch)
{
    struct product_memory p;

    place(&p, key, scratch);
    square(&p, r, a);
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* r = so many vectors of the entry of a table of numbers of `vectors` vectors: each entry is
 * read. */
EVC_INLINE void read_columns(uint8_t *r, const uint8_t *table, size_t n_entries, size_t index,
                             uint32_t vectors, int width)
{
    struct upper x;

    upper_clear(&x);
    for (size_t i = 0; i < n_entries; i++, table = at_const(table, vectors)) {
        const vec mask = _mm256_set1_epi32((int)~evc_mask_nonzero32((uint32_t)(i ^ index)));

#define READ(c) x.column[c] = v_or(x.column[c], v_and(mask, v_load(at_const(table, c))));
        EACH_OF_WIDTH(width, READ);
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
    read_table(r, table, n_entries, index, form_of(key).vectors);
    EVC_X86_CLEAR_UPPER_HALVES();
}

static void raise_and_multiply(const void *key, void *r, unsigned n_squares, void *factor,
                               const void *table, size_t n_entries, size_t index, void *scratch)
{
    struct product_memory p;

    place(&p, key, scratch);
    for (; n_squares; n_squares--)
        square(&p, r, r);
    read_table(factor, table, n_entries, index, p.form.vectors);
    multiply(&p, r, r, factor);
    EVC_X86_CLEAR_UPPER_HALVES();
}

EVC_ISA_END

#if defined(EVC_IFMA256_PORTABLE) /* vectors lie in frames while lanes are multiplied */
#define STACK_BYTES 4608
#else
#define STACK_BYTES 1152
#endif

const struct evc_bn evc_bn_x86_avxifma = {
    .kernel = EVC_KERNEL_HEAD(x86_avxifma, X86_AVXIFMA, CT, ANY, 1, struct evc_bn_modulus, 0, YMM,
                              STACK_BYTES),
    .lanes = 1,
    /* An estimate, as the place: that Zen 3 takes 217 cycles a square, and 202 with x86_adx;
     * llvm-mca for Ice Lake says 156 and 252. */
    .fewest_bits = 512,
    .shape = shape,
    .set_modulus = set_modulus,
    .load = load,
    .store = store,
    .add = add,
    .sub = sub,
    .mul = mul,
    .sqr = sqr,
    .select = select_entry,
    .raise = raise_and_multiply,
};
#else
EVC_EMPTY_UNIT
#endif

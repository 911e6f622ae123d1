/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for 32-bit x86 with pmuludq: four products of
 * digits by two instructions.
 *
 * Method:   digits of 27 bits, two in a vector of 128 bits, so that the sums of the longest numbers
 *           stay below 2^64 and carries wait until the end. Two rows at a time, each a digit of a
 *           times b and a digit of the reduction times n; squares have each cross product once,
 *           doubled. R is above 4n, so that no product needs a last subtraction: numbers are below
 *           2n until they are stored.
 * Source:   Koc, Acar, Kaliski: Analyzing and Comparing Montgomery Multiplication Algorithms, IEEE
 *           Micro 16 (1996); Gueron, Krasnov: Software implementation of modular exponentiation,
 *           using advanced vector instructions architectures, WAIFI 2012, for redundant digits in
 *           vectors; Walter: Montgomery exponentiation needs no final subtractions, Electronics
 *           Letters 35 (1999), for R above 4n.
 * Needs:    X86_PMULUDQ.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "bn/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_PMULUDQ)
EVC_ISA_BEGIN(X86_PMULUDQ)

#include "bn/digits_steps.h"

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* A digit is the lower half of a word of 64 bits. */
#define VECTOR_BITS (2 * DIGIT_BITS)

/* Two digits of a number, and the two of B times it, B = 2^DIGIT_BITS. */
struct two_rows {
    __m128i digits, shifted;
};

/* Behind it one struct two_rows more than n has vectors. */
struct private_part {
    EVC_ALIGN(16) uint32_t n0; /* -1 / n modulo B */
};

static size_t vectors_for(size_t n_bytes)
{
    return (8 * n_bytes + SPARE_BITS + VECTOR_BITS - 1) / VECTOR_BITS;
}

static size_t vectors_of(const void *key)
{
    return vectors_for(evc_bn_n_bytes(key));
}

EVC_INLINE const struct private_part *private_part(const void *key)
{
    return EVC_BN_PRIVATE_CONST(key);
}

EVC_INLINE const struct two_rows *modulus_rows(const void *key)
{
    return (const struct two_rows *)(const void *)(private_part(key) + 1);
}

EVC_INLINE uint32_t get_digit(const void *a, size_t i)
{
    return (uint32_t)evc_load64_ne((const uint8_t *)a + 8 * i);
}

EVC_INLINE void set_digit(void *a, size_t i, uint32_t value)
{
    evc_store64_ne((uint8_t *)a + 8 * i, value);
}

static size_t digits_of(const void *key)
{
    return 2 * vectors_of(key);
}

EVC_INLINE uint32_t modulus_digit(const void *key, size_t i)
{
    return (uint32_t)evc_load64_ne((const uint8_t *)&modulus_rows(key)[i / 2].digits + 8 * (i % 2));
}

static void shape(size_t n_bytes, struct evc_bn_shape *s)
{
    const uint32_t vectors = (uint32_t)vectors_for(n_bytes);

    s->r_bits = VECTOR_BITS * vectors;
    s->loaded_bits = 0;
    s->form_bytes = (uint32_t)sizeof(__m128i) * vectors;
    s->private_bytes =
        (uint32_t)(sizeof(struct private_part) + (vectors + 1) * sizeof(struct two_rows));
    s->scratch_bytes = (uint32_t)(2 * s->form_bytes + (vectors + 1) * sizeof(struct two_rows));
}

/* ---- Rows ------------------------------------------------------------------------------------ */

EVC_INLINE __m128i v_add(__m128i a, __m128i b)
{
    return _mm_add_epi64(a, b);
}

EVC_INLINE __m128i v_mul(__m128i a, __m128i b)
{
    return _mm_mul_epu32(a, b);
}

EVC_INLINE __m128i v_lower_twice(__m128i a)
{
    return _mm_unpacklo_epi64(a, a);
}

EVC_INLINE __m128i v_upper_twice(__m128i a)
{
    return _mm_unpackhi_epi64(a, a);
}

EVC_INLINE __m128i v_to_lower(__m128i a)
{
    return _mm_srli_si128(a, 8);
}

EVC_INLINE __m128i v_to_upper(__m128i a)
{
    return _mm_slli_si128(a, 8);
}

/* rows = both forms of a number, and behind them what the shift brings. */
static void set_rows(struct two_rows *rows, const __m128i *a, size_t vectors)
{
    __m128i before = _mm_setzero_si128();

    for (size_t i = 0; i < vectors; i++) {
        const __m128i now = _mm_load_si128(a + i);

        rows[i].digits = now;
        rows[i].shifted = _mm_unpacklo_epi64(v_to_lower(before), now);
        before = now;
    }
    rows[vectors].digits = _mm_setzero_si128();
    rows[vectors].shifted = v_to_lower(before);
}

static void clear_vectors(__m128i *t, size_t vectors)
{
    for (size_t i = 0; i < vectors; i++)
        t[i] = _mm_setzero_si128();
}

/* The digits by which two rows of the modulus are multiplied, each in both halves. */
struct multiples {
    __m128i first, second;
};

/* Makes the two lowest digits zero; what is above them goes to t[1]. */
EVC_INLINE struct multiples next_multiples(__m128i *t, const struct two_rows *n, __m128i n0)
{
    const __m128i mask = _mm_set_epi32(0, DIGIT_MASK, 0, DIGIT_MASK);
    struct multiples q;
    __m128i sum = t[0];

    q.first = v_lower_twice(_mm_and_si128(v_mul(sum, n0), mask));
    sum = v_add(sum, v_mul(q.first, n[0].digits));
    sum = v_add(sum, v_to_upper(_mm_srli_epi64(sum, DIGIT_BITS)));
    q.second = v_lower_twice(_mm_and_si128(v_mul(v_to_lower(sum), n0), mask));
    sum = v_add(sum, v_mul(q.second, n[0].shifted));
    t[1] = v_add(t[1], v_to_lower(_mm_srli_epi64(sum, DIGIT_BITS)));
    return q;
}

/* t[i] += multiples of vector i of n. */
EVC_INLINE void reduce_vector(__m128i *t, const struct two_rows *n, size_t i, struct multiples q)
{
    t[i] = v_add(t[i], v_add(v_mul(q.first, n[i].digits), v_mul(q.second, n[i].shifted)));
}

EVC_INLINE void reduce_vectors(__m128i *t, const struct two_rows *n, size_t from, size_t end,
                               struct multiples q)
{
    if ((end - from) % 2 != 0)
        reduce_vector(t, n, from++, q);
    for (; from < end; from += 2) {
        reduce_vector(t, n, from, q);
        reduce_vector(t, n, from + 1, q);
    }
}

/* The same, and a0 and a1 times the rows of b. */
EVC_INLINE void add_vector(__m128i *t, const struct two_rows *b, const struct two_rows *n, size_t i,
                           __m128i a0, __m128i a1, struct multiples q)
{
    __m128i sum = v_add(t[i], v_mul(a0, b[i].digits));

    sum = v_add(sum, v_mul(a1, b[i].shifted));
    sum = v_add(sum, v_mul(q.first, n[i].digits));
    t[i] = v_add(sum, v_mul(q.second, n[i].shifted));
}

EVC_INLINE void add_vectors(__m128i *t, const struct two_rows *b, const struct two_rows *n,
                            size_t from, size_t end, __m128i a0, __m128i a1, struct multiples q)
{
    if ((end - from) % 2 != 0)
        add_vector(t, b, n, from++, a0, a1, q);
    for (; from < end; from += 2) {
        add_vector(t, b, n, from, a0, a1, q);
        add_vector(t, b, n, from + 1, a0, a1, q);
    }
}

/* r = the digits of sums, which fit. */
static void carry_to(__m128i *r, const __m128i *t, size_t vectors)
{
    const __m128i mask = _mm_set_epi32(0, DIGIT_MASK, 0, DIGIT_MASK);
    __m128i carry = _mm_setzero_si128(); /* in the lower half; above it, what nobody reads */

    for (size_t i = 0; i < vectors; i++) {
        const __m128i sums = _mm_load_si128(t + i), lower = v_add(sums, carry);
        const __m128i upper = v_add(v_to_lower(sums), _mm_srli_epi64(lower, DIGIT_BITS));

        _mm_store_si128(r + i, _mm_and_si128(_mm_unpacklo_epi64(lower, upper), mask));
        carry = _mm_srli_epi64(upper, DIGIT_BITS);
    }
}

static void mul(const void *key, void *r, const void *va, const void *vb, void *scratch)
{
    const size_t vectors = vectors_of(key);
    const struct two_rows *const n = modulus_rows(key);
    const __m128i n0 = _mm_set1_epi32((int)private_part(key)->n0), *a = va;
    __m128i *t = scratch;
    struct two_rows *const b = (struct two_rows *)(void *)(t + 2 * vectors);

    set_rows(b, vb, vectors);
    clear_vectors(t, 2 * vectors);
    for (size_t i = 0; i < vectors; i++, t++) {
        const __m128i a0 = v_lower_twice(a[i]), a1 = v_upper_twice(a[i]);
        struct multiples q;

        t[0] = v_add(t[0], v_add(v_mul(a0, b[0].digits), v_mul(a1, b[0].shifted)));
        q = next_multiples(t, n, n0);
        add_vectors(t, b, n, 1, vectors + 1, a0, a1, q);
    }
    carry_to(r, t, vectors);
}

/* Numbers that are squared faster by a product: their rows are so short that loops
 * cost more than products. */
#define SHORT_VECTORS 9

static void sqr_long(const void *key, void *r, const void *va, void *scratch)
{
    const size_t vectors = vectors_of(key);
    const struct two_rows *const n = modulus_rows(key);
    const __m128i n0 = _mm_set1_epi32((int)private_part(key)->n0), *a = va;
    __m128i *t = scratch;
    struct two_rows *const rows = (struct two_rows *)(void *)(t + 2 * vectors);

    set_rows(rows, va, vectors);
    clear_vectors(t, 2 * vectors);
    for (size_t i = 0; i < vectors; i++, t++) {
        const __m128i a0 = v_lower_twice(a[i]), a1 = v_upper_twice(a[i]);
        const __m128i twice0 = v_add(a0, a0), twice1 = v_add(a1, a1);
        /* Squares of the two digits of a[i], and their products with the digits next to them. */
        const __m128i next =
            _mm_unpacklo_epi64(v_to_lower(a[i]), v_add(rows[i + 1].digits, rows[i + 1].digits));
        struct multiples q;

        t[i] = v_add(t[i], v_mul(a0, _mm_unpacklo_epi64(a[i], twice1)));
        t[i + 1] = v_add(t[i + 1], v_add(v_mul(twice0, rows[i + 1].digits), v_mul(a1, next)));
        q = next_multiples(t, n, n0);
        reduce_vectors(t, n, 1, i + 2, q);
        add_vectors(t, rows, n, i + 2, vectors + 1, twice0, twice1, q);
    }
    carry_to(r, t, vectors);
}

static void sqr(const void *key, void *r, const void *a, void *scratch)
{
    if (vectors_of(key) <= SHORT_VECTORS)
        mul(key, r, a, a, scratch);
    else
        sqr_long(key, r, a, scratch);
}

/* ---- The modulus ----------------------------------------------------------------------------- */

static void set_modulus(void *key, const uint8_t *n)
{
    struct private_part *const p = EVC_BN_PRIVATE(key);
    struct two_rows *const rows = (struct two_rows *)(void *)(p + 1);
    const size_t vectors = vectors_of(key);
    /* The digits are loaded to where the upper half of the rows will be, and are read
     * before it is written. */
    __m128i *const digits = (__m128i *)(void *)(rows + vectors + 1) - vectors;

    load(key, digits, n, evc_bn_n_bytes(key));
    p->n0 = negative_inverse(get_digit(digits, 0));
    set_rows(rows, digits, vectors);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void select_entry(const void *key, void *r, const void *table, size_t n_entries,
                         size_t index)
{
    const size_t vectors = vectors_of(key);
    const __m128i *entries = table, wanted = _mm_set1_epi32((int)index);
    __m128i *const to = r;

    for (size_t v = 0; v < vectors; v++) {
        __m128i found = _mm_setzero_si128(), number = _mm_setzero_si128();

        for (size_t i = 0; i < n_entries; i++) {
            const __m128i mask = _mm_cmpeq_epi32(number, wanted);

            found = _mm_or_si128(found, _mm_and_si128(mask, entries[i * vectors + v]));
            number = _mm_sub_epi32(number, _mm_set1_epi32(-1));
        }
        to[v] = found;
    }
}

const struct evc_bn evc_bn_x86_sse2 = {
    .kernel = EVC_KERNEL_HEAD(x86_sse2, X86_PMULUDQ, CT, ANY, 1, struct evc_bn_modulus, 0, XMM,
                              704),
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

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif

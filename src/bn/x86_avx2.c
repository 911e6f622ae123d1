/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication with AVX2: four products of signed digits by one vpmuldq.
 *
 * Method:   digits of 29 bits with a sign, from -2^28 to 2^28, four in a vector of 256 bits. Four
 *           rows at a time: four digits of a times b, then four of the reduction times n. The sign
 *           makes products four times smaller and the room of their sums half as large. So columns
 *           of numbers of up to 1738 bits carry at the end only; longer ones also carry after every
 *           forty rows. Squares have each cross product once, doubled. R is above 4n, so that no
 *           product needs a last subtraction: numbers are from -n to n - 1 until they are stored.
 * Source:   Gueron, Krasnov: Software implementation of modular exponentiation, using advanced
 *           vector instructions architectures, WAIFI 2012, for redundant digits in vectors; Koc,
 *           Acar, Kaliski: Analyzing and Comparing Montgomery Multiplication Algorithms, IEEE Micro
 *           16 (1996); Walter: Montgomery exponentiation needs no final subtractions, Electronics
 *           Letters 35 (1999), for R above 4n.
 * Needs:    X86_AVX2_MUL.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "bn/kernel.h"

#include "common/bytes.h"
#include "common/ct.h"
#include "common/x86.h"

#if EVC_BUILT(X86_AVX2_MUL)
EVC_ISA_BEGIN(X86_AVX2_MUL)

/* ---- Shapes ---------------------------------------------------------------------------------- */

#define DIGIT_BITS 29
#define DIGIT_MASK ((INT32_C(1) << DIGIT_BITS) - 1)
#define HALF (INT32_C(1) << (DIGIT_BITS - 1))
#define SPARE_BITS 2
#define BLOCK 4 /* digits in a vector, and rows at a time */
#define BLOCK_BITS (BLOCK * DIGIT_BITS)

/* A number is an array of digits, a multiple of BLOCK. Digits are from -HALF to HALF, and 2^6 more
 * or less where a vector of carries was added: |digit| <= 2^28 + 2^6. */

/* A factor and the modulus are also kept in words: each digit in 64 bits, between two blocks of
 * zeros. Vectors begin at a block there, or 1 to 3 digits below it. */

/* Behind it, 0 or 16 bytes further, the words of the modulus, then its digits. The words are
 * aligned to 32 bytes until the key is copied, for vectors across two lines of the cache take
 * longer. */
struct private_part {
    EVC_ALIGN(16) uint32_t inverse[2]; /* digits of -1 / n modulo B^2, B = 2^DIGIT_BITS */
    uint32_t words_at;
};

static size_t blocks_for(size_t n_bytes)
{
    return (8 * n_bytes + SPARE_BITS + BLOCK_BITS - 1) / BLOCK_BITS;
}

static size_t blocks_of(const void *key)
{
    return blocks_for(evc_bn_n_bytes(key));
}

EVC_INLINE const struct private_part *private_part(const void *key)
{
    return EVC_BN_PRIVATE_CONST(key);
}

/* The first digit of the modulus in words. */
EVC_INLINE const int64_t *modulus_words(const void *key)
{
    const struct private_part *const p = private_part(key);

    return (const int64_t *)(const void *)((const uint8_t *)(p + 1) + p->words_at) + BLOCK;
}

EVC_INLINE const int32_t *modulus_digits(const void *key, size_t blocks)
{
    return (const int32_t *)(const void *)(modulus_words(key) + BLOCK * (blocks + 1));
}

static void shape(size_t n_bytes, struct evc_bn_shape *s)
{
    const uint32_t blocks = (uint32_t)blocks_for(n_bytes);
    const uint32_t words_bytes = (uint32_t)(BLOCK * sizeof(int64_t)) * (blocks + 2);

    s->r_bits = BLOCK_BITS * blocks;
    s->loaded_bits = 0;
    s->form_bytes = (uint32_t)(BLOCK * sizeof(int32_t)) * blocks;
    s->private_bytes = (uint32_t)sizeof(struct private_part) + 16 + words_bytes + s->form_bytes;
    s->scratch_bytes = words_bytes + (uint32_t)sizeof(__m256i) * (2 * blocks + 1);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* The lowest digit of a sum, which becomes the carry to the next one. */
EVC_INLINE int32_t take_digit(int32_t *sum)
{
    const int32_t digit = (int32_t)((*sum + HALF) & DIGIT_MASK) - HALF;

    *sum = (*sum + HALF) >> DIGIT_BITS;
    return digit;
}

static void load(const void *key, void *vr, const uint8_t *in, size_t in_bytes)
{
    const size_t digits = BLOCK * blocks_of(key);
    int32_t *const r = vr;
    uint64_t bits = 0;
    unsigned n_bits = 0;
    int32_t sum = 0;

    for (size_t i = 0; i < digits; i++) {
        for (; n_bits < DIGIT_BITS && in_bytes > 0; n_bits += 8)
            bits |= (uint64_t)in[--in_bytes] << n_bits;
        sum += (int32_t)bits & DIGIT_MASK;
        r[i] = take_digit(&sum);
        bits >>= DIGIT_BITS;
        n_bits = n_bits > DIGIT_BITS ? n_bits - DIGIT_BITS : 0;
    }
}

/* All ones if a number is negative. */
static int32_t sign_of(const int32_t *a, const int32_t *b, size_t digits)
{
    int32_t sum = 0;

    for (size_t i = 0; i < digits; i++)
        sum = (sum + a[i] + (b ? b[i] : 0)) >> DIGIT_BITS;
    return (int32_t)evc_barrier32((uint32_t)sum);
}

static void store(const void *key, uint8_t *out, const void *va)
{
    const size_t blocks = blocks_of(key);
    const int32_t *const a = va, *const n = modulus_digits(key, blocks);
    const int32_t mask = sign_of(a, NULL, BLOCK * blocks);
    size_t left = evc_bn_n_bytes(key);
    int32_t sum = 0;
    uint64_t bits = 0;
    unsigned n_bits = 0;

    for (size_t i = 0; left > 0; i++) {
        sum += a[i] + (n[i] & mask);
        bits |= (uint64_t)(sum & DIGIT_MASK) << n_bits;
        sum >>= DIGIT_BITS;
        for (n_bits += DIGIT_BITS; n_bits >= 8 && left > 0; n_bits -= 8, bits >>= 8)
            out[--left] = (uint8_t)bits;
    }
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* r = a + b, and n less or more, so that it is from -n to n - 1. */
static void add(const void *key, void *vr, const void *va, const void *vb, void *scratch)
{
    const size_t blocks = blocks_of(key);
    const int32_t *const a = va, *const b = vb, *const n = modulus_digits(key, blocks);
    const int32_t mask = sign_of(a, b, BLOCK * blocks);
    int32_t *const r = vr;
    int32_t sum = 0;

    (void)scratch;
    for (size_t i = 0; i < BLOCK * blocks; i++) {
        sum += a[i] + b[i] + ((n[i] ^ ~mask) - ~mask);
        r[i] = take_digit(&sum);
    }
}

/* r = a - b, in the same way: -b is from 1 - n to n. */
static void sub(const void *key, void *r, const void *a, const void *vb, void *scratch)
{
    const size_t blocks = blocks_of(key);
    const int32_t *const b = vb;
    int32_t *const negative = scratch;

    for (size_t i = 0; i < BLOCK * blocks; i++)
        negative[i] = -b[i];
    add(key, r, a, negative, scratch);
}

/* ---- Columns ------------------------------------------------------------------------------------
 * A column is a sum of signed products, |column| < 2^63. One unit is (2^28 + 2^6)^2; 127 units and
 * 2^36 are below 2^63. A row adds at most one unit to a column by n and one by b; a row of a square
 * adds two by b. All rows together add at most as many units by b as the number has digits. So a
 * number of UNCARRIED_BLOCKS blocks has at most 60 + 60 units in a column, and a longer one at
 * most 3 * 4 * CARRY_BLOCKS = 120 until its columns are carried. */

#define UNCARRIED_BLOCKS 15
#define CARRY_BLOCKS 10

/* AVX2 shifts words of 64 bits without their sign only. So a column gets BIAS, 2^63, before it is
 * shifted, and its carry is CARRIED_BIAS too large. */
#define BIAS INT64_MIN
#define CARRIED_BIAS (INT64_C(1) << (63 - DIGIT_BITS))
/* The same for the sum of a digit and one product. */
#define DIGIT_BIAS (INT64_C(1) << 2 * DIGIT_BITS)
#define CARRIED_DIGIT_BIAS (INT64_C(1) << DIGIT_BITS)

EVC_INLINE __m256i v_add(__m256i a, __m256i b)
{
    return _mm256_add_epi64(a, b);
}

EVC_INLINE __m256i v_mul(__m256i a, __m256i b)
{
    return _mm256_mul_epi32(a, b);
}

EVC_INLINE __m256i v_load(const void *from)
{
    return _mm256_loadu_si256(from);
}

EVC_INLINE void v_store(void *to, __m256i a)
{
    _mm256_storeu_si256(to, a);
}

/* Four digits as four words of 64 bits. */
EVC_INLINE __m256i widened(__m128i digits)
{
    return _mm256_cvtepi32_epi64(digits);
}

EVC_INLINE __m128i load_words(const int64_t *a)
{
    return _mm_loadu_si128((const __m128i *)(const void *)a);
}

EVC_INLINE __m128i load_digits(const int32_t *a)
{
    return _mm_loadu_si128((const __m128i *)(const void *)a);
}

/* b = the words of a number, and a block of zeros on both sides. Returns the first digit. */
static const int64_t *set_words(int64_t *b, const int32_t *a, size_t blocks)
{
    v_store(b, _mm256_setzero_si256());
    for (size_t i = 1; i <= blocks; i++, a += BLOCK)
        v_store(b + BLOCK * i, widened(load_digits(a)));
    v_store(b + BLOCK * (blocks + 1), _mm256_setzero_si256());
    return b + BLOCK;
}

/* Scratch memory: the words of a factor, then columns. */
EVC_INLINE __m256i *columns_of(void *scratch, size_t blocks)
{
    return (__m256i *)scratch + blocks + 2;
}

static void clear_columns(__m256i *t, size_t blocks)
{
    for (size_t i = 0; i < 2 * blocks + 1; i++)
        v_store(t + i, _mm256_setzero_si256());
}

/* Four digits, each in all words of a vector. */
struct digits {
    __m256i of[BLOCK];
};

EVC_INLINE struct digits spread(const int32_t *a)
{
    struct digits d;

    d.of[0] = _mm256_set1_epi32(a[0]);
    d.of[1] = _mm256_set1_epi32(a[1]);
    d.of[2] = _mm256_set1_epi32(a[2]);
    d.of[3] = _mm256_set1_epi32(a[3]);
    return d;
}

EVC_INLINE struct digits doubled(struct digits d)
{
    d.of[0] = _mm256_add_epi32(d.of[0], d.of[0]);
    d.of[1] = _mm256_add_epi32(d.of[1], d.of[1]);
    d.of[2] = _mm256_add_epi32(d.of[2], d.of[2]);
    d.of[3] = _mm256_add_epi32(d.of[3], d.of[3]);
    return d;
}

/* sum + four digits times the vectors that begin 0 to 3 digits below b. */
EVC_INLINE __m256i add_block(__m256i sum, const int64_t *b, const struct digits *d)
{
    const __m256i two = v_add(v_mul(d->of[0], v_load(b)), v_mul(d->of[1], v_load(b - 1)));

    sum = v_add(sum, v_mul(d->of[2], v_load(b - 2)));
    return v_add(v_add(sum, v_mul(d->of[3], v_load(b - 3))), two);
}

/* Adds such sums to `count` vectors of columns. */
EVC_INLINE void add_blocks(__m256i *t, const int64_t *b, size_t count, struct digits d)
{
    if (count % 2 != 0) {
        v_store(t, add_block(v_load(t), b, &d));
        t++, b += BLOCK;
    }
    for (count /= 2; count; count--, t += 2, b += 2 * BLOCK) {
        v_store(t, add_block(v_load(t), b, &d));
        v_store(t + 1, add_block(v_load(t + 1), b + BLOCK, &d));
    }
}

/* The lowest digit of each word of 64 bits, with its sign, in the word's lower half. */
EVC_INLINE __m128i signed_digit(__m128i a)
{
    return _mm_srai_epi32(_mm_slli_epi32(a, 32 - DIGIT_BITS), 32 - DIGIT_BITS);
}

EVC_INLINE __m128i lane_mul(__m128i a, __m128i b)
{
    return _mm_mul_epi32(a, b);
}

EVC_INLINE __m128i lane_add(__m128i a, __m128i b)
{
    return _mm_add_epi64(a, b);
}

EVC_INLINE __m128i carry_of(__m128i a)
{
    return _mm_srli_epi64(a, DIGIT_BITS);
}

EVC_INLINE __m128i lower_half(__m256i a)
{
    return _mm256_castsi256_si128(a);
}

EVC_INLINE __m128i upper_half(__m256i a)
{
    return _mm256_extracti128_si256(a, 1);
}

/* ---- Reduction ------------------------------------------------------------------------------- */

/* Digits of -1 / n modulo B^2, and digits of n: 0, 1, and two of them each, the first in the lower
 * half. */
struct constants {
    __m128i inverse0, inverse1, n01, n1, n12, n23;
};

/* Two multiples of n, and what their columns carry, in the lower halves. */
struct two_multiples {
    __m128i first, second, carry;
};

/* The multiples of n that make two columns zero. low, high: the columns, in the lower halves. Both
 * multiples come from the product of the columns and -1 / n modulo B^2; if the second one came from
 * the column that the first one leaves, it would wait for one product more. The lower column has
 * BIAS; the upper one gets what is missing to BIAS by the carries. */
EVC_INLINE struct two_multiples next_multiples(__m128i low, __m128i high, const struct constants *c)
{
    const __m128i digit = _mm_and_si128(low, _mm_cvtsi32_si128(DIGIT_MASK));
    const __m128i above = lane_add(high, carry_of(low)), product = lane_mul(digit, c->inverse0);
    const __m128i upper = lane_add(lane_mul(digit, c->inverse1), lane_mul(above, c->inverse0));
    struct two_multiples q;
    const __m128i carry = carry_of(lane_add(product, _mm_cvtsi32_si128(HALF)));
    __m128i sum = lane_add(digit, _mm_set_epi64x(0, DIGIT_BIAS));

    q.first = signed_digit(product);
    q.second = signed_digit(lane_add(upper, carry));
    sum = carry_of(lane_add(sum, lane_mul(q.first, c->n01)));
    sum = lane_add(lane_add(above, lane_mul(q.first, c->n1)), sum);
    q.carry = carry_of(lane_add(sum, lane_mul(q.second, c->n01)));
    return q;
}

/* Four multiples of n, and what their columns carry to the next one, in the lowest word and without
 * a bias. */
struct multiples {
    struct digits q;
    __m256i carry;
};

/* The multiples of n that make a vector of columns zero. */
EVC_INLINE struct multiples multiples_of(__m256i columns, const struct constants *c)
{
    const int64_t even = INT64_MAX - CARRIED_BIAS + 1, odd = even - CARRIED_DIGIT_BIAS;
    const __m256i sum = v_add(columns, _mm256_set_epi64x(odd, even, odd, BIAS));
    const __m128i low = lower_half(sum);
    const struct two_multiples two = next_multiples(low, _mm_srli_si128(low, 8), c);
    __m128i high = upper_half(sum);
    struct two_multiples others;
    struct multiples m;

    high = lane_add(high, lane_mul(_mm_unpacklo_epi64(two.first, two.first), c->n23));
    high = lane_add(high, lane_mul(_mm_unpacklo_epi64(two.second, two.second), c->n12));
    others = next_multiples(lane_add(high, two.carry), _mm_srli_si128(high, 8), c);
    m.q.of[0] = _mm256_broadcastd_epi32(two.first);
    m.q.of[1] = _mm256_broadcastd_epi32(two.second);
    m.q.of[2] = _mm256_broadcastd_epi32(others.first);
    m.q.of[3] = _mm256_broadcastd_epi32(others.second);
    m.carry = _mm256_sub_epi64(EVC_X86_EXTEND256(_mm_move_epi64(others.carry)),
                               _mm256_set_epi64x(0, 0, 0, CARRIED_BIAS));
    return m;
}

/* Makes the lowest vector of columns zero by four rows of n: t[0] is not read again, and all
 * above gets the rows. */
EVC_INLINE void reduce(__m256i *t, const int64_t *n, size_t blocks, const struct constants *c)
{
    const struct multiples m = multiples_of(v_load(t), c);

    v_store(t + 1, add_block(v_add(v_load(t + 1), m.carry), n + BLOCK, &m.q));
    add_blocks(t + 2, n + 2 * BLOCK, blocks - 1, m.q);
}

/* The digits of columns, and what these carry in *carry. */
EVC_INLINE __m256i take_digits(__m256i columns, __m256i *carry)
{
    const __m256i rounded = v_add(columns, _mm256_set1_epi64x(BIAS + HALF));

    *carry = _mm256_sub_epi64(_mm256_srli_epi64(rounded, DIGIT_BITS),
                              _mm256_set1_epi64x(CARRIED_BIAS));
    return _mm256_sub_epi64(_mm256_and_si256(rounded, _mm256_set1_epi64x(DIGIT_MASK)),
                            _mm256_set1_epi64x(HALF));
}

/* A vector of columns after each column has carried to the next one. *below: the carries of the
 * vector below, which become those of this one. */
EVC_INLINE __m256i carried(__m256i columns, __m256i *below)
{
    __m256i carry, digits = take_digits(columns, &carry);
    const __m256i highest_below = _mm256_permute2x128_si256(*below, carry, 0x21);

    *below = carry;
    return v_add(digits, _mm256_alignr_epi8(carry, highest_below, 8));
}

/* Carries once in the columns that the next rows are added to. The highest one is 0 before, for
 * neither n nor b has reached it. */
EVC_OUT_OF_LINE void carry_columns(__m256i *t, size_t blocks)
{
    __m256i below = _mm256_setzero_si256();

    for (size_t i = 0; i <= blocks; i++)
        v_store(t + i, carried(v_load(t + i), &below));
}

/* r = the digits of columns, which carry twice: at most 2^35 first, and at most 2^6 then. */
EVC_INLINE void carry_to(int32_t *r, const __m256i *t, size_t blocks)
{
    const __m256i even = _mm256_set_epi32(0, 0, 0, 0, 6, 4, 2, 0);
    __m256i below = _mm256_setzero_si256(), below_those = below;

    for (size_t i = 0; i < blocks; i++) {
        const __m256i once = carried(v_load(t + i), &below), digits = carried(once, &below_those);

        _mm_storeu_si128((__m128i *)(void *)(r + BLOCK * i),
                         lower_half(_mm256_permutevar8x32_epi32(digits, even)));
    }
}

EVC_INLINE int is_carried_after(size_t block, size_t blocks)
{
    return blocks > UNCARRIED_BLOCKS && block % CARRY_BLOCKS == CARRY_BLOCKS - 1;
}

EVC_INLINE struct constants constants_of(const void *key, const int64_t *n)
{
    const struct private_part *const p = private_part(key);
    struct constants c;

    c.inverse0 = _mm_cvtsi32_si128((int)p->inverse[0]);
    c.inverse1 = _mm_cvtsi32_si128((int)p->inverse[1]);
    c.n01 = load_words(n);
    c.n1 = _mm_srli_si128(c.n01, 8);
    c.n12 = load_words(n + 1);
    c.n23 = load_words(n + 2);
    return c;
}

static void mul(const void *key, void *r, const void *va, const void *vb, void *scratch)
{
    const size_t blocks = blocks_of(key);
    const int64_t *const n = modulus_words(key);
    const struct constants c = constants_of(key, n);
    const int32_t *const a = va;
    const int64_t *const b = set_words(scratch, vb, blocks);
    __m256i *t = columns_of(scratch, blocks);

    clear_columns(t, blocks);
    for (size_t i = 0; i < blocks; i++, t++) {
        add_blocks(t, b, blocks + 1, spread(a + BLOCK * i));
        reduce(t, n, blocks, &c);
        if (is_carried_after(i, blocks))
            carry_columns(t + 1, blocks);
    }
    carry_to(r, t, blocks);
    EVC_X86_CLEAR_UPPER_HALVES();
}

EVC_INLINE __m256i add_row(__m256i sum, __m256i digit, __m128i row)
{
    return v_add(sum, v_mul(digit, widened(row)));
}

/* Adds four rows of a square to the columns of the block of their own digits, a, and of the next
 * block: products of the own digits as they are, so that each product of two different ones is
 * there twice, and products with digits of the next block doubled. */
EVC_INLINE void add_diagonal(__m256i *t, const int32_t *a, int has_next, const struct digits *d)
{
    const __m128i own = load_digits(a),
                  next = has_next ? load_digits(a + BLOCK) : _mm_setzero_si128();
    const __m128i twice = _mm_add_epi32(next, next);
    __m256i sum = v_load(t);

    sum = add_row(sum, d->of[0], own);
    sum = add_row(sum, d->of[1], _mm_slli_si128(own, 4));
    sum = add_row(sum, d->of[2], _mm_slli_si128(own, 8));
    v_store(t, add_row(sum, d->of[3], _mm_slli_si128(own, 12)));
    sum = v_load(t + 1);
    sum = add_row(sum, d->of[0], twice);
    sum = add_row(sum, d->of[1], _mm_alignr_epi8(twice, own, 12));
    sum = add_row(sum, d->of[2], _mm_alignr_epi8(twice, own, 8));
    v_store(t + 1, add_row(sum, d->of[3], _mm_alignr_epi8(twice, own, 4)));
}

static void sqr(const void *key, void *r, const void *va, void *scratch)
{
    const size_t blocks = blocks_of(key);
    const int64_t *const n = modulus_words(key);
    const struct constants c = constants_of(key, n);
    const int32_t *const a = va;
    const int64_t *const b = set_words(scratch, va, blocks);
    __m256i *t = columns_of(scratch, blocks);

    clear_columns(t, blocks);
    for (size_t i = 0; i < blocks; i++, t++) {
        const struct digits d = spread(a + BLOCK * i);
        const size_t left = blocks - 1 - i;

        add_diagonal(t + i, a + BLOCK * i, left > 0, &d);
        if (left > 0)
            add_blocks(t + i + 2, b + BLOCK * (i + 2), left, doubled(d));
        reduce(t, n, blocks, &c);
        if (is_carried_after(i, blocks))
            carry_columns(t + 1, blocks);
    }
    carry_to(r, t, blocks);
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* ---- The modulus ----------------------------------------------------------------------------- */

/* -1 / n modulo 2^64, by the lowest 64 bits of n. Newton's iteration doubles the bits that are
 * right: from 3, for n n = 1 modulo 8. */
EVC_INLINE uint64_t negative_inverse(uint64_t low)
{
    uint64_t inverse = low;

    for (int bits = 3; bits < 64; bits *= 2)
        inverse *= 2 - low * inverse;
    return 0 - inverse;
}

static void set_modulus(void *key, const uint8_t *n)
{
    struct private_part *const p = EVC_BN_PRIVATE(key);
    const size_t blocks = blocks_of(key), n_bytes = evc_bn_n_bytes(key);
    int64_t *words;
    int32_t *digits;
    uint64_t inverse = 0;

    for (size_t i = 0; i < 8; i++)
        inverse |= (uint64_t)n[n_bytes - 1 - i] << 8 * i;
    inverse = negative_inverse(inverse);
    p->inverse[0] = (uint32_t)inverse & DIGIT_MASK;
    p->inverse[1] = (uint32_t)(inverse >> DIGIT_BITS) & DIGIT_MASK;
    p->words_at = (uint32_t)(0 - (uintptr_t)(p + 1)) % sizeof(__m256i);
    words = (int64_t *)(void *)((uint8_t *)(p + 1) + p->words_at);
    digits = (int32_t *)(void *)(words + BLOCK * (blocks + 2));
    load(key, digits, n, n_bytes);
    set_words(words, digits, blocks);
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* ---- Tables ---------------------------------------------------------------------------------- */

EVC_INLINE __m256i masked(__m256i found, const __m128i *entry, __m256i mask)
{
    return _mm256_or_si256(found, _mm256_and_si256(mask, v_load(entry)));
}

/* r = six blocks of entry number index. */
EVC_INLINE void select_six(__m128i *r, const __m128i *table, size_t blocks, size_t n_entries,
                           size_t index)
{
    const __m256i wanted = _mm256_set1_epi32((int)index), one = _mm256_set1_epi32(1);
    __m256i number = _mm256_setzero_si256(), x = number, y = number, z = number;

    for (size_t i = 0; i < n_entries; i++, table += blocks) {
        const __m256i mask = _mm256_cmpeq_epi32(number, wanted);

        x = masked(x, table, mask);
        y = masked(y, table + 2, mask);
        z = masked(z, table + 4, mask);
        number = _mm256_add_epi32(number, one);
    }
    v_store(r, x);
    v_store(r + 2, y);
    v_store(r + 4, z);
}

EVC_INLINE void select_one(__m128i *r, const __m128i *table, size_t blocks, size_t n_entries,
                           size_t index)
{
    const __m128i wanted = _mm_set1_epi32((int)index);
    __m128i number = _mm_setzero_si128(), x = number;

    for (size_t i = 0; i < n_entries; i++, table += blocks) {
        const __m128i mask = _mm_cmpeq_epi32(number, wanted);

        x = _mm_or_si128(x, _mm_and_si128(mask, _mm_loadu_si128(table)));
        number = _mm_add_epi32(number, _mm_set1_epi32(1));
    }
    _mm_storeu_si128(r, x);
}

static void select_entry(const void *key, void *r, const void *table, size_t n_entries,
                         size_t index)
{
    const size_t blocks = blocks_of(key);
    const __m128i *from = table;
    __m128i *to = r;
    size_t left = blocks;

    for (; left >= 6; left -= 6, from += 6, to += 6)
        select_six(to, from, blocks, n_entries, index);
    for (; left > 0; left--, from++, to++)
        select_one(to, from, blocks, n_entries, index);
    EVC_X86_CLEAR_UPPER_HALVES();
}

const struct evc_bn evc_bn_x86_avx2 = {
    .kernel = EVC_KERNEL_HEAD(x86_avx2, X86_AVX2_MUL, CT, ANY, 1, struct evc_bn_modulus, 0, YMM,
                              1024),
    .lanes = 1,
    .fewest_bits = 257, /* Zen 3, 32 bits: 304 core cycles a product of 256 bits, x86_sse2 244; at
                         * 320 bits 307 and 344 */
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

/* SPDX-License-Identifier: MIT */
/*
 * Montgomery products and remainders of contrib/openssl/everycore (montgomery.c,
 * mod_word.c) without OpenSSL: results, lengths that are left to OpenSSL, room that is
 * refused, and what is wiped.
 *
 * products [first]   With `first` it ends at the first test that fails.
 */
#include "stand_in.h"

#define N_WORDS(n_bits) ((n_bits) / EVC_BN_WORD_BITS)
#if EVC_OPENSSL_XMPYU
#define STEP_WORDS 8 /* between lengths that are taken */
#define LEAST_WORDS 8
#define MOST_WORDS 1024
#else
#define STEP_WORDS 1
#define LEAST_WORDS 4
#define MOST_WORDS N_WORDS(4096)
#endif

typedef int function(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, BN_MONT_CTX *mont, BN_CTX *ctx);
function bn_mul_mont_fixed_top, BN_mod_mul_montgomery, evc_openssl_bn_mul_mont_fixed_top;
int bn_to_mont_fixed_top(BIGNUM *r, const BIGNUM *a, BN_MONT_CTX *mont, BN_CTX *ctx);
int bn_mul_fixed_top(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, BN_CTX *ctx);
int bn_sqr_fixed_top(BIGNUM *r, const BIGNUM *a, BN_CTX *ctx);
BN_ULONG BN_mod_word(const BIGNUM *a, BN_ULONG w);

/* ---- Functions of OpenSSL -------------------------------------------------------------------- */

/* OpenSSL's own function leaves a number that no product here is. */
int evc_openssl_bn_mul_mont_fixed_top(BIGNUM *r, const BIGNUM *a, const BIGNUM *b,
                                      BN_MONT_CTX *mont, BN_CTX *ctx)
{
    (void)a, (void)b, (void)mont, (void)ctx;
    seen.own++;
    set_word(r, 0x01020304);
    return 1;
}

/* The product with as many words as it needs, and others behind it. */
int bn_mul_fixed_top(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, BN_CTX *ctx)
{
    static uint32_t x[MOST_DIGITS], y[MOST_DIGITS], t[2 * MOST_DIGITS];
    const size_t n_a = n_digits_of(a), n_b = n_digits_of(b);

    (void)ctx;
    if (++seen.product == failing.product)
        return 0;
    to_digits(x, a, n_a);
    to_digits(y, b, n_b);
    memset(t, 0, sizeof t);
    for (size_t i = 0; i < n_a; i++) {
        uint64_t carry = 0;

        for (size_t j = 0; j < n_b; j++) {
            carry += (uint64_t)x[i] * y[j] + t[i + j];
            t[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        t[i + n_b] = (uint32_t)carry;
    }
    from_digits(r, t, n_a + n_b);
    bn_correct_top(r);
    memset(r->d + r->top, 0xa5, (size_t)(r->dmax - r->top) * WORD_BYTES);
    return 1;
}

int bn_sqr_fixed_top(BIGNUM *r, const BIGNUM *a, BN_CTX *ctx)
{
    return bn_mul_fixed_top(r, a, a, ctx);
}

/* ---- One product ----------------------------------------------------------------------------- */

static BIGNUM n, a, b, r;
static BN_MONT_CTX mont;

static void set_modulus(void)
{
    static uint32_t digits[MOST_DIGITS];
    uint32_t inverse = 1;

    n.d[0] |= 1;
    copy(&mont.N, &n);
    mont.ri = n.top * EVC_BN_WORD_BITS;
    to_digits(digits, &n, 2);
    for (int i = 0; i < 32; i++)
        inverse *= 2 - digits[0] * inverse;
    mont.n0[0] = 0u - inverse;
#if EVC_BN_WORD64
    mont.n0[0] = 0u - (uint64_t)inverse * (2 - n.d[0] * inverse);
#endif
}

/* A modulus of so many words, without R^2, and two factors with as many that are below it. */
static void set(size_t n_words)
{
    set_random(&n, n_words * EVC_BN_WORD_BITS);
    n.d[n_words - 1] |= (BN_ULONG)1 << (EVC_BN_WORD_BITS - 1);
    set_modulus();
    set_random(&a, n_words * EVC_BN_WORD_BITS);
    set_random(&b, n_words * EVC_BN_WORD_BITS);
    a.d[n_words - 1] &= ~((BN_ULONG)1 << (EVC_BN_WORD_BITS - 1));
    b.d[n_words - 1] &= ~((BN_ULONG)1 << (EVC_BN_WORD_BITS - 1));
    a.neg = b.neg = 0;
    drop(&r);
}

static void start(void)
{
    memset(&seen, 0, sizeof seen);
}

/* Whether to = x y / R, with all words, and nothing is left behind. */
static int is_right(const BIGNUM *to, const uint32_t *x, const uint32_t *y)
{
    static uint32_t t[MOST_DIGITS], m[MOST_DIGITS], made[MOST_DIGITS];
    const size_t n_digits = n_digits_of(&n);

    to_digits(m, &n, n_digits);
    multiply(t, x, y, m, n_digits);
    to_digits(made, to, n_digits);
    return seen.own == 0 && seen.open == 0 && seen.not_wiped == 0 && to->top == n.top &&
           (to->flags & BN_FLG_FIXED_TOP) && memcmp(t, made, n_digits * 4) == 0;
}

/* x y into `to`, which may be one of them. */
static int product_is_right(BIGNUM *to, const BIGNUM *x, const BIGNUM *y)
{
    static uint32_t x_digits[MOST_DIGITS], y_digits[MOST_DIGITS];

    to_digits(x_digits, x, n_digits_of(&n));
    to_digits(y_digits, y, n_digits_of(&n));
    start();
    return bn_mul_mont_fixed_top(to, x, y, &mont, NULL) == 1 && is_right(to, x_digits, y_digits);
}

static void less_one(BIGNUM *x)
{
    copy(x, &n);
    x->d[0]--;
}

static void check_length(size_t n_words)
{
    set(n_words);
    EXPECT(product_is_right(&r, &a, &b));
    EXPECT(product_is_right(&r, &a, &a));
    EXPECT(product_is_right(&a, &a, &b));
    EXPECT(product_is_right(&b, &a, &b));
    EXPECT(product_is_right(&a, &a, &a));
    less_one(&a);
    less_one(&b);
    EXPECT(product_is_right(&r, &a, &b));
    EXPECT(product_is_right(&r, &a, &a));
    memset(a.d, 0, n_words * WORD_BYTES);
    EXPECT(product_is_right(&r, &a, &b));
    EXPECT(product_is_right(&r, &a, &a));
    a.d[0] = 1;
    EXPECT(product_is_right(&r, &a, &a));
    memset(n.d, 0xff, n_words * WORD_BYTES);
    set_modulus();
    less_one(&a);
    EXPECT(product_is_right(&r, &a, &b));
    EXPECT(product_is_right(&r, &a, &a));
    memset(a.d, 0xff, n_words * WORD_BYTES / 2); /* halves: the lower one is above the other */
    memset(a.d + n_words / 2, 0x7f, n_words * WORD_BYTES / 2);
    EXPECT(product_is_right(&r, &a, &a));
    /* the difference of the halves is less than 0, and its lowest word is 0 */
    memset(a.d, 0, n_words * WORD_BYTES);
    a.d[n_words / 2 + 1] = 5;
    EXPECT(product_is_right(&r, &a, &a));
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void products_are_right(void)
{
    for (size_t i = LEAST_WORDS; i <= (size_t)N_WORDS(1024); i += STEP_WORDS)
        check_length(i);
    check_length(N_WORDS(2048));
    check_length(N_WORDS(3072));
    check_length(N_WORDS(3328));
    check_length(N_WORDS(4096));
}

#if EVC_OPENSSL_XMPYU
static void longer_products_are_right(void)
{
    check_length(N_WORDS(4096) + STEP_WORDS);
    EXPECT(seen.product == 1);
}
#endif

static int is_own(void)
{
    int status;

    start();
    status = bn_mul_mont_fixed_top(&r, &a, &b, &mont, NULL);
    return status == 1 && seen.own == 1 && r.top == 1 && r.d[0] == 0x01020304;
}

static void lengths_that_are_left_to_openssl(void)
{
    set(LEAST_WORDS - 1);
    EXPECT(is_own());
#if EVC_OPENSSL_XMPYU
    set(LEAST_WORDS + 4);
    EXPECT(is_own());
#endif
    set(MOST_WORDS + STEP_WORDS);
    EXPECT(is_own());
    set(LEAST_WORDS);
    EXPECT(!is_own());
    failing.get = 1; /* so that no number is multiplied: that would take long */
    set(MOST_WORDS);
    EXPECT(!is_own());
    failing.get = 0;
}

static void operands_that_do_not_fit_are_left_to_openssl(void)
{
    set(2 * LEAST_WORDS);
    a.top--;
    EXPECT(is_own());
    a.top++;
    b.top--;
    EXPECT(is_own());
    b.top++;
    mont.ri += EVC_BN_WORD_BITS;
    EXPECT(is_own());
}

static void room_for_a_result_may_be_refused(void)
{
    set(2 * LEAST_WORDS);
    start();
    failing.expand = 1;
    EXPECT(bn_mul_mont_fixed_top(&r, &a, &b, &mont, NULL) == 0);
    EXPECT(seen.own == 0 && r.d == NULL);
    start();
    EXPECT(BN_mod_mul_montgomery(&r, &a, &b, &mont, NULL) == 0);
    failing.expand = 0;
    EXPECT(product_is_right(&r, &a, &b));
    failing.expand = 1; /* there is room now */
    EXPECT(product_is_right(&r, &a, &b));
    failing.expand = 0;
}

#if EVC_OPENSSL_XMPYU
static void failures_of_long_products_show(void)
{
    unsigned *const what[] = {&failing.get, &failing.product, &failing.expand};

    set(N_WORDS(4096) + STEP_WORDS);
    EXPECT(product_is_right(&r, &a, &b)); /* now it has room */
    for (int is_square = 0; is_square < 2; is_square++) {
        for (int i = 0; i < 3; i++) {
            start();
            *what[i] = 1;
            EXPECT(bn_mul_mont_fixed_top(&r, &a, is_square ? &a : &b, &mont, NULL) == 0);
            EXPECT(seen.own == 0 && seen.open == 0);
            *what[i] = 0;
        }
    }
}
#endif

static void signs_are_multiplied(void)
{
    set(2 * LEAST_WORDS);
    for (int i = 0; i < 4; i++) {
        a.neg = i & 1;
        b.neg = i >> 1;
        EXPECT(product_is_right(&r, &a, &b));
        EXPECT(r.neg == (a.neg != b.neg));
    }
}

static void other_functions_multiply_alike(void)
{
    static uint32_t x[MOST_DIGITS], y[MOST_DIGITS];

    set(2 * LEAST_WORDS);
    set_mont(&mont, &n);
    to_digits(x, &a, n_digits_of(&n));
    to_digits(y, &mont.RR, n_digits_of(&n));
    start();
    EXPECT(bn_to_mont_fixed_top(&r, &a, &mont, NULL) == 1);
    EXPECT(is_right(&r, x, y));
    to_digits(y, &b, n_digits_of(&n));
    start();
    EXPECT(BN_mod_mul_montgomery(&r, &a, &b, &mont, NULL) == 1);
    EXPECT(!(r.flags & BN_FLG_FIXED_TOP));
    r.flags |= BN_FLG_FIXED_TOP;
    EXPECT(is_right(&r, x, y));
    memset(a.d, 0, (size_t)a.top * WORD_BYTES);
    start();
    EXPECT(BN_mod_mul_montgomery(&r, &a, &b, &mont, NULL) == 1);
    EXPECT(r.top == 0);
}

/* By columns: the modulus, and three times its length. By blocks, what a square by halves needs. */
static void sums_are_wiped(void)
{
    const size_t n_words = 64;

    set(n_words);
    EXPECT(product_is_right(&r, &a, &b));
#if EVC_OPENSSL_XMPYU
    EXPECT(product_is_right(&r, &a, &a));
    EXPECT(seen.wiped == 5 * n_words / 2 * WORD_BYTES);
#else
    EXPECT(seen.wiped == 4 * n_words * WORD_BYTES);
#endif
}

static BN_ULONG rest(const BIGNUM *x, BN_ULONG w)
{
    BN_ULONG remainder = 0;

    for (int i = x->top * EVC_BN_WORD_BITS; i-- > 0;) {
        const BN_ULONG above = remainder >> (EVC_BN_WORD_BITS - 1);
        remainder =
            (BN_ULONG)(remainder << 1 | (x->d[i / EVC_BN_WORD_BITS] >> i % EVC_BN_WORD_BITS & 1));
        if (above || remainder >= w)
            remainder -= w;
    }
    return remainder;
}

static void remainders_are_right(void)
{
    for (size_t n_words = 1; n_words <= 33; n_words += n_words < 5 ? 1 : 7) {
        set_random(&a, n_words * EVC_BN_WORD_BITS);
        for (int i = 0; i < EVC_BN_WORD_BITS; i++) {
            BN_ULONG w;
            random_fill((uint8_t *)&w, sizeof w);
            w = w >> i | 1;
            start();
            EXPECT(BN_mod_word(&a, w) == rest(&a, w));
            EXPECT(seen.wiped >= 3 * WORD_BYTES); /* the divisor and what was made of it */
            w = (BN_ULONG)1 << i;
            EXPECT(BN_mod_word(&a, w) == rest(&a, w));
            w = 0u - w;
            EXPECT(BN_mod_word(&a, w) == rest(&a, w));
        }
        EXPECT(BN_mod_word(&a, 0) == (BN_ULONG)-1);
    }
    a.top = 0;
    EXPECT(BN_mod_word(&a, 3) == 0);
    a.top = -1;
    EXPECT(BN_mod_word(&a, 3) == 0);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(operands_that_do_not_fit_are_left_to_openssl),
        TEST(room_for_a_result_may_be_refused),
        TEST(signs_are_multiplied),
        TEST(other_functions_multiply_alike),
        TEST(sums_are_wiped),
        TEST(lengths_that_are_left_to_openssl),
#if EVC_OPENSSL_XMPYU
        TEST(failures_of_long_products_show),
        TEST(longer_products_are_right),
#endif
        TEST(remainders_are_right),
        TEST(products_are_right),
    };

    return run_tests(tests, sizeof tests / sizeof *tests,
                     argc == 2 && strcmp(argv[1], "first") == 0);
}

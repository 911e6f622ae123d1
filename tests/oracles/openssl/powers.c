/* SPDX-License-Identifier: MIT */
/*
 * Powers of contrib/openssl/everycore/exponent.c without OpenSSL: this program has the functions of
 * OpenSSL that the file calls. They can be told to fail, and they see which way a power is made,
 * and what becomes of its memory. Each result is compared with one that is made here bit by bit.
 *
 * powers digits   on PA-RISC, where fmpyadd is as the build expects it: by digits
 * powers words    elsewhere, and where fmpyadd is wrong
 * With `first` as a second word it ends at the first test that fails.
 */
#include "stand_in.h"

#define BN_FLG_CONSTTIME 0x04
#define OTHER_FLAG 0x02
#define UNUSED 0xa5 /* bytes of memory that nothing has been stored in */

/* How a power was made. */
enum way { FAILED, BY_DIGITS, BY_WORDS, OPENSSL_SECRET, OPENSSL_PUBLIC };

struct power {
    BIGNUM base, exponent, modulus, result;
    BN_MONT_CTX mont;
};

typedef int function(BIGNUM *r, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m, BN_CTX *ctx,
                     BN_MONT_CTX *mont);
function BN_mod_exp_mont, BN_mod_exp_mont_consttime;
int BN_mod_exp_mont_consttime_x2(BIGNUM *rr1, const BIGNUM *a1, const BIGNUM *p1, const BIGNUM *m1,
                                 BN_MONT_CTX *in_mont1, BIGNUM *rr2, const BIGNUM *a2,
                                 const BIGNUM *p2, const BIGNUM *m2, BN_MONT_CTX *in_mont2,
                                 BN_CTX *ctx);

static int has_digits;

/* ---- Functions of OpenSSL -------------------------------------------------------------------- */

static int own_status[2]; /* what OpenSSL's own functions return, the first and the second one */

void *CRYPTO_malloc(size_t n_bytes, const char *file, int line);
void CRYPTO_clear_free(void *p, size_t n_bytes, const char *file, int line);
int bn_mul_mont_fixed_top(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, BN_MONT_CTX *mont,
                          BN_CTX *ctx);
function evc_openssl_BN_mod_exp_mont, evc_openssl_BN_mod_exp_mont_consttime;

void *CRYPTO_malloc(size_t n_bytes, const char *file, int line)
{
    uint8_t *p;

    (void)file, (void)line;
    if (++seen.malloc == failing.malloc || !(p = malloc(n_bytes)))
        return NULL;
    memset(p, UNUSED, n_bytes);
    seen.allocated += n_bytes;
    return p;
}

/* There is one piece of memory at a time. */
void CRYPTO_clear_free(void *p, size_t n_bytes, const char *file, int line)
{
    const uint8_t *const bytes = p;

    (void)file, (void)line;
    seen.words_in_use = 0;
    for (size_t i = 0; i + 8 <= seen.allocated; i += 8)
        seen.words_in_use += !all_are(bytes + i, UNUSED, 8);
    for (size_t i = n_bytes; i < seen.allocated; i++)
        seen.not_wiped += bytes[i] != UNUSED;
    seen.allocated = 0;
    free(p);
}

/* OpenSSL's own functions leave a number that none of the powers here is. */
static int own(BIGNUM *r)
{
    const unsigned n = seen.own + seen.own_public;

    expand(r, 2);
    r->d[0] = r->d[1] = 0x01020304;
    r->top = 2;
    r->neg = 1;
    return n > 2 || own_status[n - 1];
}

int evc_openssl_BN_mod_exp_mont(BIGNUM *r, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m,
                                BN_CTX *ctx, BN_MONT_CTX *mont)
{
    (void)a, (void)p, (void)m, (void)ctx, (void)mont;
    seen.own_public++;
    return own(r);
}

int evc_openssl_BN_mod_exp_mont_consttime(BIGNUM *r, const BIGNUM *a, const BIGNUM *p,
                                          const BIGNUM *m, BN_CTX *ctx, BN_MONT_CTX *mont)
{
    (void)a, (void)p, (void)m, (void)ctx, (void)mont;
    seen.own++;
    return own(r);
}

/* ---- Powers bit by bit ----------------------------------------------------------------------- */

int bn_mul_mont_fixed_top(BIGNUM *r, const BIGNUM *a, const BIGNUM *b, BN_MONT_CTX *mont,
                          BN_CTX *ctx)
{
    static uint32_t x[MOST_DIGITS], y[MOST_DIGITS], n[MOST_DIGITS];
    const size_t n_digits = n_digits_of(&mont->N);

    (void)ctx;
    if (++seen.product == failing.product)
        return 0;
    to_digits(x, a, n_digits);
    to_digits(y, b, n_digits);
    to_digits(n, &mont->N, n_digits);
    multiply(x, x, y, n, n_digits);
    from_digits(r, x, n_digits);
    r->neg = a->neg ^ b->neg;
    r->flags |= BN_FLG_FIXED_TOP;
    return 1;
}

/* The result has no zero words above, is not negative, and is the power. */
static int is_right(const BIGNUM *r, const BIGNUM *a, const BIGNUM *p, BN_MONT_CTX *mont)
{
    static uint32_t x[MOST_DIGITS], factor[MOST_DIGITS], n[MOST_DIGITS], one[MOST_DIGITS];
    const size_t n_digits = n_digits_of(&mont->N);

    to_digits(n, &mont->N, n_digits);
    to_digits(x, &mont->RR, n_digits);
    to_digits(factor, a, n_digits);
    multiply(factor, factor, x, n, n_digits);
    memset(one, 0, sizeof one);
    one[0] = 1;
    multiply(x, x, one, n, n_digits);
    for (size_t i = (size_t)p->top * 8 * WORD_BYTES; i-- > 0;) {
        multiply(x, x, x, n, n_digits);
        if (p->d[i / (8 * WORD_BYTES)] >> i % (8 * WORD_BYTES) & 1)
            multiply(x, x, factor, n, n_digits);
    }
    multiply(x, x, one, n, n_digits);
    if (r->neg || r->top > mont->N.top || (r->top > 0 && r->d[r->top - 1] == 0) ||
        (r->flags & BN_FLG_FIXED_TOP))
        return 0;
    to_digits(factor, r, n_digits);
    return memcmp(x, factor, n_digits * sizeof *x) == 0;
}

static struct power s;

/* ---- One power ------------------------------------------------------------------------------- */

static void forget(struct power *s)
{
    drop(&s->base);
    drop(&s->exponent);
    drop(&s->modulus);
    drop(&s->result);
    drop(&s->mont.RR);
    drop(&s->mont.N);
    memset(s, 0, sizeof *s);
}

/* A modulus with its highest bit set, a base below it, and an exponent. */
static void set(struct power *s, size_t n_bits, size_t exponent_bits)
{
    forget(s);
    set_random(&s->modulus, n_bits);
    s->modulus.d[0] |= 1;
    s->modulus.d[s->modulus.top - 1] |= (BN_ULONG)1 << (EVC_BN_WORD_BITS - 1);
    set_mont(&s->mont, &s->modulus);
    set_random(&s->base, n_bits);
    s->base.d[s->base.top - 1] &= ~((BN_ULONG)1 << (EVC_BN_WORD_BITS - 1));
    set_random(&s->exponent, exponent_bits);
    s->result.neg = 1;
}

static void fail_nowhere(void)
{
    memset(&failing, 0, sizeof failing);
    own_status[0] = own_status[1] = 1;
}

#if EVC_OPENSSL_XMPYU
#define KEEP(i) "fstds,ma %%fr" #i ", 8(%0)\n\t"
/* Registers for floating point that a call may change, and that are not 0. */
static inline __attribute__((always_inline)) unsigned registers_in_use(void)
{
    uint64_t registers[18], *to = registers;
    unsigned n = 0;

    __asm__ volatile(KEEP(4) KEEP(5) KEEP(6) KEEP(7) KEEP(8) KEEP(9) KEEP(10) KEEP(11) KEEP(22)
                         KEEP(23) KEEP(24) KEEP(25) KEEP(26) KEEP(27) KEEP(28) KEEP(29) KEEP(30)
                             KEEP(31)
                     : "+r"(to)
                     :
                     : "memory");
    for (int i = 0; i < 18; i++)
        n += registers[i] != 0;
    return n;
}
#else
static unsigned registers_in_use(void)
{
    return 0;
}
#endif

static enum way way_of(int status)
{
    if (!status)
        return FAILED;
    return seen.own_public ? OPENSSL_PUBLIC
           : seen.own      ? OPENSSL_SECRET
           : seen.product  ? BY_WORDS
                           : BY_DIGITS;
}

/* Makes a power, of which the result may be one of the operands, and sees to it that it is right,
 * and that nothing is left behind. */
static enum way made_at(BIGNUM *r, struct power *s, function *f, BN_MONT_CTX *mont)
{
    static BIGNUM base, exponent;
    unsigned registers;
    enum way way;
    int status;

    copy(&base, &s->base);
    copy(&exponent, &s->exponent);
    memset(&seen, 0, sizeof seen);
    status = f(r, &s->base, &s->exponent, &s->modulus, NULL, mont);
    registers = registers_in_use();
    way = way_of(status);
    EXPECT(seen.allocated == 0);
    EXPECT(seen.not_wiped == 0);
    EXPECT(seen.open == 0);
    EXPECT(way != BY_DIGITS || registers == 0);
    EXPECT((way != BY_DIGITS && way != BY_WORDS) || is_right(r, &base, &exponent, &s->mont));
    fail_nowhere();
    return way;
}

static enum way made(struct power *s)
{
    return made_at(&s->result, s, BN_mod_exp_mont_consttime, &s->mont);
}

/* Whether OpenSSL's own function makes the power, and no memory was asked for digits. It would be
 * refused: a power by digits of long numbers takes long. */
static int is_left_to_openssl(void)
{
    failing.malloc = 1;
    return made(&s) == OPENSSL_SECRET && seen.malloc == 0;
}

static enum way by_digits_or(enum way way)
{
    return has_digits ? BY_DIGITS : way;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void powers_of_any_base_are_right(void)
{
    static const size_t lengths[] = {256, 512, 768, 1024, 1536, 2048};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        set(&s, lengths[i], 128);
        EXPECT(made(&s) == by_digits_or(OPENSSL_SECRET));
        s.base.top = 1; /* one word: there are too many sums for it */
        EXPECT(made(&s) == by_digits_or(OPENSSL_SECRET));
        copy(&s.base, &s.modulus);
        s.base.d[0]--;
        EXPECT(made(&s) == by_digits_or(OPENSSL_SECRET));
    }
}

static void results_may_take_the_place_of_operands(void)
{
    set(&s, 1024, 128);
    EXPECT(made_at(&s.base, &s, BN_mod_exp_mont_consttime, &s.mont) ==
           by_digits_or(OPENSSL_SECRET));
    set(&s, 1024, 128);
    set_word(&s.base, 2);
    EXPECT(made_at(&s.base, &s, BN_mod_exp_mont_consttime, &s.mont) == by_digits_or(BY_WORDS));
    set_word(&s.base, 2);
    EXPECT(made_at(&s.exponent, &s, BN_mod_exp_mont_consttime, &s.mont) == by_digits_or(BY_WORDS));
}

static void powers_of_words_are_right(void)
{
    static const struct {
        BN_ULONG base;
        size_t n_bits; /* for all but the last one, digits take sums, too */
    } cases[] = {{2, 1024}, {3, 2048}, {4, 2048}, {5, 3072}, {7, 2048}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set(&s, cases[i].n_bits, EVC_BN_WORD_BITS);
        set_word(&s.base, cases[i].base);
        EXPECT(made(&s) == by_digits_or(BY_WORDS));
        set_word(&s.exponent, 3); /* the result is one word */
        EXPECT(made(&s) == by_digits_or(BY_WORDS));
        EXPECT(s.result.top == 1);
        s.exponent.d[0] = 0;
        EXPECT(made(&s) == by_digits_or(BY_WORDS));
        EXPECT(s.result.top == 1 && s.result.d[0] == 1);
        s.exponent.d[0] = (BN_ULONG)-1;
        EXPECT(made(&s) == by_digits_or(BY_WORDS));
    }
}

static void bases_without_a_power_by_words(void)
{
    set(&s, 1024, 128);
    set_word(&s.base, 0);
    EXPECT(made(&s) == by_digits_or(OPENSSL_SECRET));
    set_word(&s.base, 1);
    EXPECT(made(&s) == by_digits_or(OPENSSL_SECRET));
    s.base.d[0] = 0; /* a zero that shows as one word */
    EXPECT(made(&s) == by_digits_or(OPENSSL_SECRET));
    set_word(&s.base, 2);
    s.base.neg = 1;
    EXPECT(made(&s) == OPENSSL_SECRET);
    s.base.neg = 0;
    expand(&s.base, 2);
    s.base.top = 2;
    s.base.d[1] = 1;
    EXPECT(made(&s) == by_digits_or(OPENSSL_SECRET));
}

/* The lengths from which on words have few enough sums, and up to which they are taken. */
static void words_are_for_some_moduli(void)
{
    static const struct {
        BN_ULONG base;
        size_t n_bits;
        enum way way;
    } cases[] = {
        {2, 512, BY_WORDS}, {2, 448, OPENSSL_SECRET}, {3, 1024, BY_WORDS}, {3, 960, OPENSSL_SECRET},
        {5, 1536, BY_WORDS}, {5, 1472, OPENSSL_SECRET},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set(&s, cases[i].n_bits, 64);
        set_word(&s.base, cases[i].base);
        EXPECT(made(&s) == by_digits_or(cases[i].way));
    }
}

static void the_longest_modulus_of_words(void)
{
    for (size_t n_bits = 32768; n_bits <= 32768 + 64; n_bits += 64) {
        forget(&s);
        set_random(&s.modulus, n_bits);
        memset(s.modulus.d, 0xff, n_bits / 8); /* 2^n - 1, so that R and its square are 1 */
        copy(&s.mont.N, &s.modulus);
        s.mont.ri = (int)n_bits;
        set_word(&s.mont.RR, 1);
        set_word(&s.base, 2);
        set_word(&s.exponent, 77);
        failing.product = 1; /* the first product tells enough, and all of them would take long */
        EXPECT(made(&s) == (n_bits == 32768 ? FAILED : OPENSSL_SECRET));
    }
}

/* Digits are for moduli from 256 to 8192 bits, and for exponents from one word to 8192 bits. */
static void lengths_that_are_left_to_openssl(void)
{
    static const size_t lengths[] = {192, 8256};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        set(&s, lengths[i], 64);
        EXPECT(is_left_to_openssl());
    }
#if EVC_BN_WORD32
    set(&s, 256 - 32, 64);
    EXPECT(is_left_to_openssl());
    set(&s, 8192 + 32, 64);
    EXPECT(is_left_to_openssl());
#endif
    set(&s, 256, 8192 + EVC_BN_WORD_BITS);
    EXPECT(is_left_to_openssl());
    set(&s, 1024, 64);
    s.exponent.top = 0;
    EXPECT(is_left_to_openssl());
    set_word(&s.base, 2);
    EXPECT(is_left_to_openssl());
}

static void the_longest_modulus_and_exponent_of_digits(void)
{
    set(&s, 256, 8192);
    EXPECT(made(&s) == by_digits_or(OPENSSL_SECRET));
    set(&s, 8192, EVC_BN_WORD_BITS);
    EXPECT(made(&s) == by_digits_or(OPENSSL_SECRET));
}

static void moduli_with_zeros_above_are_for_openssl(void)
{
    set(&s, 256, 64);
    s.modulus.d[s.modulus.top - 1] = s.mont.N.d[s.modulus.top - 1] = (BN_ULONG)1
                                                                     << (EVC_BN_WORD_BITS - 8);
    set_mont(&s.mont, &s.modulus);
    s.base.d[s.base.top - 1] = 1;
    EXPECT(made(&s) == by_digits_or(OPENSSL_SECRET));
    s.modulus.d[s.modulus.top - 1]--;
    set_mont(&s.mont, &s.modulus);
    EXPECT(made(&s) == OPENSSL_SECRET);
}

static void operands_that_do_not_fit_are_for_openssl(void)
{
    set(&s, 256, 64);
    copy(&s.base, &s.modulus);
    EXPECT(made(&s) == OPENSSL_SECRET);
    s.base.d[s.base.top - 1]++;
    s.base.d[0]--;
    EXPECT(made(&s) == OPENSSL_SECRET);
    set(&s, 256, 64);
    s.base.neg = 1;
    EXPECT(made(&s) == OPENSSL_SECRET);
    set(&s, 256, 64);
    expand(&s.base, s.base.top + 1);
    s.base.d[s.base.top++] = 1;
    EXPECT(made(&s) == OPENSSL_SECRET);
    set(&s, 256, 64);
    s.base.top--;
    EXPECT(made(&s) == by_digits_or(OPENSSL_SECRET));
}

static void a_mont_ctx_that_does_not_fit_is_for_openssl(void)
{
    set(&s, 1024, 64);
    for (int is_word = 0; is_word < 2; is_word++) {
        if (is_word)
            set_word(&s.base, 2);
        EXPECT(made_at(&s.result, &s, BN_mod_exp_mont_consttime, NULL) == OPENSSL_SECRET);
        s.mont.ri += EVC_BN_WORD_BITS;
        EXPECT(made(&s) == OPENSSL_SECRET);
        s.mont.ri -= EVC_BN_WORD_BITS;
        s.mont.N.top--;
        EXPECT(made(&s) == OPENSSL_SECRET);
        s.mont.N.top++;
    }
    set(&s, 1024, 64);
    expand(&s.mont.RR, s.modulus.top + 1);
    s.mont.RR.d[s.modulus.top] = 1;
    s.mont.RR.top = s.modulus.top + 1;
    EXPECT(made(&s) == OPENSSL_SECRET);
}

/* The memory that a power uses tells whether it has a table: sums need three numbers. */
static void a_secret_base_of_one_word_does_not_show(void)
{
    size_t table, word, secret_word;

    for (BN_ULONG base = 2; base <= 5; base += 3) {
        set(&s, base == 2 ? 1024 : 3072, EVC_BN_WORD_BITS);
        EXPECT(made(&s) == by_digits_or(OPENSSL_SECRET));
        table = seen.words_in_use;
        set_word(&s.base, base);
        EXPECT(made(&s) == by_digits_or(BY_WORDS));
        word = seen.words_in_use;
        s.base.flags |= BN_FLG_CONSTTIME;
        EXPECT(made(&s) == by_digits_or(OPENSSL_SECRET));
        secret_word = seen.words_in_use;
        EXPECT(!has_digits || (word < table && secret_word == table));
        s.base.flags = OTHER_FLAG;
        EXPECT(made(&s) == by_digits_or(BY_WORDS));
        EXPECT(seen.words_in_use == word);
    }
}

static void the_other_function_is_for_secrets(void)
{
    BIGNUM *const marked[] = {&s.base, &s.exponent, &s.modulus};

    set(&s, 1024, 128);
    EXPECT(made_at(&s.result, &s, BN_mod_exp_mont, &s.mont) == OPENSSL_PUBLIC);
    for (int i = 0; i < 3; i++) {
        marked[i]->flags = BN_FLG_CONSTTIME;
        EXPECT(made_at(&s.result, &s, BN_mod_exp_mont, &s.mont) == by_digits_or(OPENSSL_PUBLIC));
        marked[i]->flags = OTHER_FLAG;
    }
    set_word(&s.base, 2);
    EXPECT(made_at(&s.result, &s, BN_mod_exp_mont, &s.mont) == OPENSSL_PUBLIC);
    for (int i = 0; i < 3; i++) {
        marked[i]->flags = BN_FLG_CONSTTIME;
        EXPECT(made_at(&s.result, &s, BN_mod_exp_mont, &s.mont) ==
               by_digits_or(i ? BY_WORDS : OPENSSL_PUBLIC));
        marked[i]->flags = OTHER_FLAG;
    }
}

static void without_memory_digits_give_way(void)
{
    for (int is_expand = 0; is_expand < 2 && has_digits; is_expand++) {
        unsigned *const what = is_expand ? &failing.expand : &failing.malloc;

        set(&s, 1024, 128);
        *what = 1;
        EXPECT(made(&s) == OPENSSL_SECRET);
        *what = 1;
        s.exponent.flags = BN_FLG_CONSTTIME;
        EXPECT(made_at(&s.result, &s, BN_mod_exp_mont, &s.mont) == OPENSSL_PUBLIC);
        set(&s, 1024, 128);
        set_word(&s.base, 2);
        *what = 1;
        EXPECT(made(&s) == BY_WORDS);
        set(&s, 1024, 128);
        set_word(&s.base, 2);
        s.base.flags |= BN_FLG_CONSTTIME; /* goes to neither of ours */
        *what = 1;
        EXPECT(made(&s) == OPENSSL_SECRET);
    }
}

/* Each of the calls of words that can fail; words are taken where digits have no memory. */
static void failures_of_words_show(void)
{
    unsigned n_products;

    for (BN_ULONG base = 2; base <= 3; base++) {
        set(&s, 1024, 64);
        set_word(&s.base, base);
        for (unsigned i = 1; i <= 3; i++) {
            failing.malloc = 1;
            failing.get = i;
            EXPECT(made(&s) == FAILED);
            failing.malloc = 1;
            failing.expand = i;
            EXPECT(made(&s) == FAILED);
        }
        failing.malloc = 1;
        EXPECT(made(&s) == BY_WORDS);
        n_products = seen.product;
        EXPECT(n_products > 3);
        for (unsigned i = 1; i <= n_products; i++) {
            failing.malloc = 1;
            failing.product = i;
            EXPECT(made(&s) == FAILED);
            EXPECT(seen.product == i);
        }
    }
}

#if EVC_OPENSSL_XMPYU
static struct power t;

static int both(BN_MONT_CTX *first, BN_MONT_CTX *second)
{
    memset(&seen, 0, sizeof seen);
    return BN_mod_exp_mont_consttime_x2(&s.result, &s.base, &s.exponent, &s.modulus, first,
                                        &t.result, &t.base, &t.exponent, &t.modulus, second, NULL);
}

static void two_powers_are_right(void)
{
    set(&s, 1024, 128);
    set(&t, 512, 64);
    set_word(&s.base, 2);
    set_word(&t.base, 2);
    EXPECT(both(&s.mont, &t.mont) == 1);
    EXPECT(is_right(&s.result, &s.base, &s.exponent, &s.mont));
    EXPECT(is_right(&t.result, &t.base, &t.exponent, &t.mont));
}

static void a_failure_of_one_of_two_powers_shows(void)
{
    for (int i = 0; i < 4; i++) {
        own_status[0] = i & 1;
        own_status[1] = i >> 1;
        EXPECT(both(NULL, NULL) == (i == 3));
        EXPECT(seen.own == 2);
    }
    fail_nowhere();
}
#endif

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(lengths_that_are_left_to_openssl),
        TEST(moduli_with_zeros_above_are_for_openssl),
        TEST(operands_that_do_not_fit_are_for_openssl),
        TEST(a_mont_ctx_that_does_not_fit_is_for_openssl),
        TEST(without_memory_digits_give_way),
#if EVC_OPENSSL_XMPYU
        TEST(two_powers_are_right),
        TEST(a_failure_of_one_of_two_powers_shows),
#endif
        TEST(bases_without_a_power_by_words),
        TEST(results_may_take_the_place_of_operands),
        TEST(failures_of_words_show),
        TEST(words_are_for_some_moduli),
        TEST(the_other_function_is_for_secrets),
        TEST(a_secret_base_of_one_word_does_not_show),
        TEST(the_longest_modulus_of_words),
        TEST(the_longest_modulus_and_exponent_of_digits),
        TEST(powers_of_words_are_right),
        TEST(powers_of_any_base_are_right),
    };
    const int stops = argc == 3 && strcmp(argv[2], "first") == 0;

    if (argc != 2 + stops || (strcmp(argv[1], "digits") != 0 && strcmp(argv[1], "words") != 0)) {
        fputs("usage: powers digits|words [first]\n", stderr);
        return 2;
    }
    has_digits = argv[1][0] == 'd';
    fail_nowhere();
    return run_tests(tests, sizeof tests / sizeof *tests, stops);
}

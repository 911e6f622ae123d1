/* SPDX-License-Identifier: MIT */
/*
 * Numbers of OpenSSL without OpenSSL, for tests of files of contrib/openssl/everycore: the
 * functions of OpenSSL that several of these call, which can be told to fail, and products that are
 * made here, digit by digit.
 */
#ifndef TESTS_OPENSSL_STAND_IN_H
#define TESTS_OPENSSL_STAND_IN_H

#include <stdlib.h>

#define EVC_OPENSSL_UNIT test
#include "../../../contrib/openssl/everycore/openssl.h"
#include "../../unit/tap.h"

#define WORD_BYTES sizeof(BN_ULONG)
#define MOST_DIGITS (32768 / 32 + 8) /* of a number in 32 bits */

/* ---- Functions of OpenSSL -------------------------------------------------------------------- */

/* The number of the call that fails, for each function; 0: none fails. */
static struct {
    unsigned malloc, expand, get, product;
} failing;

/* Since the start of a power or a product. */
static struct {
    unsigned malloc, expand, get, product;
    unsigned own, own_public; /* calls of OpenSSL's own functions */
    unsigned open;            /* BN_CTX_start without BN_CTX_end */
    unsigned not_wiped;       /* bytes that were given back as they were used */
    size_t wiped;             /* bytes that OPENSSL_cleanse was given */
    size_t allocated;         /* bytes of memory that is in use */
    size_t words_in_use;      /* of 64 bits, of the memory that was given back last:
                               * something was stored in them */
} seen;

void BN_CTX_start(BN_CTX *ctx);
BIGNUM *BN_CTX_get(BN_CTX *ctx);
void BN_CTX_end(BN_CTX *ctx);

void OPENSSL_cleanse(void *p, size_t n_bytes)
{
    memset(p, 0, n_bytes);
    seen.wiped += n_bytes;
}

static void expand(BIGNUM *a, int n_words)
{
    BN_ULONG *d;

    if (n_words <= a->dmax)
        return;
    d = calloc((size_t)n_words, WORD_BYTES);
    if (!d)
        abort();
    if (a->d)
        memcpy(d, a->d, (size_t)a->top * WORD_BYTES);
    free(a->d);
    a->d = d;
    a->dmax = n_words;
}

BIGNUM *bn_wexpand(BIGNUM *a, int n_words)
{
    if (++seen.expand == failing.expand)
        return NULL;
    expand(a, n_words);
    return a;
}

void bn_correct_top(BIGNUM *a)
{
    while (a->top > 0 && a->d[a->top - 1] == 0)
        a->top--;
    if (a->top == 0)
        a->neg = 0;
    a->flags &= ~BN_FLG_FIXED_TOP;
}

static BIGNUM temporary[3];
static unsigned n_temporary;

void BN_CTX_start(BN_CTX *ctx)
{
    (void)ctx;
    seen.open++;
    n_temporary = 0;
}

BIGNUM *BN_CTX_get(BN_CTX *ctx)
{
    (void)ctx;
    return ++seen.get == failing.get || n_temporary == 3 ? NULL : &temporary[n_temporary++];
}

void BN_CTX_end(BN_CTX *ctx)
{
    (void)ctx;
    seen.open--;
    for (int i = 0; i < 3; i++) {
        seen.not_wiped += !all_are(temporary[i].d, 0, (size_t)temporary[i].dmax * WORD_BYTES);
        free(temporary[i].d);
        memset(&temporary[i], 0, sizeof temporary[i]);
    }
}

/* ---- Numbers in digits of 32 bits ------------------------------------------------------------ */

static size_t n_digits_of(const BIGNUM *a)
{
    return (size_t)a->top * (WORD_BYTES / 4);
}

/* r = a: n_digits, of which a has not more. */
static void to_digits(uint32_t *r, const BIGNUM *a, size_t n_digits)
{
    for (size_t i = 0; i < n_digits; i++)
        r[i] = i < n_digits_of(a)
                   ? (uint32_t)((uint64_t)a->d[i / (WORD_BYTES / 4)] >> 32 * (i % (WORD_BYTES / 4)))
                   : 0;
}

static void from_digits(BIGNUM *r, const uint32_t *a, size_t n_digits)
{
    expand(r, (int)(n_digits * 4 / WORD_BYTES));
    r->top = (int)(n_digits * 4 / WORD_BYTES);
    for (int i = 0; i < r->top; i++) {
        const size_t at = (size_t)i * (WORD_BYTES / 4);
        r->d[i] =
            (BN_ULONG)(WORD_BYTES == 8 ? (uint64_t)a[at + WORD_BYTES / 8] << 32 | a[at] : a[at]);
    }
}

/* a = a - n if a, of which `above` is the digit above, is not below n. */
static void less_modulus(uint32_t *a, uint32_t above, const uint32_t *n, size_t n_digits)
{
    size_t i = n_digits;
    uint64_t borrow = 0;

    while (!above && i > 0 && a[i - 1] == n[i - 1])
        i--;
    if (!above && i > 0 && a[i - 1] < n[i - 1])
        return;
    for (i = 0; i < n_digits; i++) {
        const uint64_t difference = (uint64_t)a[i] - n[i] - borrow;
        a[i] = (uint32_t)difference;
        borrow = difference >> 63;
    }
}

static void double_number(uint32_t *a, const uint32_t *n, size_t n_digits)
{
    uint32_t above = 0;

    for (size_t i = 0; i < n_digits; i++) {
        const uint32_t digit = a[i];
        a[i] = digit << 1 | above;
        above = digit >> 31;
    }
    less_modulus(a, above, n, n_digits);
}

/* r = a b / 2^(32 n_digits) modulo n, by a product and a multiple of n for each digit of b. */
static void multiply(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *n,
                     size_t n_digits)
{
    static uint32_t t[MOST_DIGITS];
    uint32_t inverse = n[0];

    for (int i = 0; i < 5; i++)
        inverse *= 2 - n[0] * inverse;
    memset(t, 0, sizeof t);
    for (size_t i = 0; i < n_digits; i++) {
        uint64_t carry = 0;

        for (int is_multiple = 0; is_multiple < 2; is_multiple++) {
            const uint32_t factor = is_multiple ? 0u - t[0] * inverse : b[i];
            const uint32_t *const x = is_multiple ? n : a;

            for (size_t j = 0; j < n_digits; j++) {
                carry += (uint64_t)x[j] * factor + t[j];
                t[j] = (uint32_t)carry;
                carry >>= 32;
            }
            carry += (uint64_t)t[n_digits] + ((uint64_t)t[n_digits + 1] << 32);
            t[n_digits] = (uint32_t)carry;
            t[n_digits + 1] = (uint32_t)(carry >> 32);
            carry = 0;
        }
        for (size_t j = 0; j <= n_digits; j++)
            t[j] = t[j + 1];
        t[n_digits + 1] = 0;
    }
    less_modulus(t, t[n_digits], n, n_digits);
    for (size_t j = 0; j < n_digits; j++)
        r[j] = t[j];
}

static void set_random(BIGNUM *a, size_t n_bits)
{
    const int n_words = (int)(n_bits / EVC_BN_WORD_BITS);

    expand(a, n_words);
    random_fill((uint8_t *)a->d, (size_t)n_words * WORD_BYTES);
    a->d[n_words - 1] |= 1;
    a->top = n_words;
}

static void set_word(BIGNUM *a, BN_ULONG word)
{
    expand(a, 1);
    a->d[0] = word;
    a->top = word != 0;
}

static void copy(BIGNUM *r, const BIGNUM *a)
{
    expand(r, a->top);
    r->top = a->top;
    r->neg = a->neg;
    r->flags = a->flags;
    if (a->top)
        memcpy(r->d, a->d, (size_t)a->top * WORD_BYTES);
}

/* A modulus with R^2, which is the number 2^(2 ri), doubled from 1 on. */
static void set_mont(BN_MONT_CTX *mont, const BIGNUM *modulus)
{
    static uint32_t x[MOST_DIGITS], n[MOST_DIGITS];
    const size_t n_digits = n_digits_of(modulus);

    copy(&mont->N, modulus);
    mont->ri = modulus->top * EVC_BN_WORD_BITS;
    to_digits(n, modulus, n_digits);
    memset(x, 0, sizeof x);
    x[0] = 1;
    for (int i = 0; i < 2 * mont->ri; i++)
        double_number(x, n, n_digits);
    from_digits(&mont->RR, x, n_digits);
    bn_correct_top(&mont->RR);
}

static void drop(BIGNUM *a)
{
    free(a->d);
    memset(a, 0, sizeof *a);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

struct test {
    void (*run)(void);
    const char *name;
};
#define TEST(name) {name, #name}

/* Returns the exit code. stops: it ends at the first test that fails. */
static int run_tests(const struct test *tests, size_t n_tests, int stops)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was said before a crash is kept */
    for (size_t i = 0; i < n_tests && !(stops && tap_failed); i++) {
        tests[i].run();
        tap_result(tests[i].name, NULL);
    }
    return tap_done();
}

#endif

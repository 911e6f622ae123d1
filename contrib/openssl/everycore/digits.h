/* SPDX-License-Identifier: MIT */
/*
 * Powers by the kernel hppa_fmpyadd of bn, whose numbers are digits in the unit for floating point:
 * a whole power is made of them, from the base to the result. Whether the CPU, or an emulator of
 * it, has the instruction as it is written is found out each time, by one product and one sum;
 * where it is wrong, nothing is taken, and words multiply.
 *
 * The lengths of the modulus and of the exponent show in the time, as everywhere in OpenSSL, and so
 * does a base of one word that is not marked as secret.
 */
#ifndef EVC_OPENSSL_DIGITS_H
#define EVC_OPENSSL_DIGITS_H

#include "common/hppa_fmpyadd.h"

#if !defined(EVC_OPENSSL_TREE)
void *CRYPTO_malloc(size_t n_bytes, const char *file, int line);
void CRYPTO_clear_free(void *p, size_t n_bytes, const char *file, int line);
#endif

#define evc_bn_hppa_fmpyadd EVC_OPENSSL_NAME(hppa_fmpyadd)
#define evc_bn_op_select EVC_OPENSSL_NAME(op_select)
#define evc_wipe OPENSSL_cleanse
#define EVC_BN_STEPS_OF_POWERS 1
#include "bn/exp.c"
#include "bn/hppa_fmpyadd.c"

#define FEWEST_DIGIT_WORDS 8 /* of a modulus; for shorter ones, the rest of a power takes
                              * longer than its products */
#define MOST_DIGIT_WORDS ((int)EVC_BN_MAX_BITS / EVC_BN_WORD_BITS)

/* Memory of a power, its parts behind each other: the modulus as the kernel has it, scratch memory,
 * and bytes of the base, which those of the result replace, and of the exponent. */
struct power_memory {
    struct evc_bn_modulus *n;
    void *scratch;
    uint8_t *base, *exponent;
};

/* n_bytes big-endian bytes of n_words words, of which there are not more. */
static void bytes_of_words(uint8_t *out, size_t n_bytes, const BN_ULONG *words, size_t n_words)
{
    size_t left = n_bytes;

    for (size_t i = 0; i < n_words; i++) {
        left -= sizeof(BN_ULONG);
        evc_store32_be(out + left, words[i]);
    }
    while (left > 0)
        out[--left] = 0;
}

/* All ones if a is below n, of n_words words; a has no more of them, and is
 * taken to have zeros above. */
static uint32_t is_below(const BIGNUM *a, const BN_ULONG *n, size_t n_words)
{
    uint32_t borrow = 0;

    for (size_t i = 0; i < n_words; i++) {
        const BN_ULONG word = i < (size_t)a->top ? a->d[i] : 0;
        borrow = (uint32_t)(((uint64_t)word - n[i] - borrow) >> 63);
    }
    return 0u - borrow;
}

/* The forms of 1 and of R, from OpenSSL's R^2, RR = 2^(2 ri) modulo n, in three products: with
 * R = 2^r, RR^2 / R * 2^(4 (r - ri)) / R is R^2, and that times 1 / R is R. */
static void set_forms(struct power_memory *m, const BN_MONT_CTX *mont)
{
    struct evc_bn_modulus *const n = m->n;
    uint8_t *const one = (uint8_t *)n + evc_bn_one_at(&n->shape, n->n_bytes),
                   *const r2 = one + n->shape.form_bytes;
    const uint32_t doubled = 4 * (n->shape.r_bits - (uint32_t)mont->ri);
    const uint32_t most = 8 * n->n_bytes - 8, at_once = doubled < most ? doubled : most;

    bytes_of_words(m->base, n->n_bytes, mont->RR.d, (size_t)mont->RR.top);
    load(n, r2, m->base, n->n_bytes);
    evc_bn_op_mul(n, r2, r2, r2, m->scratch);
    memset(m->base, 0, n->n_bytes);
    m->base[n->n_bytes - 1 - at_once / 8] = (uint8_t)(1 << at_once % 8);
    load(n, one, m->base, n->n_bytes);
    evc_bn_op_mul(n, r2, one, r2, m->scratch);
    for (uint32_t i = at_once; i < doubled; i++)
        evc_bn_op_add(n, r2, r2, r2, m->scratch);
    m->base[0] = 1;
    load(n, one, m->base, 1);
    evc_bn_op_mul(n, one, one, r2, m->scratch);
}

/* Memory for a modulus and for exponents of so many bytes; returns its size.
 * bytes = NULL: only that. */
static size_t lay_out(struct power_memory *m, uint8_t *bytes, size_t n_bytes, size_t exponent_bytes)
{
    struct evc_bn_shape s;
    size_t modulus_bytes, scratch_bytes;

    shape(n_bytes, &s);
    modulus_bytes = (evc_bn_one_at(&s, n_bytes) + 2 * (size_t)s.form_bytes + 63) / 64 * 64;
    scratch_bytes = evc_bn_scratch_for(&s, TABLE + ((size_t)1 << window_bits(8 * exponent_bytes)));
    if (bytes) {
        bytes += (0u - (uintptr_t)bytes) % 64;
        m->n = (void *)bytes;
        m->n->kernel = &evc_bn_hppa_fmpyadd;
        m->n->n_bytes = (uint32_t)n_bytes;
        m->n->shape = s;
        m->scratch = bytes + modulus_bytes;
        m->base = bytes + modulus_bytes + scratch_bytes;
        m->exponent = m->base + n_bytes;
    }
    return EVC_BN_SLACK + modulus_bytes + scratch_bytes + n_bytes + exponent_bytes;
}

static int is_by_digits(const BIGNUM *a, const BIGNUM *p, const BIGNUM *m, const BN_MONT_CTX *mont)
{
    const int n_words = m->top;

    if (!mont || n_words < FEWEST_DIGIT_WORDS || n_words > MOST_DIGIT_WORDS ||
        mont->N.top != n_words || mont->ri != n_words * EVC_BN_WORD_BITS ||
        m->d[n_words - 1] >> 24 == 0)
        return 0;
    if (a->neg || a->top > n_words || p->top < 1 || p->top > MOST_DIGIT_WORDS ||
        mont->RR.top > n_words)
        return 0;
    return is_below(a, mont->N.d, (size_t)n_words) != 0 && evc_hppa_fmpyadd_is_right();
}

/* r = a to the power p modulo m. Returns 0 if it is to be made in another way: there is
 * no memory for this one. */
static int power_by_digits(BIGNUM *r, const BIGNUM *a, const BIGNUM *p, const BIGNUM *m,
                           const BN_MONT_CTX *mont)
{
    const size_t n_words = (size_t)m->top, n_bytes = n_words * sizeof(BN_ULONG);
    const size_t exponent_bytes = (size_t)p->top * sizeof(BN_ULONG);
    const int is_word = a->top == 1 && !(a->flags & BN_FLG_CONSTTIME);
    const size_t memory_bytes = lay_out(NULL, NULL, n_bytes, exponent_bytes);
    uint8_t *const memory = CRYPTO_malloc(memory_bytes, __FILE__, __LINE__);
    struct power_memory s;

    if (!memory)
        return 0;
    if (bn_wexpand(r, (int)n_words) == NULL) {
        CRYPTO_clear_free(memory, 1, __FILE__, __LINE__);
        return 0;
    }
    lay_out(&s, memory, n_bytes, exponent_bytes);
    bytes_of_words(s.base, n_bytes, mont->N.d, n_words);
    set_modulus(s.n, s.base);
    set_forms(&s, mont);
    bytes_of_words(s.exponent, exponent_bytes, p->d, (size_t)p->top);
    if (is_word && is_by_sums(s.n, a->d[0])) {
        exp_by_sums(s.n, a->d[0], s.exponent, exponent_bytes, s.base, s.scratch);
    } else {
        bytes_of_words(s.base, n_bytes, a->d, (size_t)a->top);
        exp_secret(s.n, s.base, n_bytes, s.exponent, exponent_bytes, s.base, s.scratch);
    }
    for (size_t i = 0; i < n_words; i++)
        r->d[i] = evc_load32_be(s.base + n_bytes - sizeof(BN_ULONG) * (i + 1));
    CRYPTO_clear_free(memory, memory_bytes, __FILE__, __LINE__);
    evc_clear(&evc_bn_hppa_fmpyadd.kernel);
    r->top = (int)n_words;
    r->neg = 0;
    r->flags |= BN_FLG_FIXED_TOP;
    bn_correct_top(r);
    return 1;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Keys of RSA: set-up, and the check of their numbers.
 *
 * Source: RFC 8017 (2016), section 3.2; SP 800-56B revision 2 (2019), section 6.4.1.2.3; FIPS 186-5
 *         (2023), appendix A.1.1 and table B.1.
 */
#include "common/ct.h"
#include "common/key_memory.h"
#include "rsa/parts.h"
#include "rsa/words.h"

#define LEAST_BITS 2048u
#define SHORTEST_BITS (2 * EVC_BN_MIN_BITS)

/* ---- Sizes ----------------------------------------------------------------------------------- */

static int is_length(size_t n_bits)
{
    return n_bits >= SHORTEST_BITS && n_bits <= EVC_BN_MAX_BITS;
}

static size_t bytes_of(size_t n_bits)
{
    return (n_bits + 7) / 8;
}

size_t evc_rsa_public_bytes(const struct evc_bn *kernel, size_t n_bits)
{
    return kernel && is_length(n_bits)
               ? EVC_RSA_PUBLIC_HEAD + evc_rsa_modulus_bytes(kernel, bytes_of(n_bits))
               : 0;
}

static size_t form_bytes(const struct evc_bn *kernel, size_t n_bytes)
{
    struct evc_bn_shape shape;

    kernel->shape(n_bytes, &shape);
    return shape.form_bytes;
}

size_t evc_rsa_private_bytes(const struct evc_bn *kernel, size_t n_bits)
{
    const size_t public_bytes = evc_rsa_public_bytes(kernel, n_bits), n_bytes = bytes_of(n_bits);
    const size_t p_bytes = evc_rsa_half(n_bytes);

    return public_bytes
               ? EVC_RSA_PRIVATE_HEAD + public_bytes + 2 * evc_rsa_modulus_bytes(kernel, p_bytes) +
                     EVC_RSA_Q * form_bytes(kernel, p_bytes) + form_bytes(kernel, n_bytes) +
                     EVC_BN_ROUND16(n_bytes + 2 * p_bytes)
               : 0;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t scratch_for(const struct evc_bn *kernel, size_t n_bits, size_t n_operations)
{
    const size_t n_bytes = bytes_of(n_bits);

    if (!kernel || !is_length(n_bits))
        return 0;
    return 15 + larger(evc_rsa_raw_bytes(kernel, n_bytes, n_operations),
                       evc_rsa_setup_bytes(kernel, n_bytes));
}

size_t evc_rsa_scratch_bytes(const struct evc_bn *kernel, size_t n_bits)
{
    return scratch_for(kernel, n_bits, 1);
}

size_t evc_rsa_many_scratch_bytes(const struct evc_bn *kernel, size_t n_bits)
{
    return scratch_for(kernel, n_bits, EVC_RSA_SIDE_BY_SIDE);
}

size_t evc_rsa_check_scratch_bytes(const struct evc_bn *kernel, size_t n_bits)
{
    return kernel && is_length(n_bits)
               ? evc_prime_test_scratch_bytes(kernel, 8 * evc_rsa_half(bytes_of(n_bits)))
               : 0;
}

/* ---- Public keys ----------------------------------------------------------------------------- */

/* A public number without its leading zeros. */
struct number {
    const uint8_t *bytes;
    size_t n_bytes;
};

static struct number without_zeros(const uint8_t *bytes, size_t n_bytes)
{
    if (!bytes)
        n_bytes = 0;
    evc_number_skip_zeros(&bytes, &n_bytes);
    return (struct number){bytes, n_bytes};
}

static size_t bits_of(struct number n)
{
    return evc_number_length_bits(n.bytes, n.n_bytes);
}

static int is_exponent(struct number e, struct number n)
{
    if (e.n_bytes == 0 || e.n_bytes > EVC_RSA_MOST_E_BYTES ||
        !evc_number_bit(e.bytes, e.n_bytes, 0))
        return 0;
    if (evc_number_is(e.bytes, e.n_bytes, 1))
        return 0;
    return e.n_bytes < n.n_bytes || evc_number_below(e.bytes, n.bytes, n.n_bytes);
}

static enum evc_status check_public(struct number n, struct number e, size_t least_bits)
{
    const size_t n_bits = bits_of(n);

    if (!is_length(n_bits) || n_bits < (least_bits ? least_bits : LEAST_BITS))
        return EVC_ERR_KEY_SIZE;
    if (!evc_number_bit(n.bytes, n.n_bytes, 0))
        return EVC_ERR_MODULUS;
    return is_exponent(e, n) ? EVC_OK : EVC_ERR_KEY;
}

static enum evc_status set_public(struct evc_rsa_public *key, const struct evc_bn *kernel,
                                  struct number n, struct number e)
{
    const enum evc_status status =
        evc_bn_set_modulus_in((uint8_t *)key + EVC_RSA_PUBLIC_HEAD,
                              evc_rsa_modulus_bytes(kernel, n.n_bytes), kernel, n.bytes, n.n_bytes);

    if (status != EVC_OK) /* and the modulus is zeros */
        return status;
    key->n_bits = (uint32_t)bits_of(n);
    key->n_bytes = (uint32_t)n.n_bytes;
    key->e_bytes = (uint32_t)e.n_bytes;
    for (size_t i = 0; i < e.n_bytes; i++)
        key->e[i] = e.bytes[i];
    key->kernel = kernel;
    return EVC_OK;
}

enum evc_status evc_rsa_set_public_in(void *memory, size_t memory_bytes,
                                      const struct evc_bn *kernel, const uint8_t *n_bytes_at,
                                      size_t n_bytes, const uint8_t *e_bytes_at, size_t e_bytes,
                                      size_t least_bits)
{
    const struct number n = without_zeros(n_bytes_at, n_bytes),
                        e = without_zeros(e_bytes_at, e_bytes);
    enum evc_status status = kernel ? EVC_ERR_PARAMETER : EVC_ERR_KERNEL;

    if (kernel && (n_bytes_at || !n_bytes) && (e_bytes_at || !e_bytes)) {
        status = check_public(n, e, least_bits);
        if (status == EVC_OK)
            status = evc_check_key_memory(
                memory, memory_bytes, evc_rsa_public_bytes(kernel, bits_of(n)), n.bytes, n.n_bytes);
        if (status == EVC_OK && evc_overlap(memory, memory_bytes, e.bytes, e.n_bytes))
            status = EVC_ERR_OVERLAP;
    }
    evc_wipe(memory, memory_bytes);
    return status == EVC_OK ? set_public(memory, kernel, n, e) : status;
}

/* ---- The numbers of a private key ------------------------------------------------------------ */

/* Words for the check: p has `half` words, n twice as many; e has EVC_RSA_MOST_E_BYTES / 4. */
struct setup {
    size_t half;
    uint32_t *n, *product, *d, *less_one, *remainder, *room, *e;
    uint32_t *one; /* the number 1 */
    uint8_t *numbers, *qinv;
    void *bn_scratch;
    size_t bn_bytes;
};

#define E_WORDS (EVC_RSA_MOST_E_BYTES / 4)

size_t evc_rsa_setup_bytes(const struct evc_bn *kernel, size_t n_bytes)
{
    const size_t p_bytes = evc_rsa_half(n_bytes), half = EVC_BN_ROUND16(4 * evc_words_for(p_bytes));

    return 10 * half + EVC_BN_ROUND16(4 * (evc_words_for(p_bytes) + E_WORDS)) +
           EVC_BN_ROUND16(4 * E_WORDS) + 2 * EVC_BN_ROUND16(p_bytes) +
           evc_bn_scratch_bytes(kernel, 8 * n_bytes);
}

static void place_setup(struct setup *s, const struct evc_bn *kernel,
                        const struct evc_rsa_numbers *numbers, void *scratch)
{
    uint8_t *at = evc_rsa_scratch_start(scratch);
    const size_t p_bytes = numbers->p_bytes;

    s->half = evc_words_for(p_bytes);
    s->n = evc_rsa_cut(&at, 8 * s->half);
    s->product = evc_rsa_cut(&at, larger(8 * s->half, 4 * (s->half + E_WORDS)));
    s->d = evc_rsa_cut(&at, 8 * s->half);
    s->less_one = evc_rsa_cut(&at, 4 * s->half);
    s->remainder = evc_rsa_cut(&at, 4 * s->half);
    s->room = evc_rsa_cut(&at, 4 * s->half);
    s->one = evc_rsa_cut(&at, 4 * s->half);
    s->e = evc_rsa_cut(&at, 4 * E_WORDS);
    s->numbers = evc_rsa_cut(&at, p_bytes);
    s->qinv = evc_rsa_cut(&at, p_bytes);
    s->bn_bytes = evc_bn_scratch_bytes(kernel, 8 * (size_t)numbers->n_bytes);
    s->bn_scratch = at;
}

/* All ones if n = p q. */
static uint32_t is_product(struct setup *s, const struct evc_rsa_numbers *numbers)
{
    evc_words_load(s->less_one, s->half, numbers->p, numbers->p_bytes);
    evc_words_load(s->remainder, s->half, numbers->q, numbers->p_bytes);
    evc_words_load(s->n, 2 * s->half, numbers->n, numbers->n_bytes);
    evc_words_mul(s->product, s->less_one, s->half, s->remainder, s->half, 0);
    return evc_words_equal(s->product, s->n, 2 * s->half);
}

/* All ones if d is dp modulo p - 1, and e dp is 1. p is odd: this is public here. */
static uint32_t is_inverse(struct setup *s, const uint8_t *p, const uint8_t *dp, size_t p_bytes)
{
    uint32_t good;

    evc_words_load(s->less_one, s->half, p, p_bytes);
    s->less_one[0] &= ~(uint32_t)1;
    evc_words_divide(NULL, s->remainder, s->d, 2 * s->half, s->less_one, s->half, s->room);
    evc_words_load(s->room, s->half, dp, p_bytes);
    good = evc_words_equal(s->remainder, s->room, s->half);
    evc_words_mul(s->product, s->remainder, s->half, s->e, E_WORDS, 0);
    evc_words_divide(NULL, s->remainder, s->product, s->half + E_WORDS, s->less_one, s->half,
                     s->room);
    return good & evc_words_equal(s->remainder, s->one, s->half);
}

/* EVC_OK if q qinv = 1 modulo p. */
static enum evc_status check_qinv(const struct evc_rsa_private *key, struct setup *s,
                                  const struct evc_rsa_numbers *numbers)
{
    const struct evc_bn_modulus *p = evc_rsa_prime(key, 0);
    enum evc_status status =
        evc_bn_mod_reduce(p, numbers->q, numbers->p_bytes, s->numbers, s->bn_scratch, s->bn_bytes);
    uint32_t good;

    if (status == EVC_OK)
        status =
            evc_bn_mod_mul(p, s->numbers, numbers->qinv, s->numbers, s->bn_scratch, s->bn_bytes);
    if (status != EVC_OK)
        return status;
    evc_words_load(s->room, s->half, s->numbers, numbers->p_bytes);
    good = evc_words_equal(s->room, s->one, s->half);
    evc_public(&good, sizeof good); /* the status tells it */
    return good ? EVC_OK : EVC_ERR_KEY;
}

EVC_OUT_OF_LINE enum evc_status check_numbers(const struct evc_rsa_private *key, struct setup *s,
                                              const struct evc_rsa_numbers *numbers,
                                              struct number e)
{
    uint32_t good;

    memset(s->one, 0, 4 * s->half);
    s->one[0] = 1;
    evc_words_load(s->e, E_WORDS, e.bytes, e.n_bytes);
    evc_words_load(s->d, 2 * s->half, numbers->d, numbers->n_bytes);
    good = is_product(s, numbers);
    good &= evc_number_below(numbers->d, numbers->n, numbers->n_bytes);
    good &= is_inverse(s, numbers->p, numbers->dp, numbers->p_bytes);
    good &= is_inverse(s, numbers->q, numbers->dq, numbers->p_bytes);
    evc_public(&good, sizeof good); /* the status tells it */
    return good ? check_qinv(key, s, numbers) : EVC_ERR_KEY;
}

/* ---- Private keys ---------------------------------------------------------------------------- */

/* The numbers with the lengths that stand for 0. */
static struct evc_rsa_numbers with_lengths(struct evc_rsa_numbers numbers)
{
    uint32_t *const short_ones[] = {&numbers.dp_bytes, &numbers.dq_bytes, &numbers.qinv_bytes};

    if (!numbers.d_bytes)
        numbers.d_bytes = numbers.n_bytes;
    for (size_t i = 0; i < sizeof short_ones / sizeof short_ones[0]; i++)
        if (!*short_ones[i])
            *short_ones[i] = numbers.p_bytes;
    return numbers;
}

static int overlaps(const void *memory, size_t memory_bytes, const struct evc_rsa_numbers *numbers)
{
    const struct number all[] = {
        {numbers->n, numbers->n_bytes},       {numbers->d, numbers->d_bytes},
        {numbers->e, numbers->e_bytes},       {numbers->p, numbers->p_bytes},
        {numbers->q, numbers->p_bytes},       {numbers->dp, numbers->dp_bytes},
        {numbers->dq, numbers->dq_bytes},     {numbers->qinv, numbers->qinv_bytes}};
    int found = 0;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        found |= evc_overlap(memory, memory_bytes, all[i].bytes, all[i].n_bytes);
    return found;
}

static enum evc_status check_lengths(const struct evc_bn *kernel,
                                     const struct evc_rsa_numbers *numbers, struct number n,
                                     struct number e, size_t least_bits)
{
    const enum evc_status status = check_public(n, e, least_bits);

    if (status != EVC_OK)
        return status;
    if (n.n_bytes != numbers->n_bytes || numbers->p_bytes != evc_rsa_half(n.n_bytes))
        return EVC_ERR_KEY;
    if (!numbers->d || !numbers->p || !numbers->q || !numbers->dp || !numbers->dq || !numbers->qinv)
        return EVC_ERR_KEY;
    if (numbers->d_bytes > numbers->n_bytes || numbers->dp_bytes > numbers->p_bytes ||
        numbers->dq_bytes > numbers->p_bytes || numbers->qinv_bytes > numbers->p_bytes)
        return EVC_ERR_KEY;
    return evc_bn_modulus_bytes(kernel, 8 * (size_t)numbers->p_bytes) ? EVC_OK : EVC_ERR_KEY_SIZE;
}

/* A prime that is even or too short is a number of no key. */
static enum evc_status set_prime(struct evc_rsa_private *key, int is_q, const uint8_t *prime)
{
    void *const memory = (void *)(uintptr_t)evc_rsa_prime(key, is_q);
    const enum evc_status status = evc_bn_set_modulus_in(
        memory, evc_rsa_modulus_bytes(key->kernel, key->p_bytes), key->kernel, prime, key->p_bytes);

    return status == EVC_ERR_MODULUS ? EVC_ERR_KEY : status;
}

/* The number that evc_rsa_form(key, form) has room for. */
static void set_form(const struct evc_rsa_private *key, enum evc_rsa_form form,
                     const struct evc_bn_modulus *n, const uint8_t *in, size_t in_bytes,
                     void *scratch)
{
    evc_bn_op_enter(n, (void *)(uintptr_t)evc_rsa_form(key, form), in, in_bytes, scratch);
}

/* 2^(8 p_bytes), which is beyond p and q, out of 2^(8 p_bytes - 8) and 2^8. */
static void set_fold(const struct evc_rsa_private *key, enum evc_rsa_form form, struct setup *s)
{
    static const uint8_t two_bytes[] = {1, 0};
    const struct evc_bn_modulus *const p = evc_rsa_prime(key, form == EVC_RSA_FOLD_Q);
    void *const x = evc_bn_number(p, s->bn_scratch, 0), *const r = (void *)(uintptr_t)evc_rsa_form(
                                                            key, form);

    memset(s->numbers, 0, key->p_bytes);
    s->numbers[0] = 1;
    evc_bn_op_enter(p, x, s->numbers, key->p_bytes, s->bn_scratch);
    set_form(key, form, p, two_bytes, sizeof two_bytes, s->bn_scratch);
    evc_bn_op_mul(p, r, x, r, s->bn_scratch);
}

EVC_OUT_OF_LINE void set_forms(const struct evc_rsa_private *key,
                               const struct evc_rsa_numbers *numbers, struct setup *s)
{
    const struct evc_bn_modulus *const n = evc_rsa_n(evc_rsa_public_part(key));

    set_fold(key, EVC_RSA_FOLD_P, s);
    set_fold(key, EVC_RSA_FOLD_Q, s);
    set_form(key, EVC_RSA_QINV, evc_rsa_prime(key, 0), numbers->qinv, key->p_bytes, s->bn_scratch);
    set_form(key, EVC_RSA_Q, n, numbers->q, key->p_bytes, s->bn_scratch);
    evc_clear(&key->kernel->kernel);
}

/* A copy of out_bytes bytes, which begins with zeros. */
static const uint8_t *copy_number(const uint8_t *place, size_t out_bytes, const uint8_t *in,
                                  size_t in_bytes)
{
    uint8_t *const out = (uint8_t *)(uintptr_t)place;

    evc_number_extend(out, out_bytes, in, in_bytes);
    return out;
}

/* The same numbers, of which d, dp, dq and qinv are now in the key or in scratch memory, in their
 * full lengths. */
static struct evc_rsa_numbers copy_numbers(const struct evc_rsa_private *key,
                                           struct evc_rsa_numbers numbers, struct setup *s)
{
    const size_t n_bytes = numbers.n_bytes, p_bytes = numbers.p_bytes;

    numbers.d = copy_number(evc_rsa_d(key), n_bytes, numbers.d, numbers.d_bytes);
    numbers.dp = copy_number(evc_rsa_d_of(key, 0), p_bytes, numbers.dp, numbers.dp_bytes);
    numbers.dq = copy_number(evc_rsa_d_of(key, 1), p_bytes, numbers.dq, numbers.dq_bytes);
    numbers.qinv = copy_number(s->qinv, p_bytes, numbers.qinv, numbers.qinv_bytes);
    return numbers;
}

static enum evc_status set_private(struct evc_rsa_private *key, const struct evc_bn *kernel,
                                   const struct evc_rsa_numbers *given, struct number e,
                                   struct setup *s)
{
    const struct number n = {given->n, given->n_bytes};
    struct evc_rsa_numbers numbers;
    enum evc_status status = set_public((void *)(uintptr_t)evc_rsa_public_part(key), kernel, n, e);

    key->kernel = kernel;
    key->n_bytes = given->n_bytes;
    key->p_bytes = given->p_bytes;
    if (status == EVC_OK)
        status = set_prime(key, 0, given->p);
    if (status == EVC_OK)
        status = set_prime(key, 1, given->q);
    if (status != EVC_OK)
        return status;
    numbers = copy_numbers(key, *given, s);
    status = check_numbers(key, s, &numbers, e);
    if (status == EVC_ERR_RANGE)
        status = EVC_ERR_KEY;
    if (status == EVC_OK)
        set_forms(key, &numbers, s);
    return status;
}

enum evc_status evc_rsa_set_private_in(void *memory, size_t memory_bytes,
                                       const struct evc_bn *kernel,
                                       const struct evc_rsa_numbers *given, size_t least_bits,
                                       void *scratch, size_t scratch_bytes)
{
    enum evc_status status = kernel ? EVC_ERR_PARAMETER : EVC_ERR_KERNEL;
    struct number n = {NULL, 0}, e = {NULL, 0};
    struct evc_rsa_numbers numbers;
    struct setup s;

    if (kernel && given) {
        numbers = with_lengths(*given);
        n = without_zeros(numbers.n, numbers.n_bytes);
        e = without_zeros(numbers.e, numbers.e_bytes);
        status = check_lengths(kernel, &numbers, n, e, least_bits);
        if (status == EVC_OK)
            status = evc_check_key_memory(memory, memory_bytes,
                                          evc_rsa_private_bytes(kernel, bits_of(n)), given,
                                          sizeof *given);
        if (status == EVC_OK && overlaps(memory, memory_bytes, &numbers))
            status = EVC_ERR_OVERLAP;
        if (status == EVC_OK && scratch_bytes < evc_rsa_scratch_bytes(kernel, bits_of(n)))
            status = EVC_ERR_SCRATCH;
    }
    evc_wipe(memory, memory_bytes);
    if (status == EVC_OK) {
        place_setup(&s, kernel, &numbers, scratch);
        status = set_private(memory, kernel, &numbers, e, &s);
        evc_wipe(scratch, evc_rsa_scratch_bytes(kernel, bits_of(n)));
    }
    if (status != EVC_OK)
        evc_wipe(memory, memory_bytes);
    return status;
}

const struct evc_rsa_public *evc_rsa_public_of(const struct evc_rsa_private *key)
{
    return EVC_IS_SET(key) ? evc_rsa_public_part(key) : NULL;
}

/* ---- The check of primes --------------------------------------------------------------------- */

#define ROUNDS 64 /* 4^-64 = 2^-128 */

enum evc_status evc_rsa_check_key(const struct evc_rsa_private *key,
                                  const struct evc_random *random, void *scratch,
                                  size_t scratch_bytes)
{
    enum evc_status status = EVC_OK;

    if (!EVC_IS_SET(key))
        return evc_key_error(key);
    if (scratch_bytes < evc_rsa_check_scratch_bytes(key->kernel, 8 * (size_t)key->n_bytes))
        return EVC_ERR_SCRATCH;
    for (int i = 0; i < 2 && status == EVC_OK; i++)
        status = evc_prime_test_secret(key->kernel, evc_bn_modulus(evc_rsa_prime(key, i)),
                                       key->p_bytes, ROUNDS, random, scratch, scratch_bytes);
    return status;
}

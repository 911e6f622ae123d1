/* SPDX-License-Identifier: MIT */
/*
 * Raw operations of RSA.
 *
 * The base is blinded without an inverse. For a random r, with u = r^(e-1):
 *
 *     (c r^e)^(dp-1) u c  =  c^(dp-1) r^(e dp - e) r^(e-1) c  =  c^dp r^(e dp - 1)  =  c^dp
 *
 * modulo p,
 *
 * since p - 1 divides e dp - 1. The long exponentiation sees c r^e alone. Where p does not divide
 * c, that is any number from 1 to p - 1: e has an inverse modulo p - 1. r is a random number of as
 * many bytes as p, divided by the kernel's R modulo p; so some of these numbers are twice as likely
 * as others where p begins with a bit 1. The exponent is dp - 1 + k (p - 1) with k of 64 random
 * bits (Kocher 1996, section 10; Coron 1999, section 5).
 *
 * Recombination: Garner's formula, RFC 8017 section 5.1.2.
 *
 * Numbers stay in the kernel's form between the steps: a product of a number as it is and one in
 * the form is a number as it is. In comments, x is a number as it is and xR one in the form.
 */
#include "common/clear.h"
#include "common/ct.h"
#include "rsa/parts.h"
#include "rsa/words.h"

#define BLIND_BYTES 8 /* of k */
#define BLIND_WORDS (BLIND_BYTES / 4)

/* ---- Memory ---------------------------------------------------------------------------------- */

/* One half of a private operation. */
struct half {
    uint8_t *base, *exponent; /* c r^e, which becomes its power; dp - 1 + k (p - 1) */
    void *factor;             /* u c, in the form */
};

struct work {
    const struct evc_bn *kernel;
    size_t n_bytes, p_bytes, form_bytes, n_operations; /* form_bytes: of numbers modulo p */
    void *bn_scratch;
    size_t bn_bytes;
    struct evc_bn_exp *exps;
    uint8_t *halves;
    uint8_t *m_q, *h;                   /* p_bytes each */
    uint8_t *x, *y;                     /* n_bytes each */
    uint32_t *prime, *product, *blind; /* words of p - 1, of k (p - 1), of k */
};

static size_t half_bytes(size_t p_bytes, size_t form_bytes)
{
    return EVC_BN_ROUND16(p_bytes) + form_bytes + EVC_BN_ROUND16(p_bytes + BLIND_BYTES);
}

/* Scratch memory of bn: for exponentiations side by side modulo p, and for the rest modulo n. */
static size_t bn_bytes(const struct evc_bn *kernel, size_t n_bytes)
{
    const size_t n = evc_bn_scratch_bytes(kernel, 8 * n_bytes);
    const size_t p = evc_bn_exp_many_scratch_bytes(kernel, 8 * evc_rsa_half(n_bytes));

    return EVC_BN_ROUND16(n > p ? n : p);
}

size_t evc_rsa_raw_bytes(const struct evc_bn *kernel, size_t n_bytes, size_t n_operations)
{
    const size_t p_bytes = evc_rsa_half(n_bytes), words = evc_words_for(p_bytes);
    struct evc_bn_shape shape;

    kernel->shape(p_bytes, &shape);
    return bn_bytes(kernel, n_bytes) +
           EVC_BN_ROUND16(2 * n_operations * sizeof(struct evc_bn_exp)) +
           2 * n_operations * half_bytes(p_bytes, shape.form_bytes) + 2 * EVC_BN_ROUND16(p_bytes) +
           2 * EVC_BN_ROUND16(n_bytes) + EVC_BN_ROUND16(4 * words) +
           EVC_BN_ROUND16(4 * (words + BLIND_WORDS)) + EVC_BN_ROUND16(BLIND_BYTES);
}

static void place(struct work *w, const struct evc_bn *kernel, size_t n_bytes, size_t n_operations,
                  void *scratch)
{
    uint8_t *at = evc_rsa_scratch_start(scratch);
    struct evc_bn_shape shape;
    size_t words;

    w->kernel = kernel;
    w->n_bytes = n_bytes;
    w->p_bytes = evc_rsa_half(n_bytes);
    kernel->shape(w->p_bytes, &shape);
    w->form_bytes = shape.form_bytes;
    w->n_operations = n_operations;
    words = evc_words_for(w->p_bytes);
    w->bn_bytes = bn_bytes(kernel, n_bytes);
    w->bn_scratch = evc_rsa_cut(&at, w->bn_bytes);
    w->exps = evc_rsa_cut(&at, 2 * n_operations * sizeof *w->exps);
    w->halves = evc_rsa_cut(&at, 2 * n_operations * half_bytes(w->p_bytes, w->form_bytes));
    w->m_q = evc_rsa_cut(&at, w->p_bytes);
    w->h = evc_rsa_cut(&at, w->p_bytes);
    w->x = evc_rsa_cut(&at, n_bytes);
    w->y = evc_rsa_cut(&at, n_bytes);
    w->prime = evc_rsa_cut(&at, 4 * words);
    w->product = evc_rsa_cut(&at, 4 * (words + BLIND_WORDS));
    w->blind = evc_rsa_cut(&at, BLIND_BYTES);
}

static struct half half_at(const struct work *w, size_t index)
{
    uint8_t *at = w->halves + index * half_bytes(w->p_bytes, w->form_bytes);
    struct half h;

    h.base = evc_rsa_cut(&at, w->p_bytes);
    h.factor = evc_rsa_cut(&at, w->form_bytes);
    h.exponent = evc_rsa_cut(&at, w->p_bytes + BLIND_BYTES);
    return h;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* EVC_OK from 2 to n - 2. */
static enum evc_status check_range(const struct evc_rsa_public *key, const uint8_t *in)
{
    uint32_t good = evc_number_is_inner(in, evc_bn_modulus(evc_rsa_n(key)), key->n_bytes);

    evc_public(&good, sizeof good); /* the status tells it */
    return good ? EVC_OK : EVC_ERR_RANGE;
}

/* ---- Products -------------------------------------------------------------------------------- */

/* r = x y of a number x of n_bytes bytes, which may be beyond the modulus, and y in the form. */
static void load_times(const struct evc_bn_modulus *n, void *r, const uint8_t *x, size_t x_bytes,
                       const void *y, void *scratch)
{
    n->kernel->load(n, r, x, x_bytes);
    evc_bn_op_mul(n, r, r, y, scratch);
}

/* r = rR to the exponent e without its lowest bit, which is 1. power: a number. */
static void raise_to_even(const struct evc_rsa_public *key, const struct evc_bn_modulus *n, void *r,
                          void *power, void *scratch)
{
    size_t at = evc_number_length_bits(key->e, key->e_bytes) - 1;

    evc_copy_secret(power, r, n->shape.form_bytes);
    while (at-- > 0) {
        evc_bn_op_sqr(n, r, r, scratch);
        if (at && evc_number_bit(key->e, key->e_bytes, at))
            evc_bn_op_mul(n, r, r, power, scratch);
    }
}

/* out = in to the e modulo n. What it leaves in its frame lies below its
 * callers, which clear it. */
EVC_OUT_OF_LINE void raise_to_e(const struct evc_rsa_public *key, const uint8_t *in, uint8_t *out,
                                void *scratch)
{
    const struct evc_bn_modulus *const n = evc_rsa_n(key);
    void *const x = evc_bn_number(n, scratch, 0), *const power = evc_bn_number(n, scratch, 1);

    evc_bn_op_enter(n, x, in, key->n_bytes, scratch);
    raise_to_even(key, n, x, power, scratch);
    load_times(n, power, in, key->n_bytes, x, scratch);
    n->kernel->store(n, out, power);
}

/* ---- The public operation -------------------------------------------------------------------- */

#define NUMBERS_OF_PUBLIC 2 /* in scratch memory of bn */

EVC_OUT_OF_LINE enum evc_status check_public(const struct evc_rsa_public *key, const uint8_t *in,
                                             size_t scratch_bytes)
{
    return scratch_bytes < evc_rsa_scratch_bytes(key->kernel, key->n_bits) ? EVC_ERR_SCRATCH
                                                                           : check_range(key, in);
}

enum evc_status evc_rsa_public(const struct evc_rsa_public *key, const uint8_t *in, uint8_t *out,
                               void *scratch, size_t scratch_bytes)
{
    enum evc_status status;

    if (!EVC_IS_SET(key))
        return evc_key_error(key);
    status = check_public(key, in, scratch_bytes);
    if (status == EVC_OK) {
        raise_to_e(key, in, out, scratch);
        evc_bn_end(evc_rsa_n(key), scratch, NUMBERS_OF_PUBLIC);
    } else {
        evc_wipe(out, key->n_bytes);
    }
    return status;
}

/* ---- A private operation --------------------------------------------------------------------- */

/* rR = random bytes, of which not all are 0. */
static enum evc_status draw_base(const struct work *w, const struct evc_bn_modulus *p, void *r,
                                 const struct evc_random *random)
{
    const enum evc_status status = evc_draw(random, w->h, w->p_bytes);
    uint32_t good;

    if (status != EVC_OK)
        return status;
    good = ~evc_number_is(w->h, w->p_bytes, 0);
    evc_public(&good, sizeof good); /* the status tells it */
    load_times(p, r, w->h, w->p_bytes, evc_bn_one(p), w->bn_scratch);
    return good ? EVC_OK : EVC_ERR_RANDOM;
}

/* r = c modulo p, of the upper and the lower bytes of c. x: a number. */
static void reduce(const struct work *w, const struct evc_rsa_private *key, int is_q,
                   const uint8_t *c, void *r, void *x)
{
    const struct evc_bn_modulus *const p = evc_rsa_prime(key, is_q);
    const size_t upper = w->n_bytes - w->p_bytes;

    load_times(p, x, c, upper, evc_rsa_form(key, is_q ? EVC_RSA_FOLD_Q : EVC_RSA_FOLD_P),
               w->bn_scratch);
    load_times(p, r, c + upper, w->p_bytes, evc_bn_one(p), w->bn_scratch);
    evc_bn_op_add(p, r, r, x, w->bn_scratch);
}

/* base = c r^e and factor = r^(e-1) c modulo p. */
EVC_OUT_OF_LINE enum evc_status blind_base(const struct work *w, const struct evc_rsa_private *key,
                                           int is_q, const uint8_t *c, const struct half *h,
                                           const struct evc_random *random)
{
    const struct evc_bn_modulus *const p = evc_rsa_prime(key, is_q);
    void *const scratch = w->bn_scratch, *const r = evc_bn_number(p, scratch, 0);
    void *const u = evc_bn_number(p, scratch, 1), *const x = evc_bn_number(p, scratch, 2);
    const enum evc_status status = draw_base(w, p, r, random);

    if (status == EVC_OK) {
        evc_copy_secret(u, r, w->form_bytes);
        raise_to_even(evc_rsa_public_part(key), p, u, x, scratch);
        reduce(w, key, is_q, c, x, evc_bn_number(p, scratch, 3));
        evc_bn_op_mul(p, x, x, u, scratch);
        evc_bn_op_mul(p, h->factor, x, evc_bn_r2(p), scratch);
        evc_bn_op_mul(p, x, x, r, scratch);
        p->kernel->store(p, h->base, x);
    }
    evc_clear(&w->kernel->kernel);
    return status;
}

/* Whether the kernel rests on multiplications of constant time, so that other code may. */
static int multiplies(const struct evc_bn *kernel)
{
    return (kernel->kernel.needs & EVC_CPU(CT_MUL)) != 0;
}

/* exponent = dp - 1 + k (p - 1). dp is odd. */
static enum evc_status blind_exponent(const struct work *w, const struct evc_rsa_private *key,
                                      int is_q, const struct half *h,
                                      const struct evc_random *random)
{
    const size_t words = evc_words_for(w->p_bytes), all = words + BLIND_WORDS;
    enum evc_status status = evc_draw(random, (uint8_t *)w->blind, BLIND_BYTES);

    if (status != EVC_OK)
        return status;
    evc_words_load(w->prime, words, evc_bn_modulus(evc_rsa_prime(key, is_q)), w->p_bytes);
    w->prime[0] &= ~(uint32_t)1;
    evc_words_mul(w->product, w->prime, words, w->blind, BLIND_WORDS, multiplies(w->kernel));
    evc_words_load(w->prime, words, evc_rsa_d_of(key, is_q), w->p_bytes);
    w->prime[0] &= ~(uint32_t)1;
    evc_words_add(w->product, all, w->prime, words);
    evc_words_store(h->exponent, w->p_bytes + BLIND_BYTES, w->product);
    return EVC_OK;
}

/* The two exponentiations of a private operation; index: of the first one. */
static enum evc_status prepare(const struct work *w, const struct evc_rsa_operation *o,
                               const struct evc_random *random, size_t index)
{
    enum evc_status status = check_range(evc_rsa_public_part(o->key), o->in);

    for (int is_q = 0; is_q < 2 && status == EVC_OK; is_q++) {
        const struct half h = half_at(w, index + (size_t)is_q);

        status = blind_base(w, o->key, is_q, o->in, &h, random);
        if (status == EVC_OK)
            status = blind_exponent(w, o->key, is_q, &h, random);
        w->exps[index + (size_t)is_q] = (struct evc_bn_exp){
            .n = evc_rsa_prime(o->key, is_q), .base = h.base, .exponent = h.exponent, .out = h.base,
            .exponent_bytes = w->p_bytes + BLIND_BYTES};
    }
    return status;
}

/* r = the result modulo p, out of the power of its blinded base. */
static void unblind(const struct work *w, const struct evc_bn_modulus *p, const struct half *h,
                    void *r)
{
    load_times(p, r, h->base, w->p_bytes, h->factor, w->bn_scratch);
}

/* x = the number modulo n that is m_p modulo p and m_q modulo q: m_q + q h with
 * h = (m_p - m_q) qinv modulo p. It is below n. Numbers modulo p, modulo q and modulo n take
 * the same places in turn. */
EVC_OUT_OF_LINE void recombine(const struct work *w, const struct evc_rsa_private *key,
                               const struct half *half_p, const struct half *half_q)
{
    const struct evc_bn_modulus *const p = evc_rsa_prime(key, 0), *const q = evc_rsa_prime(key, 1);
    const struct evc_bn_modulus *const n = evc_rsa_n(evc_rsa_public_part(key));
    void *const scratch = w->bn_scratch;
    void *const a = evc_bn_number(p, scratch, 0), *const b = evc_bn_number(p, scratch, 1);
    void *const x = evc_bn_number(n, scratch, 0), *const y = evc_bn_number(n, scratch, 1);

    unblind(w, q, half_q, a);
    q->kernel->store(q, w->m_q, a);
    unblind(w, p, half_p, a);
    load_times(p, b, w->m_q, w->p_bytes, evc_bn_one(p), scratch);
    p->kernel->sub(p, a, a, b, evc_bn_scratch_start(scratch));
    evc_bn_op_mul(p, a, a, evc_rsa_form(key, EVC_RSA_QINV), scratch);
    p->kernel->store(p, w->h, a);
    load_times(n, x, w->h, w->p_bytes, evc_rsa_form(key, EVC_RSA_Q), scratch);
    load_times(n, y, w->m_q, w->p_bytes, evc_bn_one(n), scratch);
    evc_bn_op_add(n, x, x, y, scratch);
    n->kernel->store(n, w->x, x);
}

/* EVC_OK if x to the e is `in`. */
static enum evc_status check_result(const struct work *w, const struct evc_rsa_public *key,
                                    const uint8_t *in)
{
    uint32_t good;

    raise_to_e(key, w->x, w->y, w->bn_scratch);
    good = evc_mask_equal(w->y, in, w->n_bytes);
    evc_public(&good, sizeof good); /* the status tells it */
    return good ? EVC_OK : EVC_ERR_FAULT;
}

/* Out of the powers of both halves; index: of the first one. */
EVC_OUT_OF_LINE enum evc_status finish(const struct work *w, const struct evc_rsa_operation *o,
                                       size_t index)
{
    enum evc_status status = EVC_OK;

    for (size_t i = 0; i < 2 && status == EVC_OK; i++)
        status = w->exps[index + i].status;
    if (status == EVC_OK) {
        const struct half p = half_at(w, index), q = half_at(w, index + 1);

        recombine(w, o->key, &p, &q);
        status = check_result(w, evc_rsa_public_part(o->key), o->in);
        evc_clear(&w->kernel->kernel);
    }
    if (status == EVC_OK)
        evc_copy_secret(o->out, w->x, w->n_bytes);
    /* a number beyond its modulus is a fault too */
    return status == EVC_ERR_RANGE ? EVC_ERR_FAULT : status;
}

/* ---- Many private operations ----------------------------------------------------------------- */

static enum evc_status check_operation(const struct evc_rsa_operation *o, size_t n_operations,
                                       size_t scratch_bytes)
{
    const struct evc_rsa_private *key = o->key;

    if (!EVC_IS_SET(key))
        return evc_key_error(key);
    return scratch_bytes < (n_operations == 1 ? evc_rsa_scratch_bytes : evc_rsa_many_scratch_bytes)(
                               key->kernel, evc_rsa_public_part(key)->n_bits)
               ? EVC_ERR_SCRATCH
               : EVC_OK;
}

/* Neighbours whose keys have the same kernel and length: 1 or more. */
static size_t alike(const struct evc_rsa_operation *o, size_t n_operations)
{
    size_t n = 1;

    while (n < n_operations && n < EVC_RSA_SIDE_BY_SIDE && o[n].status == EVC_OK &&
           o[n].key->kernel == o->key->kernel && o[n].key->n_bytes == o->key->n_bytes)
        n++;
    return n;
}

/* Operations that are alike; those that fail in prepare take no place. */
EVC_OUT_OF_LINE void run_alike(const struct work *w, struct evc_rsa_operation *o,
                               const struct evc_random *random)
{
    size_t n_exps = 0;
    enum evc_status first;

    for (size_t i = 0; i < w->n_operations; i++) {
        o[i].status = prepare(w, &o[i], random, n_exps);
        n_exps += o[i].status == EVC_OK ? 2 : 0;
    }
    first = evc_bn_exp_many(w->exps, n_exps, w->bn_scratch, w->bn_bytes);
    (void)first; /* each one has its own status */
    n_exps = 0;
    for (size_t i = 0; i < w->n_operations; i++)
        if (o[i].status == EVC_OK) {
            o[i].status = finish(w, &o[i], n_exps);
            n_exps += 2;
        }
}

enum evc_status evc_rsa_private_many(struct evc_rsa_operation *operations, size_t n_operations,
                                     const struct evc_random *random, void *scratch,
                                     size_t scratch_bytes)
{
    enum evc_status first = EVC_OK;

    if (!operations && n_operations)
        return EVC_ERR_PARAMETER;
    for (size_t i = 0; i < n_operations; i++)
        operations[i].status = check_operation(&operations[i], n_operations, scratch_bytes);
    for (size_t i = 0, n; i < n_operations; i += n) {
        struct evc_rsa_operation *const o = &operations[i];
        struct work w;

        n = 1;
        if (o->status != EVC_OK)
            continue;
        n = alike(o, n_operations - i);
        place(&w, o->key->kernel, o->key->n_bytes, n, scratch);
        run_alike(&w, o, random);
        evc_wipe(scratch, 15 + evc_rsa_raw_bytes(w.kernel, w.n_bytes, n));
        evc_clear(&o->key->kernel->kernel);
    }
    for (size_t i = 0; i < n_operations; i++) {
        const struct evc_rsa_operation *const o = &operations[i];

        if (o->status != EVC_OK && EVC_IS_SET(o->key))
            evc_wipe(o->out, o->key->n_bytes);
        if (first == EVC_OK)
            first = o->status;
    }
    return first;
}

enum evc_status evc_rsa_private(const struct evc_rsa_private *key, const uint8_t *in, uint8_t *out,
                                const struct evc_random *random, void *scratch,
                                size_t scratch_bytes)
{
    struct evc_rsa_operation one = {.key = key, .in = in, .out = out};

    return evc_rsa_private_many(&one, 1, random, scratch, scratch_bytes);
}

/* SPDX-License-Identifier: MIT */
/* GMP: products of limbs through mpn, powers through mpn_sec_powm and mpz_powm. Its Montgomery
 * reduction is exported, but not in its header: the library's own powers are made of it. */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

#include <gmp.h>

/* rp = up / B^(2 or 1 x n) modulo mp, up to a multiple of mp that the carry tells; ip: -1 / mp
 * modulo B^(2 or 1). redc_2 is there where the CPU's assembly has it. */
mp_limb_t __gmpn_redc_1(mp_ptr rp, mp_ptr up, mp_srcptr mp, mp_size_t n, mp_limb_t ip);
#pragma weak __gmpn_redc_2
mp_limb_t __gmpn_redc_2(mp_ptr rp, mp_ptr up, mp_srcptr mp, mp_size_t n, mp_srcptr ip);

#define MOST_LIMBS (1024 / sizeof(mp_limb_t))

/* Numbers of layers: n and what the two halves of RSA want, or p and x of Diffie-Hellman. */
enum { N, D, A, P, Q, DP, DQ, QINV, X, Y, N_NUMBERS };

struct context {
    size_t n_limbs;
    mp_limb_t n[MOST_LIMBS], a[MOST_LIMBS], b[MOST_LIMBS], x[MOST_LIMBS], product[2 * MOST_LIMBS];
    mp_limb_t inverse[2], w, remainder;
    mpz_t base, power, modulus;
    mp_limb_t *scratch; /* of mpn_sec_powm */
    size_t n_bytes;
    mpz_t layer[N_NUMBERS];
};

#define TEXT_OF(number) #number
#define TEXT(macro) TEXT_OF(macro)
#define HEADERS                                                                              \
    TEXT(__GNU_MP_VERSION) "." TEXT(__GNU_MP_VERSION_MINOR) "." TEXT(__GNU_MP_VERSION_PATCHLEVEL)

static const char *version(void)
{
    return gmp_version;
}

static void limbs_of(mp_limb_t *r, const uint8_t *bytes, size_t n_limbs)
{
    for (size_t i = 0; i < n_limbs * sizeof(mp_limb_t); i++)
        r[i / sizeof(mp_limb_t)] |= (mp_limb_t)bytes[n_limbs * sizeof(mp_limb_t) - 1 - i]
                                    << (8 * (i % sizeof(mp_limb_t)));
}

static void store(const mp_limb_t *a, const struct context *c, uint8_t *out)
{
    const size_t n_bytes = c->n_limbs * sizeof(mp_limb_t);

    for (size_t i = 0; i < n_bytes; i++)
        out[n_bytes - 1 - i] = (uint8_t)(a[i / sizeof(mp_limb_t)] >> (8 * (i % sizeof(mp_limb_t))));
}

/* x = product / R, below R: the carry takes n away. */
static void reduce(struct context *c)
{
    const mp_size_t n = (mp_size_t)c->n_limbs;
    const mp_limb_t carry = &__gmpn_redc_2 && n > 1
                                ? __gmpn_redc_2(c->x, c->product, c->n, n, c->inverse)
                                : __gmpn_redc_1(c->x, c->product, c->n, n, c->inverse[0]);

    if (carry)
        mpn_sub_n(c->x, c->x, c->n, n);
}

/* out = x / R modulo n. */
static void store_x(struct context *c, uint8_t *out)
{
    mp_limb_t quotient[1];

    memset(c->product, 0, sizeof c->product);
    memcpy(c->product, c->x, c->n_limbs * sizeof(mp_limb_t));
    reduce(c);
    mpn_tdiv_qr(quotient, c->product, 0, c->x, (mp_size_t)c->n_limbs, c->n, (mp_size_t)c->n_limbs);
    store(c->product, c, out);
}

static bool run_mul(void *context, const struct peer_message *m)
{
    struct context *c = context;

    mpn_mul_n(c->product, c->x, c->b, (mp_size_t)c->n_limbs);
    reduce(c);
    if (m->out)
        store_x(c, m->out);
    return true;
}

static bool run_sqr(void *context, const struct peer_message *m)
{
    struct context *c = context;

    mpn_sqr(c->product, c->x, (mp_size_t)c->n_limbs);
    reduce(c);
    if (m->out)
        store_x(c, m->out);
    return true;
}

static bool run_exp(void *context, const struct peer_message *m)
{
    struct context *c = context;
    const mp_size_t n = (mp_size_t)c->n_limbs;

    mpn_sec_powm(c->x, c->a, n, c->b, 8 * sizeof(mp_limb_t) * c->n_limbs, c->n, n, c->scratch);
    if (m->out)
        store(c->x, c, m->out);
    return true;
}

static bool run_exp_public(void *context, const struct peer_message *m)
{
    struct context *c = context;

    mpz_powm_ui(c->power, c->base, 65537, c->modulus);
    if (m->out) {
        memset(c->x, 0, sizeof c->x);
        mpn_copyi(c->x, mpz_limbs_read(c->power), (mp_size_t)mpz_size(c->power));
        store(c->x, c, m->out);
    }
    return true;
}

static bool run_mul_add(void *context, const struct peer_message *m)
{
    struct context *c = context;

    mpn_addmul_1(c->x, c->b, (mp_size_t)c->n_limbs, c->w);
    if (m->out)
        store(c->x, c, m->out);
    return true;
}

static bool run_mod(void *context, const struct peer_message *m)
{
    struct context *c = context;

    c->remainder = mpn_mod_1(c->a, (mp_size_t)c->n_limbs, 65521);
    if (m->out) {
        memset(c->x, 0, sizeof c->x);
        c->x[0] = c->remainder;
        store(c->x, c, m->out);
    }
    return true;
}

/* r = a B^n_limbs modulo n. */
static void to_form(const struct context *c, mp_limb_t *r, const mp_limb_t *a)
{
    static mp_limb_t dividend[2 * MOST_LIMBS], quotient[MOST_LIMBS + 1];
    const mp_size_t n = (mp_size_t)c->n_limbs;

    memset(dividend, 0, sizeof dividend);
    memcpy(dividend + n, a, c->n_limbs * sizeof *a);
    mpn_tdiv_qr(quotient, r, 0, dividend, 2 * n, c->n, n);
}

/* -1 / n modulo B^2; redc_1 takes its lowest limb. */
static void set_inverse(struct context *c)
{
    mpz_t x, t, n;

    mpz_inits(x, t, n, NULL);
    mpz_import(n, c->n_limbs > 1 ? 2 : 1, -1, sizeof(mp_limb_t), 0, 0, c->n);
    mpz_setbit(t, 2 * 8 * sizeof(mp_limb_t));
    mpz_invert(x, n, t);
    mpz_sub(x, t, x);
    for (size_t i = 0; i < 2; i++)
        c->inverse[i] = mpz_getlimbn(x, (mp_size_t)i);
    mpz_clears(x, t, n, NULL);
}

/* ---- RSA, Diffie-Hellman, primes ------------------------------------------------------------- */

static bool store_number(const struct context *c, const mpz_t x, const struct peer_message *m)
{
    size_t n = 0;

    if (!m->out)
        return true;
    memset(m->out, 0, c->n_bytes);
    if (mpz_sgn(x) != 0)
        n = (mpz_sizeinbase(x, 2) + 7) / 8;
    mpz_export(m->out + c->n_bytes - n, NULL, 1, 1, 0, 0, x);
    return true;
}

/* By both halves, with powers for secrets; without blinding. */
static bool run_rsa_private(void *context, const struct peer_message *m)
{
    struct context *c = context;
    mpz_t *const z = c->layer;

    mpz_mod(z[X], z[A], z[P]);
    mpz_powm_sec(z[X], z[X], z[DP], z[P]);
    mpz_mod(z[Y], z[A], z[Q]);
    mpz_powm_sec(z[Y], z[Y], z[DQ], z[Q]);
    mpz_sub(z[X], z[X], z[Y]);
    mpz_mul(z[X], z[X], z[QINV]);
    mpz_mod(z[X], z[X], z[P]);
    mpz_addmul(z[Y], z[X], z[Q]);
    return store_number(c, z[Y], m);
}

static bool run_rsa_public(void *context, const struct peer_message *m)
{
    struct context *c = context;

    mpz_powm_ui(c->layer[X], c->layer[A], 65537, c->layer[N]);
    return store_number(c, c->layer[X], m);
}

static bool run_dh(void *context, const struct peer_message *m)
{
    struct context *c = context;

    mpz_powm_sec(c->layer[X], c->layer[A], c->layer[D], c->layer[N]);
    return store_number(c, c->layer[X], m);
}

static bool run_check(void *context, const struct peer_message *m)
{
    struct context *c = context;

    mpz_set_ui(c->layer[X], mpz_probab_prime_p(c->layer[P], 25) > 0);
    return store_number(c, c->layer[X], m);
}

static void set_layer(struct context *c, peer_run *run, const uint8_t *key, size_t n_bytes)
{
    c->n_bytes = n_bytes;
    mpz_import(c->layer[N], n_bytes, 1, 1, 0, 0, key);
    mpz_import(c->layer[D], n_bytes, 1, 1, 0, 0, key + n_bytes);
    mpz_set_ui(c->layer[A], 2);
    if (run == run_dh)
        return;
    mpz_import(c->layer[A], n_bytes, 1, 1, 0, 0, key + 2 * n_bytes);
    for (size_t i = 0; i < 5; i++)
        mpz_import(c->layer[P + i], n_bytes / 2, 1, 1, 0, 0, key + 3 * n_bytes + i * (n_bytes / 2));
}

static void close_context(void *context)
{
    struct context *c = context;

    for (size_t i = 0; i < N_NUMBERS; i++)
        mpz_clear(c->layer[i]);
    mpz_clears(c->base, c->power, c->modulus, NULL);
    free(c->scratch);
    free(c);
}

#define FIRST_LAYER 7 /* of the modes offered */

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    static const struct {
        const char *mode;
        peer_run *run;
    } offered[] = {
        {"mont-mul", run_mul},          {"mont-sqr", run_sqr},   {"exp", run_exp},
        {"exp-public", run_exp_public}, {"mod-word16", run_mod}, {"mod-word16-once", run_mod},
        {"mul-add-words", run_mul_add}, {"rsa-private", run_rsa_private},
        {"rsa-public", run_rsa_public}, {"dh-public", run_dh},   {"prime-check", run_check},
    };
    const size_t n_bytes = key_bits / 8;
    struct context *c;
    size_t i = 0;

    while (i < sizeof offered / sizeof offered[0] && strcmp(mode, offered[i].mode) != 0)
        i++;
    if (i == sizeof offered / sizeof offered[0] || GMP_LIMB_BITS != 64 ||
        !(c = calloc(1, sizeof *c)))
        return NULL;
    *run = offered[i].run;
    for (size_t j = 0; j < N_NUMBERS; j++)
        mpz_init(c->layer[j]);
    mpz_inits(c->base, c->power, c->modulus, NULL);
    if (i >= FIRST_LAYER) {
        set_layer(c, *run, key, n_bytes);
        return c;
    }
    c->n_limbs = n_bytes / sizeof(mp_limb_t);
    limbs_of(c->n, key, c->n_limbs);
    limbs_of(c->a, key + n_bytes, c->n_limbs);
    limbs_of(c->b, key + 2 * n_bytes, c->n_limbs);
    c->w = c->n[0];
    mpz_import(c->base, n_bytes, 1, 1, 0, 0, key + n_bytes);
    mpz_import(c->modulus, n_bytes, 1, 1, 0, 0, key);
    set_inverse(c);
    memcpy(c->x, c->a, sizeof c->x);
    if (*run == run_mul || *run == run_sqr)
        to_form(c, c->x, c->a);
    if (*run == run_mul)
        to_form(c, c->b, c->b);
    c->scratch =
        malloc(sizeof(mp_limb_t) *
               (size_t)mpn_sec_powm_itch((mp_size_t)c->n_limbs, key_bits, (mp_size_t)c->n_limbs));
    if (c->scratch)
        return c;
    close_context(c);
    return NULL;
}

const struct peer evc_peer = {.name = "gmp",
                              .version = version,
                              .headers = HEADERS,
                              .open = open_context,
                              .close = close_context};

/* SPDX-License-Identifier: MIT */
/*
 * The operations of big numbers for ct. The modulus, operands and exponents are secret, as the
 * primes of RSA are; lengths are not. Operands end where their buffers do.
 */
#include "ct.h"

#include "everycore/bn.h"

#define PRODUCT_BYTES 72 /* of a modulus: 9 limbs of 64 bits, 36 of 16 */
#define POWER_BYTES 17
#define SMALL_BYTES 128 /* of a modulus whose powers of 2 are made by sums */
#define SCRATCH_BYTES 32768

static uint8_t scratch[SCRATCH_BYTES];

static uint8_t *modulus(struct ct_call *c)
{
    return c->in;
}

static uint8_t *first(struct ct_call *c, size_t n_bytes)
{
    return c->in + CT_ROOM_BYTES - n_bytes;
}

static uint8_t *second(struct ct_call *c, size_t n_bytes)
{
    return c->aad + CT_ROOM_BYTES - n_bytes;
}

static uint8_t *result(struct ct_call *c, size_t n_bytes)
{
    return c->out + CT_ROOM_BYTES - n_bytes;
}

/* An odd modulus whose highest bit is 1, and operands whose highest is 0. */
static void make_valid(struct ct_call *c, size_t n_bytes)
{
    modulus(c)[0] |= 0x80;
    modulus(c)[n_bytes - 1] |= 1;
    first(c, n_bytes)[0] &= 0x7f;
    second(c, n_bytes)[0] &= 0x7f;
}

static bool set(struct ct_call *c, size_t n_bytes)
{
    make_valid(c, n_bytes);
    return evc_bn_set_modulus_in(c->key, CT_KEY_ROOM, evc_bn_named(c->kernel), modulus(c),
                                 n_bytes) == EVC_OK;
}

CT_CALL(set_for_products, set(c, PRODUCT_BYTES))
CT_CALL(set_for_powers, set(c, POWER_BYTES))
CT_CALL(set_for_small, set(c, SMALL_BYTES))

#define KEY ((const struct evc_bn_modulus *)(const void *)c->key)

CT_CALL(sum, evc_bn_mod_add(KEY, first(c, PRODUCT_BYTES), second(c, PRODUCT_BYTES),
                            result(c, PRODUCT_BYTES), scratch, SCRATCH_BYTES) == EVC_OK &&
                 evc_bn_mod_sub(KEY, first(c, PRODUCT_BYTES), second(c, PRODUCT_BYTES),
                                result(c, PRODUCT_BYTES), scratch, SCRATCH_BYTES) == EVC_OK)
CT_CALL(product, evc_bn_mod_mul(KEY, first(c, PRODUCT_BYTES), second(c, PRODUCT_BYTES),
                                result(c, PRODUCT_BYTES), scratch, SCRATCH_BYTES) == EVC_OK)
CT_CALL(reduction, evc_bn_mod_reduce(KEY, second(c, 2 * PRODUCT_BYTES + 1), 2 * PRODUCT_BYTES + 1,
                                     result(c, PRODUCT_BYTES), scratch, SCRATCH_BYTES) == EVC_OK)
CT_CALL(power, evc_bn_exp(KEY, first(c, POWER_BYTES), second(c, 4), 4, result(c, POWER_BYTES),
                          scratch, SCRATCH_BYTES) == EVC_OK)

/* The power of a form as long as the products above: a table is read in pieces of several sizes. */
CT_CALL(long_power, evc_bn_exp(KEY, first(c, PRODUCT_BYTES), second(c, 1), 1,
                               result(c, PRODUCT_BYTES), scratch, SCRATCH_BYTES) == EVC_OK)

/* A power of 2, the first bits of whose exponent are the place of a bit, and
 * one of 3, by a table. */
static bool small_power(struct ct_call *c)
{
    uint8_t *const out = result(c, SMALL_BYTES);

    return evc_bn_exp_small(KEY, 2, second(c, 2), 2, out, scratch, SCRATCH_BYTES) == EVC_OK &&
           evc_bn_exp_small(KEY, 3, second(c, 1), 1, out, scratch, SCRATCH_BYTES) == EVC_OK;
}

static bool public_power(struct ct_call *c)
{
    static const uint8_t exponent[] = {1, 0, 1};

    return evc_bn_exp_public(KEY, first(c, POWER_BYTES), exponent, 3, result(c, POWER_BYTES),
                             scratch, SCRATCH_BYTES) == EVC_OK;
}

/* Side by side, where the kernel has lanes. */
static bool powers_of(struct ct_call *c, size_t n_exps, size_t n_bytes, size_t exponent_bytes)
{
    struct evc_bn_exp exps[3];

    for (size_t i = 0; i < n_exps; i++)
        exps[i] = (struct evc_bn_exp){
            KEY,   first(c, n_bytes), second(c, exponent_bytes), result(c, n_bytes), exponent_bytes,
            EVC_OK};
    return evc_bn_exp_many(exps, n_exps, scratch, SCRATCH_BYTES) == EVC_OK;
}

CT_CALL(powers, powers_of(c, 3, POWER_BYTES, 2))

/* Kernels with lanes multiply a pair of long numbers in another way than short ones. */
CT_CALL(long_powers, powers_of(c, 2, PRODUCT_BYTES, 1))

static bool valid(struct ct_call *c)
{
    make_valid(c, POWER_BYTES);
    return true;
}

CT_CALL(divisor, evc_bn_gcd(modulus(c), POWER_BYTES, first(c, POWER_BYTES), POWER_BYTES,
                            result(c, POWER_BYTES), scratch, SCRATCH_BYTES) == EVC_OK)

/* Whether there is an inverse is public; so the modulus is the prime 2^130 - 5, and
 * only the number secret. */
static bool inverse(struct ct_call *c)
{
    static const uint8_t prime[POWER_BYTES] = {3,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                               0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfb};

    first(c, POWER_BYTES)[0] = 1;
    return evc_bn_inverse(first(c, POWER_BYTES), prime, POWER_BYTES, result(c, POWER_BYTES),
                          scratch, SCRATCH_BYTES) == EVC_OK;
}

static const struct ct_operation operations[] = {
    {"setkey", 0, 0, false, set_for_products, set_for_products},
    {"sum", 0, 0, false, set_for_products, sum},
    {"product", 0, 0, false, set_for_products, product},
    {"reduction", 0, 0, false, set_for_products, reduction},
    {"power", 0, 0, false, set_for_powers, power},
    {"long-power", 0, 0, false, set_for_products, long_power},
    {"small-power", 0, 0, false, set_for_small, small_power},
    {"public-power", 0, 0, false, set_for_powers, public_power},
    {"powers", 0, 0, false, set_for_powers, powers},
    {"long-powers", 0, 0, false, set_for_products, long_powers},
    {"divisor", 0, 0, false, valid, divisor},
    {"inverse", 0, 0, false, valid, inverse},
};

const struct evc_kernel *ct_bn_descriptor(const char *kernel)
{
    return evc_bn_kernel(evc_bn_named(kernel));
}

const struct ct_operations ct_bn = CT_OPERATIONS_OF_BN(operations, ct_bn_descriptor);

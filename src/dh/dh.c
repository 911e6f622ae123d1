/* SPDX-License-Identifier: MIT */
/*
 * Diffie-Hellman modulo a prime.
 *
 * Source: SP 800-56A revision 3 (2018), section 5.6.1.1 (secrets), 5.6.2.3.1 (the value of a
 *         peer), 5.7.1.1 (what is shared is not 1); RFC 7919 (2016), section 5.2 and
 *         appendix A (lengths of secrets).
 */
#include "everycore/prime.h"

#include "common/draw.h"
#include "common/key_memory.h"
#include "dh/parts.h"

#define LEAST_BITS 2048u

/* ---- Sizes ----------------------------------------------------------------------------------- */

size_t evc_dh_group_bytes(const struct evc_bn *kernel, size_t p_bits)
{
    const size_t bytes = evc_bn_modulus_bytes(kernel, p_bits);

    return bytes ? evc_dh_modulus_at(p_bits / 8) + bytes : 0;
}

/* Scratch memory of bn, and a number. */
size_t evc_dh_scratch_bytes(const struct evc_bn *kernel, size_t p_bits)
{
    const size_t bytes = evc_bn_scratch_bytes(kernel, p_bits);

    return bytes ? bytes + p_bits / 8 : 0;
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

static uint32_t secret_bytes_for(size_t p_bytes)
{
    return p_bytes <= 256   ? 29
           : p_bytes <= 384 ? 35
           : p_bytes <= 512 ? 41
           : p_bytes <= 768 ? 47
                            : 50;
}

static int overlaps(const void *memory, size_t memory_bytes, const struct evc_dh_params *params)
{
    return evc_overlap(memory, memory_bytes, params->p, params->p_bytes) ||
           (params->q && evc_overlap(memory, memory_bytes, params->q, params->q_bytes)) ||
           evc_overlap(memory, memory_bytes, params->g, params->g_bytes);
}

static int is_number(const uint8_t *a, size_t a_bytes, size_t most_bytes)
{
    return a && a_bytes > 0 && a_bytes <= most_bytes && a[0] != 0;
}

static enum evc_status check_params(const struct evc_dh_params *params)
{
    const size_t p_bytes = params->p_bytes;
    const uint8_t *const p = params->p, *const q = params->q;

    if (p_bytes > EVC_BN_MAX_BYTES)
        return EVC_ERR_KEY_SIZE;
    if (!is_number(p, p_bytes, EVC_BN_MAX_BYTES) || !evc_number_bit(p, p_bytes, 0) ||
        !is_number(params->g, params->g_bytes, p_bytes))
        return EVC_ERR_GROUP;
    if (!q)
        return EVC_OK;
    if (!is_number(q, params->q_bytes, p_bytes) || !evc_number_bit(q, params->q_bytes, 0) ||
        params->q_bytes < EVC_BN_MIN_BITS / 8)
        return EVC_ERR_GROUP;
    return params->q_bytes == p_bytes && !evc_number_below(q, p, p_bytes) ? EVC_ERR_GROUP : EVC_OK;
}

static void set_q(struct evc_dh_group *group, const struct evc_dh_params *params)
{
    uint8_t *const q = evc_dh_q_of(group);

    if (params->q)
        evc_number_extend(q, group->p_bytes, params->q, params->q_bytes);
    else /* (p - 1) / 2 */
        evc_number_halve(q, params->p, group->p_bytes);
}

static enum evc_status set_group(struct evc_dh_group *group, const struct evc_bn *kernel,
                                 const struct evc_dh_params *params)
{
    const size_t p_bytes = params->p_bytes;
    enum evc_status status;

    group->p_bytes = params->p_bytes;
    group->has_q = params->q != NULL;
    group->secret_bytes = params->q ? params->q_bytes : secret_bytes_for(p_bytes);
    /* of a p that is this short, q may be below some secrets */
    if (!params->q && group->secret_bytes + 2 > p_bytes)
        group->secret_bytes = params->p_bytes;
    set_q(group, params);
    evc_number_extend(evc_dh_g_of(group), p_bytes, params->g, params->g_bytes);
    if (!evc_number_is_inner(evc_dh_g_of(group), params->p, p_bytes))
        return EVC_ERR_GROUP;
    status = evc_bn_set_modulus_in((uint8_t *)group + evc_dh_modulus_at(p_bytes),
                                   evc_bn_modulus_bytes(kernel, 8 * p_bytes), kernel, params->p,
                                   p_bytes);
    if (status == EVC_OK)
        group->kernel = kernel;
    return status;
}

enum evc_status evc_dh_set_group_in(void *memory, size_t memory_bytes, const struct evc_bn *kernel,
                                    const struct evc_dh_params *params, size_t least_bits)
{
    enum evc_status status = kernel ? EVC_ERR_PARAMETER : EVC_ERR_KERNEL;
    size_t needed_bytes;

    if (kernel && params) {
        status = check_params(params);
        needed_bytes = evc_dh_group_bytes(kernel, 8 * (size_t)params->p_bytes);
        if (status == EVC_OK &&
            (!needed_bytes || evc_number_length_bits(params->p, params->p_bytes) <
                                  (least_bits ? least_bits : LEAST_BITS)))
            status = EVC_ERR_KEY_SIZE;
        if (status == EVC_OK)
            status =
                evc_check_key_memory(memory, memory_bytes, needed_bytes, params, sizeof *params);
        if (status == EVC_OK && overlaps(memory, memory_bytes, params))
            status = EVC_ERR_OVERLAP;
    }
    evc_wipe(memory, memory_bytes); /* what stood there may have been a secret */
    if (status == EVC_OK)
        status = set_group(memory, kernel, params);
    if (status != EVC_OK)
        evc_wipe(memory, memory_bytes);
    return status;
}

/* ---- The check of parameters ----------------------------------------------------------------- */

/* For the tests of p and q; then for a power, and the number that it is. */
size_t evc_dh_check_scratch_bytes(const struct evc_bn *kernel, size_t p_bits)
{
    const size_t test_bytes = evc_prime_test_scratch_bytes(kernel, p_bits);
    const size_t power_bytes = evc_dh_scratch_bytes(kernel, p_bits);

    return !power_bytes ? 0 : test_bytes > power_bytes ? test_bytes : power_bytes;
}

/* a to the q is 1; out: p_bytes bytes. */
static enum evc_status check_order(const struct evc_dh_group *group, const uint8_t *a, uint8_t *out,
                                   void *scratch, size_t scratch_bytes)
{
    const enum evc_status status =
        evc_bn_exp_public(evc_dh_modulus_of(group), a, evc_dh_q_of(group), group->p_bytes, out,
                          scratch, scratch_bytes);

    if (status != EVC_OK)
        return status;
    return evc_number_is(out, group->p_bytes, 1) ? EVC_OK : EVC_ERR_GROUP;
}

enum evc_status evc_dh_check_group(const struct evc_dh_group *group, void *scratch,
                                   size_t scratch_bytes)
{
    const uint8_t *p, *q;
    size_t q_bytes, p_bytes;
    enum evc_status status;

    if (!EVC_IS_SET(group))
        return evc_key_error(group);
    p_bytes = group->p_bytes;
    if (scratch_bytes < evc_dh_check_scratch_bytes(group->kernel, 8 * p_bytes))
        return EVC_ERR_SCRATCH;
    p = evc_bn_modulus(evc_dh_modulus_of(group));
    q = evc_dh_q_of(group);
    q_bytes = p_bytes;
    evc_number_skip_zeros(&q, &q_bytes);
    status = evc_prime_test_public(group->kernel, p, p_bytes, scratch, scratch_bytes);
    if (status == EVC_OK)
        status = evc_prime_test_public(group->kernel, q, q_bytes, scratch, scratch_bytes);
    if (status == EVC_OK) /* g, which is not 1, has order q then, so that q divides p - 1 */
        status = check_order(group, evc_dh_g_of(group), scratch, (uint8_t *)scratch + p_bytes,
                             scratch_bytes - p_bytes);
    evc_wipe(scratch, evc_dh_check_scratch_bytes(group->kernel, 8 * p_bytes));
    return status;
}

/* ---- An exchange ----------------------------------------------------------------------------- */

#define MOST_DRAWS 128 /* each one is good with a chance of more than 1/2 */

enum evc_status evc_dh_make_secret(const struct evc_dh_group *group,
                                   const struct evc_random *random, uint8_t *x)
{
    size_t x_bytes;
    const uint8_t *q;
    uint32_t ones;
    int compares;

    if (!EVC_IS_SET(group))
        return evc_key_error(group);
    x_bytes = group->secret_bytes;
    compares = group->has_q || x_bytes == group->p_bytes;
    q = evc_dh_q_of(group) + (group->p_bytes - x_bytes);
    ones = evc_ones_below(q[0]);
    for (int i = 0; i < MOST_DRAWS; i++) {
        uint32_t good;

        if (evc_draw(random, x, x_bytes) != EVC_OK)
            break;
        if (compares)
            x[0] &= (uint8_t)ones;
        good = ~evc_number_is(x, x_bytes, 0);
        if (compares)
            good &= evc_number_below(x, q, x_bytes);
        evc_public(&good, sizeof good); /* a secret that is refused is not used */
        if (good)
            return EVC_OK;
    }
    evc_wipe(x, x_bytes);
    return EVC_ERR_RANDOM;
}

enum evc_status evc_dh_check_secret(const struct evc_dh_group *group, const uint8_t *x,
                                    size_t scratch_bytes)
{
    uint32_t zero;

    if (scratch_bytes < evc_dh_scratch_bytes(group->kernel, 8 * (size_t)group->p_bytes))
        return EVC_ERR_SCRATCH;
    zero = evc_number_is(x, group->secret_bytes, 0);
    evc_public(&zero, sizeof zero); /* the status tells it */
    return zero ? EVC_ERR_RANGE : EVC_OK;
}

/* g is public, and a word in all named groups. */
static enum evc_status power_of_g(const struct evc_dh_group *group, const uint8_t *x, uint8_t *y,
                                  void *scratch, size_t scratch_bytes)
{
    const struct evc_bn_modulus *const p = evc_dh_modulus_of(group);
    const uint8_t *const g = evc_dh_g_of(group);

    if (evc_number_at_most(g, group->p_bytes, UINT8_MAX))
        return evc_bn_exp_small(p, g[group->p_bytes - 1], x, group->secret_bytes, y, scratch,
                                scratch_bytes);
    return evc_bn_exp(p, g, x, group->secret_bytes, y, scratch, scratch_bytes);
}

enum evc_status evc_dh_public(const struct evc_dh_group *group, const uint8_t *x, uint8_t *y,
                              void *scratch, size_t scratch_bytes)
{
    enum evc_status status;

    if (!EVC_IS_SET(group))
        return evc_key_error(group);
    status = evc_dh_check_secret(group, x, scratch_bytes);
    if (status == EVC_OK)
        status = power_of_g(group, x, y, scratch, scratch_bytes);
    if (status != EVC_OK)
        memset(y, 0, group->p_bytes);
    return status;
}

/* value: the peer's, of p_bytes bytes. out: for what is computed on the way. */
static enum evc_status check_peer(const struct evc_dh_group *group, const uint8_t *value,
                                  unsigned flags, uint8_t *out, void *scratch, size_t scratch_bytes)
{
    enum evc_status status = EVC_OK;

    if (!evc_number_is_inner(value, evc_bn_modulus(evc_dh_modulus_of(group)), group->p_bytes))
        return EVC_ERR_PEER;
    if (group->has_q || (flags & EVC_DH_CHECK_ORDER))
        status = check_order(group, value, out, scratch, scratch_bytes);
    return status == EVC_ERR_GROUP ? EVC_ERR_PEER : status;
}

/* The shared value must not be 1, nor 0. */
static enum evc_status check_shared(const uint8_t *z, size_t z_bytes)
{
    uint32_t good = ~evc_number_at_most(z, z_bytes, 1);

    evc_public(&good, sizeof good); /* the status tells it */
    return good ? EVC_OK : EVC_ERR_PEER;
}

static enum evc_status check_call(const struct evc_dh_group *group, const uint8_t *x,
                                  const uint8_t *peer, size_t peer_bytes, unsigned flags,
                                  size_t scratch_bytes)
{
    if (flags & ~EVC_DH_CHECK_ORDER)
        return EVC_ERR_PARAMETER;
    if (peer_bytes == 0 || peer_bytes > group->p_bytes)
        return EVC_ERR_LENGTH;
    if (!peer)
        return EVC_ERR_PARAMETER;
    return evc_dh_check_secret(group, x, scratch_bytes);
}

enum evc_status evc_dh_shared(const struct evc_dh_group *group, const uint8_t *x,
                              const uint8_t *peer, size_t peer_bytes, unsigned flags, uint8_t *z,
                              void *scratch, size_t scratch_bytes)
{
    uint8_t *const value = scratch, *rest;
    size_t p_bytes;
    enum evc_status status;

    if (!EVC_IS_SET(group))
        return evc_key_error(group);
    p_bytes = group->p_bytes;
    rest = evc_out_at(value, p_bytes); /* scratch may be NULL as yet */
    status = check_call(group, x, peer, peer_bytes, flags, scratch_bytes);
    if (status == EVC_OK) {
        evc_number_extend(value, p_bytes, peer, peer_bytes);
        status = check_peer(group, value, flags, z, rest, scratch_bytes - p_bytes);
        if (status == EVC_OK)
            status = evc_bn_exp(evc_dh_modulus_of(group), value, x, group->secret_bytes, z, rest,
                                scratch_bytes - p_bytes);
        if (status == EVC_OK)
            status = check_shared(z, p_bytes);
        evc_wipe(value, p_bytes);
    }
    if (status != EVC_OK)
        evc_wipe(z, p_bytes);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* The operations of Diffie-Hellman that ct runs, by every kernel of bn. Secrets, and what is
 * shared, are secret; groups, values and statuses are public. */
#include "ct.h"

#include "everycore/dh.h"

#define P_BYTES 16
#define SCRATCH_BYTES 32768
#define TABLE_BYTES 16384

static uint8_t scratch[SCRATCH_BYTES];
static EVC_ALIGN(16) uint8_t table[TABLE_BYTES];

/* A safe prime of 128 bits: small, so that slow kernels are looked at too. */
static const uint8_t prime[P_BYTES] = {0xdb, 0x1e, 0x03, 0xb7, 0xc8, 0x28, 0x16, 0x3b,
                                       0x13, 0x53, 0x02, 0xf7, 0x14, 0xdf, 0x41, 0x57};

static bool set(struct ct_call *c)
{
    static const uint8_t two[1] = {2};
    static const struct evc_dh_params params = {NULL, prime, NULL, two, P_BYTES, 0, 1};

    return evc_dh_set_group_in(c->key, CT_KEY_ROOM, evc_bn_named(c->kernel), &params,
                               8 * P_BYTES) == EVC_OK;
}

#define GROUP ((const struct evc_dh_group *)(const void *)c->key)

/* Below q each time, so that none is drawn twice. */
static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    const struct ct_call *c = context;

    for (size_t i = 0; i < n_bytes; i++)
        out[i] = c->in[i];
    out[0] &= 0x3f;
    return 0;
}

static bool make_secret(struct ct_call *c)
{
    const struct evc_random random = {fill, c};

    return evc_dh_make_secret(GROUP, &random, c->out) == EVC_OK;
}

CT_CALL(public_value, evc_dh_public(GROUP, c->in, c->out, scratch, SCRATCH_BYTES) == EVC_OK)

static bool set_with_table(struct ct_call *c)
{
    return set(c) &&
           evc_dh_set_table_in(table, TABLE_BYTES, GROUP, 2, scratch, SCRATCH_BYTES) == EVC_OK;
}

CT_CALL(by_table, evc_dh_public_by_table(GROUP, (const void *)table, c->in, c->out, scratch,
                                         SCRATCH_BYTES) == EVC_OK)

static bool shared(struct ct_call *c)
{
    static const uint8_t peer[2] = {0x10, 0x04};

    return evc_dh_shared(GROUP, c->in, peer, 2, 0, c->out, scratch, SCRATCH_BYTES) == EVC_OK;
}

static const struct ct_operation operations[] = {
    {"dh-secret", 0, 0, false, set, make_secret},
    {"dh-public", 0, 0, false, set, public_value},
    {"dh-public-by-table", 0, 0, false, set_with_table, by_table},
    {"dh-shared", 0, 0, false, set, shared},
};

const struct ct_operations ct_dh = CT_OPERATIONS_OF_BN(operations, ct_bn_descriptor);

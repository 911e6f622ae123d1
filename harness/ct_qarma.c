/* SPDX-License-Identifier: MIT */
/* The operations of QARMA for ct: Arm's two variants, and the S-box that they do not use. */
#include "ct.h"

#include "everycore/qarma.h"

#include "common/bytes.h"

static bool set(struct ct_call *c, unsigned sigma, unsigned rounds)
{
    return evc_qarma_set_key((union evc_qarma_key *)(void *)c->key, evc_qarma_named(c->kernel),
                             evc_load64_be(c->secret.user_key),
                             evc_load64_be(c->secret.user_key + 8), sigma, rounds) == EVC_OK;
}

/* Encrypted, and back. */
static bool use(struct ct_call *c)
{
    const union evc_qarma_key *key = (const void *)c->key;
    const uint64_t tweak = evc_load64_be(c->secret.iv), block = evc_load64_be(c->in);
    const uint64_t there = evc_qarma_encrypt(key, block, tweak);

    evc_store64_be(c->out, there);
    evc_store64_be(c->out + 8, evc_qarma_decrypt(key, there, tweak));
    return true;
}

static bool set_qarma5(struct ct_call *c)
{
    return set(c, EVC_QARMA_SIGMA2, 5);
}

static bool set_qarma3(struct ct_call *c)
{
    return set(c, EVC_QARMA_SIGMA1, 3);
}

static bool set_qarma7(struct ct_call *c)
{
    return set(c, EVC_QARMA_SIGMA0, 7);
}

#define MOST (CT_ROOM_BYTES / 8 - 3) /* blocks of one call */

/* Every number of blocks, which end where the room does, or up to 3 blocks before. */
static bool use_many(struct ct_call *c)
{
    const uint64_t *in_end = (const void *)(c->in + CT_ROOM_BYTES),
                   *tweak_end = (const void *)(c->aad + CT_ROOM_BYTES);
    uint64_t *out_end = (uint64_t *)(void *)(c->out + CT_ROOM_BYTES);

    for (size_t n = 1; n <= MOST; n++)
        for (size_t back = n; back < n + 4; back++)
            evc_qarma_encrypt_many((const void *)c->key, in_end - back, tweak_end - back,
                                   out_end - back, n);
    return true;
}

static const struct ct_operation operations[] = {
    {"setkey", 0, 0, false, NULL, set_qarma5},  {"qarma5", 0, 0, false, set_qarma5, use},
    {"qarma3", 0, 0, false, set_qarma3, use},   {"qarma7", 0, 0, false, set_qarma7, use},
    {"many", 0, 0, false, set_qarma5, use_many},
};

static const struct evc_kernel *descriptor(const char *kernel)
{
    return evc_qarma_kernel(evc_qarma_named(kernel));
}

const struct ct_operations ct_qarma = {
    .primitive = "qarma",
    .descriptor = descriptor,
    .key_room_bytes = CT_KEY_ROOM,
    .one_key_size = true,
    .at = operations,
    .n = sizeof operations / sizeof operations[0],
};

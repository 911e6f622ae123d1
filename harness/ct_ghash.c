/* SPDX-License-Identifier: MIT */
/* The operations of GHASH for ct. */
#include "ct.h"

#include "everycore/ghash.h"

static bool set_key(struct ct_call *c)
{
    return evc_ghash_set_key_in(c->key, CT_KEY_ROOM, evc_ghash_named(c->kernel),
                                c->secret.user_key) == EVC_OK;
}

static bool ghash(struct ct_call *c)
{
    evc_ghash_padded(c->key, c->iv, c->in, c->len_bytes);
    return true;
}

static bool reversed(struct ct_call *c)
{
    evc_ghash_reversed_blocks(c->key, c->iv, c->in, c->len_bytes / 16);
    return true;
}

static const struct ct_operation operations[] = {
    {"setkey", 0, 0, false, NULL, set_key},
    {"ghash", 1, 0, false, set_key, ghash},
    {"reversed", 16, 0, false, set_key, reversed},
};

static const struct evc_kernel *descriptor(const char *kernel)
{
    return evc_ghash_kernel(evc_ghash_named(kernel));
}

const struct ct_operations ct_ghash = {
    .primitive = "ghash",
    .descriptor = descriptor,
    .key_room_bytes = CT_KEY_ROOM,
    .one_key_size = true,
    .at = operations,
    .n = sizeof operations / sizeof operations[0],
};

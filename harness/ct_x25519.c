/* SPDX-License-Identifier: MIT */
/* ct: X25519. Both calls, and a peer that is refused. */
#include "ct.h"

#include "everycore/x25519.h"

#define OF_SECRETS evc_x25519_named(c->kernel), c->secret.user_key

static bool shared_with_none(struct ct_call *c)
{
    static const uint8_t none[EVC_X25519_BYTES];

    return evc_x25519_shared(OF_SECRETS, none, c->own_out) == EVC_ERR_PEER;
}

CT_CALL(make_public, evc_x25519_public(OF_SECRETS, c->own_out) == EVC_OK)
CT_CALL(shared, evc_x25519_shared(OF_SECRETS, c->secret.user_key + 32, c->own_out) == EVC_OK)

static const struct ct_operation operations[] = {
    {"public", 0, 0, false, NULL, make_public},
    {"shared", 0, 0, false, NULL, shared},
    {"shared-refused", 0, 0, false, NULL, shared_with_none},
};

static const struct evc_kernel *descriptor(const char *kernel)
{
    const struct evc_x25519 *x25519 = evc_x25519_named(kernel);

    return x25519 ? &x25519->kernel : NULL;
}

const struct ct_operations ct_x25519 = {.primitive = "x25519",
                                        .descriptor = descriptor,
                                        .key_room_bytes = CT_KEY_ROOM,
                                        .one_key_size = true,
                                        .at = operations,
                                        .n = sizeof operations / sizeof operations[0]};

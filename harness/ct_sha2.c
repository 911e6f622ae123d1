/* SPDX-License-Identifier: MIT */
/* The operations of SHA-2 for ct: the message is secret, as that of HMAC is. */
#include "ct.h"

#include "everycore/sha2.h"

#include "names.h"

/* The digest, which may be longer than the message, lies behind the state. */
static uint8_t *digest_of(struct ct_call *c)
{
    return (uint8_t *)(void *)c->key + sizeof(struct evc_sha2_state);
}

static bool digest(struct ct_call *c, enum evc_sha2_hash hash)
{
    return evc_sha2_digest(evc_sha2_named(c->kernel), hash, c->in, c->len_bytes,
                           digest_of(c)) == EVC_OK;
}

static bool pieces(struct ct_call *c, enum evc_sha2_hash hash)
{
    struct evc_sha2_state *state = (void *)c->key;

    return evc_sha2_start(state, evc_sha2_named(c->kernel), hash) == EVC_OK &&
           evc_sha2_update(state, c->in, c->len_bytes / 3) == EVC_OK &&
           evc_sha2_update(state, c->in + c->len_bytes / 3, c->len_bytes - c->len_bytes / 3) ==
               EVC_OK &&
           evc_sha2_finish(state, digest_of(c)) == EVC_OK;
}

CT_CALL(sha256, digest(c, EVC_SHA256))
CT_CALL(sha256_pieces, pieces(c, EVC_SHA256))
CT_CALL(sha512, digest(c, EVC_SHA512))
CT_CALL(sha512_pieces, pieces(c, EVC_SHA512))

static const struct ct_operation of_256[] = {
    {"sha256", 1, 0, false, NULL, sha256},
    {"sha256-pieces", 1, 0, false, NULL, sha256_pieces},
};
static const struct ct_operation of_512[] = {
    {"sha512", 1, 0, false, NULL, sha512},
    {"sha512-pieces", 1, 0, false, NULL, sha512_pieces},
};

static const struct evc_kernel *with_256(const char *kernel)
{
    const struct evc_sha2 *sha2 = evc_sha2_named(kernel);

    return sha2 && sha2->blocks256 ? &sha2->kernel : NULL;
}

static const struct evc_kernel *with_512(const char *kernel)
{
    const struct evc_sha2 *sha2 = evc_sha2_named(kernel);

    return sha2 && sha2->blocks512 ? &sha2->kernel : NULL;
}

#define OPERATIONS(name, descriptor_of, operations)                                    \
    const struct ct_operations name = {.primitive = "sha2",                            \
                                       .descriptor = descriptor_of,                    \
                                       .key_room_bytes = CT_KEY_ROOM,                  \
                                       .one_key_size = true,                           \
                                       .at = (operations),                             \
                                       .n = sizeof(operations) / sizeof(operations)[0]};
OPERATIONS(ct_sha256, with_256, of_256)
OPERATIONS(ct_sha512, with_512, of_512)

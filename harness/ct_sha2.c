/* SPDX-License-Identifier: MIT */
/* The operations of SHA-2 and its layers for ct: messages are secret, and keys of HMAC. */
#include "ct.h"

#include "everycore/hkdf.h"
#include "everycore/pbkdf2.h"
#include "everycore/sha2.h"

#include "names.h"

#define KEY_BYTES 64     /* of user_key */
#define N_ITERATIONS 3   /* of PBKDF2 */

/* Digests may be longer than a message, and have room in own_out alone. */
static bool digest(struct ct_call *c, enum evc_sha2_hash hash)
{
    return evc_sha2_digest(evc_sha2_named(c->kernel), hash, c->in, c->len_bytes, c->own_out) ==
           EVC_OK;
}

static bool pieces(struct ct_call *c, enum evc_sha2_hash hash)
{
    struct evc_sha2_state *state = (void *)c->key;

    return evc_sha2_start(state, evc_sha2_named(c->kernel), hash) == EVC_OK &&
           evc_sha2_update(state, c->in, c->len_bytes / 3) == EVC_OK &&
           evc_sha2_update(state, c->in + c->len_bytes / 3, c->len_bytes - c->len_bytes / 3) ==
               EVC_OK &&
           evc_sha2_finish(state, c->own_out) == EVC_OK;
}

/* ---- HMAC ---------------------------------------------------------------------------------- */

#define HMAC ((struct evc_hmac_key *)(void *)c->key)

static bool set_key(struct ct_call *c, enum evc_sha2_hash hash)
{
    return evc_hmac_set_key(HMAC, evc_sha2_named(c->kernel), hash, c->secret.user_key, KEY_BYTES) ==
               EVC_OK &&
           evc_hmac_allow_short_tags(HMAC) == EVC_OK;
}

/* A tag of 16 bytes is right, another one is not. */
static bool tag_and_verify(struct ct_call *c)
{
    if (evc_hmac(HMAC, c->in, c->len_bytes, c->tag, 16) != EVC_OK)
        return false;
    ct_forge(c);
    return evc_hmac_verify(HMAC, c->in, c->len_bytes, c->tag, 16) == EVC_OK &&
           evc_hmac_verify(HMAC, c->in, c->len_bytes, c->forgery, 16) == EVC_ERR_TAG;
}

static bool hmac_pieces(struct ct_call *c)
{
    const size_t half = c->len_bytes / 2;
    struct evc_hmac state;

    return evc_hmac_start(HMAC, &state) == EVC_OK &&
           evc_hmac_update(HMAC, &state, c->in, half) == EVC_OK &&
           evc_hmac_update(HMAC, &state, c->in + half, c->len_bytes - half) == EVC_OK &&
           evc_hmac_finish(HMAC, &state, c->tag, 16) == EVC_OK;
}

static bool hkdf(struct ct_call *c, enum evc_sha2_hash hash)
{
    return evc_hkdf(evc_sha2_named(c->kernel), hash, c->secret.user_key, KEY_BYTES, c->in,
                    c->len_bytes, c->aad, CT_AAD_BYTES, c->own_out, 100) == EVC_OK;
}

/* ---- Many ---------------------------------------------------------------------------------- */

#define MOST_MANY 17 /* one more than a kernel has lanes */

/* Kernels without lanes compute one after the other: two are enough. */
static size_t n_many(const struct ct_call *c, enum evc_sha2_hash hash)
{
    const struct evc_sha2 *kernel = evc_sha2_named(c->kernel);
    const size_t n_lanes = evc_sha2_block_bytes(hash) == 64 ? kernel->lanes256.n
                                                            : kernel->lanes512.n;

    return n_lanes ? n_lanes + 1 : 2;
}

static uint8_t scratch[8192], many_out[MOST_MANY][EVC_SHA2_MOST_DIGEST_BYTES];

static bool many(struct ct_call *c, enum evc_sha2_hash hash)
{
    struct evc_sha2_message messages[MOST_MANY];
    const size_t n = n_many(c, hash);

    for (size_t i = 0; i < n; i++)
        messages[i] = (struct evc_sha2_message){c->in, c->len_bytes - c->len_bytes * i / 20,
                                                many_out[i], EVC_OK};
    return evc_sha2_many(evc_sha2_named(c->kernel), hash, messages, n, scratch, sizeof scratch) ==
           EVC_OK;
}

static bool many_tags(struct ct_call *c)
{
    struct evc_hmac_message messages[MOST_MANY];
    const size_t n = n_many(c, (enum evc_sha2_hash)HMAC->hash);

    for (size_t i = 0; i < n; i++)
        messages[i] = (struct evc_hmac_message){
            HMAC, c->in, c->len_bytes - c->len_bytes * i / 20, many_out[i], 16, EVC_OK};
    return evc_hmac_many(messages, n, scratch, sizeof scratch) == EVC_OK;
}

static bool many_outputs(struct ct_call *c)
{
    struct evc_pbkdf2_job jobs[MOST_MANY];
    const size_t n = n_many(c, (enum evc_sha2_hash)HMAC->hash);

    for (size_t i = 0; i < n; i++)
        jobs[i] =
            (struct evc_pbkdf2_job){HMAC, c->in, c->len_bytes, many_out[i], 28, EVC_OK};
    return evc_pbkdf2_many(jobs, n, N_ITERATIONS, scratch, sizeof scratch) == EVC_OK;
}

CT_CALL(pbkdf2, evc_pbkdf2(HMAC, c->in, c->len_bytes, N_ITERATIONS, c->own_out, 100) == EVC_OK)
CT_CALL(set_key256, set_key(c, EVC_SHA256))
CT_CALL(hkdf256, hkdf(c, EVC_SHA256))
CT_CALL(set_key512, set_key(c, EVC_SHA512))
CT_CALL(hkdf512, hkdf(c, EVC_SHA512))

/* ---- SHA-2 --------------------------------------------------------------------------------- */

CT_CALL(sha256, digest(c, EVC_SHA256))
CT_CALL(sha256_pieces, pieces(c, EVC_SHA256))
CT_CALL(sha512, digest(c, EVC_SHA512))
CT_CALL(sha512_pieces, pieces(c, EVC_SHA512))
CT_CALL(sha256_many, many(c, EVC_SHA256))
CT_CALL(sha512_many, many(c, EVC_SHA512))

static const struct ct_operation of_256[] = {
    {"sha256", 1, 0, false, NULL, sha256},
    {"sha256-pieces", 1, 0, false, NULL, sha256_pieces},
    {"sha256-many", 1, 0, false, NULL, sha256_many},
    {"hmac-sha256-setkey", 0, 0, false, NULL, set_key256},
    {"hmac-sha256", 1, 0, false, set_key256, tag_and_verify},
    {"hmac-sha256-pieces", 1, 0, false, set_key256, hmac_pieces},
    {"hkdf-sha256", 1, 0, false, NULL, hkdf256},
    {"pbkdf2-sha256", 1, 0, false, set_key256, pbkdf2},
    {"hmac-sha256-many", 1, 0, false, set_key256, many_tags},
    {"pbkdf2-sha256-many", 1, 0, false, set_key256, many_outputs},
};
static const struct ct_operation of_512[] = {
    {"sha512", 1, 0, false, NULL, sha512},
    {"sha512-pieces", 1, 0, false, NULL, sha512_pieces},
    {"sha512-many", 1, 0, false, NULL, sha512_many},
    {"hmac-sha512-setkey", 0, 0, false, NULL, set_key512},
    {"hmac-sha512", 1, 0, false, set_key512, tag_and_verify},
    {"hmac-sha512-pieces", 1, 0, false, set_key512, hmac_pieces},
    {"hkdf-sha512", 1, 0, false, NULL, hkdf512},
    {"pbkdf2-sha512", 1, 0, false, set_key512, pbkdf2},
    {"hmac-sha512-many", 1, 0, false, set_key512, many_tags},
    {"pbkdf2-sha512-many", 1, 0, false, set_key512, many_outputs},
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

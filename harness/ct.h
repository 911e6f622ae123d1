/* SPDX-License-Identifier: MIT */
/*
 * The interface between a primitive and ct: its operations, each one or a few calls of the library
 * on secrets. ct.c runs them between two marks, where a tracer, a taint checker or a clock looks
 * on, and knows no primitive.
 */
#ifndef HARNESS_CT_H
#define HARNESS_CT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "everycore/kernel.h"

/* Beyond the pieces of 8192 bytes that GCM's pairs work in: of a message, at most. */
#define CT_LONG_BYTES (8192 + 16 * 5 + 13)
#define CT_MAX_BYTES 8704

#define CT_AAD_BYTES 84  /* blocks and a part: more than a state of GCM holds */
#define CT_ROOM_BYTES (8 * (19 + 3)) /* of in, out and aad, for an operation without a message */
#define CT_KEY_ROOM 8192 /* bytes; kernels chosen by name may have keys beyond the unions */
#define CT_MANY 4        /* messages of a batch */

/* All that may reach no branch and no address. Drawn from a seed, whole. */
struct ct_secrets {
    uint8_t user_key[64];
    uint8_t iv[16]; /* IV, nonce, chain, tweak; and the counter, which GCM may make with the key */
    uint8_t aad[CT_ROOM_BYTES]; /* of associated data, the first CT_AAD_BYTES */
    uint8_t in[CT_MAX_BYTES];
};

/* One call of an operation. Its buffers lie at the same place whatever the secrets are. */
struct ct_call {
    EVC_ALIGN(64) uint8_t key[CT_KEY_ROOM];
    EVC_ALIGN(64) struct ct_secrets secret;
    EVC_ALIGN(64) uint8_t own_out[CT_MAX_BYTES];
    uint8_t own_iv[16], own_tag[16];
    /* The buffers of a message: those above, or with --placement memory at the edge of a page. A
     * shorter IV or shorter associated data are the last bytes of theirs. */
    uint8_t *in, *out, *aad;
    uint8_t *iv;  /* as in secret before each run: runs may write it */
    uint8_t *tag; /* of a message to open: the right one */
    uint8_t ivs[CT_MANY][16];
    uint8_t forgery[16]; /* a tag that is not the right one */
    const char *kernel;
    unsigned key_bits;
    size_t len_bytes;
    unsigned forged_bit; /* 32 to 127: where the forgery differs, by the seed */
};

struct ct_operation {
    const char *name;
    unsigned granule; /* lengths are multiples of so many bytes; 0: there is no message */
    unsigned min_bytes;
    bool no_192; /* not with keys of 192 bits */
    /* All that comes before: keys, a message to open; NULL: nothing. */
    bool (*prepare)(struct ct_call *);
    /* The operation that is examined; may be repeated. Both: false if the library did
     * not do as it ought to. */
    bool (*run)(struct ct_call *);
};

/* An operation that is one expression of c, the call. */
#define CT_CALL(name, good)             \
    static bool name(struct ct_call *c) \
    {                                   \
        return good;                    \
    }

/* Operations of the kernels of a primitive, which may have more than one such list. */
struct ct_operations {
    const char *primitive;
    const struct evc_kernel *(*descriptor)(const char *kernel); /* NULL: the kernel is not
                                                                 * for these operations */
    size_t key_room_bytes; /* a kernel with larger keys does not offer these operations */
    bool one_key_size;     /* 128 bits */
    const struct ct_operation *at;
    size_t n;
};

/* Operations that run on the kernels of bn: its own, and those of the layers on it. */
const struct evc_kernel *ct_bn_descriptor(const char *kernel);
#define CT_OPERATIONS_OF_BN(operations, descriptor_of)                                             \
    {                                                                                              \
        .primitive = "bn", .descriptor = descriptor_of, .key_room_bytes = CT_KEY_ROOM,             \
        .one_key_size = true, .at = (operations), .n = sizeof(operations) / sizeof(operations)[0]  \
    }

extern const struct ct_operations ct_aes, ct_ghash, ct_gcm, ct_gcm_of_aes, ct_gcm_of_ghash,
    ct_qarma, ct_bn, ct_bn_words, ct_dh, ct_prime, ct_prime_lanes, ct_rsa, ct_rsa_of_ref, ct_sha256,
    ct_sha512, ct_x25519;

/* c->forgery, which differs from c->tag in one bit. */
static inline void ct_forge(struct ct_call *c)
{
    for (unsigned i = 0; i < 16; i++)
        c->forgery[i] =
            (uint8_t)(c->tag[i] ^ (i == c->forged_bit / 8 ? 1u << c->forged_bit % 8 : 0));
}

/* The member crops of a line of type ct-timing: the operation timed with secrets that are always
 * the same, and with fresh ones. */
struct counter;
void ct_time(const struct ct_operation *, struct ct_call *, uint64_t seed, size_t samples,
             const struct counter *);

#endif

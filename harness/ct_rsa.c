/* SPDX-License-Identifier: MIT */
/*
 * The operations of RSA that ct runs, by every kernel of bn. Secret are the numbers of the key but
 * n and e, randomness, what is encrypted, and what is decrypted: whether a padding by PKCS#1 v1.5
 * was right, and why one of OAEP was wrong.
 */
#include "ct.h"

#include <string.h>

#include "rsa_keys.h"
#include "taint.h"

#include "everycore/rsa_key_file.h"
#include "everycore/rsa_sha2.h"
#include "rsa/padding.h"
#include "rsa/parts.h"

#define SCRATCH_BYTES 65536

static uint8_t scratch[SCRATCH_BYTES];
static struct rsa_key_bytes chosen;
static uint8_t em[RSA_N_BYTES], ciphertext[RSA_N_BYTES];

/* One of the keys by secret bits, without a branch, so that a taint checker
 * takes all of it as secret. */
static void choose_key(const struct ct_call *c)
{
    const uint8_t *const all = (const uint8_t *)rsa_keys;
    uint8_t *const to = (uint8_t *)&chosen;
    const uint32_t index = c->secret.in[0] % RSA_KEYS;

    for (size_t i = 0; i < sizeof chosen; i++) {
        uint32_t byte = 0;
        for (uint32_t k = 0; k < RSA_KEYS; k++)
            byte |= ~evc_mask_nonzero32(k ^ index) & all[k * sizeof chosen + i];
        to[i] = (uint8_t)byte;
    }
    evc_public(chosen.n, sizeof chosen.n);
}

static bool set_up(const struct ct_call *c)
{
    const struct evc_rsa_numbers numbers = rsa_numbers(&chosen);

    return evc_rsa_set_private_in((void *)(uintptr_t)c->key, CT_KEY_ROOM, evc_bn_named(c->kernel),
                                  &numbers, 256, scratch, SCRATCH_BYTES) == EVC_OK;
}

static bool choose(struct ct_call *c)
{
    choose_key(c);
    return true;
}

static bool set(struct ct_call *c)
{
    choose_key(c);
    return set_up(c);
}

CT_CALL(set_private, set_up(c))

#define KEY ((const struct evc_rsa_private *)(const void *)c->key)
#define PUBLIC_KEY evc_rsa_public_of(KEY)

/* ---- Key files ------------------------------------------------------------------------------- */

static uint8_t pem[RSA_PEM_BYTES], room[RSA_PEM_BYTES];
static size_t pem_bytes;

/* Secret is a text whose lines and headers of DER are public. */
static bool write_pem(struct ct_call *c)
{
    choose_key(c);
    pem_bytes = rsa_put_pem(pem, &chosen);
    return true;
}

static bool read_pem(struct ct_call *c)
{
    struct evc_rsa_numbers numbers;

    (void)c;
    return evc_rsa_read_private(pem, pem_bytes, room, sizeof room, &numbers) == EVC_OK;
}

/* The bytes of the call's secrets, none of which is zero where a filling is drawn. */
static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    const struct ct_call *c = context;

    for (size_t i = 0; i < n_bytes; i++)
        out[i] = c->secret.in[64 + i] | 1;
    return 0;
}

/* A number below n, of secret bytes. */
static void draw(const struct ct_call *c, uint8_t *number, uint8_t first)
{
    for (size_t i = 0; i < RSA_N_BYTES; i++)
        number[i] = c->secret.in[i + 1];
    number[0] = first;
}

/* Makes the ciphertext of the encoded message, which is secret; the ciphertext is not. */
static bool encrypt(const struct ct_call *c)
{
    const bool good = evc_rsa_public(PUBLIC_KEY, em, ciphertext, scratch, SCRATCH_BYTES) == EVC_OK;

    evc_public(ciphertext, sizeof ciphertext);
    return good;
}

static bool set_and_encrypt(struct ct_call *c)
{
    if (!set(c))
        return false;
    draw(c, em, 1);
    return encrypt(c);
}

/* A padding that is right or not, by a secret bit. */
static bool set_and_pad_pkcs1(struct ct_call *c)
{
    if (!set(c))
        return false;
    draw(c, em, 0);
    em[1] = (uint8_t)(1 + (c->secret.in[63] & 1));
    for (size_t i = 2; i < 10; i++)
        em[i] |= 1;
    em[30] = 0;
    return encrypt(c);
}

static const struct evc_rsa_oaep oaep = {&rsa_mixing, &rsa_mixing, NULL, 0};

#define SEED_AT 1
#define DB_AT (1 + RSA_DIGEST_BYTES)
#define DB_BYTES (RSA_N_BYTES - DB_AT)

/* An encoded message by RFC 8017 section 7.1.1 that is wrong in one place or more. Secret bits say
 * in which (first byte, hash of the label, byte behind the zeros), and how many zeros there are. */
static bool set_and_pad_oaep(struct ct_call *c)
{
    static uint8_t digest[EVC_RSA_MOST_DIGEST_BYTES];
    const struct evc_rsa_piece label = {NULL, 0};
    uint8_t *const db = em + DB_AT;
    uint32_t how, zeros, is_right;

    if (!set(c) || evc_rsa_digest(&rsa_mixing, &label, 1, db) != EVC_OK)
        return false;
    how = c->secret.in[63];
    zeros = how >> 2 & 3;
    is_right = ~evc_mask_nonzero32(how & 3);
    for (size_t i = 0; i < RSA_DIGEST_BYTES; i++)
        em[SEED_AT + i] = c->secret.in[i + 1];
    em[0] = (uint8_t)(how & 1);
    db[how >> 4] ^= (uint8_t)(how >> 1 & 1);
    for (uint32_t i = RSA_DIGEST_BYTES, at = 0; i < DB_BYTES; i++, at++) {
        const uint32_t is_behind = evc_mask_nonzero32((zeros - at) >> 31);
        const uint32_t is_there = ~evc_mask_nonzero32(zeros ^ at);
        db[i] = (uint8_t)((is_there & (1 + (1 & is_right))) | (is_behind & c->secret.in[i]));
    }
    return evc_rsa_mask(&rsa_mixing, em + SEED_AT, RSA_DIGEST_BYTES, db, DB_BYTES, digest) ==
               EVC_OK &&
           evc_rsa_mask(&rsa_mixing, db, DB_BYTES, em + SEED_AT, RSA_DIGEST_BYTES, digest) ==
               EVC_OK &&
           encrypt(c);
}

static bool set_and_make_oaep(struct ct_call *c)
{
    const struct evc_random random = {fill, c};
    const bool good = set(c) && evc_rsa_encrypt_oaep(PUBLIC_KEY, &oaep, c->in, 5, &random,
                                                     ciphertext, scratch, SCRATCH_BYTES) == EVC_OK;

    evc_public(ciphertext, sizeof ciphertext);
    return good;
}

static bool private_operation(struct ct_call *c)
{
    const struct evc_random random = {fill, c};

    return evc_rsa_private(KEY, ciphertext, c->out, &random, scratch, SCRATCH_BYTES) == EVC_OK;
}

CT_CALL(public_operation, evc_rsa_public(PUBLIC_KEY, em, c->out, scratch, SCRATCH_BYTES) == EVC_OK)

static bool many(struct ct_call *c)
{
    const struct evc_random random = {fill, c};
    struct evc_rsa_operation operations[3];

    for (size_t i = 0; i < 3; i++)
        operations[i] = (struct evc_rsa_operation){
            .key = KEY, .in = ciphertext, .out = c->out + i * RSA_N_BYTES};
    return evc_rsa_private_many(operations, 3, &random, scratch, SCRATCH_BYTES) == EVC_OK;
}

static bool decrypt_pkcs1(struct ct_call *c)
{
    const struct evc_random random = {fill, c};
    size_t n_bytes;

    return evc_rsa_decrypt_pkcs1(KEY, &rsa_mixing, ciphertext, RSA_N_BYTES, &random, c->out,
                                 &n_bytes, scratch, SCRATCH_BYTES) == EVC_OK;
}

static bool decrypt_oaep(struct ct_call *c, enum evc_status expected)
{
    const struct evc_random random = {fill, c};
    size_t n_bytes;

    return evc_rsa_decrypt_oaep(KEY, &oaep, ciphertext, RSA_N_BYTES, &random, c->out, &n_bytes,
                                scratch, SCRATCH_BYTES) == expected;
}

CT_CALL(accept_oaep, decrypt_oaep(c, EVC_OK))
CT_CALL(refuse_oaep, decrypt_oaep(c, EVC_ERR_PADDING))

static bool encrypt_oaep(struct ct_call *c)
{
    const struct evc_random random = {fill, c};

    return evc_rsa_encrypt_oaep(PUBLIC_KEY, &oaep, c->in, 5, &random, c->out, scratch,
                                SCRATCH_BYTES) == EVC_OK;
}

static bool encrypt_pkcs1(struct ct_call *c)
{
    const struct evc_random random = {fill, c};

    return evc_rsa_encrypt_pkcs1(PUBLIC_KEY, c->in, 5, &random, c->out, scratch, SCRATCH_BYTES) ==
           EVC_OK;
}

static bool sign_pss(struct ct_call *c)
{
    static const uint8_t digest[RSA_DIGEST_BYTES];
    static const struct evc_rsa_pss pss = {&rsa_mixing, &rsa_mixing, 9};
    const struct evc_random random = {fill, c};

    return evc_rsa_sign_pss(KEY, &pss, digest, sizeof digest, &random, c->out, scratch,
                            SCRATCH_BYTES) == EVC_OK;
}

/* ---- With SHA-256 of this library: the mask of OAEP, and all of PSS ------------------------- */

/* A digest of 32 bytes leaves no room for PKCS#1 v1.5 and for OAEP's hash of the label in numbers
 * as small as these. */
static struct evc_rsa_hash sha256;

static bool set_sha256(struct ct_call *c)
{
    return set(c) &&
           evc_rsa_hash_sha2(&sha256, evc_sha2_named("c_words32"), EVC_SHA256) == EVC_OK;
}

static const struct evc_rsa_oaep oaep_sha256 = {&rsa_mixing, &sha256, NULL, 0};

static bool make_oaep_sha256(struct ct_call *c, uint8_t *to)
{
    const struct evc_random random = {fill, c};

    return evc_rsa_encrypt_oaep(PUBLIC_KEY, &oaep_sha256, c->in, 5, &random, to, scratch,
                                SCRATCH_BYTES) == EVC_OK;
}

static bool set_and_make_oaep_sha256(struct ct_call *c)
{
    const bool good = set_sha256(c) && make_oaep_sha256(c, ciphertext);

    evc_public(ciphertext, sizeof ciphertext);
    return good;
}

CT_CALL(encrypt_oaep_sha256, make_oaep_sha256(c, c->out))

static bool accept_oaep_sha256(struct ct_call *c)
{
    const struct evc_random random = {fill, c};
    size_t n_bytes;

    return evc_rsa_decrypt_oaep(KEY, &oaep_sha256, ciphertext, RSA_N_BYTES, &random, c->out,
                                &n_bytes, scratch, SCRATCH_BYTES) == EVC_OK;
}

static bool sign_pss_sha256(struct ct_call *c)
{
    static const uint8_t digest[32];
    static const struct evc_rsa_pss pss = {&sha256, &sha256, 6};
    const struct evc_random random = {fill, c};

    return evc_rsa_sign_pss(KEY, &pss, digest, sizeof digest, &random, c->out, scratch,
                            SCRATCH_BYTES) == EVC_OK;
}

/* The numbers of a new key, once its primes are found. */
static bool complete(struct ct_call *c)
{
    static uint8_t made[2 * RSA_N_BYTES + 5 * RSA_P_BYTES + sizeof rsa_e]; /* more than `out` has */
    const struct evc_rsa_places at = evc_rsa_places_in(made, RSA_P_BYTES);

    (void)c;
    memcpy(at.p, chosen.p, RSA_P_BYTES);
    memcpy(at.q, chosen.q, RSA_P_BYTES);
    memcpy(at.e, rsa_e, sizeof rsa_e);
    return evc_rsa_complete(&at, RSA_P_BYTES, sizeof rsa_e, scratch) == EVC_OK;
}

#define KEYS_AND_RAW_OPERATIONS                                         \
    {"rsa-set-private", 0, 0, false, choose, set_private},              \
        {"rsa-complete", 0, 0, false, choose, complete},                \
        {"rsa-read-private", 0, 0, false, write_pem, read_pem},         \
        {"rsa-public", 0, 0, false, set_and_encrypt, public_operation}, \
    {                                                                   \
        "rsa-private", 0, 0, false, set_and_encrypt, private_operation  \
    }

static const struct ct_operation operations[] = {
    KEYS_AND_RAW_OPERATIONS,
    {"rsa-private-many", 0, 0, false, set_and_encrypt, many},
    {"rsa-sign-pss", 0, 0, false, set, sign_pss},
    {"rsa-encrypt-oaep", 0, 0, false, set, encrypt_oaep},
    {"rsa-accept-oaep", 0, 0, false, set_and_make_oaep, accept_oaep},
    {"rsa-refuse-oaep", 0, 0, false, set_and_pad_oaep, refuse_oaep},
    {"rsa-sign-pss-sha256", 0, 0, false, set_sha256, sign_pss_sha256},
    {"rsa-encrypt-oaep-sha256", 0, 0, false, set_sha256, encrypt_oaep_sha256},
    {"rsa-accept-oaep-sha256", 0, 0, false, set_and_make_oaep_sha256, accept_oaep_sha256},
    {"rsa-encrypt-pkcs1", 0, 0, false, set, encrypt_pkcs1},
    {"rsa-decrypt-pkcs1", 0, 0, false, set_and_pad_pkcs1, decrypt_pkcs1},
};

/* c_ref multiplies bit by bit, so that a private operation takes 10^8 instructions. Paddings are
 * the same with any kernel. */
static const struct ct_operation operations_of_ref[] = {KEYS_AND_RAW_OPERATIONS};

static const struct evc_kernel *descriptor(const char *kernel)
{
    return strcmp(kernel, "c_ref") == 0 ? NULL : ct_bn_descriptor(kernel);
}

static const struct evc_kernel *descriptor_of_ref(const char *kernel)
{
    return strcmp(kernel, "c_ref") == 0 ? ct_bn_descriptor(kernel) : NULL;
}

const struct ct_operations ct_rsa = CT_OPERATIONS_OF_BN(operations, descriptor);
const struct ct_operations ct_rsa_of_ref =
    CT_OPERATIONS_OF_BN(operations_of_ref, descriptor_of_ref);

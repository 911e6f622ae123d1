/* SPDX-License-Identifier: MIT */
/* Calls of RSA leave nothing behind. Numbers of keys but n and e, randomness and messages are secret. */
#include "residue.h"

#include "must.h"
#include "rsa_keys.h"

#include "rsa/parts.h"

#define N_BYTES RSA_N_BYTES

static struct {
    EVC_ALIGN(64) uint8_t key[16384];
    struct rsa_key_bytes numbers;
    uint8_t random[64], in[N_BYTES], out[N_BYTES], made[400], scratch[65536];
    size_t out_bytes;
} at;
static uint64_t seed[2];
static struct random drawn;
static const struct evc_bn *kernel; /* under test */

static const struct evc_rsa_private *key(void)
{
    return (const void *)at.key;
}

/* A copy: a generator of random numbers would leave some of them on the stack by itself. */
static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    const volatile uint8_t *from = at.random; /* byte by byte, so that no vector register has them */

    (void)context;
    for (size_t i = 0; i < n_bytes; i++)
        out[i] = from[i % sizeof at.random] | 1;
    return 0;
}

static const struct evc_random randomness = {fill, NULL};
static const struct evc_rsa_oaep oaep = {&rsa_mixing, &rsa_mixing, NULL, 0};

static enum evc_status set_private(void)
{
    const struct evc_rsa_numbers numbers = rsa_numbers(&at.numbers);

    return evc_rsa_set_private_in(at.key, sizeof at.key, kernel, &numbers, 256, at.scratch, sizeof at.scratch);
}

static void prepare(unsigned version)
{
    drawn.state = seed[version];
    at.numbers = rsa_keys[version];
    random_bytes(&drawn, at.random, sizeof at.random);
    random_bytes(&drawn, at.in, N_BYTES);
    at.in[0] = 1;
    memset(at.out, 0, sizeof at.out);
    memset(at.made, 0, sizeof at.made);
    must(set_private());
}

static void set_key(void)
{
    must(set_private());
}

static void public_operation(void)
{
    must(evc_rsa_public(evc_rsa_public_of(key()), at.in, at.out, at.scratch, sizeof at.scratch));
}

static void private_operation(void)
{
    must(evc_rsa_private(key(), at.in, at.out, &randomness, at.scratch, sizeof at.scratch));
}

static void encrypt_oaep(void)
{
    must(evc_rsa_encrypt_oaep(evc_rsa_public_of(key()), &oaep, at.in, 5, &randomness, at.out, at.scratch,
                              sizeof at.scratch));
}

static void prepare_oaep(unsigned version)
{
    prepare(version);
    encrypt_oaep();
    memcpy(at.in, at.out, N_BYTES);
}

static void decrypt_oaep(void)
{
    must(evc_rsa_decrypt_oaep(key(), &oaep, at.in, N_BYTES, &randomness, at.out, &at.out_bytes, at.scratch,
                              sizeof at.scratch));
}

static void encrypt_pkcs1(void)
{
    must(evc_rsa_encrypt_pkcs1(evc_rsa_public_of(key()), at.in, 5, &randomness, at.out, at.scratch,
                               sizeof at.scratch));
}

static void decrypt_pkcs1(void)
{
    must(evc_rsa_decrypt_pkcs1(key(), &rsa_mixing, at.in, N_BYTES, &randomness, at.out, &at.out_bytes, at.scratch,
                               sizeof at.scratch));
}

static void sign_pss(void)
{
    static const uint8_t digest[RSA_DIGEST_BYTES];
    static const struct evc_rsa_pss pss = {&rsa_mixing, &rsa_mixing, 9};

    must(evc_rsa_sign_pss(key(), &pss, digest, sizeof digest, &randomness, at.out, at.scratch, sizeof at.scratch));
}

static void look(struct check *c, const char *operation, void (*prepare_it)(unsigned), void (*make)(void))
{
    struct residue_call call = {.operation = operation, .prepare = prepare_it, .make = make};

    call.secrets[0] = (struct residue_secret){"number of the key", at.numbers.d, sizeof at.numbers - N_BYTES};
    call.secrets[1] = (struct residue_secret){"randomness", at.random, sizeof at.random};
    call.secrets[2] = (struct residue_secret){"input", at.in, sizeof at.in};
    call.secrets[3] = (struct residue_secret){"result", at.out, sizeof at.out};
    for (int i = 0; i < (c->quick ? 1 : 4); i++) {
        seed[0] = random_next(&c->random);
        seed[1] = random_next(&c->random);
        residue_look(c, &call);
    }
}

enum result rsa_leaves_nothing_behind(struct check *c)
{
    if (residue_unavailable())
        return check_skip(c, residue_unavailable());
    kernel = evc_bn_named(c->line->name);
    residue_begin();
    look(c, "set_private", prepare, set_key);
    look(c, "public", prepare, public_operation);
    look(c, "private", prepare, private_operation);
    look(c, "sign_pss", prepare, sign_pss);
    look(c, "encrypt_oaep", prepare, encrypt_oaep);
    look(c, "decrypt_oaep", prepare_oaep, decrypt_oaep);
    look(c, "encrypt_pkcs1", prepare, encrypt_pkcs1);
    look(c, "decrypt_pkcs1", prepare, decrypt_pkcs1);
    return residue_verdict(c);
}

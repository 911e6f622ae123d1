/* SPDX-License-Identifier: MIT */
/* A peer whose faults are known: everycore itself, and what WRONG in the environment says is wrong
 * with it. */
#include "../../../catalog/peers/peer.h"

#include <stdlib.h>
#include <string.h>

#include "everycore/bn.h"
#include "everycore/gcm.h"
#include "everycore/modes.h"
#include "everycore/pbkdf2.h"
#include "everycore/prime.h"
#include "everycore/sha2.h"

struct context {
    union evc_aes_key aes;
    union evc_gcm_key gcm;
    uint8_t numbers[6 * 1024], scratch[65536];
    EVC_ALIGN(16) uint8_t modulus[4096];
};

static bool wrong(const char *how)
{
    const char *set = getenv("WRONG");

    return set && strcmp(set, how) == 0;
}

static const char *version(void)
{
    return "1.0";
}

static const char *hardware(void)
{
    return getenv("PEER_ON_PURPOSE");
}

static void damage(const struct peer_message *m)
{
    if (wrong("output") || (wrong("long messages") && m->len_bytes > 1000))
        m->out[m->len_bytes - 1] ^= 0x40;
}

static bool run_ctr(void *context, const struct peer_message *m)
{
    uint8_t counter[16];

    memcpy(counter, m->iv, 16);
    if (evc_aes_ctr(&((struct context *)context)->aes, counter, m->in, m->out, m->len_bytes) !=
        EVC_OK)
        return false;
    damage(m);
    return true;
}

static bool run_seal(void *context, const struct peer_message *m)
{
    const union evc_gcm_key *key = &((struct context *)context)->gcm;

    if (evc_gcm_seal(key, m->iv, 12, m->aad, m->aad_bytes, m->in, m->out, m->len_bytes, m->tag,
                     16) != EVC_OK)
        return false;
    m->tag[3] ^= wrong("tag");
    return !wrong("refusal");
}

static bool run_open(void *context, const struct peer_message *m)
{
    const union evc_gcm_key *key = &((struct context *)context)->gcm;
    enum evc_status status =
        evc_gcm_open(key, m->iv, 12, m->aad, m->aad_bytes, m->in, m->out, m->len_bytes, m->tag, 16);

    return status == EVC_OK || wrong("any tag");
}

/* n, a and b one behind the other; of the chain of products only the first one is there. */
static bool run_product(void *vcontext, const struct peer_message *m)
{
    struct context *c = vcontext;
    uint8_t *const n = c->numbers, *const a = n + m->len_bytes, *const b = a + m->len_bytes;

    if (!m->out)
        return true;
    if (evc_bn_set_modulus_in(c->modulus, sizeof c->modulus, evc_bn_named("c_limb32"), n,
                              m->len_bytes) != EVC_OK ||
        evc_bn_mod_mul((const void *)c->modulus, a, wrong("factor") ? a : b, m->out, c->scratch,
                       sizeof c->scratch) != EVC_OK)
        return false;
    damage(m);
    return !wrong("refusal");
}

/* n, d and a, then p, of half of the length. */
static bool run_check(void *vcontext, const struct peer_message *m)
{
    struct context *c = vcontext;
    const uint8_t *const p = c->numbers + 3 * m->len_bytes;
    const enum evc_status status = evc_prime_test_public(
        evc_bn_named("c_limb32"), p, m->len_bytes / 2, c->scratch, sizeof c->scratch);

    if (!m->out)
        return true;
    memset(m->out, 0, m->len_bytes);
    m->out[m->len_bytes - 1] = status == EVC_OK || wrong("any prime");
    damage(m);
    return status == EVC_OK || status == EVC_ERR_COMPOSITE;
}

static bool run_digest(void *context, const struct peer_message *m)
{
    (void)context;
    if (evc_sha2_digest(evc_sha2_named("c_ref"), EVC_SHA256, m->in, m->len_bytes, m->out) != EVC_OK)
        return false;
    m->out[31] ^= wrong("output");
    return true;
}

/* The last message of a call may be left out. */
static bool run_many(void *context, const struct peer_message *m)
{
    bool good = true;

    for (int i = 0; i < PEER_MANY - wrong("last message"); i++)
        good = run_digest(context, &m[i]) && good;
    return good;
}

/* numbers: the length of the password, and the password. */
static bool run_pbkdf2(void *context, const struct peer_message *m)
{
    const uint8_t *const password = ((struct context *)context)->numbers;
    struct evc_hmac_key key;

    return evc_hmac_set_key(&key, evc_sha2_named("c_ref"), EVC_SHA512, password + 1,
                            password[0]) == EVC_OK &&
           evc_pbkdf2(&key, m->aad, m->aad_bytes, m->n_iterations + wrong("iterations"), m->out,
                      64) == EVC_OK;
}

static void close_context(void *context)
{
    if (!wrong("one key"))
        free(context);
}

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    const struct evc_aes *kernel = evc_aes_named("c_ref");
    static struct context one;
    static unsigned contexts;
    struct context *context = wrong("one key") ? &one : malloc(sizeof *context); /* aligned to 16 */

    if (wrong("few keys") && contexts++ == 50)
        return NULL;
    *run = strcmp(mode, "ctr") == 0        ? run_ctr
           : strcmp(mode, "gcm-seal") == 0 ? run_seal
           : strcmp(mode, "gcm-open") == 0 ? run_open
           : strcmp(mode, "mont-mul") == 0 ? run_product
           : strcmp(mode, "prime-check") == 0 ? run_check
           : strcmp(mode, "sha256") == 0      ? run_digest
           : strcmp(mode, "sha256-many") == 0 ? run_many
           : strcmp(mode, "pbkdf2-sha512") == 0 ? run_pbkdf2
                                                : NULL;
    if (!context || !*run) {
        close_context(context);
        return NULL;
    }
    if (*run == run_digest || *run == run_many)
        return context;
    if (*run == run_pbkdf2) {
        context->numbers[0] = (uint8_t)(key_bits / 8);
        memcpy(context->numbers + 1, key, key_bits / 8);
        return context;
    }
    if (*run == run_product || *run == run_check) {
        memcpy(context->numbers, key, (*run == run_check ? 5 : 3) * key_bits / 8);
        return context;
    }
    if (evc_aes_set_key(&context->aes, kernel, key, key_bits) == EVC_OK &&
        evc_gcm_set_pair(&context->gcm, kernel, evc_ghash_named("c_ref"), key, key_bits) == EVC_OK)
        return context;
    close_context(context);
    return NULL;
}

const struct peer evc_peer = {.name = "on-purpose",
                              .version = version,
                              .hardware = hardware,
                              .open = open_context,
                              .close = close_context};

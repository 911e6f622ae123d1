/* SPDX-License-Identifier: MIT */
/* Residue of QARMA. Keys and blocks are secret, tweaks are not. */
#include "residue.h"

#include "must.h"

#include <stdio.h>
#include <string.h>

#include "everycore/qarma.h"

#define MANY 40

/* Whether words of 64 bits are passed on the stack. */
#if (EVC_X86 && !EVC_X86_64) || defined(__m68k__)
#define ARGUMENTS_ON_STACK 1
#else
#define ARGUMENTS_ON_STACK 0
#endif

static const struct evc_qarma *kernel; /* under test */

/* By version. The results of encryption are the same under both, and so is what is decrypted. */
static struct version {
    union evc_qarma_key key;
    uint64_t w0, k0, block[MANY];
} versions[2];

static uint64_t tweak[MANY], result[MANY]; /* public */

static struct version at;
static uint64_t out[MANY];
static uint64_t returned[2]; /* by a call, and with its halves exchanged, as pairs
                              * of registers are saved */
static unsigned sigma, rounds;
static size_t n_blocks;

static void prepare(unsigned version)
{
    at = versions[version];
    memset(out, 0, sizeof out);
}

static void set_key(void)
{
    must(evc_qarma_set_key(&at.key, kernel, at.w0, at.k0, sigma, rounds));
}

/* Called as the functions of the interface are: so their caller's arguments end
 * above its return address. */
static uint64_t see_arguments(const union evc_qarma_key *key, uint64_t block, uint64_t word)
{
    (void)key, (void)block, (void)word;
#if ARGUMENTS_ON_STACK
    residue_arguments_end_at((uintptr_t)__builtin_dwarf_cfa());
#endif
    return 0;
}

typedef uint64_t one_block(const union evc_qarma_key *, uint64_t, uint64_t);

/* One place of the code makes both calls, so that their arguments lie at the same addresses. */
static void call_twice(one_block *function, const uint64_t *block)
{
    one_block *volatile functions[] = {see_arguments, function};

    for (size_t i = 0; i < 2; i++)
        out[0] = functions[i](&at.key, *block, tweak[0]);
    returned[0] = out[0];
    returned[1] = out[0] << 32 | out[0] >> 32;
}

static void encrypt(void)
{
    call_twice(evc_qarma_encrypt, at.block);
}

static void decrypt(void)
{
    call_twice(evc_qarma_decrypt, result);
}

static void encrypt_many(void)
{
    evc_qarma_encrypt_many(&at.key, at.block, tweak, out, n_blocks);
}

static void look(struct check *c, const char *operation, void (*make)(void))
{
    struct residue_call call = {.operation = operation, .prepare = prepare, .make = make};

    snprintf(call.sizes, sizeof call.sizes, "sigma %u, %u rounds, %zu blocks", sigma, rounds,
             n_blocks);
    call.secrets[0] = (struct residue_secret){"user key", (const uint8_t *)&at.w0, 16};
    call.secrets[1] = (struct residue_secret){"block", (const uint8_t *)at.block, 8 * n_blocks};
    call.secrets[2] = (struct residue_secret){
        "kernel's key", at.key.bytes + sizeof(struct evc_qarma_head),
        evc_qarma_kernel(kernel)->key_bytes - sizeof(struct evc_qarma_head)};
    if (make == decrypt) { /* a word that the call returns is the caller's */
        call.given = (const uint8_t *)returned;
        call.given_bytes = sizeof returned;
    }
    /* the caller passes its key by value, and keeps it in registers */
    if (make == set_key && sizeof(size_t) == 4) {
        call.given = (const uint8_t *)&at.w0;
        call.given_bytes = 16;
    }
    residue_look(c, &call);
}

static void know_versions(struct check *c)
{
    random_bytes(&c->random, (uint8_t *)tweak, sizeof tweak);
    random_bytes(&c->random, (uint8_t *)result, sizeof result);
    for (unsigned v = 0; v < 2; v++) {
        struct version *k = &versions[v];
        memset(&k->key, 0, sizeof k->key);
        k->w0 = random_next(&c->random);
        k->k0 = random_next(&c->random);
        must(evc_qarma_set_key(&k->key, evc_qarma_named("c_ref"), k->w0, k->k0, sigma, rounds));
        for (size_t i = 0; i < MANY; i++)
            k->block[i] = evc_qarma_decrypt(&k->key, result[i], tweak[i]);
        memset(&k->key, 0, sizeof k->key);
        must(evc_qarma_set_key(&k->key, kernel, k->w0, k->k0, sigma, rounds));
    }
}

enum result qarma_leaves_nothing_behind(struct check *c)
{
    static const unsigned variants[][2] = {{2, 5}, {1, 3}, {0, 8}, {2, 1}, {0, 4}, {1, 6}};

    kernel = evc_qarma_named(c->line->name);
    if (residue_unavailable())
        return check_skip(c, residue_unavailable());
    residue_begin();
    for (size_t i = 0; i < (c->quick ? 3 : sizeof variants / sizeof variants[0]); i++) {
        sigma = variants[i][0];
        rounds = variants[i][1];
        know_versions(c);
        n_blocks = 1;
        look(c, "set_key", set_key);
        look(c, "encrypt", encrypt);
        look(c, "decrypt", decrypt);
        for (n_blocks = 1; n_blocks <= MANY; n_blocks += c->quick && n_blocks > 9 ? 5 : 1)
            look(c, "encrypt_many", encrypt_many);
    }
    return residue_verdict(c);
}

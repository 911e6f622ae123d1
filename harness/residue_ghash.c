/* SPDX-License-Identifier: MIT */
/* Residue of GHASH. H, the hash and the hashed data are secret, as a hash of
 * known data gives H away. */
#include "residue.h"

#include "must.h"

#include <stdio.h>
#include <string.h>

#include "everycore/ghash.h"

#define MAX_KEY 8192 /* bytes; kernels chosen by name may have keys beyond the union */
#define MAX_BYTES (16 * 200)

static const struct evc_ghash *kernel; /* under test */

/* By version. */
static struct version {
    EVC_ALIGN(64) uint8_t key[MAX_KEY];
    uint8_t h[16], y[16], in[MAX_BYTES];
} versions[2];

static struct version at;
static size_t len_bytes;

static void prepare(unsigned version)
{
    at = versions[version];
}

static void prepare_h(unsigned version)
{
    at = versions[version];
    memset(at.key, 0, sizeof at.key);
}

static void set_key(void)
{
    must(evc_ghash_set_key_in(at.key, sizeof at.key, kernel, at.h));
}

static void blocks(void)
{
    evc_ghash_blocks(at.key, at.y, at.in, len_bytes / 16);
}

static void reversed_blocks(void)
{
    evc_ghash_reversed_blocks(at.key, at.y, at.in, len_bytes / 16);
}

static void padded(void)
{
    evc_ghash_padded(at.key, at.y, at.in, len_bytes);
}

static void look(struct check *c, const char *operation, void (*make)(void))
{
    struct residue_call call = {
        .operation = operation, .prepare = make == set_key ? prepare_h : prepare, .make = make};

    snprintf(call.sizes, sizeof call.sizes, "%zu bytes", len_bytes);
    call.secrets[0] = (struct residue_secret){"hash key", at.h, 16};
    call.secrets[1] = (struct residue_secret){"hash", at.y, 16};
    call.secrets[2] = (struct residue_secret){"data", at.in, len_bytes};
    call.secrets[3] = (struct residue_secret){
        "kernel's key", at.key + sizeof(struct evc_ghash_head),
        evc_ghash_kernel(kernel)->key_bytes - sizeof(struct evc_ghash_head)};
    residue_look(c, &call);
}

static void know_versions(struct check *c)
{
    for (unsigned v = 0; v < 2; v++) {
        memset(versions[v].key, 0, sizeof versions[v].key);
        random_bytes(&c->random, versions[v].h, 16);
        random_bytes(&c->random, versions[v].y, 16);
        random_bytes(&c->random, versions[v].in, sizeof versions[v].in);
        must(evc_ghash_set_key_in(versions[v].key, sizeof versions[v].key, kernel, versions[v].h));
    }
}

enum result ghash_leaves_nothing_behind(struct check *c)
{
    kernel = evc_ghash_named(c->line->name);
    const size_t batch = evc_ghash_kernel(kernel)->batch,
                 most = 2 * batch + 3 < 10 ? 10 : 2 * batch + 3;

    if (residue_unavailable())
        return check_skip(c, residue_unavailable());
    residue_begin();
    for (int turn = 0; turn < (c->quick ? 1 : 3); turn++) {
        know_versions(c);
        len_bytes = 0;
        look(c, "set_key", set_key);
        for (size_t n = 1; n <= most; n++) {
            if (c->quick && n > 10 && (n + 1) % 8 > 2)
                continue;
            len_bytes = 16 * n;
            look(c, "blocks", blocks);
            look(c, "reversed_blocks", reversed_blocks);
            len_bytes = 16 * n - n * 7 % 16;
            look(c, "padded", padded);
        }
    }
    return residue_verdict(c);
}

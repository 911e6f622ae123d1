/* SPDX-License-Identifier: MIT */
/* Residue of X25519. Secrets and results are secret, also when the caller has them. */
#include "residue.h"

#include "must.h"

#include "everycore/x25519.h"

static const struct evc_x25519 *kernel; /* under test */

/* By version. */
static struct version {
    uint8_t secret[EVC_X25519_BYTES], theirs[EVC_X25519_BYTES], out[EVC_X25519_BYTES];
} versions[2];

static struct version at;

static void prepare(unsigned version)
{
    at = versions[version];
}

static void make_public(void)
{
    must(evc_x25519_public(kernel, at.secret, at.out));
}

static void share(void)
{
    must(evc_x25519_shared(kernel, at.secret, at.theirs, at.out));
}

static void look(struct check *c, const char *operation, void (*make)(void))
{
    struct residue_call call = {.operation = operation,
                                .prepare = prepare,
                                .make = make};

    call.secrets[0] = (struct residue_secret){"secret", at.secret, sizeof at.secret};
    call.secrets[1] = (struct residue_secret){"result", at.out, sizeof at.out};
    residue_look(c, &call);
}

enum result x25519_leaves_nothing_behind(struct check *c)
{
    kernel = evc_x25519_named(c->line->name);
    if (residue_unavailable())
        return check_skip(c, residue_unavailable());
    residue_begin();
    for (unsigned v = 0; v < 2; v++) {
        random_bytes(&c->random, versions[v].secret, sizeof versions[v].secret);
        random_bytes(&c->random, versions[v].theirs, sizeof versions[v].theirs);
    }
    look(c, "public", make_public);
    look(c, "shared", share);
    return residue_verdict(c);
}

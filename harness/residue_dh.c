/* SPDX-License-Identifier: MIT */
/* Calls of Diffie-Hellman leave nothing behind. Secrets, and what is shared, are secret. */
#include "residue.h"

#include "must.h"

#include <string.h>

#include "everycore/dh.h"

#define P_BYTES 40 /* no prime: nothing here asks for one */

static struct {
    EVC_ALIGN(64) uint8_t group[8192], table[16384];
    uint8_t p[P_BYTES], x[P_BYTES], peer[P_BYTES], out[P_BYTES], scratch[32768];
} at;
static uint64_t seed[2];
static struct random drawn;

static const struct evc_dh_group *group(void)
{
    return (const void *)at.group;
}

/* A copy: a generator of random numbers would leave some of them on the stack by itself. */
static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    const volatile uint8_t *from = at.x; /* byte by byte, so that no vector register has them */

    (void)context;
    for (size_t i = 0; i < n_bytes; i++)
        out[i] = from[i];
    return 0;
}

static void prepare(unsigned version)
{
    drawn.state = seed[version];
    random_bytes(&drawn, at.x, group()->secret_bytes);
    memset(at.out, 0, sizeof at.out);
}

static void make_secret(void)
{
    static const struct evc_random random = {fill, NULL};

    must(evc_dh_make_secret(group(), &random, at.out));
}

static void public_value(void)
{
    must(evc_dh_public(group(), at.x, at.out, at.scratch, sizeof at.scratch));
}

static void public_by_table(void)
{
    must(evc_dh_public_by_table(group(), (const void *)at.table, at.x, at.out, at.scratch,
                                sizeof at.scratch));
}

static void shared(void)
{
    must(evc_dh_shared(group(), at.x, at.peer, P_BYTES, 0, at.out, at.scratch, sizeof at.scratch));
}

static void look(struct check *c, const char *operation, void (*make)(void))
{
    struct residue_call call = {.operation = operation, .prepare = prepare, .make = make};

    call.secrets[0] = (struct residue_secret){"secret", at.x, sizeof at.x};
    call.secrets[1] = (struct residue_secret){"result", at.out, sizeof at.out};
    for (int i = 0; i < (c->quick ? 2 : 12); i++) {
        seed[0] = random_next(&c->random);
        seed[1] = random_next(&c->random);
        residue_look(c, &call);
    }
}

enum result dh_leaves_nothing_behind(struct check *c)
{
    static const uint8_t two[1] = {2};
    const struct evc_dh_params params = {NULL, at.p, NULL, two, P_BYTES, 0, 1};

    if (residue_unavailable())
        return check_skip(c, residue_unavailable());
    random_bytes(&c->random, at.p, P_BYTES);
    random_bytes(&c->random, at.peer, P_BYTES);
    at.p[0] |= 0x80;
    at.p[P_BYTES - 1] |= 1;
    at.peer[0] &= 0x7f;
    must(evc_dh_set_group_in(at.group, sizeof at.group, evc_bn_named(c->line->name), &params,
                             8 * P_BYTES));
    must(evc_dh_set_table_in(at.table, sizeof at.table, group(), 2, at.scratch, sizeof at.scratch));
    residue_begin();
    look(c, "make_secret", make_secret);
    look(c, "public", public_value);
    look(c, "public_by_table", public_by_table);
    look(c, "shared", shared);
    return residue_verdict(c);
}

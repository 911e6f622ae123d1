/* SPDX-License-Identifier: MIT */
/*
 * ct FUNCTION KEY_BITS SECRET,SECRET... BYTES...: calls with keys and texts drawn from each secret
 * in turn, of all lengths, and nothing else unlike. Regions for a tracer: of every call one that
 * sets up its key, then one that is the call.
 *
 * Secret are keys and schedules, texts, tags, and IVs but the counter of CTR. Under valgrind they
 * are undefined in the regions, and "region key|call ERRORS" says what memcheck counted; its report
 * has "ct: key|call" before the errors of a region and "ct: end" behind. "judges": the function
 * compares the tag itself. "blind": memcheck sees no branch on a secret.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aes/fips197_key.h"
#include "taint.h"
#include "verbs.h"

#define MAX_LENGTHS 8
#define N_PARTS 2

/* ---- What is secret -------------------------------------------------------------------------- */

#define HIDE(object) evc_secret(&(object), sizeof(object))

static void hide(struct call *call)
{
    struct material *m = &call->material;
    struct evc_aes_fips197_key *keys[] = {(void *)&m->aes, (void *)(m->xts.keys + m->xts.tweak_at)};

    HIDE(m->user_key);
    HIDE(m->tweak_key);
    HIDE(m->h);
    for (unsigned i = 0; i < 2; i++) {
        HIDE(keys[i]->enc);
        HIDE(keys[i]->dec);
    }
    HIDE(call->right_tag);
    if (call->function->mode != MODE_ctr)
        HIDE(call->iv);
    evc_secret(call->plain, call->n_bytes);
    evc_secret(call->cipher, call->n_out);
}

/* All that the driver looks at, and what adapters keep. */
static void show(struct call *call)
{
    evc_public(&call->material, sizeof call->material);
    evc_public(call->right_tag, 16);
    evc_public(call->tag, 16);
    evc_public(call->iv, 16);
    evc_public(call->plain, call->n_bytes);
    evc_public(call->cipher, call->n_out);
    evc_public(call->out, call->n_out);
    evc_public(call->job.own, SUBJECT_OWN_BYTES);
    evc_public(call->job.own2, SUBJECT_OWN_BYTES);
    evc_public(&call->job.opened, sizeof call->job.opened);
}

/* ---- Regions --------------------------------------------------------------------------------- */

struct region {
    const char *name;
    void (*run)(struct call *call);
};
static const struct region parts[N_PARTS] = {{"key", call_key}, {"call", call_run}};

SUBJECT_GLUE static unsigned errors_in(const struct region *part, struct call *call)
{
    unsigned before = taint_errors();

    region_begin();
    part->run(call);
    region_end();
    return taint_errors() - before;
}

static bool look(struct call *call, unsigned secret)
{
    unsigned errors[N_PARTS];

    call_draw(call, secret);
    hide(call);
    for (unsigned i = 0; i < N_PARTS; i++) {
        taint_say("ct: %s\n", parts[i].name);
        errors[i] = errors_in(&parts[i], call);
        taint_say("ct: end\n");
    }
    show(call);
    for (unsigned i = 0; taint_watches() && i < N_PARTS; i++)
        printf("region %s %u\n", parts[i].name, errors[i]);

    const char *wrong = call_wrong(call);
    if (wrong)
        printf("%s: %s\n", call_title(call), wrong);
    return !wrong;
}

/* Tables that are made once are made here. */
static void warm_up(struct call *call)
{
    call_draw(call, USUAL_SECRET);
    call_key(call);
    call_run(call);
}

int verb_ct(const struct function *function, int n_words, char **words)
{
    static struct call calls[MAX_LENGTHS];
    int n = n_words - 2;
    bool right = true;

    if (n < 1 || n > MAX_LENGTHS) {
        fprintf(stderr, "1 to %d lengths\n", MAX_LENGTHS);
        return 2;
    }
    for (int i = 0; i < n; i++) {
        call_make(&calls[i], function, (unsigned)atoi(words[0]), (size_t)atol(words[2 + i]));
        warm_up(&calls[i]);
    }
    if (taint_watches() && !taint_works()) {
        puts("blind");
        return 0;
    }
    if (calls[0].job.opened)
        puts("judges");
    for (char *at = words[1], *end; *at; at = *end == ',' ? end + 1 : end) {
        unsigned secret = (unsigned)strtoul(at, &end, 10);
        if (end == at) {
            fprintf(stderr, "not a list of secrets: %s\n", words[1]);
            return 2;
        }
        for (int i = 0; i < n; i++)
            right &= look(&calls[i], secret);
    }
    return right ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * The modes of SHA-2 for bench: whole messages in one call, HMAC with a key that is set, and many
 * of both in one call. PBKDF2, whose cost is that of its iterations: there, "bytes"
 * are their number, which is always the same, and each output has the length of a digest.
 */
#include "bench.h"

#include <string.h>

#include "everycore/pbkdf2.h"

#include "bench_slots.h"
#include "must.h"
#include "random.h"

#define KEY_BYTES 16
#define SALT_BYTES 16
#define SCRATCH_BYTES 65536

struct work {
    const struct evc_sha2 *kernel;
    enum evc_sha2_hash hash;
    size_t len_bytes, n_messages, digest_bytes, scratch_bytes;
    struct slots slots;
    struct evc_hmac_key key;
    struct evc_sha2_message hashed[MAX_MESSAGES];
    struct evc_hmac_message tagged[MAX_MESSAGES];
    struct evc_pbkdf2_job jobs[MAX_MESSAGES];
    uint8_t digests[MAX_MESSAGES][EVC_SHA2_MOST_DIGEST_BYTES];
    EVC_ALIGN(64) uint8_t scratch[SCRATCH_BYTES]; /* scratch_bytes are given, for calls wipe them */
};

LOOPS(digest, must(evc_sha2_digest(w->kernel, w->hash, s->in, w->len_bytes, w->digests[0]));)
LOOPS(hmac, must(evc_hmac(&w->key, s->in, w->len_bytes, w->digests[0], w->digest_bytes));)
/* A password is used once: its key is made in the call. */
LOOPS(pbkdf2, must(evc_hmac_set_key(&w->key, w->kernel, w->hash, s->in, KEY_BYTES));
      must(evc_pbkdf2(&w->key, s->in, SALT_BYTES, BENCH_ITERATIONS, w->digests[0],
                      w->digest_bytes));)
BENCH_LOOPS(digest_many, must(evc_sha2_many(w->kernel, w->hash, w->hashed, w->n_messages,
                                            w->scratch, w->scratch_bytes));)
BENCH_LOOPS(hmac_many,
            must(evc_hmac_many(w->tagged, w->n_messages, w->scratch, w->scratch_bytes));)
BENCH_LOOPS(pbkdf2_many, must(evc_pbkdf2_many(w->jobs, w->n_messages, BENCH_ITERATIONS, w->scratch,
                                              w->scratch_bytes));)

enum {
    MANY = 1,   /* a call is of many messages */
    PBKDF2 = 2, /* "bytes" are iterations */
};

static const struct {
    const char *name;
    enum evc_sha2_hash hash;
    unsigned flags;
    bench_loop *streamed, *fenced;
} modes[] = {
#define MODE(text, hash, loop, flags) {text, hash, flags, loop, loop##_fenced}
    MODE("sha256", EVC_SHA256, digest, 0),
    MODE("sha512", EVC_SHA512, digest, 0),
    MODE("hmac-sha256", EVC_SHA256, hmac, 0),
    MODE("hmac-sha512", EVC_SHA512, hmac, 0),
    MODE("sha256-many", EVC_SHA256, digest_many, MANY),
    MODE("sha512-many", EVC_SHA512, digest_many, MANY),
    MODE("hmac-sha256-many", EVC_SHA256, hmac_many, MANY),
    MODE("hmac-sha512-many", EVC_SHA512, hmac_many, MANY),
    MODE("pbkdf2-sha256", EVC_SHA256, pbkdf2, PBKDF2),
    MODE("pbkdf2-sha512", EVC_SHA512, pbkdf2, PBKDF2),
    MODE("pbkdf2-sha256-many", EVC_SHA256, pbkdf2_many, MANY | PBKDF2),
    MODE("pbkdf2-sha512-many", EVC_SHA512, pbkdf2_many, MANY | PBKDF2),
#undef MODE
};

static const char *mode_name(size_t mode)
{
    return mode < sizeof modes / sizeof modes[0] ? modes[mode].name : NULL;
}

static bool is_many(size_t mode)
{
    return (modes[mode].flags & MANY) != 0;
}

static bool has_mode(size_t mode, const char *kernel)
{
    const struct evc_sha2 *sha2 = evc_sha2_named(kernel);

    return modes[mode].hash == EVC_SHA256 ? sha2->blocks256 != NULL : sha2->blocks512 != NULL;
}

static size_t length_used(size_t mode, const struct bench_setup *setup)
{
    return modes[mode].flags & PBKDF2 ? BENCH_ITERATIONS : setup->len_bytes;
}

static bench_loop *loop(size_t mode, bool fenced)
{
    return fenced ? modes[mode].fenced : modes[mode].streamed;
}

static void get_messages(struct work *w)
{
    for (size_t i = 0; i < w->n_messages; i++) {
        const uint8_t *const in = w->slots.in + i * w->slots.stride;
        uint8_t *const out = w->digests[i];
        w->hashed[i] =
            (struct evc_sha2_message){.in = in, .len_bytes = w->len_bytes, .digest = out};
        w->tagged[i] = (struct evc_hmac_message){.key = &w->key,
                                                 .in = in,
                                                 .len_bytes = w->len_bytes,
                                                 .tag = out,
                                                 .tag_bytes = w->digest_bytes};
        w->jobs[i] = (struct evc_pbkdf2_job){.password = &w->key,
                                             .salt = in,
                                             .salt_bytes = SALT_BYTES,
                                             .out = out,
                                             .out_bytes = w->digest_bytes};
    }
}

static void *prepare(size_t mode, const struct bench_setup *setup, const char **with)
{
    static struct work work;
    struct work *const w = &work;
    struct random r = {setup->seed};
    uint8_t user_key[KEY_BYTES];

    *with = NULL;
    memset(w, 0, sizeof *w);
    w->kernel = evc_sha2_named(setup->kernel);
    w->hash = modes[mode].hash;
    w->len_bytes = setup->len_bytes;
    w->n_messages = setup->messages;
    w->digest_bytes = evc_sha2_digest_bytes(w->hash);
    random_bytes(&r, user_key, sizeof user_key);
    must(evc_hmac_set_key(&w->key, w->kernel, w->hash, user_key, sizeof user_key));
    w->scratch_bytes = modes[mode].flags & PBKDF2 ? evc_pbkdf2_many_scratch_bytes(w->kernel)
                                                  : evc_sha2_many_scratch_bytes(w->kernel);
    if (w->scratch_bytes > sizeof w->scratch || !slots_make(&w->slots, setup, &r))
        return NULL;
    get_messages(w);
    return w;
}

static uint64_t result(size_t mode, void *vwork)
{
    struct work *const w = vwork;

    modes[mode].streamed(w, 1);
    return slots_hash(SLOTS_HASH, w->digests[0], w->n_messages * sizeof w->digests[0]);
}

const struct bench_primitive bench_sha2 = {
    .name = "sha2",
    .reference = "c_ref",
    .key_bits = 128,
    .mode_name = mode_name,
    .is_many = is_many,
    .length_used = length_used,
    .prepare = prepare,
    .result = result,
    .loop = loop,
    .has_mode = has_mode,
};

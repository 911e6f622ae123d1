/* SPDX-License-Identifier: MIT */
/*
 * The modes of GCM for bench: whole messages with a nonce of 12 bytes, 13 bytes of associated data
 * and a tag of 16, one at a time or many in a call; and key set-up.
 */
#include "bench.h"

#include "bench_slots.h"
#include "gcm_kernels.h"

struct work {
    union evc_gcm_key key, made; /* made: by the mode that times key set-up */
    struct gcm_kernel kernel;
    unsigned key_bits;
    size_t len_bytes, n_messages, aad_bytes;
    struct slots slots;
    struct evc_gcm_msg messages[MAX_MESSAGES]; /* of the modes of many messages */
    uint8_t ivs[MAX_MESSAGES][NONCE_BYTES], tags[MAX_MESSAGES][16];
    uint8_t user_key[32], aad[AAD_BYTES], tag[16];
    unsigned failures; /* statuses that are not EVC_OK, by bits */
};

LOOPS(seal, MUST(evc_gcm_seal(&w->key, s->iv, NONCE_BYTES, w->aad, w->aad_bytes, s->in, s->out,
                              w->len_bytes, w->tag, 16)))
LOOPS(open, MUST(evc_gcm_open(&w->key, s->iv, NONCE_BYTES, w->aad, w->aad_bytes, s->in, s->out,
                              w->len_bytes, s->tag, 16)))
LOOPS(seal_many, MUST(evc_gcm_seal_many(&w->key, w->messages, w->n_messages)))
LOOPS(open_many, MUST(evc_gcm_open_many(&w->key, w->messages, w->n_messages)))
LOOPS(setkey, MUST(gcm_set_key(&w->kernel, &w->made, w->user_key, w->key_bits)))

enum {
    MANY = 1,  /* a call is of many messages */
    KEY = 2,   /* no message: "bytes" is the length of the key */
    OPENS = 4, /* the messages are sealed beforehand; not in place, for a message opens once */
};

static const struct mode {
    const char *name;
    bench_loop *streamed, *fenced;
    unsigned flags;
} modes[] = {
#define MODE(text, loop, flags) {text, loop, loop##_fenced, flags}
    MODE("gcm-seal", seal, 0),
    MODE("gcm-open", open, OPENS),
    MODE("gcm-seal-many", seal_many, MANY),
    MODE("gcm-open-many", open_many, MANY | OPENS),
    MODE("setkey", setkey, KEY),
#undef MODE
};
#define N_MODES (sizeof modes / sizeof modes[0])

static const char *mode_name(size_t mode)
{
    return mode < N_MODES ? modes[mode].name : NULL;
}

static bool is_many(size_t mode)
{
    return (modes[mode].flags & MANY) != 0;
}

static size_t length_used(size_t mode, const struct bench_setup *setup)
{
    if (modes[mode].flags & KEY)
        return setup->key_bits / 8;
    return modes[mode].flags & OPENS && setup->in_place ? 0 : setup->len_bytes;
}

static bench_loop *loop(size_t mode, bool fenced)
{
    return fenced ? modes[mode].fenced : modes[mode].streamed;
}

static void get_messages(struct work *w, bool in_place, struct random *r)
{
    random_bytes(r, w->ivs[0], sizeof w->ivs);
    for (size_t i = 0; i < w->n_messages; i++) {
        const size_t at = i * w->slots.stride;
        w->messages[i] = (struct evc_gcm_msg){.iv = w->ivs[i],
                                              .aad = w->aad,
                                              .in = w->slots.in + at,
                                              .out = (in_place ? w->slots.in : w->slots.out) + at,
                                              .tag = w->tags[i],
                                              .iv_bytes = NONCE_BYTES,
                                              .aad_bytes = w->aad_bytes,
                                              .len_bytes = w->len_bytes,
                                              .tag_bytes = 16};
    }
}

/* Each message becomes one that opens. */
static void seal_messages(struct work *w, bool many)
{
    for (size_t i = 0; i < (many ? w->n_messages : w->slots.mask + 1); i++) {
        uint8_t *text = w->slots.in + i * w->slots.stride;
        struct slot *s = &w->slots.at[i & w->slots.mask];
        MUST(evc_gcm_seal(&w->key, many ? w->ivs[i] : s->iv, NONCE_BYTES, w->aad, w->aad_bytes,
                          text, text, w->len_bytes, many ? w->tags[i] : s->tag, 16))
    }
}

static void *prepare(size_t mode, const struct bench_setup *setup, const char **with)
{
    static struct work work;
    struct work *w = &work;
    struct random r = {setup->seed};

    *with = NULL;
    memset(w, 0, sizeof *w);
    w->kernel = gcm_kernel_named(setup->kernel);
    w->key_bits = setup->key_bits;
    w->len_bytes = setup->len_bytes;
    w->aad_bytes = setup->aad_bytes;
    w->n_messages = setup->messages;
    random_bytes(&r, w->user_key, sizeof w->user_key);
    random_bytes(&r, w->aad, sizeof w->aad);
    if (!slots_make(&w->slots, setup, &r) ||
        gcm_set_key(&w->kernel, &w->key, w->user_key, w->key_bits) != EVC_OK)
        return NULL;
    if (is_many(mode))
        get_messages(w, setup->in_place, &r);
    if (modes[mode].flags & OPENS)
        seal_messages(w, is_many(mode));
    return w;
}

/* What one call of the loop that prepare() was asked for has written. Keys made are private to
 * their kernel: the tag of a message under each stands for it. */
static uint64_t result(size_t mode, void *vwork)
{
    struct work *w = vwork;
    uint64_t h = SLOTS_HASH;

    modes[mode].streamed(w, 1);
    if (modes[mode].flags & KEY)
        MUST(evc_gcm_seal(&w->made, w->slots.in, NONCE_BYTES, NULL, 0, w->slots.in, w->slots.out,
                          16, w->tag, 16))
    h = slots_hash(h, w->slots.in, w->slots.total_bytes);
    h = slots_hash(h, w->slots.out, w->slots.total_bytes);
    h = slots_hash(h, w->tags[0], sizeof w->tags);
    return slots_hash(h, w->tag, 16) ^ w->failures;
}

const struct bench_primitive bench_gcm = {
    .name = "gcm",
    .reference = "c_ref+c_ref",
    .pairs = true,
    .mode_name = mode_name,
    .is_many = is_many,
    .length_used = length_used,
    .prepare = prepare,
    .result = result,
    .loop = loop,
    .places = true,
};

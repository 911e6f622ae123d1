/* SPDX-License-Identifier: MIT */
/*
 * The modes of GCM for bench: whole messages with a nonce of 12 bytes, 13 bytes of associated data
 * and a tag of 16, one at a time, in one call or as one piece, or many in a call; and key set-up.
 */
#include "bench.h"

#include <stdlib.h>

#include "bench_slots.h"
#include "gcm_kernels.h"
#include "port/port.h"

/* Keys of several connections, as near to each other as their kernel allows. */
struct keys {
    uint8_t *memory; /* aligned to 64 bytes */
    size_t room;     /* bytes from one key to the next */
    struct key_order order;
};

struct work {
    union evc_gcm_key key, made; /* made: by the mode that times key set-up */
    struct gcm_kernel kernel;
    unsigned key_bits;
    size_t len_bytes, n_messages, aad_bytes;
    struct slots slots;
    struct evc_gcm_msg messages[MAX_MESSAGES]; /* of the modes of many messages */
    uint8_t ivs[MAX_MESSAGES][NONCE_BYTES], tags[MAX_MESSAGES][16];
    uint8_t user_key[32], aad[MOST_AAD_BYTES], tag[16];
    struct evc_gcm_state state; /* of messages in one piece */
    struct keys keys;  /* of modes with a keys_loop, if there are several */
    unsigned failures; /* statuses that are not EVC_OK, by bits */
};

static const union evc_gcm_key *next_key(struct keys *keys)
{
    return (const union evc_gcm_key *)(const void *)(keys->memory +
                                                     keys->room * key_order_next(&keys->order));
}

LOOPS(seal, MUST(evc_gcm_seal(&w->key, s->iv, NONCE_BYTES, w->aad, w->aad_bytes, s->in, s->out,
                              w->len_bytes, w->tag, 16)))
LOOPS(seal_keys, MUST(evc_gcm_seal(next_key(&w->keys), s->iv, NONCE_BYTES, w->aad, w->aad_bytes,
                                   s->in, s->out, w->len_bytes, w->tag, 16)))
LOOPS(open, MUST(evc_gcm_open(&w->key, s->iv, NONCE_BYTES, w->aad, w->aad_bytes, s->in, s->out,
                              w->len_bytes, s->tag, 16)))
LOOPS(seal_piece, MUST(evc_gcm_start(&w->key, &w->state, s->iv, NONCE_BYTES))
                  MUST(evc_gcm_aad(&w->key, &w->state, w->aad, w->aad_bytes))
                  MUST(evc_gcm_seal_update(&w->key, &w->state, s->in, s->out, w->len_bytes))
                  MUST(evc_gcm_seal_finish(&w->key, &w->state, w->tag, 16)))
LOOPS(open_piece, MUST(evc_gcm_start(&w->key, &w->state, s->iv, NONCE_BYTES))
                  MUST(evc_gcm_aad(&w->key, &w->state, w->aad, w->aad_bytes))
                  MUST(evc_gcm_open_update(&w->key, &w->state, s->in, s->out, w->len_bytes))
                  MUST(evc_gcm_open_finish(&w->key, &w->state, s->tag, 16)))
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
    bench_loop *keys_streamed, *keys_fenced; /* with several keys */
} modes[] = {
#define MODE(text, loop, flags) {text, loop, loop##_fenced, flags, NULL, NULL}
#define MODE_OF_KEYS(text, loop, flags) \
    {text, loop, loop##_fenced, flags, loop##_keys, loop##_keys_fenced}
    MODE_OF_KEYS("gcm-seal", seal, 0), /* an open would want a message of its own for each key */
    MODE("gcm-open", open, OPENS),
    MODE("gcm-seal-piece", seal_piece, 0), /* start, associated data, text in one piece, finish */
    MODE("gcm-open-piece", open_piece, OPENS),
    MODE("gcm-seal-many", seal_many, MANY),
    MODE("gcm-open-many", open_many, MANY | OPENS),
    MODE("setkey", setkey, KEY),
#undef MODE
#undef MODE_OF_KEYS
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

static bench_loop *keys_loop(size_t mode, bool fenced)
{
    return fenced ? modes[mode].keys_fenced : modes[mode].keys_streamed;
}

static bool has_aad(size_t mode)
{
    return !(modes[mode].flags & KEY);
}

static size_t key_room(const struct gcm_kernel *k)
{
    const size_t bytes =
        k->fused ? evc_gcm_kernel(k->fused)->key_bytes : evc_gcm_pair_key_bytes(k->aes, k->ghash);

    return (bytes + 15) / 16 * 16;
}

static enum evc_status set_key_in(const struct gcm_kernel *k, uint8_t *memory, size_t bytes,
                                  const uint8_t *user_key, unsigned key_bits)
{
    return k->fused ? evc_gcm_set_key_in(memory, bytes, k->fused, user_key, key_bits)
                    : evc_gcm_set_pair_in(memory, bytes, k->aes, k->ghash, user_key, key_bits);
}

static size_t checked_keys(const struct key_order *order)
{
    return order->n < CHECKED_KEYS ? order->n : CHECKED_KEYS;
}

/* Key i, from 0, is the one of call i. Of the reference, whose answers alone are needed, only those
 * are set up that are checked: it is slow. */
static bool set_keys(struct work *w, const struct bench_setup *setup, struct random *r)
{
    static uint8_t *memory;
    struct keys *keys = &w->keys;

    keys->room = key_room(&w->kernel);
    key_order_make(&keys->order, setup->keys, r);
    port_free_64(memory);
    memory = port_alloc_64((keys->room * setup->keys + 63) / 64 * 64);
    keys->memory = memory;
    for (size_t i = 0; memory && i < (setup->alone ? checked_keys(&keys->order) : setup->keys);
         i++) {
        uint8_t user_key[32];
        random_bytes(r, user_key, sizeof user_key);
        uint8_t *const key = memory + keys->room * keys->order.at[i];
        if (set_key_in(&w->kernel, key, keys->room, user_key, w->key_bits) != EVC_OK)
            return false;
    }
    return memory != NULL;
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
    if (setup->keys > 1 && !set_keys(w, setup, &r))
        return NULL;
    if (modes[mode].flags & OPENS)
        seal_messages(w, is_many(mode));
    return w;
}

/* A hash of the output of one call of the loop that prepare() was asked for. A key that the loop
 * made is private to its kernel: the tag of a message under it stands for it. */
static uint64_t result(size_t mode, void *vwork)
{
    struct work *w = vwork;
    uint64_t h = SLOTS_HASH;

    for (size_t i = 0; w->keys.memory && i < checked_keys(&w->keys.order); i++) {
        modes[mode].keys_streamed(w, 1);
        h = slots_hash(slots_hash(h, w->slots.out, w->len_bytes), w->tag, 16);
    }
    if (!w->keys.memory)
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
    .keys_loop = keys_loop,
    .has_aad = has_aad,
    .takes_place = true,
};

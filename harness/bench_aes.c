/* SPDX-License-Identifier: MIT */
/*
 * The modes of AES for bench. One call is one whole message: IV, counter, tweak and tag inside, the
 * key schedule outside (its own modes are setkey and setkey-enc).
 */
#include "bench.h"

#include "everycore/gcm_siv.h"
#include "everycore/modes.h"

#include "bench_slots.h"
#include "must.h"
#include "names.h"

struct work {
    union {
        union evc_aes_key key;
        struct evc_aes_xts_key xts;
        struct evc_aes_cmac_key cmac;
        struct evc_aes_ccm_key ccm;
        struct evc_gcm_siv_key siv;
    };
    const struct evc_aes *kernel;
    unsigned key_bits;
    size_t len_bytes, n_messages, aad_bytes;
    struct slots slots;
    struct evc_msg *messages; /* of the modes of many messages */
    uint8_t (*ivs)[16];
    uint8_t user_key[64];
    uint8_t aad[MOST_AAD_BYTES];
    uint8_t tag[16];
    uint8_t scratch[EVC_GCM_SIV_MOST_SCRATCH_BYTES];
    unsigned failures;      /* statuses that are not EVC_OK, by bits */
    union evc_aes_key made; /* by the modes that time key set-up */
};

/* ---- The loops ------------------------------------------------------------------------------ */

/* A copy of the slot's IV. */
#define COPY_IV     \
    uint8_t iv[16]; \
    memcpy(iv, s->iv, 16);

LOOPS(ecb_enc, must(evc_aes_encrypt(&w->key, s->in, s->out, w->len_bytes / 16));)
LOOPS(ecb_dec, MUST(evc_aes_decrypt(&w->key, s->in, s->out, w->len_bytes / 16)))
LOOPS(cbc_enc, COPY_IV MUST(evc_aes_cbc_encrypt(&w->key, iv, s->in, s->out, w->len_bytes)))
LOOPS(cbc_dec, COPY_IV MUST(evc_aes_cbc_decrypt(&w->key, iv, s->in, s->out, w->len_bytes)))
LOOPS(ctr, COPY_IV must(evc_aes_ctr(&w->key, iv, s->in, s->out, w->len_bytes));)
LOOPS(xts_enc, MUST(evc_aes_xts_encrypt(&w->xts, s->iv, s->in, s->out, w->len_bytes)))
LOOPS(xts_dec, MUST(evc_aes_xts_decrypt(&w->xts, s->iv, s->in, s->out, w->len_bytes)))
LOOPS(cbcmac, memset(w->tag, 0, 16); MUST(evc_aes_cbcmac(&w->key, w->tag, s->in, w->len_bytes)))
LOOPS(cmac, MUST(evc_aes_cmac(&w->cmac, s->in, w->len_bytes, w->tag, 16)))
LOOPS(ccm_seal, MUST(evc_aes_ccm_seal(&w->ccm, s->iv, NONCE_BYTES, w->aad, w->aad_bytes, s->in,
                                      s->out, w->len_bytes, w->tag, 16)))
LOOPS(ccm_open, MUST(evc_aes_ccm_open(&w->ccm, s->iv, NONCE_BYTES, w->aad, w->aad_bytes, s->in,
                                      s->out, w->len_bytes, s->tag, 16)))
LOOPS(siv_seal, MUST(evc_gcm_siv_seal(&w->siv, s->iv, NONCE_BYTES, w->aad, w->aad_bytes, s->in,
                                      s->out, w->len_bytes, w->tag, 16, w->scratch,
                                      sizeof w->scratch)))
LOOPS(siv_open, MUST(evc_gcm_siv_open(&w->siv, s->iv, NONCE_BYTES, w->aad, w->aad_bytes, s->in,
                                      s->out, w->len_bytes, s->tag, 16, w->scratch,
                                      sizeof w->scratch)))
LOOPS(cbc_enc_many, MUST(evc_aes_cbc_encrypt_many(&w->key, w->messages, w->n_messages)))
LOOPS(cmac_many, must(evc_aes_cmac_many(&w->cmac, w->messages, w->n_messages));)
LOOPS(setkey, MUST(evc_aes_set_key(&w->made, w->kernel, w->user_key, w->key_bits)))
LOOPS(setkey_enc, MUST(evc_aes_set_encrypt_key(&w->made, w->kernel, w->user_key, w->key_bits)))

/* ---- The modes ------------------------------------------------------------------------------ */

enum {
    BLOCKS = 1, /* whole blocks only */
    MANY = 2,   /* a call is of many messages */
    KEY = 4,    /* no message: "bytes" is the length of the key */
    OPENS = 8,  /* the messages are sealed beforehand; not in place, for a message opens once */
};

/* The keys that a mode has. */
enum keys { ONE, XTS, CMAC, CCM, SIV };

static const struct mode {
    const char *name;
    bench_loop *streamed, *fenced;
    enum keys keys;
    unsigned flags;
} modes[] = {
#define MODE(text, loop, keys, flags) {text, loop, loop##_fenced, keys, flags}
    MODE("ecb-enc", ecb_enc, ONE, BLOCKS),
    MODE("ecb-dec", ecb_dec, ONE, BLOCKS),
    MODE("cbc-enc", cbc_enc, ONE, BLOCKS),
    MODE("cbc-dec", cbc_dec, ONE, BLOCKS),
    MODE("ctr", ctr, ONE, 0),
    MODE("xts-enc", xts_enc, XTS, 0),
    MODE("xts-dec", xts_dec, XTS, 0),
    MODE("cbcmac", cbcmac, ONE, BLOCKS),
    MODE("cmac", cmac, CMAC, 0),
    MODE("ccm-seal", ccm_seal, CCM, 0),
    MODE("ccm-open", ccm_open, CCM, OPENS),
    MODE("gcm-siv-seal", siv_seal, SIV, 0),
    MODE("gcm-siv-open", siv_open, SIV, OPENS),
    MODE("cbc-enc-many", cbc_enc_many, ONE, BLOCKS | MANY),
    MODE("cmac-many", cmac_many, CMAC, MANY),
    MODE("setkey", setkey, ONE, KEY),
    MODE("setkey-enc", setkey_enc, ONE, KEY),
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

static bool has_aad(size_t mode)
{
    return modes[mode].keys == CCM || modes[mode].keys == SIV;
}

static size_t length_used(size_t mode, const struct bench_setup *setup)
{
    if (modes[mode].flags & KEY)
        return setup->key_bits / 8;
    if (modes[mode].keys == XTS && (setup->len_bytes < 16 || setup->key_bits == 192))
        return 0;
    if (modes[mode].keys == SIV && setup->key_bits == 192)
        return 0;
    if (modes[mode].flags & OPENS && setup->in_place)
        return 0;
    return modes[mode].flags & BLOCKS ? setup->len_bytes / 16 * 16 : setup->len_bytes;
}

static bench_loop *loop(size_t mode, bool fenced)
{
    return fenced ? modes[mode].fenced : modes[mode].streamed;
}

/* ---- One point ------------------------------------------------------------------------------ */

static void get_messages(struct work *w, bool in_place, struct random *r)
{
    static struct evc_msg messages[MAX_MESSAGES];
    static uint8_t ivs[MAX_MESSAGES][16];

    w->messages = messages;
    w->ivs = ivs;
    random_bytes(r, ivs[0], 16 * w->n_messages);
    for (size_t i = 0; i < w->n_messages; i++) {
        messages[i].in = w->slots.in + i * w->slots.stride;
        messages[i].out = (in_place ? w->slots.in : w->slots.out) + i * w->slots.stride;
        messages[i].len_bytes = w->len_bytes;
        messages[i].iv = ivs[i];
    }
}

/* The kernel for one use of a mode with two keys: the one under test where that is its use or any,
 * else the one that is selected on this CPU. */
static const struct evc_aes *kernel_for(enum evc_use use, const struct work *w, bool alone,
                                        const char **with)
{
    const struct evc_aes *other = evc_aes_select(features_here(), 0, use);
    unsigned own = w->kernel->kernel.use;

    if (alone || own == EVC_USE_ANY || own == use || !other || other == w->kernel)
        return w->kernel;
    *with = other->kernel.name;
    return other;
}

/* GCM-SIV: GHASH is computed by the kernel that is selected on this CPU. */
static enum evc_status set_siv_key(struct work *w, bool alone, const char **with)
{
    const struct evc_ghash *ghash =
        alone ? evc_ghash_named("c_ref") : evc_ghash_select(features_here(), 0);

    if (!alone)
        *with = evc_ghash_kernel(ghash)->name;
    return evc_gcm_siv_set_key(&w->siv, w->kernel, ghash, w->user_key, w->key_bits);
}

/* XTS: all data by the kernel under test; its tweak is one block, and by that kernel too unless it
 * is PARALLEL. */
static enum evc_status set_keys(struct work *w, enum keys keys, bool alone, const char **with)
{
    const struct evc_aes *serial;

    switch (keys) {
    case XTS:
        serial = kernel_for(EVC_USE_SERIAL, w, alone, with);
        return evc_aes_xts_set_key(&w->xts, w->kernel, serial, w->user_key, w->key_bits);
    case CMAC: return evc_aes_cmac_set_key(&w->cmac, w->kernel, w->user_key, w->key_bits);
    case CCM:
        serial = kernel_for(EVC_USE_SERIAL, w, alone, with);
        return evc_aes_ccm_set_key(&w->ccm, kernel_for(EVC_USE_PARALLEL, w, alone, with), serial,
                                   w->user_key, w->key_bits);
    case SIV: return set_siv_key(w, alone, with);
    case ONE: break;
    }
    return evc_aes_set_key(&w->key, w->kernel, w->user_key, w->key_bits);
}

/* Each slot's message becomes one that opens. */
static void seal_slots(struct work *w, enum keys keys)
{
    for (size_t i = 0; i <= w->slots.mask; i++) {
        struct slot *s = &w->slots.at[i];
        uint8_t *text = w->slots.in + i * w->slots.stride;
        MUST(keys == SIV
                 ? evc_gcm_siv_seal(&w->siv, s->iv, NONCE_BYTES, w->aad, w->aad_bytes, text, text,
                                    w->len_bytes, s->tag, 16, w->scratch, sizeof w->scratch)
                 : evc_aes_ccm_seal(&w->ccm, s->iv, NONCE_BYTES, w->aad, w->aad_bytes, text, text,
                                    w->len_bytes, s->tag, 16))
    }
}

static void *prepare(size_t mode, const struct bench_setup *setup, const char **with)
{
    static struct work work;
    struct work *w = &work;
    struct random r = {setup->seed};

    *with = NULL;
    memset(w, 0, sizeof *w);
    w->kernel = evc_aes_named(setup->kernel);
    w->key_bits = setup->key_bits;
    w->len_bytes = setup->len_bytes;
    w->aad_bytes = setup->aad_bytes;
    w->n_messages = setup->messages;
    random_bytes(&r, w->user_key, sizeof w->user_key);
    if (!slots_make(&w->slots, setup, &r))
        return NULL;
    if (modes[mode].flags & MANY)
        get_messages(w, setup->in_place, &r);
    if (set_keys(w, modes[mode].keys, setup->alone, with) != EVC_OK)
        return NULL;
    random_bytes(&r, w->aad, sizeof w->aad);
    if (modes[mode].flags & OPENS)
        seal_slots(w, modes[mode].keys);
    return w;
}

/* A hash of the output of one call of the loop that prepare() was asked for. A key that the loop
 * made is private to its kernel: a block encrypted under it stands for it. */
static uint64_t result(size_t mode, void *vwork)
{
    struct work *w = vwork;
    uint64_t h = SLOTS_HASH;

    modes[mode].streamed(w, 1);
    h = slots_hash(h, w->slots.in, w->slots.total_bytes);
    h = slots_hash(h, w->slots.out, w->slots.total_bytes);
    h = slots_hash(h, w->tag, 16) ^ w->failures;
    if (modes[mode].flags & MANY)
        h = slots_hash(h, w->ivs[0], 16 * w->n_messages);
    if (modes[mode].flags & KEY) {
        uint8_t block[16];
        must(evc_aes_encrypt(&w->made, w->slots.in, block, 1));
        h = slots_hash(h, block, 16);
    }
    return h;
}

const struct bench_primitive bench_aes = {
    .name = "aes",
    .reference = "c_ref",
    .mode_name = mode_name,
    .is_many = is_many,
    .length_used = length_used,
    .prepare = prepare,
    .result = result,
    .loop = loop,
    .has_aad = has_aad,
    .takes_place = true,
};

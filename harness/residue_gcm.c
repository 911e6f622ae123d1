/* SPDX-License-Identifier: MIT */
/* Residue of GCM, fused or a pair: set_key, messages in one call, messages in
 * pieces, many messages. */
#include "residue.h"

#include "must.h"

#include <stdio.h>
#include <string.h>

#include "everycore/gcm.h"

#include "gcm_kernels.h"
#include "gcm_model.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

static const unsigned key_sizes[] = {128, 192, 256}; /* bits */

static struct gcm_kernel kernel; /* under test */

#define MANY 5
#define MANY_BYTES 112

/* By version. The ciphertext is that of both, but the tag is not. */
static struct known known[2];
static union evc_gcm_key key[2];
static uint8_t ciphertext[MAX_BYTES];

/* The operands of one call. */
static struct {
    union evc_gcm_key key;
    uint8_t user_key[32], h[16], tag_mask[16], full_tag[16];
    uint8_t iv[MAX_IV], aad[MAX_AAD], in[MAX_BYTES], out[MAX_BYTES], tag[16], many_tags[MANY][16];
    uint8_t plaintext[MAX_BYTES], stream[MAX_BYTES];
    enum evc_status status;
    struct evc_gcm_state state;
    struct evc_gcm_msg msgs[MANY];
} at;

static struct {
    unsigned key_bits;
    size_t iv_bytes, aad_bytes, len_bytes, tag_bytes;
    bool sealing, forged;
    bool in_pieces;
    unsigned step;
} now;

/* ---- Messages that are known ----------------------------------------------------------------- */

/* Keys, and plaintexts of n_blocks blocks that give the same ciphertext. */
static void know_versions(struct check *c, size_t n_blocks)
{
    random_bytes(&c->random, ciphertext, 16 * n_blocks);
    for (unsigned v = 0; v < 2; v++) {
        struct known *k = &known[v];
        k->key_bits = now.key_bits;
        k->iv_bytes = now.iv_bytes;
        k->aad_bytes = now.aad_bytes;
        random_bytes(&c->random, k->user_key, sizeof k->user_key);
        for (size_t i = 0; i < sizeof k->iv; i++)
            k->iv[i] = (uint8_t)(3 * i + 1);
        for (size_t i = 0; i < sizeof k->aad; i++)
            k->aad[i] = (uint8_t)(5 * i + 2);
        memcpy(k->in, ciphertext, 16 * n_blocks);
        know_key(k);
        know_message(k, n_blocks); /* CTR undoes itself */
        memcpy(k->in, k->out, 16 * n_blocks);
        know_message(k, n_blocks);
        memset(&key[v], 0, sizeof key[v]);
        must(gcm_set_key(&kernel, &key[v], k->user_key, k->key_bits));
        must(evc_gcm_allow_short_tags(&key[v]));
    }
}

static struct residue_secret kernels_key(const union evc_gcm_key *k)
{
    const size_t head = sizeof(struct evc_gcm_head);

    return (struct residue_secret){"kernel's key", k->bytes + head, sizeof k->bytes - head};
}

/* With the kernel under test; after a pair with GHASH of c_ref, with the pair of the harness. */
static enum result look_with_kernels(struct check *c, void (*look)(struct check *))
{
    kernel = gcm_kernel_named(c->line->name);
    if (residue_unavailable())
        return check_skip(c, residue_unavailable());
    residue_begin();
    look(c);
    if (kernel.aes && kernel.ghash == evc_ghash_named("c_ref") && residue_aes_kernel()) {
        kernel = (struct gcm_kernel){NULL, residue_aes_kernel(), residue_ghash_kernel()};
        look(c);
    }
    return residue_verdict(c);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static void prepare_user_key(unsigned version)
{
    memcpy(at.user_key, known[version].user_key, sizeof at.user_key);
    memcpy(at.h, known[version].h, 16);
    memset(&at.key, 0, sizeof at.key);
}

static void set_key(void)
{
    at.status = gcm_set_key(&kernel, &at.key, at.user_key, now.key_bits);
}

static void look_at_keys(struct check *c)
{
    now.iv_bytes = 12;
    for (size_t i = 0; i < N(key_sizes); i++) {
        struct residue_call call = {
            .operation = "set_key", .prepare = prepare_user_key, .make = set_key};
        now.key_bits = key_sizes[i];
        know_versions(c, 0);
        snprintf(call.sizes, sizeof call.sizes, "%u-bit key", now.key_bits);
        call.secrets[0] = (struct residue_secret){"user key", at.user_key, now.key_bits / 8};
        call.secrets[1] = (struct residue_secret){"hash key", at.h, 16};
        call.secrets[2] = kernels_key(&at.key);
        residue_look(c, &call);
    }
}

enum result gcm_set_key_leaves_nothing_behind(struct check *c)
{
    return look_with_kernels(c, look_at_keys);
}

/* ---- Messages in one call -------------------------------------------------------------------- */

static void do_step(unsigned step);

static void prepare_message(unsigned version)
{
    const struct known *k = &known[version];

    at.key = key[version];
    memcpy(at.user_key, k->user_key, sizeof at.user_key);
    memcpy(at.h, k->h, 16);
    memcpy(at.tag_mask, k->tag_mask, 16);
    known_tag(k, at.full_tag, now.len_bytes);
    memcpy(at.iv, k->iv, sizeof at.iv);
    memcpy(at.aad, k->aad, sizeof at.aad);
    memcpy(at.plaintext, k->in, now.len_bytes);
    for (size_t i = 0; i < now.len_bytes; i++)
        at.stream[i] = k->in[i] ^ k->out[i];
    memcpy(at.in, now.sealing ? k->in : k->out, now.len_bytes);
    memset(at.out, 0, now.len_bytes);
    memset(at.tag, 0, 16);
    if (!now.sealing)
        memcpy(at.tag, at.full_tag, now.tag_bytes);
    if (now.forged)
        memset(at.tag, 0x5a, now.tag_bytes);
    memset(&at.state, 0, sizeof at.state);
    for (unsigned i = 0; now.in_pieces && i < now.step; i++)
        do_step(i);
}

static void make_message(void)
{
    at.status = now.sealing ? evc_gcm_seal(&at.key, at.iv, now.iv_bytes, at.aad, now.aad_bytes,
                                           at.in, at.out, now.len_bytes, at.tag, now.tag_bytes)
                            : evc_gcm_open(&at.key, at.iv, now.iv_bytes, at.aad, now.aad_bytes,
                                           at.in, at.out, now.len_bytes, at.tag, now.tag_bytes);
}

static struct residue_call call_of_message(const char *operation, void (*make)(void))
{
    struct residue_call call = {.operation = operation, .prepare = prepare_message, .make = make};

    snprintf(call.sizes, sizeof call.sizes,
             "%u-bit key, %zu bytes, %zu of associated data, %zu of IV, %zu of tag", now.key_bits,
             now.len_bytes, now.aad_bytes, now.iv_bytes, now.tag_bytes);
    call.given = at.tag;
    call.given_bytes = now.tag_bytes;
    call.secrets[0] = (struct residue_secret){"user key", at.user_key, now.key_bits / 8};
    call.secrets[1] = (struct residue_secret){"hash key", at.h, 16};
    call.secrets[2] = (struct residue_secret){"tag mask", at.tag_mask, 16};
    call.secrets[3] = (struct residue_secret){"full tag", at.full_tag, 16};
    call.secrets[4] = (struct residue_secret){"plaintext", at.plaintext, now.len_bytes};
    call.secrets[5] = (struct residue_secret){"key stream", at.stream, now.len_bytes};
    call.secrets[6] = kernels_key(&at.key);
    return call;
}

static void look_at_message(struct check *c, const char *operation, size_t len_bytes,
                            size_t tag_bytes, bool sealing, bool forged)
{
    now.len_bytes = len_bytes;
    now.tag_bytes = tag_bytes;
    now.sealing = sealing;
    now.forged = forged;
    now.in_pieces = false;
    const struct residue_call call = call_of_message(operation, make_message);
    residue_look(c, &call);
}

static size_t most_blocks(void)
{
    const size_t n = 2 * gcm_batch(&kernel) + 3;

    return n < 35 ? 35 : n;
}

/* Lengths around whole blocks, of few blocks, and of those near multiples of 8 and of the batch. */
static bool take_bytes(const struct check *c, size_t len_bytes)
{
    const size_t batch = gcm_batch(&kernel), n = len_bytes / 16, rest = len_bytes % 16;

    if (len_bytes <= 17)
        return !c->quick || rest < 2 || rest == 9 || rest == 15;
    if (c->quick && rest != 0 && rest != 5 + n % 7)
        return false;
    return n < 5 || (!c->quick && (rest < 2 || rest == 8 || rest == 15)) ||
           (n < 18 && (n + 1) % 8 < 3) || (batch > 3 && (n + 1) % batch < 3) ||
           n + 1 == most_blocks();
}

static void look_at_messages(struct check *c)
{
    static const size_t aad_sizes[] = {13, 0, 40, 16, 600}, iv_sizes[] = {12, 12, 12, 17};

    for (size_t i = 0; i < (c->quick ? 1 : 2) * N(aad_sizes); i++) {
        now.key_bits = key_sizes[(i + 2) % N(key_sizes)];
        now.aad_bytes = aad_sizes[i % N(aad_sizes)];
        now.iv_bytes = iv_sizes[i % N(iv_sizes)];
        know_versions(c, i == 0 ? BEYOND_A_PIECE : most_blocks());
        for (size_t len = 0; len <= 16 * most_blocks(); len++) {
            static const size_t tags[] = {16, 16, 8, 12, 4};
            if (!take_bytes(c, len) ||
                (c->quick && i > 1 && len > (now.aad_bytes == 40 ? 200 : 100)))
                continue;
            look_at_message(c, "seal", len, tags[(len + len / 16) % N(tags)], true, false);
            look_at_message(c, "open", len, tags[(len + len / 16) % N(tags)], false, false);
            if (len % 3 == 0)
                look_at_message(c, "open of a forgery", len, tags[len % N(tags)], false, true);
        }
        /* the counters of such an IV are secret; if quick, too: more blocks than any step */
        if (now.iv_bytes != 12) {
            look_at_message(c, "seal", 16 * most_blocks(), 16, true, false);
            look_at_message(c, "open", 16 * most_blocks(), 16, false, false);
        }
        if (i == 0) { /* beyond the pieces that a pair works in */
            look_at_message(c, "seal", 16 * BEYOND_A_PIECE - 3, 16, true, false);
            look_at_message(c, "open", 16 * BEYOND_A_PIECE - 3, 16, false, false);
        }
    }
}

enum result gcm_messages_leave_nothing_behind(struct check *c)
{
    return look_with_kernels(c, look_at_messages);
}

/* ---- Messages in pieces, and many ------------------------------------------------------------ */

/* Pieces of 5, 11 + 32, 16 bytes, and the rest. */
#define N_PIECES 4u
static size_t piece_begins(unsigned i)
{
    static const size_t begins[] = {0, 5, 48, 64};

    return i < N(begins) && begins[i] < now.len_bytes ? begins[i] : now.len_bytes;
}

#define N_STEPS (4u + N_PIECES)
static void do_step(unsigned step)
{
    const size_t begin = step > 2 ? piece_begins(step - 3) : 0,
                 end = step > 2 ? piece_begins(step - 2) : 0,
                 first = now.aad_bytes < 3 || now.aad_bytes > 128 ? 0 : 3;

    if (step == 0)
        at.status = evc_gcm_start(&at.key, &at.state, at.iv, now.iv_bytes);
    else if (step == 1)
        at.status = evc_gcm_aad(&at.key, &at.state, at.aad, first);
    else if (step == 2)
        at.status = evc_gcm_aad(&at.key, &at.state, at.aad + first, now.aad_bytes - first);
    else if (step < 3 + N_PIECES && now.len_bytes == 0)
        at.status = EVC_OK; /* finished without a call for text */
    else if (step < 3 + N_PIECES)
        at.status = (now.sealing ? evc_gcm_seal_update : evc_gcm_open_update)(
            &at.key, &at.state, at.in + begin, at.out + begin, end - begin);
    else if (now.sealing)
        at.status = evc_gcm_seal_finish(&at.key, &at.state, at.tag, now.tag_bytes);
    else
        at.status = evc_gcm_open_finish(&at.key, &at.state, at.tag, now.tag_bytes);
}

static void make_step(void)
{
    do_step(now.step);
}

static void look_at_pieces(struct check *c, size_t len_bytes, size_t tag_bytes, bool sealing,
                           bool forged)
{
    static const char *const names[][2] = {{"open_update", "seal_update"},
                                           {"open_finish", "seal_finish"}};

    now.len_bytes = len_bytes;
    now.tag_bytes = tag_bytes;
    now.sealing = sealing;
    now.forged = forged;
    now.in_pieces = true;
    for (now.step = 0; now.step < N_STEPS; now.step++) {
        const struct residue_call call =
            call_of_message(now.step == 0  ? "start"
                            : now.step < 3 ? "aad"
                                           : names[now.step == N_STEPS - 1][sealing],
                            make_step);
        residue_look(c, &call);
    }
}

/* Under one IV, which these keys and texts survive. */
static void prepare_many(unsigned version)
{
    prepare_message(version);
    memset(at.many_tags, 0, sizeof at.many_tags);
    for (size_t i = 0; i < MANY; i++) {
        const size_t len = i * 23 % (MANY_BYTES + 1);
        struct evc_gcm_msg *m = &at.msgs[i];
        *m = (struct evc_gcm_msg){.iv = at.iv,
                                  .aad = at.aad,
                                  .in = at.in,
                                  .out = at.out + i * MANY_BYTES,
                                  .tag = at.many_tags[i],
                                  .iv_bytes = now.iv_bytes,
                                  .aad_bytes = now.aad_bytes,
                                  .len_bytes = len,
                                  .tag_bytes = 16};
        if (!now.sealing)
            known_tag(&known[version], m->tag, len);
        if (now.forged)
            memset(m->tag, 0x5a, 16);
    }
}

static void make_many(void)
{
    at.status = (now.sealing ? evc_gcm_seal_many : evc_gcm_open_many)(&at.key, at.msgs, MANY);
}

static void look_at_many(struct check *c, bool sealing, bool forged)
{
    now.len_bytes = MANY_BYTES;
    now.tag_bytes = 16;
    now.sealing = sealing;
    now.forged = forged;
    now.in_pieces = false;
    struct residue_call call = call_of_message(sealing ? "seal_many" : "open_many", make_many);
    call.prepare = prepare_many;
    call.given = at.many_tags[0];
    call.given_bytes = sizeof at.many_tags;
    residue_look(c, &call);
}

static void look_at_all_pieces(struct check *c)
{
    static const struct {
        size_t len_bytes, aad_bytes, iv_bytes; /* associated data that waits for
                                                * text, and that does not */
    } sizes[] = {{69, 130, 12}, {5, 53, 17},  {69, 81, 12}, {0, 29, 12},
                 {96, 0, 17},   {16, 13, 12}, {69, 21, 12}};

    for (size_t i = 0; i < (c->quick ? 3 : N(sizes)); i++) {
        now.key_bits = key_sizes[i % N(key_sizes)];
        now.aad_bytes = sizes[i].aad_bytes;
        now.iv_bytes = sizes[i].iv_bytes;
        know_versions(c, most_blocks());
        for (int kind = 0; kind < 3; kind++) { /* sealed, opened, forged */
            look_at_pieces(c, sizes[i].len_bytes, 16, kind == 0, kind == 2);
            look_at_pieces(c, sizes[i].len_bytes, 8, kind == 0, kind == 2);
            look_at_many(c, kind == 0, kind == 2);
        }
        look_at_pieces(c, 16 * most_blocks() - 3, 4, true, false);
        look_at_pieces(c, 16 * most_blocks() - 3, 4, false, false);
    }
}

/* Their J_0 is a hash, and so a secret: of a part of a block, of whole blocks, and of
 * more blocks than a batch. */
static void look_at_long_ivs(struct check *c)
{
    static const size_t iv_sizes[] = {1, 16, 150, MAX_IV - 3};

    for (size_t i = 0; i < N(iv_sizes); i++) {
        now.key_bits = key_sizes[i % N(key_sizes)];
        now.aad_bytes = 0;
        now.iv_bytes = iv_sizes[i];
        know_versions(c, most_blocks());
        look_at_pieces(c, 37, 16, i % 2 == 0, false);
        look_at_message(c, "seal", 37, 16, true, false);
        look_at_message(c, "open", 37, 16, false, i == 2);
        look_at_many(c, i % 2 != 0, false);
    }
}

static void look_at_pieces_and_ivs(struct check *c)
{
    look_at_all_pieces(c);
    look_at_long_ivs(c);
}

enum result gcm_pieces_leave_nothing_behind(struct check *c)
{
    return look_with_kernels(c, look_at_pieces_and_ivs);
}

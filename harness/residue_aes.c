/* SPDX-License-Identifier: MIT */
/* Residue of AES: set_key, the operations on blocks, and the modes, whose keys are all of
 * the kernel under test. */
#include "residue.h"

#include "must.h"

#include <stdio.h>
#include <string.h>

#include "everycore/cpu.h"
#include "everycore/gcm_siv.h"
#include "everycore/modes.h"

#include "aes_ops.h"
#include "check_siv.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

static const unsigned key_sizes[] = {128, 192, 256}; /* bits */

static const struct evc_aes *kernel; /* under test */
static const struct evc_aes *first;  /* of the two kernels of XTS and CCM; the second
                                      * is the one under test */
static unsigned key_bits;

static size_t batch(void)
{
    return evc_aes_kernel(kernel)->batch;
}

static struct residue_secret user_key_secret(const uint8_t *user_key)
{
    return (struct residue_secret){"user key", user_key, key_bits / 8};
}

/* The round keys as the kernel holds them. */
static struct residue_secret schedule_secret(const union evc_aes_key *key)
{
    return (struct residue_secret){"kernel's key", key->bytes + sizeof(struct evc_aes_head),
                                   evc_aes_kernel(kernel)->key_bytes - sizeof(struct evc_aes_head)};
}

/* With the kernel under test; after c_ref, also with that of the harness. */
static enum result look_with_kernels(struct check *c, void (*look)(struct check *))
{
    kernel = evc_aes_named(c->line->name);
    if (residue_unavailable())
        return check_skip(c, residue_unavailable());
    residue_begin();
    look(c);
    if (strcmp(c->line->name, "c_ref") == 0 && residue_aes_kernel()) {
        kernel = residue_aes_kernel();
        look(c);
    }
    return residue_verdict(c);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static uint8_t user_keys[2][64];

/* The operands of one call. */
static struct {
    uint8_t user_key[64];
    union {
        union evc_aes_key aes;
        struct evc_aes_xts_key xts;
        struct evc_aes_cmac_key cmac;
        struct evc_aes_ccm_key ccm;
    } key;
} keys_at;

static void prepare_user_key(unsigned version)
{
    memcpy(keys_at.user_key, user_keys[version], sizeof keys_at.user_key);
    memset(&keys_at.key, 0, sizeof keys_at.key);
}

static void set_key(void)
{
    must(evc_aes_set_key(&keys_at.key.aes, kernel, keys_at.user_key, key_bits));
}

static void set_encrypt_key(void)
{
    must(evc_aes_set_encrypt_key(&keys_at.key.aes, kernel, keys_at.user_key, key_bits));
}

static void xts_set_key(void)
{
    must(evc_aes_xts_set_key(&keys_at.key.xts, kernel, kernel, keys_at.user_key, key_bits));
}

static void cmac_set_key(void)
{
    must(evc_aes_cmac_set_key(&keys_at.key.cmac, kernel, keys_at.user_key, key_bits));
}

static void ccm_set_key(void)
{
    must(evc_aes_ccm_set_key(&keys_at.key.ccm, kernel, kernel, keys_at.user_key, key_bits));
}

static void look_at_set_key(struct check *c)
{
    static const struct {
        const char *name;
        void (*make)(void);
    } ways[] = {{"set_key", set_key},
                {"set_encrypt_key", set_encrypt_key},
                {"xts_set_key", xts_set_key},
                {"cmac_set_key", cmac_set_key},
                {"ccm_set_key", ccm_set_key}};

    for (size_t i = 0; i < N(ways) * N(key_sizes); i++) {
        struct residue_call call = {.operation = ways[i / N(key_sizes)].name,
                                    .prepare = prepare_user_key,
                                    .make = ways[i / N(key_sizes)].make};
        key_bits = key_sizes[i % N(key_sizes)];
        if (ways[i / N(key_sizes)].make == xts_set_key && key_bits == 192)
            continue;
        random_bytes(&c->random, user_keys[0], sizeof user_keys);
        snprintf(call.sizes, sizeof call.sizes, "%u-bit key", key_bits);
        call.secrets[0] = user_key_secret(keys_at.user_key);
        call.secrets[0].len_bytes *= call.make == xts_set_key ? 2 : 1;
        /* keys_at.key.aes: of every kind of key, the first member */
        call.secrets[1] = schedule_secret(&keys_at.key.aes);
        if (call.make == cmac_set_key)
            call.secrets[2] = (struct residue_secret){"subkeys", keys_at.key.cmac.k1, 32};
        residue_look(c, &call);
    }
}

enum result aes_set_key_leaves_nothing_behind(struct check *c)
{
    return look_with_kernels(c, look_at_set_key);
}

/* ---- Operations on blocks -------------------------------------------------------------------- */

/* By version. The ciphertext is that of both. */
static struct {
    struct known known;
    union evc_aes_key key;
    const uint8_t *in, *plaintext; /* in known */
} ops[2];

static struct {
    const struct aes_op *op;
    union evc_aes_key key;
    size_t len_bytes;
    uint8_t iv[16], in[MAX_BYTES], out[MAX_BYTES], plaintext[MAX_BYTES], stream[MAX_BYTES];
} op_at;

/* The operation that undoes this one. */
static const struct aes_op *inverse(const struct aes_op *op)
{
    switch ((int)(op - aes_ops)) {
    case ECB_ENC: return &aes_ops[ECB_DEC];
    case CTR32:
    case CTR32_LE: return op;
    case CBC_ENC: return &aes_ops[CBC_DEC];
    case XTS_ENC: return &aes_ops[XTS_DEC];
    default: return NULL;
    }
}

/* Keys, and texts of n_blocks blocks whose ciphertext is the same under both. */
static void know_versions(struct check *c, const struct aes_op *op, size_t n_blocks)
{
    for (unsigned v = 0; v < 2; v++) {
        struct known *k = &ops[v].known;
        k->key_bits = key_bits;
        random_bytes(&c->random, k->user_key, sizeof k->user_key);
        if (v == 0 || op == &aes_ops[XTS_ENC] || op == &aes_ops[XTS_DEC])
            /* the IV of XTS is encrypted already, and so secret */
            random_bytes(&c->random, k->iv[0], 16);
        else
            memcpy(k->iv[0], ops[0].known.iv[0], 16);
        if (v == 0 || op == &aes_ops[CBCMAC])
            random_bytes(&c->random, k->in, 16 * n_blocks);
        else
            memcpy(k->in, ops[0].known.in, 16 * n_blocks);
        know(k, inverse(op) ? inverse(op) : op, n_blocks);
        ops[v].in = inverse(op) ? k->out : k->in;
        ops[v].plaintext = op->writes ? k->out : k->in;
        memset(&ops[v].key, 0, sizeof ops[v].key);
        must(evc_aes_set_key(&ops[v].key, kernel, k->user_key, key_bits));
    }
}

static void prepare_op(unsigned version)
{
    const struct known *k = &ops[version].known;

    op_at.key = ops[version].key;
    memcpy(op_at.iv, k->iv[0], 16);
    memcpy(op_at.in, ops[version].in, op_at.len_bytes);
    memset(op_at.out, 0, op_at.len_bytes);
    for (size_t i = 0; i < op_at.len_bytes; i++)
        op_at.stream[i] = k->in[i] ^ k->out[i];
    memcpy(op_at.plaintext, ops[version].plaintext, op_at.len_bytes);
}

static void make_op(void)
{
    op_at.op->run(&op_at.key, op_at.iv, op_at.in, op_at.out, op_at.len_bytes);
}

static void look_at_op(struct check *c, const struct aes_op *op, size_t len_bytes)
{
    struct residue_call call = {.operation = op->name, .prepare = prepare_op, .make = make_op};
    size_t n = 0;

    op_at.op = op;
    op_at.len_bytes = len_bytes;
    snprintf(call.sizes, sizeof call.sizes, "%u-bit key, %zu bytes", key_bits, len_bytes);
    call.secrets[n++] = user_key_secret(ops[1].known.user_key);
    call.secrets[n++] = schedule_secret(&ops[1].key);
    call.secrets[n++] = (struct residue_secret){"plaintext", op_at.plaintext, len_bytes};
    if (op == &aes_ops[CTR32] || op == &aes_ops[CTR32_LE])
        call.secrets[n++] = (struct residue_secret){"key stream", op_at.stream, len_bytes};
    if (op == &aes_ops[XTS_ENC] || op == &aes_ops[XTS_DEC])
        call.secrets[n++] =
            (struct residue_secret){"tweaks", ops[1].known.iv[0], 16 * (len_bytes / 16)};
    if (op == &aes_ops[CBCMAC])
        call.secrets[n++] =
            (struct residue_secret){"chain", ops[1].known.iv[1], 16 * (len_bytes / 16)};
    residue_look(c, &call);
}

/* Beyond two turns of the kernel's batch, and beyond one of the composed operations' 32 blocks. */
static size_t most_blocks(void)
{
    size_t n = 2 * batch() + 3;

    return n < 35 ? 35 : n;
}

/* Kernels of many blocks have other code for long messages in CTR, CBC decryption and XTS: from 24
 * to 96 blocks on, and those of 32 blocks and more from 192 or 256 on. */
static const size_t long_blocks[] = {99, 256, 259};
#define MANY_BLOCKS 8 /* batch of those with the first length */
#define MOST_BLOCKS 32 /* with all */

static size_t n_long(const struct aes_op *op)
{
    if (op != &aes_ops[CTR32] && op != &aes_ops[CTR32_LE] && op != &aes_ops[CBC_DEC] &&
        op != &aes_ops[XTS_ENC] && op != &aes_ops[XTS_DEC])
        return 0;
    return batch() >= MOST_BLOCKS ? N(long_blocks) : batch() >= MANY_BLOCKS;
}

/* Quick: 1 to 5 blocks, and those within one of the multiples of 8, of 32, and of the batch. */
static bool take_blocks(const struct check *c, size_t n)
{
    return !c->quick || n < 6 || (n < 20 && (n + 1) % 8 < 3) || (n + 1) % 32 < 3 ||
           (batch() > 3 && (n + 1) % batch() < 3);
}

static void look_at_operations(struct check *c)
{
    for (size_t i = 0; i < N_OPS * N(key_sizes); i++) {
        const struct aes_op *op = &aes_ops[i / N(key_sizes)];
        key_bits = key_sizes[i % N(key_sizes)];
        know_versions(c, op, n_long(op) ? MAX_BLOCKS : most_blocks());
        for (size_t n = 1; n <= most_blocks(); n++) {
            static const size_t short_of_block[] = {0, 1, 15, 7, 8};
            if (!take_blocks(c, n) || (c->quick && n % N(key_sizes) != i % N(key_sizes)))
                continue;
            look_at_op(c, op, 16 * n);
            if (op->any_bytes)
                look_at_op(c, op, 16 * n - short_of_block[n % 5]);
        }
        for (size_t j = 0; j < n_long(op); j++)
            look_at_op(c, op, 16 * long_blocks[j]);
    }
}

enum result aes_operations_leave_nothing_behind(struct check *c)
{
    return look_with_kernels(c, look_at_operations);
}

/* ---- Modes ----------------------------------------------------------------------------------- */

#define MODE_BYTES (16 * 80)
#define MANY 9 /* messages of one call */
#define MANY_BYTES 112 /* of one of them, at most */

/* By version: keys, and texts whose ciphertext is the same under both. */
static struct version {
    uint8_t user_key[64];
    union evc_aes_key aes, ref;
    struct evc_aes_xts_key xts, xts_ref;
    struct evc_aes_cmac_key cmac;
    struct evc_aes_ccm_key ccm, ccm_ref;
    struct evc_gcm_siv_key siv, siv_ref;
    uint8_t plaintext[MODE_BYTES], stream[MODE_BYTES], tag_mask[16];
    uint8_t tag[16]; /* of CMAC and CCM */
} versions[2];

/* The same for both. */
static uint8_t ciphertext[MODE_BYTES], iv[16];
static const uint8_t aad[21] = {1, 2, 3};

static struct mode_at {
    struct version v;
    uint8_t iv[16], in[MODE_BYTES], out[MODE_BYTES], tag[16], many_tags[MANY][16];
    enum evc_status status;
    union {
        struct evc_aes_ctr ctr;
        struct evc_aes_xts xts;
        struct evc_aes_cmac cmac;
        struct evc_aes_ccm ccm;
    } state;
    struct evc_msg msgs[MANY];
} at;

static unsigned at_version;

/* The call under test; step: of a message in pieces. */
static struct {
    size_t len_bytes, tag_bytes;
    unsigned step;
    bool sealing, reads_tag, forged;
    void (*make_step)(unsigned step);
} now;

/* One of the lengths of a message in pieces: the first len_bytes bytes in steps of 5,
 * 11 + 32, 5, 11 and the rest. */
static size_t piece_begins(unsigned i)
{
    static const size_t begins[] = {0, 5, 48, 53, 64};

    return i < N(begins) && begins[i] < now.len_bytes ? begins[i] : now.len_bytes;
}
#define N_PIECES 5u

static size_t piece_bytes(unsigned i)
{
    return piece_begins(i + 1) - piece_begins(i);
}

/* ---- CBC and CTR */

static void know_cbc(struct version *v)
{
    uint8_t chain[16];

    memcpy(chain, iv, 16);
    must(evc_aes_cbc_decrypt(&v->ref, chain, ciphertext, v->plaintext, now.len_bytes / 16 * 16));
}

static void make_cbc(void)
{
    at.status = (now.sealing ? evc_aes_cbc_encrypt : evc_aes_cbc_decrypt)(&at.v.aes, at.iv, at.in,
                                                                          at.out, now.len_bytes);
}

/* Length of message i. */
static size_t many_bytes(size_t i)
{
    return i * 16 < MANY_BYTES ? i * 16 : MANY_BYTES;
}

static void know_cbc_many(struct version *v)
{
    for (size_t i = 0; i < MANY; i++) {
        uint8_t chain[16] = {0};
        must(evc_aes_cbc_decrypt(&v->ref, chain, ciphertext + i * MANY_BYTES,
                                 v->plaintext + i * MANY_BYTES, many_bytes(i)));
    }
}

static void make_cbc_many(void)
{
    at.status = evc_aes_cbc_encrypt_many(&at.v.aes, at.msgs, MANY);
}

static void make_cbc_blocks_many(void)
{
    evc_aes_cbc_encrypt_blocks_many(&at.v.aes, at.msgs, MANY);
}

static void know_ctr(struct version *v)
{
    uint8_t counter[16];

    memcpy(counter, iv, 16);
    must(evc_aes_ctr(&v->ref, counter, ciphertext, v->plaintext, now.len_bytes));
}

static void make_ctr(void)
{
    must(evc_aes_ctr(&at.v.aes, at.iv, at.in, at.out, now.len_bytes));
}

static void ctr_step(unsigned step)
{
    if (step == 0)
        must(evc_aes_ctr_start(&at.state.ctr, at.iv));
    else
        must(evc_aes_ctr_update(&at.v.aes, &at.state.ctr, at.in + piece_begins(step - 1),
                                at.out + piece_begins(step - 1),
                           piece_bytes(step - 1)));
}

/* ---- XTS */

static void know_xts(struct version *v)
{
    must(evc_aes_xts_decrypt(&v->xts_ref, iv, ciphertext, v->plaintext, now.len_bytes));
}

static void make_xts(void)
{
    at.status = (now.sealing ? evc_aes_xts_encrypt : evc_aes_xts_decrypt)(&at.v.xts, at.iv, at.in,
                                                                          at.out, now.len_bytes);
}

/* Start, 48 bytes, and what is left. */
static void xts_step(unsigned step)
{
    if (step == 0)
        must(evc_aes_xts_start(&at.v.xts, &at.state.xts, at.iv));
    else if (step == 1)
        at.status = (now.sealing ? evc_aes_xts_encrypt_update : evc_aes_xts_decrypt_update)(
            &at.v.xts, &at.state.xts, at.in, at.out, 48);
    else
        at.status = (now.sealing ? evc_aes_xts_encrypt_finish : evc_aes_xts_decrypt_finish)(
            &at.v.xts, &at.state.xts, at.in + 48, at.out + 48, now.len_bytes - 48);
}

/* ---- CMAC and CBC-MAC */

/* The message is what is secret. */
static void know_cmac(struct version *v)
{
    struct evc_aes_cmac_key ref;

    for (size_t i = 0; i < now.len_bytes; i++)
        v->plaintext[i] = ciphertext[i] ^ v->user_key[i % 16];
    must(evc_aes_cmac_set_key(&ref, evc_aes_named("c_ref"), v->user_key, key_bits));
    must(evc_aes_cmac(&ref, v->plaintext, now.len_bytes, v->tag, 16));
}

static void make_cmac(void)
{
    at.status = evc_aes_cmac(&at.v.cmac, at.in, now.len_bytes, at.tag, now.tag_bytes);
}

static void make_cmac_verify(void)
{
    at.status = evc_aes_cmac_verify(&at.v.cmac, at.in, now.len_bytes, at.tag, now.tag_bytes);
}

static void cmac_step(unsigned step)
{
    if (step == 0)
        must(evc_aes_cmac_start(&at.state.cmac));
    else if (step <= N_PIECES)
        must(evc_aes_cmac_update(&at.v.cmac, &at.state.cmac, at.in + piece_begins(step - 1),
                                 piece_bytes(step - 1)));
    else if (!now.reads_tag)
        at.status = evc_aes_cmac_finish(&at.v.cmac, &at.state.cmac, at.tag, now.tag_bytes);
    else
        at.status = evc_aes_cmac_finish_verify(&at.v.cmac, &at.state.cmac, at.tag, now.tag_bytes);
}

static void make_cmac_many(void)
{
    must(evc_aes_cmac_many(&at.v.cmac, at.msgs, MANY));
}

static void make_cbcmac(void)
{
    at.status = evc_aes_cbcmac(&at.v.aes, at.tag, at.in, now.len_bytes);
}

/* ---- CCM */

static void know_ccm(struct version *v)
{
    uint8_t zeros[MODE_BYTES] = {0}, counter[16] = {2};

    memcpy(counter + 1, iv, 12);
    must(evc_aes_encrypt(&v->ref, counter, v->tag_mask, 1));
    counter[15] = 1;
    must(evc_aes_ctr(&v->ref, counter, zeros, v->stream, now.len_bytes));
    for (size_t i = 0; i < now.len_bytes; i++)
        v->plaintext[i] = ciphertext[i] ^ v->stream[i];
    must(evc_aes_ccm_seal(&v->ccm_ref, iv, 12, aad, sizeof aad, v->plaintext, zeros, now.len_bytes,
                          v->tag, now.tag_bytes));
}

static void make_ccm(void)
{
    at.status = now.sealing ? evc_aes_ccm_seal(&at.v.ccm, at.iv, 12, aad, sizeof aad, at.in, at.out,
                                               now.len_bytes, at.tag, now.tag_bytes)
                            : evc_aes_ccm_open(&at.v.ccm, at.iv, 12, aad, sizeof aad, at.in, at.out,
                                               now.len_bytes, at.tag, now.tag_bytes);
}

static void ccm_step(unsigned step)
{
    const size_t begins = step > 2 ? piece_begins(step - 3) : 0;

    if (step == 0)
        at.status = evc_aes_ccm_start(&at.v.ccm, &at.state.ccm, at.iv, 12, sizeof aad,
                                      now.len_bytes, now.tag_bytes);
    else if (step == 1)
        at.status = evc_aes_ccm_aad(&at.v.ccm, &at.state.ccm, aad, 3);
    else if (step == 2)
        at.status = evc_aes_ccm_aad(&at.v.ccm, &at.state.ccm, aad + 3, sizeof aad - 3);
    else if (step < 3 + N_PIECES)
        at.status = (now.sealing ? evc_aes_ccm_seal_update : evc_aes_ccm_open_update)(
            &at.v.ccm, &at.state.ccm, at.in + begins, at.out + begins, piece_bytes(step - 3));
    else if (now.sealing)
        at.status = evc_aes_ccm_seal_finish(&at.v.ccm, &at.state.ccm, at.tag);
    else
        at.status = evc_aes_ccm_open_finish(&at.v.ccm, &at.state.ccm, at.tag);
}

/* ---- Key wrap */

/* The keys that are wrapped differ, and so do their wrapped forms: these are of the length of the
 * plaintext and 8 bytes, and secret like it, for two versions have to be compared. */
static uint8_t wrapped[2][MODE_BYTES + 16];

static size_t wrap_bytes(void)
{
    return now.len_bytes < 16 ? 16 : now.len_bytes / 8 * 8;
}

static void know_wrap(struct version *v)
{
    for (size_t i = 0; i < wrap_bytes(); i++)
        v->plaintext[i] = ciphertext[i] ^ v->user_key[i % 16];
    must(evc_aes_kw_wrap(&v->ref, v->plaintext, wrapped[v - versions], wrap_bytes()));
}

static void make_wrap(void)
{
    static uint8_t out[MODE_BYTES + 16];

    at.status = evc_aes_kw_wrap(&at.v.aes, at.v.plaintext, out, wrap_bytes());
}

static void make_unwrap(void)
{
    static uint8_t out[MODE_BYTES + 16];

    at.status = evc_aes_kw_unwrap(&at.v.aes, wrapped[at_version], out, wrap_bytes() + 8);
}

static void make_padded_wrap(void)
{
    static uint8_t out[MODE_BYTES + 16];

    at.status = evc_aes_kwp_wrap(&at.v.aes, at.v.plaintext, out, wrap_bytes() - 3);
}

static void know_padded_wrap(struct version *v)
{
    must(evc_aes_kwp_wrap(&v->ref, v->plaintext, wrapped[v - versions], wrap_bytes() - 3));
}

static void make_padded_unwrap(void)
{
    static uint8_t out[MODE_BYTES + 16];
    size_t n_bytes;

    at.status = evc_aes_kwp_unwrap(&at.v.aes, wrapped[at_version], out, wrap_bytes() + 8, &n_bytes);
}

/* ---- GCM-SIV */

static uint8_t siv_scratch[EVC_GCM_SIV_MOST_SCRATCH_BYTES];

/* The plaintext differs; ciphertext and tag of each version are in wrapped. */
static void know_siv(struct version *v)
{
    for (size_t i = 0; i < now.len_bytes; i++)
        v->plaintext[i] = ciphertext[i] ^ v->user_key[i % 16];
    must(evc_gcm_siv_seal(&v->siv_ref, iv, 12, aad, sizeof aad, v->plaintext, wrapped[v - versions],
                          now.len_bytes, v->tag, 16, siv_scratch, sizeof siv_scratch));
}

static void make_siv_seal(void)
{
    static uint8_t tag[16];

    at.status = evc_gcm_siv_seal(&at.v.siv, at.iv, 12, aad, sizeof aad, at.v.plaintext, at.out,
                                 now.len_bytes, tag, 16, siv_scratch, sizeof siv_scratch);
}

static void make_siv_open(void)
{
    at.status =
        evc_gcm_siv_open(&at.v.siv, at.iv, 12, aad, sizeof aad, wrapped[at_version], at.out,
                         now.len_bytes, now.forged ? at.v.tag_mask : at.v.tag, 16, siv_scratch,
                         sizeof siv_scratch);
}

/* ---- All modes */

static const struct mode {
    const char *name;
    void (*know)(struct version *);
    void (*make)(void);          /* in one call */
    void (*step)(unsigned step); /* or one of n_steps */
    unsigned n_steps;
    bool sealing, whole_blocks, reads_tag, writes_tag, keys_of_two_sizes, keys_without_192;
} modes[] = {
    {.name = "cbc_encrypt",
     .know = know_cbc,
     .make = make_cbc,
     .sealing = true,
     .whole_blocks = true},
    {.name = "cbc_decrypt", .know = know_cbc, .make = make_cbc, .whole_blocks = true},
    {.name = "cbc_encrypt_many",
     .know = know_cbc_many,
     .make = make_cbc_many,
     .sealing = true,
     .whole_blocks = true},
    {.name = "ctr", .know = know_ctr, .make = make_ctr, .sealing = true},
    {.name = "ctr in pieces",
     .know = know_ctr,
     .step = ctr_step,
     .n_steps = 1 + N_PIECES,
     .sealing = true},
    {.name = "xts_encrypt",
     .know = know_xts,
     .make = make_xts,
     .sealing = true,
     .keys_of_two_sizes = true},
    {.name = "xts_decrypt", .know = know_xts, .make = make_xts, .keys_of_two_sizes = true},
    {.name = "xts_encrypt in pieces",
     .know = know_xts,
     .step = xts_step,
     .n_steps = 3,
     .sealing = true,
     .keys_of_two_sizes = true},
    {.name = "xts_decrypt in pieces",
     .know = know_xts,
     .step = xts_step,
     .n_steps = 3,
     .keys_of_two_sizes = true},
    {.name = "cbcmac",
     .know = know_cmac,
     .make = make_cbcmac,
     .sealing = true,
     .whole_blocks = true},
    {.name = "cmac", .know = know_cmac, .make = make_cmac, .sealing = true, .writes_tag = true},
    {.name = "cmac_verify",
     .know = know_cmac,
     .make = make_cmac_verify,
     .sealing = true,
     .reads_tag = true},
    {.name = "cmac in pieces",
     .know = know_cmac,
     .step = cmac_step,
     .n_steps = 2 + N_PIECES,
     .sealing = true,
     .writes_tag = true},
    {.name = "cmac_many",
     .know = know_cmac,
     .make = make_cmac_many,
     .sealing = true,
     .writes_tag = true},
    {.name = "ccm_seal", .know = know_ccm, .make = make_ccm, .sealing = true, .writes_tag = true},
    {.name = "ccm_open", .know = know_ccm, .make = make_ccm, .reads_tag = true},
    {.name = "ccm_seal in pieces",
     .know = know_ccm,
     .step = ccm_step,
     .n_steps = 4 + N_PIECES,
     .sealing = true,
     .writes_tag = true},
    {.name = "ccm_open in pieces",
     .know = know_ccm,
     .step = ccm_step,
     .n_steps = 4 + N_PIECES,
     .reads_tag = true},
    {.name = "cmac_verify in pieces",
     .know = know_cmac,
     .step = cmac_step,
     .n_steps = 2 + N_PIECES,
     .sealing = true,
     .reads_tag = true},
    {.name = "kw_wrap", .know = know_wrap, .make = make_wrap, .sealing = true},
    {.name = "kw_unwrap", .know = know_wrap, .make = make_unwrap, .sealing = true},
    {.name = "kwp_wrap", .know = know_wrap, .make = make_padded_wrap, .sealing = true},
    {.name = "kwp_unwrap", .know = know_padded_wrap, .make = make_padded_unwrap, .sealing = true},
    {.name = "gcm_siv_seal",
     .know = know_siv,
     .make = make_siv_seal,
     .sealing = true,
     .keys_without_192 = true},
    {.name = "gcm_siv_open",
     .know = know_siv,
     .make = make_siv_open,
     .sealing = true,
     .keys_without_192 = true},
    {.name = "cbc_encrypt_blocks_many",
     .know = know_cbc_many,
     .make = make_cbc_blocks_many,
     .sealing = true,
     .whole_blocks = true},
};

static void make_one_step(void)
{
    now.make_step(now.step);
}

static void prepare_mode(unsigned version)
{
    at.v = versions[version];
    at_version = version;
    memcpy(at.iv, iv, 16);
    memcpy(at.in, now.sealing ? at.v.plaintext : ciphertext, now.len_bytes);
    memset(at.out, 0, now.len_bytes);
    memset(at.tag, 0, sizeof at.tag);
    memset(at.many_tags, 0, sizeof at.many_tags);
    memcpy(at.tag, at.v.tag, now.tag_bytes);
    if (now.forged)
        memset(at.tag, 0x5a, now.tag_bytes);
    memset(&at.state, 0, sizeof at.state);
    for (size_t i = 0; i < MANY; i++)
        at.msgs[i] =
            (struct evc_msg){at.in + i * MANY_BYTES, i % 3 ? at.out + i * MANY_BYTES : NULL,
                             many_bytes(i), at.many_tags[i]};
    for (unsigned i = 0; now.make_step && i < now.step; i++)
        now.make_step(i);
}

static void know_keys(struct check *c)
{
    const struct evc_aes *ref = evc_aes_named("c_ref");

    random_bytes(&c->random, ciphertext, sizeof ciphertext);
    random_bytes(&c->random, iv, sizeof iv);
    for (unsigned i = 0; i < 2; i++) {
        struct version *v = &versions[i];
        memset(v, 0, sizeof *v);
        random_bytes(&c->random, v->user_key, sizeof v->user_key);
        must(evc_aes_set_key(&v->aes, kernel, v->user_key, key_bits));
        must(evc_aes_set_key(&v->ref, ref, v->user_key, key_bits));
        if (key_bits != 192) {
            const struct evc_ghash *ghash = ghash_for_siv(kernel, EVC_ALLOW_VARTIME);
            must(evc_gcm_siv_set_key(&v->siv, kernel, ghash, v->user_key, key_bits));
            must(evc_gcm_siv_set_key(&v->siv_ref, ref, evc_ghash_named("c_ref"), v->user_key,
                                     key_bits));
            must(evc_aes_xts_set_key(&v->xts, first, kernel, v->user_key, key_bits));
            must(evc_aes_xts_set_key(&v->xts_ref, ref, ref, v->user_key, key_bits));
        }
        must(evc_aes_cmac_set_key(&v->cmac, kernel, v->user_key, key_bits));
        must(evc_aes_ccm_set_key(&v->ccm, first, kernel, v->user_key, key_bits));
        must(evc_aes_ccm_set_key(&v->ccm_ref, ref, ref, v->user_key, key_bits));
        must(evc_aes_cmac_allow_short_tags(&v->cmac));
        must(evc_aes_ccm_allow_short_tags(&v->ccm));
        must(evc_aes_ccm_allow_short_tags(&v->ccm_ref));
    }
}

/* One message of a mode, whole or each of its pieces. */
static void look_at_mode(struct check *c, const struct mode *mode, size_t len_bytes,
                         size_t tag_bytes, bool forged)
{
    const bool tags = mode->reads_tag || mode->writes_tag;
    const bool many = mode->make == make_cbc_many || mode->make == make_cbc_blocks_many ||
                      mode->make == make_cmac_many;
    struct residue_call call = {.operation = mode->name, .prepare = prepare_mode};

    now.len_bytes = many ? MANY * MANY_BYTES : len_bytes;
    now.tag_bytes = tags ? tag_bytes : 0;
    now.sealing = mode->sealing;
    now.reads_tag = mode->reads_tag;
    now.forged = forged;
    now.make_step = mode->step;
    for (unsigned i = 0; i < 2; i++)
        mode->know(&versions[i]);
    call.make = mode->make ? mode->make : make_one_step;
    call.given = many ? at.many_tags[0] : at.tag;
    call.given_bytes = many ? sizeof at.many_tags : now.tag_bytes;
    call.secrets[0] = user_key_secret(at.v.user_key);
    call.secrets[1] =
        schedule_secret(mode->keys_of_two_sizes ? evc_aes_xts_data_key(&at.v.xts) : &at.v.aes);
    call.secrets[2] = (struct residue_secret){"plaintext", at.v.plaintext, now.len_bytes};
    call.secrets[3] = (struct residue_secret){"key stream", at.v.stream, now.len_bytes};
    call.secrets[4] = (struct residue_secret){"tag mask", at.v.tag_mask, 16};
    call.secrets[5] = (struct residue_secret){"full tag", at.v.tag, 16};
    for (now.step = 0; now.step < (mode->step ? mode->n_steps : 1); now.step++) {
        const char *with = first == kernel ? "" : ", first key by ";
        const char *other = first == kernel ? "" : evc_aes_kernel(first)->name;
        snprintf(call.sizes, sizeof call.sizes, "%u-bit key, %zu bytes%s%s", key_bits,
                 now.len_bytes, with, other);
        if (mode->step)
            snprintf(call.sizes, sizeof call.sizes, "%u-bit key, step %u of %zu bytes%s%s",
                     key_bits, now.step, now.len_bytes, with, other);
        residue_look(c, &call);
    }
}

static void look_at_modes(struct check *c, size_t len_bytes)
{
    for (size_t i = 0; i < N(modes); i++) {
        const struct mode *mode = &modes[i];
        const size_t len = mode->whole_blocks ? (len_bytes + 15) / 16 * 16 : len_bytes;
        if ((mode->keys_without_192 && key_bits == 192) ||
            (mode->keys_of_two_sizes && (key_bits == 192 || len < 16)) ||
            (mode->step == xts_step && len < 64))
            continue;
        /* modes of one key have no first kernel */
        if (first != kernel && !mode->keys_of_two_sizes && mode->know != know_ccm)
            continue;
        look_at_mode(c, mode, len, 16, false);
        if ((mode->writes_tag || mode->reads_tag) && mode->make != make_cmac_many) {
            look_at_mode(c, mode, len, 4, false);
            look_at_mode(c, mode, len, 8, false);
        }
        if (mode->reads_tag)
            look_at_mode(c, mode, len, 16, true);
    }
}

/* Lengths that end before, at and behind the end of a block; two batches and more. The first two
 * end in the middle of one: then the part that is there and the part that is not are both long
 * enough to be noticed. */
static void look_at_lengths(struct check *c)
{
    const size_t most = 16 * 2 * batch() + 72;
    const size_t few[] = {72, most < MODE_BYTES ? most : MODE_BYTES, 5, 0, 16, 96, 33, 117, 69};

    for (size_t i = 0; i < (c->quick ? 3 : N(few)); i++) {
        key_bits = key_sizes[(i + 2) % N(key_sizes)];
        know_keys(c);
        look_at_modes(c, few[i]);
        if (c->quick || first != kernel)
            continue;
        memset(iv + 12, 0xff, 4); /* the counter wraps within the message */
        look_at_mode(c, &modes[3], few[i], 0, false);
        look_at_mode(c, &modes[4], few[i], 0, false);
    }
}

/* With keys of one kernel, and then with two: what the second leaves, the `clear` of
 * the first may not clear. */
static void look_at_all_modes(struct check *c)
{
    first = kernel;
    look_at_lengths(c);
    for (unsigned use = EVC_USE_PARALLEL; first == kernel && use <= EVC_USE_SERIAL; use++)
        first = evc_aes_select(evc_cpu_features(), 0, (enum evc_use)use);
    if (first && first != kernel)
        look_at_lengths(c);
}

enum result aes_modes_leave_nothing_behind(struct check *c)
{
    return look_with_kernels(c, look_at_all_modes);
}

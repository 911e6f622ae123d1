/* SPDX-License-Identifier: MIT */
/*
 * calls_keep_the_abi: every slot of every kernel restores the registers that belong to its caller,
 * the stack pointer and the modes of the CPU, with a stack that is aligned as little as the calling
 * convention allows (abi/abi.h). Slots are called directly: the public functions around them are C,
 * and would restore registers themselves.
 */
#include "check_abi.h"

#include <string.h>

#include "everycore/aes.h"
#include "everycore/bn.h"
#include "everycore/bn_words.h"
#include "everycore/gcm.h"
#include "everycore/ghash.h"
#include "everycore/qarma.h"
#include "everycore/sha2.h"
#include "everycore/x25519.h"

#include "abi/abi.h"
#include "gcm_kernels.h"
#include "key_room.h"
#include "names.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

#define MAX_BLOCKS 320 /* of one call */
#define MAX_AAD 100    /* bytes */

static uint8_t in[16 * MAX_BLOCKS], out[16 * MAX_BLOCKS], aad[MAX_AAD];
static uint8_t block[16], second_block[16], user_key[32];

/* The arguments of a slot of any primitive. The result of a slot goes to a variable of its own,
 * since a function that stores it would keep a register for the address. */
struct call {
    const void *slots; /* the descriptor */
    void *key;
    size_t n_blocks, len_bytes, aad_bytes;
};
static volatile enum evc_status status;
static volatile uint64_t number;

/* Calls a slot of the descriptor that c->slots is. */
#define SLOT(primitive, slot, ...)                                                     \
    static void primitive##_##slot(void *vcall)                                        \
    {                                                                                  \
        const struct call *c = vcall;                                                  \
                                                                                       \
        ((const struct evc_##primitive *)c->slots)->slot(__VA_ARGS__);                 \
    }

static enum result keeps(struct check *c, void (*run)(void *), struct call *call, const char *slot)
{
    const char *broken = abi_call(run, call);

    c->cases++;
    return broken ? check_fail(c, "%s, %zu blocks, %zu bytes of text, %zu of associated data: %s",
                               slot, call->n_blocks, call->len_bytes, call->aad_bytes, broken)
                  : PASS;
}

static void fill(struct check *c)
{
    random_bytes(&c->random, in, sizeof in);
    random_bytes(&c->random, aad, sizeof aad);
    random_bytes(&c->random, block, sizeof block);
    random_bytes(&c->random, second_block, sizeof second_block);
    random_bytes(&c->random, user_key, sizeof user_key);
}

/* Numbers of blocks that take each path of a kernel that works on batches: few blocks, around one
 * batch, several batches and a rest. Returns how many there are. */
static size_t sizes_of(size_t batch, size_t sizes[16])
{
    const size_t some[] = {1,     2,         3,         4,         5,
                           8,     9,         batch - 1, batch,     batch + 1,
                           batch + batch / 2, 2 * batch, 2 * batch + 3, 4 * batch + 5, 6 * batch};
    size_t n = 0;

    for (size_t i = 0; i < N(some); i++)
        if (some[i] && some[i] <= MAX_BLOCKS)
            sizes[n++] = some[i];
    return n;
}

/* ---- AES ------------------------------------------------------------------------------------- */

#define MESSAGES 20
static struct evc_msg messages[MESSAGES];

SLOT(aes, set_key, c->key, user_key)
SLOT(aes, encrypt, c->key, in, out, c->n_blocks)
SLOT(aes, decrypt, c->key, in, out, c->n_blocks)
SLOT(aes, ctr32, c->key, block, in, out, c->len_bytes)
SLOT(aes, ctr32_le, c->key, block, in, out, c->len_bytes)
SLOT(aes, cbc_encrypt, c->key, block, in, out, c->n_blocks)
SLOT(aes, cbc_decrypt, c->key, block, in, out, c->n_blocks)
SLOT(aes, cbcmac, c->key, block, in, c->n_blocks)
SLOT(aes, xts_encrypt, c->key, block, in, out, c->n_blocks)
SLOT(aes, xts_decrypt, c->key, block, in, out, c->n_blocks)
SLOT(aes, cbc_encrypt_many, c->key, messages, c->n_blocks)
SLOT(aes, ccm_encrypt, c->key, block, second_block, in, out, c->n_blocks)
SLOT(aes, ccm_decrypt, c->key, block, second_block, in, out, c->n_blocks)
SLOT(aes, cbc_encrypt_message, c->key, block, in, out, 16 * c->n_blocks)

/* As many messages as there are blocks to be, of one to four blocks each, every
 * third without output. */
static void lay_out_messages(void)
{
    static uint8_t ivs[MESSAGES][16];

    for (size_t i = 0; i < MESSAGES; i++)
        messages[i] = (struct evc_msg){.in = in + 64 * i,
                                       .out = i % 3 ? out + 64 * i : NULL,
                                       .len_bytes = 16 * (1 + i % 4),
                                       .iv = ivs[i]};
}

enum result aes_calls_keep_the_abi(struct check *c)
{
    static KEY_ROOM(union evc_aes_key) room;
    const struct evc_aes *aes = evc_aes_named(c->line->name);
    const struct {
        const char *name;
        bool is_there;
        void (*run)(void *);
    } slots[] = {
        {"set_key", true, aes_set_key},
        {"encrypt", true, aes_encrypt},
        {"decrypt", true, aes_decrypt},
        {"ctr32", aes->ctr32 != NULL, aes_ctr32},
        {"ctr32_le", aes->ctr32_le != NULL, aes_ctr32_le},
        {"cbc_encrypt", aes->cbc_encrypt != NULL, aes_cbc_encrypt},
        {"cbc_decrypt", aes->cbc_decrypt != NULL, aes_cbc_decrypt},
        {"cbcmac", aes->cbcmac != NULL, aes_cbcmac},
        {"xts_encrypt", aes->xts_encrypt != NULL, aes_xts_encrypt},
        {"xts_decrypt", aes->xts_decrypt != NULL, aes_xts_decrypt},
        {"cbc_encrypt_many", aes->cbc_encrypt_many != NULL, aes_cbc_encrypt_many},
        {"ccm_encrypt", aes->ccm_encrypt != NULL, aes_ccm_encrypt},
        {"ccm_decrypt", aes->ccm_decrypt != NULL, aes_ccm_decrypt},
        {"cbc_encrypt_message", aes->cbc_encrypt_message != NULL, aes_cbc_encrypt_message},
    };
    struct call call = {aes, &room.key, 0, 0, 0};
    size_t sizes[16];
    const size_t n_sizes = sizes_of(aes->kernel.batch, sizes);

    if (abi_missing())
        return check_skip(c, abi_missing());
    fill(c);
    for (size_t i = 0; i < 3 * n_sizes; i++) {
        const unsigned key_bits = 128 + 64 * (unsigned)(i % 3);
        call.n_blocks = sizes[i / 3];
        if (evc_aes_set_key(&room.key, aes, user_key, key_bits) != EVC_OK)
            return check_fail(c, "a key of %u bits is refused", key_bits);
        lay_out_messages();
        for (size_t j = 0; j < N(slots); j++)
            for (size_t less = 0; less < 10 && slots[j].is_there; less += 7) {
                struct call one = call;
                one.len_bytes = 16 * call.n_blocks - less;
                if (slots[j].run == aes_cbc_encrypt_many && one.n_blocks > MESSAGES)
                    one.n_blocks = MESSAGES;
                if (keeps(c, slots[j].run, &one, slots[j].name) == FAIL)
                    return FAIL;
                if (slots[j].run != aes_ctr32 && slots[j].run != aes_ctr32_le)
                    break;
            }
    }
    return PASS;
}

/* ---- GHASH ----------------------------------------------------------------------------------- */

SLOT(ghash, set_key, c->key, user_key)
SLOT(ghash, blocks, c->key, block, in, c->n_blocks)
SLOT(ghash, reversed_blocks, c->key, block, in, c->n_blocks)

static union evc_aes_key generating_key, message_key; /* of GCM-SIV */

SLOT(ghash, siv_keys, &generating_key, user_key, &message_key, c->key, c->n_blocks, in,
     16 * c->n_blocks - 1, block)
SLOT(ghash, siv_open, &message_key, c->key, block, second_block, in, out, c->n_blocks)
SLOT(ghash, siv_tag, &message_key, c->key, c->n_blocks + 1, user_key, in, 16 * c->n_blocks - 3,
     user_key, block, second_block)

static enum result siv_slots_keep(struct check *c, struct call *call)
{
    const struct evc_ghash *ghash = call->slots;
    const size_t n_blocks = call->n_blocks, batch = ghash->kernel.batch;

    if (!ghash->siv_keys || !n_blocks || ghash->siv_needs & ~EVC_TUNE_MASK & ~features_here())
        return PASS;
    if (evc_aes_set_encrypt_key(&generating_key, evc_aes_named("c_ref"), user_key,
                                n_blocks % 2 ? 128 : 256) != EVC_OK)
        return check_fail(c, "a key is refused");
    message_key.head.rounds = generating_key.head.rounds;
    if (keeps(c, ghash_siv_keys, call, "siv_keys") == FAIL)
        return FAIL;
    call->n_blocks = n_blocks / batch * batch;
    if (call->n_blocks && keeps(c, ghash_siv_open, call, "siv_open") == FAIL)
        return FAIL;
    call->n_blocks = n_blocks;
    return keeps(c, ghash_siv_tag, call, "siv_tag");
}

enum result ghash_calls_keep_the_abi(struct check *c)
{
    static KEY_ROOM(struct { EVC_ALIGN(16) uint8_t bytes[8192]; }) room;
    const struct evc_ghash *ghash = evc_ghash_named(c->line->name);
    struct call call = {ghash, &room.key, 0, 0, 0};
    size_t sizes[16];
    const size_t n_sizes = sizes_of(ghash->kernel.batch, sizes);

    if (abi_missing())
        return check_skip(c, abi_missing());
    fill(c);
    if (evc_ghash_set_key_in(&room.key, sizeof room.key, ghash, user_key) != EVC_OK)
        return check_fail(c, "a key is refused");
    if (keeps(c, ghash_set_key, &call, "set_key") == FAIL)
        return FAIL;
    for (size_t i = 0; i < n_sizes; i++) {
        call.n_blocks = sizes[i];
        if (keeps(c, ghash_blocks, &call, "blocks") == FAIL ||
            (ghash->reversed_blocks &&
             keeps(c, ghash_reversed_blocks, &call, "reversed_blocks") == FAIL) ||
            siv_slots_keep(c, &call) == FAIL)
            return FAIL;
    }
    return PASS;
}

/* ---- SHA-2 ----------------------------------------------------------------------------------- */

static uint32_t words32[8];
static uint64_t words64[8];

SLOT(sha2, blocks256, words32, in, c->n_blocks)
SLOT(sha2, blocks512, words64, in, c->n_blocks)

static uint8_t rows[EVC_SHA2_ROWS * 64];
static const uint8_t *lanes_in[16];

#define LANES_SLOTS(bits)                                                                         \
    static void blocks##bits##_many(void *vcall)                                                  \
    {                                                                                             \
        const struct call *c = vcall;                                                             \
                                                                                                  \
        ((const struct evc_sha2 *)c->slots)->lanes##bits.blocks(rows, lanes_in, c->n_blocks);     \
    }                                                                                             \
    static void iterate##bits##_many(void *vcall)                                                 \
    {                                                                                             \
        const struct call *c = vcall;                                                             \
                                                                                                  \
        ((const struct evc_sha2 *)c->slots)->lanes##bits.iterate(rows, 8, (uint32_t)c->n_blocks); \
    }
LANES_SLOTS(256)
LANES_SLOTS(512)

enum result sha2_calls_keep_the_abi(struct check *c)
{
    const struct evc_sha2 *sha2 = evc_sha2_named(c->line->name);
    struct call call = {sha2, NULL, 0, 0, 0};

    if (abi_missing())
        return check_skip(c, abi_missing());
    fill(c);
    for (size_t i = 0; i < N(lanes_in); i++)
        lanes_in[i] = in;
    for (call.n_blocks = 1; call.n_blocks <= 9; call.n_blocks++) {
        if (sha2->lanes256.n && (keeps(c, blocks256_many, &call, "blocks of lanes256") == FAIL ||
                                 keeps(c, iterate256_many, &call, "iterate of lanes256") == FAIL))
            return FAIL;
        if (sha2->lanes512.n && (keeps(c, blocks512_many, &call, "blocks of lanes512") == FAIL ||
                                 keeps(c, iterate512_many, &call, "iterate of lanes512") == FAIL))
            return FAIL;
        if (sha2->blocks256 && keeps(c, sha2_blocks256, &call, "blocks256") == FAIL)
            return FAIL;
        if (sha2->blocks512 && keeps(c, sha2_blocks512, &call, "blocks512") == FAIL)
            return FAIL;
    }
    return PASS;
}

/* ---- X25519 ---------------------------------------------------------------------------------- */

SLOT(x25519, multiply, out, in, in + 32)

enum result x25519_calls_keep_the_abi(struct check *c)
{
    struct call call = {evc_x25519_named(c->line->name), NULL, 0, 0, 0};

    if (abi_missing())
        return check_skip(c, abi_missing());
    fill(c);
    return keeps(c, x25519_multiply, &call, "multiply");
}

/* ---- GCM ------------------------------------------------------------------------------------- */

#define MESSAGE c->key, user_key, 12, aad, c->aad_bytes, in, out, c->len_bytes, block, 16

SLOT(gcm, encrypt, c->key, in, out, c->n_blocks)
SLOT(gcm, hash, c->key, block, in, c->n_blocks)
SLOT(gcm, seal_blocks, c->key, block, second_block, in, out, c->n_blocks)
SLOT(gcm, open_blocks, c->key, block, second_block, in, out, c->n_blocks)

/* gcm_set_key is another function, of gcm_kernels.h. */
static void gcm_set_key_slot(void *vcall)
{
    const struct call *c = vcall;

    ((const struct evc_gcm *)c->slots)->set_key(c->key, user_key);
}

static void gcm_seal(void *vcall)
{
    const struct call *c = vcall;

    status = ((const struct evc_gcm *)c->slots)->seal(MESSAGE);
}

static void gcm_open(void *vcall)
{
    const struct call *c = vcall;

    status = ((const struct evc_gcm *)c->slots)->open(MESSAGE);
}

static void gcm_open_output_tag(void *vcall)
{
    const struct call *c = vcall;

    status = ((const struct evc_gcm *)c->slots)->open_output_tag(MESSAGE);
}

static void gcm_seal_behind_hashed_aad(void *vcall)
{
    const struct call *c = vcall;

    status = ((const struct evc_gcm *)c->slots)
                 ->seal(c->key, user_key, 12, aad, c->aad_bytes | EVC_GCM_HASHED_AAD, in, out,
                        c->len_bytes, block, 16);
}

static enum result messages_keep(struct check *c, struct call *call)
{
    static const size_t aad_sizes[] = {0, 13, 16, 20, MAX_AAD};

    for (size_t i = 0; i < N(aad_sizes); i++)
        for (size_t less = 0; less < 10; less += 7) {
            call->aad_bytes = aad_sizes[i];
            call->len_bytes = 16 * call->n_blocks - less;
            if (keeps(c, gcm_seal, call, "seal") == FAIL ||
                keeps(c, gcm_open, call, "open") == FAIL ||
                keeps(c, gcm_open_output_tag, call, "open_output_tag") == FAIL ||
                (call->aad_bytes && keeps(c, gcm_seal_behind_hashed_aad, call,
                                          "seal behind hashed associated data") == FAIL))
                return FAIL;
        }
    return PASS;
}

enum result gcm_calls_keep_the_abi(struct check *c)
{
    static KEY_ROOM(union evc_gcm_key) room;
    const struct gcm_kernel k = gcm_kernel_named(c->line->name);
    struct call call = {NULL, &room.key, 0, 0, 0};
    size_t sizes[16];
    const size_t n_sizes = sizes_of(gcm_batch(&k), sizes);

    if (abi_missing())
        return check_skip(c, abi_missing());
    fill(c);
    for (size_t i = 0; i < n_sizes; i++) {
        const struct evc_gcm *gcm;
        if (gcm_set_key(&k, &room.key, user_key, 128 + 64 * (unsigned)(i % 3)) != EVC_OK)
            return check_fail(c, "a key is refused");
        gcm = room.key.head.kernel;
        call.slots = gcm;
        call.n_blocks = sizes[i];
        call.len_bytes = call.aad_bytes = 0;
        if ((gcm->set_key && keeps(c, gcm_set_key_slot, &call, "set_key") == FAIL) ||
            keeps(c, gcm_encrypt, &call, "encrypt") == FAIL ||
            keeps(c, gcm_hash, &call, "hash") == FAIL ||
            keeps(c, gcm_seal_blocks, &call, "seal_blocks") == FAIL ||
            keeps(c, gcm_open_blocks, &call, "open_blocks") == FAIL ||
            (gcm->seal && messages_keep(c, &call) == FAIL))
            return FAIL;
    }
    return PASS;
}

/* ---- QARMA ----------------------------------------------------------------------------------- */

static uint64_t numbers[MAX_BLOCKS], tweaks[MAX_BLOCKS], results[MAX_BLOCKS];

SLOT(qarma, set_key, c->key, numbers[0], numbers[1])
SLOT(qarma, encrypt_many, c->key, numbers, tweaks, results, c->n_blocks)

static void qarma_encrypt(void *vcall)
{
    const struct call *c = vcall;

    number = ((const struct evc_qarma *)c->slots)->encrypt(c->key, numbers[2], numbers[3]);
}

static void qarma_decrypt(void *vcall)
{
    const struct call *c = vcall;

    number = ((const struct evc_qarma *)c->slots)->decrypt(c->key, numbers[2], numbers[3]);
}

enum result qarma_calls_keep_the_abi(struct check *c)
{
    static KEY_ROOM(union evc_qarma_key) room;
    const struct evc_qarma *qarma = evc_qarma_named(c->line->name);
    struct call call = {qarma, &room.key, 0, 0, 0};

    if (abi_missing())
        return check_skip(c, abi_missing());
    random_bytes(&c->random, (uint8_t *)numbers, sizeof numbers);
    random_bytes(&c->random, (uint8_t *)tweaks, sizeof tweaks);
    for (unsigned rounds = EVC_QARMA_MIN_ROUNDS; rounds <= EVC_QARMA_MAX_ROUNDS; rounds++) {
        if (evc_qarma_set_key(&room.key, qarma, numbers[0], numbers[1], rounds % 3, rounds) !=
            EVC_OK)
            return check_fail(c, "a key is refused");
        call.n_blocks = 1;
        if (keeps(c, qarma_set_key, &call, "set_key") == FAIL ||
            keeps(c, qarma_encrypt, &call, "encrypt") == FAIL ||
            keeps(c, qarma_decrypt, &call, "decrypt") == FAIL)
            return FAIL;
        for (; qarma->encrypt_many && call.n_blocks < 40; call.n_blocks += 3)
            if (keeps(c, qarma_encrypt_many, &call, "encrypt_many") == FAIL)
                return FAIL;
    }
    return PASS;
}

/* ---- Big numbers ----------------------------------------------------------------------------- */

#define MAX_NUMBER 320 /* bytes of a number in a kernel's form: of moduli of 100 bytes, with
                        * room for a wider radix */

/* All slots of one modulus; power: of an exponent of 2 bytes, in every lane. */
static struct {
    EVC_ALIGN(64) uint8_t x[MAX_NUMBER], y[MAX_NUMBER], table[4 * MAX_NUMBER], scratch[1 << 17];
    struct evc_bn_shape shape;
    struct evc_bn_exp powers[64];
    uint8_t bytes[100];
} bn_at;

SLOT(bn, shape, c->len_bytes, &bn_at.shape)
SLOT(bn, set_modulus, c->key, bn_at.bytes)
SLOT(bn, load, c->key, bn_at.x, bn_at.bytes, c->len_bytes)
SLOT(bn, store, c->key, bn_at.bytes, bn_at.x)
SLOT(bn, add, c->key, bn_at.x, bn_at.x, bn_at.y, bn_at.scratch)
SLOT(bn, sub, c->key, bn_at.x, bn_at.x, bn_at.y, bn_at.scratch)
SLOT(bn, mul, c->key, bn_at.x, bn_at.x, bn_at.y, bn_at.scratch)
SLOT(bn, sqr, c->key, bn_at.x, bn_at.x, bn_at.scratch)
SLOT(bn, select, c->key, bn_at.y, bn_at.table, 4, 2)
SLOT(bn, raise, c->key, bn_at.x, 2, bn_at.y, bn_at.table, 4, 2, bn_at.scratch)
SLOT(bn, exp_many, bn_at.powers, c->n_blocks, bn_at.scratch)

static enum result bn_slots_keep(struct check *c, const struct evc_bn *bn, struct call *call)
{
    const struct {
        const char *name;
        void (*run)(void *);
    } slots[] = {{"shape", bn_shape}, {"set_modulus", bn_set_modulus},
                 {"load", bn_load},   {"add", bn_add},
                 {"sub", bn_sub},     {"mul", bn_mul},
                 {"sqr", bn_sqr},     {"store", bn_store}};

    for (size_t i = 0; i < N(slots); i++)
        if (keeps(c, slots[i].run, call, slots[i].name) == FAIL)
            return FAIL;
    if (bn->select && keeps(c, bn_select, call, "select") == FAIL)
        return FAIL;
    if (bn->raise && keeps(c, bn_raise, call, "raise") == FAIL)
        return FAIL;
    for (call->n_blocks = 2; bn->exp_many && call->n_blocks <= bn->lanes; call->n_blocks++)
        if (keeps(c, bn_exp_many, call, "exp_many") == FAIL)
            return FAIL;
    return PASS;
}

enum result bn_calls_keep_the_abi(struct check *c)
{
    static KEY_ROOM(struct { EVC_ALIGN(16) uint8_t bytes[4096]; }) room;
    static uint8_t result[64][100];
    const struct evc_bn *bn = evc_bn_named(c->line->name);
    struct call call = {.slots = bn, .key = &room.key};

    if (abi_missing())
        return check_skip(c, abi_missing());
    for (size_t n_bytes = 16; n_bytes <= 100; n_bytes += 7) {
        const struct evc_bn_modulus *n = (const void *)&room.key;
        uint8_t modulus[100];
        call.len_bytes = n_bytes;
        random_bytes(&c->random, modulus, n_bytes);
        modulus[0] |= 0x80;
        modulus[n_bytes - 1] |= 1;
        memset(bn_at.bytes, 1, sizeof bn_at.bytes);
        if (evc_bn_set_modulus_in(&room.key, sizeof room.key, bn, modulus, n_bytes) != EVC_OK ||
            n->shape.form_bytes > MAX_NUMBER || n->shape.scratch_bytes > sizeof bn_at.scratch ||
            (bn->exp_many && bn->exp_many_bytes(&n->shape) > sizeof bn_at.scratch) ||
            bn->lanes > N(bn_at.powers))
            return check_fail(
                c, "a modulus of %zu bytes is refused, or needs more memory than this property has",
                n_bytes);
        for (size_t i = 0; i < N(bn_at.powers); i++)
            bn_at.powers[i] =
                (struct evc_bn_exp){n, bn_at.bytes, bn_at.bytes, result[i], 2, EVC_OK};
        if (bn_slots_keep(c, bn, &call) == FAIL)
            return FAIL;
    }
    return PASS;
}

/* ---- Word primitives ------------------------------------------------------------------------- */

#define MAX_WORDS 40

static evc_bn_word words_r[2 * MAX_WORDS], words_a[MAX_WORDS], words_b[MAX_WORDS], words_w;
static struct evc_bn_divisor divisor;
static volatile evc_bn_word word_returned;

#define WORDS_SLOT(slot, ...)                                                          \
    static void bn_words_##slot(void *vcall)                                           \
    {                                                                                  \
        const struct call *c = vcall;                                                  \
                                                                                       \
        word_returned = ((const struct evc_bn_words *)c->slots)->slot(__VA_ARGS__);    \
    }
WORDS_SLOT(add_words, words_r, words_a, words_b, c->n_blocks)
WORDS_SLOT(sub_words, words_r, words_a, words_b, c->n_blocks)
WORDS_SLOT(mul_words, words_r, words_a, c->n_blocks, words_w)
WORDS_SLOT(mul_add_words, words_r, words_a, c->n_blocks, words_w)
WORDS_SLOT(div_words, words_a[0], words_a[1], words_w)
WORDS_SLOT(mod_words, words_a, c->n_blocks, &divisor)
SLOT(bn_words, sqr_words, words_r, words_a, c->n_blocks)
SLOT(bn_words, mul_comba4, words_r, words_a, words_b)
SLOT(bn_words, mul_comba8, words_r, words_a, words_b)
SLOT(bn_words, sqr_comba4, words_r, words_a)
SLOT(bn_words, sqr_comba8, words_r, words_a)

enum result bn_words_calls_keep_the_abi(struct check *c)
{
    static const struct {
        const char *name;
        void (*run)(void *);
    } slots[] = {
        {"add_words", bn_words_add_words},         {"sub_words", bn_words_sub_words},
        {"mul_words", bn_words_mul_words},         {"mul_add_words", bn_words_mul_add_words},
        {"sqr_words", bn_words_sqr_words},         {"mul_comba4", bn_words_mul_comba4},
        {"mul_comba8", bn_words_mul_comba8},       {"sqr_comba4", bn_words_sqr_comba4},
        {"sqr_comba8", bn_words_sqr_comba8},       {"div_words", bn_words_div_words},
        {"mod_words", bn_words_mod_words},
    };
    struct call call = {evc_bn_words_named(c->line->name), NULL, 0, 0, 0};

    if (abi_missing())
        return check_skip(c, abi_missing());
    random_bytes(&c->random, (uint8_t *)words_a, sizeof words_a);
    random_bytes(&c->random, (uint8_t *)words_b, sizeof words_b);
    words_w = words_b[0] | 1;
    for (unsigned large = 0; large < 2; large++) {
        if (evc_bn_divisor_set(&divisor, large ? (evc_bn_word)-3 : 65521) != EVC_OK)
            return check_fail(c, "a divisor is refused");
        for (call.n_blocks = 0; call.n_blocks <= MAX_WORDS; call.n_blocks++)
            for (size_t i = 0; i < N(slots); i++)
                if (keeps(c, slots[i].run, &call, slots[i].name) == FAIL)
                    return FAIL;
    }
    return PASS;
}

/* SPDX-License-Identifier: MIT */
#include "answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hashes.h"
#include "must.h"
#include "numbers.h"
#include "pac_record.h"

void fill(uint8_t *to, size_t n_bytes, uint32_t seed)
{
    for (size_t i = 0; i < n_bytes; i++) {
        seed = seed * 1664525 + 1013904223; /* Numerical Recipes, 2nd edition, section 7.1 */
        to[i] = (uint8_t)(seed >> 24);
    }
}

void draw(uint8_t *to, size_t n_bytes, enum drawn what, unsigned secret)
{
    if (secret >= USUAL_SECRET)
        fill(to, n_bytes, (uint32_t)what + TEXT * (secret - USUAL_SECRET));
    else /* the keys of XTS are to differ */
        memset(to, (secret == 0) == (what == TWEAK_KEY) ? 0xff : 0, n_bytes);
}

void draw_keys(struct material *m, unsigned secret)
{
    draw(m->user_key, sizeof m->user_key, USER_KEY, secret);
    draw(m->tweak_key, sizeof m->tweak_key, TWEAK_KEY, secret);
    draw(m->iv, sizeof m->iv, IV, secret);
    m->iv[12] = 0; /* a counter of 32 bits does not wrap */
}

static void expand_xts(struct material *m, unsigned key_bits)
{
    uint8_t both[64];

    if (key_bits == 192) { /* XTS has no such keys */
        evc_wipe(&m->xts, sizeof m->xts);
        return;
    }
    memcpy(both, m->user_key, key_bits / 8);
    memcpy(both + key_bits / 8, m->tweak_key, key_bits / 8);
    must(evc_aes_xts_set_key(&m->xts, &answers_aes, &answers_aes, both, key_bits));
}

static void expand_ghash(struct material *m)
{
    const uint8_t zero[16] = {0};

    must(evc_aes_encrypt(&m->aes, zero, m->h[0], 1));
    must(evc_ghash_set_key(&m->ghash, &answers_ghash, m->h[0]));
    for (unsigned i = 1; i < 8; i++) { /* the hash of one block is that block times H */
        memset(m->h[i], 0, 16);
        evc_ghash_blocks(&m->ghash, m->h[i], m->h[i - 1], 1);
    }
}

static void expand_pac(struct material *m)
{
    const struct evc_pac_kernels kernels = {&answers_qarma, NULL};
    uint64_t halves[2];

    memcpy(halves, m->user_key, 16);
    must(evc_pac_set_key(&m->qarma5, &evc_pac_qarma5, &kernels, halves[0], halves[1]));
    must(evc_pac_set_key(&m->qarma3, &evc_pac_qarma3, &kernels, halves[0], halves[1]));
    must(evc_pac_set_key(&m->impdef, &evc_pac_impdef, &kernels, halves[0], halves[1]));
}

void expand_keys(struct material *m, unsigned key_bits, enum mode mode)
{
    if (evc_aes_set_key(&m->aes, &answers_aes, m->user_key, key_bits) != EVC_OK) {
        fprintf(stderr, "no keys of %u bits\n", key_bits);
        exit(2);
    }
    switch (mode) {
    case MODE_xts_enc:
    case MODE_xts_dec: expand_xts(m, key_bits); break;
    case MODE_gcm_seal:
    case MODE_gcm_open:
        must(evc_gcm_set_pair(&m->gcm, &answers_aes, &answers_ghash, m->user_key, key_bits));
        expand_ghash(m);
        break;
    case MODE_ghash: expand_ghash(m); break;
    default: expand_pac(m); break;
    }
}

enum mode inverse(enum mode mode)
{
    switch (mode) {
    case MODE_ecb_dec: return MODE_ecb_enc;
    case MODE_cbc_dec: return MODE_cbc_enc;
    case MODE_xts_dec: return MODE_xts_enc;
    case MODE_gcm_open: return MODE_gcm_seal;
    default: return mode;
    }
}

static void codes(const struct evc_pac_key *key, bool chained, const uint8_t *in, uint8_t *out,
                  size_t n_bytes)
{
    uint64_t modifier, data = 0;

    for (size_t i = 0; i + 8 <= n_bytes; i += 8) {
        memcpy(&modifier, in + i, 8);
        data = evc_pac_mac(key, chained ? data : modifier, modifier);
        memcpy(out + i, &data, 8);
    }
}

static uint64_t authenticated(const struct pac_record *r, const struct evc_pac_rules *rules,
                              const struct evc_pac_key *key, uint64_t pointer)
{
    const struct evc_pac_result result = evc_pac_auth(
        rules, key, r->key_b ? EVC_PAC_KEY_B : EVC_PAC_KEY_A, r->combined, pointer, r->modifier);

    return result.fault ? PAC_RECORD_FAULT : result.value;
}

static void instructions(const struct evc_pac_key *key, const uint8_t *in, uint8_t *out,
                         size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i += PAC_RECORD_BYTES) {
        const struct pac_record r = pac_record(in + i);
        struct evc_pac_rules rules;
        uint64_t said[4];

        must(evc_pac_set_rules(&rules, r.level, r.va_bits, r.tbi, EVC_PAC_EXTEND_BY_TBI));
        said[0] = evc_pac_add(&rules, key, r.pointer, r.modifier);
        said[1] = authenticated(&r, &rules, key, said[0]);
        said[2] = authenticated(&r, &rules, key, r.pointer);
        said[3] = evc_pac_strip(&rules, r.pointer);
        memcpy(out + i, said, sizeof said);
    }
}

/* Answers for each number in its turn. */
static void modular(const uint8_t *user_key, enum mode mode, size_t n_bytes, const uint8_t *in,
                    uint8_t *out, size_t total_bytes)
{
    static uint8_t memory[4096] __attribute__((aligned(16)));
    static size_t known_bytes; /* of the modulus in `memory` */
    static uint8_t scratch[16384], n[MOST_NUMBER_BYTES], factor[MOST_NUMBER_BYTES],
        x[MOST_NUMBER_BYTES];
    const uint8_t two_to_14[] = {1 << (SQUARES - 8), 0};

    if (known_bytes != n_bytes) {
        modulus_of(n, n_bytes);
        must(evc_bn_set_modulus_in(memory, sizeof memory, &answers_bn, n, n_bytes));
        known_bytes = n_bytes;
    }
    factor_of(factor, user_key, n_bytes);
    for (size_t at = 0; at < total_bytes; at += n_bytes) {
        memcpy(x, in + at, n_bytes);
        if (mode == MODE_exp1024) {
            x[0] &= 0x7f;
            must(evc_bn_exp((void *)memory, x, user_key, EXPONENT_BYTES, out + at, scratch,
                            sizeof scratch));
            continue;
        }
        must(evc_bn_mod_reduce((void *)memory, x, n_bytes, x, scratch, sizeof scratch));
        for (unsigned i = 0; i < (mode == MODE_mont_sqr2048 ? 1 : PRODUCTS); i++)
            must(evc_bn_mod_mul((void *)memory, x, factor, x, scratch, sizeof scratch));
        if (mode == MODE_mont_sqr2048)
            must(evc_bn_exp_public((void *)memory, x, two_to_14, sizeof two_to_14, x, scratch,
                                   sizeof scratch));
        memcpy(out + at, x, n_bytes);
    }
}

static void multiply_words(const uint8_t *user_key, const uint8_t *in, uint8_t *out, size_t n_bytes)
{
    evc_bn_word carry;

    memcpy(out, in, n_bytes);
    carry = answers_bn_words.mul_add_words((void *)out, (const void *)in, n_bytes / sizeof carry,
                                           word_of(user_key));
    ((evc_bn_word *)(void *)out)[0] ^= carry;
}

/* Word by word from the highest one, and in each from its highest 16 bits. */
static void remainder_of_words(const uint8_t *in, uint8_t *out, size_t n_bytes)
{
    uint32_t rest = 0;
    evc_bn_word word;

    for (size_t at = n_bytes; at > 0; at -= sizeof word) {
        memcpy(&word, in + at - sizeof word, sizeof word);
        for (unsigned bit = 8 * sizeof word; bit > 0; bit -= 8)
            rest = (rest << 8 | (uint32_t)(word >> (bit - 8) & 0xff)) % DIVISOR;
    }
    memset(out, 0, n_bytes);
    word = rest;
    memcpy(out, &word, n_bytes < sizeof word ? n_bytes : sizeof word);
}

size_t output_bytes(enum mode mode, size_t n_bytes)
{
    switch (mode) {
    case MODE_sha256_blocks: return 32;
    case MODE_sha512_blocks: return 64;
    default: return n_bytes;
    }
}

static SHA256_BLOCKS(answer_sha256, answers_sha2.blocks256(h, job->in, job->n_bytes / 64))
static SHA512_BLOCKS(answer_sha512, answers_sha2.blocks512(h, job->in, job->n_bytes / 128))

static void hash(void (*run)(struct subject_job *), const uint8_t *in, uint8_t *out, size_t n_bytes)
{
    struct hash_starts starts;
    uint64_t h[8];
    struct subject_job job = {
        .in = in, .out = out, .n_bytes = n_bytes, .own = &starts, .own2 = h};

    set_hash_starts(&starts);
    run(&job);
}

void answer(const struct material *m, enum mode mode, const uint8_t *in, uint8_t *out,
            size_t n_bytes, uint8_t tag[16])
{
    uint8_t iv[16];

    memcpy(iv, m->iv, 16);
    memset(tag, 0, 16);
    switch (mode) {
    case MODE_ecb_enc: must(evc_aes_encrypt(&m->aes, in, out, n_bytes / 16)); break;
    case MODE_cbc_enc: must(evc_aes_cbc_encrypt(&m->aes, iv, in, out, n_bytes)); break;
    case MODE_ctr: must(evc_aes_ctr(&m->aes, iv, in, out, n_bytes)); break;
    case MODE_xts_enc: must(evc_aes_xts_encrypt(&m->xts, iv, in, out, n_bytes)); break;
    case MODE_ghash: evc_ghash_blocks(&m->ghash, tag, in, n_bytes / 16); break;
    case MODE_gcm_seal:
        must(evc_gcm_seal(&m->gcm, iv, 12, NULL, 0, in, out, n_bytes, tag, 16));
        break;
    case MODE_qarma5: codes(&m->qarma5, true, in, out, n_bytes); break;
    case MODE_qarma5_each:
    case MODE_qarma5_many: codes(&m->qarma5, false, in, out, n_bytes); break;
    case MODE_qarma3: codes(&m->qarma3, true, in, out, n_bytes); break;
    case MODE_qarma3_each: codes(&m->qarma3, false, in, out, n_bytes); break;
    case MODE_impdef: codes(&m->impdef, true, in, out, n_bytes); break;
    case MODE_impdef_each: codes(&m->impdef, false, in, out, n_bytes); break;
    case MODE_pac_instructions: instructions(&m->qarma5, in, out, n_bytes); break;
    case MODE_mont_mul1024:
    case MODE_exp1024: modular(m->user_key, mode, 128, in, out, n_bytes); break;
    case MODE_mont_mul2048:
    case MODE_mont_sqr2048: modular(m->user_key, mode, 256, in, out, n_bytes); break;
    case MODE_mul_add_words: multiply_words(m->user_key, in, out, n_bytes); break;
    case MODE_mod_word: remainder_of_words(in, out, n_bytes); break;
    case MODE_sha256_blocks: hash(answer_sha256, in, out, n_bytes); break;
    case MODE_sha512_blocks: hash(answer_sha512, in, out, n_bytes); break;
    default: break;
    }
}

/* SPDX-License-Identifier: MIT */
/* The kernels of this library by their descriptors: SUBJECT_AES, SUBJECT_GHASH, SUBJECT_GCM,
 * SUBJECT_QARMA, SUBJECT_BN, SUBJECT_BN_WORDS, SUBJECT_SHA2. At least one is there. Modes
 * that a kernel has no slot for are composed as the library composes them. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bn/ops.h"
#include "everycore/bn.h"
#include "everycore/bn_words.h"
#include "everycore/cpu.h"
#include "everycore/gcm.h"
#include "everycore/modes.h"
#include "everycore/qarma.h"
#include "hashes.h"
#include "must.h"
#include "numbers.h"
#include "qarma.h"
#include "subject.h"

static void need(const struct evc_kernel *kernel)
{
    static uint64_t features; /* asked once: a hypervisor takes microseconds to answer */
    static bool is_known;

    if (!is_known)
        features = evc_cpu_features(), is_known = true;
    if (!evc_kernel_runs(kernel, features | EVC_CPU(CT_MUL))) {
        fprintf(stderr, "this CPU cannot run %s\n", kernel->name);
        exit(3);
    }
}

#ifdef SUBJECT_AES

extern const struct evc_aes SUBJECT_AES;

void aes_key(struct subject_job *job)
{
    need(&SUBJECT_AES.kernel);
    must(evc_aes_set_key(job->own, &SUBJECT_AES, job->user_key, job->key_bits));
}

void xts_key(struct subject_job *job)
{
    uint8_t both[64];
    size_t n_bytes = job->key_bits / 8;

    need(&SUBJECT_AES.kernel);
    memcpy(both, job->user_key, n_bytes);
    memcpy(both + n_bytes, job->tweak_key, n_bytes);
    must(evc_aes_xts_set_key(job->own, &SUBJECT_AES, &SUBJECT_AES, both, job->key_bits));
}

SUBJECT_GLUE void ecb_enc(struct subject_job *job)
{
    must(evc_aes_encrypt(job->own, job->in, job->out, job->n_blocks));
}

SUBJECT_GLUE void ecb_dec(struct subject_job *job)
{
    must(evc_aes_decrypt(job->own, job->in, job->out, job->n_blocks));
}

SUBJECT_GLUE void cbc_enc(struct subject_job *job)
{
    evc_aes_cbc_encrypt_blocks(job->own, job->iv, job->in, job->out, job->n_blocks);
}

SUBJECT_GLUE void cbc_dec(struct subject_job *job)
{
    evc_aes_cbc_decrypt_blocks(job->own, job->iv, job->in, job->out, job->n_blocks);
}

SUBJECT_GLUE void ctr(struct subject_job *job)
{
    evc_aes_ctr32(job->own, job->iv, job->in, job->out, job->n_bytes);
}

SUBJECT_GLUE void xts_enc(struct subject_job *job)
{
    must(evc_aes_xts_encrypt(job->own, job->iv, job->in, job->out, job->n_bytes));
}

SUBJECT_GLUE void xts_dec(struct subject_job *job)
{
    must(evc_aes_xts_decrypt(job->own, job->iv, job->in, job->out, job->n_bytes));
}

#endif
#ifdef SUBJECT_GHASH

extern const struct evc_ghash SUBJECT_GHASH;

void ghash_key(struct subject_job *job)
{
    need(&SUBJECT_GHASH.kernel);
    must(evc_ghash_set_key_in(job->own, SUBJECT_OWN_BYTES, &SUBJECT_GHASH, job->h[0]));
}

SUBJECT_GLUE void ghash(struct subject_job *job)
{
    volatile uint8_t *y = job->tag; /* volatile: a call of memset would be counted */

    for (unsigned i = 0; i < 16; i++)
        y[i] = 0;
    evc_ghash_blocks(job->own, job->tag, job->in, job->n_blocks);
}

#endif
#ifdef SUBJECT_GCM

extern const struct evc_gcm SUBJECT_GCM;

void gcm_key(struct subject_job *job)
{
    need(&SUBJECT_GCM.kernel);
    must(evc_gcm_set_key(job->own, &SUBJECT_GCM, job->user_key, job->key_bits));
}

SUBJECT_GLUE void gcm_seal(struct subject_job *job)
{
    must(evc_gcm_seal(job->own, job->iv, 12, NULL, 0, job->in, job->out, job->n_bytes, job->tag,
                      16));
}

SUBJECT_GLUE void gcm_open(struct subject_job *job)
{
    job->opened = evc_gcm_open(job->own, job->iv, 12, NULL, 0, job->in, job->out, job->n_bytes,
                               job->given_tag, 16) == EVC_OK;
}

#endif
#ifdef SUBJECT_QARMA

extern const struct evc_qarma SUBJECT_QARMA;

static void set_qarma_key(struct subject_job *job, enum evc_qarma_sigma sigma, unsigned rounds)
{
    uint64_t halves[2];

    need(&SUBJECT_QARMA.kernel);
    memcpy(halves, job->user_key, 16);
    must(evc_qarma_set_key(job->own, &SUBJECT_QARMA, halves[0], halves[1], sigma, rounds));
}

void qarma5_key(struct subject_job *job)
{
    set_qarma_key(job, EVC_QARMA_SIGMA2, 5);
}

void qarma3_key(struct subject_job *job)
{
    set_qarma_key(job, EVC_QARMA_SIGMA1, 3);
}

/* As a caller does it who has looked its kernel up. */
#define ONE(job, block, tweak) SUBJECT_QARMA.encrypt((job)->own, block, tweak)

CHAIN(qarma5, ONE)
EACH(qarma5_each, ONE)
CHAIN(qarma3, ONE)
EACH(qarma3_each, ONE)

SUBJECT_GLUE void qarma5_many(struct subject_job *job)
{
    const uint64_t *in = (const void *)job->in;

    evc_qarma_encrypt_many(job->own, in, in, (void *)job->out, job->n_bytes / 8);
}

#endif
#ifdef SUBJECT_BN

extern const struct evc_bn SUBJECT_BN;

/* In job->own. Factors are in the kernel's form, so that a product with them has no R. */
struct numbers {
    uint8_t modulus[8192] __attribute__((aligned(64)));
    uint8_t factor[512] __attribute__((aligned(64))); /* the secret one */
    uint8_t back[512] __attribute__((aligned(64)));   /* R^(2^SQUARES), which
                                                       * squares have divided by */
    uint8_t x[512] __attribute__((aligned(64))), y[512] __attribute__((aligned(64)));
};

static void set_modulus(struct subject_job *job, size_t n_bytes)
{
    struct numbers *const own = job->own;
    const struct evc_bn_modulus *const n = (const void *)own->modulus;
    static const uint8_t one = 1;
    uint8_t bytes[MOST_NUMBER_BYTES];

    need(&SUBJECT_BN.kernel);
    modulus_of(bytes, n_bytes);
    must(evc_bn_set_modulus_in(own->modulus, sizeof own->modulus, &SUBJECT_BN, bytes, n_bytes));
    if (n->shape.form_bytes > sizeof own->x ||
        evc_bn_scratch_bytes(&SUBJECT_BN, 8 * n_bytes) > SUBJECT_OWN_BYTES)
        exit(3);
    factor_of(bytes, job->user_key, n_bytes);
    evc_bn_op_enter(n, own->factor, bytes, n_bytes, job->own2);
    memcpy(own->x, evc_bn_r2(n), n->shape.form_bytes);
    for (unsigned i = 0; i < SQUARES; i++) /* R^m to R^(2m - 1): from R^2 to R^(2^SQUARES + 1) */
        evc_bn_op_sqr(n, own->x, own->x, job->own2);
    SUBJECT_BN.load(n, own->y, &one, 1);
    evc_bn_op_mul(n, own->back, own->y, own->x, job->own2);
}

void modulus1024_key(struct subject_job *job)
{
    set_modulus(job, 128);
}

void modulus2048_key(struct subject_job *job)
{
    set_modulus(job, 256);
}

/* Products with the factor; after squares, one that brings back what they divided by. */
SUBJECT_GLUE static void multiply(struct subject_job *job, size_t n_bytes, unsigned products,
                                  unsigned squares)
{
    struct numbers *const own = job->own;
    const struct evc_bn_modulus *const n = (const void *)own->modulus;
    void *const scratch = evc_bn_scratch_start(job->own2);

    for (size_t at = 0; at < job->n_bytes; at += n_bytes) {
        SUBJECT_BN.load(n, own->x, job->in + at, n_bytes);
        SUBJECT_BN.mul(n, own->y, own->x, own->factor, scratch);
        for (unsigned i = 1; i < products; i++)
            SUBJECT_BN.mul(n, own->y, own->y, own->factor, scratch);
        for (unsigned i = 0; i < squares; i++)
            SUBJECT_BN.sqr(n, own->y, own->y, scratch);
        if (squares)
            SUBJECT_BN.mul(n, own->y, own->y, own->back, scratch);
        SUBJECT_BN.store(n, job->out + at, own->y);
    }
}

SUBJECT_GLUE void mont_mul1024(struct subject_job *job)
{
    multiply(job, 128, PRODUCTS, 0);
}

SUBJECT_GLUE void mont_mul2048(struct subject_job *job)
{
    multiply(job, 256, PRODUCTS, 0);
}

SUBJECT_GLUE void mont_sqr2048(struct subject_job *job)
{
    multiply(job, 256, 1, SQUARES);
}

SUBJECT_GLUE void exp1024(struct subject_job *job)
{
    struct numbers *const own = job->own;

    for (size_t at = 0; at < job->n_bytes; at += 128) {
        memcpy(own->x, job->in + at, 128);
        own->x[0] &= 0x7f; /* below the modulus */
        must(evc_bn_exp((const void *)own->modulus, own->x, job->user_key, EXPONENT_BYTES,
                        job->out + at, job->own2, SUBJECT_OWN_BYTES));
    }
}

#endif
#ifdef SUBJECT_BN_WORDS

/* Kernels for words of another size are empty files; SHA-2 may have one of that name. */
extern const struct evc_bn_words SUBJECT_BN_WORDS __attribute__((weak));

void divisor_key(struct subject_job *job)
{
    if (!&SUBJECT_BN_WORDS) {
        fprintf(stderr, "this CPU has words of another size\n");
        exit(3);
    }
    need(&SUBJECT_BN_WORDS.kernel);
    must(evc_bn_divisor_set(job->own, DIVISOR));
}

SUBJECT_GLUE void mul_add_words(struct subject_job *job)
{
    evc_bn_word carry;

    memcpy(job->out, job->in, job->n_bytes);
    carry = SUBJECT_BN_WORDS.mul_add_words((void *)job->out, (const void *)job->in,
                                           job->n_bytes / sizeof carry, word_of(job->user_key));
    ((evc_bn_word *)(void *)job->out)[0] ^= carry;
}

SUBJECT_GLUE void mod_word(struct subject_job *job)
{
    const evc_bn_word rest =
        SUBJECT_BN_WORDS.mod_words((const void *)job->in, job->n_bytes / sizeof rest, job->own);

    memset(job->out, 0, job->n_bytes);
    memcpy(job->out, &rest, sizeof rest);
}

#endif
#ifdef SUBJECT_SHA2

extern const struct evc_sha2 SUBJECT_SHA2;

void sha2_key(struct subject_job *job)
{
    need(&SUBJECT_SHA2.kernel);
    set_hash_starts(job->own);
}

SHA256_BLOCKS(sha256_blocks, SUBJECT_SHA2.blocks256(h, job->in, job->n_bytes / 64))
SHA512_BLOCKS(sha512_blocks, SUBJECT_SHA2.blocks512(h, job->in, job->n_bytes / 128))

#endif

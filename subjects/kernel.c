/* SPDX-License-Identifier: MIT */
/* The kernels of this library by their descriptors: SUBJECT_AES, SUBJECT_GHASH, SUBJECT_GCM, SUBJECT_QARMA, of which at
 * least one is there. Modes that a kernel has no slot for are composed as the library composes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everycore/cpu.h"
#include "everycore/gcm.h"
#include "everycore/modes.h"
#include "everycore/qarma.h"
#include "must.h"
#include "qarma.h"
#include "subject.h"

static void need(const struct evc_kernel *kernel)
{
    uint64_t habits = EVC_TUNE_MASK | EVC_CPU(CT_MUL); /* what makes it fast or constant-time, and is no need */
    uint64_t lacking = kernel->needs & ~habits & ~evc_cpu_features();

    if (lacking) {
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
    memset(job->tag, 0, 16);
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
    must(evc_gcm_seal(job->own, job->iv, 12, NULL, 0, job->in, job->out, job->n_bytes, job->tag, 16));
}

SUBJECT_GLUE void gcm_open(struct subject_job *job)
{
    job->opened = evc_gcm_open(job->own, job->iv, 12, NULL, 0, job->in, job->out, job->n_bytes, job->given_tag, 16) == EVC_OK;
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

/* SPDX-License-Identifier: MIT */
/* BearSSL, called as its own TLS records do. Its modes work in place, so the text is copied before:
 * by the key functions. */
#include <string.h>

#include "subject.h"

/* ---- AES: an object holds the functions of a mode (inc/bearssl_block.h); here
 * they are called by name */

#define CBC(impl, mode)                                                                            \
    void br_##impl##_cbc##mode##_init(void *ctx, const void *key, size_t n_bytes);                 \
    void br_##impl##_cbc##mode##_run(const void *ctx, void *iv, void *data, size_t n_bytes);       \
    void impl##_cbc_##mode##_key(struct subject_job *job)                                          \
    {                                                                                              \
        br_##impl##_cbc##mode##_init(job->own, job->user_key, job->key_bits / 8);                  \
        memcpy(job->out, job->in, job->n_bytes);                                                   \
    }                                                                                              \
    SUBJECT_GLUE void impl##_cbc_##mode(struct subject_job *job)                                   \
    {                                                                                              \
        br_##impl##_cbc##mode##_run(job->own, job->iv, job->out, job->n_bytes);                    \
    }

/* The counter's first 12 bytes, and the last 4 as a number. */
#define CTR(impl)                                                                               \
    void br_##impl##_ctr_init(void *ctx, const void *key, size_t n_bytes);                      \
    uint32_t br_##impl##_ctr_run(const void *ctx, const void *iv, uint32_t counter, void *data, \
                                 size_t n_bytes);                                               \
    void impl##_ctr_key(struct subject_job *job)                                                \
    {                                                                                           \
        br_##impl##_ctr_init(job->own, job->user_key, job->key_bits / 8);                       \
        memcpy(job->out, job->in, job->n_bytes);                                                \
    }                                                                                           \
    SUBJECT_GLUE void impl##_ctr(struct subject_job *job)                                       \
    {                                                                                           \
        const uint8_t *c = job->iv + 12;                                                        \
        uint32_t counter =                                                                      \
            (uint32_t)c[0] << 24 | (uint32_t)c[1] << 16 | (uint32_t)c[2] << 8 | c[3];           \
        br_##impl##_ctr_run(job->own, job->iv, counter, job->out, job->n_bytes);                \
    }

#define AES(impl)  \
    CBC(impl, enc) \
    CBC(impl, dec) \
    CTR(impl)

AES(aes_big)
AES(aes_small)
AES(aes_ct)
AES(aes_ct64)

/* ---- GHASH ----------------------------------------------------------------------------------- */

#define GHASH(impl)                                                                  \
    void br_ghash_##impl(void *y, const void *h, const void *data, size_t n_bytes);  \
    SUBJECT_GLUE void ghash_##impl(struct subject_job *job)                          \
    {                                                                                \
        br_ghash_##impl(job->tag, job->h[0], job->in, job->n_bytes);                 \
    }

GHASH(ctmul)
GHASH(ctmul32)
GHASH(ctmul64)

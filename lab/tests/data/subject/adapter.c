/* SPDX-License-Identifier: MIT */
/* An adapter: what it answers is right, or broken in one way each. */
#include <string.h>

#include "answers.h"
#include "subject.h"

void theirs_add(uint8_t *out, const uint8_t *in, size_t n_bytes);

/* Right, and all that is traced is theirs. */
SUBJECT_GLUE void adds(struct subject_job *job)
{
    uint8_t sum[16] = {0};

    for (unsigned i = 0; i < 1000; i++) /* not counted */
        __asm__ volatile("" ::: "memory");
    theirs_add(sum, job->in, job->n_bytes);
    memcpy(job->tag, job->own2, 16);
}

void adds_key(struct subject_job *job)
{
    evc_ghash_set_key_in(job->own, SUBJECT_OWN_BYTES, &answers_ghash, job->h[0]);
    memset(job->own2, 0, 16);
    evc_ghash_blocks(job->own, job->own2, job->in, job->n_blocks);
}

SUBJECT_GLUE void wrong(struct subject_job *job)
{
    memcpy(job->out, job->in, job->n_bytes);
}

SUBJECT_GLUE void beyond(struct subject_job *job)
{
    adds(job);
    job->out[job->n_bytes] = 1;
}

/* Right, but believes any tag. */
void trusts_key(struct subject_job *job)
{
    uint8_t counter[16];

    memcpy(counter, job->iv, 12);
    memcpy(counter + 12, "\0\0\0\2", 4);
    evc_aes_set_key(job->own, &answers_aes, job->user_key, job->key_bits);
    evc_aes_ctr(job->own, counter, job->in, job->own2, job->n_bytes);
}

SUBJECT_GLUE void trusts(struct subject_job *job)
{
    memcpy(job->out, job->own2, job->n_bytes);
    job->opened = 1;
}

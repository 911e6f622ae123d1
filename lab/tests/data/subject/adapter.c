/* SPDX-License-Identifier: MIT */
/* An adapter: what it answers is right, or broken in one way each. */
#include <string.h>

#include "everycore/ghash.h"
#include "subject.h"

extern const struct evc_ghash evc_ghash_c_ref;
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
    evc_ghash_set_key_in(job->own, 16384, &evc_ghash_c_ref, job->h[0]);
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

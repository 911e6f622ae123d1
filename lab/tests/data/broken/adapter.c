/* SPDX-License-Identifier: MIT */
/* An adapter that knows the answer beforehand, so that theirs need only copy it. */
#include <string.h>

#include "answers.h"
#include "subject.h"

void theirs_copy(uint8_t *out, const uint8_t *in, size_t n_bytes);

void copies_key(struct subject_job *job)
{
    uint8_t counter[16];

    memcpy(counter, job->iv, 16);
    evc_aes_set_key(job->own, &answers_aes, job->user_key, job->key_bits);
    evc_aes_ctr(job->own, counter, job->in, job->own2, job->n_bytes);
}

SUBJECT_GLUE void copies(struct subject_job *job)
{
    theirs_copy(job->out, job->own2, job->n_bytes);
}

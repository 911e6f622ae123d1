/* SPDX-License-Identifier: MIT */
/* Test input: see planted.c. */
#include "subject.h"

#define GHASH(name)                                                                          \
    void name##_ghash(uint8_t y[16], const uint8_t h[16], const uint8_t *in, size_t n_blocks); \
    SUBJECT_GLUE void name(struct subject_job *job)                                          \
    {                                                                                        \
        name##_ghash(job->tag, job->h[0], job->in, job->n_blocks);                           \
    }

GHASH(masks)
GHASH(barrier)
GHASH(flagged)
GHASH(miscompiled)

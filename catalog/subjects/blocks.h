/* SPDX-License-Identifier: MIT */
/* Loops around functions that do a block of AES a call. */
#ifndef SUBJECT_BLOCKS_H
#define SUBJECT_BLOCKS_H

#include <string.h>

#include "subject.h"

/* ECB(function of ours, a macro: call(job, out, in) of theirs) */
#define ECB(name, call)                                     \
    SUBJECT_GLUE void name(struct subject_job *job)         \
    {                                                       \
        for (size_t i = 0; i < job->n_blocks; i++) {        \
            call(job, job->out + 16 * i, job->in + 16 * i); \
        }                                                   \
    }

/* One chain: each block waits for the one before. */
#define CBC(name, call)                              \
    SUBJECT_GLUE void name(struct subject_job *job)  \
    {                                                \
        uint64_t chain[2], block[2];                 \
        memcpy(chain, job->iv, 16);                  \
        for (size_t i = 0; i < job->n_blocks; i++) { \
            memcpy(block, job->in + 16 * i, 16);     \
            block[0] ^= chain[0];                    \
            block[1] ^= chain[1];                    \
            call(job, (void *)chain, (void *)block); \
            memcpy(job->out + 16 * i, chain, 16);    \
        }                                            \
        memcpy(job->iv, chain, 16);                  \
    }

#endif

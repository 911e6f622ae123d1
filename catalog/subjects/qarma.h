/* SPDX-License-Identifier: MIT */
/* Loops around functions that do a block of QARMA-64 a call. Of user_key, the first number
 * is w0, the second k0. */
#ifndef SUBJECT_QARMA_H
#define SUBJECT_QARMA_H

#include <string.h>

#include "subject.h"

/* CHAIN(function of ours, what of theirs makes a block: call(job, block, tweak)): each block waits
 * for the one before, the input is the tweaks. */
#define CHAIN(name, call)                              \
    SUBJECT_GLUE void name(struct subject_job *job)    \
    {                                                  \
        uint64_t block = 0, tweak;                     \
        for (size_t i = 0; i < job->n_bytes; i += 8) { \
            memcpy(&tweak, job->in + i, 8);            \
            block = call(job, block, tweak);           \
            memcpy(job->out + i, &block, 8);           \
        }                                              \
    }

/* None waits: the input is the blocks, and the tweaks as well. */
#define EACH(name, call)                               \
    SUBJECT_GLUE void name(struct subject_job *job)    \
    {                                                  \
        uint64_t block;                                \
        for (size_t i = 0; i < job->n_bytes; i += 8) { \
            memcpy(&block, job->in + i, 8);            \
            block = call(job, block, block);           \
            memcpy(job->out + i, &block, 8);           \
        }                                              \
    }

#endif

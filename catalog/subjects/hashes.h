/* SPDX-License-Identifier: MIT */
/* SHA-2 by whole blocks, as subjects and their answers have it: the input is of blocks, the output
 * the state behind them in big-endian words. */
#ifndef SUBJECT_HASHES_H
#define SUBJECT_HASHES_H

#include <string.h>

#include "answers.h"
#include "must.h"
#include "subject.h"

/* Initial values of both hashes (FIPS 180-4 section 5.3), which `own` has. */
struct hash_starts {
    uint32_t sha256[8];
    uint64_t sha512[8];
};

static inline void set_hash_starts(struct hash_starts *starts)
{
    struct evc_sha2_state state;

    must(evc_sha2_start(&state, &answers_sha2, EVC_SHA256));
    memcpy(starts->sha256, state.h.words32, sizeof starts->sha256);
    must(evc_sha2_start(&state, &answers_sha2, EVC_SHA512));
    memcpy(starts->sha512, state.h.words64, sizeof starts->sha512);
}

/* A function of an adapter. statement: hashes the blocks into h, an array of eight words. The loops
 * are volatile: a call of memcpy would be counted. */
#define HASH_BLOCKS(name, word, member, statement)                                      \
    SUBJECT_GLUE void name(struct subject_job *job)                                     \
    {                                                                                   \
        const struct hash_starts *starts = job->own;                                    \
        volatile word *const state = job->own2;                                         \
        word *const h = job->own2;                                                      \
                                                                                        \
        for (unsigned i = 0; i < 8; i++)                                                \
            state[i] = starts->member[i];                                               \
        statement;                                                                      \
        for (unsigned i = 0; i < 8 * sizeof(word); i++) {                               \
            const unsigned shift = 8 * (unsigned)(sizeof(word) - 1 - i % sizeof(word)); \
            job->out[i] = (uint8_t)(state[i / sizeof(word)] >> shift);                  \
        }                                                                               \
    }

#define SHA256_BLOCKS(name, statement) HASH_BLOCKS(name, uint32_t, sha256, statement)
#define SHA512_BLOCKS(name, statement) HASH_BLOCKS(name, uint64_t, sha512, statement)

#endif

/* SPDX-License-Identifier: MIT */
/*
 * One call of a function of a subject: what it is given, and whether what it answers is right.
 *
 *     struct call call;
 *     call_prepare(&call, function, 256, 4096);
 *     call_run(&call);
 *     const char *wrong = call_wrong(&call); // NULL: it is right
 *     call_free(&call);
 *
 * call_run may be called again: it then works on what the call before left, and call_wrong means
 * nothing. call_prepare is call_make, call_draw and call_key; after call_draw and call_key with
 * another number all begins anew, at the same places in memory.
 */
#ifndef SUBJECT_JOB_H
#define SUBJECT_JOB_H

#include <stdbool.h>

#include "answers.h"
#include "patterns.h"
#include "subject.h"

typedef void subject_call(struct subject_job *job);

struct function {
    const char *name; /* in C */
    enum mode mode;
    subject_call *run;
    subject_call *key; /* or NULL */
    /* The reference of MODE_own. */
    subject_call *reference;
    subject_call *reference_key; /* or NULL */
    size_t n_out; /* bytes that MODE_own writes; 0: as many as it reads */
};

/* NULL: there is none. */
const struct function *find_function(const char *name);

struct call {
    const struct function *function;
    struct subject_job job;
    struct material material;
    uint8_t *plain, *cipher, *out; /* n_bytes, n_out, n_out, with margins; cipher:
                                    * what is right of MODE_own */
    uint8_t iv[16], tag[16], right_tag[16];
    unsigned key_bits;
    size_t n_bytes, n_out;
    const char *wrong_vector; /* NULL: the answers to check vectors are right */
};

/* Prepares the key as well. Ends the program where there is no memory, or where this CPU
 * cannot run the function. */
void call_prepare(struct call *call, const struct function *function, unsigned key_bits,
                  size_t n_bytes);

void call_make(struct call *call, const struct function *function, unsigned key_bits,
               size_t n_bytes);

/* secret: of answers.h. The counter of CTR is public, and always the same. */
void call_draw(struct call *call, unsigned secret);

/* The same by an input of patterns.h, whose length call_make must have been given. */
void call_take(struct call *call, const struct input *input);

void call_key(struct call *call);

void call_run(struct call *call);

/* After the first run: what is wrong with it, or NULL. */
const char *call_wrong(struct call *call);

/* "function: AES-256, 4096 bytes"; "function" if a check vector is wrong, which has a length of its
 * own. Until the next call of it. */
const char *call_title(const struct call *call);

void call_free(struct call *call);

/* A tracer looks for these: what is between them is the call. */
void region_begin(void);
void region_end(void);

#endif

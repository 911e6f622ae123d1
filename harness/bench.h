/* SPDX-License-Identifier: MIT */
/*
 * The interface between a primitive and the bench: its modes, each with a loop over whole messages,
 * and the means to set one up for a kernel. bench.c times the loops and knows no primitive.
 */
#ifndef HARNESS_BENCH_H
#define HARNESS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fence.h"
#include "measure.h"

/* The placement of messages. With SLOTS: bench_slots.c. Otherwise there is one message, or one
 * group of many, in memory of its own between pages without access: at least a page away from
 * these, at the start of the first page, or at the end of the last. */
enum bench_place { PLACE_SLOTS, PLACE_INSIDE, PLACE_START, PLACE_END };

struct bench_setup {
    const char *kernel;
    unsigned key_bits;
    size_t len_bytes; /* of one message */
    size_t messages;  /* of one call; 1 except for the modes of many messages */
    size_t aad_bytes; /* of CCM and GCM: at most MOST_AAD_BYTES */
    size_t keys;      /* 1, or of modes with a keys_loop: calls have one of so
                       * many, in random order */
    bool in_place;
    enum bench_place place;
    size_t aligned; /* of PLACE_INSIDE: bytes beyond a multiple of 64 */
    bool alone; /* no second kernel, even for a mode with two keys */
    uint64_t seed;
};

struct bench_primitive {
    const char *name;
    const char *reference; /* the kernel whose results are right */
    bool pairs;            /* of kernels of other primitives are timed too: gcm_kernels.h */
    unsigned key_bits; /* the only key size; 0: there are several, and the command line chooses */
    size_t unit_bytes; /* a message is one or more of these, and other lengths are refused; 0: as
                        * length_used says. Not of setkey, whose length is the key's. */
    bool guest;        /* these modes are few beside others of the primitive,
                        * which take any length */
    const char *(*mode_name)(size_t mode); /* NULL past the end */
    bool (*is_many)(size_t mode);
    /* The length in bytes of the message that stands for setup->len_bytes; 0: too short for the
     * mode. */
    size_t (*length_used)(size_t mode, const struct bench_setup *);
    /* Keys and buffers for one point. NULL: no memory. with: the name of a second kernel that
     * serves the mode's other use, else NULL. */
    void *(*prepare)(size_t mode, const struct bench_setup *, const char **with);
    /* One call; then everything it wrote, as a hash that is the same for every right kernel. */
    uint64_t (*result)(size_t mode, void *work);
    bench_loop *(*loop)(size_t mode, bool fenced);
    bench_loop *(*keys_loop)(size_t mode, bool fenced); /* of work with several keys; NULL, or
                                                         * returns NULL: no such */
    bool (*has_aad)(size_t mode);                       /* NULL: no mode has associated data */
    bool takes_place; /* prepare() heeds setup->place */
    bool (*has_mode)(size_t mode, const char *kernel); /* NULL: every kernel has every mode */
};

/* Cycles of a call at the edges of pages, each beside that of a message inside pages with the same
 * place modulo 64: medians of some samples that take turns. 0: every sample was disturbed. */
struct bench_placed {
    double start, inside_start, end, inside_end;
    bool same_result; /* with all placements */
};

/* False: no memory. setup: of a primitive that takes_place; its place is not heeded.
 * expected: the result with PLACE_INSIDE. */
bool bench_placements(const struct counter *, const struct bench_primitive *, size_t mode,
                      const struct bench_setup *setup, bool fenced, uint64_t expected,
                      struct bench_placed *);

/* Two loops around one body, which is a call: w is the work, i the number of the call. */
#define BENCH_LOOPS(name, ...)                             \
    static void name(void *vwork, uint64_t calls)          \
    {                                                      \
        struct work *w = vwork;                            \
        for (uint64_t i = 0; i < calls; i++) {             \
            __VA_ARGS__                                    \
        }                                                  \
    }                                                      \
    static void name##_fenced(void *vwork, uint64_t calls) \
    {                                                      \
        struct work *w = vwork;                            \
        FENCE();                                           \
        for (uint64_t i = 0; i < calls; i++) {             \
            __VA_ARGS__                                    \
            FENCE();                                       \
        }                                                  \
    }

/* Modes of pointer authentication are modes of the primitive that computes the codes,
 * in a file of their own. */
extern const struct bench_primitive bench_aes, bench_bn, bench_gcm, bench_ghash, bench_pac_aes,
    bench_pac_qarma, bench_qarma, bench_bn_words, bench_layers, bench_sha2;

#endif

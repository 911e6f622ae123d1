/* SPDX-License-Identifier: MIT */
/*
 * Messages for the loops of a bench: a few that calls take in turn, so that none waits for the one
 * before it, and what both AES and GCM need to make loops over them.
 */
#ifndef HARNESS_BENCH_SLOTS_H
#define HARNESS_BENCH_SLOTS_H

#include <string.h>

#include "bench.h"
#include "key_order.h"
#include "random.h"

#define MAX_SLOTS 8
#define MAX_MESSAGES 1024 /* of one call */
#define PLACED_BYTES (1 << 20) /* of messages with a place, at most */
#define AAD_BYTES 13      /* unless others are asked for: as a record of TLS 1.2 (RFC 6655) */
#define NONCE_BYTES 12

struct slot {
    const uint8_t *in;
    uint8_t *out;
    uint8_t iv[16];  /* IV, counter, tweak or nonce */
    uint8_t tag[16]; /* of a message to be opened */
};

struct slots {
    struct slot at[MAX_SLOTS];
    size_t mask;   /* slots - 1, slots a power of two */
    size_t stride; /* bytes from one message to the next, in the slots and in a call of many */
    uint8_t *in, *out;
    size_t total_bytes; /* of in, and of out */
};

/* Random inputs and IVs, outputs of zeros. False: no memory. */
bool slots_make(struct slots *, const struct bench_setup *, struct random *);

/* FNV-1a, 64 bits, continued. */
uint64_t slots_hash(uint64_t h, const uint8_t *bytes, size_t len_bytes);
#define SLOTS_HASH UINT64_C(0xcbf29ce484222325)

/* BENCH_LOOPS of a work whose slots are w->slots: s is the call's. */
#define LOOPS(name, ...)                                            \
    BENCH_LOOPS(name,                                               \
        const struct slot *s = &w->slots.at[i & w->slots.mask];     \
        (void)s;                                                    \
        __VA_ARGS__)

#define MUST(call) w->failures |= (unsigned)(call);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The operations of an AES key as one shape, and what they ought to give: each written once more,
 * block by block and as the standards say it, on single blocks of c_ref. Nothing here uses
 * src/aes/aes.c's composed code.
 */
#ifndef HARNESS_AES_OPS_H
#define HARNESS_AES_OPS_H

#include <stdbool.h>

#include "everycore/aes.h"

#define MAX_BLOCKS 264 /* of a message under test */
#define MAX_BYTES (16 * MAX_BLOCKS)

struct aes_op {
    const char *name;
    bool decrypts;  /* needs a key that can */
    bool any_bytes; /* lengths need not be whole blocks */
    bool writes;    /* has an output; else only iv changes */
    void (*run)(const union evc_aes_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                size_t len_bytes);
    /* One block; iv is updated. */
    void (*block)(const union evc_aes_key *ref, uint8_t iv[16], const uint8_t in[16],
                  uint8_t out[16]);
};

enum { ECB_ENC, ECB_DEC, CTR32, CTR32_LE, CBC_ENC, CBC_DEC, CBCMAC, XTS_ENC, XTS_DEC, N_OPS };
extern const struct aes_op aes_ops[N_OPS];

/* A message and all that an operation must make of it. Any shorter message is a prefix of it. */
struct known {
    const struct aes_op *op;
    unsigned key_bits;
    uint8_t user_key[32];
    uint8_t in[MAX_BYTES], out[MAX_BYTES];
    uint8_t iv[MAX_BLOCKS + 1][16]; /* iv[n]: after n blocks */
};

/* key_bits, user_key, in and iv[0] are set; fill in out and iv for n_blocks blocks. */
void know(struct known *, const struct aes_op *op, size_t n_blocks);

#endif

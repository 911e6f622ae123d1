/* SPDX-License-Identifier: MIT */
/*
 * GCM by definition (SP 800-38D sections 6 and 7), on single blocks of AES c_ref and the field of
 * gf128.h: what every kernel of GCM ought to compute.
 */
#ifndef HARNESS_GCM_MODEL_H
#define HARNESS_GCM_MODEL_H

#include "everycore/aes.h"

#define MAX_BLOCKS 1024    /* of a message under test */
#define BEYOND_A_PIECE 520 /* blocks: longer than the pieces of 512 that pairs work in */
#define MAX_BYTES (16 * MAX_BLOCKS)
#define MAX_IV 320   /* bytes */
#define MAX_AAD 2080 /* bytes: two reductions of the widest kernel */

/* A key and a message, and all that comes of them. Any shorter message is a prefix of it. */
struct known {
    unsigned key_bits;
    size_t iv_bytes, aad_bytes;
    uint8_t user_key[32], iv[MAX_IV], aad[MAX_AAD], in[MAX_BYTES];

    union evc_aes_key ref;
    uint8_t h[16], j0[16], tag_mask[16], out[MAX_BYTES];
    /* y[n]: the hash of the associated data and n blocks of ciphertext. */
    uint8_t y[MAX_BLOCKS + 1][16];
};

/* From user_key and key_bits: ref and h. */
void know_key(struct known *);

/* From those, iv, aad and n_blocks blocks of in: the rest. */
void know_message(struct known *, size_t n_blocks);

/* From a key, the counter of the first block, y[0] and n_blocks blocks of in: out and y. */
void know_blocks(struct known *, const uint8_t counter[16], size_t n_blocks);

/* The tag of the first len_bytes bytes; with but the first aad_bytes bytes of associated data. */
void known_tag(const struct known *, uint8_t tag[16], size_t len_bytes);
void known_tag_with(const struct known *, uint8_t tag[16], size_t aad_bytes, size_t len_bytes);

/* The IV of 16 bytes whose J_0 is this (section 7.1, step 2). */
void know_iv_for(struct known *, const uint8_t j0[16]);

#endif

/* SPDX-License-Identifier: MIT */
/* The answers that a peer has to give, from everycore's reference kernels and published vectors, so
 * that neither blesses the other. */
#ifndef HARNESS_PEER_ANSWERS_H
#define HARNESS_PEER_ANSWERS_H

#include "../catalog/peers/peer.h"

#define PEER_MOST_BYTES 65536
#define PEER_MOST_OF_MANY_BYTES 16384 /* of each of many messages */
#define PEER_MOST_PASSWORD_BYTES 64
#define PEER_TAG_BYTES 16
#define PEER_DIGEST_BYTES 64 /* of the longest digest: as many fit in out */

/* Whether messages of the mode are sealed ones. */
bool peer_opens(const char *mode);

/* Messages of one call: PEER_MANY or 1. */
size_t peer_messages(const char *mode);

/* The length that the mode takes of messages of this length, with keys of that size; 0: none. */
size_t peer_length_used(const char *mode, unsigned key_bits, size_t len_bytes);

/* The first thing that is wrong. expected and got begin at the first byte that differs. */
struct peer_fault {
    char what[200]; /* empty: nothing */
    char expected[33], got[33];
};

/* Both return whether all is well, and say in the fault what is not: n bytes differ;
 * something else is wrong. */
bool peer_same(const char *where, const char *part, const uint8_t *expected, const uint8_t *got,
               size_t n, struct peer_fault *);
bool peer_fails(const char *where, const char *what, struct peer_fault *);

/* Whether run(context) answers all n messages as c_ref does, many of one call at once. Of modes
 * that open, in is replaced by what c_ref sealed, and tag with it; a damaged tag must be
 * refused. */
bool peer_agrees(const char *mode, const uint8_t *key, unsigned key_bits, void *context,
                 peer_run *run, struct peer_message *messages, size_t n, struct peer_fault *);

/* Whether the peer answers the vectors of these files that are of this mode and key size and of its
 * shape: nonces of 12 bytes, tags of 16, a text. No such vector is a fault. */
bool peer_answers_vectors(const struct peer *, const char *mode, unsigned key_bits,
                          const char *const *files, size_t n_files, struct peer_fault *);

#endif

/* SPDX-License-Identifier: MIT */
/* Operations on big numbers, as modes of a peer (peers/peer.h): their operands, and the answers
 * that they have to give, from everycore's own kernels. */
#ifndef HARNESS_PEER_NUMBERS_H
#define HARNESS_PEER_NUMBERS_H

#include "peer_answers.h"

#define PEER_MOST_NUMBER_BYTES 1024
#define PEER_NUMBERS_BYTES (6 * PEER_MOST_NUMBER_BYTES) /* at least those of the
                                                         * longest key, of RSA: 5.5 */

/* The primitive whose bench has the mode: "bn" or "bn_words"; NULL: no mode of big numbers. */
const char *peer_number_primitive(const char *mode);

/* The length that the mode takes of numbers of this length: whole words of 64 bits; 0: none. */
size_t peer_number_length_used(const char *mode, size_t n_bytes);

/* A key of the mode, random by the seed: n, odd and with its highest bit set, a and b below
 * it; or a key of a layer. */
void peer_numbers_make(const char *mode, uint8_t *key, size_t n_bytes, uint64_t seed);

/* Whether run(context), the first call of a context that was opened with the key,
 * gives the right answer. */
bool peer_number_agrees(const char *mode, const uint8_t *key, size_t n_bytes, void *context,
                        peer_run *run, struct peer_fault *);

#endif

/* SPDX-License-Identifier: MIT */
/* RSA, Diffie-Hellman and tests of primes, as modes of a peer (peers/peer.h): their keys, and the
 * answers that they have to give, from everycore's own functions. */
#ifndef HARNESS_PEER_LAYERS_H
#define HARNESS_PEER_LAYERS_H

#include <stddef.h>
#include <stdint.h>

#include "random.h"

enum peer_layer { PEER_NO_LAYER, PEER_RSA_PRIVATE, PEER_RSA_PUBLIC, PEER_DH, PEER_PRIME };

enum peer_layer peer_layer_of(const char *mode);

/* n_bytes, or 0 if the layer has no key of this length. */
size_t peer_layer_length_used(enum peer_layer layer, size_t n_bytes);

/* key: up to PEER_NUMBERS_BYTES bytes. */
void peer_layer_make(enum peer_layer layer, uint8_t *key, size_t n_bytes, struct random *random);

/* out: n_bytes bytes. RSA's private operation is computed without p and q. */
void peer_layer_answer(enum peer_layer layer, const uint8_t *key, size_t n_bytes, uint8_t *out);

#endif

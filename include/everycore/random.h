/* SPDX-License-Identifier: MIT */
/* Randomness, which the caller gives: this library has none. */
#ifndef EVERYCORE_RANDOM_H
#define EVERYCORE_RANDOM_H

#include "everycore/everycore.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A source of random bytes that nobody can predict, such as getrandom() of Linux or a hardware
 * generator behind a DRBG.
 *
 * fill writes n_bytes bytes, 1 to 1024, and returns 0. Anything else means that it could not: then
 * the call that asked ends with EVC_ERR_RANDOM, and its outputs are wiped. context: handed to fill
 * as it is; the library does not look at it.
 */
struct evc_random {
    int (*fill)(void *context, uint8_t *out, size_t n_bytes);
    void *context;
};

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/* Randomness, which the caller gives: a function of its own, or the operating system's. */
#ifndef EVERYCORE_RANDOM_H
#define EVERYCORE_RANDOM_H

#include "everycore/everycore.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A source of random bytes that nobody can predict: evc_random_system(), or a hardware generator
 * behind a DRBG.
 *
 * fill writes n_bytes bytes, 1 to 1024, and returns 0. Anything else means that it could not: then
 * the call that asked ends with EVC_ERR_RANDOM, and its outputs are wiped. context: handed to fill
 * as it is; the library does not look at it.
 */
struct evc_random {
    int (*fill)(void *context, uint8_t *out, size_t n_bytes);
    void *context;
};

/*
 * The generator of the operating system: never NULL, needs no set-up, may be shared by threads.
 *
 *     Linux, FreeBSD, NetBSD, OpenBSD   getentropy(), which waits while the system is starting and
 *                                       has not gathered enough
 *     macOS, iOS                        CCRandomGenerateBytes()
 *     Windows                           BCryptGenRandom(), for which a program links with bcrypt
 *     all others                        none
 *
 * If the system refuses, and where there is none, fill returns EVC_ERR_RANDOM: nothing else takes
 * its place. So it is in kernels and firmware, compiled with -DEVC_CPU_WITHOUT_OS or
 * -DEVC_CPU_BY_ID_REGISTERS.
 *
 *     if (evc_random_system()->fill(NULL, key, sizeof key) != 0)
 *         ... no key ...
 */
EVC_API const struct evc_random *evc_random_system(void);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/* Randomness comes from the caller: a function of its own, or that of the operating system. */
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
 * fill writes n_bytes bytes, 1 to 1024, and returns 0. Any other result means failure: the call
 * that needed the bytes returns EVC_ERR_RANDOM and wipes its outputs. context: passed to fill; the
 * library does not read it.
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
 * fill returns EVC_ERR_RANDOM if the system refuses or has no generator; there is no other source.
 * It always does so in kernels and firmware, compiled with -DEVC_CPU_WITHOUT_OS or
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

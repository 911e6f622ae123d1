/* SPDX-License-Identifier: MIT */
/*
 * Randomness from the operating system.
 *
 * Sources: POSIX.1-2024 and getentropy(3) of Linux, FreeBSD, NetBSD and OpenBSD: at most 256 bytes,
 *          and none before the system has gathered enough. Apple, CommonRandom.h (2014), which iOS
 *          lets programs call, as it does not getentropy(). Microsoft, BCryptGenRandom (bcrypt.h).
 */
#include "everycore/random.h"

/* For kernels and firmware, as in cpu/common.h: call no function of an operating system. */
#if defined(EVC_CPU_WITHOUT_OS) || defined(EVC_CPU_BY_ID_REGISTERS)
#define MOST_BYTES 0u

#elif defined(__linux__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
#define MOST_BYTES 256u

int getentropy(void *out, size_t n_bytes);

static int fill_piece(uint8_t *out, size_t n_bytes)
{
    return getentropy(out, n_bytes) == 0;
}

#elif defined(__APPLE__)
#define MOST_BYTES 256u

int32_t CCRandomGenerateBytes(void *out, size_t n_bytes);

static int fill_piece(uint8_t *out, size_t n_bytes)
{
    return CCRandomGenerateBytes(out, n_bytes) == 0;
}

#elif defined(_WIN32)
#define MOST_BYTES 256u
#define SYSTEM_PREFERRED_RNG 2u

#if defined(__i386__)
__attribute__((__stdcall__))
#endif
int32_t BCryptGenRandom(void *algorithm, uint8_t *out, uint32_t n_bytes, uint32_t flags);

static int fill_piece(uint8_t *out, size_t n_bytes)
{
    return BCryptGenRandom(NULL, out, (uint32_t)n_bytes, SYSTEM_PREFERRED_RNG) >= 0;
}

#else
#define MOST_BYTES 0u
#endif

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    (void)context;
#if MOST_BYTES
    while (n_bytes) {
        const size_t n = n_bytes < MOST_BYTES ? n_bytes : MOST_BYTES;

        if (!fill_piece(out, n))
            return EVC_ERR_RANDOM;
        out += n;
        n_bytes -= n;
    }
    return 0;
#else
    (void)out;
    (void)n_bytes;
    return EVC_ERR_RANDOM;
#endif
}

const struct evc_random *evc_random_system(void)
{
    static const struct evc_random system = {fill, NULL};

    return &system;
}

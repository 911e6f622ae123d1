/* SPDX-License-Identifier: MIT */
/*
 * Randomness from the operating system. Where that is getentropy(), this program has a function of
 * this name in its place, which keeps the limit that POSIX allows, can be counted, and fails when
 * it is told to.
 */
#define _GNU_SOURCE
#include "tap.h"

#include "everycore/random.h"

/* The same file as kernels and firmware compile it. */
#define EVC_CPU_WITHOUT_OS 1
#define evc_random_system random_without_system
const struct evc_random *random_without_system(void);
#include "random/system.c"
#undef evc_random_system

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

static int n_calls, failing_call;

int getentropy(void *out, size_t n_bytes);

int getentropy(void *out, size_t n_bytes)
{
    if (++n_calls == failing_call || n_bytes > 256)
        return -1;
    return syscall(SYS_getrandom, out, n_bytes, 0) == (long)n_bytes ? 0 : -1;
}

static void a_refusal_of_the_system_is_one_of_ours(void)
{
    uint8_t out[1024];

    for (size_t n = 1; n <= sizeof out; n += n < 250 || n > 260 ? 83 : 1)
        for (failing_call = 1; failing_call <= (int)(n + 255) / 256; failing_call++) {
            n_calls = 0;
            EXPECT(evc_random_system()->fill(NULL, out, n) == EVC_ERR_RANDOM);
            EXPECT(n_calls == failing_call); /* no other source is asked */
        }
    failing_call = 0;
}
#endif

/* Each byte takes each value sooner or later: a byte that is not written does not. */
static void all_bytes_are_written_and_none_behind(void)
{
    static const size_t lengths[] = {1, 2, 15, 255, 256, 257, 512, 513, 1023, 1024};
    uint8_t out[1025];

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const size_t n = lengths[i];
        uint8_t seen[1024] = {0};

        for (int round = 0; round < 48; round++) {
            memset(out, 0xa5, sizeof out);
            must((enum evc_status)evc_random_system()->fill(NULL, out, n));
            EXPECT(all_are(out + n, 0xa5, sizeof out - n));
            for (size_t j = 0; j < n; j++)
                seen[j] |= out[j] ^ 0xa5;
        }
        for (size_t j = 0; j < n; j++)
            EXPECT(seen[j] == 0xff); /* but with a chance of 2^-33 */
    }
}

static void two_calls_give_different_bytes(void)
{
    uint8_t a[32], b[32];

    must((enum evc_status)evc_random_system()->fill(NULL, a, sizeof a));
    must((enum evc_status)evc_random_system()->fill(NULL, b, sizeof b));
    EXPECT(!same(a, b, sizeof a));
}

static void without_a_system_there_is_none(void)
{
    uint8_t out[16];

    memset(out, 0xa5, sizeof out);
    EXPECT(random_without_system()->fill(NULL, out, sizeof out) == EVC_ERR_RANDOM);
    EXPECT(all_are(out, 0xa5, sizeof out));
}

int main(void)
{
    RUN(all_bytes_are_written_and_none_behind);
    RUN(two_calls_give_different_bytes);
#if defined(__linux__)
    RUN(a_refusal_of_the_system_is_one_of_ours);
#endif
    RUN(without_a_system_there_is_none);
    return tap_done();
}

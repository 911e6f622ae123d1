/* SPDX-License-Identifier: MIT */
/*
 * Tests in C without a framework, in the Test Anything Protocol: each test is a function whose
 * name is a sentence; RUN(name) runs it, and RUN_WITH(name, kernel) for one kernel. EXPECT
 * says what does not hold.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "everycore/aes.h"
#include "everycore/cpu.h"

static unsigned tap_tests, tap_failed, tap_complaints;

#define EXPECT(what)                                                                               \
    do {                                                                                           \
        if (!(what) && tap_complaints++ < 8)                                                       \
            printf("# %s:%d: does not hold: %s\n", __FILE__, __LINE__, #what);                     \
    } while (0)

/* For calls whose status is no matter of the test. */
static inline void must(enum evc_status status)
{
    EXPECT(status == EVC_OK);
}

static void tap_result(const char *name, const char *kernel)
{
    printf("%s %u - %s%s%s\n", tap_complaints ? "not ok" : "ok", ++tap_tests, name,
           kernel ? " with " : "", kernel ? kernel : "");
    tap_failed += tap_complaints != 0;
    tap_complaints = 0;
}

#define RUN(test) (test(), tap_result(#test, NULL))
#define RUN_WITH(test, kernel_) (test(kernel_), tap_result(#test, (kernel_)->kernel.name))

static inline int tap_done(void)
{
    printf("1..%u\n", tap_tests);
    return tap_failed != 0;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* The name of a feature that this line needs and this CPU lacks; NULL if it runs here. */
static inline const char *missing_feature(const struct evc_registry_line *line)
{
    const uint64_t missing = line->needs & ~evc_cpu_features() & ~EVC_SAME_RESULTS_MASK;

#define NAME_IF_MISSING(name, arch_, bit, text)                                                    \
    if ((line->arch == EVC_ARCH_##arch_ || EVC_ARCH_##arch_ == EVC_ARCH_OTHER) &&                  \
        (missing >> (bit)&1) != 0)                                                                 \
        return text;
    EVC_FEATURE_LIST(NAME_IF_MISSING)
#undef NAME_IF_MISSING
    return NULL;
}

/* Calls tests with every AES kernel that runs here; says which do not, and why. */
static inline void with_every_kernel(void (*tests)(const struct evc_aes *))
{
    const struct evc_registry_line *line;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++) {
        if (strcmp(line->primitive, "aes") != 0)
            continue;
        const char *why = line->built ? missing_feature(line) : "another architecture";
        if (why)
            printf("ok %u - all tests with %s # SKIP needs %s\n", ++tap_tests, line->name, why);
        else
            tests(evc_aes_named(line->name));
    }
}

/* ---- Data ------------------------------------------------------------------------------------ */

/* The same numbers on every machine: xorshift64 (Marsaglia 2003, "Xorshift RNGs", section 3). */
static uint64_t random_state = UINT64_C(0x0123456789abcdef);

static inline size_t random_below(size_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)((random_state >> 16) % n);
}

static inline void random_fill(uint8_t *p, size_t len_bytes)
{
    for (size_t i = 0; i < len_bytes; i++)
        p[i] = (uint8_t)random_below(256);
}

static inline int same(const uint8_t *a, const uint8_t *b, size_t len_bytes)
{
    return memcmp(a, b, len_bytes) == 0;
}

static inline int all_are(const void *p, uint8_t value, size_t len_bytes)
{
    for (const uint8_t *byte = p; len_bytes; len_bytes--)
        if (*byte++ != value)
            return 0;
    return 1;
}

#endif

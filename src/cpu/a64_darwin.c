/* SPDX-License-Identifier: MIT */
/*
 * A64 under macOS and iOS: sysctlbyname().
 *
 * Source: cpu/system_words.h; sysctlbyname(3). The build alone says much: compilers for macOS on
 *         Arm assume an Apple M1, and those for iOS assume AES and PMULL.
 */
#include "cpu/common.h"
#include "cpu/system_words.h"

#if EVC_FEATURES_FROM == EVC_FROM_SYSCTL

int sysctlbyname(const char *name, void *old, size_t *old_bytes, void *new_value, size_t new_bytes);

static int is_set(const char *name)
{
    int value = 0;
    size_t n_bytes = sizeof value;

    return sysctlbyname(name, &value, &n_bytes, NULL, 0) == 0 && n_bytes == sizeof value &&
           value != 0;
}

uint64_t evc_cpu_features(void)
{
    return evc_features_of_build() | evc_a64_of_sysctl(is_set);
}

#else
EVC_EMPTY_UNIT
#endif

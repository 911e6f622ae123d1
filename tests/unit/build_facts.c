/* SPDX-License-Identifier: MIT */
/* evc_cpu_features() where nobody is asked: compiled with -DEVC_CPU_WITHOUT_OS and flags that name
 * features, whose word is -DEXPECTED. It also runs on CPUs without these features, for it executes
 * none of their instructions. */
#include "tap.h"

#include "../../src/cpu/none.c"

static void what_the_compiler_was_told_counts(void)
{
    const uint64_t expected = (EXPECTED) | (EVC_WORD64 ? EVC_CPU(TUNE_WORD64) : 0);
    /* thumb: the compiler's default, no subject of this test */
    const uint64_t thumb = EVC_A32 ? EVC_CPU(A32_THUMB2) : 0;
    const uint64_t found = evc_cpu_features() & ~thumb;

    if (found != expected)
        printf("# %#llx, not %#llx\n", (unsigned long long)found, (unsigned long long)expected);
    EXPECT(found == expected);
}

int main(void)
{
    RUN(what_the_compiler_was_told_counts);
    return tap_done();
}

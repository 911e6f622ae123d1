/* SPDX-License-Identifier: MIT */
/* PA-RISC under Linux: whether the kernel has 64 bits, by its name for the machine, and whether
 * fmpyadd does as it is written. Sources: cpu/system_words.h, common/hppa_fmpyadd.h. */
#include "cpu/common.h"
#include "cpu/system_words.h"

#include "common/hppa_fmpyadd.h"

#if EVC_FEATURES_FROM == EVC_FROM_UNAME

/* struct new_utsname of Linux, include/uapi/linux/utsname.h, which C libraries use as it is. */
struct names {
    char sysname[65], nodename[65], release[65], version[65], machine[65], domainname[65];
};

int uname(struct names *names);

uint64_t evc_cpu_features(void)
{
    struct names names = {.machine = ""};

    return evc_features_of_build() | (evc_hppa_fmpyadd_is_right() ? EVC_CPU(HPPA_FMPYADD) : 0) |
           (uname(&names) == 0 ? evc_hppa_of_machine(names.machine) : 0);
}

#else
EVC_EMPTY_UNIT
#endif

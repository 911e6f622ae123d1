/* SPDX-License-Identifier: MIT */
/*
 * Whether fmpyadd multiplies and adds doubles here. Each CPU of PA-RISC 1.1 and later
 * does; QEMU 7.2 takes the bit for single precision for that for double precision. So one
 * product and one sum are made.
 *
 * In a build with EVC_HPPA_FMPYADD_SWAPPED the bit is swapped, so that tests and counts run under
 * that emulator. On a CPU such a build finds that the instruction is wrong.
 */
#ifndef EVC_COMMON_HPPA_FMPYADD_H
#define EVC_COMMON_HPPA_FMPYADD_H

#include "everycore/isa.h"

#include "common/bytes.h"

/* Whether a product and a sum, as words, are 2^52 + 2^27 + 2^25 + 1 and 2^52 + 2. Words, as what is
 * wrong may be no number. */
static inline int evc_hppa_fmpyadd_gave(const uint32_t words[4])
{
    return words[0] == 0x43300000 && words[1] == 0x0a000001 &&
           words[2] == 0x43300000 && words[3] == 2;
}

#if EVC_HPPA && EVC_GNU_C && !defined(__LP64__) && \
    (defined(_PA_RISC1_1) || defined(_PA_RISC2_0)) && !defined(EVC_CPU_WITHOUT_OS)
#if defined(EVC_HPPA_FMPYADD) /* a test has another instruction */
#elif defined(EVC_HPPA_FMPYADD_SWAPPED)
#define EVC_HPPA_FMPYADD ".word 0x18000020 + (22 << 21) + (23 << 16) + (25 << 11) + (24 << 6) + 26"
#else
#define EVC_HPPA_FMPYADD "fmpyadd,dbl %2, %3, %0, %4, %1"
#endif

static inline int evc_hppa_fmpyadd_is_right(void)
{
    /* Numbers that need both words of a double; all is exact, so it does not matter how the unit
     * rounds. An instruction in single precision that names these registers changes no others.
     * Its result may be inexact or too small: so the status of the unit, with traps and flags,
     * is kept away from it. */
    register double x __asm__("%fr22") = 134217729.0, y __asm__("%fr23") = 33554433.0;
    register double older __asm__("%fr24") = 4503599627370495.0, sum __asm__("%fr25") = 3.0;
    register double product __asm__("%fr26") = 0;
    const uint64_t no_traps = 0;
    uint64_t status;
    double results[2];
    uint32_t words[4];

    __asm__ volatile("fstds %%fr0, 0(%5)\n\tfldds 0(%6), %%fr0\n\t" EVC_HPPA_FMPYADD "\n\t"
                     "fldds 0(%5), %%fr0"
                     : "+f"(product), "+f"(sum)
                     : "f"(x), "f"(y), "f"(older), "r"(&status), "r"(&no_traps)
                     : "memory");
    results[0] = product;
    results[1] = sum;
    memcpy(words, results, sizeof words);
    return evc_hppa_fmpyadd_gave(words);
}
#undef EVC_HPPA_FMPYADD
#else
static inline int evc_hppa_fmpyadd_is_right(void)
{
    return 0;
}
#endif

#endif

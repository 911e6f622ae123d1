/* SPDX-License-Identifier: MIT */
/*
 * IBM Z under Linux: vector registers by the auxiliary vector, facilities by STFLE, and the
 * functions that each instruction has by its query.
 * Source: cpu/system_words.h.
 */
#include "cpu/common.h"
#include "cpu/system_words.h"

#if EVC_FEATURES_FROM == EVC_FROM_STFLE

#include "common/s390x.h"

unsigned long getauxval(unsigned long type);
#define AT_HWCAP 16
#define HAS_STFLE 2 /* a bit of it */

/* An instruction with its operands in registers that it does not use for a query. */
#define QUERY(words, ...)                                   \
    do {                                                    \
        register uint64_t r0 __asm__("0") = EVC_S390X_QUERY; \
        register uint64_t *r1 __asm__("1") = (words);       \
        __asm__ volatile(".insn " __VA_ARGS__               \
                         :                                  \
                         : "d"(r0), "d"(r1)                 \
                         : "cc", "memory");                 \
    } while (0)

static void query(enum evc_s390x_instruction instruction, uint64_t functions[2])
{
    switch (instruction) {
    case EVC_S390X_KM: QUERY(functions, "rre, 0xb92e0000, %%r2, %%r4"); break;
    case EVC_S390X_KMC: QUERY(functions, "rre, 0xb92f0000, %%r2, %%r4"); break;
    case EVC_S390X_KMAC: QUERY(functions, "rre, 0xb91e0000, %%r0, %%r4"); break;
    case EVC_S390X_KMCTR: QUERY(functions, "rrf, 0xb92d0000, %%r2, %%r4, %%r6, 0"); break;
    case EVC_S390X_KIMD: QUERY(functions, "rre, 0xb93e0000, %%r0, %%r4"); break;
    case EVC_S390X_KMA: QUERY(functions, "rrf, 0xb9290000, %%r2, %%r4, %%r6, 0"); break;
    }
}

/* A function of its own: a call between the number and the instruction might change register 0. */
static void store_facilities(uint64_t facilities[3])
{
    register uint64_t last __asm__("0") = 2; /* the number of the last word */

    /* stfle; words that the CPU has not stay 0, so they are operands, too */
    __asm__ volatile(".insn s, 0xb2b00000, %0"
                     : "+Q"(*(uint64_t(*)[3])facilities), "+d"(last)
                     :
                     : "cc");
}

uint64_t evc_cpu_features(void)
{
    const unsigned long cap = getauxval(AT_HWCAP);
    const uint64_t have = evc_features_of_build() | evc_s390x_of_hwcap(cap);
    uint64_t facilities[3] = {0, 0, 0};

    if (!(cap >> HAS_STFLE & 1))
        return have;
    store_facilities(facilities);
    return have | evc_s390x_of_facilities(facilities, query);
}

#else
EVC_EMPTY_UNIT
#endif

/* SPDX-License-Identifier: MIT */
/* Kernels of bn on PA-RISC, and the check that fmpyadd is right, whatever the status of the unit
 * for floating point is: it may round in any way, and trap. The status is the caller's afterwards,
 * with all flags, and so are the registers that a call keeps. */
#include "tap.h"

#include "everycore/bn.h"

#include "common/hppa_fmpyadd.h"

/* The check for the other bit. Where one of the two is right, the other may give
 * results that are inexact. */
#undef EVC_COMMON_HPPA_FMPYADD_H
#define evc_hppa_fmpyadd_gave other_gave
#define evc_hppa_fmpyadd_is_right other_is_right
#if defined(EVC_HPPA_FMPYADD_SWAPPED)
#undef EVC_HPPA_FMPYADD_SWAPPED
#else
#define EVC_HPPA_FMPYADD_SWAPPED 1
#endif
#include "common/hppa_fmpyadd.h"
#undef evc_hppa_fmpyadd_gave
#undef evc_hppa_fmpyadd_is_right

/* The check for an instruction that makes the product alone, or the sum alone. */
#undef EVC_COMMON_HPPA_FMPYADD_H
#define evc_hppa_fmpyadd_gave product_gave
#define evc_hppa_fmpyadd_is_right product_is_right
#define EVC_HPPA_FMPYADD "fmpy,dbl %2, %3, %0"
#include "common/hppa_fmpyadd.h"
#undef EVC_COMMON_HPPA_FMPYADD_H
#undef evc_hppa_fmpyadd_gave
#undef evc_hppa_fmpyadd_is_right
#define evc_hppa_fmpyadd_gave sum_gave
#define evc_hppa_fmpyadd_is_right sum_is_right
#define EVC_HPPA_FMPYADD "fadd,dbl %4, %1, %1"
#include "common/hppa_fmpyadd.h"
#undef evc_hppa_fmpyadd_gave
#undef evc_hppa_fmpyadd_is_right

#define N_KEPT 10 /* fr12 to fr21 */
#define N_BYTES 128

static const uint32_t ways[] = {0x000, 0x200, 0x400, 0x600}; /* to nearest, to zero, up, down */
#define TRAPS 0x1f
#define FLAGS 0x50000000

static uint8_t memory[16384] __attribute__((aligned(64))),
    scratch[1 << 17] __attribute__((aligned(64)));
static uint8_t n[N_BYTES], a[N_BYTES], b[N_BYTES], expected[4][N_BYTES], got[4][N_BYTES];

#define KEPT(R) \
    R(12, 0)    \
    R(13, 8) R(14, 16) R(15, 24) R(16, 32) R(17, 40) R(18, 48) R(19, 56) R(20, 64) R(21, 72)
#define LOAD(f, at) "fldds,ma 8(%0), %%fr" #f "\n\t"
#define STORE(f, at) "fstds,ma %%fr" #f ", 8(%0)\n\t"
#define CLOBBERED \
    "memory", "fr12", "fr13", "fr14", "fr15", "fr16", "fr17", "fr18", "fr19", "fr20", "fr21"

/* Inline: a function of its own would keep these registers for its caller. */
EVC_INLINE void set_unit(const uint64_t *kept, uint32_t status)
{
    const uint32_t words[2] = {status, 0};

    __asm__ volatile(KEPT(LOAD) : "+r"(kept) : : CLOBBERED);
    __asm__ volatile("fldds 0(%0), %%fr0" : : "r"(words) : "memory");
}

EVC_INLINE uint32_t get_unit(uint64_t *kept)
{
    uint32_t words[2];

    __asm__ volatile("fstds %%fr0, 0(%0)" : : "r"(words) : "memory");
    __asm__ volatile(KEPT(STORE) : "+r"(kept) : : CLOBBERED);
    return words[0];
}

static void operate(uint8_t results[4][N_BYTES])
{
    const struct evc_bn_modulus *modulus = (const void *)memory;

    must(evc_bn_mod_mul(modulus, a, b, results[0], scratch, sizeof scratch));
    must(evc_bn_exp(modulus, a, b, 9, results[1], scratch, sizeof scratch));
    must(evc_bn_exp_small(modulus, 2, b, 9, results[2], scratch, sizeof scratch));
    must(evc_bn_mod_reduce(modulus, scratch, 2, results[3], scratch + 16, sizeof scratch - 16));
}

static void the_status_of_the_unit_is_the_callers(const struct evc_bn *bn)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0] && !tap_complaints; i++)
        for (int with_traps = 0; with_traps <= 1; with_traps++) {
            const uint32_t status = ways[i] | (with_traps ? TRAPS : 0) | FLAGS;
            uint64_t kept[N_KEPT], after[N_KEPT];
            uint32_t was;

            random_fill((uint8_t *)kept, sizeof kept);
            random_fill(n, N_BYTES);
            n[0] |= 0x80;
            n[N_BYTES - 1] |= 1;
            random_fill(a, N_BYTES);
            random_fill(b, N_BYTES);
            a[0] &= 0x7f;
            b[0] &= 0x7f;
            scratch[0] = scratch[1] = 0xff;
            must(
                evc_bn_set_modulus_in(memory, sizeof memory, evc_bn_named("c_limb32"), n, N_BYTES));
            operate(expected);
            scratch[0] = scratch[1] = 0xff;
            memset(got, 0, sizeof got);
            set_unit(kept, status);
            must(evc_bn_set_modulus_in(memory, sizeof memory, bn, n, N_BYTES));
            operate(got);
            was = get_unit(after);
            set_unit(kept, 0);
            EXPECT(was == status);
            EXPECT(memcmp(after, kept, sizeof kept) == 0);
            EXPECT(memcmp(got, expected, sizeof got) == 0);
        }
}

/* Traps would end this program. */
static void a_check_of_fmpyadd_leaves_the_status_as_it_is(void)
{
    int (*const checks[])(void) = {evc_hppa_fmpyadd_is_right, other_is_right};
    int n_right = 0;

    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        for (uint32_t traps = 0; traps <= TRAPS; traps += TRAPS) {
            uint64_t kept[N_KEPT], after[N_KEPT];
            uint32_t was;

            random_fill((uint8_t *)kept, sizeof kept);
            set_unit(kept, traps);
            n_right += checks[i]();
            was = get_unit(after);
            set_unit(kept, 0);
            EXPECT(was == traps);
        }
    EXPECT(n_right == 2); /* one of the two checks, each time */
}

static void a_product_or_a_sum_alone_is_not_enough(void)
{
    EXPECT(!product_is_right());
    EXPECT(!sum_is_right());
}

int main(void)
{
    static const char *const names[] = {"hppa_xmpyu", "hppa_fmpyadd"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct evc_bn *const bn = evc_bn_named(names[i]);

        if (!evc_kernel_runs(evc_bn_kernel(bn), evc_cpu_features() | EVC_CPU(CT_MUL)))
            printf("ok %u - the status of the unit with %s # SKIP it does not run here\n",
                   ++tap_tests, names[i]);
        else
            the_status_of_the_unit_is_the_callers(bn),
                tap_result("the_status_of_the_unit_is_the_callers", names[i]);
    }
    RUN(a_check_of_fmpyadd_leaves_the_status_as_it_is);
    RUN(a_product_or_a_sum_alone_is_not_enough);
    return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* Pointer authentication: what the Arm ARM says of its results. */
#include "everycore/pac.h"

#include "tap.h"

static const struct evc_pac_algorithm *const algorithms[] = {&evc_pac_qarma5, &evc_pac_qarma3, &evc_pac_impdef,
                                                             &evc_pac_aes128};
#define N_ALGORITHMS (sizeof algorithms / sizeof algorithms[0])

static uint64_t random64(void)
{
    uint64_t x;

    random_fill((uint8_t *)&x, sizeof x);
    return x;
}

static struct evc_pac_kernels portable(void)
{
    const struct evc_pac_kernels kernels = {evc_qarma_select(0, 0, EVC_USE_SERIAL),
                                            evc_aes_select(0, 0, EVC_USE_SERIAL)};

    return kernels;
}

static struct evc_pac_key fresh_key(const struct evc_pac_algorithm *algorithm)
{
    const struct evc_pac_kernels kernels = portable();
    struct evc_pac_key key;

    EXPECT(evc_pac_set_key(&key, algorithm, &kernels, random64(), random64()) == EVC_OK);
    return key;
}

static struct evc_pac_rules rules_of(unsigned level, unsigned va_bits, unsigned tbi)
{
    struct evc_pac_rules rules;

    EXPECT(evc_pac_set_rules(&rules, level, va_bits, tbi, EVC_PAC_EXTEND_BY_TBI) == EVC_OK);
    return rules;
}

/* Calls a test for each level, size and TBI, with rules and a canonical pointer of either half. */
static void for_all_rules(void (*test)(const struct evc_pac_rules *, const struct evc_pac_key *, uint64_t))
{
    for (size_t i = 0; i < N_ALGORITHMS; i++)
        for (unsigned level = EVC_PAC_PAUTH; level <= EVC_PAC_FPACCOMBINE; level++)
            for (unsigned va_bits = EVC_PAC_MIN_VA_BITS; va_bits <= EVC_PAC_MAX_VA_BITS; va_bits++)
                for (unsigned form = 0; form < 4; form++) {
                    const struct evc_pac_rules rules = rules_of(level, va_bits, form & 1);
                    const struct evc_pac_key key = fresh_key(algorithms[i]);
                    const uint64_t other = random64() & ~rules.extension;
                    test(&rules, &key, form & 2 ? other | rules.extension : other);
                }
}

static void round_trip(const struct evc_pac_rules *rules, const struct evc_pac_key *key, uint64_t pointer)
{
    const uint64_t modifier = random64(), added = evc_pac_add(rules, key, pointer, modifier);
    const struct evc_pac_result result = evc_pac_auth(rules, key, EVC_PAC_KEY_A, 0, added, modifier);

    EXPECT(((added ^ pointer) & ~rules->field) == 0);
    EXPECT(result.value == pointer && result.valid && !result.fault);
    EXPECT(evc_pac_strip(rules, added) == pointer);
}

static void what_is_added_authenticates(void)
{
    for_all_rules(round_trip);
}

int main(void)
{
    RUN(what_is_added_authenticates);
    return tap_done();
}

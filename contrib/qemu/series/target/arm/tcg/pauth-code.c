/* SPDX-License-Identifier: MIT OR GPL-2.0-or-later */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "cpu.h"
#include "cpu-features.h"
#include "pauth-code.h"
#include "pauth-qarma.h"

#define MEMO_BITS 9
#define MEMO_WAYS 2

typedef struct ARMPauthMemo {
    uint64_t data, modifier, hi, lo, code;
} ARMPauthMemo;

/* State of one vCPU, which runs in one thread at a time: no locks. */
struct ARMPauthState {
    const ARMPauthQarmaTables *tables; /* NULL: not QARMA */
    bool is_qarma3;
    ARMPauthMemo memo[1 << MEMO_BITS][MEMO_WAYS]; /* the newer one first */
};

static uint64_t compute(CPUARMState *env, const struct ARMPauthState *state,
                        uint64_t data, uint64_t modifier, ARMPACKey key,
                        ARMPauthReference *reference)
{
    if (state->tables) {
        return arm_pauth_qarma(state->tables, state->is_qarma3, data, modifier,
                               key.hi, key.lo);
    }
    return reference(env, data, modifier, key);
}

/*
 * Return addresses differ in their low bits, stack pointers from bit 4 up.
 * The factor is 2^64 over the golden ratio (Knuth: The Art of Computer
 * Programming, volume 3, 1998, section 6.4).
 */
static inline ARMPauthMemo *memo_set(struct ARMPauthState *state,
                                     uint64_t data, uint64_t modifier)
{
    uint64_t mixed = (data ^ rol64(modifier, 27)) * 0x9e3779b97f4a7c15ull;

    return state->memo[mixed >> (64 - MEMO_BITS)];
}

static inline bool memo_is(const ARMPauthMemo *memo, uint64_t data,
                           uint64_t modifier, ARMPACKey key)
{
    return ((memo->data ^ data) | (memo->modifier ^ modifier) |
            (memo->hi ^ key.hi) | (memo->lo ^ key.lo)) == 0;
}

static struct ARMPauthState *new_state(CPUARMState *env,
                                       ARMPauthReference *reference)
{
    struct ARMPauthState *state = g_new0(struct ARMPauthState, 1);
    ARMCPU *cpu = env_archcpu(env);
    ARMPACKey zeros = { 0 };
    ARMPauthMemo *set;

    state->is_qarma3 = cpu_isar_feature(aa64_pauth_qarma3, cpu);
    if (state->is_qarma3 || cpu_isar_feature(aa64_pauth_qarma5, cpu)) {
        state->tables = arm_pauth_qarma_tables(state->is_qarma3);
    }
    /* Entries are zeros, and those of zeros have to be right. */
    set = memo_set(state, 0, 0);
    for (int way = 0; way < MEMO_WAYS; way++) {
        set[way].code = compute(env, state, 0, 0, zeros, reference);
    }
    return state;
}

static uint64_t remember(CPUARMState *env, struct ARMPauthState *state,
                         uint64_t data, uint64_t modifier, ARMPACKey key,
                         ARMPauthReference *reference)
{
    ARMPauthMemo *set = memo_set(state, data, modifier);

    if (likely(memo_is(&set[0], data, modifier, key))) {
        return set[0].code;
    }
    if (memo_is(&set[1], data, modifier, key)) {
        return set[1].code;
    }
    set[1] = set[0];
    set[0] = (ARMPauthMemo) {
        .data = data,
        .modifier = modifier,
        .hi = key.hi,
        .lo = key.lo,
        .code = compute(env, state, data, modifier, key, reference),
    };
    return set[0].code;
}

/* Mode check: ends QEMU at the first difference. */
static uint64_t check(CPUARMState *env, struct ARMPauthState *state,
                      uint64_t data, uint64_t modifier, ARMPACKey key,
                      ARMPauthReference *reference)
{
    uint64_t expected = reference(env, data, modifier, key);
    uint64_t direct = compute(env, state, data, modifier, key, reference);
    uint64_t memo = remember(env, state, data, modifier, key, reference);

    if (direct != expected || memo != expected) {
        error_report("pauth=check: code of %016" PRIx64 " with modifier %016"
                     PRIx64 " is %016" PRIx64 ", computed %016" PRIx64
                     ", remembered %016" PRIx64,
                     data, modifier, expected, direct, memo);
        abort();
    }
    return expected;
}

uint64_t arm_pauth_code(CPUARMState *env, uint64_t data, uint64_t modifier,
                        ARMPACKey key, ARMPauthReference *reference)
{
    ARMCPU *cpu = env_archcpu(env);

    if (unlikely(!cpu->pauth_state)) {
        cpu->pauth_state = new_state(env, reference);
    }
    switch (cpu->pauth_mode) {
    case ARM_PAUTH_MEMO:
        return remember(env, cpu->pauth_state, data, modifier, key, reference);
    case ARM_PAUTH_DIRECT:
        return compute(env, cpu->pauth_state, data, modifier, key, reference);
    case ARM_PAUTH_CHECK:
        return check(env, cpu->pauth_state, data, modifier, key, reference);
    default:
        return reference(env, data, modifier, key);
    }
}

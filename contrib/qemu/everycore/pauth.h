/* SPDX-License-Identifier: MIT */
/*
 * Pointer authentication for QEMU's Arm target: what does not depend on QEMU's headers. One struct
 * evc_qemu_cpu for each thread, because a vCPU runs in one thread at a time.
 *
 * Settings, read once from the environment of QEMU: EVERYCORE_PAUTH, a mode, and
 * EVERYCORE_PAUTH_COUNTS, the absolute name of a file that has a struct evc_qemu_counts.
 * contrib/qemu/README.md of everycore says what the modes are.
 */
#ifndef EVERYCORE_QEMU_PAUTH_H
#define EVERYCORE_QEMU_PAUTH_H

#include "everycore/pac.h"

enum evc_qemu_mode { EVC_QEMU_OWN, EVC_QEMU_MAC, EVC_QEMU_PLAIN, EVC_QEMU_MEMO, EVC_QEMU_CHECK };

enum evc_qemu_counter {
    EVC_QEMU_ADDS,
    EVC_QEMU_AUTHS,
    EVC_QEMU_GENERICS,
    EVC_QEMU_MACS, /* codes computed: none by the memo, two by Auth of a wrong code
                    * (ours, then QEMU's own) */
    EVC_QEMU_SCHEDULES, /* keys made ready */
    EVC_QEMU_N_COUNTERS
};

/* The counts are the sum over all threads and over all processes that name the file, in
 * the host's byte order. */
struct evc_qemu_counts {
    char magic[8]; /* "evcpac1" */
    uint64_t counter[EVC_QEMU_N_COUNTERS];
    char algorithm[16], kernel[16]; /* of the vCPU that came last */
};

/* Upper bits of pointers under one translation regime. All that QEMU computes them from is the
 * index of the regime and TCR_EL1 to TCR_EL3, beside constants of the CPU. */
struct evc_qemu_regime {
    uint64_t tcr[3];
    uint32_t mmu_idx;
    uint8_t known, usable;
    struct evc_pac_rules rules[2][2]; /* to code, to data; lower, upper half */
};

/* A pair of key registers, as they were when last looked at, and the id of the value. */
struct evc_qemu_register {
    uint64_t hi, lo, id;
};

#define EVC_QEMU_REGIMES 8
#define EVC_QEMU_REGISTERS 5
#define EVC_QEMU_SETS 512

struct evc_qemu_cpu {
    const void *env; /* the vCPU; NULL before the first use */
    int index; /* its number: after it was freed, another may get its address */
    enum evc_qemu_mode mode;
    unsigned level; /* enum evc_pac_level */
    struct evc_qemu_counts *counts; /* NULL: do not count */
    struct evc_pac_memo memo;
    struct evc_qemu_register registers[EVC_QEMU_REGISTERS];
    struct evc_qemu_regime regimes[EVC_QEMU_REGIMES];
    struct evc_pac_keys keys;
    EVC_ALIGN(64) struct evc_pac_memo_set sets[EVC_QEMU_SETS];
};

extern __thread struct evc_qemu_cpu evc_qemu_here;

/* QEMU's own algorithm, which tells us which one the vCPU has. */
typedef uint64_t evc_qemu_own_mac(void *env, uint64_t data, uint64_t modifier, uint64_t hi,
                                  uint64_t lo);

/* Make *cpu the state of that vCPU. level: as ID_AA64ISAR1_EL1 has it. */
void evc_qemu_setup(struct evc_qemu_cpu *cpu, void *env, int index, unsigned level,
                    evc_qemu_own_mac *own);

/* Fill rules[data][half]. mask: the bits that XPAC changes. */
void evc_qemu_set_rules(const struct evc_qemu_cpu *cpu, struct evc_qemu_regime *regime,
                        unsigned data, unsigned half, uint64_t mask);

/* A difference in check mode: says so and ends QEMU. */
void evc_qemu_differs(const char *what, uint64_t value, uint64_t modifier, uint64_t expected,
                      uint64_t got) __attribute__((noreturn));

/* Without a library, which not every host has. */
#if defined __GCC_ATOMIC_LLONG_LOCK_FREE && __GCC_ATOMIC_LLONG_LOCK_FREE == 2
#define EVC_QEMU_CAN_COUNT 1
#else
#define EVC_QEMU_CAN_COUNT 0
#endif

static inline void evc_qemu_count(const struct evc_qemu_cpu *cpu, enum evc_qemu_counter counter)
{
#if EVC_QEMU_CAN_COUNT
    if (__builtin_expect(cpu->counts != NULL, 0))
        __atomic_fetch_add(&cpu->counts->counter[counter], 1, __ATOMIC_RELAXED);
#else
    (void)cpu;
    (void)counter;
#endif
}

/* The key of that value; whether it had to be made ready is counted. */
static inline const struct evc_pac_key *evc_qemu_key(struct evc_qemu_cpu *cpu, uint64_t hi,
                                                     uint64_t lo)
{
    const uint64_t before = cpu->keys.schedules;
    const struct evc_pac_key *key = evc_pac_keys_get(&cpu->keys, hi, lo);

    if (__builtin_expect(cpu->keys.schedules != before, 0))
        evc_qemu_count(cpu, EVC_QEMU_SCHEDULES);
    return key;
}

static inline uint64_t evc_qemu_mac(struct evc_qemu_cpu *cpu, uint64_t data, uint64_t modifier,
                                    uint64_t hi, uint64_t lo)
{
    evc_qemu_count(cpu, EVC_QEMU_MACS);
    return evc_pac_mac(evc_qemu_key(cpu, hi, lo), data, modifier);
}

/* The id of a register's value, for the memo. 0 if it is not known; a value that was replaced in
 * struct evc_pac_keys keeps its id here, which no other value gets. */
static inline uint64_t evc_qemu_id(const struct evc_qemu_register *reg, uint64_t hi, uint64_t lo)
{
    return ((reg->hi ^ hi) | (reg->lo ^ lo)) == 0 ? reg->id : 0;
}

/* As evc_qemu_key, and the register keeps the id. */
static inline const struct evc_pac_key *evc_qemu_register_key(struct evc_qemu_cpu *cpu,
                                                              struct evc_qemu_register *reg,
                                                              uint64_t hi, uint64_t lo)
{
    const struct evc_pac_key *key = evc_qemu_key(cpu, hi, lo);

    reg->hi = hi;
    reg->lo = lo;
    reg->id = key->id;
    return key;
}

/* with_memo: 0 computes anew. */
static inline uint64_t evc_qemu_add(struct evc_qemu_cpu *cpu, int with_memo,
                                    const struct evc_pac_rules *rules,
                                    struct evc_qemu_register *reg, uint64_t hi, uint64_t lo,
                                    uint64_t pointer, uint64_t modifier)
{
    const uint64_t context = evc_pac_context_of(evc_qemu_id(reg, hi, lo), rules);
    const uint64_t misses = cpu->memo.misses[EVC_PAC_OP_ADD];
    const struct evc_pac_key *key;
    uint64_t result;

    if (with_memo &&
        evc_pac_memo_find(&cpu->memo, context, EVC_PAC_OP_ADD, pointer, modifier, &result))
        return result;
    key = evc_qemu_register_key(cpu, reg, hi, lo);
    result = with_memo ? evc_pac_memo_add(&cpu->memo, evc_pac_context(key, rules), rules, key,
                                          pointer, modifier)
                       : evc_pac_add(rules, key, pointer, modifier);
    if (!with_memo || cpu->memo.misses[EVC_PAC_OP_ADD] != misses)
        evc_qemu_count(cpu, EVC_QEMU_MACS);
    return result;
}

/* A pointer that is not valid gets QEMU's own result; letter and combined only matter then. */
static inline struct evc_pac_result evc_qemu_auth(struct evc_qemu_cpu *cpu, int with_memo,
                                                  const struct evc_pac_rules *rules,
                                                  struct evc_qemu_register *reg, uint64_t hi,
                                                  uint64_t lo, enum evc_pac_letter letter,
                                                  int combined, uint64_t pointer, uint64_t modifier)
{
    const uint64_t context = evc_pac_context_of(evc_qemu_id(reg, hi, lo), rules);
    const uint64_t misses = cpu->memo.misses[EVC_PAC_OP_AUTH];
    struct evc_pac_result result = {0, 1, 0};
    const struct evc_pac_key *key;

    if (with_memo &&
        evc_pac_memo_find(&cpu->memo, context, EVC_PAC_OP_AUTH, pointer, modifier, &result.value))
        return result;
    key = evc_qemu_register_key(cpu, reg, hi, lo);
    result = with_memo ? evc_pac_memo_auth(&cpu->memo, evc_pac_context(key, rules), rules, key,
                                           letter, combined, pointer, modifier)
                       : evc_pac_auth(rules, key, letter, combined, pointer, modifier);
    if (!with_memo || cpu->memo.misses[EVC_PAC_OP_AUTH] != misses)
        evc_qemu_count(cpu, EVC_QEMU_MACS);
    return result;
}

static inline struct evc_qemu_regime *evc_qemu_regime(struct evc_qemu_cpu *cpu, uint32_t mmu_idx)
{
    return &cpu->regimes[mmu_idx % EVC_QEMU_REGIMES];
}

static inline int evc_qemu_regime_is(const struct evc_qemu_regime *regime, uint32_t mmu_idx,
                                     const uint64_t *tcr)
{
    return regime->known && regime->mmu_idx == mmu_idx &&
           ((regime->tcr[0] ^ tcr[0]) | (regime->tcr[1] ^ tcr[1]) | (regime->tcr[2] ^ tcr[2])) == 0;
}

#endif

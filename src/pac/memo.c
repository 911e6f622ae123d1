/* SPDX-License-Identifier: MIT */
/* Results of pointer authentication that were computed before. */
#include "everycore/pac.h"

#include "common/bytes.h"

#define EPOCH_STEP 4u
#define EPOCH_MASK 0x3fcu
#define MOST_SETS ((size_t)1 << 14) /* as many as the bits of evc_pac_memo_set_of reach */

static size_t evc_pac_n_sets(const struct evc_pac_memo *memo)
{
    return memo->mask / sizeof(struct evc_pac_memo_set) + 1;
}

/* No look-up has a tag of 0: its operation is not 0. */
static void evc_pac_clear(struct evc_pac_memo *memo)
{
    for (size_t i = 0; i < evc_pac_n_sets(memo); i++)
        memo->sets[i].way[0].tag = memo->sets[i].way[1].tag = 0;
}

enum evc_status evc_pac_memo_init(struct evc_pac_memo *memo, struct evc_pac_memo_set *sets,
                                  size_t count)
{
    if (count < 2 || count > MOST_SETS || (count & (count - 1)))
        return EVC_ERR_LENGTH;
    memset(memo, 0, sizeof *memo);
    memo->sets = sets;
    memo->mask = (uint32_t)((count - 1) * sizeof *sets);
    evc_pac_clear(memo);
    return EVC_OK;
}

void evc_pac_memo_flush(struct evc_pac_memo *memo)
{
    memo->epoch = (memo->epoch + EPOCH_STEP) & EPOCH_MASK;
    if (memo->epoch == 0)
        evc_pac_clear(memo);
}

/* The older of the two goes; a pointer that is already there is written again in its place. */
static void evc_pac_put(struct evc_pac_memo *memo, uint64_t context,
                        enum evc_pac_operation operation, uint64_t pointer, uint64_t modifier,
                        uint64_t result)
{
    struct evc_pac_memo_set *set = evc_pac_memo_set_of(memo, operation, pointer, modifier);
    const struct evc_pac_memo_entry entry = {pointer, modifier,
                                             evc_pac_memo_tag(memo, context, operation), result};

    if (!context)
        return;
    if (!evc_pac_memo_is(&set->way[0], pointer, modifier, entry.tag))
        set->way[1] = set->way[0];
    set->way[0] = entry;
}

void evc_pac_memo_keep(struct evc_pac_memo *memo, uint64_t context,
                       enum evc_pac_operation operation, uint64_t pointer, uint64_t modifier,
                       uint64_t result)
{
    memo->misses[operation]++;
    evc_pac_put(memo, context, operation, pointer, modifier, result);
}

EVC_OUT_OF_LINE uint64_t evc_pac_added(struct evc_pac_memo *memo, uint64_t context,
                                       const struct evc_pac_rules *rules,
                                       const struct evc_pac_key *key, uint64_t pointer,
                                       uint64_t modifier)
{
    const uint64_t result = evc_pac_add(rules, key, pointer, modifier);

    evc_pac_memo_keep(memo, context, EVC_PAC_OP_ADD, pointer, modifier, result);
    if (evc_pac_strip(rules, pointer) == pointer)
        evc_pac_put(memo, context, EVC_PAC_OP_AUTH, result, modifier, pointer);
    return result;
}

uint64_t evc_pac_memo_add(struct evc_pac_memo *memo, uint64_t context,
                          const struct evc_pac_rules *rules, const struct evc_pac_key *key,
                          uint64_t pointer, uint64_t modifier)
{
    uint64_t result;

    if (evc_pac_memo_find(memo, context, EVC_PAC_OP_ADD, pointer, modifier, &result))
        return result;
    return evc_pac_added(memo, context, rules, key, pointer, modifier);
}

struct evc_pac_result evc_pac_memo_auth(struct evc_pac_memo *memo, uint64_t context,
                                        const struct evc_pac_rules *rules,
                                        const struct evc_pac_key *key, enum evc_pac_letter letter,
                                        int combined, uint64_t pointer, uint64_t modifier)
{
    struct evc_pac_result result = {0, 1, 0};

    if (evc_pac_memo_find(memo, context, EVC_PAC_OP_AUTH, pointer, modifier, &result.value))
        return result;
    result = evc_pac_auth(rules, key, letter, combined, pointer, modifier);
    if (result.valid)
        evc_pac_memo_keep(memo, context, EVC_PAC_OP_AUTH, pointer, modifier, result.value);
    else
        memo->misses[EVC_PAC_OP_AUTH]++;
    return result;
}

uint64_t evc_pac_memo_generic(struct evc_pac_memo *memo, uint64_t context,
                              const struct evc_pac_key *key, uint64_t data, uint64_t modifier)
{
    uint64_t result;

    if (evc_pac_memo_find(memo, context, EVC_PAC_OP_GENERIC, data, modifier, &result))
        return result;
    result = evc_pac_generic(key, data, modifier);
    evc_pac_memo_keep(memo, context, EVC_PAC_OP_GENERIC, data, modifier, result);
    return result;
}

/* SPDX-License-Identifier: MIT */
/* Keys of pointer authentication, and the ones that were used last. */
#include "everycore/pac.h"

#include "common/bytes.h"

#define LAST_ID (((uint64_t)1 << (64 - EVC_PAC_ID_SHIFT)) - 1)

const char *evc_pac_algorithm_name(const struct evc_pac_algorithm *algorithm)
{
    return algorithm->name;
}

/* In memory that is zero, or holds a key of the same algorithm and kernels. */
static enum evc_status set_key(struct evc_pac_key *key, const struct evc_pac_algorithm *algorithm,
                               const struct evc_pac_kernels *kernels, uint64_t hi, uint64_t lo)
{
    enum evc_status status;

    key->hi = hi;
    key->lo = lo;
    key->id = 0;
    status = algorithm->set_key(key, kernels);
    if (status != EVC_OK)
        evc_wipe(key, sizeof *key);
    return status;
}

enum evc_status evc_pac_set_key(struct evc_pac_key *key, const struct evc_pac_algorithm *algorithm,
                                const struct evc_pac_kernels *kernels, uint64_t hi, uint64_t lo)
{
    evc_wipe(key, sizeof *key);
    return set_key(key, algorithm, kernels, hi, lo);
}

enum evc_status evc_pac_keys_init(struct evc_pac_keys *keys,
                                  const struct evc_pac_algorithm *algorithm,
                                  const struct evc_pac_kernels *kernels)
{
    const struct evc_pac_kernels serving = *kernels; /* they may be those of the keys */

    evc_wipe(keys, sizeof *keys);
    keys->algorithm = algorithm;
    keys->kernels = serving;
    for (unsigned i = 0; i < EVC_PAC_KEY_SLOTS; i++) {
        const enum evc_status status = set_key(&keys->slots[i], algorithm, &serving, 0, 0);
        if (status != EVC_OK) {
            evc_wipe(keys, sizeof *keys);
            return status;
        }
    }
    /* The slots all hold the key 0; it is found in the first. */
    keys->slots[0].id = ++keys->last_id;
    return EVC_OK;
}

static int evc_pac_holds(const struct evc_pac_key *key, uint64_t hi, uint64_t lo)
{
    return key->lo == lo && key->hi == hi;
}

/* In the slot whose turn it is, but never in the one that was used last. */
EVC_OUT_OF_LINE const struct evc_pac_key *evc_pac_made(struct evc_pac_keys *keys, uint64_t hi,
                                                       uint64_t lo)
{
    struct evc_pac_key *key;

    if (keys->next == keys->last)
        keys->next = (keys->next + 1) % EVC_PAC_KEY_SLOTS;
    keys->last = keys->next;
    keys->next = (keys->next + 1) % EVC_PAC_KEY_SLOTS;
    key = &keys->slots[keys->last];
    /* Without an algorithm the keys were not set up. Else the same kernels served
     * in evc_pac_keys_init. */
    if (!keys->algorithm || set_key(key, keys->algorithm, &keys->kernels, hi, lo) != EVC_OK)
        return key;
    keys->schedules++;
    if (keys->last_id < LAST_ID)
        key->id = ++keys->last_id;
    return key;
}

const struct evc_pac_key *evc_pac_keys_find(struct evc_pac_keys *keys, uint64_t hi, uint64_t lo)
{
    for (uint32_t i = 0; i < EVC_PAC_KEY_SLOTS; i++)
        if (evc_pac_holds(&keys->slots[i], hi, lo)) {
            keys->last = i;
            return &keys->slots[i];
        }
    return evc_pac_made(keys, hi, lo);
}

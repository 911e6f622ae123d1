/* SPDX-License-Identifier: MIT */
/* Keys of GCM: those of pairs, and the end of calls with keys of both kinds. */
#ifndef EVC_GCM_KEY_H
#define EVC_GCM_KEY_H

#include "everycore/gcm.h"

#include "common/calls.h"
#include "common/clear.h"

struct pair_key {
    struct evc_gcm_head head;
    /* The key of AES, for encryption only; head.ghash_at bytes behind its
     * beginning that of GHASH */
    EVC_ALIGN(16) uint8_t keys[sizeof(union evc_aes_key) + sizeof(union evc_ghash_key)];
};

typedef char pair_keys_fit[sizeof(struct pair_key) <= sizeof(union evc_gcm_key) ? 1 : -1];

EVC_INLINE const union evc_aes_key *aes_of(const struct pair_key *key)
{
    return (const union evc_aes_key *)(const void *)key->keys;
}

EVC_INLINE const union evc_ghash_key *ghash_of(const struct pair_key *key)
{
    return (const union evc_ghash_key *)(const void *)(key->keys + key->head.ghash_at);
}

EVC_INLINE void clear_pair(const struct pair_key *key)
{
    evc_clear_both(&aes_of(key)->head.kernel->kernel, &ghash_of(key)->head.kernel->kernel);
}

/* In a message of a pair, J_0 goes through AES together with the counters of the first blocks of
 * text: alone it would cost as much as a whole batch of a kernel that works on many. So many blocks
 * are full batches of every kernel but the widest. */
#define FIRST_BLOCKS 16

/* Every call with the key ends with this, but those that are an operation `seal` or
 * `open` of the kernel. */
EVC_INLINE void clear(const union evc_gcm_key *key)
{
    if (key->head.ghash_at)
        clear_pair((const struct pair_key *)(const void *)key);
    else
        evc_clear(&key->head.kernel->kernel);
}

#endif

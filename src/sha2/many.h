/* SPDX-License-Identifier: MIT */
/* Messages side by side, for the code of layers: nothing is checked. */
#ifndef EVC_SHA2_MANY_H
#define EVC_SHA2_MANY_H

#include "everycore/sha2.h"

#include "common/bytes.h"

#define EVC_SHA2_MOST_LANES 16u
#define EVC_SHA2_MOST_ROW_BYTES 64u

/* One message. For HMAC, the words behind the blocks of the key stand in `inner` and `outer`. */
struct evc_sha2_item {
    const void *inner, *outer; /* both NULL: a plain hash */
    const uint8_t *in;
    size_t len_bytes;
    uint8_t *out;
    size_t out_bytes;
};

/* A list of messages. next: writes the next one, or returns 0 if there is none. */
struct evc_sha2_list {
    int (*next)(struct evc_sha2_list *list, struct evc_sha2_item *item);
    void *messages;
    size_t i, n;
    const struct evc_sha2 *kernel;
    unsigned hash;
};

/* Scratch memory of a call: at any address. */
#define EVC_SHA2_SLACK 63u

EVC_INLINE void *evc_sha2_scratch_start(void *scratch)
{
    return (uint8_t *)scratch + ((uintptr_t)0 - (uintptr_t)scratch) % 64;
}

EVC_INLINE const struct evc_sha2_lanes *evc_sha2_lanes_of(const struct evc_sha2 *kernel,
                                                          unsigned hash)
{
    return evc_sha2_block_bytes((enum evc_sha2_hash)hash) == 64 ? &kernel->lanes256
                                                                : &kernel->lanes512;
}

/* Nonzero if the kernel has lanes for either size of words. */
EVC_INLINE int evc_sha2_has_lanes(const struct evc_sha2 *kernel)
{
    return kernel->lanes256.n || kernel->lanes512.n;
}

/* Behind operations of lanes, as evc_clear() of common/clear.h. */
EVC_INLINE void evc_sha2_clear_lanes(const struct evc_sha2 *kernel,
                                     const struct evc_sha2_lanes *lanes)
{
    kernel->kernel.clear(lanes->stack_bytes);
}

/* Word number i of a lane, in rows. */
EVC_INLINE uint32_t *evc_sha2_word32(void *rows, size_t n_lanes, size_t i, size_t lane)
{
    return (uint32_t *)rows + i * n_lanes + lane;
}

EVC_INLINE uint64_t *evc_sha2_word64(void *rows, size_t n_lanes, size_t i, size_t lane)
{
    return (uint64_t *)rows + i * n_lanes + lane;
}

/* The list's messages. scratch: as evc_sha2_many has it. What is written there is wiped, and what
 * the kernel leaves is cleared: frames between a public call and the kernel are large. */
void evc_sha2_op_many(struct evc_sha2_list *list, void *scratch);

#endif

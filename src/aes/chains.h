/* SPDX-License-Identifier: MIT */
/* CBC encryption of many messages, each a chain of its own: which of them are under way. */
#ifndef EVC_AES_CHAINS_H
#define EVC_AES_CHAINS_H

#include "common/bytes.h"
#include "everycore/everycore.h"

/* One of many messages under way: in and out have moved on, msg->iv is its chain. */
struct evc_aes_chain {
    const uint8_t *in;
    uint8_t *out;
    const struct evc_msg *msg;
};

EVC_INLINE size_t evc_aes_blocks_left(const struct evc_aes_chain *c)
{
    return (c->msg->len_bytes - (size_t)(c->in - c->msg->in)) / 16;
}

/* Messages of one kind: those with an output (storing), or those without. */
struct evc_aes_queue {
    const struct evc_msg *next, *end;
    int storing;
    int others; /* met some of the other kind */
};

/* The next message of the kind as a chain; 0 if there is none. */
EVC_INLINE int evc_aes_chain_begin(struct evc_aes_chain *c, struct evc_aes_queue *q)
{
    for (; q->next < q->end; q->next++) {
        if ((q->next->out != NULL) == q->storing) {
            *c = (struct evc_aes_chain){q->next->in, q->next->out, q->next};
            q->next++;
            return 1;
        }
        q->others = 1;
    }
    return 0;
}

/* Chains [0, *active) of at most max are under way: puts others in the place of those that have
 * ended, and more at the end. Returns the length of the shortest, in blocks. */
EVC_INLINE size_t evc_aes_chains_refill(struct evc_aes_chain *chains, size_t *active, size_t max,
                                        struct evc_aes_queue *q)
{
    size_t shortest = SIZE_MAX, left;

    for (size_t c = 0; c < max;) {
        if (c == *active) {
            if (!evc_aes_chain_begin(chains + c, q))
                break;
            ++*active;
        }
        left = evc_aes_blocks_left(chains + c);
        if (left == 0) {
            if (!evc_aes_chain_begin(chains + c, q))
                chains[c] = chains[--*active];
            continue;
        }
        shortest = left < shortest ? left : shortest;
        c++;
    }
    return shortest;
}

#endif

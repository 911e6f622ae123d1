/* SPDX-License-Identifier: MIT */
/* Events of a run, as stepper.c and plugin.c send them: messages of a type, a length and bytes. */
#ifndef EVERYCORE_EVENTS_H
#define EVERYCORE_EVENTS_H

#include <stdint.h>

enum { EVENTS = 'E', REGION_END = 'R' };
enum { BLOCK_MODE = 0, READ_MODE = 1, WRITE_MODE = 2 };

struct event {        /* a block that was executed, or an access to memory */
    uint64_t pc;      /* the block's first instruction; the accessing one */
    uint64_t address; /* the block's last instruction; the data's place */
    uint64_t mask;    /* of a masked access; else all bits; of a block 0 */
    uint32_t size;    /* the block's instructions; the access's bytes */
    uint32_t mode;
};

/* An operand under a mask is too far if one of its bytes, which then is masked off, lies on a page
 * that the program may not read. */
struct totals {
    uint64_t instructions, accesses, pcs_digest, data_digest;
    uint64_t masked, too_far;               /* operands under a mask */
    uint64_t far_pc, far_address, far_size; /* of the first that is too far */
};

static inline uint64_t mix(uint64_t digest, uint64_t value)
{
    digest = (digest ^ value) * 0x9e3779b97f4a7c15u;
    return digest ^ digest >> 29;
}

static inline void count_event(struct totals *t, const struct event *e)
{
    if (e->mode == BLOCK_MODE) {
        t->instructions += e->size;
        t->pcs_digest = mix(mix(t->pcs_digest, e->pc), e->size);
    } else {
        uint64_t digest = mix(mix(t->data_digest, e->pc), e->address);
        t->data_digest = mix(mix(digest, e->mask), (uint64_t)e->mode << 32 | e->size);
        t->accesses++;
    }
}

#endif

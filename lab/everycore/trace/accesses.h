/* SPDX-License-Identifier: MIT */
/* Addresses of an instruction's data, and the part of a region that is recorded. */
#ifndef EVERYCORE_ACCESSES_H
#define EVERYCORE_ACCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "events.h"

enum { NO_REGISTER = 255 };         /* in place of a word of struct user_regs_struct */
enum { ONCE, COUNTED, SEARCHING };  /* string instructions: rcx says how often, or bounds it */
enum { NO_MASK = 0, OPMASK = 255 }; /* else: bytes of the elements whose sign bits are the mask */

struct access {
    int64_t displacement;
    uint16_t size; /* bytes of one element */
    uint8_t mode;  /* READ_MODE, WRITE_MODE, both */
    uint8_t base, base_bits, index, index_bits, scale, segment;
    uint8_t repeat;
    uint8_t lane_bytes, lanes; /* of a vector of indices: `index` is its number */
    uint8_t mask, mask_register;
    uint8_t mask_bits; /* of OPMASK: how many the instruction looks at */
    uint8_t reserved[1];
};

extern bool keep; /* events are told beside their totals */
extern struct totals totals;

/* Once, before all: where this CPU has the parts of its vector registers. */
void find_components(void);

void record(struct event e);

/* The accesses of an instruction that is about to be executed; `count`: of a string instruction. */
void record_accesses(uint64_t pc, const struct access *first, unsigned n, uint64_t count);

void flush_events(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Memory for keys under test, at 16 modulo 64: the least alignment that a key has to have. A kernel
 * that expects more, by a load that wants 32 or 64 bytes aligned, then faults here and not at a
 * user's, whose keys stand anywhere.
 */
#ifndef HARNESS_KEY_ROOM_H
#define HARNESS_KEY_ROOM_H

#include <stdint.h>

#include "everycore/isa.h"

#define KEY_ROOM(type)                                                                 \
    struct {                                                                           \
        EVC_ALIGN(64) uint8_t before[16];                                              \
        type key;                                                                      \
    }

/* A variable `name`: a pointer to such a key. */
#define KEY_AT_16(type, name)                                                          \
    KEY_ROOM(type) name##_at_16;                                                       \
    type *const name = &name##_at_16.key

#endif

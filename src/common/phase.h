/* SPDX-License-Identifier: MIT */
/*
 * The phase and the direction of a message in pieces. Every streaming state has a phase, and a
 * direction if a message can go two ways; a state that is all zeros holds no message. A call out of
 * order returns EVC_ERR_STATE and changes nothing: a mode checks phase and direction before it does
 * anything, and sets them afterwards.
 */
#ifndef EVC_COMMON_PHASE_H
#define EVC_COMMON_PHASE_H

#include "everycore/everycore.h"

#include "common/bytes.h"

enum { EVC_PHASE_NONE = 0, EVC_PHASE_AAD = 1, EVC_PHASE_TEXT = 2 };

/* The first call that has a direction decides. Sealing is encryption, opening decryption. */
enum { EVC_DIRECTION_NONE = 0, EVC_DIRECTION_SEAL = 1, EVC_DIRECTION_OPEN = 2 };

/* Whether the state's direction is this one, SEAL or OPEN, or none: either is one bit. */
EVC_INLINE int evc_direction_fits(uint32_t state_direction, uint32_t direction)
{
    return (state_direction & ~direction) == 0;
}

#endif

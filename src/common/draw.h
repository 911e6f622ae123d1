/* SPDX-License-Identifier: MIT */
/* Randomness of the caller's. */
#ifndef EVC_COMMON_DRAW_H
#define EVC_COMMON_DRAW_H

#include "everycore/random.h"

#include "common/bytes.h"

/* Random bytes, 1 to 1024, or EVC_ERR_RANDOM. */
EVC_INLINE enum evc_status evc_draw(const struct evc_random *random, uint8_t *out, size_t n_bytes)
{
    if (!random || !random->fill || random->fill(random->context, out, n_bytes) != 0)
        return EVC_ERR_RANDOM;
    return EVC_OK;
}

#endif

/* SPDX-License-Identifier: MIT */
/* For calls that cannot fail here: one that does is a fault of the library, and ends
 * the test or the program. */
#ifndef HARNESS_MUST_H
#define HARNESS_MUST_H

#include "everycore/everycore.h"

static inline void must(enum evc_status status)
{
    if (status != EVC_OK)
        __builtin_trap(); /* port_survives() makes a failure of the property of it */
}

#endif

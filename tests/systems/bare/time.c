/* SPDX-License-Identifier: MIT */
/* The part of the harness's port that only `bench` needs, for runs that are
 * counted and not timed. */
#include "port/port.h"

uint64_t port_now_ns(void)
{
    return 0;
}

uint64_t port_preemptions(void)
{
    return 0;
}

bool port_pin(int cpu)
{
    return cpu < 0;
}

bool port_emulated(void)
{
    return true;
}

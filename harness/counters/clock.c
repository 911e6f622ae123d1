/* SPDX-License-Identifier: MIT */
/* The system's clock, for cores without a counter that user code may read. Its step can be as long
 * as a microsecond, hence the long chain. */
#include "counter.h"

#include "../port/port.h"

static bool open_clock(void)
{
    return true;
}

const struct counter counter_clock = {
    .name = "clock+addchain", .open = open_clock, .now = port_now_ns, .chain_links = 200000};

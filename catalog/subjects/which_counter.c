/* SPDX-License-Identifier: MIT */
/* Prints the counter that the verb bench takes here. */
#include <stdio.h>

#include "../../harness/counters/counter.h"

int main(void)
{
    puts(counter_name(counter_choose(NULL)));
    return 0;
}

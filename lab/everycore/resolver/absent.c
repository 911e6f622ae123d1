/* SPDX-License-Identifier: MIT */
/*
 * Stands in for the commands of the harness that need kernels, and for the names of pairs of
 * kernels. With it, the harness's main file, its resolve command, the rule of selection and the
 * detection of CPUs link to a small program that knows one command: resolve.
 */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "gcm_kernels.h"

static int absent(void)
{
    fputs("harness: this small harness has no command but resolve\n", stderr);
    return 2;
}

#define ABSENT(name)                    \
    int name##_command(int argc, char **argv) \
    {                                   \
        (void)argc;                     \
        (void)argv;                     \
        return absent();                \
    }

ABSENT(list)
ABSENT(check)
ABSENT(bench)
ABSENT(limits)
ABSENT(vectors)
ABSENT(peers)
ABSENT(ct)

bool is_pair_name(const char *name)
{
    (void)name;
    return false;
}

void must_be_pair(const char *name)
{
    (void)name;
    exit(absent());
}

/* SPDX-License-Identifier: MIT */
/*
 * Stands in for the commands of the harness that need kernels, for the names of pairs of kernels,
 * and for what descriptors of kernels say. With it, the harness's main file, its commands list and
 * resolve, the rule of selection and the detection of CPUs link to a small program without kernels.
 */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "gcm_kernels.h"

static int absent(void)
{
    fputs("harness: this small harness has no commands but list and resolve\n", stderr);
    return 2;
}

#define ABSENT(name)                    \
    int name##_command(int argc, char **argv) \
    {                                   \
        (void)argc;                     \
        (void)argv;                     \
        return absent();                \
    }

ABSENT(check)
ABSENT(bench)
ABSENT(limits)
ABSENT(bursts)
ABSENT(vectors)
ABSENT(peers)
ABSENT(ct)
ABSENT(genrsa)
ABSENT(dhparam)

void emit_descriptor(const struct evc_registry_line *line)
{
    (void)line;
}

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

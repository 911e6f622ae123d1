/* SPDX-License-Identifier: MIT */
/* The commands that need more of a system than there is. */
#include "commands.h"

#include "options.h"

static int absent(const char *command)
{
    usage_error("no %s here: this harness was built without a C library", command);
}

int bench_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("bench");
}

int limits_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("limits");
}

int peers_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("peers");
}

int ct_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("ct");
}

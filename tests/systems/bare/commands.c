/* SPDX-License-Identifier: MIT */
/* The commands that need more of a system than there is. */
#include "commands.h"

#include "options.h"

static int absent(const char *command)
{
    usage_error("no %s here: this harness was built without a C library", command);
}

#if !defined(BENCH_IS_THERE)
int bench_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("bench");
}
#endif

int limits_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("limits");
}

int bursts_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("bursts");
}

int peers_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("peers");
}

int genrsa_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("genrsa");
}

int dhparam_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("dhparam");
}

int ct_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    return absent("ct");
}

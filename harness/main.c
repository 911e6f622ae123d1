/* SPDX-License-Identifier: MIT */
/*
 * The harness: list, resolve, check, bench, ct and vectors over everything in the registry. The
 * protocol of its output is docs/reference/harness.md. Exit codes: 0 good, 1 a
 * check failed, 2 bad usage.
 */
#include <stdio.h>
#include <string.h>

#include "everycore/cpu.h"
#include "everycore/everycore.h"

#include "common/bytes.h"

#include "commands.h"
#include "emit.h"
#include "names.h"

#define PROTOCOL_VERSION 1

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage;
} commands[] = {
    {"list", list_command, "[--primitive P]"},
    {"resolve", resolve_command,
     "[--arch A --features F,... | --without F,...] [--policy ct|hardened|vartime]"},
    {"check", check_command,
     "[--primitive P] [--kernel K] [--property X] [--without F,...] [--seed N] [--quick]"},
    {"bench", bench_command,
     "[--primitive P] [--kernel K] [--mode M] [--key-bits B] [--bytes N] [--messages N]\n"
     "          [--keys N] [--aad-bytes N] [--style streamed|fenced] [--in-place] [--samples N] "
     "[--budget-ms N]\n"
     "          [--without F,...] [--counter C] [--cpu N] [--seed N] [--placement] [--dry-run]"},
    {"limits", limits_command,
     "[--only instructions|arithmetic] [--samples N] [--budget-ms N] [--counter C]\n"
     "          [--cpu N]"},
    {"bursts", bursts_command,
     "--bytes N --pause-us N [--kernel K] [--samples N] [--cpu N]"},
    {"vectors", vectors_command, "[FILE] (else lines on stdin)"},
    {"peers", peers_command,
     "--vectors FILE [--mode M] [--key-bits B] [--bytes N] [--style streamed|fenced] [--keys N] "
     "[--aad-bytes N]\n"
     "          [--hardware best|vaes256|sse|ssse3|c] [--samples N] [--budget-ms N] [--counter C] "
     "[--cpu N]\n"
     "          [--seed N]    (only where linked with a peer)"},
    {"ct", ct_command,
     "[--list] [--primitive P] [--kernel K] [--operation O] [--key-bits B] [--bytes N] "
     "[--thorough]\n"
     "          [--placement] [--secret SEED,...] [--timing] [--samples N] [--counter C] "
     "[--cpu N]"},
    {"genrsa", genrsa_command, "BITS"},
    {"dhparam", dhparam_command, "BITS"},
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

static const char *compiler(void)
{
#if defined(__clang__)
    static char text[64];
    snprintf(text, sizeof text, "clang %s", __clang_version__);
    for (size_t n = strlen(text); n && text[n - 1] == ' '; n--)
        text[n - 1] = 0;
    return text;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown";
#endif
}

void emit_harness_line(const char *command, const char *counter)
{
    emit_begin("harness");
    emit_unsigned("version", PROTOCOL_VERSION);
    emit_text("command", command);
    emit_text("arch", arch_name(EVC_ARCH_HERE));
    emit_features("features", EVC_ARCH_HERE, features_here());
    emit_text("compiler", compiler());
    emit_unsigned("word_bits", EVC_WORD64 ? 64 : 32);
    emit_bool("big_endian", EVC_BIG_ENDIAN);
    emit_text("counter", counter ? counter : "none");
    emit_text("library", EVC_VERSION);
    emit_end();
}

static void print_help(void)
{
    puts("usage: harness COMMAND [OPTION]...    (JSON lines on stdout; values may be comma lists)");
    for (size_t i = 0; i < N_COMMANDS; i++)
        printf("  %-7s %s\n", commands[i].name, commands[i].usage);
}

int main(int argc, char **argv)
{
    const char *names[N_COMMANDS];

    for (size_t i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i].name;
    if (argc < 2)
        usage_error(
            "no command; one of list, resolve, check, bench, limits, bursts, ct, vectors, genrsa, "
            "dhparam "
            "(--help says more)");
    if (strcmp(argv[1], "--help") == 0) {
        print_help();
        return 0;
    }
    return commands[known_word("command", argv[1], names, N_COMMANDS)].run(argc - 2, argv + 2);
}

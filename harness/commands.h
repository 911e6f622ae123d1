/* SPDX-License-Identifier: MIT */
/* The commands: each reads its arguments, prints JSON lines, returns the exit code. */
#ifndef HARNESS_COMMANDS_H
#define HARNESS_COMMANDS_H

int list_command(int argc, char **argv);
int resolve_command(int argc, char **argv);
int check_command(int argc, char **argv);
int bench_command(int argc, char **argv);
int limits_command(int argc, char **argv);
int bursts_command(int argc, char **argv);
int vectors_command(int argc, char **argv);
int peers_command(int argc, char **argv);
int ct_command(int argc, char **argv);
int genrsa_command(int argc, char **argv);
int dhparam_command(int argc, char **argv);

/* Members of a line of list, for a kernel that is built: key_bytes, batch, traits and
 * slots of its descriptor. */
struct evc_registry_line;
void emit_descriptor(const struct evc_registry_line *line);

/* The first line of every command's output; after the arguments have been found good. counter: NULL
 * where the command does not measure. */
void emit_harness_line(const char *command, const char *counter);

#endif

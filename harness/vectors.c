/* SPDX-License-Identifier: MIT */
#include "commands.h"
int vectors_command(int argc, char **argv) { (void)argc; (void)argv; return 0; }

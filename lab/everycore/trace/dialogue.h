/* SPDX-License-Identifier: MIT */
/* Messages between the stepper and native.py: a type, a length and bytes. */
#ifndef EVERYCORE_DIALOGUE_H
#define EVERYCORE_DIALOGUE_H

#include <stddef.h>

enum { STARTED = 'S', REGION = 'G', BLOCK = 'B', END = 'X', FAILED = 'F' }; /* and of events.h */

void say(char type, const void *data, size_t length);
void hear(void *data, size_t length);

/* The last message, for the user. */
__attribute__((format(printf, 1, 2), noreturn)) void fail(const char *format, ...);

#endif

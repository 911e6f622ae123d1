/* SPDX-License-Identifier: MIT */
#include "dialogue.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void transfer(int fd, void *data, size_t length, bool out)
{
    for (char *at = data; length != 0;) {
        ssize_t n = out ? write(fd, at, length) : read(fd, at, length);
        if (n <= 0) {
            if (n < 0 && errno == EINTR)
                continue;
            exit(3); /* native.py is gone */
        }
        at += n;
        length -= (size_t)n;
    }
}

void say(char type, const void *data, size_t length)
{
    uint32_t header[2] = {(uint32_t)type, (uint32_t)length};
    transfer(STDOUT_FILENO, header, sizeof header, true);
    transfer(STDOUT_FILENO, (void *)(uintptr_t)data, length, true);
}

void hear(void *data, size_t length)
{
    transfer(STDIN_FILENO, data, length, false);
}

void fail(const char *format, ...)
{
    char text[512];
    va_list words;
    va_start(words, format);
    int n = vsnprintf(text, sizeof text, format, words);
    va_end(words);
    say(FAILED, text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    exit(1);
}

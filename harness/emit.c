/* SPDX-License-Identifier: MIT */
/* JSON lines (RFC 8259, one object a line). */
#include "emit.h"

#include <inttypes.h>
#include <stdio.h>

static bool first; /* no comma before the next member */

static void put_string(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void name_it(const char *name)
{
    if (!first)
        putchar(',');
    first = false;
    if (name) {
        put_string(name);
        putchar(':');
    }
}

void emit_begin(const char *type)
{
    putchar('{');
    first = true;
    emit_text("type", type);
}

void emit_end(void)
{
    puts("}");
    fflush(stdout);
}

void emit_text(const char *name, const char *value)
{
    name_it(name);
    if (value)
        put_string(value);
    else
        fputs("null", stdout);
}

void emit_number(const char *name, int64_t value)
{
    name_it(name);
    printf("%" PRId64, value);
}

void emit_unsigned(const char *name, uint64_t value)
{
    name_it(name);
    printf("%" PRIu64, value);
}

void emit_real(const char *name, double value)
{
    name_it(name);
    printf("%.7g", value);
}

void emit_bool(const char *name, bool value)
{
    name_it(name);
    fputs(value ? "true" : "false", stdout);
}

static void open_with(const char *name, char bracket)
{
    name_it(name);
    putchar(bracket);
    first = true;
}

static void close_with(char bracket)
{
    putchar(bracket);
    first = false;
}

void emit_list_begin(const char *name)
{
    open_with(name, '[');
}

void emit_list_end(void)
{
    close_with(']');
}

void emit_object_begin(const char *name)
{
    open_with(name, '{');
}

void emit_object_end(void)
{
    close_with('}');
}

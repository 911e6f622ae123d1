/* SPDX-License-Identifier: MIT */
/*
 * JSON lines on stdout, one object a line, written whole and flushed. emit_begin and emit_end
 * bracket a line; in between come members. Inside lists and objects the names of elements are NULL
 * or given.
 */
#ifndef HARNESS_EMIT_H
#define HARNESS_EMIT_H

#include <stdbool.h>
#include <stdint.h>

void emit_begin(const char *type);
void emit_end(void);

void emit_text(const char *name, const char *value); /* value NULL: null */
void emit_number(const char *name, int64_t value);
void emit_unsigned(const char *name, uint64_t value);
void emit_real(const char *name, double value); /* 7 significant digits */
void emit_bool(const char *name, bool value);

void emit_list_begin(const char *name);
void emit_list_end(void);
void emit_object_begin(const char *name);
void emit_object_end(void);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef BARE_STRING_H
#define BARE_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strstr(const char *s, const char *part);
size_t strspn(const char *s, const char *accepted);
size_t strcspn(const char *s, const char *refused);
char *strtok(char *restrict s, const char *restrict between);

#endif

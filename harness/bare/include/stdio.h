/* SPDX-License-Identifier: MIT */
#ifndef BARE_STDIO_H
#define BARE_STDIO_H

#include <stdarg.h>
#include <stddef.h>

#define EOF (-1)

typedef struct bare_file FILE;
extern FILE *const bare_stdin, *const bare_stdout, *const bare_stderr;
#define stdin bare_stdin
#define stdout bare_stdout
#define stderr bare_stderr

FILE *fopen(const char *restrict name, const char *restrict mode); /* to read */
int fclose(FILE *file);
char *fgets(char *restrict to, int size, FILE *restrict file);
int fputs(const char *restrict s, FILE *restrict file);
int puts(const char *s);
int fputc(int c, FILE *file);
#define putc(c, file) fputc(c, file)
#define putchar(c) fputc(c, stdout)
size_t fwrite(const void *restrict from, size_t size, size_t n, FILE *restrict file);
int fflush(FILE *file);
int ferror(FILE *file);
int fprintf(FILE *restrict file, const char *restrict format, ...)
    __attribute__((format(printf, 2, 3)));
int printf(const char *restrict format, ...) __attribute__((format(printf, 1, 2)));
int snprintf(char *restrict to, size_t size, const char *restrict format, ...)
    __attribute__((format(printf, 3, 4)));
int vfprintf(FILE *restrict file, const char *restrict format, va_list list);
int vsnprintf(char *restrict to, size_t size, const char *restrict format, va_list list);

#endif

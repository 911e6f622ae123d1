/* SPDX-License-Identifier: MIT */
/* The part of the C library (C11 7.21, 7.22, 7.24) that the harness calls, for systems without one:
 * built with -DHARNESS_BARE. Elsewhere this file is an empty unit. */
#if !defined(HARNESS_BARE)
typedef int c_library_is_elsewhere;
#else
#include "bare.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- string.h -------------------------------------------------------------------------------- */

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    while (n--)
        *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    if ((uintptr_t)t <= (uintptr_t)f)
        return memcpy(to, from, n);
    while (n--)
        t[n] = f[n];
    return to;
}

void *memset(void *to, int value, size_t n)
{
    uint8_t *t = to;

    while (n--)
        *t++ = (uint8_t)value;
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const uint8_t *x = a, *y = b;

    for (; n; n--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}

size_t strlen(const char *s)
{
    size_t n = 0;

    while (s[n])
        n++;
    return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (; n; n--, a++, b++)
        if (*a != *b || !*a)
            return (uint8_t)*a - (uint8_t)*b;
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *s, int c)
{
    for (; *s != (char)c; s++)
        if (!*s)
            return NULL;
    return (char *)(uintptr_t)s;
}

char *strstr(const char *s, const char *part)
{
    size_t n = strlen(part);

    for (; strncmp(s, part, n) != 0; s++)
        if (!*s)
            return NULL;
    return (char *)(uintptr_t)s;
}

size_t strspn(const char *s, const char *accepted)
{
    size_t n = 0;

    while (s[n] && strchr(accepted, s[n]))
        n++;
    return n;
}

size_t strcspn(const char *s, const char *refused)
{
    size_t n = 0;

    while (s[n] && !strchr(refused, s[n]))
        n++;
    return n;
}

char *strtok(char *restrict s, const char *restrict between)
{
    static char *rest;

    if (!s)
        s = rest;
    s += strspn(s, between);
    rest = s + strcspn(s, between);
    if (rest == s)
        return NULL;
    if (*rest)
        *rest++ = 0;
    return s;
}

/* ---- stdlib.h: without signs and overflow ---------------------------------------------------- */

unsigned long long strtoull(const char *restrict s, char **restrict end, int base)
{
    unsigned long long value = 0;

    if ((base == 0 || base == 16) && s[0] == '0' && (s[1] | 0x20) == 'x') {
        s += 2;
        base = 16;
    }
    if (base == 0)
        base = 10;
    for (;; s++) {
        int digit = *s >= '0' && *s <= '9' ? *s - '0'
                    : (*s | 0x20) >= 'a'   ? (*s | 0x20) - 'a' + 10
                                           : 99;
        if (digit >= base)
            break;
        value = value * (unsigned)base + (unsigned)digit;
    }
    if (end)
        *end = (char *)(uintptr_t)s;
    return value;
}

unsigned long strtoul(const char *restrict s, char **restrict end, int base)
{
    return (unsigned long)strtoull(s, end, base);
}

int atoi(const char *s)
{
    return (int)strtoull(s, NULL, 10);
}

long atol(const char *s)
{
    return (long)strtoull(s, NULL, 10);
}

double atof(const char *s)
{
    return (double)strtoull(s, NULL, 10);
}

/* A heap in place: no memory, and no case that takes longer than others. */
static void exchange(uint8_t *a, uint8_t *b, size_t n)
{
    for (; n; n--, a++, b++) {
        uint8_t kept = *a;
        *a = *b;
        *b = kept;
    }
}

static void sift_down(uint8_t *base, size_t at, size_t n, size_t size,
                      int (*compare)(const void *, const void *))
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && compare(base + child * size, base + (child + 1) * size) < 0)
            child++;
        if (compare(base + at * size, base + child * size) >= 0)
            return;
        exchange(base + at * size, base + child * size, size);
    }
}

void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    for (size_t i = n / 2; i-- > 0;)
        sift_down(base, i, n, size, compare);
    for (size_t last = n; last-- > 1;) {
        exchange(base, (uint8_t *)base + last * size, size);
        sift_down(base, 0, last, size, compare);
    }
}

/* ---- stdio.h --------------------------------------------------------------------------------- */

struct bare_file {
    long number;
    bool ended;
    size_t at, n; /* of the buffer: read, or to be written, up to n */
    char buffer[4096];
};

static FILE files[3] = {{.number = 0}, {.number = 1}, {.number = 2}};
FILE *const bare_stdin = &files[0], *const bare_stdout = &files[1], *const bare_stderr = &files[2];

FILE *fopen(const char *restrict name, const char *restrict mode)
{
    static struct bare_file file;
    long number = bare_open(name);

    if (mode[0] != 'r' || number < 0 || file.number)
        return NULL;
    file.number = number;
    return &file;
}

static int next_char(FILE *file)
{
    if (file->at == file->n && !file->ended) {
        long n = bare_read(file->number, file->buffer, sizeof file->buffer);
        file->ended = n <= 0;
        file->at = 0;
        file->n = n > 0 ? (size_t)n : 0;
    }
    return file->at < file->n ? (uint8_t)file->buffer[file->at++] : EOF;
}

char *fgets(char *restrict to, int size, FILE *restrict file)
{
    int n = 0;

    for (int c; n + 1 < size && (c = next_char(file)) != EOF;) {
        to[n++] = (char)c;
        if (c == '\n')
            break;
    }
    to[n] = 0;
    return n ? to : NULL;
}

int fclose(FILE *file)
{
    bare_close(file->number);
    file->number = 0;
    file->ended = false;
    file->at = file->n = 0;
    return 0;
}

int fflush(FILE *file)
{
    bare_write(file->number, file->buffer, file->n);
    file->n = 0;
    return 0;
}

int fputc(int c, FILE *file)
{
    file->buffer[file->n++] = (char)c;
    if (file->n == sizeof file->buffer || (c == '\n' && file == stderr))
        fflush(file);
    return (uint8_t)c;
}

/* A write that fails ends the program (bare_write). */
int ferror(FILE *file)
{
    (void)file;
    return 0;
}

size_t fwrite(const void *restrict from, size_t size, size_t n, FILE *restrict file)
{
    const char *bytes = from;

    for (size_t i = 0; i < size * n; i++)
        fputc(bytes[i], file);
    return n;
}

int fputs(const char *restrict s, FILE *restrict file)
{
    fwrite(s, 1, strlen(s), file);
    return 0;
}

int puts(const char *s)
{
    fputs(s, stdout);
    return fputc('\n', stdout);
}

_Noreturn void exit(int code)
{
    fflush(stdout);
    fflush(stderr);
    bare_exit(code);
}

_Noreturn void abort(void)
{
    exit(134); /* as shells tell of SIGABRT */
}

/* ---- printf: %c %s %u %d %x with -, 0, a width, a precision of strings, and l, ll, z; %.Ng --- */

struct sink { /* a file, or memory */
    FILE *file;
    char *to;
    size_t size, n; /* of memory; characters so far */
};

static void put(struct sink *s, char c)
{
    if (s->file)
        fputc(c, s->file);
    else if (s->n + 1 < s->size)
        s->to[s->n] = c;
    s->n++;
}

static void put_field(struct sink *s, const char *text, size_t n, size_t width, bool left,
                      char fill)
{
    for (size_t i = n; !left && i < width; i++)
        put(s, fill);
    for (size_t i = 0; i < n; i++)
        put(s, text[i]);
    for (size_t i = n; left && i < width; i++)
        put(s, ' ');
}

static void put_number(struct sink *s, uint64_t value, bool negative, unsigned base, size_t width,
                       bool left, char fill)
{
    char digits[24], *first = digits + sizeof digits;

    do
        *--first = "0123456789abcdef"[value % base];
    while (value /= base);
    if (negative)
        *--first = '-';
    put_field(s, first, (size_t)(digits + sizeof digits - first), width, left, fill);
}

enum { MOST_DIGITS = 15 }; /* of %g: a double has about as many */

static double power_of_ten(int n)
{
    double power = 1;

    for (int i = n < 0 ? -n : n; i > 0; i--)
        power *= 10;
    return n < 0 ? 1 / power : power;
}

/* %.Ng, C11 7.21.6.1. The digits come from arithmetic on doubles: beyond the powers of ten that a
 * double holds, the last of 15 may be another. Values below 1e-290 are written as 0. */
static void put_general(struct sink *s, double value, size_t n_digits)
{
    char digits[MOST_DIGITS + 1];
    const size_t most = n_digits == 0 ? 1 : n_digits < MOST_DIGITS ? n_digits : MOST_DIGITS;
    int exponent = 0;

    if (value != value || value - value != 0) { /* not a number, or infinite */
        put_field(s,
                  value != value ? "nan"
                  : value < 0    ? "-inf"
                                 : "inf",
                  value < 0 ? 4 : 3, 0, false, ' ');
        return;
    }
    if (value < 0)
        put(s, '-');
    value = value < 0 ? -value : value;
    if (value < 1e-290) {
        put(s, '0');
        return;
    }
    for (double power = 1; value >= power * 10 && exponent < 308; exponent++)
        power *= 10;
    for (; value < power_of_ten(exponent); exponent--)
        ;
    const int shift = (int)most - 1 - exponent;
    double scaled =
        shift < 0 ? value / power_of_ten(-shift) : value * power_of_ten(shift < 300 ? shift : 300);
    scaled *= shift > 300 ? power_of_ten(shift - 300) : 1;
    uint64_t whole = (uint64_t)scaled;
    const double rest = scaled - (double)whole;
    whole += rest > 0.5 || (rest == 0.5 && (whole & 1));
    if (whole >= (uint64_t)power_of_ten((int)most)) { /* rounded up to another digit */
        whole /= 10;
        exponent++;
    }
    for (size_t i = most; i-- > 0; whole /= 10)
        digits[i] = (char)('0' + whole % 10);
    size_t n = most;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    const bool scientific = exponent < -4 || exponent >= (int)most;
    const int before = scientific ? 1 : exponent + 1; /* digits before the point */
    if (before <= 0)
        put_field(s, "0.000", (size_t)(2 - before), 0, false, ' ');
    for (size_t i = 0; i < n || (int)i < before; i++) {
        if (i && (int)i == before)
            put(s, '.');
        put(s, i < n ? digits[i] : '0');
    }
    if (scientific) {
        put(s, 'e');
        put(s, exponent < 0 ? '-' : '+');
        put_number(s, (uint64_t)(exponent < 0 ? -exponent : exponent), false, 10, 2, false, '0');
    }
}

static size_t number_in(const char **format)
{
    size_t n = 0;

    for (; **format >= '0' && **format <= '9'; ++*format)
        n = 10 * n + (size_t)(**format - '0');
    return n;
}

static void print(struct sink *s, const char *format, va_list list)
{
    for (; *format; format++) {
        if (*format != '%') {
            put(s, *format);
            continue;
        }
        bool left = *++format == '-';
        format += left;
        char fill = *format == '0' ? '0' : ' ';
        size_t width = number_in(&format), most = SIZE_MAX, longs = 0;
        if (*format == '.') {
            format++;
            most = number_in(&format);
        }
        for (; *format == 'l' || *format == 'z'; format++)
            longs += *format == 'z' ? sizeof(size_t) == sizeof(long) : 1;
        int64_t number = 0;
        if (*format == 'd' || *format == 'u' || *format == 'x')
            number =
                longs == 0 ? (*format == 'd' ? va_arg(list, int) : (int64_t)va_arg(list, unsigned))
                : longs == 1
                    ? (*format == 'd' ? va_arg(list, long) : (int64_t)va_arg(list, unsigned long))
                    : va_arg(list, long long);
        if (*format == '%') {
            put(s, '%');
        } else if (*format == 'g') {
            put_general(s, va_arg(list, double), most == SIZE_MAX ? 6 : most);
        } else if (*format == 'c') {
            char c = (char)va_arg(list, int);
            put_field(s, &c, 1, width, left, ' ');
        } else if (*format == 's') {
            const char *text = va_arg(list, const char *);
            size_t n = 0;
            while (n < most && text[n])
                n++;
            put_field(s, text, n, width, left, ' ');
        } else if (*format == 'd') {
            put_number(s, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, number < 0, 10,
                       width, left, fill);
        } else if (*format == 'u' || *format == 'x') {
            put_number(s, (uint64_t)number, false, *format == 'u' ? 10 : 16, width, left, fill);
        } else {
            fputs("printf: a conversion that is none here\n", stderr);
            exit(2);
        }
    }
}

int vfprintf(FILE *restrict file, const char *restrict format, va_list list)
{
    struct sink s = {file, NULL, 0, 0};

    print(&s, format, list);
    return (int)s.n;
}

int fprintf(FILE *restrict file, const char *restrict format, ...)
{
    va_list list;

    va_start(list, format);
    int n = vfprintf(file, format, list);
    va_end(list);
    return n;
}

int printf(const char *restrict format, ...)
{
    va_list list;

    va_start(list, format);
    int n = vfprintf(stdout, format, list);
    va_end(list);
    return n;
}

int vsnprintf(char *restrict to, size_t size, const char *restrict format, va_list list)
{
    struct sink s = {NULL, to, size, 0};

    print(&s, format, list);
    if (size)
        to[s.n < size ? s.n : size - 1] = 0;
    return (int)s.n;
}

int snprintf(char *restrict to, size_t size, const char *restrict format, ...)
{
    va_list list;

    va_start(list, format);
    int n = vsnprintf(to, size, format, list);
    va_end(list);
    return n;
}
#endif

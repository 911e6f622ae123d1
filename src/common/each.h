/* SPDX-License-Identifier: MIT */
/* Loops that are written out, so that arrays of vectors become registers at every
 * level of optimisation. */
#ifndef EVC_COMMON_EACH_H
#define EVC_COMMON_EACH_H

/* Does not compile where count_is_known is 0. The compiler knows that once it has inlined the
 * function around a loop; so nothing is checked without optimisation. */
#if defined(__OPTIMIZE__) && defined(__has_attribute)
#if __has_attribute(error)
__attribute__((error("EACH does not have this count"))) void evc_each_lacks_count(void);
#define EACH_HAS(count_is_known)                                                                   \
    (__builtin_constant_p(count_is_known) && !(count_is_known) ? evc_each_lacks_count() : (void)0)
#endif
#endif
#ifndef EACH_HAS
#define EACH_HAS(count_is_known) ((void)0)
#endif

/* EACH(n, statement): the statement for each i of 0 to n - 1. n is a constant: 1 to 8,
 * or 12; EACH_UP_TO_8 and EACH_UP_TO_4 take fewer and are shorter.
 * Another n does not compile. */
#define EACH_I(k, ...)                                                                             \
    {                                                                                              \
        enum { i = k };                                                                            \
        __VA_ARGS__;                                                                               \
    }
#define EACH_4(k, ...)                                                                             \
    EACH_I(k, __VA_ARGS__)                                                                         \
    EACH_I((k) + 1, __VA_ARGS__) EACH_I((k) + 2, __VA_ARGS__) EACH_I((k) + 3, __VA_ARGS__)
#define EACH_UP_TO_4(n, ...)                                                                       \
    do {                                                                                           \
        EACH_HAS((n) >= 1 && (n) <= 4);                                                            \
        EACH_I(0, __VA_ARGS__)                                                                     \
        if ((n) > 1)                                                                               \
            EACH_I(1, __VA_ARGS__)                                                                 \
        if ((n) > 2)                                                                               \
            EACH_I(2, __VA_ARGS__)                                                                 \
        if ((n) > 3)                                                                               \
            EACH_I(3, __VA_ARGS__)                                                                 \
    } while (0)
#define EACH_UP_TO_8(n, ...)                                                                       \
    do {                                                                                           \
        EACH_HAS((n) >= 1 && (n) <= 8);                                                            \
        EACH_STATEMENTS_8(n, __VA_ARGS__);                                                         \
    } while (0)
#define EACH_STATEMENTS_8(n, ...)                                                                  \
    do {                                                                                           \
        if ((n) < 4)                                                                               \
            EACH_I(0, __VA_ARGS__)                                                                 \
        if ((n) == 2 || (n) == 3)                                                                  \
            EACH_I(1, __VA_ARGS__)                                                                 \
        if ((n) == 3)                                                                              \
            EACH_I(2, __VA_ARGS__)                                                                 \
        if ((n) >= 4) {                                                                            \
            EACH_4(0, __VA_ARGS__)                                                                 \
        }                                                                                          \
        if ((n) >= 5 && (n) <= 7)                                                                  \
            EACH_I(4, __VA_ARGS__)                                                                 \
        if ((n) == 6 || (n) == 7)                                                                  \
            EACH_I(5, __VA_ARGS__)                                                                 \
        if ((n) == 7)                                                                              \
            EACH_I(6, __VA_ARGS__)                                                                 \
        if ((n) >= 8) {                                                                            \
            EACH_4(4, __VA_ARGS__)                                                                 \
        }                                                                                          \
    } while (0)
#define EACH(n, ...)                                                                               \
    do {                                                                                           \
        EACH_HAS(((n) >= 1 && (n) <= 8) || (n) == 12);                                             \
        EACH_STATEMENTS_8(n, __VA_ARGS__);                                                         \
        if ((n) >= 12) {                                                                           \
            EACH_4(8, __VA_ARGS__)                                                                 \
        }                                                                                          \
    } while (0)

#endif

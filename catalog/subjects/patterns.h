/* SPDX-License-Identifier: MIT */
/*
 * The inputs of a sweep: keys, vectors and texts that differ from each other, edge values among
 * them. They are the same on all machines. An input has a number, by which it is made again.
 */
#ifndef SUBJECT_PATTERNS_H
#define SUBJECT_PATTERNS_H

#include "answers.h"

/* PATTERN(name, in words). The first one is the most frequent. */
#define PATTERNS                                                       \
    PATTERN(ANY, "any bytes")                                          \
    PATTERN(ZEROS, "zeros")                                            \
    PATTERN(ONES, "bytes 0xff")                                        \
    PATTERN(HIGH_BITS, "words whose highest bit alone is set")         \
    PATTERN(SMALL, "bytes below 4")                                    \
    PATTERN(EDGE_BYTES, "bytes 0, 1, 0x7f, 0x80, 0xfe, 0xff")          \
    PATTERN(EDGE_WORDS, "smallest and largest words")                  \
    PATTERN(ODD_WORD, "any bytes with one smallest or largest word")   \
    PATTERN(EQUAL_BYTES, "equal bytes")                                \
    PATTERN(EQUAL_WORDS, "equal words")                                \
    PATTERN(EQUAL_HALVES, "two halves that differ in at most one bit") \
    PATTERN(COPY, "any bytes with a range twice")                      \
    PATTERN(LIKE_KEY, "the bytes of the key, then any")                \
    PATTERN(RUN, "any bytes with a run of 0 or 0xff at one end")       \
    PATTERN(ONE_BIT, "one bit that differs from all others")           \
    PATTERN(RISING, "rising or falling bytes")                         \
    PATTERN(LETTERS, "letters and digits")                             \
    PATTERN(LAST_BYTE, "any bytes with a special last one")            \
    PATTERN(PADDED, "any bytes with padding")

enum pattern {
#define PATTERN(name, words) PATTERN_##name,
    PATTERNS
#undef PATTERN
        N_PATTERNS
};

const char *pattern_words(enum pattern pattern);

#define SHORT_INPUTS \
    1310                /* ten of each length from 0 to 130, where a function takes all of these */
#define LONG_LENGTHS 11 /* around powers of two up to 2048 */
#define N_INPUTS (SHORT_INPUTS + 3 * LONG_LENGTHS)

struct input {
    unsigned number; /* below N_INPUTS */
    size_t n_bytes;  /* of the text */
    enum pattern text, key, iv;
};

/* multiple_of, fewest: what the length of the text has to be. */
struct input input_of(unsigned number, size_t multiple_of, size_t fewest);

/* Sets the user's key, that of the tweak and the IV. */
void input_keys(const struct input *input, struct material *m, unsigned key_bits);

/* text: input->n_bytes. After input_keys. */
void input_text(const struct input *input, const struct material *m, uint8_t *text);

#endif

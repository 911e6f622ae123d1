/* SPDX-License-Identifier: MIT */
#include "patterns.h"

#include <string.h>

#define SEED 20261128u       /* published in docs/guides/matrix.md: another one is
                              * another set of inputs */
#define GOLDEN 0x9e3779b9u   /* 2^32 divided by the golden ratio */
#define MOST_SHORT_BYTES 130 /* two blocks of the usual hashes, and two bytes more */
#define WIDEST 16            /* bytes of a word */

const char *pattern_words(enum pattern pattern)
{
#define PATTERN(name, words) words,
    static const char *const all[] = {PATTERNS};
#undef PATTERN

    return all[pattern];
}

/* ---- Random numbers ------------------------------------------------------------------------- */

struct stream {
    uint32_t state; /* not 0 */
};

/* Numbers of their own for each part of each input. */
static struct stream stream_of(unsigned number, unsigned part)
{
    uint32_t x = SEED + number * GOLDEN + part * 0x7feb352du;

    x = (x ^ x >> 16) * 0x85ebca6bu; /* the finalizer of MurmurHash3, A. Appleby */
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    x ^= x >> 16;
    return (struct stream){x ? x : 1};
}

/* Each call is a statement of its own, or the only one of an expression: compilers order arguments
 * as they like. */
static uint32_t next(struct stream *s)
{
    s->state ^= s->state << 13; /* G. Marsaglia, Xorshift RNGs, 2003 */
    s->state ^= s->state >> 17;
    s->state ^= s->state << 5;
    return s->state;
}

static uint32_t below(struct stream *s, size_t n)
{
    return (next(s) >> 4) % (uint32_t)n;
}

/* ---- Words ---------------------------------------------------------------------------------- */

static uint64_t edge_word(struct stream *s)
{
    switch (below(s, 10)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return 2 + below(s, 254);
    case 3: return UINT64_C(0x7fffffff7fffffff); /* of 32 bits and, but for one bit, of 64 */
    case 4: return UINT64_C(0x7fffffffffffffff);
    case 5: return UINT64_C(0x8000000080000000);
    case 6: return UINT64_C(0x8000000000000000);
    case 7: return ~UINT64_C(0);
    case 8: return ~UINT64_C(1);
    default: return UINT64_C(1) << below(s, 64);
    }
}

static void store(uint8_t *to, uint64_t word, size_t n_bytes, bool is_big_endian)
{
    for (size_t i = 0; i < n_bytes; i++)
        to[is_big_endian ? n_bytes - 1 - i : i] = (uint8_t)(word >> 8 * i);
}

/* Words of 2, 4 or 8 bytes; the end of the text may have a part of one. */
static void edge_words(uint8_t *to, size_t n_bytes, struct stream *s)
{
    const size_t width = (size_t)2 << below(s, 3);
    const bool is_big_endian = below(s, 2);
    uint8_t word[8];

    for (size_t at = 0; at < n_bytes; at += width) {
        store(word, edge_word(s), width, is_big_endian);
        memcpy(to + at, word, n_bytes - at < width ? n_bytes - at : width);
    }
}

static void change_one_bit(uint8_t *bytes, size_t n_bytes, struct stream *s)
{
    const size_t at = below(s, n_bytes);

    bytes[at] ^= (uint8_t)(1 << below(s, 8));
}

static void repeat(uint8_t *to, size_t n_bytes, const uint8_t *word, size_t width)
{
    for (size_t i = 0; i < n_bytes; i++)
        to[i] = word[i % width];
}

/* ---- Patterns: each is written over bytes that are any -------------------------------------- */

static void high_bits(uint8_t *to, size_t n_bytes, struct stream *s)
{
    const size_t width = (size_t)2 << below(s, 3);
    uint8_t word[8] = {0};

    word[below(s, 2) ? 0 : width - 1] = 0x80;
    repeat(to, n_bytes, word, width);
}

static void each_of(uint8_t *to, size_t n_bytes, struct stream *s, const void *values,
                    size_t n_values)
{
    for (size_t i = 0; i < n_bytes; i++)
        to[i] = ((const uint8_t *)values)[below(s, n_values)];
}

static void odd_word(uint8_t *to, size_t n_bytes, struct stream *s)
{
    const size_t width = (size_t)1 << below(s, 4), n_words = n_bytes / width;

    if (!n_words)
        return;
    const size_t at = below(s, 2) ? 0 : below(s, n_words);
    const uint64_t word = edge_word(s);

    store(to + width * at, word, width, below(s, 2));
}

static void equal_words(uint8_t *to, size_t n_bytes, struct stream *s)
{
    const size_t width = (size_t)2 << below(s, 4);
    uint8_t word[WIDEST];

    for (size_t i = 0; i < width; i++)
        word[i] = (uint8_t)next(s);
    repeat(to, n_bytes, word, width);
}

static void equal_halves(uint8_t *to, size_t n_bytes, struct stream *s)
{
    const size_t half = n_bytes / 2;

    memcpy(to + half, to, half);
    if (half && below(s, 2))
        change_one_bit(to + half, half, s);
}

static void copy(uint8_t *to, size_t n_bytes, struct stream *s)
{
    if (n_bytes < 2)
        return;
    const size_t n = 1 + below(s, n_bytes / 2), from = below(s, n_bytes - n + 1);

    memmove(to + below(s, n_bytes - n + 1), to + from, n);
}

static void like(uint8_t *to, size_t n_bytes, struct stream *s, const uint8_t *key)
{
    const size_t most = n_bytes < 32 ? n_bytes : 32;

    memcpy(to, key, below(s, 2) ? most : below(s, most + 1));
}

static void run_of(uint8_t *to, size_t n_bytes, struct stream *s)
{
    const size_t n = below(s, n_bytes + 1), at = below(s, 2) ? 0 : n_bytes - n;

    memset(to + at, below(s, 2) ? 0 : 0xff, n);
}

static void one_bit(uint8_t *to, size_t n_bytes, struct stream *s)
{
    memset(to, below(s, 2) ? 0 : 0xff, n_bytes);
    if (n_bytes)
        change_one_bit(to, n_bytes, s);
}

static void rising(uint8_t *to, size_t n_bytes, struct stream *s)
{
    const uint8_t first = (uint8_t)next(s), step = below(s, 2) ? 1 : 0xff;

    for (size_t i = 0; i < n_bytes; i++)
        to[i] = (uint8_t)(first + i * step);
}

static void last_byte(uint8_t *to, size_t n_bytes, struct stream *s)
{
    static const uint8_t special[] = {0, 1, 0x7f, 0x80, 0xfe, 0xff};

    if (n_bytes)
        to[n_bytes - 1] = below(s, 2)   ? special[below(s, sizeof special)]
                          : below(s, 2) ? (uint8_t)below(s, 17)
                                        : (uint8_t)(n_bytes - below(s, 3));
}

/* As of PKCS #7, TLS (one byte more than they say) or ISO/IEC 7816-4; in one of four, one byte is
 * wrong. */
static void padded(uint8_t *to, size_t n_bytes, struct stream *s)
{
    if (!n_bytes)
        return;
    const size_t n = 1 + below(s, n_bytes < 16 ? n_bytes : 16);
    const unsigned way = below(s, 3);

    memset(to + n_bytes - n, way == 0 ? (int)n : way == 1 ? (int)n - 1 : 0, n);
    if (way == 2)
        to[n_bytes - n] = 0x80;
    if (below(s, 4) == 0)
        change_one_bit(to + n_bytes - n, n, s);
}

/* key: 32 bytes for what is to be like them. */
static void fill_pattern(uint8_t *to, size_t n_bytes, enum pattern pattern, struct stream *s,
                         const uint8_t *key)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFXYZ0123456789 .,-_/+=\n";

    for (size_t i = 0; i < n_bytes; i++)
        to[i] = (uint8_t)(next(s) >> 8);
    switch (pattern) {
    case PATTERN_ZEROS: memset(to, 0, n_bytes); break;
    case PATTERN_ONES: memset(to, 0xff, n_bytes); break;
    case PATTERN_HIGH_BITS: high_bits(to, n_bytes, s); break;
    case PATTERN_SMALL: each_of(to, n_bytes, s, "\0\1\2\3", 4); break;
    case PATTERN_EDGE_BYTES: each_of(to, n_bytes, s, "\x00\x01\x7f\x80\xfe\xff", 6); break;
    case PATTERN_EDGE_WORDS: edge_words(to, n_bytes, s); break;
    case PATTERN_ODD_WORD: odd_word(to, n_bytes, s); break;
    case PATTERN_EQUAL_BYTES: memset(to, (int)(next(s) & 0xff), n_bytes); break;
    case PATTERN_EQUAL_WORDS: equal_words(to, n_bytes, s); break;
    case PATTERN_EQUAL_HALVES: equal_halves(to, n_bytes, s); break;
    case PATTERN_COPY: copy(to, n_bytes, s); break;
    case PATTERN_LIKE_KEY: like(to, n_bytes, s, key); break;
    case PATTERN_RUN: run_of(to, n_bytes, s); break;
    case PATTERN_ONE_BIT: one_bit(to, n_bytes, s); break;
    case PATTERN_RISING: rising(to, n_bytes, s); break;
    case PATTERN_LETTERS: each_of(to, n_bytes, s, letters, sizeof letters - 1); break;
    case PATTERN_LAST_BYTE: last_byte(to, n_bytes, s); break;
    case PATTERN_PADDED: padded(to, n_bytes, s); break;
    default: break;
    }
}

/* ---- Inputs --------------------------------------------------------------------------------- */

/* One of `one_in` is of any bytes; all other patterns are as frequent as each other. */
static enum pattern choose(struct stream *s, unsigned one_in)
{
    return below(s, one_in) == 0 ? PATTERN_ANY : (enum pattern)(1 + below(s, N_PATTERNS - 1));
}

static size_t common_divisor(size_t a, size_t b)
{
    while (b) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* All lengths in turn, far ones next to each other: where the time ends early, no range of them is
 * left out. */
static size_t short_length(unsigned number, size_t first, size_t last, size_t step)
{
    const size_t n_lengths = (last - first) / step + 1;
    size_t stride = n_lengths * 5 / 8 + 1;

    while (common_divisor(stride, n_lengths) != 1)
        stride++;
    return first + step * (number * stride % n_lengths);
}

static size_t rounded_up(size_t n, size_t multiple_of)
{
    return (n + multiple_of - 1) / multiple_of * multiple_of;
}

struct input input_of(unsigned number, size_t multiple_of, size_t fewest)
{
    static const uint16_t longer[LONG_LENGTHS] = {255,  256,  257,  511,  512, 513,
                                                  1023, 1024, 1025, 2047, 2048};
    struct stream s = stream_of(number, 0);
    const size_t first = rounded_up(fewest, multiple_of);
    size_t last = MOST_SHORT_BYTES / multiple_of * multiple_of, n_bytes;

    if (last == 0)
        last = multiple_of;
    if (last < first)
        last = first;
    if (number < SHORT_INPUTS) {
        n_bytes = short_length(number, first, last, multiple_of);
    } else {
        n_bytes = rounded_up(longer[(number - SHORT_INPUTS) % LONG_LENGTHS], multiple_of);
        n_bytes = n_bytes < first ? first : n_bytes;
    }
    struct input input = {number, n_bytes, PATTERN_ANY, PATTERN_ANY, PATTERN_ANY};
    const size_t time = number / ((last - first) / multiple_of + 1); /* that this length comes */
    input.text = choose(&s, 4);
    if (number < SHORT_INPUTS && (time == 1 || time == 2)) /* of each length once */
        input.text = time == 1 ? PATTERN_ZEROS : PATTERN_ONES;
    input.key = choose(&s, 3);
    input.iv = choose(&s, 3);
    return input;
}

void input_keys(const struct input *input, struct material *m, unsigned key_bits)
{
    struct stream s = stream_of(input->number, USER_KEY);
    uint8_t before[32]; /* what the key is like, if it is to be like something */

    fill_pattern(before, sizeof before, PATTERN_ANY, &s, NULL);
    fill_pattern(m->user_key, sizeof m->user_key, input->key, &s, before);
    s = stream_of(input->number, TWEAK_KEY);
    fill_pattern(m->tweak_key, sizeof m->tweak_key, input->key, &s, m->user_key);
    if (memcmp(m->tweak_key, m->user_key, key_bits / 8) == 0) /* XTS has no equal keys */
        m->tweak_key[0] ^= 1;
    s = stream_of(input->number, IV);
    fill_pattern(m->iv, sizeof m->iv, input->iv, &s, m->user_key);
}

void input_text(const struct input *input, const struct material *m, uint8_t *text)
{
    struct stream s = stream_of(input->number, TEXT);

    fill_pattern(text, input->n_bytes, input->text, &s, m->user_key);
}

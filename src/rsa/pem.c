/* SPDX-License-Identifier: MIT */
/*
 * PEM, in constant time for what its base64 holds.
 *
 * Sources: RFC 7468 (2015), section 3, figure 3 (the lax grammar between the boundaries), section 2
 *          (labels, text outside of blocks); RFC 4648 (2006), section 4; RFC 1421 (1993), section
 *          4.6.1.1 (Proc-Type, the first line of encrypted keys). Sieck et al. 2021, "Util::Lookup:
 *          Exploiting Key Decoding in Cryptographic Libraries": why there is no table.
 */
#include "rsa/key_file.h"

#include "common/ct.h"

struct text {
    const uint8_t *at;
    size_t left;
};

static int is_end_of_line(uint8_t c)
{
    return c == '\n' || c == '\r';
}

static int is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static void skip(struct text *t, size_t n_bytes)
{
    t->at += n_bytes;
    t->left -= n_bytes;
}

/* Skips the word if the text begins with it. */
static int accept(struct text *t, const char *word)
{
    size_t n = 0;

    for (; word[n]; n++)
        if (n == t->left || t->at[n] != (uint8_t)word[n])
            return 0;
    skip(t, n);
    return 1;
}

static void skip_blanks(struct text *t)
{
    while (t->left && is_blank(*t->at))
        skip(t, 1);
}

/* To the beginning of the next line, or to the end. */
static void skip_line(struct text *t)
{
    while (t->left && !is_end_of_line(*t->at))
        skip(t, 1);
    if (t->left)
        skip(t, 1);
}

/* ---- Labels ---------------------------------------------------------------------------------- */

/* Skips the label and the dashes behind it, if the line has nothing else. */
static int accept_label(struct text *t, const char *label)
{
    struct text line = *t;

    if (!accept(&line, label) || !accept(&line, "-----"))
        return 0;
    skip_blanks(&line);
    if (line.left && !is_end_of_line(*line.at))
        return 0;
    *t = line;
    return 1;
}

/* Whether the rest of the line is a label that ends so. */
static int label_ends(struct text t, const char *end)
{
    for (; t.left && !is_end_of_line(*t.at); skip(&t, 1))
        if (accept_label(&t, end))
            return 1;
    return 0;
}

/* Skips all up to the text behind a label. NULL: there is none of these labels, and *status says
 * why. */
static const struct evc_pem_label *find_label(struct text *t, const struct evc_pem_label *labels,
                                              size_t n, const char *other, enum evc_status *status)
{
    *status = EVC_ERR_ENCODING;
    for (; t->left; skip_line(t)) {
        if (!accept(t, "-----BEGIN "))
            continue;
        for (size_t i = 0; i < n; i++)
            if (accept_label(t, labels[i].text)) {
                *status = labels[i].status;
                return &labels[i];
            }
        if (label_ends(*t, other))
            *status = EVC_ERR_ALGORITHM;
    }
    return NULL;
}

/* ---- Base64 ---------------------------------------------------------------------------------- */

/* All ones if first <= c <= last. */
static uint32_t is_between(uint32_t c, uint32_t first, uint32_t last)
{
    return evc_barrier32((uint32_t)0 - (((first - 1 - c) & (c - last - 1)) >> 31));
}

/* The value of a character, 0 to 63; *is_digit: all ones if it has one. */
static uint32_t digit_of(uint32_t c, uint32_t *is_digit)
{
    static const struct {
        uint8_t first, last, value; /* of the first one */
    } ranges[] = {{'A', 'Z', 0}, {'a', 'z', 26}, {'0', '9', 52}, {'+', '+', 62}, {'/', '/', 63}};
    uint32_t digit = 0;

    *is_digit = 0;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        const uint32_t mask = is_between(c, ranges[i].first, ranges[i].last);

        *is_digit |= mask;
        digit |= mask & (c - ranges[i].first + ranges[i].value);
    }
    return digit;
}

/* A block, as far as it is read. */
struct base64 {
    uint32_t word, n_bits; /* n_bits bits, which are not written yet */
    uint32_t n_padding;
    uint8_t *out;
    size_t n_out;
};

static enum evc_status add_digit(struct base64 *b, uint32_t digit, size_t out_bytes)
{
    b->word = b->word << 6 | digit;
    b->n_bits += 6;
    if (b->n_padding)
        return EVC_ERR_ENCODING;
    if (b->n_bits < 8)
        return EVC_OK;
    if (b->n_out == out_bytes)
        return EVC_ERR_SCRATCH;
    b->n_bits -= 8;
    b->out[b->n_out++] = (uint8_t)(b->word >> b->n_bits);
    b->word &= ((uint32_t)1 << b->n_bits) - 1; /* nothing else of the key stays here */
    return EVC_OK;
}

static enum evc_status add_other(struct base64 *b, uint8_t c)
{
    if (c == '=' && ++b->n_padding > 2)
        return EVC_ERR_ENCODING;
    return c == '=' || is_blank(c) || is_end_of_line(c) ? EVC_OK : EVC_ERR_ENCODING;
}

/* Whether the last digits are whole bytes, with padding for those that are missing of four. */
static int is_complete(const struct base64 *b)
{
    uint32_t unused = b->word;

    evc_public(&unused, sizeof unused); /* the status tells it */
    return b->n_bits < 6 && 2 * b->n_padding == b->n_bits && unused == 0;
}

/* Up to a dash. b->out may be the text: what is written was read. */
static enum evc_status decode(struct text *t, struct base64 *b, size_t out_bytes)
{
    enum evc_status status = EVC_OK;

    for (; t->left && status == EVC_OK; skip(t, 1)) {
        uint32_t is_digit, digit = digit_of(*t->at, &is_digit);

        evc_public(&is_digit, sizeof is_digit); /* line breaks and lengths are public */
        if (is_digit) {
            status = add_digit(b, digit, out_bytes);
        } else {
            uint8_t c = *t->at;

            evc_public(&c, sizeof c); /* it has no value */
            if (c == '-')
                return is_complete(b) ? EVC_OK : EVC_ERR_ENCODING;
            status = add_other(b, c);
        }
    }
    return status == EVC_OK ? EVC_ERR_ENCODING : status;
}

enum evc_status evc_pem_decode(const uint8_t *text, size_t text_bytes,
                               const struct evc_pem_label *labels, size_t n, const char *other,
                               uint8_t *out, size_t out_bytes, size_t *n_out,
                               enum evc_rsa_syntax *syntax)
{
    struct text t = {text, text_bytes}, header;
    struct base64 b = {.out = out};
    enum evc_status status;
    const struct evc_pem_label *const label = find_label(&t, labels, n, other, &status);

    if (status != EVC_OK)
        return status;
    header = t;
    while (header.left && is_end_of_line(*header.at))
        skip(&header, 1);
    if (accept(&header, "Proc-Type:"))
        return EVC_ERR_ENCRYPTED;
    status = decode(&t, &b, out_bytes);
    if (status == EVC_OK && !(accept(&t, "-----END ") && accept_label(&t, label->text)))
        status = EVC_ERR_ENCODING;
    *n_out = b.n_out;
    *syntax = label->syntax;
    return status;
}

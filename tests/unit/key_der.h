/* SPDX-License-Identifier: MIT */
/* Keys of RSA written as DER and PEM, for tests of what reads them. */
#ifndef TESTS_KEY_DER_H
#define TESTS_KEY_DER_H

#include <stdint.h>
#include <string.h>

#include "everycore/rsa.h"

/* Bytes that grow at the end. */
struct piece {
    uint8_t at[4096];
    size_t n;
};

static inline void append(struct piece *to, const void *bytes, size_t n)
{
    if (n)
        memcpy(to->at + to->n, bytes, n);
    to->n += n;
}

static inline void append_piece(struct piece *to, const struct piece *more)
{
    append(to, more->at, more->n);
}

static inline void append_byte(struct piece *to, unsigned byte)
{
    to->at[to->n++] = (uint8_t)byte;
}

static inline void append_text(struct piece *to, const char *text)
{
    append(to, text, strlen(text));
}

/* Makes an element of DER of what is there. */
static inline void wrap(struct piece *p, unsigned tag)
{
    struct piece outer = {.n = 0};

    append_byte(&outer, tag);
    if (p->n >= 0x100) {
        append_byte(&outer, 0x82);
        append_byte(&outer, (unsigned)(p->n >> 8));
    } else if (p->n >= 0x80) {
        append_byte(&outer, 0x81);
    }
    append_byte(&outer, (unsigned)(p->n & 0xff));
    append_piece(&outer, p);
    *p = outer;
}

/* A number with or without leading zeros. */
static inline void append_number(struct piece *to, const uint8_t *bytes, size_t n)
{
    struct piece number = {.n = 0};

    for (; n > 1 && *bytes == 0; bytes++)
        n--;
    if (*bytes & 0x80)
        append_byte(&number, 0);
    append(&number, bytes, n);
    wrap(&number, 0x02);
    append_piece(to, &number);
}

static inline void append_small(struct piece *to, uint8_t number)
{
    append_number(to, &number, 1);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static inline size_t given_or(uint32_t n_bytes, uint32_t full)
{
    return n_bytes ? n_bytes : full;
}

static inline struct piece rsa_private_key(const struct evc_rsa_numbers *k)
{
    struct piece key = {.n = 0};

    append_small(&key, 0);
    append_number(&key, k->n, k->n_bytes);
    append_number(&key, k->e, k->e_bytes);
    append_number(&key, k->d, given_or(k->d_bytes, k->n_bytes));
    append_number(&key, k->p, k->p_bytes);
    append_number(&key, k->q, k->p_bytes);
    append_number(&key, k->dp, given_or(k->dp_bytes, k->p_bytes));
    append_number(&key, k->dq, given_or(k->dq_bytes, k->p_bytes));
    append_number(&key, k->qinv, given_or(k->qinv_bytes, k->p_bytes));
    wrap(&key, 0x30);
    return key;
}

static inline struct piece rsa_public_key(const struct evc_rsa_numbers *k)
{
    struct piece key = {.n = 0};

    append_number(&key, k->n, k->n_bytes);
    append_number(&key, k->e, k->e_bytes);
    wrap(&key, 0x30);
    return key;
}

/* AlgorithmIdentifier: rsaEncryption, NULL. */
static inline struct piece rsa_algorithm(void)
{
    static const uint8_t der[] = {0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86,
                                  0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00};
    struct piece algorithm = {.n = 0};

    append(&algorithm, der, sizeof der);
    return algorithm;
}

/* PrivateKeyInfo; behind: what comes behind the key in it, or NULL. */
static inline struct piece private_key_info(unsigned version, const struct piece *algorithm,
                                            const struct piece *key, const struct piece *behind)
{
    struct piece info = {.n = 0}, string = *key;

    append_small(&info, (uint8_t)version);
    append_piece(&info, algorithm);
    wrap(&string, 0x04);
    append_piece(&info, &string);
    if (behind)
        append_piece(&info, behind);
    wrap(&info, 0x30);
    return info;
}

/* SubjectPublicKeyInfo; unused: bits. */
static inline struct piece public_key_info(const struct piece *algorithm, const struct piece *key,
                                           unsigned unused)
{
    struct piece info = *algorithm, string = {.n = 0};

    append_byte(&string, unused);
    append_piece(&string, key);
    wrap(&string, 0x03);
    append_piece(&info, &string);
    wrap(&info, 0x30);
    return info;
}

/* ---- PEM ------------------------------------------------------------------------------------- */

/* Base64 with `newline` behind every line_length characters and at the end. */
static inline void append_base64(struct piece *to, const struct piece *bytes, size_t line_length,
                                 const char *newline)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;

    for (size_t i = 0; i < bytes->n; i += 3) {
        uint32_t word = 0;

        for (size_t j = 0; j < 3; j++)
            word = word << 8 | (i + j < bytes->n ? bytes->at[i + j] : 0);
        for (size_t j = 0; j < 4; j++) {
            append_byte(to, i + j > bytes->n ? '=' : (uint8_t)digits[word >> (18 - 6 * j) & 63]);
            if (++n % line_length == 0)
                append_text(to, newline);
        }
    }
    if (n % line_length)
        append_text(to, newline);
}

static inline struct piece pem(const char *label, const struct piece *der)
{
    struct piece text = {.n = 0};

    append_text(&text, "-----BEGIN ");
    append_text(&text, label);
    append_text(&text, "-----\n");
    append_base64(&text, der, 64, "\n");
    append_text(&text, "-----END ");
    append_text(&text, label);
    append_text(&text, "-----\n");
    return text;
}

#endif

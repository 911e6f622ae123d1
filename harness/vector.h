/* SPDX-License-Identifier: MIT */
/*
 * Published answers, one a line: PRIMITIVE MODE KERNEL|* key=HEX ... in=HEX out=HEX [id=TEXT], as
 * docs/reference/harness.md says. One reader for all who judge by them.
 */
#ifndef HARNESS_VECTOR_H
#define HARNESS_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "everycore/sha2.h"

#define VECTOR_MOST_BYTES 70000 /* of one value; the longest of CAVP are 64 KiB */

struct value {
    uint8_t *bytes;
    size_t n;
    bool given;
};

enum { KEY, KEY2, IV, NONCE, AAD, TAG, SALT, ITERATIONS, LENGTH, IN, OUT, N_VALUES };

enum vector_family {
    ECB, CBC, CTR, XTS, CBCMAC, CMAC, CMAC_VERIFY, CCM, GCM, MCT_ECB, MCT_CBC,
    KW, KWP, GCM_SIV, DIGEST, MCT_DIGEST, HMAC, HMAC_VERIFY, HKDF, PBKDF2, X25519
};

struct vector_mode {
    const char *name;
    enum vector_family family;
    bool encrypt;
    uint16_t needs; /* 1 << KEY ...: values that must be there, beside key, in and out; PBKDF2 has
                     * no in, a digest no key */
    enum evc_sha2_hash hash; /* of modes on SHA-2 */
};

/* "aes", "gcm", "sha2" or "x25519": whose kernels the mode is of. */
const char *vector_primitive(const struct vector_mode *);

struct vector {
    const struct vector_mode *mode; /* NULL: the line is none, and detail says why */
    const char *kernel, *id;
    struct value v[N_VALUES];
    bool must_fail; /* out=fail: the call refuses */
    char detail[160];
};

/* take(x, arg) for each line; x is valid during the call. */
void vectors_read(FILE *lines, void (*take)(struct vector *x, void *arg), void *arg);

#endif

/* SPDX-License-Identifier: MIT */
/* DigestInfo before the digest in signatures RSASSA-PKCS1-v1_5: RFC 8017 section 9.2. */
#include "everycore/rsa_padding.h"

/* DigestInfo of the hashes of FIPS 180-4 under 2.16.840.1.101.3.4.2, by the last number;
 * SHA-1 has its own arc. */
#define SHA2_PREFIX(last, digest_bytes)                                                            \
    {                                                                                              \
        0x30, 0x11 + (digest_bytes), 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03,   \
            0x04, 0x02, last, 0x05, 0x00, 0x04, digest_bytes                                       \
    }
#define SHA2_PREFIX_BYTES 19

static const struct {
    char name[11];
    uint8_t prefix[SHA2_PREFIX_BYTES];
} sha2[] = {
    {"sha224", SHA2_PREFIX(4, 28)},     {"sha256", SHA2_PREFIX(1, 32)},
    {"sha384", SHA2_PREFIX(2, 48)},     {"sha512", SHA2_PREFIX(3, 64)},
    {"sha512-224", SHA2_PREFIX(5, 28)}, {"sha512-256", SHA2_PREFIX(6, 32)},
};

static const uint8_t sha1[] = {0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e,
                               0x03, 0x02, 0x1a, 0x05, 0x00, 0x04, 0x14};

static int is_name(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

const uint8_t *evc_rsa_digest_prefix(const char *name, uint32_t *prefix_bytes)
{
    *prefix_bytes = sizeof sha1;
    if (is_name(name, "sha1"))
        return sha1;
    *prefix_bytes = SHA2_PREFIX_BYTES;
    for (size_t i = 0; i < sizeof sha2 / sizeof sha2[0]; i++)
        if (is_name(name, sha2[i].name))
            return sha2[i].prefix;
    *prefix_bytes = 0;
    return NULL;
}

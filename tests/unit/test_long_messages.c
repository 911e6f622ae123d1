/* SPDX-License-Identifier: MIT */
/*
 * GCM of messages whose length in bits, and in bytes, exceeds 32 bits: each kernel of GCM that runs
 * here, in one call, against any pair in pieces. Two regions of 1 MiB are mapped again and again,
 * so that this takes 2 MiB of memory.
 *
 * SHA-2 of 2^32 bytes and a few, all of them zero, by each kernel but c_ref, against digests of
 * OpenSSL.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "everycore/gcm.h"
#include "everycore/sha2.h"
#include "tap.h"

#define REGION ((size_t)1 << 20)
#define LONGEST (((size_t)1 << 32) + REGION)

static const struct message {
    size_t aad_bytes, text_bytes;
} messages[] = {
    {13, ((size_t)1 << 29) + 17}, /* 2^32 bits of text and a few, */
    {((size_t)1 << 29) + 33, 0},  /* of associated data, with texts of several ways, */
    {((size_t)1 << 29) + 33, 7},   {((size_t)1 << 29) + 33, 16},
    {((size_t)1 << 29) + 33, 35},  {((size_t)1 << 29) + 33, 100},
    {((size_t)1 << 29) + 33, 300}, {20, ((size_t)1 << 32) + 50}, /* and 2^32 bytes of text */
};

static uint8_t *in, *out;
static uint8_t wanted[sizeof messages / sizeof *messages][16];
static const uint8_t user_key[32] = "a key for messages of many bytes", iv[12] = "another IV.";

/* The same REGION of random bytes over and over. */
static uint8_t *repeated(void)
{
    const int file = memfd_create("repeated", 0);
    uint8_t *all =
        mmap(NULL, LONGEST, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (file < 0 || all == MAP_FAILED || ftruncate(file, (off_t)REGION) != 0)
        return NULL;
    for (size_t at = 0; at < LONGEST; at += REGION)
        if (mmap(all + at, REGION, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
            MAP_FAILED)
            return NULL;
    close(file);
    random_fill(all, REGION);
    return all;
}

static void in_pieces(const struct message *message, uint8_t tag[16])
{
    union evc_gcm_key key;
    struct evc_gcm_state state;
    size_t n;

    memset(&state, 0, sizeof state);
    must(evc_gcm_set_pair(&key, evc_aes_select(evc_cpu_features(), 0, EVC_USE_PARALLEL),
                          evc_ghash_select(evc_cpu_features(), 0), user_key, 256));
    must(evc_gcm_start(&key, &state, iv, sizeof iv));
    for (size_t at = 0; at < message->aad_bytes; at += n) {
        n = message->aad_bytes - at < REGION ? message->aad_bytes - at : REGION;
        must(evc_gcm_aad(&key, &state, in, n));
    }
    for (size_t at = 0; at < message->text_bytes; at += n) {
        n = message->text_bytes - at < REGION ? message->text_bytes - at : REGION;
        must(evc_gcm_seal_update(&key, &state, in, out, n));
    }
    must(evc_gcm_seal_finish(&key, &state, tag, 16));
}

static void long_messages_have_the_tag_of_their_pieces(const struct evc_gcm *kernel)
{
    union evc_gcm_key key;
    uint8_t tag[16];

    must(evc_gcm_set_key(&key, kernel, user_key, 256));
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        const size_t aad_bytes = messages[i].aad_bytes, text_bytes = messages[i].text_bytes;

        must(evc_gcm_seal(&key, iv, sizeof iv, in, aad_bytes, in, out, text_bytes, tag, 16));
        EXPECT(same(tag, wanted[i], 16));
        if (text_bytes > REGION) /* of the text, memory has the last region */
            continue;
        must(evc_gcm_open(&key, iv, sizeof iv, in, aad_bytes, out, out, text_bytes, tag, 16));
        EXPECT(same(in, out, text_bytes));
    }
}

/* hashlib.sha256(bytes(2**32 + 50)) of Python, and the same of SHA-512. */
#define ZEROS (((size_t)1 << 32) + 50)
static const uint8_t sha256_of_zeros[] = {
    0x6c, 0x11, 0x48, 0x93, 0x80, 0x14, 0xc0, 0x2a, 0x89, 0x47, 0xf1, 0xf9, 0x50, 0x86, 0xe6, 0x54,
    0x02, 0xab, 0x40, 0xad, 0xab, 0x4b, 0x5c, 0xed, 0x43, 0x89, 0x86, 0x57, 0x33, 0xba, 0xc5, 0x0d};
static const uint8_t sha512_of_zeros[] = {
    0x0c, 0x04, 0xb6, 0xca, 0x8c, 0x39, 0x8c, 0xfd, 0x73, 0x60, 0x66, 0x65, 0x72, 0x27, 0x25, 0x42,
    0xad, 0x3d, 0xec, 0xcb, 0x14, 0xa1, 0x14, 0xe1, 0xa1, 0x77, 0x3e, 0xe4, 0x1e, 0x09, 0xdc, 0x55,
    0x78, 0x69, 0xd3, 0x19, 0x6d, 0x3c, 0xed, 0xa5, 0xc6, 0x72, 0xda, 0x24, 0xa2, 0x6b, 0x49, 0xff,
    0x14, 0x5c, 0x47, 0xb3, 0xb5, 0xae, 0xbb, 0xf8, 0x37, 0xaa, 0xbe, 0x33, 0x1f, 0x24, 0xf4, 0xf2};

static void a_long_message_of_zeros_has_its_digest(const struct evc_sha2 *kernel)
{
    uint8_t digest[EVC_SHA2_MOST_DIGEST_BYTES];

    if (kernel->blocks256) {
        must(evc_sha2_digest(kernel, EVC_SHA256, in, ZEROS, digest));
        EXPECT(same(digest, sha256_of_zeros, sizeof sha256_of_zeros));
    }
    if (kernel->blocks512) {
        must(evc_sha2_digest(kernel, EVC_SHA512, in, ZEROS, digest));
        EXPECT(same(digest, sha512_of_zeros, sizeof sha512_of_zeros));
    }
}

int main(void)
{
    const struct evc_registry_line *line;

    if (sizeof(size_t) < 8 || !(in = repeated()) || !(out = repeated())) {
        printf("1..0 # SKIP needs 8 GiB of addresses\n");
        return 0;
    }
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        in_pieces(&messages[i], wanted[i]);
    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++) {
        if (strcmp(line->primitive, "gcm") != 0)
            continue;
        if (!line->built || missing_feature(line))
            printf("ok %u - %s # SKIP cannot run here\n", ++tap_tests, line->name);
        else
            RUN_WITH(long_messages_have_the_tag_of_their_pieces, evc_gcm_named(line->name));
    }
    memset(in, 0, REGION);
    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++) {
        if (strcmp(line->primitive, "sha2") != 0 || strcmp(line->name, "c_ref") == 0)
            continue; /* c_ref would take minutes */
        if (!line->built || missing_feature(line))
            printf("ok %u - %s # SKIP cannot run here\n", ++tap_tests, line->name);
        else
            RUN_WITH(a_long_message_of_zeros_has_its_digest, evc_sha2_named(line->name));
    }
    return tap_done();
}

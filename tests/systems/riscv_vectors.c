/* SPDX-License-Identifier: MIT */
/*
 * Slots of kernels with vectors of RISC-V give the answers of c_ref, for texts from nothing to
 * beyond the largest group, of any alignment. All properties are in the harness; this program is
 * made of a few files and takes a moment.
 */
#include <stdio.h>
#include <string.h>

#include "everycore/aes.h"
#include "everycore/ghash.h"
#include "everycore/sha2.h"

extern const struct evc_aes evc_aes_rv_zvkned, evc_aes_rv_bitslice, evc_aes_c_ref;
extern const struct evc_ghash evc_ghash_rv_zvkg, evc_ghash_c_ref;
extern const struct evc_sha2 evc_sha2_rv_zvknh, evc_sha2_c_ref;

#define MOST_BLOCKS 150 /* two groups of 32 or 64 blocks, and more */
#define MOST_BYTES (16 * MOST_BLOCKS)

static uint8_t text[MOST_BYTES + 16], answer[MOST_BYTES + 16], expected[MOST_BYTES + 16];
static union evc_aes_key key, ref;
static int failed;

static void fill(uint8_t *to, size_t n, uint32_t x)
{
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525 + 1013904223;
        to[i] = (uint8_t)(x >> 24);
    }
}

static void equal(const char *slot, const void *a, const void *b, size_t n, unsigned rounds,
                  size_t length)
{
    if (memcmp(a, b, n) == 0)
        return;
    printf("%s is wrong: %u rounds, length %zu\n", slot, rounds, length);
    failed = 1;
}

static void set_keys(const struct evc_aes *aes, unsigned rounds)
{
    uint8_t user_key[33];

    fill(user_key, sizeof user_key, rounds);
    key.head = (struct evc_aes_head){aes, rounds, 1};
    ref.head = (struct evc_aes_head){&evc_aes_c_ref, rounds, 1};
    aes->set_key(&key, user_key + 1);
    evc_aes_c_ref.set_key(&ref, user_key + 1);
}

/* Each mode by its definition and c_ref. */
static void crypt_blocks(const char *mode, uint8_t state[16], size_t n_bytes)
{
    uint8_t block[16], before[16];

    for (size_t at = 0; at < n_bytes; at += 16) {
        const uint8_t *in = text + 1 + at;
        const size_t n = n_bytes - at < 16 ? n_bytes - at : 16;

        memset(block, 0, 16);
        memcpy(block, in, n);
        memcpy(before, block, 16);
        if (strcmp(mode, "ctr") == 0) {
            evc_aes_c_ref.encrypt(&ref, state, block, 1);
            for (size_t i = 0; i < 16; i++)
                block[i] ^= before[i];
            for (int i = 15; i >= 12 && ++state[i] == 0; i--)
                ;
        } else if (strcmp(mode, "ctr-le") == 0) {
            evc_aes_c_ref.encrypt(&ref, state, block, 1);
            for (size_t i = 0; i < 16; i++)
                block[i] ^= before[i];
            for (int i = 0; i < 4 && ++state[i] == 0; i++)
                ;
        } else if (strcmp(mode, "cbc-enc") == 0) {
            for (size_t i = 0; i < 16; i++)
                block[i] ^= state[i];
            evc_aes_c_ref.encrypt(&ref, block, block, 1);
            memcpy(state, block, 16);
        } else if (strcmp(mode, "cbc-dec") == 0) {
            evc_aes_c_ref.decrypt(&ref, block, block, 1);
            for (size_t i = 0; i < 16; i++)
                block[i] ^= state[i];
            memcpy(state, before, 16);
        } else if (strncmp(mode, "xts", 3) == 0) {
            for (size_t i = 0; i < 16; i++)
                block[i] ^= state[i];
            if (strcmp(mode, "xts-enc") == 0)
                evc_aes_c_ref.encrypt(&ref, block, block, 1);
            else
                evc_aes_c_ref.decrypt(&ref, block, block, 1);
            for (size_t i = 0; i < 16; i++)
                block[i] ^= state[i];
            for (unsigned i = 16, high = state[15] >> 7; i-- > 0;)
                state[i] = (uint8_t)(state[i] << 1 |
                                     (i ? state[i - 1] >> 7 : 0)) ^ (i || !high ? 0 : 0x87);
        } else if (strcmp(mode, "ecb-enc") == 0) {
            evc_aes_c_ref.encrypt(&ref, block, block, 1);
        } else {
            evc_aes_c_ref.decrypt(&ref, block, block, 1);
        }
        memcpy(expected + 1 + at, block, n);
    }
}

static void compare(const char *mode, size_t n_bytes)
{
    const struct evc_aes *aes = key.head.kernel;
    const size_t n = n_bytes / 16;
    uint8_t *in = answer + 1, *out = answer + 1; /* in place, and not aligned */
    uint8_t state[16], ref_state[16];

    fill(text, sizeof text, (uint32_t)n_bytes);
    memset(text, 0xff, 16); /* the counter carries after a few blocks */
    text[0] = text[15] = 0xfd;
    memcpy(state, text, 16);
    memcpy(ref_state, state, 16);
    memcpy(answer, text, sizeof text);
    memcpy(expected, text, sizeof text);
    crypt_blocks(mode, ref_state, n_bytes);
    if (strcmp(mode, "ctr") == 0)
        aes->ctr32(&key, state, in, out, n_bytes);
    else if (strcmp(mode, "ctr-le") == 0)
        aes->ctr32_le(&key, state, in, out, n_bytes);
    else if (strcmp(mode, "cbc-enc") == 0)
        aes->cbc_encrypt(&key, state, in, out, n);
    else if (strcmp(mode, "cbc-dec") == 0)
        aes->cbc_decrypt(&key, state, in, out, n);
    else if (strcmp(mode, "xts-enc") == 0)
        aes->xts_encrypt(&key, state, in, out, n);
    else if (strcmp(mode, "xts-dec") == 0)
        aes->xts_decrypt(&key, state, in, out, n);
    else if (strcmp(mode, "ecb-enc") == 0)
        aes->encrypt(&key, in, out, n);
    else
        aes->decrypt(&key, in, out, n);
    equal(mode, answer, expected, sizeof answer, key.head.rounds, n_bytes);
    equal(mode, state, ref_state, 16, key.head.rounds, n_bytes);
}

static void compare_ghash(size_t n_blocks)
{
    static union evc_ghash_key hash, hash_ref;
    uint8_t h[16], y[16], y_ref[16];

    fill(h, sizeof h, 1);
    fill(y, sizeof y, 2);
    memcpy(y_ref, y, 16);
    fill(text, sizeof text, (uint32_t)n_blocks);
    evc_ghash_rv_zvkg.set_key(&hash, h);
    evc_ghash_c_ref.set_key(&hash_ref, h);
    evc_ghash_rv_zvkg.blocks(&hash, y, text + 1, n_blocks);
    evc_ghash_c_ref.blocks(&hash_ref, y_ref, text + 1, n_blocks);
    equal("ghash", y, y_ref, 16, 0, n_blocks);
    memcpy(answer, text, sizeof text);
    for (size_t i = 0; i < 16 * n_blocks; i++)
        answer[1 + i] = text[1 + (i ^ 15)];
    evc_ghash_rv_zvkg.reversed_blocks(&hash, y, answer + 1, n_blocks);
    evc_ghash_c_ref.blocks(&hash_ref, y_ref, text + 1, n_blocks);
    equal("ghash of reversed blocks", y, y_ref, 16, 0, n_blocks);
}

static void compare_sha2(size_t n_blocks)
{
    uint32_t h[8], h_ref[8];
    uint64_t long_h[8], long_h_ref[8];

    fill((uint8_t *)h, sizeof h, 1);
    fill((uint8_t *)long_h, sizeof long_h, 2);
    memcpy(h_ref, h, sizeof h);
    memcpy(long_h_ref, long_h, sizeof long_h);
    fill(text, sizeof text, (uint32_t)n_blocks);
    evc_sha2_rv_zvknh.blocks256(h, text + 1, n_blocks);
    evc_sha2_c_ref.blocks256(h_ref, text + 1, n_blocks);
    equal("sha256", h, h_ref, sizeof h, 0, n_blocks);
    evc_sha2_rv_zvknh.blocks512(long_h, text + 1, n_blocks);
    evc_sha2_c_ref.blocks512(long_h_ref, text + 1, n_blocks);
    equal("sha512", long_h, long_h_ref, sizeof long_h, 0, n_blocks);
}

static void compare_aes(const struct evc_aes *aes)
{
    static const char *const modes[] = {"ecb-enc", "ecb-dec", "cbc-dec", "ctr",
                                        "ctr-le",  "xts-enc", "xts-dec", "cbc-enc"};
    const size_t n_modes = sizeof modes / sizeof modes[0] - (aes->cbc_encrypt ? 0 : 1);

    for (unsigned rounds = 10; rounds <= 14; rounds += 2) {
        set_keys(aes, rounds);
        for (size_t m = 0; m < n_modes; m++)
            for (size_t n = 0; n <= MOST_BLOCKS; n += n < 9 ? 1 : 28)
                compare(modes[m], 16 * n);
        for (size_t n = 1; n <= MOST_BYTES; n += n < 35 ? 1 : 299) {
            compare("ctr", n);
            compare("ctr-le", n);
        }
    }
}

int main(void)
{
    compare_aes(&evc_aes_rv_zvkned);
    compare_aes(&evc_aes_rv_bitslice);
    for (size_t n = 0; n <= MOST_BLOCKS; n += n < 70 ? 1 : 11)
        compare_ghash(n);
    for (size_t n = 1; n <= 8; n++)
        compare_sha2(n);
    return failed;
}

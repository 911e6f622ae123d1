/* SPDX-License-Identifier: MIT */
/*
 * Kernels of IBM Z on Hercules: each slot gives what the reference gives, and how many instructions
 * a call takes. Lines: "same N", then "slot key_bits bytes instructions ciphers". The instructions
 * are those between two marks less those of nothing between them: the call, what it passes and the
 * whole slot. `ciphers` of them encrypt or hash.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "aes/kernel.h"
#include "ghash/kernel.h"
#include "sha2/kernel.h"

#define MOST 4112

static uint8_t text[MOST], ours[MOST], theirs[MOST];
static union evc_aes_key key, reference;
static union evc_ghash_key hash_key, hash_reference;
static unsigned n_same;

/* ---- What is called ---- */

enum slot { ENCRYPT, DECRYPT, CTR, CBC_ENCRYPT, CBC_DECRYPT, CBCMAC, XTS_ENCRYPT, XTS_DECRYPT };
static const char *const names[] = {"encrypt",     "decrypt", "ctr32",       "cbc_encrypt",
                                    "cbc_decrypt", "cbcmac",  "xts_encrypt", "xts_decrypt"};
enum { SLOTS = sizeof names / sizeof *names };

#define BEGIN() __asm__ volatile("lghi %%r1, 5000\n svc 0" : : : "1", "2", "cc", "memory")
#define END(to)                                                                   \
    do {                                                                          \
        register uint64_t *r2 __asm__("2") = (to);                                \
        __asm__ volatile("lghi %%r1, 5001\n svc 0" : "+d"(r2) : : "1", "cc", "memory"); \
    } while (0)

static void one(enum slot slot, const struct evc_aes *kernel, uint8_t state[16], const uint8_t *in,
                uint8_t *out, size_t n_bytes, uint64_t counts[2])
{
    const void *k = &key;

#define COUNTED(call) \
    BEGIN();          \
    call;             \
    END(counts);      \
    break
    switch (slot) {
    case ENCRYPT: COUNTED(kernel->encrypt(k, in, out, n_bytes / 16));
    case DECRYPT: COUNTED(kernel->decrypt(k, in, out, n_bytes / 16));
    case CTR: COUNTED(kernel->ctr32(k, state, in, out, n_bytes));
    case CBC_ENCRYPT: COUNTED(kernel->cbc_encrypt(k, state, in, out, n_bytes / 16));
    case CBC_DECRYPT: COUNTED(kernel->cbc_decrypt(k, state, in, out, n_bytes / 16));
    case CBCMAC: COUNTED(kernel->cbcmac(k, state, in, n_bytes / 16));
    case XTS_ENCRYPT: COUNTED(kernel->xts_encrypt(k, state, in, out, n_bytes / 16));
    case XTS_DECRYPT: COUNTED(kernel->xts_decrypt(k, state, in, out, n_bytes / 16));
    }
}

static void by_reference(enum slot slot, uint8_t state[16], uint8_t *out, size_t n_bytes)
{
    const size_t n = n_bytes / 16;

    switch (slot) {
    case ENCRYPT: n_same += evc_aes_encrypt(&reference, text, out, n) != EVC_OK; break;
    case DECRYPT: n_same += evc_aes_decrypt(&reference, text, out, n) != EVC_OK; break;
    case CTR: evc_aes_ctr32(&reference, state, text, out, n_bytes); break;
    case CBC_ENCRYPT: evc_aes_cbc_encrypt_blocks(&reference, state, text, out, n); break;
    case CBC_DECRYPT: evc_aes_cbc_decrypt_blocks(&reference, state, text, out, n); break;
    case CBCMAC: evc_aes_cbcmac_blocks(&reference, state, text, n); break;
    case XTS_ENCRYPT: evc_aes_xts_encrypt_blocks(&reference, state, text, out, n); break;
    case XTS_DECRYPT: evc_aes_xts_decrypt_blocks(&reference, state, text, out, n); break;
    }
}

/* ---- The same results ---- */

static int differs(const char *name, size_t n_bytes, const uint8_t a[16], const uint8_t b[16])
{
    if (memcmp(a, b, 16) == 0 && memcmp(ours, theirs, MOST) == 0) {
        n_same++;
        return 0;
    }
    printf("differs: %s, %u bytes\n", name, (unsigned)n_bytes);
    return 1;
}

static int compared(enum slot slot, const struct evc_aes *kernel, size_t n_bytes)
{
    uint8_t a[16], b[16];
    uint64_t counts[2];

    if (slot != CTR && n_bytes % 16)
        return 0;
    memset(a, 0xff, 16); /* a counter that wraps */
    memcpy(b, a, 16);
    memset(ours, 1, MOST);
    memset(theirs, 1, MOST);
    one(slot, kernel, a, text, ours, n_bytes, counts);
    by_reference(slot, b, theirs, n_bytes);
    return differs(names[slot], n_bytes, a, b);
}

static int compared_hash(size_t n_blocks)
{
    uint8_t a[16] = {1}, b[16] = {1};

    memset(ours, 0, MOST);
    memset(theirs, 0, MOST);
    hash_key.head.kernel->blocks(&hash_key, a, text, n_blocks);
    hash_reference.head.kernel->blocks(&hash_reference, b, text, n_blocks);
    return differs("blocks", 16 * n_blocks, a, b);
}

static int compared_sha2(size_t n_blocks)
{
    uint32_t a[8] = {1}, b[8] = {1};
    uint64_t long_a[8] = {1}, long_b[8] = {1};

    memset(ours, 0, MOST);
    memset(theirs, 0, MOST);
    evc_sha2_s390x_kimd.blocks256(a, text, n_blocks);
    evc_sha2_c_ref.blocks256(b, text, n_blocks);
    memcpy(ours, a, sizeof a);
    memcpy(theirs, b, sizeof b);
    evc_sha2_s390x_kimd.blocks512(long_a, text, n_blocks);
    evc_sha2_c_ref.blocks512(long_b, text, n_blocks);
    memcpy(ours + sizeof a, long_a, sizeof long_a);
    memcpy(theirs + sizeof b, long_b, sizeof long_b);
    return differs("SHA-2", 128 * n_blocks, text, text);
}

/* ---- Counts ---- */

static void print(const char *name, unsigned bits, size_t n_bytes, const uint64_t counts[2])
{
    uint64_t none[2];

    BEGIN();
    END(none);
    printf("%s %u %u %u %u\n", name, bits, (unsigned)n_bytes, (unsigned)(counts[0] - none[0]),
           (unsigned)counts[1]);
}

static void counted(enum slot slot, const struct evc_aes *kernel, unsigned bits, size_t n_bytes)
{
    uint8_t state[16] = {0};
    uint64_t counts[2];

    one(slot, kernel, state, text, ours, n_bytes, counts);
    print(names[slot], bits, n_bytes, counts);
}

static void counted_keys(const struct evc_aes *kernel, unsigned bits)
{
    uint64_t counts[2];

    BEGIN();
    kernel->set_key(&key, text);
    END(counts);
    print("set_key", bits, 0, counts);
}

static void counted_hash(const struct evc_ghash *kernel, size_t n_bytes)
{
    uint8_t y[16] = {0};
    uint64_t counts[2];

    BEGIN();
    kernel->blocks(&hash_key, y, text, n_bytes / 16);
    END(counts);
    print("blocks", 128, n_bytes, counts);
}

static void counted_sha2(size_t n_blocks)
{
    uint32_t h[8] = {0};
    uint64_t long_h[8] = {0}, counts[2];

    BEGIN();
    evc_sha2_s390x_kimd.blocks256(h, text, n_blocks);
    END(counts);
    print("blocks256", 256, 64 * n_blocks, counts);
    BEGIN();
    evc_sha2_s390x_kimd.blocks512(long_h, text, n_blocks);
    END(counts);
    print("blocks512", 512, 128 * n_blocks, counts);
}

int main(void)
{
    static const size_t lengths[] = {16, 17, 31, 64, 512, 528, 4096};
    const struct evc_aes *const kernel = &evc_aes_s390x_km;
    const struct evc_ghash *const hash = &evc_ghash_s390x_kimd;
    int n_bad = 0;

    for (size_t i = 0; i < MOST; i++)
        text[i] = (uint8_t)(7 * i ^ i >> 8);
    n_bad += evc_ghash_set_key(&hash_key, hash, text) != EVC_OK ||
             evc_ghash_set_key(&hash_reference, &evc_ghash_c_ref, text) != EVC_OK;
    for (unsigned bits = 128; bits <= 256; bits += 64) {
        n_bad += evc_aes_set_key(&key, kernel, text, bits) != EVC_OK ||
                 evc_aes_set_key(&reference, &evc_aes_c_ref, text, bits) != EVC_OK;
        for (size_t n_bytes = 0; n_bytes <= 1200; n_bytes += n_bytes < 50 ? 1 : 109)
            for (unsigned slot = 0; slot < SLOTS; slot++) {
                n_bad += compared((enum slot)slot, kernel, n_bytes);
                n_bad += compared((enum slot)slot, kernel, n_bytes / 16 * 16);
            }
        if (bits == 128)
            for (size_t n_blocks = 0; n_blocks <= 40; n_blocks++)
                n_bad += compared_hash(n_blocks);
    }
    for (size_t n_blocks = 1; n_blocks <= 32; n_blocks++)
        n_bad += compared_sha2(n_blocks);
    printf("same %u\n", n_same);
    for (unsigned bits = 128; bits <= 256; bits += 64) {
        n_bad += evc_aes_set_key(&key, kernel, text, bits) != EVC_OK;
        counted_keys(kernel, bits);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (unsigned slot = 0; slot < SLOTS; slot++)
                if (slot == CTR || lengths[i] % 16 == 0)
                    counted((enum slot)slot, kernel, bits, lengths[i]);
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (lengths[i] % 16 == 0)
            counted_hash(hash, lengths[i]);
    for (size_t n_blocks = 1; n_blocks <= 32; n_blocks *= 2)
        counted_sha2(n_blocks);
    return n_bad != 0;
}

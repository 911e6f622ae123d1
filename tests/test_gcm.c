/* SPDX-License-Identifier: MIT */
/*
 * GCM held against SP 800-38D written once more, bit by bit, on single blocks of AES: every length, every pair of
 * kernels, streams, counters that wrap, and every status code. Published answers are in vectors/gcm.txt.
 */
#include "everycore/gcm.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everycore/cpu.h"

#define MAX_BYTES 4200

static unsigned n_checks, n_failures;

static void expect(bool holds, const char *what, size_t a, size_t b)
{
    n_checks++;
    if (holds)
        return;
    if (n_failures++ < 20)
        printf("FAILED: %s (%zu, %zu)\n", what, a, b);
}

static uint64_t seed = 1;

static uint8_t random_byte(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint8_t)(seed >> 56);
}

static size_t random_below(size_t n)
{
    return (((size_t)random_byte() << 16) | ((size_t)random_byte() << 8) | random_byte()) % n;
}

static void random_bytes(uint8_t *to, size_t n)
{
    while (n--)
        *to++ = random_byte();
}

/* ---- The model ---------------------------------------------------------------------------------- */

static struct model {
    union evc_aes_key aes; /* c_ref */
    uint8_t h[16];
} model;

static void xor_block(uint8_t a[16], const uint8_t b[16])
{
    for (int i = 0; i < 16; i++)
        a[i] ^= b[i];
}

/* Algorithm 1 of section 6.3: x = x * y. */
static void multiply(uint8_t x[16], const uint8_t y[16])
{
    uint8_t z[16] = {0}, v[16];

    memcpy(v, y, 16);
    for (int i = 0; i < 128; i++) {
        unsigned out = v[15] & 1u;
        if (x[i / 8] >> (7 - i % 8) & 1)
            xor_block(z, v);
        for (int j = 15; j > 0; j--)
            v[j] = (uint8_t)(v[j] >> 1 | v[j - 1] << 7);
        v[0] = (uint8_t)(v[0] >> 1 ^ (out ? 0xe1 : 0));
    }
    memcpy(x, z, 16);
}

static void model_hash(uint8_t y[16], const uint8_t *in, size_t n)
{
    uint8_t block[16];

    for (size_t part; n; n -= part, in += part) {
        part = n < 16 ? n : 16;
        memset(block, 0, 16);
        memcpy(block, in, part);
        xor_block(y, block);
        multiply(y, model.h);
    }
}

static void model_lengths(uint8_t y[16], uint64_t first_bytes, uint64_t second_bytes)
{
    uint8_t block[16];

    for (int i = 0; i < 8; i++) {
        block[i] = (uint8_t)(8 * first_bytes >> (56 - 8 * i));
        block[8 + i] = (uint8_t)(8 * second_bytes >> (56 - 8 * i));
    }
    model_hash(y, block, 16);
}

static void increment(uint8_t counter[16])
{
    for (int i = 15; i >= 12 && ++counter[i] == 0; i--)
        ;
}

static void model_key(const uint8_t *user_key, unsigned key_bits)
{
    evc_aes_set_encrypt_key(&model.aes, evc_aes_named("c_ref"), user_key, key_bits);
    memset(model.h, 0, 16);
    evc_aes_encrypt(&model.aes, model.h, model.h, 1);
}

/* Algorithm 4 of section 7.1, with a tag of 16 bytes. */
static void model_seal(const uint8_t *iv, size_t iv_bytes, const uint8_t *aad, size_t aad_bytes,
                       const uint8_t *in, uint8_t *out, size_t len, uint8_t tag[16])
{
    uint8_t j0[16] = {0}, counter[16], stream[16], y[16] = {0};

    if (iv_bytes == 12) {
        memcpy(j0, iv, 12);
        j0[15] = 1;
    } else {
        model_hash(j0, iv, iv_bytes);
        model_lengths(j0, 0, iv_bytes);
    }
    memcpy(counter, j0, 16);
    for (size_t i = 0; i < len; i++) {
        if (i % 16 == 0) {
            increment(counter);
            evc_aes_encrypt(&model.aes, counter, stream, 1);
        }
        out[i] = in[i] ^ stream[i % 16];
    }
    model_hash(y, aad, aad_bytes);
    model_hash(y, out, len);
    model_lengths(y, aad_bytes, len);
    evc_aes_encrypt(&model.aes, j0, tag, 1);
    xor_block(tag, y);
}

/* The IV of 16 bytes whose J_0 is this: J_0 = ((IV * H) + L) * H, so two divisions; 1/H = H^(2^128 - 2). */
static void iv_for(uint8_t iv[16], const uint8_t j0[16])
{
    uint8_t inverse[16], power[16];

    memcpy(power, model.h, 16);
    multiply(power, model.h);
    memcpy(inverse, power, 16);
    for (int i = 2; i < 128; i++) {
        uint8_t same[16];
        memcpy(same, power, 16);
        multiply(power, same);
        multiply(inverse, power);
    }
    memcpy(iv, j0, 16);
    multiply(iv, inverse);
    iv[15] ^= 128; /* the length of the IV in bits */
    multiply(iv, inverse);
}

/* ---- Messages ------------------------------------------------------------------------------------- */

static uint8_t in[MAX_BYTES], aad[MAX_BYTES], expected[MAX_BYTES], out[MAX_BYTES + 1], iv[256];
static uint8_t expected_tag[16], tag[16];

/* Seal, and open again in place; then with a bit of the tag, of the text, of the associated data changed. */
static void try_message(const union evc_gcm_key *key, size_t iv_bytes, size_t aad_bytes, size_t len)
{
    model_seal(iv, iv_bytes, aad, aad_bytes, in, expected, len, expected_tag);
    memset(out, 0xa5, sizeof out);
    expect(evc_gcm_seal(key, iv, iv_bytes, aad, aad_bytes, in, out, len, tag, 16) == EVC_OK,
           "seal", len, aad_bytes);
    expect(memcmp(out, expected, len) == 0 && out[len] == 0xa5, "ciphertext", len, aad_bytes);
    expect(memcmp(tag, expected_tag, 16) == 0, "tag", len, aad_bytes);
    expect(evc_gcm_open(key, iv, iv_bytes, aad, aad_bytes, out, out, len, tag, 16) == EVC_OK, "open",
           len, aad_bytes);
    expect(memcmp(out, in, len) == 0 && out[len] == 0xa5, "plaintext", len, aad_bytes);
}

static bool all_zero(const uint8_t *p, size_t n)
{
    while (n--)
        if (*p++)
            return false;
    return true;
}

static void try_forgeries(const union evc_gcm_key *key, size_t aad_bytes, size_t len)
{
    evc_gcm_seal(key, iv, 12, aad, aad_bytes, in, expected, len, expected_tag, 16);
    for (int what = 0; what < 3; what++) {
        uint8_t *damaged = what == 0 ? expected_tag : what == 1 ? expected : aad;
        size_t n = what == 0 ? 16 : what == 1 ? len : aad_bytes;
        if (!n)
            continue;
        uint8_t *at = damaged + random_below(n), bit = (uint8_t)(1u << random_below(8));
        *at ^= bit;
        memset(out, 0xa5, sizeof out);
        expect(evc_gcm_open(key, iv, 12, aad, aad_bytes, expected, out, len, expected_tag, 16) ==
                   EVC_ERR_TAG,
               "a forgery is refused", len, (size_t)what);
        expect(all_zero(out, len) && out[len] == 0xa5, "its plaintext is wiped", len, (size_t)what);
        memcpy(out, expected, len);
        expect(evc_gcm_open(key, iv, 12, aad, aad_bytes, out, out, len, expected_tag, 16) ==
                   EVC_ERR_TAG && all_zero(out, len),
               "also in place", len, (size_t)what);
        *at ^= bit;
    }
}

static void try_stream(const union evc_gcm_key *key, size_t iv_bytes, size_t aad_bytes, size_t len,
                       bool sealing)
{
    struct evc_gcm_state state;
    size_t at, part;

    model_seal(iv, iv_bytes, aad, aad_bytes, in, expected, len, expected_tag);
    expect(evc_gcm_start(key, &state, iv, iv_bytes) == EVC_OK, "start", len, iv_bytes);
    for (at = 0; at < aad_bytes; at += part) {
        part = random_below(aad_bytes - at + 1);
        expect(evc_gcm_aad(key, &state, aad + at, part) == EVC_OK, "aad", len, part);
    }
    for (at = 0; at < len; at += part) {
        part = random_below(len - at + 1);
        if (random_below(3))
            part %= 40;
        expect((sealing ? evc_gcm_seal_update : evc_gcm_open_update)(
                   key, &state, (sealing ? in : expected) + at, out + at, part) == EVC_OK,
               "update", len, part);
    }
    expect(memcmp(out, sealing ? expected : in, len) == 0, "text in pieces", len, sealing);
    if (sealing) {
        expect(evc_gcm_seal_finish(key, &state, tag, 16) == EVC_OK, "seal_finish", len, 0);
        expect(memcmp(tag, expected_tag, 16) == 0, "tag in pieces", len, aad_bytes);
    } else {
        expect(evc_gcm_open_finish(key, &state, expected_tag, 16) == EVC_OK, "open_finish", len, 0);
    }
    expect(all_zero((const uint8_t *)&state, sizeof state), "the state is wiped", len, sealing);
}

/* The counter wraps after `before` blocks. */
static void try_wrap(const union evc_gcm_key *key, uint32_t before)
{
    uint8_t j0[16];

    random_bytes(j0, 12);
    for (int i = 0; i < 4; i++)
        j0[12 + i] = (uint8_t)((0 - before - 1) >> (24 - 8 * i));
    iv_for(iv, j0);
    try_message(key, 16, 5, 16 * (size_t)before + 700);
    try_stream(key, 16, 0, 16 * (size_t)before + 100, true);
}

/* ---- Keys ------------------------------------------------------------------------------------------- */

static bool runs(const struct evc_kernel *kernel)
{
    return (kernel->needs & ~EVC_TUNE_MASK & ~evc_cpu_features()) == 0;
}

/* With a kernel of GCM, or where that is NULL with a pair. */
static void make_key(union evc_gcm_key *key, const struct evc_gcm *gcm, const struct evc_aes *aes,
                     const struct evc_ghash *ghash, unsigned key_bits)
{
    uint8_t user_key[32];

    random_bytes(user_key, 32);
    random_bytes(in, sizeof in);
    random_bytes(aad, sizeof aad);
    random_bytes(iv, sizeof iv);
    model_key(user_key, key_bits);
    if (gcm)
        expect(evc_gcm_set_key(key, gcm, user_key, key_bits) == EVC_OK, "set_key", key_bits, 0);
    else
        expect(evc_gcm_set_pair(key, aes, ghash, user_key, key_bits) == EVC_OK, "set_pair", key_bits, 0);
}

static void every_pair_seals_and_opens(void)
{
    static const size_t lengths[] = {0, 1, 16, 17, 64, 255, 512, 513, 1040, 4128, 4199};
    const struct evc_aes *aes;
    const struct evc_ghash *ghash;
    union evc_gcm_key key;

    for (unsigned i = 0; (aes = evc_aes_at(i)) != NULL; i++)
        for (unsigned j = 0; (ghash = evc_ghash_at(j)) != NULL; j++) {
            if (!runs(evc_aes_kernel(aes)) || !runs(evc_ghash_kernel(ghash)) ||
                evc_ghash_kernel(ghash)->key_bytes > sizeof(union evc_ghash_key))
                continue;
            make_key(&key, NULL, aes, ghash, 128 + 64 * ((i + j) % 3));
            for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++)
                try_message(&key, n % 2 ? 12 : 1 + random_below(60), random_below(40), lengths[n]);
            try_stream(&key, 12, 21, 600, true);
            try_wrap(&key, 3);
        }
}

static void every_length_equals_the_model(const union evc_gcm_key *key)
{
    for (size_t len = 0; len <= 1100; len++) {
        try_message(key, 12, 13, len);
        try_message(key, 1 + len % 250, len % 70, len);
        try_message(key, 12, len, 20);
        try_forgeries(key, len % 33, len);
        try_stream(key, len % 3 ? 12 : 17, len % 50, len, len % 2);
    }
    for (int turn = 0; turn < 40; turn++) {
        size_t len = random_below(MAX_BYTES);
        try_message(key, 12, random_below(100), len);
        try_stream(key, 1 + random_below(200), random_below(600), len, turn % 2);
    }
    for (uint32_t before = 0; before < 70; before += before < 5 ? 1 : 9)
        try_wrap(key, before);
}

static void every_kernel_equals_the_model(void)
{
    const struct evc_gcm *gcm;
    union evc_gcm_key key;

    for (unsigned i = 0; (gcm = evc_gcm_at(i)) != NULL; i++)
        for (unsigned key_bits = 128; key_bits <= 256; key_bits += 64) {
            if (!runs(evc_gcm_kernel(gcm)))
                continue;
            make_key(&key, gcm, NULL, NULL, key_bits);
            every_length_equals_the_model(&key);
        }
}

/* ---- Refusals ------------------------------------------------------------------------------------------ */

static void tags_are_of_the_sizes_allowed(const union evc_gcm_key *key)
{
    struct evc_gcm_state state;

    evc_gcm_seal(key, iv, 12, aad, 5, in, expected, 30, expected_tag, 16);
    for (size_t n = 0; n <= 20; n++) {
        bool good = n == 4 || n == 8 || (n >= 12 && n <= 16);
        enum evc_status status = good ? EVC_OK : EVC_ERR_TAG_SIZE;
        uint8_t short_tag[20];
        memset(short_tag, 0xa5, sizeof short_tag);
        memset(out, 0xa5, 32);
        expect(evc_gcm_seal(key, iv, 12, aad, 5, in, out, 30, short_tag, n) == status, "tag size", n, 0);
        expect(memcmp(short_tag, expected_tag, good ? n : 0) == 0 && (n == 20 || short_tag[n] == 0xa5),
               "tag of a size", n, 0);
        expect(good || out[0] == 0xa5, "nothing is written with a bad tag size", n, 0);
        expect(evc_gcm_open(key, iv, 12, aad, 5, expected, out, 30, expected_tag, n) == status,
               "open with a tag size", n, 0);
        evc_gcm_start(key, &state, iv, 12);
        evc_gcm_aad(key, &state, aad, 5);
        evc_gcm_open_update(key, &state, expected, out, 30);
        expect(evc_gcm_open_finish(key, &state, expected_tag, n) == status, "open_finish size", n, 0);
        expect(good || evc_gcm_open_finish(key, &state, expected_tag, 16) == EVC_OK,
               "the state is as before", n, 0);
        expect(evc_gcm_seal_finish(key, &state, short_tag, n) == (good ? EVC_ERR_LENGTH : status),
               "finish twice", n, 0);
        if (good) {
            expected_tag[n - 1] ^= 1;
            expect(evc_gcm_open(key, iv, 12, aad, 5, expected, out, 30, expected_tag, n) == EVC_ERR_TAG,
                   "a forged tag of a size", n, 0);
            expected_tag[n - 1] ^= 1;
        }
    }
}

static void calls_out_of_order_are_refused(const union evc_gcm_key *key)
{
    struct evc_gcm_state state = {{0}, {0}, {0}, {0}, {0}, 0, 0, 0, 0};

    expect(evc_gcm_start(key, &state, iv, 0) == EVC_ERR_NONCE_SIZE, "an empty IV", 0, 0);
    expect(evc_gcm_seal(key, iv, 0, aad, 0, in, out, 1, tag, 16) == EVC_ERR_NONCE_SIZE, "an empty IV",
           1, 0);
    expect(evc_gcm_open(key, iv, 0, aad, 0, in, out, 1, tag, 16) == EVC_ERR_NONCE_SIZE, "an empty IV",
           2, 0);
    expect(evc_gcm_aad(key, &state, aad, 1) == EVC_ERR_LENGTH, "aad before start", 0, 0);
    expect(evc_gcm_seal_update(key, &state, in, out, 1) == EVC_ERR_LENGTH, "seal before start", 0, 0);
    expect(evc_gcm_open_update(key, &state, in, out, 1) == EVC_ERR_LENGTH, "open before start", 0, 0);
    expect(evc_gcm_seal_finish(key, &state, tag, 16) == EVC_ERR_LENGTH, "finish before start", 0, 0);
    expect(evc_gcm_open_finish(key, &state, tag, 16) == EVC_ERR_LENGTH, "finish before start", 1, 0);
    evc_gcm_start(key, &state, iv, 12);
    evc_gcm_seal_update(key, &state, in, out, 1);
    expect(evc_gcm_aad(key, &state, aad, 1) == EVC_ERR_LENGTH, "aad after text", 0, 0);
    expect(evc_gcm_seal_finish(key, &state, tag, 16) == EVC_OK, "finish", 0, 0);
    model_seal(iv, 12, aad, 0, in, expected, 1, expected_tag);
    expect(memcmp(tag, expected_tag, 16) == 0, "as if it had not been called", 0, 0);
    expect(evc_gcm_seal_update(key, &state, in, out, 1) == EVC_ERR_LENGTH, "update after finish", 0, 0);
    expect(evc_gcm_aad(key, &state, aad, 1) == EVC_ERR_LENGTH, "aad after finish", 0, 0);
}

static void limits_are_kept(const union evc_gcm_key *key)
{
    struct evc_gcm_state state;

    evc_gcm_start(key, &state, iv, 12);
    state.aad_bytes = EVC_GCM_MAX_AAD - 5;
    expect(evc_gcm_aad(key, &state, aad, 6) == EVC_ERR_LENGTH, "associated data over the limit", 0, 0);
    expect(evc_gcm_aad(key, &state, aad, 5) == EVC_OK, "associated data to the limit", 0, 0);
    state.text_bytes = EVC_GCM_MAX_TEXT - 32;
    expect(evc_gcm_seal_update(key, &state, in, out, 33) == EVC_ERR_LENGTH, "text over the limit", 0, 0);
    expect(evc_gcm_seal_update(key, &state, in, out, 32) == EVC_OK, "text to the limit", 0, 0);
    expect(evc_gcm_open_update(key, &state, in, out, 1) == EVC_ERR_LENGTH, "text past the limit", 0, 0);
    if (sizeof(size_t) > 4) {
        size_t text = (size_t)EVC_GCM_MAX_TEXT + 1, data = (size_t)EVC_GCM_MAX_AAD + 1;
        expect(evc_gcm_seal(key, iv, 12, aad, 0, in, out, text, tag, 16) == EVC_ERR_LENGTH, "long", 0, 0);
        expect(evc_gcm_open(key, iv, 12, aad, 0, in, out, text, tag, 16) == EVC_ERR_LENGTH, "long", 1, 0);
        expect(evc_gcm_seal(key, iv, 12, aad, data, in, out, 1, tag, 16) == EVC_ERR_LENGTH, "long", 2, 0);
        expect(evc_gcm_seal(key, iv, data, aad, 0, in, out, 1, tag, 16) == EVC_ERR_NONCE_SIZE, "long", 3, 0);
    }
}

static void bad_keys_are_refused(void)
{
    const struct evc_aes *aes = evc_aes_named("c_ref");
    const struct evc_ghash *ghash = evc_ghash_named("c_ref");
    static union evc_gcm_key key;

    for (unsigned bits = 0; bits <= 512; bits += 32) {
        bool good = bits == 128 || bits == 192 || bits == 256;
        memset(&key, 0xa5, sizeof key);
        expect(evc_gcm_set_pair(&key, aes, ghash, in, bits) == (good ? EVC_OK : EVC_ERR_KEY_SIZE),
               "key size", bits, 0);
        expect(good || all_zero(key.bytes, sizeof key), "a refused key is wiped", bits, 0);
        expect(evc_gcm_set_key(&key, NULL, in, bits) == (good ? EVC_ERR_KERNEL : EVC_ERR_KEY_SIZE),
               "no kernel", bits, 0);
    }
    expect(evc_gcm_set_pair(&key, NULL, ghash, in, 128) == EVC_ERR_KERNEL, "no aes", 0, 0);
    expect(evc_gcm_set_pair(&key, aes, NULL, in, 128) == EVC_ERR_KERNEL, "no ghash", 0, 0);
    expect(evc_gcm_set_pair(&key, aes, evc_ghash_named("c_table8"), in, 128) == EVC_ERR_KERNEL,
           "a ghash whose key does not fit", 0, 0);
    expect(all_zero(key.bytes, sizeof key), "a refused pair is wiped", 0, 0);
}

int main(void)
{
    static union evc_gcm_key key;

    bad_keys_are_refused();
    every_pair_seals_and_opens();
    make_key(&key, NULL, evc_aes_select(evc_cpu_features(), 0, EVC_USE_PARALLEL),
             evc_ghash_select(evc_cpu_features(), 0), 256);
    every_length_equals_the_model(&key);
    tags_are_of_the_sizes_allowed(&key);
    calls_out_of_order_are_refused(&key);
    limits_are_kept(&key);
    every_kernel_equals_the_model();
    make_key(&key, NULL, evc_aes_named("c_fixslice32"), evc_ghash_named("c_ctmul32"), 128);
    every_length_equals_the_model(&key);
    printf("%u passed, %u failed\n", n_checks - n_failures, n_failures);
    return n_failures ? 1 : 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * subject FUNCTION KEY_BITS BYTES...
 *
 * Calls a function of a subject once for each length, between region_begin and region_end, which a tracer looks for.
 * Answers are compared with the kernel c_ref; exit code 1 where one is wrong.
 *
 * SUBJECT_FUNCTIONS, of the subject's TOML: FUNCTION(c_name, mode, key function or nothing) ...
 */
#include "subject.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aes/fips197_key.h"
#include "everycore/aes.h"
#include "everycore/gcm.h"
#include "everycore/ghash.h"
#include "everycore/modes.h"

extern const struct evc_aes evc_aes_c_ref;
extern const struct evc_ghash evc_ghash_c_ref;

enum mode {
    MODE_ecb_enc,
    MODE_ecb_dec,
    MODE_cbc_enc,
    MODE_cbc_dec,
    MODE_ctr,
    MODE_xts_enc,
    MODE_xts_dec,
    MODE_ghash,
    MODE_gcm_seal,
    MODE_gcm_open,
};

#define KEY(name) void name(struct subject_job *job);
#define FUNCTION(name, mode, key) void name(struct subject_job *job);
SUBJECT_KEYS
SUBJECT_FUNCTIONS
#undef FUNCTION

struct function {
    const char *name;
    enum mode mode;
    void (*run)(struct subject_job *job);
    void (*key)(struct subject_job *job);
};

#define NO_KEY NULL
#define FUNCTION(name, mode, key) {#name, MODE_##mode, name, key},
static const struct function functions[] = {SUBJECT_FUNCTIONS};

#define MARGIN 64
#define FILL 0xa5

SUBJECT_GLUE void region_begin(void)
{
    __asm__ volatile("");
}

SUBJECT_GLUE void region_end(void)
{
    __asm__ volatile("");
}

SUBJECT_GLUE static void call(const struct function *function, struct subject_job *job, bool traced)
{
    if (traced)
        region_begin();
    function->run(job);
    if (traced)
        region_end();
#if defined __aarch64__ /* kernels of operating systems need not keep what the AAPCS wants kept */
    __asm__ volatile("" ::: "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "memory");
#elif defined __arm__ && defined __ARM_FP
    __asm__ volatile("" ::: "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15", "memory");
#endif
}

/* ---- What is right --------------------------------------------------------------------------------- */

struct material {
    uint8_t user_key[32], tweak_key[32], iv[16], h[8][16];
    struct evc_aes_xts_key xts;
    union evc_aes_key aes;
    union evc_ghash_key ghash;
    union evc_gcm_key gcm;
};

static void fill(uint8_t *to, size_t n_bytes, uint32_t seed)
{
    for (size_t i = 0; i < n_bytes; i++) {
        seed = seed * 1664525 + 1013904223; /* Numerical Recipes, 2nd edition, section 7.1 */
        to[i] = (uint8_t)(seed >> 24);
    }
}

static void make_keys(struct material *m, unsigned key_bits)
{
    uint8_t both[64];
    const uint8_t zero[16] = {0};

    fill(m->user_key, sizeof m->user_key, 1);
    fill(m->tweak_key, sizeof m->tweak_key, 2);
    fill(m->iv, sizeof m->iv, 3);
    m->iv[12] = 0; /* a counter of 32 bits does not wrap */
    memcpy(both, m->user_key, key_bits / 8);
    memcpy(both + key_bits / 8, m->tweak_key, key_bits / 8);
    if (evc_aes_set_key(&m->aes, &evc_aes_c_ref, m->user_key, key_bits) != EVC_OK) {
        fprintf(stderr, "no keys of %u bits\n", key_bits);
        exit(2);
    }
    evc_aes_xts_set_key(&m->xts, &evc_aes_c_ref, &evc_aes_c_ref, both, key_bits); /* wiped where not 128 or 256 */
    evc_gcm_set_pair(&m->gcm, &evc_aes_c_ref, &evc_ghash_c_ref, m->user_key, key_bits);
    evc_aes_encrypt(&m->aes, zero, m->h[0], 1);
    evc_ghash_set_key(&m->ghash, &evc_ghash_c_ref, m->h[0]);
    for (unsigned i = 1; i < 8; i++) { /* the hash of one block is that block times H */
        memset(m->h[i], 0, 16);
        evc_ghash_blocks(&m->ghash, m->h[i], m->h[i - 1], 1);
    }
}

static enum mode inverse(enum mode mode)
{
    switch (mode) {
    case MODE_ecb_dec: return MODE_ecb_enc;
    case MODE_cbc_dec: return MODE_cbc_enc;
    case MODE_xts_dec: return MODE_xts_enc;
    case MODE_gcm_open: return MODE_gcm_seal;
    default: return mode;
    }
}

/* By c_ref, never a decryption. */
static void answer(const struct material *m, enum mode mode, const uint8_t *in, uint8_t *out, size_t n_bytes,
                   uint8_t tag[16])
{
    uint8_t iv[16];

    memcpy(iv, m->iv, 16);
    memset(tag, 0, 16);
    switch (mode) {
    case MODE_ecb_enc: evc_aes_encrypt(&m->aes, in, out, n_bytes / 16); break;
    case MODE_cbc_enc: evc_aes_cbc_encrypt(&m->aes, iv, in, out, n_bytes); break;
    case MODE_ctr: evc_aes_ctr(&m->aes, iv, in, out, n_bytes); break;
    case MODE_xts_enc: evc_aes_xts_encrypt(&m->xts, iv, in, out, n_bytes); break;
    case MODE_ghash: evc_ghash_blocks(&m->ghash, tag, in, n_bytes / 16); break;
    case MODE_gcm_seal: evc_gcm_seal(&m->gcm, iv, 12, NULL, 0, in, out, n_bytes, tag, 16); break;
    default: break;
    }
}

/* ---- One call --------------------------------------------------------------------------------------- */

static uint8_t *buffer(size_t n_bytes)
{
    uint8_t *memory = aligned_alloc(64, (n_bytes + 2 * MARGIN + 63) / 64 * 64);

    if (!memory) {
        fprintf(stderr, "no memory for %zu bytes\n", n_bytes);
        exit(2);
    }
    memset(memory, FILL, n_bytes + 2 * MARGIN);
    return memory + MARGIN;
}

static bool untouched(const uint8_t *buffer, size_t n_bytes)
{
    for (size_t i = 0; i < MARGIN; i++) {
        if (buffer[n_bytes + i] != FILL || buffer[-1 - (ptrdiff_t)i] != FILL)
            return false;
    }
    return true;
}

/* A function that judges the tag itself must refuse another one. */
static bool refuses(const struct function *function, struct subject_job job, const struct material *m)
{
    uint8_t iv[16], other[16];

    memcpy(iv, m->iv, 16);
    memcpy(other, job.given_tag, 16);
    other[15] ^= 1;
    job.iv = iv;
    job.given_tag = other;
    job.opened = 0;
    if (function->key)
        function->key(&job);
    call(function, &job, false);
    return !job.opened;
}

static bool is_right(const struct function *function, unsigned key_bits, size_t n_bytes)
{
    static struct material m;
    static uint8_t own[2][16384] __attribute__((aligned(64)));
    enum mode mode = function->mode, forward = inverse(mode);
    uint8_t *plain = buffer(n_bytes), *cipher = buffer(n_bytes), *out = buffer(n_bytes);
    uint8_t iv[16], tag[16] = {0}, right_tag[16];

    make_keys(&m, key_bits);
    memcpy(iv, m.iv, 16);
    fill(plain, n_bytes, 4);
    answer(&m, forward, plain, cipher, n_bytes, right_tag);

    const struct evc_aes_fips197_key *key = (const void *)&m.aes, *tweak = (const void *)&m.xts.tweak;
    struct subject_job job = {
        .key_bits = key_bits,
        .rounds = m.aes.head.rounds,
        .user_key = m.user_key,
        .tweak_key = m.tweak_key,
        .enc = key->enc[0],
        .dec = key->dec[0],
        .tweak_enc = tweak->enc[0],
        .in = forward == mode ? plain : cipher,
        .out = out,
        .n_bytes = n_bytes,
        .n_blocks = n_bytes / 16,
        .iv = iv,
        .tag = tag,
        .given_tag = right_tag,
        .own = own[0],
        .own2 = own[1],
    };
    for (unsigned i = 0; i < 8; i++)
        job.h[i] = m.h[i];
    if (function->key)
        function->key(&job);
    call(function, &job, true);

    bool same = mode == MODE_ghash || memcmp(out, forward == mode ? cipher : plain, n_bytes) == 0;
    bool authentic = (mode != MODE_ghash && mode != MODE_gcm_seal && mode != MODE_gcm_open) ||
                     (job.opened ? refuses(function, job, &m) : memcmp(tag, right_tag, 16) == 0);
    bool inside = untouched(out, n_bytes);
    if (!same || !authentic || !inside)
        printf("%s: AES-%u, %zu bytes: %s\n", function->name, key_bits, n_bytes,
               !same ? "the output is wrong" : !authentic ? "the tag is wrong" : "writes outside of its output");
    free(plain - MARGIN);
    free(cipher - MARGIN);
    free(out - MARGIN);
    return same && authentic && inside;
}

int main(int argc, char **argv)
{
    const struct function *function = NULL;
    bool right = true;

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (argc > 3 && strcmp(argv[1], functions[i].name) == 0)
            function = &functions[i];
    }
    if (!function) {
        fprintf(stderr, "usage: subject FUNCTION KEY_BITS BYTES...\n");
        return 2;
    }
    for (int i = 3; i < argc; i++)
        right &= is_right(function, (unsigned)atoi(argv[2]), (size_t)atol(argv[i]));
    return right ? 0 : 1;
}

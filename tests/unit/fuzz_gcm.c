/* SPDX-License-Identifier: MIT */
/*
 * GCM fuzzed: messages in pieces against messages in one call, and every kernel against a pair of
 * tables.
 *
 * An input says how a message is cut, not what is in it: the kernel, the sizes of key, IV,
 * associated data and tag, the lengths of the pieces. All bytes come from a generator that the
 * input seeds.
 *
 * With -DEVC_FUZZ and -fsanitize=fuzzer this is a target of libFuzzer (tools/fuzz). Without, it is
 * a program that takes a file of inputs, one a line in hexadecimal, and tries each on every fused
 * kernel and one pair in eight, others for the next: fuzz_gcm tests/unit/fuzz_gcm.txt
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everycore/cpu.h"
#include "everycore/gcm.h"

#define MAX_IV 80    /* bytes */
#define MAX_AAD 1024 /* bytes */
#define MAX_PIECES 16
#define MAX_PIECE 1100 /* bytes; the largest kernels work on 1024 at once */
#define MAX_TEXT (MAX_PIECES * MAX_PIECE)
#define MAX_KERNELS 1024

/* fused: NULL for a pair. */
static struct kernel {
    const struct evc_gcm *fused;
    const struct evc_aes *aes;
    const struct evc_ghash *ghash;
} kernels[MAX_KERNELS];
static size_t n_kernels;

static struct message {
    uint8_t user_key[32], iv[MAX_IV], aad[MAX_AAD], text[MAX_TEXT], sealed[MAX_TEXT], tag[16];
    unsigned key_bits;
    size_t iv_bytes, aad_bytes, aad_cut, text_bytes, tag_bytes, n_pieces, pieces[MAX_PIECES];
    size_t flipped; /* a bit of the tag */
    int in_place;
} m;

static uint8_t out[MAX_TEXT];
static struct kernel now; /* under test */

/* ---- Kernels --------------------------------------------------------------------------------- */

static int runs(const struct evc_kernel *kernel)
{
    return evc_kernel_runs(kernel, evc_cpu_features() | EVC_CPU(CT_MUL));
}

static void find_kernels(void)
{
    const struct evc_gcm *gcm;
    const struct evc_aes *aes;
    const struct evc_ghash *ghash;

    for (unsigned i = 0; (gcm = evc_gcm_at(i)) != NULL; i++)
        if (runs(evc_gcm_kernel(gcm)))
            kernels[n_kernels++] = (struct kernel){gcm, NULL, NULL};
    for (unsigned i = 0; (aes = evc_aes_at(i)) != NULL; i++)
        for (unsigned j = 0; (ghash = evc_ghash_at(j)) != NULL && n_kernels < MAX_KERNELS; j++)
            if (runs(evc_aes_kernel(aes)) && runs(evc_ghash_kernel(ghash)) &&
                evc_ghash_kernel(ghash)->key_bytes <= sizeof(union evc_ghash_key))
                kernels[n_kernels++] = (struct kernel){NULL, aes, ghash};
}

static void must(int holds, const char *what)
{
    if (holds)
        return;
    const struct evc_kernel *first =
        now.fused ? evc_gcm_kernel(now.fused) : evc_aes_kernel(now.aes);
    fprintf(stderr,
            "%s%s%s: %s (%u-bit key, IV %zu, associated data %zu, text %zu bytes in %zu pieces)\n",
            first->name, now.fused ? "" : "+", now.fused ? "" : evc_ghash_kernel(now.ghash)->name,
            what, m.key_bits, m.iv_bytes, m.aad_bytes, m.text_bytes, m.n_pieces);
    abort();
}

static void set_key(union evc_gcm_key *key, const struct kernel *k)
{
    if (k->fused)
        must(evc_gcm_set_key(key, k->fused, m.user_key, m.key_bits) == EVC_OK, "takes no key");
    else
        must(evc_gcm_set_pair(key, k->aes, k->ghash, m.user_key, m.key_bits) == EVC_OK,
             "takes no key");
    must(evc_gcm_allow_short_tags(key) == EVC_OK, "allows no short tags");
}

/* ---- Inputs ---------------------------------------------------------------------------------- */

struct input {
    const uint8_t *at, *end;
};

static size_t take(struct input *in, size_t below) /* two bytes, or one where that is enough */
{
    size_t x = 0;

    for (size_t reach = 1; reach < below; reach <<= 8)
        x = x << 8 | (in->at < in->end ? *in->at++ : 0);
    return x % below;
}

/* xorshift64: Marsaglia 2003, "Xorshift RNGs", section 3. */
static void fill(uint64_t *state, uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        bytes[i] = (uint8_t)(*state >> 32);
    }
}

static size_t read_message(const uint8_t *data, size_t size)
{
    static const uint8_t tags[] = {16, 15, 14, 13, 12, 8, 4, 16};
    struct input in = {data, data + size};
    uint64_t state = 0x9e3779b97f4a7c15;
    size_t kernel = take(&in, 65536), flags = take(&in, 256);

    for (size_t i = 0; i < size; i++)
        state = (state ^ data[i]) * 0x100000001b3 + 1;
    state |= 1; /* a generator of zeros stays there */
    m.key_bits = 128 + 64 * (unsigned)(flags % 3);
    m.tag_bytes = tags[flags >> 2 & 7];
    m.in_place = flags >> 5 & 1;
    m.iv_bytes = flags >> 6 ? 12 : 1 + take(&in, MAX_IV);
    m.aad_bytes = take(&in, MAX_AAD + 1);
    m.aad_cut = take(&in, m.aad_bytes + 1);
    m.flipped = take(&in, 128) % (8 * m.tag_bytes);
    m.n_pieces = m.text_bytes = 0;
    while (in.at < in.end && m.n_pieces < MAX_PIECES) {
        m.pieces[m.n_pieces] = take(&in, MAX_PIECE + 1);
        m.text_bytes += m.pieces[m.n_pieces++];
    }
    fill(&state, m.user_key, sizeof m.user_key);
    fill(&state, m.iv, m.iv_bytes);
    fill(&state, m.aad, m.aad_bytes);
    fill(&state, m.text, m.text_bytes);
    return kernel % n_kernels;
}

/* ---- What must hold -------------------------------------------------------------------------- */

static void in_one_call(const union evc_gcm_key *key)
{
    uint8_t tag[16];

    memcpy(out, m.text, m.text_bytes);
    must(evc_gcm_seal(key, m.iv, m.iv_bytes, m.aad, m.aad_bytes, m.in_place ? out : m.text, out,
                      m.text_bytes, tag, 16) == EVC_OK,
         "does not seal");
    must(memcmp(out, m.sealed, m.text_bytes) == 0, "another ciphertext");
    must(memcmp(tag, m.tag, 16) == 0, "another tag");
    must(evc_gcm_open(key, m.iv, m.iv_bytes, m.aad, m.aad_bytes, m.in_place ? out : m.sealed, out,
                      m.text_bytes, m.tag, m.tag_bytes) == EVC_OK,
         "does not open");
    must(memcmp(out, m.text, m.text_bytes) == 0, "another plaintext");
}

static void in_pieces(const union evc_gcm_key *key, int sealing)
{
    const uint8_t *from = sealing ? m.text : m.sealed, *expected = sealing ? m.sealed : m.text;
    struct evc_gcm_state state;
    uint8_t tag[16];

    memcpy(out, from, m.text_bytes);
    must(evc_gcm_start(key, &state, m.iv, m.iv_bytes) == EVC_OK, "does not start");
    must(evc_gcm_aad(key, &state, m.aad, m.aad_cut) == EVC_OK, "refuses associated data");
    must(evc_gcm_aad(key, &state, m.aad + m.aad_cut, m.aad_bytes - m.aad_cut) == EVC_OK,
         "refuses associated data");
    for (size_t i = 0, at = 0; i < m.n_pieces; at += m.pieces[i++])
        must((sealing ? evc_gcm_seal_update : evc_gcm_open_update)(
                 key, &state, (m.in_place ? out : from) + at, out + at, m.pieces[i]) == EVC_OK,
             "refuses a piece");
    if (sealing) {
        must(evc_gcm_seal_finish(key, &state, tag, m.tag_bytes) == EVC_OK, "does not finish");
        must(memcmp(tag, m.tag, m.tag_bytes) == 0, "another tag in pieces");
    } else {
        must(evc_gcm_open_finish(key, &state, m.tag, m.tag_bytes) == EVC_OK, "refuses its own tag");
    }
    must(memcmp(out, expected, m.text_bytes) == 0, "another text in pieces");
}

static void forged(const union evc_gcm_key *key)
{
    m.tag[m.flipped / 8] ^= (uint8_t)(1 << m.flipped % 8);
    must(evc_gcm_open(key, m.iv, m.iv_bytes, m.aad, m.aad_bytes, m.sealed, out, m.text_bytes, m.tag,
                      m.tag_bytes) == EVC_ERR_TAG,
         "accepts a forgery");
    for (size_t i = 0; i < m.text_bytes; i++)
        must(out[i] == 0, "leaves something of a forgery");
    m.tag[m.flipped / 8] ^= (uint8_t)(1 << m.flipped % 8);
}

/* Computes the answer that every kernel must give, by tables, which share no
 * code with the others. */
static void know_message(void)
{
    const struct kernel tables = {NULL, evc_aes_named("c_ttable4"), evc_ghash_named("c_table4")};
    union evc_gcm_key key;

    set_key(&key, &tables);
    must(evc_gcm_seal(&key, m.iv, m.iv_bytes, m.aad, m.aad_bytes, m.text, m.sealed, m.text_bytes,
                      m.tag, 16) == EVC_OK,
         "does not seal");
}

static void try_kernel(size_t index)
{
    union evc_gcm_key key;

    now = kernels[index];
    set_key(&key, &now);
    in_one_call(&key);
    in_pieces(&key, 1);
    in_pieces(&key, 0);
    forged(&key);
}

/* ---- The target, and the program ------------------------------------------------------------- */

#if defined(EVC_FUZZ)
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!n_kernels)
        find_kernels();
    size_t kernel = read_message(data, size);
    know_message();
    try_kernel(kernel);
    return 0;
}
#else
static size_t unhex(uint8_t *to, const char *hex)
{
    size_t n = 0;

    for (unsigned byte; sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
        to[n] = (uint8_t)byte;
    return n;
}

int main(int argc, char **argv)
{
    char line[1024];
    uint8_t data[512];
    unsigned n_inputs = 0;
    FILE *inputs = argc == 2 ? fopen(argv[1], "r") : NULL;

    if (!inputs) {
        fprintf(stderr, "usage: fuzz_gcm FILE (of inputs, one a line in hexadecimal)\n");
        return 2;
    }
    find_kernels();
    while (fgets(line, sizeof line, inputs)) {
        if (line[0] == '#')
            continue;
        read_message(data, unhex(data, line));
        know_message();
        for (size_t i = 0; i < n_kernels; i++)
            if (kernels[i].fused || i % 8 == n_inputs % 8)
                try_kernel(i);
        n_inputs++;
    }
    printf("%u inputs on %zu kernels and pairs\n", n_inputs, n_kernels);
    return n_inputs == 0;
}
#endif

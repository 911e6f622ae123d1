/* SPDX-License-Identifier: MIT */
#include "peer_numbers.h"

#include <string.h>

#include "everycore/bn.h"
#include "everycore/bn_words.h"

#include "must.h"
#include "peer_layers.h"
#include "random.h"

#define MODULUS_BYTES 24576
#define SCRATCH_BYTES (1u << 18)
#define W 65521 /* the word of mod-word16: the largest prime below 2^16 */

typedef evc_bn_word word;
#define MOST_WORDS (PEER_MOST_NUMBER_BYTES / sizeof(word))

const char *peer_number_primitive(const char *mode)
{
    static const char *const numbers[] = {"mont-mul", "mont-sqr", "exp", "exp-public"};
    static const char *const words[] = {"mul-add-words", "mod-word16", "mod-word16-once"};

    if (peer_layer_of(mode) != PEER_NO_LAYER)
        return "bn"; /* as bench has it */
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(mode, numbers[i]) == 0)
            return "bn";
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(mode, words[i]) == 0)
            return "bn_words";
    return NULL;
}

size_t peer_number_length_used(const char *mode, size_t n_bytes)
{
    if (peer_layer_of(mode) != PEER_NO_LAYER)
        return peer_layer_length_used(peer_layer_of(mode), n_bytes);
    return n_bytes < EVC_BN_MIN_BITS / 8 || n_bytes > PEER_MOST_NUMBER_BYTES ? 0 : n_bytes / 8 * 8;
}

void peer_numbers_make(const char *mode, uint8_t *key, size_t n_bytes, uint64_t seed)
{
    struct random r = {seed};

    if (peer_layer_of(mode) != PEER_NO_LAYER) {
        peer_layer_make(peer_layer_of(mode), key, n_bytes, &r);
        return;
    }
    random_bytes(&r, key, 3 * n_bytes);
    key[0] |= 0x80;
    key[n_bytes - 1] |= 1;
    key[n_bytes] &= 0x7f;
    key[2 * n_bytes] &= 0x7f;
}

/* The kernel is that by which bench judges, too: c_ref takes minutes for a long power. */
static void modulo_n(const char *mode, const uint8_t *key, size_t n_bytes, uint8_t *out)
{
    static EVC_ALIGN(64) uint8_t memory[MODULUS_BYTES];
    static uint8_t scratch[SCRATCH_BYTES];
    static const uint8_t e65537[] = {1, 0, 1};
    const struct evc_bn_modulus *const n = (const void *)memory;
    const uint8_t *const a = key + n_bytes, *const b = a + n_bytes;

    must(evc_bn_set_modulus_in(memory, sizeof memory, evc_bn_named("c_limb32"), key, n_bytes));
    if (strcmp(mode, "mont-mul") == 0)
        must(evc_bn_mod_mul(n, a, b, out, scratch, sizeof scratch));
    else if (strcmp(mode, "mont-sqr") == 0)
        must(evc_bn_mod_sqr(n, a, out, scratch, sizeof scratch));
    else if (strcmp(mode, "exp") == 0)
        must(evc_bn_exp(n, a, b, n_bytes, out, scratch, sizeof scratch));
    else
        must(evc_bn_exp_public(n, a, e65537, sizeof e65537, out, scratch, sizeof scratch));
}

static size_t words_of(word *r, const uint8_t *bytes, size_t n_bytes)
{
    const size_t n_words = n_bytes / sizeof(word);

    for (size_t i = 0; i < n_words; i++) {
        r[i] = 0;
        for (size_t j = 0; j < sizeof(word); j++)
            r[i] |= (word)bytes[n_bytes - 1 - i * sizeof(word) - j] << (8 * j);
    }
    return n_words;
}

static void store_words(uint8_t *out, const word *a, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        out[n_bytes - 1 - i] = (uint8_t)(a[i / sizeof(word)] >> (8 * (i % sizeof(word))));
}

/* a + b w modulo 2^(8 n_bytes), where w are the lowest 64 bits of n: a row for each word of w. */
static void multiply_and_add(const uint8_t *key, size_t n_bytes, uint8_t *out)
{
    const struct evc_bn_words *const kernel = evc_bn_words_named("c_ref");
    static word r[MOST_WORDS], a[MOST_WORDS], w[8 / sizeof(word)];
    const size_t n_words = words_of(r, key + n_bytes, n_bytes);

    words_of(a, key + 2 * n_bytes, n_bytes);
    words_of(w, key + n_bytes - 8, 8);
    for (size_t i = 0; i < 8 / sizeof(word); i++)
        kernel->mul_add_words(r + i, a, n_words - i, w[i]);
    store_words(out, r, n_bytes);
}

static void remainder_of_a(const uint8_t *key, size_t n_bytes, uint8_t *out)
{
    uint32_t rest = 0;

    for (size_t i = 0; i < n_bytes; i++)
        rest = (rest << 8 | key[n_bytes + i]) % W;
    memset(out, 0, n_bytes);
    out[n_bytes - 2] = (uint8_t)(rest >> 8);
    out[n_bytes - 1] = (uint8_t)rest;
}

bool peer_number_agrees(const char *mode, const uint8_t *key, size_t n_bytes, void *context,
                        peer_run *run, struct peer_fault *fault)
{
    static uint8_t expected[PEER_MOST_NUMBER_BYTES], got[PEER_MOST_NUMBER_BYTES];
    const struct peer_message message = {.out = got, .len_bytes = n_bytes};

    memset(got, 0, sizeof got);
    if (strcmp(mode, "mul-add-words") == 0)
        multiply_and_add(key, n_bytes, expected);
    else if (strncmp(mode, "mod-word16", 10) == 0)
        remainder_of_a(key, n_bytes, expected);
    else if (peer_layer_of(mode) != PEER_NO_LAYER)
        peer_layer_answer(peer_layer_of(mode), key, n_bytes, expected);
    else
        modulo_n(mode, key, n_bytes, expected);
    if (!run(context, &message))
        return peer_fails(mode, "refused", fault);
    return peer_same(mode, "result", expected, got, n_bytes, fault);
}

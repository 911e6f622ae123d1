/* SPDX-License-Identifier: MIT */
/*
 * The subject's TOML defines SUBJECT_KEYS, SUBJECT_FUNCTIONS, SUBJECT_VECTORS: KEY(key function)
 * ..., FUNCTION(c_name, mode, key function) ..., OWN(c_name, n_out, key function, that of the
 * reference) ..., VECTOR(c_name, key, iv, in, out) ...: texts of hex.
 */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aes/fips197_key.h"

#define KEY(name) void name(struct subject_job *job), reference_##name(struct subject_job *job);
#define FUNCTION(name, mode, key) void name(struct subject_job *job);
#define OWN(name, n_out, key, reference_key) \
    void name(struct subject_job *job), reference_##name(struct subject_job *job);
SUBJECT_KEYS
SUBJECT_FUNCTIONS
#undef FUNCTION
#undef OWN

#define NO_KEY NULL
#define FUNCTION(name, mode, key) {#name, MODE_##mode, name, key, NULL, NULL, 0},
#define OWN(name, n_out, key, reference_key) \
    {#name, MODE_own, name, key, reference_##name, reference_key, n_out},
static const struct function functions[] = {SUBJECT_FUNCTIONS};

const struct function *find_function(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(name, functions[i].name) == 0)
            return &functions[i];
    }
    return NULL;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

#define MARGIN 64
#define FILL 0xa5

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

/* ---- The call -------------------------------------------------------------------------------- */

SUBJECT_GLUE void region_begin(void)
{
    __asm__ volatile("");
}

SUBJECT_GLUE void region_end(void)
{
    __asm__ volatile("");
}

void call_make(struct call *call, const struct function *function, unsigned key_bits,
               size_t n_bytes)
{
    call->function = function;
    call->key_bits = key_bits;
    call->n_bytes = n_bytes;
    call->n_out = function->n_out ? function->n_out : output_bytes(function->mode, n_bytes);
    call->plain = buffer(n_bytes), call->cipher = buffer(call->n_out),
    call->out = buffer(call->n_out);
    call->wrong_vector = NULL;
}

/* Asks the subject as it was made by a compiler that is trusted. */
static void ask_reference(struct call *call)
{
    static uint8_t own[2][SUBJECT_OWN_BYTES] __attribute__((aligned(64)));
    struct subject_job job = call->job;
    uint8_t iv[16], tag[16];

    memset(own, 0, sizeof own);
    memcpy(iv, call->iv, 16);
    job.iv = iv, job.tag = tag, job.own = own[0], job.own2 = own[1], job.out = call->cipher;
    if (call->function->reference_key)
        call->function->reference_key(&job);
    call->function->reference(&job);
}

/* Makes all else of the keys, the IV and the text. */
static void expand(struct call *call)
{
    static uint8_t own[2][SUBJECT_OWN_BYTES] __attribute__((aligned(64)));
    const struct function *function = call->function;
    enum mode forward = inverse(function->mode);
    struct material *m = &call->material;
    size_t n_bytes = call->n_bytes;

    expand_keys(m, call->key_bits, function->mode);
    memcpy(call->iv, m->iv, 16);
    memset(call->tag, 0, 16);
    answer(m, forward, call->plain, call->cipher, n_bytes, call->right_tag);

    const struct evc_aes_fips197_key *key = (const void *)&m->aes,
                                     *tweak = (const void *)evc_aes_xts_tweak_key(&m->xts);
    call->job = (struct subject_job){
        .key_bits = call->key_bits,
        .rounds = m->aes.head.rounds,
        .user_key = m->user_key,
        .tweak_key = m->tweak_key,
        .enc = key->enc[0],
        .dec = key->dec[0],
        .tweak_enc = tweak->enc[0],
        .in = forward == function->mode ? call->plain : call->cipher,
        .out = call->out,
        .n_bytes = n_bytes,
        .n_blocks = n_bytes / 16,
        .iv = call->iv,
        .tag = call->tag,
        .given_tag = call->right_tag,
        .own = own[0],
        .own2 = own[1],
    };
    for (unsigned i = 0; i < 8; i++)
        call->job.h[i] = m->h[i];
    if (function->mode == MODE_own) {
        memset(own, 0, sizeof own);
        ask_reference(call);
    }
}

void call_draw(struct call *call, unsigned secret)
{
    struct material *m = &call->material;

    draw_keys(m, secret);
    if (call->function->mode == MODE_ctr)
        draw(m->iv, 12, IV, USUAL_SECRET), memset(m->iv + 12, 0, 4);
    draw(call->plain, call->n_bytes, TEXT, secret);
    expand(call);
}

void call_take(struct call *call, const struct input *input)
{
    struct material *m = &call->material;

    input_keys(input, m, call->key_bits);
    if (call->function->mode == MODE_ctr) { /* libgcrypt's callers keep 16 bits from wrapping */
        m->iv[12] = m->iv[13] = 0;
        m->iv[14] &= 0x7f;
    } else if (call->function->mode != MODE_own) {
        m->iv[12] = 0; /* as draw_keys */
    }
    input_text(input, m, call->plain);
    expand(call);
}

void call_key(struct call *call)
{
    if (call->function->key)
        call->function->key(&call->job);
}

/* ---- What is wrong, in words ----------------------------------------------------------------- */

#define SHOWN 8 /* bytes of an answer */

static char wrong_words[200];

/* As "WHAT is wrong (byte 3 of 64: got 5e.., expected a1..)"; NULL: both are the same. */
static const char *difference(const char *what, const uint8_t *got, const uint8_t *right,
                              size_t n_bytes)
{
    size_t first = 0;
    int n;

    while (first < n_bytes && got[first] == right[first])
        first++;
    if (first == n_bytes)
        return NULL;
    size_t last = n_bytes - first < SHOWN ? n_bytes : first + SHOWN;
    n = snprintf(wrong_words, sizeof wrong_words, "%s is wrong (byte %zu of %zu: got ", what, first,
                 n_bytes);
    for (size_t i = first; i < last; i++)
        n += snprintf(wrong_words + n, sizeof wrong_words - (size_t)n, "%02x", got[i]);
    n += snprintf(wrong_words + n, sizeof wrong_words - (size_t)n, ", expected ");
    for (size_t i = first; i < last; i++)
        n += snprintf(wrong_words + n, sizeof wrong_words - (size_t)n, "%02x", right[i]);
    snprintf(wrong_words + n, sizeof wrong_words - (size_t)n, ")");
    return wrong_words;
}

/* ---- Check vectors --------------------------------------------------------------------------- */

struct vector {
    const char *function, *key, *iv, *in, *out;
};

#ifndef SUBJECT_VECTORS
#define SUBJECT_VECTORS
#endif
#define VECTOR(name, key, iv, in, out) {#name, key, iv, in, out},
static const struct vector vectors[] = {SUBJECT_VECTORS{NULL, NULL, NULL, NULL, NULL}};

/* As a buffer; the digits are hex: the lab looks at them. */
static uint8_t *bytes_of(const char *hex)
{
    uint8_t *bytes = buffer(strlen(hex) / 2);

    for (size_t i = 0; hex[2 * i]; i++)
        sscanf(hex + 2 * i, "%2hhx", &bytes[i]);
    return bytes;
}

/* whose: "", or " of the trusted build". key: NULL if the function has none. */
static const char *wrong_vector(subject_call *key_of, subject_call *run, const char *whose,
                                const struct vector *v, unsigned number)
{
    static uint8_t own[2][SUBJECT_OWN_BYTES] __attribute__((aligned(64)));
    size_t n_bytes = strlen(v->in) / 2, n_out = strlen(v->out) / 2;
    uint8_t *in = bytes_of(v->in), *right = bytes_of(v->out), *out = buffer(n_out);
    uint8_t *key = bytes_of(v->key), *iv = bytes_of(v->iv), tag[16] = {0};
    struct subject_job job = {
        .key_bits = (unsigned)strlen(v->key) * 4,
        .user_key = key,
        .in = in,
        .out = out,
        .n_bytes = n_bytes,
        .n_blocks = n_bytes / 16,
        .iv = iv,
        .tag = tag,
        .own = own[0],
        .own2 = own[1],
    };

    memset(own, 0, sizeof own);
    if (key_of)
        key_of(&job);
    run(&job);
    char what[80];

    snprintf(what, sizeof what, "the answer%s to check vector %u, of %zu %s,", whose, number,
             n_bytes, n_bytes == 1 ? "byte" : "bytes");
    const char *said = difference(what, out, right, n_out);
    uint8_t *const made[] = {in, right, out, key, iv};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        free(made[i] - MARGIN);
    return said;
}

/* The first wrong answer, in words; vectors of a function are numbered from 1. NULL: all are right.
 * The trusted build must give them too: other answers are compared with its own. */
static const char *wrong_vectors(const struct function *function)
{
    const char *said = NULL;
    unsigned number = 0;

    for (const struct vector *v = vectors; v->function && !said; v++) {
        if (strcmp(v->function, function->name) != 0)
            continue;
        said = wrong_vector(function->key, function->run, "", v, ++number);
        if (!said)
            said = wrong_vector(function->reference_key, function->reference,
                                " of the trusted build", v, number);
    }
    return said;
}

void call_prepare(struct call *call, const struct function *function, unsigned key_bits,
                  size_t n_bytes)
{
    call_make(call, function, key_bits, n_bytes);
    call->wrong_vector = wrong_vectors(function);
    call_draw(call, USUAL_SECRET);
    call_key(call);
}

SUBJECT_GLUE void call_run(struct call *call)
{
    call->function->run(&call->job);
#if defined __aarch64__ /* kernels of operating systems need not keep what the AAPCS wants kept */
    __asm__ volatile("" ::: "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "memory");
#elif defined __arm__ && defined __ARM_FP
    __asm__ volatile("" ::: "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15", "memory");
#endif
}

/* ---- The judgement --------------------------------------------------------------------------- */

/* A function that judges the tag itself must refuse another one. */
static bool refuses(struct call *call)
{
    uint8_t other[16];

    memcpy(other, call->right_tag, 16);
    other[15] ^= 1;
    memcpy(call->iv, call->material.iv, 16);
    call->job.given_tag = other;
    call->job.opened = 0;
    call_key(call);
    call_run(call);
    call->job.given_tag = call->right_tag;
    return !call->job.opened;
}

const char *call_wrong(struct call *call)
{
    enum mode mode = call->function->mode;
    const uint8_t *right = inverse(mode) == mode ? call->cipher : call->plain;

    const char *said = NULL;

    if (call->wrong_vector)
        return call->wrong_vector;
    if (!untouched(call->out, call->n_out))
        return "writes outside of its output";
    if (mode != MODE_ghash &&
        (said = difference("the output", call->out, right, call->n_out)) != NULL)
        return said;
    if (mode != MODE_ghash && mode != MODE_gcm_seal && mode != MODE_gcm_open)
        return NULL;
    if (!call->job.opened)
        return difference("the tag", call->tag, call->right_tag, 16);
    return refuses(call) ? NULL : "the tag is wrong (another one was accepted)";
}

const char *call_title(const struct call *call)
{
    static char title[200];
    const struct function *f = call->function;
    const bool of_aes = f->mode <= MODE_gcm_open && f->mode != MODE_ghash;
    char key[16] = "";

    if (call->wrong_vector) /* check vectors have keys and lengths of their own */
        return f->name;
    if (of_aes)
        snprintf(key, sizeof key, "AES-%u, ", call->key_bits);
    snprintf(title, sizeof title, "%.150s: %s%zu %s", f->name, key, call->n_bytes,
             call->n_bytes == 1 ? "byte" : "bytes");
    return title;
}

void call_free(struct call *call)
{
    free(call->plain - MARGIN);
    free(call->cipher - MARGIN);
    free(call->out - MARGIN);
}

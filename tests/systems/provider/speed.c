/* SPDX-License-Identifier: MIT */
/*
 * The speed of the provider beside that of OpenSSL's own, in one process: speed FOLDER [ROUNDS]
 *
 * FOLDER: where everycore.so is. Both take turns in short runs. A line is an operation, a length,
 * nanoseconds of OpenSSL's own and of ours, both the fastest of all runs, and how many times as
 * fast we are. That is the median over pairs of runs one after the other: the speed of the core,
 * which other programs change, is nearly the same in both.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/provider.h>

enum { OURS, THEIRS, BOTH, MAX = 16384 };

static const char *const queries[BOTH] = {"provider=everycore", "provider=default"};
static uint8_t key[64], iv[16], aad[13], in[MAX + 64], out[MAX + 64], wrapped[MAX + 64], tag[16];

static void must(int done)
{
    if (done <= 0)
        exit(1);
}

/* One message as TLS 1.3 has it: the IV, associated data, text, the tag. */
static void seal(EVP_CIPHER_CTX *context, const uint8_t *user_key, int n)
{
    int written;

    iv[0]++;
    must(EVP_EncryptInit_ex(context, NULL, NULL, user_key, iv));
    must(EVP_EncryptUpdate(context, NULL, &written, aad, sizeof aad));
    must(EVP_EncryptUpdate(context, out, &written, in, n));
    must(EVP_EncryptFinal_ex(context, out, &written));
    must(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag));
}

static void seal_kept(void *context, int n)
{
    seal(context, NULL, n);
}

static void seal_new_key(void *context, int n)
{
    seal(context, key, n);
}

static void open_kept(void *context, int n)
{
    int written;

    must(EVP_DecryptInit_ex(context, NULL, NULL, NULL, iv));
    must(EVP_DecryptUpdate(context, NULL, &written, aad, sizeof aad));
    must(EVP_DecryptUpdate(context, out, &written, in, n));
    must(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, tag));
    (void)EVP_DecryptFinal_ex(context, out, &written); /* the tag is wrong, which takes as long */
}

/* Associated data of the message before are taken back first: OpenSSL's own keeps them. */
static void seal_siv(void *context, int n)
{
    int written;

    must(EVP_EncryptInit_ex(context, NULL, NULL, NULL, iv));
    must(EVP_EncryptUpdate(context, NULL, &written, aad, 0));
    must(EVP_EncryptUpdate(context, NULL, &written, aad, sizeof aad));
    must(EVP_EncryptUpdate(context, out, &written, in, n));
    must(EVP_EncryptFinal_ex(context, out, &written));
    must(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag));
}

static void open_siv(void *context, int n)
{
    int written;

    must(EVP_DecryptInit_ex(context, NULL, NULL, NULL, iv));
    must(EVP_DecryptUpdate(context, NULL, &written, aad, 0));
    must(EVP_DecryptUpdate(context, NULL, &written, aad, sizeof aad));
    must(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, tag));
    must(EVP_DecryptUpdate(context, out, &written, in, n));
    (void)EVP_DecryptFinal_ex(context, out, &written); /* the tag is wrong, which takes as long */
}

static void one_update(void *context, int n)
{
    int written;

    must(EVP_CipherUpdate(context, out, &written, in, n));
}

/* OpenSSL 4.0's own takes one text after each set-up. */
static void begin_wrap(EVP_CIPHER_CTX *context)
{
    if (OPENSSL_version_major() >= 4)
        must(EVP_CipherInit_ex(context, NULL, NULL, NULL, NULL, -1));
}

/* wrapped is the text of the last length that was wrapped. */
static void wrap_text(void *context, int n)
{
    int written;

    begin_wrap(context);
    must(EVP_CipherUpdate(context, wrapped, &written, in, n));
}

static void wrap_with_iv(void *context, int n)
{
    begin_wrap(context);
    one_update(context, n);
}

static void unwrap_text(void *context, int n)
{
    int written;

    begin_wrap(context);
    must(EVP_CipherUpdate(context, out, &written, wrapped, n));
}

static void mac(void *context, int n)
{
    size_t written;

    must(EVP_MAC_init(context, NULL, 0, NULL));
    must(EVP_MAC_update(context, in, (size_t)n));
    must(EVP_MAC_final(context, out, &written, sizeof out));
}

static void mac_new_key(void *context, int n)
{
    size_t written;

    must(EVP_MAC_init(context, key, 32, NULL));
    must(EVP_MAC_update(context, in, (size_t)n));
    must(EVP_MAC_final(context, out, &written, sizeof out));
}

static void pbkdf2(void *context, int n)
{
    unsigned n_iterations = (unsigned)n;
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string("pass", key, 16),
                                 OSSL_PARAM_construct_octet_string("salt", iv, 16),
                                 OSSL_PARAM_construct_uint("iter", &n_iterations),
                                 OSSL_PARAM_construct_end()};

    must(EVP_KDF_derive(context, out, 32, params));
}

/* n bytes in a new context, as libssl does it. */
static void derive(void *context, int n, const OSSL_PARAM *values)
{
    EVP_KDF_CTX *twin = EVP_KDF_CTX_new((EVP_KDF *)(uintptr_t)EVP_KDF_CTX_kdf(context));

    must(EVP_KDF_derive(twin, out, (size_t)n, values));
    EVP_KDF_CTX_free(twin);
}

static char hash[8]; /* of the operation that is measured */

static void hkdf(void *context, int n)
{
    int mode = EVP_KDF_HKDF_MODE_EXTRACT_AND_EXPAND;
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("digest", hash, 0),
                                 OSSL_PARAM_construct_int("mode", &mode),
                                 OSSL_PARAM_construct_octet_string("key", key, 32),
                                 OSSL_PARAM_construct_octet_string("salt", iv, 16),
                                 OSSL_PARAM_construct_octet_string("info", in, 20),
                                 OSSL_PARAM_construct_end()};

    derive(context, n, params);
}

static void tls13_kdf(void *context, int n)
{
    int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("digest", hash, 0),
                                 OSSL_PARAM_construct_int("mode", &mode),
                                 OSSL_PARAM_construct_octet_string("key", key, 48),
                                 OSSL_PARAM_construct_octet_string("prefix", in, 6),
                                 OSSL_PARAM_construct_octet_string("label", in, 12),
                                 OSSL_PARAM_construct_octet_string("data", in, 48),
                                 OSSL_PARAM_construct_end()};

    derive(context, n, params);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static const struct operation {
    const char *title, *name; /* of a cipher, or of the hash */
    void (*run)(void *, int);
    int encrypts, lengths[8];
} operations[] = {
    {"seal", "AES-256-GCM", seal_kept, 1, {16, 64, 256, 1024, 1500, 8192, 16384}},
    {"seal", "AES-128-GCM", seal_kept, 1, {16, 64, 256, 1024, 1500, 8192, 16384}},
    {"open", "AES-256-GCM", open_kept, 0, {16, 64, 256, 1024, 1500, 8192, 16384}},
    {"set key, seal", "AES-256-GCM", seal_new_key, 1, {16, 1024, 16384}},
    {"encrypt", "AES-256-CTR", one_update, 1, {16, 256, 16384}},
    {"encrypt", "AES-256-CBC", one_update, 1, {256, 16384}},
    {"decrypt", "AES-256-CBC", one_update, 0, {256, 16384}},
    {"encrypt", "AES-256-XTS", one_update, 1, {16, 512, 16384}},
    {"encrypt", "AES-256-ECB", one_update, 1, {16, 16384}},
    {"wrap", "AES-256-WRAP", wrap_text, 1, {16, 32, 256, 4096}},
    {"unwrap", "AES-256-WRAP", unwrap_text, 0, {4104}},
    {"wrap", "AES-256-WRAP", wrap_text, 1, {32}},
    {"unwrap", "AES-256-WRAP", unwrap_text, 0, {40}},
    {"wrap, an IV", "AES-256-WRAP", wrap_with_iv, 1, {16, 32, 4096}},
    {"wrap", "AES-256-WRAP-PAD", wrap_text, 1, {20, 255}},
    {"unwrap", "AES-256-WRAP-PAD", unwrap_text, 0, {264}},
    {"HMAC", "SHA256", mac, 1, {16, 64, 256, 1024, 8192, 16384}},
    {"HMAC, set key", "SHA256", mac_new_key, 1, {16, 256, 1024, 16384}},
    {"PBKDF2", "SHA256", pbkdf2, 1, {1, 10, 1000}}, /* iterations */
    {"HKDF", "SHA256", hkdf, 1, {16, 32, 255, 8160}},
    {"HKDF", "SHA384", hkdf, 1, {16, 48, 255, 8160}},
    {"TLS13-KDF", "SHA256", tls13_kdf, 1, {12, 32}},
    {"TLS13-KDF", "SHA384", tls13_kdf, 1, {12, 48}},
    {"seal", "AES-256-GCM-SIV", seal_siv, 1, {16, 64, 256, 1024, 16384}},
    {"seal", "AES-128-GCM-SIV", seal_siv, 1, {16, 64, 256, 1024, 16384}},
    {"open", "AES-256-GCM-SIV", open_siv, 0, {16, 64, 256, 1024, 16384}},
};

static int order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int is_mac(const struct operation *operation)
{
    return operation->run == mac || operation->run == mac_new_key;
}

static int is_kdf(const struct operation *operation)
{
    return operation->run == pbkdf2 || operation->run == hkdf || operation->run == tls13_kdf;
}

/* NULL: this CPU's kernel is not ahead, or this OpenSSL has no such algorithm: ours is not offered.
 * KDFs have their names as titles. */
static void *new_context(const struct operation *operation, const char *query)
{
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string("digest", (char *)(uintptr_t)operation->name, 0),
        OSSL_PARAM_construct_end()};
    const int has_iv = operation->run != wrap_text && operation->run != unwrap_text;
    EVP_CIPHER *cipher;
    EVP_MAC *method;
    EVP_KDF *kdf;
    void *context;

    if (is_mac(operation)) {
        method = EVP_MAC_fetch(NULL, "HMAC", query);
        if (!method)
            return NULL;
        context = EVP_MAC_CTX_new(method);
        must(EVP_MAC_init(context, key, 32, params));
        EVP_MAC_free(method);
        return context;
    }
    if (is_kdf(operation)) {
        snprintf(hash, sizeof hash, "%s", operation->name);
        kdf = EVP_KDF_fetch(NULL, operation->title, query);
        if (!kdf)
            return NULL;
        context = EVP_KDF_CTX_new(kdf);
        if (operation->run == pbkdf2)
            must(EVP_KDF_CTX_set_params(context, params));
        EVP_KDF_free(kdf);
        return context;
    }
    cipher = EVP_CIPHER_fetch(NULL, operation->name, query);
    if (!cipher)
        return NULL;
    context = EVP_CIPHER_CTX_new();
    EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
    must(EVP_CipherInit_ex(context, cipher, NULL, key, has_iv ? iv : NULL, operation->encrypts));
    EVP_CIPHER_free(cipher);
    return context;
}

static void measure(const struct operation *operation, int n, int rounds)
{
    const int repeats = 1 + 20000 / (n + 150);
    double best[BOTH] = {1e18, 1e18}, took[BOTH], *ratios = calloc((size_t)rounds, sizeof *ratios);
    void *contexts[BOTH];

    must(ratios != NULL);
    for (int side = OURS; side < BOTH; side++)
        if (!(contexts[side] = new_context(operation, queries[side]))) {
            free(ratios);
            return;
        }
    for (int round = 0; round < rounds; round++) {
        for (int side = OURS; side < BOTH; side++) {
            const double start = now();
            for (int i = 0; i < repeats; i++)
                operation->run(contexts[side], n);
            took[side] = (now() - start) / repeats;
            best[side] = took[side] < best[side] ? took[side] : best[side];
        }
        ratios[round] = took[THEIRS] / took[OURS];
    }
    qsort(ratios, (size_t)rounds, sizeof *ratios, order);
    printf("%-13s %s %6d %8.1f %8.1f %5.2f\n", operation->title, operation->name, n, best[THEIRS],
           best[OURS], ratios[rounds / 2]);
    free(ratios);
    for (int side = OURS; side < BOTH; side++)
        if (is_mac(operation))
            EVP_MAC_CTX_free(contexts[side]);
        else if (is_kdf(operation))
            EVP_KDF_CTX_free(contexts[side]);
        else
            EVP_CIPHER_CTX_free(contexts[side]);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    if (!OSSL_PROVIDER_load(NULL, "default") ||
        !OSSL_PROVIDER_set_default_search_path(NULL, argv[1]) ||
        !OSSL_PROVIDER_load(NULL, "everycore")) {
        fprintf(stderr, "everycore.so of %s cannot be loaded\n", argv[1]);
        return 1;
    }
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)(i * 7 + 1);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        for (int j = 0; j < 8 && operations[i].lengths[j]; j++)
            measure(&operations[i], operations[i].lengths[j],
                    argc > 2 && atoi(argv[2]) > 0 ? atoi(argv[2]) : 2000);
    return 0;
}

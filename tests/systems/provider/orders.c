/* SPDX-License-Identifier: MIT */
/*
 * The provider under calls in any order, with any pointers and lengths: orders FOLDER ROUNDS SEED
 *
 * FOLDER: where everycore.so is. Built with sanitizers, as the provider then is too, each access
 * out of bounds ends the program. Results do not matter here: OpenSSL's own contexts crash after
 * some of these calls, so nothing is compared. The last line is the count of calls.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/provider.h>

static const char *const names[] = {"AES-128-GCM", "AES-256-GCM", "AES-128-CCM", "AES-256-CCM",
                                    "AES-128-CTR", "AES-128-CBC", "AES-192-CBC", "AES-256-ECB",
                                    "AES-128-XTS", "AES-256-XTS", "AES-256-WRAP",
                                    "AES-128-WRAP-PAD", "AES-128-GCM-SIV", "AES-256-GCM-SIV"};
enum { N_NAMES = sizeof names / sizeof *names };

static uint64_t state; /* of the generator: splitmix64 of Steele, Lea, Flood 2014 */

static size_t below(size_t n)
{
    uint64_t z = state += 0x9E3779B97F4A7C15;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return (size_t)((z ^ z >> 31) % n);
}

/* n random bytes, or zeros, in memory of just this size. */
static uint8_t *some_bytes(size_t n)
{
    uint8_t *bytes = calloc(1, n ? n : 1);

    for (size_t i = 0; bytes && below(4) && i < n; i++)
        bytes[i] = (uint8_t)below(256);
    return bytes;
}

static int text_bytes(void)
{
    static const int lengths[] = {0,  1,  8,  12, 13,  15,  16,  17,  24,
                                  32, 40, 48, 64, 100, 128, 600, 5000};

    return lengths[below(sizeof lengths / sizeof *lengths)];
}

static void init(EVP_CIPHER_CTX *context)
{
    uint8_t *key = below(4) ? some_bytes(64) : NULL,
            *iv = below(4) ? some_bytes(EVP_MAX_IV_LENGTH + 128) : NULL;

    EVP_CipherInit_ex(context, NULL, NULL, key, iv, (int)below(3) - 1);
    free(key);
    free(iv);
}

/* Without output, without input, in place, a few bytes behind the input, or apart from it. */
static void update(EVP_CIPHER_CTX *context)
{
    const size_t how = below(6), shift = how == 3 ? 1 + below(16) : 0;
    const int n = text_bytes();
    uint8_t *in = some_bytes((size_t)n + shift), *out = some_bytes((size_t)n + 16 + shift);
    int written;

    if (how >= 2 && how <= 3)
        EVP_CipherUpdate(context, out, &written, out + shift, n);
    else
        EVP_CipherUpdate(context, how == 0 ? NULL : out, &written, how == 1 ? NULL : in, n);
    free(in);
    free(out);
}

static void finish(EVP_CIPHER_CTX *context)
{
    uint8_t *out = below(8) ? some_bytes(16) : NULL;
    int written;

    EVP_CipherFinal_ex(context, out, &written);
    free(out);
}

static void one_call(EVP_CIPHER_CTX *context)
{
    const int n = text_bytes(), wraps = EVP_CIPHER_CTX_get_mode(context) == EVP_CIPH_WRAP_MODE;
    uint8_t *text = some_bytes((size_t)n + (wraps ? 16 : 0));

    EVP_Cipher(context, text, text, (unsigned)n);
    free(text);
}

static void control(EVP_CIPHER_CTX *context)
{
    static const int commands[] = {
        EVP_CTRL_AEAD_GET_TAG,   EVP_CTRL_AEAD_SET_TAG,  EVP_CTRL_AEAD_SET_IVLEN,
        EVP_CTRL_AEAD_TLS1_AAD,  EVP_CTRL_AEAD_TLS1_AAD, EVP_CTRL_GCM_SET_IV_FIXED,
        EVP_CTRL_GCM_SET_IV_INV, EVP_CTRL_GCM_IV_GEN,    EVP_CTRL_CCM_SET_L,
        EVP_CTRL_SET_SPEED};
    static const int lengths[] = {-1, 0,  1,  4,  7,  8,   12,  13,  13,
                                  13, 15, 16, 17, 64, 128, 129, 200, 1 << 30};
    const int command = commands[below(sizeof commands / sizeof *commands)];
    const int n = lengths[below(sizeof lengths / sizeof *lengths)], is_far = n < 0 || n > 1000;
    /* 0 and -1: as long as the IV */
    uint8_t *data = some_bytes(n > 0 && !is_far ? (size_t)n : 256);

    if (n == 13 && below(2)) /* the length of a record that is here */
        data[11] = 0;
    EVP_CIPHER_CTX_ctrl(context, command, is_far && command != EVP_CTRL_AEAD_SET_IVLEN ? -1 : n,
                        command == EVP_CTRL_AEAD_SET_TAG && below(3) == 0 ? NULL : data);
    free(data);
}

static void set_sizes(EVP_CIPHER_CTX *context)
{
    static const unsigned versions[] = {0, 0x300, 0x301, 0x303, 0xFEFD};
    static const size_t mac_sizes[] = {0, 16, 20, 48, 64, 65, 1 << 20};
    unsigned version = versions[below(5)], position = (unsigned)below(40);
    size_t mac_bytes = mac_sizes[below(7)], bytes = below(80);
    OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_TLS_VERSION, &version),
                           OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_TLS_MAC_SIZE, &mac_bytes),
                           OSSL_PARAM_construct_end()};

    switch (below(5)) {
    case 0:
        EVP_CIPHER_CTX_set_params(context, params);
        break;
    case 1:
        EVP_CIPHER_CTX_set_num(context, (int)position);
        break;
    case 2:
        EVP_CIPHER_CTX_set_key_length(context, (int)bytes);
        break;
    case 3:
        EVP_CIPHER_CTX_set_padding(context, (int)below(2));
        break;
    case 4:
        params[0] = OSSL_PARAM_construct_size_t(
            below(2) ? OSSL_CIPHER_PARAM_KEYLEN : OSSL_CIPHER_PARAM_AEAD_IVLEN, &bytes);
        params[1] = OSSL_PARAM_construct_end();
        EVP_CIPHER_CTX_set_params(context, params);
        break;
    }
}

static void ask(EVP_CIPHER_CTX *context)
{
    const size_t n = below(140);
    uint8_t *bytes = some_bytes(n);

    if (below(2))
        EVP_CIPHER_CTX_get_updated_iv(context, bytes, n);
    else
        EVP_CIPHER_CTX_get_original_iv(context, bytes, n);
    free(bytes);
}

static EVP_CIPHER_CTX *copy(EVP_CIPHER_CTX *context)
{
    EVP_CIPHER_CTX *twin = EVP_CIPHER_CTX_new();

    if (EVP_CIPHER_CTX_copy(twin, context) <= 0) {
        EVP_CIPHER_CTX_free(twin);
        return context;
    }
    EVP_CIPHER_CTX_free(context);
    return twin;
}

/* ---- CMAC ------------------------------------------------------------------------------------ */

static void init_mac(EVP_MAC_CTX *context)
{
    static const char *const ciphers[] = {"AES-128-CBC", "aes192", "AES-256-CBC",
                                          "DES-EDE3-CBC", "AES-128-GCM", "none"};
    const size_t n = below(70);
    uint8_t *key = below(4) ? some_bytes(n) : NULL;
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string("cipher", (char *)(uintptr_t)ciphers[below(6)], 0),
        OSSL_PARAM_construct_end()};

    EVP_MAC_init(context, key, n, below(3) ? params : NULL);
    free(key);
}

static void update_mac(EVP_MAC_CTX *context)
{
    const size_t n = (size_t)text_bytes();
    uint8_t *text = some_bytes(n);

    EVP_MAC_update(context, n || below(2) ? text : NULL, n);
    free(text);
}

static void finish_mac(EVP_MAC_CTX *context)
{
    const size_t n = below(20);
    uint8_t *tag = below(6) ? some_bytes(n) : NULL;
    size_t written;

    EVP_MAC_final(context, tag, &written, n);
    free(tag);
}

static EVP_MAC_CTX *one_mac_call(EVP_MAC_CTX *context)
{
    EVP_MAC_CTX *twin;

    switch (below(6)) {
    case 0:
        init_mac(context);
        break;
    case 1:
        finish_mac(context);
        break;
    case 2:
        if (EVP_MAC_CTX_get_mac_size(context) > 16) /* none known: 0 */
            exit(1);
        break;
    case 3:
        twin = EVP_MAC_CTX_dup(context);
        if (!twin)
            break;
        EVP_MAC_CTX_free(context);
        return twin;
    default:
        update_mac(context);
    }
    return context;
}

static unsigned long mac_calls(EVP_MAC *mac)
{
    const unsigned long calls = 1 + below(14);
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);

    for (unsigned long i = 0; i < calls; i++)
        context = one_mac_call(context);
    EVP_MAC_CTX_free(context);
    return calls;
}

/* ---- KDFs ------------------------------------------------------------------------------------ */

/* Any values but none: after those, OpenSSL's own may read at no address. */
static void kdf_call(EVP_KDF_CTX *context)
{
    static const char *const names[] = {"key",  "salt", "info", "info", "prefix",
                                        "label", "data", "pass", "secret"};
    static const char *const hashes[] = {"SHA256", "SHA2-224", "SHA384", "SHA512", "SHA1", "none"};
    const size_t n = below(3) ? below(100) : below(9000);
    uint8_t *values[6], *out = some_bytes(n);
    unsigned n_iterations = (unsigned)below(4);
    int mode = (int)below(5) - 1;
    OSSL_PARAM params[10], *param = params;

    if (below(2))
        *param++ = OSSL_PARAM_construct_utf8_string(
            "digest", (char *)(uintptr_t)hashes[below(3) ? below(6) : 0], 0);
    if (below(2))
        *param++ = OSSL_PARAM_construct_int("mode", &mode);
    if (below(2))
        *param++ = OSSL_PARAM_construct_uint("iter", &n_iterations);
    for (size_t i = 0; i < 6; i++) {
        const size_t bytes = 1 + (below(4) ? below(70) : below(400));
        values[i] = some_bytes(bytes);
        *param++ = OSSL_PARAM_construct_octet_string(names[below(9)], values[i], bytes);
    }
    *param = OSSL_PARAM_construct_end();
    if (below(3))
        EVP_KDF_derive(context, out, n, below(4) ? params : NULL);
    else
        EVP_KDF_CTX_set_params(context, params);
    for (size_t i = 0; i < 6; i++)
        free(values[i]);
    free(out);
}

static unsigned long kdf_calls(EVP_KDF *kdf)
{
    const unsigned long calls = 1 + below(8);
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf), *twin;

    for (unsigned long i = 0; i < calls; i++) {
        kdf_call(context);
        (void)EVP_KDF_CTX_get_kdf_size(context);
        twin = below(4) ? NULL : EVP_KDF_CTX_dup(context);
        if (twin) {
            EVP_KDF_CTX_free(context);
            context = twin;
        }
        if (below(8) == 0)
            EVP_KDF_CTX_reset(context);
    }
    EVP_KDF_CTX_free(context);
    return calls;
}

int main(int argc, char **argv)
{
    static const char *const kdf_names[] = {"HKDF", "TLS13-KDF", "PBKDF2"};
    EVP_CIPHER *ciphers[N_NAMES];
    EVP_KDF *kdfs[3]; /* NULL: this CPU's kernel is not ahead */
    EVP_MAC *mac;
    unsigned long calls = 0;

    if (argc != 4)
        return 2;
    state = strtoull(argv[3], NULL, 10);
    if (!OSSL_PROVIDER_load(NULL, "default") ||
        !OSSL_PROVIDER_set_default_search_path(NULL, argv[1]) ||
        !OSSL_PROVIDER_load(NULL, "everycore")) {
        ERR_print_errors_fp(stdout);
        return 1;
    }
    for (int i = 0; i < N_NAMES; i++)
        if (!(ciphers[i] = EVP_CIPHER_fetch(NULL, names[i], "provider=everycore")))
            return 1;
    if (!(mac = EVP_MAC_fetch(NULL, "CMAC", "provider=everycore")))
        return 1;
    for (int i = 0; i < 3; i++)
        kdfs[i] = EVP_KDF_fetch(NULL, kdf_names[i], "provider=everycore");
    for (unsigned long round = strtoul(argv[2], NULL, 10); round--;) {
        EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();

        EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
        EVP_CipherInit_ex(context, ciphers[below(N_NAMES)], NULL, NULL, NULL, 1);
        for (size_t left = 1 + below(14); left--; calls++) {
            static void (*const kinds[])(EVP_CIPHER_CTX *) = {
                init, update, update, update, finish, one_call, control, set_sizes, set_sizes, ask};
            const size_t kind = below(11);
            if (kind < 10)
                kinds[kind](context);
            else
                context = copy(context);
        }
        EVP_CIPHER_CTX_free(context);
        if (below(4) == 0)
            calls += mac_calls(mac);
        if (kdfs[0] && below(4) == 0)
            calls += kdf_calls(kdfs[below(3)]);
        ERR_clear_error();
    }
    EVP_MAC_free(mac);
    for (int i = 0; i < 3; i++)
        EVP_KDF_free(kdfs[i]);
    for (int i = 0; i < N_NAMES; i++)
        EVP_CIPHER_free(ciphers[i]);
    printf("%lu calls in any order\n", calls);
    return 0;
}

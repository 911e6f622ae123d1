/* SPDX-License-Identifier: MIT */
/*
 * mbed TLS 2.28 and 3 (libmbedcrypto) through the functions of its modules. It has no switch for
 * hardware, but asks a public function of its own, which this executable replaces: PEER_MBEDTLS=c
 * in the environment denies AES-NI.
 */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

#include <mbedtls/aes.h>
#include <mbedtls/bignum.h>
#include <mbedtls/ccm.h>
#include <mbedtls/cipher.h>
#include <mbedtls/cmac.h>
#include <mbedtls/gcm.h>
#include <mbedtls/md.h>
#include <mbedtls/pkcs5.h>
#include <mbedtls/rsa.h>
#include <mbedtls/sha256.h>
#include <mbedtls/sha512.h>
#include <mbedtls/version.h>

struct context {
    union {
        mbedtls_aes_context aes;
        mbedtls_aes_xts_context xts;
        mbedtls_gcm_context gcm;
        mbedtls_ccm_context ccm;
        mbedtls_cipher_context_t cmac;
        struct {
            mbedtls_md_context_t md;
            mbedtls_md_type_t hash;
            unsigned char password[64];
            size_t password_bytes;
        };
        struct {
            mbedtls_mpi n, a, exponent, x, rr; /* rr: R^2, kept from call to call */
        };
        struct {
            mbedtls_rsa_context rsa;
            unsigned char in[1024], out[1024];
        };
    };
    void (*free_key)(struct context *);
};

/* ---- Hardware -------------------------------------------------------------------------------- */

static bool was_asked; /* the library called what follows, so it decides by it */

static unsigned allowed_features(void)
{
    const char *set = getenv("PEER_MBEDTLS");
    unsigned a = 1, b = 0, c = 0, d = 0;

    if (set && strcmp(set, "c") == 0)
        return 0;
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
#endif
    (void)a, (void)b, (void)d;
    return c;
}

int mbedtls_aesni_has_support(unsigned what);

/* what: bits of CPUID.1 ECX. Called for every message, like the library's own it asks the CPU once:
 * CPUID costs thousands of cycles on a virtual machine. */
int mbedtls_aesni_has_support(unsigned what)
{
    static unsigned features;

    if (!was_asked)
        features = allowed_features();
    was_asked = true;
    return (features & what) != 0;
}

static const char *hardware(void)
{
    static const uint8_t key[16];
    mbedtls_aes_context aes;
    const unsigned aes_bit = 1u << 25;

    mbedtls_aes_init(&aes);
    mbedtls_aes_setkey_enc(&aes, key, 128);
    mbedtls_aes_free(&aes);
    return !was_asked ? NULL : mbedtls_aesni_has_support(aes_bit) ? "best" : "c";
}

static const char *version(void)
{
    static char text[32];

    mbedtls_version_get_string(text);
    return text;
}

/* ---- Modes ----------------------------------------------------------------------------------- */

static bool cbc(struct context *c, int direction, const struct peer_message *m)
{
    uint8_t iv[16];

    memcpy(iv, m->iv, 16);
    return !mbedtls_aes_crypt_cbc(&c->aes, direction, m->len_bytes, iv, m->in, m->out);
}

static bool run_cbc_encrypt(void *context, const struct peer_message *m)
{
    return cbc(context, MBEDTLS_AES_ENCRYPT, m);
}

static bool run_cbc_decrypt(void *context, const struct peer_message *m)
{
    return cbc(context, MBEDTLS_AES_DECRYPT, m);
}

static bool run_ctr(void *context, const struct peer_message *m)
{
    struct context *c = context;
    uint8_t counter[16], stream[16];
    size_t used = 0;

    memcpy(counter, m->iv, 16);
    return !mbedtls_aes_crypt_ctr(&c->aes, m->len_bytes, &used, counter, stream, m->in, m->out);
}

static bool run_xts_encrypt(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return !mbedtls_aes_crypt_xts(&c->xts, MBEDTLS_AES_ENCRYPT, m->len_bytes, m->iv, m->in, m->out);
}

static bool run_xts_decrypt(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return !mbedtls_aes_crypt_xts(&c->xts, MBEDTLS_AES_DECRYPT, m->len_bytes, m->iv, m->in, m->out);
}

static bool run_gcm_seal(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return !mbedtls_gcm_crypt_and_tag(&c->gcm, MBEDTLS_GCM_ENCRYPT, m->len_bytes, m->iv, 12, m->aad,
                                      m->aad_bytes, m->in, m->out, 16, m->tag);
}

static bool run_gcm_open(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return !mbedtls_gcm_auth_decrypt(&c->gcm, m->len_bytes, m->iv, 12, m->aad, m->aad_bytes, m->tag,
                                     16, m->in, m->out);
}

static bool run_ccm_seal(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return !mbedtls_ccm_encrypt_and_tag(&c->ccm, m->len_bytes, m->iv, 12, m->aad, m->aad_bytes,
                                        m->in, m->out, m->tag, 16);
}

static bool run_ccm_open(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return !mbedtls_ccm_auth_decrypt(&c->ccm, m->len_bytes, m->iv, 12, m->aad, m->aad_bytes, m->in,
                                     m->out, m->tag, 16);
}

static bool run_cmac(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return !mbedtls_cipher_cmac_reset(&c->cmac) &&
           !mbedtls_cipher_cmac_update(&c->cmac, m->in, m->len_bytes) &&
           !mbedtls_cipher_cmac_finish(&c->cmac, m->tag);
}

#if MBEDTLS_VERSION_MAJOR >= 3
#define SHA256 mbedtls_sha256
#define SHA512 mbedtls_sha512
#else
#define SHA256 mbedtls_sha256_ret
#define SHA512 mbedtls_sha512_ret
#endif

static bool run_sha256(void *context, const struct peer_message *m)
{
    (void)context;
    return !SHA256(m->in, m->len_bytes, m->out, 0);
}

static bool run_sha512(void *context, const struct peer_message *m)
{
    (void)context;
    return !SHA512(m->in, m->len_bytes, m->out, 0);
}

static bool run_hmac(void *context, const struct peer_message *m)
{
    struct context *c = context;
    uint8_t tag[64];

    if (mbedtls_md_hmac_reset(&c->md) || mbedtls_md_hmac_update(&c->md, m->in, m->len_bytes) ||
        mbedtls_md_hmac_finish(&c->md, tag))
        return false;
    memcpy(m->tag, tag, 16);
    return true;
}

static bool run_pbkdf2(void *context, const struct peer_message *m)
{
    struct context *c = context;
    const uint32_t n_bytes = c->hash == MBEDTLS_MD_SHA256 ? 32 : 64;

#if MBEDTLS_VERSION_MAJOR >= 3
    return !mbedtls_pkcs5_pbkdf2_hmac_ext(c->hash, c->password, c->password_bytes, m->aad,
                                          m->aad_bytes, m->n_iterations, n_bytes, m->out);
#else
    return !mbedtls_pkcs5_pbkdf2_hmac(&c->md, c->password, c->password_bytes, m->aad, m->aad_bytes,
                                      m->n_iterations, n_bytes, m->out);
#endif
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static void free_aes(struct context *c)
{
    mbedtls_aes_free(&c->aes);
}

static void free_xts(struct context *c)
{
    mbedtls_aes_xts_free(&c->xts);
}

static void free_gcm(struct context *c)
{
    mbedtls_gcm_free(&c->gcm);
}

static void free_ccm(struct context *c)
{
    mbedtls_ccm_free(&c->ccm);
}

static void free_cmac(struct context *c)
{
    mbedtls_cipher_free(&c->cmac);
}

static int set_encrypt(struct context *c, const uint8_t *key, unsigned key_bits)
{
    mbedtls_aes_init(&c->aes);
    return mbedtls_aes_setkey_enc(&c->aes, key, key_bits);
}

static int set_decrypt(struct context *c, const uint8_t *key, unsigned key_bits)
{
    mbedtls_aes_init(&c->aes);
    return mbedtls_aes_setkey_dec(&c->aes, key, key_bits);
}

static int set_xts_encrypt(struct context *c, const uint8_t *key, unsigned key_bits)
{
    mbedtls_aes_xts_init(&c->xts);
    return mbedtls_aes_xts_setkey_enc(&c->xts, key, 2 * key_bits);
}

static int set_xts_decrypt(struct context *c, const uint8_t *key, unsigned key_bits)
{
    mbedtls_aes_xts_init(&c->xts);
    return mbedtls_aes_xts_setkey_dec(&c->xts, key, 2 * key_bits);
}

static int set_gcm(struct context *c, const uint8_t *key, unsigned key_bits)
{
    mbedtls_gcm_init(&c->gcm);
    return mbedtls_gcm_setkey(&c->gcm, MBEDTLS_CIPHER_ID_AES, key, key_bits);
}

static int set_ccm(struct context *c, const uint8_t *key, unsigned key_bits)
{
    mbedtls_ccm_init(&c->ccm);
    return mbedtls_ccm_setkey(&c->ccm, MBEDTLS_CIPHER_ID_AES, key, key_bits);
}

static int set_cmac(struct context *c, const uint8_t *key, unsigned key_bits)
{
    const mbedtls_cipher_info_t *info =
        mbedtls_cipher_info_from_values(MBEDTLS_CIPHER_ID_AES, (int)key_bits, MBEDTLS_MODE_ECB);
    int error;

    mbedtls_cipher_init(&c->cmac);
    error = mbedtls_cipher_setup(&c->cmac, info);
    return error ? error : mbedtls_cipher_cmac_starts(&c->cmac, key, key_bits);
}

static void free_hash(struct context *c)
{
    mbedtls_md_free(&c->md);
}

static int set_hash(struct context *c, mbedtls_md_type_t hash, const uint8_t *key,
                    unsigned key_bits)
{
    c->hash = hash;
    c->password_bytes = key_bits / 8;
    memcpy(c->password, key, c->password_bytes);
    mbedtls_md_init(&c->md);
    return mbedtls_md_setup(&c->md, mbedtls_md_info_from_type(hash), 1) ||
           mbedtls_md_hmac_starts(&c->md, key, c->password_bytes);
}

static int set_hash256(struct context *c, const uint8_t *key, unsigned key_bits)
{
    return set_hash(c, MBEDTLS_MD_SHA256, key, key_bits);
}

static int set_hash512(struct context *c, const uint8_t *key, unsigned key_bits)
{
    return set_hash(c, MBEDTLS_MD_SHA512, key, key_bits);
}

static void free_numbers(struct context *c)
{
    mbedtls_mpi_free(&c->n);
    mbedtls_mpi_free(&c->a);
    mbedtls_mpi_free(&c->exponent);
    mbedtls_mpi_free(&c->x);
    mbedtls_mpi_free(&c->rr);
}

static int set_secret_power(struct context *c, const uint8_t *key, unsigned key_bits)
{
    const size_t n_bytes = key_bits / 8;

    mbedtls_mpi_init(&c->n);
    mbedtls_mpi_init(&c->a);
    mbedtls_mpi_init(&c->exponent);
    mbedtls_mpi_init(&c->x);
    mbedtls_mpi_init(&c->rr);
    return mbedtls_mpi_read_binary(&c->n, key, n_bytes) ||
           mbedtls_mpi_read_binary(&c->a, key + n_bytes, n_bytes) ||
           mbedtls_mpi_read_binary(&c->exponent, key + 2 * n_bytes, n_bytes);
}

static int set_public_power(struct context *c, const uint8_t *key, unsigned key_bits)
{
    return set_secret_power(c, key, key_bits) || mbedtls_mpi_lset(&c->exponent, 65537);
}

static bool run_exp(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return !mbedtls_mpi_exp_mod(&c->x, &c->a, &c->exponent, &c->n, &c->rr) &&
           (!m->out || !mbedtls_mpi_write_binary(&c->x, m->out, m->len_bytes));
}

static bool run_mod(void *context, const struct peer_message *m)
{
    struct context *c = context;
    mbedtls_mpi_uint remainder;

    return !mbedtls_mpi_mod_int(&remainder, &c->a, 65521) &&
           (!m->out || (!mbedtls_mpi_lset(&c->x, (mbedtls_mpi_sint)remainder) &&
                        !mbedtls_mpi_write_binary(&c->x, m->out, m->len_bytes)));
}

/* ---- RSA, Diffie-Hellman, primes ------------------------------------------------------------- */

#define ROUNDS 25 /* of Miller and Rabin: an error of 2^-50 at most, far below it for
                   * numbers that nobody chose */

/* Blinding and rounds want a source; a good one would cost the library time that is not its own. */
static int fill(void *state, unsigned char *out, size_t n_bytes)
{
    static uint64_t x = 1;

    (void)state;
    for (size_t i = 0; i < n_bytes; i++) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
        out[i] = (unsigned char)(x >> 56);
    }
    return 0;
}

static bool run_rsa_private(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return !mbedtls_rsa_private(&c->rsa, fill, NULL, c->in, m->out ? m->out : c->out);
}

static bool run_rsa_public(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return !mbedtls_rsa_public(&c->rsa, c->in, m->out ? m->out : c->out);
}

static bool run_check(void *context, const struct peer_message *m)
{
    struct context *c = context;
    const int answer = mbedtls_mpi_is_prime_ext(&c->n, ROUNDS, fill, NULL);

    return (!answer || answer == MBEDTLS_ERR_MPI_NOT_ACCEPTABLE) &&
           (!m->out || (!mbedtls_mpi_lset(&c->x, !answer) &&
                        !mbedtls_mpi_write_binary(&c->x, m->out, m->len_bytes)));
}

static void free_rsa(struct context *c)
{
    mbedtls_rsa_free(&c->rsa);
}

static int set_rsa(struct context *c, const uint8_t *key, unsigned key_bits)
{
    static const uint8_t e65537[] = {1, 0, 1};
    const size_t n_bytes = key_bits / 8, half = n_bytes / 2;
    const uint8_t *const p = key + 3 * n_bytes;

    mbedtls_rsa_init(&c->rsa);
    memcpy(c->in, key + 2 * n_bytes, n_bytes);
    return mbedtls_rsa_import_raw(&c->rsa, key, n_bytes, p, half, p + half, half, key + n_bytes,
                                  n_bytes, e65537, sizeof e65537) ||
           mbedtls_rsa_complete(&c->rsa);
}

static void init_numbers(struct context *c)
{
    mbedtls_mpi_init(&c->n);
    mbedtls_mpi_init(&c->a);
    mbedtls_mpi_init(&c->exponent);
    mbedtls_mpi_init(&c->x);
    mbedtls_mpi_init(&c->rr);
}

static int set_exchange(struct context *c, const uint8_t *key, unsigned key_bits)
{
    const size_t n_bytes = key_bits / 8;

    init_numbers(c);
    return mbedtls_mpi_read_binary(&c->n, key, n_bytes) || mbedtls_mpi_lset(&c->a, 2) ||
           mbedtls_mpi_read_binary(&c->exponent, key + n_bytes, n_bytes);
}

static int set_prime(struct context *c, const uint8_t *key, unsigned key_bits)
{
    const size_t n_bytes = key_bits / 8;

    init_numbers(c);
    return mbedtls_mpi_read_binary(&c->n, key + 3 * n_bytes, n_bytes / 2);
}

static void close_context(void *context)
{
    struct context *c = context;

    c->free_key(c);
    free(c);
}

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    static const struct {
        const char *mode;
        int (*set_key)(struct context *, const uint8_t *key, unsigned key_bits);
        void (*free_key)(struct context *);
        peer_run *run;
    } offered[] = {
        {"cbc-enc", set_encrypt, free_aes, run_cbc_encrypt},
        {"cbc-dec", set_decrypt, free_aes, run_cbc_decrypt},
        {"ctr", set_encrypt, free_aes, run_ctr},
        {"xts-enc", set_xts_encrypt, free_xts, run_xts_encrypt},
        {"xts-dec", set_xts_decrypt, free_xts, run_xts_decrypt},
        {"cmac", set_cmac, free_cmac, run_cmac},
        {"ccm-seal", set_ccm, free_ccm, run_ccm_seal},
        {"ccm-open", set_ccm, free_ccm, run_ccm_open},
        {"gcm-seal", set_gcm, free_gcm, run_gcm_seal},
        {"gcm-open", set_gcm, free_gcm, run_gcm_open},
        {"sha256", set_hash256, free_hash, run_sha256},
        {"sha512", set_hash512, free_hash, run_sha512},
        {"hmac-sha256", set_hash256, free_hash, run_hmac},
        {"hmac-sha512", set_hash512, free_hash, run_hmac},
        {"pbkdf2-sha256", set_hash256, free_hash, run_pbkdf2},
        {"pbkdf2-sha512", set_hash512, free_hash, run_pbkdf2},
        {"exp", set_secret_power, free_numbers, run_exp},
        {"exp-public", set_public_power, free_numbers, run_exp},
        {"mod-word16", set_secret_power, free_numbers, run_mod},
        {"mod-word16-once", set_secret_power, free_numbers, run_mod},
        {"rsa-private", set_rsa, free_rsa, run_rsa_private},
        {"rsa-public", set_rsa, free_rsa, run_rsa_public},
        {"dh-public", set_exchange, free_numbers, run_exp},
        {"prime-check", set_prime, free_numbers, run_check},
    };
    struct context *c = calloc(1, sizeof *c);

    for (size_t i = 0; c && i < sizeof offered / sizeof offered[0]; i++) {
        if (strcmp(mode, offered[i].mode) != 0)
            continue;
        c->free_key = offered[i].free_key;
        *run = offered[i].run;
        if (!offered[i].set_key(c, key, key_bits))
            return c;
        c->free_key(c);
        break;
    }
    free(c);
    return NULL;
}

const struct peer evc_peer = {.name = "mbedtls",
                              .version = version,
                              .headers = MBEDTLS_VERSION_STRING,
                              .hardware = hardware,
                              .open = open_context,
                              .close = close_context};

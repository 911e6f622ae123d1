/* SPDX-License-Identifier: MIT */
/* libgcrypt through its cipher, MAC and hash handles. Hardware off: PEER_LIBGCRYPT_OFF in the
 * environment, a comma list of the names that `mpicalc --print-config` shows as hwflist. */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

#include <gcrypt.h>

struct context {
    gcry_cipher_hd_t cipher;
    gcry_mac_hd_t mac;
    gcry_md_hd_t hash;
    int hash_number;
    uint8_t password[64];
    size_t password_bytes;
    gcry_mpi_t n, a, exponent, x; /* of powers */
    gcry_sexp_t rsa, in;
};

static const char *version(void)
{
    static bool initialised;

    if (!initialised) {
        const char *off = getenv("PEER_LIBGCRYPT_OFF");
        if (off)
            gcry_control(GCRYCTL_DISABLE_HWF, off, NULL);
        gcry_check_version(NULL);
        gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
        gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
        initialised = true;
    }
    return gcry_check_version(NULL);
}

static const char *with_aes(const char *list)
{
    return !strstr(list, "intel-vaes-vpclmul:") ? "sse"
           : strstr(list, "intel-avx512:")      ? "best"
                                                : "vaes256";
}

static const char *hardware(void)
{
    char *list = gcry_get_config(0, "hwflist");
    const char *says = !list                          ? NULL
                       : strstr(list, "intel-aesni:") ? with_aes(list)
                       : strstr(list, "intel-ssse3:") ? "ssse3"
                                                      : "c";

    gcry_free(list);
    return says;
}

static bool run_encrypt(void *context, const struct peer_message *m)
{
    gcry_cipher_hd_t c = ((struct context *)context)->cipher;

    return !gcry_cipher_setiv(c, m->iv, 16) &&
           !gcry_cipher_encrypt(c, m->out, m->len_bytes, m->in, m->len_bytes);
}

static bool run_decrypt(void *context, const struct peer_message *m)
{
    gcry_cipher_hd_t c = ((struct context *)context)->cipher;

    return !gcry_cipher_setiv(c, m->iv, 16) &&
           !gcry_cipher_decrypt(c, m->out, m->len_bytes, m->in, m->len_bytes);
}

static bool run_ecb_encrypt(void *context, const struct peer_message *m)
{
    gcry_cipher_hd_t c = ((struct context *)context)->cipher;

    return !gcry_cipher_encrypt(c, m->out, m->len_bytes, m->in, m->len_bytes);
}

static bool run_ecb_decrypt(void *context, const struct peer_message *m)
{
    gcry_cipher_hd_t c = ((struct context *)context)->cipher;

    return !gcry_cipher_decrypt(c, m->out, m->len_bytes, m->in, m->len_bytes);
}

static bool run_ctr(void *context, const struct peer_message *m)
{
    gcry_cipher_hd_t c = ((struct context *)context)->cipher;

    return !gcry_cipher_setctr(c, m->iv, 16) &&
           !gcry_cipher_encrypt(c, m->out, m->len_bytes, m->in, m->len_bytes);
}

static bool begin_gcm(gcry_cipher_hd_t c, const struct peer_message *m)
{
    return !gcry_cipher_setiv(c, m->iv, 12) && !gcry_cipher_authenticate(c, m->aad, m->aad_bytes);
}

static bool begin_ccm(gcry_cipher_hd_t c, const struct peer_message *m)
{
    uint64_t lengths[3] = {m->len_bytes, m->aad_bytes, 16};

    return !gcry_cipher_setiv(c, m->iv, 12) &&
           !gcry_cipher_ctl(c, GCRYCTL_SET_CCM_LENGTHS, lengths, sizeof lengths) &&
           !gcry_cipher_authenticate(c, m->aad, m->aad_bytes);
}

static bool seal(gcry_cipher_hd_t c, const struct peer_message *m)
{
    return !gcry_cipher_encrypt(c, m->out, m->len_bytes, m->in, m->len_bytes) &&
           !gcry_cipher_gettag(c, m->tag, 16);
}

static bool open_sealed(gcry_cipher_hd_t c, const struct peer_message *m)
{
    return !gcry_cipher_decrypt(c, m->out, m->len_bytes, m->in, m->len_bytes) &&
           !gcry_cipher_checktag(c, m->tag, 16);
}

static bool run_gcm_seal(void *context, const struct peer_message *m)
{
    gcry_cipher_hd_t c = ((struct context *)context)->cipher;

    return begin_gcm(c, m) && seal(c, m);
}

static bool run_gcm_open(void *context, const struct peer_message *m)
{
    gcry_cipher_hd_t c = ((struct context *)context)->cipher;

    return begin_gcm(c, m) && open_sealed(c, m);
}

static bool run_ccm_seal(void *context, const struct peer_message *m)
{
    gcry_cipher_hd_t c = ((struct context *)context)->cipher;

    return begin_ccm(c, m) && seal(c, m);
}

static bool run_ccm_open(void *context, const struct peer_message *m)
{
    gcry_cipher_hd_t c = ((struct context *)context)->cipher;

    return begin_ccm(c, m) && open_sealed(c, m);
}

static bool run_cmac(void *context, const struct peer_message *m)
{
    gcry_mac_hd_t c = ((struct context *)context)->mac;
    size_t n = 16;

    return !gcry_mac_reset(c) && !gcry_mac_write(c, m->in, m->len_bytes) &&
           !gcry_mac_read(c, m->tag, &n);
}

static bool run_hmac(void *context, const struct peer_message *m)
{
    gcry_mac_hd_t c = ((struct context *)context)->mac;
    uint8_t tag[64];
    size_t n = sizeof tag;

    if (gcry_mac_reset(c) || gcry_mac_write(c, m->in, m->len_bytes) || gcry_mac_read(c, tag, &n))
        return false;
    memcpy(m->tag, tag, 16);
    return true;
}

static bool run_digest(void *context, const struct peer_message *m)
{
    const struct context *c = context;

    gcry_md_reset(c->hash);
    gcry_md_write(c->hash, m->in, m->len_bytes);
    memcpy(m->out, gcry_md_read(c->hash, c->hash_number), gcry_md_get_algo_dlen(c->hash_number));
    return true;
}

static bool run_pbkdf2(void *context, const struct peer_message *m)
{
    const struct context *c = context;

    return !gcry_kdf_derive(c->password, c->password_bytes, GCRY_KDF_PBKDF2, c->hash_number, m->aad,
                            m->aad_bytes, m->n_iterations, gcry_md_get_algo_dlen(c->hash_number),
                            m->out);
}

/* Whether the mode is one of hashes, and everything is ready for it. */
static bool open_hash(struct context *c, const char *mode, const uint8_t *key, size_t n_bytes,
                      peer_run **run)
{
    const bool is_256 = strstr(mode, "sha256") != NULL;

    if (strstr(mode, "-many") || !strstr(mode, is_256 ? "sha256" : "sha512"))
        return false;
    c->hash_number = is_256 ? GCRY_MD_SHA256 : GCRY_MD_SHA512;
    if (strncmp(mode, "hmac", 4) == 0) {
        *run = run_hmac;
        return !gcry_mac_open(&c->mac, is_256 ? GCRY_MAC_HMAC_SHA256 : GCRY_MAC_HMAC_SHA512, 0,
                              NULL) &&
               !gcry_mac_setkey(c->mac, key, n_bytes);
    }
    if (strncmp(mode, "pbkdf2", 6) == 0) {
        *run = run_pbkdf2;
        memcpy(c->password, key, n_bytes);
        c->password_bytes = n_bytes;
        return true;
    }
    *run = run_digest;
    return !gcry_md_open(&c->hash, c->hash_number, 0);
}

static void close_context(void *vcontext)
{
    struct context *context = vcontext;

    gcry_cipher_close(context->cipher);
    gcry_mac_close(context->mac);
    gcry_md_close(context->hash);
    gcry_mpi_release(context->n);
    gcry_mpi_release(context->a);
    gcry_mpi_release(context->exponent);
    gcry_mpi_release(context->x);
    gcry_sexp_release(context->rsa);
    gcry_sexp_release(context->in);
    free(context);
}

static int cipher_number(unsigned key_bits)
{
    return key_bits == 128   ? GCRY_CIPHER_AES128
           : key_bits == 192 ? GCRY_CIPHER_AES192
                             : GCRY_CIPHER_AES256;
}

static bool store(gcry_mpi_t x, const struct peer_message *m)
{
    size_t n = 0;

    if (!m->out)
        return true;
    if (gcry_mpi_print(GCRYMPI_FMT_USG, m->out, m->len_bytes, &n, x))
        return false;
    memmove(m->out + m->len_bytes - n, m->out, n);
    memset(m->out, 0, m->len_bytes - n);
    return true;
}

static bool run_exp(void *context, const struct peer_message *m)
{
    struct context *c = context;

    gcry_mpi_powm(c->x, c->a, c->exponent, c->n);
    return store(c->x, m);
}

/* a to the power of b, or of 65537. */
static bool set_power(struct context *c, const uint8_t *key, size_t n_bytes, bool is_public)
{
    c->x = gcry_mpi_new(0);
    if (is_public)
        c->exponent = gcry_mpi_set_ui(NULL, 65537);
    return !gcry_mpi_scan(&c->n, GCRYMPI_FMT_USG, key, n_bytes, NULL) &&
           !gcry_mpi_scan(&c->a, GCRYMPI_FMT_USG, key + n_bytes, n_bytes, NULL) &&
           (is_public ||
            !gcry_mpi_scan(&c->exponent, GCRYMPI_FMT_USG, key + 2 * n_bytes, n_bytes, NULL));
}

/* ---- RSA, Diffie-Hellman, primes ------------------------------------------------------------- */

/* The only number of an S-expression that is in a list of this name. */
static bool store_number_of(gcry_sexp_t result, const char *name, const struct peer_message *m)
{
    gcry_sexp_t list = gcry_sexp_find_token(result, name, 0);
    gcry_mpi_t x = list ? gcry_sexp_nth_mpi(list, 1, GCRYMPI_FMT_USG) : NULL;
    const bool good = x && store(x, m);

    gcry_mpi_release(x);
    gcry_sexp_release(list);
    return good;
}

static bool run_rsa_private(void *context, const struct peer_message *m)
{
    struct context *c = context;
    gcry_sexp_t result = NULL;
    const bool good =
        !gcry_pk_sign(&result, c->in, c->rsa) && (!m->out || store_number_of(result, "s", m));

    gcry_sexp_release(result);
    return good;
}

static bool run_rsa_public(void *context, const struct peer_message *m)
{
    struct context *c = context;
    gcry_sexp_t result = NULL;
    const bool good =
        !gcry_pk_encrypt(&result, c->in, c->rsa) && (!m->out || store_number_of(result, "a", m));

    gcry_sexp_release(result);
    return good;
}

static bool run_check(void *context, const struct peer_message *m)
{
    struct context *c = context;

    gcry_mpi_set_ui(c->x, gcry_prime_check(c->n, 0) == 0);
    return store(c->x, m);
}

static bool scan(gcry_mpi_t *x, const uint8_t *bytes, size_t n_bytes)
{
    return !gcry_mpi_scan(x, GCRYMPI_FMT_USG, bytes, n_bytes, NULL);
}

/* The library wants p below q, and p's inverse modulo q: it is given q as p. */
static bool set_rsa(struct context *c, const uint8_t *key, size_t n_bytes, bool is_private)
{
    const uint8_t *const p = key + 3 * n_bytes;
    gcry_mpi_t d = NULL, first = NULL, second = NULL, inverse = NULL;
    bool good = scan(&c->n, key, n_bytes) && scan(&d, key + n_bytes, n_bytes) &&
                scan(&c->a, key + 2 * n_bytes, n_bytes) && scan(&second, p, n_bytes / 2) &&
                scan(&first, p + n_bytes / 2, n_bytes / 2) &&
                scan(&inverse, p + 4 * (n_bytes / 2), n_bytes / 2) &&
                !gcry_sexp_build(&c->in, NULL, "(data (flags raw) (value %m))", c->a);

    c->exponent = gcry_mpi_set_ui(NULL, 65537);
    good = good &&
           !(is_private
                 ? gcry_sexp_build(&c->rsa, NULL,
                                   "(private-key (rsa (n %m) (e %m) (d %m) (p %m) (q %m) (u %m)))",
                                   c->n, c->exponent, d, first, second, inverse)
                 : gcry_sexp_build(&c->rsa, NULL, "(public-key (rsa (n %m) (e %m)))", c->n,
                                   c->exponent));
    gcry_mpi_release(d);
    gcry_mpi_release(first);
    gcry_mpi_release(second);
    gcry_mpi_release(inverse);
    return good;
}

static bool open_layer(struct context *c, const char *mode, const uint8_t *key, size_t n_bytes,
                       peer_run **run)
{
    if (strncmp(mode, "rsa-", 4) == 0) {
        const bool is_private = strcmp(mode, "rsa-private") == 0;

        *run = is_private ? run_rsa_private : run_rsa_public;
        return set_rsa(c, key, n_bytes, is_private);
    }
    c->x = gcry_mpi_new(0);
    if (strcmp(mode, "dh-public") == 0) {
        *run = run_exp;
        c->a = gcry_mpi_set_ui(NULL, 2);
        return scan(&c->n, key, n_bytes) && scan(&c->exponent, key + n_bytes, n_bytes);
    }
    *run = run_check;
    return strcmp(mode, "prime-check") == 0 && scan(&c->n, key + 3 * n_bytes, n_bytes / 2);
}

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    static const struct {
        const char *mode;
        int number;
        peer_run *run;
    } ciphers[] = {
        {"ecb-enc", GCRY_CIPHER_MODE_ECB, run_ecb_encrypt},
        {"ecb-dec", GCRY_CIPHER_MODE_ECB, run_ecb_decrypt},
        {"cbc-enc", GCRY_CIPHER_MODE_CBC, run_encrypt},
        {"cbc-dec", GCRY_CIPHER_MODE_CBC, run_decrypt},
        {"ctr", GCRY_CIPHER_MODE_CTR, run_ctr},
        {"xts-enc", GCRY_CIPHER_MODE_XTS, run_encrypt},
        {"xts-dec", GCRY_CIPHER_MODE_XTS, run_decrypt},
        {"ccm-seal", GCRY_CIPHER_MODE_CCM, run_ccm_seal},
        {"ccm-open", GCRY_CIPHER_MODE_CCM, run_ccm_open},
        {"gcm-seal", GCRY_CIPHER_MODE_GCM, run_gcm_seal},
        {"gcm-open", GCRY_CIPHER_MODE_GCM, run_gcm_open},
    };
    struct context *context = calloc(1, sizeof *context);
    bool good = false;

    if (!context)
        return NULL;
    for (size_t i = 0; i < sizeof ciphers / sizeof ciphers[0]; i++) {
        if (strcmp(mode, ciphers[i].mode) != 0)
            continue;
        unsigned n_keys = ciphers[i].number == GCRY_CIPHER_MODE_XTS ? 2 : 1;
        *run = ciphers[i].run;
        good = !gcry_cipher_open(&context->cipher, cipher_number(key_bits), ciphers[i].number, 0) &&
               !gcry_cipher_setkey(context->cipher, key, n_keys * key_bits / 8);
    }
    if (strcmp(mode, "cmac") == 0) {
        *run = run_cmac;
        good = !gcry_mac_open(&context->mac, GCRY_MAC_CMAC_AES, 0, NULL) &&
               !gcry_mac_setkey(context->mac, key, key_bits / 8);
    }
    if (strcmp(mode, "exp") == 0 || strcmp(mode, "exp-public") == 0) {
        *run = run_exp;
        good = set_power(context, key, key_bits / 8, strcmp(mode, "exp-public") == 0);
    }
    if (good || open_hash(context, mode, key, key_bits / 8, run) ||
        open_layer(context, mode, key, key_bits / 8, run))
        return context;
    close_context(context);
    return NULL;
}

const struct peer evc_peer = {.name = "libgcrypt",
                              .version = version,
                              .headers = GCRYPT_VERSION,
                              .hardware = hardware,
                              .open = open_context,
                              .close = close_context};

/* SPDX-License-Identifier: MIT */
/* libgcrypt through its cipher and MAC handles. Hardware off: PEER_LIBGCRYPT_OFF in the
 * environment, a comma list of the names that `mpicalc --print-config` shows as hwflist. */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

#include <gcrypt.h>

struct context {
    gcry_cipher_hd_t cipher;
    gcry_mac_hd_t mac;
    gcry_mpi_t n, a, exponent, x; /* of powers */
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
    return !strstr(list, "intel-vaes-vpclmul:") ? "sse" : strstr(list, "intel-avx512:") ? "best" : "vaes256";
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

static void close_context(void *vcontext)
{
    struct context *context = vcontext;

    gcry_cipher_close(context->cipher);
    gcry_mac_close(context->mac);
    gcry_mpi_release(context->n);
    gcry_mpi_release(context->a);
    gcry_mpi_release(context->exponent);
    gcry_mpi_release(context->x);
    free(context);
}

static int cipher_number(unsigned key_bits)
{
    return key_bits == 128   ? GCRY_CIPHER_AES128
           : key_bits == 192 ? GCRY_CIPHER_AES192
                             : GCRY_CIPHER_AES256;
}

static bool run_exp(void *context, const struct peer_message *m)
{
    struct context *c = context;
    size_t n = 0;

    gcry_mpi_powm(c->x, c->a, c->exponent, c->n);
    if (!m->out)
        return true;
    if (gcry_mpi_print(GCRYMPI_FMT_USG, m->out, m->len_bytes, &n, c->x))
        return false;
    memmove(m->out + m->len_bytes - n, m->out, n);
    memset(m->out, 0, m->len_bytes - n);
    return true;
}

/* a to the power of b, or of 65537. */
static bool set_power(struct context *c, const uint8_t *key, size_t n_bytes, bool is_public)
{
    c->x = gcry_mpi_new(0);
    if (is_public)
        c->exponent = gcry_mpi_set_ui(NULL, 65537);
    return !gcry_mpi_scan(&c->n, GCRYMPI_FMT_USG, key, n_bytes, NULL) &&
           !gcry_mpi_scan(&c->a, GCRYMPI_FMT_USG, key + n_bytes, n_bytes, NULL) &&
           (is_public || !gcry_mpi_scan(&c->exponent, GCRYMPI_FMT_USG, key + 2 * n_bytes, n_bytes, NULL));
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
    if (good)
        return context;
    close_context(context);
    return NULL;
}

const struct peer evc_peer = {.name = "libgcrypt",
                              .version = version,
                              .hardware = hardware,
                              .open = open_context,
                              .close = close_context};

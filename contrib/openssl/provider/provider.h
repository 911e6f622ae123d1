/* SPDX-License-Identifier: MIT */
/*
 * The provider: what its files share. Nothing here calls libcrypto; what the provider needs of it
 * comes as functions when it is loaded (provider-base(7) of OpenSSL).
 */
#ifndef EVC_PROVIDER_H
#define EVC_PROVIDER_H

#include <stdint.h>
#include <string.h>

#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include "everycore/gcm.h"
#include "everycore/hmac.h"
#include "everycore/modes.h"

/* One for each time that the provider is loaded into a library context. It does not change while
 * algorithms are in use, but for `fallback`. */
struct provider {
    const OSSL_CORE_HANDLE *core;

    OSSL_FUNC_CRYPTO_zalloc_fn *zalloc;
    OSSL_FUNC_CRYPTO_clear_free_fn *clear_free;

    OSSL_FUNC_core_get_params_fn *core_params;
    OSSL_FUNC_core_new_error_fn *new_error;
    OSSL_FUNC_core_set_error_debug_fn *set_error_debug;
    OSSL_FUNC_core_vset_error_fn *vset_error;

    OSSL_FUNC_provider_register_child_cb_fn *watch_providers;
    OSSL_FUNC_provider_deregister_child_cb_fn *unwatch_providers;
    OSSL_FUNC_provider_name_fn *name_of;
    OSSL_FUNC_provider_get0_provider_ctx_fn *context_of;
    OSSL_FUNC_provider_get0_dispatch_fn *dispatch_of;

    /* The default provider, while it is active: MACs of other ciphers and hashes go there */
    _Atomic(const OSSL_CORE_HANDLE *) fallback;

    const struct evc_aes *serial, *parallel;
    const struct evc_gcm *gcm; /* NULL: a pair of `parallel` and `ghash` */
    const struct evc_ghash *ghash;
    size_t gcm_key_bytes, aes_key_bytes, xts_key_bytes, ccm_key_bytes, cmac_key_bytes;
    size_t gcm_siv_key_bytes, gcm_siv_scratch_bytes;
    int offers_gcm_siv;
    /* For each algorithm; NULL: it is slower than OpenSSL's own */
    const struct evc_sha2 *hmac_sha256, *pbkdf2_sha256, *hkdf_sha256, *hkdf_sha512;
    int sha256_is_ahead; /* also of long messages */
};

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Puts an error on OpenSSL's queue, as the default provider would: programs look for
 * its reasons. Returns 0. */
int provider_error(const struct provider *provider, const char *file, int line,
                   const char *function, int reason);

#define FAIL(context, reason) \
    provider_error((context)->provider, __FILE__, __LINE__, __func__, (reason))

/* ---- Contexts -------------------------------------------------------------------------------- */

/* A context is one allocation: a structure that begins with `const struct provider *`, then room
 * for a key, which begins at the next address that is a multiple of 16. All zeros. */
void *context_new(const struct provider *provider, size_t structure_bytes, size_t key_bytes);
void *context_copy(const void *context, size_t structure_bytes, size_t key_bytes);
void context_free(void *context, size_t structure_bytes, size_t key_bytes);

static inline void *context_key(const void *context, size_t structure_bytes)
{
    return (void *)(((uintptr_t)context + structure_bytes + 15) & ~(uintptr_t)15);
}

/* Bytes that a program gives, in memory of their own, which is wiped. */
struct bytes {
    uint8_t *at; /* NULL: not set; never NULL for none that are set */
    size_t n;
};

void bytes_free(const struct provider *provider, struct bytes *bytes);

/* n zeros in place of those before. NULL: no memory. */
uint8_t *bytes_new(const struct provider *provider, struct bytes *bytes, size_t n);

/* No address and a length: not set. */
int bytes_set(const struct provider *provider, struct bytes *bytes, const void *from, size_t n);

/* Give a copy of a structure, made byte by byte, bytes of its own. */
int bytes_copy(const struct provider *provider, struct bytes *copy);

/* Random bytes of the system. 0: there are none. */
int random_bytes(uint8_t *to, size_t n);

/* Any algorithm is known to the core by such a table. */
#define DISPATCH(id, function) {(id), (void (*)(void))(function)}
#define DISPATCH_END {0, NULL}

/* ---- Parameters ------------------------------------------------------------------------------ */

static inline int is_key(const OSSL_PARAM *param, const char *name)
{
    return strcmp(param->key, name) == 0;
}

/* All return 0 if the parameter has another type or no room. */
int param_get_size(const OSSL_PARAM *param, size_t *value);
int param_set_size(OSSL_PARAM *param, size_t value);
int param_set_bytes(OSSL_PARAM *param, const void *bytes, size_t n); /* a copy, or a pointer */

/* NULL: there is none of the name. */
const OSSL_PARAM *param_find(const OSSL_PARAM params[], const char *name);

/* Whether no parameter asks for an algorithm below with properties, or of an engine. */
int params_are_plain(const OSSL_PARAM params[]);

/* Whether a list of names, apart by colons, has one of the name. */
int has_name(const char *names, const char *name);

/* The hash of ours that a parameter names, up to SHA-512. 0: there is none, or params ask for an
 * algorithm with properties or of an engine. */
enum evc_sha2_hash hash_given(const OSSL_PARAM *digest, const OSSL_PARAM params[]);

/* Make a parameter that names a hash. */
void hash_param(OSSL_PARAM *param, enum evc_sha2_hash hash);

#define PARAM_SIZE(name) \
    {(name), OSSL_PARAM_UNSIGNED_INTEGER, NULL, sizeof(size_t), OSSL_PARAM_UNMODIFIED}
#define PARAM_UINT(name) \
    {(name), OSSL_PARAM_UNSIGNED_INTEGER, NULL, sizeof(unsigned), OSSL_PARAM_UNMODIFIED}
#define PARAM_UINT64(name) \
    {(name), OSSL_PARAM_UNSIGNED_INTEGER, NULL, sizeof(uint64_t), OSSL_PARAM_UNMODIFIED}
#define PARAM_INT(name) {(name), OSSL_PARAM_INTEGER, NULL, sizeof(int), OSSL_PARAM_UNMODIFIED}
#define PARAM_BYTES(name) {(name), OSSL_PARAM_OCTET_STRING, NULL, 0, OSSL_PARAM_UNMODIFIED}
#define PARAM_POINTER(name) {(name), OSSL_PARAM_OCTET_PTR, NULL, 0, OSSL_PARAM_UNMODIFIED}
#define PARAM_TEXT(name) {(name), OSSL_PARAM_UTF8_STRING, NULL, 0, OSSL_PARAM_UNMODIFIED}
#define PARAM_TEXT_POINTER(name) {(name), OSSL_PARAM_UTF8_PTR, NULL, 0, OSSL_PARAM_UNMODIFIED}
#define PARAM_END {NULL, 0, NULL, 0, 0}

/* The facts of a cipher that need no context. Modes as EVP_CIPH_*_MODE. */
enum { MODE_ECB = 1, MODE_CBC = 2, MODE_CTR = 5, MODE_GCM = 6, MODE_CCM = 7 };
enum { MODE_XTS = 0x10001, MODE_WRAP = 0x10002, MODE_GCM_SIV = 0x10005 };

struct cipher_facts {
    unsigned mode, key_bytes, iv_bytes, block_bytes;
    int is_aead, has_own_iv;
};

int cipher_get_facts(OSSL_PARAM params[], const struct cipher_facts *facts);
const OSSL_PARAM *cipher_fact_names(void *provider);

/* Parameters of contexts, as OpenSSL's own have them for most ciphers. */
const OSSL_PARAM *cipher_gettable(void *context, void *provider);
const OSSL_PARAM *cipher_settable(void *context, void *provider);

/* ---- MACs of the default provider ------------------------------------------------------------ */

/* A context of the default provider's, for what a MAC of ours leaves to it. */
struct foreign {
    void *context; /* NULL: not in use */
    OSSL_FUNC_mac_dupctx_fn *copy;
    OSSL_FUNC_mac_freectx_fn *release;
    OSSL_FUNC_mac_init_fn *init;
    OSSL_FUNC_mac_update_fn *update;
    OSSL_FUNC_mac_final_fn *final;
    OSSL_FUNC_mac_get_ctx_params_fn *get_params;
    OSSL_FUNC_mac_set_ctx_params_fn *set_params;
};

/* 0: the default provider is not active, or has no such MAC. foreign_free clears it. */
int foreign_new(struct foreign *foreign, const struct provider *provider, const char *name);
void foreign_free(struct foreign *foreign);

/* Give a copy of a context, made byte by byte, a foreign context of its own. */
int foreign_copy(struct foreign *copy);

/* ---- KDFs of the default provider ------------------------------------------------------------ */

struct foreign_kdf {
    void *context;
    OSSL_FUNC_kdf_dupctx_fn *copy; /* NULL: such contexts cannot be copied, as by OpenSSL 3.0 */
    OSSL_FUNC_kdf_freectx_fn *release;
    OSSL_FUNC_kdf_reset_fn *reset;
    OSSL_FUNC_kdf_derive_fn *derive;
    OSSL_FUNC_kdf_get_ctx_params_fn *get_params;
    OSSL_FUNC_kdf_set_ctx_params_fn *set_params;
};

/* 0: the default provider is not active, or has no such KDF. */
int foreign_kdf_new(struct foreign_kdf *foreign, const struct provider *provider, const char *name);

/* Whether contexts of the default provider's KDF can be copied. */
int foreign_kdf_copies(const struct provider *provider, const char *name);

/* The names of parameters that the default provider's KDF takes or tells; id: of the function that
 * lists them. NULL: none are known. */
const OSSL_PARAM *foreign_kdf_names(const struct provider *provider, const char *name, int id);

/* ---- Algorithms ------------------------------------------------------------------------------ */

extern const OSSL_DISPATCH provider_gcm128[], provider_gcm192[], provider_gcm256[];
extern const OSSL_DISPATCH provider_gcm_siv128[], provider_gcm_siv256[];
extern const OSSL_DISPATCH provider_ccm128[], provider_ccm192[], provider_ccm256[];
extern const OSSL_DISPATCH provider_xts128[], provider_xts256[];
extern const OSSL_DISPATCH provider_ecb128[], provider_ecb192[], provider_ecb256[];
extern const OSSL_DISPATCH provider_cbc128[], provider_cbc192[], provider_cbc256[];
extern const OSSL_DISPATCH provider_ctr128[], provider_ctr192[], provider_ctr256[];
extern const OSSL_DISPATCH provider_wrap128[], provider_wrap192[], provider_wrap256[];
extern const OSSL_DISPATCH provider_wrap_pad128[], provider_wrap_pad192[], provider_wrap_pad256[];
extern const OSSL_DISPATCH provider_cmac[], provider_hmac[];
extern const OSSL_DISPATCH provider_pbkdf2[], provider_hkdf[], provider_tls13_kdf[];

/* A record of TLS in CBC ends with the MAC, if it is not encrypt-then-MAC, and the padding. */
enum { TLS_MAX_MAC_BYTES = 64 };

/* Write the padding of a record of len_bytes bytes behind it. Returns the
 * bytes of padding, 1 to 16. */
size_t tls_put_padding(uint8_t *record, size_t len_bytes, unsigned version);

/*
 * Take padding and MAC off a decrypted record of *len_bytes bytes, in time that depends on public
 * lengths alone. *len_bytes becomes that of the text. The MAC, of mac_bytes bytes, goes to mac; if
 * the padding is wrong, random bytes do, so that the caller's comparison fails. Returns 0 if the
 * record is wrong for everybody to see.
 */
int tls_take_padding(const uint8_t *record, size_t *len_bytes, unsigned version, uint8_t *mac,
                     size_t mac_bytes);

#endif

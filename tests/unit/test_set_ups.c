/* SPDX-License-Identifier: MIT */
/*
 * Every call that sets up a key in memory of the caller leaves nothing of what the memory held:
 * neither if it succeeds, in all of the bytes that it was given, nor if it fails; and it writes
 * nothing behind them. tools/check-tree compares the names below with the headers.
 */
#include "tap.h"

#include "everycore/dh.h"
#include "everycore/gcm.h"
#include "everycore/gcm_siv.h"
#include "everycore/hmac.h"
#include "everycore/modes.h"
#include "everycore/pac.h"
#include "everycore/rsa_key_file.h"

#include "rsa_numbers.h"

#define EXTRA 80 /* bytes that a call is given beside what its key needs */
#define BEHIND 64

static EVC_ALIGN(64) uint8_t room[(1u << 17) + BEHIND], first_result[1u << 17];
static EVC_ALIGN(16) uint8_t scratch[1u << 17];
static const uint8_t user_key[64] = {1, 2, 3, [16] = 4};

/* fails: the call is given a parameter that it refuses, as late as can be. kernel may be NULL. */
typedef enum evc_status set_up(void *memory, size_t memory_bytes, const void *kernel, int fails);

/* ---- AES and its modes ----------------------------------------------------------------------- */

#define BITS (fails ? 136 : 128)
#define SET(name, call)                                                                 \
    static enum evc_status set_##name(void *m, size_t n, const void *kernel, int fails) \
    {                                                                                   \
        (void)n, (void)fails, (void)kernel;                                             \
        return call;                                                                    \
    }
#define NEEDS(name, bytes)                         \
    static size_t needs_##name(const void *kernel) \
    {                                              \
        (void)kernel;                              \
        return bytes;                              \
    }

#define AES evc_aes_named("c_ref")
#define GHASH evc_ghash_named("c_ref")

NEEDS(evc_aes, evc_aes_kernel(kernel)->key_bytes)
NEEDS(evc_aes_ccm, evc_aes_ccm_key_bytes(kernel, AES))
NEEDS(evc_gcm_siv, evc_gcm_siv_key_bytes(kernel, GHASH))
NEEDS(evc_aes_cmac, evc_aes_cmac_key_bytes(kernel))
NEEDS(evc_aes_xts, evc_aes_xts_key_bytes(kernel, AES))
NEEDS(evc_ghash, evc_ghash_kernel(kernel)->key_bytes)
NEEDS(evc_gcm, evc_gcm_kernel(kernel)->key_bytes)
NEEDS(pair, evc_gcm_pair_key_bytes(kernel, GHASH))

SET(evc_aes_set_key, evc_aes_set_key(m, kernel, user_key, BITS))
SET(evc_aes_set_encrypt_key, evc_aes_set_encrypt_key(m, kernel, user_key, BITS))
SET(evc_aes_set_key_in, evc_aes_set_key_in(m, n, kernel, user_key, BITS))
SET(evc_aes_set_encrypt_key_in, evc_aes_set_encrypt_key_in(m, n, kernel, user_key, BITS))
SET(evc_aes_ccm_set_key, evc_aes_ccm_set_key(m, kernel, AES, user_key, BITS))
SET(evc_aes_ccm_set_key_in, evc_aes_ccm_set_key_in(m, n, kernel, AES, user_key, BITS))
SET(evc_aes_cmac_set_key, evc_aes_cmac_set_key(m, kernel, user_key, BITS))
SET(evc_aes_cmac_set_key_in, evc_aes_cmac_set_key_in(m, n, kernel, user_key, BITS))
SET(evc_aes_xts_set_key, evc_aes_xts_set_key(m, kernel, AES, user_key, BITS))
SET(evc_aes_xts_set_key_in, evc_aes_xts_set_key_in(m, n, kernel, AES, user_key, BITS))
SET(evc_aes_xts_set_key_allowing_in,
    evc_aes_xts_set_key_allowing_in(m, n, kernel, AES, user_key, BITS, EVC_AES_XTS_ALLOW_192))
SET(evc_gcm_siv_set_key, evc_gcm_siv_set_key(m, kernel, GHASH, user_key, BITS))
SET(evc_gcm_siv_set_key_in, evc_gcm_siv_set_key_in(m, n, kernel, GHASH, user_key, BITS))
SET(evc_ghash_set_key, evc_ghash_set_key(m, fails ? NULL : kernel, user_key))
SET(evc_ghash_set_key_in, evc_ghash_set_key_in(m, n, fails ? NULL : kernel, user_key))
SET(evc_gcm_set_key, evc_gcm_set_key(m, kernel, user_key, BITS))
SET(evc_gcm_set_key_in, evc_gcm_set_key_in(m, n, kernel, user_key, BITS))
SET(evc_gcm_set_pair, evc_gcm_set_pair(m, kernel, GHASH, user_key, BITS))
SET(evc_gcm_set_pair_in, evc_gcm_set_pair_in(m, n, kernel, GHASH, user_key, BITS))

/* The kernel is selected: without one, the size of the key is refused. */
#define SET_BEST(name) SET(name, name(m, evc_cpu_features(), 0, user_key, kernel ? BITS : 0))
SET_BEST(evc_aes_set_best)
SET_BEST(evc_aes_cbc_encrypt_set_best)
SET_BEST(evc_aes_cbc_decrypt_set_best)
SET_BEST(evc_aes_ctr_set_best)
SET_BEST(evc_aes_kw_set_best)
SET_BEST(evc_aes_ccm_set_best)
SET_BEST(evc_aes_cmac_set_best)
SET_BEST(evc_aes_xts_set_best)
SET_BEST(evc_gcm_set_best)
SET_BEST(evc_gcm_siv_set_best)
SET(evc_ghash_set_best, fails || !kernel /* it cannot fail */
                            ? evc_ghash_set_key(m, NULL, user_key)
                            : evc_ghash_set_best(m, evc_cpu_features(), 0, user_key))

/* ---- HMAC ------------------------------------------------------------------------------------ */

/* One that the kernel computes. */
static enum evc_sha2_hash hash_of(const struct evc_sha2 *kernel)
{
    return kernel && !kernel->blocks256 ? EVC_SHA512 : EVC_SHA256;
}

#define HASH_OF(kernel) (fails ? (enum evc_sha2_hash)0 : hash_of(kernel))
SET(evc_hmac_set_key, evc_hmac_set_key(m, kernel, HASH_OF(kernel), user_key, sizeof user_key))
SET(evc_hmac_set_best, evc_hmac_set_best(m, evc_cpu_features(), 0,
                                         kernel ? HASH_OF(kernel) : (enum evc_sha2_hash)0,
                                         user_key, sizeof user_key))

/* ---- QARMA and pointer authentication -------------------------------------------------------- */

SET(evc_qarma_set_key, evc_qarma_set_key(m, kernel, 1, 2, EVC_QARMA_SIGMA2, fails ? 0 : 5))

static struct evc_pac_kernels pac_kernels(const void *qarma)
{
    return (struct evc_pac_kernels){qarma, AES};
}

/* The key of each algorithm has another length. */
#define PAC_SET_UP(name, algorithm)                                                          \
    static enum evc_status name(void *m, size_t n, const void *kernel, int fails)            \
    {                                                                                        \
        const struct evc_pac_kernels kernels = pac_kernels(fails ? NULL : kernel);           \
        const int serves = !fails && kernel;                                                 \
        (void)n;                                                                             \
        return evc_pac_set_key(m, serves ? &(algorithm) : &evc_pac_qarma5, &kernels, 1, 2);  \
    }
PAC_SET_UP(set_pac_qarma5, evc_pac_qarma5)
PAC_SET_UP(set_pac_impdef, evc_pac_impdef)
PAC_SET_UP(set_pac_aes128, evc_pac_aes128)

static enum evc_status set_evc_pac_keys_init(void *m, size_t n, const void *kernel, int fails)
{
    const struct evc_pac_kernels kernels = pac_kernels(kernel);
    const int serves = !fails && kernel;
    const struct evc_pac_kernels none = {NULL, NULL};

    (void)n;
    return evc_pac_keys_init(m, serves ? &evc_pac_qarma3 : &evc_pac_aes128,
                             serves ? &kernels : &none);
}

/* ---- Big numbers ----------------------------------------------------------------------------- */

static const uint8_t even[N_BYTES] = {1}, one = 1, two = 2;

NEEDS(evc_bn, evc_bn_modulus_bytes(kernel, 8 * N_BYTES))
NEEDS(evc_dh_group, evc_dh_group_bytes(kernel, 8 * N_BYTES))
NEEDS(evc_dh_table, evc_dh_table_bytes(kernel, 8 * N_BYTES, 2))
NEEDS(evc_rsa_public, evc_rsa_public_bytes(kernel, 8 * N_BYTES))
NEEDS(evc_rsa_private, evc_rsa_private_bytes(kernel, 8 * N_BYTES))

SET(evc_bn_set_modulus_in, evc_bn_set_modulus_in(m, n, kernel, fails ? even : first_n, N_BYTES))
SET(evc_rsa_set_public_in, evc_rsa_set_public_in(m, n, kernel, first_n, N_BYTES,
                                                 fails ? &two : second_e, 1, 8 * N_BYTES))

static enum evc_status set_evc_rsa_set_private_in(void *m, size_t n, const void *kernel, int fails)
{
    struct evc_rsa_numbers numbers = first;

    if (fails)
        numbers.qinv = second_qinv;
    return evc_rsa_set_private_in(m, n, kernel, &numbers, 8 * N_BYTES, scratch, sizeof scratch);
}

static enum evc_status set_evc_dh_set_group_in(void *m, size_t n, const void *kernel, int fails)
{
    const struct evc_dh_params params = {.p = first_n, .g = fails ? &one : &two,
                                         .p_bytes = N_BYTES, .g_bytes = 1};

    return evc_dh_set_group_in(m, n, kernel, &params, 8 * N_BYTES);
}

static enum evc_status set_evc_dh_set_table_in(void *m, size_t n, const void *kernel, int fails)
{
    static EVC_ALIGN(16) uint8_t group[4096];

    if (set_evc_dh_set_group_in(group, sizeof group, kernel, 0) != EVC_OK)
        EXPECT(!kernel);
    return evc_dh_set_table_in(m, n, (const void *)group, fails ? 0 : 2, scratch, sizeof scratch);
}

/* The kernel is selected, for numbers of so many bits. */
static int is_best(const void *kernel, size_t n_bits)
{
    return kernel == evc_bn_select_for(evc_cpu_features(), EVC_ALLOW_VARTIME, EVC_USE_ANY, n_bits);
}

#define BEST_NEEDS(name, bytes, n_bits) \
    NEEDS(name##_by_best, is_best(kernel, n_bits) ? bytes(kernel, 8 * N_BYTES) : 0)
BEST_NEEDS(evc_bn, evc_bn_modulus_bytes, 8 * N_BYTES)
BEST_NEEDS(evc_dh_group, evc_dh_group_bytes, 8 * N_BYTES)
BEST_NEEDS(evc_rsa_public, evc_rsa_public_bytes, 8 * N_BYTES)
BEST_NEEDS(evc_rsa_private, evc_rsa_private_bytes, 8 * P_BYTES)

#define BEST evc_cpu_features(), EVC_ALLOW_VARTIME
SET(evc_bn_set_best_in,
    evc_bn_set_best_in(m, n, BEST, fails ? even : first_n, kernel ? N_BYTES : 0))
SET(evc_rsa_set_best_public_in,
    evc_rsa_set_best_public_in(m, n, BEST, first_n, N_BYTES, fails ? &two : second_e,
                               kernel ? 1 : 0, 8 * N_BYTES))

static enum evc_status set_evc_rsa_set_best_private_in(void *m, size_t n, const void *kernel,
                                                       int fails)
{
    struct evc_rsa_numbers numbers = first;

    if (fails)
        numbers.qinv = second_qinv;
    return evc_rsa_set_best_private_in(m, n, BEST, &numbers, kernel ? 8 * N_BYTES : SIZE_MAX,
                                       scratch, sizeof scratch);
}

static enum evc_status set_evc_dh_set_best_in(void *m, size_t n, const void *kernel, int fails)
{
    const struct evc_dh_params params = {.p = first_n, .g = fails ? &one : &two,
                                         .p_bytes = N_BYTES, .g_bytes = 1};

    return evc_dh_set_best_in(m, n, BEST, &params, kernel ? 8 * N_BYTES : SIZE_MAX);
}

/* An integer of DER, behind the others of a sequence that begins at file. */
static void add_integer(uint8_t *file, const uint8_t *number, size_t n_bytes)
{
    uint8_t *at = file + 2 + file[1];
    const uint8_t zeros = number[0] >> 7;

    at[0] = 2;
    at[1] = (uint8_t)(n_bytes + zeros);
    at[2] = 0;
    memcpy(at + 2 + zeros, number, n_bytes);
    file[1] = (uint8_t)(file[1] + 2 + at[1]);
}

/* As PKCS #1 has them; a sequence of over 127 bytes has one byte more before its length. */
static enum evc_status set_evc_rsa_load_private(void *m, size_t n, const void *kernel, int fails)
{
    static const uint8_t zero;
    uint8_t body[260] = {0x30, 0}, file[261];

    add_integer(body, &zero, 1);
    add_integer(body, first_n, N_BYTES);
    add_integer(body, first_e, sizeof first_e);
    add_integer(body, first_d, N_BYTES);
    add_integer(body, first_p, P_BYTES);
    add_integer(body, first_q, P_BYTES);
    add_integer(body, first_dp, P_BYTES);
    add_integer(body, first_dq, P_BYTES);
    add_integer(body, fails ? second_qinv : first_qinv, P_BYTES);
    file[0] = 0x30, file[1] = 0x81;
    memcpy(file + 2, body + 1, sizeof body - 1);
    return evc_rsa_load_private(m, n, BEST, file, 3 + (size_t)body[1],
                                kernel ? 8 * N_BYTES : SIZE_MAX, scratch, sizeof scratch);
}

static enum evc_status set_evc_rsa_load_public(void *m, size_t n, const void *kernel, int fails)
{
    uint8_t file[130] = {0x30, 0};

    add_integer(file, first_n, N_BYTES);
    add_integer(file, fails ? &two : second_e, 1);
    return evc_rsa_load_public(m, n, BEST, file, 2 + (size_t)file[1],
                               kernel ? 8 * N_BYTES : SIZE_MAX, scratch, sizeof scratch);
}

/* By one kernel: a new key takes long. */
static size_t needs_evc_rsa_generate(const void *kernel)
{
    return is_best(kernel, 512) ? evc_rsa_numbers_bytes(1024) : 0;
}

static int calls_left;

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    (void)context;
    random_fill(out, n_bytes);
    return calls_left-- > 0 ? 0 : -1;
}

static enum evc_status set_evc_rsa_generate(void *m, size_t n, const void *kernel, int fails)
{
    const struct evc_prime_search search = {.kernel = kernel,
                                            .words = evc_bn_words_select(evc_cpu_features(),
                                                                         EVC_ALLOW_VARTIME),
                                            .random = {fill, NULL}};
    static const uint8_t e[] = {1, 0, 1};
    struct evc_rsa_numbers numbers;

    random_state = 1; /* the same key each time */
    calls_left = fails ? 1 : 1000000;
    return evc_rsa_generate(&search, 1024, e, sizeof e, m, n, &numbers, scratch, sizeof scratch);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static const struct call {
    const char *name, *primitive;
    size_t (*needs)(const void *kernel); /* bytes; 0: not with this kernel */
    size_t object_bytes;                 /* of the object that it takes instead of memory */
    set_up *set;
} calls[] = {
#define IN(primitive, bytes_of, name) {#name, primitive, needs_##bytes_of, 0, set_##name},
#define OBJECT(primitive, type, name) {#name, primitive, NULL, sizeof(type), set_##name},
    IN("aes", evc_aes, evc_aes_set_key_in)
    IN("aes", evc_aes, evc_aes_set_encrypt_key_in)
    IN("aes", evc_aes_ccm, evc_aes_ccm_set_key_in)
    IN("aes", evc_aes_cmac, evc_aes_cmac_set_key_in)
    IN("aes", evc_aes_xts, evc_aes_xts_set_key_in)
    IN("aes", evc_aes_xts, evc_aes_xts_set_key_allowing_in)
    IN("aes", evc_gcm_siv, evc_gcm_siv_set_key_in)
    IN("aes", pair, evc_gcm_set_pair_in)
    IN("gcm", evc_gcm, evc_gcm_set_key_in)
    IN("ghash", evc_ghash, evc_ghash_set_key_in)
    IN("bn", evc_bn, evc_bn_set_modulus_in)
    IN("bn", evc_dh_group, evc_dh_set_group_in)
    IN("bn", evc_dh_table, evc_dh_set_table_in)
    IN("bn", evc_rsa_public, evc_rsa_set_public_in)
    IN("bn", evc_rsa_private, evc_rsa_set_private_in)
    IN("bn", evc_rsa_generate, evc_rsa_generate)
    OBJECT("aes", union evc_aes_key, evc_aes_set_key)
    OBJECT("aes", union evc_aes_key, evc_aes_set_encrypt_key)
    OBJECT("aes", struct evc_aes_ccm_key, evc_aes_ccm_set_key)
    OBJECT("aes", struct evc_aes_cmac_key, evc_aes_cmac_set_key)
    OBJECT("aes", struct evc_aes_xts_key, evc_aes_xts_set_key)
    OBJECT("aes", struct evc_gcm_siv_key, evc_gcm_siv_set_key)
    OBJECT("aes", struct evc_gcm_siv_key, evc_gcm_siv_set_best)
    OBJECT("aes", union evc_gcm_key, evc_gcm_set_pair)
    OBJECT("aes", union evc_gcm_key, evc_gcm_set_best)
    OBJECT("aes", union evc_aes_key, evc_aes_set_best)
    OBJECT("aes", union evc_aes_key, evc_aes_cbc_encrypt_set_best)
    OBJECT("aes", union evc_aes_key, evc_aes_cbc_decrypt_set_best)
    OBJECT("aes", union evc_aes_key, evc_aes_ctr_set_best)
    OBJECT("aes", union evc_aes_key, evc_aes_kw_set_best)
    OBJECT("aes", struct evc_aes_ccm_key, evc_aes_ccm_set_best)
    OBJECT("aes", struct evc_aes_cmac_key, evc_aes_cmac_set_best)
    OBJECT("aes", struct evc_aes_xts_key, evc_aes_xts_set_best)
    OBJECT("ghash", union evc_ghash_key, evc_ghash_set_best)
    IN("bn", evc_bn_by_best, evc_bn_set_best_in)
    IN("bn", evc_dh_group_by_best, evc_dh_set_best_in)
    IN("bn", evc_rsa_public_by_best, evc_rsa_set_best_public_in)
    IN("bn", evc_rsa_private_by_best, evc_rsa_set_best_private_in)
    IN("bn", evc_rsa_public_by_best, evc_rsa_load_public)
    IN("bn", evc_rsa_private_by_best, evc_rsa_load_private)
    OBJECT("gcm", union evc_gcm_key, evc_gcm_set_key)
    OBJECT("ghash", union evc_ghash_key, evc_ghash_set_key)
    OBJECT("sha2", struct evc_hmac_key, evc_hmac_set_key)
    OBJECT("sha2", struct evc_hmac_key, evc_hmac_set_best)
    OBJECT("qarma", union evc_qarma_key, evc_qarma_set_key)
    OBJECT("qarma", struct evc_pac_keys, evc_pac_keys_init)
    {"evc_pac_set_key", "qarma", NULL, sizeof(struct evc_pac_key), set_pac_qarma5},
    {"evc_pac_set_key", "qarma", NULL, sizeof(struct evc_pac_key), set_pac_impdef},
    {"evc_pac_set_key", "qarma", NULL, sizeof(struct evc_pac_key), set_pac_aes128},
};

static int holds_zeros(size_t n)
{
    return all_are(room, 0, n) && all_are(room + n, 0xa5, BEHIND);
}

/* Whether a call leaves what it should; its kernel's key may be too large for the object. */
static int leaves_nothing(const struct call *c, const void *kernel, size_t needed)
{
    const size_t n = c->object_bytes ? c->object_bytes : needed + EXTRA;
    enum evc_status status;

    if (n > sizeof first_result)
        return 0;
    memset(room, 0x5a, sizeof room);
    status = c->set(room, n, kernel, 0);
    memcpy(first_result, room, n);
    memset(room, 0xa5, sizeof room);
    if (c->set(room, n, kernel, 0) != status || !same(room, first_result, n) ||
        !all_are(room + n, 0xa5, BEHIND))
        return 0;
    if (status != EVC_OK && !(c->object_bytes && status == EVC_ERR_KERNEL && holds_zeros(n)))
        return 0;
    for (int without_kernel = 0; without_kernel < 2; without_kernel++) {
        memset(room, 0xa5, sizeof room);
        if (c->set(room, n, without_kernel ? NULL : kernel, !without_kernel) == EVC_OK ||
            !holds_zeros(n))
            return 0;
    }
    if (c->object_bytes)
        return 1;
    memset(room, 0xa5, sizeof room);
    return c->set(room, needed - 1, kernel, 0) == EVC_ERR_KERNEL && holds_zeros(needed - 1);
}

static const void *kernel_named(const char *primitive, const char *name)
{
#define OF(word)                     \
    if (strcmp(primitive, #word) == 0) \
    return evc_##word##_named(name)
    OF(aes);
    OF(ghash);
    OF(gcm);
    OF(qarma);
    OF(sha2);
    OF(bn);
#undef OF
    return NULL;
}

static const struct call *call;

static void set_ups_leave_nothing_of_what_the_memory_held(void)
{
    const struct evc_registry_line *line;
    unsigned n_kernels = 0;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++) {
        if (strcmp(line->primitive, call->primitive) != 0 || !line->built || missing_feature(line))
            continue;
        const void *kernel = kernel_named(line->primitive, line->name);
        const size_t needed = call->needs ? call->needs(kernel) : call->object_bytes;

        if (needed) {
            n_kernels++;
            if (!leaves_nothing(call, kernel, needed)) {
                printf("# %s with %s\n", call->name, line->name);
                EXPECT(0);
            }
        }
    }
    EXPECT(n_kernels > 0 || strcmp(call->primitive, "gcm") == 0);
}

int main(void)
{
    for (call = calls; call < calls + sizeof calls / sizeof calls[0]; call++) {
        set_ups_leave_nothing_of_what_the_memory_held();
        tap_result("set_ups_leave_nothing_of_what_the_memory_held", call->name);
    }
    return tap_done();
}

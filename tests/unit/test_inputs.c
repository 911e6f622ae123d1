/* SPDX-License-Identifier: MIT */
/*
 * Calls of big numbers, primes, Diffie-Hellman and RSA: each input that has a length is refused if
 * it is NULL and the length is not 0, and so is each struct that tells what to do. tools/check-tree
 * compares the names of the calls and of the inputs below with the headers.
 */
#include "everycore/bn_words.h"
#include "everycore/dh.h"
#include "everycore/rsa_key_file.h"
#include "everycore/rsa_padding.h"
#include "rsa_keys.h"
#include "tap.h"

static int missing;
#define M(pointer) (missing ? NULL : (pointer))

/* The call is right but for the input in M(). */
#define REFUSED(function, input, arguments)                                      \
    do {                                                                         \
        missing = 0;                                                             \
        must(function arguments);                                                \
        missing = 1;                                                             \
        EXPECT(function arguments == EVC_ERR_PARAMETER);                         \
        tap_result("an_input_that_is_missing_is_refused", #function " " #input); \
    } while (0)

#define N_BYTES RSA_N_BYTES
#define P_BYTES RSA_P_BYTES

static EVC_ALIGN(16) uint8_t memory[65536], room[65536], group_memory[65536];
static uint8_t scratch[1 << 20], out[1024];
#define SCRATCH scratch, sizeof scratch
#define ROOM room, sizeof room

static int fill(void *context, uint8_t *bytes, size_t n_bytes)
{
    (void)context;
    random_fill(bytes, n_bytes);
    return 0;
}

static const struct evc_random randomness = {fill, NULL};
static const struct rsa_key_bytes *const bytes = &rsa_keys[0];
static const uint8_t three[N_BYTES] = {[P_BYTES - 1] = 3, [N_BYTES - 1] = 3};

static const struct evc_bn *kernel(void)
{
    return evc_bn_select(evc_cpu_features(), EVC_ALLOW_VARTIME, EVC_USE_ANY);
}

static void big_numbers(void)
{
    const struct evc_bn_modulus *const n = (const void *)memory;
    const struct evc_bn_words *const words = evc_bn_words_select(evc_cpu_features(), 0);
    const uint32_t primes[1] = {3};
    struct evc_bn_trial groups[1];
    uint32_t remainders[4];
    struct evc_bn_exp exps[1] = {
        {.n = n, .base = three, .exponent = three, .out = out, .exponent_bytes = N_BYTES}};

    REFUSED(evc_bn_set_modulus_in, n, (ROOM, kernel(), M(bytes->n), N_BYTES));
    REFUSED(evc_bn_set_best_in, n, (ROOM, evc_cpu_features(), 0, M(bytes->n), N_BYTES));
    must(evc_bn_set_modulus_in(memory, sizeof memory, kernel(), bytes->n, N_BYTES));
    REFUSED(evc_bn_mod_reduce, a, (n, M(bytes->d), N_BYTES, out, SCRATCH));
    REFUSED(evc_bn_exp, exponent, (n, three, M(three), N_BYTES, out, SCRATCH));
    REFUSED(evc_bn_exp_public, exponent, (n, three, M(three), N_BYTES, out, SCRATCH));
    REFUSED(evc_bn_exp_small, exponent, (n, 2, M(three), N_BYTES, out, SCRATCH));
    REFUSED(evc_bn_exp_many, exps, (M(exps), 1, SCRATCH));
    REFUSED(evc_bn_exp_many, exponent, ((exps[0].exponent = M(three), exps), 1, SCRATCH));
    REFUSED(evc_bn_gcd, a, (M(three), N_BYTES, bytes->n, N_BYTES, out, SCRATCH));
    REFUSED(evc_bn_gcd, b, (three, N_BYTES, M(bytes->n), N_BYTES, out, SCRATCH));
    REFUSED(evc_bn_inverse, a, (M(three), bytes->n, N_BYTES, out, SCRATCH));
    REFUSED(evc_bn_inverse, n, (three, M(bytes->n), N_BYTES, out, SCRATCH));
    must(evc_bn_trial_set(groups, evc_bn_trial_groups(primes, 1), primes, 1));
    REFUSED(evc_bn_mod_words, a, (words, groups, 1, M(three), N_BYTES, remainders, SCRATCH));
    REFUSED(evc_bn_mod_words, groups, (words, M(groups), 1, three, N_BYTES, remainders, SCRATCH));
}

static void primes(const struct evc_prime_search *search)
{
    REFUSED(evc_prime_test_public, n, (kernel(), M(bytes->p), P_BYTES, SCRATCH));
    REFUSED(evc_prime_test_bases, n, (kernel(), M(bytes->p), P_BYTES, three, 1, SCRATCH));
    REFUSED(evc_prime_test_bases, bases, (kernel(), bytes->p, P_BYTES, M(three), 1, SCRATCH));
    REFUSED(evc_prime_test_secret, n, (kernel(), M(bytes->p), P_BYTES, 1, &randomness, SCRATCH));
    REFUSED(evc_prime_find, search, (M(search), 128, rsa_e, 3, out, SCRATCH));
    REFUSED(evc_prime_find, e, (search, 128, M(rsa_e), 3, out, SCRATCH));
    REFUSED(evc_prime_find_safe, search, (M(search), 128, out, SCRATCH));
}

static void diffie_hellman(void)
{
    const struct evc_dh_params *const params = evc_dh_params_named("modp1536");
    const struct evc_dh_group *const group = (const void *)group_memory;
    uint8_t x[64] = {1}, peer[192];

    REFUSED(evc_dh_set_best_in, params, (ROOM, evc_cpu_features(), 0, M(params), 1536));
    REFUSED(evc_dh_set_group_in, params, (ROOM, kernel(), M(params), 1536));
    must(evc_dh_set_group_in(group_memory, sizeof group_memory, kernel(), params, 1536));
    must(evc_dh_public(group, x, peer, SCRATCH));
    REFUSED(evc_dh_shared, peer, (group, x, M(peer), sizeof peer, 0, out, SCRATCH));
}

static void rsa_keys_and_files(const struct evc_prime_search *search)
{
    const struct evc_rsa_numbers numbers = rsa_numbers(bytes);
    struct evc_rsa_numbers found;
    struct evc_rsa_operation operations[1] = {
        {.key = (const void *)memory, .in = three, .out = out}};
    uint8_t der[RSA_DER_BYTES];
    uint8_t public_der[5 + N_BYTES + 5] = {0x30, N_BYTES + 8, 2, N_BYTES + 1};

    REFUSED(evc_rsa_set_public_in, n, (ROOM, kernel(), M(bytes->n), N_BYTES, rsa_e, 3, 320));
    REFUSED(evc_rsa_set_public_in, e, (ROOM, kernel(), bytes->n, N_BYTES, M(rsa_e), 3, 320));
    REFUSED(evc_rsa_set_best_public_in, n,
            (ROOM, evc_cpu_features(), 0, M(bytes->n), N_BYTES, rsa_e, 3, 320));
    REFUSED(evc_rsa_set_best_public_in, e,
            (ROOM, evc_cpu_features(), 0, bytes->n, N_BYTES, M(rsa_e), 3, 320));
    REFUSED(evc_rsa_set_private_in, numbers, (ROOM, kernel(), M(&numbers), 320, SCRATCH));
    REFUSED(evc_rsa_set_best_private_in, numbers,
            (ROOM, evc_cpu_features(), 0, M(&numbers), 320, SCRATCH));
    REFUSED(evc_rsa_generate, search, (M(search), 1024, rsa_e, 3, ROOM, &found, SCRATCH));
    REFUSED(evc_rsa_generate, e, (search, 1024, M(rsa_e), 3, ROOM, &found, SCRATCH));
    must(evc_rsa_set_private_in(memory, sizeof memory, kernel(), &numbers, 320, SCRATCH));
    REFUSED(evc_rsa_private_many, operations, (M(operations), 1, &randomness, SCRATCH));
    rsa_put_der(der, bytes);
    REFUSED(evc_rsa_load_private, file,
            (ROOM, evc_cpu_features(), 0, M(der), sizeof der, 320, SCRATCH));
    memcpy(public_der + 5, bytes->n, N_BYTES);
    memcpy(public_der + 5 + N_BYTES, (const uint8_t[]){2, 3, 1, 0, 1}, 5);
    REFUSED(evc_rsa_load_public, file,
            (ROOM, evc_cpu_features(), 0, M(public_der), sizeof public_der, 320, SCRATCH));
    REFUSED(evc_rsa_read_private, file, (M(der), sizeof der, SCRATCH, &found));
    REFUSED(evc_rsa_read_public, file, (M(public_der), sizeof public_der, SCRATCH, &found));
}

static void rsa_paddings(void)
{
    static const uint8_t prefix[4] = {0x30}, digest[RSA_DIGEST_BYTES] = {1};
    const struct evc_rsa_private *const key = (const void *)memory;
    const struct evc_rsa_public *const public_key = evc_rsa_public_of(key);
    struct evc_rsa_hash hash = rsa_mixing;
    const struct evc_rsa_pss pss = {&hash, &hash, 9};
    const struct evc_rsa_oaep oaep = {&hash, &hash, digest, 3};
    struct evc_rsa_oaep named = oaep;
    uint8_t made[N_BYTES];
    size_t n;

    hash.prefix = prefix;
    hash.prefix_bytes = sizeof prefix;
    REFUSED(evc_rsa_sign_pkcs1, digest,
            (key, &hash, M(digest), sizeof digest, &randomness, out, SCRATCH));
    must(evc_rsa_sign_pkcs1(key, &hash, digest, sizeof digest, &randomness, made, SCRATCH));
    REFUSED(evc_rsa_verify_pkcs1, digest,
            (public_key, &hash, M(digest), sizeof digest, made, N_BYTES, SCRATCH));
    REFUSED(evc_rsa_verify_pkcs1, signature,
            (public_key, &hash, digest, sizeof digest, M(made), N_BYTES, SCRATCH));
    REFUSED(evc_rsa_sign_pss, pss,
            (key, M(&pss), digest, sizeof digest, &randomness, out, SCRATCH));
    REFUSED(evc_rsa_sign_pss, digest,
            (key, &pss, M(digest), sizeof digest, &randomness, out, SCRATCH));
    must(evc_rsa_sign_pss(key, &pss, digest, sizeof digest, &randomness, made, SCRATCH));
    REFUSED(evc_rsa_verify_pss, pss,
            (public_key, M(&pss), digest, sizeof digest, made, N_BYTES, SCRATCH));
    REFUSED(evc_rsa_verify_pss, digest,
            (public_key, &pss, M(digest), sizeof digest, made, N_BYTES, SCRATCH));
    REFUSED(evc_rsa_verify_pss, signature,
            (public_key, &pss, digest, sizeof digest, M(made), N_BYTES, SCRATCH));
    REFUSED(evc_rsa_encrypt_oaep, oaep,
            (public_key, M(&oaep), digest, 5, &randomness, out, SCRATCH));
    REFUSED(evc_rsa_encrypt_oaep, message,
            (public_key, &oaep, M(digest), 5, &randomness, out, SCRATCH));
    REFUSED(evc_rsa_encrypt_oaep, label,
            (public_key, (named.label = M(digest), &named), digest, 5, &randomness, out, SCRATCH));
    must(evc_rsa_encrypt_oaep(public_key, &oaep, digest, 5, &randomness, made, SCRATCH));
    REFUSED(evc_rsa_decrypt_oaep, oaep,
            (key, M(&oaep), made, N_BYTES, &randomness, out, &n, SCRATCH));
    REFUSED(evc_rsa_decrypt_oaep, ciphertext,
            (key, &oaep, M(made), N_BYTES, &randomness, out, &n, SCRATCH));
    REFUSED(evc_rsa_encrypt_pkcs1, message,
            (public_key, M(digest), 5, &randomness, out, SCRATCH));
    must(evc_rsa_encrypt_pkcs1(public_key, digest, 5, &randomness, made, SCRATCH));
    REFUSED(evc_rsa_decrypt_pkcs1, ciphertext,
            (key, &hash, M(made), N_BYTES, &randomness, out, &n, SCRATCH));
}

int main(void)
{
    const struct evc_prime_search search = {
        .kernel = kernel(),
        .words = evc_bn_words_select(evc_cpu_features(), 0),
        .random = {fill, NULL}};

    big_numbers();
    primes(&search);
    diffie_hellman();
    rsa_keys_and_files(&search);
    rsa_paddings();
    return tap_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * RSA with the SHA-2 of this library: one call for a message gives what two give, for the digest
 * and the signature; what is refused, and what is then left of the output.
 */
#include "tap.h"

#include "everycore/rsa_sha2.h"

#define N_BITS 1088 /* OAEP and PSS with SHA-512 want 1040 */
#define N_BYTES (N_BITS / 8)

static const enum evc_sha2_hash hashes[] = {EVC_SHA224, EVC_SHA256, EVC_SHA384, EVC_SHA512,
                                            EVC_SHA512_256};
#define N_HASHES (sizeof hashes / sizeof hashes[0])

static EVC_ALIGN(16) uint8_t memory[EVC_RSA_MOST_PRIVATE_BYTES(N_BITS)];
static uint8_t scratch[1u << 20];
static const struct evc_rsa_private *const key = (const void *)memory;
static uint8_t message[300], made[N_BYTES], again[N_BYTES];

/* The same bytes in every call, so that signatures can be compared. */
static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    (void)context;
    for (size_t i = 0; i < n_bytes; i++)
        out[i] = (uint8_t)(7 * i + 3);
    return 0;
}

static int fill_freely(void *context, uint8_t *out, size_t n_bytes)
{
    (void)context;
    random_fill(out, n_bytes);
    return 0;
}

static const struct evc_random constant = {fill, NULL};

static void a_key_is_made(void)
{
    static uint8_t numbers_memory[8192];
    const struct evc_prime_search search = {
        .kernel = evc_bn_select(evc_cpu_features(), 0, EVC_USE_PARALLEL),
        .words = evc_bn_words_select(evc_cpu_features(), 0),
        .random = {fill_freely, NULL}};
    static const uint8_t e[] = {1, 0, 1};
    struct evc_rsa_numbers numbers;

    EXPECT(evc_rsa_numbers_bytes(N_BITS) <= sizeof numbers_memory);
    must(evc_rsa_generate(&search, N_BITS, e, sizeof e, numbers_memory, sizeof numbers_memory,
                          &numbers, scratch, sizeof scratch));
    must(evc_rsa_set_best_private_in(memory, sizeof memory, evc_cpu_features(), 0, &numbers, N_BITS,
                                     scratch, sizeof scratch));
    random_fill(message, sizeof message);
}

#define SCRATCH scratch, sizeof scratch

static void one_call_signs_what_two_sign(const struct evc_sha2 *kernel, enum evc_sha2_hash which,
                                         size_t n_bytes)
{
    const size_t digest_bytes = evc_sha2_digest_bytes(which);
    const struct evc_rsa_public *const public_key = evc_rsa_public_of(key);
    struct evc_rsa_hash hash;
    struct evc_rsa_pss pss = {&hash, &hash, (uint32_t)digest_bytes};
    uint8_t digest[64], wrong[sizeof message];

    must(evc_rsa_hash_sha2(&hash, kernel, which));
    must(evc_sha2_digest(kernel, which, message, n_bytes, digest));
    memcpy(wrong, message, sizeof message);
    wrong[n_bytes / 2] ^= 1;

    must(evc_rsa_sign_pkcs1(key, &hash, digest, digest_bytes, &constant, made, SCRATCH));
    must(evc_rsa_sign_pkcs1_sha2(key, kernel, which, message, n_bytes, &constant, again, SCRATCH));
    EXPECT(same(made, again, N_BYTES));
    must(evc_rsa_verify_pkcs1_sha2(public_key, kernel, which, message, n_bytes, made, N_BYTES,
                                   SCRATCH));
    EXPECT(evc_rsa_verify_pkcs1_sha2(public_key, kernel, which, message, n_bytes + 1, made, N_BYTES,
                                     SCRATCH) == EVC_ERR_SIGNATURE);
    EXPECT(evc_rsa_verify_pkcs1_sha2(public_key, kernel, which, wrong, n_bytes, made, N_BYTES,
                                     SCRATCH) == EVC_ERR_SIGNATURE);

    must(evc_rsa_sign_pss(key, &pss, digest, digest_bytes, &constant, made, SCRATCH));
    must(evc_rsa_sign_pss_sha2(key, kernel, which, message, n_bytes, &constant, again, SCRATCH));
    EXPECT(same(made, again, N_BYTES));
    must(evc_rsa_verify_pss_sha2(public_key, kernel, which, message, n_bytes, made, N_BYTES,
                                 SCRATCH));
    EXPECT(evc_rsa_verify_pss_sha2(public_key, kernel, which, message, n_bytes + 1, made, N_BYTES,
                                   SCRATCH) == EVC_ERR_SIGNATURE);
    EXPECT(evc_rsa_verify_pss_sha2(public_key, kernel, which, wrong, n_bytes, made, N_BYTES,
                                   SCRATCH) == EVC_ERR_SIGNATURE);
    pss.salt_bytes--; /* a shorter salt is no signature of the other call */
    must(evc_rsa_sign_pss(key, &pss, digest, digest_bytes, &constant, made, SCRATCH));
    EXPECT(evc_rsa_verify_pss_sha2(public_key, kernel, which, message, n_bytes, made, N_BYTES,
                                   SCRATCH) == EVC_ERR_SIGNATURE);
}

static void every_kernel_signs(void)
{
    for (unsigned i = 0; evc_sha2_at(i); i++) {
        const struct evc_sha2 *const kernel = evc_sha2_at(i);
        if (kernel->kernel.needs & ~evc_cpu_features() & ~EVC_SAME_RESULTS_MASK)
            continue;
        for (size_t h = 0; h < N_HASHES; h++) {
            const int is_there = evc_sha2_block_bytes(hashes[h]) == 64 ? kernel->blocks256 != NULL
                                                                       : kernel->blocks512 != NULL;
            if (is_there)
                one_call_signs_what_two_sign(kernel, hashes[h], 1 + 40 * h);
            else
                EXPECT(evc_rsa_sign_pss_sha2(key, kernel, hashes[h], message, 9, &constant, made,
                                             SCRATCH) == EVC_ERR_HASH);
        }
    }
}

static void oaep_gives_the_message_back(void)
{
    const struct evc_rsa_public *const public_key = evc_rsa_public_of(key);

    for (size_t h = 0; h < N_HASHES; h++) {
        const struct evc_sha2 *const kernel = evc_sha2_named("c_ref");
        const size_t most = N_BYTES - 2 * evc_sha2_digest_bytes(hashes[h]) - 2;
        struct evc_rsa_hash hash;
        const struct evc_rsa_oaep oaep = {.hash = &hash, .mgf_hash = &hash};
        uint8_t out[N_BYTES];
        size_t n;

        must(evc_rsa_hash_sha2(&hash, kernel, hashes[h]));
        must(evc_rsa_encrypt_oaep(public_key, &oaep, message, most, &constant, made, SCRATCH));
        must(evc_rsa_encrypt_oaep_sha2(public_key, kernel, hashes[h], message, most, &constant,
                                       again, SCRATCH));
        EXPECT(same(made, again, N_BYTES));
        memset(out, 0xa5, sizeof out);
        must(evc_rsa_decrypt_oaep_sha2(key, kernel, hashes[h], made, N_BYTES, &constant, out, &n,
                                       SCRATCH));
        EXPECT(n == most && same(out, message, most));
        EXPECT(all_are(out + most, 0xa5, sizeof out - most));
        made[N_BYTES - 1] ^= 1;
        EXPECT(evc_rsa_decrypt_oaep_sha2(key, kernel, hashes[h], made, N_BYTES, &constant, out, &n,
                                         SCRATCH) == EVC_ERR_PADDING);
        EXPECT(n == 0 && all_are(out, 0, most) && all_are(out + most, 0xa5, sizeof out - most));
        EXPECT(evc_rsa_encrypt_oaep_sha2(public_key, kernel, hashes[h], message, most + 1,
                                         &constant, again, SCRATCH) == EVC_ERR_LENGTH);
        EXPECT(all_are(again, 0, sizeof again));
    }
}

static void hashes_and_kernels_that_are_not_there_are_refused(void)
{
    const struct evc_sha2 *const kernel = evc_sha2_named("c_ref");
    const struct evc_rsa_public *const public_key = evc_rsa_public_of(key);
    struct evc_rsa_hash hash;
    uint8_t out[N_BYTES];
    size_t n = 1;

    memset(&hash, 0xa5, sizeof hash);
    EXPECT(evc_rsa_hash_sha2(&hash, kernel, (enum evc_sha2_hash)0) == EVC_ERR_PARAMETER);
    EXPECT(!hash.digest && !hash.context && !hash.digest_bytes && !hash.prefix);
    memset(&hash, 0xa5, sizeof hash);
    EXPECT(evc_rsa_hash_sha2(&hash, NULL, EVC_SHA256) == EVC_ERR_KERNEL);
    EXPECT(!hash.digest && !hash.context && !hash.digest_bytes && !hash.prefix);
    for (int i = 0; i < 2; i++) {
        const struct evc_sha2 *const k = i ? NULL : kernel;
        const enum evc_sha2_hash which = i ? EVC_SHA224 : (enum evc_sha2_hash)6;
        const size_t most = N_BYTES - 2 * (i ? 28 : 64) - 2;

        memset(made, 0xa5, sizeof made);
        EXPECT(evc_rsa_sign_pkcs1_sha2(key, k, which, message, 9, &constant, made, SCRATCH) ==
               EVC_ERR_HASH);
        EXPECT(all_are(made, 0, sizeof made));
        memset(made, 0xa5, sizeof made);
        EXPECT(evc_rsa_sign_pss_sha2(key, k, which, message, 9, &constant, made, SCRATCH) ==
               EVC_ERR_HASH);
        EXPECT(all_are(made, 0, sizeof made));
        EXPECT(evc_rsa_verify_pkcs1_sha2(public_key, k, which, message, 9, made, N_BYTES,
                                         SCRATCH) == EVC_ERR_HASH);
        EXPECT(evc_rsa_verify_pss_sha2(public_key, k, which, message, 9, made, N_BYTES, SCRATCH) ==
               EVC_ERR_HASH);
        memset(made, 0xa5, sizeof made);
        EXPECT(evc_rsa_encrypt_oaep_sha2(public_key, k, which, message, 1, &constant, made,
                                         SCRATCH) == EVC_ERR_HASH);
        EXPECT(all_are(made, 0, sizeof made));
        memset(out, 0xa5, sizeof out);
        EXPECT(evc_rsa_decrypt_oaep_sha2(key, k, which, message, N_BYTES, &constant, out, &n,
                                         SCRATCH) == EVC_ERR_HASH);
        EXPECT(n == 0 && all_are(out, 0, most) && all_are(out + most, 0xa5, sizeof out - most));
    }
}

static void a_missing_message_is_refused(void)
{
    const struct evc_sha2 *const kernel = evc_sha2_named("c_ref");
    const struct evc_rsa_public *const public_key = evc_rsa_public_of(key);

    memset(made, 0xa5, sizeof made);
    EXPECT(evc_rsa_sign_pkcs1_sha2(key, kernel, EVC_SHA256, NULL, 1, &constant, made, SCRATCH) ==
           EVC_ERR_PARAMETER);
    EXPECT(all_are(made, 0, sizeof made));
    EXPECT(evc_rsa_sign_pss_sha2(key, kernel, EVC_SHA256, NULL, 1, &constant, made, SCRATCH) ==
           EVC_ERR_PARAMETER);
    must(evc_rsa_sign_pss_sha2(key, kernel, EVC_SHA256, NULL, 0, &constant, made, SCRATCH));
    must(evc_rsa_verify_pss_sha2(public_key, kernel, EVC_SHA256, NULL, 0, made, N_BYTES, SCRATCH));
    EXPECT(evc_rsa_verify_pss_sha2(public_key, kernel, EVC_SHA256, NULL, 1, made, N_BYTES,
                                   SCRATCH) == EVC_ERR_PARAMETER);
    EXPECT(evc_rsa_verify_pss_sha2(public_key, kernel, EVC_SHA256, NULL, 0, NULL, N_BYTES,
                                   SCRATCH) == EVC_ERR_PARAMETER);
    EXPECT(evc_rsa_verify_pkcs1_sha2(public_key, kernel, EVC_SHA256, NULL, 1, made, N_BYTES,
                                     SCRATCH) == EVC_ERR_PARAMETER);
    EXPECT(evc_rsa_verify_pkcs1_sha2(public_key, kernel, EVC_SHA256, NULL, 0, made, N_BYTES - 1,
                                     SCRATCH) == EVC_ERR_SIGNATURE);
}

static void pieces_are_hashed_one_behind_the_other(void)
{
    static const char *const names[N_HASHES] = {"sha224", "sha256", "sha384", "sha512",
                                                "sha512-256"};

    for (size_t h = 0; h < N_HASHES; h++) {
        const struct evc_sha2 *const kernel = evc_sha2_named("c_ref");
        const struct evc_rsa_piece pieces[] = {{message, 70}, {NULL, 0}, {message + 70, 30}};
        struct evc_rsa_hash hash;
        uint8_t whole[64], made_of_pieces[64];
        uint32_t prefix_bytes;

        must(evc_rsa_hash_sha2(&hash, kernel, hashes[h]));
        EXPECT(hash.digest_bytes == evc_sha2_digest_bytes(hashes[h]));
        EXPECT(hash.block_bytes == evc_sha2_block_bytes(hashes[h]));
        EXPECT(hash.prefix == evc_rsa_digest_prefix(names[h], &prefix_bytes));
        EXPECT(hash.prefix_bytes == prefix_bytes);
        must(evc_sha2_digest(kernel, hashes[h], message, 100, whole));
        EXPECT(hash.digest(hash.context, pieces, 3, made_of_pieces) == 0);
        EXPECT(same(whole, made_of_pieces, hash.digest_bytes));
    }
}

/* A hash fails for pieces that are longer than its standard allows, and leaves nothing. */
static void a_label_beyond_the_limit_is_refused(void)
{
    struct evc_rsa_hash hash;
    const struct evc_rsa_piece pieces[] = {{message, 9}, {message, SIZE_MAX}};
    uint8_t out[32];

    must(evc_rsa_hash_sha2(&hash, evc_sha2_named("c_ref"), EVC_SHA256));
    if (SIZE_MAX >> 61) {
        memset(out, 0xa5, sizeof out);
        EXPECT(hash.digest(hash.context, pieces, 2, out) != 0);
        EXPECT(all_are(out, 0xa5, sizeof out));
    }
    EXPECT(hash.digest(hash.context, pieces, 1, out) == 0);
}

int main(void)
{
    RUN(a_key_is_made);
    RUN(every_kernel_signs);
    RUN(oaep_gives_the_message_back);
    RUN(hashes_and_kernels_that_are_not_there_are_refused);
    RUN(a_missing_message_is_refused);
    RUN(pieces_are_hashed_one_behind_the_other);
    RUN(a_label_beyond_the_limit_is_refused);
    return tap_done();
}

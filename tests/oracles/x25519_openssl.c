/* SPDX-License-Identifier: MIT */
/*
 * X25519 beside that of OpenSSL: x25519_openssl [N]
 *
 * Each kernel that runs here makes N exchanges of random secrets with random public values, the
 * selected one a hundred times as many; every value of both sides must be OpenSSL's. c_ref, which
 * is slow, makes a tenth.
 */
#include <openssl/evp.h>
#include <stdlib.h>

#include "everycore/x25519.h"

#include "tap.h"

#define BYTES EVC_X25519_BYTES

/* OpenSSL computes both; 0: it refuses the public value. */
static int theirs(const uint8_t *secret, const uint8_t *peer, uint8_t *mine, uint8_t *shared)
{
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, secret, BYTES),
             *other = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, peer, BYTES);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
    size_t mine_bytes = BYTES, shared_bytes = BYTES;
    int is_taken;

    EXPECT(key && other && context);
    EXPECT(EVP_PKEY_get_raw_public_key(key, mine, &mine_bytes) == 1 && mine_bytes == BYTES);
    EXPECT(EVP_PKEY_derive_init(context) == 1);
    is_taken = EVP_PKEY_derive_set_peer(context, other) == 1 &&
               EVP_PKEY_derive(context, shared, &shared_bytes) == 1;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(other);
    EVP_PKEY_free(key);
    return is_taken;
}

static void exchanges_are_those_of_openssl(const struct evc_x25519 *kernel, long n)
{
    uint8_t secret[BYTES], peer[BYTES], mine[BYTES], shared[BYTES], expected[BYTES],
        expected_shared[BYTES];

    for (long i = 0; i < n; i++) {
        random_fill(secret, sizeof secret);
        random_fill(peer, sizeof peer);
        must(evc_x25519_public(kernel, secret, mine));
        must(evc_x25519_shared(kernel, secret, peer, shared));
        EXPECT(theirs(secret, peer, expected, expected_shared));
        EXPECT(same(mine, expected, BYTES) && same(shared, expected_shared, BYTES));
    }
}

int main(int argc, char **argv)
{
    const long n = argc > 1 ? atol(argv[1]) : 100;
    const uint64_t features = evc_cpu_features();
    const struct evc_x25519 *kernel, *selected = evc_x25519_select(features, 0);

    for (unsigned i = 0; (kernel = evc_x25519_at(i)) != NULL; i++) {
        if (!evc_kernel_runs(&kernel->kernel, features))
            continue;
        exchanges_are_those_of_openssl(kernel, kernel == selected                          ? 100 * n
                                               : strcmp(kernel->kernel.name, "c_ref") == 0 ? n / 10
                                                                                           : n);
        tap_result("exchanges_are_those_of_openssl", kernel->kernel.name);
    }
    return tap_done();
}

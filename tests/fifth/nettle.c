/* SPDX-License-Identifier: MIT */
/* Repeats one operation of Nettle as often as it is told, and prints a byte of the result. */

#include <nettle/camellia.h>
#include <nettle/chacha-poly1305.h>
#include <nettle/ecc-curve.h>
#include <nettle/ecdsa.h>
#include <nettle/knuth-lfib.h>
#include <nettle/nettle-meta.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char text[65536], key[32], nonce[12], tag[16];

int main(int argc, char **argv)
{
    struct chacha_poly1305_ctx aead;
    struct camellia256_ctx camellia;
    struct ecc_scalar secret;
    struct dsa_signature signature;
    struct knuth_lfib_ctx random;
    mpz_t number;

    if (argc != 3)
        return 2;
    chacha_poly1305_set_key(&aead, key);
    camellia256_set_encrypt_key(&camellia, key);
    knuth_lfib_init(&random, 17);
    mpz_init_set_str(number, "123456789123456789123456789", 10);
    ecc_scalar_init(&secret, nettle_get_secp_256r1());
    ecc_scalar_set(&secret, number);
    dsa_signature_init(&signature);
    for (long n = atol(argv[2]); n > 0; n--)
        if (strcmp(argv[1], "chacha20poly1305") == 0) {
            chacha_poly1305_set_nonce(&aead, nonce);
            chacha_poly1305_encrypt(&aead, sizeof text, text, text);
            chacha_poly1305_digest(&aead, sizeof tag, tag);
        } else if (strcmp(argv[1], "camellia") == 0)
            camellia256_crypt(&camellia, sizeof text, text, text);
        else
            ecdsa_sign(&secret, &random, (nettle_random_func *)knuth_lfib_random, 32, text, &signature);
    printf("%02x\n", text[5]);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Repeats one operation of libsecp256k1 or libdecaf as often as it is told, and prints a part of the result. */
#include <decaf/ed448.h>
#include <secp256k1.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int many, char **words)
{
    unsigned char secret[57] = {9}, result[114] = {0}, message[32] = {1};
    secp256k1_context *context = secp256k1_context_create(SECP256K1_CONTEXT_SIGN | SECP256K1_CONTEXT_VERIFY);
    secp256k1_ecdsa_signature signature;
    secp256k1_pubkey key;
    decaf_eddsa_448_keypair_t pair;

    decaf_ed448_derive_keypair(pair, secret);
    if (!secp256k1_ec_pubkey_create(context, &key, secret) ||
        !secp256k1_ecdsa_sign(context, &signature, message, secret, NULL, NULL))
        return 1;
    for (long n = many > 2 ? atol(words[2]) : 0; n > 0; n--) {
        if (!strcmp(words[1], "ed448"))
            decaf_ed448_keypair_sign(result, pair, message, 32, 0, NULL, 0);
        else if (!secp256k1_ecdsa_verify(context, &signature, message, &key))
            return 1;
        memcpy(result + 100, &n, 4);
    }
    for (int n = 0; n < 16; n++)
        printf("%02x", result[n]);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Repeats one operation of BoringSSL as often as it is told: boring NAME COUNT */

#include <openssl/aead.h>
#include <openssl/curve25519.h>
#include <openssl/ec_key.h>
#include <openssl/ecdsa.h>
#include <openssl/nid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char text[65536 + 64];

int main(int n_words, char **words)
{
    if (n_words != 3)
        return 1;
    int count = atoi(words[2]);
    if (!strcmp(words[1], "chacha")) {
        unsigned char key[32] = {1}, nonce[12] = {2};
        EVP_AEAD_CTX *tool = EVP_AEAD_CTX_new(EVP_aead_chacha20_poly1305(), key, sizeof key, 16);
        for (size_t len; count; count--)
            if (!EVP_AEAD_CTX_seal(tool, text, &len, sizeof text, nonce, sizeof nonce, text, 65536, NULL, 0))
                return 1;
    } else if (!strcmp(words[1], "p256")) {
        EC_KEY *key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
        if (!key || !EC_KEY_generate_key(key))
            return 1;
        for (unsigned len; count; count--)
            if (!ECDSA_sign(0, text, 32, text + 64, &len, key) || !ECDSA_verify(0, text, 32, text + 64, len, key))
                return 1;
        memset(text, 0, sizeof text);
    } else {
        unsigned char secret[64], public[32];
        ED25519_keypair_from_seed(public, secret, text);
        for (; count; count--)
            if (!ED25519_sign(text, text, 64, secret))
                return 1;
    }
    printf("%d\n", text[0]);
    return 0;
}

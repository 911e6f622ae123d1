/* SPDX-License-Identifier: MIT */
/*
 * Repeats one operation of libsodium as often as it is told, and prints a part of the result.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int many, char **words)
{
    static unsigned char text[16384], key[32] = {9};
    long n = many > 2 ? atol(words[2]) : 0;

    if (sodium_init() < 0)
        return 1;
    for (; n > 0; n--) {
        if (!strcmp(words[1], "argon2id")) {
            if (crypto_pwhash(text, 32, (char *)text, 32, key, 2, 64 << 20, crypto_pwhash_ALG_ARGON2ID13))
                return 1;
        } else if (!strcmp(words[1], "x25519")) {
            if (crypto_scalarmult(key, text, key) && crypto_scalarmult_base(key, text))
                return 1;
            memcpy(text, key, 32);
        } else {
            crypto_generichash(text, 64, text, sizeof(text), NULL, 0);
        }
    }
    for (n = 0; n < 16; n++)
        printf("%02x", text[n]);
    puts("");
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Repeats one operation of wolfCrypt as often as it is told, and prints a byte of the result. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wolfssl/options.h>
#include <wolfssl/wolfcrypt/chacha20_poly1305.h>
#include <wolfssl/wolfcrypt/curve25519.h>
#include <wolfssl/wolfcrypt/sha3.h>

static unsigned char text[16384], key[32], nonce[12], tag[16];

int main(int argc, char **argv)
{
    wc_Sha3 sha3;

    if (argc != 3)
        return 2;
    text[0] = 9;
    key[31] = 64;
    wc_InitSha3_256(&sha3, NULL, INVALID_DEVID);
    for (long n = atol(argv[2]); n > 0; n--)
        if (strcmp(argv[1], "chacha20poly1305") == 0)
            wc_ChaCha20Poly1305_Encrypt(key, nonce, NULL, 0, text, sizeof text, text, tag);
        else if (strcmp(argv[1], "sha3") == 0) {
            wc_Sha3_256_Update(&sha3, text, sizeof text);
            wc_Sha3_256_Final(&sha3, text);
        } else if (wc_curve25519_generic(32, text, 32, key, 32, text))
            return 1;
    printf("%02x\n", text[5]);
    return 0;
}

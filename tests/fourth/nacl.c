/* SPDX-License-Identifier: MIT */
/* Repeats one operation of NaCl as often as it is told, and prints a byte of the result. */

#include <crypto_hash_sha512.h>
#include <crypto_scalarmult_curve25519.h>
#include <crypto_stream_salsa20.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char text[65536], key[32] = {7}, nonce[24];

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    text[0] = 9;
    for (long n = atol(argv[2]); n > 0; n--)
        if (strcmp(argv[1], "salsa20") == 0)
            crypto_stream_salsa20_xor(text, text, sizeof text, nonce, key);
        else
            crypto_scalarmult_curve25519(text, key, text);
    printf("%02x\n", text[5]);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Signs with an RSA key so many times, and verifies the last signature: sign KEY TIMES. The
 * key is PKCS#1 in PEM. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/pem.h>
#include <openssl/rsa.h>

int main(int argc, char **argv)
{
    static unsigned char message[1024], signature[1024], recovered[1024];
    FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
    RSA *key = file ? PEM_read_RSAPrivateKey(file, NULL, NULL, NULL) : NULL;
    const long times = argc == 3 ? atol(argv[2]) : 0;
    const int n_bytes = key ? RSA_size(key) : 0;

    if (!n_bytes || n_bytes > (int)sizeof message || times < 1)
        return 2;
    memset(message + 1, 7, (size_t)n_bytes - 1);
    for (long i = 0; i < times; i++)
        if (RSA_private_encrypt(n_bytes, message, signature, key, RSA_NO_PADDING) != n_bytes)
            return 3;
    if (RSA_public_decrypt(n_bytes, signature, recovered, key, RSA_NO_PADDING) != n_bytes ||
        memcmp(message, recovered, (size_t)n_bytes) != 0)
        return 1;
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Repeats one operation of Mbed TLS as often as it is told, and prints a byte of the result. */

#include <mbedtls/bignum.h>
#include <mbedtls/chachapoly.h>
#include <mbedtls/ecdsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char text[16384], key[32], tag[16], bytes[256];

static int random_bytes(void *state, unsigned char *out, size_t length)
{
    static unsigned int seed = 1;
    (void)state;
    while (length--)
        *out++ = (unsigned char)((seed = seed * 1103515245 + 12345) >> 16);
    return 0;
}

int main(int argc, char **argv)
{
    mbedtls_chachapoly_context aead;
    mbedtls_mpi base, exponent, modulus, square, r, s, secret;
    mbedtls_ecp_group group;

    if (argc != 3)
        return 2;
    mbedtls_chachapoly_init(&aead);
    mbedtls_chachapoly_setkey(&aead, key);
    mbedtls_mpi *all[] = {&base, &exponent, &modulus, &square, &r, &s, &secret};
    for (int n = 0; n < 7; n++) {
        mbedtls_mpi_init(all[n]);
        random_bytes(NULL, bytes, sizeof bytes);
        bytes[255] |= n == 2; /* Montgomery's products need an odd modulus */
        mbedtls_mpi_read_binary(all[n], bytes, n == 6 ? 31 : sizeof bytes);
    }
    mbedtls_mpi_free(&square); /* it is computed when it is empty */
    mbedtls_ecp_group_init(&group);
    mbedtls_ecp_group_load(&group, MBEDTLS_ECP_DP_SECP256R1);
    for (long n = atol(argv[2]); n > 0; n--)
        if (strcmp(argv[1], "chacha20poly1305") == 0)
            mbedtls_chachapoly_encrypt_and_tag(&aead, sizeof text, key, NULL, 0, text, text, tag);
        else if (strcmp(argv[1], "modexp") == 0)
            mbedtls_mpi_exp_mod(&base, &base, &exponent, &modulus, &square);
        else if (mbedtls_ecdsa_sign(&group, &r, &s, &secret, text, 32, random_bytes, NULL))
            return 1;
    mbedtls_mpi_write_binary(&base, bytes, sizeof bytes);
    printf("%02x%02x\n", text[5], bytes[255]);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Repeats one operation of MIT Kerberos as often as it is told, and prints a byte of the result. */

#include <krb5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[16384], sealed[16384 + 64];

int main(int argc, char **argv)
{
    unsigned char bytes[32] = {7};
    krb5_keyblock key = {.enctype = ENCTYPE_CAMELLIA256_CTS_CMAC, .length = 32, .contents = bytes};
    krb5_data word = {.length = 8, .data = text}, plain = {.length = sizeof text, .data = text};
    krb5_data rounds = {.length = 4, .data = (char[]){0, 1, 0, 0}};

    if (argc != 3)
        return 2;
    for (long n = atol(argv[2]); n > 0; n--)
        if (strcmp(argv[1], "camellia") == 0) {
            krb5_enc_data out = {.ciphertext = {.length = sizeof sealed, .data = sealed}};

            if (krb5_c_encrypt(NULL, &key, 1, NULL, &plain, &out) != 0)
                return 1;
        } else {
            if (krb5_c_string_to_key_with_params(NULL, ENCTYPE_AES256_CTS_HMAC_SHA1_96, &word, &word,
                                                 &rounds, &key) != 0)
                return 1;
            memcpy(text, key.contents, 8);
            krb5_free_keyblock_contents(NULL, &key);
        }
    printf("%02x\n", text[5] & 255);
    return 0;
}

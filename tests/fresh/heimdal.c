/* SPDX-License-Identifier: MIT */
/* Repeats one operation of Heimdal's libhcrypto as often as it is told, and prints a part of the result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hcrypto/evp.h>
#include <hcrypto/evp-hcrypto.h>

int main(int many, char **words)
{
    static unsigned char text[16384], key[32] = {9, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16}, iv[16];
    const char *name = many > 2 ? words[1] : "";
    const EVP_CIPHER *cipher = !strcmp(name, "aes") ? EVP_hcrypto_aes_256_cbc() : EVP_hcrypto_des_ede3_cbc();
    EVP_CIPHER_CTX context;
    EVP_MD_CTX *digest = EVP_MD_CTX_create();

    EVP_CIPHER_CTX_init(&context);
    if (!EVP_CipherInit_ex(&context, cipher, NULL, key, iv, 1))
        return 1;
    for (long n = many > 2 ? atol(words[2]) : 0; n > 0; n--) {
        if (strcmp(name, "md4")) {
            EVP_Cipher(&context, text, text, sizeof(text));
        } else {
            EVP_DigestInit_ex(digest, EVP_hcrypto_md4(), NULL);
            EVP_DigestUpdate(digest, text, sizeof(text));
            EVP_DigestFinal_ex(digest, text, NULL);
        }
    }
    for (int n = 0; n < 16; n++)
        printf("%02x", text[n]);
    return 0;
}

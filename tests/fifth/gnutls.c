/* SPDX-License-Identifier: MIT */
/* Repeats one operation of GnuTLS as often as it is told, and prints a byte of the result. */

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char text[65536 + 16], bytes[32];
static const giovec_t part = {text, 65536}, nothing;

int main(int argc, char **argv)
{
    gnutls_aead_cipher_hd_t aead;
    gnutls_privkey_t private;
    gnutls_datum_t key = {bytes, 32}, digest = {text, 32}, signature;

    if (argc != 3 || gnutls_global_init() || gnutls_aead_cipher_init(&aead, GNUTLS_CIPHER_AES_256_GCM, &key))
        return 2;
    if (strcmp(argv[1], "rsa") == 0 &&
        (gnutls_privkey_init(&private) || gnutls_privkey_generate(private, GNUTLS_PK_RSA, 2048, 0)))
        return 1;
    for (long n = atol(argv[2]); n > 0; n--)
        if (strcmp(argv[1], "gcm") == 0) {
            size_t size = 16;
            if (gnutls_aead_cipher_encryptv2(aead, bytes, 12, &nothing, 0, &part, 1, text + 65536, &size))
                return 1;
        } else {
            if (gnutls_privkey_sign_hash(private, GNUTLS_DIG_SHA256, 0, &digest, &signature))
                return 1;
            gnutls_free(signature.data);
        }
    printf("%02x\n", strcmp(argv[1], "rsa") == 0 ? 0 : text[5]);
    return 0;
}

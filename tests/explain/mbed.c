/* SPDX-License-Identifier: MIT */
#include "loop.h"
#include <mbedtls/gcm.h>
#include <mbedtls/sha256.h>

int main(int argc, char **argv) /* gcm|sha256 */
{
    if (argc < 2)
        return 2;
    if (!strcmp(argv[1], "gcm")) {
        mbedtls_gcm_context gcm;
        mbedtls_gcm_init(&gcm);
        mbedtls_gcm_setkey(&gcm, MBEDTLS_CIPHER_ID_AES, key, 256);
        REPEAT(mbedtls_gcm_crypt_and_tag(&gcm, 1, 16384, nonce, 12, NULL, 0, text, text, 16, tag));
    } else {
        REPEAT(mbedtls_sha256_ret(text, 16384, tag, 0));
    }
    return 0;
}

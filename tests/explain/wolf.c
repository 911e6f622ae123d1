/* SPDX-License-Identifier: MIT */
#include "loop.h"
#include <wolfssl/options.h>

#include <wolfssl/wolfcrypt/aes.h>
#include <wolfssl/wolfcrypt/hash.h>

int main(int argc, char **argv) /* gcm|sha256 */
{
    static Aes aes;
    if (argc < 2 || wc_AesInit(&aes, NULL, INVALID_DEVID) || wc_AesGcmSetKey(&aes, key, 32))
        return 2;
    if (!strcmp(argv[1], "gcm"))
        REPEAT(wc_AesGcmEncrypt(&aes, text, text, 16384, nonce, 12, tag, 16, NULL, 0));
    else
        REPEAT(wc_Hash(WC_HASH_TYPE_SHA256, text, 16384, tag, 32));
    return 0;
}

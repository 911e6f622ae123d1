/* SPDX-License-Identifier: MIT */
#include "loop.h"
#include <sodium.h>

int main(void)
{
    unsigned long long length;
    if (sodium_init() < 0)
        return 1;
    REPEAT(crypto_aead_chacha20poly1305_ietf_encrypt(text, &length, text, 16384, NULL, 0, NULL, nonce, key));
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "loop.h"
#include <nettle/gcm.h>

int main(void)
{
    struct gcm_aes256_ctx gcm;
    gcm_aes256_set_key(&gcm, key);
    REPEAT(gcm_aes256_set_iv(&gcm, 12, nonce); gcm_aes256_encrypt(&gcm, 16384, text, text));
    return 0;
}

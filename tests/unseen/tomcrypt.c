/* SPDX-License-Identifier: MIT */
/*
 * Repeats one operation of libtomcrypt as often as it is told, and prints a part of the result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tomcrypt.h>

int main(int many, char **words)
{
    static unsigned char key[32], nonce[12], text[16384], tag[64];
    long n = many > 2 ? atol(words[2]) : 0;
    int cipher = register_cipher(&aes_desc), twofish = register_cipher(&twofish_desc);
    symmetric_CTR ctr;
    unsigned long bytes;

    for (; n > 0; n--) {
        if (!strcmp(words[1], "gcm")) {
            bytes = 16;
            gcm_memory(cipher, key, 32, nonce, 12, NULL, 0, text, sizeof(text), text, tag, &bytes, GCM_ENCRYPT);
        } else if (!strcmp(words[1], "twofish")) {
            ctr_start(twofish, tag, key, 32, 0, CTR_COUNTER_BIG_ENDIAN, &ctr);
            ctr_encrypt(text, text, sizeof(text), &ctr);
        } else {
            bytes = 64;
            hash_state state;
            sha1_init(&state);
            sha1_process(&state, text, sizeof(text));
            sha1_done(&state, text);
        }
    }
    for (n = 0; n < 16; n++)
        printf("%02x", text[n]);
    puts("");
    return 0;
}

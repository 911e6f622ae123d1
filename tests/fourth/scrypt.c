/* SPDX-License-Identifier: MIT */
/* Derives a key with libscrypt as often as it is told, and prints a byte of it. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <libscrypt.h>

int main(int argc, char **argv)
{
    uint8_t key[32] = {1};

    if (argc != 2)
        return 2;
    for (long n = atol(argv[1]); n > 0; n--)
        if (libscrypt_scrypt(key, sizeof key, key, 16, 16384, 8, 1, key, sizeof key) != 0)
            return 1;
    printf("%02x\n", key[5]);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Hashes by libmhash as often as it is told, and prints a byte of the result. */

#include <mhash.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char text[65536];

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    hashid kind = strcmp(argv[1], "gost") == 0 ? MHASH_GOST : MHASH_HAVAL256;
    for (long n = atol(argv[2]); n > 0; n--) {
        MHASH hash = mhash_init(kind);

        mhash(hash, text, sizeof text);
        mhash_deinit(hash, text);
    }
    printf("%02x\n", text[5]);
    return 0;
}

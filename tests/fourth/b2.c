/* SPDX-License-Identifier: MIT */
/* Repeats one operation of libb2 as often as it is told, and prints a byte of the result. */

#include <blake2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t text[65536];

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    for (long n = atol(argv[2]); n > 0; n--)
        if (strcmp(argv[1], "blake2b") == 0)
            blake2b(text, text, NULL, 64, sizeof text, 0);
        else
            blake2s(text, text, NULL, 32, sizeof text, 0);
    printf("%02x\n", text[5]);
    return 0;
}

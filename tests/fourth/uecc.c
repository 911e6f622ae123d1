/* SPDX-License-Identifier: MIT */
/* Multiplies a point by a number with libuecc as often as it is told, and prints a byte of the result. */

#include <libuecc/ecc.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    ecc_int256_t number = {.p = {7, 1, 2, 3}};
    ecc_25519_work_t point;

    if (argc != 2)
        return 2;
    ecc_25519_gf_sanitize_secret(&number, &number);
    ecc_25519_scalarmult_base(&point, &number);
    for (long n = atol(argv[1]); n > 0; n--)
        ecc_25519_scalarmult(&point, &number, &point);
    ecc_25519_store_packed_legacy(&number, &point);
    printf("%02x\n", number.p[5]);
    return 0;
}

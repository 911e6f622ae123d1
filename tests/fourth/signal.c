/* SPDX-License-Identifier: MIT */
/* Agrees on a secret with libsignal-protocol-c as often as it is told, and prints a byte of it. */

#include <signal/curve.h>
#include <signal/signal_protocol.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    uint8_t secret[32] = {8, 1, [31] = 64}, point[33] = {5, 9}, *shared;
    signal_context *context;
    ec_private_key *ours;
    ec_public_key *theirs;

    if (argc != 2 || signal_context_create(&context, NULL) != 0)
        return 2;
    if (curve_decode_private_point(&ours, secret, sizeof secret, context) != 0)
        return 1;
    for (long n = atol(argv[1]); n > 0; n--) {
        if (curve_decode_point(&theirs, point, sizeof point, context) != 0 ||
            curve_calculate_agreement(&shared, theirs, ours) != 32)
            return 1;
        memcpy(point + 1, shared, 32);
        free(shared);
        SIGNAL_UNREF(theirs);
    }
    printf("%02x\n", point[5]);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* The straight-line programs of aes/sbox_circuit.h and sbox_select_circuit.h against the S-box
 * computed from FIPS 197 (2023) section 5.1.1, on all 256 bytes and two sizes of word. */
#include <stdint.h>
#include <stdio.h>

#define EVC_CIRCUIT_WORD uint32_t
#define EVC_CIRCUIT_NAME(function) function##_32
#include "aes/sbox_circuit.h"
#define EVC_CIRCUIT_WORD uint64_t
#define EVC_CIRCUIT_NAME(function) function##_64
#include "aes/sbox_circuit.h"
#define EVC_CIRCUIT_WORD uint64_t
#define EVC_CIRCUIT_NAME(function) function##_select
#define EVC_CIRCUIT_SELECT(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))
#include "aes/sbox_select_circuit.h"

static unsigned times(unsigned a, unsigned b) /* in GF(2^8), section 4.2 */
{
    unsigned product = 0;

    for (; b; b >>= 1, a = (a << 1) ^ (a >> 7) * 0x11b)
        product ^= (b & 1) * a;
    return product;
}

static unsigned sbox(unsigned x)
{
    unsigned inverse = x, y = 0x63;

    for (int i = 0; i < 6; i++) /* x^254: exponents 1, 3, 7, ..., 127 and then twice that */
        inverse = times(times(inverse, inverse), x);
    inverse = times(inverse, inverse);
    for (int i = 0; i < 5; i++)
        y ^= (inverse << i | inverse >> (8 - i)) & 0xff;
    return y;
}

/* The bytes from first on, one a lane, through both circuits of that name. */
#define CHECK(bits, name, first)                                                                   \
    do {                                                                                           \
        uint##bits##_t forward[8] = {0}, backward[8] = {0};                                        \
        for (unsigned lane = 0; lane < bits; lane++)                                               \
            for (int j = 0; j < 8; j++) {                                                          \
                unsigned x = (first) + lane;                                                       \
                forward[j] |= (uint##bits##_t)(x >> j & 1) << lane;                                \
                backward[j] |= (uint##bits##_t)(sbox(x) >> j & 1) << lane;                         \
            }                                                                                      \
        for (int j = 0; j < 8; j++) /* inv_sub_bytes takes InvS's input with the bits flipped */   \
            backward[j] ^= (EVC_CIRCUIT_KEY_XOR >> j & 1) ? ~(uint##bits##_t)0 : 0;                \
        sub_bytes_##name(forward);                                                                 \
        inv_sub_bytes_##name(backward);                                                            \
        for (unsigned lane = 0; lane < bits; lane++) {                                             \
            unsigned s = EVC_CIRCUIT_KEY_XOR, x = 0;                                               \
            for (int j = 0; j < 8; j++) {                                                          \
                s ^= (unsigned)(forward[j] >> lane & 1) << j;                                      \
                x |= (unsigned)(backward[j] >> lane & 1) << j;                                     \
            }                                                                                      \
            if (s != sbox((first) + lane) || x != (first) + lane) {                                \
                printf("words %s, byte %02x: S %02x, InvS(S) %02x\n", #name, (first) + lane, s,    \
                       x);                                                                         \
                wrong++;                                                                           \
            }                                                                                      \
        }                                                                                          \
    } while (0)

int main(void)
{
    int wrong = 0;

    for (unsigned first = 0; first < 256; first += 32)
        CHECK(32, 32, first);
    for (unsigned first = 0; first < 256; first += 64)
        CHECK(64, 64, first);
    for (unsigned first = 0; first < 256; first += 64)
        CHECK(64, select, first);
    return wrong != 0;
}

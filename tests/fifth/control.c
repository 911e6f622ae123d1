/* SPDX-License-Identifier: MIT */
/* Programs without cryptography, which use its instructions or look like it: control NAME COUNT */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t field[256][4], numbers[4096];

static uint64_t pick(uint64_t a, uint64_t b, uint64_t c)
{
    return (a & b) | (c & (a ^ b));
}

/* Conway's game on a torus of 256 x 256 cells, 64 cells a word, neighbours counted by adders of bits. */
static void live(void)
{
    static uint64_t next[256][4];
    for (int y = 0; y < 256; y++)
        for (int x = 0; x < 4; x++) {
            uint64_t ones = 0, twos = 0, fours = 0, self = field[y][x];
            for (int step = 0; step < 9; step++) {
                if (step == 4)
                    continue;
                const uint64_t *row = field[(y + step / 3 + 255) % 256];
                uint64_t word = row[x];
                if (step % 3 == 0)
                    word = word << 1 | row[(x + 3) % 4] >> 63;
                if (step % 3 == 2)
                    word = word >> 1 | row[(x + 1) % 4] << 63;
                uint64_t carry = ones & word;
                ones ^= word;
                fours |= twos & carry;
                twos ^= carry;
            }
            next[y][x] = pick(ones, ones | self, ~ones & self) & twos & ~fours;
        }
    memcpy(field, next, sizeof field);
}

/* A number-theoretic transform modulo 2^64 - 2^32 + 1, for products of polynomials. */
static const uint64_t prime = 0xffffffff00000001;

static uint64_t times(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b % prime);
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return (uint64_t)(((unsigned __int128)a + b) % prime);
}

static uint64_t power(uint64_t base, uint64_t exponent)
{
    uint64_t result = 1;
    for (; exponent; exponent >>= 1, base = times(base, base))
        if (exponent & 1)
            result = times(result, base);
    return result;
}

static void transform(void)
{
    for (int half = 2048; half; half /= 2) {
        uint64_t root = power(7, (prime - 1) / (2 * (uint64_t)half));
        for (int start = 0; start < 4096; start += 2 * half) {
            uint64_t factor = 1;
            for (int n = start; n < start + half; n++) {
                uint64_t a = numbers[n], b = numbers[n + half];
                numbers[n] = plus(a, b);
                numbers[n + half] = times(plus(a, prime - b), factor);
                factor = times(factor, root);
            }
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    for (int n = 0; n < 1024; n++)
        field[n / 4][n % 4] = (uint64_t)n * n * n * 0x9e3779b97f4a7c15;
    for (int n = 0; n < 4096; n++)
        numbers[n] = (uint64_t)n * n;
    for (long n = atol(argv[2]); n > 0; n--)
        if (strcmp(argv[1], "life") == 0)
            live();
        else
            transform();
    printf("%016llx %016llx\n", (unsigned long long)field[7][2], (unsigned long long)numbers[9]);
    return 0;
}

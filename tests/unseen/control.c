/* SPDX-License-Identifier: MIT */
/*
 * Loops that are like cryptography and are none: rotations, multiplications, tables, carry-less products.
 */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

/* The generator xoshiro256**. */
static uint64_t xoshiro(uint64_t s[4])
{
    uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t, s[3] = rotate(s[3], 45);
    return result;
}

/* The mixing of MurmurHash3 with 128 bits. */
static uint64_t murmur(uint64_t h, uint64_t k)
{
    k *= 0x87c37b91114253d5u;
    k = rotate(k, 31) * 0x4cf5ad432745937fu;
    return rotate(h ^ k, 27) * 5 + 0x52dce729;
}

/* A product in GF(256) of every byte with 0x1d, by two tables of 16 bytes, as in RAID 6 and Reed-Solomon codes. */
__attribute__((target("avx2"))) static void reed_solomon(uint8_t *text, int bytes)
{
    static uint8_t low[32], high[32];
    __m256i nibble = _mm256_set1_epi8(15);
    for (int i = 0; i < 32; i++) {
        low[i] = (i % 16) * 29 & 255;
        high[i] = (i % 16) * 113 & 255;
    }
    for (int i = 0; i < bytes; i += 32) {
        __m256i x = _mm256_loadu_si256((void *)(text + i));
        __m256i a = _mm256_shuffle_epi8(_mm256_loadu_si256((void *)low), _mm256_and_si256(x, nibble));
        __m256i b = _mm256_shuffle_epi8(_mm256_loadu_si256((void *)high),
                                        _mm256_and_si256(_mm256_srli_epi16(x, 4), nibble));
        _mm256_storeu_si256((void *)(text + i), _mm256_xor_si256(_mm256_xor_si256(a, b), _mm256_set1_epi8(7)));
    }
}

/* Prefix sums of bits by carry-less multiplication with ones, as programs that read JSON find what is in quotes. */
__attribute__((target("pclmul,sse4.1"))) static uint64_t quotes(uint64_t bits)
{
    __m128i made = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)bits), _mm_set1_epi8(-1), 0);
    return (uint64_t)_mm_cvtsi128_si64(made);
}

int main(int many, char **words)
{
    static uint8_t text[16384];
    static uint32_t table[256], counts[256];
    uint64_t state[4] = {1, 2, 3, 4}, sum = 0;
    long n = many > 2 ? atol(words[2]) : 0;

    for (int i = 0; i < 256; i++)
        table[i] = (uint32_t)i * 2654435761u;
    for (; n > 0; n--) {
        if (!strcmp(words[1], "random")) {
            for (int i = 0; i < 2048; i++)
                sum = murmur(sum, xoshiro(state));
        } else if (!strcmp(words[1], "codes")) {
            reed_solomon(text, sizeof(text));
            sum += text[n % 16384];
        } else if (!strcmp(words[1], "quotes")) {
            for (int i = 0; i < 2048; i++)
                sum = quotes(sum + (uint64_t)i) ^ sum >> 3;
        } else {
            for (int i = 0; i < 16384; i++) {
                uint32_t x = table[(sum ^ text[i]) & 255] ^ table[sum >> 8 & 255] ^ table[sum >> 24 & 255];
                counts[x >> 24]++;
                sum = sum << 7 ^ x;
            }
        }
    }
    printf("%llu %u\n", (unsigned long long)sum, counts[0]);
    return 0;
}

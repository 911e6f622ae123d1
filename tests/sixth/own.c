/* SPDX-License-Identifier: MIT */
/* Small programs as people write them: own NAME COUNT; each is compiled alone, by -DNAME. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t text[65536];

#define ROL(x, n) ((x) << (n) | (x) >> (32 - (n)))

#ifdef MD5
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
static const uint8_t turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

static void work(void)
{
    static uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    uint32_t words[16];
    for (size_t at = 0; at < sizeof text; at += 64) {
        memcpy(words, text + at, 64);
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        for (int n = 0; n < 64; n++) {
            uint32_t f, old = d;
            int g;
            if (n < 16)
                f = (b & c) | (~b & d), g = n;
            else if (n < 32)
                f = (d & b) | (~d & c), g = (5 * n + 1) % 16;
            else if (n < 48)
                f = b ^ c ^ d, g = (3 * n + 5) % 16;
            else
                f = c ^ (b | ~d), g = 7 * n % 16;
            f += a + sines[n] + words[g];
            d = c, c = b, a = old;
            b += ROL(f, turns[n / 16][n % 4]);
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    }
    memcpy(text, state, 16);
}
#endif

#ifdef SHA1
static void work(void)
{
    static uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    uint32_t words[80];
    for (size_t at = 0; at < sizeof text; at += 64) {
        for (int n = 0; n < 16; n++)
            words[n] = (uint32_t)text[at + 4 * n] << 24 | (uint32_t)text[at + 4 * n + 1] << 16 |
                       (uint32_t)text[at + 4 * n + 2] << 8 | text[at + 4 * n + 3];
        for (int n = 16; n < 80; n++)
            words[n] = ROL(words[n - 3] ^ words[n - 8] ^ words[n - 14] ^ words[n - 16], 1);
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
        for (int n = 0; n < 80; n++) {
            uint32_t f = n < 20   ? ((b & c) | (~b & d)) + 0x5a827999
                         : n < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                         : n < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                                  : (b ^ c ^ d) + 0xca62c1d6;
            f += ROL(a, 5) + e + words[n];
            e = d, d = c, c = ROL(b, 30), b = a, a = f;
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
    }
    memcpy(text, state, 20);
}
#endif

#ifdef SHA256
static const uint32_t roots[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t right(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void work(void)
{
    static uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint32_t words[64], s[8];
    for (size_t at = 0; at < sizeof text; at += 64) {
        for (int n = 0; n < 16; n++)
            words[n] = (uint32_t)text[at + 4 * n] << 24 | (uint32_t)text[at + 4 * n + 1] << 16 |
                       (uint32_t)text[at + 4 * n + 2] << 8 | text[at + 4 * n + 3];
        for (int n = 16; n < 64; n++)
            words[n] = words[n - 16] + words[n - 7] +
                       (right(words[n - 15], 7) ^ right(words[n - 15], 18) ^ words[n - 15] >> 3) +
                       (right(words[n - 2], 17) ^ right(words[n - 2], 19) ^ words[n - 2] >> 10);
        memcpy(s, state, sizeof s);
        for (int n = 0; n < 64; n++) {
            uint32_t one = s[7] + (right(s[4], 6) ^ right(s[4], 11) ^ right(s[4], 25)) +
                           ((s[4] & s[5]) ^ (~s[4] & s[6])) + roots[n] + words[n];
            uint32_t two = (right(s[0], 2) ^ right(s[0], 13) ^ right(s[0], 22)) +
                           ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            memmove(s + 1, s, 28);
            s[4] += one;
            s[0] = one + two;
        }
        for (int n = 0; n < 8; n++)
            state[n] += s[n];
    }
    memcpy(text, state, 32);
}
#endif

#ifdef CHACHA
static void quarter(uint32_t *x, int a, int b, int c, int d)
{
    x[a] += x[b], x[d] = ROL(x[d] ^ x[a], 16);
    x[c] += x[d], x[b] = ROL(x[b] ^ x[c], 12);
    x[a] += x[b], x[d] = ROL(x[d] ^ x[a], 8);
    x[c] += x[d], x[b] = ROL(x[b] ^ x[c], 7);
}

static void work(void)
{
    static uint32_t state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, 1, 2, 3, 4, 5, 6, 7, 8};
    uint32_t x[16];
    for (size_t at = 0; at < sizeof text; at += 64, state[12]++) {
        memcpy(x, state, 64);
        for (int n = 0; n < 10; n++) {
            for (int m = 0; m < 4; m++)
                quarter(x, m, m + 4, m + 8, m + 12);
            for (int m = 0; m < 4; m++)
                quarter(x, m, (m + 1) % 4 + 4, (m + 2) % 4 + 8, (m + 3) % 4 + 12);
        }
        for (int n = 0; n < 64; n++)
            text[at + n] ^= (uint8_t)((x[n / 4] + state[n / 4]) >> 8 * (n % 4));
    }
}
#endif

#ifdef AES
/* AES-128 by bytes: the S-box, shifted rows, and columns mixed by doublings. */
static uint8_t box[256], keys[176];

static uint8_t twice(uint8_t x)
{
    return (uint8_t)(x << 1 ^ (x >> 7) * 0x1b);
}

__attribute__((constructor)) static void prepare(void)
{
    uint8_t p = 1, q = 1;
    do {
        p = p ^ twice(p);
        q ^= q << 1, q ^= q << 2, q ^= q << 4, q ^= q & 0x80 ? 9 : 0;
        box[p] = (uint8_t)(q ^ (q << 1 | q >> 7) ^ (q << 2 | q >> 6) ^ (q << 3 | q >> 5) ^ (q << 4 | q >> 4) ^ 0x63);
    } while (p != 1);
    box[0] = 0x63;
    uint8_t round = 1;
    for (int n = 16; n < 176; n += 4) {
        uint8_t t[4];
        for (int m = 0; m < 4; m++)
            t[m] = n % 16 ? keys[n - 4 + m] : box[keys[n - 4 + (m + 1) % 4]];
        if (n % 16 == 0)
            t[0] ^= round, round = twice(round);
        for (int m = 0; m < 4; m++)
            keys[n + m] = keys[n - 16 + m] ^ t[m];
    }
}

static void work(void)
{
    uint8_t s[16], t[16];
    for (size_t at = 0; at < sizeof text / 8; at += 16) {
        for (int n = 0; n < 16; n++)
            s[n] = text[at + n] ^ keys[n];
        for (int round = 1; round <= 10; round++) {
            for (int n = 0; n < 16; n++)
                t[n] = box[s[(n + 4 * (n % 4)) % 16]];
            for (int n = 0; n < 16; n += 4) {
                uint8_t all = t[n] ^ t[n + 1] ^ t[n + 2] ^ t[n + 3];
                for (int m = 0; m < 4; m++)
                    s[n + m] = round == 10 ? t[n + m] : t[n + m] ^ all ^ twice(t[n + m] ^ t[n + (m + 1) % 4]);
            }
            for (int n = 0; n < 16; n++)
                s[n] ^= keys[16 * round + n];
        }
        memcpy(text + at, s, 16);
    }
}
#endif

#ifdef POLY1305
/* Five limbs of 26 bits. */
static void work(void)
{
    static uint32_t h[5];
    const uint32_t mask = 0x3ffffff, r[5] = {0x2d6d5a4, 0x2f3f203, 0x123ff05, 0x00b0c0f, 0x00a0b0c};
    for (size_t at = 0; at < sizeof text; at += 16) {
        uint32_t w[4];
        memcpy(w, text + at, 16);
        h[0] += w[0] & mask;
        h[1] += (w[0] >> 26 | w[1] << 6) & mask;
        h[2] += (w[1] >> 20 | w[2] << 12) & mask;
        h[3] += (w[2] >> 14 | w[3] << 18) & mask;
        h[4] += w[3] >> 8 | 1 << 24;
        uint64_t d[5], carry = 0;
        for (int n = 0; n < 5; n++) {
            d[n] = 0;
            for (int m = 0; m < 5; m++)
                d[n] += (uint64_t)h[m] * (m <= n ? r[n - m] : 5 * r[n + 5 - m]);
        }
        for (int n = 0; n < 5; n++) {
            d[n] += carry;
            h[n] = (uint32_t)d[n] & mask;
            carry = d[n] >> 26;
        }
        h[0] += (uint32_t)carry * 5;
        h[1] += h[0] >> 26;
        h[0] &= mask;
    }
    memcpy(text, h, 16);
}
#endif

#ifdef X25519
/* Five limbs of 51 bits. */
typedef unsigned __int128 wide;
typedef uint64_t element[5];
static const uint64_t mask = 0x7ffffffffffff;

static void times(element out, const element a, const element b)
{
    wide t[5];
    uint64_t carry = 0;
    for (int n = 0; n < 5; n++) {
        t[n] = 0;
        for (int m = 0; m < 5; m++)
            t[n] += (wide)a[m] * (m <= n ? b[n - m] : 19 * b[n + 5 - m]);
    }
    for (int n = 0; n < 5; n++) {
        t[n] += carry;
        out[n] = (uint64_t)t[n] & mask;
        carry = (uint64_t)(t[n] >> 51);
    }
    out[0] += 19 * carry;
    out[1] += out[0] >> 51;
    out[0] &= mask;
}

static void add(element out, const element a, const element b)
{
    for (int n = 0; n < 5; n++)
        out[n] = a[n] + b[n];
}

static void subtract(element out, const element a, const element b)
{
    for (int n = 0; n < 5; n++)
        out[n] = a[n] + (n ? 0xffffffffffffe : 0xfffffffffffda) - b[n];
}

static void work(void)
{
    static element point = {9};
    element a, b, c, d, x2 = {1}, z2 = {0}, x3, z3 = {1}, small = {121665};
    memcpy(x3, point, sizeof x3);
    for (int bit = 254, last = 0; bit >= 0; bit--) {
        int now = bit == 254 || (bit > 2 && bit % 3 == 0);
        uint64_t swap = -(uint64_t)(now ^ last);
        last = now;
        for (int n = 0; n < 5; n++) {
            uint64_t x = swap & (x2[n] ^ x3[n]), z = swap & (z2[n] ^ z3[n]);
            x2[n] ^= x, x3[n] ^= x, z2[n] ^= z, z3[n] ^= z;
        }
        add(a, x2, z2), subtract(b, x2, z2), add(c, x3, z3), subtract(d, x3, z3);
        times(d, d, a), times(c, c, b), times(a, a, a), times(b, b, b);
        add(x3, d, c), subtract(z3, d, c);
        times(x3, x3, x3), times(z3, z3, z3), times(z3, z3, point);
        times(x2, a, b), subtract(c, a, b), times(d, c, small), add(d, d, a), times(z2, c, d);
    }
    memcpy(a, z2, sizeof a); /* the inverse: z to the power of 2^255 - 21 */
    for (int bit = 253; bit >= 0; bit--) {
        times(a, a, a);
        if (bit != 2 && bit != 4)
            times(a, a, z2);
    }
    times(point, x2, a);
    memcpy(text, point, 32);
}
#endif

#ifdef MONTGOMERY
/* Powers modulo a number of 2048 bits, limbs of 32 bits. */
enum { WORDS = 64 };
static uint32_t modulus[WORDS], number[WORDS];

static void product(uint32_t *out, const uint32_t *a, const uint32_t *b, uint32_t inverse)
{
    uint32_t t[WORDS + 2] = {0};
    for (int i = 0; i < WORDS; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < WORDS; j++) {
            carry += (uint64_t)a[j] * b[i] + t[j];
            t[j] = (uint32_t)carry;
            carry >>= 32;
        }
        carry += t[WORDS];
        t[WORDS] = (uint32_t)carry;
        t[WORDS + 1] = (uint32_t)(carry >> 32);
        uint32_t m = t[0] * inverse;
        carry = ((uint64_t)m * modulus[0] + t[0]) >> 32;
        for (int j = 1; j < WORDS; j++) {
            carry += (uint64_t)m * modulus[j] + t[j];
            t[j - 1] = (uint32_t)carry;
            carry >>= 32;
        }
        carry += t[WORDS];
        t[WORDS - 1] = (uint32_t)carry;
        t[WORDS] = t[WORDS + 1] + (uint32_t)(carry >> 32);
    }
    uint64_t borrow = 0;
    uint32_t less[WORDS];
    for (int j = 0; j < WORDS; j++) {
        borrow = (uint64_t)t[j] - modulus[j] - borrow;
        less[j] = (uint32_t)borrow;
        borrow = borrow >> 63;
    }
    memcpy(out, t[WORDS] >= borrow ? less : t, 4 * WORDS);
}

static void work(void)
{
    uint32_t inverse = 1, base[WORDS];
    for (int n = 0; n < WORDS; n++) {
        modulus[n] = 0xd5d5d5d5u + (uint32_t)n * 2;
        number[n] ^= 0x37373737;
    }
    for (int n = 0; n < 5; n++)
        inverse *= 2 - modulus[0] * inverse;
    memcpy(base, number, sizeof base);
    for (int bit = 0; bit < 2047; bit++) {
        product(number, number, number, -inverse);
        if (bit % 3)
            product(number, number, base, -inverse);
    }
    memcpy(text, number, 32);
}
#endif

#ifdef KECCAK
static const uint64_t constants[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};
static const uint8_t turn[24] = {1,  3,  6,  10, 15, 21, 28, 36, 45, 55, 2,  14,
                                 27, 41, 56, 8,  25, 43, 62, 18, 39, 61, 20, 44};
static const uint8_t lane[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};

static uint64_t rotated(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

static void work(void)
{
    static uint64_t a[25];
    uint64_t c[5];
    for (size_t at = 0; at + 136 <= sizeof text; at += 136) {
        for (int n = 0; n < 17; n++) {
            uint64_t word;
            memcpy(&word, text + at + 8 * n, 8);
            a[n] ^= word;
        }
        for (int round = 0; round < 24; round++) {
            for (int n = 0; n < 5; n++)
                c[n] = a[n] ^ a[n + 5] ^ a[n + 10] ^ a[n + 15] ^ a[n + 20];
            for (int n = 0; n < 25; n++)
                a[n] ^= c[(n + 4) % 5] ^ rotated(c[(n + 1) % 5], 1);
            uint64_t last = a[1];
            for (int n = 0; n < 24; n++) {
                uint64_t next = a[lane[n]];
                a[lane[n]] = rotated(last, turn[n]);
                last = next;
            }
            for (int row = 0; row < 25; row += 5) {
                memcpy(c, a + row, sizeof c);
                for (int n = 0; n < 5; n++)
                    a[row + n] ^= ~c[(n + 1) % 5] & c[(n + 2) % 5];
            }
            a[0] ^= constants[round];
        }
    }
    memcpy(text, a, 32);
}
#endif

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    for (long n = atol(argv[1]); n > 0; n--)
        work();
    printf("%02x%02x%02x%02x\n", text[0], text[1], text[2], text[3]);
    return 0;
}

/* SPDX-License-Identifier: MIT OR GPL-2.0-or-later */
/*
 * QARMA-64 as ComputePAC of the Arm ARM has it, by tables
 *
 * A round is 8 look-ups: a table for each byte of the block has what the
 * S-box, the permutation tau and MixColumns make of the byte's two cells.
 * MixColumns and tau are linear, so round keys go through them separately,
 * off the chain of look-ups.
 *
 * Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2.
 * The time depends on keys and data, which on an emulated CPU protect
 * nothing of the host.
 */

#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "pauth-qarma.h"

#define ALPHA 0xc0ac29b7c97c50ddull
#define MAX_ROUNDS 5

static const uint64_t round_constants[MAX_ROUNDS] = {
    0x0000000000000000ull,
    0x13198a2e03707344ull,
    0xa4093822299f31d0ull,
    0x082efa98ec4e6c89ull,
    0x452821e638d01377ull,
};

static const uint8_t sigma1[16] = {
    0xa, 0xd, 0xe, 0x6, 0xf, 0x7, 0x3, 0x5,
    0x9, 0x8, 0x0, 0xc, 0xb, 0x1, 0x2, 0x4,
};

static const uint8_t sigma2[16] = {
    0xb, 0x6, 0x8, 0xf, 0xc, 0x0, 0x9, 0xe,
    0x3, 0x7, 0x4, 0x5, 0xd, 0x2, 0x1, 0xa,
};

/* The permutation: cells that move by the same distance go together. */
static inline uint64_t tau(uint64_t x)
{
    return (x & 0xf000000f00000000ull)
         | (rol64(x, 12) & 0x000000000000f00full)
         | (rol64(x, 16) & 0x00f0000000000000ull)
         | (rol64(x, 20) & 0x000000000f000000ull)
         | (rol64(x, 24) & 0x0000f0f000000000ull)
         | (rol64(x, 28) & 0x0000000000000f00ull)
         | (rol64(x, 36) & 0x0000000000f00000ull)
         | (rol64(x, 40) & 0x0f0f000000000000ull)
         | (rol64(x, 44) & 0x00000000000000f0ull)
         | (rol64(x, 48) & 0x00000f0000000000ull)
         | (rol64(x, 52) & 0x00000000f00f0000ull);
}

static inline uint64_t tau_inverse(uint64_t x)
{
    return (x & 0xf000000f00000000ull)
         | ror64(x & 0x000000000000f00full, 12)
         | ror64(x & 0x00f0000000000000ull, 16)
         | ror64(x & 0x000000000f000000ull, 20)
         | ror64(x & 0x0000f0f000000000ull, 24)
         | ror64(x & 0x0000000000000f00ull, 28)
         | ror64(x & 0x0000000000f00000ull, 36)
         | ror64(x & 0x0f0f000000000000ull, 40)
         | ror64(x & 0x00000000000000f0ull, 44)
         | ror64(x & 0x00000f0000000000ull, 48)
         | ror64(x & 0x00000000f00f0000ull, 52);
}

/* MixColumns, circ(0, rho, rho^2, rho): cells of a column are 16 bits apart. */
static inline uint64_t mix(uint64_t x)
{
    uint64_t once = rol64(x, 16) ^ rol64(x, 48);
    uint64_t twice = rol64(x, 32);

    return (once << 1 & 0xeeeeeeeeeeeeeeeeull)
        ^ (once >> 3 & 0x1111111111111111ull)
        ^ (twice << 2 & 0xccccccccccccccccull)
        ^ (twice >> 2 & 0x3333333333333333ull);
}

/* The next tweak: h moves the cells, then omega steps some of them. */
static inline uint64_t next_tweak(uint64_t t)
{
    const uint64_t low = 0x1101100010010100ull; /* bit 0 of what omega steps */

    t = (t << 48 & 0x00ff000000000000ull)
      | (t >> 16 & 0x0000ffff0000ffffull)
      | (t << 12 & 0x000000000ff00000ull)
      | (t << 16 & 0x0f00000000000000ull)
      | (t << 24 & 0xf000000000000000ull)
      | (t >> 28 & 0x00000000000f0000ull)
      | (t >> 4 & 0x00000000f0000000ull);
    return (t & ~(low * 15)) | (t >> 1 & low * 7) | ((t ^ t >> 1) & low) << 3;
}

static void fill_tables(ARMPauthQarmaTables *tables, const uint8_t *sigma)
{
    uint8_t inverse[16];

    for (int i = 0; i < 16; i++) {
        inverse[sigma[i]] = i;
    }
    for (int b = 0; b < 256; b++) {
        uint64_t s = sigma[b & 15] | sigma[b >> 4] << 4;

        tables->last[b] = inverse[b & 15] | inverse[b >> 4] << 4;
        for (int i = 0; i < 8; i++) {
            tables->there[i][b] = mix(tau(s << 8 * i));
            tables->back[i][b] =
                tau_inverse(mix((uint64_t)tables->last[b] << 8 * i));
        }
    }
}

const ARMPauthQarmaTables *arm_pauth_qarma_tables(bool is_qarma3)
{
    static ARMPauthQarmaTables *tables[2];
    static gsize filled[2];

    if (g_once_init_enter(&filled[is_qarma3])) {
        tables[is_qarma3] = g_new(ARMPauthQarmaTables, 1);
        fill_tables(tables[is_qarma3], is_qarma3 ? sigma1 : sigma2);
        g_once_init_leave(&filled[is_qarma3], 1);
    }
    return tables[is_qarma3];
}

static inline uint64_t look_up(const uint64_t table[8][256], uint64_t x)
{
    uint64_t r = 0;

    for (int i = 0; i < 8; i++) {
        r ^= table[i][x >> 8 * i & 255];
    }
    return r;
}

uint64_t arm_pauth_qarma(const ARMPauthQarmaTables *tables, bool is_qarma3,
                         uint64_t data, uint64_t modifier,
                         uint64_t w0, uint64_t k0)
{
    const int rounds = is_qarma3 ? 3 : 5;
    const uint64_t w1 = (w0 << 63) | ((w0 >> 1) ^ (w0 >> 63));
    uint64_t keys[MAX_ROUNDS], tweak = modifier, x, r = 0;

    x = data ^ w0 ^ k0 ^ tweak;
    for (int i = 0; i < rounds; i++) {
        keys[i] = k0 ^ tweak ^ round_constants[i];
        if (i > 0) {
            x = look_up(tables->there, x) ^ mix(tau(keys[i]));
        }
        tweak = next_tweak(tweak);
    }
    x = look_up(tables->there, x) ^ mix(tau(w1 ^ tweak));
    x = tau_inverse(look_up(tables->there, x) ^ k0);
    x = look_up(tables->back, x) ^ w0 ^ tweak;
    for (int i = rounds - 1; i > 0; i--) {
        x = look_up(tables->back, x) ^ keys[i] ^ ALPHA;
    }
    for (int i = 0; i < 8; i++) {
        r |= (uint64_t)tables->last[x >> 8 * i & 255] << 8 * i;
    }
    return r ^ keys[0] ^ ALPHA ^ w1;
}

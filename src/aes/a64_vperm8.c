/* SPDX-License-Identifier: MIT */
/*
 * AES by vector permute on A64, in vectors of 8 bytes: one chain, for cores on which TBL of 16
 * bytes is several operations.
 *
 * Method:   that of a64_vperm. On Cortex-A57 and A72 a look-up of 16 bytes takes three
 *           micro-operations and 6 cycles, one of 8 bytes one and 3. Here a state is two vectors,
 *           rows 0 and 1 and rows 2 and 3: ShiftRows stays within each, two rows down is the other
 *           vector, and one row down is EXT of both. A round is a path of 12 instructions from one
 *           state to the next. Batches are a64_vperm's.
 * Source:   M. Hamburg, Accelerating AES with Vector Permute Instructions, CHES 2009; Arm
 *           Cortex-A57 Software Optimization Guide (UAN 0015) section 3.15; FIPS 197
 *           (2023) sections 5.1 to 5.3.
 * Needs:    A64_TBL8.   Timing: CT (no secret-dependent branch or address).
 * Key form: vperm.
 */
#include "aes/kernel.h"

#include "common/arm.h"
#include "common/bytes.h"

#if EVC_BUILT(A64_TBL8)
EVC_ISA_BEGIN(A64_TBL8)

#include "aes/a64_vperm_steps.h"

typedef uint8x8_t half;

/* The key of one chain in addition: [r - 1]: ^ 0x63, packed, in rows, 0 < r < rounds. */
struct key {
    struct vperm_key blocks;
    uint8_t chain[EVC_AES_MAX_ROUNDS - 1][16];
};

/* Rows 0 and 1, rows 2 and 3. */
struct rows {
    half top, bottom;
};

/* io and jo of a half. */
struct nibbles {
    half io, jo;
};

struct chain_tables {
    vec inv, ainv;
    struct pair times_1, times_2, times_3;
    half low, shift_top, shift_bottom; /* ShiftRows of each half */
};

/* Compilers regroup xors, and the grouping of a chain makes it short: hide what x is made of. */
EVC_INLINE half keep(half x)
{
#if EVC_GNU_C
    __asm__("" : "+w"(x));
#endif
    return x;
}

EVC_INLINE struct chain_tables chain_tables(void)
{
    static const uint8_t shift[2][8] = {{0, 1, 2, 3, 5, 6, 7, 4}, {2, 3, 0, 1, 7, 4, 5, 6}};
    struct chain_tables t;

    t.inv = vld1q_u8(tables()->inv);
    t.ainv = vld1q_u8(tables()->ainv);
    t.times_1 = pair_of(tables()->enc);
    t.times_2 = pair_of(tables()->enc + 2);
    t.times_3 =
        (struct pair){veorq_u8(t.times_1.u, t.times_2.u), veorq_u8(t.times_1.t, t.times_2.t)};
    t.low = vld1_u8(tables()->low);
    t.shift_top = vld1_u8(shift[0]);
    t.shift_bottom = vld1_u8(shift[1]);
    return t;
}

/* From the order of FIPS 197, columns, to rows; the way back is the same. */
EVC_INLINE vec transpose(vec x)
{
    static const uint8_t pattern[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};

    return vqtbl1q_u8(x, vld1q_u8(pattern));
}

EVC_INLINE half look_up_half(struct pair p, struct nibbles o)
{
    return veor_u8(vqtbl1_u8(p.u, o.io), vqtbl1_u8(p.t, o.jo));
}

/* Bytes of x. VTBL1 as compilers have it first clears the upper half of the register,
 * which no index reaches. */
EVC_INLINE half permute(half x, half from)
{
#if EVC_GNU_C
    half y;

    __asm__("tbl %0.8b, {%1.16b}, %2.8b" : "=w"(y) : "w"(x), "w"(from));
    return y;
#else
    return vtbl1_u8(x, from);
#endif
}

/* ShiftRows, and the inversion of SubBytes. */
EVC_INLINE struct nibbles invert_half(const struct chain_tables *t, half x, half shift)
{
    const half shifted = permute(x, shift);
    const half k = vand_u8(shifted, t->low), i = vshr_n_u8(shifted, 4), j = veor_u8(i, k);
    const half ak = vqtbl1_u8(t->ainv, k);
    const half iak = veor_u8(vqtbl1_u8(t->inv, i), ak), jak = veor_u8(vqtbl1_u8(t->inv, j), ak);

    return (struct nibbles){veor_u8(vqtbl1_u8(t->inv, iak), j), veor_u8(vqtbl1_u8(t->inv, jak), i)};
}

EVC_INLINE struct rows chain_round(const struct chain_tables *t, const uint8_t key[16],
                                   struct rows x)
{
    const struct nibbles o0 = invert_half(t, x.top, t->shift_top),
                         o1 = invert_half(t, x.bottom, t->shift_bottom);
    const half top = keep(look_up_half(t->times_1, o0)),
               bottom = keep(look_up_half(t->times_1, o1));
    /* Rows r and r + 2, and the key; what row r - 1 takes of rows r and r + 2. */
    const half here0 = keep(veor_u8(veor_u8(look_up_half(t->times_2, o0), bottom), vld1_u8(key)));
    const half here1 = keep(veor_u8(veor_u8(look_up_half(t->times_2, o1), top), vld1_u8(key + 8)));
    const half above0 = keep(veor_u8(keep(look_up_half(t->times_3, o0)), bottom));
    const half above1 = keep(veor_u8(keep(look_up_half(t->times_3, o1)), top));

    return (struct rows){veor_u8(here0, vext_u8(above0, above1, 4)),
                         veor_u8(here1, vext_u8(above1, above0, 4))};
}

/* CBC encryption of n_blocks > 0; returns the last ciphertext. */
EVC_INLINE vec chain(const struct key *key, vec iv, const uint8_t *in, uint8_t *out,
                     size_t n_blocks, int storing)
{
    const uint32_t rounds = key->blocks.head.rounds;
    const struct chain_tables t = chain_tables();
    const struct pair to_basis = pair_of(tables()->in), sub = pair_of(tables()->sub);
    const vec low = vld1q_u8(tables()->low);
    const vec first_key = vld1q_u8(key->blocks.enc[0]),
              last_key = vld1q_u8(key->blocks.enc[rounds]);
    vec next = transpose(veorq_u8(map_bytes(to_basis, low, veorq_u8(iv, vld1q_u8(in))), first_key));
    struct rows x = {vget_low_u8(next), vget_high_u8(next)};

    for (;; n_blocks--) {
        const uint8_t *k = key->chain[0], *const end = key->chain[rounds - 1];
        struct nibbles o0, o1;
        for (; k < end; k += 16)
            x = chain_round(&t, k, x);
        o0 = invert_half(&t, x.top, t.shift_top);
        o1 = invert_half(&t, x.bottom, t.shift_bottom);
        if (n_blocks > 1) {
            in += 16;
            next = transpose(
                veorq_u8(map_bytes(to_basis, low, veorq_u8(vld1q_u8(in), last_key)), first_key));
            x.top = veor_u8(look_up_half(t.times_1, o0), vget_low_u8(next));
            x.bottom = veor_u8(look_up_half(t.times_1, o1), vget_high_u8(next));
        }
        next = veorq_u8(transpose(vcombine_u8(look_up_half(sub, o0), look_up_half(sub, o1))),
                        last_key);
        if (storing) {
            vst1q_u8(out, next);
            out += 16;
        }
        if (n_blocks == 1)
            return next;
    }
}

static void cbc_encrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    if (n_blocks)
        vst1q_u8(iv, chain(key, vld1q_u8(iv), in, out, n_blocks, 1));
}

static void cbcmac(const void *key, uint8_t state[16], const uint8_t *in, size_t n_blocks)
{
    if (n_blocks)
        vst1q_u8(state, chain(key, vld1q_u8(state), in, NULL, n_blocks, 0));
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    if (n_blocks == 1)
        chain(key, vdupq_n_u8(0), in, out, 1, 1);
    else
        ecb(key, in, out, n_blocks, 0);
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;

    vperm_set_key(&key->blocks, user_key);
    for (uint32_t r = 1; r < key->blocks.head.rounds; r++) {
        const vec k = vqtbl1q_u8(vld1q_u8(key->blocks.enc[r]), vld1q_u8(tables()->shift[r & 3]));
        vst1q_u8(key->chain[r - 1], transpose(k));
    }
}

#define CLEARED_BYTES 320

EVC_ISA_END

const struct evc_aes evc_aes_a64_vperm8 = {
    .kernel = EVC_KERNEL_HEAD(a64_vperm8, A64_TBL8, CT, SERIAL, BATCH, struct key, 0, NEON,
                              CLEARED_BYTES),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = vperm_decrypt,
    .cbc_encrypt = cbc_encrypt,
    .cbcmac = cbcmac,
};
#else
EVC_EMPTY_UNIT
#endif

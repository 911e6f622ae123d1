/* SPDX-License-Identifier: MIT */
/*
 * AES by vector permute on A64: the S-box as 16-entry tables, looked up by TBL.
 *
 * Method:   a byte is two nibbles i, k over GF(16); five look-ups give two nibbles io, jo from
 *           which any linear map of the S-box is the sum of two more look-ups
 *           (tools/gen-vperm-tables has the algebra). The state stays in that basis from the first
 *           round to the last, i and k in one byte. ShiftRows is never done: it is in the patterns
 *           that rotate the rows and in the round keys, and once before the output.
 *           Many blocks are bound by throughput: 4 at once, all tables in registers, 24 vector
 *           instructions a round and block to encrypt, 31 to decrypt. The four counters of a batch
 *           of CTR change their basis in one vector. One chain is bound by latency: there 3 times
 *           the S-box has tables of its own (28 instructions), and the last round makes the next
 *           block's state directly, its plaintext and two round keys in one xor.
 * Source:   M. Hamburg, Accelerating AES with Vector Permute Instructions, CHES 2009; FIPS 197
 *           (2023) sections 5.1 to 5.3.
 * Needs:    A64_NEON.   Timing: CT (no secret-dependent branch or address).
 * Key form: vperm.
 */
#include "aes/kernel.h"

#include "common/arm.h"
#include "common/bytes.h"

#if EVC_BUILT(A64_NEON)
EVC_ISA_BEGIN(A64_NEON)

#include "aes/a64_vperm_steps.h"

/* The key of one chain in addition: [r - 1]: ^ 0x63, packed, in the order of
 * FIPS 197, 0 < r < rounds. */
struct key {
    struct vperm_key blocks;
    uint8_t chain[EVC_AES_MAX_ROUNDS - 1][16];
};

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;

    vperm_set_key(&key->blocks, user_key);
    for (uint32_t r = 1; r < key->blocks.head.rounds; r++)
        vst1q_u8(key->chain[r - 1],
                 vqtbl1q_u8(vld1q_u8(key->blocks.enc[r]), vld1q_u8(tables()->shift[r & 3])));
}

/* ---- One chain ------------------------------------------------------------------------------- */

/* SubBytes, ShiftRows, MixColumns, AddRoundKey. rotate[m]: ShiftRows, and then
 * row r takes row r + m. */
struct quick {
    struct inverse by;
    struct pair times_1, times_2, times_3;
    vec rotate[4];
};

EVC_INLINE struct quick quick_tables(void)
{
    const vec shift_rows = vld1q_u8(tables()->shift[1]);
    struct quick q;

    q.by = inverse_tables();
    q.times_1 = pair_of(tables()->enc);
    q.times_2 = pair_of(tables()->enc + 2);
    q.times_3 =
        (struct pair){veorq_u8(q.times_1.u, q.times_2.u), veorq_u8(q.times_1.t, q.times_2.t)};
    q.rotate[0] = shift_rows;
    EACH_UP_TO_4(3, q.rotate[i + 1] = vqtbl1q_u8(shift_rows, vld1q_u8(tables()->rotate[i])));
    return q;
}

/* One step of a chain, here and now: compilers regroup xors and have orders of their own, but what
 * comes late has to join last, and a core that starts instructions in their order has to find
 * another one wherever one waits. */
#if EVC_GNU_C
#define IN_ORDER(x, value) \
    const vec x = (value); \
    __asm__ volatile("" : : "w"(x))
#else
#define IN_ORDER(x, value) const vec x = (value)
#endif

EVC_INLINE vec quick_round(const struct quick *q, const uint8_t key[16], vec x)
{
    const vec inv = q->by.inv;

    IN_ORDER(round_key, vld1q_u8(key));
    IN_ORDER(k, vandq_u8(x, q->by.low));
    IN_ORDER(i, vshrq_n_u8(x, 4));
    IN_ORDER(inv_i, vqtbl1q_u8(inv, i));
    IN_ORDER(j, veorq_u8(i, k));
    IN_ORDER(ak, vqtbl1q_u8(q->by.ainv, k));
    IN_ORDER(iak, veorq_u8(inv_i, ak));
    IN_ORDER(inv_j, vqtbl1q_u8(inv, j));
    IN_ORDER(jak, veorq_u8(inv_j, ak));
    IN_ORDER(inv_iak, vqtbl1q_u8(inv, iak));
    IN_ORDER(io, veorq_u8(inv_iak, j));
    IN_ORDER(inv_jak, vqtbl1q_u8(inv, jak));
    IN_ORDER(jo, veorq_u8(inv_jak, i));
    IN_ORDER(u1, vqtbl1q_u8(q->times_1.u, io));
    IN_ORDER(u2, vqtbl1q_u8(q->times_2.u, io));
    IN_ORDER(t1, vqtbl1q_u8(q->times_1.t, jo));
    IN_ORDER(s1, veorq_u8(u1, t1));
    IN_ORDER(t2, vqtbl1q_u8(q->times_2.t, jo));
    IN_ORDER(s2, veorq_u8(u2, t2));
    IN_ORDER(u3, vqtbl1q_u8(q->times_3.u, io));
    IN_ORDER(t3, vqtbl1q_u8(q->times_3.t, jo));
    IN_ORDER(s3, veorq_u8(u3, t3));
    IN_ORDER(row_3, vqtbl1q_u8(s1, q->rotate[3]));
    IN_ORDER(row_2, vqtbl1q_u8(s1, q->rotate[2]));
    IN_ORDER(row_0, vqtbl1q_u8(s2, q->rotate[0]));
    IN_ORDER(rows_23, veorq_u8(row_2, row_3));
    IN_ORDER(row_0k, veorq_u8(row_0, round_key));
    IN_ORDER(row_1, vqtbl1q_u8(s3, q->rotate[1]));
    IN_ORDER(rows_023, veorq_u8(rows_23, row_0k));
    IN_ORDER(next, veorq_u8(rows_023, row_1));
    return next;
}

/* Rounds 1 to rounds - 1 of one block, and the inversion of the last. */
EVC_INLINE struct reciprocals quick_rounds(const struct key *key, const struct quick *q, vec x)
{
    const uint8_t *k = key->chain[0], *const end = key->chain[key->blocks.head.rounds - 1];

    struct reciprocals o;

    for (; k < end; k += 16)
        x = quick_round(q, k, x);
    invert(&q->by, &x, &o, 1);
    return o;
}

/* CBC encryption of n_blocks > 0; returns the last ciphertext. */
EVC_INLINE vec chain(const struct key *key, vec iv, const uint8_t *in, uint8_t *out,
                     size_t n_blocks, int storing)
{
    const uint32_t rounds = key->blocks.head.rounds;
    const struct quick q = quick_tables();
    const struct pair to_basis = pair_of(tables()->in), sub = pair_of(tables()->sub);
    const vec low = q.by.low, shift_rows = q.rotate[0];
    const vec first_key = vld1q_u8(key->blocks.enc[0]),
              last_key = vld1q_u8(key->blocks.enc[rounds]);
    vec x = veorq_u8(map_bytes(to_basis, low, veorq_u8(iv, vld1q_u8(in))), first_key), next;
    struct reciprocals o;

    for (;;) {
        o = quick_rounds(key, &q, x);
        if (n_blocks == 1)
            break;
        in += 16;
        next = veorq_u8(map_bytes(to_basis, low, veorq_u8(vld1q_u8(in), last_key)), first_key);
        x = veorq_u8(vqtbl1q_u8(look_up(q.times_1, o), shift_rows), next);
        if (storing) {
            vst1q_u8(out, veorq_u8(vqtbl1q_u8(look_up(sub, o), shift_rows), last_key));
            out += 16;
        }
        n_blocks--;
    }
    x = veorq_u8(vqtbl1q_u8(look_up(sub, o), shift_rows), last_key);
    if (storing)
        vst1q_u8(out, x);
    return x;
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
    ecb(key, in, out, n_blocks - n_blocks % 2, 0);
    if (n_blocks % 2)
        chain(key, vdupq_n_u8(0), in + 16 * (n_blocks - 1), out + 16 * (n_blocks - 1), 1, 1);
}

#define CLEARED_BYTES 384

EVC_ISA_END

const struct evc_aes evc_aes_a64_vperm = {
    .kernel = EVC_KERNEL_HEAD(a64_vperm, A64_NEON, CT, ANY, BATCH, struct key, 0, NEON,
                              CLEARED_BYTES),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = vperm_decrypt,
    .ctr32 = vperm_ctr32,
    .cbc_encrypt = cbc_encrypt,
    .cbc_decrypt = vperm_cbc_decrypt,
    .cbcmac = cbcmac,
    .xts_encrypt = vperm_xts_encrypt,
    .xts_decrypt = vperm_xts_decrypt,
};
#else
EVC_EMPTY_UNIT
#endif

/* SPDX-License-Identifier: MIT */
/*
 * AES bit-sliced over vectors of RISC-V of any length.
 *
 * Method:   8 registers of text, 8 blocks for each 128 bits of a register, become 8 planes, one
 *           for each bit of a byte; bytes keep their places. S-box by circuit; ShiftRows and the
 *           rotations of MixColumns are permutations of the bytes of a plane, whose places are
 *           public. Round keys stay as bytes and become planes where they are added.
 *           Zvkt promises nothing about the places for vrgather and about masks. So no table is
 *           read at secret places, and no round key is a mask.
 * Source:   FIPS 197 (2023) section 5; E. Kaesper, P. Schwabe, "Faster and timing-attack resistant
 *           AES-GCM", CHES 2009; sbox_circuit.h; RISC-V Cryptography Extensions vol. II, 1.0
 *           (2023), Zvkt.
 * Needs:    RV_V.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "aes/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(RV_V)

#include "aes/ct_keys.h"
#include "aes/rv_sbox.h"
#include "common/ct.h"
#include "common/rv_vector.h"

#define TWEAKS 32 /* of XTS, which lie in memory */

struct key {
    struct evc_aes_head head;
    /* As FIPS 197 section 5.2 has them, with EVC_CIRCUIT_KEY_XOR added to all but the first; and
     * as many bytes more as a register of 1024 bits takes beyond a key. */
    EVC_ALIGN(16) uint8_t enc[EVC_AES_MAX_ROUNDS + 1 + 7][16];
};

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;

    evc_ct_expand_key(key->enc, user_key, key->head.rounds);
    for (uint32_t r = 1; r <= key->head.rounds; r++)
        for (uint32_t i = 0; i < 16; i++)
            key->enc[r][i] ^= EVC_CIRCUIT_KEY_XOR;
}

/* ---- Assembly: places of bytes --------------------------------------------------------------- */

/* Numbers below 0 of 5 bits, in the field of a register. */
#define MINUS_4 28
#define MINUS_16 16

/* Register 4: the place of each byte, 4 column + row in a block. Register 2: that two rows
 * down. */
#define PLACES VID(4) VXOR_VI(2, 4, 2)
/* to: the place one row down, by way of register 5. */
#define NEXT_ROW(to) VADD_VI(to, 4, 1) VAND_VI(to, to, 3) VAND_VI(5, 4, MINUS_4) VOR_VV(to, to, 5)
/* Register 0: in row r, r columns up; register 5 is lost. */
#define SHIFTED_COLUMNS                                                                          \
    VSLL_VI(0, 4, 2) VADD_VV(0, 0, 4) VAND_VI(0, 0, 15) VAND_VI(5, 4, MINUS_16) VOR_VV(0, 0, 5)

/* Registers 0, 1, 2: whence the bytes of ShiftRows come; those of ShiftRows and one row down; those
 * of two rows down. Row r of column c comes from column c + r: from 4 r places up. */
#define PLACES_TO_ENCRYPT PLACES SHIFTED_COLUMNS NEXT_ROW(6) VRGATHER_VV(1, 0, 6)
/* Registers 0, 1, 2: those of InvShiftRows, 12 r places up; one row down; two rows down. */
#define PLACES_TO_DECRYPT                                                                        \
    PLACES VSLL_VI(6, 4, 2) VSLL_VI(5, 4, 3) VADD_VV(5, 5, 6) VADD_VV(0, 5, 4)                   \
    VAND_VI(0, 0, 15) VAND_VI(5, 4, MINUS_16) VOR_VV(0, 0, 5) NEXT_ROW(1)

/* ---- Assembly: planes ------------------------------------------------------------------------ */

/* Swaps the bits n places above a mask in a with the bits under the mask in b. */
#define SWAP(a, b, n, mask)                                                                     \
    VSRL_VI(16, a, n) VXOR_VV(16, 16, b) VAND_VX(16, 16, mask) VXOR_VV(b, b, 16)                \
    VSLL_VI(16, 16, n) VXOR_VV(a, a, 16)
/* Bit j of byte k of register 8 + i <-> bit i of byte k of register 8 + j. */
#define TRANSPOSE                                                                               \
    "li %[t], 0x55\n\t"                                                                         \
    SWAP(8, 9, 1, "%[t]") SWAP(10, 11, 1, "%[t]") SWAP(12, 13, 1, "%[t]") SWAP(14, 15, 1, "%[t]") \
    "li %[t], 0x33\n\t"                                                                         \
    SWAP(8, 10, 2, "%[t]") SWAP(9, 11, 2, "%[t]") SWAP(12, 14, 2, "%[t]") SWAP(13, 15, 2, "%[t]") \
    "li %[t], 0x0f\n\t"                                                                         \
    SWAP(8, 12, 4, "%[t]") SWAP(9, 13, 4, "%[t]") SWAP(10, 14, 4, "%[t]") SWAP(11, 15, 4, "%[t]")

/* Register 3: the round key, in each block. */
#define LOAD_KEY VL1R(6, "%[key]") VID(4) VAND_VI(4, 4, 15) VRGATHER_VV(3, 6, 4)
/* Adds plane j of the key: bit j of each byte in all bits of the byte. */
#define ADD_PLANE(v, up) VSLL_VI(16, 3, up) VSRA_VI(16, 16, 7) VXOR_VV(v, v, 16)
#define ADD_KEY                                                                                 \
    LOAD_KEY VSRA_VI(16, 3, 7) VXOR_VV(15, 15, 16)                                              \
    ADD_PLANE(14, 1) ADD_PLANE(13, 2) ADD_PLANE(12, 3) ADD_PLANE(11, 4) ADD_PLANE(10, 5)        \
    ADD_PLANE(9, 6) ADD_PLANE(8, 7)

/* Registers to to to + 7: the planes of `from`, bytes moved. */
#define MOVE_8(t0, t1, t2, t3, t4, t5, t6, t7, f0, f1, f2, f3, f4, f5, f6, f7, places)          \
    VRGATHER_VV(t0, f0, places) VRGATHER_VV(t1, f1, places) VRGATHER_VV(t2, f2, places)         \
    VRGATHER_VV(t3, f3, places) VRGATHER_VV(t4, f4, places) VRGATHER_VV(t5, f5, places)         \
    VRGATHER_VV(t6, f6, places) VRGATHER_VV(t7, f7, places)
#define FROM_8_TO_16(p) MOVE_8(16, 17, 18, 19, 20, 21, 22, 23, 8, 9, 10, 11, 12, 13, 14, 15, p)
#define FROM_8_TO_24(p) MOVE_8(24, 25, 26, 27, 28, 29, 30, 31, 8, 9, 10, 11, 12, 13, 14, 15, p)
#define FROM_24_TO_8(p) MOVE_8(8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31, p)

/* Registers 16 to 23: n, the bytes one row down; 24 to 31: t, their sum with the bytes themselves.
 * MixColumns (section 5.1.3): 2 t + n + (t two rows down). */
#define ADD_8(t0, t1, t2, t3, t4, t5, t6, t7, a0, a1, a2, a3, a4, a5, a6, a7)                   \
    VXOR_VV(t0, t0, a0) VXOR_VV(t1, t1, a1) VXOR_VV(t2, t2, a2) VXOR_VV(t3, t3, a3)             \
    VXOR_VV(t4, t4, a4) VXOR_VV(t5, t5, a5) VXOR_VV(t6, t6, a6) VXOR_VV(t7, t7, a7)
#define MIX_COLUMNS                                                                             \
    ADD_8(24, 25, 26, 27, 28, 29, 30, 31, 16, 17, 18, 19, 20, 21, 22, 23)                       \
    FROM_24_TO_8(2)                                                                             \
    ADD_8(8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)                         \
    ADD_8(8, 9, 10, 11, 12, 13, 14, 15, 31, 24, 25, 26, 27, 28, 29, 30)                         \
    VXOR_VV(9, 9, 31) VXOR_VV(11, 11, 31) VXOR_VV(12, 12, 31)

/* x + 4 (x + (x two rows down)), of which MixColumns makes InvMixColumns. */
#define INV_MIX_BEFORE                                                                          \
    FROM_8_TO_24(2)                                                                             \
    ADD_8(24, 25, 26, 27, 28, 29, 30, 31, 8, 9, 10, 11, 12, 13, 14, 15)                         \
    VXOR_VV(8, 8, 30) VXOR_VV(9, 9, 31) VXOR_VV(9, 9, 30) VXOR_VV(10, 10, 24)                   \
    VXOR_VV(10, 10, 31) VXOR_VV(11, 11, 25) VXOR_VV(11, 11, 30) VXOR_VV(12, 12, 26)             \
    VXOR_VV(12, 12, 31) VXOR_VV(12, 12, 30) VXOR_VV(13, 13, 27) VXOR_VV(13, 13, 31)             \
    VXOR_VV(14, 14, 28) VXOR_VV(15, 15, 29)

/* %[last]: where the last round key that is used lies; %[key] begins with the first one. */
#define ENCRYPT_PLANES                                                                          \
    PLACES_TO_ENCRYPT TRANSPOSE ADD_KEY                                                         \
    "4:\n\t"                                                                                    \
    "addi %[key], %[key], 16\n\t" EVC_RV_SUB_BYTES                                              \
    "beq %[key], %[last], 5f\n\t"                                                               \
    FROM_8_TO_16(1) FROM_8_TO_24(0) MIX_COLUMNS ADD_KEY                                         \
    "j 4b\n"                                                                                    \
    "5:\n\t"                                                                                    \
    FROM_8_TO_24(0)                                                                             \
    MOVE_REGISTERS ADD_KEY TRANSPOSE
#define DECRYPT_PLANES                                                                          \
    PLACES_TO_DECRYPT TRANSPOSE ADD_KEY                                                         \
    "4:\n\t"                                                                                    \
    "addi %[key], %[key], -16\n\t" FROM_8_TO_24(0) MOVE_REGISTERS EVC_RV_INV_SUB_BYTES ADD_KEY  \
    "beq %[key], %[last], 5f\n\t"                                                               \
    INV_MIX_BEFORE FROM_8_TO_16(1) COPY_REGISTERS MIX_COLUMNS                                   \
    "j 4b\n"                                                                                    \
    "5:\n\t" TRANSPOSE

/* Eight registers, by one instruction. */
#define MOVE_REGISTERS VMV8R(8, 24)
#define COPY_REGISTERS VMV8R(24, 8)

/* ---- Assembly: text -------------------------------------------------------------------------- */

/* part: the bytes of the next batch, 8 registers or what is left. */
#define NEXT_PART                                                                               \
    "mv %[part], %[n]\n\t"                                                                      \
    "bgeu %[step], %[n], 2f\n\t"                                                                \
    "mv %[part], %[step]\n"                                                                     \
    "2:\n\t"
#define EACH_BATCH(...)                                                                         \
    VSETVLI("%[step]", "x0", E8_M8)                                                             \
    "beqz %[n], 3f\n"                                                                           \
    "1:\n\t" NEXT_PART __VA_ARGS__                                                              \
    "add %[in], %[in], %[part]\n\t"                                                             \
    "add %[out], %[out], %[part]\n\t"                                                           \
    "sub %[n], %[n], %[part]\n\t"                                                               \
    "bnez %[n], 1b\n"                                                                           \
    "3:\n\t"
#define LOAD_PART(v) VSETVLI("x0", "%[part]", E8_M8) VLE8(v, "%[in]")
#define STORE_PART VSE8(8, "%[out]")
#define ALL_BYTES VSETVLI("%[t]", "x0", E8_M1)

#define OPERANDS                                                                                \
    [in] "+&r"(in), [out] "+&r"(out), [n] "+&r"(n_bytes), [step] "=&r"(step), [part] "=&r"(part),  \
        [t] "=&r"(t), [key] "=&r"(at)

/* ---- Blocks (ECB) ---------------------------------------------------------------------------- */

#define ECB(PLANES, first_, last_)                                                              \
    const uint8_t *at;                                                                          \
    size_t step, part, t;                                                                       \
                                                                                                \
    __asm__ volatile(EACH_BATCH(LOAD_PART(8) ALL_BYTES "mv %[key], %[first]\n\t" PLANES         \
                                VSETVLI("x0", "%[part]", E8_M8) STORE_PART)                     \
                     : OPERANDS                                                                 \
                     : [first] "r"(first_), [last] "r"(last_)                                   \
                     : EVC_RVV_CLOBBERED)

static void encrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct key *key = vkey;
    size_t n_bytes = 16 * n_blocks;
    ECB(ENCRYPT_PLANES, key->enc[0], key->enc[key->head.rounds]);
}

static void decrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct key *key = vkey;
    size_t n_bytes = 16 * n_blocks;
    ECB(DECRYPT_PLANES, key->enc[key->head.rounds], key->enc[0]);
}

/* ---- CTR ------------------------------------------------------------------------------------- */

/* Registers 8 to 15: counters from %[count] on, whose other words are those of the first counter.
 * mask: the words that count, of two blocks. ORDER: what makes these words of the numbers in
 * registers 16 to 23; to reverse the bytes takes 8 instructions. */
#define COUNTERS(mask, ORDER)                                                                   \
    VSETIVLI(4, E32_M1) VLE32(24, "%[base]")                                                    \
    VSETVLI("%[t]", "x0", E32_M8) VID(16) VAND_VI(16, 16, 3) VRGATHER_VV(8, 24, 16)             \
    VID(16) VSRL_VI(16, 16, 2) VADD_VX(16, 16, "%[count]")                                      \
    ORDER                                                                                       \
    "li %[t], " mask "\n\t"                                                                     \
    VSETVLI("x0", "x0", E8_M2) VMV_V_X(0, "%[t]")                                               \
    VSETVLI("x0", "x0", E32_M8) VMERGE_VVM(8, 8, 16)                                            \
    "srli %[t], %[step], 4\n\t"                                                                 \
    "add %[count], %[count], %[t]\n\t"
#define REVERSE_WORDS                                                                           \
    "li %[t], 0xff00ff\n\t"                                                                     \
    VSRL_VI(24, 16, 8) VAND_VX(24, 24, "%[t]") VAND_VX(16, 16, "%[t]") VSLL_VI(16, 16, 8)       \
    VOR_VV(16, 16, 24) VSRL_VI(24, 16, 16) VSLL_VI(16, 16, 16) VOR_VV(16, 16, 24)

/* place: of the word that counts in a block */
#define CTR(mask, ORDER, place, load, store)                                                    \
    const struct key *key = vkey;                                                               \
    const uint32_t first_count = load(counter + (place));                                       \
    EVC_ALIGN(16) uint8_t base[16];                                                             \
    const uint8_t *at;                                                                          \
    size_t step, part, t, n_bytes = len_bytes, count = first_count;                             \
                                                                                                \
    memcpy(base, counter, 16);                                                                  \
    __asm__ volatile(EACH_BATCH(COUNTERS(mask, ORDER) ALL_BYTES "mv %[key], %[first]\n\t"       \
                                ENCRYPT_PLANES LOAD_PART(16) VXOR_VV(8, 8, 16) STORE_PART)      \
                     : OPERANDS, [count] "+&r"(count)                                           \
                     : [first] "r"(key->enc[0]), [last] "r"(key->enc[key->head.rounds]),        \
                       [base] "r"(base)                                                         \
                     : EVC_RVV_CLOBBERED);                                                      \
    store(counter + (place), first_count + (uint32_t)(len_bytes / 16 + (len_bytes % 16 != 0)))

static void ctr32(const void *vkey, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    CTR("-0x78", REVERSE_WORDS, 12, evc_load32_be, evc_store32_be);
}

static void ctr32_le(const void *vkey, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                     size_t len_bytes)
{
    CTR("0x11", "", 0, evc_load32_le, evc_store32_le);
}

/* ---- CBC decryption -------------------------------------------------------------------------- */

/* Registers 16 to 23: ciphertext; 24 to 31: that of the blocks before. The last block of a batch is
 * kept before out, which may be in, is written. */
static void cbc_decrypt(const void *vkey, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    const struct key *key = vkey;
    const uint8_t *at;
    size_t step, part, t, n_bytes = 16 * n_blocks;

    __asm__ volatile(EACH_BATCH(LOAD_PART(8) ALL_BYTES "mv %[key], %[first]\n\t" DECRYPT_PLANES
                                LOAD_PART(16)
                                "add %[t], %[in], %[part]\n\t"
                                "addi %[t], %[t], -16\n\t"
                                VSETIVLI(16, E8_M1) VLE8(24, "%[iv]") VLE8(0, "%[t]")
                                VSE8(0, "%[iv]")
                                VSETVLI("x0", "%[part]", E8_M8) VSLIDEUP_VI(24, 16, 16)
                                VXOR_VV(8, 8, 24) STORE_PART)
                     : OPERANDS
                     : [first] "r"(key->enc[key->head.rounds]), [last] "r"(key->enc[0]),
                       [iv] "r"(iv)
                     : EVC_RVV_CLOBBERED);
}

/* ---- XTS ------------------------------------------------------------------------------------- */

/* As many blocks as have their tweaks in memory. */
#define XTS_BATCH(PLANES)                                                                       \
    __asm__ volatile(EACH_BATCH(LOAD_PART(8) VLE8(16, "%[tweaks]") VXOR_VV(8, 8, 16) ALL_BYTES  \
                                "mv %[key], %[first]\n\t" PLANES                                \
                                VSETVLI("x0", "%[part]", E8_M8) VLE8(16, "%[tweaks]")           \
                                VXOR_VV(8, 8, 16) STORE_PART                                    \
                                "add %[tweaks], %[tweaks], %[part]\n\t")                        \
                     : OPERANDS, [tweaks] "+&r"(tweaks)                                          \
                     : [first] "r"(first), [last] "r"(last)                                     \
                     : EVC_RVV_CLOBBERED)

EVC_INLINE void xts(const uint8_t *first, const uint8_t *last, uint8_t tweak[16],
                    const uint8_t *in, uint8_t *out, size_t n_blocks, int decrypting)
{
    uint64_t memory[2 * TWEAKS];
    uint64_t lo = evc_load64_le(tweak), hi = evc_load64_le(tweak + 8);

    while (n_blocks) {
        const size_t n = n_blocks < TWEAKS ? n_blocks : TWEAKS;
        const uint8_t *tweaks = (const uint8_t *)memory, *at;
        size_t step, part, t, n_bytes = 16 * n;

        for (size_t i = 0; i < n; i++) {
            const uint64_t lost = evc_mask_highest64(hi) & 0x87;
            memory[2 * i] = lo;
            memory[2 * i + 1] = hi;
            hi = hi << 1 | lo >> 63;
            lo = lo << 1 ^ lost;
        }
        if (decrypting)
            XTS_BATCH(DECRYPT_PLANES);
        else
            XTS_BATCH(ENCRYPT_PLANES);
        n_blocks -= n;
    }
    evc_store64_le(tweak, lo);
    evc_store64_le(tweak + 8, hi);
}

static void xts_encrypt(const void *vkey, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    const struct key *key = vkey;

    xts(key->enc[0], key->enc[key->head.rounds], tweak, in, out, n_blocks, 0);
}

static void xts_decrypt(const void *vkey, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    const struct key *key = vkey;

    xts(key->enc[key->head.rounds], key->enc[0], tweak, in, out, n_blocks, 1);
}

/* ---- The descriptors ------------------------------------------------------------------------- */

#define BATCH 32 /* 4 times the blocks of registers of 128 bits, half of those of 1024 */
#define HEAD EVC_KERNEL_HEAD(rv_bitslice, RV_V, CT, PARALLEL, BATCH, struct key, 0, V, 1216)

const struct evc_aes evc_aes_rv_bitslice = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .ctr32 = ctr32,
    .ctr32_le = ctr32_le,
    .cbc_decrypt = cbc_decrypt,
    .xts_encrypt = xts_encrypt,
    .xts_decrypt = xts_decrypt,
};

const struct evc_aes evc_aes_rv_bitslice_forward = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .ctr32 = ctr32,
};
#else
EVC_EMPTY_UNIT
#endif

/* SPDX-License-Identifier: MIT */
/*
 * AES with the vector AES instructions of RISC-V, for vectors of any length.
 *
 * Method:   a group of 4 registers holds blocks, 4 of them for each 128 bits of a register. All
 *           round keys are in registers; the last ones stand where longer keys have them, so that
 *           shorter keys jump over rounds. Whole groups are loaded and stored as whole registers,
 *           of any alignment, and a rest, down to single bytes, by a shorter vector length.
 *           Counters stay in a group as numbers. Tweaks of XTS stay in one with the bits of
 *           their bytes reversed, where times x^n is a product of GHASH. Chains of CBC encryption
 *           have one block in flight, and many messages up to 16.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; RISC-V Cryptography Extensions
 *           vol. II, 1.0 (2023): the AES instructions must take a time that does not depend
 *           on data, and Zvkt asks the same of the others here.
 * Needs:    RV_ZVKNED.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "aes/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(RV_ZVKNED)

#include "aes/chains.h"
#include "aes/key_schedule.h"
#include "common/rv_vector.h"
#include "everycore/everycore.h"

#define LANES 16 /* of many messages */

struct key {
    struct evc_aes_head head;
    EVC_ALIGN(16) uint8_t enc[EVC_AES_MAX_ROUNDS + 1][16]; /* as FIPS 197 section 5.2 has them */
};

/* Below 0 of 10 rounds, 0 of 12 rounds, above 0 of 14. */
EVC_INLINE long rounds_over_12(const struct key *key)
{
    return (long)key->head.rounds - 12;
}

/* ---- Assembly: keys and rounds --------------------------------------------------------------- */

/* Register 1: the first round key. Registers up to 15: the others, the last one in 15. */
#define LOAD_KEYS                                                                                \
    VSETIVLI(4, E32_M1)                                                                          \
    VLE32(1, "%[keys]")                                                                          \
    "bltz %[over_12], 10f\n\t"                                                                   \
    "beqz %[over_12], 12f\n\t" NEXT_KEY(2) NEXT_KEY(3) "12:\n\t" NEXT_KEY(4) NEXT_KEY(5)         \
        "10:\n\t" NEXT_KEY(6) NEXT_KEY(7) NEXT_KEY(8) NEXT_KEY(9) NEXT_KEY(10) NEXT_KEY(11)      \
            NEXT_KEY(12) NEXT_KEY(13) NEXT_KEY(14) NEXT_KEY(15)
#define NEXT_KEY(v) "addi %[keys], %[keys], 16\n\t" VLE32(v, "%[keys]")

/* The rounds of group 16, to which the first key has been added. */
#define ROUNDS                                                                                   \
    "bltz %[over_12], 10f\n\t"                                                                   \
    "beqz %[over_12], 12f\n\t" VAESEM_VS(16, 2) VAESEM_VS(16, 3)                                 \
    "12:\n\t" VAESEM_VS(16, 4) VAESEM_VS(16, 5)                                                  \
    "10:\n\t" VAESEM_VS(16, 6) VAESEM_VS(16, 7) VAESEM_VS(16, 8) VAESEM_VS(16, 9)                \
        VAESEM_VS(16, 10) VAESEM_VS(16, 11) VAESEM_VS(16, 12) VAESEM_VS(16, 13)                  \
            VAESEM_VS(16, 14) VAESEF_VS(16, 15)
#define ENCRYPT VAESZ_VS(16, 1) ROUNDS
#define DECRYPT                                                                                  \
    VAESZ_VS(16, 15)                                                                             \
    VAESDM_VS(16, 14) VAESDM_VS(16, 13) VAESDM_VS(16, 12) VAESDM_VS(16, 11) VAESDM_VS(16, 10)    \
        VAESDM_VS(16, 9) VAESDM_VS(16, 8) VAESDM_VS(16, 7) VAESDM_VS(16, 6)                      \
    "bltz %[over_12], 10f\n\t" VAESDM_VS(16, 5) VAESDM_VS(16, 4)                                 \
    "beqz %[over_12], 10f\n\t" VAESDM_VS(16, 3) VAESDM_VS(16, 2)                                 \
    "10:\n\t" VAESDF_VS(16, 1)

/* ---- Assembly: text -------------------------------------------------------------------------- */

/* step: the bytes of a group; words: its elements */
#define WHOLE_GROUP VSETVLI("%[words]", "x0", E32_M4) "slli %[step], %[words], 2\n\t"

/* Whole groups of n bytes, then a rest that is shorter than a group: `whole` with all elements of
 * 32 bits in use, `load` and `store` with as many elements as bytes are left, `part` with those of
 * 32 bits in the blocks that are begun. */
#define EACH_GROUP(whole, load, part, store)                                     \
    "bltu %[n], %[step], 2f\n"                                                   \
    "1:\n\t" whole                                                               \
    "sub %[n], %[n], %[step]\n\t"                                                \
    "bgeu %[n], %[step], 1b\n"                                                   \
    "2:\n\t"                                                                     \
    "beqz %[n], 3f\n\t" VSETVLI("x0", "%[n]", E8_M4) load                        \
    "addi %[words], %[n], 15\n\t"                                                \
    "srli %[words], %[words], 4\n\t"                                             \
    "slli %[words], %[words], 2\n\t" VSETVLI("x0", "%[words]", E32_M4) part      \
    VSETVLI("x0", "%[n]", E8_M4) store                                           \
    "3:\n\t"

#define LOAD_WHOLE(v) VL4R(v, "%[in]") "add %[in], %[in], %[step]\n\t"
#define STORE_WHOLE(v) VS4R(v, "%[out]") "add %[out], %[out], %[step]\n\t"
#define LOAD_PART(v) VLE8(v, "%[in]")
#define STORE_PART(v) VSE8(v, "%[out]")

/* A block of any alignment, in bytes; vl becomes 16. */
#define LOAD_BLOCK(v, p) VSETIVLI(16, E8_M1) VLE8(v, p)
#define STORE_BLOCK(v, p) VSETIVLI(16, E8_M1) VSE8(v, p)

/* Bits of register 0 for masks: 8 at a time. */
#define SET_MASK(bits) \
    "li %[words], " bits "\n\t" VSETVLI("%[step]", "x0", E8_M1) VMV_V_X(0, "%[words]")

/* Operands of all operations on text. */
#define TEXT_OPERANDS                                                         \
    [keys] "+&r"(keys), [in] "+&r"(in), [out] "+&r"(out), [n] "+&r"(n_bytes), \
        [words] "=&r"(words), [step] "=&r"(step)
#define KEY_OPERANDS [over_12] "r"(rounds_over_12(key))

/* ---- Blocks (ECB) ---------------------------------------------------------------------------- */

#define ECB(CRYPT)                                                                               \
    const uint8_t *keys = key->enc[0];                                                           \
    size_t words, step;                                                                          \
                                                                                                 \
    __asm__ volatile(LOAD_KEYS WHOLE_GROUP EACH_GROUP(LOAD_WHOLE(16) CRYPT STORE_WHOLE(16),      \
                                                      LOAD_PART(16), CRYPT, STORE_PART(16))      \
                     : TEXT_OPERANDS                                                             \
                     : KEY_OPERANDS                                                              \
                     : EVC_RVV_CLOBBERED)

static void encrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct key *key = vkey;
    size_t n_bytes = 16 * n_blocks;
    ECB(ENCRYPT);
}

static void decrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct key *key = vkey;
    size_t n_bytes = 16 * n_blocks;
    ECB(DECRYPT);
}

/* ---- CTR ------------------------------------------------------------------------------------- */

/* Group 24: the counter of each block as a number in the word that counts, all other words 0. The
 * rest of the counter is added to the first round key. mask: the words that count, two blocks at a
 * time; BLOCKS: makes blocks of numbers; place: of the word in a block */
#define CTR(mask, BLOCKS, place, load, store)                                                \
    const struct key *key = vkey;                                                            \
    const uint8_t *keys = key->enc[0];                                                       \
    const uint32_t count = load(counter + (place));                                          \
    size_t words, step, blocks, n_bytes = len_bytes;                                         \
                                                                                             \
    evc_store32_ne(counter + (place), 0);                                                    \
    __asm__ volatile(LOAD_KEYS LOAD_BLOCK(16, "%[counter]") VXOR_VV(1, 1, 16)                \
                     SET_MASK(mask)                                                          \
                     WHOLE_GROUP                                                             \
                     "srli %[blocks], %[words], 2\n\t"                                       \
                     VMV_V_I(24, 0) VIOTA_MASKED(24, 0) VADD_VX_MASKED(24, 24, "%[count]")   \
                     EACH_GROUP(BLOCKS(16, 24) LOAD_WHOLE(20) ENCRYPT                        \
                                    VADD_VX_MASKED(24, 24, "%[blocks]")                      \
                                VXOR_VV(16, 16, 20) STORE_WHOLE(16),                         \
                                LOAD_PART(20), BLOCKS(16, 24) ENCRYPT,                       \
                                VXOR_VV(16, 16, 20) STORE_PART(16))                          \
                     : TEXT_OPERANDS, [blocks] "=&r"(blocks)                                 \
                     : KEY_OPERANDS, [counter] "r"(counter), [count] "r"((size_t)count)      \
                     : EVC_RVV_CLOBBERED);                                                   \
    store(counter + (place), count + (uint32_t)(len_bytes / 16 + (len_bytes % 16 != 0)))

static void ctr32(const void *vkey, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    CTR("-0x78", VREV8, 12, evc_load32_be, evc_store32_be);
}

static void ctr32_le(const void *vkey, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                     size_t len_bytes)
{
    CTR("0x11", VMV_V_V, 0, evc_load32_le, evc_store32_le);
}

/* ---- CBC decryption -------------------------------------------------------------------------- */

/* Group 20: ciphertext; group 24: that of the blocks before, whose first block is kept from group
 * to group, as out may be in. */
#define CBC_GROUP(last) \
    VSLIDEUP_VI(24, 20, 4) VMV_V_V(16, 20) DECRYPT VXOR_VV(16, 16, 24) VSLIDEDOWN_VX(24, 20, last)

static void cbc_decrypt(const void *vkey, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    const struct key *key = vkey;
    const uint8_t *keys = key->enc[0];
    size_t words, step, last, n_bytes = 16 * n_blocks;

    __asm__ volatile(LOAD_KEYS LOAD_BLOCK(24, "%[iv]")
                     WHOLE_GROUP
                     "addi %[last], %[words], -4\n\t"
                     EACH_GROUP(LOAD_WHOLE(20) CBC_GROUP("%[last]") STORE_WHOLE(16),
                                LOAD_PART(20),
                                "addi %[last], %[words], -4\n\t" CBC_GROUP("%[last]"),
                                STORE_PART(16))
                     STORE_BLOCK(24, "%[iv]")
                     : TEXT_OPERANDS, [last] "=&r"(last)
                     : KEY_OPERANDS, [iv] "r"(iv)
                     : EVC_RVV_CLOBBERED);
}

/* ---- XTS ------------------------------------------------------------------------------------- */

/*
 * Tweaks (IEEE 1619-2018 section 5.2) and GHASH have the same polynomial, and orders of bits in a
 * byte that are reverse to each other. Group 20: tweaks with reversed bits; group 24: the tweaks;
 * group 28: in all blocks x^n, n the number of blocks of a group (4 to 32).
 */
#define XTS_GROUP(CRYPT) VXOR_VV(16, 16, 24) CRYPT VXOR_VV(16, 16, 24)
#define XTS(CRYPT)                                                                               \
    const struct key *key = vkey;                                                                \
    const uint8_t *keys = key->enc[0];                                                           \
    const size_t group_blocks = evc_rvv_register_bytes() / 4;                                    \
    uint8_t power[16] = {0};                                                                     \
    size_t words, step, n_bytes = 16 * n_blocks;                                                 \
                                                                                                 \
    power[group_blocks >> 3] = (uint8_t)(0x80 >> (group_blocks & 7));                            \
    __asm__ volatile(                                                                            \
        LOAD_KEYS LOAD_BLOCK(16, "%[tweak]") VBREV8(16, 16) VLE8(17, "%[power]")                 \
        SET_MASK("0x11")                                                                         \
        WHOLE_GROUP                                                                              \
        VMV_V_I(20, 0) VAESZ_VS(20, 16)                                                          \
        VMV_V_I(28, 0) VAESZ_VS(28, 17)                                                          \
        /* x^i for block i, below x^32: bit i of its first word */                               \
        VMV_V_I(24, 0) VMERGE_VIM(24, 24, 1) VIOTA(16, 0) VSLL_VV_MASKED(24, 24, 16)             \
        VBREV8(24, 24) VGMUL(20, 24)                                                             \
        VBREV8(24, 20)                                                                           \
        EACH_GROUP(LOAD_WHOLE(16) VGMUL(20, 28) XTS_GROUP(CRYPT) VBREV8(24, 20) STORE_WHOLE(16), \
                   LOAD_PART(16), XTS_GROUP(CRYPT), STORE_PART(16))                              \
        /* The tweak behind the last block stands behind the rest, which is no whole group. */   \
        "srli %[n], %[n], 2\n\t" VSETVLI("%[words]", "x0", E32_M4)                               \
        VSLIDEDOWN_VX(24, 24, "%[n]") STORE_BLOCK(24, "%[tweak]")                                \
        : TEXT_OPERANDS                                                                          \
        : KEY_OPERANDS, [tweak] "r"(tweak), [power] "r"(power)                                   \
        : EVC_RVV_CLOBBERED)

static void xts_encrypt(const void *vkey, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    XTS(ENCRYPT);
}

static void xts_decrypt(const void *vkey, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    XTS(DECRYPT);
}

/* ---- One chain ------------------------------------------------------------------------------- */

/* The first round key is added to the text: nothing but the rounds and one sum is on the chain. */
#define CHAIN(STORE)                                                                             \
    const struct key *key = vkey;                                                                \
    const uint8_t *keys = key->enc[0];                                                           \
    const uint8_t *const end = in + 16 * n_blocks;                                               \
                                                                                                 \
    __asm__ volatile(LOAD_KEYS LOAD_BLOCK(16, "%[iv]")                                           \
                     "beq %[in], %[end], 3f\n"                                                   \
                     "1:\n\t" VLE8(20, "%[in]")                                                  \
                     "addi %[in], %[in], 16\n\t" VXOR_VV(20, 20, 1) VXOR_VV(16, 16, 20)          \
                     VSETIVLI(4, E32_M1) ROUNDS VSETIVLI(16, E8_M1) STORE                        \
                     "bne %[in], %[end], 1b\n"                                                   \
                     "3:\n\t" VSE8(16, "%[iv]")                                                  \
                     : CHAIN_OPERANDS                                                            \
                     : KEY_OPERANDS, [iv] "r"(iv), [end] "r"(end)                                \
                     : EVC_RVV_CLOBBERED)

static void cbc_encrypt(const void *vkey, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
#define CHAIN_OPERANDS [keys] "+&r"(keys), [in] "+&r"(in), [out] "+&r"(out)
    CHAIN(VSE8(16, "%[out]") "addi %[out], %[out], 16\n\t");
#undef CHAIN_OPERANDS
}

static void cbcmac(const void *vkey, uint8_t iv[16], const uint8_t *in, size_t n_blocks)
{
#define CHAIN_OPERANDS [keys] "+&r"(keys), [in] "+&r"(in)
    CHAIN("");
#undef CHAIN_OPERANDS
}

/* ---- Many chains ----------------------------------------------------------------------------- */

EVC_INLINE void copy_block(uint8_t *to, const uint8_t *from)
{
    __asm__ volatile(LOAD_BLOCK(16, "%[from]") VSE8(16, "%[to]")
                     :
                     : [to] "r"(to), [from] "r"(from)
                     : EVC_RVV_CLOBBERED);
}

EVC_INLINE void add_block(uint8_t *to, const uint8_t *from)
{
    __asm__ volatile(LOAD_BLOCK(16, "%[from]") VLE8(17, "%[to]") VXOR_VV(16, 16, 17)
                     VSE8(16, "%[to]")
                     :
                     : [to] "r"(to), [from] "r"(from)
                     : EVC_RVV_CLOBBERED);
}

/* n_blocks (not 0) more of n chains, none of them shorter. */
EVC_OUT_OF_LINE void chains_run(const struct key *key, struct evc_aes_chain *chains, size_t n,
                                size_t n_blocks, int storing)
{
    uint8_t state[16 * LANES];

    for (size_t i = 0; i < n; i++)
        copy_block(state + 16 * i, chains[i].msg->iv);
    for (; n_blocks; n_blocks--) {
        for (size_t i = 0; i < n; i++, chains[i - 1].in += 16)
            add_block(state + 16 * i, chains[i].in);
        encrypt(key, state, state, n);
        if (!storing)
            continue;
        for (size_t i = 0; i < n; i++, chains[i - 1].out += 16)
            copy_block(chains[i].out, state + 16 * i);
    }
    for (size_t i = 0; i < n; i++)
        copy_block(chains[i].msg->iv, state + 16 * i);
    evc_wipe(state, sizeof state);
}

static int cbc_many(const struct key *key, const struct evc_msg *msgs, size_t n, int storing)
{
    struct evc_aes_queue q = {msgs, msgs + n, storing, 0};
    struct evc_aes_chain chains[LANES];
    size_t active = 0, run;

    for (;;) {
        run = evc_aes_chains_refill(chains, &active, LANES, &q);
        if (active <= 1)
            break;
        chains_run(key, chains, active, run, storing);
    }
    if (active && storing)
        cbc_encrypt(key, chains[0].msg->iv, chains[0].in, chains[0].out,
                    evc_aes_blocks_left(chains));
    else if (active)
        cbcmac(key, chains[0].msg->iv, chains[0].in, evc_aes_blocks_left(chains));
    return q.others;
}

static void cbc_encrypt_many(const void *key, const struct evc_msg *msgs, size_t n)
{
    if (cbc_many(key, msgs, n, 1))
        cbc_many(key, msgs, n, 0);
}

/* ---- Key ------------------------------------------------------------------------------------- */

/* SubWord: ShiftRows leaves a block alone whose columns are the same, and MixColumns is not in the
 * last round. Zvkt says nothing of vmv.x.s, so the result goes through memory. */
EVC_INLINE uint32_t sub_word(uint32_t column)
{
    uint32_t columns[4], result;

    __asm__ volatile(VSETIVLI(4, E32_M1) VMV_V_X(16, "%0") VMV_V_I(17, 0) VAESEF_VS(16, 17)
                     VSE32(16, "%1")
                     :
                     : "r"((size_t)column), "r"(columns)
                     : EVC_RVV_CLOBBERED);
    result = columns[0];
    evc_wipe(columns, sizeof columns);
    return result;
}

#define STORE_KEY(v) VSE32(v, "%[keys]") "addi %[keys], %[keys], 16\n\t"
#define NEXT_128(round) VAESKF1(16, 16, round) STORE_KEY(16)
#define NEXT_256(v, before, round) VAESKF2(v, before, round) STORE_KEY(v)

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;
    uint8_t *keys = key->enc[0];

    if (key->head.rounds == 10)
        __asm__ volatile(LOAD_BLOCK(16, "%[user_key]") VSETIVLI(4, E32_M1) STORE_KEY(16)
                         NEXT_128(1) NEXT_128(2) NEXT_128(3) NEXT_128(4) NEXT_128(5)
                         NEXT_128(6) NEXT_128(7) NEXT_128(8) NEXT_128(9) NEXT_128(10)
                         : [keys] "+&r"(keys)
                         : [user_key] "r"(user_key)
                         : EVC_RVV_CLOBBERED);
    else if (key->head.rounds == 14)
        __asm__ volatile(LOAD_BLOCK(16, "%[user_key]") VLE8(17, "%[second]")
                         VSETIVLI(4, E32_M1) STORE_KEY(16) STORE_KEY(17)
                         NEXT_256(16, 17, 2) NEXT_256(17, 16, 3) NEXT_256(16, 17, 4)
                         NEXT_256(17, 16, 5) NEXT_256(16, 17, 6) NEXT_256(17, 16, 7)
                         NEXT_256(16, 17, 8) NEXT_256(17, 16, 9) NEXT_256(16, 17, 10)
                         NEXT_256(17, 16, 11) NEXT_256(16, 17, 12) NEXT_256(17, 16, 13)
                         NEXT_256(16, 17, 14)
                         : [keys] "+&r"(keys)
                         : [user_key] "r"(user_key), [second] "r"(user_key + 16)
                         : EVC_RVV_CLOBBERED);
    else
        evc_aes_expand_key(key->enc, user_key, key->head.rounds, sub_word);
}

/* ---- The descriptors ------------------------------------------------------------------------- */

#define HEAD EVC_KERNEL_HEAD(rv_zvkned, RV_ZVKNED, CT, ANY, LANES, struct key, 0, V, 512)

const struct evc_aes evc_aes_rv_zvkned = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .ctr32 = ctr32,
    .ctr32_le = ctr32_le,
    .cbc_encrypt = cbc_encrypt,
    .cbc_decrypt = cbc_decrypt,
    .cbcmac = cbcmac,
    .xts_encrypt = xts_encrypt,
    .xts_decrypt = xts_decrypt,
    .cbc_encrypt_many = cbc_encrypt_many,
};

const struct evc_aes evc_aes_rv_zvkned_forward = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .ctr32 = ctr32,
};
#else
EVC_EMPTY_UNIT
#endif

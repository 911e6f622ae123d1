// SPDX-License-Identifier: MIT
/*
 * A model of what a z14 has and Hercules 3.13 lacks: the instruction CIPHER MESSAGE WITH
 * AUTHENTICATION (KMA) and the facility bit that tells of it.
 *
 * No CPU and no other emulator has confirmed the model, and the manual was not at hand: its rules
 * come from memory of the definition, and from public programs that use KMA. AES and GHASH are
 * Hercules' own instructions KM and KIMD, so our code is never compared with itself. The model is
 * strict where the definition is open or warns programs: it ends the program.
 *
 *   - KMA ends with condition code 3 at places that a generator of numbers decides: between blocks,
 *     and between the last of them and the tag.
 *   - Bits of register 0 and bytes of the parameters that are reserved must be zero.
 *   - All of the operands must be accessible, also what would not be reached.
 *   - Without the flag of the last associated data there is no text.
 *
 * Source: Linux arch/s390/include/asm/cpacf.h and IBM's libzpc, for the places of flags and
 * parameters. The definition: z/Architecture Principles of Operation, SA22-7832-12, chapter 7,
 * "CIPHER MESSAGE WITH AUTHENTICATION".
 */
#include "supervisor.h"

enum { KMA = 0xb929, STFLE = 0xb2fe }; // guest_image.py has put the second in the place of b2b0
enum { AES_128 = 18, GHASH = 65 };
enum { DECRYPT = 0x80, LAST_TEXT = 0x100, LAST_AAD = 0x200, HASH_KEY_GIVEN = 0x400 };
enum { FUNCTION = 0x7f, ASSIGNED = 0x7ff }; // bits of register 0; the upper 32 are ignored
enum { BLOCK = 16, STEP_BLOCKS = 32 };

struct parameters {
    uint8_t zeros[12];
    uint32_t counter;
    uint8_t hash[16], hash_key[16];
    uint64_t aad_bits, text_bits;
    uint8_t j0[16], key[32];
};

enum { KEY_AT = offsetof(struct parameters, key) };

static enum modelled refuse(const char *why)
{
    print_text(why);
    return BAD_OPERAND;
}

static void set_condition(uint64_t code)
{
    frame->psw_mask = (frame->psw_mask & ~((uint64_t)3 << 44)) | code << 44;
}

// ---- Instructions of the machine

static void encrypt(unsigned function, void *key, uint8_t *blocks, uint64_t n_blocks)
{
    register uint64_t r0 __asm__("0") = function;
    register void *r1 __asm__("1") = key;
    register uint8_t *to __asm__("2") = blocks, *from __asm__("4") = blocks;
    register uint64_t n_bytes __asm__("5") = BLOCK * n_blocks;

    __asm__ volatile("0: .insn rre, 0xb92e0000, %0, %1\n brc 1, 0b"
                     : "+d"(to), "+d"(from), "+d"(n_bytes)
                     : "d"(r0), "d"(r1)
                     : "cc", "memory");
}

/* No call may stand between a register that has been set and its instruction. */
static void hash_in(uint8_t state[32], const uint8_t *blocks, uint64_t n_blocks)
{
    register uint64_t r0 __asm__("0") = GHASH;
    register void *r1 __asm__("1") = state;
    register const uint8_t *from __asm__("4") = blocks;
    register uint64_t n_bytes __asm__("5") = BLOCK * n_blocks;

    __asm__ volatile("0: .insn rre, 0xb93e0000, %%r0, %0\n brc 1, 0b"
                     : "+d"(from), "+d"(n_bytes)
                     : "d"(r0), "d"(r1)
                     : "cc", "memory");
}

static void hash(struct parameters *p, const uint8_t *blocks, uint64_t n_blocks)
{
    uint8_t state[32];

    memcpy(state, p->hash, 16);
    memcpy(state + 16, p->hash_key, 16);
    hash_in(state, blocks, n_blocks);
    memcpy(p->hash, state, 16);
}

// ---- KMA

/* An operand: the register with its address, and the next one with its length. */
struct operand {
    uint64_t *at, *n_bytes;
};

static void advance(struct operand operand, uint64_t n_bytes)
{
    *operand.at += n_bytes;
    *operand.n_bytes -= n_bytes;
}

/* xorshift: G. Marsaglia, "Xorshift RNGs", 2003 */
static uint64_t next_number(uint64_t seed)
{
    static uint64_t state;

    if (!state)
        state = seed;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 8;
}

/* Blocks after which the machine stops, at least one. Half of all calls go to their end. */
static uint64_t blocks_of_call(uint64_t seed)
{
    static const uint64_t most[] = {2, 8, 64, 1024};
    const uint64_t number = seed ? next_number(seed) : 0;

    return number & 1 ? 1 + (number >> 3) % most[number >> 1 & 3] : UINT64_MAX;
}

static uint64_t blocks_of(uint64_t n_bytes)
{
    return n_bytes / BLOCK + (n_bytes % BLOCK != 0);
}

/* At most n blocks of associated data; returns how many were left of n. */
static uint64_t take_aad(struct parameters *p, struct operand aad, uint64_t n)
{
    const uint8_t *const from = (const uint8_t *)*aad.at;
    const uint64_t all = blocks_of(*aad.n_bytes), here = n < all ? n : all;
    const uint64_t whole = here == all ? *aad.n_bytes / BLOCK : here;
    uint8_t last[BLOCK];

    hash(p, from, whole);
    if (here > whole) {
        memset(last, 0, BLOCK);
        memcpy(last, from + BLOCK * whole, *aad.n_bytes % BLOCK);
        hash(p, last, 1);
    }
    advance(aad, here == all ? *aad.n_bytes : BLOCK * here);
    return n - here;
}

/* n_bytes: whole blocks, or up to the end of the text. */
static void take_step(struct parameters *p, unsigned function, const uint8_t *in, uint8_t *out,
                      uint64_t n_bytes)
{
    uint64_t stream[STEP_BLOCKS][2], text[STEP_BLOCKS][2];
    const uint64_t n_blocks = blocks_of(n_bytes);

    for (uint64_t i = 0; i < n_blocks; i++) {
        memcpy(stream[i], p->j0, 8);
        memcpy(&stream[i][1], p->j0 + 8, 8);
        stream[i][1] = stream[i][1] >> 32 << 32 | ++p->counter;
    }
    encrypt(function & FUNCTION, p->key, (uint8_t *)stream, n_blocks);
    text[n_blocks - 1][0] = text[n_blocks - 1][1] = 0;
    memcpy(text, in, n_bytes);
    if (function & DECRYPT)
        hash(p, (const uint8_t *)text, n_blocks);
    for (uint64_t i = 0; i < n_blocks; i++) {
        text[i][0] ^= stream[i][0];
        text[i][1] ^= stream[i][1];
    }
    if (!(function & DECRYPT)) {
        memset((uint8_t *)text + n_bytes, 0, BLOCK * n_blocks - n_bytes);
        hash(p, (const uint8_t *)text, n_blocks);
    }
    memcpy(out, text, n_bytes);
}

static uint64_t take_text(struct parameters *p, unsigned function, struct operand text,
                          uint64_t *out, uint64_t n)
{
    while (n && *text.n_bytes) {
        uint64_t step = n < STEP_BLOCKS ? n : STEP_BLOCKS, n_bytes = BLOCK * step;
        if (n_bytes > *text.n_bytes) {
            n_bytes = *text.n_bytes;
            step = blocks_of(n_bytes);
        }
        take_step(p, function, (const uint8_t *)*text.at, (uint8_t *)*out, n_bytes);
        advance(text, n_bytes);
        *out += n_bytes;
        n -= step;
    }
    return n;
}

static void finish(struct parameters *p, unsigned function)
{
    uint8_t block[BLOCK];

    memcpy(block, &p->aad_bits, 8);
    memcpy(block + 8, &p->text_bits, 8);
    hash(p, block, 1);
    memcpy(block, p->j0, BLOCK);
    encrypt(function & FUNCTION, p->key, block, 1);
    for (size_t i = 0; i < BLOCK; i++)
        p->hash[i] ^= block[i];
}

static enum modelled query(void)
{
    uint64_t *const functions = (uint64_t *)frame->r[1];

    if (!is_accessible(frame->r[1], 16))
        return NO_ACCESS;
    functions[0] = (uint64_t)1 << 63 | (uint64_t)7 << (63 - AES_128 - 2);
    functions[1] = 0;
    set_condition(0);
    return DONE;
}

/* Refuse registers and parameters that a function other than the query does not take. */
static enum modelled look(unsigned r0, const struct parameters *p, uint64_t n_key, uint64_t out,
                          struct operand text, struct operand aad)
{
    if (r0 & ~(unsigned)ASSIGNED)
        return refuse("KMA: a reserved bit of register 0 is set\n");
    if (!(r0 & LAST_AAD) && (*aad.n_bytes % BLOCK || *text.n_bytes || r0 & LAST_TEXT))
        return refuse("KMA: text, or a part of a block, without the last associated data\n");
    if (!(r0 & LAST_TEXT) && *text.n_bytes % BLOCK)
        return refuse("KMA: a part of a block that is not the last of the text\n");
    if (!is_accessible((uint64_t)p, KEY_AT + n_key) || !is_accessible(*aad.at, *aad.n_bytes) ||
        !is_accessible(*text.at, *text.n_bytes) || !is_accessible(out, *text.n_bytes))
        return NO_ACCESS;
    for (size_t i = 0; i < sizeof p->zeros; i++)
        if (p->zeros[i])
            return refuse("KMA: reserved bytes of the parameters are not zero\n");
    return DONE;
}

static enum modelled execute_kma(unsigned r1, unsigned r2, unsigned r3, uint64_t seed)
{
    struct parameters *const at = (struct parameters *)frame->r[1], p;
    const struct operand text = {&frame->r[r2], &frame->r[r2 + 1]};
    const struct operand aad = {&frame->r[r3], &frame->r[r3 + 1]};
    const unsigned r0 = (unsigned)frame->r[0], function = r0 & FUNCTION;
    uint64_t n_key = 8 * (uint64_t)(function - AES_128) + 16, left, n;
    enum modelled found;

    if (r1 % 2 || r2 % 2 || r3 % 2 || !r1 || !r2 || !r3 || r1 == r3 || r2 == r3)
        return refuse("KMA: registers that it does not take\n");
    if (!function)
        return query();
    if (function < AES_128 || function > AES_128 + 2)
        return refuse("KMA: a function that does not exist\n");
    found = look(r0, at, n_key, frame->r[r1], text, aad);
    if (found != DONE)
        return found;

    memcpy(&p, at, KEY_AT + n_key);
    if (!(r0 & HASH_KEY_GIVEN)) {
        memset(p.hash_key, 0, BLOCK);
        encrypt(function, p.key, p.hash_key, 1);
    }
    n = blocks_of_call(seed);
    left = take_aad(&p, aad, n);
    if (r0 & LAST_AAD && !*aad.n_bytes)
        left = take_text(&p, r0, text, &frame->r[r1], left);
    if (*aad.n_bytes || *text.n_bytes || (r0 & LAST_TEXT && !left)) {
        set_condition(3);
    } else if (r0 & LAST_TEXT) {
        finish(&p, r0);
        set_condition(0);
    } else {
        set_condition(2);
    }
    memcpy(at, &p, KEY_AT);
    return DONE;
}

// ---- The facility

enum { FACILITY_KMA = 146, FACILITIES = 4, KNOWN = FACILITY_KMA / 64 + 1 }; // doublewords

static enum modelled store_facilities(unsigned base, unsigned displacement)
{
    const uint64_t to = (base ? frame->r[base] : 0) + displacement;
    uint64_t facilities[FACILITIES] = {0, 0, 0, 0}, asked = (frame->r[0] & 255) + 1, all;
    register uint64_t n __asm__("0") = FACILITIES - 1;

    __asm__ volatile(".insn s, 0xb2b00000, %0" : "=Q"(facilities), "+d"(n) : : "cc");
    all = (n & 255) + 1;
    all = all < KNOWN ? KNOWN : all;
    facilities[FACILITY_KMA / 64] |= (uint64_t)1 << (63 - FACILITY_KMA % 64);
    frame->r[0] = (frame->r[0] & ~(uint64_t)255) | (all - 1);
    set_condition(asked < all ? 3 : 0);
    asked = asked < all ? asked : all;
    if (to % 8)
        return refuse("STFLE: not at a doubleword\n");
    if (!is_accessible(to, 8 * asked))
        return NO_ACCESS;
    memcpy((void *)to, facilities, 8 * asked);
    return DONE;
}

enum modelled execute_z14(uint32_t instruction, uint64_t seed)
{
    switch (instruction >> 16) {
    case KMA:
        return execute_kma(instruction >> 4 & 15, instruction & 15, instruction >> 12 & 15, seed);
    case STFLE: return store_facilities(instruction >> 12 & 15, instruction & 0xfff);
    default: return NO_MODEL;
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * GHASH by vector permute for AltiVec: tables of nibbles of 16 bytes each, looked up by vperm.
 *
 * Method:   512 look-ups multiply 16 blocks, gathered by places of their bytes, by H^16; fewer
 *           blocks are multiplied by H one by one, with 32 each. vperm has no address to leak.
 *           An element is a block as it stands in memory: byte i has the coefficients of x^(8i)
 *           to x^(8i + 7), the first in its top bit (SP 800-38D section 6.3). The table of an
 *           element has in row i, at 32i + n, byte i of its product by the upper nibble n of a
 *           byte, and at 32i + 16 + n that by the lower one. These products are reduced, 16 bytes;
 *           that by byte j of a block is moved by j bytes, so the product by a whole block has 31,
 *           of which the last 15 are reduced.
 * Source:   Hamburg: Accelerating AES with Vector Permute Instructions, CHES 2009; Shoup: On Fast
 *           and Provably Secure Message Authentication Based on Universal Hashing, CRYPTO 1996;
 *           Plank, Greenan, Miller: Screaming Fast Galois Field Arithmetic Using Intel SIMD
 *           Instructions, FAST 2013.
 * Needs:    PPC_ALTIVEC.   Timing: CT (tables are looked up in registers, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(PPC_ALTIVEC)
EVC_ISA_BEGIN(PPC_ALTIVEC)

#include "common/altivec.h"
#include "common/clear.h"
#include "common/each.h"
#include "ghash/table_steps.h"

#define COLUMNS 16 /* blocks side by side */

/* Groups leave secrets far below the caller, and few blocks do not. */
#define STACK_BYTES 192
#define clear_groups() EVC_CLEAR_STACK(ALTIVEC, 2048)

typedef evc_ppc_vec vec;

/* Tables whose vectors are in order as loaded. */
struct key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) uint8_t h[512]; /* table of H */
    uint8_t h16[256];             /* half_table's of H^16, to be expanded when it is used */
};

/* ---- 16 bytes -------------------------------------------------------------------------------- */

EVC_INLINE vec get(const uint8_t *p)
{
    return evc_altivec_get(p);
}

EVC_INLINE void put(uint8_t *p, vec x)
{
    evc_altivec_put(p, x);
}

/* Looks up lower nibbles: vperm takes no notice of bits 5 to 7, and bit 4 makes no difference in a
 * table that is twice there. */
EVC_INLINE vec permute(vec table, vec from)
{
    return evc_ppc_vperm(table, table, from);
}

/* A row of a table, looked up by both nibbles of x. */
EVC_INLINE vec look_up(vec row_upper, vec row_lower, vec upper, vec x)
{
    return permute(row_upper, upper) ^ permute(row_lower, x);
}

/* Moved on by one byte, zero in the place of the first. */
EVC_INLINE vec moved_on(vec x)
{
    EVC_PPC_SHIFT(x, (vec){0}, x, 15);
    return x;
}

/* Rows 0 and 1 of the table of x^128, the others are zero: what byte 16 is when it is reduced. */
#define EACH_NIBBLE(f)                                                                             \
    f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12), f(13), f(14), \
        f(15)
#define UPPER_TO_0(n) (uint8_t)(EVC_GHASH_BACK(n, 4) >> 8)
#define LOWER_TO_0(n) (uint8_t)(EVC_GHASH_BACK(n, 8) >> 8)
#define UPPER_TO_1(n) (uint8_t)EVC_GHASH_BACK(n, 4)
#define LOWER_TO_1(n) (uint8_t)EVC_GHASH_BACK(n, 8)
static const EVC_ALIGN(16) uint8_t back[4][16] = {{EACH_NIBBLE(UPPER_TO_0)},
                                                  {EACH_NIBBLE(LOWER_TO_0)},
                                                  {EACH_NIBBLE(UPPER_TO_1)},
                                                  {EACH_NIBBLE(LOWER_TO_1)}};

struct back_tables {
    vec upper_to_0, lower_to_0, upper_to_1, lower_to_1;
};

EVC_INLINE struct back_tables back_tables(void)
{
    return (struct back_tables){
        evc_altivec_get_block(back[0]), evc_altivec_get_block(back[1]),
        evc_altivec_get_block(back[2]), evc_altivec_get_block(back[3])};
}

/* 32 bytes of which the last is zero, so nothing falls out again. */
EVC_INLINE vec reduce(const struct back_tables *b, vec low, vec high)
{
    const vec upper = high >> 4;

    return low ^ look_up(b->upper_to_0, b->lower_to_0, upper, high) ^
           moved_on(look_up(b->upper_to_1, b->lower_to_1, upper, high));
}

/* At -O3 compilers would keep rows of a table, or sums, on the stack. */
#if defined(__clang__)
#define TURN_BY_TURN _Pragma("clang loop unroll(disable)")
#else
#define TURN_BY_TURN _Pragma("GCC unroll 1")
#endif

/* ---- Tables ---------------------------------------------------------------------------------- */

EVC_PPC_OF_TWO(shift_bits_right, "vsr")

/* x times the element of one coefficient, that of x^1. */
EVC_INLINE vec times_x(vec x)
{
    const vec one = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const vec last = permute(x, (vec){15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
                                      15});
    const vec out = (vec)((evc_ppc_signed)(last << 7) >> 7); /* x^127 */

    return shift_bits_right(x, one) ^
           (out & EVC_PPC_BYTES(0xe1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

/* The places of byte 0 for the nibbles that have a bit, and those of zeros behind it for others. */
#define UNLESS(n, bit) (uint8_t)((n) & (bit) ? 0 : 16)
#define UNLESS_8(n) UNLESS(n, 8)
#define UNLESS_4(n) UNLESS(n, 4)
#define UNLESS_2(n) UNLESS(n, 2)
#define UNLESS_1(n) UNLESS(n, 1)

/* The rows for upper nibbles of the table of h: the multiple by n is the sum of those by the bits
 * of n, of which byte i is looked up for each n that has the bit. */
EVC_OUT_OF_LINE void half_table(uint8_t half[256], vec h)
{
    static const EVC_ALIGN(16) uint8_t unless[4][16] = {{EACH_NIBBLE(UNLESS_8)},
                                                        {EACH_NIBBLE(UNLESS_4)},
                                                        {EACH_NIBBLE(UNLESS_2)},
                                                        {EACH_NIBBLE(UNLESS_1)}};
    const vec one = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, zero = {0};
    vec by[4], from[4];

    EACH_UP_TO_4(4, by[i] = h; h = times_x(h); from[i] = evc_altivec_get_block(unless[i]));
    TURN_BY_TURN
    for (size_t at = 0; at < 256; at += 16) {
        vec row = evc_ppc_vperm(by[0], zero, from[0]);
        row ^= evc_ppc_vperm(by[1], zero, from[1]);
        row ^= evc_ppc_vperm(by[2], zero, from[2]);
        row ^= evc_ppc_vperm(by[3], zero, from[3]);
        put(half + at, row);
        EACH_UP_TO_4(4, from[i] += one);
    }
}

/* The whole table from half_table's. The product by a lower nibble is that by an upper one times
 * x^4. */
EVC_INLINE void expand(uint8_t t[512], const uint8_t half[256])
{
    const vec out = get(half + 240);
    vec before = permute(evc_altivec_get_block(back[0]), out);
    vec to_1 = permute(evc_altivec_get_block(back[2]), out);

    TURN_BY_TURN
    for (int i = 0; i < 16; i++) {
        const vec row = get(half + 16 * i);
        put(t + 32 * i, row);
        put(t + 32 * i + 16, row >> 4 ^ before);
        before = row << 4 ^ to_1;
        to_1 = (vec){0};
    }
}

/* ---- Few blocks ------------------------------------------------------------------------------ */

/* x times the element of the table t. By Horner's rule: what byte i of the products is, is added
 * to 31 bytes, and these are moved on by one. */
EVC_INLINE vec multiply(const struct back_tables *b, const uint8_t t[512], vec x)
{
    const vec upper = x >> 4;
    vec low = {0}, high = {0};

    TURN_BY_TURN
    for (int at = 480; at >= 0; at -= 32) {
        EVC_KEEP(t);
        EVC_PPC_SHIFT(high, low, high, 15);
        low = moved_on(low) ^ look_up(get(t + at), get(t + at + 16), upper, x);
    }
    return reduce(b, low, high);
}

/* The square of an element: coefficient k is that of x^(2k). Its last byte may fall out twice. */
EVC_INLINE vec square(const struct back_tables *b, vec x)
{
    const vec spread = EVC_PPC_BYTES(0x00, 0x02, 0x08, 0x0a, 0x20, 0x22, 0x28, 0x2a, 0x80, 0x82,
                                     0x88, 0x8a, 0xa0, 0xa2, 0xa8, 0xaa);
    const vec upper = permute(spread, x >> 4), lower = permute(spread, x);
    const vec low = evc_ppc_first_bytes_in_turn(upper, lower);
    vec high = evc_ppc_last_bytes_in_turn(upper, lower);
    const vec to_1 = look_up(b->upper_to_1, b->lower_to_1, high >> 4, high);
    vec again;

    EVC_PPC_SHIFT(again, to_1, (vec){0}, 15);
    return reduce(b, reduce(b, low, high), again);
}

/* ---- Many blocks ----------------------------------------------------------------------------- */

EVC_INLINE void put_sum(uint8_t *p, vec x, int add)
{
    put(p, add ? x ^ get(p) : x);
}

/* Two of the four rounds that transpose 16 x 16 bytes: each interleaves rows r and r + 8. */
EVC_INLINE void interleave_twice(uint8_t *to, vec a, vec b, vec c, vec d, int add)
{
    const vec ac_first = evc_ppc_first_bytes_in_turn(a, c);
    const vec ac_last = evc_ppc_last_bytes_in_turn(a, c);
    const vec bd_first = evc_ppc_first_bytes_in_turn(b, d);
    const vec bd_last = evc_ppc_last_bytes_in_turn(b, d);

    put_sum(to, evc_ppc_first_bytes_in_turn(ac_first, bd_first), add);
    put_sum(to + 16, evc_ppc_last_bytes_in_turn(ac_first, bd_first), add);
    put_sum(to + 32, evc_ppc_first_bytes_in_turn(ac_last, bd_last), add);
    put_sum(to + 48, evc_ppc_last_bytes_in_turn(ac_last, bd_last), add);
}

EVC_INLINE void transpose_back(uint8_t *to, const uint8_t *from, int add)
{
    TURN_BY_TURN
    for (int r = 0; r < 4; r++, from += 16, to += 64)
        interleave_twice(to, get(from), get(from + 64), get(from + 128), get(from + 192), add);
}

EVC_INLINE vec load_at(const uint8_t *p, vec places)
{
    return evc_altivec_joined(evc_altivec_around_first(p), evc_altivec_around_last(p), places);
}

/* x += the transpose of 16 blocks, to the first of which y is added. room: 256 bytes. */
EVC_OUT_OF_LINE void add_transposed(uint8_t x[256], vec y, const uint8_t *in, uint8_t *room)
{
    const vec places = evc_altivec_places(in);
    uint8_t *to = room;

    TURN_BY_TURN
    for (int r = 0; r < 4; r++, in += 16, to += 64, y = (vec){0})
        interleave_twice(to, load_at(in, places) ^ y, load_at(in + 64, places),
                         load_at(in + 128, places), load_at(in + 192, places), 0);
    transpose_back(x, room, 1);
}

/* w += eight vectors at x times the table: w[i + j] takes vector j by row i. w[15] and up is new,
 * and if all is new, the rest is, too. s[j]: the sum for w[i + j] so far. */
EVC_INLINE void multiply_eight(uint8_t *w, const uint8_t t[512], const uint8_t *x, int all_new)
{
    vec both[8], upper[8], s[8];

    EACH_UP_TO_8(8, both[i] = get(x + 16 * i); upper[i] = both[i] >> 4; s[i] = (vec){0});
    TURN_BY_TURN
    for (size_t at = 0; at < 256; at += 16) {
        const vec row_upper = get(t + 2 * at), row_lower = get(t + 2 * at + 16);

        EACH_UP_TO_8(8, s[i] ^= look_up(row_upper, row_lower, upper[i], both[i]));
        put(w + at, all_new || at == 240 ? s[0] : s[0] ^ get(w + at));
        EACH_UP_TO_8(7, s[i] = s[i + 1]);
        s[7] = (vec){0};
    }
    EACH_UP_TO_8(7, put(w + 256 + 16 * i, s[i]));
}

/* x = w reduced: w has byte k of the products at 16 k. */
EVC_OUT_OF_LINE void reduce_columns(uint8_t x[256], const uint8_t *w)
{
    const struct back_tables b = back_tables();
    vec before = {0};

    TURN_BY_TURN
    for (size_t at = 0; at < 256; at += 16) {
        const vec high = at < 240 ? get(w + 256 + at) : (vec){0}, upper = high >> 4;
        put(x + at,
            get(w + at) ^ before ^ look_up(b.upper_to_0, b.lower_to_0, upper, high));
        before = look_up(b.upper_to_1, b.lower_to_1, upper, high);
    }
}

/* x = x * H^16 + the next 16 blocks, n_groups times. t: the table of H^16. */
EVC_OUT_OF_LINE void multiply_groups(uint8_t x[256], const uint8_t t[512], const uint8_t *in,
                                     size_t n_groups)
{
    EVC_ALIGN(16) uint8_t w[31 * 16];

    for (; n_groups; n_groups--, in += 16 * COLUMNS) {
        multiply_eight(w, t, x, 1);
        multiply_eight(w + 128, t, x + 128, 0);
        reduce_columns(x, w);
        add_transposed(x, (vec){0}, in, w);
    }
}

/* GHASH of n elements at x, whose vectors are in order as loaded. */
EVC_OUT_OF_LINE vec hash_elements(const uint8_t t[512], const uint8_t *x, unsigned n)
{
    const struct back_tables b = back_tables();
    vec y = {0};

    for (; n; n--, x += 16)
        y = multiply(&b, t, y ^ get(x));
    return y;
}

EVC_OUT_OF_LINE vec hash_groups(const struct key *key, vec y, const uint8_t *in, size_t n_groups)
{
    EVC_ALIGN(16) uint8_t t[512], x[256];

    memset(x, 0, sizeof x);
    add_transposed(x, y, in, t);
    expand(t, key->h16);
    multiply_groups(x, t, in + 16 * COLUMNS, n_groups - 1);
    transpose_back(t, x, 0);
    transpose_back(x, t, 0);
    return hash_elements(key->h, x, COLUMNS);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static void set_key(void *vkey, const uint8_t h[16])
{
    const struct back_tables b = back_tables();
    struct key *key = vkey;
    vec power = evc_altivec_load(h);

    half_table(key->h16, power);
    expand(key->h, key->h16);
    for (int i = 0; i < 4; i++)
        power = square(&b, power);
    half_table(key->h16, power);
}

static void blocks(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct back_tables b = back_tables();
    const struct key *key = vkey;
    vec sum = evc_altivec_load(y);
    size_t few = n_blocks < 2 * COLUMNS ? n_blocks : n_blocks % COLUMNS;

    n_blocks -= few;
    for (; few; few--, in += 16)
        sum = multiply(&b, key->h, sum ^ evc_altivec_load(in));
    if (n_blocks) {
        sum = hash_groups(key, sum, in, n_blocks / COLUMNS);
        evc_altivec_store(y, sum);
        clear_groups();
        return;
    }
    evc_altivec_store(y, sum);
}

EVC_ISA_END

const struct evc_ghash evc_ghash_ppc_vperm = {
    .kernel = EVC_KERNEL_HEAD(ppc_vperm, PPC_ALTIVEC, CT, ANY, COLUMNS, struct key, 0, ALTIVEC,
                              STACK_BYTES),
    .set_key = set_key,
    .blocks = blocks,
};
#else
EVC_EMPTY_UNIT
#endif

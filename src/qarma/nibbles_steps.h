/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 with a byte for each cell, a block in 16 bytes of a vector: look-ups in registers
 * and permutations of bytes.
 *
 * A block is wide: byte j is nibble j of the number, counted from its low end. An inner step is
 * one look-up for rho S and one for rho^2 S, three permutations that gather what a cell gets from
 * its column, and the sums:
 *
 *     x = M tau (S(x) + k_i + t_i)         r steps; the last with w1 and t_r
 *     x = tau^-1 M tau S(x) + tau^-1 k1    the reflector
 *     x = tau^-1 M S^-1(x) + k_i + t_i     r steps back; the first with w0 and t_r
 *
 * The shuffles of M and of tau are one. All that depends on key and tweak alone is computed beside
 * the chain. Decryption is the same under another key (Avanzi: The QARMA Block Cipher Family, ToSC
 * 2017, issue 1, section 2): the sums of the one way serve the other.
 *
 * Include it inside the ISA region, after
 *   vec                one or more lanes of 16 bytes
 *   v_load             16 bytes, aligned, to every lane
 *   v_store            the lowest lane, aligned
 *   v_zero
 *   v_xor, v_xor3      the sums of two and of three
 *   v_known(x)         x, as a value that the compiler cannot take apart
 *   v_look(table, i)   in each lane, bytes of table by the low 4 bits of those of i; 0
 *                      where the highest bit is set
 *   v_number           a number, in the lower half of every lane
 *   v_value            the number in the lower half of the lowest lane
 *   v_wide(v)          the number in the lower half of each lane, wide
 *   v_wide_xor(v, w)   the sum of that and w
 *   v_clear_upper_halves()   before each return of a slot; nothing where the
 *                            registers have no upper halves
 */
#ifndef EVC_QARMA_NIBBLES_STEPS_H
#define EVC_QARMA_NIBBLES_STEPS_H

#include "common/bytes.h"
#include "qarma/schedule.h"

#define ROWS EVC_QARMA_MAX_ROUNDS

/* GCC keeps loops of five turns as they are, and what they make in memory. */
#if defined(__GNUC__) && !defined(__clang__)
#define UNROLLED _Pragma("GCC unroll 8")
#else
#define UNROLLED
#endif

struct key {
    struct evc_qarma_head head;
    EVC_ALIGN(16) uint8_t there[ROWS][16], back[ROWS][16]; /* [i]: k0 + c_i, and that + alpha;
                                                            * wide; 0 < i < r */
    uint8_t w0[16], w1[16];                                /* wide */
    uint8_t centre[2][16];                                 /* wide: to encrypt, to decrypt */
    uint8_t first[2][16];                                  /* wide: what is added to the block */
    uint8_t last[2][16];                                   /* a number: what is
                                                            * added to the result */
};

/* ---- Constants ------------------------------------------------------------------------------- */

#define NONE 0x80 /* no byte: 0 */
typedef uint8_t table[16]; /* the first of each group is aligned, and so are all */

/* By sigma: rho S and rho^2 S; then of what undoes S itself, rho and rho^2, and
 * itself in the upper nibble. */
static const struct boxes {
    EVC_ALIGN(16) table s1, s2, inverse0, inverse1, inverse2, inverse4;
} boxes[3] = {
    {{0, 13, 4, 5, 3, 15, 1, 7, 12, 8, 6, 14, 11, 9, 2, 10},
     {0, 11, 8, 10, 6, 15, 2, 14, 9, 1, 12, 13, 7, 3, 4, 5},
     {0, 14, 2, 10, 9, 15, 8, 11, 6, 4, 3, 7, 13, 12, 1, 5},
     {0, 13, 4, 5, 3, 15, 1, 7, 12, 8, 6, 14, 11, 9, 2, 10},
     {0, 11, 8, 10, 6, 15, 2, 14, 9, 1, 12, 13, 7, 3, 4, 5},
     {0, 224, 32, 160, 144, 240, 128, 176, 96, 64, 48, 112, 208, 192, 16, 80}},
    {{5, 11, 13, 12, 15, 14, 6, 10, 3, 1, 0, 9, 7, 2, 4, 8},
     {10, 7, 11, 9, 15, 13, 12, 5, 6, 2, 0, 3, 14, 4, 8, 1},
     {10, 13, 14, 6, 15, 7, 3, 5, 9, 8, 0, 12, 11, 1, 2, 4},
     {5, 11, 13, 12, 15, 14, 6, 10, 3, 1, 0, 9, 7, 2, 4, 8},
     {10, 7, 11, 9, 15, 13, 12, 5, 6, 2, 0, 3, 14, 4, 8, 1},
     {160, 208, 224, 96, 240, 112, 48, 80, 144, 128, 0, 192, 176, 16, 32, 64}},
    {{7, 12, 1, 15, 9, 0, 3, 13, 6, 14, 8, 10, 11, 4, 2, 5},
     {14, 9, 2, 15, 3, 0, 6, 11, 12, 13, 1, 5, 7, 8, 4, 10},
     {5, 14, 13, 8, 10, 11, 1, 9, 2, 6, 15, 0, 4, 12, 7, 3},
     {10, 13, 11, 1, 5, 7, 2, 3, 4, 12, 15, 0, 8, 9, 14, 6},
     {5, 11, 7, 2, 10, 14, 4, 6, 8, 9, 15, 0, 1, 3, 13, 12},
     {80, 224, 208, 128, 160, 176, 16, 144, 32, 96, 240, 0, 64, 192, 112, 48}},
};

/* Origins of a cell's bytes: rho at one and at three rows' distance, rho^2 at two. */
static const struct gather {
    EVC_ALIGN(16) table one, two, three;
} m_tau = {{7, 12, 1, 10, 8, 3, 14, 5, 2, 9, 4, 15, 13, 6, 11, 0},
           {8, 3, 14, 5, 2, 9, 4, 15, 13, 6, 11, 0, 7, 12, 1, 10},
           {2, 9, 4, 15, 13, 6, 11, 0, 7, 12, 1, 10, 8, 3, 14, 5}},
  untau_m = {{7, 10, 0, 13, 2, 15, 5, 8, 12, 1, 11, 6, 9, 4, 14, 3},
             {11, 14, 4, 1, 6, 3, 9, 12, 0, 5, 15, 10, 13, 8, 2, 7},
             {15, 2, 8, 5, 10, 7, 13, 0, 4, 9, 3, 14, 1, 12, 6, 11}},
  untau_m_tau = {{10, 14, 13, 9, 11, 15, 12, 8, 2, 6, 5, 1, 3, 7, 4, 0},
                 {5, 4, 7, 6, 1, 0, 3, 2, 13, 12, 15, 14, 9, 8, 11, 10},
                 {15, 11, 8, 12, 14, 10, 9, 13, 7, 3, 0, 4, 6, 2, 1, 5}};

/* Bytes 0, 2, 4 ... and 1, 3, 5 ... */
static const EVC_ALIGN(16) table even = {0,    2,    4,    6,    8,    10,   12,   14,
                                         NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
                                 odd = {1,    3,    5,    7,    9,    11,   13,   15,
                                        NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE};

static const EVC_ALIGN(16) table rho1 = {0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15},
                   rho2 = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15},
                   untau = {3, 6, 12, 9, 14, 11, 1, 4, 8, 13, 7, 2, 5, 0, 10, 15};

/* h; of the cells that omega steps, and of the others; and omega. */
static const EVC_ALIGN(16) table h_stepped = {NONE, NONE, 6,    NONE, 11, NONE, NONE, 8,
                                              NONE, NONE, NONE, 15,   0,  NONE, 10,   9},
                                 h_others = {4,  5,  NONE, 7,    NONE, 2, 3,    NONE,
                                             12, 13, 14,   NONE, NONE, 1, NONE, NONE},
                                 omega = {0, 8, 9, 1, 2, 10, 11, 3, 4, 12, 13, 5, 6, 14, 15, 7};

static const uint64_t c[ROWS] = QARMA_C;

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Applies M, with the shuffles of g, to cells whose rho is a and whose rho^2 is b, and adds add.
 * The last of the three shuffles waits for a port: all else is summed by then. */
EVC_INLINE vec gathered(const struct gather *g, vec a, vec b, vec add)
{
    return v_xor(v_xor3(v_look(a, v_load(g->one)), v_look(a, v_load(g->three)), add),
                 v_look(b, v_load(g->two)));
}

EVC_INLINE vec next_tweak(vec t)
{
    return v_xor(v_look(v_load(omega), v_look(t, v_load(h_stepped))), v_look(t, v_load(h_others)));
}

EVC_INLINE vec there_step(const struct boxes *box, vec x, vec add)
{
    const vec a = v_xor(v_look(v_load(box->s1), x), v_look(v_load(rho1), add));
    const vec b = v_xor(v_look(v_load(box->s2), x), v_look(v_load(rho2), add));

    return v_xor3(v_look(a, v_load(m_tau.one)), v_look(a, v_load(m_tau.three)),
                  v_look(b, v_load(m_tau.two)));
}

/* GCC would add the terms of a sum that is known early one by one, and late. */
EVC_INLINE vec back_step(const struct boxes *box, vec x, vec add)
{
    return gathered(&untau_m, v_look(v_load(box->inverse1), x), v_look(v_load(box->inverse2), x),
                    v_known(add));
}

/* ---- Keys and blocks ------------------------------------------------------------------------- */

static void set_key(void *vkey, uint64_t w0, uint64_t k0)
{
    struct key *key = vkey;
    const uint64_t w1 = evc_qarma_w1(w0);
    const vec k = v_wide(v_number(k0)), alpha = v_wide(v_number(QARMA_ALPHA));
    const vec first = v_wide(v_number(w0)), last = v_wide(v_number(w1));

    for (int i = 1; i < key->head.rounds; i++) {
        const vec sum = v_xor(k, v_wide(v_number(c[i])));
        v_store(key->there[i], sum);
        v_store(key->back[i], v_xor(sum, alpha));
    }
    v_store(key->w0, first);
    v_store(key->w1, last);
    v_store(key->centre[0], v_look(k, v_load(untau)));
    v_store(key->centre[1],
            gathered(&untau_m, v_look(v_load(rho1), k), v_look(v_load(rho2), k), v_zero));
    v_store(key->first[0], v_xor(first, k));
    v_store(key->first[1], v_xor3(last, alpha, k));
    v_store(key->last[0], v_number(w1 ^ k0 ^ QARMA_ALPHA));
    v_store(key->last[1], v_number(w0 ^ k0));
    v_clear_upper_halves();
}

/* Runs the rounds on blocks x, to which first was added, with tweaks, t[0] at first and t[rounds]
 * at last, all wide; S is still to be undone, and last to be added. */
EVC_INLINE vec run(const struct key *key, vec x, vec t[ROWS + 1], int rounds, int decrypts)
{
    const struct boxes *box = &boxes[key->head.sigma];
    const uint8_t (*there)[16] = decrypts ? key->back : key->there,
                  (*back)[16] = decrypts ? key->there : key->back;
    const vec middle = v_load(decrypts ? key->w0 : key->w1),
              middle_back = v_load(decrypts ? key->w1 : key->w0);

    UNROLLED for (int i = 0; i < rounds; i++)
        t[i + 1] = next_tweak(t[i]);
    UNROLLED for (int i = 1; i < rounds; i++)
        x = there_step(box, x, v_xor(v_load(there[i]), t[i]));
    x = there_step(box, x, v_xor(middle, t[rounds]));
    x = gathered(&untau_m_tau, v_look(v_load(box->s1), x), v_look(v_load(box->s2), x),
                 v_load(key->centre[decrypts]));
    x = back_step(box, x, v_xor(middle_back, t[rounds]));
    UNROLLED for (int i = rounds - 1; i > 0; i--)
        x = back_step(box, x, v_xor(v_load(back[i]), t[i]));
    return x;
}

/* Numbers of rounds that Arm does not have: the tweaks are in memory, which is wiped. */
EVC_OUT_OF_LINE void run_others(const struct key *key, vec *x, const vec *tweak, int decrypts)
{
    vec t[ROWS + 1];

    t[0] = *tweak;
    *x = run(key, *x, t, key->head.rounds, decrypts);
}

/* Those that it has are loops of known lengths, with the tweaks in registers. */
EVC_INLINE vec run_any(const struct key *key, vec x, vec tweak, int decrypts)
{
    vec t[ROWS + 1];

    t[0] = tweak;
    switch (key->head.rounds) {
    case 5: return run(key, x, t, 5, decrypts);
    case 3: return run(key, x, t, 3, decrypts);
    default: run_others(key, &x, &tweak, decrypts); return x;
    }
}

/* The number that wide cells are when S is undone, in the lower half of a lane;
 * and the sum with add. */
EVC_INLINE vec finished(const struct boxes *box, vec x, vec add)
{
    return v_xor3(v_look(v_look(v_load(box->inverse0), x), v_load(even)),
                  v_look(v_look(v_load(box->inverse4), x), v_load(odd)), add);
}

EVC_INLINE uint64_t one(const struct key *key, uint64_t block, uint64_t number, int decrypts)
{
    const vec tweak = v_number(number), t = v_wide(tweak);
    const vec x = v_wide_xor(v_number(block), v_xor(t, v_load(key->first[decrypts])));
    const vec y = run_any(key, x, t, decrypts);

    return v_value(finished(&boxes[key->head.sigma], y, v_xor(tweak, v_load(key->last[decrypts]))));
}

static uint64_t encrypt(const void *vkey, uint64_t block, uint64_t tweak)
{
    const uint64_t number = one(vkey, block, tweak, 0);

    v_clear_upper_halves();
    return number;
}

static uint64_t decrypt(const void *vkey, uint64_t block, uint64_t tweak)
{
    const uint64_t number = one(vkey, block, tweak, 1);

    v_clear_upper_halves();
    return number;
}

#endif

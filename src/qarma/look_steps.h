/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 by instructions that look up 16 cells at once in a table of 16, in as few instructions
 * as possible: S-box, rho and every permutation of cells are such a look-up.
 *
 * Going forward, M leaves one rho to the next S-box: where the paper has cells x, y has what rho
 * makes x. So a step has one look-up for S rho, and one for rho:
 *
 *     s = S rho(y) + k_i + t_i
 *     y = what M tau(s) is, but for rho, which all its terms have
 *
 * Back, a step has one look-up for rho S^-1 and one for rho^2 S^-1, as in nibbles_steps.h. Sums of
 * round keys and tweaks serve both directions.
 *
 * Include it inside the ISA region, after
 *   vec                 16 cells; ^ works on it
 *   v_look(table, i)    for each cell of i the entry of table with that number
 *   v_cells(number)     the cells of a number
 *   v_number(v)         the number that cells v are
 *   v_omega(OMEGA, STEPPED, v)   v after omega, on the cells that it steps
 *   TABLE(e0, ... e15)  constant: entries for the cells 0 to 15
 *   PLACES(p0, ...)     constant: for each cell, from the least significant one up, the place from
 *                       which v_look takes it, counted in the same way
 *   CELLS(c0, ...)      constant: cells in that order
 *   OMEGA, STEPPED      constants for v_omega
 * and, if the CPU looks up two cells at once and adds them:
 *   struct gather       with a member `two`
 *   GATHER(one, two, three)   constant, of the places as PLACES has them, in parentheses
 *   v_look_twice(v, g)  the sum of the cells of v at one and at three rows' distance
 */
#ifndef EVC_QARMA_LOOK_STEPS_H
#define EVC_QARMA_LOOK_STEPS_H

#include "common/bytes.h"
#include "qarma/schedule.h"

/* GCC keeps loops of five turns as they are, and what they make in memory. */
#if defined(__GNUC__) && !defined(__clang__)
#define UNROLLED _Pragma("GCC unroll 8")
#define ROLLED _Pragma("GCC unroll 1") /* each turn would have a place on the stack */
#else
#define UNROLLED
#define ROLLED
#endif

/* ---- Constants ------------------------------------------------------------------------------- */

/* Tables of one S-box S. */
struct boxes {
    vec first;      /* S */
    vec next;       /* S rho */
    vec centre[2];  /* rho S rho, rho^2 S rho */
    vec inverse[3]; /* S^-1, rho S^-1, rho^2 S^-1 */
};

static const struct boxes boxes_of[3] = {
    {TABLE(0, 14, 2, 10, 9, 15, 8, 11, 6, 4, 3, 7, 13, 12, 1, 5),
     TABLE(0, 2, 9, 8, 6, 3, 13, 1, 14, 10, 15, 11, 4, 7, 12, 5),
     {TABLE(0, 4, 3, 1, 12, 6, 11, 2, 13, 5, 15, 7, 8, 14, 9, 10),
      TABLE(0, 8, 6, 2, 9, 12, 7, 4, 11, 10, 15, 14, 1, 13, 3, 5)},
     {TABLE(0, 14, 2, 10, 9, 15, 8, 11, 6, 4, 3, 7, 13, 12, 1, 5),
      TABLE(0, 13, 4, 5, 3, 15, 1, 7, 12, 8, 6, 14, 11, 9, 2, 10),
      TABLE(0, 11, 8, 10, 6, 15, 2, 14, 9, 1, 12, 13, 7, 3, 4, 5)}},
    {TABLE(10, 13, 14, 6, 15, 7, 3, 5, 9, 8, 0, 12, 11, 1, 2, 4),
     TABLE(10, 14, 15, 3, 9, 0, 11, 2, 13, 6, 7, 5, 8, 12, 1, 4),
     {TABLE(5, 13, 15, 6, 3, 0, 7, 4, 11, 12, 14, 10, 1, 9, 2, 8),
      TABLE(10, 11, 15, 12, 6, 0, 14, 8, 7, 9, 13, 5, 2, 3, 4, 1)},
     {TABLE(10, 13, 14, 6, 15, 7, 3, 5, 9, 8, 0, 12, 11, 1, 2, 4),
      TABLE(5, 11, 13, 12, 15, 14, 6, 10, 3, 1, 0, 9, 7, 2, 4, 8),
      TABLE(10, 7, 11, 9, 15, 13, 12, 5, 6, 2, 0, 3, 14, 4, 8, 1)}},
    {TABLE(11, 6, 8, 15, 12, 0, 9, 14, 3, 7, 4, 5, 13, 2, 1, 10),
     TABLE(11, 8, 12, 9, 3, 4, 13, 1, 6, 15, 0, 14, 7, 5, 2, 10),
     {TABLE(7, 1, 9, 3, 6, 8, 11, 2, 12, 15, 0, 13, 14, 10, 4, 5),
      TABLE(14, 2, 3, 6, 12, 1, 7, 4, 9, 15, 0, 11, 13, 5, 8, 10)},
     {TABLE(5, 14, 13, 8, 10, 11, 1, 9, 2, 6, 15, 0, 4, 12, 7, 3),
      TABLE(10, 13, 11, 1, 5, 7, 2, 3, 4, 12, 15, 0, 8, 9, 14, 6),
      TABLE(5, 11, 7, 2, 10, 14, 4, 6, 8, 9, 15, 0, 1, 3, 13, 12)}},
};

/* Places of the cells of a column, at one, two and three rows' distance. */
#ifndef GATHER
struct gather {
    vec one, two, three;
};
#define GATHER(one, two, three) \
    {                           \
        PLACES one, PLACES two, PLACES three \
    }
#define v_look_twice(v, g) (v_look(v, (g)->one) ^ v_look(v, (g)->three))
#endif

struct constants {
    struct gather m_tau, untau_m, untau_m_tau;
    vec rho;               /* table */
    vec h, stepped, omega; /* places; what v_omega needs */
    vec alpha;             /* cells */
    vec untau;             /* places */
};

static const struct constants the_constants = {
    GATHER((7, 12, 1, 10, 8, 3, 14, 5, 2, 9, 4, 15, 13, 6, 11, 0),
           (8, 3, 14, 5, 2, 9, 4, 15, 13, 6, 11, 0, 7, 12, 1, 10),
           (2, 9, 4, 15, 13, 6, 11, 0, 7, 12, 1, 10, 8, 3, 14, 5)),
    GATHER((7, 10, 0, 13, 2, 15, 5, 8, 12, 1, 11, 6, 9, 4, 14, 3),
           (11, 14, 4, 1, 6, 3, 9, 12, 0, 5, 15, 10, 13, 8, 2, 7),
           (15, 2, 8, 5, 10, 7, 13, 0, 4, 9, 3, 14, 1, 12, 6, 11)),
    GATHER((10, 14, 13, 9, 11, 15, 12, 8, 2, 6, 5, 1, 3, 7, 4, 0),
           (5, 4, 7, 6, 1, 0, 3, 2, 13, 12, 15, 14, 9, 8, 11, 10),
           (15, 11, 8, 12, 14, 10, 9, 13, 7, 3, 0, 4, 6, 2, 1, 5)),
    TABLE(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15),
    PLACES(4, 5, 6, 7, 11, 2, 3, 8, 12, 13, 14, 15, 0, 1, 10, 9),
    STEPPED,
    OMEGA,
    CELLS(13, 13, 0, 5, 12, 7, 9, 12, 7, 11, 9, 2, 12, 10, 0, 12),
    PLACES(3, 6, 12, 9, 14, 11, 1, 4, 8, 13, 7, 2, 5, 0, 10, 15),
};

/* Loads of them are shorter than the instructions by which compilers would make them or their
 * addresses. */
EVC_INLINE const struct constants *constants(void)
{
    const struct constants *p = &the_constants;

    EVC_KEEP(p);
    return p;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Words of one direction. */
struct way {
    uint64_t first, last;    /* added to the block, and to the result */
    vec middle, middle_back; /* added with the last tweak */
    vec centre;
    vec round[EVC_QARMA_MAX_ROUNDS - 1]; /* of rounds 1 and up, going forward */
};

struct key {
    struct evc_qarma_head head;
    struct boxes boxes;
    struct way ways[2]; /* to encrypt, to decrypt */
};

static const uint64_t c[EVC_QARMA_MAX_ROUNDS] = QARMA_C;

static void set_way(struct way *way, const struct evc_qarma_words *w)
{
    way->first = w->w0 ^ w->k0;
    way->last = w->w1 ^ w->k0 ^ QARMA_ALPHA;
    way->middle = v_cells(w->w1);
    way->middle_back = v_cells(w->w0);
    way->centre = v_look(v_cells(w->k1), constants()->untau);
    ROLLED for (int i = 1; i < EVC_QARMA_MAX_ROUNDS; i++)
        way->round[i - 1] = v_cells(w->k0 ^ c[i]);
}

static void set_key(void *vkey, uint64_t w0, uint64_t k0)
{
    struct key *key = vkey;
    const struct evc_qarma_words directions[2] = {evc_qarma_forward(w0, k0),
                                                  evc_qarma_backward(w0, k0)};

    key->boxes = boxes_of[key->head.sigma];
    ROLLED for (int i = 0; i < 2; i++)
        set_way(&key->ways[i], &directions[i]);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* M and the shuffles of g, of cells whose rho is a and whose rho^2 is b, plus add. */
EVC_INLINE vec gathered(const struct gather *g, vec a, vec b, vec add)
{
    return v_look_twice(a, g) ^ (v_look(b, g->two) ^ add);
}

EVC_INLINE vec next_tweak(const struct constants *k, vec t)
{
    return v_omega(k->omega, k->stepped, v_look(t, k->h));
}

/* M tau of cells s, but for one rho, which the next table has. */
EVC_INLINE vec there_step(const struct constants *k, vec s)
{
    const struct gather *g = &k->m_tau;

    return v_look_twice(s, g) ^ v_look(v_look(k->rho, s), g->two);
}

EVC_INLINE vec back_step(const struct constants *k, const struct boxes *box, vec x, vec add)
{
    return gathered(&k->untau_m, v_look(box->inverse[1], x), v_look(box->inverse[2], x), add);
}

/* n_sums: rounds - 1. sums: room for as many, of round keys and tweaks. */
EVC_INLINE uint64_t run(const struct boxes *box, const struct way *way, uint64_t block,
                        uint64_t tweak, vec *sums, int n_sums)
{
    const struct constants *k = constants();
    vec t = v_cells(tweak), x = v_cells(block ^ (tweak ^ way->first)), table = box->first;

    UNROLLED for (int i = 0; i < n_sums; i++)
    {
        t = next_tweak(k, t);
        sums[i] = t ^ way->round[i];
        x = there_step(k, v_look(table, x) ^ sums[i]);
        table = box->next;
    }
    t = next_tweak(k, t);
    x = there_step(k, v_look(table, x) ^ (t ^ way->middle));
    x = gathered(&k->untau_m_tau, v_look(box->centre[0], x), v_look(box->centre[1], x),
                 way->centre);
    x = back_step(k, box, x, t ^ way->middle_back);
    UNROLLED for (int i = n_sums - 1; i >= 0; i--)
        x = back_step(k, box, x, sums[i] ^ k->alpha);
    return v_number(v_look(box->inverse[0], x)) ^ (tweak ^ way->last);
}

/* Numbers of rounds that Arm does not have: the sums are in memory. */
EVC_OUT_OF_LINE uint64_t run_others(const struct key *key, const struct way *way, uint64_t block,
                                    uint64_t tweak)
{
    vec sums[EVC_QARMA_MAX_ROUNDS - 1];

    return run(&key->boxes, way, block, tweak, sums, key->head.rounds - 1);
}

/* Those that it has are loops of known lengths, with the sums in registers. */
EVC_INLINE uint64_t run_any(const struct key *key, int decrypts, uint64_t block, uint64_t tweak)
{
    const struct way *way = &key->ways[decrypts];
    vec sums[4];

    switch (key->head.rounds) {
    case 5: return run(&key->boxes, way, block, tweak, sums, 4);
    case 3: return run(&key->boxes, way, block, tweak, sums, 2);
    default: return run_others(key, way, block, tweak);
    }
}

static uint64_t encrypt(const void *vkey, uint64_t block, uint64_t tweak)
{
    return run_any(vkey, 0, block, tweak);
}

static uint64_t decrypt(const void *vkey, uint64_t block, uint64_t tweak)
{
    return run_any(vkey, 1, block, tweak);
}

/* n_sums is known: what a block does not change may stay in registers for the next. */
EVC_INLINE void many(const struct key *key, const uint64_t *in, const uint64_t *tweak,
                     uint64_t *out, size_t n, int n_sums)
{
    vec sums[4];

    for (size_t i = 0; i < n; i++)
        out[i] = run(&key->boxes, &key->ways[0], in[i], tweak[i], sums, n_sums);
}

/* Not inlined, so that their frames do not add up. */
EVC_OUT_OF_LINE void many_5(const struct key *key, const uint64_t *in, const uint64_t *tweak,
                            uint64_t *out, size_t n)
{
    many(key, in, tweak, out, n, 4);
}

EVC_OUT_OF_LINE void many_3(const struct key *key, const uint64_t *in, const uint64_t *tweak,
                            uint64_t *out, size_t n)
{
    many(key, in, tweak, out, n, 2);
}

static void encrypt_many(const void *vkey, const uint64_t *in, const uint64_t *tweak, uint64_t *out,
                         size_t n)
{
    const struct key *key = vkey;

    switch (key->head.rounds) {
    case 5: many_5(key, in, tweak, out, n); break;
    case 3: many_3(key, in, tweak, out, n); break;
    default:
        for (size_t i = 0; i < n; i++)
            out[i] = run_others(key, &key->ways[0], in[i], tweak[i]);
    }
}

#endif

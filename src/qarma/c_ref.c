/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 as the paper writes it, cell by cell: the oracle for every other kernel.
 *
 * Method:   an array of 16 cells; every step of the paper is a function. Decryption undoes the
 *           steps one by one; no key is changed for it.
 * Source:   Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2.
 * Needs:    ANY.   Timing: VARTIME (shifts by secrets, on which machines of 32 bits branch).
 * Key form: private.
 */
#include "qarma/kernel.h"

#include "common/bytes.h"
#include "qarma/spec.h"

struct key {
    struct evc_qarma_head head;
    uint64_t w0, w1, k0, k1;
};

static void set_key(void *vkey, uint64_t w0, uint64_t k0)
{
    struct key *key = vkey;

    key->w0 = w0;
    key->w1 = evc_qarma_w1(w0);
    key->k0 = k0;
    key->k1 = k0;
}

/* ---- Steps on 16 cells, out of line: copies of them in all their places
 * need a kilobyte of stack */

struct state {
    uint8_t cell[QARMA_CELLS];
};

static const uint8_t tau[QARMA_CELLS] = QARMA_TAU, h[QARMA_CELLS] = QARMA_H,
                     omega[QARMA_CELLS] = QARMA_OMEGA;
static const uint64_t c[EVC_QARMA_MAX_ROUNDS] = QARMA_C;
static const uint64_t sigma[3][2] = {{QARMA_SIGMA0, QARMA_SIGMA0},
                                     {QARMA_SIGMA1, QARMA_SIGMA1},
                                     {QARMA_SIGMA2, QARMA_SIGMA2_INVERSE}};

static uint8_t cell_of(uint64_t block, int i)
{
    return (uint8_t)(block >> (60 - 4 * i) & 15);
}

static struct state split(uint64_t block)
{
    struct state s;

    for (int i = 0; i < QARMA_CELLS; i++)
        s.cell[i] = cell_of(block, i);
    return s;
}

static uint64_t join(const struct state *s)
{
    uint64_t block = 0;

    for (int i = 0; i < QARMA_CELLS; i++)
        block = block << 4 | s->cell[i];
    return block;
}

EVC_OUT_OF_LINE void add(struct state *s, uint64_t block)
{
    for (int i = 0; i < QARMA_CELLS; i++)
        s->cell[i] ^= cell_of(block, i);
}

EVC_OUT_OF_LINE void substitute(struct state *s, uint64_t box)
{
    for (int i = 0; i < QARMA_CELLS; i++)
        s->cell[i] = (uint8_t)(box >> 4 * s->cell[i] & 15);
}

EVC_OUT_OF_LINE void shuffle(struct state *s)
{
    struct state from = *s;

    for (int i = 0; i < QARMA_CELLS; i++)
        s->cell[i] = from.cell[tau[i]];
}

EVC_OUT_OF_LINE void unshuffle(struct state *s)
{
    struct state from = *s;

    for (int i = 0; i < QARMA_CELLS; i++)
        s->cell[tau[i]] = from.cell[i];
}

static uint8_t rotate(uint8_t cell, int n)
{
    return (uint8_t)((cell << n | cell >> (4 - n)) & 15);
}

/* M = circ(0, rho, rho^2, rho) on each column, which cells 4 apart are; M undoes itself. */
EVC_OUT_OF_LINE void mix(struct state *s)
{
    struct state from = *s;

    for (int i = 0; i < QARMA_CELLS; i++)
        s->cell[i] =
            (uint8_t)(rotate(from.cell[(i + 4) % 16], 1) ^ rotate(from.cell[(i + 8) % 16], 2) ^
                      rotate(from.cell[(i + 12) % 16], 1));
}

static uint64_t next_tweak(uint64_t tweak)
{
    const struct state from = split(tweak);
    struct state to;

    for (int i = 0; i < QARMA_CELLS; i++) {
        const uint8_t b = from.cell[h[i]]; /* bits b3 b2 b1 b0 become b0 + b1, b3, b2, b1 */
        to.cell[i] = (uint8_t)(omega[i] ? b >> 1 | ((b ^ b >> 1) & 1) << 3 : b);
    }
    return join(&to);
}

/* ---- The cipher ------------------------------------------------------------------------------ */

static void tweaks(uint64_t t[EVC_QARMA_MAX_ROUNDS + 1], uint64_t tweak, int rounds)
{
    t[0] = tweak;
    for (int i = 0; i < rounds; i++)
        t[i + 1] = next_tweak(t[i]);
}

/* Words that are added in one direction: to the input and in the middle, and with the
 * constants of the rounds. */
struct way {
    uint64_t ends, middle, alpha;
};

/* Rounds forward, the reflector, rounds back. Decryption goes the same way
 * with its ends exchanged. */
static uint64_t run(const struct key *key, uint64_t block, uint64_t tweak, const struct way *there,
                    const struct way *back, int decrypts)
{
    const uint64_t *box = sigma[key->head.sigma];
    const int r = key->head.rounds;
    uint64_t t[EVC_QARMA_MAX_ROUNDS + 1];
    struct state s = split(block);

    tweaks(t, tweak, r);
    add(&s, there->ends);
    for (int i = 0; i < r; i++) {
        add(&s, key->k0 ^ t[i] ^ c[i] ^ there->alpha);
        if (i) { /* the first round is a short one */
            shuffle(&s);
            mix(&s);
        }
        substitute(&s, box[0]);
    }
    add(&s, there->middle ^ t[r]);
    shuffle(&s);
    mix(&s);
    substitute(&s, box[0]);

    shuffle(&s);
    if (decrypts)
        add(&s, key->k1);
    mix(&s);
    if (!decrypts)
        add(&s, key->k1);
    unshuffle(&s);

    substitute(&s, box[1]);
    mix(&s);
    unshuffle(&s);
    add(&s, back->middle ^ t[r]);
    for (int i = r - 1; i >= 0; i--) {
        substitute(&s, box[1]);
        if (i) {
            mix(&s);
            unshuffle(&s);
        }
        add(&s, key->k0 ^ t[i] ^ c[i] ^ back->alpha);
    }
    add(&s, back->ends);
    block = join(&s);
    return block;
}

static uint64_t encrypt(const void *vkey, uint64_t block, uint64_t tweak)
{
    const struct key *key = vkey;
    struct way ways[2] = {{key->w0, key->w1, 0}, {key->w1, key->w0, QARMA_ALPHA}};

    block = run(key, block, tweak, &ways[0], &ways[1], 0);
    return block;
}

static uint64_t decrypt(const void *vkey, uint64_t block, uint64_t tweak)
{
    const struct key *key = vkey;
    struct way ways[2] = {{key->w1, key->w0, QARMA_ALPHA}, {key->w0, key->w1, 0}};

    block = run(key, block, tweak, &ways[0], &ways[1], 1);
    return block;
}

const struct evc_qarma evc_qarma_c_ref = {
    .kernel = EVC_KERNEL_HEAD(c_ref, ANY, VARTIME, ANY, 1, struct key, 0, BASELINE, 704),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
};

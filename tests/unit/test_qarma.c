/* SPDX-License-Identifier: MIT */
/*
 * The layers of QARMA-64 in qarma/schedule.h and in c_swar64, each as a whole, against the paper's
 * tables (Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2; qarma/spec.h). A
 * linear layer is what it is on the 64 unit vectors; that it is linear is tried on all sums of two.
 * An S-box is what it is on 16 values.
 */
#define evc_qarma_c_swar64 c_swar64_of_this_test /* another one is in the library */
#include "qarma/c_swar64.c"

#include "tap.h"

static const unsigned tau[QARMA_CELLS] = QARMA_TAU, h[QARMA_CELLS] = QARMA_H,
                      omega[QARMA_CELLS] = QARMA_OMEGA;
static const uint64_t sigma[4] = {QARMA_SIGMA0, QARMA_SIGMA1, QARMA_SIGMA2, QARMA_SIGMA2_INVERSE};

/* ---- The paper, cell by cell ----------------------------------------------------------------- */

static unsigned cell(uint64_t x, unsigned i)
{
    return (unsigned)(x >> (60 - 4 * i)) & 15;
}

static uint64_t at(unsigned value, unsigned i)
{
    return (uint64_t)value << (60 - 4 * i);
}

static unsigned rotated(unsigned value, unsigned n)
{
    return (value << n | value >> (4 - n)) & 15;
}

static uint64_t paper_shuffle(uint64_t x)
{
    uint64_t y = 0;

    for (unsigned i = 0; i < QARMA_CELLS; i++)
        y |= at(cell(x, tau[i]), i);
    return y;
}

static uint64_t paper_unshuffle(uint64_t x)
{
    uint64_t y = 0;

    for (unsigned i = 0; i < QARMA_CELLS; i++)
        y |= at(cell(x, i), tau[i]);
    return y;
}

/* M = circ(0, rho, rho^2, rho); the cells of a column are 4 apart. */
static uint64_t paper_mix(uint64_t x)
{
    uint64_t y = 0;

    for (unsigned i = 0; i < QARMA_CELLS; i++)
        for (unsigned row = 1; row < 4; row++)
            y ^= at(rotated(cell(x, (i + 4 * row) % 16), row == 2 ? 2 : 1), i);
    return y;
}

static uint64_t paper_rho(uint64_t x, unsigned n)
{
    uint64_t y = 0;

    for (unsigned i = 0; i < QARMA_CELLS; i++)
        y |= at(rotated(cell(x, i), n), i);
    return y;
}

/* omega: bits b3 b2 b1 b0 become b0 + b1, b3, b2, b1. */
static uint64_t paper_next_tweak(uint64_t x)
{
    uint64_t y = 0;

    for (unsigned i = 0; i < QARMA_CELLS; i++) {
        const unsigned b = cell(x, h[i]);
        y |= at(omega[i] ? b >> 1 | ((b ^ b >> 1) & 1) << 3 : b, i);
    }
    return y;
}

static uint64_t paper_substitute(uint64_t x, unsigned box)
{
    uint64_t y = 0;

    for (unsigned i = 0; i < QARMA_CELLS; i++)
        y |= at((unsigned)(sigma[box] >> 4 * cell(x, i)) & 15, i);
    return y;
}

/* o: a rotation to the right by one, and the highest bit added to the lowest. */
static uint64_t paper_w1(uint64_t x)
{
    return (x >> 1 | (x & 1) << 63) ^ x >> 63;
}

/* ---- Layers ---------------------------------------------------------------------------------- */

typedef uint64_t layer(uint64_t x);

static uint64_t rho(uint64_t x)
{
    return evc_qarma_rho(x);
}

static uint64_t rho2(uint64_t x)
{
    return evc_qarma_rho2(x);
}

static uint64_t paper_rho1(uint64_t x)
{
    return paper_rho(x, 1);
}

static uint64_t paper_rho2(uint64_t x)
{
    return paper_rho(x, 2);
}

static uint64_t w1(uint64_t x)
{
    return evc_qarma_w1(x);
}

/* The word that the reflector adds in decryption. */
static uint64_t backward_k1(uint64_t k0)
{
    return evc_qarma_backward(0, k0).k1;
}

static const struct pair_of_layers {
    layer *ours, *papers;
} layers[] = {
    {rho, paper_rho1},        {rho2, paper_rho2},
    {mix, paper_mix},         {backward_k1, paper_mix},
    {shuffle, paper_shuffle}, {unshuffle, paper_unshuffle},
    {w1, paper_w1},           {next_tweak, paper_next_tweak},
};
#define N_LAYERS (sizeof layers / sizeof layers[0])

static void linear_layers_are_the_papers(void)
{
    for (size_t k = 0; k < N_LAYERS; k++) {
        EXPECT(layers[k].ours(0) == 0);
        for (unsigned i = 0; i < 64; i++)
            EXPECT(layers[k].ours(UINT64_C(1) << i) == layers[k].papers(UINT64_C(1) << i));
    }
}

static void linear_layers_are_linear(void)
{
    for (size_t k = 0; k < N_LAYERS; k++)
        for (unsigned i = 0; i < 64; i++)
            for (unsigned j = 0; j < i; j++) {
                const uint64_t a = UINT64_C(1) << i, b = UINT64_C(1) << j;
                EXPECT(layers[k].ours(a ^ b) == (layers[k].ours(a) ^ layers[k].ours(b)));
            }
}

/* In every cell all values, the others being the same and being others. */
static void s_boxes_are_the_papers(void)
{
    const uint64_t ones = UINT64_C(0x1111111111111111);

    for (unsigned box = 0; box < 4; box++)
        for (unsigned value = 0; value < 16; value++) {
            EXPECT(substitute(ones * value, (enum box)box) == paper_substitute(ones * value, box));
            for (unsigned i = 0; i < QARMA_CELLS; i++)
                for (unsigned other = 0; other < 16; other++) {
                    const uint64_t x = (ones * other & ~at(15, i)) | at(value, i);
                    EXPECT(substitute(x, (enum box)box) == paper_substitute(x, box));
                }
        }
}

static void the_ways_back_undo_the_ways_there(void)
{
    for (unsigned value = 0; value < 16; value++) {
        EXPECT(cell(paper_substitute(paper_substitute(value, SIGMA0), SIGMA0), 15) == value);
        EXPECT(cell(paper_substitute(paper_substitute(value, SIGMA1), SIGMA1), 15) == value);
        EXPECT(cell(paper_substitute(paper_substitute(value, SIGMA2), SIGMA2_INVERSE), 15) ==
               value);
    }
    for (unsigned i = 0; i < 64; i++) {
        const uint64_t x = UINT64_C(1) << i;
        EXPECT(unshuffle(shuffle(x)) == x);
        EXPECT(mix(mix(x)) == x);
    }
}

int main(void)
{
    RUN(linear_layers_are_the_papers);
    RUN(linear_layers_are_linear);
    RUN(s_boxes_are_the_papers);
    RUN(the_ways_back_undo_the_ways_there);
    return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* The speed of an undisturbed core is learnt from the looks of this process,
 * or given by the caller. */
#include "quiet.h"

#include <stdlib.h>
#include <string.h>

#include "port/port.h"

#define FIRST_LOOKS 15
#define SURVEY_LOOKS 8192
#define SURVEY_NS 30000000 /* neighbours pause within a few ticks of their scheduler */
#define QUIET_LOOKS 30    /* in a row, some 100 microseconds: then nothing else is there for now */
#define TOLERATED 0.95F   /* of the width of a core of one's own */
#define MEMORY 256        /* measurements */

static float expected;     /* by the caller */
static float past[MEMORY]; /* of the last measurements */
static size_t n_past;      /* so far */
static float surveyed;     /* at first, where the caller expects nothing */
static float own_width;    /* of a core of one's own, as far as is known now */
static bool was_narrow;    /* the last look */

void quiet_expect(uint64_t width)
{
    expected = (float)width / 1000;
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* The middle of the upper half: neither an interrupted look nor a crowded one. */
float quiet_typical(float *widths, size_t n)
{
    qsort(widths, n, sizeof widths[0], by_value);
    return n ? widths[n * 3 / 4] : 0;
}

void quiet_learn(float width)
{
    if (width > 0)
        past[n_past++ % MEMORY] = width;
}

/* The largest width without two and a twentieth of all: a look while the clock
 * changes sees too much. */
static float learnt_width(void)
{
    static float sorted[MEMORY];
    size_t n = n_past < MEMORY ? n_past : MEMORY;

    if (n < 3)
        return 0;
    memcpy(sorted, past, n * sizeof sorted[0]);
    qsort(sorted, n, sizeof sorted[0], by_value);
    return sorted[n - 3 - n / 20];
}

/* A twentieth of the looks saw more: enough that moments in which the core was quiet stand out. */
void quiet_survey(const struct counter *c)
{
    static float looks[SURVEY_LOOKS];
    static bool is_done;

    if (is_done || expected > 0)
        return;
    is_done = true;
    uint64_t start = port_now_ns();
    size_t n = 0;
    do {
        looks[n] = (float)add_width(c);
        if (looks[n] <= 0) /* nobody knows here */
            return;
    } while (++n < SURVEY_LOOKS && port_now_ns() - start < SURVEY_NS);
    qsort(looks, n, sizeof looks[0], by_value);
    surveyed = looks[n - 1 - n / 20];
}

void quiet_begin(const struct counter *c)
{
    float looks[FIRST_LOOKS], learnt = learnt_width();

    for (size_t i = 0; i < FIRST_LOOKS; i++)
        looks[i] = (float)add_width(c);
    own_width = quiet_typical(looks, FIRST_LOOKS);
    own_width = own_width > surveyed ? own_width : surveyed;
    own_width = own_width > learnt ? own_width : learnt;
    own_width = own_width > expected ? own_width : expected;
    was_narrow = false;
}

void quiet_know(float typical)
{
    own_width = own_width > typical ? own_width : typical;
}

bool quiet_is_narrow(float width)
{
    return width > 0 && width < TOLERATED * own_width;
}

bool quiet_is_crowded(const struct counter *c, float *width)
{
    *width = (float)add_width(c);
    bool narrow = quiet_is_narrow(*width), crowded = narrow || was_narrow;

    was_narrow = narrow;
    return crowded;
}

bool quiet_wait(const struct counter *c, uint64_t most_ns)
{
    uint64_t start = port_now_ns();

    for (unsigned in_a_row = 0; in_a_row < QUIET_LOOKS;) {
        if (port_now_ns() - start > most_ns)
            return false;
        in_a_row = quiet_is_narrow((float)add_width(c)) ? 0 : in_a_row + 1;
    }
    return true;
}

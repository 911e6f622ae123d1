/* SPDX-License-Identifier: MIT */
/* Samples beside which something else used the core: a core of pretence, on which a
 * clock of pretence goes by. */
#include <stdlib.h>

#include "measure.h"
#include "port/port.h"
#include "quiet.h"
#include "tap.h"

#define LOOK_NS 3500
#define CALL_NS 50000
#define OWN 3.96
#define SHARED 2.5
#define WANT 31
#define BUDGET_NS 20000000

static uint64_t clock_ns;
static double (*width_now)(void); /* additions in a cycle */
static uint64_t disturbed_from_ns = UINT64_MAX;

uint64_t port_now_ns(void)
{
    return clock_ns;
}

double add_width(const struct counter *c)
{
    (void)c;
    clock_ns += LOOK_NS;
    return width_now();
}

struct sample counter_sample(const struct counter *c, void (*run)(void *, uint64_t), void *arg,
                             uint64_t calls)
{
    struct sample s = {0, 0, false, false, 0};
    uint64_t start = clock_ns;

    (void)c;
    run(arg, calls);
    s.ns = (double)(clock_ns - start);
    s.disturbed = start > disturbed_from_ns;
    s.cycles = s.ns * OWN / (width_now() > 0 ? width_now() : OWN);
    return s;
}

static void calls_of(void *work, uint64_t calls)
{
    (void)work;
    clock_ns += calls * CALL_NS;
}

static double alone(void)
{
    return OWN;
}

static double shared(void)
{
    return SHARED;
}

static double unknown(void)
{
    return 0;
}

static double for_a_while(void) /* half a millisecond of two */
{
    return clock_ns / 500000 % 4 == 0 ? SHARED : OWN;
}

/* pauses of one millisecond in five, on another core than all others here */
static double narrow_with_pauses(void)
{
    return clock_ns / 1000000 % 5 == 2 ? OWN / 2 : SHARED / 2;
}

static double in_short_moments(void) /* of 0.35 ms in 7 */
{
    return clock_ns / 350000 % 20 == 19 ? OWN : SHARED;
}

static uint64_t quiet_from_ns;

static double until_then(void)
{
    return clock_ns < quiet_from_ns ? SHARED : OWN;
}

static double too_wide(void) /* while the clock changes */
{
    return OWN * 1.06;
}

static struct measured m;

static void measure_some_while(double (*width)(void), size_t want)
{
    static const struct counter counter = {.name = "fake"};

    width_now = width;
    measure(&counter, calls_of, NULL, want, BUDGET_NS, &m);
}

static void measure_while(double (*width)(void))
{
    measure_some_while(width, WANT);
}

static bool all_are_quiet(void)
{
    for (size_t i = 0; i < m.n; i++)
        if (m.at[i].crowded || (double)m.at[i].width < 0.95 * OWN)
            return false;
    return m.n > 0;
}

static void quiet_measurements(int n)
{
    for (int i = 0; i < n; i++)
        measure_while(alone);
}

/* ---- In this order: a process knows more and more -------------------------------------------- */

static uint64_t crowded_ns; /* of a crowded measurement, without waiting */

static void pauses_tell_the_first_measurement_what_a_core_does(void)
{
    measure_while(narrow_with_pauses);
    EXPECT(!m.crowded && m.n >= 21 && (double)m.width > 0.95 * OWN / 2);
}

static void where_nothing_can_be_known_of_a_core_it_is_quiet(void)
{
    measure_while(unknown);
    EXPECT(m.n == WANT && !m.crowded && m.width <= 0);
}

static void what_the_caller_expects_of_a_core_tells_that_it_is_shared(void)
{
    quiet_expect((uint64_t)(1000 * OWN));
    quiet_from_ns = UINT64_MAX;
    measure_while(until_then); /* uses up what may be waited */
    uint64_t start = clock_ns;
    measure_while(shared);
    crowded_ns = clock_ns - start;
    EXPECT(m.crowded && m.n >= WANT && (double)m.width < 3);
    quiet_expect(0);
}

static void a_core_that_is_always_shared_doubles_the_time_at_most(void)
{
    uint64_t start = clock_ns;

    quiet_expect((uint64_t)(1000 * OWN));
    for (int i = 0; i < 100; i++)
        measure_while(shared);
    EXPECT(m.crowded && clock_ns - start < 2 * 101 * crowded_ns);
    quiet_expect(0);
}

static void a_few_quiet_measurements_tell_what_a_core_does(void)
{
    quiet_measurements(40);
    EXPECT(m.n == WANT && !m.crowded && (double)m.width > 3.9);
    measure_while(shared);
    EXPECT(m.crowded);
}

static void crowded_samples_are_left_out_where_enough_others_are_there(void)
{
    uint64_t start = clock_ns;

    measure_while(for_a_while);
    EXPECT(!m.crowded && m.n == WANT && all_are_quiet());
    EXPECT(clock_ns - start < 3 * WANT * CALL_NS);
}

static void as_many_as_were_wanted_are_enough_whatever_else_is_there(void)
{
    uint64_t start = clock_ns;

    quiet_from_ns = clock_ns + 25 * CALL_NS; /* of which some are samples */
    measure_some_while(until_then, 10);
    EXPECT(!m.crowded && m.n == 10 && all_are_quiet());
    EXPECT(clock_ns - start < 60 * CALL_NS);
}

static double on_a_wider_core(void) /* shared until then */
{
    return clock_ns < quiet_from_ns ? 1.2 * OWN : 2 * OWN;
}

static void what_is_known_late_judges_earlier_samples_too(void)
{
    quiet_measurements(60);
    quiet_from_ns = clock_ns + 24 * CALL_NS;
    measure_while(on_a_wider_core);
    EXPECT(!m.crowded && m.n >= 21);
    for (size_t i = 0; i < m.n; i++)
        EXPECT((double)m.at[i].width > 1.9 * OWN);
}

static void a_process_that_has_measured_waits_for_its_core(void)
{
    uint64_t start = clock_ns;

    quiet_measurements(200);
    quiet_from_ns = clock_ns + (clock_ns - start) / 2;
    measure_while(until_then);
    EXPECT(!m.crowded && m.n == WANT && all_are_quiet());
    quiet_from_ns = clock_ns + 10000000;
    measure_some_while(until_then, 5);
    EXPECT(!m.crowded && m.n == 5 && all_are_quiet());
}

static void samples_of_moments_that_are_too_short_for_all_add_up(void)
{
    quiet_measurements(200);
    measure_while(in_short_moments);
    EXPECT(!m.crowded && m.n >= 21 && all_are_quiet());
}

static void a_wait_that_gives_no_samples_takes_none_away(void)
{
    quiet_from_ns = clock_ns + 10000000;
    disturbed_from_ns = quiet_from_ns;
    measure_while(until_then);
    EXPECT(m.crowded && m.n >= WANT);
    disturbed_from_ns = UINT64_MAX;
}

static void looks_while_the_clock_changed_do_not_make_all_others_narrow(void)
{
    quiet_measurements(60);
    for (int i = 0; i < 4; i++)
        measure_while(too_wide);
    measure_while(alone);
    EXPECT(!m.crowded);
}

int main(void)
{
    RUN(pauses_tell_the_first_measurement_what_a_core_does);
    RUN(where_nothing_can_be_known_of_a_core_it_is_quiet);
    RUN(what_the_caller_expects_of_a_core_tells_that_it_is_shared);
    RUN(a_core_that_is_always_shared_doubles_the_time_at_most);
    RUN(a_few_quiet_measurements_tell_what_a_core_does);
    RUN(crowded_samples_are_left_out_where_enough_others_are_there);
    RUN(as_many_as_were_wanted_are_enough_whatever_else_is_there);
    RUN(a_process_that_has_measured_waits_for_its_core);
    RUN(samples_of_moments_that_are_too_short_for_all_add_up);
    RUN(a_wait_that_gives_no_samples_takes_none_away);
    RUN(looks_while_the_clock_changed_do_not_make_all_others_narrow);
    RUN(what_is_known_late_judges_earlier_samples_too);
    return tap_done();
}

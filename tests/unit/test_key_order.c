/* SPDX-License-Identifier: MIT */
/* The order in which measured messages take their keys. */
#include <stdbool.h>

#define random_below random_below_of_harness /* tap.h has another */
#include "key_order.h"
#undef random_below
#include "tap.h"

static struct key_order order;

static void make(size_t n, uint64_t seed)
{
    struct random r = {seed};

    key_order_make(&order, n, &r);
}

static void every_key_is_used_before_any_is_used_again(void)
{
    static const size_t numbers[] = {1, 2, 3, 64, 1000, MOST_KEYS};
    static bool used[MOST_KEYS];

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        make(numbers[i], 7);
        for (int round = 0; round < 2; round++) {
            memset(used, 0, sizeof used);
            for (size_t call = 0; call < numbers[i]; call++) {
                const size_t key = key_order_next(&order);
                EXPECT(key < numbers[i] && !used[key]);
                used[key < MOST_KEYS ? key : 0] = true;
            }
        }
    }
}

/* In a random order, about one neighbour in 500 is the next one in memory. */
static void keys_that_follow_each_other_are_rarely_neighbours(void)
{
    size_t neighbours = 0, last, key;

    make(1000, 7);
    last = key_order_next(&order);
    for (size_t call = 1; call < 1000; call++, last = key) {
        key = key_order_next(&order);
        neighbours += key == last + 1 || last == key + 1;
    }
    EXPECT(neighbours < 20);
}

static void an_order_depends_on_its_seed_alone(void)
{
    static struct key_order once;

    make(1000, 7);
    once = order;
    make(1000, 7);
    EXPECT(memcmp(&once, &order, sizeof order) == 0);
    make(1000, 8);
    EXPECT(memcmp(&once, &order, sizeof order) != 0);
}

int main(void)
{
    RUN(every_key_is_used_before_any_is_used_again);
    RUN(keys_that_follow_each_other_are_rarely_neighbours);
    RUN(an_order_depends_on_its_seed_alone);
    return tap_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Many keys in random order, as connections have them: one for each message of `bench --keys` and
 * `peers --keys`. Calls go through the order again and again, and a sample goes on where the one
 * before it stopped, so that every key is used before any is used again.
 */
#ifndef HARNESS_KEY_ORDER_H
#define HARNESS_KEY_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "random.h"

#define MOST_KEYS 65536
#define MOST_AAD_BYTES 1024
#define CHECKED_KEYS 64 /* of many: how many have their answer compared */

struct key_order {
    size_t n, next;
    uint32_t at[MOST_KEYS]; /* a permutation of 0 to n - 1 */
};

static inline void key_order_make(struct key_order *order, size_t n, struct random *r)
{
    order->n = n;
    order->next = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t j = random_below(r, i + 1);
        order->at[i] = order->at[j];
        order->at[j] = (uint32_t)i;
    }
}

static inline size_t key_order_next(struct key_order *order)
{
    const size_t key = order->at[order->next];

    order->next = order->next + 1 == order->n ? 0 : order->next + 1;
    return key;
}

#endif

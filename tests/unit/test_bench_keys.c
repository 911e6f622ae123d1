/* SPDX-License-Identifier: MIT */
/* Calls of `bench --keys` take their keys in the order of harness/key_order.h. */
#define must must_of_harness /* tap.h has another */
#define random_below random_below_of_harness
#include "../../harness/bench_gcm.c"
#undef must
#undef random_below
#include "tap.h"

#define KEYS 37
#define LEN_BYTES 48

static struct work *prepared(uint64_t seed)
{
    const struct bench_setup setup = {.kernel = "c_ref+c_ref",
                                      .key_bits = 128,
                                      .len_bytes = LEN_BYTES,
                                      .messages = 1,
                                      .aad_bytes = AAD_BYTES,
                                      .keys = KEYS,
                                      .seed = seed};
    const char *with;

    return bench_gcm.prepare(0, &setup, &with);
}

/* The place in memory of the key whose tag the last call has left; KEYS: of none
 * of them. s: the call's. */
static size_t key_of_the_last_call(struct work *w, const struct slot *s)
{
    uint8_t out[LEN_BYTES], tag[16];

    for (size_t place = 0; place < KEYS; place++) {
        const uint8_t *key = w->keys.memory + w->keys.room * place;
        must(evc_gcm_seal((const union evc_gcm_key *)(const void *)key, s->iv, NONCE_BYTES, w->aad,
                          w->aad_bytes, s->in, out, LEN_BYTES, tag, 16));
        if (memcmp(tag, w->tag, 16) == 0 && memcmp(out, s->out, LEN_BYTES) == 0)
            return place;
    }
    return KEYS;
}

static void calls_follow(bench_loop *calls)
{
    struct work *w = prepared(7);

    EXPECT(w != NULL && w->keys.order.n == KEYS);
    for (size_t call = 0; w && call < 2 * KEYS + 3; call++) {
        const size_t expected = w->keys.order.at[call % KEYS];
        calls(w, 1); /* one call: it takes the first slot */
        EXPECT(key_of_the_last_call(w, &w->slots.at[0]) == expected);
        EXPECT(w->failures == 0);
    }
}

static void streamed_calls_take_keys_in_their_order(void)
{
    calls_follow(bench_gcm.keys_loop(0, false));
}

static void fenced_calls_take_keys_in_their_order(void)
{
    calls_follow(bench_gcm.keys_loop(0, true));
}

/* A sample of several calls goes on in the order where the one before it stopped. */
static void a_sample_goes_on_where_the_last_one_stopped(void)
{
    struct work *w = prepared(8);
    size_t calls = 0;

    for (size_t n = 1; w && n < 9; n++) {
        bench_gcm.keys_loop(0, false)(w, n);
        calls += n;
        EXPECT(key_of_the_last_call(w, &w->slots.at[(n - 1) & w->slots.mask]) ==
               w->keys.order.at[(calls - 1) % KEYS]);
    }
}

/* Else every order would do. */
static void the_order_is_not_that_of_memory(void)
{
    const struct work *w = prepared(7);
    size_t in_place = 0;

    for (size_t i = 0; w && i < KEYS; i++)
        in_place += w->keys.order.at[i] == i;
    EXPECT(in_place < KEYS / 4);
}

int main(void)
{
    RUN(streamed_calls_take_keys_in_their_order);
    RUN(fenced_calls_take_keys_in_their_order);
    RUN(a_sample_goes_on_where_the_last_one_stopped);
    RUN(the_order_is_not_that_of_memory);
    return tap_done();
}

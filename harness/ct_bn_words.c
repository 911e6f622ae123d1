/* SPDX-License-Identifier: MIT */
/* Constant time of word primitives: each operation runs on numbers of up to 16 words,
 * and on secret divisors. */
#include "ct.h"

#include <string.h>

#include "everycore/bn.h"
#include "everycore/bn_words.h"

typedef evc_bn_word word;

#define MOST 17

/* Secret operands, which lie in the room of the call. */
struct operands {
    word a[MOST], b[MOST], r[2 * MOST], w, divisor;
    struct evc_bn_divisor prepared;
};

static struct operands *operands_of(struct ct_call *c)
{
    struct operands *o = (struct operands *)(void *)c->own_out;

    memcpy(o, c->secret.in, sizeof *o);
    return o;
}

#define FOR_EACH_LENGTH(...)                                                           \
    {                                                                                  \
        const struct evc_bn_words *k = evc_bn_words_named(c->kernel);                  \
        struct operands *o = operands_of(c);                                           \
        for (size_t n = 0; n < MOST; n++) {                                            \
            __VA_ARGS__;                                                               \
        }                                                                              \
        return true;                                                                   \
    }

static bool rows(struct ct_call *c)
    FOR_EACH_LENGTH(o->w ^= k->add_words(o->r, o->a, o->b, n);
                    o->w ^= k->sub_words(o->r, o->r, o->b, n);
                    o->w ^= k->mul_words(o->r, o->r, n, o->w);
                    o->w ^= k->mul_add_words(o->r, o->a, n, o->w); k->sqr_words(o->r, o->a, n))

        static bool columns(struct ct_call *c) FOR_EACH_LENGTH(
            if (n == 4) {
                k->mul_comba4(o->r, o->a, o->b);
                k->sqr_comba4(o->r, o->a);
            } if (n == 8) {
                k->mul_comba8(o->r, o->a, o->b);
                k->sqr_comba8(o->r, o->a);
            })

            static bool quotients(struct ct_call *c)
                FOR_EACH_LENGTH(o->r[n] = k->div_words(o->a[n], o->b[n], o->w))

    /* The divisor is secret, but not 0. Whether it is at most B / 8 is public. */
    static bool prepare_remainders(struct ct_call *c, word set, word clear)
{
    struct operands *o = operands_of(c);

    return evc_bn_divisor_set(&o->prepared, (o->divisor | set) & ~clear) == EVC_OK;
}

static bool prepare_small(struct ct_call *c)
{
    return prepare_remainders(c, 1, (word)7 << (EVC_BN_WORD_BITS - 3));
}

static bool prepare_large(struct ct_call *c)
{
    return prepare_remainders(c, (word)1 << (EVC_BN_WORD_BITS - 1), 0);
}

static bool remainders(struct ct_call *c)
{
    const struct evc_bn_words *k = evc_bn_words_named(c->kernel);
    struct operands *o = (struct operands *)(void *)c->own_out;

    for (size_t n = 0; n < MOST; n++)
        o->r[n] = k->mod_words(o->a, n, &o->prepared);
    return true;
}

/* The words are public. */
static bool remainders_of_bytes(struct ct_call *c)
{
    static const uint32_t words[3] = {3, 65537, 1021};
    struct operands *o = (struct operands *)(void *)c->own_out;
    struct evc_bn_trial groups[3];
    const size_t n_groups = evc_bn_trial_groups(words, 3);
    uint8_t scratch[sizeof o->a + 16];
    uint32_t *const found = (uint32_t *)(void *)o->r;

    return evc_bn_trial_set(groups, n_groups, words, 3) == EVC_OK &&
           evc_bn_mod_words(evc_bn_words_named(c->kernel), groups, n_groups, (const uint8_t *)o->a,
                            sizeof o->a, found, scratch, sizeof scratch) == EVC_OK;
}

static const struct ct_operation operations[] = {
    {"rows", 0, 0, false, NULL, rows},
    {"columns", 0, 0, false, NULL, columns},
    {"div-words", 0, 0, false, NULL, quotients},
    {"mod-small", 0, 0, false, prepare_small, remainders},
    {"mod-large", 0, 0, false, prepare_large, remainders},
    {"mod-bytes", 0, 0, false, prepare_small, remainders_of_bytes},
};

static const struct evc_kernel *descriptor(const char *kernel)
{
    return evc_bn_words_kernel(evc_bn_words_named(kernel));
}

const struct ct_operations ct_bn_words = {
    .primitive = "bn_words",
    .descriptor = descriptor,
    .key_room_bytes = CT_KEY_ROOM,
    .one_key_size = true,
    .at = operations,
    .n = sizeof operations / sizeof operations[0],
};

/* SPDX-License-Identifier: MIT */
/* Word primitives leave nothing behind once evc_bn_words_clear was called.
 * All operands are secret. */
#include "residue.h"

#include "must.h"

#include <stdio.h>
#include <string.h>

#include "everycore/bn.h"
#include "everycore/bn_words.h"

#define MANY 16 /* words */

typedef evc_bn_word word;

static const struct evc_bn_words *kernel; /* under test */

static struct version {
    word r[2 * MANY], a[MANY], b[MANY], w;
    struct evc_bn_divisor divisor;
} versions[2], at;

static word returned[2]; /* by a call, which its caller keeps */

static void prepare(unsigned version)
{
    at = versions[version];
}

#define CALL(slot, ...)                                                                \
    static void slot(void)                                                             \
    {                                                                                  \
        returned[0] = kernel->slot(__VA_ARGS__);                                       \
        evc_bn_words_clear(kernel);                                                    \
    }
#define CALL_VOID(slot, ...)                                                           \
    static void slot(void)                                                             \
    {                                                                                  \
        kernel->slot(__VA_ARGS__);                                                     \
        evc_bn_words_clear(kernel);                                                    \
    }
CALL(add_words, at.r, at.a, at.b, MANY)
CALL(sub_words, at.r, at.a, at.b, MANY)
CALL(mul_words, at.r, at.a, MANY, at.w)
CALL(mul_add_words, at.r, at.a, MANY, at.w)
CALL_VOID(sqr_words, at.r, at.a, MANY)
CALL_VOID(mul_comba4, at.r, at.a, at.b)
CALL_VOID(mul_comba8, at.r, at.a, at.b)
CALL_VOID(sqr_comba4, at.r, at.a)
CALL_VOID(sqr_comba8, at.r, at.a)
CALL(mod_words, at.a, MANY, &at.divisor)

/* Whether words are passed on the stack. */
#if (EVC_X86 && !EVC_X86_64) || defined(__m68k__)
#define ARGUMENTS_ON_STACK 1
#else
#define ARGUMENTS_ON_STACK 0
#endif

/* Called as div_words is: so the caller's arguments end above its return address. */
static word see_arguments(word high, word low, word d)
{
    (void)high, (void)low, (void)d;
#if ARGUMENTS_ON_STACK
    residue_arguments_end_at((uintptr_t)__builtin_dwarf_cfa());
#endif
    return 0;
}

/* One place of the code makes both calls, so that their arguments lie at the same addresses. */
static void div_words(void)
{
    word (*volatile functions[])(word, word, word) = {see_arguments, kernel->div_words};

    for (size_t i = 0; i < 2; i++)
        returned[0] = functions[i](at.a[0], at.a[1], at.w);
    evc_bn_words_clear(kernel);
}

static void mod_word(void)
{
    returned[0] = evc_bn_mod_word(kernel, at.a, MANY, at.w);
}

static struct evc_bn_trial trial[1]; /* of public words */
static uint32_t remainders[3];

static void trial_mod(void)
{
    evc_bn_trial_mod(kernel, trial, 1, at.a, MANY, remainders);
}

static void mod_words_of_bytes(void)
{
    static uint8_t scratch[sizeof at.a + 16];

    must(evc_bn_mod_words(kernel, trial, 1, (const uint8_t *)at.a, sizeof at.a, remainders, scratch,
                          sizeof scratch));
}

static void look(struct check *c, const char *operation, void (*make)(void))
{
    struct residue_call call = {.operation = operation, .prepare = prepare, .make = make};

    snprintf(call.sizes, sizeof call.sizes, "%d words", MANY);
    call.secrets[0] = (struct residue_secret){"a", (const uint8_t *)at.a, sizeof at.a};
    call.secrets[1] = (struct residue_secret){"b", (const uint8_t *)at.b, sizeof at.b};
    call.secrets[2] = (struct residue_secret){"w", (const uint8_t *)&at.w, sizeof at.w};
    call.secrets[3] = (struct residue_secret){"r", (const uint8_t *)at.r, sizeof at.r};
    call.given = (const uint8_t *)returned;
    call.given_bytes = sizeof returned;
    residue_look(c, &call);
}

enum result bn_words_leaves_nothing_behind(struct check *c)
{
    kernel = evc_bn_words_named(c->line->name);
    if (residue_unavailable())
        return check_skip(c, residue_unavailable());
    must(evc_bn_trial_set(trial, 1, (const uint32_t[]){251, 257, 263}, 3));
    residue_begin();
    for (unsigned v = 0; v < 2; v++) {
        random_bytes(&c->random, (uint8_t *)&versions[v], sizeof versions[v]);
        versions[v].w |= (word)1 << (EVC_BN_WORD_BITS - 1 - 5 * v);
        must(evc_bn_divisor_set(&versions[v].divisor, versions[v].w >> 4));
    }
#define LOOK(slot) look(c, #slot, slot)
    LOOK(add_words);
    LOOK(sub_words);
    LOOK(mul_words);
    LOOK(mul_add_words);
    LOOK(sqr_words);
    LOOK(mul_comba4);
    LOOK(mul_comba8);
    LOOK(sqr_comba4);
    LOOK(sqr_comba8);
    LOOK(div_words);
    LOOK(mod_words);
    LOOK(mod_word);
    LOOK(trial_mod);
    LOOK(mod_words_of_bytes);
#undef LOOK
    return residue_verdict(c);
}

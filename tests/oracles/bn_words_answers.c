/* SPDX-License-Identifier: MIT */
/* Operands and results of word primitives, a line each, for bn_words_answers.py:
 * numbers in hexadecimal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everycore/bn_words.h"
#include "everycore/cpu.h"

#include "bn_words/kernel.h"

typedef evc_bn_word word;

static const struct evc_bn_words *const kernels[] = {
#define ANSWERS(primitive, stem) IS_##primitive(&evc_##primitive##_##stem)
#define IS_aes(x)
#define IS_ghash(x)
#define IS_gcm(x)
#define IS_qarma(x)
#define IS_sha2(x)
#define IS_x25519(x)
#define IS_bn(x)
#define IS_bn_words(x) x,
#define KERNEL(primitive, stem, isa, timing, ...) EVC_WHEN(EVC_BUILT(isa), ANSWERS(primitive, stem))
#include "kernels.def"
#undef KERNEL
};

static uint64_t state = 1;

static word random_word(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    switch (state >> 61) {
    case 0: return (word)-1;
    case 1: return 0;
    case 2: return (word)1 << (state >> 33) % EVC_BN_WORD_BITS;
    default: return (word)(state ^ state >> 29);
    }
}

static void show(const word *x, size_t n)
{
    printf(" 0");
    while (n--)
        printf("%0*llx", EVC_BN_WORD_BITS / 4, (unsigned long long)x[n]);
}

#define MOST 40

static void answer(const struct evc_bn_words *k, size_t n)
{
    word a[MOST], b[MOST], r[2 * MOST], before[MOST] = {0}, w = random_word(), out;
    struct evc_bn_divisor d;

    for (size_t i = 0; i < n; i++) {
        a[i] = random_word();
        b[i] = random_word();
        before[i] = random_word();
    }
#define LINE(operation, call, n_result)                                                     \
    memcpy(r, before, sizeof before);                                                       \
    out = 0;                                                                                \
    call;                                                                                   \
    printf("%s %s %d %zu", k->kernel.name, operation, EVC_BN_WORD_BITS, n);                 \
    show(a, n), show(b, n), show(before, n), show(&w, 1), show(r, n_result), show(&out, 1); \
    puts("");
    LINE("add", out = k->add_words(r, a, b, n), n)
    LINE("sub", out = k->sub_words(r, a, b, n), n)
    LINE("mul", out = k->mul_words(r, a, n, w), n)
    LINE("mul_add", out = k->mul_add_words(r, a, n, w), n)
    LINE("sqr", k->sqr_words(r, a, n), 2 * n)
    if (n == 4) {
        LINE("product", k->mul_comba4(r, a, b), 2 * n)
        LINE("square", k->sqr_comba4(r, a), 2 * n)
    }
    if (n == 8) {
        LINE("product", k->mul_comba8(r, a, b), 2 * n)
        LINE("square", k->sqr_comba8(r, a), 2 * n)
    }
    if (n == 2) {
        LINE("div", out = k->div_words(a[1], a[0], w), 0)
    }
    if (evc_bn_divisor_set(&d, w) == EVC_OK) {
        LINE("mod", out = k->mod_words(a, n, &d), 0)
        w >>= 4; /* those that sums of products fit into two words for */
        LINE("mod_word", out = evc_bn_mod_word(k, a, n, w), 0)
    }
}

/* Kernels named, or all that this CPU runs. */
int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        int chosen = argc == 1 && evc_kernel_runs(&kernels[i]->kernel,
                                                  evc_cpu_features() | EVC_CPU(CT_MUL));
        for (int j = 1; j < argc; j++)
            chosen |= strcmp(argv[j], kernels[i]->kernel.name) == 0;
        for (int turn = 0; chosen && turn < 6; turn++)
            for (size_t n = 0; n <= MOST; n++)
                answer(kernels[i], n);
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Answers questions about big numbers, for bn_against_python.py. A line on stdin is KERNEL
 * OPERATION N A B, numbers in hexadecimal of whole bytes, "-" for none; the answer on stdout is the
 * result in hexadecimal, or the status in words.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everycore/bn.h"
#include "everycore/cpu.h"

#define MOST EVC_BN_MAX_BYTES
#define MEMORY_BYTES 24576
#define SCRATCH_BYTES (1u << 20)

/* A number of a line. */
struct number {
    uint8_t bytes[MOST];
    size_t n;
};

static struct number numbers[3]; /* n, a, b */
static EVC_ALIGN(16) uint8_t memory[MEMORY_BYTES];
#define MANY 11

static uint8_t scratch[SCRATCH_BYTES], out[MANY * MOST];

static int read_number(struct number *to, const char *hex)
{
    to->n = strcmp(hex, "-") ? strlen(hex) / 2 : 0;
    for (size_t i = 0; i < to->n && i < MOST; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
            return 0;
        to->bytes[i] = (uint8_t)byte;
    }
    return to->n <= MOST;
}

/* Powers of a, or of 2, with exponents that differ from b in the last byte, by 0 to MANY - 1. */
static enum evc_status powers(const struct evc_bn_modulus *n, const uint8_t *base,
                              const struct number *b)
{
    static uint8_t exponents[MANY][MOST];
    struct evc_bn_exp exps[MANY];

    for (size_t i = 0; i < MANY; i++) {
        memcpy(exponents[i], b->bytes, b->n);
        exponents[i][b->n - 1] ^= (uint8_t)i;
        exps[i] =
            (struct evc_bn_exp){n, base, exponents[i], out + i * n->n_bytes, b->n, EVC_ERR_STATE};
    }
    return evc_bn_exp_many(exps, MANY, scratch, sizeof scratch);
}

/* n_out: bytes of the result. */
static enum evc_status answer(const struct evc_bn *kernel, const char *operation, size_t *n_out)
{
    const struct number *n = &numbers[0], *a = &numbers[1], *b = &numbers[2];
    const struct evc_bn_modulus *modulus = (const void *)memory;
    enum evc_status status;

    *n_out = n->n;
    if (strcmp(operation, "gcd") == 0)
        return evc_bn_gcd(n->bytes, n->n, a->bytes, a->n, out, scratch, sizeof scratch);
    if (strcmp(operation, "inverse") == 0)
        return evc_bn_inverse(a->bytes, n->bytes, n->n, out, scratch, sizeof scratch);
    status = evc_bn_set_modulus_in(memory, sizeof memory, kernel, n->bytes, n->n);
    if (status != EVC_OK)
        return status;
    if (strcmp(operation, "add") == 0)
        return evc_bn_mod_add(modulus, a->bytes, b->bytes, out, scratch, sizeof scratch);
    if (strcmp(operation, "sub") == 0)
        return evc_bn_mod_sub(modulus, a->bytes, b->bytes, out, scratch, sizeof scratch);
    if (strcmp(operation, "mul") == 0)
        return evc_bn_mod_mul(modulus, a->bytes, b->bytes, out, scratch, sizeof scratch);
    if (strcmp(operation, "sqr") == 0)
        return evc_bn_mod_sqr(modulus, a->bytes, out, scratch, sizeof scratch);
    if (strcmp(operation, "reduce") == 0)
        return evc_bn_mod_reduce(modulus, b->bytes, b->n, out, scratch, sizeof scratch);
    if (strcmp(operation, "powers") == 0 || strcmp(operation, "powers_of_two") == 0) {
        *n_out = MANY * n->n;
        return powers(modulus, strcmp(operation, "powers") == 0 ? a->bytes : NULL, b);
    }
    if (strcmp(operation, "exp") == 0)
        return evc_bn_exp(modulus, a->bytes, b->bytes, b->n, out, scratch, sizeof scratch);
    if (strcmp(operation, "exp_small") == 0) {
        const uint32_t base = (uint32_t)a->bytes[0] << 24 | (uint32_t)a->bytes[1] << 16 |
                              (uint32_t)a->bytes[2] << 8 | a->bytes[3]; /* a has four bytes */
        return evc_bn_exp_small(modulus, base, b->bytes, b->n, out, scratch, sizeof scratch);
    }
    return evc_bn_exp_public(modulus, a->bytes, b->bytes, b->n, out, scratch, sizeof scratch);
}

int main(void)
{
    static char kernel_name[64], operation[64], hex[3][2 * MOST + 3];

    while (scanf("%63s %63s %2050s %2050s %2050s", kernel_name, operation, hex[0], hex[1],
                 hex[2]) == 5) {
        const struct evc_bn *kernel = evc_bn_named(kernel_name);
        enum evc_status status;
        size_t n_out;

        if (!evc_kernel_runs(evc_bn_kernel(kernel), evc_cpu_features() | EVC_CPU(CT_MUL))) {
            puts("not here");
            fflush(stdout); /* somebody waits for each answer */
            continue;
        }
        for (size_t i = 0; i < 3; i++)
            if (!read_number(&numbers[i], hex[i])) {
                fprintf(stderr, "no number of at most %u bytes: %s\n", (unsigned)MOST, hex[i]);
                return 2;
            }
        status = answer(kernel, operation, &n_out);
        if (status != EVC_OK) {
            puts(evc_status_text(status));
            continue;
        }
        for (size_t i = 0; i < n_out; i++)
            printf("%02x", out[i]);
        puts("");
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Answers questions about Diffie-Hellman, for dh_against_python.py. A line on stdin is KERNEL
 * GROUP QUESTION, then what the question needs. GROUP is a name, or P,Q,G in hexadecimal of whole
 * bytes, with "-" for no Q.
 *
 *     params           P of the group; secret_bytes
 *     public X         the value of the secret X
 *     table X BLOCKS   the same by a table of so many blocks
 *     shared X Y       what is shared with the peer whose value is Y
 *     ordered X Y      the same with EVC_DH_CHECK_ORDER
 *     check            whether the parameters are a group
 *     secret SEED      a secret
 *
 * The answer is a number in hexadecimal, or a status in words.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everycore/cpu.h"
#include "everycore/dh.h"

#define MOST EVC_BN_MAX_BYTES
#define LEAST_BITS 128 /* of these questions; programs ask for 2048 */

static uint8_t numbers[5][MOST];
static EVC_ALIGN(16) uint8_t memory[32768];
static EVC_ALIGN(16) uint8_t table[1u << 20];
static uint8_t scratch[1u << 20], out[MOST];

/* The number of bytes; exits if there are too many, or none. */
static uint32_t read_number(uint8_t *to, const char *hex, size_t n_digits)
{
    size_t n = n_digits / 2;

    for (size_t i = 0; i < n && i < MOST; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
            n = MOST + 1;
        to[i] = (uint8_t)byte;
    }
    if (n == 0 || n > MOST) {
        fprintf(stderr, "no number of 1 to %u bytes: %.40s\n", (unsigned)MOST, hex);
        exit(2);
    }
    return (uint32_t)n;
}

static const struct evc_dh_params *params_of(const char *text)
{
    static struct evc_dh_params given;
    const char *q = strchr(text, ','), *g = q ? strchr(q + 1, ',') : NULL;

    if (!g)
        return evc_dh_params_named(text);
    memset(&given, 0, sizeof given);
    given.p = numbers[0];
    given.p_bytes = read_number(numbers[0], text, (size_t)(q - text));
    if (q[1] != '-') {
        given.q = numbers[1];
        given.q_bytes = read_number(numbers[1], q + 1, (size_t)(g - q - 1));
    }
    given.g = numbers[2];
    given.g_bytes = read_number(numbers[2], g + 1, strlen(g + 1));
    return &given;
}

static int fill(void *context, uint8_t *to, size_t n_bytes)
{
    uint64_t *state = context;

    for (size_t i = 0; i < n_bytes; i++) { /* the upper bits of an LCG (Knuth, MMIX) */
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        to[i] = (uint8_t)(*state >> 56);
    }
    return 0;
}

static enum evc_status by_table(const struct evc_dh_group *group, const uint8_t *x, size_t n_blocks)
{
    const size_t bytes = evc_dh_table_bytes(group->kernel, 8 * (size_t)group->p_bytes, n_blocks);
    const enum evc_status status =
        evc_dh_set_table_in(table, bytes, group, n_blocks, scratch, sizeof scratch);

    return status != EVC_OK ? status
                            : evc_dh_public_by_table(group, (const void *)table, x, out, scratch,
                                                     sizeof scratch);
}

/* Sets n_out to the bytes of the result. */
static enum evc_status answer(const struct evc_bn *kernel, const struct evc_dh_params *params,
                              const char *question, const char *first, const char *second,
                              size_t *n_out)
{
    const struct evc_dh_group *group = (const void *)memory;
    const unsigned flags = strcmp(question, "ordered") == 0 ? EVC_DH_CHECK_ORDER : 0;
    enum evc_status status = evc_dh_set_group_in(memory, sizeof memory, kernel, params, LEAST_BITS);
    uint64_t seed;

    *n_out = params->p_bytes;
    if (status != EVC_OK)
        return status;
    if (strcmp(question, "params") == 0) {
        memcpy(out, params->p, params->p_bytes);
        return EVC_OK;
    }
    if (strcmp(question, "check") == 0) {
        *n_out = 0;
        return evc_dh_check_group(group, scratch, sizeof scratch);
    }
    if (strcmp(question, "secret") == 0) {
        const struct evc_random random = {fill, &seed};
        seed = strtoull(first, NULL, 10);
        *n_out = group->secret_bytes;
        return evc_dh_make_secret(group, &random, out);
    }
    if (read_number(numbers[3], first, strlen(first)) != group->secret_bytes) {
        fprintf(stderr, "secrets of this group have %u bytes\n", (unsigned)group->secret_bytes);
        exit(2);
    }
    if (strcmp(question, "table") == 0)
        return by_table(group, numbers[3], strtoul(second, NULL, 10));
    if (strcmp(question, "public") == 0)
        return evc_dh_public(group, numbers[3], out, scratch, sizeof scratch);
    return evc_dh_shared(group, numbers[3], numbers[4],
                         read_number(numbers[4], second, strlen(second)), flags, out, scratch,
                         sizeof scratch);
}

int main(void)
{
    static char line[8 * MOST], kernel_name[64], group[6 * MOST + 8], question[64],
        words[2][2 * MOST + 3];

    while (fgets(line, sizeof line, stdin)) {
        const int n = sscanf(line, "%63s %6151s %63s %2050s %2050s", kernel_name, group, question,
                             words[0], words[1]);
        const struct evc_bn *kernel = n >= 3 ? evc_bn_named(kernel_name) : NULL;
        const struct evc_dh_params *params = n >= 3 ? params_of(group) : NULL;
        enum evc_status status;
        size_t n_out;

        if (!evc_kernel_runs(evc_bn_kernel(kernel), evc_cpu_features() | EVC_CPU(CT_MUL))) {
            puts("not here");
            fflush(stdout); /* somebody waits for each answer */
            continue;
        }
        if (!params) {
            fprintf(stderr, "no group: %s\n", group);
            return 2;
        }
        status = answer(kernel, params, question, n >= 4 ? words[0] : "", n >= 5 ? words[1] : "",
                        &n_out);
        if (status == EVC_OK && n_out)
            for (size_t i = 0; i < n_out; i++)
                printf("%02x", out[i]);
        else
            printf("%s", evc_status_text(status));
        puts("");
        fflush(stdout); /* somebody may wait for each answer */
    }
    return 0;
}

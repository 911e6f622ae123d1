/* SPDX-License-Identifier: MIT */
/*
 * Products of operations of RSA, Diffie-Hellman and searches for primes: cost_operations [SEARCHES]
 *
 * They are counted by a kernel that counts, by the length of the modulus. A line of JSON for
 * each operation: squares and other products, by bits of the modulus. Of searches, the means of
 * SEARCHES runs, for the number of tests is random: `runs` and the standard error of all
 * products say how good they are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everycore/cpu.h"
#include "everycore/dh.h"
#include "everycore/rsa.h"

#define MOST_BITS 4096
#define MOST (MOST_BITS / 8)

static const uint8_t e65537[] = {1, 0, 1};
static uint64_t state = 1;
static EVC_ALIGN(64) uint8_t scratch[1 << 20], key[1 << 16];

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    (void)context;
    for (size_t i = 0; i < n_bytes; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out[i] = (uint8_t)(state >> 32);
    }
    return 0;
}

static const struct evc_random randomness = {fill, NULL};

static void must(enum evc_status status)
{
    if (status != EVC_OK) {
        fprintf(stderr, "cost_operations: an operation failed with status %d\n", (int)status);
        exit(1);
    }
}

/* ---- The kernel that counts ------------------------------------------------------------------ */

static const struct evc_bn *sound;
static struct evc_bn counting;
static unsigned long squares[MOST + 1], products[MOST + 1]; /* by bytes of the modulus */

static void counting_mul(const void *modulus, void *r, const void *a, const void *b, void *room)
{
    products[((const struct evc_bn_modulus *)modulus)->n_bytes]++;
    sound->mul(modulus, r, a, b, room);
}

static void counting_sqr(const void *modulus, void *r, const void *a, void *room)
{
    squares[((const struct evc_bn_modulus *)modulus)->n_bytes]++;
    sound->sqr(modulus, r, a, room);
}

static void make_kernel(void)
{
    sound = evc_bn_named("c_limb64");
    if (!sound)
        sound = evc_bn_named("c_limb32");
    counting = *sound;
    counting.mul = counting_mul;
    counting.sqr = counting_sqr;
}

static void count_from_0(void)
{
    memset(squares, 0, sizeof squares);
    memset(products, 0, sizeof products);
}

static void print(const char *name, unsigned bits, int runs, double error)
{
    const char *separator = "";

    printf("{\"operation\":\"%s\",\"bits\":%u,\"runs\":%d,", name, bits, runs);
    if (runs > 1)
        printf("\"standard_error\":%.3f,", error);
    printf("\"products\":{");
    for (size_t i = 0; i <= MOST; i++)
        if (squares[i] + products[i]) {
            printf("%s\"%zu\":[%.0f,%.0f]", separator, 8 * i, (double)squares[i] / runs,
                   (double)products[i] / runs);
            separator = ",";
        }
    printf("}}\n");
    fflush(stdout);
}

/* ---- Operations ------------------------------------------------------------------------------ */

static uint8_t memory[5 * MOST];
static struct evc_rsa_numbers numbers;

static struct evc_prime_search search_with(const struct evc_bn *kernel)
{
    return (struct evc_prime_search){
        kernel, evc_bn_words_select(evc_cpu_features(), EVC_ALLOW_VARTIME), randomness, NULL, NULL};
}

static void make_key(const struct evc_bn *kernel, unsigned bits)
{
    const struct evc_prime_search search = search_with(kernel);

    must(evc_rsa_generate(&search, bits, e65537, sizeof e65537, memory, sizeof memory, &numbers,
                          scratch, sizeof scratch));
}

static void rsa(unsigned bits)
{
    static uint8_t in[MOST], out[MOST];
    const struct evc_rsa_private *const private = (const void *)key;

    make_key(sound, bits);
    must(evc_rsa_set_private_in(key, sizeof key, &counting, &numbers, 0, scratch, sizeof scratch));
    fill(NULL, in, bits / 8);
    in[0] = 0;
    count_from_0();
    must(evc_rsa_private(private, in, out, &randomness, scratch, sizeof scratch));
    print("rsa-private", bits, 1, 0);
    count_from_0();
    must(evc_rsa_public(evc_rsa_public_of(private), in, out, scratch, sizeof scratch));
    print("rsa-public", bits, 1, 0);
}

static void exchange(unsigned bits)
{
    static uint8_t x[MOST], y[MOST];
    char name[16];

    snprintf(name, sizeof name, "ffdhe%u", bits);
    must(evc_dh_set_group_in(key, sizeof key, &counting, evc_dh_params_named(name), 0));
    must(evc_dh_make_secret((const void *)key, &randomness, x));
    count_from_0();
    must(evc_dh_public((const void *)key, x, y, scratch, sizeof scratch));
    print("dh-public", bits, 1, 0);
}

static void a_key(unsigned bits)
{
    make_key(&counting, bits);
}

static void a_safe_prime(unsigned bits)
{
    const struct evc_prime_search search = search_with(&counting);
    static uint8_t p[MOST];

    must(evc_prime_find_safe(&search, bits, p, scratch, sizeof scratch));
}

static unsigned long all_products(void)
{
    unsigned long sum = 0;

    for (size_t i = 0; i <= MOST; i++)
        sum += squares[i] + products[i];
    return sum;
}

static void searches(const char *name, void (*once)(unsigned), unsigned bits, int runs)
{
    double sum = 0, sum_of_squares = 0, before = 0;

    count_from_0();
    for (int i = 0; i < runs; i++) {
        double count;

        once(bits);
        count = (double)all_products() - before;
        before += count;
        sum += count;
        sum_of_squares += count * count;
    }
    sum /= runs;
    print(name, bits, runs, sqrt((sum_of_squares / runs - sum * sum) / runs) / sum);
}

int main(int argc, char **argv)
{
    const int runs = argc > 1 ? atoi(argv[1]) : 2;

    if (argc > 2 || runs < 2) {
        fprintf(stderr, "usage: cost_operations [SEARCHES], 2 or more\n");
        return 2;
    }
    make_kernel();
    for (unsigned bits = 2048; bits <= MOST_BITS; bits += 1024)
        rsa(bits);
    for (unsigned bits = 2048; bits <= MOST_BITS; bits += 1024)
        exchange(bits);
    searches("genrsa", a_key, 2048, runs);
    searches("safe-prime", a_safe_prime, 1024, runs);
    return 0;
}

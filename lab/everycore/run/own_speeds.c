/* SPDX-License-Identifier: MIT */
/*
 * The speed of this library's selected kernels: own_speeds [OPERATION...], as the probes of
 * other libraries measure it.
 *
 * One line of JSON for each operation: bytes, or operations, in a second of CPU time. Costs of a
 * call are taken away from operations on bytes, by the difference of two lengths. "gigahertz" is
 * the clock of the core, by the harness's chain of additions; 0 where this architecture has none.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "counters/counter.h"
#include "everycore/cpu.h"
#include "everycore/dh.h"
#include "everycore/gcm.h"
#include "everycore/modes.h"
#include "everycore/rsa.h"

#define SHORT_BYTES 4096u
#define LONG_BYTES 16384u
#define ROUNDS 5
#define ROUND_NS 40e6
#define RSA_BITS 2048
#define DH_BITS 2048
#define EXPONENT_BYTES 32
#define CHAIN_LINKS 4000000

static struct state {
    union evc_gcm_key gcm;
    union evc_aes_key cbc;
    struct evc_aes_xts_key xts;
    EVC_ALIGN(16) uint8_t text[LONG_BYTES], out[LONG_BYTES], tag[16], chain[16];
    const struct evc_rsa_private *rsa;
    const struct evc_bn_modulus *prime;
    void *scratch;
    size_t scratch_bytes;
    uint8_t number[RSA_BITS / 8], result[RSA_BITS / 8], exponent[EXPONENT_BYTES];
} s;

static void must(enum evc_status status)
{
    if (status == EVC_OK)
        return;
    fprintf(stderr, "own_speeds: status %d\n", (int)status);
    exit(2);
}

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    (void)context;
    return getrandom(out, n_bytes, 0) == (ssize_t)n_bytes ? 0 : 1;
}

static const struct evc_random randomness = {fill, NULL};

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *memory(size_t n_bytes)
{
    void *found = aligned_alloc(64, (n_bytes + 63) / 64 * 64);

    if (!found)
        exit(2);
    return found;
}

static void gcm(size_t n)
{
    static const uint8_t iv[12] = {1};

    must(evc_gcm_seal(&s.gcm, iv, sizeof iv, NULL, 0, s.text, s.out, n, s.tag, sizeof s.tag));
}

static void cbc(size_t n)
{
    must(evc_aes_cbc_encrypt(&s.cbc, s.chain, s.text, s.out, n));
}

static void xts(size_t n)
{
    must(evc_aes_xts_encrypt(&s.xts, s.chain, s.text, s.out, n));
}

static void rsa(size_t n)
{
    (void)n;
    must(evc_rsa_private(s.rsa, s.number, s.result, &randomness, s.scratch, s.scratch_bytes));
}

static void ffdh(size_t n)
{
    (void)n;
    must(evc_bn_exp(s.prime, s.number, s.exponent, sizeof s.exponent, s.result, s.scratch,
                    s.scratch_bytes));
}

static void prepare_ciphers(void)
{
    const uint64_t features = evc_cpu_features();
    uint8_t key[64];

    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)i;
    must(evc_gcm_set_best(&s.gcm, features, 0, key, 256));
    must(evc_aes_cbc_encrypt_set_best(&s.cbc, features, 0, key, 256));
    must(evc_aes_xts_set_best(&s.xts, features, 0, key, 256));
}

static void prepare_rsa(void)
{
    static const uint8_t e[] = {1, 0, 1};
    const struct evc_prime_search search = {
        .kernel = evc_bn_select_for(evc_cpu_features(), 0, EVC_USE_ANY, RSA_BITS / 2),
        .words = evc_bn_words_select(evc_cpu_features(), 0),
        .random = randomness};
    const size_t bytes = evc_rsa_numbers_bytes(RSA_BITS),
                 key_bytes = EVC_RSA_MOST_PRIVATE_BYTES(RSA_BITS);
    const size_t scratch_bytes = evc_rsa_generate_scratch_bytes(search.kernel, RSA_BITS);
    void *numbers = memory(bytes), *key = memory(key_bytes), *scratch = memory(scratch_bytes);
    struct evc_rsa_numbers k;

    s.scratch_bytes = EVC_RSA_MOST_SCRATCH_BYTES(RSA_BITS);
    s.scratch = memory(s.scratch_bytes);
    must(evc_rsa_generate(&search, RSA_BITS, e, sizeof e, numbers, bytes, &k, scratch,
                          scratch_bytes));
    must(evc_rsa_set_best_private_in(key, key_bytes, evc_cpu_features(), 0, &k, 0, s.scratch,
                                     s.scratch_bytes));
    free(scratch);
    s.rsa = key;
    memset(s.number, 0x5a, sizeof s.number);
}

/* A power of a secret exponent of 256 bits, modulo the prime of RFC 3526, group 14. */
static void prepare_ffdh(void)
{
    const struct evc_dh_params *params = evc_dh_params_named("modp2048");
    const size_t bytes = EVC_BN_MOST_MODULUS_BYTES(DH_BITS);
    void *prime = memory(bytes);

    s.scratch_bytes = EVC_BN_MOST_SCRATCH_BYTES(DH_BITS);
    s.scratch = memory(s.scratch_bytes);
    must(evc_bn_set_best_in(prime, bytes, evc_cpu_features(), 0, params->p, params->p_bytes));
    s.prime = prime;
    memset(s.number, 0x5a, sizeof s.number);
    memset(s.exponent, 0xa5, sizeof s.exponent);
}

/* Nanoseconds of a call in its best round. */
static double time_of(void (*once)(size_t), size_t n_bytes)
{
    double best = 1e18;

    for (int round = 0; round < ROUNDS; round++) {
        double began = now_ns(), spent;
        uint64_t calls = 0;

        do {
            once(n_bytes);
            calls++;
        } while ((spent = now_ns() - began) < ROUND_NS / ROUNDS);
        if (spent / (double)calls < best)
            best = spent / (double)calls;
    }
    return best;
}

static double gigahertz(void)
{
    double best = 0;

    for (int round = 0; round < ROUNDS; round++) {
        double began = now_ns(), spent;

        if (!add_chain(CHAIN_LINKS))
            return 0;
        spent = now_ns() - began;
        if (CHAIN_LINKS / spent > best)
            best = CHAIN_LINKS / spent;
    }
    return best;
}

static const struct {
    const char *name;
    void (*prepare)(void), (*once)(size_t);
    int per_byte;
} operations[] = {
    {"aes-256-gcm", prepare_ciphers, gcm, 1}, {"aes-256-cbc", prepare_ciphers, cbc, 1},
    {"aes-256-xts", prepare_ciphers, xts, 1}, {"rsa2048", prepare_rsa, rsa, 0},
    {"ffdh2048", prepare_ffdh, ffdh, 0},
};

int main(int argc, char **argv)
{
    printf("{\"gigahertz\": %.4f}\n", gigahertz());
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        int wanted = argc < 2;
        double rate;

        for (int k = 1; k < argc; k++)
            wanted |= !strcmp(argv[k], operations[i].name);
        if (!wanted)
            continue;
        operations[i].prepare();
        if (operations[i].per_byte) {
            double brief = time_of(operations[i].once, SHORT_BYTES),
                   all = time_of(operations[i].once, LONG_BYTES);

            rate = (LONG_BYTES - SHORT_BYTES) / (all - brief) * 1e9;
        } else
            rate = 1e9 / time_of(operations[i].once, 0);
        printf("{\"operation\": \"%s\", \"rate\": %.1f}\n", operations[i].name, rate);
        fflush(stdout);
    }
    return 0;
}

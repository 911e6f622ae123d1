/* SPDX-License-Identifier: MIT */
/*
 * New keys of RSA and parameters of Diffie-Hellman, with randomness of the operating system: lines
 * of how far the search is, then a line for each number.
 */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "everycore/cpu.h"
#include "everycore/rsa.h"

#include "emit.h"
#include "options.h"

#define LEAST_BITS 1024u
#define MOST_BITS 8192u
#define REPORT_EVERY_NS UINT64_C(200000000)

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    (void)context;
    return port_random(out, n_bytes) ? 0 : -1;
}

/* ---- How far --------------------------------------------------------------------------------- */

struct course {
    uint64_t last_ns;
    uint32_t tests;  /* of searches that are over */
    uint32_t before; /* of the search that runs */
    double expected;
};

static int report(void *context, const struct evc_prime_progress *progress)
{
    struct course *course = context;
    const uint64_t now = port_now_ns();

    if (progress->tests < course->before) /* the next prime */
        course->tests += course->before;
    course->before = progress->tests;
    if (now - course->last_ns < REPORT_EVERY_NS)
        return 0;
    course->last_ns = now;
    emit_begin("search");
    emit_unsigned("tests", (uint64_t)course->tests + progress->tests);
    emit_real("expected", course->expected);
    emit_end();
    return ferror(stdout) ? 1 : 0;
}

/* Tests until a prime of so many bits is found, by the chance of evc_prime_sieve_bound; of
 * a safe prime, of both. */
static double expected_tests(size_t bits, int is_safe)
{
    const double ln2 = 0.693147180559945; /* ln 2 */
    double ln_bound = 0, bound = evc_prime_sieve_bound(bits, is_safe), per_prime;

    for (; bound >= 2; bound /= 2)
        ln_bound += ln2;
    ln_bound += bound - 1;
    per_prime = ln2 * (double)bits / (1.781 * ln_bound);
    return is_safe ? per_prime * per_prime : per_prime;
}

/* ---- Commands -------------------------------------------------------------------------------- */

static size_t read_bits(int argc, char **argv, const char *what)
{
    uint64_t bits;

    if (argc != 1)
        usage_error("%s wants one argument, the number of bits", what);
    bits = option_number("bits", argv[0]);
    if (bits < LEAST_BITS || bits > MOST_BITS || bits % 16 != 0)
        usage_error("%s: bits are from %u to %u, a multiple of 16", what, LEAST_BITS, MOST_BITS);
    return (size_t)bits;
}

static void emit_bytes(const char *name, const uint8_t *bytes, size_t n_bytes)
{
    static char digits[2 * EVC_BN_MAX_BYTES + 1];

    for (size_t i = 0; i < n_bytes; i++)
        snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
    emit_begin("number");
    emit_text("name", name);
    emit_text("value", digits);
    emit_end();
    evc_wipe(digits, sizeof digits);
}

/* bits: of the primes. */
static struct evc_prime_search make_search(struct course *course, size_t bits)
{
    return (struct evc_prime_search){
        .kernel = evc_bn_select_for(evc_cpu_features(), 0, EVC_USE_ANY, bits),
        .words = evc_bn_words_select(evc_cpu_features(), 0),
        .random = {fill, NULL},
        .report = report,
        .report_context = course};
}

static int fail(const char *command, enum evc_status status)
{
    fprintf(stderr, "harness: %s: %s\n", command, evc_status_text(status));
    return 2;
}

static enum evc_status emit_key(const struct evc_bn *kernel, const struct evc_rsa_numbers *k,
                                void *key, size_t key_bytes, void *scratch, size_t scratch_bytes)
{
    const char *const names[] = {"n", "d", "p", "q", "dp", "dq", "qinv"};
    const uint8_t *const numbers[] = {k->n, k->d, k->p, k->q, k->dp, k->dq, k->qinv};
    const enum evc_status status =
        evc_rsa_set_private_in(key, key_bytes, kernel, k, LEAST_BITS, scratch, scratch_bytes);

    evc_wipe(key, key_bytes);
    for (size_t i = 0; status == EVC_OK && i < 7; i++)
        emit_bytes(names[i], numbers[i], i < 2 ? k->n_bytes : k->p_bytes);
    return status;
}

int genrsa_command(int argc, char **argv)
{
    static const uint8_t e[3] = {1, 0, 1};
    const size_t bits = read_bits(argc, argv, "genrsa");
    struct course course = {port_now_ns(), 0, 0, 2 * expected_tests(bits / 2, 0)};
    const struct evc_prime_search search = make_search(&course, bits / 2);
    const size_t key_bytes = (evc_rsa_private_bytes(search.kernel, bits) + 63) / 64 * 64;
    size_t scratch_bytes = evc_rsa_generate_scratch_bytes(search.kernel, bits);
    uint8_t numbers[5 * EVC_BN_MAX_BYTES];
    struct evc_rsa_numbers k;
    enum evc_status status = EVC_ERR_SCRATCH;
    void *key = port_alloc_64(key_bytes), *scratch;

    if (scratch_bytes < evc_rsa_scratch_bytes(search.kernel, bits))
        scratch_bytes = evc_rsa_scratch_bytes(search.kernel, bits);
    scratch = malloc(scratch_bytes);
    emit_harness_line("genrsa", NULL);
    if (key && scratch)
        status = evc_rsa_generate(&search, bits, e, sizeof e, numbers, sizeof numbers, &k, scratch,
                                  scratch_bytes);
    if (status == EVC_OK)
        status = emit_key(search.kernel, &k, key, key_bytes, scratch, scratch_bytes);
    evc_wipe(numbers, sizeof numbers);
    port_free_64(key);
    free(scratch);
    return status == EVC_OK ? 0 : fail("genrsa", status);
}

int dhparam_command(int argc, char **argv)
{
    const size_t bits = read_bits(argc, argv, "dhparam");
    struct course course = {port_now_ns(), 0, 0, expected_tests(bits, 1)};
    const struct evc_prime_search search = make_search(&course, bits);
    const size_t scratch_bytes = evc_prime_safe_scratch_bytes(search.kernel, bits);
    uint8_t p[EVC_BN_MAX_BYTES];
    void *scratch = malloc(scratch_bytes);
    enum evc_status status = EVC_ERR_SCRATCH;

    emit_harness_line("dhparam", NULL);
    if (scratch)
        status = evc_prime_find_safe(&search, bits, p, scratch, scratch_bytes);
    if (status == EVC_OK)
        emit_bytes("p", p, bits / 8);
    free(scratch);
    return status == EVC_OK ? 0 : fail("dhparam", status);
}

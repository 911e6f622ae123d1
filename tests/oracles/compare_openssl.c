/* SPDX-License-Identifier: MIT */
/*
 * RSA, powers and primes beside those of OpenSSL, in one process and in turn:
 * compare_openssl LIBCRYPTO TASK...
 *
 * LIBCRYPTO: the file of the library, 3.0 or later, or a name that the loader finds. A TASK is
 *
 *     sign BITS KERNEL ROUNDS      private operations: one at a time, and eight side by side
 *     verify BITS KERNEL ROUNDS    public operations
 *     power BITS KERNEL ROUNDS     powers with a secret exponent as long as the modulus:
 *                                  one, and eight side by side
 *     table BITS KERNEL ROUNDS     public values of Diffie-Hellman: by evc_dh_public, by
 *                                  tables of 1, 4 and 16 blocks
 *     genrsa BITS KERNEL RUNS      new keys
 *     dhparam BITS KERNEL RUNS     safe primes, 23 modulo 24
 *
 * Results are compared before anything is timed. Of ROUNDS rounds the fastest counts; of
 * RUNS runs the mean does, for the number of tests of a search is random. RUNS,OTHERS has
 * OpenSSL run OTHERS times. One line a task, of processor time: microseconds for one
 * operation, or seconds for a search.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "everycore/cpu.h"
#include "everycore/dh.h"
#include "everycore/rsa.h"

#define MOST EVC_BN_MAX_BYTES
#define SIDE_BY_SIDE 8
#define NO_PADDING 3 /* RSA_NO_PADDING */

static void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr,
                "compare_openssl: no memory, or the library could not do what it was asked\n");
        exit(2);
    }
    return memory;
}

static void must(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "compare_openssl: %s failed\n", what);
        exit(2);
    }
}

/* Seconds of processor time: other programs may run in between. */
static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- The other library ----------------------------------------------------------------------- */

/* Its functions that are used here; headers of another version may lie on this machine. */
static struct {
    const char *(*version)(int);
    void *(*bn_new)(void);
    void (*bn_free)(void *);
    void *(*bn_ctx_new)(void);
    void *(*bin2bn)(const unsigned char *, int, void *);
    int (*bn2binpad)(const void *, unsigned char *, int);
    int (*set_word)(void *, unsigned long);
    void *(*mont_new)(void);
    int (*mont_set)(void *, const void *, void *);
    int (*mod_exp)(void *, const void *, const void *, const void *, void *, void *);
    int (*generate_prime)(void *, int, int, const void *, const void *, void *);
    void *(*callback_new)(void);
    void (*callback_set)(void *, int (*)(int, int, void *), void *);
    void *(*callback_arg)(void *);
    void *(*keygen)(void *, const char *, const char *, ...);
    void (*pkey_free)(void *);
    int (*get_bn)(const void *, const char *, void **);
    void *(*ctx_new)(void *, void *);
    int (*sign_init)(void *);
    int (*sign)(void *, unsigned char *, size_t *, const unsigned char *, size_t);
    int (*encrypt_init)(void *);
    int (*encrypt)(void *, unsigned char *, size_t *, const unsigned char *, size_t);
    int (*set_padding)(void *, int);
} openssl;

static void load(const char *file)
{
    static const struct {
        const char *name;
        void *to;
    } functions[] = {
        {"OpenSSL_version", &openssl.version},
        {"BN_new", &openssl.bn_new},
        {"BN_free", &openssl.bn_free},
        {"BN_CTX_new", &openssl.bn_ctx_new},
        {"BN_bin2bn", &openssl.bin2bn},
        {"BN_bn2binpad", &openssl.bn2binpad},
        {"BN_set_word", &openssl.set_word},
        {"BN_MONT_CTX_new", &openssl.mont_new},
        {"BN_MONT_CTX_set", &openssl.mont_set},
        {"BN_mod_exp_mont_consttime", &openssl.mod_exp},
        {"BN_generate_prime_ex", &openssl.generate_prime},
        {"BN_GENCB_new", &openssl.callback_new},
        {"BN_GENCB_set", &openssl.callback_set},
        {"BN_GENCB_get_arg", &openssl.callback_arg},
        {"EVP_PKEY_Q_keygen", &openssl.keygen},
        {"EVP_PKEY_free", &openssl.pkey_free},
        {"EVP_PKEY_get_bn_param", &openssl.get_bn},
        {"EVP_PKEY_CTX_new", &openssl.ctx_new},
        {"EVP_PKEY_sign_init", &openssl.sign_init},
        {"EVP_PKEY_sign", &openssl.sign},
        {"EVP_PKEY_encrypt_init", &openssl.encrypt_init},
        {"EVP_PKEY_encrypt", &openssl.encrypt},
        {"EVP_PKEY_CTX_set_rsa_padding", &openssl.set_padding},
    };
    void *const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        fprintf(stderr, "compare_openssl: %s\n", dlerror());
        exit(2);
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *const function = dlsym(library, functions[i].name);
        if (!function) {
            fprintf(stderr, "compare_openssl: %s has no %s: OpenSSL 3.0 or later is wanted\n", file,
                    functions[i].name);
            exit(2);
        }
        memcpy(functions[i].to, &function, sizeof function);
    }
}

/* ---- A task ---------------------------------------------------------------------------------- */

struct task {
    size_t bits, bytes;
    const struct evc_bn *kernel;
    int rounds, other_rounds;
};

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    (void)context;
    return getrandom(out, n_bytes, 0) == (ssize_t)n_bytes ? 0 : -1;
}

static const struct evc_random randomness = {fill, NULL};

static void *allocate(size_t n_bytes)
{
    must(n_bytes != 0, "the length");
    return need(aligned_alloc(64, (n_bytes + 63) / 64 * 64));
}

static void keep_least(double *least, double seconds)
{
    if (seconds < *least)
        *least = seconds;
}

static void print(const struct task *t, const char *name, double ours, double of_eight,
                  double theirs)
{
    printf("{\"type\":\"peer-time\",\"task\":\"%s\",\"bits\":%zu,\"kernel\":\"%s\",\"peer\":\"%s\","
           "\"rounds\":%d,"
           "\"us\":%.2f,",
           name, t->bits, evc_bn_kernel(t->kernel)->name, openssl.version(0), t->rounds,
           1e6 * ours);
    if (of_eight > 0)
        printf("\"us_of_eight\":%.2f,\"peer_over_eight\":%.2f,", 1e6 * of_eight, theirs / of_eight);
    printf("\"peer_us\":%.2f,\"peer_over_ours\":%.2f}\n", 1e6 * theirs, theirs / ours);
    fflush(stdout);
}

/* ---- Keys of RSA ----------------------------------------------------------------------------- */

struct rsa {
    void *pkey, *sign, *encrypt;
    struct evc_rsa_private *key;
    uint8_t in[SIDE_BY_SIDE][MOST], out[SIDE_BY_SIDE][MOST], theirs[MOST];
    void *scratch;
    size_t scratch_bytes;
};

static void export_number(void *pkey, const char *name, uint8_t *to, size_t n_bytes)
{
    void *bn = NULL;

    must(openssl.get_bn(pkey, name, &bn) == 1 &&
             openssl.bn2binpad(bn, to, (int)n_bytes) == (int)n_bytes,
         name);
    openssl.bn_free(bn);
}

/* A key of the other library for both. */
static struct rsa *make_rsa(const struct task *t)
{
    static uint8_t n[MOST], d[MOST], parts[5][MOST / 2];
    static const uint8_t e[3] = {1, 0, 1};
    static const char *const names[] = {"rsa-factor1", "rsa-factor2", "rsa-exponent1",
                                        "rsa-exponent2", "rsa-coefficient1"};
    struct rsa *const r = allocate(sizeof *r);
    const size_t key_bytes = evc_rsa_private_bytes(t->kernel, t->bits), half = t->bytes / 2;
    const struct evc_rsa_numbers numbers = {.n = n,
                                            .d = d,
                                            .e = e,
                                            .p = parts[0],
                                            .q = parts[1],
                                            .dp = parts[2],
                                            .dq = parts[3],
                                            .qinv = parts[4],
                                            .n_bytes = (uint32_t)t->bytes,
                                            .e_bytes = sizeof e,
                                            .p_bytes = (uint32_t)half};

    r->pkey = need(openssl.keygen(NULL, NULL, "RSA", t->bits));
    export_number(r->pkey, "n", n, t->bytes);
    export_number(r->pkey, "d", d, t->bytes);
    for (size_t i = 0; i < 5; i++)
        export_number(r->pkey, names[i], parts[i], half);
    r->sign = need(openssl.ctx_new(r->pkey, NULL));
    r->encrypt = need(openssl.ctx_new(r->pkey, NULL));
    must(openssl.sign_init(r->sign) == 1 && openssl.set_padding(r->sign, NO_PADDING) == 1,
         "EVP_PKEY_sign_init");
    must(openssl.encrypt_init(r->encrypt) == 1 && openssl.set_padding(r->encrypt, NO_PADDING) == 1,
         "EVP_PKEY_encrypt_init");
    r->scratch_bytes = evc_rsa_many_scratch_bytes(t->kernel, t->bits);
    r->scratch = allocate(r->scratch_bytes);
    r->key = allocate(key_bytes);
    must(evc_rsa_set_private_in(r->key, key_bytes, t->kernel, &numbers, 0, r->scratch,
                                r->scratch_bytes) == EVC_OK,
         "evc_rsa_set_private_in");
    for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
        must(fill(NULL, r->in[i], t->bytes / 2) == 0, "getrandom");
        r->in[i][0] = 0;
    }
    return r;
}

static void ours_one(const struct task *t, struct rsa *r)
{
    (void)t;
    must(evc_rsa_private(r->key, r->in[0], r->out[0], &randomness, r->scratch, r->scratch_bytes) ==
             EVC_OK,
         "evc_rsa_private");
}

static void ours_many(const struct task *t, struct rsa *r)
{
    struct evc_rsa_operation o[SIDE_BY_SIDE];

    (void)t;
    for (size_t i = 0; i < SIDE_BY_SIDE; i++)
        o[i] = (struct evc_rsa_operation){.key = r->key, .in = r->in[i], .out = r->out[i]};
    must(evc_rsa_private_many(o, SIDE_BY_SIDE, &randomness, r->scratch, r->scratch_bytes) == EVC_OK,
         "evc_rsa_private_many");
}

static void theirs_private(const struct task *t, struct rsa *r, size_t i)
{
    size_t n_bytes = t->bytes;

    must(openssl.sign(r->sign, r->theirs, &n_bytes, r->in[i], t->bytes) == 1, "EVP_PKEY_sign");
}

static void ours_public(const struct task *t, struct rsa *r)
{
    (void)t;
    must(evc_rsa_public(evc_rsa_public_of(r->key), r->in[0], r->out[0], r->scratch,
                        r->scratch_bytes) == EVC_OK,
         "evc_rsa_public");
}

static void theirs_public(const struct task *t, struct rsa *r)
{
    size_t n_bytes = t->bytes;

    must(openssl.encrypt(r->encrypt, r->theirs, &n_bytes, r->in[0], t->bytes) == 1,
         "EVP_PKEY_encrypt");
}

static void sign(const struct task *t)
{
    struct rsa *const r = make_rsa(t);
    double ours = 1e9, eight = 1e9, theirs = 1e9;

    for (int many = 0; many < 2; many++) {
        (many ? ours_many : ours_one)(t, r);
        for (size_t i = 0; i < (many ? SIDE_BY_SIDE : 1); i++) {
            theirs_private(t, r, i);
            must(memcmp(r->theirs, r->out[i], t->bytes) == 0, "the comparison of signatures");
        }
    }
    for (int i = 0; i < t->rounds; i++) {
        double begin = now();

        ours_one(t, r);
        keep_least(&ours, now() - begin);
        begin = now();
        theirs_private(t, r, 0);
        keep_least(&theirs, now() - begin);
        begin = now();
        ours_many(t, r);
        keep_least(&eight, (now() - begin) / SIDE_BY_SIDE);
    }
    print(t, "sign", ours, eight, theirs);
}

#define PUBLIC_CALLS 16 /* timed together */

static void verify(const struct task *t)
{
    struct rsa *const r = make_rsa(t);
    double ours = 1e9, theirs = 1e9;

    ours_public(t, r);
    theirs_public(t, r);
    must(memcmp(r->theirs, r->out[0], t->bytes) == 0, "the comparison of public operations");
    for (int i = 0; i < t->rounds; i++) {
        double begin = now();

        for (int j = 0; j < PUBLIC_CALLS; j++)
            ours_public(t, r);
        keep_least(&ours, (now() - begin) / PUBLIC_CALLS);
        begin = now();
        for (int j = 0; j < PUBLIC_CALLS; j++)
            theirs_public(t, r);
        keep_least(&theirs, (now() - begin) / PUBLIC_CALLS);
    }
    print(t, "verify", ours, 0, theirs);
}

/* ---- Powers ---------------------------------------------------------------------------------- */

static void power(const struct task *t)
{
    char name[16];
    const struct evc_dh_params *params;
    const size_t modulus_bytes = evc_bn_modulus_bytes(t->kernel, t->bits);
    const size_t scratch_bytes = evc_bn_exp_many_scratch_bytes(t->kernel, t->bits);
    void *const modulus = allocate(modulus_bytes), *const scratch = allocate(scratch_bytes);
    static uint8_t base[MOST], exponent[MOST], out[SIDE_BY_SIDE][MOST], expected[MOST];
    struct evc_bn_exp exps[SIDE_BY_SIDE];
    void *const ctx = need(openssl.bn_ctx_new()), *const mont = need(openssl.mont_new()), *n, *a,
                *x;
    void *const y = need(openssl.bn_new());
    double ours = 1e9, eight = 1e9, theirs = 1e9;

    snprintf(name, sizeof name, "modp%zu", t->bits);
    params = need((void *)(uintptr_t)evc_dh_params_named(name));
    must(fill(NULL, base, t->bytes / 2) == 0 && fill(NULL, exponent, t->bytes / 2) == 0 &&
             fill(NULL, base + t->bytes / 2, t->bytes / 2) == 0 &&
             fill(NULL, exponent + t->bytes / 2, t->bytes / 2) == 0,
         "getrandom");
    base[0] = 0x3f;
    exponent[0] |= 0x80;
    must(evc_bn_set_modulus_in(modulus, modulus_bytes, t->kernel, params->p, t->bytes) == EVC_OK,
         "the modulus");
    n = need(openssl.bin2bn(params->p, (int)t->bytes, NULL));
    a = need(openssl.bin2bn(base, (int)t->bytes, NULL));
    x = need(openssl.bin2bn(exponent, (int)t->bytes, NULL));
    must(openssl.mont_set(mont, n, ctx) == 1, "BN_MONT_CTX_set");
    for (size_t i = 0; i < SIDE_BY_SIDE; i++)
        exps[i] = (struct evc_bn_exp){modulus, base, exponent, out[i], t->bytes, EVC_OK};
    for (int i = 0; i < t->rounds; i++) {
        double begin = now();

        must(evc_bn_exp(modulus, base, exponent, t->bytes, out[0], scratch, scratch_bytes) ==
                 EVC_OK,
             "evc_bn_exp");
        keep_least(&ours, now() - begin);
        begin = now();
        must(openssl.mod_exp(y, a, x, n, ctx, mont) == 1, "BN_mod_exp_mont_consttime");
        keep_least(&theirs, now() - begin);
        must(openssl.bn2binpad(y, expected, (int)t->bytes) == (int)t->bytes &&
                 memcmp(expected, out[0], t->bytes) == 0,
             "the comparison of powers");
        begin = now();
        must(evc_bn_exp_many(exps, SIDE_BY_SIDE, scratch, scratch_bytes) == EVC_OK,
             "evc_bn_exp_many");
        keep_least(&eight, (now() - begin) / SIDE_BY_SIDE);
        must(memcmp(expected, out[SIDE_BY_SIDE - 1], t->bytes) == 0,
             "the comparison of powers side by side");
    }
    print(t, "power", ours, eight, theirs);
}

/* ---- Tables of Diffie-Hellman ---------------------------------------------------------------- */

static const size_t table_blocks[] = {1, 4, 16};

#define N_TABLES (sizeof table_blocks / sizeof table_blocks[0])

/* The group of RFC 7919, which has short secrets. The other library raises the
 * generator to the same secret. */
struct exchange {
    struct evc_dh_group *group;
    struct evc_dh_table *tables[N_TABLES];
    size_t table_bytes[N_TABLES], scratch_bytes;
    void *scratch;
    double set_up[N_TABLES], by_table[N_TABLES];
    uint8_t x[MOST], y[MOST], expected[MOST];
};

static struct exchange *make_exchange(const struct task *t, const struct evc_dh_params *params)
{
    struct exchange *const e = allocate(sizeof *e);
    const size_t group_bytes = evc_dh_group_bytes(t->kernel, t->bits);

    e->group = allocate(group_bytes);
    e->scratch_bytes = evc_dh_scratch_bytes(t->kernel, t->bits);
    e->scratch = allocate(e->scratch_bytes);
    must(evc_dh_set_group_in(e->group, group_bytes, t->kernel, params, 0) == EVC_OK,
         "evc_dh_set_group_in");
    must(evc_dh_make_secret(e->group, &randomness, e->x) == EVC_OK, "evc_dh_make_secret");
    for (size_t i = 0; i < N_TABLES; i++) {
        e->table_bytes[i] = evc_dh_table_bytes(t->kernel, t->bits, table_blocks[i]);
        e->tables[i] = allocate(e->table_bytes[i]);
        e->set_up[i] = e->by_table[i] = 1e9;
    }
    return e;
}

static void time_tables(struct exchange *e)
{
    for (size_t i = 0; i < N_TABLES; i++) {
        double begin = now();

        must(evc_dh_set_table_in(e->tables[i], e->table_bytes[i], e->group, table_blocks[i],
                                 e->scratch, e->scratch_bytes) == EVC_OK,
             "evc_dh_set_table_in");
        keep_least(&e->set_up[i], now() - begin);
        begin = now();
        must(evc_dh_public_by_table(e->group, e->tables[i], e->x, e->y, e->scratch,
                                    e->scratch_bytes) == EVC_OK,
             "evc_dh_public_by_table");
        keep_least(&e->by_table[i], now() - begin);
        must(memcmp(e->y, e->expected, e->group->p_bytes) == 0,
             "the comparison of values by a table");
    }
}

static void table(const struct task *t)
{
    char name[16];
    const struct evc_dh_params *params;
    void *const ctx = need(openssl.bn_ctx_new()), *const mont = need(openssl.mont_new()), *n, *g,
                *x;
    void *const y = need(openssl.bn_new());
    struct exchange *e;
    double ours = 1e9, theirs = 1e9;

    snprintf(name, sizeof name, "ffdhe%zu", t->bits);
    params = need((void *)(uintptr_t)evc_dh_params_named(name));
    e = make_exchange(t, params);
    n = need(openssl.bin2bn(params->p, (int)t->bytes, NULL));
    g = need(openssl.bn_new());
    x = need(openssl.bin2bn(e->x, (int)e->group->secret_bytes, NULL));
    must(openssl.set_word(g, 2) == 1 && openssl.mont_set(mont, n, ctx) == 1, "BN_MONT_CTX_set");
    for (int i = 0; i < t->rounds; i++) {
        double begin = now();

        must(evc_dh_public(e->group, e->x, e->y, e->scratch, e->scratch_bytes) == EVC_OK,
             "evc_dh_public");
        keep_least(&ours, now() - begin);
        begin = now();
        must(openssl.mod_exp(y, g, x, n, ctx, mont) == 1, "BN_mod_exp_mont_consttime");
        keep_least(&theirs, now() - begin);
        must(openssl.bn2binpad(y, e->expected, (int)t->bytes) == (int)t->bytes &&
                 memcmp(e->expected, e->y, t->bytes) == 0,
             "the comparison of public values");
        time_tables(e);
    }
    for (size_t i = 0; i < N_TABLES; i++)
        printf("{\"type\":\"dh-table\",\"bits\":%zu,\"kernel\":\"%s\",\"rounds\":%d,\"blocks\":%zu,"
               "\"bytes\":%zu,"
               "\"us\":%.2f,\"set_up_us\":%.2f}\n",
               t->bits, evc_bn_kernel(t->kernel)->name, t->rounds, table_blocks[i],
               e->table_bytes[i], 1e6 * e->by_table[i], 1e6 * e->set_up[i]);
    print(t, "dh-public", ours, 0, theirs);
}

/* ---- Searches -------------------------------------------------------------------------------- */

/* Sums over runs, of seconds and of tests. */
struct runs {
    int n;
    double seconds, squares, tests;
};

static void add_run(struct runs *runs, double seconds)
{
    runs->n++;
    runs->seconds += seconds;
    runs->squares += seconds * seconds;
}

static double mean(const struct runs *runs)
{
    return runs->seconds / runs->n;
}

static double error_of_mean(const struct runs *runs)
{
    return sqrt((runs->squares / runs->n - mean(runs) * mean(runs)) / runs->n);
}

static int note(void *context, const struct evc_prime_progress *progress)
{
    *(struct evc_prime_progress *)context = *progress;
    return 0;
}

/* Called by the other library for each candidate that its sieve has left (0), and
 * later for tests of it. */
static int count_candidate(int what, int number, void *callback)
{
    (void)number;
    if (what == 0)
        ++*(double *)openssl.callback_arg(callback);
    return 1;
}

static void print_runs(const struct task *t, const char *name, const struct runs *ours,
                       const struct runs *theirs, double expected)
{
    printf("{\"type\":\"peer-search\",\"task\":\"%s\",\"bits\":%zu,\"kernel\":\"%s\","
           "\"peer\":\"%s\",\"runs\":%d,"
           "\"seconds\":%.5f,\"standard_error\":%.5f,",
           name, t->bits, evc_bn_kernel(t->kernel)->name, openssl.version(0), ours->n, mean(ours),
           error_of_mean(ours));
    if (expected > 0)
        printf("\"tests\":%.1f,\"expected_tests\":%.1f,", ours->tests / ours->n, expected);
    if (theirs->tests > 0)
        printf("\"peer_candidates\":%.1f,", theirs->tests / theirs->n);
    if (theirs->n)
        printf("\"peer_runs\":%d,\"peer_seconds\":%.5f,\"peer_standard_error\":%.5f,"
               "\"peer_over_ours\":%.2f}\n",
               theirs->n, mean(theirs), error_of_mean(theirs), mean(theirs) / mean(ours));
    else
        printf("\"peer_runs\":0}\n");
    fflush(stdout);
}

/* Tests to base 2 until a safe prime is found, by Mertens' theorem. */
static double expected_tests(size_t bits)
{
    const double chance = 1.781 * log(evc_prime_sieve_bound(bits, 1)) / ((double)bits * log(2));

    return 1 / (chance * chance);
}

static struct evc_prime_search search_with(const struct task *t,
                                           struct evc_prime_progress *progress)
{
    return (struct evc_prime_search){t->kernel, evc_bn_words_select(evc_cpu_features(), 0),
                                     randomness, note, progress};
}

static void genrsa(const struct task *t)
{
    static uint8_t memory[5 * MOST];
    static const uint8_t e[3] = {1, 0, 1};
    struct evc_prime_progress progress = {0, 0, 0, 0};
    const struct evc_prime_search search = search_with(t, &progress);
    const size_t scratch_bytes = evc_rsa_generate_scratch_bytes(t->kernel, t->bits);
    void *const scratch = allocate(scratch_bytes);
    struct runs ours = {0}, theirs = {0};
    struct evc_rsa_numbers numbers;

    for (int i = 0; i < t->rounds || i < t->other_rounds; i++) {
        double begin = now();

        if (i < t->rounds) {
            must(evc_rsa_generate(&search, t->bits, e, sizeof e, memory, sizeof memory, &numbers,
                                  scratch, scratch_bytes) == EVC_OK,
                 "evc_rsa_generate");
            add_run(&ours, now() - begin);
        }
        if (i < t->other_rounds) {
            begin = now();
            openssl.pkey_free(need(openssl.keygen(NULL, NULL, "RSA", t->bits)));
            add_run(&theirs, now() - begin);
        }
    }
    print_runs(t, "genrsa", &ours, &theirs, 0);
}

static void dhparam(const struct task *t)
{
    static uint8_t p[MOST];
    struct evc_prime_progress progress = {0, 0, 0, 0};
    const struct evc_prime_search search = search_with(t, &progress);
    const size_t scratch_bytes = evc_prime_safe_scratch_bytes(t->kernel, t->bits);
    void *const scratch = allocate(scratch_bytes), *const found = need(openssl.bn_new());
    void *const add = need(openssl.bn_new()), *const rest = need(openssl.bn_new());
    void *const callback = need(openssl.callback_new());
    struct runs ours = {0}, theirs = {0};

    openssl.callback_set(callback, count_candidate, &theirs.tests);
    must(openssl.set_word(add, 24) && openssl.set_word(rest, 23), "BN_set_word");
    for (int i = 0; i < t->rounds || i < t->other_rounds; i++) {
        double begin = now();

        if (i < t->rounds) {
            must(evc_prime_find_safe(&search, t->bits, p, scratch, scratch_bytes) == EVC_OK,
                 "evc_prime_find_safe");
            add_run(&ours, now() - begin);
            ours.tests += progress.tests;
        }
        if (i < t->other_rounds) {
            begin = now();
            must(openssl.generate_prime(found, (int)t->bits, 1, add, rest, callback) == 1,
                 "BN_generate_prime_ex");
            add_run(&theirs, now() - begin);
        }
    }
    print_runs(t, "dhparam", &ours, &theirs, expected_tests(t->bits));
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static int usage(void)
{
    fprintf(stderr,
            "usage: compare_openssl LIBCRYPTO (sign|verify|power|table|genrsa|dhparam) BITS KERNEL "
            "ROUNDS[,OTHERS] ...\n");
    return 2;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const struct task *);
    } tasks[] = {{"sign", sign},   {"verify", verify}, {"power", power},
                 {"table", table}, {"genrsa", genrsa}, {"dhparam", dhparam}};

    if (argc < 6 || argc % 4 != 2)
        return usage();
    load(argv[1]);
    for (char **at = argv + 2; at < argv + argc; at += 4) {
        const unsigned long bits = strtoul(at[1], NULL, 10);
        const char *comma = strchr(at[3], ',');
        struct task t = {
            .bits = bits, .bytes = bits / 8, .kernel = evc_bn_named(at[2]), .rounds = atoi(at[3])};
        int is_known = 0;

        t.other_rounds = comma ? atoi(comma + 1) : t.rounds;
        if (!evc_kernel_runs(evc_bn_kernel(t.kernel), evc_cpu_features() | EVC_CPU(CT_MUL))) {
            fprintf(stderr, "compare_openssl: no kernel %s of bn runs here\n", at[2]);
            return 2;
        }
        if (bits < 1024 || bits > 8192 || bits % 16 != 0 || t.rounds < 1)
            return usage();
        for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++)
            if (strcmp(at[0], tasks[i].name) == 0) {
                tasks[i].run(&t);
                is_known = 1;
            }
        if (!is_known)
            return usage();
    }
    return 0;
}

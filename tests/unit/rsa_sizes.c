/* SPDX-License-Identifier: MIT */
/*
 * Keys of RSA of many lengths, with two exponents: private operations one at a time and in
 * batches, with buffers and scratch memory that end at a page that is not there, in place, and
 * with randomness that fails in the middle. Lengths are those of keys whose primes begin or end a
 * shape of a kernel with lanes.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "everycore/rsa.h"

#include "tap.h"

#define MOST_BYTES 528
#define MOST_OPERATIONS 9
#define REFUSED 3 /* the operation of a batch whose input is 0 */

static const struct evc_bn *kernel;

/* Xorshift of 64 bits; after `calls_left` calls it fails, unless that is negative. */
static int calls_left = -1;

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    static uint64_t state = 0x123456789abcdef;

    (void)context;
    if (calls_left == 0)
        return -1;
    calls_left -= calls_left > 0;
    for (size_t i = 0; i < n_bytes; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out[i] = (uint8_t)(state >> 24);
    }
    return 0;
}

static const struct evc_random randomness = {fill, NULL};

/* ---- Memory that ends at a page that is not there -------------------------------------------- */

struct guarded {
    uint8_t *pages, *at;
    size_t pages_bytes;
};

static struct guarded guard(size_t n_bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), used = (n_bytes + page - 1) / page * page;
    struct guarded g = {.pages_bytes = used + page};

    g.pages = mmap(NULL, g.pages_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g.pages == MAP_FAILED || mprotect(g.pages + used, page, PROT_NONE) != 0) {
        perror("rsa_sizes: mmap");
        exit(2);
    }
    g.at = g.pages + used - n_bytes;
    return g;
}

static void unguard(struct guarded g)
{
    munmap(g.pages, g.pages_bytes);
}

static int all_zeros(const uint8_t *a, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        if (a[i])
            return 0;
    return 1;
}

/* ---- A key ----------------------------------------------------------------------------------- */

struct keys {
    size_t n_bits, n_bytes, scratch_bytes, many_bytes;
    struct guarded key, scratch, many, in, out;
};

static const struct evc_rsa_private *private_key(const struct keys *k)
{
    return (const void *)k->key.at;
}

static int make_key(struct keys *k, size_t n_bits, const uint8_t *e, size_t e_bytes)
{
    static uint8_t memory[5 * MOST_BYTES];
    const struct evc_prime_search search = {kernel, evc_bn_words_select(evc_cpu_features(), 0),
                                            randomness, NULL, NULL};
    const size_t room_bytes = evc_rsa_generate_scratch_bytes(kernel, n_bits);
    const size_t key_bytes = evc_rsa_private_bytes(kernel, n_bits);
    const struct guarded room = guard(room_bytes);
    struct evc_rsa_numbers numbers;
    enum evc_status status = evc_rsa_generate(&search, n_bits, e, e_bytes, memory, sizeof memory,
                                              &numbers, room.at, room_bytes);

    EXPECT(status == EVC_OK);
    EXPECT(all_zeros(room.at, room_bytes));
    unguard(room);
    k->n_bits = n_bits;
    k->n_bytes = n_bits / 8;
    k->scratch_bytes = evc_rsa_scratch_bytes(kernel, n_bits);
    k->many_bytes = evc_rsa_many_scratch_bytes(kernel, n_bits);
    k->key = guard((key_bytes + 15) / 16 * 16); /* keys are aligned */
    k->scratch = guard(k->scratch_bytes);
    k->many = guard(k->many_bytes);
    k->in = guard(k->n_bytes);
    k->out = guard(k->n_bytes);
    if (status == EVC_OK)
        status = evc_rsa_set_private_in(k->key.at, key_bytes, kernel, &numbers, n_bits,
                                        k->scratch.at, k->scratch_bytes);
    EXPECT(status == EVC_OK);
    return status == EVC_OK;
}

static void free_key(struct keys *k)
{
    unguard(k->key);
    unguard(k->scratch);
    unguard(k->many);
    unguard(k->in);
    unguard(k->out);
}

static int is_undone(const struct keys *k, const uint8_t *signature, const uint8_t *in)
{
    return evc_rsa_public(evc_rsa_public_of(private_key(k)), signature, k->out.at, k->scratch.at,
                          k->scratch_bytes) == EVC_OK &&
           memcmp(k->out.at, in, k->n_bytes) == 0;
}

/* ---- Operations ------------------------------------------------------------------------------ */

static void sign_one(const struct keys *k)
{
    uint8_t in[MOST_BYTES];

    fill(NULL, in, k->n_bytes);
    in[0] = 0; /* below n */
    memcpy(k->in.at, in, k->n_bytes);
    EXPECT(evc_rsa_private(private_key(k), k->in.at, k->in.at, &randomness, k->scratch.at,
                           k->scratch_bytes) == EVC_OK);
    EXPECT(all_zeros(k->scratch.at, k->scratch_bytes));
    EXPECT(is_undone(k, k->in.at, in));
    EXPECT(evc_rsa_private(private_key(k), in, k->in.at, &randomness, k->scratch.at,
                           k->scratch_bytes - 1) == EVC_ERR_SCRATCH);
    EXPECT(all_zeros(k->in.at, k->n_bytes));
}

/* In place. good_calls: of the randomness, or -1 for all. Four calls serve one operation, in
 * the order of the batch. */
static void sign_many(const struct keys *k, size_t n, int good_calls)
{
    static uint8_t in[MOST_OPERATIONS][MOST_BYTES], out[MOST_OPERATIONS][MOST_BYTES];
    struct evc_rsa_operation o[MOST_OPERATIONS];
    int calls = 0;

    for (size_t i = 0; i < n; i++) {
        fill(NULL, in[i], k->n_bytes);
        in[i][0] = 0;
        if (i == REFUSED)
            memset(in[i], 0, k->n_bytes);
        memcpy(out[i], in[i], k->n_bytes);
        o[i] = (struct evc_rsa_operation){.key = private_key(k), .in = out[i], .out = out[i]};
    }
    calls_left = good_calls;
    (void)!evc_rsa_private_many(o, n, &randomness, k->many.at, k->many_bytes);
    calls_left = -1;
    EXPECT(all_zeros(k->many.at, k->many_bytes));
    for (size_t i = 0; i < n; i++) {
        calls += i == REFUSED ? 0 : 4;
        if (i == REFUSED)
            EXPECT(o[i].status == EVC_ERR_RANGE);
        else if (good_calls >= 0 && calls > good_calls)
            EXPECT(o[i].status == EVC_ERR_RANDOM);
        else
            EXPECT(o[i].status == EVC_OK && is_undone(k, out[i], in[i]));
        if (o[i].status != EVC_OK)
            EXPECT(all_zeros(out[i], k->n_bytes));
    }
}

static void keys_of_each_length_sign_within_their_memory(void)
{
    static const uint8_t exponents[2][9] = {{1, 0, 1}, {1, 0, 0, 0, 0, 0, 0, 0, 13}};
    static const size_t e_bytes[] = {3, 9};
    /* Primes of 512, 544, ... bits; pairs of numbers change their shapes at 544, 744,
     * 1044, 1544 and 2094 bits. */
    static const size_t lengths[] = {1024, 1088, 1104, 1280, 1488, 1504, 1792, 2048, 2080,
                                     2096, 2560, 3072, 3088, 3104, 4096, 4176, 4192};

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct keys k;

        if (make_key(&k, lengths[i], exponents[i % 2], e_bytes[i % 2])) {
            sign_one(&k);
            for (size_t n = 1; n <= MOST_OPERATIONS; n += n == 2 ? 2 : n == 4 ? 4 : 1) {
                sign_many(&k, n, -1);
                sign_many(&k, n, (int)(2 * n + i % 3));
            }
        }
        free_key(&k);
    }
}

int main(void)
{
    kernel = evc_bn_select_for(evc_cpu_features(), 0, EVC_USE_ANY, 1024);
    printf("# %s\n", kernel ? evc_bn_kernel(kernel)->name : "no kernel");
    EXPECT(kernel != NULL);
    if (kernel)
        RUN(keys_of_each_length_sign_within_their_memory);
    return tap_done();
}

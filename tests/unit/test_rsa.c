/* SPDX-License-Identifier: MIT */
/* RSA as its caller meets it: statuses, memory, randomness that fails, keys that are not set up,
 * faults. Values are held against Python and OpenSSL by rsa_against_python.py. */
#include "tap.h"

#include "everycore/rsa_padding.h"

#include "rsa_numbers.h"

static const struct evc_bn *kernel;
static EVC_ALIGN(16) uint8_t memory[16384], other_memory[16384];
static const struct evc_rsa_private *const key = (const void *)memory;
static uint8_t scratch[1u << 17]; /* enough for 1024 bits with any kernel named here */

static enum evc_status set(const struct evc_rsa_numbers *numbers)
{
    memset(memory, 0xa5, sizeof memory);
    return evc_rsa_set_private_in(memory, sizeof memory, kernel, numbers, 256, scratch,
                                  sizeof scratch);
}

static int calls_left;

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    const int *constant = context;

    if (calls_left-- <= 0) {
        memset(out, 0x5a, n_bytes);
        return -1;
    }
    if (constant)
        memset(out, *constant, n_bytes);
    else
        random_fill(out, n_bytes);
    return 0;
}

static const struct evc_random randomness = {fill, NULL};

/* A number from 2 to n - 2, for both keys. */
static void draw(uint8_t *in)
{
    random_fill(in, N_BYTES);
    in[0] &= 0x3f;
    in[1] |= 1;
}

static void private_undoes_public(void)
{
    uint8_t in[N_BYTES], between[N_BYTES], out[N_BYTES];

    for (int i = 0; i < 40; i++) {
        calls_left = 1000;
        must(set(i % 2 ? &first : &second));
        draw(in);
        must(evc_rsa_public(evc_rsa_public_of(key), in, between, scratch, sizeof scratch));
        EXPECT(!same(in, between, N_BYTES));
        must(evc_rsa_private(key, between, out, &randomness, scratch, sizeof scratch));
        EXPECT(same(in, out, N_BYTES));
        must(evc_rsa_private(key, in, between, &randomness, scratch, sizeof scratch));
        must(evc_rsa_public(evc_rsa_public_of(key), between, out, scratch, sizeof scratch));
        EXPECT(same(in, out, N_BYTES) && all_are(scratch, 0, evc_rsa_scratch_bytes(kernel, 256)));
    }
}

static void keys_may_be_copied(void)
{
    uint8_t in[N_BYTES], out[2][N_BYTES];

    calls_left = 1000;
    must(set(&first));
    memcpy(other_memory, memory, sizeof memory);
    memset(memory, 0x5a, sizeof memory);
    draw(in);
    must(evc_rsa_private((const void *)other_memory, in, out[0], &randomness, scratch,
                         sizeof scratch));
    must(evc_rsa_public(evc_rsa_public_of((const void *)other_memory), out[0], out[1], scratch,
                        sizeof scratch));
    EXPECT(same(in, out[1], N_BYTES));
}

/* The output holds zeros whenever a call fails, and nothing behind it is written. */
static enum evc_status private_of(const uint8_t *in, const struct evc_random *random,
                                  size_t scratch_bytes)
{
    uint8_t out[N_BYTES + 1];
    enum evc_status status;

    memset(out, 0xa5, sizeof out);
    status = evc_rsa_private(key, in, out, random, scratch, scratch_bytes);
    EXPECT(out[N_BYTES] == 0xa5);
    if (status != EVC_OK)
        EXPECT(all_are(out, 0, N_BYTES));
    return status;
}

static enum evc_status public_of(const uint8_t *in, size_t scratch_bytes)
{
    uint8_t out[N_BYTES + 1];
    enum evc_status status;

    memset(out, 0xa5, sizeof out);
    status = evc_rsa_public(evc_rsa_public_of(key), in, out, scratch, scratch_bytes);
    EXPECT(out[N_BYTES] == 0xa5);
    if (status != EVC_OK)
        EXPECT(all_are(out, 0, N_BYTES));
    return status;
}

static void numbers_out_of_range_are_refused(void)
{
    uint8_t in[N_BYTES];

    must(set(&first));
    calls_left = 1000;
    for (int i = 0; i < 5; i++) {
        memset(in, i == 4 ? 0xff : 0, N_BYTES); /* 0, 1, n - 1, n, and above */
        in[N_BYTES - 1] |= i == 1;
        if (i == 2 || i == 3)
            memcpy(in, first_n, N_BYTES);
        in[N_BYTES - 1] ^= i == 2;
        EXPECT(private_of(in, &randomness, sizeof scratch) == EVC_ERR_RANGE);
        EXPECT(public_of(in, sizeof scratch) == EVC_ERR_RANGE);
    }
    memcpy(in, first_n, N_BYTES);
    in[N_BYTES - 1] -= 2;
    EXPECT(first_n[N_BYTES - 1] >= 2 && private_of(in, &randomness, sizeof scratch) == EVC_OK);
    EXPECT(public_of(in, sizeof scratch) == EVC_OK);
}

static void too_little_scratch_memory_is_refused(void)
{
    const size_t needed = evc_rsa_scratch_bytes(kernel, 256),
                 many = evc_rsa_many_scratch_bytes(kernel, 256);
    uint8_t in[2][N_BYTES], out[2][N_BYTES];
    struct evc_rsa_operation operations[2] = {{.key = key, .in = in[0], .out = out[0]},
                                              {.key = key, .in = in[1], .out = out[1]}};

    must(set(&first));
    draw(in[0]);
    draw(in[1]);
    calls_left = 1000;
    EXPECT(private_of(in[0], &randomness, needed - 1) == EVC_ERR_SCRATCH);
    EXPECT(private_of(in[0], &randomness, needed) == EVC_OK && public_of(in[0], needed) == EVC_OK);
    EXPECT(public_of(in[0], needed - 1) == EVC_ERR_SCRATCH);
    EXPECT(evc_rsa_private(key, in[0], out[0], &randomness, NULL, 0) == EVC_ERR_SCRATCH);
    EXPECT(evc_rsa_private_many(operations, 2, &randomness, scratch, many - 1) == EVC_ERR_SCRATCH);
    EXPECT(all_are(out, 0, sizeof out) && operations[1].status == EVC_ERR_SCRATCH);
    EXPECT(evc_rsa_private_many(operations, 2, &randomness, scratch, many) == EVC_OK);
    EXPECT(evc_rsa_private_many(operations, 0, &randomness, NULL, 0) == EVC_OK &&
           all_are(scratch, 0, many));
    memset(scratch, 0xa5, sizeof scratch);
    for (size_t at = 0; at < 16; at++) { /* at any address; nothing beyond */
        must(evc_rsa_private_many(operations, 2, &randomness, scratch + at, many));
        EXPECT(all_are(scratch + at + many, 0xa5, 64));
        must(evc_rsa_private(key, in[0], out[0], &randomness, scratch + at, needed));
        must(evc_rsa_set_private_in(memory, sizeof memory, kernel, &first, 256, scratch + at,
                                    needed));
    }
    EXPECT(evc_rsa_set_private_in(memory, sizeof memory, kernel, &first, 256, scratch,
                                  needed - 1) == EVC_ERR_SCRATCH);
    EXPECT(all_are(memory, 0, sizeof memory) && needed < many);
}

static void private_operations_need_randomness(void)
{
    int constant = 0;
    const struct evc_random stuck = {fill, &constant}, none = {NULL, NULL};
    uint8_t in[N_BYTES];

    must(set(&first));
    draw(in);
    for (int calls = 0; calls < 4; calls++) { /* a base and an exponent for each half */
        calls_left = calls;
        EXPECT(private_of(in, &randomness, sizeof scratch) == EVC_ERR_RANDOM);
    }
    calls_left = 4;
    EXPECT(private_of(in, &randomness, sizeof scratch) == EVC_OK && calls_left == 0);
    EXPECT(private_of(in, &none, sizeof scratch) == EVC_ERR_RANDOM);
    EXPECT(private_of(in, NULL, sizeof scratch) == EVC_ERR_RANDOM);
    calls_left = 1000;
    EXPECT(private_of(in, &stuck, sizeof scratch) == EVC_ERR_RANDOM);
    constant = 0xff;
    EXPECT(private_of(in, &stuck, sizeof scratch) == EVC_OK);
}

/* A failure of one operation leaves the others as they are. */
static void operations_of_a_batch_stand_alone(void)
{
    const size_t needed = evc_rsa_many_scratch_bytes(kernel, 256);
    uint8_t in[20][N_BYTES], out[20][N_BYTES], expected[N_BYTES];
    struct evc_rsa_operation operations[20];
    static const EVC_ALIGN(16) uint8_t no_key[16384];

    calls_left = 100000;
    must(set(&first));
    must(evc_rsa_set_private_in(other_memory, sizeof other_memory, kernel, &second, 256, scratch,
                                sizeof scratch));
    for (size_t i = 0; i < 20; i++) {
        draw(in[i]);
        operations[i] = (struct evc_rsa_operation){.in = in[i], .out = out[i]};
        operations[i].key = (const void *)(i == 7 ? no_key : i % 3 == 2 ? other_memory : memory);
    }
    memset(out, 0xa5, sizeof out);
    memset(in[3], 0, N_BYTES);
    memset(in[11], 0xff, N_BYTES);
    memset(scratch, 0xa5, sizeof scratch);
    EXPECT(evc_rsa_private_many(operations, 20, &randomness, scratch, needed) == EVC_ERR_RANGE);
    EXPECT(all_are(scratch, 0, needed / 2) && all_are(scratch + needed, 0xa5, 4096));
    for (size_t i = 0; i < 20; i++) {
        if (i == 7) {
            EXPECT(operations[i].status == EVC_ERR_KERNEL && all_are(out[i], 0xa5, N_BYTES));
            continue;
        }
        if (i == 3 || i == 11) {
            EXPECT(operations[i].status == EVC_ERR_RANGE && all_are(out[i], 0, N_BYTES));
            continue;
        }
        must(evc_rsa_private(operations[i].key, in[i], expected, &randomness, scratch,
                             sizeof scratch));
        EXPECT(operations[i].status == EVC_OK && same(out[i], expected, N_BYTES));
    }
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static const struct evc_bn *sound;
static unsigned n_calls, n_products, n_squares, faulty_call;

static void fault(uint8_t *r)
{
    if (++n_calls == faulty_call)
        r[0] ^= 4;
}

static void faulty_mul(const void *modulus, void *r, const void *a, const void *b, void *room)
{
    sound->mul(modulus, r, a, b, room);
    n_products++;
    fault(r);
}

static void faulty_sqr(const void *modulus, void *r, const void *a, void *room)
{
    sound->sqr(modulus, r, a, room);
    n_squares++;
    fault(r);
}

static void faulty_add(const void *modulus, void *r, const void *a, const void *b, void *room)
{
    sound->add(modulus, r, a, b, room);
    fault(r);
}

static void faulty_sub(const void *modulus, void *r, const void *a, const void *b, void *room)
{
    sound->sub(modulus, r, a, b, room);
    fault(r);
}

static void faulty_load(const void *modulus, void *r, const uint8_t *in, size_t in_bytes)
{
    sound->load(modulus, r, in, in_bytes);
    fault(r);
}

static void faulty_store(const void *modulus, uint8_t *out, const void *a)
{
    sound->store(modulus, out, a);
    fault(out);
}

static uint8_t fault_in[N_BYTES], without_fault[N_BYTES];

/* Sets up a key whose kernel gives a bit that is wrong in call number faulty_call, or in none where
 * that is 0, as here; returns the calls of a private operation. */
static unsigned set_faulty(const struct evc_rsa_numbers *numbers)
{
    static struct evc_bn faulty;

    sound = kernel;
    faulty = *kernel;
    faulty.mul = faulty_mul;
    faulty.sqr = faulty_sqr;
    faulty.add = faulty_add;
    faulty.sub = faulty_sub;
    faulty.load = faulty_load;
    faulty.store = faulty_store;
    faulty.exp_many = NULL;
    faulty.lanes = 1;
    faulty_call = 0;
    draw(fault_in);
    calls_left = 100000000;
    must(evc_rsa_set_private_in(memory, sizeof memory, &faulty, numbers, 256, scratch,
                                sizeof scratch));
    n_calls = n_products = n_squares = 0;
    must(evc_rsa_private(key, fault_in, without_fault, &randomness, scratch, sizeof scratch));
    return n_calls;
}

/* Counts the private operations that end in a status: each has a fault in another one of the n_all
 * calls of the kernel. The others have the right result. */
static unsigned caught_faults(unsigned n_all)
{
    uint8_t out[N_BYTES];
    unsigned n_caught = 0;

    for (faulty_call = 1; faulty_call <= n_all; faulty_call++) {
        enum evc_status status;
        n_calls = 0;
        status = evc_rsa_private(key, fault_in, out, &randomness, scratch, sizeof scratch);
        n_caught += status == EVC_ERR_FAULT;
        EXPECT(status == EVC_ERR_FAULT ? all_are(out, 0, N_BYTES)
                                       : status == EVC_OK && same(out, without_fault, N_BYTES));
    }
    return n_caught;
}

/* Each product, sum and number of a private operation in turn gets a bit that is wrong: in the
 * blinding, in either half, in the recombination, in the check. */
static void faults_in_either_half_are_caught(void)
{
    const unsigned n_all = set_faulty(&first);
    uint8_t out[N_BYTES];

    /* 192 bits of an exponent are 48 windows of 4; e has 17 bits; the check comes last. */
    EXPECT(n_squares == 2 * (16 + 7 + 47 * 4) + 16 && n_products == 2 * (7 + 9 + 47) + 2 + 4);
    /* Each half loads the random base, both parts of c, the blinded base and the
     * power, and stores two. */
    EXPECT(n_all - n_squares - n_products >= 2 * (5 + 2 + 1) + 8);
    n_products = n_squares = 0;
    must(evc_rsa_public(evc_rsa_public_of(key), without_fault, out, scratch, sizeof scratch));
    EXPECT(n_squares == 16 && n_products == 2 && same(fault_in, out, N_BYTES));
    /* r may be any number: faults in its making go unnoticed */
    EXPECT(n_all > 400 && caught_faults(n_all) > n_all - n_all / 8);
}

static void faults_are_caught_whatever_the_length_of_e(void)
{
    for (size_t i = 0; i < sizeof long_e_numbers / sizeof long_e_numbers[0]; i++) {
        const unsigned n_all = set_faulty(&long_e_numbers[i]);

        EXPECT(evc_rsa_public_of(key)->e_bytes == long_e_numbers[i].e_bytes);
        EXPECT(n_all > 500 && caught_faults(n_all) > n_all - n_all / 8);
    }
}

/* A kernel with lanes, of which one or two give a power with a bit that is wrong. */
static unsigned faulty_lanes; /* a bit each */

static void exp_lanes(const struct evc_bn_exp *exps, size_t n_exps, void *room)
{
    static uint8_t room_of_one[16384];

    (void)room;
    for (size_t i = 0; i < n_exps; i++) {
        must(evc_bn_exp(exps[i].n, exps[i].base, exps[i].exponent, exps[i].exponent_bytes,
                        exps[i].out, room_of_one, sizeof room_of_one));
        if (faulty_lanes >> i & 1)
            exps[i].out[P_BYTES - 1] ^= 1;
    }
}

static size_t exp_lanes_bytes(const struct evc_bn_shape *shape)
{
    (void)shape;
    return 64;
}

/* Four operations under two keys are eight lanes: a fault ends its own operation, and no other. */
static void faults_in_a_lane_end_one_operation(void)
{
    static struct evc_bn lanes;
    uint8_t in[4][N_BYTES], out[4][N_BYTES], expected[4][N_BYTES];
    struct evc_rsa_operation operations[4];

    lanes = *kernel;
    lanes.lanes = 8;
    lanes.exp_many = exp_lanes;
    lanes.exp_many_bytes = exp_lanes_bytes;
    calls_left = 100000000;
    must(evc_rsa_set_private_in(memory, sizeof memory, &lanes, &first, 256, scratch,
                                sizeof scratch));
    must(evc_rsa_set_private_in(other_memory, sizeof other_memory, &lanes, &second, 256, scratch,
                                sizeof scratch));
    faulty_lanes = 0;
    for (size_t i = 0; i < 4; i++) {
        draw(in[i]);
        operations[i] = (struct evc_rsa_operation){.in = in[i], .out = out[i]};
        operations[i].key = (const void *)(i % 2 ? other_memory : memory);
        must(evc_rsa_private(operations[i].key, in[i], expected[i], &randomness, scratch,
                             sizeof scratch));
    }
    for (faulty_lanes = 0; faulty_lanes < 256;
         faulty_lanes = faulty_lanes < 8 ? faulty_lanes + 1 : 2 * faulty_lanes) {
        const enum evc_status status =
            evc_rsa_private_many(operations, 4, &randomness, scratch, sizeof scratch);

        EXPECT(status == (faulty_lanes ? EVC_ERR_FAULT : EVC_OK));
        for (size_t i = 0; i < 4; i++) {
            const int is_faulty = (faulty_lanes >> 2 * i & 3) != 0;
            EXPECT(operations[i].status == (is_faulty ? EVC_ERR_FAULT : EVC_OK));
            EXPECT(is_faulty ? all_are(out[i], 0, N_BYTES) : same(out[i], expected[i], N_BYTES));
        }
    }
    EXPECT(all_are(scratch, 0, evc_rsa_many_scratch_bytes(&lanes, 256)));
}

/* A base that is 0 modulo p would make a power of 0, whatever c is. */
static int fill_with_p(void *context, uint8_t *out, size_t n_bytes)
{
    memcpy(out, context, n_bytes);
    return 0;
}

static void a_base_that_is_a_multiple_of_the_prime_is_a_fault(void)
{
    uint8_t in[N_BYTES], p[P_BYTES];
    const struct evc_random chosen = {fill_with_p, p};

    must(set(&first));
    draw(in);
    memcpy(p, first_p, P_BYTES);
    EXPECT(private_of(in, &chosen, sizeof scratch) == EVC_ERR_FAULT);
    memcpy(p, first_q, P_BYTES);
    EXPECT(private_of(in, &chosen, sizeof scratch) == EVC_ERR_FAULT);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static void refuse(const struct evc_rsa_numbers *numbers, enum evc_status expected)
{
    EXPECT(set(numbers) == expected && all_are(memory, 0, sizeof memory) &&
           evc_rsa_public_of(key) == NULL);
}

static void keys_that_are_not_set_up_are_refused(void)
{
    uint8_t in[N_BYTES] = {0, 1}, out[N_BYTES];
    EVC_ALIGN(16) static const uint8_t zeros[16384];
    const struct evc_rsa_private *no_key = (const void *)zeros;
    struct evc_rsa_numbers numbers = first;

    memset(out, 0xa5, sizeof out);
    calls_left = 1000;
    EXPECT(evc_rsa_private(no_key, in, out, &randomness, scratch, sizeof scratch) ==
           EVC_ERR_KERNEL);
    EXPECT(evc_rsa_public((const void *)zeros, in, out, scratch, sizeof scratch) == EVC_ERR_KERNEL);
    EXPECT(evc_rsa_check_key(no_key, &randomness, scratch, sizeof scratch) == EVC_ERR_KERNEL);
    EXPECT(all_are(out, 0xa5, sizeof out));
    must(set(&first));
    evc_wipe(memory, sizeof memory);
    EXPECT(evc_rsa_private(key, in, out, &randomness, scratch, sizeof scratch) == EVC_ERR_KERNEL);
    EXPECT(evc_rsa_set_private_in(memory, sizeof memory, NULL, &first, 256, scratch,
                                  sizeof scratch) == EVC_ERR_KERNEL);
    refuse(NULL, EVC_ERR_PARAMETER);
    EXPECT(evc_rsa_set_private_in(memory, evc_rsa_private_bytes(kernel, 256) - 1, kernel, &first,
                                  256, scratch, sizeof scratch) == EVC_ERR_KERNEL);
    EXPECT(evc_rsa_set_private_in(memory, evc_rsa_private_bytes(kernel, 256), kernel, &first, 256,
                                  scratch, sizeof scratch) == EVC_OK);
    EXPECT(evc_rsa_set_private_in(memory + 8, 8192, kernel, &first, 256, scratch, sizeof scratch) ==
           EVC_ERR_ALIGNMENT);
    numbers.dq = memory + 1000;
    refuse(&numbers, EVC_ERR_OVERLAP);
    numbers = first;
    numbers.d = memory + 1000;
    refuse(&numbers, EVC_ERR_OVERLAP);
    numbers = first;
    numbers.qinv = NULL;
    refuse(&numbers, EVC_ERR_KEY);
    numbers.n = NULL;
    refuse(&numbers, EVC_ERR_KEY_SIZE);
    numbers = first;
    numbers.p_bytes++;
    refuse(&numbers, EVC_ERR_KEY);
    for (int i = 0; i < 4; i++) { /* longer than the key has room for */
        numbers = first;
        *(i == 0   ? &numbers.d_bytes
          : i == 1 ? &numbers.dp_bytes
          : i == 2 ? &numbers.dq_bytes
                   : &numbers.qinv_bytes) = i == 0 ? N_BYTES + 1 : P_BYTES + 1;
        refuse(&numbers, EVC_ERR_KEY);
    }
}

/* Set-ups leave nothing of a key that was there, also where the new one is smaller or refused. */
static void set_ups_wipe_the_key_that_was_there(void)
{
    const size_t private_bytes = evc_rsa_private_bytes(kernel, 256),
                 public_bytes = evc_rsa_public_bytes(kernel, 256);

    memset(memory, 0x5a, sizeof memory);
    must(evc_rsa_set_private_in(memory, sizeof memory, kernel, &first, 256, scratch,
                                sizeof scratch));
    EXPECT(all_are(memory + private_bytes, 0, sizeof memory - private_bytes));
    must(evc_rsa_set_public_in(memory, sizeof memory, kernel, first_n, N_BYTES, first_e, 3, 256));
    EXPECT(all_are(memory + public_bytes, 0, sizeof memory - public_bytes));
    must(set(&first));
    EXPECT(evc_rsa_set_public_in(memory, sizeof memory, kernel, first_n, N_BYTES, first_e, 0,
                                 256) == EVC_ERR_KEY);
    EXPECT(all_are(memory, 0, sizeof memory));
}

static void keys_that_are_too_small_are_refused(void)
{
    struct evc_rsa_numbers numbers = first;

    EXPECT(evc_rsa_set_private_in(memory, sizeof memory, kernel, &first, 0, scratch,
                                  sizeof scratch) == EVC_ERR_KEY_SIZE);
    EXPECT(evc_rsa_set_private_in(memory, sizeof memory, kernel, &first, 257, scratch,
                                  sizeof scratch) == EVC_ERR_KEY_SIZE);
    numbers.n++;
    numbers.n_bytes--;
    refuse(&numbers, EVC_ERR_KEY_SIZE);
    EXPECT(evc_rsa_set_public_in(memory, sizeof memory, kernel, first_n, N_BYTES, first_e, 3, 0) ==
           EVC_ERR_KEY_SIZE);
    EXPECT(evc_rsa_set_public_in(memory, sizeof memory, kernel, first_n, N_BYTES, first_e, 3,
                                 256) == EVC_OK);
    EXPECT(evc_rsa_set_public_in(memory, sizeof memory, kernel, first_n, N_BYTES, memory, 3, 256) !=
           EVC_OK);
    EXPECT(all_are(memory, 0, sizeof memory));
    for (size_t n_bits = 0; n_bits < 9000; n_bits += 8) {
        const int good = n_bits >= 256 && n_bits <= 8192;
        EXPECT(!evc_rsa_public_bytes(kernel, n_bits) == !good &&
               !evc_rsa_private_bytes(kernel, n_bits) == !good);
        EXPECT(!evc_rsa_scratch_bytes(kernel, n_bits) == !good);
        EXPECT(!evc_rsa_check_scratch_bytes(kernel, n_bits) == !good);
        EXPECT(!evc_rsa_many_scratch_bytes(kernel, n_bits) == !good &&
               !evc_rsa_private_bytes(NULL, n_bits));
    }
}

/* The exponent of a public key is odd, from 3 on and below n, behind any zeros. */
static void exponents_that_are_out_of_range_are_refused(void)
{
    uint8_t e[34] = {0};

    for (unsigned value = 0; value < 9; value++) {
        e[33] = (uint8_t)value;
        EXPECT(evc_rsa_set_public_in(memory, sizeof memory, kernel, first_n, N_BYTES, e, 34, 256) ==
               (value >= 3 && value % 2 ? EVC_OK : EVC_ERR_KEY));
    }
    memcpy(e + 2, first_n, N_BYTES);
    EXPECT(evc_rsa_set_public_in(memory, sizeof memory, kernel, first_n, N_BYTES, e, 34, 256) ==
           EVC_ERR_KEY);
    e[33] -= 2;
    EXPECT(first_n[N_BYTES - 1] >= 2);
    must(evc_rsa_set_public_in(memory, sizeof memory, kernel, first_n, N_BYTES, e, 34, 256));
    e[1] = 1;
    EXPECT(evc_rsa_set_public_in(memory, sizeof memory, kernel, first_n, N_BYTES, e, 34, 256) ==
           EVC_ERR_KEY);
}

static void numbers_that_do_not_belong_together_are_refused(void)
{
    const uint8_t *const numbers[] = {first_n,  first_d,  first_p,   first_q,
                                      first_dp, first_dq, first_qinv};
    struct evc_rsa_numbers with_e = first;

    for (size_t i = 0; i < 7; i++)
        for (size_t at = 0; at < (i < 2 ? N_BYTES : P_BYTES); at++) {
            uint8_t changed[N_BYTES];
            struct evc_rsa_numbers wrong = first;
            const uint8_t **const places[] = {&wrong.n,  &wrong.d,  &wrong.p,   &wrong.q,
                                              &wrong.dp, &wrong.dq, &wrong.qinv};
            memcpy(changed, numbers[i], i < 2 ? N_BYTES : P_BYTES);
            changed[at] ^= 2;
            *places[i] = changed;
            refuse(&wrong, EVC_ERR_KEY);
        }
    with_e.e = second_e;
    with_e.e_bytes = sizeof second_e;
    refuse(&with_e, EVC_ERR_KEY);
}

static void primes_of_keys_are_checked(void)
{
    const size_t needed = evc_rsa_check_scratch_bytes(kernel, 256);

    must(set(&first));
    calls_left = 100000;
    EXPECT(evc_rsa_check_key(key, &randomness, scratch, needed) == EVC_OK &&
           all_are(scratch, 0, needed));
    EXPECT(evc_rsa_check_key(key, &randomness, scratch, needed - 1) == EVC_ERR_SCRATCH);
    calls_left = 5;
    EXPECT(evc_rsa_check_key(key, &randomness, scratch, needed) == EVC_ERR_RANDOM);
}

/* ---- Generation ------------------------------------------------------------------------------ */

static int stops;

static int report(void *context, const struct evc_prime_progress *progress)
{
    (void)context;
    (void)progress;
    return stops;
}

static struct evc_prime_search search = {.random = {fill, NULL}, .report = report};
static uint8_t bytes_of_key[1024];

static enum evc_status generate(size_t n_bits, size_t memory_bytes, size_t scratch_bytes)
{
    static const uint8_t e[4] = {0, 1, 0, 1};
    struct evc_rsa_numbers numbers;
    enum evc_status status;

    memset(bytes_of_key, 0xa5, sizeof bytes_of_key);
    status = evc_rsa_generate(&search, n_bits, e, sizeof e, bytes_of_key, memory_bytes, &numbers,
                              scratch, scratch_bytes);
    if (status == EVC_OK) /* before a set-up wipes it, too */
        EXPECT(all_are(scratch, 0, scratch_bytes));
    else
        EXPECT(!numbers.n && !numbers.p && numbers.n_bytes == 0);
    if (status != EVC_OK)
        EXPECT(all_are(bytes_of_key, 0, memory_bytes));
    EXPECT(all_are(bytes_of_key + memory_bytes, 0xa5, sizeof bytes_of_key - memory_bytes));
    if (status == EVC_OK)
        EXPECT(numbers.e_bytes == 3 && set(&numbers) == EVC_OK);
    return status;
}

static void generation_needs_memory_and_randomness(void)
{
    const size_t needed = evc_rsa_numbers_bytes(1024),
                 room = evc_rsa_generate_scratch_bytes(kernel, 1024);

    search.kernel = kernel;
    search.words = evc_bn_words_select(evc_cpu_features(), EVC_ALLOW_VARTIME);
    memset(scratch, 0, sizeof scratch);
    calls_left = 1000000;
    EXPECT(room && room <= sizeof scratch && needed <= sizeof bytes_of_key);
    EXPECT(generate(1024, needed, room) == EVC_OK && all_are(scratch, 0, room));
    EXPECT(generate(1024, needed - 1, room) == EVC_ERR_KERNEL &&
           generate(1024, needed, room - 1) == EVC_ERR_SCRATCH);
    EXPECT(generate(1008, needed, room) == EVC_ERR_KEY_SIZE &&
           generate(1025, needed, room) == EVC_ERR_KEY_SIZE);
    EXPECT(generate(8208, needed, room) == EVC_ERR_KEY_SIZE &&
           generate(0, 0, 0) == EVC_ERR_KEY_SIZE);
    for (int calls = 0; calls < 64; calls = 2 * calls + 1) { /* a search in luck ends within 31 */
        enum evc_status status;
        calls_left = calls;
        status = generate(1024, needed, room);
        EXPECT((status == EVC_ERR_RANDOM || (calls >= 31 && status == EVC_OK)) &&
               all_are(scratch, 0, room));
    }
    calls_left = 1000000;
    stops = 1;
    EXPECT(generate(1024, needed, room) == EVC_ERR_STOPPED && all_are(scratch, 0, room));
    stops = 0;
    search.words = NULL;
    EXPECT(generate(1024, needed, room) == EVC_ERR_KERNEL);
    search.words = evc_bn_words_select(evc_cpu_features(), EVC_ALLOW_VARTIME);
    search.kernel = NULL;
    EXPECT(generate(1024, needed, room) == EVC_ERR_KERNEL);
    EXPECT(!evc_rsa_generate_scratch_bytes(NULL, 1024) &&
           !evc_rsa_generate_scratch_bytes(kernel, 1032));
}

/* Randomness that repeats itself makes p and q the same, which are too near to each other. */
static int repeat(void *context, uint8_t *out, size_t n_bytes)
{
    static uint8_t start[128];
    uint8_t *const known = context;

    if (n_bytes != 64) { /* what is drawn beside p0, which has 64 bytes */
        random_fill(out, n_bytes);
        return 0;
    }
    if (!*known)
        random_fill(start, sizeof start);
    *known = 1;
    memcpy(out, start, n_bytes);
    return 0;
}

static void primes_that_are_near_to_each_other_are_refused(void)
{
    uint8_t known = 0;

    search.kernel = kernel;
    search.words = evc_bn_words_select(evc_cpu_features(), EVC_ALLOW_VARTIME);
    search.random = (struct evc_random){repeat, &known};
    EXPECT(generate(1024, evc_rsa_numbers_bytes(1024), sizeof scratch) == EVC_ERR_RANDOM);
}

/* ---- Paddings -------------------------------------------------------------------------------- */

#define LONG_BYTES 64
#define DIGEST_BYTES 16
#define ROOM_OF_OAEP (LONG_BYTES - 2 * DIGEST_BYTES - 2)
#define ROOM_OF_PKCS1 (LONG_BYTES - 11)

/* A key of 512 bits, e = 17, made as those above. */
static const uint8_t long_n[64] = {
    0xd8, 0x06, 0xc7, 0xe7, 0x2d, 0xeb, 0xf5, 0x6f, 0x09, 0x74, 0x69, 0x3a, 0xca, 0x6c, 0x02, 0x1e,
    0x86, 0xe1, 0x31, 0xf9, 0x01, 0xe7, 0xbe, 0x21, 0x4b, 0x7a, 0xa0, 0x02, 0x32, 0x5a, 0x09, 0x15,
    0xc4, 0xd7, 0x9e, 0xdd, 0xc8, 0x81, 0xd2, 0x81, 0x2a, 0xca, 0xe2, 0x8a, 0x3e, 0x25, 0x5e, 0x8b,
    0x92, 0x25, 0x90, 0xa2, 0x64, 0x9f, 0x48, 0x75, 0x53, 0x00, 0xde, 0x9d, 0x08, 0x30, 0x6d, 0xd7};
static const uint8_t long_e[1] = {
    0x11};
static const uint8_t long_d[64] = {
    0x10, 0x85, 0x09, 0x43, 0x5f, 0x5e, 0xd8, 0x09, 0xff, 0x37, 0x95, 0x99, 0x93, 0xff, 0x39, 0x62,
    0xb5, 0xfc, 0x23, 0x71, 0xe9, 0x8e, 0xb5, 0xb1, 0x3a, 0x7a, 0x51, 0x81, 0xac, 0x82, 0x5e, 0x0f,
    0x13, 0xa4, 0x96, 0x57, 0xc1, 0xa8, 0x4d, 0x4a, 0x56, 0x6e, 0x24, 0xbd, 0x48, 0xed, 0x93, 0x83,
    0x87, 0xa5, 0x01, 0x72, 0x0f, 0x36, 0xa0, 0x8e, 0xa4, 0xbf, 0x62, 0x71, 0xc3, 0xfe, 0xc7, 0x05};
static const uint8_t long_p[32] = {
    0xfd, 0x8f, 0xf6, 0xe7, 0xac, 0xd3, 0x07, 0x84, 0x6a, 0x45, 0x6a, 0x2b, 0x79, 0x6b, 0xee, 0x7e,
    0xf8, 0x7a, 0xec, 0x47, 0x1b, 0x11, 0x1d, 0x83, 0x1a, 0x3d, 0x4c, 0x3a, 0x4d, 0xf4, 0x41, 0x25};
static const uint8_t long_q[32] = {
    0xda, 0x1a, 0x70, 0x18, 0x0f, 0xda, 0xd8, 0x44, 0x56, 0x47, 0x97, 0xee, 0x94, 0xe5, 0x70, 0xde,
    0x70, 0xc6, 0xb8, 0xd6, 0x82, 0x9c, 0x6d, 0x81, 0x7f, 0x9a, 0x63, 0xa6, 0xb7, 0x38, 0x78, 0x4b};
static const uint8_t long_dp[32] = {
    0x4a, 0x93, 0xc1, 0x16, 0xf6, 0x98, 0x6b, 0x9f, 0x6a, 0x8c, 0xe2, 0xfd, 0xba, 0x4c, 0xeb, 0xca,
    0xfd, 0xc9, 0xcd, 0x05, 0xda, 0xc8, 0xcc, 0x71, 0xda, 0x8a, 0x7f, 0xd4, 0xe9, 0xc0, 0x4f, 0x65};
static const uint8_t long_dq[32] = {
    0xa6, 0xc8, 0xec, 0x4e, 0xa2, 0xb6, 0x69, 0x25, 0x32, 0xeb, 0x74, 0x2e, 0xea, 0x55, 0x1a, 0x13,
    0x83, 0x6a, 0xc9, 0x94, 0xfa, 0x77, 0x9f, 0x08, 0xac, 0xdf, 0x79, 0x61, 0x5e, 0xee, 0xf2, 0x93};
static const uint8_t long_qinv[32] = {
    0xbf, 0x65, 0x7b, 0x83, 0xf8, 0x93, 0xab, 0xb0, 0xdf, 0xfb, 0x2e, 0x87, 0x1b, 0xe9, 0x3b, 0xcf,
    0x46, 0x22, 0x1f, 0x30, 0xb3, 0x78, 0x6e, 0xff, 0xc6, 0x76, 0x84, 0xb6, 0x7c, 0x7d, 0xe7, 0xe6};
static const struct evc_rsa_numbers long_numbers = NUMBERS(long);

/* No hash that is safe: it mixes bytes. Fails after hashes_left calls. */
static int hashes_left;

static int mix(void *context, const struct evc_rsa_piece *pieces, size_t n_pieces, uint8_t *out)
{
    uint64_t state = 1;

    (void)context;
    if (hashes_left-- <= 0)
        return -1;
    for (size_t i = 0; i < n_pieces; i++)
        for (size_t j = 0; j < pieces[i].n_bytes; j++)
            state = (state ^ pieces[i].bytes[j]) * UINT64_C(0x9e3779b97f4a7c15) + (state >> 29);
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        out[i] = (uint8_t)(state >> 56);
    }
    return 0;
}

static const uint8_t prefix[] = {0x30, 0x14, 0x04, DIGEST_BYTES};
static const struct evc_rsa_hash mixing = {.digest = mix,
                                           .digest_bytes = DIGEST_BYTES,
                                           .block_bytes = 64,
                                           .prefix = prefix,
                                           .prefix_bytes = sizeof prefix};

enum call {
    SIGN_PKCS1,
    VERIFY_PKCS1,
    SIGN_PSS,
    VERIFY_PSS,
    ENCRYPT_OAEP,
    DECRYPT_OAEP,
    ENCRYPT_PKCS1,
    DECRYPT_PKCS1
};
#define N_CALLS 8

/* Results of the calls so far. */
static struct {
    uint8_t digest[DIGEST_BYTES], signature[2][LONG_BYTES], message[5], ciphertext[2][LONG_BYTES];
    uint8_t out[LONG_BYTES + 1];
    size_t out_bytes; /* of the message that was decrypted */
} made;

/* The bytes of an output, which hold zeros after an error. */
static size_t room_of(enum call call)
{
    return call == VERIFY_PKCS1 || call == VERIFY_PSS ? 0
           : call == DECRYPT_OAEP                     ? ROOM_OF_OAEP
           : call == DECRYPT_PKCS1                    ? ROOM_OF_PKCS1
                                                      : LONG_BYTES;
}

static enum evc_status call_one(enum call call, const void *memory_of_key,
                                const struct evc_rsa_hash *hash, size_t scratch_bytes)
{
    const struct evc_rsa_private *const k = memory_of_key;
    const struct evc_rsa_public *const public_key =
        k->kernel ? evc_rsa_public_of(k) : memory_of_key;
    const struct evc_rsa_pss pss = {hash, hash, 9};
    const struct evc_rsa_oaep oaep = {hash, hash, made.digest, 3};
    uint8_t *const out = made.out;

    memset(made.out, 0xa5, sizeof made.out);
    switch (call) {
    case SIGN_PKCS1:
        return evc_rsa_sign_pkcs1(k, hash, made.digest, DIGEST_BYTES, &randomness, out, scratch,
                                  scratch_bytes);
    case VERIFY_PKCS1:
        return evc_rsa_verify_pkcs1(public_key, hash, made.digest, DIGEST_BYTES, made.signature[0],
                                    LONG_BYTES, scratch, scratch_bytes);
    case SIGN_PSS:
        return evc_rsa_sign_pss(k, &pss, made.digest, DIGEST_BYTES, &randomness, out, scratch,
                                scratch_bytes);
    case VERIFY_PSS:
        return evc_rsa_verify_pss(public_key, &pss, made.digest, DIGEST_BYTES, made.signature[1],
                                  LONG_BYTES, scratch, scratch_bytes);
    case ENCRYPT_OAEP:
        return evc_rsa_encrypt_oaep(public_key, &oaep, made.message, 5, &randomness, out, scratch,
                                    scratch_bytes);
    case DECRYPT_OAEP:
        return evc_rsa_decrypt_oaep(k, &oaep, made.ciphertext[0], LONG_BYTES, &randomness, out,
                                    &made.out_bytes, scratch, scratch_bytes);
    case ENCRYPT_PKCS1:
        return evc_rsa_encrypt_pkcs1(public_key, made.message, 5, &randomness, out, scratch,
                                     scratch_bytes);
    case DECRYPT_PKCS1: break;
    }
    return evc_rsa_decrypt_pkcs1(k, hash, made.ciphertext[1], LONG_BYTES, &randomness, out,
                                 &made.out_bytes, scratch, scratch_bytes);
}

static void make_all(void)
{
    calls_left = hashes_left = 1000000;
    memset(scratch, 0, sizeof scratch);
    must(set(&long_numbers));
    random_fill(made.digest, DIGEST_BYTES);
    random_fill(made.message, sizeof made.message);
    for (int i = 0; i < N_CALLS; i++) {
        must(call_one((enum call)i, memory, &mixing, sizeof scratch));
        if (i == SIGN_PKCS1 || i == SIGN_PSS)
            memcpy(made.signature[i == SIGN_PSS], made.out, LONG_BYTES);
        if (i == ENCRYPT_OAEP || i == ENCRYPT_PKCS1)
            memcpy(made.ciphertext[i == ENCRYPT_PKCS1], made.out, LONG_BYTES);
        if (i == DECRYPT_OAEP || i == DECRYPT_PKCS1)
            EXPECT(made.out_bytes == 5 && same(made.out, made.message, 5) &&
                   all_are(made.out + 5, 0, room_of((enum call)i) - 5));
        EXPECT(made.out[LONG_BYTES] == 0xa5 &&
               all_are(scratch, 0, evc_rsa_padding_scratch_bytes(kernel, 512)));
    }
}

static void refuse_call(enum call call, const struct evc_rsa_hash *hash, size_t scratch_bytes,
                        enum evc_status expected)
{
    EXPECT(call_one(call, memory, hash, scratch_bytes) == expected);
    EXPECT(all_are(made.out, 0, room_of(call)) && made.out[LONG_BYTES] == 0xa5);
}

static void keys_of_two_lengths_make_a_batch(void)
{
    uint8_t in[LONG_BYTES] = {0, 1}, out[2][LONG_BYTES], expected[LONG_BYTES];
    struct evc_rsa_operation operations[2] = {
        {.key = key, .in = in, .out = out[0]},
        {.key = (const void *)other_memory, .in = in, .out = out[1]}};

    calls_left = 100000;
    must(set(&long_numbers));
    must(evc_rsa_set_private_in(other_memory, sizeof other_memory, kernel, &first, 256, scratch,
                                sizeof scratch));
    for (int i = 0; i < 2; i++) { /* in either order */
        must(evc_rsa_private_many(operations, 2, &randomness, scratch, sizeof scratch));
        for (size_t j = 0; j < 2; j++) {
            must(evc_rsa_private(operations[j].key, in, expected, &randomness, scratch,
                                 sizeof scratch));
            EXPECT(same(operations[j].out, expected, operations[j].key->n_bytes));
        }
        operations[0].key = (const void *)other_memory;
        operations[1].key = key;
    }
}

static void hashes_and_randomness_that_fail_end_a_call(void)
{
    static const struct evc_rsa_hash none = {.digest_bytes = DIGEST_BYTES,
                                             .block_bytes = 64,
                                             .prefix = prefix,
                                             .prefix_bytes = sizeof prefix};
    struct evc_rsa_hash wrong = mixing;
    uint8_t signature[LONG_BYTES];
    const size_t needed = evc_rsa_padding_scratch_bytes(kernel, 512);
    static const EVC_ALIGN(16) uint8_t no_key[16384];

    for (int i = 0; i < 16; i++)
        make_all();
    for (int i = 0; i < N_CALLS; i++) {
        const int hashes = i == SIGN_PSS || (i >= VERIFY_PSS && i != ENCRYPT_PKCS1);
        int n = 0;

        refuse_call((enum call)i, &mixing, needed - 1, EVC_ERR_SCRATCH);
        EXPECT(call_one((enum call)i, memory, &mixing, needed) == EVC_OK);
        EXPECT(call_one((enum call)i, no_key, &mixing, needed) == EVC_ERR_KERNEL);
        EXPECT(all_are(made.out, 0xa5, LONG_BYTES));
        for (hashes_left = 0; hashes && n < 100; hashes_left = ++n) {
            if (call_one((enum call)i, memory, &mixing, needed) == EVC_OK)
                break;
            hashes_left = n;
            refuse_call((enum call)i, &mixing, needed, EVC_ERR_HASH);
            EXPECT(all_are(scratch, 0, needed));
        }
        EXPECT(!hashes || (n >= 3 && n < 100));
        hashes_left = 1000000;
        for (n = 0; room_of((enum call)i) && n < 100; n++) { /* a filling may need more calls */
            enum evc_status status;
            calls_left = n;
            status = call_one((enum call)i, memory, &mixing, needed);
            if (status == EVC_OK)
                break;
            EXPECT(status == EVC_ERR_RANDOM && all_are(made.out, 0, room_of((enum call)i)));
        }
        EXPECT(!room_of((enum call)i) || (n >= 1 && n < 100));
        calls_left = 1000000;
        if (i == ENCRYPT_PKCS1)
            continue;
        if (i == SIGN_PKCS1 || i == VERIFY_PKCS1)
            EXPECT(call_one((enum call)i, memory, &none, needed) == EVC_OK &&
                   (i == VERIFY_PKCS1 || same(made.out, made.signature[0], LONG_BYTES)));
        else
            refuse_call((enum call)i, &none, needed, EVC_ERR_HASH);
        EXPECT(call_one((enum call)i, memory, NULL, needed) == EVC_ERR_HASH);
        for (wrong.digest_bytes = 0; wrong.digest_bytes < 80; wrong.digest_bytes += 65)
            EXPECT(call_one((enum call)i, memory, &wrong, needed) == EVC_ERR_HASH);
    }
    /* twice that is 0 where size_t has 32 bits: there is no room to wipe */
    wrong.digest_bytes = UINT32_C(1) << 31;
    EXPECT(call_one(DECRYPT_OAEP, memory, &wrong, needed) == EVC_ERR_HASH &&
           all_are(made.out, 0xa5, LONG_BYTES));
    wrong = mixing;
    wrong.prefix = NULL;
    for (wrong.prefix_bytes = 0; wrong.prefix_bytes < 20; wrong.prefix_bytes += 19) {
        refuse_call(SIGN_PKCS1, &wrong, needed, EVC_ERR_HASH);
        EXPECT(call_one(VERIFY_PKCS1, memory, &wrong, needed) == EVC_ERR_HASH);
    }
    wrong.prefix = prefix; /* of no bytes: the digest alone is signed */
    wrong.prefix_bytes = 0;
    must(call_one(SIGN_PKCS1, memory, &wrong, needed));
    memcpy(signature, made.out, LONG_BYTES);
    EXPECT(!same(signature, made.signature[0], LONG_BYTES));
    must(evc_rsa_verify_pkcs1(evc_rsa_public_of(key), &wrong, made.digest, DIGEST_BYTES, signature,
                              LONG_BYTES, scratch, needed));
    EXPECT(evc_rsa_verify_pkcs1(evc_rsa_public_of(key), &mixing, made.digest, DIGEST_BYTES,
                                signature, LONG_BYTES, scratch, needed) == EVC_ERR_SIGNATURE);
    wrong = mixing;
    for (wrong.block_bytes = DIGEST_BYTES - 1; wrong.block_bytes < 200; wrong.block_bytes += 130)
        refuse_call(DECRYPT_PKCS1, &wrong, needed, EVC_ERR_HASH);
}

/* Inputs without bytes may be NULL; the sanitizers' build tells of pointers that
 * are used all the same. */
static void inputs_without_bytes_may_be_null(void)
{
    const struct evc_rsa_oaep no_label = {&mixing, &mixing, NULL, 0};
    const struct evc_rsa_pss pss = {&mixing, &mixing, 9};
    const struct evc_rsa_public *public_key;
    uint8_t ciphertext[LONG_BYTES];

    must(set(&long_numbers));
    public_key = evc_rsa_public_of(key);
    calls_left = hashes_left = 1000000;
    must(evc_rsa_private_many(NULL, 0, &randomness, NULL, 0));
    must(evc_rsa_encrypt_oaep(public_key, &no_label, NULL, 0, &randomness, ciphertext, scratch,
                              sizeof scratch));
    made.out_bytes = 1;
    must(evc_rsa_decrypt_oaep(key, &no_label, ciphertext, LONG_BYTES, &randomness, made.out,
                              &made.out_bytes, scratch, sizeof scratch));
    EXPECT(made.out_bytes == 0 && all_are(made.out, 0, ROOM_OF_OAEP));
    must(evc_rsa_encrypt_pkcs1(public_key, NULL, 0, &randomness, ciphertext, scratch,
                               sizeof scratch));
    made.out_bytes = 1;
    must(evc_rsa_decrypt_pkcs1(key, &mixing, ciphertext, LONG_BYTES, &randomness, made.out,
                               &made.out_bytes, scratch, sizeof scratch));
    EXPECT(made.out_bytes == 0 && all_are(made.out, 0, ROOM_OF_PKCS1));
    EXPECT(evc_rsa_decrypt_oaep(key, &no_label, NULL, 0, &randomness, made.out, &made.out_bytes,
                                scratch, sizeof scratch) == EVC_ERR_LENGTH);
    EXPECT(evc_rsa_decrypt_pkcs1(key, &mixing, NULL, 0, &randomness, made.out, &made.out_bytes,
                                 scratch, sizeof scratch) == EVC_ERR_LENGTH);
    EXPECT(evc_rsa_verify_pkcs1(public_key, &mixing, made.digest, DIGEST_BYTES, NULL, 0, scratch,
                                sizeof scratch) == EVC_ERR_SIGNATURE);
    EXPECT(evc_rsa_verify_pss(public_key, &pss, made.digest, DIGEST_BYTES, NULL, 0, scratch,
                              sizeof scratch) == EVC_ERR_SIGNATURE);
    EXPECT(evc_rsa_sign_pss(key, &pss, NULL, 0, &randomness, made.out, scratch, sizeof scratch) ==
           EVC_ERR_LENGTH);
    EXPECT(evc_rsa_set_public_in(memory, sizeof memory, kernel, NULL, 0, long_e, 1, 256) ==
           EVC_ERR_KEY_SIZE);
    EXPECT(evc_rsa_set_public_in(memory, sizeof memory, kernel, long_n, LONG_BYTES, NULL, 0, 256) ==
           EVC_ERR_KEY);
    EXPECT(all_are(memory, 0, sizeof memory));
}

static void filling_of_encryption_has_no_zeros(void)
{
    int constant = 0;
    const struct evc_random stuck = {fill, &constant};
    uint8_t out[LONG_BYTES];

    make_all();
    EXPECT(evc_rsa_encrypt_pkcs1(evc_rsa_public_of(key), made.message, 5, &stuck, out, scratch,
                                 sizeof scratch) == EVC_ERR_RANDOM);
    EXPECT(all_are(out, 0, LONG_BYTES));
    /* a message comes back, which a zero in the filling would make longer */
    for (int i = 0; i < 200; i++) {
        must(call_one(ENCRYPT_PKCS1, memory, &mixing, sizeof scratch));
        memcpy(made.ciphertext[1], made.out, LONG_BYTES);
        must(call_one(DECRYPT_PKCS1, memory, &mixing, sizeof scratch));
        EXPECT(made.out_bytes == 5 && same(made.out, made.message, 5));
    }
}

static const struct evc_bn *kernel_for(uint64_t features, unsigned policy, size_t n_bits)
{
    return evc_bn_select_for(features, policy, EVC_USE_ANY, n_bits);
}

/* n has the length from which vectors are the fastest; p and q, which a private operation computes
 * with, are shorter. */
static void the_best_keys_are_of_the_kernel_for_their_length(void)
{
    const struct evc_rsa_public *const public_key = (const void *)memory;
    const uint64_t here = evc_cpu_features();

    for (unsigned bit = 0; bit <= 64; bit++) {
        const uint64_t features = bit < 64 ? here & ~(UINT64_C(1) << bit) : here;

        if (features == here && bit < 64)
            continue;
        EXPECT(evc_rsa_set_best_private_in(memory, EVC_RSA_MOST_PRIVATE_BYTES(512), features,
                                           EVC_ALLOW_VARTIME, &long_numbers, 512, scratch,
                                           EVC_RSA_MOST_SCRATCH_BYTES(512)) == EVC_OK);
        EXPECT(key->kernel == kernel_for(features, EVC_ALLOW_VARTIME, 256));
        EXPECT(evc_rsa_set_best_public_in(memory, EVC_RSA_MOST_PUBLIC_BYTES(512), features,
                                          EVC_ALLOW_VARTIME, long_n, sizeof long_n, long_e,
                                          sizeof long_e, 512) == EVC_OK);
        EXPECT(public_key->kernel == kernel_for(features, EVC_ALLOW_VARTIME, 512));
    }
    EXPECT(evc_rsa_set_best_private_in(memory, sizeof memory, here, EVC_ALLOW_VARTIME,
                                       &long_numbers, 0, scratch, sizeof scratch) ==
           EVC_ERR_KEY_SIZE);
    EXPECT(evc_rsa_set_best_public_in(memory, sizeof memory, here, EVC_ALLOW_VARTIME, long_n,
                                      sizeof long_n, long_e, sizeof long_e, 0) ==
           EVC_ERR_KEY_SIZE);
}

static void prefixes_have_names(void)
{
    uint32_t n;

    EXPECT(evc_rsa_digest_prefix("sha256", &n) && n == 19 && evc_rsa_digest_prefix("sha1", &n) &&
           n == 15);
    EXPECT(!evc_rsa_digest_prefix("sha25", &n) && n == 0 && !evc_rsa_digest_prefix("sha2566", &n));
    EXPECT(!evc_rsa_digest_prefix("", &n));
}

int main(void)
{
    /* this kernel multiplies, and nothing here is a secret */
    kernel = evc_bn_named(EVC_WORD64 ? "c_limb64" : "c_limb32");
    if (!kernel)
        kernel = evc_bn_named("c_limb32");
    RUN(private_undoes_public);
    RUN(keys_may_be_copied);
    RUN(numbers_out_of_range_are_refused);
    RUN(too_little_scratch_memory_is_refused);
    RUN(private_operations_need_randomness);
    RUN(operations_of_a_batch_stand_alone);
    RUN(faults_in_either_half_are_caught);
    RUN(faults_are_caught_whatever_the_length_of_e);
    RUN(faults_in_a_lane_end_one_operation);
    RUN(a_base_that_is_a_multiple_of_the_prime_is_a_fault);
    RUN(keys_that_are_not_set_up_are_refused);
    RUN(set_ups_wipe_the_key_that_was_there);
    RUN(keys_that_are_too_small_are_refused);
    RUN(exponents_that_are_out_of_range_are_refused);
    RUN(numbers_that_do_not_belong_together_are_refused);
    RUN(primes_of_keys_are_checked);
    RUN(generation_needs_memory_and_randomness);
    RUN(primes_that_are_near_to_each_other_are_refused);
    RUN(keys_of_two_lengths_make_a_batch);
    RUN(hashes_and_randomness_that_fail_end_a_call);
    RUN(inputs_without_bytes_may_be_null);
    RUN(filling_of_encryption_has_no_zeros);
    RUN(the_best_keys_are_of_the_kernel_for_their_length);
    RUN(prefixes_have_names);
    return tap_done();
}

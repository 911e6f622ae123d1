/* SPDX-License-Identifier: MIT */
/* Diffie-Hellman as its caller meets it: statuses, memory, randomness that fails, keys that are not
 * set up. Values are held against Python and published vectors by dh_against_python.py. */
#include "tap.h"

#include "everycore/dh.h"

#define P_BYTES 16
#define Q_BYTES 16
#define LONG_BYTES 32

/* A safe prime of 128 bits; then p of 256 bits, with q of 128 bits and a g of that order. */
static const uint8_t safe_p[P_BYTES] = {0xdb, 0x1e, 0x03, 0xb7, 0xc8, 0x28, 0x16, 0x3b,
                                        0x13, 0x53, 0x02, 0xf7, 0x14, 0xdf, 0x41, 0x57};
static const uint8_t long_p[LONG_BYTES] = {
    0x87, 0xc0, 0x29, 0x63, 0x65, 0xc7, 0xe7, 0x98, 0xe4, 0x39, 0x31, 0x3d, 0xb5, 0x2b, 0x13, 0xec,
    0xfa, 0x55, 0xe0, 0xc6, 0x8c, 0x1d, 0xd9, 0xd9, 0xd8, 0x7a, 0x99, 0x33, 0x60, 0x93, 0xfb, 0xfd};
static const uint8_t long_q[Q_BYTES] = {0xd6, 0xfe, 0x09, 0xf7, 0xde, 0x26, 0xc4, 0x5b,
                                        0xfa, 0xd9, 0xd3, 0xa9, 0x0a, 0xdd, 0x12, 0xe3};
static const uint8_t long_g[LONG_BYTES] = {
    0x2f, 0x77, 0x4f, 0x9d, 0xa6, 0xb0, 0x81, 0xef, 0x2f, 0x64, 0xbe, 0xdb, 0x97, 0xdb, 0x5a, 0x06,
    0xcb, 0xe1, 0x33, 0xac, 0xac, 0x6c, 0x80, 0xe4, 0x3c, 0x78, 0x1a, 0x14, 0xac, 0xfb, 0xb9, 0xf3};
static const uint8_t two[1] = {2};

static const struct evc_dh_params safe = {NULL, safe_p, NULL, two, P_BYTES, 0, 1};
static const struct evc_dh_params subgroup = {NULL,       long_p,  long_q,    long_g,
                                              LONG_BYTES, Q_BYTES, LONG_BYTES};

static const struct evc_bn *kernel;
static EVC_ALIGN(16) uint8_t memory[8192];
static const struct evc_dh_group *const group = (const void *)memory;
static uint8_t scratch[32768];

static enum evc_status set(const struct evc_dh_params *params, size_t least_bits)
{
    memset(memory, 0xa5, sizeof memory);
    return evc_dh_set_group_in(memory, sizeof memory, kernel, params, least_bits);
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

static void both_sides_share_the_same(void)
{
    static const struct evc_random random = {fill, NULL};
    static const struct evc_dh_params *const both[] = {&safe, &subgroup};

    for (int i = 0; i < 40; i++) {
        uint8_t a[64], b[64], to_b[64], to_a[64], of_a[64], of_b[64];
        calls_left = 1000;
        EXPECT(set(both[i % 2], 128) == EVC_OK && group->p_bytes == both[i % 2]->p_bytes);
        EXPECT(group->secret_bytes == 16);
        must(evc_dh_make_secret(group, &random, a));
        must(evc_dh_make_secret(group, &random, b));
        must(evc_dh_public(group, a, to_b, scratch, sizeof scratch));
        must(evc_dh_public(group, b, to_a, scratch, sizeof scratch));
        must(evc_dh_shared(group, a, to_a, group->p_bytes, i % 4 < 2, of_a, scratch,
                           sizeof scratch));
        must(evc_dh_shared(group, b, to_b, group->p_bytes, 0, of_b, scratch, sizeof scratch));
        EXPECT(same(of_a, of_b, group->p_bytes) && !same(a, b, 16) && !same(to_a, to_b, 16));
    }
}

static void values_of_peers_may_lack_their_zeros(void)
{
    const uint8_t x[16] = {[15] = 3};
    uint8_t z[16], eight[16] = {[15] = 64}; /* 4^3 */

    must(set(&safe, 128));
    for (size_t n = 1; n <= 16; n++) {
        uint8_t value[16] = {0};
        value[n - 1] = 4;
        EXPECT(evc_dh_shared(group, x, value, n, 0, z, scratch, sizeof scratch) == EVC_OK &&
               same(z, eight, 16));
    }
}

static int scratch_is_clean(void)
{
    for (size_t i = 0; i < sizeof scratch; i++)
        if (scratch[i] != 0 && scratch[i] != 0xa5)
            return 0;
    return 1;
}

/* z is wiped whenever a call fails, and scratch memory holds zeros or what was there before. */
static enum evc_status shared(const uint8_t *x, const uint8_t *peer, size_t peer_bytes,
                              unsigned flags, size_t scratch_bytes)
{
    uint8_t z[LONG_BYTES + 1];
    enum evc_status status;

    memset(z, 0xa5, sizeof z);
    memset(scratch, 0xa5, sizeof scratch);
    status = evc_dh_shared(group, x, peer, peer_bytes, flags, z, scratch, scratch_bytes);
    EXPECT(scratch_is_clean());
    EXPECT(all_are(z + group->p_bytes, 0xa5, sizeof z - group->p_bytes));
    if (status != EVC_OK)
        EXPECT(all_are(z, 0, group->p_bytes));
    return status;
}

static void bad_values_of_peers_are_refused(void)
{
    uint8_t x[16] = {[15] = 5}, value[LONG_BYTES + 1];

    for (int i = 0; i < 2; i++) {
        const struct evc_dh_params *params = i ? &subgroup : &safe;
        const size_t n = params->p_bytes;
        must(set(params, 128));
        for (unsigned flags = 0; flags < 2; flags++) {
            memset(value, 0, sizeof value);
            EXPECT(shared(x, value, n, flags, sizeof scratch) == EVC_ERR_PEER); /* 0 */
            value[n - 1] = 1;
            EXPECT(shared(x, value, n, flags, sizeof scratch) == EVC_ERR_PEER);
            memcpy(value, params->p, n);
            EXPECT(shared(x, value, n, flags, sizeof scratch) == EVC_ERR_PEER);
            value[n - 1]--; /* p - 1, of order 2 */
            EXPECT(shared(x, value, n, flags, sizeof scratch) == EVC_ERR_PEER);
            memset(value, 0xff, n);
            EXPECT(shared(x, value, n, flags, sizeof scratch) == EVC_ERR_PEER);
        }
        memcpy(value, params->p, n);
        value[n - 1] -= 2; /* p - 2: -2, and 2 is a square modulo the safe prime, but -1 is none */
        EXPECT(shared(x, value, n, 0, sizeof scratch) == (i ? EVC_ERR_PEER : EVC_OK));
        EXPECT(shared(x, value, n, EVC_DH_CHECK_ORDER, sizeof scratch) == EVC_ERR_PEER);
        EXPECT(shared(x, value, 0, 0, sizeof scratch) == EVC_ERR_LENGTH);
        EXPECT(shared(x, value, n + 1, 0, sizeof scratch) == EVC_ERR_LENGTH);
        EXPECT(shared(x, value, n, 2, sizeof scratch) == EVC_ERR_PARAMETER);
        EXPECT(shared(x, value, n, 0, evc_dh_scratch_bytes(kernel, 8 * n) - 1) == EVC_ERR_SCRATCH);
    }
    /* A secret that is a multiple of the order makes 1 of every value. */
    memcpy(x, long_q, 16);
    EXPECT(shared(x, long_g, LONG_BYTES, 0, sizeof scratch) == EVC_ERR_PEER);
    memset(x, 0, 16);
    EXPECT(shared(x, long_g, LONG_BYTES, 0, sizeof scratch) == EVC_ERR_RANGE);
    memset(value, 0xa5, sizeof value);
    EXPECT(evc_dh_public(group, x, value, scratch, sizeof scratch) == EVC_ERR_RANGE &&
           all_are(value, 0, LONG_BYTES));
    x[0] = 1;
    memset(value, 0xa5, sizeof value);
    EXPECT(evc_dh_public(group, x, value, scratch, 100) == EVC_ERR_SCRATCH &&
           all_are(value, 0, LONG_BYTES));
    EXPECT(evc_dh_shared(group, x, long_g, LONG_BYTES, 0, value, NULL, 0) == EVC_ERR_SCRATCH);
}

static void refuse(struct evc_dh_params params, enum evc_status expected)
{
    EXPECT(set(&params, 128) == expected);
    EXPECT(all_are(memory, 0, sizeof memory));
}

static void parameters_that_are_no_group_are_refused(void)
{
    static uint8_t even[LONG_BYTES], with_zero[LONG_BYTES], one[1] = {1}, zero[1] = {0},
                                                            huge[EVC_BN_MAX_BYTES + 1];
    struct evc_dh_params params = subgroup;

    memcpy(even, long_p, LONG_BYTES);
    even[LONG_BYTES - 1]--; /* p - 1 too */
    memcpy(with_zero + 1, long_p + 1, LONG_BYTES - 1);
    memset(huge, 0xff, sizeof huge);
    params.p = even;
    refuse(params, EVC_ERR_GROUP);
    params.p = with_zero;
    refuse(params, EVC_ERR_GROUP);
    params.p = NULL;
    refuse(params, EVC_ERR_GROUP);
    params = subgroup;
    params.p_bytes = 0;
    refuse(params, EVC_ERR_GROUP);
    params.p = huge;
    params.p_bytes = sizeof huge;
    refuse(params, EVC_ERR_KEY_SIZE);
    params = subgroup;
    params.q = even;
    params.q_bytes = LONG_BYTES;
    refuse(params, EVC_ERR_GROUP);
    params.q = long_p; /* not below p */
    refuse(params, EVC_ERR_GROUP);
    params.q = long_q;
    params.q_bytes = 15; /* it ends with an odd byte or not: too short in any case */
    refuse(params, EVC_ERR_GROUP);
    params.q_bytes = LONG_BYTES + 1;
    refuse(params, EVC_ERR_GROUP);
    params = subgroup;
    params.g = long_p;
    refuse(params, EVC_ERR_GROUP);
    params.g = even;
    refuse(params, EVC_ERR_GROUP);
    params.g = one;
    params.g_bytes = 1;
    refuse(params, EVC_ERR_GROUP);
    params.g = zero;
    refuse(params, EVC_ERR_GROUP);
    params.g = NULL;
    refuse(params, EVC_ERR_GROUP);
}

static void groups_that_are_too_small_are_refused(void)
{
    EXPECT(set(&safe, 0) == EVC_ERR_KEY_SIZE && set(&safe, 129) == EVC_ERR_KEY_SIZE &&
           set(&safe, 128) == EVC_OK);
    EXPECT(set(evc_dh_params_named("modp1536"), 0) == EVC_ERR_KEY_SIZE);
    EXPECT(set(evc_dh_params_named("modp1536"), 1536) == EVC_OK &&
           set(evc_dh_params_named("modp2048"), 0) == EVC_OK);
    EXPECT(group->secret_bytes == 29 && group->p_bytes == 256);
    {
        static uint8_t short_p[LONG_BYTES];
        struct evc_dh_params params = {NULL, short_p, NULL, two, LONG_BYTES, 0, 1};
        memcpy(short_p, long_p, LONG_BYTES);
        short_p[0] = 1; /* 249 bits */
        EXPECT(set(&params, 250) == EVC_ERR_KEY_SIZE && set(&params, 249) == EVC_OK);
        EXPECT(set(&subgroup, 257) == EVC_ERR_KEY_SIZE && set(&subgroup, 256) == EVC_OK);
    }
}

/* Whatever the lengths of p and q: secrets are numbers below q, of q_bytes bytes. */
static void secrets_are_as_long_as_a_given_q(void)
{
    static const struct evc_random random = {fill, NULL};
    struct evc_dh_params params = subgroup;
    uint8_t x[LONG_BYTES + 1];

    params.q = long_p + 1; /* odd; nothing here asks for a prime */
    params.q_bytes = LONG_BYTES - 1;
    calls_left = 1000;
    for (int i = 0; i < 20; i++) {
        EXPECT(set(&params, 128) == EVC_OK && group->secret_bytes == params.q_bytes);
        memset(x, 0xa5, sizeof x);
        EXPECT(evc_dh_make_secret(group, &random, x) == EVC_OK &&
               memcmp(x, params.q, params.q_bytes) < 0);
        EXPECT(all_are(x + params.q_bytes, 0xa5, sizeof x - params.q_bytes));
    }
}

static void values_without_bytes_may_be_null(void)
{
    uint8_t x[64] = {1}, z[P_BYTES];

    must(set(&safe, 128));
    memset(z, 0xa5, sizeof z);
    EXPECT(evc_dh_shared(group, x, NULL, 0, 0, z, scratch, sizeof scratch) == EVC_ERR_LENGTH);
    EXPECT(all_are(z, 0, sizeof z));
}

/* A longer group, or a secret, stood there. */
static void groups_leave_nothing_of_what_stood_in_their_memory(void)
{
    const struct evc_dh_params *const both[] = {&safe, &subgroup};

    for (size_t i = 0; i < 2; i++) {
        const size_t group_bytes = evc_dh_group_bytes(kernel, 8 * (size_t)both[i]->p_bytes);
        uint8_t first[sizeof memory];
        must(set(both[i], 128));
        EXPECT(all_are(memory + group_bytes, 0, sizeof memory - group_bytes));
        memcpy(first, memory, sizeof memory);
        memset(memory, 0x3c, sizeof memory);
        must(evc_dh_set_group_in(memory, sizeof memory, kernel, both[i], 128));
        EXPECT(memcmp(first, memory, sizeof memory) == 0);
    }
}

static void groups_that_are_not_set_up_are_refused(void)
{
    uint8_t x[64] = {1}, y[64];
    static const struct evc_random random = {fill, NULL};

    memset(memory, 0, sizeof memory);
    memset(y, 0xa5, sizeof y);
    calls_left = 1000;
    EXPECT(evc_dh_make_secret(group, &random, y) == EVC_ERR_KERNEL);
    EXPECT(evc_dh_public(group, x, y, scratch, sizeof scratch) == EVC_ERR_KERNEL);
    EXPECT(evc_dh_shared(group, x, x, 1, 0, y, scratch, sizeof scratch) == EVC_ERR_KERNEL);
    EXPECT(evc_dh_check_group(group, scratch, sizeof scratch) == EVC_ERR_KERNEL &&
           all_are(y, 0xa5, sizeof y));
    EXPECT(evc_dh_set_group_in(memory, sizeof memory, NULL, &safe, 128) == EVC_ERR_KERNEL);
    EXPECT(evc_dh_set_group_in(memory, sizeof memory, kernel, NULL, 128) ==
           EVC_ERR_PARAMETER);
    EXPECT(evc_dh_set_group_in(memory, evc_dh_group_bytes(kernel, 128) - 1, kernel, &safe, 128) ==
           EVC_ERR_KERNEL);
    EXPECT(evc_dh_set_group_in(memory + 8, evc_dh_group_bytes(kernel, 128), kernel, &safe, 128) ==
           EVC_ERR_ALIGNMENT);
    memcpy(memory, safe_p, P_BYTES);
    {
        const struct evc_dh_params inside = {NULL, memory, NULL, two, P_BYTES, 0, 1};
        EXPECT(evc_dh_set_group_in(memory, sizeof memory, kernel, &inside, 128) == EVC_ERR_OVERLAP);
    }
    EXPECT(evc_dh_group_bytes(NULL, 128) == 0 && evc_dh_group_bytes(kernel, 129) == 0);
    EXPECT(evc_dh_scratch_bytes(NULL, 128) == 0 && evc_dh_check_scratch_bytes(kernel, 8200) == 0);
}

static void groups_are_checked(void)
{
    const size_t needed = evc_dh_check_scratch_bytes(kernel, 256);
    struct evc_dh_params params = subgroup;

    EXPECT(set(&subgroup, 128) == EVC_OK && evc_dh_check_group(group, scratch, needed) == EVC_OK);
    EXPECT(all_are(scratch, 0, needed) &&
           evc_dh_check_group(group, scratch, needed - 1) == EVC_ERR_SCRATCH);
    params.g = two;
    params.g_bytes = 1;
    EXPECT(set(&params, 128) == EVC_OK &&
           evc_dh_check_group(group, scratch, needed) == EVC_ERR_GROUP);
    params = subgroup;
    params.q = safe_p; /* a prime that does not divide p - 1 */
    EXPECT(set(&params, 128) == EVC_OK &&
           evc_dh_check_group(group, scratch, needed) == EVC_ERR_GROUP);
    params.q = NULL; /* p is prime, and (p - 1) / 2 is not */
    EXPECT(set(&params, 128) == EVC_OK &&
           evc_dh_check_group(group, scratch, needed) == EVC_ERR_COMPOSITE);
    EXPECT(set(&safe, 128) == EVC_OK && evc_dh_check_group(group, scratch, needed) == EVC_OK);
}

static EVC_ALIGN(16) uint8_t table_memory[32768];
static struct evc_dh_table *const table = (void *)table_memory;

static enum evc_status set_table(size_t n_blocks)
{
    memset(table_memory, 0xa5, sizeof table_memory);
    memset(scratch, 0xa5, sizeof scratch);
    return evc_dh_set_table_in(table_memory, sizeof table_memory, group, n_blocks, scratch,
                               sizeof scratch);
}

static enum evc_status public_by_table(const uint8_t *x, size_t scratch_bytes)
{
    uint8_t y[LONG_BYTES + 1];
    enum evc_status status;

    memset(y, 0xa5, sizeof y);
    memset(scratch, 0xa5, sizeof scratch);
    status = evc_dh_public_by_table(group, table, x, y, scratch, scratch_bytes);
    EXPECT(scratch_is_clean() && all_are(y + group->p_bytes, 0xa5, sizeof y - group->p_bytes));
    if (status == EVC_ERR_KERNEL)
        EXPECT(all_are(y, 0xa5, group->p_bytes));
    else if (status != EVC_OK)
        EXPECT(all_are(y, 0, group->p_bytes));
    return status;
}

static void tables_give_the_values_of_their_group_alone(void)
{
    static EVC_ALIGN(16) uint8_t copy[sizeof table_memory];
    struct evc_dh_params other = safe;
    uint8_t x[16], y[LONG_BYTES], by_table[LONG_BYTES];
    static const uint8_t four[1] = {4};

    for (size_t n_blocks = 1; n_blocks <= EVC_DH_MOST_BLOCKS; n_blocks++) {
        must(set(n_blocks % 2 ? &safe : &subgroup, 128));
        EXPECT(set_table(n_blocks) == EVC_OK && scratch_is_clean());
        memcpy(copy, table_memory, sizeof copy);
        random_fill(x, sizeof x);
        must(evc_dh_public(group, x, y, scratch, sizeof scratch));
        must(evc_dh_public_by_table(group, (const void *)copy, x, by_table, scratch,
                                    sizeof scratch));
        EXPECT(same(y, by_table, group->p_bytes));
    }
    must(set(&safe, 128));
    EXPECT(set_table(4) == EVC_OK && public_by_table(x, sizeof scratch) == EVC_OK);
    EXPECT(public_by_table(x, evc_dh_scratch_bytes(kernel, 128) - 1) == EVC_ERR_SCRATCH);
    memset(x, 0, sizeof x);
    EXPECT(public_by_table(x, sizeof scratch) == EVC_ERR_RANGE);
    x[3] = 1;
    other.g = four;
    /* g is another one */
    EXPECT(set(&other, 128) == EVC_OK && public_by_table(x, sizeof scratch) == EVC_ERR_GROUP);
    EXPECT(set(&subgroup, 128) == EVC_OK && public_by_table(x, sizeof scratch) == EVC_ERR_GROUP);
    must(evc_dh_set_group_in(memory, sizeof memory, evc_bn_named("c_ref"), &safe, 128));
    EXPECT(public_by_table(x, sizeof scratch) == EVC_ERR_GROUP); /* another kernel */
}

static void tables_that_cannot_be_are_refused(void)
{
    const uint8_t x[16] = {1};
    const size_t needed = evc_dh_table_bytes(kernel, 128, 4);

    must(set(&safe, 128));
    EXPECT(set_table(0) == EVC_ERR_PARAMETER && all_are(table_memory, 0, sizeof table_memory));
    EXPECT(public_by_table(x, sizeof scratch) == EVC_ERR_KERNEL);
    EXPECT(set_table(EVC_DH_MOST_BLOCKS + 1) == EVC_ERR_PARAMETER);
    EXPECT(evc_dh_set_table_in(table_memory, needed - 1, group, 4, scratch, sizeof scratch) ==
           EVC_ERR_KERNEL);
    EXPECT(evc_dh_set_table_in(table_memory, needed, group, 4, scratch, sizeof scratch) == EVC_OK);
    EXPECT(evc_dh_set_table_in(table_memory + 8, needed, group, 4, scratch, sizeof scratch) ==
           EVC_ERR_ALIGNMENT);
    EXPECT(evc_dh_set_table_in(table_memory, needed, group, 4, scratch,
                               evc_dh_scratch_bytes(kernel, 128) - 1) == EVC_ERR_SCRATCH);
    EXPECT(public_by_table(x, sizeof scratch) == EVC_ERR_KERNEL);
    EXPECT(evc_dh_set_table_in(memory, sizeof memory, group, 1, scratch, sizeof scratch) ==
           EVC_ERR_OVERLAP);
    /* Other errors wipe the memory, in which the group lies. */
    EXPECT(evc_dh_set_table_in(memory, sizeof memory, group, EVC_DH_MOST_BLOCKS + 1, scratch,
                               sizeof scratch) == EVC_ERR_OVERLAP);
    EXPECT(group->kernel == kernel);
    EXPECT(evc_dh_table_bytes(NULL, 128, 1) == 0 && evc_dh_table_bytes(kernel, 129, 1) == 0);
    EXPECT(evc_dh_table_bytes(kernel, 128, 0) == 0 && evc_dh_table_bytes(kernel, 128, 17) == 0);
    /* no division by a number of blocks that is 0 */
    for (uint32_t damaged = 0; damaged < 3; damaged++) {
        static const uint32_t blocks[] = {0, EVC_DH_MOST_BLOCKS + 1, UINT32_MAX};
        EXPECT(set_table(4) == EVC_OK);
        table->n_blocks = blocks[damaged];
        EXPECT(public_by_table(x, sizeof scratch) == EVC_ERR_GROUP);
    }
    EXPECT(set_table(1) == EVC_OK);
    evc_wipe(memory, sizeof memory);
    EXPECT(public_by_table(x, sizeof scratch) == EVC_ERR_KERNEL && set_table(1) == EVC_ERR_KERNEL);
}

static void secrets_need_randomness(void)
{
    int constant = 0;
    const struct evc_random random = {fill, NULL}, stuck = {fill, &constant}, none = {NULL, NULL};
    uint8_t x[16];

    for (int i = 0; i < 2; i++) {
        must(set(i ? &subgroup : &safe, 128));
        calls_left = 0;
        memset(x, 0xa5, sizeof x);
        EXPECT(evc_dh_make_secret(group, &random, x) == EVC_ERR_RANDOM && all_are(x, 0, sizeof x));
        EXPECT(evc_dh_make_secret(group, &none, x) == EVC_ERR_RANDOM);
        EXPECT(evc_dh_make_secret(group, NULL, x) == EVC_ERR_RANDOM);
        for (constant = 0; constant < 256; constant += 255) {
            calls_left = 100000;
            EXPECT(evc_dh_make_secret(group, &stuck, x) == EVC_ERR_RANDOM &&
                   all_are(x, 0, sizeof x));
        }
    }
}

static void groups_have_names(void)
{
    const struct evc_dh_params *params;
    unsigned n = 0;

    for (; (params = evc_dh_params_at(n)) != NULL; n++) {
        EXPECT(evc_dh_params_named(params->name) == params);
        EXPECT(all_are(params->p, 0xff, 8) && all_are(params->p + params->p_bytes - 8, 0xff, 8));
        EXPECT(params->g[0] == 2 && params->g_bytes == 1 && !params->q);
    }
    EXPECT(n == 11 && !evc_dh_params_named("") && !evc_dh_params_named("modp") &&
           !evc_dh_params_named("modp15360"));
}

int main(void)
{
    /* this kernel multiplies, and nothing here is a secret */
    kernel = evc_bn_named(EVC_WORD64 ? "c_limb64" : "c_limb32");
    if (!kernel)
        kernel = evc_bn_named("c_limb32");
    RUN(both_sides_share_the_same);
    RUN(values_of_peers_may_lack_their_zeros);
    RUN(bad_values_of_peers_are_refused);
    RUN(parameters_that_are_no_group_are_refused);
    RUN(groups_that_are_too_small_are_refused);
    RUN(secrets_are_as_long_as_a_given_q);
    RUN(values_without_bytes_may_be_null);
    RUN(groups_leave_nothing_of_what_stood_in_their_memory);
    RUN(groups_that_are_not_set_up_are_refused);
    RUN(groups_are_checked);
    RUN(tables_give_the_values_of_their_group_alone);
    RUN(tables_that_cannot_be_are_refused);
    RUN(secrets_need_randomness);
    RUN(groups_have_names);
    return tap_done();
}

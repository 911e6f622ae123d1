/* SPDX-License-Identifier: MIT */
/*
 * The properties that every GHASH kernel has, held against the field's definition in gf128.h.
 */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "everycore/cpu.h"
#include "everycore/ghash.h"

#include "gf128.h"
#include "check_abi.h"
#include "check_long.h"
#include "check_siv.h"
#include "key_room.h"
#include "must.h"
#include "names.h"
#include "port/port.h"
#include "residue.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

#define MAX_BLOCKS 1024 /* of a message under test */
#define MAX_BYTES (16 * MAX_BLOCKS)
#define MAX_KEY 8192   /* bytes; kernels chosen by name may have keys beyond the union */

static const struct evc_ghash *kernel_of(const struct check *c)
{
    return evc_ghash_named(c->line->name);
}

static void flip_bit(uint8_t block[16], size_t i)
{
    block[i / 8] ^= (uint8_t)(0x80 >> i % 8);
}

/* ---- Comparison of one run with what is known ------------------------------------------------ */

/* A subkey, a message, and the hash of each of its prefixes of whole blocks;
 * too big for the stack. */
static struct {
    uint8_t h[16], in[MAX_BYTES], y[MAX_BLOCKS + 1][16]; /* y[0]: before the message, random */
} known;

static void know_random(struct check *c, size_t n_blocks)
{
    random_bytes(&c->random, known.h, 16);
    random_bytes(&c->random, known.y[0], 16);
    random_bytes(&c->random, known.in, 16 * n_blocks);
    for (size_t i = 0; i < n_blocks; i++) {
        memcpy(known.y[i + 1], known.y[i], 16);
        gf128_add(known.y[i + 1], known.in + 16 * i);
        gf128_multiply(known.y[i + 1], known.h);
    }
}

union room {
    struct evc_ghash_head head;
    EVC_ALIGN(16) uint8_t bytes[MAX_KEY];
};
static KEY_ROOM(union room) key_place;
static union room *const key_room = &key_place.key;

static bool make_key(const struct check *c, const uint8_t h[16])
{
    memset(key_room, 0xaa, sizeof *key_room);
    return evc_ghash_set_key_in(key_room, sizeof *key_room, kernel_of(c), h) == EVC_OK;
}

static enum result agree(struct check *c, const uint8_t y[16], const uint8_t expected[16],
                         size_t len_bytes, const char *where)
{
    c->cases++;
    for (size_t i = 0; i < 16; i++)
        if (y[i] != expected[i])
            return check_fail(c, "%zu bytes, %s: byte %zu of the hash is %02x, not %02x", len_bytes,
                              where, i, y[i], expected[i]);
    return PASS;
}

/* Beyond two turns of the kernel's batch and some. */
static size_t most_blocks(const struct check *c)
{
    size_t n = 4 * (size_t)kernel_of(c)->kernel.batch + 5;

    n = n < 70 ? 70 : n;
    return n < MAX_BLOCKS ? n : MAX_BLOCKS;
}

static enum result descriptor_agrees_with_its_line(struct check *c)
{
    const struct evc_ghash *ghash = kernel_of(c);
    const struct evc_kernel *k = ghash ? &ghash->kernel : NULL;
    KEY_AT_16(union evc_ghash_key, key);

    c->cases = 8;
    if (!k)
        return check_fail(c, "evc_ghash_named() does not find it");
    if (strcmp(k->name, c->line->name) != 0)
        return check_fail(c, "its name is %s", k->name);
    if (k->needs != c->line->needs || k->timing != c->line->timing || k->use != c->line->use)
        return check_fail(c, "needs, timing class or use differ from the line of kernels.def");
    if (k->key_bytes < sizeof(struct evc_ghash_head) || k->key_bytes > MAX_KEY)
        return check_fail(c, "a key of %u bytes", (unsigned)k->key_bytes);
    if (k->key_align < 16 || (k->key_align & (k->key_align - 1)) != 0)
        return check_fail(c, "a key aligned to %u", (unsigned)k->key_align);
    if (k->batch == 0)
        return check_fail(c, "a batch of 0 blocks");
    if (!ghash->set_key || !ghash->blocks)
        return check_fail(c, "a mandatory operation is missing");
    bool fits = k->key_bytes <= sizeof *key && k->key_align <= 16;
    if ((evc_ghash_set_key(key, ghash, known.h) == EVC_OK) != fits)
        return check_fail(c, "a key of %u bytes is %s", (unsigned)k->key_bytes,
                          fits ? "refused" : "taken");
    if (evc_ghash_set_key_in(key_room, k->key_bytes - 1, ghash, known.h) != EVC_ERR_KERNEL)
        return check_fail(c, "a key is made in too little memory");
    return PASS;
}

/* A kernel whose key does not fit the union is for those who name it. */
static enum result selection_returns_keys_that_fit(struct check *c)
{
    const struct evc_kernel *k = &kernel_of(c)->kernel;
    const uint64_t all = evc_cpu_features();

    for (unsigned policy = 0; policy < 4; policy++)
        for (int i = 0; i < 2000; i++, c->cases++) {
            uint64_t some = random_next(&c->random) | random_next(&c->random);
            const struct evc_ghash *found = evc_ghash_select(i ? all & some : 0, policy);
            if (!found)
                return check_fail(c, "policy %u: nothing fits", policy);
            if (found == kernel_of(c) && k->key_bytes > sizeof(union evc_ghash_key))
                return check_fail(c, "policy %u: selected with a key of %u bytes", policy,
                                  (unsigned)k->key_bytes);
        }
    return PASS;
}

/* ---- Known answers --------------------------------------------------------------------------- */

/* McGrew, Viega: The Galois/Counter Mode of Operation (GCM), 2005, appendix B: H, the padded input
 * of GHASH with the lengths, and its result. */
static const struct answer {
    const char *source, *h, *in, *y;
} answers[] = {
    {"GCM test case 2", "66e94bd4ef8a2c3b884cfa59ca342b2e",
     "0388dace60b6a392f328c2b971b2fe78" "00000000000000000000000000000080",
     "f38cbb1ad69223dcc3457ae5b6b0f885"},
    {"GCM test case 3", "b83b533708bf535d0aa6e52980d53b78",
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
     "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985"
     "00000000000000000000000000000200",
     "7f1b32b81b820d02614f8895ac1d4eac"},
    {"GCM test case 4", "b83b533708bf535d0aa6e52980d53b78",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2000000000000000000000000"
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
     "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e09100000000"
     "00000000000000a000000000000001e0",
     "698e57f70e6ecc7fd9463b7260a9ae5f"},
};

static enum result known_answers(struct check *c)
{
    for (const struct answer *a = answers; a < answers + N(answers); a++) {
        uint8_t h[16], in[256], expected[16], y[16] = {0};
        size_t len_bytes = check_unhex(in, a->in);
        check_unhex(h, a->h);
        check_unhex(expected, a->y);
        make_key(c, h);
        evc_ghash_blocks(key_room, y, in, len_bytes / 16);
        if (agree(c, y, expected, len_bytes, a->source) == FAIL)
            return FAIL;
    }
    return PASS;
}

/* ---- The proof on a basis -------------------------------------------------------------------- */

/* x^i * x^j = x^(i + j) for all i, j below 128. */
static enum result every_pair_of_bits_multiplies(struct check *c)
{
    static uint8_t power[255][16];

    flip_bit(memset(power[0], 0, 16), 0);
    for (size_t i = 1; i < 255; i++) {
        memcpy(power[i], power[i - 1], 16);
        gf128_times_x(power[i]);
    }
    for (size_t i = 0; i < 128; i++) {
        make_key(c, power[i]);
        for (size_t j = 0; j < 128; j++, c->cases++) {
            uint8_t y[16] = {0};
            evc_ghash_blocks(key_room, y, power[j], 1);
            if (memcmp(y, power[i + j], 16) != 0)
                return check_fail(c, "H = x^%zu, block x^%zu", i, j);
        }
    }
    return PASS;
}

/* With the pairs of bits: any product of one block is the sum of those of its bits. Keys and blocks
 * 0 and 1 are random, 2 is their sum. */
static enum result products_are_bilinear(struct check *c)
{
    for (int turn = 0; turn < (c->quick ? 200 : 5000); turn++, c->cases++) {
        uint8_t h[3][16], a[3][16], by_key[16] = {0}, by_block[16] = {0};
        random_bytes(&c->random, h[0], 32);
        random_bytes(&c->random, a[0], 32);
        memcpy(h[2], h[0], 16);
        memcpy(a[2], a[0], 16);
        gf128_add(h[2], h[1]);
        gf128_add(a[2], a[1]);
        for (int i = 0; i < 3; i++) {
            uint8_t y[16] = {0};
            make_key(c, h[i]);
            evc_ghash_blocks(key_room, y, a[0], 1);
            gf128_add(by_key, y);
        }
        for (int i = 0; i < 3; i++) {
            uint8_t y[16] = {0};
            evc_ghash_blocks(key_room, y, a[i], 1);
            gf128_add(by_block, y);
        }
        for (int i = 0; i < 16; i++)
            if (by_key[i] || by_block[i])
                return check_fail(c, "the product of a sum of %s is not the sum of the products",
                                  by_key[i] ? "keys" : "blocks");
    }
    return PASS;
}

/* A message with one bit set, at each place of a message that runs through all paths of the kernel:
 * x^j * H^(n - k) for bit j of block k of n. */
static enum result every_bit_of_a_message_counts(struct check *c)
{
    const size_t lengths[] = {1, (size_t)kernel_of(c)->kernel.batch, 0};
    static uint8_t expected[128][16];

    for (size_t turn = 0; turn < 3; turn++) {
        size_t n = turn == 2 ? 2 * lengths[1] - 1 + lengths[1] : lengths[turn];
        memset(known.in, 0, sizeof known.in);
        random_bytes(&c->random, known.h, 16);
        make_key(c, known.h);
        memset(expected, 0, sizeof expected);
        for (size_t j = 0; j < 128; j++)
            flip_bit(expected[j], j);
        for (size_t k = n; k-- > 0;)
            for (size_t j = 0; j < 128; j++) {
                uint8_t y[16] = {0};
                gf128_multiply(expected[j], known.h);
                if (c->quick && (j + k) % 5)
                    continue;
                c->cases++;
                flip_bit(known.in + 16 * k, j);
                evc_ghash_blocks(key_room, y, known.in, n);
                flip_bit(known.in + 16 * k, j);
                if (memcmp(y, expected[j], 16) != 0)
                    return check_fail(c, "%zu blocks: bit %zu of block %zu", n, j, k);
            }
    }
    return PASS;
}

/* ---- Lengths and places ---------------------------------------------------------------------- */

static enum result every_length_equals_reference(struct check *c)
{
    uint8_t y[16];

    for (int turn = 0; turn < (c->quick ? 2 : 20); turn++) {
        know_random(c, most_blocks(c));
        make_key(c, known.h);
        for (size_t n = 0; n <= most_blocks(c); n++) {
            memcpy(y, known.y[0], 16);
            evc_ghash_blocks(key_room, y, known.in, n);
            if (agree(c, y, known.y[n], 16 * n, "in one call") == FAIL)
                return FAIL;
        }
    }
    return PASS;
}

/* Each number of blocks once, for a kernel may take any number in a way of its own; with an
 * emulator some of them. */
static enum result up_to_1024_blocks_equal_reference(struct check *c)
{
    uint8_t y[16];

    know_random(c, MAX_BLOCKS);
    make_key(c, known.h);
    for (size_t n = 0; n <= MAX_BLOCKS; n += check_step(c)) {
        memcpy(y, known.y[0], 16);
        evc_ghash_blocks(key_room, y, known.in, n);
        if (agree(c, y, known.y[n], 16 * n, "in one call") == FAIL)
            return FAIL;
    }
    return PASS;
}

static enum result parts_of_blocks_are_padded(struct check *c)
{
    uint8_t y[16], expected[16], last[16];

    know_random(c, most_blocks(c));
    make_key(c, known.h);
    for (size_t len = 0; len <= 16 * most_blocks(c); len++) {
        memcpy(expected, known.y[len / 16], 16);
        if (len % 16) {
            memset(last, 0, 16);
            memcpy(last, known.in + len / 16 * 16, len % 16);
            gf128_add(expected, last);
            gf128_multiply(expected, known.h);
        }
        memcpy(y, known.y[0], 16);
        evc_ghash_padded(key_room, y, known.in, len);
        if (agree(c, y, expected, len, "padded") == FAIL)
            return FAIL;
    }
    return PASS;
}

static enum result every_alignment_equals_reference(struct check *c)
{
    static uint8_t place[MAX_BYTES + 64];
    const size_t n = (size_t)kernel_of(c)->kernel.batch + 3;
    uint8_t y[32], h[32];

    know_random(c, n);
    for (size_t at = 0; at < 16; at++)
        for (size_t y_at = 0; y_at < 16; y_at++) {
            memcpy(h + y_at, known.h, 16);
            make_key(c, h + y_at);
            for (size_t blocks = 1; blocks <= n; blocks += n - 1) {
                memcpy(place + at, known.in, 16 * n);
                memcpy(y + y_at, known.y[0], 16);
                evc_ghash_blocks(key_room, y + y_at, place + at, blocks);
                if (agree(c, y + y_at, known.y[blocks], 16 * blocks, "off alignment") == FAIL)
                    return FAIL;
                if (memcmp(place + at, known.in, 16 * n) != 0)
                    return check_fail(c, "%zu blocks: changed its input", blocks);
            }
        }
    return PASS;
}

static enum result split_calls_equal_one_call(struct check *c)
{
    for (int turn = 0; turn < (c->quick ? 10 : 300); turn++) {
        size_t n_blocks = random_below(&c->random, most_blocks(c) + 1), at = 0;
        uint8_t y[16];
        know_random(c, n_blocks);
        make_key(c, known.h);
        memcpy(y, known.y[0], 16);
        while (at < n_blocks) {
            size_t part = random_below(&c->random, n_blocks - at + 1);
            evc_ghash_blocks(key_room, y, known.in + 16 * at, part);
            at += part;
        }
        if (agree(c, y, known.y[n_blocks], 16 * n_blocks, "in several calls") == FAIL)
            return FAIL;
    }
    return PASS;
}

/* The message of which `known` has the hashes, with the bytes of each block reversed. */
static void reverse_blocks(uint8_t *to, size_t n_blocks)
{
    for (size_t i = 0; i < 16 * n_blocks; i++)
        to[i] = known.in[i / 16 * 16 + 15 - i % 16];
}

/* In one call, at some alignment; and in two. */
static enum result reversed_blocks_equal_reference(struct check *c)
{
    static uint8_t place[MAX_BYTES + 16];
    uint8_t y[16];

    for (int turn = 0; turn < (c->quick ? 1 : 10); turn++) {
        know_random(c, most_blocks(c));
        make_key(c, known.h);
        for (size_t n = 0; n <= most_blocks(c); n++) {
            uint8_t *const in = place + n % 16;
            const size_t first = random_below(&c->random, n + 1);
            reverse_blocks(in, n);
            memcpy(y, known.y[0], 16);
            evc_ghash_reversed_blocks(key_room, y, in, n);
            if (agree(c, y, known.y[n], 16 * n, "reversed, in one call") == FAIL)
                return FAIL;
            memcpy(y, known.y[0], 16);
            evc_ghash_reversed_blocks(key_room, y, in, first);
            evc_ghash_reversed_blocks(key_room, y, in + 16 * first, n - first);
            if (agree(c, y, known.y[n], 16 * n, "reversed, in two calls") == FAIL)
                return FAIL;
        }
    }
    return PASS;
}

/* ---- Guard pages ----------------------------------------------------------------------------- */

static struct guarded fence_in, fence_y, fence_h, fence_key;

struct call {
    const struct evc_ghash *kernel;
    size_t n_blocks;
    bool at_end, reversed;
};

static void do_call(void *vcall)
{
    const struct call *call = vcall;
    uint8_t *key = port_flush(&fence_key, call->at_end, call->kernel->kernel.key_bytes);

    must(evc_ghash_set_key_in(key, call->kernel->kernel.key_bytes, call->kernel,
                         port_flush(&fence_h, call->at_end, 16)));
    (call->reversed ? evc_ghash_reversed_blocks : evc_ghash_blocks)(
        key, port_flush(&fence_y, call->at_end, 16),
        port_flush(&fence_in, call->at_end, 16 * call->n_blocks), call->n_blocks);
}

static enum result accesses_stay_inside_the_buffers(struct check *c)
{
    struct call call = {kernel_of(c), 0, false, false};

    if (!fence_in.start) {
        fence_in = port_guarded(MAX_BYTES);
        fence_y = port_guarded(16);
        fence_h = port_guarded(16);
        fence_key = port_guarded(MAX_KEY);
    }
    if (!fence_in.start || !fence_y.start || !fence_h.start || !fence_key.start)
        return check_skip(c, "no guard pages on this system");
    know_random(c, most_blocks(c));
    for (; call.n_blocks <= most_blocks(c); call.n_blocks++)
        for (int turn = 0; turn < 4; turn++) {
            const int end = turn % 2;
            call.reversed = turn >= 2;
            call.at_end = end && call.kernel->kernel.key_bytes % call.kernel->kernel.key_align == 0;
            memcpy(port_flush(&fence_h, call.at_end, 16), known.h, 16);
            memcpy(port_flush(&fence_y, call.at_end, 16), known.y[0], 16);
            memcpy(port_flush(&fence_in, call.at_end, 16 * call.n_blocks), known.in,
                   16 * call.n_blocks);
            if (call.reversed)
                reverse_blocks(port_flush(&fence_in, call.at_end, 16 * call.n_blocks),
                               call.n_blocks);
            if (!port_survives(do_call, &call))
                return check_fail(c, "%zu blocks at the %s of pages: memory fault", call.n_blocks,
                                  call.at_end ? "end" : "start");
            if (agree(c, port_flush(&fence_y, call.at_end, 16), known.y[call.n_blocks],
                      16 * call.n_blocks, "between guard pages") == FAIL)
                return FAIL;
        }
    return PASS;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static enum result keys_may_be_copied(struct check *c)
{
    static KEY_ROOM(union room) copy;
    const size_t n = (size_t)kernel_of(c)->kernel.batch + 3,
                 key_bytes = kernel_of(c)->kernel.key_bytes;
    uint8_t y[16];

    know_random(c, n);
    make_key(c, known.h);
    memset(&copy, 0, sizeof copy);
    memcpy(&copy.key, key_room, key_bytes);
    memset(key_room, 0x55, sizeof *key_room);
    memcpy(y, known.y[0], 16);
    evc_ghash_blocks(&copy.key, y, known.in, n);
    return agree(c, y, known.y[n], 16 * n, "by a copy of the key");
}

static enum result keys_change_only_when_set(struct check *c)
{
    static union room before;
    uint8_t y[16] = {0};

    know_random(c, most_blocks(c));
    make_key(c, known.h);
    before = *key_room;
    evc_ghash_blocks(key_room, y, known.in, most_blocks(c));
    c->cases = sizeof before;
    if (memcmp(&before, key_room, sizeof before) != 0)
        return check_fail(c, "the key changed");
    for (size_t i = kernel_of(c)->kernel.key_bytes; i < sizeof *key_room; i++)
        if (key_room->bytes[i])
            return check_fail(c, "byte %zu is left of what was there before a key of %u bytes", i,
                              (unsigned)kernel_of(c)->kernel.key_bytes);
    return PASS;
}

static enum result wiped_keys_are_zero(struct check *c)
{
    know_random(c, 1);
    make_key(c, known.h);
    evc_wipe(key_room, sizeof *key_room);
    c->cases = sizeof *key_room;
    for (size_t i = 0; i < sizeof *key_room; i++)
        if (key_room->bytes[i])
            return check_fail(c, "byte %zu is %02x", i, key_room->bytes[i]);
    return PASS;
}

static const struct property properties[] = {
#define PROPERTY(name) {#name, name, false}
    PROPERTY(descriptor_agrees_with_its_line),
    PROPERTY(selection_returns_keys_that_fit),
    PROPERTY(known_answers),
    PROPERTY(every_pair_of_bits_multiplies),
    PROPERTY(products_are_bilinear),
    PROPERTY(every_bit_of_a_message_counts),
    PROPERTY(every_length_equals_reference),
    PROPERTY(up_to_1024_blocks_equal_reference),
    PROPERTY(parts_of_blocks_are_padded),
    PROPERTY(every_alignment_equals_reference),
    PROPERTY(split_calls_equal_one_call),
    PROPERTY(reversed_blocks_equal_reference),
    PROPERTY(siv_slots_equal_composed_ones),
    PROPERTY(accesses_stay_inside_the_buffers),
    PROPERTY(keys_may_be_copied),
    PROPERTY(keys_change_only_when_set),
    PROPERTY(wiped_keys_are_zero),
    {"calls_keep_the_abi", ghash_calls_keep_the_abi, false},
    {"long_calls_equal_short_ones", ghash_long_calls_equal_short_ones, false},
    {"leaves_nothing_behind", ghash_leaves_nothing_behind, false},
#undef PROPERTY
};

const struct check_primitive check_ghash = {
    .name = "ghash", .properties = properties, .n_properties = N(properties)};

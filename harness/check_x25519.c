/* SPDX-License-Identifier: MIT */
/*
 * The properties that every X25519 kernel has. All of them give the answers of RFC 7748; c_ref,
 * which multiplies bit by bit, answers for all else.
 */
#include "check.h"

#include <string.h>

#include "everycore/cpu.h"
#include "everycore/x25519.h"

#include "check_abi.h"
#include "must.h"
#include "port/port.h"
#include "residue.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

typedef uint8_t bytes32[EVC_X25519_BYTES];

static const struct evc_x25519 *kernel_of(const struct check *c)
{
    return evc_x25519_named(c->line->name);
}

static bool is_ref(const struct check *c)
{
    return strcmp(c->line->name, "c_ref") == 0;
}

static enum result agree(struct check *c, const uint8_t *out, const uint8_t *expected,
                         const char *of)
{
    c->cases++;
    for (size_t i = 0; i < EVC_X25519_BYTES; i++)
        if (out[i] != expected[i])
            return check_fail(c, "%s: byte %zu is %02x, not %02x", of, i, out[i], expected[i]);
    return PASS;
}

/* The kernel's shared secret is that of c_ref. */
static enum result agrees_with_ref(struct check *c, const uint8_t *secret, const uint8_t *theirs,
                                   const char *of)
{
    bytes32 shared, expected;
    const enum evc_status status = evc_x25519_shared(kernel_of(c), secret, theirs, shared),
                          of_ref = evc_x25519_shared(evc_x25519_named("c_ref"), secret, theirs,
                                                     expected);

    if (status != of_ref)
        return check_fail(c, "%s: status %d, not %d", of, (int)status, (int)of_ref);
    return agree(c, shared, expected, of);
}

/* ---- The descriptor -------------------------------------------------------------------------- */

static enum result descriptor_agrees_with_its_line(struct check *c)
{
    const struct evc_x25519 *x25519 = kernel_of(c);
    const struct evc_kernel *k = x25519 ? &x25519->kernel : NULL;

    c->cases = 4;
    if (!k)
        return check_fail(c, "evc_x25519_named() does not find it");
    if (strcmp(k->name, c->line->name) != 0)
        return check_fail(c, "its name is %s", k->name);
    if (k->needs != c->line->needs || k->timing != c->line->timing || k->use != c->line->use)
        return check_fail(c, "needs, timing class or use differ from the line of kernels.def");
    if (!x25519->multiply)
        return check_fail(c, "it has no operation");
    return PASS;
}

static enum result something_is_always_selected(struct check *c)
{
    const uint64_t all = evc_cpu_features();

    for (unsigned policy = 0; policy < 4; policy++)
        for (int i = 0; i < 500; i++) {
            const uint64_t some = random_next(&c->random) | random_next(&c->random);
            c->cases++;
            if (!evc_x25519_select(i ? all & some : 0, policy))
                return check_fail(c, "policy %u: nothing fits", policy);
        }
    return PASS;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static const struct known {
    const char *secret, *theirs, *shared; /* theirs: NULL is the base point */
} known[] = {
    /* RFC 7748 section 5.2 */
    {"a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
     "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
     "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"},
    {"4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
     "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
     "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"},
    /* The same, the first of its iterations */
    {"0900000000000000000000000000000000000000000000000000000000000000",
     "0900000000000000000000000000000000000000000000000000000000000000",
     "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"},
    {"0900000000000000000000000000000000000000000000000000000000000000", NULL,
     "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"},
    /* By Python's cryptography: a result whose last byte is 0 */
    {"8813000000000000000000000000000000000000000000000000000000000040", NULL,
     "9ec15224edbe326c5b40fa30311421f1fb309fdd0fcaf472b5d0ad2067b7db00"},
    /* By integers of Python: results with one byte that is not 0, the first, the 16th, the last */
    {"457c769f39d8644199c0e5bdbcfbc85b37ce91cbde1fc1b0ea6b44f130436dd7",
     "a62f02c10374691c9b77f1b808f29d0140884db474f883520a2e22dd1fd2767f",
     "0200000000000000000000000000000000000000000000000000000000000000"},
    {"29fe69bd9e8ceba6a07d1dec25b1b087efe26c07ff0d21d7db0b33777738a5c6",
     "d3b3d6d69a3e121a782593cc0b5222f84f861ea6e034decfb799366a00687038",
     "0000000000000000000000000000000300000000000000000000000000000000"},
    {"74d37ff136eac13f553223a63841460d3b6aa1e68d682728f610fb1c7fd92d5f",
     "17bb225fcaf952adead9005bc89c143d65fc467e779ae1300ee95500435b1218",
     "0000000000000000000000000000000000000000000000000000000000000002"},
};

static enum result known_answers(struct check *c)
{
    bytes32 secret, theirs = {9}, expected, out;

    for (size_t i = 0; i < N(known); i++) {
        enum evc_status status;
        check_unhex(secret, known[i].secret);
        check_unhex(expected, known[i].shared);
        if (known[i].theirs)
            check_unhex(theirs, known[i].theirs);
        status = known[i].theirs ? evc_x25519_shared(kernel_of(c), secret, theirs, out)
                                 : evc_x25519_public(kernel_of(c), secret, out);
        if (status != EVC_OK)
            return check_fail(c, "known answer %zu: status %d", i, (int)status);
        if (agree(c, out, expected, "a known answer") == FAIL)
            return FAIL;
    }
    return PASS;
}

/* RFC 7748 section 5.2: each result is the next scalar, and each scalar the next point. */
static enum result iterate(struct check *c, long n, const char *answer)
{
    bytes32 k = {9}, u = {9}, out, expected;

    if (is_ref(c) || (c->quick && port_emulated()))
        return check_skip(c, "it takes too long");
    for (long i = 0; i < n; i++) {
        must(evc_x25519_shared(kernel_of(c), k, u, out));
        memcpy(u, k, sizeof u);
        memcpy(k, out, sizeof k);
    }
    check_unhex(expected, answer);
    return agree(c, k, expected, "the last iteration");
}

static enum result a_thousand_iterations_give_the_known_answer(struct check *c)
{
    return iterate(c, 1000, "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51");
}

static enum result a_million_iterations_give_the_known_answer(struct check *c)
{
    return iterate(c, 1000000, "7c3911e0ab2586fd864497297e575e6f3bc601c0883c30df5f4dd2d24f665424");
}

/* 2^255 - 19 + add, for add from -19 to 18. */
static void near_p(bytes32 out, int add)
{
    memset(out, 0xff, EVC_X25519_BYTES);
    out[0] = (uint8_t)(0xed + add);
    out[31] = 0x7f;
}

/* Numbers around 0, p and 2^255, and of ones and zeros in runs, with both values of bit 255. */
static enum result numbers_at_the_edges_equal_reference(struct check *c)
{
    bytes32 secret, theirs;

    for (int i = 0; i < (c->quick ? 12 : 120); i++) {
        random_bytes(&c->random, secret, sizeof secret);
        if (i % 3 == 0) {
            near_p(theirs, i % 38 - (c->quick ? 3 : 19));
        } else {
            const size_t from = random_below(&c->random, 256), to = random_below(&c->random, 256);
            memset(theirs, 0, sizeof theirs);
            for (size_t bit = 0; bit < 256; bit++)
                if ((from <= to) == (bit >= from && bit <= to))
                    theirs[bit / 8] |= (uint8_t)(1u << bit % 8);
        }
        if (i % 2)
            theirs[31] ^= 0x80;
        if (i % 4 == 1)
            memset(secret, i % 8 == 1 ? 0xff : 0, sizeof secret);
        if (agrees_with_ref(c, secret, theirs, "a number at an edge") == FAIL)
            return FAIL;
    }
    return PASS;
}

static enum result random_numbers_equal_reference(struct check *c)
{
    bytes32 secret, theirs;

    for (int i = 0; i < (c->quick ? 6 : 200); i++) {
        random_bytes(&c->random, secret, sizeof secret);
        random_bytes(&c->random, theirs, sizeof theirs);
        if (agrees_with_ref(c, secret, theirs, "a random number") == FAIL)
            return FAIL;
    }
    return PASS;
}

static enum result both_sides_share_a_secret(struct check *c)
{
    bytes32 a, b, public_a, public_b, of_a, of_b;

    for (int i = 0; i < (c->quick ? 2 : 50); i++) {
        random_bytes(&c->random, a, sizeof a);
        random_bytes(&c->random, b, sizeof b);
        must(evc_x25519_public(kernel_of(c), a, public_a));
        must(evc_x25519_public(kernel_of(c), b, public_b));
        must(evc_x25519_shared(kernel_of(c), a, public_b, of_a));
        must(evc_x25519_shared(kernel_of(c), b, public_a, of_b));
        if (agree(c, of_a, of_b, "the secret of one side") == FAIL)
            return FAIL;
    }
    return PASS;
}

/* ---- Points of low order --------------------------------------------------------------------- */

/* 0 has order 2; 1 has order 4, and so has p - 1, on the twist; p and p + 1 are 0 and 1; the others
 * have order 8. */
static const char *const low_orders[] = {
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
};

static enum result low_orders_are_refused(struct check *c)
{
    static const bytes32 zero;
    bytes32 secret, theirs, shared;

    for (size_t i = 0; i < N(low_orders); i++)
        for (int bit255 = 0; bit255 < (c->quick && is_ref(c) ? 1 : 2); bit255++) {
            random_bytes(&c->random, secret, sizeof secret);
            check_unhex(theirs, low_orders[i]);
            theirs[31] |= (uint8_t)(bit255 << 7);
            memset(shared, 0x55, sizeof shared);
            if (evc_x25519_shared(kernel_of(c), secret, theirs, shared) != EVC_ERR_PEER)
                return check_fail(c, "number %zu of low order is taken", i);
            if (agree(c, shared, zero, "the secret of a refused peer") == FAIL)
                return FAIL;
        }
    return PASS;
}

static enum result missing_buffers_are_refused(struct check *c)
{
    static const bytes32 in = {9};
    bytes32 out = {1}, before = {1};
    const struct evc_x25519 *k = kernel_of(c);

    if (evc_x25519_public(NULL, in, out) != EVC_ERR_KERNEL ||
        evc_x25519_shared(NULL, in, in, out) != EVC_ERR_KERNEL)
        return check_fail(c, "no kernel is taken");
    if (evc_x25519_public(k, NULL, out) != EVC_ERR_PARAMETER ||
        evc_x25519_public(k, in, NULL) != EVC_ERR_PARAMETER ||
        evc_x25519_shared(k, NULL, in, out) != EVC_ERR_PARAMETER ||
        evc_x25519_shared(k, in, NULL, out) != EVC_ERR_PARAMETER ||
        evc_x25519_shared(k, in, in, NULL) != EVC_ERR_PARAMETER)
        return check_fail(c, "a missing buffer is taken");
    return agree(c, out, before, "the output of a refused call");
}

static struct {
    bytes32 scalar, u;
} seen;

static void note_numbers(bytes32 out, const bytes32 scalar, const bytes32 u)
{
    memcpy(seen.scalar, scalar, sizeof seen.scalar);
    memcpy(seen.u, u, sizeof seen.u);
    memset(out, 1, EVC_X25519_BYTES);
}

/* Kernels need not ignore the bits that the RFC ignores, although those in C do. */
static enum result the_kernel_gets_the_bits_of_its_contract(struct check *c)
{
    static const uint8_t fills[] = {0, 0x55, 0xff};
    struct evc_x25519 noting = *kernel_of(c);
    bytes32 in, scalar, u, out;

    noting.multiply = note_numbers;
    for (size_t i = 0; i < N(fills); i++) {
        memset(in, fills[i], sizeof in);
        memcpy(scalar, in, sizeof scalar);
        memcpy(u, in, sizeof u);
        scalar[0] &= 0xf8;
        scalar[31] = (uint8_t)((scalar[31] & 0x3f) | 0x40);
        u[31] &= 0x7f;
        must(evc_x25519_shared(&noting, in, in, out));
        if (agree(c, seen.scalar, scalar, "a scalar") == FAIL ||
            agree(c, seen.u, u, "a point") == FAIL)
            return FAIL;
    }
    return PASS;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Secret, public value and output at each distance, at odd addresses, too. */
static enum result buffers_may_overlap(struct check *c)
{
    static uint8_t room[128];
    bytes32 secret, theirs, expected;

    for (size_t at = 0; at <= 64; at += is_ref(c) ? 32 : c->quick ? 13 : 1) {
        const size_t of_secret = random_below(&c->random, 64);

        random_bytes(&c->random, room, sizeof room);
        memcpy(secret, room + of_secret, sizeof secret);
        memcpy(theirs, room + 32, sizeof theirs);
        must(evc_x25519_shared(kernel_of(c), secret, theirs, expected));
        must(evc_x25519_shared(kernel_of(c), room + of_secret, room + 32, room + at));
        if (agree(c, room + at, expected, "buffers that overlap") == FAIL)
            return FAIL;
        memcpy(secret, room + of_secret, sizeof secret);
        must(evc_x25519_public(kernel_of(c), secret, expected));
        must(evc_x25519_public(kernel_of(c), room + of_secret, room + at));
        if (agree(c, room + at, expected, "a secret that overlaps") == FAIL)
            return FAIL;
    }
    return PASS;
}

static struct guarded fence_secret, fence_theirs, fence_out;

struct call {
    const struct evc_x25519 *kernel;
    bool at_end;
};

static void do_call(void *vcall)
{
    const struct call *call = vcall;
    const uint8_t *secret = port_flush(&fence_secret, call->at_end, EVC_X25519_BYTES),
                  *theirs = port_flush(&fence_theirs, call->at_end, EVC_X25519_BYTES);
    uint8_t *out = port_flush(&fence_out, call->at_end, EVC_X25519_BYTES);

    must(evc_x25519_public(call->kernel, secret, out));
    must(evc_x25519_shared(call->kernel, secret, theirs, out));
}

static enum result accesses_stay_inside_the_buffers(struct check *c)
{
    struct call call = {.kernel = kernel_of(c)};

    if (!fence_secret.start) {
        fence_secret = port_guarded(EVC_X25519_BYTES);
        fence_theirs = port_guarded(EVC_X25519_BYTES);
        fence_out = port_guarded(EVC_X25519_BYTES);
    }
    if (!fence_secret.start || !fence_theirs.start || !fence_out.start)
        return check_skip(c, "no guard pages on this system");
    for (int end = 0; end < 2; end++) {
        call.at_end = end;
        random_bytes(&c->random, port_flush(&fence_secret, call.at_end, EVC_X25519_BYTES),
                     EVC_X25519_BYTES);
        random_bytes(&c->random, port_flush(&fence_theirs, call.at_end, EVC_X25519_BYTES),
                     EVC_X25519_BYTES);
        c->cases++;
        if (!port_survives(do_call, &call))
            return check_fail(c, "memory fault at the %s of pages", end ? "end" : "start");
    }
    return PASS;
}

static const struct property properties[] = {
#define PROPERTY(name) {#name, name, false}
    PROPERTY(descriptor_agrees_with_its_line),
    PROPERTY(something_is_always_selected),
    PROPERTY(known_answers),
    PROPERTY(a_thousand_iterations_give_the_known_answer),
    PROPERTY(numbers_at_the_edges_equal_reference),
    PROPERTY(random_numbers_equal_reference),
    PROPERTY(both_sides_share_a_secret),
    PROPERTY(low_orders_are_refused),
    PROPERTY(missing_buffers_are_refused),
    PROPERTY(the_kernel_gets_the_bits_of_its_contract),
    PROPERTY(buffers_may_overlap),
    PROPERTY(accesses_stay_inside_the_buffers),
    {"a_million_iterations_give_the_known_answer", a_million_iterations_give_the_known_answer,
     true},
    {"calls_keep_the_abi", x25519_calls_keep_the_abi, false},
    {"leaves_nothing_behind", x25519_leaves_nothing_behind, false},
#undef PROPERTY
};

const struct check_primitive check_x25519 = {
    .name = "x25519", .properties = properties, .n_properties = N(properties)};

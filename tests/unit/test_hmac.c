/* SPDX-License-Identifier: MIT */
/*
 * HMAC, HKDF and PBKDF2: what calls refuse, in which order, and what they leave as it was. Their
 * answers are properties of the harness, and published vectors.
 */
#include "tap.h"

#include "everycore/hkdf.h"
#include "everycore/hmac.h"
#include "everycore/pbkdf2.h"

static const enum evc_sha2_hash hashes[] = {EVC_SHA224, EVC_SHA256, EVC_SHA384, EVC_SHA512,
                                            EVC_SHA512_256};
#define N_HASHES (sizeof hashes / sizeof hashes[0])

static struct evc_hmac_key key;
static struct evc_hmac state, before;
static uint8_t user_key[200], in[300], out[20000], tag[64];

static const struct evc_sha2 *reference(void)
{
    return evc_sha2_named("c_ref");
}

static void set(enum evc_sha2_hash hash)
{
    random_fill(user_key, sizeof user_key);
    random_fill(in, sizeof in);
    must(evc_hmac_set_key(&key, reference(), hash, user_key, 32));
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static void keys_that_cannot_be_set_are_wiped(void)
{
    uint8_t *const memory = (uint8_t *)&key;
    struct evc_hmac_key two[2];
    struct evc_hmac_key *const odd = (void *)((uint8_t *)two + 8);

    set(EVC_SHA256);
    EXPECT(evc_hmac_set_key(&key, reference(), (enum evc_sha2_hash)0, user_key, 32) ==
           EVC_ERR_PARAMETER);
    EXPECT(all_are(&key, 0, sizeof key));
    set(EVC_SHA256);
    EXPECT(evc_hmac_set_key(&key, reference(), (enum evc_sha2_hash)6, user_key, 32) ==
           EVC_ERR_PARAMETER);
    EXPECT(all_are(&key, 0, sizeof key));
    set(EVC_SHA256);
    EXPECT(evc_hmac_set_key(&key, NULL, EVC_SHA256, user_key, 32) == EVC_ERR_KERNEL);
    EXPECT(all_are(&key, 0, sizeof key));
    set(EVC_SHA256);
    EXPECT(evc_hmac_set_key(&key, reference(), EVC_SHA256, NULL, 1) == EVC_ERR_PARAMETER);
    EXPECT(all_are(&key, 0, sizeof key));
    set(EVC_SHA256);
    EXPECT(evc_hmac_set_key(&key, reference(), EVC_SHA256, memory + sizeof key - 1, 8) ==
           EVC_ERR_OVERLAP);
    EXPECT(all_are(&key, 0, sizeof key));
    EXPECT(evc_hmac_set_key(odd, reference(), EVC_SHA256, user_key, 32) == EVC_ERR_ALIGNMENT);
    must(evc_hmac_set_key(&key, reference(), EVC_SHA256, NULL, 0));
    must(evc_hmac_set_key(&key, reference(), EVC_SHA256, memory, 0)); /* none of it is in the key */
    EXPECT(evc_hmac_set_best(&key, evc_cpu_features(), 0, (enum evc_sha2_hash)9, user_key, 1) ==
           EVC_ERR_PARAMETER);
}

static void kernels_without_the_hash_are_refused(void)
{
    for (unsigned i = 0; evc_sha2_at(i); i++) {
        const struct evc_sha2 *const k = evc_sha2_at(i);
        for (size_t h = 0; h < N_HASHES; h++) {
            const int is_there =
                evc_sha2_block_bytes(hashes[h]) == 64 ? k->blocks256 != NULL : k->blocks512 != NULL;
            if (!is_there) {
                EXPECT(evc_hmac_set_key(&key, k, hashes[h], user_key, 32) == EVC_ERR_KERNEL);
                EXPECT(evc_hkdf(k, hashes[h], NULL, 0, in, 32, NULL, 0, out, 9) == EVC_ERR_KERNEL);
                EXPECT(evc_hkdf_extract(k, hashes[h], NULL, 0, in, 32, out) == EVC_ERR_KERNEL);
            }
        }
    }
}

/* No call takes this key. */
static void expect_refused(const struct evc_hmac_key *k, enum evc_status why)
{
    memset(tag, 0x5a, sizeof tag);
    memset(out, 0x5a, 64);
    EXPECT(evc_hmac(k, in, 9, tag, 32) == why);
    EXPECT(evc_hmac_verify(k, in, 9, tag, 32) == why);
    memset(&state, 0x5a, sizeof state);
    EXPECT(evc_hmac_start(k, &state) == why);
    EXPECT(all_are(&state, 0, sizeof state));
    EXPECT(evc_hmac_update(k, &state, in, 9) == why);
    EXPECT(evc_hmac_finish(k, &state, tag, 32) == why);
    EXPECT(evc_hmac_finish_verify(k, &state, tag, 32) == why);
    EXPECT(evc_hkdf_expand(k, in, 9, out, 32) == why);
    EXPECT(evc_pbkdf2(k, in, 9, 1, out, 32) == why);
    EXPECT(all_are(tag, 0x5a, sizeof tag) && all_are(out, 0x5a, 64));
}

static void keys_that_are_not_set_are_refused(void)
{
    static struct evc_hmac_key two[2];
    struct evc_hmac_key *const odd = (void *)((uint8_t *)two + 8);

    set(EVC_SHA256);
    evc_wipe(&key, sizeof key);
    EXPECT(evc_hmac_allow_short_tags(&key) == EVC_ERR_KERNEL);
    expect_refused(&key, EVC_ERR_KERNEL);
    set(EVC_SHA256);
    memcpy(odd, &key, sizeof key);
    EXPECT(evc_hmac_allow_short_tags(odd) == EVC_ERR_ALIGNMENT);
    expect_refused(odd, EVC_ERR_ALIGNMENT);
}

/* ---- Tags ------------------------------------------------------------------------------------ */

static int takes_tag(size_t n)
{
    enum evc_status status[4];

    memset(tag, 0, sizeof tag);
    status[0] = evc_hmac(&key, in, 70, tag, n);
    status[1] = evc_hmac_verify(&key, in, 70, tag, n);
    must(evc_hmac_start(&key, &state));
    must(evc_hmac_update(&key, &state, in, 70));
    before = state;
    status[2] = evc_hmac_finish(&key, &state, tag, n);
    EXPECT(status[2] == EVC_OK ? all_are(&state, 0, sizeof state)
                               : same((uint8_t *)&state, (uint8_t *)&before, sizeof state));
    status[3] = evc_hmac_finish_verify(&key, &before, tag, n);
    for (int i = 1; i < 4; i++)
        EXPECT(status[i] == status[0]);
    EXPECT(status[0] == EVC_OK || status[0] == EVC_ERR_TAG_SIZE);
    EXPECT(status[0] == EVC_OK || all_are(tag, 0, sizeof tag));
    return status[0] == EVC_OK;
}

static void tags_have_half_a_digest_unless_the_key_allows_less(void)
{
    for (size_t h = 0; h < N_HASHES; h++) {
        const size_t digest_bytes = evc_sha2_digest_bytes(hashes[h]);
        set(hashes[h]);
        for (size_t n = 0; n <= 65; n++)
            EXPECT(takes_tag(n) == (n >= digest_bytes / 2 && n <= digest_bytes));
        EXPECT(!takes_tag((size_t)-1));
        must(evc_hmac_allow_short_tags(&key));
        for (size_t n = 0; n <= 65; n++)
            EXPECT(takes_tag(n) == (n >= 4 && n <= digest_bytes));
    }
}

/* ---- States ---------------------------------------------------------------------------------- */

static void expect_no_message(enum evc_sha2_hash hash)
{
    const size_t n = evc_sha2_digest_bytes(hash);

    memset(tag, 0x5a, sizeof tag);
    before = state;
    EXPECT(evc_hmac_update(&key, &state, in, 1) == EVC_ERR_STATE);
    EXPECT(evc_hmac_update(&key, &state, NULL, 0) == EVC_ERR_STATE);
    EXPECT(evc_hmac_finish(&key, &state, tag, n) == EVC_ERR_STATE);
    EXPECT(evc_hmac_finish_verify(&key, &state, tag, n) == EVC_ERR_STATE);
    EXPECT(all_are(tag, 0x5a, sizeof tag));
    EXPECT(same((uint8_t *)&state, (uint8_t *)&before, sizeof state));
}

static void messages_begin_with_start_and_end_once(void)
{
    for (size_t h = 0; h < N_HASHES; h++) {
        const size_t n = evc_sha2_digest_bytes(hashes[h]);
        set(hashes[h]);
        memset(&state, 0, sizeof state);
        expect_no_message(hashes[h]);
        memset(&state, 0xa5, sizeof state);
        expect_no_message(hashes[h]);
        for (uint8_t phase = 0; phase < 3; phase += 2) {
            must(evc_hmac_start(&key, &state));
            state.phase = phase;
            expect_no_message(hashes[h]);
        }
        must(evc_hmac_start(&key, &state));
        must(evc_hmac_finish(&key, &state, tag, n));
        EXPECT(all_are(&state, 0, sizeof state));
        expect_no_message(hashes[h]);
        must(evc_hmac(&key, NULL, 0, tag, n));
        must(evc_hmac_start(&key, &state));
        must(evc_hmac_finish_verify(&key, &state, tag, n));
        expect_no_message(hashes[h]);
        must(evc_hmac_start(&key, &state));
        EXPECT(evc_hmac_finish_verify(&key, &state, in, n) == EVC_ERR_TAG);
        EXPECT(all_are(&state, 0, sizeof state));
        expect_no_message(hashes[h]);
    }
}

static void states_of_another_hash_or_kernel_are_refused(void)
{
    const struct evc_sha2 other = *reference();

    set(EVC_SHA256);
    must(evc_hmac_start(&key, &state));
    must(evc_hmac_set_key(&key, reference(), EVC_SHA224, user_key, 32));
    expect_no_message(EVC_SHA224);
    must(evc_hmac_set_key(&key, &other, EVC_SHA256, user_key, 32));
    expect_no_message(EVC_SHA256);
}

static void missing_buffers_are_refused(void)
{
    set(EVC_SHA256);
    EXPECT(evc_hmac(&key, NULL, 1, tag, 32) == EVC_ERR_PARAMETER);
    EXPECT(evc_hmac(&key, in, 1, NULL, 32) == EVC_ERR_PARAMETER);
    EXPECT(evc_hmac_verify(&key, NULL, 1, tag, 32) == EVC_ERR_PARAMETER);
    EXPECT(evc_hmac_verify(&key, in, 1, NULL, 32) == EVC_ERR_PARAMETER);
    must(evc_hmac_start(&key, &state));
    EXPECT(evc_hmac_update(&key, &state, NULL, 1) == EVC_ERR_PARAMETER);
    must(evc_hmac_update(&key, &state, NULL, 0));
    EXPECT(evc_hmac_finish(&key, &state, NULL, 32) == EVC_ERR_PARAMETER);
    EXPECT(evc_hmac_finish_verify(&key, &state, NULL, 32) == EVC_ERR_PARAMETER);
    must(evc_hmac_finish(&key, &state, tag, 32));
    EXPECT(evc_hkdf_extract(reference(), EVC_SHA256, NULL, 1, in, 9, out) == EVC_ERR_PARAMETER);
    EXPECT(evc_hkdf_extract(reference(), EVC_SHA256, in, 1, NULL, 9, out) == EVC_ERR_PARAMETER);
    EXPECT(evc_hkdf_expand(&key, NULL, 1, out, 9) == EVC_ERR_PARAMETER);
    EXPECT(evc_hkdf_expand(&key, in, 1, NULL, 9) == EVC_ERR_PARAMETER);
    must(evc_hkdf_expand(&key, NULL, 0, NULL, 0));
    EXPECT(evc_pbkdf2(&key, NULL, 1, 1, out, 9) == EVC_ERR_PARAMETER);
    EXPECT(evc_pbkdf2(&key, in, 1, 1, NULL, 9) == EVC_ERR_PARAMETER);
}

/* The counters of a state are set to what no test can hash: 2^61 - 1 bytes with the block of the
 * key. */
static void messages_end_at_the_limit_of_the_hash(void)
{
    set(EVC_SHA256);
    must(evc_hmac_start(&key, &state));
    EXPECT(state.inner.bytes_low == 64);
    state.inner.bytes_low = (UINT64_C(1) << 61) - 3;
    before = state;
    EXPECT(evc_hmac_update(&key, &state, in, 3) == EVC_ERR_LENGTH);
    EXPECT(same((uint8_t *)&state, (uint8_t *)&before, sizeof state));
    must(evc_hmac_update(&key, &state, in, 2));
    if (sizeof(size_t) > 4) {
        EXPECT(evc_hmac(&key, in, (size_t)((UINT64_C(1) << 61) - 64), tag, 32) == EVC_ERR_LENGTH);
        EXPECT(evc_hkdf_expand(&key, in, (size_t)(UINT64_C(1) << 60), out, 9) == EVC_ERR_LENGTH);
        EXPECT(evc_pbkdf2(&key, in, (size_t)(UINT64_C(1) << 60), 1, out, 9) == EVC_ERR_LENGTH);
    }
}

/* ---- HKDF and PBKDF2 ------------------------------------------------------------------------- */

static void hkdf_gives_at_most_255_digests(void)
{
    for (size_t h = 0; h < N_HASHES; h++) {
        const size_t most = 255 * evc_sha2_digest_bytes(hashes[h]);
        set(hashes[h]);
        memset(out, 0x5a, sizeof out);
        EXPECT(evc_hkdf_expand(&key, in, 9, out, most + 1) == EVC_ERR_LENGTH);
        EXPECT(evc_hkdf(reference(), hashes[h], in, 9, in, 9, in, 9, out, most + 1) ==
               EVC_ERR_LENGTH);
        EXPECT(all_are(out, 0x5a, sizeof out));
        must(evc_hkdf_expand(&key, in, 9, out, most));
        EXPECT(all_are(out + most, 0x5a, sizeof out - most));
    }
    EXPECT(evc_hkdf(reference(), (enum evc_sha2_hash)0, in, 9, in, 9, in, 9, out, 0) ==
           EVC_ERR_PARAMETER);
}

static void output_over_the_info_is_refused(void)
{
    set(EVC_SHA256);
    memcpy(out, in, 300);
    EXPECT(evc_hkdf_expand(&key, out + 31, 100, out, 32) == EVC_ERR_OVERLAP);
    EXPECT(evc_hkdf_expand(&key, out, 100, out + 99, 32) == EVC_ERR_OVERLAP);
    EXPECT(evc_hkdf(reference(), EVC_SHA256, in, 9, in, 9, out + 31, 100, out, 32) ==
           EVC_ERR_OVERLAP);
    EXPECT(same(out, in, 300));
    must(evc_hkdf_expand(&key, out + 32, 100, out, 32));
    EXPECT(same(out + 32, in + 32, 100));
    must(evc_hkdf_expand(&key, out + 31, 100, out, 0));
}

static void pbkdf2_has_iterations_and_output(void)
{
    set(EVC_SHA256);
    memset(out, 0x5a, sizeof out);
    EXPECT(evc_pbkdf2(&key, in, 16, 0, out, 32) == EVC_ERR_PARAMETER);
    EXPECT(evc_pbkdf2(&key, in, 16, 1, out, 0) == EVC_ERR_LENGTH);
    EXPECT(evc_pbkdf2(&key, in, 16, 1, NULL, 0) == EVC_ERR_LENGTH);
    if (sizeof(size_t) > 4)
        EXPECT(evc_pbkdf2(&key, in, 16, 1, out, (size_t)(UINT64_C(0xffffffff) * 32 + 1)) ==
               EVC_ERR_LENGTH);
    EXPECT(all_are(out, 0x5a, sizeof out));
    must(evc_pbkdf2(&key, NULL, 0, 1, out, 33));
    EXPECT(all_are(out + 33, 0x5a, 64));
}

/* Lanes that are never used: each job is computed by itself. */
static size_t cleared[2];

static void clear_first(size_t stack_bytes)
{
    cleared[0] = stack_bytes;
}

static void clear_second(size_t stack_bytes)
{
    cleared[1] = stack_bytes;
}

static void outputs_of_two_kernels_are_cleared_by_both(void)
{
    static uint8_t scratch[16384];
    struct evc_sha2 kernels[2] = {*reference(), *reference()};
    struct evc_hmac_key keys[2];
    struct evc_pbkdf2_job jobs[2] = {{0}};

    kernels[0].kernel.clear = clear_first;
    kernels[1].kernel.clear = clear_second;
    for (unsigned i = 0; i < 2; i++) {
        kernels[i].lanes256.n = 2;
        kernels[i].lanes256.fewest = 3;
        kernels[i].lanes256.stack_bytes = 64 * (i + 1);
        must(evc_hmac_set_key(&keys[i], &kernels[i], EVC_SHA256, user_key, 32));
        jobs[i].password = &keys[i];
        jobs[i].salt = in;
        jobs[i].salt_bytes = 16;
        jobs[i].out = out + 32 * i;
        jobs[i].out_bytes = 32;
    }
    EXPECT(evc_pbkdf2_many_scratch_bytes(&kernels[0]) <= sizeof scratch);
    cleared[0] = cleared[1] = 0;
    must(evc_pbkdf2_many(jobs, 2, 2, scratch, sizeof scratch));
    EXPECT(cleared[0] == 64 && cleared[1] == 128);
}

int main(void)
{
    RUN(keys_that_cannot_be_set_are_wiped);
    RUN(kernels_without_the_hash_are_refused);
    RUN(keys_that_are_not_set_are_refused);
    RUN(tags_have_half_a_digest_unless_the_key_allows_less);
    RUN(messages_begin_with_start_and_end_once);
    RUN(states_of_another_hash_or_kernel_are_refused);
    RUN(missing_buffers_are_refused);
    RUN(messages_end_at_the_limit_of_the_hash);
    RUN(hkdf_gives_at_most_255_digests);
    RUN(output_over_the_info_is_refused);
    RUN(pbkdf2_has_iterations_and_output);
    RUN(outputs_of_two_kernels_are_cleared_by_both);
    return tap_done();
}

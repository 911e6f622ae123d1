/* SPDX-License-Identifier: MIT */
/*
 * Keys: what is refused, what is wiped, keys in memory of the caller, and calls with
 * keys that are not set up.
 */
#include "tap.h"

#include "everycore/gcm.h"
#include "everycore/modes.h"
#include "everycore/pac.h"

#define PAINT 0xa5

static const uint8_t user_key[64] = {1, 2, 3, [40] = 4};
static const uint8_t in[64] = {5, 6, 7};
static uint8_t out[64];

/* Every kind of key, as functions of the memory. */
struct kind {
    const char *name;
    size_t union_bytes;
    size_t (*needs)(const struct evc_aes *kernel);
    enum evc_status (*set)(void *memory, size_t memory_bytes, const struct evc_aes *kernel,
                           unsigned key_bits);
    enum evc_status (*use)(const void *key); /* writes 32 bytes of out */
    unsigned good_bits, bad_bits;
};

static size_t aes_needs(const struct evc_aes *kernel) { return kernel->kernel.key_bytes; }
static enum evc_status aes_set(void *memory, size_t memory_bytes, const struct evc_aes *kernel,
                               unsigned key_bits)
{
    return evc_aes_set_key_in(memory, memory_bytes, kernel, user_key, key_bits);
}
static enum evc_status aes_use(const void *key) { return evc_aes_encrypt(key, in, out, 2); }

static enum evc_status aes_encrypt_only_set(void *memory, size_t memory_bytes,
                                            const struct evc_aes *kernel, unsigned key_bits)
{
    return evc_aes_set_encrypt_key_in(memory, memory_bytes, kernel, user_key, key_bits);
}

static enum evc_status gcm_set(void *memory, size_t memory_bytes, const struct evc_aes *kernel,
                               unsigned key_bits)
{
    return evc_gcm_set_pair_in(memory, memory_bytes, kernel, evc_ghash_named("c_ref"), user_key,
                               key_bits);
}
static size_t gcm_needs(const struct evc_aes *kernel)
{
    return evc_gcm_pair_key_bytes(kernel, evc_ghash_named("c_ref"));
}
static enum evc_status gcm_use(const void *key)
{
    return evc_gcm_seal(key, in, 12, in, 20, in, out, 16, out + 16, 16);
}

static size_t ccm_needs(const struct evc_aes *kernel)
{
    return evc_aes_ccm_key_bytes(kernel, evc_aes_named("c_ref"));
}
static enum evc_status ccm_set(void *memory, size_t memory_bytes, const struct evc_aes *kernel,
                               unsigned key_bits)
{
    return evc_aes_ccm_set_key_in(memory, memory_bytes, kernel, evc_aes_named("c_ref"), user_key,
                                  key_bits);
}
static enum evc_status ccm_use(const void *key)
{
    return evc_aes_ccm_seal(key, in, 12, in, 20, in, out, 16, out + 16, 16);
}

static size_t xts_needs(const struct evc_aes *kernel)
{
    return evc_aes_xts_key_bytes(kernel, evc_aes_named("c_ref"));
}
static enum evc_status xts_set(void *memory, size_t memory_bytes, const struct evc_aes *kernel,
                               unsigned key_bits)
{
    return evc_aes_xts_set_key_in(memory, memory_bytes, kernel, evc_aes_named("c_ref"), user_key,
                                  key_bits);
}
static enum evc_status xts_use(const void *key)
{
    return evc_aes_xts_encrypt(key, in, in, out, 32);
}

static size_t cmac_needs(const struct evc_aes *kernel) { return evc_aes_cmac_key_bytes(kernel); }
static enum evc_status cmac_set(void *memory, size_t memory_bytes, const struct evc_aes *kernel,
                                unsigned key_bits)
{
    return evc_aes_cmac_set_key_in(memory, memory_bytes, kernel, user_key, key_bits);
}
static enum evc_status cmac_use(const void *key)
{
    memset(out, 0, 32);
    return evc_aes_cmac(key, in, 20, out, 16);
}

static const struct kind kinds[] = {
    {"aes", sizeof(union evc_aes_key), aes_needs, aes_set, aes_use, 192, 160},
    {"aes for encryption", sizeof(union evc_aes_key), aes_needs, aes_encrypt_only_set, aes_use, 256,
     0},
    {"gcm", sizeof(union evc_gcm_key), gcm_needs, gcm_set, gcm_use, 256, 255},
    {"ccm", sizeof(struct evc_aes_ccm_key), ccm_needs, ccm_set, ccm_use, 128, 512},
    {"xts", sizeof(struct evc_aes_xts_key), xts_needs, xts_set, xts_use, 256, 192},
    {"cmac", sizeof(struct evc_aes_cmac_key), cmac_needs, cmac_set, cmac_use, 128, 127},
};

static EVC_ALIGN(64) uint8_t room[8192];

static int is_filled(const uint8_t *p, uint8_t value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != value)
            return 0;
    return 1;
}

/* At 16 modulo 64, in just as many bytes as it needs, a key does what one in a union does;
 * nothing else is written. */
static void placed_keys_equal_those_in_unions(const struct evc_aes *kernel)
{
    for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof kinds[0]; k++) {
        const size_t n = k->needs(kernel);
        uint8_t expected[32], *key = room + 16;
        must(k->set(room, k->union_bytes, kernel, k->good_bits));
        must(k->use(room));
        memcpy(expected, out, 32);
        memset(room, PAINT, sizeof room);
        memset(out, 0, sizeof out);
        EXPECT(n <= k->union_bytes);
        EXPECT(k->set(key, n, kernel, k->good_bits) == EVC_OK);
        EXPECT(k->use(key) == EVC_OK);
        EXPECT(memcmp(out, expected, 32) == 0);
        EXPECT(is_filled(room, PAINT, 16) && is_filled(key + n, PAINT, sizeof room - 16 - n));
    }
}

static void memory_that_does_not_serve_is_refused_and_wiped(const struct evc_aes *kernel)
{
    for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof kinds[0]; k++) {
        const size_t n = k->needs(kernel);
        for (size_t at = 1; at < 16; at++) {
            memset(room, PAINT, sizeof room);
            EXPECT(k->set(room + at, n, kernel, k->good_bits) == EVC_ERR_ALIGNMENT);
            EXPECT(is_filled(room, PAINT, at) && is_filled(room + at, 0, n) &&
                   room[at + n] == PAINT);
        }
        memset(room, PAINT, sizeof room);
        EXPECT(k->set(room, n - 1, kernel, k->good_bits) == EVC_ERR_KERNEL);
        EXPECT(is_filled(room, 0, n - 1) && room[n - 1] == PAINT);
        EXPECT(k->use(room) == EVC_ERR_KERNEL);
        memset(room, PAINT, sizeof room); /* more than it needs belongs to the key, too */
        EXPECT(k->set(room, n + 64, kernel, k->good_bits) == EVC_OK);
        EXPECT(is_filled(room + n, 0, 64) && room[n + 64] == PAINT);
    }
}

/* A set-up that fails leaves nothing of the key that was there, and nothing that can be used. */
static void failed_set_ups_leave_no_key(const struct evc_aes *kernel)
{
    for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof kinds[0]; k++) {
        const size_t n = k->needs(kernel);
        for (int without_kernel = 0; without_kernel < 2; without_kernel++) {
            must(k->set(room, n, kernel, k->good_bits));
            EXPECT(k->set(room, n, without_kernel ? NULL : kernel,
                          without_kernel ? k->good_bits : k->bad_bits) ==
                   (without_kernel ? EVC_ERR_KERNEL : EVC_ERR_KEY_SIZE));
            EXPECT(is_filled(room, 0, n));
            memset(out, PAINT, sizeof out);
            EXPECT(k->use(room) == EVC_ERR_KERNEL || k->set == cmac_set);
            EXPECT(k->set == cmac_set || is_filled(out, PAINT, sizeof out));
        }
    }
}

static void never_called(void *key, const uint8_t *bytes)
{
    (void)key, (void)bytes;
    EXPECT(0); /* it is not to be called */
}

/* A kernel whose keys would need more alignment than the memory has, as the second of two: nothing
 * of the first key is left. */
static void kernels_that_need_more_alignment_are_refused(void)
{
    const struct evc_aes *good = evc_aes_named("c_ref");
    struct evc_aes demanding = *good;

    demanding.kernel.key_align = 32;
    memset(room, PAINT, sizeof room);
    EXPECT(evc_aes_xts_set_key_in(room, 4096, good, &demanding, user_key, 128) == EVC_ERR_KERNEL);
    EXPECT(is_filled(room, 0, 4096));
    memset(room, PAINT, sizeof room);
    EXPECT(evc_aes_ccm_set_key_in(room, 4096, good, &demanding, user_key, 128) == EVC_ERR_KERNEL);
    EXPECT(is_filled(room, 0, 4096));
    memset(room, PAINT, sizeof room);
    EXPECT(evc_gcm_set_pair_in(room, 4096, &demanding, evc_ghash_named("c_ref"), user_key, 128) ==
           EVC_ERR_KERNEL);
    EXPECT(is_filled(room, 0, 4096));
}

/* The descriptor that keys of pairs remember sets up no key by itself. */
static void the_descriptor_of_pairs_is_refused(void)
{
    const struct evc_gcm *pair;
    struct evc_gcm demanding;

    must(evc_gcm_set_pair_in(room, 4096, evc_aes_named("c_ref"), evc_ghash_named("c_ref"), user_key,
                             128));
    pair = ((const union evc_gcm_key *)(const void *)room)->head.kernel;
    EXPECT(evc_gcm_set_key_in(room, 4096, pair, user_key, 128) == EVC_ERR_KERNEL &&
           is_filled(room, 0, 4096));
    demanding = *pair;
    demanding.set_key = never_called;
    demanding.kernel.key_align = 32;
    memset(room, PAINT, sizeof room);
    EXPECT(evc_gcm_set_key_in(room, 4096, &demanding, user_key, 128) == EVC_ERR_KERNEL &&
           is_filled(room, 0, 4096));
}

/* The place of the second key of a pair is a number of 16 bits. */
static void pairs_of_very_large_keys_are_refused(void)
{
    static EVC_ALIGN(16) uint8_t memory[0x10000 + 4096];
    const struct evc_ghash *ghash = evc_ghash_named("c_ref");
    struct evc_aes large = *evc_aes_named("c_ref");

    large.kernel.key_bytes = 0x10000 - 16;
    EXPECT(evc_gcm_set_pair_in(memory, sizeof memory, &large, ghash, user_key, 128) == EVC_OK);
    large.kernel.key_bytes = 0x10000;
    EXPECT(evc_gcm_set_pair_in(memory, sizeof memory, &large, ghash, user_key, 128) ==
           EVC_ERR_KERNEL);
    EXPECT(is_filled(memory, 0, sizeof memory));
}

/* A key that is set anew takes no short tags until they are allowed again. */
static void short_tags_are_allowed_for_a_key_that_is_set_up(void)
{
    static union evc_gcm_key gcm;
    static struct evc_aes_ccm_key ccm;
    static struct evc_aes_cmac_key cmac;
    const struct evc_aes *aes = evc_aes_named("c_ref");
    const uint8_t nonce[12] = {0}, text[4] = {0};
    uint8_t copy[4], short_tag[4];

    EXPECT(evc_gcm_allow_short_tags(&gcm) == EVC_ERR_KERNEL && all_are(&gcm, 0, sizeof gcm));
    EXPECT(evc_aes_ccm_allow_short_tags(&ccm) == EVC_ERR_KERNEL && all_are(&ccm, 0, sizeof ccm));
    EXPECT(evc_aes_cmac_allow_short_tags(&cmac) == EVC_ERR_KERNEL);
    EXPECT(all_are(&cmac, 0, sizeof cmac));
    for (int round = 0; round < 2; round++) {
        must(evc_gcm_set_pair(&gcm, aes, evc_ghash_named("c_ref"), user_key, 128));
        must(evc_aes_ccm_set_key(&ccm, aes, aes, user_key, 128));
        must(evc_aes_cmac_set_key(&cmac, aes, user_key, 128));
        for (int allowed = 0; allowed < 2; allowed++) {
            const enum evc_status status = allowed ? EVC_OK : EVC_ERR_TAG_SIZE;
            EXPECT(evc_gcm_seal(&gcm, nonce, 12, NULL, 0, text, copy, 4, short_tag, 4) == status);
            EXPECT(evc_aes_ccm_seal(&ccm, nonce, 12, NULL, 0, text, copy, 4, short_tag, 4) ==
                   status);
            EXPECT(evc_aes_cmac(&cmac, text, 4, short_tag, 4) == status);
            EXPECT(evc_gcm_allow_short_tags(&gcm) == EVC_OK);
            EXPECT(evc_aes_ccm_allow_short_tags(&ccm) == EVC_OK);
            EXPECT(evc_aes_cmac_allow_short_tags(&cmac) == EVC_OK);
        }
    }
}

static void keys_of_ghash_are_refused_and_wiped(void)
{
    const struct evc_ghash *kernel = evc_ghash_named("c_ref");
    const size_t n = kernel->kernel.key_bytes;
    struct evc_ghash demanding = *kernel;

    demanding.kernel.key_align = 32;
    memset(room, PAINT, sizeof room);
    EXPECT(evc_ghash_set_key_in(room, n, &demanding, user_key) == EVC_ERR_KERNEL &&
           is_filled(room, 0, n));
    memset(room, PAINT, sizeof room);
    EXPECT(evc_ghash_set_key_in(room, n, NULL, user_key) == EVC_ERR_KERNEL &&
           is_filled(room, 0, n));
    memset(room, PAINT, sizeof room);
    EXPECT(evc_ghash_set_key_in(room, n - 1, kernel, user_key) == EVC_ERR_KERNEL &&
           is_filled(room, 0, n - 1));
    EXPECT(room[n - 1] == PAINT);
    memset(room, PAINT, sizeof room);
    EXPECT(evc_ghash_set_key_in(room + 8, n, kernel, user_key) == EVC_ERR_ALIGNMENT &&
           is_filled(room + 8, 0, n));
    memset(room, PAINT, sizeof room);
    EXPECT(evc_gcm_set_pair_in(room, 4096, evc_aes_named("c_ref"), &demanding, user_key, 128) ==
           EVC_ERR_KERNEL);
    EXPECT(is_filled(room, 0, 4096));
}

/* Keys of two kernels use both, and a key of one kernel used twice is made once. */
static void keys_of_two_kernels_use_both(void)
{
    const struct evc_aes *a = evc_aes_named("c_ref"), *b = evc_aes_named("c_fixslice32");
    struct evc_aes_ccm_key *ccm = (struct evc_aes_ccm_key *)(void *)room;
    struct evc_aes_xts_key *xts = (struct evc_aes_xts_key *)(void *)room;

    must(evc_aes_ccm_set_key(ccm, a, b, user_key, 128));
    EXPECT(evc_aes_ccm_ctr_key(ccm)->head.kernel == a &&
           evc_aes_ccm_mac_key(ccm)->head.kernel == b);
    must(evc_aes_ccm_set_key(ccm, a, a, user_key, 128));
    EXPECT(evc_aes_ccm_ctr_key(ccm) == evc_aes_ccm_mac_key(ccm));
    must(evc_aes_xts_set_key(xts, a, b, user_key, 128));
    EXPECT(evc_aes_xts_data_key(xts)->head.kernel == a &&
           evc_aes_xts_tweak_key(xts)->head.kernel == b);
    EXPECT(evc_aes_xts_data_key(xts)->head.can_decrypt &&
           !evc_aes_xts_tweak_key(xts)->head.can_decrypt);
}

static void keys_of_qarma_are_refused_and_wiped(void)
{
    const struct evc_qarma *kernel = evc_qarma_named("c_ref");
    struct evc_qarma demanding = *kernel;
    union evc_qarma_key *key = (union evc_qarma_key *)(void *)room;
    const struct {
        const struct evc_qarma *kernel;
        unsigned at, sigma, rounds;
        enum evc_status status;
    } bad[] = {
        {kernel, 0, 3, 5, EVC_ERR_PARAMETER},
        {kernel, 0, 2, 0, EVC_ERR_PARAMETER},
        {kernel, 0, 2, 9, EVC_ERR_PARAMETER},
        {NULL, 0, 2, 5, EVC_ERR_KERNEL},
        {&demanding, 0, 2, 5, EVC_ERR_KERNEL},
        {kernel, 8, 2, 5, EVC_ERR_ALIGNMENT},
    };

    demanding.kernel.key_align = 32;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memset(room, PAINT, sizeof room);
        EXPECT(evc_qarma_set_key((union evc_qarma_key *)(void *)(room + bad[i].at), bad[i].kernel,
                                 1, 2, bad[i].sigma, bad[i].rounds) == bad[i].status);
        EXPECT(is_filled(room + bad[i].at, 0, sizeof *key) &&
               room[bad[i].at + sizeof *key] == PAINT);
    }
    memset(room, PAINT, sizeof room);
    must(evc_qarma_set_key(key, kernel, 1, 2, 2, 5));
    EXPECT(is_filled(room + kernel->kernel.key_bytes, 0, sizeof *key - kernel->kernel.key_bytes));
}

/* The second of two keys begins at a multiple of 16, whatever the first one needs. */
static void keys_behind_odd_ones_are_aligned(void)
{
    const struct evc_aes *good = evc_aes_named("c_ref");
    struct evc_aes odd = *good;
    uint8_t expected[32];

    for (const struct kind *k = kinds + 2; k < kinds + sizeof kinds / sizeof kinds[0]; k++) {
        must(k->set(room, k->needs(good), good, k->good_bits));
        must(k->use(room));
        memcpy(expected, out, 32);
        odd.kernel.key_bytes = good->kernel.key_bytes + 4;
        EXPECT(k->needs(&odd) % 16 == 0 && k->needs(&odd) > k->needs(good));
        EXPECT(k->set(room, k->needs(&odd), &odd, k->good_bits) == EVC_OK);
        EXPECT(k->use(room) == EVC_OK && memcmp(out, expected, 32) == 0);
    }
}

/* At both ends, and one byte beyond them. */
static void user_keys_in_the_memory_of_the_key_are_refused(void)
{
    const struct evc_aes *kernel = evc_aes_named("c_ref");
    uint8_t *key = room + 64;
    const size_t n = 2048;

    for (int at_end = 0; at_end < 2; at_end++)
        for (int apart = 0; apart < 2; apart++) {
            const enum evc_status status = apart ? EVC_OK : EVC_ERR_OVERLAP;
            uint8_t *from16 = at_end ? key + n - 1 + apart : key - 15 - apart,
                    *from32 = from16 - (at_end ? 0 : 16);
#define REFUSED(call) (memset(room, 1, sizeof room), from32[at_end ? 16 : 0] = 2, (call) == status)
            EXPECT(REFUSED(evc_aes_set_key_in(key, n, kernel, from16, 128)));
            EXPECT(REFUSED(evc_aes_set_encrypt_key_in(key, n, kernel, from16, 128)));
            EXPECT(REFUSED(
                evc_gcm_set_pair_in(key, n, kernel, evc_ghash_named("c_ref"), from16, 128)));
            EXPECT(REFUSED(evc_aes_ccm_set_key_in(key, n, kernel, kernel, from16, 128)));
            EXPECT(REFUSED(evc_aes_xts_set_key_in(key, n, kernel, kernel, from32, 128)));
            EXPECT(
                REFUSED(evc_aes_xts_set_key_allowing_in(key, n, kernel, kernel, from32, 128, 7)));
            EXPECT(REFUSED(evc_aes_cmac_set_key_in(key, n, kernel, from16, 128)));
            EXPECT(REFUSED(evc_ghash_set_key_in(key, n, evc_ghash_named("c_ref"), from16)));
#undef REFUSED
        }
    EXPECT(evc_aes_xts_key_bytes(NULL, kernel) == 0 && evc_aes_xts_key_bytes(kernel, NULL) == 0);
    EXPECT(evc_aes_ccm_key_bytes(NULL, kernel) == 0 && evc_aes_ccm_key_bytes(kernel, NULL) == 0);
    EXPECT(evc_aes_cmac_key_bytes(NULL) == 0 && evc_gcm_pair_key_bytes(NULL, NULL) == 0);
}

/* A key that is set again holds nothing of the old one: neither what the new kernel does not use,
 * nor the schedule for decryption. */
static void keys_that_are_set_again_keep_nothing(const struct evc_aes *kernel)
{
    static union evc_aes_key fresh, again;
    static const uint8_t other[32] = {0x77};
    uint8_t iv[16] = {0};

    must(evc_aes_set_key(&again, evc_aes_named("c_fixslice32"), other, 256));
    must(evc_aes_set_key(&again, kernel, other, 256));
    must(evc_aes_set_encrypt_key(&again, kernel, user_key, 128));
    memset(&fresh, 0, sizeof fresh);
    must(evc_aes_set_encrypt_key(&fresh, kernel, user_key, 128));
    EXPECT(memcmp(&fresh, &again, sizeof fresh) == 0);
    memset(out, PAINT, sizeof out);
    EXPECT(evc_aes_cbc_decrypt(&again, iv, in, out, 32) == EVC_ERR_DIRECTION &&
           is_filled(out, PAINT, 32));
    evc_aes_cbc_decrypt_blocks(&again, iv, in, out, 2);
    EXPECT(is_filled(out, 0, 32) && is_filled(iv, 0, 16) && out[32] == PAINT);
    memset(out, PAINT, sizeof out);
    evc_aes_xts_decrypt_blocks(&again, iv, in, out, 2);
    EXPECT(is_filled(out, 0, 32) && is_filled(iv, 0, 16) && out[32] == PAINT);
    must(evc_aes_set_encrypt_key_in(&again, sizeof again, kernel, user_key, 128));
    EXPECT(memcmp(&fresh, &again, sizeof fresh) == 0);
    EXPECT(evc_aes_decrypt(&again, in, out, 2) == EVC_ERR_DIRECTION);
}

/* ---- Calls without a key --------------------------------------------------------------------- */

static union evc_aes_key no_aes;
static union evc_qarma_key no_qarma;

/* Lengths of test_calls.c are whole blocks. */
static void functions_without_a_status_give_zeros(void)
{
    uint8_t iv[16] = {9}, iv_before[16] = {9};
    uint64_t many[2] = {1, 2};
    struct evc_msg msg = {in, NULL, 40, iv}; /* only the chain is wanted, and it stays */
    union evc_qarma_key qarma;

    memset(out, PAINT, sizeof out);
    evc_aes_ctr32(&no_aes, iv, in, out, 35);
    EXPECT(is_filled(out, 0, 35) && is_filled(out + 35, PAINT, sizeof out - 35));
    evc_aes_ctr32(&no_aes, iv, NULL, NULL, 0);
    evc_aes_cbc_encrypt_blocks_many(&no_aes, &msg, 1);
    EXPECT(memcmp(iv, iv_before, 16) == 0);
    EXPECT(evc_qarma_encrypt(&no_qarma, 1, 2) == 0 && evc_qarma_decrypt(&no_qarma, 1, 2) == 0);
    evc_qarma_encrypt_many(&no_qarma, many, many, many, 2);
    EXPECT(many[0] == 0 && many[1] == 0);
    must(evc_qarma_set_key(&qarma, evc_qarma_named("c_ref"), 1, 2, EVC_QARMA_SIGMA2, 5));
    memcpy(room + 8, &qarma, sizeof qarma);
    EXPECT(evc_qarma_encrypt((const void *)(room + 8), 1, 2) == 0);
    EXPECT(evc_qarma_decrypt((const void *)(room + 8), 1, 2) == 0);
    many[0] = 1;
    evc_qarma_encrypt_many((const void *)(room + 8), many, many, many, 1);
    EXPECT(many[0] == 0);
}

static void all_tests(const struct evc_aes *kernel)
{
    RUN_WITH(placed_keys_equal_those_in_unions, kernel);
    RUN_WITH(memory_that_does_not_serve_is_refused_and_wiped, kernel);
    RUN_WITH(failed_set_ups_leave_no_key, kernel);
    RUN_WITH(keys_that_are_set_again_keep_nothing, kernel);
}

int main(void)
{
    with_every_kernel(all_tests);
    RUN(kernels_that_need_more_alignment_are_refused);
    RUN(the_descriptor_of_pairs_is_refused);
    RUN(pairs_of_very_large_keys_are_refused);
    RUN(short_tags_are_allowed_for_a_key_that_is_set_up);
    RUN(keys_of_ghash_are_refused_and_wiped);
    RUN(keys_of_two_kernels_use_both);
    RUN(keys_of_qarma_are_refused_and_wiped);
    RUN(keys_behind_odd_ones_are_aligned);
    RUN(user_keys_in_the_memory_of_the_key_are_refused);
    RUN(functions_without_a_status_give_zeros);
    return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* The small things that everything stands on: bytes, masks, wiping, the
 * S-box, key schedules, keys. */
#include "tap.h"

#include "aes/fips197_key.h"
#include "aes/sbox.h"
#include "aes/tweak.h"
#include "common/bytes.h"
#include "common/clear.h"
#include "common/ct.h"

/* ---- bytes, masks, wiping -------------------------------------------------------------------- */

static void integers_have_the_order_of_their_names(void)
{
    static const uint8_t b[9] = {0xff, 1, 2, 3, 4, 5, 6, 7, 0x88};
    uint8_t out[9] = {0};

    EXPECT(evc_load32_le(b + 1) == UINT32_C(0x04030201) &&
           evc_load32_be(b + 1) == UINT32_C(0x01020304));
    EXPECT(evc_load64_le(b + 1) == UINT64_C(0x8807060504030201));
    EXPECT(evc_load64_be(b + 1) == UINT64_C(0x0102030405060788));
    evc_store32_le(out + 1, UINT32_C(0x04030201));
    EXPECT(same(out + 1, b + 1, 4));
    evc_store32_be(out + 5, UINT32_C(0x05060788));
    EXPECT(same(out + 5, b + 5, 4) && out[0] == 0);
    evc_store64_le(out + 1, evc_load64_be(b + 1));
    EXPECT(out[1] == 0x88 && out[8] == 1);
    evc_store64_be(out + 1, UINT64_C(0x0102030405060788));
    EXPECT(same(out + 1, b + 1, 8));
    EXPECT(evc_load32_ne(b + 1) == evc_load32_le(b + 1) ||
           evc_load32_ne(b + 1) == evc_load32_be(b + 1));
}

static void xor_covers_every_length_and_no_more(void)
{
    uint8_t a[50], b[50], out[50];

    random_fill(a, sizeof a);
    random_fill(b, sizeof b);
    for (size_t len = 0; len <= 49; len++) {
        int good = 1;
        memset(out, 0xa5, sizeof out);
        evc_xor(out, a, b, len);
        for (size_t i = 0; i < len; i++)
            good &= out[i] == (a[i] ^ b[i]);
        EXPECT(good && all_are(out + len, 0xa5, sizeof out - len));
    }
}

static void masks_are_all_or_nothing(void)
{
    uint8_t a[33], b[33];

    EXPECT(evc_mask_nonzero32(0) == 0);
    for (unsigned bit = 0; bit < 32; bit++)
        EXPECT(evc_mask_nonzero32(UINT32_C(1) << bit) == UINT32_MAX);
    EXPECT(evc_choose32(UINT32_MAX, 1, 2) == 1 && evc_choose32(0, 1, 2) == 2);
    random_fill(a, sizeof a);
    memcpy(b, a, sizeof a);
    for (size_t len = 0; len <= 33; len++)
        EXPECT(evc_mask_equal(a, b, len) == UINT32_MAX);
    for (size_t bit = 0; bit < 8 * 33; bit++) {
        b[bit / 8] ^= (uint8_t)(1 << bit % 8);
        EXPECT(evc_mask_equal(a, b, 33) == 0);
        EXPECT(evc_mask_equal(a, b, bit / 8) == UINT32_MAX);
        b[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void wipe_zeroes_what_it_is_given_and_no_more(void)
{
    uint8_t p[192];

    for (size_t at = 1; at <= 16; at++)
        for (size_t len = 0; at + len < sizeof p; len++) {
            memset(p, 0xa5, sizeof p);
            evc_wipe(p + at, len);
            EXPECT(all_are(p, 0xa5, at) && all_are(p + at, 0, len));
            EXPECT(all_are(p + at + len, 0xa5, sizeof p - at - len));
        }
}

static void every_status_has_its_words(void)
{
    for (int s = EVC_OK; s <= EVC_ERR_ENCRYPTED; s++)
        for (int t = EVC_OK; t < s; t++)
            EXPECT(strcmp(evc_status_text((enum evc_status)s),
                          evc_status_text((enum evc_status)t)) != 0);
    EXPECT(strcmp(evc_status_text((enum evc_status)(EVC_ERR_ENCRYPTED + 1)), "unknown status") ==
           0);
}

static void tweaks_are_multiplied_by_x(void)
{
    uint8_t t[16] = {1};

    for (unsigned bit = 0; bit < 128; bit++) { /* x^0 to x^127 */
        uint8_t only[16] = {0};
        only[bit / 8] = (uint8_t)(1 << bit % 8);
        EXPECT(same(t, only, 16));
        evc_aes_next_tweak(t);
    }
    EXPECT(t[0] == 0x87 && all_are(t + 1, 0, 15));
}

/* ---- The S-box (FIPS 197 section 5.1.1) ------------------------------------------------------ */

static uint8_t times(uint8_t a, uint8_t b)
{
    unsigned product = 0;

    for (int i = 0; i < 8; i++)
        if (b >> i & 1)
            product ^= (unsigned)a << i;
    for (int i = 14; i >= 8; i--)
        if (product >> i & 1)
            product ^= 0x11bu << (i - 8);
    return (uint8_t)product;
}

static void sbox_is_the_inverse_and_an_affine_map(void)
{
    for (unsigned x = 0; x < 256; x++) {
        unsigned inverse = 0, y = 0x63;
        while (x && times((uint8_t)x, (uint8_t)inverse) != 1)
            inverse++;
        for (unsigned i = 0; i < 8; i++) /* equation (5.2) */
            y ^= ((inverse >> i ^ inverse >> (i + 4) % 8 ^ inverse >> (i + 5) % 8 ^
                   inverse >> (i + 6) % 8 ^ inverse >> (i + 7) % 8) & 1) << i;
        EXPECT(evc_aes_sbox[x] == y);
        EXPECT(evc_aes_inv_sbox[y] == x);
    }
}

/* ---- Key schedules: FIPS 197 appendix A ------------------------------------------------------ */

static void unhex(uint8_t *out, const char *hex)
{
    static const char digits[] = "0123456789abcdef";

    for (; hex[0]; hex += 2)
        *out++ =
            (uint8_t)((strchr(digits, hex[0]) - digits) << 4 | (strchr(digits, hex[1]) - digits));
}

/* The first word that is not the key's own, and the last four words. */
static const struct {
    unsigned key_bits;
    const char *key, *first_made, *last_round;
} schedules[] = {
    {128, "2b7e151628aed2a6abf7158809cf4f3c", "a0fafe17", "d014f9a8c9ee2589e13f0cc8b6630ca6"},
    {192, "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", "fe0c91f7",
     "e98ba06f448c773c8ecc720401002202"},
    {256, "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4", "9ba35411",
     "fe4890d1e6188d0b046df344706c631e"},
};

static void fips197_schedules_are_those_of_appendix_a(const struct evc_aes *kernel)
{
    if (!(kernel->kernel.traits & EVC_KEY_FIPS197))
        return;
    for (size_t i = 0; i < 3; i++) {
        const unsigned rounds = schedules[i].key_bits / 32 + 6, nk = rounds - 6;
        uint8_t user_key[32], first_made[4], last_round[16];
        union evc_aes_key key;
        struct evc_aes_fips197_key form;
        unhex(user_key, schedules[i].key);
        unhex(first_made, schedules[i].first_made);
        unhex(last_round, schedules[i].last_round);
        EXPECT(evc_aes_set_key(&key, kernel, user_key, schedules[i].key_bits) == EVC_OK);
        memcpy(&form, &key, sizeof form);
        EXPECT(form.head.rounds == rounds && same(form.enc[0], user_key, 4 * nk));
        EXPECT(same(&form.enc[nk / 4][4 * (nk % 4)], first_made, 4));
        EXPECT(same(form.enc[rounds], last_round, 16));
        EXPECT(same(form.dec[0], last_round, 16) && same(form.dec[rounds], form.enc[0], 16));
    }
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static void keys_of_other_sizes_are_refused(const struct evc_aes *kernel)
{
    uint8_t user_key[64] = {0};
    union evc_aes_key key;

    for (unsigned bits = 0; bits <= 512; bits++) {
        enum evc_status want =
            bits == 128 || bits == 192 || bits == 256 ? EVC_OK : EVC_ERR_KEY_SIZE;
        EXPECT(evc_aes_set_key(&key, kernel, user_key, bits) == want);
        EXPECT(evc_aes_set_encrypt_key(&key, kernel, user_key, bits) == want);
    }
    EXPECT(evc_aes_set_key(&key, NULL, user_key, 128) == EVC_ERR_KERNEL);
}

/* A kernel whose key is too long for the union can be used by name only. */
static void keys_that_do_not_fit_are_refused(const struct evc_aes *kernel)
{
    struct evc_aes large = *kernel;
    uint8_t user_key[32] = {0};
    union evc_aes_key key;

    large.kernel.key_bytes = 1025;
    EXPECT(evc_aes_set_key(&key, &large, user_key, 128) == EVC_ERR_KERNEL);
    large.kernel.key_bytes = 1024;
    EXPECT(evc_aes_set_key(&key, &large, user_key, 128) == EVC_OK);
    large.kernel.key_align = 64;
    EXPECT(evc_aes_set_encrypt_key(&key, &large, user_key, 128) == EVC_ERR_KERNEL);
}

static const struct evc_aes *rebind_from;

static void rebind_pair(const struct evc_aes *to)
{
    const struct evc_aes *from = rebind_from;
    const int both = (from->kernel.traits & to->kernel.traits & EVC_KEY_FIPS197) != 0;
    uint8_t user_key[32], in[16 * 35], out[16 * 35];
    union evc_aes_key key;

    random_fill(user_key, 32);
    random_fill(in, sizeof in);
    for (unsigned bits = 128; bits <= 256; bits += 64) {
        EXPECT(evc_aes_set_key(&key, from, user_key, bits) == EVC_OK);
        must(evc_aes_encrypt(&key, in, out, 35));
        EXPECT(evc_aes_rebind(&key, to) == (both ? EVC_OK : EVC_ERR_KERNEL));
        EXPECT(key.head.kernel == (both ? to : from));
        EXPECT(evc_aes_decrypt(&key, out, out, 35) == EVC_OK && same(in, out, sizeof in));
    }
    EXPECT(evc_aes_rebind(&key, NULL) == EVC_ERR_KERNEL);
}

/* Encrypt on one kernel, decrypt on another, for all pairs. */
static void keys_move_between_kernels_of_one_form(const struct evc_aes *kernel)
{
    const struct evc_registry_line *line;

    rebind_from = kernel;
    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        if (strcmp(line->primitive, "aes") == 0 && line->built && !missing_feature(line))
            rebind_pair(evc_aes_named(line->name));
}

static void all_tests(const struct evc_aes *kernel)
{
    RUN_WITH(fips197_schedules_are_those_of_appendix_a, kernel);
    RUN_WITH(keys_of_other_sizes_are_refused, kernel);
    RUN_WITH(keys_that_do_not_fit_are_refused, kernel);
    RUN_WITH(keys_move_between_kernels_of_one_form, kernel);
}

/* ---- Vector registers ------------------------------------------------------------------------ */

#if EVC_PPC64_SIMD
EVC_ISA_BEGIN(PPC_VCRYPTO)

#define EACH_OF_14_TO_31(R)                                                                   \
    R(14) R(15) R(16) R(17) R(18) R(19) R(20) R(21) R(22) R(23) R(24) R(25) R(26) R(27) R(28) \
    R(29) R(30) R(31)
#define FILL(i) "lxvd2x " #i ",0,%0\n\t"
#define READ(i) "stxvd2x " #i ",0,%0\n\taddi %0,%0,16\n\t"

/* Registers 14 to 31 under floating point: the upper halves are the caller's. */
static void clearing_of_vsx_takes_lower_halves_alone(void)
{
    static const uint64_t secret[2] = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)};
    uint64_t after[18][2], *at = after[0];

    __asm__ volatile(EACH_OF_14_TO_31(FILL)
                     :
                     : "b"(secret)
                     : "fr14", "fr15", "fr16", "fr17", "fr18", "fr19", "fr20", "fr21", "fr22",
                       "fr23", "fr24", "fr25", "fr26", "fr27", "fr28", "fr29", "fr30", "fr31",
                       "memory");
    evc_clear_registers_vsx(0);
    __asm__ volatile(EACH_OF_14_TO_31(READ) : "+b"(at) : : "memory");
    for (size_t i = 0; i < 18; i++)
        EXPECT(after[i][0] == secret[0] && after[i][1] == 0);
}

EVC_ISA_END
#endif

int main(void)
{
    RUN(integers_have_the_order_of_their_names);
    RUN(xor_covers_every_length_and_no_more);
    RUN(masks_are_all_or_nothing);
    RUN(wipe_zeroes_what_it_is_given_and_no_more);
    RUN(every_status_has_its_words);
    RUN(tweaks_are_multiplied_by_x);
    RUN(sbox_is_the_inverse_and_an_affine_map);
#if EVC_PPC64_SIMD
    if (evc_cpu_features() & EVC_CPU(PPC_VCRYPTO))
        RUN(clearing_of_vsx_takes_lower_halves_alone);
#endif
    with_every_kernel(all_tests);
    return tap_done();
}

/* SPDX-License-Identifier: MIT */
/* Functions *_set_best: the key belongs to the kernel that selection gives for the mode's use. */
#include "everycore/dh.h"
#include "everycore/gcm.h"
#include "everycore/hmac.h"
#include "everycore/modes.h"
#include "everycore/rsa_padding.h"
#include "tap.h"

#define N_WORDS 20 /* random feature words */

static uint8_t user_key[64], h[16];

/* ---- Features that this CPU has -------------------------------------------------------------- */

/* All features, none, all but one, one after the other from the first on, and random subsets. */
static uint64_t feature_word(unsigned index)
{
    const uint64_t here = evc_cpu_features();

    if (index < 2)
        return index ? here : 0;
    index -= 2;
    if (index < 64)
        return here & ~(UINT64_C(1) << index);
    if (index < 128)
        return here & ((UINT64_C(1) << (index - 64)) - 1);
    return here & ((uint64_t)random_below(1 << 24) << 40 | (uint64_t)random_below(1 << 20) << 20 |
                   random_below(1 << 20));
}

static void with_every_request(void (*check)(uint64_t features, unsigned policy))
{
    for (unsigned i = 0; i < 130 + N_WORDS; i++) {
        const uint64_t features = feature_word(i);
        if (i >= 2 && i < 130 && features == feature_word(i - 1))
            continue;
        for (unsigned policy = 0; policy <= (EVC_ALLOW_HARDENED | EVC_ALLOW_VARTIME); policy++)
            check(features, policy);
    }
}

/* ---- AES ------------------------------------------------------------------------------------- */

static const struct evc_aes *parallel, *serial;

static void select_aes(uint64_t features, unsigned policy)
{
    parallel = evc_aes_select(features, policy, EVC_USE_PARALLEL);
    serial = evc_aes_select(features, policy, EVC_USE_SERIAL);
}

static void blocks_ctr_and_cbc(uint64_t features, unsigned policy)
{
    union evc_aes_key key;

    select_aes(features, policy);
    EXPECT(evc_aes_set_best(&key, features, policy, user_key, 192) == EVC_OK);
    EXPECT(key.head.kernel == parallel && key.head.can_decrypt && key.head.rounds == 12);
    EXPECT(evc_aes_ctr_set_best(&key, features, policy, user_key, 256) == EVC_OK);
    EXPECT(key.head.kernel == parallel && !key.head.can_decrypt && key.head.rounds == 14);
    EXPECT(evc_aes_cbc_encrypt_set_best(&key, features, policy, user_key, 128) == EVC_OK);
    EXPECT(key.head.kernel == serial && !key.head.can_decrypt && key.head.rounds == 10);
    EXPECT(evc_aes_cbc_decrypt_set_best(&key, features, policy, user_key, 128) == EVC_OK);
    EXPECT(key.head.kernel == parallel && key.head.can_decrypt && key.head.rounds == 10);
}

static void xts_cmac_and_ccm(uint64_t features, unsigned policy)
{
    static struct evc_aes_xts_key xts;
    static struct evc_aes_cmac_key cmac;
    static struct evc_aes_ccm_key ccm;

    select_aes(features, policy);
    EXPECT(evc_aes_xts_set_best(&xts, features, policy, user_key, 256) == EVC_OK);
    EXPECT(evc_aes_xts_data_key(&xts)->head.kernel == parallel);
    EXPECT(evc_aes_xts_tweak_key(&xts)->head.kernel == serial);
    EXPECT(evc_aes_cmac_set_best(&cmac, features, policy, user_key, 256) == EVC_OK);
    EXPECT(cmac.aes.head.kernel == serial);
    EXPECT(evc_aes_ccm_set_best(&ccm, features, policy, user_key, 256) == EVC_OK);
    EXPECT(evc_aes_ccm_ctr_key(&ccm)->head.kernel == parallel);
    EXPECT(evc_aes_ccm_mac_key(&ccm)->head.kernel == serial);
}

static void ghash_and_gcm(uint64_t features, unsigned policy)
{
    const struct evc_gcm *const fused = evc_gcm_select(features, policy);
    static union evc_ghash_key ghash;
    static union evc_gcm_key best, other;

    EXPECT(evc_ghash_set_best(&ghash, features, policy, h) == EVC_OK);
    EXPECT(ghash.head.kernel == evc_ghash_select(features, policy));
    select_aes(features, policy);
    if (fused)
        must(evc_gcm_set_key(&other, fused, user_key, 256));
    else
        must(evc_gcm_set_pair(&other, evc_gcm_select_aes(features, policy),
                              evc_gcm_select_ghash(features, policy), user_key, 256));
    EXPECT(evc_gcm_set_best(&best, features, policy, user_key, 256) == EVC_OK);
    EXPECT(memcmp(&best, &other, sizeof best) == 0);
}

static void modes_of_aes_take_the_kernel_for_their_use(void)
{
    with_every_request(blocks_ctr_and_cbc);
    with_every_request(xts_cmac_and_ccm);
}

static void gcm_takes_its_kernel_or_the_best_pair(void)
{
    with_every_request(ghash_and_gcm);
}

static void hmac(uint64_t features, unsigned policy)
{
    static struct evc_hmac_key key;

    for (enum evc_sha2_hash hash = EVC_SHA224; hash <= EVC_SHA512_256; hash++) {
        must(evc_hmac_set_best(&key, features, policy, hash, user_key, sizeof user_key));
        EXPECT(key.kernel == evc_sha2_select(features, policy, hash));
    }
}

static void hmac_takes_the_kernel_for_its_hash(void)
{
    with_every_request(hmac);
}

static void keys_that_are_none_are_refused(void)
{
    const uint64_t here = evc_cpu_features();
    struct evc_aes_cmac_key cmac;
    struct evc_aes_ccm_key ccm;
    struct evc_aes_xts_key xts;
    union evc_aes_key aes;
    union evc_gcm_key gcm;

    EXPECT(evc_aes_set_best(&aes, here, 0, user_key, 100) == EVC_ERR_KEY_SIZE);
    EXPECT(evc_aes_ctr_set_best(&aes, here, 0, user_key, 0) == EVC_ERR_KEY_SIZE);
    EXPECT(evc_aes_cbc_encrypt_set_best(&aes, here, 0, user_key, 64) == EVC_ERR_KEY_SIZE);
    EXPECT(evc_aes_cbc_decrypt_set_best(&aes, here, 0, user_key, 512) == EVC_ERR_KEY_SIZE);
    EXPECT(evc_aes_cmac_set_best(&cmac, here, 0, user_key, 129) == EVC_ERR_KEY_SIZE);
    EXPECT(evc_aes_ccm_set_best(&ccm, here, 0, user_key, 1) == EVC_ERR_KEY_SIZE);
    EXPECT(evc_aes_xts_set_best(&xts, here, 0, user_key, 192) == EVC_ERR_KEY_SIZE);
    EXPECT(evc_gcm_set_best(&gcm, here, 0, user_key, 100) == EVC_ERR_KEY_SIZE);
    EXPECT(evc_aes_encrypt(&aes, h, h, 1) == EVC_ERR_KERNEL);
}

/* ---- Big numbers ----------------------------------------------------------------------------- */

EVC_ALIGN(16) static uint8_t memory[EVC_DH_MOST_GROUP_BYTES(2048)];

static const struct evc_bn *kernel_for(uint64_t features, unsigned policy, size_t n_bits)
{
    return evc_bn_select_for(features, policy, EVC_USE_ANY, n_bits);
}

/* Below and above the lengths from which vectors are the fastest. */
static void moduli(uint64_t features, unsigned policy)
{
    const struct evc_bn_modulus *const modulus = (const void *)memory;
    uint8_t n[72];

    random_fill(n, sizeof n);
    n[0] = n[sizeof n - 1] = n[31] = n[47] = 0xff;
    for (size_t n_bytes = 32; n_bytes <= 72; n_bytes += n_bytes == 32 ? 16 : 24) {
        EXPECT(evc_bn_set_best_in(memory, EVC_BN_MOST_MODULUS_BYTES(8 * n_bytes), features, policy,
                                  n, n_bytes) == EVC_OK);
        EXPECT(modulus->kernel == kernel_for(features, policy, 8 * n_bytes));
    }
}

/* Not with c_ref, which takes long. */
static void groups(uint64_t features, unsigned policy)
{
    const struct evc_dh_group *const group = (const void *)memory;
    const struct evc_bn *const kernel = kernel_for(features, policy, 2048);

    if (strcmp(evc_bn_kernel(kernel)->name, "c_ref") == 0)
        return;
    EXPECT(evc_dh_set_best_in(memory, sizeof memory, features, policy,
                              evc_dh_params_named("ffdhe2048"), 0) == EVC_OK);
    EXPECT(group->kernel == kernel);
}

static void big_numbers_take_the_kernel_for_their_length(void)
{
    with_every_request(moduli);
    with_every_request(groups);
}

static void the_most_bytes_are_enough_for_every_kernel(void)
{
    const struct evc_bn *bn;

    for (unsigned i = 0; (bn = evc_bn_at(i)) != NULL; i++)
        for (size_t bits = 128; bits <= 8192; bits += 8) {
            EXPECT(evc_bn_modulus_bytes(bn, bits) <= EVC_BN_MOST_MODULUS_BYTES(bits));
            EXPECT(evc_bn_scratch_bytes(bn, bits) <= EVC_BN_MOST_SCRATCH_BYTES(bits));
            EXPECT(evc_dh_group_bytes(bn, bits) <= EVC_DH_MOST_GROUP_BYTES(bits));
            EXPECT(evc_dh_scratch_bytes(bn, bits) <= EVC_DH_MOST_SCRATCH_BYTES(bits));
            for (size_t n_bits = bits + 1; n_bits <= bits + 8; n_bits++) {
                EXPECT(evc_rsa_public_bytes(bn, n_bits) <= EVC_RSA_MOST_PUBLIC_BYTES(n_bits));
                EXPECT(evc_rsa_private_bytes(bn, n_bits) <= EVC_RSA_MOST_PRIVATE_BYTES(n_bits));
                EXPECT(evc_rsa_scratch_bytes(bn, n_bits) <= EVC_RSA_MOST_SCRATCH_BYTES(n_bits));
                EXPECT(evc_rsa_padding_scratch_bytes(bn, n_bits) <=
                       EVC_RSA_MOST_SCRATCH_BYTES(n_bits));
            }
        }
}

int main(void)
{
    random_fill(user_key, sizeof user_key);
    random_fill(h, sizeof h);
    RUN(modes_of_aes_take_the_kernel_for_their_use);
    RUN(gcm_takes_its_kernel_or_the_best_pair);
    RUN(hmac_takes_the_kernel_for_its_hash);
    RUN(keys_that_are_none_are_refused);
    RUN(big_numbers_take_the_kernel_for_their_length);
    RUN(the_most_bytes_are_enough_for_every_kernel);
    return tap_done();
}

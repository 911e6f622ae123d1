/* SPDX-License-Identifier: MIT */
/*
 * States of messages: what calls leave in them, and members that no call leaves. Orders of calls
 * are in test_calls.c. By one portable kernel, for states are the business of modes.
 */
#include "tap.h"

#include "everycore/gcm.h"
#include "everycore/modes.h"

#define PAINT 0xa5

static union state {
    struct evc_gcm_state gcm;
    struct evc_aes_ccm ccm;
    struct evc_aes_cmac cmac;
    struct evc_aes_xts xts;
    struct evc_aes_ctr ctr;
    uint8_t bytes[256];
} state, before;

static const uint8_t in[32] = {1, 2, 3}, nonce[16] = {4, 5, 6}, wrong_tag[16] = {7};
static uint8_t out[32], tag[16];
static union evc_gcm_key gcm_key;
static struct evc_aes_xts_key xts_key;

static void set_keys(void)
{
    const struct evc_aes *aes = evc_aes_named("c_ref");

    must(evc_gcm_set_pair(&gcm_key, aes, evc_ghash_named("c_ref"), nonce, 128));
    must(evc_aes_xts_set_key(&xts_key, aes, aes, in, 128));
}

/* No start and no other call leaves such lengths, phases or forms. */
static void counts_that_no_call_leaves_are_refused(void)
{
    static const struct {
        uint64_t aad_bytes, text_bytes;
        uint8_t phase, form; /* forms of the hash: 0, 1, 2 */
        enum evc_status wanted;
    } counts[] = {{64, 0, 1, 0, EVC_OK},
                  {64, 0, 3, 0, EVC_ERR_STATE},
                  {64, 0, 255, 0, EVC_ERR_STATE},
                  {64, 0, 1, 3, EVC_ERR_STATE},
                  {64, 0, 1, 255, EVC_ERR_STATE},
                  {EVC_GCM_MAX_AAD + 1, 0, 1, 0, EVC_ERR_STATE},
                  {EVC_GCM_MAX_AAD + 1, 0, 1, 1, EVC_ERR_STATE},
                  {EVC_GCM_MAX_AAD + 1, 0, 2, 0, EVC_ERR_STATE},
                  {UINT64_C(0x4000000000000080), 0, 1, 0, EVC_ERR_STATE},
                  {UINT64_MAX, 0, 1, 0, EVC_ERR_STATE},
                  {0, EVC_GCM_MAX_TEXT + 1, 2, 0, EVC_ERR_STATE},
                  {0, EVC_GCM_MAX_TEXT + 1, 2, 2, EVC_ERR_STATE},
                  {0, UINT64_MAX, 2, 1, EVC_ERR_STATE}};

    set_keys();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (int call = 0; call < 6; call++) {
            struct evc_gcm_state *const s = &state.gcm;
            must(evc_gcm_start(&gcm_key, s, nonce, 12));
            s->phase = counts[i].phase;
            s->form = counts[i].form;
            s->aad_bytes = counts[i].aad_bytes;
            s->text_bytes = counts[i].text_bytes;
            before = state;
            EXPECT((call == 0   ? evc_gcm_aad(&gcm_key, s, in, 17)
                    : call == 1 ? evc_gcm_aad(&gcm_key, s, NULL, 0)
                    : call == 2 ? evc_gcm_seal_update(&gcm_key, s, in, out, 17)
                    : call == 3 ? evc_gcm_open_update(&gcm_key, s, in, out, 17)
                    : call == 4 ? evc_gcm_open_update(&gcm_key, s, NULL, NULL, 0)
                                : evc_gcm_seal_finish(&gcm_key, s, tag, 16)) == counts[i].wanted);
            EXPECT(counts[i].wanted == EVC_OK || memcmp(&state, &before, sizeof state) == 0);
        }
}

/* With a state that was overwritten in part. */
static void a_tag_of_a_size_that_no_start_takes_is_not_compared(void)
{
    static const uint8_t sizes[] = {0, 1, 3, 17, 255};
    static struct evc_aes_ccm_key key;
    const struct evc_aes *aes = evc_aes_named("c_ref");

    must(evc_aes_ccm_set_key(&key, aes, aes, nonce, 128));
    for (size_t i = 0; i < sizeof sizes; i++) {
        must(evc_aes_ccm_start(&key, &state.ccm, nonce, 12, 0, 0, 16));
        state.ccm.tag_bytes = sizes[i];
        EXPECT(evc_aes_ccm_open_finish(&key, &state.ccm, wrong_tag) == EVC_ERR_STATE);
        memset(tag, PAINT, sizeof tag);
        EXPECT(evc_aes_ccm_seal_finish(&key, &state.ccm, tag) == EVC_ERR_STATE);
        EXPECT(all_are(tag, PAINT, sizeof tag));
    }
}

/* Counts of bytes in a block, and of a unit, that are one more than calls leave: by larger ones,
 * calls would use memory behind the blocks of a state, or pass a limit. */
static void counts_that_are_one_too_large_are_refused(void)
{
    static union evc_aes_key aes_key;
    static struct evc_aes_ccm_key ccm_key;
    static struct evc_aes_cmac_key cmac_key;
    const struct evc_aes *aes = evc_aes_named("c_ref");

    set_keys();
    must(evc_aes_set_key(&aes_key, aes, in, 128));
    must(evc_aes_ccm_set_key(&ccm_key, aes, aes, in, 128));
    must(evc_aes_cmac_set_key(&cmac_key, aes, in, 128));
    must(evc_aes_ctr_start(&state.ctr, nonce));
    state.ctr.left = 16;
    before = state;
    EXPECT(evc_aes_ctr_update(&aes_key, &state.ctr, in, out, 17) == EVC_ERR_STATE);
    EXPECT(memcmp(&state, &before, sizeof state) == 0);
    must(evc_aes_cmac_start(&state.cmac));
    state.cmac.used = 17;
    before = state;
    EXPECT(evc_aes_cmac_update(&cmac_key, &state.cmac, in, 17) == EVC_ERR_STATE);
    EXPECT(evc_aes_cmac_finish(&cmac_key, &state.cmac, tag, 16) == EVC_ERR_STATE);
    EXPECT(evc_aes_cmac_finish_verify(&cmac_key, &state.cmac, tag, 16) == EVC_ERR_STATE);
    EXPECT(memcmp(&state, &before, sizeof state) == 0);
    for (uint8_t aad_bytes = 0; aad_bytes <= 17; aad_bytes += 17) {
        must(evc_aes_ccm_start(&ccm_key, &state.ccm, nonce, 12, aad_bytes, 17, 16));
        state.ccm.used = 16;
        before = state;
        EXPECT(evc_aes_ccm_aad(&ccm_key, &state.ccm, in, aad_bytes) == EVC_ERR_STATE);
        EXPECT(evc_aes_ccm_seal_update(&ccm_key, &state.ccm, in, out, 17) == EVC_ERR_STATE);
        EXPECT(evc_aes_ccm_open_update(&ccm_key, &state.ccm, in, out, 17) == EVC_ERR_STATE);
        EXPECT(memcmp(&state, &before, sizeof state) == 0);
    }
    must(evc_aes_ccm_start(&ccm_key, &state.ccm, nonce, 12, 0, 0, 16));
    state.ccm.used = 16;
    EXPECT(evc_aes_ccm_seal_finish(&ccm_key, &state.ccm, tag) == EVC_ERR_STATE);
    EXPECT(evc_aes_ccm_open_finish(&ccm_key, &state.ccm, tag) == EVC_ERR_STATE);
    must(evc_aes_xts_start(&xts_key, &state.xts, nonce));
    state.xts.done_bytes = (uint32_t)EVC_AES_XTS_MAX_BYTES + 1;
    before = state;
    EXPECT(evc_aes_xts_encrypt_update(&xts_key, &state.xts, in, out, 16) == EVC_ERR_STATE);
    EXPECT(evc_aes_xts_decrypt_update(&xts_key, &state.xts, in, out, 16) == EVC_ERR_STATE);
    EXPECT(evc_aes_xts_encrypt_finish(&xts_key, &state.xts, in, out, 17) == EVC_ERR_STATE);
    EXPECT(evc_aes_xts_decrypt_finish(&xts_key, &state.xts, in, out, 17) == EVC_ERR_STATE);
    EXPECT(memcmp(&state, &before, sizeof state) == 0);
}

static void units_of_xts_count_all_of_their_pieces(void)
{
    set_keys();
    must(evc_aes_xts_start(&xts_key, &state.xts, nonce));
    for (unsigned i = 1; i < 4; i++) {
        must(evc_aes_xts_encrypt_update(&xts_key, &state.xts, in, out, 16));
        EXPECT(state.xts.done_bytes == 16 * i);
    }
    EXPECT(evc_aes_xts_encrypt_finish(&xts_key, &state.xts, in, out, SIZE_MAX) == EVC_ERR_LENGTH);
    EXPECT(state.xts.done_bytes == 48);
}

/* A message may begin anew with the counter or tweak that its state holds, and whatever else
 * it holds is forgotten. */
static void starts_read_their_arguments_from_the_state_too(void)
{
    static const uint8_t first[16] = {8, 8, 8};
    union state fresh;

    memset(&state, PAINT, sizeof state);
    memset(&fresh, PAINT, sizeof fresh);
    memcpy(state.ctr.counter, first, 16);
    must(evc_aes_ctr_start(&state.ctr, state.ctr.counter));
    must(evc_aes_ctr_start(&fresh.ctr, first));
    EXPECT(memcmp(&state, &fresh, sizeof state) == 0 && memcmp(state.ctr.counter, first, 16) == 0);
    EXPECT(state.ctr.left == 0);
    set_keys();
    memcpy(state.xts.tweak, first, 16);
    must(evc_aes_xts_start(&xts_key, &state.xts, state.xts.tweak));
    must(evc_aes_xts_start(&xts_key, &fresh.xts, first));
    EXPECT(memcmp(&state.xts, &fresh.xts, sizeof state.xts) == 0);
    EXPECT(state.xts.done_bytes == 0 && state.xts.direction == 0);
}

int main(void)
{
    RUN(counts_that_no_call_leaves_are_refused);
    RUN(a_tag_of_a_size_that_no_start_takes_is_not_compared);
    RUN(counts_that_are_one_too_large_are_refused);
    RUN(units_of_xts_count_all_of_their_pieces);
    RUN(starts_read_their_arguments_from_the_state_too);
    return tap_done();
}

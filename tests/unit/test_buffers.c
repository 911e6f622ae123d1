/* SPDX-License-Identifier: MIT */
/*
 * Calls that take a key and return a status: each buffer that has a length is refused if it is NULL
 * and the length is not 0, and may be NULL if it is; a key is refused that stands at no multiple of
 * 16. A call that is refused does nothing. tools/check-tree compares the names of the calls below
 * with the headers.
 */
#include "everycore/gcm.h"
#include "everycore/modes.h"
#include "everycore/qarma.h"
#include "tap.h"

#define TEXT_BYTES 48
#define PAINT 0xa5

enum { IV = 1, AAD = 2, IN = 4, OUT = 8, TAG = 16, MSGS = 32, LAST = MSGS };

/* Arguments of a call: the real buffers below, or NULL, and lengths that are 0 for some. */
static struct {
    const uint8_t *iv, *aad, *in;
    uint8_t *out, *tag;
    size_t aad_bytes, len_bytes;
    struct evc_msg *msgs;
    struct evc_gcm_msg *gcm_msgs;
} b;

static uint8_t iv[16], aad[12], in[TEXT_BYTES], out[TEXT_BYTES + 16], tag[16];
static uint8_t ciphertext[2][TEXT_BYTES], right_tag[3][16]; /* of CCM, GCM; CMAC */
static uint8_t joined[2][TEXT_BYTES + 16];
static struct evc_msg msg;
static struct evc_gcm_msg gcm_msg;

/* The state of a message, of any mode; each call has a copy of the one that it expects. */
static union state {
    struct evc_aes_ctr ctr;
    struct evc_aes_xts xts;
    struct evc_aes_cmac cmac;
    struct evc_aes_ccm ccm;
    struct evc_gcm_state gcm;
} s;

/* ---- Keys ------------------------------------------------------------------------------------ */

static union keys {
    union evc_aes_key aes;
    struct evc_aes_xts_key xts;
    struct evc_aes_cmac_key cmac;
    struct evc_aes_ccm_key ccm;
    union evc_gcm_key gcm;
} keys;

typedef void set_up(void);
static const uint8_t user_key[64] = {1, 2, 3, [16] = 4};

static const struct evc_aes *best(void)
{
    return evc_aes_select(evc_cpu_features(), 0, EVC_USE_ANY);
}

static void aes(void) { must(evc_aes_set_key(&keys.aes, best(), user_key, 128)); }
static void xts(void) { must(evc_aes_xts_set_key(&keys.xts, best(), best(), user_key, 128)); }
static void cmac(void) { must(evc_aes_cmac_set_key(&keys.cmac, best(), user_key, 128)); }
static void ccm(void) { must(evc_aes_ccm_set_key(&keys.ccm, best(), best(), user_key, 128)); }

static const struct evc_gcm *fused; /* NULL: a pair */

static void gcm(void)
{
    must(fused ? evc_gcm_set_key(&keys.gcm, fused, user_key, 128)
               : evc_gcm_set_pair(&keys.gcm, best(), evc_ghash_select(evc_cpu_features(), 0),
                                  user_key, 128));
}

/* ---- States ---------------------------------------------------------------------------------- */

static void no_state(void) {}
static void ctr_text(void) { must(evc_aes_ctr_start(&s.ctr, iv)); }
static void xts_text(void) { must(evc_aes_xts_start(&keys.xts, &s.xts, iv)); }
static void cmac_text(void) { must(evc_aes_cmac_start(&s.cmac)); }

static void ccm_aad(void)
{
    must(evc_aes_ccm_start(&keys.ccm, &s.ccm, iv, 12, b.aad_bytes, b.len_bytes, 16));
}

static void ccm_text(void)
{
    ccm_aad();
    must(evc_aes_ccm_aad(&keys.ccm, &s.ccm, aad, b.aad_bytes));
}

static void ccm_sealed(void)
{
    ccm_text();
    must(evc_aes_ccm_seal_update(&keys.ccm, &s.ccm, in, out, b.len_bytes));
}

static void ccm_opened(void)
{
    ccm_text();
    must(evc_aes_ccm_open_update(&keys.ccm, &s.ccm, ciphertext[0], out, b.len_bytes));
}

static void gcm_aad(void) { must(evc_gcm_start(&keys.gcm, &s.gcm, iv, 12)); }

static void gcm_text(void)
{
    gcm_aad();
    must(evc_gcm_aad(&keys.gcm, &s.gcm, aad, b.aad_bytes));
}

static void gcm_sealed(void)
{
    gcm_text();
    must(evc_gcm_seal_update(&keys.gcm, &s.gcm, in, out, b.len_bytes));
}

static void gcm_opened(void)
{
    gcm_text();
    must(evc_gcm_open_update(&keys.gcm, &s.gcm, ciphertext[1], out, b.len_bytes));
}

/* ---- Calls ----------------------------------------------------------------------------------- */

#define CALL(name, call) \
    static enum evc_status call_##name(const void *key) { return name call; }

CALL(evc_aes_encrypt, (key, b.in, b.out, b.len_bytes / 16))
CALL(evc_aes_decrypt, (key, b.in, b.out, b.len_bytes / 16))
CALL(evc_aes_cbc_encrypt, (key, iv, b.in, b.out, b.len_bytes))
CALL(evc_aes_cbc_decrypt, (key, iv, b.in, b.out, b.len_bytes))
CALL(evc_aes_cbc_encrypt_many, (key, b.msgs, 1))
CALL(evc_aes_ctr, (key, iv, b.in, b.out, b.len_bytes))
CALL(evc_aes_ctr_update, (key, &s.ctr, b.in, b.out, b.len_bytes))
CALL(evc_aes_xts_encrypt, (key, iv, b.in, b.out, b.len_bytes))
CALL(evc_aes_xts_decrypt, (key, iv, b.in, b.out, b.len_bytes))
CALL(evc_aes_xts_start, (key, &s.xts, iv))
CALL(evc_aes_xts_encrypt_update, (key, &s.xts, b.in, b.out, b.len_bytes))
CALL(evc_aes_xts_decrypt_update, (key, &s.xts, b.in, b.out, b.len_bytes))
CALL(evc_aes_xts_encrypt_finish, (key, &s.xts, b.in, b.out, b.len_bytes))
CALL(evc_aes_xts_decrypt_finish, (key, &s.xts, b.in, b.out, b.len_bytes))
CALL(evc_aes_cbcmac, (key, iv, b.in, b.len_bytes))
CALL(evc_aes_cmac, (key, b.in, b.len_bytes, b.tag, 16))
CALL(evc_aes_cmac_verify, (key, b.in, b.len_bytes, b.tag ? right_tag[2] : NULL, 16))
CALL(evc_aes_cmac_update, (key, &s.cmac, b.in, b.len_bytes))
CALL(evc_aes_cmac_finish, (key, &s.cmac, b.tag, 16))
CALL(evc_aes_cmac_finish_verify, (key, &s.cmac, b.tag, 16))
CALL(evc_aes_cmac_many, (key, b.msgs, 1))
CALL(evc_aes_ccm_seal,
     (key, b.iv, 12, b.aad, b.aad_bytes, b.in, b.out, b.len_bytes, b.tag, 16))
CALL(evc_aes_ccm_open, (key, b.iv, 12, b.aad, b.aad_bytes, b.in ? ciphertext[0] : NULL, b.out,
                        b.len_bytes, b.tag ? right_tag[0] : NULL, 16))
CALL(evc_aes_ccm_seal_joined,
     (key, b.iv, 12, b.aad, b.aad_bytes, b.in, b.out, b.len_bytes, 16))
CALL(evc_aes_ccm_open_joined, (key, b.iv, 12, b.aad, b.aad_bytes, b.in ? joined[0] : NULL, b.out,
                               b.len_bytes + 16, 16))
CALL(evc_aes_ccm_start, (key, &s.ccm, b.iv, 12, b.aad_bytes, b.len_bytes, 16))
CALL(evc_aes_ccm_aad, (key, &s.ccm, b.aad, b.aad_bytes))
CALL(evc_aes_ccm_seal_update, (key, &s.ccm, b.in, b.out, b.len_bytes))
CALL(evc_aes_ccm_open_update, (key, &s.ccm, b.in, b.out, b.len_bytes))
CALL(evc_aes_ccm_seal_finish, (key, &s.ccm, b.tag))
CALL(evc_aes_ccm_open_finish, (key, &s.ccm, b.tag ? right_tag[0] : NULL))
CALL(evc_gcm_seal, (key, b.iv, 12, b.aad, b.aad_bytes, b.in, b.out, b.len_bytes, b.tag, 16))
CALL(evc_gcm_open, (key, b.iv, 12, b.aad, b.aad_bytes, b.in ? ciphertext[1] : NULL, b.out,
                    b.len_bytes, b.tag ? right_tag[1] : NULL, 16))
CALL(evc_gcm_seal_joined, (key, b.iv, 12, b.aad, b.aad_bytes, b.in, b.out, b.len_bytes))
CALL(evc_gcm_open_joined, (key, b.iv, 12, b.aad, b.aad_bytes, b.in ? joined[1] : NULL, b.out,
                           b.len_bytes + 16))
CALL(evc_gcm_seal_many, (key, b.gcm_msgs, 1))
CALL(evc_gcm_open_many, (key, b.gcm_msgs, 1))
CALL(evc_gcm_start, (key, &s.gcm, b.iv, 12))
CALL(evc_gcm_aad, (key, &s.gcm, b.aad, b.aad_bytes))
CALL(evc_gcm_seal_update, (key, &s.gcm, b.in, b.out, b.len_bytes))
CALL(evc_gcm_open_update, (key, &s.gcm, b.in, b.out, b.len_bytes))
CALL(evc_gcm_seal_finish, (key, &s.gcm, b.tag, 16))
CALL(evc_gcm_open_finish, (key, &s.gcm, b.tag ? right_tag[1] : NULL, 16))

/* may_be_empty: without text, and without associated data, the call returns EVC_OK. */
static const struct call {
    const char *name;
    enum evc_status (*call)(const void *key);
    set_up *set_key, *prepare;
    unsigned buffers;
    int may_be_empty, starts;
} calls[] = {
#define ROW(name, key, prepare, buffers, may_be_empty) \
    {#name, call_##name, key, prepare, buffers, may_be_empty, 0},
#define START(name, key, buffers) {#name, call_##name, key, no_state, buffers, 0, 1},
    ROW(evc_aes_encrypt, aes, no_state, IN | OUT, 1)
    ROW(evc_aes_decrypt, aes, no_state, IN | OUT, 1)
    ROW(evc_aes_cbc_encrypt, aes, no_state, IN | OUT, 1)
    ROW(evc_aes_cbc_decrypt, aes, no_state, IN | OUT, 1)
    ROW(evc_aes_cbc_encrypt_many, aes, no_state, IN | MSGS, 1)
    ROW(evc_aes_ctr, aes, no_state, IN | OUT, 1)
    ROW(evc_aes_ctr_update, aes, ctr_text, IN | OUT, 1)
    ROW(evc_aes_xts_encrypt, xts, no_state, IN | OUT, 0)
    ROW(evc_aes_xts_decrypt, xts, no_state, IN | OUT, 0)
    START(evc_aes_xts_start, xts, 0)
    ROW(evc_aes_xts_encrypt_update, xts, xts_text, IN | OUT, 1)
    ROW(evc_aes_xts_decrypt_update, xts, xts_text, IN | OUT, 1)
    ROW(evc_aes_xts_encrypt_finish, xts, xts_text, IN | OUT, 0)
    ROW(evc_aes_xts_decrypt_finish, xts, xts_text, IN | OUT, 0)
    ROW(evc_aes_cbcmac, aes, no_state, IN, 1)
    ROW(evc_aes_cmac, cmac, no_state, IN | TAG, 1)
    ROW(evc_aes_cmac_verify, cmac, no_state, IN | TAG, 0)
    ROW(evc_aes_cmac_update, cmac, cmac_text, IN, 1)
    ROW(evc_aes_cmac_finish, cmac, cmac_text, TAG, 0)
    ROW(evc_aes_cmac_finish_verify, cmac, cmac_text, TAG, 0)
    ROW(evc_aes_cmac_many, cmac, no_state, IN | MSGS, 1)
    ROW(evc_aes_ccm_seal, ccm, no_state, IV | AAD | IN | OUT | TAG, 1)
    ROW(evc_aes_ccm_open, ccm, no_state, IV | AAD | IN | OUT | TAG, 0)
    ROW(evc_aes_ccm_seal_joined, ccm, no_state, IV | AAD | IN | OUT, 0)
    ROW(evc_aes_ccm_open_joined, ccm, no_state, IV | AAD | IN | OUT, 0)
    START(evc_aes_ccm_start, ccm, IV)
    ROW(evc_aes_ccm_aad, ccm, ccm_aad, AAD, 1)
    ROW(evc_aes_ccm_seal_update, ccm, ccm_text, IN | OUT, 1)
    ROW(evc_aes_ccm_open_update, ccm, ccm_text, IN | OUT, 1)
    ROW(evc_aes_ccm_seal_finish, ccm, ccm_sealed, TAG, 0)
    ROW(evc_aes_ccm_open_finish, ccm, ccm_opened, TAG, 0)
    ROW(evc_gcm_seal, gcm, no_state, IV | AAD | IN | OUT | TAG, 1)
    ROW(evc_gcm_open, gcm, no_state, IV | AAD | IN | OUT | TAG, 0)
    ROW(evc_gcm_seal_joined, gcm, no_state, IV | AAD | IN | OUT, 0)
    ROW(evc_gcm_open_joined, gcm, no_state, IV | AAD | IN | OUT, 0)
    ROW(evc_gcm_seal_many, gcm, no_state, IV | AAD | IN | OUT | TAG | MSGS, 1)
    ROW(evc_gcm_open_many, gcm, no_state, IV | AAD | IN | OUT | TAG | MSGS, 0)
    START(evc_gcm_start, gcm, IV)
    ROW(evc_gcm_aad, gcm, gcm_aad, AAD, 1)
    ROW(evc_gcm_seal_update, gcm, gcm_text, IN | OUT, 1)
    ROW(evc_gcm_open_update, gcm, gcm_text, IN | OUT, 1)
    ROW(evc_gcm_seal_finish, gcm, gcm_sealed, TAG, 0)
    ROW(evc_gcm_open_finish, gcm, gcm_opened, TAG, 0)
};
static const struct call *call;

/* All buffers, but for those of a set; lengths as told. */
static void give(unsigned missing, size_t aad_bytes, size_t len_bytes)
{
    const int opens = call->call == call_evc_gcm_open_many;

    b.iv = missing & IV ? NULL : iv;
    b.aad = missing & AAD ? NULL : aad;
    b.in = missing & IN ? NULL : in;
    b.out = missing & OUT ? NULL : out;
    b.tag = missing & TAG ? NULL : tag;
    b.aad_bytes = aad_bytes;
    b.len_bytes = len_bytes;
    msg = (struct evc_msg){b.in, out, len_bytes, iv};
    gcm_msg = (struct evc_gcm_msg){
        b.iv, b.aad, opens && b.in ? ciphertext[1] : b.in, b.out, opens && b.tag ? right_tag[1]
        : b.tag, 12, aad_bytes, len_bytes, 16, EVC_OK};
    b.msgs = missing & MSGS ? NULL : &msg;
    b.gcm_msgs = missing & MSGS ? NULL : &gcm_msg;
}

/* Whether the call is refused with this status and does nothing. Starts leave no message. */
static void expect_refusal(const void *key, enum evc_status expected)
{
    const union state before = s;

    memset(out, PAINT, sizeof out);
    memset(tag, PAINT, sizeof tag);
    memset(iv, 3, sizeof iv);
    EXPECT(call->call(key) == expected);
    EXPECT(all_are(out, PAINT, sizeof out) && all_are(tag, PAINT, sizeof tag));
    EXPECT(all_are(iv, 3, sizeof iv));
    EXPECT(call->starts || memcmp(&before, &s, sizeof s) == 0);
}

static void prepare(unsigned missing, size_t aad_bytes, size_t len_bytes)
{
    memset(iv, 3, sizeof iv);
    memset(&s, call->starts ? PAINT : 0, sizeof s);
    call->set_key();
    give(missing, aad_bytes, len_bytes);
    call->prepare();
}

static void buffers_that_are_missing_are_refused(void)
{
    for (unsigned missing = IV; missing <= LAST; missing *= 2) {
        if (!(call->buffers & missing))
            continue;
        prepare(missing, sizeof aad, TEXT_BYTES);
        expect_refusal(&keys, EVC_ERR_PARAMETER);
        prepare(0, sizeof aad, TEXT_BYTES); /* the call is right but for that */
        if (call->call != call_evc_aes_cmac_finish_verify)
            EXPECT(call->call(&keys) == EVC_OK);
    }
}

static void empty_buffers_may_be_missing(void)
{
    if (!call->may_be_empty)
        return;
    prepare(AAD | IN | OUT, 0, 0);
    EXPECT(call->call(&keys) == EVC_OK);
}

static void keys_at_other_addresses_are_refused(void)
{
    static EVC_ALIGN(16) uint8_t room[sizeof keys + 16];

    for (size_t at = 1; at < 16; at++) {
        prepare(0, sizeof aad, TEXT_BYTES);
        memcpy(room + at, &keys, sizeof keys);
        expect_refusal(room + at, EVC_ERR_ALIGNMENT);
    }
}

/* Ciphertexts and tags, for the calls that open and verify. */
static void make_answers(void)
{
    memset(iv, 3, sizeof iv);
    random_fill(aad, sizeof aad);
    random_fill(in, sizeof in);
    ccm();
    must(evc_aes_ccm_seal(&keys.ccm, iv, 12, aad, sizeof aad, in, ciphertext[0], TEXT_BYTES,
                          right_tag[0], 16));
    gcm();
    must(evc_gcm_seal(&keys.gcm, iv, 12, aad, sizeof aad, in, ciphertext[1], TEXT_BYTES,
                      right_tag[1], 16));
    for (size_t i = 0; i < 2; i++) {
        memcpy(joined[i], ciphertext[i], TEXT_BYTES);
        memcpy(joined[i] + TEXT_BYTES, right_tag[i], 16);
    }
    cmac();
    must(evc_aes_cmac(&keys.cmac, in, TEXT_BYTES, right_tag[2], 16));
}

static void all_calls(int of_gcm_alone)
{
    for (call = calls; call < calls + sizeof calls / sizeof calls[0]; call++) {
        if (of_gcm_alone && call->set_key != gcm)
            continue;
        buffers_that_are_missing_are_refused();
        tap_result("buffers_that_are_missing_are_refused", call->name);
        empty_buffers_may_be_missing();
        tap_result("empty_buffers_may_be_missing", call->name);
        keys_at_other_addresses_are_refused();
        tap_result("keys_at_other_addresses_are_refused", call->name);
    }
}

/* Functions without a status give zeros, as with a key that is not set up. */
static void functions_without_a_status_give_zeros(void)
{
    static EVC_ALIGN(16) uint8_t room[2048];
    union evc_qarma_key qarma;
    union evc_ghash_key ghash;
    uint8_t y[16] = {1};
    uint64_t block = 1;

    must(evc_ghash_set_key(&ghash, evc_ghash_select(evc_cpu_features(), 0), user_key));
    memcpy(room + 8, &ghash, sizeof ghash);
    evc_ghash_blocks(room + 8, y, in, 2);
    EXPECT(all_are(y, 0, 16));
    y[3] = 5;
    evc_ghash_padded(room + 8, y, in, 20);
    EXPECT(all_are(y, 0, 16));
    must(evc_qarma_set_key(&qarma, evc_qarma_named("c_ref"), 1, 2, EVC_QARMA_SIGMA2, 5));
    memcpy(room + 8, &qarma, sizeof qarma);
    EXPECT(evc_qarma_encrypt((const void *)(room + 8), 1, 2) == 0);
    EXPECT(evc_qarma_decrypt((const void *)(room + 8), 1, 2) == 0);
    evc_qarma_encrypt_many((const void *)(room + 8), &block, &block, &block, 1);
    EXPECT(block == 0);
    aes();
    memcpy(room + 8, &keys.aes, sizeof keys.aes);
    memset(out, PAINT, sizeof out);
    evc_aes_ctr32((const void *)(room + 8), iv, in, out, 20);
    EXPECT(all_are(out, 0, 20) && out[20] == PAINT);
}

int main(void)
{
    make_answers();
    all_calls(0);
    if ((fused = evc_gcm_select(evc_cpu_features(), 0)) != NULL)
        all_calls(1);
    RUN(functions_without_a_status_give_zeros);
    return tap_done();
}

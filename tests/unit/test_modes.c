/* SPDX-License-Identifier: MIT */
/*
 * Properties of the modes, over every kernel that runs here: calls in pieces equal one call, in
 * place equals apart, many equal one by one, counters carry, lengths and tags are refused as the
 * header says. Known answers are in vectors, which the harness runs.
 */
#include "everycore/gcm_siv.h"
#include "everycore/modes.h"

#include "tap.h"

#define MOST 700 /* bytes of a message here: more than what any kernel works on at once */
#define ROUNDS 24

static uint8_t key_bytes[64], in[MOST], want[MOST], got[MOST];
static const unsigned key_sizes[3] = {128, 192, 256};

/* Lengths crowd around whole blocks. */
static size_t some_length(void)
{
    static const size_t edges[] = {0,  1,   15,  16,  17,  31,  32,  33,
                                   64, 127, 128, 256, 511, 512, 513, 640};
    size_t i = random_below(2 * sizeof edges / sizeof edges[0]);

    return i < sizeof edges / sizeof edges[0] ? edges[i] : random_below(MOST + 1);
}

/* The next piece of what is left, in multiples of unit. */
static size_t some_piece(size_t left, size_t unit)
{
    size_t n = random_below(4) ? random_below(70) : random_below(left + 1);

    n -= n % unit;
    return n < left ? n : left - left % unit;
}

static unsigned fresh_key(void)
{
    random_fill(key_bytes, sizeof key_bytes);
    random_fill(in, sizeof in);
    return key_sizes[random_below(3)];
}

/* ---- CBC ------------------------------------------------------------------------------------- */

static void cbc_in_pieces_equals_one_call(const struct evc_aes *kernel)
{
    union evc_aes_key key;
    uint8_t iv[16], chain[16], last[16];

    for (int round = 0; round < ROUNDS; round++) {
        size_t len = some_length() & ~(size_t)15;
        EXPECT(evc_aes_set_key(&key, kernel, key_bytes, fresh_key()) == EVC_OK);
        random_fill(iv, 16);
        memcpy(chain, iv, 16);
        EXPECT(evc_aes_cbc_encrypt(&key, chain, in, want, len) == EVC_OK);
        EXPECT(same(chain, len ? want + len - 16 : iv, 16));
        memcpy(last, chain, 16);

        memcpy(got, in, len);
        memcpy(chain, iv, 16);
        for (size_t at = 0, n; at < len; at += n) {
            n = some_piece(len - at, 16);
            EXPECT(evc_aes_cbc_encrypt(&key, chain, got + at, got + at, n) == EVC_OK);
        }
        EXPECT(same(got, want, len) && same(chain, last, 16));

        memcpy(chain, iv, 16);
        for (size_t at = 0, n; at < len; at += n) {
            n = some_piece(len - at, 16);
            EXPECT(evc_aes_cbc_decrypt(&key, chain, got + at, got + at, n) == EVC_OK);
        }
        EXPECT(same(got, in, len) && same(chain, last, 16));
    }
}

static void cbc_of_many_messages_equals_one_by_one(const struct evc_aes *kernel)
{
    static uint8_t text[70][208], expected[70][208], ivs[70][16], expected_ivs[70][16];
    struct evc_msg msgs[70];
    union evc_aes_key key;

    for (size_t n = 0; n <= 70; n = n < 5 ? n + 1 : n + 13) {
        EXPECT(evc_aes_set_encrypt_key(&key, kernel, key_bytes, fresh_key()) == EVC_OK);
        for (size_t i = 0; i < n; i++) {
            size_t len = 16 * random_below(14);
            random_fill(text[i], sizeof text[i]);
            random_fill(ivs[i], 16);
            memcpy(expected[i], text[i], sizeof text[i]);
            memcpy(expected_ivs[i], ivs[i], 16);
            EXPECT(evc_aes_cbc_encrypt(&key, expected_ivs[i], text[i], expected[i], len) == EVC_OK);
            msgs[i] = (struct evc_msg){text[i], text[i], len, ivs[i]};
        }
        EXPECT(evc_aes_cbc_encrypt_many(&key, msgs, n) == EVC_OK);
        EXPECT(same(text[0], expected[0], n * sizeof text[0]) &&
               same(ivs[0], expected_ivs[0], n * 16));
    }
}

/* ---- CTR ------------------------------------------------------------------------------------- */

/* counter += 1 over its last n bytes. */
static void count(uint8_t counter[16], int n)
{
    for (int i = 15; i >= 16 - n && ++counter[i] == 0; i--)
        ;
}

/* CTR as SP 800-38A defines it, one block at a time. */
static void slow_ctr(const union evc_aes_key *key, const uint8_t start[16], int counter_bytes,
                     uint8_t *out, size_t len)
{
    uint8_t counter[16], stream[16];

    memcpy(counter, start, 16);
    for (size_t i = 0; i < len; i++) {
        if (i % 16 == 0) {
            must(evc_aes_encrypt(key, counter, stream, 1));
            count(counter, counter_bytes);
        }
        out[i] = in[i] ^ stream[i % 16];
    }
}

/* Counters a few blocks before a wrap of 4, 8 and 16 bytes, and anywhere. */
static void some_counter(uint8_t counter[16])
{
    static const size_t ones[] = {0, 4, 8, 15, 16};
    size_t n = ones[random_below(5)];

    random_fill(counter, 16);
    memset(counter + 16 - n, 0xff, n);
    if (n)
        counter[15] = (uint8_t)(0xff - random_below(40));
}

static void ctr_carries_over_all_128_bits(const struct evc_aes *kernel)
{
    union evc_aes_key key;
    uint8_t counter[16], start[16], next[16];

    for (int round = 0; round < 3 * ROUNDS; round++) {
        size_t len = some_length();
        EXPECT(evc_aes_set_encrypt_key(&key, kernel, key_bytes, fresh_key()) == EVC_OK);
        some_counter(start);
        memcpy(counter, start, 16);
        memcpy(next, start, 16);
        for (size_t i = 0; i < (len + 15) / 16; i++)
            count(next, 16);
        slow_ctr(&key, start, 16, want, len);
        must(evc_aes_ctr(&key, counter, in, got, len));
        EXPECT(same(got, want, len) && same(counter, next, 16));
    }
}

static void ctr_in_pieces_equals_one_call(const struct evc_aes *kernel)
{
    union evc_aes_key key;
    struct evc_aes_ctr state, copy;
    uint8_t start[16];

    for (int round = 0; round < 3 * ROUNDS; round++) {
        size_t len = some_length();
        int counter_bytes = round % 2 ? 4 : 16;
        EXPECT(evc_aes_set_encrypt_key(&key, kernel, key_bytes, fresh_key()) == EVC_OK);
        some_counter(start);
        slow_ctr(&key, start, counter_bytes, want, len);
        if (counter_bytes == 4)
            must(evc_aes_ctr_start32(&state, start));
        else
            must(evc_aes_ctr_start(&state, start));
        memcpy(got, in, len);
        for (size_t at = 0, n; at < len; at += n) {
            n = some_piece(len - at, 1);
            must(evc_aes_ctr_update(&key, &state, got + at, got + at, n));
            copy = state; /* contexts may be copied */
            memset(&state, 0xee, sizeof state);
            state = copy;
        }
        EXPECT(same(got, want, len));
    }
}

/* ---- XTS ------------------------------------------------------------------------------------- */

typedef enum evc_status xts_step(const struct evc_aes_xts_key *, struct evc_aes_xts *,
                                 const uint8_t *, uint8_t *, size_t);

/* got in place: whole blocks in pieces, then the rest, at least a block if
 * there is a part of one. */
static void xts_in_pieces(const struct evc_aes_xts_key *key, const uint8_t tweak[16], size_t len,
                          xts_step *update, xts_step *finish)
{
    struct evc_aes_xts state;
    size_t at = 0, most = len % 16 ? len - len % 16 - 16 : len;

    must(evc_aes_xts_start(key, &state, tweak));
    for (int i = 0; i < 4; i++) {
        size_t n = some_piece(most - at, 16);
        EXPECT(update(key, &state, got + at, got + at, n) == EVC_OK);
        at += n;
    }
    EXPECT(finish(key, &state, got + at, got + at, len - at) == (len ? EVC_OK : EVC_ERR_LENGTH));
    EXPECT(all_are(&state, 0, sizeof state));
}

static void xts_in_pieces_equals_one_call(const struct evc_aes *kernel)
{
    static struct evc_aes_xts_key key, reference;
    uint8_t tweak[16];

    for (int round = 0; round < 2 * ROUNDS; round++) {
        size_t len = 16 + random_below(MOST - 15);
        unsigned bits = fresh_key() == 128 ? 128 : 256;
        EXPECT(evc_aes_xts_set_key(&key, kernel, kernel, key_bytes, bits) == EVC_OK);
        EXPECT(evc_aes_xts_set_key(&reference, evc_aes_named("c_ref"), kernel, key_bytes, bits) ==
               EVC_OK);
        random_fill(tweak, 16);
        EXPECT(evc_aes_xts_encrypt(&reference, tweak, in, want, len) == EVC_OK);
        EXPECT(evc_aes_xts_encrypt(&key, tweak, in, got, len) == EVC_OK);
        EXPECT(same(got, want, len));
        memcpy(got, in, len);
        xts_in_pieces(&key, tweak, len, evc_aes_xts_encrypt_update, evc_aes_xts_encrypt_finish);
        EXPECT(same(got, want, len));
        xts_in_pieces(&key, tweak, len, evc_aes_xts_decrypt_update, evc_aes_xts_decrypt_finish);
        EXPECT(same(got, in, len));
        EXPECT(evc_aes_xts_decrypt(&key, tweak, want, want, len) == EVC_OK);
        EXPECT(same(want, in, len));
    }
}

/* Other rules of XTS are in test_calls.c. */
static void xts_refuses_equal_keys(const struct evc_aes *kernel)
{
    static struct evc_aes_xts_key key;
    uint8_t tweak[16];

    fresh_key();
    memset(&key, 0xa5, sizeof key);
    EXPECT(evc_aes_xts_set_key(&key, kernel, NULL, key_bytes, 256) == EVC_ERR_KERNEL);
    EXPECT(all_are(&key, 0, sizeof key));
    memcpy(key_bytes + 32, key_bytes, 32);
    EXPECT(evc_aes_xts_set_key(&key, kernel, kernel, key_bytes, 256) == EVC_ERR_EQUAL_KEYS);
    key_bytes[63] ^= 0x80;
    EXPECT(evc_aes_xts_set_key(&key, kernel, kernel, key_bytes, 256) == EVC_OK);
    evc_aes_xts_tweak(tweak, UINT64_C(0x0102030405060708));
    EXPECT(same(tweak, (const uint8_t *)"\10\7\6\5\4\3\2\1\0\0\0\0\0\0\0", 16));
}

/* XTS of the standard's words: a block at a time, by the cipher alone. */
static void xts_by_blocks(const uint8_t *user_key, unsigned bits, const uint8_t tweak[16],
                          size_t len)
{
    static union evc_aes_key data, second;
    uint8_t t[16];

    EXPECT(evc_aes_set_key(&data, evc_aes_named("c_ref"), user_key, bits) == EVC_OK);
    EXPECT(evc_aes_set_key(&second, evc_aes_named("c_ref"), user_key + bits / 8, bits) == EVC_OK);
    must(evc_aes_encrypt(&second, tweak, t, 1));
    for (size_t at = 0; at < len; at += 16) {
        unsigned carry = 0;
        for (int i = 0; i < 16; i++)
            want[at + (size_t)i] = in[at + (size_t)i] ^ t[i];
        must(evc_aes_encrypt(&data, want + at, want + at, 1));
        for (int i = 0; i < 16; i++) {
            want[at + (size_t)i] ^= t[i];
            carry |= (unsigned)t[i] << 1;
            t[i] = (uint8_t)carry;
            carry >>= 8;
        }
        t[0] ^= carry ? 0x87 : 0;
    }
}

/* Each permission allows one thing and no other. */
static void xts_takes_what_is_allowed_alone(const struct evc_aes *kernel)
{
    static struct evc_aes_xts_key key;
    struct evc_aes_xts state;
    uint8_t tweak[16];
    const size_t len = 21 * 16;

    random_fill(tweak, 16);
    for (unsigned allowed = 0; allowed < 8; allowed++)
        for (unsigned bits = 128; bits <= 256; bits += 64)
            for (int equal = 0; equal < 2; equal++) {
                const int size_fits = bits != 192 || (allowed & EVC_AES_XTS_ALLOW_192);
                const int keys_fit = !equal || (allowed & EVC_AES_XTS_ALLOW_EQUAL_KEYS);
                fresh_key();
                if (equal)
                    memcpy(key_bytes + bits / 8, key_bytes, bits / 8);
                memset(&key, 0xa5, sizeof key);
                EXPECT(evc_aes_xts_set_key_allowing_in(&key, sizeof key, kernel, kernel, key_bytes,
                                                       bits,
                                                       allowed) == (!size_fits  ? EVC_ERR_KEY_SIZE
                                                                    : !keys_fit ? EVC_ERR_EQUAL_KEYS
                                                                                : EVC_OK));
                if (!size_fits || !keys_fit) {
                    EXPECT(all_are(&key, 0, sizeof key));
                    continue;
                }
                xts_by_blocks(key_bytes, bits, tweak, len);
                EXPECT(evc_aes_xts_encrypt(&key, tweak, in, got, len) == EVC_OK);
                EXPECT(same(got, want, len));
                must(evc_aes_xts_start(&key, &state, tweak));
                state.done_bytes = (uint32_t)EVC_AES_XTS_MAX_BYTES - 16;
                for (int i = 0; i < 3; i++)
                    EXPECT(
                        evc_aes_xts_encrypt_update(&key, &state, in + 32 * i, got + 32 * i, 32) ==
                        (allowed & EVC_AES_XTS_ALLOW_LONG ? EVC_OK : EVC_ERR_LENGTH));
                EXPECT(same(got, want, 96) && state.done_bytes <= EVC_AES_XTS_MAX_BYTES);
                EXPECT(evc_aes_xts_encrypt_finish(&key, &state, in, got, 0) == EVC_OK);
            }
}

/* ---- CMAC ------------------------------------------------------------------------------------ */

static void cmac_in_pieces_equals_one_call(const struct evc_aes *kernel)
{
    static struct evc_aes_cmac_key key;
    struct evc_aes_cmac state;
    uint8_t tag[16], again[16];

    for (int round = 0; round < 2 * ROUNDS; round++) {
        size_t len = some_length(), tag_bytes = 4 + random_below(13);
        EXPECT(evc_aes_cmac_set_key(&key, kernel, key_bytes, fresh_key()) == EVC_OK);
        if (tag_bytes < 8)
            must(evc_aes_cmac_allow_short_tags(&key));
        EXPECT(evc_aes_cmac(&key, in, len, tag, 16) == EVC_OK);
        memset(again, 0xa5, 16);
        must(evc_aes_cmac_start(&state));
        for (size_t at = 0, n; at < len; at += n) {
            n = some_piece(len - at, 1);
            must(evc_aes_cmac_update(&key, &state, in + at, n));
        }
        EXPECT(evc_aes_cmac_finish(&key, &state, again, tag_bytes) == EVC_OK);
        EXPECT(same(again, tag, tag_bytes) && all_are(again + tag_bytes, 0xa5, 16 - tag_bytes));
        memset(again, 0x5a, 16);
        EXPECT(evc_aes_cmac(&key, in, len, again, tag_bytes) == EVC_OK);
        EXPECT(same(again, tag, tag_bytes) && all_are(again + tag_bytes, 0x5a, 16 - tag_bytes));
        EXPECT(all_are(&state, 0, sizeof state));
    }
}

static void cmac_verifies_every_bit_of_the_tag(const struct evc_aes *kernel)
{
    static struct evc_aes_cmac_key key;
    struct evc_aes_cmac state;
    uint8_t tag[16];

    EXPECT(evc_aes_cmac_set_key(&key, kernel, key_bytes, fresh_key()) == EVC_OK);
    must(evc_aes_cmac_allow_short_tags(&key));
    for (size_t tag_bytes = 4; tag_bytes <= 16; tag_bytes++) {
        EXPECT(evc_aes_cmac(&key, in, 40, tag, tag_bytes) == EVC_OK);
        EXPECT(evc_aes_cmac_verify(&key, in, 40, tag, tag_bytes) == EVC_OK);
        for (size_t bit = 0; bit < 8 * tag_bytes; bit++) {
            tag[bit / 8] ^= (uint8_t)(1 << bit % 8);
            EXPECT(evc_aes_cmac_verify(&key, in, 40, tag, tag_bytes) == EVC_ERR_TAG);
            tag[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        must(evc_aes_cmac_start(&state));
        must(evc_aes_cmac_update(&key, &state, in, 40));
        EXPECT(evc_aes_cmac_finish_verify(&key, &state, tag, tag_bytes) == EVC_OK);
        must(evc_aes_cmac_start(&state));
        must(evc_aes_cmac_update(&key, &state, in, 39));
        EXPECT(evc_aes_cmac_finish_verify(&key, &state, tag, tag_bytes) == EVC_ERR_TAG);
    }
}

static void cmac_of_many_messages_equals_one_by_one(const struct evc_aes *kernel)
{
    static struct evc_aes_cmac_key key;
    static uint8_t text[70][200], tags[70][16], expected[70][16];
    struct evc_msg msgs[70];

    for (size_t n = 0; n <= 70; n = n < 5 ? n + 1 : n + 13) {
        EXPECT(evc_aes_cmac_set_key(&key, kernel, key_bytes, fresh_key()) == EVC_OK);
        for (size_t i = 0; i < n; i++) {
            size_t len = random_below(3) ? random_below(201) : 16 * random_below(13);
            random_fill(text[i], sizeof text[i]);
            EXPECT(evc_aes_cmac(&key, text[i], len, expected[i], 16) == EVC_OK);
            msgs[i] = (struct evc_msg){len ? text[i] : NULL, got, len, tags[i]};
        }
        memset(got, 0xa5, sizeof got); /* is not used */
        random_fill(tags[0], sizeof tags); /* is not read */
        must(evc_aes_cmac_many(&key, msgs, n));
        EXPECT(same(tags[0], expected[0], 16 * n) && all_are(got, 0xa5, sizeof got));
    }
}

/* ---- CCM ------------------------------------------------------------------------------------- */

static uint8_t aad[300], nonce[13];

typedef enum evc_status ccm_step(const struct evc_aes_ccm_key *, struct evc_aes_ccm *,
                                 const uint8_t *, uint8_t *, size_t);

/* got in place. */
static void ccm_in_pieces(const struct evc_aes_ccm_key *key, struct evc_aes_ccm *state,
                          size_t aad_len, size_t len, ccm_step *update)
{
    for (size_t at = 0, n; at < aad_len; at += n) {
        n = some_piece(aad_len - at, 1);
        EXPECT(evc_aes_ccm_aad(key, state, aad + at, n) == EVC_OK);
    }
    for (size_t at = 0, n; at < len; at += n) {
        n = some_piece(len - at, 1);
        EXPECT(update(key, state, got + at, got + at, n) == EVC_OK);
    }
}

static void ccm_in_pieces_equals_one_call(const struct evc_aes *kernel)
{
    static struct evc_aes_ccm_key key, mixed;
    struct evc_aes_ccm state;
    uint8_t tag[16], again[16];

    for (int round = 0; round < 2 * ROUNDS; round++) {
        size_t len = some_length(), tag_len = 4 + 2 * random_below(7),
               nonce_len = 7 + random_below(7),
               aad_len = random_below(2) ? random_below(40) : random_below(300);
        unsigned bits = fresh_key();
        random_fill(aad, sizeof aad);
        random_fill(nonce, sizeof nonce);
        EXPECT(evc_aes_ccm_set_key(&key, kernel, kernel, key_bytes, bits) == EVC_OK);
        EXPECT(evc_aes_ccm_set_key(&mixed, kernel, evc_aes_named("c_ref"), key_bytes, bits) ==
               EVC_OK);
        if (tag_len < 8) {
            must(evc_aes_ccm_allow_short_tags(&key));
            must(evc_aes_ccm_allow_short_tags(&mixed));
        }
        EXPECT(evc_aes_ccm_seal(&mixed, nonce, nonce_len, aad, aad_len, in, want, len, tag,
                                tag_len) == EVC_OK);
        EXPECT(evc_aes_ccm_seal(&key, nonce, nonce_len, aad, aad_len, in, got, len, again,
                                tag_len) == EVC_OK);
        EXPECT(same(got, want, len) && same(again, tag, tag_len));

        memcpy(got, in, len);
        memset(again, 0xa5, 16);
        EXPECT(evc_aes_ccm_start(&key, &state, nonce, nonce_len, aad_len, len, tag_len) == EVC_OK);
        ccm_in_pieces(&key, &state, aad_len, len, evc_aes_ccm_seal_update);
        EXPECT(evc_aes_ccm_seal_finish(&key, &state, again) == EVC_OK);
        EXPECT(same(got, want, len) && same(again, tag, tag_len));
        EXPECT(all_are(again + tag_len, 0xa5, 16 - tag_len) && all_are(&state, 0, sizeof state));

        EXPECT(evc_aes_ccm_start(&key, &state, nonce, nonce_len, aad_len, len, tag_len) == EVC_OK);
        ccm_in_pieces(&key, &state, aad_len, len, evc_aes_ccm_open_update);
        EXPECT(evc_aes_ccm_open_finish(&key, &state, tag) == EVC_OK);
        EXPECT(same(got, in, len) && all_are(&state, 0, sizeof state));
        memset(got, 0xa5, len);
        EXPECT(evc_aes_ccm_open(&key, nonce, nonce_len, aad, aad_len, want, got, len, tag,
                                tag_len) == EVC_OK);
        EXPECT(same(got, in, len));
        EXPECT(evc_aes_ccm_open(&key, nonce, nonce_len, aad, aad_len, want, want, len, tag,
                                tag_len) == EVC_OK);
        EXPECT(same(want, in, len));
    }
}

static void ccm_wipes_what_it_cannot_verify(const struct evc_aes *kernel)
{
    static struct evc_aes_ccm_key key;
    struct evc_aes_ccm state;
    uint8_t tag[16];
    const size_t len = 100;

    EXPECT(evc_aes_ccm_set_key(&key, kernel, kernel, key_bytes, fresh_key()) == EVC_OK);
    EXPECT(evc_aes_ccm_seal(&key, nonce, 12, aad, 20, in, want, len, tag, 16) == EVC_OK);
    for (size_t bit = 0; bit < 128; bit++) {
        tag[bit / 8] ^= (uint8_t)(1 << bit % 8);
        memset(got, 0xa5, sizeof got);
        EXPECT(evc_aes_ccm_open(&key, nonce, 12, aad, 20, want, got, len, tag, 16) == EVC_ERR_TAG);
        EXPECT(all_are(got, 0, len) && got[len] == 0xa5);
        tag[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    want[99] ^= 1;
    EXPECT(evc_aes_ccm_open(&key, nonce, 12, aad, 20, want, want, len, tag, 16) == EVC_ERR_TAG);
    EXPECT(all_are(want, 0, len));
    tag[15] ^= 1;
    EXPECT(evc_aes_ccm_start(&key, &state, nonce, 12, 0, 0, 16) == EVC_OK);
    EXPECT(evc_aes_ccm_open_finish(&key, &state, tag) == EVC_ERR_TAG);
    EXPECT(all_are(&state, 0, sizeof state));
}

static void ccm_holds_to_the_lengths_announced(const struct evc_aes *kernel)
{
    static struct evc_aes_ccm_key key;
    struct evc_aes_ccm s;
    uint8_t tag[16], want_tag[16];

    EXPECT(evc_aes_ccm_set_key(&key, kernel, kernel, key_bytes, fresh_key()) == EVC_OK);
    EXPECT(evc_aes_ccm_seal(&key, nonce, 11, aad, 20, in, want, 50, want_tag, 16) == EVC_OK);
    memset(got, 0xa5, sizeof got);
    EXPECT(evc_aes_ccm_start(&key, &s, nonce, 11, 20, 50, 16) == EVC_OK);
    EXPECT(evc_aes_ccm_aad(&key, &s, aad, 21) == EVC_ERR_LENGTH);
    EXPECT(evc_aes_ccm_aad(&key, &s, aad, 19) == EVC_OK);
    EXPECT(evc_aes_ccm_seal_update(&key, &s, in, got, 1) == EVC_ERR_STATE);
    EXPECT(evc_aes_ccm_seal_finish(&key, &s, tag) == EVC_ERR_LENGTH);
    EXPECT(evc_aes_ccm_aad(&key, &s, aad + 19, 2) == EVC_ERR_LENGTH);
    EXPECT(evc_aes_ccm_aad(&key, &s, aad + 19, 1) == EVC_OK);
    EXPECT(evc_aes_ccm_aad(&key, &s, aad, 1) == EVC_ERR_LENGTH);
    EXPECT(evc_aes_ccm_seal_update(&key, &s, in, got, 51) == EVC_ERR_LENGTH);
    EXPECT(all_are(got, 0xa5, sizeof got));
    EXPECT(evc_aes_ccm_seal_update(&key, &s, in, got, 49) == EVC_OK);
    EXPECT(evc_aes_ccm_seal_finish(&key, &s, tag) == EVC_ERR_LENGTH);
    EXPECT(evc_aes_ccm_open_finish(&key, &s, tag) == EVC_ERR_STATE);
    EXPECT(evc_aes_ccm_seal_update(&key, &s, in + 49, got + 49, 2) == EVC_ERR_LENGTH);
    EXPECT(evc_aes_ccm_seal_update(&key, &s, in + 49, got + 49, 1) == EVC_OK);
    EXPECT(evc_aes_ccm_seal_finish(&key, &s, tag) == EVC_OK);
    EXPECT(same(got, want, 50) && same(tag, want_tag, 16)); /* the refusals have changed nothing */
}

/* SP 800-38C A.2.2: 2, 6 or 10 bytes in front of the associated data. */
static void ccm_writes_the_three_forms_of_the_aad_length(const struct evc_aes *kernel)
{
    static const struct {
        uint64_t aad_bytes;
        uint32_t n;
        const char *form;
    } forms[] = {{1, 2, "\0\1"},
                 {0xfeff, 2, "\xfe\xff"},
                 {0xff00, 6, "\xff\xfe\0\0\xff\0"},
                 {UINT32_MAX, 6, "\xff\xfe\xff\xff\xff\xff"},
                 {UINT64_C(0x100000000), 10, "\xff\xff\0\0\0\1\0\0\0\0"},
                 {UINT64_MAX, 10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"}};
    static struct evc_aes_ccm_key key;
    struct evc_aes_ccm state;

    EXPECT(evc_aes_ccm_set_key(&key, kernel, kernel, key_bytes, fresh_key()) == EVC_OK);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        EXPECT(evc_aes_ccm_start(&key, &state, nonce, 13, forms[i].aad_bytes, 0, 8) == EVC_OK);
        EXPECT(state.used == forms[i].n && memcmp(state.block, forms[i].form, forms[i].n) == 0);
    }
}

/* SP 800-38C C.4: associated data of 65536 bytes. */
static void ccm_answers_example_4(const struct evc_aes *kernel)
{
    static const char cipher[] = "\x69\x91\x5d\xad\x1e\x84\xc6\x37\x6a\x68\xc2\x96\x7e\x4d\xab\x61"
                                 "\x5a\xe0\xfd\x1f\xae\xc4\x4c\xc4\x84\x82\x85\x29\x46\x3c\xcf\x72";
    static const char mac[] = "\xb4\xac\x6b\xec\x93\xe8\x59\x8e\x7f\x0d\xad\xbc\xea\x5b";
    static struct evc_aes_ccm_key key;
    static uint8_t long_aad[65536];
    uint8_t bytes[64], tag[16]; /* bytes: 0x10, 0x11, ...: nonce, plaintext and key begin in it */

    for (size_t i = 0; i < sizeof long_aad; i++)
        long_aad[i] = (uint8_t)i;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i + 0x10);
    EXPECT(evc_aes_ccm_set_key(&key, kernel, kernel, bytes + 0x30, 128) == EVC_OK);
    EXPECT(evc_aes_ccm_seal(&key, bytes, 13, long_aad, 65536, bytes + 0x10, got, 32, tag, 14) ==
           EVC_OK);
    EXPECT(memcmp(got, cipher, 32) == 0 && memcmp(tag, mac, 14) == 0);
}

/* With long messages allowed, the counter has 8 bytes. */
static void ccm_counter_carries_beyond_32_bits(const struct evc_aes *kernel)
{
    static struct evc_aes_ccm_key key;
    struct evc_aes_ccm state;

    EXPECT(evc_aes_ccm_set_key(&key, kernel, kernel, key_bytes, fresh_key()) == EVC_OK);
    EXPECT(evc_aes_ccm_start(&key, &state, nonce, 7, 0, UINT64_C(1) << 40, 8) == EVC_OK);
    memset(state.counter + 12, 0xff, 4);
    slow_ctr(evc_aes_ccm_ctr_key(&key), state.counter, 8, want, 100);
    EXPECT(evc_aes_ccm_seal_update(&key, &state, in, got, 100) == EVC_OK);
    EXPECT(same(got, want, 100));

    EXPECT(evc_aes_ccm_start(&key, &state, nonce, 7, 0, UINT64_C(1) << 40, 8) == EVC_OK);
    memset(state.counter + 12, 0xff, 4);
    EXPECT(evc_aes_ccm_open_update(&key, &state, want, got, 100) == EVC_OK);
    EXPECT(same(got, in, 100));
}

/* ---- Key wrap -------------------------------------------------------------------------------- */

/* RFC 3394 section 2.2.1 in its first form: the register is shifted, step by step. The first
 * semiblock is given, so that text can be wrapped that no call wraps. */
static void wrap_by_definition(const union evc_aes_key *key, const uint8_t first[8], uint8_t *text,
                               size_t n_semiblocks)
{
    uint8_t block[16];

    memcpy(block, first, 8);
    for (size_t step = 1; step <= 6 * n_semiblocks; step++) {
        memcpy(block + 8, text + 8, 8);
        EXPECT(evc_aes_encrypt(key, block, block, 1) == EVC_OK);
        memmove(text + 8, text + 16, 8 * (n_semiblocks - 1));
        memcpy(text + 8 * n_semiblocks, block + 8, 8);
        for (size_t i = 0; i < 8; i++)
            block[7 - i] ^= (uint8_t)((uint64_t)step >> 8 * i);
    }
    memcpy(text, block, 8);
}

static void key_wrap_is_that_of_the_standard(const struct evc_aes *kernel)
{
    static const uint8_t iv[8] = {0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6};
    union evc_aes_key key;

    for (int round = 0; round < ROUNDS; round++) {
        const size_t len = round < 2 ? 16 + 344 * (size_t)round : 16 + 8 * random_below(12);
        EXPECT(evc_aes_set_key(&key, kernel, key_bytes, fresh_key()) == EVC_OK);
        memcpy(want + 8, in, len);
        wrap_by_definition(&key, iv, want, len / 8);
        EXPECT(evc_aes_kw_wrap(&key, in, got, len) == EVC_OK);
        EXPECT(same(got, want, len + 8));
        EXPECT(evc_aes_kw_unwrap(&key, want, got, len + 8) == EVC_OK);
        EXPECT(same(got, in, len));
    }
}

static void key_wrap_refuses_and_wipes_what_is_damaged(const struct evc_aes *kernel)
{
    static const uint8_t zeros[40];
    union evc_aes_key key;

    EXPECT(evc_aes_set_key(&key, kernel, key_bytes, fresh_key()) == EVC_OK);
    EXPECT(evc_aes_kw_wrap(&key, in, want, 24) == EVC_OK);
    for (size_t bit = 0; bit < 8 * 32; bit++) {
        want[bit / 8] ^= (uint8_t)(1 << bit % 8);
        memset(got, 0x5a, 40);
        EXPECT(evc_aes_kw_unwrap(&key, want, got, 32) == EVC_ERR_TAG);
        EXPECT(same(got, zeros, 24) && got[24] == 0x5a);
        want[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

/* The check of KW one bit off, which damaged text hardly ever gives. */
static void key_wrap_looks_at_every_bit_of_its_check(const struct evc_aes *kernel)
{
    union evc_aes_key key;

    EXPECT(evc_aes_set_key(&key, kernel, key_bytes, fresh_key()) == EVC_OK);
    for (size_t bit = 0; bit < 64; bit++) {
        uint8_t iv[8];
        memset(iv, 0xa6, 8);
        iv[bit / 8] ^= (uint8_t)(1 << bit % 8);
        memcpy(want + 8, in, 16);
        wrap_by_definition(&key, iv, want, 2);
        EXPECT(evc_aes_kw_unwrap(&key, want, got, 24) == EVC_ERR_TAG);
    }
}

/* Lengths that KWP does not take, and those whose sum would wrap around. */
static void padded_key_wrap_has_no_size_for_lengths_that_it_refuses(void)
{
    const uint64_t most = EVC_AES_KWP_MAX_BYTES;

    EXPECT(evc_aes_kwp_bytes(0) == 0);
    for (size_t n = 0; n < 32; n++)
        EXPECT(evc_aes_kwp_bytes(SIZE_MAX - n) ==
               (SIZE_MAX - n > most || n < 15 ? 0 : (SIZE_MAX - n + 7) / 8 * 8 + 8));
    if (most < SIZE_MAX) {
        EXPECT(evc_aes_kwp_bytes((size_t)most) == most + 1 + 8);
        EXPECT(evc_aes_kwp_bytes((size_t)most + 1) == 0);
    }
}

static void padded_key_wrap_keeps_every_length(const struct evc_aes *kernel)
{
    union evc_aes_key key;

    EXPECT(evc_aes_set_key(&key, kernel, key_bytes, fresh_key()) == EVC_OK);
    for (size_t len = 1; len <= 70; len++) {
        const size_t wrapped = evc_aes_kwp_bytes(len);
        size_t n = 0;
        EXPECT(wrapped == (len + 7) / 8 * 8 + 8);
        memset(want, 0x5a, 100);
        EXPECT(evc_aes_kwp_wrap(&key, in, want, len) == EVC_OK && want[wrapped] == 0x5a);
        memset(got, 0x5a, 100);
        EXPECT(evc_aes_kwp_unwrap(&key, want, got, wrapped, &n) == EVC_OK && n == len);
        EXPECT(same(got, in, len) && all_are(got + len, 0, wrapped - 8 - len));
        EXPECT(got[wrapped - 8] == 0x5a);
        EXPECT(evc_aes_kwp_unwrap(&key, want, got, wrapped, NULL) == EVC_ERR_PARAMETER);
    }
}

/* Whether text of room bytes with this first semiblock is taken, with `length` bytes. */
static int takes_padded(const union evc_aes_key *key, const uint8_t first[8], const uint8_t *text,
                        size_t room, size_t length)
{
    enum evc_status status;
    size_t n = 77;

    memcpy(want, first, 8);
    memcpy(want + 8, text, room);
    if (room == 8)
        EXPECT(evc_aes_encrypt(key, want, want, 1) == EVC_OK);
    else
        wrap_by_definition(key, first, want, room / 8);
    memset(got, 0x5a, room);
    status = evc_aes_kwp_unwrap(key, want, got, room + 8, &n);
    if (status == EVC_OK)
        return n == length && same(got, text, room);
    EXPECT(status == EVC_ERR_TAG && n == 0 && all_are(got, 0, room));
    return 0;
}

/* Text that has been wrapped under the right key, but wrongly: another constant, a length that does
 * not fit the room, padding that is no zeros. One semiblock goes another way than several. */
static void padded_key_wrap_looks_at_all_of_its_check(const struct evc_aes *kernel)
{
    static const uint8_t constant[4] = {0xa6, 0x59, 0x59, 0xa6};
    union evc_aes_key key;

    EXPECT(evc_aes_set_key(&key, kernel, key_bytes, fresh_key()) == EVC_OK);
    for (size_t room = 8; room <= 24; room += 8)
        for (size_t len = 0; len <= 40; len++) {
            const int fits = len <= room && len + 8 > room;
            uint8_t first[8] = {0}, text[24];
            memcpy(first, constant, 4);
            first[7] = (uint8_t)len;
            memset(text, 0, sizeof text);
            memset(text, 0xc3, len < room ? len : room);
            EXPECT(takes_padded(&key, first, text, room, len) == fits);
            if (!fits)
                continue;
            for (size_t bit = 0; bit < 56; bit++) { /* all but the length's last byte */
                first[bit / 8] ^= (uint8_t)(1 << bit % 8);
                EXPECT(!takes_padded(&key, first, text, room, len));
                first[bit / 8] ^= (uint8_t)(1 << bit % 8);
            }
            for (size_t i = len; i < room; i++) {
                text[i] = (uint8_t)(1 << i % 8);
                EXPECT(!takes_padded(&key, first, text, room, len));
                text[i] = 0;
            }
        }
}

/* ---- GCM-SIV --------------------------------------------------------------------------------- */

static struct evc_gcm_siv_key siv_key, siv_reference;
static uint8_t siv_scratch[EVC_GCM_SIV_MOST_SCRATCH_BYTES + 16];

static void set_siv_keys(const struct evc_aes *kernel)
{
    const struct evc_ghash *ghash = evc_ghash_select(evc_cpu_features(), EVC_ALLOW_VARTIME);
    const unsigned key_bits = fresh_key() == 128 ? 128 : 256;

    EXPECT(evc_gcm_siv_set_key(&siv_key, kernel, ghash, key_bytes, key_bits) == EVC_OK);
    EXPECT(evc_gcm_siv_set_key(&siv_reference, evc_aes_named("c_ref"), evc_ghash_named("c_ref"),
                               key_bytes, key_bits) == EVC_OK);
}

/* Texts and associated data that are hashed together and apart; scratch memory anywhere. */
static void gcm_siv_equals_the_reference(const struct evc_aes *kernel)
{
    uint8_t tag[16], want_tag[16];

    for (int round = 0; round < 2 * ROUNDS; round++) {
        const size_t len = some_length(), aad_bytes = random_below(4) ? random_below(300) : 0;
        uint8_t *const scratch = siv_scratch + round % 16;
        set_siv_keys(kernel);
        random_fill(nonce, 12);
        random_fill(aad, sizeof aad);
        EXPECT(evc_gcm_siv_seal(&siv_reference, nonce, 12, aad, aad_bytes, in, want, len, want_tag,
                                16, siv_scratch, sizeof siv_scratch) == EVC_OK);
        memset(scratch, 0x5a, EVC_GCM_SIV_MOST_SCRATCH_BYTES);
        EXPECT(evc_gcm_siv_seal(&siv_key, nonce, 12, aad, aad_bytes, in, got, len, tag, 16, scratch,
                                EVC_GCM_SIV_MOST_SCRATCH_BYTES) == EVC_OK);
        EXPECT(same(got, want, len) && same(tag, want_tag, 16));
        EXPECT(evc_gcm_siv_open(&siv_key, nonce, 12, aad, aad_bytes, want, got, len, tag, 16,
                                scratch, EVC_GCM_SIV_MOST_SCRATCH_BYTES) == EVC_OK);
        EXPECT(same(got, in, len));
    }
}

/* Opening goes on by pieces of 8192 bytes. */
static void gcm_siv_opens_long_messages(const struct evc_aes *kernel)
{
    static const size_t lengths[] = {8191, 8192, 8193, 16384, 20005};
    static uint8_t text[20005], sealed[20005], opened[20005];
    uint8_t tag[16];

    set_siv_keys(kernel);
    random_fill(nonce, 12);
    random_fill(text, sizeof text);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const size_t len = lengths[i];
        EXPECT(evc_gcm_siv_seal(&siv_key, nonce, 12, aad, 20, text, sealed, len, tag, 16,
                                siv_scratch, sizeof siv_scratch) == EVC_OK);
        EXPECT(evc_gcm_siv_open(&siv_key, nonce, 12, aad, 20, sealed, opened, len, tag, 16,
                                siv_scratch, sizeof siv_scratch) == EVC_OK);
        EXPECT(memcmp(opened, text, len) == 0);
        sealed[len - 1] ^= 1;
        EXPECT(evc_gcm_siv_open(&siv_key, nonce, 12, aad, 20, sealed, opened, len, tag, 16,
                                siv_scratch, sizeof siv_scratch) == EVC_ERR_TAG);
        EXPECT(all_are(opened, 0, len));
    }
}

static void gcm_siv_wipes_what_it_cannot_verify(const struct evc_aes *kernel)
{
    uint8_t tag[16];

    set_siv_keys(kernel);
    random_fill(nonce, 12);
    memset(siv_scratch, 0, sizeof siv_scratch);
    EXPECT(evc_gcm_siv_seal(&siv_key, nonce, 12, aad, 20, in, want, 100, tag, 16, siv_scratch,
                            sizeof siv_scratch) == EVC_OK);
    EXPECT(all_are(siv_scratch, 0, sizeof siv_scratch));
    for (size_t bit = 0; bit < 8 * (16 + 12 + 20); bit++) {
        uint8_t *const byte = bit < 128   ? tag + bit / 8
                              : bit < 224 ? nonce + (bit - 128) / 8
                                          : aad + (bit - 224) / 8;
        *byte ^= (uint8_t)(1 << bit % 8);
        memset(got, 0x5a, 120);
        EXPECT(evc_gcm_siv_open(&siv_key, nonce, 12, aad, 20, want, got, 100, tag, 16, siv_scratch,
                                sizeof siv_scratch) == EVC_ERR_TAG);
        EXPECT(all_are(got, 0, 100) && all_are(siv_scratch, 0, sizeof siv_scratch));
        EXPECT(all_are(got + 100, 0x5a, 20));
        *byte ^= (uint8_t)(1 << bit % 8);
    }
}

/* ---- Composed operations: no more work than there is ----------------------------------------- */

static size_t blocks_encrypted;

static void count_and_encrypt(const void *key, const uint8_t *from, uint8_t *to, size_t n_blocks)
{
    blocks_encrypted += n_blocks;
    evc_aes_named("c_ref")->encrypt(key, from, to, n_blocks);
}

/* Messages that have ended cost nothing while others go on. */
static void composed_chains_encrypt_as_many_blocks_as_there_are(void)
{
    static union evc_aes_key key;
    static uint8_t ivs[40][16];
    struct evc_aes counting = *evc_aes_named("c_ref");
    struct evc_msg msgs[40];
    size_t n_blocks = 0;

    counting.encrypt = count_and_encrypt;
    counting.cbc_encrypt_many = NULL;
    EXPECT(evc_aes_set_key(&key, &counting, key_bytes, fresh_key()) == EVC_OK);
    for (size_t i = 0; i < 40; i++) {
        msgs[i] = (struct evc_msg){in, NULL, i == 7 ? 640 : i % 5 * 10, ivs[i]};
        n_blocks += msgs[i].len_bytes / 16;
    }
    blocks_encrypted = 0;
    evc_aes_cbc_encrypt_blocks_many(&key, msgs, 40);
    EXPECT(blocks_encrypted == n_blocks);
}

static void all_tests(const struct evc_aes *kernel)
{
    RUN_WITH(cbc_in_pieces_equals_one_call, kernel);
    RUN_WITH(cbc_of_many_messages_equals_one_by_one, kernel);
    RUN_WITH(ctr_carries_over_all_128_bits, kernel);
    RUN_WITH(ctr_in_pieces_equals_one_call, kernel);
    RUN_WITH(xts_in_pieces_equals_one_call, kernel);
    RUN_WITH(xts_refuses_equal_keys, kernel);
    RUN_WITH(xts_takes_what_is_allowed_alone, kernel);
    RUN_WITH(cmac_in_pieces_equals_one_call, kernel);
    RUN_WITH(cmac_verifies_every_bit_of_the_tag, kernel);
    RUN_WITH(cmac_of_many_messages_equals_one_by_one, kernel);
    RUN_WITH(ccm_in_pieces_equals_one_call, kernel);
    RUN_WITH(ccm_wipes_what_it_cannot_verify, kernel);
    RUN_WITH(ccm_holds_to_the_lengths_announced, kernel);
    RUN_WITH(ccm_writes_the_three_forms_of_the_aad_length, kernel);
    RUN_WITH(ccm_answers_example_4, kernel);
    RUN_WITH(ccm_counter_carries_beyond_32_bits, kernel);
    RUN_WITH(key_wrap_is_that_of_the_standard, kernel);
    RUN_WITH(key_wrap_refuses_and_wipes_what_is_damaged, kernel);
    RUN_WITH(key_wrap_looks_at_every_bit_of_its_check, kernel);
    RUN_WITH(padded_key_wrap_keeps_every_length, kernel);
    RUN_WITH(padded_key_wrap_looks_at_all_of_its_check, kernel);
    RUN_WITH(gcm_siv_equals_the_reference, kernel);
    RUN_WITH(gcm_siv_opens_long_messages, kernel);
    RUN_WITH(gcm_siv_wipes_what_it_cannot_verify, kernel);
}

int main(void)
{
    with_every_kernel(all_tests);
    RUN(padded_key_wrap_has_no_size_for_lengths_that_it_refuses);
    RUN(composed_chains_encrypt_as_many_blocks_as_there_are);
    return tap_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * Slots for GCM-SIV: each has to give what the reference kernels of AES and GHASH give for the same
 * message. All buffers end where a page without access begins, if the system has such pages.
 */
#include "check_siv.h"

#include <string.h>

#include "key_room.h"
#include "must.h"
#include "names.h"

#define MOST_BATCHES 4
#define MAX_TEXT (16 * (MOST_BATCHES * 32 + 3))
#define MAX_AAD (16 * 70)
#define KEY_MARGIN 0x5a

union hash_key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) uint8_t bytes[1024];
};

static const struct evc_ghash *ghash; /* under test */
static KEY_ROOM(union evc_aes_key) generating_place, aes_place, reference_aes_place;
static KEY_ROOM(union hash_key) hash_place, reference_hash_place;

static struct guarded fence_text, fence_out, fence_aad, fence_nonce;

/* A message, and what the reference makes of it. */
static struct {
    unsigned key_bits;
    size_t aad_bytes, text_bytes;
    uint8_t user_key[32], nonce[12], aad[MAX_AAD], text[MAX_TEXT];
} message;

/* The element of GHASH times x: a bit to the right in the order of bits of a block. */
static void times_x(uint8_t h[16], const uint8_t reversed[16])
{
    unsigned carry = 0;

    for (int i = 0; i < 16; i++) {
        const uint8_t byte = reversed[15 - i];
        h[i] = (uint8_t)(byte >> 1 | carry << 7);
        carry = byte & 1;
    }
    if (carry)
        h[0] ^= 0xe1;
}

/* The keys of the message (RFC 8452 section 4). */
static void make_reference_keys(void)
{
    union evc_aes_key *generating = &generating_place.key;
    uint8_t bytes[48], block[16], h[16];

    must(evc_aes_set_encrypt_key(generating, evc_aes_named("c_ref"), message.user_key,
                                 message.key_bits));
    for (unsigned i = 0; i < (message.key_bits == 256 ? 6u : 4u); i++) {
        memset(block, 0, 4);
        block[0] = (uint8_t)i;
        memcpy(block + 4, message.nonce, 12);
        must(evc_aes_encrypt(generating, block, block, 1));
        memcpy(bytes + 8 * i, block, 8);
    }
    times_x(h, bytes);
    must(evc_ghash_set_key_in(&reference_hash_place.key, sizeof reference_hash_place.key,
                              evc_ghash_named("c_ref"), h));
    must(evc_aes_set_encrypt_key(&reference_aes_place.key, evc_aes_named("c_ref"), bytes + 16,
                                 message.key_bits));
}

static void hash_by_reference(uint8_t y[16], const uint8_t *bytes, size_t n_bytes)
{
    uint8_t last[16] = {0};

    evc_ghash_reversed_blocks(&reference_hash_place.key, y, bytes, n_bytes / 16);
    if (n_bytes % 16 == 0)
        return;
    memcpy(last, bytes + n_bytes / 16 * 16, n_bytes % 16);
    evc_ghash_reversed_blocks(&reference_hash_place.key, y, last, 1);
}

static size_t blocks_of(size_t n_bytes)
{
    return (n_bytes + 15) / 16;
}

static const uint8_t *fenced(const struct guarded *fence, const uint8_t *bytes, size_t n_bytes)
{
    return memcpy(port_flush(fence, true, n_bytes), bytes, n_bytes);
}

/* ---- The slots ------------------------------------------------------------------------------- */

static uint8_t y[16], counter[16], lengths[16];
static size_t n_hashed;

static void make_keys(void *nothing)
{
    (void)nothing;
    ghash->siv_keys(&generating_place.key, fenced(&fence_nonce, message.nonce, 12),
                    &aes_place.key, &hash_place.key, n_hashed,
                    fenced(&fence_aad, message.aad, message.aad_bytes), message.aad_bytes, y);
}

static void open_text(void *in_place)
{
    const size_t n_bytes = message.text_bytes;
    uint8_t *const out = port_flush(&fence_out, true, n_bytes);
    const uint8_t *const in =
        in_place ? fenced(&fence_out, message.text, n_bytes)
                 : fenced(&fence_text, message.text, n_bytes);

    ghash->siv_open(&aes_place.key, &hash_place.key, counter, y, in, out, n_bytes / 16);
}

static void make_tag(void *nothing)
{
    (void)nothing;
    ghash->siv_tag(&aes_place.key, &hash_place.key, n_hashed,
                   fenced(&fence_nonce, message.nonce, 12),
                   fenced(&fence_text, message.text, message.text_bytes), message.text_bytes,
                   lengths, y, counter);
}

static enum result fails(struct check *c, const char *what)
{
    return check_fail(c, "AES-%u, %zu bytes of associated data, %zu of text: %s", message.key_bits,
                      message.aad_bytes, message.text_bytes, what);
}

/* The keys, by the hash of the associated data and by an encrypted block. */
static enum result keys_agree(struct check *c, size_t n_text_blocks)
{
    uint8_t expected[16] = {0}, block[2][16] = {{0}};

    make_reference_keys();
    memset(&hash_place, KEY_MARGIN, sizeof hash_place);
    memset(&aes_place.key, 0, 16);
    aes_place.key.head.kernel = evc_aes_named("c_ref");
    aes_place.key.head.rounds = message.key_bits == 256 ? 14 : 10;
    n_hashed = blocks_of(message.aad_bytes) + n_text_blocks + 1;
    c->cases++;
    if (!port_survives(make_keys, NULL))
        return fails(c, "siv_keys: memory fault");
    hash_by_reference(expected, message.aad, message.aad_bytes);
    if (memcmp(y, expected, 16) != 0)
        return fails(c, "siv_keys: the hash of the associated data");
    must(evc_aes_encrypt(&reference_aes_place.key, block[0], block[0], 1));
    must(evc_aes_encrypt(&aes_place.key, block[1], block[1], 1));
    return memcmp(block[0], block[1], 16) == 0 ? PASS : fails(c, "siv_keys: the key of AES");
}

/* A text of whole batches; the counter wraps in half of the turns. */
static enum result opening_agrees(struct check *c, bool in_place)
{
    static uint8_t plain[MAX_TEXT];
    const size_t n_bytes = message.text_bytes, batch_bytes = 16 * (size_t)ghash->kernel.batch;
    uint8_t expected[16], expected_counter[16];

    if (keys_agree(c, n_bytes / 16) == FAIL)
        return FAIL;
    random_bytes(&c->random, counter, 16);
    if (random_below(&c->random, 2)) {
        memset(counter, 0xff, 4);
        counter[0] = (uint8_t)(256 - random_below(&c->random, 1 + n_bytes / 16 % 256));
    }
    memcpy(expected_counter, counter, 16);
    memcpy(expected, y, 16);
    evc_aes_ctr32_le(&reference_aes_place.key, expected_counter, message.text, plain, n_bytes);
    hash_by_reference(expected, plain, n_bytes - batch_bytes);
    if (!port_survives(open_text, in_place ? &in_place : NULL))
        return fails(c, "siv_open: memory fault");
    if (memcmp(port_flush(&fence_out, true, n_bytes), plain, n_bytes) != 0)
        return fails(c, in_place ? "siv_open: the text, in place" : "siv_open: the text");
    if (memcmp(y, expected, 16) != 0)
        return fails(c, "siv_open: the hash");
    return memcmp(counter, expected_counter, 16) == 0 ? PASS : fails(c, "siv_open: the counter");
}

static enum result tags_agree(struct check *c)
{
    uint8_t expected[16];
    const uint8_t *key = hash_place.key.bytes;

    if (keys_agree(c, blocks_of(message.text_bytes)) == FAIL)
        return FAIL;
    random_bytes(&c->random, lengths, 16);
    memcpy(expected, y, 16);
    hash_by_reference(expected, message.text, message.text_bytes);
    hash_by_reference(expected, lengths, 16);
    for (size_t i = 0; i < 8; i++) { /* POLYVAL's order of bytes */
        const uint8_t byte = expected[i];
        expected[i] = expected[15 - i];
        expected[15 - i] = byte;
    }
    for (size_t i = 0; i < 12; i++)
        expected[i] ^= message.nonce[i];
    expected[15] &= 0x7f;
    must(evc_aes_encrypt(&reference_aes_place.key, expected, expected, 1));
    if (!port_survives(make_tag, NULL))
        return fails(c, "siv_tag: memory fault");
    if (memcmp(y, expected, 16) != 0)
        return fails(c, "siv_tag: the tag");
    expected[15] |= 0x80;
    if (memcmp(counter, expected, 16) != 0)
        return fails(c, "siv_tag: the counter");
    for (size_t i = sizeof(struct evc_ghash_head); i < ghash->kernel.key_bytes; i++)
        if (key[i] && key[i] != KEY_MARGIN)
            return fails(c, "siv_tag: a power is left in the key");
    return PASS;
}

static void draw(struct check *c, size_t aad_bytes, size_t text_bytes)
{
    message.key_bits = random_below(&c->random, 2) ? 256 : 128;
    message.aad_bytes = aad_bytes;
    message.text_bytes = text_bytes;
    random_bytes(&c->random, message.user_key, sizeof message.user_key);
    random_bytes(&c->random, message.nonce, 12);
    random_bytes(&c->random, message.aad, aad_bytes);
    random_bytes(&c->random, message.text, text_bytes);
}

static bool fences_stand(void)
{
    if (!fence_text.start) {
        fence_text = port_guarded(MAX_TEXT);
        fence_out = port_guarded(MAX_TEXT);
        fence_aad = port_guarded(MAX_AAD);
        fence_nonce = port_guarded(12);
    }
    return fence_text.start && fence_out.start && fence_aad.start && fence_nonce.start;
}

enum result siv_slots_equal_composed_ones(struct check *c)
{
    size_t batch;

    ghash = evc_ghash_named(c->line->name);
    batch = ghash->kernel.batch;
    if (!ghash->siv_keys && !ghash->siv_open && !ghash->siv_tag)
        return check_skip(c, "no slots for GCM-SIV");
    if (!ghash->siv_keys || !ghash->siv_open || !ghash->siv_tag)
        return check_fail(c, "some of the slots for GCM-SIV, not all");
    if (ghash->siv_needs & ~EVC_TUNE_MASK & ~features_here())
        return check_skip(c, "the slots for GCM-SIV need other features");
    if (ghash->kernel.key_bytes > sizeof(union hash_key) || batch > 32)
        return check_fail(c, "a larger key or batch than this property has room for");
    if (!fences_stand())
        return check_skip(c, "no guard pages on this system");
    for (int turn = 0; turn < (c->quick ? 1 : 8); turn++) {
        for (size_t n = 0; n < 16 * (3 * batch + 2); n += n < 80 || !c->quick ? 1 : 7) {
            draw(c, 0, n);
            if (tags_agree(c) == FAIL)
                return FAIL;
            draw(c, random_below(&c->random, 2) ? random_below(&c->random, MAX_AAD) : n % 40, n);
            if (tags_agree(c) == FAIL)
                return FAIL;
        }
        for (size_t n = 1; n <= MOST_BATCHES; n++)
            for (int again = 0; again < 8; again++) {
                draw(c, 0, 16 * n * batch);
                if (opening_agrees(c, again % 2) == FAIL)
                    return FAIL;
            }
    }
    return PASS;
}

const struct evc_ghash *ghash_for_siv(const struct evc_aes *aes, unsigned policy)
{
    const struct evc_ghash *fit = evc_ghash_select(features_here(), policy), *other;

    for (unsigned i = 0; (other = evc_ghash_at(i)) != NULL; i++)
        if (other->siv_keys && evc_kernel_runs(&other->kernel, features_here()) &&
            !((other->siv_needs ^ (aes->kernel.needs | other->kernel.needs)) & ~EVC_TUNE_MASK))
            fit = other; /* the last one: it needs the least by itself */
    return fit;
}

/* SPDX-License-Identifier: MIT */
/*
 * Long messages: 1 MiB, and 100 KiB of associated data. They find counters of batches or of bytes
 * that are too narrow, which other properties, of some hundred blocks, cannot.
 *
 * With --quick, a message is as long as 257 batches of the kernel; GCM kernels that are no pairs
 * are given 1 MiB then, too. Calls of AES, GHASH and QARMA are held against calls of few blocks,
 * which other properties hold against references; messages of GCM against its definition,
 * computed once for all kernels.
 */
#include "check_long.h"

#include <string.h>

#include "everycore/ghash.h"
#include "everycore/qarma.h"
#include "everycore/sha2.h"

#include "aes_ops.h"
#include "gcm_kernels.h"
#include "key_room.h"
#include "long_model.h"
#include "must.h"

#define LONG_BYTES (16 * LONG_BLOCKS)

static uint8_t in[LONG_BYTES], out[LONG_BYTES];

/* Blocks of a long call. */
static size_t long_blocks(const struct check *c, size_t batch)
{
    const size_t n = 257 * batch + 3;

    return c->quick && n < LONG_BLOCKS ? n : LONG_BLOCKS;
}

#define SHORT_BLOCKS 200

/* Blocks of a short call: two batches and one, so that short calls do not end where
 * batches of the long one do. */
static size_t short_blocks(size_t batch, size_t left)
{
    const size_t n = 2 * batch + 1 < SHORT_BLOCKS ? 2 * batch + 1 : SHORT_BLOCKS;

    return left < n ? left : n;
}

/* ---- AES ------------------------------------------------------------------------------------- */

static enum result aes_op_agrees(struct check *c, const struct aes_op *op,
                                 const union evc_aes_key *key, size_t batch)
{
    const size_t n_blocks = long_blocks(c, batch);
    uint8_t iv[16], piece_iv[16], piece[16 * SHORT_BLOCKS];

    random_bytes(&c->random, iv, sizeof iv);
    memcpy(piece_iv, iv, sizeof iv);
    op->run(key, iv, in, out, 16 * n_blocks);
    for (size_t at = 0, n; at < n_blocks; at += n, c->cases++) {
        n = short_blocks(batch, n_blocks - at);
        op->run(key, piece_iv, in + 16 * at, piece, 16 * n);
        if (op->writes && memcmp(piece, out + 16 * at, 16 * n) != 0)
            return check_fail(
                c, "%s of %zu blocks: those from block %zu on differ from a call of their own",
                op->name, n_blocks, at);
    }
    if (memcmp(iv, piece_iv, sizeof iv) != 0)
        return check_fail(c, "%s of %zu blocks: the IV after it differs from that of short calls",
                          op->name, n_blocks);
    return PASS;
}

enum result aes_long_calls_equal_short_ones(struct check *c)
{
    static KEY_ROOM(union evc_aes_key) room;
    const struct evc_aes *aes = evc_aes_named(c->line->name);
    uint8_t user_key[32];

    random_bytes(&c->random, user_key, sizeof user_key);
    random_bytes(&c->random, in, sizeof in);
    for (size_t i = 0; i < N_OPS; i++) {
        if (evc_aes_set_key(&room.key, aes, user_key, 128 + 64 * (unsigned)(i % 3)) != EVC_OK)
            return check_fail(c, "a key is refused");
        if (aes_op_agrees(c, &aes_ops[i], &room.key, aes->kernel.batch) == FAIL)
            return FAIL;
    }
    return PASS;
}

/* ---- GHASH ----------------------------------------------------------------------------------- */

enum result ghash_long_calls_equal_short_ones(struct check *c)
{
    static KEY_ROOM(struct { EVC_ALIGN(16) uint8_t bytes[8192]; }) room;
    const struct evc_ghash *ghash = evc_ghash_named(c->line->name);
    const size_t batch = ghash->kernel.batch, n_blocks = long_blocks(c, batch);
    uint8_t h[16], y[16] = {0}, of_pieces[16] = {0};

    random_bytes(&c->random, h, sizeof h);
    random_bytes(&c->random, in, 16 * n_blocks);
    if (evc_ghash_set_key_in(&room.key, sizeof room.key, ghash, h) != EVC_OK)
        return check_fail(c, "a key is refused");
    evc_ghash_blocks((const void *)&room.key, y, in, n_blocks);
    for (size_t at = 0, n; at < n_blocks; at += n, c->cases++) {
        n = short_blocks(batch, n_blocks - at);
        evc_ghash_blocks((const void *)&room.key, of_pieces, in + 16 * at, n);
    }
    return memcmp(y, of_pieces, 16) == 0
               ? PASS
               : check_fail(c, "%zu blocks: another hash than that of short calls", n_blocks);
}

/* ---- GCM ------------------------------------------------------------------------------------- */

static enum result agree(struct check *c, const char *what, enum evc_status status,
                         const uint8_t *expected, const uint8_t *tag, size_t len_bytes)
{
    uint8_t expected_tag[16];

    c->cases++;
    long_tag(expected_tag, len_bytes);
    if (status != EVC_OK)
        return check_fail(c, "%s, %zu bytes of text, %zu of associated data: %s", what, len_bytes,
                          (size_t)LONG_AAD_BYTES, evc_status_text(status));
    for (size_t i = 0; i < len_bytes; i++)
        if (out[i] != expected[i])
            return check_fail(c, "%s, %zu bytes of text: byte %zu is %02x, not %02x", what,
                              len_bytes, i, out[i], expected[i]);
    if (memcmp(tag, expected_tag, 16) != 0)
        return check_fail(c, "%s, %zu bytes of text, %zu of associated data: another tag", what,
                          len_bytes, (size_t)LONG_AAD_BYTES);
    return PASS;
}

/* A message through the calls for messages in pieces, in one piece. */
static enum evc_status in_pieces(const union evc_gcm_key *key, size_t len_bytes, uint8_t tag[16])
{
    struct evc_gcm_state state;
    enum evc_status status = evc_gcm_start(key, &state, long_iv, sizeof long_iv);

    if (status == EVC_OK)
        status = evc_gcm_aad(key, &state, long_aad, LONG_AAD_BYTES);
    if (status == EVC_OK)
        status = evc_gcm_seal_update(key, &state, long_plain, out, len_bytes);
    return status == EVC_OK ? evc_gcm_seal_finish(key, &state, tag, 16) : status;
}

static enum result long_message_is_right(struct check *c, const union evc_gcm_key *key,
                                         size_t len_bytes)
{
    uint8_t tag[16];
    enum evc_status status;

    memset(out, 0, len_bytes);
    status = evc_gcm_seal(key, long_iv, sizeof long_iv, long_aad, LONG_AAD_BYTES, long_plain, out,
                          len_bytes, tag, 16);
    if (agree(c, "seal", status, long_cipher, tag, len_bytes) == FAIL)
        return FAIL;
    memset(out, 0, len_bytes);
    memset(tag, 0, sizeof tag);
    status = in_pieces(key, len_bytes, tag);
    if (agree(c, "seal_update", status, long_cipher, tag, len_bytes) == FAIL)
        return FAIL;
    memcpy(out, long_cipher, len_bytes);
    long_tag(tag, len_bytes);
    status = evc_gcm_open(key, long_iv, sizeof long_iv, long_aad, LONG_AAD_BYTES, out, out,
                          len_bytes, tag, 16);
    return agree(c, "open", status, long_plain, tag, len_bytes);
}

/* Kernels do the last blocks in other ways, by how many there are: some right behind the mebibyte,
 * where counters have more than 16 bits, and just fewer than one. */
enum result gcm_messages_of_a_mebibyte_equal_reference(struct check *c)
{
    static KEY_ROOM(union evc_gcm_key) room;
    static const size_t fused_lengths[] = {16 * 65536 - 5, 16 * 65536 + 5, 16 * (65536 + 67) + 5};
    const struct gcm_kernel k = gcm_kernel_named(c->line->name);
    const size_t n_blocks = k.fused ? LONG_BLOCKS : long_blocks(c, gcm_batch(&k));

    know_long_message(n_blocks);
    if (gcm_set_key(&k, &room.key, long_user_key, 256) != EVC_OK)
        return check_fail(c, "a key is refused");
    if (!k.fused)
        return long_message_is_right(c, &room.key, 16 * n_blocks - 5);
    for (size_t i = 0; i < sizeof fused_lengths / sizeof fused_lengths[0]; i++)
        if (long_message_is_right(c, &room.key, fused_lengths[i]) == FAIL)
            return FAIL;
    return PASS;
}

/* ---- SHA-2 ----------------------------------------------------------------------------------- */

enum result sha2_long_calls_equal_short_ones(struct check *c)
{
    const struct evc_sha2 *sha2 = evc_sha2_named(c->line->name);
    const size_t len_bytes = c->quick ? 32800 : LONG_BYTES - 5;

    random_bytes(&c->random, in, len_bytes);
    for (enum evc_sha2_hash hash = EVC_SHA224; hash <= EVC_SHA512_256; hash++) {
        uint8_t digest[EVC_SHA2_MOST_DIGEST_BYTES], of_pieces[EVC_SHA2_MOST_DIGEST_BYTES];
        struct evc_sha2_state state;
        if (evc_sha2_start(&state, sha2, hash) != EVC_OK)
            continue; /* the kernel has the other hashes */
        for (size_t at = 0, n; at < len_bytes; at += n, c->cases++) {
            n = len_bytes - at < 500 ? len_bytes - at : 500;
            must(evc_sha2_update(&state, in + at, n));
        }
        must(evc_sha2_finish(&state, of_pieces));
        must(evc_sha2_digest(sha2, hash, in, len_bytes, digest));
        if (memcmp(digest, of_pieces, evc_sha2_digest_bytes(hash)) != 0)
            return check_fail(c, "hash %d, %zu bytes: another digest than that of short calls",
                              (int)hash, len_bytes);
    }
    return PASS;
}

/* ---- QARMA ----------------------------------------------------------------------------------- */

#define NUMBERS 70000 /* blocks: more than 16 bits count */

enum result qarma_long_calls_equal_short_ones(struct check *c)
{
    static uint64_t block[NUMBERS], tweak[NUMBERS], result[NUMBERS];
    static KEY_ROOM(union evc_qarma_key) room;
    const struct evc_qarma *qarma = evc_qarma_named(c->line->name);
    const size_t n = c->quick ? 257 * (size_t)qarma->kernel.batch + 3 : NUMBERS;

    random_bytes(&c->random, (uint8_t *)block, 8 * n);
    random_bytes(&c->random, (uint8_t *)tweak, 8 * n);
    if (evc_qarma_set_key(&room.key, qarma, block[0], block[1], 2, 5) != EVC_OK)
        return check_fail(c, "a key is refused");
    evc_qarma_encrypt_many(&room.key, block, tweak, result, n);
    for (size_t i = 0; i < n; i++, c->cases++)
        if (result[i] != evc_qarma_encrypt(&room.key, block[i], tweak[i]))
            return check_fail(c, "%zu blocks: block %zu differs from one alone", n, i);
    return PASS;
}

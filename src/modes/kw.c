/* SPDX-License-Identifier: MIT */
/*
 * Key wrap (RFC 3394 section 2.2, RFC 5649 section 4; SP 800-38F section 6: KW and KWP).
 *
 * A chain of 6 n blocks for n semiblocks of 8 bytes: each block waits for the one before, so one
 * block goes through the kernel at a time. Text is moved to its place in the output first, and
 * wrapped or unwrapped there.
 */
#include "everycore/modes.h"

#include "aes/ops.h"
#include "common/bytes.h"
#include "common/calls.h"
#include "common/clear.h"
#include "common/ct.h"

#define KW_IV UINT64_C(0xa6a6a6a6a6a6a6a6) /* RFC 3394 section 2.2.3.1 */
#define KWP_IV UINT32_C(0xa65959a6)              /* RFC 5649 section 3; the length follows it */

/* ---- The chain ------------------------------------------------------------------------------- */

/* block: its first half is the semiblock that goes from step to step, at the end the first one of
 * the result (RFC 3394 section 2.2.1, by indices). It stays in memory, since kernels may save
 * registers on the stack. text: n_semiblocks x 8 bytes, at least 2. */
static void wrap(const union evc_aes_key *key, uint8_t block[16], uint8_t *text,
                 uint64_t n_semiblocks)
{
    uint64_t step = 0;

    for (unsigned turn = 0; turn < 6; turn++) {
        uint8_t *at = text;
        for (uint64_t i = 0; i < n_semiblocks; i++, at += 8) {
            evc_store64_ne(block + 8, evc_load64_ne(at));
            evc_aes_op_encrypt(key, block, block, 1);
            evc_store64_be(block, evc_load64_be(block) ^ ++step);
            evc_store64_ne(at, evc_load64_ne(block + 8));
        }
    }
}

/* The reverse (section 2.2.2). */
static void unwrap(const union evc_aes_key *key, uint8_t block[16], uint8_t *text,
                   uint64_t n_semiblocks)
{
    uint64_t step = 6 * n_semiblocks;

    for (unsigned turn = 0; turn < 6; turn++) {
        uint8_t *at = text + (size_t)(8 * n_semiblocks);
        for (uint64_t i = 0; i < n_semiblocks; i++) {
            at -= 8;
            evc_store64_be(block, evc_load64_be(block) ^ step--);
            evc_store64_ne(block + 8, evc_load64_ne(at));
            key->head.kernel->decrypt(key, block, block, 1);
            evc_store64_ne(at, evc_load64_ne(block + 8));
        }
    }
}

/* The status of text whose check differs from the right one in these bits. Nothing else of it is
 * told, and forged text is wiped. */
static enum evc_status judge(uint64_t differs, uint8_t *out, size_t len_bytes)
{
    enum evc_status status = evc_tag_status(differs);

    evc_public(&status, sizeof status); /* the caller learns it */
    if (status != EVC_OK)
        evc_wipe(out, len_bytes);
    return status;
}

/* ---- KW -------------------------------------------------------------------------------------- */

enum evc_status evc_aes_kw_wrap(const union evc_aes_key *key, const uint8_t *in, uint8_t *out,
                                size_t len_bytes)
{
    uint8_t block[16];

    EVC_RETURN_IF_REFUSED(aes_kw_wrap, .key = key, EVC_TEXT(in, out, len_bytes));
    evc_move_secret(out + 8, in, len_bytes);
    evc_store64_be(block, KW_IV);
    wrap(key, block, out + 8, len_bytes / 8);
    memcpy(out, block, 8);
    evc_clear_block(block);
    evc_clear(&key->head.kernel->kernel);
    return EVC_OK;
}

enum evc_status evc_aes_kw_unwrap(const union evc_aes_key *key, const uint8_t *in, uint8_t *out,
                                  size_t in_bytes)
{
    enum evc_status status;
    uint8_t block[16];

    EVC_RETURN_IF_REFUSED(aes_kw_unwrap, .key = key, EVC_TEXT(in, out, in_bytes));
    memcpy(block, in, 8);
    evc_move_secret(out, in + 8, in_bytes - 8);
    unwrap(key, block, out, in_bytes / 8 - 1);
    status = judge(evc_load64_be(block) ^ KW_IV, out, in_bytes - 8);
    evc_clear_block(block);
    evc_clear(&key->head.kernel->kernel);
    return status;
}

/* ---- KWP ------------------------------------------------------------------------------------- */

enum evc_status evc_aes_kwp_wrap(const union evc_aes_key *key, const uint8_t *in, uint8_t *out,
                                 size_t len_bytes)
{
    const size_t n_zeros = (0 - len_bytes) & 7;
    uint8_t block[16];

    EVC_RETURN_IF_REFUSED(aes_kwp_wrap, .key = key, EVC_TEXT(in, out, len_bytes));
    evc_move_secret(out + 8, in, len_bytes);
    for (size_t i = 0; i < n_zeros; i++)
        out[8 + len_bytes + i] = 0;
    evc_store32_be(block, KWP_IV);
    evc_store32_be(block + 4, (uint32_t)len_bytes);
    if (len_bytes > 8) {
        wrap(key, block, out + 8, ((uint64_t)len_bytes + n_zeros) / 8);
        memcpy(out, block, 8);
    } else { /* one block (section 4.1) */
        memcpy(out, block, 8);
        evc_aes_op_encrypt(key, out, out, 1);
    }
    evc_clear_block(block);
    evc_clear(&key->head.kernel->kernel);
    return EVC_OK;
}

/* Bits that are wrong in the first semiblock and the padding of room_bytes bytes of text (section
 * 3). No branch and no address depends on either. */
static uint64_t kwp_differences(const uint8_t first[8], const uint8_t *out, uint64_t room_bytes)
{
    /* below 8 if the length is right; a longer text than the room wraps around */
    const uint64_t n_zeros = room_bytes - evc_load32_be(first + 4);
    uint64_t differs = (evc_load32_be(first) ^ KWP_IV) | (n_zeros & ~(uint64_t)7);

    for (uint32_t i = 0; i < 7; i++) { /* byte i from the end */
        const uint32_t is_padding = (i - ((uint32_t)n_zeros & 7)) >> 31;
        differs |= out[(size_t)room_bytes - 1 - i] & ((uint32_t)0 - evc_barrier32(is_padding));
    }
    return differs;
}

enum evc_status evc_aes_kwp_unwrap(const union evc_aes_key *key, const uint8_t *in, uint8_t *out,
                                   size_t in_bytes, size_t *len_bytes)
{
    const size_t room_bytes = in_bytes - 8;
    enum evc_status status;
    uint8_t block[16];

    EVC_RETURN_IF_REFUSED(aes_kwp_unwrap, .key = key, EVC_TEXT(in, out, in_bytes));
    if (!len_bytes)
        return EVC_ERR_PARAMETER;
    if (in_bytes > 16) {
        memcpy(block, in, 8);
        evc_move_secret(out, in + 8, room_bytes);
        unwrap(key, block, out, room_bytes / 8);
    } else {
        key->head.kernel->decrypt(key, in, block, 1);
        memcpy(out, block + 8, 8);
    }
    status = judge(kwp_differences(block, out, room_bytes), out, room_bytes);
    *len_bytes = status == EVC_OK ? (size_t)evc_load32_be(block + 4) : 0;
    evc_public(len_bytes, sizeof *len_bytes); /* the caller learns it */
    evc_clear_block(block);
    evc_clear(&key->head.kernel->kernel);
    return status;
}

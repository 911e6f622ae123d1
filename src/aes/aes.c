/* SPDX-License-Identifier: MIT */
/*
 * AES keys, and the operations of a key's kernel: its own slot where it has one, else composed here
 * from encrypt and decrypt, fed with as many blocks at once as the kernel works on.
 */
#include "everycore/aes.h"

#include "aes/ops.h"
#include "aes/tweak.h"
#include "common/bytes.h"
#include "common/calls.h"
#include "common/clear.h"
#include "common/ct.h"

/* Composed operations work through a buffer of this many blocks on the stack. */
#define CHUNK_BLOCKS 32
#define CHUNK_BYTES (16 * CHUNK_BLOCKS)

/* ---- Keys ------------------------------------------------------------------------------------ */

static enum evc_status check_key(const void *key, size_t memory_bytes, const struct evc_aes *kernel,
                                 const uint8_t *user_key, unsigned key_bits, uint32_t can_decrypt)
{
    if (!evc_fits(EVC_LIMIT_AES_BITS, key_bits))
        return EVC_ERR_KEY_SIZE;
    if (!kernel || kernel->kernel.key_align > 16 || (can_decrypt && !kernel->decrypt))
        return EVC_ERR_KERNEL;
    return evc_check_key_memory(key, memory_bytes, kernel->kernel.key_bytes, user_key,
                                key_bits / 8);
}

/* All of the memory is wiped first: nothing of a key that stood there before is left, nor a
 * kernel if this fails. */
static enum evc_status set_key(void *key, size_t memory_bytes, const struct evc_aes *kernel,
                               const uint8_t *user_key, unsigned key_bits, uint32_t can_decrypt)
{
    struct evc_aes_head *head = key;
    const enum evc_status status =
        check_key(key, memory_bytes, kernel, user_key, key_bits, can_decrypt);

    evc_wipe(key, memory_bytes);
    if (status != EVC_OK)
        return status;
    head->kernel = kernel;
    head->rounds = key_bits / 32 + 6;
    head->can_decrypt = can_decrypt;
    kernel->set_key(key, user_key);
    evc_clear(&kernel->kernel);
    return EVC_OK;
}

enum evc_status evc_aes_set_key(union evc_aes_key *key, const struct evc_aes *kernel,
                                const uint8_t *user_key, unsigned key_bits)
{
    return set_key(key, sizeof *key, kernel, user_key, key_bits, 1);
}

enum evc_status evc_aes_set_encrypt_key(union evc_aes_key *key, const struct evc_aes *kernel,
                                        const uint8_t *user_key, unsigned key_bits)
{
    return set_key(key, sizeof *key, kernel, user_key, key_bits, 0);
}

enum evc_status evc_aes_set_key_in(void *memory, size_t memory_bytes, const struct evc_aes *kernel,
                                   const uint8_t *user_key, unsigned key_bits)
{
    return set_key(memory, memory_bytes, kernel, user_key, key_bits, 1);
}

enum evc_status evc_aes_set_encrypt_key_in(void *memory, size_t memory_bytes,
                                           const struct evc_aes *kernel, const uint8_t *user_key,
                                           unsigned key_bits)
{
    return set_key(memory, memory_bytes, kernel, user_key, key_bits, 0);
}

enum evc_status evc_aes_rebind(union evc_aes_key *key, const struct evc_aes *kernel)
{
    EVC_RETURN_IF_REFUSED(aes_rebind, .key = key);
    if (!kernel ||
        !(kernel->kernel.traits & key->head.kernel->kernel.traits & EVC_KEY_FIPS197) ||
        (key->head.can_decrypt && !kernel->decrypt))
        return EVC_ERR_KERNEL;
    key->head.kernel = kernel;
    return EVC_OK;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

EVC_OUT_OF_LINE enum evc_status move_and_encrypt(const union evc_aes_key *key, const uint8_t *in,
                                                 uint8_t *out, size_t n_blocks)
{
    evc_move_secret(out, in, 16 * n_blocks);
    return evc_aes_encrypt(key, out, out, n_blocks);
}

enum evc_status evc_aes_encrypt(const union evc_aes_key *key, const uint8_t *in, uint8_t *out,
                                size_t n_blocks)
{
    EVC_RETURN_IF_REFUSED(aes_encrypt, .key = key, EVC_TEXT(in, out, n_blocks));
    if (evc_blocks_overlap_in_part(in, out, 16 * n_blocks))
        return move_and_encrypt(key, in, out, n_blocks);
    evc_aes_op_encrypt(key, in, out, n_blocks);
    evc_clear(&key->head.kernel->kernel);
    return EVC_OK;
}

EVC_OUT_OF_LINE enum evc_status move_and_decrypt(const union evc_aes_key *key, const uint8_t *in,
                                                 uint8_t *out, size_t n_blocks)
{
    evc_move_secret(out, in, 16 * n_blocks);
    return evc_aes_decrypt(key, out, out, n_blocks);
}

enum evc_status evc_aes_decrypt(const union evc_aes_key *key, const uint8_t *in, uint8_t *out,
                                size_t n_blocks)
{
    EVC_RETURN_IF_REFUSED(aes_decrypt, .key = key, EVC_TEXT(in, out, n_blocks));
    if (evc_blocks_overlap_in_part(in, out, 16 * n_blocks))
        return move_and_decrypt(key, in, out, n_blocks);
    key->head.kernel->decrypt(key, in, out, n_blocks);
    evc_clear(&key->head.kernel->kernel);
    return EVC_OK;
}

/* Functions without a status write zeros where their row refuses the key. */
static int refused(int allowed, uint8_t *out, size_t len_bytes)
{
    if (allowed)
        return 0;
    if (len_bytes)
        memset(out, 0, len_bytes);
    return 1;
}

/* ---- CTR ------------------------------------------------------------------------------------- */

void evc_aes_compose_ctr32(const union evc_aes_key *key, uint8_t counter[16], const uint8_t *in,
                           uint8_t *out, size_t len_bytes)
{
    uint8_t stream[CHUNK_BYTES];
    uint32_t count = evc_load32_be(counter + 12);

    while (len_bytes) {
        size_t n = len_bytes < CHUNK_BYTES ? len_bytes : CHUNK_BYTES;
        size_t n_blocks = (n + 15) / 16;
        for (size_t i = 0; i < n_blocks; i++) {
            memcpy(stream + 16 * i, counter, 12);
            evc_store32_be(stream + 16 * i + 12, count);
            /* Opaque, so that i counts the loop: GCM's counter may depend on the key. */
            count = evc_barrier32(count + 1);
        }
        key->head.kernel->encrypt(key, stream, stream, n_blocks);
        evc_xor(out, in, stream, n);
        in += n, out += n, len_bytes -= n;
    }
    evc_store32_be(counter + 12, count);
    evc_wipe(stream, sizeof stream);
    evc_clear(&key->head.kernel->kernel);
}

void evc_aes_compose_ctr32_le(const union evc_aes_key *key, uint8_t counter[16], const uint8_t *in,
                              uint8_t *out, size_t len_bytes)
{
    uint8_t stream[CHUNK_BYTES];
    uint32_t count = evc_load32_le(counter);

    while (len_bytes) {
        size_t n = len_bytes < CHUNK_BYTES ? len_bytes : CHUNK_BYTES;
        size_t n_blocks = (n + 15) / 16;
        for (size_t i = 0; i < n_blocks; i++) {
            evc_store32_le(stream + 16 * i, count);
            memcpy(stream + 16 * i + 4, counter + 4, 12);
            count = evc_barrier32(count + 1u); /* as above: the tag, which depends on the key */
        }
        key->head.kernel->encrypt(key, stream, stream, n_blocks);
        evc_xor(out, in, stream, n);
        in += n, out += n, len_bytes -= n;
    }
    evc_store32_le(counter, count);
    evc_wipe(stream, sizeof stream);
    evc_clear(&key->head.kernel->kernel);
}

void evc_aes_ctr32(const union evc_aes_key *key, uint8_t counter[16], const uint8_t *in,
                   uint8_t *out, size_t len_bytes)
{
    if (refused(EVC_TAKES_KEY(aes_ctr32, key), out, len_bytes))
        return;
    evc_aes_op_ctr32(key, counter, evc_input(in, out, len_bytes), out, len_bytes);
    evc_clear(&key->head.kernel->kernel);
}

void evc_aes_ctr32_le(const union evc_aes_key *key, uint8_t counter[16], const uint8_t *in,
                      uint8_t *out, size_t len_bytes)
{
    if (refused(EVC_TAKES_KEY(aes_ctr32_le, key), out, len_bytes))
        return;
    evc_aes_op_ctr32_le(key, counter, evc_input(in, out, len_bytes), out, len_bytes);
    evc_clear(&key->head.kernel->kernel);
}

/* ---- CBC ------------------------------------------------------------------------------------- */

void evc_aes_compose_cbc_encrypt(const union evc_aes_key *key, uint8_t iv[16], const uint8_t *in,
                                 uint8_t *out, size_t n_blocks)
{
    uint8_t chain[16];

    memcpy(chain, iv, 16);
    for (; n_blocks; n_blocks--, in += 16, out += 16) {
        evc_xor16(chain, chain, in);
        key->head.kernel->encrypt(key, chain, chain, 1);
        memcpy(out, chain, 16);
    }
    memcpy(iv, chain, 16);
}

void evc_aes_cbc_encrypt_blocks(const union evc_aes_key *key, uint8_t iv[16], const uint8_t *in,
                                uint8_t *out, size_t n_blocks)
{
    if (refused(EVC_TAKES_KEY(aes_cbc_encrypt_blocks, key), out, 16 * n_blocks))
        return;
    evc_aes_op_cbc_encrypt(key, iv, evc_input(in, out, 16 * n_blocks), out, n_blocks);
    evc_clear(&key->head.kernel->kernel);
}

void evc_aes_compose_cbc_decrypt(const union evc_aes_key *key, uint8_t iv[16], const uint8_t *in,
                                 uint8_t *out, size_t n_blocks)
{
    uint8_t plain[CHUNK_BYTES], next_iv[16];

    while (n_blocks) {
        size_t n = n_blocks < CHUNK_BLOCKS ? n_blocks : CHUNK_BLOCKS;
        key->head.kernel->decrypt(key, in, plain, n);
        /* The ciphertext before each block is its mask; in may be out, so all
         * are read before a write. */
        evc_xor16(plain, plain, iv);
        evc_xor(plain + 16, plain + 16, in, 16 * (n - 1));
        memcpy(next_iv, in + 16 * (n - 1), 16);
        evc_copy_secret(out, plain, 16 * n);
        memcpy(iv, next_iv, 16);
        in += 16 * n, out += 16 * n, n_blocks -= n;
    }
    evc_wipe(plain, sizeof plain);
    evc_clear(&key->head.kernel->kernel);
}

void evc_aes_cbc_decrypt_blocks(const union evc_aes_key *key, uint8_t iv[16], const uint8_t *in,
                                uint8_t *out, size_t n_blocks)
{
    if (refused(EVC_TAKES_KEY(aes_cbc_decrypt_blocks, key), out, 16 * n_blocks))
        return;
    evc_aes_op_cbc_decrypt(key, iv, evc_input(in, out, 16 * n_blocks), out, n_blocks);
    evc_clear(&key->head.kernel->kernel);
}

void evc_aes_compose_cbcmac(const union evc_aes_key *key, uint8_t chain[16], const uint8_t *in,
                            size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 16) {
        evc_xor16(chain, chain, in);
        key->head.kernel->encrypt(key, chain, chain, 1);
    }
}

void evc_aes_cbcmac_blocks(const union evc_aes_key *key, uint8_t chain[16], const uint8_t *in,
                           size_t n_blocks)
{
    if (refused(EVC_TAKES_KEY(aes_cbcmac_blocks, key), chain, 16))
        return;
    evc_aes_op_cbcmac(key, chain, in, n_blocks);
    evc_clear(&key->head.kernel->kernel);
}

/* ---- XTS ------------------------------------------------------------------------------------- */

void evc_aes_compose_xts(const union evc_aes_key *key, uint8_t tweak[16], const uint8_t *in,
                         uint8_t *out, size_t n_blocks,
                         void (*crypt)(const void *, const uint8_t *, uint8_t *, size_t))
{
    uint8_t tweaks[CHUNK_BYTES / 2], block[CHUNK_BYTES / 2];

    while (n_blocks) {
        size_t n = n_blocks < CHUNK_BLOCKS / 2 ? n_blocks : CHUNK_BLOCKS / 2;
        for (size_t i = 0; i < n; i++, evc_aes_next_tweak(tweak))
            memcpy(tweaks + 16 * i, tweak, 16);
        evc_xor(block, in, tweaks, 16 * n);
        crypt(key, block, block, n);
        evc_xor(out, block, tweaks, 16 * n);
        in += 16 * n, out += 16 * n, n_blocks -= n;
    }
    evc_wipe(block, sizeof block);
    evc_wipe(tweaks, sizeof tweaks);
    evc_clear(&key->head.kernel->kernel);
}

void evc_aes_xts_encrypt_blocks(const union evc_aes_key *key, uint8_t tweak[16], const uint8_t *in,
                                uint8_t *out, size_t n_blocks)
{
    if (refused(EVC_TAKES_KEY(aes_xts_encrypt_blocks, key), out, 16 * n_blocks))
        return;
    evc_aes_op_xts_encrypt(key, tweak, evc_input(in, out, 16 * n_blocks), out, n_blocks);
    evc_clear(&key->head.kernel->kernel);
}

void evc_aes_xts_decrypt_blocks(const union evc_aes_key *key, uint8_t tweak[16], const uint8_t *in,
                                uint8_t *out, size_t n_blocks)
{
    if (refused(EVC_TAKES_KEY(aes_xts_decrypt_blocks, key), out, 16 * n_blocks))
        return;
    evc_aes_op_xts_decrypt(key, tweak, evc_input(in, out, 16 * n_blocks), out, n_blocks);
    evc_clear(&key->head.kernel->kernel);
}

/* ---- Many messages --------------------------------------------------------------------------- */

/* Chains side by side: a block of every message of a group in one call of
 * encrypt, until it ends. */
static void compose_group(const union evc_aes_key *key, const struct evc_msg *msgs, size_t n)
{
    uint8_t chain[CHUNK_BYTES], whose[CHUNK_BLOCKS]; /* chain i is that of message whose[i] */
    size_t active = 0;

    for (size_t m = 0; m < n; m++)
        if (msgs[m].len_bytes >= 16) {
            memcpy(chain + 16 * active, msgs[m].iv, 16);
            whose[active++] = (uint8_t)m;
        }
    for (size_t at = 0; active; at += 16) {
        for (size_t i = 0; i < active; i++)
            evc_xor16(chain + 16 * i, chain + 16 * i, msgs[whose[i]].in + at);
        key->head.kernel->encrypt(key, chain, chain, active);
        for (size_t i = active; i-- > 0;) {
            const struct evc_msg *msg = msgs + whose[i];
            if (msg->out)
                memcpy(msg->out + at, chain + 16 * i, 16);
            if (msg->len_bytes - at >= 32)
                continue;
            memcpy(msg->iv, chain + 16 * i, 16);
            active--; /* the last chain, done with this block, takes the place */
            memmove(chain + 16 * i, chain + 16 * active, 16);
            whose[i] = whose[active];
        }
    }
    evc_wipe(chain, sizeof chain);
    evc_clear(&key->head.kernel->kernel);
}

void evc_aes_compose_cbc_encrypt_many(const union evc_aes_key *key, const struct evc_msg *msgs,
                                      size_t n)
{
    for (size_t group; n; n -= group, msgs += group) {
        group = n < CHUNK_BLOCKS ? n : CHUNK_BLOCKS;
        compose_group(key, msgs, group);
    }
}

/* Messages one by one; one whose input and output overlap in part is moved first. */
void evc_aes_compose_cbc_encrypt_moved(const union evc_aes_key *key, const struct evc_msg *msgs,
                                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct evc_msg msg = msgs[i];
        if (msg.out)
            msg.in = evc_input(msg.in, msg.out, msg.len_bytes & ~(size_t)15);
        evc_aes_op_cbc_encrypt_many(key, &msg, 1);
    }
    evc_clear(&key->head.kernel->kernel);
}

void evc_aes_cbc_encrypt_blocks_many(const union evc_aes_key *key, const struct evc_msg *msgs,
                                     size_t n)
{
    if (!EVC_TAKES_KEY(aes_cbc_encrypt_blocks_many, key)) {
        for (size_t i = 0; i < n; i++)
            if (msgs[i].out)
                memset(msgs[i].out, 0, msgs[i].len_bytes & ~(size_t)15);
        return;
    }
    if (evc_msgs_overlap_in_part(msgs, n))
        evc_aes_compose_cbc_encrypt_moved(key, msgs, n);
    else
        evc_aes_op_cbc_encrypt_many(key, msgs, n);
    evc_clear(&key->head.kernel->kernel);
}

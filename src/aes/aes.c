/* SPDX-License-Identifier: MIT */
/*
 * AES keys, and the operations of a key's kernel: its own slot where it has one, else composed here
 * from encrypt and decrypt, fed with as many blocks at once as the kernel works on.
 */
#include "everycore/aes.h"

#include "aes/tweak.h"
#include "common/bytes.h"
#include "common/ct.h"

/* Composed operations work through a buffer of this many blocks on the stack. */
#define CHUNK_BLOCKS 32
#define CHUNK_BYTES (16 * CHUNK_BLOCKS)

/* ---- Keys -------------------------------------------------------------------------------------- */

static enum evc_status set_key(union evc_aes_key *key, const struct evc_aes *kernel,
                               const uint8_t *user_key, unsigned key_bits, uint32_t can_decrypt)
{
    if (key_bits != 128 && key_bits != 192 && key_bits != 256)
        return EVC_ERR_KEY_SIZE;
    if (!kernel || kernel->kernel.key_bytes > sizeof *key || kernel->kernel.key_align > 16)
        return EVC_ERR_KERNEL;
    key->head.kernel = kernel;
    key->head.rounds = key_bits / 32 + 6;
    key->head.can_decrypt = can_decrypt;
    kernel->set_key(key, user_key);
    return EVC_OK;
}

enum evc_status evc_aes_set_key(union evc_aes_key *key, const struct evc_aes *kernel,
                                const uint8_t *user_key, unsigned key_bits)
{
    return set_key(key, kernel, user_key, key_bits, 1);
}

enum evc_status evc_aes_set_encrypt_key(union evc_aes_key *key, const struct evc_aes *kernel,
                                        const uint8_t *user_key, unsigned key_bits)
{
    return set_key(key, kernel, user_key, key_bits, 0);
}

enum evc_status evc_aes_rebind(union evc_aes_key *key, const struct evc_aes *kernel)
{
    if (!kernel || !(kernel->kernel.traits & key->head.kernel->kernel.traits & EVC_KEY_FIPS197))
        return EVC_ERR_KERNEL;
    key->head.kernel = kernel;
    return EVC_OK;
}

/* ---- Blocks ------------------------------------------------------------------------------------ */

void evc_aes_encrypt(const union evc_aes_key *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    key->head.kernel->encrypt(key, in, out, n_blocks);
}

enum evc_status evc_aes_decrypt(const union evc_aes_key *key, const uint8_t *in, uint8_t *out,
                                size_t n_blocks)
{
    if (!key->head.can_decrypt)
        return EVC_ERR_DIRECTION;
    key->head.kernel->decrypt(key, in, out, n_blocks);
    return EVC_OK;
}

/* ---- CTR ----------------------------------------------------------------------------------------- */

EVC_OUT_OF_LINE void compose_ctr32(const union evc_aes_key *key, uint8_t counter[16],
                                   const uint8_t *in, uint8_t *out, size_t len_bytes)
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
}

void evc_aes_ctr32(const union evc_aes_key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                   size_t len_bytes)
{
    if (key->head.kernel->ctr32)
        key->head.kernel->ctr32(key, counter, in, out, len_bytes);
    else
        compose_ctr32(key, counter, in, out, len_bytes);
}

/* ---- CBC ------------------------------------------------------------------------------------------- */

EVC_OUT_OF_LINE void compose_cbc_encrypt(const union evc_aes_key *key, uint8_t iv[16],
                                         const uint8_t *in, uint8_t *out, size_t n_blocks)
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
    if (key->head.kernel->cbc_encrypt)
        key->head.kernel->cbc_encrypt(key, iv, in, out, n_blocks);
    else
        compose_cbc_encrypt(key, iv, in, out, n_blocks);
}

EVC_OUT_OF_LINE void compose_cbc_decrypt(const union evc_aes_key *key, uint8_t iv[16],
                                         const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    uint8_t plain[CHUNK_BYTES], next_iv[16];

    while (n_blocks) {
        size_t n = n_blocks < CHUNK_BLOCKS ? n_blocks : CHUNK_BLOCKS;
        key->head.kernel->decrypt(key, in, plain, n);
        /* The ciphertext before each block is its mask; in may be out, so all are read before a write. */
        evc_xor16(plain, plain, iv);
        evc_xor(plain + 16, plain + 16, in, 16 * (n - 1));
        memcpy(next_iv, in + 16 * (n - 1), 16);
        memcpy(out, plain, 16 * n);
        memcpy(iv, next_iv, 16);
        in += 16 * n, out += 16 * n, n_blocks -= n;
    }
    evc_wipe(plain, sizeof plain);
}

void evc_aes_cbc_decrypt_blocks(const union evc_aes_key *key, uint8_t iv[16], const uint8_t *in,
                                uint8_t *out, size_t n_blocks)
{
    if (key->head.kernel->cbc_decrypt)
        key->head.kernel->cbc_decrypt(key, iv, in, out, n_blocks);
    else
        compose_cbc_decrypt(key, iv, in, out, n_blocks);
}

EVC_OUT_OF_LINE void compose_cbcmac(const union evc_aes_key *key, uint8_t chain[16],
                                    const uint8_t *in, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 16) {
        evc_xor16(chain, chain, in);
        key->head.kernel->encrypt(key, chain, chain, 1);
    }
}

void evc_aes_cbcmac_blocks(const union evc_aes_key *key, uint8_t chain[16], const uint8_t *in,
                           size_t n_blocks)
{
    if (key->head.kernel->cbcmac)
        key->head.kernel->cbcmac(key, chain, in, n_blocks);
    else
        compose_cbcmac(key, chain, in, n_blocks);
}

/* ---- XTS -------------------------------------------------------------------------------------------- */

EVC_OUT_OF_LINE void compose_xts(const union evc_aes_key *key, uint8_t tweak[16], const uint8_t *in,
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
}

void evc_aes_xts_encrypt_blocks(const union evc_aes_key *key, uint8_t tweak[16], const uint8_t *in,
                                uint8_t *out, size_t n_blocks)
{
    if (key->head.kernel->xts_encrypt)
        key->head.kernel->xts_encrypt(key, tweak, in, out, n_blocks);
    else
        compose_xts(key, tweak, in, out, n_blocks, key->head.kernel->encrypt);
}

void evc_aes_xts_decrypt_blocks(const union evc_aes_key *key, uint8_t tweak[16], const uint8_t *in,
                                uint8_t *out, size_t n_blocks)
{
    if (key->head.kernel->xts_decrypt)
        key->head.kernel->xts_decrypt(key, tweak, in, out, n_blocks);
    else
        compose_xts(key, tweak, in, out, n_blocks, key->head.kernel->decrypt);
}

/* ---- Many messages -------------------------------------------------------------------------------- */

/* Chains side by side: a block of every message of a group in one call of encrypt, until it ends. */
static void compose_many(const union evc_aes_key *key, const struct evc_msg *msgs, size_t n)
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
}

void evc_aes_cbc_encrypt_blocks_many(const union evc_aes_key *key, const struct evc_msg *msgs,
                                     size_t n)
{
    if (key->head.kernel->cbc_encrypt_many) {
        key->head.kernel->cbc_encrypt_many(key, msgs, n);
        return;
    }
    for (size_t group; n; n -= group, msgs += group) {
        group = n < CHUNK_BLOCKS ? n : CHUNK_BLOCKS;
        compose_many(key, msgs, group);
    }
}

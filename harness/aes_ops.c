/* SPDX-License-Identifier: MIT */
/* The operations of an AES key, and their definitions on single blocks. */
#include "aes_ops.h"
#include "everycore/modes.h"
#include "must.h"

#include <string.h>

/* ---- Through the library -------------------------------------------------------------------- */

/* A kernel with a slot for whole messages of CBC encryption takes about every second one by that: a
 * bit of the IV decides. */
static void run_cbc_enc(const union evc_aes_key *key, uint8_t iv[16], const uint8_t *in,
                        uint8_t *out, size_t len_bytes)
{
    if (key->head.kernel->cbc_encrypt_message && iv[15] & 1)
        must(evc_aes_cbc_encrypt(key, iv, in, out, len_bytes / 16 * 16));
    else
        evc_aes_cbc_encrypt_blocks(key, iv, in, out, len_bytes / 16);
}

#define RUN(name, call)                                                               \
    static void name(const union evc_aes_key *key, uint8_t iv[16], const uint8_t *in, \
                     uint8_t *out, size_t len_bytes)                                  \
    {                                                                                 \
        (void)iv, (void)out;                                                          \
        call;                                                                         \
    }

RUN(run_ecb_enc, must(evc_aes_encrypt(key, in, out, len_bytes / 16)))
RUN(run_ecb_dec, must(evc_aes_decrypt(key, in, out, len_bytes / 16)))
RUN(run_ctr32, evc_aes_ctr32(key, iv, in, out, len_bytes))
RUN(run_ctr32_le, evc_aes_ctr32_le(key, iv, in, out, len_bytes))
RUN(run_cbc_dec, evc_aes_cbc_decrypt_blocks(key, iv, in, out, len_bytes / 16))
RUN(run_cbcmac, evc_aes_cbcmac_blocks(key, iv, in, len_bytes / 16))
RUN(run_xts_enc, evc_aes_xts_encrypt_blocks(key, iv, in, out, len_bytes / 16))
RUN(run_xts_dec, evc_aes_xts_decrypt_blocks(key, iv, in, out, len_bytes / 16))

/* ---- By definition, one block --------------------------------------------------------------- */

static void encrypt1(const union evc_aes_key *ref, const uint8_t in[16], uint8_t out[16])
{
    ref->head.kernel->encrypt(ref, in, out, 1);
}

static void decrypt1(const union evc_aes_key *ref, const uint8_t in[16], uint8_t out[16])
{
    ref->head.kernel->decrypt(ref, in, out, 1);
}

static void xor_block(uint8_t out[16], const uint8_t a[16], const uint8_t b[16])
{
    for (int i = 0; i < 16; i++)
        out[i] = a[i] ^ b[i];
}

static void ecb_enc1(const union evc_aes_key *ref, uint8_t iv[16], const uint8_t in[16],
                     uint8_t out[16])
{
    (void)iv;
    encrypt1(ref, in, out);
}

static void ecb_dec1(const union evc_aes_key *ref, uint8_t iv[16], const uint8_t in[16],
                     uint8_t out[16])
{
    (void)iv;
    decrypt1(ref, in, out);
}

/* SP 800-38A (2001) section 6.5, with an increment of 32 bits (appendix B.1, m = 32). */
static void ctr32_1(const union evc_aes_key *ref, uint8_t iv[16], const uint8_t in[16],
                    uint8_t out[16])
{
    uint8_t stream[16];

    encrypt1(ref, iv, stream);
    xor_block(out, in, stream);
    for (int i = 15; i >= 12 && ++iv[i] == 0; i--)
        ;
}

/* RFC 8452 section 4: the first 4 bytes, little-endian. */
static void ctr32_le_1(const union evc_aes_key *ref, uint8_t iv[16], const uint8_t in[16],
                       uint8_t out[16])
{
    uint8_t stream[16];

    encrypt1(ref, iv, stream);
    xor_block(out, in, stream);
    for (int i = 0; i < 4 && ++iv[i] == 0; i++)
        ;
}

/* SP 800-38A section 6.2. */
static void cbc_enc1(const union evc_aes_key *ref, uint8_t iv[16], const uint8_t in[16],
                     uint8_t out[16])
{
    uint8_t mixed[16];

    xor_block(mixed, in, iv);
    encrypt1(ref, mixed, out);
    memcpy(iv, out, 16);
}

static void cbc_dec1(const union evc_aes_key *ref, uint8_t iv[16], const uint8_t in[16],
                     uint8_t out[16])
{
    uint8_t plain[16];

    decrypt1(ref, in, plain);
    xor_block(out, plain, iv);
    memcpy(iv, in, 16);
}

/* IEEE 1619-2018 section 5.2: byte 0 is the least significant, bit 128 comes back as 0x87. */
static void double_tweak(uint8_t tweak[16])
{
    unsigned carry = 0;

    for (int i = 0; i < 16; i++) {
        unsigned twice = 2u * tweak[i] + carry;
        tweak[i] = (uint8_t)twice;
        carry = twice >> 8;
    }
    if (carry)
        tweak[0] ^= 0x87;
}

static void xts_enc1(const union evc_aes_key *ref, uint8_t iv[16], const uint8_t in[16],
                     uint8_t out[16])
{
    uint8_t block[16];

    xor_block(block, in, iv);
    encrypt1(ref, block, block);
    xor_block(out, block, iv);
    double_tweak(iv);
}

static void xts_dec1(const union evc_aes_key *ref, uint8_t iv[16], const uint8_t in[16],
                     uint8_t out[16])
{
    uint8_t block[16];

    xor_block(block, in, iv);
    decrypt1(ref, block, block);
    xor_block(out, block, iv);
    double_tweak(iv);
}

const struct aes_op aes_ops[N_OPS] = {
    [ECB_ENC] = {"ecb-enc", false, false, true, run_ecb_enc, ecb_enc1},
    [ECB_DEC] = {"ecb-dec", true, false, true, run_ecb_dec, ecb_dec1},
    [CTR32] = {"ctr32", false, true, true, run_ctr32, ctr32_1},
    [CTR32_LE] = {"ctr32-le", false, true, true, run_ctr32_le, ctr32_le_1},
    [CBC_ENC] = {"cbc-enc", false, false, true, run_cbc_enc, cbc_enc1},
    [CBC_DEC] = {"cbc-dec", true, false, true, run_cbc_dec, cbc_dec1},
    [CBCMAC] = {"cbcmac", false, false, false, run_cbcmac, cbc_enc1},
    [XTS_ENC] = {"xts-enc", false, false, true, run_xts_enc, xts_enc1},
    [XTS_DEC] = {"xts-dec", true, false, true, run_xts_dec, xts_dec1},
};

void know(struct known *k, const struct aes_op *op, size_t n_blocks)
{
    union evc_aes_key ref;
    uint8_t iv[16];

    must(evc_aes_set_key(&ref, evc_aes_named("c_ref"), k->user_key, k->key_bits));
    k->op = op;
    memcpy(iv, k->iv[0], 16);
    for (size_t i = 0; i < n_blocks; i++) {
        op->block(&ref, iv, k->in + 16 * i, k->out + 16 * i);
        memcpy(k->iv[i + 1], iv, 16);
    }
}

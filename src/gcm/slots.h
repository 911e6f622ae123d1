/* SPDX-License-Identifier: MIT */
/* The slots of a kernel of GCM beside those for whole messages, which GCM_MESSAGE_SLOTS names, over
 * the words of gcm/tail.h and crypt_blocks, the text of a piece. */
#ifndef EVC_GCM_SLOTS_H
#define EVC_GCM_SLOTS_H

/* Not inlined: what a kernel adds to it would share vectors with code before
 * v_clear_upper_halves. */
EVC_OUT_OF_LINE void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;
    uint8_t h[16];

    store1(h, expand_key(key, user_key));
    for (uint32_t r = key->head.rounds + 1; r <= EVC_AES_MAX_ROUNDS; r++)
        store1(key->rk[r], zero1());
    powers_of(&key->powers, h);
    v_clear_upper_halves();
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    encrypt_blocks(key, in, out, n_blocks);
    v_clear_upper_halves();
}

static void hash(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    store1(y, hash_whole_blocks(vkey, y, in, n_blocks));
    v_clear_upper_halves();
}

static void seal_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    crypt_blocks(key, counter, y, in, out, n_blocks, 0);
}

static void open_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    crypt_blocks(key, counter, y, in, out, n_blocks, 1);
}

/* The slots of a descriptor: the same for all kernels. */
#define GCM_SLOTS                                                                                  \
    .set_key = set_key, .encrypt = encrypt, .hash = hash, .seal_blocks = seal_blocks,              \
    .open_blocks = open_blocks, .seal_any_iv = evc_gcm_seal_pieces,                                \
    .open_any_iv = evc_gcm_open_pieces, GCM_MESSAGE_SLOTS

#endif

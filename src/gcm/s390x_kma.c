/* SPDX-License-Identifier: MIT */
/*
 * GCM with the instruction of IBM Z z14 and later that does all of it in memory.
 *
 * Method:   one KMA for a message: counters, GHASH and the tag. Pieces of a message are KMA without
 *           the end of the text. The hash key is in the key, and given to each. Blocks without a
 *           counter are KM, hashes without text KIMD. Each operation wipes its own parameters.
 * Source:   SP 800-38D (2007); z/Architecture Principles of Operation, SA22-7832-12, chapter 7,
 *           KMA-GCM-AES.
 * Needs:    S390X_MSA8.   Timing: CT (the instructions; no tables, no secret branches).
 * Key form: private.
 */
#include "gcm/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(S390X_MSA8)

#include "common/s390x.h"
#include "gcm/tags.h"

/* Parameters of KMA. */
struct parameters {
    EVC_ALIGN(8) uint8_t zeros[12];
    uint32_t counter; /* of the block before the text */
    uint8_t hash[16]; /* in the end the tag */
    uint8_t h[16];
    uint64_t aad_bits, text_bits; /* of the whole message */
    uint8_t j0[16];               /* the blocks of all counters begin with the first 12 bytes */
    uint8_t key[32];              /* zeros behind a shorter key */
};

struct key {
    struct evc_gcm_head head;
    struct parameters first; /* of a message, but for its IV and lengths */
    uint64_t seals, opens;   /* the codes of KMA for whole messages */
};

EVC_INLINE void wipe(void *p, size_t n_bytes)
{
    memset(p, 0, n_bytes);
    EVC_KEEP_MEMORY(p);
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* The compiler reads an argument on the stack behind this, not before KMA, where it would take a
 * register that the function has to save. */
#define READ_LATER(argument) __asm__("" : "+m"(argument))

/* Leaves the tag in p->hash. EVC_GCM_HASHED_AAD: the block at aad is hashed as the only one is. */
EVC_INLINE void crypt_message(struct parameters *p, const struct key *key, const uint8_t *iv,
                              const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                              uint8_t *out, size_t len_bytes, int opening)
{
    *p = key->first;
    p->aad_bits = 8 * (uint64_t)aad_bytes; /* the bit of EVC_GCM_HASHED_AAD is shifted out */
    p->text_bits = 8 * (uint64_t)len_bytes;
    memcpy(p->j0, iv, 12);
    evc_s390x_kma(opening ? key->opens : key->seals, p, aad,
                  aad_bytes & EVC_GCM_HASHED_AAD ? 16 : aad_bytes, in, out, len_bytes);
}

static enum evc_status seal(const void *key, const uint8_t *iv, size_t iv_bytes, const uint8_t *aad,
                            size_t aad_bytes, const uint8_t *in, uint8_t *out, size_t len_bytes,
                            uint8_t *tag, size_t tag_bytes)
{
    struct parameters p;

    (void)iv_bytes; /* 12 */
    crypt_message(&p, key, iv, aad, aad_bytes, in, out, len_bytes, 0);
    READ_LATER(tag);
    READ_LATER(tag_bytes);
    if (tag_bytes == 16)
        /* mvc, as nothing clears a register behind this */
    __asm__ volatile("mvc 0(16,%0), 0(%1)" : : "a"(tag), "a"(p.hash) : "memory");
    else
        evc_copy_secret(tag, p.hash, tag_bytes);
    wipe(&p, sizeof p);
    return EVC_OK;
}

static enum evc_status open_output_tag(const void *key, const uint8_t *iv, size_t iv_bytes,
                                        const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                        uint8_t *out, size_t len_bytes, uint8_t *tag,
                                        size_t tag_bytes)
{
    struct parameters p;

    (void)iv_bytes;  /* 12 */
    (void)tag_bytes; /* 16 */
    crypt_message(&p, key, iv, aad, aad_bytes, in, out, len_bytes, 1);
    READ_LATER(tag);
    memcpy(tag, p.hash, 16);
    wipe(&p, sizeof p);
    return EVC_OK;
}

static enum evc_status open(const void *key, const uint8_t *iv, size_t iv_bytes, const uint8_t *aad,
                            size_t aad_bytes, const uint8_t *in, uint8_t *out, size_t len_bytes,
                            const uint8_t *tag, size_t tag_bytes)
{
    struct parameters p;
    enum evc_status status;

    (void)iv_bytes; /* 12 */
    crypt_message(&p, key, iv, aad, aad_bytes, in, out, len_bytes, 1);
    READ_LATER(tag);
    READ_LATER(tag_bytes);
    status = tag_bytes == 16 ? compare16(p.hash, tag) : compare(p.hash, tag, tag_bytes);
    wipe(&p, sizeof p);
    return status;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

EVC_INLINE void crypt_blocks(const struct key *key, uint8_t counter[16], uint8_t y[16],
                             const uint8_t *in, uint8_t *out, size_t n_blocks, unsigned way)
{
    struct parameters p;

    if (!n_blocks)
        return;
    p = key->first;
    p.counter = evc_load32_be(counter + 12) - 1; /* counts before it encrypts */
    memcpy(p.hash, y, 16);
    memcpy(p.j0, counter, 16);
    evc_s390x_kma((key->seals & ~(uint64_t)EVC_S390X_LAST_TEXT) | way, &p, NULL, 0, in, out,
                  16 * n_blocks);
    memcpy(y, p.hash, 16);
    evc_store32_be(counter + 12, p.counter + 1);
    wipe(&p, sizeof p);
}

static void seal_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    crypt_blocks(key, counter, y, in, out, n_blocks, 0);
}

static void open_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    crypt_blocks(key, counter, y, in, out, n_blocks, EVC_S390X_DECRYPT);
}

/* KM does not change a key. */
static void encrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct key *key = vkey;

    evc_s390x_km((unsigned)key->seals & EVC_S390X_FUNCTION, (void *)(uintptr_t)key->first.key, in,
                 out, 16 * n_blocks);
}

static void hash(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;
    struct {
        uint8_t hash[16], h[16];
    } p;

    memcpy(p.hash, y, 16);
    memcpy(p.h, key->first.h, 16);
    evc_s390x_kimd(EVC_S390X_GHASH, &p, in, 16 * n_blocks);
    memcpy(y, p.hash, 16);
    wipe(&p, sizeof p);
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;
    const size_t key_bytes = 4 * (size_t)key->head.rounds - 24;

    memset(&key->first, 0, sizeof *key - offsetof(struct key, first));
    evc_copy_secret(key->first.key, user_key, key_bytes);
    key->seals = EVC_S390X_HASH_KEY_GIVEN | EVC_S390X_LAST_AAD | EVC_S390X_LAST_TEXT |
                 (EVC_S390X_AES_128 + (key->head.rounds - 10) / 2);
    key->opens = key->seals | EVC_S390X_DECRYPT;
    encrypt(key, key->first.h, key->first.h, 1);
    key->first.counter = 1;
    key->first.j0[15] = 1;
}

const struct evc_gcm evc_gcm_s390x_kma = {
    .kernel = EVC_KERNEL_HEAD(s390x_kma, S390X_MSA8, CT, ANY, 1, struct key, 0, BASELINE, 512),
    .set_key = set_key,
    .encrypt = encrypt,
    .hash = hash,
    .seal_blocks = seal_blocks,
    .open_blocks = open_blocks,
    .seal = seal,
    .open = open,
    .open_output_tag = open_output_tag,
    .seal_any_iv = evc_gcm_seal_pieces,
    .open_any_iv = evc_gcm_open_pieces,
};
#else
EVC_EMPTY_UNIT
#endif

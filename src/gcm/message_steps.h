/* SPDX-License-Identifier: MIT */
/*
 * Whole messages of GCM and the slots of a kernel, written once for every architecture and width of vector. Include it
 * after gcm/message_vectors.h and these:
 *
 *   hash_of(product)         the sum of products reduced, as it is in memory
 *   hash_blocks(powers, y, in, n)   GHASH; powers_of(powers, h)
 *   LAST_PAIRS(key)          the powers that the last WIDE vectors meet
 *   FIRST_DONE(key, flow, n)   what is done after the first n vectors, if others follow
 *   crypt_rest(key, flow, end, n_batches, in, out, sealing)   what comes after the first vectors, and the hash of all
 *   xor1, zero1()            blocks
 *   load_part1(p, n)         the first n bytes of a block, 0 to 16, zeros behind
 *   lengths1(a, b)           the block of two numbers, most significant bytes first
 *   load_iv(p), count_from(key, block, first)   12 bytes; counters from that of the first block on
 *   expand_key(key, user_key)
 *   store_tag, compare_tag(tag, block, n)
 *   CLEAR_AFTER_MESSAGE()    clears what a message may leave behind: the end of the slots seal and open
 *   CLEAR_AFTER_SHORT()      the same for messages of few vectors; if not defined, these have no path of their own
 *   CLEAR_AFTER_MIDDLE()     the same for those of more vectors, but of none after the first; as above
 */
#ifndef EVC_GCM_MESSAGE_STEPS_H
#define EVC_GCM_MESSAGE_STEPS_H

/* ---- Messages ------------------------------------------------------------------------------------ */

/* The last block of associated data, filled up, plus the hash of those before it. */
EVC_OUT_OF_LINE block hash_long_aad(const struct key *key, const uint8_t *aad, size_t aad_bytes)
{
    const size_t n_before = (aad_bytes - 1) / 16;
    uint8_t y[16] = {0};

    hash_blocks(&key->powers, y, aad, n_before);
    return xor1(load1(y), load_part1(aad + 16 * n_before, aad_bytes - 16 * n_before));
}

/* The last vector of a message of n_blocks; at: the place of the associated data in the first vectors. */
EVC_INLINE struct end end_of(size_t n_blocks, size_t at, size_t aad_bytes, size_t len_bytes)
{
    const size_t no_text = (16 - len_bytes % 16) % 16; /* behind the text in its last block */
    struct end end;

    end.j0 = evc_bswap32((uint32_t)n_blocks) ^ evc_bswap32(1);
    end.lengths = lengths1(8 * (uint64_t)aad_bytes, 8 * (uint64_t)len_bytes);
    end.mask = zero1();
#if LANES > 1
    end.text = part_of(n_blocks > LANES ? 0 : 16 * (at + 1), VEC_BYTES - 16 - no_text);
#else
    (void)n_blocks, (void)at;
    end.text = part_of(16, 16);
    end.before = len_bytes ? part_of(0, 16 - no_text) : part_of(16, 16);
#endif
    return end;
}

/* The first n vectors of a message; its tag if they are all. */
#define CRYPT_FIRST(n)                                                                             \
    do {                                                                                           \
        crypt_head(key, &f, &end, !n_batches, n, 1, at, at + 1, start, in, out, sealing);          \
        if (!n_batches) {                                                                          \
            hash_vectors(&f, LAST_PAIRS(key), n);                                                  \
            return xor1(hash_of(f.p), end.mask);                                                   \
        }                                                                                          \
        FIRST_DONE(key, &f, n);                                                                    \
    } while (0)

/* most: 4 or 8 for messages of no more vectors, with at most a block of associated data; 4 is for those of all its
 * lengths, 8 for those of more than 4. 0 for any message. */
EVC_INLINE block crypt_message(const struct key *key, const uint8_t *iv, const uint8_t *aad,
                                 size_t aad_bytes, const uint8_t *in, uint8_t *out,
                                 size_t len_bytes, int sealing, unsigned most)
{
    const size_t n_blocks = (len_bytes + 15) / 16 + 2;
    const size_t n_batches = most ? 0 : (n_blocks - 1) / (WIDE * LANES); /* after the first vectors */
    const size_t n_first = n_blocks - n_batches * WIDE * LANES;
    const size_t in_vectors = (n_first + LANES - 1) / LANES;
    const size_t n = in_vectors <= 4 ? in_vectors : in_vectors <= 6 ? 6 : 8;
    const size_t at = n * LANES - n_first;
    const block start =
        !most && aad_bytes > 16 ? hash_long_aad(key, aad, aad_bytes) : load_part1(aad, aad_bytes);
    struct end end = end_of(n_blocks, at, aad_bytes, len_bytes);
    struct flow f;
    block tag;

    f.count = count_from(key, load_iv(iv), (uint32_t)(1 - at));
    f.p = no_product();
    f.y = zero1();
    EACH_UP_TO_8(WIDE, f.r[i] = v_zero());
    in = evc_in_at(in, 0 - 16 * (at + 1)); /* where the first vector would begin */
    out = evc_out_at(out, 0 - 16 * (at + 1));
    if (most != 8 && n == 1)
        CRYPT_FIRST(1);
    else if (most != 8 && n == 2)
        CRYPT_FIRST(2);
    else if (most != 8 && n == 3)
        CRYPT_FIRST(3);
    else if (most == 4 || (most != 8 && n == 4))
        CRYPT_FIRST(4);
    else if (n == 6)
        CRYPT_FIRST(6);
    else
        CRYPT_FIRST(8);
    tag = crypt_rest(key, &f, &end, n_batches, AT(n), sealing);
    return xor1(tag, end.mask);
}

/* ---- Slots --------------------------------------------------------------------------------------- */

#define ARGUMENTS(tag_pointer)                                                                     \
    const void *vkey, const uint8_t *iv, size_t iv_bytes, const uint8_t *aad, size_t aad_bytes,    \
        const uint8_t *in, uint8_t *out, size_t len_bytes, tag_pointer tag, size_t tag_bytes

/* The frame of a message lies below that of its slot, where the kernel's `clear` reaches it. */
#define DEFINE_MESSAGES(name, most)                                                                \
    EVC_OUT_OF_LINE enum evc_status seal_##name(ARGUMENTS(uint8_t *))                              \
    {                                                                                              \
        (void)iv_bytes;                                                                            \
        store_tag(tag, crypt_message(vkey, iv, aad, aad_bytes, in, out, len_bytes, 1, most), tag_bytes); \
        v_clear_upper_halves();                                                                    \
        return EVC_OK;                                                                             \
    }                                                                                              \
    EVC_OUT_OF_LINE enum evc_status open_##name(ARGUMENTS(const uint8_t *))                        \
    {                                                                                              \
        const block t = crypt_message(vkey, iv, aad, aad_bytes, in, out, len_bytes, 0, most);      \
        const enum evc_status status = compare_tag(tag, t, tag_bytes);                             \
                                                                                                   \
        (void)iv_bytes;                                                                            \
        v_clear_upper_halves();                                                                    \
        return status;                                                                             \
    }

DEFINE_MESSAGES(message, 0)

/* Messages of few vectors have frames of their own, which are smaller: less is to be cleared. */
#if defined(CLEAR_AFTER_SHORT)
DEFINE_MESSAGES(short, 4)
#endif
#if defined(CLEAR_AFTER_MIDDLE)
DEFINE_MESSAGES(middle, 8)
#endif

EVC_INLINE int fits(size_t aad_bytes, size_t len_bytes, unsigned most)
{
    return aad_bytes <= 16 && len_bytes <= 16 * (most * LANES - 2);
}

#define RUN(name, clear)                                                                           \
    do {                                                                                           \
        const enum evc_status status_ =                                                            \
            name(vkey, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes);          \
        clear();                                                                                   \
        return status_;                                                                            \
    } while (0)

static enum evc_status seal(ARGUMENTS(uint8_t *))
{
#if defined(CLEAR_AFTER_SHORT)
    if (fits(aad_bytes, len_bytes, 4))
        RUN(seal_short, CLEAR_AFTER_SHORT);
#endif
#if defined(CLEAR_AFTER_MIDDLE)
    if (fits(aad_bytes, len_bytes, 8))
        RUN(seal_middle, CLEAR_AFTER_MIDDLE);
#endif
    RUN(seal_message, CLEAR_AFTER_MESSAGE);
}

static enum evc_status open(ARGUMENTS(const uint8_t *))
{
#if defined(CLEAR_AFTER_SHORT)
    if (fits(aad_bytes, len_bytes, 4))
        RUN(open_short, CLEAR_AFTER_SHORT);
#endif
#if defined(CLEAR_AFTER_MIDDLE)
    if (fits(aad_bytes, len_bytes, 8))
        RUN(open_middle, CLEAR_AFTER_MIDDLE);
#endif
    RUN(open_message, CLEAR_AFTER_MESSAGE);
}

/* Not inlined: what a kernel adds to it would share vectors with code before v_clear_upper_halves. */
EVC_OUT_OF_LINE void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;
    uint8_t h[16] = {0};

    expand_key(key, user_key);
    encrypt_blocks(key, h, h, 1);
    powers_of(&key->powers, h);
    evc_wipe(h, sizeof h);
    v_clear_upper_halves();
}

static void hash(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;

    hash_blocks(&key->powers, y, in, n_blocks);
    v_clear_upper_halves();
}

/* Blocks of text alone. */
EVC_INLINE void crypt_blocks(const struct key *key, uint8_t counter[16], uint8_t y[16],
                             const uint8_t *in, uint8_t *out, size_t n_blocks, int sealing)
{
    const size_t n_batches = (n_blocks - 1) / (WIDE * LANES); /* after the first vectors */
    const size_t at = (n_batches + 1) * WIDE * LANES - n_blocks;
    const uint32_t first = evc_load32_be(counter + 12);
    struct flow f;

    f.count = count_from(key, load1(counter), first - (uint32_t)at);
    f.p = no_product();
    f.y = zero1();
    in = evc_in_at(in, 0 - 16 * at); /* where the first vector would begin */
    out = evc_out_at(out, 0 - 16 * at);
    crypt_head(key, &f, NULL, 0, WIDE, 0, at, at, load1(y), in, out, sealing);
    FIRST_DONE(key, &f, WIDE);
    store1(y, crypt_rest(key, &f, NULL, n_batches, AT(WIDE), sealing));
    evc_store32_be(counter + 12, first + (uint32_t)n_blocks);
}

static void seal_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    if (n_blocks)
        crypt_blocks(key, counter, y, in, out, n_blocks, 1);
    v_clear_upper_halves();
}

static void open_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    if (n_blocks)
        crypt_blocks(key, counter, y, in, out, n_blocks, 0);
    v_clear_upper_halves();
}

/* The slots of a descriptor that are the same at every width. */
#define GCM_SLOTS                                                                                  \
    .encrypt = encrypt, .hash = hash, .seal_blocks = seal_blocks, .open_blocks = open_blocks

#endif

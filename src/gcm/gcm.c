/* SPDX-License-Identifier: MIT */
/*
 * GCM (SP 800-38D) over the slots of struct evc_gcm, and the pair: any kernel of AES with any of
 * GHASH, in the form of such slots, so that the code above them knows one kind of key.
 */
#include "everycore/gcm.h"

#include "aes/ops.h"
#include "common/bytes.h"
#include "common/clear.h"
#include "common/ct.h"
#include "common/in_place.h"
#include "common/key_memory.h"
#include "common/phase.h"
#include "ghash/ops.h"

static void store_lengths(uint8_t block[16], uint64_t first_bytes, uint64_t second_bytes)
{
    evc_store64x2_be(block, 8 * first_bytes, 8 * second_bytes);
}

static enum evc_status compare(const uint8_t computed[16], const uint8_t *tag, size_t tag_bytes)
{
    uint32_t equal = evc_mask_equal(computed, tag, tag_bytes);

    evc_public(&equal, sizeof equal); /* the caller learns it as the status */
    return equal ? EVC_OK : EVC_ERR_TAG;
}

/* The same of whole tags. */
EVC_INLINE enum evc_status compare16(const uint8_t computed[16], const uint8_t tag[16])
{
    const uint64_t differ = evc_scalar64(evc_load64_ne(computed) ^ evc_load64_ne(tag))
                            | evc_scalar64(evc_load64_ne(computed + 8) ^ evc_load64_ne(tag + 8));
    enum evc_status status = evc_tag_status((uint32_t)differ | (uint32_t)(differ >> 32));

    evc_public(&status, sizeof status);
    return status;
}

/* n bytes, 1 to 8, and zeros. */
EVC_INLINE uint64_t load_short(const uint8_t *from, size_t n)
{
    if (n >= 4)
        return evc_load32_le(from) | (uint64_t)evc_load32_le(from + n - 4) << 8 * (n - 4);
    return from[0] | (uint64_t)from[n / 2] << 8 * (n / 2) | (uint64_t)from[n - 1] << 8 * (n - 1);
}

/* n bytes, at most 16, filled up with zeros: in one store, since a kernel soon
 * reads the block whole. */
EVC_INLINE void store_short_block(uint8_t block[16], const uint8_t *from, size_t n)
{
    uint64_t first = 0, second = 0;

    if (n >= 8) {
        const size_t half = 4 * (16 - n); /* of a shift, which may be by all 64 bits */
        first = evc_load64_le(from);
        second = evc_load64_le(from + n - 8) >> half >> half;
    } else if (n) {
        first = load_short(from, n);
    }
    evc_store64x2_le(block, first, second);
}

/* ---- The pair -------------------------------------------------------------------------------- */

struct pair_key {
    struct evc_gcm_head head;
    /* The key of AES, for encryption only; head.ghash_at bytes behind its
     * beginning that of GHASH */
    EVC_ALIGN(16) uint8_t keys[sizeof(union evc_aes_key) + sizeof(union evc_ghash_key)];
};

typedef char pair_keys_fit[sizeof(struct pair_key) <= sizeof(union evc_gcm_key) ? 1 : -1];

EVC_INLINE const union evc_aes_key *aes_of(const struct pair_key *key)
{
    return (const union evc_aes_key *)(const void *)key->keys;
}

EVC_INLINE const union evc_ghash_key *ghash_of(const struct pair_key *key)
{
    return (const union evc_ghash_key *)(const void *)(key->keys + key->head.ghash_at);
}

EVC_INLINE void clear_pair(const struct pair_key *key)
{
    evc_clear_both(&aes_of(key)->head.kernel->kernel, &ghash_of(key)->head.kernel->kernel);
}

/* Encrypted, then hashed while it is in the first-level cache. */
#define PIECE_BLOCKS 512

static void pair_encrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct pair_key *key = vkey;

    evc_aes_op_encrypt(aes_of(key), in, out, n_blocks);
}

static void pair_hash(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct pair_key *key = vkey;

    evc_ghash_op_blocks(ghash_of(key), y, in, n_blocks);
}

static void pair_seal_blocks(const void *vkey, uint8_t counter[16], uint8_t y[16],
                             const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct pair_key *key = vkey;

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = n_blocks < PIECE_BLOCKS ? n_blocks : PIECE_BLOCKS;
        evc_aes_op_ctr32(aes_of(key), counter, in, out, 16 * n);
        evc_ghash_op_blocks(ghash_of(key), y, out, n);
    }
}

static void pair_open_blocks(const void *vkey, uint8_t counter[16], uint8_t y[16],
                             const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct pair_key *key = vkey;

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = n_blocks < PIECE_BLOCKS ? n_blocks : PIECE_BLOCKS;
        evc_ghash_op_blocks(ghash_of(key), y, in, n);
        evc_aes_op_ctr32(aes_of(key), counter, in, out, 16 * n);
    }
}

/*
 * Whole messages. J_0 goes through AES together with the counters of the first blocks of text:
 * alone it would cost as much as a whole batch of a kernel that works on many. So many blocks are
 * full batches of every kernel but the widest.
 */
#define FIRST_BLOCKS 16

/* len_bytes bytes, filled up with zeros to whole blocks, whose end is returned. */
static uint8_t *gather(uint8_t *to, const uint8_t *from, size_t len_bytes)
{
    const size_t whole = len_bytes & ~(size_t)15;

    if (whole)
        memcpy(to, from, whole);
    if (len_bytes == whole)
        return to + whole;
    memset(to + whole, 0, 16);
    memcpy(to + whole, from + whole, len_bytes - whole);
    return to + whole + 16;
}

/* Associated data, then a piece of text: whole blocks, or the last, which has the lengths of the
 * message. What is short is gathered for one call, so that a kernel that adds up several products
 * reduces once. With the last piece, what operations of GHASH leave is cleared: below this frame,
 * the kernel's `clear` does not reach from the caller. */
static void hash_piece(const struct pair_key *key, uint8_t y[16], const uint8_t *aad,
                       size_t aad_bytes, const uint8_t *text, size_t len_bytes,
                       const uint8_t *lengths)
{
    EVC_ALIGN(16) uint8_t blocks[16 * FIRST_BLOCKS];
    uint8_t *end = blocks;

    if (!lengths || aad_bytes + (uint64_t)len_bytes > sizeof blocks - 48) {
        evc_ghash_op_padded(ghash_of(key), y, aad, aad_bytes);
        evc_ghash_op_blocks(ghash_of(key), y, text, len_bytes / 16);
        if (len_bytes) { /* else text may be NULL */
            text += len_bytes & ~(size_t)15;
            len_bytes %= 16;
        }
        aad_bytes = 0;
    }
    if (!lengths)
        return;
    end = gather(gather(end, aad, aad_bytes), text, len_bytes); /* two blocks at most have zeros */
    memcpy(end, lengths, 16);
    evc_ghash_op_blocks(ghash_of(key), y, blocks, (size_t)(end - blocks) / 16 + 1);
    evc_clear(&ghash_of(key)->head.kernel->kernel);
}

/* Whether pairs take associated data that is hashed but for the last block. Where sizes have 32
 * bits, the bit that says so is a length. */
#define PAIRS_TAKE_HASHED_AAD (SIZE_MAX > UINT32_MAX)

static enum evc_status pair_hash_aad(const void *vkey, uint8_t to[32], const uint8_t *aad,
                                     size_t aad_bytes)
{
    const struct pair_key *key = vkey;
    const size_t whole = (aad_bytes - 1) & ~(size_t)15;

    memset(to, 0, 16);
    evc_ghash_op_blocks(ghash_of(key), to, aad, whole / 16);
    store_short_block(to + 16, aad + whole, aad_bytes - whole);
    evc_clear(&ghash_of(key)->head.kernel->kernel);
    return EVC_OK;
}

/* Out of line: GCC spills a hash that it copies in the frame of pair_message. */
EVC_OUT_OF_LINE void copy_hash(uint8_t to[16], const uint8_t hash[16])
{
    memcpy(to, hash, 16);
}

/* tag: all 16 bytes of it. */
EVC_INLINE void pair_message(const struct pair_key *key, const uint8_t iv[12], const uint8_t *aad,
                             size_t aad_bytes, const uint8_t *in, uint8_t *out, size_t len_bytes,
                             uint8_t tag[16], int sealing)
{
    EVC_ALIGN(16) uint8_t stream[16 * FIRST_BLOCKS] = {0}, counter[16], lengths[16];
    const size_t room = sizeof stream - 16;
    size_t ready = len_bytes < room ? len_bytes : room; /* bytes of key stream behind E(J_0) */

    evc_store64x2_be(counter, evc_load64_be(iv), (uint64_t)evc_load32_be(iv + 8) << 32 | 1);
    evc_aes_op_ctr32(aes_of(key), counter, stream, stream, (16 + ready + 15) & ~(size_t)15);
    store_lengths(lengths, PAIRS_TAKE_HASHED_AAD ? aad_bytes & ~EVC_GCM_HASHED_AAD : aad_bytes,
                  len_bytes);
    if (PAIRS_TAKE_HASHED_AAD && (aad_bytes & EVC_GCM_HASHED_AAD)) {
        copy_hash(tag, aad - 16);
        aad_bytes = 16;
    } else {
        memset(tag, 0, 16);
    }
    for (;;) {
        const int last = len_bytes <= 16 * PIECE_BLOCKS;
        const size_t n = last ? len_bytes : 16 * PIECE_BLOCKS;
        if (!sealing)
            hash_piece(key, tag, aad, aad_bytes, in, n, last ? lengths : NULL);
        evc_xor(out, in, stream + 16, ready);
        if (n > ready)
            evc_aes_op_ctr32(aes_of(key), counter, in + ready, out + ready, n - ready);
        if (sealing)
            hash_piece(key, tag, aad, aad_bytes, out, n, last ? lengths : NULL);
        if (last)
            break;
        in += n, out += n, len_bytes -= n;
        ready = aad_bytes = 0;
    }
    evc_xor16(tag, tag, stream);
    evc_wipe(stream, sizeof stream);
}

static enum evc_status pair_seal(const void *key, const uint8_t *iv, size_t iv_bytes,
                                 const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                 uint8_t *out, size_t len_bytes, uint8_t *tag, size_t tag_bytes)
{
    uint8_t computed[16];

    (void)iv_bytes;
    pair_message(key, iv, aad, aad_bytes, in, out, len_bytes, computed, 1);
    memcpy(tag, computed, tag_bytes);
    evc_wipe(computed, sizeof computed); /* of a short tag, the bytes that are not told */
    evc_clear(&aes_of((const struct pair_key *)key)->head.kernel->kernel);
    return EVC_OK;
}

static enum evc_status pair_open(const void *key, const uint8_t *iv, size_t iv_bytes,
                                 const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                 uint8_t *out, size_t len_bytes, const uint8_t *tag,
                                 size_t tag_bytes)
{
    uint8_t computed[16];
    enum evc_status status;

    (void)iv_bytes;
    pair_message(key, iv, aad, aad_bytes, in, out, len_bytes, computed, 0);
    status = compare(computed, tag, tag_bytes);
    evc_wipe(computed, sizeof computed); /* of a forgery, the tag that would have been right */
    evc_clear(&aes_of((const struct pair_key *)key)->head.kernel->kernel);
    return status;
}

static enum evc_status pair_open_telling_tag(const void *key, const uint8_t *iv, size_t iv_bytes,
                                             const uint8_t *aad, size_t aad_bytes,
                                             const uint8_t *in, uint8_t *out, size_t len_bytes,
                                             uint8_t *tag, size_t tag_bytes)
{
    uint8_t computed[16]; /* GCC leaves a copy of a hash that is masked in memory of the caller */

    (void)iv_bytes, (void)tag_bytes;
    pair_message(key, iv, aad, aad_bytes, in, out, len_bytes, computed, 0);
    memcpy(tag, computed, 16);
    evc_wipe(computed, sizeof computed);
    evc_clear(&aes_of((const struct pair_key *)key)->head.kernel->kernel);
    return EVC_OK;
}

/* The descriptor of all pairs, so its timing class is the worst of any; the kernels of the
 * two keys tell their own. */
static const struct evc_gcm pair = {
    .kernel = {.name = "pair", .key_bytes = sizeof(struct pair_key), .key_align = 16,
               .timing = EVC_TIMING_VARTIME, .batch = 1},
    .encrypt = pair_encrypt,
    .hash = pair_hash,
    .seal_blocks = pair_seal_blocks,
    .open_blocks = pair_open_blocks,
    .seal = pair_seal,
    .open = pair_open,
    .open_telling_tag = pair_open_telling_tag,
    .hash_aad = PAIRS_TAKE_HASHED_AAD ? pair_hash_aad : NULL,
};

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Every call with the key ends with this, but those that are an operation `seal` or
 * `open` of the kernel. */
EVC_INLINE void clear(const union evc_gcm_key *key)
{
    if (key->head.ghash_at)
        clear_pair((const struct pair_key *)(const void *)key);
    else
        evc_clear(&key->head.kernel->kernel);
}

/* After an encrypted block and hashes of at most two. */
EVC_INLINE void clear_short(const union evc_gcm_key *key)
{
    if (key->head.kernel->clear_tag)
        key->head.kernel->clear_tag();
    else
        clear(key);
}

size_t evc_gcm_pair_key_bytes(const struct evc_aes *aes, const struct evc_ghash *ghash)
{
    if (!aes || !ghash)
        return 0;
    return offsetof(struct pair_key, keys) + evc_key_room(&aes->kernel) +
           evc_key_room(&ghash->kernel);
}

static enum evc_status set_pair(struct pair_key *key, const struct evc_aes *aes,
                                const struct evc_ghash *ghash, const uint8_t *user_key,
                                unsigned key_bits)
{
    const size_t aes_bytes = evc_key_room(&aes->kernel);
    enum evc_status status =
        evc_aes_set_encrypt_key_in(key->keys, aes_bytes, aes, user_key, key_bits);
    uint8_t h[16] = {0};

    if (status != EVC_OK)
        return status;
    evc_aes_op_encrypt(aes_of(key), h, h, 1);
    status = evc_ghash_set_key_in(key->keys + aes_bytes, evc_key_room(&ghash->kernel), ghash, h);
    evc_wipe(h, sizeof h);
    evc_clear(&aes->kernel);
    key->head.kernel = &pair;
    key->head.rounds = aes_of(key)->head.rounds;
    key->head.ghash_at = (uint32_t)aes_bytes;
    return status;
}

enum evc_status evc_gcm_set_pair_in(void *memory, size_t memory_bytes, const struct evc_aes *aes,
                                    const struct evc_ghash *ghash, const uint8_t *user_key,
                                    unsigned key_bits)
{
    enum evc_status status = aes && ghash ? evc_check_key_memory(memory, memory_bytes,
                                                                 evc_gcm_pair_key_bytes(aes, ghash),
                                                                 user_key, key_bits / 8)
                                          : EVC_ERR_KERNEL;

    evc_wipe(memory, memory_bytes);
    if (status == EVC_OK)
        status = set_pair(memory, aes, ghash, user_key, key_bits);
    if (status != EVC_OK)
        evc_wipe(memory, memory_bytes);
    return status;
}

enum evc_status evc_gcm_set_pair(union evc_gcm_key *key, const struct evc_aes *aes,
                                 const struct evc_ghash *ghash, const uint8_t *user_key,
                                 unsigned key_bits)
{
    return evc_gcm_set_pair_in(key, sizeof *key, aes, ghash, user_key, key_bits);
}

static enum evc_status check_key(const void *memory, size_t memory_bytes,
                                 const struct evc_gcm *kernel, const uint8_t *user_key,
                                 unsigned key_bits)
{
    if (key_bits != 128 && key_bits != 192 && key_bits != 256)
        return EVC_ERR_KEY_SIZE;
    if (!kernel || !kernel->set_key || kernel->kernel.key_align > 16)
        return EVC_ERR_KERNEL;
    return evc_check_key_memory(memory, memory_bytes, kernel->kernel.key_bytes, user_key,
                                key_bits / 8);
}

enum evc_status evc_gcm_set_key_in(void *memory, size_t memory_bytes, const struct evc_gcm *kernel,
                                   const uint8_t *user_key, unsigned key_bits)
{
    const enum evc_status status = check_key(memory, memory_bytes, kernel, user_key, key_bits);
    size_t key_bytes;

    if (status != EVC_OK) {
        evc_wipe(memory, memory_bytes);
        return status;
    }
    memset(memory, 0, 16); /* on some machines the head ends before what is aligned behind it */
    *(struct evc_gcm_head *)memory =
        (struct evc_gcm_head){.kernel = kernel, .rounds = key_bits / 32 + 6};
    kernel->set_key(memory, user_key);
    /* clears at once: a dynamic linker that first finds memset() stores vector registers */
    evc_clear(&kernel->kernel);
    key_bytes = kernel->kernel.key_bytes; /* all of which have been written */
    if (memory_bytes > key_bytes)
        evc_wipe((uint8_t *)memory + key_bytes, memory_bytes - key_bytes);
    return EVC_OK;
}

enum evc_status evc_gcm_set_key(union evc_gcm_key *key, const struct evc_gcm *kernel,
                                const uint8_t *user_key, unsigned key_bits)
{
    return evc_gcm_set_key_in(key, sizeof *key, kernel, user_key, key_bits);
}

/* Counters that begin with a longer IV's J_0 tell H, and so does a block of associated data
 * plus a hash. For kernels both are public, so that they may leave them on the stack. In a
 * frame that has called them: */
EVC_DEFINE_CLEAR_DEEP(clear_secret_inputs, BASELINE, 0)

/*
 * The hash in a state. A first piece of text is handled as a whole message, which costs what a
 * message in one call costs: if no text follows, its tag is the tag. If text follows, the tag leads
 * back to y * H, for H is a factor of the last step: tag + E(J_0) = (y + lengths) * H. From there
 * on y * H is known, and not y, until the next whole block c: its hash is (y + c) * H = y * H +
 * c * H. If the piece ended inside a block, that block is in the hash, filled up with zeros; the
 * rest of it, d, behind zeros, is added as d * H to y, and so as d * H^2 to y * H.
 *
 * Before that a state with an IV of 12 bytes only holds it, and at most 64 bytes of associated
 * data: counter, y, block and stream are the place for these, and `used` is how many. So the four
 * calls of a message in one piece do little beside the work of the kernel, and few comparisons tell
 * that they may; other calls are out of line. They store what the kernel soon loads, and a load
 * from two stores waits until both have left the core: so of more than 16 bytes the last 16 have a
 * place of their own, see EVC_GCM_HELD_AAD. Of more than 64 bytes all but the last block is hashed.
 * If text or the end comes then, counters and the last word of j0 are made from a short IV.
 */
enum { HASH, TAG, HASH_TIMES_H, HASH_TIMES_H_IN_BLOCK, HOLDS_ONLY };

/* Phase, direction, short_iv and form of a state, in one word. */
#define MARKS(phase, direction, form) \
    ((uint32_t)(phase) | (uint32_t)(direction) << 8 | UINT32_C(1) << 16 | (uint32_t)(form) << 24)
#define MARKS_OF_START MARKS(EVC_PHASE_AAD, EVC_DIRECTION_NONE, HOLDS_ONLY)
#define MARKS_BEHIND_AAD MARKS(EVC_PHASE_AAD, EVC_DIRECTION_NONE, HASH)
#define MARKS_OF_TAG(direction) MARKS(EVC_PHASE_TEXT, direction, TAG)

typedef char marks_adjoin[offsetof(struct evc_gcm_state, phase) ==
                                      offsetof(struct evc_gcm_state, used) + 4 &&
                                  offsetof(struct evc_gcm_state, direction) ==
                                      offsetof(struct evc_gcm_state, phase) + 1 &&
                                  offsetof(struct evc_gcm_state, short_iv) ==
                                      offsetof(struct evc_gcm_state, phase) + 2 &&
                                  offsetof(struct evc_gcm_state, form) ==
                                      offsetof(struct evc_gcm_state, phase) + 3
                              ? 1
                              : -1];

EVC_INLINE int has_marks(const struct evc_gcm_state *state, uint32_t marks)
{
    return evc_load32_le((const uint8_t *)state + offsetof(struct evc_gcm_state, phase)) == marks;
}

EVC_INLINE void set_marks(struct evc_gcm_state *state, uint32_t marks)
{
    evc_store32_le((uint8_t *)state + offsetof(struct evc_gcm_state, phase), marks);
}

/* `used`, if these are the marks, else 2^32 or more. One load, which wants one store of both: else
 * it would wait until two of them have left the core. */
EVC_INLINE uint64_t used_with_marks(const struct evc_gcm_state *state, uint32_t marks)
{
#if EVC_BIG_ENDIAN
    return has_marks(state, marks) ? state->used : UINT64_MAX;
#else
    return evc_load64_ne((const uint8_t *)state + offsetof(struct evc_gcm_state, used)) ^
           (uint64_t)marks << 32;
#endif
}

EVC_INLINE void set_used_and_marks(struct evc_gcm_state *state, uint32_t used, uint32_t marks)
{
#if EVC_BIG_ENDIAN
    state->used = used;
    set_marks(state, marks);
#else
    evc_store64_ne((uint8_t *)state + offsetof(struct evc_gcm_state, used),
                   (uint64_t)marks << 32 | used);
#endif
}

/* A call of evc_wipe costs more than these stores; of more bytes, GCC makes a slow `rep stos`. */
EVC_INLINE void wipe_state(struct evc_gcm_state *state)
{
#if defined(__GNUC__) && EVC_WORD64
    memset(state, 0, 64);
    memset((uint8_t *)state + 64, 0, sizeof *state - 64);
    __asm__ volatile("" : : "r"(state) : "memory");
#else
    evc_wipe(state, sizeof *state);
#endif
}

/* ---- The start ------------------------------------------------------------------------------- */

static void hash_lengths(const union evc_gcm_key *key, uint8_t y[16], uint64_t first_bytes,
                         uint64_t second_bytes)
{
    uint8_t lengths[16];

    store_lengths(lengths, first_bytes, second_bytes);
    key->head.kernel->hash(key, y, lengths, 1);
}

/* J_0 (section 7.1, step 2) from an IV that is not of 12 bytes. */
EVC_OUT_OF_LINE void hash_iv(const union evc_gcm_key *key, uint8_t j0[16], const uint8_t *iv,
                             size_t iv_bytes)
{
    const size_t whole = iv_bytes & ~(size_t)15;
    uint8_t last[16] = {0};

    memset(j0, 0, 16);
    key->head.kernel->hash(key, j0, iv, whole / 16);
    if (iv_bytes != whole) {
        memcpy(last, iv + whole, iv_bytes - whole);
        key->head.kernel->hash(key, j0, last, 1);
    }
    hash_lengths(key, j0, 0, iv_bytes);
}

static int iv_fits(uint64_t iv_bytes)
{
    return iv_bytes != 0 && iv_bytes <= EVC_GCM_MAX_AAD;
}

/* By the words in which kernels load it: else they would wait until it has left the core. */
EVC_INLINE void hold_iv(struct evc_gcm_state *state, const uint8_t iv[12])
{
    const uint64_t first = evc_load64_ne(iv);
    const uint32_t last = evc_load32_ne(iv + 8);

    evc_store64_ne(state->j0, first);
    evc_store32_ne(state->j0 + 8, last);
    set_used_and_marks(state, 0, MARKS_OF_START);
}

/* J_0 and the first counter of text, from the IV. */
EVC_INLINE void write_counters(struct evc_gcm_state *state)
{
    const uint64_t first = evc_load64_be(state->j0);
    const uint64_t second = (uint64_t)evc_load32_be(state->j0 + 8) << 32;

    evc_store64x2_be(state->j0, first, second | 1);
    evc_store64x2_be(state->counter, first, second | 2);
}

/* Associated data of a state that only holds it lies where the counter, the hash, and the block
 * begun with its key stream will be. */
#define MOST_HELD 64
typedef char held_blocks_adjoin[offsetof(struct evc_gcm_state, counter) == 0 &&
                                        offsetof(struct evc_gcm_state, y) == 16 &&
                                        offsetof(struct evc_gcm_state, block) == 32 &&
                                        offsetof(struct evc_gcm_state, stream) == MOST_HELD - 16
                                    ? 1
                                    : -1];

EVC_INLINE uint8_t *held_of(struct evc_gcm_state *state)
{
    return (uint8_t *)state;
}

/* The last 16 of more than 16 bytes that are held are here, the blocks before the last
 * one at the beginning. */
#define HELD_END (MOST_HELD - 16)

/* Held associated data, as bytes that follow each other. */
EVC_INLINE void join_held(struct evc_gcm_state *state)
{
    if (state->used > 16)
        memmove(held_of(state) + state->used - 16, held_of(state) + HELD_END, 16);
}

/* The same, as hold_aad holds it. */
EVC_INLINE void part_held(struct evc_gcm_state *state)
{
    if (state->used > 16)
        memmove(held_of(state) + HELD_END, held_of(state) + state->used - 16, 16);
}

/* Whole blocks of associated data are hashed, but for the last 1 to 16 bytes, which wait in an
 * empty block, filled up with zeros. */
static void hash_aad(const union evc_gcm_key *key, struct evc_gcm_state *state, const uint8_t *aad,
                     size_t len_bytes)
{
    size_t n;

    if (!len_bytes)
        return;
    n = (len_bytes - 1) & ~(size_t)15;
    if (n)
        key->head.kernel->hash(key, state->y, aad, n / 16);
    store_short_block(state->block, aad + n, len_bytes - n);
    state->used = (uint32_t)(len_bytes - n);
}

/* From HOLDS_ONLY to HASH. */
static void hold_no_more(const union evc_gcm_key *key, struct evc_gcm_state *state)
{
    uint8_t held[MOST_HELD];
    const size_t held_bytes = state->used;

    join_held(state);
    if (held_bytes)
        memcpy(held, held_of(state), sizeof held);
    memset(state->y, 0, 16);
    state->aad_bytes = held_bytes;
    state->text_bytes = 0;
    state->form = HASH;
    hash_aad(key, state, held, held_bytes);
}

static void start(const union evc_gcm_key *key, struct evc_gcm_state *state, const uint8_t *iv,
                  size_t iv_bytes)
{
    if (iv_bytes == 12) {
        hold_iv(state, iv);
        hold_no_more(key, state);
        return;
    }
    memset(state->y, 0, 16);
    state->aad_bytes = state->text_bytes = 0;
    state->used = 0;
    state->phase = EVC_PHASE_AAD;
    state->direction = EVC_DIRECTION_NONE;
    state->short_iv = 0;
    state->form = HASH;
    hash_iv(key, state->j0, iv, iv_bytes);
    memcpy(state->counter, state->j0, 16);
    evc_store32_be(state->counter + 12, evc_load32_be(state->j0 + 12) + 1);
}

EVC_OUT_OF_LINE enum evc_status start_checked(const union evc_gcm_key *key,
                                              struct evc_gcm_state *state, const uint8_t *iv,
                                              size_t iv_bytes)
{
    const enum evc_status status = !key->head.kernel   ? EVC_ERR_KERNEL
                                   : !iv_fits(iv_bytes) ? EVC_ERR_NONCE_SIZE
                                                        : EVC_OK;

    if (status != EVC_OK) {
        evc_wipe(state, sizeof *state);
        return status;
    }
    start(key, state, iv, iv_bytes);
    clear(key);
    return EVC_OK;
}

enum evc_status evc_gcm_start(const union evc_gcm_key *key, struct evc_gcm_state *state,
                              const uint8_t *iv, size_t iv_bytes)
{
    if (!key->head.kernel || iv_bytes != 12)
        return start_checked(key, state, iv, iv_bytes);
    hold_iv(state, iv);
    return EVC_OK;
}

/* ---- Associated data ------------------------------------------------------------------------- */

/* n blocks enter the hash, from the state in which y * H is known. */
EVC_OUT_OF_LINE void hash_behind(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                 const uint8_t *blocks, size_t n)
{
    uint8_t sum[16] = {0};

    key->head.kernel->hash(key, sum, blocks, n);
    evc_xor16(state->y, state->y, sum);
    evc_wipe(sum, sizeof sum);
}

/* Whether so many bytes may wait for a hash: less than a block; of associated data a whole one, or
 * more if none is hashed yet. */
EVC_INLINE int may_wait(const struct evc_gcm_state *state, uint64_t n_bytes)
{
    if (n_bytes < 16)
        return 1;
    if (state->form == HOLDS_ONLY)
        return n_bytes <= MOST_HELD && state->phase == EVC_PHASE_AAD;
    return n_bytes == 16 && state->phase == EVC_PHASE_AAD && state->form == HASH;
}

/* The block begun, filled up with zeros, enters the hash. */
static void end_block(const union evc_gcm_key *key, struct evc_gcm_state *state)
{
    uint8_t blocks[32] = {0};

    if (!state->used)
        return;
    memset(state->block + state->used, 0, 16 - state->used);
    state->used = 0;
    if (state->form == HASH) {
        key->head.kernel->hash(key, state->y, state->block, 1);
        return;
    }
    memcpy(blocks, state->block, 16);
    hash_behind(key, state, blocks, state->form == HASH_TIMES_H ? 1 : 2);
    state->form = state->form == HASH_TIMES_H ? HASH : HASH_TIMES_H;
}

/* From the phase of associated data, in the form HASH: a short IV gives counters. */
EVC_INLINE void end_aad(struct evc_gcm_state *state)
{
    if (state->short_iv)
        write_counters(state);
    state->phase = EVC_PHASE_TEXT;
}

/* More associated data than can wait, if any does, in the form HASH. */
static void take_aad(const union evc_gcm_key *key, struct evc_gcm_state *state, const uint8_t *aad,
                     size_t len_bytes)
{
    const size_t n = 16 - state->used; /* bytes that the last block lacks */

    state->aad_bytes += len_bytes;
    if (state->used) {
        if (n)
            memcpy(state->block + state->used, aad, n);
        state->used = 16;
        aad += n, len_bytes -= n;
        end_block(key, state);
    }
    hash_aad(key, state, aad, len_bytes);
}

/* Associated data, the first, which can wait for a hash, 1 to MOST_HELD bytes. Less than a block is
 * filled up with zeros. A kernel's loads of blocks find all their bytes in one store. */
EVC_INLINE void hold_aad(struct evc_gcm_state *state, const uint8_t *aad, size_t len_bytes)
{
    uint8_t *const to = held_of(state);

    set_used_and_marks(state, (uint32_t)len_bytes, MARKS_OF_START);
    if (len_bytes >= 16) {
        memcpy(to, aad, 16);
        if (len_bytes == 16)
            return;
        memcpy(to + HELD_END, aad + len_bytes - 16, 16);
        if (len_bytes > 32)
            memcpy(to + 16, aad + 16, 16);
        if (len_bytes > 48)
            memcpy(to + 32, aad + 32, 16);
    } else if (len_bytes > 8) {
        evc_store64x2_le(to, evc_load64_le(aad),
                         evc_load64_le(aad + len_bytes - 8) >> (0 - 8 * len_bytes) % 64);
    } else {
        evc_store64x2_le(to, load_short(aad, len_bytes), 0);
    }
}

/* Associated data that can wait behind other. */
EVC_INLINE void copy_aad(struct evc_gcm_state *state, const uint8_t *aad, size_t len_bytes)
{
    if (!len_bytes)
        return;
    if (state->form == HOLDS_ONLY) {
        join_held(state);
        memcpy(held_of(state) + state->used, aad, len_bytes);
        state->used += (uint32_t)len_bytes;
        part_held(state); /* behind less than a block there are zeros already */
    } else {
        memcpy(state->block + state->used, aad, len_bytes);
        state->used += (uint32_t)len_bytes;
        state->aad_bytes += len_bytes;
    }
}

/* Memory that no start has written must not lead beyond the state's block and key stream, nor to
 * lengths that no message has: of associated data, their upper bits tell kernels where it lies. A
 * tag leaves `used` as it was before the text; nothing reads it then. */
EVC_INLINE int is_sound(const struct evc_gcm_state *state)
{
    if (state->phase > EVC_PHASE_TEXT || state->form > HOLDS_ONLY)
        return 0;
    if (state->form != HOLDS_ONLY &&
        (state->aad_bytes > EVC_GCM_MAX_AAD || state->text_bytes > EVC_GCM_MAX_TEXT))
        return 0;
    return may_wait(state, state->used) || (state->form == TAG && state->phase == EVC_PHASE_TEXT);
}

/* Associated data, the first, of which all but the last block is hashed at once; clears. */
EVC_INLINE enum evc_status hash_aad_before_text(const union evc_gcm_key *key,
                                                struct evc_gcm_state *state, const uint8_t *aad,
                                                size_t len_bytes)
{
    state->aad_bytes = len_bytes;
    state->text_bytes = 0;
    set_used_and_marks(state, (uint32_t)((len_bytes - 1) % 16 + 1), MARKS_BEHIND_AAD);
    return key->head.kernel->hash_aad(key, state->y, aad, len_bytes);
}

EVC_OUT_OF_LINE enum evc_status aad_checked(const union evc_gcm_key *key,
                                            struct evc_gcm_state *state, const uint8_t *aad,
                                            size_t len_bytes)
{
    if (!key->head.kernel)
        return EVC_ERR_KERNEL;
    if (state->phase != EVC_PHASE_AAD)
        return EVC_ERR_STATE;
    if (!is_sound(state))
        return EVC_ERR_STATE;
    if (len_bytes > EVC_GCM_MAX_AAD - (state->form == HOLDS_ONLY ? state->used : state->aad_bytes))
        return EVC_ERR_LENGTH;
    if (may_wait(state, state->used + (uint64_t)len_bytes)) {
        copy_aad(state, aad, len_bytes);
        return EVC_OK;
    }
    if (state->form == HOLDS_ONLY)
        hold_no_more(key, state);
    take_aad(key, state, aad, len_bytes);
    clear(key);
    return EVC_OK;
}

/* Associated data, the first, more than MOST_HELD bytes. */
EVC_OUT_OF_LINE enum evc_status long_aad(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                         const uint8_t *aad, size_t len_bytes)
{
    const uint64_t all_bytes = len_bytes; /* a size may have 32 bits */

    if (all_bytes > EVC_GCM_MAX_AAD || !key->head.kernel->hash_aad)
        return aad_checked(key, state, aad, len_bytes);
    return hash_aad_before_text(key, state, aad, len_bytes);
}

enum evc_status evc_gcm_aad(const union evc_gcm_key *key, struct evc_gcm_state *state,
                            const uint8_t *aad, size_t len_bytes)
{
    if (!key->head.kernel || used_with_marks(state, MARKS_OF_START) != 0)
        return aad_checked(key, state, aad, len_bytes);
    if (len_bytes > MOST_HELD)
        return long_aad(key, state, aad, len_bytes);
    if (len_bytes)
        hold_aad(state, aad, len_bytes);
    return EVC_OK;
}

/* ---- The text -------------------------------------------------------------------------------- */

/* n bytes within the block begun, whose key stream is there. */
static void part_of_block(const union evc_gcm_key *key, struct evc_gcm_state *state,
                          const uint8_t *in, uint8_t *out, size_t n, int sealing)
{
    uint8_t *block = state->block + state->used;

    if (!sealing)
        memcpy(block, in, n);
    evc_xor(out, in, state->stream + state->used, n);
    if (sealing)
        memcpy(block, out, n);
    state->used += (uint32_t)n;
    if (state->used == 16)
        end_block(key, state);
}

/* Whether a kernel, if there is one, handles the first piece of text as a whole message. */
EVC_INLINE int takes_whole(const struct evc_gcm *kernel, uint8_t direction)
{
    return kernel &&
           (direction == EVC_DIRECTION_SEAL ? !!kernel->seal : !!kernel->open_telling_tag);
}

/* Whether a first piece of text can be handled so: nothing is hashed yet. */
EVC_INLINE int can_be_whole(const union evc_gcm_key *key, const struct evc_gcm_state *state,
                            uint8_t direction)
{
    return used_with_marks(state, MARKS_OF_START) <= MOST_HELD &&
           takes_whole(key->head.kernel, direction);
}

/* The same of text behind associated data that is hashed but for the last block. */
EVC_INLINE int can_be_whole_behind_aad(const union evc_gcm_key *key,
                                       const struct evc_gcm_state *state, uint8_t direction)
{
    return used_with_marks(state, MARKS_BEHIND_AAD) - 1 < 16 && state->aad_bytes <= EVC_GCM_MAX_AAD
           && takes_whole(key->head.kernel, direction);
}

/* The first piece of text, with such associated data, whose tag goes to y; clears. Both
 * operations return EVC_OK. */
EVC_INLINE enum evc_status crypt_as_whole(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                          const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                          uint8_t *out, size_t len_bytes, uint8_t direction)
{
    const struct evc_gcm *kernel = key->head.kernel;

    set_marks(state, MARKS_OF_TAG(direction));
    state->text_bytes = len_bytes;
    return (direction == EVC_DIRECTION_SEAL ? kernel->seal : kernel->open_telling_tag)(
        key, state->j0, 12, aad, aad_bytes, in, out, len_bytes, state->y, 16);
}

/* The same for kernels without `hash_aad`: as a message whose associated data is one block, the
 * last plus the hash of those before it. Its tag is the right one but for the lengths: they differ
 * by d, and the tags by d * H. */
EVC_OUT_OF_LINE enum evc_status crypt_behind_aad(const union evc_gcm_key *key,
                                                 struct evc_gcm_state *state, const uint8_t *in,
                                                 uint8_t *out, size_t len_bytes, uint8_t direction)
{
    uint8_t lengths[16];
    enum evc_status status;

    evc_xor16(state->block, state->block, state->y);
    store_lengths(lengths, state->aad_bytes ^ 16, 0);
    memset(state->stream, 0, 16);
    key->head.kernel->hash(key, state->stream, lengths, 1);
    status = crypt_as_whole(key, state, state->block, 16, in, out, len_bytes, direction);
    evc_xor16(state->y, state->y, state->stream);
    clear_secret_inputs();
    clear_short(key);
    return status;
}

/* More text follows a piece that was handled as a whole message. */
EVC_INLINE void go_on_behind_whole(const union evc_gcm_key *key, struct evc_gcm_state *state)
{
    const struct evc_gcm *kernel = key->head.kernel;
    uint8_t mask[16], lengths[16];

    write_counters(state);
    kernel->encrypt(key, state->j0, mask, 1);
    evc_xor16(state->y, state->y, mask);
    store_lengths(lengths, state->aad_bytes, state->text_bytes);
    hash_behind(key, state, lengths, 1);
    state->used = (uint32_t)(state->text_bytes % 16);
    state->form = state->used ? HASH_TIMES_H_IN_BLOCK : HASH_TIMES_H;
    evc_store32_be(state->counter + 12, 2 + (uint32_t)(state->text_bytes / 16));
    memset(state->block, 0, 16);
    if (state->used) {
        kernel->encrypt(key, state->counter, state->stream, 1);
        evc_store32_be(state->counter + 12, evc_load32_be(state->counter + 12) + 1);
    }
    evc_wipe(mask, sizeof mask);
}

/* len_bytes of text follow, in a form other than HASH. */
EVC_OUT_OF_LINE void go_on_to_text(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                   size_t len_bytes)
{
    if (state->form == HOLDS_ONLY)
        hold_no_more(key, state);
    else if (state->form == TAG && len_bytes)
        go_on_behind_whole(key, state);
}

/* n_blocks whole blocks of text, at least one. */
static void crypt_whole_blocks(const union evc_gcm_key *key, struct evc_gcm_state *state,
                               const uint8_t *in, uint8_t *out, size_t n_blocks, int sealing)
{
    const struct evc_gcm *kernel = key->head.kernel;

    if (state->form == HASH_TIMES_H) {
        uint8_t sum[16] = {0};
        (sealing ? kernel->seal_blocks : kernel->open_blocks)(key, state->counter, sum, in, out, 1);
        evc_xor16(state->y, state->y, sum);
        evc_wipe(sum, sizeof sum);
        state->form = HASH;
        in += 16, out += 16, n_blocks--;
    }
    if (n_blocks)
        (sealing ? kernel->seal_blocks : kernel->open_blocks)(key, state->counter, state->y, in,
                                                              out, n_blocks);
}

/* Inline, so that the frame of the caller, who clears, is next to those of the kernel. */
EVC_INLINE void crypt_text(const union evc_gcm_key *key, struct evc_gcm_state *state,
                           const uint8_t *in, uint8_t *out, size_t len_bytes, int sealing)
{
    const struct evc_gcm *kernel = key->head.kernel;
    size_t n;

    if (state->phase == EVC_PHASE_AAD) {
        end_block(key, state);
        end_aad(state);
    }
    state->text_bytes += len_bytes;
    if (state->used && len_bytes) {
        n = 16 - state->used < len_bytes ? 16 - state->used : len_bytes;
        part_of_block(key, state, in, out, n, sealing);
        in += n, out += n, len_bytes -= n;
    }
    n = len_bytes & ~(size_t)15;
    if (n) {
        crypt_whole_blocks(key, state, in, out, n / 16, sealing);
        in += n, out += n, len_bytes -= n;
    }
    if (len_bytes) {
        kernel->encrypt(key, state->counter, state->stream, 1);
        evc_store32_be(state->counter + 12, evc_load32_be(state->counter + 12) + 1);
        part_of_block(key, state, in, out, len_bytes, sealing);
    }
}

EVC_INLINE enum evc_status check_call(const union evc_gcm_key *key,
                                      const struct evc_gcm_state *state, uint32_t direction)
{
    if (!key->head.kernel)
        return EVC_ERR_KERNEL;
    if (state->phase == EVC_PHASE_NONE || !evc_direction_fits(state->direction, direction))
        return EVC_ERR_STATE;
    return is_sound(state) ? EVC_OK : EVC_ERR_STATE;
}

EVC_OUT_OF_LINE enum evc_status update_checked(const union evc_gcm_key *key,
                                               struct evc_gcm_state *state, const uint8_t *in,
                                               uint8_t *out, size_t len_bytes, uint8_t direction)
{
    const enum evc_status status = check_call(key, state, direction);

    if (status != EVC_OK)
        return status;
    if (len_bytes > EVC_GCM_MAX_TEXT - (state->form == HOLDS_ONLY ? 0 : state->text_bytes))
        return EVC_ERR_LENGTH;
    in = evc_input(in, out, len_bytes);
    if (state->form != HASH) {
        if (state->form == HOLDS_ONLY && len_bytes && can_be_whole(key, state, direction)) {
            join_held(state);
            state->aad_bytes = state->used;
            return crypt_as_whole(key, state, held_of(state), state->used, in, out, len_bytes,
                                  direction);
        }
        go_on_to_text(key, state, len_bytes);
    } else if (len_bytes && can_be_whole_behind_aad(key, state, direction)
               && (!key->head.ghash_at || len_bytes <= 16 * (FIRST_BLOCKS - 1))) {
        /* A pair saves a batch of AES. */
        return crypt_behind_aad(key, state, in, out, len_bytes, direction);
    }
    if (state->direction != direction) /* the next call reads a word, which would wait for a byte */
        state->direction = direction;
    crypt_text(key, state, in, out, len_bytes, direction & EVC_DIRECTION_SEAL);
    if (!state->short_iv)
        clear_secret_inputs();
    clear(key);
    return EVC_OK;
}

/* A first piece by few comparisons: all else is checked out of line. */
#define USUAL_BYTES 0x7fffffff

EVC_INLINE enum evc_status update(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                  const uint8_t *in, uint8_t *out, size_t len_bytes,
                                  uint8_t direction)
{
    const struct evc_gcm *const kernel = key->head.kernel;
    const uint64_t held_bytes = used_with_marks(state, MARKS_OF_START);

    if (evc_overlap_in_part(in, out, len_bytes))
        return update_checked(key, state, in, out, len_bytes, direction);
    if (held_bytes <= MOST_HELD) {
        if (takes_whole(kernel, direction) && len_bytes - 1 < USUAL_BYTES
            && (held_bytes <= 16 || len_bytes <= kernel->held_text)) {
            state->aad_bytes = held_bytes;
            /* The mark stands on 1 byte and more. */
            return crypt_as_whole(key, state, held_of(state),
                                  (size_t)held_bytes |
                                      ((0 - (size_t)held_bytes) & kernel->held_aad),
                                  in, out, len_bytes, direction);
        }
    } else if (can_be_whole_behind_aad(key, state, direction) && len_bytes - 1 < USUAL_BYTES &&
               kernel->hash_aad) {
        return crypt_as_whole(key, state, state->block,
                              (size_t)state->aad_bytes | EVC_GCM_HASHED_AAD, in, out, len_bytes,
                              direction);
    }
    return update_checked(key, state, in, out, len_bytes, direction);
}

enum evc_status evc_gcm_seal_update(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                    const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    return update(key, state, in, out, len_bytes, EVC_DIRECTION_SEAL);
}

enum evc_status evc_gcm_open_update(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                    const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    return update(key, state, in, out, len_bytes, EVC_DIRECTION_OPEN);
}

/* ---- The tag --------------------------------------------------------------------------------- */

static int tag_fits(size_t tag_bytes) /* section 5.2.1.2 */
{
    return (tag_bytes >= 12 && tag_bytes <= 16) || tag_bytes == 8 || tag_bytes == 4;
}

/* After end_message, and nothing else. form: before it. A tag that was there
 * before needs no clearing. */
EVC_INLINE void clear_tag(const union evc_gcm_key *key, uint8_t form)
{
    if (form == TAG)
        return;
    if (form == HOLDS_ONLY)
        clear(key);
    else
        clear_short(key);
}

/* The tag, whole, in state->y, if it is not there yet. The block begun and the lengths are hashed
 * in one call, beside the encryption of J_0. */
static void end_message(const union evc_gcm_key *key, struct evc_gcm_state *state)
{
    uint8_t last[32] = {0}, mask[16];
    size_t n;

    if (state->form == HOLDS_ONLY)
        hold_no_more(key, state);
    if (state->form == HASH_TIMES_H)
        end_block(key, state);
    if (state->phase == EVC_PHASE_AAD)
        end_aad(state);
    n = state->used ? 2 : 1;
    memcpy(last, state->block, state->used);
    store_lengths(last + 16 * n - 16, state->aad_bytes, state->text_bytes);
    key->head.kernel->encrypt(key, state->j0, mask, 1);
    if (state->form == HASH)
        key->head.kernel->hash(key, state->y, last, n);
    else
        hash_behind(key, state, last, n);
    evc_xor16(state->y, state->y, mask);
    evc_wipe(mask, sizeof mask);
}

EVC_OUT_OF_LINE enum evc_status seal_finish_checked(const union evc_gcm_key *key,
                                                    struct evc_gcm_state *state, uint8_t *tag,
                                                    size_t tag_bytes)
{
    const enum evc_status status = check_call(key, state, EVC_DIRECTION_SEAL);
    const uint8_t form = state->form;

    if (status != EVC_OK)
        return status;
    if (!tag_fits(tag_bytes))
        return EVC_ERR_TAG_SIZE;
    if (form != TAG)
        end_message(key, state);
    if (tag_bytes == 16)
        memcpy(tag, state->y, 16);
    else
        memcpy(tag, state->y, tag_bytes);
    evc_wipe(state, sizeof *state);
    clear_tag(key, form);
    return EVC_OK;
}

EVC_OUT_OF_LINE enum evc_status open_finish_checked(const union evc_gcm_key *key,
                                                    struct evc_gcm_state *state, const uint8_t *tag,
                                                    size_t tag_bytes)
{
    enum evc_status status = check_call(key, state, EVC_DIRECTION_OPEN);
    const uint8_t form = state->form;

    if (status != EVC_OK)
        return status;
    if (!tag_fits(tag_bytes))
        return EVC_ERR_TAG_SIZE;
    if (form != TAG)
        end_message(key, state);
    status = compare(state->y, tag, tag_bytes);
    evc_wipe(state, sizeof *state);
    clear_tag(key, form);
    return status;
}

/* The usual case: a tag of 16 bytes that is there. */
enum evc_status evc_gcm_seal_finish(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                    uint8_t *tag, size_t tag_bytes)
{
    if (!key->head.kernel || !has_marks(state, MARKS_OF_TAG(EVC_DIRECTION_SEAL)) || tag_bytes != 16)
        return seal_finish_checked(key, state, tag, tag_bytes);
    memcpy(tag, state->y, 16);
    wipe_state(state);
    return EVC_OK;
}

enum evc_status evc_gcm_open_finish(const union evc_gcm_key *key, struct evc_gcm_state *state,
                                    const uint8_t *tag, size_t tag_bytes)
{
    enum evc_status status;

    if (!key->head.kernel || !has_marks(state, MARKS_OF_TAG(EVC_DIRECTION_OPEN)) || tag_bytes != 16)
        return open_finish_checked(key, state, tag, tag_bytes);
    status = compare16(state->y, tag);
    wipe_state(state);
    return status;
}

/* ---- In one call ----------------------------------------------------------------------------- */

static enum evc_status check_message(const union evc_gcm_key *key, uint64_t iv_bytes,
                                     uint64_t aad_bytes, uint64_t len_bytes, size_t tag_bytes)
{
    if (!key->head.kernel)
        return EVC_ERR_KERNEL;
    if (!iv_fits(iv_bytes))
        return EVC_ERR_NONCE_SIZE;
    if (!tag_fits(tag_bytes))
        return EVC_ERR_TAG_SIZE;
    if (aad_bytes > EVC_GCM_MAX_AAD || len_bytes > EVC_GCM_MAX_TEXT)
        return EVC_ERR_LENGTH;
    return EVC_OK;
}

/* A message whose sizes are checked, piece by piece; computed: its tag. */
EVC_INLINE void crypt_message(const union evc_gcm_key *key, const uint8_t *iv, size_t iv_bytes,
                          const uint8_t *aad, size_t aad_bytes, const uint8_t *in, uint8_t *out,
                          size_t len_bytes, uint8_t computed[16], int sealing)
{
    struct evc_gcm_state state;

    start(key, &state, iv, iv_bytes);
    take_aad(key, &state, aad, aad_bytes);
    crypt_text(key, &state, in, out, len_bytes, sealing);
    end_message(key, &state);
    memcpy(computed, state.y, 16);
    evc_wipe(&state, sizeof state);
    if (iv_bytes != 12)
        clear_secret_inputs();
}

EVC_OUT_OF_LINE enum evc_status seal_composed(const union evc_gcm_key *key, const uint8_t *iv,
                                              size_t iv_bytes, const uint8_t *aad, size_t aad_bytes,
                                              const uint8_t *in, uint8_t *out, size_t len_bytes,
                                              uint8_t *tag, size_t tag_bytes)
{
    uint8_t computed[16];

    crypt_message(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, computed, 1);
    memcpy(tag, computed, tag_bytes);
    evc_wipe(computed, sizeof computed); /* of a short tag, the bytes that are not told */
    clear(key);
    return EVC_OK;
}

EVC_OUT_OF_LINE enum evc_status open_composed(const union evc_gcm_key *key, const uint8_t *iv,
                                              size_t iv_bytes, const uint8_t *aad, size_t aad_bytes,
                                              const uint8_t *in, uint8_t *out, size_t len_bytes,
                                              const uint8_t *tag, size_t tag_bytes)
{
    uint8_t computed[16];
    enum evc_status status;

    crypt_message(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, computed, 0);
    status = compare(computed, tag, tag_bytes);
    evc_wipe(computed, sizeof computed); /* of a forgery, the tag that would have been right */
    clear(key);
    return status;
}

EVC_OUT_OF_LINE enum evc_status seal_checked(const union evc_gcm_key *key, const uint8_t *iv,
                                             size_t iv_bytes, const uint8_t *aad, size_t aad_bytes,
                                             const uint8_t *in, uint8_t *out, size_t len_bytes,
                                             uint8_t *tag, size_t tag_bytes)
{
    const enum evc_status status = check_message(key, iv_bytes, aad_bytes, len_bytes, tag_bytes);

    if (status != EVC_OK)
        return status;
    in = evc_input(in, out, len_bytes);
    if (key->head.kernel->seal && iv_bytes == 12)
        return key->head.kernel->seal(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag,
                                      tag_bytes);
    return seal_composed(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes);
}

EVC_OUT_OF_LINE enum evc_status open_checked(const union evc_gcm_key *key, const uint8_t *iv,
                                             size_t iv_bytes, const uint8_t *aad, size_t aad_bytes,
                                             const uint8_t *in, uint8_t *out, size_t len_bytes,
                                             const uint8_t *tag, size_t tag_bytes)
{
    const enum evc_status status = check_message(key, iv_bytes, aad_bytes, len_bytes, tag_bytes);

    if (status != EVC_OK)
        return status;
    in = evc_input(in, out, len_bytes);
    if (key->head.kernel->open && iv_bytes == 12)
        return key->head.kernel->open(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag,
                                      tag_bytes);
    return open_composed(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes);
}

/* The usual case by few comparisons: all else is checked out of line. The sizes are compared at
 * once, so that compilers do not store again what they know to be in its place. Inline at every
 * level: for a call GCC makes a frame at -Os, and fills it with a register in which a kernel
 * may have left a secret. */
EVC_INLINE int is_usual(const union evc_gcm_key *key, size_t iv_bytes, uint64_t aad_bytes,
                        const uint8_t *in, const uint8_t *out, size_t len_bytes, size_t tag_bytes)
{
    const uint64_t sizes = (iv_bytes ^ 12) | (tag_bytes ^ 16) | (aad_bytes | len_bytes) >> 35;

    return key->head.kernel && !sizes && !evc_overlap_in_part(in, out, len_bytes);
}

enum evc_status evc_gcm_seal(const union evc_gcm_key *key, const uint8_t *iv, size_t iv_bytes,
                             const uint8_t *aad, size_t aad_bytes, const uint8_t *in, uint8_t *out,
                             size_t len_bytes, uint8_t *tag, size_t tag_bytes)
{
    if (is_usual(key, iv_bytes, aad_bytes, in, out, len_bytes, tag_bytes) && key->head.kernel->seal)
        return key->head.kernel->seal(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag,
                                      tag_bytes);
    return seal_checked(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes);
}

enum evc_status evc_gcm_open(const union evc_gcm_key *key, const uint8_t *iv, size_t iv_bytes,
                             const uint8_t *aad, size_t aad_bytes, const uint8_t *in, uint8_t *out,
                             size_t len_bytes, const uint8_t *tag, size_t tag_bytes)
{
    enum evc_status status;

    if (is_usual(key, iv_bytes, aad_bytes, in, out, len_bytes, tag_bytes) && key->head.kernel->open)
        status = key->head.kernel->open(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag,
                                        tag_bytes);
    else
        status =
            open_checked(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes);
    evc_public(&status, sizeof status); /* the caller learns it */
    if (status == EVC_ERR_TAG && len_bytes)
        evc_wipe(out, len_bytes);
    return status;
}

/* ---- Many messages --------------------------------------------------------------------------- */

enum evc_status evc_gcm_seal_many(const union evc_gcm_key *key, struct evc_gcm_msg *msgs, size_t n)
{
    enum evc_status first = EVC_OK;

    for (size_t i = 0; i < n; i++) {
        struct evc_gcm_msg *m = &msgs[i];
        m->status = evc_gcm_seal(key, m->iv, m->iv_bytes, m->aad, m->aad_bytes, m->in, m->out,
                                 m->len_bytes, m->tag, m->tag_bytes);
        first = first == EVC_OK ? m->status : first;
    }
    return first;
}

enum evc_status evc_gcm_open_many(const union evc_gcm_key *key, struct evc_gcm_msg *msgs, size_t n)
{
    enum evc_status first = EVC_OK;

    for (size_t i = 0; i < n; i++) {
        struct evc_gcm_msg *m = &msgs[i];
        m->status = evc_gcm_open(key, m->iv, m->iv_bytes, m->aad, m->aad_bytes, m->in, m->out,
                                 m->len_bytes, m->tag, m->tag_bytes);
        first = first == EVC_OK ? m->status : first;
    }
    return first;
}

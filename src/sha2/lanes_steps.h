/* SPDX-License-Identifier: MIT */
/*
 * SHA-2 of many messages in one file's type of vectors: each vector has a word of each message.
 * Included once for each of SHA-256 and SHA-512, after these definitions:
 *   VEC                           a vector of words; load_row and store_row move it
 *   BITS, N_ROUNDS, CONSTANTS     of a word; of the hash; the words that rounds add
 *   ADD, XOR, CH, MAJ, EACH(k)    operations on each word; k in all
 *   BIG0, BIG1, SMALL0, SMALL1    the functions of the standard that are written with a sigma
 *   LOAD_WORDS(w, in, at)         writes the 16 words at in[i] + at of each message to rows w
 *   BLOCKS_MANY, ITERATE_MANY     names of the slots
 *
 * Method:   variables change their names instead of their values; the message schedule is a ring of
 *           16 vectors. A row is a vector in memory.
 */
#define NAME_(prefix, bits) prefix##bits
#define NAME(prefix, bits) NAME_(prefix, bits)
#define NAME_T_(bits) uint##bits##_t
#define NAME_T(bits) NAME_T_(bits)
#define ROW_BYTES sizeof(VEC)

#define ROW(rows, i) ((rows) + (i)*ROW_BYTES)
#define WORD(t) load_row(ROW(w, (t)&15))

/* w: the words of a block, rows too; the first eight become the words behind the block, and the
 * others change. start: the words before it. */
EVC_OUT_OF_LINE void NAME(hash_words, BITS)(const uint8_t *start, uint8_t *w)
{
    const NAME_T(BITS) *k = CONSTANTS; /* i: the standard's h, which is a name of ONE_ROUND */
    VEC a = load_row(start), b = load_row(ROW(start, 1)), c = load_row(ROW(start, 2)),
        d = load_row(ROW(start, 3)), e = load_row(ROW(start, 4)), f = load_row(ROW(start, 5)),
        g = load_row(ROW(start, 6)), i = load_row(ROW(start, 7));

/* Loads stay in their rounds, and a new word is stored before its round: compilers would keep what
 * they load or compute early on the stack. */
#define ONE_ROUND(a, b, c, d, e, f, g, h, t, PREPARE)                         \
    do {                                                                      \
        PREPARE(t);                                                           \
        h = ADD(ADD(h, ADD(WORD(t), EACH(k[t]))), ADD(BIG1(e), CH(e, f, g))); \
        d = ADD(d, h);                                                        \
        h = ADD(h, ADD(BIG0(a), MAJ(a, b, c)));                               \
        EVC_KEEP_MEMORY(w);                                                   \
    } while (0)
#define READY(t) (void)0
#define NEXT(t)                                                         \
    store_row(ROW(w, t),                                                \
              ADD(ADD(WORD(t), WORD((t) + 9)),                          \
                  ADD(SMALL1(WORD((t) + 14)), SMALL0(WORD((t) + 1))))); \
    EVC_KEEP_MEMORY(w)
#define EIGHT(PREPARE, t)                                \
    ONE_ROUND(a, b, c, d, e, f, g, i, (t) + 0, PREPARE); \
    ONE_ROUND(i, a, b, c, d, e, f, g, (t) + 1, PREPARE); \
    ONE_ROUND(g, i, a, b, c, d, e, f, (t) + 2, PREPARE); \
    ONE_ROUND(f, g, i, a, b, c, d, e, (t) + 3, PREPARE); \
    ONE_ROUND(e, f, g, i, a, b, c, d, (t) + 4, PREPARE); \
    ONE_ROUND(d, e, f, g, i, a, b, c, (t) + 5, PREPARE); \
    ONE_ROUND(c, d, e, f, g, i, a, b, (t) + 6, PREPARE); \
    ONE_ROUND(b, c, d, e, f, g, i, a, (t) + 7, PREPARE)
    EVC_KEEP(w);
    EVC_KEEP(k); /* words of the table, not immediate values that take more instructions */
    EIGHT(READY, 0);
    EIGHT(READY, 8);
    for (int turn = 16; turn < N_ROUNDS; turn += 16) {
        k += 16;
        EIGHT(NEXT, 0);
        EIGHT(NEXT, 8);
    }
#undef ONE_ROUND
#undef READY
#undef NEXT
#undef EIGHT
    store_row(w, ADD(a, load_row(start)));
    store_row(ROW(w, 1), ADD(b, load_row(ROW(start, 1))));
    store_row(ROW(w, 2), ADD(c, load_row(ROW(start, 2))));
    store_row(ROW(w, 3), ADD(d, load_row(ROW(start, 3))));
    store_row(ROW(w, 4), ADD(e, load_row(ROW(start, 4))));
    store_row(ROW(w, 5), ADD(f, load_row(ROW(start, 5))));
    store_row(ROW(w, 6), ADD(g, load_row(ROW(start, 6))));
    store_row(ROW(w, 7), ADD(i, load_row(ROW(start, 7))));
}

static void BLOCKS_MANY(void *h, const uint8_t *const in[], size_t n_blocks)
{
    uint8_t *const w = ROW((uint8_t *)h, 8);

    for (size_t n = 0; n < n_blocks; n++) {
        LOAD_WORDS(w, in, n * (BITS * 2));
        NAME(hash_words, BITS)(h, w);
        for (size_t i = 0; i < 8; i++)
            store_row(ROW((uint8_t *)h, i), load_row(ROW(w, i)));
    }
    CLEAR_MANY();
}

/* Both hashes of HMAC are of one block, whose padding stays. */
static void ITERATE_MANY(void *vrows, size_t n_words, uint32_t n)
{
    uint8_t *const rows = vrows, *const block = ROW(rows, EVC_SHA2_ROW_BLOCK),
                   *const sum = ROW(rows, EVC_SHA2_ROW_SUM),
                   *const w = ROW(rows, EVC_SHA2_ROWS - 16);

    for (; n; n--) {
        for (size_t i = 0; i < 16; i++)
            store_row(ROW(w, i), load_row(ROW(block, i)));
        NAME(hash_words, BITS)(ROW(rows, EVC_SHA2_ROW_INNER), w);
        for (size_t i = n_words; i < 16; i++)
            store_row(ROW(w, i), load_row(ROW(block, i)));
        NAME(hash_words, BITS)(ROW(rows, EVC_SHA2_ROW_OUTER), w);
        for (size_t i = 0; i < n_words; i++) {
            const VEC word = load_row(ROW(w, i));
            store_row(ROW(block, i), word);
            store_row(ROW(sum, i), XOR(load_row(ROW(sum, i)), word));
        }
    }
    CLEAR_MANY();
}
#undef NAME_
#undef NAME
#undef NAME_T_
#undef NAME_T
#undef ROW
#undef WORD
#undef ROW_BYTES
#undef VEC
#undef BITS
#undef N_ROUNDS
#undef CONSTANTS
#undef ADD
#undef EACH
#undef BIG0
#undef BIG1
#undef SMALL0
#undef SMALL1
#undef LOAD_WORDS
#undef BLOCKS_MANY
#undef ITERATE_MANY

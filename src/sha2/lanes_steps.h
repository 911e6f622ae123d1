/* SPDX-License-Identifier: MIT */
/*
 * SHA-2 of many messages in one file's type of vectors: each vector has a word of each message.
 * Included once for each of SHA-256 and SHA-512, after these definitions:
 *   VEC                           a vector of words; load_row and store_row move it
 *   N_REGISTERS                   for vectors: 16 or 32
 *   BITS, N_ROUNDS, CONSTANTS     of a word; of the hash; the words that rounds add
 *   ADD, SUB, CH, MAJ, EACH(k)    operations on each word; k in all. XOR: of all bits
 *   BIG0, BIG1, SMALL0, SMALL1    the functions of the standard that are written with a sigma
 *   BLOCKS_MANY, ITERATE_MANY     names of the slots
 * With 16 registers also:
 *   LOAD_WORDS(w, in, at)         writes the 16 words at in[i] + at of each message to rows w
 * With 32:
 *   READ_ROW(in, at, t)           row number t of what is read there: words of one message
 *   MIX_FOUR(w), MIX(w)           make the rows of words of such rows: first the one, of each four
 *                                 rows; then the other, of all
 *
 * Method:   variables change their names instead of their values; the message schedule is a ring of
 *           16 vectors, in registers if there are 32. A row is a vector in memory.
 *           A round waits for the one before. The next e is ((h + w + k + d) + Ch) + Sigma1(e), and
 *           the next a is that - d + Maj + Sigma0(a): with one sum more than the standard has, the
 *           last operation of both is the sum with what takes longest. Words of the schedule are
 *           computed 16 rounds before they are used. The last 16 rounds have none to compute: with
 *           32 registers they read the next block in place of the words that they have used.
 */
#define NAME_(prefix, bits) prefix##bits
#define NAME(prefix, bits) NAME_(prefix, bits)
#define NAME_T_(bits) uint##bits##_t
#define NAME_T(bits) NAME_T_(bits)
#define ROW_BYTES sizeof(VEC)

#define ROW(rows, i) ((rows) + (i)*ROW_BYTES)

/* Compilers do not know how x was computed: they would add in another order. */
#if EVC_GNU_C
#define KEEP_ORDER(x) __asm__ volatile("" : "+v"(x))
#else
#define KEEP_ORDER(x) ((void)0)
#endif

/* Words in memory are loaded and stored in their rounds: compilers would keep what they load or
 * compute early on the stack. */
#if N_REGISTERS == 32
#define WORD(t) w[(t)&15]
#define SET_WORD(t, x) w[t] = x
#define END_ROUND(t) KEEP_ORDER(w[t])
#else
#define WORD(t) load_row(ROW(w, (t)&15))
#define SET_WORD(t, x) store_row(ROW(w, t), x)
#define END_ROUND(t) EVC_KEEP_MEMORY(w)
#endif

#define SUM(x, y)      \
    do {               \
        x = ADD(x, y); \
        KEEP_ORDER(x); \
    } while (0)
/* The new e takes the place of h, and the new a that of d. THEN(t) follows the round. */
#define ONE_ROUND(a, b, c, d, e, f, g, h, t, THEN) \
    do {                                           \
        h = ADD(h, ADD(WORD(t), EACH(k[t])));      \
        SUM(h, d);                                 \
        SUM(h, CH(e, f, g));                       \
        SUM(h, BIG1(e));                           \
        d = SUB(h, d);                             \
        SUM(d, MAJ(a, b, c));                      \
        SUM(d, BIG0(a));                           \
        THEN(t);                                   \
        END_ROUND(t);                              \
    } while (0)
/* Four rounds bring the words of the hash back to their places. */
#define FOUR_ROUNDS(t, THEN)                                                  \
    ONE_ROUND(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], (t), THEN);     \
    ONE_ROUND(s[3], s[0], s[1], s[2], s[7], s[4], s[5], s[6], (t) + 1, THEN); \
    ONE_ROUND(s[2], s[3], s[0], s[1], s[6], s[7], s[4], s[5], (t) + 2, THEN); \
    ONE_ROUND(s[1], s[2], s[3], s[0], s[5], s[6], s[7], s[4], (t) + 3, THEN)
#define SIXTEEN_ROUNDS(THEN) \
    FOUR_ROUNDS(0, THEN);    \
    FOUR_ROUNDS(4, THEN);    \
    FOUR_ROUNDS(8, THEN);    \
    FOUR_ROUNDS(12, THEN)
#define NEXT_WORD(t) \
    SET_WORD(t,      \
             ADD(ADD(ADD(WORD(t), WORD((t) + 9)), SMALL0(WORD((t) + 1))), SMALL1(WORD((t) + 14))))
#define NOTHING(t) (void)0

/* All rounds; THEN: after the last 16. k points to words of the table: immediate values would take
 * more instructions. */
#define HASH_BLOCK(THEN)                                   \
    do {                                                   \
        const NAME_T(BITS) *k = CONSTANTS;                 \
        EVC_KEEP(k);                                       \
        for (int turn = 16; turn < N_ROUNDS; turn += 16) { \
            SIXTEEN_ROUNDS(NEXT_WORD);                     \
            k += 16;                                       \
        }                                                  \
        SIXTEEN_ROUNDS(THEN);                              \
    } while (0)

/* A loop over registers, unrolled: compilers may put arrays into memory that loops index. */
#define EACH_OF_8(DO, i) \
    DO((i) + 0);         \
    DO((i) + 1);         \
    DO((i) + 2);         \
    DO((i) + 3);         \
    DO((i) + 4);         \
    DO((i) + 5);         \
    DO((i) + 6);         \
    DO((i) + 7)
#define LOAD_HASH(i) s[i] = load_row(ROW(h, i))
#define ADD_HASH(i) s[i] = ADD(s[i], load_row(ROW(h, i)))
#define STORE_HASH(i) store_row(ROW(h, i), s[i])
#define LOAD_WORD(t) w[t] = load_row(ROW(words, t))
#define STORE_WORD(t) store_row(ROW(words, t), s[t])

/* words: rows of a block; the first eight become the words behind the block, and the others change.
 * h: the words before it. */
EVC_OUT_OF_LINE void NAME(hash_words, BITS)(const uint8_t *h, uint8_t *words)
{
    VEC s[8];
#if N_REGISTERS == 32
    VEC w[16];

    EACH_OF_8(LOAD_WORD, 0);
    EACH_OF_8(LOAD_WORD, 8);
#else
    uint8_t *w = words;

    EVC_KEEP(w);
#endif
    EACH_OF_8(LOAD_HASH, 0);
    HASH_BLOCK(NOTHING);
    EVC_KEEP_MEMORY(h); /* compilers would keep the words of the hash on the stack, too */
    EACH_OF_8(ADD_HASH, 0);
    EACH_OF_8(STORE_WORD, 0);
}

#if N_REGISTERS == 32
#define READ_NEXT(t)                \
    do {                            \
        w[t] = READ_ROW(in, at, t); \
        if ((t) % 4 == 3)           \
            MIX_FOUR(w + (t)-3);    \
    } while (0)

static void BLOCKS_MANY(void *rows, const uint8_t *const in[], size_t n_blocks)
{
    uint8_t *const h = rows;
    size_t at = 0;
    VEC s[8], w[16];

    EACH_OF_8(LOAD_HASH, 0);
    EACH_OF_8(READ_NEXT, 0);
    EACH_OF_8(READ_NEXT, 8);
    for (; n_blocks; n_blocks--) {
        at += n_blocks > 1 ? BITS * 2 : 0; /* the last block is read once more */
        MIX(w);
        HASH_BLOCK(READ_NEXT);
        EVC_KEEP_MEMORY(h);
        EACH_OF_8(ADD_HASH, 0);
        EACH_OF_8(STORE_HASH, 0);
    }
    CLEAR_MANY();
}
#else
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
#endif

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
#undef ROW_BYTES
#undef ROW
#undef KEEP_ORDER
#undef WORD
#undef SET_WORD
#undef END_ROUND
#undef SUM
#undef ONE_ROUND
#undef FOUR_ROUNDS
#undef SIXTEEN_ROUNDS
#undef NEXT_WORD
#undef NOTHING
#undef HASH_BLOCK
#undef EACH_OF_8
#undef LOAD_HASH
#undef ADD_HASH
#undef STORE_HASH
#undef LOAD_WORD
#undef STORE_WORD
#undef READ_NEXT
#undef VEC
#undef N_REGISTERS
#undef BITS
#undef N_ROUNDS
#undef CONSTANTS
#undef ADD
#undef SUB
#undef EACH
#undef BIG0
#undef BIG1
#undef SMALL0
#undef SMALL1
#undef LOAD_WORDS
#undef READ_ROW
#undef MIX_FOUR
#undef MIX
#undef BLOCKS_MANY
#undef ITERATE_MANY

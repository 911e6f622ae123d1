/* SPDX-License-Identifier: MIT */
/*
 * The rules of public calls: src/common/call_table.h has a row for each, and this test walks them.
 * It breaks every rule of every row from every state in which the call is allowed, alone and
 * together with a rule of a later column, and expects the status of the first column and that
 * nothing is changed; then it makes the call at both ends of its limits. The limits are written
 * here a second time, from the standards. Calls are by one portable kernel, for the rules are the
 * business of the code above kernels; those of GCM by the fused kernels, too, since calls with
 * usual lengths are checked by fewer comparisons there.
 */
#include "tap.h"

#include "everycore/gcm.h"
#include "everycore/gcm_siv.h"
#include "everycore/modes.h"

enum { PAINT = 0xa5, TEXT_BYTES = 48, AAD_BYTES = 12, LONGEST = 5 };

/* The words of the table. */
enum { KEY_NO, KEY_AES, KEY_GHASH, KEY_XTS, KEY_CMAC, KEY_CCM, KEY_GCM, KEY_SIV };
enum { ANSWER_KW = KEY_SIV + 1, ANSWER_KWP, N_ANSWERS }; /* the others are those of a kind of key */
enum { FROM_NO, FROM_ANY, FROM_AAD, FROM_TEXT, FROM_BEGUN };
enum { TO_NO, TO_END, TO_AAD, TO_TEXT };
enum { WAY_SEAL = 1, WAY_OPEN = 2, WAY_BOTH = 3 };
enum { BUFFERS_NO, BUFFERS_READ, BUFFERS_MOVED, BUFFERS_MSGS };
enum {
#define LIMIT(name, least, most, multiple) LIMIT_##name,
#include "common/call_table.h"
    N_LIMITS
};

static const struct {
    uint64_t least, most;
    unsigned multiple;
} standards[N_LIMITS] = {
    [LIMIT_NO] = {0, 0, 1},
    [LIMIT_ANY] = {0, UINT64_MAX, 1},
    [LIMIT_BLOCKS] = {0, UINT64_MAX, 16},         /* SP 800-38A section 5.2: CBC */
    [LIMIT_AES_BITS] = {128, 256, 64},            /* FIPS 197 section 5 */
    [LIMIT_XTS_BITS] = {128, 256, 128},           /* IEEE 1619-2018 section 5.1 */
    [LIMIT_XTS_UNIT] = {16, 16777216, 1},         /* SP 800-38E section 4: 2^20 blocks */
    [LIMIT_XTS_PART] = {0, 16777216, 16},
    [LIMIT_KW_TEXT] = {16, UINT64_C(144115188075855864), 8}, /* SP 800-38F table 1: 2 to 2^54 - 1 */
    [LIMIT_KW_SEAL] = {24, UINT64_C(144115188075855872), 8}, /* semiblocks */
    [LIMIT_KWP_TEXT] = {1, UINT64_C(4294967295), 1},         /* 2^32 - 1 bytes */
    [LIMIT_KWP_SEAL] = {16, UINT64_C(4294967304), 8},
    [LIMIT_SIV_BITS] = {128, 256, 128},           /* RFC 8452 section 4 */
    [LIMIT_SIV_IV] = {12, 12, 1},
    [LIMIT_SIV_TAG] = {16, 16, 1},
    [LIMIT_SIV_MSG] = {0, UINT64_C(68719476736), 1},         /* section 6: 2^36 bytes */
    [LIMIT_SIV_BOTH] = {16, UINT64_C(68719476752), 1},
    [LIMIT_CMAC_TAG] = {8, 16, 1},                /* SP 800-38B appendix A.2 */
    [LIMIT_SHORT_CMAC_TAG] = {4, 7, 1},
    [LIMIT_CCM_IV] = {7, 13, 1},                  /* SP 800-38C appendix A.1 */
    [LIMIT_CCM_TAG] = {8, 16, 2},
    [LIMIT_SHORT_CCM_TAG] = {4, 6, 2},
    [LIMIT_CCM_TEXT] = {0, UINT64_MAX, 1},        /* over_by_nonce has it */
    [LIMIT_LEFT] = {0, UINT64_MAX, 1},
    [LIMIT_GCM_IV] = {1, UINT64_C(2305843009213693951), 1},  /* SP 800-38D section 5.2.1.1: */
    [LIMIT_GCM_AAD] = {0, UINT64_C(2305843009213693951), 1}, /* 2^64 - 1 bits */
    [LIMIT_SUM_AAD] = {0, UINT64_C(2305843009213693951), 1},
    [LIMIT_GCM_TEXT] = {0, UINT64_C(68719476704), 1},        /* 2^39 - 256 bits */
    [LIMIT_JOINED] = {16, UINT64_C(68719476720), 1},
    [LIMIT_GCM_TAG] = {12, 16, 1},                           /* section 5.2.1.2 */
    [LIMIT_SHORT_GCM_TAG] = {4, 8, 4},
};

static int fits(unsigned limit, uint64_t n)
{
    return n >= standards[limit].least && n <= standards[limit].most &&
           n % standards[limit].multiple == 0;
}

/* The first length of text that a nonce leaves no room for (SP 800-38C appendix A.1). */
static uint64_t over_by_nonce(size_t nonce_bytes)
{
    return (uint64_t)1 << (8 * (15 - nonce_bytes));
}

/* ---- All that a call may change, and its arguments ------------------------------------------- */

static struct world {
    union {
        union evc_aes_key aes;
        union evc_ghash_key ghash;
        struct evc_aes_xts_key xts;
        struct evc_aes_cmac_key cmac;
        struct evc_aes_ccm_key ccm;
        union evc_gcm_key gcm;
        struct evc_gcm_siv_key siv;
    } key;
    union {
        struct evc_aes_ctr ctr;
        struct evc_aes_xts xts;
        struct evc_aes_cmac cmac;
        struct evc_aes_ccm ccm;
        struct evc_gcm_state gcm;
    } s;
    uint8_t iv[16], out[TEXT_BYTES + 32], tag[32];
} w;

static struct {
    void *key;
    const uint8_t *iv, *aad, *in;
    uint8_t *out, *tag;
    size_t iv_bytes, aad_bytes, text_bytes, tag_bytes;
    struct evc_msg *msgs;
    struct evc_gcm_msg *gcm_msgs;
    uint64_t announced_bytes; /* of text, to evc_aes_ccm_start */
} a;

static const struct evc_gcm *fused; /* NULL: a pair */
static uint8_t aad[AAD_BYTES], plain[TEXT_BYTES + 16];
static uint8_t opened[N_ANSWERS][TEXT_BYTES + 16], right_tag[N_ANSWERS][16];
static uint8_t scratch[EVC_GCM_SIV_MOST_SCRATCH_BYTES]; /* wiped, so no part of the world */
static size_t kwp_bytes;
static const uint8_t user_key[64] = {1, 2, 3, [16] = 4, [24] = 5, [32] = 6};
static struct evc_msg msg;
static struct evc_gcm_msg gcm_msg;

#define AES evc_aes_named("c_ref")
#define GHASH evc_ghash_named("c_ref")

/* ---- The calls, by name ---------------------------------------------------------------------- */

#define GIVE(name, ...)                                                             \
    static enum evc_status call_##name(void) { return evc_##name(__VA_ARGS__); } \
    static const char words_##name[] = #__VA_ARGS__;
#define CRYPT a.in, a.out, a.text_bytes
#define WHOLE a.key, a.iv, a.iv_bytes, a.aad, a.aad_bytes, CRYPT

GIVE(aes_encrypt, a.key, a.in, a.out, a.text_bytes / 16)
GIVE(aes_decrypt, a.key, a.in, a.out, a.text_bytes / 16)
GIVE(aes_rebind, a.key, AES)
GIVE(aes_cbc_encrypt, a.key, w.iv, CRYPT)
GIVE(aes_cbc_decrypt, a.key, w.iv, CRYPT)
GIVE(aes_cbc_encrypt_many, a.key, a.msgs, 1)
GIVE(aes_cbcmac, a.key, w.iv, a.in, a.text_bytes)
GIVE(aes_ctr, a.key, w.iv, CRYPT)
GIVE(aes_ctr_start, &w.s.ctr, w.iv)
GIVE(aes_ctr_start32, &w.s.ctr, w.iv)
GIVE(aes_ctr_update, a.key, &w.s.ctr, CRYPT)
GIVE(aes_kw_wrap, a.key, CRYPT)
GIVE(aes_kw_unwrap, a.key, CRYPT)
GIVE(aes_kwp_wrap, a.key, CRYPT)
GIVE(aes_kwp_unwrap, a.key, CRYPT, &kwp_bytes)
GIVE(aes_xts_encrypt, a.key, w.iv, CRYPT)
GIVE(aes_xts_decrypt, a.key, w.iv, CRYPT)
GIVE(aes_xts_start, a.key, &w.s.xts, w.iv)
GIVE(aes_xts_encrypt_update, a.key, &w.s.xts, CRYPT)
GIVE(aes_xts_decrypt_update, a.key, &w.s.xts, CRYPT)
GIVE(aes_xts_encrypt_finish, a.key, &w.s.xts, CRYPT)
GIVE(aes_xts_decrypt_finish, a.key, &w.s.xts, CRYPT)
GIVE(aes_cmac_allow_short_tags, a.key)
GIVE(aes_cmac, a.key, a.in, a.text_bytes, a.tag, a.tag_bytes)
GIVE(aes_cmac_verify, a.key, a.in, a.text_bytes, a.tag, a.tag_bytes)
GIVE(aes_cmac_start, &w.s.cmac)
GIVE(aes_cmac_update, a.key, &w.s.cmac, a.in, a.text_bytes)
GIVE(aes_cmac_finish, a.key, &w.s.cmac, a.tag, a.tag_bytes)
GIVE(aes_cmac_finish_verify, a.key, &w.s.cmac, a.tag, a.tag_bytes)
GIVE(aes_cmac_many, a.key, a.msgs, 1)
GIVE(aes_ccm_allow_short_tags, a.key)
GIVE(aes_ccm_seal, WHOLE, a.tag, a.tag_bytes)
GIVE(aes_ccm_open, WHOLE, a.tag, a.tag_bytes)
GIVE(aes_ccm_seal_joined, WHOLE, a.tag_bytes)
GIVE(aes_ccm_open_joined, WHOLE + a.tag_bytes, a.tag_bytes)
GIVE(aes_ccm_start, a.key, &w.s.ccm, a.iv, a.iv_bytes, 0, a.announced_bytes, a.tag_bytes)
GIVE(aes_ccm_aad, a.key, &w.s.ccm, a.aad, a.aad_bytes)
GIVE(aes_ccm_seal_update, a.key, &w.s.ccm, CRYPT)
GIVE(aes_ccm_open_update, a.key, &w.s.ccm, CRYPT)
GIVE(aes_ccm_seal_finish, a.key, &w.s.ccm, a.tag)
GIVE(aes_ccm_open_finish, a.key, &w.s.ccm, a.tag)
GIVE(gcm_allow_short_tags, a.key)
GIVE(gcm_seal, WHOLE, a.tag, a.tag_bytes)
GIVE(gcm_open, WHOLE, a.tag, a.tag_bytes)
GIVE(gcm_seal_joined, WHOLE)
GIVE(gcm_open_joined, WHOLE)
GIVE(gcm_seal_many, a.key, a.gcm_msgs, 1)
GIVE(gcm_open_many, a.key, a.gcm_msgs, 1)
GIVE(gcm_start, a.key, &w.s.gcm, a.iv, a.iv_bytes)
GIVE(gcm_aad, a.key, &w.s.gcm, a.aad, a.aad_bytes)
GIVE(gcm_seal_update, a.key, &w.s.gcm, CRYPT)
GIVE(gcm_open_update, a.key, &w.s.gcm, CRYPT)
GIVE(gcm_seal_finish, a.key, &w.s.gcm, a.tag, a.tag_bytes)
GIVE(gcm_open_finish, a.key, &w.s.gcm, a.tag, a.tag_bytes)

#define SCRATCH scratch, sizeof scratch
GIVE(gcm_siv_seal, WHOLE, a.tag, a.tag_bytes, SCRATCH)
GIVE(gcm_siv_open, WHOLE, a.tag, a.tag_bytes, SCRATCH)
GIVE(gcm_siv_seal_joined, WHOLE, SCRATCH)
GIVE(gcm_siv_open_joined, WHOLE, SCRATCH)

static const struct row {
    const char *name;
    enum evc_status (*call)(void);
    const char *words; /* of the arguments */
    unsigned key, from, to, way, iv, tag, aad, text, buffers;
} rows[] = {
#define CALL(name, key, from, to, way, iv, tag, aad, text, buffers)                        \
    {#name,        call_##name,  words_##name, KEY_##key,    FROM_##from,  TO_##to,        \
     WAY_##way,    LIMIT_##iv,   LIMIT_##tag,  LIMIT_##aad,  LIMIT_##text, BUFFERS_##buffers},
#include "common/call_table.h"
};
#define N_ROWS (sizeof rows / sizeof rows[0])
static const struct row *row;

static int named(const char *part) { return strstr(row->name, part) != NULL; }

static int is_joined_open(void)
{
    return row->text == LIMIT_JOINED || row->text == LIMIT_SIV_BOTH;
}

/* A key of the row's kind, or of the mode that its state belongs to. */
static unsigned kind(void)
{
    return row->key ? row->key : named("cmac") ? KEY_CMAC : KEY_AES;
}

static unsigned answer(void)
{
    return named("kw_") ? ANSWER_KW : named("kwp_") ? ANSWER_KWP : kind();
}

static int has_tag_buffer(void)
{
    return (row->tag && !named("joined") && !named("start")) ||
           (row->key == KEY_CCM && row->to == TO_END);
}

/* ---- The rows themselves --------------------------------------------------------------------- */

static int given(const char *words) { return strstr(row->words, words) != NULL; }

static unsigned key_by_name(void)
{
    return !given("a.key") && !given("WHOLE") ? KEY_NO
           : named("gcm_siv_")                ? KEY_SIV
           : named("gcm_")                    ? KEY_GCM
           : named("aes_ccm_")                ? KEY_CCM
           : named("aes_cmac")                ? KEY_CMAC
           : named("aes_xts_")                ? KEY_XTS
                                              : KEY_AES;
}

static unsigned way_by_name(void)
{
    if (named("open") || named("decrypt") || named("unwrap"))
        return WAY_OPEN;
    return row->from == FROM_NO                ? row->way /* it says nothing there */
           : named("seal") || named("encrypt") ? WAY_SEAL
                                               : WAY_BOTH;
}

static unsigned text_by_name(void)
{
    if (!given("CRYPT") && !given("WHOLE") && !given("a.in") && !given("msgs"))
        return named("ccm_start") ? LIMIT_CCM_TEXT : LIMIT_NO;
    if (named("kw_") || named("kwp_"))
        return named("kw_") ? named("unwrap") ? LIMIT_KW_SEAL : LIMIT_KW_TEXT
               : named("unwrap") ? LIMIT_KWP_SEAL : LIMIT_KWP_TEXT;
    if (named("gcm_siv_"))
        return named("open_joined") ? LIMIT_SIV_BOTH : LIMIT_SIV_MSG;
    if (named("gcm_"))
        return named("open_joined") ? LIMIT_JOINED : LIMIT_GCM_TEXT;
    if (named("ccm_"))
        return named("update") ? LIMIT_LEFT : LIMIT_CCM_TEXT;
    if (named("xts_"))
        return named("update") ? LIMIT_XTS_PART : LIMIT_XTS_UNIT;
    return named("cbc") ? LIMIT_BLOCKS : LIMIT_ANY;
}

/* The code and this test believe the rows. A row that says too little is seen here: calls of a
 * name, and with such arguments, have such rules in every mode. */
static void the_row_fits_the_name_and_the_arguments_of_its_call(void)
{
    const int siv = named("gcm_siv_"), gcm = named("gcm_") && !siv, ccm = named("ccm_");
    const int many = gcm && given("msgs");
    const int whole = given("WHOLE") || many;
    const unsigned begun = gcm || ccm ? FROM_BEGUN : FROM_TEXT;

    EXPECT(row->key == key_by_name() && row->way == way_by_name() && row->text == text_by_name());
    EXPECT(row->from == (!given("w.s.")    ? FROM_NO
                         : named("start") ? FROM_ANY
                         : named("aad")   ? FROM_AAD
                                          : begun));
    EXPECT(row->to == (row->from == FROM_NO                               ? TO_NO
                       : named("finish")                                  ? TO_END
                       : named("aad") || (named("start") && (gcm || ccm)) ? TO_AAD
                                                                          : TO_TEXT));
    EXPECT(row->iv == (!whole && !given("a.iv_bytes") ? LIMIT_NO
                       : siv                          ? LIMIT_SIV_IV
                       : gcm                          ? LIMIT_GCM_IV
                                                      : LIMIT_CCM_IV));
    EXPECT(row->tag == (!given("a.tag_bytes") && !many ? LIMIT_NO
                        : siv                          ? LIMIT_SIV_TAG
                        : gcm                          ? LIMIT_GCM_TAG
                        : ccm                          ? LIMIT_CCM_TAG
                                                       : LIMIT_CMAC_TAG));
    EXPECT(row->aad == (siv                    ? LIMIT_SIV_MSG
                        : whole                ? gcm ? LIMIT_GCM_AAD : LIMIT_ANY
                        : !given("a.aad_bytes") ? LIMIT_NO
                                                : gcm ? LIMIT_SUM_AAD : LIMIT_LEFT));
    EXPECT(row->buffers == (given("msgs")                               ? BUFFERS_MSGS
                            : given("CRYPT") || whole || given("a.out") ? BUFFERS_MOVED
                            : given("a.in")                             ? BUFFERS_READ
                                                                        : BUFFERS_NO));
}

/* ---- States ---------------------------------------------------------------------------------- */

/* The place of a state in its message; with AT_TEXT it has no direction yet. */
enum position { AT_NONE, AT_AAD, AT_TEXT, AT_SEAL, AT_OPEN, N_POSITIONS };

static int exists(enum position at)
{
    if (kind() == KEY_GCM || kind() == KEY_CCM)
        return at != AT_TEXT;
    return at == AT_NONE || at == AT_TEXT || (at >= AT_SEAL && kind() == KEY_XTS);
}

static int takes(enum position at)
{
    if (row->from <= FROM_ANY)
        return 1;
    return at != AT_NONE && (at == AT_AAD ? row->from != FROM_TEXT : row->from != FROM_AAD) &&
           (at == AT_SEAL ? row->way & WAY_SEAL : at == AT_OPEN ? row->way & WAY_OPEN : 1);
}

static uint8_t *phase(void)
{
    return kind() == KEY_GCM    ? &w.s.gcm.phase
           : kind() == KEY_CCM  ? &w.s.ccm.phase
           : kind() == KEY_XTS  ? &w.s.xts.phase
           : kind() == KEY_CMAC ? &w.s.cmac.phase
                                : &w.s.ctr.phase;
}

static uint8_t *direction(void)
{
    return kind() == KEY_GCM   ? &w.s.gcm.direction
           : kind() == KEY_CCM ? &w.s.ccm.direction
           : kind() == KEY_XTS ? &w.s.xts.direction
                               : NULL;
}

static size_t state_bytes(void)
{
    return kind() == KEY_GCM    ? sizeof w.s.gcm
           : kind() == KEY_CCM  ? sizeof w.s.ccm
           : kind() == KEY_XTS  ? sizeof w.s.xts
           : kind() == KEY_CMAC ? sizeof w.s.cmac
                                : sizeof w.s.ctr;
}

static void set_key(void)
{
    memset(&w.key, 0, sizeof w.key);
    switch (kind()) {
    case KEY_AES: must(evc_aes_set_key(&w.key.aes, AES, user_key, 128)); break;
    case KEY_GHASH: must(evc_ghash_set_key(&w.key.ghash, GHASH, user_key)); break;
    case KEY_XTS: must(evc_aes_xts_set_key(&w.key.xts, AES, AES, user_key, 128)); break;
    case KEY_CMAC: must(evc_aes_cmac_set_key(&w.key.cmac, AES, user_key, 128)); break;
    case KEY_CCM: must(evc_aes_ccm_set_key(&w.key.ccm, AES, AES, user_key, 128)); break;
    case KEY_SIV: must(evc_gcm_siv_set_key(&w.key.siv, AES, GHASH, user_key, 128)); break;
    default:
        must(fused ? evc_gcm_set_key(&w.key.gcm, fused, user_key, 128)
                   : evc_gcm_set_pair(&w.key.gcm, AES, GHASH, user_key, 128));
    }
}

/* A state as calls leave it that go before this one. */
static void bring_to(enum position at)
{
    static uint8_t nothing[16];
    const uint64_t text_bytes = row->text == LIMIT_LEFT ? a.text_bytes : 0;

    memset(&w.s, 0, sizeof w.s);
    if (row->from <= FROM_ANY)
        memset(&w.s, PAINT, sizeof w.s);
    if (at == AT_NONE)
        return;
    switch (kind()) {
    case KEY_GCM:
        must(evc_gcm_start(&w.key.gcm, &w.s.gcm, w.iv, 12));
        if (at >= AT_SEAL)
            must((at == AT_OPEN ? evc_gcm_open_update : evc_gcm_seal_update)(
                &w.key.gcm, &w.s.gcm, plain, nothing, 16));
        break;
    case KEY_CCM:
        must(evc_aes_ccm_start(&w.key.ccm, &w.s.ccm, w.iv, 12, row->aad ? a.aad_bytes : 0,
                               text_bytes + (at >= AT_SEAL ? 16 : 0), 16));
        if (at >= AT_SEAL && !row->aad)
            must((at == AT_OPEN ? evc_aes_ccm_open_update : evc_aes_ccm_seal_update)(
                &w.key.ccm, &w.s.ccm, plain, nothing, 16));
        *phase() = at >= AT_SEAL ? 2 : *phase();
        break;
    case KEY_XTS:
        must(evc_aes_xts_start(&w.key.xts, &w.s.xts, w.iv));
        if (at >= AT_SEAL)
            must((at == AT_OPEN ? evc_aes_xts_decrypt_update : evc_aes_xts_encrypt_update)(
                &w.key.xts, &w.s.xts, plain, nothing, 16));
        break;
    case KEY_CMAC: must(evc_aes_cmac_start(&w.s.cmac)); break;
    default: must(evc_aes_ctr_start(&w.s.ctr, w.iv));
    }
}

static void describe_messages(void)
{
    const int opens = row->way == WAY_OPEN;

    msg = (struct evc_msg){a.in, a.out, a.text_bytes, w.iv};
    gcm_msg = (struct evc_gcm_msg){.iv = a.iv, .aad = a.aad, .in = a.in, .out = a.out,
                                   .tag = opens && a.tag ? w.tag : a.tag, .iv_bytes = a.iv_bytes,
                                   .aad_bytes = a.aad_bytes, .len_bytes = a.text_bytes,
                                   .tag_bytes = a.tag_bytes};
}

/* Whether output lies within the input: only calls that are taken move that. */
static int overlapping;

/* A call that is right, with a message that is there for it. */
static void prepare(enum position at)
{
    const int opens = row->way == WAY_OPEN;

    memset(&w, PAINT, sizeof w);
    memset(w.iv, 3, sizeof w.iv);
    memcpy(w.tag, opens ? right_tag[answer()] : w.iv, 16);
    a.key = &w.key;
    a.iv = w.iv, a.aad = aad, a.in = opens ? opened[answer()] : plain, a.out = w.out, a.tag = w.tag;
    a.iv_bytes = 12, a.tag_bytes = 16;
    a.aad_bytes = row->aad ? AAD_BYTES : 0;
    a.text_bytes = is_joined_open() ? TEXT_BYTES + 16 : row->text ? TEXT_BYTES : 0;
    a.announced_bytes = 0;
    a.msgs = &msg, a.gcm_msgs = &gcm_msg;
    if (overlapping) {
        memcpy(w.out, a.in, sizeof opened[0]);
        a.in = w.out, a.out = w.out + 5;
    }
    set_key();
    bring_to(at);
}

/* ---- Deviations from such a call ------------------------------------------------------------- */

/* In the order of the columns. */
enum what {
    ODD_KEY,
    NO_KEY,
    POSITION,
    NO_PHASE,
    AAD_TO_COME,
    ENCRYPTS_ONLY,
    IV_SIZE,
    TAG_SIZE,
    AAD_SIZE,
    AAD_COUNT,
    TEXT_SIZE,
    TEXT_COUNT,
    TEXT_BY_NONCE,
    LEFT,
    MISSING,
    NOTHING,
    MOST_BY_NONCE /* of evc_aes_ccm_start; it is no breach */
};

static const enum evc_status statuses[] = {
    [ODD_KEY] = EVC_ERR_ALIGNMENT,      [NO_KEY] = EVC_ERR_KERNEL,
    [POSITION] = EVC_ERR_STATE,         [NO_PHASE] = EVC_ERR_STATE,
    [AAD_TO_COME] = EVC_ERR_STATE,      [ENCRYPTS_ONLY] = EVC_ERR_DIRECTION,
    [IV_SIZE] = EVC_ERR_NONCE_SIZE,     [TAG_SIZE] = EVC_ERR_TAG_SIZE,
    [AAD_SIZE] = EVC_ERR_LENGTH,        [AAD_COUNT] = EVC_ERR_LENGTH,
    [TEXT_SIZE] = EVC_ERR_LENGTH,       [TEXT_COUNT] = EVC_ERR_LENGTH,
    [TEXT_BY_NONCE] = EVC_ERR_LENGTH,   [LEFT] = EVC_ERR_LENGTH,
    [MISSING] = EVC_ERR_PARAMETER,      [NOTHING] = EVC_OK,
};

enum { MISSING_IV, MISSING_TAG, MISSING_AAD, MISSING_IN, MISSING_OUT, MISSING_MSGS };

struct deviation {
    enum what what;
    uint64_t value; /* a position, an address modulo 16, a size, a buffer; of a count: how many
                     * bytes the call is over its limit */
};

static EVC_ALIGN(16) uint8_t odd_room[sizeof w.key + 16];

/* As if so much had come that the next `bytes` bytes reach the limit, and `over` bytes beyond. */
static void count(uint64_t *counted, unsigned limit, uint64_t bytes, uint64_t over)
{
    *counted = standards[limit].most - bytes + over;
}

static void count_text(uint64_t over)
{
    uint64_t done = 0;

    if (kind() == KEY_CCM)
        w.s.ccm.text_left = a.text_bytes - over;
    else if (kind() == KEY_GCM)
        count(&w.s.gcm.text_bytes, row->text, a.text_bytes, over);
    else
        count(&done, row->text, a.text_bytes, over), w.s.xts.done_bytes = (uint32_t)done;
}

static void miss(unsigned buffer)
{
    if (buffer == MISSING_IV)
        a.iv = NULL;
    if (buffer == MISSING_TAG)
        a.tag = NULL;
    if (buffer == MISSING_AAD)
        a.aad = NULL;
    if (buffer == MISSING_IN)
        a.in = NULL;
    if (buffer == MISSING_OUT)
        a.out = NULL;
    if (buffer == MISSING_MSGS)
        a.msgs = NULL, a.gcm_msgs = NULL;
}

static void deviate(const struct deviation *d)
{
    switch (d->what) {
    case ODD_KEY: a.key = memcpy(odd_room + d->value, &w.key, sizeof w.key); break;
    case NO_KEY: memset(&w.key, 0, sizeof w.key); break;
    case NO_PHASE: *phase() = 0; break;
    case AAD_TO_COME: w.s.ccm.aad_left = d->value; break;
    case ENCRYPTS_ONLY: must(evc_aes_set_encrypt_key(&w.key.aes, AES, user_key, 128)); break;
    case IV_SIZE: a.iv_bytes = (size_t)d->value; break;
    case TAG_SIZE: a.tag_bytes = (size_t)d->value; break;
    case AAD_SIZE: a.aad_bytes = (size_t)d->value; break;
    case AAD_COUNT:
        if (kind() == KEY_CCM)
            w.s.ccm.aad_left = a.aad_bytes - d->value;
        else
            count(&w.s.gcm.aad_bytes, row->aad, a.aad_bytes, d->value);
        break;
    case TEXT_SIZE: a.text_bytes = (size_t)d->value; break;
    case TEXT_COUNT: count_text(d->value); break;
    case TEXT_BY_NONCE:
        a.iv_bytes = (size_t)d->value;
        a.announced_bytes = over_by_nonce(a.iv_bytes);
        a.text_bytes = (size_t)a.announced_bytes;
        break;
    case MOST_BY_NONCE:
        a.iv_bytes = (size_t)d->value;
        a.announced_bytes = a.iv_bytes == 7 ? UINT64_MAX : over_by_nonce(a.iv_bytes) - 1;
        break;
    case LEFT: w.s.ccm.text_left = !d->value, w.s.ccm.aad_left = d->value; break;
    case MISSING: miss((unsigned)d->value); break;
    case POSITION: /* prepare() has done it */
    case NOTHING: break;
    }
}

static struct deviation list[128];
static size_t n_listed;

static void add(int if_so, enum what what, uint64_t value)
{
    if (if_so && value <= SIZE_MAX)
        list[n_listed++] = (struct deviation){what, value};
    EXPECT(n_listed < sizeof list / sizeof list[0]);
}

static int counts_text(void)
{
    return row->from > FROM_ANY && row->text != LIMIT_NO && row->text != LIMIT_ANY;
}

/* All ways to break a rule of the row. */
static void list_breaches(void)
{
    const uint64_t most_text = standards[row->text].most;
    const unsigned multiple = standards[row->text].multiple;

    n_listed = 0;
    for (unsigned at = 1; at < 16; at++)
        add(row->key != KEY_NO, ODD_KEY, at);
    add(row->key != KEY_NO, NO_KEY, 0);
    for (enum position at = AT_NONE; at < N_POSITIONS; at++)
        add(exists(at) && !takes(at), POSITION, at);
    add(row->from > FROM_ANY, NO_PHASE, 0);
    add(row->key == KEY_CCM && row->to == TO_TEXT, AAD_TO_COME, 1);
    add(row->key == KEY_AES && row->way == WAY_OPEN, ENCRYPTS_ONLY, 0);
    for (unsigned n = 0; n < 16; n++)
        add(row->iv && !fits(row->iv, n), IV_SIZE, n);
    add(row->iv == LIMIT_GCM_IV, IV_SIZE, standards[row->iv].most + 1);
    for (unsigned n = 0; n <= sizeof w.tag; n++)
        add(row->tag && !fits(row->tag, n), TAG_SIZE, n);
    add(row->from == FROM_NO && row->aad == LIMIT_GCM_AAD, AAD_SIZE,
        standards[row->aad].most < SIZE_MAX / 2 ? standards[row->aad].most + 1
                                                : (uint64_t)(SIZE_MAX / 2) + 1);
    add(row->from == FROM_AAD, AAD_COUNT, 1);
    for (unsigned n = 0; n < standards[row->text].least; n += 15)
        add(1, TEXT_SIZE, n);
    add(multiple > 1, TEXT_SIZE, TEXT_BYTES + 1);
    add(row->from == FROM_NO && row->text && most_text < UINT64_MAX && !is_joined_open(),
        TEXT_SIZE, most_text + 1);
    add(counts_text(), TEXT_COUNT, multiple);
    add(row->key == KEY_CCM && row->to == TO_END, LEFT, 0);
    add(row->key == KEY_CCM && row->to == TO_END, LEFT, 1);
    for (unsigned n = 8; n <= 13; n++)
        add(row->text == LIMIT_CCM_TEXT && !named("open_joined") &&
                (row->from == FROM_ANY || over_by_nonce(n) < SIZE_MAX),
            TEXT_BY_NONCE, n);
    add(row->iv != LIMIT_NO, MISSING, MISSING_IV);
    add(has_tag_buffer(), MISSING, MISSING_TAG);
    add(row->aad != LIMIT_NO, MISSING, MISSING_AAD);
    add(row->buffers != BUFFERS_NO, MISSING, MISSING_IN);
    add(row->buffers == BUFFERS_MOVED || named("gcm_seal_many"), MISSING, MISSING_OUT);
    add(row->buffers == BUFFERS_MSGS, MISSING, MISSING_MSGS);
}

/* ---- Calls that are refused ------------------------------------------------------------------ */

static void describe(const struct deviation *first, const struct deviation *second,
                     enum position at, enum evc_status status)
{
    printf("# evc_%s at %d with %d (%llu) and %d (%llu): %s\n", row->name, (int)at,
           (int)first->what, (unsigned long long)first->value, (int)second->what,
           (unsigned long long)second->value, evc_status_text(status));
    EXPECT(0);
}

/* Whether right calls begin here. */
static int starts_at(enum position at)
{
    return row->from == FROM_NO ? at == AT_NONE : exists(at) && takes(at);
}

static int ends_without_text(const struct deviation *d)
{
    return d->what == TEXT_SIZE && !d->value && row->to == TO_END;
}

/* Whether the call is refused for this alone. A unit that has text may end without more, and where
 * GCM has no text yet, none is counted. */
static int is_breach(enum position at, const struct deviation *d)
{
    return !(ends_without_text(d) && at != AT_TEXT) &&
           !(d->what == TEXT_COUNT && at == AT_AAD && kind() == KEY_GCM);
}

/* Both, of which the first is of an earlier column: it decides the status. */
static void expect_refusal(enum position at, const struct deviation *first,
                           const struct deviation *second)
{
    enum evc_status status;
    struct world before;

    if (!is_breach(at, first) || (first->what == TEXT_SIZE && second->what == TEXT_COUNT))
        return;
    if (first->what == POSITION)
        at = (enum position)first->value;
    if (second->what == POSITION)
        at = (enum position)second->value;
    prepare(at);
    deviate(second);
    deviate(first);
    describe_messages();
    before = w;
    if (row->from == FROM_ANY)
        memset(&before.s, 0, state_bytes());
    status = row->call();
    if (status != statuses[first->what] || memcmp(&before, &w, sizeof w) != 0 ||
        (first->what == ODD_KEY && memcmp(odd_room + first->value, &w.key, sizeof w.key) != 0))
        describe(first, second, at, status);
    if (row->key == KEY_GCM && row->buffers == BUFFERS_MSGS && a.gcm_msgs)
        EXPECT(gcm_msg.status == status);
}

static void each_broken_rule_is_refused_and_changes_nothing(void)
{
    static const struct deviation nothing = {NOTHING, 0};

    list_breaches();
    for (overlapping = 0; overlapping < (row->buffers >= BUFFERS_MOVED ? 2 : 1); overlapping++)
        for (enum position at = AT_NONE; at < N_POSITIONS; at++)
            for (size_t i = 0; i < n_listed && starts_at(at); i++)
                expect_refusal(at, &list[i], &nothing);
    overlapping = 0;
}

/* Calls over other calls check the key and some lengths before these do all the rest; those of many
 * messages check one after the other. */
static void the_first_column_that_is_broken_decides(void)
{
    if (named("joined") || named("many"))
        return;
    list_breaches();
    for (size_t i = 0; i < n_listed; i++)
        for (size_t j = i + 1; j < n_listed; j++)
            if (list[i].what < list[j].what && (list[i].what != ODD_KEY || list[i].value == 8))
                for (enum position at = AT_NONE; at < N_POSITIONS; at++)
                    if (starts_at(at))
                        expect_refusal(at, &list[i], &list[j]);
}

/* In every mode, text that is too short for its tag is refused before all else but the key. */
static void short_text_of_joined_open_is_refused_first(void)
{
    if (!named("open_joined"))
        return;
    list_breaches();
    for (size_t i = 0; i < n_listed; i++)
        for (size_t n = 0; n < 16 && list[i].what != TAG_SIZE && list[i].what != TEXT_SIZE; n++) {
            prepare(AT_NONE);
            deviate(&list[i]);
            a.text_bytes = is_joined_open() ? n : n - 16; /* CCM: the call adds 16 */
            if (row->call() != (list[i].what <= NO_KEY ? statuses[list[i].what] : EVC_ERR_LENGTH))
                describe(&list[i], &list[i], AT_NONE, EVC_ERR_LENGTH);
        }
}

/* Memory that no start has written, whatever its phase and direction; of CTR, CMAC, XTS and CCM a
 * count is wrong there, of GCM the form of the hash. */
static void memory_that_no_start_has_written_is_refused(void)
{
    struct world before;

    if (row->from <= FROM_ANY)
        return;
    for (unsigned n = 0; n < 16; n++) {
        prepare(AT_NONE);
        describe_messages();
        memset(&w.s, PAINT, sizeof w.s);
        *phase() = (uint8_t)(n % 4);
        if (direction())
            *direction() = (uint8_t)(n / 4);
        before = w;
        EXPECT(row->call() == EVC_ERR_STATE && memcmp(&before, &w, sizeof w) == 0);
    }
}

/* ---- Calls that are taken -------------------------------------------------------------------- */

/* Deviations with which a call is still taken: both ends of its limits, and buffers that are
 * missing and empty. */
static void list_choices(void)
{
    const uint64_t least = standards[row->text].least;

    n_listed = 0;
    add(1, NOTHING, 0);
    for (unsigned n = 1; n <= 16; n++)
        add(row->iv && fits(row->iv, n), IV_SIZE, n);
    for (unsigned n = 1; n <= 16; n++)
        add(row->tag && fits(row->tag, n), TAG_SIZE, n);
    for (unsigned n = 7; n <= 13; n++)
        add(named("ccm_start"), MOST_BY_NONCE, n);
    add(row->from == FROM_AAD, AAD_COUNT, 0);
    add(row->text && least && !is_joined_open(), TEXT_SIZE, least);
    add(counts_text(), TEXT_COUNT, 0);
    add(row->aad && !least, AAD_SIZE, 0);
    add(row->text && (!least || row->to == TO_END) && row->text != LIMIT_LEFT, TEXT_SIZE, 0);
}

/* Tags of messages that differ from the one whose tag is known are wrong. */
static int is_taken(enum evc_status status, const struct deviation *d)
{
    const int verifies = row->way == WAY_OPEN || named("verify");

    return status == EVC_OK ||
           (status == EVC_ERR_TAG && verifies && (d->what != NOTHING || row->from > FROM_ANY));
}

static int leaves_state(void)
{
    if (row->to == TO_END)
        return all_are(&w.s, 0, state_bytes());
    if (row->to != TO_NO && *phase() != (row->to == TO_AAD ? 1 : 2))
        return 0;
    return row->to != TO_TEXT || !direction() ||
           *direction() == (row->way == WAY_BOTH ? 0 : row->way);
}

static void expect_taken(enum position at, const struct deviation *d)
{
    static const struct deviation nothing = {NOTHING, 0};
    struct world before;
    enum evc_status status;

    prepare(at);
    deviate(d);
    if ((d->what == TEXT_SIZE || d->what == AAD_SIZE) && !d->value && !named("joined"))
        (d->what == AAD_SIZE ? miss(MISSING_AAD) : (miss(MISSING_IN), miss(MISSING_OUT)));
    describe_messages();
    before = w;
    status = row->call();
    if (!is_taken(status, d) || !leaves_state() ||
        (!named("allow") && memcmp(&before.key, &w.key, sizeof w.key) != 0))
        describe(d, &nothing, at, status);
}

static void calls_within_their_limits_are_taken(void)
{
    list_choices();
    for (enum position at = AT_NONE; at < N_POSITIONS; at++)
        for (size_t i = 0; i < n_listed && starts_at(at); i++)
            if (!ends_without_text(&list[i]) || at != AT_TEXT)
                expect_taken(at, &list[i]);
}

/* Sizes of tags that a key may allow are taken by such a key, and no others. */
static void short_tags_are_taken_where_the_key_allows_them(void)
{
    for (unsigned n = 0; row->tag && row->key != KEY_SIV && n <= sizeof w.tag; n++) {
        prepare(row->from > FROM_ANY ? row->from == FROM_TEXT ? AT_TEXT : AT_AAD : AT_NONE);
        must(row->key == KEY_GCM   ? evc_gcm_allow_short_tags(&w.key.gcm)
             : row->key == KEY_CCM ? evc_aes_ccm_allow_short_tags(&w.key.ccm)
                                   : evc_aes_cmac_allow_short_tags(&w.key.cmac));
        a.tag_bytes = n;
        describe_messages();
        const enum evc_status status = row->call();
        EXPECT((status != EVC_ERR_TAG_SIZE) == (fits(row->tag, n) || fits(row->tag + 1, n)));
        EXPECT(status == EVC_OK || status == EVC_ERR_TAG || status == EVC_ERR_TAG_SIZE);
    }
}

/* ---- Calls in every order -------------------------------------------------------------------- */

static size_t n_tried;

/* As little as calls of every mode take, or one byte more than a block. */
static void give_lengths(int least)
{
    const int finishes_unit = row->text == LIMIT_XTS_UNIT;

    a.text_bytes = finishes_unit ? 19 : row->text == LIMIT_XTS_PART ? 16 : row->text ? 17 : 0;
    a.aad_bytes = row->aad ? AAD_BYTES : 0;
    if (kind() == KEY_CCM || (least && !finishes_unit))
        a.text_bytes = a.aad_bytes = 0;
    memset(w.tag, 7, sizeof w.tag);
}

static enum position behind(void)
{
    return row->to == TO_END      ? AT_NONE
           : row->to == TO_AAD    ? AT_AAD
           : row->way == WAY_BOTH ? AT_TEXT
           : row->way == WAY_SEAL ? AT_SEAL
                                  : AT_OPEN;
}

static int is_of_mode(const struct row *r, const char *mode)
{
    return r->from != FROM_NO && strncmp(r->name, mode, strlen(mode)) == 0;
}

/* The call from here with a key as evc_wipe() and set-ups that fail leave it. */
static void try_without_key(void)
{
    struct world before = w;

    if (row->key == KEY_NO)
        return;
    if (row->from == FROM_ANY)
        memset(&before.s, 0, state_bytes());
    memset(&w.key, 0, sizeof w.key);
    memset(&before.key, 0, sizeof before.key);
    EXPECT(row->call() == EVC_ERR_KERNEL && memcmp(&before, &w, sizeof w) == 0);
}

/* Every sequence of calls of a mode that goes on from here. */
static void try_sequences(const char *mode, enum position at, unsigned n_before, int least)
{
    const struct world start = w;

    for (const struct row *r = rows; n_before < LONGEST && r < rows + N_ROWS; r++) {
        if (!is_of_mode(r, mode))
            continue;
        row = r;
        give_lengths(least);
        try_without_key();
        w = start;
        give_lengths(least);
        const struct world before = w;
        const enum evc_status status = row->call();
        const int verifies = named("open_finish") || named("verify");
        n_tried++;
        if (!(row->from == FROM_ANY || takes(at)))
            EXPECT(status == EVC_ERR_STATE && memcmp(&before, &w, sizeof w) == 0);
        else if (status != (verifies ? EVC_ERR_TAG : EVC_OK) || !leaves_state())
            describe(&(struct deviation){NOTHING, n_before}, &(struct deviation){NOTHING, 0}, at,
                     status);
        else
            try_sequences(mode, behind(), n_before + 1, least);
        w = start;
    }
}

static void calls_out_of_order_are_refused_and_do_nothing(const char *mode)
{
    for (int least = 0; least < 2; least++) {
        n_tried = 0;
        for (row = rows; !is_of_mode(row, mode) || row->from == FROM_ANY; row++)
            ;
        prepare(AT_NONE);
        a.iv_bytes = 12, a.tag_bytes = 16, a.announced_bytes = 0;
        try_sequences(mode, AT_NONE, 0, least);
        EXPECT(n_tried > 90);
    }
}

/* ---- Many messages --------------------------------------------------------------------------- */

/* One of two messages has a length that is not of whole blocks, or no input: nothing is done with
 * the other one either. */
static void one_wrong_message_of_many_is_refused(void)
{
    struct evc_msg msgs[2];
    struct world before;

    for (row = rows; row < rows + N_ROWS; row++)
        for (unsigned i = 0; i < 4 && row->buffers == BUFFERS_MSGS && row->key != KEY_GCM; i++) {
            const int spoils_length = i < 2;
            enum evc_status wanted = spoils_length ? EVC_ERR_LENGTH : EVC_ERR_PARAMETER;
            if (spoils_length && row->text == LIMIT_ANY)
                continue;
            prepare(AT_NONE);
            msgs[0] = (struct evc_msg){plain, w.out, 16, w.iv};
            msgs[1] = (struct evc_msg){plain, w.out + 32, 16, w.tag};
            if (spoils_length)
                msgs[i % 2].len_bytes = 17;
            else
                msgs[i % 2].in = NULL;
            before = w;
            EXPECT((row->key == KEY_AES ? evc_aes_cbc_encrypt_many(&w.key.aes, msgs, 2)
                                        : evc_aes_cmac_many(&w.key.cmac, msgs, 2)) == wanted);
            EXPECT(memcmp(&before, &w, sizeof w) == 0);
        }
}

/* GCM's have a status each; the call returns the first that is no success. */
static void each_message_of_many_has_its_status(void)
{
    static const enum evc_status wanted[3] = {EVC_OK, EVC_ERR_NONCE_SIZE, EVC_ERR_TAG_SIZE};
    struct evc_gcm_msg msgs[4];

    for (int opens = 0; opens < 2; opens++) {
        for (row = rows; !named(opens ? "gcm_open_many" : "gcm_seal_many"); row++)
            ;
        prepare(AT_NONE);
        describe_messages();
        for (size_t i = 0; i < 4; i++) {
            msgs[i] = gcm_msg;
            msgs[i].iv_bytes = i == 1 ? 0 : 12;
            msgs[i].tag_bytes = i == 2 ? 3 : 16;
        }
        EXPECT((opens ? evc_gcm_open_many : evc_gcm_seal_many)(&w.key.gcm, msgs, 4) ==
               EVC_ERR_NONCE_SIZE);
        for (size_t i = 0; i < 4; i++)
            EXPECT(msgs[i].status == wanted[i % 3]);
    }
}

/* Behind all rules of the rows: scratch memory that is too small, by one byte, or missing. */
static void scratch_memory_that_is_too_small_is_refused(void)
{
    const size_t enough = evc_gcm_siv_scratch_bytes(AES, GHASH);
    struct world before;

    for (row = rows; row < rows + N_ROWS; row++) {
        if (row->key != KEY_SIV || named("joined"))
            continue;
        for (unsigned i = 0; i < 3; i++) {
            void *const memory = i < 2 ? scratch : NULL;
            const size_t n_bytes = i == 1 ? enough - 1 : enough;
            enum evc_status status;
            prepare(AT_NONE);
            before = w;
            status = row->way == WAY_OPEN
                         ? evc_gcm_siv_open(WHOLE, a.tag, a.tag_bytes, memory, n_bytes)
                         : evc_gcm_siv_seal(WHOLE, a.tag, a.tag_bytes, memory, n_bytes);
            EXPECT(status == (i ? EVC_ERR_SCRATCH : EVC_OK));
            EXPECT(!i || memcmp(&before, &w, sizeof w) == 0);
        }
        EXPECT(all_are(scratch, 0, sizeof scratch));
    }
    EXPECT(enough <= sizeof scratch && !evc_gcm_siv_scratch_bytes(NULL, GHASH) &&
           !evc_gcm_siv_scratch_bytes(AES, NULL) && !evc_gcm_siv_key_bytes(NULL, GHASH) &&
           !evc_gcm_siv_key_bytes(AES, NULL));
}

/* ---- Calls without a status ------------------------------------------------------------------ */

#define GIVE_BLOCKS(name, ...) \
    static void give_##name(void) { evc_##name(a.key, __VA_ARGS__); }
#define BLOCKS a.in, w.out, a.text_bytes / 16
GIVE_BLOCKS(aes_ctr32, w.iv, a.in, w.out, a.text_bytes)
GIVE_BLOCKS(aes_ctr32_le, w.iv, a.in, w.out, a.text_bytes)
GIVE_BLOCKS(aes_cbc_encrypt_blocks, w.iv, BLOCKS)
GIVE_BLOCKS(aes_cbc_decrypt_blocks, w.iv, BLOCKS)
GIVE_BLOCKS(aes_cbc_encrypt_blocks_many, &msg, 1)
GIVE_BLOCKS(aes_cbcmac_blocks, w.out, a.in, a.text_bytes / 16)
GIVE_BLOCKS(aes_xts_encrypt_blocks, w.iv, BLOCKS)
GIVE_BLOCKS(aes_xts_decrypt_blocks, w.iv, BLOCKS)
GIVE_BLOCKS(ghash_blocks, w.out, a.in, a.text_bytes / 16)
GIVE_BLOCKS(ghash_reversed_blocks, w.out, a.in, a.text_bytes / 16)
GIVE_BLOCKS(ghash_padded, w.out, a.in, a.text_bytes)

static const struct {
    struct row row;
    void (*give)(void);
} without_status[] = {
#define ZEROS(name, key, way, text, buffers)                                                   \
    {{#name, NULL, "", KEY_##key, FROM_NO, TO_NO, WAY_##way, LIMIT_NO, LIMIT_NO, LIMIT_NO,         \
      LIMIT_##text, BUFFERS_##buffers},                                                        \
     give_##name},
#include "common/call_table.h"
};

/* With a key that is refused, output is zeros and nothing else is changed; a right one gives no
 * zeros. */
static void refused_keys_give_zeros(void (*give)(void))
{
    const size_t n = row->buffers == BUFFERS_READ ? 16 : TEXT_BYTES;

    list_breaches();
    for (size_t i = 0; i < n_listed; i++) {
        struct world wanted;
        if (list[i].what == MISSING)
            continue;
        prepare(AT_NONE);
        deviate(&list[i]);
        describe_messages();
        wanted = w;
        memset(wanted.out, 0, n);
        give();
        EXPECT(memcmp(&wanted, &w, sizeof w) == 0);
    }
    prepare(AT_NONE);
    describe_messages();
    give();
    EXPECT(!all_are(w.out, 0, n) && all_are(w.out + n, PAINT, sizeof w.out - n));
}

/* ---- Calls that set up a key ----------------------------------------------------------------- */

static struct {
    void *memory;
    size_t memory_bytes;
    const struct evc_aes *aes, *second;
    const struct evc_ghash *ghash;
    const struct evc_gcm *gcm;
    const uint8_t *user_key;
    unsigned bits;
} k;

#define GIVE_KEY(name, bytes, ...)                                                    \
    static enum evc_status set_##name(void) { return evc_##name(__VA_ARGS__); } \
    enum { bytes_##name = bytes };
#define UNION(name, object, ...) GIVE_KEY(name, sizeof(object), k.memory, __VA_ARGS__)
#define IN(name, ...) GIVE_KEY(name, 0, k.memory, k.memory_bytes, __VA_ARGS__)
#define BITS k.user_key, k.bits
#define BEST evc_cpu_features(), 0
UNION(aes_set_key, union evc_aes_key, k.aes, BITS)
UNION(aes_set_encrypt_key, union evc_aes_key, k.aes, BITS)
UNION(aes_set_best, union evc_aes_key, BEST, BITS)
UNION(aes_cbc_encrypt_set_best, union evc_aes_key, BEST, BITS)
UNION(aes_cbc_decrypt_set_best, union evc_aes_key, BEST, BITS)
UNION(aes_ctr_set_best, union evc_aes_key, BEST, BITS)
UNION(aes_kw_set_best, union evc_aes_key, BEST, BITS)
UNION(aes_xts_set_key, struct evc_aes_xts_key, k.aes, k.second, BITS)
UNION(aes_xts_set_best, struct evc_aes_xts_key, BEST, BITS)
UNION(aes_cmac_set_key, struct evc_aes_cmac_key, k.aes, BITS)
UNION(aes_cmac_set_best, struct evc_aes_cmac_key, BEST, BITS)
UNION(aes_ccm_set_key, struct evc_aes_ccm_key, k.second, k.aes, BITS)
UNION(aes_ccm_set_best, struct evc_aes_ccm_key, BEST, BITS)
UNION(ghash_set_key, union evc_ghash_key, k.ghash, k.user_key)
UNION(ghash_set_best, union evc_ghash_key, BEST, k.user_key)
UNION(gcm_set_key, union evc_gcm_key, k.gcm, BITS)
UNION(gcm_set_pair, union evc_gcm_key, k.aes, k.ghash, BITS)
UNION(gcm_set_best, union evc_gcm_key, BEST, BITS)
UNION(gcm_siv_set_key, struct evc_gcm_siv_key, k.aes, k.ghash, BITS)
UNION(gcm_siv_set_best, struct evc_gcm_siv_key, BEST, BITS)
IN(aes_set_key_in, k.aes, BITS)
IN(aes_set_encrypt_key_in, k.aes, BITS)
IN(aes_xts_set_key_in, k.aes, k.second, BITS)
IN(aes_xts_set_key_allowing_in, k.aes, k.second, BITS, 0)
IN(aes_cmac_set_key_in, k.aes, BITS)
IN(aes_ccm_set_key_in, k.second, k.aes, BITS)
IN(ghash_set_key_in, k.ghash, k.user_key)
IN(gcm_set_key_in, k.gcm, BITS)
IN(gcm_set_pair_in, k.aes, k.ghash, BITS)
IN(gcm_siv_set_key_in, k.aes, k.ghash, BITS)

static const struct set_up {
    const char *name;
    enum evc_status (*set)(void);
    size_t object_bytes; /* 0: memory of the caller, of any size */
    unsigned bits;
} set_ups[] = {
#define SET_UP(name, bits) {#name, set_##name, bytes_##name, LIMIT_##bits},
#include "common/call_table.h"
};

static EVC_ALIGN(64) uint8_t key_room[8192];

static void expect_no_key(const struct set_up *s, enum evc_status status)
{
    for (size_t i = 0; i < sizeof key_room; i++) /* XTS refuses a key of two equal halves */
        key_room[i] = (uint8_t)(7 * i + 1);
    if (s->set() != status || !all_are(k.memory, 0, k.memory_bytes)) {
        printf("# evc_%s: not: %s\n", s->name, evc_status_text(status));
        EXPECT(0);
    }
}

static void set_up_with_right_arguments(const struct set_up *s)
{
    k.memory = key_room + 64;
    k.memory_bytes = s->object_bytes ? s->object_bytes : 4096;
    k.aes = k.second = AES, k.ghash = GHASH, k.gcm = fused;
    k.user_key = user_key;
    k.bits = 128;
}

static void set_ups_that_are_refused_leave_no_key(const struct set_up *s)
{
    const int chooses = strstr(s->name, "best") != NULL;
    const int needs_fused = strstr(s->name, "gcm_set_key") != NULL;
    const int has_two = strstr(s->name, "xts") || strstr(s->name, "ccm") ||
                        strstr(s->name, "pair") || strstr(s->name, "siv");
    const int n_kernels = chooses ? 0 : has_two ? 2 : 1;

    set_up_with_right_arguments(s);
    if (!needs_fused || fused)
        must(s->set());
    for (unsigned bits = 0; bits <= 1024 && s->bits != LIMIT_ANY; bits++) {
        k.bits = bits;
        if (!fits(s->bits, bits))
            expect_no_key(s, EVC_ERR_KEY_SIZE);
        else if (!needs_fused || fused)
            must(s->set());
    }
    for (int of_two = 0; of_two < n_kernels; of_two++) {
        set_up_with_right_arguments(s);
        if (of_two == 0)
            k.aes = NULL, k.gcm = NULL;
        if (of_two == n_kernels - 1)
            k.second = NULL, k.ghash = NULL;
        expect_no_key(s, EVC_ERR_KERNEL);
    }
    if (needs_fused && !fused)
        return;
    set_up_with_right_arguments(s);
    for (size_t at = 1; at < 16; at++) {
        k.memory = key_room + 64 + at;
        expect_no_key(s, EVC_ERR_ALIGNMENT);
    }
    set_up_with_right_arguments(s);
    k.user_key = NULL;
    expect_no_key(s, EVC_ERR_PARAMETER);
    set_up_with_right_arguments(s);
    k.user_key = key_room + 64 + k.memory_bytes - 1;
    expect_no_key(s, EVC_ERR_OVERLAP);
    set_up_with_right_arguments(s);
    k.memory_bytes = 8;
    if (!s->object_bytes)
        expect_no_key(s, EVC_ERR_KERNEL);
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Ciphertext with its tag, for the calls that open. */
static void make_answers(void)
{
    random_fill(aad, sizeof aad);
    random_fill(plain, sizeof plain);
    for (unsigned i = 0; i < N_ANSWERS; i++)
        memcpy(opened[i], plain, sizeof plain);
    for (row = rows; row < rows + N_ROWS; row++) {
        const int wraps = named("_wrap");
        if (!named("ccm_seal") && !named("gcm_seal") && !named("siv_seal") && !wraps &&
            strcmp(row->name, "aes_cmac") != 0)
            continue;
        if (row->from != FROM_NO || (row->tag == LIMIT_NO && !wraps) || named("joined") ||
            named("many"))
            continue;
        prepare(AT_NONE);
        if (wraps) /* the result is 8 bytes longer */
            a.text_bytes = TEXT_BYTES - 8;
        must(row->call());
        if (row->buffers == BUFFERS_MOVED)
            memcpy(opened[answer()], w.out, TEXT_BYTES);
        memcpy(opened[answer()] + TEXT_BYTES, w.tag, 16);
        memcpy(right_tag[answer()], w.tag, 16);
    }
    memcpy(opened[KEY_CMAC], plain, TEXT_BYTES);
}

static void walk(int of_gcm_alone)
{
    make_answers();
    for (row = rows; row < rows + N_ROWS; row++) {
        if (of_gcm_alone && row->key != KEY_GCM)
            continue;
#define RUN_ROW(test) (test(), tap_result(#test, row->name))
        RUN_ROW(the_row_fits_the_name_and_the_arguments_of_its_call);
        RUN_ROW(each_broken_rule_is_refused_and_changes_nothing);
        RUN_ROW(the_first_column_that_is_broken_decides);
        RUN_ROW(short_text_of_joined_open_is_refused_first);
        RUN_ROW(memory_that_no_start_has_written_is_refused);
        RUN_ROW(calls_within_their_limits_are_taken);
        RUN_ROW(short_tags_are_taken_where_the_key_allows_them);
    }
}

int main(void)
{
    static const char *const modes[] = {"gcm_", "aes_ccm_", "aes_cmac_", "aes_xts_", "aes_ctr_"};
    const struct evc_gcm *kernel;

    walk(0);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        calls_out_of_order_are_refused_and_do_nothing(modes[i]);
        tap_result("calls_out_of_order_are_refused_and_do_nothing", modes[i]);
    }
    RUN(one_wrong_message_of_many_is_refused);
    RUN(each_message_of_many_has_its_status);
    RUN(scratch_memory_that_is_too_small_is_refused);
    for (unsigned i = 0; (kernel = evc_gcm_at(i)) != NULL; i++) {
        if (!evc_kernel_runs(evc_gcm_kernel(kernel), evc_cpu_features()))
            continue;
        fused = kernel;
        walk(1);
        calls_out_of_order_are_refused_and_do_nothing(modes[0]);
        tap_result("calls_out_of_order_are_refused_and_do_nothing", evc_gcm_kernel(kernel)->name);
    }
    for (size_t i = 0; i < sizeof without_status / sizeof without_status[0]; i++) {
        row = &without_status[i].row;
        refused_keys_give_zeros(without_status[i].give);
        tap_result("refused_keys_give_zeros", row->name);
    }
    for (size_t i = 0; i < sizeof set_ups / sizeof set_ups[0]; i++) {
        set_ups_that_are_refused_leave_no_key(&set_ups[i]);
        tap_result("set_ups_that_are_refused_leave_no_key", set_ups[i].name);
    }
    return tap_done();
}

/* SPDX-License-Identifier: MIT */
/*
 * The rules of the public calls of AES, its modes, GHASH and GCM. The calls check by these rows
 * (common/calls.h), tests/unit/test_calls.c breaks every rule of every row, and tools/check-tree
 * wants a row for each function of the headers that returns a status or takes a key.
 *
 * LIMIT: of a length in bytes, or of key_bits. The limit behind one of tags is that of short tags,
 * for keys that allow them.
 * CALL: a call with a status. A call that is refused changes nothing; one that starts a message
 * wipes the state. The columns are checked from left to right:
 *   key      its kind. EVC_ERR_ALIGNMENT: at no multiple of 16; EVC_ERR_KERNEL: not set up
 *   from     phases that take the call. NO: it has no state; ANY: it starts a message; BEGUN: AAD
 *            or TEXT. EVC_ERR_STATE
 *   to       the phase behind it. END: the state is wiped
 *   way      the direction of the message. EVC_ERR_STATE: another; EVC_ERR_DIRECTION: OPEN with a
 *            key of AES that is for encryption only
 *   iv, tag  EVC_ERR_NONCE_SIZE, EVC_ERR_TAG_SIZE
 *   aad      EVC_ERR_LENGTH
 *   text     EVC_ERR_LENGTH. A piece of a message that has text may be empty, whatever the least
 *   buffers  of text. READ: in; MOVED: in and out, and text is moved first if they overlap in part;
 *            MSGS: descriptions of messages. EVC_ERR_PARAMETER: one of all buffers is missing
 * ZEROS: a call without a status. If it is refused, its output is zeros: out, or with READ a block.
 * SET_UP: sets up a key; if it is refused, the memory is zeros. EVC_ERR_KEY_SIZE: bits.
 * EVC_ERR_PARAMETER: no key of the user.
 *
 * Code has what no row can say: the kernel of rebind; what *_many wants of each message; *_joined,
 * which call seal and open. GCM's usual calls pass by fewer comparisons than those of their rows.
 */
#ifndef LIMIT
#define LIMIT(name, least, most, multiple)
#endif
#ifndef CALL
#define CALL(name, key, from, to, way, iv, tag, aad, text, buffers)
#endif
#ifndef ZEROS
#define ZEROS(name, key, way, text, buffers)
#endif
#ifndef SET_UP
#define SET_UP(name, bits)
#endif

/*    name             least                       most                       multiple */
LIMIT(NO,              0,                          0,                         1)
LIMIT(ANY,             0,                          UINT64_MAX,                1)
LIMIT(BLOCKS,          0,                          UINT64_MAX,                16)
LIMIT(AES_BITS,        128,                        256,                       64)
LIMIT(XTS_BITS,        128,                        256,                       128)
LIMIT(XTS_UNIT,        16,                         EVC_AES_XTS_MAX_BYTES,     1)
LIMIT(XTS_PART,        0,                          EVC_AES_XTS_MAX_BYTES,     16)
LIMIT(KW_TEXT,         16,                         EVC_AES_KW_MAX_BYTES,      8)
LIMIT(KW_SEAL,         24,                         EVC_AES_KW_MAX_BYTES + 8,  8)
LIMIT(KWP_TEXT,        1,                          EVC_AES_KWP_MAX_BYTES,     1)
LIMIT(KWP_SEAL,        16,                         EVC_AES_KWP_MAX_BYTES + 9, 8)
LIMIT(SIV_BITS,        128,                        256,                       128)
LIMIT(SIV_IV,          12,                         12,                        1)
LIMIT(SIV_TAG,         16,                         16,                        1)
LIMIT(SIV_MSG,         0,                          EVC_GCM_SIV_MAX_BYTES,     1)
LIMIT(SIV_BOTH,        16,                         EVC_GCM_SIV_MAX_BYTES+16,  1)
LIMIT(CMAC_TAG,        EVC_AES_CMAC_MIN_TAG,       16,                        1)
LIMIT(SHORT_CMAC_TAG,  EVC_AES_CMAC_MIN_SHORT_TAG, EVC_AES_CMAC_MIN_TAG - 1,  1)
LIMIT(CCM_IV,          7,                          13,                        1)
LIMIT(CCM_TAG,         8,                          16,                        2)
LIMIT(SHORT_CCM_TAG,   4,                          6,                         2)
LIMIT(CCM_TEXT,        0,                          UINT64_MAX,                1) /* by the nonce */
LIMIT(LEFT,            0,                          UINT64_MAX,                1) /* as announced */
LIMIT(GCM_IV,          1,                          EVC_GCM_MAX_AAD,           1)
LIMIT(GCM_TAG,         12,                         16,                        1)
LIMIT(SHORT_GCM_TAG,   4,                          8,                         4)
LIMIT(GCM_AAD,         0, EVC_GCM_MAX_AAD & (EVC_GCM_HASHED_AAD - 1),         1)
LIMIT(SUM_AAD,         0,                          EVC_GCM_MAX_AAD,           1) /* of pieces */
LIMIT(GCM_TEXT,        0,                          EVC_GCM_MAX_TEXT,          1)
LIMIT(JOINED,          16,                         EVC_GCM_MAX_TEXT + 16,     1)

/*   name                       key   from   to    way   iv      tag       aad      text  buffers */
/* AES: text is counted in blocks */
CALL(aes_encrypt,               AES,  NO,    NO,   SEAL, NO,     NO,       NO,      ANY,      MOVED)
CALL(aes_decrypt,               AES,  NO,    NO,   OPEN, NO,     NO,       NO,      ANY,      MOVED)
CALL(aes_rebind,                AES,  NO,    NO,   BOTH, NO,     NO,       NO,      NO,       NO)
CALL(aes_cbc_encrypt,           AES,  NO,    NO,   SEAL, NO,     NO,       NO,      BLOCKS,   MOVED)
CALL(aes_cbc_decrypt,           AES,  NO,    NO,   OPEN, NO,     NO,       NO,      BLOCKS,   MOVED)
CALL(aes_cbc_encrypt_many,      AES,  NO,    NO,   SEAL, NO,     NO,       NO,      BLOCKS,   MSGS)
CALL(aes_cbcmac,                AES,  NO,    NO,   SEAL, NO,     NO,       NO,      BLOCKS,   READ)
CALL(aes_ctr,                   AES,  NO,    NO,   SEAL, NO,     NO,       NO,      ANY,      MOVED)
CALL(aes_ctr_start,             NO,   ANY,   TEXT, BOTH, NO,     NO,       NO,      NO,       NO)
CALL(aes_ctr_start32,           NO,   ANY,   TEXT, BOTH, NO,     NO,       NO,      NO,       NO)
CALL(aes_ctr_update,            AES,  TEXT,  TEXT, BOTH, NO,     NO,       NO,      ANY,      MOVED)
/* Key wrap: in and out are moved, however they overlap */
CALL(aes_kw_wrap,               AES,  NO,    NO,   SEAL, NO,     NO,       NO,      KW_TEXT,  MOVED)
CALL(aes_kw_unwrap,             AES,  NO,    NO,   OPEN, NO,     NO,       NO,      KW_SEAL,  MOVED)
CALL(aes_kwp_wrap,              AES,  NO,    NO,   SEAL, NO,     NO,       NO,      KWP_TEXT, MOVED)
CALL(aes_kwp_unwrap,            AES,  NO,    NO,   OPEN, NO,     NO,       NO,      KWP_SEAL, MOVED)
/* XTS: keys may allow 192 bits and longer units */
CALL(aes_xts_encrypt,           XTS,  NO,    NO,   SEAL, NO,     NO,       NO,      XTS_UNIT, MOVED)
CALL(aes_xts_decrypt,           XTS,  NO,    NO,   OPEN, NO,     NO,       NO,      XTS_UNIT, MOVED)
CALL(aes_xts_start,             XTS,  ANY,   TEXT, BOTH, NO,     NO,       NO,      NO,       NO)
CALL(aes_xts_encrypt_update,    XTS,  TEXT,  TEXT, SEAL, NO,     NO,       NO,      XTS_PART, MOVED)
CALL(aes_xts_decrypt_update,    XTS,  TEXT,  TEXT, OPEN, NO,     NO,       NO,      XTS_PART, MOVED)
CALL(aes_xts_encrypt_finish,    XTS,  TEXT,  END,  SEAL, NO,     NO,       NO,      XTS_UNIT, MOVED)
CALL(aes_xts_decrypt_finish,    XTS,  TEXT,  END,  OPEN, NO,     NO,       NO,      XTS_UNIT, MOVED)
CALL(aes_cmac_allow_short_tags, CMAC, NO,    NO,   BOTH, NO,     NO,       NO,      NO,       NO)
CALL(aes_cmac,                  CMAC, NO,    NO,   SEAL, NO,     CMAC_TAG, NO,      ANY,      READ)
CALL(aes_cmac_verify,           CMAC, NO,    NO,   OPEN, NO,     CMAC_TAG, NO,      ANY,      READ)
CALL(aes_cmac_start,            NO,   ANY,   TEXT, BOTH, NO,     NO,       NO,      NO,       NO)
CALL(aes_cmac_update,           CMAC, TEXT,  TEXT, BOTH, NO,     NO,       NO,      ANY,      READ)
CALL(aes_cmac_finish,           CMAC, TEXT,  END,  BOTH, NO,     CMAC_TAG, NO,      NO,       NO)
CALL(aes_cmac_finish_verify,    CMAC, TEXT,  END,  BOTH, NO,     CMAC_TAG, NO,      NO,       NO)
CALL(aes_cmac_many,             CMAC, NO,    NO,   SEAL, NO,     NO,       NO,      ANY,      MSGS)
/* CCM: bytes that were announced and have not come count as text of finish */
CALL(aes_ccm_allow_short_tags,  CCM,  NO,    NO,   BOTH, NO,     NO,       NO,      NO,       NO)
CALL(aes_ccm_seal,              CCM,  NO,    NO,   SEAL, CCM_IV, CCM_TAG,  ANY,     CCM_TEXT, MOVED)
CALL(aes_ccm_open,              CCM,  NO,    NO,   OPEN, CCM_IV, CCM_TAG,  ANY,     CCM_TEXT, MOVED)
CALL(aes_ccm_seal_joined,       CCM,  NO,    NO,   SEAL, CCM_IV, CCM_TAG,  ANY,     CCM_TEXT, MOVED)
CALL(aes_ccm_open_joined,       CCM,  NO,    NO,   OPEN, CCM_IV, CCM_TAG,  ANY,     CCM_TEXT, MOVED)
CALL(aes_ccm_start,             CCM,  ANY,   AAD,  BOTH, CCM_IV, CCM_TAG,  NO,      CCM_TEXT, NO)
CALL(aes_ccm_aad,               CCM,  AAD,   AAD,  BOTH, NO,     NO,       LEFT,    NO,       NO)
CALL(aes_ccm_seal_update,       CCM,  BEGUN, TEXT, SEAL, NO,     NO,       NO,      LEFT,     MOVED)
CALL(aes_ccm_open_update,       CCM,  BEGUN, TEXT, OPEN, NO,     NO,       NO,      LEFT,     MOVED)
CALL(aes_ccm_seal_finish,       CCM,  BEGUN, END,  SEAL, NO,     NO,       NO,      NO,       NO)
CALL(aes_ccm_open_finish,       CCM,  BEGUN, END,  OPEN, NO,     NO,       NO,      NO,       NO)
CALL(gcm_allow_short_tags,      GCM,  NO,    NO,   BOTH, NO,     NO,       NO,      NO,       NO)
CALL(gcm_seal,                  GCM,  NO,    NO,   SEAL, GCM_IV, GCM_TAG,  GCM_AAD, GCM_TEXT, MOVED)
CALL(gcm_open,                  GCM,  NO,    NO,   OPEN, GCM_IV, GCM_TAG,  GCM_AAD, GCM_TEXT, MOVED)
CALL(gcm_seal_joined,           GCM,  NO,    NO,   SEAL, GCM_IV, NO,       GCM_AAD, GCM_TEXT, MOVED)
CALL(gcm_open_joined,           GCM,  NO,    NO,   OPEN, GCM_IV, NO,       GCM_AAD, JOINED,   MOVED)
CALL(gcm_seal_many,             GCM,  NO,    NO,   SEAL, GCM_IV, GCM_TAG,  GCM_AAD, GCM_TEXT, MSGS)
CALL(gcm_open_many,             GCM,  NO,    NO,   OPEN, GCM_IV, GCM_TAG,  GCM_AAD, GCM_TEXT, MSGS)
CALL(gcm_start,                 GCM,  ANY,   AAD,  BOTH, GCM_IV, NO,       NO,      NO,       NO)
CALL(gcm_aad,                   GCM,  AAD,   AAD,  BOTH, NO,     NO,       SUM_AAD, NO,       NO)
CALL(gcm_seal_update,           GCM,  BEGUN, TEXT, SEAL, NO,     NO,       NO,      GCM_TEXT, MOVED)
CALL(gcm_open_update,           GCM,  BEGUN, TEXT, OPEN, NO,     NO,       NO,      GCM_TEXT, MOVED)
CALL(gcm_seal_finish,           GCM,  BEGUN, END,  SEAL, NO,     GCM_TAG,  NO,      NO,       NO)
CALL(gcm_open_finish,           GCM,  BEGUN, END,  OPEN, NO,     GCM_TAG,  NO,      NO,       NO)
/* GCM-SIV: behind all these, EVC_ERR_SCRATCH */
CALL(gcm_siv_seal,              SIV,  NO,    NO,   SEAL, SIV_IV, SIV_TAG,  SIV_MSG, SIV_MSG,  MOVED)
CALL(gcm_siv_open,              SIV,  NO,    NO,   OPEN, SIV_IV, SIV_TAG,  SIV_MSG, SIV_MSG,  MOVED)
CALL(gcm_siv_seal_joined,       SIV,  NO,    NO,   SEAL, SIV_IV, NO,       SIV_MSG, SIV_MSG,  MOVED)
CALL(gcm_siv_open_joined,       SIV,  NO,    NO,   OPEN, SIV_IV, NO,       SIV_MSG, SIV_BOTH, MOVED)

ZEROS(aes_ctr32,                   AES,   SEAL, ANY, MOVED)
ZEROS(aes_ctr32_le,                AES,   SEAL, ANY, MOVED)
ZEROS(aes_cbc_encrypt_blocks,      AES,   SEAL, ANY, MOVED)
ZEROS(aes_cbc_decrypt_blocks,      AES,   OPEN, ANY, MOVED)
ZEROS(aes_cbc_encrypt_blocks_many, AES,   SEAL, ANY, MSGS)
ZEROS(aes_cbcmac_blocks,           AES,   SEAL, ANY, READ)
ZEROS(aes_xts_encrypt_blocks,      AES,   SEAL, ANY, MOVED)
ZEROS(aes_xts_decrypt_blocks,      AES,   OPEN, ANY, MOVED)
ZEROS(ghash_blocks,                GHASH, SEAL, ANY, READ)
ZEROS(ghash_reversed_blocks,       GHASH, SEAL, ANY, READ)
ZEROS(ghash_padded,                GHASH, SEAL, ANY, READ)

SET_UP(aes_set_key, AES_BITS) SET_UP(aes_set_encrypt_key, AES_BITS) SET_UP(aes_set_key_in, AES_BITS)
SET_UP(aes_set_encrypt_key_in, AES_BITS) SET_UP(aes_set_best, AES_BITS)
SET_UP(aes_cbc_encrypt_set_best, AES_BITS) SET_UP(aes_cbc_decrypt_set_best, AES_BITS)
SET_UP(aes_ctr_set_best, AES_BITS) SET_UP(aes_kw_set_best, AES_BITS)
SET_UP(aes_xts_set_key, XTS_BITS)
SET_UP(aes_xts_set_key_in, XTS_BITS) SET_UP(aes_xts_set_key_allowing_in, XTS_BITS)
SET_UP(aes_xts_set_best, XTS_BITS) SET_UP(aes_cmac_set_key, AES_BITS)
SET_UP(aes_cmac_set_key_in, AES_BITS) SET_UP(aes_cmac_set_best, AES_BITS)
SET_UP(aes_ccm_set_key, AES_BITS) SET_UP(aes_ccm_set_key_in, AES_BITS)
SET_UP(aes_ccm_set_best, AES_BITS) SET_UP(ghash_set_key, ANY) SET_UP(ghash_set_key_in, ANY)
SET_UP(ghash_set_best, ANY) SET_UP(gcm_set_key, AES_BITS) SET_UP(gcm_set_key_in, AES_BITS)
SET_UP(gcm_set_pair, AES_BITS) SET_UP(gcm_set_pair_in, AES_BITS) SET_UP(gcm_set_best, AES_BITS)
SET_UP(gcm_siv_set_key, SIV_BITS) SET_UP(gcm_siv_set_key_in, SIV_BITS)
SET_UP(gcm_siv_set_best, SIV_BITS)

#undef LIMIT
#undef CALL
#undef ZEROS
#undef SET_UP

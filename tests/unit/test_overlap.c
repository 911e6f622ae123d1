/* SPDX-License-Identifier: MIT */
/* Output that overlaps its input: every mode gives what it gives with buffers apart, whatever
 * the distance of both. */
#include "everycore/gcm.h"
#include "everycore/gcm_siv.h"
#include "everycore/modes.h"
#include "tap.h"

#ifndef STEP_HERE
#define STEP_HERE 1 /* an emulator tries each so many-th distance */
#endif

enum { MOST_SHIFT = 300, MOST_BYTES = 1100, ROOM = MOST_BYTES + 4 * MOST_SHIFT };

static const struct evc_aes *aes;
static union evc_aes_key aes_key;
static struct evc_aes_xts_key xts_key;
static struct evc_aes_ccm_key ccm_key;
static union evc_gcm_key gcm_key;
static struct evc_gcm_siv_key siv_key;
static uint8_t scratch[EVC_GCM_SIV_MOST_SCRATCH_BYTES];
static uint8_t user_key[64], nonce[16], aad[20], tag[16];
static size_t n_pieces = 1; /* of text, in modes that have pieces */

/* ---- The modes: n bytes from in to out. Those that open check `tag`; the others leave there what
 * goes on behind the call: a tag, or the value for the next call ---- */

#define IV uint8_t *const iv = memcpy(tag, nonce, 16)

static enum evc_status ecb_encrypt(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_aes_encrypt(&aes_key, in, out, n / 16);
}

static enum evc_status ecb_decrypt(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_aes_decrypt(&aes_key, in, out, n / 16);
}

static enum evc_status cbc_encrypt(const uint8_t *in, uint8_t *out, size_t n)
{
    IV;
    return evc_aes_cbc_encrypt(&aes_key, iv, in, out, n);
}

static enum evc_status cbc_decrypt(const uint8_t *in, uint8_t *out, size_t n)
{
    IV;
    return evc_aes_cbc_decrypt(&aes_key, iv, in, out, n);
}

static enum evc_status cbc_encrypt_blocks(const uint8_t *in, uint8_t *out, size_t n)
{
    IV;
    evc_aes_cbc_encrypt_blocks(&aes_key, iv, in, out, n / 16);
    return EVC_OK;
}

static enum evc_status cbc_decrypt_blocks(const uint8_t *in, uint8_t *out, size_t n)
{
    IV;
    evc_aes_cbc_decrypt_blocks(&aes_key, iv, in, out, n / 16);
    return EVC_OK;
}

/* Beside two messages that overlap nothing, and one whose result nobody wants. */
static enum evc_status cbc_encrypt_many(const uint8_t *in, uint8_t *out, size_t n)
{
    static const uint8_t other_in[64];
    uint8_t ivs[4][16] = {{0}}, other_out[2][64];
    const struct evc_msg msgs[] = {
        {.in = other_in, .out = other_out[0], .len_bytes = 64, .iv = ivs[0]},
        {.in = in, .out = out, .len_bytes = n, .iv = ivs[1]},
        {.in = other_in, .out = other_out[1], .len_bytes = 48, .iv = ivs[2]},
        {.in = other_in, .len_bytes = 32, .iv = ivs[3]}};

    const enum evc_status status = evc_aes_cbc_encrypt_many(&aes_key, msgs, 4);

    memcpy(tag, ivs[1], 8);
    memcpy(tag + 8, ivs[3], 8);
    EXPECT(memcmp(other_out[0] + 48, ivs[0], 16) == 0 &&
           memcmp(other_out[1] + 32, ivs[2], 16) == 0);
    return status;
}

static enum evc_status cbc_encrypt_blocks_many(const uint8_t *in, uint8_t *out, size_t n)
{
    IV;
    const struct evc_msg msg = {.in = in, .out = out, .len_bytes = n, .iv = iv};

    evc_aes_cbc_encrypt_blocks_many(&aes_key, &msg, 1);
    return EVC_OK;
}

static enum evc_status ctr(const uint8_t *in, uint8_t *out, size_t n)
{
    IV;
    return evc_aes_ctr(&aes_key, iv, in, out, n);
}

static enum evc_status ctr32(const uint8_t *in, uint8_t *out, size_t n)
{
    IV;
    evc_aes_ctr32(&aes_key, iv, in, out, n);
    return EVC_OK;
}

static enum evc_status ctr32_le(const uint8_t *in, uint8_t *out, size_t n)
{
    IV;
    evc_aes_ctr32_le(&aes_key, iv, in, out, n);
    return EVC_OK;
}

/* The second piece begins within a block. */
static enum evc_status ctr_update(const uint8_t *in, uint8_t *out, size_t n)
{
    static const uint8_t begin[5];
    uint8_t first[5];
    struct evc_aes_ctr state;

    must(evc_aes_ctr_start(&state, nonce));
    must(evc_aes_ctr_update(&aes_key, &state, begin, first, sizeof first));
    must(evc_aes_ctr_update(&aes_key, &state, in, out, n));
    return evc_aes_ctr_update(&aes_key, &state, nonce, tag, 16);
}

static enum evc_status xts_encrypt(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_aes_xts_encrypt(&xts_key, nonce, in, out, n);
}

static enum evc_status xts_decrypt(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_aes_xts_decrypt(&xts_key, nonce, in, out, n);
}

static enum evc_status xts_encrypt_blocks(const uint8_t *in, uint8_t *out, size_t n)
{
    IV;
    evc_aes_xts_encrypt_blocks(&aes_key, iv, in, out, n / 16);
    return EVC_OK;
}

static enum evc_status xts_decrypt_blocks(const uint8_t *in, uint8_t *out, size_t n)
{
    IV;
    evc_aes_xts_decrypt_blocks(&aes_key, iv, in, out, n / 16);
    return EVC_OK;
}

static enum evc_status xts_encrypt_update(const uint8_t *in, uint8_t *out, size_t n)
{
    struct evc_aes_xts state;

    must(evc_aes_xts_start(&xts_key, &state, nonce));
    must(evc_aes_xts_encrypt_update(&xts_key, &state, in, out, n));
    return evc_aes_xts_encrypt_update(&xts_key, &state, nonce, tag, 16);
}

static enum evc_status xts_decrypt_update(const uint8_t *in, uint8_t *out, size_t n)
{
    struct evc_aes_xts state;

    must(evc_aes_xts_start(&xts_key, &state, nonce));
    must(evc_aes_xts_decrypt_update(&xts_key, &state, in, out, n));
    return evc_aes_xts_decrypt_update(&xts_key, &state, nonce, tag, 16);
}

static enum evc_status xts_encrypt_finish(const uint8_t *in, uint8_t *out, size_t n)
{
    struct evc_aes_xts state;

    must(evc_aes_xts_start(&xts_key, &state, nonce));
    return evc_aes_xts_encrypt_finish(&xts_key, &state, in, out, n);
}

static enum evc_status xts_decrypt_finish(const uint8_t *in, uint8_t *out, size_t n)
{
    struct evc_aes_xts state;

    must(evc_aes_xts_start(&xts_key, &state, nonce));
    return evc_aes_xts_decrypt_finish(&xts_key, &state, in, out, n);
}

static enum evc_status ccm_seal(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_aes_ccm_seal(&ccm_key, nonce, 12, aad, sizeof aad, in, out, n, tag, 16);
}

static enum evc_status ccm_open(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_aes_ccm_open(&ccm_key, nonce, 12, aad, sizeof aad, in, out, n, tag, 16);
}

static enum evc_status ccm_seal_pieces(const uint8_t *in, uint8_t *out, size_t n)
{
    struct evc_aes_ccm state;

    must(evc_aes_ccm_start(&ccm_key, &state, nonce, 12, sizeof aad, n, 16));
    must(evc_aes_ccm_aad(&ccm_key, &state, aad, sizeof aad));
    for (size_t i = 0; i < n_pieces; i++) {
        const size_t at = n * i / n_pieces;
        must(evc_aes_ccm_seal_update(&ccm_key, &state, in + at, out + at,
                                     n * (i + 1) / n_pieces - at));
    }
    return evc_aes_ccm_seal_finish(&ccm_key, &state, tag);
}

static enum evc_status ccm_open_pieces(const uint8_t *in, uint8_t *out, size_t n)
{
    struct evc_aes_ccm state;

    must(evc_aes_ccm_start(&ccm_key, &state, nonce, 12, sizeof aad, n, 16));
    must(evc_aes_ccm_aad(&ccm_key, &state, aad, sizeof aad));
    for (size_t i = 0; i < n_pieces; i++) {
        const size_t at = n * i / n_pieces;
        must(evc_aes_ccm_open_update(&ccm_key, &state, in + at, out + at,
                                     n * (i + 1) / n_pieces - at));
    }
    return evc_aes_ccm_open_finish(&ccm_key, &state, tag);
}

static enum evc_status siv_seal(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_gcm_siv_seal(&siv_key, nonce, 12, aad, sizeof aad, in, out, n, tag, 16, scratch,
                            sizeof scratch);
}

static enum evc_status siv_open(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_gcm_siv_open(&siv_key, nonce, 12, aad, sizeof aad, in, out, n, tag, 16, scratch,
                            sizeof scratch);
}

static enum evc_status siv_seal_joined(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_gcm_siv_seal_joined(&siv_key, nonce, 12, aad, sizeof aad, in, out, n, scratch,
                                   sizeof scratch);
}

static enum evc_status siv_open_joined(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_gcm_siv_open_joined(&siv_key, nonce, 12, aad, sizeof aad, in, out, n + 16, scratch,
                                   sizeof scratch);
}

/* 8 bytes are before the wrapped text: n is the length of the text. */
static enum evc_status kw_wrap(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_aes_kw_wrap(&aes_key, in, out, n);
}

static enum evc_status kw_unwrap(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_aes_kw_unwrap(&aes_key, in, out, n + 8);
}

static enum evc_status kwp_wrap(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_aes_kwp_wrap(&aes_key, in, out, n);
}

static enum evc_status kwp_unwrap(const uint8_t *in, uint8_t *out, size_t n)
{
    size_t len_bytes = 0;
    const enum evc_status status = evc_aes_kwp_unwrap(&aes_key, in, out, n + 8, &len_bytes);

    EXPECT(len_bytes == (status == EVC_OK ? n : 0));
    return status;
}

static enum evc_status gcm_seal(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_gcm_seal(&gcm_key, nonce, 12, aad, sizeof aad, in, out, n, tag, 16);
}

static enum evc_status gcm_open(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_gcm_open(&gcm_key, nonce, 12, aad, sizeof aad, in, out, n, tag, 16);
}

/* The tag is behind the ciphertext: n is the length of the text. */
static enum evc_status ccm_seal_joined(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_aes_ccm_seal_joined(&ccm_key, nonce, 12, aad, sizeof aad, in, out, n, 16);
}

static enum evc_status ccm_open_joined(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_aes_ccm_open_joined(&ccm_key, nonce, 12, aad, sizeof aad, in, out, n + 16, 16);
}

static enum evc_status gcm_seal_joined(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_gcm_seal_joined(&gcm_key, nonce, 12, aad, sizeof aad, in, out, n);
}

static enum evc_status gcm_open_joined(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_gcm_open_joined(&gcm_key, nonce, 12, aad, sizeof aad, in, out, n + 16);
}

static enum evc_status gcm_seal_joined_long_iv(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_gcm_seal_joined(&gcm_key, nonce, 16, aad, sizeof aad, in, out, n);
}

static enum evc_status gcm_open_joined_long_iv(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_gcm_open_joined(&gcm_key, nonce, 16, aad, sizeof aad, in, out, n + 16);
}

/* Another length of the IV: composed of operations on blocks. */
static enum evc_status gcm_seal_long_iv(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_gcm_seal(&gcm_key, nonce, 16, aad, sizeof aad, in, out, n, tag, 16);
}

static enum evc_status gcm_open_long_iv(const uint8_t *in, uint8_t *out, size_t n)
{
    return evc_gcm_open(&gcm_key, nonce, 16, aad, sizeof aad, in, out, n, tag, 16);
}

/* Associated data of 0, 20 and 100 bytes takes other ways to the first piece of text. */
static enum evc_status gcm_seal_pieces(const uint8_t *in, uint8_t *out, size_t n)
{
    static const uint8_t more[80];
    struct evc_gcm_state state;

    must(evc_gcm_start(&gcm_key, &state, nonce, 12));
    if (n % 3)
        must(evc_gcm_aad(&gcm_key, &state, aad, sizeof aad));
    if (n % 3 == 2)
        must(evc_gcm_aad(&gcm_key, &state, more, sizeof more));
    for (size_t i = 0; i < n_pieces; i++) {
        const size_t at = n * i / n_pieces;
        must(evc_gcm_seal_update(&gcm_key, &state, in + at, out + at, n * (i + 1) / n_pieces - at));
    }
    return evc_gcm_seal_finish(&gcm_key, &state, tag, 16);
}

static enum evc_status gcm_open_pieces(const uint8_t *in, uint8_t *out, size_t n)
{
    static const uint8_t more[80];
    struct evc_gcm_state state;

    must(evc_gcm_start(&gcm_key, &state, nonce, 12));
    if (n % 3)
        must(evc_gcm_aad(&gcm_key, &state, aad, sizeof aad));
    if (n % 3 == 2)
        must(evc_gcm_aad(&gcm_key, &state, more, sizeof more));
    for (size_t i = 0; i < n_pieces; i++) {
        const size_t at = n * i / n_pieces;
        must(evc_gcm_open_update(&gcm_key, &state, in + at, out + at, n * (i + 1) / n_pieces - at));
    }
    return evc_gcm_open_finish(&gcm_key, &state, tag, 16);
}

typedef enum evc_status crypt(const uint8_t *in, uint8_t *out, size_t n);

static const struct mode {
    const char *name;
    crypt *run, *seal; /* seal: makes the text and the tag of a mode that opens */
    size_t least_bytes, multiple;
} modes[] = {
    {"ECB encryption", ecb_encrypt, NULL, 0, 16},
    {"ECB decryption", ecb_decrypt, NULL, 0, 16},
    {"CBC encryption", cbc_encrypt, NULL, 0, 16},
    {"CBC decryption", cbc_decrypt, NULL, 0, 16},
    {"CBC encryption of blocks", cbc_encrypt_blocks, NULL, 0, 16},
    {"CBC decryption of blocks", cbc_decrypt_blocks, NULL, 0, 16},
    {"CBC encryption of many messages", cbc_encrypt_many, NULL, 0, 16},
    {"CBC encryption of blocks of many messages", cbc_encrypt_blocks_many, NULL, 0, 16},
    {"CTR", ctr, NULL, 0, 1},
    {"CTR of 32 bits", ctr32, NULL, 0, 1},
    {"CTR, little-endian", ctr32_le, NULL, 0, 1},
    {"CTR in pieces", ctr_update, NULL, 0, 1},
    {"XTS encryption", xts_encrypt, NULL, 16, 1},
    {"XTS decryption", xts_decrypt, NULL, 16, 1},
    {"XTS encryption of blocks", xts_encrypt_blocks, NULL, 0, 16},
    {"XTS decryption of blocks", xts_decrypt_blocks, NULL, 0, 16},
    {"XTS encryption, a piece", xts_encrypt_update, NULL, 0, 16},
    {"XTS decryption, a piece", xts_decrypt_update, NULL, 0, 16},
    {"XTS encryption, the last piece", xts_encrypt_finish, NULL, 16, 1},
    {"XTS decryption, the last piece", xts_decrypt_finish, NULL, 16, 1},
    {"CCM sealed", ccm_seal, NULL, 0, 1},
    {"CCM opened", ccm_open, ccm_seal, 0, 1},
    {"CCM sealed in pieces", ccm_seal_pieces, NULL, 0, 1},
    {"CCM opened in pieces", ccm_open_pieces, ccm_seal_pieces, 0, 1},
    {"AES-GCM-SIV sealed", siv_seal, NULL, 0, 1},
    {"AES-GCM-SIV opened", siv_open, siv_seal, 0, 1},
    {"AES-GCM-SIV sealed, joined", siv_seal_joined, NULL, 0, 1},
    {"AES-GCM-SIV opened, joined", siv_open_joined, siv_seal_joined, 0, 1},
    {"a key wrapped", kw_wrap, NULL, 16, 8},
    {"a key unwrapped", kw_unwrap, kw_wrap, 16, 8},
    {"a key wrapped with padding", kwp_wrap, NULL, 8, 8},
    {"a key unwrapped from padding", kwp_unwrap, kwp_wrap, 8, 8},
    {"GCM sealed", gcm_seal, NULL, 0, 1},
    {"GCM opened", gcm_open, gcm_seal, 0, 1},
    {"GCM sealed, long IV", gcm_seal_long_iv, NULL, 0, 1},
    {"GCM opened, long IV", gcm_open_long_iv, gcm_seal_long_iv, 0, 1},
    {"GCM sealed in pieces", gcm_seal_pieces, NULL, 0, 1},
    {"GCM opened in pieces", gcm_open_pieces, gcm_seal_pieces, 0, 1},
    {"CCM sealed, joined", ccm_seal_joined, NULL, 0, 1},
    {"CCM opened, joined", ccm_open_joined, ccm_seal_joined, 0, 1},
    {"GCM sealed, joined", gcm_seal_joined, NULL, 0, 1},
    {"GCM opened, joined", gcm_open_joined, gcm_seal_joined, 0, 1},
    {"GCM sealed, joined, long IV", gcm_seal_joined_long_iv, NULL, 0, 1},
    {"GCM opened, joined, long IV", gcm_open_joined_long_iv, gcm_seal_joined_long_iv, 0, 1},
};

/* Bytes of input and output beyond the text: of a tag behind it, or of the check of a wrapped
 * key. */
static size_t more_in(const struct mode *mode)
{
    if (strstr(mode->name, "a key"))
        return mode->seal ? 8 : 0;
    return strstr(mode->name, "joined") && mode->seal ? 16 : 0;
}

static size_t more_out(const struct mode *mode)
{
    if (strstr(mode->name, "a key"))
        return mode->seal ? 0 : 8;
    return strstr(mode->name, "joined") && !mode->seal ? 16 : 0;
}

/* ---- One message at one distance ---- */

struct message {
    uint8_t in[MOST_BYTES + 16], out[MOST_BYTES + 16], tag[16];
    size_t len_bytes;
};

/* in, and what a call with buffers apart makes of it. */
static void make(const struct mode *mode, struct message *m)
{
    uint8_t plain[MOST_BYTES];

    random_fill(plain, m->len_bytes);
    memcpy(m->in, plain, m->len_bytes);
    if (mode->seal)
        must(mode->seal(plain, m->in, m->len_bytes));
    memcpy(m->tag, tag, 16);
    EXPECT(mode->run(m->in, m->out, m->len_bytes) == EVC_OK);
    memcpy(m->tag, tag, 16);
}

/* Nonzero if the call gives the same with its output `shift` bytes behind its input,
 * and writes nothing else. */
static int is_right_at(const struct mode *mode, const struct message *m, int shift)
{
    uint8_t room[ROOM], wanted[ROOM];
    uint8_t *const in = room + 2 * MOST_SHIFT, *const out = in + shift;

    memset(room, 0xa5, sizeof room);
    memcpy(in, m->in, m->len_bytes + more_in(mode));
    memcpy(wanted, room, sizeof room);
    memcpy(wanted + (out - room), m->out, m->len_bytes + more_out(mode));
    memcpy(tag, m->tag, 16);
    return mode->run(in, out, m->len_bytes) == EVC_OK && memcmp(room, wanted, sizeof room) == 0 &&
           memcmp(tag, m->tag, 16) == 0;
}

static int most_shift = MOST_SHIFT;

static void try_shifts(const struct mode *mode, size_t len_bytes, int step)
{
    struct message m;
    int wrong = 0;

    m.len_bytes = len_bytes / mode->multiple * mode->multiple;
    if (m.len_bytes < mode->least_bytes)
        return;
    make(mode, &m);
    for (int shift = -MOST_SHIFT; shift <= most_shift; shift += step)
        if (!is_right_at(mode, &m, shift) && !wrong++)
            printf("# %s by %s: %zu bytes, output %d bytes behind input\n", mode->name,
                   aes->kernel.name, m.len_bytes, shift);
    EXPECT(!wrong);
}

static void set_keys(const struct evc_gcm *gcm)
{
    must(evc_aes_set_key(&aes_key, aes, user_key, 256));
    must(evc_aes_xts_set_key(&xts_key, aes, aes, user_key, 256));
    must(evc_aes_ccm_set_key(&ccm_key, aes, aes, user_key, 256));
    must(evc_gcm_siv_set_key(&siv_key, aes,
                             evc_ghash_select(evc_cpu_features(), EVC_ALLOW_VARTIME), user_key,
                             256));
    if (gcm)
        must(evc_gcm_set_key(&gcm_key, gcm, user_key, 256));
    else
        must(evc_gcm_set_pair(
            &gcm_key, aes, evc_ghash_select(evc_cpu_features(), EVC_ALLOW_VARTIME), user_key, 256));
}

static int is_gcm(const struct mode *mode)
{
    return strncmp(mode->name, "GCM", 3) == 0;
}

static int runs_here(const struct evc_kernel *kernel)
{
    return evc_kernel_runs(kernel, evc_cpu_features() | EVC_CPU(CT_MUL));
}

/* ---- The tests ---- */

/* By the kernels that are selected; the fused kernel of GCM, if there is one, and a pair. */
static void every_mode_is_right_at_every_distance(void)
{
    static const size_t lengths[] = {0, 1, 16, 33, 67, 130, 288, 540};
    const struct evc_gcm *gcm = evc_gcm_select(evc_cpu_features(), 0);

    aes = evc_aes_select(evc_cpu_features(), 0, EVC_USE_PARALLEL);
    for (int fused = 0; fused < (gcm ? 2 : 1); fused++) {
        set_keys(fused ? gcm : NULL);
        for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
            for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
                if (!fused || is_gcm(&modes[i]))
                    try_shifts(&modes[i], lengths[k], STEP_HERE);
    }
}

/* At some distances, among them those of less than a block, of a block, and of a kernel's batch. */
static void every_kernel_is_right_at_some_distances(void)
{
    for (unsigned k = 0; (aes = evc_aes_at(k)) != NULL; k++) {
        if (!runs_here(evc_aes_kernel(aes)))
            continue;
        set_keys(NULL);
        for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
            for (size_t len_bytes = 16; len_bytes <= 48; len_bytes += 16)
                try_shifts(&modes[i], len_bytes, 7);
            try_shifts(&modes[i], 256, 20);
            try_shifts(&modes[i], 1055, 50);
        }
    }
}

static void every_kernel_of_gcm_is_right_at_some_distances(void)
{
    const struct evc_gcm *gcm;

    aes = evc_aes_named("c_ref");
    for (unsigned k = 0; (gcm = evc_gcm_at(k)) != NULL; k++) {
        if (!runs_here(evc_gcm_kernel(gcm)))
            continue;
        set_keys(gcm);
        for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
            for (size_t len_bytes = 16; len_bytes <= MOST_BYTES && is_gcm(&modes[i]);
                 len_bytes += 131)
                try_shifts(&modes[i], len_bytes, 12);
    }
}

/* Output that lies behind its input would reach the input of the next piece. */
static void later_pieces_are_right_where_output_lies_before_input(void)
{
    const struct evc_gcm *gcm = evc_gcm_select(evc_cpu_features(), 0);

    aes = evc_aes_select(evc_cpu_features(), 0, EVC_USE_PARALLEL);
    n_pieces = 3;
    most_shift = 0;
    for (int fused = 0; fused < (gcm ? 2 : 1); fused++) {
        set_keys(fused ? gcm : NULL);
        for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
            for (size_t len_bytes = 3;
                 len_bytes < MOST_BYTES && strstr(modes[i].name, "ed in pieces"); len_bytes += 85)
                try_shifts(&modes[i], len_bytes, 3);
    }
    n_pieces = 1;
    most_shift = MOST_SHIFT;
}

static void forgeries_are_wiped_at_every_distance(void)
{
    static const uint8_t zeros[MOST_BYTES];
    const struct evc_gcm *gcm = evc_gcm_select(evc_cpu_features(), 0);

    aes = evc_aes_select(evc_cpu_features(), 0, EVC_USE_PARALLEL);
    for (int fused = 0; fused < (gcm ? 2 : 1); fused++) {
        set_keys(fused ? gcm : NULL);
        for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
            const struct mode *const mode = &modes[i];
            struct message m = {.len_bytes = 136 - mode->multiple};
            if (!mode->seal || strstr(mode->name, "pieces"))
                continue;
            make(mode, &m);
            for (int shift = -MOST_SHIFT; shift <= MOST_SHIFT; shift += STEP_HERE) {
                uint8_t room[ROOM], wanted[ROOM];
                uint8_t *const in = room + 2 * MOST_SHIFT, *const out = in + shift;
                memset(room, 0xa5, sizeof room);
                memcpy(in, m.in, m.len_bytes + more_in(mode));
                memcpy(tag, m.tag, 16);
                (more_in(mode) ? in + m.len_bytes : tag)[3] ^= 1;
                memcpy(wanted, room, sizeof room); /* what is not output is as it was */
                memcpy(wanted + (out - room), zeros, m.len_bytes);
                EXPECT(mode->run(in, out, m.len_bytes) == EVC_ERR_TAG);
                EXPECT(memcmp(room, wanted, sizeof room) == 0);
            }
        }
    }
}

int main(void)
{
    random_fill(user_key, sizeof user_key);
    random_fill(nonce, sizeof nonce);
    random_fill(aad, sizeof aad);
    RUN(every_mode_is_right_at_every_distance);
    RUN(every_kernel_is_right_at_some_distances);
    RUN(every_kernel_of_gcm_is_right_at_some_distances);
    RUN(later_pieces_are_right_where_output_lies_before_input);
    RUN(forgeries_are_wiped_at_every_distance);
    return tap_done();
}

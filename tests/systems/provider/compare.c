/* SPDX-License-Identifier: MIT */
/*
 * The provider beside OpenSSL's own: every call is made twice, for a context of each, and
 * must give the same in both.
 *
 *     compare FOLDER ROUNDS SEED
 *
 * FOLDER: where everycore.so is. The last line is the count of calls that were compared.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/provider.h>

enum { OURS, THEIRS, BOTH, MAX_TEXT = 5000, ROOM = 9000 };

static const char *const queries[BOTH] = {"provider=everycore", "provider=default"};
static const char *const names[] = {
    "AES-128-GCM", "AES-192-GCM", "AES-256-GCM", "AES-128-CCM", "AES-192-CCM", "AES-256-CCM",
    "AES-128-CTR", "AES-192-CTR", "AES-256-CTR", "AES-128-CBC", "AES-192-CBC", "AES-256-CBC",
    "AES-128-ECB", "AES-192-ECB", "AES-256-ECB", "AES-128-XTS", "AES-256-XTS",
    "AES-128-WRAP", "AES-192-WRAP", "AES-256-WRAP", "AES-128-WRAP-PAD", "AES-192-WRAP-PAD",
    "AES-256-WRAP-PAD",
};
enum { N_NAMES = sizeof names / sizeof *names };

static EVP_CIPHER *ciphers[N_NAMES][BOTH], *sivs[2][BOTH]; /* sivs: NULL before OpenSSL 3.2 */
static EVP_MAC *macs[BOTH], *hmacs[BOTH]; /* NULL where ours is not offered, as KDFs */
static EVP_KDF *pbkdf2s[BOTH], *hkdfs[BOTH], *tls_kdfs[BOTH];

struct run {
    uint64_t state; /* of the generator: splitmix64 of Steele, Lea, Flood 2014 */
    uint64_t seed;
    const char *name;
    char trace[4000];
    EVP_CIPHER_CTX *contexts[BOTH];
    int result[BOTH], length[BOTH];
    uint8_t in[ROOM], out[BOTH][ROOM], tag[BOTH][16];
    unsigned long calls;
    int lags; /* output is behind input, since the cipher holds blocks back: not in place */
    int is_forged; /* a text of GCM-SIV with a wrong tag: zeros of ours, and any bytes of theirs */
};

static uint64_t next(struct run *r)
{
    uint64_t z = r->state += 0x9E3779B97F4A7C15;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

static size_t below(struct run *r, size_t n)
{
    return (size_t)(next(r) % n);
}

static int one_in(struct run *r, size_t n)
{
    return below(r, n) == 0;
}

static void fill(struct run *r, uint8_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)next(r);
}

static void note(struct run *r, const char *what, size_t n)
{
    const size_t used = strlen(r->trace);

    snprintf(r->trace + used, sizeof r->trace - used, " %s:%zu", what, n);
}

static void fail(const struct run *r, const char *what)
{
    printf("FAILED: %s: %s: ours %d, theirs %d, after%s (seed %llu)\n", r->name, what,
           r->result[OURS], r->result[THEIRS], r->trace, (unsigned long long)r->seed);
    ERR_print_errors_fp(stdout);
    exit(1);
}

/* Compare what both calls gave. Returns whether they succeeded. */
static int same(struct run *r, const char *what, const void *a, const void *b, size_t n)
{
    r->calls++;
    if ((r->result[OURS] > 0) != (r->result[THEIRS] > 0))
        fail(r, what);
    if (r->result[OURS] <= 0) {
        ERR_clear_error();
        return 0;
    }
    if (n && memcmp(a, b, n) != 0)
        fail(r, what);
    return 1;
}

#define EACH(r, call)                                  \
    for (int side = OURS; side < BOTH; side++) {       \
        EVP_CIPHER_CTX *context = (r)->contexts[side]; \
        (r)->result[side] = (call);                    \
        (void)context;                                 \
    }

static int init(struct run *r, const uint8_t *key, const uint8_t *iv, int encrypt)
{
    note(r, key ? iv ? "key+iv" : "key" : "iv", (size_t)encrypt);
    EACH(r, EVP_CipherInit_ex(context, NULL, NULL, key, iv, encrypt));
    return same(r, "init", NULL, NULL, 0);
}

static int control(struct run *r, int command, int number, void *data)
{
    note(r, "control", (size_t)command);
    EACH(r, EVP_CIPHER_CTX_ctrl(context, command, number, data));
    return same(r, "control", NULL, NULL, 0);
}

/* n bytes from r->in + at, in place or not. */
static int update(struct run *r, size_t at, size_t n, int has_out)
{
    const int in_place = one_in(r, 2) && !r->lags;
    const uint8_t *in = r->in + at;

    note(r, has_out ? in_place ? "text-in-place" : "text" : "aad", n);
    for (int side = OURS; side < BOTH; side++) {
        uint8_t *out = r->out[side];
        if (has_out && in_place)
            memcpy(out, in, n);
        r->length[side] = 0;
        r->result[side] =
            EVP_CipherUpdate(r->contexts[side], has_out ? out : NULL, &r->length[side],
                             has_out && in_place ? out : in, (int)n);
    }
    if (!same(r, "update", r->length, r->length + 1, sizeof(int)))
        return 0;
    for (size_t i = 0; has_out && r->is_forged && i < n; i++)
        if (r->out[OURS][i])
            fail(r, "text that is forged");
    return same(r, "update's bytes", r->out[OURS], r->out[THEIRS],
                has_out && !r->is_forged ? (size_t)r->length[OURS] : 0);
}

static int finish(struct run *r)
{
    note(r, "final", 0);
    EACH(r, (r->length[side] = 0, EVP_CipherFinal_ex(context, r->out[side], &r->length[side])));
    if (!same(r, "final", r->length, r->length + 1, sizeof(int)))
        return 0;
    return same(r, "final's bytes", r->out[OURS], r->out[THEIRS], (size_t)r->length[OURS]);
}

/* Go on with copies; the former contexts are freed. */
static void copy(struct run *r)
{
    note(r, "copy", 0);
    for (int side = OURS; side < BOTH; side++) {
        EVP_CIPHER_CTX *twin = EVP_CIPHER_CTX_new();
        r->result[side] = EVP_CIPHER_CTX_copy(twin, r->contexts[side]);
        EVP_CIPHER_CTX_free(r->contexts[side]);
        r->contexts[side] = twin;
    }
    if (!same(r, "copy", NULL, NULL, 0))
        fail(r, "copy");
}

static void compare_ivs(struct run *r)
{
    uint8_t iv[BOTH][16];

    memset(iv, 0, sizeof iv);
    EACH(r, EVP_CIPHER_CTX_get_updated_iv(context, iv[side], 16));
    same(r, "updated IV", iv[OURS], iv[THEIRS], 16);
    EACH(r, EVP_CIPHER_CTX_get_original_iv(context, iv[side], 16));
    same(r, "original IV", iv[OURS], iv[THEIRS], 16);
    EACH(r, EVP_CIPHER_CTX_get_num(context) + 1);
    if (r->result[OURS] != r->result[THEIRS])
        fail(r, "num");
}

static size_t some_length(struct run *r)
{
    const size_t most[] = {0, 1, 15, 16, 17, 33, 64, 100, 600, MAX_TEXT - 1};

    return below(r, most[below(r, sizeof most / sizeof *most)] + 1);
}

/* A text in pieces, which may be followed by what must not come. Returns
 * whether all calls succeeded. */
static int pieces(struct run *r, size_t n, int has_out)
{
    const int in_one = one_in(r, 2);

    for (size_t done = 0, piece; done < n; done += piece) {
        piece = in_one ? n : 1 + below(r, one_in(r, 2) ? 20 : n - done);
        piece = piece < n - done ? piece : n - done;
        if (!update(r, done, piece, has_out))
            return 0;
        if (one_in(r, 6))
            copy(r);
    }
    return 1;
}

/* Orders of calls that no program should make: all that matters is that both
 * agree, and nothing breaks. */
static void wrong_order(struct run *r, const uint8_t *key, const uint8_t *iv)
{
    uint8_t tag[16] = {0};
    int has_begun = 0; /* a message, which has not ended */

    for (int i = 0; i < 6; i++) {
        int goes_on = 1;
        switch (below(r, 5)) {
        case 0:
            goes_on = has_begun = update(r, 0, 16 * (1 + below(r, 4)), 1);
            break;
        case 1:
            goes_on = has_begun = update(r, 0, 1 + below(r, 20), 0);
            break;
        case 2:
            goes_on = finish(r);
            has_begun = 0;
            break;
        case 3:
            goes_on = init(r, one_in(r, 2) ? key : NULL, iv, 1);
            break;
        case 4:
            if (has_begun) { /* OpenSSL's own may tell the tag of the message before */
                if (EVP_CIPHER_CTX_ctrl(r->contexts[OURS], EVP_CTRL_AEAD_GET_TAG, 16,
                                        r->tag[OURS]) > 0)
                    fail(r, "the tag of a message that goes on");
                break;
            }
            EACH(r, EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, r->tag[side]));
            goes_on = same(r, "tag out of order", r->tag[OURS], r->tag[THEIRS], 16);
            break;
        }
        if (!goes_on)
            return; /* after an error, OpenSSL's own contexts may do anything */
    }
    (void)control(r, EVP_CTRL_AEAD_SET_TAG, 16, tag);
}

static void gcm(struct run *r)
{
    const size_t aad_bytes = one_in(r, 3) ? some_length(r) : below(r, 20),
                 text_bytes = some_length(r);
    const size_t tag_sizes[] = {16, 16, 16, 15, 14, 13, 12, 8, 4},
                 tag_bytes = tag_sizes[below(r, 9)];
    const size_t iv_bytes = one_in(r, 3) ? 1 + below(r, 64) : 12;
    uint8_t key[32], iv[64], text[ROOM];

    fill(r, key, sizeof key);
    fill(r, iv, sizeof iv);
    if (iv_bytes != 12 && !control(r, EVP_CTRL_AEAD_SET_IVLEN, (int)iv_bytes, NULL))
        fail(r, "IV length");
    for (int message = 0; message < 2; message++) {
        const int encrypts = message == 0;
        if (one_in(r, 3)) { /* the key first, the IV first, or the key of before */
            if (one_in(r, 2) && !init(r, key, NULL, encrypts))
                fail(r, "key");
            if (!init(r, one_in(r, 2) ? key : NULL, iv, encrypts) || !init(r, key, iv, encrypts))
                fail(r, "IV");
        } else if (!init(r, key, iv, encrypts)) {
            fail(r, "key and IV");
        }
        if (encrypts && one_in(r, 8)) {
            wrong_order(r, key, iv);
            return;
        }
        if (message && !control(r, EVP_CTRL_AEAD_SET_TAG, (int)tag_bytes, r->tag[OURS]))
            fail(r, "tag");
        memset(r->in, (int)aad_bytes, aad_bytes); /* the same when the message is opened */
        if (!pieces(r, aad_bytes, 0))
            fail(r, "aad");
        if (message)
            memcpy(r->in, text, text_bytes);
        else
            fill(r, r->in, text_bytes);
        if (one_in(r, 2) || message == 0) {
            size_t done = 0;
            while (done < text_bytes) {
                size_t n = one_in(r, 2) ? text_bytes - done : 1 + below(r, text_bytes - done);
                if (!update(r, done, n, 1))
                    fail(r, "text");
                memcpy(text + done, r->out[OURS], n);
                if (one_in(r, 5))
                    copy(r);
                done += n;
            }
        } else if (!pieces(r, text_bytes, 1)) {
            fail(r, "text");
        }
        if (message && one_in(r, 3)) { /* a tag that is wrong */
            r->tag[OURS][below(r, tag_bytes)] ^= (uint8_t)(1 << below(r, 8));
            if (!control(r, EVP_CTRL_AEAD_SET_TAG, (int)tag_bytes, r->tag[OURS]))
                fail(r, "wrong tag");
            if (finish(r))
                fail(r, "a wrong tag was accepted");
            return;
        }
        if (!finish(r))
            fail(r, "final");
        if (!message) {
            EACH(r,
                 EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, (int)tag_bytes, r->tag[side]));
            if (!same(r, "tag", r->tag[OURS], r->tag[THEIRS], tag_bytes))
                fail(r, "no tag");
        }
        if (one_in(r, 4) && update(r, 0, 16, 1))
            fail(r, "text after the end");
    }
}

static void ccm(struct run *r)
{
    const size_t aad_bytes = one_in(r, 3) ? 0 : some_length(r), text_bytes = some_length(r);
    const size_t tag_bytes = 4 + 2 * below(r, 7), nonce_bytes = 7 + below(r, 7);
    uint8_t key[32], nonce[16], text[ROOM];

    fill(r, key, sizeof key);
    fill(r, nonce, sizeof nonce);
    for (int message = 0; message < 2; message++) {
        if (!control(r, EVP_CTRL_AEAD_SET_IVLEN, (int)nonce_bytes, NULL)
            || (message == 0 && !control(r, EVP_CTRL_AEAD_SET_TAG, (int)tag_bytes, NULL)))
            fail(r, "lengths");
        if (!init(r, one_in(r, 2) ? key : NULL, NULL, message == 0) ||
            !init(r, key, nonce, message == 0))
            fail(r, "key and nonce");
        if (message) {
            if (one_in(r, 3))
                r->tag[OURS][0] ^= 1;
            if (!control(r, EVP_CTRL_AEAD_SET_TAG, (int)tag_bytes, r->tag[OURS]))
                fail(r, "tag");
        }
        if (aad_bytes) {
            EACH(r, EVP_CipherUpdate(context, NULL, &r->length[side], NULL, (int)text_bytes));
            if (!same(r, "length of text", NULL, NULL, 0))
                fail(r, "length of text");
            memset(r->in, 7, aad_bytes);
            if (!update(r, 0, aad_bytes, 0))
                fail(r, "aad");
        }
        if (one_in(r, 4))
            copy(r);
        if (message)
            memcpy(r->in, text, text_bytes);
        else
            fill(r, r->in, text_bytes);
        if (aad_bytes && one_in(r, 10)) { /* not the length that was announced */
            if (update(r, 0, text_bytes + 1, 1))
                fail(r, "more text than was announced");
            return;
        }
        if (!update(r, 0, text_bytes, 1)) {
            if (!message)
                fail(r, "text");
            return; /* a wrong tag */
        }
        memcpy(text, r->out[OURS], text_bytes);
        if (message)
            return;
        if (!finish(r))
            fail(r, "final");
        EACH(r, EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, (int)tag_bytes, r->tag[side]));
        if (!same(r, "tag", r->tag[OURS], r->tag[THEIRS], tag_bytes))
            fail(r, "no tag");
    }
}

/* ECB, CBC, CTR. */
static void blocks(struct run *r, int pads)
{
    const size_t n = some_length(r);
    const int encrypts = one_in(r, 2);
    uint8_t key[32], iv[32];

    fill(r, key, sizeof key);
    fill(r, iv, sizeof iv);
    if (one_in(r, 4))
        memset(iv + 1 + below(r, 15), 0xFF, 15); /* a counter that carries */
    r->lags = EVP_CIPHER_CTX_get_mode(r->contexts[OURS]) != EVP_CIPH_CTR_MODE;
    EACH(r, EVP_CIPHER_CTX_set_padding(context, pads));
    if (one_in(r, 10)) {
        (void)update(r, 0, 16, 1); /* without a key */
        (void)finish(r);
    }
    if (!init(r, key, one_in(r, 8) ? NULL : iv, encrypts))
        fail(r, "key and IV");
    EACH(r, EVP_CIPHER_CTX_set_padding(context, pads));
    for (int message = 0; message < 2; message++) {
        fill(r, r->in, n);
        if (!pieces(r, n, 1))
            fail(r, "text");
        compare_ivs(r);
        (void)finish(r); /* fails alike where the length or the padding is wrong */
        if (!init(r, NULL, one_in(r, 2) ? iv : NULL, encrypts)) /* the same key again */
            fail(r, "IV");
    }
    if (one_in(r, 3)) { /* what is encrypted is decrypted, with its padding */
        uint8_t sealed[ROOM];
        int last = 0;
        if (!init(r, key, iv, 1) || !update(r, 0, n, 1))
            fail(r, "encryption");
        memcpy(sealed, r->out[OURS], ROOM);
        last = r->length[OURS];
        if (!finish(r))
            return;
        memcpy(sealed + last, r->out[OURS], (size_t)r->length[OURS]);
        last += r->length[OURS];
        memcpy(r->in, sealed, (size_t)last);
        if (!init(r, key, iv, 0) || !pieces(r, (size_t)last, 1))
            fail(r, "decryption");
        if (!finish(r))
            fail(r, "right padding");
    }
}

static void xts(struct run *r)
{
    const int encrypts = one_in(r, 2), equal = one_in(r, 10);
    uint8_t key[64], iv[16];

    fill(r, key, sizeof key);
    fill(r, iv, sizeof iv);
    if (equal) {
        memcpy(key + 16, key, 16);
        memcpy(key + 32, key, 32);
    }
    if (!init(r, key, iv, encrypts))
        return; /* equal keys, for encryption */
    for (int unit = 0; unit < 3; unit++) {
        const size_t n = some_length(r);
        fill(r, r->in, n);
        (void)update(r, 0, n, 1); /* less than a block fails */
        if (one_in(r, 4))
            copy(r);
        if (one_in(r, 2)) {
            fill(r, iv, sizeof iv);
            if (!init(r, NULL, iv, encrypts))
                fail(r, "tweak");
        }
    }
}

/* Texts that are wrapped and unwrapped whole, with an IV of the program's or without, sometimes
 * damaged, in any order. */
static void key_wrap(struct run *r)
{
    uint8_t key[32], iv[8];
    size_t n;

    r->lags = 0; /* in its place, too */
    fill(r, key, sizeof key);
    fill(r, iv, sizeof iv);
    EACH(r, (EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW), 1));
    for (int i = 0; i < 3; i++) {
        const uint8_t *const given = one_in(r, 3) ? iv : NULL;
        n = one_in(r, 3) ? some_length(r) % 600 : 8 * below(r, 20);
        if (!init(r, key, given, 1))
            fail(r, "key for wrapping");
        EACH(r, EVP_CIPHER_CTX_set_padding(context, (int)(n & 1))); /* changes nothing */
        (void)same(r, "padding", NULL, NULL, 0);
        compare_ivs(r);
        fill(r, r->in, n);
        EACH(r, EVP_CipherUpdate(context, NULL, &r->length[side], r->in, (int)n));
        (void)same(r, "length of wrapped text", r->length, r->length + 1, sizeof(int));
        if (!update(r, 0, n, 1) || n == 0)
            continue;
        n = (size_t)r->length[OURS];
        memcpy(r->in, r->out[OURS], n);
        if (one_in(r, 4))
            copy(r);
        (void)finish(r);
        if (one_in(r, 3))
            r->in[below(r, n)] ^= (uint8_t)(1 << below(r, 8));
        if (one_in(r, 8))
            n -= 1 + below(r, n);
        if (!init(r, key, one_in(r, 8) ? iv : given, 0))
            fail(r, "key for unwrapping");
        EACH(r, EVP_CipherUpdate(context, NULL, &r->length[side], r->in, (int)n));
        (void)same(r, "length of text", r->length, r->length + 1, sizeof(int));
        (void)update(r, 0, n, 1);
        (void)finish(r);
    }
}

/* ---- Records of TLS -------------------------------------------------------------------------- */

static void set_sizes(struct run *r, unsigned version, size_t mac_bytes)
{
    OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_TLS_VERSION, &version),
                           OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_TLS_MAC_SIZE, &mac_bytes),
                           OSSL_PARAM_construct_end()};

    EACH(r, EVP_CIPHER_CTX_set_params(context, params));
    if (!same(r, "version of TLS", NULL, NULL, 0))
        fail(r, "version of TLS");
}

static const uint8_t *mac_of(EVP_CIPHER_CTX *context, size_t n)
{
    uint8_t *mac = NULL;
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_octet_ptr(OSSL_CIPHER_PARAM_TLS_MAC, (void **)&mac, n),
        OSSL_PARAM_construct_end()};

    return EVP_CIPHER_CTX_get_params(context, params) > 0 ? mac : NULL;
}

/* One record in place, n bytes of r->in; the same of both. */
static int record(struct run *r, size_t n)
{
    note(r, "record", n);
    for (int side = OURS; side < BOTH; side++) {
        memcpy(r->out[side], r->in, n);
        r->length[side] = 0;
        r->result[side] = EVP_CipherUpdate(r->contexts[side], r->out[side], &r->length[side],
                                           r->out[side], (int)n);
    }
    if (!same(r, "record", r->length, r->length + 1, sizeof(int)))
        return 0;
    return same(r, "bytes of a record", r->out[OURS], r->out[THEIRS], (size_t)r->length[OURS]);
}

/* A record in CBC, with padding by the cipher or by hand: encrypted, then decrypted,
 * sometimes damaged or cut. */
static void cbc_record(struct run *r)
{
    const unsigned versions[] = {0x300, 0x301, 0x302, 0x303, 0xFEFF, 0xFEFD, 0x100},
                   version = versions[below(r, 7)];
    const size_t mac_sizes[] = {0, 16, 20, 32, 48}, mac_bytes = mac_sizes[below(r, 5)];
    const size_t iv_bytes = version == 0x300 || version == 0x301 ? 0 : 16;
    size_t n = iv_bytes + mac_bytes + some_length(r);
    uint8_t key[32], iv[16], mac[64];

    fill(r, key, sizeof key);
    fill(r, iv, sizeof iv);
    fill(r, r->in, n);
    memcpy(mac, r->in + n - mac_bytes, mac_bytes);
    if (!init(r, key, iv, 1))
        fail(r, "key");
    if (one_in(r, 2)) {
        set_sizes(r, version, mac_bytes);
        if (!record(r, n))
            fail(r, "encryption");
    } else { /* long padding, or none that is right */
        const size_t most = 16 * (1 + below(r, 16)), padding = most - n % 16;
        memset(r->in + n, (int)padding - 1, padding);
        n += padding;
        if (one_in(r, 2))
            r->in[n - 1 - below(r, padding)] ^= (uint8_t)(1 << below(r, 8));
        EACH(r, EVP_CIPHER_CTX_set_padding(context, 0));
        if (!update(r, 0, n, 1))
            fail(r, "encryption");
    }
    n = (size_t)r->length[OURS];
    memcpy(r->in, r->out[OURS], n);
    EACH(r, EVP_CIPHER_CTX_set_padding(context, 1));
    if (!init(r, key, iv, 0))
        fail(r, "key");
    set_sizes(r, version, mac_bytes);
    if (one_in(r, 6) && n > 16)
        n = 16 * below(r, n / 16); /* cut */
    if (!record(r, n) || mac_bytes == 0)
        return;
    for (int side = OURS; side < BOTH; side++)
        r->result[side] = memcmp(mac_of(r->contexts[side], mac_bytes), mac, mac_bytes) == 0;
    if (r->result[OURS] != r->result[THEIRS])
        fail(r, "MAC of a record");
}

static void aead_record(struct run *r, int is_gcm)
{
    uint8_t key[32], iv[12], aad[13], sealed[ROOM];
    size_t n = below(r, 3000), extra = 24;

    r->lags = 0;
    fill(r, key, sizeof key);
    fill(r, iv, sizeof iv);
    fill(r, aad, sizeof aad);
    for (int sealing = 1; sealing >= 0; sealing--) {
        if (!is_gcm) {
            extra = one_in(r, 2) && sealing ? 16 : extra;
            if (!control(r, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL)
                || !control(r, EVP_CTRL_AEAD_SET_TAG, (int)extra - 8, NULL))
                return;
        }
        if (!init(r, key, NULL, sealing) ||
            !(is_gcm ? control(r, EVP_CTRL_GCM_SET_IV_FIXED, -1, iv)
                     : control(r, EVP_CTRL_CCM_SET_IV_FIXED, 4, iv)))
            fail(r, "fixed IV");
        for (int i = 0; i < 3; i++) {
            const size_t length = sealing ? n + 8 : n + extra;
            aad[11] = (uint8_t)(length >> 8);
            aad[12] = (uint8_t)length;
            if (!control(r, EVP_CTRL_AEAD_TLS1_AAD, 13, aad))
                fail(r, "associated data");
            if (!sealing) {
                memcpy(r->in, sealed, n + extra);
                if (one_in(r, 4))
                    r->in[below(r, n + extra)] ^= 4;
            } else {
                fill(r, r->in, n + extra);
            }
            if (!record(r, n + extra) && sealing)
                fail(r, "record");
            if (sealing)
                memcpy(sealed, r->out[OURS], n + extra);
            if (one_in(r, 3))
                copy(r);
        }
    }
}

/* Messages whose IV is fixed in part and counted: the sealing side makes its end, the
 * opening side is told it. */
static void counted_ivs(struct run *r)
{
    uint8_t key[32], iv[12], told[BOTH][8], sealed[ROOM];
    const size_t n = 1 + below(r, 600);

    fill(r, key, sizeof key);
    fill(r, iv, sizeof iv);
    if (one_in(r, 2))
        memset(iv + 5, 0xFF, 7); /* the count carries */
    for (int i = 0; i < 3; i++) {
        if (i == 0 && (!init(r, key, NULL, 1) || !control(r, EVP_CTRL_GCM_SET_IV_FIXED, -1, iv)))
            fail(r, "fixed IV");
        EACH(r, EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_IV_GEN, 8, told[side]));
        if (!same(r, "made IV", told[OURS], told[THEIRS], 8))
            fail(r, "made IV");
        fill(r, r->in, n);
        if (!update(r, 0, n, 1))
            fail(r, "text");
        memcpy(sealed, r->out[OURS], n);
        if (!finish(r))
            fail(r, "final");
        EACH(r, EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, r->tag[side]));
        if (!same(r, "tag", r->tag[OURS], r->tag[THEIRS], 16))
            fail(r, "tag");
    }
    if (!init(r, key, NULL, 0) || !control(r, EVP_CTRL_GCM_SET_IV_FIXED, -1, iv)
        || !control(r, EVP_CTRL_GCM_SET_IV_INV, 8, told[OURS])
        || !control(r, EVP_CTRL_AEAD_SET_TAG, 16, r->tag[OURS]))
        fail(r, "told IV");
    memcpy(r->in, sealed, n);
    if (!pieces(r, n, 1) || !finish(r))
        fail(r, "opening");
}

/* ---- CMAC ------------------------------------------------------------------------------------ */

static void cmac(struct run *r)
{
    static const struct {
        const char *name;
        size_t key_bytes, size;
    } of[] = {
        {"AES-128-CBC", 16, 16}, {"aes192", 24, 16},           {"2.16.840.1.101.3.4.1.42", 32, 16},
        {"DES-EDE3-CBC", 24, 8}, {"CAMELLIA-128-CBC", 16, 16}, {"no such cipher", 16, 16}};
    const size_t which = below(r, sizeof of / sizeof *of), n = some_length(r);
    EVP_MAC_CTX *contexts[BOTH];
    OSSL_PARAM params[2];
    uint8_t key[32], mac[BOTH][16];
    size_t size[BOTH] = {0, 0};

    r->name = of[which].name;
    fill(r, key, sizeof key);
    fill(r, r->in, n);
    params[0] = OSSL_PARAM_construct_utf8_string("cipher", (char *)(uintptr_t)of[which].name, 0);
    params[1] = OSSL_PARAM_construct_end();
    for (int side = OURS; side < BOTH; side++) {
        contexts[side] = EVP_MAC_CTX_new(macs[side]);
        r->result[side] = EVP_MAC_init(contexts[side], key, of[which].key_bytes, params);
    }
    if (same(r, "init", NULL, NULL, 0))
        for (int message = 0; message < 2; message++) {
            for (size_t done = 0, piece; done < n; done += piece) {
                piece = 1 + below(r, n - done);
                for (int side = OURS; side < BOTH; side++)
                    r->result[side] = EVP_MAC_update(contexts[side], r->in + done, piece);
                if (!same(r, "update", NULL, NULL, 0))
                    fail(r, "update");
                for (int side = OURS; side < BOTH && done % 5 == 0; side++) {
                    EVP_MAC_CTX *twin = EVP_MAC_CTX_dup(contexts[side]);
                    EVP_MAC_CTX_free(contexts[side]);
                    contexts[side] = twin;
                }
            }
            for (int side = OURS; side < BOTH; side++)
                r->result[side] = EVP_MAC_final(contexts[side], mac[side], size + side, 16);
            if (!same(r, "final", size, size + 1, sizeof *size) || size[OURS] != of[which].size)
                fail(r, "final");
            if (memcmp(mac[OURS], mac[THEIRS], size[OURS]) != 0)
                fail(r, "MAC");
            for (int side = OURS; side < BOTH; side++)
                r->result[side] = EVP_MAC_init(contexts[side], NULL, 0, NULL);
            if (!same(r, "init again", NULL, NULL, 0))
                fail(r, "init again");
        }
    for (int side = OURS; side < BOTH; side++)
        EVP_MAC_CTX_free(contexts[side]);
}

/* ---- HMAC ------------------------------------------------------------------------------------ */

struct macs {
    EVP_MAC_CTX *contexts[BOTH];
    int is_keyed, goes_on; /* whether a key was set, and whether a message may go on */
};

#define EACH_MAC(r, m, call)                              \
    for (int side = OURS; side < BOTH; side++) {          \
        EVP_MAC_CTX *context = (m)->contexts[side];       \
        (r)->result[side] = (call);                       \
        (void)context;                                    \
    }

/* Parameters of HMAC in a random choice: a hash of ours or of others, a key, flags. Returns whether
 * there is a key. */
static int hmac_params(struct run *r, OSSL_PARAM *params, uint8_t *key, int is_new)
{
    static const char *const hashes[] = {
        "SHA256",  "SHA2-256", "sha-256",  "2.16.840.1.101.3.4.2.1", "SHA224", "SHA2-224", "SHA256",
        "SHA1",    "SHA512",   "SHA3-256", "SHAKE128",               "MD5",    "none such"};
    static int zero = 0;
    static size_t none = 0;
    const char *hash = hashes[below(r, is_new || one_in(r, 3) ? 13 : 7)];
    int has_key = 0;

    if (is_new || one_in(r, 2)) {
        note(r, hash, 0);
        *params++ = OSSL_PARAM_construct_utf8_string("digest", (char *)(uintptr_t)hash, 0);
    }
    if (one_in(r, 10))
        *params++ = OSSL_PARAM_construct_utf8_string(
            "properties", (char *)(uintptr_t)(one_in(r, 2) ? "" : "provider=default"), 0);
    if (one_in(r, 5)) {
        note(r, "key-param", 0);
        has_key = !one_in(r, 8);
        *params++ =
            OSSL_PARAM_construct_octet_string("key", has_key ? key : NULL, has_key ? 20 : 0);
    }
    if (one_in(r, 10))
        *params++ = OSSL_PARAM_construct_int("digest-noinit", &zero);
    if (one_in(r, 10))
        *params++ = OSSL_PARAM_construct_size_t("tls-data-size", &none);
    *params = OSSL_PARAM_construct_end();
    return has_key;
}

static void compare_mac_sizes(struct run *r, struct macs *m)
{
    size_t size[BOTH], block[BOTH];

    for (int side = OURS; side < BOTH; side++) {
        size[side] = EVP_MAC_CTX_get_mac_size(m->contexts[side]);
        block[side] = EVP_MAC_CTX_get_block_size(m->contexts[side]);
        r->result[side] = 1;
    }
    (void)same(r, "size of a MAC", size, size + 1, sizeof *size);
    (void)same(r, "size of a block", block, block + 1, sizeof *block);
    m->is_keyed |= size[OURS] != 0;
}

static void copy_macs(struct run *r, struct macs *m)
{
    note(r, "copy", 0);
    for (int side = OURS; side < BOTH; side++) {
        EVP_MAC_CTX *twin = EVP_MAC_CTX_dup(m->contexts[side]);
        r->result[side] = twin != NULL;
        EVP_MAC_CTX_free(m->contexts[side]);
        m->contexts[side] = twin;
    }
    if (!same(r, "copy of a MAC", NULL, NULL, 0))
        fail(r, "copy of a MAC");
}

/* A record of TLS in CBC, whose MAC is found in constant time: its header comes first. */
static void hmac_record(struct run *r, struct macs *m)
{
    size_t n = 64 + below(r, 400), all = n + below(r, 200);
    OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t("tls-data-size", &all),
                           OSSL_PARAM_construct_end()};
    uint8_t mac[BOTH][64];
    size_t size[BOTH];

    note(r, "record", n);
    fill(r, r->in, all);
    EACH_MAC(r, m, EVP_MAC_CTX_set_params(context, params));
    if (!same(r, "size of a record", NULL, NULL, 0))
        return;
    if (one_in(r, 4)) {
        EACH_MAC(r, m, EVP_MAC_update(context, r->in, 12));
        if (same(r, "no header", NULL, NULL, 0))
            fail(r, "a record whose header is too short");
    }
    EACH_MAC(r, m, EVP_MAC_update(context, r->in, 13));
    if (!same(r, "header", NULL, NULL, 0))
        return;
    EACH_MAC(r, m, EVP_MAC_update(context, r->in + 13, n - 13));
    if (!same(r, "record", NULL, NULL, 0))
        return;
    EACH_MAC(r, m, EVP_MAC_final(context, mac[side], size + side, 64));
    if (same(r, "MAC of a record", size, size + 1, sizeof *size))
        (void)same(r, "MAC of a record", mac[OURS], mac[THEIRS], size[OURS]);
}

static void hmac_step(struct run *r, struct macs *m, OSSL_PARAM *params, uint8_t *key)
{
    const size_t key_sizes[] = {0, 1, 20, 32, 63, 64, 65, 128, 129, 300},
                 key_bytes = key_sizes[below(r, 10)];
    uint8_t mac[BOTH][64];
    size_t size[BOTH] = {0, 0}, n;
    const uint8_t *given;
    int has_key;

    switch (below(r, 7)) {
    case 0:
    case 1:
        given = one_in(r, 3) ? NULL : key;
        (void)hmac_params(r, params, key, !m->is_keyed);
        note(r, given ? "init-key" : "init", key_bytes);
        EACH_MAC(r, m, EVP_MAC_init(context, given, key_bytes, params));
        m->goes_on = same(r, "init of HMAC", NULL, NULL, 0);
        break;
    case 2: /* within a message, only what is no other provider's */
        if (m->goes_on)
            break;
        has_key = hmac_params(r, params, key, 0);
        note(r, "params", 0);
        EACH_MAC(r, m, EVP_MAC_CTX_set_params(context, params));
        m->goes_on = same(r, "parameters of HMAC", NULL, NULL, 0) && has_key;
        break;
    case 3:
    case 4:
        if (m->is_keyed && !m->goes_on)
            break; /* OpenSSL's own goes on with a wrong result */
        n = some_length(r);
        fill(r, r->in, n);
        note(r, "update", n);
        EACH_MAC(r, m, EVP_MAC_update(context, r->in, n));
        (void)same(r, "text of HMAC", NULL, NULL, 0);
        break;
    case 5:
        if (m->is_keyed && !m->goes_on)
            break;
        n = one_in(r, 4) ? below(r, 64) : 64;
        note(r, "final", n);
        EACH_MAC(r, m, EVP_MAC_final(context, mac[side], size + side, n));
        if (same(r, "end of HMAC", size, size + 1, sizeof *size)) {
            (void)same(r, "HMAC", mac[OURS], mac[THEIRS], size[OURS]);
            m->goes_on = 0;
        }
        break;
    case 6:
        if (m->is_keyed)
            copy_macs(r, m);
        break;
    }
}

static void hmac(struct run *r)
{
    struct macs m = {{NULL, NULL}, 0, 0};
    OSSL_PARAM params[8];
    uint8_t key[300];

    r->name = "HMAC";
    fill(r, key, sizeof key);
    for (int side = OURS; side < BOTH; side++)
        m.contexts[side] = EVP_MAC_CTX_new(hmacs[side]);
    for (int i = 0; i < 16; i++) {
        hmac_step(r, &m, params, key);
        compare_mac_sizes(r, &m);
    }
    if (m.is_keyed && one_in(r, 4)) { /* of a key that is longer than a block, theirs is wrong */
        EACH_MAC(r, &m, EVP_MAC_init(context, key, 64, NULL));
        if (same(r, "init before a record", NULL, NULL, 0))
            hmac_record(r, &m);
    }
    for (int side = OURS; side < BOTH; side++)
        EVP_MAC_CTX_free(m.contexts[side]);
}

/* ---- PBKDF2 ---------------------------------------------------------------------------------- */

#define EACH_KDF(r, call)                             \
    for (int side = OURS; side < BOTH; side++) {      \
        EVP_KDF_CTX *context = contexts[side];        \
        (r)->result[side] = (call);                   \
        (void)context;                                \
    }

static void copy_kdfs(struct run *r, EVP_KDF_CTX *contexts[BOTH])
{
    note(r, "copy", 0);
    for (int side = OURS; side < BOTH; side++) {
        EVP_KDF_CTX *twin = EVP_KDF_CTX_dup(contexts[side]);
        r->result[side] = twin != NULL;
        if (twin) {
            EVP_KDF_CTX_free(contexts[side]);
            contexts[side] = twin;
        }
    }
    (void)same(r, "copy of a KDF", NULL, NULL, 0);
}

struct pbkdf2_input {
    uint8_t bytes[200];
    unsigned n_iterations;
    uint64_t many_iterations;
    int number;
};

static void pbkdf2_params(struct run *r, OSSL_PARAM *params, struct pbkdf2_input *input, int is_all)
{
    static const char *const hashes[] = {"SHA256", "SHA2-224", "SHA256", "SHA1", "SHA512", "none"};
    static const unsigned counts[] = {0, 1, 2, 999, 1000, 1001};
    static char password[] = "password";
    const char *const hash = hashes[below(r, one_in(r, 4) ? 6 : 3)];

    input->n_iterations = counts[below(r, 6)];
    input->many_iterations = counts[below(r, 6)];
    input->number = (int)below(r, 3) - 1;
    note(r, hash, input->n_iterations);
    if (is_all || one_in(r, 3))
        *params++ = OSSL_PARAM_construct_utf8_string("digest", (char *)(uintptr_t)hash, 0);
    if (one_in(r, 10))
        *params++ = OSSL_PARAM_construct_utf8_string(
            "properties", (char *)(uintptr_t)(one_in(r, 2) ? "" : "provider=default"), 0);
    if (one_in(r, 2)) {
        note(r, "pkcs5", (size_t)(input->number + 1));
        *params++ = OSSL_PARAM_construct_int("pkcs5", &input->number);
    }
    if (is_all || one_in(r, 3)) {
        const size_t n = below(r, 200);
        note(r, "pass", n);
        *params++ = one_in(r, 20) ? OSSL_PARAM_construct_utf8_string("pass", password, 0)
                                  : OSSL_PARAM_construct_octet_string("pass", input->bytes, n);
    }
    if (is_all || one_in(r, 3)) {
        const size_t n = one_in(r, 2) ? 16 : below(r, 80);
        note(r, "salt", n);
        *params++ = OSSL_PARAM_construct_octet_string("salt", input->bytes + 100, n);
    }
    if (one_in(r, 20))
        *params++ = OSSL_PARAM_construct_octet_string("salt", NULL, one_in(r, 2) ? 0 : 20);
    if (is_all || one_in(r, 3))
        *params++ = one_in(r, 2) ? OSSL_PARAM_construct_uint("iter", &input->n_iterations)
                                 : OSSL_PARAM_construct_uint64("iter", &input->many_iterations);
    *params = OSSL_PARAM_construct_end();
}

static void pbkdf2(struct run *r)
{
    static const size_t sizes[] = {0, 1, 13, 14, 28, 32, 33, 64, 100};
    EVP_KDF_CTX *contexts[BOTH];
    struct pbkdf2_input input;
    OSSL_PARAM params[10];

    r->name = "PBKDF2";
    fill(r, input.bytes, sizeof input.bytes);
    for (int side = OURS; side < BOTH; side++)
        contexts[side] = EVP_KDF_CTX_new(pbkdf2s[side]);
    for (int i = 0; i < 5; i++) {
        const size_t n = sizes[below(r, 9)];
        const int has_params = !one_in(r, 4);
        size_t size[BOTH];
        switch (below(r, 6)) {
        case 0:
            pbkdf2_params(r, params, &input, 0);
            note(r, "params", 0);
            EACH_KDF(r, EVP_KDF_CTX_set_params(context, params));
            (void)same(r, "parameters of PBKDF2", NULL, NULL, 0);
            break;
        case 1:
            EACH_KDF(r, (int)(size[side] = EVP_KDF_CTX_get_kdf_size(context), 1));
            (void)same(r, "size of PBKDF2", size, size + 1, sizeof *size);
            params[0] = OSSL_PARAM_construct_end();
            EACH_KDF(r, EVP_KDF_CTX_get_params(context, params));
            (void)same(r, "no size of PBKDF2", NULL, NULL, 0);
            break;
        case 2:
            if (one_in(r, 3)) {
                note(r, "reset", 0);
                EACH_KDF(r, (EVP_KDF_CTX_reset(context), 1));
                break;
            }
            copy_kdfs(r, contexts);
            break;
        default:
            pbkdf2_params(r, params, &input, i == 0 || one_in(r, 3));
            note(r, has_params ? "derive-params" : "derive", n);
            memset(r->out, 0, sizeof r->out);
            EACH_KDF(r, EVP_KDF_derive(context, r->out[side], n, has_params ? params : NULL));
            (void)same(r, "PBKDF2", r->out[OURS], r->out[THEIRS], n);
        }
    }
    for (int side = OURS; side < BOTH; side++)
        EVP_KDF_CTX_free(contexts[side]);
}

/* ---- HKDF, and the KDF of TLS 1.3 ------------------------------------------------------------ */

struct hkdf_input {
    uint8_t bytes[1200];
    int number;
    size_t wide_number;
    int has_info;  /* an empty one behind it may end the program in OpenSSL 3.0 */
    int has_empty; /* OpenSSL 3.5's own cannot be copied with a value of no bytes */
    int is_broken; /* after a parameter without bytes, it may read at no address */
};

static OSSL_PARAM mode_param(struct run *r, struct hkdf_input *input)
{
    static const char *const modes[] = {"EXTRACT_AND_EXPAND", "EXTRACT_ONLY", "EXPAND_ONLY",
                                        "extract_only",       "EXTRACT",      ""};
    const char *mode = modes[below(r, one_in(r, 5) ? 6 : 4)];

    input->number = one_in(r, 10) ? (int)below(r, 6) - 2 : (int)below(r, 3);
    input->wide_number = (size_t)input->number;
    note(r, "mode", (size_t)(input->number + 2));
    if (one_in(r, 3)) {
        note(r, mode, 0);
        return OSSL_PARAM_construct_utf8_string("mode", (char *)(uintptr_t)mode, 0);
    }
    return one_in(r, 5) ? OSSL_PARAM_construct_size_t("mode", &input->wide_number)
                        : OSSL_PARAM_construct_int("mode", &input->number);
}

static OSSL_PARAM bytes_param(struct run *r, const char *name, struct hkdf_input *input)
{
    static const size_t sizes[] = {0, 1, 20, 32, 48, 63, 64, 65, 128, 129, 200};
    const size_t n = one_in(r, 30) ? below(r, 1200) : sizes[below(r, 11)];

    note(r, name, n);
    input->has_empty |= n == 0;
    input->is_broken |= one_in(r, 60);
    if (input->is_broken && one_in(r, 2))
        return OSSL_PARAM_construct_octet_string(name, NULL, one_in(r, 2) ? 0 : 20);
    if (input->is_broken && one_in(r, 2))
        return OSSL_PARAM_construct_utf8_string(name, (char[]){"text"}, 0);
    return OSSL_PARAM_construct_octet_string(name, input->bytes + below(r, 1200 - n + 1), n);
}

/* One info or several: OpenSSL 3.6 takes five. */
static OSSL_PARAM *info_params(struct run *r, OSSL_PARAM *params, struct hkdf_input *input)
{
    const OSSL_PARAM *const first = params;

    for (size_t n = one_in(r, 3) ? below(r, 8) : 1; n; n--) {
        *params = bytes_param(r, "info", input);
        input->has_info |= params->data && params->data_size;
        if (params->data ? params->data_size : !input->has_info)
            params++;
    }
    input->has_empty |= params == first;
    if (params == first && !input->has_info)
        *params++ = OSSL_PARAM_construct_octet_string("info", input->bytes, 0);
    return params;
}

static void hkdf_params(struct run *r, OSSL_PARAM *params, struct hkdf_input *input, int is_all)
{
    static const char *const hashes[] = {"SHA256", "SHA2-224", "sha384", "SHA512", "SHA2-256",
                                         "SHA1", "SHA3-256", "SHA512-256", "SHAKE128", "none"};
    static const char *const names[] = {"key", "salt", "prefix", "label", "data"};

    if (is_all || one_in(r, 4)) {
        const char *hash = hashes[below(r, one_in(r, 3) ? 10 : 5)];
        note(r, hash, 0);
        *params++ = OSSL_PARAM_construct_utf8_string("digest", (char *)(uintptr_t)hash, 0);
    }
    if (is_all || one_in(r, 4))
        *params++ = mode_param(r, input);
    for (size_t i = 0; i < 5; i++)
        if (is_all ? !one_in(r, 12) : one_in(r, 4))
            *params++ = bytes_param(r, names[i], input);
    if (is_all ? !one_in(r, 4) : one_in(r, 4))
        params = info_params(r, params, input);
    if (one_in(r, 20))
        *params++ = OSSL_PARAM_construct_utf8_string(
            "properties", (char *)(uintptr_t)(one_in(r, 2) ? "" : "provider=default"), 0);
    if (one_in(r, 30))
        *params++ = bytes_param(r, names[below(r, 2)], input); /* twice */
    *params = OSSL_PARAM_construct_end();
}

/* The size and the info that a context tells. */
static void compare_hkdf(struct run *r, EVP_KDF_CTX *contexts[BOTH])
{
    uint8_t info[BOTH][1200];
    size_t size[BOTH] = {0, 0}, told[BOTH] = {0, 0};
    const int kind = (int)below(r, 4);

    memset(info, 0, sizeof info);
    EACH_KDF(r, (int)(size[side] = EVP_KDF_CTX_get_kdf_size(context), 1));
    (void)same(r, "size of HKDF", size, size + 1, sizeof *size);
    for (int side = OURS; side < BOTH; side++) {
        OSSL_PARAM params[3], *param = params;
        if (kind & 1)
            *param++ = OSSL_PARAM_construct_size_t("size", &size[side]);
        if (kind & 2)
            *param++ = OSSL_PARAM_construct_octet_string("info", info[side], sizeof info[side]);
        *param = OSSL_PARAM_construct_end();
        r->result[side] = EVP_KDF_CTX_get_params(contexts[side], params);
        if (kind == 2)
            told[side] = params[0].return_size;
    }
    if (same(r, "what HKDF tells", size, size + 1, sizeof *size)) {
        (void)same(r, "size of the info", told, told + 1, sizeof *told);
        (void)same(r, "info", info[OURS], info[THEIRS], sizeof info[OURS]);
    }
}

static void hkdf_derive(struct run *r, EVP_KDF_CTX *contexts[BOTH], const OSSL_PARAM *params)
{
    static const size_t sizes[] = {0, 1, 16, 28, 32, 32, 32, 33, 48, 48, 64, 64, 100, 255,
                                   255 * 28, 255 * 28 + 1, 255 * 32, 255 * 32 + 1};
    const size_t n = sizes[below(r, one_in(r, 4) ? 18 : 14)];

    note(r, params ? "derive-params" : "derive", n);
    memset(r->out[OURS], 0, n);
    memset(r->out[THEIRS], 0, n);
    EACH_KDF(r, EVP_KDF_derive(context, r->out[side], n, params));
    (void)same(r, "HKDF", r->out[OURS], r->out[THEIRS], n);
}

static void hkdf(struct run *r, EVP_KDF *const kdf[BOTH])
{
    EVP_KDF_CTX *contexts[BOTH];
    struct hkdf_input input = {.has_info = 0};
    OSSL_PARAM params[24];

    r->name = EVP_KDF_get0_name(kdf[THEIRS]);
    fill(r, input.bytes, sizeof input.bytes);
    for (int side = OURS; side < BOTH; side++)
        contexts[side] = EVP_KDF_CTX_new(kdf[side]);
    for (int i = 0; i < 6; i++) {
        switch (below(r, 7)) {
        case 0:
            hkdf_params(r, params, &input, 0);
            note(r, "params", 0);
            EACH_KDF(r, EVP_KDF_CTX_set_params(context, params));
            (void)same(r, "parameters of HKDF", NULL, NULL, 0);
            break;
        case 1:
            compare_hkdf(r, contexts);
            break;
        case 2:
            if (one_in(r, 3))
                input.is_broken = 1;
            else if (!input.has_empty)
                copy_kdfs(r, contexts);
            break;
        case 3:
            hkdf_derive(r, contexts, NULL);
            break;
        default:
            hkdf_params(r, params, &input, i == 0 || one_in(r, 2));
            hkdf_derive(r, contexts, params);
        }
        if (input.is_broken) {
            note(r, "reset", 0);
            EACH_KDF(r, (EVP_KDF_CTX_reset(context), 1));
            input.has_info = input.has_empty = input.is_broken = 0;
        }
    }
    for (int side = OURS; side < BOTH; side++)
        EVP_KDF_CTX_free(contexts[side]);
}

/* ---- GCM-SIV, of OpenSSL 3.2 and newer ------------------------------------------------------- */

/* Associated data of a new message. Theirs goes on with those of the message before, unless none
 * are given in between. */
static void siv_aad(struct run *r, size_t n, int value)
{
    (void)update(r, 0, 0, 0);
    if (one_in(r, 6)) { /* taken back */
        memset(r->in, ~value, 20);
        (void)update(r, 0, 20, 0);
        (void)update(r, 0, 0, 0);
    }
    memset(r->in, value, n);
    if (!pieces(r, n, 0))
        fail(r, "aad");
}

static void siv_begin(struct run *r, const uint8_t *key, const uint8_t *nonce, int encrypts)
{
    if (one_in(r, 3) && !init(r, key, NULL, encrypts))
        fail(r, "key");
    if (!init(r, key, nonce, encrypts) || (one_in(r, 4) && !init(r, NULL, nonce, encrypts)) ||
        (one_in(r, 4) && !init(r, NULL, NULL, encrypts)))
        fail(r, "key and nonce");
    if (one_in(r, 4))
        (void)control(r, EVP_CTRL_SET_SPEED, one_in(r, 2), NULL);
    if (one_in(r, 8))
        (void)control(r, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL);
}

static int siv_tag(struct run *r, int n)
{
    memset(r->tag, 0, sizeof r->tag);
    note(r, "tag", (size_t)n);
    EACH(r, EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, n, r->tag[side]));
    return same(r, "tag", r->tag[OURS], r->tag[THEIRS], 16);
}

static void siv_seal(struct run *r, size_t n)
{
    fill(r, r->in, n);
    if (one_in(r, 8) &&
        control(r, EVP_CTRL_AEAD_SET_TAG, one_in(r, 2) ? 16 : 12, one_in(r, 2) ? NULL : r->in) &&
        siv_tag(r, 16))
        fail(r, "a tag before its message");
    if (!update(r, 0, n, 1))
        fail(r, "text");
}

/* Open what was sealed, with its tag or a wrong one. */
static void siv_open(struct run *r, const uint8_t *sealed, size_t n)
{
    uint8_t tag[16];

    memcpy(tag, r->tag[OURS], 16);
    r->is_forged = one_in(r, 3);
    tag[below(r, 16)] ^= (uint8_t)(r->is_forged << below(r, 8));
    if (one_in(r, 8) && control(r, EVP_CTRL_AEAD_SET_TAG, (int)below(r, 16), tag))
        fail(r, "a short tag");
    if (!control(r, EVP_CTRL_AEAD_SET_TAG, 16, tag))
        fail(r, "tag to compare with");
    if (one_in(r, 4))
        copy(r);
    memcpy(r->in, sealed, n);
    if ((n || one_in(r, 2)) && !update(r, 0, n, 1))
        fail(r, "text");
    if (finish(r) == r->is_forged)
        fail(r, "a tag is taken for another");
    r->is_forged = 0;
}

static void gcm_siv(struct run *r)
{
    const size_t n = some_length(r), aad_bytes = one_in(r, 3) ? 0 : some_length(r);
    uint8_t key[32], nonce[12], sealed[ROOM];

    fill(r, key, sizeof key);
    fill(r, nonce, sizeof nonce);
    for (int messages = 1 + (int)below(r, 3); messages; messages--) {
        siv_begin(r, key, nonce, 1);
        siv_aad(r, aad_bytes, messages);
        siv_seal(r, n);
        memcpy(sealed, r->out[OURS], n);
        if (one_in(r, 2) && !finish(r))
            fail(r, "final");
        if (one_in(r, 4))
            copy(r);
        if (one_in(r, 8) && siv_tag(r, 12))
            fail(r, "a short tag is told");
        if (!siv_tag(r, 16))
            fail(r, "no tag");
        siv_begin(r, key, nonce, 0);
        siv_aad(r, aad_bytes, messages);
        siv_open(r, sealed, n);
        if (one_in(r, 8))
            (void)siv_tag(r, 16);
    }
    siv_begin(r, key, nonce, 1);
    siv_aad(r, 0, 0);
    siv_seal(r, n);
    (void)update(r, 0, 16, 1); /* if "speed" was set, a message of its own */
    if (finish(r))
        (void)siv_tag(r, 16);
}

static unsigned long one_round(struct run *r)
{
    const size_t which = below(r, N_NAMES + 8);
    EVP_CIPHER *const *cipher;

    r->seed = r->state;
    r->trace[0] = '\0';
    r->lags = 0;
    if (which >= N_NAMES && (which < N_NAMES + 6 || !sivs[0][OURS] || !sivs[0][THEIRS])) {
        if (which == N_NAMES + 3 && pbkdf2s[OURS])
            pbkdf2(r);
        else if (which > N_NAMES + 3 && hkdfs[OURS])
            hkdf(r, one_in(r, 2) ? hkdfs : tls_kdfs);
        else
            which == N_NAMES || !hmacs[OURS] ? cmac(r) : hmac(r);
        return r->calls;
    }
    cipher = which < N_NAMES ? ciphers[which] : sivs[which - N_NAMES - 6];
    r->name = EVP_CIPHER_get0_name(cipher[OURS]);
    for (int side = OURS; side < BOTH; side++) {
        r->contexts[side] = EVP_CIPHER_CTX_new();
        r->result[side] =
            EVP_CipherInit_ex(r->contexts[side], cipher[side], NULL, NULL, NULL, 1);
    }
    if (!same(r, "first init", NULL, NULL, 0))
        fail(r, "first init");
    switch (EVP_CIPHER_get_mode(cipher[OURS])) {
    case 0x10005: /* EVP_CIPH_GCM_SIV_MODE */
        gcm_siv(r);
        break;
    case EVP_CIPH_GCM_MODE:
        one_in(r, 4) ? one_in(r, 2) ? counted_ivs(r) : aead_record(r, 1) : gcm(r);
        break;
    case EVP_CIPH_CCM_MODE:
        one_in(r, 4) ? aead_record(r, 0) : ccm(r);
        break;
    case EVP_CIPH_CBC_MODE:
        one_in(r, 2) ? cbc_record(r) : blocks(r, one_in(r, 2));
        break;
    case EVP_CIPH_XTS_MODE:
        xts(r);
        break;
    case EVP_CIPH_WRAP_MODE:
        key_wrap(r);
        break;
    default:
        blocks(r, one_in(r, 2));
    }
    for (int side = OURS; side < BOTH; side++)
        EVP_CIPHER_CTX_free(r->contexts[side]);
    return r->calls;
}

struct job {
    unsigned long rounds, calls;
    uint64_t seed;
};

static void *work(void *argument)
{
    struct job *job = argument;
    struct run *r = calloc(1, sizeof *r);

    r->state = job->seed;
    for (unsigned long i = 0; i < job->rounds; i++)
        (void)one_round(r);
    job->calls = r->calls;
    free(r);
    return NULL;
}

/* Names, lengths and flags of a cipher, which EVP tells without a context. */
static void compare_facts_of(EVP_CIPHER *const *c)
{
    if (EVP_CIPHER_get_mode(c[0]) != EVP_CIPHER_get_mode(c[1])
        || EVP_CIPHER_get_key_length(c[0]) != EVP_CIPHER_get_key_length(c[1])
        || EVP_CIPHER_get_iv_length(c[0]) != EVP_CIPHER_get_iv_length(c[1])
        || EVP_CIPHER_get_block_size(c[0]) != EVP_CIPHER_get_block_size(c[1])
        || EVP_CIPHER_get_flags(c[0]) != EVP_CIPHER_get_flags(c[1])
        || EVP_CIPHER_get_nid(c[0]) != EVP_CIPHER_get_nid(c[1])) {
        printf("FAILED: facts of %s differ\n", EVP_CIPHER_get0_name(c[1]));
        exit(1);
    }
}

static void compare_facts(void)
{
    for (int i = 0; i < N_NAMES; i++)
        compare_facts_of(ciphers[i]);
    for (int i = 0; sivs[0][OURS] && sivs[0][THEIRS] && i < 2; i++)
        compare_facts_of(sivs[i]);
}

static void fetch(const char *folder)
{
    if (!OSSL_PROVIDER_load(NULL, "default") || !OSSL_PROVIDER_set_default_search_path(NULL, folder)
        || !OSSL_PROVIDER_load(NULL, "everycore")) {
        printf("FAILED: everycore.so of %s cannot be loaded\n", folder);
        ERR_print_errors_fp(stdout);
        exit(1);
    }
    for (int side = OURS; side < BOTH; side++) {
        for (int i = 0; i < N_NAMES; i++)
            if (!(ciphers[i][side] = EVP_CIPHER_fetch(NULL, names[i], queries[side]))) {
                printf("FAILED: no %s of %s\n", names[i], queries[side]);
                exit(1);
            }
        if (!(macs[side] = EVP_MAC_fetch(NULL, "CMAC", queries[side]))) {
            printf("FAILED: no CMAC of %s\n", queries[side]);
            exit(1);
        }
        pbkdf2s[side] = EVP_KDF_fetch(NULL, "PBKDF2", queries[side]);
        hkdfs[side] = EVP_KDF_fetch(NULL, "HKDF", queries[side]);
        sivs[0][side] = EVP_CIPHER_fetch(NULL, "AES-128-GCM-SIV", queries[side]);
        sivs[1][side] = EVP_CIPHER_fetch(NULL, "AES-256-GCM-SIV", queries[side]);
        tls_kdfs[side] = EVP_KDF_fetch(NULL, "TLS13-KDF", queries[side]);
        hmacs[side] = EVP_MAC_fetch(NULL, "HMAC", queries[side]);
    }
}

/* ---- What ours refuses ----------------------------------------------------------------------- */

static void expect(int is_so, const char *what)
{
    if (!is_so) {
        printf("FAILED: %s\n", what);
        exit(1);
    }
}

static EVP_CIPHER_CTX *ours(const char *name)
{
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();

    for (int i = 0; i < N_NAMES; i++)
        if (strcmp(names[i], name) == 0)
            expect(EVP_CipherInit_ex(context, ciphers[i][OURS], NULL, NULL, NULL, 1) > 0, name);
    return context;
}

/* A message under the fixed IV itself, then one under the first that is
 * made of it, and a record. */
static void no_counted_iv_twice(void)
{
    static const uint8_t key[16], iv[12] = {1}, zeros[40], aad[13] = {[12] = 24};
    EVP_CIPHER_CTX *gcm = ours("AES-128-GCM");
    uint8_t out[3][40] = {{0}}, told[8];
    int n;

    expect(EVP_CipherInit_ex(gcm, NULL, NULL, key, NULL, 1) > 0 &&
               EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_GCM_SET_IV_FIXED, -1, (void *)(uintptr_t)iv) > 0 &&
               EVP_CipherUpdate(gcm, out[0] + 8, &n, zeros, 16) > 0 &&
               EVP_CipherFinal_ex(gcm, told, &n) > 0,
           "a message under a fixed IV");
    expect(EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_GCM_IV_GEN, 8, told) > 0 &&
               EVP_CipherUpdate(gcm, out[1] + 8, &n, zeros, 16) > 0 &&
               EVP_CipherFinal_ex(gcm, told, &n) > 0,
           "a message under an IV that is made");
    expect(EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_AEAD_TLS1_AAD, 13, (void *)(uintptr_t)aad) > 0
               && EVP_CipherUpdate(gcm, out[2], &n, out[2], 40) > 0,
           "a record");
    for (int i = 0; i < 3; i++)
        expect(memcmp(out[i] + 8, out[(i + 1) % 3] + 8, 16) != 0, "an IV that counts serves twice");
    expect(EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_AEAD_SET_IVLEN, 1, NULL) > 0
               && EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_GCM_IV_GEN, 8, told) <= 0,
           "an IV of one byte counts in eight");
    EVP_CIPHER_CTX_free(gcm);
}

static void no_record_twice(void)
{
    static const uint8_t key[16], aad[13] = {[12] = 24};
    EVP_CIPHER_CTX *ccm = ours("AES-128-CCM");
    uint8_t record[40] = {0};
    int n;

    expect(EVP_CIPHER_CTX_ctrl(ccm, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL) > 0
               && EVP_CIPHER_CTX_ctrl(ccm, EVP_CTRL_AEAD_SET_TAG, 16, NULL) > 0
               && EVP_CipherInit_ex(ccm, NULL, NULL, key, key, 1) > 0
               && EVP_CIPHER_CTX_ctrl(ccm, EVP_CTRL_CCM_SET_IV_FIXED, 4, record) > 0
               && EVP_CIPHER_CTX_ctrl(ccm, EVP_CTRL_AEAD_TLS1_AAD, 13, (void *)(uintptr_t)aad) > 0
               && EVP_CipherUpdate(ccm, record, &n, record, 40) > 0,
           "a record of CCM");
    expect(EVP_CipherUpdate(ccm, record, &n, record, 40) <= 0,
           "the number of a record serves twice");
    EVP_CIPHER_CTX_free(ccm);
}

static void no_late_tag_length(void)
{
    static const uint8_t zeros[16];
    EVP_CIPHER_CTX *ccm = ours("AES-128-CCM");
    int n;

    expect(EVP_CIPHER_CTX_ctrl(ccm, EVP_CTRL_AEAD_SET_TAG, 8, NULL) > 0 &&
               EVP_CipherInit_ex(ccm, NULL, NULL, zeros, zeros, 1) > 0 &&
               EVP_CipherUpdate(ccm, NULL, &n, NULL, 16) > 0 &&
               EVP_CipherUpdate(ccm, NULL, &n, zeros, 16) > 0,
           "associated data of CCM");
    expect(EVP_CIPHER_CTX_ctrl(ccm, EVP_CTRL_AEAD_SET_TAG, 16, NULL) <= 0,
           "a tag becomes longer within its message");
    EVP_CIPHER_CTX_free(ccm);
}

/* IVs that the provider makes, since none was given: each is new, and OpenSSL opens
 * the message under it. */
static void made_ivs_are_new(void)
{
    static const uint8_t key[32] = {1}, text[40] = {2};
    uint8_t ivs[2][12], sealed[40], opened[40], tag[16];
    int n;

    for (int i = 0; i < 2; i++) {
        EVP_CIPHER_CTX *const context = ours(names[2]), *const other = EVP_CIPHER_CTX_new();
        expect(EVP_EncryptInit_ex(context, NULL, NULL, key, NULL) == 1, "a key without an IV");
        expect(EVP_EncryptUpdate(context, sealed, &n, text, sizeof text) == 1,
               "text without an IV");
        expect(EVP_EncryptFinal_ex(context, sealed, &n) == 1, "the end without an IV");
        expect(EVP_CIPHER_CTX_get_original_iv(context, ivs[i], 12) == 1, "the IV that was made");
        expect(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1,
               "the tag under it");
        expect(EVP_DecryptInit_ex(other, ciphers[2][THEIRS], NULL, key, ivs[i]) == 1,
               "OpenSSL with it");
        expect(EVP_CIPHER_CTX_ctrl(other, EVP_CTRL_AEAD_SET_TAG, 16, tag) == 1,
               "OpenSSL with the tag");
        expect(EVP_DecryptUpdate(other, opened, &n, sealed, sizeof sealed) == 1,
               "OpenSSL opens under it");
        expect(EVP_DecryptFinal_ex(other, opened, &n) == 1, "OpenSSL accepts the tag under it");
        EVP_CIPHER_CTX_free(context);
        EVP_CIPHER_CTX_free(other);
    }
    expect(memcmp(ivs[0], ivs[1], 12) != 0, "a new IV for each message");
}

/* A key that was set to wrap does not unwrap, with an IV of the program's or without. */
static void no_unwrapping_with_a_key_for_wrapping(void)
{
    static const uint8_t key[16], zeros[16];
    uint8_t out[24], back[24];
    int n;

    for (int has_iv = 0; has_iv < 2; has_iv++) {
        EVP_CIPHER_CTX *wrap = ours("AES-128-WRAP");
        EVP_CIPHER_CTX_set_flags(wrap, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
        expect(EVP_CipherUpdate(wrap, out, &n, zeros, 16) <= 0, "no key wraps");
        expect(EVP_CipherInit_ex(wrap, NULL, NULL, key, has_iv ? zeros : NULL, 1) > 0 &&
                   EVP_CipherUpdate(wrap, out, &n, zeros, 16) > 0 && n == 24,
               "wrapping");
        expect(EVP_CipherInit_ex(wrap, NULL, NULL, NULL, NULL, 0) > 0 &&
                   EVP_CipherUpdate(wrap, back, &n, out, 24) <= 0,
               "a key for wrapping unwraps");
        expect(EVP_CipherInit_ex(wrap, NULL, NULL, key, NULL, 0) > 0 &&
                   EVP_CipherUpdate(wrap, back, &n, out, 24) > 0 && memcmp(back, zeros, 16) == 0,
               "unwrapping");
        EVP_CIPHER_CTX_free(wrap);
    }
}

/* A wrapped text of 13 bytes whose padding is not zeros, made without padding. */
static void no_padding_but_zeros(void)
{
    static const uint8_t key[16], iv[8] = {0xA6, 0x59, 0x59, 0xA6, 0, 0, 0, 13};

    for (int i = 0; i < 8; i++) {
        EVP_CIPHER_CTX *wrap = ours("AES-128-WRAP"), *pad = ours("AES-128-WRAP-PAD");
        uint8_t text[16] = {1}, out[24], back[24];
        int n;
        if (i & 3)
            text[12 + (i & 3)] = 1;
        EVP_CIPHER_CTX_set_flags(wrap, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
        EVP_CIPHER_CTX_set_flags(pad, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
        expect(EVP_CipherInit_ex(wrap, NULL, NULL, key, iv, 1) > 0 &&
                   EVP_CipherUpdate(wrap, out, &n, text, 16) > 0 &&
                   EVP_CipherInit_ex(pad, NULL, NULL, key, i < 4 ? iv : NULL, 0) > 0,
               "a text with padding that is made by hand");
        expect((EVP_CipherUpdate(pad, back, &n, out, 24) > 0) == !(i & 3),
               "padding is zeros, and nothing else");
        EVP_CIPHER_CTX_free(wrap);
        EVP_CIPHER_CTX_free(pad);
    }
}

/* HMAC refuses text behind its end, with which OpenSSL's own makes a wrong HMAC, and another
 * provider's hash within a message. */
static void hmac_is_not_confused(void)
{
    static const uint8_t text[64];
    OSSL_PARAM sha256[] = {OSSL_PARAM_construct_utf8_string("digest", (char[]){"SHA256"}, 0),
                           OSSL_PARAM_construct_end()};
    OSSL_PARAM sha1[] = {OSSL_PARAM_construct_utf8_string("digest", (char[]){"SHA1"}, 0),
                         OSSL_PARAM_construct_end()};
    EVP_MAC_CTX *const context = hmacs[OURS] ? EVP_MAC_CTX_new(hmacs[OURS]) : NULL;
    uint8_t mac[32];
    size_t n;

    if (!context)
        return;
    expect(EVP_MAC_init(context, text, 32, sha256) == 1 && EVP_MAC_update(context, text, 64) == 1,
           "HMAC");
    expect(EVP_MAC_CTX_set_params(context, sha1) <= 0, "another hash within a message is refused");
    expect(EVP_MAC_final(context, mac, &n, 32) == 1 && n == 32, "the message goes on after that");
    expect(EVP_MAC_update(context, text, 1) <= 0, "text behind the end is refused");
    expect(EVP_MAC_final(context, mac, &n, 32) <= 0, "a second end is refused");
    EVP_MAC_CTX_free(context);
}

/* ---- Messages of GCM-SIV that theirs gets wrong, or that its versions take differently ------- */

static EVP_CIPHER_CTX *siv(const uint8_t *nonce, int encrypts)
{
    static const uint8_t key[16] = {1};
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();

    expect(EVP_CipherInit_ex(context, sivs[0][OURS], NULL, key, nonce, encrypts) > 0, "GCM-SIV");
    return context;
}

/* The first vector of RFC 8452 appendix C.1, with a text of no bytes and without a text. */
static void siv_of_nothing(void)
{
    static const uint8_t nonce[12] = {3}, aad[] = {1, 2, 3};
    static const uint8_t tag[16] = {0xDC, 0x20, 0xE2, 0xD8, 0x3F, 0x25, 0x70, 0x5B,
                                    0xB4, 0x9E, 0x43, 0x9E, 0xCA, 0x56, 0xDE, 0x25};
    uint8_t out[16], made[16];
    int n;

    for (int has_text = 0; has_text < 2; has_text++) {
        EVP_CIPHER_CTX *context = siv(nonce, 1), *other = siv(nonce, 0);
        expect((!has_text || EVP_CipherUpdate(context, out, &n, aad, 0) > 0) &&
                   EVP_CipherFinal_ex(context, out, &n) > 0 && n == 0 &&
                   EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, made) > 0 &&
                   memcmp(made, tag, 16) == 0,
               "GCM-SIV of nothing");
        expect(EVP_CIPHER_CTX_ctrl(other, EVP_CTRL_AEAD_SET_TAG, 16, made) > 0 &&
                   EVP_CipherUpdate(other, NULL, &n, aad, 3) > 0 &&
                   EVP_Cipher(other, out, NULL, 0) < 0,
               "associated data alone are authenticated");
        expect(EVP_CipherInit_ex(other, NULL, NULL, NULL, NULL, 0) > 0 &&
                   EVP_Cipher(other, out, NULL, 0) >= 0 && EVP_CipherFinal_ex(other, out, &n) > 0,
               "a message begins without the associated data of the one before");
        EVP_CIPHER_CTX_free(context);
        EVP_CIPHER_CTX_free(other);
    }
}

static void siv_out_of_order(void)
{
    static const uint8_t nonce[12] = {3}, text[32] = {7};
    EVP_CIPHER_CTX *context = siv(NULL, 1), *late = siv(nonce, 1), *twice = siv(nonce, 1);
    EVP_CIPHER_CTX *bare = EVP_CIPHER_CTX_new();
    uint8_t out[32], tag[16];
    int n;

    expect(EVP_CipherUpdate(context, out, &n, text, 32) <= 0, "no nonce");
    expect(EVP_CipherInit_ex(bare, sivs[0][OURS], NULL, NULL, nonce, 1) > 0 &&
               EVP_CipherUpdate(bare, out, &n, text, 32) <= 0,
           "no key");
    expect(EVP_CIPHER_CTX_ctrl(late, EVP_CTRL_AEAD_SET_IVLEN, 8, NULL) <= 0, "a nonce of 8 bytes");
    expect(EVP_CipherUpdate(late, out, &n, text, 32) > 0 &&
               EVP_CipherUpdate(late, NULL, &n, text, 1) <= 0 &&
               EVP_CIPHER_CTX_ctrl(late, EVP_CTRL_AEAD_GET_TAG, 16, tag) <= 0 &&
               EVP_CipherFinal_ex(late, out, &n) <= 0,
           "associated data behind the text");
    expect(EVP_CipherUpdate(twice, out, &n, text, 32) > 0 &&
               EVP_CipherUpdate(twice, out, &n, text, 32) <= 0 &&
               EVP_CipherFinal_ex(twice, out, &n) <= 0,
           "a second text");
    EVP_CIPHER_CTX_free(context);
    EVP_CIPHER_CTX_free(late);
    EVP_CIPHER_CTX_free(twice);
    EVP_CIPHER_CTX_free(bare);
}

/* A wrong tag leaves no text; with "speed", a message that is right does not hide a forged one. */
static void siv_forgeries(void)
{
    static const uint8_t nonce[12] = {3}, text[32] = {7}, zeros[32];
    EVP_CIPHER_CTX *seals = siv(nonce, 1), *opens = siv(nonce, 0);
    uint8_t sealed[32], opened[32], tag[16];
    int n;

    expect(EVP_CipherUpdate(seals, sealed, &n, text, 32) > 0 &&
               EVP_CIPHER_CTX_ctrl(seals, EVP_CTRL_AEAD_GET_TAG, 16, tag) > 0,
           "a message to open");
    expect(EVP_CipherUpdate(opens, opened, &n, sealed, 32) <= 0 &&
               EVP_CIPHER_CTX_ctrl(opens, EVP_CTRL_AEAD_SET_TAG, 16, tag) > 0 &&
               EVP_CipherFinal_ex(opens, opened, &n) <= 0,
           "a tag behind the text");
    for (int wrong = 0; wrong < 3; wrong++) { /* the first text, the second one, none */
        expect(EVP_CipherInit_ex(opens, NULL, NULL, NULL, NULL, 0) > 0 &&
                   EVP_CIPHER_CTX_ctrl(opens, EVP_CTRL_SET_SPEED, 1, NULL) > 0,
               "speed");
        for (int i = 0; i < 2; i++) {
            sealed[31] ^= (uint8_t)(wrong == i);
            expect(EVP_CipherUpdate(opens, opened, &n, sealed, 32) > 0 &&
                       memcmp(opened, wrong == i ? zeros : text, 32) == 0,
                   "a text with a wrong tag is zeros");
            sealed[31] ^= (uint8_t)(wrong == i);
        }
        expect((EVP_CipherFinal_ex(opens, opened, &n) > 0) == (wrong == 2),
               "a message hides one that is forged");
    }
    expect(EVP_CipherInit_ex(opens, NULL, NULL, NULL, NULL, 0) > 0 &&
               EVP_CIPHER_CTX_ctrl(opens, EVP_CTRL_AEAD_SET_TAG, 12, tag) <= 0 &&
               EVP_CipherUpdate(opens, opened, &n, sealed, 32) > 0 &&
               EVP_CipherUpdate(opens, NULL, &n, text, 1) <= 0 &&
               EVP_CipherFinal_ex(opens, opened, &n) <= 0,
           "associated data behind the text that is opened");
    EVP_CIPHER_CTX_free(seals);
    EVP_CIPHER_CTX_free(opens);
}

/* A copy has the associated data, in memory of its own. */
static void siv_copies(void)
{
    static const uint8_t nonce[12] = {3}, text[40] = {7};
    uint8_t out[40], tags[3][16];
    int n;

    for (int i = 0; i < 3; i++) { /* not copied, the copy, and the first with more data */
        EVP_CIPHER_CTX *context = siv(nonce, 1), *twin = EVP_CIPHER_CTX_new();
        expect(EVP_CipherUpdate(context, NULL, &n, text, 30) > 0 &&
                   EVP_CipherUpdate(context, NULL, &n, text + 30, 10) > 0 &&
                   EVP_CIPHER_CTX_copy(twin, context) > 0 &&
                   (i < 2 || EVP_CipherUpdate(context, NULL, &n, text, 1) > 0),
               "a copy of GCM-SIV");
        expect(EVP_CipherUpdate(i == 1 ? twin : context, out, &n, text, 40) > 0 &&
                   EVP_CIPHER_CTX_ctrl(i == 1 ? twin : context, EVP_CTRL_AEAD_GET_TAG, 16,
                                       tags[i]) > 0,
               "a message of a copy");
        EVP_CIPHER_CTX_free(context);
        EVP_CIPHER_CTX_free(twin);
    }
    expect(memcmp(tags[0], tags[1], 16) == 0 && memcmp(tags[0], tags[2], 16) != 0,
           "the associated data of a copy");
}

/* ---- HKDF that theirs gets wrong ------------------------------------------------------------- */

static EVP_KDF_CTX *hkdf_of(const char *info, size_t n_infos)
{
    static const uint8_t key[22] = {[21] = 11};
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(hkdfs[OURS]);
    OSSL_PARAM params[12], *param = params;

    *param++ = OSSL_PARAM_construct_utf8_string("digest", (char[]){"SHA256"}, 0);
    *param++ = OSSL_PARAM_construct_octet_string("key", (void *)(uintptr_t)key, 22);
    for (; n_infos; n_infos--)
        *param++ = OSSL_PARAM_construct_octet_string("info", (void *)(uintptr_t)info, strlen(info));
    *param = OSSL_PARAM_construct_end();
    expect(EVP_KDF_CTX_set_params(context, params) > 0, "parameters of HKDF");
    return context;
}

/* The infos of one call are joined, and replaced by those of the next, also by none. */
static void hkdf_infos(void)
{
    static const struct {
        const char *first, *second;
        size_t n_first, n_second;
    } equal[] = {{"abab", "ab", 1, 2}, {"ab", "ab", 4, 1}, {"x", "", 1, 1}};
    uint8_t out[2][32];

    for (int i = 0; i < 3; i++) {
        EVP_KDF_CTX *a = hkdf_of(equal[i].first, equal[i].n_first),
                    *b = hkdf_of(equal[i].second, equal[i].n_second);
        OSSL_PARAM params[] = {
            OSSL_PARAM_construct_octet_string("info", (void *)(uintptr_t)equal[i].second,
                                              strlen(equal[i].second)),
            OSSL_PARAM_construct_end()};
        expect((!i || EVP_KDF_CTX_set_params(a, params) > 0) &&
                   EVP_KDF_derive(a, out[0], 32, NULL) > 0 &&
                   EVP_KDF_derive(b, out[1], 32, NULL) > 0 && memcmp(out[0], out[1], 32) == 0,
               "infos of HKDF");
        EVP_KDF_CTX_free(a);
        EVP_KDF_CTX_free(b);
    }
}

/* A key that was set to decrypt data of old. */
static void no_equal_halves(void)
{
    static const uint8_t key[32], zeros[16];
    EVP_CIPHER_CTX *xts = ours("AES-128-XTS");
    uint8_t out[16];
    int n;

    expect(EVP_CipherInit_ex(xts, NULL, NULL, key, zeros, 0) > 0 &&
               EVP_CipherUpdate(xts, out, &n, zeros, 16) > 0,
           "decryption with equal halves");
    expect(EVP_CipherInit_ex(xts, NULL, NULL, NULL, zeros, 1) <= 0 ||
               EVP_CipherUpdate(xts, out, &n, zeros, 16) <= 0,
           "encryption with equal halves");
    EVP_CIPHER_CTX_free(xts);
}

/* Rounds in two threads and, once they have run, in a child of this process. */
int main(int argc, char **argv)
{
    struct job jobs[3] = {{0}};
    pthread_t threads[2];
    int status = 1;
    pid_t child;

    if (argc != 4)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    fetch(argv[1]);
    compare_facts();
    no_counted_iv_twice();
    no_record_twice();
    no_late_tag_length();
    no_equal_halves();
    made_ivs_are_new();
    hmac_is_not_confused();
    no_unwrapping_with_a_key_for_wrapping();
    no_padding_but_zeros();
#ifdef __x86_64__
    expect(sivs[0][OURS] || !sivs[0][THEIRS] || !__builtin_cpu_supports("aes"),
           "GCM-SIV is offered where OpenSSL has it and the CPU has instructions for it");
#endif
    if (sivs[0][OURS]) {
        siv_of_nothing();
        siv_out_of_order();
        siv_forgeries();
        siv_copies();
    }
    if (hkdfs[OURS])
        hkdf_infos();
    ERR_clear_error();
    for (int i = 0; i < 3; i++) {
        jobs[i].rounds = strtoul(argv[2], NULL, 10) / 3 + 1;
        jobs[i].seed = strtoull(argv[3], NULL, 10) + (uint64_t)i * 1000003;
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &jobs[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    child = fork();
    if (child == 0) {
        work(&jobs[2]);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        printf("FAILED: the child ended with %d\n", status);
        return 1;
    }
    for (int side = OURS; side < BOTH; side++) {
        for (int i = 0; i < N_NAMES; i++)
            EVP_CIPHER_free(ciphers[i][side]);
        EVP_MAC_free(macs[side]);
        EVP_MAC_free(hmacs[side]);
        EVP_KDF_free(pbkdf2s[side]);
        EVP_KDF_free(hkdfs[side]);
        EVP_CIPHER_free(sivs[0][side]);
        EVP_CIPHER_free(sivs[1][side]);
        EVP_KDF_free(tls_kdfs[side]);
    }
    printf("%lu calls compared, and those of a child\n", jobs[0].calls + jobs[1].calls);
    return 0;
}

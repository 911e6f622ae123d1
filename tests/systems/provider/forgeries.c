/* SPDX-License-Identifier: MIT */
/*
 * Authenticated encryption by the provider, in every order of calls: forgeries
 * FOLDER ROUNDS SEED [PROVIDER]
 *
 * FOLDER: where everycore.so is. Nothing is compared with what another provider makes of the same
 * calls, since all may have the same fault. A message that is authentic must be accepted, its tag
 * must be the right one, and what is not authentic must be refused: by the end of the message, too,
 * if the program ignored that a call before it failed.
 *
 * Orders are written as strings, one letter a call; see call(). The last line is the
 * count of what was checked.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/proverr.h>

static const char *const names[] = {"AES-128-GCM", "AES-192-GCM", "AES-256-GCM",
                                    "AES-128-CCM", "AES-192-CCM", "AES-256-CCM"};
enum {
    N_NAMES = sizeof names / sizeof *names,
    NONCE_BYTES = 12,
    TAG_BYTES = 16,
    ROOM = 64,
    ORDER_BYTES = 32
};

static unsigned long checks, random_calls;
static uint64_t state; /* of the generator: splitmix64 of Steele, Lea, Flood 2014 */

static size_t below(size_t n)
{
    uint64_t z = state += 0x9E3779B97F4A7C15;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return (size_t)((z ^ z >> 31) % n);
}

static void fill(uint8_t *to, size_t n)
{
    while (n--)
        *to++ = (uint8_t)below(256);
}

/* ---- Messages -------------------------------------------------------------------------------- */

struct message {
    size_t aad_bytes, text_bytes;
    uint8_t key[32], nonce[NONCE_BYTES + 1], aad[ROOM], text[ROOM], sealed[ROOM], tag[TAG_BYTES];
};

/* A context in use. */
struct run {
    EVP_CIPHER_CTX *context;
    const char *name;
    int is_ccm;
    const struct message *message;
    const uint8_t *given; /* the tag that the program sets to open */
    int all, last;        /* whether all calls succeeded, and the last one */
    uint8_t out[ROOM], tag[TAG_BYTES];
};

static int seals(const struct run *run)
{
    return EVP_CIPHER_CTX_is_encrypting(run->context);
}

static struct run start(const char *name, EVP_CIPHER *cipher, const struct message *message,
                        int sealing)
{
    struct run run = {.name = name, .message = message, .given = message->tag, .all = 1};

    run.context = EVP_CIPHER_CTX_new();
    run.is_ccm = EVP_CIPHER_get_mode(cipher) == EVP_CIPH_CCM_MODE;
    if (EVP_CipherInit_ex(run.context, cipher, NULL, NULL, NULL, sealing) <= 0 ||
        EVP_CIPHER_CTX_ctrl(run.context, EVP_CTRL_AEAD_SET_IVLEN, NONCE_BYTES, NULL) <= 0 ||
        (run.is_ccm &&
         EVP_CIPHER_CTX_ctrl(run.context, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, NULL) <= 0)) {
        ERR_print_errors_fp(stdout);
        exit(1);
    }
    return run;
}

static void end(struct run *run)
{
    EVP_CIPHER_CTX_free(run->context);
    ERR_clear_error();
}

static int init(struct run *run, const uint8_t *key, const uint8_t *nonce, int direction)
{
    return EVP_CipherInit_ex(run->context, NULL, NULL, key, nonce, direction) > 0;
}

/* n bytes by EVP_CipherUpdate, or by EVP_Cipher, which returns a length or -1. */
static int update(struct run *run, uint8_t *out, const uint8_t *in, size_t n, int by_cipher)
{
    int written;

    return by_cipher ? EVP_Cipher(run->context, out, in, (unsigned)n) >= 0
                     : EVP_CipherUpdate(run->context, out, &written, in, (int)n) > 0;
}

static int set_tag(struct run *run, const uint8_t *tag, int n)
{
    return EVP_CIPHER_CTX_ctrl(run->context, EVP_CTRL_AEAD_SET_TAG, n, (void *)(uintptr_t)tag) > 0;
}

static int copy(struct run *run)
{
    EVP_CIPHER_CTX *twin = EVP_CIPHER_CTX_new();
    const int done = EVP_CIPHER_CTX_copy(twin, run->context);

    EVP_CIPHER_CTX_free(run->context);
    run->context = twin;
    return done > 0;
}

/* One call; small letters by the functions that are meant for it, capitals by EVP_Cipher,
 * which serves for all. */
static int call(struct run *run, char letter)
{
    const struct message *m = run->message;
    const uint8_t *in = seals(run) ? m->text : m->sealed;
    const size_t half = m->text_bytes / 2;
    int written;

    switch (letter) {
    case 'i': /* key and nonce */
        return init(run, m->key, m->nonce, -1);
    case 'k':
        return init(run, m->key, NULL, -1);
    case 'n':
        return init(run, NULL, m->nonce, -1);
    case 'o': /* neither */
        return init(run, NULL, NULL, -1);
    case 'r': /* the other direction */
        return init(run, NULL, NULL, !seals(run));
    case 'v': /* a nonce of another length, and back */
        return EVP_CIPHER_CTX_ctrl(run->context, EVP_CTRL_AEAD_SET_IVLEN, NONCE_BYTES + 1, NULL) >
               0;
    case 'V':
        return EVP_CIPHER_CTX_ctrl(run->context, EVP_CTRL_AEAD_SET_IVLEN, NONCE_BYTES, NULL) > 0;
    case 'x': /* the tag that is given */
        return set_tag(run, run->given, TAG_BYTES);
    case 'y': /* a length of tags, and back; GCM has no such call */
        return !run->is_ccm || set_tag(run, NULL, TAG_BYTES / 2);
    case 'Y':
        return !run->is_ccm || set_tag(run, NULL, TAG_BYTES);
    case 'l': /* the length of the text, which CCM wants first; GCM has no such call */
    case 'L':
        return !run->is_ccm || update(run, NULL, NULL, m->text_bytes, letter == 'L');
    case 'a': /* associated data */
    case 'A':
        return update(run, NULL, m->aad, m->aad_bytes, letter == 'A');
    case 'p': /* a part of them, the other part; CCM takes them in one piece */
        return update(run, NULL, m->aad, m->aad_bytes / 2, 0);
    case 'q':
        return update(run, NULL, m->aad + m->aad_bytes / 2, m->aad_bytes - m->aad_bytes / 2, 0);
    case 'b': /* no associated data: an empty piece */
    case 'B':
        return update(run, NULL, m->aad, 0, letter == 'B');
    case 't':
    case 'T':
        return update(run, run->out, in, m->text_bytes, letter == 'T');
    case 'h': /* half of the text, the other half */
        return update(run, run->out, in, half, 0);
    case 'j':
        return update(run, run->out + half, in + half, m->text_bytes - half, 0);
    case 'e': /* an empty piece of text */
    case 'E':
        return update(run, run->out, in, 0, letter == 'E');
    case 'z': /* the same at no address */
        return update(run, run->out, NULL, 0, 0);
    case 'f': /* the end */
        return EVP_CipherFinal_ex(run->context, run->out, &written) > 0;
    case 'F':
        return update(run, run->out, NULL, 0, 1);
    case 'G':
        return update(run, NULL, NULL, 0, 1);
    case 'g': /* the tag of what was sealed */
        return EVP_CIPHER_CTX_ctrl(run->context, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, run->tag) > 0;
    case 'c':
        return copy(run);
    }
    abort();
}

static void calls(struct run *run, const char *order)
{
    for (; *order; order++)
        run->all &= run->last = call(run, *order);
}

static void fail(const struct run *run, const char *order, const char *what)
{
    printf("FAILED: %s: %zu bytes of associated data, %zu of text, %s by %s: %s\n", run->name,
           run->message->aad_bytes, run->message->text_bytes, seals(run) ? "sealed" : "opened",
           order, what);
    ERR_print_errors_fp(stdout);
    exit(1);
}

/* A message with its tag, by the calls that OpenSSL documents and a provider that is named. */
static struct message message_of(EVP_CIPHER *cipher, const char *name, size_t aad_bytes,
                                 size_t text_bytes)
{
    struct message m = {.aad_bytes = aad_bytes, .text_bytes = text_bytes};
    struct run run;

    fill(m.key, sizeof m.key);
    fill(m.nonce, sizeof m.nonce);
    fill(m.aad, aad_bytes);
    fill(m.text, text_bytes);
    run = start(name, cipher, &m, 1);
    calls(&run, aad_bytes ? "ilatfg" : "iltfg");
    if (!run.all)
        fail(&run, "the documented order", "no tag");
    memcpy(m.sealed, run.out, text_bytes);
    memcpy(m.tag, run.tag, TAG_BYTES);
    end(&run);
    return m;
}

/* ---- Known answers --------------------------------------------------------------------------- */

static const struct {
    const char *name;
    struct message message;
} known[] = {
    /* McGrew and Viega, The Galois/Counter Mode of Operation, 2005, test cases 1
     * and 13: nothing at all. */
    {"AES-128-GCM", {.tag = "\x58\xe2\xfc\xce\xfa\x7e\x30\x61\x36\x7f\x1d\x57\xa4\xe7\x45\x5a"}},
    {"AES-256-GCM", {.tag = "\x53\x0f\x8a\xfb\xc7\x45\x36\xb9\xa9\x63\xb4\xf1\xc4\xcb\x73\x8b"}},
};

/* ---- Orders in which a message may come ------------------------------------------------------ */

/* A message that is authentic is accepted, and with each of two tags that are wrong it is
 * refused, again and again. */
static void check_opening(EVP_CIPHER *cipher, const char *name, const struct message *m,
                          const char *order)
{
    uint8_t wrong[2][TAG_BYTES];
    struct run run = start(name, cipher, m, 0);

    calls(&run, order);
    if (!run.all)
        fail(&run, order, "the right tag is refused");
    if (m->text_bytes && memcmp(run.out, m->text, m->text_bytes) != 0)
        fail(&run, order, "wrong text");
    end(&run);
    memcpy(wrong[0], m->tag, TAG_BYTES);
    wrong[0][below(TAG_BYTES)] ^= (uint8_t)(1 << below(8));
    fill(wrong[1], TAG_BYTES);
    for (int i = 0; i < 2; i++) {
        run = start(name, cipher, m, 0);
        run.given = wrong[i];
        calls(&run, order);
        if (run.last)
            fail(&run, order, "a wrong tag is accepted");
        for (const char *again = "fFGf"; *again; again++)
            if (call(&run, *again))
                fail(&run, order, "what was refused is accepted by the end once more");
        end(&run);
    }
    checks += 3;
}

/* The tag is right, may be read again, and is not there before the message is complete. */
static void check_sealing(EVP_CIPHER *cipher, const char *name, const struct message *m,
                          const char *order)
{
    struct run run = start(name, cipher, m, 1);

    calls(&run, order);
    if (!run.all)
        fail(&run, order, "a call fails");
    for (int i = 0; i < 2; i++) {
        memset(run.tag, 0, TAG_BYTES);
        if (!call(&run, 'g'))
            fail(&run, order, i ? "the tag cannot be read twice" : "no tag");
        if (memcmp(run.tag, m->tag, TAG_BYTES) != 0)
            fail(&run, order, "a wrong tag");
    }
    if (m->text_bytes && memcmp(run.out, m->sealed, m->text_bytes) != 0)
        fail(&run, order, "wrong text");
    end(&run);
    checks++;
}

/* All ways to write the parts of a message: set-up, length, associated data, text, end, and
 * the place of the tag. */
static void check_orders(EVP_CIPHER *cipher, const char *name, int is_ccm, const struct message *m)
{
    static const char *const set_ups[] = {"i", "kn", "nk", "kin"}, *const ends[] = {"f", "F", "G"};
    static const char *const aads[3][9] = {
        {"", "b", "B", NULL},
        {"a", "A", "ab", "ac", NULL},
        {"a", "A", "ab", "ac", "pq", "pEq", "pzBbeq", "pcq", NULL}};
    static const char *const texts[2][5] = {{"", "e", "z", "E", NULL}, {"t", "T", "ct", NULL}};
    /* CCM needs the length before associated data. An EVP_Cipher without any pointer ends an empty
     * message, so it can announce no length of zero. */
    static const char *const lengths[3][4] = {
        {"", NULL}, {"", "l", "lc", NULL}, {"l", "L", "ll", NULL}};
    const size_t has_aad = m->aad_bytes != 0, has_text = m->text_bytes != 0;
    char order[ORDER_BYTES];

    for (size_t s = 0; s < 4; s++)
        for (const char *const *length = lengths[is_ccm ? 1 + has_aad : 0]; *length; length++)
            for (const char *const *aad = aads[has_aad * (is_ccm ? 1 : 2)]; *aad; aad++)
                for (const char *const *text = texts[has_text]; *text; text++)
                    for (size_t e = 0; e < 3; e++) {
                        if (!has_text && strchr(*length, 'L'))
                            continue;
                        snprintf(order, sizeof order, "%s%s%s%s%s", set_ups[s], *length, *aad,
                                 *text, ends[e]);
                        check_sealing(cipher, name, m, order);
                        for (int place = 0; place < 5; place++) {
                            /* CCM checks the text when it comes */
                            if (is_ccm && place == 4 && **text)
                                continue;
                            snprintf(order, sizeof order, "%s%s%s%s%s%s%s%s%s%s",
                                     place == 0 ? "x" : "", set_ups[s], place == 1 ? "x" : "",
                                     *length, place == 2 ? "x" : "", *aad, place == 3 ? "x" : "",
                                     *text, place == 4 ? "x" : "", ends[e]);
                            check_opening(cipher, name, m, order);
                        }
                    }
}

/* ---- Orders in which no message may come ----------------------------------------------------- */

enum { GCM = 1, CCM = 2, BOTH = 3 };
enum { NO_AAD = 0, AAD = 1, NO_TEXT = 0, TEXT = 2 };

/* The right tag is set; the last call has to fail all the same, whatever the
 * calls before it returned. */
static const struct {
    int modes, parts;
    const char *order, *what;
} refused[] = {
    {BOTH, NO_AAD, "if", "no tag was set"},
    {BOTH, NO_AAD, "iF", "no tag was set"},
    {BOTH, NO_AAD, "iG", "no tag was set"},
    {BOTH, AAD, "ilaf", "no tag was set"},
    {BOTH, AAD, "ilaF", "no tag was set"},
    {BOTH, AAD | TEXT, "ilatf", "no tag was set"},
    {CCM, TEXT, "it", "no tag was set"},
    {CCM, NO_TEXT, "ie", "no tag was set"},
    {CCM, NO_TEXT, "iz", "no tag was set"},
    {BOTH, NO_AAD, "xkf", "there is no nonce"},
    {BOTH, AAD, "xklaf", "there is no nonce"},
    {BOTH, AAD | TEXT, "xklatf", "there is no nonce"},
    {BOTH, NO_AAD, "xnf", "there is no key"},
    {BOTH, AAD, "xnlaf", "there is no key"},
    {BOTH, AAD | TEXT, "xf", "there is nothing"},
    {BOTH, NO_AAD, "xivf", "the nonce has not the length that was set behind it"},
    {BOTH, AAD, "xivVlaf", "the nonce has not the length that was set behind it"},
    {BOTH, AAD, "xilavf", "the nonce has not the length that was set behind it"},
    {BOTH, AAD, "xilafxlaf", "a nonce serves one message"},
    {BOTH, AAD, "xilafxlaF", "a nonce serves one message"},
    {BOTH, AAD | TEXT, "xilatfxlatf", "a nonce serves one message"},
    {BOTH, AAD | TEXT, "xilatfxlaf", "a nonce serves one message"},
    {BOTH, AAD | TEXT, "xilatfxf", "a nonce serves one message"},
    {BOTH, AAD | TEXT, "xilatfoxf", "a nonce serves one message"},
    {BOTH, AAD | TEXT, "xilatfkxf", "a new key wants a nonce"},
    {BOTH, AAD | TEXT, "xilatfkf", "a new key wants a nonce"},
    {BOTH, AAD, "xilafkxlaf", "a new key wants a nonce"},
    {BOTH, AAD | TEXT, "xilataf", "associated data came behind the text"},
    {CCM, AAD, "xiaf", "associated data came before the length of the text"},
    {CCM, AAD | TEXT, "xilaf", "a text was announced, and none came"},
    {CCM, AAD | TEXT, "xilaF", "a text was announced, and none came"},
    {CCM, TEXT, "xilf", "a text was announced, and none came"},
    {CCM, AAD | TEXT, "xilahf", "less text came than was announced"},
    {CCM, AAD | TEXT, "xilahjf", "the text of CCM comes in one piece"},
    {CCM, TEXT, "xihjf", "the text of CCM comes in one piece"},
    {CCM, AAD, "xilaaf", "the associated data of CCM come in one piece"},
    {CCM, AAD, "xilyaf", "the tag is longer than the length that was set behind it"},
    {CCM, AAD, "xilyYaf", "the tag is gone with its length"},
};

static void check_refused(EVP_CIPHER *cipher, const char *name, int is_ccm, const struct message *m)
{
    const int parts = (m->aad_bytes ? AAD : 0) | (m->text_bytes ? TEXT : 0);

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct run run;

        if (!(refused[i].modes & (is_ccm ? CCM : GCM)) || refused[i].parts != parts)
            continue;
        run = start(name, cipher, m, 0);
        calls(&run, refused[i].order);
        if (run.last)
            fail(&run, refused[i].order, refused[i].what);
        if (!strchr(refused[i].order, 'x') &&
            ERR_GET_REASON(ERR_peek_error()) != PROV_R_TAG_NOT_SET)
            fail(&run, refused[i].order, "the error does not say that no tag was set");
        end(&run);
        checks++;
    }
}

/* ---- More than one message ------------------------------------------------------------------- */

/* Messages of one context, each accepted, opened and sealed in turn. */
static void check_next_messages(EVP_CIPHER *cipher, const char *name, const struct message *m)
{
    const char *order = m->aad_bytes ? "xilatf" : "xiltf", *sealing = order + 1;
    struct run run = start(name, cipher, m, 0);

    for (int i = 0; i < 3; i++) {
        calls(&run, order);
        if (!run.all)
            fail(&run, order, "the next message");
        init(&run, NULL, NULL, 1);
        calls(&run, sealing);
        if (!run.all || !call(&run, 'g') || memcmp(run.tag, m->tag, TAG_BYTES) != 0)
            fail(&run, sealing, "the next message");
        init(&run, NULL, NULL, 0);
    }
    end(&run);
    checks += 6;
}

/* Lengths of nonce and tag come behind the key, the nonce behind them. */
static void check_lengths_behind_key(EVP_CIPHER *cipher, const char *name, const struct message *m)
{
    struct run run = start(name, cipher, m, 1);

    calls(&run, m->aad_bytes ? "kvVyYnlatfg" : "kvVyYntfg");
    if (!run.all || memcmp(run.tag, m->tag, TAG_BYTES) != 0)
        fail(&run, "kvVyYn", "a wrong tag");
    end(&run);
    checks++;
}

/* A tag is one message's, and of one direction. */
static void check_tags(EVP_CIPHER *cipher, const char *name, const struct message *m)
{
    const char *order = m->aad_bytes ? "ilatf" : "iltf";
    struct run run = start(name, cipher, m, 1);

    if (call(&run, 'g'))
        fail(&run, "", "there is a tag before a message");
    if (call(&run, 'x'))
        fail(&run, "x", "a tag was set to seal");
    calls(&run, order);
    init(&run, NULL, NULL, 0);
    run.all = 1;
    calls(&run, order);
    if (run.last)
        fail(&run, order, "the tag of a sealed message was taken for one that the program set");
    end(&run);

    run = start(name, cipher, m, 0);
    calls(&run, "xi");
    if (call(&run, 'g'))
        fail(&run, "xi", "a tag was read to open");
    init(&run, NULL, NULL, 1);
    if (call(&run, 'g'))
        fail(&run, "xir", "the tag that was set to open was read to seal");
    end(&run);

    run = start(name, cipher, m, 1);
    calls(&run, order);
    calls(&run, m->aad_bytes ? "ila" : m->text_bytes ? "ilh" : "il");
    if ((m->aad_bytes || (m->text_bytes && !run.is_ccm)) && call(&run, 'g'))
        fail(&run, order, "a message that is not complete has the tag of the one before");
    end(&run);
    checks += 5;
}

/* The length of a text is announced once more behind associated data: they still
 * belong to the message. */
static void check_aad_is_kept(EVP_CIPHER *cipher, const char *name, const struct message *with_aad)
{
    static const char *const orders[] = {"xilalf", "xilaLf", "xilaltf", "xilalG"};
    struct message without = *with_aad;
    struct run run;

    without.aad_bytes = 0;
    run = start(name, cipher, &without, 1);
    calls(&run, "iltfg");
    memcpy(without.tag, run.tag, TAG_BYTES);
    end(&run);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        run = start(name, cipher, with_aad, 0);
        run.given = without.tag;
        calls(&run, orders[i]);
        if (run.last)
            fail(&run, orders[i], "associated data that nobody authenticated are accepted");
        end(&run);
        checks++;
    }
}

/* ---- Any order ------------------------------------------------------------------------------- */

/* Never is the right tag set, nor the nonce of a sealed message used again: so
 * nothing may be accepted. */
static void check_any_order(EVP_CIPHER *cipher, const char *name, const struct message *m)
{
    static const char letters[] = "iiknorvVxxyYlLaAbBtThjeEzfFGgc";
    uint8_t wrong[TAG_BYTES];
    char order[ORDER_BYTES] = {0};
    struct run run = start(name, cipher, m, (int)below(2));

    fill(wrong, sizeof wrong);
    run.given = wrong;
    for (size_t i = 0, n = 1 + below(ORDER_BYTES - 1); i < n; i++) {
        const char letter = order[i] = letters[below(sizeof letters - 1)];
        const int done = call(&run, letter);

        random_calls++;
        if (done && !seals(&run) &&
            (strchr("fFG", letter) || (run.is_ccm && strchr("tTe", letter))))
            fail(&run, order, "a wrong tag is accepted");
    }
    end(&run);
}

static EVP_CIPHER *fetch(const char *name, const char *provider)
{
    char query[40];
    EVP_CIPHER *cipher;

    snprintf(query, sizeof query, "provider=%s", provider);
    cipher = EVP_CIPHER_fetch(NULL, name, query);
    if (!cipher) {
        ERR_print_errors_fp(stdout);
        exit(1);
    }
    return cipher;
}

int main(int argc, char **argv)
{
    static const size_t sizes[][2] = {{0, 0}, {20, 0}, {0, 40}, {20, 40}, {1, 1}, {16, 16}};
    const char *provider = argc > 4 ? argv[4] : "everycore";

    if (argc < 4 || argc > 5)
        return 2;
    state = strtoull(argv[3], NULL, 10);
    if (!OSSL_PROVIDER_load(NULL, "default") ||
        !OSSL_PROVIDER_set_default_search_path(NULL, argv[1]) ||
        !OSSL_PROVIDER_load(NULL, "everycore")) {
        ERR_print_errors_fp(stdout);
        return 1;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        EVP_CIPHER *cipher = fetch(known[i].name, provider);
        check_orders(cipher, known[i].name, 0, &known[i].message);
        EVP_CIPHER_free(cipher);
    }
    for (size_t i = 0; i < N_NAMES; i++) {
        EVP_CIPHER *cipher = fetch(names[i], provider), *reference = fetch(names[i], "default");
        const int is_ccm = EVP_CIPHER_get_mode(cipher) == EVP_CIPH_CCM_MODE;

        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            const struct message m = message_of(reference, names[i], sizes[k][0], sizes[k][1]);
            check_orders(cipher, names[i], is_ccm, &m);
            check_refused(cipher, names[i], is_ccm, &m);
            check_next_messages(cipher, names[i], &m);
            check_lengths_behind_key(cipher, names[i], &m);
            check_tags(cipher, names[i], &m);
            if (is_ccm && m.aad_bytes && !m.text_bytes)
                check_aad_is_kept(cipher, names[i], &m);
            for (unsigned long round = strtoul(argv[2], NULL, 10); round--;)
                check_any_order(cipher, names[i], &m);
        }
        EVP_CIPHER_free(cipher);
        EVP_CIPHER_free(reference);
    }
    printf("%lu orders of calls, and %lu calls in any order: nothing that is not authentic is "
           "accepted\n",
           checks, random_calls);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * vectors: published answers from stdin, one a line, for one kernel or all that run here. Every
 * message is computed twice, to another buffer and in place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everycore/cpu.h"
#include "everycore/gcm.h"
#include "everycore/modes.h"

#include "commands.h"
#include "emit.h"
#include "names.h"

#define MOST_BYTES 70000 /* of one value; the longest of CAVP are 64 KiB */
#define MOST_LINE (9 * 2 * MOST_BYTES)
#define MCT_STEPS 1000 /* of AESAVS (2002) section 6.4 */

struct value {
    uint8_t *bytes;
    size_t n;
    bool given;
};

enum { KEY, KEY2, IV, NONCE, AAD, TAG, IN, OUT, N_VALUES };
static const char *const value_names[N_VALUES] = {"key", "key2", "iv", "nonce",
                                                  "aad", "tag",  "in", "out"};

struct vector {
    const char *mode, *kernel, *id;
    struct value v[N_VALUES];
    bool must_fail; /* out=fail: the call refuses */
    char detail[160];
};

static uint64_t n_passed, n_failed, n_skipped;

/* ---- Running one ---------------------------------------------------------------------------- */

/* What a call left: out holds n bytes (in, in place), tag the tag. */
struct outcome {
    enum evc_status status;
    uint8_t *out;
    size_t n;
    uint8_t tag[16];
};

static unsigned bits(const struct value *key)
{
    return (unsigned)(8 * key->n);
}

static enum evc_status run_xts(const struct vector *x, const struct evc_aes *aes, bool encrypt,
                               const uint8_t *in, struct outcome *o)
{
    struct evc_aes_xts_key key;
    uint8_t both[64];

    if (x->v[KEY].n > 32 || x->v[KEY2].n != x->v[KEY].n)
        return EVC_ERR_KEY_SIZE;
    memcpy(both, x->v[KEY].bytes, x->v[KEY].n);
    memcpy(both + x->v[KEY].n, x->v[KEY2].bytes, x->v[KEY].n);
    enum evc_status status = evc_aes_xts_set_key(&key, aes, aes, both, bits(&x->v[KEY]));
    if (status != EVC_OK)
        return status;
    return (encrypt ? evc_aes_xts_encrypt : evc_aes_xts_decrypt)(&key, x->v[IV].bytes, in, o->out,
                                                                 o->n);
}

static enum evc_status run_cmac(const struct vector *x, const struct evc_aes *aes,
                                const uint8_t *in, struct outcome *o)
{
    struct evc_aes_cmac_key key;
    enum evc_status status = evc_aes_cmac_set_key(&key, aes, x->v[KEY].bytes, bits(&x->v[KEY]));
    size_t tag_bytes = x->v[OUT].n;

    if (status == EVC_OK)
        status = evc_aes_cmac(&key, in, x->v[IN].n, o->tag, tag_bytes);
    if (status == EVC_OK)
        memcpy(o->out, o->tag, tag_bytes);
    o->n = tag_bytes;
    return status;
}

static enum evc_status run_ccm(const struct vector *x, const struct evc_aes *aes, bool seal,
                               const uint8_t *in, struct outcome *o)
{
    struct evc_aes_ccm_key key;
    const struct value *nonce = &x->v[NONCE], *aad = &x->v[AAD], *tag = &x->v[TAG];
    enum evc_status status = evc_aes_ccm_set_key(&key, aes, aes, x->v[KEY].bytes, bits(&x->v[KEY]));

    if (status != EVC_OK)
        return status;
    if (!seal)
        return evc_aes_ccm_open(&key, nonce->bytes, nonce->n, aad->bytes, aad->n, in, o->out, o->n,
                                tag->bytes, tag->n);
    status = evc_aes_ccm_seal(&key, nonce->bytes, nonce->n, aad->bytes, aad->n, in, o->out, o->n,
                              o->tag, tag->n);
    if (status == EVC_OK && memcmp(o->tag, tag->bytes, tag->n) != 0)
        return EVC_ERR_TAG;
    return status;
}

/* By the AES kernel under test and the GHASH kernel that is selected on this CPU. */
static enum evc_status run_gcm(const struct vector *x, const struct evc_aes *aes, bool seal,
                               const uint8_t *in, struct outcome *o)
{
    union evc_gcm_key key;
    const struct value *nonce = &x->v[NONCE], *aad = &x->v[AAD], *tag = &x->v[TAG];
    enum evc_status status = evc_gcm_set_pair(&key, aes, evc_ghash_select(evc_cpu_features(), 0),
                                              x->v[KEY].bytes, bits(&x->v[KEY]));

    if (status != EVC_OK)
        return status;
    if (!seal)
        return evc_gcm_open(&key, nonce->bytes, nonce->n, aad->bytes, aad->n, in, o->out, o->n,
                            tag->bytes, tag->n);
    status = evc_gcm_seal(&key, nonce->bytes, nonce->n, aad->bytes, aad->n, in, o->out, o->n, o->tag,
                          tag->n);
    if (status == EVC_OK && memcmp(o->tag, tag->bytes, tag->n) != 0)
        return EVC_ERR_TAG;
    return status;
}

static enum evc_status one_block(const union evc_aes_key *key, bool encrypt, uint8_t *iv,
                                 const uint8_t in[16], uint8_t out[16])
{
    if (iv)
        return (encrypt ? evc_aes_cbc_encrypt : evc_aes_cbc_decrypt)(key, iv, in, out, 16);
    if (!encrypt)
        return evc_aes_decrypt(key, in, out, 1);
    evc_aes_encrypt(key, in, out, 1);
    return EVC_OK;
}

/* One outer step of the Monte Carlo test: with an IV, the input of a step is the result before the
 * last one. */
static enum evc_status run_mct(const struct vector *x, const union evc_aes_key *key, bool encrypt,
                               const uint8_t *in, struct outcome *o)
{
    uint8_t iv[16], now[16], before[16], result[16];
    bool cbc = x->v[IV].given;
    enum evc_status status = EVC_OK;

    if (x->v[IN].n != 16)
        return EVC_ERR_LENGTH;
    memcpy(now, in, 16);
    memcpy(iv, cbc ? x->v[IV].bytes : in, 16);
    memcpy(before, iv, 16);
    for (int i = 0; i < MCT_STEPS && status == EVC_OK; i++) {
        status = one_block(key, encrypt, cbc ? iv : NULL, now, result);
        memcpy(now, cbc ? before : result, 16);
        memcpy(before, result, 16);
    }
    memcpy(o->out, result, 16);
    return status;
}

static enum evc_status run_ecb(const struct vector *x, const union evc_aes_key *key, bool encrypt,
                               const uint8_t *in, struct outcome *o)
{
    if (x->v[IN].n % 16 != 0)
        return EVC_ERR_LENGTH;
    if (!encrypt)
        return evc_aes_decrypt(key, in, o->out, o->n / 16);
    evc_aes_encrypt(key, in, o->out, o->n / 16);
    return EVC_OK;
}

enum family { ECB, CBC, CTR, XTS, CBCMAC, CMAC, CCM, GCM, MCT_ECB, MCT_CBC };

static const struct vector_mode {
    const char *name;
    enum family family;
    bool encrypt;
    uint16_t needs; /* 1 << KEY ...: values that must be there, beside key, in and out */
} modes[] = {
    {"ecb-enc", ECB, true, 0},
    {"ecb-dec", ECB, false, 0},
    {"cbc-enc", CBC, true, 1 << IV},
    {"cbc-dec", CBC, false, 1 << IV},
    {"ctr", CTR, true, 1 << IV},
    {"xts-enc", XTS, true, 1 << IV | 1 << KEY2},
    {"xts-dec", XTS, false, 1 << IV | 1 << KEY2},
    {"cbcmac", CBCMAC, true, 0},
    {"cmac", CMAC, true, 0},
    {"ccm-seal", CCM, true, 1 << NONCE | 1 << TAG},
    {"ccm-open", CCM, false, 1 << NONCE | 1 << TAG},
    {"gcm-seal", GCM, true, 1 << NONCE | 1 << TAG},
    {"gcm-open", GCM, false, 1 << NONCE | 1 << TAG},
    {"ecb-enc-mct", MCT_ECB, true, 0},
    {"ecb-dec-mct", MCT_ECB, false, 0},
    {"cbc-enc-mct", MCT_CBC, true, 1 << IV},
    {"cbc-dec-mct", MCT_CBC, false, 1 << IV},
};
#define N_MODES (sizeof modes / sizeof modes[0])

static enum evc_status run_one_key(const struct vector *x, const struct vector_mode *mode,
                                   const struct evc_aes *aes, const uint8_t *in, struct outcome *o)
{
    union evc_aes_key key;
    uint8_t iv[16] = {0};
    enum evc_status status = evc_aes_set_key(&key, aes, x->v[KEY].bytes, bits(&x->v[KEY]));

    if (status != EVC_OK)
        return status;
    if (x->v[IV].given)
        memcpy(iv, x->v[IV].bytes, 16);
    switch (mode->family) {
    case ECB: return run_ecb(x, &key, mode->encrypt, in, o);
    case CBC:
        return (mode->encrypt ? evc_aes_cbc_encrypt : evc_aes_cbc_decrypt)(&key, iv, in, o->out,
                                                                           o->n);
    case CTR: evc_aes_ctr(&key, iv, in, o->out, o->n); return EVC_OK;
    case CBCMAC:
        status = evc_aes_cbcmac(&key, iv, in, o->n);
        memcpy(o->out, iv, 16);
        o->n = 16;
        return status;
    case MCT_ECB:
    case MCT_CBC: return run_mct(x, &key, mode->encrypt, in, o);
    case XTS:
    case CMAC:
    case CCM:
    case GCM: break;
    }
    return EVC_ERR_KERNEL;
}

static enum evc_status run(const struct vector *x, const struct vector_mode *mode,
                           const struct evc_aes *aes, const uint8_t *in, struct outcome *o)
{
    switch (mode->family) {
    case XTS: return run_xts(x, aes, mode->encrypt, in, o);
    case CMAC: return run_cmac(x, aes, in, o);
    case CCM: return run_ccm(x, aes, mode->encrypt, in, o);
    case GCM: return run_gcm(x, aes, mode->encrypt, in, o);
    default: return run_one_key(x, mode, aes, in, o);
    }
}

/* ---- Judging -------------------------------------------------------------------------------- */

static uint8_t result_bytes[MOST_BYTES + 16];

static bool judge(struct vector *x, const struct vector_mode *mode, const struct evc_aes *aes,
                  bool in_place)
{
    const struct value *in = &x->v[IN], *expected = &x->v[OUT];
    struct outcome o = {EVC_OK, result_bytes, in->n, {0}};
    const char *where = in_place ? ", in place" : "";

    memset(result_bytes, 0xa5, in->n + 16);
    if (in_place)
        memcpy(result_bytes, in->bytes, in->n);
    o.status = run(x, mode, aes, in_place ? result_bytes : in->bytes, &o);
    if (x->must_fail) {
        snprintf(x->detail, sizeof x->detail, "accepted%s", where);
        return o.status != EVC_OK;
    }
    if (o.status != EVC_OK) {
        snprintf(x->detail, sizeof x->detail, "%s%s", evc_status_text(o.status), where);
        return false;
    }
    if (o.n != expected->n) {
        snprintf(x->detail, sizeof x->detail, "%zu bytes come out, %zu are expected", o.n,
                 expected->n);
        return false;
    }
    for (size_t i = 0; i < o.n; i++)
        if (o.out[i] != expected->bytes[i]) {
            snprintf(x->detail, sizeof x->detail, "byte %zu is %02x, not %02x%s", i, o.out[i],
                     expected->bytes[i], where);
            return false;
        }
    return true;
}

static void report(const struct vector *x, const char *kernel, const char *result)
{
    emit_begin("vector");
    emit_text("id", x->id);
    emit_text("kernel", kernel);
    emit_text("result", result);
    emit_text("detail", x->detail);
    emit_end();
}

static void run_vector(struct vector *x, const struct vector_mode *mode)
{
    const struct evc_registry_line *line;
    bool all = strcmp(x->kernel, "*") == 0, found = false;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++) {
        if (strcmp(line->primitive, "aes") != 0 || (!all && strcmp(line->name, x->kernel) != 0))
            continue;
        found = true;
        if (!runs_here(line)) {
            n_skipped++;
            continue;
        }
        const struct evc_aes *aes = evc_aes_named(line->name);
        if (judge(x, mode, aes, false) && judge(x, mode, aes, true)) {
            n_passed++;
        } else {
            n_failed++;
            report(x, line->name, "fail");
        }
    }
    if (!found) {
        n_failed++;
        snprintf(x->detail, sizeof x->detail, "no such kernel");
        report(x, x->kernel, "fail");
    }
}

/* ---- Reading -------------------------------------------------------------------------------- */

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool read_hex(struct value *v, const char *hex)
{
    size_t n = strlen(hex);

    if (n % 2 || n / 2 > MOST_BYTES)
        return false;
    v->given = true;
    v->n = n / 2;
    for (size_t i = 0; i < n; i += 2) {
        int high = digit(hex[i]), low = digit(hex[i + 1]);
        if (high < 0 || low < 0)
            return false;
        v->bytes[i / 2] = (uint8_t)(16 * high + low);
    }
    return true;
}

static bool bad(struct vector *x, const char *what, const char *word)
{
    snprintf(x->detail, sizeof x->detail, "%s '%.60s'", what, word);
    return false;
}

static bool read_field(struct vector *x, char *field)
{
    char *equals = strchr(field, '=');

    if (!equals)
        return bad(x, "not NAME=VALUE:", field);
    *equals++ = 0;
    if (strcmp(field, "id") == 0) {
        x->id = equals;
        return true;
    }
    for (size_t i = 0; i < N_VALUES; i++) {
        if (strcmp(field, value_names[i]) != 0)
            continue;
        if (i == OUT && strcmp(equals, "fail") == 0) {
            x->must_fail = x->v[i].given = true;
            return true;
        }
        return read_hex(&x->v[i], equals) || bad(x, "bad hexadecimal or too long:", field);
    }
    return bad(x, "unknown field", field);
}

static bool has_values(struct vector *x, const struct vector_mode *mode)
{
    unsigned needs = mode->needs | 1u << KEY | 1u << IN | 1u << OUT;

    for (size_t i = 0; i < N_VALUES; i++)
        if (needs >> i & 1 && !x->v[i].given)
            return bad(x, "wants the field", value_names[i]);
    if (x->v[IV].given && x->v[IV].n != 16)
        return bad(x, "wants 16 bytes of", "iv");
    if (mode->family == CMAC && x->v[OUT].n > 16)
        return bad(x, "wants at most 16 bytes of", "out");
    if (x->v[TAG].given && x->v[TAG].n > 16)
        return bad(x, "wants at most 16 bytes of", "tag");
    return true;
}

static const struct vector_mode *read_vector(struct vector *x, char *line)
{
    const struct vector_mode *mode = modes;
    char *primitive = strtok(line, " \t"), *name = strtok(NULL, " \t"),
         *kernel = strtok(NULL, " \t");

    if (!kernel || strcmp(primitive, "aes") != 0)
        return bad(x, "not 'aes MODE KERNEL ...':", primitive), NULL;
    x->mode = name;
    x->kernel = kernel;
    while (mode < modes + N_MODES && strcmp(mode->name, name) != 0)
        mode++;
    bool good = mode < modes + N_MODES || bad(x, "unknown mode", name);
    for (char *field; (field = strtok(NULL, " \t")) != NULL;) /* all: the id may be the last */
        good = (strncmp(field, "id=", 3) == 0 || good) && read_field(x, field) && good;
    return good && has_values(x, mode) ? mode : NULL;
}

static void take_line(char *line, unsigned long number)
{
    static uint8_t bytes[N_VALUES][MOST_BYTES];
    struct vector x = {.kernel = "*"};
    char own_id[32];

    line[strcspn(line, "#\r\n")] = 0;
    if (line[strspn(line, " \t")] == 0)
        return;
    snprintf(own_id, sizeof own_id, "line %lu", number);
    x.id = own_id;
    for (size_t i = 0; i < N_VALUES; i++)
        x.v[i].bytes = bytes[i];
    const struct vector_mode *mode = read_vector(&x, line);
    if (mode) {
        run_vector(&x, mode);
        return;
    }
    n_failed++;
    report(&x, x.kernel, "fail");
}

int vectors_command(int argc, char **argv)
{
    static char line[MOST_LINE];
    unsigned long number = 0;
    FILE *lines = stdin;

    if (argc > 1)
        usage_error("vectors takes one file, or lines on stdin, not '%.64s'", argv[1]);
    if (argc == 1 && !(lines = fopen(argv[0], "r")))
        usage_error("vectors cannot read the file '%.200s'", argv[0]);
    emit_harness_line("vectors", NULL);
    while (fgets(line, sizeof line, lines))
        take_line(line, ++number);
    emit_begin("summary");
    emit_unsigned("passed", n_passed);
    emit_unsigned("failed", n_failed);
    emit_unsigned("skipped", n_skipped);
    emit_end();
    return n_failed ? 1 : 0;
}

/* SPDX-License-Identifier: MIT */
/* The reader of vector lines. */
#include "vector.h"

#include <string.h>

#include "everycore/x25519.h"

#define MOST_LINE ((N_VALUES + 1) * 2 * VECTOR_MOST_BYTES)

static const char *const value_names[N_VALUES] = {
    "key", "key2", "iv", "nonce", "aad", "tag", "salt", "iterations", "bytes", "in", "out"};

#define ON_SHA2(name, hash)                                                 \
    {name, DIGEST, true, 0, hash},                                          \
    {name "-mct", MCT_DIGEST, true, 0, hash},                               \
    {"hmac-" name, HMAC, true, 0, hash},                                    \
    {"hmac-" name "-verify", HMAC_VERIFY, false, 1 << TAG, hash},           \
    {"hkdf-" name, HKDF, true, 1 << SALT, hash},                            \
    {"pbkdf2-" name, PBKDF2, true, 1 << SALT | 1 << ITERATIONS, hash}

static const struct vector_mode modes[] = {
    {"ecb-enc", ECB, true, 0, 0},
    {"ecb-dec", ECB, false, 0, 0},
    {"cbc-enc", CBC, true, 1 << IV, 0},
    {"cbc-dec", CBC, false, 1 << IV, 0},
    {"ctr", CTR, true, 1 << IV, 0},
    {"xts-enc", XTS, true, 1 << IV | 1 << KEY2, 0},
    {"xts-dec", XTS, false, 1 << IV | 1 << KEY2, 0},
    {"cbcmac", CBCMAC, true, 0, 0},
    {"cmac", CMAC, true, 0, 0},
    {"cmac-verify", CMAC_VERIFY, false, 1 << TAG, 0},
    {"ccm-seal", CCM, true, 1 << NONCE | 1 << TAG, 0},
    {"ccm-open", CCM, false, 1 << NONCE | 1 << TAG, 0},
    {"kw-wrap", KW, true, 0, 0},
    {"kw-unwrap", KW, false, 0, 0},
    {"kwp-wrap", KWP, true, 0, 0},
    {"kwp-unwrap", KWP, false, 0, 0},
    {"gcm-siv-seal", GCM_SIV, true, 1 << NONCE | 1 << TAG, 0},
    {"gcm-siv-open", GCM_SIV, false, 1 << NONCE | 1 << TAG, 0},
    {"gcm-seal", GCM, true, 1 << NONCE | 1 << TAG, 0},
    {"gcm-open", GCM, false, 1 << NONCE | 1 << TAG, 0},
    {"ecb-enc-mct", MCT_ECB, true, 0, 0},
    {"ecb-dec-mct", MCT_ECB, false, 0, 0},
    {"cbc-enc-mct", MCT_CBC, true, 1 << IV, 0},
    {"cbc-dec-mct", MCT_CBC, false, 1 << IV, 0},
    ON_SHA2("sha224", EVC_SHA224),
    ON_SHA2("sha256", EVC_SHA256),
    ON_SHA2("sha384", EVC_SHA384),
    ON_SHA2("sha512", EVC_SHA512),
    ON_SHA2("sha512-256", EVC_SHA512_256),
    {"x25519", X25519, true, 0, 0},
};
#define N_MODES (sizeof modes / sizeof modes[0])

const char *vector_primitive(const struct vector_mode *mode)
{
    if (mode->family == X25519)
        return "x25519";
    return mode->hash ? "sha2" : mode->family == GCM ? "gcm" : "aes";
}

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

    if (n % 2 || n / 2 > VECTOR_MOST_BYTES)
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

/* Fields that a mode may have and need not. */
static unsigned optional(const struct vector_mode *mode)
{
    switch (mode->family) {
    case CCM:
    case GCM:
    case GCM_SIV: return 1u << AAD;
    case HKDF: return 1u << LENGTH;
    default: return 0;
    }
}

static bool has_values(struct vector *x, const struct vector_mode *mode)
{
    const size_t most_tag = mode->hash ? EVC_SHA2_MOST_DIGEST_BYTES : 16;
    unsigned needs = mode->needs | 1u << OUT;

    if (mode->family != PBKDF2)
        needs |= 1u << IN;
    if (mode->family != DIGEST && mode->family != MCT_DIGEST)
        needs |= 1u << KEY;
    for (size_t i = 0; i < N_VALUES; i++)
        if (needs >> i & 1 && !x->v[i].given)
            return bad(x, "wants the field", value_names[i]);
    for (size_t i = 0; i < N_VALUES; i++)
        if (x->v[i].given && !((needs | optional(mode)) >> i & 1))
            return bad(x, "the mode takes no field", value_names[i]);
    if (x->v[IV].given && x->v[IV].n != 16)
        return bad(x, "wants 16 bytes of", "iv");
    if (mode->family == X25519 && x->v[KEY].n != EVC_X25519_BYTES)
        return bad(x, "wants 32 bytes of", "key");
    if (mode->family == X25519 && x->v[IN].n != EVC_X25519_BYTES)
        return bad(x, "wants 32 bytes of", "in");
    if (mode->family == CMAC && x->v[OUT].n > 16)
        return bad(x, "wants at most 16 bytes of", "out");
    if (x->v[TAG].given && x->v[TAG].n > most_tag)
        return bad(x, "wants fewer bytes of", "tag");
    if (mode->family == HMAC && x->v[OUT].n > most_tag)
        return bad(x, "wants fewer bytes of", "out");
    if (x->v[ITERATIONS].given && x->v[ITERATIONS].n != 4)
        return bad(x, "wants 4 bytes of", "iterations");
    if (x->v[LENGTH].given && x->v[LENGTH].n != 2)
        return bad(x, "wants 2 bytes of", "bytes");
    return true;
}

static const struct vector_mode *read_vector(struct vector *x, char *line)
{
    const struct vector_mode *mode = modes;
    char *primitive = strtok(line, " \t"), *name = strtok(NULL, " \t"),
         *kernel = strtok(NULL, " \t");

    if (!kernel)
        return bad(x, "not 'PRIMITIVE MODE KERNEL ...':", primitive), NULL;
    x->kernel = kernel;
    while (mode < modes + N_MODES && strcmp(mode->name, name) != 0)
        mode++;
    bool good = mode < modes + N_MODES || bad(x, "unknown mode", name);
    if (good && strcmp(primitive, vector_primitive(mode)) != 0)
        good = bad(x, "another primitive has this mode, not", primitive);
    for (char *field; (field = strtok(NULL, " \t")) != NULL;) /* all: the id may be the last */
        good = (strncmp(field, "id=", 3) == 0 || good) && read_field(x, field) && good;
    return good && has_values(x, mode) ? mode : NULL;
}

void vectors_read(FILE *lines, void (*take)(struct vector *x, void *arg), void *arg)
{
    static char line[MOST_LINE];
    static uint8_t bytes[N_VALUES][VECTOR_MOST_BYTES];
    char own_id[32];

    for (unsigned long number = 1; fgets(line, sizeof line, lines); number++) {
        struct vector x = {.kernel = "*", .id = own_id};
        line[strcspn(line, "#\r\n")] = 0;
        if (line[strspn(line, " \t")] == 0)
            continue;
        snprintf(own_id, sizeof own_id, "line %lu", number);
        for (size_t i = 0; i < N_VALUES; i++)
            x.v[i].bytes = bytes[i];
        x.mode = read_vector(&x, line);
        take(&x, arg);
    }
}

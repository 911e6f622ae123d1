/* SPDX-License-Identifier: MIT */
/* Calls of RSA leave nothing behind. Numbers of keys but n and e, randomness
 * and messages are secret. */
#include "residue.h"

#include "must.h"
#include "rsa_keys.h"

#include "everycore/cpu.h"
#include "everycore/rsa_key_file.h"
#include "everycore/rsa_sha2.h"
#include "prime/work.h"
#include "rsa/parts.h"

#define N_BYTES RSA_N_BYTES

/* ---- Longer keys ----------------------------------------------------------------------------- */

/* Two pairs of primes: PSS and OAEP with SHA-256 need 528 bits of n and more. */
#define LONG_P_BYTES 64
#define LONG_N_BYTES (2 * LONG_P_BYTES)
static const uint8_t long_primes[2][2][LONG_P_BYTES] = {
    {{0xd3, 0xd2, 0x3c, 0x0b, 0xdf, 0x43, 0xef, 0xb2, 0x19, 0xfc, 0xfc, 0x64, 0xe7,
      0xaa, 0x85, 0x76, 0xd9, 0x6e, 0x5a, 0xdf, 0xa2, 0xbe, 0xee, 0x31, 0xac, 0x8b,
      0xe7, 0xd7, 0x42, 0x84, 0x0d, 0x2b, 0x26, 0xb5, 0x63, 0xb1, 0xe7, 0x94, 0xee,
      0x14, 0xe1, 0x45, 0x4c, 0x40, 0xc4, 0x39, 0xf3, 0x4a, 0xc9, 0x63, 0xcf, 0xe0,
      0xaf, 0xae, 0x5a, 0x3b, 0xb9, 0x09, 0x6a, 0x04, 0xe7, 0xd8, 0x01, 0x43},
     {0xe9, 0x77, 0xa4, 0x1b, 0x73, 0x0b, 0xed, 0x9c, 0x94, 0xa6, 0x7f, 0x00, 0xf3,
      0x35, 0xc3, 0x57, 0x79, 0x72, 0xa3, 0x6d, 0x51, 0xb3, 0x1a, 0x6c, 0x20, 0x05,
      0x0e, 0xd3, 0x1a, 0x6e, 0x72, 0xb9, 0x13, 0x33, 0xbc, 0x1c, 0xfe, 0x6c, 0x2b,
      0x03, 0x68, 0x20, 0x21, 0x2c, 0x69, 0x59, 0x93, 0x54, 0x06, 0xe8, 0x2a, 0x01,
      0x2b, 0x5c, 0x5c, 0xd1, 0xe7, 0xca, 0x43, 0x0e, 0x92, 0xac, 0x42, 0x8f}},
    {{0xe7, 0xa9, 0xb0, 0x5c, 0x7d, 0xfb, 0x27, 0xe8, 0xd7, 0x75, 0xf5, 0x93, 0xce,
      0x3a, 0xd2, 0xb2, 0x84, 0x91, 0xca, 0xbe, 0xa0, 0xaf, 0xe3, 0x56, 0x17, 0xbc,
      0xc7, 0x4d, 0x6d, 0x68, 0x3c, 0xf8, 0x54, 0x28, 0x61, 0xcd, 0x55, 0xe7, 0xd6,
      0x7e, 0xae, 0x6a, 0xc4, 0xa9, 0xe8, 0x9c, 0x5b, 0xc7, 0xa0, 0x18, 0x7b, 0x4d,
      0x51, 0x20, 0x9e, 0x8f, 0x33, 0x27, 0x26, 0xd0, 0x35, 0x6a, 0x44, 0x8b},
     {0xc1, 0xbc, 0x85, 0x8e, 0xb0, 0xb4, 0x36, 0x2e, 0x4e, 0x18, 0xa3, 0x63, 0x48,
      0x91, 0xa6, 0x1b, 0xc3, 0xb1, 0xb3, 0x66, 0xb1, 0x85, 0x2a, 0xc8, 0x40, 0xe0,
      0x52, 0x99, 0x30, 0xb9, 0xf6, 0x09, 0x15, 0x70, 0xbc, 0x62, 0x18, 0x32, 0xc9,
      0xe2, 0x33, 0xaa, 0x39, 0x18, 0x08, 0xfc, 0x20, 0x81, 0x3e, 0x1d, 0xcf, 0xb5,
      0x92, 0xbd, 0xe3, 0x1c, 0x34, 0xd2, 0xea, 0x16, 0x14, 0xda, 0xf4, 0xc3}},
};

/* Numbers that evc_rsa_complete() makes of a pair. */
static struct evc_rsa_numbers long_numbers(const struct evc_rsa_places *at)
{
    return (struct evc_rsa_numbers){.n = at->n,
                                    .d = at->d,
                                    .e = at->e,
                                    .p = at->p,
                                    .q = at->q,
                                    .dp = at->dp,
                                    .dq = at->dq,
                                    .qinv = at->qinv,
                                    .n_bytes = LONG_N_BYTES,
                                    .e_bytes = sizeof rsa_e,
                                    .p_bytes = LONG_P_BYTES};
}

static struct {
    EVC_ALIGN(64) uint8_t key[16384];
    struct rsa_key_bytes numbers;
    uint8_t random[64], in[N_BYTES], out[LONG_N_BYTES], generated[1024];
    uint8_t ciphertext[LONG_N_BYTES], digest[32];
    uint8_t pem[RSA_PEM_BYTES], der[RSA_DER_BYTES];
    uint8_t scratch[81920]; /* eight candidates side by side need the most: 68,682 bytes */
    size_t out_bytes;
} at;
static uint64_t seed[2];
static struct random drawn;
static const struct evc_bn *kernel; /* under test */

static const struct evc_rsa_private *key(void)
{
    return (const void *)at.key;
}

/* A copy: a generator of random numbers would leave some of them on the stack by itself. */
static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    /* from: read byte by byte, so that no vector register has them */
    const volatile uint8_t *from = at.random;

    (void)context;
    for (size_t i = 0; i < n_bytes; i++)
        out[i] = from[i % sizeof at.random] | 1;
    return 0;
}

static const struct evc_random randomness = {fill, NULL};
static const struct evc_rsa_oaep oaep = {&rsa_mixing, &rsa_mixing, NULL, 0};

static enum evc_status set_private(void)
{
    const struct evc_rsa_numbers numbers = rsa_numbers(&at.numbers);

    return evc_rsa_set_private_in(at.key, sizeof at.key, kernel, &numbers, 256, at.scratch,
                                  sizeof at.scratch);
}

static void prepare(unsigned version)
{
    drawn.state = seed[version];
    at.numbers = rsa_keys[version];
    random_bytes(&drawn, at.random, sizeof at.random);
    random_bytes(&drawn, at.in, N_BYTES);
    at.in[0] = 1;
    memset(at.out, 0, sizeof at.out);
    memset(at.generated, 0, sizeof at.generated);
    must(set_private());
}

static void set_key(void)
{
    must(set_private());
}

static void public_operation(void)
{
    must(evc_rsa_public(evc_rsa_public_of(key()), at.in, at.out, at.scratch, sizeof at.scratch));
}

static void private_operation(void)
{
    must(evc_rsa_private(key(), at.in, at.out, &randomness, at.scratch, sizeof at.scratch));
}

static void encrypt_oaep(void)
{
    must(evc_rsa_encrypt_oaep(evc_rsa_public_of(key()), &oaep, at.in, 5, &randomness, at.out,
                              at.scratch, sizeof at.scratch));
}

static void prepare_oaep(unsigned version)
{
    prepare(version);
    encrypt_oaep();
    memcpy(at.in, at.out, N_BYTES);
}

static void decrypt_oaep(void)
{
    must(evc_rsa_decrypt_oaep(key(), &oaep, at.in, N_BYTES, &randomness, at.out, &at.out_bytes,
                              at.scratch, sizeof at.scratch));
}

static void encrypt_pkcs1(void)
{
    must(evc_rsa_encrypt_pkcs1(evc_rsa_public_of(key()), at.in, 5, &randomness, at.out, at.scratch,
                               sizeof at.scratch));
}

static void decrypt_pkcs1(void)
{
    must(evc_rsa_decrypt_pkcs1(key(), &rsa_mixing, at.in, N_BYTES, &randomness, at.out,
                               &at.out_bytes, at.scratch, sizeof at.scratch));
}

static void sign_pss(void)
{
    static const uint8_t digest[RSA_DIGEST_BYTES];
    static const struct evc_rsa_pss pss = {&rsa_mixing, &rsa_mixing, 9};

    must(evc_rsa_sign_pss(key(), &pss, digest, sizeof digest, &randomness, at.out, at.scratch,
                          sizeof at.scratch));
}

static void sign_pkcs1(void)
{
    static const uint8_t digest[RSA_DIGEST_BYTES];
    static const uint8_t prefix[1] = {0x30};
    static const struct evc_rsa_hash hash = {.digest = rsa_mix,
                                             .digest_bytes = RSA_DIGEST_BYTES,
                                             .prefix = prefix,
                                             .prefix_bytes = sizeof prefix};

    must(evc_rsa_sign_pkcs1(key(), &hash, digest, sizeof digest, &randomness, at.out, at.scratch,
                            sizeof at.scratch));
}

/* Three, since kernels with lanes compute six powers in another way than two. */
static void private_many(void)
{
    static struct evc_rsa_operation operations[3];

    for (size_t i = 0; i < 3; i++)
        operations[i] = (struct evc_rsa_operation){key(), at.in, at.out, EVC_OK};
    must(evc_rsa_private_many(operations, 3, &randomness, at.scratch, sizeof at.scratch));
}

/* Randomness that is the same in each draw has to be a base of both primes. */
static void prepare_bases(unsigned version)
{
    prepare(version);
    at.random[0] = 0x55;
}

static void check_key(void)
{
    must(evc_rsa_check_key(key(), &randomness, at.scratch, sizeof at.scratch));
}

/* ---- Key files ------------------------------------------------------------------------------- */

static size_t pem_bytes;

static void prepare_pem(unsigned version)
{
    prepare(version);
    pem_bytes = rsa_put_pem(at.pem, &at.numbers);
    memset(at.der, 0, sizeof at.der);
}

static void read_pem(void)
{
    struct evc_rsa_numbers numbers;

    must(evc_rsa_read_private(at.pem, pem_bytes, at.der, sizeof at.der, &numbers));
}

static void prepare_wrong_pem(unsigned version)
{
    prepare_pem(version);
    at.pem[pem_bytes - 2] = 'x';
}

static enum evc_status of_wrong_pem;

static void read_wrong_pem(void)
{
    struct evc_rsa_numbers numbers;

    of_wrong_pem = evc_rsa_read_private(at.pem, pem_bytes, at.der, sizeof at.der, &numbers);
}

/* ---- Keys that are refused ------------------------------------------------------------------- */

static void prepare_wrong_d(unsigned version)
{
    prepare(version);
    at.numbers.d[N_BYTES - 1] ^= 2;
}

static void prepare_wrong_qinv(unsigned version)
{
    prepare(version);
    at.numbers.qinv[RSA_P_BYTES - 1] ^= 2;
}

static enum evc_status of_wrong_key;

static void set_wrong_key(void)
{
    of_wrong_key = set_private();
}

/* ---- Generation ------------------------------------------------------------------------------ */

/* Searches find these primes at once, since randomness begins with them and takes the first
 * candidate. */
static unsigned new_version, n_found;
static bool draws_bases, same_primes;

static int fill_start(void *context, uint8_t *out, size_t n_bytes)
{
    const volatile uint8_t *from = long_primes[new_version][same_primes ? 1 : n_found];

    if (draws_bases)
        return fill(context, out, n_bytes);
    for (size_t i = 0; i < n_bytes; i++)
        out[i] = n_bytes == LONG_P_BYTES ? from[i] : 0;
    return 0;
}

static int report(void *context, const struct evc_prime_progress *progress)
{
    (void)context;
    draws_bases = progress->rounds < evc_prime_rounds(8 * LONG_P_BYTES);
    n_found += !draws_bases && n_found == 0;
    return 0;
}

static void prepare_generate(unsigned version)
{
    prepare_bases(version);
    new_version = version;
    n_found = 0;
    draws_bases = false;
}

static enum evc_status of_generate;

static void generate(void)
{
    static struct evc_rsa_numbers numbers;
    const struct evc_prime_search search = {.kernel = kernel,
                                            .words = evc_bn_words_select(evc_cpu_features(), 0),
                                            .random = {fill_start, NULL},
                                            .report = report};

    of_generate =
        evc_rsa_generate(&search, 8 * LONG_N_BYTES, rsa_e, sizeof rsa_e, at.generated,
                         sizeof at.generated, &numbers, at.scratch, sizeof at.scratch);
}

/* ---- Whole messages, hashed by SHA-256 of this library --------------------------------------- */

/* A message is `in`. */
static const struct evc_sha2 *hash;

static void prepare_whole(unsigned version)
{
    const struct evc_rsa_places places = evc_rsa_places_in(at.generated, LONG_P_BYTES);
    const struct evc_rsa_numbers numbers = long_numbers(&places);

    prepare(version);
    memcpy(places.p, long_primes[version][0], LONG_P_BYTES);
    memcpy(places.q, long_primes[version][1], LONG_P_BYTES);
    memcpy(places.e, rsa_e, sizeof rsa_e);
    must(evc_rsa_complete(&places, LONG_P_BYTES, sizeof rsa_e, at.scratch));
    must(evc_rsa_set_private_in(at.key, sizeof at.key, kernel, &numbers, 8 * LONG_N_BYTES,
                                at.scratch, sizeof at.scratch));
    must(evc_sha2_digest(hash, EVC_SHA256, at.in, N_BYTES, at.digest));
}

static void sign_pkcs1_whole(void)
{
    must(evc_rsa_sign_pkcs1_sha2(key(), hash, EVC_SHA256, at.in, N_BYTES, &randomness, at.out,
                                 at.scratch, sizeof at.scratch));
}

static void sign_pss_whole(void)
{
    must(evc_rsa_sign_pss_sha2(key(), hash, EVC_SHA256, at.in, N_BYTES, &randomness, at.out,
                               at.scratch, sizeof at.scratch));
}

static void encrypt_oaep_whole(void)
{
    must(evc_rsa_encrypt_oaep_sha2(evc_rsa_public_of(key()), hash, EVC_SHA256, at.in, N_BYTES,
                                   &randomness, at.ciphertext, at.scratch, sizeof at.scratch));
}

static void prepare_to_decrypt(unsigned version)
{
    prepare_whole(version);
    encrypt_oaep_whole();
}

static void decrypt_oaep_whole(void)
{
    must(evc_rsa_decrypt_oaep_sha2(key(), hash, EVC_SHA256, at.ciphertext, LONG_N_BYTES,
                                   &randomness, at.out, &at.out_bytes, at.scratch,
                                   sizeof at.scratch));
}

static void look(struct check *c, const char *operation, void (*prepare_it)(unsigned),
                 void (*make)(void))
{
    struct residue_call call = {.operation = operation, .prepare = prepare_it, .make = make};

    call.secrets[0] =
        (struct residue_secret){"number of the key", at.numbers.d, sizeof at.numbers - N_BYTES};
    call.secrets[1] = (struct residue_secret){"randomness", at.random, sizeof at.random};
    call.secrets[2] = (struct residue_secret){"input", at.in, sizeof at.in};
    call.secrets[3] = (struct residue_secret){"result", at.out, sizeof at.out};
    if (prepare_it == prepare_whole || prepare_it == prepare_to_decrypt) {
        call.secrets[4] =
            (struct residue_secret){"number of the new key", at.generated + LONG_N_BYTES,
                                    LONG_N_BYTES + 5 * LONG_P_BYTES};
        call.given = at.digest; /* which is public */
        call.given_bytes = sizeof at.digest;
    }
    for (int i = 0; i < (c->quick ? 1 : 4); i++) {
        seed[0] = random_next(&c->random);
        seed[1] = random_next(&c->random);
        residue_look(c, &call);
    }
}

/* A key, and primes that are none because they are too near to each other. */
static bool look_at_generation(struct check *c)
{
    bool good;

    same_primes = false;
    look(c, "generate", prepare_generate, generate);
    good = of_generate == EVC_OK;
    same_primes = true;
    look(c, "generate with one prime twice", prepare_generate, generate);
    return good && of_generate == EVC_ERR_RANDOM;
}

static void look_at_whole_messages(struct check *c)
{
    hash = evc_sha2_select(evc_cpu_features(), 0, EVC_SHA256);
    look(c, "sign_pkcs1_sha2", prepare_whole, sign_pkcs1_whole);
    look(c, "sign_pss_sha2", prepare_whole, sign_pss_whole);
    look(c, "encrypt_oaep_sha2", prepare_whole, encrypt_oaep_whole);
    look(c, "decrypt_oaep_sha2", prepare_to_decrypt, decrypt_oaep_whole);
}

enum result rsa_leaves_nothing_behind(struct check *c)
{
    if (residue_unavailable())
        return check_skip(c, residue_unavailable());
    kernel = evc_bn_named(c->line->name);
    residue_begin();
    look(c, "set_private", prepare, set_key);
    look(c, "public", prepare, public_operation);
    look(c, "private", prepare, private_operation);
    look(c, "private_many", prepare, private_many);
    look(c, "check_key", prepare_bases, check_key);
    look(c, "set_private with a wrong d", prepare_wrong_d, set_wrong_key);
    look(c, "set_private with a wrong qinv", prepare_wrong_qinv, set_wrong_key);
    if (of_wrong_key != EVC_ERR_KEY)
        return check_fail(c, "a key with a wrong qinv is not refused");
    look(c, "read_private", prepare_pem, read_pem);
    look(c, "read_private of a wrong text", prepare_wrong_pem, read_wrong_pem);
    if (of_wrong_pem != EVC_ERR_ENCODING)
        return check_fail(c, "a text with a wrong last line is not refused");
    look(c, "sign_pkcs1", prepare, sign_pkcs1);
    look(c, "sign_pss", prepare, sign_pss);
    look(c, "encrypt_oaep", prepare, encrypt_oaep);
    look(c, "decrypt_oaep", prepare_oaep, decrypt_oaep);
    look(c, "encrypt_pkcs1", prepare, encrypt_pkcs1);
    look(c, "decrypt_pkcs1", prepare, decrypt_pkcs1);
    /* With one kernel, of every build: these take long powers, and the code
     * is that of all kernels. */
    if (strcmp(c->line->name, "c_limb32") == 0) {
        if (!look_at_generation(c))
            return check_fail(c, "generation does not end as it should");
        look_at_whole_messages(c);
    }
    return residue_verdict(c);
}

/* SPDX-License-Identifier: MIT */
/*
 * Answers questions about RSA, for rsa_against_python.py. A line on stdin is KERNEL QUESTION, then
 * what the question needs; numbers are in hexadecimal of whole bytes, "-" is nothing, SEED is a
 * number for the randomness.
 *
 *     key N,E,D,P,Q,DP,DQ,QINV      sets the private key for what follows; P to
 *                                   QINV have the same length
 *     public-key N,E                sets the public key alone
 *     read-private FILE             the numbers of a file with a key, as they are there:
 *                                   n,e,d,p,q,dp,dq,qinv
 *     read-public FILE              n,e
 *     load-private FILE             sets the key of a file for what follows
 *     load-public FILE
 *     generate SEED BITS E          a new key, which is set: n, e, d, p, q, dp, dq,
 *                                   qinv with commas between
 *     check SEED                    whether its primes are prime
 *     public IN                     the raw operations
 *     private SEED IN
 *     many SEED IN,IN,...           the results, one behind the other
 *     sign-pkcs1 SEED HASH DIGEST
 *     verify-pkcs1 HASH DIGEST SIGNATURE
 *     sign-pss SEED HASH MGF-HASH SALT-BYTES DIGEST
 *     verify-pss HASH MGF-HASH SALT-BYTES DIGEST SIGNATURE    SALT-BYTES may be "any"
 *     encrypt-oaep SEED HASH MGF-HASH LABEL MESSAGE
 *     decrypt-oaep SEED HASH MGF-HASH LABEL CIPHERTEXT
 *     encrypt-pkcs1 SEED MESSAGE
 *     decrypt-pkcs1 SEED HASH CIPHERTEXT
 *
 * Hashes are asked for in turn: a line "? HASH BYTES" wants the digest as the next line.
 *
 * The answer is bytes in hexadecimal, "empty", or a status in words.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everycore/cpu.h"
#include "everycore/rsa_key_file.h"
#include "everycore/rsa_sha2.h"

#define MOST EVC_BN_MAX_BYTES
#define LEAST_BITS 256 /* of these questions; programs ask for 2048 */
#define MANY 40

static uint8_t number[8][MOST + 1];
static EVC_ALIGN(16) uint8_t memory[1u << 17];
static uint8_t scratch[1u << 22], out[MANY * MOST];
static char line[2 * MANY * (MOST + 1) + 256];
static int is_private; /* the key that is set */

static const struct evc_rsa_private *private_key(void)
{
    return (const void *)memory;
}

static const struct evc_rsa_public *public_key(void)
{
    return is_private ? evc_rsa_public_of(private_key()) : (const void *)memory;
}

static void stop(const char *message, const char *input)
{
    fprintf(stderr, "%s: %.40s\n", message, input);
    exit(2);
}

/* Up to the end, or a comma; "-" has no bytes. */
static uint32_t read_bytes(uint8_t *to, size_t most, const char *hex)
{
    size_t n = strcspn(hex, ",") / 2;

    if (*hex == '-')
        return 0;
    if (strcspn(hex, ",") % 2 != 0 || n > most)
        stop("no bytes that fit", hex);
    for (size_t i = 0; i < n; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
            stop("no hexadecimal digits", hex);
        to[i] = (uint8_t)byte;
    }
    return (uint32_t)n;
}

/* Numbers with commas between; returns how many. */
static size_t read_list(uint32_t *n_bytes, const char *list)
{
    size_t n = 0;

    for (const char *at = list; at && n < 8; n++) {
        n_bytes[n] = read_bytes(number[n], sizeof number[n], at);
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    return n;
}

static int fill(void *context, uint8_t *to, size_t n_bytes)
{
    uint64_t *state = context;

    for (size_t i = 0; i < n_bytes; i++) { /* the upper bits of an LCG (Knuth, MMIX) */
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        to[i] = (uint8_t)(*state >> 56);
    }
    return 0;
}

static uint64_t seed;
static const struct evc_random randomness = {fill, &seed};

static enum evc_status set_key(const struct evc_bn *kernel, const char *list)
{
    uint32_t n_bytes[8];
    struct evc_rsa_numbers numbers;

    if (read_list(n_bytes, list) != 8)
        stop("no eight numbers", list);
    for (size_t i = 4; i < 8; i++)
        if (n_bytes[i] != n_bytes[3] || n_bytes[2] != n_bytes[0])
            stop("lengths differ", list);
    numbers = (struct evc_rsa_numbers){.n = number[0],
                                       .e = number[1],
                                       .d = number[2],
                                       .p = number[3],
                                       .q = number[4],
                                       .dp = number[5],
                                       .dq = number[6],
                                       .qinv = number[7],
                                       .n_bytes = n_bytes[0],
                                       .e_bytes = n_bytes[1],
                                       .p_bytes = n_bytes[3]};
    is_private = 1;
    return evc_rsa_set_private_in(memory, sizeof memory, kernel, &numbers, LEAST_BITS, scratch,
                                  sizeof scratch);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static uint8_t file[sizeof line / 2];

static void print_numbers(const uint8_t *const *all, const uint32_t *sizes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < sizes[i]; j++)
            printf("%02x", all[i][j]);
        printf("%s", i + 1 < n ? "," : " ");
    }
}

/* Prints the numbers. */
static enum evc_status read_file(int of_private, const char *hex)
{
    static uint8_t room[sizeof file];
    const size_t n = read_bytes(file, sizeof file, hex);
    struct evc_rsa_numbers k;
    const enum evc_status status =
        (of_private ? evc_rsa_read_private : evc_rsa_read_public)(file, n, room, sizeof room, &k);
    const uint8_t *const all[] = {k.n, k.e, k.d, k.p, k.q, k.dp, k.dq, k.qinv};
    const uint32_t sizes[] = {k.n_bytes, k.e_bytes,  k.d_bytes,  k.p_bytes,
                              k.p_bytes, k.dp_bytes, k.dq_bytes, k.qinv_bytes};

    if (status == EVC_OK)
        print_numbers(all, sizes, of_private ? 8 : 2);
    return status;
}

static enum evc_status load_file(int of_private, const char *hex)
{
    const size_t n = read_bytes(file, sizeof file, hex);

    is_private = of_private;
    return (of_private ? evc_rsa_load_private : evc_rsa_load_public)(
        memory, sizeof memory, evc_cpu_features(), 0, file, n, LEAST_BITS, scratch, sizeof scratch);
}

/* Prints the numbers. */
static enum evc_status generate(const struct evc_bn *kernel, char **words)
{
    static uint8_t bytes[8 * MOST];
    const struct evc_prime_search search = {.kernel = kernel,
                                            .words = evc_bn_words_select(evc_cpu_features(), 0),
                                            .random = randomness};
    const size_t n_bits = strtoul(words[1], NULL, 10),
                 e_bytes = read_bytes(number[0], MOST, words[2]);
    struct evc_rsa_numbers k;
    enum evc_status status;

    seed = strtoull(words[0], NULL, 10);
    status = evc_rsa_generate(&search, n_bits, number[0], e_bytes, bytes,
                              evc_rsa_numbers_bytes(n_bits), &k, scratch, sizeof scratch);
    if (status == EVC_OK) {
        const uint8_t *const all[] = {k.n, k.e, k.d, k.p, k.q, k.dp, k.dq, k.qinv};
        const uint32_t sizes[] = {k.n_bytes, k.e_bytes, k.n_bytes, k.p_bytes,
                                  k.p_bytes, k.p_bytes, k.p_bytes, k.p_bytes};
        print_numbers(all, sizes, 8);
        is_private = 1;
        status = evc_rsa_set_private_in(memory, sizeof memory, kernel, &k, LEAST_BITS, scratch,
                                        sizeof scratch);
    }
    return status;
}

static enum evc_status set_public_key(const struct evc_bn *kernel, const char *list)
{
    uint32_t n_bytes[8];

    if (read_list(n_bytes, list) != 2)
        stop("no two numbers", list);
    is_private = 0;
    return evc_rsa_set_public_in(memory, sizeof memory, kernel, number[0], n_bytes[0], number[1],
                                 n_bytes[1], LEAST_BITS);
}

/* Bytes that are as long as n; the first ones may be left out. */
static void read_operand(uint8_t *to, const char *hex)
{
    const size_t n_bytes = public_key()->n_bytes, n = strcspn(hex, ",") / 2;

    if (n > n_bytes)
        stop("longer than n", hex);
    memset(to, 0, n_bytes);
    read_bytes(to + (n_bytes - n), n, hex);
}

static enum evc_status many(const char *list, size_t *n_out)
{
    static uint8_t in[MANY][MOST];
    static struct evc_rsa_operation operations[MANY];
    const size_t n_bytes = public_key()->n_bytes;
    size_t n = 0;

    for (const char *at = list; at; n++) {
        if (n == MANY)
            stop("too many", list);
        read_operand(in[n], at);
        operations[n] =
            (struct evc_rsa_operation){.key = private_key(), .in = in[n], .out = out + n * n_bytes};
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    *n_out = n * n_bytes;
    return evc_rsa_private_many(operations, n, &randomness, scratch, sizeof scratch);
}

/* ---- Paddings -------------------------------------------------------------------------------- */

static int ask_for_digest(void *context, const struct evc_rsa_piece *pieces, size_t n_pieces,
                          uint8_t *to)
{
    static char reply[2 * EVC_RSA_MOST_DIGEST_BYTES + 3];

    printf("? %s ", (const char *)context);
    for (size_t i = 0; i < n_pieces; i++)
        for (size_t j = 0; j < pieces[i].n_bytes; j++)
            printf("%02x", pieces[i].bytes[j]);
    puts("");
    fflush(stdout);
    if (!fgets(reply, sizeof reply, stdin))
        return -1;
    reply[strcspn(reply, "\n")] = 0;
    return read_bytes(to, EVC_RSA_MOST_DIGEST_BYTES, reply) == 0;
}

/* Every second time the hash is our own, where there is one: the answer must be the same. */
static struct evc_rsa_hash hash_named(char *name)
{
    static unsigned turn;
    static const struct {
        const char *name;
        uint32_t digest_bytes, block_bytes;
        enum evc_sha2_hash own;
    } known[] = {{.name = "sha1", .digest_bytes = 20, .block_bytes = 64},
                 {"sha224", 28, 64, EVC_SHA224},
                 {"sha256", 32, 64, EVC_SHA256},
                 {"sha384", 48, 128, EVC_SHA384},
                 {"sha512", 64, 128, EVC_SHA512},
                 {.name = "sha512-224", .digest_bytes = 28, .block_bytes = 128},
                 {"sha512-256", 32, 128, EVC_SHA512_256}};
    struct evc_rsa_hash hash = {ask_for_digest, name, 0, 0, NULL, 0};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0) {
            hash.digest_bytes = known[i].digest_bytes;
            hash.block_bytes = known[i].block_bytes;
            hash.prefix = evc_rsa_digest_prefix(name, &hash.prefix_bytes);
            if (known[i].own && turn++ % 2) {
                const struct evc_sha2 *kernel =
                    evc_sha2_select(evc_cpu_features(), 0, known[i].own);
                if (evc_rsa_hash_sha2(&hash, kernel, known[i].own) != EVC_OK)
                    stop("no own hash", name);
            }
            return hash;
        }
    stop("no such hash", name);
    return hash;
}

static uint8_t input[MOST + 64];

static enum evc_status sign(const char *question, char **words, size_t *n_out)
{
    const struct evc_rsa_hash hash = hash_named(words[1]);
    uint32_t n;

    seed = strtoull(words[0], NULL, 10);
    *n_out = public_key()->n_bytes;
    if (strcmp(question, "sign-pkcs1") == 0) {
        n = read_bytes(input, sizeof input, words[2]);
        return evc_rsa_sign_pkcs1(private_key(), &hash, input, n, &randomness, out, scratch,
                                  sizeof scratch);
    } else {
        const struct evc_rsa_hash mgf_hash = hash_named(words[2]);
        const struct evc_rsa_pss pss = {&hash, &mgf_hash, (uint32_t)strtoul(words[3], NULL, 10)};
        n = read_bytes(input, sizeof input, words[4]);
        return evc_rsa_sign_pss(private_key(), &pss, input, n, &randomness, out, scratch,
                                sizeof scratch);
    }
}

static enum evc_status verify(const char *question, char **words)
{
    const struct evc_rsa_hash hash = hash_named(words[0]);
    uint32_t n, n_signature;

    if (strcmp(question, "verify-pkcs1") == 0) {
        n = read_bytes(input, sizeof input, words[1]);
        n_signature = read_bytes(number[0], sizeof number[0], words[2]);
        return evc_rsa_verify_pkcs1(public_key(), &hash, input, n, number[0], n_signature, scratch,
                                    sizeof scratch);
    } else {
        const struct evc_rsa_hash mgf_hash = hash_named(words[1]);
        const struct evc_rsa_pss pss = {&hash, &mgf_hash,
                                        *words[2] == 'a' ? EVC_RSA_ANY_SALT
                                                         : (uint32_t)strtoul(words[2], NULL, 10)};
        n = read_bytes(input, sizeof input, words[3]);
        n_signature = read_bytes(number[0], sizeof number[0], words[4]);
        return evc_rsa_verify_pss(public_key(), &pss, input, n, number[0], n_signature, scratch,
                                  sizeof scratch);
    }
}

static enum evc_status oaep(const char *question, char **words, size_t *n_out)
{
    const struct evc_rsa_hash hash = hash_named(words[1]), mgf_hash = hash_named(words[2]);
    const struct evc_rsa_oaep how = {&hash, &mgf_hash, number[1],
                                     read_bytes(number[1], sizeof number[1], words[3])};
    const uint32_t n = read_bytes(input, sizeof input, words[4]);

    seed = strtoull(words[0], NULL, 10);
    *n_out = public_key()->n_bytes;
    if (strcmp(question, "encrypt-oaep") == 0)
        return evc_rsa_encrypt_oaep(public_key(), &how, input, n, &randomness, out, scratch,
                                    sizeof scratch);
    return evc_rsa_decrypt_oaep(private_key(), &how, input, n, &randomness, out, n_out, scratch,
                                sizeof scratch);
}

static enum evc_status encryption_by_pkcs1(const char *question, char **words, size_t *n_out)
{
    const int encrypts = strcmp(question, "encrypt-pkcs1") == 0;
    const uint32_t n = read_bytes(input, sizeof input, words[encrypts ? 1 : 2]);
    struct evc_rsa_hash hash;

    seed = strtoull(words[0], NULL, 10);
    *n_out = public_key()->n_bytes;
    if (encrypts)
        return evc_rsa_encrypt_pkcs1(public_key(), input, n, &randomness, out, scratch,
                                     sizeof scratch);
    hash = hash_named(words[1]);
    return evc_rsa_decrypt_pkcs1(private_key(), &hash, input, n, &randomness, out, n_out, scratch,
                                 sizeof scratch);
}

/* Sets n_out to the bytes of the result, if there is one. */
static enum evc_status answer(const struct evc_bn *kernel, const char *question, char **words,
                              size_t *n_out)
{
    *n_out = 0;
    if (strcmp(question, "key") == 0)
        return set_key(kernel, words[0]);
    if (strcmp(question, "public-key") == 0)
        return set_public_key(kernel, words[0]);
    if (strcmp(question, "read-private") == 0 || strcmp(question, "read-public") == 0)
        return read_file(strcmp(question, "read-private") == 0, words[0]);
    if (strcmp(question, "load-private") == 0 || strcmp(question, "load-public") == 0)
        return load_file(strcmp(question, "load-private") == 0, words[0]);
    if (strcmp(question, "generate") == 0)
        return generate(kernel, words);
    if (!private_key()->kernel)
        return EVC_ERR_KERNEL;
    if (strncmp(question, "sign-", 5) == 0)
        return sign(question, words, n_out);
    if (strncmp(question, "verify-", 7) == 0)
        return verify(question, words);
    if (strstr(question, "-oaep"))
        return oaep(question, words, n_out);
    if (strstr(question, "crypt-pkcs1"))
        return encryption_by_pkcs1(question, words, n_out);
    if (strcmp(question, "public") == 0) {
        *n_out = public_key()->n_bytes;
        read_operand(number[0], words[0]);
        return evc_rsa_public(public_key(), number[0], out, scratch, sizeof scratch);
    }
    seed = strtoull(words[0], NULL, 10);
    if (strcmp(question, "check") == 0)
        return evc_rsa_check_key(private_key(), &randomness, scratch, sizeof scratch);
    if (strcmp(question, "many") == 0)
        return many(words[1], n_out);
    if (strcmp(question, "private") != 0)
        stop("no such question", question);
    *n_out = public_key()->n_bytes;
    read_operand(number[0], words[1]);
    return evc_rsa_private(private_key(), number[0], out, &randomness, scratch, sizeof scratch);
}

int main(void)
{
    while (fgets(line, sizeof line, stdin)) {
        char *words[8] = {NULL};
        const struct evc_bn *kernel;
        enum evc_status status;
        size_t n_words = 0, n_out;

        line[strcspn(line, "\n")] = 0;
        for (char *word = strtok(line, " "); word && n_words < 8; word = strtok(NULL, " "))
            words[n_words++] = word;
        if (n_words < 3)
            stop("no question", line);
        kernel = evc_bn_named(words[0]);
        if (!evc_kernel_runs(evc_bn_kernel(kernel), evc_cpu_features() | EVC_CPU(CT_MUL))) {
            puts("not here");
            fflush(stdout); /* somebody waits for each answer */
            continue;
        }
        status = answer(kernel, words[1], words + 2, &n_out);
        if (status == EVC_OK && n_out)
            for (size_t i = 0; i < n_out; i++)
                printf("%02x", out[i]);
        else
            printf("%s", status == EVC_OK && strstr(words[1], "crypt-") ? "empty"
                                                                        : evc_status_text(status));
        puts("");
        fflush(stdout);
    }
    return 0;
}

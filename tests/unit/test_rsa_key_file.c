/* SPDX-License-Identifier: MIT */
/* Keys of RSA out of files: the forms that are read, what is refused and by which status, memory.
 * Files of OpenSSL, and other parsers, are in tests/oracles/rsa_key_files.py. */
#define _GNU_SOURCE
#include <stdlib.h>
#if defined(__unix__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "tap.h"

#include "everycore/rsa_key_file.h"

#include "key_der.h"
#include "rsa_keys.h"

/* A key of 256 bits whose d, dp, dq and qinv begin with bytes of zeros. */
static const uint8_t short_n[32] = {0xf4, 0x16, 0xde, 0x01, 0xcd, 0x95, 0xe6, 0x46,
                                    0x61, 0xad, 0xa1, 0xc4, 0x4c, 0xbd, 0x70, 0x48,
                                    0x0b, 0xb9, 0x06, 0x0a, 0x7f, 0xdd, 0xde, 0xbb,
                                    0xa7, 0xf3, 0xdc, 0x4d, 0xd2, 0x6c, 0x2f, 0x97};
static const uint8_t short_e[32] = {0x02, 0x00, 0x0c, 0x80, 0x7b, 0x10, 0xa7, 0x35,
                                    0x37, 0xb2, 0xf0, 0x50, 0xe1, 0xe5, 0xaa, 0x66,
                                    0xc5, 0x85, 0x8f, 0x3a, 0xa3, 0xc6, 0xc3, 0xd4,
                                    0x64, 0xb4, 0xae, 0x25, 0x97, 0x51, 0xa2, 0x41};
static const uint8_t short_d[32] = {0x00, 0x00, 0xb6, 0x25, 0x6f, 0x1a, 0xe0, 0x33,
                                    0xca, 0xea, 0xe1, 0x32, 0x6d, 0x17, 0xd1, 0xa1,
                                    0x93, 0xbe, 0x3a, 0xdd, 0x32, 0xe3, 0x25, 0x73,
                                    0xa0, 0xe7, 0x04, 0xbc, 0x3e, 0xd6, 0x7f, 0xc1};
static const uint8_t short_p[16] = {0xff, 0xe8, 0xeb, 0x1e, 0xc1, 0xbf, 0x7b, 0xba,
                                    0x9b, 0xb0, 0x34, 0xc1, 0x7a, 0xdb, 0xd8, 0x97};
static const uint8_t short_q[16] = {0xf4, 0x2c, 0xe1, 0xf4, 0x73, 0x06, 0x54, 0xc8,
                                    0x9c, 0x24, 0xb9, 0xdd, 0x97, 0x3e, 0x41, 0x01};
static const uint8_t short_dp[16] = {0x00, 0x54, 0x91, 0x16, 0x6d, 0x14, 0x90, 0x22,
                                     0x7c, 0xfe, 0x00, 0x71, 0x12, 0x64, 0x35, 0x9b};
static const uint8_t short_dq[16] = {0x00, 0x38, 0xcb, 0xe0, 0x35, 0x07, 0xdb, 0x09,
                                     0x8e, 0x6d, 0x4f, 0x5b, 0xe9, 0x66, 0x0b, 0xc1};
static const uint8_t short_qinv[16] = {0x00, 0x00, 0xfb, 0x0e, 0x9f, 0x0c, 0x62, 0xf6,
                                       0x9c, 0x71, 0x8b, 0x31, 0xbf, 0x55, 0x7d, 0xb1};
static const struct evc_rsa_numbers short_numbers = {
    .n = short_n,
    .d = short_d,
    .e = short_e,
    .p = short_p,
    .q = short_q,
    .dp = short_dp,
    .dq = short_dq,
    .qinv = short_qinv,
    .n_bytes = sizeof short_n,
    .e_bytes = sizeof short_e,
    .p_bytes = sizeof short_p,
};

static struct evc_rsa_numbers keys[2];
static struct piece plain[2], named[2], plain_public[2], named_public[2], algorithm;

static void make_files(void)
{
    keys[0] = rsa_numbers(&rsa_keys[0]);
    keys[1] = short_numbers;
    algorithm = rsa_algorithm();
    for (size_t i = 0; i < 2; i++) {
        plain[i] = rsa_private_key(&keys[i]);
        named[i] = private_key_info(0, &algorithm, &plain[i], NULL);
        plain_public[i] = rsa_public_key(&keys[i]);
        named_public[i] = public_key_info(&algorithm, &plain_public[i], 0);
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

static struct evc_rsa_numbers found;
static uint8_t room[sizeof((struct piece *)0)->at];

/* Memory of n bytes that ends at a page that is not there, where a system can do that. */
static uint8_t *guarded(size_t n)
{
#if defined(__unix__)
    static uint8_t *end;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), most = 8192 + 2 * page;

    if (!end) {
        uint8_t *const at =
            mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        end = at + most / page * page - page;
        if (at == MAP_FAILED || mprotect(end, page, PROT_NONE) != 0)
            exit(2);
    }
    return end - n;
#else
    static uint8_t memory_of_files[8192];

    return memory_of_files + sizeof memory_of_files - n;
#endif
}

/* An error leaves nothing. */
static enum evc_status read_exactly(int is_private, const uint8_t *file, size_t n)
{
    static const struct evc_rsa_numbers none;
    uint8_t *const copy = guarded(n);
    enum evc_status status;

    memcpy(copy, file, n);
    memset(room, 0xa5, sizeof room);
    memset(&found, 0xa5, sizeof found);
    status = (is_private ? evc_rsa_read_private : evc_rsa_read_public)(copy, n, room, n, &found);
    EXPECT(same(copy, file, n) && all_are(room + n, 0xa5, sizeof room - n));
    if (status != EVC_OK) {
        EXPECT(found.n == none.n && found.e == none.e && found.d == none.d && found.p == none.p);
        EXPECT(!found.n_bytes && !found.e_bytes && !found.qinv_bytes);
        for (size_t i = 0; i < n; i++)
            EXPECT(room[i] == 0 || room[i] == 0xa5);
    }
    return status;
}

static enum evc_status read_piece(int is_private, const struct piece *file)
{
    return read_exactly(is_private, file->at, file->n);
}

static int is_number(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes)
{
    for (; b_bytes > 1 && *b == 0; b++)
        b_bytes--;
    return a_bytes == b_bytes && same(a, b, a_bytes);
}

static void expect_numbers(const struct evc_rsa_numbers *k, int is_private)
{
    EXPECT(is_number(found.n, found.n_bytes, k->n, k->n_bytes));
    EXPECT(is_number(found.e, found.e_bytes, k->e, k->e_bytes));
    if (!is_private) {
        EXPECT(!found.d && !found.p && !found.q && !found.dp && !found.dq && !found.qinv);
        return;
    }
    EXPECT(is_number(found.d, found.d_bytes, k->d, k->n_bytes));
    EXPECT(is_number(found.p, found.p_bytes, k->p, k->p_bytes));
    EXPECT(is_number(found.q, found.p_bytes, k->q, k->p_bytes));
    EXPECT(is_number(found.dp, found.dp_bytes, k->dp, k->p_bytes));
    EXPECT(is_number(found.dq, found.dq_bytes, k->dq, k->p_bytes));
    EXPECT(is_number(found.qinv, found.qinv_bytes, k->qinv, k->p_bytes));
}

/* In DER and in PEM; with the other label, PEM is refused. */
static void expect_key(const struct evc_rsa_numbers *k, const struct piece *der, int is_private,
                       const char *label, const char *other_label)
{
    struct piece text = pem(label, der);

    EXPECT(read_piece(is_private, der) == EVC_OK);
    expect_numbers(k, is_private);
    EXPECT(read_piece(is_private, &text) == EVC_OK);
    expect_numbers(k, is_private);
    EXPECT(read_piece(!is_private, der) == EVC_ERR_ENCODING);
    EXPECT(read_piece(!is_private, &text) == EVC_ERR_ENCODING);
    text = pem(other_label, der);
    EXPECT(read_piece(is_private, &text) == EVC_ERR_ENCODING);
}

static void each_form_gives_the_numbers(void)
{
    for (size_t i = 0; i < 2; i++) {
        expect_key(&keys[i], &plain[i], 1, "RSA PRIVATE KEY", "PRIVATE KEY");
        expect_key(&keys[i], &named[i], 1, "PRIVATE KEY", "RSA PRIVATE KEY");
        expect_key(&keys[i], &plain_public[i], 0, "RSA PUBLIC KEY", "PUBLIC KEY");
        expect_key(&keys[i], &named_public[i], 0, "PUBLIC KEY", "RSA PUBLIC KEY");
    }
}

static void numbers_of_der_are_not_copied(void)
{
    EXPECT(evc_rsa_read_private(named[0].at, named[0].n, NULL, 0, &found) == EVC_OK);
    EXPECT(found.n > named[0].at && found.qinv < named[0].at + named[0].n);
    EXPECT(evc_rsa_read_public(named_public[1].at, named_public[1].n, NULL, 0, &found) == EVC_OK);
    EXPECT(found.n > named_public[1].at && found.e < named_public[1].at + named_public[1].n);
}

/* ---- DER that is refused --------------------------------------------------------------------- */

/* The parts of a private key in PKCS #8, to be written wrongly one at a time. */
static const struct piece *private_files(size_t i)
{
    return i == 0 ? &plain[0] : &named[0];
}

static const struct piece *public_files(size_t i)
{
    return i == 0 ? &plain_public[0] : &named_public[0];
}

static void every_truncation_is_refused(void)
{
    for (size_t i = 0; i < 2; i++) {
        for (size_t n = 0; n < private_files(i)->n; n++)
            EXPECT(read_exactly(1, private_files(i)->at, n) == EVC_ERR_ENCODING);
        for (size_t n = 0; n < public_files(i)->n; n++)
            EXPECT(read_exactly(0, public_files(i)->at, n) == EVC_ERR_ENCODING);
    }
}

static void anything_behind_is_refused(void)
{
    for (size_t i = 0; i < 2; i++)
        for (unsigned byte = 0; byte < 256; byte++) {
            struct piece file = *private_files(i);
            append_byte(&file, byte);
            EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
            file = *public_files(i);
            append_byte(&file, byte);
            EXPECT(read_piece(0, &file) == EVC_ERR_ENCODING);
        }
}

/* DER has one way to write a key: what is accepted is what is written of it again. */
static void every_changed_byte_is_refused_or_part_of_a_number(void)
{
    size_t n_accepted = 0;

    for (size_t at = 0; at < named[0].n; at++)
        for (unsigned change = 1; change < 256; change++) {
            struct piece file = named[0], again;

            file.at[at] = (uint8_t)(file.at[at] ^ change);
            if (read_piece(1, &file) != EVC_OK)
                continue;
            n_accepted++;
            again = rsa_private_key(&found);
            again = private_key_info(0, &algorithm, &again, NULL);
            EXPECT(again.n == file.n && same(again.at, file.at, file.n));
        }
    for (size_t at = 0; at < named_public[0].n; at++)
        for (unsigned change = 1; change < 256; change++) {
            struct piece file = named_public[0], again;

            file.at[at] = (uint8_t)(file.at[at] ^ change);
            if (read_piece(0, &file) != EVC_OK)
                continue;
            n_accepted++;
            again = rsa_public_key(&found);
            again = public_key_info(&algorithm, &again, 0);
            EXPECT(again.n == file.n && same(again.at, file.at, file.n));
        }
    EXPECT(n_accepted > 40000); /* most bytes are those of numbers */
}

/* A private key whose number at this place (0: the version) has other contents. */
static struct piece with_number(size_t place, const void *contents, size_t n)
{
    const struct evc_rsa_numbers *const k = &keys[0];
    const uint8_t *const all[] = {(const uint8_t *)"", k->n, k->e,  k->d,   k->p,
                                  k->q,                k->dp, k->dq, k->qinv};
    const size_t sizes[] = {1,          k->n_bytes, k->e_bytes, k->n_bytes, k->p_bytes,
                            k->p_bytes, k->p_bytes, k->p_bytes, k->p_bytes};
    struct piece key = {.n = 0}, number = {.n = 0};

    append(&number, contents, n);
    wrap(&number, 0x02);
    for (size_t i = 0; i < 9; i++)
        if (i == place)
            append_piece(&key, &number);
        else
            append_number(&key, all[i], sizes[i]);
    wrap(&key, 0x30);
    return key;
}

static void numbers_in_more_than_one_way_are_refused(void)
{
    for (size_t place = 0; place < 9; place++) {
        struct piece file = with_number(place, "\x00\x7f", 2);
        EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
        file = with_number(place, "\x00\x00\x80", 3);
        EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
        file = with_number(place, "\x80", 1); /* below 0 */
        EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
        file = with_number(place, "\xff\x7f", 2);
        EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
        file = with_number(place, "", 0);
        EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
    }
}

static void other_versions_are_refused(void)
{
    static const char *const versions[] = {"\x01", "\x02", "\x11", "\x7f"};

    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        struct piece file = with_number(0, versions[i], 1);
        EXPECT(read_piece(1, &file) == EVC_ERR_ALGORITHM);
        file = private_key_info(0, &algorithm, &file, NULL);
        EXPECT(read_piece(1, &file) == EVC_ERR_ALGORITHM);
    }
    for (unsigned version = 2; version < 128; version++) {
        const struct piece file = private_key_info(version, &algorithm, &plain[0], NULL);
        EXPECT(read_piece(1, &file) == EVC_ERR_ALGORITHM);
    }
}

/* The sequence of a key with other elements behind it, or fewer. */
static struct piece resized(const struct piece *key, const void *more, size_t n_more, size_t n_less)
{
    const size_t head = key->at[1] < 0x80 ? 2 : 2u + (key->at[1] & 0x7fu);
    struct piece file = {.n = 0};

    append(&file, key->at + head, key->n - head - n_less);
    append(&file, more, n_more);
    wrap(&file, key->at[0]);
    return file;
}

static void sequences_have_no_more_and_no_fewer_elements(void)
{
    static const uint8_t null[] = {0x05, 0x00}, number[] = {0x02, 0x01, 0x01},
                         other_primes[] = {0x30, 0x00};
    const size_t qinv_bytes = 2 + RSA_P_BYTES + (keys[0].qinv[0] >> 7);

    for (size_t i = 0; i < 2; i++) {
        struct piece file = resized(private_files(i), null, sizeof null, 0);
        EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
        file = resized(private_files(i), number, sizeof number, 0);
        EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
        file = resized(public_files(i), null, sizeof null, 0);
        EXPECT(read_piece(0, &file) == EVC_ERR_ENCODING);
        file = resized(public_files(i), number, sizeof number, 0);
        EXPECT(read_piece(0, &file) == EVC_ERR_ENCODING);
    }
    const struct piece more = resized(&plain[0], other_primes, sizeof other_primes, 0),
                       fewer = resized(&plain[0], NULL, 0, qinv_bytes);
    struct piece file = more;
    EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
    file = private_key_info(0, &algorithm, &more, NULL);
    EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
    file = fewer;
    EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
    file = private_key_info(0, &algorithm, &fewer, NULL);
    EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
}

/* The same contents under a header with another way to write its length. */
static void lengths_in_more_than_one_way_are_refused(void)
{
    static const struct {
        uint8_t header[8];
        size_t n;
    } headers[] = {
        {{0x30, 0x80}, 2},                                     /* until two bytes of zeros */
        {{0x30, 0x82, 0x00, 0xff}, 4},                         /* a byte too many */
        {{0x30, 0x83, 0x00, 0x00, 0xff}, 5},                   /* two */
        {{0x30, 0x84, 0x00, 0x00, 0x00, 0xff}, 6},             /* three */
        {{0x30, 0x84, 0xff, 0xff, 0xff, 0xff}, 6},             /* beyond the file */
        {{0x30, 0x86, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 8}, /* and beyond 32 bits */
        {{0x30, 0xff}, 2},
        {{0x30, 0x81, 0x7f}, 3}};
    struct piece body = {.n = 0}, file;

    append(&body, plain[0].at + 3, plain[0].n - 3);
    EXPECT(plain[0].at[1] == 0x81 && plain[0].at[2] == body.n);
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        file.n = 0;
        append(&file, headers[i].header, headers[i].n);
        for (size_t j = 1; j < headers[i].n; j++) /* the length of this body */
            if (file.at[j] == 0xff && j + 1 == headers[i].n && i >= 1 && i <= 3)
                file.at[j] = (uint8_t)body.n;
        append_piece(&file, &body);
        EXPECT(read_exactly(1, headers[i].header, headers[i].n) == EVC_ERR_ENCODING);
        if (i == 0)
            append(&file, "\0", 2);
        EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
    }
    /* within the key: the version is 02 01 00 */
    file.n = 0;
    append(&file, "\x02\x81\x01\x00", 4);
    append(&file, body.at + 3, body.n - 3);
    wrap(&file, 0x30);
    EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
}

static void other_algorithms_are_refused(void)
{
    /* id-RSASSA-PSS without parameters and with NULL, rsaEncryption of other last arcs, EC */
    static const char *const others[] = {
        "\x30\x0b\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a",
        "\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a\x05",
        "\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x07\x05",
        "\x30\x0c\x06\x08\x2a\x86\x48\x86\xf7\x0d\x01\x01\x05",
        "\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07"};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const size_t n = strlen(others[i]);
        struct piece other = {.n = 0}, file;
        append(&other, others[i], n);
        if (n < 2u + other.at[1]) /* what a string cannot hold: the length of NULL */
            append_byte(&other, 0);
        file = private_key_info(0, &other, &plain[0], NULL);
        EXPECT(read_piece(1, &file) == EVC_ERR_ALGORITHM);
        file = public_key_info(&other, &plain_public[0], 0);
        EXPECT(read_piece(0, &file) == EVC_ERR_ALGORITHM);
    }
}

static void parameters_are_null(void)
{
    static const struct {
        uint8_t at[8];
        size_t n;
    } wrong[] = {{{0}, 0},
                 {{0x05, 0x81, 0x00}, 3},
                 {{0x05, 0x01, 0x00}, 3},
                 {{0x30, 0x00}, 2},
                 {{0x05, 0x00, 0x05, 0x00}, 4}};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct piece other = {.n = 0}, file;
        append(&other, algorithm.at + 2, algorithm.n - 4);
        append(&other, wrong[i].at, wrong[i].n);
        wrap(&other, 0x30);
        file = private_key_info(0, &other, &plain[0], NULL);
        EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
        file = public_key_info(&other, &plain_public[0], 0);
        EXPECT(read_piece(0, &file) == EVC_ERR_ENCODING);
    }
}

static void strings_of_public_keys_are_whole_bytes(void)
{
    struct piece file, none = {.n = 0};

    for (unsigned unused = 1; unused < 256; unused++) {
        file = public_key_info(&algorithm, &plain_public[0], unused);
        EXPECT(read_piece(0, &file) == EVC_ERR_ENCODING);
    }
    file = public_key_info(&algorithm, &none, 0);
    EXPECT(read_piece(0, &file) == EVC_ERR_ENCODING);
    wrap(&none, 0x03);
    file = algorithm;
    append_piece(&file, &none);
    wrap(&file, 0x30);
    EXPECT(read_piece(0, &file) == EVC_ERR_ENCODING);
}

static void attributes_are_passed_over_and_public_keys_compared(void)
{
    static const uint8_t attributes[] = {0xa0, 0x03, 0x30, 0x01, 0xff}, too_long[] = {0xa0, 0x01};
    struct piece key[3], behind = {.n = 0}, file;

    for (size_t i = 0; i < 3; i++) { /* the right one, and others by n and by e */
        struct evc_rsa_numbers k = keys[0];

        if (i == 1)
            k.n = rsa_keys[1].n;
        k.e_bytes -= i == 2;
        file = rsa_public_key(&k);
        key[i].n = 0;
        append_byte(&key[i], 0);
        append_piece(&key[i], &file);
        wrap(&key[i], 0x81);
    }
    append(&behind, attributes, sizeof attributes);
    file = private_key_info(0, &algorithm, &plain[0], &behind);
    EXPECT(read_piece(1, &file) == EVC_OK);
    expect_numbers(&keys[0], 1);
    file = private_key_info(1, &algorithm, &plain[0], &behind);
    EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING); /* version 1 has a public key */
    append_piece(&behind, &key[0]);
    file = private_key_info(1, &algorithm, &plain[0], &behind);
    EXPECT(read_piece(1, &file) == EVC_OK);
    expect_numbers(&keys[0], 1);
    file = private_key_info(0, &algorithm, &plain[0], &behind);
    EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING); /* version 0 has none */
    append_byte(&behind, 0x05);
    append_byte(&behind, 0x00);
    file = private_key_info(1, &algorithm, &plain[0], &behind);
    EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
    file = private_key_info(1, &algorithm, &plain[0], &key[0]);
    EXPECT(read_piece(1, &file) == EVC_OK);
    for (size_t i = 1; i < 3; i++) {
        file = private_key_info(1, &algorithm, &plain[0], &key[i]);
        EXPECT(read_piece(1, &file) == EVC_ERR_KEY);
    }
    behind.n = 0;
    append(&behind, too_long, sizeof too_long);
    file = private_key_info(0, &algorithm, &plain[0], &behind);
    EXPECT(read_piece(1, &file) == EVC_ERR_ENCODING);
}

static void primes_have_one_length(void)
{
    uint8_t longer[RSA_P_BYTES + 1] = {1};

    for (size_t place = 4; place < 6; place++) {
        const struct piece file = with_number(place, longer, sizeof longer);
        EXPECT(read_piece(1, &file) == EVC_ERR_KEY);
    }
}

static void encrypted_keys_are_told_apart(void)
{
    struct piece file = rsa_algorithm(), string = plain[0], text;

    wrap(&string, 0x04);
    append_piece(&file, &string);
    wrap(&file, 0x30);
    EXPECT(read_piece(1, &file) == EVC_ERR_ENCRYPTED);
    EXPECT(read_piece(0, &file) == EVC_ERR_ENCODING);
    text = pem("ENCRYPTED PRIVATE KEY", &file);
    EXPECT(read_piece(1, &text) == EVC_ERR_ENCRYPTED);
    text.n = 0;
    append_text(&text, "-----BEGIN RSA PRIVATE KEY-----\r\nProc-Type: 4,ENCRYPTED\r\n"
                       "DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\r\n\r\n");
    append_base64(&text, &plain[0], 64, "\r\n");
    append_text(&text, "-----END RSA PRIVATE KEY-----\r\n");
    EXPECT(read_piece(1, &text) == EVC_ERR_ENCRYPTED);
}

/* ---- PEM ------------------------------------------------------------------------------------- */

/* Replaces each %s by base64 of the key, in lines of line_length characters. */
static enum evc_status read_text(const char *format, size_t line_length, const char *newline)
{
    const char *const at = strstr(format, "%s");
    struct piece text = {.n = 0};

    append(&text, format, (size_t)(at - format));
    append_base64(&text, &named[0], line_length, newline);
    append_text(&text, at + 2);
    return read_piece(1, &text);
}

#define BEGIN "-----BEGIN PRIVATE KEY-----"
#define END "-----END PRIVATE KEY-----"

static void texts_that_rfc_7468_allows_are_read(void)
{
    static const char *const newlines[] = {"\n", "\r\n", "\r", "\n\n", " \t\n \t", "\n \n"};
    static const size_t lengths[] = {64, 76, 1, 5, 4096};
    static const char *const formats[] = {
        BEGIN "\n%s" END "\n",
        BEGIN "\n%s" END,
        BEGIN "\n%s " END "\n",
        BEGIN " \t \n%s" END " \t ",
        BEGIN "\r\n%s" END "\r\n",
        BEGIN "\r%s" END "\r",
        BEGIN "\n\n  %s\n" END "\n\n",
        "Bag Attributes\n  x: y\r\n" BEGIN "\n%s" END "\nmore\n",
        "0\n\n" BEGIN "\n%s" END "\n",
        "\n-----BEGIN\n-----BEGIN \n-----BEGIN X-----\n-----END X-----\n" BEGIN "\n%s" END "\n",
        "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n" BEGIN "\n%s" END "\n",
        "-----BEGIN EC PRIVATE KEY-----\nAA==\n-----END EC PRIVATE KEY-----\n" BEGIN "\n%s" END,
        BEGIN "\n%s" END "\n" BEGIN "\nAAAA\n" END "\n",
        " " BEGIN "\n" BEGIN "\n%s" END "\n"};

    for (size_t i = 0; i < sizeof newlines / sizeof newlines[0]; i++)
        for (size_t j = 0; j < sizeof lengths / sizeof lengths[0]; j++) {
            EXPECT(read_text(formats[0], lengths[j], newlines[i]) == EVC_OK);
            expect_numbers(&keys[0], 1);
        }
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        EXPECT(read_text(formats[i], 64, "\n") == EVC_OK);
        expect_numbers(&keys[0], 1);
    }
}

static void other_texts_are_refused(void)
{
    static const char *const formats[] = {
        "%s",
        BEGIN "%s" END "\n",
        BEGIN " x\n%s" END "\n",
        " " BEGIN "\n%s" END "\n",
        "-----begin PRIVATE KEY-----\n%s-----end PRIVATE KEY-----\n",
        "-----BEGIN private key-----\n%s-----END private key-----\n",
        "-----BEGIN PRIVATE KEY -----\n%s-----END PRIVATE KEY -----\n",
        "----BEGIN PRIVATE KEY----\n%s----END PRIVATE KEY----\n",
        "-----BEGIN PRIVATE KEY----\n%s-----END PRIVATE KEY----\n",
        BEGIN "\n%s-----END RSA PRIVATE KEY-----\n",
        BEGIN "\n%s-----END PRIVATE KEY----\n",
        BEGIN "\n%s" END "x\n",
        BEGIN "\n%s-----BEGIN PRIVATE KEY-----\n",
        BEGIN "\n%s",
        BEGIN "\n%s=\n" END "\n",
        BEGIN "\n%sAAAA\n" END "\n",
        BEGIN "\n=\n%s" END "\n",
        BEGIN "\n*%s" END "\n",
        BEGIN "\nName: value\n\n%s" END "\n",
        BEGIN "\n\v%s" END "\n",
        BEGIN "\n\xef\xbb\xbf%s" END "\n"};
    struct piece text, none = {.n = 0};

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        EXPECT(read_text(formats[i], 64, "\n") == EVC_ERR_ENCODING);
    EXPECT(read_text("-----BEGIN X PRIVATE KEY-----\n%s-----END X PRIVATE KEY-----\n", 64, "\n") ==
           EVC_ERR_ALGORITHM);
    EXPECT(read_text("-----BEGIN  PRIVATE KEY-----\n%s-----END  PRIVATE KEY-----\n", 64, "\n") ==
           EVC_ERR_ALGORITHM);
    text = pem("PRIVATE KEY", &none);
    EXPECT(read_piece(1, &text) == EVC_ERR_ENCODING);
    text = pem("OPENSSH PRIVATE KEY", &plain[0]);
    EXPECT(read_piece(1, &text) == EVC_ERR_ALGORITHM && read_piece(0, &text) == EVC_ERR_ENCODING);
    text = pem("CERTIFICATE", &plain[0]);
    EXPECT(read_piece(1, &text) == EVC_ERR_ENCODING);
    text = pem("EC PUBLIC KEY", &plain_public[0]);
    EXPECT(read_piece(0, &text) == EVC_ERR_ALGORITHM);
}

static void every_truncated_text_is_refused(void)
{
    const struct piece text = pem("PRIVATE KEY", &named[0]);

    for (size_t n = 0; n + 1 < text.n; n++)
        EXPECT(read_exactly(1, text.at, n) == EVC_ERR_ENCODING);
    EXPECT(read_exactly(1, text.at, text.n - 1) == EVC_OK);
}

/* Base64 of a key whose length is any of the three kinds, with each character changed to each byte:
 * accepted is what is written of it again, or a blank more. */
static void every_changed_character_is_refused_or_part_of_a_number(void)
{
    const struct piece text = pem("PUBLIC KEY", &named_public[0]);
    size_t n_accepted = 0;

    for (size_t at = 0; at < text.n; at++)
        for (unsigned byte = 0; byte < 256; byte++) {
            struct piece file = text, again;

            file.at[at] = (uint8_t)byte;
            if (byte == text.at[at] || read_piece(0, &file) != EVC_OK)
                continue;
            n_accepted++;
            again = rsa_public_key(&found);
            again = public_key_info(&algorithm, &again, 0);
            again = pem("PUBLIC KEY", &again);
            if (text.at[at] == '\n') /* another one, or none between lines */
                again.at[at] = (uint8_t)byte;
            EXPECT(again.n == file.n && same(again.at, file.at, file.n));
        }
    EXPECT(n_accepted > 2000);
}

/* Padding for each length modulo 3, and the bits that it leaves. */
static void padding_is_as_long_as_needed_and_its_bits_are_zeros(void)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t seen[3] = {0};

    for (size_t less = 0; less < 3; less++) { /* keys of three lengths */
        struct evc_rsa_numbers k = keys[0];
        struct piece der, text;
        size_t last, padding = 0;

        k.e_bytes -= (uint32_t)less;
        der = rsa_public_key(&k);
        text = pem("RSA PUBLIC KEY", &der);
        EXPECT(read_piece(0, &text) == EVC_OK);
        last = text.n - strlen("-----END RSA PUBLIC KEY-----\n") - 2;
        for (; text.at[last] == '='; last--)
            padding++;
        seen[padding]++;
        for (unsigned i = 0; i < 64 && padding; i++) {
            struct piece file = text;

            file.at[last] = (uint8_t)digits[i];
            EXPECT((read_piece(0, &file) == EVC_OK) == (i % (padding == 1 ? 4 : 16) == 0));
        }
        for (size_t from = last + 1; from <= last + padding; from++) { /* in front of a digit */
            struct piece file = text;

            file.at[from] = text.at[last];
            file.at[last] = '=';
            EXPECT(read_piece(0, &file) == EVC_ERR_ENCODING);
        }
        for (size_t wrong = 0; wrong < 4; wrong++) {
            struct piece file = text;

            if (wrong == padding)
                continue;
            file.n = last + 1;
            for (size_t i = 0; i < wrong; i++)
                append_byte(&file, '=');
            append_text(&file, "\n-----END RSA PUBLIC KEY-----\n");
            EXPECT(read_piece(0, &file) == EVC_ERR_ENCODING);
        }
    }
    EXPECT(seen[0] == 1 && seen[1] == 1 && seen[2] == 1);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void base64_needs_no_more_room_than_it_gives(void)
{
    struct piece text = pem("PRIVATE KEY", &named[1]);

    for (size_t n = 0; n <= named[1].n; n++) {
        memset(room, 0xa5, sizeof room);
        EXPECT(evc_rsa_read_private(text.at, text.n, room, n, &found) ==
               (n < named[1].n ? EVC_ERR_SCRATCH : EVC_OK));
        EXPECT(all_are(room + n, 0xa5, sizeof room - n));
        EXPECT(n == named[1].n ? same(room, named[1].at, n) : all_are(room, 0, n));
    }
    expect_numbers(&keys[1], 1);
    EXPECT(evc_rsa_read_private(text.at, text.n, text.at, text.n, &found) == EVC_OK); /* in place */
    expect_numbers(&keys[1], 1);
}

static EVC_ALIGN(16) uint8_t memory[EVC_RSA_MOST_PRIVATE_BYTES(512)], expected[sizeof memory];
static uint8_t scratch[EVC_RSA_MOST_SCRATCH_BYTES(512)];

static enum evc_status load(int is_private, const struct piece *file, size_t least_bits)
{
    enum evc_status status;

    memset(memory, 0xa5, sizeof memory);
    memset(scratch, 0, sizeof scratch);
    status = (is_private ? evc_rsa_load_private : evc_rsa_load_public)(
        memory, sizeof memory, evc_cpu_features(), 0, file->at, file->n, least_bits, scratch,
        sizeof scratch);
    EXPECT(all_are(scratch, 0, sizeof scratch));
    if (status != EVC_OK)
        EXPECT(all_are(memory, 0, sizeof memory));
    return status;
}

static void loaded_keys_are_those_of_the_numbers(void)
{
    for (size_t i = 0; i < 2; i++) {
        const uint64_t features = evc_cpu_features();
        const struct evc_bn *const halves = evc_bn_select_for(features, 0, EVC_USE_ANY,
                                                              8 * (size_t)keys[i].p_bytes),
                                   *const whole = evc_bn_select_for(features, 0, EVC_USE_ANY,
                                                                    8 * (size_t)keys[i].n_bytes);
        const struct piece text = pem("PRIVATE KEY", &named[i]),
                           public_text = pem("PUBLIC KEY", &named_public[i]);

        must(evc_rsa_set_private_in(expected, sizeof expected, halves, &keys[i], 256, scratch,
                                    sizeof scratch));
        must(load(1, &plain[i], 256));
        EXPECT(same(memory, expected, sizeof memory));
        must(load(1, &text, 256));
        EXPECT(same(memory, expected, sizeof memory));
        must(evc_rsa_set_public_in(expected, sizeof expected, whole, keys[i].n, keys[i].n_bytes,
                                   keys[i].e, keys[i].e_bytes, 256));
        must(load(0, &plain_public[i], 256));
        EXPECT(same(memory, expected, sizeof memory));
        must(load(0, &public_text, 256));
        EXPECT(same(memory, expected, sizeof memory));
    }
}

static void keys_that_cannot_be_loaded_leave_zeros(void)
{
    const struct piece text = pem("PRIVATE KEY", &named[0]),
                       public_text = pem("PUBLIC KEY", &named_public[0]);
    struct piece file = plain[0];
    const uint64_t features = evc_cpu_features();
    const struct evc_bn *const kernel =
        evc_bn_select_for(features, 0, EVC_USE_ANY, 8 * (size_t)keys[0].p_bytes);
    const size_t needed = evc_rsa_private_bytes(kernel, 8 * RSA_N_BYTES),
                 scratch_needed = evc_rsa_scratch_bytes(kernel, 8 * RSA_N_BYTES);

    EXPECT(load(1, &text, 0) == EVC_ERR_KEY_SIZE && load(0, &public_text, 0) == EVC_ERR_KEY_SIZE);
    EXPECT(load(1, &public_text, 256) == EVC_ERR_ENCODING &&
           load(0, &text, 256) == EVC_ERR_ENCODING);
    file.at[file.n - 1] ^= 1;
    EXPECT(load(1, &file, 256) == EVC_ERR_KEY);
    memcpy(memory, text.at, text.n);
    EXPECT(evc_rsa_load_private(memory, sizeof memory, features, 0, memory, text.n, 256, scratch,
                                sizeof scratch) == EVC_ERR_OVERLAP);
    EXPECT(all_are(memory, 0, sizeof memory));
    memcpy(memory, public_text.at, public_text.n);
    EXPECT(evc_rsa_load_public(memory, sizeof memory, features, 0, memory, public_text.n, 256,
                               scratch, sizeof scratch) == EVC_ERR_OVERLAP);
    EXPECT(all_are(memory, 0, sizeof memory));
    EXPECT(evc_rsa_load_private(memory, needed - 1, features, 0, text.at, text.n, 256, scratch,
                                sizeof scratch) == EVC_ERR_KERNEL);
    EXPECT(evc_rsa_load_private(memory, needed, features, 0, text.at, text.n, 256, scratch,
                                scratch_needed + named[0].n - 1) == EVC_ERR_SCRATCH);
    EXPECT(evc_rsa_load_private(memory, needed, features, 0, text.at, text.n, 256, scratch,
                                named[0].n - 1) == EVC_ERR_SCRATCH);
    EXPECT(all_are(memory, 0, sizeof memory) && all_are(scratch, 0, sizeof scratch));
    EXPECT(evc_rsa_load_private(memory, needed, features, 0, text.at, text.n, 256, scratch,
                                scratch_needed + named[0].n) == EVC_OK);
    EXPECT(evc_rsa_load_public(memory, sizeof memory, features, 0, public_text.at, public_text.n,
                               256, scratch, named_public[0].n - 1) == EVC_ERR_SCRATCH);
    EXPECT(evc_rsa_load_public(memory, sizeof memory, features, 0, named_public[0].at,
                               named_public[0].n, 256, NULL, 0) == EVC_OK);
}

/* For each kernel of this library, and lengths up to the longest. */
static void the_most_bytes_are_enough(void)
{
    const struct evc_bn *kernel;

    for (unsigned i = 0; (kernel = evc_bn_at(i)) != NULL; i++)
        for (size_t n_bits = 256; n_bits <= 8192; n_bits += n_bits < 1100 ? 8 : 40) {
            const size_t file = 5 * n_bits / 8 + 64; /* the DER of a key */

            EXPECT(evc_rsa_public_bytes(kernel, n_bits) <= EVC_RSA_MOST_PUBLIC_BYTES(n_bits));
            EXPECT(evc_rsa_private_bytes(kernel, n_bits) <= EVC_RSA_MOST_PRIVATE_BYTES(n_bits));
            EXPECT(evc_rsa_scratch_bytes(kernel, n_bits) + file <=
                   EVC_RSA_MOST_SCRATCH_BYTES(n_bits));
            EXPECT(evc_rsa_padding_scratch_bytes(kernel, n_bits) <=
                   EVC_RSA_MOST_SCRATCH_BYTES(n_bits));
            EXPECT(evc_rsa_check_scratch_bytes(kernel, n_bits) <=
                   EVC_RSA_MOST_SCRATCH_BYTES(n_bits));
        }
}

/* ---- Signatures ------------------------------------------------------------------------------ */

static void a_loaded_key_signs_by_the_randomness_of_the_system(void)
{
    uint8_t in[RSA_N_BYTES] = {0, 1, 2}, between[RSA_N_BYTES], out[RSA_N_BYTES];
    enum evc_status status;

    must(load(1, &named[0], 256));
    status = evc_rsa_private((const void *)memory, in, between, evc_random_system(), scratch,
                             sizeof scratch);
    if (evc_random_system()->fill(NULL, out, 1) == EVC_ERR_RANDOM) { /* no such system */
        EXPECT(status == EVC_ERR_RANDOM && all_are(between, 0, sizeof between));
        return;
    }
    must(status);
    must(load(0, &named_public[0], 256));
    must(evc_rsa_public((const void *)memory, between, out, scratch, sizeof scratch));
    EXPECT(same(in, out, sizeof in));
}

int main(void)
{
    make_files();
    RUN(each_form_gives_the_numbers);
    RUN(numbers_of_der_are_not_copied);
    RUN(every_truncation_is_refused);
    RUN(anything_behind_is_refused);
    RUN(every_changed_byte_is_refused_or_part_of_a_number);
    RUN(numbers_in_more_than_one_way_are_refused);
    RUN(other_versions_are_refused);
    RUN(sequences_have_no_more_and_no_fewer_elements);
    RUN(lengths_in_more_than_one_way_are_refused);
    RUN(other_algorithms_are_refused);
    RUN(parameters_are_null);
    RUN(strings_of_public_keys_are_whole_bytes);
    RUN(attributes_are_passed_over_and_public_keys_compared);
    RUN(primes_have_one_length);
    RUN(encrypted_keys_are_told_apart);
    RUN(texts_that_rfc_7468_allows_are_read);
    RUN(other_texts_are_refused);
    RUN(every_truncated_text_is_refused);
    RUN(every_changed_character_is_refused_or_part_of_a_number);
    RUN(padding_is_as_long_as_needed_and_its_bits_are_zeros);
    RUN(base64_needs_no_more_room_than_it_gives);
    RUN(loaded_keys_are_those_of_the_numbers);
    RUN(keys_that_cannot_be_loaded_leave_zeros);
    RUN(the_most_bytes_are_enough);
    RUN(a_loaded_key_signs_by_the_randomness_of_the_system);
    return tap_done();
}

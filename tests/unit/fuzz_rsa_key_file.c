/* SPDX-License-Identifier: MIT */
/*
 * Files with keys of RSA fuzzed: what is accepted is what is written of its numbers again, and
 * whatever comes in, nothing else is written or left.
 *
 * The first byte of an input says whether a private or a public key is asked for; the rest is the
 * file. With -DEVC_FUZZ and -fsanitize=fuzzer this is a target of libFuzzer (tools/fuzz --target
 * rsa_key_file). Without, it is a program that takes a file of inputs, one a line in hexadecimal,
 * and tries each, and each with some thousand changes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "everycore/rsa_key_file.h"

#include "key_der.h"

#define MOST_BYTES 1024 /* of a file */

static const uint8_t *input;
static size_t input_bytes, n_accepted;

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s: ", what);
    for (size_t i = 0; i < input_bytes; i++)
        fprintf(stderr, "%02x", input[i]);
    fprintf(stderr, "\n");
    abort();
}

/* ---- What must hold -------------------------------------------------------------------------- */

static enum evc_status read_key(int is_private, const uint8_t *file, size_t n, uint8_t *room,
                                size_t room_bytes, struct evc_rsa_numbers *k)
{
    return (is_private ? evc_rsa_read_private : evc_rsa_read_public)(file, n, room, room_bytes, k);
}

static int is_same(const struct piece *a, const uint8_t *b, size_t b_bytes)
{
    return a->n == b_bytes && memcmp(a->at, b, b_bytes) == 0;
}

/* PKCS #8 may hold more than is written again: then the file begins alike behind its length, and
 * goes on with what such a file has there. */
static int is_with_more(const struct piece *written, const uint8_t *file, size_t n)
{
    const size_t head = 2u + (written->at[1] & 0x80 ? written->at[1] & 0x7fu : 0),
                 file_head = 2u + (file[1] & 0x80 ? file[1] & 0x7fu : 0),
                 rest = written->n - head;

    if (n < file_head + rest + 2)
        return 0;
    for (size_t i = 0; i < rest; i++) /* the version, in the third byte, may be 1 */
        if (file[file_head + i] != written->at[head + i] && (i != 2 || file[file_head + i] != 1))
            return 0;
    return file[file_head + rest] == 0xa0 || file[file_head + rest] == 0x81;
}

static void written_again(int is_private, const uint8_t *der, size_t n,
                          const struct evc_rsa_numbers *k)
{
    const struct piece algorithm = rsa_algorithm();
    const struct piece plain = is_private ? rsa_private_key(k) : rsa_public_key(k);
    const struct piece named = is_private ? private_key_info(0, &algorithm, &plain, NULL)
                                          : public_key_info(&algorithm, &plain, 0);

    must(is_same(&plain, der, n) || is_same(&named, der, n) ||
             (is_private && is_with_more(&named, der, n)),
         "accepts what is not written so");
}

static int is_cleared(const uint8_t *room, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (room[i] != 0 && room[i] != 0xa5)
            return 0;
    return 1;
}

static void try_file(int is_private, const uint8_t *file, size_t n)
{
    static uint8_t room[MOST_BYTES + 16], other[MOST_BYTES], in_place[MOST_BYTES];
    struct evc_rsa_numbers k, again;
    enum evc_status status;
    size_t used;

    memset(room, 0xa5, sizeof room);
    status = read_key(is_private, file, n, room, n, &k);
    for (size_t i = n; i < sizeof room; i++)
        must(room[i] == 0xa5, "writes behind the room");
    must(status == EVC_OK || status == EVC_ERR_ENCODING || status == EVC_ERR_ALGORITHM ||
             (is_private && (status == EVC_ERR_ENCRYPTED || status == EVC_ERR_KEY)),
         "another status");
    memcpy(in_place, file, n);
    must(read_key(is_private, in_place, n, in_place, n, &again) == status, "not so in place");
    if (status != EVC_OK) {
        must(is_cleared(room, n) && !k.n && !k.d && !k.qinv, "leaves something");
        return;
    }
    n_accepted++;
    if (k.n < room || k.n >= room + n) { /* DER */
        written_again(is_private, file, n, &k);
    } else {
        memset(other, 0x5a, sizeof other);
        must(read_key(is_private, file, n, other, n, &again) == EVC_OK, "not so again");
        for (used = n; used && room[used - 1] != other[used - 1]; used--)
            ; /* what is written is the same in both */
        written_again(is_private, room, used, &k);
        must(read_key(is_private, file, n, in_place, used - 1, &again) == EVC_ERR_SCRATCH,
             "needs less room than it gives");
    }
}

static void try_input(const uint8_t *data, size_t size)
{
    input = data;
    input_bytes = size;
    if (size && size - 1 <= MOST_BYTES)
        try_file(data[0] & 1, data + 1, size - 1);
}

/* ---- The target, and the program ------------------------------------------------------------- */

#if defined(EVC_FUZZ)
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_input(data, size);
    return 0;
}
#else
static uint64_t state = 0x9e3779b97f4a7c15;

/* xorshift64: Marsaglia 2003, "Xorshift RNGs", section 3. */
static size_t below(size_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)((state >> 20) % n);
}

/* Up to three bytes changed, left out, or doubled. */
static size_t change(uint8_t *data, size_t n)
{
    for (size_t rounds = 1 + below(3); rounds && n > 2; rounds--) {
        const size_t at = 1 + below(n - 1), how = below(5);

        if (how == 0)
            data[at] = (uint8_t)below(256);
        else if (how == 1)
            data[at] = (uint8_t)(data[at] ^ 1u << below(8));
        else if (how == 2)
            data[at] = (uint8_t)(data[at] + (below(2) ? 1 : -1));
        else if (how == 3)
            memmove(data + at, data + at + 1, --n - at);
        else if (n < MOST_BYTES)
            memmove(data + at + 1, data + at, n++ - at);
    }
    return n;
}

static size_t unhex(uint8_t *to, const char *hex)
{
    size_t n = 0;

    for (unsigned byte; n <= MOST_BYTES && sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
        to[n] = (uint8_t)byte;
    return n;
}

int main(int argc, char **argv)
{
    static char line[2 * MOST_BYTES + 16];
    static uint8_t data[MOST_BYTES + 2], changed[MOST_BYTES + 2];
    unsigned n_inputs = 0;
    FILE *inputs = argc == 2 ? fopen(argv[1], "r") : NULL;

    if (!inputs) {
        fprintf(stderr, "usage: fuzz_rsa_key_file FILE (of inputs, one a line in hexadecimal)\n");
        return 2;
    }
    while (fgets(line, sizeof line, inputs)) {
        const size_t n = line[0] == '#' ? 0 : unhex(data, line);

        if (!n)
            continue;
        try_input(data, n);
        for (int i = 0; i < 4000; i++) {
            memcpy(changed, data, n);
            try_input(changed, change(changed, n));
        }
        n_inputs++;
    }
    printf("%u inputs; %zu files accepted\n", n_inputs, n_accepted);
    return n_inputs == 0 || n_accepted <= n_inputs;
}
#endif

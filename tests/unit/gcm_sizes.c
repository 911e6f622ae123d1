/* SPDX-License-Identifier: MIT */
/*
 * Messages of GCM of more than 2^24 blocks, and of more than 2^32 bytes, where narrower numbers
 * fail: by each kernel that does AES and GHASH in one, in one call and in pieces of 16 MiB, all
 * with one result. Text and output are files of 1 MiB, each mapped many times in a row; kernels
 * hash an output before the file has another.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "everycore/gcm.h"

#include "tap.h"

#define FILE_BYTES ((size_t)1 << 20)
#define PIECE_BYTES ((size_t)1 << 24)
#define BEHIND 1300 /* bytes of a message behind the power of 2: groups of every kernel,
                     * and a part of a block */

static const uint8_t user_key[32] = {1, 2, 3}, iv[12] = {4, 5, 6}, aad[13] = {7, 8, 9};
static uint8_t *text, *out, first_tag[16], *first_out;

static void *need(void *memory)
{
    if (!memory || memory == MAP_FAILED) {
        perror("gcm_sizes");
        exit(2);
    }
    return memory;
}

static uint8_t *map_many_times(size_t n_bytes)
{
    FILE *file = need(tmpfile());
    uint8_t *at = need(mmap(NULL, n_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

    if (ftruncate(fileno(file), (off_t)FILE_BYTES) != 0)
        need(NULL);
    for (size_t i = 0; i < n_bytes; i += FILE_BYTES)
        need(mmap(at + i, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fileno(file),
                  0));
    fclose(file);
    return at;
}

static void result_is_that_of_the_first_call(const uint8_t tag[16], int is_first)
{
    if (is_first) {
        memcpy(first_tag, tag, 16);
        memcpy(first_out, out, FILE_BYTES);
    }
    EXPECT(memcmp(tag, first_tag, 16) == 0);
    EXPECT(memcmp(out, first_out, FILE_BYTES) == 0);
}

static void seal_as_others(const struct evc_gcm *kernel, size_t len_bytes, int is_first)
{
    union evc_gcm_key key;
    struct evc_gcm_state state;
    uint8_t tag[16];

    must(evc_gcm_set_key(&key, kernel, user_key, 128));
    memset(out, 0, FILE_BYTES);
    must(evc_gcm_seal(&key, iv, sizeof iv, aad, sizeof aad, text, out, len_bytes, tag, 16));
    result_is_that_of_the_first_call(tag, is_first);

    memset(out, 0, FILE_BYTES);
    must(evc_gcm_start(&key, &state, iv, sizeof iv));
    must(evc_gcm_aad(&key, &state, aad, sizeof aad));
    for (size_t at = 0, n; at < len_bytes; at += n) {
        n = len_bytes - at < PIECE_BYTES ? len_bytes - at : PIECE_BYTES;
        must(evc_gcm_seal_update(&key, &state, text + at, out + at, n));
    }
    must(evc_gcm_seal_finish(&key, &state, tag, 16));
    result_is_that_of_the_first_call(tag, 0);
}

/* One message, a little longer than 2^bits bytes, by every kernel that runs here. */
static void seal_with_every_kernel(unsigned bits)
{
    const size_t len_bytes = ((size_t)1 << bits) + BEHIND,
                 mapped = ((size_t)1 << bits) + FILE_BYTES;
    const struct evc_registry_line *line;
    int is_first = 1;

    text = map_many_times(mapped);
    out = map_many_times(mapped);
    for (size_t at = 0; at < FILE_BYTES; at++)
        text[at] = (uint8_t)(at ^ at >> 8);
    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++) {
        if (strcmp(line->primitive, "gcm") != 0)
            continue;
        const char *why = line->built ? missing_feature(line) : "another architecture";
        if (why) {
            printf("ok %u - a message of 2^%u bytes with %s # SKIP needs %s\n", ++tap_tests, bits,
                   line->name, why);
            continue;
        }
        seal_as_others(evc_gcm_named(line->name), len_bytes, is_first);
        tap_result(bits < 32 ? "more_than_24_bits_of_blocks_count"
                             : "more_than_32_bits_of_bytes_count",
                   line->name);
        is_first = 0;
    }
    munmap(text, mapped);
    munmap(out, mapped);
}

/* gcm_sizes BITS... */
int main(int argc, char **argv)
{
    first_out = need(malloc(FILE_BYTES));
    for (int i = 1; i < argc; i++)
        seal_with_every_kernel((unsigned)atoi(argv[i]));
    free(first_out);
    return tap_done();
}

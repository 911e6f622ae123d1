/* SPDX-License-Identifier: MIT */
/*
 * For tests, in an emulated Linux: everycore's drivers give the same bytes as the kernel's own.
 *
 *     same_bytes alg TYPE OURS THEIRS     through AF_ALG, at many lengths and key
 *                                         sizes; one line for each pair
 *     same_bytes dm OURS THEIRS SECTOR    dm-crypt over /dev/ram0 and /dev/ram1, written and read
 *     same_bytes warm TYPE BYTES NAME     only set a key of so many bytes: the kernel makes the
 *                                         algorithm of its templates
 *
 * TYPE: skcipher, aead, ccm, rfc4106, hash. The last word of a line is `same`, or says what is not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <linux/if_alg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SOL_ALG
#define SOL_ALG 279
#endif
#define MOST 9600
#define TAG 16

static uint8_t text[MOST], ours[MOST + TAG], theirs[MOST + TAG], back[MOST + TAG];
static uint64_t seed = 88172645463325252u; /* xorshift: G. Marsaglia, "Xorshift RNGs", 2003 */

static uint64_t random64(void)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}

static void fill(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(random64() >> 32);
}

static void fail(const char *what, const char *name)
{
    printf("BYTES %s: %s: %s\n", name, what, strerror(errno));
    exit(1);
}

/* An operation socket of an algorithm with a key. tag_bytes: of an AEAD, else 0. */
static int open_alg(const char *type, const char *name, const uint8_t *key, unsigned key_bytes,
                    unsigned tag_bytes)
{
    struct sockaddr_alg address = {.salg_family = AF_ALG};
    int tfm = socket(AF_ALG, SOCK_SEQPACKET, 0), op;

    snprintf((char *)address.salg_type, sizeof address.salg_type, "%s", type);
    snprintf((char *)address.salg_name, sizeof address.salg_name, "%s", name);
    if (tfm < 0 || bind(tfm, (struct sockaddr *)&address, sizeof address))
        fail("bind", name);
    if (setsockopt(tfm, SOL_ALG, ALG_SET_KEY, key, key_bytes))
        fail("key", name);
    if (tag_bytes && setsockopt(tfm, SOL_ALG, ALG_SET_AEAD_AUTHSIZE, NULL, tag_bytes))
        fail("tag size", name);
    op = accept(tfm, NULL, 0);
    if (op < 0)
        fail("accept", name);
    close(tfm);
    return op;
}

/* One request. iv_bytes 0: none. The text goes in pieces of two vectors, so that
 * requests have several places. */
static ssize_t request(int op, const char *name, int encrypt, const uint8_t *iv, unsigned iv_bytes,
                       unsigned aad_bytes, const uint8_t *in, size_t in_bytes, uint8_t *out,
                       size_t out_bytes)
{
    char control[CMSG_SPACE(4) * 2 + CMSG_SPACE(4 + 16)];
    const size_t half = in_bytes / 3;
    struct iovec pieces[2] = {{(void *)(uintptr_t)in, half},
                              {(void *)(uintptr_t)(in + half), in_bytes - half}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2, .msg_control = control};
    struct cmsghdr *c;
    ssize_t got;

    memset(control, 0, sizeof control);
    message.msg_controllen =
        CMSG_SPACE(4) + (iv_bytes ? CMSG_SPACE(4 + iv_bytes) : 0) + CMSG_SPACE(4);
    c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_ALG, c->cmsg_type = ALG_SET_OP, c->cmsg_len = CMSG_LEN(4);
    *(uint32_t *)(void *)CMSG_DATA(c) = encrypt ? ALG_OP_ENCRYPT : ALG_OP_DECRYPT;
    if (iv_bytes) {
        struct af_alg_iv *value;
        c = CMSG_NXTHDR(&message, c);
        c->cmsg_level = SOL_ALG, c->cmsg_type = ALG_SET_IV, c->cmsg_len = CMSG_LEN(4 + iv_bytes);
        value = (void *)CMSG_DATA(c);
        value->ivlen = iv_bytes;
        memcpy(value->iv, iv, iv_bytes);
    }
    c = CMSG_NXTHDR(&message, c);
    c->cmsg_level = SOL_ALG, c->cmsg_type = ALG_SET_AEAD_ASSOCLEN, c->cmsg_len = CMSG_LEN(4);
    *(uint32_t *)(void *)CMSG_DATA(c) = aad_bytes;
    if (sendmsg(op, &message, 0) != (ssize_t)in_bytes)
        fail("sendmsg", name);
    got = read(op, out, out_bytes);
    if (got < 0 && errno != EBADMSG)
        fail("read", name);
    return got;
}

static void compare(const uint8_t *a, const uint8_t *b, size_t n, const char *pair,
                    unsigned key_bytes, size_t len)
{
    if (!memcmp(a, b, n))
        return;
    printf("BYTES %s: key of %u, %zu bytes: different\n", pair, 8 * key_bytes, len);
    exit(1);
}

static size_t length(int i, size_t unit)
{
    static const size_t edges[] = {16,   17,   31,   32,   33,   48,   100,  127,  128,
                                   129,  255,  500,  512,  520,  1500, 4080, 4096, 4097,
                                   4111, 4112, 4113, 5000, 8191, 8192, 8200};
    size_t n = i < (int)(sizeof edges / sizeof *edges) ? edges[i] : 16 + random64() % (MOST - 800);

    return unit == 16 ? n & ~(size_t)15 : n;
}

#define ROUNDS 45

static void skciphers(const char *pair, const char *our, const char *their)
{
    const int is_xts = strncmp(our, "xts", 3) == 0, is_ctr = strncmp(our, "ctr", 3) == 0;
    const unsigned iv_bytes = strncmp(our, "ecb", 3) == 0 ? 0 : 16;

    for (unsigned key_bytes = 16; key_bytes <= 32; key_bytes += 8) {
        const unsigned all = is_xts ? 2 * key_bytes : key_bytes;
        uint8_t key[64], iv[16];
        int a, b;

        fill(key, sizeof key);
        a = open_alg("skcipher", our, key, all, 0), b = open_alg("skcipher", their, key, all, 0);
        for (int i = 0; i < ROUNDS; i++) {
            const size_t n = length(i, is_xts || is_ctr ? 1 : 16);
            fill(iv, 16), fill(text, n);
            if (request(a, our, 1, iv, iv_bytes, 0, text, n, ours, n) != (ssize_t)n ||
                request(b, their, 1, iv, iv_bytes, 0, text, n, theirs, n) != (ssize_t)n)
                fail("encryption", pair);
            compare(ours, theirs, n, pair, key_bytes, n);
            if (request(a, our, 0, iv, iv_bytes, 0, ours, n, back, n) != (ssize_t)n)
                fail("decryption", pair);
            compare(back, text, n, pair, key_bytes, n);
        }
        close(a), close(b);
    }
}

static void aeads(const char *pair, const char *type, const char *our, const char *their)
{
    const int is_ccm = !strcmp(type, "ccm"), is_rfc4106 = !strcmp(type, "rfc4106");
    const unsigned iv_bytes = is_ccm ? 16 : is_rfc4106 ? 8 : 12, salt = is_rfc4106 ? 4 : 0;

    for (unsigned key_bytes = 16; key_bytes <= 32; key_bytes += 8) {
        /* also the shortest ones that an algorithm has */
        const unsigned tag = key_bytes == 16   ? TAG
                             : key_bytes == 32 ? 12
                             : is_rfc4106      ? 8
                                               : 4;
        uint8_t key[64], iv[16];
        int a, b;

        fill(key, sizeof key);
        a = open_alg("aead", our, key, key_bytes + salt, tag),
        b = open_alg("aead", their, key, key_bytes + salt, tag);
        for (int i = 0; i < ROUNDS; i++) {
            const unsigned aad =
                is_rfc4106 ? (i % 2 ? 16 : 20) : (unsigned)(i % 7 * 13 + (i % 5 == 4 ? 300 : 0));
            const size_t n = length(i, 1) - (i % 16 == 15 ? 16 : 0), whole = aad + n;
            fill(iv, 16), fill(text, whole);
            if (is_ccm) {
                /* iv[0]: 2 to 4 bytes of length; unused bytes of the IV are the counter's */
                iv[0] = (uint8_t)(1 + i % 3);
                memset(iv + 15 - iv[0], 0, (size_t)iv[0] + 1);
            }
            if (request(a, our, 1, iv, iv_bytes, aad, text, whole, ours, whole + tag) !=
                    (ssize_t)(whole + tag) ||
                request(b, their, 1, iv, iv_bytes, aad, text, whole, theirs, whole + tag) !=
                    (ssize_t)(whole + tag))
                fail("encryption", pair);
            compare(ours + aad, theirs + aad, n + tag, pair, key_bytes, n);
            memcpy(ours, text, aad);
            if (request(a, our, 0, iv, iv_bytes, aad, ours, whole + tag, back, whole) !=
                (ssize_t)whole)
                fail("decryption", pair);
            compare(back + aad, text + aad, n, pair, key_bytes, n);
            /* The last 8 bytes before the text are the IV of RFC 4106 once
             * more, which nobody reads. */
            ours[is_rfc4106 ? aad + random64() % (n + tag) : random64() % (whole + tag)] ^= 1;
            if (request(a, our, 0, iv, iv_bytes, aad, ours, whole + tag, back, whole) >= 0) {
                printf("BYTES %s: key of %u, %zu bytes: a forgery was taken\n", pair, 8 * key_bytes,
                       n);
                exit(1);
            }
        }
        close(a), close(b);
    }
}

static void hashes(const char *pair, const char *our, const char *their)
{
    const int is_ghash = strncmp(our, "ghash", 5) == 0;

    for (unsigned key_bytes = 16; key_bytes <= (is_ghash ? 16 : 32); key_bytes += 8) {
        uint8_t key[32];
        int a, b;

        fill(key, sizeof key);
        a = open_alg("hash", our, key, key_bytes, 0),
        b = open_alg("hash", their, key, key_bytes, 0);
        for (int i = 0; i < ROUNDS; i++) {
            const size_t n = length(i, 1), first = random64() % n;
            fill(text, n);
            if (send(a, text, first, MSG_MORE) != (ssize_t)first ||
                send(a, text + first, n - first, 0) != (ssize_t)(n - first) ||
                read(a, ours, 16) != 16 || send(b, text, n, 0) != (ssize_t)n ||
                read(b, theirs, 16) != 16)
                fail("hash", pair);
            compare(ours, theirs, 16, pair, key_bytes, n);
        }
        close(a), close(b);
    }
}

/* ---- dm-crypt -------------------------------------------------------------------------------- */

#define DISK_BYTES (1u << 20)

static void dm(int control, unsigned long call, const char *name, const char *table)
{
    static union {
        struct dm_ioctl head;
        char bytes[4096];
    } io;
    struct dm_target_spec *target = (void *)(io.bytes + sizeof io.head);

    memset(&io, 0, sizeof io);
    io.head.version[0] = 4;
    io.head.data_size = sizeof io;
    io.head.data_start = sizeof io.head;
    snprintf(io.head.name, sizeof io.head.name, "%s", name);
    if (table) {
        io.head.target_count = 1;
        target->length = DISK_BYTES / 512;
        strcpy(target->target_type, "crypt");
        strcpy(io.bytes + sizeof io.head + sizeof *target, table);
        target->next = (uint32_t)(sizeof *target + strlen(table) + 8) & ~7u;
    }
    if (ioctl(control, call, &io))
        fail(call == DM_TABLE_LOAD ? "dm table" : "dm", name);
    if (call == DM_DEV_CREATE) {
        char node[64];
        snprintf(node, sizeof node, "/tmp/%s", name);
        if (mknod(node, S_IFBLK | 0600, (dev_t)io.head.dev))
            fail("mknod", node);
    }
}

/* Writes `in` to a disk through dm-crypt by a driver; gives the bytes of the disk, and
 * those that are read back. */
static void through_dm(int control, const char *driver, int disk, const char *sector,
                       const uint8_t *key_text, const uint8_t *in, uint8_t *on_disk,
                       uint8_t *read_back)
{
    char table[512], name[16], node[64];
    int file;

    snprintf(name, sizeof name, "c%d", disk);
    snprintf(table, sizeof table, "capi:%s-plain64 %s 0 /dev/ram%d 0 1 sector_size:%s", driver,
             (const char *)key_text, disk, sector);
    dm(control, DM_DEV_CREATE, name, NULL);
    dm(control, DM_TABLE_LOAD, name, table);
    dm(control, DM_DEV_SUSPEND, name, NULL); /* without its flag: resume */
    snprintf(node, sizeof node, "/tmp/%s", name);
    if ((file = open(node, O_RDWR)) < 0 || pwrite(file, in, DISK_BYTES, 0) != DISK_BYTES ||
        fsync(file))
        fail("write", node);
    close(file);
    snprintf(node, sizeof node, "/dev/ram%d", disk);
    if ((file = open(node, O_RDONLY)) < 0 || pread(file, on_disk, DISK_BYTES, 0) != DISK_BYTES)
        fail("read", node);
    close(file);
    /* Opened anew: what is read was not kept from the writing. */
    dm(control, DM_DEV_REMOVE, name, NULL);
    snprintf(node, sizeof node, "/tmp/%s", name);
    unlink(node);
    dm(control, DM_DEV_CREATE, name, NULL);
    dm(control, DM_TABLE_LOAD, name, table);
    dm(control, DM_DEV_SUSPEND, name, NULL);
    if ((file = open(node, O_RDONLY)) < 0 || pread(file, read_back, DISK_BYTES, 0) != DISK_BYTES)
        fail("read", node);
    close(file);
    dm(control, DM_DEV_REMOVE, name, NULL);
    unlink(node);
}

static void dm_crypt(const char *pair, const char *our, const char *their, const char *sector)
{
    static uint8_t in[DISK_BYTES], disk[2][DISK_BYTES], again[DISK_BYTES];
    const int control = open("/dev/mapper/control", O_RDWR);
    uint8_t key[65] = "";

    if (control < 0)
        fail("open", "/dev/mapper/control");
    for (int i = 0; i < 64; i++)
        key[i] = (uint8_t)"0123456789abcdef"[random64() >> 60];
    fill(in, sizeof in);
    for (int i = 0; i < 2; i++) {
        through_dm(control, i ? their : our, i, sector, key, in, disk[i], again);
        compare(again, in, DISK_BYTES, i ? their : our, 16, DISK_BYTES);
    }
    compare(disk[0], disk[1], DISK_BYTES, pair, 16, DISK_BYTES);
    if (!memcmp(disk[0], in, 512)) {
        printf("BYTES %s: the disk holds the plaintext\n", pair);
        exit(1);
    }
}

static void warm(const char *type, unsigned key_bytes, const char *name)
{
    const int is_aead = strcmp(type, "skcipher") != 0 && strcmp(type, "hash") != 0;
    uint8_t key[64];

    fill(key, sizeof key);
    close(open_alg(is_aead ? "aead" : type, name, key, key_bytes, is_aead));
}

int main(int argc, char **argv)
{
    char pair[256];

    if (argc != 5)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(argv[1], "warm")) {
        warm(argv[2], (unsigned)atoi(argv[3]), argv[4]);
        return 0;
    }
    snprintf(pair, sizeof pair, "%s %s", !strcmp(argv[1], "dm") ? argv[2] : argv[3], argv[4]);
    if (!strcmp(argv[1], "dm"))
        dm_crypt(pair, argv[2], argv[3], argv[4]);
    else if (!strcmp(argv[2], "skcipher"))
        skciphers(pair, argv[3], argv[4]);
    else if (!strcmp(argv[2], "hash"))
        hashes(pair, argv[3], argv[4]);
    else
        aeads(pair, argv[2], argv[3], argv[4]);
    printf("BYTES %s: same\n", pair);
    return 0;
}

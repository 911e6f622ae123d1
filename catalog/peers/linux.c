/* SPDX-License-Identifier: MIT */
/*
 * The running kernel through AF_ALG sockets: what a program pays that leaves its AES to Linux, two
 * system calls a message among it. Many kernels do not offer the sockets, or not all algorithms.
 * Source: Documentation/crypto/userspace-if.rst of Linux.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/if_alg.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef SOL_ALG
#define SOL_ALG 279
#endif

#define MOST_AAD 64 /* published vectors have up to 32 bytes */

struct context {
    int transform, operation; /* sockets: with the key; of the messages */
    uint32_t direction;       /* ALG_OP_ENCRYPT or ALG_OP_DECRYPT */
    uint32_t iv_bytes;
};

static const char *version(void)
{
    static struct utsname name;

    return uname(&name) == 0 ? name.release : "unknown";
}

/* A socket bound to the algorithm, or -1 with errno. */
static int bound(const char *type, const char *algorithm)
{
    struct sockaddr_alg address = {.salg_family = AF_ALG};
    int s = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (s < 0)
        return -1;
    memcpy(address.salg_type, type, strlen(type));
    memcpy(address.salg_name, algorithm, strlen(algorithm));
    if (bind(s, (struct sockaddr *)&address, sizeof address) == 0)
        return s;
    int why = errno;
    close(s);
    errno = why;
    return -1;
}

static const char *absent(void)
{
    int s = bound("skcipher", "cbc(aes)");

    if (s < 0)
        return errno == EAFNOSUPPORT ? "the kernel has no AF_ALG sockets" : strerror(errno);
    close(s);
    return NULL;
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* Control data of a message: operation, IV and, for AEAD, the length of the associated data. */
struct control {
    _Alignas(struct cmsghdr) char bytes[CMSG_SPACE(4) + CMSG_SPACE(4 + 16) + CMSG_SPACE(4)];
    size_t n;
};

static void put(struct control *control, int type, const void *value, size_t n)
{
    struct cmsghdr *c = (struct cmsghdr *)(void *)(control->bytes + control->n);

    c->cmsg_level = SOL_ALG;
    c->cmsg_type = type;
    c->cmsg_len = CMSG_LEN(n);
    memcpy(CMSG_DATA(c), value, n);
    control->n += CMSG_SPACE(n);
}

/* The pieces go in, then the answer comes out in pieces: out_bytes of them. */
static bool pass(const struct context *c, const struct peer_message *m, struct control *control,
                 struct iovec *in, struct iovec *out, size_t n_pieces, size_t out_bytes)
{
    struct msghdr h = {.msg_iov = in, .msg_iovlen = n_pieces};
    uint8_t iv[4 + 16]; /* struct af_alg_iv */

    memcpy(iv, &c->iv_bytes, 4);
    memcpy(iv + 4, m->iv, c->iv_bytes);
    put(control, ALG_SET_OP, &c->direction, 4);
    put(control, ALG_SET_IV, iv, 4 + c->iv_bytes);
    h.msg_control = control->bytes;
    h.msg_controllen = control->n;
    return sendmsg(c->operation, &h, 0) >= 0 &&
           readv(c->operation, out, (int)n_pieces) == (ssize_t)out_bytes;
}

static bool run_cipher(void *context, const struct peer_message *m)
{
    struct control control = {.n = 0};
    struct iovec in = {(void *)(uintptr_t)m->in, m->len_bytes};
    struct iovec out = {m->out, m->len_bytes};

    return pass(context, m, &control, &in, &out, 1, m->len_bytes);
}

/* The associated data comes back before the text. */
static bool aead(const struct context *c, const struct peer_message *m, size_t in_bytes,
                 size_t out_bytes)
{
    struct control control = {.n = 0};
    uint32_t aad_bytes = (uint32_t)m->aad_bytes;
    uint8_t aad[MOST_AAD];
    struct iovec in[2] = {{(void *)(uintptr_t)m->aad, m->aad_bytes},
                          {(void *)(uintptr_t)m->in, in_bytes}};
    struct iovec out[2] = {{aad, m->aad_bytes}, {m->out, out_bytes}};

    if (m->aad_bytes > MOST_AAD)
        return false;
    put(&control, ALG_SET_AEAD_ASSOCLEN, &aad_bytes, 4);
    return pass(c, m, &control, in, out, 2, m->aad_bytes + out_bytes);
}

static bool run_seal(void *context, const struct peer_message *m)
{
    return aead(context, m, m->len_bytes, m->len_bytes + 16);
}

static bool run_open(void *context, const struct peer_message *m)
{
    return aead(context, m, m->len_bytes + 16, m->len_bytes);
}

static bool run_cmac(void *context, const struct peer_message *m)
{
    const struct context *c = context;

    return send(c->operation, m->in, m->len_bytes, 0) == (ssize_t)m->len_bytes &&
           read(c->operation, m->tag, 16) == 16;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static const struct offer {
    const char *mode, *type, *algorithm;
    uint32_t direction, iv_bytes;
    peer_run *run;
} offered[] = {
    {"cbc-enc", "skcipher", "cbc(aes)", ALG_OP_ENCRYPT, 16, run_cipher},
    {"cbc-dec", "skcipher", "cbc(aes)", ALG_OP_DECRYPT, 16, run_cipher},
    {"ctr", "skcipher", "ctr(aes)", ALG_OP_ENCRYPT, 16, run_cipher},
    {"xts-enc", "skcipher", "xts(aes)", ALG_OP_ENCRYPT, 16, run_cipher},
    {"xts-dec", "skcipher", "xts(aes)", ALG_OP_DECRYPT, 16, run_cipher},
    {"cmac", "hash", "cmac(aes)", 0, 0, run_cmac},
    {"gcm-seal", "aead", "gcm(aes)", ALG_OP_ENCRYPT, 12, run_seal},
    {"gcm-open", "aead", "gcm(aes)", ALG_OP_DECRYPT, 12, run_open},
};

static void close_context(void *context)
{
    struct context *c = context;

    if (c->operation >= 0)
        close(c->operation);
    if (c->transform >= 0)
        close(c->transform);
    free(c);
}

static bool set_key(struct context *c, const struct offer *offer, const uint8_t *key,
                    unsigned key_bits)
{
    const unsigned n_keys = strncmp(offer->mode, "xts", 3) == 0 ? 2 : 1;

    c->direction = offer->direction;
    c->iv_bytes = offer->iv_bytes;
    c->transform = bound(offer->type, offer->algorithm);
    if (c->transform < 0 ||
        setsockopt(c->transform, SOL_ALG, ALG_SET_KEY, key, n_keys * key_bits / 8) != 0)
        return false;
    if (strcmp(offer->type, "aead") == 0 &&
        setsockopt(c->transform, SOL_ALG, ALG_SET_AEAD_AUTHSIZE, NULL, 16) != 0)
        return false;
    c->operation = accept(c->transform, NULL, 0);
    return c->operation >= 0;
}

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    struct context *c = malloc(sizeof *c);

    if (!c)
        return NULL;
    c->transform = c->operation = -1;
    for (size_t i = 0; i < sizeof offered / sizeof offered[0]; i++)
        if (strcmp(mode, offered[i].mode) == 0 && set_key(c, &offered[i], key, key_bits)) {
            *run = offered[i].run;
            return c;
        }
    close_context(c);
    return NULL;
}

const struct peer evc_peer = {.name = "linux",
                              .version = version,
                              .absent = absent,
                              .open = open_context,
                              .close = close_context};

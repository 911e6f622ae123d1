/* SPDX-License-Identifier: MIT */
/*
 * Another library, measured in place beside everycore: one small file each, linked against the library that
 * is installed. None of its code is here. peers/main.c checks every answer against everycore before it times.
 */
#ifndef PEERS_PEER_H
#define PEERS_PEER_H

#include <stddef.h>
#include <stdint.h>

/* One whole message. iv: 16 bytes (CBC, CTR: counter block, XTS: tweak; CCM: the first 12 are the nonce). */
struct peer_message {
    const uint8_t *in;
    uint8_t *out;
    const uint8_t *iv;
    uint8_t *tag; /* 16 bytes, written by cmac and ccm-seal */
    size_t len_bytes;
};

/* The associated data of ccm-seal: PEER_AAD_BYTES bytes, the same for every message. */
#define PEER_AAD_BYTES 13
extern const uint8_t peer_aad[PEER_AAD_BYTES];

typedef void peer_run(void *context, const struct peer_message *);

struct peer {
    const char *name;
    const char *(*version)(void);
    /* A context for the mode (a name of the harness: "cbc-enc", "ctr", ...) with the key set, and in *run what
     * computes one message. NULL: the library does not offer the mode. xts: key has 2 x key_bits. */
    void *(*open)(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run);
    void (*close)(void *context);
};

#endif

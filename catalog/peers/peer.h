/* SPDX-License-Identifier: MIT */
/*
 * Another library, measured in place beside everycore: one small file each, which is linked with a
 * harness and with the library as it is installed. None of its code is here. The harness checks
 * every answer before it times.
 */
#ifndef PEERS_PEER_H
#define PEERS_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One whole message. */
struct peer_message {
    const uint8_t *in;
    uint8_t *out;
    const uint8_t *iv; /* 16 bytes: of CBC; the counter block of CTR, the tweak of XTS; GCM, CCM:
                          12, the nonce */
    const uint8_t *aad;
    /* 16 bytes: written by cmac, ccm-seal and gcm-seal, where it lies directly behind out; read by
     * ccm-open and gcm-open, where it lies directly behind in. hmac-sha256 and hmac-sha512 compute
     * a whole tag, and write its first 16 bytes. */
    uint8_t *tag;
    size_t len_bytes, aad_bytes;
    uint32_t n_iterations; /* of PBKDF2 */
};

/*
 * Modes of hashes without a key write a whole digest to out: sha256, sha512; sha256-many and
 * sha512-many, whose message is the first of PEER_MANY that lie one behind the other and have one
 * length; pbkdf2-sha256 and pbkdf2-sha512, whose password is the key and whose salt is aad.
 */
#define PEER_MANY 16

/*
 * Operations on big numbers are modes, too, with the names that they have in bench. Their key is
 * three big-endian numbers of key_bits bits: n, odd and with its highest bit set, then a and b,
 * below n. A message has a length, which is that of n, and no input. Each call computes one
 * operation from what the context holds, and leaves it there for the next:
 *
 *   mont-mul, mont-sqr   x = x b / R or x^2 / R modulo n, in the library's own
 *                        form, where x begins as a
 *   exp                  a^b modulo n, by what the library has for secret exponents
 *   exp-public           a^65537 modulo n
 *   mul-add-words        x += b w, without what goes beyond its length; x begins as a, w
 *                        are the lowest 64 bits of n
 *   mod-word16           a modulo 65521, which may be prepared; -once: prepared in each call
 *
 * Layers on big numbers have other keys. Of rsa-private, rsa-public and prime-check: n, d and a, of
 * key_bits bits each, then p, q, dp, dq and qinv, of half of them; e is 65537. Of dh-public: p and
 * x, of key_bits bits each; g is 2, and x is short: its leading zeros are no part of it. The a of
 * RSA is what PKCS #1 1.5 makes of SHA-256 of the nine bytes "everycore", so that a library which
 * offers signatures alone computes rsa-private, too: by signing this text.
 *
 *   rsa-private          a^d modulo n, by p and q
 *   rsa-public           a^65537 modulo n
 *   dh-public            2^x modulo p
 *   prime-check          whether p is prime, by what the library offers for
 *                        numbers of others: 1 or 0
 *
 * out is NULL while calls are timed; else the number is written there, big-endian and as long as n:
 * x without the library's form, or the result.
 */

/* Computes one message. false: the library refused it, as an open whose tag is wrong. */
typedef bool peer_run(void *context, const struct peer_message *);

struct peer {
    const char *name;
    /* As the library itself reports it when it runs. Called before all others: may initialise. */
    const char *(*version)(void);
    /* The version that the headers have by which this file was compiled; NULL: they do not tell. */
    const char *headers;
    /* Why the library cannot be used here, if so; else NULL, as the function itself may be. */
    const char *(*absent)(void);
    /* The library's name for its code paths: "best" (all that the CPU has), "vaes256" (AES
     * instructions on vectors of 256 bits at most), "sse" (on 128 bits), "ssse3" (byte shuffles, no
     * AES), "c" (none of these; on x86 SSE2 is there). NULL, or returns NULL: it does not tell. */
    const char *(*hardware)(void);
    /* A context for the mode (a name of the harness: "cbc-enc", "ctr", ...) with the key set, and
     * in *run what computes one message. NULL: the library does not offer the mode. xts: key has 2
     * x key_bits; big numbers: 3 x key_bits. */
    void *(*open)(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run);
    void (*close)(void *context);
    /* calls messages, messages[i & mask] in turn; false: one was refused. Only for languages that a
     * call from C enters at a cost; else NULL. Not fenced. */
    bool (*loop)(void *context, const struct peer_message *messages, size_t mask, uint64_t calls);
};

/* The one that an executable is linked with. */
extern const struct peer evc_peer;

#endif

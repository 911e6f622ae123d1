/* SPDX-License-Identifier: MIT */
/*
 * The interface of an adapter. An adapter calls other people's functions as their own
 * callers do; the subject's TOML names its functions: [functions.cbc-enc] is
 * `void cbc_enc(struct subject_job *job)`.
 */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <stddef.h>
#include <stdint.h>

/* Marks every function in an adapter: its instructions are not counted, for they are ours. */
#define SUBJECT_GLUE __attribute__((section("subject_glue"), noinline))

#define SUBJECT_OWN_BYTES 16384

/* One call. Of what a mode does not need, the values mean nothing. */
struct subject_job {
    unsigned key_bits, rounds;
    const uint8_t *user_key;  /* key_bits / 8 bytes */
    const uint8_t *tweak_key; /* likewise: Key2 of XTS */
    const uint8_t *enc;       /* (rounds + 1) x 16 bytes: the key schedule
                               * of FIPS 197 section 5.2 */
    const uint8_t *dec;       /* (rounds + 1) x 16 bytes: of the equivalent inverse
                               * cipher, first used first */
    const uint8_t *tweak_enc; /* the schedule of tweak_key */
    const uint8_t *h[8];      /* powers of the hash subkey, 16 bytes each: H, H^2, ... */

    const uint8_t *in; /* n_bytes; 64 bytes on either side may be read */
    uint8_t *out;      /* n_bytes, of a hash those of its state; not written by ghash */
    size_t n_bytes, n_blocks;
    uint8_t *iv; /* 16 bytes: the IV, the first counter, the tweak before it is encrypted;
                  * 12 of GCM. May change */

    uint8_t *tag;             /* 16 bytes, result of gcm-seal, gcm-open and ghash */
    const uint8_t *given_tag; /* 16 bytes, of gcm-open */
    int opened;               /* gcm-open may set it instead of the tag, if given_tag was right */

    void *own;  /* SUBJECT_OWN_BYTES, aligned to 64: for what a key function prepares */
    void *own2; /* the same again */
};

#endif

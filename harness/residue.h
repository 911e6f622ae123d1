/* SPDX-License-Identifier: MIT */
/*
 * Secrets that a public call leaves behind: on the stack below its caller, and in vector registers.
 *
 * The same call is made twice on a stack of its own. Keys and plaintexts differ; everything public
 * is the same: lengths, addresses, IVs, associated data, ciphertexts. Bytes that then differ among
 * those that are left come from a secret, in whatever form a kernel holds it: bit planes, words of
 * the other byte order, permuted vectors. Eight differing bytes side by side are a failure, unless
 * they are bytes of the tag that the caller was given.
 */
#ifndef HARNESS_RESIDUE_H
#define HARNESS_RESIDUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "everycore/aes.h"
#include "everycore/ghash.h"

#include "check.h"

/* Bytes to look for, so that a failure can say what was left. */
struct residue_secret {
    const char *name;
    const uint8_t *bytes;
    size_t len_bytes;
};

#define RESIDUE_SECRETS 8
#define RESIDUE_GIVEN_BYTES 160 /* at most */

struct residue_call {
    const char *operation; /* "ctr32" */
    char sizes[96];        /* words for a failure: "256-bit key, 37 bytes" */

    /* Fill all operands with the secrets of version 0 or 1, always at the same addresses. */
    void (*prepare)(unsigned version);
    /* The public call and nothing else. */
    void (*make)(void);

    /* Output for the caller that depends on secrets, such as a tag; read after each call. */
    const uint8_t *given;
    size_t given_bytes;

    /* Secrets of the version that was prepared last. */
    struct residue_secret secrets[RESIDUE_SECRETS];
};

/* Why residue cannot be looked for here; NULL: it can. */
const char *residue_unavailable(void);

/* Begin a property. */
void residue_begin(void);

/* The call under test is made with its arguments above this address, which are the caller's: for
 * `make`, where words of 64 bits are passed on the stack. */
void residue_arguments_end_at(uintptr_t address);

/* Make the call in both versions and note what it leaves. */
void residue_look(struct check *, const struct residue_call *);

/* The verdict on all calls since residue_begin; of a failure, each operation once. */
enum result residue_verdict(struct check *);

/* ---- Kernels of the harness ------------------------------------------------------------------ */

/* Under test after c_ref. They leave secrets almost as deep as their `clear` reaches, so that a
 * clearing that the code above kernels lacks is seen. NULL: none on this architecture. */
const struct evc_aes *residue_aes_kernel(void);
const struct evc_ghash *residue_ghash_kernel(void);

/* ---- The properties, by primitive ------------------------------------------------------------ */

enum result aes_set_key_leaves_nothing_behind(struct check *);
enum result aes_operations_leave_nothing_behind(struct check *);
enum result aes_modes_leave_nothing_behind(struct check *);
enum result ghash_leaves_nothing_behind(struct check *);
enum result gcm_set_key_leaves_nothing_behind(struct check *);
enum result gcm_messages_leave_nothing_behind(struct check *);
enum result gcm_pieces_leave_nothing_behind(struct check *);
enum result sha2_leaves_nothing_behind(struct check *);
enum result hmac_leaves_nothing_behind(struct check *);
enum result x25519_leaves_nothing_behind(struct check *);
enum result qarma_leaves_nothing_behind(struct check *);
enum result bn_leaves_nothing_behind(struct check *);
enum result bn_words_leaves_nothing_behind(struct check *);
enum result dh_leaves_nothing_behind(struct check *);
enum result prime_leaves_nothing_behind(struct check *);
enum result rsa_leaves_nothing_behind(struct check *);

#endif

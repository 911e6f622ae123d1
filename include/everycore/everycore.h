/* SPDX-License-Identifier: MIT */
/*
 * everycore: freestanding cryptographic kernels for every CPU.
 *
 * This header: version, status codes, wiping, the description of one message.
 *
 * Every call that can fail returns an enum evc_status: 0 (EVC_OK) is success, and the compiler
 * warns if it is dropped. A call that fails has changed nothing, unless its header says otherwise.
 * Keys whose set-up failed, or that were wiped, are refused; memory that never was a key is not
 * recognised. Functions that cannot fail return no status: the operations of kernels, *_blocks,
 * *_blocks_many, evc_aes_ctr32, evc_ghash_padded, those of QARMA. Their headers say what they do
 * with a key that is not set up.
 *
 * NULL, in calls that have a status:
 *
 *     a buffer of length 0                               allowed
 *     a buffer of another length                         EVC_ERR_PARAMETER
 *     parameters, numbers of a key, search, padding      EVC_ERR_PARAMETER
 *     a number in parameters; in numbers of a key        EVC_ERR_GROUP; EVC_ERR_KEY, for n
 *                                                        EVC_ERR_KEY_SIZE
 *     a kernel                                           EVC_ERR_KERNEL
 *     randomness, or its function                        EVC_ERR_RANDOM
 *     a hash, or a function or prefix that is needed     EVC_ERR_HASH
 *     all others                                         never: the call may crash
 *
 * "A buffer" has an argument or a member with its length: inputs; outputs of AES, of its modes and
 * of GCM; tags. Lengths and keys are checked before. "All others" are keys and what they are made
 * from, states, buffers whose length is fixed (counter, IV of CBC, tweak, chaining value) or is
 * that of a modulus, outputs of big numbers, Diffie-Hellman and RSA, and scratch memory.
 *
 * Alignment: keys and their copies are aligned to 16 bytes, because kernels load them as vectors. A
 * call with a key at any other address returns EVC_ERR_ALIGNMENT, and otherwise does the same as
 * with a key that is not set up (EVC_ERR_KERNEL).
 *
 * Threads: the library has no state of its own, and no call writes to a key that it takes as const.
 * Threads may share such a key, of every kind, without a lock. All else that a call writes to is
 * used by one call at a time: a key while it is being set up, the state of a message, output,
 * scratch memory, struct evc_pac_keys and struct evc_pac_memo.
 */
#ifndef EVERYCORE_EVERYCORE_H
#define EVERYCORE_EVERYCORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVC_VERSION_MAJOR 0
#define EVC_VERSION_MINOR 1
#define EVC_VERSION_PATCH 0
#define EVC_VERSION "0.1.0"

/* Marks an exported function; everything else in the library is hidden. A DLL is compiled with
 * -DEVC_DLL: without a mark, linkers export every function. */
#if defined(_WIN32) || defined(__CYGWIN__)
#if defined(EVC_DLL)
#define EVC_API __declspec(dllexport)
#else
#define EVC_API
#endif
#elif defined(__GNUC__) || defined(__clang__)
#define EVC_API __attribute__((visibility("default")))
#else
#define EVC_API
#endif

/* Marks an exported function that returns a status: the compiler warns if the caller drops it. */
#if defined(__GNUC__) || defined(__clang__)
#define EVC_CHECKED EVC_API __attribute__((warn_unused_result))
#else
#define EVC_CHECKED EVC_API
#endif

/* Aligns an object to n bytes: EVC_ALIGN(16) static uint8_t memory[4096]; */
#if defined(__cplusplus)
#define EVC_ALIGN(n) alignas(n)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define EVC_ALIGN(n) _Alignas(n)
#else
#define EVC_ALIGN(n) __attribute__((aligned(n)))
#endif

enum evc_status {
    EVC_OK = 0,
    EVC_ERR_KEY_SIZE,   /* a key, modulus or number has a length that is not supported */
    EVC_ERR_EQUAL_KEYS, /* XTS: the two halves of the key are equal (SP 800-38E, FIPS 140 IG C.I) */
    EVC_ERR_NONCE_SIZE, /* nonce or IV of a length that the standard does not allow */
    EVC_ERR_TAG_SIZE,   /* tag of a length that the standard does not allow, or the key
                         * does not: see *_allow_short_tags */
    EVC_ERR_LENGTH,     /* message too short, too long, not whole blocks, or
                         * not what was announced */
    EVC_ERR_TAG,        /* the tag does not match; a call that opens a whole
                         * message has wiped its output */
    EVC_ERR_DIRECTION,  /* decryption asked of a key that was set up for encryption only */
    EVC_ERR_KERNEL,     /* kernel is NULL; or the memory is too small for its key; or
                         * the key is not set up */
    EVC_ERR_PARAMETER,  /* no such S-box or number of rounds (QARMA), no such rules
                         * (pointer authentication), no such flag or hash, no
                         * iterations (PBKDF2); a buffer is NULL,
                         * and its length is not 0; parameters are NULL, such as
                         * those of an unknown name; a struct that tells what to do
                         * is NULL */
    EVC_ERR_STATE,      /* a call out of order: no message begun, finished, the other direction, or
                         * parts in the wrong order (associated data comes before the text) */
    EVC_ERR_ALIGNMENT,  /* the key is not aligned to 16 bytes */
    EVC_ERR_OVERLAP,    /* user_key lies in the memory of the key, which is wiped first; hkdf: the
                         * output lies in the info, which is read again */
    EVC_ERR_MODULUS,    /* bn: the modulus is even, or does not begin with a
                         * byte that is not zero */
    EVC_ERR_RANGE,      /* bn: an operand is not below the modulus; rsa: the input
                         * is not from 2 to n - 2; dh: the secret is 0 */
    EVC_ERR_INVERSE,    /* bn: the number has no inverse, because it and the modulus
                         * have a common divisor */
    EVC_ERR_SCRATCH,    /* bn and its layers: the scratch memory is too small */
    EVC_ERR_COMPOSITE,  /* prime: the number is composite, or below 2 */
    EVC_ERR_RANDOM,     /* the caller's randomness failed, or repeats itself */
    EVC_ERR_STOPPED,    /* prime, rsa: the caller's function `report` ended the search */
    EVC_ERR_GROUP,      /* dh: these parameters are no group */
    EVC_ERR_PEER,       /* dh: the value of the peer is not in the group, or
                         * what is shared would be 1 */
    EVC_ERR_KEY,        /* rsa: the numbers are no key */
    EVC_ERR_FAULT,      /* rsa: the result of a private operation is wrong, and is not released */
    EVC_ERR_SIGNATURE,  /* rsa: the signature is not one of this digest under this key */
    EVC_ERR_PADDING,    /* rsa: OAEP padding check failed */
    EVC_ERR_HASH,       /* rsa: the caller's hash failed, is NULL, has no function or no
                         * prefix, or its digest or block size is not supported */
    EVC_ERR_ENCODING,   /* rsa: the file is neither DER nor PEM of such a key */
    EVC_ERR_ALGORITHM,  /* rsa: the file has a key of another algorithm or version */
    EVC_ERR_ENCRYPTED   /* rsa: the private key of the file is encrypted */
};

/* One line of English for a status; never NULL. */
EVC_API const char *evc_status_text(enum evc_status status);

/* Writes zeros to len_bytes bytes at p; the compiler does not remove this. Wipe every key and every
 * state that holds secrets: evc_wipe(&key, sizeof key). */
EVC_API void evc_wipe(void *p, size_t len_bytes);

/* One message of a batch under one key. Buffers of different messages do not overlap; in and out of
 * one message may. */
struct evc_msg {
    const uint8_t *in;
    uint8_t *out;     /* len_bytes bytes; NULL where only the chain or tag is wanted */
    size_t len_bytes; /* any length the operation allows; may be 0 */
    uint8_t *iv;      /* 16 bytes. CBC: the chaining value, read and updated. CMAC:
                       * the tag is written here */
};

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/*
 * Keys of RSA in files: DER and PEM, as `openssl genrsa`, `openssl genpkey` and `openssl rsa
 * -pubout` write them.
 *
 *     EVC_ALIGN(16) static uint8_t memory[EVC_RSA_MOST_PRIVATE_BYTES(4096)];
 *     static uint8_t scratch[EVC_RSA_MOST_SCRATCH_BYTES(4096)];
 *     ... file: the file's file_bytes bytes ...
 *     enum evc_status status =
 *         evc_rsa_load_private(memory, sizeof memory, evc_cpu_features(), 0, file, file_bytes, 0,
 *                              scratch, sizeof scratch);
 *     const struct evc_rsa_private *key = (const void *)memory;
 *     if (status == EVC_OK)
 *         status = evc_rsa_sign_pss(key, &pss, digest, 32, evc_random_system(), signature, scratch,
 *                                   sizeof scratch);
 *     evc_wipe(memory, sizeof memory);
 *
 * The label of PEM, or the first elements of DER, decide the form of a key:
 *
 *     RSA PRIVATE KEY   RSAPrivateKey, version 0 (PKCS #1: RFC 8017, A.1.2)
 *     PRIVATE KEY       PrivateKeyInfo, version 0, and OneAsymmetricKey, version 1 (PKCS #8:
 *                       RFC 5208, RFC 5958). Attributes are passed over; a public key, which
 *                       version 1 has, must be the one of the private key.
 *     RSA PUBLIC KEY    RSAPublicKey (RFC 8017, A.1.1)
 *     PUBLIC KEY        SubjectPublicKeyInfo (RFC 5280, 4.1)
 *
 * The algorithm is rsaEncryption with parameters NULL (RFC 8017, A.1). Keys of id-RSASSA-PSS are
 * refused: they may be used for PSS with certain hashes only (RFC 4055, 1.2), and a key in memory
 * does not store that.
 *
 * DER is strict (X.690, chapter 10): lengths and numbers in the fewest bytes, no indefinite length,
 * no number below 0, nothing behind a key. Its size is below 16 MiB.
 *
 * PEM is RFC 7468. Text before and behind the key is skipped, and so are blocks with other labels,
 * such as certificates and parameters of curves. The first key is read. Lines may have any length
 * and end with LF, CR or CRLF; blanks and empty lines may stand between characters of base64.
 * Base64 is strict (RFC 4648): as much padding as needed, unused bits are 0.
 *
 * Constant time: for the bytes of private numbers, also in base64. The lengths of all numbers, the
 * places of line breaks, n, e, and the status are public.
 */
#ifndef EVERYCORE_RSA_KEY_FILE_H
#define EVERYCORE_RSA_KEY_FILE_H

#include "everycore/rsa.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Errors of every call below:
 *
 * EVC_ERR_ENCODING    the file is neither DER nor PEM of such a key
 * EVC_ERR_ALGORITHM   a key of another algorithm, or of a version that is not read: with more than
 *                     two primes
 * EVC_ERR_ENCRYPTED   the private key is encrypted; `openssl pkey` decrypts it
 * EVC_ERR_KEY         p and q have different lengths; or the public key of version 1 is another one
 * EVC_ERR_SCRATCH     the room or the scratch memory is too small
 */

/* ---- From a file to a key -------------------------------------------------------------------- */

/*
 * Sets the key that a file contains, PEM or DER, with the kernel that evc_bn_select_for(features,
 * policy, EVC_USE_ANY, ...) gives for its length.
 *
 * memory, least_bits: as for evc_rsa_set_private_in. scratch: room for the decoded base64 and
 * evc_rsa_scratch_bytes() bytes; EVC_RSA_MOST_SCRATCH_BYTES() is enough for both. It is wiped
 * before the call returns. The memory is wiped first, also if the call then fails. The call does
 * not wipe the file: the caller does.
 *
 * EVC_ERR_OVERLAP   the file lies in the memory
 * others            as above, and as evc_rsa_set_private_in and evc_rsa_set_public_in
 */
EVC_CHECKED enum evc_status evc_rsa_load_private(void *memory, size_t memory_bytes,
                                                 uint64_t features, unsigned policy,
                                                 const uint8_t *file, size_t file_bytes,
                                                 size_t least_bits, void *scratch,
                                                 size_t scratch_bytes);
EVC_CHECKED enum evc_status evc_rsa_load_public(void *memory, size_t memory_bytes,
                                                uint64_t features, unsigned policy,
                                                const uint8_t *file, size_t file_bytes,
                                                size_t least_bits, void *scratch,
                                                size_t scratch_bytes);

/* ---- From a file to numbers ------------------------------------------------------------------ */

/*
 * Reads the numbers of a file, for evc_rsa_set_private_in and evc_rsa_set_public_in, which check
 * them. Numbers are not copied: *numbers points into the file if it is DER, or into room, where
 * base64 is decoded to.
 *
 * room: room_bytes bytes. DER needs none, PEM three quarters of the size of the base64; file_bytes
 * are always enough. room may be the file itself; otherwise they do not overlap. Wipe it when the
 * key is set up.
 *
 * evc_rsa_read_public finds n and e; the other numbers are then NULL.
 *
 * After an error *numbers is all zeros, and the call has wiped what it wrote to room.
 */
EVC_CHECKED enum evc_status evc_rsa_read_private(const uint8_t *file, size_t file_bytes,
                                                 uint8_t *room, size_t room_bytes,
                                                 struct evc_rsa_numbers *numbers);
EVC_CHECKED enum evc_status evc_rsa_read_public(const uint8_t *file, size_t file_bytes,
                                                uint8_t *room, size_t room_bytes,
                                                struct evc_rsa_numbers *numbers);

#ifdef __cplusplus
}
#endif
#endif

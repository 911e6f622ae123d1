/* SPDX-License-Identifier: MIT */
/* Files with keys of RSA: from PEM to DER, from DER to numbers. */
#ifndef EVC_RSA_KEY_FILE_H
#define EVC_RSA_KEY_FILE_H

#include "everycore/rsa_key_file.h"

enum evc_rsa_syntax {
    EVC_RSA_ANY_SYNTAX, /* told apart by the first elements */
    EVC_RSA_PKCS1,      /* RSAPrivateKey, RSAPublicKey */
    EVC_RSA_NAMED,      /* with the algorithm's name: PrivateKeyInfo, SubjectPublicKeyInfo */
};

/* ---- PEM ------------------------------------------------------------------------------------- */

/* A label of PEM, without "-----BEGIN " and "-----", and the meaning of its block: EVC_OK for a key
 * in this syntax, else the status that refuses it. */
struct evc_pem_label {
    const char *text;
    enum evc_status status;
    enum evc_rsa_syntax syntax;
};

/* Decode the first block with one of n labels into out, which may be text. *n_out: 0 before the
 * call; the bytes that were written, also after an error. other: the end of labels that belong to
 * keys of other algorithms. */
enum evc_status evc_pem_decode(const uint8_t *text, size_t text_bytes,
                               const struct evc_pem_label *labels, size_t n, const char *other,
                               uint8_t *out, size_t out_bytes, size_t *n_out,
                               enum evc_rsa_syntax *syntax);

/* ---- DER ------------------------------------------------------------------------------------- */

/* Whether the file is one sequence and nothing else. */
int evc_rsa_is_der(const uint8_t *file, size_t file_bytes);

/* *numbers points into der. After an error it holds anything. */
enum evc_status evc_rsa_parse_private(const uint8_t *der, size_t der_bytes,
                                      enum evc_rsa_syntax syntax,
                                      struct evc_rsa_numbers *numbers);
enum evc_status evc_rsa_parse_public(const uint8_t *der, size_t der_bytes,
                                     enum evc_rsa_syntax syntax,
                                     struct evc_rsa_numbers *numbers);

#endif

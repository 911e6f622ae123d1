/* SPDX-License-Identifier: MIT */
/* A message of RSA's calls that hash it themselves. */
#ifndef EVC_RSA_SHA2_H
#define EVC_RSA_SHA2_H

#include "everycore/rsa_sha2.h"

/* Describes the hash, and writes the digest of the message. Returns the digest, or NULL if there is
 * none; a call of everycore/rsa_padding.h with both then finds the same error, and wipes its
 * output. */
const uint8_t *evc_rsa_sha2_message(struct evc_rsa_hash *hash, const struct evc_sha2 *kernel,
                                    enum evc_sha2_hash which, const uint8_t *message,
                                    size_t message_bytes,
                                    uint8_t digest[EVC_RSA_MOST_DIGEST_BYTES]);

#endif

/* SPDX-License-Identifier: MIT */
/* Functions that the code of GCM names; adapters call nothing that needs them. */
#ifndef SUBJECT_OPENSSL_CRYPTLIB_H
#define SUBJECT_OPENSSL_CRYPTLIB_H

#include <stdlib.h>
#include <string.h>

#define OPENSSL_malloc malloc
#define OPENSSL_clear_free(memory, n_bytes) free(memory)
#define CRYPTO_memcmp memcmp

#endif

/* SPDX-License-Identifier: MIT */
/* A key of AES as OpenSSL and LibreSSL have it. */
#ifndef SUBJECT_OPENSSL_AES_H
#define SUBJECT_OPENSSL_AES_H

#include <stdint.h>

#define AES_MAXNR 14
#define AES_BLOCK_SIZE 16

struct aes_key_st {
    unsigned rd_key[4 * (AES_MAXNR + 1)];
    int rounds;
};
typedef struct aes_key_st AES_KEY;

#endif

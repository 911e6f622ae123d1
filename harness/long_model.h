/* SPDX-License-Identifier: MIT */
/*
 * One long message of GCM, and what its definition (SP 800-38D sections 6 and 7) makes of every
 * prefix of it. It is the same for all kernels of a run, since the definition is slow: block by
 * block of AES c_ref, bit by bit of the field.
 */
#ifndef HARNESS_LONG_MODEL_H
#define HARNESS_LONG_MODEL_H

#include <stddef.h>
#include <stdint.h>

#define LONG_BLOCKS (65536 + 256) /* 1 MiB, and some that more than 16 bits count */
#define LONG_AAD_BYTES (100 * 1024 + 7)

/* The message; its key has 256 bits. */
extern uint8_t long_user_key[32], long_iv[12], long_aad[LONG_AAD_BYTES];
extern uint8_t long_plain[16 * LONG_BLOCKS], long_cipher[16 * LONG_BLOCKS];

/* Computes what of the first n_blocks blocks has not been computed yet. */
void know_long_message(size_t n_blocks);

/* The tag of its first len_bytes bytes, which are known. */
void long_tag(uint8_t tag[16], size_t len_bytes);

#endif

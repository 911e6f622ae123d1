/* SPDX-License-Identifier: MIT */
/* The property of all primitives that check_abi.c has; each stands in its primitive's list. */
#ifndef HARNESS_CHECK_ABI_H
#define HARNESS_CHECK_ABI_H

#include "check.h"

enum result aes_calls_keep_the_abi(struct check *);
enum result ghash_calls_keep_the_abi(struct check *);
enum result gcm_calls_keep_the_abi(struct check *);
enum result qarma_calls_keep_the_abi(struct check *);
enum result bn_calls_keep_the_abi(struct check *);
enum result sha2_calls_keep_the_abi(struct check *);
enum result x25519_calls_keep_the_abi(struct check *);
enum result bn_words_calls_keep_the_abi(struct check *);

#endif

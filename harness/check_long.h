/* SPDX-License-Identifier: MIT */
/* The properties of long messages, which check_long.c has for all primitives; each stands in
 * its primitive's list. */
#ifndef HARNESS_CHECK_LONG_H
#define HARNESS_CHECK_LONG_H

#include "check.h"

enum result aes_long_calls_equal_short_ones(struct check *);
enum result ghash_long_calls_equal_short_ones(struct check *);
enum result gcm_messages_of_a_mebibyte_equal_reference(struct check *);
enum result sha2_long_calls_equal_short_ones(struct check *);
enum result qarma_long_calls_equal_short_ones(struct check *);

#endif

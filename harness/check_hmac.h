/* SPDX-License-Identifier: MIT */
/* The properties of HMAC, HKDF and PBKDF2 on a kernel of SHA-2. */
#ifndef HARNESS_CHECK_HMAC_H
#define HARNESS_CHECK_HMAC_H

#include "check.h"

enum result hmac_of_every_length_equals_its_steps(struct check *);
enum result hmac_in_pieces_equals_one_call(struct check *);
enum result hmac_refuses_each_wrong_tag(struct check *);
enum result hkdf_equals_its_steps(struct check *);
enum result pbkdf2_equals_its_steps(struct check *);
enum result hmac_of_many_equals_one_by_one(struct check *);
enum result pbkdf2_of_many_equals_one_by_one(struct check *);
enum result hmac_accesses_stay_inside_the_buffers(struct check *);

#endif

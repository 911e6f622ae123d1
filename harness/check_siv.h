/* SPDX-License-Identifier: MIT */
/* The slots for GCM-SIV of kernels of GHASH: their property, which stands in their list, and which
 * kernel of GHASH tests of GCM-SIV take beside one of AES. */
#ifndef HARNESS_CHECK_SIV_H
#define HARNESS_CHECK_SIV_H

#include "everycore/aes.h"
#include "everycore/ghash.h"

#include "check.h"

enum result siv_slots_equal_composed_ones(struct check *);

/* A kernel whose slots need just what it and this kernel of AES need together: the slots of each
 * width are tested so. Else the kernel that selection gives. */
const struct evc_ghash *ghash_for_siv(const struct evc_aes *aes, unsigned policy);

#endif

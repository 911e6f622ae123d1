/* SPDX-License-Identifier: MIT */
/*
 * A kernel of bn that says that it does up to three exponentiations side by side. It computes with
 * c_ref, one after the other, and leaves secrets in scratch memory and on the stack: so code above
 * kernels is tested where none with lanes runs.
 */
#ifndef HARNESS_BN_LANES_H
#define HARNESS_BN_LANES_H

#include "everycore/bn.h"

const struct evc_bn *bn_lanes_kernel(void);

/* How many exponentiations it has done side by side so far; -1: some did not belong together. */
long bn_lanes_count(void);

#endif

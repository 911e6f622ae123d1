/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* For the glue alone: the kernel's own types under the names that the public headers use. */
#ifndef EVC_LINUX_STDINT_H
#define EVC_LINUX_STDINT_H

#include <linux/types.h>

#ifndef UINT64_C
#define UINT64_C(c) c##ULL
#endif

#endif

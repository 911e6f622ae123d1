/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* For the glue alone: the kernel's own types under the names that the public headers use. */
#include <linux/stddef.h>
